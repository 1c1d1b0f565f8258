/// What an iteration of a step costs by stage, with all threads and with one, and in double precision:
/// projective dynamics of a body that stands on a plane and is pressed by a ball.
///
/// Every step spends the same budget, so that all steps do the same work. An iteration's cost is that of a
/// whole step over its iterations: choosing the start and the report at the end are in it. Stages are those
/// of the one step whose total is the median, so that they add up to it. Factorizations are not in it: steps
/// in which the active contacts changed are passed over, and a factorization is a row of its own.
#include "bench.h"
#include "bench_cholmod.h"
#include "bench_scene.h"

#include <stdio.h>
#include <stdlib.h>

enum { ITERATIONS = 10, MAX_SAMPLES = 64, MOST_STEPS = 100 };
/// s: a step, and the time that the body gets to come to rest under the ball.
static const double STEP = 1.0 / 60, SETTLE = 0.2;

typedef struct step_case {
    int32_t cells[3];
    const char *name, *name_one;
    int32_t samples;     ///< Steps to measure for each repetition.
    double local_target; ///< All threads against one.
    double read_target;  ///< The sweep against reading the factor; 0: none.
    bool is_quick;
} step_case;

static const step_case cases[] = {
    {{9, 9, 9}, "10 K tets", "10 K tets, 1 thread", 9, 1, 0, true},
    // What is promised of threads is promised for 100 K tets, of the bandwidth for 650 K.
    {{20, 20, 20}, "100 K tets", "100 K tets, 1 thread", 3, 1 / 1.6, 0, true},
    {{38, 37, 37}, "650 K tets", "650 K tets, 1 thread", 1, 1, 2, false},
};
enum { CASE_COUNT = sizeof cases / sizeof *cases };

/// What a run found.
typedef struct step_cost {
    sn_step_times ms;     ///< Per iteration.
    double lbfgs;         ///< ms of an iteration of L-BFGS
    double factorization; ///< ms
    double read_gb;       ///< 1e9 bytes of L, in float, that a sweep reads, forward and backward
    double peer;          ///< ms of CHOLMOD's solve of 3; 0: not measured
    int32_t tets, nodes, contacts;
} step_cost;

static bool fail(const bench_scene *scene, const char *what) {
    fprintf(stderr, "sinew-bench: step: %s: %s\n", what, sn_context_message(scene->context));
    return false;
}

static int compare_totals(const void *a, const void *b) {
    double x = ((const sn_step_info *)a)->ms.total, y = ((const sn_step_info *)b)->ms.total;
    return (x > y) - (x < y);
}

/// The step of median total among `count` steps that spent their budget and factored nothing.
static bool measure_step(bench_scene *scene, int32_t count, sn_step_info *out_median) {
    static const double END_OF_PRESS = BENCH_SCENE_PRESS + SETTLE;
    sn_step_info sample[MAX_SAMPLES];
    int32_t found = 0;
    for (int32_t step = 0; found < count && step < MOST_STEPS; step++) {
        bool is_settled = sn_state_time(scene->state) >= END_OF_PRESS;
        if (sn_step(scene->stepper, scene->state, STEP, &sample[found]) < 0)
            return fail(scene, "a step failed");
        found += is_settled && sample[found].iterations == ITERATIONS && sample[found].factorizations == 0;
    }
    if (found < count) {
        fprintf(stderr,
                "sinew-bench: step: of %d steps only %d spent their budget without a factorization, %d are "
                "wanted: "
                "the contacts do not come to rest\n",
                MOST_STEPS, (int)found, (int)count);
        return false;
    }
    qsort(sample, (size_t)count, sizeof *sample, compare_totals);
    *out_median = sample[count / 2];
    return true;
}

static sn_step_times share_out(const sn_step_times *ms) {
    sn_step_times share = {.detect = ms->detect / ITERATIONS,
                           .local = ms->local / ITERATIONS,
                           .gradient = ms->gradient / ITERATIONS,
                           .sweep = ms->sweep / ITERATIONS,
                           .total = ms->total / ITERATIONS};
    share.other = share.total - share.detect - share.local - share.gradient - share.sweep;
    return share;
}

