/// The kernels of one storage; included by factor_sweep_level.h, which defines the macros used here.
///
/// All loops over columns have constant bounds where the functions are used, so that they unroll and the
/// arrays of vectors become registers. Each row is summed in one order, wherever it lies in its block.

typedef REAL NAME(wide) __attribute__((vector_size(64), may_alias));
typedef REAL NAME(place) __attribute__((vector_size(4 * sizeof(REAL)), may_alias));

#define WIDE   NAME(wide)
#define PLACE  NAME(place)
#define HALVES (16 / LANES) // wides in a 4 x 4 block
#define ROWS   (LANES / 4)  // rows in one of them

/// Work on one stripe: its triangle, some of the node's later columns (inner rows), some of its rows (outer).
/// Ranges begin at multiples of 4, and end there or at the last row.
typedef struct NAME(stripe) {
    const ELEMENT *values;
    PLACE *own, *places;
    const int32_t *listed;
    int32_t inner_count, inner_first, inner_last, outer_first, outer_last;
    bool with_corner;
} NAME(stripe);

/// One wide of a block of `columns` columns; columns that the block lacks repeat its last one.
SN_SWEEP_PART void NAME(read_block)(const ELEMENT *values, int32_t columns, int32_t half, WIDE *out) {
    WIDE v;
    READ(v, values + half * ROWS * columns);
    if (columns == 1)
        v = EXPAND_1(v);
    if (columns == 2)
        v = EXPAND_2(v);
    if (columns == 3)
        v = EXPAND_3(v);
    *out = v;
}

/// Adds the products of a block with up to 4 columns of x, in two sums that do not wait for each other.
SN_SWEEP_PART void NAME(multiply_block)(const WIDE *block, int32_t columns, const WIDE *x, WIDE *even,
                                        WIDE *odd) {
    *even += SPREAD(*block, 0) * x[0];
    if (columns > 1)
        *odd += SPREAD(*block, 1) * x[1];
    if (columns > 2)
        *even += SPREAD(*block, 2) * x[2];
    if (columns > 3)
        *odd += SPREAD(*block, 3) * x[3];
}

/// Products of up to 4 rows with x.
SN_SWEEP_PART void NAME(multiply_rows)(int32_t columns, int32_t rows, const ELEMENT *values, const WIDE *x,
                                       WIDE *sum) {
    for (int32_t half = 0; half < HALVES; half++) {
        WIDE block, even = {0}, odd = {0};
        SN_SWEEP_UNROLL for (int32_t q = 0; q < columns / 4; q++) {
            NAME(read_block)(values + 4 * q * rows, 4, half, &block);
            NAME(multiply_block)(&block, 4, x + 4 * q, &even, &odd);
        }
        if (columns % 4 > 0) {
            NAME(read_block)(values + columns / 4 * 4 * rows, columns % 4, half, &block);
            NAME(multiply_block)(&block, columns % 4, x + columns / 4 * 4, &even, &odd);
        }
        sum[half] = even + odd;
    }
}

SN_SWEEP_PART void NAME(subtract_rows)(int32_t rows, const WIDE *sum, const int32_t *listed, PLACE *target) {
    if (!listed && rows == 4) {
        for (int32_t half = 0; half < HALVES; half++) {
            WIDE old;
            memcpy(&old, target + half * ROWS, sizeof old);
            old -= sum[half];
            memcpy(target + half * ROWS, &old, sizeof old);
        }
        return;
    }
    target[listed ? listed[0] : 0] -= EXTRACT(sum, 0);
    if (rows > 1)
        target[listed ? listed[1] : 1] -= EXTRACT(sum, 1);
    if (rows > 2)
        target[listed ? listed[2] : 2] -= EXTRACT(sum, 2);
    if (rows > 3)
        target[listed ? listed[3] : 3] -= EXTRACT(sum, 3);
}

/// Asks for the lines of a block of 4 rows some bytes ahead.
SN_SWEEP_PART void NAME(prefetch)(int32_t columns, const ELEMENT *values, int32_t ahead) {
    const int32_t size = 4 * columns * (int32_t)sizeof *values;
    SN_SWEEP_UNROLL for (int32_t byte = 0; byte < size; byte += 64)
        __builtin_prefetch((const uint8_t *)values + ahead + byte);
}

