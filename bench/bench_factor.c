/// The partial factor against CHOLMOD and MUMPS: numeric phase, solve with three right-hand sides, fill and
/// operations of the kept-last order against the free one, memory, partial refactorization, growth.
#include "bench.h"
#include "bench_cholmod.h"
#include "bench_matrix.h"
#include "bench_mumps.h"

#include "factor/factor_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Sizes of the kept sets, in one patch of the surface.
static const int32_t kept_counts[] = {0, 1434, 1846, 3933};
enum { KEPT_SETS = 4, NONE = 1, MOST = 1 | 8, ALL = 15, REGION = BENCH_REGION };

typedef struct bench_case {
    const char *name;
    bench_matrix_def def;
    int32_t kept_sets;     ///< Bit k: measured with kept_counts[k]; the others are only analyzed.
    bool is_quick, is_big; ///< Part of a quick run; measured once only.
    double bandwidth;      ///< Least part of the read bandwidth that a sweep reaches; 0: no goal.
} bench_case;

static const bench_case cases[] = {
    {"Kuhn 48^3 all", {BENCH_KUHN, {47, 47, 47}, NULL, false}, MOST, false, false, 0.5},
    {"Kuhn 48^3", {BENCH_KUHN, {47, 47, 47}, NULL, true}, MOST, false, false, 0.5},
    {"Kuhn bar all", {BENCH_KUHN, {123, 29, 29}, NULL, false}, MOST, false, false, 0.5},
    {"Kuhn bar", {BENCH_KUHN, {123, 29, 29}, NULL, true}, MOST, false, false, 0.5},
    {"BCC box all", {BENCH_BCC_BOX, {37, 37, 36}, NULL, false}, MOST, false, false, 0.5},
    {"BCC box", {BENCH_BCC_BOX, {37, 37, 36}, NULL, true}, MOST, false, false, 0.35},
    {"BCC arm all", {BENCH_LATTICE, {167}, "arm.obj", false}, MOST, false, false, 0.5},
    {"BCC arm", {BENCH_LATTICE, {167}, "arm.obj", true}, ALL, false, false, 0.35},
    {"squirrel", {BENCH_FILE, {0}, "squirrel_modified.mesh", true}, NONE, false, false, 0},
    {"bar", {BENCH_FILE, {0}, "bar66792.mesh", true}, NONE, false, false, 0},
    {"BCC 10 K", {BENCH_BCC_BOX, {16, 16, 16}, NULL, true}, NONE | 2, true, false, 0},
    {"BCC 20 K", {BENCH_BCC_BOX, {20, 20, 20}, NULL, true}, NONE, false, false, 0},
    {"BCC 50 K", {BENCH_BCC_BOX, {28, 28, 28}, NULL, true}, NONE, false, false, 0},
    {"BCC 200 K", {BENCH_BCC_BOX, {45, 45, 45}, NULL, true}, NONE, false, true, 0},
    {"BCC 500 K", {BENCH_BCC_BOX, {62, 61, 61}, NULL, true}, NONE, false, true, 0},
};
enum { CASE_COUNT = sizeof cases / sizeof *cases };

/// What is being measured.
typedef struct subject {
    const bench_options *options;
    bench_report *report;
    const bench_case *which;
    const bench_matrix *matrix;
    int32_t kept_count, repetitions;
    double free_nonzeros, free_flops; ///< Of CHOLMOD with METIS and nothing kept.
    double free_analysis;             ///< ms
    int32_t *free_order;              ///< [n] its order of elimination
} subject;

typedef struct our_run {
    sn_context *context;
    sn_factor *factor;
    sn_factor_matrix matrix;
    const int32_t *region;
    double *x;
    double analysis; ///< ms
} our_run;

static void run_end(our_run *run) {
    free(run->x);
    sn_factor_destroy(&run->factor);
    sn_context_destroy(&run->context);
}

static bool run_begin(const subject *s, const sn_factor_def *def, our_run *run) {
    sn_context_def context = sn_context_def_default();
    context.thread_count = s->options->threads;
    *run = (our_run){.matrix = bench_matrix_view(s->matrix), .region = s->matrix->zone};
    run->x = malloc(3 * sizeof *run->x * (size_t)run->matrix.n);
    double begin = bench_clock();
    bool done = run->x && sn_context_create(&context, &run->context) == SN_OK &&
                sn_factor_create(run->context, &run->matrix, def, &run->factor) == SN_OK;
    run->analysis = 1e3 * (bench_clock() - begin);
    if (!done) {
        fprintf(stderr, "factor: %s\n", run->context ? sn_context_message(run->context) : "no memory");
        run_end(run);
    }
    return done;
}

