/// Partial sparse Cholesky factorization with a kept set.
///
/// A = [A11 A12; A21 A22], symmetric positive definite, with the kept unknowns (2) ordered last:
/// A11 = L11 L11', L21 = A21 L11^-T, S = A22 - L21 L21'. S is dense, its rows in the order of the kept list.
/// Source: Wang et al. 2021, "Optimized Processing of Localized Collisions in Projective Dynamics", for the
/// kept set; supernodal multifrontal factorization with a METIS nested-dissection ordering of part 1.
///
/// Matrices after the analysis must have its columns: their sizes are checked, the columns are not read
/// again. Right-hand sides that are not finite give solutions that are not. Units are the caller's: those of
/// A, x and b. Vectors are [n, width] row-major, by unknown. Functions that take a factor may write to it and
/// to its context's message: one thread at a time. A factor of NULL is SN_ERR_INVALID_ARGUMENT.
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
    const int32_t *column; ///< [start[n]] 0 to row
    const double *value;   ///< [start[n]]; may be NULL for sn_factor_create() without drop_zeros.
} sn_factor_matrix;

/// Which update matrices a factor keeps for sn_factor_update(). Any changes are allowed with all three;
/// what is not kept is computed anew.
typedef enum sn_factor_keep {
    SN_FACTOR_KEEP_NONE, ///< None: an update is about as dear as sn_factor_numeric().
    SN_FACTOR_KEEP_LATE, ///< Those that changes of the unknowns in `late` need.
    SN_FACTOR_KEEP_ALL ///< Those that changes anywhere need: about as many numbers as L has, of the precision
                       ///< of the fronts.
} sn_factor_keep;

/// How L is kept for the sweeps. Sums run in double for double storage and in float otherwise.
typedef enum sn_factor_storage {
    SN_FACTOR_DOUBLE, ///< 8 bytes an entry.
    SN_FACTOR_FLOAT,  ///< 4 bytes: solutions have a relative error of about 1e-7 times the condition number.
    SN_FACTOR_HALF    ///< 2 bytes (IEEE 754 half), about 5e-4 times that: a preconditioner, or with
                      ///< sn_factor_refine() a solver, for half the memory traffic of float.
} sn_factor_storage;

/// In what the numeric phase computes: fronts in float take half the time and memory of those in double. A
/// matrix may be positive definite and its pivots not, once rounded to float: from condition numbers of about
/// 1e6 on. S is stored in double in any case; its errors are those of the fronts, about 1e-7 of the entries
/// of A from floats: choose double fronts with storage in float for an S that is summed in double, and sweeps
/// as fast.
typedef enum sn_factor_fronts {
    SN_FACTOR_FRONTS_AS_STORED, ///< Double for SN_FACTOR_DOUBLE, else float.
    SN_FACTOR_FRONTS_FLOAT,
    SN_FACTOR_FRONTS_DOUBLE
} sn_factor_fronts;

/// Options of the analysis. Start from sn_factor_def_default().
typedef struct sn_factor_def {
    int32_t kept_count;  ///< Number of kept unknowns, 0 to n.
    const int32_t *kept; ///< [kept_count] distinct unknowns; their order is the order of S. NULL if none.
    int32_t seed;        ///< Seed of the ordering. Default 0.
    int32_t late_count;  ///< Number of unknowns that will change, 0 to n - kept_count.
    const int32_t *late; ///< [late_count] distinct unknowns, none of them kept: eliminated after all others,
                         ///< just before the kept ones, so that a change reaches little of L. NULL if none.
    sn_factor_keep keep; ///< Default SN_FACTOR_KEEP_NONE.
    sn_factor_storage storage;      ///< Of L11 and L21. Default SN_FACTOR_FLOAT.
    sn_factor_storage kept_storage; ///< Of the factor of S in sn_factor_solve(). Default SN_FACTOR_DOUBLE.
    sn_factor_fronts fronts;        ///< Arithmetic of the numeric phase. Default SN_FACTOR_FRONTS_AS_STORED.
    bool drop_zeros; ///< Entries off the diagonal that are exactly 0 in the values of the pattern are left
                     ///< out: as if they were not in it, for less fill. Later matrices have the whole
                     ///< pattern, too, and must be 0 there. Default false.
    uint32_t mark;
} sn_factor_def;

