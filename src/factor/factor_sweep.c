#include "factor/factor_sweep.h"

sn_sweep_level sn_sweep_best_level(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
        return SN_SWEEP_AVX512;
    // Every processor with AVX2 has F16C.
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return SN_SWEEP_AVX2;
#endif
    return SN_SWEEP_PLAIN;
}

const sn_sweep_kernels *sn_sweep_choose(sn_factor_storage storage, sn_sweep_level level) {
#if defined(__x86_64__)
    if (level == SN_SWEEP_AVX512)
        return &sn_sweep_kernels_avx512[storage];
    if (level == SN_SWEEP_AVX2)
        return &sn_sweep_kernels_avx2[storage];
#endif
    (void)level;
    return &sn_sweep_kernels_plain[storage];
}