/// A new step size is a new matrix.
static bool measure_factorization(bench_scene *scene, int32_t repetitions, double *out_ms) {
    double ms[MAX_SAMPLES];
    for (int32_t k = 0; k < repetitions; k++) {
        if (sn_step(scene->stepper, scene->state, STEP * (1 + 0.01 * (k + 1)), NULL) < 0)
            return fail(scene, "a step of another size failed");
        ms[k] = sn_stepper_get_report(scene->stepper).factor_ms;
    }
    *out_ms = bench_median(ms, repetitions);
    return true;
}

static bool measure_peer(const bench_options *options, const bench_scene *scene, double *out_ms) {
    sn_csr matrix = {0};
    if (bench_scene_matrix(scene, STEP, &matrix) < 0)
        return fail(scene, "the matrix could not be assembled");
    sn_factor_matrix lower = {matrix.n, matrix.start, matrix.column, matrix.value};
    bench_cholmod *peer = bench_cholmod_create(&lower, NULL);
    bool done = peer && bench_cholmod_numeric(peer);
    *out_ms = done ? bench_peer_time(options, bench_cholmod_solve, peer) : -1;
    bench_cholmod_destroy(peer);
    sn_csr_destroy(scene->context, &matrix);
    return *out_ms >= 0 || fail(scene, "CHOLMOD failed");
}

/// How a case is run.
typedef struct step_way {
    int32_t threads;
    sn_precision precision;
    bool with_peer;
} step_way;

static bool create_scene(const step_case *c, const step_way *way, sn_solver_method method,
                         bench_scene *scene) {
    bench_scene_def def = {
        .threads = way->threads, .precision = way->precision, .solver = sn_solver_def_default()};
    for (int k = 0; k < 3; k++)
        def.cells[k] = c->cells[k];
    def.solver.method = method;
    def.solver.iterations = ITERATIONS;
    def.solver.tolerance = 0;
    if (bench_scene_create(&def, scene) < 0)
        return fail(scene, "the scene could not be built");
    return true;
}

static bool measure_projective(const bench_options *options, const step_case *c, const step_way *way,
                               step_cost *cost) {
    bench_scene scene;
    sn_step_info step;
    bool done = create_scene(c, way, SN_SOLVER_PROJECTIVE, &scene) &&
                measure_step(&scene, options->repetitions * c->samples, &step) &&
                measure_factorization(&scene, options->repetitions, &cost->factorization) &&
                (!way->with_peer || measure_peer(options, &scene, &cost->peer));
    if (done) {
        sn_model_info info = sn_model_get_info(scene.model);
        cost->ms = share_out(&step.ms);
        cost->tets = info.tet_count;
        cost->nodes = info.node_count;
        cost->contacts = step.active_contacts;
        cost->read_gb = 2e-9 * sizeof(float) * (double)sn_stepper_get_report(scene.stepper).factor_nonzeros;
    }
    bench_scene_destroy(&scene);
    return done;
}

static bool measure_lbfgs(const bench_options *options, const step_case *c, const step_way *way,
                          step_cost *cost) {
    bench_scene scene;
    sn_step_info step;
    bool done = create_scene(c, way, SN_SOLVER_LBFGS, &scene) &&
                measure_step(&scene, options->repetitions * c->samples, &step);
    if (done)
        cost->lbfgs = step.ms.total / ITERATIONS;
    bench_scene_destroy(&scene);
    return done;
}

static bool measure(const bench_options *options, const step_case *c, const step_way *way, step_cost *cost) {
    *cost = (step_cost){0};
    return measure_projective(options, c, way, cost) && measure_lbfgs(options, c, way, cost);
}

static bench_row start_row(const char *name, int32_t threads, const step_cost *cost) {
    bench_row row = {.bench = "step", .unit = "ms per iteration"};
    snprintf(row.name, sizeof row.name, "%s", name);
    snprintf(row.note, sizeof row.note, "%d tets, %d nodes, %d contacts, %d iterations a step, %d thread%s",
             (int)cost->tets, (int)cost->nodes, (int)cost->contacts, ITERATIONS, (int)threads,
             threads == 1 ? "" : "s");
    return row;
}

