/// Threads with results that do not depend on how many there are.
///
/// All OpenMP of the library outside `factor` goes through these two calls: kernels are plain functions over
/// a range, which keeps OpenMP pragmas out of functions compiled for several instruction sets (clang does not
/// clone outlined bodies). Loops are split statically. Sums are cut into pieces whose number depends on the
/// count only.
#ifndef SN_BASE_PARALLEL_H
#define SN_BASE_PARALLEL_H

#include "base/base_context.h"

/// Compiles a hot function for several instruction sets; the loader picks one. Not with sanitizers (their
/// run-time is not ready when the loader asks).
#if defined(__x86_64__) && !defined(SN_NO_CLONES)
#define SN_CLONES __attribute__((target_clones("avx512f", "arch=haswell", "default")))
#else
#define SN_CLONES
#endif

/// Parts of hot functions that must become one loop, and their arrays: aligned for whole vectors.
#define SN_INLINE        static inline __attribute__((always_inline))
#define SN_VECTOR_MEMORY __attribute__((aligned(64)))

/// Works on items begin..end-1; `thread` is 0..thread_count-1 and may select scratch memory.
typedef void sn_range_task(void *data, int32_t begin, int32_t end, int32_t thread);

/// Runs `task` over 0..count-1 in contiguous pieces, one a thread, with piece bounds at multiples of `grain`.
/// Items must be independent of one another. Runs on the calling thread alone if count <= grain.
void sn_parallel_for(sn_context *ctx, int32_t count, int32_t grain, sn_range_task *task, void *data);

/// Returns the sum of a quantity over items begin..end-1, in their order.
typedef double sn_range_sum(void *data, int32_t begin, int32_t end);

/// Sum over 0..count-1 with the same bits for any number of threads: at most 256 pieces, added in order.
double sn_parallel_sum(sn_context *ctx, int32_t count, sn_range_sum *sum, void *data);

#endif
