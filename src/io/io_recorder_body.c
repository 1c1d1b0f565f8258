#include "io/io_recorder_body.h"

#include "io/io_obj_frame.h"
#include "io/io_results.h"
#include "io/io_vtu.h"
#include "io/io_vtu_series.h"

#include <stdio.h>

enum { FILE_NAME_SIZE = SN_BODY_FILE_NAME_MAX + 64 };

/// "<body><ending>"
static const char *file_name(const sn_recorded_bodies *bodies, int32_t index, const char *ending,
                             char out[FILE_NAME_SIZE]) {
    snprintf(out, FILE_NAME_SIZE, "%s%s", bodies->names.name[index], ending);
    return out;
}

// ---- Life

sn_status sn_recorded_bodies_init(sn_recorded_bodies *bodies, sn_context *ctx, const sn_model *model,
                                  const char *directory, const sn_output_def *def) {
    sn_status status = SN_OK;
    int32_t count = sn_model_get_info(model).body_count;
    size_t largest = 1;
    *bodies = (sn_recorded_bodies){.ctx = ctx, .model = model, .directory = directory, .def = *def};
    SN_TRY_NEW_ZEROED(ctx, bodies->names.name, count);
    SN_TRY_NEW_ZEROED(ctx, bodies->body, count);
    for (int32_t i = 0; i < count; i++) {
        sn_body_info body = sn_model_body(model, i);
        SN_TRY(sn_body_names_add(ctx, &bodies->names, body.name));
        if ((size_t)body.surface_vertex_count > largest)
            largest = (size_t)body.surface_vertex_count;
    }
    SN_TRY_NEW(ctx, bodies->surface, 3 * largest);
    SN_TRY_NEW(ctx, bodies->surface_floats, 3 * largest);
cleanup:
    return status;
}

void sn_recorded_bodies_release(sn_recorded_bodies *bodies) {
    sn_context *ctx = bodies->ctx;
    if (!ctx)
        return;
    for (int32_t i = 0; i < bodies->names.count; i++) {
        if (bodies->body) {
            sn_npy_abandon(&bodies->body[i].surface);
            sn_npy_abandon(&bodies->body[i].nodes);
            sn_pc2_abandon(&bodies->body[i].pc2);
        }
        sn_release(ctx, bodies->names.name[i]);
    }
    SN_RELEASE(ctx, bodies->names.name);
    SN_RELEASE(ctx, bodies->body);
    SN_RELEASE(ctx, bodies->surface);
    SN_RELEASE(ctx, bodies->surface_floats);
    *bodies = (sn_recorded_bodies){0};
}

// ---- Opening

/// Whether the files need <body>.surface.obj beside them.
static bool has_start(const sn_output_def *def) {
    return def->npy || def->pc2;
}

/// Writes directory/<body><ending>: cells with vertices counted from the body's first.
static sn_status write_cells(const sn_recorded_bodies *bodies, int32_t index, const char *ending,
                             int32_t count, int32_t corners, const int32_t *cells, int32_t origin) {
    sn_status status = SN_OK;
    int32_t *local = NULL;
    char name[FILE_NAME_SIZE];
    size_t total = (size_t)count * (size_t)corners;
    SN_TRY_NEW(bodies->ctx, local, total);
    for (size_t i = 0; i < total; i++)
        local[i] = cells[i] - origin;
    SN_TRY(sn_npy_write(bodies->ctx, bodies->directory, file_name(bodies, index, ending, name), SN_NPY_INT32,
                        count, corners, local));
cleanup:
    SN_RELEASE(bodies->ctx, local);
    return status;
}

static sn_status open_npy(sn_recorded_bodies *bodies, int32_t index) {
    sn_status status = SN_OK;
    sn_body_info info = sn_model_body(bodies->model, index);
    sn_recorded_body *body = &bodies->body[index];
    char name[FILE_NAME_SIZE];
    SN_TRY(sn_npy_open(bodies->ctx, bodies->directory, file_name(bodies, index, SN_SURFACE_NPY, name),
                       SN_NPY_FLOAT32, info.surface_vertex_count, 3, &body->surface));
    SN_TRY(sn_npy_open(bodies->ctx, bodies->directory, file_name(bodies, index, SN_NODES_NPY, name),
                       SN_NPY_FLOAT64, info.node_count, 3, &body->nodes));
    SN_TRY(write_cells(bodies, index, SN_TRIANGLES_NPY, info.surface_triangle_count, 3,
                       info.surface_triangles, 0));
    SN_TRY(write_cells(bodies, index, SN_TETS_NPY, info.tet_count, 4,
                       sn_model_tets(bodies->model) + 4 * (size_t)info.tet_begin, info.node_begin));
cleanup:
    return status;
}