static void add_stages(bench_report *report, const char *name, int32_t threads, const step_cost *cost) {
    const struct {
        const char *quantity;
        double ms;
    } stages[] = {{"local", cost->ms.local},         {"gradient", cost->ms.gradient},
                  {"sweep", cost->ms.sweep},         {"detect", cost->ms.detect},
                  {"other", cost->ms.other},         {"iteration", cost->ms.total},
                  {"iteration, L-BFGS", cost->lbfgs}};
    bench_row row = start_row(name, threads, cost);
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        snprintf(row.quantity, sizeof row.quantity, "%s", stages[i].quantity);
        row.ours = stages[i].ms;
        bench_report_add(report, &row);
    }
    snprintf(row.quantity, sizeof row.quantity, "%s", "factorization"), row.unit = "ms",
                                                                        row.ours = cost->factorization;
    bench_report_add(report, &row);
}

static void add_sweep_peers(const bench_options *options, bench_report *report, const step_case *c,
                            const step_cost *cost) {
    bench_row row = start_row(c->name, options->threads, cost);
    row.ours = cost->ms.sweep;
    snprintf(row.quantity, sizeof row.quantity, "%s", "sweep vs solve of 3");
    row.peer_name = "CHOLMOD", row.peer = cost->peer, row.target = 1;
    bench_report_add(report, &row);
    double read = 1e3 * cost->read_gb / options->read_bandwidth;
    snprintf(row.quantity, sizeof row.quantity, "%s", "sweep vs reading L");
    row.peer_name = "read bandwidth", row.peer = read, row.target = c->read_target;
    snprintf(row.note, sizeof row.note,
             "%.3g MB of L, read forward and backward: %.0f %% of the read bandwidth",
             1e3 * cost->read_gb / 2, 100 * read / cost->ms.sweep);
    bench_report_add(report, &row);
}

static void add_speedups(const bench_options *options, bench_report *report, const step_case *c,
                         const step_cost *all, const step_cost *one) {
    bench_row row = start_row(c->name, options->threads, all);
    row.peer_name = "Sinew, 1 thread";
    snprintf(row.quantity, sizeof row.quantity, "%s", "local vs 1 thread"), row.ours = all->ms.local,
                                                                            row.peer = one->ms.local;
    row.target = c->local_target;
    bench_report_add(report, &row);
    snprintf(row.quantity, sizeof row.quantity, "%s", "iteration vs 1 thread"), row.ours = all->ms.total,
                                                                                row.peer = one->ms.total;
    row.target = 1;
    bench_report_add(report, &row);
}

/// Stages at `precision: fast` against `accurate`.
static void add_precisions(const bench_options *options, bench_report *report, const step_case *c,
                           const step_cost *fast, const step_cost *accurate) {
    const struct {
        const char *quantity;
        double ours, peer;
    } stages[] = {{"local vs double", fast->ms.local, accurate->ms.local},
                  {"sweep vs double", fast->ms.sweep, accurate->ms.sweep},
                  {"iteration vs double", fast->ms.total, accurate->ms.total},
                  {"L-BFGS vs double", fast->lbfgs, accurate->lbfgs}};
    bench_row row = start_row(c->name, options->threads, fast);
    row.peer_name = "Sinew, precision: accurate", row.target = 1;
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        snprintf(row.quantity, sizeof row.quantity, "%s", stages[i].quantity);
        row.ours = stages[i].ours, row.peer = stages[i].peer;
        bench_report_add(report, &row);
    }
}

static bool run_case(const bench_options *options, bench_report *report, const step_case *c) {
    const step_way usual = {options->threads, SN_PRECISION_FAST, true};
    const step_way accurate = {options->threads, SN_PRECISION_ACCURATE, false};
    const step_way single = {1, SN_PRECISION_FAST, false};
    step_cost all, exact, one;
    if (!measure(options, c, &usual, &all) || !measure(options, c, &accurate, &exact))
        return false;
    add_stages(report, c->name, options->threads, &all);
    add_sweep_peers(options, report, c, &all);
    add_precisions(options, report, c, &all, &exact);
    if (options->threads == 1)
        return true;
    if (!measure(options, c, &single, &one))
        return false;
    add_stages(report, c->name_one, 1, &one);
    add_speedups(options, report, c, &all, &one);
    return true;
}

bool bench_step(const bench_options *options, bench_report *report) {
    for (int32_t i = 0; i < CASE_COUNT; i++)
        if (bench_is_chosen(options, cases[i].name, cases[i].is_quick) &&
            !run_case(options, report, &cases[i]))
            return false;
    return true;
}

void bench_step_list(void) {
    for (int32_t i = 0; i < CASE_COUNT; i++)
        printf("    %s\n", cases[i].name);
}
