/// J, sparse forward sweeps and the kept set that grows, each against the equations that define it.
#include "factor_cases.h"

enum { CASES = 60, MAX_N = 200 };

/// A factored matrix with a kept set.
typedef struct fixture {
    sn_context *ctx;
    sn_csr a;
    sn_factor *factor;
    int32_t order[MAX_N]; ///< all unknowns, the kept ones first
    int32_t kept_count;
    double scale; ///< largest entry
} fixture;

static void fixture_begin(fixture *f, sn_random *random, pattern_kind kind, int32_t n, int32_t kept_kind) {
    *f = (fixture){.ctx = test_context(1)};
    f->a = make_matrix(f->ctx, random, kind, n);
    f->kept_count = choose_kept(random, n, kept_kind, f->order);
    f->scale = largest(f->a.value, f->a.start[n]);
    sn_factor_def def = sn_factor_def_default();
    def.storage = SN_FACTOR_DOUBLE;
    def.kept = f->order;
    def.kept_count = f->kept_count;
    sn_factor_matrix matrix = view(&f->a);
    assert_done(f->ctx, sn_factor_create(f->ctx, &matrix, &def, &f->factor));
    assert_done(f->ctx, sn_factor_numeric(f->factor, &matrix));
}

static void fixture_end(fixture *f) {
    sn_factor_destroy(&f->factor);
    sn_csr_destroy(f->ctx, &f->a);
    test_context_end(&f->ctx);
}

static void for_all_kinds(void (*check)(fixture *f, sn_random *random)) {
    sn_random random = sn_random_make(11);
    for (int32_t c = 0; c < CASES; c++) {
        fixture f;
        int32_t n = c < 21 ? c / 7 : 1 + sn_random_index(&random, MAX_N - 1);
        fixture_begin(&f, &random, (pattern_kind)(c % KINDS), n, c / KINDS % 5);
        check(&f, &random);
        fixture_end(&f);
    }
}

/// A [J Z; Z] = [0; S Z] defines J and S.
static void check_jacobian(fixture *f, sn_random *random) {
    static double s[MAX_N * MAX_N];
    int32_t n = f->a.n, m = f->kept_count;
    double z[3 * MAX_N], x[3 * MAX_N], ax[3 * MAX_N];
    assert_done(f->ctx, sn_factor_schur(f->factor, s));
    uint64_t allocations = sn_context_allocation_count(f->ctx);
    for (int32_t width = 1; width <= 3; width++) {
        for (int32_t i = 0; i < m * width; i++)
            z[i] = sn_random_normal(random);
        assert_done(f->ctx, sn_factor_jacobian(f->factor, width, z, x));
        sn_csr_multiply(&f->a, width, x, ax);
        double tolerance = 1e-12 * f->scale * (1 + largest(x, n * width));
        for (int32_t k = 0; k < m; k++)
            for (int32_t c = 0; c < width; c++) {
                double *row = &ax[f->order[k] * width + c];
                assert_true(x[f->order[k] * width + c] == z[k * width + c]);
                for (int32_t j = 0; j < m; j++)
                    *row -= s[k * m + j] * z[j * width + c];
            }
        assert_at_most(largest(ax, n * width), tolerance);
    }
    assert_int_equal(sn_context_allocation_count(f->ctx), allocations);
}

static void jacobian_leaves_no_force(void **state) {
    (void)state;
    for_all_kinds(check_jacobian);
}

/// The sparse sweep gives what the full one gives, and its list holds all that is not zero.
static void check_reach(fixture *f, sn_random *random) {
    int32_t n = f->a.n, m = f->kept_count, unknown[5], list[MAX_N], written = -1;
    double value[5], b[MAX_N] = {0}, g[MAX_N], u[MAX_N], e[MAX_N];
    int32_t count = n < 1 ? 0 : sn_random_index(random, 6);
    for (int32_t k = 0; k < count; k++) {
        unknown[k] = sn_random_index(random, n);
        value[k] = sn_random_normal(random);
        b[unknown[k]] += value[k];
    }
    const sn_factor_sparse right = {count, unknown, value};
    uint64_t allocations = sn_context_allocation_count(f->ctx);
    int32_t room = sn_factor_reach_count(f->factor, count, unknown);
    assert_in_range(room, 0, n - m);
    assert_done(f->ctx, sn_factor_reach_solve(f->factor, &right, room, &written, list, u, e));
    assert_int_equal(sn_context_allocation_count(f->ctx), allocations);
    assert_int_equal(written, room);
    if (room > 0)
        assert_int_equal(sn_factor_reach_solve(f->factor, &right, room - 1, &written, list, u, e),
                         SN_ERR_INVALID_ARGUMENT);
    assert_done(f->ctx, sn_factor_forward(f->factor, 1, b, g));
    double tolerance = 1e-14 * (n + 1) * (1 + largest(b, n) + largest(g, m));
    for (int32_t k = 0; k < m; k++) {
        assert_near(e[k], g[k], tolerance);
        b[f->order[k]] = 0;
    }
    for (int32_t k = 0; k < room; k++)
        b[list[k]] -= u[k];
    assert_at_most(largest(b, n), tolerance);
}

static void reach_equals_full_sweep(void **state) {
    (void)state;
    for_all_kinds(check_reach);
}

