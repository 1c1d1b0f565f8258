/// The factor's data, and the functions its files share.
///
/// Unknowns are eliminated in this order: groups of subtrees of the supernodal elimination tree (each group
/// is one task of one thread), then the supernodes above them (one after the other, all threads inside each),
/// then the kept unknowns, whose Schur complement S is dense and stays apart.
///
/// Numeric phase: multifrontal, in float or double (one source, factor_front_kernel.h). The front of a
/// supernode with `width` columns and `row_count` rows below is a dense panel and an update matrix that its
/// parent, or S, absorbs. Where each of them lies is planned beforehand. Updates lie by blocks of columns,
/// each by itself, in the room of the packed panels of ancestors, which are not computed yet. What finds no
/// room there, and panels, lie in the scratch of the thread (inside a group) or of all threads (above the
/// groups, when that of the threads is free); what groups leave for the top may also lie in the room of S.
///
/// Fronts hold the scaled matrix E A E: E are powers of 2 that bring the diagonal of A close to 1. That is
/// exact and keeps floats and halves within their range, whatever the units. With L that of E A E, vectors
/// are scaled when they enter and leave the places; S is unscaled and in double.
///
/// The finished panel is repacked for the sweeps in the order in which they read it: stripes of 16 columns
/// (the last one fewer), one after the other. A stripe holds its triangle by rows, then the rows of the
/// panel's later columns, then the rows below the panel; the two last by 4 rows (the last ones fewer), and
/// there 4 columns (the last ones fewer) at a time, row by row. So nothing is stored but the entries of L.
/// Diagonal entries are stored as reciprocals. Numbers are rounded to the storage.
///
/// Sweeps: the vector lives in "places" of 4 numbers (3 right-hand sides and a spare lane), doubles for
/// double storage and floats otherwise. A group has places for its own columns and, behind them, for the rows
/// outside it which it updates. So groups never write to shared memory; what they add to the top is summed in
/// group order. All sums have one order, whatever the number of threads; tile shapes depend on the front
/// alone, because BLAS rounds differently for other shapes.
///
/// Rejected: left-looking supernodal (updates scatter through index lists at every descendant, and S would
/// need a special case), a tile scheduler over the whole tree (more overlap on many cores, but scratch memory
/// per task).
#ifndef SN_FACTOR_INTERNAL_H
#define SN_FACTOR_INTERNAL_H

#include "base/base_context.h"
#include "sinew/factor.h"

#include <string.h>

/// No parent within the free part: the update matrix goes to S.
enum { SN_FACTOR_NONE = -1 };

/// Where a panel or a block of an update matrix lies.
typedef enum sn_factor_home {
    SN_HOME_SCRATCH, ///< With the panels.
    SN_HOME_VALUES,  ///< In packed panels of ancestors, which are not computed yet.
    SN_HOME_SCHUR,   ///< In S, which is computed last.
    SN_HOME_UPDATES  ///< Behind the slots of scratch: what groups leave for the top, and what is kept.
} sn_factor_home;

/// Panels and blocks start at multiples of so many bytes. Their number is that plus the home.
enum { SN_FACTOR_ALIGNMENT = 64 };

typedef struct sn_supernode {
    int32_t first;        ///< First column, in elimination order.
    int32_t width;        ///< Columns.
    int32_t row_count;    ///< Rows below the diagonal block.
    int32_t parent;       ///< Supernode, or SN_FACTOR_NONE.
    int32_t first_child;  ///< Children in ascending order, linked by next_sibling.
    int32_t next_sibling; ///< SN_FACTOR_NONE ends the list.
    int32_t place;        ///< Place of the first column in the sweep vector.
    bool panel_in_values; ///< It is factored and packed where it stays.
    bool update_is_kept;  ///< Stays in memory of its own (SN_HOME_UPDATES) until it is computed anew.
    int64_t row_start;    ///< Into row_place.
    int64_t value_start;  ///< Into values: the packed panel.
    int64_t panel_start;  ///< Where its panel is computed, see sn_home_address(). If that is in its values:
                          ///< room for a stripe.
    int64_t block_start;  ///< Into update_block: one for each SN_UPDATE_BLOCK columns of its update matrix.
} sn_supernode;

/// Entry `source` of the caller's values goes to this row of a front (or of S).
typedef struct sn_factor_entry {
    uint32_t source;
    int32_t row;
} sn_factor_entry;

