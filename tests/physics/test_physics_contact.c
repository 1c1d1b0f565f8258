// Labels: slow precision
// Contact with rigid shapes against closed forms: rest, friction, impact, momentum.
#include "test_precision.h"

#include "physics_scene.h"

/// The body is a block, 4 cells a side, with its lower corner at the origin.
static const double SIZE = 0.2;

static void begin_scene(scene *s, int32_t threads) {
    scene_begin(s, (double[3]){SIZE, SIZE, SIZE}, 4, 1e6, threads);
    assert_done(s->ctx, sn_model_set_gravity(s->builder, (double[3]){0, 0, -GRAVITY}));
}

static void add_shape(scene *s, const sn_shape_def *def) {
    assert_done(s->ctx, sn_model_add_shape(s->builder, def, &s->shapes[s->contact.shape_count++]));
}

static void add_plane(scene *s, double nx, double ny, double nz) {
    sn_shape_def plane = sn_shape_def_default();
    plane.kind = SN_SHAPE_PLANE;
    memcpy(plane.normal, (double[3]){nx, ny, nz}, sizeof plane.normal);
    add_shape(s, &plane);
}

static void build_scene(scene *s, const sn_solver_def *solver) {
    sn_stepper_def def = test_stepper_def();
    if (solver)
        def.solver = *solver;
    assert_done(s->ctx, sn_model_add_body(s->builder, &s->body, &s->contact.body));
    assert_done(s->ctx, sn_model_add_contact(s->builder, &s->contact));
    scene_build(s, &def);
}

/// Center of mass and its velocity.
static void center(const scene *s, double x[3], double v[3]) {
    const double *mass = sn_model_masses(s->model), *X = sn_state_positions(s->state),
                 *V = sn_state_velocities(s->state);
    double total = 0;
    memset(x, 0, 3 * sizeof *x);
    memset(v, 0, 3 * sizeof *v);
    for (int32_t i = 0; i < sn_model_get_info(s->model).node_count; i++) {
        total += mass[i];
        for (int k = 0; k < 3; k++)
            x[k] += mass[i] * X[3 * i + k], v[k] += mass[i] * V[3 * i + k];
    }
    for (int k = 0; k < 3; k++)
        x[k] /= total, v[k] /= total;
}

/// Dropped from 2 cm: comes to rest with depth = weight / (stiffness area), and stays there. Stiff, so that
/// it presses evenly.
static void rests_without_jitter(void **state) {
    (void)state;
    const double stiffness = 2e7;
    scene s;
    begin_scene(&s, 2);
    add_plane(&s, 0, 0, 1);
    s.material.young = 1e8;
    s.body.translation[2] = 0.02;
    s.contact.stiffness = stiffness;
    build_scene(&s, NULL);
    sn_step_info info = {0};
    for (int i = 0; i < 240; i++) {
        info = scene_step(&s, 1.0 / 60);
        assert_int_equal(info.status, SN_STEP_CONVERGED);
    }
    sn_contact_sum sum;
    sn_model_info model = sn_model_get_info(s.model);
    double weight = model.mass * GRAVITY, depth = weight / (stiffness * SIZE * SIZE);
    assert_done(s.ctx, sn_state_contact_sum(s.state, 0, &sum));
    assert_near(sum.max_depth / depth, 1, 0.02);
    assert_near(sum.force[2] / weight, -1, 1e-9);
    assert_near(info.max_penetration, sum.max_depth, 0);
    assert_int_equal(info.active_contacts, sum.active);
    size_t size = 3 * (size_t)model.node_count * sizeof(double);
    double *before = malloc(size), moved = 0;
    memcpy(before, sn_state_positions(s.state), size);
    for (int i = 0; i < 120; i++) {
        info = scene_step(&s, 1.0 / 60);
        assert_int_equal(info.factorizations, 0);
        for (int32_t j = 0; j < 3 * model.node_count; j++)
            moved = fmax(moved, fabs(before[j] - sn_state_positions(s.state)[j]));
    }
    assert_at_most(moved, 1e-9 * SIZE);
    assert_at_most(info.energy.kinetic, 1e-15 * weight * SIZE);
    free(before);
    end_scene(&s);
}

