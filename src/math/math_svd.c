// One-sided Jacobi: rotations V turn F into B = F V with orthogonal columns of decreasing length, then U and
// s are read from B. Working on B and not on F'F keeps small singular values accurate to rounding of |F|.
// Every step is written for one lane without branches and inlined into a loop over lanes, which the compilers
// turn into vectors; the number of sweeps is fixed, so that a result depends on its own F alone.
//
// Rejected: Jacobi on F'F with two closing sweeps on B (as fast, but columns shorter than 1e-8 |F| come out
// ten times worse), exact rotations (two square roots in the chain of dependent operations: a third slower
// for the same number of sweeps).
#include "math/math_svd.h"

#include "base/base_parallel.h"

#include <stdint.h>
#include <string.h>
#include <tgmath.h>

/// Measured: 4 sweeps leave errors up to 2e-7, 5 leave rounding, over all kinds of matrices in the unit test.
enum { SWEEP_COUNT = 5, NEAR_SWEEP_COUNT = 4 };

#define REAL       double
#define NAME(name) name##_double
#define NEGLIGIBLE 1e-280
#include "math/math_svd_kernel.h"
#undef REAL
#undef NAME
#undef NEGLIGIBLE

#define REAL       float
#define NAME(name) name##_float
#define NEGLIGIBLE 1e-35f
#include "math/math_svd_kernel.h"

SN_INLINE double larger(double a, double b) {
    return a > b ? a : b;
}

SN_INLINE double smaller(double a, double b) {
    return a < b ? a : b;
}

/// A power of two near 1 / max |F| and its inverse: exact, so that scaling costs no digits.
SN_INLINE void choose_scale(const double F[9], double *out_scale, double *out_inverse) {
    double largest = 0x1p-1022;
    for (int i = 0; i < 9; i++)
        largest = larger(fabs(F[i]), largest);
    largest = smaller(largest, 0x1p1022);
    uint64_t bits;
    memcpy(&bits, &largest, sizeof bits);
    uint64_t exponent = bits >> 52, inverse_bits = exponent << 52, scale_bits = (2046 - exponent) << 52;
    memcpy(out_scale, &scale_bits, sizeof scale_bits);
    memcpy(out_inverse, &inverse_bits, sizeof inverse_bits);
}

/// Scales every lane's matrix to about 1.
SN_CLONES static void sn_svd3_start(const double F[restrict 9][SN_LANES], double B[restrict 9][SN_LANES],
                                    double V[restrict 9][SN_LANES], double inverse_scale[restrict SN_LANES]) {
    for (int lane = 0; lane < SN_LANES; lane++) {
        double f[9], scale;
        for (int i = 0; i < 9; i++)
            f[i] = F[i][lane];
        choose_scale(f, &scale, &inverse_scale[lane]);
        for (int i = 0; i < 9; i++) {
            B[i][lane] = f[i] * scale;
            V[i][lane] = i % 4 == 0;
        }
    }
}

// ---- By floats

/// Scales every lane's matrix to about 1, in which form floats hold it.
SN_CLONES static void sn_svd3_start_float(const double F[restrict 9][SN_LANES], float b[restrict 9][SN_LANES],
                                          float v[restrict 9][SN_LANES]) {
    for (int lane = 0; lane < SN_LANES; lane++) {
        double f[9], scale, inverse;
        for (int i = 0; i < 9; i++)
            f[i] = F[i][lane];
        choose_scale(f, &scale, &inverse);
        for (int i = 0; i < 9; i++) {
            b[i][lane] = (float)(f[i] * scale);
            v[i][lane] = i % 4 == 0;
        }
    }
}

/// The rotation next to m, which is one to rounding of floats: m (1 - E/2 + 3 E^2/8) with E = m'm - 1, the
/// beginning of m (m'm)^(-1/2). What is left of E is its third power.
SN_CLONES static void sn_svd3_orthonormalize(const float m[restrict 9][SN_LANES],
                                             double M[restrict 9][SN_LANES]) {
    for (int lane = 0; lane < SN_LANES; lane++) {
        double a[9];
        for (int i = 0; i < 9; i++)
            a[i] = m[i][lane];
        double e00 = column_dot_double(a, 0, 0) - 1, e11 = column_dot_double(a, 1, 1) - 1;
        double e22 = column_dot_double(a, 2, 2) - 1, e01 = column_dot_double(a, 0, 1);
        double e02 = column_dot_double(a, 0, 2), e12 = column_dot_double(a, 1, 2);
        double k00 = 1 - 0.5 * e00 + 0.375 * (e00 * e00 + e01 * e01 + e02 * e02);
        double k11 = 1 - 0.5 * e11 + 0.375 * (e01 * e01 + e11 * e11 + e12 * e12);
        double k22 = 1 - 0.5 * e22 + 0.375 * (e02 * e02 + e12 * e12 + e22 * e22);
        double k01 = -0.5 * e01 + 0.375 * (e00 * e01 + e01 * e11 + e02 * e12);
        double k02 = -0.5 * e02 + 0.375 * (e00 * e02 + e01 * e12 + e02 * e22);
        double k12 = -0.5 * e12 + 0.375 * (e01 * e02 + e11 * e12 + e12 * e22);
        for (int i = 0; i < 9; i += 3) {
            M[i][lane] = a[i] * k00 + a[i + 1] * k01 + a[i + 2] * k02;
            M[i + 1][lane] = a[i] * k01 + a[i + 1] * k11 + a[i + 2] * k12;
            M[i + 2][lane] = a[i] * k02 + a[i + 1] * k12 + a[i + 2] * k22;
        }
    }
}

