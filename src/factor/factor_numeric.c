#include "factor/factor_internal.h"

#include "base/base_parallel.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum { CLEAR_COLUMNS = 32, ABSORB_COLUMNS = 16, UPDATE_TILE = 256, SMALL_FLOPS = 1 << 20 };

static double *update_of(const sn_factor *factor, const sn_supernode *node, double *scratch) {
    return (node->update_is_shared ? factor->shared_updates : scratch) + node->update_start;
}

/// Zeros the lower triangle of some columns of panel and update.
static void clear_tile(const void *data, int32_t tile) {
    const sn_front *f = data;
    int32_t width = f->node->width, total = width + f->node->row_count;
    for (int32_t j = tile * CLEAR_COLUMNS; j < total && j < (tile + 1) * CLEAR_COLUMNS; j++) {
        double *column = j < width ? f->panel + j * (f->panel_stride + 1)
                                   : f->update + (j - width) * (f->update_stride + 1);
        memset(column, 0, (size_t)(total - j) * sizeof *column);
    }
}

static void enter_tile(const void *data, int32_t tile) {
    (void)tile;
    const sn_front *f = data;
    const sn_factor_entry *entry = f->factor->entries + f->node->entry_start;
    for (int32_t e = 0; e < f->node->entry_count; e++)
        f->panel[entry[e].target] = f->matrix_value[entry[e].source];
}

/// target[relative[i] - shift] += source[i], count > 0, relative ascending.
SN_CLONES static void sn_scatter_add(int32_t count, const int32_t *relative, int32_t shift,
                                     const double *source, double *target) {
    if (relative[count - 1] - relative[0] == count - 1) {
        double *run = target + (relative[0] - shift);
        for (int32_t i = 0; i < count; i++)
            run[i] += source[i];
        return;
    }
    for (int32_t i = 0; i < count; i++)
        target[relative[i] - shift] += source[i];
}

/// Adds some columns of a child's update to the front.
static void absorb_tile(const void *data, int32_t tile) {
    const sn_front *f = data;
    const sn_supernode *child = f->child;
    const int32_t *relative = f->factor->row_relative + child->row_start;
    const double *source = update_of(f->factor, child, f->scratch);
    int64_t stride = sn_update_stride(child);
    int32_t width = f->node->width;
    for (int32_t j = tile * ABSORB_COLUMNS; j < child->row_count && j < (tile + 1) * ABSORB_COLUMNS; j++) {
        bool in_panel = relative[j] < width;
        double *target = in_panel ? f->panel + relative[j] * f->panel_stride
                                  : f->update + (relative[j] - width) * f->update_stride;
        sn_scatter_add(child->row_count - j, relative + j, in_panel ? 0 : width, source + j * (stride + 1),
                       target);
    }
}

/// Tile `index` of a lower triangle of tiles, counted by rows.
static void triangle_tile(int32_t index, int32_t *out_row, int32_t *out_column) {
    int32_t row = 0;
    while (index > row)
        index -= ++row;
    *out_row = row;
    *out_column = index;
}

/// Subtracts L21 L21' from one tile of the update.
static void update_tile(const void *data, int32_t tile) {
    const sn_front *f = data;
    int32_t tile_row, tile_column;
    triangle_tile(tile, &tile_row, &tile_column);
    int32_t i = tile_row * UPDATE_TILE, j = tile_column * UPDATE_TILE, end = f->node->row_count;
    int32_t rows = end - i < UPDATE_TILE ? end - i : UPDATE_TILE;
    int32_t columns = end - j < UPDATE_TILE ? end - j : UPDATE_TILE;
    const double *left = f->panel + f->node->width + i, *right = f->panel + f->node->width + j;
    double *target = f->update + i + j * f->update_stride;
    int stride = (int)f->panel_stride;
    if (i == j)
        cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, rows, f->node->width, -1, left, stride, 1,
                    target, (int)f->update_stride);
    else
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, rows, columns, f->node->width, -1, left, stride,
                    right, stride, 1, target, (int)f->update_stride);
}

