#include "factor/factor_sweep.h"

#include "base/base_parallel.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define SN_SWEEP_TARGET __attribute__((target("avx2,fma,f16c")))
#define SN_SWEEP_HOLD(v)
#define SN_SWEEP_TABLE sn_sweep_kernels_avx2

#define SN_READ_HALVES(out, source)                                                                          \
    do {                                                                                                     \
        __m256 low = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(source)));                            \
        __m256 high = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)((source) + 8)));                     \
        (out) = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);    \
    } while (0)

#include "factor/factor_sweep_level.h"

#endif
