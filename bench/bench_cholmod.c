#include "bench_cholmod.h"

#include <cblas.h>
#include <cholmod.h>
#include <stdio.h>
#include <stdlib.h>

struct bench_cholmod {
    cholmod_common common;
    cholmod_sparse *matrix;
    cholmod_factor *factor;
    cholmod_dense *b, *x, *y, *e;
};

/// The lower triangle by rows is the upper triangle by columns.
static cholmod_sparse *copy_matrix(const sn_factor_matrix *matrix, cholmod_common *common) {
    size_t n = (size_t)matrix->n, count = (size_t)matrix->start[matrix->n];
    cholmod_sparse *a = cholmod_allocate_sparse(n, n, count, 1, 1, 1, CHOLMOD_REAL, common);
    if (!a)
        return NULL;
    int *start = a->p, *row = a->i;
    double *value = a->x;
    for (size_t i = 0; i <= n; i++)
        start[i] = (int)matrix->start[i];
    for (size_t e = 0; e < count; e++) {
        row[e] = matrix->column[e];
        value[e] = matrix->value[e];
    }
    return a;
}

bench_cholmod *bench_cholmod_create(const sn_factor_matrix *matrix, const int32_t *order) {
    bench_cholmod *peer = calloc(1, sizeof *peer);
    if (!peer)
        return NULL;
    cholmod_common *common = &peer->common;
    cholmod_start(common);
    common->print = 0;
    common->nmethods = 1;
    common->method[0].ordering = order ? CHOLMOD_GIVEN : CHOLMOD_METIS;
    common->postorder = 1;
    common->supernodal = CHOLMOD_SUPERNODAL;
    peer->matrix = copy_matrix(matrix, common);
    // The order is read only, which the interface does not say.
    peer->factor = peer->matrix ? cholmod_analyze_p(peer->matrix, (int *)order, NULL, 0, common) : NULL;
    peer->b = cholmod_ones((size_t)matrix->n, 3, CHOLMOD_REAL, common);
    if (!peer->factor || !peer->b) {
        bench_cholmod_destroy(peer);
        return NULL;
    }
    return peer;
}

void bench_cholmod_destroy(bench_cholmod *peer) {
    if (!peer)
        return;
    cholmod_common *common = &peer->common;
    cholmod_free_dense(&peer->b, common);
    cholmod_free_dense(&peer->x, common);
    cholmod_free_dense(&peer->y, common);
    cholmod_free_dense(&peer->e, common);
    cholmod_free_factor(&peer->factor, common);
    cholmod_free_sparse(&peer->matrix, common);
    cholmod_finish(common);
    free(peer);
}

double bench_cholmod_nonzeros(const bench_cholmod *peer) {
    return peer->common.lnz;
}

double bench_cholmod_flops(const bench_cholmod *peer) {
    return peer->common.fl;
}

const int32_t *bench_cholmod_order(const bench_cholmod *peer) {
    return peer->factor->Perm;
}

const char *bench_cholmod_settings(char *buffer, size_t size) {
    cholmod_common defaults;
    cholmod_start(&defaults);
    snprintf(buffer, size,
             "CHOLMOD %d.%d.%d supernodal, METIS alone, postordered, nrelax %zu %zu %zu, zrelax %g %g %g, "
             "OpenBLAS (its kernels for %s) with 1 or 2 threads, the better of both for each number",
             CHOLMOD_MAIN_VERSION, CHOLMOD_SUB_VERSION, CHOLMOD_SUBSUB_VERSION, defaults.nrelax[0],
             defaults.nrelax[1], defaults.nrelax[2], defaults.zrelax[0], defaults.zrelax[1],
             defaults.zrelax[2], openblas_get_corename());
    cholmod_finish(&defaults);
    return buffer;
}

bool bench_cholmod_numeric(void *data) {
    bench_cholmod *peer = data;
    return cholmod_factorize(peer->matrix, peer->factor, &peer->common) && peer->common.status == CHOLMOD_OK;
}

bool bench_cholmod_solve(void *data) {
    bench_cholmod *peer = data;
    return cholmod_solve2(CHOLMOD_A, peer->factor, peer->b, NULL, &peer->x, NULL, &peer->y, &peer->e,
                          &peer->common);
}
