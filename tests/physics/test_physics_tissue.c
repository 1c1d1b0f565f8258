// Labels: slow precision
// Biphasic tissue: its curve of one-axis stress in a tet and in a block, limits of their own in two regions
// of one body, the same at any size, and inverted elements that come back.
#include "test_precision.h"

#include "base/base_util.h"
#include "sinew/sinew.h"

#define YOUNG 2e4

static sn_material_def make_tissue(double low, double high, double stiffening) {
    sn_material_def def = sn_material_def_default();
    def.model = SN_MATERIAL_BIPHASIC;
    def.young = YOUNG;
    def.poisson = 0;
    def.stretch_min = low;
    def.stretch_max = high;
    def.stiffening = stiffening;
    return def;
}

/// One-axis stretch under a nominal stress: the inverse of young (s - 1) within the limits, stiffening times
/// steeper beyond.
static double stretch_under(const sn_material_def *def, double stress) {
    double free_stretch = 1 + stress / def->young;
    double held = fmin(fmax(free_stretch, def->stretch_min), def->stretch_max);
    return held + (free_stretch - held) / def->stiffening;
}

/// A body of tissue, pinned at its lowest x and pulled along x at its highest.
typedef struct pull {
    sn_context *ctx;
    sn_mesh *mesh;
    sn_model *model;
    sn_stepper *stepper;
    sn_state *state;
    double length, area;
} pull;

/// A corner of a cube, with its tip on the x axis.
static sn_mesh *make_tet(sn_context *ctx, double size) {
    double position[12] = {0, 0, 0, 0, size, 0, 0, 0, size, size, 0, 0};
    int32_t vertex[4] = {0, 1, 2, 3};
    sn_cell_block block = {.kind = SN_CELL_TET, .count = 1, .vertex = vertex};
    sn_mesh_data data = {.context = ctx,
                         .vertex_count = 4,
                         .position = position,
                         .block_count = 1,
                         .block = &block,
                         .note = ""};
    sn_mesh *mesh = NULL;
    assert_done(ctx, sn_mesh_create(ctx, &data, false, &mesh));
    return mesh;
}

static sn_mesh *make_bar(sn_context *ctx, const double size[3], int32_t cells) {
    sn_mesh_data *data = NULL;
    sn_mesh *mesh = NULL;
    sn_make_def def = sn_make_def_default(SN_MAKE_BEAM);
    memcpy(def.size, size, sizeof def.size);
    def.cells = cells;
    assert_done(ctx, sn_mesh_make(ctx, &def, &data, NULL));
    assert_done(ctx, sn_mesh_create(ctx, data, false, &mesh));
    sn_mesh_data_destroy(&data);
    return mesh;
}

/// Index of the region of each tet: 1 if its middle is in the half of larger x.
static int32_t *find_halves(const sn_mesh *mesh, double length) {
    int32_t count = sn_mesh_tet_count(mesh), *half = calloc((size_t)count, sizeof *half);
    for (int32_t t = 0; t < count; t++) {
        double middle = 0;
        for (int a = 0; a < 4; a++)
            middle += sn_mesh_positions(mesh)[3 * sn_mesh_tets(mesh)[4 * t + a]] / 4;
        half[t] = middle > length / 2;
    }
    return half;
}

static void build(pull *p, const sn_material_def *materials, const int32_t *tet_material, double stress,
                  sn_solver_method method) {
    sn_model_builder *builder = NULL;
    sn_body_def body = sn_body_def_default();
    sn_pin_def pin = sn_pin_def_default();
    sn_load_def load = sn_load_def_default();
    sn_stepper_def def = test_stepper_def();
    body.mesh = p->mesh;
    body.material_count = tet_material ? 2 : 1;
    body.materials = materials;
    body.tet_material = tet_material;
    assert_done(p->ctx, sn_model_builder_create(p->ctx, &builder));
    assert_done(p->ctx, sn_model_add_body(builder, &body, &pin.body));
    pin.select = (sn_selection){.kind = SN_SELECT_PLANE, .normal = {1, 0, 0}};
    assert_done(p->ctx, sn_model_add_pin(builder, &pin, NULL));
    load.body = pin.body;
    load.select = (sn_selection){.kind = SN_SELECT_PLANE, .point = {p->length, 0, 0}, .normal = {-1, 0, 0}};
    load.spread = sn_mesh_tet_count(p->mesh) > 1 ? SN_SPREAD_AREA : SN_SPREAD_EVEN;
    load.force[0] = stress * p->area;
    assert_done(p->ctx, sn_model_add_load(builder, &load, NULL));
    assert_done(p->ctx, sn_model_build(builder, &p->model));
    sn_model_builder_destroy(&builder);
    def.integrator = SN_INTEGRATOR_QUASISTATIC;
    def.solver.method = method;
    def.solver.iterations = 5000;
    def.solver.tolerance = 0;
    assert_done(p->ctx, sn_stepper_create(p->model, &def, &p->stepper));
    assert_done(p->ctx, sn_state_create(p->model, &p->state));
}

