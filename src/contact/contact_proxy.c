#include "contact/contact_proxy.h"

#include "geom/geom_bvh.h"
#include "geom/geom_predicate.h"
#include "math/math_mat3.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/// Sides barely longer than the spacing are not cut: lattices have sides of exactly that length.
static const double SPACING_SLACK = 1e-6;

/// A side of surface triangles and the number of parts it is cut into.
typedef struct surface_side {
    int32_t low, high; ///< vertices
    int32_t parts;
    int32_t first; ///< its first sample among the proxies, going from low to high
} surface_side;

/// A part of the surface that a proxy stands for.
typedef struct area_share {
    int32_t proxy, triangle;
    double area;
} area_share;

typedef struct proxy_job {
    sn_context *ctx;
    const sn_proxy_source *source;
    double *vertex_place;   ///< [vertex_count, 3] at rest
    double *node_stiffness; ///< [node_count] mean of the tets at a node
    int32_t side_count;
    surface_side *sides; ///< [side_count] by low, then high
    sn_proxies out;
    double *place;  ///< [out.count, 3] at rest
    double *normal; ///< [triangle_count, 3] of length 1, 0 for flat triangles
    int32_t share_count;
    size_t share_capacity;
    area_share *shares;
    double *box; ///< [tet_count, 6], made when samples have to be located
    sn_bvh *tree;
} proxy_job;

// ---- Sides

static int compare_sides(const void *a, const void *b) {
    const surface_side *p = a, *q = b;
    if (p->low != q->low)
        return p->low < q->low ? -1 : 1;
    return (p->high > q->high) - (p->high < q->high);
}

static surface_side make_side(int32_t a, int32_t b) {
    return a < b ? (surface_side){a, b, 1, 0} : (surface_side){b, a, 1, 0};
}

static double vertex_distance(const proxy_job *job, int32_t a, int32_t b) {
    return sn_distance3(job->vertex_place + 3 * (size_t)a, job->vertex_place + 3 * (size_t)b);
}

/// Number of parts of at most the spacing in a length; bounded, so that the limit on proxies decides.
static int32_t parts_of(const proxy_job *job, double length) {
    double parts = ceil(length / (job->source->spacing * (1 + SPACING_SLACK)));
    return parts < 1 ? 1 : parts > 30000 ? 30000 : (int32_t)parts;
}

static sn_status find_sides(proxy_job *job) {
    const sn_proxy_source *s = job->source;
    sn_status status =
        sn_new(job->ctx, 3 * (size_t)s->triangle_count, sizeof *job->sides, (void **)&job->sides);
    if (status < 0)
        return status;
    size_t count = 0;
    for (int32_t t = 0; t < s->triangle_count; t++)
        for (int k = 0; k < 3; k++)
            job->sides[count++] = make_side(s->triangles[3 * (size_t)t + (size_t)k],
                                            s->triangles[3 * (size_t)t + (size_t)(k + 1) % 3]);
    qsort(job->sides, count, sizeof *job->sides, compare_sides);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || compare_sides(&job->sides[job->side_count - 1], &job->sides[i]) != 0)
            job->sides[job->side_count++] = job->sides[i];
    for (int32_t i = 0; i < job->side_count; i++)
        job->sides[i].parts = parts_of(job, vertex_distance(job, job->sides[i].low, job->sides[i].high));
    return SN_OK;
}

static const surface_side *find_side(const proxy_job *job, int32_t a, int32_t b) {
    surface_side wanted = make_side(a, b);
    return bsearch(&wanted, job->sides, (size_t)job->side_count, sizeof wanted, compare_sides);
}

/// Parts of a triangle: as many as its longest side has.
static int32_t triangle_parts(const proxy_job *job, int32_t triangle) {
    const int32_t *v = job->source->triangles + 3 * (size_t)triangle;
    int32_t parts = 1;
    for (int k = 0; k < 3; k++) {
        int32_t side = find_side(job, v[k], v[(k + 1) % 3])->parts;
        parts = side > parts ? side : parts;
    }
    return parts;
}

