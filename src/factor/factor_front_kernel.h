/// The numeric phase in one precision; included by factor_front.c, which defines the names of the precision.
/// See factor_internal.h for fronts and trapezoids. Tile shapes depend on the front alone.

// ---- Dense factorization, from left to right by blocks of SN_PANEL_BLOCK columns

/// Columns first..first+count-1, a block of storage.
typedef struct NAME(block_step) {
    const sn_dense *matrix;
    int32_t first, count;
    int32_t row; ///< First row of tile 0.
} NAME(block_step);

/// Entry (row, first) of a panel, `first` the first column of a block.
static REAL *NAME(block_entry)(const sn_dense *m, int32_t row, int32_t first, int *out_stride) {
    int32_t block = first / SN_PANEL_BLOCK;
    *out_stride = (int)sn_trapezoid_stride(m->rows, SN_PANEL_BLOCK, block);
    return (REAL *)m->value + sn_trapezoid_block(m->rows, SN_PANEL_BLOCK, block) + (row - first);
}

static int32_t NAME(tile_rows)(const NAME(block_step) * step, int32_t tile, int32_t *out_row) {
    *out_row = step->row + tile * TILE_ROWS;
    int32_t left = step->matrix->rows - *out_row;
    return left < TILE_ROWS ? left : TILE_ROWS;
}

static int32_t NAME(tile_count)(const NAME(block_step) * step) {
    return sn_pieces(step->matrix->rows - step->row, TILE_ROWS);
}

/// Subtracts what one block on the left contributes to `rows` rows from `row` on; the first `corner` of them
/// are those of the diagonal.
static void NAME(subtract_block)(const NAME(block_step) * step, int32_t left, int32_t row, int32_t rows,
                                 int32_t corner) {
    const sn_dense *m = step->matrix;
    int source_stride, target_stride;
    const REAL *upper = NAME(block_entry)(m, step->first, left, &source_stride);
    const REAL *source = upper + (row - step->first);
    REAL *target = NAME(block_entry)(m, row, step->first, &target_stride);
    if (corner > 0)
        SYRK(CblasColMajor, CblasLower, CblasNoTrans, corner, SN_PANEL_BLOCK, -1, source, source_stride, 1,
             target, target_stride);
    if (rows > corner)
        GEMM(CblasColMajor, CblasNoTrans, CblasTrans, rows - corner, step->count, SN_PANEL_BLOCK, -1,
             source + corner, source_stride, upper, source_stride, 1, target + corner, target_stride);
}

static void NAME(subtract_tile)(const void *data, int32_t tile) {
    const NAME(block_step) *step = data;
    int32_t row, rows = NAME(tile_rows)(step, tile, &row), count = step->count;
    int32_t corner = row == step->first ? count : 0;
    for (int32_t left = 0; left < step->first; left += SN_PANEL_BLOCK)
        NAME(subtract_block)(step, left, row, rows, corner);
    sn_count_flops(step->matrix->flops,
                   ((int64_t)corner * (count + 1) + 2 * (int64_t)(rows - corner) * count) * step->first);
}

static void NAME(factor_tile)(const void *data, int32_t tile) {
    (void)tile;
    const NAME(block_step) *step = data;
    const sn_dense *m = step->matrix;
    int stride;
    REAL *corner = NAME(block_entry)(m, step->first, step->first, &stride);
    int info = POTRF(LAPACK_COL_MAJOR, 'L', step->count, corner, stride);
    int64_t n = step->count;
    sn_count_flops(m->flops, n * (n + 1) * (2 * n + 1) / 6);
    if (info > 0)
        *m->failed = step->first + info - 1;
    // LAPACK lets NaN and infinity pass.
    for (int32_t j = 0; j < step->count && *m->failed < 0; j++) {
        REAL pivot = corner[j * ((int64_t)stride + 1)];
        if (!(pivot > 0 && isfinite(pivot)))
            *m->failed = step->first + j;
    }
}

static void NAME(solve_tile)(const void *data, int32_t tile) {
    const NAME(block_step) *step = data;
    const sn_dense *m = step->matrix;
    int stride;
    int32_t row, rows = NAME(tile_rows)(step, tile, &row);
    const REAL *corner = NAME(block_entry)(m, step->first, step->first, &stride);
    REAL *target = NAME(block_entry)(m, row, step->first, &stride);
    sn_count_flops(m->flops, (int64_t)rows * step->count * step->count);
    TRSM(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rows, step->count, 1, corner,
         stride, target, stride);
}

