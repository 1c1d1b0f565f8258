// Signed SVD and rotation over all kinds of matrices: properties, an independent oracle for the rotation,
// same bits in every lane.
#include "test_support.h"

#include "math/math_svd.h"
#include "unit/math/math_samples.h"

enum { REPEATS = 2500 };

static double rotation_error(const double R[9]) {
    double G[9], error = fabs(sn_det3(R) - 1);
    sn_mul33_tn(R, R, G);
    for (int i = 0; i < 9; i++)
        error = fmax(error, fabs(G[i] - (i % 4 == 0)));
    return error;
}

static double reconstruction_error(const double F[9], const double U[9], const double s[3],
                                   const double V[9]) {
    double scale = sample_norm(F), US[9], G[9], error = 0;
    for (int i = 0; i < 9; i++)
        US[i] = U[i] * s[i % 3];
    sn_mul33_nt(US, V, G);
    for (int i = 0; i < 9; i++)
        error = fmax(error, fabs(G[i] - F[i]));
    // Denormal numbers have few digits: what can be told apart there is the smallest one.
    return error <= 16 * 0x1p-1074 ? 0 : error / scale;
}

static void decomposes_every_kind(void **state) {
    (void)state;
    sn_random random = sn_random_make(1);
    for (int kind = 0; kind < SAMPLE_KINDS; kind++)
        for (int repeat = 0; repeat < REPEATS; repeat++) {
            double F[9], U[9], s[3], V[9];
            sample_matrix(&random, kind, F);
            sn_svd3(F, U, s, V);
            assert_near(rotation_error(U), 0, 1e-14);
            assert_near(rotation_error(V), 0, 1e-14);
            assert_near(reconstruction_error(F, U, s, V), 0, 1e-14);
            assert_true(s[0] >= s[1] && s[1] >= fabs(s[2]));
        }
}

/// F = U A V' to rounding of doubles, with A diagonal to rounding of floats; the same in every lane.
static void comes_near_by_floats(void **state) {
    (void)state;
    sn_random random = sn_random_make(6);
    for (int kind = 0; kind < SAMPLE_KINDS; kind++)
        for (int repeat = 0; repeat < REPEATS / 10; repeat++) {
            double F[9][SN_LANES], U[9][SN_LANES], A[9][SN_LANES], V[9][SN_LANES];
            double f[9], u[9], a[9], v[9], UA[9], G[9];
            sample_matrix(&random, kind, f);
            for (int i = 0; i < 9; i++)
                for (int lane = 0; lane < SN_LANES; lane++)
                    F[i][lane] = f[i];
            sn_svd3_near_wide((const double(*)[SN_LANES])F, U, A, V);
            for (int i = 0; i < 9; i++) {
                u[i] = U[i][0], a[i] = A[i][0], v[i] = V[i][0];
                for (int lane = 1; lane < SN_LANES; lane++)
                    assert_true(u[i] == U[i][lane] && a[i] == A[i][lane] && v[i] == V[i][lane]);
            }
            assert_near(rotation_error(u), 0, 2e-15);
            assert_near(rotation_error(v), 0, 2e-15);
            sn_mul33(u, a, UA);
            sn_mul33_nt(UA, v, G);
            // Columns far shorter than the first are beyond what floats can turn.
            double scale = sample_norm(f), most = a[4] > 1e-3 * scale ? 1e-6 : 3e-5;
            for (int i = 0; i < 9; i++) {
                assert_near(G[i], f[i], 3e-15 * scale + 16 * 0x1p-1074);
                assert_near(i % 4 == 0 ? 0 : a[i], 0, most * scale + 16 * 0x1p-1074);
            }
            assert_true(a[0] >= a[4] - most * scale && a[4] >= fabs(a[8]) - most * scale);
        }
}

static void finds_known_values(void **state) {
    (void)state;
    sn_random random = sn_random_make(2);
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double given[3] = {sample_decades(&random, -3, 3), sample_decades(&random, -9, 3), 0};
        given[2] = sample_decades(&random, -12, 3) * (repeat % 2 ? 1 : -1);
        for (int pass = 0; pass < 2; pass++)
            for (int i = 0; i < 2; i++)
                if (fabs(given[i]) < fabs(given[i + 1])) {
                    double swap = given[i];
                    given[i] = given[i + 1], given[i + 1] = swap;
                }
        // A minus sign that has moved forward moves back: two signs may change together.
        double sign = given[0] * given[1] * given[2] < 0 ? -1 : 1;
        given[0] = fabs(given[0]), given[1] = fabs(given[1]), given[2] = sign * fabs(given[2]);
        double F[9], U[9], s[3], V[9];
        sample_with_values(&random, given[0], given[1], given[2], F);
        sn_svd3(F, U, s, V);
        for (int i = 0; i < 3; i++)
            assert_near(s[i], given[i], 1e-14 * given[0]);
    }
}

