/// Where panels and update matrices lie in the numeric phase. Memory is planned as if it were allocated and
/// released in the order of elimination, so that it is taken once and nothing is allocated later.
#include "factor/factor_sweep.h"

#include <string.h>

enum { ALIGNMENT = 64 };

typedef struct hole {
    int64_t start, size;
} hole;

/// Bytes handed out: the best fit in a sorted list of holes, else what follows them, up to `limit`.
typedef struct plan {
    hole *holes;
    size_t count, capacity;
    int64_t end, limit; ///< `end` is the highest offset handed out so far.
} plan;

static void plan_remove(plan *p, size_t index) {
    p->count--;
    memmove(&p->holes[index], &p->holes[index + 1], (p->count - index) * sizeof *p->holes);
}

/// The smallest hole that fits; p->count if none does.
static size_t plan_find(const plan *p, int64_t size) {
    size_t best = p->count;
    for (size_t i = 0; i < p->count; i++)
        if (p->holes[i].size >= size && (best == p->count || p->holes[i].size < p->holes[best].size))
            best = i;
    return best;
}

/// Start of `size` bytes, a multiple of ALIGNMENT; -1 if there is no room.
static int64_t plan_take(plan *p, int64_t size) {
    size_t found = plan_find(p, size);
    if (size == 0)
        return 0;
    if (found < p->count) {
        hole *h = &p->holes[found];
        int64_t start = h->start;
        h->start += size;
        h->size -= size;
        if (h->size == 0)
            plan_remove(p, found);
        return start;
    }
    // The last hole may end where the plan does: it then counts.
    bool extends = p->count > 0 && p->holes[p->count - 1].start + p->holes[p->count - 1].size == p->end;
    int64_t start = extends ? p->holes[p->count - 1].start : p->end;
    if (start + size > p->limit)
        return -1;
    if (extends)
        p->count--;
    p->end = start + size;
    return start;
}

static sn_status plan_give(sn_context *ctx, plan *p, int64_t start, int64_t size) {
    if (size == 0)
        return SN_OK;
    sn_status status = sn_grow(ctx, (void **)&p->holes, &p->capacity, p->count + 1, sizeof *p->holes);
    if (status < 0)
        return status;
    size_t at = p->count;
    while (at > 0 && p->holes[at - 1].start > start)
        at--;
    memmove(&p->holes[at + 1], &p->holes[at], (p->count - at) * sizeof *p->holes);
    p->holes[at] = (hole){start, size};
    p->count++;
    if (at + 1 < p->count && start + size == p->holes[at + 1].start) {
        p->holes[at].size += p->holes[at + 1].size;
        plan_remove(p, at + 1);
    }
    if (at > 0 && p->holes[at - 1].start + p->holes[at - 1].size == start) {
        p->holes[at - 1].size += p->holes[at].size;
        plan_remove(p, at);
    }
    return SN_OK;
}