static int64_t inner_count(int32_t parts) {
    return (int64_t)(parts - 1) * (parts - 2) / 2;
}

// ---- Vertices and nodes at rest

static void place_vertices(const proxy_job *job) {
    const sn_proxy_source *s = job->source;
    for (int32_t v = 0; v < s->vertex_count; v++)
        sn_weighted_place(s->vertex_node + 4 * (size_t)v, s->vertex_weight + 4 * (size_t)v, s->rest,
                          job->vertex_place + 3 * (size_t)v);
}

static sn_status average_stiffness(proxy_job *job) {
    const sn_proxy_source *s = job->source;
    sn_status status = SN_OK;
    int32_t *tets_at = NULL;
    SN_TRY_NEW_ZEROED(job->ctx, job->node_stiffness, s->node_count);
    SN_TRY_NEW_ZEROED(job->ctx, tets_at, s->node_count);
    for (int32_t t = 0; t < s->tet_count; t++)
        for (size_t a = 0; a < 4; a++) {
            int32_t n = s->tets[4 * (size_t)(s->tet_begin + t) + a] - s->node_begin;
            job->node_stiffness[n] += s->tet_stiffness[t];
            tets_at[n]++;
        }
    for (int32_t n = 0; n < s->node_count; n++)
        if (tets_at[n] > 0)
            job->node_stiffness[n] /= tets_at[n];
cleanup:
    SN_RELEASE(job->ctx, tets_at);
    return status;
}

// ---- Proxies

static sn_status allocate(proxy_job *job, int64_t count) {
    sn_status status = SN_OK;
    sn_context *ctx = job->ctx;
    if (count > INT32_MAX / 12)
        return sn_fail(
            ctx, SN_ERR_INVALID_ARGUMENT,
            "contact would watch %lld points of the surface, at most %d are possible: the tets are "
            "far too fine for its triangles",
            (long long)count, INT32_MAX / 12);
    SN_TRY_NEW(ctx, job->out.node, 4 * (size_t)count);
    SN_TRY_NEW_ZEROED(ctx, job->out.weight, 4 * (size_t)count);
    SN_TRY_NEW(ctx, job->out.vertex, count);
    SN_TRY_NEW_ZEROED(ctx, job->out.triangle, count);
    SN_TRY_NEW_ZEROED(ctx, job->out.area, count);
    SN_TRY_NEW(ctx, job->out.stiffness, count);
    SN_TRY_NEW(ctx, job->place, 3 * (size_t)count);
cleanup:
    return status;
}

static void add_vertices(proxy_job *job) {
    const sn_proxy_source *s = job->source;
    size_t count = (size_t)s->vertex_count;
    memcpy(job->out.node, s->vertex_node, 4 * count * sizeof *s->vertex_node);
    memcpy(job->out.weight, s->vertex_weight, 4 * count * sizeof *s->vertex_weight);
    memcpy(job->place, job->vertex_place, 3 * count * sizeof *job->place);
    for (int32_t v = 0; v < s->vertex_count; v++)
        job->out.vertex[v] = v;
    job->out.count = s->vertex_count;
}

/// Joins the weights of up to three vertices to those of at most four nodes; false if there are more.
static bool join_weights(const sn_proxy_source *s, const int32_t vertex[3], const double share[3],
                         int32_t node[4], double weight[4]) {
    int32_t count = 0;
    for (int c = 0; c < 3; c++)
        for (size_t a = 0; a < 4; a++) {
            double w = share[c] * s->vertex_weight[4 * (size_t)vertex[c] + a];
            int32_t n = s->vertex_node[4 * (size_t)vertex[c] + a], at = 0;
            if (w == 0)
                continue;
            while (at < count && node[at] != n)
                at++;
            if (at == 4)
                return false;
            if (at == count)
                node[count] = n, weight[count++] = 0;
            weight[at] += w;
        }
    for (int32_t a = count; a < 4; a++)
        node[a] = node[0], weight[a] = 0;
    return true;
}

