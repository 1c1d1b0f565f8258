#include "io/io_preview_surface.h"

#include "math/math_mat3.h"
#include "mesh/mesh_topology.h"

#include <string.h>

/// Cosine of the angle between normals from which on an edge is sharp: 50 degrees.
static const double sharp_cosine = 0.64278760968653932632;

// ---- Normals

/// Twice the area along the normal; zero for a triangle with numbers that are not finite.
static void face_vector(const double *position, const int32_t *vertex, double out[3]) {
    const double *a = position + 3 * (size_t)vertex[0];
    double u[3], v[3];
    sn_sub3(position + 3 * (size_t)vertex[1], a, u);
    sn_sub3(position + 3 * (size_t)vertex[2], a, v);
    sn_cross3(u, v, out);
    if (!isfinite(out[0]) || !isfinite(out[1]) || !isfinite(out[2]))
        memset(out, 0, 3 * sizeof *out);
}

/// Makes a vector a unit vector unless it is zero.
static void normalize(double v[3]) {
    if (v[0] != 0 || v[1] != 0 || v[2] != 0)
        sn_unit3(v, v);
}

void sn_preview_surface_normals(const sn_preview_surface *surface, const double *position, double *out) {
    memset(out, 0, 3 * (size_t)surface->corner_count * sizeof *out);
    for (int64_t t = 0; t < surface->triangle_count; t++) {
        const int32_t *corner = surface->triangle + 3 * t;
        int32_t vertex[3];
        double face[3];
        for (int k = 0; k < 3; k++)
            vertex[k] = surface->vertex_of[corner[k]];
        face_vector(position, vertex, face);
        for (int k = 0; k < 3; k++)
            for (int axis = 0; axis < 3; axis++)
                out[3 * (size_t)corner[k] + (size_t)axis] += face[axis];
    }
    for (int64_t i = 0; i < surface->corner_count; i++)
        normalize(out + 3 * i);
}

// ---- Sharp edges

static double face_cosine(const double *position, const int32_t *a, const int32_t *b) {
    double p[3], q[3];
    face_vector(position, a, p);
    face_vector(position, b, q);
    normalize(p);
    normalize(q);
    return sn_dot3(p, q);
}

/// Joins the corners of two triangles at an edge that they share. Edge e runs from corner e of all to the
/// next one of its triangle.
static void join_at_edge(const int32_t *triangle, int32_t e, int32_t other, int32_t *parent) {
    int32_t next = e - e % 3 + (e + 1) % 3, other_next = other - other % 3 + (other + 1) % 3;
    bool same = triangle[other] == triangle[e];
    sn_set_join(parent, e, same ? other : other_next);
    sn_set_join(parent, next, same ? other_next : other);
}

/// Sets of corners that share a normal: over all edges that are not sharp.
static sn_status join_corners(sn_context *ctx, int32_t vertex_count, const double *position, int32_t count,
                              const int32_t *triangle, int32_t *parent) {
    sn_status status = SN_OK;
    int32_t *edge = NULL, *order = NULL;
    SN_TRY_NEW(ctx, edge, 2 * (size_t)count);
    SN_TRY_NEW(ctx, order, count);
    for (int32_t corner = 0; corner < count; corner++) {
        parent[corner] = corner;
        edge[2 * (size_t)corner] = triangle[corner];
        edge[2 * (size_t)corner + 1] = triangle[corner - corner % 3 + (corner + 1) % 3];
    }
    SN_TRY(sn_tuple_order(ctx, vertex_count, count, 2, edge, order));
    for (int32_t i = 0, first = 0; i < count; i++) {
        if (!sn_tuple_same(2, edge + 2 * (size_t)order[first], edge + 2 * (size_t)order[i]))
            first = i;
        int32_t e = order[i], other = order[first];
        if (i > first &&
            face_cosine(position, triangle + (e - e % 3), triangle + (other - other % 3)) >= sharp_cosine)
            join_at_edge(triangle, e, other, parent);
    }
cleanup:
    SN_RELEASE(ctx, edge);
    SN_RELEASE(ctx, order);
    return status;
}

