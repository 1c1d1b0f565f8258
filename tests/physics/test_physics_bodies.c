// Labels: slow precision
// Contact of bodies with each other and of a body with itself: momentum, rest, friction, parting, sameness.
#include "test_precision.h"

#include "physics_scene.h"

static const double SIZE = 0.2, FRAME = 1.0 / 60;

enum { BODIES = 3 };

/// Blocks, 4 cells a side, with their lower corners at places of their own.
typedef struct stack {
    scene s;
    sn_body_id id[BODIES];
    sn_mesh_data *data;
} stack;

static void begin_stack(stack *k, const double size[3], int32_t cells, double young, int32_t threads) {
    scene_begin(&k->s, size, cells, young, threads);
}

static void add_block(stack *k, int32_t body, double x, double y, double z, double density) {
    k->s.material.density = density;
    memcpy(k->s.body.translation, (double[3]){x, y, z}, 3 * sizeof(double));
    assert_done(k->s.ctx, sn_model_add_body(k->s.builder, &k->s.body, &k->id[body]));
}

static void touch(stack *k, int32_t body, int32_t other, double friction) {
    sn_contact_def def = sn_contact_def_default();
    def.body = k->id[body];
    def.other_body = k->id[other];
    def.friction = friction;
    assert_done(k->s.ctx, sn_model_add_contact(k->s.builder, &def));
}

static void add_floor(stack *k, int32_t body, double friction) {
    sn_shape_def plane = sn_shape_def_default();
    plane.kind = SN_SHAPE_PLANE;
    plane.normal[2] = 1;
    assert_done(k->s.ctx, sn_model_add_shape(k->s.builder, &plane, &k->s.shapes[0]));
    sn_contact_def def = sn_contact_def_default();
    def.body = k->id[body];
    def.shape_count = 1;
    def.shapes = k->s.shapes;
    def.friction = friction;
    assert_done(k->s.ctx, sn_model_add_contact(k->s.builder, &def));
}

static void set_gravity(stack *k, double x, double z) {
    assert_done(k->s.ctx, sn_model_set_gravity(k->s.builder, (double[3]){x, 0, z}));
}

static void build_stack(stack *k, int32_t iterations) {
    sn_stepper_def def = test_stepper_def();
    def.solver.iterations = iterations;
    scene_build(&k->s, &def);
}

/// Center of mass of a body and its velocity.
static void center_of(const stack *k, int32_t body, double x[3], double v[3]) {
    sn_body_info info = sn_model_body(k->s.model, body);
    const double *mass = sn_model_masses(k->s.model), *X = sn_state_positions(k->s.state),
                 *V = sn_state_velocities(k->s.state);
    double total = 0;
    memset(x, 0, 3 * sizeof *x);
    memset(v, 0, 3 * sizeof *v);
    for (int32_t i = info.node_begin; i < info.node_begin + info.node_count; i++) {
        total += mass[i];
        for (int c = 0; c < 3; c++)
            x[c] += mass[i] * X[3 * i + c], v[c] += mass[i] * V[3 * i + c];
    }
    for (int c = 0; c < 3; c++)
        x[c] /= total, v[c] /= total;
}

/// Moment of the changes of momentum of a step, at the new places: implicit Euler makes it 0 without forces.
static void change_of_moment(const stack *k, const double *before, double out[3]) {
    const double *mass = sn_model_masses(k->s.model), *x = sn_state_positions(k->s.state),
                 *v = sn_state_velocities(k->s.state);
    memset(out, 0, 3 * sizeof *out);
    for (int32_t i = 0; i < sn_model_get_info(k->s.model).node_count; i++)
        for (int c = 0; c < 3; c++) {
            int a = (c + 1) % 3, b = (c + 2) % 3;
            out[c] += mass[i] * (x[3 * i + a] * (v[3 * i + b] - before[3 * i + b]) -
                                 x[3 * i + b] * (v[3 * i + a] - before[3 * i + a]));
        }
}