/// What the analysis predicts and the factorization takes.
typedef struct sn_factor_info {
    int32_t n, kept_count;   ///< As they were given.
    int32_t supernode_count; ///< Runs of columns that are eliminated together.
    int64_t nonzeros;        ///< Entries of L11 (lower, with diagonal) and L21, without padding.
    int64_t kept_nonzeros;   ///< Entries of one triangle of S.
    int64_t dropped_count;   ///< Entries of the pattern that drop_zeros has left out.
    double flops;            ///< Of a numeric factorization, S included, by entries without padding.
    double work_flops;       ///< The same with the zeros that merged columns store: what will be done.
    double done_flops;       ///< Counted in the last sn_factor_numeric() or sn_factor_update().
    double update_bytes; ///< Part of memory_bytes that serves sn_factor_update() alone: update matrices, and
                         ///< the entries last factored.
    double memory_bytes; ///< Held by the object: L, S, room for fronts and vectors, indices. No phase needs
                         ///< more but the first sn_factor_refine() and, for a time, the ordering: METIS
                         ///< takes memory of its own, a multiple of the pattern, before L is allocated.
    int32_t failed_unknown; ///< Whose pivot was not positive in the last numeric phase; -1: none.
    double failed_pivot;    ///< Its value, in the units of A.
} sn_factor_info;

/// The defaults (no kept or late unknowns, nothing kept for updates, seed 0), with the mark.
SN_API sn_factor_def sn_factor_def_default(void);

/// Analyzes a pattern: ordering, elimination tree, supernodes, memory for the numeric phase and for sweeps
/// with up to three right-hand sides. `def` may be NULL for the defaults; its lists and the pattern are
/// borrowed during the call only. Cost: METIS, O(entries of A log n), and O(entries of L); with a large kept
/// set (kept_count^2 > n) three times that, because three orders are tried. Memory:
/// sn_factor_info.memory_bytes.
/// @return SN_OK; SN_ERR_INVALID_ARGUMENT (malformed rows, kept unknown out of range or named twice, more
/// entries than can be numbered, zeros to drop and no values); SN_ERR_NO_MEMORY: *out_factor is unchanged.
SN_API SN_NODISCARD sn_status sn_factor_create(sn_context *context, const sn_factor_matrix *pattern,
                                               const sn_factor_def *def, sn_factor **out_factor);
/// Destroys a factor and sets *factor to NULL. Accepts NULL and a pointer to NULL.
SN_API void sn_factor_destroy(sn_factor **factor);

/// Computes L11, L21 and S from the values of a matrix with the analyzed pattern. May be repeated with other
/// values; allocates nothing. With kept unknowns, S is left unfactored for the caller to change;
/// sn_factor_schur() reads it. Same bits for any number of threads. Cost: sn_factor_info.work_flops.
/// @return SN_OK; SN_ERR_NOT_POSITIVE_DEFINITE (sn_factor_info names the unknown): the factor holds no
/// numbers until the next success; SN_ERR_NON_FINITE, SN_ERR_INVALID_ARGUMENT (the pattern differs in size,
/// or an entry that was dropped is not 0: the message names row and column): nothing is changed.
SN_API SN_NODISCARD sn_status sn_factor_numeric(sn_factor *factor, const sn_factor_matrix *matrix);

/// Solves A x = b with all of A: forward sweep, solve with S (factored on first use after a numeric phase),
/// backward. `x` [n, width] row-major holds b on entry and x on return; width 1 to 3 interleaved right-hand
/// sides in one sweep.
/// Cost: 4 flops an entry of L and right-hand side, in two passes over L; 4 an entry of S; the first call
/// after a numeric phase also kept_count^3 / 3. Memory: none. Same bits for any number of threads.
/// @return SN_OK; SN_ERR_NOT_POSITIVE_DEFINITE if S is not (sn_factor_info names the unknown), or
/// SN_ERR_INVALID_ARGUMENT (no numbers, width not 1 to 3, no array): x is unchanged, and so are L and S.
SN_API SN_NODISCARD sn_status sn_factor_solve(sn_factor *factor, int32_t width, double *x);

/// Forward sweep: `b` [n, width] by unknown. On return the rows of part 1 hold y1 = L11^-1 b1 (kept inside
/// the factor's ordering: pass the same array to sn_factor_backward()) and `kept_rows` [kept_count, width]
/// holds g2 = b2 - L21 y1 in the order of the kept list; it may be NULL if nothing is kept.
/// Cost: 2 flops an entry of L and right-hand side, in one pass over L. Memory: none.
/// @return SN_OK; SN_ERR_INVALID_ARGUMENT (no numbers, width not 1 to 3, array missing): nothing is changed.
SN_API SN_NODISCARD sn_status sn_factor_forward(sn_factor *factor, int32_t width, double *b,
                                                double *kept_rows);

/// Backward sweep: given `b` as sn_factor_forward() left it and the kept solution z2 `kept_rows` [kept_count,
/// width], writes x1 = L11^-T (y1 - L21' z2) and x2 = z2 into `b`, by unknown. Cost, memory and @return as
/// sn_factor_forward(). The rows of part 2 of `b` are not read.
SN_API SN_NODISCARD sn_status sn_factor_backward(sn_factor *factor, int32_t width, double *b,
                                                 const double *kept_rows);

