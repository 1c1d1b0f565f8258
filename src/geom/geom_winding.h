/// Generalized winding number of a triangle surface: 1 inside, 0 outside of a closed surface (each further
/// layer adds one, an inward surface counts negative), and a smooth transition near the holes of an open one.
/// Source: Barill et al. 2018, "Fast winding numbers for soups and clouds", first order: a far group of
/// triangles acts as one dipole. We differ in: a binary box tree.
#ifndef SN_GEOM_WINDING_H
#define SN_GEOM_WINDING_H

#include "base/base_context.h"
#include "geom/geom_bvh.h"

/// Far field of the triangles below a node of the tree.
typedef struct sn_winding_dipole {
    double center[3]; ///< Mean of the triangles' centers, weighted with their areas.
    double area[3];   ///< Sum of the area vectors.
    double radius;    ///< Of a ball around `center` that holds the triangles.
} sn_winding_dipole;

typedef struct sn_winding {
    sn_context *context;
    const double *position;    ///< Borrowed.
    const int32_t *triangle;   ///< Borrowed.
    const sn_bvh *bvh;         ///< Borrowed; over the triangles.
    sn_winding_dipole *dipole; ///< One for each node of the tree.
} sn_winding;

/// Prepares a surface. The arrays and the tree are borrowed and must stay as they are. @param triangle [..,
/// 3]
SN_NODISCARD sn_status sn_winding_create(sn_context *ctx, const double *position, const int32_t *triangle,
                                         const sn_bvh *bvh, sn_winding **out_winding);
void sn_winding_destroy(sn_winding **winding);

/// Winding number at a point, within about 0.04 of the exact one: far from one half in closed
/// surfaces, where it is whole.
double sn_winding_number(const sn_winding *winding, const double point[3]);

/// Whether a point is inside: |winding number| of at least one half, so that surfaces turned inside out work
/// too.
bool sn_winding_inside(const sn_winding *winding, const double point[3]);

/// Boxes of triangles [count, 3], for a tree. @param[out] box [count, 6]
void sn_triangle_boxes(int32_t count, const int32_t *triangle, const double *position, double *box);

#endif