static void NAME(factor_dense)(bool shared, const sn_dense *matrix) {
    for (int32_t first = 0; first < matrix->columns; first += SN_PANEL_BLOCK) {
        int32_t left = matrix->columns - first;
        NAME(block_step) step = {matrix, first, left < SN_PANEL_BLOCK ? left : SN_PANEL_BLOCK, first};
        if (first > 0)
            sn_tiles_run(shared, NAME(tile_count)(&step), NAME(subtract_tile), &step);
        sn_tiles_run(shared, 1, NAME(factor_tile), &step);
        if (*matrix->failed >= 0)
            return;
        step.row = first + step.count;
        sn_tiles_run(shared, NAME(tile_count)(&step), NAME(solve_tile), &step);
    }
}

// ---- Fronts

static REAL *NAME(update_column)(const sn_front *f, const sn_supernode *node, int32_t column) {
    return (REAL *)sn_update_column(f->factor, node, f->scratch, column);
}

/// Diagonal entry of a column of panel and update; the rows below follow it.
static REAL *NAME(front_column)(const sn_front *f, int32_t column) {
    int32_t width = f->node->width;
    return column < width ? (REAL *)f->panel + sn_panel_column(f->node, column)
                          : NAME(update_column)(f, f->node, column - width);
}

/// Enters the scaled matrix into a column of the panel, and notes it for a later search for changes.
static void NAME(enter_column)(const sn_front *f, int32_t column, REAL *target) {
    const sn_factor *factor = f->factor;
    const sn_supernode *node = f->node;
    const int32_t *row_place = factor->row_place + node->row_start - node->width;
    double scale = factor->scale[node->place + column];
    const uint32_t *start = factor->entry_start + node->first + column;
    for (uint32_t e = start[0]; e < start[1]; e++) {
        sn_factor_entry entry = factor->entries[e];
        int32_t place = entry.row < node->width ? node->place + entry.row : row_place[entry.row];
        double value = f->matrix_value[entry.source];
        target[entry.row - column] = (REAL)(value * factor->scale[place] * scale);
        if (factor->keeps_updates)
            factor->entry_values[e] = value;
    }
}

/// target[relative[i] - relative[0]] += source[i], count > 0, relative ascending.
SN_CLONES static void NAME(sn_scatter_add)(int32_t count, const int32_t *relative, const REAL *source,
                                           REAL *target) {
    int32_t first = relative[0];
    if (relative[count - 1] - first == count - 1) {
        for (int32_t i = 0; i < count; i++)
            target[i] += source[i];
        return;
    }
    for (int32_t i = 0; i < count; i++)
        target[relative[i] - first] += source[i];
}

/// Adds what a child's update has for some columns of the front.
static void NAME(absorb)(const sn_front *f, const sn_supernode *child, const int32_t *relative, int32_t first,
                         int32_t end) {
    int32_t count = child->row_count;
    for (int32_t j = lower_bound(relative, count, first); j < count && relative[j] < end; j++)
        NAME(sn_scatter_add)
    (count - j, relative + j, NAME(update_column)(f, child, j), NAME(front_column)(f, relative[j]));
}

/// Fills some columns of the front: the matrix, then the children in their order.
static void NAME(assemble_tile)(const void *data, int32_t tile) {
    const sn_front *f = data;
    const sn_supernode *node = f->node;
    int32_t total = node->width + node->row_count, first = tile * ASSEMBLE_COLUMNS;
    int32_t end = total - first < ASSEMBLE_COLUMNS ? total : first + ASSEMBLE_COLUMNS;
    for (int32_t j = first; j < end; j++) {
        REAL *column = NAME(front_column)(f, j);
        memset(column, 0, (size_t)(total - j) * sizeof *column);
        if (j < node->width)
            NAME(enter_column)(f, j, column);
    }
    const int32_t *relative = f->relative;
    for (int32_t c = node->first_child; c != SN_FACTOR_NONE; c = f->factor->supernodes[c].next_sibling) {
        NAME(absorb)(f, &f->factor->supernodes[c], relative, first, end);
        relative += f->factor->supernodes[c].row_count;
    }
}

