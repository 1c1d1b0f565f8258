#include "factor/factor_sweep.h"

#include <string.h>

enum {
    /// A subtree with more than this part of all entries is split: its root joins the top. A 3D nested
    /// dissection then gives about 8 groups. More would load many threads more evenly, but each supernode in
    /// the top makes all threads meet, which is dear when the machine is busy.
    GROUP_PARTS = 10,
    /// Entries that are not worth another group.
    MIN_GROUP_ENTRIES = 32768
};

/// Marks the supernodes above all groups, and gives each other one the number of its group in group_of (top:
/// -1).
static sn_status choose_groups(sn_context *ctx, const sn_symbolic *symbolic, int32_t *group_of,
                               int32_t *out_group_count) {
    sn_status status = SN_OK;
    int64_t *work = NULL, total = 0;
    int32_t count = symbolic->supernode_count, groups = 0;
    SN_TRY_NEW_ZEROED(ctx, work, count);
    for (int32_t s = 0; s < count; s++) {
        int64_t own = sn_packed_size(symbolic->first[s + 1] - symbolic->first[s], symbolic->row_count[s]);
        total += own;
        work[s] += own;
        if (symbolic->parent[s] != SN_FACTOR_NONE)
            work[symbolic->parent[s]] += work[s];
    }
    int64_t limit = total / GROUP_PARTS > MIN_GROUP_ENTRIES ? total / GROUP_PARTS : MIN_GROUP_ENTRIES;
    // In postorder a subtree is a run that ends with its root, so groups are runs of whole subtrees.
    int64_t filled = 0;
    int32_t begin = 0;
    for (int32_t s = 0; s < count; s++) {
        int32_t parent = symbolic->parent[s];
        bool is_top = work[s] > limit;
        bool is_root = !is_top && (parent == SN_FACTOR_NONE || work[parent] > limit);
        if (is_top)
            group_of[s] = -1;
        if (is_root) {
            if (groups == 0 || filled + work[s] > limit) {
                groups++;
                filled = 0;
            }
            filled += work[s];
            for (int32_t k = begin; k <= s; k++)
                group_of[k] = groups - 1;
        }
        if (is_top || is_root)
            begin = s + 1;
    }
    *out_group_count = groups;

cleanup:
    SN_RELEASE(ctx, work);
    return status;
}

/// Copies the supernodes with the top moved behind all groups, and the order of the unknowns with them.
static sn_status place_supernodes(sn_factor *factor, const sn_symbolic *symbolic, const int32_t *group_of) {
    sn_status status = SN_OK;
    sn_context *ctx = factor->context;
    int32_t count = symbolic->supernode_count, next = 0;
    int32_t *number = NULL;
    SN_TRY_NEW(ctx, number, count);
    for (int32_t pass = 0; pass < 2; pass++) {
        if (pass == 1)
            factor->first_top = next;
        for (int32_t s = 0; s < count; s++)
            if ((group_of[s] < 0) == (pass == 1))
                number[s] = next++;
    }
    int32_t column = 0;
    for (int32_t pass = 0; pass < 2; pass++) {
        for (int32_t s = 0; s < count; s++) {
            if ((group_of[s] < 0) != (pass == 1))
                continue;
            int32_t parent = symbolic->parent[s], width = symbolic->first[s + 1] - symbolic->first[s];
            factor->supernodes[number[s]] = (sn_supernode){
                .first = column,
                .width = width,
                .row_count = symbolic->row_count[s],
                .parent = parent == SN_FACTOR_NONE ? SN_FACTOR_NONE : number[parent],
                .first_child = SN_FACTOR_NONE,
                .next_sibling = SN_FACTOR_NONE,
            };
            memcpy(factor->unknown + column, symbolic->order + symbolic->first[s],
                   (size_t)width * sizeof(int32_t));
            column += width;
            if (group_of[s] >= 0) {
                sn_factor_group *group = &factor->groups[group_of[s]];
                group->supernode_end = number[s] + 1;
                if (group->column_count == 0)
                    group->first_supernode = number[s];
                group->column_count += width;
            }
        }
    }
    for (int32_t k = factor->free_count; k < factor->info.n; k++)
        factor->unknown[k] = symbolic->order[k];
    for (int32_t s = count - 1; s >= 0; s--) {
        int32_t parent = factor->supernodes[s].parent;
        if (parent == SN_FACTOR_NONE)
            continue;
        factor->supernodes[s].next_sibling = factor->supernodes[parent].first_child;
        factor->supernodes[parent].first_child = s;
    }

cleanup:
    SN_RELEASE(ctx, number);
    return status;
}

/// Temporary arrays of the layout.
typedef struct layout {
    int32_t *inverse; ///< [n] position of an unknown
    int64_t *start;
    int32_t *column;  ///< permuted pattern
    int32_t *node_of; ///< [free_count] supernode of a column
    int32_t *rows;    ///< positions of the rows below each supernode, ascending
    int32_t *mark;    ///< [n] marks of supernodes, later of rows
} layout;