/// The numeric phase to the end: S is factored, too, as a peer does that does not know it is to be kept.
static bool run_numeric(void *data) {
    our_run *run = data;
    return sn_factor_numeric(run->factor, &run->matrix) == SN_OK && sn_schur_factor(run->factor) == SN_OK;
}

/// L11, L21 and S, as sn_factor_update() leaves them.
static bool run_numeric_alone(void *data) {
    our_run *run = data;
    return sn_factor_numeric(run->factor, &run->matrix) == SN_OK;
}

static bool run_update(void *data) {
    our_run *run = data;
    return sn_factor_update(run->factor, &run->matrix, REGION, run->region) == SN_OK;
}

static bool run_solve(void *data) {
    our_run *run = data;
    for (int64_t i = 0; i < 3 * (int64_t)run->matrix.n; i++)
        run->x[i] = 1;
    return sn_factor_solve(run->factor, 3, run->x) == SN_OK;
}

/// Name of a case in rows and for --only.
static void name_subject(const bench_case *which, int32_t kept_count, char *name, size_t size) {
    if (kept_count > 0)
        snprintf(name, size, "%s, %d kept", which->name, (int)kept_count);
    else
        snprintf(name, size, "%s", which->name);
}

static void add_row(const subject *s, const char *quantity, const char *unit, double ours,
                    const char *peer_name, double peer, double target, const char *note) {
    bench_row row = {.bench = "factor",
                     .unit = unit,
                     .ours = ours,
                     .peer_name = peer_name,
                     .peer = peer,
                     .target = target};
    name_subject(s->which, s->kept_count, row.name, sizeof row.name);
    snprintf(row.quantity, sizeof row.quantity, "%s", quantity);
    snprintf(row.note, sizeof row.note, "%d nodes, %d threads%s%s", (int)s->matrix->a.n,
             (int)s->options->threads, note[0] ? ", " : "", note);
    bench_report_add(s->report, &row);
}

/// Time of a peer's numeric phase and solve, the better of 1 and 2 threads for each; negative after a
/// failure, 0: not measured.
typedef struct peer_times {
    double numeric, solve;
} peer_times;

typedef struct all_peers {
    peer_times cholmod, mumps;
} all_peers;

/// `order` as in bench_cholmod_create().
static peer_times time_cholmod(const subject *s, const int32_t *order) {
    peer_times result = {-1, -1};
    sn_factor_matrix matrix = bench_matrix_view(s->matrix);
    bench_options options = *s->options;
    bench_cholmod *peer = bench_cholmod_create(&matrix, order);
    if (!peer)
        return result;
    options.repetitions = s->repetitions;
    result.numeric = bench_peer_time(&options, bench_cholmod_numeric, peer);
    result.solve = bench_peer_time(&options, bench_cholmod_solve, peer);
    bench_cholmod_destroy(peer);
    return result;
}

/// The largest residual with which a peer's solution counts as one.
static const double RESIDUAL = 1e-9;

static peer_times time_mumps(const subject *s, const int32_t *order) {
    peer_times result = {0, 0};
    sn_factor_matrix matrix = bench_matrix_view(s->matrix);
    bench_options options = *s->options;
    if (!bench_mumps_is_there() || s->which->is_big)
        return result;
    bench_mumps *peer = bench_mumps_create(&matrix, order, s->kept_count, s->matrix->patch);
    if (!peer)
        return (peer_times){-1, -1};
    options.repetitions = 1; // it takes several times as long as the others
    result.numeric = bench_peer_time(&options, bench_mumps_numeric, peer);
    result.solve = bench_peer_time(&options, bench_mumps_solve, peer);
    double residual = bench_mumps_residual(peer);
    if (!(residual <= RESIDUAL)) {
        fprintf(stderr, "factor: MUMPS leaves a residual of %g\n", residual);
        result = (peer_times){-1, -1};
    }
    bench_mumps_destroy(peer);
    return result;
}

static sn_factor_def kept_def(const subject *s) {
    sn_factor_def def = sn_factor_def_default();
    def.kept = s->matrix->patch;
    def.kept_count = s->kept_count;
    return def;
}

/// The goals hold for the matrices of about 111 K nodes; the others have none (0).
static double goal_of(const subject *s, double goal) {
    return s->which->bandwidth > 0 ? goal : 0;
}

