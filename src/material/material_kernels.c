// Every material here is isotropic: with F = U diag(s) V' the energy density depends on s alone and P = U
// diag(g) V', g_i = dpsi/ds_i. A kernel is the SVD, the material's own psi and g, and the product. psi is
// summed from s and not from F, so that it is the same with and without P.
#include "material/material_kernels.h"

#include "base/base_parallel.h"

/// mu |s - 1|^2 and its slope 2 mu (s - 1).
SN_CLONES static void sn_material_stretch_part(const double s[restrict 3][SN_LANES],
                                               const double mu[restrict SN_LANES],
                                               double psi[restrict SN_LANES],
                                               double g[restrict 3][SN_LANES]) {
    for (int lane = 0; lane < SN_LANES; lane++) {
        double a = s[0][lane] - 1, b = s[1][lane] - 1, c = s[2][lane] - 1, m = mu[lane];
        psi[lane] = m * (a * a + b * b + c * c);
        g[0][lane] = 2 * m * a, g[1][lane] = 2 * m * b, g[2][lane] = 2 * m * c;
    }
}

/// Adds (3 lambda / 2) |s - p|^2. Its slope is 3 lambda (s - p), because p is the nearest point.
SN_CLONES static void sn_material_volume_part(const double s[restrict 3][SN_LANES],
                                              const double p[restrict 3][SN_LANES],
                                              const double lambda[restrict SN_LANES],
                                              double psi[restrict SN_LANES], double g[restrict 3][SN_LANES]) {
    for (int lane = 0; lane < SN_LANES; lane++) {
        double a = s[0][lane] - p[0][lane], b = s[1][lane] - p[1][lane], c = s[2][lane] - p[2][lane];
        double k = 3 * lambda[lane];
        psi[lane] += 0.5 * k * (a * a + b * b + c * c);
        g[0][lane] += k * a, g[1][lane] += k * b, g[2][lane] += k * c;
    }
}

/// Adds (lambda / 2) (s1 + s2 + s3 - 3)^2.
SN_CLONES static void sn_material_trace_part(const double s[restrict 3][SN_LANES],
                                             const double lambda[restrict SN_LANES],
                                             double psi[restrict SN_LANES], double g[restrict 3][SN_LANES]) {
    for (int lane = 0; lane < SN_LANES; lane++) {
        double trace = (s[0][lane] - 1) + (s[1][lane] - 1) + (s[2][lane] - 1),
               pressure = lambda[lane] * trace;
        psi[lane] += 0.5 * pressure * trace;
        g[0][lane] += pressure, g[1][lane] += pressure, g[2][lane] += pressure;
    }
}

/// Adds stiff |s - c|^2, c = s held between the limits. Its slope is 2 stiff (s - c), because c is the
/// nearest point. s3 < 0 of inverted elements is below any limit.
SN_CLONES static void sn_material_limit_part(const double s[restrict 3][SN_LANES],
                                             const sn_material_limits *restrict limits,
                                             const double stiff[restrict SN_LANES],
                                             double psi[restrict SN_LANES], double g[restrict 3][SN_LANES]) {
    for (int i = 0; i < 3; i++)
        for (int lane = 0; lane < SN_LANES; lane++) {
            double low = limits->low[lane], high = limits->high[lane], at = s[i][lane];
            double raised = at < low ? low : at, beyond = at - (raised > high ? high : raised);
            psi[lane] += stiff[lane] * beyond * beyond;
            g[i][lane] += 2 * stiff[lane] * beyond;
        }
}

/// P = U diag(g) V'.
SN_CLONES static void sn_material_stress(const double U[restrict 9][SN_LANES],
                                         const double g[restrict 3][SN_LANES],
                                         const double V[restrict 9][SN_LANES],
                                         double P[restrict 9][SN_LANES]) {
    for (int lane = 0; lane < SN_LANES; lane++) {
        for (int i = 0; i < 9; i += 3) {
            double a = U[i][lane] * g[0][lane], b = U[i + 1][lane] * g[1][lane],
                   c = U[i + 2][lane] * g[2][lane];
            for (int j = 0; j < 3; j++)
                P[i + j][lane] = a * V[3 * j][lane] + b * V[3 * j + 1][lane] + c * V[3 * j + 2][lane];
        }
    }
}

static bool any_above_zero(const double values[SN_LANES]) {
    bool any = false;
    for (int lane = 0; lane < SN_LANES; lane++)
        any = any || values[lane] > 0;
    return any;
}

void sn_material_corotated(const double F[9][SN_LANES], const double mu[SN_LANES],
                           const double lambda[SN_LANES], const sn_material_limits *limits,
                           double psi[SN_LANES], double (*P)[SN_LANES]) {
    (void)limits;
    SN_VECTOR_MEMORY double U[9][SN_LANES], V[9][SN_LANES], s[3][SN_LANES], g[3][SN_LANES], p[3][SN_LANES];
    sn_svd3_wide(F, U, s, V);
    sn_material_stretch_part(s, mu, psi, g);
    if (any_above_zero(lambda)) {
        sn_nearest_unit_product3_wide(s, p);
        sn_material_volume_part(s, p, lambda, psi, g);
    }
    if (P)
        sn_material_stress(U, g, V, P);
}

void sn_material_arap(const double F[9][SN_LANES], const double mu[SN_LANES], const double lambda[SN_LANES],
                      const sn_material_limits *limits, double psi[SN_LANES], double (*P)[SN_LANES]) {
    (void)lambda, (void)limits;
    SN_VECTOR_MEMORY double U[9][SN_LANES], V[9][SN_LANES], s[3][SN_LANES], g[3][SN_LANES];
    sn_svd3_wide(F, U, s, V);
    sn_material_stretch_part(s, mu, psi, g);
    if (P)
        sn_material_stress(U, g, V, P);
}

void sn_material_corotated_linear(const double F[9][SN_LANES], const double mu[SN_LANES],
                                  const double lambda[SN_LANES], const sn_material_limits *limits,
                                  double psi[SN_LANES], double (*P)[SN_LANES]) {
    (void)limits;
    SN_VECTOR_MEMORY double U[9][SN_LANES], V[9][SN_LANES], s[3][SN_LANES], g[3][SN_LANES];
    sn_svd3_wide(F, U, s, V);
    sn_material_stretch_part(s, mu, psi, g);
    sn_material_trace_part(s, lambda, psi, g);
    if (P)
        sn_material_stress(U, g, V, P);
}

void sn_material_biphasic(const double F[9][SN_LANES], const double mu[SN_LANES],
                          const double lambda[SN_LANES], const sn_material_limits *limits,
                          double psi[SN_LANES], double (*P)[SN_LANES]) {
    SN_VECTOR_MEMORY double U[9][SN_LANES], V[9][SN_LANES], s[3][SN_LANES], g[3][SN_LANES];
    sn_svd3_wide(F, U, s, V);
    sn_material_stretch_part(s, mu, psi, g);
    sn_material_limit_part(s, limits, lambda, psi, g);
    if (P)
        sn_material_stress(U, g, V, P);
}
