#include "factor/factor_sweep.h"

#include "base/base_parallel.h"

#include <string.h>

#define SN_SWEEP_TARGET
#define SN_SWEEP_HOLD(v)
#define SN_SWEEP_TABLE sn_sweep_kernels_plain

typedef uint16_t half_bits __attribute__((vector_size(32)));
typedef uint32_t float_bits __attribute__((vector_size(64)));
typedef float float_lanes __attribute__((vector_size(64)));

/// 16 halves to floats: shifted into place, then multiplied by 2^112 for the difference of the exponents'
/// offsets, which is exact for subnormal numbers too. Infinity and NaN are never stored.
static inline __attribute__((always_inline)) void read_halves(const uint16_t *source, float_lanes *out) {
    half_bits packed;
    memcpy(&packed, source, sizeof packed);
    float_bits bits = __builtin_convertvector(packed, float_bits);
    float_bits magnitude = (bits & 0x7fff) << 13, sign = (bits & 0x8000) << 16;
    float_lanes value = (float_lanes)magnitude * 0x1p112f;
    *out = (float_lanes)((float_bits)value | sign);
}
#define SN_READ_HALVES(out, source) read_halves(source, &(out))

#include "factor/factor_sweep_level.h"