static void tet_corners(const sn_proxy_source *s, int32_t tet, double corner[12]) {
    for (size_t a = 0; a < 4; a++)
        memcpy(corner + 3 * a, s->rest + 3 * (size_t)s->tets[4 * (size_t)(s->tet_begin + tet) + a],
               3 * sizeof *corner);
}

static sn_status plant_tree(proxy_job *job) {
    const sn_proxy_source *s = job->source;
    sn_status status = SN_OK;
    if (job->tree)
        return SN_OK;
    SN_TRY_NEW(job->ctx, job->box, 6 * (size_t)s->tet_count);
    sn_tet_boxes(s->tet_count, s->tets + 4 * (size_t)s->tet_begin, s->rest, job->box);
    SN_TRY(sn_bvh_create(job->ctx, s->tet_count, job->box, &job->tree));
cleanup:
    return status;
}

typedef struct tet_search {
    const sn_proxy_source *source;
    const double *point;
} tet_search;

static double measure_tet(void *user, int32_t tet) {
    const tet_search *search = user;
    double corner[12], nearest[3];
    tet_corners(search->source, tet, corner);
    return sn_tet_nearest(search->point, corner, nearest);
}

/// Weights in the tet that holds the point or lies nearest to it; of its copies in that of the point's
/// surface.
static sn_status embed_point(proxy_job *job, const double point[3], int32_t node[4], double weight[4]) {
    sn_status status = plant_tree(job);
    if (status < 0)
        return status;
    tet_search search = {job->source, point};
    int32_t tet = sn_bvh_nearest(job->tree, point, INFINITY, measure_tet, &search, NULL);
    double corner[12];
    SN_ASSERT(tet >= 0);
    tet = sn_tet_copy_at(job->source->copies, tet, point);
    tet_corners(job->source, tet, corner);
    sn_tet_weights(point, corner, weight);
    memcpy(node, job->source->tets + 4 * (size_t)(job->source->tet_begin + tet), 4 * sizeof *node);
    return SN_OK;
}

/// Adds a sample: a weighted sum of three surface vertices.
static sn_status add_sample(proxy_job *job, const int32_t vertex[3], const double share[3]) {
    size_t i = (size_t)job->out.count;
    double *place = job->place + 3 * i;
    for (int k = 0; k < 3; k++) {
        place[k] = 0;
        for (int c = 0; c < 3; c++)
            place[k] += share[c] * job->vertex_place[3 * (size_t)vertex[c] + (size_t)k];
    }
    job->out.vertex[i] = -1;
    int32_t *node = job->out.node + 4 * i;
    double *weight = job->out.weight + 4 * i;
    if (!join_weights(job->source, vertex, share, node, weight)) {
        sn_status status = embed_point(job, place, node, weight);
        if (status < 0)
            return status;
    }
    job->out.count++;
    return SN_OK;
}

static sn_status add_side_samples(proxy_job *job) {
    for (int32_t i = 0; i < job->side_count; i++) {
        surface_side *side = &job->sides[i];
        const int32_t vertex[3] = {side->low, side->high, side->high};
        side->first = job->out.count;
        for (int32_t p = 1; p < side->parts; p++) {
            double part = (double)p / side->parts;
            sn_status status = add_sample(job, vertex, (double[3]){1 - part, part, 0});
            if (status < 0)
                return status;
        }
    }
    return SN_OK;
}

static sn_status add_share(proxy_job *job, int32_t proxy, int32_t triangle, double area) {
    sn_status status = sn_grow(job->ctx, (void **)&job->shares, &job->share_capacity,
                               (size_t)job->share_count + 1, sizeof *job->shares);
    if (status == SN_OK)
        job->shares[job->share_count++] = (area_share){proxy, triangle, area};
    return status;
}

