/// The partial factor against dense reference arithmetic, on generated matrices and kept sets of all kinds.
#include "factor_cases.h"

#include "factor/factor_internal.h"

enum { CASES = 120, MAX_N = 400 };

static void check_schur(sn_context *ctx, const sn_factor *factor, const sn_csr *a, const int32_t *kept,
                        int32_t m) {
    int32_t n = a->n;
    double *reference = dense_schur(a, kept, m), *s = malloc(sizeof *s * ((size_t)m * (size_t)m + 1));
    assert_done(ctx, sn_factor_schur(factor, s));
    double scale = largest(a->value, a->start[n]), error = 0;
    for (int32_t i = 0; i < m; i++)
        for (int32_t j = 0; j < m; j++) {
            double expected = reference[(int64_t)(n - m + i) * n + n - m + j];
            error = fmax(error, fabs(s[i * m + j] - expected));
            assert_true(s[i * m + j] == s[j * m + i]);
        }
    assert_at_most(error, 1e-12 * scale);
    free(s);
    free(reference);
}

/// Solves with all widths, and by the two sweeps with S solved through a factor of its own.
static void check_solve(sn_context *ctx, sn_factor *factor, const sn_csr *a, const int32_t *kept, int32_t m,
                        sn_random *random) {
    int32_t n = a->n;
    double b[MAX_N * 3], x[MAX_N * 3], y[MAX_N * 3], g[MAX_N * 3];
    for (int32_t width = 1; width <= 3; width++) {
        for (int32_t i = 0; i < n * width; i++)
            y[i] = x[i] = b[i] = sn_random_normal(random);
        assert_done(ctx, sn_factor_solve(factor, width, x));
        assert_at_most(residual(a, width, x, b), 1e-14 * (n + 1));
        assert_done(ctx, sn_factor_forward(factor, width, y, g));
        // The kept part of the solution is known: backward must then give the rest.
        for (int32_t k = 0; k < m; k++)
            for (int32_t c = 0; c < width; c++)
                g[k * width + c] = x[kept[k] * width + c];
        assert_done(ctx, sn_factor_backward(factor, width, y, g));
        for (int32_t i = 0; i < n * width; i++)
            assert_near(y[i], x[i], 1e-11 * largest(x, n * width));
    }
}

static void check_case(sn_random *random, pattern_kind kind, int32_t n, int32_t kept_kind, int32_t threads) {
    sn_context *ctx = test_context(threads);
    sn_csr a = make_matrix(ctx, random, kind, n);
    int32_t kept[MAX_N];
    int32_t m = choose_kept(random, n, kept_kind, kept);
    sn_factor_def def = sn_factor_def_default();
    def.storage = SN_FACTOR_DOUBLE;
    def.kept = kept;
    def.kept_count = m;
    sn_factor_matrix matrix = view(&a);
    sn_factor *factor = NULL;
    assert_done(ctx, sn_factor_create(ctx, &matrix, &def, &factor));
    uint64_t allocations = sn_context_allocation_count(ctx);
    // Twice, with other values the second time: refactorization forgets the first.
    for (int32_t round = 0; round < 2; round++) {
        assert_done(ctx, sn_factor_numeric(factor, &matrix));
        check_schur(ctx, factor, &a, kept, m);
        check_solve(ctx, factor, &a, kept, m, random);
        for (int32_t i = 0; i < n; i++)
            for (int64_t e = a.start[i]; e < a.start[i + 1]; e++)
                a.value[e] *=
                    a.column[e] == i ? 1.5 + sn_random_real(random) : sn_random_range(random, -1, 1);
    }
    assert_int_equal(sn_context_allocation_count(ctx), allocations);
    sn_factor_destroy(&factor);
    sn_csr_destroy(ctx, &a);
    test_context_end(&ctx);
}

static void agrees_with_dense_arithmetic(void **state) {
    (void)state;
    sn_random random = sn_random_make(1);
    for (int32_t c = 0; c < CASES; c++) {
        int32_t n = c < 35 ? c / 7 : 1 + sn_random_index(&random, c % 3 ? 60 : MAX_N / 2);
        check_case(&random, (pattern_kind)(c % KINDS), n, c / KINDS % 5, 1 + c % 2);
    }
}

typedef struct outcome {
    uint64_t solution, schur, sweeps;
} outcome;

