/// The numeric phase in float and in double, with every storage: against dense arithmetic, after changes,
/// with units beyond the range of floats; pivots that float loses; the memory of both.
#include "factor_cases.h"

enum { CASES = 105, MAX_N = 120 };

/// Bound of errors relative to the largest entry, for matrices with a condition number of about 10: that of
/// the coarsest of storage and fronts.
static double bound_of(sn_factor_storage storage, sn_factor_fronts fronts) {
    if (storage == SN_FACTOR_HALF)
        return 2e-3;
    return storage == SN_FACTOR_DOUBLE && fronts != SN_FACTOR_FRONTS_FLOAT ? 1e-12 : 1e-5;
}

/// Of S, which storage does not touch.
static double schur_bound_of(const sn_factor_def *def) {
    bool in_double = def->fronts == SN_FACTOR_FRONTS_DOUBLE ||
                     (def->fronts == SN_FACTOR_FRONTS_AS_STORED && def->storage == SN_FACTOR_DOUBLE);
    return in_double ? 1e-12 : 1e-5;
}

/// A drawn matrix with a diagonal that dominates, in units `spread` decades apart.
typedef struct problem {
    sn_context *ctx;
    sn_csr a;
    int32_t order[MAX_N], kept_count; ///< kept unknowns first
    double unit[MAX_N];
} problem;

static void scale_units(problem *p, sn_random *random, double spread) {
    double sum[MAX_N] = {0};
    for (int32_t i = 0; i < p->a.n; i++)
        for (int64_t e = p->a.start[i]; e + 1 < p->a.start[i + 1]; e++) {
            sum[i] += fabs(p->a.value[e]);
            sum[p->a.column[e]] += fabs(p->a.value[e]);
        }
    for (int32_t i = 0; i < p->a.n; i++) {
        p->a.value[p->a.start[i + 1] - 1] = 1.25 * sum[i] + 0.1;
        p->unit[i] = pow(10, sn_random_range(random, -spread, spread));
    }
    for (int32_t i = 0; i < p->a.n; i++)
        for (int64_t e = p->a.start[i]; e < p->a.start[i + 1]; e++)
            p->a.value[e] *= p->unit[i] * p->unit[p->a.column[e]];
}

static void problem_begin(problem *p, sn_random *random, int32_t c, double spread) {
    int32_t n = c < 3 * KINDS ? c / KINDS : 2 + sn_random_index(random, MAX_N - 2);
    p->ctx = test_context(1 + c % 2);
    p->a = make_matrix(p->ctx, random, (pattern_kind)(c % KINDS), n);
    p->kept_count = choose_kept(random, n, c / 2 % 5, p->order);
    scale_units(p, random, spread);
}

static void problem_end(problem *p) {
    sn_csr_destroy(p->ctx, &p->a);
    test_context_end(&p->ctx);
}

static sn_factor_def define(const problem *p, sn_factor_storage storage, sn_factor_fronts fronts) {
    sn_factor_def def = sn_factor_def_default();
    def.kept = p->order;
    def.kept_count = p->kept_count;
    def.storage = storage;
    def.fronts = fronts;
    return def;
}

