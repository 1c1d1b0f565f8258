#define _POSIX_C_SOURCE 200809L
#include "io/io_json.h"
#include "io/io_npy.h"
#include "io/io_player.h"
#include "io/io_recorder_frame.h"
#include "io/io_vtu.h"
#include "sinew/version.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/// Longest part of a file name that a body's name gives.
enum { MAX_BODY_FILE_NAME = 100, STATUS_COUNT = 3 };

const char *const sn_quantity_names[SN_FIELD_COUNT] = {"displacement", "strain"};
const char *const sn_quantity_units[SN_FIELD_COUNT] = {"m", ""};

/// Files of one body.
typedef struct recorded_body {
    char *file_name; ///< Its name, fit for file names and unique.
    sn_npy surface, nodes;
} recorded_body;

struct sn_recorder {
    sn_context *ctx;
    const sn_model *model;
    char *directory, *scene_path;
    sn_output_def def;
    sn_run_info run;
    int32_t body_count;
    recorded_body *body; ///< [body_count]
    sn_output stats;
    sn_player *player; ///< NULL: not wanted.
    sn_json line, pvd; ///< The current line of stats.jsonl; the entries of the .pvd so far.
    double *field_values[SN_FIELD_COUNT]; ///< [node_count]; NULL: not wanted.
    double *surface;                      ///< [3 * largest surface]
    float *surface_floats;                ///< The same.
    double *frame_ms;                     ///< [step_count]
    size_t frame_ms_capacity;
    int32_t frame_count; ///< With the start.
    int32_t status_count[STATUS_COUNT];
    bool finished;
};

const char *sn_step_status_word(sn_step_status status) {
    static const char *const words[] = {"converged", "budget", "stalled"};
    return words[status];
}

const char *sn_stop_test_word(sn_stop_test test) {
    static const char *const words[] = {"budget", "displacement", "rounding", "line_search"};
    return words[test];
}

// ---- The folder

static bool ends_with(const char *text, const char *ending) {
    size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && strcmp(text + length - tail, ending) == 0;
}

/// "<body>.000012.vtu": the form of our VTU names.
static bool is_frame_file(const char *name) {
    if (!ends_with(name, ".vtu"))
        return false;
    size_t digits = 0, at = strlen(name) - strlen(".vtu");
    for (; at > 0 && isdigit((unsigned char)name[at - 1]); at--)
        digits++;
    return digits >= 6 && at > 1 && name[at - 1] == '.';
}