static void layout_destroy(sn_context *ctx, layout *l) {
    SN_RELEASE(ctx, l->inverse);
    SN_RELEASE(ctx, l->start);
    SN_RELEASE(ctx, l->column);
    SN_RELEASE(ctx, l->node_of);
    SN_RELEASE(ctx, l->rows);
    SN_RELEASE(ctx, l->mark);
}

/// Lists the rows of each supernode: row i belongs to all supernodes on the tree paths from the columns
/// coupled to i. Ascending i makes the lists ascending.
static void list_rows(sn_factor *factor, layout *l) {
    for (int32_t s = 0; s < factor->supernode_count; s++)
        l->mark[s] = -1;
    for (int32_t i = 0; i < factor->info.n; i++) {
        if (i < factor->free_count)
            l->mark[l->node_of[i]] = i;
        for (int64_t e = l->start[i]; e < l->start[i + 1]; e++) {
            int32_t s = l->node_of[l->column[e]];
            for (; s != SN_FACTOR_NONE && l->mark[s] != i; s = factor->supernodes[s].parent) {
                l->mark[s] = i;
                l->rows[factor->supernodes[s].panel_start++] = i;
            }
        }
    }
}

static sn_status find_rows(sn_factor *factor, const sn_factor_matrix *pattern, layout *l) {
    sn_status status = SN_OK;
    sn_context *ctx = factor->context;
    int64_t row_total = 0;
    SN_TRY_NEW(ctx, l->inverse, pattern->n);
    SN_TRY_NEW(ctx, l->start, (size_t)pattern->n + 1);
    SN_TRY_NEW(ctx, l->column, pattern->start[pattern->n]);
    SN_TRY_NEW(ctx, l->node_of, factor->free_count);
    SN_TRY_NEW(ctx, l->mark, pattern->n);
    sn_factor_permute(pattern, factor->free_count, factor->unknown, l->inverse, l->start, l->column);
    for (int32_t s = 0; s < factor->supernode_count; s++) {
        sn_supernode *node = &factor->supernodes[s];
        node->row_start = row_total;
        node->panel_start = row_total; // serves as the fill mark of list_rows() until panels are planned
        row_total += node->row_count;
        for (int32_t j = 0; j < node->width; j++)
            l->node_of[node->first + j] = s;
    }
    SN_TRY_NEW(ctx, l->rows, row_total);
    SN_TRY_NEW(ctx, factor->row_place, row_total);
    list_rows(factor, l);
    SN_RELEASE(ctx, l->start);
    SN_RELEASE(ctx, l->column);

cleanup:
    return status;
}

