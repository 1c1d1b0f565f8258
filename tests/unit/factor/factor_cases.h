/// What the tests of the factor share: matrices of all kinds, kept sets, dense reference arithmetic.
#ifndef SN_FACTOR_CASES_H
#define SN_FACTOR_CASES_H

#include "test_support.h"

#include "base/base_util.h"
#include "sinew/factor.h"
#include "sparse/sparse_csr.h"

typedef enum pattern_kind { RANDOM, GRID, DENSE, ARROW, DIAGONAL, PIECES, CHAIN, KINDS } pattern_kind;

typedef struct builder {
    sn_triplet *triplets;
    int64_t count;
    int32_t n;
    sn_random *random;
} builder;

/// A spring between two unknowns: keeps the matrix symmetric, semidefinite and scale-free.
static inline void add_spring(builder *b, int32_t i, int32_t j) {
    double k = sn_random_range(b->random, 0.1, 2), sign = sn_random_real(b->random) < 0.5 ? -1 : 1;
    if (i == j)
        return;
    b->triplets[b->count++] = (sn_triplet){i, i, k};
    b->triplets[b->count++] = (sn_triplet){j, j, k};
    b->triplets[b->count++] = (sn_triplet){i, j, sign * k};
}

static inline void add_random(builder *b, int32_t first, int32_t end) {
    for (int32_t e = 0; e < 2 * (end - first); e++)
        add_spring(b, first + sn_random_index(b->random, end - first),
                   first + sn_random_index(b->random, end - first));
}

static inline void add_grid(builder *b) {
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

static inline void add_pattern(builder *b, pattern_kind kind) {
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
static inline sn_csr make_matrix(sn_context *ctx, sn_random *random, pattern_kind kind, int32_t n) {
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

static inline sn_factor_matrix view(const sn_csr *a) {
    return (sn_factor_matrix){a->n, a->start, a->column, a->value};
}

/// Chooses a kept list in random order; `kind` 0 none, 1 one, 2 all, 3 a few, 4 half.
static inline int32_t choose_kept(sn_random *random, int32_t n, int32_t kind, int32_t *kept) {
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
static inline double *dense_schur(const sn_csr *a, const int32_t *kept, int32_t kept_count) {
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

static inline double largest(const double *x, int64_t count) {
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        most = fabs(x[i]) > most ? fabs(x[i]) : most;
    return most;
}

/// |A x - b| relative to |A| |x|.
static inline double residual(const sn_csr *a, int32_t width, const double *x, const double *b) {
    int64_t count = (int64_t)a->n * width;
    double *ax = malloc(sizeof *ax * (size_t)(count + 1));
    sn_csr_multiply(a, width, x, ax);
    for (int64_t i = 0; i < count; i++)
        ax[i] -= b[i];
    double error = largest(ax, count) / (largest(a->value, a->start[a->n]) * largest(x, count));
    free(ax);
    return count > 0 ? error : 0;
}

/// Large enough for several groups and a top, with fronts of several tiles.
static inline sn_csr make_lattice(sn_context *ctx, int32_t side) {
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

/// Hash of all a factor can tell: S, a solution, both sweeps.
static inline uint64_t hash_numbers(sn_context *ctx, sn_factor *factor) {
    sn_factor_info info = sn_factor_get_info(factor);
    size_t n = (size_t)info.n, m = (size_t)info.kept_count;
    double *s = malloc(sizeof *s * (m * m + 1)), *x = malloc(sizeof *x * (3 * n + 1)),
           *g = malloc(sizeof *g * (3 * m + 1));
    sn_random random = sn_random_make(77);
    uint64_t hash = SN_HASH_START;
    assert_done(ctx, sn_factor_schur(factor, s));
    hash = sn_hash(hash, s, m * m * sizeof *s);
    for (size_t i = 0; i < 3 * n; i++)
        x[i] = sn_random_normal(&random);
    assert_done(ctx, sn_factor_forward(factor, 3, x, g));
    hash = sn_hash(hash, g, 3 * m * sizeof *g);
    assert_done(ctx, sn_factor_backward(factor, 3, x, g));
    hash = sn_hash(hash, x, 3 * n * sizeof *x);
    assert_done(ctx, sn_factor_solve(factor, 2, x));
    hash = sn_hash(hash, x, 2 * n * sizeof *x);
    free(g);
    free(x);
    free(s);
    return hash;
}

/// The same of a factor made from nothing with these values.
static inline uint64_t hash_fresh(sn_context *ctx, const sn_factor_matrix *matrix, const sn_factor_def *def) {
    sn_factor *factor = NULL;
    assert_done(ctx, sn_factor_create(ctx, matrix, def, &factor));
    assert_done(ctx, sn_factor_numeric(factor, matrix));
    uint64_t hash = hash_numbers(ctx, factor);
    sn_factor_destroy(&factor);
    return hash;
}

/// Fails one allocation.
typedef struct failing {
    int64_t left;
} failing;

static inline void *failing_allocate(void *user, size_t size) {
    failing *f = user;
    if (f->left-- == 0)
        return NULL;
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

static inline void failing_release(void *user, void *memory) {
    (void)user;
    free(memory);
}

static inline sn_context *failing_context(failing *f) {
    sn_context *ctx = NULL;
    sn_context_def context = sn_context_def_default();
    context.allocator.user = f;
    context.allocator.allocate = failing_allocate;
    context.allocator.release = failing_release;
    assert_int_equal(sn_context_create(&context, &ctx), SN_OK);
    return ctx;
}

#endif