/// Two free blocks meet off their centers, one four times as heavy: they bounce apart, what one gains the
/// other loses, and no energy comes out of it.
static void collisions_keep_momentum(void **state) {
    (void)state;
    stack k;
    begin_stack(&k, (double[3]){SIZE, SIZE, SIZE}, 4, 1e5, 2);
    k.s.body.initial.velocity[0] = 2;
    add_block(&k, 0, 0, 0, 0, 1000);
    k.s.body.initial.velocity[0] = -1;
    add_block(&k, 1, 1.3 * SIZE, 0.31 * SIZE, 0.17 * SIZE, 4000);
    touch(&k, 0, 1, 0.3);
    build_stack(&k, 100);
    double first[3], angular[3], moved[3], turned[3], kinetic, start, most = 0;
    size_t bytes = 3 * (size_t)sn_model_get_info(k.s.model).node_count * sizeof(double);
    double *before = malloc(bytes);
    sn_state_momentum(k.s.state, first, angular, &start);
    int32_t touching = 0;
    for (int i = 0; i < 60; i++) {
        memcpy(before, sn_state_velocities(k.s.state), bytes);
        sn_step_info info = scene_step(&k.s, FRAME / 4);
        change_of_moment(&k, before, turned);
        touching += info.active_contacts > 0;
        sn_state_momentum(k.s.state, moved, angular, &kinetic);
        assert_at_most(kinetic + info.energy.elastic + info.energy.contact, 1.001 * start);
        double size = SIZE * 8 * 2;
        for (int c = 0; c < 3; c++) {
            assert_near(moved[c], first[c], 1e-9 * 16);
            most = fmax(most, fabs(turned[c]) / size);
        }
    }
    assert_true(touching > 3);
    // Friction acts across what points are deep.
    assert_at_most(most, 1e-3);
    double x[2][3], v[2][3];
    for (int b = 0; b < 2; b++)
        center_of(&k, b, x[b], v[b]);
    assert_true(v[1][0] > v[0][0] && x[1][0] - x[0][0] > SIZE);
    assert_int_equal(sn_state_contact_count(k.s.state), 0);
    free(before);
    end_scene(&k.s);
}

/// Sum of the forces of one body's points and of another's points against it, on the first.
static void force_between(const stack *k, int32_t body, int32_t other, double out[3]) {
    memset(out, 0, 3 * sizeof *out);
    for (int32_t i = 0; i < sn_state_contact_count(k->s.state); i++) {
        sn_contact contact;
        assert_done(k->s.ctx, sn_state_contact(k->s.state, i, &contact));
        double sign = contact.body == body && contact.other_body == other   ? 1
                      : contact.body == other && contact.other_body == body ? -1
                                                                            : 0;
        for (int c = 0; c < 3; c++)
            out[c] += sign * contact.force[c];
    }
}

/// Three blocks on a floor, not quite above each other, the heaviest on top: they come to rest, and every
/// contact carries what lies on it.
static void stacks_rest_without_jitter(void **state) {
    (void)state;
    stack k;
    begin_stack(&k, (double[3]){SIZE, SIZE, SIZE}, 3, 5e6, 2);
    set_gravity(&k, 0, -GRAVITY);
    add_block(&k, 0, 0, 0, 0.001, 1000);
    add_block(&k, 1, 0.1 * SIZE, 0.05 * SIZE, SIZE + 0.004, 500);
    add_block(&k, 2, 0.03 * SIZE, -0.05 * SIZE, 2 * SIZE + 0.01, 2000);
    add_floor(&k, 0, 0.5);
    touch(&k, 0, 1, 0.5);
    touch(&k, 2, 1, 0.5);
    build_stack(&k, 100);
    sn_step_info info = {0};
    for (int i = 0; i < 180; i++)
        info = scene_step(&k.s, FRAME);
    double volume = SIZE * SIZE * SIZE, force[3];
    force_between(&k, 1, 0, force);
    assert_near(force[2] / (2500 * volume * GRAVITY), 1, 1e-3);
    force_between(&k, 2, 1, force);
    assert_near(force[2] / (2000 * volume * GRAVITY), 1, 1e-3);
    assert_at_most(info.max_penetration, 0.01 * SIZE / 3);
    int32_t nodes = sn_model_get_info(k.s.model).node_count;
    double *before = malloc(3 * (size_t)nodes * sizeof *before), moved = 0;
    memcpy(before, sn_state_positions(k.s.state), 3 * (size_t)nodes * sizeof *before);
    for (int i = 0; i < 60; i++)
        scene_step(&k.s, FRAME);
    for (int32_t j = 0; j < 3 * nodes; j++)
        moved = fmax(moved, fabs(before[j] - sn_state_positions(k.s.state)[j]));
    assert_at_most(moved, 1e-4 * SIZE);
    free(before);
    end_scene(&k.s);
}

