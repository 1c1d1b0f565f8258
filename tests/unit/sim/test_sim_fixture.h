/// A beam in a builder: what most tests of the sim module start from.
#ifndef SN_TEST_SIM_FIXTURE_H
#define SN_TEST_SIM_FIXTURE_H

#include "test_support.h"

#include "sinew/sinew.h"

static const double beam_size[3] = {1.2, 0.4, 0.4};

typedef struct sim_fixture {
    sn_context *ctx;
    sn_mesh *mesh; ///< beam_size from the origin, 6 x 2 x 2 cells
    sn_material_def material;
    sn_model_builder *builder;
    sn_body_id body;
} sim_fixture;

static inline sn_body_def fixture_body(const sim_fixture *f) {
    sn_body_def def = sn_body_def_default();
    def.mesh = f->mesh;
    def.material_count = 1;
    def.materials = &f->material;
    return def;
}

/// Context, mesh, material and an empty builder.
static inline sim_fixture fixture_empty(int32_t threads) {
    sim_fixture f = {.ctx = test_context(threads)};
    sn_mesh_data *data = NULL;
    sn_make_def make = sn_make_def_default(SN_MAKE_BEAM);
    memcpy(make.size, beam_size, sizeof make.size);
    make.cells = 2;
    assert_done(f.ctx, sn_mesh_make(f.ctx, &make, &data, NULL));
    assert_done(f.ctx, sn_mesh_create(f.ctx, data, false, &f.mesh));
    sn_mesh_data_destroy(&data);
    f.material = sn_material_def_default();
    f.material.young = 1e5;
    assert_done(f.ctx, sn_model_builder_create(f.ctx, &f.builder));
    return f;
}

/// The same with one body, "beam".
static inline sim_fixture fixture_beam(int32_t threads) {
    sim_fixture f = fixture_empty(threads);
    sn_body_def def = fixture_body(&f);
    def.name = "beam";
    assert_done(f.ctx, sn_model_add_body(f.builder, &def, &f.body));
    return f;
}

static inline void fixture_end(sim_fixture *f) {
    sn_model_builder_destroy(&f->builder);
    sn_mesh_destroy(&f->mesh);
    test_context_end(&f->ctx);
}

static inline sn_model *fixture_build(const sim_fixture *f) {
    sn_model *model = NULL;
    assert_done(f->ctx, sn_model_build(f->builder, &model));
    return model;
}

/// Asserts that a call is refused with SN_ERR_INVALID_ARGUMENT and that the message holds `text`.
#define assert_refused(ctx, call, text)                                                                      \
    do {                                                                                                     \
        assert_int_equal((call), SN_ERR_INVALID_ARGUMENT);                                                   \
        if (!strstr(sn_context_message(ctx), (text)))                                                        \
            fail_msg("message without \"%s\": %s", (text), sn_context_message(ctx));                         \
    } while (0)

static inline sn_selection select_plane(int axis, double sign, double at) {
    sn_selection select = {.kind = SN_SELECT_PLANE};
    select.point[axis] = at;
    select.normal[axis] = sign;
    return select;
}

#endif
