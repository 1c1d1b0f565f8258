#include "geom/geom_surface.h"

#include "math/math_mat3.h"

#include <stdlib.h>
#include <string.h>

/// Points of a triangle nearer than this to an edge or corner, in its longest edge, lie on it.
static const double ON_EDGE = 1e-9;

/// Triangles thinner than this, in their longer edges, are flat: their normals are rounding.
static const double FLAT = 1e-12;

/// Sums of unit normals shorter than this have canceled.
static const double CANCELED = 1e-6;

/// An edge as one triangle runs through it.
struct sn_surface_edge {
    int32_t low, high; ///< its vertices
    int32_t triangle, corner;
};

// ---- Joining vertices

typedef struct vertex_place {
    double x[3];
    int32_t vertex;
} vertex_place;

static int compare_places(const void *a, const void *b) {
    const vertex_place *p = a, *q = b;
    for (int c = 0; c < 3; c++)
        if (p->x[c] != q->x[c])
            return p->x[c] < q->x[c] ? -1 : 1;
    return p->vertex < q->vertex ? -1 : p->vertex > q->vertex;
}

static bool is_same_place(const vertex_place *p, const vertex_place *q) {
    return p->x[0] == q->x[0] && p->x[1] == q->x[1] && p->x[2] == q->x[2];
}

/// Lets triangles name the first of all vertices at a place: files split vertices where textures end.
static sn_status join_vertices(sn_surface *surface) {
    sn_status status = SN_OK;
    sn_context *ctx = surface->context;
    vertex_place *sorted = NULL;
    int32_t *first = NULL;
    SN_TRY_NEW(ctx, sorted, surface->vertex_count);
    SN_TRY_NEW(ctx, first, surface->vertex_count);
    for (int32_t v = 0; v < surface->vertex_count; v++) {
        memcpy(sorted[v].x, surface->position + 3 * (size_t)v, sizeof sorted[v].x);
        sorted[v].vertex = v;
    }
    qsort(sorted, (size_t)surface->vertex_count, sizeof *sorted, compare_places);
    for (int32_t i = 0; i < surface->vertex_count; i++) {
        bool repeats = i > 0 && is_same_place(&sorted[i - 1], &sorted[i]);
        first[sorted[i].vertex] = repeats ? first[sorted[i - 1].vertex] : sorted[i].vertex;
    }
    for (size_t i = 0; i < 3 * (size_t)surface->triangle_count; i++)
        surface->triangle[i] = first[surface->triangle[i]];
cleanup:
    SN_RELEASE(ctx, sorted);
    SN_RELEASE(ctx, first);
    return status;
}

// ---- Edges

static int compare_edges(const void *a, const void *b) {
    const sn_surface_edge *p = a, *q = b;
    if (p->low != q->low)
        return p->low < q->low ? -1 : 1;
    if (p->high != q->high)
        return p->high < q->high ? -1 : 1;
    return p->triangle < q->triangle ? -1 : p->triangle > q->triangle;
}

/// Edges of the triangles with three different vertices, sorted; the others bound nothing. Returns how many.
static size_t sort_edges(const sn_surface *surface, sn_surface_edge *edge) {
    size_t count = 0;
    for (int32_t t = 0; t < surface->triangle_count; t++) {
        const int32_t *v = surface->triangle + 3 * (size_t)t;
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0])
            continue;
        for (int32_t k = 0; k < 3; k++) {
            int32_t a = v[k], b = v[(k + 1) % 3];
            edge[count++] = (sn_surface_edge){a < b ? a : b, a < b ? b : a, t, k};
        }
    }
    qsort(edge, count, sizeof *edge, compare_edges);
    return count;
}

/// End of the group of equal edges that begins at `first`.
static size_t group_end(const sn_surface_edge *edge, size_t count, size_t first) {
    size_t end = first + 1;
    while (end < count && edge[end].low == edge[first].low && edge[end].high == edge[first].high)
        end++;
    return end;
}