static void take_down(pull *p) {
    sn_state_destroy(&p->state);
    sn_stepper_destroy(&p->stepper);
    sn_model_destroy(&p->model);
}

/// One step to equilibrium. Then every node must be where pieces of the bar that are stretched by `near` up
/// to the middle and by `far` beyond have it.
static sn_step_info expect_stretches(pull *p, double near, double far) {
    sn_step_info info;
    assert_done(p->ctx, sn_step(p->stepper, p->state, 1, &info));
    assert_int_equal(info.status, SN_STEP_CONVERGED);
    assert_int_equal(info.inverted, 0);
    const double *X = sn_model_rest_positions(p->model), *x = sn_state_positions(p->state);
    for (int32_t i = 0; i < sn_model_get_info(p->model).node_count; i++) {
        double half = p->length / 2;
        double expected = near * fmin(X[3 * i], half) + far * fmax(X[3 * i] - half, 0);
        assert_near(x[3 * i], expected, 1e-7 * p->length);
        assert_near(x[3 * i + 1], X[3 * i + 1], 1e-7 * p->length);
        assert_near(x[3 * i + 2], X[3 * i + 2], 1e-7 * p->length);
    }
    return info;
}

/// Stresses over young: within the limits 0.8 and 1.26, at them, and beyond. Blocks are short, so that they
/// do not buckle.
static const double stresses[] = {-0.25, -0.2, -0.1, 0.05, 0.26, 0.4, 1, 3};
enum { STRESSES = sizeof stresses / sizeof *stresses };

static void tet_follows_its_curve(void **state) {
    (void)state;
    pull p = {.ctx = test_context(1), .length = 1e-2};
    sn_material_def tissue = make_tissue(0.8, 1.26, 5);
    p.mesh = make_tet(p.ctx, p.length);
    // The force on the tip is stress * volume / height of the tip.
    p.area = p.length * p.length / 6;
    for (int i = 0; i < STRESSES; i++) {
        build(&p, &tissue, NULL, YOUNG * stresses[i], SN_SOLVER_LBFGS);
        double stretch = stretch_under(&tissue, YOUNG * stresses[i]);
        expect_stretches(&p, stretch, stretch);
        take_down(&p);
    }
    sn_mesh_destroy(&p.mesh);
    test_context_end(&p.ctx);
}

static void block_follows_its_curve(void **state) {
    (void)state;
    const double size[3] = {0.04, 0.1, 0.1};
    pull p = {.ctx = test_context(2), .length = size[0], .area = size[1] * size[2]};
    sn_material_def tissue = make_tissue(0.8, 1.26, 5);
    p.mesh = make_bar(p.ctx, size, 8);
    assert_true(sn_mesh_tet_count(p.mesh) >= 1000);
    for (int method = 0; method < 2; method++)
        for (int i = 0; i < STRESSES; i++) {
            build(&p, &tissue, NULL, YOUNG * stresses[i], (sn_solver_method)method);
            double stretch = stretch_under(&tissue, YOUNG * stresses[i]);
            sn_step_info info = expect_stretches(&p, stretch, stretch);
            double strain = stretch - 1, beyond = stretch - fmin(fmax(stretch, 0.8), 1.26);
            double energy = YOUNG / 2 * (strain * strain + 4 * beyond * beyond);
            assert_near(info.energy.elastic, energy * p.area * p.length, 1e-6 * energy * p.area * p.length);
            take_down(&p);
        }
    sn_mesh_destroy(&p.mesh);
    test_context_end(&p.ctx);
}