/// A = U'F V.
SN_CLONES static void sn_svd3_project(const double F[restrict 9][SN_LANES],
                                      const double U[restrict 9][SN_LANES],
                                      const double V[restrict 9][SN_LANES], double A[restrict 9][SN_LANES]) {
    for (int lane = 0; lane < SN_LANES; lane++)
        for (int i = 0; i < 3; i++) {
            double row[3];
            for (int j = 0; j < 3; j++)
                row[j] = U[i][lane] * F[j][lane] + U[3 + i][lane] * F[3 + j][lane] +
                         U[6 + i][lane] * F[6 + j][lane];
            for (int j = 0; j < 3; j++)
                A[3 * i + j][lane] = row[0] * V[j][lane] + row[1] * V[3 + j][lane] + row[2] * V[6 + j][lane];
        }
}

/// R = U V'.
SN_CLONES static void sn_rotation3_lanes(const double U[restrict 9][SN_LANES],
                                         const double V[restrict 9][SN_LANES],
                                         double R[restrict 9][SN_LANES]) {
    for (int lane = 0; lane < SN_LANES; lane++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                R[3 * i + j][lane] = U[3 * i][lane] * V[3 * j][lane] +
                                     U[3 * i + 1][lane] * V[3 * j + 1][lane] +
                                     U[3 * i + 2][lane] * V[3 * j + 2][lane];
}

// The functions that others call are not cloned themselves: clang 14 gives the dispatcher of a cloned
// function another name, so that calls from other files would not link.

void sn_svd3_wide(const double F[9][SN_LANES], double U[9][SN_LANES], double s[3][SN_LANES],
                  double V[9][SN_LANES]) {
    SN_VECTOR_MEMORY double B[9][SN_LANES], inverse_scale[SN_LANES];
    sn_svd3_start(F, B, V, inverse_scale);
    sn_svd3_sweep_double(SWEEP_COUNT, B, V);
    sn_svd3_read_double(B, U, s);
    for (int i = 0; i < 3; i++)
        for (int lane = 0; lane < SN_LANES; lane++)
            s[i][lane] *= inverse_scale[lane];
}

void sn_svd3_near_wide(const double F[9][SN_LANES], double U[9][SN_LANES], double A[9][SN_LANES],
                       double V[9][SN_LANES]) {
    SN_VECTOR_MEMORY float b[9][SN_LANES], u[9][SN_LANES], s[3][SN_LANES], v[9][SN_LANES];
    sn_svd3_start_float(F, b, v);
    sn_svd3_sweep_float(NEAR_SWEEP_COUNT, b, v);
    sn_svd3_read_float(b, u, s);
    sn_svd3_orthonormalize(u, U);
    sn_svd3_orthonormalize(v, V);
    sn_svd3_project(F, U, V, A);
}

void sn_rotation3_wide(const double F[9][SN_LANES], double R[9][SN_LANES]) {
    SN_VECTOR_MEMORY double U[9][SN_LANES], V[9][SN_LANES], s[3][SN_LANES];
    sn_svd3_wide(F, U, s, V);
    sn_rotation3_lanes(U, V, R);
}

/// Copies one matrix to every lane: scalar calls run the wide code, so that both give the same bits.
static void fill_lanes(const double *values, int count, double (*out)[SN_LANES]) {
    for (int i = 0; i < count; i++)
        for (int lane = 0; lane < SN_LANES; lane++)
            out[i][lane] = values[i];
}

void sn_svd3(const double F[9], double U[9], double s[3], double V[9]) {
    SN_VECTOR_MEMORY double f[9][SN_LANES], u[9][SN_LANES], values[3][SN_LANES], v[9][SN_LANES];
    fill_lanes(F, 9, f);
    sn_svd3_wide(f, u, values, v);
    for (int i = 0; i < 9; i++)
        U[i] = u[i][0], V[i] = v[i][0];
    for (int i = 0; i < 3; i++)
        s[i] = values[i][0];
}

void sn_rotation3(const double F[9], double R[9]) {
    SN_VECTOR_MEMORY double f[9][SN_LANES], r[9][SN_LANES];
    fill_lanes(F, 9, f);
    sn_rotation3_wide(f, r);
    for (int i = 0; i < 9; i++)
        R[i] = r[i][0];
}
