#include "sim/sim_shape.h"

#include "geom/geom_mesh_distance.h"
#include "math/math_mat3.h"
#include "sim/sim_builder.h"
#include "sim/sim_def.h"

#include <string.h>

struct sn_shape_probe {
    const sn_shape_def *shape;
    sn_mesh_distance *mesh; ///< NULL but for meshes
};

/// Copies a surface with all its faces cut into triangles.
static sn_status copy_surface(sn_context *ctx, const sn_mesh_data *surface, sn_mesh_data **out_copy) {
    sn_status status = SN_OK;
    sn_mesh_data *copy = NULL;
    int32_t *triangles = NULL, count = 0;
    SN_TRY(sn_mesh_data_triangles(surface, &count, &triangles));
    if (count == 0)
        SN_TRY(sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "surface: has no triangles"));
    SN_TRY(sn_check_finite(ctx, "surface.position", 3 * (size_t)surface->vertex_count, surface->position));
    SN_TRY(sn_mesh_data_create(ctx, &copy));
    SN_TRY(sn_new_copy(ctx, surface->position, 3 * (size_t)surface->vertex_count, sizeof(double),
                       (void **)&copy->position));
    copy->vertex_count = surface->vertex_count;
    SN_TRY_NEW_ZEROED(ctx, copy->block, 1);
    copy->block_count = 1;
    copy->block[0].kind = SN_CELL_TRIANGLE;
    SN_TRY(
        sn_new_copy(ctx, triangles, 3 * (size_t)count, sizeof *triangles, (void **)&copy->block[0].vertex));
    copy->block[0].count = count;
    *out_copy = copy;
    copy = NULL;
cleanup:
    sn_mesh_data_free_array(surface, triangles);
    sn_mesh_data_destroy(&copy);
    return status;
}

sn_status sn_shape_copy(sn_context *ctx, const sn_shape_def *shape, sn_shape_def *out) {
    sn_status status = SN_OK;
    sn_shape_def copy = *shape;
    char *name = NULL;
    sn_mesh_data *surface = NULL;
    SN_TRY(sn_new_text(ctx, shape->name, &name));
    if (shape->kind == SN_SHAPE_MESH)
        SN_TRY(copy_surface(ctx, shape->surface, &surface));
    copy.name = name, copy.surface = surface;
    if (shape->kind == SN_SHAPE_PLANE)
        sn_unit3(shape->normal, copy.normal);
    *out = copy;
    return SN_OK;
cleanup:
    SN_RELEASE(ctx, name);
    return status;
}

void sn_shape_clear(sn_context *ctx, sn_shape_def *shape) {
    // Public definitions point to constant data; in here both are the owner's.
    sn_mesh_data *surface = (sn_mesh_data *)(uintptr_t)shape->surface;
    SN_RELEASE(ctx, shape->name);
    sn_mesh_data_destroy(&surface);
    shape->surface = NULL;
}

/// What the field table does not hold.
static sn_status check_kind(sn_context *ctx, const sn_shape_def *def) {
    if ((unsigned)def->kind > SN_SHAPE_MESH)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "kind = %d: must be plane (0) to mesh (%d)",
                       (int)def->kind, (int)SN_SHAPE_MESH);
    if (def->kind == SN_SHAPE_MESH && !def->surface)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "surface is NULL");
    return SN_OK;
}

static sn_status check_name(const sn_model_builder *builder, const char *name) {
    for (int32_t s = 0; s < builder->shape_count; s++)
        if (strcmp(builder->shapes[s].name, name) == 0)
            return sn_fail(builder->context, SN_ERR_INVALID_ARGUMENT, "name: shape %d has this name already",
                           s);
    return SN_OK;
}

