#include "mesh/mesh_copies.h"

#include "geom/geom_predicate.h"
#include "math/math_mat3.h"
#include "mesh/mesh_internal.h"

#include <math.h>
#include <string.h>

sn_status sn_tet_copies_copy(sn_context *ctx, const sn_tet_copies *from, sn_tet_copies *out) {
    sn_tet_side *side = NULL;
    sn_status status = sn_new_copy(ctx, from->side, (size_t)from->count, sizeof *side, (void **)&side);
    if (status == SN_OK)
        *out = (sn_tet_copies){from->count, side};
    return status;
}

void sn_tet_copies_clear(sn_context *ctx, sn_tet_copies *copies) {
    SN_RELEASE(ctx, copies->side);
    copies->count = 0;
}

/// First side of the tets from `tet` on.
static int32_t find_side(const sn_tet_copies *copies, int32_t tet) {
    int32_t low = 0, high = copies->count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (copies->side[middle].first < tet)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double squared_distance(const sn_tet_side *side, const double point[3]) {
    double nearest[3];
    return sn_triangle_nearest(point, side->corner, side->corner + 3, side->corner + 6, nearest);
}

const sn_tet_copies *sn_mesh_copies(const sn_mesh *mesh) {
    return &mesh->copies;
}

int32_t sn_tet_copy_at(const sn_tet_copies *copies, int32_t tet, const double point[3]) {
    int32_t end = find_side(copies, tet + 1), last = -1, copy = tet;
    if (end == 0)
        return tet;
    int32_t first = copies->side[end - 1].first;
    double best = INFINITY;
    for (int32_t i = end - 1; i >= 0 && copies->side[i].first == first; i--) {
        const sn_tet_side *side = &copies->side[i];
        double squared = squared_distance(side, point);
        last = side->copy > last ? side->copy : last;
        if (squared < best || (squared == best && side->copy < copy)) {
            best = squared;
            copy = side->copy;
        }
    }
    return tet <= last ? copy : tet;
}

/// Squared distance of each corner of split tets from the surface of the copy's piece; INFINITY elsewhere.
static void measure_corners(const sn_tet_copies *copies, const double *X, const int32_t *tets,
                            double *distance) {
    for (int32_t i = 0; i < copies->count; i++) {
        const int32_t *node = tets + 4 * (size_t)copies->side[i].copy;
        for (int a = 0; a < 4; a++)
            distance[node[a]] =
                fmin(distance[node[a]], squared_distance(&copies->side[i], X + 3 * (size_t)node[a]));
    }
}

sn_status sn_tet_copies_mark_strays(sn_context *ctx, const sn_tet_copies *copies, int32_t node_count,
                                    const double *X, const int32_t *tets, bool *stray) {
    sn_status status = SN_OK;
    double *distance = NULL;
    if (copies->count == 0)
        return SN_OK;
    SN_TRY_NEW(ctx, distance, node_count);
    for (int32_t n = 0; n < node_count; n++)
        distance[n] = INFINITY;
    measure_corners(copies, X, tets, distance);
    // Nodes at one place stand one after another.
    for (int32_t begin = 0, end; begin < node_count; begin = end) {
        double best = INFINITY;
        for (end = begin;
             end < node_count && memcmp(X + 3 * (size_t)begin, X + 3 * (size_t)end, 3 * sizeof *X) == 0;
             end++)
            best = fmin(best, distance[end]);
        for (int32_t n = begin; n < end; n++)
            stray[n] |= isfinite(distance[n]) && distance[n] > best;
    }
cleanup:
    SN_RELEASE(ctx, distance);
    return status;
}
