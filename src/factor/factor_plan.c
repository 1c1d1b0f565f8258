/// Where panels and update matrices lie in the numeric phase. Memory is planned as if it were allocated and
/// released in the order of elimination, so that it is taken once and nothing is allocated later.
#include "factor/factor_sweep.h"

#include <string.h>

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

/// Start of `size` bytes, a multiple of SN_FACTOR_ALIGNMENT; -1 if there is no room.
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
    return (bytes + SN_FACTOR_ALIGNMENT - 1) / SN_FACTOR_ALIGNMENT * SN_FACTOR_ALIGNMENT;
}

/// Everything that is planned.
typedef struct memory {
    sn_factor *factor;
    plan schur;   ///< Until S itself is computed.
    plan scratch; ///< Of the group at hand, then of the top.
    plan updates; ///< What groups leave for the top and what finds no other room, behind the slots.
    plan *panels; ///< [supernode_count] packed panels, in bytes of `values`.
    int64_t slot_size;
} memory;

static int64_t block_bytes(const memory *m, const sn_supernode *node, int32_t block) {
    int64_t left = node->row_count - (int64_t)block * SN_UPDATE_BLOCK;
    return align(sn_trapezoid_stride(node->row_count, SN_UPDATE_BLOCK, block) *
                 (left < SN_UPDATE_BLOCK ? left : SN_UPDATE_BLOCK) * (int64_t)m->factor->fronts->real_size);
}

/// Scratch for a panel, or for packing one of its stripes.
static int64_t panel_bytes(const memory *m, const sn_supernode *node) {
    int64_t stripe = SN_STRIPE_COLUMNS * ((int64_t)node->width + node->row_count);
    return align((node->panel_in_values ? stripe : sn_panel_size(node)) *
                 (int64_t)m->factor->fronts->real_size);
}

static sn_status memory_begin(memory *m) {
    sn_status status = SN_OK;
    const sn_factor *factor = m->factor;
    int64_t size = (int64_t)factor->kernels->value_size, kept = factor->kept_count;
    m->scratch.limit = m->updates.limit = INT64_MAX;
    m->schur.limit = kept * (kept + 1) / 2 * (int64_t)sizeof *factor->schur;
    SN_TRY_NEW_ZEROED(factor->context, m->panels, factor->supernode_count);
    for (int32_t s = 0; s < factor->supernode_count; s++) {
        const sn_supernode *node = &factor->supernodes[s];
        m->panels[s].end = align(node->value_start * size);
        m->panels[s].limit = (node->value_start + sn_packed_size(node->width, node->row_count)) * size;
    }

cleanup:
    return status;
}

static void memory_end(memory *m) {
    sn_context *ctx = m->factor->context;
    for (int32_t s = 0; m->panels && s < m->factor->supernode_count; s++)
        SN_RELEASE(ctx, m->panels[s].holes);
    SN_RELEASE(ctx, m->panels);
    SN_RELEASE(ctx, m->schur.holes);
    SN_RELEASE(ctx, m->scratch.holes);
}

/// Whether the update of a supernode is absorbed by the same thread.
static bool stays_in_group(const sn_factor *factor, const sn_supernode *node) {
    return node->parent != SN_FACTOR_NONE && node->parent < factor->first_top;
}

/// Room in the packed panels of ancestors from supernode `first` on, in the top only if no other threads may
/// be at work. -1: none.
static int64_t take_from_panels(memory *m, const sn_supernode *node, int32_t first, int64_t size) {
    const sn_factor *factor = m->factor;
    int32_t end = stays_in_group(factor, node) ? factor->first_top : factor->supernode_count;
    for (int32_t a = first; a != SN_FACTOR_NONE && a < end; a = factor->supernodes[a].parent) {
        int64_t start = plan_take(&m->panels[a], size);
        if (start >= 0)
            return start;
    }
    return -1;
}

