/// The curve of candidates and Newton's sequence on it, in one precision; included by math_project.c, which
/// defines the macros used here:
///
/// REAL       double or float
/// NAME(name) the function's name in that precision
/// SMALLEST   the smallest normal number
/// LAST_STEP  relative size of a step after which Newton's next error is below rounding. A lane that made
///            such a step rests, so that its result does not depend on its neighbors.
///
/// Functions of <tgmath.h> take the precision of their arguments.

SN_INLINE REAL NAME(larger)(REAL a, REAL b) {
    return a > b ? a : b;
}

SN_INLINE REAL NAME(smaller)(REAL a, REAL b) {
    return a < b ? a : b;
}

/// p1, p2 on the curve of candidates and the slopes of log p, times p, along u.
SN_INLINE void NAME(follow_curve)(REAL s1, REAL s2, REAL s3, REAL u, REAL p[2], REAL slope[2]) {
    REAL v = 2 * u - s3;
    REAL r1 = sqrt(v * v + (s1 - s3) * (s1 + s3)), r2 = sqrt(v * v + (s2 - s3) * (s2 + s3));
    p[0] = (s1 + r1) / 2, p[1] = (s2 + r2) / 2;
    // |v| <= r: where r vanishes the slope is somewhere between -1 and 1, and 0 will do.
    slope[0] = v / NAME(larger)(r1, SMALLEST);
    slope[1] = v / NAME(larger)(r2, SMALLEST);
}

/// Newton step of product(u) = 1.
SN_INLINE REAL NAME(newton_step)(REAL s1, REAL s2, REAL s3, REAL u) {
    REAL p[2], slope[2];
    NAME(follow_curve)(s1, s2, s3, u, p, slope);
    REAL both = p[0] * p[1];
    return (1 - u * both) / (both + u * (slope[0] * p[1] + slope[1] * p[0]));
}

/// Solves product(u) = 1 in every lane from the guess in u, staying in low..high.
SN_CLONES static void NAME(sn_unit_product_solve)(const REAL s[restrict 3][SN_LANES],
                                                  const REAL low[restrict SN_LANES],
                                                  const REAL high[restrict SN_LANES],
                                                  REAL u[restrict SN_LANES]) {
    SN_VECTOR_MEMORY REAL resting[SN_LANES] = {0}; // Above 0 from the last step on.
    for (int step_count = 0; step_count < STEP_LIMIT; step_count++) {
        REAL moving = 0;
        for (int lane = 0; lane < SN_LANES; lane++) {
            REAL now = u[lane], step = NAME(newton_step)(s[0][lane], s[1][lane], s[2][lane], now);
            REAL next = NAME(smaller)(NAME(larger)(now + step, low[lane]), high[lane]);
            u[lane] = resting[lane] > 0 ? now : next;
            resting[lane] += fabs(next - now) > LAST_STEP * now ? 0 : 1;
            moving += resting[lane] > 0 ? 0 : 1;
        }
        if (!(moving > 0))
            return;
    }
}

/// Bounds of the largest root. An entry of p is at least s_i and the last is the least if the product has to
/// grow, and at most s_i if it has to shrink.
SN_CLONES static void NAME(sn_unit_product_bounds)(const REAL s[restrict 3][SN_LANES],
                                                   REAL low[restrict SN_LANES], REAL high[restrict SN_LANES],
                                                   REAL product[restrict SN_LANES]) {
    for (int lane = 0; lane < SN_LANES; lane++) {
        REAL pair = s[0][lane] * s[1][lane], least = 1 / pair;
        REAL grows = NAME(smaller)(1, NAME(smaller)(1 / sqrt(s[0][lane]), least));
        REAL shrinks = NAME(smaller)(1, s[2][lane]);
        product[lane] = pair * s[2][lane];
        low[lane] = product[lane] < 1 ? 0 : NAME(smaller)(least, shrinks);
        high[lane] = product[lane] < 1 ? grows : shrinks;
    }
}
