#include "sparse/sparse_csr.h"

#include <math.h>
#include <string.h>

static int32_t triplet_row(const sn_triplet *t) {
    return t->row > t->column ? t->row : t->column;
}

static int32_t triplet_column(const sn_triplet *t) {
    return t->row > t->column ? t->column : t->row;
}

static sn_status check_triplets(sn_context *ctx, int32_t n, int64_t count, const sn_triplet *triplets) {
    for (int64_t t = 0; t < count; t++)
        if (triplets[t].row < 0 || triplets[t].row >= n || triplets[t].column < 0 || triplets[t].column >= n)
            return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                           "entry %lld is (%d, %d), outside a matrix of %d rows", (long long)t,
                           (int)triplets[t].row, (int)triplets[t].column, (int)n);
    return SN_OK;
}

/// Turns counts in bound[1..n] into starts: bound[i] is where bucket i begins.
static void counts_to_starts(int32_t n, int64_t *bound) {
    for (int32_t i = 0; i < n; i++)
        bound[i + 1] += bound[i];
}

/// One pass of a stable bucket sort: writes the entries of `from` (NULL: 0, 1, 2...) to `to`, ordered by
/// `key`.
static void bucket_pass(int32_t n, int64_t count, const sn_triplet *triplets,
                        int32_t (*key)(const sn_triplet *), const int64_t *from, int64_t *bound,
                        int64_t *to) {
    memset(bound, 0, ((size_t)n + 1) * sizeof *bound);
    for (int64_t t = 0; t < count; t++)
        bound[key(&triplets[t]) + 1]++;
    counts_to_starts(n, bound);
    for (int64_t t = 0; t < count; t++) {
        int64_t source = from ? from[t] : t;
        to[bound[key(&triplets[source])]++] = source;
    }
}

/// Writes rows from triplets in the order of (row, column); the matrix has room for all of them and all
/// diagonals.
static void fill_rows(int64_t count, const sn_triplet *triplets, const int64_t *order, sn_csr *matrix) {
    int64_t end = 0, t = 0;
    for (int32_t row = 0; row < matrix->n; row++) {
        matrix->start[row] = end;
        for (; t < count && triplet_row(&triplets[order[t]]) == row; t++) {
            int32_t column = triplet_column(&triplets[order[t]]);
            double value = triplets[order[t]].value;
            if (end > matrix->start[row] && matrix->column[end - 1] == column) {
                matrix->value[end - 1] += value;
            } else {
                matrix->column[end] = column;
                matrix->value[end++] = value;
            }
        }
        if (end == matrix->start[row] || matrix->column[end - 1] != row) {
            matrix->column[end] = row;
            matrix->value[end++] = 0;
        }
    }
    matrix->start[matrix->n] = end;
}

sn_status sn_csr_create(sn_context *ctx, int32_t n, int64_t triplet_count, const sn_triplet *triplets,
                        sn_csr *out_matrix) {
    sn_status status = SN_OK;
    sn_csr matrix = {.n = n};
    int64_t *bound = NULL, *by_column = NULL, *order = NULL;
    if (n < 0 || triplet_count < 0)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "a matrix of %d rows from %lld entries", (int)n,
                       (long long)triplet_count);
    SN_TRY(check_triplets(ctx, n, triplet_count, triplets));
    SN_TRY_NEW(ctx, bound, (size_t)n + 1);
    SN_TRY_NEW(ctx, by_column, triplet_count);
    SN_TRY_NEW(ctx, order, triplet_count);
    SN_TRY_NEW(ctx, matrix.start, (size_t)n + 1);
    SN_TRY_NEW(ctx, matrix.column, triplet_count + n);
    SN_TRY_NEW(ctx, matrix.value, triplet_count + n);
    bucket_pass(n, triplet_count, triplets, triplet_column, NULL, bound, by_column);
    bucket_pass(n, triplet_count, triplets, triplet_row, by_column, bound, order);
    fill_rows(triplet_count, triplets, order, &matrix);
    *out_matrix = matrix;
    matrix = (sn_csr){0};

cleanup:
    sn_csr_destroy(ctx, &matrix);
    SN_RELEASE(ctx, order);
    SN_RELEASE(ctx, by_column);
    SN_RELEASE(ctx, bound);
    return status;
}

void sn_csr_destroy(sn_context *ctx, sn_csr *matrix) {
    if (!matrix)
        return;
    SN_RELEASE(ctx, matrix->start);
    SN_RELEASE(ctx, matrix->column);
    SN_RELEASE(ctx, matrix->value);
    matrix->n = 0;
}

void sn_csr_drop_zeros(sn_csr *matrix, double relative) {
    int64_t end = 0, begin = 0;
    for (int32_t row = 0; row < matrix->n; row++) {
        int64_t row_end = matrix->start[row + 1];
        double scale = relative * sqrt(fabs(matrix->value[row_end - 1]));
        matrix->start[row] = end;
        for (int64_t e = begin; e < row_end; e++) {
            int32_t column = matrix->column[e];
            // Rows above are compacted already: their diagonal entry is the last before the start of the next
            // row.
            bool keep = column == row || !(fabs(matrix->value[e]) <=
                                           scale * sqrt(fabs(matrix->value[matrix->start[column + 1] - 1])));
            if (keep) {
                matrix->column[end] = column;
                matrix->value[end++] = matrix->value[e];
            }
        }
        begin = row_end;
    }
    matrix->start[matrix->n] = end;
}

void sn_csr_multiply(const sn_csr *matrix, int32_t width, const double *x, double *y) {
    memset(y, 0, (size_t)matrix->n * (size_t)width * sizeof *y);
    for (int32_t row = 0; row < matrix->n; row++) {
        const double *x_row = x + (int64_t)row * width;
        double *y_row = y + (int64_t)row * width;
        for (int64_t e = matrix->start[row]; e < matrix->start[row + 1]; e++) {
            int64_t other = (int64_t)matrix->column[e] * width;
            double value = matrix->value[e];
            for (int32_t k = 0; k < width; k++)
                y_row[k] += value * x[other + k];
            if (matrix->column[e] == row)
                continue;
            for (int32_t k = 0; k < width; k++)
                y[other + k] += value * x_row[k];
        }
    }
}

int64_t sn_csr_find(const sn_csr *matrix, int32_t row, int32_t column) {
    if (column > row)
        return sn_csr_find(matrix, column, row);
    int64_t low = matrix->start[row], high = matrix->start[row + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (matrix->column[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low < matrix->start[row + 1] && matrix->column[low] == column ? low : -1;
}