/// Fill and operations with S factored, against the free order. Without kept unknowns also against what
/// theory says of nested dissection in three dimensions: these numbers approach a constant.
static void report_order(const subject *s, const our_run *run) {
    sn_factor_info info = sn_factor_get_info(run->factor);
    double n = s->matrix->a.n, nonzeros = (double)(info.nonzeros + info.kept_nonzeros);
    double dense = sn_front_flops(s->kept_count, 0), flops = info.flops + dense;
    char note[64];
    snprintf(note, sizeof note, "%.3g of them for the factor of S", dense);
    bool is_free = s->kept_count == 0;
    add_row(s, "analysis", "ms", run->analysis, "CHOLMOD free", s->free_analysis, 0, "once");
    add_row(s, "nnz(L)", "1", nonzeros, "CHOLMOD free", s->free_nonzeros, goal_of(s, is_free ? 1.05 : 1.4),
            "");
    add_row(s, "flops", "1", flops, "CHOLMOD free", s->free_flops, goal_of(s, is_free ? 1.15 : 1.85), note);
    if (is_free) {
        add_row(s, "nnz(L) / n^(4/3)", "1", nonzeros / pow(n, 4.0 / 3), NULL, 0, 0, "");
        add_row(s, "flops / n^2", "1", flops / (n * n), NULL, 0, 0, "");
    }
}

/// Memory against L and S as stored and, like the operations, against what was predicted before any numbers.
static void report_sizes(const subject *s, const our_run *run, size_t size, double predicted) {
    sn_factor_info info = sn_factor_get_info(run->factor);
    double stored = (double)size * (double)info.nonzeros + 8 * (double)info.kept_nonzeros;
    char quantity[32];
    snprintf(quantity, sizeof quantity, "memory %d", (int)size);
    add_row(s, quantity, "MB", 1e-6 * (info.memory_bytes - info.update_bytes), "L + S", 1e-6 * stored,
            goal_of(s, 1.5),
            "all that the factor holds: also room for fronts, for vectors, for entries of A");
    snprintf(quantity, sizeof quantity, "peak %d", (int)size);
    add_row(s, quantity, "MB", 1e-6 * (double)sn_context_memory_peak(run->context), "L + S", 1e-6 * stored,
            goal_of(s, 1.5), "the most at any time, the analysis included but not what METIS takes");
    snprintf(quantity, sizeof quantity, "bytes %d", (int)size);
    add_row(s, quantity, "MB", 1e-6 * (double)sn_context_memory_in_use(run->context), "predicted",
            1e-6 * predicted, 1.02, "counted by the allocator after the numeric phase and solves");
    if (size == sizeof(double))
        add_row(s, "flops done", "1", info.done_flops, "predicted", info.work_flops, 1.02, "S not factored");
}

/// A time of ours against both peers; goals are set against CHOLMOD.
static void add_times(const subject *s, const char *quantity, double ours, double cholmod, double mumps,
                      double target, const char *note) {
    add_row(s, quantity, "ms", ours, "CHOLMOD", cholmod, goal_of(s, target), note);
    if (mumps > 0)
        add_row(s, quantity, "ms", ours, "MUMPS", mumps, 0, note);
}

/// Solve with three right-hand sides, also as a part of the read bandwidth, by entries without padding.
static void report_solve(const subject *s, our_run *run, const all_peers *peers, const char *name,
                         size_t size, double target) {
    char quantity[32], note[64];
    sn_factor_info info = sn_factor_get_info(run->factor);
    double time = bench_time(s->repetitions, run_solve, run);
    double bytes = 2 * (double)size * (double)(info.nonzeros + info.kept_nonzeros);
    double least = 1e-6 * bytes / s->options->read_bandwidth;
    snprintf(quantity, sizeof quantity, "solve3 %s", name);
    add_times(s, quantity, time, peers->cholmod.solve, peers->mumps.solve, target, "");
    snprintf(quantity, sizeof quantity, "sweep %s", name);
    snprintf(note, sizeof note, "%.0f%% of %.1f GB/s", 100 * least / time, s->options->read_bandwidth);
    if (s->which->bandwidth > 0)
        add_row(s, quantity, "ms", time, "read bandwidth", least, 1 / s->which->bandwidth, note);
}

/// One storage of L: its bytes, and the goals for numeric phase and solve (0: not measured).
typedef struct storage_goal {
    sn_factor_storage storage;
    sn_factor_fronts fronts;
    const char *name;
    size_t size;
    double numeric, solve;
} storage_goal;