/// A block on an incline of `angle` degrees with friction mu; returns the slip and speed of its center along
/// the incline after `seconds`.
static void run_incline(double angle, double mu, double seconds, double h, double *slip, double *speed) {
    scene s;
    double a = angle * 3.14159265358979 / 180, x0[3], x[3], v[3];
    begin_scene(&s, 2);
    add_plane(&s, -sin(a), 0, cos(a));
    s.body.rotation[1] = -a;
    s.contact.friction = mu;
    build_scene(&s, NULL);
    center(&s, x0, v);
    int32_t steps = (int32_t)lround(seconds / h), iterations = 0;
    for (int i = 0; i < steps; i++)
        iterations += scene_step(&s, h).iterations;
    // The metric is isotropic, but sliding as a whole costs nothing.
    assert_at_most(iterations, 3 * steps);
    center(&s, x, v);
    *slip = -((x[0] - x0[0]) * cos(a) + (x[2] - x0[2]) * sin(a));
    *speed = -(v[0] * cos(a) + v[2] * sin(a));
    end_scene(&s);
}

static void sticks_and_slides_on_inclines(void **state) {
    (void)state;
    double slip, speed, h = 1.0 / 60;
    run_incline(20, 0.5, 3, h, &slip, &speed);
    double first = slip;
    run_incline(20, 0.5, 60, h, &slip, &speed);
    assert_at_most(fabs(slip - first), 1e-4 * SIZE);
    assert_at_most(fabs(speed), 1e-9);
    static const double cases[3][2] = {{30, 0.3}, {30, 0}, {45, 0.9}};
    for (int c = 0; c < 3; c++) {
        double a = cases[c][0] * 3.14159265358979 / 180, mu = cases[c][1];
        double acceleration = GRAVITY * (sin(a) - mu * cos(a));
        run_incline(cases[c][0], mu, 1, h, &slip, &speed);
        double early_slip, early;
        run_incline(cases[c][0], mu, 0.5, h, &early_slip, &early);
        assert_near((speed - early) / 0.5 / acceleration, 1, 0.02);
    }
}

/// Every step, the contact forces are the change of momentum.
static void forces_change_momentum(void **state) {
    (void)state;
    scene s;
    begin_scene(&s, 2);
    add_plane(&s, 0.2, 0, 1);
    sn_shape_def ball = sn_shape_def_default();
    ball.kind = SN_SHAPE_SPHERE;
    ball.radius = 0.15;
    add_shape(&s, &ball);
    s.body.translation[0] = 0.05;
    s.body.translation[2] = 0.3;
    s.contact.friction = 0.4;
    s.material.young = 1e5;
    build_scene(&s, NULL);
    double mass = sn_model_get_info(s.model).mass, h = 1.0 / 60;
    int32_t touching = 0;
    for (int i = 0; i < 120; i++) {
        double x[3], before[3], after[3], error = 0, size = mass * GRAVITY * h;
        center(&s, x, before);
        sn_step_info info = scene_step(&s, h);
        center(&s, x, after);
        sn_contact_sum sum[2];
        for (int k = 0; k < 2; k++)
            assert_done(s.ctx, sn_state_contact_sum(s.state, k, &sum[k]));
        for (int k = 0; k < 3; k++) {
            double force = -sum[0].force[k] - sum[1].force[k] - (k == 2 ? mass * GRAVITY : 0);
            error = fmax(error, fabs(mass * (after[k] - before[k]) - h * force));
            size = fmax(size, fabs(h * force));
        }
        assert_at_most(error / size, 1e-9);
        touching += info.active_contacts > 0;
    }
    assert_true(touching > 60);
    end_scene(&s);
}

/// Whether a place is on the side of a shape that bodies are thrown at, or nearer to it than a depth of
/// contact.
typedef bool above_fn(const double x[3]);

static bool above_floor(const double x[3]) {
    return x[2] > -0.1 * SIZE;
}

/// The ball's top is the origin.
static bool above_ball(const double x[3]) {
    double down = x[2] + 2 * SIZE;
    return sqrt(x[0] * x[0] + x[1] * x[1] + down * down) > 1.8 * SIZE;
}

/// The same for a ball that is hit off its center and deflects: not in it.
static bool off_ball(const double x[3]) {
    double across = x[0] - 0.3 * SIZE, down = x[2] + 2 * SIZE;
    return sqrt(across * across + x[1] * x[1] + down * down) > 1.8 * SIZE;
}

