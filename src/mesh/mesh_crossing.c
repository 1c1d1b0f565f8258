// Triangles of a surface that cross: candidates by a sweep along x, then exact signs of volumes.
#include "base/base_context.h"
#include "sinew/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Exact signs

/// Products of three coordinates have up to four parts each, and a volume is a sum of 24 of them.
enum { PARTS_MAX = 96 };

typedef struct expansion {
    double part[PARTS_MAX];
    int count;
} expansion;

static void two_sum(double a, double b, double *sum, double *rest) {
    *sum = a + b;
    double other = *sum - a;
    *rest = (a - (*sum - other)) + (b - other);
}

/// Adds a number; the parts stay apart in size, the largest last.
static void grow(expansion *e, double value) {
    int count = 0;
    for (int i = 0; i < e->count; i++) {
        double rest;
        two_sum(value, e->part[i], &value, &rest);
        if (rest != 0)
            e->part[count++] = rest;
    }
    if (value != 0)
        e->part[count++] = value;
    e->count = count;
}

/// Adds sign * a * b * c.
static void add_product(expansion *e, double sign, double a, double b, double c) {
    double high = a * b, low = fma(a, b, -high);
    const double factor[2] = {high, low};
    for (int i = 0; i < 2; i++) {
        double product = factor[i] * c, rest = fma(factor[i], c, -product);
        grow(e, sign * rest);
        grow(e, sign * product);
    }
}

static void add_determinant(expansion *e, double sign, const double a[3], const double b[3],
                            const double c[3]) {
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        add_product(e, sign, a[i], b[j], c[k]);
        add_product(e, -sign, a[i], b[k], c[j]);
    }
}

/// Sign of the volume of a tet: of (a - d) x (b - d) . (c - d).
static int orient(const double a[3], const double b[3], const double c[3], const double d[3]) {
    const double error = 7.8e-16; // (7 + 56 u) u with u = 2^-53, rounded up.
    double side[3][3], sum = 0, size = 0;
    for (int i = 0; i < 3; i++) {
        side[0][i] = a[i] - d[i];
        side[1][i] = b[i] - d[i];
        side[2][i] = c[i] - d[i];
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        double one = side[1][j] * side[2][k], two = side[1][k] * side[2][j];
        sum += side[0][i] * (one - two);
        size += fabs(side[0][i]) * (fabs(one) + fabs(two));
    }
    if (fabs(sum) > error * size)
        return sum > 0 ? 1 : -1;
    expansion exact = {.count = 0};
    add_determinant(&exact, 1, a, b, c);
    add_determinant(&exact, -1, b, c, d);
    add_determinant(&exact, 1, a, c, d);
    add_determinant(&exact, -1, a, b, d);
    return exact.count == 0 ? 0 : exact.part[exact.count - 1] > 0 ? 1 : -1;
}

/// Sign of the area of abc in the plane without `axis`.
static int orient_flat(int axis, const double a[3], const double b[3], const double c[3]) {
    int j = (axis + 1) % 3, k = (axis + 2) % 3;
    const double corner[3][3] = {{a[j], a[k], 0}, {b[j], b[k], 0}, {c[j], c[k], 0}};
    // Over a point of the plane, so that the volume is that of the area.
    const double above[3] = {a[j], a[k], 1};
    return orient(corner[0], corner[1], corner[2], above);
}

// ---- Segments and triangles

typedef const double *place;

static bool boxes_meet_flat(int axis, place p, place q, place a, place b) {
    for (int step = 1; step < 3; step++) {
        int i = (axis + step) % 3;
        if (fmax(p[i], q[i]) < fmin(a[i], b[i]) || fmax(a[i], b[i]) < fmin(p[i], q[i]))
            return false;
    }
    return true;
}

/// Whether closed segments of one plane meet.
static bool segments_meet(int axis, place p, place q, place a, place b) {
    return boxes_meet_flat(axis, p, q, a, b) &&
           orient_flat(axis, a, b, p) * orient_flat(axis, a, b, q) <= 0 &&
           orient_flat(axis, p, q, a) * orient_flat(axis, p, q, b) <= 0;
}

static bool is_inside(int axis, place p, const place triangle[3]) {
    int sign[3];
    for (int i = 0; i < 3; i++)
        sign[i] = orient_flat(axis, triangle[i], triangle[(i + 1) % 3], p);
    return (sign[0] >= 0 && sign[1] >= 0 && sign[2] >= 0) || (sign[0] <= 0 && sign[1] <= 0 && sign[2] <= 0);
}

