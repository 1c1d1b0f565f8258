#include "io/io_results.h"

#include "io/io_mesh_build.h"
#include "io/io_recorder_stats.h"
#include "io/io_recorder_summary.h"
#include "mesh/mesh_look.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { STEM_MAX = 200, FILE_NAME_SIZE = STEM_MAX + 32 };

// ---- Which bodies

static bool ends_with(const char *text, const char *ending) {
    size_t length = strlen(text), tail = strlen(ending);
    return length > tail && strcmp(text + length - tail, ending) == 0;
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/// Counts the surfaces of the folder, and takes their stems if there is room for them.
static sn_status walk_surfaces(sn_results *results, DIR *folder, int32_t room, int32_t *out_count) {
    sn_status status = SN_OK;
    int32_t count = 0;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        char stem[sizeof entry->d_name];
        if (!ends_with(entry->d_name, SN_SURFACE_NPY))
            continue;
        size_t length = strlen(entry->d_name) - strlen(SN_SURFACE_NPY);
        memcpy(stem, entry->d_name, length);
        stem[length] = '\0';
        if (length > STEM_MAX)
            SN_TRY(sn_fail(results->ctx, SN_ERR_READ, "%s/%s: the name is longer than a run makes it",
                           results->directory, entry->d_name));
        if (count++ >= room)
            continue;
        SN_TRY(sn_new_text(results->ctx, stem, &results->stems.name[results->stems.count]));
        results->stems.count++;
    }
    *out_count = count;
cleanup:
    return status;
}

static sn_status find_bodies(sn_results *results) {
    sn_status status = SN_OK;
    sn_context *ctx = results->ctx;
    int32_t count = 0;
    DIR *folder = opendir(results->directory);
    if (!folder)
        return sn_fail(ctx, SN_ERR_READ, "cannot open the folder %s: %s", results->directory,
                       strerror(errno));
    SN_TRY(walk_surfaces(results, folder, 0, &count));
    if (count == 0)
        SN_TRY(sn_fail(ctx, SN_ERR_READ,
                       "%s holds no positions (*" SN_SURFACE_NPY
                       "): run the scene with output.npy, or name the folder that sinew run filled",
                       results->directory));
    SN_TRY_NEW_ZEROED(ctx, results->stems.name, count);
    rewinddir(folder);
    SN_TRY(walk_surfaces(results, folder, count, &count));
    if (results->stems.count == 0)
        SN_TRY(sn_fail(ctx, SN_ERR_READ, "%s was emptied meanwhile", results->directory));
    qsort(results->stems.name, (size_t)results->stems.count, sizeof(char *), compare_texts);
    SN_TRY_NEW_ZEROED(ctx, results->names.name, results->stems.count);
    SN_TRY_NEW_ZEROED(ctx, results->body, results->stems.count);
    for (int32_t i = 0; i < results->stems.count; i++)
        SN_TRY(sn_body_names_add(ctx, &results->names, results->stems.name[i]));
cleanup:
    closedir(folder);
    return status;
}

// ---- A body

static const char *file_name(const sn_results *results, int32_t index, const char *ending,
                             char out[FILE_NAME_SIZE]) {
    snprintf(out, FILE_NAME_SIZE, "%s%s", results->stems.name[index], ending);
    return out;
}

static sn_status read_triangles(sn_results *results, int32_t index) {
    sn_status status = SN_OK;
    sn_results_file *body = &results->body[index];
    sn_npy_input input = {0};
    char name[FILE_NAME_SIZE];
    file_name(results, index, SN_TRIANGLES_NPY, name);
    SN_TRY(sn_npy_input_open(results->ctx, results->directory, name, SN_NPY_INT32, false, 3, &input));
    SN_TRY_NEW(results->ctx, body->triangles, 3 * (size_t)input.rows);
    SN_TRY(sn_npy_input_read(&input, 0, body->triangles));
    for (size_t i = 0; i < 3 * (size_t)input.rows; i++)
        if (body->triangles[i] < 0 || body->triangles[i] >= body->surface.rows)
            SN_TRY(sn_fail(results->ctx, SN_ERR_READ,
                           "%s: triangle %zu names vertex %d, but %s has vertices from 0 to %d", input.path,
                           i / 3, body->triangles[i], body->surface.path, body->surface.rows - 1));
    body->triangle_count = input.rows;
cleanup:
    sn_npy_input_close(&input);
    return status;
}

