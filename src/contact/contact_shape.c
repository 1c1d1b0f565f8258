#include "contact/contact_shape.h"

#include "geom/geom_field.h"
#include "geom/geom_sweep.h"
#include "math/math_mat3.h"

#include <string.h>

struct sn_contact_shape {
    const sn_shape_def *shape;
    sn_mesh_distance *mesh;   ///< NULL but for meshes
    sn_distance_field *field; ///< NULL but for meshes with a spacing
};

sn_status sn_contact_shape_create(sn_context *ctx, const sn_shape_def *shape, double spacing,
                                  sn_contact_shape **out_shape) {
    sn_status status = SN_OK;
    sn_contact_shape *made = NULL;
    SN_TRY_NEW_ZEROED(ctx, made, 1);
    made->shape = shape;
    if (shape->kind == SN_SHAPE_MESH) {
        const sn_mesh_data *surface = shape->surface;
        SN_TRY(sn_mesh_distance_create(ctx, surface->vertex_count, surface->position, surface->block[0].count,
                                       surface->block[0].vertex, &made->mesh));
        if (spacing > 0)
            SN_TRY(sn_distance_field_create(ctx, made->mesh, spacing, SN_FIELD_CELLS_MAX, &made->field));
    }
    *out_shape = made;
    made = NULL;
cleanup:
    sn_contact_shape_destroy(ctx, &made);
    return status;
}

void sn_contact_shape_destroy(sn_context *ctx, sn_contact_shape **shape) {
    if (!shape || !*shape)
        return;
    sn_distance_field_destroy(&(*shape)->field);
    sn_mesh_distance_destroy(&(*shape)->mesh);
    SN_RELEASE(ctx, *shape);
}

// ---- Distance and normal of each kind

static double plane_nearest(const sn_shape_def *shape, const double point[3], double out_normal[3]) {
    double arm[3];
    sn_sub3(point, shape->point, arm);
    memcpy(out_normal, shape->normal, sizeof shape->normal);
    return sn_dot3(arm, shape->normal);
}

static bool is_zero(const double v[3]) {
    return v[0] == 0 && v[1] == 0 && v[2] == 0;
}

static double sphere_nearest(const sn_shape_def *shape, const double point[3], double out_normal[3]) {
    static const double up[3] = {0, 0, 1};
    double arm[3];
    sn_sub3(point, shape->point, arm);
    sn_unit3(is_zero(arm) ? up : arm, out_normal);
    return sn_norm3(arm) - shape->radius;
}

/// A unit vector across an axis of length 1: across its smallest component as well.
static void across_axis(const double axis[3], double out[3]) {
    int least = 0;
    for (int c = 1; c < 3; c++)
        if (fabs(axis[c]) < fabs(axis[least]))
            least = c;
    double along[3] = {0};
    along[least] = 1;
    sn_cross3(axis, along, out);
    sn_unit3(out, out);
}

/// Takes out of a way across an axis what rounding has left along it: on the axis that is as much.
static void clear_along(const double axis[3], double way[3]) {
    double along = sn_dot3(way, axis);
    for (int c = 0; c < 3; c++)
        way[c] -= along * axis[c];
}

static double capsule_nearest(const sn_shape_def *shape, const double point[3], double out_normal[3]) {
    double axis[3], arm[3], way[3];
    sn_sub3(shape->point2, shape->point, axis);
    sn_sub3(point, shape->point, arm);
    double length = sn_norm3(axis);
    sn_unit3(axis, axis);
    double along = fmin(length, fmax(0, sn_dot3(arm, axis)));
    for (int c = 0; c < 3; c++)
        way[c] = arm[c] - along * axis[c];
    // At the far end the way leads outward, but for rounding.
    if (along > 0 && (along < length || sn_dot3(way, axis) < 0))
        clear_along(axis, way);
    if (is_zero(way))
        across_axis(axis, out_normal);
    else
        sn_unit3(way, out_normal);
    return sn_norm3(way) - shape->radius;
}

