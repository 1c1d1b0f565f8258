#include "solve/solve_vector.h"

#include "base/base_parallel.h"

#include <math.h>

/// Fewer numbers take less time than waking threads.
enum { GRAIN = 32768 };

typedef struct vector_job {
    const double *a, *b;
    double *out;
    double factor;
} vector_job;

SN_CLONES static double sn_vector_dot_range(const double *a, const double *b, int32_t count) {
    // Eight running sums: the compiler may not reorder one.
    double sum[8] = {0};
    int32_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (int k = 0; k < 8; k++)
            sum[k] += a[i + k] * b[i + k];
    for (; i < count; i++)
        sum[0] += a[i] * b[i];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

static double dot_piece(void *data, int32_t begin, int32_t end) {
    const vector_job *job = data;
    return sn_vector_dot_range(job->a + begin, job->b + begin, end - begin);
}

double sn_vector_dot(sn_context *ctx, int32_t count, const double *a, const double *b) {
    vector_job job = {a, b, NULL, 0};
    return sn_parallel_sum(ctx, count, dot_piece, &job);
}

SN_CLONES static void sn_vector_move_range(const double *x, double factor, const double *d, double *out,
                                           int32_t count) {
    for (int32_t i = 0; i < count; i++)
        out[i] = x[i] + factor * d[i];
}

static void move_piece(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    const vector_job *job = data;
    sn_vector_move_range(job->a + begin, job->factor, job->b + begin, job->out + begin, end - begin);
}

void sn_vector_move(sn_context *ctx, int32_t count, const double *x, double factor, const double *d,
                    double *out) {
    vector_job job = {x, d, out, factor};
    sn_parallel_for(ctx, count, GRAIN, move_piece, &job);
}

void sn_vector_negate(sn_context *ctx, int32_t count, const double *x, double *out) {
    sn_vector_move(ctx, count, x, -2, x, out); // x - 2 x is exact
}

void sn_vector_add(sn_context *ctx, int32_t count, double factor, const double *x, double *y) {
    sn_vector_move(ctx, count, y, factor, x, y);
}

double sn_vector_max_length(int32_t count, const double *a) {
    double max = 0;
    for (int32_t i = 0; i < count; i++) {
        const double *p = a + 3 * (int64_t)i;
        double square = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
        max = square <= max ? max : square;
        if (isnan(square))
            return square;
    }
    return sqrt(max);
}
