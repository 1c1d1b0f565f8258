// The table of materials: what definitions it takes, moduli at small strain, closed forms, invariance, the
// bound that makes unit steps safe.
#include "test_support.h"

#include "material/material_def.h"
#include "material/material_model.h"
#include "unit/math/math_samples.h"

#define YOUNG       1e5
#define STRETCH_MIN 0.8
#define STRETCH_MAX 1.26

enum { MODELS = 4 };

typedef struct response {
    double psi, P[9];
} response;

static sn_material_limits make_limits(void) {
    sn_material_limits limits;
    for (int lane = 0; lane < SN_LANES; lane++)
        limits.low[lane] = STRETCH_MIN, limits.high[lane] = STRETCH_MAX;
    return limits;
}

/// One element through the wide kernel, in lane 2; the other lanes hold another F.
static response evaluate(const sn_material_info *info, double mu, double lambda, const double F[9]) {
    double wide[9][SN_LANES], mus[SN_LANES], lambdas[SN_LANES], psi[SN_LANES], P[9][SN_LANES];
    sn_material_limits limits = make_limits();
    for (int lane = 0; lane < SN_LANES; lane++) {
        for (int i = 0; i < 9; i++)
            wide[i][lane] = lane == 2 ? F[i] : (i % 4 == 0) + 0.1 * lane * (i % 3);
        mus[lane] = mu, lambdas[lane] = lambda;
    }
    info->kernel(wide, mus, lambdas, &limits, psi, P);
    response out = {.psi = psi[2]};
    for (int i = 0; i < 9; i++)
        out.P[i] = P[i][2];
    return out;
}

/// The entry of the table, with the fast kernel in the place of the other one if the group runs with those.
static sn_material_info choose_info(sn_material_model model, const void *is_fast) {
    sn_material_info info = *sn_material_info_of(model);
    if (is_fast)
        info.kernel = info.fast_kernel;
    return info;
}

static bool has_poisson(int model) {
    return sn_material_info_of((sn_material_model)model)->poisson_max > 0;
}

static sn_material_def make_def(sn_material_model model, double poisson) {
    sn_material_def def = sn_material_def_default();
    def.model = model;
    def.young = YOUNG;
    def.poisson = has_poisson(model) ? poisson : 0;
    return def;
}

static void table_is_in_order(void **state) {
    (void)state;
    int32_t count = 0;
    const sn_material_info *table = sn_material_table(&count);
    assert_int_equal(count, MODELS);
    assert_ptr_equal(table, sn_material_table(NULL));
    for (int32_t m = 0; m < count; m++) {
        assert_int_equal(table[m].model, m);
        assert_ptr_equal(sn_material_info_of(table[m].model), &table[m]);
        assert_true(*table[m].formula && *table[m].inversion);
    }
    // The field table of definitions knows the same names and ranges.
    for (size_t row = 0; row < sn_material_fields.row_count; row++) {
        const sn_field *field = &sn_material_fields.rows[row];
        if (field->key && strcmp(field->key, "model") == 0)
            for (int32_t m = 0; m < count; m++)
                assert_string_equal(field->choices[m].name, table[m].name);
        for (int32_t m = 0; m < count; m++) {
            sn_material_def def = make_def((sn_material_model)m, 0);
            if (field->key && strcmp(field->key, "poisson") == 0 && sn_field_applies(field, &def))
                assert_true(field->high == table[m].poisson_max);
        }
    }
}

static void refuse(sn_context *ctx, const sn_material_def *def, const char *field, const char *value) {
    assert_int_equal(sn_material_check(ctx, def), SN_ERR_INVALID_ARGUMENT);
    if (!strstr(sn_context_message(ctx), field) || !strstr(sn_context_message(ctx), value))
        fail_msg("\"%s\" should name %s and %s", sn_context_message(ctx), field, value);
}