/// The coordinate that a triangle changes least with: its plane is seen best along it.
static int view_axis(const place t[3]) {
    double largest = -1;
    int axis = 0;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        double area =
            fabs((t[1][j] - t[0][j]) * (t[2][k] - t[0][k]) - (t[1][k] - t[0][k]) * (t[2][j] - t[0][j]));
        if (area > largest) {
            largest = area;
            axis = i;
        }
    }
    return axis;
}

/// Whether a closed segment meets a closed triangle that is not flat.
static bool segment_meets(place p, place q, const place t[3]) {
    int start = orient(t[0], t[1], t[2], p), end = orient(t[0], t[1], t[2], q);
    if (start * end > 0)
        return false;
    if (start == 0 && end == 0) {
        int axis = view_axis(t);
        return is_inside(axis, p, t) || segments_meet(axis, p, q, t[0], t[1]) ||
               segments_meet(axis, p, q, t[1], t[2]) || segments_meet(axis, p, q, t[2], t[0]);
    }
    int sign[3];
    for (int i = 0; i < 3; i++)
        sign[i] = orient(p, q, t[i], t[(i + 1) % 3]);
    return (sign[0] >= 0 && sign[1] >= 0 && sign[2] >= 0) || (sign[0] <= 0 && sign[1] <= 0 && sign[2] <= 0);
}

// ---- Pairs

typedef struct triangle_box {
    double low[3], high[3];
    int32_t triangle;
} triangle_box;

typedef struct placed_vertex {
    double place[3];
    int32_t vertex;
} placed_vertex;

typedef struct crossing_search {
    const double *position;
    const int32_t *triangle;
    int32_t *same; ///< [vertex_count] first vertex at the same place
    triangle_box *box;
    int32_t box_count;
} crossing_search;

static int compare_places(const void *left, const void *right) {
    const placed_vertex *a = left, *b = right;
    for (int i = 0; i < 3; i++)
        if (a->place[i] != b->place[i])
            return a->place[i] < b->place[i] ? -1 : 1;
    return a->vertex < b->vertex ? -1 : a->vertex > b->vertex;
}

static int compare_boxes(const void *left, const void *right) {
    const triangle_box *a = left, *b = right;
    if (a->low[0] != b->low[0])
        return a->low[0] < b->low[0] ? -1 : 1;
    return a->triangle < b->triangle ? -1 : a->triangle > b->triangle;
}

/// Joins vertices at one place; those with NaN or infinity stay alone. `sorted` [vertex_count] is scratch.
static void join_vertices(crossing_search *search, int32_t vertex_count, placed_vertex *sorted) {
    int32_t count = 0;
    for (int32_t v = 0; v < vertex_count; v++) {
        const double *p = search->position + 3 * (size_t)v;
        search->same[v] = v;
        if (isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]))
            sorted[count++] = (placed_vertex){{p[0], p[1], p[2]}, v};
    }
    qsort(sorted, (size_t)count, sizeof *sorted, compare_places);
    for (int32_t i = 1; i < count; i++)
        if (memcmp(sorted[i].place, sorted[i - 1].place, sizeof sorted[i].place) == 0)
            search->same[sorted[i].vertex] = search->same[sorted[i - 1].vertex];
}

static void corners(const crossing_search *search, int32_t triangle, int32_t vertex[3], place at[3]) {
    for (int i = 0; i < 3; i++) {
        vertex[i] = search->same[search->triangle[3 * (size_t)triangle + (size_t)i]];
        at[i] = search->position + 3 * (size_t)vertex[i];
    }
}

/// Whether no plane is that of the triangle, seen from all axes.
static bool is_flat(const place t[3]) {
    for (int axis = 0; axis < 3; axis++)
        if (orient_flat(axis, t[0], t[1], t[2]) != 0)
            return false;
    return true;
}

/// Beyond this products of coordinates could overflow.
static const double largest_place = 1e100;

