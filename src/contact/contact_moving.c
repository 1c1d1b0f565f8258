#include "contact/contact_moving.h"

#include "base/base_parallel.h"
#include "geom/geom_predicate.h"
#include "math/math_mat3.h"

#include <string.h>

/// Of a triangle's sides: how far beyond them a point still comes through, so that none slips between two.
static const double RIM = 1e-6;
/// In mean edges: what starts so little behind a triangle starts on it.
static const double SLACK = 1e-6;
/// In mean edges: places no farther apart are one.
static const double SAME = 1e-7;
/// In mean edges: a point's own surroundings, which it does not meet.
static const double NEAR = 2;
/// A point's own surface faces away from what it meets, or nearly.
static const double FACING = 0.5;
/// Tets that are squeezed by more tell nothing of places.
static const double LEAST_DET = 0.1;

enum { WALK_STEPS = 64, HALVINGS = 60, GRAIN = 1024 };

// ---- Memory

static sn_status allocate(sn_moving_surface *surface) {
    const sn_solid_source *s = &surface->solid->source;
    sn_context *ctx = surface->ctx;
    sn_status status = SN_OK;
    SN_TRY_NEW(ctx, surface->start, 3 * (size_t)s->vertex_count);
    SN_TRY_NEW(ctx, surface->now, 3 * (size_t)s->vertex_count);
    SN_TRY_NEW(ctx, surface->normal, 3 * (size_t)s->triangle_count);
    SN_TRY_NEW(ctx, surface->box, 6 * (size_t)s->triangle_count);
    SN_TRY_NEW(ctx, surface->tet_box, 6 * (size_t)s->tet_count);
    memcpy(surface->start, surface->solid->place, 3 * (size_t)s->vertex_count * sizeof *surface->start);
    for (int32_t t = 0; t < s->triangle_count; t++)
        for (size_t c = 0; c < 3; c++) {
            const int32_t *v = surface->solid->triangle + 3 * (size_t)t;
            double *low = surface->box + 6 * (size_t)t + c, *high = low + 3;
            *low = INFINITY, *high = -INFINITY;
            for (int k = 0; k < 3; k++) {
                *low = fmin(*low, surface->start[3 * (size_t)v[k] + c]);
                *high = fmax(*high, surface->start[3 * (size_t)v[k] + c]);
            }
        }
    SN_TRY(sn_bvh_create(ctx, s->triangle_count, surface->box, &surface->triangles));
    SN_TRY(sn_bvh_create(ctx, s->tet_count, surface->solid->tet_box, &surface->tets));
cleanup:
    return status;
}

sn_status sn_moving_surface_create(sn_context *ctx, const sn_contact_solid *solid,
                                   sn_moving_surface **out_surface) {
    sn_moving_surface *surface = NULL;
    sn_status status = sn_new_zeroed(ctx, 1, sizeof *surface, (void **)&surface);
    if (status < 0)
        return status;
    surface->ctx = ctx;
    surface->solid = solid;
    status = allocate(surface);
    if (status == SN_OK)
        *out_surface = surface;
    else
        sn_moving_surface_destroy(&surface);
    return status;
}

void sn_moving_surface_destroy(sn_moving_surface **surface) {
    if (!surface || !*surface)
        return;
    sn_moving_surface *old = *surface;
    sn_context *ctx = old->ctx;
    SN_RELEASE(ctx, old->start);
    SN_RELEASE(ctx, old->now);
    SN_RELEASE(ctx, old->normal);
    SN_RELEASE(ctx, old->box);
    SN_RELEASE(ctx, old->tet_box);
    sn_bvh_destroy(&old->triangles);
    sn_bvh_destroy(&old->tets);
    sn_release(ctx, old);
    *surface = NULL;
}

// ---- Motion

typedef struct place_job {
    const sn_solid_source *source;
    const double *x;
    double *out;
} place_job;

static void place_vertices(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    const place_job *job = data;
    for (int32_t v = begin; v < end; v++)
        sn_weighted_place(job->source->vertex_node + 4 * (size_t)v,
                          job->source->vertex_weight + 4 * (size_t)v, job->x, job->out + 3 * (size_t)v);
}