typedef struct sn_factor_group {
    int32_t first_supernode, supernode_end;
    int32_t place; ///< First place; its columns come first, then its boundary.
    int32_t column_count;
    int32_t boundary_count;
    int64_t boundary_start; ///< Into boundary_place: their places in the top or among the kept.
} sn_factor_group;

typedef struct sn_sweep_kernels sn_sweep_kernels;
typedef struct sn_front_kernels sn_front_kernels;

/// Vectors of sn_factor_refine(), [n, 3] each, allocated by its first call.
typedef struct sn_factor_refinement {
    double *residual, *last_residual, *correction, *direction, *product;
} sn_factor_refinement;

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
    int32_t *row_place;
    int32_t *boundary_place;
    int32_t top_place; ///< Place of the first top column; the kept unknowns follow the top columns.
    int32_t place_count;

    sn_factor_entry *entries; ///< Lower triangle of A by columns, in the order of elimination.
    uint32_t *entry_start;    ///< [n + 1]
    uint32_t *dropped;        ///< Caller's values that take no part because they were 0, by columns like
                              ///< `entries`. NULL: none.
    uint32_t *dropped_start;  ///< [n + 1] if there are any.
    int32_t root_count;       ///< Supernodes whose updates go to S.
    int32_t *roots;

    /// Partial refactorization. A stale supernode holds no numbers; its parent is stale, too.
    int32_t *node_of; ///< [n] supernode of an unknown, SN_FACTOR_NONE for kept unknowns.
    bool *stale;      ///< [supernode_count] bytes, like those of `touched`: see sn_next_marked().
    bool *touched;    ///< [supernode_count] what the numeric phase now running computes.
    bool keeps_updates;
    double *entry_values; ///< If it keeps updates: entries as last factored, in the order of `entries`.

    sn_factor_storage storage, kept_storage; ///< Of `values` and of `kept_values`.
    const sn_sweep_kernels *kernels, *kept_kernels;
    void *values;      ///< Packed panels.
    void *kept_values; ///< The factor of S: a trapezoid in double while it is computed, then packed in place.
                       ///< It lies in `scratch`: a numeric phase makes it out of date.
    const sn_front_kernels *fronts; ///< Arithmetic of the numeric phase.
    int64_t *update_block;          ///< Where the blocks of update matrices lie, see sn_home_address().
    uint8_t *scratch; ///< Panels and updates: one slot a thread, or everything for the top; updates that are
                      ///< kept behind that.
    uint8_t *updates; ///< In scratch, behind the slots.
    int64_t scratch_size, slot_size; ///< Bytes.
    int32_t slot_count;              ///< Threads that may work on groups at the same time.
    int32_t *front_index; ///< [slot_count, index_size], in the top all of it: index in the current front of
                          ///< each place of a group, or of the top.
    int32_t index_size;   ///< The most places of a group.
    int32_t *relative;    ///< [slot_count, relative_size] rows of children in the current front; also
                          ///< of all roots in S.
    int64_t relative_size;
    void *places;         ///< [place_count, 4] of what the sweeps sum in.
    void *kept_places;    ///< [kept_count, 4] of what the sweeps over S sum in.
    double *kept_doubles; ///< [kept_count, SN_STRIPE_COLUMNS] between the two, and for packing.
    double *scale;        ///< [place_count] scale of the unknown at each place, a power of 2.
    sn_factor_refinement refinement;
    double *schur;          ///< The lower triangle of S, by columns.
    sn_supernode kept_node; ///< S as a supernode for the sweeps, in its own values and places.

    bool has_numbers, schur_is_factored;
};

/// Orders the unknowns that are not left out: out_order[k] is the unknown eliminated k-th. `is_out` [n].
/// Halves have about the same weight: `weight` [n], NULL: 1 each.
SN_NODISCARD sn_status sn_factor_order(sn_context *ctx, const sn_factor_matrix *pattern, const bool *is_out,
                                       const int32_t *weight, int32_t seed, int32_t *out_order);

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
/// on entry (kept unknowns last) and an equivalent one on return. No supernode mixes late unknowns with
/// others, `is_late` [n], so that a change of a late one leaves the others alone.
SN_NODISCARD sn_status sn_factor_analyze(sn_context *ctx, const sn_factor_matrix *pattern, int32_t free_count,
                                         const bool *is_late, sn_symbolic *symbolic);
void sn_symbolic_destroy(sn_context *ctx, sn_symbolic *symbolic);

/// Rows of the permuted strict lower triangle: for each position i, the positions j < i, j < free_count,
/// coupled to it. `start` [n + 1]; `column` has room for all off-diagonal entries.
void sn_factor_permute(const sn_factor_matrix *pattern, int32_t free_count, const int32_t *order,
                       int32_t *inverse, int64_t *start, int32_t *column);

