// The kernels of `precision: fast`: the decomposition runs in floats, and what that leaves is corrected for
// in doubles, so that energies and stresses are as good as those of the kernels in double to about 1e-12.
//
// With F = U A V', U and V rotations to rounding of doubles, A is diagonal but for entries of about 1e-7 |F|:
// the pair ij and ji has the mean m and the half difference w. Turning w away leaves the diagonal
//     a_i = A_ii + sum over j of w^2 / (A_ii + A_jj),
// and m is dealt with by what psi, which depends on singular values alone, is around a. With g_i = dpsi/ds_i,
//     d = (g_i - g_j) / (a_i - a_j),    r = (g_i + g_j) / (a_i + a_j),
// psi grows by m^2 d, and in the frame of U and V the stress is P_ii = g_i, P_ij = m d + w r, P_ji = m d - w
// r. What is left out is of second order in P and of third order in psi. Each material knows d in a form
// without the difference below the line. Near a_i + a_j = 0, where the nearest rotation jumps, and where
// floats lack range, a lane is left to the kernel in double.
//
// Without the corrections energies would carry noise of 1e-7 mu |F - R|, in which line searches near rest get
// lost, and stresses a torque that turns free bodies.
//
// Rejected: all in floats, with the elements' data in floats, too. Stresses with noise of 1e-7 would put
// torques on stiff free bodies and stop the minimizer above small tolerances.
#include "material/material_kernels.h"

#include "base/base_parallel.h"

#include <math.h>

/// Least (a_2 + a_3) / a_1 that is left to floats: the error of a rotation is 1e-14 over its square.
#define LEAST_SUM 0.2
/// Range of a_1 and bound of a_1 a_2 a_3: with more, the nearest point of determinant 1 may be another root.
#define LEAST_STRETCH 1e-4
#define MOST_STRETCH  1e4
#define MOST_VOLUME   1.9
/// Least distance from a limit of stretch of one at least of two axes: what is left out is 1e-14 over it.
#define LEAST_GAP 0.02

/// A block on its way. Pairs of axes are (2, 3), (1, 3), (1, 2): the axis that is left out is their index.
typedef struct fast_block {
    double U[9][SN_LANES], A[9][SN_LANES], V[9][SN_LANES];
    double a[3][SN_LANES];           ///< diagonal of A with w turned away
    double inverse_sum[3][SN_LANES]; ///< 1 / (a_i + a_j)
    double g[3][SN_LANES];
    double d[3][SN_LANES], r[3][SN_LANES];
} fast_block;

/// First and second axis of each pair.
static const int pair_axis[3][2] = {{1, 2}, {0, 2}, {0, 1}};

/// Finds the diagonal; `ordinary` becomes 1 for lanes that are within the range of floats, 0 for others, NaN
/// in F among them.
SN_CLONES static void sn_fast_begin(fast_block *restrict b, double ordinary[restrict SN_LANES]) {
    for (int lane = 0; lane < SN_LANES; lane++) {
        double a0 = b->A[0][lane], a1 = b->A[4][lane], a2 = b->A[8][lane];
        double w0 = 0.5 * (b->A[5][lane] - b->A[7][lane]), w1 = 0.5 * (b->A[2][lane] - b->A[6][lane]);
        double w2 = 0.5 * (b->A[1][lane] - b->A[3][lane]);
        double i0 = 1 / (a1 + a2), i1 = 1 / (a0 + a2), i2 = 1 / (a0 + a1);
        double shift0 = w0 * w0 * i0, shift1 = w1 * w1 * i1, shift2 = w2 * w2 * i2;
        b->a[0][lane] = a0 + (shift1 + shift2);
        b->a[1][lane] = a1 + (shift0 + shift2);
        b->a[2][lane] = a2 + (shift0 + shift1);
        b->inverse_sum[0][lane] = i0, b->inverse_sum[1][lane] = i1, b->inverse_sum[2][lane] = i2;
        double shape = a1 + a2 > LEAST_SUM * a0 ? 1 : 0, low = a0 > LEAST_STRETCH ? 1 : 0;
        double high = a0 < MOST_STRETCH ? 1 : 0, volume = a0 * a1 * a2 < MOST_VOLUME ? 1 : 0;
        ordinary[lane] = shape * low * high * volume;
    }
}