/// S, a solution and a column of J in units in which the diagonal of A is about 1.
static void check_numbers(const problem *p, sn_factor *factor, const sn_factor_def *def, sn_random *random) {
    static double s[MAX_N * MAX_N], b[MAX_N], x[MAX_N], ax[MAX_N], z[MAX_N];
    int32_t n = p->a.n, m = p->kept_count;
    double *reference = dense_schur(&p->a, p->order, m), bound = bound_of(def->storage, def->fronts);
    double most = 0;
    for (int32_t i = 0; i < n; i++) {
        double unit = p->unit[i] * p->unit[i];
        most = fmax(most, p->a.value[p->a.start[i + 1] - 1] / unit);
    }
    assert_done(p->ctx, sn_factor_schur(factor, s));
    for (int32_t i = 0; i < m; i++)
        for (int32_t k = 0; k < m; k++) {
            double unit = p->unit[p->order[i]] * p->unit[p->order[k]];
            double expected = reference[(int64_t)(n - m + i) * n + n - m + k];
            assert_near(s[i * m + k] / unit, expected / unit, schur_bound_of(def) * most);
            assert_true(s[i * m + k] == s[k * m + i]);
        }
    free(reference);
    for (int32_t i = 0; i < n; i++) {
        x[i] = sn_random_normal(random);
        b[i] = x[i] *= p->unit[i];
    }
    assert_done(p->ctx, sn_factor_solve(factor, 1, x));
    sn_csr_multiply(&p->a, 1, x, ax);
    for (int32_t i = 0; i < n; i++)
        assert_near(ax[i] / p->unit[i], b[i] / p->unit[i], 40 * bound);
    for (int32_t i = 0; i < m; i++)
        z[i] = sn_random_normal(random) / p->unit[p->order[i]];
    assert_done(p->ctx, sn_factor_jacobian(factor, 1, z, x));
    sn_csr_multiply(&p->a, 1, x, ax);
    for (int32_t i = 0; i < m; i++)
        ax[p->order[i]] = 0;
    for (int32_t i = 0; i < n; i++)
        assert_near(ax[i] / p->unit[i], 0, 10 * bound * most);
}

static void run_all(double spread) {
    for (sn_factor_fronts fronts = SN_FACTOR_FRONTS_AS_STORED; fronts <= SN_FACTOR_FRONTS_DOUBLE; fronts++)
        for (sn_factor_storage storage = SN_FACTOR_DOUBLE; storage <= SN_FACTOR_HALF; storage++) {
            sn_random random = sn_random_make(21);
            for (int32_t c = 0; c < CASES; c++) {
                problem p;
                sn_factor *factor = NULL;
                problem_begin(&p, &random, c, spread);
                sn_factor_def def = define(&p, storage, fronts);
                sn_factor_matrix matrix = view(&p.a);
                assert_done(p.ctx, sn_factor_create(p.ctx, &matrix, &def, &factor));
                uint64_t allocations = sn_context_allocation_count(p.ctx);
                assert_done(p.ctx, sn_factor_numeric(factor, &matrix));
                check_numbers(&p, factor, &def, &random);
                assert_int_equal(sn_context_allocation_count(p.ctx), allocations);
                sn_factor_destroy(&factor);
                problem_end(&p);
            }
        }
}

static void every_precision_agrees_with_dense_arithmetic(void **state) {
    (void)state;
    run_all(0);
}

/// Entries from 1e-60 to 1e60 and beyond: no float holds them.
static void units_beyond_floats(void **state) {
    (void)state;
    run_all(30);
}

/// A change leaves the bits of a full numeric phase, whatever is kept for it.
static void updates_leave_the_same_bits(void **state) {
    (void)state;
    sn_random random = sn_random_make(22);
    for (int32_t c = 0; c < 2 * CASES; c++) {
        problem p;
        sn_factor *factor = NULL, *fresh = NULL;
        int32_t changed[MAX_N], count = 0;
        problem_begin(&p, &random, c % CASES, 0);
        sn_factor_def def = define(&p, SN_FACTOR_FLOAT, SN_FACTOR_FRONTS_FLOAT);
        def.late = p.order + p.kept_count;
        def.late_count = (p.a.n - p.kept_count) / 4;
        def.keep = (sn_factor_keep)(c % 3);
        sn_factor_matrix matrix = view(&p.a);
        assert_done(p.ctx, sn_factor_create(p.ctx, &matrix, &def, &factor));
        assert_done(p.ctx, sn_factor_create(p.ctx, &matrix, &def, &fresh));
        assert_done(p.ctx, sn_factor_numeric(factor, &matrix));
        for (int32_t i = 0; i < p.a.n; i++)
            if (sn_random_index(&random, 5) == 0) {
                p.a.value[p.a.start[i + 1] - 1] *= 1.3;
                changed[count++] = i;
            }
        assert_done(p.ctx,
                    sn_factor_update(factor, &matrix, c % 2 ? count : SN_FACTOR_FIND_CHANGED, changed));
        assert_done(p.ctx, sn_factor_numeric(fresh, &matrix));
        assert_true(hash_numbers(p.ctx, factor) == hash_numbers(p.ctx, fresh));
        sn_factor_destroy(&factor);
        sn_factor_destroy(&fresh);
        problem_end(&p);
    }
}

