/// Stands in for bench_mumps.c where MUMPS is not installed.
#include "bench_mumps.h"

#include <math.h>
#include <stdio.h>

bool bench_mumps_is_there(void) {
    return false;
}

const char *bench_mumps_settings(char *buffer, size_t size) {
    snprintf(buffer, size, "MUMPS left out: it was not found when this program was built (libmumps-seq-dev)");
    return buffer;
}

bench_mumps *bench_mumps_create(const sn_factor_matrix *matrix, const int32_t *order, int32_t kept_count,
                                const int32_t *kept) {
    (void)matrix, (void)order, (void)kept_count, (void)kept;
    return NULL;
}

void bench_mumps_destroy(bench_mumps *peer) {
    (void)peer;
}

bool bench_mumps_numeric(void *data) {
    (void)data;
    return false;
}

bool bench_mumps_solve(void *data) {
    (void)data;
    return false;
}

double bench_mumps_residual(const bench_mumps *peer) {
    (void)peer;
    return INFINITY;
}
