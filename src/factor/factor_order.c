#include "factor/factor_internal.h"

#include <metis.h>
#include <string.h>

/// Graph of the unknowns to order, both directions, without the diagonal.
typedef struct graph {
    int32_t *start; ///< [n + 1]
    int32_t *neighbor;
} graph;

static void count_neighbors(const sn_factor_matrix *pattern, const bool *is_out, int32_t *start) {
    memset(start, 0, ((size_t)pattern->n + 1) * sizeof *start);
    for (int32_t row = 0; row < pattern->n; row++) {
        for (int64_t e = pattern->start[row]; e < pattern->start[row + 1]; e++) {
            int32_t column = pattern->column[e];
            if (column == row || is_out[row] || is_out[column])
                continue;
            start[row + 1]++;
            start[column + 1]++;
        }
    }
    for (int32_t i = 0; i < pattern->n; i++)
        start[i + 1] += start[i];
}

static void fill_neighbors(const sn_factor_matrix *pattern, const bool *is_out, graph *g) {
    for (int32_t row = 0; row < pattern->n; row++) {
        for (int64_t e = pattern->start[row]; e < pattern->start[row + 1]; e++) {
            int32_t column = pattern->column[e];
            if (column == row || is_out[row] || is_out[column])
                continue;
            g->neighbor[g->start[row]++] = column;
            g->neighbor[g->start[column]++] = row;
        }
    }
    // Filling moved each start to the next one's place.
    memmove(g->start + 1, g->start, (size_t)pattern->n * sizeof *g->start);
    g->start[0] = 0;
}

/// Labels connected components; unknowns left out get -1. Returns their number.
static int32_t find_components(const graph *g, int32_t n, const bool *is_out, int32_t *queue,
                               int32_t *component) {
    int32_t count = 0;
    for (int32_t i = 0; i < n; i++)
        component[i] = -1;
    for (int32_t seed = 0; seed < n; seed++) {
        if (is_out[seed] || component[seed] >= 0)
            continue;
        int32_t head = 0, tail = 0;
        queue[tail++] = seed;
        component[seed] = count;
        while (head < tail) {
            int32_t node = queue[head++];
            for (int32_t e = g->start[node]; e < g->start[node + 1]; e++) {
                int32_t other = g->neighbor[e];
                if (component[other] < 0) {
                    component[other] = count;
                    queue[tail++] = other;
                }
            }
        }
        count++;
    }
    return count;
}

/// Lists the unknowns by component, ascending inside each; `bound` [component_count + 1] receives where
/// each begins.
static void list_components(int32_t n, const int32_t *component, int32_t component_count, int32_t *bound,
                            int32_t *list) {
    memset(bound, 0, ((size_t)component_count + 1) * sizeof *bound);
    for (int32_t i = 0; i < n; i++)
        if (component[i] >= 0)
            bound[component[i] + 1]++;
    for (int32_t c = 0; c < component_count; c++)
        bound[c + 1] += bound[c];
    for (int32_t i = 0; i < n; i++)
        if (component[i] >= 0)
            list[bound[component[i]]++] = i;
    memmove(bound + 1, bound, (size_t)component_count * sizeof *bound);
    bound[0] = 0;
}

/// METIS seeds and draws from the host's rand(), so calls must not overlap.
static int call_metis(idx_t count, idx_t *start, idx_t *neighbor, idx_t *weight, idx_t *options, idx_t *order,
                      idx_t *inverse) {
    int result = METIS_ERROR;
#pragma omp critical(sn_factor_metis)
    result = METIS_NodeND(&count, start, neighbor, weight, options, order, inverse);
    return result;
}

/// Scratch of a component's graph in its own numbering.
typedef struct local_graph {
    idx_t *start, *neighbor, *order, *inverse;
    idx_t *weight;  ///< NULL: 1 each
    int32_t *local; ///< [n] number of an unknown inside its component
} local_graph;

/// Orders one connected component: list[0 .. count-1], rewritten in the new order.
static sn_status order_component(sn_context *ctx, const graph *g, const int32_t *weight, int32_t seed,
                                 local_graph *part, int32_t count, int32_t *list) {
    // One or two nodes leave METIS nothing to dissect.
    if (count < 3)
        return SN_OK;
    for (int32_t i = 0; i < count; i++)
        part->local[list[i]] = i;
    idx_t end = 0;
    for (int32_t i = 0; i < count; i++) {
        part->start[i] = end;
        if (weight)
            part->weight[i] = weight[list[i]];
        for (int32_t e = g->start[list[i]]; e < g->start[list[i] + 1]; e++)
            part->neighbor[end++] = part->local[g->neighbor[e]];
    }
    part->start[count] = end;

    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_NUMBERING] = 0;
    options[METIS_OPTION_SEED] = seed;
    int result =
        call_metis(count, part->start, part->neighbor, part->weight, options, part->order, part->inverse);
    if (result == METIS_ERROR_MEMORY)
        return sn_fail(ctx, SN_ERR_NO_MEMORY, "out of memory while ordering %d unknowns", (int)count);
    if (result != METIS_OK)
        return sn_fail(ctx, SN_ERR_INTERNAL, "METIS failed with code %d on %d unknowns", result, (int)count);
    for (int32_t i = 0; i < count; i++)
        part->order[i] = list[part->order[i]];
    for (int32_t i = 0; i < count; i++)
        list[i] = part->order[i];
    return SN_OK;
}

sn_status sn_factor_order(sn_context *ctx, const sn_factor_matrix *pattern, const bool *is_out,
                          const int32_t *weight, int32_t seed, int32_t *out_order) {
    sn_status status = SN_OK;
    graph g = {0};
    local_graph part = {0};
    int32_t *component = NULL, *bound = NULL;
    int32_t n = pattern->n;
    if (2 * (pattern->start[n] - n) > INT32_MAX)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "%lld entries are more than the ordering can number",
                       (long long)pattern->start[n]);
    SN_TRY_NEW(ctx, g.start, (size_t)n + 1);
    count_neighbors(pattern, is_out, g.start);
    SN_TRY_NEW(ctx, g.neighbor, g.start[n]);
    fill_neighbors(pattern, is_out, &g);
    SN_TRY_NEW(ctx, component, n);
    SN_TRY_NEW(ctx, bound, (size_t)n + 1);
    SN_TRY_NEW(ctx, part.start, (size_t)n + 1);
    SN_TRY_NEW(ctx, part.neighbor, g.start[n]);
    SN_TRY_NEW(ctx, part.order, n);
    SN_TRY_NEW(ctx, part.inverse, n);
    SN_TRY_NEW(ctx, part.local, n);
    if (weight)
        SN_TRY_NEW(ctx, part.weight, n);
    int32_t count = find_components(&g, n, is_out, part.local, component);
    list_components(n, component, count, bound, out_order);
    for (int32_t c = 0; c < count; c++)
        SN_TRY(order_component(ctx, &g, weight, seed, &part, bound[c + 1] - bound[c], out_order + bound[c]));

cleanup:
    SN_RELEASE(ctx, part.weight);
    SN_RELEASE(ctx, part.local);
    SN_RELEASE(ctx, part.inverse);
    SN_RELEASE(ctx, part.order);
    SN_RELEASE(ctx, part.neighbor);
    SN_RELEASE(ctx, part.start);
    SN_RELEASE(ctx, bound);
    SN_RELEASE(ctx, component);
    SN_RELEASE(ctx, g.neighbor);
    SN_RELEASE(ctx, g.start);
    return status;
}