/// Repacks one stripe: rows of `stride` numbers, reciprocals on the diagonal, zeros above it and in spare
/// columns.
SN_CLONES static void sn_pack_stripe(int32_t columns, int32_t stride, int32_t rows, const double *panel,
                                     int64_t panel_stride, double *target) {
    for (int32_t i = 0; i < columns; i++)
        for (int32_t j = 0; j < stride; j++)
            target[i * stride + j] = j > i    ? 0
                                     : j == i ? 1 / panel[i + j * panel_stride]
                                              : panel[i + j * panel_stride];
    target += columns * stride;
    panel += columns;
    if (columns == 8) {
        for (int32_t i = 0; i < rows; i++)
            for (int32_t j = 0; j < 8; j++)
                target[(int64_t)i * 8 + j] = panel[i + j * panel_stride];
        return;
    }
    for (int32_t i = 0; i < rows; i++)
        for (int32_t j = 0; j < stride; j++)
            target[(int64_t)i * stride + j] = j < columns ? panel[i + j * panel_stride] : 0;
}

void sn_pack_tile(const void *data, int32_t tile) {
    const sn_front *f = data;
    int32_t width = f->node->width, total = width + f->node->row_count;
    int32_t end = (tile + 1) * 8 < width ? (tile + 1) * 8 : width;
    double *target = f->factor->values + f->node->value_start + sn_unit_start(total, tile);
    for (int32_t column = tile * 8; column < end;) {
        int32_t columns = sn_stripe_columns(width, column), stride = sn_stripe_stride(columns);
        int32_t rows = total - column - columns;
        sn_pack_stripe(columns, stride, rows, f->panel + column * (f->panel_stride + 1), f->panel_stride,
                       target);
        target += (int64_t)stride * (rows + columns);
        column += columns;
    }
}

/// Assembles and factors one front; *failed receives the failing column of the supernode, -1 if none.
static void factor_front(bool shared, sn_front *f, int32_t *failed) {
    const sn_factor *factor = f->factor;
    const sn_supernode *node = f->node;
    f->panel_stride = sn_panel_stride(node);
    f->update_stride = sn_update_stride(node);
    f->update = update_of(factor, node, f->scratch);
    sn_tiles_run(shared, sn_pieces(node->width + node->row_count, CLEAR_COLUMNS), clear_tile, f);
    sn_tiles_run(shared, 1, enter_tile, f);
    for (int32_t c = node->first_child; c != SN_FACTOR_NONE; c = f->child->next_sibling) {
        f->child = &factor->supernodes[c];
        sn_tiles_run(shared, sn_pieces(f->child->row_count, ABSORB_COLUMNS), absorb_tile, f);
    }
    sn_dense panel = {f->panel, f->panel_stride, node->width, node->width + node->row_count, failed};
    sn_dense_factor(shared, &panel);
    if (*failed >= 0)
        return;
    int32_t tiles = sn_pieces(node->row_count, UPDATE_TILE);
    sn_tiles_run(shared, tiles * (tiles + 1) / 2, update_tile, f);
    sn_tiles_run(shared, sn_pieces(node->width, 8), sn_pack_tile, f);
}

static sn_factor_failure failure_at(const sn_front *f, int32_t column) {
    return (sn_factor_failure){f->node->first + column, f->panel[column * (sn_panel_stride(f->node) + 1)]};
}

/// Factors one group on one thread.
static sn_factor_failure factor_group(const sn_factor *factor, const double *matrix_value,
                                      int32_t group_index, double *scratch) {
    const sn_factor_group *group = &factor->groups[group_index];
    for (int32_t s = group->first_supernode; s < group->supernode_end; s++) {
        int32_t failed = -1;
        sn_front f = {.factor = factor,
                      .node = &factor->supernodes[s],
                      .matrix_value = matrix_value,
                      .scratch = scratch,
                      .panel = scratch + factor->scratch_panel};
        factor_front(false, &f, &failed);
        if (failed >= 0)
            return failure_at(&f, failed);
    }
    return (sn_factor_failure){INT32_MAX, 0};
}

