/// Signed distance to a closed triangle surface: for rigid shapes and bones given as meshes.
#ifndef SN_GEOM_MESH_DISTANCE_H
#define SN_GEOM_MESH_DISTANCE_H

#include "geom/geom_surface.h"

typedef struct sn_mesh_distance sn_mesh_distance;

/// Prepares a surface; the arrays are copied. Inside is where the winding number is at least one half, so
/// that surfaces with holes or self-overlaps work. Triangles may be turned either way: they are first turned
/// like their neighbors, and each connected piece as its surroundings tell.
/// @param position [vertex_count, 3], finite  @param triangle [triangle_count, 3], indices in range, count >
/// 0
SN_NODISCARD sn_status sn_mesh_distance_create(sn_context *ctx, int32_t vertex_count, const double *position,
                                               int32_t triangle_count, const int32_t *triangle,
                                               sn_mesh_distance **out_distance);
void sn_mesh_distance_destroy(sn_mesh_distance **distance);

/// Distance of a point, negative inside, and the nearest point of the surface. @param[out] out_nearest may be
/// NULL. A point that is not finite gives NaN. No memory is taken; any number of threads may ask.
double sn_mesh_distance_query(const sn_mesh_distance *distance, const double point[3], double out_nearest[3]);

/// Side of a point, for those who know it already.
typedef enum sn_mesh_side { SN_SIDE_INSIDE = -1, SN_SIDE_UNKNOWN = 0, SN_SIDE_OUTSIDE = 1 } sn_mesh_side;

/// The same, and the unit normal out of the solid at the nearest point. It points to or from `point`, unless
/// that lies on the surface up to rounding: then it is the normal of the face, or the mean over the faces
/// around the edge or corner. A point that is not finite is its own nearest point, with any normal.
double sn_mesh_distance_nearest(const sn_mesh_distance *distance, const double point[3], sn_mesh_side side,
                                double out_nearest[3], double out_normal[3]);

/// Nearest triangle, or -1 if the point is not finite, and the distance from it without sign. `hint` is a
/// triangle that is likely near, which makes the search quick, or -1.
int32_t sn_mesh_distance_find(const sn_mesh_distance *distance, const double point[3], int32_t hint,
                              double *out_distance);

/// Whether a point on its way from `from` to `to` comes within `slack` > 0 of a triangle; *out_part is the
/// first part of the way after which it has. All triangles near the way's box are tried: for short ways.
bool sn_mesh_distance_sweep(const sn_mesh_distance *distance, const double from[3], const double to[3],
                            double slack, double *out_part);

/// Winding number, 0 outside of the surface's box. See geom_winding.h for its error.
double sn_mesh_distance_winding(const sn_mesh_distance *distance, const double point[3]);

/// What the winding number of a closed surface grows by on a short straight way: counts the triangles passed.
/// False where rounding leaves it open, as near their edges.
bool sn_mesh_distance_growth(const sn_mesh_distance *distance, const double from[3], const double to[3],
                             int *out_growth);

/// Whether the surface has no holes: sides then change at its triangles only.
bool sn_mesh_distance_is_closed(const sn_mesh_distance *distance);

/// The surface, joined and turned outward: its triangles have the numbers that they came with.
const sn_surface *sn_mesh_distance_surface(const sn_mesh_distance *distance);

/// Box of the surface. @param[out] out_low  @param[out] out_high  its corners
void sn_mesh_distance_box(const sn_mesh_distance *distance, double out_low[3], double out_high[3]);

#endif
