#include "test_support.h"

#include "base/base_util.h"
#include "sparse/sparse_csr.h"

static void sums_and_completes(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    // (0, 2) and (2, 0) mean the same entry; row 1 has no diagonal.
    const sn_triplet triplets[] = {{0, 2, 1}, {2, 2, 5}, {2, 0, 2}, {1, 0, -1}, {0, 0, 4}, {2, 2, 0.5}};
    sn_csr a = {0};
    assert_done(ctx, sn_csr_create(ctx, 3, 6, triplets, &a));
    const int64_t start[] = {0, 1, 3, 5};
    const int32_t column[] = {0, 0, 1, 0, 2};
    const double value[] = {4, -1, 0, 3, 5.5};
    assert_memory_equal(a.start, start, sizeof start);
    assert_memory_equal(a.column, column, sizeof column);
    for (int32_t e = 0; e < 5; e++)
        assert_near(a.value[e], value[e], 0);
    assert_int_equal(sn_csr_find(&a, 0, 2), 3);
    assert_int_equal(sn_csr_find(&a, 2, 1), -1);
    assert_int_equal(sn_csr_find(&a, 1, 1), 2);
    sn_csr_destroy(ctx, &a);
    test_context_end(&ctx);
}

static void refuses_indices_outside(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    const sn_triplet wrong[][1] = {{{0, 2, 1}}, {{-1, 0, 1}}, {{2, 1, 1}}};
    sn_csr a = {0};
    for (size_t k = 0; k < 3; k++)
        assert_int_equal(sn_csr_create(ctx, 2, 1, wrong[k], &a), SN_ERR_INVALID_ARGUMENT);
    assert_null(a.start);
    assert_done(ctx, sn_csr_create(ctx, 0, 0, NULL, &a));
    assert_int_equal(a.start[0], 0);
    sn_csr_drop_zeros(&a, 1e-12);
    sn_csr_destroy(ctx, &a);
    test_context_end(&ctx);
}

static void drops_only_relative_zeros(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    for (double scale = 1e-30; scale < 1e31; scale *= 1e30) {
        const sn_triplet triplets[] = {{0, 0, 1 * scale},     {1, 1, 4 * scale},
                                       {2, 2, 9 * scale},     {1, 0, 1e-13 * scale},
                                       {2, 0, 1e-11 * scale}, {2, 1, -5.9e-12 * scale}};
        sn_csr a = {0};
        assert_done(ctx, sn_csr_create(ctx, 3, 6, triplets, &a));
        sn_csr_drop_zeros(&a, 1e-12);
        assert_int_equal(a.start[3], 4);
        assert_int_equal(sn_csr_find(&a, 1, 0), -1);
        assert_int_equal(sn_csr_find(&a, 2, 1), -1);
        assert_near(a.value[sn_csr_find(&a, 2, 0)], 1e-11 * scale, 0);
        assert_near(a.value[sn_csr_find(&a, 2, 2)], 9 * scale, 0);
        sn_csr_destroy(ctx, &a);
    }
    test_context_end(&ctx);
}

static void multiplies_as_dense(void **state) {
    (void)state;
    enum { N = 17, COUNT = 80, WIDTH = 3 };
    sn_context *ctx = test_context(1);
    sn_random random = sn_random_make(3);
    sn_triplet triplets[COUNT];
    double dense[N][N] = {{0}}, x[N * WIDTH], y[N * WIDTH];
    for (int32_t t = 0; t < COUNT; t++) {
        triplets[t] =
            (sn_triplet){sn_random_index(&random, N), sn_random_index(&random, N), sn_random_normal(&random)};
        dense[triplets[t].row][triplets[t].column] += triplets[t].value;
        if (triplets[t].row != triplets[t].column)
            dense[triplets[t].column][triplets[t].row] += triplets[t].value;
    }
    for (int32_t i = 0; i < N * WIDTH; i++)
        x[i] = sn_random_normal(&random);
    sn_csr a = {0};
    assert_done(ctx, sn_csr_create(ctx, N, COUNT, triplets, &a));
    sn_csr_multiply(&a, WIDTH, x, y);
    for (int32_t i = 0; i < N; i++)
        for (int32_t k = 0; k < WIDTH; k++) {
            double sum = 0;
            for (int32_t j = 0; j < N; j++)
                sum += dense[i][j] * x[j * WIDTH + k];
            assert_near(y[i * WIDTH + k], sum, 1e-13);
        }
    sn_csr_destroy(ctx, &a);
    test_context_end(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_completes),
        cmocka_unit_test(refuses_indices_outside),
        cmocka_unit_test(drops_only_relative_zeros),
        cmocka_unit_test(multiplies_as_dense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