static void definitions_are_checked(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    for (int m = 0; m < MODELS; m++) {
        sn_material_def good = make_def((sn_material_model)m, 0.4995), bad = good;
        assert_done(ctx, sn_material_check(ctx, &good));
        static const double wrong[] = {0, -1, NAN, INFINITY, -INFINITY};
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
            char text[32];
            snprintf(text, sizeof text, "%g", wrong[i]);
            bad = good, bad.young = wrong[i];
            refuse(ctx, &bad, "young", text);
            bad = good, bad.density = wrong[i];
            refuse(ctx, &bad, "density", text);
            bad = good, bad.poisson = wrong[i];
            if (wrong[i] != 0)
                refuse(ctx, &bad, "poisson", text);
        }
        bad = good, bad.poisson = has_poisson(m) ? 0.49951 : 0.1;
        refuse(ctx, &bad, "poisson", has_poisson(m) ? "0.49951" : "0.1");
        bad = good, bad.mark = 0;
        refuse(ctx, &bad, "_def_default", "material");
    }
    sn_material_def bad = make_def(SN_MATERIAL_COROTATED, 0.3);
    bad.model = (sn_material_model)MODELS;
    refuse(ctx, &bad, "model", "4");
    sn_material_def untouched = sn_material_def_default();
    refuse(ctx, &untouched, "young", "0");
    assert_int_equal(sn_material_check(ctx, NULL), SN_ERR_INVALID_ARGUMENT);
    test_context_end(&ctx);
}

/// A little strain gives the stress of Hooke's law, and a bar the Young's modulus of the definition.
static void moduli_are_those_of_the_definition(void **state) {
    (void)state;
    sn_random random = sn_random_make(1);
    for (int m = 0; m < MODELS; m++)
        for (int repeat = 0; repeat < 100; repeat++) {
            sn_material_def def = make_def((sn_material_model)m, 0.4995 * repeat / 99);
            double mu, lambda, H[9], F[9], h = 1e-7, trace, scale;
            sn_material_moduli(&def, &mu, &lambda);
            sample_normal(&random, 0, 1, H);
            for (int i = 0; i < 9; i++)
                F[i] = (i % 4 == 0) + h * H[i];
            response r = evaluate(sn_material_info_of(def.model), mu, lambda, F);
            if (def.model == SN_MATERIAL_BIPHASIC) // What the stiff phase adds is not there at small strain.
                lambda = 0;
            trace = H[0] + H[4] + H[8], scale = (2 * mu + 3 * lambda) * sample_norm(H);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    double hooke = mu * (H[3 * i + j] + H[3 * j + i]) + (i == j ? lambda * trace : 0);
                    assert_near(r.P[3 * i + j] / h, hooke, 1e-6 * scale);
                }
            double young = mu * (3 * lambda + 2 * mu) / (lambda + mu);
            assert_near(young, YOUNG, 1e-9 * YOUNG);
            assert_near(lambda / (2 * (lambda + mu)), def.poisson, 1e-12);
        }
}

/// Uniaxial and equibiaxial stress and simple shear of the linear model, E = 1e5 Pa, nu = 0.45.
static void linear_model_has_its_closed_forms(void **state) {
    sn_material_def def = make_def(SN_MATERIAL_COROTATED_LINEAR, 0.45);
    const sn_material_info chosen = choose_info(def.model, *state), *info = &chosen;
    double mu, lambda;
    sn_material_moduli(&def, &mu, &lambda);
    static const double uniaxial[][3] = {
        {0.6, 1.18, -40000}, {0.8, 1.09, -20000}, {1.2, 0.91, 20000}, {1.5, 0.775, 50000}, {2, 0.55, 100000}};
    for (size_t i = 0; i < sizeof uniaxial / sizeof *uniaxial; i++) {
        double l = uniaxial[i][0], t = uniaxial[i][1], F[9] = {l, 0, 0, 0, t, 0, 0, 0, t};
        response r = evaluate(info, mu, lambda, F);
        assert_near(r.P[0], uniaxial[i][2], 1e-9 * YOUNG);
        assert_near(r.P[4], 0, 1e-9 * YOUNG);
        assert_near(r.P[8], 0, 1e-9 * YOUNG);
    }
    static const double biaxial[][2] = {{1.2, 36363.6}, {1.5, 90909.1}};
    for (size_t i = 0; i < sizeof biaxial / sizeof *biaxial; i++) {
        double l = biaxial[i][0], t = 1 - 2 * 0.45 * (l - 1) / 0.55, F[9] = {l, 0, 0, 0, l, 0, 0, 0, t};
        response r = evaluate(info, mu, lambda, F);
        assert_near(r.P[0], biaxial[i][1], 0.06);
        assert_near(r.P[4], biaxial[i][1], 0.06);
        assert_near(r.P[8], 0, 1e-9 * YOUNG);
    }
    static const double shear[][4] = {
        {0.2, 7238.8, 4870.4, 3422.6}, {0.5, 22389.2, 31786.0, 20591.4}, {1, 70887.2, 143696.0, 72808.8}};
    for (size_t i = 0; i < sizeof shear / sizeof *shear; i++) {
        double F[9] = {1, shear[i][0], 0, 0, 1, 0, 0, 0, 1}, cauchy[9];
        response r = evaluate(info, mu, lambda, F);
        sn_mul33_nt(r.P, F, cauchy);
        assert_near(cauchy[1], shear[i][1], 0.06);
        assert_near(cauchy[0], shear[i][2], 0.06);
        assert_near(cauchy[4], shear[i][3], 0.06);
    }
}

