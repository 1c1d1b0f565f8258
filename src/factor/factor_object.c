#include "factor/factor_sweep.h"

#include <string.h>

sn_factor_def sn_factor_def_default(void) {
    return (sn_factor_def){.storage = SN_FACTOR_FLOAT,
                           .kept_storage = SN_FACTOR_DOUBLE,
                           .fronts = SN_FACTOR_FRONTS_AS_STORED,
                           .mark = SN_DEF_MARK};
}

static sn_status check_pattern(sn_context *ctx, const sn_factor_matrix *pattern) {
    if (pattern->n < 0 || !pattern->start || (!pattern->column && pattern->n > 0))
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "the pattern to analyze has no rows or no columns");
    if (pattern->start[0] != 0)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "row 0 of the pattern starts at entry %lld",
                       (long long)pattern->start[0]);
    for (int32_t row = 0; row < pattern->n; row++) {
        int64_t begin = pattern->start[row], end = pattern->start[row + 1];
        if (end <= begin || pattern->column[end - 1] != row)
            return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                           "row %d of the pattern does not end with its diagonal entry", (int)row);
        if (pattern->column[begin] < 0)
            return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "row %d of the pattern has column %d", (int)row,
                           (int)pattern->column[begin]);
        for (int64_t e = begin + 1; e < end; e++)
            if (pattern->column[e] <= pattern->column[e - 1])
                return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "columns of row %d of the pattern do not ascend",
                               (int)row);
    }
    return SN_OK;
}

/// Marks the unknowns of a list, none of which may be marked before. `kind` says what they are.
static sn_status mark_unknowns(sn_context *ctx, int32_t n, int32_t count, const int32_t *list,
                               const char *kind, bool *is_marked) {
    for (int32_t k = 0; k < count; k++) {
        if (list[k] < 0 || list[k] >= n)
            return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "%s unknown %d is outside 0..%d", kind, (int)list[k],
                           (int)n - 1);
        if (is_marked[list[k]])
            return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "%s unknown %d is named twice", kind, (int)list[k]);
        is_marked[list[k]] = true;
    }
    return SN_OK;
}

static sn_status check_storage(sn_context *ctx, sn_factor_storage storage) {
    if (storage != SN_FACTOR_DOUBLE && storage != SN_FACTOR_FLOAT && storage != SN_FACTOR_HALF)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                       "storage %d is not one of SN_FACTOR_DOUBLE, SN_FACTOR_FLOAT and SN_FACTOR_HALF",
                       (int)storage);
    return SN_OK;
}

static sn_status check_def(sn_context *ctx, const sn_factor_def *def, int32_t n) {
    if (def->mark != SN_DEF_MARK)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "start the definition from sn_factor_def_default()");
    if (def->kept_count < 0 || def->kept_count > n || (def->kept_count > 0 && !def->kept))
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "%d of %d unknowns cannot be kept", (int)def->kept_count,
                       (int)n);
    if (def->late_count < 0 || def->late_count > n - def->kept_count || (def->late_count > 0 && !def->late))
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "%d of %d unknowns that are not kept cannot be late",
                       (int)def->late_count, (int)(n - def->kept_count));
    if (def->keep < SN_FACTOR_KEEP_NONE || def->keep > SN_FACTOR_KEEP_ALL)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "%d is no sn_factor_keep", (int)def->keep);
    if (def->fronts < SN_FACTOR_FRONTS_AS_STORED || def->fronts > SN_FACTOR_FRONTS_DOUBLE)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                       "fronts %d are not one of SN_FACTOR_FRONTS_AS_STORED, SN_FACTOR_FRONTS_FLOAT and "
                       "SN_FACTOR_FRONTS_DOUBLE",
                       (int)def->fronts);
    sn_status status = check_storage(ctx, def->storage);
    return status < 0 ? status : check_storage(ctx, def->kept_storage);
}

