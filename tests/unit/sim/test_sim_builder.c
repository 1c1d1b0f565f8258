// Bodies, selections, pins, loads and springs: what is accepted, what it becomes, and what is refused.
#include "test_sim_fixture.h"

#include "math/math_mat3.h"
#include "sim/sim_model.h"

static void places_a_body(void **state) {
    (void)state;
    sim_fixture f = fixture_empty(1);
    sn_body_def def = fixture_body(&f);
    def.scale = 2;
    def.rotation[2] = 1.57079632679489662;
    def.translation[1] = 10;
    f.material.density = 500;
    assert_done(f.ctx, sn_model_add_body(f.builder, &def, NULL));
    assert_done(f.ctx, sn_model_set_gravity(f.builder, (double[3]){1, -2, 3}));
    sn_model *model = fixture_build(&f);
    sn_model_info info = sn_model_get_info(model);
    assert_memory_equal(info.gravity, ((double[3]){1, -2, 3}), sizeof info.gravity);
    double volume = 8 * beam_size[0] * beam_size[1] * beam_size[2];
    assert_near(info.volume, volume, 1e-13);
    assert_near(info.mass, 500 * volume, 1e-10);
    assert_near(info.low[0], -2 * beam_size[1], 1e-14);
    assert_near(info.high[1], 10 + 2 * beam_size[0], 1e-13);
    double mass = 0, tets = 0;
    for (int32_t n = 0; n < info.node_count; n++)
        mass += sn_model_masses(model)[n];
    for (int32_t t = 0; t < info.tet_count; t++)
        tets += model->tet_volume[t];
    assert_near(mass, info.mass, 1e-10);
    assert_near(tets, volume, 1e-13);
    assert_string_equal(sn_model_body(model, 0).name, "body 1");
    sn_model_destroy(&model);
    fixture_end(&f);
}

static void weighs_materials_apart(void **state) {
    (void)state;
    sim_fixture f = fixture_empty(1);
    sn_material_def materials[2] = {f.material, f.material};
    materials[1].density = 3000, materials[1].poisson = 0.45;
    int32_t tets = sn_mesh_tet_count(f.mesh), *which = calloc((size_t)tets, sizeof *which);
    for (int32_t t = 0; t < tets; t++)
        which[t] = t % 2;
    sn_body_def def = fixture_body(&f);
    def.material_count = 2, def.materials = materials, def.tet_material = which;
    assert_done(f.ctx, sn_model_add_body(f.builder, &def, NULL));
    which[3] = 2;
    def.name = "wrong";
    assert_refused(f.ctx, sn_model_add_body(f.builder, &def, NULL), "tet_material[3] = 2: must be 0 to 1");
    free(which);
    sn_model *model = fixture_build(&f);
    sn_model_info info = sn_model_get_info(model);
    assert_near(info.mass, 2000 * beam_size[0] * beam_size[1] * beam_size[2], 1e-10);
    assert_near(info.poisson_max, 0.45, 0);
    sn_model_destroy(&model);
    fixture_end(&f);
}

/// x = twist(stretch(X)), v = velocity + spin x (x - center of mass).
static void starts_deformed_and_moving(void **state) {
    (void)state;
    sim_fixture f = fixture_empty(1);
    sn_body_def def = fixture_body(&f);
    double center[3] = {0}, mass = 0, momentum[3] = {0};
    def.initial = (sn_initial_def){.stretch = {2, 1, 1},
                                   .twist_point = {0, 0.2, 0.2},
                                   .twist_axis = {5, 0, 0},
                                   .twist_rate = 0.7,
                                   .velocity = {1, 2, 3},
                                   .spin = {0, 0, 4}};
    assert_done(f.ctx, sn_model_add_body(f.builder, &def, NULL));
    sn_model *model = fixture_build(&f);
    // Lumped masses of Kuhn tets are not symmetric: the center is not the middle.
    for (int32_t n = 0; n < model->node_count; n++)
        for (int i = 0; i < 3; i++)
            center[i] += model->mass[n] * model->start_x[3 * n + i] / sn_model_get_info(model).mass;
    for (int32_t n = 0; n < model->node_count; n++) {
        const double *X = model->rest + 3 * n, *x = model->start_x + 3 * n, *v = model->start_v + 3 * n;
        double angle = 0.7 * 2 * X[0], y = X[1] - 0.2, z = X[2] - 0.2;
        assert_near(x[0], 2 * X[0], 1e-14);
        assert_near(x[1], 0.2 + cos(angle) * y - sin(angle) * z, 1e-14);
        assert_near(x[2], 0.2 + sin(angle) * y + cos(angle) * z, 1e-14);
        assert_near(v[0], 1 - 4 * (x[1] - center[1]), 1e-12);
        assert_near(v[1], 2 + 4 * (x[0] - center[0]), 1e-12);
        assert_near(v[2], 3, 1e-13);
        mass += model->mass[n];
        for (int i = 0; i < 3; i++)
            momentum[i] += model->mass[n] * v[i];
    }
    for (int i = 0; i < 3; i++)
        assert_near(momentum[i] / mass, def.initial.velocity[i], 1e-13);
    sn_model_destroy(&model);
    fixture_end(&f);
}