static void link_neighbors(sn_surface *surface) {
    const sn_surface_edge *edge = surface->edge;
    size_t count = sort_edges(surface, surface->edge);
    memset(surface->neighbor, -1, 3 * (size_t)surface->triangle_count * sizeof *surface->neighbor);
    for (size_t i = 0, end; i < count; i = end) {
        end = group_end(edge, count, i);
        if (end - i != 2)
            continue;
        surface->neighbor[3 * (size_t)edge[i].triangle + (size_t)edge[i].corner] = edge[i + 1].triangle;
        surface->neighbor[3 * (size_t)edge[i + 1].triangle + (size_t)edge[i + 1].corner] = edge[i].triangle;
    }
}

static bool is_balanced(const sn_surface *surface) {
    const sn_surface_edge *edge = surface->edge;
    size_t count = sort_edges(surface, surface->edge);
    for (size_t i = 0, end; i < count; i = end) {
        end = group_end(edge, count, i);
        int64_t forward = 0;
        for (size_t k = i; k < end; k++) {
            bool runs_up =
                surface->triangle[3 * (size_t)edge[k].triangle + (size_t)edge[k].corner] == edge[k].low;
            forward += runs_up ? 1 : -1;
        }
        if (forward != 0)
            return false;
    }
    return true;
}

// ---- Turning triangles alike

static void turn_triangle(sn_surface *surface, int32_t triangle) {
    int32_t *v = surface->triangle + 3 * (size_t)triangle, *beyond = surface->neighbor + 3 * (size_t)triangle;
    int32_t vertex = v[1], neighbor = beyond[0];
    v[1] = v[2], v[2] = vertex;
    beyond[0] = beyond[2], beyond[2] = neighbor;
}

/// Whether two triangles run the same way through the edge from `corner` of the first: one is turned over.
static bool runs_alike(const sn_surface *surface, int32_t triangle, int32_t corner, int32_t other) {
    const int32_t *v = surface->triangle + 3 * (size_t)triangle, *w = surface->triangle + 3 * (size_t)other;
    for (int k = 0; k < 3; k++)
        if (w[k] == v[corner] && w[(k + 1) % 3] == v[(corner + 1) % 3])
            return true;
    return false;
}

static double triangle_area(const sn_surface *surface, int32_t triangle) {
    const int32_t *v = surface->triangle + 3 * (size_t)triangle;
    const double *a = surface->position + 3 * (size_t)v[0];
    double ab[3], ac[3], normal[3];
    sn_sub3(surface->position + 3 * (size_t)v[1], a, ab);
    sn_sub3(surface->position + 3 * (size_t)v[2], a, ac);
    sn_cross3(ab, ac, normal);
    return 0.5 * sn_norm3(normal);
}

/// Who has been reached on the walk over the surface, and who is turned over against the first of its piece.
typedef enum walk_mark { NOT_REACHED = 0, UPRIGHT = 1, TURNED = 2 } walk_mark;

/// Appends the piece of a triangle to the order; returns where it ends.
static int32_t walk_piece(const sn_surface *surface, uint8_t *mark, int32_t triangle, int32_t begin) {
    int32_t *order = surface->order, end = begin;
    mark[triangle] = UPRIGHT;
    order[end++] = triangle;
    for (int32_t i = begin; i < end; i++)
        for (int32_t k = 0; k < 3; k++) {
            int32_t t = order[i], beyond = surface->neighbor[3 * (size_t)t + (size_t)k];
            if (beyond < 0 || mark[beyond] != NOT_REACHED)
                continue;
            bool turned = (mark[t] == TURNED) != runs_alike(surface, t, k, beyond);
            mark[beyond] = turned ? TURNED : UPRIGHT;
            order[end++] = beyond;
        }
    return end;
}

/// Turns the smaller part of a piece over.
static void settle_piece(sn_surface *surface, const uint8_t *mark, int32_t begin, int32_t end) {
    double area[3] = {0};
    for (int32_t i = begin; i < end; i++)
        area[mark[surface->order[i]]] += triangle_area(surface, surface->order[i]);
    walk_mark wrong = area[TURNED] > area[UPRIGHT] ? UPRIGHT : TURNED;
    for (int32_t i = begin; i < end; i++)
        if (mark[surface->order[i]] == wrong)
            turn_triangle(surface, surface->order[i]);
}