sn_status sn_preview_surface_create(sn_context *ctx, int32_t vertex_count, const double *position,
                                    int32_t triangle_count, const int32_t *triangle,
                                    sn_preview_surface *surface) {
    sn_status status = SN_OK;
    int32_t *parent = NULL, *number = NULL;
    if (triangle_count > INT32_MAX / 3)
        return sn_fail(ctx, SN_ERR_NO_MEMORY, "the preview draws at most %d triangles a body, not %d",
                       INT32_MAX / 3, triangle_count);
    int32_t count = 3 * triangle_count;
    *surface =
        (sn_preview_surface){.ctx = ctx, .vertex_count = vertex_count, .triangle_count = triangle_count};
    SN_TRY_NEW(ctx, parent, count);
    SN_TRY_NEW(ctx, number, count);
    SN_TRY_NEW(ctx, surface->triangle, count);
    SN_TRY_NEW(ctx, surface->vertex_of, count);
    SN_TRY(join_corners(ctx, vertex_count, position, count, triangle, parent));
    for (int32_t corner = 0; corner < count; corner++) {
        // The root is the first of its set.
        int32_t root = sn_set_find(parent, corner);
        if (root == corner) {
            number[corner] = surface->corner_count;
            surface->vertex_of[surface->corner_count++] = triangle[corner];
        }
        surface->triangle[corner] = number[root];
    }
cleanup:
    SN_RELEASE(ctx, parent);
    SN_RELEASE(ctx, number);
    if (status < 0)
        sn_preview_surface_release(surface);
    return status;
}

void sn_preview_surface_release(sn_preview_surface *surface) {
    if (!surface->ctx)
        return;
    SN_RELEASE(surface->ctx, surface->triangle);
    SN_RELEASE(surface->ctx, surface->vertex_of);
    SN_RELEASE(surface->ctx, surface->position);
    *surface = (sn_preview_surface){0};
}

// ---- Rigid shapes

enum {
    AROUND = 48, ///< Corners of a capsule's rings.
    CAP = 12     ///< Rings of half a sphere, its tip being a single point.
};

static void put_triangle(int32_t **at, int32_t a, int32_t b, int32_t c) {
    (*at)[0] = a;
    (*at)[1] = b;
    (*at)[2] = c;
    *at += 3;
}

/// A capsule, or a sphere, whose ends are one and which has one ring less.
typedef struct capsule {
    double end[2][3], radius;
    double u[3], v[3], w[3]; ///< Unit vectors, w from one end to the other.
    int32_t ring_count;
} capsule;

static capsule make_capsule(const sn_shape_def *shape) {
    capsule c = {.radius = shape->radius};
    const double *other = shape->kind == SN_SHAPE_SPHERE ? shape->point : shape->point2;
    memcpy(c.end[0], shape->point, sizeof c.end[0]);
    memcpy(c.end[1], other, sizeof c.end[1]);
    sn_sub3(c.end[1], c.end[0], c.w);
    bool is_long = sn_norm3(c.w) > 0;
    c.ring_count = is_long ? 2 * CAP : 2 * CAP - 1;
    c.w[1] += is_long ? 0 : 1;
    sn_unit3(c.w, c.w);
    double x[3] = {fabs(c.w[0]) < 0.6, fabs(c.w[0]) >= 0.6, 0};
    sn_cross3(c.w, x, c.u);
    sn_unit3(c.u, c.u);
    sn_cross3(c.w, c.u, c.v);
    return c;
}

