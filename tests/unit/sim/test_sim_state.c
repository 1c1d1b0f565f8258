// Models and their states: pieces, copies, hashes, and what can be measured.
#include "test_sim_fixture.h"

#include "base/base_util.h"
#include "math/math_mat3.h"
#include "sim/sim_frame.h"
#include "sim/sim_state.h"

static void finds_loose_pieces(void **state) {
    (void)state;
    sim_fixture f = fixture_beam(1);
    sn_body_id second, third;
    sn_body_def def = fixture_body(&f);
    def.translation[1] = 1;
    def.name = "second";
    assert_done(f.ctx, sn_model_add_body(f.builder, &def, &second));
    def.name = "third";
    assert_done(f.ctx, sn_model_add_body(f.builder, &def, &third));
    sn_pin_def pin = sn_pin_def_default();
    pin.body = f.body;
    pin.select = select_plane(0, 1, 0);
    assert_done(f.ctx, sn_model_add_pin(f.builder, &pin, NULL));
    sn_model *model = fixture_build(&f);
    sn_model_info info = sn_model_get_info(model);
    assert_int_equal(model->piece_count, 3);
    assert_int_equal(info.unanchored_piece_count, 2);
    assert_string_equal(info.unanchored_body, "second");
    assert_int_equal(info.unanchored_nodes, 63);
    assert_int_equal(info.free_node_count, 3 * 63 - 9);
    sn_model_destroy(&model);
    // A spring from the third body to the first holds it too.
    sn_spring_def spring = sn_spring_def_default();
    spring.body = third;
    spring.body2 = f.body;
    spring.stiffness = 1;
    spring.point[1] = 1;
    assert_done(f.ctx, sn_model_add_spring(f.builder, &spring));
    model = fixture_build(&f);
    assert_int_equal(model->piece_count, 2);
    assert_int_equal(sn_model_get_info(model).unanchored_piece_count, 1);
    assert_int_equal(model->node_piece[0], 0);
    assert_int_equal(model->node_piece[63], 1);
    assert_int_equal(model->node_piece[126], 0);
    sn_model_destroy(&model);
    fixture_end(&f);
}

static void reports_a_model(void **state) {
    (void)state;
    sim_fixture f = fixture_beam(1);
    const double gravity[3] = {0, 3, -4}, wrong[3] = {0, NAN, 0};
    assert_done(f.ctx, sn_model_set_gravity(f.builder, gravity));
    assert_refused(f.ctx, sn_model_set_gravity(f.builder, wrong), "gravity[1]");
    sn_model *model = fixture_build(&f);
    sn_model_info info = sn_model_get_info(model);
    // Kuhn tet of cells a: three edges a, two a sqrt(2), one a sqrt(3).
    assert_near(info.edge_mean, 0.2 * (3 + 2 * sqrt(2) + sqrt(3)) / 6, 1e-14);
    assert_near(info.sag_estimate, 1000 * 5 * 1.2 * 1.2 / 1e5, 1e-12);
    assert_int_equal(info.tet_count, 6 * 24);
    for (int i = 0; i < 3; i++) {
        assert_near(info.low[i], 0, 0);
        assert_near(info.high[i], beam_size[i], 1e-15);
    }
    // The tets' boundary with its own vertices: all nodes but the five inside.
    sn_body_info body = sn_model_body(model, 0);
    assert_false(body.embedded);
    assert_int_equal(body.surface_vertex_count, 63 - 5);
    assert_int_equal(body.surface_triangle_count, 2 * 2 * (6 * 2 + 6 * 2 + 2 * 2));
    assert_null(sn_model_body(model, 1).name);
    assert_null(sn_model_shape(model, 0));
    sn_model_destroy(&model);
    fixture_end(&f);
}

