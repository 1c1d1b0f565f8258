#include "io/io_preview_frame.h"

#include "io/io_preview.h"
#include "io/io_preview_png.h"
#include "io/io_rigid.h"
#include "math/math_mat3.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sn_preview_frames {
    sn_context *ctx;
    const sn_model *model;
    int32_t every, width, height;
    sn_preview_color color;
    double range, view[3], up[3];
    int32_t body_count, shape_count, part_count, plane_count;
    sn_preview_surface *surface; ///< [body_count + shape_count] released: a plane
    sn_preview_part *part;       ///< [body_count + shape_count] bodies first, then shapes but planes
    int32_t *part_shape;         ///< [body_count + shape_count] shape of a part; -1: a body
    sn_preview_plane *plane;     ///< [shape_count]
    int32_t *plane_shape;        ///< [shape_count] shape of a plane
    int64_t start_count;
    double *start;      ///< [start_count, 3] everything at the start
    double **position;  ///< [body_count] [vertices, 3] of the frame
    double **value;     ///< [body_count] [vertices]; NULL without colors
    double *node_value; ///< [node_count]
    int64_t value_count;
    double *sorted; ///< [value_count] values of all bodies
    unsigned char *rgb;
};

// ---- Life

/// Up is against gravity; z without one.
static void find_up(const sn_model *model, double up[3]) {
    const double *gravity = sn_model_get_info(model).gravity;
    for (int i = 0; i < 3; i++)
        up[i] = -gravity[i];
    if (!(sn_norm3(up) > 0))
        up[0] = up[1] = 0, up[2] = 1;
    sn_unit3(up, up);
}

static bool has_bones(const sn_model *model, int32_t shape_count) {
    for (int32_t i = 0; i < shape_count; i++)
        if (sn_shape_is_bone(sn_model_shape(model, i)))
            return true;
    return false;
}

static sn_status add_bodies(sn_preview_frames *f, const sn_state *start) {
    sn_status status = SN_OK;
    bool see_through = has_bones(f->model, f->shape_count), by_value = f->color != SN_PREVIEW_PLAIN;
    for (int32_t i = 0; i < f->body_count; i++) {
        const sn_body_info info = sn_model_body(f->model, i);
        SN_TRY_NEW(f->ctx, f->position[i], 3 * (size_t)info.surface_vertex_count);
        if (by_value)
            SN_TRY_NEW(f->ctx, f->value[i], info.surface_vertex_count);
        sn_state_surface_positions(start, i, f->position[i]);
        SN_TRY(sn_preview_surface_create(f->ctx, info.surface_vertex_count, f->position[i],
                                         info.surface_triangle_count, info.surface_triangles,
                                         &f->surface[i]));
        f->part_shape[f->part_count] = -1;
        f->part[f->part_count++] =
            (sn_preview_part){.surface = &f->surface[i],
                              .position = f->position[i],
                              .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                              .value = f->value[i],
                              .look = {.color = i, .see_through = see_through, .by_value = by_value}};
        f->value_count += info.surface_vertex_count;
    }
cleanup:
    return status;
}

static sn_status add_shapes(sn_preview_frames *f) {
    sn_status status = SN_OK;
    int32_t plane_total = 0;
    for (int32_t i = 0; i < f->shape_count; i++) {
        const sn_shape_def *shape = sn_model_shape(f->model, i);
        sn_preview_surface *surface = &f->surface[f->body_count + i];
        if (shape->kind == SN_SHAPE_PLANE) {
            f->plane_shape[plane_total++] = i;
            continue;
        }
        SN_TRY(sn_preview_surface_of_shape(f->ctx, shape, surface));
        f->part_shape[f->part_count] = i;
        f->part[f->part_count++] =
            (sn_preview_part){.surface = surface, .position = surface->position, .look = {.rigid = true}};
    }
    f->plane_count = sn_preview_plane_count(f->ctx, plane_total);
cleanup:
    return status;
}