/// Largest eigenvalue and eigenvector of a symmetric 4 x 4 matrix by cyclic Jacobi.
static double largest_eigenpair(double K[4][4], double q[4]) {
    double Q[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    for (int turn = 0; turn < 12 * 6; turn++) {
        static const int pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
        int a = pairs[turn % 6][0], b = pairs[turn % 6][1];
        double angle = 0.5 * atan2(2 * K[a][b], K[a][a] - K[b][b]), c = cos(angle), s = sin(angle);
        for (int i = 0; i < 4; i++) {
            double x = K[i][a], y = K[i][b], u = Q[i][a], v = Q[i][b];
            K[i][a] = c * x + s * y, K[i][b] = c * y - s * x;
            Q[i][a] = c * u + s * v, Q[i][b] = c * v - s * u;
        }
        for (int i = 0; i < 4; i++) {
            double x = K[a][i], y = K[b][i];
            K[a][i] = c * x + s * y, K[b][i] = c * y - s * x;
        }
    }
    int best = 0;
    for (int i = 1; i < 4; i++)
        if (K[i][i] > K[best][best])
            best = i;
    for (int i = 0; i < 4; i++)
        q[i] = Q[i][best];
    return K[best][best];
}

/// The rotation that maximizes tr(R'F) as the eigenvector of Davenport's matrix; returns that maximum.
static double davenport_rotation(const double F[9], double R[9]) {
    double trace = F[0] + F[4] + F[8], a[3] = {F[7] - F[5], F[2] - F[6], F[3] - F[1]}, K[4][4], q[4];
    K[0][0] = trace;
    for (int i = 0; i < 3; i++) {
        K[0][i + 1] = K[i + 1][0] = a[i];
        for (int j = 0; j < 3; j++)
            K[i + 1][j + 1] = F[3 * i + j] + F[3 * j + i] - (i == j ? trace : 0);
    }
    double value = largest_eigenpair(K, q), w = q[0], x = q[1], y = q[2], z = q[3];
    double values[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                        2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                        2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    memcpy(R, values, sizeof values);
    return value;
}

static void rotation_is_the_best_one(void **state) {
    (void)state;
    sn_random random = sn_random_make(3);
    int compared = 0;
    for (int kind = 0; kind < SAMPLE_KINDS; kind++)
        for (int repeat = 0; repeat < 500; repeat++) {
            double F[9], R[9], U[9], s[3], V[9], best[9], fit = 0;
            sample_matrix(&random, kind, F);
            double scale = sample_norm(F);
            for (int i = 0; i < 9 && scale > 0; i++)
                F[i] /= scale;
            sn_rotation3(F, R);
            sn_svd3(F, U, s, V);
            double most = davenport_rotation(F, best);
            for (int i = 0; i < 9; i++)
                fit += R[i] * F[i];
            assert_near(rotation_error(R), 0, 2e-14);
            assert_near(fit, most, 1e-14);
            assert_near(s[0] + s[1] + s[2], most, 1e-14);
            double gap = s[1] + s[2];
            if (gap < 1e-9)
                continue;
            for (int i = 0; i < 9; i++)
                assert_near(R[i], best[i], 2e-14 + 1e-14 / gap);
            compared++;
        }
    assert_true(compared > 5000);
}

static void lanes_are_alone(void **state) {
    (void)state;
    sn_random random = sn_random_make(4);
    for (int repeat = 0; repeat < 500; repeat++) {
        double F[9][SN_LANES], U[9][SN_LANES], V[9][SN_LANES], s[3][SN_LANES], R[9][SN_LANES];
        double f[SN_LANES][9];
        for (int lane = 0; lane < SN_LANES; lane++) {
            sample_matrix(&random, sn_random_index(&random, SAMPLE_KINDS), f[lane]);
            if (repeat % 10 == 0 && lane == 3)
                f[lane][repeat % 9] = repeat % 20 ? NAN : INFINITY;
            for (int i = 0; i < 9; i++)
                F[i][lane] = f[lane][i];
        }
        sn_svd3_wide(F, U, s, V);
        sn_rotation3_wide(F, R);
        for (int lane = 0; lane < SN_LANES; lane++) {
            double u[9], values[3], v[9], r[9];
            sn_svd3(f[lane], u, values, v);
            sn_rotation3(f[lane], r);
            if (repeat % 10 == 0 && lane == 3) {
                assert_true(isnan(values[0] + values[1] + values[2]));
                continue;
            }
            for (int i = 0; i < 9; i++)
                assert_true(u[i] == U[i][lane] && v[i] == V[i][lane] && r[i] == R[i][lane]);
            for (int i = 0; i < 3; i++)
                assert_true(values[i] == s[i][lane]);
        }
    }
}

static void simple_matrices_are_exact(void **state) {
    (void)state;
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double U[9], s[3], V[9], R[9];
    sn_svd3(identity, U, s, V);
    sn_rotation3(identity, R);
    assert_true(s[0] == 1 && s[1] == 1 && s[2] == 1);
    assert_memory_equal(R, identity, sizeof R);
    double zero[9] = {0};
    sn_svd3(zero, U, s, V);
    assert_true(s[0] == 0 && s[1] == 0 && s[2] == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decomposes_every_kind), cmocka_unit_test(comes_near_by_floats),
        cmocka_unit_test(finds_known_values),    cmocka_unit_test(rotation_is_the_best_one),
        cmocka_unit_test(lanes_are_alone),       cmocka_unit_test(simple_matrices_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
