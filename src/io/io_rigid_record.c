#include "io/io_preview_surface.h"
#include "io/io_rigid.h"

#include <string.h>

bool sn_shape_is_bone(const sn_shape_def *shape) {
    return shape->kind == SN_SHAPE_CAPSULE && shape->name && strchr(shape->name, '.');
}

// ---- Shapes, all in one

typedef struct shape_arrays {
    sn_context *ctx;
    int32_t *facts;    ///< [shapes, SN_RIGID_FACTS]
    double *vertex;    ///< [vertex_count, 3]
    int32_t *triangle; ///< [triangle_count, 3]
    size_t vertex_room, triangle_room;
    int64_t vertex_count, triangle_count;
} shape_arrays;

static sn_status reserve(shape_arrays *a, int32_t vertices, int32_t triangles) {
    sn_status status = SN_OK;
    if (a->vertex_count + vertices > INT32_MAX || a->triangle_count + triangles > INT32_MAX)
        SN_TRY(sn_fail(a->ctx, SN_ERR_NO_MEMORY,
                       "results: rigid shapes have more than %d vertices or triangles", INT32_MAX));
    SN_TRY(sn_grow(a->ctx, (void **)&a->vertex, &a->vertex_room, 3 * (size_t)(a->vertex_count + vertices),
                   sizeof *a->vertex));
    SN_TRY(sn_grow(a->ctx, (void **)&a->triangle, &a->triangle_room,
                   3 * (size_t)(a->triangle_count + triangles), sizeof *a->triangle));
cleanup:
    return status;
}

static void add_plane(shape_arrays *a, const sn_shape_def *shape) {
    double *to = a->vertex + 3 * a->vertex_count;
    memcpy(to, shape->point, sizeof shape->point);
    memcpy(to + 3, shape->normal, sizeof shape->normal);
}

static void add_surface(shape_arrays *a, const sn_preview_surface *surface) {
    int32_t *to = a->triangle + 3 * a->triangle_count;
    memcpy(a->vertex + 3 * a->vertex_count, surface->position,
           3 * (size_t)surface->vertex_count * sizeof *surface->position);
    for (int64_t i = 0; i < 3 * (int64_t)surface->triangle_count; i++)
        to[i] = surface->vertex_of[surface->triangle[i]];
}

static sn_status add_shape(shape_arrays *a, const sn_shape_def *shape, int32_t facts[SN_RIGID_FACTS]) {
    sn_status status = SN_OK;
    sn_preview_surface surface = {0};
    const bool is_plane = shape->kind == SN_SHAPE_PLANE;
    if (!is_plane)
        SN_TRY(sn_preview_surface_of_shape(a->ctx, shape, &surface));
    facts[0] = (int32_t)shape->kind;
    facts[1] = sn_shape_is_bone(shape);
    facts[2] = is_plane ? 2 : surface.vertex_count;
    facts[3] = surface.triangle_count;
    SN_TRY(reserve(a, facts[2], facts[3]));
    if (is_plane)
        add_plane(a, shape);
    else
        add_surface(a, &surface);
    a->vertex_count += facts[2];
    a->triangle_count += facts[3];
cleanup:
    sn_preview_surface_release(&surface);
    return status;
}

static sn_status write_shapes(const sn_rigid_record *record, const char *directory) {
    sn_status status = SN_OK;
    sn_context *ctx = record->ctx;
    shape_arrays a = {.ctx = ctx};
    SN_TRY_NEW(ctx, a.facts, SN_RIGID_FACTS * (size_t)record->shape_count);
    for (int32_t i = 0; i < record->shape_count; i++)
        SN_TRY(add_shape(&a, sn_model_shape(record->model, i), a.facts + SN_RIGID_FACTS * (size_t)i));
    SN_TRY(sn_npy_write(ctx, directory, SN_RIGID_SHAPES_NPY, SN_NPY_INT32, record->shape_count,
                        SN_RIGID_FACTS, a.facts));
    SN_TRY(sn_npy_write(ctx, directory, SN_RIGID_VERTICES_NPY, SN_NPY_FLOAT64, (int32_t)a.vertex_count, 3,
                        a.vertex));
    if (a.triangle_count > 0)
        SN_TRY(sn_npy_write(ctx, directory, SN_RIGID_TRIANGLES_NPY, SN_NPY_INT32, (int32_t)a.triangle_count,
                            3, a.triangle));
cleanup:
    SN_RELEASE(ctx, a.facts);
    SN_RELEASE(ctx, a.vertex);
    SN_RELEASE(ctx, a.triangle);
    return status;
}

// ---- The record

sn_status sn_rigid_record_init(sn_rigid_record *record, sn_context *ctx, const sn_model *model) {
    *record =
        (sn_rigid_record){.ctx = ctx, .model = model, .shape_count = sn_model_get_info(model).shape_count};
    return sn_new(ctx, SN_RIGID_POSE * (size_t)record->shape_count, sizeof *record->pose,
                  (void **)&record->pose);
}

sn_status sn_rigid_record_open(sn_rigid_record *record, const char *directory) {
    sn_status status = SN_OK;
    if (record->shape_count == 0)
        return SN_OK;
    SN_TRY(sn_npy_open(record->ctx, directory, SN_RIGID_POSES_NPY, SN_NPY_FLOAT64, record->shape_count,
                       SN_RIGID_POSE, &record->poses));
    SN_TRY(write_shapes(record, directory));
cleanup:
    return status;
}

sn_status sn_rigid_record_can_reopen(const sn_rigid_record *record, const char *directory,
                                     int32_t frame_count) {
    if (record->shape_count == 0)
        return SN_OK;
    return sn_npy_can_reopen(record->ctx, directory, SN_RIGID_POSES_NPY, SN_NPY_FLOAT64, record->shape_count,
                             SN_RIGID_POSE, frame_count);
}

sn_status sn_rigid_record_reopen(sn_rigid_record *record, const char *directory, int32_t frame_count) {
    if (record->shape_count == 0)
        return SN_OK;
    return sn_npy_reopen(record->ctx, directory, SN_RIGID_POSES_NPY, SN_NPY_FLOAT64, record->shape_count,
                         SN_RIGID_POSE, frame_count, &record->poses);
}

sn_status sn_rigid_record_frame(sn_rigid_record *record, double time) {
    if (record->shape_count == 0)
        return SN_OK;
    for (int32_t i = 0; i < record->shape_count; i++) {
        double *pose = record->pose + SN_RIGID_POSE * (size_t)i;
        sn_model_shape_pose(record->model, i, time, pose, pose + 9);
    }
    return sn_npy_append(&record->poses, record->pose);
}

sn_status sn_rigid_record_finish(sn_rigid_record *record) {
    return record->shape_count > 0 ? sn_npy_finish(&record->poses) : SN_OK;
}

void sn_rigid_record_release(sn_rigid_record *record) {
    if (!record->ctx)
        return;
    sn_npy_abandon(&record->poses);
    SN_RELEASE(record->ctx, record->pose);
    *record = (sn_rigid_record){0};
}