/// Whether a file is one that a recorder makes.
static bool is_ours(const char *name) {
    static const char *const names[] = {"stats.jsonl", "summary.json", "player.html", "frames.pvd"};
    static const char *const endings[] = {".surface.npy", ".nodes.npy", ".triangles.npy", ".tets.npy"};
    char plain[512];
    snprintf(plain, sizeof plain, "%s", name);
    if (ends_with(plain, ".tmp"))
        plain[strlen(plain) - strlen(".tmp")] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(plain, names[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(plain, endings[i]))
            return true;
    return is_frame_file(plain);
}

/// Makes a folder and those above it.
static sn_status make_directory(sn_context *ctx, const char *directory) {
    char *path = NULL;
    sn_status status = sn_new_text(ctx, directory, &path);
    if (status < 0)
        return status;
    for (char *at = path + 1; status == SN_OK; at++) {
        char kept = *at;
        if (kept != '/' && kept != '\0')
            continue;
        *at = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            status = sn_fail(ctx, SN_ERR_WRITE, "cannot make the folder %s: %s", path, strerror(errno));
        *at = kept;
        if (kept == '\0')
            break;
    }
    SN_RELEASE(ctx, path);
    return status;
}

/// Removes one of our files, or refuses to.
static sn_status clear_file(sn_context *ctx, const char *directory, const char *name, bool overwrite) {
    if (!overwrite)
        return sn_fail(ctx, SN_ERR_WRITE,
                       "%s already holds a run (%s): choose another folder, or overwrite it (--overwrite)",
                       directory, name);
    char *path = NULL;
    sn_status status = sn_path_join(ctx, directory, name, &path);
    if (status == SN_OK && unlink(path) != 0)
        status = sn_fail(ctx, SN_ERR_WRITE, "cannot remove %s: %s", path, strerror(errno));
    SN_RELEASE(ctx, path);
    return status;
}

/// Makes sure that the folder exists and holds no run.
static sn_status prepare_directory(sn_context *ctx, const char *directory, bool overwrite) {
    sn_status status = make_directory(ctx, directory);
    if (status < 0)
        return status;
    DIR *folder = opendir(directory);
    if (!folder)
        return sn_fail(ctx, SN_ERR_WRITE, "cannot open the folder %s: %s", directory, strerror(errno));
    for (struct dirent *entry = readdir(folder); entry && status == SN_OK; entry = readdir(folder))
        if (is_ours(entry->d_name))
            status = clear_file(ctx, directory, entry->d_name, overwrite);
    closedir(folder);
    return status;
}

// ---- Bodies

static bool is_plain(char c) {
    return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

static bool name_is_taken(const sn_recorder *recorder, int32_t count, const char *name) {
    for (int32_t i = 0; i < count; i++)
        if (strcmp(recorder->body[i].file_name, name) == 0)
            return true;
    return false;
}

/// A body's name with letters, digits, "-", "_" and "." only; a number is added where two become alike.
static sn_status name_body(sn_recorder *recorder, int32_t index, const char *name) {
    char base[MAX_BODY_FILE_NAME + 1], chosen[MAX_BODY_FILE_NAME + 16];
    snprintf(base, sizeof base, "%s", *name ? name : "body");
    for (char *at = base; *at; at++)
        if (!is_plain(*at) || (at == base && *at == '.'))
            *at = '_';
    snprintf(chosen, sizeof chosen, "%s", base);
    for (int32_t number = 2; name_is_taken(recorder, index, chosen); number++)
        snprintf(chosen, sizeof chosen, "%s-%d", base, number);
    return sn_new_text(recorder->ctx, chosen, &recorder->body[index].file_name);
}

/// Opens directory/<body><ending> for growing.
static sn_status open_npy(const sn_recorder *recorder, int32_t index, const char *ending, sn_npy_kind kind,
                          int32_t rows, sn_npy *npy) {
    char name[MAX_BODY_FILE_NAME + 64];
    snprintf(name, sizeof name, "%s%s", recorder->body[index].file_name, ending);
    return sn_npy_open(recorder->ctx, recorder->directory, name, kind, rows, 3, npy);
}

/// Writes directory/<body><ending>: cells with vertices counted from the body's first.
static sn_status write_cells(const sn_recorder *recorder, int32_t index, const char *ending, int32_t count,
                             int32_t corners, const int32_t *cells, int32_t origin) {
    sn_status status = SN_OK;
    int32_t *local = NULL;
    char name[MAX_BODY_FILE_NAME + 64];
    snprintf(name, sizeof name, "%s%s", recorder->body[index].file_name, ending);
    size_t total = (size_t)count * (size_t)corners;
    SN_TRY_NEW(recorder->ctx, local, total);
    for (size_t i = 0; i < total; i++)
        local[i] = cells[i] - origin;
    SN_TRY(sn_npy_write(recorder->ctx, recorder->directory, name, SN_NPY_INT32, count, corners, local));
cleanup:
    SN_RELEASE(recorder->ctx, local);
    return status;
}

static sn_status open_body_files(sn_recorder *recorder, int32_t index) {
    sn_status status = SN_OK;
    sn_body_info info = sn_model_body(recorder->model, index);
    recorded_body *body = &recorder->body[index];
    SN_TRY(
        open_npy(recorder, index, ".surface.npy", SN_NPY_FLOAT32, info.surface_vertex_count, &body->surface));
    SN_TRY(open_npy(recorder, index, ".nodes.npy", SN_NPY_FLOAT64, info.node_count, &body->nodes));
    SN_TRY(write_cells(recorder, index, ".triangles.npy", info.surface_triangle_count, 3,
                       info.surface_triangles, 0));
    SN_TRY(write_cells(recorder, index, ".tets.npy", info.tet_count, 4,
                       sn_model_tets(recorder->model) + 4 * (size_t)info.tet_begin, info.node_begin));
cleanup:
    return status;
}

static sn_status init_bodies(sn_recorder *recorder) {
    sn_status status = SN_OK;
    sn_model_info info = sn_model_get_info(recorder->model);
    size_t largest = 1;
    SN_TRY_NEW_ZEROED(recorder->ctx, recorder->body, info.body_count);
    recorder->body_count = info.body_count;
    for (int32_t i = 0; i < info.body_count; i++) {
        sn_body_info body = sn_model_body(recorder->model, i);
        SN_TRY(name_body(recorder, i, body.name));
        if ((size_t)body.surface_vertex_count > largest)
            largest = (size_t)body.surface_vertex_count;
        if (recorder->def.npy)
            SN_TRY(open_body_files(recorder, i));
    }
    SN_TRY_NEW(recorder->ctx, recorder->surface, 3 * largest);
    SN_TRY_NEW(recorder->ctx, recorder->surface_floats, 3 * largest);
    if (recorder->def.field_displacement)
        SN_TRY_NEW(recorder->ctx, recorder->field_values[SN_QUANTITY_DISPLACEMENT], info.node_count);
    if (recorder->def.field_strain)
        SN_TRY_NEW(recorder->ctx, recorder->field_values[SN_QUANTITY_STRAIN], info.node_count);
cleanup:
    return status;
}

// ---- Life of a recorder

static sn_status check_arguments(sn_context *ctx, const sn_model *model, const char *directory,
                                 const sn_output_def *def, const sn_run_info *run) {
    if (!model || !directory || !*directory || !def || !run)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "recorder: model, directory, def and run must be given");
    if (def->mark != SN_DEF_MARK)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "recorder: start from sn_output_def_default()");
    if (def->vtu_every < 0)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "recorder: vtu_every is %d; 0 or more is allowed",
                       def->vtu_every);
    if (!isfinite(run->frame_seconds) || run->frame_seconds <= 0 || run->frame_total < 0)
        return sn_fail(
            ctx, SN_ERR_INVALID_ARGUMENT,
            "recorder: frame_seconds is %g and frame_total %d; more than 0 and 0 or more are allowed",
            run->frame_seconds, run->frame_total);
    return SN_OK;
}