/// Moves rigid shapes to their places at a time.
static void pose_shapes(sn_preview_frames *f, double time) {
    for (int32_t i = 0; i < f->part_count; i++)
        if (f->part_shape[i] >= 0)
            sn_model_shape_pose(f->model, f->part_shape[i], time, f->part[i].rotation,
                                f->part[i].translation);
    for (int32_t i = 0; i < f->plane_count; i++) {
        const sn_shape_def *shape = sn_model_shape(f->model, f->plane_shape[i]);
        double R[9], t[3];
        sn_model_shape_pose(f->model, f->plane_shape[i], time, R, t);
        for (int k = 0; k < 3; k++) {
            f->plane[i].point[k] = sn_dot3(R + 3 * k, shape->point) + t[k];
            f->plane[i].normal[k] = sn_dot3(R + 3 * k, shape->normal);
        }
    }
}

/// Keeps all places of the start.
static sn_status keep_start(sn_preview_frames *f, double time) {
    sn_status status = SN_OK;
    for (int32_t i = 0; i < f->part_count; i++)
        f->start_count += f->part[i].surface->vertex_count;
    SN_TRY_NEW(f->ctx, f->start, 3 * (size_t)f->start_count);
    pose_shapes(f, time);
    double *to = f->start;
    for (int32_t i = 0; i < f->part_count; i++) {
        const sn_preview_part *part = &f->part[i];
        for (int64_t v = 0; v < part->surface->vertex_count; v++, to += 3)
            for (int k = 0; k < 3; k++)
                to[k] = sn_dot3(part->rotation + 3 * k, part->position + 3 * v) + part->translation[k];
    }
cleanup:
    return status;
}

static sn_status allocate(sn_preview_frames *f) {
    sn_status status = SN_OK;
    size_t parts = (size_t)f->body_count + (size_t)f->shape_count;
    SN_TRY_NEW_ZEROED(f->ctx, f->surface, parts);
    SN_TRY_NEW_ZEROED(f->ctx, f->part, parts);
    SN_TRY_NEW_ZEROED(f->ctx, f->part_shape, parts);
    SN_TRY_NEW_ZEROED(f->ctx, f->plane, f->shape_count);
    SN_TRY_NEW_ZEROED(f->ctx, f->plane_shape, f->shape_count);
    SN_TRY_NEW_ZEROED(f->ctx, f->position, f->body_count);
    SN_TRY_NEW_ZEROED(f->ctx, f->value, f->body_count);
    SN_TRY_NEW(f->ctx, f->rgb, 3 * (size_t)f->width * (size_t)f->height);
cleanup:
    return status;
}

static sn_status fill(sn_preview_frames *f, const sn_output_def *def) {
    sn_status status = SN_OK;
    sn_state *start = NULL;
    const sn_model_info info = sn_model_get_info(f->model);
    f->every = def->preview_every;
    f->width = def->preview_width;
    f->height = def->preview_height;
    f->color = def->preview_color;
    f->range = def->preview_range;
    memcpy(f->view, def->preview_view, sizeof f->view);
    f->body_count = info.body_count;
    f->shape_count = info.shape_count;
    find_up(f->model, f->up);
    SN_TRY(allocate(f));
    SN_TRY(sn_state_create(f->model, &start));
    SN_TRY(add_bodies(f, start));
    SN_TRY(add_shapes(f));
    SN_TRY(keep_start(f, sn_state_time(start)));
    if (f->color != SN_PREVIEW_PLAIN) {
        SN_TRY_NEW(f->ctx, f->node_value, info.node_count);
        SN_TRY_NEW(f->ctx, f->sorted, f->value_count);
    }
cleanup:
    sn_state_destroy(&start);
    return status;
}

sn_status sn_preview_frames_create(sn_context *ctx, const sn_model *model, const sn_output_def *def,
                                   sn_preview_frames **out_frames) {
    sn_status status = SN_OK;
    sn_preview_frames *frames = NULL;
    SN_TRY_NEW_ZEROED(ctx, frames, 1);
    frames->ctx = ctx;
    frames->model = model;
    SN_TRY(fill(frames, def));
    *out_frames = frames;
    return SN_OK;
cleanup:
    sn_preview_frames_destroy(&frames);
    return status;
}

