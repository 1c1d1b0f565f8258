/// Kernels of the sweeps. See factor_internal.h for stripes and places.
///
/// One source (factor_sweep_kernel.h) is compiled for each storage and instruction set; a table of functions
/// is chosen when a factor is created. Vectors of the numbers in which the sums run: `place` is one unknown
/// (x, y, z and a spare lane), `wide` is 64 bytes: 4 rows x 4 columns of L in float, 2 rows x 4 columns in
/// double. A 4 x 4 block of L then meets 4 places with shuffles inside groups of 4 lanes only: forward, lane
/// group i of the product is what row i receives; backward, lane group i of the sum is what row i gives.
#ifndef SN_FACTOR_SWEEP_H
#define SN_FACTOR_SWEEP_H

#include "factor/factor_internal.h"

/// Supernodes first..end-1 as a sweep meets them. Values and rows of neighbors follow one another.
typedef struct sn_sweep_run {
    const sn_supernode *nodes;
    int32_t first, end;
    const void *values;       ///< Of the factor, or of S.
    const int32_t *row_place; ///< Of the factor.
    void *places;
} sn_sweep_run;

/// Columns [begin, end) of one supernode, begin and (unless it is the last column) end multiples of
/// SN_STRIPE_COLUMNS. The rows below it are the columns from `end` on, then the rows of the supernode.
typedef struct sn_sweep_block {
    const sn_supernode *node;
    const void *values;       ///< Panel of the supernode.
    const int32_t *row_place; ///< Of the supernode.
    void *places;
    int32_t begin, end;
} sn_sweep_block;

static inline int32_t sn_block_stripes(const sn_sweep_block *block) {
    return sn_pieces(block->end - block->begin, SN_STRIPE_COLUMNS);
}

/// Part `part` of `parts` of 0..count-1, with bounds at multiples of `grain`.
static inline void sn_part(int32_t count, int32_t grain, int32_t part, int32_t parts, int32_t *out_first,
                           int32_t *out_last) {
    int64_t grains = sn_pieces(count, grain), first = grains * part / parts * grain,
            last = grains * (part + 1) / parts * grain;
    *out_first = first < count ? (int32_t)first : count;
    *out_last = last < count ? (int32_t)last : count;
}

/// The caller's vector: [n, width] by unknown.
typedef struct sn_sweep_vector {
    double *x;
    const int32_t *unknown; ///< By position.
    const double *scale;    ///< By place; NULL: 1.
    int32_t width;
} sn_sweep_vector;

struct sn_sweep_kernels {
    size_t value_size, place_size;

    /// Whole supernodes on one thread; backward in descending order.
    void (*forward)(const sn_sweep_run *run);
    void (*backward)(const sn_sweep_run *run);

    /// Solves with the triangle of the block, and with its transpose.
    void (*forward_corner)(const sn_sweep_block *block);
    void (*backward_corner)(const sn_sweep_block *block);
    /// Subtracts the block's columns from part `part` of `parts` of the rows below it. Each row is summed
    /// alone, so the parts have no influence on the result.
    void (*forward_rows)(const sn_sweep_block *block, int32_t part, int32_t parts);
    /// Subtracts all rows below from a part of the block's stripes.
    void (*backward_rows)(const sn_sweep_block *block, int32_t part, int32_t parts);

    /// Copies the unknowns at positions first.. to places place.., scaled, and back.
    void (*load)(const sn_sweep_vector *vector, int32_t first, int32_t count, int32_t place, void *places);
    void (*store)(const sn_sweep_vector *vector, int32_t first, int32_t count, int32_t place,
                  const void *places);
    /// Clears places; adds local places to the listed ones; copies the listed ones to local places.
    void (*clear)(void *places, int32_t place, int32_t count);
    void (*scatter)(void *places, int32_t place, int32_t count, const int32_t *listed);
    void (*gather)(void *places, int32_t place, int32_t count, const int32_t *listed);
    /// Copies places to doubles [count, 4] and back.
    void (*widen)(const void *places, int32_t place, int32_t count, double *out);
    void (*narrow)(const double *values, int32_t count, void *places, int32_t place);
};

/// Forward sweep over one supernode on the calling thread: its places and those of its rows are current.
void sn_sweep_forward_node(const sn_factor *factor, int32_t s);

/// Instruction sets that kernels are compiled for; each includes the ones before it.
typedef enum sn_sweep_level { SN_SWEEP_PLAIN, SN_SWEEP_AVX2, SN_SWEEP_AVX512 } sn_sweep_level;

/// The best level this machine has.
sn_sweep_level sn_sweep_best_level(void);

/// Kernels for a storage. All levels take the same packed numbers; rounding may differ between them.
const sn_sweep_kernels *sn_sweep_choose(sn_factor_storage storage, sn_sweep_level level);

extern const sn_sweep_kernels sn_sweep_kernels_plain[3];
extern const sn_sweep_kernels sn_sweep_kernels_avx2[3];
extern const sn_sweep_kernels sn_sweep_kernels_avx512[3];

#endif
