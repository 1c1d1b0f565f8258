/// Pictures of a run: `sinew export --format png`.
#include "io/io_export.h"
#include "io/io_preview.h"
#include "io/io_preview_frame.h"
#include "io/io_preview_png.h"
#include "io/io_results.h"
#include "io/io_rigid.h"
#include "math/math_mat3.h"

#include <stdio.h>
#include <string.h>

enum {
    VIEW_FRAMES = 12,    ///< Frames of the run that the camera has in view, about.
    VIEW_VERTICES = 5000 ///< Vertices of a body or shape in each of them, at most twice as many.
};

typedef struct pictures {
    sn_export_job *job;
    sn_rigid_results rigid;
    int32_t part_count, plane_count;
    sn_preview_surface *surface; ///< [body_count + shape_count] released: a plane
    sn_preview_part *part;       ///< [part_count] bodies first, then shapes but planes
    double **position;           ///< [body_count] [vertices, 3] of a frame
    sn_preview_plane *plane;     ///< [plane_count]
    double *around;              ///< Places of the whole run that must be in view.
    size_t around_capacity;
    int64_t around_count;
    unsigned char *rgb;
} pictures;

static sn_status read_body(pictures *p, int32_t place, int32_t frame) {
    const sn_export_job *job = p->job;
    sn_status status = sn_results_positions(job->results, job->body[place], frame, job->positions);
    for (size_t i = 0; status == SN_OK && i < 3 * (size_t)sn_export_body(job, place).vertex_count; i++)
        p->position[place][i] = job->positions[i];
    return status;
}

/// Moves rigid shapes to their places in a frame.
static sn_status pose_shapes(pictures *p, int32_t frame) {
    const sn_rigid_results *rigid = &p->rigid;
    sn_preview_part *part = p->part + p->job->body_count;
    sn_preview_plane *plane = p->plane;
    sn_status status = sn_rigid_results_pose(rigid, frame);
    for (int32_t i = 0; status == SN_OK && i < rigid->shape_count; i++) {
        const double *R = rigid->pose + SN_RIGID_POSE * (size_t)i, *t = R + 9, *v = rigid->shape[i].vertex;
        if (!rigid->shape[i].is_plane) {
            memcpy(part->rotation, R, sizeof part->rotation);
            memcpy(part->translation, t, sizeof part->translation);
            part++;
        } else if (plane < p->plane + p->plane_count) {
            double normal[3];
            sn_unit3(v + 3, normal);
            for (int k = 0; k < 3; k++) {
                plane->point[k] = sn_dot3(R + 3 * k, v) + t[k];
                plane->normal[k] = sn_dot3(R + 3 * k, normal);
            }
            plane++;
        }
    }
    return status;
}

static sn_status read_frame(pictures *p, int32_t frame) {
    sn_status status = SN_OK;
    for (int32_t i = 0; i < p->job->body_count; i++)
        SN_TRY(read_body(p, i, frame));
    SN_TRY(pose_shapes(p, frame));
cleanup:
    return status;
}

static sn_status add_view(pictures *p, const sn_preview_part *part) {
    int32_t count = part->surface->vertex_count;
    int32_t step = count > VIEW_VERTICES ? count / VIEW_VERTICES : 1;
    sn_status status =
        sn_grow(p->job->ctx, (void **)&p->around, &p->around_capacity,
                3 * ((size_t)p->around_count + (size_t)count / (size_t)step + 1), sizeof *p->around);
    for (int64_t v = 0; status == SN_OK && v < count; v += step, p->around_count++)
        for (int k = 0; k < 3; k++)
            p->around[3 * p->around_count + k] =
                sn_dot3(part->rotation + 3 * k, part->position + 3 * v) + part->translation[k];
    return status;
}

/// The camera is the same for all pictures of a run, whichever frames are asked for.
static sn_status look_around(pictures *p) {
    sn_status status = SN_OK;
    int32_t frame_count = sn_results_get_info(p->job->results).frame_count;
    int32_t every = frame_count > VIEW_FRAMES ? frame_count / VIEW_FRAMES : 1;
    for (int32_t at = 0; at < frame_count + every - 1; at += every) {
        SN_TRY(read_frame(p, at < frame_count ? at : frame_count - 1));
        for (int32_t i = 0; i < p->part_count; i++)
            SN_TRY(add_view(p, &p->part[i]));
    }
cleanup:
    return status;
}

/// Bodies show what is in them where there are bones.
static bool has_bones(const sn_rigid_results *rigid) {
    for (int32_t i = 0; i < rigid->shape_count; i++)
        if (rigid->shape[i].is_bone)
            return true;
    return false;
}

