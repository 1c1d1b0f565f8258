/// Which of several tets at one place a point belongs to.
///
/// A lattice that keeps thin gaps open has a tet once for each piece of solid in it (mesh_lattice.h). Such
/// copies have equal corners, so a place alone does not tell them apart; the surface does: a point belongs to
/// the copy whose surface is nearest. From a point in a solid that is a side of this solid, because the way
/// there meets no other; and what lies in the gap goes to the nearer bank.
#ifndef SN_MESH_COPIES_H
#define SN_MESH_COPIES_H

#include "base/base_context.h"
#include "sinew/mesh.h"

/// A surface triangle at a copy's piece of solid.
typedef struct sn_tet_side {
    int32_t first;    ///< Lowest tet at this place; the other copies follow it.
    int32_t copy;     ///< The tet whose piece this is.
    double corner[9]; ///< In the mesh's rest pose.
} sn_tet_side;

typedef struct sn_tet_copies {
    int32_t count;
    sn_tet_side *side; ///< [count] by first; every copy has one or more. Tets without copies have none.
} sn_tet_copies;

SN_NODISCARD sn_status sn_tet_copies_copy(sn_context *ctx, const sn_tet_copies *from, sn_tet_copies *out);
void sn_tet_copies_clear(sn_context *ctx, sn_tet_copies *copies);

/// The copy of a tet that a point belongs to; the tet itself if it has none.
int32_t sn_tet_copy_at(const sn_tet_copies *copies, int32_t tet, const double point[3]);

/// Marks the nodes that stand at a place of another one: where several nodes do and the surface says whose
/// the place is, all but that one. stray [node_count] is set for them and left alone for others.
/// @param X [node_count, 3]  @param tets [tets, 4]
SN_NODISCARD sn_status sn_tet_copies_mark_strays(sn_context *ctx, const sn_tet_copies *copies,
                                                 int32_t node_count, const double *X, const int32_t *tets,
                                                 bool *stray);

/// Copies of a mesh's tets.
const sn_tet_copies *sn_mesh_copies(const sn_mesh *mesh);

#endif
