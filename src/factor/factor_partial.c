/// Partial refactorization: supernodes that changed entries reach are computed anew, from the update matrices
/// of their untouched children.
#include "factor/factor_internal.h"

#include <math.h>
#include <string.h>

/// An update matrix is worth keeping if computing it anew takes more than this number of operations for each
/// of its numbers: a sixth of the widest supernode. At 120 K nodes that takes a third of the memory that
/// keeping all of them would, and a change then repeats 1 % more operations than its paths have.
static double worth_keeping(const sn_factor *factor) {
    int32_t widest = 0;
    for (int32_t s = 0; s < factor->supernode_count; s++)
        widest = factor->supernodes[s].width > widest ? factor->supernodes[s].width : widest;
    return widest / 6.0;
}

void sn_factor_mark_path(const sn_factor *factor, int32_t s, bool *mark) {
    for (; s != SN_FACTOR_NONE && !mark[s]; s = factor->supernodes[s].parent)
        mark[s] = true;
}

sn_status sn_factor_plan_kept(sn_factor *factor, const sn_factor_def *def) {
    sn_status status = SN_OK;
    sn_context *ctx = factor->context;
    bool *on_path = NULL;
    double *work = NULL;
    factor->keeps_updates = def->keep != SN_FACTOR_KEEP_NONE;
    if (!factor->keeps_updates)
        return SN_OK;
    SN_TRY_NEW_ZEROED(ctx, on_path, factor->supernode_count);
    SN_TRY_NEW_ZEROED(ctx, work, factor->supernode_count);
    for (int32_t k = 0; k < def->late_count; k++)
        sn_factor_mark_path(factor, factor->node_of[def->late[k]], on_path);
    double limit = worth_keeping(factor);
    for (int32_t s = 0; s < factor->supernode_count; s++) {
        sn_supernode *node = &factor->supernodes[s];
        // Parents have higher numbers than their children, so `work` holds what those cost that are not kept.
        work[s] += sn_front_flops(node->width, node->row_count);
        bool is_wanted =
            def->keep == SN_FACTOR_KEEP_ALL || node->parent == SN_FACTOR_NONE || on_path[node->parent];
        node->update_is_kept =
            node->parent == SN_FACTOR_NONE || (is_wanted && work[s] > limit * (double)sn_update_size(node));
        if (!node->update_is_kept)
            work[node->parent] += work[s];
    }

cleanup:
    SN_RELEASE(ctx, work);
    SN_RELEASE(ctx, on_path);
    return status;
}

static sn_status check_changed(const sn_factor *factor, int32_t changed_count, const int32_t *changed) {
    if (changed_count < 0 || (changed_count > 0 && !changed))
        return sn_fail(factor->context, SN_ERR_INVALID_ARGUMENT, "a list of %d changed unknowns is missing",
                       (int)changed_count);
    for (int32_t k = 0; k < changed_count; k++)
        if (changed[k] < 0 || changed[k] >= factor->info.n)
            return sn_fail(factor->context, SN_ERR_INVALID_ARGUMENT, "changed unknown %d is outside 0..%d",
                           (int)changed[k], (int)factor->info.n - 1);
    return SN_OK;
}

/// Starts `touched` with what holds no numbers.
static void touch_stale(sn_factor *factor) {
    memcpy(factor->touched, factor->stale, (size_t)factor->supernode_count);
}

/// Whether an entry of the supernode is other than when it was factored.
static bool has_changed(const sn_factor *factor, const sn_supernode *node, const double *matrix_value) {
    const double *last = factor->entry_values;
    const uint32_t *start = factor->entry_start + node->first;
    for (uint32_t e = start[0]; e < start[node->width]; e++)
        if (memcmp(&matrix_value[factor->entries[e].source], &last[e], sizeof *last) != 0)
            return true;
    return false;
}

