// Attachments: which points, how stiff, which bone wins, and what they pull.
#include "test_sim_fixture.h"

#include "contact/contact_shape.h"
#include "math/math_mat3.h"
#include "sim/sim_model.h"
#include "sim/sim_shape.h"

static const double pi = 3.14159265358979323846;

static sn_shape_def make_capsule(const char *name, double x0, double x1, double radius) {
    sn_shape_def def = sn_shape_def_default();
    def.name = name;
    def.kind = SN_SHAPE_CAPSULE;
    def.radius = radius;
    for (int i = 0; i < 3; i++)
        def.point[i] = def.point2[i] = 0.2;
    def.point[0] = x0, def.point2[0] = x1;
    return def;
}

static sn_shape_id add_shape(const sim_fixture *f, const sn_shape_def *def) {
    sn_shape_id id;
    assert_done(f->ctx, sn_model_add_shape(f->builder, def, &id));
    return id;
}

static sn_mesh_data *make_closed(sn_context *ctx, sn_make_shape shape, double size, int32_t cells) {
    sn_mesh_data *data = NULL;
    sn_make_def def = sn_make_def_default(shape);
    def.size[0] = def.size[1] = def.size[2] = size;
    def.cells = cells;
    assert_done(ctx, sn_mesh_make(ctx, &def, &data, NULL));
    return data;
}

static double probe(sn_context *ctx, const sn_shape_def *shape, double x, double y, double z) {
    sn_contact_shape *asked = NULL;
    assert_done(ctx, sn_contact_shape_create(ctx, shape, 0, &asked));
    double distance = sn_contact_shape_distance(asked, (double[3]){x, y, z});
    sn_contact_shape_destroy(ctx, &asked);
    return distance;
}

static void measures_distances(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    sn_shape_def shape = make_capsule("c", 0, 1, 0.1);
    assert_near(probe(ctx, &shape, 0.5, 0.2, 0.5), 0.2, 1e-15);
    assert_near(probe(ctx, &shape, 1.4, 0.2, 0.5), 0.4, 1e-15);
    assert_near(probe(ctx, &shape, -0.05, 0.2, 0.2), -0.05, 1e-15);
    shape.kind = SN_SHAPE_SPHERE;
    assert_near(probe(ctx, &shape, 0, 0.2, 1.2), 0.9, 1e-15);
    shape.kind = SN_SHAPE_BOX;
    memcpy(shape.half_size, (double[3]){1, 2, 3}, sizeof shape.half_size);
    assert_near(probe(ctx, &shape, 0.9, 0.2, 0.2), -0.1, 1e-15);
    assert_near(probe(ctx, &shape, 4, 6.2, 0.2), 5, 1e-15);
    shape.kind = SN_SHAPE_PLANE;
    memcpy(shape.normal, (double[3]){0, 0, 1}, sizeof shape.normal);
    assert_near(probe(ctx, &shape, 5, 5, -1), -1.2, 1e-15);
    test_context_end(&ctx);
}

/// Density of the samples and their distance from the surface.
static void check_samples(sn_context *ctx, const sn_shape_def *shape, double spacing, double area) {
    int32_t count = 0;
    double *points = NULL, far = 0, center[3] = {0};
    assert_done(ctx, sn_shape_sample(ctx, shape, spacing, &count, &points));
    for (int32_t i = 0; i < count; i++) {
        far = fmax(far, fabs(probe(ctx, shape, points[3 * i], points[3 * i + 1], points[3 * i + 2])));
        for (int k = 0; k < 3; k++)
            center[k] += points[3 * i + k] / count;
    }
    assert_at_most(far, 1e-12);
    assert_near(count * spacing * spacing / area, 1, 0.05);
    for (int k = 0; k < 3; k++)
        assert_near(center[k], (shape->point[k] + shape->point2[k]) / 2, spacing / 2);
    sn_release(ctx, points);
}

