// Loading and checking of scene files, and what they say about time, solver and output.
#include "sinew/scene.h"

#include "scene/scene_def.h"
#include "scene/scene_read.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void sn_scene_destroy(sn_scene **scene) {
    if (!scene || !*scene)
        return;
    sn_context *ctx = (*scene)->context;
    sn_scene_pool_release(&(*scene)->pool);
    SN_RELEASE(ctx, *scene);
}

/// Copies what must outlive the call: names for messages and the overrides' texts.
static sn_status copy_source(sn_scene *scene, const char *name, const char *folder, int32_t override_count,
                             const char *const *overrides) {
    sn_status status = SN_OK;
    SN_TRY(sn_scene_pool_text(&scene->pool, name, strlen(name), &scene->name));
    SN_TRY(sn_scene_pool_text(&scene->pool, folder, strlen(folder), &scene->folder));
    SN_TRY(
        sn_scene_pool_new(&scene->pool, (size_t)override_count, sizeof(char *), (void **)&scene->overrides));
    for (int32_t i = 0; i < override_count; i++)
        SN_TRY(sn_scene_pool_text(&scene->pool, overrides[i], strlen(overrides[i]), &scene->overrides[i]));
    scene->source =
        (sn_scene_source){scene->context, scene->name, (const char *const *)scene->overrides, override_count};
cleanup:
    return status;
}

/// `sinew: 1` comes first, so that a file of another kind or version is told at once.
static sn_status check_first_key(const sn_scene *scene) {
    const sn_node *first = scene->root->kind == SN_NODE_MAP ? scene->root->first : NULL;
    if (first && strcmp(first->key, "sinew") == 0)
        return SN_OK;
    return sn_node_fail(&scene->source, first ? first : scene->root, first ? first->key : "",
                        "this is no scene of Sinew; allowed: `sinew: 1` as the first key");
}

/// Units first: all other numbers depend on them.
static sn_status read_units(sn_scene *scene, sn_scene_reader *reader) {
    const sn_node *node = sn_node_find(scene->root, "units");
    scene->units = sn_scene_units_of(&scene->content.units);
    if (!node)
        return SN_OK;
    strcpy(reader->path, "units");
    sn_status status = sn_scene_read(reader, &sn_scene_units_fields, node, &scene->content.units);
    reader->path[0] = '\0';
    scene->units = sn_scene_units_of(&scene->content.units);
    return status;
}

/// The run's definition wants its probes side by side.
static sn_status collect_probes(sn_scene *scene) {
    sn_scene_output_section *output = &scene->content.output;
    void *memory = NULL;
    if (output->probe_count == 0)
        return SN_OK;
    sn_status status =
        sn_scene_pool_new(&scene->pool, (size_t)output->probe_count, sizeof(sn_probe_def), &memory);
    if (status < 0)
        return status;
    sn_probe_def *probes = memory;
    for (int32_t i = 0; i < output->probe_count; i++)
        probes[i] = output->probes[i].def;
    output->def.probe_count = output->probe_count;
    output->def.probes = probes;
    return SN_OK;
}

static sn_status read_content(sn_scene *scene) {
    sn_status status = SN_OK;
    sn_scene_reader reader = {&scene->pool, &scene->source, scene->root, sn_field_units_si(), ""};
    sn_field_defaults(&sn_scene_fields, &scene->content);
    SN_TRY(read_units(scene, &reader));
    reader.units = scene->units;
    SN_TRY(sn_scene_read(&reader, &sn_scene_fields, scene->root, &scene->content));
    SN_TRY(collect_probes(scene));
cleanup:
    return status;
}

sn_status sn_scene_parse(sn_context *context, const char *text, size_t size, const char *name,
                         const char *folder, int32_t override_count, const char *const *overrides,
                         sn_scene **out_scene) {
    if (!context)
        return SN_ERR_INVALID_ARGUMENT;
    if (!text || !name || !folder || !out_scene || override_count < 0 || (override_count > 0 && !overrides))
        return sn_fail(context, SN_ERR_INVALID_ARGUMENT,
                       "sn_scene_parse: a needed argument is NULL or negative");
    for (int32_t i = 0; i < override_count; i++)
        if (!overrides[i])
            return sn_fail(context, SN_ERR_INVALID_ARGUMENT, "sn_scene_parse: overrides[%d] is NULL", (int)i);
    sn_status status = SN_OK;
    sn_scene *scene = NULL;
    SN_TRY_NEW_ZEROED(context, scene, 1);
    scene->context = context;
    scene->pool = sn_scene_pool_make(context);
    SN_TRY(copy_source(scene, name, folder, override_count, overrides));
    SN_TRY(sn_node_parse(&scene->pool, &scene->source, text, size, 0, &scene->root));
    SN_TRY(check_first_key(scene));
    for (int32_t i = 0; i < override_count; i++)
        SN_TRY(sn_node_override(&scene->pool, &scene->source, i, scene->root));
    SN_TRY(read_content(scene));
    *out_scene = scene;
    scene = NULL;
cleanup:
    sn_scene_destroy(&scene);
    return status;
}

/// Reads a whole file, at most one byte more than a scene may have.
static sn_status read_file(sn_context *ctx, const char *path, char **out_text, size_t *out_size) {
    sn_status status = SN_OK;
    char *text = NULL;
    size_t size = 0, capacity = 0;
    FILE *file = fopen(path, "rb");
    if (!file)
        return sn_fail(ctx, SN_ERR_READ, "%s: cannot be opened: %s", path, strerror(errno));
    while (!feof(file) && !ferror(file) && size <= SN_SCENE_SIZE_MAX) {
        SN_TRY(sn_grow(ctx, (void **)&text, &capacity, size + 65536, 1));
        size += fread(text + size, 1, capacity - size, file);
    }
    if (ferror(file)) {
        status = sn_fail(ctx, SN_ERR_READ, "%s: cannot be read: %s", path, strerror(errno));
        goto cleanup;
    }
    *out_text = text;
    *out_size = size;
    text = NULL;
cleanup:
    fclose(file);
    SN_RELEASE(ctx, text);
    return status;
}

sn_status sn_scene_load(sn_context *context, const char *path, int32_t override_count,
                        const char *const *overrides, sn_scene **out_scene) {
    if (!context)
        return SN_ERR_INVALID_ARGUMENT;
    if (!path || !out_scene)
        return sn_fail(context, SN_ERR_INVALID_ARGUMENT, "sn_scene_load: path or out_scene is NULL");
    sn_status status = SN_OK;
    char *text = NULL, *folder = NULL;
    size_t size = 0;
    const char *slash = strrchr(path, '/');
    SN_TRY(read_file(context, path, &text, &size));
    SN_TRY(sn_new_text(context, path, &folder));
    folder[slash ? (size_t)(slash - path) + 1 : 0] = '\0';
    SN_TRY(sn_scene_parse(context, text, size, path, folder, override_count, overrides, out_scene));
cleanup:
    SN_RELEASE(context, text);
    SN_RELEASE(context, folder);
    return status;
}

sn_time_def sn_scene_time(const sn_scene *scene) {
    const sn_scene_time_section *time = &scene->content.time;
    double frame = time->rate == SN_RATE_STEP ? time->step * time->substeps : 1 / time->fps;
    return (sn_time_def){frame, time->frames, time->substeps};
}

sn_stepper_def sn_scene_stepper(const sn_scene *scene) {
    return scene->content.time.stepper;
}

sn_output_def sn_scene_output(const sn_scene *scene) {
    return scene->content.output.def;
}