/// Pinned nodes start where their frames are at time 0, whatever the body's start; those of the world stay.
static void starts_pinned_nodes_in_place(void **state) {
    (void)state;
    sim_fixture f = fixture_empty(1);
    const double time[2] = {-1, 1}, shift[6] = {0, 0, 0, 0, 0, 0.5};
    sn_frame_def frame = sn_frame_def_default();
    sn_pin_def pin = sn_pin_def_default();
    sn_state *start = NULL;
    frame.key_count = 2, frame.time = time, frame.translation = shift;
    sn_body_def def = fixture_body(&f);
    def.initial.stretch[0] = 2;
    def.initial.velocity[1] = 1;
    assert_done(f.ctx, sn_model_add_body(f.builder, &def, &pin.body));
    assert_done(f.ctx, sn_model_add_frame(f.builder, &frame, &pin.frame));
    pin.select = select_plane(0, -1, beam_size[0]);
    assert_done(f.ctx, sn_model_add_pin(f.builder, &pin, NULL));
    pin.frame = (sn_frame_id){0};
    pin.select = select_plane(0, -1, 1);
    pin.select.kind = SN_SELECT_BOX;
    memcpy(pin.select.low, (double[3]){1, 0, 0}, sizeof pin.select.low);
    memcpy(pin.select.high, (double[3]){1, 1, 1}, sizeof pin.select.high);
    assert_done(f.ctx, sn_model_add_pin(f.builder, &pin, NULL));
    sn_model *model = fixture_build(&f);
    assert_done(f.ctx, sn_state_create(model, &start));
    for (int32_t n = 0; n < 63; n++) {
        const double *X = model->rest + 3 * n, *x = sn_state_positions(start) + 3 * n;
        bool framed = n % 7 == 6, still = n % 7 == 5;
        assert_near(x[0], framed ? X[0] : 2 * X[0], 1e-15);
        assert_near(x[2], framed ? X[2] + 0.25 : X[2], 1e-15);
        assert_near(sn_state_velocities(start)[3 * n + 1], framed || still ? 0 : 1, 0);
    }
    sn_state_destroy(&start);
    sn_model_destroy(&model);
    fixture_end(&f);
}

static void copies_and_hashes(void **state) {
    (void)state;
    sim_fixture f = fixture_beam(1);
    sn_model *model = fixture_build(&f), *twin = fixture_build(&f);
    sn_state *a = NULL, *b = NULL, *foreign = NULL;
    assert_done(f.ctx, sn_state_create(model, &a));
    assert_done(f.ctx, sn_state_create(model, &b));
    assert_done(f.ctx, sn_state_create(twin, &foreign));
    uint64_t start = sn_state_hash(a);
    assert_true(start == sn_state_hash(b) && start == sn_state_hash(foreign));
    double values[189];
    memcpy(values, sn_state_positions(a), sizeof values);
    values[100] += 1e-12;
    assert_done(f.ctx, sn_state_set_positions(a, values));
    uint64_t moved = sn_state_hash(a);
    assert_true(moved != start);
    assert_done(f.ctx, sn_state_set_velocities(a, values));
    assert_true(sn_state_hash(a) != moved);
    assert_done(f.ctx, sn_state_copy(b, a));
    assert_true(sn_state_hash(b) == sn_state_hash(a));
    assert_done(f.ctx, sn_state_set_time(b, 2));
    assert_true(sn_state_hash(b) != sn_state_hash(a));
    assert_near(sn_state_time(b), 2, 0);
    values[7] = NAN;
    moved = sn_state_hash(a);
    assert_int_equal(sn_state_set_positions(a, values), SN_ERR_NON_FINITE);
    assert_non_null(strstr(sn_context_message(f.ctx), "node 2, component 1"));
    assert_int_equal(sn_state_set_velocities(a, values), SN_ERR_NON_FINITE);
    assert_int_equal(sn_state_set_time(a, INFINITY), SN_ERR_NON_FINITE);
    assert_refused(f.ctx, sn_state_copy(a, foreign), "different models");
    assert_true(sn_state_hash(a) == moved);
    sn_state_destroy(&a);
    sn_state_destroy(&b);
    sn_state_destroy(&foreign);
    sn_model_destroy(&model);
    sn_model_destroy(&twin);
    fixture_end(&f);
}

