/// Points spread over the surfaces of shapes.
#include "math/math_mat3.h"
#include "sim/sim_shape.h"

/// Points being collected.
typedef struct sample_list {
    sn_context *ctx;
    int32_t count;
    size_t capacity;
    double *point;
} sample_list;

static sn_status append(sample_list *list, const double point[3]) {
    size_t wanted = (size_t)list->count + 1;
    if (list->count == SN_SHAPE_SAMPLES_MAX)
        return sn_fail(list->ctx, SN_ERR_INVALID_ARGUMENT, "spacing: too fine, it gives more than %d samples",
                       SN_SHAPE_SAMPLES_MAX);
    sn_status status =
        sn_grow(list->ctx, (void **)&list->point, &list->capacity, wanted, 3 * sizeof *list->point);
    if (status < 0)
        return status;
    for (int i = 0; i < 3; i++)
        list->point[3 * (size_t)list->count + (size_t)i] = point[i];
    list->count++;
    return SN_OK;
}

/// Number of pieces of about `spacing` in a length; bounded, so that the sample limit decides about nonsense.
static int32_t division(double length, double spacing, int32_t least) {
    double count = fmin(round(length / spacing), SN_SHAPE_SAMPLES_MAX + 1.0);
    return count > least ? (int32_t)count : least;
}

/// Two unit vectors across a unit vector.
static void make_basis(const double axis[3], double side[3], double up[3]) {
    int thin = fabs(axis[0]) <= fabs(axis[1]) && fabs(axis[0]) <= fabs(axis[2]) ? 0
               : fabs(axis[1]) <= fabs(axis[2])                                 ? 1
                                                                                : 2;
    double helper[3] = {0};
    helper[thin] = 1;
    sn_cross3(axis, helper, side);
    double length = sn_norm3(side);
    for (int i = 0; i < 3; i++)
        side[i] /= length;
    sn_cross3(axis, side, up);
}

/// Rings along the meridian from pole to pole, each turned against the last by the golden angle. A sphere is
/// a capsule of length 0.
static sn_status sample_capsule(const sn_shape_def *shape, const double end[3], double spacing,
                                sample_list *list) {
    const double golden_angle = SN_PI * (3 - sqrt(5));
    double axis[3], side[3], up[3], radius = shape->radius, quarter = SN_PI * radius / 2;
    sn_sub3(end, shape->point, axis);
    double length = sn_norm3(axis), meridian = length + 2 * quarter;
    for (int i = 0; i < 3; i++)
        axis[i] = length > 0 ? axis[i] / length : i == 2;
    make_basis(axis, side, up);
    int32_t rings = division(meridian, spacing, 2);
    for (int32_t r = 0; r < rings; r++) {
        double way = (r + 0.5) * meridian / rings, along, across = radius;
        if (way < quarter) {
            along = -radius * cos(way / radius), across = radius * sin(way / radius);
        } else if (way <= quarter + length) {
            along = way - quarter;
        } else {
            double rest = (meridian - way) / radius;
            along = length + radius * cos(rest), across = radius * sin(rest);
        }
        int32_t count = division(2 * SN_PI * across, spacing, 1);
        for (int32_t k = 0; k < count; k++) {
            double angle = golden_angle * r + 2 * SN_PI * k / count, point[3];
            for (int i = 0; i < 3; i++)
                point[i] =
                    shape->point[i] + along * axis[i] + across * (cos(angle) * side[i] + sin(angle) * up[i]);
            sn_status status = append(list, point);
            if (status < 0)
                return status;
        }
    }
    return SN_OK;
}

