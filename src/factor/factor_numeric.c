#include "factor/factor_internal.h"

#include "base/base_parallel.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum { CLEAR_COLUMNS = 32, ABSORB_COLUMNS = 16, UPDATE_ROWS = 256, SMALL_FLOPS = 1 << 20 };

static double *update_of(const sn_factor *factor, const sn_supernode *node, double *scratch) {
    return (node->update_is_shared ? factor->shared_updates : scratch) + node->update_start;
}

/// Zeros the lower triangle of some columns of panel and update.
static void clear_tile(const void *data, int32_t tile) {
    const sn_front *f = data;
    int32_t width = f->node->width, total = width + f->node->row_count;
    for (int32_t j = tile * CLEAR_COLUMNS; j < total && j < (tile + 1) * CLEAR_COLUMNS; j++) {
        double *column = j < width ? f->panel + j * (f->panel_stride + 1)
                                   : f->update + sn_update_column(f->node, j - width);
        memset(column, 0, (size_t)(total - j) * sizeof *column);
    }
}

static void enter_tile(const void *data, int32_t tile) {
    (void)tile;
    const sn_front *f = data;
    const sn_factor_entry *entry = f->factor->entries + f->node->entry_start;
    for (int32_t e = 0; e < f->node->entry_count; e++)
        f->panel[entry[e].target] = f->matrix_value[entry[e].source];
    if (!f->factor->keeps_updates)
        return;
    double *last = f->factor->entry_values + f->node->entry_start;
    for (int32_t e = 0; e < f->node->entry_count; e++)
        last[e] = f->matrix_value[entry[e].source];
}

/// target[relative[i] - relative[0]] += source[i], count > 0, relative ascending.
SN_CLONES static void sn_scatter_add(int32_t count, const int32_t *relative, const double *source,
                                     double *target) {
    int32_t first = relative[0];
    if (relative[count - 1] - first == count - 1) {
        for (int32_t i = 0; i < count; i++)
            target[i] += source[i];
        return;
    }
    for (int32_t i = 0; i < count; i++)
        target[relative[i] - first] += source[i];
}

/// Adds some columns of a child's update to the front.
static void absorb_tile(const void *data, int32_t tile) {
    const sn_front *f = data;
    const sn_supernode *child = f->child;
    const int32_t *relative = f->factor->row_relative + child->row_start;
    const double *source = update_of(f->factor, child, f->scratch);
    int32_t width = f->node->width;
    for (int32_t j = tile * ABSORB_COLUMNS; j < child->row_count && j < (tile + 1) * ABSORB_COLUMNS; j++) {
        double *target = relative[j] < width ? f->panel + relative[j] * (f->panel_stride + 1)
                                             : f->update + sn_update_column(f->node, relative[j] - width);
        sn_scatter_add(child->row_count - j, relative + j, source + sn_update_column(child, j), target);
    }
}

/// Tiles of an update matrix: each block of columns is cut from its diagonal down.
static int32_t update_tiles(int32_t row_count) {
    int32_t tiles = 0;
    for (int32_t first = 0; first < row_count; first += SN_UPDATE_BLOCK)
        tiles += sn_pieces(row_count - first, UPDATE_ROWS);
    return tiles;
}

/// First column and row of a tile.
static void find_update_tile(int32_t row_count, int32_t tile, int32_t *out_column, int32_t *out_row) {
    int32_t column = 0;
    for (int32_t tiles = sn_pieces(row_count, UPDATE_ROWS); tile >= tiles;
         tiles = sn_pieces(row_count - column, UPDATE_ROWS)) {
        tile -= tiles;
        column += SN_UPDATE_BLOCK;
    }
    *out_column = column;
    *out_row = column + tile * UPDATE_ROWS;
}

/// Subtracts L21 L21' from one tile of the update.
static void update_tile(const void *data, int32_t tile) {
    const sn_front *f = data;
    int32_t column, row, count = f->node->row_count, width = f->node->width, stride = (int)f->panel_stride;
    find_update_tile(count, tile, &column, &row);
    int32_t columns = count - column < SN_UPDATE_BLOCK ? count - column : SN_UPDATE_BLOCK;
    int32_t rows = count - row < UPDATE_ROWS ? count - row : UPDATE_ROWS;
    int32_t target_stride = (int)sn_update_stride(f->node) - column;
    const double *left = f->panel + width + row, *right = f->panel + width + column;
    double *target = f->update + sn_update_column(f->node, column) + (row - column);
    if (row == column) {
        cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, columns, width, -1, left, stride, 1, target,
                    target_stride);
        sn_count_flops(f->flops, (int64_t)columns * (columns + 1) * width);
        rows -= columns;
        left += columns;
        target += columns;
    }
    if (rows > 0) {
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, rows, columns, width, -1, left, stride, right,
                    stride, 1, target, target_stride);
        sn_count_flops(f->flops, 2 * (int64_t)rows * columns * width);
    }
}