static void corotated_has_its_closed_forms(void **state) {
    const sn_material_info chosen = choose_info(SN_MATERIAL_COROTATED, *state), *info = &chosen;
    double mu = 3e4, lambda = 2e5;
    for (double a = 0; a < 1.25; a += 0.125) {
        double F[9] = {a, 0, 0, 0, a, 0, 0, 0, a}, b = a - 1;
        response r = evaluate(info, mu, lambda, F);
        assert_near(r.psi, (3 * mu + 4.5 * lambda) * b * b, 1e-9);
        assert_near(r.P[0], (2 * mu + 3 * lambda) * b, 1e-8);
    }
    // Without a change of volume only the first term is left.
    for (double a = 1; a < 4; a += 0.25) {
        double F[9] = {a, 0, 0, 0, 1, 0, 0, 0, 1 / a};
        response r = evaluate(info, mu, lambda, F);
        assert_near(r.psi, mu * ((a - 1) * (a - 1) + (1 / a - 1) * (1 / a - 1)), 1e-9);
    }
}

/// Piecewise linear in every stretch by itself: Young's modulus within the limits, stiffening times it
/// beyond.
static void biphasic_has_its_closed_forms(void **state) {
    const sn_material_info chosen = choose_info(SN_MATERIAL_BIPHASIC, *state), *info = &chosen;
    sn_material_def def = make_def(SN_MATERIAL_BIPHASIC, 0);
    double mu, lambda;
    def.stiffening = 7;
    sn_material_moduli(&def, &mu, &lambda);
    assert_near(mu, YOUNG / 2, 1e-9 * YOUNG);
    for (double s = 0.2; s < 2.5; s += 0.01) {
        double F[9] = {s, 0, 0, 0, 1, 0, 0, 0, 1},
               beyond = fmin(s - STRETCH_MIN, 0) + fmax(s - STRETCH_MAX, 0);
        response r = evaluate(info, mu, lambda, F);
        assert_near(r.P[0], YOUNG * (s - 1) + 6 * YOUNG * beyond, 1e-12 * YOUNG);
        assert_near(r.P[4], 0, 1e-12 * YOUNG);
        assert_near(r.psi, YOUNG / 2 * ((s - 1) * (s - 1) + 6 * beyond * beyond), 1e-12 * YOUNG);
    }
    // Mirrored: s3 = -1 is below its lower limit, and pushed back by both phases.
    double mirrored[9] = {1.2, 0, 0, 0, 1.1, 0, 0, 0, -1};
    response r = evaluate(info, mu, lambda, mirrored);
    assert_near(r.P[8], YOUNG * (-2 + 6 * (-1 - STRETCH_MIN)), 1e-11 * YOUNG);
}