/// The time of the start, from the first line of an OBJ file as sn_obj_frame_write() makes it.
static void take_start(sn_text *text, double *time) {
    static const char *const words[] = {"#", "Sinew,", "frame", "0,", "time"};
    double found = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!sn_word_is(sn_text_word(text), words[i]))
            return;
    if (sn_text_real(text, &found) && isfinite(found))
        *time = found;
}

/// The name behind "o " among the first lines of an OBJ file, or what the file is called by.
static sn_status take_name(sn_text *text, const char *otherwise, char **out_name) {
    enum { LINES_MAX = 4 };
    sn_status status = SN_OK;
    sn_word name = {otherwise, strlen(otherwise)};
    char *copy = NULL;
    for (int line = 0; line < LINES_MAX; line++, sn_text_next_line(text))
        if (sn_word_is(sn_text_word(text), "o")) {
            sn_word rest = sn_text_rest(text);
            name = rest.size > 0 ? rest : name;
            break;
        }
    SN_TRY(sn_new(text->ctx, name.size + 1, 1, (void **)&copy));
    memcpy(copy, name.at, name.size);
    copy[name.size] = '\0';
    *out_name = copy;
cleanup:
    return status;
}

/// Takes the look of the triangles from a mesh that must be the body's surface.
static sn_status take_look(sn_results *results, int32_t index, const sn_mesh_data *data, const char *path) {
    sn_status status = SN_OK;
    sn_results_file *body = &results->body[index];
    int32_t *triangles = NULL, count = 0;
    SN_TRY(sn_mesh_data_triangles(data, &count, &triangles));
    if (data->vertex_count != body->surface.rows || count != body->triangle_count ||
        memcmp(triangles, body->triangles, 3 * (size_t)count * sizeof *triangles) != 0)
        SN_TRY(sn_fail(results->ctx, SN_ERR_READ,
                       "%s has %d vertices and %d triangles, and %s %d and %d, or others: put back the files "
                       "of the run",
                       path, data->vertex_count, count, body->surface.path, body->surface.rows,
                       body->triangle_count));
    SN_TRY(sn_surface_look_of(results->ctx, data, count, &body->look));
cleanup:
    sn_mesh_data_free_array(data, triangles);
    return status;
}

/// Reads <body>.surface.obj. Runs of earlier versions have none.
static sn_status read_look(sn_results *results, int32_t index) {
    sn_status status = SN_OK;
    sn_results_file *body = &results->body[index];
    sn_text text = {0};
    sn_mesh_data *data = NULL;
    char name[FILE_NAME_SIZE], *path = NULL;
    bool there = false;
    file_name(results, index, SN_SURFACE_OBJ, name);
    SN_TRY(sn_folder_has(results->ctx, results->directory, name, &there));
    if (!there)
        return sn_new_text(results->ctx, results->stems.name[index], &body->name);
    SN_TRY(sn_path_join(results->ctx, results->directory, name, &path));
    SN_TRY(sn_text_open(results->ctx, path, &text));
    take_start(&text, &results->time[0]);
    sn_text_rewind(&text);
    SN_TRY(take_name(&text, results->stems.name[index], &body->name));
    sn_text_rewind(&text);
    SN_TRY(sn_mesh_data_read_text(&text, &data));
    SN_TRY(take_look(results, index, data, path));
cleanup:
    sn_mesh_data_destroy(&data);
    sn_text_close(&text);
    SN_RELEASE(results->ctx, path);
    return status;
}

static sn_status open_body(sn_results *results, int32_t index) {
    sn_status status = SN_OK;
    sn_results_file *body = &results->body[index];
    char name[FILE_NAME_SIZE];
    file_name(results, index, SN_SURFACE_NPY, name);
    SN_TRY(
        sn_npy_input_open(results->ctx, results->directory, name, SN_NPY_FLOAT32, true, 3, &body->surface));
    if (body->surface.frame_count == 0)
        SN_TRY(sn_fail(results->ctx, SN_ERR_READ, "%s holds no whole frame", body->surface.path));
    SN_TRY(read_triangles(results, index));
    SN_TRY(read_look(results, index));
cleanup:
    return status;
}

// ---- Times and the end

