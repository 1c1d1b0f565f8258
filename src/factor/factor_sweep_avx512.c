#include "factor/factor_sweep.h"

#include "base/base_parallel.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define SN_SWEEP_TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,fma,f16c")))
#define SN_SWEEP_TABLE  sn_sweep_kernels_avx512

/// Keeps gcc from reading a vector again for each use.
#define SN_SWEEP_HOLD(v) __asm__("" : "+v"(v))

#define SN_READ_HALVES(out, source) ((out) = _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(source))))

#include "factor/factor_sweep_level.h"

#endif