static void refuses_wrong_bodies(void **state) {
    (void)state;
    sim_fixture f = fixture_beam(1);
    sn_body_def good = fixture_body(&f), def = good;
    def.name = "beam";
    assert_refused(f.ctx, sn_model_add_body(f.builder, &def, NULL), "body beam: name");
    def = good, def.scale = 0;
    assert_refused(f.ctx, sn_model_add_body(f.builder, &def, NULL), "scale");
    def = good, def.translation[1] = NAN;
    assert_refused(f.ctx, sn_model_add_body(f.builder, &def, NULL), "translate");
    def = good, def.mesh = NULL;
    assert_refused(f.ctx, sn_model_add_body(f.builder, &def, NULL), "mesh is NULL");
    def = good, def.material_count = 0;
    assert_refused(f.ctx, sn_model_add_body(f.builder, &def, NULL), "material_count = 0");
    def = good, def.initial.stretch[2] = 0;
    assert_refused(f.ctx, sn_model_add_body(f.builder, &def, NULL), "stretch");
    def = good, def.initial.twist_axis[2] = 0;
    assert_refused(f.ctx, sn_model_add_body(f.builder, &def, NULL), "axis");
    def = good;
    sn_material_def bad = f.material;
    bad.density = 0, def.materials = &bad;
    assert_refused(f.ctx, sn_model_add_body(f.builder, &def, NULL), "density");
    sn_embedding none = {0};
    def = good, def.embedding = &none;
    assert_refused(f.ctx, sn_model_add_body(f.builder, &def, NULL), "together");
    // So far from the origin that tets round to nothing.
    def = good, def.translation[0] = 1e18;
    assert_true(sn_model_add_body(f.builder, &def, NULL) < 0);
    // What was refused has left no trace.
    assert_done(f.ctx, sn_model_add_body(f.builder, &good, NULL));
    sn_model *model = fixture_build(&f);
    assert_int_equal(sn_model_get_info(model).body_count, 2);
    assert_string_equal(sn_model_body(model, 1).name, "body 2");
    sn_model_destroy(&model);
    fixture_end(&f);
    sn_context *ctx = test_context(1);
    sn_model_builder *empty = NULL;
    assert_done(ctx, sn_model_builder_create(ctx, &empty));
    assert_refused(ctx, sn_model_build(empty, &model), "no body");
    assert_null(model);
    sn_model_builder_destroy(&empty);
    test_context_end(&ctx);
}

static int32_t pin_count(const sim_fixture *f, const sn_selection *select) {
    sn_pin_def pin = sn_pin_def_default();
    int32_t count = -1;
    pin.body = f->body;
    pin.select = *select;
    assert_done(f->ctx, sn_model_add_pin(f->builder, &pin, &count));
    return count;
}

/// The beam has 7 x 3 x 3 nodes, 0.2 apart.
static void selects_nodes(void **state) {
    (void)state;
    sim_fixture f = fixture_beam(1);
    const int32_t list[4] = {5, 1, 5, 62};
    sn_selection all = {.kind = SN_SELECT_ALL}, left = select_plane(0, 7, 0), right = select_plane(0, -1, 1);
    sn_selection box = {.kind = SN_SELECT_BOX, .low = {0.2, 0, 0}, .high = {0.6, 0.4, 0.2}};
    sn_selection ball = {.kind = SN_SELECT_SPHERE, .point = {0.6, 0.2, 0.2}, .radius = 0.2};
    sn_selection nodes = {.kind = SN_SELECT_NODES, .node_count = 4, .nodes = list};
    assert_int_equal(pin_count(&f, &all), 63);
    assert_int_equal(pin_count(&f, &left), 9);
    assert_int_equal(pin_count(&f, &right), 18);
    assert_int_equal(pin_count(&f, &box), 18);
    assert_int_equal(pin_count(&f, &ball), 7);
    assert_int_equal(pin_count(&f, &nodes), 3);
    fixture_end(&f);
}