/// Surfaces have their sharp edges where the start has them.
static sn_status add_bodies(pictures *p) {
    sn_status status = SN_OK;
    sn_export_job *job = p->job;
    const bool see_through = has_bones(&p->rigid);
    for (int32_t i = 0; i < job->body_count; i++) {
        const sn_results_body body = sn_export_body(job, i);
        SN_TRY_NEW(job->ctx, p->position[i], 3 * (size_t)body.vertex_count);
        SN_TRY(read_body(p, i, 0));
        SN_TRY(sn_preview_surface_create(job->ctx, body.vertex_count, p->position[i], body.triangle_count,
                                         body.triangles, &p->surface[i]));
        p->part[p->part_count++] =
            (sn_preview_part){.surface = &p->surface[i],
                              .position = p->position[i],
                              .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                              .look = {.color = job->body[i], .see_through = see_through}};
    }
cleanup:
    return status;
}

static sn_status add_shapes(pictures *p) {
    sn_status status = SN_OK;
    sn_context *ctx = p->job->ctx;
    int32_t plane_total = 0;
    for (int32_t i = 0; i < p->rigid.shape_count; i++) {
        const sn_rigid_shape *shape = &p->rigid.shape[i];
        sn_preview_surface *surface = &p->surface[p->job->body_count + i];
        if (shape->is_plane) {
            plane_total++;
            continue;
        }
        SN_TRY(sn_preview_surface_create(ctx, shape->vertex_count, shape->vertex, shape->triangle_count,
                                         shape->triangle, surface));
        p->part[p->part_count++] =
            (sn_preview_part){.surface = surface, .position = shape->vertex, .look = {.rigid = true}};
    }
    p->plane_count = sn_preview_plane_count(ctx, plane_total);
cleanup:
    return status;
}

static sn_status prepare(pictures *p) {
    sn_status status = SN_OK;
    sn_export_job *job = p->job;
    SN_TRY(sn_rigid_results_open(job->ctx, job->results->directory, &p->rigid));
    const size_t parts = (size_t)job->body_count + (size_t)p->rigid.shape_count;
    SN_TRY_NEW_ZEROED(job->ctx, p->surface, parts);
    SN_TRY_NEW_ZEROED(job->ctx, p->part, parts);
    SN_TRY_NEW_ZEROED(job->ctx, p->position, job->body_count);
    SN_TRY_NEW_ZEROED(job->ctx, p->plane, p->rigid.shape_count);
    SN_TRY_NEW(job->ctx, p->rgb, 3 * (size_t)job->def->png_width * (size_t)job->def->png_height);
    SN_TRY(add_bodies(p));
    SN_TRY(add_shapes(p));
    SN_TRY(look_around(p));
cleanup:
    return status;
}

static void release(pictures *p) {
    sn_context *ctx = p->job->ctx;
    for (int32_t i = 0; p->surface && i < p->job->body_count + p->rigid.shape_count; i++)
        sn_preview_surface_release(&p->surface[i]);
    for (int32_t i = 0; p->position && i < p->job->body_count; i++)
        sn_release(ctx, p->position[i]);
    sn_rigid_results_release(&p->rigid);
    SN_RELEASE(ctx, p->surface);
    SN_RELEASE(ctx, p->plane);
    SN_RELEASE(ctx, p->part);
    SN_RELEASE(ctx, p->position);
    SN_RELEASE(ctx, p->around);
    SN_RELEASE(ctx, p->rgb);
}

static sn_status write_picture(pictures *p, int32_t frame) {
    sn_status status = SN_OK;
    sn_export_job *job = p->job;
    const sn_export_def *def = job->def;
    char name[SN_EXPORT_NAME_SIZE];
    const sn_preview_picture picture = {.width = def->png_width,
                                        .height = def->png_height,
                                        .up = {0, def->y_up ? 1 : 0, def->y_up ? 0 : 1},
                                        .around = {p->around_count, p->around},
                                        .part_count = p->part_count,
                                        .plane_count = p->plane_count,
                                        .parts = p->part,
                                        .planes = p->plane};
    SN_TRY(read_frame(p, frame));
    SN_TRY(sn_preview_draw(job->ctx, &picture, p->rgb));
    sn_preview_name(frame, name);
    if (def->body)
        snprintf(name, sizeof name, "%s.%06d.png", sn_export_body(job, 0).file_name, frame);
    SN_TRY(sn_png_write(job->ctx, job->directory, name, def->png_width, def->png_height, p->rgb));
    job->file_count++;
cleanup:
    return status;
}

sn_status sn_png_export(sn_export_job *job) {
    sn_status status = SN_OK;
    pictures p = {.job = job};
    SN_TRY(prepare(&p));
    for (int32_t i = 0; i < job->frame_count; i++)
        SN_TRY(write_picture(&p, job->frame[i]));
cleanup:
    release(&p);
    return status;
}
