/// Triangles of a surface that cross or touch one another without sharing the vertices there.
#ifndef SINEW_CLI_CROSSING_H
#define SINEW_CLI_CROSSING_H

#include "sinew/mesh.h"

typedef struct cli_crossings {
    int64_t count;
    int32_t first[2]; ///< The first pair, by number from 0 of the triangles, polygons cut into fans.
    bool complete;    ///< False: there were too many pairs to look at all.
} cli_crossings;

/// Finds the pairs. Vertices at exactly one place count as one; flat triangles and those with NaN or infinity
/// are left out. Signs of volumes are exact (Shewchuk 1997, "Adaptive precision floating-point arithmetic and
/// fast robust geometric predicates": filter and expansions, without the stages between), so that triangles
/// that only share a vertex are never taken for crossing. @return SN_OK; SN_ERR_NO_MEMORY
SN_NODISCARD sn_status cli_find_crossings(const sn_mesh_data *data, cli_crossings *out);

#endif
