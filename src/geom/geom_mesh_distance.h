/// Signed distance to a closed triangle surface: for rigid shapes and bones given as meshes.
#ifndef SN_GEOM_MESH_DISTANCE_H
#define SN_GEOM_MESH_DISTANCE_H

#include "base/base_context.h"

typedef struct sn_mesh_distance sn_mesh_distance;

/// Prepares a surface; the arrays are copied. Surfaces with holes or self-overlaps work: inside is where the
/// winding number is at least one half, whichever way the triangles are turned.
/// @param position [vertex_count, 3], finite  @param triangle [triangle_count, 3], indices in range, count >
/// 0
SN_NODISCARD sn_status sn_mesh_distance_create(sn_context *ctx, int32_t vertex_count, const double *position,
                                               int32_t triangle_count, const int32_t *triangle,
                                               sn_mesh_distance **out_distance);
void sn_mesh_distance_destroy(sn_mesh_distance **distance);

/// Distance of a point, negative inside, and the nearest point of the surface. @param[out] out_nearest may be
/// NULL. A point that is not finite gives NaN. No memory is taken; any number of threads may ask.
double sn_mesh_distance_query(const sn_mesh_distance *distance, const double point[3], double out_nearest[3]);

#endif
