#include "factor/factor_internal.h"

#include <string.h>

void sn_factor_permute(const sn_factor_matrix *pattern, int32_t free_count, const int32_t *order,
                       int32_t *inverse, int64_t *start, int32_t *column) {
    int32_t n = pattern->n;
    for (int32_t k = 0; k < n; k++)
        inverse[order[k]] = k;
    memset(start, 0, ((size_t)n + 1) * sizeof *start);
    // The first pass counts, the second fills and moves each start to the next one's place.
    for (int32_t pass = 0; pass < 2; pass++) {
        for (int32_t row = 0; row < n; row++) {
            for (int64_t e = pattern->start[row]; e < pattern->start[row + 1]; e++) {
                int32_t i = inverse[row], j = inverse[pattern->column[e]];
                int32_t high = i > j ? i : j, low = i > j ? j : i;
                if (low == high || low >= free_count)
                    continue;
                if (pass == 0)
                    start[high + 1]++;
                else
                    column[start[high]++] = low;
            }
        }
        if (pass == 0)
            for (int32_t i = 0; i < n; i++)
                start[i + 1] += start[i];
    }
    memmove(start + 1, start, (size_t)n * sizeof *start);
    start[0] = 0;
}

/// Elimination tree of the free columns (Liu 1990), with path compression in `ancestor`.
static void find_tree(int32_t free_count, const int64_t *start, const int32_t *column, int32_t *ancestor,
                      int32_t *parent) {
    for (int32_t i = 0; i < free_count; i++) {
        parent[i] = ancestor[i] = SN_FACTOR_NONE;
        for (int64_t e = start[i]; e < start[i + 1]; e++) {
            int32_t j = column[e];
            while (j != SN_FACTOR_NONE && j < i) {
                int32_t next = ancestor[j];
                ancestor[j] = i;
                if (next == SN_FACTOR_NONE)
                    parent[j] = i;
                j = next;
            }
        }
    }
}

/// Postorder of a forest with parent > child: post[k] is the k-th node. `head`, `next` [count] are scratch.
static void find_postorder(int32_t count, const int32_t *parent, int32_t *head, int32_t *next,
                           int32_t *post) {
    int32_t roots = SN_FACTOR_NONE, done = 0;
    for (int32_t i = 0; i < count; i++)
        head[i] = SN_FACTOR_NONE;
    for (int32_t i = count - 1; i >= 0; i--) {
        int32_t *list = parent[i] == SN_FACTOR_NONE ? &roots : &head[parent[i]];
        next[i] = *list;
        *list = i;
    }
    // Walks down to leaves through `head`, whose lists shrink as nodes are entered, and back up through
    // `parent`.
    while (roots != SN_FACTOR_NONE) {
        int32_t node = roots;
        roots = next[node];
        while (node != SN_FACTOR_NONE) {
            if (head[node] != SN_FACTOR_NONE) {
                int32_t child = head[node];
                head[node] = next[child];
                node = child;
            } else {
                post[done++] = node;
                node = parent[node];
            }
        }
    }
}

/// Entries of each column of L, diagonal included: row i has an entry in each column on the tree paths from
/// the columns coupled to it (its row subtree). Takes time proportional to the entries of L, far below the
/// ordering's.
static void count_columns(int32_t n, int32_t free_count, const int64_t *start, const int32_t *column,
                          const int32_t *parent, int32_t *mark, int32_t *count) {
    for (int32_t i = 0; i < free_count; i++) {
        count[i] = 1;
        mark[i] = -1;
    }
    for (int32_t i = 0; i < n; i++) {
        if (i < free_count)
            mark[i] = i;
        for (int64_t e = start[i]; e < start[i + 1]; e++)
            for (int32_t j = column[e]; j != SN_FACTOR_NONE && mark[j] != i; j = parent[j]) {
                mark[j] = i;
                count[j]++;
            }
    }
}

/// Supernodes while they are merged. A merged one names the one that took it in.
typedef struct merge_set {
    int32_t count;
    int32_t *first, *width, *row_count, *parent, *taken_by;
    int64_t *nonzeros;
    bool *is_late;
} merge_set;

static sn_status merge_set_create(sn_context *ctx, int32_t capacity, merge_set *set) {
    sn_status status = SN_OK;
    SN_TRY_NEW(ctx, set->first, capacity);
    SN_TRY_NEW(ctx, set->width, capacity);
    SN_TRY_NEW(ctx, set->row_count, capacity);
    SN_TRY_NEW(ctx, set->parent, capacity);
    SN_TRY_NEW(ctx, set->taken_by, capacity);
    SN_TRY_NEW(ctx, set->nonzeros, capacity);
    SN_TRY_NEW(ctx, set->is_late, capacity);
cleanup:
    return status;
}

