// Stiff bodies turn as rigid ones do: pendulums on pins and on springs, free spin, toppling over an edge.
#include "physics_scene.h"

#include "base/base_util.h"

static const double H = 1.0 / 120;

static void begin_scene(scene *s, const double size[3], int32_t cells, double young) {
    scene_begin(s, size, cells, young, 2);
}

static void add_body(scene *s) {
    assert_done(s->ctx, sn_model_add_body(s->builder, &s->body, &s->id));
}

static void fall(scene *s) {
    assert_done(s->ctx, sn_model_set_gravity(s->builder, (double[3]){0, 0, -GRAVITY}));
}

static void build_scene(scene *s, double tolerance, int32_t iterations) {
    sn_stepper_def def = sn_stepper_def_default();
    def.solver.tolerance = tolerance;
    def.solver.iterations = iterations;
    scene_build(s, &def);
}

static sn_step_info step(scene *s) {
    return scene_step(s, H);
}

static int32_t node_count(const scene *s) {
    return sn_model_get_info(s->model).node_count;
}

static void center_of(const scene *s, const double *x, double out[3]) {
    const double *mass = sn_model_masses(s->model);
    double total = 0;
    memset(out, 0, 3 * sizeof *out);
    for (int32_t i = 0; i < node_count(s); i++) {
        total += mass[i];
        for (int k = 0; k < 3; k++)
            out[k] += mass[i] * x[3 * i + k];
    }
    for (int k = 0; k < 3; k++)
        out[k] /= total;
}

/// A rigid body that turns in the plane of x and z about a fixed line along y, stepped as Sinew steps:
/// the gradient of inertia at x(angle) with respect to the angle is 0.
typedef struct pendulum {
    double inertia;           ///< kg m^2 about the line
    double moment;            ///< kg m: mass times the distance of its center
    double angle, last_angle; ///< of the center, from x towards z
} pendulum;

static void swing(pendulum *p) {
    double angle = 2 * p->angle - p->last_angle;
    for (int k = 0; k < 50; k++) {
        double one = angle - p->angle, two = angle - p->last_angle, pull = p->moment * GRAVITY * H * H;
        double force = p->inertia * (2 * sin(one) - sin(two)) + pull * cos(angle);
        double slope = p->inertia * (2 * cos(one) - cos(two)) - pull * sin(angle);
        angle -= force / slope;
    }
    p->last_angle = p->angle;
    p->angle = angle;
}

/// The pendulum that the nodes of a scene form about a point of the plane.
static pendulum pendulum_of(const scene *s, double x0, double z0) {
    const double *mass = sn_model_masses(s->model), *x = sn_state_positions(s->state);
    double center[3], total = 0;
    pendulum p = {0};
    center_of(s, x, center);
    for (int32_t i = 0; i < node_count(s); i++) {
        double dx = x[3 * i] - x0, dz = x[3 * i + 2] - z0;
        p.inertia += mass[i] * (dx * dx + dz * dz);
        total += mass[i];
    }
    p.moment = total * hypot(center[0] - x0, center[2] - z0);
    p.angle = p.last_angle = atan2(center[2] - z0, center[0] - x0);
    return p;
}

