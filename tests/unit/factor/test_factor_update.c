/// Partial refactorization: the same bits as a full one, at the cost of what changed.
#include "factor_cases.h"

enum { CASES = 90, MAX_N = 300, SIDE = 20, LATTICE = SIDE * SIDE * SIDE };

/// Changes the entries among the named unknowns: some become zero, none makes the matrix indefinite.
static void change_entries(sn_random *random, const bool *named, sn_csr *a) {
    for (int32_t i = 0; i < a->n; i++)
        for (int64_t e = a->start[i]; e < a->start[i + 1]; e++) {
            if (!named[i] || !named[a->column[e]])
                continue;
            if (a->column[e] == i)
                a->value[e] *= 1 + 0.5 * sn_random_real(random);
            else
                a->value[e] *= sn_random_real(random) < 0.3 ? 0 : sn_random_range(random, -1, 1);
        }
}

/// Unknowns of one change: none, one, a few, all.
static int32_t choose_changed(sn_random *random, int32_t n, int32_t kind, int32_t *changed, bool *named) {
    const int32_t count[] = {0, n < 1 ? n : 1, n / 8, n};
    memset(named, 0, (size_t)n * sizeof *named);
    for (int32_t k = 0; k < count[kind]; k++) {
        changed[k] = kind == 3 ? k : sn_random_index(random, n);
        named[changed[k]] = true;
    }
    return count[kind];
}

static void check_case(sn_random *random, pattern_kind kind, int32_t n, int32_t kept_kind,
                       sn_factor_keep keep, int32_t threads) {
    sn_context *ctx = test_context(threads);
    sn_csr a = make_matrix(ctx, random, kind, n);
    int32_t kept[MAX_N], changed[MAX_N];
    bool named[MAX_N];
    sn_factor_def def = sn_factor_def_default();
    def.storage = SN_FACTOR_DOUBLE;
    def.kept = kept;
    def.kept_count = choose_kept(random, n, kept_kind, kept);
    def.late = kept + def.kept_count;
    def.late_count = (n - def.kept_count) / 5;
    def.keep = keep;
    sn_factor_matrix matrix = view(&a);
    sn_factor *factor = NULL;
    assert_done(ctx, sn_factor_create(ctx, &matrix, &def, &factor));
    assert_done(ctx, sn_factor_numeric(factor, &matrix));
    for (int32_t round = 0; round < 6; round++) {
        int32_t count = choose_changed(random, n, round % 4, changed, named);
        change_entries(random, named, &a);
        uint64_t allocations = sn_context_allocation_count(ctx);
        bool finds = sn_random_real(random) < 0.5;
        assert_done(ctx, sn_factor_update(factor, &matrix, finds ? SN_FACTOR_FIND_CHANGED : count,
                                          finds ? NULL : changed));
        assert_int_equal(sn_context_allocation_count(ctx), allocations);
        sn_factor_info info = sn_factor_get_info(factor);
        assert_at_most(info.done_flops, info.work_flops);
        if (count == 0 && keep != SN_FACTOR_KEEP_NONE)
            assert_true(info.done_flops == 0);
        assert_true(hash_numbers(ctx, factor) == hash_fresh(ctx, &matrix, &def));
    }
    sn_factor_destroy(&factor);
    sn_csr_destroy(ctx, &a);
    test_context_end(&ctx);
}

static void same_bits_as_a_full_factorization(void **state) {
    (void)state;
    sn_random random = sn_random_make(5);
    for (int32_t c = 0; c < CASES; c++) {
        int32_t n = c < 21 ? c / 7 : 1 + sn_random_index(&random, c % 3 ? 60 : MAX_N - 1);
        check_case(&random, (pattern_kind)(c % KINDS), n, c / KINDS % 5, (sn_factor_keep)(c % 3), 1 + c % 2);
    }
}

/// A lattice with a patch of kept unknowns on one side and a block of late ones that touches it.
typedef struct lattice {
    sn_context *ctx;
    sn_csr a;
    int32_t kept[SIDE * SIDE], late[LATTICE], block[125];
    bool named[LATTICE];
    sn_factor_def def;
    sn_factor *factor;
} lattice;

