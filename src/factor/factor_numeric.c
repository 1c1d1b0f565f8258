#include "factor/factor_internal.h"

#include <math.h>
#include <omp.h>

enum { SMALL_FLOPS = 1 << 22 };

/// The failing pivot in the units of A.
static sn_factor_failure failure_at(const sn_front *f, int32_t column) {
    double scale = f->factor->scale[f->node->place + column];
    return (sn_factor_failure){f->node->first + column, f->factor->fronts->pivot(f, column) / scale / scale};
}

/// One numeric phase. Threads share it.
typedef struct numeric {
    const sn_factor *factor;
    const double *matrix_value;
    int32_t failed; ///< Column of the front that all threads work on; -1 while none fails.
    sn_factor_failure group_failure, failure;
    int64_t flops;
} numeric;

static const sn_factor_failure no_failure = {INT32_MAX, 0};

/// Front `s` in a slot of the scratch; slot 0 may be all of it.
static sn_front front_make(const numeric *run, int32_t s, int32_t slot, int64_t *flops) {
    const sn_factor *factor = run->factor;
    bool is_top = s >= factor->first_top;
    return (sn_front){.factor = factor,
                      .node = &factor->supernodes[s],
                      .first_place = is_top ? factor->top_place : sn_factor_group_of(factor, s)->place,
                      .matrix_value = run->matrix_value,
                      .scratch = factor->scratch + factor->slot_size * slot,
                      .front_index = factor->front_index + (int64_t)factor->index_size * slot,
                      .relative = factor->relative + factor->relative_size * slot,
                      .flops = flops};
}

/// Factors the touched supernodes first..end-1 on one thread.
static sn_factor_failure factor_alone(const numeric *run, int32_t first, int32_t end, int32_t slot,
                                      int64_t *flops) {
    const bool *touched = run->factor->touched;
    for (int32_t s = sn_next_marked(touched, first, end); s < end; s = sn_next_marked(touched, s + 1, end)) {
        int32_t failed = -1;
        sn_front f = front_make(run, s, slot, flops);
        run->factor->fronts->factor(false, &f, &failed);
        if (failed >= 0)
            return failure_at(&f, failed);
    }
    return no_failure;
}

/// Factors groups, each on one thread. The failure is the first in elimination order, whatever the order in
/// time.
static sn_factor_failure factor_groups(numeric *run) {
    const sn_factor *factor = run->factor;
    // With a thread for each group, slots go by group; else by thread.
    bool by_thread = factor->slot_count < factor->group_count;
#pragma omp for schedule(dynamic, 1)
    for (int32_t g = 0; g < factor->group_count; g++) {
        const sn_factor_group *group = &factor->groups[g];
        int64_t flops = 0;
        sn_factor_failure failure = factor_alone(run, group->first_supernode, group->supernode_end,
                                                 by_thread ? omp_get_thread_num() : g, &flops);
        sn_count_flops(&run->flops, flops);
#pragma omp critical(sn_factor_failure)
        if (failure.column < run->group_failure.column)
            run->group_failure = failure;
    }
    return run->group_failure;
}

/// Whether a front is so little work that one thread finishes it before several would have met at their
/// barriers.
static bool is_small(const sn_supernode *node) {
    double total = (double)node->width + node->row_count;
    return node->width * total * total < SMALL_FLOPS;
}

/// End of the run of supernodes from `first` on, none of them both touched and large.
static int32_t small_end(const sn_factor *factor, int32_t first, int32_t end) {
    int32_t s = sn_next_marked(factor->touched, first, end);
    while (s < end && is_small(&factor->supernodes[s]))
        s = sn_next_marked(factor->touched, s + 1, end);
    return s;
}

/// Factors the touched supernodes first..end-1, all threads on each large one. Every thread of the region
/// calls this.
static sn_factor_failure factor_together(numeric *run, int32_t first, int32_t end) {
    const sn_factor *factor = run->factor;
    sn_factor_failure failure = no_failure;
    while (first < end && failure.column == INT32_MAX) {
        int32_t large = small_end(factor, first, end);
        if (large > first) {
#pragma omp single copyprivate(failure)
            failure = factor_alone(run, first, large, 0, &run->flops);
            first = large;
            continue;
        }
        sn_front f = front_make(run, first, 0, &run->flops);
        factor->fronts->factor(true, &f, &run->failed);
        if (run->failed >= 0)
            failure = failure_at(&f, run->failed);
        first++;
    }
    return failure;
}

/// Operations on the touched supernodes first..end-1 that one thread does, and that threads may share.
typedef struct work {
    double small, large;
} work;

static work work_of(const sn_factor *factor, int32_t first, int32_t end) {
    const bool *touched = factor->touched;
    work w = {0, 0};
    for (int32_t s = sn_next_marked(touched, first, end); s < end; s = sn_next_marked(touched, s + 1, end)) {
        const sn_supernode *node = &factor->supernodes[s];
        *(is_small(node) ? &w.small : &w.large) += sn_front_flops(node->width, node->row_count);
    }
    return w;
}