static const double *corner(const sn_moving_surface *surface, int32_t triangle, int k) {
    return surface->now + 3 * (size_t)surface->solid->triangle[3 * (size_t)triangle + (size_t)k];
}

static void find_normals(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    const sn_moving_surface *surface = data;
    for (int32_t t = begin; t < end; t++) {
        double ab[3], ac[3], *normal = surface->normal + 3 * (size_t)t;
        sn_sub3(corner(surface, t, 1), corner(surface, t, 0), ab);
        sn_sub3(corner(surface, t, 2), corner(surface, t, 0), ac);
        sn_cross3(ab, ac, normal);
        double length = sn_norm3(normal);
        for (int k = 0; k < 3; k++)
            normal[k] = length > 0 ? normal[k] / length : 0;
    }
}

void sn_moving_surface_begin(sn_moving_surface *surface, const double *x) {
    place_job job = {&surface->solid->source, x, surface->start};
    sn_parallel_for(surface->ctx, job.source->vertex_count, GRAIN, place_vertices, &job);
    memcpy(surface->now, surface->start, 3 * (size_t)job.source->vertex_count * sizeof *surface->now);
    sn_parallel_for(surface->ctx, job.source->triangle_count, GRAIN, find_normals, surface);
    memset(surface->drift, 0, sizeof surface->drift);
    surface->has_tets = false;
}

static void find_drift(sn_moving_surface *surface) {
    int32_t count = surface->solid->source.vertex_count;
    for (size_t k = 0; k < 3; k++) {
        double sum = 0;
        for (size_t v = 0; v < (size_t)count; v++)
            sum += surface->now[3 * v + k] - surface->start[3 * v + k];
        surface->drift[k] = sum / count;
    }
}

static void box_ways(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    const sn_moving_surface *surface = data;
    for (int32_t t = begin; t < end; t++) {
        const int32_t *v = surface->solid->triangle + 3 * (size_t)t;
        for (size_t c = 0; c < 3; c++) {
            double low = INFINITY, high = -INFINITY;
            for (int k = 0; k < 3; k++) {
                double a = surface->start[3 * (size_t)v[k] + c] + surface->drift[c],
                       b = surface->now[3 * (size_t)v[k] + c];
                low = fmin(low, fmin(a, b));
                high = fmax(high, fmax(a, b));
            }
            surface->box[6 * (size_t)t + c] = low;
            surface->box[6 * (size_t)t + 3 + c] = high;
        }
    }
}

void sn_moving_surface_move(sn_moving_surface *surface, const double *x) {
    place_job job = {&surface->solid->source, x, surface->now};
    sn_parallel_for(surface->ctx, job.source->vertex_count, GRAIN, place_vertices, &job);
    find_drift(surface);
    sn_parallel_for(surface->ctx, job.source->triangle_count, GRAIN, box_ways, surface);
    sn_parallel_for(surface->ctx, job.source->triangle_count, GRAIN, find_normals, surface);
    sn_bvh_refit(surface->triangles, surface->box);
}

void sn_moving_surface_find_tets(sn_moving_surface *surface, const double *x) {
    const sn_solid_source *s = &surface->solid->source;
    if (surface->has_tets)
        return;
    sn_tet_boxes(s->tet_count, s->tets + 4 * (size_t)s->tet_begin, x, surface->tet_box);
    sn_bvh_refit(surface->tets, surface->tet_box);
    surface->has_tets = true;
}

static const double *normal_of(const sn_moving_surface *surface, int32_t triangle) {
    return surface->normal + 3 * (size_t)triangle;
}

// ---- A point's own surface