/// Index of position `row` in the front of `node`: its columns first, then its rows.
static int32_t front_index(const sn_supernode *node, const int32_t *rows, int32_t row) {
    if (row < node->first + node->width)
        return row - node->first;
    const int32_t *list = rows + node->row_start;
    int32_t low = 0, high = node->row_count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (list[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    SN_ASSERT(low < node->row_count && list[low] == row);
    return node->width + low;
}

/// Counts the rows outside a group that it updates, and lists them in `boundary` unless that is NULL.
static int32_t find_boundary(const sn_factor *factor, const layout *l, int32_t group_index,
                             int32_t first_top_column, int32_t *mark, int32_t *boundary) {
    const sn_factor_group *group = &factor->groups[group_index];
    int32_t count = 0;
    for (int32_t s = group->first_supernode; s < group->supernode_end; s++) {
        const sn_supernode *node = &factor->supernodes[s];
        for (int32_t i = 0; i < node->row_count; i++) {
            int32_t row = l->rows[node->row_start + i];
            if (row < first_top_column || mark[row] == group_index)
                continue;
            mark[row] = group_index;
            if (boundary)
                boundary[count] = row;
            count++;
        }
    }
    return count;
}

static void reset_marks(int32_t n, int32_t *mark) {
    for (int32_t i = 0; i < n; i++)
        mark[i] = -1;
}

/// Gives places to the columns and rows of one group; `place_of` [n] is scratch for its boundary.
static void place_group(sn_factor *factor, const layout *l, const sn_factor_group *group,
                        int32_t first_top_column, int32_t *place_of) {
    int32_t first_column = factor->supernodes[group->first_supernode].first;
    int32_t *boundary = factor->boundary_place + group->boundary_start;
    for (int32_t i = 0; i < group->boundary_count; i++) {
        place_of[boundary[i]] = group->place + group->column_count + i;
        boundary[i] = factor->top_place + boundary[i] - first_top_column;
    }
    for (int32_t s = group->first_supernode; s < group->supernode_end; s++) {
        sn_supernode *node = &factor->supernodes[s];
        node->place = group->place + node->first - first_column;
        for (int64_t i = node->row_start; i < node->row_start + node->row_count; i++)
            factor->row_place[i] = l->rows[i] < first_top_column ? group->place + l->rows[i] - first_column
                                                                 : place_of[l->rows[i]];
    }
}

/// Lays out the sweep vector.
static sn_status lay_out_places(sn_factor *factor, layout *l) {
    sn_status status = SN_OK;
    int32_t first_top_column = factor->first_top < factor->supernode_count
                                   ? factor->supernodes[factor->first_top].first
                                   : factor->free_count;
    int64_t boundary_total = 0, place = 0;
    reset_marks(factor->info.n, l->mark);
    for (int32_t g = 0; g < factor->group_count; g++) {
        sn_factor_group *group = &factor->groups[g];
        group->boundary_count = find_boundary(factor, l, g, first_top_column, l->mark, NULL);
        group->boundary_start = boundary_total;
        group->place = (int32_t)place;
        boundary_total += group->boundary_count;
        place += group->column_count + group->boundary_count;
    }
    if (place + factor->info.n > INT32_MAX)
        return sn_fail(factor->context, SN_ERR_NO_MEMORY, "%d unknowns are more than a factor can place",
                       (int)factor->info.n);
    factor->top_place = (int32_t)place;
    factor->place_count = (int32_t)(place + factor->info.n - first_top_column);
    SN_TRY_NEW(factor->context, factor->boundary_place, boundary_total);
    reset_marks(factor->info.n, l->mark);
    for (int32_t g = 0; g < factor->group_count; g++)
        find_boundary(factor, l, g, first_top_column, l->mark,
                      factor->boundary_place + factor->groups[g].boundary_start);
    for (int32_t g = 0; g < factor->group_count; g++)
        place_group(factor, l, &factor->groups[g], first_top_column, l->mark);
    for (int32_t s = factor->first_top; s < factor->supernode_count; s++) {
        sn_supernode *node = &factor->supernodes[s];
        node->place = factor->top_place + node->first - first_top_column;
        for (int64_t i = node->row_start; i < node->row_start + node->row_count; i++)
            factor->row_place[i] = factor->top_place + l->rows[i] - first_top_column;
    }

cleanup:
    return status;
}

/// Finds where each entry of A goes.
static sn_status lay_out_entries(sn_factor *factor, const sn_factor_matrix *pattern, const layout *l) {
    sn_status status = SN_OK;
    int32_t n = pattern->n, free_count = factor->free_count;
    uint32_t *start = NULL;
    SN_TRY_NEW(factor->context, factor->entries, pattern->start[n]);
    SN_TRY_NEW_ZEROED(factor->context, factor->entry_start, (size_t)n + 1);
    start = factor->entry_start;
    // The first pass counts, the second fills and moves each start to the next one's place.
    for (int32_t pass = 0; pass < 2; pass++) {
        for (int32_t row = 0; row < n; row++) {
            for (int64_t e = pattern->start[row]; e < pattern->start[row + 1]; e++) {
                int32_t i = l->inverse[row], j = l->inverse[pattern->column[e]];
                int32_t low = i < j ? i : j, high = i < j ? j : i;
                if (pass == 0) {
                    start[low + 1]++;
                    continue;
                }
                int32_t index = low < free_count
                                    ? front_index(&factor->supernodes[l->node_of[low]], l->rows, high)
                                    : high - free_count;
                factor->entries[start[low]++] = (sn_factor_entry){(uint32_t)e, index};
            }
        }
        if (pass == 0)
            for (int32_t i = 0; i < n; i++)
                start[i + 1] += start[i];
    }
    memmove(start + 1, start, (size_t)n * sizeof *start);
    start[0] = 0;
    if (factor->keeps_updates)
        SN_TRY_NEW(factor->context, factor->entry_values, start[free_count]);

cleanup:
    return status;
}

/// Lists the supernodes whose updates go to S.
static sn_status list_roots(sn_factor *factor) {
    sn_status status = SN_OK;
    // The first pass counts, the second lists.
    for (int32_t pass = 0; pass < 2; pass++) {
        if (pass == 1)
            SN_TRY_NEW(factor->context, factor->roots, factor->root_count);
        factor->root_count = 0;
        for (int32_t s = 0; s < factor->supernode_count; s++) {
            if (factor->supernodes[s].parent != SN_FACTOR_NONE || factor->supernodes[s].row_count == 0)
                continue;
            if (pass == 1)
                factor->roots[factor->root_count] = s;
            factor->root_count++;
        }
    }

cleanup:
    return status;
}

/// Allocates packed numbers; kernels read whole vectors, which reach beyond the last of them.
static sn_status allocate_packed(sn_context *ctx, int64_t count, size_t value_size, void **out_values) {
    uint8_t *values = NULL;
    sn_status status = SN_OK;
    SN_TRY_NEW_ZEROED(ctx, values, (size_t)count * value_size + SN_PACKED_MARGIN);
    *out_values = values;

cleanup:
    return status;
}

/// Places the packed panels.
static void place_values(sn_factor *factor) {
    int64_t end = 0;
    for (int32_t s = 0; s < factor->supernode_count; s++) {
        sn_supernode *node = &factor->supernodes[s];
        node->value_start = sn_panel_start(end, node->width);
        end = node->value_start + sn_packed_size(node->width, node->row_count);
    }
}

/// Numbers in all packed panels.
static int64_t count_values(const sn_factor *factor) {
    if (factor->supernode_count == 0)
        return 0;
    const sn_supernode *last = &factor->supernodes[factor->supernode_count - 1];
    return last->value_start +
           (last->panel_in_values ? sn_panel_size(last) : sn_packed_size(last->width, last->row_count));
}

/// Allocates the packed panels, the sweep vector and S.
static sn_status allocate_numbers(sn_factor *factor) {
    sn_status status = SN_OK;
    sn_context *ctx = factor->context;
    size_t kept_count = (size_t)factor->kept_count, place_count = (size_t)factor->place_count;
    uint8_t *places = NULL, *kept_places = NULL;
    factor->kept_node =
        (sn_supernode){.first = factor->free_count, .width = factor->kept_count, .parent = SN_FACTOR_NONE};
    SN_TRY(allocate_packed(ctx, count_values(factor), factor->kernels->value_size, &factor->values));
    SN_TRY_NEW(ctx, places, place_count * factor->kernels->place_size);
    factor->places = places;
    SN_TRY_NEW(ctx, kept_places, kept_count * factor->kept_kernels->place_size);
    factor->kept_places = kept_places;
    SN_TRY_NEW(ctx, factor->kept_doubles, kept_count * SN_STRIPE_COLUMNS);
    SN_TRY_NEW(ctx, factor->scale, place_count);
    SN_TRY_NEW(ctx, factor->schur, kept_count * (kept_count + 1) / 2);

cleanup:
    return status;
}

/// Notes where each unknown is eliminated and that there are no numbers yet.
static sn_status start_stale(sn_factor *factor, const layout *l) {
    sn_status status = SN_OK;
    SN_TRY_NEW(factor->context, factor->node_of, factor->info.n);
    SN_TRY_NEW(factor->context, factor->stale, factor->supernode_count);
    SN_TRY_NEW(factor->context, factor->touched, factor->supernode_count);
    for (int32_t k = 0; k < factor->info.n; k++)
        factor->node_of[factor->unknown[k]] = k < factor->free_count ? l->node_of[k] : SN_FACTOR_NONE;
    for (int32_t s = 0; s < factor->supernode_count; s++)
        factor->stale[s] = true;

cleanup:
    return status;
}

/// Operations of the numeric phase, with the zeros that supernodes store.
static void predict_flops(sn_factor *factor) {
    for (int32_t s = 0; s < factor->supernode_count; s++)
        factor->info.work_flops +=
            sn_front_flops(factor->supernodes[s].width, factor->supernodes[s].row_count);
}

sn_status sn_factor_lay_out(sn_factor *factor, const sn_factor_matrix *pattern, const sn_factor_def *def,
                            const sn_symbolic *symbolic) {
    sn_status status = SN_OK;
    sn_context *ctx = factor->context;
    int32_t *group_of = NULL;
    layout l = {0};
    factor->supernode_count = symbolic->supernode_count;
    SN_TRY_NEW(ctx, group_of, symbolic->supernode_count);
    SN_TRY(choose_groups(ctx, symbolic, group_of, &factor->group_count));
    SN_TRY_NEW(ctx, factor->supernodes, symbolic->supernode_count);
    SN_TRY_NEW_ZEROED(ctx, factor->groups, factor->group_count);
    SN_TRY_NEW(ctx, factor->unknown, pattern->n);
    SN_TRY(place_supernodes(factor, symbolic, group_of));
    SN_TRY(find_rows(factor, pattern, &l));
    SN_TRY(lay_out_places(factor, &l));
    SN_TRY(start_stale(factor, &l));
    predict_flops(factor);
    SN_TRY(sn_factor_plan_kept(factor, def));
    place_values(factor);
    SN_TRY(list_roots(factor));
    SN_TRY(lay_out_entries(factor, pattern, &l));

cleanup:
    layout_destroy(ctx, &l);
    SN_RELEASE(ctx, group_of);
    return status;
}

sn_status sn_factor_allocate(sn_factor *factor) {
    sn_status status = sn_factor_plan_memory(factor);
    return status < 0 ? status : allocate_numbers(factor);
}
