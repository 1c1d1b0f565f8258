// P = dpsi/dF of every material against central differences, at random, dilated, flat and inverted F. The
// step shrinks and the best error counts: it must reach what rounding allows.
#include "test_support.h"

#include "material/material_model.h"
#include "unit/math/math_samples.h"

enum { MODELS = 4, CASES = 5, REPEATS = 60 };

/// F with smooth neighborhoods: away from s2 + s3 = 0, where the rotation jumps.
static void sample_smooth(sn_random *random, int kind, double F[9]) {
    double s1 = sn_random_range(random, 0.9, 1.6), s2 = sn_random_range(random, 0.5, 0.9);
    switch (kind) {
    case 0:
        sample_normal(random, 1, 0.1, F);
        return;
    case 1: // flat
        sample_with_values(random, s1, s2, 0, F);
        return;
    case 2: // inverted
        sample_with_values(random, s1, s2, -sn_random_range(random, 0, s2 - 0.2), F);
        return;
    case 3: // much larger than at rest: the nearest matrix of determinant 1 is far and not isotropic
        sample_with_values(random, 2 * s1 + 0.8, 3 * s2 + 1, sn_random_range(random, 2.3, 2.4), F);
        return;
    default: // nearly a point
        sample_with_values(random, 0.1 * s1, 0.1 * s2, 0.03 * s2, F);
    }
}

/// Energies of one F with entry `entry` moved by +h and -h, as a difference quotient.
static double quotient(const sn_material_info *info, double mu, double lambda, const double F[9], int entry,
                       double h) {
    double wide[9][SN_LANES], mus[SN_LANES], lambdas[SN_LANES], psi[SN_LANES];
    sn_material_limits limits;
    for (int lane = 0; lane < SN_LANES; lane++) {
        for (int i = 0; i < 9; i++)
            wide[i][lane] = F[i] + (i == entry ? (lane % 2 ? -h : h) : 0);
        mus[lane] = mu, lambdas[lane] = lambda;
        limits.low[lane] = 0.8, limits.high[lane] = 1.26;
    }
    info->kernel(wide, mus, lambdas, &limits, psi, NULL);
    return (psi[0] - psi[1]) / (wide[entry][0] - wide[entry][1]);
}

static void stress_of(const sn_material_info *info, double mu, double lambda, const double F[9],
                      double out[9]) {
    double wide[9][SN_LANES], mus[SN_LANES], lambdas[SN_LANES], psi[SN_LANES], P[9][SN_LANES];
    sn_material_limits limits;
    for (int lane = 0; lane < SN_LANES; lane++) {
        for (int i = 0; i < 9; i++)
            wide[i][lane] = F[i];
        mus[lane] = mu, lambdas[lane] = lambda;
        limits.low[lane] = 0.8, limits.high[lane] = 1.26;
    }
    info->kernel(wide, mus, lambdas, &limits, psi, P);
    for (int i = 0; i < 9; i++)
        out[i] = P[i][0];
}

static double best_error(const sn_material_info *info, double mu, double lambda, const double F[9]) {
    double P[9], best = INFINITY;
    stress_of(info, mu, lambda, F, P);
    for (double h = 1e-2; h > 1e-7; h /= 4) {
        double difference[9];
        for (int i = 0; i < 9; i++)
            difference[i] = quotient(info, mu, lambda, F, i, h) - P[i];
        best = fmin(best, sample_norm(difference) / sample_norm(P));
    }
    return best;
}

static void stress_is_the_derivative(void **state) {
    (void)state;
    static const double lambdas[] = {0, 1, 30};
    sn_random random = sn_random_make(1);
    for (int m = 0; m < 2 * MODELS; m++) {
        sn_material_info info = *sn_material_info_of((sn_material_model)(m % MODELS));
        if (m >= MODELS)
            info.kernel = info.fast_kernel;
        for (int kind = 0; kind < CASES; kind++)
            for (int repeat = 0; repeat < REPEATS; repeat++) {
                double F[9], lambda = info.model == SN_MATERIAL_ARAP ? 0 : lambdas[repeat % 3];
                sample_smooth(&random, kind, F);
                double error = best_error(&info, 1, lambda, F);
                if (!(error <= test_tolerance(1e-8)))
                    fail_msg("%s%s, kind %d, case %d: relative error %g", info.name,
                             m < MODELS ? "" : ", fast", kind, repeat, error);
            }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(stress_is_the_derivative)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
