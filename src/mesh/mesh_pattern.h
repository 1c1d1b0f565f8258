/// The tets of one cell of a regular lattice, in half cell edges: corners have even
/// coordinates, body centers odd ones. Repeating the pattern at every cell fills space without gaps and
/// overlaps.
#ifndef SN_MESH_PATTERN_H
#define SN_MESH_PATTERN_H

#include "sinew/mesh.h"

enum { SN_PATTERN_TETS_MAX = 12 };

typedef struct sn_lattice_pattern {
    int32_t tet_count;  ///< 6 or 12
    int32_t node_kinds; ///< Nodes per cell: 1 (corners), or 2 (corners and centers)
    int32_t reach;      ///< Largest coordinate: the tets of a cell lie within 0 to `reach` of its low corner
    int32_t corner[SN_PATTERN_TETS_MAX][4][3]; ///< Positively oriented
    /// Across the face opposite corner f of tet t lies tet across[t][f][3] of the cell at across[t][f][0..2].
    int32_t across[SN_PATTERN_TETS_MAX][4][4];
} sn_lattice_pattern;

sn_lattice_pattern sn_lattice_pattern_make(sn_lattice_kind kind);

#endif
