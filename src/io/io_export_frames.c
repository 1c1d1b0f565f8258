/// Exports that repeat what a run can write itself: point caches as PC2, a file per frame as OBJ or VTU.
#include "io/io_export.h"
#include "io/io_obj_frame.h"
#include "io/io_pc2.h"
#include "io/io_vtu_series.h"

#include <stdio.h>

// ---- PC2

static sn_status write_pc2(sn_export_job *job, int32_t place, sn_output *output) {
    sn_status status = SN_OK;
    int32_t vertices = sn_export_body(job, place).vertex_count;
    unsigned char header[SN_PC2_HEADER_SIZE];
    sn_pc2_header(header, vertices, job->frame_count);
    SN_TRY(sn_output_write(output, header, sizeof header));
    for (int32_t f = 0; f < job->frame_count; f++) {
        SN_TRY(sn_export_read(job, place, f));
        SN_TRY(sn_output_write(output, job->positions, 3 * (size_t)vertices * sizeof *job->positions));
    }
cleanup:
    return status;
}

sn_status sn_pc2_export(sn_export_job *job) {
    sn_status status = SN_OK;
    sn_output output = {0};
    char name[SN_EXPORT_NAME_SIZE];
    for (int32_t i = 0; i < job->body_count; i++) {
        SN_TRY(sn_output_open(job->ctx, job->directory, sn_export_name(job, i, ".pc2", name), SN_OUTPUT_WHOLE,
                              &output));
        SN_TRY(write_pc2(job, i, &output));
        SN_TRY(sn_output_finish(&output));
        job->file_count++;
    }
cleanup:
    sn_output_abandon(&output);
    return status;
}

// ---- Sequences

/// Writes directory/name: a body's surface where `position` [vertex_count, 3] has it.
typedef sn_status write_frame(sn_export_job *job, const sn_results_body *body, int32_t frame_place,
                              double *position);

static sn_status write_obj(sn_export_job *job, const sn_results_body *body, int32_t frame_place,
                           double *position) {
    char name[SN_EXPORT_NAME_SIZE];
    const sn_obj_frame frame = {job->frame[frame_place], job->time[frame_place], position};
    snprintf(name, sizeof name, "%s.%06d.obj", body->file_name, frame.index);
    return sn_obj_frame_write(job->ctx, job->directory, name, body, &frame);
}

static sn_status write_vtu(sn_export_job *job, const sn_results_body *body, int32_t frame_place,
                           double *position) {
    sn_status status = SN_OK;
    char name[SN_VTU_NAME_SIZE], *path = NULL;
    // The mesh is only read.
    sn_cell_block block = {.kind = SN_CELL_TRIANGLE,
                           .count = body->triangle_count,
                           .vertex = (int32_t *)(uintptr_t)body->triangles,
                           .group = body->look.triangle_group};
    sn_mesh_data data = {.context = job->ctx,
                         .vertex_count = body->vertex_count,
                         .position = position,
                         .block_count = 1,
                         .block = &block,
                         .group_count = body->look.group_count,
                         .group = body->look.group,
                         .note = (char *)(uintptr_t) ""};
    sn_vtu_name(body->file_name, job->frame[frame_place], name);
    SN_TRY(sn_path_join(job->ctx, job->directory, name, &path));
    SN_TRY(sn_mesh_data_write(&data, path));
cleanup:
    SN_RELEASE(job->ctx, path);
    return status;
}

static sn_status write_sequence(sn_export_job *job, write_frame *write) {
    sn_status status = SN_OK;
    double *position = NULL;
    for (int32_t i = 0; i < job->body_count; i++) {
        const sn_results_body body = sn_export_body(job, i);
        SN_TRY_NEW(job->ctx, position, 3 * (size_t)body.vertex_count);
        for (int32_t f = 0; f < job->frame_count; f++) {
            SN_TRY(sn_export_read(job, i, f));
            for (size_t k = 0; k < 3 * (size_t)body.vertex_count; k++)
                position[k] = job->positions[k];
            SN_TRY(write(job, &body, f, position));
            job->file_count++;
        }
        SN_RELEASE(job->ctx, position);
    }
cleanup:
    SN_RELEASE(job->ctx, position);
    return status;
}

sn_status sn_obj_sequence_export(sn_export_job *job) {
    return write_sequence(job, write_obj);
}

sn_status sn_vtu_sequence_export(sn_export_job *job) {
    sn_status status = SN_OK;
    char **names = NULL;
    const sn_vtu_frames frames = {job->frame_count, job->frame, job->time};
    SN_TRY(write_sequence(job, write_vtu));
    SN_TRY_NEW(job->ctx, names, job->body_count);
    for (int32_t i = 0; i < job->body_count; i++)
        names[i] = (char *)(uintptr_t)sn_export_body(job, i).file_name;
    SN_TRY(sn_vtu_list(job->ctx, job->directory, job->body_count, names, &frames));
    job->file_count += 1 + job->body_count;
cleanup:
    SN_RELEASE(job->ctx, names);
    return status;
}
