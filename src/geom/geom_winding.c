#include "geom/geom_winding.h"

#include "geom/geom_predicate.h"
#include "math/math_mat3.h"

enum { STACK_SIZE = 128 };

/// A group acts as a dipole from this many radii on.
#define FAR_RATIO 3.0

void sn_triangle_boxes(int32_t count, const int32_t *triangle, const double *position, double *box) {
    for (int32_t t = 0; t < count; t++)
        for (size_t c = 0; c < 3; c++) {
            const int32_t *v = triangle + 3 * (size_t)t;
            double x = position[3 * (size_t)v[0] + c], y = position[3 * (size_t)v[1] + c],
                   z = position[3 * (size_t)v[2] + c];
            box[6 * (size_t)t + c] = fmin(x, fmin(y, z));
            box[6 * (size_t)t + 3 + c] = fmax(x, fmax(y, z));
        }
}

static const double *corner(const sn_winding *winding, int32_t item, int place) {
    return winding->position + 3 * (size_t)winding->triangle[3 * (size_t)item + place];
}

/// Adds the triangles of a leaf; `weight` sums their areas.
static void add_leaf(const sn_winding *winding, const sn_bvh_node *node, sn_winding_dipole *dipole,
                     double *weight) {
    for (int32_t i = node->first; i < node->first + node->count; i++) {
        const double *a = corner(winding, winding->bvh->item[i], 0),
                     *b = corner(winding, winding->bvh->item[i], 1),
                     *c = corner(winding, winding->bvh->item[i], 2);
        double ab[3], ac[3], normal[3];
        sn_sub3(b, a, ab);
        sn_sub3(c, a, ac);
        sn_cross3(ab, ac, normal);
        double area = 0.5 * sn_norm3(normal);
        *weight += area;
        for (int k = 0; k < 3; k++) {
            dipole->area[k] += 0.5 * normal[k];
            dipole->center[k] += area * (a[k] + b[k] + c[k]) / 3;
        }
    }
}

/// Divides the sums by the weight and finds the radius from the node's box.
static void close_dipole(sn_winding_dipole *dipole, double weight, const sn_bvh_node *node) {
    double reach[3];
    for (int k = 0; k < 3; k++) {
        dipole->center[k] = weight > 0 ? dipole->center[k] / weight : 0.5 * (node->low[k] + node->high[k]);
        reach[k] = fmax(node->high[k] - dipole->center[k], dipole->center[k] - node->low[k]);
    }
    dipole->radius = sn_norm3(reach);
}

static void make_dipoles(sn_winding *winding, double *weight) {
    for (int32_t n = winding->bvh->node_count - 1; n >= 0; n--) {
        const sn_bvh_node *node = &winding->bvh->node[n];
        sn_winding_dipole *dipole = &winding->dipole[n];
        *dipole = (sn_winding_dipole){0};
        weight[n] = 0;
        add_leaf(winding, node, dipole, &weight[n]);
        for (int32_t child = node->first; node->count == 0 && child < node->first + 2; child++) {
            weight[n] += weight[child];
            for (int k = 0; k < 3; k++) {
                dipole->area[k] += winding->dipole[child].area[k];
                dipole->center[k] += weight[child] * winding->dipole[child].center[k];
            }
        }
        close_dipole(dipole, weight[n], node);
    }
}

sn_status sn_winding_create(sn_context *ctx, const double *position, const int32_t *triangle,
                            const sn_bvh *bvh, sn_winding **out_winding) {
    sn_status status = SN_OK;
    sn_winding *winding = NULL;
    double *weight = NULL;
    SN_TRY_NEW_ZEROED(ctx, winding, 1);
    *winding = (sn_winding){.context = ctx, .position = position, .triangle = triangle, .bvh = bvh};
    SN_TRY_NEW(ctx, winding->dipole, bvh->node_count);
    SN_TRY_NEW(ctx, weight, bvh->node_count);
    make_dipoles(winding, weight);
    *out_winding = winding;
    winding = NULL;
cleanup:
    SN_RELEASE(ctx, weight);
    sn_winding_destroy(&winding);
    return status;
}

void sn_winding_destroy(sn_winding **winding) {
    if (!winding || !*winding)
        return;
    sn_context *ctx = (*winding)->context;
    sn_release(ctx, (*winding)->dipole);
    sn_release(ctx, *winding);
    *winding = NULL;
}

static double leaf_angle(const sn_winding *winding, const sn_bvh_node *node, const double point[3]) {
    double angle = 0;
    for (int32_t i = node->first; i < node->first + node->count; i++) {
        int32_t item = winding->bvh->item[i];
        angle += sn_triangle_solid_angle(point, corner(winding, item, 0), corner(winding, item, 1),
                                         corner(winding, item, 2));
    }
    return angle;
}

double sn_winding_number(const sn_winding *winding, const double point[3]) {
    int32_t stack[STACK_SIZE], depth = 0;
    double angle = 0;
    if (winding->bvh->node_count > 0)
        stack[depth++] = 0;
    while (depth > 0) {
        int32_t n = stack[--depth];
        const sn_bvh_node *node = &winding->bvh->node[n];
        const sn_winding_dipole *dipole = &winding->dipole[n];
        double d[3];
        sn_sub3(dipole->center, point, d);
        double distance = sn_norm3(d);
        if (distance > FAR_RATIO * dipole->radius) {
            angle += sn_dot3(dipole->area, d) / (distance * distance * distance);
        } else if (node->count > 0) {
            angle += leaf_angle(winding, node, point);
        } else {
            stack[depth++] = node->first + 1;
            stack[depth++] = node->first;
        }
    }
    return angle / SN_SOLID_ANGLE_FULL;
}

bool sn_winding_inside(const sn_winding *winding, const double point[3]) {
    return fabs(sn_winding_number(winding, point)) >= 0.5;
}
