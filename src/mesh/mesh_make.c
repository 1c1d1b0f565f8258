#include "mesh/mesh_make.h"

#include "mesh/mesh_def.h"
#include "mesh/mesh_pattern.h"

#include <math.h>
#include <string.h>

static int32_t grid_node(const int32_t n[3], int32_t x, int32_t y, int32_t z) {
    return (z * (n[1] + 1) + y) * (n[0] + 1) + x;
}

/// Cells along each axis for cells of about `edge`; refuses grids too large to number.
static sn_status count_cells(sn_context *ctx, const double size[3], double edge, int32_t n[3]) {
    double total = 1;
    for (int c = 0; c < 3; c++)
        total *= fmax(1, round(size[c] / edge)) + 1;
    if (!(total * 6 < INT32_MAX / 4))
        return sn_fail(
            ctx, SN_ERR_INVALID_ARGUMENT,
            "a shape of %g x %g x %g with cells of %g has %.3g nodes, more than can be numbered; use "
            "fewer cells",
            size[0], size[1], size[2], edge, total);
    for (int c = 0; c < 3; c++)
        n[c] = (int32_t)fmax(1, round(size[c] / edge));
    return SN_OK;
}

/// A block from 0 to `size` in Kuhn's decomposition.
static sn_status make_beam(sn_mesh_data *data, const sn_make_def *def) {
    sn_status status = SN_OK;
    sn_context *ctx = data->context;
    int32_t *tet = NULL, n[3];
    const double *size = def->size;
    sn_lattice_pattern kuhn = sn_lattice_pattern_make(SN_LATTICE_KUHN);
    SN_TRY(count_cells(ctx, size, fmin(size[1], size[2]) / def->cells, n));
    int32_t nodes = (n[0] + 1) * (n[1] + 1) * (n[2] + 1), cells = n[0] * n[1] * n[2];
    SN_TRY_NEW(ctx, data->position, (size_t)nodes * 3);
    SN_TRY_NEW(ctx, tet, (size_t)cells * 24);
    data->vertex_count = nodes;
    for (int32_t node = 0; node < nodes; node++) {
        int32_t place[3] = {node % (n[0] + 1), node / (n[0] + 1) % (n[1] + 1),
                            node / (n[0] + 1) / (n[1] + 1)};
        for (int c = 0; c < 3; c++)
            data->position[3 * (size_t)node + c] = size[c] * place[c] / n[c];
    }
    for (size_t i = 0; i < (size_t)cells * 24; i++) {
        const int32_t *corner = kuhn.corner[i / 4 % 6][i % 4];
        int32_t cell = (int32_t)(i / 24), x = cell % n[0], y = cell / n[0] % n[1], z = cell / n[0] / n[1];
        tet[i] = grid_node(n, x + corner[0] / 2, y + corner[1] / 2, z + corner[2] / 2);
    }
    SN_TRY(sn_mesh_data_add_block(data, SN_CELL_TET, 6 * cells, tet));
cleanup:
    SN_RELEASE(ctx, tet);
    return status;
}

/// Numbers the grid nodes that lie on the surface; -1 inside.
static void number_surface(const int32_t n[3], int32_t *number, sn_box_grid *grid) {
    int32_t used = 0;
    for (int32_t z = 0; z <= n[2]; z++)
        for (int32_t y = 0; y <= n[1]; y++)
            for (int32_t x = 0; x <= n[0]; x++) {
                bool on = x == 0 || x == n[0] || y == 0 || y == n[1] || z == 0 || z == n[2];
                number[grid_node(n, x, y, z)] = on ? used : -1;
                if (on)
                    memcpy(grid->place + 3 * (size_t)used++, (int32_t[3]){x, y, z}, 3 * sizeof(int32_t));
            }
    grid->vertex_count = used;
}

/// Cuts one quadrilateral. The cut runs towards the middle of the face, so that the pattern is symmetric and
/// no triangle has all its corners on one edge of the box.
static void add_quad(sn_box_grid *grid, const int32_t q[4], bool cut_02) {
    int32_t *t = grid->triangle + 3 * (size_t)grid->triangle_count;
    const int32_t corner[2][6] = {{3, 0, 1, 1, 2, 3}, {0, 1, 2, 2, 3, 0}};
    for (int i = 0; i < 6; i++)
        t[i] = q[corner[cut_02][i]];
    grid->triangle_count += 2;
}

static void add_face(sn_box_grid *grid, const int32_t n[3], const int32_t *number, int axis, int32_t side) {
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    for (int32_t j = 0; j < n[v]; j++)
        for (int32_t i = 0; i < n[u]; i++) {
            int32_t quad[4];
            for (int k = 0; k < 4; k++) {
                // Counterclockwise seen from outside on the high side, clockwise turned about on the low
                // side.
                int turn = side ? k : 3 - k;
                int32_t place[3];
                place[axis] = side * n[axis];
                place[u] = i + (turn == 1 || turn == 2);
                place[v] = j + (turn >= 2);
                quad[k] = number[grid_node(n, place[0], place[1], place[2])];
            }
            bool rising = (2 * i < n[u]) == (2 * j < n[v]); // the diagonal from (i, j) to (i + 1, j + 1)
            add_quad(grid, quad, side ? rising : !rising);
        }
}

