#include "factor/factor_sweep.h"

#include "base/base_parallel.h"

#include <math.h>
#include <string.h>

/// One stripe of a panel on its way into storage.
typedef struct pack_job {
    const double *panel; ///< Its first diagonal entry.
    int64_t panel_stride;
    int32_t columns;
    const double *scale;       ///< Of its columns and the panel's later ones.
    const double *place_scale; ///< By place, for the rows in `listed`.
    const int32_t *listed;     ///< Places of the rows below the panel.
    int32_t inner, outer;      ///< Rows of both kinds.
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

/// Packs up to 4 rows, 4 columns at a time. Returns the end.
#define DEFINE_PACK(storage, type)                                                                           \
    SN_INLINE type *pack_rows_##storage(const pack_job *job, int32_t rows, const double *panel,              \
                                        const double *scale, type *target) {                                 \
        for (int32_t j = 0; j < job->columns; j += 4) {                                                      \
            int32_t columns = job->columns - j < 4 ? job->columns - j : 4;                                   \
            for (int32_t i = 0; i < rows; i++)                                                               \
                for (int32_t k = 0; k < columns; k++)                                                        \
                    *target++ = to_##storage(panel[i + (j + k) * job->panel_stride] * scale[i]);             \
        }                                                                                                    \
        return target;                                                                                       \
    }                                                                                                        \
                                                                                                             \
    SN_CLONES static void sn_pack_stripe_##storage(const pack_job *job, type *start) {                       \
        type *target = start;                                                                                \
        for (int32_t i = 0; i < job->columns; i++) {                                                         \
            for (int32_t j = 0; j < i; j++)                                                                  \
                *target++ = to_##storage(job->panel[i + j * job->panel_stride] * job->scale[i]);             \
            *target++ = to_##storage(1 / (job->panel[i + i * job->panel_stride] * job->scale[i]));           \
        }                                                                                                    \
        target = start + sn_triangle_size(job->columns);                                                     \
        const double *panel = job->panel + job->columns, *scale = job->scale + job->columns;                 \
        for (int32_t i = 0; i < job->inner; i += 4) {                                                        \
            int32_t rows = job->inner - i < 4 ? job->inner - i : 4;                                          \
            target = pack_rows_##storage(job, rows, panel + i, scale + i, target);                           \
        }                                                                                                    \
        panel += job->inner;                                                                                 \
        for (int32_t i = 0; i < job->outer; i += 4) {                                                        \
            int32_t rows = job->outer - i < 4 ? job->outer - i : 4;                                          \
            double row_scale[4];                                                                             \
            for (int32_t k = 0; k < rows; k++)                                                               \
                row_scale[k] = job->place_scale[job->listed[i + k]];                                         \
            target = pack_rows_##storage(job, rows, panel + i, row_scale, target);                           \
        }                                                                                                    \
    }

DEFINE_PACK(double, double)
DEFINE_PACK(float, float)
DEFINE_PACK(half, uint16_t)

void sn_pack_tile(const void *data, int32_t tile) {
    const sn_front *f = data;
    const sn_factor *factor = f->factor;
    const sn_supernode *node = f->node;
    bool is_kept = node == &factor->kept_node;
    int32_t column = tile * SN_STRIPE_COLUMNS, columns = sn_stripe_columns(node->width, column);
    int32_t place = is_kept ? factor->place_count - factor->kept_count : node->place;
    pack_job job = {.panel = f->panel + column * (f->panel_stride + 1),
                    .panel_stride = f->panel_stride,
                    .columns = columns,
                    .scale = factor->scale + place + column,
                    .place_scale = factor->scale,
                    .listed = factor->row_place + node->row_start,
                    .inner = node->width - column - columns,
                    .outer = node->row_count};
    int64_t offset = node->value_start + sn_stripe_start((int64_t)node->width + node->row_count, tile);
    sn_factor_storage storage = is_kept ? factor->kept_storage : factor->storage;
    void *values = is_kept ? factor->kept_values : factor->values;
    if (storage == SN_FACTOR_DOUBLE)
        sn_pack_stripe_double(&job, (double *)values + offset);
    else if (storage == SN_FACTOR_FLOAT)
        sn_pack_stripe_float(&job, (float *)values + offset);
    else
        sn_pack_stripe_half(&job, (uint16_t *)values + offset);
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