/// Assembles and factors one front; *failed receives the failing column of the supernode, -1 if none.
static void factor_front(bool shared, sn_front *f, int32_t *failed) {
    const sn_factor *factor = f->factor;
    const sn_supernode *node = f->node;
    f->panel_stride = sn_panel_stride(node);
    f->update = update_of(factor, node, f->scratch);
    sn_tiles_run(shared, sn_pieces(node->width + node->row_count, CLEAR_COLUMNS), clear_tile, f);
    sn_tiles_run(shared, 1, enter_tile, f);
    for (int32_t c = node->first_child; c != SN_FACTOR_NONE; c = f->child->next_sibling) {
        f->child = &factor->supernodes[c];
        sn_tiles_run(shared, sn_pieces(f->child->row_count, ABSORB_COLUMNS), absorb_tile, f);
    }
    sn_dense panel = {f->panel, f->panel_stride, node->width, node->width + node->row_count,
                      failed,   f->flops};
    sn_dense_factor(shared, &panel);
    if (*failed >= 0)
        return;
    sn_tiles_run(shared, update_tiles(node->row_count), update_tile, f);
    sn_tiles_run(shared, sn_pieces(node->width, SN_STRIPE_COLUMNS), sn_pack_tile, f);
}

static sn_factor_failure failure_at(const sn_front *f, int32_t column) {
    return (sn_factor_failure){f->node->first + column, f->panel[column * (sn_panel_stride(f->node) + 1)]};
}

/// One numeric phase. Threads share it.
typedef struct numeric {
    const sn_factor *factor;
    const double *matrix_value;
    int32_t failed; ///< Column of the front that all threads work on; -1 while none fails.
    sn_factor_failure group_failure, failure;
    int64_t flops;
} numeric;

static const sn_factor_failure no_failure = {INT32_MAX, 0};

static sn_front front_make(const numeric *run, int32_t s, double *panel, double *scratch, int64_t *flops) {
    return (sn_front){.factor = run->factor,
                      .node = &run->factor->supernodes[s],
                      .matrix_value = run->matrix_value,
                      .panel = panel,
                      .scratch = scratch,
                      .flops = flops};
}

/// Factors the touched supernodes first..end-1 on one thread.
static sn_factor_failure factor_alone(const numeric *run, int32_t first, int32_t end, double *panel,
                                      double *scratch, int64_t *flops) {
    for (int32_t s = first; s < end; s++) {
        if (!run->factor->touched[s])
            continue;
        int32_t failed = -1;
        sn_front f = front_make(run, s, panel, scratch, flops);
        factor_front(false, &f, &failed);
        if (failed >= 0)
            return failure_at(&f, failed);
    }
    return no_failure;
}

/// Factors groups, each on one thread. The failure is the first in elimination order, whatever the order in
/// time.
static sn_factor_failure factor_groups(numeric *run) {
    const sn_factor *factor = run->factor;
    double *scratch = factor->scratch + factor->scratch_size * omp_get_thread_num();
#pragma omp for schedule(dynamic, 1)
    for (int32_t g = 0; g < factor->group_count; g++) {
        const sn_factor_group *group = &factor->groups[g];
        int64_t flops = 0;
        sn_factor_failure failure = factor_alone(run, group->first_supernode, group->supernode_end,
                                                 scratch + factor->scratch_panel, scratch, &flops);
        sn_count_flops(&run->flops, flops);
#pragma omp critical(sn_factor_failure)
        if (failure.column < run->group_failure.column)
            run->group_failure = failure;
    }
    return run->group_failure;
}

/// Whether a front is so little work that one thread finishes it before several would have met at their
/// barriers.
static bool is_small(const sn_supernode *node) {
    double total = (double)node->width + node->row_count;
    return node->width * total * total < SMALL_FLOPS;
}

/// End of the run of supernodes from `first` on, none of them both touched and large.
static int32_t small_end(const sn_factor *factor, int32_t first, int32_t end) {
    int32_t s = first;
    while (s < end && (!factor->touched[s] || is_small(&factor->supernodes[s])))
        s++;
    return s;
}

/// Factors the touched supernodes first..end-1, all threads on each large one; `panel` has room for any of
/// them. Every thread of the region calls this.
static sn_factor_failure factor_together(numeric *run, int32_t first, int32_t end, double *panel) {
    const sn_factor *factor = run->factor;
    sn_factor_failure failure = no_failure;
    while (first < end && failure.column == INT32_MAX) {
        int32_t large = small_end(factor, first, end);
        if (large > first) {
#pragma omp single copyprivate(failure)
            failure = factor_alone(run, first, large, panel, factor->scratch, &run->flops);
            first = large;
            continue;
        }
        sn_front f = front_make(run, first, panel, factor->scratch, &run->flops);
        factor_front(true, &f, &run->failed);
        if (run->failed >= 0)
            failure = failure_at(&f, run->failed);
        first++;
    }
    return failure;
}