/// A block on a pinned one under gravity that is turned by `angle` degrees: way and speed of its center along
/// the plane after some seconds.
static void run_incline(double angle, double mu, double seconds, double *slip, double *speed) {
    stack k;
    double a = angle * 3.14159265358979 / 180, x0[3], x[3], v[3];
    begin_stack(&k, (double[3]){SIZE, SIZE, SIZE}, 2, 1e7, 2);
    set_gravity(&k, GRAVITY * sin(a), -GRAVITY * cos(a));
    add_block(&k, 0, 0, 0, 0, 1000);
    sn_mesh_data *data = NULL;
    sn_mesh *slab = NULL, *block = k.s.mesh;
    sn_make_def make = sn_make_def_default(SN_MAKE_BEAM);
    memcpy(make.size, (double[3]){8 * SIZE, 2 * SIZE, SIZE}, sizeof make.size);
    make.cells = 3;
    assert_done(k.s.ctx, sn_mesh_make(k.s.ctx, &make, &data, NULL));
    assert_done(k.s.ctx, sn_mesh_create(k.s.ctx, data, false, &slab));
    k.s.body.mesh = slab;
    add_block(&k, 1, -SIZE, -0.53 * SIZE, -SIZE, 1000);
    sn_pin_def pin = sn_pin_def_default();
    pin.body = k.id[1];
    pin.select.kind = SN_SELECT_ALL;
    assert_done(k.s.ctx, sn_model_add_pin(k.s.builder, &pin, NULL));
    touch(&k, 0, 1, mu);
    build_stack(&k, 100);
    center_of(&k, 0, x0, v);
    for (int i = 0; i < (int)lround(seconds / FRAME); i++)
        scene_step(&k.s, FRAME);
    center_of(&k, 0, x, v);
    *slip = x[0] - x0[0];
    *speed = v[0];
    sn_mesh_destroy(&slab);
    sn_mesh_data_destroy(&data);
    k.s.mesh = block;
    end_scene(&k.s);
}

static void blocks_stick_and_slide_on_blocks(void **state) {
    (void)state;
    double slip, speed, later;
    run_incline(20, 0.5, 1, &slip, &speed);
    run_incline(20, 0.5, 3, &later, &speed);
    assert_at_most(fabs(later - slip), 1e-4 * SIZE);
    assert_at_most(fabs(speed), 1e-6);
    static const double cases[2][2] = {{30, 0.3}, {25, 0}};
    for (int c = 0; c < 2; c++) {
        double a = cases[c][0] * 3.14159265358979 / 180;
        double acceleration = GRAVITY * (sin(a) - cases[c][1] * cos(a)), early;
        run_incline(cases[c][0], cases[c][1], 0.2, &slip, &early);
        run_incline(cases[c][0], cases[c][1], 0.5, &slip, &speed);
        assert_near((speed - early) / 0.3 / acceleration, 1, 0.02);
    }
}

/// Two plates that lie on each other and are then thrown apart do not stick.
static void parted_plates_do_not_stick(void **state) {
    (void)state;
    stack k;
    begin_stack(&k, (double[3]){4 * SIZE, SIZE, SIZE / 2}, 2, 1e6, 2);
    add_block(&k, 0, 0, 0, 0, 1000);
    add_block(&k, 1, 0.01, 0.02, SIZE / 2, 1000);
    touch(&k, 0, 1, 1);
    build_stack(&k, 100);
    for (int i = 0; i < 5; i++)
        scene_step(&k.s, FRAME);
    sn_body_info upper = sn_model_body(k.s.model, 1);
    int32_t nodes = sn_model_get_info(k.s.model).node_count;
    double *v = calloc(3 * (size_t)nodes, sizeof *v), x[3], velocity[3];
    for (int32_t i = upper.node_begin; i < upper.node_begin + upper.node_count; i++)
        v[3 * i + 2] = 1;
    assert_done(k.s.ctx, sn_state_set_velocities(k.s.state, v));
    for (int i = 0; i < 10; i++)
        scene_step(&k.s, FRAME);
    center_of(&k, 1, x, velocity);
    assert_near(velocity[2], 1, 1e-9);
    center_of(&k, 0, x, velocity);
    assert_near(velocity[2], 0, 1e-9);
    assert_int_equal(sn_state_contact_count(k.s.state), 0);
    free(v);
    end_scene(&k.s);
}

