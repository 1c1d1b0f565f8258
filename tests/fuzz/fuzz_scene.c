// Scene files. Guards: no text makes the parser crash, hang, leak, or take memory without bound (nested
// brackets, aliases that multiply); a refused one leaves a message with file and line, and no scene; what a
// scene says about time, solver and output can be asked for; a scene that reads no files is built, or refused
// with a message. Comment lines "#--set KEY=VALUE" are given as overrides too.
#define _POSIX_C_SOURCE 200809L
#include "fuzz/fuzz_support.h"
#include "scene/scene_def.h"
#include "sinew/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Overrides of an input, at most; cells of the shapes that are made, and the largest allocation, while a
/// scene is built, so that large scenes end soon.
enum { OVERRIDES_MAX = 4, CELLS_MAX = 16, LARGEST_BLOCK = 256 << 10 };

/// Copies the overrides out of their comment lines.
static int32_t find_overrides(const uint8_t *data, size_t size, char *overrides[OVERRIDES_MAX]) {
    static const char mark[] = "#--set ";
    const char *at = (const char *)data, *end = at + size;
    int32_t count = 0;
    while (at < end && count < OVERRIDES_MAX) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((line_end ? line_end : end) - at), skip = sizeof mark - 1;
        if (length >= skip && memcmp(at, mark, skip) == 0) {
            overrides[count] = strndup(at + skip, length - skip);
            fuzz_check(overrides[count], "out of memory");
            count++;
        }
        at += length + 1;
    }
    return count;
}

static sn_status read_scene(sn_context *ctx, const char *name, const uint8_t *data, size_t size,
                            void **out_object) {
    char *overrides[OVERRIDES_MAX];
    sn_scene *scene = NULL;
    int32_t count = find_overrides(data, size, overrides);
    // There is no text at NULL, not even an empty one.
    sn_status status = sn_scene_parse(ctx, size ? (const char *)data : "", size, name, "/nowhere", count,
                                      (const char *const *)overrides, &scene);
    if (status == SN_OK)
        *out_object = scene;
    for (int32_t i = 0; i < count; i++)
        free(overrides[i]);
    return status;
}

static void destroy_scene(void **object) {
    sn_scene *scene = *object;
    sn_scene_destroy(&scene);
    *object = scene;
}

/// Whether a scene reads no files and makes no large shapes.
static bool is_built(const sn_scene_content *content) {
    bool good = true;
    for (int32_t i = 0; i < content->body_count; i++) {
        const sn_scene_body_item *body = &content->bodies[i];
        good = good && body->source == SN_SHELL_MAKE && body->make.cells <= CELLS_MAX;
    }
    for (int32_t i = 0; i < content->rigid_count; i++) {
        const sn_scene_rigid_item *rigid = &content->rigids[i];
        bool made = rigid->source == SN_RIGID_MAKE || rigid->source == SN_RIGID_SURFACE;
        good = good && rigid->source != SN_SHAPE_MESH && rigid->source != SN_RIGID_SKELETON &&
               !(made && rigid->make.cells > CELLS_MAX);
    }
    return good;
}

static void check_sections(const sn_scene *scene) {
    sn_time_def time = sn_scene_time(scene);
    fuzz_check(time.frame_seconds > 0 && time.frames >= 1 && time.substeps >= 1, "%g s, %d frames of %d",
               time.frame_seconds, time.frames, time.substeps);
    fuzz_check(sn_scene_stepper(scene).mark && sn_scene_output(scene).mark, "no marks");
}

static void check_build(const sn_scene *scene) {
    sn_context *ctx = scene->context;
    sn_model *model = NULL;
    sn_state *state = NULL;
    sn_status status = sn_scene_build(scene, &model);
    if (status < 0) {
        fuzz_check(!model && sn_context_message(ctx)[0], "%s", sn_status_name(status));
        fuzz_check(status == SN_ERR_SCENE || status == SN_ERR_MESH || status == SN_ERR_NON_FINITE ||
                       status == SN_ERR_NO_MEMORY,
                   "%s: %s", sn_status_name(status), sn_context_message(ctx));
        return;
    }
    sn_model_info info = sn_model_get_info(model);
    fuzz_check(info.node_count > 0 && info.tet_count > 0, "%d nodes", info.node_count);
    for (int32_t i = 0; i < 3 * info.node_count; i++)
        fuzz_check(isfinite(sn_model_rest_positions(model)[i]), "node %d", i / 3);
    status = sn_state_create(model, &state);
    fuzz_check(status == SN_OK || status == SN_ERR_NO_MEMORY, "%s", sn_context_message(ctx));
    sn_state_destroy(&state);
    sn_model_destroy(&model);
}

static void check_scene(void *object, fuzz_memory *memory) {
    const sn_scene *scene = object;
    check_sections(scene);
    memory->largest = LARGEST_BLOCK;
    if (is_built(&scene->content))
        check_build(scene);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    // Values may multiply by aliases up to SN_NODE_COUNT_MAX.
    static const fuzz_reader reader = {"fuzz.yaml", SN_ERR_SCENE,  256 << 20, read_scene,
                                       check_scene, destroy_scene, false};
    fuzz_read(&reader, data, size);
    return 0;
}
