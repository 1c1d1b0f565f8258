/// One-sided Jacobi in one precision; included by math_svd.c, which defines the macros used here:
///
/// REAL       double or float
/// NAME(name) the function's name in that precision
/// NEGLIGIBLE high powers below this, of a matrix scaled to about 1, count as zero: they have lost digits to
///            underflow
///
/// Functions of <tgmath.h> take the precision of their arguments.

SN_INLINE REAL NAME(square)(REAL a) {
    return a * a;
}

SN_INLINE REAL NAME(column_dot)(const REAL M[9], int p, int q) {
    return M[p] * M[q] + M[3 + p] * M[3 + q] + M[6 + p] * M[6 + q];
}

/// Cosine and sine of a rotation that makes columns p and q of B nearly orthogonal and the longer one the
/// first. With tan(2 angle) = y, tan(angle / 2) is taken as (y/4) (1 + a y) / (1 + a y + b y^2), within 1.4 %
/// of the angle for every y and to third order for small ones: sweeps converge as with exact angles, and one
/// division does.
SN_INLINE void NAME(choose_rotation)(const REAL B[9], int p, int q, REAL *out_c, REAL *out_s) {
    const REAL a = (REAL)0.79186182, four_a = (REAL)3.16744728, four_b = (REAL)1.94207946;
    REAL difference = NAME(column_dot)(B, p, p) - NAME(column_dot)(B, q, q);
    REAL overlap = 2 * NAME(column_dot)(B, p, q), d = fabs(difference), o = fabs(overlap);
    REAL numerator = o * (d + a * o), denominator = 4 * d * d + o * (four_a * d + four_b * o);
    REAL length2 = NAME(square)(numerator) + NAME(square)(denominator), inverse = 1 / length2;
    REAL c = (NAME(square)(denominator) - NAME(square)(numerator)) * inverse;
    REAL s = 2 * numerator * denominator * inverse;
    c = length2 < NEGLIGIBLE ? 1 : c;
    s = length2 < NEGLIGIBLE ? 0 : s;
    *out_c = difference < 0 ? s : c;
    *out_s = copysign(difference < 0 ? c : s, overlap);
}

SN_INLINE void NAME(rotate_columns)(REAL M[9], int p, int q, REAL c, REAL s) {
    for (int i = 0; i < 9; i += 3) {
        REAL a = M[i + p], b = M[i + q];
        M[i + p] = c * a + s * b;
        M[i + q] = c * b - s * a;
    }
}

SN_INLINE void NAME(orthogonalize)(REAL B[9], REAL V[9], int p, int q) {
    REAL c, s;
    NAME(choose_rotation)(B, p, q, &c, &s);
    NAME(rotate_columns)(B, p, q, c, s);
    NAME(rotate_columns)(V, p, q, c, s);
}

/// U and s from B = U diag(s), columns orthogonal to rounding of the longest. U is a rotation to rounding
/// whatever B: its first column completes to a frame (Duff et al. 2017, "Building an orthonormal basis,
/// revisited"), which turns about that column until the second axis lies along column 2 of B.
SN_INLINE void NAME(read_columns)(const REAL B[9], REAL U[9], REAL s[3]) {
    REAL length2 = NAME(column_dot)(B, 0, 0), length = sqrt(length2), inverse = 1 / length;
    REAL x = length2 < NEGLIGIBLE ? 1 : B[0] * inverse, y = length2 < NEGLIGIBLE ? 0 : B[3] * inverse;
    REAL z = length2 < NEGLIGIBLE ? 0 : B[6] * inverse;
    REAL sign = copysign((REAL)1, z), a = -1 / (sign + z), b = x * y * a;
    REAL e[3] = {1 + sign * x * x * a, sign * b, -sign * x}, f[3] = {b, sign + y * y * a, -y};
    REAL along_e = e[0] * B[1] + e[1] * B[4] + e[2] * B[7];
    REAL along_f = f[0] * B[1] + f[1] * B[4] + f[2] * B[7];
    REAL second2 = NAME(square)(along_e) + NAME(square)(along_f), second = sqrt(second2);
    REAL second_inverse = 1 / second;
    REAL c = second2 < NEGLIGIBLE ? 1 : along_e * second_inverse;
    REAL t = second2 < NEGLIGIBLE ? 0 : along_f * second_inverse;
    U[0] = x, U[3] = y, U[6] = z;
    REAL third = 0;
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

/// Makes columns p and q of B orthogonal in every lane and turns those of V with them. One pair after the
/// other over all lanes: what a rotation waits for lies far behind then.
SN_INLINE void NAME(orthogonalize_lanes)(REAL B[restrict 9][SN_LANES], REAL V[restrict 9][SN_LANES], int p,
                                         int q) {
    for (int lane = 0; lane < SN_LANES; lane++) {
        REAL b[9], v[9];
        for (int i = 0; i < 9; i++)
            b[i] = B[i][lane], v[i] = V[i][lane];
        NAME(orthogonalize)(b, v, p, q);
        for (int i = 0; i < 9; i += 3) {
            B[i + p][lane] = b[i + p], B[i + q][lane] = b[i + q];
            V[i + p][lane] = v[i + p], V[i + q][lane] = v[i + q];
        }
    }
}

/// Turns the columns of B, and those of V with them, until B's are orthogonal.
SN_CLONES static void NAME(sn_svd3_sweep)(int sweep_count, REAL B[restrict 9][SN_LANES],
                                          REAL V[restrict 9][SN_LANES]) {
    for (int sweep = 0; sweep < sweep_count; sweep++) {
        NAME(orthogonalize_lanes)(B, V, 0, 1);
        NAME(orthogonalize_lanes)(B, V, 0, 2);
        NAME(orthogonalize_lanes)(B, V, 1, 2);
    }
}

SN_CLONES static void NAME(sn_svd3_read)(const REAL B[restrict 9][SN_LANES], REAL U[restrict 9][SN_LANES],
                                         REAL s[restrict 3][SN_LANES]) {
    for (int lane = 0; lane < SN_LANES; lane++) {
        REAL b[9], u[9], values[3];
        for (int i = 0; i < 9; i++)
            b[i] = B[i][lane];
        NAME(read_columns)(b, u, values);
        for (int i = 0; i < 9; i++)
            U[i][lane] = u[i];
        for (int i = 0; i < 3; i++)
            s[i][lane] = values[i];
    }
}