static sn_status turn_alike(sn_surface *surface) {
    sn_status status = SN_OK;
    sn_context *ctx = surface->context;
    uint8_t *mark = NULL;
    int32_t end = 0;
    SN_TRY_NEW_ZEROED(ctx, mark, surface->triangle_count);
    for (int32_t t = 0; t < surface->triangle_count; t++) {
        if (mark[t] != NOT_REACHED)
            continue;
        int32_t begin = end;
        surface->piece_begin[surface->piece_count++] = begin;
        end = walk_piece(surface, mark, t, begin);
        settle_piece(surface, mark, begin, end);
    }
    surface->piece_begin[surface->piece_count] = end;
cleanup:
    SN_RELEASE(ctx, mark);
    return status;
}

sn_status sn_surface_create(sn_context *ctx, int32_t vertex_count, const double *position,
                            int32_t triangle_count, const int32_t *triangle, sn_surface **out_surface) {
    sn_status status = SN_OK;
    sn_surface *surface = NULL;
    size_t corners = 3 * (size_t)triangle_count;
    SN_TRY_NEW_ZEROED(ctx, surface, 1);
    surface->context = ctx;
    surface->vertex_count = vertex_count;
    surface->triangle_count = triangle_count;
    SN_TRY(
        sn_new_copy(ctx, position, 3 * (size_t)vertex_count, sizeof *position, (void **)&surface->position));
    SN_TRY(sn_new_copy(ctx, triangle, corners, sizeof *triangle, (void **)&surface->triangle));
    SN_TRY_NEW(ctx, surface->neighbor, corners);
    SN_TRY_NEW(ctx, surface->order, triangle_count);
    SN_TRY_NEW(ctx, surface->piece_begin, (size_t)triangle_count + 1);
    SN_TRY_NEW(ctx, surface->edge, corners);
    for (size_t i = 0; i < corners; i++)
        for (size_t c = 0; c < 3; c++)
            surface->reach = fmax(surface->reach, fabs(position[3 * (size_t)triangle[i] + c]));
    SN_TRY(join_vertices(surface));
    link_neighbors(surface);
    SN_TRY(turn_alike(surface));
    *out_surface = surface;
    surface = NULL;
cleanup:
    sn_surface_destroy(&surface);
    return status;
}

void sn_surface_destroy(sn_surface **surface) {
    if (!surface || !*surface)
        return;
    sn_context *ctx = (*surface)->context;
    sn_release(ctx, (*surface)->position);
    sn_release(ctx, (*surface)->triangle);
    sn_release(ctx, (*surface)->neighbor);
    sn_release(ctx, (*surface)->order);
    sn_release(ctx, (*surface)->piece_begin);
    sn_release(ctx, (*surface)->face_normal);
    sn_release(ctx, (*surface)->vertex_normal);
    sn_release(ctx, (*surface)->edge);
    sn_release(ctx, *surface);
    *surface = NULL;
}

void sn_surface_turn(sn_surface *surface, int32_t piece) {
    for (int32_t i = surface->piece_begin[piece]; i < surface->piece_begin[piece + 1]; i++)
        turn_triangle(surface, surface->order[i]);
}

// ---- Normals

/// Normal of a triangle, 0 if it is flat; adds it to its corners, weighted with the angles there.
static void add_face(sn_surface *surface, int32_t triangle) {
    const int32_t *v = surface->triangle + 3 * (size_t)triangle;
    double *face = surface->face_normal + 3 * (size_t)triangle;
    memset(face, 0, 3 * sizeof *face);
    for (int k = 0; k < 3; k++) {
        const double *a = surface->position + 3 * (size_t)v[k];
        double ab[3], ac[3], normal[3], *sum = surface->vertex_normal + 3 * (size_t)v[k];
        sn_sub3(surface->position + 3 * (size_t)v[(k + 1) % 3], a, ab);
        sn_sub3(surface->position + 3 * (size_t)v[(k + 2) % 3], a, ac);
        sn_cross3(ab, ac, normal);
        double length = sn_norm3(normal);
        if (k == 0 && !(length > FLAT * fmax(sn_dot3(ab, ab), sn_dot3(ac, ac))))
            return;
        if (k == 0)
            sn_unit3(normal, face);
        double angle = atan2(length, sn_dot3(ab, ac));
        for (int c = 0; c < 3; c++)
            sum[c] += angle * face[c];
    }
}

