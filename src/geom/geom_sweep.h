/// Where a moving point first comes near a convex body.
///
/// The distance from a convex body is a convex function of the place, so along a straight way the tangent
/// lies below it: Newton's method from the near side approaches the first place within reach from one side,
/// and where the tangent rises there is none ahead. Nothing is too thin or too far away for it.
#ifndef SN_GEOM_SWEEP_H
#define SN_GEOM_SWEEP_H

#include <stdbool.h>

/// Signed distance of a point from a convex body, and its gradient: of length 1 outside.
typedef double sn_convex_distance(const void *body, const double point[3], double out_gradient[3]);

/// Whether a point on its way from `from` to `to` comes within `slack` > 0 of the body in the first `limit`
/// <= 1 of the way; *out_part is the first part of the way after which it has. A point within `slack` times
/// 1.000001 may count as well.
bool sn_convex_sweep(sn_convex_distance *distance, const void *body, const double from[3], const double to[3],
                     double slack, double limit, double *out_part);

/// out = from + part (to - from), and `to` itself at its end.
void sn_way_place(const double from[3], const double to[3], double part, double out[3]);

#endif
