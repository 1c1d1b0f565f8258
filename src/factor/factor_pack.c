#include "factor/factor_sweep.h"

#include "base/base_parallel.h"

#include <math.h>
#include <string.h>

/// One stripe of a panel on its way into storage.
typedef struct pack_job {
    const void *panel; ///< Its first diagonal entry.
    int64_t panel_stride;
    int32_t columns;
    int32_t inner, outer; ///< Rows of later columns, and rows below the panel.
} pack_job;

/// To the nearest half, ties to even; what is too large becomes the largest half. A subnormal result is
/// rounded by adding the float whose last digit is worth as much as the last digit of a subnormal half.
SN_INLINE uint16_t to_half(double value) {
    const uint32_t smallest_normal = 113u << 23, largest = 0x477fe000u;
    float narrow = (float)value, magic = 0.5f;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
    size = size < largest ? size : largest;
    uint32_t normal = (size - (112u << 23) + 0xfff + (size >> 13 & 1)) >> 13;
    float magnitude;
    memcpy(&magnitude, &size, sizeof magnitude);
    magnitude += magic;
    uint32_t subnormal, offset;
    memcpy(&subnormal, &magnitude, sizeof subnormal);
    memcpy(&offset, &magic, sizeof offset);
    subnormal -= offset;
    return (uint16_t)(sign | (size < smallest_normal ? subnormal : normal));
}

SN_INLINE float to_float(double value) {
    return (float)value;
}

SN_INLINE double to_double(double value) {
    return value;
}

/// Packs up to 4 rows, 4 columns at a time, and returns the end; packs a stripe.
#define DEFINE_PACK(name, storage, type, real)                                                               \
    SN_INLINE type *pack_rows_##name(const pack_job *job, int32_t rows, const real *panel, type *target) {   \
        for (int32_t j = 0; j < job->columns; j += 4) {                                                      \
            int32_t columns = job->columns - j < 4 ? job->columns - j : 4;                                   \
            for (int32_t i = 0; i < rows; i++)                                                               \
                for (int32_t k = 0; k < columns; k++)                                                        \
                    *target++ = to_##storage(panel[i + (j + k) * job->panel_stride]);                        \
        }                                                                                                    \
        return target;                                                                                       \
    }                                                                                                        \
                                                                                                             \
    SN_CLONES static void sn_pack_##name(const pack_job *job, void *start) {                                 \
        type *target = start;                                                                                \
        const real *panel = job->panel;                                                                      \
        for (int32_t i = 0; i < job->columns; i++) {                                                         \
            for (int32_t j = 0; j < i; j++)                                                                  \
                *target++ = to_##storage(panel[i + j * job->panel_stride]);                                  \
            *target++ = to_##storage(1 / (double)panel[i + i * job->panel_stride]);                          \
        }                                                                                                    \
        target = (type *)start + sn_triangle_size(job->columns);                                             \
        panel += job->columns;                                                                               \
        for (int32_t i = 0; i < job->inner; i += 4)                                                          \
            target = pack_rows_##name(job, job->inner - i < 4 ? job->inner - i : 4, panel + i, target);      \
        panel += job->inner;                                                                                 \
        for (int32_t i = 0; i < job->outer; i += 4)                                                          \
            target = pack_rows_##name(job, job->outer - i < 4 ? job->outer - i : 4, panel + i, target);      \
    }

DEFINE_PACK(double_double, double, double, double)
DEFINE_PACK(double_float, float, float, double)
DEFINE_PACK(double_half, half, uint16_t, double)
DEFINE_PACK(float_double, double, double, float)
DEFINE_PACK(float_float, float, float, float)
DEFINE_PACK(float_half, half, uint16_t, float)

typedef void pack_stripe(const pack_job *job, void *start);

/// By precision of the panel and by storage.
static pack_stripe *choose_pack(size_t real_size, sn_factor_storage storage) {
    static pack_stripe *const table[2][3] = {
        {sn_pack_double_double, sn_pack_double_float, sn_pack_double_half},
        {sn_pack_float_double, sn_pack_float_float, sn_pack_float_half}};
    return table[real_size == sizeof(float)][storage];
}

