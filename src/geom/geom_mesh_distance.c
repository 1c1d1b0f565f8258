#include "geom/geom_mesh_distance.h"

#include "geom/geom_bvh.h"
#include "geom/geom_outward.h"
#include "geom/geom_predicate.h"
#include "geom/geom_surface.h"
#include "geom/geom_sweep.h"
#include "geom/geom_winding.h"
#include "math/math_mat3.h"

#include <string.h>

/// Distances below this part of the largest coordinate have lost their direction to rounding.
static const double ROUNDING = 2e-13;

/// Volumes below this part of what their sides span may be of either sign.
static const double UNSURE = 1e-12;

struct sn_mesh_distance {
    sn_context *context;
    sn_surface *surface;
    sn_bvh *bvh;
    sn_winding *winding;
};

// ---- Preparing

static const double *corner(const sn_mesh_distance *distance, int32_t triangle, int place) {
    const sn_surface *surface = distance->surface;
    return surface->position + 3 * (size_t)surface->triangle[3 * (size_t)triangle + (size_t)place];
}

static sn_status make_tree(sn_mesh_distance *distance) {
    sn_status status = SN_OK;
    sn_context *ctx = distance->context;
    const sn_surface *surface = distance->surface;
    double *box = NULL;
    SN_TRY_NEW(ctx, box, 6 * (size_t)surface->triangle_count);
    sn_triangle_boxes(surface->triangle_count, surface->triangle, surface->position, box);
    SN_TRY(sn_bvh_create(ctx, surface->triangle_count, box, &distance->bvh));
cleanup:
    SN_RELEASE(ctx, box);
    return status;
}

sn_status sn_mesh_distance_create(sn_context *ctx, int32_t vertex_count, const double *position,
                                  int32_t triangle_count, const int32_t *triangle,
                                  sn_mesh_distance **out_distance) {
    SN_ASSERT(triangle_count > 0);
    sn_status status = SN_OK;
    sn_mesh_distance *made = NULL;
    SN_TRY_NEW_ZEROED(ctx, made, 1);
    made->context = ctx;
    SN_TRY(sn_surface_create(ctx, vertex_count, position, triangle_count, triangle, &made->surface));
    SN_TRY(make_tree(made));
    SN_TRY(sn_surface_turn_outward(made->surface, made->bvh, &made->winding));
    SN_TRY(sn_surface_finish(made->surface));
    *out_distance = made;
    made = NULL;
cleanup:
    sn_mesh_distance_destroy(&made);
    return status;
}

void sn_mesh_distance_destroy(sn_mesh_distance **distance) {
    if (!distance || !*distance)
        return;
    sn_context *ctx = (*distance)->context;
    sn_winding_destroy(&(*distance)->winding);
    sn_bvh_destroy(&(*distance)->bvh);
    sn_surface_destroy(&(*distance)->surface);
    sn_release(ctx, *distance);
    *distance = NULL;
}

// ---- Asking

typedef struct distance_search {
    const sn_mesh_distance *distance;
    const double *point;
} distance_search;

static double triangle_distance(const sn_mesh_distance *distance, int32_t item, const double point[3],
                                double nearest[3]) {
    return sn_triangle_nearest(point, corner(distance, item, 0), corner(distance, item, 1),
                               corner(distance, item, 2), nearest);
}

static double measure_triangle(void *user, int32_t item) {
    const distance_search *search = user;
    double nearest[3];
    return triangle_distance(search->distance, item, search->point, nearest);
}

int32_t sn_mesh_distance_find(const sn_mesh_distance *distance, const double point[3], int32_t hint,
                              double *out_distance) {
    distance_search search = {distance, point};
    double squared = NAN, limit = hint >= 0 ? measure_triangle(&search, hint) : INFINITY;
    int32_t item = sn_bvh_nearest(distance->bvh, point, limit, measure_triangle, &search, &squared);
    *out_distance = sqrt(squared);
    return item;
}

/// Whether a point can be inside at all: most that are asked for are far away.
static bool in_box(const sn_bvh *bvh, const double point[3]) {
    for (int c = 0; c < 3; c++)
        if (point[c] < bvh->node[0].low[c] || point[c] > bvh->node[0].high[c])
            return false;
    return true;
}

double sn_mesh_distance_winding(const sn_mesh_distance *distance, const double point[3]) {
    return in_box(distance->bvh, point) ? sn_winding_number(distance->winding, point) : 0;
}

static sn_mesh_side find_side(const sn_mesh_distance *distance, const double point[3]) {
    bool inside = in_box(distance->bvh, point) && sn_winding_inside(distance->winding, point);
    return inside ? SN_SIDE_INSIDE : SN_SIDE_OUTSIDE;
}

double sn_mesh_distance_query(const sn_mesh_distance *distance, const double point[3],
                              double out_nearest[3]) {
    double length = 0;
    int32_t item = sn_mesh_distance_find(distance, point, -1, &length);
    if (item < 0) // a point that is not finite is near nothing
        return NAN;
    if (out_nearest)
        triangle_distance(distance, item, point, out_nearest);
    return find_side(distance, point) * length;
}