static sn_status recorder_init(sn_recorder *recorder, bool overwrite) {
    sn_status status = SN_OK;
    SN_TRY(prepare_directory(recorder->ctx, recorder->directory, overwrite));
    SN_TRY(sn_output_open(recorder->ctx, recorder->directory, "stats.jsonl", SN_OUTPUT_GROWING,
                          &recorder->stats));
    SN_TRY(init_bodies(recorder));
    if (recorder->def.player)
        SN_TRY(sn_player_create(recorder->ctx, recorder->model, recorder->directory, &recorder->def,
                                &recorder->run, &recorder->player));
cleanup:
    return status;
}

sn_status sn_recorder_create(sn_context *context, const sn_model *model, const char *directory,
                             bool overwrite, const sn_output_def *def, const sn_run_info *run,
                             sn_recorder **out_recorder) {
    if (!context || !out_recorder)
        return SN_ERR_INVALID_ARGUMENT;
    sn_status status = SN_OK;
    sn_recorder *recorder = NULL;
    SN_TRY(check_arguments(context, model, directory, def, run));
    SN_TRY_NEW_ZEROED(context, recorder, 1);
    recorder->ctx = context;
    recorder->model = model;
    recorder->def = *def;
    recorder->run = *run;
    recorder->line = sn_json_make(context);
    recorder->pvd = sn_json_make(context);
    SN_TRY(sn_new_text(context, directory, &recorder->directory));
    SN_TRY(sn_new_text(context, run->scene_path ? run->scene_path : "", &recorder->scene_path));
    recorder->run.scene_path = recorder->scene_path;
    SN_TRY(recorder_init(recorder, overwrite));
    *out_recorder = recorder;
    return SN_OK;
cleanup:
    sn_recorder_destroy(&recorder);
    return status;
}

void sn_recorder_destroy(sn_recorder **recorder) {
    if (!recorder || !*recorder)
        return;
    sn_recorder *r = *recorder;
    sn_context *ctx = r->ctx;
    for (int32_t i = 0; r->body && i < r->body_count; i++) {
        sn_npy_abandon(&r->body[i].surface);
        sn_npy_abandon(&r->body[i].nodes);
        SN_RELEASE(ctx, r->body[i].file_name);
    }
    sn_output_abandon(&r->stats);
    sn_player_destroy(&r->player);
    sn_json_release(&r->line);
    sn_json_release(&r->pvd);
    for (int32_t f = 0; f < SN_FIELD_COUNT; f++)
        SN_RELEASE(ctx, r->field_values[f]);
    SN_RELEASE(ctx, r->body);
    SN_RELEASE(ctx, r->directory);
    SN_RELEASE(ctx, r->scene_path);
    SN_RELEASE(ctx, r->surface);
    SN_RELEASE(ctx, r->surface_floats);
    SN_RELEASE(ctx, r->frame_ms);
    sn_release(ctx, r);
    *recorder = NULL;
}

