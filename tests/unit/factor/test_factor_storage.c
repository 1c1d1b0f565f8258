/// L stored as double, float and half, with the kernels of every instruction set this machine has, against
/// dense arithmetic; and the refinement that makes up for the storage.
#include "factor_cases.h"

#include "factor/factor_sweep.h"

enum { CASES = 105, MAX_N = 400 };

/// Error of a solution relative to the largest entry: bounds of the acceptance.
static const double solution_bound[] = {1e-12, 1e-5, 2e-3};

typedef struct fixture {
    sn_context *ctx;
    sn_csr a;
    sn_factor *factor;
    int32_t kept[MAX_N], kept_count;
} fixture;

/// A matrix whose diagonal dominates, so that errors of solutions are those of the storage: off-diagonal sums
/// are at most 0.8 of the diagonal. Unknowns then get units `spread` decades apart.
static void condition(sn_csr *a, sn_random *random, double spread) {
    double *sum = calloc((size_t)a->n + 1, sizeof *sum), *unit = calloc((size_t)a->n + 1, sizeof *unit);
    for (int32_t i = 0; i < a->n; i++)
        for (int64_t e = a->start[i]; e + 1 < a->start[i + 1]; e++) {
            sum[i] += fabs(a->value[e]);
            sum[a->column[e]] += fabs(a->value[e]);
        }
    for (int32_t i = 0; i < a->n; i++) {
        a->value[a->start[i + 1] - 1] = 1.25 * sum[i] + 0.1;
        unit[i] = pow(10, sn_random_range(random, -spread, spread));
    }
    for (int32_t i = 0; i < a->n; i++)
        for (int64_t e = a->start[i]; e < a->start[i + 1]; e++)
            a->value[e] *= unit[i] * unit[a->column[e]];
    free(unit);
    free(sum);
}

static void fixture_begin(fixture *f, sn_random *random, int32_t c, double spread, sn_factor_storage storage,
                          sn_sweep_level level) {
    int32_t n = c < 35 ? c / 7 : 1 + sn_random_index(random, c % 3 ? 60 : MAX_N / 2);
    f->ctx = test_context(1 + c % 2);
    f->a = make_matrix(f->ctx, random, (pattern_kind)(c % KINDS), n);
    f->kept_count = choose_kept(random, n, c / KINDS % 5, f->kept);
    condition(&f->a, random, spread);
    sn_factor_def def = sn_factor_def_default();
    def.kept = f->kept;
    def.kept_count = f->kept_count;
    def.storage = storage;
    def.kept_storage = c % 2 ? SN_FACTOR_DOUBLE : storage;
    sn_factor_matrix matrix = view(&f->a);
    f->factor = NULL;
    assert_done(f->ctx, sn_factor_create(f->ctx, &matrix, &def, &f->factor));
    // All levels read the same numbers into places of the same size.
    f->factor->kernels = sn_sweep_choose(storage, level);
    f->factor->kept_kernels = sn_sweep_choose(def.kept_storage, level);
    assert_done(f->ctx, sn_factor_numeric(f->factor, &matrix));
}

static void fixture_end(fixture *f) {
    sn_factor_destroy(&f->factor);
    sn_csr_destroy(f->ctx, &f->a);
    test_context_end(&f->ctx);
}

/// x [n, width] = A^-1 b by dense elimination.
static void solve_dense(const sn_csr *a, int32_t width, const double *b, double *x) {
    int32_t n = a->n;
    double *d = dense_schur(a, NULL, 0);
    memcpy(x, b, sizeof *x * (size_t)n * (size_t)width);
    for (int32_t c = 0; c < width; c++) {
        for (int32_t k = 0; k < n; k++)
            for (int32_t i = k + 1; i < n; i++)
                x[i * width + c] -= d[(int64_t)k * n + i] / d[(int64_t)k * n + k] * x[k * width + c];
        for (int32_t k = n - 1; k >= 0; k--) {
            for (int32_t i = k + 1; i < n; i++)
                x[k * width + c] -= d[(int64_t)k * n + i] * x[i * width + c];
            x[k * width + c] /= d[(int64_t)k * n + k];
        }
    }
    free(d);
}

