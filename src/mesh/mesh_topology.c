#include "mesh/mesh_topology.h"

#include <string.h>

const int32_t sn_tet_faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

enum { MAX_WIDTH = 3 };

/// Vertices of a tuple in ascending order.
static void sort_tuple(int32_t width, const int32_t *tuple, int32_t *sorted) {
    for (int32_t i = 0; i < width; i++) {
        int32_t value = tuple[i], place = i;
        for (; place > 0 && sorted[place - 1] > value; place--)
            sorted[place] = sorted[place - 1];
        sorted[place] = value;
    }
}

bool sn_tuple_same(int32_t width, const int32_t *a, const int32_t *b) {
    int32_t p[MAX_WIDTH], q[MAX_WIDTH];
    sort_tuple(width, a, p);
    sort_tuple(width, b, q);
    return memcmp(p, q, (size_t)width * sizeof *p) == 0;
}

/// Which side of the face its corners turn about: whether they are an even permutation of the ascending
/// order.
static int32_t side_of(const int32_t face[3]) {
    return ((face[0] > face[1]) + (face[0] > face[2]) + (face[1] > face[2])) % 2;
}

bool sn_faces_crowd(const int32_t *face, int32_t count, const int32_t *order, int32_t out_pair[2]) {
    int32_t first[2] = {-1, -1};
    for (int32_t i = 0; i < count; i++) {
        int32_t side = side_of(face + 3 * (size_t)order[i]);
        if (first[side] >= 0) {
            out_pair[0] = first[side];
            out_pair[1] = order[i];
            return true;
        }
        first[side] = order[i];
    }
    return false;
}

/// One stable pass of a radix sort: by the vertex at `rank` of each sorted tuple.
static void counting_pass(int32_t vertex_count, int32_t count, int32_t width, int32_t rank,
                          const int32_t *key, const int32_t *from, int32_t *start, int32_t *to) {
    memset(start, 0, ((size_t)vertex_count + 1) * sizeof *start);
    for (int32_t i = 0; i < count; i++)
        start[key[(size_t)i * width + rank] + 1]++;
    for (int32_t v = 0; v < vertex_count; v++)
        start[v + 1] += start[v];
    for (int32_t i = 0; i < count; i++)
        to[start[key[(size_t)from[i] * width + rank]]++] = from[i];
}

sn_status sn_tuple_order(sn_context *ctx, int32_t vertex_count, int32_t count, int32_t width,
                         const int32_t *tuple, int32_t *out_order) {
    sn_status status = SN_OK;
    int32_t *key = NULL, *start = NULL, *other = NULL;
    SN_ASSERT(width <= MAX_WIDTH);
    SN_TRY_NEW(ctx, key, (size_t)count * width);
    SN_TRY_NEW(ctx, start, (size_t)vertex_count + 1);
    SN_TRY_NEW(ctx, other, count);
    for (int32_t i = 0; i < count; i++) {
        sort_tuple(width, tuple + (size_t)i * width, key + (size_t)i * width);
        out_order[i] = i;
    }
    for (int32_t rank = width - 1; rank >= 0; rank--) {
        memcpy(other, out_order, (size_t)count * sizeof *other);
        counting_pass(vertex_count, count, width, rank, key, other, start, out_order);
    }
cleanup:
    SN_RELEASE(ctx, key);
    SN_RELEASE(ctx, start);
    SN_RELEASE(ctx, other);
    return status;
}

int32_t sn_set_find(int32_t *parent, int32_t item) {
    while (parent[item] != item) {
        parent[item] = parent[parent[item]];
        item = parent[item];
    }
    return item;
}

void sn_set_join(int32_t *parent, int32_t a, int32_t b) {
    a = sn_set_find(parent, a);
    b = sn_set_find(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

/// Adds one edge, shared by `uses` directed edges of which `forward` run from the lower vertex to the higher.
static void census_add(sn_edge_census *census, int32_t uses, int32_t forward) {
    census->edges++;
    census->boundary += uses == 1;
    census->nonmanifold += uses > 2;
    census->misoriented += uses == 2 && forward != 1;
    if (2 * forward != uses)
        census->balanced = false;
}

/// Directed edges of the triangles that have three different vertices.
static int32_t directed_edges(int32_t count, const int32_t *triangle, int32_t *edge) {
    int32_t used = 0;
    for (int32_t t = 0; t < count; t++) {
        const int32_t *v = triangle + 3 * (size_t)t;
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0])
            continue;
        for (int32_t c = 0; c < 3; c++, used++) {
            edge[2 * (size_t)used] = v[c];
            edge[2 * (size_t)used + 1] = v[(c + 1) % 3];
        }
    }
    return used;
}

sn_status sn_edge_census_take(sn_context *ctx, int32_t vertex_count, int32_t count, const int32_t *triangle,
                              sn_edge_census *out_census) {
    sn_status status = SN_OK;
    int32_t *edge = NULL, *order = NULL;
    sn_edge_census census = {.balanced = true};
    if (count > INT32_MAX / 3)
        return sn_fail(ctx, SN_ERR_MESH, "%d triangles are more than the %d that can be counted", count,
                       INT32_MAX / 3);
    SN_TRY_NEW(ctx, edge, (size_t)count * 6);
    SN_TRY_NEW(ctx, order, (size_t)count * 3);
    int32_t used = directed_edges(count, triangle, edge);
    SN_TRY(sn_tuple_order(ctx, vertex_count, used, 2, edge, order));
    for (int32_t i = 0, next = 0; i < used; i = next) {
        int32_t forward = 0;
        const int32_t *first = edge + 2 * (size_t)order[i];
        for (next = i; next < used && sn_tuple_same(2, edge + 2 * (size_t)order[next], first); next++)
            forward += edge[2 * (size_t)order[next]] < edge[2 * (size_t)order[next] + 1];
        census_add(&census, next - i, forward);
    }
    *out_census = census;
cleanup:
    SN_RELEASE(ctx, edge);
    SN_RELEASE(ctx, order);
    return status;
}
