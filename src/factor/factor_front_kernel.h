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

/// Zeros the lower triangle of some columns of panel and update.
static void NAME(clear_tile)(const void *data, int32_t tile) {
    const sn_front *f = data;
    int32_t width = f->node->width, total = width + f->node->row_count;
    for (int32_t j = tile * CLEAR_COLUMNS; j < total && j < (tile + 1) * CLEAR_COLUMNS; j++) {
        REAL *column = j < width ? (REAL *)f->panel + sn_panel_column(f->node, j)
                                 : (REAL *)f->update + sn_update_column(f->node, j - width);
        memset(column, 0, (size_t)(total - j) * sizeof *column);
    }
}

/// Enters the scaled matrix, and finds where the rows of children go.
static void NAME(enter_tile)(const void *data, int32_t tile) {
    (void)tile;
    const sn_front *f = data;
    const sn_supernode *node = f->node;
    const double *scale = f->factor->scale;
    const int32_t *row_place = f->factor->row_place + node->row_start - node->width;
    const sn_factor_entry *entry = f->factor->entries + node->entry_start;
    for (int32_t e = 0; e < node->entry_count; e++) {
        int32_t row = entry[e].row, column = entry[e].column;
        int32_t place = row < node->width ? node->place + row : row_place[row];
        ((REAL *)f->panel)[sn_panel_column(node, column) + (row - column)] =
            (REAL)(f->matrix_value[entry[e].source] * scale[place] * scale[node->place + column]);
    }
    enter_children(f);
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

/// Adds some columns of a child's update to the front.
static void NAME(absorb_tile)(const void *data, int32_t tile) {
    const sn_front *f = data;
    const sn_supernode *child = f->child;
    const int32_t *relative = f->child_relative;
    const REAL *source = (const REAL *)sn_update_of(f->factor, child, f->scratch);
    int32_t width = f->node->width;
    for (int32_t j = tile * ABSORB_COLUMNS; j < child->row_count && j < (tile + 1) * ABSORB_COLUMNS; j++) {
        REAL *target = relative[j] < width
                           ? (REAL *)f->panel + sn_panel_column(f->node, relative[j])
                           : (REAL *)f->update + sn_update_column(f->node, relative[j] - width);
        NAME(sn_scatter_add)(child->row_count - j, relative + j, source + sn_update_column(child, j), target);
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
    REAL *target = (REAL *)f->update + sn_update_column(f->node, column) + (row - column);
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

static void NAME(factor_front)(bool shared, sn_front *f, int32_t *failed) {
    const sn_factor *factor = f->factor;
    const sn_supernode *node = f->node;
    f->panel = f->scratch + node->panel_start;
    f->update = sn_update_of(factor, node, f->scratch);
    f->child_relative = f->relative;
    sn_tiles_run(shared, sn_pieces(node->width + node->row_count, CLEAR_COLUMNS), NAME(clear_tile), f);
    sn_tiles_run(shared, 1, NAME(enter_tile), f);
    for (int32_t c = node->first_child; c != SN_FACTOR_NONE; c = f->child->next_sibling) {
        f->child = &factor->supernodes[c];
        sn_tiles_run(shared, sn_pieces(f->child->row_count, ABSORB_COLUMNS), NAME(absorb_tile), f);
        f->child_relative += f->child->row_count;
    }
    const sn_dense panel = {f->panel, node->width, node->width + node->row_count, failed, f->flops};
    NAME(factor_dense)(shared, &panel);
    if (*failed >= 0)
        return;
    sn_tiles_run(shared, update_tiles(node->row_count), NAME(update_tile), f);
    sn_tiles_run(shared, sn_pieces(node->width, SN_STRIPE_COLUMNS), sn_pack_tile, f);
}

static double NAME(pivot)(const sn_front *f, int32_t column) {
    return ((const REAL *)f->panel)[sn_panel_column(f->node, column)];
}

/// Adds to S, which has the units of A and sums in double.
static void NAME(absorb_schur_tile)(const void *data, int32_t tile) {
    const sn_front *f = data;
    const sn_factor *factor = f->factor;
    const sn_supernode *child = f->child;
    const REAL *update = (const REAL *)sn_update_of(factor, child, f->scratch);
    const double *scale = factor->scale + sn_kept_place(factor);
    const int32_t *relative = f->child_relative;
    for (int32_t j = tile * ABSORB_COLUMNS; j < child->row_count && j < (tile + 1) * ABSORB_COLUMNS; j++) {
        const REAL *source = update + sn_update_column(child, j) - j;
        double *target = factor->schur +
                         sn_trapezoid_column(factor->kept_count, SN_PANEL_BLOCK, relative[j]) - relative[j];
        double unit = 1 / scale[relative[j]];
        for (int32_t i = j; i < child->row_count; i++)
            target[relative[i]] += (double)source[i] * unit / scale[relative[i]];
    }
}

const sn_front_kernels NAME(sn_front_kernels) = {sizeof(REAL), NAME(factor_front), NAME(factor_dense),
                                                 NAME(pivot), NAME(absorb_schur_tile)};