/// `late_count` 0: nothing is late; else the block is.
static void lattice_begin(lattice *l, int32_t threads, bool is_late, sn_factor_keep keep) {
    *l = (lattice){.ctx = test_context(threads)};
    l->a = make_lattice(l->ctx, SIDE);
    l->def = sn_factor_def_default();
    for (int32_t k = 0; k < SIDE * SIDE; k++)
        l->kept[k] = k;
    for (int32_t k = 0; k < 125; k++) {
        l->block[k] = 7 + k % 5 + SIDE * (7 + k / 5 % 5 + SIDE * (1 + k / 25));
        l->named[l->block[k]] = true;
    }
    l->def.kept = l->kept;
    l->def.kept_count = SIDE * SIDE;
    l->def.late = l->block;
    l->def.late_count = is_late ? 125 : 0;
    l->def.keep = keep;
    sn_factor_matrix matrix = view(&l->a);
    assert_done(l->ctx, sn_factor_create(l->ctx, &matrix, &l->def, &l->factor));
    assert_done(l->ctx, sn_factor_numeric(l->factor, &matrix));
}

static void lattice_end(lattice *l) {
    sn_factor_destroy(&l->factor);
    sn_csr_destroy(l->ctx, &l->a);
    test_context_end(&l->ctx);
}

/// Share of the operations that a change in the block takes; the result is that of a fresh factor.
static double update_block(lattice *l, uint64_t *out_hash) {
    sn_random random = sn_random_make(3);
    change_entries(&random, l->named, &l->a);
    sn_factor_matrix matrix = view(&l->a);
    assert_done(l->ctx, sn_factor_update(l->factor, &matrix, 125, l->block));
    sn_factor_info info = sn_factor_get_info(l->factor);
    *out_hash = hash_numbers(l->ctx, l->factor);
    return info.done_flops / info.work_flops;
}

static void work_follows_the_change(void **state) {
    (void)state;
    const sn_factor_keep keep[] = {SN_FACTOR_KEEP_NONE, SN_FACTOR_KEEP_ALL, SN_FACTOR_KEEP_LATE};
    double share[3], bytes[3];
    for (int32_t k = 0; k < 3; k++) {
        lattice l;
        uint64_t hash = 0;
        lattice_begin(&l, 2, k == 2, keep[k]);
        sn_factor_matrix matrix = view(&l.a);
        sn_factor_info info = sn_factor_get_info(l.factor);
        // What was predicted before any number was there is what was counted.
        assert_near(info.done_flops, info.work_flops, 1e-6 * info.work_flops);
        assert_true(info.work_flops >= info.flops);
        bytes[k] = info.update_bytes;
        share[k] = update_block(&l, &hash);
        assert_true(hash == hash_fresh(l.ctx, &matrix, &l.def));
        lattice_end(&l);
    }
    assert_near(share[0], 1, 1e-6);
    // Here the separators above the block are most of the work, unless the block is ordered late.
    assert_at_most(share[1], 0.95);
    assert_at_most(share[2], 0.1);
    assert_true(bytes[0] == 0);
    assert_true(bytes[1] > bytes[2] && bytes[2] > 0);
}

static void same_bits_for_any_thread_count(void **state) {
    (void)state;
    for (int32_t is_late = 0; is_late < 2; is_late++) {
        uint64_t first = 0;
        for (int32_t threads = 1; threads <= 4; threads *= 2) {
            lattice l;
            uint64_t hash = 0;
            lattice_begin(&l, threads, is_late, is_late ? SN_FACTOR_KEEP_LATE : SN_FACTOR_KEEP_ALL);
            update_block(&l, &hash);
            first = threads == 1 ? hash : first;
            assert_true(hash == first);
            lattice_end(&l);
        }
    }
}

