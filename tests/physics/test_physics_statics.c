// Labels: slow precision
// Patch test, free fall, and coming to rest.
#include "test_precision.h"

#include "base/base_util.h"
#include "sinew/sinew.h"

/// A block of `cells` cells a side with interior nodes moved off the grid.
static sn_mesh *make_block(sn_context *ctx, double size, int32_t cells, double jitter) {
    sn_mesh_data *data = NULL;
    sn_mesh *mesh = NULL;
    sn_make_def def = sn_make_def_default(SN_MAKE_BEAM);
    for (int k = 0; k < 3; k++)
        def.size[k] = size;
    def.cells = cells;
    assert_done(ctx, sn_mesh_make(ctx, &def, &data, NULL));
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t j = 0; j < 3 * data->vertex_count; j++) {
        low[j % 3] = fmin(low[j % 3], data->position[j]);
        high[j % 3] = fmax(high[j % 3], data->position[j]);
    }
    sn_random random = sn_random_make(11);
    for (int32_t i = 0; i < data->vertex_count; i++) {
        double *p = data->position + 3 * i;
        bool inside = true;
        for (int k = 0; k < 3; k++)
            inside &= p[k] > low[k] + 1e-9 * size && p[k] < high[k] - 1e-9 * size;
        for (int k = 0; k < 3 && inside; k++)
            p[k] += jitter * size / cells * sn_random_range(&random, -1, 1);
    }
    assert_done(ctx, sn_mesh_create(ctx, data, false, &mesh));
    sn_mesh_data_destroy(&data);
    return mesh;
}

static sn_model *build_model(sn_context *ctx, const sn_mesh *mesh, const sn_material_def *material,
                             const sn_selection *pins, int32_t pin_count, const double gravity[3]) {
    sn_model_builder *builder = NULL;
    sn_model *model = NULL;
    sn_body_def body = sn_body_def_default();
    sn_body_id id;
    body.mesh = mesh;
    body.material_count = 1;
    body.materials = material;
    assert_done(ctx, sn_model_builder_create(ctx, &builder));
    assert_done(ctx, sn_model_set_gravity(builder, gravity));
    assert_done(ctx, sn_model_add_body(builder, &body, &id));
    for (int32_t k = 0; k < pin_count; k++) {
        sn_pin_def pin = sn_pin_def_default();
        pin.body = id;
        pin.select = pins[k];
        assert_done(ctx, sn_model_add_pin(builder, &pin, NULL));
    }
    assert_done(ctx, sn_model_build(builder, &model));
    sn_model_builder_destroy(&builder);
    return model;
}

/// Affine motion of the boundary: the interior must follow it exactly, whatever the material.
static void passes_the_patch_test(void **state) {
    (void)state;
    const double size = 2, A[9] = {1.1, 0.2, -0.1, 0.05, 0.9, 0.15, -0.2, 0.1, 1.05}, still[3] = {0};
    sn_context *ctx = test_context(2);
    sn_mesh *mesh = make_block(ctx, size, 5, 0.2);
    // Six thin slabs hold all boundary nodes: two opposite sides in each direction.
    sn_selection pins[6];
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    const double *rest = sn_mesh_positions(mesh);
    int32_t count = sn_mesh_node_count(mesh);
    for (int32_t j = 0; j < 3 * count; j++) {
        low[j % 3] = fmin(low[j % 3], rest[j]);
        high[j % 3] = fmax(high[j % 3], rest[j]);
    }
    for (int side = 0; side < 6; side++) {
        double sign = side % 2 ? 1 : -1;
        pins[side] = (sn_selection){.kind = SN_SELECT_PLANE};
        memcpy(pins[side].point, side % 2 ? low : high, sizeof low);
        pins[side].normal[side / 2] = sign;
    }
    for (int model_kind = 0; model_kind < 4; model_kind++) {
        sn_material_def material = sn_material_def_default();
        material.model = (sn_material_model)model_kind;
        material.young = 1e5;
        material.poisson = model_kind == SN_MATERIAL_ARAP || model_kind == SN_MATERIAL_BIPHASIC ? 0 : 0.35;
        sn_model *model = build_model(ctx, mesh, &material, pins, 6, still);
        assert_true(sn_model_get_info(model).free_node_count == 64);
        sn_stepper_def def = test_stepper_def();
        def.integrator = SN_INTEGRATOR_QUASISTATIC;
        def.solver.iterations = 500;
        def.solver.tolerance = 0;
        sn_stepper *stepper = NULL;
        sn_state *sim = NULL;
        sn_step_info info;
        assert_done(ctx, sn_stepper_create(model, &def, &stepper));
        assert_done(ctx, sn_state_create(model, &sim));
        double *x = malloc(3 * (size_t)count * sizeof *x);
        const bool *pinned = sn_model_pinned(model);
        for (int32_t i = 0; i < count; i++)
            for (int k = 0; k < 3; k++) {
                const double *X = rest + 3 * i;
                x[3 * i + k] = pinned[i] ? A[3 * k] * X[0] + A[3 * k + 1] * X[1] + A[3 * k + 2] * X[2] : X[k];
            }
        assert_done(ctx, sn_state_set_positions(sim, x));
        assert_done(ctx, sn_step(stepper, sim, 1, &info));
        assert_int_equal(info.status, SN_STEP_CONVERGED);
        for (int32_t i = 0; i < count; i++)
            for (int k = 0; k < 3; k++) {
                const double *X = rest + 3 * i;
                double expected = A[3 * k] * X[0] + A[3 * k + 1] * X[1] + A[3 * k + 2] * X[2];
                assert_near(sn_state_positions(sim)[3 * i + k], expected, 1e-12 * size);
            }
        free(x);
        sn_state_destroy(&sim);
        sn_stepper_destroy(&stepper);
        sn_model_destroy(&model);
    }
    sn_mesh_destroy(&mesh);
    test_context_end(&ctx);
}