/// The value behind "key": in a line of JSON as Sinew writes it; size 0 if there is none.
static sn_word find_value(const char *begin, const char *end, const char *key) {
    size_t length = strlen(key);
    for (const char *at = begin; (size_t)(end - at) > length; at++)
        if (memcmp(at, key, length) == 0) {
            at += length;
            while (at < end && *at == ' ')
                at++;
            const char *stop = at;
            while (stop < end && !strchr(",} \n", *stop))
                stop++;
            return (sn_word){at, (size_t)(stop - at)};
        }
    return (sn_word){begin, 0};
}

static sn_status add_time(sn_results *results, double time) {
    size_t count = (size_t)results->frame_count;
    sn_status status =
        sn_grow(results->ctx, (void **)&results->time, &results->time_capacity, count + 1, sizeof time);
    if (status < 0)
        return status;
    results->time[count] = time;
    results->frame_count++;
    return SN_OK;
}

/// Takes the time of the next frame from a line of stats.jsonl. False: the line is no such record.
static bool take_time(const sn_text *text, const char *begin, const char *end, int32_t frame,
                      double *out_time) {
    int32_t found = 0;
    return sn_word_int(text, find_value(begin, end, "\"frame\":"), &found) && found == frame &&
           sn_word_real(text, find_value(begin, end, "\"time\":"), out_time) && isfinite(*out_time);
}

/// A line that is not whole ends the frames.
static sn_status take_times(sn_results *results, const sn_text *text) {
    sn_status status = SN_OK;
    for (const char *at = text->at; at < text->end;) {
        const char *end = memchr(at, '\n', (size_t)(text->end - at));
        double time = 0;
        if (!end || results->frame_count == INT32_MAX)
            break;
        if (!take_time(text, at, end, results->frame_count, &time))
            SN_TRY(sn_fail(results->ctx, SN_ERR_READ,
                           "%s:%d: found no record of frame %d and its time: the file is damaged", text->path,
                           results->frame_count, results->frame_count));
        SN_TRY(add_time(results, time));
        at = end + 1;
    }
cleanup:
    return status;
}

static sn_status check_times(const sn_results *results) {
    for (int32_t i = 1; i < results->frame_count; i++)
        if (results->time[i] <= results->time[i - 1])
            return sn_fail(results->ctx, SN_ERR_READ,
                           "%s/%s:%d: the time of frame %d, %.17g s, is not above that of the frame before, "
                           "%.17g s: the file is damaged",
                           results->directory, SN_STATS_FILE, i, i, results->time[i], results->time[i - 1]);
    return SN_OK;
}

/// Reads stats.jsonl, a record for every frame but the start, which is at 0 unless a surface tells otherwise.
static sn_status read_times(sn_results *results) {
    sn_status status = SN_OK;
    sn_text text = {0};
    char *path = NULL;
    struct stat facts;
    SN_TRY(sn_path_join(results->ctx, results->directory, SN_STATS_FILE, &path));
    SN_TRY(add_time(results, 0));
    if (stat(path, &facts) != 0)
        SN_TRY(sn_fail(results->ctx, SN_ERR_READ,
                       "%s holds no run (%s: %s): name the folder that sinew run filled", results->directory,
                       SN_STATS_FILE, strerror(errno)));
    // Before the first frame the file is empty.
    if (facts.st_size > 0) {
        SN_TRY(sn_text_open(results->ctx, path, &text));
        SN_TRY(take_times(results, &text));
    }
cleanup:
    sn_text_close(&text);
    SN_RELEASE(results->ctx, path);
    return status;
}

/// Reads from summary.json whether the run is complete. Without it, it has not ended.
static sn_status read_end(sn_results *results) {
    sn_status status = SN_OK;
    sn_text text = {0};
    char *path = NULL;
    bool there = false;
    int32_t planned = 0;
    results->frames_planned = -1;
    SN_TRY(sn_folder_has(results->ctx, results->directory, SN_SUMMARY_FILE, &there));
    if (!there)
        return SN_OK;
    SN_TRY(sn_path_join(results->ctx, results->directory, SN_SUMMARY_FILE, &path));
    SN_TRY(sn_text_open(results->ctx, path, &text));
    if (!sn_word_int(&text, find_value(text.at, text.end, "\"frames_planned\":"), &planned) || planned < 0)
        SN_TRY(sn_fail(results->ctx, SN_ERR_READ, "%s tells no number of frames_planned: the file is damaged",
                       path));
    results->frames_planned = planned;
    results->finished = results->frame_count > planned;
cleanup:
    sn_text_close(&text);
    SN_RELEASE(results->ctx, path);
    return status;
}