/// Orders the unknowns that are neither kept nor late, as nested dissection of a graph in which each kept
/// unknown weighs `kept_weight`; 0: without them. `is_kept`, `is_late` [n].
static sn_status order_early(sn_context *ctx, const sn_factor_matrix *pattern, const sn_factor_def *def,
                             const bool *is_kept, const bool *is_late, int32_t kept_weight,
                             int32_t *out_order) {
    sn_status status = SN_OK;
    bool *is_out = NULL;
    int32_t *weight = NULL, *order = NULL, n = pattern->n, ordered = n - def->late_count, early = 0;
    SN_TRY_NEW(ctx, is_out, n);
    SN_TRY_NEW(ctx, weight, n);
    SN_TRY_NEW(ctx, order, n);
    for (int32_t i = 0; i < n; i++) {
        is_out[i] = is_late[i] || (is_kept[i] && kept_weight == 0);
        weight[i] = is_kept[i] ? kept_weight : 1;
    }
    if (kept_weight == 0)
        ordered -= def->kept_count;
    SN_TRY(sn_factor_order(ctx, pattern, is_out, kept_weight == 0 ? NULL : weight, def->seed, order));
    for (int32_t k = 0; k < ordered; k++)
        if (!is_kept[order[k]])
            out_order[early++] = order[k];

cleanup:
    SN_RELEASE(ctx, order);
    SN_RELEASE(ctx, weight);
    SN_RELEASE(ctx, is_out);
    return status;
}

/// Orders and analyzes; symbolic->order gets the free unknowns, late ones last, and then the kept ones.
static sn_status analyze_with(sn_context *ctx, const sn_factor_matrix *pattern, const sn_factor_def *def,
                              const bool *is_kept, const bool *is_late, int32_t kept_weight,
                              sn_symbolic *symbolic) {
    sn_status status = SN_OK;
    bool *is_out = NULL;
    int32_t n = pattern->n, free_count = n - def->kept_count;
    SN_TRY_NEW(ctx, is_out, n);
    SN_TRY_NEW(ctx, symbolic->order, n);
    SN_TRY(order_early(ctx, pattern, def, is_kept, is_late, kept_weight, symbolic->order));
    for (int32_t i = 0; i < n; i++)
        is_out[i] = !is_late[i];
    if (def->late_count > 0)
        SN_TRY(sn_factor_order(ctx, pattern, is_out, NULL, def->seed,
                               symbolic->order + free_count - def->late_count));
    for (int32_t k = 0; k < def->kept_count; k++)
        symbolic->order[free_count + k] = def->kept[k];
    SN_TRY(sn_factor_analyze(ctx, pattern, free_count, is_late, symbolic));

cleanup:
    SN_RELEASE(ctx, is_out);
    return status;
}

/// Analyzes with the best of some orders. The kept unknowns are rows of every front that reaches them, so a
/// dissection that shares them out, for which they must weigh more than others, may save a third of the
/// operations; by how much they should weigh depends on the body. A few of them make no difference.
static sn_status analyze(sn_factor *factor, const sn_factor_matrix *pattern, const sn_factor_def *def,
                         sn_symbolic *out_symbolic) {
    static const int32_t weights[] = {0, 10, 30};
    sn_status status = SN_OK;
    sn_context *ctx = factor->context;
    sn_symbolic other = {0};
    bool *is_kept = NULL, *is_late = NULL;
    int32_t n = pattern->n;
    SN_TRY_NEW_ZEROED(ctx, is_kept, n);
    SN_TRY_NEW_ZEROED(ctx, is_late, n);
    SN_TRY(mark_unknowns(ctx, n, def->kept_count, def->kept, "kept", is_kept));
    memcpy(is_late, is_kept, (size_t)n * sizeof *is_late);
    SN_TRY(mark_unknowns(ctx, n, def->late_count, def->late, "kept or late", is_late));
    for (int32_t k = 0; k < def->kept_count; k++)
        is_late[def->kept[k]] = false;
    bool are_many = (double)def->kept_count * def->kept_count > n;
    for (size_t k = 0; k < (are_many ? sizeof weights / sizeof *weights : 1); k++) {
        SN_TRY(analyze_with(ctx, pattern, def, is_kept, is_late, weights[k], &other));
        if (k == 0 || other.flops < out_symbolic->flops) {
            sn_symbolic worse = *out_symbolic;
            *out_symbolic = other;
            other = worse;
        }
        sn_symbolic_destroy(ctx, &other);
        other = (sn_symbolic){0};
    }

cleanup:
    sn_symbolic_destroy(ctx, &other);
    SN_RELEASE(ctx, is_late);
    SN_RELEASE(ctx, is_kept);
    return status;
}

