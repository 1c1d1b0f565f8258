#include "geom/geom_predicate.h"

#include "math/math_mat3.h"

#include <string.h>

static double squared_distance(const double a[3], const double b[3]) {
    double d[3];
    sn_sub3(a, b, d);
    return sn_dot3(d, d);
}

/// Nearest point of segment ab.
static void segment_nearest(const double p[3], const double a[3], const double b[3], double out_nearest[3]) {
    double ab[3], ap[3];
    sn_sub3(b, a, ab);
    sn_sub3(p, a, ap);
    double length = sn_dot3(ab, ab), t = length > 0 ? sn_dot3(ap, ab) / length : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    for (int i = 0; i < 3; i++)
        out_nearest[i] = a[i] + t * ab[i];
}

/// Tangents below this have a short series.
#define SMALL_ANGLE 0.1

/// Sine of the angle between two sides below which the foot of a point on a triangle's plane has few digits.
#define THIN 1e-6

/// Where the foot of a point on the plane of a triangle lies.
typedef enum foot_region {
    ON_TRIANGLE = 0,
    BEYOND_EDGE = 1, ///< plus 0, 1, 2: beyond ab, bc, ca alone
    ANYWHERE = 4     ///< beyond two edges, or known with few digits
} foot_region;

/// Foot of p on the plane of abc, if it lies on the triangle or the region is ANYWHERE: then it is some point
/// of the triangle.
static foot_region find_foot(const double p[3], const double a[3], const double b[3], const double c[3],
                             double out_foot[3]) {
    double ab[3], ac[3], ap[3], normal[3], side[3], v = 0, w = 0;
    sn_sub3(b, a, ab);
    sn_sub3(c, a, ac);
    sn_sub3(p, a, ap);
    sn_cross3(ab, ac, normal);
    double area = sn_dot3(normal, normal);
    if (area > 0) {
        sn_cross3(ap, ac, side);
        v = sn_dot3(side, normal) / area;
        sn_cross3(ab, ap, side);
        w = sn_dot3(side, normal) / area;
    }
    bool on_triangle = v >= 0 && w >= 0 && v + w <= 1;
    for (int i = 0; i < 3; i++)
        out_foot[i] = on_triangle ? a[i] + v * ab[i] + w * ac[i] : a[i];
    if (!(area > THIN * THIN * sn_dot3(ab, ab) * sn_dot3(ac, ac)))
        return ANYWHERE;
    if (on_triangle)
        return ON_TRIANGLE;
    int beyond = (w < 0) + (v + w > 1) + (v < 0);
    return beyond == 1 ? BEYOND_EDGE + (w < 0 ? 0 : v < 0 ? 2 : 1) : ANYWHERE;
}

double sn_triangle_nearest(const double p[3], const double a[3], const double b[3], const double c[3],
                           double out_nearest[3]) {
    const double *corner[4] = {a, b, c, a};
    foot_region region = find_foot(p, a, b, c, out_nearest);
    if (region >= BEYOND_EDGE && region < ANYWHERE) {
        int edge = (int)region - BEYOND_EDGE;
        segment_nearest(p, corner[edge], corner[edge + 1], out_nearest);
        return squared_distance(p, out_nearest);
    }
    double best = squared_distance(p, out_nearest);
    for (int i = 0; i < 3 && region != ON_TRIANGLE; i++) {
        double nearest[3];
        segment_nearest(p, corner[i], corner[i + 1], nearest);
        double distance = squared_distance(p, nearest);
        if (distance < best) {
            best = distance;
            memcpy(out_nearest, nearest, sizeof nearest);
        }
    }
    return best;
}

void sn_tet_weights(const double p[3], const double tet[12], double out_weight[4]) {
    double e[9], d[3], minor[3];
    for (int i = 0; i < 3; i++)
        sn_sub3(tet + 3 * (i + 1), tet, e + 3 * i);
    sn_sub3(p, tet, d);
    double det = sn_det3(e);
    for (int i = 0; i < 3; i++) {
        sn_cross3(e + 3 * ((i + 1) % 3), e + 3 * ((i + 2) % 3), minor);
        out_weight[i + 1] = sn_dot3(d, minor) / det;
    }
    out_weight[0] = 1 - out_weight[1] - out_weight[2] - out_weight[3];
}

