// The objective of rigid motions: derivatives against differences, the closed minimum against neighbors.
#include "test_support.h"

#include "math/math_mat3.h"
#include "solve/solve_rigid.h"

enum { POINTS = 7, N = SN_RIGID_UNKNOWNS };

typedef struct cloud {
    double weight[POINTS], r[3 * POINTS], pull[3 * POINTS];
    sn_rigid_sums sums;
} cloud;

static cloud make_cloud(unsigned seed, double size_of_pull) {
    cloud c = {0};
    srand(seed);
    for (int i = 0; i < POINTS; i++) {
        c.weight[i] = 1 + rand() % 100 / 50.0;
        for (int k = 0; k < 3; k++) {
            c.r[3 * i + k] = rand() % 1000 / 500.0 - 1;
            c.pull[3 * i + k] = size_of_pull * (rand() % 1000 / 500.0 - 1);
        }
        sn_rigid_add(&c.sums, c.weight[i], c.r + 3 * i, c.pull + 3 * i);
    }
    return c;
}

static double energy_of(const cloud *c, const sn_rigid_motion *motion) {
    double base[3] = {0}, sum = 0;
    for (int i = 0; i < POINTS; i++) {
        double p[3], move[3];
        sn_rigid_move(motion, base, c->r + 3 * i, p);
        sn_sub3(p, c->r + 3 * i, move);
        sum += 0.5 * c->weight[i] * sn_dot3(move, move) - sn_dot3(c->pull + 3 * i, move);
    }
    return sum;
}

static sn_rigid_motion followed(const sn_rigid_motion *motion, const double q[N]) {
    sn_rigid_motion out;
    sn_rigid_follow(motion, q, q + 3, &out);
    return out;
}

static void derivatives_fit(void **state) {
    (void)state;
    const double step = 1e-5;
    for (unsigned seed = 1; seed < 6; seed++) {
        cloud c = make_cloud(seed, 1);
        const double q0[N] = {0.3, -0.2, 0.5, 0.4, 1.2 * seed, -0.7};
        const sn_rigid_motion none = {0}, at = followed(&none, q0);
        sn_rigid_value value;
        sn_rigid_evaluate(&c.sums, &at, &value);
        assert_near(value.energy, energy_of(&c, &at), 1e-12 * POINTS);
        for (int a = 0; a < N; a++)
            for (int b = 0; b <= a; b++) {
                // Second derivatives of the energy at motions followed by q.
                double e[2][2];
                for (int s = 0; s < 4; s++) {
                    double q[N] = {0};
                    q[a] += s & 1 ? step : -step;
                    q[b] += s & 2 ? step : -step;
                    sn_rigid_motion there = followed(&at, q);
                    e[s & 1][s >> 1] = energy_of(&c, &there);
                }
                double second = (e[1][1] - e[1][0] - e[0][1] + e[0][0]) / (4 * step * step);
                double hessian = value.hessian[N * a + b];
                hessian += a >= 3 && b >= 3 ? value.curvature[3 * (a - 3) + b - 3] : 0;
                assert_near(hessian, second, 1e-4);
                assert_near(value.hessian[N * a + b], value.hessian[N * b + a], 1e-12);
                if (a == b)
                    assert_near(value.gradient[a], (e[1][1] - e[0][0]) / (4 * step), 1e-7);
            }
    }
}

/// A spring to a target, as a point of its own law, is the same as in the sums.
static void points_add_up(void **state) {
    (void)state;
    cloud c = make_cloud(3, 1);
    const double q[N] = {0.1, 0.2, -0.1, 0.3, -0.4, 0.5}, target[3] = {0.4, 0.1, -0.2}, base[3] = {0};
    const double stiffness = 3, r[3] = {0.3, -0.8, 0.6};
    const sn_rigid_motion none = {0}, at = followed(&none, q);
    sn_rigid_value one, other;
    sn_rigid_point point = {0};
    double p[3], pull[3];
    sn_rigid_evaluate(&c.sums, &at, &one);
    sn_rigid_move(&at, base, r, p);
    for (int k = 0; k < 3; k++) {
        point.force[k] = stiffness * (target[k] - p[k]);
        point.hessian[4 * k] = stiffness;
        point.lever[k] = p[k] - at.shift[k];
        pull[k] = stiffness * (target[k] - r[k]);
    }
    sn_rigid_add_point(&point, &one);
    sn_rigid_add(&c.sums, stiffness, r, pull);
    sn_rigid_evaluate(&c.sums, &at, &other);
    for (int k = 0; k < N; k++)
        assert_near(one.gradient[k], other.gradient[k], 1e-12);
    for (int k = 0; k < N * N; k++)
        assert_near(one.hessian[k], other.hessian[k], 1e-12);
    for (int k = 0; k < 9; k++)
        assert_near(one.curvature[k], other.curvature[k], 1e-12);
}

/// The closed minimum has no gradient and lies below many other motions.
static void best_is_best(void **state) {
    (void)state;
    for (unsigned seed = 1; seed < 9; seed++)
        for (int kind = 0; kind < 3; kind++) {
            cloud c = make_cloud(seed, 4);
            const double axis[3] = {0.6, 0, 0.8};
            sn_rigid_motion best;
            sn_rigid_value value;
            if (kind == 2)
                sn_rigid_best_about(&c.sums, axis, &best);
            else
                assert_true(sn_rigid_best(&c.sums, kind == 1, &best));
            sn_rigid_evaluate(&c.sums, &best, &value);
            for (int k = 0; k < 3; k++) {
                if (kind == 0)
                    assert_near(value.gradient[k], 0, 1e-12 * 100);
                if (kind < 2)
                    assert_near(value.gradient[3 + k], 0, 1e-12 * 100);
            }
            assert_near(kind < 2 ? 0 : sn_dot3(axis, value.gradient + 3), 0, 1e-12 * 100);
            const sn_rigid_motion none = {0};
            for (int k = 0; k < 100; k++) {
                double q[N];
                for (int a = 0; a < N; a++)
                    q[a] = kind > 0 && a < 3 ? 0 : rand() % 1000 / 100.0 - 5;
                for (int a = 3; a < N && kind == 2; a++)
                    q[a] = axis[a - 3] * k / 8;
                sn_rigid_motion other = followed(&none, q);
                assert_true(energy_of(&c, &other) >= energy_of(&c, &best) - 1e-10);
            }
        }
    // Points on a line leave the rotation about it open.
    sn_rigid_sums line = {0};
    sn_rigid_motion any;
    for (int i = 0; i < 3; i++)
        sn_rigid_add(&line, 1, (double[3]){i - 1, 0, 0}, (double[3]){0, 0, 0.1 * i});
    assert_false(sn_rigid_best(&line, false, &any));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(derivatives_fit), cmocka_unit_test(points_add_up),
                                       cmocka_unit_test(best_is_best)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