static void merge_set_destroy(sn_context *ctx, merge_set *set) {
    SN_RELEASE(ctx, set->first);
    SN_RELEASE(ctx, set->width);
    SN_RELEASE(ctx, set->row_count);
    SN_RELEASE(ctx, set->parent);
    SN_RELEASE(ctx, set->taken_by);
    SN_RELEASE(ctx, set->nonzeros);
    SN_RELEASE(ctx, set->is_late);
}

/// Runs of columns with the same rows below them, all late or none. `column_is_late` [free_count]; `node_of`
/// [free_count] is scratch.
static void find_supernodes(int32_t free_count, const int32_t *parent, const int32_t *count,
                            const bool *column_is_late, int32_t *node_of, merge_set *set) {
    for (int32_t j = 0; j < free_count; j++) {
        bool joins = j > 0 && parent[j - 1] == j && count[j - 1] == count[j] + 1 &&
                     column_is_late[j - 1] == column_is_late[j];
        if (!joins) {
            set->is_late[set->count] = column_is_late[j];
            set->first[set->count] = j;
            set->width[set->count] = 0;
            set->nonzeros[set->count] = 0;
            set->taken_by[set->count++] = SN_FACTOR_NONE;
        }
        int32_t s = set->count - 1;
        node_of[j] = s;
        set->width[s]++;
        set->nonzeros[s] += count[j];
        set->row_count[s] = count[j] - 1;
    }
    for (int32_t s = 0; s < set->count; s++) {
        int32_t above = parent[set->first[s] + set->width[s] - 1];
        set->parent[s] = above == SN_FACTOR_NONE ? SN_FACTOR_NONE : node_of[above];
    }
}

/// Whether the zeros that a merged supernode would store are worth the call overhead it saves.
static bool is_worth_merging(int64_t width, int64_t row_count, int64_t nonzeros) {
    static const struct {
        int32_t width;
        double zeros;
    } limit[] = {{8, 0.5}, {16, 0.25}, {32, 0.12}, {64, 0.06}};
    double stored = 0.5 * (double)width * (double)(width + 1) + (double)width * (double)row_count;
    double zeros = 1 - (double)nonzeros / stored;
    for (size_t i = 0; i < sizeof limit / sizeof *limit; i++)
        if (width <= limit[i].width)
            return zeros <= limit[i].zeros;
    return zeros <= 0.03;
}

/// Merges children into parents, bottom up; any child may merge, because columns are renumbered afterwards.
static void merge_supernodes(merge_set *set, int32_t *head, int32_t *next) {
    for (int32_t s = 0; s < set->count; s++)
        head[s] = SN_FACTOR_NONE;
    for (int32_t p = 0; p < set->count; p++) {
        for (int32_t c = head[p]; c != SN_FACTOR_NONE; c = next[c]) {
            int32_t width = set->width[p] + set->width[c];
            int64_t nonzeros = set->nonzeros[p] + set->nonzeros[c];
            if (set->is_late[c] != set->is_late[p] || !is_worth_merging(width, set->row_count[p], nonzeros))
                continue;
            set->taken_by[c] = p;
            set->width[p] = width;
            set->nonzeros[p] = nonzeros;
        }
        if (set->parent[p] != SN_FACTOR_NONE) {
            next[p] = head[set->parent[p]];
            head[set->parent[p]] = p;
        }
    }
}

/// Follows taken_by to the supernode that stands for `s`. Descending order makes each chain one step long.
static void resolve_merges(merge_set *set) {
    for (int32_t s = set->count - 1; s >= 0; s--) {
        int32_t by = set->taken_by[s];
        set->taken_by[s] = by == SN_FACTOR_NONE ? s : set->taken_by[by];
    }
}

