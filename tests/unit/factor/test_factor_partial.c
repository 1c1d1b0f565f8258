/// The partial factor against dense reference arithmetic, on generated matrices and kept sets of all kinds.
#include "test_support.h"

#include "base/base_util.h"
#include "sinew/factor.h"
#include "sparse/sparse_csr.h"

enum { CASES = 120, MAX_N = 400 };

typedef enum pattern_kind { RANDOM, GRID, DENSE, ARROW, DIAGONAL, PIECES, CHAIN, KINDS } pattern_kind;

typedef struct builder {
    sn_triplet *triplets;
    int64_t count;
    int32_t n;
    sn_random *random;
} builder;

/// A spring between two unknowns: keeps the matrix symmetric, semidefinite and scale-free.
static void add_spring(builder *b, int32_t i, int32_t j) {
    double k = sn_random_range(b->random, 0.1, 2), sign = sn_random_real(b->random) < 0.5 ? -1 : 1;
    if (i == j)
        return;
    b->triplets[b->count++] = (sn_triplet){i, i, k};
    b->triplets[b->count++] = (sn_triplet){j, j, k};
    b->triplets[b->count++] = (sn_triplet){i, j, sign * k};
}

static void add_random(builder *b, int32_t first, int32_t end) {
    for (int32_t e = 0; e < 2 * (end - first); e++)
        add_spring(b, first + sn_random_index(b->random, end - first),
                   first + sn_random_index(b->random, end - first));
}

static void add_grid(builder *b) {
    int32_t side = (int32_t)floor(cbrt(b->n));
    for (int32_t i = 0; i < side * side * side; i++) {
        if (i % side + 1 < side)
            add_spring(b, i, i + 1);
        if (i / side % side + 1 < side)
            add_spring(b, i, i + side);
        if (i / (side * side) + 1 < side)
            add_spring(b, i, i + side * side);
    }
}

static void add_pattern(builder *b, pattern_kind kind) {
    if (kind == RANDOM)
        add_random(b, 0, b->n);
    if (kind == GRID)
        add_grid(b);
    if (kind == DENSE)
        for (int32_t i = 0; i < b->n; i++)
            for (int32_t j = 0; j < i; j++)
                add_spring(b, i, j);
    if (kind == ARROW)
        for (int32_t i = 1; i < b->n; i++)
            add_spring(b, 0, i);
    if (kind == PIECES)
        for (int32_t p = 0; p < 5; p++)
            add_random(b, b->n * p / 5, b->n * (p + 1) / 5);
    if (kind == CHAIN)
        for (int32_t i = 1; i < b->n; i++)
            add_spring(b, i - 1, i);
}

/// A symmetric positive definite matrix of a kind; n and values from `random`.
static sn_csr make_matrix(sn_context *ctx, sn_random *random, pattern_kind kind, int32_t n) {
    builder b = {.n = n, .random = random};
    b.triplets = malloc(sizeof *b.triplets * (size_t)(3 * n * n + 20 * n + 1));
    for (int32_t i = 0; i < n; i++)
        b.triplets[b.count++] = (sn_triplet){i, i, sn_random_range(random, 0.01, 0.1)};
    add_pattern(&b, kind);
    sn_csr a = {0};
    assert_done(ctx, sn_csr_create(ctx, n, b.count, b.triplets, &a));
    free(b.triplets);
    return a;
}

static sn_factor_matrix view(const sn_csr *a) {
    return (sn_factor_matrix){a->n, a->start, a->column, a->value};
}

/// Chooses a kept list in random order; `kind` 0 none, 1 one, 2 all, 3 a few, 4 half.
static int32_t choose_kept(sn_random *random, int32_t n, int32_t kind, int32_t *kept) {
    for (int32_t i = 0; i < n; i++)
        kept[i] = i;
    for (int32_t i = n - 1; i > 0; i--) {
        int32_t j = sn_random_index(random, i + 1), swap = kept[i];
        kept[i] = kept[j];
        kept[j] = swap;
    }
    const int32_t count[] = {0, n < 1 ? n : 1, n, (n + 9) / 10, n / 2};
    return count[kind];
}

/// Dense A with the kept unknowns last, eliminated in place up to them: what is left in the corner is S.
static double *dense_schur(const sn_csr *a, const int32_t *kept, int32_t kept_count) {
    int32_t n = a->n, free_count = 0;
    int32_t *position = malloc(sizeof *position * (size_t)(n + 1));
    double *d = calloc((size_t)n * (size_t)n + 1, sizeof *d);
    memset(position, 0xff, sizeof *position * (size_t)(n + 1));
    for (int32_t k = 0; k < kept_count; k++)
        position[kept[k]] = n - kept_count + k;
    for (int32_t i = 0; i < n; i++)
        if (position[i] < 0)
            position[i] = free_count++;
    for (int32_t i = 0; i < n; i++)
        for (int64_t e = a->start[i]; e < a->start[i + 1]; e++) {
            int32_t p = position[i], q = position[a->column[e]];
            d[(int64_t)p * n + q] = d[(int64_t)q * n + p] = a->value[e];
        }
    for (int32_t k = 0; k < free_count; k++)
        for (int32_t i = k + 1; i < n; i++) {
            double ratio = d[(int64_t)i * n + k] / d[(int64_t)k * n + k];
            for (int32_t j = k + 1; ratio != 0 && j < n; j++)
                d[(int64_t)i * n + j] -= ratio * d[(int64_t)k * n + j];
        }
    free(position);
    return d;
}

static double largest(const double *x, int64_t count) {
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        most = fabs(x[i]) > most ? fabs(x[i]) : most;
    return most;
}

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

/// |A x - b| relative to |A| |x|.
static double residual(const sn_csr *a, int32_t width, const double *x, const double *b) {
    int64_t count = (int64_t)a->n * width;
    double *ax = malloc(sizeof *ax * (size_t)(count + 1));
    sn_csr_multiply(a, width, x, ax);
    for (int64_t i = 0; i < count; i++)
        ax[i] -= b[i];
    double error = largest(ax, count) / (largest(a->value, a->start[a->n]) * largest(x, count));
    free(ax);
    return count > 0 ? error : 0;
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

/// Large enough for several groups and a top, with fronts of several tiles.
static sn_csr make_lattice(sn_context *ctx, int32_t side) {
    int32_t n = side * side * side;
    sn_triplet *t = malloc(sizeof *t * (size_t)n * 4);
    int64_t count = 0;
    for (int32_t i = 0; i < n; i++) {
        const int32_t step[] = {1, side, side * side};
        const int32_t at[] = {i % side, i / side % side, i / (side * side)};
        t[count++] = (sn_triplet){i, i, 6.01};
        for (int32_t axis = 0; axis < 3; axis++)
            if (at[axis] + 1 < side)
                t[count++] = (sn_triplet){i + step[axis], i, -1};
    }
    sn_csr a = {0};
    assert_done(ctx, sn_csr_create(ctx, n, count, t, &a));
    free(t);
    return a;
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
    assert_done(ctx, sn_factor_create(ctx, &good, NULL, &factor));
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_dense_arithmetic), cmocka_unit_test(same_bits_for_any_thread_count),
        cmocka_unit_test(names_the_unknown_that_fails), cmocka_unit_test(indefinite_schur_leaves_the_vector),
        cmocka_unit_test(refuses_wrong_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