static void add_box(crossing_search *search, int32_t triangle) {
    triangle_box box = {.triangle = triangle};
    int32_t vertex[3];
    place at[3];
    corners(search, triangle, vertex, at);
    for (int axis = 0; axis < 3; axis++) {
        box.low[axis] = fmin(at[0][axis], fmin(at[1][axis], at[2][axis]));
        box.high[axis] = fmax(at[0][axis], fmax(at[1][axis], at[2][axis]));
        for (int i = 0; i < 3; i++)
            if (!(fabs(at[i][axis]) < largest_place))
                return;
    }
    if (!is_flat(at))
        search->box[search->box_count++] = box;
}

/// Two triangles that share an edge overlap if they lie in one plane on one side of it.
static bool folded(const place a[3], const place b[3], const int shared_a[2], int free_a, int free_b) {
    if (orient(a[0], a[1], a[2], b[free_b]) != 0)
        return false;
    int axis = view_axis(a);
    place begin = a[shared_a[0]], end = a[shared_a[1]];
    return orient_flat(axis, begin, end, a[free_a]) * orient_flat(axis, begin, end, b[free_b]) > 0;
}

static bool cross(const crossing_search *search, int32_t first, int32_t second) {
    int32_t vertex[2][3];
    place at[2][3];
    int shared[2][3], count = 0, lonely[2] = {3, 3};
    corners(search, first, vertex[0], at[0]);
    corners(search, second, vertex[1], at[1]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (vertex[0][i] == vertex[1][j] && count < 3) {
                shared[0][count] = i;
                shared[1][count++] = j;
                lonely[0] -= i;
                lonely[1] -= j;
            }
    if (count == 3)
        return true;
    if (count == 2)
        return folded(at[0], at[1], shared[0], lonely[0], lonely[1]);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3;
            // At the shared vertex they touch anyway.
            if (count == 1 && (i == shared[side][0] || j == shared[side][0]))
                continue;
            if (segment_meets(at[side][i], at[side][j], at[1 - side]))
                return true;
        }
    return false;
}

static bool boxes_meet(const triangle_box *a, const triangle_box *b) {
    return a->low[1] <= b->high[1] && b->low[1] <= a->high[1] && a->low[2] <= b->high[2] &&
           b->low[2] <= a->high[2];
}

/// Sweeps along x: of boxes sorted by their low end, each meets only those that begin before it ends.
static void sweep(crossing_search *search, sn_mesh_crossings *out) {
    const int64_t most = INT64_C(1) << 32;
    int64_t looked_at = 0;
    qsort(search->box, (size_t)search->box_count, sizeof *search->box, compare_boxes);
    for (int32_t i = 0; i < search->box_count; i++)
        for (int32_t j = i + 1; j < search->box_count && search->box[j].low[0] <= search->box[i].high[0];
             j++) {
            int32_t a = search->box[i].triangle, b = search->box[j].triangle;
            int32_t low = a < b ? a : b, high = a < b ? b : a;
            if (++looked_at > most) {
                out->complete = false;
                return;
            }
            if (!boxes_meet(&search->box[i], &search->box[j]) || !cross(search, low, high))
                continue;
            if (out->count == 0 || low < out->first[0] || (low == out->first[0] && high < out->first[1])) {
                out->first[0] = low;
                out->first[1] = high;
            }
            out->count++;
        }
}

sn_status sn_mesh_data_crossings(const sn_mesh_data *data, sn_mesh_crossings *out_crossings) {
    if (!data || !data->context || !out_crossings)
        return SN_ERR_INVALID_ARGUMENT;
    sn_status status = SN_OK;
    sn_context *ctx = data->context;
    int32_t count = 0, *triangles = NULL;
    crossing_search search = {.position = data->position};
    placed_vertex *sorted = NULL;
    sn_mesh_crossings found = {.complete = true};
    SN_TRY(sn_mesh_data_triangles(data, &count, &triangles));
    search.triangle = triangles;
    SN_TRY_NEW(ctx, search.same, data->vertex_count);
    SN_TRY_NEW(ctx, search.box, count);
    SN_TRY_NEW(ctx, sorted, data->vertex_count);
    join_vertices(&search, data->vertex_count, sorted);
    for (int32_t i = 0; i < count; i++)
        add_box(&search, i);
    sweep(&search, &found);
    *out_crossings = found;
cleanup:
    SN_RELEASE(ctx, sorted);
    SN_RELEASE(ctx, search.box);
    SN_RELEASE(ctx, search.same);
    sn_mesh_data_free_array(data, triangles);
    return status;
}