/// Where the panel of supernode `s` is computed. Other groups may be at work while that of a group's root is.
static int64_t place_panel(memory *m, int32_t s, int64_t size) {
    const sn_supernode *node = &m->factor->supernodes[s];
    bool may_leave = s >= m->factor->first_top || stays_in_group(m->factor, node);
    int64_t start = may_leave ? take_from_panels(m, node, node->parent, size) : -1;
    return start >= 0 ? start + SN_HOME_VALUES : plan_take(&m->scratch, size) + SN_HOME_SCRATCH;
}

/// The first ancestor whose packed panel is not in use before the update of `node` was absorbed: its parent,
/// unless that is factored there.
static int32_t first_free(const sn_factor *factor, const sn_supernode *node) {
    bool is_in_use = node->parent != SN_FACTOR_NONE && factor->supernodes[node->parent].panel_in_values;
    return is_in_use ? factor->supernodes[node->parent].parent : node->parent;
}

/// Where a block of the update of supernode `s` lies.
static int64_t place_block(memory *m, int32_t s, int64_t size) {
    const sn_factor *factor = m->factor;
    const sn_supernode *node = &factor->supernodes[s];
    bool stays = stays_in_group(factor, node);
    int64_t start = take_from_panels(m, node, first_free(factor, node), size);
    if (start >= 0)
        return start + SN_HOME_VALUES;
    if (!stays && node->parent != SN_FACTOR_NONE)
        start = plan_take(&m->schur, size);
    if (start >= 0)
        return start + SN_HOME_SCHUR;
    return stays || s >= factor->first_top ? plan_take(&m->scratch, size) + SN_HOME_SCRATCH
                                           : plan_take(&m->updates, size) + SN_HOME_UPDATES;
}

static void place_update(memory *m, int32_t s) {
    const sn_supernode *node = &m->factor->supernodes[s];
    for (int32_t b = 0; !node->update_is_kept && b < sn_update_blocks(node); b++)
        m->factor->update_block[node->block_start + b] = place_block(m, s, block_bytes(m, node, b));
}

/// The packed panel in which a byte of `values` lies.
static plan *find_panel(const memory *m, int64_t start) {
    int32_t low = 0, high = m->factor->supernode_count - 1;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (start < m->panels[middle].limit)
            high = middle;
        else
            low = middle + 1;
    }
    return &m->panels[low];
}

/// Bytes of the slots of all threads.
static int64_t slots_bytes(const memory *m) {
    return m->slot_size * m->factor->slot_count;
}

/// Gives back a panel or block. What lies behind the slots is given back by the top alone, whose scratch goes
/// on there.
static sn_status give(memory *m, int64_t start, int64_t size) {
    int64_t home = start % SN_FACTOR_ALIGNMENT;
    plan *from = home == SN_HOME_VALUES  ? find_panel(m, start - home)
                 : home == SN_HOME_SCHUR ? &m->schur
                                         : &m->scratch;
    int64_t first = home == SN_HOME_UPDATES ? slots_bytes(m) : 0;
    return plan_give(m->factor->context, from, first + start - home, size);
}

/// Gives back the update of a supernode that has been absorbed.
static sn_status give_update(memory *m, const sn_supernode *node) {
    sn_status status = SN_OK;
    for (int32_t b = 0; !node->update_is_kept && b < sn_update_blocks(node); b++)
        SN_TRY(give(m, m->factor->update_block[node->block_start + b], block_bytes(m, node, b)));

cleanup:
    return status;
}

/// A front is made while its children's updates are alive; then these and the panel are given back.
static sn_status plan_front(memory *m, int32_t s) {
    sn_status status = SN_OK;
    sn_factor *factor = m->factor;
    sn_supernode *node = &factor->supernodes[s];
    int64_t relative = 0;
    place_update(m, s);
    node->panel_start = place_panel(m, s, panel_bytes(m, node));
    for (int32_t c = node->first_child; c != SN_FACTOR_NONE; c = factor->supernodes[c].next_sibling) {
        SN_TRY(give_update(m, &factor->supernodes[c]));
        relative += factor->supernodes[c].row_count;
    }
    SN_TRY(give(m, node->panel_start, panel_bytes(m, node)));
    factor->relative_size = relative > factor->relative_size ? relative : factor->relative_size;

cleanup:
    return status;
}