/// A pattern without the entries off the diagonal that are 0.
typedef struct sn_reduced {
    int64_t *start;
    int32_t *column;
    uint32_t *source; ///< [start[n]] each entry's number in the matrix that it was made from.
} sn_reduced;

SN_NODISCARD sn_status sn_factor_reduce(sn_context *ctx, const sn_factor_matrix *matrix,
                                        sn_reduced *out_reduced);
void sn_reduced_destroy(sn_context *ctx, sn_reduced *reduced);

/// Makes the entries of a factor laid out for the reduced pattern those of the whole matrix, and lists what
/// was dropped.
SN_NODISCARD sn_status sn_factor_note_dropped(sn_factor *factor, const sn_factor_matrix *matrix,
                                              const sn_reduced *reduced);

/// Refuses a matrix that is not 0 where entries of the columns first..end-1 (in the order of elimination)
/// were dropped.
SN_NODISCARD sn_status sn_factor_check_dropped(const sn_factor *factor, const sn_factor_matrix *matrix,
                                               int32_t first, int32_t end);

/// Fails with the place of an entry that is not finite or was dropped.
SN_NODISCARD sn_status sn_factor_refuse_entry(const sn_factor *factor, const sn_factor_matrix *matrix,
                                              int64_t entry);

/// Chooses groups, lays out places, packed panels and entries. What was taken for it is released again.
SN_NODISCARD sn_status sn_factor_lay_out(sn_factor *factor, const sn_factor_matrix *pattern,
                                         const sn_factor_def *def, const sn_symbolic *symbolic);

/// Plans panels and updates and allocates all memory of the later phases.
SN_NODISCARD sn_status sn_factor_allocate(sn_factor *factor);

/// Plans where panels and updates lie, and allocates their memory. Packed panels have their places.
SN_NODISCARD sn_status sn_factor_plan_memory(sn_factor *factor);

/// The first supernode from `s` on that is marked, or `end`. There may be many, and few marked: a loop over
/// all of them would take longer than a small change.
static inline int32_t sn_next_marked(const bool *mark, int32_t s, int32_t end) {
    const bool *found = s < end ? memchr(mark + s, true, (size_t)(end - s)) : NULL;
    return found ? (int32_t)(found - mark) : end;
}

/// Marks the supernode (SN_FACTOR_NONE: nothing) and its ancestors. `mark` must be upward closed.
void sn_factor_mark_path(const sn_factor *factor, int32_t s, bool *mark);

/// Marks the supernodes whose update matrices stay, as the definition wants it.
SN_NODISCARD sn_status sn_factor_plan_kept(sn_factor *factor, const sn_factor_def *def);

static inline int32_t sn_pieces(int32_t count, int32_t size) {
    return count / size + (count % size > 0);
}

/// Bytes behind packed numbers that kernels may read and ignore.
enum { SN_PACKED_MARGIN = 192 };

/// Columns of a stripe; the last one of a panel may have fewer.
enum { SN_STRIPE_COLUMNS = 16, SN_TRIANGLE_SIZE = 144 };

static inline int32_t sn_stripe_columns(int32_t width, int32_t column) {
    return width - column < SN_STRIPE_COLUMNS ? width - column : SN_STRIPE_COLUMNS;
}

/// Numbers in the triangle of a stripe. That of a whole one is filled up, so that its rows can be read by
/// aligned vectors.
static inline int64_t sn_triangle_size(int64_t columns) {
    return columns == SN_STRIPE_COLUMNS ? SN_TRIANGLE_SIZE : columns * (columns + 1) / 2;
}

/// Numbers in a stripe with `rows` rows below its triangle.
static inline int64_t sn_stripe_size(int64_t columns, int64_t rows) {
    return sn_triangle_size(columns) + columns * rows;
}

/// Offset of stripe `stripe` in a packed panel with `total` = width + row_count.
static inline int64_t sn_stripe_start(int64_t total, int64_t stripe) {
    return stripe * sn_stripe_size(SN_STRIPE_COLUMNS, total - SN_STRIPE_COLUMNS) -
           SN_STRIPE_COLUMNS * SN_STRIPE_COLUMNS / 2 * stripe * (stripe - 1);
}