sn_status sn_recorded_bodies_open(sn_recorded_bodies *bodies) {
    sn_status status = SN_OK;
    char name[FILE_NAME_SIZE];
    for (int32_t i = 0; i < bodies->names.count; i++) {
        if (bodies->def.npy)
            SN_TRY(open_npy(bodies, i));
        if (bodies->def.pc2)
            SN_TRY(sn_pc2_open(bodies->ctx, bodies->directory, file_name(bodies, i, ".pc2", name),
                               sn_model_body(bodies->model, i).surface_vertex_count, &bodies->body[i].pc2));
    }
cleanup:
    return status;
}

sn_status sn_recorded_bodies_can_reopen(const sn_recorded_bodies *bodies, int32_t frame_count) {
    sn_status status = SN_OK;
    char name[FILE_NAME_SIZE];
    for (int32_t i = 0; i < bodies->names.count; i++) {
        sn_body_info info = sn_model_body(bodies->model, i);
        if (bodies->def.npy) {
            SN_TRY(sn_npy_can_reopen(bodies->ctx, bodies->directory,
                                     file_name(bodies, i, SN_SURFACE_NPY, name), SN_NPY_FLOAT32,
                                     info.surface_vertex_count, 3, frame_count));
            SN_TRY(sn_npy_can_reopen(bodies->ctx, bodies->directory, file_name(bodies, i, SN_NODES_NPY, name),
                                     SN_NPY_FLOAT64, info.node_count, 3, frame_count));
        }
        if (has_start(&bodies->def))
            SN_TRY(sn_output_can_reopen(bodies->ctx, bodies->directory,
                                        file_name(bodies, i, SN_SURFACE_OBJ, name), 1));
        if (bodies->def.pc2)
            SN_TRY(sn_pc2_can_reopen(bodies->ctx, bodies->directory, file_name(bodies, i, ".pc2", name),
                                     info.surface_vertex_count, frame_count));
    }
cleanup:
    return status;
}

sn_status sn_recorded_bodies_reopen(sn_recorded_bodies *bodies, int32_t frame_count) {
    sn_status status = SN_OK;
    char name[FILE_NAME_SIZE];
    for (int32_t i = 0; i < bodies->names.count; i++) {
        sn_body_info info = sn_model_body(bodies->model, i);
        sn_recorded_body *body = &bodies->body[i];
        if (bodies->def.npy) {
            SN_TRY(sn_npy_reopen(bodies->ctx, bodies->directory, file_name(bodies, i, SN_SURFACE_NPY, name),
                                 SN_NPY_FLOAT32, info.surface_vertex_count, 3, frame_count, &body->surface));
            SN_TRY(sn_npy_reopen(bodies->ctx, bodies->directory, file_name(bodies, i, SN_NODES_NPY, name),
                                 SN_NPY_FLOAT64, info.node_count, 3, frame_count, &body->nodes));
        }
        if (bodies->def.pc2)
            SN_TRY(sn_pc2_reopen(bodies->ctx, bodies->directory, file_name(bodies, i, ".pc2", name),
                                 info.surface_vertex_count, frame_count, &body->pc2));
    }
cleanup:
    return status;
}

// ---- Frames

static bool is_due(int32_t every, int32_t frame) {
    return every > 0 && frame % every == 0;
}

/// Positions of all nodes, and those of the surface in bodies->surface.
static sn_status add_positions(sn_recorded_bodies *bodies, int32_t index, const sn_state *state) {
    sn_status status = SN_OK;
    sn_body_info info = sn_model_body(bodies->model, index);
    sn_recorded_body *body = &bodies->body[index];
    for (size_t j = 0; j < 3 * (size_t)info.surface_vertex_count; j++)
        bodies->surface_floats[j] = (float)bodies->surface[j];
    if (bodies->def.npy) {
        SN_TRY(sn_npy_append(&body->surface, bodies->surface_floats));
        SN_TRY(sn_npy_append(&body->nodes, sn_state_positions(state) + 3 * (size_t)info.node_begin));
    }
    if (bodies->def.pc2)
        SN_TRY(sn_pc2_append(&body->pc2, bodies->surface_floats));
cleanup:
    return status;
}

