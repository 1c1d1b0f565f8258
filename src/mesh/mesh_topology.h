/// Who shares what: sorted edges and faces, and connected components.
#ifndef SN_MESH_TOPOLOGY_H
#define SN_MESH_TOPOLOGY_H

#include "base/base_context.h"

/// Corners of the faces of a tet, outward for a positive tet; face f lies opposite corner f.
extern const int32_t sn_tet_faces[4][3];

/// Order that sorts `count` tuples of `width` (2 or 3) vertices; the vertices of each tuple are compared
/// without regard to their order, and equal tuples keep theirs. Time grows with count + vertex_count.
/// @param[out] out_order  [count] tuple at each place of the order.
SN_NODISCARD sn_status sn_tuple_order(sn_context *ctx, int32_t vertex_count, int32_t count, int32_t width,
                                      const int32_t *tuple, int32_t *out_order);

/// Whether two tuples hold the same vertices.
bool sn_tuple_same(int32_t width, const int32_t *a, const int32_t *b);

/// Of `count` faces with the same vertices, by number in `order`, the first two that lie on the same side, in
/// the numbers of faces; false if there are none, as where each belongs to a tet of its own side. For faces
/// as sn_tet_faces gives them, of positive tets: more than one tet on a side overlap.
bool sn_faces_crowd(const int32_t *face, int32_t count, const int32_t *order, int32_t out_pair[2]);

/// Disjoint sets: parent[i] = i at first. `join` keeps the lower root, so the numbering does not depend on
/// the order.
int32_t sn_set_find(int32_t *parent, int32_t item);
void sn_set_join(int32_t *parent, int32_t a, int32_t b);

/// How the edges of a triangle surface are shared.
typedef struct sn_edge_census {
    int32_t edges, boundary, nonmanifold, misoriented;
    bool balanced; ///< Every edge is run through as often one way as the other: the winding number is whole.
} sn_edge_census;

/// Counts the edges of triangles [count, 3]. Triangles that repeat a vertex are left out.
SN_NODISCARD sn_status sn_edge_census_take(sn_context *ctx, int32_t vertex_count, int32_t count,
                                           const int32_t *triangle, sn_edge_census *out_census);

#endif