// ---- Frames

static void put_energies(sn_json *json, const sn_energies *energy) {
    sn_json_key(json, "energy");
    sn_json_open(json, '{');
    sn_json_put_number(json, "kinetic", energy->kinetic);
    sn_json_put_number(json, "elastic", energy->elastic);
    sn_json_put_number(json, "attachment", energy->attachment);
    sn_json_put_number(json, "contact", energy->contact);
    sn_json_put_number(json, "external", energy->external);
    sn_json_close(json, '}');
}

static void put_times(sn_json *json, const sn_step_times *ms) {
    sn_json_key(json, "ms");
    sn_json_open(json, '{');
    sn_json_put_number(json, "detect", ms->detect);
    sn_json_put_number(json, "local", ms->local);
    sn_json_put_number(json, "gradient", ms->gradient);
    sn_json_put_number(json, "sweep", ms->sweep);
    sn_json_put_number(json, "kept", ms->kept);
    sn_json_put_number(json, "other", ms->other);
    sn_json_put_number(json, "total", ms->total);
    sn_json_close(json, '}');
}

/// Adds a line to stats.jsonl.
static sn_status record_stats(sn_recorder *recorder, const sn_frame_view *frame) {
    sn_status status = SN_OK;
    sn_json *json = &recorder->line;
    const sn_step_info *info = frame->info;
    sn_json_clear(json);
    sn_json_open(json, '{');
    sn_json_put_integer(json, "frame", frame->index);
    sn_json_put_number(json, "time", info->time);
    sn_json_put_text(json, "status", sn_step_status_word(info->status));
    sn_json_put_integer(json, "iterations", info->iterations);
    sn_json_put_integer(json, "evaluations", info->evaluations);
    sn_json_put_integer(json, "factorizations", info->factorizations);
    put_energies(json, &info->energy);
    sn_json_put_number(json, "objective_first", info->objective_first);
    sn_json_put_number(json, "objective_last", info->objective_last);
    sn_json_put_number(json, "gradient_norm", info->gradient_norm);
    sn_json_put_number(json, "relative_gradient", info->relative_gradient);
    sn_json_put_text(json, "stop_test", sn_stop_test_word(info->stop_test));
    sn_json_put_number(json, "step_error", info->step_error);
    sn_json_put_integer(json, "active_contacts", info->active_contacts);
    sn_json_put_number(json, "max_penetration", info->max_penetration);
    sn_json_put_number(json, "min_det_F", info->min_det_F);
    sn_json_put_integer(json, "inverted", info->inverted);
    put_times(json, &info->ms);
    sn_json_close(json, '}');
    sn_json_raw(json, "\n");
    SN_TRY(json->status);
    SN_TRY(sn_output_write(&recorder->stats, json->text, json->length));
    SN_TRY(sn_output_record(&recorder->stats));
cleanup:
    return status;
}

static sn_status record_npy(sn_recorder *recorder, const sn_state *state) {
    sn_status status = SN_OK;
    for (int32_t i = 0; i < recorder->body_count; i++) {
        sn_body_info info = sn_model_body(recorder->model, i);
        size_t count = 3 * (size_t)info.surface_vertex_count;
        sn_state_surface_positions(state, i, recorder->surface);
        for (size_t j = 0; j < count; j++)
            recorder->surface_floats[j] = (float)recorder->surface[j];
        SN_TRY(sn_npy_append(&recorder->body[i].surface, recorder->surface_floats));
        SN_TRY(
            sn_npy_append(&recorder->body[i].nodes, sn_state_positions(state) + 3 * (size_t)info.node_begin));
    }
cleanup:
    return status;
}

static sn_status record_vtu(sn_recorder *recorder, const sn_frame_view *frame) {
    sn_status status = SN_OK;
    for (int32_t i = 0; i < recorder->body_count; i++) {
        char name[MAX_BODY_FILE_NAME + 64], entry[sizeof name + 96], time[SN_JSON_NUMBER_SIZE];
        snprintf(name, sizeof name, "%s.%06d.vtu", recorder->body[i].file_name, frame->index);
        SN_TRY(sn_vtu_write(recorder->ctx, recorder->directory, name, frame, i, recorder->def.vtu_volume,
                            recorder->def.field_displacement));
        sn_json_format_number(sn_state_time(frame->state), time);
        snprintf(entry, sizeof entry, "<DataSet timestep=\"%s\" part=\"%d\" file=\"%s\"/>\n", time, i, name);
        sn_json_raw(&recorder->pvd, entry);
        SN_TRY(recorder->pvd.status);
    }
cleanup:
    return status;
}