/// Subtracts rows first..last-1 of a segment times x from `target`, whose rows are listed or (NULL) follow
/// one another.
SN_SWEEP_PART void NAME(forward_segment)(int32_t columns, const ELEMENT *restrict values,
                                         const int32_t *restrict listed, int32_t first, int32_t last,
                                         const WIDE *x, PLACE *restrict target) {
    int32_t row = first;
    WIDE sum[HALVES];
    for (; row + 4 <= last; row += 4) {
        NAME(prefetch)(columns, values + (int64_t)row * columns, SN_SWEEP_AHEAD);
        NAME(multiply_rows)(columns, 4, values + (int64_t)row * columns, x, sum);
        NAME(subtract_rows)(4, sum, listed ? listed + row : NULL, listed ? target : target + row);
    }
    if (row < last) {
        NAME(multiply_rows)(columns, last - row, values + (int64_t)row * columns, x, sum);
        NAME(subtract_rows)(last - row, sum, listed ? listed + row : NULL, listed ? target : target + row);
    }
}

/// Packed triangle in REAL.
SN_SWEEP_PART void NAME(read_corner)(int32_t columns, const ELEMENT *values, REAL *out) {
    for (int32_t e = 0; e < columns * (columns + 1) / 2; e += LANES) {
        WIDE v;
        READ(v, values + e);
        memcpy(out + e, &v, sizeof v);
    }
}

SN_SWEEP_PART void NAME(forward_stripe)(int32_t columns, const NAME(stripe) * s) {
    WIDE x[16];
    if (s->with_corner) {
        SN_VECTOR_MEMORY REAL corner[136 + LANES];
        NAME(read_corner)(columns, s->values, corner);
        const REAL *row = corner;
        for (int32_t i = 0; i < columns; row += ++i) {
            PLACE value = s->own[i];
            for (int32_t j = 0; j < i; j++)
                value -= row[j] * s->own[j];
            s->own[i] = value * row[i];
        }
    }
    SN_SWEEP_UNROLL for (int32_t j = 0; j < columns; j++) {
        PLACE value = s->own[j];
        x[j] = REPEAT(value);
    }
    const ELEMENT *values = s->values + sn_triangle_size(columns);
    if (columns == 16)
        NAME(forward_segment)(columns, values, NULL, s->inner_first, s->inner_last, x, s->own + columns);
    NAME(forward_segment)
    (columns, values + (int64_t)columns * s->inner_count, s->listed, s->outer_first, s->outer_last, x,
     s->places);
}

/// Adds the products of up to 4 rows with their places to sum[column / 4][right-hand side].
SN_SWEEP_PART void NAME(gather_rows)(int32_t columns, int32_t rows, const ELEMENT *values,
                                     const int32_t *listed, const PLACE *source, WIDE (*sum)[3]) {
    WIDE y[HALVES];
    if (!listed && rows == 4) {
        memcpy(y, source, sizeof y);
    } else {
        PLACE p[4] = {{0}};
        p[0] = source[listed ? listed[0] : 0];
        if (rows > 1)
            p[1] = source[listed ? listed[1] : 1];
        if (rows > 2)
            p[2] = source[listed ? listed[2] : 2];
        if (rows > 3)
            p[3] = source[listed ? listed[3] : 3];
        JOIN(y, p);
    }
    for (int32_t half = 0; half < HALVES; half++) {
        const WIDE y0 = SPREAD(y[half], 0), y1 = SPREAD(y[half], 1), y2 = SPREAD(y[half], 2);
        SN_SWEEP_UNROLL for (int32_t q = 0; q < (columns + 3) / 4; q++) {
            WIDE block;
            NAME(read_block)(values + 4 * q * rows, 4 * q + 4 <= columns ? 4 : columns % 4, half, &block);
            SN_SWEEP_HOLD(block);
            sum[q][0] += block * y0;
            sum[q][1] += block * y1;
            sum[q][2] += block * y2;
        }
    }
}