/// x = A X: the same stretches in every tet, and det F = det A.
static void measures_an_affine_state(void **state) {
    (void)state;
    sim_fixture f = fixture_beam(2);
    sn_model *model = fixture_build(&f);
    sn_state *now = NULL;
    double R[9], A[9], x[189], value[63];
    const double turn[3] = {0.3, -1, 2}, stretch[9] = {1.1, 0, 0, 0, 0.7, 0, 0, 0, 1.2};
    assert_done(f.ctx, sn_state_create(model, &now));
    sn_rotation_of_vector(turn, R);
    sn_mul33(R, stretch, A);
    for (int32_t n = 0; n < 63; n++)
        sn_mul3(A, model->rest + 3 * n, x + 3 * n);
    assert_done(f.ctx, sn_state_set_positions(now, x));
    sn_state_quantity(now, SN_QUANTITY_STRAIN, value);
    for (int32_t n = 0; n < 63; n++)
        assert_near(value[n], 0.3, 1e-13);
    sn_state_quantity(now, SN_QUANTITY_DISPLACEMENT, value);
    for (int32_t n = 0; n < 63; n++)
        assert_near(value[n], sn_distance3(x + 3 * n, model->rest + 3 * n), 1e-15);
    double least;
    int32_t inverted;
    sn_state_inversion(now, &least, &inverted);
    assert_near(least, 1.1 * 0.7 * 1.2, 1e-13);
    assert_int_equal(inverted, 0);
    // Mirrored: every tet is inverted.
    for (int32_t n = 0; n < 63; n++)
        x[3 * n] = -x[3 * n];
    assert_done(f.ctx, sn_state_set_positions(now, x));
    sn_state_inversion(now, &least, &inverted);
    assert_near(least, -1.1 * 0.7 * 1.2, 1e-13);
    assert_int_equal(inverted, model->tet_count);
    sn_state_destroy(&now);
    sn_model_destroy(&model);
    fixture_end(&f);
}

/// Rigid motion: P = m v_c, L = x_c x P + I w, kinetic energy from both.
static void measures_momentum(void **state) {
    (void)state;
    sim_fixture f = fixture_empty(2);
    sn_state *now = NULL;
    const double spin[3] = {1, -2, 0.5}, velocity[3] = {3, 0, 1};
    double center[3] = {0}, linear[3], angular[3], kinetic, expected[3], inner[3] = {0}, energy = 0;
    sn_body_def def = fixture_body(&f);
    memcpy(def.initial.spin, spin, sizeof spin);
    memcpy(def.initial.velocity, velocity, sizeof velocity);
    assert_done(f.ctx, sn_model_add_body(f.builder, &def, NULL));
    sn_model *model = fixture_build(&f);
    double mass = sn_model_get_info(model).mass;
    assert_done(f.ctx, sn_state_create(model, &now));
    sn_state_momentum(now, linear, angular, &kinetic);
    for (int32_t j = 0; j < 3 * 63; j++)
        center[j % 3] += model->mass[j / 3] * model->rest[j] / mass;
    for (int32_t n = 0; n < 63; n++) {
        double arm[3], v[3], turn[3];
        sn_sub3(model->rest + 3 * n, center, arm);
        sn_cross3(spin, arm, v);
        sn_cross3(arm, v, turn);
        energy += model->mass[n] * sn_dot3(v, v) / 2;
        for (int i = 0; i < 3; i++)
            inner[i] += model->mass[n] * turn[i];
    }
    sn_cross3(center, velocity, expected);
    for (int i = 0; i < 3; i++) {
        assert_near(linear[i], mass * velocity[i], 1e-11);
        assert_near(angular[i], mass * expected[i] + inner[i], 1e-11);
    }
    assert_near(kinetic, energy + mass * sn_dot3(velocity, velocity) / 2, 1e-11);
    sn_state_destroy(&now);
    sn_model_destroy(&model);
    fixture_end(&f);
}