// ---- The whole

static sn_status open_all(sn_results *results) {
    sn_status status = SN_OK;
    SN_TRY(read_times(results));
    SN_TRY(find_bodies(results));
    for (int32_t i = 0; i < results->stems.count; i++) {
        SN_TRY(open_body(results, i));
        if (results->body[i].surface.frame_count < results->frame_count)
            results->frame_count = (int32_t)results->body[i].surface.frame_count;
    }
    SN_TRY(check_times(results));
    SN_TRY(read_end(results));
cleanup:
    return status;
}

sn_status sn_results_open(sn_context *context, const char *directory, sn_results **out_results) {
    if (!context || !out_results)
        return SN_ERR_INVALID_ARGUMENT;
    if (!directory || !*directory)
        return sn_fail(context, SN_ERR_INVALID_ARGUMENT, "results: the name of a folder must be given");
    sn_status status = SN_OK;
    sn_results *results = NULL;
    SN_TRY_NEW_ZEROED(context, results, 1);
    results->ctx = context;
    SN_TRY(sn_new_text(context, directory, &results->directory));
    SN_TRY(open_all(results));
    *out_results = results;
    return SN_OK;
cleanup:
    sn_results_close(&results);
    return status;
}

static void release_names(sn_context *ctx, sn_body_names *names) {
    for (int32_t i = 0; i < names->count; i++)
        sn_release(ctx, names->name[i]);
    SN_RELEASE(ctx, names->name);
}

void sn_results_close(sn_results **results) {
    if (!results || !*results)
        return;
    sn_results *r = *results;
    sn_context *ctx = r->ctx;
    for (int32_t i = 0; r->body && i < r->stems.count; i++) {
        sn_npy_input_close(&r->body[i].surface);
        sn_surface_look_release(ctx, &r->body[i].look);
        SN_RELEASE(ctx, r->body[i].name);
        SN_RELEASE(ctx, r->body[i].triangles);
    }
    SN_RELEASE(ctx, r->body);
    release_names(ctx, &r->stems);
    release_names(ctx, &r->names);
    SN_RELEASE(ctx, r->time);
    SN_RELEASE(ctx, r->directory);
    sn_release(ctx, r);
    *results = NULL;
}

sn_results_info sn_results_get_info(const sn_results *results) {
    return (sn_results_info){.body_count = results->stems.count,
                             .frame_count = results->frame_count,
                             .frames_planned = results->frames_planned,
                             .finished = results->finished,
                             .time = results->time};
}

sn_results_body sn_results_get_body(const sn_results *results, int32_t body_index) {
    if (body_index < 0 || body_index >= results->stems.count)
        return (sn_results_body){0};
    const sn_results_file *body = &results->body[body_index];
    return (sn_results_body){.name = body->name,
                             .file_name = results->names.name[body_index],
                             .vertex_count = body->surface.rows,
                             .triangle_count = body->triangle_count,
                             .triangles = body->triangles,
                             .look = body->look};
}

sn_status sn_results_positions(const sn_results *results, int32_t body_index, int32_t frame,
                               float *out_positions) {
    if (!results)
        return SN_ERR_INVALID_ARGUMENT;
    if (!out_positions || body_index < 0 || body_index >= results->stems.count || frame < 0 ||
        frame >= results->frame_count)
        return sn_fail(results->ctx, SN_ERR_INVALID_ARGUMENT,
                       "results: body %d and frame %d were asked for; there are %d bodies and %d frames",
                       body_index, frame, results->stems.count, results->frame_count);
    const sn_npy_input *input = &results->body[body_index].surface;
    sn_status status = sn_npy_input_read(input, frame, out_positions);
    for (size_t i = 0; status == SN_OK && i < 3 * (size_t)input->rows; i++)
        if (!isfinite(out_positions[i]))
            status = sn_fail(results->ctx, SN_ERR_READ,
                             "%s: vertex %zu of frame %d is not finite: the file is damaged", input->path,
                             i / 3, frame);
    return status;
}
