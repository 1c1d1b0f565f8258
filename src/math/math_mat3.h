/// 3-vectors and 3 x 3 matrices as plain arrays. Matrices are row-major: m[3 * row + column].
#ifndef SN_MATH_MAT3_H
#define SN_MATH_MAT3_H

#include <math.h>

#define SN_PI 3.14159265358979323846

static inline double sn_dot3(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void sn_cross3(const double a[3], const double b[3], double out[3]) {
    double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    out[0] = x, out[1] = y, out[2] = z;
}

static inline void sn_sub3(const double a[3], const double b[3], double out[3]) {
    for (int i = 0; i < 3; i++)
        out[i] = a[i] - b[i];
}

static inline double sn_norm3(const double a[3]) {
    return sqrt(sn_dot3(a, a));
}

/// out = a / |a|, also where |a|^2 would be too small or too large for a double; a not 0. `out` may be a.
static inline void sn_unit3(const double a[3], double out[3]) {
    double most = fmax(fabs(a[0]), fmax(fabs(a[1]), fabs(a[2])));
    double scaled[3] = {a[0] / most, a[1] / most, a[2] / most}, length = sn_norm3(scaled);
    for (int i = 0; i < 3; i++)
        out[i] = scaled[i] / length;
}

static inline double sn_distance3(const double a[3], const double b[3]) {
    double d[3];
    sn_sub3(a, b, d);
    return sn_norm3(d);
}

static inline double sn_det3(const double m[9]) {
    return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
           m[2] * (m[3] * m[7] - m[4] * m[6]);
}

/// out = a b. `out` may be neither a nor b.
static inline void sn_mul33(const double a[9], const double b[9], double out[9]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
}

/// out = a' b. `out` may be neither a nor b.
static inline void sn_mul33_tn(const double a[9], const double b[9], double out[9]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[3 * i + j] = a[i] * b[j] + a[3 + i] * b[3 + j] + a[6 + i] * b[6 + j];
}

/// out = a b'. `out` may be neither a nor b.
static inline void sn_mul33_nt(const double a[9], const double b[9], double out[9]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[3 * i + j] = a[3 * i] * b[3 * j] + a[3 * i + 1] * b[3 * j + 1] + a[3 * i + 2] * b[3 * j + 2];
}

/// out = m v. `out` may not be v.
static inline void sn_mul3(const double m[9], const double v[3], double out[3]) {
    for (int i = 0; i < 3; i++)
        out[i] = m[3 * i] * v[0] + m[3 * i + 1] * v[1] + m[3 * i + 2] * v[2];
}

/// out = m' v. `out` may not be v.
static inline void sn_mul3_tn(const double m[9], const double v[3], double out[3]) {
    for (int i = 0; i < 3; i++)
        out[i] = m[i] * v[0] + m[3 + i] * v[1] + m[6 + i] * v[2];
}

/// Inverse by cofactors; returns the determinant. With determinant 0 `out` is not finite.
static inline double sn_inverse3(const double m[9], double out[9]) {
    double det = sn_det3(m), s = 1 / det;
    out[0] = (m[4] * m[8] - m[5] * m[7]) * s, out[1] = (m[2] * m[7] - m[1] * m[8]) * s;
    out[2] = (m[1] * m[5] - m[2] * m[4]) * s, out[3] = (m[5] * m[6] - m[3] * m[8]) * s;
    out[4] = (m[0] * m[8] - m[2] * m[6]) * s, out[5] = (m[2] * m[3] - m[0] * m[5]) * s;
    out[6] = (m[3] * m[7] - m[4] * m[6]) * s, out[7] = (m[1] * m[6] - m[0] * m[7]) * s;
    out[8] = (m[0] * m[4] - m[1] * m[3]) * s;
    return det;
}

#endif