/// An embedded surface follows an affine map exactly, and so does a linear field.
static void carries_an_embedded_surface(void **state) {
    (void)state;
    sim_fixture f = fixture_empty(2);
    sn_mesh_data *ball = NULL;
    sn_mesh *lattice = NULL;
    sn_embedding *embedding = NULL;
    sn_state *now = NULL;
    sn_make_def make = sn_make_def_default(SN_MAKE_SPHERE);
    sn_lattice_def fill = sn_lattice_def_default();
    fill.cells = 5;
    assert_done(f.ctx, sn_mesh_make(f.ctx, &make, &ball, NULL));
    assert_done(f.ctx, sn_lattice_create(f.ctx, ball, &fill, &lattice, &embedding));
    sn_body_def def = fixture_body(&f);
    def.mesh = lattice, def.surface = ball, def.embedding = embedding;
    def.scale = 3, def.translation[0] = 1;
    assert_done(f.ctx, sn_model_add_body(f.builder, &def, NULL));
    sn_model *model = fixture_build(&f);
    assert_done(f.ctx, sn_state_create(model, &now));
    sn_body_info body = sn_model_body(model, 0);
    assert_true(body.embedded);
    assert_int_equal(body.surface_vertex_count, ball->vertex_count);
    double *place = calloc(3 * (size_t)body.surface_vertex_count, sizeof *place);
    double *field = calloc((size_t)model->node_count, sizeof *field);
    double *carried = calloc((size_t)body.surface_vertex_count, sizeof *carried);
    for (int32_t n = 0; n < model->node_count; n++)
        field[n] = 2 * model->rest[3 * n] - model->rest[3 * n + 2];
    sn_state_surface_positions(now, 0, place);
    sn_state_surface_values(now, 0, field, carried);
    for (int32_t v = 0; v < body.surface_vertex_count; v++) {
        assert_near(place[3 * v], 3 * ball->position[3 * v] + 1, 1e-12);
        assert_near(place[3 * v + 1], 3 * ball->position[3 * v + 1], 1e-12);
        assert_near(carried[v], 2 * place[3 * v] - place[3 * v + 2], 1e-12);
    }
    free(place);
    free(field);
    free(carried);
    sn_state_destroy(&now);
    sn_model_destroy(&model);
    sn_embedding_destroy(&embedding);
    sn_mesh_destroy(&lattice);
    sn_mesh_data_destroy(&ball);
    fixture_end(&f);
}

/// Strain, momentum and inversion of a body of many tets, for 1 to 4 threads.
static void does_not_depend_on_threads(void **state) {
    (void)state;
    uint64_t first = 0;
    for (int32_t threads = 1; threads <= 4; threads++) {
        sim_fixture f = fixture_empty(threads);
        sn_mesh_data *data = NULL;
        sn_mesh *mesh = NULL;
        sn_state *now = NULL;
        sn_make_def make = sn_make_def_default(SN_MAKE_BEAM);
        make.cells = 7;
        assert_done(f.ctx, sn_mesh_make(f.ctx, &make, &data, NULL));
        assert_done(f.ctx, sn_mesh_create(f.ctx, data, false, &mesh));
        sn_body_def def = fixture_body(&f);
        def.mesh = mesh;
        def.initial.twist_rate = 3, def.initial.spin[0] = 2;
        assert_done(f.ctx, sn_model_add_body(f.builder, &def, NULL));
        sn_model *model = fixture_build(&f);
        assert_done(f.ctx, sn_state_create(model, &now));
        double *strain = calloc((size_t)model->node_count, sizeof *strain), sums[8];
        int32_t inverted;
        sn_state_quantity(now, SN_QUANTITY_STRAIN, strain);
        sn_state_momentum(now, sums, sums + 3, sums + 6);
        sn_state_inversion(now, sums + 7, &inverted);
        uint64_t hash = sn_hash(SN_HASH_START, strain, (size_t)model->node_count * sizeof *strain);
        hash = sn_hash(hash, sums, sizeof sums);
        if (threads == 1)
            first = hash;
        assert_true(hash == first);
        free(strain);
        sn_state_destroy(&now);
        sn_model_destroy(&model);
        sn_mesh_destroy(&mesh);
        sn_mesh_data_destroy(&data);
        fixture_end(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_loose_pieces),           cmocka_unit_test(reports_a_model),
        cmocka_unit_test(starts_pinned_nodes_in_place), cmocka_unit_test(copies_and_hashes),
        cmocka_unit_test(measures_an_affine_state),     cmocka_unit_test(measures_momentum),
        cmocka_unit_test(carries_an_embedded_surface),  cmocka_unit_test(does_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