static double box_nearest(const sn_shape_def *shape, const double point[3], double out_normal[3]) {
    double sign[3], beyond[3], outside[3];
    int nearest = 0;
    for (int c = 0; c < 3; c++) {
        double arm = point[c] - shape->point[c];
        sign[c] = arm < 0 ? -1 : 1;
        beyond[c] = fabs(arm) - shape->half_size[c];
        outside[c] = sign[c] * fmax(0, beyond[c]);
        if (beyond[c] > beyond[nearest])
            nearest = c;
    }
    if (beyond[nearest] > 0) {
        sn_unit3(outside, out_normal);
        return sn_norm3(outside);
    }
    // On the surface and inside, the nearest face.
    memset(out_normal, 0, 3 * sizeof *out_normal);
    out_normal[nearest] = sign[nearest];
    return beyond[nearest];
}

/// Distance and normal of the kinds that are convex by nature.
static double convex_nearest(const void *body, const double point[3], double out_normal[3]) {
    const sn_shape_def *shape = body;
    switch (shape->kind) {
    case SN_SHAPE_PLANE:
        return plane_nearest(shape, point, out_normal);
    case SN_SHAPE_SPHERE:
        return sphere_nearest(shape, point, out_normal);
    case SN_SHAPE_CAPSULE:
        return capsule_nearest(shape, point, out_normal);
    case SN_SHAPE_BOX:
        return box_nearest(shape, point, out_normal);
    case SN_SHAPE_MESH:
        break;
    }
    return NAN;
}

// ---- The questions

double sn_contact_shape_distance(const sn_contact_shape *shape, const double point[3]) {
    double normal[3];
    if (shape->field)
        return sn_distance_field_distance(shape->field, point);
    return shape->mesh ? sn_mesh_distance_query(shape->mesh, point, NULL)
                       : convex_nearest(shape->shape, point, normal);
}

double sn_contact_shape_bound(const sn_contact_shape *shape, const double point[3]) {
    return shape->field ? sn_distance_field_bound(shape->field, point)
                        : sn_contact_shape_distance(shape, point);
}

double sn_contact_shape_nearest(const sn_contact_shape *shape, const double point[3], double out_foot[3],
                                double out_normal[3]) {
    if (shape->field)
        return sn_distance_field_nearest(shape->field, point, out_foot, out_normal);
    if (shape->mesh)
        return sn_mesh_distance_nearest(shape->mesh, point, SN_SIDE_UNKNOWN, out_foot, out_normal);
    double distance = convex_nearest(shape->shape, point, out_normal);
    for (int c = 0; c < 3; c++)
        out_foot[c] = point[c] - distance * out_normal[c];
    return distance;
}

/// Without a field: a look at the start, then all triangles near the way.
static bool sweep_mesh(const sn_mesh_distance *mesh, const double from[3], const double to[3], double slack,
                       double *out_part) {
    double start = sn_mesh_distance_query(mesh, from, NULL);
    if (start - slack > sn_distance3(from, to))
        return false;
    if (start <= slack) {
        *out_part = 0;
        return true;
    }
    if (sn_mesh_distance_sweep(mesh, from, to, slack, out_part))
        return true;
    // The face that closes a hole is met by no step: only the sides tell.
    if (sn_mesh_distance_is_closed(mesh) || !(sn_mesh_distance_query(mesh, to, NULL) < 0))
        return false;
    *out_part = 1;
    return true;
}

bool sn_contact_shape_sweep(const sn_contact_shape *shape, const double from[3], const double to[3],
                            double slack, double *out_part) {
    SN_ASSERT(slack > 0);
    if (shape->field)
        return sn_distance_field_sweep(shape->field, from, to, slack, out_part);
    if (shape->mesh)
        return sweep_mesh(shape->mesh, from, to, slack, out_part);
    return sn_convex_sweep(convex_nearest, shape->shape, from, to, slack, 1, out_part);
}