sn_status sn_box_grid_make(sn_context *ctx, const int32_t n[3], sn_box_grid *out_grid) {
    sn_status status = SN_OK;
    sn_box_grid grid = {.context = ctx};
    int32_t *number = NULL;
    size_t quads = 2 * ((size_t)n[0] * n[1] + (size_t)n[1] * n[2] + (size_t)n[2] * n[0]);
    SN_TRY_NEW(ctx, number, (size_t)(n[0] + 1) * (n[1] + 1) * (n[2] + 1));
    SN_TRY_NEW(ctx, grid.place, 3 * (quads + 2));
    SN_TRY_NEW(ctx, grid.triangle, 6 * quads);
    number_surface(n, number, &grid);
    for (int axis = 0; axis < 3; axis++)
        for (int32_t side = 0; side < 2; side++)
            add_face(&grid, n, number, axis, side);
    *out_grid = grid;
    grid = (sn_box_grid){0};
cleanup:
    SN_RELEASE(ctx, number);
    sn_box_grid_release(&grid);
    return status;
}

void sn_box_grid_release(sn_box_grid *grid) {
    if (!grid->context)
        return;
    SN_RELEASE(grid->context, grid->place);
    SN_RELEASE(grid->context, grid->triangle);
    *grid = (sn_box_grid){0};
}

/// Moves a point of the cube [-1, 1]^3's surface onto the unit sphere, nearly evenly: equal angles along each
/// grid line.
static void cube_to_sphere(double p[3]) {
    double length = 0;
    for (int c = 0; c < 3; c++) {
        p[c] = tan(p[c] * 0.78539816339744831);
        length += p[c] * p[c];
    }
    for (int c = 0; c < 3; c++)
        p[c] /= sqrt(length);
}

static sn_status make_closed(sn_mesh_data *data, const sn_make_def *def) {
    sn_status status = SN_OK;
    sn_context *ctx = data->context;
    sn_box_grid grid = {0};
    int32_t n[3] = {def->cells, def->cells, def->cells};
    const double *size = def->size;
    if (def->shape == SN_MAKE_BLOCK)
        SN_TRY(count_cells(ctx, size, fmax(size[0], fmax(size[1], size[2])) / def->cells, n));
    else
        SN_TRY(count_cells(ctx, (double[3]){1, 1, 1}, 1.0 / def->cells, n));
    SN_TRY(sn_box_grid_make(ctx, n, &grid));
    SN_TRY_NEW(ctx, data->position, (size_t)grid.vertex_count * 3);
    data->vertex_count = grid.vertex_count;
    for (size_t v = 0; v < (size_t)grid.vertex_count; v++) {
        double p[3];
        for (size_t c = 0; c < 3; c++)
            p[c] = 2.0 * grid.place[3 * v + c] / n[c] - 1;
        if (def->shape == SN_MAKE_SPHERE)
            cube_to_sphere(p);
        for (size_t c = 0; c < 3; c++)
            data->position[3 * v + c] = 0.5 * size[c] * p[c];
    }
    SN_TRY(sn_mesh_data_add_block(data, SN_CELL_TRIANGLE, grid.triangle_count, grid.triangle));
cleanup:
    sn_box_grid_release(&grid);
    return status;
}

sn_status sn_mesh_make(sn_context *context, const sn_make_def *def, sn_mesh_data **out_data,
                       sn_skeleton **out_skeleton) {
    if (!context)
        return SN_ERR_INVALID_ARGUMENT;
    if (!def || !out_data)
        return sn_fail(context, SN_ERR_INVALID_ARGUMENT, "sn_mesh_make: def or out_data is NULL");
    sn_status status = SN_OK;
    sn_mesh_data *data = NULL;
    sn_skeleton *skeleton = NULL;
    SN_TRY(sn_field_check(context, &sn_make_fields, def));
    SN_TRY(sn_mesh_data_create(context, &data));
    if (def->shape == SN_MAKE_BEAM)
        SN_TRY(make_beam(data, def));
    else if (def->shape == SN_MAKE_ARM)
        SN_TRY(sn_make_arm(data, def, &skeleton));
    else
        SN_TRY(make_closed(data, def));
    *out_data = data;
    data = NULL;
    if (out_skeleton) {
        *out_skeleton = skeleton;
        skeleton = NULL;
    }
cleanup:
    sn_mesh_data_destroy(&data);
    sn_skeleton_destroy(&skeleton);
    return status;
}