sn_status sn_factor_create(sn_context *context, const sn_factor_matrix *pattern, const sn_factor_def *def,
                           sn_factor **out_factor) {
    if (!context)
        return SN_ERR_INVALID_ARGUMENT;
    if (!pattern || !out_factor)
        return sn_fail(context, SN_ERR_INVALID_ARGUMENT,
                       "a factor needs a pattern and a place for the result");
    sn_factor_def chosen = def ? *def : sn_factor_def_default();
    sn_status status = SN_OK;
    sn_factor *factor = NULL;
    sn_symbolic symbolic = {0};
    sn_reduced reduced = {0};
    size_t memory_before = sn_context_memory_in_use(context);
    SN_TRY(check_pattern(context, pattern));
    SN_TRY(check_def(context, &chosen, pattern->n));
    SN_TRY_NEW_ZEROED(context, factor, 1);
    factor->context = context;
    factor->storage = chosen.storage;
    factor->kept_storage = chosen.kept_storage;
    bool in_double = chosen.fronts == SN_FACTOR_FRONTS_DOUBLE ||
                     (chosen.fronts == SN_FACTOR_FRONTS_AS_STORED && chosen.storage == SN_FACTOR_DOUBLE);
    factor->fronts = in_double ? &sn_front_kernels_double : &sn_front_kernels_float;
    factor->kernels = sn_sweep_choose(chosen.storage, sn_sweep_best_level());
    factor->kept_kernels = sn_sweep_choose(chosen.kept_storage, sn_sweep_best_level());
    factor->pattern_nonzeros = pattern->start[pattern->n];
    factor->kept_count = chosen.kept_count;
    factor->free_count = pattern->n - chosen.kept_count;
    factor->info.n = pattern->n;
    sn_factor_matrix analyzed = *pattern;
    if (chosen.drop_zeros) {
        SN_TRY(sn_factor_reduce(context, pattern, &reduced));
        analyzed = (sn_factor_matrix){pattern->n, reduced.start, reduced.column, NULL};
    }
    SN_TRY(analyze(factor, &analyzed, &chosen, &symbolic));
    SN_TRY(sn_factor_lay_out(factor, &analyzed, &chosen, &symbolic));
    if (chosen.drop_zeros)
        SN_TRY(sn_factor_note_dropped(factor, pattern, &reduced));
    factor->info.kept_count = factor->kept_count;
    factor->info.supernode_count = factor->supernode_count;
    factor->info.nonzeros = symbolic.nonzeros;
    factor->info.kept_nonzeros = (int64_t)factor->kept_count * (factor->kept_count + 1) / 2;
    factor->info.flops = symbolic.flops;
    factor->info.failed_unknown = -1;
    // Before the large allocations, so that there is no peak above what stays.
    sn_symbolic_destroy(context, &symbolic);
    sn_reduced_destroy(context, &reduced);
    SN_TRY(sn_factor_allocate(factor));
    factor->info.memory_bytes = (double)(sn_context_memory_in_use(context) - memory_before);
    *out_factor = factor;
    factor = NULL;

cleanup:
    sn_reduced_destroy(context, &reduced);
    sn_symbolic_destroy(context, &symbolic);
    sn_factor_destroy(&factor);
    return status;
}

void sn_factor_destroy(sn_factor **factor) {
    if (!factor || !*factor)
        return;
    sn_factor *f = *factor;
    sn_context *ctx = f->context;
    SN_RELEASE(ctx, f->supernodes);
    SN_RELEASE(ctx, f->groups);
    SN_RELEASE(ctx, f->unknown);
    SN_RELEASE(ctx, f->row_place);
    SN_RELEASE(ctx, f->boundary_place);
    SN_RELEASE(ctx, f->entries);
    SN_RELEASE(ctx, f->entry_start);
    SN_RELEASE(ctx, f->dropped);
    SN_RELEASE(ctx, f->dropped_start);
    SN_RELEASE(ctx, f->roots);
    SN_RELEASE(ctx, f->node_of);
    SN_RELEASE(ctx, f->stale);
    SN_RELEASE(ctx, f->touched);
    SN_RELEASE(ctx, f->entry_values);
    SN_RELEASE(ctx, f->values);
    SN_RELEASE(ctx, f->update_block);
    SN_RELEASE(ctx, f->front_index);
    SN_RELEASE(ctx, f->relative);
    SN_RELEASE(ctx, f->scratch);
    SN_RELEASE(ctx, f->places);
    SN_RELEASE(ctx, f->kept_places);
    SN_RELEASE(ctx, f->kept_doubles);
    SN_RELEASE(ctx, f->scale);
    SN_RELEASE(ctx, f->refinement.residual);
    SN_RELEASE(ctx, f->refinement.last_residual);
    SN_RELEASE(ctx, f->refinement.correction);
    SN_RELEASE(ctx, f->refinement.direction);
    SN_RELEASE(ctx, f->refinement.product);
    SN_RELEASE(ctx, f->schur);
    SN_RELEASE(ctx, *factor);
}

sn_factor_info sn_factor_get_info(const sn_factor *factor) {
    return factor ? factor->info : (sn_factor_info){.failed_unknown = -1};
}
