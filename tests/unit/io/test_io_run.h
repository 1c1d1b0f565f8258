/// A small run to record: what the tests of the recorder and of its checkpoints start from.
#ifndef SN_TEST_IO_RUN_H
#define SN_TEST_IO_RUN_H

#include "test_io_recorder_folder.h"

#include "sinew/sinew.h"

/// Two small beams whose names are unfit for files and alike when made fit, and one shape of each kind but a
/// mesh. The first beam lies on the plane, the second one falls.
typedef struct run_fixture {
    sn_context *ctx;
    sn_model *model;
    sn_state *state;
    sn_output_def output;
    sn_run_info run;
    char folder[TEST_PATH_SIZE];
} run_fixture;

static inline sn_status add_body(sn_model_builder *builder, sn_context *ctx, const char *name, double offset,
                                 sn_body_id *out_body) {
    sn_mesh_data *data = NULL;
    sn_mesh *mesh = NULL;
    sn_make_def make = sn_make_def_default(SN_MAKE_BEAM);
    make.cells = 1;
    sn_material_def material = sn_material_def_default();
    material.young = 1e5;
    sn_status status = sn_mesh_make(ctx, &make, &data, NULL);
    if (status == SN_OK)
        status = sn_mesh_create(ctx, data, false, &mesh);
    sn_body_def body = sn_body_def_default();
    body.name = name;
    body.mesh = mesh;
    body.material_count = 1;
    body.materials = &material;
    body.translation[1] = offset;
    if (status == SN_OK)
        status = sn_model_add_body(builder, &body, out_body);
    sn_mesh_destroy(&mesh);
    sn_mesh_data_destroy(&data);
    return status;
}

static inline sn_status add_shapes(sn_model_builder *builder, sn_shape_id shapes[SN_SHAPE_BOX + 1]) {
    sn_status status = SN_OK;
    for (int kind = SN_SHAPE_PLANE; kind <= SN_SHAPE_BOX && status == SN_OK; kind++) {
        sn_shape_def shape = sn_shape_def_default();
        shape.kind = (sn_shape_kind)kind;
        shape.radius = 0.1;
        shape.normal[2] = 1;
        shape.point2[0] = 1;
        shape.half_size[0] = shape.half_size[1] = shape.half_size[2] = 0.1;
        status = sn_model_add_shape(builder, &shape, &shapes[kind]);
    }
    return status;
}

static inline sn_status build_model_with_gravity(run_fixture *f, double downward) {
    sn_model_builder *builder = NULL;
    sn_shape_id shapes[SN_SHAPE_BOX + 1];
    sn_contact_def contact = sn_contact_def_default(); // of the first body with the plane
    const double gravity[3] = {0, 0, downward};
    sn_status status = sn_model_builder_create(f->ctx, &builder);
    if (status == SN_OK)
        status = add_body(builder, f->ctx, "a b", 0, &contact.body);
    if (status == SN_OK)
        status = add_body(builder, f->ctx, "a/b", 1, NULL);
    if (status == SN_OK)
        status = add_shapes(builder, shapes);
    contact.shape_count = 1;
    contact.shapes = shapes;
    contact.friction = 0.5;
    if (status == SN_OK)
        status = sn_model_add_contact(builder, &contact);
    if (status == SN_OK)
        status = sn_model_set_gravity(builder, gravity);
    if (status == SN_OK)
        status = sn_model_build(builder, &f->model);
    if (status == SN_OK)
        status = sn_state_create(f->model, &f->state);
    sn_model_builder_destroy(&builder);
    return status;
}

static inline sn_status build_model(run_fixture *f) {
    return build_model_with_gravity(f, -9.81);
}

static inline void set_up(run_fixture *f) {
    *f = (run_fixture){.ctx = test_context(1), .output = sn_output_def_default()};
    f->run =
        (sn_run_info){.scene_path = "scenes/two \"beams\".yaml", .setup_seconds = 0.25, .frame_seconds = 0.1};
    f->run.frame_total = 3;
    assert_done(f->ctx, build_model(f));
    test_folder_make(f->folder);
}

static inline void tear_down(run_fixture *f) {
    sn_state_destroy(&f->state);
    sn_model_destroy(&f->model);
    test_context_end(&f->ctx);
    test_folder_remove(f->folder);
}

#endif