/// Improves a solution of A x = b against the matrix itself: conjugate gradients preconditioned by the
/// factor, with the residual computed anew in each iteration. From SN_FACTOR_HALF about 6 to 8 iterations
/// reach 1e-12 where |A| |x| is not far above |b|, from SN_FACTOR_FLOAT up to 4; a factor of an earlier,
/// similar matrix serves as well. No relative residual falls below about 1e-16 |A| |x| / |b|.
///
/// @param[in]     matrix        The exact matrix, with the analyzed pattern.
/// @param[in]     width         Right-hand sides, 1 to 3.
/// @param[in]     b             [n, width] by unknown.
/// @param[in,out] x             [n, width] a first guess (zeros, or what sn_factor_solve() gave), then the
///                              solution. May not overlap `b`.
/// @param[in]     tolerance     Wanted |b - A x| / |b| (2-norms; the largest of all right-hand
///                              sides; |b - A x| alone where b is 0), >= 0.
/// @param[in]     iterations    At most so many, >= 0; each costs one sn_factor_solve() and two products
///                              with A.
/// @param[out]    out_residual  What was reached. May be NULL.
/// @return SN_OK; SN_NOT_CONVERGED: x is the last iterate; SN_ERR_NOT_POSITIVE_DEFINITE if S is not;
/// SN_ERR_INVALID_ARGUMENT, SN_ERR_NO_MEMORY, SN_ERR_NON_FINITE (b is not finite): x is unchanged.
/// Memory: 5 vectors [n, 3] in the first call, then none. Same bits for any number of threads.
SN_API SN_NODISCARD sn_status sn_factor_refine(sn_factor *factor, const sn_factor_matrix *matrix,
                                               int32_t width, const double *b, double *x, double tolerance,
                                               int32_t iterations, double *out_residual);

/// Copies S into `out_schur` [kept_count, kept_count], both triangles, in the order of the kept list, also
/// after S was factored. Cost: one pass over S. Memory: none.
/// @return SN_OK; SN_ERR_INVALID_ARGUMENT (no numbers, or no array): nothing is changed.
SN_API SN_NODISCARD sn_status sn_factor_schur(const sn_factor *factor, double *out_schur);

/// Counts and predictions; valid after sn_factor_create(). All 0, and failed_unknown -1, if `factor` is NULL.
SN_API sn_factor_info sn_factor_get_info(const sn_factor *factor);

/// Value of `changed_count` that lets sn_factor_update() look for the changes itself.
#define SN_FACTOR_FIND_CHANGED (-1)

/// Computes L11, L21 and S anew where the values of a matrix have changed since the last sn_factor_numeric()
/// or sn_factor_update(), with the same bits as sn_factor_numeric() of the same values (in half storage to
/// its precision: the scales stay those of the last full phase). Entries may take any value, zero included
/// (elements removed or added within the analyzed pattern). Of L only the supernodes on the elimination-tree
/// paths from the changed unknowns to the root are computed, from the update matrices that sn_factor_def.keep
/// has kept beside the paths; where that would be large and cheap to compute again none is kept, which adds
/// about 1 % of operations. sn_factor_info.done_flops tells how much it was. S is assembled anew: changes
/// between kept unknowns cost nothing else.
///
/// @param[in] changed_count  Number of changed unknowns, or SN_FACTOR_FIND_CHANGED: all entries are compared
///                           with the values last factored (a pass over the entries; needs a definition that
///                           keeps updates, else everything is computed).
/// @param[in] changed        [changed_count] An entry may have changed if its row and its column are named
///                           here. Changes elsewhere are not seen: L then mixes old and new values. NULL if
///                           none.
/// @return SN_OK; SN_ERR_NOT_POSITIVE_DEFINITE (sn_factor_info names the unknown): the factor holds no
/// numbers until the next success. What was not on the paths still stands, and what was is done again in the
/// next call without being named: sn_factor_update() with the former values takes the change back at the
/// same cost. SN_ERR_NON_FINITE, SN_ERR_INVALID_ARGUMENT (as sn_factor_numeric(), or an unknown out of
/// range): nothing is changed. Memory: none. Before the first sn_factor_numeric() it does the same as that.
/// Source: Liu 1990, "The Role of Elimination Trees in Sparse Factorization", for the paths; update matrices
/// are kept rather than updated by low-rank steps, which pay for a few columns only.
SN_API SN_NODISCARD sn_status sn_factor_update(sn_factor *factor, const sn_factor_matrix *matrix,
                                               int32_t changed_count, const int32_t *changed);

