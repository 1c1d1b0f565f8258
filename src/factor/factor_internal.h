/// The factor's data, and the functions its files share.
///
/// Unknowns are eliminated in this order: groups of subtrees of the supernodal elimination tree (each group
/// is one task of one thread), then the supernodes above them (one after the other, all threads inside each),
/// then the kept unknowns, whose Schur complement S is dense and stays apart.
///
/// Numeric phase: multifrontal. The front of a supernode with `width` columns and `row_count` rows below is a
/// dense panel (scratch memory) and an update matrix (planned memory) that its parent, or S, absorbs. The
/// finished panel is repacked for the sweeps: stripes of 8 columns, stored row by row, so that a sweep reads
/// memory once and in order. A last stripe of fewer columns is 4, 2 or 1 wide; a row of a stripe never
/// straddles a cache line. Diagonal entries are stored as reciprocals.
///
/// Sweeps: the vector lives in "places" of 4 doubles (3 right-hand sides and a spare lane: one aligned vector
/// register). A group has places for its own columns and, behind them, for the rows outside it which it
/// updates. So groups never write to shared memory; what they add to the top is summed in group order. All
/// sums have one order, whatever the number of threads; tile shapes depend on the front alone, because BLAS
/// rounds differently for other shapes.
///
/// Rejected: left-looking supernodal (updates scatter through index lists at every descendant, and S would
/// need a special case), a tile scheduler over the whole tree (more overlap on many cores, but scratch memory
/// per task).
#ifndef SN_FACTOR_INTERNAL_H
#define SN_FACTOR_INTERNAL_H

#include "base/base_context.h"
#include "sinew/factor.h"

/// No parent within the free part: the update matrix goes to S.
enum { SN_FACTOR_NONE = -1 };

typedef struct sn_supernode {
    int32_t first;        ///< First column, in elimination order.
    int32_t width;        ///< Columns.
    int32_t row_count;    ///< Rows below the diagonal block.
    int32_t parent;       ///< Supernode, or SN_FACTOR_NONE.
    int32_t first_child;  ///< Children in ascending order, linked by next_sibling.
    int32_t next_sibling; ///< SN_FACTOR_NONE ends the list.
    int32_t place;        ///< Place of the first column in the sweep vector.
    int64_t row_start;    ///< Into row_place and row_relative.
    int64_t value_start;  ///< Into values: the packed panel.
    int64_t update_start; ///< Into the scratch of the thread (inside a group) or the shared updates (roots of
                          ///< groups, top).
    int64_t entry_start;  ///< Into entries: entries of A that belong to its panel.
    int32_t entry_count;
    bool update_is_shared; ///< Which of the two.
} sn_supernode;

/// Entry `source` of the caller's values goes to `target`, an offset in a panel (or in S).
typedef struct sn_factor_entry {
    int64_t source, target;
} sn_factor_entry;

typedef struct sn_factor_group {
    int32_t first_supernode, supernode_end;
    int32_t place; ///< First place; its columns come first, then its boundary.
    int32_t column_count;
    int32_t boundary_count;
    int64_t boundary_start; ///< Into boundary_place: their places in the top or among the kept.
} sn_factor_group;

/// What went wrong first, in elimination order.
typedef struct sn_factor_failure {
    int32_t column; ///< Elimination order; INT32_MAX if nothing failed.
    double pivot;
} sn_factor_failure;

struct sn_factor {
    sn_context *context;
    sn_factor_info info;
    int64_t pattern_nonzeros;
    int32_t free_count, kept_count;

    int32_t supernode_count, group_count, first_top; ///< Supernodes from first_top on are the top.
    sn_supernode *supernodes;
    sn_factor_group *groups;
    int32_t *unknown; ///< [n] unknown eliminated at each position.
    int32_t *row_place, *row_relative;
    int32_t *boundary_place;
    int32_t top_place; ///< Place of the first top column; the kept unknowns follow the top columns.
    int32_t place_count;

    sn_factor_entry *entries;
    sn_factor_entry *schur_entries;
    int64_t schur_entry_count;

    double *values; ///< Packed panels.
    double *shared_updates;
    double *scratch;                     ///< Per thread: the updates of a group, then a panel.
    int64_t scratch_size, scratch_panel; ///< Doubles per thread; offset of the panel in them.
    double *top_panel;
    double *places; ///< [place_count, 4]
    /// S by columns, leading dimension kept_count + 1: the upper triangle holds S, and one row below it the
    /// lower triangle holds its Cholesky factor.
    double *schur;
    sn_supernode kept_node; ///< S as a last supernode for the sweeps: its factor packed behind all others.

    bool has_numbers, schur_is_factored;
};

/// Orders the unknowns that are not kept: out_order[k] is the unknown eliminated k-th. `is_kept` [n].
SN_NODISCARD sn_status sn_factor_order(sn_context *ctx, const sn_factor_matrix *pattern, const bool *is_kept,
                                       int32_t seed, int32_t *out_order);