static outcome run_lattice(int32_t threads, int32_t kept_count) {
    enum { SIDE = 22, N = SIDE * SIDE * SIDE };
    sn_context *ctx = test_context(threads);
    sn_csr a = make_lattice(ctx, SIDE);
    sn_random random = sn_random_make(8);
    int32_t *kept = malloc(sizeof *kept * (size_t)(kept_count + 1));
    double *x = malloc(sizeof *x * N * 3), *b = malloc(sizeof *b * N * 3);
    double *s = malloc(sizeof *s * (size_t)(kept_count * kept_count + 3 * kept_count + 1));
    for (int32_t k = 0; k < kept_count; k++)
        kept[k] = k * 2;
    sn_factor_def def = sn_factor_def_default();
    def.storage = SN_FACTOR_DOUBLE;
    def.kept = kept;
    def.kept_count = kept_count;
    sn_factor_matrix matrix = view(&a);
    sn_factor *factor = NULL;
    assert_done(ctx, sn_factor_create(ctx, &matrix, &def, &factor));
    assert_done(ctx, sn_factor_numeric(factor, &matrix));
    for (int32_t i = 0; i < N * 3; i++)
        x[i] = b[i] = sn_random_normal(&random);
    outcome result = {SN_HASH_START, SN_HASH_START, SN_HASH_START};
    assert_done(ctx, sn_factor_schur(factor, s));
    result.schur = sn_hash(result.schur, s, sizeof *s * (size_t)(kept_count * kept_count));
    assert_done(ctx, sn_factor_solve(factor, 3, x));
    assert_at_most(residual(&a, 3, x, b), 1e-14);
    result.solution = sn_hash(result.solution, x, sizeof *x * N * 3);
    assert_done(ctx, sn_factor_forward(factor, 3, b, s));
    assert_done(ctx, sn_factor_backward(factor, 3, b, s));
    result.sweeps = sn_hash(result.sweeps, b, sizeof *b * N * 3);
    sn_factor_destroy(&factor);
    sn_csr_destroy(ctx, &a);
    free(s);
    free(b);
    free(x);
    free(kept);
    test_context_end(&ctx);
    return result;
}

static void same_bits_for_any_thread_count(void **state) {
    (void)state;
    for (int32_t kept_count = 0; kept_count <= 300; kept_count += 300) {
        outcome first = run_lattice(1, kept_count);
        for (int32_t threads = 2; threads <= 4; threads += 2) {
            outcome other = run_lattice(threads, kept_count);
            assert_memory_equal(&first, &other, sizeof first);
        }
        outcome again = run_lattice(2, kept_count);
        assert_memory_equal(&first, &again, sizeof first);
    }
}

static void names_the_unknown_that_fails(void **state) {
    (void)state;
    enum { SIDE = 14 };
    for (int32_t threads = 1; threads <= 2; threads++) {
        sn_context *ctx = test_context(threads);
        sn_csr a = make_lattice(ctx, SIDE);
        sn_factor_matrix matrix = view(&a);
        sn_factor *factor = NULL;
        assert_done(ctx, sn_factor_create(ctx, &matrix, NULL, &factor));
        double x[SIDE * SIDE * SIDE] = {0};
        for (int32_t bad = 0; bad < a.n; bad += 391) {
            int64_t diagonal = a.start[bad + 1] - 1;
            a.value[diagonal] = -3;
            assert_int_equal(sn_factor_numeric(factor, &matrix), SN_ERR_NOT_POSITIVE_DEFINITE);
            assert_int_equal(sn_factor_get_info(factor).failed_unknown, bad);
            assert_at_most(sn_factor_get_info(factor).failed_pivot, -3);
            assert_int_equal(sn_factor_solve(factor, 1, x), SN_ERR_INVALID_ARGUMENT);
            a.value[diagonal] = 6.01;
            assert_done(ctx, sn_factor_numeric(factor, &matrix));
            assert_int_equal(sn_factor_get_info(factor).failed_unknown, -1);
            for (int32_t i = 0; i < a.n; i++)
                x[i] = 1;
            assert_done(ctx, sn_factor_solve(factor, 1, x));
        }
        a.value[a.start[5]] = NAN;
        assert_int_equal(sn_factor_numeric(factor, &matrix), SN_ERR_NON_FINITE);
        // The factor of the last success still stands: nothing was touched.
        assert_done(ctx, sn_factor_solve(factor, 1, x));
        sn_factor_destroy(&factor);
        sn_csr_destroy(ctx, &a);
        test_context_end(&ctx);
    }
}

static void indefinite_schur_leaves_the_vector(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    const sn_triplet triplets[] = {{0, 0, 4}, {1, 1, 4}, {2, 2, 1}, {1, 0, -1}, {2, 1, -3}};
    sn_csr a = {0};
    assert_done(ctx, sn_csr_create(ctx, 3, 5, triplets, &a));
    const int32_t kept[] = {2, 1};
    sn_factor_def def = sn_factor_def_default();
    def.storage = SN_FACTOR_DOUBLE;
    def.kept = kept;
    def.kept_count = 2;
    sn_factor_matrix matrix = view(&a);
    sn_factor *factor = NULL;
    assert_done(ctx, sn_factor_create(ctx, &matrix, &def, &factor));
    assert_done(ctx, sn_factor_numeric(factor, &matrix));
    double x[] = {1, 2, 3}, s[4];
    assert_int_equal(sn_factor_solve(factor, 1, x), SN_ERR_NOT_POSITIVE_DEFINITE);
    assert_int_equal(sn_factor_get_info(factor).failed_unknown, 1);
    assert_true(x[0] == 1 && x[1] == 2 && x[2] == 3);
    assert_done(ctx, sn_factor_schur(factor, s));
    assert_near(s[0], 1, 1e-15);
    assert_near(s[1], -3, 1e-15);
    assert_near(s[3], 3.75, 1e-15);
    sn_factor_destroy(&factor);
    sn_csr_destroy(ctx, &a);
    test_context_end(&ctx);
}