/// Subtracts L21 L21' from one tile of the update.
static void NAME(update_tile)(const void *data, int32_t tile) {
    const sn_front *f = data;
    int32_t column, row, count = f->node->row_count, width = f->node->width;
    const sn_dense panel = {.value = f->panel, .rows = width + count};
    find_update_tile(count, tile, &column, &row);
    int32_t columns = count - column < SN_UPDATE_BLOCK ? count - column : SN_UPDATE_BLOCK;
    int32_t rows = count - row < TILE_ROWS ? count - row : TILE_ROWS;
    int32_t corner = row == column ? columns : 0;
    int target_stride = (int)sn_trapezoid_stride(count, SN_UPDATE_BLOCK, column / SN_UPDATE_BLOCK), stride;
    REAL *target = NAME(update_column)(f, f->node, column) + (row - column);
    for (int32_t first = 0; first < width; first += SN_PANEL_BLOCK) {
        int32_t depth = width - first < SN_PANEL_BLOCK ? width - first : SN_PANEL_BLOCK;
        const REAL *left = NAME(block_entry)(&panel, width + row, first, &stride);
        const REAL *right = NAME(block_entry)(&panel, width + column, first, &stride);
        if (corner > 0)
            SYRK(CblasColMajor, CblasLower, CblasNoTrans, corner, depth, -1, left, stride, 1, target,
                 target_stride);
        if (rows > corner)
            GEMM(CblasColMajor, CblasNoTrans, CblasTrans, rows - corner, columns, depth, -1, left + corner,
                 stride, right, stride, 1, target + corner, target_stride);
    }
    sn_count_flops(f->flops,
                   ((int64_t)corner * (columns + 1) + 2 * (int64_t)(rows - corner) * columns) * width);
}

/// What the finished panel is needed for: tiles of the update, then stripes to pack.
static void NAME(finish_tile)(const void *data, int32_t tile) {
    const sn_front *f = data;
    int32_t updates = update_tiles(f->node->row_count);
    if (tile < updates)
        NAME(update_tile)(f, tile);
    else
        sn_pack_tile(f, tile - updates);
}

/// If the panel stands in its values, the update must be done before it is packed.
static void NAME(finish)(bool shared, const sn_front *f) {
    int32_t updates = update_tiles(f->node->row_count);
    if (!f->node->panel_in_values) {
        sn_tiles_run(shared, updates + sn_pieces(f->node->width, SN_STRIPE_COLUMNS), NAME(finish_tile), f);
        return;
    }
    sn_tiles_run(shared, updates, NAME(finish_tile), f);
    sn_tiles_run(shared, 1, pack_in_place_tile, f);
}

static void NAME(factor_front)(bool shared, sn_front *f, int32_t *failed) {
    const sn_supernode *node = f->node;
    int32_t total = node->width + node->row_count;
    f->panel = panel_of(f);
    const sn_dense panel = {f->panel, node->width, total, failed, f->flops};
    if (node->first_child != SN_FACTOR_NONE)
        sn_tiles_run(shared, 1, list_children_tile, f);
    sn_tiles_run(shared, sn_pieces(total, ASSEMBLE_COLUMNS), NAME(assemble_tile), f);
    NAME(factor_dense)(shared, &panel);
    if (*failed < 0)
        NAME(finish)(shared, f);
}

static double NAME(pivot)(const sn_front *f, int32_t column) {
    return ((const REAL *)f->panel)[sn_panel_column(f->node, column)];
}

/// Adds to S, which has the units of A and sums in double.
static void NAME(absorb_schur)(const sn_front *f, const sn_supernode *root, const int32_t *relative,
                               int32_t first, int32_t end) {
    const sn_factor *factor = f->factor;
    const double *scale = factor->scale + sn_kept_place(factor);
    int32_t count = root->row_count;
    for (int32_t j = lower_bound(relative, count, first); j < count && relative[j] < end; j++) {
        const REAL *source = NAME(update_column)(f, root, j) - j;
        double *target = sn_schur_column(factor, relative[j]) - relative[j];
        double unit = 1 / scale[relative[j]];
        for (int32_t i = j; i < count; i++)
            target[relative[i]] += (double)source[i] * unit / scale[relative[i]];
    }
}

const sn_front_kernels NAME(sn_front_kernels) = {sizeof(REAL), NAME(factor_front), NAME(factor_dense),
                                                 NAME(pivot), NAME(absorb_schur)};
