#include "base/base_parallel.h"

#include <omp.h>

/// Sums of fewer items than SERIAL_SUM take less time than waking threads.
enum { MAX_PIECES = 256, MIN_PIECE = 256, SERIAL_SUM = 32768 };

static int32_t piece_bound(int32_t count, int32_t grain, int32_t piece, int32_t pieces) {
    int64_t grains = ((int64_t)count + grain - 1) / grain;
    int64_t bound = grains * piece / pieces * grain;
    return bound < count ? (int32_t)bound : count;
}

void sn_parallel_for(sn_context *ctx, int32_t count, int32_t grain, sn_range_task *task, void *data) {
    SN_ASSERT(count >= 0 && grain > 0);
    int32_t threads = sn_context_thread_count(ctx);
    if (count == 0)
        return;
    if (threads == 1 || count <= grain) {
        task(data, 0, count, 0);
        return;
    }
#pragma omp parallel num_threads(threads)
    {
        // The run-time may give fewer threads than asked for.
        int32_t thread = omp_get_thread_num(), team = omp_get_num_threads();
        int32_t begin = piece_bound(count, grain, thread, team),
                end = piece_bound(count, grain, thread + 1, team);
        if (begin < end)
            task(data, begin, end, thread);
    }
}

typedef struct sum_job {
    sn_range_sum *sum;
    void *data;
    int32_t count, piece_size;
    double *partial;
} sum_job;

static void sum_pieces(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    sum_job *job = data;
    for (int32_t piece = begin; piece < end; piece++) {
        int32_t first = piece * job->piece_size;
        int32_t last = first + (job->count - first < job->piece_size ? job->count - first : job->piece_size);
        job->partial[piece] = job->sum(job->data, first, last);
    }
}

double sn_parallel_sum(sn_context *ctx, int32_t count, sn_range_sum *sum, void *data) {
    double partial[MAX_PIECES];
    int32_t piece_size = count / MAX_PIECES + 1;
    if (piece_size < MIN_PIECE)
        piece_size = MIN_PIECE;
    int32_t pieces = (int32_t)(((int64_t)count + piece_size - 1) / piece_size);
    sum_job job = {sum, data, count, piece_size, partial};
    sn_parallel_for(ctx, pieces, count < SERIAL_SUM ? MAX_PIECES : 1, sum_pieces, &job);
    double total = 0;
    for (int32_t piece = 0; piece < pieces; piece++)
        total += partial[piece];
    return total;
}