static void refuses_wrong_arguments(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    const int64_t start[] = {0, 1, 3}, no_diagonal[] = {0, 1, 2};
    const int32_t column[] = {0, 0, 1}, unsorted[] = {0, 1, 1}, outside[] = {0, -1, 1};
    const double value[] = {2, -1, 2};
    const sn_factor_matrix good = {2, start, column, value};
    const sn_factor_matrix bad[] = {{2, no_diagonal, column, value},
                                    {2, start, unsorted, value},
                                    {2, start, outside, value},
                                    {-1, start, column, value},
                                    {2, NULL, column, value}};
    sn_factor *factor = NULL;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_int_equal(sn_factor_create(ctx, &bad[k], NULL, &factor), SN_ERR_INVALID_ARGUMENT);
    const int32_t twice[] = {1, 1}, beyond[] = {0, 2};
    sn_factor_def def = sn_factor_def_default();
    def.storage = SN_FACTOR_DOUBLE;
    def.kept_count = 2;
    def.kept = twice;
    assert_int_equal(sn_factor_create(ctx, &good, &def, &factor), SN_ERR_INVALID_ARGUMENT);
    def.kept = beyond;
    assert_int_equal(sn_factor_create(ctx, &good, &def, &factor), SN_ERR_INVALID_ARGUMENT);
    def.kept_count = 3;
    assert_int_equal(sn_factor_create(ctx, &good, &def, &factor), SN_ERR_INVALID_ARGUMENT);
    const sn_factor_def forgotten = {0};
    assert_int_equal(sn_factor_create(ctx, &good, &forgotten, &factor), SN_ERR_INVALID_ARGUMENT);
    assert_null(factor);
    def.kept_count = 0;
    assert_done(ctx, sn_factor_create(ctx, &good, &def, &factor));
    double x[2] = {1, 1};
    assert_int_equal(sn_factor_solve(factor, 1, x), SN_ERR_INVALID_ARGUMENT);
    assert_done(ctx, sn_factor_numeric(factor, &good));
    assert_int_equal(sn_factor_solve(factor, 0, x), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_factor_solve(factor, 4, x), SN_ERR_INVALID_ARGUMENT);
    assert_done(ctx, sn_factor_solve(factor, 1, x));
    assert_near(x[0], 1, 1e-15);
    const sn_factor_matrix other = {1, start, column, value};
    assert_int_equal(sn_factor_numeric(factor, &other), SN_ERR_INVALID_ARGUMENT);
    sn_factor_destroy(&factor);
    sn_factor_destroy(&factor);
    test_context_end(&ctx);
}

/// A patch that half of the surface of a lattice makes takes no more operations than by the order that knows
/// nothing of it.
static void orders_around_a_large_kept_set(void **state) {
    (void)state;
    enum { SIDE = 14, N = SIDE * SIDE * SIDE, KEPT = 2 * SIDE * SIDE };
    sn_context *ctx = test_context(1);
    sn_csr a = make_lattice(ctx, SIDE);
    sn_factor_matrix matrix = view(&a);
    static int32_t kept[KEPT];
    static bool is_kept[N];
    static const bool is_late[N];
    sn_symbolic plain = {0};
    sn_factor_def def = sn_factor_def_default();
    sn_factor *factor = NULL;
    def.kept = kept;
    for (int32_t i = 0; i < N && def.kept_count < KEPT; i++)
        if (i / SIDE % SIDE == 0 || i / SIDE / SIDE == 0) {
            kept[def.kept_count++] = i;
            is_kept[i] = true;
        }
    assert_done(ctx, sn_new(ctx, N, sizeof *plain.order, (void **)&plain.order));
    assert_done(ctx, sn_factor_order(ctx, &matrix, is_kept, NULL, 0, plain.order));
    memcpy(plain.order + N - def.kept_count, kept, (size_t)def.kept_count * sizeof *kept);
    assert_done(ctx, sn_factor_analyze(ctx, &matrix, N - def.kept_count, is_late, &plain));
    assert_done(ctx, sn_factor_create(ctx, &matrix, &def, &factor));
    assert_at_most(sn_factor_get_info(factor).flops, plain.flops);
    assert_done(ctx, sn_factor_numeric(factor, &matrix));
    sn_factor_destroy(&factor);
    sn_symbolic_destroy(ctx, &plain);
    sn_csr_destroy(ctx, &a);
    test_context_end(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_dense_arithmetic),
        cmocka_unit_test(same_bits_for_any_thread_count),
        cmocka_unit_test(names_the_unknown_that_fails),
        cmocka_unit_test(indefinite_schur_leaves_the_vector),
        cmocka_unit_test(orders_around_a_large_kept_set),
        cmocka_unit_test(refuses_wrong_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
