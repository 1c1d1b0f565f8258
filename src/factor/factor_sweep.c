#include "factor/factor_sweep.h"

#include "base/base_parallel.h"

#include <string.h>

typedef double pair __attribute__((vector_size(16), may_alias));
typedef double quad __attribute__((vector_size(32), may_alias));
typedef double octet __attribute__((vector_size(64), may_alias));

/// One stripe of a block, where it lies in memory.
typedef struct stripe {
    const double *values;
    int32_t column, columns, stride;
} stripe;

/// The stripe that follows; the first one when `s` is all zero but `values` and `column`.
SN_INLINE stripe stripe_next(const sn_sweep_block *block, stripe s) {
    int32_t rows = block->node->width - s.column + block->node->row_count;
    stripe next = {s.values + (int64_t)rows * s.stride, s.column + s.columns, 0, 0};
    next.columns = sn_stripe_columns(block->node->width, next.column);
    next.stride = sn_stripe_stride(next.columns);
    return next;
}

/// Stripes of unit `unit` (8 columns, the last one fewer) of a block: one, or two when 5 or 6 columns are
/// left.
SN_INLINE int32_t unit_stripes(const sn_sweep_block *block, int32_t unit, stripe out_stripes[2]) {
    int64_t rows = block->node->width - block->begin + block->node->row_count;
    stripe s = {block->values + sn_unit_start(rows, unit), block->begin + 8 * unit, 0, 0};
    int32_t count = 0, end = s.column + 8 < block->end ? s.column + 8 : block->end;
    for (s = stripe_next(block, s); s.column < end; s = stripe_next(block, s))
        out_stripes[count++] = s;
    return count;
}

SN_INLINE int32_t unit_count(const sn_sweep_block *block) {
    return (block->end - block->begin + 7) / 8;
}

/// Subtracts `count` rows of a stripe times x from `target`, whose rows are listed or (NULL) follow one
/// another. `stride` is a constant at each place of use.
SN_INLINE void subtract_rows(int32_t stride, const double *restrict l, const int32_t *restrict listed,
                             int32_t count, const sn_place *restrict x, sn_place *restrict target) {
    const sn_place x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3], x4 = x[4], x5 = x[5], x6 = x[6], x7 = x[7];
    for (int32_t i = 0; i < count; i++, l += stride) {
        sn_place *row = target + (listed ? listed[i] : i);
        sn_place sum = *row - l[0] * x0;
        if (stride > 1)
            sum -= l[1] * x1;
        if (stride > 2) {
            sum -= l[2] * x2;
            sum -= l[3] * x3;
        }
        if (stride > 4) {
            sum -= l[4] * x4;
            sum -= l[5] * x5;
            sum -= l[6] * x6;
            sum -= l[7] * x7;
        }
        *row = sum;
    }
}

/// Rows first..last-1 below the block, for one stripe.
SN_INLINE void forward_stripe_rows(int32_t stride, const sn_sweep_block *block, const stripe *s,
                                   int32_t first, int32_t last) {
    sn_place x[8] = {{0}};
    for (int32_t j = 0; j < s->columns; j++)
        x[j] = block->places[block->node->place + s->column + j];
    int32_t columns_below = block->node->width - block->end;
    const double *l = s->values + (int64_t)(block->end - s->column) * stride;
    if (first < columns_below) {
        int32_t end = last < columns_below ? last : columns_below;
        subtract_rows(stride, l + (int64_t)first * stride, NULL, end - first, x,
                      block->places + block->node->place + block->end + first);
        first = end;
    }
    if (first < last)
        subtract_rows(stride, l + (int64_t)first * stride, block->row_place + (first - columns_below),
                      last - first, x, block->places);
}

SN_CLONES static void sn_forward_rows_cloned(const sn_sweep_block *block, int32_t first, int32_t last) {
    stripe s = {block->values, block->begin, 0, 0};
    for (s = stripe_next(block, s); s.column < block->end; s = stripe_next(block, s)) {
        if (s.stride == 8)
            forward_stripe_rows(8, block, &s, first, last);
        else if (s.stride == 4)
            forward_stripe_rows(4, block, &s, first, last);
        else if (s.stride == 2)
            forward_stripe_rows(2, block, &s, first, last);
        else
            forward_stripe_rows(1, block, &s, first, last);
    }
}

/// Solves with the triangle of one stripe and subtracts it from the columns of the block behind it.
SN_INLINE void forward_stripe_corner(int32_t stride, const sn_sweep_block *block, const stripe *s) {
    sn_place *own = block->places + block->node->place + s->column;
    sn_place x[8] = {{0}};
    for (int32_t j = 0; j < s->columns; j++)
        x[j] = own[j];
    for (int32_t j = 0; j < s->columns; j++) {
        x[j] *= s->values[j * stride + j];
        for (int32_t i = j + 1; i < s->columns; i++)
            x[i] -= s->values[i * stride + j] * x[j];
        own[j] = x[j];
    }
    subtract_rows(stride, s->values + s->columns * stride, NULL, block->end - s->column - s->columns, x,
                  own + s->columns);
}

SN_CLONES static void sn_forward_corner_cloned(const sn_sweep_block *block) {
    stripe s = {block->values, block->begin, 0, 0};
    for (s = stripe_next(block, s); s.column < block->end; s = stripe_next(block, s)) {
        if (s.stride == 8)
            forward_stripe_corner(8, block, &s);
        else if (s.stride == 4)
            forward_stripe_corner(4, block, &s);
        else if (s.stride == 2)
            forward_stripe_corner(2, block, &s);
        else
            forward_stripe_corner(1, block, &s);
    }
}

