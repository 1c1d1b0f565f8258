/// The kernels of one instruction set, for all storages. The file that includes this defines SN_SWEEP_TARGET
/// (attribute of all functions), SN_SWEEP_TABLE (the table to define) and SN_READ_HALVES.
///
/// No guard: included once by each such file. Shuffles take literal lane numbers, hence the macros.

#define SN_SWEEP_PART   static inline __attribute__((always_inline)) SN_SWEEP_TARGET
#define SN_SWEEP_KERNEL static SN_SWEEP_TARGET

#if defined(__clang__)
#define SN_SWEEP_UNROLL _Pragma("unroll")
#else
#define SN_SWEEP_UNROLL _Pragma("GCC unroll 16")
#endif
/// Bytes between what is read and what is asked for. The hardware's own look-ahead ends at each page;
/// measured on a 2-core AVX-512 server: 1 KB gains 5 %, 4 KB 10 %.
enum { SN_SWEEP_AHEAD = 4096 };

// 16 lanes: float sums.
#define SPREAD_16(v, j)                                                                                      \
    __builtin_shufflevector(v, v, j, j, j, j, 4 + j, 4 + j, 4 + j, 4 + j, 8 + j, 8 + j, 8 + j, 8 + j,        \
                            12 + j, 12 + j, 12 + j, 12 + j)
#define DOUBLED(p) __builtin_shufflevector(p, p, 0, 1, 2, 3, 0, 1, 2, 3)
#define REPEAT_16(p)                                                                                         \
    __builtin_shufflevector(DOUBLED(p), DOUBLED(p), 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7)
#define EXPAND_1_16(v) __builtin_shufflevector(v, v, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3)
#define EXPAND_2_16(v) __builtin_shufflevector(v, v, 0, 1, 1, 1, 2, 3, 3, 3, 4, 5, 5, 5, 6, 7, 7, 7)
#define EXPAND_3_16(v) __builtin_shufflevector(v, v, 0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11)
#define EXTRACT_16(sum, i)                                                                                   \
    __builtin_shufflevector((sum)[0], (sum)[0], 4 * (i), 4 * (i) + 1, 4 * (i) + 2, 4 * (i) + 3)
#define ADD_GROUPS_16(v)                                                                                     \
    ((__builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7)) +               \
     (__builtin_shufflevector(v, v, 8, 9, 10, 11) + __builtin_shufflevector(v, v, 12, 13, 14, 15)))
#define JOIN_16(out, p)                                                                                      \
    ((out)[0] = __builtin_shufflevector(__builtin_shufflevector((p)[0], (p)[1], 0, 1, 2, 3, 4, 5, 6, 7),     \
                                        __builtin_shufflevector((p)[2], (p)[3], 0, 1, 2, 3, 4, 5, 6, 7), 0,  \
                                        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))

// 8 lanes: double sums.
#define SPREAD_8(v, j) __builtin_shufflevector(v, v, j, j, j, j, 4 + j, 4 + j, 4 + j, 4 + j)
#define REPEAT_8(p)    __builtin_shufflevector(p, p, 0, 1, 2, 3, 0, 1, 2, 3)
#define EXPAND_1_8(v)  __builtin_shufflevector(v, v, 0, 0, 0, 0, 1, 1, 1, 1)
#define EXPAND_2_8(v)  __builtin_shufflevector(v, v, 0, 1, 1, 1, 2, 3, 3, 3)
#define EXPAND_3_8(v)  __builtin_shufflevector(v, v, 0, 1, 2, 2, 3, 4, 5, 5)
#define EXTRACT_8(sum, i)                                                                                    \
    __builtin_shufflevector((sum)[(i) / 2], (sum)[(i) / 2], 4 * ((i) % 2), 4 * ((i) % 2) + 1,                \
                            4 * ((i) % 2) + 2, 4 * ((i) % 2) + 3)
#define ADD_GROUPS_8(v)                                                                                      \
    (__builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7))
#define JOIN_8(out, p)                                                                                       \
    ((out)[0] = __builtin_shufflevector((p)[0], (p)[1], 0, 1, 2, 3, 4, 5, 6, 7),                             \
     (out)[1] = __builtin_shufflevector((p)[2], (p)[3], 0, 1, 2, 3, 4, 5, 6, 7))

#define READ_WHOLE(out, source) memcpy(&(out), source, sizeof(out))

#define NAME(x)    x##_double
#define ELEMENT    double
#define REAL       double
#define LANES      8
#define READ       READ_WHOLE
#define SPREAD     SPREAD_8
#define REPEAT     REPEAT_8
#define EXPAND_1   EXPAND_1_8
#define EXPAND_2   EXPAND_2_8
#define EXPAND_3   EXPAND_3_8
#define EXTRACT    EXTRACT_8
#define ADD_GROUPS ADD_GROUPS_8
#define JOIN       JOIN_8
#include "factor/factor_sweep_kernel.h"
#undef NAME
#undef ELEMENT
#undef REAL
#undef LANES
#undef SPREAD
#undef REPEAT
#undef EXPAND_1
#undef EXPAND_2
#undef EXPAND_3
#undef EXTRACT
#undef ADD_GROUPS
#undef JOIN

#define NAME(x)    x##_float
#define ELEMENT    float
#define REAL       float
#define LANES      16
#define SPREAD     SPREAD_16
#define REPEAT     REPEAT_16
#define EXPAND_1   EXPAND_1_16
#define EXPAND_2   EXPAND_2_16
#define EXPAND_3   EXPAND_3_16
#define EXTRACT    EXTRACT_16
#define ADD_GROUPS ADD_GROUPS_16
#define JOIN       JOIN_16
#include "factor/factor_sweep_kernel.h"
#undef NAME
#undef ELEMENT
#undef READ

#define NAME(x) x##_half
#define ELEMENT uint16_t
#define READ    SN_READ_HALVES
#include "factor/factor_sweep_kernel.h"

#define TABLE_ROW(storage, element, real)                                                                    \
    {                                                                                                        \
        sizeof(element), 4 * sizeof(real), forward_##storage, backward_##storage, forward_corner_##storage,  \
            backward_corner_##storage, forward_rows_##storage, backward_rows_##storage, load_##storage,      \
            store_##storage, clear_##storage, scatter_##storage, gather_##storage, widen_##storage,          \
            narrow_##storage                                                                                 \
    }

/// By sn_factor_storage.
const sn_sweep_kernels SN_SWEEP_TABLE[3] = {
    TABLE_ROW(double, double, double),
    TABLE_ROW(float, float, float),
    TABLE_ROW(half, uint16_t, float),
};
