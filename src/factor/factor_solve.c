#include "factor/factor_sweep.h"

#include <omp.h>

enum {
    /// Columns that one thread solves before all threads share the rows below them: more of them leave a
    /// longer part to one thread, fewer make threads meet more often.
    TOP_COLUMNS = 256,
    SMALL_ENTRIES = 16384,
    LOAD_PIECE = 1024
};

/// One sweep: the factor, the caller's vector and whether S takes part.
typedef struct sweep {
    const sn_factor *factor;
    const sn_sweep_kernels *kernels;
    sn_sweep_vector vector;
    bool with_kept;
} sweep;

static sweep sweep_make(const sn_factor *factor, int32_t width, double *x, bool with_kept) {
    return (sweep){factor, factor->kernels, {x, factor->unknown, factor->scale, width}, with_kept};
}

/// Copies unknowns at positions first.. to their places.
static void load(const sweep *w, int32_t first, int32_t count, int32_t place) {
    w->kernels->load(&w->vector, first, count, place, w->factor->places);
}

static void store(const sweep *w, int32_t first, int32_t count, int32_t place) {
    w->kernels->store(&w->vector, first, count, place, w->factor->places);
}

/// Position of the first unknown of the top; the places of the top follow it one to one.
static int32_t top_position(const sn_factor *factor) {
    return factor->info.n - (factor->place_count - factor->top_place);
}

/// Loads or stores the top (and the kept unknowns), shared by all threads of the region.
static void move_top(const sweep *w, void (*move)(const sweep *, int32_t, int32_t, int32_t), int32_t count) {
    int32_t position = top_position(w->factor), place = w->factor->top_place;
#pragma omp for schedule(static)
    for (int32_t piece = 0; piece < sn_pieces(count, LOAD_PIECE); piece++) {
        int32_t first = piece * LOAD_PIECE;
        move(w, position + first, count - first < LOAD_PIECE ? count - first : LOAD_PIECE, place + first);
    }
}

/// Loads or stores everything but the kept unknowns, on one thread.
static void move_free(const sweep *w, void (*move)(const sweep *, int32_t, int32_t, int32_t)) {
    const sn_factor *factor = w->factor;
    int32_t top = top_position(factor);
    for (int32_t g = 0; g < factor->group_count; g++) {
        const sn_factor_group *group = &factor->groups[g];
        move(w, factor->supernodes[group->first_supernode].first, group->column_count, group->place);
    }
    move(w, top, factor->free_count - top, factor->top_place);
}

/// Supernodes first..end-1.
static sn_sweep_run run_make(const sn_factor *factor, int32_t first, int32_t end) {
    return (sn_sweep_run){factor->supernodes, first, end, factor->values, factor->row_place, factor->places};
}

void sn_sweep_forward_node(const sn_factor *factor, int32_t s) {
    sn_sweep_run run = run_make(factor, s, s + 1);
    factor->kernels->forward(&run);
}

static void forward_group(const sweep *w, const sn_factor_group *group) {
    const sn_factor *factor = w->factor;
    load(w, factor->supernodes[group->first_supernode].first, group->column_count, group->place);
    w->kernels->clear(factor->places, group->place + group->column_count, group->boundary_count);
    sn_sweep_run run = run_make(factor, group->first_supernode, group->supernode_end);
    w->kernels->forward(&run);
}

static void backward_group(const sweep *w, const sn_factor_group *group) {
    const sn_factor *factor = w->factor;
    w->kernels->gather(factor->places, group->place + group->column_count, group->boundary_count,
                       factor->boundary_place + group->boundary_start);
    sn_sweep_run run = run_make(factor, group->first_supernode, group->supernode_end);
    w->kernels->backward(&run);
    store(w, factor->supernodes[group->first_supernode].first, group->column_count, group->place);
}

/// Adds to the top what the groups have for it, in the order of the groups.
static void add_boundaries(const sweep *w) {
    const sn_factor *factor = w->factor;
    for (int32_t g = 0; g < factor->group_count; g++) {
        const sn_factor_group *group = &factor->groups[g];
        w->kernels->scatter(factor->places, group->place + group->column_count, group->boundary_count,
                            factor->boundary_place + group->boundary_start);
    }
}

/// Whether a supernode above the groups is too little work to share: a barrier costs about as much as these
/// entries.
static bool is_small(const sn_supernode *node) {
    return (int64_t)node->width * ((int64_t)node->width + node->row_count) < SMALL_ENTRIES;
}