static void limits_are_checked(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    const sn_material_def good = make_def(SN_MATERIAL_BIPHASIC, 0);
    assert_true(good.stretch_min == 0.8 && good.stretch_max == 1.26 && good.stiffening == 5);
    assert_done(ctx, sn_material_check(ctx, &good));
    static const double low[] = {0, 1, -1, 2, NAN}, high[] = {0, 1, 0.5, INFINITY, NAN};
    static const double ratio[] = {0.99, 0, -1, 1.01e6, NAN};
    for (size_t i = 0; i < sizeof low / sizeof *low; i++) {
        sn_material_def bad = good;
        bad.stretch_min = low[i];
        refuse(ctx, &bad, "stretch_min", "above 0 to below 1");
        bad = good, bad.stretch_max = high[i];
        refuse(ctx, &bad, "stretch_max", "> 1");
        bad = good, bad.stiffening = ratio[i];
        refuse(ctx, &bad, "stiffening", "1 to 1000000");
    }
    // Other models do not look at them.
    sn_material_def other = make_def(SN_MATERIAL_COROTATED, 0.3);
    other.stretch_min = other.stretch_max = other.stiffening = NAN;
    assert_done(ctx, sn_material_check(ctx, &other));
    test_context_end(&ctx);
}

/// psi(Q F) = psi(F Q) = psi(F), and P turns along.
static void rotations_do_not_matter(void **state) {
    sn_random random = sn_random_make(2);
    for (int m = 0; m < MODELS; m++)
        for (int repeat = 0; repeat < 2000; repeat++) {
            const sn_material_info chosen = choose_info((sn_material_model)m, *state), *info = &chosen;
            double s2 = sn_random_range(&random, 0.2, 1.3), s3 = sn_random_range(&random, 0.1 - s2, s2), F[9];
            double mu = 1, lambda = m == SN_MATERIAL_ARAP ? 0 : 9, Q[9], QF[9], FQ[9], turned[9];
            sample_with_values(&random, sn_random_range(&random, s2, 1.5), s2, s3, F);
            sample_rotation(&random, Q);
            sn_mul33(Q, F, QF);
            sn_mul33(F, Q, FQ);
            response here = evaluate(info, mu, lambda, F), left = evaluate(info, mu, lambda, QF),
                     right = evaluate(info, mu, lambda, FQ);
            assert_near(left.psi, here.psi, 1e-13 * (1 + here.psi));
            assert_near(right.psi, here.psi, 1e-13 * (1 + here.psi));
            double limit = 1e-12 * (1 + sample_norm(here.P));
            sn_mul33(Q, here.P, turned);
            for (int i = 0; i < 9; i++)
                assert_near(left.P[i], turned[i], limit);
            sn_mul33(here.P, Q, turned);
            for (int i = 0; i < 9; i++)
                assert_near(right.P[i], turned[i], limit);
        }
}

static void rotations_cost_nothing(void **state) {
    (void)state;
    sn_random random = sn_random_make(3);
    for (int m = 0; m < MODELS; m++)
        for (int repeat = 0; repeat < 1000; repeat++) {
            double Q[9];
            sample_rotation(&random, Q);
            response r =
                evaluate(sn_material_info_of((sn_material_model)m), 1, m == SN_MATERIAL_ARAP ? 0 : 10, Q);
            assert_near(r.psi, 0, 1e-27);
            assert_near(sample_norm(r.P), 0, 1e-12);
        }
}

/// Largest excess of psi(F + dF) over psi(F) + P:dF + weight |dF|^2 / 2, relative to the terms, over many F
/// and dF.
static double worst_excess(const sn_material_info *info, double mu, double lambda, double weight) {
    sn_random random = sn_random_make(4);
    double worst = -INFINITY;
    for (int repeat = 0; repeat < 10000; repeat++) {
        double F[9], D[9], moved[9], model, size;
        int kind = repeat % SAMPLE_KINDS;
        if (kind == 15) // 1e100: squares of such stresses overflow
            continue;
        sample_matrix(&random, kind, F);
        for (int i = 0; i < 9; i++)
            F[i] *= repeat % 3 ? 1 : 1.95;
        // Dilations of rotations curve most; anything else is covered by random directions of all sizes.
        double t = sn_random_range(&random, -0.2, 0.2);
        sample_normal(&random, 0, sample_decades(&random, -6, 4), D);
        for (int i = 0; i < 9 && repeat % 2; i++)
            D[i] = t * F[i];
        for (int i = 0; i < 9; i++)
            moved[i] = F[i] + D[i];
        response here = evaluate(info, mu, lambda, F), there = evaluate(info, mu, lambda, moved);
        model = here.psi + 0.5 * weight * sample_norm(D) * sample_norm(D);
        // P:dF is rounded like weight |F| |dF| even where P is small.
        size = here.psi + there.psi + weight * sample_norm(D) * (sample_norm(D) + sample_norm(F));
        for (int i = 0; i < 9; i++)
            model += here.P[i] * D[i];
        worst = fmax(worst, (there.psi - model) / size);
    }
    return worst;
}