/// After n steps of implicit Euler from rest: g t^2 / 2 + g h t / 2.
static void falls_as_implicit_euler_does(void **state) {
    (void)state;
    const double gravity[3] = {0, -9.81, 0};
    sn_context *ctx = test_context(2);
    sn_mesh *mesh = make_block(ctx, 0.1, 3, 0);
    sn_material_def material = sn_material_def_default();
    material.young = 1e6;
    sn_model *model = build_model(ctx, mesh, &material, NULL, 0, gravity);
    sn_stepper_def def = test_stepper_def();
    sn_stepper *stepper = NULL;
    sn_state *sim = NULL;
    sn_step_info info;
    assert_done(ctx, sn_stepper_create(model, &def, &stepper));
    assert_done(ctx, sn_state_create(model, &sim));
    for (int n = 0; n < 100; n++)
        assert_done(ctx, sn_step(stepper, sim, 0.01, &info));
    const double *rest = sn_model_rest_positions(model), *x = sn_state_positions(sim);
    for (int32_t i = 0; i < sn_model_get_info(model).node_count; i++) {
        assert_near(x[3 * i] - rest[3 * i], 0, 1e-12);
        assert_near(x[3 * i + 1] - rest[3 * i + 1], -4.95405, 1e-12);
    }
    assert_int_equal(info.status, SN_STEP_CONVERGED);
    sn_state_destroy(&sim);
    sn_stepper_destroy(&stepper);
    sn_model_destroy(&model);
    sn_mesh_destroy(&mesh);
    test_context_end(&ctx);
}

/// A clamped block under gravity: kinetic energy decays to rounding level and stays there for a thousand
/// steps.
static void comes_to_rest_and_stays(void **state) {
    (void)state;
    const double gravity[3] = {0, -9.81, 0}, h = 1.0 / 60;
    sn_context *ctx = test_context(2);
    sn_mesh *mesh = make_block(ctx, 0.2, 4, 0);
    sn_material_def material = sn_material_def_default();
    material.young = 2e4;
    material.poisson = 0.4;
    sn_selection pins = {.kind = SN_SELECT_PLANE, .normal = {1, 0, 0}};
    for (int method = 0; method < 2; method++) {
        sn_model *model = build_model(ctx, mesh, &material, &pins, 1, gravity);
        sn_stepper_def def = test_stepper_def();
        def.solver.method = (sn_solver_method)method;
        def.solver.tolerance = 0;
        sn_stepper *stepper = NULL;
        sn_state *sim = NULL;
        sn_step_info info = {0};
        assert_done(ctx, sn_stepper_create(model, &def, &stepper));
        assert_done(ctx, sn_state_create(model, &sim));
        double first = 0, late = 0;
        for (int n = 0; n < 2000; n++) {
            assert_done(ctx, sn_step(stepper, sim, h, &info));
            first = n == 0 ? info.energy.kinetic : first;
            late = n >= 1000 ? fmax(late, info.energy.kinetic) : 0;
        }
        // Rounding level: places known to 1e-15 of the size give velocities known to that over h.
        double speed = 1e-14 * 0.2 / h, mass = sn_model_get_info(model).mass;
        print_message("  method %d: kinetic energy %g J at first, at most %g J after 1000 steps\n", method,
                      first, late);
        assert_true(first > 1e-6);
        assert_at_most(late, mass * speed * speed);
        sn_state_destroy(&sim);
        sn_stepper_destroy(&stepper);
        sn_model_destroy(&model);
    }
    sn_mesh_destroy(&mesh);
    test_context_end(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_the_patch_test),
        cmocka_unit_test(falls_as_implicit_euler_does),
        cmocka_unit_test(comes_to_rest_and_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
