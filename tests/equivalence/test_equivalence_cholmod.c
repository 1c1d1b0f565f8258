/// The factor against CHOLMOD, the oracle: same solutions, same fill for the same kind of ordering.
#include "test_support.h"

#include "base/base_util.h"
#include "sinew/factor.h"
#include "sparse/sparse_csr.h"

#include <cholmod.h>

/// Body-centered lattice: corners and centers, springs along the short edges with stiffnesses over three
/// decades.
static sn_csr make_lattice(sn_context *ctx, sn_random *random, int32_t cells) {
    int32_t side = cells + 1, corners = side * side * side, n = corners + cells * cells * cells;
    sn_triplet *t = malloc(sizeof *t * ((size_t)n + 24 * (size_t)(n - corners)));
    int64_t count = 0;
    for (int32_t i = 0; i < n; i++)
        t[count++] = (sn_triplet){i, i, 0.01};
    for (int32_t c = 0; c < n - corners; c++) {
        int32_t i = c % cells, j = c / cells % cells, k = c / (cells * cells);
        for (int32_t corner = 0; corner < 8; corner++) {
            int32_t other = i + corner % 2 + side * (j + corner / 2 % 2 + side * (k + corner / 4));
            double stiffness = pow(10, sn_random_range(random, -1.5, 1.5));
            t[count++] = (sn_triplet){corners + c, corners + c, stiffness};
            t[count++] = (sn_triplet){other, other, stiffness};
            t[count++] = (sn_triplet){corners + c, other, -stiffness};
        }
    }
    sn_csr a = {0};
    assert_done(ctx, sn_csr_create(ctx, n, count, t, &a));
    free(t);
    return a;
}

/// The lower triangle by rows is the upper triangle by columns.
static cholmod_sparse *copy_matrix(const sn_csr *a, cholmod_common *common) {
    size_t n = (size_t)a->n, count = (size_t)a->start[n];
    cholmod_sparse *copy = cholmod_allocate_sparse(n, n, count, 1, 1, 1, CHOLMOD_REAL, common);
    assert_non_null(copy);
    for (size_t i = 0; i <= n; i++)
        ((int *)copy->p)[i] = (int)a->start[i];
    for (size_t e = 0; e < count; e++) {
        ((int *)copy->i)[e] = a->column[e];
        ((double *)copy->x)[e] = a->value[e];
    }
    return copy;
}

/// Solves with CHOLMOD: x [n, 3] by rows. Returns the entries of its L.
static double solve_by_cholmod(const sn_csr *a, const double *b, double *x) {
    cholmod_common common;
    cholmod_start(&common);
    common.nmethods = 1;
    common.method[0].ordering = CHOLMOD_METIS;
    common.supernodal = CHOLMOD_SUPERNODAL;
    cholmod_sparse *matrix = copy_matrix(a, &common);
    cholmod_factor *factor = cholmod_analyze(matrix, &common);
    double nonzeros = common.lnz;
    assert_true(cholmod_factorize(matrix, factor, &common));
    cholmod_dense *right = cholmod_zeros((size_t)a->n, 3, CHOLMOD_REAL, &common);
    for (int32_t i = 0; i < a->n; i++)
        for (int32_t k = 0; k < 3; k++)
            ((double *)right->x)[k * a->n + i] = b[3 * i + k];
    cholmod_dense *solution = cholmod_solve(CHOLMOD_A, factor, right, &common);
    for (int32_t i = 0; i < a->n; i++)
        for (int32_t k = 0; k < 3; k++)
            x[3 * i + k] = ((double *)solution->x)[k * a->n + i];
    cholmod_free_dense(&solution, &common);
    cholmod_free_dense(&right, &common);
    cholmod_free_factor(&factor, &common);
    cholmod_free_sparse(&matrix, &common);
    cholmod_finish(&common);
    return nonzeros;
}

/// Factors stored in less, refined to a relative residual of 1e-12. Solutions then differ by at most that
/// times the condition number of about 1e5.
static void check_refined(sn_context *ctx, const sn_factor_matrix *matrix, sn_factor_def def, const double *b,
                          const double *expected, double bound) {
    size_t size = 3 * (size_t)matrix->n;
    double *x = malloc(sizeof *x * size);
    for (sn_factor_storage storage = SN_FACTOR_FLOAT; storage <= SN_FACTOR_HALF; storage++) {
        double reached = 1;
        sn_factor *factor = NULL;
        def.storage = def.kept_storage = storage;
        assert_done(ctx, sn_factor_create(ctx, matrix, &def, &factor));
        assert_done(ctx, sn_factor_numeric(factor, matrix));
        memcpy(x, b, sizeof *x * size);
        assert_done(ctx, sn_factor_solve(factor, 3, x));
        assert_done(ctx, sn_factor_refine(factor, matrix, 3, b, x, 1e-12, 30, &reached));
        assert_at_most(reached, 1e-12);
        for (size_t i = 0; i < size; i++)
            assert_near(x[i], expected[i], bound);
        sn_factor_destroy(&factor);
    }
    free(x);
}

static void agrees_with_cholmod(void **state) {
    (void)state;
    sn_random random = sn_random_make(5);
    for (int32_t kept_count = 0; kept_count <= 200; kept_count += 200) {
        sn_context *ctx = test_context(2);
        sn_csr a = make_lattice(ctx, &random, 16);
        size_t size = 3 * (size_t)a.n;
        double *b = malloc(sizeof *b * size), *x = malloc(sizeof *x * size),
               *expected = malloc(sizeof *expected * size);
        int32_t kept[200];
        for (int32_t k = 0; k < 200; k++)
            kept[k] = 7 * (199 - k);
        for (size_t i = 0; i < size; i++)
            x[i] = b[i] = sn_random_normal(&random);
        double oracle_nonzeros = solve_by_cholmod(&a, b, expected);
        sn_factor_matrix matrix = {a.n, a.start, a.column, a.value};
        sn_factor_def def = sn_factor_def_default();
        def.storage = SN_FACTOR_DOUBLE;
        def.kept = kept;
        def.kept_count = kept_count;
        sn_factor *factor = NULL;
        assert_done(ctx, sn_factor_create(ctx, &matrix, &def, &factor));
        assert_done(ctx, sn_factor_numeric(factor, &matrix));
        assert_done(ctx, sn_factor_solve(factor, 3, x));
        double scale = 0;
        for (size_t i = 0; i < size; i++)
            scale = fmax(scale, fabs(expected[i]));
        // The condition number is about 1e5: both solutions carry that many rounding errors.
        for (size_t i = 0; i < size; i++)
            assert_near(x[i], expected[i], 1e-10 * scale);
        check_refined(ctx, &matrix, def, b, expected, 1e-7 * scale);
        if (kept_count == 0)
            assert_at_most((double)sn_factor_get_info(factor).nonzeros, 1.05 * oracle_nonzeros);
        sn_factor_destroy(&factor);
        sn_csr_destroy(ctx, &a);
        free(expected);
        free(x);
        free(b);
        test_context_end(&ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_cholmod)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