/// Largest error in rad of the angle of a bar of 1 m that swings about its upper edge for a second.
static double swing_error(double young, bool on_springs, double *out_most_angle) {
    const double size[3] = {1, 0.2, 0.2};
    scene s;
    begin_scene(&s, size, 2, young);
    fall(&s);
    add_body(&s);
    sn_pin_def pin = sn_pin_def_default();
    pin.body = s.id;
    pin.select.kind = SN_SELECT_BOX;
    memcpy(pin.select.low, (double[3]){-0.01, -1, 0.19}, sizeof pin.select.low);
    memcpy(pin.select.high, (double[3]){0.01, 1, 0.21}, sizeof pin.select.high);
    if (!on_springs)
        assert_done(s.ctx, sn_model_add_pin(s.builder, &pin, NULL));
    for (int k = 0; on_springs && k < 3; k++) {
        sn_spring_def spring = sn_spring_def_default();
        spring.body = s.id;
        spring.stiffness = young;
        for (int i = 0; i < 3; i++)
            spring.point[i] = spring.point2[i] = (double[3]){0, 0.1 * k, 0.2}[i];
        assert_done(s.ctx, sn_model_add_spring(s.builder, &spring));
    }
    build_scene(&s, 1e-3, 20);
    pendulum p = pendulum_of(&s, 0, 0.2);
    double worst = 0;
    *out_most_angle = 0;
    for (int i = 0; i < 120; i++) {
        double center[3];
        step(&s);
        swing(&p);
        center_of(&s, sn_state_positions(s.state), center);
        double angle = atan2(center[2] - 0.2, center[0]);
        worst = fmax(worst, fabs(remainder(angle - p.angle, 6.283185307179586)));
        *out_most_angle = fmax(*out_most_angle, fabs(p.angle));
    }
    end_scene(&s);
    return worst;
}

static void pendulums_swing(void **state) {
    (void)state;
    // Softer bars bend.
    static const double young[] = {5e6, 5e8, 5e10}, allowed[] = {0.02, 2e-4, 2e-6};
    for (int i = 0; i < 3; i++)
        for (int springs = 0; springs < 2; springs++) {
            double angle, error = swing_error(young[i], springs, &angle);
            print_message("  young %g, on %s: off by %.2e rad\n", young[i], springs ? "springs" : "pins",
                          error);
            assert_at_most(error, allowed[i]);
            assert_true(angle > 2.5);
        }
}

/// Rotation of the body's long axis in the plane of x and y.
static double heading(const scene *s, const double *x) {
    const double *rest = sn_model_rest_positions(s->model), *mass = sn_model_masses(s->model);
    double center[3], rest_center[3], sine = 0, cosine = 0;
    center_of(s, x, center);
    center_of(s, rest, rest_center);
    for (int32_t i = 0; i < node_count(s); i++) {
        double a[2], b[2];
        for (int k = 0; k < 2; k++) {
            a[k] = rest[3 * i + k] - rest_center[k];
            b[k] = x[3 * i + k] - center[k];
        }
        sine += mass[i] * (a[0] * b[1] - a[1] * b[0]);
        cosine += mass[i] * (a[0] * b[0] + a[1] * b[1]);
    }
    return atan2(sine, cosine);
}

/// About its axis of largest inertia, a rigid body turns by a in the step after one by b, tan a = sin b /
/// (2 - cos b): so the gradient of its inertia says.
static void free_bodies_spin(void **state) {
    (void)state;
    const double size[3] = {0.4, 0.2, 0.1}, rate = 10;
    // Soft ones stretch, and turn more slowly. The axis is one of largest inertia only up to how the mesh
    // lumps its masses: all wobble a little.
    static const double young[] = {1e6, 1e8, 1e12}, allowed[] = {3e-3, 1e-3, 1e-3};
    for (int i = 0; i < 3; i++) {
        scene s;
        begin_scene(&s, size, 2, young[i]);
        s.body.initial.spin[2] = rate;
        add_body(&s);
        build_scene(&s, 1e-3, 20);
        double b = rate * H, angle = 0, first = 1;
        for (int k = 0; k < 120; k++) {
            step(&s);
            // The first step comes from velocities, whose targets lie on tangents.
            b = first > 0 ? atan(b) : atan2(sin(b), 2 - cos(b));
            first = 0;
            angle += b;
        }
        double error = remainder(heading(&s, sn_state_positions(s.state)) - angle, 6.283185307179586);
        print_message("  young %g: turned by %.3f rad, off by %.2e\n", young[i], angle, error);
        assert_near(error, 0, allowed[i] * angle);
        end_scene(&s);
    }
}