/// mu |s - 1|^2.
SN_CLONES static void sn_fast_stretch_part(fast_block *restrict b, const double mu[restrict SN_LANES],
                                           double psi[restrict SN_LANES]) {
    for (int lane = 0; lane < SN_LANES; lane++) {
        double x = b->a[0][lane] - 1, y = b->a[1][lane] - 1, z = b->a[2][lane] - 1, m = mu[lane];
        psi[lane] = m * (x * x + y * y + z * z);
        b->g[0][lane] = 2 * m * x, b->g[1][lane] = 2 * m * y, b->g[2][lane] = 2 * m * z;
        for (int k = 0; k < 3; k++) {
            b->d[k][lane] = 2 * m;
            b->r[k][lane] = 2 * m * (1 - 2 * b->inverse_sum[k][lane]);
        }
    }
}

/// Adds (3 lambda / 2) |s - p|^2, p the nearest point of product 1. p_i (p_i - a_i) = t is the same for all
/// i, whence (p_i - p_j) / (a_i - a_j) = 1 / (1 + t p_k).
SN_CLONES static void sn_fast_volume_part(fast_block *restrict b, const double p[restrict 3][SN_LANES],
                                          const double lambda[restrict SN_LANES],
                                          double psi[restrict SN_LANES]) {
    for (int lane = 0; lane < SN_LANES; lane++) {
        double q[3] = {p[0][lane], p[1][lane], p[2][lane]}, k = 3 * lambda[lane];
        double x = b->a[0][lane] - q[0], y = b->a[1][lane] - q[1], z = b->a[2][lane] - q[2], t = -q[2] * z;
        psi[lane] += 0.5 * k * (x * x + y * y + z * z);
        b->g[0][lane] += k * x, b->g[1][lane] += k * y, b->g[2][lane] += k * z;
        b->d[0][lane] += k - k / (1 + t * q[0]);
        b->d[1][lane] += k - k / (1 + t * q[1]);
        b->d[2][lane] += k - k / (1 + t * q[2]);
        b->r[0][lane] += k - k * (q[1] + q[2]) * b->inverse_sum[0][lane];
        b->r[1][lane] += k - k * (q[0] + q[2]) * b->inverse_sum[1][lane];
        b->r[2][lane] += k - k * (q[0] + q[1]) * b->inverse_sum[2][lane];
    }
}

/// Adds (lambda / 2) (s1 + s2 + s3 - 3)^2.
SN_CLONES static void sn_fast_trace_part(fast_block *restrict b, const double lambda[restrict SN_LANES],
                                         double psi[restrict SN_LANES]) {
    for (int lane = 0; lane < SN_LANES; lane++) {
        double trace = (b->a[0][lane] - 1) + (b->a[1][lane] - 1) + (b->a[2][lane] - 1);
        double pressure = lambda[lane] * trace;
        psi[lane] += 0.5 * pressure * trace;
        for (int k = 0; k < 3; k++) {
            b->g[k][lane] += pressure;
            b->r[k][lane] += 2 * pressure * b->inverse_sum[k][lane];
        }
    }
}

/// 1 if a stretch is farther than LEAST_GAP from a limit, otherwise 0.
static inline double is_off(double stretch, double limit) {
    return fabs(stretch - limit) > LEAST_GAP ? 1 : 0;
}