/// Counts a step for the summary.
static sn_status count_step(sn_recorder *recorder, const sn_step_info *info) {
    sn_status status = sn_grow(recorder->ctx, (void **)&recorder->frame_ms, &recorder->frame_ms_capacity,
                               (size_t)recorder->frame_count, sizeof *recorder->frame_ms);
    if (status < 0)
        return status;
    recorder->frame_ms[recorder->frame_count - 1] = info->ms.total;
    recorder->status_count[info->status]++;
    return SN_OK;
}

/// Refuses a state of another model, whose arrays have other sizes.
static sn_status check_state(const sn_recorder *recorder, const sn_state *state) {
    if (sn_state_model(state) == recorder->model)
        return SN_OK;
    return sn_fail(recorder->ctx, SN_ERR_INVALID_ARGUMENT,
                   "recorder: the state belongs to another model than the recorder");
}

static sn_status check_info(const sn_recorder *recorder, const sn_step_info *info) {
    if (!info || ((unsigned)info->status < STATUS_COUNT && (unsigned)info->stop_test <= SN_STOP_LINE_SEARCH))
        return SN_OK;
    return sn_fail(
        recorder->ctx, SN_ERR_INVALID_ARGUMENT,
        "recorder: info has the unknown status %d or stop test %d: pass on what sn_step() filled in",
        (int)info->status, (int)info->stop_test);
}

sn_status sn_recorder_frame(sn_recorder *recorder, const sn_state *state, const sn_step_info *info) {
    if (!recorder)
        return SN_ERR_INVALID_ARGUMENT;
    if (!state || recorder->finished || (info == NULL) != (recorder->frame_count == 0))
        return sn_fail(
            recorder->ctx, SN_ERR_INVALID_ARGUMENT,
            "recorder: the first frame comes without info, later ones with it, none after finishing");
    sn_status status = SN_OK;
    SN_TRY(check_state(recorder, state));
    SN_TRY(check_info(recorder, info));
    sn_frame_view frame = {.index = recorder->frame_count, .state = state, .info = info};
    for (int32_t f = 0; f < SN_FIELD_COUNT; f++) {
        if (recorder->field_values[f])
            sn_state_quantity(state, (sn_quantity)f, recorder->field_values[f]);
        frame.field[f] = recorder->field_values[f];
    }
    if (info) {
        SN_TRY(count_step(recorder, info));
        SN_TRY(record_stats(recorder, &frame));
    }
    if (recorder->def.npy)
        SN_TRY(record_npy(recorder, state));
    if (recorder->def.vtu_every > 0 && frame.index % recorder->def.vtu_every == 0)
        SN_TRY(record_vtu(recorder, &frame));
    if (recorder->player)
        SN_TRY(sn_player_frame(recorder->player, &frame));
    recorder->frame_count++;
cleanup:
    return status;
}

// ---- The end

static int compare_numbers(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/// Value that a share of the sorted values [count] does not exceed, linear between neighbors; NaN if there
/// are none.
static double quantile(const double *sorted, int32_t count, double share) {
    if (count == 0)
        return NAN;
    double place = share * (count - 1);
    int32_t below = (int32_t)place, above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}

/// Name of the processor as the system gives it.
static void cpu_name(char *out, size_t size) {
    snprintf(out, size, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file)
        return;
    char line[512];
    while (fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon) {
            colon[1 + strcspn(colon + 1, "\n")] = '\0';
            snprintf(out, size, "%s", colon + 1 + strspn(colon + 1, " "));
            break;
        }
    }
    fclose(file);
}

/// The process' largest resident size so far.
static int64_t peak_memory_bytes(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (int64_t)usage.ru_maxrss * 1024 : 0;
}

static void put_status_counts(sn_json *json, const int32_t counts[STATUS_COUNT]) {
    sn_json_key(json, "status");
    sn_json_open(json, '{');
    for (int32_t i = 0; i < STATUS_COUNT; i++)
        sn_json_put_integer(json, sn_step_status_word((sn_step_status)i), counts[i]);
    sn_json_close(json, '}');
}

static void put_frame_times(sn_json *json, const double *sorted, int32_t count) {
    sn_json_key(json, "ms_per_frame");
    sn_json_open(json, '{');
    sn_json_put_number(json, "median", quantile(sorted, count, 0.5));
    sn_json_put_number(json, "p90", quantile(sorted, count, 0.9));
    sn_json_close(json, '}');
}