static void check_solutions(fixture *f, sn_random *random, double bound) {
    static double b[3 * MAX_N], x[3 * MAX_N], y[3 * MAX_N], expected[3 * MAX_N], g[3 * MAX_N];
    int32_t n = f->a.n;
    for (int32_t width = 1; width <= 3; width++) {
        for (int32_t i = 0; i < n * width; i++)
            y[i] = x[i] = b[i] = sn_random_normal(random);
        solve_dense(&f->a, width, b, expected);
        uint64_t allocations = sn_context_allocation_count(f->ctx);
        assert_done(f->ctx, sn_factor_solve(f->factor, width, x));
        assert_done(f->ctx, sn_factor_forward(f->factor, width, y, g));
        for (int32_t k = 0; k < f->kept_count; k++)
            for (int32_t c = 0; c < width; c++)
                g[k * width + c] = expected[f->kept[k] * width + c];
        assert_done(f->ctx, sn_factor_backward(f->factor, width, y, g));
        assert_int_equal(sn_context_allocation_count(f->ctx), allocations);
        for (int32_t i = 0; i < n * width; i++) {
            assert_near(x[i], expected[i], bound * largest(expected, n * width));
            assert_near(y[i], expected[i], bound * largest(expected, n * width));
        }
    }
}

static void every_storage_agrees_with_dense_arithmetic(void **state) {
    (void)state;
    for (sn_sweep_level level = SN_SWEEP_PLAIN; level <= sn_sweep_best_level(); level++)
        for (sn_factor_storage storage = SN_FACTOR_DOUBLE; storage <= SN_FACTOR_HALF; storage++) {
            sn_random random = sn_random_make(3);
            for (int32_t c = 0; c < CASES; c++) {
                fixture f;
                fixture_begin(&f, &random, c, 0, storage, level);
                check_solutions(&f, &random, solution_bound[storage]);
                fixture_end(&f);
            }
        }
}

/// y1 = L11^-1 b1 and g2 = b2 - L21 y1 do not depend on the units of the storage: b' A^-1 b = |y1|^2 +
/// g2' S^-1 g2, which with all unknowns free is |y1|^2.
static void scales_do_not_show(void **state) {
    (void)state;
    static double b[MAX_N], y[MAX_N], x[MAX_N];
    for (sn_factor_storage storage = SN_FACTOR_DOUBLE; storage <= SN_FACTOR_HALF; storage++) {
        sn_random random = sn_random_make(4);
        for (int32_t c = 0; c < CASES; c += 5) {
            fixture f;
            fixture_begin(&f, &random, 35 + c / 5 % KINDS, 6, storage, sn_sweep_best_level());
            int32_t n = f.a.n;
            // Units of the unknowns hide in b.
            for (int32_t i = 0; i < n; i++)
                y[i] = b[i] = sn_random_normal(&random) * sqrt(f.a.value[f.a.start[i + 1] - 1]);
            solve_dense(&f.a, 1, b, x);
            double energy = 0, sum = 0;
            for (int32_t i = 0; i < n; i++)
                energy += b[i] * x[i];
            assert_done(f.ctx, sn_factor_forward(f.factor, 1, y, NULL));
            for (int32_t i = 0; i < n; i++)
                sum += y[i] * y[i];
            assert_near(sum, energy, 2 * solution_bound[storage] * energy);
            fixture_end(&f);
        }
    }
}

/// Halves are the nearest ones and come back the same at every level; so do floats and doubles.
static void levels_read_the_same_numbers(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    // Diagonal matrices: L holds one number, stored as its reciprocal; 1 / sqrt(a) covers [0.7, 1.4].
    for (int32_t k = 0; k < 400; k++) {
        double value = 0.5 + 1.5 * k / 400, answer[SN_SWEEP_AVX512 + 1];
        const int64_t start[] = {0, 1};
        const int32_t column[] = {0};
        const sn_factor_matrix matrix = {1, start, column, &value};
        sn_factor_def def = sn_factor_def_default();
        def.storage = SN_FACTOR_HALF;
        sn_factor *factor = NULL;
        assert_done(ctx, sn_factor_create(ctx, &matrix, &def, &factor));
        assert_done(ctx, sn_factor_numeric(factor, &matrix));
        for (sn_sweep_level level = SN_SWEEP_PLAIN; level <= sn_sweep_best_level(); level++) {
            factor->kernels = sn_sweep_choose(SN_FACTOR_HALF, level);
            answer[level] = 1;
            assert_done(ctx, sn_factor_solve(factor, 1, &answer[level]));
            assert_true(answer[level] == answer[0]);
        }
        // Twice half a unit in the last place of 11 bits.
        assert_near(answer[0] * value, 1, 0x1.01p-10);
        sn_factor_destroy(&factor);
    }
    test_context_end(&ctx);
}

