/// Rigid shapes in the rest pose of their frames: copies, and points spread over their surfaces. Distances
/// are contact's (contact_shape.h).
#ifndef SN_SIM_SHAPE_H
#define SN_SIM_SHAPE_H

#include "base/base_context.h"
#include "sinew/model.h"

/// Copies a checked definition: the name and the surface (as triangles) are `out`'s own, the normal has
/// length 1.
SN_NODISCARD sn_status sn_shape_copy(sn_context *ctx, const sn_shape_def *shape, sn_shape_def *out);
void sn_shape_clear(sn_context *ctx, sn_shape_def *shape);

/// Spreads points evenly over the surface, about one per spacing^2; the same ones on every run.
/// @param[out] out_points  [*out_count, 3], to be released with sn_release.
/// @return SN_OK; SN_ERR_INVALID_ARGUMENT: a plane has no end; more than SN_SHAPE_SAMPLES_MAX points.
enum { SN_SHAPE_SAMPLES_MAX = 10000000 };
SN_NODISCARD sn_status sn_shape_sample(sn_context *ctx, const sn_shape_def *shape, double spacing,
                                       int32_t *out_count, double **out_points);

#endif
