/// Inside of a checked mesh, for the mesh module alone.
#ifndef SN_MESH_INTERNAL_H
#define SN_MESH_INTERNAL_H

#include "base/base_context.h"
#include "mesh/mesh_copies.h"
#include "sinew/mesh.h"

struct sn_mesh {
    sn_context *context;
    int32_t node_count, tet_count, surface_count, piece_count, group_count;
    double *position; ///< [node_count, 3]
    int32_t *tet;     ///< [tet_count, 4]
    int32_t *group;   ///< [tet_count] or NULL
    char **group_name;
    int32_t *surface; ///< [surface_count, 3]
    int32_t *piece;   ///< [tet_count]
    int32_t set_count;
    sn_vertex_set *set; ///< [set_count] of nodes, rising
    double *fraction;   ///< [tet_count] or NULL
    sn_tet_copies copies;
};

/// Vertices per cell; 0 for polygons, whose cells differ.
static inline int32_t sn_cell_width(sn_cell_kind kind) {
    return kind == SN_CELL_EDGE ? 2 : kind == SN_CELL_TRIANGLE ? 3 : kind == SN_CELL_TET ? 4 : 0;
}

/// A height or volume below this part of the longest edge (or its cube) makes a triangle or a tet flat.
#define SN_FLAT_RATIO 1e-12

/// A point is in a tet if none of its weights is below this.
#define SN_WEIGHT_LEAST (-1e-12)

/// Edges, and distances from the origin, that may be computed with: products of four of them, as distances to
/// triangles need, neither vanish nor overflow.
#define SN_LENGTH_LEAST 1e-50
#define SN_LENGTH_MOST  1e50

/// Six times the signed volume of a tet, and the cube of its longest edge.
double sn_tet_volume6(const double *position, const int32_t tet[4], double *out_edge_cubed);

/// Whether two tets stand at one place with nodes of their own, as a lattice's do on both sides of a gap.
/// Such tets may share a face.
static inline bool sn_tets_are_copies(const double *position, const int32_t a[4], const int32_t b[4]) {
    bool same_nodes = true;
    for (int i = 0; i < 4; i++) {
        const double *p = position + 3 * (size_t)a[i], *q = position + 3 * (size_t)b[i];
        if (p[0] != q[0] || p[1] != q[1] || p[2] != q[2])
            return false;
        same_nodes &= a[i] == b[i];
    }
    return !same_nodes;
}

/// Copies group names; *out_names is NULL for none.
SN_NODISCARD sn_status sn_group_names_copy(sn_context *ctx, int32_t count, char *const *names,
                                           char ***out_names);
void sn_group_names_release(sn_context *ctx, int32_t count, char **names);

void sn_vertex_sets_release(sn_context *ctx, int32_t count, sn_vertex_set *sets);
/// Makes the sets of a mesh that has nodes, tets and groups. @param[in] number  Node of each vertex of the
/// data, -1: none.
SN_NODISCARD sn_status sn_mesh_take_sets(sn_mesh *mesh, const sn_mesh_data *data, const int32_t *number);
/// Adds the sets of a mesh to neutral data of its nodes.
SN_NODISCARD sn_status sn_mesh_sets_to_data(const sn_mesh *mesh, sn_mesh_data *data);

/// Computes surface and pieces of a mesh that has nodes, tets and nothing else yet.
SN_NODISCARD sn_status sn_mesh_finish(sn_mesh *mesh);

/// Sets the vertices of an empty neutral mesh, or adds a block of `count` cells (not polygons); values are
/// copied.
SN_NODISCARD sn_status sn_mesh_data_set_vertices(sn_mesh_data *data, int32_t count, const double *position);
SN_NODISCARD sn_status sn_mesh_data_add_block(sn_mesh_data *data, sn_cell_kind kind, int32_t count,
                                              const int32_t *vertex);

/// SN_ERR_INVALID_ARGUMENT if an array that the counts promise is missing, or a block's kind or offsets are
/// nonsense.
SN_NODISCARD sn_status sn_mesh_data_check_arrays(sn_context *ctx, const sn_mesh_data *data);

/// Refuses cells with vertices out of range, polygons with fewer than three, and groups that do not exist:
/// everything else in the module may then index freely.
SN_NODISCARD sn_status sn_mesh_data_check_indices(sn_context *ctx, const sn_mesh_data *data);

#endif
