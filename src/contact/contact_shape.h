/// Rigid shapes as contact sees them, in the rest pose of their frames: signed distance, nearest place of the
/// surface with its normal, and where a moving point first reaches the surface.
///
/// All shapes answer the same questions, so that detection knows no kinds. Planes, balls, capsules and boxes
/// are convex and answer with formulas. Closed meshes carry a distance field (geom_field.h), which answers
/// "far away, on which side" from a few numbers; near the surface they answer with true closest points. No
/// question takes memory, and any number of threads may ask.
#ifndef SN_CONTACT_SHAPE_H
#define SN_CONTACT_SHAPE_H

#include "base/base_context.h"
#include "sinew/model.h"

typedef struct sn_contact_shape sn_contact_shape;

/// Prepares a checked shape (its normal has length 1, its surface is one block of triangles), which must
/// outlive it. `spacing` [m] is that of a mesh's distance field, coarsened where the field would not fit;
/// 0: no field, every answer is a search.
SN_NODISCARD sn_status sn_contact_shape_create(sn_context *ctx, const sn_shape_def *shape, double spacing,
                                               sn_contact_shape **out_shape);
void sn_contact_shape_destroy(sn_context *ctx, sn_contact_shape **shape);

/// Signed distance of a point in m, negative inside.
double sn_contact_shape_distance(const sn_contact_shape *shape, const double point[3]);

/// A number of the distance's sign and at most its size, quick to get: for steps that must not overshoot.
double sn_contact_shape_bound(const sn_contact_shape *shape, const double point[3]);

/// Signed distance, nearest place of the surface and the unit normal there, out of the shape: foot + distance
/// * normal is the point. Where several places are nearest still one of them. On the surface, up to rounding,
/// the normal is that of the face, and where faces meet that of one of them (boxes) or their mean (meshes).
double sn_contact_shape_nearest(const sn_contact_shape *shape, const double point[3], double out_foot[3],
                                double out_normal[3]);

/// Whether a point on its way from `from` to `to` comes within `slack` > 0 [m] of the surface or through it;
/// *out_part in [0, 1] is the first part of the way after which it has: 0 for a start that is inside or
/// within the slack. Nothing is too thin to be met and no way too long. A slack near the rounding errors of
/// the coordinates (1e-14 of them) counts as that.
bool sn_contact_shape_sweep(const sn_contact_shape *shape, const double from[3], const double to[3],
                            double slack, double *out_part);

#endif
