// Fast kernels against those in double, over all kinds of F: equal to what rounding of doubles leaves, near
// rest too, where the difference of F and R has lost most of its digits in floats.
#include "test_support.h"

#include "material/material_model.h"
#include "unit/math/math_samples.h"

enum { MODELS = 4, REPEATS = 200, KINDS = SAMPLE_KINDS + 6 };

static const double STRETCH_MIN = 0.8, STRETCH_MAX = 1.26;

/// Two stretches, or all, within 1e-9 to 0.1 of one limit, where the slope of the biphasic energy has kinks.
static void sample_near_limit(sn_random *random, bool is_low, double F[9]) {
    double s[3], at = is_low ? STRETCH_MIN : STRETCH_MAX, other = sn_random_range(random, 0.7, 1.4);
    for (int i = 0; i < 3; i++)
        s[i] = at + sample_decades(random, -9, -1) * sn_random_range(random, -1, 1);
    if (sn_random_range(random, 0, 1) < 0.5)
        s[2] = other;
    sample_with_values(random, s[0], s[1], s[2], F);
}

/// The kinds of math_samples.h, strains from 1e-8 to 0.5 under a rotation, and stretches near limits.
static void sample_strained(sn_random *random, int kind, double F[9]) {
    if (kind < SAMPLE_KINDS) {
        sample_matrix(random, kind, F);
        return;
    }
    if (kind >= SAMPLE_KINDS + 4) {
        sample_near_limit(random, kind == KINDS - 1, F);
        return;
    }
    static const double strains[] = {1e-8, 1e-4, 0.05, 0.5};
    double R[9], S[9];
    sample_rotation(random, R);
    sample_normal(random, 1, strains[kind - SAMPLE_KINDS], S);
    sn_mul33(R, S, F);
}

typedef struct block {
    double F[9][SN_LANES], mu[SN_LANES], lambda[SN_LANES];
    sn_material_limits limits;
    double psi[2][SN_LANES], P[2][9][SN_LANES]; ///< by the kernel in double and the fast one
} block;

static void evaluate(sn_random *random, int kind, int model, block *b) {
    const sn_material_info *info = sn_material_info_of((sn_material_model)model);
    for (int lane = 0; lane < SN_LANES; lane++) {
        double F[9];
        sample_strained(random, kind, F);
        for (int i = 0; i < 9; i++)
            b->F[i][lane] = F[i];
        b->mu[lane] = 1;
        b->limits.low[lane] = STRETCH_MIN, b->limits.high[lane] = STRETCH_MAX;
        b->lambda[lane] = model == SN_MATERIAL_ARAP ? 0 : lane % 3 * 4.0;
    }
    info->kernel((const double(*)[SN_LANES])b->F, b->mu, b->lambda, &b->limits, b->psi[0], b->P[0]);
    info->fast_kernel((const double(*)[SN_LANES])b->F, b->mu, b->lambda, &b->limits, b->psi[1], b->P[1]);
}

/// Largest difference of stresses, relative to that of a strain of 1 and to |F|, and of energies, relative
/// to what an error of 1e-15 |F| in s makes of them.
static void compare(const block *b, int lane, int kind, int model) {
    double F[9], difference[9], stiffness = b->mu[lane] + b->lambda[lane];
    for (int i = 0; i < 9; i++) {
        F[i] = b->F[i][lane];
        difference[i] = b->P[1][i][lane] - b->P[0][i][lane];
    }
    double size = 1 + sample_norm(F), strain = sqrt(b->psi[0][lane] / stiffness);
    double stress_error = sample_norm(difference) / (stiffness * size);
    double energy_error = fabs(b->psi[1][lane] - b->psi[0][lane]) / (stiffness * size);
    if (!(stress_error <= test_tolerance(2e-12)))
        fail_msg("model %d, kind %d: stress is off by %g", model, kind, stress_error);
    if (!(energy_error <= test_tolerance(1e-13) * (strain + 1e-7)))
        fail_msg("model %d, kind %d, strain %g: energy is off by %g", model, kind, strain, energy_error);
}

static void agrees_with_double(void **state) {
    (void)state;
    sn_random random = sn_random_make(1);
    for (int model = 0; model < MODELS; model++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int repeat = 0; repeat < REPEATS; repeat++) {
                block b;
                evaluate(&random, kind, model, &b);
                for (int lane = 0; lane < SN_LANES; lane++)
                    compare(&b, lane, kind, model);
            }
}

/// Most lanes of a body that is not torn are done by floats: the test above would pass without any.
static void is_another_kernel(void **state) {
    (void)state;
    sn_random random = sn_random_make(2);
    for (int model = 0; model < MODELS; model++) {
        int differ = 0;
        for (int repeat = 0; repeat < REPEATS; repeat++) {
            block b;
            evaluate(&random, SAMPLE_KINDS + 2, model, &b);
            for (int lane = 0; lane < SN_LANES; lane++)
                differ += b.P[0][0][lane] != b.P[1][0][lane];
        }
        assert_true(differ > REPEATS * SN_LANES / 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_double),
                                       cmocka_unit_test(is_another_kernel)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