/// Supernodes that all threads of a region share, one after the other: those above the groups, or S.
typedef struct top {
    const sn_sweep_kernels *kernels;
    sn_sweep_run run;
} top;

static top top_of_factor(const sn_factor *factor) {
    return (top){factor->kernels, run_make(factor, factor->first_top, factor->supernode_count)};
}

static top top_of_kept(const sn_factor *factor) {
    return (top){factor->kept_kernels,
                 {&factor->kept_node, 0, 1, factor->kept_values, factor->row_place, factor->kept_places}};
}

/// Columns [begin, end) of block `k` of a supernode that threads share.
static sn_sweep_block block_make(const top *t, const sn_supernode *node, int32_t k) {
    int32_t begin = k * TOP_COLUMNS, left = node->width - begin;
    return (sn_sweep_block){node,
                            (const uint8_t *)t->run.values + node->value_start * t->kernels->value_size,
                            t->run.row_place + node->row_start,
                            t->run.places,
                            begin,
                            begin + (left < TOP_COLUMNS ? left : TOP_COLUMNS)};
}

/// One supernode alone.
static sn_sweep_run top_run(const top *t, int32_t s) {
    sn_sweep_run run = t->run;
    run.first = s;
    run.end = s + 1;
    return run;
}

/// All threads of the region make this call. What the master alone does needs no barrier before more of the
/// same.
static void forward_top(const top *t) {
    int32_t thread = omp_get_thread_num(), team = omp_get_num_threads();
    for (int32_t s = t->run.first; s < t->run.end; s++) {
        const sn_supernode *node = &t->run.nodes[s];
        if (is_small(node)) {
            sn_sweep_run run = top_run(t, s);
#pragma omp master
            t->kernels->forward(&run);
            continue;
        }
        for (int32_t k = 0; k < sn_pieces(node->width, TOP_COLUMNS); k++) {
            sn_sweep_block block = block_make(t, node, k);
#pragma omp master
            t->kernels->forward_corner(&block);
#pragma omp barrier
            t->kernels->forward_rows(&block, thread, team);
#pragma omp barrier
        }
    }
}

static void backward_top(const top *t) {
    int32_t thread = omp_get_thread_num(), team = omp_get_num_threads();
    for (int32_t s = t->run.end - 1; s >= t->run.first; s--) {
        const sn_supernode *node = &t->run.nodes[s];
        if (is_small(node)) {
            sn_sweep_run run = top_run(t, s);
#pragma omp master
            t->kernels->backward(&run);
            continue;
        }
        for (int32_t k = sn_pieces(node->width, TOP_COLUMNS) - 1; k >= 0; k--) {
            sn_sweep_block block = block_make(t, node, k);
#pragma omp barrier
            t->kernels->backward_rows(&block, thread, team);
#pragma omp barrier
#pragma omp master
            t->kernels->backward_corner(&block);
        }
    }
}

/// Solves with S what stands in the kept places. Every thread of the region calls this.
static void solve_kept(const sweep *w) {
    const sn_factor *factor = w->factor;
    if (factor->kept_count == 0)
        return;
    top kept = top_of_kept(factor);
#pragma omp single
    {
        w->kernels->widen(factor->places, sn_kept_place(factor), factor->kept_count, factor->kept_doubles);
        kept.kernels->narrow(factor->kept_doubles, factor->kept_count, factor->kept_places, 0);
    }
    forward_top(&kept);
    backward_top(&kept);
#pragma omp barrier
#pragma omp single
    {
        kept.kernels->widen(factor->kept_places, 0, factor->kept_count, factor->kept_doubles);
        w->kernels->narrow(factor->kept_doubles, factor->kept_count, factor->places, sn_kept_place(factor));
    }
}

/// Threads for a sweep: one where it takes less time than waking others would, above all on a busy machine.
static int32_t sweep_threads(const sn_factor *factor) {
    const int64_t worth_waking = 1000000;
    return factor->info.nonzeros < worth_waking ? 1 : sn_context_thread_count(factor->context);
}

/// Forward sweep, and with w->with_kept the solution with S. Called outside parallel regions.
static void forward(const sweep *w) {
    const sn_factor *factor = w->factor;
    const top t = top_of_factor(factor);
#pragma omp parallel num_threads(sweep_threads(factor))
    {
        move_top(w, load, factor->place_count - factor->top_place);
#pragma omp for schedule(dynamic, 1)
        for (int32_t g = 0; g < factor->group_count; g++)
            forward_group(w, &factor->groups[g]);
#pragma omp single
        add_boundaries(w);
        forward_top(&t);
#pragma omp barrier
        if (w->with_kept)
            solve_kept(w);
    }
}