/// Two unknowns that a float cannot tell apart.
static void names_the_remedy(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    const int64_t start[] = {0, 1, 3};
    const int32_t column[] = {0, 0, 1};
    const double close[] = {100, 100, 100 + 1e-7}, apart[] = {100, 50, 100};
    const sn_factor_matrix matrix = {2, start, column, close}, other = {2, start, column, apart};
    for (sn_factor_fronts fronts = SN_FACTOR_FRONTS_AS_STORED; fronts <= SN_FACTOR_FRONTS_DOUBLE; fronts++) {
        sn_factor *factor = NULL;
        sn_factor_def def = sn_factor_def_default();
        def.fronts = fronts;
        assert_done(ctx, sn_factor_create(ctx, &matrix, &def, &factor));
        if (fronts == SN_FACTOR_FRONTS_DOUBLE) {
            assert_done(ctx, sn_factor_numeric(factor, &matrix));
        } else {
            assert_int_equal(sn_factor_numeric(factor, &matrix), SN_ERR_NOT_POSITIVE_DEFINITE);
            assert_non_null(strstr(sn_context_message(ctx), "SN_FACTOR_FRONTS_DOUBLE"));
            assert_in_range(sn_factor_get_info(factor).failed_unknown, 0, 1);
            assert_near(sn_factor_get_info(factor).failed_pivot, 0, 1e-4);
            assert_done(ctx, sn_factor_numeric(factor, &other));
        }
        sn_factor_destroy(&factor);
    }
    sn_factor_def def = sn_factor_def_default();
    sn_factor *factor = NULL;
    def.fronts = (sn_factor_fronts)3;
    assert_int_equal(sn_factor_create(ctx, &matrix, &def, &factor), SN_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(sn_context_message(ctx), "SN_FACTOR_FRONTS_FLOAT"));
    assert_null(factor);
    test_context_end(&ctx);
}

/// Bytes beyond L itself: what fronts of half the size save, and a bound that plans of memory have kept.
static void memory_is_bounded(void **state) {
    (void)state;
    enum { SIDE = 30 };
    double bytes[2], stored = 0;
    for (int32_t k = 0; k < 2; k++) {
        sn_context *ctx = test_context(2);
        sn_csr a = make_lattice(ctx, SIDE);
        sn_factor_matrix matrix = view(&a);
        sn_factor_def def = sn_factor_def_default();
        def.fronts = k == 0 ? SN_FACTOR_FRONTS_FLOAT : SN_FACTOR_FRONTS_DOUBLE;
        sn_factor *factor = NULL;
        assert_done(ctx, sn_factor_create(ctx, &matrix, &def, &factor));
        sn_factor_info info = sn_factor_get_info(factor);
        stored = 4 * (double)info.nonzeros;
        bytes[k] = info.memory_bytes;
        sn_factor_destroy(&factor);
        sn_csr_destroy(ctx, &a);
        test_context_end(&ctx);
    }
    assert_at_most(bytes[0], 2 * stored);
    assert_at_most(bytes[0] - stored, 0.75 * (bytes[1] - stored));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_precision_agrees_with_dense_arithmetic),
        cmocka_unit_test(units_beyond_floats),
        cmocka_unit_test(updates_leave_the_same_bits),
        cmocka_unit_test(names_the_remedy),
        cmocka_unit_test(memory_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