/// Products of the rows of a stripe with the vector, summed: sum[k * 8 + j] += l[i][j] * y[i][k]. Two sums in
/// turn hide the latency of the additions.
#define DEFINE_ADD_ROWS(name, type, stride)                                                                  \
    SN_INLINE void name(const double *restrict l, const int32_t *restrict listed, int32_t count,             \
                        const sn_place *restrict source, double *restrict sum) {                             \
        type a0, a1, a2, b0, b1, b2;                                                                         \
        memset(&b0, 0, sizeof b0);                                                                           \
        memset(&b1, 0, sizeof b1);                                                                           \
        memset(&b2, 0, sizeof b2);                                                                           \
        memcpy(&a0, sum, sizeof a0);                                                                         \
        memcpy(&a1, sum + 8, sizeof a1);                                                                     \
        memcpy(&a2, sum + 16, sizeof a2);                                                                    \
        int32_t i = 0;                                                                                       \
        for (; i + 2 <= count; i += 2, l += 2 * (stride)) {                                                  \
            const double *y = (const double *)(source + (listed ? listed[i] : i));                           \
            const double *z = (const double *)(source + (listed ? listed[i + 1] : i + 1));                   \
            const type row = *(const type *)l, other = *(const type *)(l + (stride));                        \
            a0 += row * y[0];                                                                                \
            a1 += row * y[1];                                                                                \
            a2 += row * y[2];                                                                                \
            b0 += other * z[0];                                                                              \
            b1 += other * z[1];                                                                              \
            b2 += other * z[2];                                                                              \
        }                                                                                                    \
        if (i < count) {                                                                                     \
            const double *y = (const double *)(source + (listed ? listed[i] : i));                           \
            const type row = *(const type *)l;                                                               \
            a0 += row * y[0];                                                                                \
            a1 += row * y[1];                                                                                \
            a2 += row * y[2];                                                                                \
        }                                                                                                    \
        a0 += b0;                                                                                            \
        a1 += b1;                                                                                            \
        a2 += b2;                                                                                            \
        memcpy(sum, &a0, sizeof a0);                                                                         \
        memcpy(sum + 8, &a1, sizeof a1);                                                                     \
        memcpy(sum + 16, &a2, sizeof a2);                                                                    \
    }

DEFINE_ADD_ROWS(add_rows_1, double, 1)
DEFINE_ADD_ROWS(add_rows_2, pair, 2)
DEFINE_ADD_ROWS(add_rows_4, quad, 4)
DEFINE_ADD_ROWS(add_rows_8, octet, 8)

SN_INLINE void add_rows(int32_t stride, const double *l, const int32_t *listed, int32_t count,
                        const sn_place *source, double *sum) {
    if (stride == 8)
        add_rows_8(l, listed, count, source, sum);
    else if (stride == 4)
        add_rows_4(l, listed, count, source, sum);
    else if (stride == 2)
        add_rows_2(l, listed, count, source, sum);
    else
        add_rows_1(l, listed, count, source, sum);
}

SN_INLINE void subtract_sum(int32_t columns, const double *sum, sn_place *own) {
    for (int32_t j = 0; j < columns; j++) {
        sn_place x = {sum[j], sum[8 + j], sum[16 + j], 0};
        own[j] -= x;
    }
}

SN_CLONES static void sn_backward_rows_cloned(const sn_sweep_block *block, int32_t first, int32_t last) {
    int32_t columns_below = block->node->width - block->end, row_count = block->node->row_count;
    if (columns_below + row_count == 0)
        return;
    for (int32_t unit = first; unit < last; unit++) {
        stripe stripes[2];
        int32_t count = unit_stripes(block, unit, stripes);
        for (int32_t k = 0; k < count; k++) {
            const stripe *s = &stripes[k];
            const double *l = s->values + (int64_t)(block->end - s->column) * s->stride;
            double sum[24] = {0};
            add_rows(s->stride, l, NULL, columns_below, block->places + block->node->place + block->end, sum);
            add_rows(s->stride, l + (int64_t)columns_below * s->stride, block->row_place, row_count,
                     block->places, sum);
            subtract_sum(s->columns, sum, block->places + block->node->place + s->column);
        }
    }
}

SN_INLINE void backward_stripe_corner(const sn_sweep_block *block, const stripe *s) {
    sn_place *own = block->places + block->node->place + s->column;
    double sum[24] = {0};
    add_rows(s->stride, s->values + s->columns * s->stride, NULL, block->end - s->column - s->columns,
             own + s->columns, sum);
    subtract_sum(s->columns, sum, own);
    for (int32_t j = s->columns - 1; j >= 0; j--) {
        sn_place x = own[j];
        for (int32_t i = j + 1; i < s->columns; i++)
            x -= s->values[i * s->stride + j] * own[i];
        own[j] = x * s->values[j * s->stride + j];
    }
}

SN_CLONES static void sn_backward_corner_cloned(const sn_sweep_block *block) {
    for (int32_t unit = unit_count(block) - 1; unit >= 0; unit--) {
        stripe stripes[2];
        int32_t count = unit_stripes(block, unit, stripes);
        for (int32_t k = count - 1; k >= 0; k--)
            backward_stripe_corner(block, &stripes[k]);
    }
}

// clang 14 resolves clones inside their own file only, hence these.

void sn_forward_corner(const sn_sweep_block *block) {
    sn_forward_corner_cloned(block);
}

void sn_forward_rows(const sn_sweep_block *block, int32_t first, int32_t last) {
    sn_forward_rows_cloned(block, first, last);
}

void sn_backward_rows(const sn_sweep_block *block, int32_t first, int32_t last) {
    sn_backward_rows_cloned(block, first, last);
}

void sn_backward_corner(const sn_sweep_block *block) {
    sn_backward_corner_cloned(block);
}
