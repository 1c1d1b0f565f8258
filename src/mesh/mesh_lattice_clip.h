/// The triangles in a tet of a lattice, cut off at its faces.
#ifndef SN_MESH_LATTICE_CLIP_H
#define SN_MESH_LATTICE_CLIP_H

#include "mesh/mesh_lattice.h"

enum { SN_CLIP_MAX = 12 }; ///< Corners of a triangle cut by eight planes, and one to spare.

/// A tet relative to its cell's low corner.
typedef struct sn_clip_tet {
    double corner[12];
    double plane[4][4]; ///< Inward normal and offset of each face, not of length 1: >= 0 inside.
    double volume;
} sn_clip_tet;

/// A triangle in a tet, relative to the cell's low corner.
typedef struct sn_fragment {
    int32_t triangle, touch;
    double corner[9], normal[3]; ///< The normal has length 1, or 0 for triangles without area.
    int32_t count;               ///< Corners of what is left of the triangle in the tet.
    double polygon[SN_CLIP_MAX][3];
    double center[3], area; ///< Of that part.
    bool solid_behind, solid_before;
} sn_fragment;

sn_clip_tet sn_clip_tet_make(const sn_lattice *l, int32_t t);

/// Sets corners and normal; the rest by sn_fragment_clip().
void sn_fragment_load(const sn_lattice *l, const int32_t place[3], int32_t touch, sn_fragment *fragment);
void sn_fragment_clip(const sn_clip_tet *tet, sn_fragment *fragment);

/// Volume of the part of the tet that the fragment hides from `eye`, a place in the tet. Signed: positive if
/// the eye sees the fragment's front.
double sn_fragment_shadow(const sn_clip_tet *tet, const sn_fragment *fragment, const double eye[3]);

/// Whether what is left of two triangles in the tet runs through each other, and does not just touch.
bool sn_fragments_cross(const sn_fragment *a, const sn_fragment *b);

/// Whether the way from `from` to `to` passes the fragment's triangle, or comes so near to its rim that
/// rounding leaves it open. *out_part is where, as part of the way.
bool sn_fragment_blocks(const sn_fragment *fragment, const double from[3], const double to[3],
                        double *out_part);

#endif