static void spreads_samples_evenly(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    sn_shape_def shape = make_capsule("c", 0, 1, 0.1);
    check_samples(ctx, &shape, 0.01, 2 * pi * 0.1 * 1 + 4 * pi * 0.01);
    memcpy(shape.point2, shape.point, sizeof shape.point);
    shape.kind = SN_SHAPE_SPHERE;
    check_samples(ctx, &shape, 0.01, 4 * pi * 0.01);
    shape.kind = SN_SHAPE_BOX;
    memcpy(shape.half_size, (double[3]){0.1, 0.2, 0.3}, sizeof shape.half_size);
    check_samples(ctx, &shape, 0.02, 8 * (0.1 * 0.2 + 0.2 * 0.3 + 0.3 * 0.1));
    // A mesh sample lies on the mesh, whose triangles come in many sizes.
    sn_mesh_data *block = make_closed(ctx, SN_MAKE_BLOCK, 0.3, 5);
    sn_shape_def mesh = {.name = "m", .kind = SN_SHAPE_MESH, .surface = block}, copy = {0};
    assert_done(ctx, sn_shape_copy(ctx, &mesh, &copy));
    for (int k = 0; k < 3; k++)
        for (int32_t v = 0; v < block->vertex_count; v++)
            copy.point[k] += block->position[3 * v + k] / block->vertex_count;
    memcpy(copy.point2, copy.point, sizeof copy.point);
    check_samples(ctx, &copy, 0.02, 6 * 0.09);
    int32_t count = 0;
    double *points = NULL;
    assert_refused(ctx, sn_shape_sample(ctx, &copy, 1e-7, &count, &points), "too fine");
    assert_null(points);
    sn_shape_clear(ctx, &copy);
    sn_mesh_data_destroy(&block);
    test_context_end(&ctx);
}

static void ties_nodes_within_reach(void **state) {
    (void)state;
    sim_fixture f = fixture_beam(1);
    sn_shape_def capsule = make_capsule("bone", 0, 0.4, 0.05);
    sn_shape_id id = add_shape(&f, &capsule);
    int32_t count = 0;
    sn_attachment_def tie = sn_attachment_def_default();
    tie.body = f.body;
    tie.shape_count = 1, tie.shapes = &id;
    // On the axis x = 0, 0.2, 0.4; its neighbors are 0.2 from it, 0.15 from the surface.
    assert_done(f.ctx, sn_model_add_attachment(f.builder, &tie, &count));
    assert_int_equal(count, 3);
    tie.distance = 0.15;
    tie.stiffness = 77;
    assert_done(f.ctx, sn_model_add_attachment(f.builder, &tie, &count));
    assert_int_equal(count, 3 + 3 * 4 + 1);
    sn_model *model = fixture_build(&f);
    assert_int_equal(sn_model_get_info(model).attachment_count, 19);
    assert_int_equal(sn_model_get_info(model).spring_count, 0);
    // The metric's diagonal at an inner node of a Kuhn lattice of cells a: 6 w a.
    double mu, lambda;
    sn_material_moduli(&f.material, &mu, &lambda);
    assert_int_equal(model->springs[1].a.node_count, 1);
    assert_near(model->springs[1].stiffness / (10 * 6 * 0.2 * (2 * mu + 3 * lambda)), 1, 1e-12);
    assert_near(model->springs[5].stiffness, 77, 0);
    sn_model_destroy(&model);
    fixture_end(&f);
}