/// Sum of the normals around one of the surface's own points, of length 1.
static void own_normal(const sn_moving_surface *surface, const sn_surface_point *own, double out[3]) {
    const sn_contact_solid *solid = surface->solid;
    int32_t begin = own->vertex < 0 ? 0 : solid->ring_begin[own->vertex],
            end = own->vertex < 0 ? 0 : solid->ring_begin[own->vertex + 1];
    // Samples, and a vertex that another one at its place stands for, have no ring.
    memcpy(out, normal_of(surface, own->triangle), 3 * sizeof *out);
    for (int k = 0; begin < end && k < 3; k++)
        out[k] = 0;
    for (int32_t r = begin; r < end; r++)
        for (int k = 0; k < 3; k++)
            out[k] += normal_of(surface, solid->ring[r])[k];
    double length = sn_norm3(out);
    for (int k = 0; k < 3; k++)
        out[k] = length > 0 ? out[k] / length : 0;
}

// ---- Meeting

typedef struct meeting_search {
    const sn_moving_surface *surface;
    const double *from, *to; ///< the drift taken out
    double reach;
    const sn_surface_point *own;
    double own_normal[3];
    sn_surface_place place;
    double part;           ///< of the way, to what is met; above 1: to what is in reach
    double squared, front; ///< of what is in reach
} meeting_search;

/// A triangle and a point on their ways: arms a + t b from the first corner to the others and to the point.
typedef struct triangle_ways {
    double a[3][3], b[3][3];
} triangle_ways;

static triangle_ways find_ways(const meeting_search *search, int32_t triangle) {
    const sn_moving_surface *surface = search->surface;
    const int32_t *v = surface->solid->triangle + 3 * (size_t)triangle;
    triangle_ways ways;
    double base[3];
    for (size_t k = 0; k < 3; k++)
        base[k] = surface->start[3 * (size_t)v[0] + k] + surface->drift[k];
    for (int i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++) {
            double start =
                i < 2 ? surface->start[3 * (size_t)v[i + 1] + k] + surface->drift[k] : search->from[k];
            double now = i < 2 ? surface->now[3 * (size_t)v[i + 1] + k] : search->to[k];
            ways.a[i][k] = start - base[k];
            ways.b[i][k] = now - surface->now[3 * (size_t)v[0] + k] - ways.a[i][k];
        }
    return ways;
}

static void add_volume(const double a[3], const double b[3], const double c[3], double *sum) {
    double normal[3];
    sn_cross3(a, b, normal);
    *sum += sn_dot3(normal, c);
}

/// Six times the volume between triangle and point, as a cubic of the part of the way.
static void volume_cubic(const triangle_ways *ways, double f[4]) {
    memset(f, 0, 4 * sizeof *f);
    for (int i = 0; i < 8; i++)
        add_volume(i & 1 ? ways->b[0] : ways->a[0], i & 2 ? ways->b[1] : ways->a[1],
                   i & 4 ? ways->b[2] : ways->a[2], &f[(i & 1) + (i >> 1 & 1) + (i >> 2)]);
}

static double cubic_at(const double f[4], double t) {
    return f[0] + t * (f[1] + t * (f[2] + t * f[3]));
}

/// Ends of the parts of [0, 1] in which a cubic rises or falls all along. Returns their number, 2 to 4.
static int monotone_ends(const double f[4], double end[4]) {
    double a = 3 * f[3], b = f[2], c = f[1], square = b * b - a * c, root[2] = {-1, -1};
    int count = 0;
    if (square > 0) {
        // Without cancellation.
        double q = -(b + copysign(sqrt(square), b));
        root[0] = a != 0 ? q / a : -1;
        root[1] = q != 0 ? c / q : -1;
    }
    if (root[0] > root[1]) {
        double swap = root[0];
        root[0] = root[1], root[1] = swap;
    }
    end[count++] = 0;
    for (int i = 0; i < 2; i++)
        if (root[i] > end[count - 1] && root[i] < 1)
            end[count++] = root[i];
    end[count++] = 1;
    return count;
}

