/// Shapes that the program makes by itself: parts shared by the makers.
#ifndef SN_MESH_MAKE_H
#define SN_MESH_MAKE_H

#include "mesh/mesh_internal.h"

/// The surface of a grid of n[0] x n[1] x n[2] cells: every vertex with its place on the grid, and
/// quadrilaterals cut in two, outward. A closed manifold whatever the vertices are moved to; all surface
/// makers start from it.
typedef struct sn_box_grid {
    sn_context *context;
    int32_t vertex_count, triangle_count;
    int32_t *place;    ///< [vertex_count, 3] grid coordinates, 0 to n
    int32_t *triangle; ///< [triangle_count, 3]; the cut is the edge from the third corner to the first
} sn_box_grid;

SN_NODISCARD sn_status sn_box_grid_make(sn_context *ctx, const int32_t n[3], sn_box_grid *out_grid);
void sn_box_grid_release(sn_box_grid *grid);

/// Fills `data` with the arm and makes its skeleton.
SN_NODISCARD sn_status sn_make_arm(sn_mesh_data *data, const sn_make_def *def, sn_skeleton **out_skeleton);

#endif
