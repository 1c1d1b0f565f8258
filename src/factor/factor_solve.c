#include "factor/factor_sweep.h"

#include <omp.h>
#include <string.h>

enum {
    /// Columns that one thread solves before all threads share the rows below them: more of them leave a
    /// longer part to one thread, fewer make threads meet more often.
    TOP_COLUMNS = 512,
    SMALL_ENTRIES = 16384,
    LOAD_PIECE = 1024
};

/// One sweep: the factor, the caller's vector and how wide it is.
typedef struct sweep {
    const sn_factor *factor;
    sn_place *places;
    double *x; ///< [n, width] by unknown
    int32_t width;
    bool with_kept; ///< Whether S takes part.
} sweep;

static sweep sweep_make(const sn_factor *factor, int32_t width, double *x, bool with_kept) {
    return (sweep){factor, (sn_place *)factor->places, x, width, with_kept};
}

static sn_sweep_block block_make(const sweep *w, const sn_supernode *node, int32_t begin, int32_t end) {
    const sn_factor *factor = w->factor;
    int64_t rows = (int64_t)node->width + node->row_count;
    return (sn_sweep_block){node,
                            factor->values + node->value_start + sn_unit_start(rows, begin / 8),
                            factor->row_place + node->row_start,
                            w->places,
                            begin,
                            end};
}

/// Copies unknowns at positions first.. to their places.
static void load(const sweep *w, int32_t first, int32_t count, int32_t place) {
    for (int32_t i = 0; i < count; i++) {
        const double *source = w->x + (int64_t)w->factor->unknown[first + i] * w->width;
        sn_place value = {0};
        for (int32_t k = 0; k < w->width; k++)
            value[k] = source[k];
        w->places[place + i] = value;
    }
}