void sn_preview_frames_destroy(sn_preview_frames **frames) {
    if (!frames || !*frames)
        return;
    sn_preview_frames *f = *frames;
    sn_context *ctx = f->ctx;
    for (int32_t i = 0; f->surface && i < f->body_count + f->shape_count; i++)
        sn_preview_surface_release(&f->surface[i]);
    for (int32_t i = 0; i < f->body_count; i++) {
        if (f->position)
            sn_release(ctx, f->position[i]);
        if (f->value)
            sn_release(ctx, f->value[i]);
    }
    SN_RELEASE(ctx, f->surface);
    SN_RELEASE(ctx, f->part);
    SN_RELEASE(ctx, f->part_shape);
    SN_RELEASE(ctx, f->plane);
    SN_RELEASE(ctx, f->plane_shape);
    SN_RELEASE(ctx, f->start);
    SN_RELEASE(ctx, f->position);
    SN_RELEASE(ctx, f->value);
    SN_RELEASE(ctx, f->node_value);
    SN_RELEASE(ctx, f->sorted);
    SN_RELEASE(ctx, f->rgb);
    sn_release(ctx, f);
    *frames = NULL;
}

// ---- Colors

static int compare_numbers(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/// What 99.5 % of the values do not exceed, as the player: single spikes must not darken the rest.
static double robust_range(sn_preview_frames *f) {
    int64_t count = 0;
    for (int32_t i = 0; i < f->body_count; i++)
        for (int32_t v = 0; v < f->surface[i].vertex_count; v++)
            if (isfinite(f->value[i][v]))
                f->sorted[count++] = f->value[i][v];
    if (count == 0)
        return 0;
    qsort(f->sorted, (size_t)count, sizeof *f->sorted, compare_numbers);
    return f->sorted[(int64_t)(0.995 * (double)(count - 1))];
}

static void take_values(sn_preview_frames *f, const sn_state *state) {
    sn_quantity quantity = f->color == SN_PREVIEW_STRAIN ? SN_QUANTITY_STRAIN : SN_QUANTITY_DISPLACEMENT;
    sn_state_quantity(state, quantity, f->node_value);
    for (int32_t i = 0; i < f->body_count; i++)
        sn_state_surface_values(state, i, f->node_value, f->value[i]);
    double range = f->range > 0 ? f->range : robust_range(f);
    for (int32_t i = 0; i < f->body_count; i++)
        for (int32_t v = 0; v < f->surface[i].vertex_count; v++)
            f->value[i][v] = range > 0 ? f->value[i][v] / range : 0;
}

// ---- Pictures

void sn_preview_name(int32_t frame, char out[SN_PREVIEW_NAME_SIZE]) {
    snprintf(out, SN_PREVIEW_NAME_SIZE, "frame.%06d.png", frame);
}

sn_status sn_preview_frames_write(sn_preview_frames *f, const char *directory, const sn_frame_view *frame) {
    if (frame->index % f->every != 0)
        return SN_OK;
    sn_status status = SN_OK;
    char name[SN_PREVIEW_NAME_SIZE];
    for (int32_t i = 0; i < f->body_count; i++)
        sn_state_surface_positions(frame->state, i, f->position[i]);
    if (f->color != SN_PREVIEW_PLAIN)
        take_values(f, frame->state);
    pose_shapes(f, sn_state_time(frame->state));
    sn_preview_picture picture = {.width = f->width,
                                  .height = f->height,
                                  .around = {f->start_count, f->start},
                                  .part_count = f->part_count,
                                  .plane_count = f->plane_count,
                                  .parts = f->part,
                                  .planes = f->plane};
    memcpy(picture.up, f->up, sizeof picture.up);
    memcpy(picture.direction, f->view, sizeof picture.direction);
    SN_TRY(sn_preview_draw(f->ctx, &picture, f->rgb));
    sn_preview_name(frame->index, name);
    SN_TRY(sn_png_write(f->ctx, directory, name, f->width, f->height, f->rgb));
cleanup:
    return status;
}