/// A mesh whose tets have groups.
static void selects_groups(void **state) {
    (void)state;
    sim_fixture f = fixture_empty(1);
    sn_mesh_data *data = NULL;
    sn_mesh *grouped = NULL;
    assert_done(f.ctx, sn_mesh_to_data(f.mesh, &data));
    int32_t tets = sn_mesh_tet_count(f.mesh);
    // Groups are owned by the data, so they are allocated as the library does.
    void *group = NULL, *names = NULL;
    assert_done(f.ctx, sn_new_zeroed(f.ctx, (size_t)tets, sizeof(int32_t), &group));
    assert_done(f.ctx, sn_new_zeroed(f.ctx, 2, sizeof(char *), &names));
    data->block[0].group = group;
    data->group = names;
    data->group_count = 2;
    assert_done(f.ctx, sn_new_text(f.ctx, "fat", &data->group[0]));
    assert_done(f.ctx, sn_new_text(f.ctx, "muscle", &data->group[1]));
    data->block[0].group[0] = 1;
    assert_done(f.ctx, sn_mesh_data_add_set(data, "clamp", 2, (int32_t[]){5, 3}));
    assert_done(f.ctx, sn_mesh_data_add_set(data, "muscle", 1, (int32_t[]){9}));
    assert_done(f.ctx, sn_mesh_create(f.ctx, data, false, &grouped));
    sn_mesh_data_destroy(&data);
    sn_body_def def = fixture_body(&f);
    def.mesh = grouped;
    assert_done(f.ctx, sn_model_add_body(f.builder, &def, &f.body));
    sn_selection muscle = {.kind = SN_SELECT_GROUP, .group = "muscle"};
    assert_int_equal(pin_count(&f, &muscle), 4);
    sn_selection clamp = {.kind = SN_SELECT_GROUP, .group = "clamp"};
    assert_int_equal(pin_count(&f, &clamp), 2);
    sn_pin_def pin = sn_pin_def_default();
    pin.body = f.body;
    pin.select = (sn_selection){.kind = SN_SELECT_GROUP, .group = "bone"};
    assert_refused(f.ctx, sn_model_add_pin(f.builder, &pin, NULL), "fat, muscle, clamp");
    sn_mesh_destroy(&grouped);
    fixture_end(&f);
}

static void refuses_wrong_selections(void **state) {
    (void)state;
    sim_fixture f = fixture_beam(1);
    const int32_t list[1] = {63};
    sn_pin_def pin = sn_pin_def_default();
    pin.body = f.body;
    pin.select = select_plane(0, 1, -0.1);
    assert_refused(f.ctx, sn_model_add_pin(f.builder, &pin, NULL), "[0, 0, 0] to [1.2, 0.4, 0.4]");
    pin.select = (sn_selection){.kind = SN_SELECT_PLANE};
    assert_refused(f.ctx, sn_model_add_pin(f.builder, &pin, NULL), "normal");
    pin.select = (sn_selection){.kind = SN_SELECT_BOX, .low = {1, 0, 0}};
    assert_refused(f.ctx, sn_model_add_pin(f.builder, &pin, NULL), "high");
    pin.select = (sn_selection){.kind = SN_SELECT_SPHERE};
    assert_refused(f.ctx, sn_model_add_pin(f.builder, &pin, NULL), "radius");
    pin.select = (sn_selection){.kind = SN_SELECT_NODES, .node_count = 1, .nodes = list};
    assert_refused(f.ctx, sn_model_add_pin(f.builder, &pin, NULL), "nodes[0] = 63");
    pin.select = (sn_selection){.kind = SN_SELECT_GROUP};
    assert_refused(f.ctx, sn_model_add_pin(f.builder, &pin, NULL), "group");
    pin.select.kind = (sn_selection_kind)17;
    assert_refused(f.ctx, sn_model_add_pin(f.builder, &pin, NULL), "kind = 17");
    pin.select = (sn_selection){.kind = SN_SELECT_ALL};
    pin.body.index1 = 2;
    assert_refused(f.ctx, sn_model_add_pin(f.builder, &pin, NULL), "not one of this builder's 1");
    pin.body = (sn_body_id){0};
    assert_refused(f.ctx, sn_model_add_pin(f.builder, &pin, NULL), "missing");
    sn_model *model = fixture_build(&f);
    assert_int_equal(sn_model_get_info(model).pinned_node_count, 0);
    sn_model_destroy(&model);
    fixture_end(&f);
}