static sn_status write_vtu(const sn_recorded_bodies *bodies, int32_t index, const sn_frame_view *frame) {
    char name[SN_VTU_NAME_SIZE];
    sn_vtu_name(bodies->names.name[index], frame->index, name);
    return sn_vtu_write(bodies->ctx, bodies->directory, name, frame, index, bodies->def.vtu_volume,
                        bodies->def.field_displacement);
}

/// Writes the surface as it is in bodies->surface.
static sn_status write_obj(const sn_recorded_bodies *bodies, int32_t index, const char *name,
                           const sn_frame_view *frame) {
    const sn_body_info info = sn_model_body(bodies->model, index);
    const sn_results_body body = {.name = info.name,
                                  .vertex_count = info.surface_vertex_count,
                                  .triangle_count = info.surface_triangle_count,
                                  .triangles = info.surface_triangles,
                                  .look = *sn_model_surface_look(bodies->model, index)};
    const sn_obj_frame obj = {frame->index, sn_state_time(frame->state), bodies->surface};
    return sn_obj_frame_write(bodies->ctx, bodies->directory, name, &body, &obj);
}

/// The OBJ file of the start, which tells names, texture coordinates and groups, and that of the frame.
static sn_status write_objs(const sn_recorded_bodies *bodies, int32_t index, const sn_frame_view *frame) {
    sn_status status = SN_OK;
    char name[FILE_NAME_SIZE];
    if (has_start(&bodies->def) && frame->index == 0)
        SN_TRY(write_obj(bodies, index, file_name(bodies, index, SN_SURFACE_OBJ, name), frame));
    if (is_due(bodies->def.obj_every, frame->index)) {
        snprintf(name, sizeof name, "%s.%06d.obj", bodies->names.name[index], frame->index);
        SN_TRY(write_obj(bodies, index, name, frame));
    }
cleanup:
    return status;
}

sn_status sn_recorded_bodies_frame(sn_recorded_bodies *bodies, const sn_frame_view *frame) {
    sn_status status = SN_OK;
    for (int32_t i = 0; i < bodies->names.count; i++) {
        sn_state_surface_positions(frame->state, i, bodies->surface);
        if (bodies->def.npy || bodies->def.pc2)
            SN_TRY(add_positions(bodies, i, frame->state));
        if (is_due(bodies->def.vtu_every, frame->index))
            SN_TRY(write_vtu(bodies, i, frame));
        SN_TRY(write_objs(bodies, i, frame));
    }
cleanup:
    return status;
}

// ---- The end

sn_status sn_recorded_bodies_list(const sn_recorded_bodies *bodies, int32_t frame_count,
                                  const sn_frame_record *record) {
    if (bodies->def.vtu_every == 0)
        return SN_OK;
    sn_status status = SN_OK;
    sn_vtu_frames frames = {0};
    double *time = NULL;
    int32_t *index = NULL, every = bodies->def.vtu_every, count = (frame_count - 1) / every + 1;
    SN_TRY_NEW(bodies->ctx, time, count);
    SN_TRY_NEW(bodies->ctx, index, count);
    for (int32_t i = 0; i < count; i++) {
        index[i] = i * every;
        time[i] = record[index[i]].time;
    }
    frames = (sn_vtu_frames){count, index, time};
    SN_TRY(sn_vtu_list(bodies->ctx, bodies->directory, bodies->names.count, bodies->names.name, &frames));
cleanup:
    SN_RELEASE(bodies->ctx, time);
    SN_RELEASE(bodies->ctx, index);
    return status;
}

sn_status sn_recorded_bodies_close(sn_recorded_bodies *bodies) {
    sn_status status = SN_OK;
    for (int32_t i = 0; i < bodies->names.count; i++) {
        sn_recorded_body *body = &bodies->body[i];
        if (bodies->def.npy) {
            SN_TRY(sn_npy_finish(&body->surface));
            SN_TRY(sn_npy_finish(&body->nodes));
        }
        if (bodies->def.pc2)
            SN_TRY(sn_pc2_finish(&body->pc2));
    }
cleanup:
    return status;
}