/// Centers of a grid on one face: `axis` points to it in the direction `sign`.
static sn_status sample_face(const sn_shape_def *shape, int axis, double sign, double spacing,
                             sample_list *list) {
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    int32_t columns = division(2 * shape->half_size[u], spacing, 1);
    int32_t rows = division(2 * shape->half_size[v], spacing, 1);
    for (int32_t r = 0; r < rows; r++)
        for (int32_t c = 0; c < columns; c++) {
            double point[3];
            point[axis] = shape->point[axis] + sign * shape->half_size[axis];
            point[u] = shape->point[u] + shape->half_size[u] * ((2 * c + 1.0) / columns - 1);
            point[v] = shape->point[v] + shape->half_size[v] * ((2 * r + 1.0) / rows - 1);
            sn_status status = append(list, point);
            if (status < 0)
                return status;
        }
    return SN_OK;
}

static sn_status sample_box(const sn_shape_def *shape, double spacing, sample_list *list) {
    sn_status status = SN_OK;
    for (int face = 0; face < 6 && status == SN_OK; face++)
        status = sample_face(shape, face / 2, face % 2 ? 1 : -1, spacing, list);
    return status;
}

static double triangle_area(const sn_mesh_data *surface, int32_t triangle) {
    const int32_t *corner = surface->block[0].vertex + 3 * (size_t)triangle;
    const double *a = surface->position + 3 * (size_t)corner[0];
    double ab[3], ac[3], normal[3];
    sn_sub3(surface->position + 3 * (size_t)corner[1], a, ab);
    sn_sub3(surface->position + 3 * (size_t)corner[2], a, ac);
    sn_cross3(ab, ac, normal);
    return sn_norm3(normal) / 2;
}

/// Point number k of a sequence that fills the unit square evenly (Roberts 2018: powers of the plastic
/// number), folded into the triangle.
static void place_in_triangle(const sn_mesh_data *surface, int32_t triangle, int32_t k, double point[3]) {
    double u = fmod(0.5 + 0.7548776662466927 * k, 1), v = fmod(0.5 + 0.5698402909980532 * k, 1);
    if (u + v > 1)
        u = 1 - u, v = 1 - v;
    const int32_t *corner = surface->block[0].vertex + 3 * (size_t)triangle;
    for (int i = 0; i < 3; i++)
        point[i] = (1 - u - v) * surface->position[3 * (size_t)corner[0] + (size_t)i] +
                   u * surface->position[3 * (size_t)corner[1] + (size_t)i] +
                   v * surface->position[3 * (size_t)corner[2] + (size_t)i];
}

/// One sample per equal share of the area, in the order of the triangles.
static sn_status sample_mesh(const sn_shape_def *shape, double spacing, sample_list *list) {
    const sn_mesh_data *surface = shape->surface;
    double total = 0, passed = 0;
    for (int32_t t = 0; t < surface->block[0].count; t++)
        total += triangle_area(surface, t);
    int32_t wanted = division(total / spacing, spacing, 1);
    for (int32_t t = 0; t < surface->block[0].count; t++) {
        passed += triangle_area(surface, t);
        for (; list->count < wanted && (list->count + 0.5) * total < passed * wanted;) {
            double point[3];
            place_in_triangle(surface, t, list->count, point);
            sn_status status = append(list, point);
            if (status < 0)
                return status;
        }
    }
    return SN_OK;
}

sn_status sn_shape_sample(sn_context *ctx, const sn_shape_def *shape, double spacing, int32_t *out_count,
                          double **out_points) {
    sn_status status = SN_OK;
    sample_list list = {.ctx = ctx};
    switch (shape->kind) {
    case SN_SHAPE_PLANE:
        SN_TRY(sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "a plane has no end and cannot be sampled"));
        break;
    case SN_SHAPE_SPHERE:
        SN_TRY(sample_capsule(shape, shape->point, spacing, &list));
        break;
    case SN_SHAPE_CAPSULE:
        SN_TRY(sample_capsule(shape, shape->point2, spacing, &list));
        break;
    case SN_SHAPE_BOX:
        SN_TRY(sample_box(shape, spacing, &list));
        break;
    case SN_SHAPE_MESH:
        SN_TRY(sample_mesh(shape, spacing, &list));
        break;
    }
    *out_count = list.count;
    *out_points = list.point;
    list.point = NULL;
cleanup:
    SN_RELEASE(ctx, list.point);
    return status;
}