static void refinement_reaches_the_matrix(void **state) {
    (void)state;
    enum { SIDE = 20, N = SIDE * SIDE * SIDE };
    for (sn_factor_storage storage = SN_FACTOR_DOUBLE; storage <= SN_FACTOR_HALF; storage++) {
        sn_context *ctx = test_context(2);
        sn_csr a = make_lattice(ctx, SIDE);
        sn_random random = sn_random_make(6);
        int32_t kept[200];
        double *b = malloc(sizeof *b * N * 3), *x = calloc(N * 3, sizeof *x), reached = 1;
        sn_factor_def def = sn_factor_def_default();
        for (int32_t k = 0; k < 200; k++)
            kept[k] = 3 * k;
        def.kept = kept;
        def.kept_count = 200;
        def.storage = def.kept_storage = storage;
        sn_factor_matrix matrix = view(&a);
        sn_factor *factor = NULL;
        assert_done(ctx, sn_factor_create(ctx, &matrix, &def, &factor));
        assert_done(ctx, sn_factor_numeric(factor, &matrix));
        for (int32_t i = 0; i < N * 3; i++)
            b[i] = sn_random_normal(&random);
        const int32_t enough[] = {2, 4, 9};
        assert_done(ctx, sn_factor_refine(factor, &matrix, 3, b, x, 1e-12, enough[storage], &reached));
        assert_at_most(reached, 1e-12);
        double *ax = malloc(sizeof *ax * N * 3);
        sn_csr_multiply(&a, 3, x, ax);
        for (int32_t i = 0; i < N * 3; i++)
            assert_near(ax[i], b[i], 1e-11);
        // Later calls allocate nothing; what cannot be reached is said.
        uint64_t allocations = sn_context_allocation_count(ctx);
        memset(x, 0, sizeof *x * N * 3);
        assert_int_equal(sn_factor_refine(factor, &matrix, 1, b, x, 0, 1, &reached), SN_NOT_CONVERGED);
        assert_at_most(reached, storage == SN_FACTOR_HALF ? 0.1 : 1e-4);
        assert_int_equal(sn_context_allocation_count(ctx), allocations);
        double before = x[0];
        b[1] = NAN;
        assert_int_equal(sn_factor_refine(factor, &matrix, 3, b, x, 1e-9, 3, &reached), SN_ERR_NON_FINITE);
        assert_true(x[0] == before);
        free(ax);
        free(x);
        free(b);
        sn_factor_destroy(&factor);
        sn_csr_destroy(ctx, &a);
        test_context_end(&ctx);
    }
}

static void refinement_of_small_and_empty_systems(void **state) {
    (void)state;
    sn_random random = sn_random_make(9);
    for (int32_t c = 0; c < CASES; c++) {
        static double b[3 * MAX_N], x[3 * MAX_N];
        double reached = 1;
        fixture f;
        fixture_begin(&f, &random, c, 0, SN_FACTOR_HALF, sn_sweep_best_level());
        sn_factor_matrix matrix = view(&f.a);
        for (int32_t i = 0; i < 3 * f.a.n; i++) {
            b[i] = i % 3 == 1 ? 0 : sn_random_normal(&random); // one right-hand side is zero
            x[i] = 0;
        }
        assert_done(f.ctx, sn_factor_refine(f.factor, &matrix, 3, b, x, 1e-12, 12, &reached));
        assert_at_most(reached, 1e-12);
        for (int32_t i = 1; i < 3 * f.a.n; i += 3)
            assert_true(x[i] == 0);
        fixture_end(&f);
    }
}

static uint64_t hash_lattice(int32_t threads, sn_factor_storage storage, int32_t kept_count) {
    enum { SIDE = 22, N = SIDE * SIDE * SIDE };
    sn_context *ctx = test_context(threads);
    sn_csr a = make_lattice(ctx, SIDE);
    sn_random random = sn_random_make(8);
    int32_t *kept = malloc(sizeof *kept * (size_t)(kept_count + 1));
    double *x = malloc(sizeof *x * N * 3), reached;
    for (int32_t k = 0; k < kept_count; k++)
        kept[k] = k * 2;
    sn_factor_def def = sn_factor_def_default();
    def.kept = kept;
    def.kept_count = kept_count;
    def.storage = def.kept_storage = storage;
    sn_factor_matrix matrix = view(&a);
    sn_factor *factor = NULL;
    assert_done(ctx, sn_factor_create(ctx, &matrix, &def, &factor));
    assert_done(ctx, sn_factor_numeric(factor, &matrix));
    for (int32_t i = 0; i < N * 3; i++)
        x[i] = sn_random_normal(&random);
    assert_done(ctx, sn_factor_solve(factor, 3, x));
    uint64_t hash = sn_hash(SN_HASH_START, x, sizeof *x * N * 3);
    double *y = calloc(N * 3, sizeof *y);
    assert_in_range(sn_factor_refine(factor, &matrix, 3, x, y, 0, 2, &reached), SN_OK, SN_NOT_CONVERGED);
    hash = sn_hash(hash, y, sizeof *y * N * 3);
    free(y);
    free(x);
    free(kept);
    sn_factor_destroy(&factor);
    sn_csr_destroy(ctx, &a);
    test_context_end(&ctx);
    return hash;
}

