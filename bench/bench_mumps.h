/// MUMPS as a peer: sequential, symmetric positive definite, in double. Its Schur complement option gives S
/// of a kept set. Where it is not installed, bench_mumps_none.c stands in.
#ifndef SN_BENCH_MUMPS_H
#define SN_BENCH_MUMPS_H

#include "bench.h"

#include "sinew/factor.h"

typedef struct bench_mumps bench_mumps;

/// Analyzes a matrix, which is borrowed until the end, with `order` [n] as the order of elimination. `kept`
/// [kept_count], its last unknowns, are the Schur complement. NULL, after a line on stderr, if that failed.
bench_mumps *bench_mumps_create(const sn_factor_matrix *matrix, const int32_t *order, int32_t kept_count,
                                const int32_t *kept);
void bench_mumps_destroy(bench_mumps *peer);

/// Whether there is a MUMPS to measure; version and settings in words.
bool bench_mumps_is_there(void);
const char *bench_mumps_settings(char *buffer, size_t size);

/// Runs of bench_peer_time(); `data` is a bench_mumps. The numeric phase ends with a factor of S, the solve
/// has three right-hand sides of ones.
bool bench_mumps_numeric(void *data);
bool bench_mumps_solve(void *data);

/// |b - A x| / |b| of the last solve, the first right-hand side: a wrong answer is no measure.
double bench_mumps_residual(const bench_mumps *peer);

#endif
