#include "factor/factor_internal.h"

#include <string.h>

enum { CLEAR_COLUMNS = 32, ABSORB_COLUMNS = 16, COPY_TILE = 32 };

/// Zeros some columns of S.
static void clear_schur_tile(const void *data, int32_t tile) {
    const sn_front *f = data;
    int64_t stride = (int64_t)f->factor->kept_count + 1;
    for (int32_t j = tile * CLEAR_COLUMNS; j < f->factor->kept_count && j < (tile + 1) * CLEAR_COLUMNS; j++)
        memset(f->factor->schur + j * stride, 0, ((size_t)j + 1) * sizeof(double));
}

static void enter_schur_tile(const void *data, int32_t tile) {
    (void)tile;
    const sn_front *f = data;
    const sn_factor_entry *entry = f->factor->schur_entries;
    for (int64_t e = 0; e < f->factor->schur_entry_count; e++)
        f->factor->schur[entry[e].target] = f->matrix_value[entry[e].source];
}

/// Adds some columns of a root's update to the upper triangle of S: transposed, a few columns at a time so
/// that both sides are read and written in runs.
static void absorb_schur_tile(const void *data, int32_t tile) {
    const sn_front *f = data;
    const sn_supernode *child = f->child;
    const int32_t *relative = f->factor->row_relative + child->row_start;
    const double *source = f->factor->shared_updates + child->update_start;
    int64_t schur_stride = (int64_t)f->factor->kept_count + 1;
    int32_t first = tile * ABSORB_COLUMNS;
    int32_t end = first + ABSORB_COLUMNS < child->row_count ? first + ABSORB_COLUMNS : child->row_count;
    const double *columns[ABSORB_COLUMNS] = {NULL};
    for (int32_t j = first; j < end; j++)
        columns[j - first] = source + sn_update_column(child, j);
    for (int32_t i = first; i < child->row_count; i++) {
        double *target = f->factor->schur + relative[i] * schur_stride;
        for (int32_t j = first; j < end && j <= i; j++)
            target[relative[j]] += columns[j - first][i - j];
    }
}

void sn_schur_assemble(const sn_factor *factor, const double *matrix_value) {
    sn_front f = {.factor = factor, .matrix_value = matrix_value};
    sn_tiles_run(true, sn_pieces(factor->kept_count, CLEAR_COLUMNS), clear_schur_tile, &f);
    sn_tiles_run(true, 1, enter_schur_tile, &f);
    for (int32_t s = 0; s < factor->supernode_count; s++) {
        f.child = &factor->supernodes[s];
        if (f.child->parent == SN_FACTOR_NONE && f.child->row_count > 0)
            sn_tiles_run(true, sn_pieces(f.child->row_count, ABSORB_COLUMNS), absorb_schur_tile, &f);
    }
}

/// Copies one tile row of S from the upper triangle to the lower one, where it is factored.
static void copy_tile(const void *data, int32_t tile) {
    const sn_front *f = data;
    const sn_factor *factor = f->factor;
    int32_t m = factor->kept_count, begin = tile * COPY_TILE,
            end = begin + COPY_TILE < m ? begin + COPY_TILE : m;
    for (int32_t block = 0; block <= tile; block++)
        for (int32_t i = begin; i < end; i++)
            for (int32_t j = block * COPY_TILE; j <= i && j < (block + 1) * COPY_TILE; j++)
                f->panel[i + j * f->panel_stride] = factor->schur[j + i * f->panel_stride];
}

sn_status sn_schur_factor(sn_factor *factor) {
    if (factor->schur_is_factored || factor->kept_count == 0)
        return SN_OK;
    int32_t failed = -1;
    int64_t flops = 0;
    sn_front f = {.factor = factor,
                  .node = &factor->kept_node,
                  .panel = factor->schur + 1,
                  .panel_stride = (int64_t)factor->kept_count + 1};
    sn_dense matrix = {f.panel, f.panel_stride, factor->kept_count, factor->kept_count, &failed, &flops};
#pragma omp parallel num_threads(sn_context_thread_count(factor->context))
    {
        sn_tiles_run(true, sn_pieces(factor->kept_count, COPY_TILE), copy_tile, &f);
        sn_dense_factor(true, &matrix);
        if (failed < 0)
            sn_tiles_run(true, sn_pieces(factor->kept_count, SN_STRIPE_COLUMNS), sn_pack_tile, &f);
    }
    if (failed >= 0)
        return sn_factor_report(
            factor, (sn_factor_failure){factor->free_count + failed, f.panel[failed * (f.panel_stride + 1)]});
    factor->schur_is_factored = true;
    return SN_OK;
}

sn_status sn_factor_schur(const sn_factor *factor, double *out_schur) {
    if (!factor)
        return SN_ERR_INVALID_ARGUMENT;
    if (!factor->has_numbers || (!out_schur && factor->kept_count > 0))
        return sn_fail(factor->context, SN_ERR_INVALID_ARGUMENT,
                       "no factor, or no array, to copy S from or to");
    int64_t m = factor->kept_count;
    for (int64_t j = 0; j < m; j++)
        for (int64_t i = 0; i <= j; i++)
            out_schur[i * m + j] = out_schur[j * m + i] = factor->schur[i + j * (m + 1)];
    return SN_OK;
}
