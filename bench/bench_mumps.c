#include "bench_mumps.h"

#include <dmumps_c.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 3, BEGIN = -1, END = -2, ANALYZE = 1, FACTOR = 2, SOLVE = 3 };

struct bench_mumps {
    DMUMPS_STRUC_C id;
    const sn_factor_matrix *matrix;
    MUMPS_INT *row, *column, *position, *kept; ///< MUMPS counts from one.
    double *x, *reduced, *schur;
};

/// MUMPS' own names for its controls and results: from one, as its manual has them.
static MUMPS_INT *control(bench_mumps *peer, int32_t number) {
    return &peer->id.icntl[number - 1];
}

static bool call(bench_mumps *peer, MUMPS_INT job) {
    peer->id.job = job;
    dmumps_c(&peer->id);
    return peer->id.infog[0] >= 0;
}

static bool allocate(bench_mumps *peer, int32_t kept_count) {
    size_t n = (size_t)peer->matrix->n, entries = (size_t)peer->matrix->start[n], m = (size_t)kept_count;
    peer->row = malloc(entries * sizeof *peer->row);
    peer->column = malloc(entries * sizeof *peer->column);
    peer->position = malloc(n * sizeof *peer->position);
    peer->kept = malloc((m + 1) * sizeof *peer->kept);
    peer->x = malloc(WIDTH * n * sizeof *peer->x);
    peer->reduced = malloc(WIDTH * (m + 1) * sizeof *peer->reduced);
    peer->schur = malloc((m * m + 1) * sizeof *peer->schur);
    return peer->row && peer->column && peer->position && peer->kept && peer->x && peer->reduced &&
           peer->schur;
}

static void describe(bench_mumps *peer, const int32_t *order, int32_t kept_count, const int32_t *kept) {
    const sn_factor_matrix *a = peer->matrix;
    DMUMPS_STRUC_C *id = &peer->id;
    for (int32_t i = 0; i < a->n; i++) {
        peer->position[order[i]] = i + 1;
        for (int64_t e = a->start[i]; e < a->start[i + 1]; e++) {
            peer->row[e] = i + 1;
            peer->column[e] = a->column[e] + 1;
        }
    }
    for (int32_t k = 0; k < kept_count; k++)
        peer->kept[k] = kept[k] + 1;
    id->n = a->n;
    id->nnz = a->start[a->n];
    id->irn = peer->row;
    id->jcn = peer->column;
    id->a = (double *)a->value; // read only, which the interface does not say
    id->perm_in = peer->position;
    id->rhs = peer->x;
    id->lrhs = a->n;
    id->nrhs = WIDTH;
    for (int32_t stream = 1; stream <= 4; stream++)
        *control(peer, stream) = 0; // silent
    *control(peer, 6) = 0;          // no permutation to a large diagonal
    *control(peer, 7) = 1;          // the order is given
    *control(peer, 8) = 0;          // no scaling
    *control(peer, 14) = 50;        // % of memory above the prediction
    if (kept_count > 0) {
        *control(peer, 19) = 1; // S by rows, its lower triangle
        id->size_schur = kept_count;
        id->listvar_schur = peer->kept;
        id->schur = peer->schur;
        id->redrhs = peer->reduced;
        id->lredrhs = kept_count;
    }
}

bench_mumps *bench_mumps_create(const sn_factor_matrix *matrix, const int32_t *order, int32_t kept_count,
                                const int32_t *kept) {
    bench_mumps *peer = calloc(1, sizeof *peer);
    if (!peer)
        return NULL;
    peer->matrix = matrix;
    peer->id.sym = 1;
    peer->id.par = 1;
    bool done = call(peer, BEGIN) && allocate(peer, kept_count);
    if (done) {
        describe(peer, order, kept_count, kept);
        done = call(peer, ANALYZE);
    }
    if (!done) {
        fprintf(stderr, "factor: MUMPS failed: INFOG(1) %d, INFOG(2) %d\n", (int)peer->id.infog[0],
                (int)peer->id.infog[1]);
        bench_mumps_destroy(peer);
        return NULL;
    }
    return peer;
}

void bench_mumps_destroy(bench_mumps *peer) {
    if (!peer)
        return;
    call(peer, END);
    free(peer->row);
    free(peer->column);
    free(peer->position);
    free(peer->kept);
    free(peer->x);
    free(peer->reduced);
    free(peer->schur);
    free(peer);
}

bool bench_mumps_is_there(void) {
    return true;
}

const char *bench_mumps_settings(char *buffer, size_t size) {
    snprintf(
        buffer, size,
        "MUMPS %s sequential, SYM = 1, METIS order of CHOLMOD if nothing is kept and ours otherwise, S by "
        "ICNTL(19) and factored by LAPACK, OpenBLAS with 1 or 2 threads, the better of both for each number, "
        "once after a warm-up",
        MUMPS_VERSION);
    return buffer;
}

bool bench_mumps_numeric(void *data) {
    bench_mumps *peer = data;
    MUMPS_INT m = peer->id.size_schur;
    // The lower triangle by rows is the upper one by columns.
    return call(peer, FACTOR) &&
           (m == 0 || LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', m, peer->schur, m) == 0);
}

bool bench_mumps_solve(void *data) {
    bench_mumps *peer = data;
    MUMPS_INT m = peer->id.size_schur;
    for (int64_t i = 0; i < WIDTH * (int64_t)peer->matrix->n; i++)
        peer->x[i] = 1;
    if (m == 0)
        return call(peer, SOLVE);
    *control(peer, 26) = 1; // forward, down to the right-hand side of S
    if (!call(peer, SOLVE) ||
        LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'U', m, WIDTH, peer->schur, m, peer->reduced, m) != 0)
        return false;
    *control(peer, 26) = 2; // backward from the solution of S
    return call(peer, SOLVE);
}

double bench_mumps_residual(const bench_mumps *peer) {
    const sn_factor_matrix *a = peer->matrix;
    double *rest = malloc((size_t)a->n * sizeof *rest), sum = 0;
    if (!rest)
        return INFINITY;
    for (int32_t i = 0; i < a->n; i++)
        rest[i] = 1;
    for (int32_t i = 0; i < a->n; i++)
        for (int64_t e = a->start[i]; e < a->start[i + 1]; e++) {
            int32_t j = a->column[e];
            rest[i] -= a->value[e] * peer->x[j];
            rest[j] -= i == j ? 0 : a->value[e] * peer->x[i];
        }
    for (int32_t i = 0; i < a->n; i++)
        sum += rest[i] * rest[i];
    free(rest);
    return sqrt(sum / a->n);
}
