/// A mesh in another pose.
#ifndef SN_MESH_MOVE_H
#define SN_MESH_MOVE_H

#include "base/base_context.h"
#include "sinew/mesh.h"

/// X -> R scale X + shift.
typedef struct sn_mesh_motion {
    double scale; ///< > 0
    double R[9];  ///< a rotation
    double shift[3];
} sn_mesh_motion;

/// Copies a mesh with all that it knows into another pose. Every tet is checked there: what was just thick
/// enough may round to flat far from the origin. @return as sn_mesh_create()
SN_NODISCARD sn_status sn_mesh_move(sn_context *ctx, const sn_mesh *mesh, const sn_mesh_motion *motion,
                                    sn_mesh **out_mesh);

#endif