/// Numeric phase and solve with one storage.
static bool measure_storage(const subject *s, const storage_goal *goal, const all_peers *peers) {
    our_run run;
    char quantity[32], note[96];
    sn_factor_def def = kept_def(s);
    def.storage = goal->storage;
    def.fronts = goal->fronts;
    if (!run_begin(s, &def, &run))
        return false;
    double predicted = sn_factor_get_info(run.factor).memory_bytes;
    double numeric = bench_time(s->repetitions, run_numeric, &run);
    bool done = numeric >= 0;
    if (done) {
        sn_factor_info info = sn_factor_get_info(run.factor);
        snprintf(quantity, sizeof quantity, "numeric %s", goal->name);
        snprintf(note, sizeof note, "%.1f GF/s, %s", 1e-6 * info.work_flops / numeric,
                 s->kept_count == 0 ? "own orders" : "same order, S factored by both");
        add_times(s, quantity, numeric, peers->cholmod.numeric, peers->mumps.numeric, goal->numeric, note);
        if (goal->solve > 0) {
            report_solve(s, &run, peers, goal->name, goal->size, goal->solve);
            report_sizes(s, &run, goal->size, predicted);
        }
    } else {
        fprintf(stderr, "factor: %s failed: %s\n", s->which->name, sn_context_message(run.context));
    }
    run_end(&run);
    return done;
}

/// The peers: with an order of their own if nothing is kept, else with ours. Reports what ours is like.
static bool measure_peers(const subject *s, all_peers *out_peers) {
    our_run run;
    sn_factor_def def = kept_def(s);
    if (!run_begin(s, &def, &run))
        return false;
    bool is_free = s->kept_count == 0;
    report_order(s, &run);
    out_peers->cholmod = time_cholmod(s, is_free ? NULL : run.factor->unknown);
    out_peers->mumps = time_mumps(s, is_free ? s->free_order : run.factor->unknown);
    run_end(&run);
    if (out_peers->cholmod.numeric < 0 || out_peers->cholmod.solve < 0)
        fprintf(stderr, "factor: CHOLMOD failed with %s\n", s->which->name);
    if (out_peers->mumps.numeric < 0 || out_peers->mumps.solve < 0)
        fprintf(stderr, "factor: MUMPS failed with %s\n", s->which->name);
    return out_peers->cholmod.numeric >= 0 && out_peers->cholmod.solve >= 0;
}

/// The analysis alone.
static bool measure_order(const subject *s) {
    our_run run;
    sn_factor_def def = kept_def(s);
    if (!run_begin(s, &def, &run))
        return false;
    report_order(s, &run);
    run_end(&run);
    return true;
}

static bool measure_factor(const subject *s) {
    static const storage_goal goals[] = {
        {SN_FACTOR_DOUBLE, SN_FACTOR_FRONTS_DOUBLE, "double", 8, 0.8, 1},
        {SN_FACTOR_FLOAT, SN_FACTOR_FRONTS_FLOAT, "float", 4, 0.6, 1.0 / 5},
        {SN_FACTOR_HALF, SN_FACTOR_FRONTS_FLOAT, "half", 2, 0.6, 1.0 / 6},
        {SN_FACTOR_FLOAT, SN_FACTOR_FRONTS_DOUBLE, "float of double", 4, 0.8, 0},
    };
    all_peers peers;
    if (!measure_peers(s, &peers))
        return false;
    for (size_t k = 0; k < sizeof goals / sizeof *goals; k++)
        if (!measure_storage(s, &goals[k], &peers))
            return false;
    return true;
}

/// Operations on the elimination-tree paths from the region to the root, as a part of all.
static double path_share(const our_run *run) {
    const sn_factor *factor = run->factor;
    double flops = 0;
    bool *mark = calloc((size_t)factor->supernode_count, sizeof *mark);
    for (int32_t k = 0; mark && k < REGION; k++)
        sn_factor_mark_path(factor, factor->node_of[run->region[k]], mark);
    for (int32_t i = 0; mark && i < factor->supernode_count; i++)
        if (mark[i])
            flops += sn_front_flops(factor->supernodes[i].width, factor->supernodes[i].row_count);
    free(mark);
    return flops / factor->info.work_flops;
}