/// Numbers in a packed panel.
static inline int64_t sn_packed_size(int64_t width, int64_t row_count) {
    int64_t rest = width % SN_STRIPE_COLUMNS;
    return sn_stripe_start(width + row_count, width / SN_STRIPE_COLUMNS) +
           (rest > 0 ? sn_stripe_size(rest, row_count) : 0);
}

/// Where a panel begins that would follow number `end`: panels with whole stripes are aligned.
static inline int64_t sn_panel_start(int64_t end, int32_t width) {
    return width < SN_STRIPE_COLUMNS ? end
                                     : (end + SN_STRIPE_COLUMNS - 1) / SN_STRIPE_COLUMNS * SN_STRIPE_COLUMNS;
}

/// Panels, updates and the factor of S are trapezoids: columns from the diagonal down, stored by blocks of
/// columns, each with its own leading dimension. Only inside a block is there room above the diagonal.
enum { SN_PANEL_BLOCK = 256, SN_UPDATE_BLOCK = 128 };

/// Leading dimension of a block of a trapezoid with `rows` rows in its first column. Columns that are a page
/// apart would fight for the same cache sets.
static inline int64_t sn_trapezoid_stride(int64_t rows, int64_t block_size, int64_t block) {
    int64_t stride = (rows + 7) / 8 * 8;
    return (stride % SN_UPDATE_BLOCK == 0 ? stride + 8 : stride) - block_size * block;
}

/// Offset of a block.
static inline int64_t sn_trapezoid_block(int64_t rows, int64_t block_size, int64_t block) {
    return block_size *
           (block * sn_trapezoid_stride(rows, block_size, 0) - block_size * block * (block - 1) / 2);
}

/// Offset of the diagonal entry of a column; the rows below follow it.
static inline int64_t sn_trapezoid_column(int64_t rows, int64_t block_size, int64_t column) {
    int64_t block = column / block_size;
    return sn_trapezoid_block(rows, block_size, block) +
           column % block_size * (sn_trapezoid_stride(rows, block_size, block) + 1);
}

/// Numbers in the first `columns` columns.
static inline int64_t sn_trapezoid_size(int64_t rows, int64_t block_size, int64_t columns) {
    if (columns == 0)
        return 0;
    int64_t last = (columns - 1) / block_size;
    return sn_trapezoid_block(rows, block_size, last) +
           sn_trapezoid_stride(rows, block_size, last) * (columns - block_size * last);
}

static inline int64_t sn_panel_size(const sn_supernode *node) {
    return sn_trapezoid_size((int64_t)node->width + node->row_count, SN_PANEL_BLOCK, node->width);
}

/// Offset of the diagonal entry of a column of a panel.
static inline int64_t sn_panel_column(const sn_supernode *node, int64_t column) {
    return sn_trapezoid_column((int64_t)node->width + node->row_count, SN_PANEL_BLOCK, column);
}

/// Blocks of an update matrix.
static inline int32_t sn_update_blocks(const sn_supernode *node) {
    return sn_pieces(node->row_count, SN_UPDATE_BLOCK);
}

static inline int64_t sn_update_size(const sn_supernode *node) {
    return sn_trapezoid_size(node->row_count, SN_UPDATE_BLOCK, node->row_count);
}

/// Floating-point operations of a supernode's front, with the zeros it stores: the sum of the squares of its
/// columns' lengths.
static inline double sn_front_flops(int32_t width, int32_t row_count) {
    double w = width, r = row_count;
    return w * (w + 1) * (2 * w + 1) / 6 + r * w * (w + 1) + w * r * r;
}

/// First place of the kept unknowns.
static inline int32_t sn_kept_place(const sn_factor *factor) {
    return factor->place_count - factor->kept_count;
}

/// Records a pivot that is not positive in info and message.
sn_status sn_factor_report(sn_factor *factor, sn_factor_failure failure);

/// Work on one tile; tiles of one call are independent.
typedef void sn_tile_task(const void *data, int32_t tile);

/// Runs tiles 0..count-1: alone, or (`shared`) with all threads of the enclosing parallel region, each of
/// which must make the same call; then no one returns before all tiles are done.
void sn_tiles_run(bool shared, int32_t count, sn_tile_task *task, const void *data);

/// A dense matrix whose leading square is factored: a trapezoid of SN_PANEL_BLOCK.
typedef struct sn_dense {
    void *value;
    int32_t columns, rows;
    int32_t *failed; ///< Set to the first column whose pivot is not positive; -1 before the call.
    int64_t *flops;  ///< Operations are added to it.
} sn_dense;

/// Counts operations from any thread. Sums of integers have no order.
static inline void sn_count_flops(int64_t *counter, int64_t flops) {
#pragma omp atomic
    *counter += flops;
}