/// Adds some unknowns to the kept ones: the complement of both, and a solution by the grown kept set.
static void check_growth(fixture *f, sn_random *random) {
    static double s[MAX_N * MAX_N];
    int32_t n = f->a.n, m = f->kept_count;
    int32_t added = n - m < 4 ? n - m : 1 + sn_random_index(random, 4), size = m + added;
    double *reference = dense_schur(&f->a, f->order, size);
    assert_done(f->ctx, sn_factor_grow_schur(f->factor, added, f->order + m, s));
    for (int32_t i = 0; i < size; i++)
        for (int32_t j = 0; j < size; j++) {
            double expected = reference[(int64_t)(n - size + i) * n + n - size + j];
            assert_near(s[i * size + j], expected, 1e-12 * f->scale);
        }
    free(reference);
}

static void grown_complement_equals_dense(void **state) {
    (void)state;
    for_all_kinds(check_growth);
}

/// One added unknown v: b -> (g2, g_v) by the header's formulas, solved densely by Gauss-Seidel on the grown
/// complement, then backward.
static void check_grown_sweeps(fixture *f, sn_random *random) {
    static double s[MAX_N * MAX_N];
    int32_t n = f->a.n, m = f->kept_count, size = m + 1, count = 0, list[MAX_N];
    double b[MAX_N], y[MAX_N], x[MAX_N], g[MAX_N + 1], z[MAX_N + 1], u[MAX_N], e[MAX_N + 1], one = 1;
    if (m == n)
        return;
    const int32_t v = f->order[m];
    const sn_factor_sparse unit = {1, &v, &one};
    for (int32_t i = 0; i < n; i++)
        x[i] = y[i] = b[i] = sn_random_normal(random);
    assert_done(f->ctx, sn_factor_solve(f->factor, 1, x));
    assert_done(f->ctx, sn_factor_grow_schur(f->factor, 1, &v, s));
    assert_done(f->ctx, sn_factor_reach_solve(f->factor, &unit, n, &count, list, u, e));
    assert_done(f->ctx, sn_factor_forward(f->factor, 1, y, g));
    double square = 0, product = 0;
    for (int32_t k = 0; k < count; k++) {
        square += u[k] * u[k];
        product += u[k] * y[list[k]];
    }
    g[m] = product / square;
    for (int32_t k = 0; k < m; k++)
        g[k] -= e[k] * g[m];
    // The exact solution satisfies the grown kept equations ...
    double scale = f->scale * (1 + largest(x, n));
    for (int32_t k = 0; k < size; k++)
        z[k] = x[f->order[k]];
    for (int32_t i = 0; i < size; i++) {
        double sum = -g[i];
        for (int32_t j = 0; j < size; j++)
            sum += s[i * size + j] * z[j];
        assert_near(sum, 0, 1e-12 * scale);
    }
    // ... and the backward sweep finds the rest of it, the added unknown included.
    double l = product - z[m];
    for (int32_t k = 0; k < m; k++)
        l += e[k] * z[k];
    l /= square;
    for (int32_t k = 0; k < count; k++)
        y[list[k]] -= u[k] * l;
    assert_done(f->ctx, sn_factor_backward(f->factor, 1, y, z));
    for (int32_t i = 0; i < n; i++)
        assert_near(y[i], x[i], 1e-11 * (1 + largest(x, n)));
}

static void grown_sweeps_solve(void **state) {
    (void)state;
    for_all_kinds(check_grown_sweeps);
}

static void refuses_wrong_arguments(void **state) {
    (void)state;
    sn_random random = sn_random_make(2);
    fixture f;
    fixture_begin(&f, &random, GRID, 27, 3);
    const int32_t free_unknown = f.order[f.kept_count], outside = 27, kept = f.order[0],
                  twice[] = {free_unknown, free_unknown};
    const double one = 1;
    double x[3 * 27] = {0}, s[81 * 4];
    int32_t count = 0, list[27];
    assert_int_equal(sn_factor_jacobian(NULL, 1, x, x), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_factor_jacobian(f.factor, 0, x, x), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_factor_jacobian(f.factor, 1, NULL, x), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_factor_jacobian(f.factor, 1, x, NULL), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_factor_reach_count(f.factor, 1, &outside), -1);
    assert_int_equal(sn_factor_reach_count(NULL, 0, NULL), -1);
    const sn_factor_sparse bad = {1, &outside, &one}, good = {1, &free_unknown, &one};
    assert_int_equal(sn_factor_reach_solve(f.factor, &bad, 27, &count, list, x, s), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_factor_reach_solve(f.factor, NULL, 27, &count, list, x, s), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_factor_reach_solve(f.factor, &good, 27, NULL, list, x, s), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_factor_reach_solve(f.factor, &good, 27, &count, list, x, NULL),
                     SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_factor_grow_schur(f.factor, 1, &kept, s), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_factor_grow_schur(f.factor, 1, &outside, s), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_factor_grow_schur(f.factor, 2, twice, s), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_factor_grow_schur(f.factor, 1, &free_unknown, NULL), SN_ERR_INVALID_ARGUMENT);
    f.a.value[f.a.start[free_unknown + 1] - 1] = -1;
    sn_factor_matrix matrix = view(&f.a);
    assert_int_equal(sn_factor_numeric(f.factor, &matrix), SN_ERR_NOT_POSITIVE_DEFINITE);
    x[0] = 5;
    assert_int_equal(sn_factor_jacobian(f.factor, 1, x, x), SN_ERR_INVALID_ARGUMENT);
    assert_true(x[0] == 5);
    assert_int_equal(sn_factor_reach_solve(f.factor, &good, 27, &count, list, x, s), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_factor_grow_schur(f.factor, 1, &free_unknown, s), SN_ERR_INVALID_ARGUMENT);
    fixture_end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jacobian_leaves_no_force),      cmocka_unit_test(reach_equals_full_sweep),
        cmocka_unit_test(grown_complement_equals_dense), cmocka_unit_test(grown_sweeps_solve),
        cmocka_unit_test(refuses_wrong_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