static void a_failed_update_can_be_taken_back(void **state) {
    (void)state;
    for (int32_t threads = 1; threads <= 2; threads++) {
        lattice l;
        lattice_begin(&l, threads, true, SN_FACTOR_KEEP_LATE);
        sn_factor_matrix matrix = view(&l.a);
        uint64_t before = hash_numbers(l.ctx, l.factor);
        double work = sn_factor_get_info(l.factor).work_flops, x[LATTICE] = {0};
        for (int32_t k = 0; k < 125; k += 31) {
            double *diagonal = &l.a.value[l.a.start[l.block[k] + 1] - 1], was = *diagonal;
            *diagonal = -4;
            assert_int_equal(sn_factor_update(l.factor, &matrix, 1, &l.block[k]),
                             SN_ERR_NOT_POSITIVE_DEFINITE);
            assert_int_equal(sn_factor_get_info(l.factor).failed_unknown, l.block[k]);
            assert_at_most(sn_factor_get_info(l.factor).failed_pivot, -4);
            assert_int_equal(sn_factor_solve(l.factor, 1, x), SN_ERR_INVALID_ARGUMENT);
            *diagonal = was;
            assert_done(l.ctx, sn_factor_update(l.factor, &matrix, 0, NULL));
            assert_at_most(sn_factor_get_info(l.factor).done_flops, 0.1 * work);
            assert_true(sn_factor_get_info(l.factor).done_flops > 0);
            assert_true(hash_numbers(l.ctx, l.factor) == before);
        }
        // After a full numeric phase has failed, everything is computed.
        double *diagonal = &l.a.value[l.a.start[l.late[0] + 1] - 1], was = *diagonal;
        *diagonal = -4;
        assert_int_equal(sn_factor_numeric(l.factor, &matrix), SN_OK);
        *diagonal = was;
        l.a.value[l.a.start[LATTICE] - 1] = -4;
        assert_int_equal(sn_factor_numeric(l.factor, &matrix), SN_ERR_NOT_POSITIVE_DEFINITE);
        l.a.value[l.a.start[LATTICE] - 1] = 6.01;
        assert_done(l.ctx, sn_factor_update(l.factor, &matrix, 0, NULL));
        assert_true(hash_numbers(l.ctx, l.factor) == before);
        lattice_end(&l);
    }
}

static void refuses_wrong_arguments(void **state) {
    (void)state;
    lattice l;
    lattice_begin(&l, 1, true, SN_FACTOR_KEEP_LATE);
    sn_factor_matrix matrix = view(&l.a), valueless = matrix, small = matrix;
    valueless.value = NULL;
    small.n = 3;
    const int32_t outside[] = {LATTICE}, negative[] = {-1};
    uint64_t before = hash_numbers(l.ctx, l.factor);
    assert_int_equal(sn_factor_update(NULL, &matrix, 0, NULL), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_factor_update(l.factor, NULL, 0, NULL), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_factor_update(l.factor, &valueless, 0, NULL), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_factor_update(l.factor, &small, 0, NULL), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_factor_update(l.factor, &matrix, 1, NULL), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_factor_update(l.factor, &matrix, -2, l.block), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_factor_update(l.factor, &matrix, 1, outside), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_factor_update(l.factor, &matrix, 1, negative), SN_ERR_INVALID_ARGUMENT);
    int64_t diagonal = l.a.start[l.block[0] + 1] - 1;
    l.a.value[diagonal] = INFINITY;
    assert_int_equal(sn_factor_update(l.factor, &matrix, 1, l.block), SN_ERR_NON_FINITE);
    assert_non_null(strstr(sn_context_message(l.ctx), "inf"));
    l.a.value[diagonal] = 6.01;
    assert_true(hash_numbers(l.ctx, l.factor) == before);

    sn_factor *factor = NULL;
    sn_factor_def def = l.def;
    def.late = l.kept;
    assert_int_equal(sn_factor_create(l.ctx, &matrix, &def, &factor), SN_ERR_INVALID_ARGUMENT);
    def = l.def, def.late = NULL;
    assert_int_equal(sn_factor_create(l.ctx, &matrix, &def, &factor), SN_ERR_INVALID_ARGUMENT);
    def = l.def, def.late_count = LATTICE;
    assert_int_equal(sn_factor_create(l.ctx, &matrix, &def, &factor), SN_ERR_INVALID_ARGUMENT);
    def = l.def, def.keep = (sn_factor_keep)3;
    assert_int_equal(sn_factor_create(l.ctx, &matrix, &def, &factor), SN_ERR_INVALID_ARGUMENT);
    assert_null(factor);
    lattice_end(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_as_a_full_factorization),
        cmocka_unit_test(work_follows_the_change),
        cmocka_unit_test(same_bits_for_any_thread_count),
        cmocka_unit_test(a_failed_update_can_be_taken_back),
        cmocka_unit_test(refuses_wrong_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
