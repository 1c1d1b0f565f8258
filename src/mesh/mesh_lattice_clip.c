#include "mesh/mesh_lattice_clip.h"

#include "math/math_mat3.h"
#include "mesh/mesh_topology.h"

#include <string.h>

/// A way passes a triangle if it meets its plane so little beyond its edges, in parts of the triangle.
#define RIM 1e-9

/// Ways that run along a triangle within this distance are not told apart from it.
#define ALONG 1e-13

/// Polygons with less area than this have no middle but rounding.
#define AREA_SOUND 1e-30

static double height(const double plane[4], const double point[3]) {
    return sn_dot3(plane, point) + plane[3];
}

/// Plane through three points, positive where `inner` is.
static void plane_through(const double *a, const double *b, const double *c, const double *inner,
                          double plane[4]) {
    double ab[3], ac[3];
    sn_sub3(b, a, ab);
    sn_sub3(c, a, ac);
    sn_cross3(ab, ac, plane);
    plane[3] = -sn_dot3(plane, a);
    if (height(plane, inner) < 0)
        for (int k = 0; k < 4; k++)
            plane[k] = -plane[k];
}

/// The part of a convex polygon where the plane is not negative. Returns its number of corners.
static int32_t cut_polygon(int32_t count, double polygon[SN_CLIP_MAX][3], const double plane[4]) {
    double part[SN_CLIP_MAX + 1][3];
    int32_t used = 0;
    for (int32_t i = 0; i < count; i++) {
        const double *p = polygon[i], *q = polygon[(i + 1) % count];
        double a = height(plane, p), b = height(plane, q);
        if (a >= 0)
            memcpy(part[used++], p, sizeof part[0]);
        if ((a < 0) != (b < 0)) {
            for (int c = 0; c < 3; c++)
                part[used][c] = p[c] + a / (a - b) * (q[c] - p[c]);
            used++;
        }
        // Rounding may let a flat polygon cross the plane more than twice.
        if (used >= SN_CLIP_MAX)
            break;
    }
    used = used < SN_CLIP_MAX ? used : SN_CLIP_MAX;
    memcpy(polygon, part, (size_t)used * sizeof part[0]);
    return used;
}

sn_clip_tet sn_clip_tet_make(const sn_lattice *l, int32_t t) {
    sn_clip_tet tet;
    double edge[9];
    sn_lattice_corners(l, (const int32_t[3]){0, 0, 0}, t, tet.corner);
    for (int f = 0; f < 4; f++)
        plane_through(tet.corner + 3 * sn_tet_faces[f][0], tet.corner + 3 * sn_tet_faces[f][1],
                      tet.corner + 3 * sn_tet_faces[f][2], tet.corner + 3 * f, tet.plane[f]);
    for (int i = 0; i < 3; i++)
        sn_sub3(tet.corner + 3 * (i + 1), tet.corner, edge + 3 * i);
    tet.volume = sn_det3(edge) / 6;
    return tet;
}

void sn_fragment_load(const sn_lattice *l, const int32_t place[3], int32_t touch, sn_fragment *fragment) {
    double ab[3], ac[3], normal[3];
    fragment->triangle = l->touch_triangle[touch];
    fragment->touch = touch;
    for (int i = 0; i < 9; i++)
        fragment->corner[i] = sn_lattice_vertex(l, fragment->triangle, i / 3)[i % 3] - 2.0 * place[i % 3];
    sn_sub3(fragment->corner + 3, fragment->corner, ab);
    sn_sub3(fragment->corner + 6, fragment->corner, ac);
    sn_cross3(ab, ac, normal);
    double length = sn_norm3(normal);
    for (int c = 0; c < 3; c++)
        fragment->normal[c] = length > 0 ? normal[c] / length : 0;
    fragment->count = 0;
    fragment->area = 0;
    fragment->solid_behind = fragment->solid_before = false;
}

void sn_fragment_clip(const sn_clip_tet *tet, sn_fragment *fragment) {
    double sum[3] = {0};
    fragment->count = 3;
    fragment->area = 0;
    memcpy(fragment->polygon, fragment->corner, sizeof fragment->corner);
    for (int f = 0; f < 4 && fragment->count > 0; f++)
        fragment->count = cut_polygon(fragment->count, fragment->polygon, tet->plane[f]);
    for (int32_t i = 1; i + 1 < fragment->count; i++) {
        const double *a = fragment->polygon[0], *b = fragment->polygon[i], *c = fragment->polygon[i + 1];
        double ab[3], ac[3], normal[3];
        sn_sub3(b, a, ab);
        sn_sub3(c, a, ac);
        sn_cross3(ab, ac, normal);
        double area = 0.5 * sn_norm3(normal);
        fragment->area += area;
        for (int k = 0; k < 3; k++)
            sum[k] += area * (a[k] + b[k] + c[k]) / 3;
    }
    for (int k = 0; k < 3; k++)
        fragment->center[k] = fragment->area > AREA_SOUND ? sum[k] / fragment->area : fragment->corner[k];
}

