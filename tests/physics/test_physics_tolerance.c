// Labels: precision
// What "converged" is worth at the default tolerance: short steps neither gain energy nor pass over the
// elastic forces, a step ends near its own minimum, and what cannot be computed is refused with the state as
// it was.
#include "test_precision.h"

#include "sinew/sinew.h"

typedef struct beam {
    sn_context *ctx;
    sn_model *model;
    sn_state *state;
    sn_stepper *stepper;
} beam;

typedef struct beam_options {
    double young, poisson, tolerance;
    bool pinned;
    double velocity, scale;
    sn_integrator integrator;
} beam_options;

static sn_model *build_model(sn_context *ctx, const beam_options *how) {
    sn_mesh_data *data = NULL;
    sn_mesh *mesh = NULL;
    sn_model_builder *builder = NULL;
    sn_model *model = NULL;
    sn_body_id id;
    sn_make_def make = sn_make_def_default(SN_MAKE_BEAM);
    make.cells = 2;
    sn_material_def material = sn_material_def_default();
    material.young = how->young, material.poisson = how->poisson;
    assert_done(ctx, sn_mesh_make(ctx, &make, &data, NULL));
    assert_done(ctx, sn_mesh_create(ctx, data, false, &mesh));
    sn_body_def body = sn_body_def_default();
    body.mesh = mesh, body.material_count = 1, body.materials = &material;
    body.initial.velocity[0] = how->velocity, body.scale = how->scale;
    sn_pin_def pin = sn_pin_def_default();
    pin.select = (sn_selection){.kind = SN_SELECT_PLANE, .normal = {1, 0, 0}};
    assert_done(ctx, sn_model_builder_create(ctx, &builder));
    assert_done(ctx, sn_model_add_body(builder, &body, &id));
    assert_done(ctx, sn_model_set_gravity(builder, (const double[3]){0, 0, -9.81}));
    pin.body = id;
    if (how->pinned)
        assert_done(ctx, sn_model_add_pin(builder, &pin, NULL));
    assert_done(ctx, sn_model_build(builder, &model));
    sn_model_builder_destroy(&builder);
    sn_mesh_destroy(&mesh);
    sn_mesh_data_destroy(&data);
    return model;
}

static beam begin(beam_options how) {
    beam b = {.ctx = test_context(1)};
    sn_stepper_def def = test_stepper_def();
    def.integrator = how.integrator;
    def.solver.iterations = 500, def.solver.tolerance = how.tolerance;
    b.model = build_model(b.ctx, &how);
    assert_done(b.ctx, sn_stepper_create(b.model, &def, &b.stepper));
    assert_done(b.ctx, sn_state_create(b.model, &b.state));
    return b;
}

static void end(beam *b) {
    sn_state_destroy(&b->state);
    sn_stepper_destroy(&b->stepper);
    sn_model_destroy(&b->model);
    test_context_end(&b->ctx);
}

static double tip(const beam *b) {
    double low = INFINITY;
    for (int32_t i = 0; i < sn_model_get_info(b->model).node_count; i++)
        low = fmin(low, sn_state_positions(b->state)[3 * (int64_t)i + 2]);
    return low;
}

/// Steps for `seconds`; the total energy, 0 at the start, must not rise above rounding.
static double fall(double young, double tolerance, double h, double seconds) {
    beam b = begin(
        (beam_options){.young = young, .poisson = 0.3, .tolerance = tolerance, .pinned = true, .scale = 1});
    sn_step_info info;
    for (int k = 0; k < (int)(seconds / h + 0.5); k++) {
        assert_true(sn_step(b.stepper, b.state, h, &info) >= 0);
        assert_true(info.energy.kinetic + info.energy.elastic + info.energy.external <= 1e-9);
    }
    double place = tip(&b);
    end(&b);
    return place;
}

static void short_steps_feel_the_forces(void **state) {
    (void)state;
    const double h[] = {1.0 / 60, 1.0 / 600, 1.0 / 6000};
    for (int i = 0; i < 3; i++) {
        double exact = fall(1e7, 1e-8, h[i], 0.1), quick = fall(1e7, 1e-3, h[i], 0.1);
        print_message("  step %g s: tip %.5f, exactly %.5f\n", h[i], quick, exact);
        assert_near(quick, exact, 0.05 * fabs(exact));
    }
}

static void stiff_metric_does_not_freeze_the_body(void **state) {
    (void)state;
    double place[2];
    for (int i = 0; i < 2; i++) {
        beam b = begin((beam_options){.young = 1e5,
                                      .poisson = 0.4995,
                                      .tolerance = i ? 1e-3 : 1e-6,
                                      .pinned = true,
                                      .scale = 1,
                                      .integrator = SN_INTEGRATOR_QUASISTATIC});
        for (int k = 0; k < 8; k++)
            assert_true(sn_step(b.stepper, b.state, 1, NULL) >= 0);
        place[i] = tip(&b);
        end(&b);
    }
    print_message("  poisson 0.4995: tip %.4f, exactly %.4f\n", place[1], place[0]);
    assert_near(place[1], place[0], 0.2 * fabs(place[0]));
}

/// Inertia below the rounding error of the stiffness: the factor of a free piece must still exist.
static void stiff_free_bodies_fall(void **state) {
    (void)state;
    const double young[] = {1e20, 1e5}, scale[] = {1, 1e-10};
    for (int i = 0; i < 2; i++) {
        beam b =
            begin((beam_options){.young = young[i], .poisson = 0.3, .tolerance = 1e-3, .scale = scale[i]});
        sn_step_info info;
        for (int k = 0; k < 10; k++)
            assert_done(b.ctx, sn_step(b.stepper, b.state, 1.0 / 60, &info));
        double fallen = 9.81 / 3600 * 10 * 11 / 2; // backward Euler: h^2 g (1 + 2 + ... + 10)
        assert_near(tip(&b), -fallen, 1e-9 * fallen);
        assert_int_equal(info.inverted, 0);
        end(&b);
    }
}

static void impossible_steps_leave_the_state(void **state) {
    (void)state;
    const double h[] = {1e-200, 1e200, 0, NAN};
    beam b =
        begin((beam_options){.young = 1e5, .poisson = 0.3, .tolerance = 1e-3, .pinned = true, .scale = 1});
    uint64_t hash = sn_state_hash(b.state);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(sn_step(b.stepper, b.state, h[i], NULL), SN_ERR_INVALID_ARGUMENT);
        assert_non_null(strstr(sn_context_message(b.ctx), "the time step is"));
        assert_true(sn_state_hash(b.state) == hash);
    }
    end(&b);
    b = begin((beam_options){.young = 1e5, .poisson = 0.3, .tolerance = 1e-3, .velocity = 1e18, .scale = 1});
    hash = sn_state_hash(b.state);
    assert_int_equal(sn_step(b.stepper, b.state, 1.0 / 60, NULL), SN_ERR_NON_FINITE);
    assert_non_null(strstr(sn_context_message(b.ctx), "away from the origin"));
    assert_true(sn_state_hash(b.state) == hash);
    end(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(short_steps_feel_the_forces),
                                       cmocka_unit_test(stiff_metric_does_not_freeze_the_body),
                                       cmocka_unit_test(stiff_free_bodies_fall),
                                       cmocka_unit_test(impossible_steps_leave_the_state)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
