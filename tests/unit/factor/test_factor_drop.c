/// Entries that are zero when the pattern is analyzed and left out on request.
#include "factor_cases.h"

enum { CASES = 63, MAX_N = 120 };

typedef enum zeroing { SOME, CUT, ALL, ZEROINGS } zeroing;

/// Makes entries off the diagonal zero: every other one or so, all between two halves, all there are.
static int64_t make_zeros(sn_random *random, zeroing kind, sn_csr *a) {
    int64_t count = 0;
    for (int32_t i = 0; i < a->n; i++)
        for (int64_t e = a->start[i]; e < a->start[i + 1] - 1; e++) {
            bool is_chosen = kind == SOME  ? sn_random_real(random) < 0.5
                             : kind == CUT ? i >= a->n / 2 && a->column[e] < a->n / 2
                                           : true;
            if (!is_chosen)
                continue;
            a->value[e] = sn_random_real(random) < 0.5 ? 0 : -0.0;
            count++;
        }
    return count;
}

/// The same matrix without its zeros, as the caller would make it.
static sn_csr without_zeros(sn_context *ctx, const sn_csr *a) {
    sn_triplet *t = malloc(sizeof *t * (size_t)(a->start[a->n] + 1));
    int64_t count = 0;
    sn_csr out = {0};
    for (int32_t i = 0; i < a->n; i++)
        for (int64_t e = a->start[i]; e < a->start[i + 1]; e++)
            if (a->value[e] != 0)
                t[count++] = (sn_triplet){i, a->column[e], a->value[e]};
    assert_done(ctx, sn_csr_create(ctx, a->n, count, t, &out));
    free(t);
    return out;
}

/// Other values, zero at the same places; among the first `count` unknowns only.
static void change_values(sn_random *random, int32_t count, sn_csr *a) {
    for (int32_t i = 0; i < count; i++)
        for (int64_t e = a->start[i]; e < a->start[i + 1]; e++)
            a->value[e] *= a->column[e] == i ? 1 + sn_random_real(random) : sn_random_range(random, -1, 1);
}

/// Holds the factor of the whole matrix to the one that the caller gets by dropping.
static void check_same(sn_context *ctx, sn_factor *factor, const sn_csr *a, const sn_factor_def *def,
                       int64_t zeros) {
    sn_csr reduced = without_zeros(ctx, a);
    sn_factor_matrix matrix = view(&reduced);
    sn_factor_def plain = *def;
    sn_factor *expected = NULL;
    plain.drop_zeros = false;
    assert_done(ctx, sn_factor_create(ctx, &matrix, &plain, &expected));
    assert_done(ctx, sn_factor_numeric(expected, &matrix));
    sn_factor_info info = sn_factor_get_info(factor), wanted = sn_factor_get_info(expected);
    assert_true(info.nonzeros == wanted.nonzeros && info.work_flops == wanted.work_flops);
    assert_true(info.dropped_count == zeros && wanted.dropped_count == 0);
    assert_true(hash_numbers(ctx, factor) == hash_numbers(ctx, expected));
    sn_factor_destroy(&expected);
    sn_csr_destroy(ctx, &reduced);
}

typedef struct problem {
    sn_context *ctx;
    sn_csr a;
    int64_t zeros;
    int32_t kept[MAX_N], first[MAX_N];
    sn_factor_def def;
    sn_factor *factor;
} problem;

static void problem_begin(problem *p, sn_context *ctx, sn_random *random, int32_t c) {
    int32_t n = c < 7 ? c / 3 : 2 + sn_random_index(random, MAX_N - 2);
    p->ctx = ctx;
    p->factor = NULL;
    p->a = make_matrix(ctx, random, (pattern_kind)(c % KINDS), n);
    p->zeros = make_zeros(random, (zeroing)(c % ZEROINGS), &p->a);
    p->def = sn_factor_def_default();
    p->def.kept = p->kept;
    p->def.kept_count = choose_kept(random, n, c / KINDS % 5, p->kept);
    p->def.late = p->kept + p->def.kept_count;
    p->def.late_count = (n - p->def.kept_count) / 5;
    p->def.keep = (sn_factor_keep)(c / 3 % 3);
    p->def.storage = SN_FACTOR_DOUBLE;
    p->def.drop_zeros = true;
    for (int32_t i = 0; i < n; i++)
        p->first[i] = i;
}

static void problem_end(problem *p) {
    sn_factor_destroy(&p->factor);
    sn_csr_destroy(p->ctx, &p->a);
    test_context_end(&p->ctx);
}

static void equals_a_matrix_without_them(void **state) {
    (void)state;
    sn_random random = sn_random_make(31);
    for (int32_t c = 0; c < CASES; c++) {
        problem p;
        problem_begin(&p, test_context(1 + c % 2), &random, c);
        sn_factor_matrix matrix = view(&p.a);
        assert_done(p.ctx, sn_factor_create(p.ctx, &matrix, &p.def, &p.factor));
        uint64_t allocations = sn_context_allocation_count(p.ctx);
        assert_done(p.ctx, sn_factor_numeric(p.factor, &matrix));
        check_same(p.ctx, p.factor, &p.a, &p.def, p.zeros);
        allocations = sn_context_allocation_count(p.ctx);
        change_values(&random, p.a.n, &p.a);
        assert_done(p.ctx, sn_factor_numeric(p.factor, &matrix));
        assert_int_equal(sn_context_allocation_count(p.ctx), allocations);
        check_same(p.ctx, p.factor, &p.a, &p.def, p.zeros);
        change_values(&random, p.a.n / 3, &p.a);
        assert_done(p.ctx, sn_factor_update(p.factor, &matrix, p.a.n / 3, p.first));
        check_same(p.ctx, p.factor, &p.a, &p.def, p.zeros);
        change_values(&random, p.a.n / 2, &p.a);
        assert_done(p.ctx, sn_factor_update(p.factor, &matrix, SN_FACTOR_FIND_CHANGED, NULL));
        check_same(p.ctx, p.factor, &p.a, &p.def, p.zeros);
        problem_end(&p);
    }
}