double sn_tet_nearest(const double p[3], const double tet[12], double out_nearest[3]) {
    static const int face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    double weight[4], best = INFINITY;
    sn_tet_weights(p, tet, weight);
    if (weight[0] >= 0 && weight[1] >= 0 && weight[2] >= 0 && weight[3] >= 0) {
        memcpy(out_nearest, p, 3 * sizeof *p);
        return 0;
    }
    for (int f = 0; f < 4; f++) {
        double nearest[3], distance = sn_triangle_nearest(p, tet + 3 * face[f][0], tet + 3 * face[f][1],
                                                          tet + 3 * face[f][2], nearest);
        if (distance < best) {
            best = distance;
            memcpy(out_nearest, nearest, sizeof nearest);
        }
    }
    return best;
}

/// Whether the projections on `axis` lie apart by more than `gap` times the length of the axis.
static bool axis_separates(const double axis[3], const double triangle[9], const double tet[12], double gap) {
    double low_a = INFINITY, high_a = -INFINITY, low_b = INFINITY, high_b = -INFINITY;
    for (int i = 0; i < 3; i++) {
        double s = sn_dot3(axis, triangle + 3 * i);
        low_a = fmin(low_a, s);
        high_a = fmax(high_a, s);
    }
    for (int i = 0; i < 4; i++) {
        double s = sn_dot3(axis, tet + 3 * i);
        low_b = fmin(low_b, s);
        high_b = fmax(high_b, s);
    }
    double slack = gap * sn_norm3(axis);
    return low_a > high_b + slack || low_b > high_a + slack;
}

/// Whether the face of abc, or an edge of it together with an edge of the tet, gives a separating axis.
static bool edges_separate(const double triangle[9], const double tet[12], double gap) {
    static const int tet_edge[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    double edge[9], axis[3];
    for (int i = 0; i < 3; i++)
        sn_sub3(triangle + 3 * ((i + 1) % 3), triangle + 3 * i, edge + 3 * i);
    sn_cross3(edge, edge + 3, axis);
    if (axis_separates(axis, triangle, tet, gap))
        return true;
    for (int k = 0; k < 6; k++) {
        double side[3];
        sn_sub3(tet + 3 * tet_edge[k][1], tet + 3 * tet_edge[k][0], side);
        for (int i = 0; i < 3; i++) {
            sn_cross3(edge + 3 * i, side, axis);
            if (axis_separates(axis, triangle, tet, gap))
                return true;
        }
    }
    return false;
}

bool sn_triangle_meets_tet(const double triangle[9], const double tet[12], double tolerance) {
    // Relative to one corner, so that the place in space costs no digits below.
    double a[9], b[12], extent = 0;
    for (int i = 0; i < 9; i++)
        a[i] = triangle[i] - tet[i % 3];
    for (int i = 0; i < 12; i++) {
        b[i] = tet[i] - tet[i % 3];
        extent = fmax(extent, fabs(b[i]));
    }
    for (int f = 0; f < 4; f++) {
        double u[3], v[3], normal[3];
        sn_sub3(b + 3 * ((f + 1) % 4), b + 3 * f, u);
        sn_sub3(b + 3 * ((f + 2) % 4), b + 3 * f, v);
        sn_cross3(u, v, normal);
        if (axis_separates(normal, a, b, tolerance * extent))
            return false;
    }
    return !edges_separate(a, b, tolerance * extent);
}

/// atan2 of a small angle, to the last digit or two: far triangles need no more.
static double small_angle(double above, double below) {
    double x = above / below, square = x * x, sum = 1.0 / 15;
    for (int odd = 13; odd > 0; odd -= 2)
        sum = 1.0 / odd - square * sum;
    return x * sum;
}

double sn_triangle_solid_angle(const double p[3], const double a[3], const double b[3], const double c[3]) {
    double u[9];
    sn_sub3(a, p, u);
    sn_sub3(b, p, u + 3);
    sn_sub3(c, p, u + 6);
    double la = sn_norm3(u), lb = sn_norm3(u + 3), lc = sn_norm3(u + 6);
    double all = la * lb * lc, above = sn_det3(u);
    double below = all + sn_dot3(u, u + 3) * lc + sn_dot3(u, u + 6) * lb + sn_dot3(u + 3, u + 6) * la;
    // Beside a triangle without thickness both are rounding, and any angle would come out.
    if (fabs(above) <= 1e-15 * all && fabs(below) <= 1e-12 * all)
        return 0;
    return 2 * (fabs(above) < SMALL_ANGLE * below ? small_angle(above, below) : atan2(above, below));
}