/// Whether all threads on one group after the other would be done before each thread with groups of its own:
/// so it is if few groups are touched. The tiles, and so the bits, are the same.
static bool is_better_together(const sn_factor *factor) {
    double threads = sn_context_thread_count(factor->context), small = 0, large = 0, longest = 0;
    for (int32_t g = 0; g < factor->group_count; g++) {
        double before = small + large;
        for (int32_t s = factor->groups[g].first_supernode; s < factor->groups[g].supernode_end; s++) {
            const sn_supernode *node = &factor->supernodes[s];
            if (factor->touched[s])
                *(is_small(node) ? &small : &large) += sn_front_flops(node->width, node->row_count);
        }
        longest = fmax(longest, small + large - before);
    }
    return small + large / threads < fmax(longest, (small + large) / threads);
}

static void factor_touched(numeric *run) {
    const sn_factor *factor = run->factor;
    bool together = is_better_together(factor);
#pragma omp parallel num_threads(sn_context_thread_count(factor->context))
    {
        sn_factor_failure failure =
            together ? factor_together(run, 0, factor->first_top, factor->scratch + factor->scratch_panel)
                     : factor_groups(run);
        if (failure.column == INT32_MAX)
            failure = factor_together(run, factor->first_top, factor->supernode_count, factor->scratch);
        if (failure.column == INT32_MAX)
            sn_schur_assemble(factor, run->matrix_value);
#pragma omp master
        run->failure = failure;
    }
}

sn_status sn_factor_report(sn_factor *factor, sn_factor_failure failure) {
    factor->info.failed_unknown = factor->unknown[failure.column];
    factor->info.failed_pivot = failure.pivot;
    return sn_fail(factor->context, SN_ERR_NOT_POSITIVE_DEFINITE,
                   "the matrix is not positive definite: the pivot of unknown %d is %g",
                   (int)factor->info.failed_unknown, failure.pivot);
}

sn_status sn_factor_compute(sn_factor *factor, const sn_factor_matrix *matrix) {
    numeric run = {factor, matrix->value, -1, no_failure, no_failure, 0};
    bool is_complete = true;
    factor->has_numbers = false;
    factor->schur_is_factored = false;
    factor->info.failed_unknown = -1;
    factor->info.failed_pivot = 0;
    for (int32_t s = 0; s < factor->supernode_count; s++)
        is_complete &= factor->touched[s];
    for (int32_t s = 0; s < factor->supernode_count; s++)
        factor->stale[s] |= factor->touched[s];
    if (is_complete)
        sn_factor_choose_scales(factor, matrix);
    factor_touched(&run);
    factor->info.done_flops = (double)run.flops;
    if (run.failure.column != INT32_MAX)
        return sn_factor_report(factor, run.failure);
    for (int32_t s = 0; s < factor->supernode_count; s++)
        factor->stale[s] = false;
    factor->has_numbers = true;
    return SN_OK;
}

sn_status sn_factor_check_matrix(const sn_factor *factor, const sn_factor_matrix *matrix) {
    sn_context *ctx = factor->context;
    if (!matrix || !matrix->start || !matrix->column || !matrix->value)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "the matrix to factor has no values");
    if (matrix->n != factor->info.n || matrix->start[matrix->n] != factor->pattern_nonzeros)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                       "the matrix has %d rows and %lld entries, the analyzed pattern %d and %lld",
                       (int)matrix->n, (long long)matrix->start[matrix->n], (int)factor->info.n,
                       (long long)factor->pattern_nonzeros);
    return SN_OK;
}

static sn_status check_values(const sn_factor *factor, const sn_factor_matrix *matrix) {
    for (int32_t row = 0; row < matrix->n; row++)
        for (int64_t e = matrix->start[row]; e < matrix->start[row + 1]; e++)
            if (!isfinite(matrix->value[e]))
                return sn_fail(factor->context, SN_ERR_NON_FINITE, "entry (%d, %d) of the matrix is %g",
                               (int)row, (int)matrix->column[e], matrix->value[e]);
    return SN_OK;
}

sn_status sn_factor_numeric(sn_factor *factor, const sn_factor_matrix *matrix) {
    if (!factor)
        return SN_ERR_INVALID_ARGUMENT;
    sn_status status = SN_OK;
    SN_TRY(sn_factor_check_matrix(factor, matrix));
    SN_TRY(check_values(factor, matrix));
    for (int32_t s = 0; s < factor->supernode_count; s++)
        factor->touched[s] = true;
    SN_TRY(sn_factor_compute(factor, matrix));

cleanup:
    return status;
}
