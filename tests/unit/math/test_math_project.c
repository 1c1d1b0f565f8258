// Nearest point of product 1 against a search over the whole surface, at ordinary and wild singular values.
#include "test_support.h"

#include "base/base_util.h"
#include "math/math_svd.h"

static double distance2(const double s[3], const double p[3]) {
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += (p[i] - s[i]) * (p[i] - s[i]);
    return sum;
}

static double distance2_at(const double s[3], double a, double b) {
    return distance2(s, (double[3]){exp(a), exp(b), exp(-a - b)});
}

/// Walks downhill on a shrinking stencil in (log p1, log p2).
static double polish(const double s[3], double a, double b, double h) {
    double value = distance2_at(s, a, b);
    while (h > 1e-9) {
        double best = value, best_a = a, best_b = b;
        for (int k = 0; k < 9; k++) {
            double near_a = a + (k / 3 - 1) * h, near_b = b + (k % 3 - 1) * h,
                   d = distance2_at(s, near_a, near_b);
            if (d < best)
                best = d, best_a = near_a, best_b = near_b;
        }
        if (best < value)
            value = best, a = best_a, b = best_b;
        else
            h /= 2;
    }
    return value;
}

/// Least squared distance: every local minimum of a grid over log p1, log p2, polished.
static double search_distance2(const double s[3]) {
    enum { SIDE = 64 };
    static double grid[SIDE][SIDE];
    double reach = log(4 * fmax(s[0], 1)) + 0.5, start = -2.2 * reach, h = 3.2 * reach / (SIDE - 1),
           least = INFINITY;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
            grid[i][j] = distance2_at(s, start + i * h, start + j * h);
    for (int i = 1; i + 1 < SIDE; i++)
        for (int j = 1; j + 1 < SIDE; j++) {
            double d = grid[i][j];
            if (d <= grid[i - 1][j] && d <= grid[i + 1][j] && d <= grid[i][j - 1] && d <= grid[i][j + 1])
                least = fmin(least, polish(s, start + i * h, start + j * h, h));
        }
    return least;
}

/// Random magnitudes of one of several kinds, in order, the last with a random sign.
static void sample_values(sn_random *random, int kind, double s[3]) {
    for (int i = 0; i < 3; i++) {
        switch (kind) {
        case 0: // near rest
            s[i] = 1 + 0.1 * sn_random_normal(random);
            break;
        case 1: // where two minima compete
            s[i] = 1.95 + 0.1 * sn_random_normal(random);
            break;
        case 2: // around the edge of that region
            s[i] = 2 + 0.01 * sn_random_normal(random);
            break;
        case 3:
            s[i] = sn_random_range(random, 0, 10);
            break;
        case 4: // tiny
            s[i] = sn_random_range(random, 0, 0.01);
            break;
        case 5: // of all sizes
            s[i] = pow(10, sn_random_range(random, -2, 1.3));
            break;
        case 6: // with equal ones and zeros
            s[i] = sn_random_index(random, 5);
            break;
        default:
            s[i] = sn_random_range(random, 0, 3);
        }
        s[i] = fabs(s[i]);
    }
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < 2; i++)
            if (s[i] < s[i + 1]) {
                double swap = s[i];
                s[i] = s[i + 1], s[i + 1] = swap;
            }
    if (sn_random_real(random) < 0.3)
        s[2] = -s[2];
}

static void check_nearest(const double s[3]) {
    double p[3];
    sn_nearest_unit_product3(s, p);
    double least = search_distance2(s), found = distance2(s, p);
    assert_true(p[0] > 0 && p[1] > 0 && p[2] > 0);
    assert_near(p[0] * p[1] * p[2], 1, 4e-15);
    if (!(found <= least + test_tolerance(1e-12) * (1 + least)))
        fail_msg("s = (%.17g, %.17g, %.17g): distance^2 %.17g, but %.17g is possible", s[0], s[1], s[2],
                 found, least);
}

static void finds_the_nearest_point(void **state) {
    (void)state;
    static const double special[][3] = {{3, 3, 3},    {1.9, 1.9, 1.9},  {1, 0, 0},     {0, 0, 0},
                                        {1, 1, -1},   {2, 2, 2},        {1, 1, 1},     {2, 2, 1e-3},
                                        {9, 1, -1},   {100, 100, 0.02}, {30, 1e-2, 0}, {1.89, 1.89, 1.89},
                                        {20, 20, -20}};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        check_nearest(special[i]);
    sn_random random = sn_random_make(1);
    for (int repeat = 0; repeat < 3000; repeat++) {
        double s[3];
        sample_values(&random, repeat % 8, s);
        check_nearest(s);
    }
}

