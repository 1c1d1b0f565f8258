// Nearest point of {p > 0, p1 p2 p3 = 1} to signed singular values s1 >= s2 >= |s3|.
//
// At a stationary point p_i (p_i - s_i) = t for one common t. The nearest point has its entries in the order
// of s (swapping two entries into order never adds distance), and at a minimum at most one entry lies below
// s_i / 2, then the last. So with u = p3 the whole curve of candidates is, i = 1, 2,
//     t = u (u - s3),   p_i = (s_i + r_i) / 2,   r_i^2 = s_i^2 + 4 t = (2 u - s3)^2 + (s_i - s3) (s_i + s3),
// and what remains is product(u) = u p1 p2 = 1 for 0 < u <= 1: one equation, with both branches of the last
// root in it. For u above s3 / 2 the product grows and is convex (a product of positive, growing, convex
// factors), so that Newton steps from an upper bound fall monotonically onto its one root there. Roots below
// s3 / 2 need s1 s2 s3 > 2, since product(u) <= u s1 s2 there; then a second sequence climbs from the lower
// bound u = 1 / (s1 s2), and the nearer of the two points is taken: for s = (1.95, 1.95, 1.95) that is not
// (1, 1, 1). Compared with a search over the whole surface for 60,000 s of all kinds: no miss.
#include "math/math_svd.h"

#include "base/base_parallel.h"

#include <stdint.h>
#include <tgmath.h>

/// Bound of the loop only: 4 to 8 steps are usual, more where two roots nearly meet.
enum { STEP_LIMIT = 60 };
/// A sequence that ended with a product further from 1 found no root.
#define ROOT_TOLERANCE 1e-6

#define REAL       double
#define NAME(name) name##_double
#define SMALLEST   0x1p-1022
#define LAST_STEP  1e-9
#include "math/math_project_kernel.h"
#undef REAL
#undef NAME
#undef SMALLEST
#undef LAST_STEP

#define REAL       float
#define NAME(name) name##_float
#define SMALLEST   0x1p-126f
#define LAST_STEP  1e-4f
#include "math/math_project_kernel.h"

SN_CLONES static void sn_unit_product_finish(const double s[restrict 3][SN_LANES],
                                             const double u[restrict SN_LANES],
                                             double p[restrict 3][SN_LANES]) {
    for (int lane = 0; lane < SN_LANES; lane++) {
        double q[2], slope[2];
        follow_curve_double(s[0][lane], s[1][lane], s[2][lane], u[lane], q, slope);
        p[0][lane] = q[0], p[1][lane] = q[1], p[2][lane] = u[lane];
    }
}

/// Squared distance to p, or infinity if p does not solve the equation.
SN_INLINE double candidate_distance2(const double s[3], const double p[3]) {
    double a = p[0] - s[0], b = p[1] - s[1], c = p[2] - s[2];
    return fabs(p[0] * p[1] * p[2] - 1) < ROOT_TOLERANCE ? a * a + b * b + c * c : INFINITY;
}

/// Lanes whose s1 s2 s3 is above 2 may have a nearer point, found from the lower bound.
static void compare_lowest_root(const double s[3][SN_LANES], const double low[SN_LANES],
                                const double high[SN_LANES], const double product[SN_LANES],
                                double p[3][SN_LANES]) {
    SN_VECTOR_MEMORY double u[SN_LANES], other[3][SN_LANES];
    for (int lane = 0; lane < SN_LANES; lane++)
        u[lane] = product[lane] > 2 ? low[lane] : 1;
    sn_unit_product_solve_double(s, low, high, u);
    sn_unit_product_finish(s, u, other);
    for (int lane = 0; lane < SN_LANES; lane++) {
        double values[3] = {s[0][lane], s[1][lane], s[2][lane]};
        double highest[3] = {p[0][lane], p[1][lane], p[2][lane]};
        double lowest[3] = {other[0][lane], other[1][lane], other[2][lane]};
        if (product[lane] > 2 && candidate_distance2(values, lowest) < candidate_distance2(values, highest))
            for (int i = 0; i < 3; i++)
                p[i][lane] = lowest[i];
    }
}

void sn_nearest_unit_product3_wide(const double s[3][SN_LANES], double p[3][SN_LANES]) {
    SN_VECTOR_MEMORY double low[SN_LANES], high[SN_LANES], product[SN_LANES], u[SN_LANES];
    sn_unit_product_bounds_double(s, low, high, product);
    bool two_roots = false;
    for (int lane = 0; lane < SN_LANES; lane++) {
        u[lane] = high[lane];
        two_roots = two_roots || product[lane] > 2;
    }
    sn_unit_product_solve_double(s, low, high, u);
    sn_unit_product_finish(s, u, p);
    if (two_roots)
        compare_lowest_root(s, low, high, product, p);
}

SN_CLONES static void sn_unit_product_narrow(const double s[restrict 3][SN_LANES],
                                             float out[restrict 3][SN_LANES]) {
    for (int i = 0; i < 3; i++)
        for (int lane = 0; lane < SN_LANES; lane++)
            out[i][lane] = (float)s[i][lane];
}

/// One Newton step in double from the root in float.
SN_CLONES static void sn_unit_product_polish(const double s[restrict 3][SN_LANES],
                                             const float root[restrict SN_LANES],
                                             double u[restrict SN_LANES]) {
    for (int lane = 0; lane < SN_LANES; lane++) {
        double start = root[lane];
        u[lane] = start + newton_step_double(s[0][lane], s[1][lane], s[2][lane], start);
    }
}

void sn_nearest_unit_product3_near_wide(const double s[3][SN_LANES], double p[3][SN_LANES]) {
    SN_VECTOR_MEMORY float f[3][SN_LANES], low[SN_LANES], high[SN_LANES], product[SN_LANES], root[SN_LANES];
    SN_VECTOR_MEMORY double u[SN_LANES];
    sn_unit_product_narrow(s, f);
    sn_unit_product_bounds_float(f, low, high, product);
    for (int lane = 0; lane < SN_LANES; lane++)
        root[lane] = high[lane];
    sn_unit_product_solve_float(f, low, high, root);
    sn_unit_product_polish(s, root, u);
    sn_unit_product_finish(s, u, p);
}

void sn_nearest_unit_product3(const double s[3], double p[3]) {
    SN_VECTOR_MEMORY double values[3][SN_LANES], points[3][SN_LANES];
    for (int i = 0; i < 3; i++)
        for (int lane = 0; lane < SN_LANES; lane++)
            values[i][lane] = s[i];
    sn_nearest_unit_product3_wide(values, points);
    for (int i = 0; i < 3; i++)
        p[i] = points[i][0];
}