/// A thin plate thrown at a thin plate at three thicknesses a step does not pass through it.
static void fast_plates_do_not_pass(void **state) {
    (void)state;
    stack k;
    begin_stack(&k, (double[3]){2 * SIZE, SIZE, SIZE / 10}, 1, 1e6, 2);
    add_block(&k, 0, 0, 0, 0, 1000);
    k.s.body.initial.velocity[2] = -3 * SIZE / 10 / FRAME;
    add_block(&k, 1, 0.13 * SIZE, 0.07 * SIZE, 0.37 * SIZE, 1000);
    touch(&k, 1, 0, 0);
    build_stack(&k, 100);
    double x[2][3], v[2][3];
    for (int i = 0; i < 10; i++) {
        scene_step(&k.s, FRAME);
        for (int b = 0; b < 2; b++)
            center_of(&k, b, x[b], v[b]);
        assert_true(x[1][2] > x[0][2]);
    }
    assert_true(v[0][2] < -0.5);
    end_scene(&k.s);
}

/// A block that begins inside of another one is found there, and goes out.
static void what_begins_inside_goes_out(void **state) {
    (void)state;
    stack k;
    begin_stack(&k, (double[3]){SIZE, SIZE, SIZE}, 4, 1e5, 2);
    add_block(&k, 0, 0, 0, 0, 1000);
    add_block(&k, 1, 0.11 * SIZE, 0.07 * SIZE, 0.93 * SIZE, 1000);
    touch(&k, 0, 1, 0);
    build_stack(&k, 100);
    sn_step_info info = scene_step(&k.s, FRAME);
    assert_true(info.active_contacts > 0);
    for (int i = 0; i < 30; i++)
        info = scene_step(&k.s, FRAME);
    double x[2][3], v[3];
    for (int b = 0; b < 2; b++)
        center_of(&k, b, x[b], v);
    assert_true(x[1][2] - x[0][2] > SIZE && info.active_contacts == 0);
    end_scene(&k.s);
}

// ---- A body that is bent until its halves press on each other

/// A bar whose ends are pinned to frames that turn towards each other, while loads press its halves together.
static void begin_bent_bar(stack *k, int32_t threads) {
    static const double times[2] = {0, 0.3};
    const double half = 85 * 3.14159265358979 / 180, L = 8 * SIZE;
    begin_stack(k, (double[3]){L, SIZE, SIZE}, 3, 1e5, threads);
    add_block(k, 0, -L / 2, -SIZE / 2, 0, 1000);
    for (int side = 0; side < 2; side++) {
        double sign = side == 0 ? 1 : -1, turn[6] = {0, 0, 0, 0, sign * half, 0};
        double move[6] = {0, 0, 0, sign * (L / 2 - 0.9 * SIZE), 0, 2.4 * SIZE};
        sn_frame_def frame = sn_frame_def_default();
        sn_frame_id frame_id;
        frame.key_count = 2;
        frame.time = times;
        frame.rotation = turn;
        frame.translation = move;
        frame.pivot[0] = -sign * L / 2;
        frame.pivot[2] = SIZE / 2;
        assert_done(k->s.ctx, sn_model_add_frame(k->s.builder, &frame, &frame_id));
        sn_pin_def pin = sn_pin_def_default();
        pin.body = k->id[0];
        pin.frame = frame_id;
        pin.select =
            (sn_selection){.kind = SN_SELECT_PLANE, .point = {-sign * L / 2, 0, 0}, .normal = {sign, 0, 0}};
        assert_done(k->s.ctx, sn_model_add_pin(k->s.builder, &pin, NULL));
        sn_load_def load = sn_load_def_default();
        load.body = k->id[0];
        load.force[0] = sign * 1000;
        load.select = (sn_selection){.kind = SN_SELECT_BOX, .low = {-1, -1, -1}, .high = {1, 1, 1}};
        load.select.low[0] = side == 0 ? -3.3 * SIZE : 1.7 * SIZE;
        load.select.high[0] = side == 0 ? -1.7 * SIZE : 3.3 * SIZE;
        assert_done(k->s.ctx, sn_model_add_load(k->s.builder, &load, NULL));
    }
    touch(k, 0, 0, 0.2);
}