/// Numbers the remaining supernodes in postorder and lists the columns of each in their old order.
static sn_status number_supernodes(sn_context *ctx, const merge_set *set, int32_t free_count,
                                   sn_symbolic *symbolic) {
    sn_status status = SN_OK;
    int32_t *number = NULL, *tree = NULL, *post = NULL, *head = NULL, *next = NULL, *fill = NULL,
            *order = NULL;
    int32_t count = 0;
    SN_TRY_NEW(ctx, number, set->count);
    SN_TRY_NEW(ctx, tree, set->count);
    SN_TRY_NEW(ctx, post, set->count);
    SN_TRY_NEW(ctx, head, set->count);
    SN_TRY_NEW(ctx, next, set->count);
    SN_TRY_NEW(ctx, fill, set->count);
    SN_TRY_NEW(ctx, order, free_count);
    for (int32_t s = 0; s < set->count; s++)
        if (set->taken_by[s] == s)
            number[s] = count++;
    SN_TRY_NEW(ctx, symbolic->first, (size_t)count + 1);
    SN_TRY_NEW(ctx, symbolic->row_count, count);
    SN_TRY_NEW(ctx, symbolic->parent, count);
    for (int32_t s = 0; s < set->count; s++)
        if (set->taken_by[s] == s)
            tree[number[s]] =
                set->parent[s] == SN_FACTOR_NONE ? SN_FACTOR_NONE : number[set->taken_by[set->parent[s]]];
    find_postorder(count, tree, head, next, post);
    for (int32_t k = 0; k < count; k++)
        head[post[k]] = k; // final number of the supernode numbered post[k] so far
    for (int32_t s = 0; s < set->count; s++) {
        int32_t interim = number[set->taken_by[s]];
        number[s] = head[interim];
        if (set->taken_by[s] != s)
            continue;
        symbolic->row_count[number[s]] = set->row_count[s];
        symbolic->parent[number[s]] = tree[interim] == SN_FACTOR_NONE ? SN_FACTOR_NONE : head[tree[interim]];
        fill[number[s]] = set->width[s];
    }
    symbolic->supernode_count = count;
    symbolic->first[0] = 0;
    for (int32_t k = 0; k < count; k++) {
        symbolic->first[k + 1] = symbolic->first[k] + fill[k];
        fill[k] = symbolic->first[k];
    }
    for (int32_t s = 0; s < set->count; s++) {
        int32_t end = s + 1 < set->count ? set->first[s + 1] : free_count;
        for (int32_t j = set->first[s]; j < end; j++)
            order[fill[number[s]]++] = symbolic->order[j];
    }
    if (free_count > 0)
        memcpy(symbolic->order, order, (size_t)free_count * sizeof *order);

cleanup:
    SN_RELEASE(ctx, order);
    SN_RELEASE(ctx, fill);
    SN_RELEASE(ctx, next);
    SN_RELEASE(ctx, head);
    SN_RELEASE(ctx, post);
    SN_RELEASE(ctx, tree);
    SN_RELEASE(ctx, number);
    return status;
}

/// Renumbers the free part of `order` by `post`. `scratch` [free_count].
static void apply_order(int32_t free_count, const int32_t *post, int32_t *scratch, int32_t *order) {
    for (int32_t k = 0; k < free_count; k++)
        scratch[k] = order[post[k]];
    for (int32_t k = 0; k < free_count; k++)
        order[k] = scratch[k];
}

sn_status sn_factor_analyze(sn_context *ctx, const sn_factor_matrix *pattern, int32_t free_count,
                            const bool *is_late, sn_symbolic *symbolic) {
    sn_status status = SN_OK;
    int32_t n = pattern->n;
    int32_t *inverse = NULL, *column = NULL, *parent = NULL, *head = NULL, *next = NULL, *count = NULL;
    int64_t *start = NULL;
    bool *column_is_late = NULL;
    merge_set set = {0};
    SN_TRY_NEW(ctx, inverse, n);
    SN_TRY_NEW(ctx, start, (size_t)n + 1);
    SN_TRY_NEW(ctx, column, pattern->start[n]);
    SN_TRY_NEW(ctx, parent, free_count);
    SN_TRY_NEW(ctx, head, free_count);
    SN_TRY_NEW(ctx, next, free_count);
    SN_TRY_NEW(ctx, count, free_count);
    SN_TRY_NEW(ctx, column_is_late, free_count);
    SN_TRY(merge_set_create(ctx, free_count, &set));

    sn_factor_permute(pattern, free_count, symbolic->order, inverse, start, column);
    find_tree(free_count, start, column, head, parent);
    find_postorder(free_count, parent, head, next, count);
    apply_order(free_count, count, next, symbolic->order);

    sn_factor_permute(pattern, free_count, symbolic->order, inverse, start, column);
    find_tree(free_count, start, column, head, parent);
    count_columns(n, free_count, start, column, parent, head, count);
    for (int32_t j = 0; j < free_count; j++) {
        symbolic->nonzeros += count[j];
        symbolic->flops += (double)count[j] * count[j];
        column_is_late[j] = is_late[symbolic->order[j]];
    }
    find_supernodes(free_count, parent, count, column_is_late, head, &set);
    merge_supernodes(&set, head, next);
    resolve_merges(&set);
    SN_TRY(number_supernodes(ctx, &set, free_count, symbolic));

cleanup:
    merge_set_destroy(ctx, &set);
    SN_RELEASE(ctx, column_is_late);
    SN_RELEASE(ctx, count);
    SN_RELEASE(ctx, next);
    SN_RELEASE(ctx, head);
    SN_RELEASE(ctx, parent);
    SN_RELEASE(ctx, column);
    SN_RELEASE(ctx, start);
    SN_RELEASE(ctx, inverse);
    return status;
}

void sn_symbolic_destroy(sn_context *ctx, sn_symbolic *symbolic) {
    SN_RELEASE(ctx, symbolic->first);
    SN_RELEASE(ctx, symbolic->row_count);
    SN_RELEASE(ctx, symbolic->parent);
    SN_RELEASE(ctx, symbolic->order);
}