/// Area of a triangle; its unit normal goes to job->normal.
static double measure_triangle(const proxy_job *job, int32_t triangle) {
    const int32_t *v = job->source->triangles + 3 * (size_t)triangle;
    double ab[3], ac[3], *normal = job->normal + 3 * (size_t)triangle;
    const double *a = job->vertex_place + 3 * (size_t)v[0];
    sn_sub3(job->vertex_place + 3 * (size_t)v[1], a, ab);
    sn_sub3(job->vertex_place + 3 * (size_t)v[2], a, ac);
    sn_cross3(ab, ac, normal);
    double length = sn_norm3(normal);
    for (int k = 0; k < 3; k++)
        normal[k] = length > 0 ? normal[k] / length : 0;
    return length / 2;
}

/// Shares a triangle's area out: every point of its grid of `parts` stands for a third of the small triangles
/// at it. A side that is cut coarser than the grid shares out the same sum.
static sn_status share_area(proxy_job *job, int32_t triangle, int32_t parts, int32_t first_inner) {
    sn_status status = SN_OK;
    const int32_t *v = job->source->triangles + 3 * (size_t)triangle;
    double small = measure_triangle(job, triangle) / ((double)parts * parts), along = small * (parts - 1);
    for (int k = 0; k < 3; k++) {
        const surface_side *side = find_side(job, v[k], v[(k + 1) % 3]);
        SN_TRY(add_share(job, v[k], triangle, small / 3));
        for (int32_t p = 0; p < side->parts - 1; p++)
            SN_TRY(add_share(job, side->first + p, triangle, along / (side->parts - 1)));
        if (side->parts > 1 || parts == 1)
            continue;
        SN_TRY(add_share(job, side->low, triangle, along / 2));
        SN_TRY(add_share(job, side->high, triangle, along / 2));
    }
    for (int32_t p = 0; p < inner_count(parts); p++)
        SN_TRY(add_share(job, first_inner + p, triangle, 2 * small));
cleanup:
    return status;
}

static sn_status add_triangle_samples(proxy_job *job) {
    for (int32_t t = 0; t < job->source->triangle_count; t++) {
        int32_t parts = triangle_parts(job, t), first = job->out.count;
        sn_status status = SN_OK;
        for (int32_t i = 1; i < parts; i++)
            for (int32_t j = 1; i + j < parts && status == SN_OK; j++) {
                double share[3] = {(double)(parts - i - j) / parts, (double)i / parts, (double)j / parts};
                status = add_sample(job, job->source->triangles + 3 * (size_t)t, share);
            }
        if (status == SN_OK)
            status = share_area(job, t, parts, first);
        if (status < 0)
            return status;
    }
    return SN_OK;
}

/// Area of a proxy seen from one of its triangles.
static double seen_area(const proxy_job *job, int32_t count, const area_share *shares, int32_t from) {
    double sum = 0;
    for (int32_t i = 0; i < count; i++)
        sum += shares[i].area *
               fmax(0, sn_dot3(job->normal + 3 * (size_t)shares[i].triangle, job->normal + 3 * (size_t)from));
    return sum;
}

static int compare_shares(const void *a, const void *b) {
    const area_share *p = a, *q = b;
    if (p->proxy != q->proxy)
        return p->proxy < q->proxy ? -1 : 1;
    return (p->triangle > q->triangle) - (p->triangle < q->triangle);
}

/// The area of a proxy is what is seen of its parts from the side where most is: at an edge of a block what
/// one face has, which is what a floor presses on.
static void measure_areas(proxy_job *job) {
    if (job->share_count > 0)
        qsort(job->shares, (size_t)job->share_count, sizeof *job->shares, compare_shares);
    for (int32_t begin = 0, end; begin < job->share_count; begin = end) {
        const area_share *shares = job->shares + begin;
        double *area = job->out.area + shares->proxy;
        job->out.triangle[shares->proxy] = shares->triangle;
        for (end = begin; end < job->share_count && job->shares[end].proxy == shares->proxy;)
            end++;
        for (int32_t i = 0; i < end - begin; i++)
            *area = fmax(*area, seen_area(job, end - begin, shares, shares[i].triangle));
    }
}