/// Thrown at ten sizes a frame against a shape at z 0 and below.
static void throw_at(const sn_shape_def *shape, above_fn *above) {
    scene s;
    begin_scene(&s, 2);
    add_shape(&s, shape);
    memcpy(s.body.translation, (double[3]){-SIZE / 2, -SIZE / 2, 1.37 * SIZE}, sizeof s.body.translation);
    s.body.initial.velocity[2] = -10 * SIZE * 60;
    build_scene(&s, NULL);
    double speed = 10 * SIZE * 60;
    for (int i = 0; i < 60; i++) {
        double x[3], v[3];
        scene_step(&s, 1.0 / 60);
        center(&s, x, v);
        // No node comes out on the other side, and contact gives no energy.
        for (int32_t n = 0; n < sn_model_get_info(s.model).node_count; n++)
            assert_true(above(sn_state_positions(s.state) + 3 * n));
        assert_at_most(sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), speed + GRAVITY);
    }
    end_scene(&s);
}

static void fast_bodies_do_not_pass(void **state) {
    (void)state;
    sn_shape_def shape = sn_shape_def_default();
    shape.kind = SN_SHAPE_PLANE;
    shape.normal[2] = 1;
    throw_at(&shape, above_floor);
    shape = sn_shape_def_default();
    shape.kind = SN_SHAPE_SPHERE;
    shape.radius = 2 * SIZE;
    shape.point[2] = -shape.radius;
    throw_at(&shape, above_ball);
    // Off its center, too.
    shape.point[0] = 0.3 * SIZE;
    throw_at(&shape, off_ball);
    shape = sn_shape_def_default();
    shape.kind = SN_SHAPE_BOX;
    memcpy(shape.half_size, (double[3]){1, 1, 0.005}, sizeof shape.half_size);
    shape.point[2] = -0.005;
    throw_at(&shape, above_floor);
}

/// A block on a floor that sets off at a speed is dragged along: it slips for speed / (mu g), then rides.
static void friction_carries_a_block(void **state) {
    (void)state;
    const double speed = 0.5, mu = 0.4, h = 1.0 / 120;
    scene s;
    sn_shape_def belt = sn_shape_def_default();
    sn_frame_def frame = sn_frame_def_default();
    begin_scene(&s, 2);
    frame.key_count = 2;
    frame.time = (const double[2]){0, 10};
    frame.translation = (const double[6]){0, 0, 0, 10 * speed, 0, 0};
    assert_done(s.ctx, sn_model_add_frame(s.builder, &frame, &belt.frame));
    belt.kind = SN_SHAPE_BOX;
    memcpy(belt.point, (double[3]){0, 0, -0.01}, sizeof belt.point);
    memcpy(belt.half_size, (double[3]){2, 2, 0.01}, sizeof belt.half_size);
    add_shape(&s, &belt);
    s.contact.friction = mu;
    s.material.young = 1e7;
    build_scene(&s, NULL);
    double x[3], v[3], slipping = speed / (mu * GRAVITY);
    for (int i = 0; i < lround(0.5 * slipping / h); i++)
        scene_step(&s, h);
    center(&s, x, v);
    assert_near(v[0] / (mu * GRAVITY * sn_state_time(s.state)), 1, 0.02);
    for (int i = 0; i < 120; i++)
        scene_step(&s, h);
    center(&s, x, v);
    assert_near(v[0] / speed, 1, 1e-3);
    end_scene(&s);
}