/// Whether a front is so little work that one thread finishes it before several would have met at their
/// barriers.
static bool is_small(const sn_supernode *node) {
    double total = (double)node->width + node->row_count;
    return node->width * total * total < SMALL_FLOPS;
}

/// Factors the supernodes above the groups, all threads on each. Every thread of the region calls this.
static void factor_top(const sn_factor *factor, const double *matrix_value, int32_t *failed,
                       sn_factor_failure *failure) {
    for (int32_t s = factor->first_top; s < factor->supernode_count; s++) {
        sn_front f = {.factor = factor,
                      .node = &factor->supernodes[s],
                      .matrix_value = matrix_value,
                      .panel = factor->top_panel};
        if (is_small(f.node)) {
#pragma omp single
            factor_front(false, &f, failed);
        } else {
            factor_front(true, &f, failed);
        }
        if (*failed >= 0) {
#pragma omp single
            *failure = failure_at(&f, *failed);
            return;
        }
    }
    sn_schur_assemble(factor, matrix_value);
}

static sn_factor_failure factor_all(const sn_factor *factor, const double *matrix_value) {
    sn_factor_failure first = {INT32_MAX, 0};
    int32_t failed = -1;
#pragma omp parallel num_threads(sn_context_thread_count(factor->context))
    {
        double *scratch = factor->scratch + factor->scratch_size * omp_get_thread_num();
#pragma omp for schedule(dynamic, 1)
        for (int32_t g = 0; g < factor->group_count; g++) {
            sn_factor_failure failure = factor_group(factor, matrix_value, g, scratch);
            // The first in elimination order is reported, whatever the order in time.
#pragma omp critical(sn_factor_failure)
            if (failure.column < first.column)
                first = failure;
        }
        if (first.column == INT32_MAX)
            factor_top(factor, matrix_value, &failed, &first);
    }
    return first;
}

sn_status sn_factor_report(sn_factor *factor, sn_factor_failure failure) {
    factor->info.failed_unknown = factor->unknown[failure.column];
    factor->info.failed_pivot = failure.pivot;
    return sn_fail(factor->context, SN_ERR_NOT_POSITIVE_DEFINITE,
                   "the matrix is not positive definite: the pivot of unknown %d is %g",
                   (int)factor->info.failed_unknown, failure.pivot);
}

static sn_status check_matrix(const sn_factor *factor, const sn_factor_matrix *matrix) {
    sn_context *ctx = factor->context;
    if (!matrix || !matrix->start || !matrix->column || !matrix->value)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "the matrix to factor has no values");
    if (matrix->n != factor->info.n || matrix->start[matrix->n] != factor->pattern_nonzeros)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                       "the matrix has %d rows and %lld entries, the analyzed pattern %d and %lld",
                       (int)matrix->n, (long long)matrix->start[matrix->n], (int)factor->info.n,
                       (long long)factor->pattern_nonzeros);
    for (int32_t row = 0; row < matrix->n; row++)
        for (int64_t e = matrix->start[row]; e < matrix->start[row + 1]; e++)
            if (!isfinite(matrix->value[e]))
                return sn_fail(ctx, SN_ERR_NON_FINITE, "entry (%d, %d) of the matrix is %g", (int)row,
                               (int)matrix->column[e], matrix->value[e]);
    return SN_OK;
}

sn_status sn_factor_numeric(sn_factor *factor, const sn_factor_matrix *matrix) {
    if (!factor)
        return SN_ERR_INVALID_ARGUMENT;
    sn_status status = check_matrix(factor, matrix);
    if (status < 0)
        return status;
    factor->has_numbers = false;
    factor->schur_is_factored = false;
    factor->info.failed_unknown = -1;
    factor->info.failed_pivot = 0;
    sn_factor_failure failure = factor_all(factor, matrix->value);
    if (failure.column != INT32_MAX)
        return sn_factor_report(factor, failure);
    factor->has_numbers = true;
    return SN_OK;
}
