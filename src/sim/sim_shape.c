#include "sim/sim_shape.h"

#include "math/math_mat3.h"
#include "sim/sim_builder.h"
#include "sim/sim_def.h"

#include <string.h>

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