/// The force that a plate presses a block with is what the block gives back to the one below.
static void plates_squeeze(void **state) {
    (void)state;
    scene s;
    sn_shape_def plate = sn_shape_def_default();
    sn_frame_def frame = sn_frame_def_default();
    begin_scene(&s, 2);
    assert_done(s.ctx, sn_model_set_gravity(s.builder, (double[3]){0}));
    add_plane(&s, 0, 0, 1);
    frame.key_count = 2;
    frame.time = (const double[2]){0, 1};
    frame.translation = (const double[6]){0, 0, 0, 0, 0, -0.1 * SIZE};
    assert_done(s.ctx, sn_model_add_frame(s.builder, &frame, &plate.frame));
    plate.kind = SN_SHAPE_PLANE;
    plate.point[2] = SIZE;
    plate.normal[2] = -1;
    add_shape(&s, &plate);
    s.material.poisson = 0;
    s.contact.stiffness = 1e9;
    sn_solver_def solver = sn_solver_def_default();
    solver.iterations = 100;
    solver.tolerance = 1e-6;
    build_scene(&s, &solver);
    for (int i = 0; i < 180; i++)
        scene_step(&s, 1.0 / 60);
    sn_contact_sum low, high;
    assert_done(s.ctx, sn_state_contact_sum(s.state, 0, &low));
    assert_done(s.ctx, sn_state_contact_sum(s.state, 1, &high));
    // Corotated, no Poisson effect: stress = young * strain, less what both contacts give way.
    double stress = high.force[2] / (SIZE * SIZE), strain = 0.1 - 2 * stress / 1e9 / SIZE;
    assert_near(stress / (s.material.young * strain), 1, 0.02);
    assert_near(low.force[2] / high.force[2], -1, 1e-6);
    double force[3], moment[3];
    assert_done(s.ctx, sn_stepper_shape_reaction(s.stepper, s.state, 1, force, moment));
    assert_near(force[2], high.force[2], 1e-12);
    end_scene(&s);
}

/// Whatever the budget, what a body runs into gives it no energy.
static void impacts_give_no_energy(void **state) {
    (void)state;
    for (int c = 0; c < 8; c++) {
        scene s;
        sn_solver_def solver = sn_solver_def_default();
        solver.method = c % 2 ? SN_SOLVER_PROJECTIVE : SN_SOLVER_LBFGS;
        solver.iterations = c / 2 % 2 ? 10 : 1;
        begin_scene(&s, 2);
        sn_shape_def ball = sn_shape_def_default();
        ball.kind = SN_SHAPE_SPHERE;
        ball.radius = 0.15;
        add_shape(&s, &ball);
        add_plane(&s, 0.2, 0, 1);
        s.contact.friction = 0.3;
        s.material.young = 3e4;
        memcpy(s.body.translation, (double[3]){0.02, -0.07, 0.4}, sizeof s.body.translation);
        s.body.initial.velocity[2] = c < 4 ? -26 : -3;
        s.body.initial.spin[0] = 10;
        build_scene(&s, &solver);
        double before = INFINITY;
        for (int i = 0; i < 60; i++) {
            sn_step_info info = scene_step(&s, 1.0 / 60);
            sn_energies e = info.energy;
            double energy = e.kinetic + e.elastic + e.contact + e.external;
            assert_at_most(energy, before + 1e-3 * (e.kinetic + e.elastic + e.contact));
            before = energy;
        }
        end_scene(&s);
    }
}

/// Places after a tumble of a block that is `scale` times as large in a world that is.
static void tumble_scaled(double scale, double *out) {
    scene s;
    begin_scene(&s, 2);
    assert_done(s.ctx, sn_model_set_gravity(s.builder, (double[3]){0, 0, -GRAVITY * scale}));
    add_plane(&s, 0.25, 0, 1);
    sn_shape_def ball = sn_shape_def_default();
    ball.kind = SN_SHAPE_SPHERE;
    ball.radius = 0.15 * scale;
    add_shape(&s, &ball);
    s.material.young = 1e5 * scale * scale;
    s.body.scale = scale;
    s.body.translation[0] = 0.05 * scale;
    s.body.translation[2] = 0.2 * scale;
    s.contact.friction = 0.4;
    build_scene(&s, NULL);
    for (int i = 0; i < 40; i++)
        scene_step(&s, 1.0 / 60);
    assert_true(sn_state_contact_count(s.state) > 0);
    for (int32_t j = 0; j < 3 * sn_model_get_info(s.model).node_count; j++)
        out[j] = sn_state_positions(s.state)[j] / scale;
    end_scene(&s);
}

/// Nothing in contact has a size of its own: scaled by a power of two, every number scales exactly.
static void scales_do_not_matter(void **state) {
    (void)state;
    double plain[3 * 125], scaled[3 * 125];
    tumble_scaled(1, plain);
    for (int k = 0; k < 2; k++) {
        tumble_scaled(k ? 1024 : 1.0 / 1024, scaled);
        for (int j = 0; j < 3 * 125; j++)
            assert_near(scaled[j], plain[j], 0);
    }
}