static sn_frame_id add_turning_frame(const sim_fixture *f, const char *name, double angle, double move) {
    const double time[2] = {0, 1}, rotation[6] = {0, 0, 0, angle, 0, 0}, shift[6] = {0, 0, 0, move, 0, 0};
    sn_frame_def def = sn_frame_def_default();
    sn_frame_id id;
    def.name = name;
    def.key_count = 2;
    def.time = time, def.rotation = rotation, def.translation = shift;
    assert_done(f->ctx, sn_model_add_frame(f->builder, &def, &id));
    return id;
}

static void allows_pins_that_agree(void **state) {
    (void)state;
    sim_fixture f = fixture_beam(1);
    sn_pin_def pin = sn_pin_def_default();
    int32_t count = 0;
    pin.body = f.body;
    pin.frame = add_turning_frame(&f, "a", 1.5, 0);
    // The nodes on the axis do not notice that b turns the other way.
    pin.select = (sn_selection){.kind = SN_SELECT_BOX, .high = {2, 0, 0}};
    assert_done(f.ctx, sn_model_add_pin(f.builder, &pin, &count));
    assert_int_equal(count, 7);
    pin.frame = add_turning_frame(&f, "b", -1, 0);
    assert_done(f.ctx, sn_model_add_pin(f.builder, &pin, &count));
    pin.frame = (sn_frame_id){0};
    assert_done(f.ctx, sn_model_add_pin(f.builder, &pin, &count));
    sn_model *model = fixture_build(&f);
    assert_int_equal(sn_model_get_info(model).pinned_node_count, 7);
    for (int32_t n = 0; n < 63; n++)
        assert_int_equal(model->pin_frame[n], model->pinned[n] ? 0 : SN_NODE_FREE);
    sn_model_destroy(&model);
    fixture_end(&f);
}

static void refuses_pins_that_part(void **state) {
    (void)state;
    sim_fixture f = fixture_beam(1);
    sn_pin_def pin = sn_pin_def_default();
    pin.body = f.body;
    pin.select = select_plane(0, 1, 0);
    pin.frame = add_turning_frame(&f, "upper", 0, 0);
    assert_done(f.ctx, sn_model_add_pin(f.builder, &pin, NULL));
    pin.frame = add_turning_frame(&f, "lower", 0, 1e-6);
    pin.select = (sn_selection){.kind = SN_SELECT_ALL};
    assert_refused(f.ctx, sn_model_add_pin(f.builder, &pin, NULL), "node 0 of body beam");
    assert_non_null(strstr(sn_context_message(f.ctx), "frame upper and to frame lower"));
    // A whole turn ends where it began; only the middle tells.
    pin.frame = add_turning_frame(&f, "turning", 6.28318530717958648, 0);
    assert_refused(f.ctx, sn_model_add_pin(f.builder, &pin, NULL), "frame turning");
    // A child of a moving frame has no keys of its own.
    sn_frame_def child = sn_frame_def_default();
    child.name = "child", child.parent = pin.frame;
    assert_done(f.ctx, sn_model_add_frame(f.builder, &child, &pin.frame));
    assert_refused(f.ctx, sn_model_add_pin(f.builder, &pin, NULL), "frame child");
    sn_model *model = fixture_build(&f);
    assert_int_equal(sn_model_get_info(model).pinned_node_count, 9);
    sn_model_destroy(&model);
    fixture_end(&f);
}

