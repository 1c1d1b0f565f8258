#include "bench_scene.h"

#include "elastic/elastic.h"

/// The ball, in m.
static const double RADIUS = 0.3, PRESS = 0.05;

static sn_material_def make_material(void) {
    sn_material_def material = sn_material_def_default();
    material.young = 1e6;
    material.poisson = 0.4;
    return material;
}

static void measure_block(const int32_t cells[3], double out_size[3]) {
    for (int c = 0; c < 3; c++)
        out_size[c] = (double)cells[c] / cells[0];
}

static sn_status add_block(sn_context *ctx, const int32_t cells[3], sn_model_builder *builder,
                           sn_body_id *out_body) {
    sn_status status = SN_OK;
    sn_mesh_data *surface = NULL;
    sn_mesh *mesh = NULL;
    sn_embedding *embedding = NULL;
    sn_material_def material = make_material();
    sn_make_def make = sn_make_def_default(SN_MAKE_BLOCK);
    measure_block(cells, make.size);
    make.cells = cells[0];
    sn_lattice_def lattice = sn_lattice_def_default();
    lattice.cells = cells[0];
    SN_TRY(sn_mesh_make(ctx, &make, &surface, NULL));
    SN_TRY(sn_lattice_create(ctx, surface, &lattice, &mesh, &embedding));
    sn_body_def body = sn_body_def_default();
    body.mesh = mesh;
    body.surface = surface;
    body.embedding = embedding;
    body.material_count = 1;
    body.materials = &material;
    SN_TRY(sn_model_add_body(builder, &body, out_body));
cleanup:
    sn_embedding_destroy(&embedding);
    sn_mesh_destroy(&mesh);
    sn_mesh_data_destroy(&surface);
    return status;
}

/// A still plane below the block and a ball above it, which comes down.
static sn_status add_shapes(double height, sn_model_builder *builder, sn_shape_id out_shapes[2]) {
    static const double time[2] = {0, BENCH_SCENE_PRESS};
    const double translation[2][3] = {{0}, {0, 0, -PRESS}};
    sn_frame_def frame = sn_frame_def_default();
    frame.key_count = 2;
    frame.time = time;
    frame.translation = translation[0];
    sn_shape_def plane = sn_shape_def_default(), ball = sn_shape_def_default();
    plane.kind = SN_SHAPE_PLANE;
    plane.point[2] = -height / 2;
    plane.normal[2] = 1;
    ball.kind = SN_SHAPE_SPHERE;
    ball.point[2] = height / 2 + RADIUS;
    ball.radius = RADIUS;
    sn_status status = sn_model_add_frame(builder, &frame, &ball.frame);
    if (status >= 0)
        status = sn_model_add_shape(builder, &plane, &out_shapes[0]);
    if (status >= 0)
        status = sn_model_add_shape(builder, &ball, &out_shapes[1]);
    return status;
}

static sn_status add_contact(sn_body_id block, const sn_shape_id shapes[2], sn_model_builder *builder) {
    sn_contact_def contact = sn_contact_def_default();
    contact.body = block;
    contact.shape_count = 2;
    contact.shapes = shapes;
    contact.friction = 0.5;
    return sn_model_add_contact(builder, &contact);
}

static sn_status build_model(const bench_scene_def *def, bench_scene *scene) {
    static const double gravity[3] = {0, 0, -9.81};
    sn_status status = SN_OK;
    sn_model_builder *builder = NULL;
    sn_body_id block;
    sn_shape_id shapes[2];
    double size[3];
    measure_block(def->cells, size);
    SN_TRY(sn_model_builder_create(scene->context, &builder));
    SN_TRY(sn_model_set_gravity(builder, gravity));
    SN_TRY(add_block(scene->context, def->cells, builder, &block));
    SN_TRY(add_shapes(size[2], builder, shapes));
    SN_TRY(add_contact(block, shapes, builder));
    SN_TRY(sn_model_build(builder, &scene->model));
cleanup:
    sn_model_builder_destroy(&builder);
    return status;
}

sn_status bench_scene_create(const bench_scene_def *def, bench_scene *scene) {
    sn_status status = SN_OK;
    *scene = (bench_scene){0};
    sn_context_def context = sn_context_def_default();
    context.thread_count = def->threads;
    sn_stepper_def stepper = sn_stepper_def_default();
    stepper.solver = def->solver;
    stepper.precision = def->precision;
    SN_TRY(sn_context_create(&context, &scene->context));
    SN_TRY(build_model(def, scene));
    SN_TRY(sn_stepper_create(scene->model, &stepper, &scene->stepper));
    SN_TRY(sn_state_create(scene->model, &scene->state));
cleanup:
    return status;
}

void bench_scene_destroy(bench_scene *scene) {
    sn_state_destroy(&scene->state);
    sn_stepper_destroy(&scene->stepper);
    sn_model_destroy(&scene->model);
    sn_context_destroy(&scene->context);
}

static sn_status create_elastic(const bench_scene *scene, const int32_t *tet_material,
                                sn_elastic **out_elastic) {
    sn_model_info info = sn_model_get_info(scene->model);
    sn_material_def material = make_material();
    sn_elastic_def def = {.node_count = info.node_count,
                          .rest = sn_model_rest_positions(scene->model),
                          .tet_count = info.tet_count,
                          .tets = sn_model_tets(scene->model),
                          .material_count = 1,
                          .materials = &material,
                          .tet_material = tet_material};
    return sn_elastic_create(scene->context, &def, out_elastic);
}

sn_status bench_scene_matrix(const bench_scene *scene, double h, sn_csr *out_matrix) {
    sn_status status = SN_OK;
    sn_context *ctx = scene->context;
    sn_model_info info = sn_model_get_info(scene->model);
    const double *mass = sn_model_masses(scene->model);
    sn_elastic *elastic = NULL;
    sn_triplet *triplets = NULL;
    int32_t *tet_material = NULL;
    int64_t count = 0;
    SN_TRY_NEW_ZEROED(ctx, tet_material, info.tet_count);
    SN_TRY(create_elastic(scene, tet_material, &elastic));
    SN_TRY(sn_elastic_metric(elastic, &count, &triplets));
    SN_TRY(sn_csr_create(ctx, info.node_count, count, triplets, out_matrix));
    sn_csr_drop_zeros(out_matrix, 1e-12);
    // The diagonal entry of each row is its last.
    for (int32_t i = 0; i < info.node_count; i++)
        out_matrix->value[out_matrix->start[i + 1] - 1] += mass[i] / (h * h);
cleanup:
    SN_RELEASE(ctx, triplets);
    SN_RELEASE(ctx, tet_material);
    sn_elastic_destroy(&elastic);
    return status;
}
