/// CHOLMOD's supernodal factorization with METIS ordering, as a peer.
#ifndef SN_BENCH_CHOLMOD_H
#define SN_BENCH_CHOLMOD_H

#include "bench.h"

#include "sinew/factor.h"

typedef struct bench_cholmod bench_cholmod;

/// Analyzes a matrix, which is borrowed until the end, with METIS or, `order` [n] given, with that order of
/// elimination. NULL if that failed.
bench_cholmod *bench_cholmod_create(const sn_factor_matrix *matrix, const int32_t *order);
void bench_cholmod_destroy(bench_cholmod *peer);

/// Entries of L, and operations.
double bench_cholmod_nonzeros(const bench_cholmod *peer);
double bench_cholmod_flops(const bench_cholmod *peer);

/// [n] its order of elimination.
const int32_t *bench_cholmod_order(const bench_cholmod *peer);

/// Version and settings in words.
const char *bench_cholmod_settings(char *buffer, size_t size);

/// Runs of bench_peer_time(); `data` is a bench_cholmod. The solve has three right-hand sides of ones.
bool bench_cholmod_numeric(void *data);
bool bench_cholmod_solve(void *data);

#endif
