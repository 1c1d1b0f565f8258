#include "factor/factor_sweep.h"

#include "base/base_parallel.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { ASSEMBLE_COLUMNS = 32, TILE_ROWS = 256 };

void sn_tiles_run(bool shared, int32_t count, sn_tile_task *task, const void *data) {
    if (!shared) {
        for (int32_t tile = 0; tile < count; tile++)
            task(data, tile);
        return;
    }
    // Which thread takes a tile has no influence on the result, so the schedule may follow the load.
#pragma omp for schedule(dynamic, 1)
    for (int32_t tile = 0; tile < count; tile++)
        task(data, tile);
}

const sn_factor_group *sn_factor_group_of(const sn_factor *factor, int32_t s) {
    const sn_factor_group *group = factor->groups;
    while (group->supernode_end <= s)
        group++;
    return group;
}

void sn_factor_list_places(const sn_factor *factor, int32_t s, int32_t *out_place) {
    const sn_supernode *node = &factor->supernodes[s];
    const int32_t *rows = factor->row_place + node->row_start;
    bool leaves_group =
        s < factor->first_top && (node->parent == SN_FACTOR_NONE || node->parent >= factor->first_top);
    memcpy(out_place, rows, (size_t)node->row_count * sizeof *rows);
    if (!leaves_group || node->row_count == 0)
        return;
    const sn_factor_group *group = sn_factor_group_of(factor, s);
    const int32_t *boundary = factor->boundary_place + group->boundary_start;
    for (int32_t i = 0; i < node->row_count; i++)
        out_place[i] = boundary[rows[i] - group->place - group->column_count];
}

/// Lists the rows of all children by their index in the front.
static void list_children_tile(const void *data, int32_t tile) {
    (void)tile;
    const sn_front *f = data;
    const sn_factor *factor = f->factor;
    const sn_supernode *node = f->node;
    const int32_t *row_place = factor->row_place + node->row_start;
    for (int32_t j = 0; j < node->width; j++)
        f->front_index[node->place - f->first_place + j] = j;
    for (int32_t i = 0; i < node->row_count; i++)
        f->front_index[row_place[i] - f->first_place] = node->width + i;
    int32_t *relative = f->relative;
    for (int32_t c = node->first_child; c != SN_FACTOR_NONE; c = factor->supernodes[c].next_sibling) {
        int32_t count = factor->supernodes[c].row_count;
        sn_factor_list_places(factor, c, relative);
        for (int32_t i = 0; i < count; i++)
            relative[i] = f->front_index[relative[i] - f->first_place];
        relative += count;
    }
}

static uint8_t *panel_of(const sn_front *f) {
    const sn_factor *factor = f->factor;
    return f->node->panel_in_values
               ? (uint8_t *)factor->values + f->node->value_start * (int64_t)factor->kernels->value_size
               : sn_home_address(factor, f->scratch, f->node->panel_start);
}

static void pack_in_place_tile(const void *data, int32_t tile) {
    (void)tile;
    sn_pack_in_place(data);
}

/// First of ascending rows that is not below `row`.
static int32_t lower_bound(const int32_t *rows, int32_t count, int32_t row) {
    int32_t low = 0, high = count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (rows[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/// Tiles of an update matrix: each block of columns is cut from its diagonal down.
static int32_t update_tiles(int32_t row_count) {
    int32_t tiles = 0;
    for (int32_t first = 0; first < row_count; first += SN_UPDATE_BLOCK)
        tiles += sn_pieces(row_count - first, TILE_ROWS);
    return tiles;
}

/// First column and row of a tile.
static void find_update_tile(int32_t row_count, int32_t tile, int32_t *out_column, int32_t *out_row) {
    int32_t column = 0;
    for (int32_t tiles = sn_pieces(row_count, TILE_ROWS); tile >= tiles;
         tiles = sn_pieces(row_count - column, TILE_ROWS)) {
        tile -= tiles;
        column += SN_UPDATE_BLOCK;
    }
    *out_column = column;
    *out_row = column + tile * TILE_ROWS;
}

#define NAME(x) x##_double
#define REAL    double
#define SYRK    cblas_dsyrk
#define GEMM    cblas_dgemm
#define TRSM    cblas_dtrsm
#define POTRF   LAPACKE_dpotrf_work
#include "factor/factor_front_kernel.h"
#undef NAME
#undef REAL
#undef SYRK
#undef GEMM
#undef TRSM
#undef POTRF

#define NAME(x) x##_float
#define REAL    float
#define SYRK    cblas_ssyrk
#define GEMM    cblas_sgemm
#define TRSM    cblas_strsm
#define POTRF   LAPACKE_spotrf_work
#include "factor/factor_front_kernel.h"
