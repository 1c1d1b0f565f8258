#include "geom/geom_bvh.h"

#include <math.h>
#include <string.h>

enum {
    LEAF_SIZE = 4,
    STACK_SIZE = 128 // halving leaves at most 31 levels, with two entries each
};

typedef struct builder {
    sn_bvh *bvh;
    const double *box;
    double *center; ///< [item_count, 3]
} builder;

static void fit_leaf(sn_bvh *bvh, sn_bvh_node *node, const double *box) {
    for (int c = 0; c < 3; c++) {
        node->low[c] = INFINITY;
        node->high[c] = -INFINITY;
    }
    for (int32_t i = node->first; i < node->first + node->count; i++) {
        const double *b = box + 6 * (size_t)bvh->item[i];
        for (int c = 0; c < 3; c++) {
            node->low[c] = fmin(node->low[c], b[c]);
            node->high[c] = fmax(node->high[c], b[3 + c]);
        }
    }
}

static void fit_inner(sn_bvh *bvh, sn_bvh_node *node) {
    const sn_bvh_node *a = &bvh->node[node->first], *b = a + 1;
    for (int c = 0; c < 3; c++) {
        node->low[c] = fmin(a->low[c], b->low[c]);
        node->high[c] = fmax(a->high[c], b->high[c]);
    }
}

void sn_bvh_refit(sn_bvh *bvh, const double *box) {
    for (int32_t i = bvh->node_count - 1; i >= 0; i--) {
        if (bvh->node[i].count > 0)
            fit_leaf(bvh, &bvh->node[i], box);
        else
            fit_inner(bvh, &bvh->node[i]);
    }
}

static int longest_axis(const builder *b, int32_t begin, int32_t end) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t i = begin; i < end; i++)
        for (int c = 0; c < 3; c++) {
            double x = b->center[3 * (size_t)b->bvh->item[i] + c];
            low[c] = fmin(low[c], x);
            high[c] = fmax(high[c], x);
        }
    int axis = 0;
    for (int c = 1; c < 3; c++)
        if (high[c] - low[c] > high[axis] - low[axis])
            axis = c;
    return axis;
}

/// Strict order of items along an axis.
static bool item_before(const builder *b, int axis, int32_t p, int32_t q) {
    double x = b->center[3 * (size_t)p + axis], y = b->center[3 * (size_t)q + axis];
    return x < y || (x == y && p < q);
}

/// Rearranges begin..end-1 so that the item at `middle` is in its sorted place, with none before it behind it
/// (quickselect with the median of three).
static void select_median(const builder *b, int axis, int32_t begin, int32_t end, int32_t middle) {
    int32_t *item = b->bvh->item, low = begin, high = end - 1;
    while (low < high) {
        int32_t p = item[low], q = item[low + (high - low) / 2], r = item[high], pivot = q;
        if (item_before(b, axis, p, q) == item_before(b, axis, r, p))
            pivot = p;
        else if (item_before(b, axis, p, r) == item_before(b, axis, r, q))
            pivot = r;
        int32_t i = low, j = high;
        while (i <= j) {
            while (item_before(b, axis, item[i], pivot))
                i++;
            while (item_before(b, axis, pivot, item[j]))
                j--;
            if (i <= j) {
                int32_t swap = item[i];
                item[i++] = item[j];
                item[j--] = swap;
            }
        }
        if (middle <= j)
            high = j;
        else if (middle >= i)
            low = i;
        else
            return;
    }
}

/// Splits nodes until they are leaves, breadth first: children are appended behind all nodes made so far.
static void split_nodes(builder *b) {
    sn_bvh *bvh = b->bvh;
    bvh->node[0] = (sn_bvh_node){.first = 0, .count = bvh->item_count};
    bvh->node_count = 1;
    for (int32_t n = 0; n < bvh->node_count; n++) {
        sn_bvh_node *node = &bvh->node[n];
        if (node->count <= LEAF_SIZE)
            continue;
        int32_t begin = node->first, end = begin + node->count, middle = begin + node->count / 2;
        select_median(b, longest_axis(b, begin, end), begin, end, middle);
        node->first = bvh->node_count;
        node->count = 0;
        bvh->node[bvh->node_count++] = (sn_bvh_node){.first = begin, .count = middle - begin};
        bvh->node[bvh->node_count++] = (sn_bvh_node){.first = middle, .count = end - middle};
    }
}