/// A change in 100 nodes of one region, against its share of the time of a full numeric phase.
static bool measure_update(const subject *s, const sn_factor_def *def, const char *quantity) {
    our_run run;
    char note[128];
    if (!run_begin(s, def, &run))
        return false;
    double full = bench_time(s->repetitions, run_numeric_alone, &run), share = path_share(&run);
    double update = bench_time(s->repetitions, run_update, &run);
    sn_factor_info info = sn_factor_get_info(run.factor);
    snprintf(note, sizeof note, "share %.1f%% (done %.1f%%) of %.0f ms, %.0f MB of updates kept", 100 * share,
             100 * info.done_flops / info.work_flops, full, 1e-6 * info.update_bytes);
    bool done = full >= 0 && update >= 0;
    if (done)
        add_row(s, quantity, "ms", update, "share of full", share * full, goal_of(s, 1.2), note);
    run_end(&run);
    return done;
}

static bool measure_updates(const subject *s) {
    sn_factor_def def = kept_def(s);
    def.keep = SN_FACTOR_KEEP_ALL;
    if (!measure_update(s, &def, "update"))
        return false;
    def.late = s->matrix->zone;
    def.late_count = s->matrix->zone_count;
    def.keep = SN_FACTOR_KEEP_LATE;
    return measure_update(s, &def, "update late");
}

/// CHOLMOD's analysis with nothing kept: what the kept-last orders are held against.
static bool analyze_free(subject *s) {
    sn_factor_matrix matrix = bench_matrix_view(s->matrix);
    double begin = bench_clock();
    bench_cholmod *peer = bench_cholmod_create(&matrix, NULL);
    s->free_analysis = 1e3 * (bench_clock() - begin);
    size_t size = (size_t)matrix.n * sizeof *s->free_order;
    s->free_order = malloc(size);
    bool done = peer && s->free_order;
    if (done) {
        memcpy(s->free_order, bench_cholmod_order(peer), size);
        s->free_nonzeros = bench_cholmod_nonzeros(peer);
        s->free_flops = bench_cholmod_flops(peer);
    }
    bench_cholmod_destroy(peer);
    return done;
}

static bool is_chosen(const bench_options *options, const bench_case *which, int32_t kept_set) {
    char name[40];
    name_subject(which, kept_counts[kept_set], name, sizeof name);
    return bench_is_chosen(options, name, which->is_quick);
}

/// All kept sets that are chosen and fit into the patch.
static bool measure_kept_sets(subject *s) {
    bool done = analyze_free(s);
    for (int32_t k = 0; done && k < KEPT_SETS; k++) {
        s->kept_count = kept_counts[k];
        if (s->kept_count > s->matrix->patch_count || !is_chosen(s->options, s->which, k))
            continue;
        if (s->which->kept_sets & 1 << k)
            done = measure_factor(s) && (s->which->is_big || measure_updates(s));
        else
            done = measure_order(s);
    }
    free(s->free_order);
    return done;
}

static bool measure_case(const bench_options *options, bench_report *report, const bench_case *which) {
    bench_matrix matrix;
    bool is_missing = false;
    if (!bench_matrix_create(&which->def, &matrix, &is_missing)) {
        if (is_missing)
            printf("factor   %s left out: %s is not there\n", which->name, which->def.file);
        return is_missing;
    }
    subject s = {.options = options,
                 .report = report,
                 .which = which,
                 .matrix = &matrix,
                 .repetitions = which->is_big ? 1 : options->repetitions};
    bool done = measure_kept_sets(&s);
    bench_matrix_destroy(&matrix);
    return done;
}

static bool is_any_chosen(const bench_options *options, const bench_case *which) {
    bool is_any = false;
    for (int32_t k = 0; k < KEPT_SETS; k++)
        is_any = is_any || is_chosen(options, which, k);
    return is_any;
}

void bench_factor_list(void) {
    for (int32_t c = 0; c < CASE_COUNT; c++)
        for (int32_t k = 0; k < KEPT_SETS; k++) {
            char name[40];
            name_subject(&cases[c], kept_counts[k], name, sizeof name);
            printf("    %s%s\n", name, cases[c].kept_sets & 1 << k ? "" : " (order only)");
        }
}

bool bench_factor(const bench_options *options, bench_report *report) {
    char settings[256];
    printf("factor   %s\n", bench_cholmod_settings(settings, sizeof settings));
    printf("factor   %s\n", bench_mumps_settings(settings, sizeof settings));
    for (int32_t c = 0; c < CASE_COUNT; c++)
        if (is_any_chosen(options, &cases[c]) && !measure_case(options, report, &cases[c]))
            return false;
    return true;
}
