#include "io/io_export.h"

#include "io/io_def.h"
#include "io/io_recorder_folder.h"
#include "io/io_results.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

// ---- Formats

typedef struct exporter {
    const char *name, *help;
    sn_export_writer *write;
} exporter;

static const exporter exporters[] = {
    {"mdd", "BODY.mdd, point caches for Blender, Maya, Houdini and others", sn_mdd_export},
    {"pc2", "BODY.pc2, the same for Blender, 3ds Max and others", sn_pc2_export},
    {"glb", "frames.glb, glTF with a morph target per frame, for Blender, three.js and others",
     sn_glb_export},
    {"usda", "frames.usda, USD with time samples, for usdview, Houdini, Omniverse and others",
     sn_usda_export},
    {"npz", "frames.npz, all arrays in one file for numpy", sn_npz_export},
    {"obj", "BODY.000012.obj, a surface per frame", sn_obj_sequence_export},
    {"vtu", "BODY.000012.vtu, the same for ParaView, with frames.pvd and BODY.vtu.series",
     sn_vtu_sequence_export},
    {"png", "frame.000012.png, a picture of bodies and rigid shapes per frame, drawn without a display",
     sn_png_export},
};
enum { EXPORTER_COUNT = sizeof exporters / sizeof *exporters };

const char *sn_export_format(int32_t index, const char **out_help) {
    if (index < 0 || index >= EXPORTER_COUNT)
        return NULL;
    if (out_help)
        *out_help = exporters[index].help;
    return exporters[index].name;
}

static sn_status find_exporter(sn_context *ctx, const char *format, const exporter **out_exporter) {
    const char *nearest = NULL;
    for (int32_t i = 0; i < EXPORTER_COUNT; i++) {
        if (strcmp(exporters[i].name, format) == 0) {
            *out_exporter = &exporters[i];
            return SN_OK;
        }
        sn_text_nearest(format, exporters[i].name, &nearest);
    }
    char names[256] = "";
    for (int32_t i = 0; i < EXPORTER_COUNT; i++)
        sn_text_append(names, sizeof names, "%s%s", i > 0 ? ", " : "", exporters[i].name);
    if (nearest)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "unknown format \"%s\"; did you mean %s? There are %s",
                       format, nearest, names);
    return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "unknown format \"%s\", expected one of %s", format, names);
}

// ---- What writers use

sn_results_body sn_export_body(const sn_export_job *job, int32_t place) {
    return sn_results_get_body(job->results, job->body[place]);
}

sn_status sn_export_read(const sn_export_job *job, int32_t body_place, int32_t frame_place) {
    return sn_results_positions(job->results, job->body[body_place], job->frame[frame_place], job->positions);
}

const char *sn_export_name(const sn_export_job *job, int32_t body_place, const char *ending,
                           char out[SN_EXPORT_NAME_SIZE]) {
    const char *stem = "frames";
    if (body_place >= 0 || job->def->body)
        stem = sn_export_body(job, body_place >= 0 ? body_place : 0).file_name;
    int length = snprintf(out, SN_EXPORT_NAME_SIZE, "%s%s", stem, ending);
    SN_ASSERT(length > 0 && length < SN_EXPORT_NAME_SIZE);
    (void)length;
    return out;
}

double sn_export_rate(const sn_export_job *job) {
    const sn_results_info run = sn_results_get_info(job->results);
    const bool one = job->frame_count == 1;
    const double *time = one ? run.time : job->time;
    const int32_t steps = (one ? run.frame_count : job->frame_count) - 1;
    const double stride = one ? job->def->frame_step : 1;
    if (steps == 0)
        return 24;
    // Nine digits: times are sums of steps, and 50.000000000000007 is meant to be 50.
    double rate = steps / (time[steps] - time[0]) / stride, digits = pow(10, 8 - floor(log10(rate)));
    return round(rate * digits) / digits;
}

// ---- Choosing

static sn_status choose_bodies(sn_export_job *job) {
    sn_status status = SN_OK;
    const char *wanted = job->def->body;
    int32_t count = sn_results_get_info(job->results).body_count;
    char names[512] = "";
    SN_TRY_NEW(job->ctx, job->body, count);
    for (int32_t i = 0; i < count; i++) {
        const sn_results_body body = sn_results_get_body(job->results, i);
        sn_text_append(names, sizeof names, "%s%s", i > 0 ? ", " : "", body.name);
        if (!wanted || strcmp(wanted, body.name) == 0)
            job->body[job->body_count++] = i;
    }
    // Names of files are all different, those of bodies may have been changed by hand.
    for (int32_t i = 0; wanted && job->body_count == 0 && i < count; i++)
        if (strcmp(wanted, sn_results_get_body(job->results, i).file_name) == 0)
            job->body[job->body_count++] = i;
    if (wanted && job->body_count == 0)
        SN_TRY(sn_fail(job->ctx, SN_ERR_INVALID_ARGUMENT, "%s has no body \"%s\"; it has %s",
                       job->results->directory, wanted, names));
    if (wanted)
        job->body_count = 1;
cleanup:
    return status;
}