/// Adds stiff |a - c|^2, c = a held between the limits. (c_i - c_j) / (a_i - a_j) is between 0 and 1, and
/// exact where it is one of them. The slope has kinks at the limits: between two axes that are near the same
/// one, what is left out is of first order, and such lanes are no longer ordinary.
SN_CLONES static void sn_fast_limit_part(fast_block *restrict b, const sn_material_limits *restrict limits,
                                         const double stiff[restrict SN_LANES], double psi[restrict SN_LANES],
                                         double ordinary[restrict SN_LANES]) {
    double c[3][SN_LANES];
    for (int i = 0; i < 3; i++)
        for (int lane = 0; lane < SN_LANES; lane++) {
            double low = limits->low[lane], high = limits->high[lane], at = b->a[i][lane];
            double raised = at < low ? low : at, held = raised > high ? high : raised;
            c[i][lane] = held;
            psi[lane] += stiff[lane] * (at - held) * (at - held);
            b->g[i][lane] += 2 * stiff[lane] * (at - held);
        }
    for (int k = 0; k < 3; k++) {
        const double *ai = b->a[pair_axis[k][0]], *aj = b->a[pair_axis[k][1]];
        const double *ci = c[pair_axis[k][0]], *cj = c[pair_axis[k][1]];
        for (int lane = 0; lane < SN_LANES; lane++) {
            double low = limits->low[lane], high = limits->high[lane], stiffness = 2 * stiff[lane];
            double gap = ai[lane] - aj[lane], within = ai[lane] > low && ai[lane] < high ? 1 : 0;
            double slope = gap != 0 ? (ci[lane] - cj[lane]) / gap : within;
            b->d[k][lane] += stiffness * (1 - slope);
            b->r[k][lane] += stiffness * (1 - (ci[lane] + cj[lane]) * b->inverse_sum[k][lane]);
            double off_low = is_off(ai[lane], low) + is_off(aj[lane], low);
            double off_high = is_off(ai[lane], high) + is_off(aj[lane], high);
            ordinary[lane] *= off_low * off_high > 0 ? 1 : 0;
        }
    }
}

/// Corrects psi for A's other entries and puts the stress in the frame of U and V in the place of A.
SN_CLONES static void sn_fast_correct(fast_block *restrict b, double psi[restrict SN_LANES]) {
    for (int k = 0; k < 3; k++) {
        double *ij = b->A[3 * pair_axis[k][0] + pair_axis[k][1]];
        double *ji = b->A[3 * pair_axis[k][1] + pair_axis[k][0]];
        const double *d = b->d[k], *r = b->r[k], *g = b->g[k];
        double *diagonal = b->A[4 * k];
        for (int lane = 0; lane < SN_LANES; lane++) {
            double m = 0.5 * (ij[lane] + ji[lane]), w = 0.5 * (ij[lane] - ji[lane]);
            double md = m * d[lane], wr = w * r[lane];
            psi[lane] += m * md;
            ij[lane] = md + wr, ji[lane] = md - wr;
            diagonal[lane] = g[lane];
        }
    }
}

/// P = U A V'.
SN_CLONES static void sn_fast_stress(const fast_block *restrict b, double P[restrict 9][SN_LANES]) {
    for (int lane = 0; lane < SN_LANES; lane++)
        for (int i = 0; i < 9; i += 3) {
            double row[3];
            for (int j = 0; j < 3; j++)
                row[j] = b->U[i][lane] * b->A[j][lane] + b->U[i + 1][lane] * b->A[3 + j][lane] +
                         b->U[i + 2][lane] * b->A[6 + j][lane];
            for (int j = 0; j < 9; j += 3)
                P[i + j / 3][lane] =
                    row[0] * b->V[j][lane] + row[1] * b->V[j + 1][lane] + row[2] * b->V[j + 2][lane];
        }
}

/// Puts the results of the kernel in double into the lanes that floats cannot do. They are computed for the
/// whole block, and so do not depend on which lanes these are.
static void replace_others(sn_material_kernel *kernel, const double ordinary[SN_LANES],
                           const double F[9][SN_LANES], const double mu[SN_LANES],
                           const double lambda[SN_LANES], const sn_material_limits *limits,
                           double psi[SN_LANES], double (*P)[SN_LANES]) {
    SN_VECTOR_MEMORY double psi_exact[SN_LANES], P_exact[9][SN_LANES];
    double count = 0;
    for (int lane = 0; lane < SN_LANES; lane++)
        count += ordinary[lane];
    if (count == SN_LANES)
        return;
    kernel(F, mu, lambda, limits, psi_exact, P ? P_exact : NULL);
    for (int lane = 0; lane < SN_LANES; lane++) {
        if (ordinary[lane] > 0)
            continue;
        psi[lane] = psi_exact[lane];
        for (int i = 0; P && i < 9; i++)
            P[i][lane] = P_exact[i][lane];
    }
}

