// Folders of results. Guards: no bytes in any file of a run's folder make opening, reading or exporting it
// crash, hang or leak; what is refused leaves a message of one line and no results; what is not refused has
// finite positions and triangles in range, and can be exported, or says why not.
//
// So that the corpus does not grow old with the format, an input is a list of changes to a folder that the
// target makes itself: first a byte that says in which format it is exported, then changes. A change is a
// byte for the file, two for its new size (0: as it is, 65535: the file is removed), two for the place, one
// for the count, and that many bytes.
#define _POSIX_C_SOURCE 200809L
#include "base/base_util.h"
#include "fuzz/fuzz_support.h"
#include "io/io_rigid.h"
#include "sinew/sinew.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 512, FRAMES = 3, REMOVED = 0xffff, CHANGE_HEAD = 6 };

static const char *const file_names[] = {"b.surface.npy",      "b.triangles.npy",     "b.surface.obj",
                                         "stats.jsonl",        "summary.json",        "rigid_shapes.npy",
                                         "rigid_vertices.npy", "rigid_triangles.npy", "rigid_poses.npy"};
enum { FILE_COUNT = sizeof file_names / sizeof *file_names };

/// A file of the folder: as the run left it, and as it stands there now.
typedef struct folder_file {
    unsigned char *bytes;
    size_t size;
    bool changed;
} folder_file;

typedef struct fuzz_folder {
    char path[64], out[96];
    folder_file file[FILE_COUNT];
} fuzz_folder;

static void must(const sn_context *ctx, sn_status status) {
    fuzz_check(status >= 0, "%s: %s", sn_status_name(status), sn_context_message(ctx));
}

static void path_of(const fuzz_folder *folder, int index, char out[PATH_SIZE]) {
    snprintf(out, PATH_SIZE, "%s/%s", folder->path, file_names[index]);
}

// ---- The folder

static void clear_folder(const char *path) {
    char name[PATH_SIZE];
    DIR *directory = opendir(path);
    if (!directory)
        return;
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        unlink(name); // fails on folders, which stay
    }
    closedir(directory);
}

static void record(sn_context *ctx, const char *path) {
    static const char text[] =
        "sinew: 1\nmaterials: {m: {young: 1e4}}\n"
        "bodies: {b: {make: {shape: beam, size: [0.1, 0.1, 0.1], cells: 1}, material: m}}\n"
        "rigid:\n  p: {plane: {point: [0, 0, -1], normal: [0, 0, 2]}}\n"
        "  x: {box: {center: [0.3, 0, 0], half_size: [0.1, 0.1, 0.1]}}\n";
    sn_scene *scene = NULL;
    sn_model *model = NULL;
    sn_state *state = NULL;
    sn_recorder *recorder = NULL;
    sn_output_def output = sn_output_def_default();
    const sn_run_info run = {.frame_seconds = 0.1, .frame_total = FRAMES - 1};
    output.player = false;
    must(ctx, sn_scene_parse(ctx, text, sizeof text - 1, "fuzz", "", 0, NULL, &scene));
    must(ctx, sn_scene_build(scene, &model));
    must(ctx, sn_state_create(model, &state));
    must(ctx, sn_recorder_create(ctx, model, path, true, &output, &run, &recorder));
    for (int frame = 0; frame < FRAMES; frame++) {
        const sn_step_info info = {.time = 0.1 * frame};
        must(ctx, sn_state_set_time(state, info.time));
        must(ctx, sn_recorder_frame(recorder, state, frame ? &info : NULL));
    }
    must(ctx, sn_recorder_finish(recorder, state));
    sn_recorder_destroy(&recorder);
    sn_state_destroy(&state);
    sn_model_destroy(&model);
    sn_scene_destroy(&scene);
}

