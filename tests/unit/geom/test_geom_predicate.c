// Nearest points, weights, solid angles, and triangle against tet: each against another way of computing it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base_util.h"
#include "geom/geom_predicate.h"
#include "math/math_mat3.h"

#include <string.h>

static void fill_random(sn_random *random, int count, double *out, double spread) {
    for (int i = 0; i < count; i++)
        out[i] = sn_random_range(random, -spread, spread);
}

/// Nearest point of a triangle by trying a fine grid of weights.
static double nearest_by_grid(const double p[3], const double t[9], int steps) {
    double best = INFINITY;
    for (int i = 0; i <= steps; i++)
        for (int j = 0; i + j <= steps; j++) {
            double u = (double)i / steps, v = (double)j / steps, q[3];
            for (int c = 0; c < 3; c++)
                q[c] = t[c] + u * (t[3 + c] - t[c]) + v * (t[6 + c] - t[c]);
            best = fmin(best, sn_distance3(p, q));
        }
    return best;
}

static void nearest_point_is_nearest(void **state) {
    (void)state;
    enum { STEPS = 60 };
    sn_random random = sn_random_make(1);
    for (int run = 0; run < 300; run++) {
        double t[9], p[3], nearest[3], longest = 0;
        fill_random(&random, 9, t, 1);
        fill_random(&random, 3, p, 2);
        if (run % 10 == 0) // flat
            memcpy(t + 6, t, 3 * sizeof *t);
        if (run % 10 > 5) // thin, and thinner
            for (int c = 0; c < 3; c++)
                t[6 + c] = 0.7 * t[c] + 0.3 * t[3 + c] + t[6 + c] * pow(10, -run % 17);
        for (int i = 0; i < 3; i++)
            longest = fmax(longest, sn_distance3(t + 3 * i, t + 3 * ((i + 1) % 3)));
        double found = sqrt(sn_triangle_nearest(p, t, t + 3, t + 6, nearest)),
               grid = nearest_by_grid(p, t, STEPS);
        assert_true(fabs(found - sn_distance3(p, nearest)) < 1e-12);
        assert_true(found <= grid + 1e-12 && grid <= found + longest / STEPS);
    }
}

/// A triangle without thickness covers nothing, however near the point is.
static void flat_triangles_cover_nothing(void **state) {
    (void)state;
    sn_random random = sn_random_make(9);
    for (int run = 0; run < 400; run++) {
        double t[9], p[3];
        fill_random(&random, 9, t, 1);
        for (int c = 0; c < 3; c++) {
            t[6 + c] = 0.6 * t[c] + 0.4 * t[3 + c];
            p[c] = 0.2 * t[c] + 0.8 * t[3 + c] + pow(10, -run % 16) * sn_random_range(&random, -1, 1);
        }
        assert_true(fabs(sn_triangle_solid_angle(p, t, t + 3, t + 6)) < 0.01);
    }
}

static void weights_rebuild_the_point(void **state) {
    (void)state;
    sn_random random = sn_random_make(2);
    for (int run = 0; run < 200; run++) {
        double tet[12], p[3], weight[4];
        fill_random(&random, 12, tet, 1);
        fill_random(&random, 3, p, 1);
        sn_tet_weights(p, tet, weight);
        double scale = 1;
        for (int a = 0; a < 4; a++)
            scale = fmax(scale, fabs(weight[a]));
        for (int c = 0; c < 3; c++) {
            double q =
                weight[0] * tet[c] + weight[1] * tet[3 + c] + weight[2] * tet[6 + c] + weight[3] * tet[9 + c];
            assert_true(fabs(q - p[c]) < 1e-13 * scale * scale);
        }
    }
}