/// A block that hangs on its upper nodes and lies on a plane: weight, pins and plane balance, also where
/// contact presses on pinned nodes.
static void forces_balance_at_rest(void **state) {
    (void)state;
    scene s;
    sn_pin_def pin = sn_pin_def_default();
    begin_scene(&s, 2);
    add_plane(&s, 0.2, 0, 1);
    s.contact.friction = 0.5;
    s.body.translation[0] = 0.02;
    s.body.translation[2] = -0.03;
    assert_done(s.ctx, sn_model_add_body(s.builder, &s.body, &pin.body));
    s.contact.body = pin.body;
    pin.select = (sn_selection){.kind = SN_SELECT_PLANE, .point = {0.08, 0, 0}, .normal = {1, 0, 0}};
    assert_done(s.ctx, sn_model_add_pin(s.builder, &pin, NULL));
    assert_done(s.ctx, sn_model_add_contact(s.builder, &s.contact));
    assert_done(s.ctx, sn_model_build(s.builder, &s.model));
    sn_stepper_def def = test_stepper_def();
    def.integrator = SN_INTEGRATOR_QUASISTATIC;
    def.solver.iterations = 3000;
    def.solver.tolerance = 1e-9;
    assert_done(s.ctx, sn_stepper_create(s.model, &def, &s.stepper));
    assert_done(s.ctx, sn_state_create(s.model, &s.state));
    for (int i = 0; i < 3; i++)
        scene_step(&s, 1);
    int32_t nodes = sn_model_get_info(s.model).node_count;
    double *pins = malloc(3 * (size_t)nodes * sizeof *pins),
           weight = sn_model_get_info(s.model).mass * GRAVITY;
    sn_contact_sum sum;
    assert_done(s.ctx, sn_stepper_pin_forces(s.stepper, s.state, pins));
    assert_done(s.ctx, sn_state_contact_sum(s.state, 0, &sum));
    assert_true(fabs(sum.force[2]) > 0.1 * weight);
    for (int k = 0; k < 3; k++) {
        double total = -sum.force[k] - (k == 2 ? weight : 0);
        for (int32_t i = 0; i < nodes; i++)
            total -= pins[3 * i + k];
        assert_near(total, 0, 1e-5 * weight);
    }
    free(pins);
    end_scene(&s);
}

/// Steps with contact take no memory.
static void steps_allocate_nothing(void **state) {
    (void)state;
    scene s;
    begin_scene(&s, 2);
    add_plane(&s, 0, 0, 1);
    s.contact.friction = 0.3;
    s.body.translation[2] = 0.005;
    build_scene(&s, NULL);
    scene_step(&s, 1.0 / 60);
    uint64_t count = sn_context_allocation_count(s.ctx);
    for (int i = 0; i < 30; i++)
        scene_step(&s, 1.0 / 60);
    assert_int_equal(sn_context_allocation_count(s.ctx), count);
    end_scene(&s);
}

/// Adds a frame that moves by `move` between two times and pins the nodes of a plane to it.
static void pin_end(scene *s, double at, double begin, double end, double move) {
    sn_frame_def frame = sn_frame_def_default();
    sn_pin_def pin = sn_pin_def_default();
    frame.key_count = 3;
    frame.time = (const double[3]){0, begin, end};
    frame.translation = (const double[9]){0, 0, 0, 0, 0, 0, move, 0, 0};
    frame.interpolation = SN_INTERPOLATION_LINEAR;
    assert_done(s->ctx, sn_model_add_frame(s->builder, &frame, &pin.frame));
    pin.body = s->contact.body;
    pin.select.kind = SN_SELECT_BOX;
    memcpy(pin.select.low, (double[3]){at - 1e-6, -1, -1}, sizeof pin.select.low);
    memcpy(pin.select.high, (double[3]){at + 1e-6, 1, 1}, sizeof pin.select.high);
    assert_done(s->ctx, sn_model_add_pin(s->builder, &pin, NULL));
}