/// Whether all threads on one group after the other would be done before each thread with groups of its own:
/// so it is if few groups are touched. The tiles, and so the bits, are the same.
static bool is_better_together(const sn_factor *factor) {
    double threads = sn_context_thread_count(factor->context), longest = 0;
    work all = {0, 0};
    for (int32_t g = 0; g < factor->group_count; g++) {
        work own = work_of(factor, factor->groups[g].first_supernode, factor->groups[g].supernode_end);
        all.small += own.small;
        all.large += own.large;
        longest = fmax(longest, own.small + own.large);
    }
    return all.small + all.large / threads < fmax(longest, (all.small + all.large) / threads);
}

/// One thread is done with a small change before others have been called.
static int32_t choose_threads(const sn_factor *factor) {
    // An entry of S takes as long as some operations.
    double schur = 4.0 * factor->kept_count * factor->kept_count;
    work all = work_of(factor, 0, factor->supernode_count);
    return all.small + all.large + schur < SMALL_FLOPS ? 1 : sn_context_thread_count(factor->context);
}

static void factor_touched(numeric *run) {
    const sn_factor *factor = run->factor;
    bool together = is_better_together(factor);
#pragma omp parallel num_threads(choose_threads(factor))
    {
        sn_factor_failure failure =
            together ? factor_together(run, 0, factor->first_top) : factor_groups(run);
        if (failure.column == INT32_MAX)
            failure = factor_together(run, factor->first_top, factor->supernode_count);
        if (failure.column == INT32_MAX)
            sn_schur_assemble(factor, run->matrix_value);
#pragma omp master
        run->failure = failure;
    }
}

sn_status sn_factor_report(sn_factor *factor, sn_factor_failure failure) {
    factor->info.failed_unknown = factor->unknown[failure.column];
    factor->info.failed_pivot = failure.pivot;
    const char *remedy = "";
    if (failure.column < factor->free_count && factor->fronts == &sn_front_kernels_float)
        remedy = " in float arithmetic; if the matrix should be positive definite, choose "
                 "SN_FACTOR_FRONTS_DOUBLE";
    return sn_fail(factor->context, SN_ERR_NOT_POSITIVE_DEFINITE,
                   "the matrix is not positive definite: the pivot of unknown %d is %g%s",
                   (int)factor->info.failed_unknown, failure.pivot, remedy);
}

sn_status sn_factor_compute(sn_factor *factor, const sn_factor_matrix *matrix) {
    numeric run = {factor, matrix->value, -1, no_failure, no_failure, 0};
    const bool *touched = factor->touched;
    int32_t count = factor->supernode_count;
    factor->has_numbers = false;
    factor->schur_is_factored = false;
    factor->info.failed_unknown = -1;
    factor->info.failed_pivot = 0;
    if (!memchr(touched, false, (size_t)count))
        sn_factor_choose_scales(factor, matrix);
    for (int32_t s = sn_next_marked(touched, 0, count); s < count; s = sn_next_marked(touched, s + 1, count))
        factor->stale[s] = true;
    factor_touched(&run);
    factor->info.done_flops = (double)run.flops;
    if (run.failure.column != INT32_MAX)
        return sn_factor_report(factor, run.failure);
    memset(factor->stale, false, (size_t)count);
    factor->has_numbers = true;
    return SN_OK;
}

sn_status sn_factor_check_matrix(const sn_factor *factor, const sn_factor_matrix *matrix) {
    sn_context *ctx = factor->context;
    bool is_empty = matrix && matrix->start && matrix->n == 0;
    if (!matrix || !matrix->start || (!is_empty && (!matrix->column || !matrix->value)))
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "the matrix to factor has no values");
    if (matrix->n != factor->info.n || matrix->start[matrix->n] != factor->pattern_nonzeros)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                       "the matrix has %d rows and %lld entries, the analyzed pattern %d and %lld",
                       (int)matrix->n, (long long)matrix->start[matrix->n], (int)factor->info.n,
                       (long long)factor->pattern_nonzeros);
    return SN_OK;
}

static sn_status check_values(const sn_factor *factor, const sn_factor_matrix *matrix) {
    for (int64_t e = 0; e < matrix->start[matrix->n]; e++)
        if (!isfinite(matrix->value[e]))
            return sn_factor_refuse_entry(factor, matrix, e);
    return sn_factor_check_dropped(factor, matrix, 0, matrix->n);
}

sn_status sn_factor_numeric(sn_factor *factor, const sn_factor_matrix *matrix) {
    if (!factor)
        return SN_ERR_INVALID_ARGUMENT;
    sn_status status = SN_OK;
    SN_TRY(sn_factor_check_matrix(factor, matrix));
    SN_TRY(check_values(factor, matrix));
    memset(factor->touched, true, (size_t)factor->supernode_count);
    SN_TRY(sn_factor_compute(factor, matrix));

cleanup:
    return status;
}
