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
#include "math/math_mat3.h"

#include <stdint.h>
#include <string.h>

/// Measured: 4 sweeps leave errors up to 2e-7, 5 leave rounding, over all kinds of matrices in the unit test.
enum { SWEEP_COUNT = 5 };

/// High powers below this, of a matrix scaled to about 1, count as zero: they have lost digits to underflow.
#define NEGLIGIBLE 1e-280

SN_INLINE double larger(double a, double b) {
    return a > b ? a : b;
}

SN_INLINE double smaller(double a, double b) {
    return a < b ? a : b;
}

SN_INLINE double square(double a) {
    return a * a;
}

SN_INLINE double column_dot(const double M[9], int p, int q) {
    return M[p] * M[q] + M[3 + p] * M[3 + q] + M[6 + p] * M[6 + q];
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

/// Cosine and sine of a rotation that makes columns p and q of B nearly orthogonal and the longer one the
/// first. With tan(2 angle) = y, tan(angle / 2) is taken as (y/4) (1 + a y) / (1 + a y + b y^2), within 1.4 %
/// of the angle for every y and to third order for small ones: sweeps converge as with exact angles, and one
/// division does.
SN_INLINE void choose_rotation(const double B[9], int p, int q, double *out_c, double *out_s) {
    double difference = column_dot(B, p, p) - column_dot(B, q, q), overlap = 2 * column_dot(B, p, q);
    double d = fabs(difference), o = fabs(overlap);
    double numerator = o * (d + 0.79186182 * o);
    double denominator = 4 * d * d + o * (3.16744728 * d + 1.94207946 * o);
    double length2 = square(numerator) + square(denominator), inverse = 1 / length2;
    double c = (square(denominator) - square(numerator)) * inverse, s = 2 * numerator * denominator * inverse;
    c = length2 < NEGLIGIBLE ? 1 : c;
    s = length2 < NEGLIGIBLE ? 0 : s;
    *out_c = difference < 0 ? s : c;
    *out_s = copysign(difference < 0 ? c : s, overlap);
}

SN_INLINE void rotate_columns(double M[9], int p, int q, double c, double s) {
    for (int i = 0; i < 9; i += 3) {
        double a = M[i + p], b = M[i + q];
        M[i + p] = c * a + s * b;
        M[i + q] = c * b - s * a;
    }
}

SN_INLINE void orthogonalize(double B[9], double V[9], int p, int q) {
    double c, s;
    choose_rotation(B, p, q, &c, &s);
    rotate_columns(B, p, q, c, s);
    rotate_columns(V, p, q, c, s);
}

/// U and s from B = U diag(s), columns orthogonal to rounding of the longest. U is a rotation to rounding
/// whatever B: its first column completes to a frame (Duff et al. 2017, "Building an orthonormal basis,
/// revisited"), which turns about that column until the second axis lies along column 2 of B.
SN_INLINE void read_columns(const double B[9], double U[9], double s[3]) {
    double length2 = column_dot(B, 0, 0), length = sqrt(length2), inverse = 1 / length;
    double x = length2 < NEGLIGIBLE ? 1 : B[0] * inverse, y = length2 < NEGLIGIBLE ? 0 : B[3] * inverse;
    double z = length2 < NEGLIGIBLE ? 0 : B[6] * inverse;
    double sign = copysign(1, z), a = -1 / (sign + z), b = x * y * a;
    double e[3] = {1 + sign * x * x * a, sign * b, -sign * x}, f[3] = {b, sign + y * y * a, -y};
    double along_e = e[0] * B[1] + e[1] * B[4] + e[2] * B[7],
           along_f = f[0] * B[1] + f[1] * B[4] + f[2] * B[7];
    double second2 = square(along_e) + square(along_f), second = sqrt(second2), second_inverse = 1 / second;
    double c = second2 < NEGLIGIBLE ? 1 : along_e * second_inverse;
    double t = second2 < NEGLIGIBLE ? 0 : along_f * second_inverse;
    U[0] = x, U[3] = y, U[6] = z;
    double third = 0;
    for (int i = 0; i < 3; i++) {
        U[3 * i + 1] = c * e[i] + t * f[i];
        U[3 * i + 2] = c * f[i] - t * e[i];
        third += U[3 * i + 2] * B[3 * i + 2];
    }
    // Rounding may disturb the order of equal values.
    s[0] = length;
    s[1] = second > length ? length : second;
    s[2] = third > s[1] ? s[1] : (third < -s[1] ? -s[1] : third);
}

SN_CLONES static void sn_svd3_lanes(const double F[restrict 9][SN_LANES], double U[restrict 9][SN_LANES],
                                    double s[restrict 3][SN_LANES], double V[restrict 9][SN_LANES]) {
    SN_VECTOR_MEMORY double B[9][SN_LANES], inverse_scale[SN_LANES];
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
    for (int sweep = 0; sweep < SWEEP_COUNT; sweep++) {
        for (int lane = 0; lane < SN_LANES; lane++) {
            double b[9], v[9];
            for (int i = 0; i < 9; i++)
                b[i] = B[i][lane], v[i] = V[i][lane];
            orthogonalize(b, v, 0, 1);
            orthogonalize(b, v, 0, 2);
            orthogonalize(b, v, 1, 2);
            for (int i = 0; i < 9; i++)
                B[i][lane] = b[i], V[i][lane] = v[i];
        }
    }
    for (int lane = 0; lane < SN_LANES; lane++) {
        double b[9], u[9], values[3];
        for (int i = 0; i < 9; i++)
            b[i] = B[i][lane];
        read_columns(b, u, values);
        for (int i = 0; i < 9; i++)
            U[i][lane] = u[i];
        for (int i = 0; i < 3; i++)
            s[i][lane] = values[i] * inverse_scale[lane];
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
    sn_svd3_lanes(F, U, s, V);
}

void sn_rotation3_wide(const double F[9][SN_LANES], double R[9][SN_LANES]) {
    SN_VECTOR_MEMORY double U[9][SN_LANES], V[9][SN_LANES], s[3][SN_LANES];
    sn_svd3_lanes(F, U, s, V);
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