/// A block between two ends, pressed from below by a plane that rises, then stretched along the plane. Fills
/// x [nodes, 3] with where it is after `iterations` of the second step.
static int32_t stretch_on_plane(int32_t iterations, bool zone, double *start, double *x) {
    scene s;
    sn_frame_def rise = sn_frame_def_default();
    sn_shape_def plane = sn_shape_def_default();
    begin_scene(&s, 2);
    rise.key_count = 2;
    rise.time = (const double[2]){0, 1};
    rise.translation = (const double[6]){0, 0, 0, 0, 0, 0.03 * SIZE};
    assert_done(s.ctx, sn_model_add_frame(s.builder, &rise, &plane.frame));
    plane.kind = SN_SHAPE_PLANE;
    plane.normal[2] = 1;
    add_shape(&s, &plane);
    assert_done(s.ctx, sn_model_add_body(s.builder, &s.body, &s.contact.body));
    assert_done(s.ctx, sn_model_add_contact(s.builder, &s.contact));
    pin_end(&s, 0, 1, 2, 0);
    pin_end(&s, SIZE, 1, 2, 0.1 * SIZE);
    sn_selection floor = {
        .kind = SN_SELECT_BOX, .low = {0.01 * SIZE, -1, -1}, .high = {0.99 * SIZE, 1, 0.3 * SIZE}};
    if (zone)
        assert_done(s.ctx, sn_model_add_zone(s.builder, s.contact.body, &floor, NULL));
    sn_stepper_def def = sn_stepper_def_default();
    def.integrator = SN_INTEGRATOR_QUASISTATIC;
    def.solver.iterations = 300;
    def.solver.tolerance = 1e-9;
    scene_build(&s, &def);
    assert_int_equal(sn_model_get_info(s.model).kept_node_count > 0, zone);
    size_t size = 3 * (size_t)sn_model_get_info(s.model).node_count * sizeof *x;
    sn_step_info info = {0};
    assert_done(s.ctx, sn_step(s.stepper, s.state, 1, &info));
    assert_in_range(info.active_contacts, 10, 200);
    memcpy(start, sn_state_positions(s.state), size);
    sn_stepper *few = NULL;
    def.solver.iterations = iterations;
    assert_done(s.ctx, sn_stepper_create(s.model, &def, &few));
    assert_true(sn_step(few, s.state, 1, &info) >= 0);
    memcpy(x, sn_state_positions(s.state), size);
    int32_t nodes = sn_model_get_info(s.model).node_count;
    sn_stepper_destroy(&few);
    end_scene(&s);
    return nodes;
}

/// What is pressed onto a plane without friction is not held along it: after three iterations nine tenths of
/// the way are done, kept or not, and the end does not depend on what is kept.
static void slides_at_once(void **state) {
    (void)state;
    enum { MOST = 3 * 2000 };
    static double start[MOST], few[MOST], end[MOST], kept[MOST];
    int32_t nodes = stretch_on_plane(300, false, start, end);
    assert_in_range(3 * nodes, 1, MOST);
    stretch_on_plane(300, true, start, kept);
    for (int j = 0; j < 3 * nodes; j++)
        assert_near(kept[j], end[j], 1e-7 * SIZE);
    for (int zone = 0; zone < 2; zone++) {
        double left = 0, way = 0;
        stretch_on_plane(3, zone, start, few);
        for (int i = 0; i < nodes; i++) {
            // Points of the floor that are not pinned.
            if (end[3 * i + 2] > 0.05 * SIZE || start[3 * i] < 1e-6 || start[3 * i] > SIZE - 1e-6)
                continue;
            left += fabs(end[3 * i] - few[3 * i]);
            way += fabs(end[3 * i] - start[3 * i]);
        }
        assert_at_most(0.1 * SIZE, way);
        assert_at_most(left, 0.1 * way);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rests_without_jitter),     cmocka_unit_test(sticks_and_slides_on_inclines),
        cmocka_unit_test(forces_change_momentum),   cmocka_unit_test(fast_bodies_do_not_pass),
        cmocka_unit_test(friction_carries_a_block), cmocka_unit_test(plates_squeeze),
        cmocka_unit_test(impacts_give_no_energy),   cmocka_unit_test(scales_do_not_matter),
        cmocka_unit_test(forces_balance_at_rest),   cmocka_unit_test(steps_allocate_nothing),
        cmocka_unit_test(slides_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