double sn_mesh_distance_nearest(const sn_mesh_distance *distance, const double point[3], sn_mesh_side side,
                                double out_nearest[3], double out_normal[3]) {
    double length = 0, arm[3];
    int32_t item = sn_mesh_distance_find(distance, point, -1, &length);
    if (item < 0) {
        memcpy(out_nearest, point, 3 * sizeof *point);
        memcpy(out_normal, distance->surface->face_normal, 3 * sizeof *out_normal);
        return NAN;
    }
    triangle_distance(distance, item, point, out_nearest);
    bool on_face = sn_surface_normal(distance->surface, item, out_nearest, out_normal);
    sn_sub3(point, out_nearest, arm);
    // On the surface there is no side but that of the normal.
    if (length <= ROUNDING * distance->surface->reach)
        return sn_dot3(arm, out_normal) < 0 ? -length : length;
    if (side == SN_SIDE_UNKNOWN)
        side = find_side(distance, point);
    // A face's own normal is more exact than the way to it.
    if (!on_face)
        sn_unit3(arm, out_normal);
    if (sn_dot3(arm, out_normal) * side < 0)
        for (int c = 0; c < 3; c++)
            out_normal[c] = -out_normal[c];
    return side * length;
}

bool sn_mesh_distance_is_closed(const sn_mesh_distance *distance) {
    return distance->surface->closed;
}

const sn_surface *sn_mesh_distance_surface(const sn_mesh_distance *distance) {
    return distance->surface;
}

void sn_mesh_distance_box(const sn_mesh_distance *distance, double out_low[3], double out_high[3]) {
    memcpy(out_low, distance->bvh->node[0].low, 3 * sizeof *out_low);
    memcpy(out_high, distance->bvh->node[0].high, 3 * sizeof *out_high);
}

// ---- Passing through triangles

typedef struct crossing_count {
    const sn_mesh_distance *distance;
    const double *from, *to;
    int growth;
    bool unsure;
} crossing_count;

/// Sign of the volume a (b x c), 0 if rounding leaves it open.
static int volume_sign(const double a[3], const double b[3], const double c[3]) {
    double normal[3];
    sn_cross3(b, c, normal);
    double volume = sn_dot3(a, normal), least = UNSURE * sqrt(sn_dot3(a, a) * sn_dot3(b, b) * sn_dot3(c, c));
    return volume > least ? 1 : volume < -least ? -1 : 0;
}

/// How a way passes through a triangle: 1 along its normal, -1 against it, 0 not at all; *out_unsure if
/// rounding leaves that open.
static int pass_triangle(const double from[3], const double to[3], const double *const corner_of[3],
                         bool *out_unsure) {
    double way[3], arm[3][3], end[3], ab[3], ac[3];
    sn_sub3(to, from, way);
    for (int k = 0; k < 3; k++)
        sn_sub3(corner_of[k], from, arm[k]);
    int ahead = 0, behind = 0;
    for (int k = 0; k < 3; k++) {
        int sign = volume_sign(way, arm[(k + 1) % 3], arm[(k + 2) % 3]);
        ahead += sign > 0;
        behind += sign < 0;
    }
    if (ahead > 0 && behind > 0)
        return 0;
    sn_sub3(corner_of[1], corner_of[0], ab);
    sn_sub3(corner_of[2], corner_of[0], ac);
    sn_sub3(corner_of[0], to, end);
    int start = volume_sign(arm[0], ab, ac), stop = volume_sign(end, ab, ac);
    if (start * stop > 0)
        return 0;
    *out_unsure = start == 0 || stop == 0 || ahead + behind < 3;
    return start;
}

static bool count_crossing(void *user, int32_t item) {
    crossing_count *count = user;
    const double *const corner_of[3] = {corner(count->distance, item, 0), corner(count->distance, item, 1),
                                        corner(count->distance, item, 2)};
    count->growth -= pass_triangle(count->from, count->to, corner_of, &count->unsure);
    return !count->unsure;
}

bool sn_mesh_distance_growth(const sn_mesh_distance *distance, const double from[3], const double to[3],
                             int *out_growth) {
    crossing_count count = {.distance = distance, .from = from, .to = to};
    double low[3], high[3];
    for (int c = 0; c < 3; c++) {
        low[c] = fmin(from[c], to[c]);
        high[c] = fmax(from[c], to[c]);
    }
    sn_bvh_overlap(distance->bvh, low, high, count_crossing, &count);
    *out_growth = count.growth;
    return !count.unsure;
}

// ---- Sweeping

typedef struct triangle_sweep {
    const sn_mesh_distance *distance;
    const double *from, *to;
    double slack, part;
    int32_t triangle; ///< the one in question
    bool met;
} triangle_sweep;

/// Distance from the triangle in question.
static double measure_convex(const void *body, const double point[3], double out_gradient[3]) {
    const triangle_sweep *sweep = body;
    double nearest[3];
    double length = sqrt(triangle_distance(sweep->distance, sweep->triangle, point, nearest));
    for (int c = 0; c < 3; c++)
        out_gradient[c] = length > 0 ? (point[c] - nearest[c]) / length : 0;
    return length;
}

static bool sweep_triangle(void *user, int32_t item) {
    triangle_sweep *sweep = user;
    sweep->triangle = item;
    if (sn_convex_sweep(measure_convex, sweep, sweep->from, sweep->to, sweep->slack, sweep->part,
                        &sweep->part))
        sweep->met = true;
    return true;
}

bool sn_mesh_distance_sweep(const sn_mesh_distance *distance, const double from[3], const double to[3],
                            double slack, double *out_part) {
    triangle_sweep sweep = {.distance = distance, .from = from, .to = to, .slack = slack, .part = 1};
    double low[3], high[3];
    for (int c = 0; c < 3; c++) {
        low[c] = fmin(from[c], to[c]) - slack;
        high[c] = fmax(from[c], to[c]) + slack;
    }
    sn_bvh_overlap(distance->bvh, low, high, sweep_triangle, &sweep);
    if (sweep.met)
        *out_part = sweep.part;
    return sweep.met;
}