static void same_bits_for_any_thread_count(void **state) {
    (void)state;
    for (sn_factor_storage storage = SN_FACTOR_DOUBLE; storage <= SN_FACTOR_HALF; storage++)
        for (int32_t kept_count = 0; kept_count <= 300; kept_count += 300) {
            uint64_t first = hash_lattice(1, storage, kept_count);
            assert_true(hash_lattice(2, storage, kept_count) == first);
            assert_true(hash_lattice(4, storage, kept_count) == first);
        }
}

/// Nothing is stored but L, up to the alignment of wide panels.
static void storage_is_exact(void **state) {
    (void)state;
    for (int32_t width = 1; width < 100; width++)
        for (int32_t rows = 0; rows < 50; rows += 7) {
            int64_t entries = (int64_t)width * (width + 1) / 2 + (int64_t)width * rows;
            assert_in_range(sn_packed_size(width, rows) - entries, 0, 8 * (width / SN_STRIPE_COLUMNS));
            int64_t sum = 0;
            for (int32_t column = 0; column < width; column += SN_STRIPE_COLUMNS) {
                int32_t columns = sn_stripe_columns(width, column);
                assert_int_equal(sn_stripe_start(width + rows, column / SN_STRIPE_COLUMNS), sum);
                sum += sn_stripe_size(columns, width - column - columns + rows);
            }
            assert_int_equal(sn_packed_size(width, rows), sum);
        }
}

static void refuses_wrong_arguments(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    const int64_t start[] = {0, 1, 3};
    const int32_t column[] = {0, 0, 1};
    const double value[] = {2, -1, 2}, b[] = {1, 1};
    const sn_factor_matrix matrix = {2, start, column, value}, other = {1, start, column, value};
    sn_factor *factor = NULL;
    sn_factor_def def = sn_factor_def_default();
    assert_int_equal(def.storage, SN_FACTOR_FLOAT);
    assert_int_equal(def.kept_storage, SN_FACTOR_DOUBLE);
    def.storage = (sn_factor_storage)3;
    assert_int_equal(sn_factor_create(ctx, &matrix, &def, &factor), SN_ERR_INVALID_ARGUMENT);
    def.storage = SN_FACTOR_HALF;
    def.kept_storage = (sn_factor_storage)3;
    assert_int_equal(sn_factor_create(ctx, &matrix, &def, &factor), SN_ERR_INVALID_ARGUMENT);
    def.kept_storage = SN_FACTOR_HALF;
    assert_done(ctx, sn_factor_create(ctx, &matrix, &def, &factor));
    double x[2] = {5, 7}, reached;
    assert_int_equal(sn_factor_refine(factor, &matrix, 1, b, x, 1e-12, 9, &reached), SN_ERR_INVALID_ARGUMENT);
    assert_done(ctx, sn_factor_numeric(factor, &matrix));
    assert_int_equal(sn_factor_refine(factor, &other, 1, b, x, 1e-12, 9, &reached), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_factor_refine(factor, &matrix, 4, b, x, 1e-12, 9, NULL), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_factor_refine(factor, &matrix, 1, b, x, -1, 9, NULL), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_factor_refine(factor, &matrix, 1, b, x, 0, -1, NULL), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_factor_refine(factor, &matrix, 1, NULL, x, 0, 1, NULL), SN_ERR_INVALID_ARGUMENT);
    assert_true(x[0] == 5 && x[1] == 7);
    assert_done(ctx, sn_factor_refine(factor, &matrix, 1, b, x, 1e-12, 9, NULL));
    assert_near(x[0], 1, 1e-11);
    sn_factor_destroy(&factor);
    test_context_end(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_storage_agrees_with_dense_arithmetic),
        cmocka_unit_test(scales_do_not_show),
        cmocka_unit_test(levels_read_the_same_numbers),
        cmocka_unit_test(refinement_reaches_the_matrix),
        cmocka_unit_test(refinement_of_small_and_empty_systems),
        cmocka_unit_test(same_bits_for_any_thread_count),
        cmocka_unit_test(storage_is_exact),
        cmocka_unit_test(refuses_wrong_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
