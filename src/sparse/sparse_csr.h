/// Symmetric sparse matrices: compressed rows of the lower triangle, columns ascending, diagonal entry last
/// in each row and always present.
#ifndef SN_SPARSE_CSR_H
#define SN_SPARSE_CSR_H

#include "base/base_context.h"

typedef struct sn_csr {
    int32_t n;
    int64_t *start;  ///< [n + 1]
    int32_t *column; ///< [start[n]]
    double *value;   ///< [start[n]], NULL for a pattern alone
} sn_csr;

/// One entry to be summed in; row and column in any order (the lower triangle is meant).
typedef struct sn_triplet {
    int32_t row, column;
    double value;
} sn_triplet;

/// Sums triplets into a matrix: sorted, duplicates added in the order given, missing diagonal entries added
/// as 0. SN_ERR_INVALID_ARGUMENT if an index is outside 0..n-1. `triplets` is left as it is.
SN_NODISCARD sn_status sn_csr_create(sn_context *ctx, int32_t n, int64_t triplet_count,
                                     const sn_triplet *triplets, sn_csr *out_matrix);
void sn_csr_destroy(sn_context *ctx, sn_csr *matrix);

/// Removes off-diagonal entries with |a_ij| <= relative * sqrt(a_ii a_jj), in place. relative = 1e-12 removes
/// what is zero by construction and keeps everything else.
void sn_csr_drop_zeros(sn_csr *matrix, double relative);

/// y = A x for `width` interleaved right-hand sides: x, y [n, width]. Fixed order of sums for any number of
/// threads is not needed here (serial): for tests and residuals.
void sn_csr_multiply(const sn_csr *matrix, int32_t width, const double *x, double *y);

/// Index of the entry (row, column), or -1.
int64_t sn_csr_find(const sn_csr *matrix, int32_t row, int32_t column);

#endif
