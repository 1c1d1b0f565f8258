#include "factor/factor_internal.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>

enum { BLOCK_COLUMNS = 256, TILE_ROWS = 256 };

void sn_tiles_run(bool shared, int32_t count, sn_tile_task *task, const void *data) {
    if (!shared) {
        for (int32_t tile = 0; tile < count; tile++)
            task(data, tile);
        return;
    }
    // Which thread takes a tile has no influence on the result, so the schedule may follow the load.
#pragma omp for schedule(dynamic, 1)
    for (int32_t tile = 0; tile < count; tile++)
        task(data, tile);
}

/// Columns first..first+count-1 of a matrix that is being factored from left to right.
typedef struct block_step {
    const sn_dense *matrix;
    int32_t first, count;
    int32_t row; ///< First row of tile 0.
} block_step;

static int32_t tile_rows(const block_step *step, int32_t tile, int32_t *out_row) {
    *out_row = step->row + tile * TILE_ROWS;
    int32_t left = step->matrix->rows - *out_row;
    return left < TILE_ROWS ? left : TILE_ROWS;
}

static int32_t tile_count(const block_step *step) {
    return (step->matrix->rows - step->row + TILE_ROWS - 1) / TILE_ROWS;
}

/// Subtracts what the columns on the left contribute.
static void update_tile(const void *data, int32_t tile) {
    const block_step *step = data;
    const sn_dense *m = step->matrix;
    int32_t row, rows = tile_rows(step, tile, &row), count = step->count, stride = (int)m->stride;
    if (row == step->first) {
        cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, count, step->first, -1, m->value + row, stride,
                    1, m->value + row + step->first * m->stride, stride);
        sn_count_flops(m->flops, (int64_t)count * (count + 1) * step->first);
        row += count;
        rows -= count;
    }
    if (rows > 0) {
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, rows, count, step->first, -1, m->value + row,
                    stride, m->value + step->first, stride, 1, m->value + row + step->first * m->stride,
                    stride);
        sn_count_flops(m->flops, 2 * (int64_t)rows * count * step->first);
    }
}

static void factor_tile(const void *data, int32_t tile) {
    (void)tile;
    const block_step *step = data;
    const sn_dense *m = step->matrix;
    double *corner = m->value + step->first * (m->stride + 1);
    int info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', step->count, corner, (int)m->stride);
    int64_t n = step->count;
    sn_count_flops(m->flops, n * (n + 1) * (2 * n + 1) / 6);
    if (info > 0)
        *m->failed = step->first + info - 1;
    // LAPACK lets NaN and infinity pass.
    for (int32_t j = 0; j < step->count && *m->failed < 0; j++) {
        double pivot = corner[j * (m->stride + 1)];
        if (!(pivot > 0 && isfinite(pivot)))
            *m->failed = step->first + j;
    }
}

static void solve_tile(const void *data, int32_t tile) {
    const block_step *step = data;
    const sn_dense *m = step->matrix;
    int32_t row, rows = tile_rows(step, tile, &row);
    sn_count_flops(m->flops, (int64_t)rows * step->count * step->count);
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rows, step->count, 1,
                m->value + step->first * (m->stride + 1), (int)m->stride,
                m->value + row + step->first * m->stride, (int)m->stride);
}

void sn_dense_factor(bool shared, const sn_dense *matrix) {
    for (int32_t first = 0; first < matrix->columns; first += BLOCK_COLUMNS) {
        int32_t left = matrix->columns - first;
        block_step step = {matrix, first, left < BLOCK_COLUMNS ? left : BLOCK_COLUMNS, first};
        if (first > 0)
            sn_tiles_run(shared, tile_count(&step), update_tile, &step);
        sn_tiles_run(shared, 1, factor_tile, &step);
        if (*matrix->failed >= 0)
            return;
        step.row = first + step.count;
        sn_tiles_run(shared, tile_count(&step), solve_tile, &step);
    }
}
