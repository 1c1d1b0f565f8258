/// Partial sparse Cholesky factorization with a kept set.
///
/// A = [A11 A12; A21 A22], symmetric positive definite, with the kept unknowns (2) ordered last:
/// A11 = L11 L11', L21 = A21 L11^-T, S = A22 - L21 L21'. S is dense, its rows in the order of the kept list.
/// Source: Wang et al. 2021, "Optimized Processing of Localized Collisions in Projective Dynamics", for the
/// kept set; supernodal multifrontal factorization with a METIS nested-dissection ordering of part 1.
#ifndef SINEW_FACTOR_H
#define SINEW_FACTOR_H

#include "sinew/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sn_factor sn_factor;

/// A symmetric matrix by its lower triangle in compressed rows: row i holds columns column[start[i] ..
/// start[i+1]-1], ascending, none above the diagonal, the diagonal entry present. Borrowed during calls only.
typedef struct sn_factor_matrix {
    int32_t n;             ///< Unknowns, >= 0.
    const int64_t *start;  ///< [n + 1]
    const int32_t *column; ///< [start[n]]
    const double *value;   ///< [start[n]]; may be NULL for sn_factor_create().
} sn_factor_matrix;

/// Options of the analysis. Start from sn_factor_def_default().
typedef struct sn_factor_def {
    int32_t kept_count;  ///< Number of kept unknowns, 0 to n.
    const int32_t *kept; ///< [kept_count] distinct unknowns; their order is the order of S. NULL if none.
    int32_t seed;        ///< Seed of the ordering. Default 0.
    uint32_t mark;
} sn_factor_def;

/// What the analysis predicts and the factorization takes.
typedef struct sn_factor_info {
    int32_t n, kept_count, supernode_count;
    int64_t nonzeros;       ///< Entries of L11 (lower, with diagonal) and L21, without padding.
    int64_t kept_nonzeros;  ///< Entries of one triangle of S.
    double flops;           ///< Of a numeric factorization, S included.
    double memory_bytes;    ///< Held by the object.
    int32_t failed_unknown; ///< Whose pivot was not positive in the last numeric phase; -1: none.
    double failed_pivot;    ///< Its value.
} sn_factor_info;

/// The defaults (no kept unknowns, seed 0), with the mark.
SN_API sn_factor_def sn_factor_def_default(void);

/// Analyzes a pattern: ordering, elimination tree, supernodes, memory for the numeric phase and for sweeps
/// with up to three right-hand sides. `def` may be NULL for the defaults.
/// @return SN_OK; SN_ERR_INVALID_ARGUMENT (malformed rows, kept unknown out of range or named twice, more
/// entries than can be numbered); SN_ERR_NO_MEMORY: *out_factor is unchanged.
SN_API SN_NODISCARD sn_status sn_factor_create(sn_context *context, const sn_factor_matrix *pattern,
                                               const sn_factor_def *def, sn_factor **out_factor);
/// Destroys a factor and sets *factor to NULL. Accepts NULL and a pointer to NULL.
SN_API void sn_factor_destroy(sn_factor **factor);

/// Computes L11, L21 and S from the values of a matrix with the analyzed pattern. May be repeated with other
/// values; allocates nothing. With kept unknowns, S is left unfactored for the caller to change;
/// sn_factor_schur() reads it. Same bits for any number of threads.
/// @return SN_OK; SN_ERR_NOT_POSITIVE_DEFINITE (sn_factor_info names the unknown): the factor holds no
/// numbers until the next success; SN_ERR_NON_FINITE; SN_ERR_INVALID_ARGUMENT if the pattern differs in size.
SN_API SN_NODISCARD sn_status sn_factor_numeric(sn_factor *factor, const sn_factor_matrix *matrix);

/// Solves A x = b with all of A: forward sweep, solve with S (factored on first use after a numeric phase),
/// backward. `x` [n, width] row-major holds b on entry and x on return; width 1 to 3 interleaved right-hand
/// sides in one sweep.
/// @return SN_OK; SN_ERR_NOT_POSITIVE_DEFINITE if S is not: x is unchanged; SN_ERR_INVALID_ARGUMENT.
SN_API SN_NODISCARD sn_status sn_factor_solve(sn_factor *factor, int32_t width, double *x);

/// Forward sweep: `b` [n, width] by unknown. On return the rows of part 1 hold y1 = L11^-1 b1 (kept inside
/// the factor's ordering: pass the same array to sn_factor_backward()) and `kept_rows` [kept_count, width]
/// holds g2 = b2 - L21 y1 in the order of the kept list; it may be NULL if nothing is kept.
/// @return SN_OK; SN_ERR_INVALID_ARGUMENT (no numbers, width not 1 to 3, array missing): nothing is changed.
SN_API SN_NODISCARD sn_status sn_factor_forward(sn_factor *factor, int32_t width, double *b,
                                                double *kept_rows);

/// Backward sweep: given `b` as sn_factor_forward() left it and the kept solution z2 `kept_rows` [kept_count,
/// width], writes x1 = L11^-T (y1 - L21' z2) and x2 = z2 into `b`, by unknown. @return as
/// sn_factor_forward().
SN_API SN_NODISCARD sn_status sn_factor_backward(sn_factor *factor, int32_t width, double *b,
                                                 const double *kept_rows);

/// Copies S into `out_schur` [kept_count, kept_count], both triangles, in the order of the kept list.
/// @return SN_OK; SN_ERR_INVALID_ARGUMENT: no numbers, or no array.
SN_API SN_NODISCARD sn_status sn_factor_schur(const sn_factor *factor, double *out_schur);

/// Counts and predictions; valid after sn_factor_create().
SN_API sn_factor_info sn_factor_get_info(const sn_factor *factor);

#ifdef __cplusplus
}
#endif
#endif
