// Labels: precision
// One implicit Euler step of a stretched corotated bar against converged reference values (the file says how
// they were made). Minimized through the general objective with L-BFGS. Skips where the reference folder is
// missing.
#include "test_precision.h"

#include "sinew/step.h"
#include "solve/solve_minimize.h"

enum { MAX_NODES = 400, MAX_TETS = 2000 };

typedef struct golden_case {
    double mu, lambda, h, gravity[3], density, stiffness, objective;
    int32_t node_count, tet_count, attached_count;
    double X[3 * MAX_NODES], x[3 * MAX_NODES], v[3 * MAX_NODES], mass[MAX_NODES], solution[3 * MAX_NODES];
    int32_t tets[4 * MAX_TETS], attached[MAX_NODES];
} golden_case;

static void read_line(golden_case *g, const char *line) {
    int id;
    double n[13];
    int32_t tet[4];
    if (sscanf(line, "n %d %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf", &id, n, n + 1, n + 2, n + 3,
               n + 4, n + 5, n + 6, n + 7, n + 8, n + 9, n + 10, n + 11, n + 12) == 14) {
        assert_true(id == g->node_count && id < MAX_NODES);
        memcpy(g->X + 3 * id, n, 3 * sizeof *n);
        memcpy(g->x + 3 * id, n + 3, 3 * sizeof *n);
        memcpy(g->v + 3 * id, n + 6, 3 * sizeof *n);
        g->mass[id] = n[9];
        memcpy(g->solution + 3 * id, n + 10, 3 * sizeof *n);
        g->node_count++;
    } else if (sscanf(line, "t %d %d %d %d %d", &id, tet, tet + 1, tet + 2, tet + 3) == 5) {
        assert_true(g->tet_count < MAX_TETS);
        memcpy(g->tets + 4 * g->tet_count++, tet, sizeof tet);
    } else if (sscanf(line, "a %d", &id) == 1) {
        g->attached[g->attached_count++] = id;
    } else if (sscanf(line, "gravity %lf %lf %lf", n, n + 1, n + 2) == 3) {
        memcpy(g->gravity, n, sizeof g->gravity);
    } else if (!sscanf(line, "mu %lf", &g->mu) && !sscanf(line, "lambda %lf", &g->lambda) &&
               !sscanf(line, "h %lf", &g->h) && !sscanf(line, "density %lf", &g->density) &&
               !sscanf(line, "attachment_stiffness %lf", &g->stiffness)) {
        sscanf(line, "objective %lf", &g->objective);
    }
}

static golden_case *read_case(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file)
        return NULL;
    golden_case *g = calloc(1, sizeof *g);
    char line[1024];
    while (fgets(line, sizeof line, file))
        if (line[0] != '#')
            read_line(g, line);
    fclose(file);
    return g;
}

static golden_case *golden;

static void reaches_the_reference(void **state) {
    (void)state;
    golden_case *g = golden;
    assert_true(g->node_count == 160 && g->tet_count == 486 && g->attached_count == 16);
    sn_context *ctx = test_context(2);
    sn_material_def material = sn_material_def_default();
    material.model = SN_MATERIAL_COROTATED_LINEAR;
    material.young = g->mu * (3 * g->lambda + 2 * g->mu) / (g->lambda + g->mu);
    material.poisson = g->lambda / (2 * (g->lambda + g->mu));
    material.density = g->density;
    static int32_t tet_material[MAX_TETS], piece[MAX_NODES];
    static sn_spring springs[MAX_NODES];
    static double targets[3 * MAX_NODES], y[3 * MAX_NODES], x[3 * MAX_NODES];
    static bool pinned[MAX_NODES];
    for (int a = 0; a < g->attached_count; a++) {
        springs[a] = (sn_spring){{1, {g->attached[a], 0, 0, 0}, {1, 0, 0, 0}}, {0}, g->stiffness, 0};
        memcpy(targets + 3 * a, g->X + 3 * g->attached[a], 3 * sizeof *targets);
    }
    for (int j = 0; j < 3 * g->node_count; j++)
        y[j] = g->x[j] + g->h * g->v[j] + g->h * g->h * g->gravity[j % 3];
    bool is_fast = test_is_fast();
    sn_elastic_def def = {.node_count = g->node_count,
                          .rest = g->X,
                          .tet_count = g->tet_count,
                          .tets = g->tets,
                          .material_count = 1,
                          .materials = &material,
                          .tet_material = tet_material,
                          .spring_count = g->attached_count,
                          .springs = springs,
                          .is_fast = is_fast};
    sn_elastic *elastic = NULL;
    sn_metric *metric = NULL;
    sn_minimizer *minimizer = NULL;
    bool anchored = true;
    sn_metric_def metric_def = {
        g->node_count, pinned, g->mass, piece, 1, &anchored, is_fast ? SN_FACTOR_FLOAT : SN_FACTOR_DOUBLE, 0,
        NULL,          0};
    assert_done(ctx, sn_elastic_create(ctx, &def, &elastic));
    assert_done(ctx, sn_metric_create(ctx, elastic, &metric_def, &metric));
    assert_done(ctx, sn_metric_factor(metric, 1 / (g->h * g->h)));
    assert_done(ctx, sn_minimizer_create(ctx, g->node_count, 5, &minimizer));
    sn_objective objective = {.ctx = ctx,
                              .elastic = elastic,
                              .node_count = g->node_count,
                              .pinned = pinned,
                              .mass = g->mass,
                              .rest = g->X,
                              .inertia = 1 / (g->h * g->h),
                              .y = y,
                              .targets = targets};
    sn_minimize_options options = {SN_SOLVER_LBFGS, 500, 0, 0.3, INFINITY};
    sn_minimize_result result;
    memcpy(x, y, sizeof x);
    assert_done(ctx, sn_minimize(minimizer, &objective, metric, &options, x, &result));
    assert_int_equal(result.status, SN_STEP_CONVERGED);
    assert_near(result.last.total * g->h * g->h, g->objective, 1e-12 * g->objective);
    for (int j = 0; j < 3 * g->node_count; j++)
        assert_near(x[j], g->solution[j], 1e-6 * 2);
    sn_minimizer_destroy(&minimizer);
    sn_metric_destroy(&metric);
    sn_elastic_destroy(&elastic);
    test_context_end(&ctx);
}

int main(void) {
    char path[4096];
    if (test_data_path("../golden/step-corotated-stretch.txt", path, sizeof path))
        golden = read_case(path);
    if (!golden) {
        puts("skipped: no reference values beside the real meshes");
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(reaches_the_reference)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(golden);
    return failed;
}
