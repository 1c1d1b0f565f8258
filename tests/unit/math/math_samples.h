/// Random rotations and matrices of all the kinds that break decompositions, for several test programs.
#ifndef SN_TEST_MATH_SAMPLES_H
#define SN_TEST_MATH_SAMPLES_H

#include "base/base_util.h"
#include "math/math_mat3.h"

#include <string.h>

static inline void sample_rotation(sn_random *random, double R[9]) {
    double q[4], length2 = 0;
    for (int i = 0; i < 4; i++) {
        q[i] = sn_random_normal(random);
        length2 += q[i] * q[i];
    }
    double w = q[0], x = q[1], y = q[2], z = q[3], k = 2 / length2;
    double values[9] = {1 - k * (y * y + z * z), k * (x * y - w * z),     k * (x * z + w * y),
                        k * (x * y + w * z),     1 - k * (x * x + z * z), k * (y * z - w * x),
                        k * (x * z - w * y),     k * (y * z + w * x),     1 - k * (x * x + y * y)};
    memcpy(R, values, sizeof values);
}

/// F = A diag(s) B' with random rotations A and B.
static inline void sample_with_values(sn_random *random, double s1, double s2, double s3, double F[9]) {
    double A[9], B[9], D[9] = {s1, 0, 0, 0, s2, 0, 0, 0, s3}, AD[9];
    sample_rotation(random, A);
    sample_rotation(random, B);
    sn_mul33(A, D, AD);
    sn_mul33_nt(AD, B, F);
}

static inline void sample_normal(sn_random *random, double mean_diagonal, double deviation, double F[9]) {
    for (int i = 0; i < 9; i++)
        F[i] = (i % 4 == 0 ? mean_diagonal : 0) + deviation * sn_random_normal(random);
}

static inline double sample_decades(sn_random *random, double low, double high) {
    return pow(10, sn_random_range(random, low, high));
}

/// Scales rows (by_row) or columns by factors from 1e-12 to 1.
static inline void sample_scaled(sn_random *random, int by_row, double F[9]) {
    sample_normal(random, 0, 1, F);
    for (int i = 0; i < 3; i++) {
        double factor = sample_decades(random, -12, 0);
        for (int j = 0; j < 3; j++)
            F[by_row ? 3 * i + j : 3 * j + i] *= factor;
    }
}

enum { SAMPLE_KINDS = 20 };

static inline void sample_matrix(sn_random *random, int kind, double F[9]) {
    double sign = sn_random_real(random) < 0.5 ? -1 : 1, a = sn_random_real(random);
    switch (kind) {
    case 0: // anything
        sample_normal(random, 0, 1, F);
        return;
    case 1: // near rest
        sample_normal(random, 1, 0.15, F);
        return;
    case 2: // small strain
        sample_with_values(random, 1 + 1e-6 * a, 1, 1 - 1e-6 * a, F);
        return;
    case 3: // ill-conditioned
        sample_with_values(random, 1, sample_decades(random, -12, 0), sign * sample_decades(random, -12, 0),
                           F);
        return;
    case 4: // rank 1
        sample_with_values(random, 1, 0, 0, F);
        return;
    case 5: // rank 2
        sample_with_values(random, 1, a, 0, F);
        return;
    case 6: // reflection
        sample_with_values(random, 1, 1, -1, F);
        return;
    case 7: // rotation
        sample_with_values(random, 1, 1, 1, F);
        return;
    case 8: // two nearly equal
        sample_with_values(random, 1, 1 + 1e-9 * a, sign * 1e-6, F);
        return;
    case 9: // two small and nearly equal
        sample_with_values(random, 1, 1e-8, sign * 1e-8 * (1 - 1e-8 * a), F);
        return;
    case 10: // whole numbers
        for (int i = 0; i < 9; i++)
            F[i] = sn_random_index(random, 3) - 1;
        return;
    case 11: // entries of all sizes
        for (int i = 0; i < 9; i++)
            F[i] = sn_random_normal(random) * sample_decades(random, -12, 0);
        return;
    case 12:
        sample_scaled(random, 0, F);
        return;
    case 13:
        sample_scaled(random, 1, F);
        return;
    case 14:
        sample_normal(random, 0, 1e-100, F);
        return;
    case 15:
        sample_normal(random, 0, 1e100, F);
        return;
    case 16: // denormal
        sample_normal(random, 0, 1e-310, F);
        return;
    case 17:
        memset(F, 0, 9 * sizeof *F);
        return;
    case 18: // -identity
        sample_normal(random, -1, 0, F);
        return;
    default: // inverted near rest
        sample_with_values(random, 1.2, 0.9, -a, F);
    }
}

static inline double sample_norm(const double F[9]) {
    double largest = 0, sum = 0;
    for (int i = 0; i < 9; i++)
        largest = fmax(largest, fabs(F[i]));
    for (int i = 0; i < 9 && largest > 0; i++)
        sum += F[i] / largest * (F[i] / largest);
    return largest * sqrt(sum);
}

#endif