/// Where a cubic that falls from `low` to `high` passes zero.
static double falling_root(const double f[4], double low, double high) {
    for (int i = 0; i < HALVINGS && low < high; i++) {
        double middle = 0.5 * (low + high);
        if (cubic_at(f, middle) >= 0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/// Weights of the corners for the point in the plane of the triangle. False outside of the triangle.
static bool plane_weights(const triangle_ways *ways, double t, double weight[3]) {
    double u[3], v[3], p[3];
    for (int k = 0; k < 3; k++) {
        u[k] = ways->a[0][k] + t * ways->b[0][k];
        v[k] = ways->a[1][k] + t * ways->b[1][k];
        p[k] = ways->a[2][k] + t * ways->b[2][k];
    }
    double uu = sn_dot3(u, u), uv = sn_dot3(u, v), vv = sn_dot3(v, v), pu = sn_dot3(p, u), pv = sn_dot3(p, v);
    double area = uu * vv - uv * uv;
    weight[1] = (vv * pu - uv * pv) / area;
    weight[2] = (uu * pv - uv * pu) / area;
    weight[0] = 1 - weight[1] - weight[2];
    return area > 0 && weight[0] >= -RIM && weight[1] >= -RIM && weight[2] >= -RIM;
}

static void clamp_weights(double weight[3]) {
    double total = 0;
    for (int k = 0; k < 3; k++)
        total += weight[k] = fmax(0, weight[k]);
    for (int k = 0; k < 3; k++)
        weight[k] /= total;
}

/// Whether the point comes through the triangle from outside; *out_part is where on its way it does first.
static bool comes_through(const triangle_ways *ways, double slack, double *out_part, double weight[3]) {
    double f[4], end[4], normal[3];
    volume_cubic(ways, f);
    int count = monotone_ends(f, end);
    sn_cross3(ways->a[0], ways->a[1], normal);
    if (f[0] < 0 && f[0] >= -slack * sn_norm3(normal) && cubic_at(f, 1) < f[0] &&
        plane_weights(ways, 0, weight)) {
        *out_part = 0;
        return true;
    }
    for (int i = 0; i + 1 < count; i++) {
        if (!(cubic_at(f, end[i]) >= 0 && cubic_at(f, end[i + 1]) < 0))
            continue;
        *out_part = falling_root(f, end[i], end[i + 1]);
        if (plane_weights(ways, *out_part, weight))
            return true;
    }
    return false;
}

/// Weights of a triangle's corners for a place of it.
static void place_weights(const sn_moving_surface *surface, const double place[3], sn_surface_place *out) {
    triangle_ways ways = {0};
    const double *origin = corner(surface, out->triangle, 0);
    sn_sub3(corner(surface, out->triangle, 1), origin, ways.a[0]);
    sn_sub3(corner(surface, out->triangle, 2), origin, ways.a[1]);
    sn_sub3(place, origin, ways.a[2]);
    double *weight = out->weight;
    plane_weights(&ways, 0, weight);
    if (isfinite(weight[0]) && isfinite(weight[1]) && isfinite(weight[2])) {
        clamp_weights(weight);
        return;
    }
    // A flat triangle: the corner.
    weight[0] = 1, weight[1] = weight[2] = 0;
}

static double triangle_nearest(const sn_moving_surface *surface, int32_t triangle, const double point[3],
                               double nearest[3]) {
    return sn_triangle_nearest(point, corner(surface, triangle, 0), corner(surface, triangle, 1),
                               corner(surface, triangle, 2), nearest);
}

/// How far a point is in front of a triangle's plane.
static double front_of(const sn_moving_surface *surface, int32_t triangle, const double point[3]) {
    double arm[3];
    sn_sub3(point, corner(surface, triangle, 0), arm);
    return sn_dot3(normal_of(surface, triangle), arm);
}

/// Whether a point can meet a triangle where that is one of its own body: not in its own surroundings.
static bool can_meet(const meeting_search *search, int32_t triangle) {
    const sn_surface_point *own = search->own;
    const sn_contact_solid *solid = search->surface->solid;
    return !own || !sn_solid_is_near(solid, own->triangle, own->X, NEAR * solid->source.edge, triangle);
}

/// Of triangles in reach the nearest counts, of several that share the nearest place the one that the point
/// is most in front of.
static void look_in_reach(meeting_search *search, int32_t triangle) {
    const sn_moving_surface *surface = search->surface;
    double nearest[3], squared = triangle_nearest(surface, triangle, search->to, nearest);
    double same = SAME * surface->solid->source.edge;
    if (!(squared < search->reach * search->reach))
        return;
    double front = front_of(surface, triangle, search->to), gain = sqrt(search->squared) - sqrt(squared);
    bool is_better = gain > same || (gain >= -same && front > search->front);
    if (!(front >= 0) || (search->part == 2 && !is_better) || !can_meet(search, triangle))
        return;
    search->part = 2;
    search->squared = squared;
    search->front = front;
    search->place.triangle = triangle;
    place_weights(surface, nearest, &search->place);
}

static bool look_at_triangle(void *user, int32_t item) {
    meeting_search *search = user;
    // Most of what is near a point of the body itself faces the same way, and is its own surroundings.
    if (search->own && !(sn_dot3(search->own_normal, normal_of(search->surface, item)) < FACING))
        return true;
    triangle_ways ways = find_ways(search, item);
    double part, weight[3];
    bool comes = comes_through(&ways, SLACK * search->surface->solid->source.edge, &part, weight);
    if (!comes) {
        if (search->part > 1)
            look_in_reach(search, item);
        return true;
    }
    if (part > search->part || (part == search->part && item > search->place.triangle) ||
        !can_meet(search, item))
        return true;
    search->part = part;
    search->place.triangle = item;
    memcpy(search->place.weight, weight, sizeof weight);
    clamp_weights(search->place.weight);
    return true;
}

bool sn_moving_surface_meet(const sn_moving_surface *surface, const double from[3], const double to[3],
                            double reach, const sn_surface_point *own, sn_surface_place *out_place) {
    double begin[3], low[3], high[3];
    for (int k = 0; k < 3; k++) {
        begin[k] = from[k] + surface->drift[k];
        low[k] = fmin(begin[k], to[k]) - reach;
        high[k] = fmax(begin[k], to[k]) + reach;
    }
    meeting_search search = {.surface = surface,
                             .from = begin,
                             .to = to,
                             .reach = reach,
                             .own = own,
                             .part = 3,
                             .squared = INFINITY,
                             .front = -INFINITY};
    if (own)
        own_normal(surface, own, search.own_normal);
    sn_bvh_overlap(surface->triangles, low, high, look_at_triangle, &search);
    if (search.part > 2)
        return false;
    *out_place = search.place;
    return true;
}

// ---- Going out

typedef struct exit_search {
    const sn_moving_surface *surface;
    const double *x, *point;
    const int32_t *carrier;
    const sn_surface_point *own;
    sn_surface_place place;
    double squared; ///< m^2 at rest: the way out
    int32_t tet;
} exit_search;

static void corners_of(const int32_t node[4], const double *x, double out[12]) {
    for (size_t a = 0; a < 4; a++)
        memcpy(out + 3 * a, x + 3 * (size_t)node[a], 3 * sizeof *out);
}

/// Six times the volume of a tet.
static double volume_of(const double corner_of[12]) {
    double a[3], b[3], c[3], volume = 0;
    sn_sub3(corner_of + 3, corner_of, a);
    sn_sub3(corner_of + 6, corner_of, b);
    sn_sub3(corner_of + 9, corner_of, c);
    add_volume(a, b, c, &volume);
    return volume;
}

static bool shares_node(const int32_t node[4], const int32_t *carrier) {
    for (int a = 0; carrier && a < 4; a++)
        for (int b = 0; b < 4; b++)
            if (node[a] == carrier[b])
                return true;
    return false;
}

/// Where the point lies at rest, if the tet holds it.
static bool rest_place(const exit_search *search, int32_t tet, double X[3]) {
    const sn_solid_source *s = &search->surface->solid->source;
    const int32_t *node = s->tets + 4 * (size_t)(s->tet_begin + tet);
    double now[12], rest[12], weight[4];
    if (search->own && shares_node(node, search->carrier))
        return false;
    corners_of(node, search->x, now);
    corners_of(node, s->rest, rest);
    if (!(volume_of(now) > LEAST_DET * volume_of(rest)))
        return false;
    sn_tet_weights(search->point, now, weight);
    for (int a = 0; a < 4; a++)
        if (!(weight[a] >= 0))
            return false;
    memset(X, 0, 3 * sizeof *X);
    for (int a = 0; a < 4; a++)
        for (int k = 0; k < 3; k++)
            X[k] += weight[a] * rest[3 * a + k];
    return true;
}

static bool look_in_tet(void *user, int32_t item) {
    exit_search *search = user;
    const sn_contact_solid *solid = search->surface->solid;
    double X[3], nearest[3], distance;
    if (!rest_place(search, item, X) || !(sn_mesh_distance_query(solid->distance, X, nearest) < 0))
        return true;
    int32_t triangle = sn_mesh_distance_find(solid->distance, X, -1, &distance);
    double squared = distance * distance;
    // Tets come in the order of the tree, which is always the same.
    if (!(squared < search->squared))
        return true;
    if (search->own &&
        sn_solid_is_near(solid, search->own->triangle, search->own->X, NEAR * solid->source.edge, triangle))
        return true;
    search->squared = squared;
    search->place.triangle = triangle;
    for (int k = 0; k < 3; k++)
        search->place.weight[k] = 1.0 / 3;
    return true;
}

bool sn_moving_surface_exit(const sn_moving_surface *surface, const double *x, const double point[3],
                            const int32_t *carrier, const sn_surface_point *own,
                            sn_surface_place *out_place) {
    exit_search search = {
        .surface = surface, .x = x, .point = point, .carrier = carrier, .own = own, .squared = INFINITY};
    sn_bvh_overlap(surface->tets, point, point, look_in_tet, &search);
    if (!isfinite(search.squared))
        return false;
    *out_place = search.place;
    sn_moving_surface_walk(surface, point, out_place);
    return front_of(surface, out_place->triangle, point) < 0;
}

// ---- Going over the surface

void sn_moving_surface_walk(const sn_moving_surface *surface, const double point[3],
                            sn_surface_place *place) {
    const sn_contact_solid *solid = surface->solid;
    double best[3], squared = triangle_nearest(surface, place->triangle, point, best);
    bool goes_on = true;
    for (int step = 0; goes_on && step < WALK_STEPS; step++) {
        const int32_t *v = solid->triangle + 3 * (size_t)place->triangle;
        goes_on = false;
        for (int k = 0; k < 3; k++)
            for (int32_t r = solid->ring_begin[v[k]]; r < solid->ring_begin[v[k] + 1]; r++) {
                double nearest[3], other = triangle_nearest(surface, solid->ring[r], point, nearest);
                if (!(other < squared))
                    continue;
                squared = other;
                place->triangle = solid->ring[r];
                memcpy(best, nearest, sizeof best);
                goes_on = true;
            }
    }
    place_weights(surface, best, place);
}

void sn_moving_surface_choose(const sn_moving_surface *surface, const double point[3], const double normal[3],
                              sn_surface_place *place) {
    const sn_contact_solid *solid = surface->solid;
    const int32_t *v = solid->triangle + 3 * (size_t)place->triangle;
    double at[3], most_front = -INFINITY, most_like = -INFINITY, same = SAME * solid->source.edge;
    int32_t front_triangle = place->triangle, like_triangle = place->triangle;
    sn_solid_place(solid, place, surface->now, at);
    for (int k = 0; k < 3; k++)
        for (int32_t r = solid->ring_begin[v[k]]; r < solid->ring_begin[v[k] + 1]; r++) {
            double nearest[3];
            if (triangle_nearest(surface, solid->ring[r], at, nearest) > same * same)
                continue;
            double front = front_of(surface, solid->ring[r], point),
                   like = sn_dot3(normal_of(surface, solid->ring[r]), normal);
            if (front > most_front)
                most_front = front, front_triangle = solid->ring[r];
            if (like > most_like)
                most_like = like, like_triangle = solid->ring[r];
        }
    place->triangle = most_front > 0 ? front_triangle : like_triangle;
    place_weights(surface, at, place);
}