static bool any_above_zero(const double values[SN_LANES]) {
    bool any = false;
    for (int lane = 0; lane < SN_LANES; lane++)
        any = any || values[lane] > 0;
    return any;
}

void sn_material_corotated_fast(const double F[9][SN_LANES], const double mu[SN_LANES],
                                const double lambda[SN_LANES], const sn_material_limits *limits,
                                double psi[SN_LANES], double (*P)[SN_LANES]) {
    SN_VECTOR_MEMORY fast_block b;
    SN_VECTOR_MEMORY double ordinary[SN_LANES], p[3][SN_LANES];
    sn_svd3_near_wide(F, b.U, b.A, b.V);
    sn_fast_begin(&b, ordinary);
    sn_fast_stretch_part(&b, mu, psi);
    if (any_above_zero(lambda)) {
        sn_nearest_unit_product3_near_wide((const double(*)[SN_LANES])b.a, p);
        sn_fast_volume_part(&b, (const double(*)[SN_LANES])p, lambda, psi);
    }
    sn_fast_correct(&b, psi);
    if (P)
        sn_fast_stress(&b, P);
    replace_others(sn_material_corotated, ordinary, F, mu, lambda, limits, psi, P);
}

void sn_material_arap_fast(const double F[9][SN_LANES], const double mu[SN_LANES],
                           const double lambda[SN_LANES], const sn_material_limits *limits,
                           double psi[SN_LANES], double (*P)[SN_LANES]) {
    SN_VECTOR_MEMORY fast_block b;
    SN_VECTOR_MEMORY double ordinary[SN_LANES];
    sn_svd3_near_wide(F, b.U, b.A, b.V);
    sn_fast_begin(&b, ordinary);
    sn_fast_stretch_part(&b, mu, psi);
    sn_fast_correct(&b, psi);
    if (P)
        sn_fast_stress(&b, P);
    replace_others(sn_material_arap, ordinary, F, mu, lambda, limits, psi, P);
}

void sn_material_corotated_linear_fast(const double F[9][SN_LANES], const double mu[SN_LANES],
                                       const double lambda[SN_LANES], const sn_material_limits *limits,
                                       double psi[SN_LANES], double (*P)[SN_LANES]) {
    SN_VECTOR_MEMORY fast_block b;
    SN_VECTOR_MEMORY double ordinary[SN_LANES];
    sn_svd3_near_wide(F, b.U, b.A, b.V);
    sn_fast_begin(&b, ordinary);
    sn_fast_stretch_part(&b, mu, psi);
    sn_fast_trace_part(&b, lambda, psi);
    sn_fast_correct(&b, psi);
    if (P)
        sn_fast_stress(&b, P);
    replace_others(sn_material_corotated_linear, ordinary, F, mu, lambda, limits, psi, P);
}

void sn_material_biphasic_fast(const double F[9][SN_LANES], const double mu[SN_LANES],
                               const double lambda[SN_LANES], const sn_material_limits *limits,
                               double psi[SN_LANES], double (*P)[SN_LANES]) {
    SN_VECTOR_MEMORY fast_block b;
    SN_VECTOR_MEMORY double ordinary[SN_LANES];
    sn_svd3_near_wide(F, b.U, b.A, b.V);
    sn_fast_begin(&b, ordinary);
    sn_fast_stretch_part(&b, mu, psi);
    sn_fast_limit_part(&b, limits, lambda, psi, ordinary);
    sn_fast_correct(&b, psi);
    if (P)
        sn_fast_stress(&b, P);
    replace_others(sn_material_biphasic, ordinary, F, mu, lambda, limits, psi, P);
}