static void store(const sweep *w, int32_t first, int32_t count, int32_t place) {
    for (int32_t i = 0; i < count; i++) {
        double *target = w->x + (int64_t)w->factor->unknown[first + i] * w->width;
        for (int32_t k = 0; k < w->width; k++)
            target[k] = w->places[place + i][k];
    }
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

/// One supernode on one thread.
static void forward_node(const sweep *w, const sn_supernode *node) {
    sn_sweep_block block = block_make(w, node, 0, node->width);
    sn_forward_corner(&block);
    sn_forward_rows(&block, 0, node->row_count);
}

static void backward_node(const sweep *w, const sn_supernode *node) {
    sn_sweep_block block = block_make(w, node, 0, node->width);
    sn_backward_rows(&block, 0, sn_pieces(node->width, 8));
    sn_backward_corner(&block);
}

static void forward_group(const sweep *w, const sn_factor_group *group) {
    const sn_factor *factor = w->factor;
    load(w, factor->supernodes[group->first_supernode].first, group->column_count, group->place);
    memset(w->places + group->place + group->column_count, 0,
           (size_t)group->boundary_count * sizeof(sn_place));
    for (int32_t s = group->first_supernode; s < group->supernode_end; s++)
        forward_node(w, &factor->supernodes[s]);
}

static void backward_group(const sweep *w, const sn_factor_group *group) {
    const sn_factor *factor = w->factor;
    const int32_t *boundary = factor->boundary_place + group->boundary_start;
    sn_place *local = w->places + group->place + group->column_count;
    for (int32_t i = 0; i < group->boundary_count; i++)
        local[i] = w->places[boundary[i]];
    for (int32_t s = group->supernode_end - 1; s >= group->first_supernode; s--)
        backward_node(w, &factor->supernodes[s]);
    store(w, factor->supernodes[group->first_supernode].first, group->column_count, group->place);
}

/// Adds to the top what the groups have for it, in the order of the groups.
static void add_boundaries(const sweep *w) {
    const sn_factor *factor = w->factor;
    for (int32_t g = 0; g < factor->group_count; g++) {
        const sn_factor_group *group = &factor->groups[g];
        const int32_t *boundary = factor->boundary_place + group->boundary_start;
        const sn_place *local = w->places + group->place + group->column_count;
        for (int32_t i = 0; i < group->boundary_count; i++)
            w->places[boundary[i]] += local[i];
    }
}

/// The part of 0..count-1 that falls to the calling thread, in multiples of `grain`.
static void share(int32_t count, int32_t grain, int32_t *out_first, int32_t *out_last) {
    int64_t grains = sn_pieces(count, grain), thread = omp_get_thread_num(), team = omp_get_num_threads();
    int64_t first = grains * thread / team * grain, last = grains * (thread + 1) / team * grain;
    *out_first = first < count ? (int32_t)first : count;
    *out_last = last < count ? (int32_t)last : count;
}

/// Whether a supernode above the groups is too little work to share: a barrier costs about as much as these
/// entries.
static bool is_small(const sn_supernode *node) {
    return (int64_t)node->width * ((int64_t)node->width + node->row_count) < SMALL_ENTRIES;
}

/// Columns [begin, end) of block `k` of a supernode that threads share.
static sn_sweep_block block_shared(const sweep *w, const sn_supernode *node, int32_t k) {
    int32_t begin = k * TOP_COLUMNS,
            end = begin + TOP_COLUMNS < node->width ? begin + TOP_COLUMNS : node->width;
    return block_make(w, node, begin, end);
}

/// One supernode above the groups, all threads of the region on it. What the master alone does needs no
/// barrier before more of the same.
static void forward_top(const sweep *w, const sn_supernode *node) {
    if (is_small(node)) {
#pragma omp master
        forward_node(w, node);
        return;
    }
    for (int32_t k = 0; k < sn_pieces(node->width, TOP_COLUMNS); k++) {
        sn_sweep_block block = block_shared(w, node, k);
#pragma omp master
        sn_forward_corner(&block);
#pragma omp barrier
        int32_t first, last;
        share(sn_sweep_rows(&block), 8, &first, &last);
        sn_forward_rows(&block, first, last);
#pragma omp barrier
    }
}

static void backward_top(const sweep *w, const sn_supernode *node) {
    if (is_small(node)) {
#pragma omp master
        backward_node(w, node);
        return;
    }
    for (int32_t k = sn_pieces(node->width, TOP_COLUMNS) - 1; k >= 0; k--) {
        sn_sweep_block block = block_shared(w, node, k);
#pragma omp barrier
        int32_t first, last;
        share(sn_pieces(block.end - block.begin, 8), 1, &first, &last);
        sn_backward_rows(&block, first, last);
#pragma omp barrier
#pragma omp master
        sn_backward_corner(&block);
    }
}

/// Threads for a sweep: one where it takes less time than waking others would, above all on a busy machine.
static int32_t sweep_threads(const sn_factor *factor) {
    const int64_t worth_waking = 1000000;
    return factor->info.nonzeros < worth_waking ? 1 : sn_context_thread_count(factor->context);
}

/// Forward sweep over everything, or with w->with_kept false without S. Called outside parallel regions.
static void forward(const sweep *w) {
    const sn_factor *factor = w->factor;
#pragma omp parallel num_threads(sweep_threads(factor))
    {
        move_top(w, load, factor->place_count - factor->top_place);
#pragma omp for schedule(dynamic, 1)
        for (int32_t g = 0; g < factor->group_count; g++)
            forward_group(w, &factor->groups[g]);
#pragma omp single
        add_boundaries(w);
        for (int32_t s = factor->first_top; s < factor->supernode_count; s++)
            forward_top(w, &factor->supernodes[s]);
        if (w->with_kept)
            forward_top(w, &factor->kept_node);
    }
}

/// Backward sweep; the kept places hold the kept solution, or with w->with_kept what S must still be solved
/// for.
static void backward(const sweep *w) {
    const sn_factor *factor = w->factor;
#pragma omp parallel num_threads(sweep_threads(factor))
    {
        if (w->with_kept)
            backward_top(w, &factor->kept_node);
        for (int32_t s = factor->supernode_count - 1; s >= factor->first_top; s--)
            backward_top(w, &factor->supernodes[s]);
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

sn_status sn_factor_forward(sn_factor *factor, int32_t width, double *b, double *kept_rows) {
    if (!factor)
        return SN_ERR_INVALID_ARGUMENT;
    sn_status status = SN_OK;
    SN_TRY(check_sweep(factor, width, b));
    SN_TRY(check_kept_rows(factor, kept_rows));
    sweep w = sweep_make(factor, width, b, false);
    forward(&w);
    move_free(&w, store);
    for (int32_t i = 0; i < factor->kept_count; i++)
        for (int32_t k = 0; k < width; k++)
            kept_rows[(int64_t)i * width + k] = w.places[factor->kept_node.place + i][k];

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
    move_free(&w, load);
    for (int32_t i = 0; i < factor->kept_count; i++) {
        sn_place value = {0};
        for (int32_t k = 0; k < width; k++)
            value[k] = kept_rows[(int64_t)i * width + k];
        w.places[factor->kept_node.place + i] = value;
    }
    backward(&w);

cleanup:
    return status;
}