/// At rest nothing pulls; displaced by d, each spring holds k d / 2 d and pulls back.
static void rests_and_pulls_back(void **state) {
    (void)state;
    sim_fixture f = fixture_beam(1);
    sn_shape_def capsule = make_capsule("bone", 0.1, 1.1, 0.1);
    sn_shape_id id = add_shape(&f, &capsule);
    int32_t count = 0;
    sn_attachment_def tie = sn_attachment_def_default();
    tie.body = f.body;
    tie.kind = SN_ATTACH_SAMPLES;
    tie.shape_count = 1, tie.shapes = &id;
    tie.spacing = 0.05;
    assert_done(f.ctx, sn_model_add_attachment(f.builder, &tie, &count));
    double area = 2 * pi * 0.1 * 1 + 4 * pi * 0.01;
    assert_near(count * 0.05 * 0.05 / area, 1, 0.1);
    sn_model *model = fixture_build(&f);
    double *moved = calloc(3 * (size_t)model->node_count, sizeof *moved);
    for (int32_t j = 0; j < 3 * model->node_count; j++)
        moved[j] = model->rest[j] + (j % 3 == 1 ? 0.01 : 0);
    for (int32_t s = 0; s < count; s++) {
        const sn_spring *spring = &model->springs[s];
        const sn_spring_target *target = &model->targets[s];
        double gradient[3];
        assert_int_equal(target->shape, 0);
        assert_near(spring->rest_length, 0, 0);
        assert_at_most(sn_spring_energy(spring, model->rest, target->point, gradient),
                       1e-28 * spring->stiffness);
        double energy = sn_spring_energy(spring, moved, target->point, gradient);
        assert_near(energy / spring->stiffness, 5e-5, 1e-14);
        assert_near(gradient[1] / spring->stiffness, 0.01, 1e-13);
        assert_near(gradient[0] / spring->stiffness, 0, 1e-13);
    }
    free(moved);
    sn_model_destroy(&model);
    fixture_end(&f);
}

/// Two bones that overlap in a joint: no sample of one lies inside the other, and none is there twice.
static void leaves_joints_to_one_bone(void **state) {
    (void)state;
    sim_fixture f = fixture_beam(1);
    sn_shape_def upper = make_capsule("upper", 0.1, 0.6, 0.1), lower = make_capsule("lower", 0.6, 1.1, 0.1);
    sn_shape_id ids[2] = {add_shape(&f, &upper), add_shape(&f, &lower)};
    int32_t both = 0, per_shape[2] = {0};
    sn_attachment_def tie = sn_attachment_def_default();
    tie.body = f.body;
    tie.kind = SN_ATTACH_SAMPLES;
    tie.shape_count = 2, tie.shapes = ids;
    tie.spacing = 0.03;
    assert_done(f.ctx, sn_model_add_attachment(f.builder, &tie, &both));
    sn_model *model = fixture_build(&f);
    for (int32_t s = 0; s < both; s++) {
        const sn_spring_target *target = &model->targets[s];
        per_shape[target->shape]++;
        assert_true(probe(f.ctx, &model->shapes[1 - target->shape], target->point[0], target->point[1],
                          target->point[2]) >= -1e-9);
    }
    // The caps at the joint are gone.
    double side = 2 * pi * 0.1 * 0.5 + 2 * pi * 0.01;
    assert_near(per_shape[0] * 0.03 * 0.03 / side, 1, 0.1);
    assert_near(per_shape[1] * 0.03 * 0.03 / side, 1, 0.1);
    sn_model_destroy(&model);
    // Nodes go to the nearest.
    tie.kind = SN_ATTACH_NODES;
    tie.distance = 0.1;
    assert_done(f.ctx, sn_model_add_attachment(f.builder, &tie, &both));
    model = fixture_build(&f);
    for (int32_t s = model->spring_count - both; s < model->spring_count; s++) {
        const sn_spring_target *target = &model->targets[s];
        assert_int_equal(target->shape, target->point[0] > 0.6 + 1e-9);
    }
    sn_model_destroy(&model);
    fixture_end(&f);
}