/// Columns of J = -A11^-1 A12 = -L11^-T L21', combined: how the other unknowns follow the kept ones when
/// nothing pulls at them. One backward sweep that starts from y1 = 0: it reads L once and costs as much as
/// sn_factor_backward(), 2 flops an entry of L11 and L21 and column. J'b is in sn_factor_forward():
/// g2 = b2 + J' b1.
/// @param[in]  kept_rows  [kept_count, width] Z: each column of it combines columns of J.
/// @param[out] out_rows   [n, width] by unknown: J Z, and Z itself in the rows of the kept unknowns.
/// @return SN_OK; SN_ERR_INVALID_ARGUMENT (no numbers, width not 1 to 3, array missing): nothing is changed.
/// Memory: none.
SN_API SN_NODISCARD sn_status sn_factor_jacobian(sn_factor *factor, int32_t width, const double *kept_rows,
                                                 double *out_rows);

/// A sparse right-hand side: value[k] at unknown[k], other unknowns 0. Borrowed during calls only.
typedef struct sn_factor_sparse {
    int32_t count;          ///< >= 0
    const int32_t *unknown; ///< [count] 0 to n - 1 in any order; repeated ones are summed. NULL if none.
    const double *value;    ///< [count] in the units of b. NULL if none.
} sn_factor_sparse;

/// Number of entries that sn_factor_reach_solve() writes for these unknowns: the columns of the supernodes on
/// the elimination-tree paths from them to the root. -1 if an unknown is out of range or `factor` is NULL.
/// Needs no numbers. `unknown` [count]. Cost: the length of the paths, and a byte a supernode. Memory: none.
SN_API int32_t sn_factor_reach_count(sn_factor *factor, int32_t count, const int32_t *unknown);

/// Forward sweep of a sparse right-hand side w: u = L11^-1 w1 and e = w2 - L21 u, visiting only the reach of
/// w. With rows cached this way, conditions on unknowns outside the kept set join the kept problem without a
/// new analysis. For one such row w with multiplier l, C = u'u + e' S^-1 e is its compliance, u'y1 + e'z2 is
/// w'x once z2 = S^-1 g2 is known, and adding -l w to the load turns y1 into y1 - l u and g2 into g2 - l e:
/// no further sweep. See also sn_factor_grow_schur().
/// Cost: 2 flops an entry of L in the supernodes on the reach, which it reads once, on one thread; and a pass
/// over the rows that the touched groups of subtrees share with the rest.
///
/// @param[in]  capacity      Room in the two lists, at least sn_factor_reach_count().
/// @param[out] out_count     Entries of u written.
/// @param[out] out_unknown   [capacity] unknowns of u, in the order of elimination (the same order for
///                           all right-hand sides); entries may be zero.
/// @param[out] out_value     [capacity] u.
/// @param[out] out_kept      [kept_count] e in the order of the kept list. May be NULL if nothing is kept.
/// @return SN_OK; SN_ERR_INVALID_ARGUMENT (no numbers, unknown out of range, too little room, array missing):
/// nothing is changed. Memory: none.
/// Source: Gilbert and Peierls 1988, "Sparse Partial Pivoting in Time Proportional to Arithmetic Operations".
SN_API SN_NODISCARD sn_status sn_factor_reach_solve(sn_factor *factor, const sn_factor_sparse *right,
                                                    int32_t capacity, int32_t *out_count,
                                                    int32_t *out_unknown, double *out_value,
                                                    double *out_kept);

/// Moves unknowns into the kept set without a new analysis: the Schur complement of A on the kept unknowns
/// and the added ones. With U = L11^-1 E (columns of the identity at the added unknowns), K = -L21 U and
/// G = U'U it is [S + K G^-1 K', -K G^-1; -G^-1 K', G^-1]. Sweeps stay as they are: after
/// sn_factor_forward() the reduced right-hand side is g_added = G^-1 U'y1 and g2 - K g_added; before
/// sn_factor_backward() with the solution (z2, z_added), y1 becomes y1 - U l with
/// G l = U'y1 + K'z2 - z_added. sn_factor_reach_solve() gives the columns of U and K.
/// Cost: one reach solve an added unknown, then added^2 products of sparse vectors and
/// 2 kept_count^2 added + added^3 flops. Valid until the next numeric phase.
///
/// @param[in]  added      [added_count] distinct unknowns, none of them kept.
/// @param[out] out_schur  [kept_count + added_count, the same], both triangles: kept ones first, in the order
///                        of their list, then the added ones in theirs.
/// @return SN_OK; SN_ERR_INVALID_ARGUMENT; SN_ERR_NO_MEMORY; SN_ERR_NOT_POSITIVE_DEFINITE if G is not, by
/// rounding: out_schur is unchanged. Memory: the columns of U, during the call.
SN_API SN_NODISCARD sn_status sn_factor_grow_schur(sn_factor *factor, int32_t added_count,
                                                   const int32_t *added, double *out_schur);

#ifdef __cplusplus
}
#endif
#endif
