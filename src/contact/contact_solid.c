#include "contact/contact_solid.h"

#include "contact/contact_proxy.h"
#include "geom/geom_predicate.h"
#include "geom/geom_surface.h"
#include "math/math_mat3.h"

#include <string.h>

/// In mean edges: a place is looked up so far behind the surface, so that of two banks that touch it is its
/// own that is found.
static const double BEHIND = 1e-3;

enum { WALK_MAX = 2048, MARKS = 2 * WALK_MAX };

// ---- Making

/// Triangles around each vertex.
static sn_status find_rings(sn_contact_solid *solid) {
    sn_status status = SN_OK;
    size_t corners = 3 * (size_t)solid->source.triangle_count;
    int32_t count = solid->source.vertex_count;
    SN_TRY_NEW_ZEROED(solid->ctx, solid->ring_begin, (size_t)count + 1);
    SN_TRY_NEW(solid->ctx, solid->ring, corners);
    for (size_t i = 0; i < corners; i++)
        solid->ring_begin[solid->triangle[i] + 1]++;
    for (int32_t v = 0; v < count; v++)
        solid->ring_begin[v + 1] += solid->ring_begin[v];
    // Filled from the end, so that the beginnings come out right.
    for (size_t i = corners; i-- > 0;)
        solid->ring[--solid->ring_begin[solid->triangle[i] + 1]] = (int32_t)(i / 3);
    memmove(solid->ring_begin, solid->ring_begin + 1, (size_t)count * sizeof *solid->ring_begin);
    solid->ring_begin[count] = (int32_t)corners;
cleanup:
    return status;
}

static sn_status plant_tets(sn_contact_solid *solid) {
    const sn_solid_source *s = &solid->source;
    sn_status status = SN_OK;
    SN_TRY_NEW(solid->ctx, solid->tet_box, 6 * (size_t)s->tet_count);
    sn_tet_boxes(s->tet_count, s->tets + 4 * (size_t)s->tet_begin, s->rest, solid->tet_box);
    if (s->embedded)
        SN_TRY(sn_bvh_create(solid->ctx, s->tet_count, solid->tet_box, &solid->tets));
cleanup:
    return status;
}

sn_status sn_contact_solid_create(sn_context *ctx, const sn_solid_source *source,
                                  sn_contact_solid **out_solid) {
    sn_status status = SN_OK;
    sn_contact_solid *solid = NULL;
    SN_TRY_NEW_ZEROED(ctx, solid, 1);
    solid->ctx = ctx;
    solid->source = *source;
    SN_TRY_NEW(ctx, solid->place, 3 * (size_t)source->vertex_count);
    for (int32_t v = 0; v < source->vertex_count; v++)
        sn_weighted_place(source->vertex_node + 4 * (size_t)v, source->vertex_weight + 4 * (size_t)v,
                          source->rest, solid->place + 3 * (size_t)v);
    SN_TRY(sn_mesh_distance_create(ctx, source->vertex_count, solid->place, source->triangle_count,
                                   source->triangles, &solid->distance));
    solid->triangle = sn_mesh_distance_surface(solid->distance)->triangle;
    SN_TRY(find_rings(solid));
    SN_TRY(plant_tets(solid));
    *out_solid = solid;
    solid = NULL;
cleanup:
    sn_contact_solid_destroy(&solid);
    return status;
}

void sn_contact_solid_destroy(sn_contact_solid **solid) {
    if (!solid || !*solid)
        return;
    sn_contact_solid *old = *solid;
    sn_context *ctx = old->ctx;
    SN_RELEASE(ctx, old->place);
    SN_RELEASE(ctx, old->ring_begin);
    SN_RELEASE(ctx, old->ring);
    SN_RELEASE(ctx, old->tet_box);
    sn_mesh_distance_destroy(&old->distance);
    sn_bvh_destroy(&old->tets);
    sn_release(ctx, old);
    *solid = NULL;
}

// ---- Places

void sn_solid_place(const sn_contact_solid *solid, const sn_surface_place *place, const double *vertex,
                    double out[3]) {
    const int32_t *v = solid->triangle + 3 * (size_t)place->triangle;
    for (size_t k = 0; k < 3; k++)
        out[k] = place->weight[0] * vertex[3 * (size_t)v[0] + k] +
                 place->weight[1] * vertex[3 * (size_t)v[1] + k] +
                 place->weight[2] * vertex[3 * (size_t)v[2] + k];
}

typedef struct tet_search {
    const sn_contact_solid *solid;
    const double *point;
} tet_search;