/// A supernode's dense matrices while it is being factored.
typedef struct sn_front {
    const sn_factor *factor;
    const sn_supernode *node;
    const double *matrix_value;
    uint8_t *scratch; ///< Slot, or all.
    int32_t *front_index, *relative;
    int32_t first_place; ///< Of front_index.
    void *panel;
    int64_t *flops;
} sn_front;

/// The numeric phase in one precision.
struct sn_front_kernels {
    size_t real_size;
    /// Assembles, factors and packs one front (see sn_tiles_run() for `shared`); *failed receives the failing
    /// column of the supernode, -1 if none.
    void (*factor)(bool shared, sn_front *front, int32_t *failed);
    /// L11 and L21 = A21 L11^-T, by tiles. What is stored above the diagonal is overwritten.
    void (*factor_dense)(bool shared, const sn_dense *matrix);
    /// A pivot of a panel, of the scaled matrix.
    double (*pivot)(const sn_front *front, int32_t column);
    /// Adds the update of a root, whose rows are `relative` in S, to columns first..end-1 of S.
    void (*absorb_schur)(const sn_front *front, const sn_supernode *root, const int32_t *relative,
                         int32_t first, int32_t end);
};
extern const sn_front_kernels sn_front_kernels_double, sn_front_kernels_float;

/// `start` bytes, a multiple of SN_FACTOR_ALIGNMENT, into an sn_factor_home, which is added to it. `scratch`
/// is that of the front at hand.
static inline uint8_t *sn_home_address(const sn_factor *factor, uint8_t *scratch, int64_t start) {
    int64_t home = start % SN_FACTOR_ALIGNMENT;
    uint8_t *base = home == SN_HOME_SCRATCH  ? scratch
                    : home == SN_HOME_VALUES ? (uint8_t *)factor->values
                    : home == SN_HOME_SCHUR  ? (uint8_t *)factor->schur
                                             : factor->updates;
    return base + (start - home);
}

/// Diagonal entry of a column of an update matrix; the rows below follow it.
static inline uint8_t *sn_update_column(const sn_factor *factor, const sn_supernode *node, uint8_t *scratch,
                                        int32_t column) {
    int64_t block = column / SN_UPDATE_BLOCK;
    int64_t offset =
        column % SN_UPDATE_BLOCK * (sn_trapezoid_stride(node->row_count, SN_UPDATE_BLOCK, block) + 1);
    return sn_home_address(factor, scratch, factor->update_block[node->block_start + block]) +
           offset * (int64_t)factor->fronts->real_size;
}

/// Group of supernode `s`, which is below the top.
const sn_factor_group *sn_factor_group_of(const sn_factor *factor, int32_t s);

/// Lists where the rows of `node`, number `s`, lie in the places of the top, or of its own group if its
/// parent is in that.
void sn_factor_list_places(const sn_factor *factor, int32_t s, int32_t *out_place);

/// Repacks stripe `tile` of a finished panel for the sweeps. `data` is an sn_front.
void sn_pack_tile(const void *data, int32_t tile);

/// Repacks a finished panel that stands in its values.
void sn_pack_in_place(const sn_front *front);

/// Packs the factor of S where it stands.
void sn_pack_kept(const sn_factor *factor);

/// Chooses the scales of the unknowns for a complete numeric phase. A partial one must keep them: they are in
/// the rows of panels that it leaves alone.
void sn_factor_choose_scales(sn_factor *factor, const sn_factor_matrix *matrix);

/// Adds up S from the kept block of A and the updates of all roots. Every thread of the region calls this.
void sn_schur_assemble(const sn_factor *factor, const double *matrix_value);

/// Computes the supernodes marked in `touched`, which is upward closed, and S. On failure they stay stale.
SN_NODISCARD sn_status sn_factor_compute(sn_factor *factor, const sn_factor_matrix *matrix);

/// Checks that a matrix has values and the size of the analyzed pattern.
SN_NODISCARD sn_status sn_factor_check_matrix(const sn_factor *factor, const sn_factor_matrix *matrix);

/// Diagonal entry of a column of S; the rows below follow it.
static inline double *sn_schur_column(const sn_factor *factor, int32_t column) {
    return factor->schur + (int64_t)column * factor->kept_count - (int64_t)column * (column - 1) / 2;
}

/// Factors S for the sweeps, unless it is done.
SN_NODISCARD sn_status sn_schur_factor(sn_factor *factor);

#endif