void sn_pack_tile(const void *data, int32_t tile) {
    const sn_front *f = data;
    const sn_factor *factor = f->factor;
    const sn_supernode *node = f->node;
    size_t real_size = factor->fronts->real_size;
    int32_t column = tile * SN_STRIPE_COLUMNS, columns = sn_stripe_columns(node->width, column);
    int64_t total = (int64_t)node->width + node->row_count;
    pack_job job = {.panel = (const uint8_t *)f->panel + sn_panel_column(node, column) * (int64_t)real_size,
                    .panel_stride = sn_trapezoid_stride(total, SN_PANEL_BLOCK, column / SN_PANEL_BLOCK),
                    .columns = columns,
                    .inner = node->width - column - columns,
                    .outer = node->row_count};
    int64_t offset = node->value_start + sn_stripe_start(total, tile);
    choose_pack(real_size, factor->storage)(&job, (uint8_t *)factor->values +
                                                      offset * (int64_t)factor->kernels->value_size);
}

/// A panel that is packed where it stands, with `width` columns and `rows` rows.
typedef struct packing {
    void *values;
    int64_t width, rows;
    size_t real_size, value_size;
    sn_factor_storage storage;
    void *stripe; ///< Room for SN_STRIPE_COLUMNS columns.
} packing;

/// A stripe is packed where columns before it stood, or it itself: hence the copy. Nothing packed reaches
/// further than what it was made from, because no value takes more room than a number of the panel.
static void pack_where_it_stands(const packing *p) {
    pack_stripe *pack = choose_pack(p->real_size, p->storage);
    for (int64_t column = 0; column < p->width; column += SN_STRIPE_COLUMNS) {
        int32_t columns = sn_stripe_columns((int32_t)p->width, (int32_t)column);
        int64_t stride = sn_trapezoid_stride(p->rows, SN_PANEL_BLOCK, column / SN_PANEL_BLOCK);
        size_t start = (size_t)sn_trapezoid_column(p->rows, SN_PANEL_BLOCK, column),
               left = (size_t)(p->rows - column);
        for (int32_t j = 0; j < columns; j++)
            memcpy((uint8_t *)p->stripe + (size_t)j * left * p->real_size,
                   (const uint8_t *)p->values + (start + (size_t)(j * stride)) * p->real_size,
                   left * p->real_size);
        const pack_job job = {p->stripe, (int64_t)left, columns, (int32_t)(p->width - column) - columns,
                              (int32_t)(p->rows - p->width)};
        size_t offset = (size_t)sn_stripe_start(p->rows, column / SN_STRIPE_COLUMNS);
        pack(&job, (uint8_t *)p->values + offset * p->value_size);
    }
    // What kernels read beyond the end meets zeros there and must be finite.
    size_t end = (size_t)sn_packed_size((int32_t)p->width, (int32_t)(p->rows - p->width)) * p->value_size;
    memset((uint8_t *)p->values + end, 0, SN_PACKED_MARGIN);
}

void sn_pack_in_place(const sn_front *front) {
    const sn_factor *factor = front->factor;
    const sn_supernode *node = front->node;
    const packing p = {front->panel,
                       node->width,
                       (int64_t)node->width + node->row_count,
                       factor->fronts->real_size,
                       factor->kernels->value_size,
                       factor->storage,
                       sn_home_address(factor, front->scratch, node->panel_start)};
    pack_where_it_stands(&p);
}

void sn_pack_kept(const sn_factor *factor) {
    const packing p = {factor->kept_values,
                       factor->kept_count,
                       factor->kept_count,
                       sizeof(double),
                       factor->kept_kernels->value_size,
                       factor->kept_storage,
                       factor->kept_doubles};
    pack_where_it_stands(&p);
}

/// The power of 2 whose square is nearest to 1 / diagonal. A diagonal entry that is not positive fails later.
static double choose_scale(double diagonal) {
    int exponent = 0;
    if (!(diagonal > 0))
        return 1;
    frexp(diagonal, &exponent); // diagonal is in [2^(exponent - 1), 2^exponent)
    return ldexp(1, -(exponent >> 1));
}

void sn_factor_choose_scales(sn_factor *factor, const sn_factor_matrix *matrix) {
    double *scale = factor->scale;
    int32_t top = factor->info.n - (factor->place_count - factor->top_place);
    for (int32_t k = top; k < factor->info.n; k++)
        scale[factor->top_place + k - top] =
            choose_scale(matrix->value[matrix->start[factor->unknown[k] + 1] - 1]);
    for (int32_t g = 0; g < factor->group_count; g++) {
        const sn_factor_group *group = &factor->groups[g];
        const int32_t *unknown = factor->unknown + factor->supernodes[group->first_supernode].first;
        double *local = scale + group->place;
        for (int32_t k = 0; k < group->column_count; k++)
            local[k] = choose_scale(matrix->value[matrix->start[unknown[k] + 1] - 1]);
        for (int32_t k = 0; k < group->boundary_count; k++)
            local[group->column_count + k] = scale[factor->boundary_place[group->boundary_start + k]];
    }
}
