/// Entries that are zero in the analyzed values and were to be left out.
#include "factor/factor_internal.h"

#include <math.h>
#include <string.h>

static bool is_dropped(const sn_factor_matrix *matrix, int32_t row, int64_t entry) {
    return matrix->value[entry] == 0 && matrix->column[entry] != row;
}

sn_status sn_factor_reduce(sn_context *ctx, const sn_factor_matrix *matrix, sn_reduced *out_reduced) {
    sn_status status = SN_OK;
    sn_reduced reduced = {0};
    int32_t n = matrix->n;
    int64_t count = 0, left = 0;
    if (!matrix->value && n > 0)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                       "zeros are to be dropped from a pattern without values: give the values, too");
    if (matrix->start[n] > UINT32_MAX)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "%lld entries are more than a factor can number",
                       (long long)matrix->start[n]);
    for (int32_t row = 0; row < n; row++)
        for (int64_t e = matrix->start[row]; e < matrix->start[row + 1]; e++)
            left += !is_dropped(matrix, row, e);
    SN_TRY_NEW(ctx, reduced.start, (size_t)n + 1);
    SN_TRY_NEW(ctx, reduced.column, left);
    SN_TRY_NEW(ctx, reduced.source, left);
    for (int32_t row = 0; row < n; row++) {
        reduced.start[row] = count;
        for (int64_t e = matrix->start[row]; e < matrix->start[row + 1]; e++) {
            if (is_dropped(matrix, row, e))
                continue;
            reduced.column[count] = matrix->column[e];
            reduced.source[count++] = (uint32_t)e;
        }
    }
    reduced.start[n] = count;
    *out_reduced = reduced;
    return SN_OK;

cleanup:
    sn_reduced_destroy(ctx, &reduced);
    return status;
}

void sn_reduced_destroy(sn_context *ctx, sn_reduced *reduced) {
    SN_RELEASE(ctx, reduced->start);
    SN_RELEASE(ctx, reduced->column);
    SN_RELEASE(ctx, reduced->source);
}

/// Lists the dropped entries by the column in which they would be.
static sn_status list_dropped(sn_factor *factor, const sn_factor_matrix *matrix) {
    sn_status status = SN_OK;
    sn_context *ctx = factor->context;
    int32_t *position = NULL, n = matrix->n;
    uint32_t *start = NULL;
    SN_TRY_NEW(ctx, position, n);
    SN_TRY_NEW(ctx, factor->dropped, factor->info.dropped_count);
    SN_TRY_NEW_ZEROED(ctx, factor->dropped_start, (size_t)n + 1);
    start = factor->dropped_start;
    for (int32_t k = 0; k < n; k++)
        position[factor->unknown[k]] = k;
    // The first pass counts, the second fills and moves each start to the next one's place.
    for (int32_t pass = 0; pass < 2; pass++) {
        for (int32_t row = 0; row < n; row++) {
            for (int64_t e = matrix->start[row]; e < matrix->start[row + 1]; e++) {
                if (!is_dropped(matrix, row, e))
                    continue;
                int32_t i = position[row], j = position[matrix->column[e]], low = i < j ? i : j;
                if (pass == 0)
                    start[low + 1]++;
                else
                    factor->dropped[start[low]++] = (uint32_t)e;
            }
        }
        if (pass == 0)
            for (int32_t i = 0; i < n; i++)
                start[i + 1] += start[i];
    }
    memmove(start + 1, start, (size_t)n * sizeof *start);
    start[0] = 0;

cleanup:
    SN_RELEASE(ctx, position);
    return status;
}

sn_status sn_factor_note_dropped(sn_factor *factor, const sn_factor_matrix *matrix,
                                 const sn_reduced *reduced) {
    int64_t left = reduced->start[matrix->n];
    for (int64_t k = 0; k < left; k++)
        factor->entries[k].source = reduced->source[factor->entries[k].source];
    factor->info.dropped_count = matrix->start[matrix->n] - left;
    return factor->info.dropped_count > 0 ? list_dropped(factor, matrix) : SN_OK;
}

sn_status sn_factor_refuse_entry(const sn_factor *factor, const sn_factor_matrix *matrix, int64_t entry) {
    double value = matrix->value[entry];
    int32_t row = 0;
    while (matrix->start[row + 1] <= entry)
        row++;
    if (!isfinite(value))
        return sn_fail(factor->context, SN_ERR_NON_FINITE, "entry (%d, %d) of the matrix is %g", (int)row,
                       (int)matrix->column[entry], value);
    return sn_fail(factor->context, SN_ERR_INVALID_ARGUMENT,
                   "entry (%d, %d) of the matrix is %g, but it was 0 when the pattern was analyzed, and so "
                   "dropped: create the factor without drop_zeros, or anew with these values",
                   (int)row, (int)matrix->column[entry], value);
}

sn_status sn_factor_check_dropped(const sn_factor *factor, const sn_factor_matrix *matrix, int32_t first,
                                  int32_t end) {
    if (!factor->dropped)
        return SN_OK;
    for (uint32_t k = factor->dropped_start[first]; k < factor->dropped_start[end]; k++)
        if (matrix->value[factor->dropped[k]] != 0)
            return sn_factor_refuse_entry(factor, matrix, factor->dropped[k]);
    return SN_OK;
}