static void put_setup_times(sn_json *json, const sn_run_info *run) {
    sn_json_key(json, "setup_ms");
    sn_json_open(json, '{');
    sn_json_put_number(json, "total", 1e3 * run->setup_seconds);
    sn_json_close(json, '}');
}

static void put_summary(const sn_recorder *recorder, const sn_state *state, int32_t step_count,
                        sn_json *json) {
    sn_model_info info = sn_model_get_info(recorder->model);
    char hash[32], cpu[256];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)sn_state_hash(state));
    cpu_name(cpu, sizeof cpu);
    json->lines = true;
    sn_json_open(json, '{');
    sn_json_put_text(json, "version", sn_version());
    sn_json_put_text(json, "scene", recorder->scene_path);
    sn_json_put_integer(json, "nodes", info.node_count);
    sn_json_put_integer(json, "elements", info.tet_count);
    sn_json_put_integer(json, "kept_nodes", 0);
    sn_json_put_integer(json, "frames", step_count);
    put_status_counts(json, recorder->status_count);
    sn_json_put_text(json, "state_hash", hash);
    put_frame_times(json, recorder->frame_ms, step_count);
    put_setup_times(json, &recorder->run);
    sn_json_put_integer(json, "peak_memory_bytes", peak_memory_bytes());
    sn_json_put_integer(json, "threads", sn_context_thread_count(recorder->ctx));
    sn_json_put_text(json, "cpu", cpu);
    sn_json_close(json, '}');
    sn_json_raw(json, "\n");
}

/// Writes a whole file from text.
static sn_status write_text_file(const sn_recorder *recorder, const char *name, const char *head,
                                 const sn_json *text, const char *tail) {
    sn_status status = SN_OK;
    sn_output output = {0};
    SN_TRY(text->status);
    SN_TRY(sn_output_open(recorder->ctx, recorder->directory, name, SN_OUTPUT_WHOLE, &output));
    SN_TRY(sn_output_text(&output, head));
    SN_TRY(sn_output_write(&output, text->text, text->length));
    SN_TRY(sn_output_text(&output, tail));
    SN_TRY(sn_output_finish(&output));
cleanup:
    sn_output_abandon(&output);
    return status;
}

static sn_status finish_growing_files(sn_recorder *recorder) {
    sn_status status = SN_OK;
    for (int32_t i = 0; recorder->def.npy && i < recorder->body_count; i++) {
        SN_TRY(sn_npy_finish(&recorder->body[i].surface));
        SN_TRY(sn_npy_finish(&recorder->body[i].nodes));
    }
    SN_TRY(sn_output_finish(&recorder->stats));
cleanup:
    return status;
}

/// The summary comes last: where it stands, the run is complete.
static sn_status write_results(sn_recorder *recorder, const sn_state *state, int32_t step_count) {
    sn_status status = SN_OK;
    sn_json summary = sn_json_make(recorder->ctx);
    if (recorder->pvd.length > 0)
        SN_TRY(write_text_file(recorder, "frames.pvd",
                               "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
                               "byte_order=\"LittleEndian\">\n<Collection>\n",
                               &recorder->pvd, "</Collection>\n</VTKFile>\n"));
    if (recorder->player)
        SN_TRY(sn_player_write(recorder->player, recorder->directory,
                               quantile(recorder->frame_ms, step_count, 0.5)));
    put_summary(recorder, state, step_count, &summary);
    SN_TRY(write_text_file(recorder, "summary.json", "", &summary, ""));
cleanup:
    sn_json_release(&summary);
    return status;
}

sn_status sn_recorder_finish(sn_recorder *recorder, const sn_state *state) {
    if (!recorder)
        return SN_ERR_INVALID_ARGUMENT;
    if (!state || recorder->finished || recorder->frame_count == 0)
        return sn_fail(recorder->ctx, SN_ERR_INVALID_ARGUMENT,
                       "recorder: finish once, with a state, after at least the first frame");
    sn_status status = SN_OK;
    int32_t step_count = recorder->frame_count - 1;
    SN_TRY(check_state(recorder, state));
    recorder->finished = true;
    if (step_count > 0)
        qsort(recorder->frame_ms, (size_t)step_count, sizeof *recorder->frame_ms, compare_numbers);
    SN_TRY(finish_growing_files(recorder));
    SN_TRY(write_results(recorder, state, step_count));
cleanup:
    return status;
}