static void shares_loads_out(void **state) {
    (void)state;
    sim_fixture f = fixture_beam(1);
    const double force[3] = {3, -0.7, 1e-3};
    int32_t count = 0;
    sn_load_def load = sn_load_def_default();
    load.body = f.body;
    load.select = select_plane(0, -1, beam_size[0]);
    memcpy(load.force, force, sizeof force);
    for (int spread = 0; spread < 3; spread++) {
        load.spread = (sn_load_spread)spread;
        assert_done(f.ctx, sn_model_add_load(f.builder, &load, &count));
        assert_int_equal(count, 9);
    }
    sn_model *model = fixture_build(&f);
    double sum[3] = {0};
    for (int32_t n = 0; n < 63; n++)
        for (int i = 0; i < 3; i++)
            sum[i] += model->load[3 * n + i];
    for (int i = 0; i < 3; i++)
        assert_near(sum[i], 3 * force[i], 1e-14 * fabs(force[i]));
    // The middle of the face: 1/9 of the nodes, 1/4 of the area, and its share of the mass of that layer.
    int32_t middle = 6 + 7 + 21;
    double layer = 0;
    for (int32_t n = 6; n < 63; n += 7)
        layer += model->mass[n];
    assert_near(model->load[3 * middle], 3 * (1 / 9.0 + 1 / 4.0 + model->mass[middle] / layer), 1e-14);
    sn_model_destroy(&model);
    load.spread = SN_SPREAD_AREA;
    load.select = (sn_selection){.kind = SN_SELECT_SPHERE, .point = {0, 0, 0}, .radius = 0.01};
    assert_refused(f.ctx, sn_model_add_load(f.builder, &load, NULL), "no whole boundary triangle");
    load.force[1] = NAN;
    assert_refused(f.ctx, sn_model_add_load(f.builder, &load, NULL), "force");
    load.force[1] = 0;
    load.spread = (sn_load_spread)3;
    assert_refused(f.ctx, sn_model_add_load(f.builder, &load, NULL), "spread");
    fixture_end(&f);
}

static void makes_springs(void **state) {
    (void)state;
    sim_fixture f = fixture_beam(1);
    sn_body_id second;
    sn_body_def def = fixture_body(&f);
    def.translation[2] = 1;
    assert_done(f.ctx, sn_model_add_body(f.builder, &def, &second));
    sn_spring_def spring = sn_spring_def_default();
    spring.body = f.body;
    spring.stiffness = 5;
    memcpy(spring.point, (double[3]){0.2, 0.2, 0.4}, sizeof spring.point);
    spring.body2 = second;
    memcpy(spring.point2, (double[3]){0.25, 0.23, 1.01}, sizeof spring.point2);
    assert_done(f.ctx, sn_model_add_spring(f.builder, &spring));
    spring.body2 = (sn_body_id){0};
    spring.frame2 = add_turning_frame(&f, "hook", 1, 0);
    spring.rest_length = 0;
    // Outside the body: moved onto it.
    spring.point[2] = 0.5;
    assert_done(f.ctx, sn_model_add_spring(f.builder, &spring));
    sn_model *model = fixture_build(&f);
    assert_int_equal(sn_model_get_info(model).spring_count, 2);
    const sn_spring *between = &model->springs[0], *hook = &model->springs[1];
    assert_int_equal(between->a.node_count, 1);
    assert_int_equal(between->b.node_count, 4);
    assert_near(between->rest_length, sqrt(0.05 * 0.05 + 0.03 * 0.03 + 0.61 * 0.61), 1e-14);
    for (int a = 0; a < 4; a++)
        assert_true(between->b.node[a] >= 63 && between->b.weight[a] >= 0);
    double gradient[3], target[3] = {0.25, 0.23, 1.01};
    assert_near(sn_spring_energy(between, model->rest, NULL, gradient), 0, 1e-28);
    assert_near(sn_spring_energy(hook, model->rest, target, gradient),
                2.5 * (0.05 * 0.05 + 0.03 * 0.03 + 0.61 * 0.61), 1e-13);
    assert_int_equal(model->targets[1].frame, 0);
    // Joined by the spring, and held by the hook.
    assert_int_equal(model->piece_count, 1);
    assert_true(model->piece_anchored[0]);
    sn_model_destroy(&model);
    spring.stiffness = 0;
    assert_refused(f.ctx, sn_model_add_spring(f.builder, &spring), "stiffness");
    spring.stiffness = 1;
    spring.body2 = f.body;
    memcpy(spring.point2, spring.point, sizeof spring.point);
    assert_refused(f.ctx, sn_model_add_spring(f.builder, &spring), "same place");
    spring.point2[0] = NAN;
    assert_refused(f.ctx, sn_model_add_spring(f.builder, &spring), "point2[0]");
    fixture_end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_a_body),
        cmocka_unit_test(weighs_materials_apart),
        cmocka_unit_test(starts_deformed_and_moving),
        cmocka_unit_test(refuses_wrong_bodies),
        cmocka_unit_test(selects_nodes),
        cmocka_unit_test(selects_groups),
        cmocka_unit_test(refuses_wrong_selections),
        cmocka_unit_test(allows_pins_that_agree),
        cmocka_unit_test(refuses_pins_that_part),
        cmocka_unit_test(shares_loads_out),
        cmocka_unit_test(makes_springs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