/// Six times the volume between `eye` and a polygon.
static double cone6(int32_t count, double polygon[SN_CLIP_MAX][3], const double eye[3]) {
    double sum = 0, edge[9];
    for (int32_t i = 1; i + 1 < count; i++) {
        sn_sub3(polygon[0], eye, edge);
        sn_sub3(polygon[i], eye, edge + 3);
        sn_sub3(polygon[i + 1], eye, edge + 6);
        sum += sn_det3(edge);
    }
    return fabs(sum);
}

/// Moves points away from the eye until they lie in a plane that they do not lie beyond.
static void project(int32_t count, double polygon[SN_CLIP_MAX][3], const double plane[4],
                    const double eye[3]) {
    double distance = height(plane, eye);
    for (int32_t i = 0; i < count; i++) {
        double left = height(plane, polygon[i]), way = distance - left;
        double scale = way > 0 ? distance / way : 1;
        for (int c = 0; c < 3; c++)
            polygon[i][c] = eye[c] + scale * (polygon[i][c] - eye[c]);
    }
}

double sn_fragment_shadow(const sn_clip_tet *tet, const sn_fragment *fragment, const double eye[3]) {
    double hidden = 0, way[3];
    // The tet is made of four: the eye with each face. In each of them the fragment is seen on one face.
    for (int f = 0; f < 4; f++) {
        double polygon[SN_CLIP_MAX][3];
        int32_t count = fragment->count;
        memcpy(polygon, fragment->polygon, sizeof polygon);
        for (int side = 0; side < 3 && count > 0; side++) {
            const int32_t *face = sn_tet_faces[f];
            double plane[4];
            plane_through(eye, tet->corner + 3 * face[side], tet->corner + 3 * face[(side + 1) % 3],
                          tet->corner + 3 * face[(side + 2) % 3], plane);
            count = cut_polygon(count, polygon, plane);
        }
        double near = cone6(count, polygon, eye);
        project(count, polygon, tet->plane[f], eye);
        hidden += (cone6(count, polygon, eye) - near) / 6;
    }
    sn_sub3(eye, fragment->center, way);
    return sn_dot3(fragment->normal, way) > 0 ? hidden : -hidden;
}

/// How far within a triangle a place of its plane is: the least of its weights there; -1 for triangles
/// without area. The place is given as part of a way.
static double depth_within(const sn_fragment *fragment, const double from[3], const double way[3],
                           double part) {
    const double *a = fragment->corner;
    double ab[3], ac[3], ap[3], side[3], normal[3];
    for (int c = 0; c < 3; c++)
        ap[c] = from[c] + part * way[c] - a[c];
    sn_sub3(a + 3, a, ab);
    sn_sub3(a + 6, a, ac);
    sn_cross3(ab, ac, normal);
    double area = sn_dot3(normal, normal);
    if (!(area > 0))
        return -1;
    sn_cross3(ap, ac, side);
    double v = sn_dot3(side, normal) / area;
    sn_cross3(ab, ap, side);
    double w = sn_dot3(side, normal) / area;
    return fmin(fmin(v, w), 1 - v - w);
}

/// Distance of a place from a fragment's plane, on the side of its front.
static double rise_above(const sn_fragment *fragment, const double point[3]) {
    double way[3];
    sn_sub3(point, fragment->corner, way);
    return sn_dot3(fragment->normal, way);
}

bool sn_fragment_blocks(const sn_fragment *fragment, const double from[3], const double to[3],
                        double *out_part) {
    double start = rise_above(fragment, from), end = rise_above(fragment, to), way[3];
    if ((start > ALONG && end > ALONG) || (start < -ALONG && end < -ALONG))
        return false;
    double part = start == end ? 0 : start / (start - end);
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    sn_sub3(to, from, way);
    *out_part = part;
    return depth_within(fragment, from, way, part) >= -RIM;
}

/// Whether the rim of a polygon passes through another triangle, well within it.
static bool rim_crosses(const sn_fragment *a, const sn_fragment *b) {
    for (int32_t i = 0; i < a->count; i++) {
        const double *from = a->polygon[i], *to = a->polygon[(i + 1) % a->count];
        double start = rise_above(b, from), end = rise_above(b, to), way[3];
        if (!((start > RIM && end < -RIM) || (start < -RIM && end > RIM)))
            continue;
        sn_sub3(to, from, way);
        if (depth_within(b, from, way, start / (start - end)) > RIM)
            return true;
    }
    return false;
}

bool sn_fragments_cross(const sn_fragment *a, const sn_fragment *b) {
    return rim_crosses(a, b) || rim_crosses(b, a);
}
