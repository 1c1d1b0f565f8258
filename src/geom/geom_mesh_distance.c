#include "geom/geom_mesh_distance.h"

#include "geom/geom_bvh.h"
#include "geom/geom_predicate.h"
#include "geom/geom_winding.h"

#include <math.h>

struct sn_mesh_distance {
    sn_context *context;
    double *position;
    int32_t *triangle;
    sn_bvh *bvh;
    sn_winding *winding;
};

sn_status sn_mesh_distance_create(sn_context *ctx, int32_t vertex_count, const double *position,
                                  int32_t triangle_count, const int32_t *triangle,
                                  sn_mesh_distance **out_distance) {
    SN_ASSERT(triangle_count > 0);
    sn_status status = SN_OK;
    sn_mesh_distance *made = NULL;
    double *box = NULL;
    SN_TRY_NEW_ZEROED(ctx, made, 1);
    made->context = ctx;
    SN_TRY(sn_new_copy(ctx, position, (size_t)vertex_count * 3, sizeof *position, (void **)&made->position));
    SN_TRY(
        sn_new_copy(ctx, triangle, (size_t)triangle_count * 3, sizeof *triangle, (void **)&made->triangle));
    SN_TRY_NEW(ctx, box, (size_t)triangle_count * 6);
    sn_triangle_boxes(triangle_count, made->triangle, made->position, box);
    SN_TRY(sn_bvh_create(ctx, triangle_count, box, &made->bvh));
    SN_TRY(sn_winding_create(ctx, made->position, made->triangle, made->bvh, &made->winding));
    *out_distance = made;
    made = NULL;
cleanup:
    SN_RELEASE(ctx, box);
    sn_mesh_distance_destroy(&made);
    return status;
}

void sn_mesh_distance_destroy(sn_mesh_distance **distance) {
    if (!distance || !*distance)
        return;
    sn_context *ctx = (*distance)->context;
    sn_winding_destroy(&(*distance)->winding);
    sn_bvh_destroy(&(*distance)->bvh);
    sn_release(ctx, (*distance)->position);
    sn_release(ctx, (*distance)->triangle);
    sn_release(ctx, *distance);
    *distance = NULL;
}

typedef struct distance_search {
    const sn_mesh_distance *distance;
    const double *point;
} distance_search;

static double triangle_distance(const sn_mesh_distance *distance, int32_t item, const double point[3],
                                double nearest[3]) {
    const int32_t *v = distance->triangle + 3 * (size_t)item;
    const double *x = distance->position;
    return sn_triangle_nearest(point, x + 3 * (size_t)v[0], x + 3 * (size_t)v[1], x + 3 * (size_t)v[2],
                               nearest);
}

static double measure_triangle(void *user, int32_t item) {
    const distance_search *search = user;
    double nearest[3];
    return triangle_distance(search->distance, item, search->point, nearest);
}

/// Whether a point can be inside at all: most that are asked for are far away.
static bool in_box(const sn_bvh *bvh, const double point[3]) {
    for (int c = 0; c < 3; c++)
        if (point[c] < bvh->node[0].low[c] || point[c] > bvh->node[0].high[c])
            return false;
    return true;
}

double sn_mesh_distance_query(const sn_mesh_distance *distance, const double point[3],
                              double out_nearest[3]) {
    distance_search search = {distance, point};
    double squared = 0;
    int32_t item = sn_bvh_nearest(distance->bvh, point, INFINITY, measure_triangle, &search, &squared);
    if (item < 0) // a point that is not finite is near nothing
        return NAN;
    if (out_nearest)
        triangle_distance(distance, item, point, out_nearest);
    return in_box(distance->bvh, point) && sn_winding_inside(distance->winding, point) ? -sqrt(squared)
                                                                                       : sqrt(squared);
}