static void pins_nodes_to_bones(void **state) {
    (void)state;
    sim_fixture f = fixture_beam(1);
    const double time[2] = {0, 1}, rotation[6] = {0, 0, 0, 0, 0, 1};
    int32_t count = 0;
    sn_frame_def frame = sn_frame_def_default();
    sn_frame_id elbow;
    frame.name = "elbow";
    frame.key_count = 2, frame.time = time, frame.rotation = rotation;
    memcpy(frame.pivot, (double[3]){0.6, 0.2, 0.2}, sizeof frame.pivot);
    assert_done(f.ctx, sn_model_add_frame(f.builder, &frame, &elbow));
    sn_shape_def upper = make_capsule("upper", 0, 0.6, 0.05), lower = make_capsule("lower", 0.6, 1.2, 0.05);
    lower.frame = elbow;
    sn_shape_id ids[2] = {add_shape(&f, &upper), add_shape(&f, &lower)};
    sn_attachment_def tie = sn_attachment_def_default();
    tie.body = f.body;
    tie.shape_count = 2, tie.shapes = ids;
    tie.hard = true;
    // The node at the pivot belongs to both and stays where it is.
    assert_done(f.ctx, sn_model_add_attachment(f.builder, &tie, &count));
    assert_int_equal(count, 7);
    // With a longer reach, both claim nodes that the elbow moves.
    tie.distance = 0.16;
    assert_refused(f.ctx, sn_model_add_attachment(f.builder, &tie, NULL), "and to frame elbow");
    sn_model *model = fixture_build(&f);
    assert_int_equal(sn_model_get_info(model).pinned_node_count, 7);
    assert_int_equal(model->spring_count, 0);
    int32_t axis = 7 + 21;
    for (int32_t i = 0; i < 7; i++)
        assert_int_equal(model->pin_frame[axis + i], i <= 3 ? SN_FRAME_WORLD : 0);
    sn_model_destroy(&model);
    fixture_end(&f);
}

static void takes_mesh_shapes(void **state) {
    (void)state;
    sim_fixture f = fixture_beam(1);
    sn_mesh_data *ball = make_closed(f.ctx, SN_MAKE_SPHERE, 0.25, 12);
    double low[3] = {1e9, 1e9, 1e9};
    for (int32_t j = 0; j < 3 * ball->vertex_count; j++)
        low[j % 3] = fmin(low[j % 3], ball->position[j]);
    for (int32_t j = 0; j < 3 * ball->vertex_count; j++)
        ball->position[j] += (j % 3 == 0 ? 0.6 : 0.2) - 0.125 - low[j % 3];
    sn_shape_def def = sn_shape_def_default();
    def.kind = SN_SHAPE_MESH;
    def.surface = ball;
    sn_shape_id id = add_shape(&f, &def);
    sn_mesh_data_destroy(&ball);
    int32_t count = 0;
    sn_attachment_def tie = sn_attachment_def_default();
    tie.body = f.body;
    tie.shape_count = 1, tie.shapes = &id;
    assert_done(f.ctx, sn_model_add_attachment(f.builder, &tie, &count));
    assert_int_equal(count, 1);
    tie.distance = 0.08;
    assert_done(f.ctx, sn_model_add_attachment(f.builder, &tie, &count));
    assert_int_equal(count, 7);
    tie.kind = SN_ATTACH_SAMPLES;
    tie.spacing = 0.02;
    assert_done(f.ctx, sn_model_add_attachment(f.builder, &tie, &count));
    assert_near(count * 0.02 * 0.02 / (4 * pi * 0.125 * 0.125), 1, 0.05);
    sn_model *model = fixture_build(&f);
    assert_string_equal(sn_model_shape(model, 0)->name, "shape 1");
    assert_non_null(sn_model_shape(model, 0)->surface);
    sn_model_destroy(&model);
    fixture_end(&f);
}