static int64_t align(int64_t bytes) {
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/// Everything that is planned.
typedef struct memory {
    sn_factor *factor;
    plan schur;   ///< Until S itself is computed.
    plan scratch; ///< Of the group at hand, then of the top.
    plan updates; ///< What lies nowhere else.
    plan *panels; ///< [top_count] packed panels of the top, in bytes of `values`.
    int32_t top_count;
    int64_t slot_size;
} memory;

static int64_t update_bytes(const memory *m, const sn_supernode *node) {
    return align(sn_update_size(node) * (int64_t)m->factor->fronts->real_size);
}

/// Scratch for a panel, or for packing one of its stripes.
static int64_t panel_bytes(const memory *m, const sn_supernode *node) {
    int64_t stripe = SN_STRIPE_COLUMNS * ((int64_t)node->width + node->row_count);
    return align((node->panel_in_values ? stripe : sn_panel_size(node)) *
                 (int64_t)m->factor->fronts->real_size);
}

static int64_t schur_bytes(const sn_factor *factor) {
    return sn_trapezoid_size(factor->kept_count, SN_PANEL_BLOCK, factor->kept_count) *
           (int64_t)sizeof(double);
}

static sn_status memory_begin(memory *m) {
    sn_status status = SN_OK;
    const sn_factor *factor = m->factor;
    int64_t size = (int64_t)factor->kernels->value_size;
    m->top_count = factor->supernode_count - factor->first_top;
    m->scratch.limit = m->updates.limit = INT64_MAX;
    m->schur.limit = schur_bytes(factor);
    SN_TRY_NEW_ZEROED(factor->context, m->panels, m->top_count);
    for (int32_t t = 0; t < m->top_count; t++) {
        const sn_supernode *node = &factor->supernodes[factor->first_top + t];
        m->panels[t].end = align(node->value_start * size);
        m->panels[t].limit = (node->value_start + sn_packed_size(node->width, node->row_count)) * size;
    }

cleanup:
    return status;
}

static void memory_end(memory *m) {
    sn_context *ctx = m->factor->context;
    for (int32_t t = 0; m->panels && t < m->top_count; t++)
        SN_RELEASE(ctx, m->panels[t].holes);
    SN_RELEASE(ctx, m->panels);
    SN_RELEASE(ctx, m->schur.holes);
    SN_RELEASE(ctx, m->scratch.holes);
    SN_RELEASE(ctx, m->updates.holes);
}

/// Room for an update in the packed panels of the top that are not in use before it was absorbed: those of
/// its parent (unless that is factored there) and of that one's ancestors. -1: none.
static int64_t take_from_panels(memory *m, const sn_supernode *node, int64_t size) {
    for (int32_t a = node->parent; a != SN_FACTOR_NONE; a = m->factor->supernodes[a].parent) {
        bool is_in_use =
            a < m->factor->first_top || (a == node->parent && m->factor->supernodes[a].panel_in_values);
        int64_t start = is_in_use ? -1 : plan_take(&m->panels[a - m->factor->first_top], size);
        if (start >= 0)
            return start;
    }
    return -1;
}

/// Where the update of supernode `s` lies.
static void place_update(memory *m, int32_t s) {
    const sn_factor *factor = m->factor;
    sn_supernode *node = &m->factor->supernodes[s];
    bool is_top = s >= factor->first_top;
    bool stays_in_group = node->parent != SN_FACTOR_NONE && node->parent < factor->first_top;
    int64_t size = update_bytes(m, node), start = -1;
    if (node->update_is_kept)
        return;
    node->update_home = SN_HOME_VALUES;
    if (!stays_in_group)
        start = take_from_panels(m, node, size);
    if (start < 0 && !stays_in_group && node->parent != SN_FACTOR_NONE) {
        node->update_home = SN_HOME_SCHUR;
        start = plan_take(&m->schur, size);
    }
    if (start < 0) {
        node->update_home = is_top || stays_in_group ? SN_HOME_SCRATCH : SN_HOME_UPDATES;
        start = plan_take(is_top || stays_in_group ? &m->scratch : &m->updates, size);
    }
    node->update_start = start;
}

/// Gives back the update of a supernode that has been absorbed.
static sn_status give_update(memory *m, const sn_supernode *node) {
    sn_context *ctx = m->factor->context;
    int64_t size = update_bytes(m, node);
    if (node->update_is_kept)
        return SN_OK;
    if (node->update_home == SN_HOME_SCRATCH)
        return plan_give(ctx, &m->scratch, node->update_start, size);
    if (node->update_home == SN_HOME_UPDATES)
        return plan_give(ctx, &m->updates, node->update_start, size);
    if (node->update_home == SN_HOME_SCHUR)
        return plan_give(ctx, &m->schur, node->update_start, size);
    int32_t t = 0;
    while (t + 1 < m->top_count && node->update_start >= m->panels[t].limit)
        t++;
    return plan_give(ctx, &m->panels[t], node->update_start, size);
}

/// A front is made while its children's updates are alive; then these and the panel are given back.
static sn_status plan_front(memory *m, int32_t s) {
    sn_status status = SN_OK;
    sn_factor *factor = m->factor;
    sn_supernode *node = &factor->supernodes[s];
    int64_t relative = 0;
    place_update(m, s);
    node->panel_start = plan_take(&m->scratch, panel_bytes(m, node));
    for (int32_t c = node->first_child; c != SN_FACTOR_NONE; c = factor->supernodes[c].next_sibling) {
        SN_TRY(give_update(m, &factor->supernodes[c]));
        relative += factor->supernodes[c].row_count;
    }
    SN_TRY(plan_give(factor->context, &m->scratch, node->panel_start, panel_bytes(m, node)));
    factor->relative_size = relative > factor->relative_size ? relative : factor->relative_size;

cleanup:
    return status;
}

/// Places the updates that are kept behind the others.
static void place_kept_updates(memory *m) {
    int64_t begin = m->updates.end;
    for (int32_t s = 0; s < m->factor->supernode_count; s++) {
        sn_supernode *node = &m->factor->supernodes[s];
        if (!node->update_is_kept)
            continue;
        node->update_home = SN_HOME_UPDATES;
        node->update_start = m->updates.end;
        m->updates.end += update_bytes(m, node);
    }
    int64_t entries = m->factor->keeps_updates ? m->factor->entry_start[m->factor->free_count] : 0;
    m->factor->info.update_bytes = (double)(m->updates.end - begin) + (double)entries * sizeof(double);
}

static sn_status plan_fronts(memory *m) {
    sn_status status = SN_OK;
    const sn_factor *factor = m->factor;
    for (int32_t g = 0; g < factor->group_count; g++) {
        const sn_factor_group *group = &factor->groups[g];
        m->scratch.end = 0;
        m->scratch.count = 0;
        for (int32_t s = group->first_supernode; s < group->supernode_end; s++)
            SN_TRY(plan_front(m, s));
        m->slot_size = m->scratch.end > m->slot_size ? m->scratch.end : m->slot_size;
    }
    m->scratch.end = 0;
    m->scratch.count = 0;
    for (int32_t s = factor->first_top; s < factor->supernode_count; s++)
        SN_TRY(plan_front(m, s));
    place_kept_updates(m);

cleanup:
    return status;
}

/// Bytes of scratch: slots for groups, or the top, or the factor of S.
static int64_t scratch_bytes(const memory *m) {
    const sn_factor *factor = m->factor;
    int64_t bytes = schur_bytes(factor) + SN_PACKED_MARGIN;
    bytes = bytes > m->scratch.end ? bytes : m->scratch.end;
    return bytes > m->slot_size * factor->slot_count ? bytes : m->slot_size * factor->slot_count;
}

/// Plans with the last panel, the largest one in most cases, in its values or not; returns the bytes it
/// takes.
static sn_status plan_with(sn_factor *factor, bool in_values, int64_t *out_bytes) {
    sn_status status = SN_OK;
    memory m = {.factor = factor};
    sn_supernode *last = in_values ? &factor->supernodes[factor->supernode_count - 1] : NULL;
    if (factor->supernode_count > 0)
        factor->supernodes[factor->supernode_count - 1].panel_in_values = in_values;
    factor->relative_size = 0;
    SN_TRY(memory_begin(&m));
    SN_TRY(plan_fronts(&m));
    factor->slot_size = m.slot_size;
    factor->scratch_size = scratch_bytes(&m);
    factor->updates_size = m.updates.end;
    *out_bytes = factor->scratch_size + factor->updates_size;
    if (last)
        *out_bytes += (sn_panel_size(last) - sn_packed_size(last->width, last->row_count)) *
                      (int64_t)factor->fronts->real_size;

cleanup:
    memory_end(&m);
    return status;
}

/// Whether the last panel can stand in its values while it is factored.
static bool may_stand_in_values(const sn_factor *factor) {
    return factor->first_top < factor->supernode_count &&
           factor->fronts->real_size == factor->kernels->value_size;
}

sn_status sn_factor_plan_memory(sn_factor *factor) {
    sn_status status = SN_OK;
    sn_context *ctx = factor->context;
    int32_t threads = sn_context_thread_count(ctx);
    int64_t apart = 0, in_values = INT64_MAX, root_rows = 0;
    factor->slot_count = threads < factor->group_count ? threads : factor->group_count;
    factor->slot_count = factor->slot_count > 1 ? factor->slot_count : 1;
    if (may_stand_in_values(factor))
        SN_TRY(plan_with(factor, true, &in_values));
    SN_TRY(plan_with(factor, false, &apart));
    if (in_values < apart)
        SN_TRY(plan_with(factor, true, &in_values));
    for (int32_t k = 0; k < factor->root_count; k++)
        root_rows += factor->supernodes[factor->roots[k]].row_count;
    int64_t relative = factor->slot_count * factor->relative_size;
    SN_TRY_NEW(ctx, factor->scratch, factor->scratch_size);
    factor->kept_values = factor->scratch;
    SN_TRY_NEW(ctx, factor->updates, factor->updates_size);
    SN_TRY_NEW(ctx, factor->front_index, (int64_t)factor->slot_count * factor->place_count);
    SN_TRY_NEW(ctx, factor->relative, relative > root_rows ? relative : root_rows);

cleanup:
    return status;
}