sn_status sn_model_add_shape(sn_model_builder *builder, const sn_shape_def *def, sn_shape_id *out_shape) {
    sn_status status = SN_OK;
    char *name = NULL;
    int32_t frame = SN_FRAME_WORLD;
    if (!builder)
        return SN_ERR_INVALID_ARGUMENT;
    sn_context *ctx = builder->context;
    // The name of a definition that was forgotten may point anywhere.
    if (!def || def->mark != SN_DEF_MARK)
        return sn_check_def(ctx, &sn_shape_fields, def);
    size_t number = (size_t)builder->shape_count + 1;
    SN_TRY(sn_builder_name(ctx, def->name, "shape", (int32_t)number, &name));
    SN_TRY(check_name(builder, name));
    SN_TRY(sn_builder_find_frame(builder, def->frame, &frame));
    SN_TRY(check_kind(ctx, def));
    SN_TRY(sn_check_def(ctx, &sn_shape_fields, def));
    SN_TRY(sn_grow(ctx, (void **)&builder->shapes, &builder->shape_capacity, number, sizeof(sn_shape_def)));
    SN_TRY(
        sn_grow(ctx, (void **)&builder->shape_frame, &builder->shape_frame_capacity, number, sizeof frame));
    sn_shape_def shape = *def;
    shape.name = name;
    SN_TRY(sn_shape_copy(ctx, &shape, &builder->shapes[number - 1]));
    builder->shape_frame[number - 1] = frame;
    builder->shape_count = (int32_t)number;
    if (out_shape)
        *out_shape = (sn_shape_id){(uint32_t)number, builder->generation};
cleanup:
    if (status < 0 && name)
        sn_message_prefix(ctx, "shape %s: ", name);
    SN_RELEASE(ctx, name);
    return status;
}

sn_status sn_shape_probe_create(sn_context *ctx, const sn_shape_def *shape, sn_shape_probe **out_probe) {
    sn_status status = SN_OK;
    sn_shape_probe *probe = NULL;
    SN_TRY_NEW_ZEROED(ctx, probe, 1);
    probe->shape = shape;
    if (shape->kind == SN_SHAPE_MESH) {
        const sn_mesh_data *surface = shape->surface;
        SN_TRY(sn_mesh_distance_create(ctx, surface->vertex_count, surface->position, surface->block[0].count,
                                       surface->block[0].vertex, &probe->mesh));
    }
    *out_probe = probe;
    probe = NULL;
cleanup:
    sn_shape_probe_destroy(ctx, &probe);
    return status;
}

void sn_shape_probe_destroy(sn_context *ctx, sn_shape_probe **probe) {
    if (!*probe)
        return;
    sn_mesh_distance_destroy(&(*probe)->mesh);
    SN_RELEASE(ctx, *probe);
}

static double plane_distance(const sn_shape_def *shape, const double x[3]) {
    double arm[3];
    sn_sub3(x, shape->point, arm);
    return sn_dot3(arm, shape->normal);
}

static double capsule_distance(const sn_shape_def *shape, const double x[3]) {
    double axis[3], arm[3], nearest[3];
    sn_sub3(shape->point2, shape->point, axis);
    sn_sub3(x, shape->point, arm);
    double squared = sn_dot3(axis, axis);
    double u = squared > 0 ? fmin(1, fmax(0, sn_dot3(arm, axis) / squared)) : 0;
    for (int i = 0; i < 3; i++)
        nearest[i] = shape->point[i] + u * axis[i];
    return sn_distance3(x, nearest) - shape->radius;
}

static double box_distance(const sn_shape_def *shape, const double x[3]) {
    double outside[3], inside = -HUGE_VAL;
    for (int i = 0; i < 3; i++) {
        double beyond = fabs(x[i] - shape->point[i]) - shape->half_size[i];
        outside[i] = fmax(beyond, 0);
        inside = fmax(inside, beyond);
    }
    return inside < 0 ? inside : sn_norm3(outside);
}

double sn_shape_probe_distance(const sn_shape_probe *probe, const double x[3]) {
    const sn_shape_def *shape = probe->shape;
    switch (shape->kind) {
    case SN_SHAPE_PLANE:
        return plane_distance(shape, x);
    case SN_SHAPE_SPHERE:
        return sn_distance3(x, shape->point) - shape->radius;
    case SN_SHAPE_CAPSULE:
        return capsule_distance(shape, x);
    case SN_SHAPE_BOX:
        return box_distance(shape, x);
    case SN_SHAPE_MESH:
        return sn_mesh_distance_query(probe->mesh, x, NULL);
    }
    return HUGE_VAL;
}