/// Rows last-1..first of a segment: memory is read downward.
SN_SWEEP_PART void NAME(backward_segment)(int32_t columns, const ELEMENT *restrict values,
                                          const int32_t *restrict listed, int32_t first, int32_t last,
                                          const PLACE *restrict source, WIDE (*sum)[3]) {
    int32_t row = first + (last - first) / 4 * 4;
    if (row < last)
        NAME(gather_rows)
    (columns, last - row, values + (int64_t)row * columns, listed ? listed + row : NULL,
     listed ? source : source + row, sum);
    while (row > first) {
        row -= 4;
        NAME(prefetch)(columns, values + (int64_t)row * columns, -SN_SWEEP_AHEAD);
        NAME(gather_rows)
        (columns, 4, values + (int64_t)row * columns, listed ? listed + row : NULL,
         listed ? source : source + row, sum);
    }
}

/// Subtracts the sums over lane groups from up to 4 columns.
SN_SWEEP_PART void NAME(subtract_sums)(int32_t columns, const WIDE *sum, PLACE *own) {
    const PLACE x = ADD_GROUPS(sum[0]), y = ADD_GROUPS(sum[1]), z = ADD_GROUPS(sum[2]), none = {0};
    const PLACE xy = __builtin_shufflevector(x, y, 0, 4, 1, 5),
                zw = __builtin_shufflevector(z, none, 0, 4, 1, 5);
    own[0] -= __builtin_shufflevector(xy, zw, 0, 1, 4, 5);
    if (columns > 1)
        own[1] -= __builtin_shufflevector(xy, zw, 2, 3, 6, 7);
    const PLACE xy2 = __builtin_shufflevector(x, y, 2, 6, 3, 7),
                zw2 = __builtin_shufflevector(z, none, 2, 6, 3, 7);
    if (columns > 2)
        own[2] -= __builtin_shufflevector(xy2, zw2, 0, 1, 4, 5);
    if (columns > 3)
        own[3] -= __builtin_shufflevector(xy2, zw2, 2, 3, 6, 7);
}

SN_SWEEP_PART void NAME(backward_stripe)(int32_t columns, const NAME(stripe) * s) {
    WIDE sum[4][3] = {{{0}}};
    const ELEMENT *values = s->values + sn_triangle_size(columns);
    NAME(backward_segment)
    (columns, values + (int64_t)columns * s->inner_count, s->listed, s->outer_first, s->outer_last, s->places,
     sum);
    if (columns == 16)
        NAME(backward_segment)(columns, values, NULL, s->inner_first, s->inner_last, s->own + columns, sum);
    SN_SWEEP_UNROLL for (int32_t q = 0; q < (columns + 3) / 4; q++)
        NAME(subtract_sums)(4 * q + 4 <= columns ? 4 : columns % 4, sum[q], s->own + 4 * q);
    if (!s->with_corner)
        return;
    SN_VECTOR_MEMORY REAL corner[136 + LANES];
    NAME(read_corner)(columns, s->values, corner);
    const REAL *row = corner + columns * (columns + 1) / 2;
    for (int32_t i = columns - 1; i >= 0; i--) {
        row -= i + 1;
        const PLACE value = s->own[i] * row[i];
        s->own[i] = value;
        for (int32_t j = 0; j < i; j++)
            s->own[j] -= row[j] * value;
    }
}

// One function for each number of columns.
#define DEFINE_STRIPE(columns)                                                                               \
    SN_SWEEP_KERNEL void NAME(forward_##columns)(const NAME(stripe) * s) {                                   \
        NAME(forward_stripe)(columns, s);                                                                    \
    }                                                                                                        \
    SN_SWEEP_KERNEL void NAME(backward_##columns)(const NAME(stripe) * s) {                                  \
        NAME(backward_stripe)(columns, s);                                                                   \
    }

DEFINE_STRIPE(1)
DEFINE_STRIPE(2)
DEFINE_STRIPE(3)
DEFINE_STRIPE(4)
DEFINE_STRIPE(5)
DEFINE_STRIPE(6)
DEFINE_STRIPE(7)
DEFINE_STRIPE(8)
DEFINE_STRIPE(9)
DEFINE_STRIPE(10)
DEFINE_STRIPE(11)
DEFINE_STRIPE(12)
DEFINE_STRIPE(13)
DEFINE_STRIPE(14)
DEFINE_STRIPE(15)
DEFINE_STRIPE(16)
#undef DEFINE_STRIPE

