#include "geom/geom_sweep.h"

#include "math/math_mat3.h"

/// Newton's method doubles its digits, or quarters the gap where the way just touches: from any gap this ends
/// it.
enum { MAX_STEPS = 100 };

/// Excess over the slack, relative to it, at which the body counts as reached; and excess relative to the
/// coordinates, below which rounding would hide the way.
static const double EXCESS = 1e-6, ROUNDING = 1e-14;

void sn_way_place(const double from[3], const double to[3], double part, double out[3]) {
    for (int c = 0; c < 3; c++)
        out[c] = part < 1 ? from[c] + part * (to[c] - from[c]) : to[c];
}

bool sn_convex_sweep(sn_convex_distance *distance, const void *body, const double from[3], const double to[3],
                     double slack, double limit, double *out_part) {
    double way[3], place[3], gradient[3], part = 0;
    double enough = EXCESS * slack;
    for (int c = 0; c < 3; c++)
        enough = fmax(enough, ROUNDING * fmax(fabs(from[c]), fabs(to[c])));
    sn_sub3(to, from, way);
    for (int step = 0; step < MAX_STEPS; step++) {
        sn_way_place(from, to, part, place);
        double gap = distance(body, place, gradient) - slack, slope = sn_dot3(gradient, way);
        if (gap <= enough)
            break;
        double next = part - gap / slope;
        if (!(slope < 0) || next > limit)
            return false;
        // Rounding ends the approach; then the body counts as reached.
        if (!(next > part))
            break;
        part = next;
    }
    *out_part = part;
    return true;
}
