/// Rigid shapes in the rest pose of their frames: signed distance, and points spread over their surfaces.
#ifndef SN_SIM_SHAPE_H
#define SN_SIM_SHAPE_H

#include "base/base_context.h"
#include "sinew/model.h"

/// Copies a checked definition: the name and the surface (as triangles) are `out`'s own, the normal has
/// length 1.
SN_NODISCARD sn_status sn_shape_copy(sn_context *ctx, const sn_shape_def *shape, sn_shape_def *out);
void sn_shape_clear(sn_context *ctx, sn_shape_def *shape);

/// Answers questions about the distance to one shape.
typedef struct sn_shape_probe sn_shape_probe;

/// Opens a probe; the shape must outlive it. Meshes get a search tree.
SN_NODISCARD sn_status sn_shape_probe_create(sn_context *ctx, const sn_shape_def *shape,
                                             sn_shape_probe **out_probe);
void sn_shape_probe_destroy(sn_context *ctx, sn_shape_probe **probe);

/// Signed distance in m from the shape's surface, negative inside.
double sn_shape_probe_distance(const sn_shape_probe *probe, const double x[3]);

/// Spreads points evenly over the surface, about one per spacing^2; the same ones on every run.
/// @param[out] out_points  [*out_count, 3], to be released with sn_release.
/// @return SN_OK; SN_ERR_INVALID_ARGUMENT: a plane has no end; more than SN_SHAPE_SAMPLES_MAX points.
enum { SN_SHAPE_SAMPLES_MAX = 10000000 };
SN_NODISCARD sn_status sn_shape_sample(sn_context *ctx, const sn_shape_def *shape, double spacing,
                                       int32_t *out_count, double **out_points);

#endif