static void refuses_wrong_shapes(void **state) {
    (void)state;
    sim_fixture f = fixture_beam(1);
    sn_shape_def def = make_capsule("bone", 0, 1, 0);
    assert_refused(f.ctx, sn_model_add_shape(f.builder, &def, NULL), "radius");
    def = make_capsule("bone", NAN, 1, 0.1);
    assert_refused(f.ctx, sn_model_add_shape(f.builder, &def, NULL), "nan");
    def.kind = SN_SHAPE_PLANE;
    assert_refused(f.ctx, sn_model_add_shape(f.builder, &def, NULL), "shape bone");
    def.kind = SN_SHAPE_BOX;
    def.point[0] = 0;
    assert_refused(f.ctx, sn_model_add_shape(f.builder, &def, NULL), "half_size");
    def.kind = SN_SHAPE_MESH;
    assert_refused(f.ctx, sn_model_add_shape(f.builder, &def, NULL), "surface is NULL");
    sn_mesh_data *nothing = NULL;
    assert_done(f.ctx, sn_mesh_data_create(f.ctx, &nothing));
    def.surface = nothing;
    assert_refused(f.ctx, sn_model_add_shape(f.builder, &def, NULL), "no triangles");
    sn_mesh_data_destroy(&nothing);
    def.kind = (sn_shape_kind)9;
    assert_refused(f.ctx, sn_model_add_shape(f.builder, &def, NULL), "kind = 9");
    def = make_capsule("bone", 0, 1, 0.1);
    assert_done(f.ctx, sn_model_add_shape(f.builder, &def, NULL));
    assert_refused(f.ctx, sn_model_add_shape(f.builder, &def, NULL), "this name already");
    fixture_end(&f);
}

static void refuses_wrong_attachments(void **state) {
    (void)state;
    sim_fixture f = fixture_beam(1);
    sn_shape_def away = make_capsule("away", 5, 6, 0.1), plane = sn_shape_def_default();
    plane.kind = SN_SHAPE_PLANE;
    plane.normal[2] = 1;
    plane.point[2] = -1;
    sn_shape_id capsule = add_shape(&f, &away), floor = add_shape(&f, &plane);
    sn_attachment_def good = sn_attachment_def_default(), def;
    good.body = f.body;
    good.shape_count = 1, good.shapes = &capsule;
    good.spacing = 0.05;
    assert_refused(f.ctx, sn_model_add_attachment(f.builder, &good, NULL), "the nearest is 3.7 m away");
    def = good, def.hard = true;
    assert_refused(f.ctx, sn_model_add_attachment(f.builder, &def, NULL), "the nearest is 3.7 m away");
    def = good, def.kind = SN_ATTACH_SAMPLES;
    assert_refused(f.ctx, sn_model_add_attachment(f.builder, &def, NULL), "no sample");
    def.hard = true;
    assert_refused(f.ctx, sn_model_add_attachment(f.builder, &def, NULL), "hard");
    def.hard = false, def.shapes = &floor;
    assert_refused(f.ctx, sn_model_add_attachment(f.builder, &def, NULL), "a plane has no end");
    def = good, def.kind = SN_ATTACH_SAMPLES, def.spacing = 0;
    assert_refused(f.ctx, sn_model_add_attachment(f.builder, &def, NULL), "spacing");
    def = good, def.distance = -1;
    assert_refused(f.ctx, sn_model_add_attachment(f.builder, &def, NULL), "distance");
    def = good, def.stiffness = -1;
    assert_refused(f.ctx, sn_model_add_attachment(f.builder, &def, NULL), "stiffness");
    def = good, def.shape_count = 0;
    assert_refused(f.ctx, sn_model_add_attachment(f.builder, &def, NULL), "shape_count = 0");
    capsule.index1 = 3;
    assert_refused(f.ctx, sn_model_add_attachment(f.builder, &good, NULL), "shape (index1 3)");
    sn_model *model = fixture_build(&f);
    assert_int_equal(model->spring_count, 0);
    assert_int_equal(sn_model_get_info(model).pinned_node_count, 0);
    sn_model_destroy(&model);
    fixture_end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures_distances),        cmocka_unit_test(spreads_samples_evenly),
        cmocka_unit_test(ties_nodes_within_reach),   cmocka_unit_test(rests_and_pulls_back),
        cmocka_unit_test(leaves_joints_to_one_bone), cmocka_unit_test(pins_nodes_to_bones),
        cmocka_unit_test(takes_mesh_shapes),         cmocka_unit_test(refuses_wrong_shapes),
        cmocka_unit_test(refuses_wrong_attachments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