static sn_status choose_frames(sn_export_job *job) {
    sn_status status = SN_OK;
    const sn_export_def *def = job->def;
    const sn_results_info info = sn_results_get_info(job->results);
    int32_t last = def->frame_last < 0 ? info.frame_count - 1 : def->frame_last;
    if (def->frame_first > last || last >= info.frame_count)
        SN_TRY(sn_fail(job->ctx, SN_ERR_INVALID_ARGUMENT,
                       "frames %d to %d were asked for; %s has frames 0 to %d", def->frame_first, last,
                       job->results->directory, info.frame_count - 1));
    job->frame_count = (last - def->frame_first) / def->frame_step + 1;
    SN_TRY_NEW(job->ctx, job->frame, job->frame_count);
    SN_TRY_NEW(job->ctx, job->time, job->frame_count);
    for (int32_t i = 0; i < job->frame_count; i++) {
        job->frame[i] = def->frame_first + i * def->frame_step;
        job->time[i] = info.time[job->frame[i]];
    }
cleanup:
    return status;
}

static sn_status take_memory(sn_export_job *job) {
    size_t largest = 1;
    for (int32_t i = 0; i < job->body_count; i++) {
        size_t count = (size_t)sn_export_body(job, i).vertex_count;
        largest = count > largest ? count : largest;
    }
    return sn_new(job->ctx, 3 * largest, sizeof *job->positions, (void **)&job->positions);
}

// ---- Exporting

static sn_status check_arguments(const sn_results *results, const char *format, const sn_export_def *def) {
    if (!format || !def)
        return sn_fail(results->ctx, SN_ERR_INVALID_ARGUMENT, "export: format and def must be given");
    return sn_field_check(results->ctx, &sn_export_fields, def);
}

sn_status sn_export_into(const sn_results *results, const char *format, const char *directory,
                         const sn_export_def *def, int32_t *out_files) {
    sn_status status = SN_OK;
    sn_context *ctx = results->ctx;
    const exporter *chosen = NULL;
    sn_export_job job = {.ctx = ctx, .results = results, .def = def, .directory = directory};
    SN_TRY(check_arguments(results, format, def));
    SN_TRY(find_exporter(ctx, format, &chosen));
    SN_TRY(choose_bodies(&job));
    SN_TRY(choose_frames(&job));
    SN_TRY(take_memory(&job));
    SN_TRY(sn_folder_make(ctx, directory));
    SN_TRY(chosen->write(&job));
    if (out_files)
        *out_files = job.file_count;
cleanup:
    SN_RELEASE(ctx, job.body);
    SN_RELEASE(ctx, job.frame);
    SN_RELEASE(ctx, job.time);
    SN_RELEASE(ctx, job.positions);
    return status;
}

/// Files with the names of the run's own, which may hold more, would take their places.
static sn_status check_directory(const sn_results *results, const char *directory) {
    struct stat run, other;
    if (stat(results->directory, &run) != 0 || stat(directory, &other) != 0 || run.st_dev != other.st_dev ||
        run.st_ino != other.st_ino)
        return SN_OK;
    return sn_fail(
        results->ctx, SN_ERR_INVALID_ARGUMENT,
        "%s is the folder of the run, whose own files may have the same names: export into another "
        "one",
        directory);
}

sn_status sn_results_export(const sn_results *results, const char *format, const sn_export_def *def,
                            int32_t *out_files) {
    if (!results)
        return SN_ERR_INVALID_ARGUMENT;
    sn_status status = SN_OK;
    char *directory = NULL;
    SN_TRY(check_arguments(results, format, def));
    if (def->directory)
        SN_TRY(sn_new_text(results->ctx, def->directory, &directory));
    else
        SN_TRY(sn_path_join(results->ctx, results->directory, "export", &directory));
    SN_TRY(check_directory(results, directory));
    SN_TRY(sn_export_into(results, format, directory, def, out_files));
cleanup:
    SN_RELEASE(results->ctx, directory);
    return status;
}