static void keep_file(fuzz_folder *folder, int index) {
    char path[PATH_SIZE];
    path_of(folder, index, path);
    FILE *file = fopen(path, "rb");
    fuzz_check(file && fseek(file, 0, SEEK_END) == 0, "the run has no %s", path);
    long size = ftell(file);
    rewind(file);
    unsigned char *bytes = malloc((size_t)size);
    fuzz_check(bytes && fread(bytes, 1, (size_t)size, file) == (size_t)size, "%s cannot be read", path);
    fclose(file);
    folder->file[index] = (folder_file){bytes, (size_t)size, false};
}

static fuzz_folder shared;

static void remove_shared(void) {
    clear_folder(shared.out);
    rmdir(shared.out);
    clear_folder(shared.path);
    rmdir(shared.path);
    for (int i = 0; i < FILE_COUNT; i++)
        free(shared.file[i].bytes);
}

/// The folder that all inputs share.
static fuzz_folder *shared_folder(void) {
    fuzz_memory memory;
    if (shared.path[0])
        return &shared;
    snprintf(shared.path, sizeof shared.path, "/tmp/sinew-fuzz-XXXXXX");
    fuzz_check(mkdtemp(shared.path), "no folder for a run");
    snprintf(shared.out, sizeof shared.out, "%s/out", shared.path);
    sn_context *ctx = fuzz_context(&memory);
    record(ctx, shared.path);
    fuzz_context_end(&ctx);
    for (int i = 0; i < FILE_COUNT; i++)
        keep_file(&shared, i);
    atexit(remove_shared);
    return &shared;
}

static void write_file(const fuzz_folder *folder, int index, const unsigned char *bytes, size_t size) {
    char path[PATH_SIZE];
    path_of(folder, index, path);
    FILE *file = fopen(path, "wb");
    fuzz_check(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, "cannot write %s", path);
}

/// Makes one change to a file's first bytes, whatever was changed in it before. @return bytes of the change
static size_t apply_change(fuzz_folder *folder, const uint8_t *data, size_t size) {
    int index = data[0] % FILE_COUNT;
    folder_file *file = &folder->file[index];
    size_t wanted = (size_t)data[1] << 8 | data[2], place = (size_t)data[3] << 8 | data[4], count = data[5];
    count = count < size - CHANGE_HEAD ? count : size - CHANGE_HEAD;
    file->changed = true;
    if (wanted == REMOVED) {
        char path[PATH_SIZE];
        path_of(folder, index, path);
        unlink(path);
        return CHANGE_HEAD + count;
    }
    size_t new_size = wanted ? wanted : file->size;
    unsigned char *bytes = calloc(new_size, 1);
    fuzz_check(bytes, "out of memory");
    memcpy(bytes, file->bytes, new_size < file->size ? new_size : file->size);
    for (size_t i = 0; i < count; i++)
        bytes[(place + i) % new_size] = data[CHANGE_HEAD + i];
    write_file(folder, index, bytes, new_size);
    free(bytes);
    return CHANGE_HEAD + count;
}

static void restore(fuzz_folder *folder) {
    for (int i = 0; i < FILE_COUNT; i++) {
        if (folder->file[i].changed)
            write_file(folder, i, folder->file[i].bytes, folder->file[i].size);
        folder->file[i].changed = false;
    }
    clear_folder(folder->out);
}

// ---- Promises

static void check_message(const sn_context *ctx) {
    const char *message = sn_context_message(ctx);
    fuzz_check(message[0], "no message");
    for (const char *c = message; *c; c++)
        fuzz_check((unsigned char)*c >= ' ', "byte %d in the message \"%s\"", *c, message);
}

