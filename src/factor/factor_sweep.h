/// Kernels of the sweeps over one supernode. See factor_internal.h for stripes and places.
#ifndef SN_FACTOR_SWEEP_H
#define SN_FACTOR_SWEEP_H

#include "factor/factor_internal.h"

/// The sweep vector at one unknown: up to three right-hand sides. May alias the doubles it is made of.
typedef double sn_place __attribute__((vector_size(32), may_alias));

/// A run of columns of a supernode, [begin, end), begin a multiple of 8, and the rows below it: first the
/// columns from `end` on, then the rows of the supernode.
typedef struct sn_sweep_block {
    const sn_supernode *node;
    const double *values;     ///< Stripe that starts at `begin`.
    const int32_t *row_place; ///< Of the supernode.
    sn_place *places;
    int32_t begin, end;
} sn_sweep_block;

/// Number of rows below a block.
static inline int32_t sn_sweep_rows(const sn_sweep_block *block) {
    return block->node->width - block->end + block->node->row_count;
}

/// Solves with the triangle of the block.
void sn_forward_corner(const sn_sweep_block *block);

/// Subtracts the block's columns from rows first..last-1 below it. Each row is summed alone, so rows may be
/// shared out.
void sn_forward_rows(const sn_sweep_block *block, int32_t first, int32_t last);

/// Subtracts all rows below from the columns of units (8 columns) first..last-1. Units may be shared out.
void sn_backward_rows(const sn_sweep_block *block, int32_t first, int32_t last);

/// Solves with the transposed triangle of the block.
void sn_backward_corner(const sn_sweep_block *block);

#endif