/// Seen from inside of a tet, its faces fill the sphere; from outside they cancel.
static void solid_angles_add_up(void **state) {
    (void)state;
    static const int face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    const double tet[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double inside[3] = {0.2, 0.3, 0.1}, outside[3] = {0.5, 0.5, 0.4}, corner[3] = {-1, -2, -3};
    double sum[3] = {0};
    for (int f = 0; f < 4; f++) {
        const double *a = tet + 3 * face[f][0], *b = tet + 3 * face[f][1], *c = tet + 3 * face[f][2];
        sum[0] += sn_triangle_solid_angle(inside, a, b, c);
        sum[1] += sn_triangle_solid_angle(outside, a, b, c);
        sum[2] += sn_triangle_solid_angle(corner, a, b, c);
    }
    assert_true(fabs(sum[0] - 4 * acos(-1)) < 1e-12);
    assert_true(fabs(sum[1]) < 1e-12 && fabs(sum[2]) < 1e-12);
}

/// Smallest distance between a triangle and a tet, from grids of points on both: an upper bound.
static double gap_by_grid(const double t[9], const double tet[12], int steps) {
    double best = INFINITY, nearest[3];
    for (int i = 0; i <= steps; i++)
        for (int j = 0; i + j <= steps; j++) {
            double u = (double)i / steps, v = (double)j / steps, q[3];
            for (int c = 0; c < 3; c++)
                q[c] = t[c] + u * (t[3 + c] - t[c]) + v * (t[6 + c] - t[c]);
            best = fmin(best, sn_tet_nearest(q, tet, nearest));
        }
    return sqrt(best);
}

/// Apart exactly if there is a gap. Grid points lie within 1/STEPS of an edge length of any point of the
/// triangle.
static void meets_unless_there_is_a_gap(void **state) {
    (void)state;
    enum { STEPS = 24 };
    sn_random random = sn_random_make(3);
    int met = 0, apart = 0;
    for (int run = 0; run < 2000; run++) {
        double t[9], tet[12], e[9];
        fill_random(&random, 9, t, 1);
        fill_random(&random, 12, tet, 1);
        for (int i = 0; i < 3; i++) {
            sn_sub3(tet + 3 * (i + 1), tet, e + 3 * i);
            for (int c = 0; c < 3; c++)
                t[3 * i + c] = t[3 * i + c] * (run % 2 ? 0.3 : 1) + (c == run % 3 ? 0.4 : 0);
        }
        if (sn_det3(e) < 0.05)
            continue;
        bool meets = sn_triangle_meets_tet(t, tet, 1e-12);
        double gap = gap_by_grid(t, tet, STEPS);
        met += meets;
        apart += !meets;
        if (gap == 0)
            assert_true(meets);
        if (gap > 3.5 / STEPS)
            assert_false(meets);
        if (!meets)
            assert_true(gap > 0);
    }
    assert_true(met > 100 && apart > 100);
}

static void touching_counts(void **state) {
    (void)state;
    const double tet[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    struct {
        double triangle[9];
        bool meets;
    } cases[] = {
        {{1, 0, 0, 2, 0, 0, 2, 1, 0}, true},                          // corner on corner
        {{0.2, 0.2, 0, 0.3, 0.2, -1, 0.2, 0.3, -1}, true},            // corner on face, from below
        {{0.2, 0.2, -1e-9, 0.3, 0.2, -1, 0.2, 0.3, -1}, false},       // just below
        {{0.5, -1, 0, 0.5, 1, 0, 0.5, 0, -1}, true},                  // along a face
        {{-0.5, 0.5, 0.5, 0.5, -0.5, 0.5, -2, -2, 0.5}, true},        // edge on edge
        {{-0.5, 0.4999, 0.5, 0.5, -0.5001, 0.5, -2, -2, 0.5}, false}, // edge past edge
        {{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, true},        // a point inside
        {{-0.1, 0.1, 0.1, -0.1, 0.1, 0.1, -0.1, 0.1, 0.1}, false},    // a point outside
        {{-1, 0.1, 0.1, 2, 0.1, 0.1, 0.5, 0.1, 0.1}, true},           // a segment through it
        {{-9, -9, 0.3, 20, -9, 0.3, -9, 20, 0.3}, true},              // all of a section
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (double scale = 1e-8; scale < 1e9; scale *= 1e8) {
            double a[9], b[12];
            for (int k = 0; k < 9; k++)
                a[k] = scale * cases[i].triangle[k];
            for (int k = 0; k < 12; k++)
                b[k] = scale * tet[k];
            if (sn_triangle_meets_tet(a, b, 1e-12) != cases[i].meets)
                fail_msg("case %zu at scale %g", i, scale);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_point_is_nearest),    cmocka_unit_test(flat_triangles_cover_nothing),
        cmocka_unit_test(weights_rebuild_the_point),   cmocka_unit_test(solid_angles_add_up),
        cmocka_unit_test(meets_unless_there_is_a_gap), cmocka_unit_test(touching_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