/// Runs the bent bar, some steps of it from a packed state; returns the hash of its end.
static uint64_t bend_bar(int32_t threads, int32_t resume_at) {
    stack k;
    begin_bent_bar(&k, threads);
    build_stack(&k, 40);
    uint64_t allocations = 0;
    for (int i = 0; i < 36; i++) {
        if (i == resume_at) {
            size_t size = sn_state_packed_size(k.s.state);
            void *packed = malloc(size);
            sn_stepper_def def = test_stepper_def();
            def.solver.iterations = 40;
            assert_true(sn_state_contact_count(k.s.state) > 0);
            sn_state_pack(k.s.state, packed);
            sn_stepper_destroy(&k.s.stepper);
            sn_state_destroy(&k.s.state);
            assert_done(k.s.ctx, sn_stepper_create(k.s.model, &def, &k.s.stepper));
            assert_done(k.s.ctx, sn_state_create(k.s.model, &k.s.state));
            assert_done(k.s.ctx, sn_state_unpack(k.s.state, packed, size));
            free(packed);
        }
        scene_step(&k.s, FRAME);
        if (i == 0)
            allocations = sn_context_allocation_count(k.s.ctx);
        if (resume_at < 0)
            assert_true(sn_context_allocation_count(k.s.ctx) == allocations);
    }
    assert_true(sn_state_contact_count(k.s.state) > 0);
    uint64_t hash = sn_state_hash(k.s.state);
    end_scene(&k.s);
    return hash;
}

static void same_bits_whatever_threads_and_stops(void **state) {
    (void)state;
    uint64_t hash = bend_bar(1, -1);
    assert_true(bend_bar(2, -1) == hash);
    assert_true(bend_bar(4, -1) == hash);
    assert_true(bend_bar(2, 32) == hash);
}

/// What a contact between bodies may be.
static void definitions_are_checked(void **state) {
    (void)state;
    stack k;
    begin_stack(&k, (double[3]){SIZE, SIZE, SIZE}, 2, 1e5, 1);
    add_block(&k, 0, 0, 0, 0, 1000);
    add_block(&k, 1, 2 * SIZE, 0, 0, 1000);
    touch(&k, 0, 1, 0.1);
    touch(&k, 0, 0, 0.1);
    sn_contact_def def = sn_contact_def_default();
    def.body = k.id[1];
    assert_int_equal(sn_model_add_contact(k.s.builder, &def), SN_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(sn_context_message(k.s.ctx), "or another body"));
    def.other_body = k.id[0];
    assert_int_equal(sn_model_add_contact(k.s.builder, &def), SN_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(sn_context_message(k.s.ctx), "have one already"));
    build_stack(&k, 10);
    sn_model_info info = sn_model_get_info(k.s.model);
    assert_int_equal(info.contact_pair_count, 3);
    static const int32_t expected[3][2] = {{0, 0}, {0, 1}, {1, 0}};
    for (int p = 0; p < 3; p++) {
        sn_contact_pair_info pair = sn_model_contact_pair(k.s.model, p);
        assert_true(pair.body == expected[p][0] && pair.other_body == expected[p][1] && pair.shape == -1);
    }
    end_scene(&k.s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(collisions_keep_momentum),
                                       cmocka_unit_test(stacks_rest_without_jitter),
                                       cmocka_unit_test(blocks_stick_and_slide_on_blocks),
                                       cmocka_unit_test(parted_plates_do_not_stick),
                                       cmocka_unit_test(fast_plates_do_not_pass),
                                       cmocka_unit_test(what_begins_inside_goes_out),
                                       cmocka_unit_test(same_bits_whatever_threads_and_stops),
                                       cmocka_unit_test(definitions_are_checked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
