/// Small questions about points, triangles and tets. Coordinates are any consistent unit.
#ifndef SN_GEOM_PREDICATE_H
#define SN_GEOM_PREDICATE_H

#include <stdbool.h>

/// Nearest point of triangle abc to p; returns the squared distance. Flat triangles are fine.
double sn_triangle_nearest(const double p[3], const double a[3], const double b[3], const double c[3],
                           double out_nearest[3]);

/// Nearest point of a positive tet (corners in rows) to p; returns the squared distance, 0 inside.
double sn_tet_nearest(const double p[3], const double tet[12], double out_nearest[3]);

/// Barycentric weights of p in a tet (corners in rows), also outside of it; their sum is 1 up to one
/// rounding.
void sn_tet_weights(const double p[3], const double tet[12], double out_weight[4]);

/// Whether a triangle and a tet (corners in rows) meet as closed sets. Never misses a contact: they count as
/// apart only if the gap along one of the separating axes exceeds `tolerance` times the extent of the tet.
/// Flat triangles are fine. Source: separating-axis theorem for convex polytopes; the axes are the 5 face
/// normals and 18 products of edges.
bool sn_triangle_meets_tet(const double triangle[9], const double tet[12], double tolerance);

/// The solid angle of everything, 4 pi.
#define SN_SOLID_ANGLE_FULL 12.566370614359172
/// Solid angle of triangle abc seen from p, positive if p lies on the inner side; in [-2 pi, 2 pi].
/// Source: van Oosterom and Strackee 1983, eq. 8.
double sn_triangle_solid_angle(const double p[3], const double a[3], const double b[3], const double c[3]);

#endif
