/// NPZ files: NPY arrays in a ZIP archive, for numpy.load().
///
/// frame, time: [frames] numbers of the frames and their times in s. Of every body NAME (as in names of
/// files): NAME.surface [frames, vertices, 3] in m, NAME.triangles [triangles, 3]; where the surface has them
/// NAME.uv [uvs, 2], NAME.triangle_uv [triangles, 3] (-1: none), NAME.triangle_group [triangles] (-1: none)
/// and NAME.groups, their names as UTF-8 bytes.
#include "io/io_export.h"
#include "io/io_npy.h"
#include "io/io_zip.h"

#include <stdio.h>
#include <string.h>

/// Begins an array: `count` numbers of `shape`.
static sn_status begin_array(sn_zip *zip, const char *name, const char *part, sn_npy_kind kind,
                             const char *shape, uint64_t count) {
    sn_status status = SN_OK;
    char file[SN_EXPORT_NAME_SIZE + 32], header[SN_NPY_HEADER_SIZE];
    snprintf(file, sizeof file, "%s%s.npy", name, part);
    sn_npy_header(header, kind, shape);
    SN_TRY(sn_zip_begin(zip, file, sizeof header + count * sn_npy_number_size(kind)));
    SN_TRY(sn_zip_write(zip, header, sizeof header));
cleanup:
    return status;
}

/// Writes an array [rows, columns], or [rows] for 0 columns.
static sn_status write_array(sn_zip *zip, const char *name, const char *part, sn_npy_kind kind, int32_t rows,
                             int32_t columns, const void *values) {
    sn_status status = SN_OK;
    char shape[64];
    size_t count = (size_t)rows * (size_t)(columns > 0 ? columns : 1);
    if (columns > 0)
        snprintf(shape, sizeof shape, "%d, %d", rows, columns);
    else
        snprintf(shape, sizeof shape, "%d,", rows);
    SN_TRY(begin_array(zip, name, part, kind, shape, count));
    SN_TRY(sn_zip_write(zip, values, count * sn_npy_number_size(kind)));
cleanup:
    return status;
}

static sn_status write_surface(sn_export_job *job, int32_t place, sn_zip *zip) {
    sn_status status = SN_OK;
    const sn_results_body body = sn_export_body(job, place);
    char shape[64];
    uint64_t numbers = 3 * (uint64_t)body.vertex_count;
    snprintf(shape, sizeof shape, "%d, %d, 3", job->frame_count, body.vertex_count);
    SN_TRY(begin_array(zip, body.file_name, ".surface", SN_NPY_FLOAT32, shape,
                       numbers * (uint64_t)job->frame_count));
    for (int32_t f = 0; f < job->frame_count; f++) {
        SN_TRY(sn_export_read(job, place, f));
        SN_TRY(sn_zip_write(zip, job->positions, numbers * sizeof *job->positions));
    }
cleanup:
    return status;
}

/// Names of one length, filled up with zero bytes: numpy's kind "S".
static sn_status write_names(const sn_results_body *body, sn_zip *zip) {
    sn_status status = SN_OK;
    const sn_surface_look *look = &body->look;
    char file[SN_EXPORT_NAME_SIZE + 32], header[SN_NPY_HEADER_SIZE];
    size_t longest = 1;
    for (int32_t g = 0; g < look->group_count; g++)
        longest = strlen(look->group[g]) > longest ? strlen(look->group[g]) : longest;
    snprintf(file, sizeof file, "%s.groups.npy", body->file_name);
    sn_npy_text_header(header, longest, look->group_count);
    SN_TRY(sn_zip_begin(zip, file, sizeof header + longest * (uint64_t)look->group_count));
    SN_TRY(sn_zip_write(zip, header, sizeof header));
    for (int32_t g = 0; g < look->group_count; g++) {
        SN_TRY(sn_zip_write(zip, look->group[g], strlen(look->group[g])));
        for (size_t i = strlen(look->group[g]); i < longest; i++)
            SN_TRY(sn_zip_write(zip, "", 1));
    }
cleanup:
    return status;
}

static sn_status write_look(const sn_results_body *body, sn_zip *zip) {
    sn_status status = SN_OK;
    const sn_surface_look *look = &body->look;
    if (look->triangle_uv) {
        SN_TRY(write_array(zip, body->file_name, ".uv", SN_NPY_FLOAT64, look->uv_count, 2, look->uv));
        SN_TRY(write_array(zip, body->file_name, ".triangle_uv", SN_NPY_INT32, body->triangle_count, 3,
                           look->triangle_uv));
    }
    if (look->triangle_group) {
        SN_TRY(write_array(zip, body->file_name, ".triangle_group", SN_NPY_INT32, body->triangle_count, 0,
                           look->triangle_group));
        SN_TRY(write_names(body, zip));
    }
cleanup:
    return status;
}

sn_status sn_npz_export(sn_export_job *job) {
    sn_status status = SN_OK;
    sn_zip zip = {0};
    char name[SN_EXPORT_NAME_SIZE];
    SN_TRY(sn_zip_open(job->ctx, job->directory, sn_export_name(job, -1, ".npz", name), &zip));
    SN_TRY(write_array(&zip, "frame", "", SN_NPY_INT32, job->frame_count, 0, job->frame));
    SN_TRY(write_array(&zip, "time", "", SN_NPY_FLOAT64, job->frame_count, 0, job->time));
    for (int32_t i = 0; i < job->body_count; i++) {
        const sn_results_body body = sn_export_body(job, i);
        SN_TRY(write_surface(job, i, &zip));
        SN_TRY(write_array(&zip, body.file_name, ".triangles", SN_NPY_INT32, body.triangle_count, 3,
                           body.triangles));
        SN_TRY(write_look(&body, &zip));
    }
    SN_TRY(sn_zip_finish(&zip));
    job->file_count++;
cleanup:
    sn_zip_abandon(&zip);
    return status;
}