/// Forgets the scratch of what was planned before. The first `size` bytes are free, too, but not what follows
/// up to `end`.
static sn_status start_scratch(memory *m, int64_t size, int64_t end) {
    m->scratch.count = 0;
    m->scratch.end = end;
    return plan_give(m->factor->context, &m->scratch, 0, size);
}

static sn_status plan_fronts(memory *m) {
    sn_status status = SN_OK;
    const sn_factor *factor = m->factor;
    for (int32_t g = 0; g < factor->group_count; g++) {
        const sn_factor_group *group = &factor->groups[g];
        SN_TRY(start_scratch(m, 0, 0));
        for (int32_t s = group->first_supernode; s < group->supernode_end; s++)
            SN_TRY(plan_front(m, s));
        m->slot_size = m->scratch.end > m->slot_size ? m->scratch.end : m->slot_size;
    }
    SN_TRY(start_scratch(m, slots_bytes(m), slots_bytes(m) + m->updates.end));
    for (int32_t s = factor->first_top; s < factor->supernode_count; s++)
        SN_TRY(plan_front(m, s));

cleanup:
    return status;
}

/// Bytes of scratch: the slots and what the groups leave, the top, or the factor of S.
static int64_t scratch_bytes(const memory *m) {
    int64_t kept = m->factor->kept_count;
    int64_t bytes =
        align(sn_trapezoid_size(kept, SN_PANEL_BLOCK, kept) * (int64_t)sizeof(double) + SN_PACKED_MARGIN);
    return bytes > m->scratch.end ? bytes : m->scratch.end;
}

/// Places the updates that are kept behind all scratch, and returns the bytes of both.
static int64_t place_kept_updates(memory *m) {
    int64_t begin = scratch_bytes(m), end = begin;
    for (int32_t s = 0; s < m->factor->supernode_count; s++) {
        const sn_supernode *node = &m->factor->supernodes[s];
        for (int32_t b = 0; node->update_is_kept && b < sn_update_blocks(node); b++) {
            m->factor->update_block[node->block_start + b] = end - slots_bytes(m) + SN_HOME_UPDATES;
            end += block_bytes(m, node, b);
        }
    }
    int64_t entries = m->factor->keeps_updates ? m->factor->entry_start[m->factor->free_count] : 0;
    m->factor->info.update_bytes = (double)(end - begin) + (double)entries * sizeof(double);
    return end;
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
    factor->scratch_size = *out_bytes = place_kept_updates(&m);
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

/// Room for the places of update matrices, which the plan fills in.
static sn_status number_blocks(sn_factor *factor) {
    sn_status status = SN_OK;
    int64_t count = 0;
    for (int32_t s = 0; s < factor->supernode_count; s++) {
        factor->supernodes[s].block_start = count;
        count += sn_update_blocks(&factor->supernodes[s]);
    }
    SN_TRY_NEW(factor->context, factor->update_block, count);

cleanup:
    return status;
}

/// Room to find rows in fronts: for a group in each slot, or for the top.
static sn_status allocate_index(sn_factor *factor) {
    sn_status status = SN_OK;
    int64_t size, top_size = factor->place_count - factor->top_place;
    for (int32_t g = 0; g < factor->group_count; g++) {
        int32_t places = factor->groups[g].column_count + factor->groups[g].boundary_count;
        factor->index_size = places > factor->index_size ? places : factor->index_size;
    }
    size = (int64_t)factor->slot_count * factor->index_size;
    SN_TRY_NEW(factor->context, factor->front_index, size > top_size ? size : top_size);

cleanup:
    return status;
}

sn_status sn_factor_plan_memory(sn_factor *factor) {
    sn_status status = SN_OK;
    sn_context *ctx = factor->context;
    int32_t threads = sn_context_thread_count(ctx);
    int64_t apart = 0, in_values = INT64_MAX, root_rows = 0;
    SN_TRY(number_blocks(factor));
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
    factor->updates = factor->scratch + factor->slot_size * factor->slot_count;
    SN_TRY(allocate_index(factor));
    SN_TRY_NEW(ctx, factor->relative, relative > root_rows ? relative : root_rows);

cleanup:
    return status;
}