static void check_body(const sn_results *results, int32_t index, int32_t frame_count) {
    const sn_results_body body = sn_results_get_body(results, index);
    fuzz_check(body.name && body.file_name && body.vertex_count > 0, "body %d", index);
    for (int64_t i = 0; i < 3 * (int64_t)body.triangle_count; i++)
        fuzz_check(body.triangles[i] >= 0 && body.triangles[i] < body.vertex_count, "corner %lld",
                   (long long)i);
    float *position = malloc(3 * (size_t)body.vertex_count * sizeof *position);
    fuzz_check(position, "out of memory");
    for (int32_t frame = 0; frame < frame_count; frame++) {
        sn_status status = sn_results_positions(results, index, frame, position);
        fuzz_check(status == SN_OK || status == SN_ERR_READ, "%s", sn_status_name(status));
        for (int64_t i = 0; status == SN_OK && i < 3 * (int64_t)body.vertex_count; i++)
            fuzz_check(isfinite(position[i]), "position %lld", (long long)i);
    }
    free(position);
}

static void check_results(const sn_results *results) {
    const sn_results_info info = sn_results_get_info(results);
    fuzz_check(info.body_count > 0 && info.frame_count > 0, "nothing in the results");
    for (int32_t i = 1; i < info.frame_count; i++)
        fuzz_check(info.time[i] > info.time[i - 1], "the time of frame %d", i);
    for (int32_t i = 0; i < info.body_count; i++)
        check_body(results, i, info.frame_count);
}

/// Shapes are read without a picture, which takes long to draw.
static sn_status read_shapes(sn_context *ctx, const fuzz_folder *folder) {
    sn_rigid_results rigid = {0};
    sn_status status = sn_rigid_results_open(ctx, folder->path, &rigid);
    for (int32_t frame = 0; frame < FRAMES && status == SN_OK; frame++)
        status = sn_rigid_results_pose(&rigid, frame);
    for (int32_t i = 0; status == SN_OK && i < rigid.shape_count; i++)
        for (int64_t k = 0; k < 3 * (int64_t)rigid.shape[i].triangle_count; k++)
            fuzz_check(rigid.shape[i].triangle[k] >= 0 &&
                           rigid.shape[i].triangle[k] < rigid.shape[i].vertex_count,
                       "corner %lld of shape %d", (long long)k, i);
    sn_rigid_results_release(&rigid);
    return status;
}

/// Opens the folder and exports it in the format of this number, if there is one.
static sn_status read_folder(sn_context *ctx, const fuzz_folder *folder, int format, bool check) {
    sn_results *results = NULL;
    sn_export_def def = sn_export_def_default();
    def.directory = folder->out;
    def.png_width = 16;
    def.png_height = 9;
    sn_status status = sn_results_open(ctx, folder->path, &results);
    fuzz_check((status == SN_OK) == (results != NULL), "results of an opening that failed, or none");
    if (status == SN_OK && check)
        check_results(results);
    if (status == SN_OK && sn_export_format(format, NULL))
        status = sn_results_export(results, sn_export_format(format, NULL), &def, NULL);
    sn_results_close(&results);
    return status == SN_OK ? read_shapes(ctx, folder) : status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { FORMATS = 9 };
    fuzz_folder *folder = shared_folder();
    fuzz_memory memory;
    int format = size > 0 ? data[0] % FORMATS : 0;
    for (size_t at = 1; at + CHANGE_HEAD <= size;)
        at += apply_change(folder, data + at, size - at);
    sn_context *ctx = fuzz_context(&memory);
    sn_status status = read_folder(ctx, folder, format, true);
    fuzz_check(status == SN_OK || status == SN_ERR_READ || status == SN_ERR_INVALID_ARGUMENT, "%s: %s",
               sn_status_name(status), sn_context_message(ctx));
    if (status < 0)
        check_message(ctx);
    uint64_t allocations = sn_context_allocation_count(ctx);
    fuzz_context_end(&ctx);
    ctx = fuzz_context(&memory);
    memory.countdown = (int64_t)(sn_hash(SN_HASH_START, data, size) % (allocations + 1));
    sn_status starved = read_folder(ctx, folder, format, false);
    fuzz_check(starved == SN_ERR_NO_MEMORY || starved == status, "%s: %s", sn_status_name(starved),
               sn_context_message(ctx));
    fuzz_context_end(&ctx);
    restore(folder);
    return 0;
}