static void weights_bound_the_energy(void **state) {
    for (int m = 0; m < MODELS; m++) {
        const sn_material_info chosen = choose_info((sn_material_model)m, *state), *info = &chosen;
        double mu = 1, lambda = m == SN_MATERIAL_ARAP ? 0 : 9;
        double weight = info->weight_mu * mu + info->weight_lambda * lambda;
        if (info->is_projective)
            assert_near(fmax(worst_excess(info, mu, lambda, weight), 0), 0, 1e-14);
        else
            assert_true(worst_excess(info, mu, lambda, weight) > 1e-3);
        // Nothing smaller will do.
        assert_true(worst_excess(info, mu, lambda, 0.99 * weight) > 1e-4);
    }
}

/// Lanes do not see each other: neither a lambda of 0 nor a NaN next door changes bits; nor does leaving out
/// P.
static void lanes_are_alone(void **state) {
    sn_random random = sn_random_make(5);
    for (int m = 0; m < MODELS; m++) {
        const sn_material_info chosen = choose_info((sn_material_model)m, *state), *info = &chosen;
        for (int repeat = 0; repeat < 500; repeat++) {
            double F[9][SN_LANES], f[9], mu[SN_LANES], lambda[SN_LANES], psi[SN_LANES], only[SN_LANES],
                P[9][SN_LANES];
            for (int lane = 0; lane < SN_LANES; lane++) {
                sample_matrix(&random, repeat % SAMPLE_KINDS, f);
                for (int i = 0; i < 9; i++)
                    F[i][lane] = lane == 6 ? NAN : f[i];
                mu[lane] = sn_random_range(&random, 1, 2);
                lambda[lane] = m == SN_MATERIAL_ARAP || lane % 2 ? 0 : 5;
            }
            sn_material_limits limits = make_limits();
            info->kernel(F, mu, lambda, &limits, psi, P);
            info->kernel(F, mu, lambda, &limits, only, NULL);
            assert_true(isnan(psi[6]) && isnan(P[0][6]));
            for (int lane = 0; lane < 6; lane++) {
                for (int i = 0; i < 9; i++)
                    f[i] = F[i][lane];
                response r = evaluate(info, mu[lane], lambda[lane], f);
                assert_true(r.psi == psi[lane] && only[lane] == psi[lane]);
                for (int i = 0; i < 9; i++)
                    assert_true(r.P[i] == P[i][lane]);
            }
        }
    }
}

/// The state of the tests that run with fast kernels; NULL otherwise.
static int choose_fast(void **state) {
    static char fast;
    *state = &fast;
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_in_order),
        cmocka_unit_test(definitions_are_checked),
        cmocka_unit_test(moduli_are_those_of_the_definition),
        cmocka_unit_test(linear_model_has_its_closed_forms),
        cmocka_unit_test(corotated_has_its_closed_forms),
        cmocka_unit_test(biphasic_has_its_closed_forms),
        cmocka_unit_test(limits_are_checked),
        cmocka_unit_test(rotations_do_not_matter),
        cmocka_unit_test(rotations_cost_nothing),
        cmocka_unit_test(weights_bound_the_energy),
        cmocka_unit_test(lanes_are_alone),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + cmocka_run_group_tests_name("fast", tests, choose_fast, NULL);
}