static double nearest_in_tet(const sn_contact_solid *solid, int32_t tet, const double point[3],
                             double corner[12], double nearest[3]) {
    const sn_solid_source *s = &solid->source;
    const int32_t *node = s->tets + 4 * (size_t)(s->tet_begin + tet);
    for (size_t a = 0; a < 4; a++)
        memcpy(corner + 3 * a, s->rest + 3 * (size_t)node[a], 3 * sizeof *corner);
    return sn_tet_nearest(point, corner, nearest);
}

static double measure_tet(void *user, int32_t item) {
    const tet_search *search = user;
    double corner[12], nearest[3];
    return nearest_in_tet(search->solid, item, search->point, corner, nearest);
}

/// Weights of the tet that holds a place of an embedded surface.
static int32_t embedded_carriers(const sn_contact_solid *solid, const double X[3], const double behind[3],
                                 int32_t node[4], double weight[4]) {
    const sn_solid_source *s = &solid->source;
    tet_search search = {solid, behind};
    double corner[12], nearest[3], weights[4], total = 0;
    int32_t tet = sn_bvh_nearest(solid->tets, behind, INFINITY, measure_tet, &search, NULL), count = 0;
    tet = sn_tet_copy_at(s->copies, tet, behind);
    nearest_in_tet(solid, tet, X, corner, nearest);
    sn_tet_weights(nearest, corner, weights);
    for (int a = 0; a < 4; a++) {
        if (!(weights[a] > 1e-12))
            continue;
        node[count] = s->tets[4 * (size_t)(s->tet_begin + tet) + (size_t)a];
        weight[count++] = weights[a];
        total += weights[a];
    }
    for (int32_t a = 0; a < count; a++)
        weight[a] /= total;
    return count;
}

int32_t sn_solid_carriers(const sn_contact_solid *solid, const sn_surface_place *place, int32_t node[4],
                          double weight[4]) {
    const int32_t *v = solid->triangle + 3 * (size_t)place->triangle;
    int32_t count = 0;
    if (solid->source.embedded) {
        const double *normal =
            sn_mesh_distance_surface(solid->distance)->face_normal + 3 * (size_t)place->triangle;
        double X[3], behind[3];
        sn_solid_place(solid, place, solid->place, X);
        for (int k = 0; k < 3; k++)
            behind[k] = X[k] - BEHIND * solid->source.edge * normal[k];
        return embedded_carriers(solid, X, behind, node, weight);
    }
    for (int k = 0; k < 3; k++) {
        if (!(place->weight[k] > 0))
            continue;
        node[count] = solid->source.vertex_node[4 * (size_t)v[k]];
        weight[count++] = place->weight[k];
    }
    return count;
}

// ---- Ways over the surface

/// Triangles that a walk has come to.
typedef struct surface_walk {
    int32_t count, triangle[WALK_MAX];
    int32_t mark[MARKS]; ///< hashed, triangle + 1
} surface_walk;

/// False if there is no room.
static bool reach_triangle(surface_walk *walk, int32_t triangle) {
    uint32_t at = (uint32_t)triangle * 2654435761u % MARKS;
    for (; walk->mark[at] != 0; at = (at + 1) % MARKS)
        if (walk->mark[at] == triangle + 1)
            return true;
    if (walk->count == WALK_MAX)
        return false;
    walk->mark[at] = triangle + 1;
    walk->triangle[walk->count++] = triangle;
    return true;
}

static bool is_within(const sn_contact_solid *solid, int32_t triangle, const double X[3], double radius) {
    const int32_t *v = solid->triangle + 3 * (size_t)triangle;
    double nearest[3];
    return sn_triangle_nearest(X, solid->place + 3 * (size_t)v[0], solid->place + 3 * (size_t)v[1],
                               solid->place + 3 * (size_t)v[2], nearest) <= radius * radius;
}

bool sn_solid_is_near(const sn_contact_solid *solid, int32_t home, const double X[3], double radius,
                      int32_t target) {
    surface_walk walk;
    if (!is_within(solid, target, X, radius))
        return false;
    walk.count = 0;
    memset(walk.mark, 0, sizeof walk.mark);
    reach_triangle(&walk, home);
    for (int32_t i = 0; i < walk.count; i++) {
        if (walk.triangle[i] == target)
            return true;
        if (i > 0 && !is_within(solid, walk.triangle[i], X, radius))
            continue;
        for (int k = 0; k < 3; k++) {
            int32_t v = solid->triangle[3 * (size_t)walk.triangle[i] + (size_t)k];
            for (int32_t r = solid->ring_begin[v]; r < solid->ring_begin[v + 1]; r++)
                // What is near in space and too far to be walked to counts as near.
                if (!reach_triangle(&walk, solid->ring[r]))
                    return true;
        }
    }
    return false;
}
