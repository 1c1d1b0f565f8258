/// What holds for every matrix and kept set, on generated ones: S, solutions and J of dense arithmetic, the
/// same bits for any number of threads, before and after a change, and every allocation may fail.
#include "factor_cases.h"

enum { CASES = 100, MAX_N = 240 };

/// One drawn problem. `order` holds all unknowns: kept ones, then late ones, then the rest.
typedef struct problem {
    pattern_kind kind;
    int32_t n, kept_count, late_count, order[MAX_N];
    sn_factor_keep keep;
    uint64_t seed;
} problem;

static problem draw(sn_random *random, int32_t index) {
    problem p = {.kind = (pattern_kind)(index % KINDS), .keep = (sn_factor_keep)(index % 3)};
    p.n = index < 3 * KINDS ? index / KINDS : 2 + sn_random_index(random, MAX_N - 2);
    p.kept_count = choose_kept(random, p.n, index / 2 % 5, p.order);
    p.late_count = p.n > p.kept_count ? sn_random_index(random, p.n - p.kept_count + 1) / 3 : 0;
    p.seed = sn_random_u64(random);
    return p;
}

static sn_csr make(sn_context *ctx, const problem *p) {
    sn_random random = sn_random_make(p->seed);
    return make_matrix(ctx, &random, p->kind, p->n);
}

static sn_factor_def define(const problem *p) {
    sn_factor_def def = sn_factor_def_default();
    def.storage = SN_FACTOR_DOUBLE;
    def.kept = p->order;
    def.kept_count = p->kept_count;
    def.late = p->order + p->kept_count;
    def.late_count = p->late_count;
    def.keep = p->keep;
    return def;
}

/// S against dense elimination, A x = b, and A [J Z; Z] = [0; S Z]; returns a hash of all of it.
static uint64_t check_numbers(sn_context *ctx, sn_factor *factor, const sn_csr *a, const problem *p) {
    static double s[MAX_N * MAX_N], z[3 * MAX_N], x[3 * MAX_N], b[3 * MAX_N], j[3 * MAX_N], aj[3 * MAX_N];
    int32_t n = p->n, m = p->kept_count;
    double scale = largest(a->value, a->start[n]), *reference = dense_schur(a, p->order, m);
    sn_random random = sn_random_make(p->seed + 1);
    assert_done(ctx, sn_factor_schur(factor, s));
    for (int32_t i = 0; i < m; i++)
        for (int32_t k = 0; k < m; k++)
            assert_near(s[i * m + k], reference[(int64_t)(n - m + i) * n + n - m + k], 1e-12 * scale);
    free(reference);
    for (int32_t i = 0; i < 3 * n; i++)
        x[i] = b[i] = sn_random_normal(&random);
    assert_done(ctx, sn_factor_solve(factor, 3, x));
    assert_at_most(residual(a, 3, x, b), 1e-12);
    for (int32_t i = 0; i < 3 * m; i++)
        z[i] = sn_random_normal(&random);
    assert_done(ctx, sn_factor_jacobian(factor, 3, z, j));
    sn_csr_multiply(a, 3, j, aj);
    for (int32_t i = 0; i < m; i++)
        for (int32_t k = 0; k < m; k++)
            for (int32_t c = 0; c < 3; c++)
                aj[p->order[i] * 3 + c] -= s[i * m + k] * z[k * 3 + c];
    assert_at_most(largest(aj, 3 * n), 1e-12 * scale * (1 + largest(j, 3 * n)));
    uint64_t hash = sn_hash(SN_HASH_START, s, sizeof *s * (size_t)(m * m));
    hash = sn_hash(hash, x, sizeof *x * 3 * (size_t)n);
    return sn_hash(hash, j, sizeof *j * 3 * (size_t)n);
}

/// Softens the springs of every third unknown, some to nothing; lists these unknowns.
static int32_t change(sn_csr *a, int32_t *changed) {
    int32_t count = 0;
    for (int32_t i = 0; i < a->n; i += 3)
        changed[count++] = i;
    for (int32_t i = 0; i < a->n; i += 3)
        for (int64_t e = a->start[i]; e < a->start[i + 1]; e++)
            if (a->column[e] % 3 == 0 && a->column[e] != i)
                a->value[e] *= e % 2 ? 0.5 : 0;
    return count;
}

static uint64_t run_problem(const problem *p, int32_t threads) {
    sn_context *ctx = test_context(threads);
    sn_csr a = make(ctx, p);
    sn_factor_matrix matrix = view(&a);
    sn_factor_def def = define(p);
    sn_factor *factor = NULL;
    int32_t changed[MAX_N];
    assert_done(ctx, sn_factor_create(ctx, &matrix, &def, &factor));
    uint64_t allocations = sn_context_allocation_count(ctx);
    assert_done(ctx, sn_factor_numeric(factor, &matrix));
    sn_factor_info info = sn_factor_get_info(factor);
    assert_near(info.done_flops, info.work_flops, 1e-9 * info.work_flops);
    uint64_t hash = check_numbers(ctx, factor, &a, p);
    int32_t count = change(&a, changed);
    assert_done(ctx, sn_factor_update(factor, &matrix, count, changed));
    hash ^= 3 * check_numbers(ctx, factor, &a, p);
    uint64_t updated = check_numbers(ctx, factor, &a, p);
    assert_done(ctx, sn_factor_numeric(factor, &matrix));
    assert_true(check_numbers(ctx, factor, &a, p) == updated);
    assert_int_equal(sn_context_allocation_count(ctx), allocations);
    sn_factor_destroy(&factor);
    sn_csr_destroy(ctx, &a);
    test_context_end(&ctx);
    return hash;
}

static void holds_for_generated_problems(void **state) {
    (void)state;
    sn_random random = sn_random_make(20);
    for (int32_t c = 0; c < CASES; c++) {
        problem p = draw(&random, c);
        uint64_t one = run_problem(&p, 1);
        if (c % 5 == 0)
            assert_true(run_problem(&p, 2) == one && run_problem(&p, 4) == one);
    }
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    sn_random random = sn_random_make(4);
    for (int32_t c = 7; c < 21; c++) {
        problem p = draw(&random, 21 + c);
        failing f = {INT64_MAX};
        sn_context *ctx = failing_context(&f);
        sn_csr a = make(ctx, &p);
        sn_factor_matrix matrix = view(&a);
        sn_factor_def def = define(&p);
        uint64_t in_use = sn_context_memory_in_use(ctx);
        sn_factor *factor = NULL;
        sn_status status = SN_ERR_NO_MEMORY;
        for (int64_t n = 0; status == SN_ERR_NO_MEMORY; n++) {
            f.left = n;
            status = sn_factor_create(ctx, &matrix, &def, &factor);
            assert_true(status == SN_OK || (!factor && sn_context_memory_in_use(ctx) == in_use));
        }
        f.left = 0;
        assert_int_equal(status, SN_OK);
        assert_int_equal(sn_factor_numeric(factor, &matrix), SN_OK);
        assert_int_equal(sn_factor_update(factor, &matrix, SN_FACTOR_FIND_CHANGED, NULL), SN_OK);
        int32_t added = p.order[p.kept_count];
        static double s[(MAX_N + 1) * (MAX_N + 1)];
        if (p.kept_count < p.n)
            assert_int_equal(sn_factor_grow_schur(factor, 1, &added, s), SN_ERR_NO_MEMORY);
        f.left = INT64_MAX;
        sn_factor_destroy(&factor);
        sn_csr_destroy(ctx, &a);
        test_context_end(&ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_for_generated_problems),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