/// Every dropped entry in turn is refused by name, whatever the call, and nothing is changed.
static void refuses_numbers_where_it_dropped(void **state) {
    (void)state;
    sn_random random = sn_random_make(32);
    for (int32_t c = 3; c < CASES; c += 4) {
        problem p;
        problem_begin(&p, test_context(1), &random, c);
        sn_factor_matrix matrix = view(&p.a);
        assert_done(p.ctx, sn_factor_create(p.ctx, &matrix, &p.def, &p.factor));
        assert_done(p.ctx, sn_factor_numeric(p.factor, &matrix));
        uint64_t before = hash_numbers(p.ctx, p.factor);
        int64_t refused = 0;
        for (int32_t i = 0; i < p.a.n; i++)
            for (int64_t e = p.a.start[i]; e < p.a.start[i + 1] - 1; e++) {
                const int32_t pair[] = {p.a.column[e], i};
                char place[64];
                if (p.a.value[e] != 0 || refused++ % 5 > 0)
                    continue;
                snprintf(place, sizeof place, "(%d, %d)", (int)i, (int)pair[0]);
                p.a.value[e] = 1e-300;
                assert_int_equal(sn_factor_numeric(p.factor, &matrix), SN_ERR_INVALID_ARGUMENT);
                assert_non_null(strstr(sn_context_message(p.ctx), place));
                assert_int_equal(sn_factor_update(p.factor, &matrix, 2, pair), SN_ERR_INVALID_ARGUMENT);
                assert_non_null(strstr(sn_context_message(p.ctx), place));
                assert_int_equal(sn_factor_update(p.factor, &matrix, SN_FACTOR_FIND_CHANGED, NULL),
                                 SN_ERR_INVALID_ARGUMENT);
                assert_non_null(strstr(sn_context_message(p.ctx), place));
                p.a.value[e] = NAN;
                assert_int_equal(sn_factor_numeric(p.factor, &matrix), SN_ERR_NON_FINITE);
                assert_int_equal(sn_factor_update(p.factor, &matrix, 2, pair), SN_ERR_NON_FINITE);
                p.a.value[e] = 0;
            }
        assert_true(refused == p.zeros);
        assert_true(hash_numbers(p.ctx, p.factor) == before);
        assert_done(p.ctx, sn_factor_update(p.factor, &matrix, 0, NULL));
        assert_true(hash_numbers(p.ctx, p.factor) == before);
        problem_end(&p);
    }
}

/// A zero on the diagonal is an entry like others: it may become something else.
static void keeps_the_diagonal(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    const int64_t start[] = {0, 1, 3, 4};
    const int32_t column[] = {0, 0, 1, 2};
    double value[] = {1, 0, 0, 1}, x[] = {1, 8, 3};
    const sn_factor_matrix matrix = {3, start, column, value}, pattern = {3, start, column, NULL};
    sn_factor_def def = sn_factor_def_default();
    sn_factor *factor = NULL;
    def.drop_zeros = true;
    assert_int_equal(sn_factor_create(ctx, &pattern, &def, &factor), SN_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(sn_context_message(ctx), "values"));
    assert_done(ctx, sn_factor_create(ctx, &matrix, &def, &factor));
    assert_int_equal(sn_factor_get_info(factor).nonzeros, 3);
    assert_int_equal(sn_factor_get_info(factor).dropped_count, 1);
    assert_int_equal(sn_factor_numeric(factor, &matrix), SN_ERR_NOT_POSITIVE_DEFINITE);
    assert_int_equal(sn_factor_get_info(factor).failed_unknown, 1);
    value[2] = 4;
    assert_done(ctx, sn_factor_numeric(factor, &matrix));
    assert_done(ctx, sn_factor_solve(factor, 1, x));
    assert_true(x[0] == 1 && x[1] == 2 && x[2] == 3);
    value[1] = 0.5;
    assert_int_equal(sn_factor_numeric(factor, &matrix), SN_ERR_INVALID_ARGUMENT);
    // Refinement reads the matrix itself: there the entry counts.
    double b[] = {1.5, 4.5, 3}, residual = 1;
    assert_done(ctx, sn_factor_refine(factor, &matrix, 1, b, x, 1e-14, 20, &residual));
    assert_near(x[0] + x[1], 2, 1e-12);
    assert_at_most(residual, 1e-14);
    sn_factor_destroy(&factor);
    test_context_end(&ctx);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    sn_random random = sn_random_make(33);
    for (int32_t c = 7; c < 28; c += 2) {
        failing f = {INT64_MAX};
        problem p;
        problem_begin(&p, failing_context(&f), &random, c);
        sn_factor_matrix matrix = view(&p.a);
        uint64_t in_use = sn_context_memory_in_use(p.ctx);
        sn_status status = SN_ERR_NO_MEMORY;
        for (int64_t n = 0; status == SN_ERR_NO_MEMORY; n++) {
            f.left = n;
            status = sn_factor_create(p.ctx, &matrix, &p.def, &p.factor);
            assert_true(status == SN_OK || (!p.factor && sn_context_memory_in_use(p.ctx) == in_use));
        }
        assert_int_equal(status, SN_OK);
        f.left = 0;
        assert_int_equal(sn_factor_numeric(p.factor, &matrix), SN_OK);
        f.left = INT64_MAX;
        problem_end(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_a_matrix_without_them),
        cmocka_unit_test(refuses_numbers_where_it_dropped),
        cmocka_unit_test(keeps_the_diagonal),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