/// Loose tissue in one half of a bar, taut tissue in the other: one force, two stretches.
static void regions_have_limits_of_their_own(void **state) {
    (void)state;
    const double size[3] = {0.06, 0.1, 0.1};
    pull p = {.ctx = test_context(2), .length = size[0], .area = size[1] * size[2]};
    sn_material_def tissue[2] = {make_tissue(0.4, 4, 5), make_tissue(0.95, 1.05, 9)};
    p.mesh = make_bar(p.ctx, size, 6);
    int32_t *half = find_halves(p.mesh, p.length);
    static const double parts[] = {-0.08, -0.03, 0.02, 0.1, 1, 3.5};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        double stress = YOUNG * parts[i];
        build(&p, tissue, half, stress, SN_SOLVER_LBFGS);
        expect_stretches(&p, stretch_under(&tissue[0], stress), stretch_under(&tissue[1], stress));
        take_down(&p);
    }
    free(half);
    sn_mesh_destroy(&p.mesh);
    test_context_end(&p.ctx);
}

/// Lengths times 1e-3 and 1e3, moduli and stresses too: the same stretches, iteration by iteration.
static void size_does_not_matter(void **state) {
    (void)state;
    int32_t iterations = 0;
    for (int decade = -3; decade <= 3; decade += 3) {
        double scale = pow(10, decade), size[3] = {0.2 * scale, 0.1 * scale, 0.1 * scale};
        pull p = {.ctx = test_context(1), .length = size[0], .area = size[1] * size[2]};
        sn_material_def tissue = make_tissue(0.95, 1.05, 5);
        tissue.young = YOUNG * scale;
        p.mesh = make_bar(p.ctx, size, 3);
        build(&p, &tissue, NULL, 0.3 * tissue.young, SN_SOLVER_LBFGS);
        double stretch = stretch_under(&tissue, 0.3 * tissue.young);
        sn_step_info info = expect_stretches(&p, stretch, stretch);
        print_message("  size %g: %d iterations\n", scale, info.iterations);
        if (decade > -3)
            assert_in_range(info.iterations, iterations / 2, 2 * iterations);
        iterations = info.iterations;
        take_down(&p);
        sn_mesh_destroy(&p.mesh);
        test_context_end(&p.ctx);
    }
}

/// Number of inverted tets that are left of a bar whose free nodes start anywhere within its bounds, or
/// mirrored.
static int32_t recover(sn_material_def material, bool mirrored) {
    const double size[3] = {0.1, 0.1, 0.1};
    pull p = {.ctx = test_context(2), .length = size[0], .area = size[1] * size[2]};
    sn_random random = sn_random_make(3);
    sn_step_info info;
    p.mesh = make_bar(p.ctx, size, 4);
    build(&p, &material, NULL, 0, SN_SOLVER_LBFGS);
    int32_t count = sn_model_get_info(p.model).node_count;
    double *x = malloc(3 * (size_t)count * sizeof *x);
    const double *X = sn_model_rest_positions(p.model);
    for (int32_t j = 0; j < 3 * count; j++) {
        double moved = mirrored ? (j % 3 == 0 ? -X[j] : X[j]) : sn_random_range(&random, 0, size[0]);
        x[j] = sn_model_pinned(p.model)[j / 3] ? X[j] : moved;
    }
    assert_done(p.ctx, sn_state_set_positions(p.state, x));
    assert_done(p.ctx, sn_step(p.stepper, p.state, 1, &info));
    print_message("  %s, %s start: %d inverted, elastic energy %g J\n",
                  material.model == SN_MATERIAL_ARAP ? "arap" : "biphasic", mirrored ? "mirrored" : "random",
                  info.inverted, info.energy.elastic);
    free(x);
    take_down(&p);
    sn_mesh_destroy(&p.mesh);
    test_context_end(&p.ctx);
    return info.inverted;
}

static void inverted_elements_come_back(void **state) {
    (void)state;
    for (int mirrored = 0; mirrored < 2; mirrored++)
        assert_int_equal(recover(make_tissue(0.8, 1.26, 5), mirrored), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tet_follows_its_curve),
        cmocka_unit_test(block_follows_its_curve),
        cmocka_unit_test(regions_have_limits_of_their_own),
        cmocka_unit_test(size_does_not_matter),
        cmocka_unit_test(inverted_elements_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