static void capsule_vertices(const capsule *c, double *position) {
    for (int32_t ring = 0; ring < c->ring_count; ring++) {
        bool far = ring >= CAP;
        int32_t step = far ? ring + CAP - c->ring_count + 1 : ring + 1;
        double angle = (far ? step - 1 : step - CAP) * SN_PI / (2 * CAP);
        for (int32_t i = 0; i < AROUND; i++, position += 3) {
            double x = c->radius * cos(angle) * cos(2 * SN_PI * i / AROUND);
            double y = c->radius * cos(angle) * sin(2 * SN_PI * i / AROUND);
            for (int k = 0; k < 3; k++)
                position[k] = c->end[far][k] + x * c->u[k] + y * c->v[k] + c->radius * sin(angle) * c->w[k];
        }
    }
    for (int tip = 0; tip < 2; tip++, position += 3)
        for (int k = 0; k < 3; k++)
            position[k] = c->end[tip][k] + (tip ? 1 : -1) * c->radius * c->w[k];
}

static void capsule_triangles(const capsule *c, int32_t *at) {
    const int32_t low = c->ring_count * AROUND, high = low + 1, last = low - AROUND;
    for (int32_t i = 0; i < AROUND; i++) {
        int32_t next = (i + 1) % AROUND;
        put_triangle(&at, low, next, i);
        for (int32_t ring = 0; ring < last; ring += AROUND) {
            put_triangle(&at, ring + i, ring + next, ring + AROUND + next);
            put_triangle(&at, ring + i, ring + AROUND + next, ring + AROUND + i);
        }
        put_triangle(&at, high, last + i, last + next);
    }
}

static sn_status capsule_surface(sn_context *ctx, const sn_shape_def *shape, sn_preview_surface *surface) {
    sn_status status = SN_OK;
    double *position = NULL;
    int32_t *triangle = NULL;
    const capsule c = make_capsule(shape);
    int32_t vertex_count = c.ring_count * AROUND + 2, triangle_count = 2 * c.ring_count * AROUND;
    SN_TRY_NEW(ctx, position, 3 * vertex_count);
    SN_TRY_NEW(ctx, triangle, 3 * triangle_count);
    capsule_vertices(&c, position);
    capsule_triangles(&c, triangle);
    SN_TRY(sn_preview_surface_create(ctx, vertex_count, position, triangle_count, triangle, surface));
    surface->position = position;
    position = NULL;
cleanup:
    SN_RELEASE(ctx, position);
    SN_RELEASE(ctx, triangle);
    return status;
}

static sn_status box_surface(sn_context *ctx, const sn_shape_def *shape, sn_preview_surface *surface) {
    // Corner i lies on the upper side of axis k where bit k of i is set.
    static const int32_t triangle[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                                            {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    sn_status status = SN_OK;
    double *position = NULL;
    SN_TRY_NEW(ctx, position, 3 * 8);
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++)
            position[3 * i + k] = shape->point[k] + (i >> k & 1 ? 1 : -1) * shape->half_size[k];
    SN_TRY(sn_preview_surface_create(ctx, 8, position, 12, triangle[0], surface));
    surface->position = position;
    position = NULL;
cleanup:
    SN_RELEASE(ctx, position);
    return status;
}

static sn_status mesh_surface(sn_context *ctx, const sn_mesh_data *data, sn_preview_surface *surface) {
    sn_status status = SN_OK;
    int32_t count = 0, *triangle = NULL;
    SN_TRY(sn_mesh_data_triangles(data, &count, &triangle));
    SN_TRY(sn_preview_surface_create(ctx, data->vertex_count, data->position, count, triangle, surface));
    status = sn_new_copy(ctx, data->position, 3 * (size_t)data->vertex_count, sizeof *data->position,
                         (void **)&surface->position);
    if (status < 0)
        sn_preview_surface_release(surface);
cleanup:
    if (triangle)
        sn_mesh_data_free_array(data, triangle);
    return status;
}

sn_status sn_preview_surface_of_shape(sn_context *ctx, const sn_shape_def *shape,
                                      sn_preview_surface *surface) {
    switch (shape->kind) {
    case SN_SHAPE_SPHERE:
    case SN_SHAPE_CAPSULE:
        return capsule_surface(ctx, shape, surface);
    case SN_SHAPE_BOX:
        return box_surface(ctx, shape, surface);
    case SN_SHAPE_MESH:
        return mesh_surface(ctx, shape->surface, surface);
    default:
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "the preview has no surface for a plane");
    }
}