typedef void NAME(stripe_kernel)(const NAME(stripe) *);

#define STRIPE_TABLE(sweep)                                                                                  \
    {                                                                                                        \
        NULL, NAME(sweep##_1), NAME(sweep##_2), NAME(sweep##_3), NAME(sweep##_4), NAME(sweep##_5),           \
            NAME(sweep##_6), NAME(sweep##_7), NAME(sweep##_8), NAME(sweep##_9), NAME(sweep##_10),            \
            NAME(sweep##_11), NAME(sweep##_12), NAME(sweep##_13), NAME(sweep##_14), NAME(sweep##_15),        \
            NAME(sweep##_16)                                                                                 \
    }

/// By number of columns.
static NAME(stripe_kernel) *const NAME(forward_kernels)[] = STRIPE_TABLE(forward);
static NAME(stripe_kernel) *const NAME(backward_kernels)[] = STRIPE_TABLE(backward);
#undef STRIPE_TABLE

SN_SWEEP_KERNEL void NAME(forward)(const sn_sweep_run *run) {
    for (const sn_supernode *node = run->nodes + run->first; node < run->nodes + run->end; node++) {
        NAME(stripe)
        s = {.values = (const ELEMENT *)run->values + node->value_start,
             .own = (PLACE *)run->places + node->place,
             .places = run->places,
             .listed = run->row_place + node->row_start,
             .outer_last = node->row_count,
             .with_corner = true};
        for (int32_t left = node->width; left > 0;) {
            int32_t columns = left < SN_STRIPE_COLUMNS ? left : SN_STRIPE_COLUMNS;
            left -= columns;
            s.inner_count = s.inner_last = left;
            NAME(forward_kernels)[columns](&s);
            s.values += sn_stripe_size(columns, left + node->row_count);
            s.own += columns;
        }
    }
}

SN_SWEEP_KERNEL void NAME(backward)(const sn_sweep_run *run) {
    for (const sn_supernode *node = run->nodes + run->end; node-- > run->nodes + run->first;) {
        NAME(stripe)
        s = {.values = (const ELEMENT *)run->values + node->value_start +
                       sn_packed_size(node->width, node->row_count),
             .own = (PLACE *)run->places + node->place + node->width,
             .places = run->places,
             .listed = run->row_place + node->row_start,
             .outer_last = node->row_count,
             .with_corner = true};
        for (int32_t behind = 0; behind < node->width;) {
            int32_t columns = sn_stripe_columns(node->width, (node->width - behind - 1) / 16 * 16);
            s.values -= sn_stripe_size(columns, behind + node->row_count);
            s.own -= columns;
            s.inner_count = s.inner_last = behind;
            NAME(backward_kernels)[columns](&s);
            behind += columns;
        }
    }
}

/// Stripe `index` of a block, without any work to do.
static NAME(stripe) NAME(block_stripe)(const sn_sweep_block *block, int32_t index, int32_t *out_columns) {
    const sn_supernode *node = block->node;
    int32_t column = block->begin + SN_STRIPE_COLUMNS * index;
    *out_columns = sn_stripe_columns(node->width, column);
    return (NAME(stripe)){
        .values = (const ELEMENT *)block->values +
                  sn_stripe_start(node->width + (int64_t)node->row_count, column / SN_STRIPE_COLUMNS),
        .own = (PLACE *)block->places + node->place + column,
        .places = block->places,
        .listed = block->row_place,
        .inner_count = node->width - column - *out_columns};
}

static void NAME(forward_corner)(const sn_sweep_block *block) {
    for (int32_t k = 0; k < sn_block_stripes(block); k++) {
        int32_t columns;
        NAME(stripe) s = NAME(block_stripe)(block, k, &columns);
        s.inner_last = s.inner_count - (block->node->width - block->end);
        s.with_corner = true;
        NAME(forward_kernels)[columns](&s);
    }
}

static void NAME(forward_rows)(const sn_sweep_block *block, int32_t part, int32_t parts) {
    int32_t below = block->node->width - block->end;
    for (int32_t k = 0; k < sn_block_stripes(block); k++) {
        int32_t columns;
        NAME(stripe) s = NAME(block_stripe)(block, k, &columns);
        int32_t shift = s.inner_count - below;
        sn_part(below, 4, part, parts, &s.inner_first, &s.inner_last);
        sn_part(block->node->row_count, 4, part, parts, &s.outer_first, &s.outer_last);
        s.inner_first += shift;
        s.inner_last += shift;
        NAME(forward_kernels)[columns](&s);
    }
}

static void NAME(backward_rows)(const sn_sweep_block *block, int32_t part, int32_t parts) {
    int32_t below = block->node->width - block->end, first, last;
    sn_part(sn_block_stripes(block), 1, part, parts, &first, &last);
    for (int32_t k = last - 1; k >= first; k--) {
        int32_t columns;
        NAME(stripe) s = NAME(block_stripe)(block, k, &columns);
        s.inner_first = s.inner_count - below;
        s.inner_last = s.inner_count;
        s.outer_last = block->node->row_count;
        NAME(backward_kernels)[columns](&s);
    }
}

static void NAME(backward_corner)(const sn_sweep_block *block) {
    for (int32_t k = sn_block_stripes(block) - 1; k >= 0; k--) {
        int32_t columns;
        NAME(stripe) s = NAME(block_stripe)(block, k, &columns);
        s.inner_last = s.inner_count - (block->node->width - block->end);
        s.with_corner = true;
        NAME(backward_kernels)[columns](&s);
    }
}

SN_SWEEP_KERNEL void NAME(load)(const sn_sweep_vector *vector, int32_t first, int32_t count, int32_t place,
                                void *places) {
    PLACE *target = (PLACE *)places + place;
    const double *scale = vector->scale ? vector->scale + place : NULL;
    for (int32_t i = 0; i < count; i++) {
        const double *source = vector->x + (int64_t)vector->unknown[first + i] * vector->width;
        PLACE value = {0};
        for (int32_t k = 0; k < vector->width; k++)
            value[k] = (REAL)(scale ? source[k] * scale[i] : source[k]);
        target[i] = value;
    }
}

SN_SWEEP_KERNEL void NAME(store)(const sn_sweep_vector *vector, int32_t first, int32_t count, int32_t place,
                                 const void *places) {
    const PLACE *source = (const PLACE *)places + place;
    const double *scale = vector->scale ? vector->scale + place : NULL;
    for (int32_t i = 0; i < count; i++) {
        double *target = vector->x + (int64_t)vector->unknown[first + i] * vector->width;
        for (int32_t k = 0; k < vector->width; k++)
            target[k] = (double)source[i][k] * (scale ? scale[i] : 1);
    }
}

SN_SWEEP_KERNEL void NAME(clear)(void *places, int32_t place, int32_t count) {
    memset((PLACE *)places + place, 0, (size_t)count * sizeof(PLACE));
}

SN_SWEEP_KERNEL void NAME(scatter)(void *places, int32_t place, int32_t count, const int32_t *listed) {
    PLACE *all = places;
    for (int32_t i = 0; i < count; i++)
        all[listed[i]] += all[place + i];
}

SN_SWEEP_KERNEL void NAME(gather)(void *places, int32_t place, int32_t count, const int32_t *listed) {
    PLACE *all = places;
    for (int32_t i = 0; i < count; i++)
        all[place + i] = all[listed[i]];
}

SN_SWEEP_KERNEL void NAME(widen)(const void *places, int32_t place, int32_t count, double *out) {
    const PLACE *source = (const PLACE *)places + place;
    for (int32_t i = 0; i < count; i++)
        for (int32_t k = 0; k < 4; k++)
            out[(int64_t)i * 4 + k] = (double)source[i][k];
}

SN_SWEEP_KERNEL void NAME(narrow)(const double *values, int32_t count, void *places, int32_t place) {
    PLACE *target = (PLACE *)places + place;
    for (int32_t i = 0; i < count; i++) {
        const double *v = values + (int64_t)i * 4;
        target[i] = (PLACE){(REAL)v[0], (REAL)v[1], (REAL)v[2], (REAL)v[3]};
    }
}

#undef WIDE
#undef PLACE
#undef HALVES
#undef ROWS
