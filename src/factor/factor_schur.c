#include "factor/factor_internal.h"

#include <string.h>

enum { TILE_COLUMNS = 16 };

/// Finds where the rows of the roots go in S.
static void list_roots_tile(const void *data, int32_t tile) {
    (void)tile;
    const sn_front *f = data;
    const sn_factor *factor = f->factor;
    int32_t *relative = f->relative;
    for (int32_t k = 0; k < factor->root_count; k++) {
        int32_t count = factor->supernodes[factor->roots[k]].row_count;
        sn_factor_list_places(factor, factor->roots[k], relative);
        for (int32_t i = 0; i < count; i++)
            relative[i] -= sn_kept_place(factor);
        relative += count;
    }
}

/// Fills some columns of S: the matrix, then the roots in their order.
static void assemble_tile(const void *data, int32_t tile) {
    const sn_front *f = data;
    const sn_factor *factor = f->factor;
    int32_t m = factor->kept_count, first = tile * TILE_COLUMNS;
    int32_t end = m - first < TILE_COLUMNS ? m : first + TILE_COLUMNS;
    for (int32_t j = first; j < end; j++) {
        double *column = sn_schur_column(factor, j);
        const uint32_t *start = factor->entry_start + factor->free_count + j;
        memset(column, 0, (size_t)(m - j) * sizeof *column);
        for (uint32_t e = start[0]; e < start[1]; e++)
            column[factor->entries[e].row - j] = f->matrix_value[factor->entries[e].source];
    }
    const int32_t *relative = f->relative;
    for (int32_t k = 0; k < factor->root_count; k++) {
        const sn_supernode *root = &factor->supernodes[factor->roots[k]];
        factor->fronts->absorb_schur(f, root, relative, first, end);
        relative += root->row_count;
    }
}

void sn_schur_assemble(const sn_factor *factor, const double *matrix_value) {
    const sn_front f = {.factor = factor,
                        .matrix_value = matrix_value,
                        .scratch = factor->scratch,
                        .relative = factor->relative};
    sn_tiles_run(true, 1, list_roots_tile, &f);
    sn_tiles_run(true, sn_pieces(factor->kept_count, TILE_COLUMNS), assemble_tile, &f);
}

/// Copies some columns of S, scaled, to where it is factored.
static void copy_tile(const void *data, int32_t tile) {
    const sn_front *f = data;
    const sn_factor *factor = f->factor;
    const double *scale = factor->scale + sn_kept_place(factor);
    int32_t m = factor->kept_count;
    for (int32_t j = tile * TILE_COLUMNS; j < m && j < (tile + 1) * TILE_COLUMNS; j++) {
        const double *source = sn_schur_column(factor, j) - j;
        double *target = (double *)factor->kept_values + sn_trapezoid_column(m, SN_PANEL_BLOCK, j) - j;
        for (int32_t i = j; i < m; i++)
            target[i] = source[i] * scale[i] * scale[j];
    }
}

sn_status sn_schur_factor(sn_factor *factor) {
    if (factor->schur_is_factored || factor->kept_count == 0)
        return SN_OK;
    int32_t failed = -1, m = factor->kept_count;
    int64_t flops = 0;
    const sn_front f = {.factor = factor};
    const sn_dense matrix = {factor->kept_values, m, m, &failed, &flops};
#pragma omp parallel num_threads(sn_context_thread_count(factor->context))
    {
        sn_tiles_run(true, sn_pieces(m, TILE_COLUMNS), copy_tile, &f);
        sn_front_kernels_double.factor_dense(true, &matrix);
    }
    if (failed >= 0) {
        double scale = factor->scale[sn_kept_place(factor) + failed];
        double pivot = ((double *)factor->kept_values)[sn_trapezoid_column(m, SN_PANEL_BLOCK, failed)];
        return sn_factor_report(factor,
                                (sn_factor_failure){factor->free_count + failed, pivot / scale / scale});
    }
    sn_pack_kept(factor);
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
    for (int32_t j = 0; j < m; j++)
        for (int32_t i = j; i < m; i++)
            out_schur[i * m + j] = out_schur[j * m + i] = sn_schur_column(factor, j)[i - j];
    return SN_OK;
}