/// Stationary: p_i (p_i - s_i) is one number, to rounding of the largest term.
static void solves_at_every_scale(void **state) {
    (void)state;
    sn_random random = sn_random_make(2);
    for (int repeat = 0; repeat < 20000; repeat++) {
        double s[3], p[3];
        sample_values(&random, repeat % 8, s);
        double scale = pow(10, sn_random_range(&random, -100, repeat % 2 ? 100 : 3));
        for (int i = 0; i < 3; i++)
            s[i] *= scale;
        sn_nearest_unit_product3(s, p);
        assert_near(p[0] * p[1] * p[2], 1, 4e-15);
        for (int i = 0; i < 3; i++) {
            double size = p[i] * (p[i] + fabs(s[i])) + p[2] * (p[2] + fabs(s[2]));
            assert_near(p[i] * (p[i] - s[i]) / size, p[2] * (p[2] - s[2]) / size, 1e-14);
        }
    }
}

static void keeps_what_has_product_one(void **state) {
    (void)state;
    sn_random random = sn_random_make(3);
    double p[3];
    sn_nearest_unit_product3((double[3]){1, 1, 1}, p);
    assert_true(p[0] == 1 && p[1] == 1 && p[2] == 1);
    for (int repeat = 0; repeat < 5000; repeat++) {
        double s[3];
        sample_values(&random, 7, s);
        s[2] = 1 / (s[0] * s[1]);
        if (s[2] > s[1])
            continue;
        sn_nearest_unit_product3(s, p);
        for (int i = 0; i < 3; i++)
            assert_near(p[i], s[i], 4e-15 * s[0]);
    }
}

static void lanes_are_alone(void **state) {
    (void)state;
    sn_random random = sn_random_make(4);
    for (int repeat = 0; repeat < 2000; repeat++) {
        double s[3][SN_LANES], p[3][SN_LANES], one[SN_LANES][3];
        for (int lane = 0; lane < SN_LANES; lane++) {
            sample_values(&random, sn_random_index(&random, 8), one[lane]);
            if (repeat % 10 == 0 && lane == 5)
                one[lane][repeat % 3] = NAN;
            for (int i = 0; i < 3; i++)
                s[i][lane] = one[lane][i];
        }
        sn_nearest_unit_product3_wide(s, p);
        for (int lane = 0; lane < SN_LANES; lane++) {
            double alone[3];
            sn_nearest_unit_product3(one[lane], alone);
            for (int i = 0; i < 3; i++)
                assert_true(alone[i] == p[i][lane] || (repeat % 10 == 0 && lane == 5));
        }
    }
}

/// Within their range, floats and a step in double find the same points.
static void comes_near_by_floats(void **state) {
    (void)state;
    sn_random random = sn_random_make(5);
    int compared = 0;
    for (int repeat = 0; repeat < 4000; repeat++) {
        double s[3][SN_LANES], p[3][SN_LANES], q[3][SN_LANES];
        for (int lane = 0; lane < SN_LANES; lane++) {
            double values[3];
            sample_values(&random, sn_random_index(&random, 8), values);
            for (int i = 0; i < 3; i++)
                s[i][lane] = values[i];
        }
        sn_nearest_unit_product3_wide((const double(*)[SN_LANES])s, p);
        sn_nearest_unit_product3_near_wide((const double(*)[SN_LANES])s, q);
        for (int lane = 0; lane < SN_LANES; lane++) {
            double most = s[0][lane];
            if (!(most > 1e-4 && most < 1e4 && s[0][lane] * s[1][lane] * s[2][lane] < 1.9 &&
                  s[1][lane] + s[2][lane] > 0.2 * most))
                continue;
            for (int i = 0; i < 3; i++)
                assert_near(q[i][lane], p[i][lane], 1e-12 * (most + p[0][lane]));
            compared++;
        }
    }
    assert_true(compared > 10000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_nearest_point),    cmocka_unit_test(solves_at_every_scale),
        cmocka_unit_test(keeps_what_has_product_one), cmocka_unit_test(lanes_are_alone),
        cmocka_unit_test(comes_near_by_floats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
