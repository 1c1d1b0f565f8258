/// A lattice while it is being made around a surface.
///
/// The surface lies in a block of cells with a cell to spare on all sides. Coordinates in here are half cell
/// edges from the block's low corner, so that lattice nodes are whole numbers. The passes, in their order:
///
/// 1. mark: every triangle with every tet that it touches (closed sets, up to rounding);
/// 2. fill: the other tets by the winding number; touched and inner tets are kept;
/// 3. piece: in each touched tet the triangles are sorted into connected pieces of solid. Triangles that meet
///    at an edge in the tet belong to one piece, and so do those that see each other through the solid;
/// 4. join: each piece has a copy of its tet. Copies of tets that share a face are joined there if their
///    pieces go through it; nodes are what is then left of the tets' corners. A tet's solid part is measured;
/// 5. embed: surface vertices are placed in the copy of their triangles' piece.
///
/// Rejected: splitting tets by the topology of the clipped solid (an arrangement of planes and triangles): it
/// needs exact arithmetic where surfaces lie in the planes of the lattice, as those of boxes do, and a
/// surface without holes or self-intersections. Seeing needs neither: at worst two ends of one piece fail to
/// find each other, and the piece is cut in a single tet. What a triangle comes between is never joined.
#ifndef SN_MESH_LATTICE_H
#define SN_MESH_LATTICE_H

#include "geom/geom_bvh.h"
#include "geom/geom_surface.h"
#include "geom/geom_winding.h"
#include "mesh/mesh_internal.h"
#include "mesh/mesh_pattern.h"

enum {
    SN_LAYER_GRAIN = 1,
    SN_PIECES_MAX = 100,  ///< Pieces of a tet; with more of them it is not split.
    SN_PIECE_NONE = 0x7f, ///< Label of what holds nothing.
    SN_PIECE_GUESS = 0x80 ///< Added to a label: likely, not proven.
};

/// A triangle touches a tet if the gap between them is below this part of the tet's extent; it passes an edge
/// or a face of it below the second one, which is larger so that what touches a tet in common is found.
#define SN_TOUCH_TOLERANCE 1e-12
#define SN_PASS_TOLERANCE  1e-9

typedef struct sn_lattice {
    sn_context *context;
    sn_lattice_pattern pattern;
    int32_t n[3]; ///< Cells of the block.
    int32_t cell_count;
    double origin[3], half; ///< Low corner and half edge in the surface's unit.
    sn_surface *surface;    ///< In lattice coordinates, vertices joined, turned outward.
    int32_t *beyond;        ///< [triangles, 3] as surface->neighbor; where more than two triangles share the
                            ///< edge, the one that bounds the same solid there
    sn_bvh *bvh;
    sn_winding *winding;
    bool closed;
    uint16_t *touched; ///< [cell_count] one bit a tet
    uint16_t *kept;
    int32_t *touch_begin;    ///< [cell_count + 1] the triangles at each cell, in ascending order
    int32_t *touch_triangle; ///< [touches]
    uint16_t *touch_mask;    ///< [touches] tets of the cell that it touches
    int32_t *touch_label;    ///< [touches] where its labels begin, one for each of these tets
    uint8_t *label;          ///< piece, or SN_PIECE_NONE
    int32_t *tet_begin;      ///< [cell_count + 1] kept tets of the cells before
    uint8_t *piece_count;    ///< [kept tets]
    uint8_t *face_piece;     ///< [kept tets, 4] piece that holds the middle of each face, perhaps a guess
    uint8_t *center_piece;   ///< [kept tets] the same for the tet's middle
    int32_t *copy_begin;     ///< [kept tets + 1] tets of the mesh that come before
    int32_t crowded;         ///< Tets with too many pieces.
} sn_lattice;

/// Steps 1 and 2. Needs the block and the surface.
SN_NODISCARD sn_status sn_lattice_mark(sn_lattice *l);
SN_NODISCARD sn_status sn_lattice_fill(sn_lattice *l);
/// Step 3.
SN_NODISCARD sn_status sn_lattice_find_pieces(sn_lattice *l);
/// Step 4: positions, tets and solid parts of a mesh that has nothing yet.
SN_NODISCARD sn_status sn_lattice_join(sn_lattice *l, sn_mesh *mesh);
/// Step 5. @param triangle  the surface's triangles before vertices were joined
SN_NODISCARD sn_status sn_lattice_embed(const sn_lattice *l, const sn_mesh *mesh, const sn_mesh_data *surface,
                                        const int32_t *triangle, sn_embedding **out_embedding);

static inline void sn_lattice_place(const sn_lattice *l, int32_t cell, int32_t place[3]) {
    place[0] = cell % l->n[0];
    place[1] = cell / l->n[0] % l->n[1];
    place[2] = cell / l->n[0] / l->n[1];
}

/// -1: beyond the block.
static inline int32_t sn_lattice_cell(const sn_lattice *l, const int32_t place[3]) {
    for (int c = 0; c < 3; c++)
        if (place[c] < 0 || place[c] >= l->n[c])
            return -1;
    return (place[2] * l->n[1] + place[1]) * l->n[0] + place[0];
}

/// Number of a kept tet among the kept ones.
static inline int32_t sn_lattice_tet(const sn_lattice *l, int32_t cell, int32_t t) {
    return l->tet_begin[cell] + __builtin_popcount(l->kept[cell] & ((1u << t) - 1));
}

/// Label of a touch in a tet that its mask names.
static inline uint8_t *sn_lattice_label(const sn_lattice *l, int32_t touch, int32_t t) {
    return &l->label[l->touch_label[touch] + __builtin_popcount(l->touch_mask[touch] & ((1u << t) - 1))];
}

/// Corners of a tet in lattice coordinates.
static inline void sn_lattice_corners(const sn_lattice *l, const int32_t place[3], int32_t t,
                                      double corner[12]) {
    for (int i = 0; i < 4; i++)
        for (int c = 0; c < 3; c++)
            corner[3 * i + c] = 2.0 * place[c] + l->pattern.corner[t][i][c];
}

static inline const double *sn_lattice_vertex(const sn_lattice *l, int32_t triangle, int k) {
    return l->surface->position + 3 * (size_t)l->surface->triangle[3 * (size_t)triangle + (size_t)k];
}

#endif