/// Backward sweep; the kept places hold the kept solution.
static void backward(const sweep *w) {
    const sn_factor *factor = w->factor;
    const top t = top_of_factor(factor);
#pragma omp parallel num_threads(sweep_threads(factor))
    {
        backward_top(&t);
#pragma omp barrier
#pragma omp for schedule(dynamic, 1)
        for (int32_t g = factor->group_count - 1; g >= 0; g--)
            backward_group(w, &factor->groups[g]);
        move_top(w, store, factor->place_count - factor->top_place);
    }
}

static sn_status check_sweep(const sn_factor *factor, int32_t width, const void *x) {
    if (!factor->has_numbers)
        return sn_fail(factor->context, SN_ERR_INVALID_ARGUMENT,
                       "the factor holds no numbers: factor a matrix first");
    if (width < 1 || width > 3)
        return sn_fail(factor->context, SN_ERR_INVALID_ARGUMENT, "%d right-hand sides; 1 to 3 are allowed",
                       (int)width);
    if (!x && factor->info.n > 0)
        return sn_fail(factor->context, SN_ERR_INVALID_ARGUMENT, "no right-hand side");
    return SN_OK;
}

static sn_status check_kept_rows(const sn_factor *factor, const double *kept_rows) {
    if (!kept_rows && factor->kept_count > 0)
        return sn_fail(factor->context, SN_ERR_INVALID_ARGUMENT, "no array for the %d kept rows",
                       (int)factor->kept_count);
    return SN_OK;
}

sn_status sn_factor_solve(sn_factor *factor, int32_t width, double *x) {
    if (!factor)
        return SN_ERR_INVALID_ARGUMENT;
    sn_status status = SN_OK;
    SN_TRY(check_sweep(factor, width, x));
    SN_TRY(sn_schur_factor(factor));
    sweep w = sweep_make(factor, width, x, true);
    forward(&w);
    backward(&w);

cleanup:
    return status;
}

/// Right-hand sides enter scaled and what is left of them leaves unscaled; solutions the other way round.
static void store_kept(const sweep *w, double *kept_rows) {
    const sn_factor *factor = w->factor;
    const double *scale = factor->scale + sn_kept_place(factor);
    int32_t width = w->vector.width;
    w->kernels->widen(factor->places, sn_kept_place(factor), factor->kept_count, factor->kept_doubles);
    for (int32_t i = 0; i < factor->kept_count; i++)
        for (int32_t k = 0; k < width; k++)
            kept_rows[(int64_t)i * width + k] = factor->kept_doubles[(int64_t)i * 4 + k] / scale[i];
}

static void load_kept(const sweep *w, const double *kept_rows) {
    const sn_factor *factor = w->factor;
    const double *scale = factor->scale + sn_kept_place(factor);
    int32_t width = w->vector.width;
    for (int32_t i = 0; i < factor->kept_count; i++)
        for (int32_t k = 0; k < 4; k++)
            factor->kept_doubles[(int64_t)i * 4 + k] =
                k < width ? kept_rows[(int64_t)i * width + k] / scale[i] : 0;
    w->kernels->narrow(factor->kept_doubles, factor->kept_count, factor->places, sn_kept_place(factor));
}

sn_status sn_factor_forward(sn_factor *factor, int32_t width, double *b, double *kept_rows) {
    if (!factor)
        return SN_ERR_INVALID_ARGUMENT;
    sn_status status = SN_OK;
    SN_TRY(check_sweep(factor, width, b));
    SN_TRY(check_kept_rows(factor, kept_rows));
    sweep w = sweep_make(factor, width, b, false);
    forward(&w);
    // y1 is the same for the scaled matrix, so it is stored as it is.
    w.vector.scale = NULL;
    move_free(&w, store);
    store_kept(&w, kept_rows);

cleanup:
    return status;
}

sn_status sn_factor_backward(sn_factor *factor, int32_t width, double *b, const double *kept_rows) {
    if (!factor)
        return SN_ERR_INVALID_ARGUMENT;
    sn_status status = SN_OK;
    SN_TRY(check_sweep(factor, width, b));
    SN_TRY(check_kept_rows(factor, kept_rows));
    sweep w = sweep_make(factor, width, b, false);
    w.vector.scale = NULL;
    move_free(&w, load);
    w.vector.scale = factor->scale;
    load_kept(&w, kept_rows);
    backward(&w);

cleanup:
    return status;
}