/// Marks the paths of all supernodes with changed entries.
static void touch_found(sn_factor *factor, const double *matrix_value) {
    for (int32_t s = 0; s < factor->supernode_count; s++)
        if (!factor->touched[s] && has_changed(factor, &factor->supernodes[s], matrix_value))
            sn_factor_mark_path(factor, s, factor->touched);
}

static void touch_source(sn_factor *factor, int32_t s) {
    if (factor->supernodes[s].row_count > 0 && !factor->supernodes[s].update_is_kept)
        factor->touched[s] = true;
}

/// The last marked supernode before `end`, or -1.
static int32_t last_marked(const bool *mark, int32_t end) {
    uint64_t marks = 0;
    for (; end >= (int32_t)sizeof marks; end -= (int32_t)sizeof marks) {
        memcpy(&marks, mark + end - sizeof marks, sizeof marks);
        if (marks)
            break;
    }
    while (end > 0 && !mark[end - 1])
        end--;
    return end - 1;
}

/// Adds the supernodes whose update a touched parent, or S, needs and does not find. Looks at no others:
/// there may be many, and few touched.
static void touch_sources(sn_factor *factor) {
    for (int32_t k = 0; k < factor->root_count; k++)
        touch_source(factor, factor->roots[k]);
    for (int32_t s = last_marked(factor->touched, factor->supernode_count); s >= 0;
         s = last_marked(factor->touched, s)) {
        for (int32_t c = factor->supernodes[s].first_child; c != SN_FACTOR_NONE;
             c = factor->supernodes[c].next_sibling)
            touch_source(factor, c);
    }
}

/// Refuses values of the columns first..end-1 that are not finite, or not 0 where they were dropped.
static sn_status check_columns(const sn_factor *factor, const sn_factor_matrix *matrix, int32_t first,
                               int32_t end) {
    for (uint32_t k = factor->entry_start[first]; k < factor->entry_start[end]; k++) {
        int64_t e = factor->entries[k].source;
        if (!isfinite(matrix->value[e]))
            return sn_factor_refuse_entry(factor, matrix, e);
    }
    return sn_factor_check_dropped(factor, matrix, first, end);
}

/// The same for all that is about to be read.
static sn_status check_touched(const sn_factor *factor, const sn_factor_matrix *matrix) {
    sn_status status = SN_OK;
    const bool *touched = factor->touched;
    int32_t count = factor->supernode_count;
    for (int32_t s = sn_next_marked(touched, 0, count); s < count;
         s = sn_next_marked(touched, s + 1, count)) {
        const sn_supernode *node = &factor->supernodes[s];
        SN_TRY(check_columns(factor, matrix, node->first, node->first + node->width));
    }
    SN_TRY(check_columns(factor, matrix, factor->free_count, factor->info.n));

cleanup:
    return status;
}

sn_status sn_factor_update(sn_factor *factor, const sn_factor_matrix *matrix, int32_t changed_count,
                           const int32_t *changed) {
    if (!factor)
        return SN_ERR_INVALID_ARGUMENT;
    sn_status status = SN_OK;
    SN_TRY(sn_factor_check_matrix(factor, matrix));
    if (changed_count == SN_FACTOR_FIND_CHANGED)
        SN_TRY(sn_factor_check_dropped(factor, matrix, 0, factor->info.n));
    touch_stale(factor);
    if (changed_count == SN_FACTOR_FIND_CHANGED && !factor->keeps_updates) {
        memset(factor->touched, true, (size_t)factor->supernode_count);
    } else if (changed_count == SN_FACTOR_FIND_CHANGED) {
        touch_found(factor, matrix->value);
    } else {
        SN_TRY(check_changed(factor, changed_count, changed));
        for (int32_t k = 0; k < changed_count; k++)
            sn_factor_mark_path(factor, factor->node_of[changed[k]], factor->touched);
    }
    touch_sources(factor);
    SN_TRY(check_touched(factor, matrix));
    SN_TRY(sn_factor_compute(factor, matrix));

cleanup:
    return status;
}