/// Divides a sum of normals by its length, or sets it to 0 if that has canceled.
static void end_sum(double sum[3]) {
    if (sn_norm3(sum) > CANCELED)
        sn_unit3(sum, sum);
    else
        memset(sum, 0, 3 * sizeof *sum);
}

/// Gives a flat triangle the mean normal of its corners, or any.
static void mend_face(sn_surface *surface, int32_t triangle) {
    const int32_t *v = surface->triangle + 3 * (size_t)triangle;
    double sum[3] = {0}, *face = surface->face_normal + 3 * (size_t)triangle;
    if (face[0] != 0 || face[1] != 0 || face[2] != 0)
        return;
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++)
            sum[c] += surface->vertex_normal[3 * (size_t)v[k] + (size_t)c];
    end_sum(sum);
    if (!(sn_dot3(sum, sum) > 0))
        sum[2] = 1;
    memcpy(face, sum, sizeof sum);
}

sn_status sn_surface_finish(sn_surface *surface) {
    sn_status status = SN_OK;
    sn_context *ctx = surface->context;
    SN_TRY_NEW(ctx, surface->face_normal, 3 * (size_t)surface->triangle_count);
    SN_TRY_NEW_ZEROED(ctx, surface->vertex_normal, 3 * (size_t)surface->vertex_count);
    surface->closed = is_balanced(surface);
    SN_RELEASE(ctx, surface->edge);
    for (int32_t t = 0; t < surface->triangle_count; t++)
        add_face(surface, t);
    for (size_t v = 0; v < (size_t)surface->vertex_count; v++)
        end_sum(surface->vertex_normal + 3 * v);
    for (int32_t t = 0; t < surface->triangle_count; t++)
        mend_face(surface, t);
cleanup:
    return status;
}

/// Corner or edge of a triangle that a point of it lies on: 0 to 2 a corner, 3 to 5 the edge that starts at a
/// corner, -1 neither.
static int place_feature(const double *const corner[3], const double place[3]) {
    double edge[3][3], arm[3][3], length[3], across[3], longest = 0;
    for (int k = 0; k < 3; k++) {
        sn_sub3(corner[(k + 1) % 3], corner[k], edge[k]);
        sn_sub3(place, corner[k], arm[k]);
        length[k] = sn_norm3(edge[k]);
        longest = fmax(longest, length[k]);
    }
    for (int k = 0; k < 3; k++)
        if (sn_norm3(arm[k]) <= ON_EDGE * longest)
            return k;
    for (int k = 0; k < 3; k++) {
        sn_cross3(arm[k], edge[k], across);
        if (sn_norm3(across) <= ON_EDGE * longest * length[k])
            return 3 + k;
    }
    return -1;
}

bool sn_surface_normal(const sn_surface *surface, int32_t triangle, const double place[3],
                       double out_normal[3]) {
    const int32_t *v = surface->triangle + 3 * (size_t)triangle;
    const double *face = surface->face_normal + 3 * (size_t)triangle;
    const double *corner[3] = {surface->position + 3 * (size_t)v[0], surface->position + 3 * (size_t)v[1],
                               surface->position + 3 * (size_t)v[2]};
    double sum[3] = {0};
    int feature = place_feature(corner, place);
    if (feature >= 3) {
        int32_t beyond = surface->neighbor[3 * (size_t)triangle + (size_t)feature - 3];
        for (int c = 0; c < 3; c++)
            sum[c] = face[c] + (beyond >= 0 ? surface->face_normal[3 * (size_t)beyond + (size_t)c] : 0);
    } else if (feature >= 0) {
        memcpy(sum, surface->vertex_normal + 3 * (size_t)v[feature], sizeof sum);
    }
    // Also where the faces around cancel, as on the rim of a sheet without thickness.
    if (sn_norm3(sum) > CANCELED)
        sn_unit3(sum, out_normal);
    else
        memcpy(out_normal, face, 3 * sizeof *face);
    return feature < 0;
}