sn_status sn_bvh_create(sn_context *ctx, int32_t count, const double *box, sn_bvh **out_bvh) {
    sn_status status = SN_OK;
    builder b = {.box = box};
    SN_TRY_NEW_ZEROED(ctx, b.bvh, 1);
    b.bvh->context = ctx;
    b.bvh->item_count = count;
    // Leaves hold at least (LEAF_SIZE + 1) / 2 = 2 items unless there is only one.
    SN_TRY_NEW(ctx, b.bvh->node, (size_t)count + 1);
    SN_TRY_NEW(ctx, b.bvh->item, count);
    SN_TRY_NEW(ctx, b.center, (size_t)count * 3);
    for (int32_t i = 0; i < count; i++) {
        b.bvh->item[i] = i;
        for (size_t c = 0; c < 3; c++)
            b.center[3 * (size_t)i + c] = 0.5 * (box[6 * (size_t)i + c] + box[6 * (size_t)i + 3 + c]);
    }
    if (count > 0)
        split_nodes(&b);
    sn_bvh_refit(b.bvh, box);
    *out_bvh = b.bvh;
    b.bvh = NULL;
cleanup:
    SN_RELEASE(ctx, b.center);
    sn_bvh_destroy(&b.bvh);
    return status;
}

void sn_bvh_destroy(sn_bvh **bvh) {
    if (!bvh || !*bvh)
        return;
    sn_context *ctx = (*bvh)->context;
    sn_release(ctx, (*bvh)->node);
    sn_release(ctx, (*bvh)->item);
    sn_release(ctx, *bvh);
    *bvh = NULL;
}

static bool boxes_meet(const sn_bvh_node *node, const double low[3], const double high[3]) {
    for (int c = 0; c < 3; c++)
        if (node->low[c] > high[c] || node->high[c] < low[c])
            return false;
    return true;
}

void sn_bvh_overlap(const sn_bvh *bvh, const double low[3], const double high[3], sn_bvh_visit *visit,
                    void *user) {
    int32_t stack[STACK_SIZE], depth = 0;
    if (bvh->node_count > 0)
        stack[depth++] = 0;
    while (depth > 0) {
        const sn_bvh_node *node = &bvh->node[stack[--depth]];
        if (!boxes_meet(node, low, high))
            continue;
        for (int32_t i = node->first; i < node->first + node->count; i++)
            if (!visit(user, bvh->item[i]))
                return;
        if (node->count == 0) {
            stack[depth++] = node->first + 1;
            stack[depth++] = node->first;
        }
    }
}

static double box_distance(const sn_bvh_node *node, const double point[3]) {
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        // Not fmax(), which is a call.
        double below = node->low[c] - point[c], above = point[c] - node->high[c],
               d = below > above ? below : above;
        d = d > 0 ? d : 0;
        sum += d * d;
    }
    return sum;
}

/// What a search for the nearest item has found so far.
typedef struct nearest_search {
    double squared;
    int32_t item;
} nearest_search;

static void measure_leaf(const sn_bvh *bvh, const sn_bvh_node *node, sn_bvh_measure *measure, void *user,
                         nearest_search *best) {
    for (int32_t i = node->first; i < node->first + node->count; i++) {
        int32_t item = bvh->item[i];
        double squared = measure(user, item);
        if (squared < best->squared || (squared == best->squared && (best->item < 0 || item < best->item)))
            *best = (nearest_search){squared, item};
    }
}

/// A node to be visited, and its distance.
typedef struct nearest_entry {
    double squared;
    int32_t node;
} nearest_entry;

int32_t sn_bvh_nearest(const sn_bvh *bvh, const double point[3], double limit, sn_bvh_measure *measure,
                       void *user, double *out_squared) {
    nearest_entry stack[STACK_SIZE];
    int32_t depth = 0;
    nearest_search best = {limit, -1};
    if (bvh->node_count > 0)
        stack[depth++] = (nearest_entry){box_distance(&bvh->node[0], point), 0};
    while (depth > 0) {
        nearest_entry entry = stack[--depth];
        const sn_bvh_node *node = &bvh->node[entry.node];
        // Equal distances are looked at too, so that the lowest item wins.
        if (entry.squared > best.squared)
            continue;
        if (node->count > 0) {
            measure_leaf(bvh, node, measure, user, &best);
            continue;
        }
        nearest_entry near = {box_distance(&bvh->node[node->first], point), node->first},
                      far = {box_distance(&bvh->node[node->first + 1], point), node->first + 1};
        if (far.squared < near.squared) {
            nearest_entry swap = near;
            near = far;
            far = swap;
        }
        if (far.squared <= best.squared)
            stack[depth++] = far;
        if (near.squared <= best.squared)
            stack[depth++] = near;
    }
    if (out_squared && best.item >= 0)
        *out_squared = best.squared;
    return best.item;
}

void sn_tet_boxes(int32_t count, const int32_t *tet, const double *position, double *box) {
    for (int32_t t = 0; t < count; t++)
        for (size_t c = 0; c < 3; c++) {
            double *low = box + 6 * (size_t)t + c, *high = low + 3;
            *low = *high = position[3 * (size_t)tet[4 * (size_t)t] + c];
            for (size_t a = 1; a < 4; a++) {
                double x = position[3 * (size_t)tet[4 * (size_t)t + a] + c];
                *low = fmin(*low, x);
                *high = fmax(*high, x);
            }
        }
}
