/// Pictures of a run's bodies: `sinew export --format png`. Rigid shapes are not among the results.
#include "io/io_export.h"
#include "io/io_preview.h"
#include "io/io_preview_frame.h"
#include "io/io_preview_png.h"

#include <stdio.h>

enum {
    VIEW_FRAMES = 12,    ///< Frames of the run that the camera has in view, about.
    VIEW_VERTICES = 5000 ///< Vertices of a body in each of them, at most twice as many.
};

typedef struct pictures {
    sn_export_job *job;
    sn_preview_surface *surface; ///< [body_count]
    sn_preview_part *part;       ///< [body_count]
    double **position;           ///< [body_count] [vertices, 3] of a frame
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

static sn_status add_view(pictures *p, int32_t place) {
    int32_t count = sn_export_body(p->job, place).vertex_count;
    int32_t step = count > VIEW_VERTICES ? count / VIEW_VERTICES : 1;
    sn_status status =
        sn_grow(p->job->ctx, (void **)&p->around, &p->around_capacity,
                3 * ((size_t)p->around_count + (size_t)count / (size_t)step + 1), sizeof *p->around);
    for (int64_t v = 0; status == SN_OK && v < count; v += step, p->around_count++)
        for (int k = 0; k < 3; k++)
            p->around[3 * p->around_count + k] = p->position[place][3 * v + k];
    return status;
}

/// The camera is the same for all pictures of a run, whichever frames are asked for.
static sn_status look_around(pictures *p) {
    sn_status status = SN_OK;
    int32_t frame_count = sn_results_get_info(p->job->results).frame_count;
    int32_t every = frame_count > VIEW_FRAMES ? frame_count / VIEW_FRAMES : 1;
    for (int32_t at = 0; at < frame_count + every - 1; at += every)
        for (int32_t i = 0; i < p->job->body_count; i++) {
            SN_TRY(read_body(p, i, at < frame_count ? at : frame_count - 1));
            SN_TRY(add_view(p, i));
        }
cleanup:
    return status;
}

/// Surfaces have their sharp edges where the start has them.
static sn_status prepare(pictures *p) {
    sn_status status = SN_OK;
    sn_export_job *job = p->job;
    SN_TRY_NEW_ZEROED(job->ctx, p->surface, job->body_count);
    SN_TRY_NEW_ZEROED(job->ctx, p->part, job->body_count);
    SN_TRY_NEW_ZEROED(job->ctx, p->position, job->body_count);
    SN_TRY_NEW(job->ctx, p->rgb, 3 * (size_t)job->def->png_width * (size_t)job->def->png_height);
    for (int32_t i = 0; i < job->body_count; i++) {
        const sn_results_body body = sn_export_body(job, i);
        SN_TRY_NEW(job->ctx, p->position[i], 3 * (size_t)body.vertex_count);
        SN_TRY(read_body(p, i, 0));
        SN_TRY(sn_preview_surface_create(job->ctx, body.vertex_count, p->position[i], body.triangle_count,
                                         body.triangles, &p->surface[i]));
        p->part[i] = (sn_preview_part){.surface = &p->surface[i],
                                       .position = p->position[i],
                                       .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                       .look = {.color = job->body[i]}};
    }
    SN_TRY(look_around(p));
cleanup:
    return status;
}

static void release(pictures *p) {
    sn_context *ctx = p->job->ctx;
    for (int32_t i = 0; i < p->job->body_count; i++) {
        if (p->surface)
            sn_preview_surface_release(&p->surface[i]);
        if (p->position)
            sn_release(ctx, p->position[i]);
    }
    SN_RELEASE(ctx, p->surface);
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
                                        .part_count = job->body_count,
                                        .parts = p->part};
    for (int32_t i = 0; i < job->body_count; i++)
        SN_TRY(read_body(p, i, frame));
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