/// Result of the symbolic analysis, before memory is laid out.
typedef struct sn_symbolic {
    int32_t supernode_count;
    int32_t *first;     ///< [supernode_count + 1] first column
    int32_t *row_count; ///< [supernode_count]
    int32_t *parent;    ///< [supernode_count]
    int32_t *order;     ///< [n] unknowns in elimination order, kept ones last
    int64_t nonzeros;
    double flops;
} sn_symbolic;

/// Elimination tree, column counts, relaxed supernodes in postorder. symbolic->order holds the wanted order
/// on entry (kept unknowns last) and an equivalent one on return.
SN_NODISCARD sn_status sn_factor_analyze(sn_context *ctx, const sn_factor_matrix *pattern, int32_t free_count,
                                         sn_symbolic *symbolic);
void sn_symbolic_destroy(sn_context *ctx, sn_symbolic *symbolic);

/// Rows of the permuted strict lower triangle: for each position i, the positions j < i, j < free_count,
/// coupled to it. `start` [n + 1]; `column` has room for all off-diagonal entries.
void sn_factor_permute(const sn_factor_matrix *pattern, int32_t free_count, const int32_t *order,
                       int32_t *inverse, int64_t *start, int32_t *column);

/// Chooses groups, lays out places, panels, updates and entries, and allocates all memory of the later
/// phases.
SN_NODISCARD sn_status sn_factor_lay_out(sn_factor *factor, const sn_factor_matrix *pattern,
                                         sn_symbolic *symbolic);

/// Stripes of a panel: the one that starts at `column` of `width` has sn_stripe_columns() columns stored
/// sn_stripe_stride() wide; the difference is zeros.
static inline int32_t sn_stripe_columns(int32_t width, int32_t column) {
    int32_t left = width - column;
    return left >= 8 ? 8 : left == 7 ? 7 : left >= 4 ? 4 : left == 3 ? 3 : left;
}

static inline int32_t sn_stripe_stride(int32_t columns) {
    return columns == 7 ? 8 : columns == 3 ? 4 : columns;
}

/// Doubles of a packed panel, a multiple of 8.
int64_t sn_packed_size(int32_t width, int32_t row_count);

/// Leading dimensions of a panel and of an update matrix, multiples of 8.
static inline int64_t sn_panel_stride(const sn_supernode *node) {
    int64_t stride = ((int64_t)node->width + node->row_count + 7) / 8 * 8;
    // Columns that are a page apart would fight for the same cache sets.
    return stride % 512 == 0 ? stride + 8 : stride;
}

static inline int64_t sn_update_stride(const sn_supernode *node) {
    int64_t stride = ((int64_t)node->row_count + 7) / 8 * 8;
    return stride % 512 == 0 ? stride + 8 : stride;
}

/// Records a pivot that is not positive in info and message.
sn_status sn_factor_report(sn_factor *factor, sn_factor_failure failure);

/// Offset of the stripes that begin at column 8 * unit in a packed panel with `rows` = width + row_count.
static inline int64_t sn_unit_start(int64_t rows, int64_t unit) {
    return 8 * unit * rows - 32 * unit * (unit - 1);
}

/// Work on one tile; tiles of one call are independent.
typedef void sn_tile_task(const void *data, int32_t tile);

/// Runs tiles 0..count-1: alone, or (`shared`) with all threads of the enclosing parallel region, each of
/// which must make the same call; then no one returns before all tiles are done.
void sn_tiles_run(bool shared, int32_t count, sn_tile_task *task, const void *data);

/// A dense matrix by columns, [rows, columns], whose leading square is factored in its lower triangle.
typedef struct sn_dense {
    double *value;
    int64_t stride;
    int32_t columns, rows;
    int32_t *failed; ///< Set to the first column whose pivot is not positive; -1 before the call.
} sn_dense;

/// L11 and L21 = A21 L11^-T, by tiles. The strict upper triangle is overwritten.
void sn_dense_factor(bool shared, const sn_dense *matrix);

/// A supernode's dense matrices while it is being factored.
typedef struct sn_front {
    const sn_factor *factor;
    const sn_supernode *node;
    const double *matrix_value;
    double *panel, *update, *scratch;
    int64_t panel_stride, update_stride;
    const sn_supernode *child; ///< The one being absorbed.
} sn_front;

/// Repacks columns 8 * tile .. 8 * tile + 7 of a finished panel for the sweeps. `data` is an sn_front.
void sn_pack_tile(const void *data, int32_t tile);

/// Adds up S from the kept block of A and the updates of all roots. Every thread of the region calls this.
void sn_schur_assemble(const sn_factor *factor, const double *matrix_value);

/// Factors S for the sweeps, unless it is done.
SN_NODISCARD sn_status sn_schur_factor(sn_factor *factor);

static inline int32_t sn_pieces(int32_t count, int32_t size) {
    return count / size + (count % size > 0);
}

#endif