static bool is_moved_by_steps(const sn_proxy_source *s, const int32_t node[4], const double weight[4]) {
    for (int a = 0; a < 4; a++)
        if (weight[a] != 0 && !s->pinned[node[a]])
            return true;
    return false;
}

/// The nodes carry a point like springs in a row: what they yield adds up, so that a soft one counts.
static double stiffness_at(const proxy_job *job, const int32_t node[4], const double weight[4]) {
    double yield = 0, sum = 0;
    for (int a = 0; a < 4; a++) {
        // Weights outside of the tet are negative, and stiffness must not be.
        yield += fabs(weight[a]) / job->node_stiffness[node[a] - job->source->node_begin];
        sum += fabs(weight[a]);
    }
    return sum / yield;
}

/// Leaves out points without area and those that only pinned nodes carry, and sets the stiffness of the rest.
static void finish_proxies(proxy_job *job) {
    const sn_proxy_source *s = job->source;
    sn_proxies *p = &job->out;
    int32_t kept = 0;
    for (int32_t i = 0; i < p->count; i++) {
        const int32_t *node = p->node + 4 * (size_t)i;
        const double *weight = p->weight + 4 * (size_t)i;
        if (!(p->area[i] > 0) || !is_moved_by_steps(s, node, weight))
            continue;
        p->stiffness[kept] = stiffness_at(job, node, weight);
        p->area[kept] = p->area[i];
        p->vertex[kept] = p->vertex[i];
        p->triangle[kept] = p->triangle[i];
        memmove(p->node + 4 * (size_t)kept, node, 4 * sizeof *node);
        memmove(p->weight + 4 * (size_t)kept, weight, 4 * sizeof *weight);
        kept++;
    }
    p->count = kept;
    p->edge = s->spacing;
}

static sn_status run_job(proxy_job *job) {
    const sn_proxy_source *s = job->source;
    sn_status status = SN_OK;
    int64_t count = s->vertex_count;
    SN_TRY_NEW(job->ctx, job->vertex_place, 3 * (size_t)s->vertex_count);
    SN_TRY_NEW(job->ctx, job->normal, 3 * (size_t)s->triangle_count);
    place_vertices(job);
    SN_TRY(average_stiffness(job));
    SN_TRY(find_sides(job));
    for (int32_t i = 0; i < job->side_count; i++)
        count += job->sides[i].parts - 1;
    for (int32_t t = 0; t < s->triangle_count; t++)
        count += inner_count(triangle_parts(job, t));
    SN_TRY(allocate(job, count));
    add_vertices(job);
    SN_TRY(add_side_samples(job));
    SN_TRY(add_triangle_samples(job));
    measure_areas(job);
    finish_proxies(job);
cleanup:
    return status;
}

sn_status sn_proxies_create(sn_context *ctx, const sn_proxy_source *source, sn_proxies *out) {
    proxy_job job = {.ctx = ctx, .source = source};
    sn_status status = run_job(&job);
    SN_RELEASE(ctx, job.vertex_place);
    SN_RELEASE(ctx, job.node_stiffness);
    SN_RELEASE(ctx, job.sides);
    SN_RELEASE(ctx, job.place);
    SN_RELEASE(ctx, job.normal);
    SN_RELEASE(ctx, job.shares);
    SN_RELEASE(ctx, job.box);
    sn_bvh_destroy(&job.tree);
    if (status == SN_OK)
        *out = job.out;
    else
        sn_proxies_clear(ctx, &job.out);
    return status;
}

void sn_proxies_clear(sn_context *ctx, sn_proxies *proxies) {
    SN_RELEASE(ctx, proxies->node);
    SN_RELEASE(ctx, proxies->weight);
    SN_RELEASE(ctx, proxies->vertex);
    SN_RELEASE(ctx, proxies->triangle);
    SN_RELEASE(ctx, proxies->area);
    SN_RELEASE(ctx, proxies->stiffness);
    proxies->count = 0;
}