/// Whatever the tolerance, the change of velocities has no moment where nothing acts from outside.
static void angular_momentum_is_kept(void **state) {
    (void)state;
    const double size[3] = {0.4, 0.2, 0.1};
    for (int stiff = 0; stiff < 2; stiff++) {
        scene s;
        begin_scene(&s, size, 2, stiff ? 1e10 : 1e4);
        memcpy(s.body.initial.spin, (double[3]){2, 5, 1}, sizeof s.body.initial.spin);
        add_body(&s);
        build_scene(&s, 1e-2, 3);
        size_t bytes = 3 * (size_t)node_count(&s) * sizeof(double);
        double *before = malloc(bytes);
        for (int k = 0; k < 30; k++) {
            memcpy(before, sn_state_velocities(s.state), bytes);
            step(&s);
            const double *x = sn_state_positions(s.state), *v = sn_state_velocities(s.state);
            double moment[3] = {0}, size_of_moment = 0, center[3];
            center_of(&s, x, center);
            for (int32_t i = 0; i < node_count(&s); i++) {
                double m = sn_model_masses(s.model)[i], r[3], dv[3];
                for (int a = 0; a < 3; a++)
                    r[a] = x[3 * i + a] - center[a], dv[a] = m * (v[3 * i + a] - before[3 * i + a]);
                for (int a = 0; a < 3; a++) {
                    int b = (a + 1) % 3, c = (a + 2) % 3;
                    moment[a] += r[b] * dv[c] - r[c] * dv[b];
                    size_of_moment += m * (fabs(r[b] * v[3 * i + c]) + fabs(r[c] * v[3 * i + b]));
                }
            }
            for (int a = 0; a < 3; a++)
                assert_near(moment[a] / size_of_moment, 0, 1e-11);
        }
        free(before);
        end_scene(&s);
    }
}

/// The plane z = 0, which the scene's body may touch.
static void add_floor(scene *s, double friction) {
    sn_shape_id floor_id;
    sn_shape_def plane = sn_shape_def_default();
    sn_contact_def contact = sn_contact_def_default();
    plane.kind = SN_SHAPE_PLANE;
    memcpy(plane.normal, (double[3]){0, 0, 1}, sizeof plane.normal);
    assert_done(s->ctx, sn_model_add_shape(s->builder, &plane, &floor_id));
    contact.body = s->id;
    contact.shapes = &floor_id;
    contact.shape_count = 1;
    contact.friction = friction;
    assert_done(s->ctx, sn_model_add_contact(s->builder, &contact));
}

/// A block of 0.1 x 0.1 x 0.4 m stands on its edge along y, tilted past its balance, and topples about it; it
/// ends on its side.
static void tilted_blocks_topple(void **state) {
    (void)state;
    const double size[3] = {0.1, 0.1, 0.4}, tilt = 0.35;
    static const double young[] = {5e6, 5e8, 5e10};
    for (int i = 0; i < 3; i++) {
        scene s;
        begin_scene(&s, size, 2, young[i]);
        fall(&s);
        // About the edge at x = 0.1, which goes to the origin.
        s.body.rotation[1] = tilt;
        s.body.translation[0] = -0.1 * cos(tilt);
        s.body.translation[2] = 0.1 * sin(tilt);
        add_body(&s);
        add_floor(&s, 1);
        build_scene(&s, 1e-3, 30);
        pendulum p = pendulum_of(&s, 0, 0);
        double center[3], start = p.angle;
        for (int k = 0; k < 30; k++) {
            step(&s);
            swing(&p);
        }
        center_of(&s, sn_state_positions(s.state), center);
        double turned = start - atan2(center[2], center[0]);
        print_message("  young %g: turned by %.4f rad in 30 steps, rigid %.4f\n", young[i], turned,
                      start - p.angle);
        assert_near(turned / (start - p.angle), 1, young[i] < 1e8 ? 0.01 : 0.001);
        for (int k = 0; k < 120; k++)
            step(&s);
        center_of(&s, sn_state_positions(s.state), center);
        assert_near(center[2], 0.05, 0.002);
        end_scene(&s);
    }
}

