#include "factor/factor_internal.h"

#include <string.h>

enum { TILE_COLUMNS = 16 };

static double *schur_column(const sn_factor *factor, int32_t column) {
    return factor->schur + sn_trapezoid_column(factor->kept_count, SN_PANEL_BLOCK, column);
}

double sn_schur_entry(const sn_factor *factor, int32_t row, int32_t column) {
    return schur_column(factor, column)[row - column];
}

/// Zeros some columns of S.
static void clear_tile(const void *data, int32_t tile) {
    const sn_front *f = data;
    int32_t m = f->factor->kept_count;
    for (int32_t j = tile * TILE_COLUMNS; j < m && j < (tile + 1) * TILE_COLUMNS; j++)
        memset(schur_column(f->factor, j), 0, (size_t)(m - j) * sizeof(double));
}

static void enter_tile(const void *data, int32_t tile) {
    (void)tile;
    const sn_front *f = data;
    const sn_factor_entry *entry = f->factor->schur_entries;
    for (int64_t e = 0; e < f->factor->schur_entry_count; e++)
        schur_column(f->factor, entry[e].column)[entry[e].row - entry[e].column] =
            f->matrix_value[entry[e].source];
}

/// Finds where the rows of the child go in S.
static void list_child_tile(const void *data, int32_t tile) {
    (void)tile;
    const sn_front *f = data;
    const sn_factor *factor = f->factor;
    sn_factor_list_places(factor, (int32_t)(f->child - factor->supernodes), f->relative);
    for (int32_t i = 0; i < f->child->row_count; i++)
        f->relative[i] -= sn_kept_place(factor);
}

void sn_schur_assemble(const sn_factor *factor, const double *matrix_value) {
    sn_front f = {.factor = factor,
                  .matrix_value = matrix_value,
                  .scratch = factor->scratch,
                  .relative = factor->relative,
                  .child_relative = factor->relative};
    sn_tiles_run(true, sn_pieces(factor->kept_count, TILE_COLUMNS), clear_tile, &f);
    sn_tiles_run(true, 1, enter_tile, &f);
    for (int32_t s = 0; s < factor->supernode_count; s++) {
        f.child = &factor->supernodes[s];
        if (f.child->parent != SN_FACTOR_NONE || f.child->row_count == 0)
            continue;
        sn_tiles_run(true, 1, list_child_tile, &f);
        sn_tiles_run(true, sn_pieces(f.child->row_count, TILE_COLUMNS), factor->fronts->absorb_schur, &f);
    }
}

/// Copies some columns of S, scaled, to where it is factored.
static void copy_tile(const void *data, int32_t tile) {
    const sn_front *f = data;
    const sn_factor *factor = f->factor;
    const double *scale = factor->scale + sn_kept_place(factor);
    int32_t m = factor->kept_count;
    for (int32_t j = tile * TILE_COLUMNS; j < m && j < (tile + 1) * TILE_COLUMNS; j++) {
        const double *source = schur_column(factor, j) - j;
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
            out_schur[i * m + j] = out_schur[j * m + i] = sn_schur_entry(factor, i, j);
    return SN_OK;
}