/// A block of some size and stiffness, thrown onto the floor somehow.
static void throw_block(scene *s, sn_random *random, double friction) {
    double size[3];
    for (int k = 0; k < 3; k++)
        size[k] = sn_random_range(random, 0.1, 0.2);
    begin_scene(s, size, 2, pow(10, sn_random_range(random, 6, 11)));
    fall(s);
    for (int k = 0; k < 3; k++) {
        s->body.rotation[k] = sn_random_range(random, -2, 2);
        s->body.initial.velocity[k] = 3 * sn_random_normal(random);
        s->body.initial.spin[k] = 10 * sn_random_normal(random);
    }
    s->body.translation[2] = 0.5;
    add_body(s);
    add_floor(s, friction);
    build_scene(s, 1e-3, 30);
}

/// What goes over all limits, over the steps of a throw.
typedef struct throw_record {
    double momentum; ///< change without a force, to all forces
    double gain;     ///< of energy in a step, J
    double cone;     ///< friction over what it may be
    int32_t touching;
} throw_record;

static double energy_of(const sn_step_info *info) {
    return info->energy.kinetic + info->energy.elastic + info->energy.contact + info->energy.external;
}

static void record_step(scene *s, double friction, double *energy, throw_record *record) {
    double before[3], after[3], angular[3], kinetic, error = 0, mass = sn_model_get_info(s->model).mass;
    double size = mass * GRAVITY * H;
    sn_contact_sum sum;
    sn_state_momentum(s->state, before, angular, &kinetic);
    sn_step_info info = step(s);
    sn_state_momentum(s->state, after, angular, &kinetic);
    assert_done(s->ctx, sn_state_contact_sum(s->state, 0, &sum));
    for (int k = 0; k < 3; k++) {
        double force = -sum.force[k] - (k == 2 ? mass * GRAVITY : 0);
        error = fmax(error, fabs(after[k] - before[k] - H * force));
        size = fmax(size, fabs(H * force));
    }
    record->momentum = fmax(record->momentum, error / size);
    record->gain = fmax(record->gain, energy_of(&info) - *energy);
    if (sum.force[2] != 0)
        record->cone = fmax(record->cone, hypot(sum.force[0], sum.force[1]) / (-friction * sum.force[2]));
    record->touching += info.active_contacts > 0;
    *energy = energy_of(&info);
}

/// Blocks that hit, slide, tip and roll: contact forces are the change of momentum whatever happens, friction
/// is no larger than what presses allows, and energy does not rise.
static void thrown_blocks_tumble(void **state) {
    (void)state;
    const double friction = 0.5;
    sn_random random = sn_random_make(7);
    int32_t touching = 0;
    for (int trial = 0; trial < 40; trial++) {
        scene s;
        throw_record record = {0};
        throw_block(&s, &random, friction);
        sn_step_info info = step(&s);
        double energy = energy_of(&info), kinetic = info.energy.kinetic;
        for (int k = 0; k < 80; k++)
            record_step(&s, friction, &energy, &record);
        print_message("  trial %d, young %.2g: momentum off by %.1e, energy gained %.1e, friction %.4f\n",
                      trial, s.material.young, record.momentum, record.gain / kinetic, record.cone);
        // Stiff contacts make forces of the rounding of places.
        assert_at_most(record.momentum, 1e-8 + 4e-16 * s.material.young);
        assert_at_most(record.gain, 1e-3 * kinetic);
        assert_at_most(record.cone, 1.01);
        touching += record.touching;
        end_scene(&s);
    }
    assert_true(touching > 400);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulums_swing),          cmocka_unit_test(free_bodies_spin),
        cmocka_unit_test(angular_momentum_is_kept), cmocka_unit_test(tilted_blocks_topple),
        cmocka_unit_test(thrown_blocks_tumble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
