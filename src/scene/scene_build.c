// Adds what a scene says to a model builder, part by part, and puts the scene's line in front of what goes
// wrong.
#include "scene/scene_build.h"

#include "math/math_mat3.h"
#include "sim/sim_frame.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

sn_status sn_scene_blame(const sn_scene_job *job, sn_status status, const sn_node *node, const char *format,
                         ...) {
    char place[640], path[256];
    if (status >= 0 || status == SN_ERR_NO_MEMORY || status == SN_ERR_INTERNAL)
        return status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path, sizeof path, format, arguments);
    va_end(arguments);
    sn_node_place(&job->scene->source, node, place, sizeof place);
    sn_message_prefix(job->context, "%s%s: ", place, path);
    return status == SN_ERR_INVALID_ARGUMENT ? SN_ERR_SCENE : status;
}

const sn_node *sn_scene_place(const sn_node *item, const char *key) {
    const sn_node *child = sn_node_find(item, key);
    return child ? child : item;
}

sn_status sn_scene_file(const sn_scene_job *job, const char *path, char **out_path) {
    const char *folder = path[0] == '/' ? "" : job->scene->folder;
    size_t length = strlen(folder);
    const char *joint = length && folder[length - 1] != '/' ? "/" : "";
    char *full = NULL;
    size_t size = length + strlen(joint) + strlen(path) + 1;
    sn_status status = sn_new(job->context, size, 1, (void **)&full);
    if (status < 0)
        return status;
    snprintf(full, size, "%s%s%s", folder, joint, path);
    *out_path = full;
    return SN_OK;
}

// ---- Rigid

sn_status sn_scene_add_part(sn_scene_job *job, int32_t rigid, const char *name, const sn_shape_def *shape) {
    sn_status status = SN_OK;
    sn_context *ctx = job->context;
    sn_scene_part part = {.rigid = rigid, .frame = shape->frame};
    sn_shape_def def = *shape;
    def.name = name;
    SN_TRY(sn_grow(ctx, (void **)&job->parts, &job->part_capacity, job->part_count + 1, sizeof part));
    SN_TRY(sn_new_text(ctx, name, &part.name));
    SN_TRY(sn_model_add_shape(job->builder, &def, &part.shape));
    job->parts[job->part_count++] = part;
    part.name = NULL;
cleanup:
    SN_RELEASE(ctx, part.name);
    return status;
}

sn_status sn_scene_add_motion(sn_scene_job *job, const sn_scene_rigid_item *rigid, sn_frame_id *out_frame) {
    if (!rigid->moves)
        return SN_OK;
    sn_status status = SN_OK;
    sn_context *ctx = job->context;
    double *time = NULL, *move = NULL, *rotate = NULL;
    const sn_scene_motion *motion = &rigid->motion;
    size_t count = (size_t)motion->key_count;
    SN_TRY_NEW(ctx, time, count);
    SN_TRY_NEW(ctx, move, 3 * count);
    SN_TRY_NEW(ctx, rotate, 3 * count);
    for (size_t i = 0; i < count; i++) {
        time[i] = motion->keys[i].time;
        memcpy(move + 3 * i, motion->keys[i].move, sizeof motion->keys[i].move);
        memcpy(rotate + 3 * i, motion->keys[i].rotate, sizeof motion->keys[i].rotate);
    }
    sn_frame_def def = motion->def;
    def.name = rigid->name;
    def.key_count = motion->key_count;
    def.time = time;
    def.translation = move;
    def.rotation = rotate;
    SN_TRY(sn_model_add_frame(job->builder, &def, out_frame));
cleanup:
    SN_RELEASE(ctx, time);
    SN_RELEASE(ctx, move);
    SN_RELEASE(ctx, rotate);
    return status;
}

void sn_scene_transform(const sn_scene_rigid_item *rigid, double unit, int32_t count, double *x) {
    double R[9];
    sn_rotation_of_vector(rigid->rotation, R);
    for (int32_t i = 0; i < count; i++) {
        double *p = x + 3 * (size_t)i, scaled[3];
        for (int k = 0; k < 3; k++)
            scaled[k] = p[k] * (rigid->scale * unit);
        sn_mul3(R, scaled, p);
        for (int k = 0; k < 3; k++)
            p[k] += rigid->translation[k];
    }
}

/// Reads or makes the surface of a rigid thing, in m and in its place.
static sn_status load_surface(const sn_scene_job *job, const sn_scene_rigid_item *rigid,
                              sn_mesh_data **out_surface) {
    sn_status status = SN_OK;
    char *path = NULL;
    bool from_file = rigid->source == SN_SHAPE_MESH;
    if (from_file) {
        SN_TRY(sn_scene_file(job, rigid->mesh, &path));
        SN_TRY(sn_mesh_data_read(job->context, path, out_surface));
    } else if (rigid->make.shape == SN_MAKE_BEAM)
        SN_TRY(sn_fail(job->context, SN_ERR_SCENE,
                       "beam is made of tetrahedra and no surface; allowed: block, sphere, arm"));
    else
        SN_TRY(sn_mesh_make(job->context, &rigid->make, out_surface, NULL));
    sn_scene_transform(rigid, from_file ? job->scene->units.scale[SN_UNIT_LENGTH] : 1,
                       (*out_surface)->vertex_count, (*out_surface)->position);
cleanup:
    SN_RELEASE(job->context, path);
    return status;
}

static sn_status add_shape(sn_scene_job *job, int32_t index) {
    sn_status status = SN_OK;
    const sn_scene_rigid_item *rigid = &job->scene->content.rigids[index];
    bool is_mesh = rigid->source == SN_SHAPE_MESH || rigid->source == SN_RIGID_SURFACE;
    const char *key = rigid->source == SN_RIGID_SURFACE ? "surface" : "mesh";
    sn_mesh_data *surface = NULL;
    sn_shape_def def = rigid->shape;
    def.kind = is_mesh ? SN_SHAPE_MESH : (sn_shape_kind)rigid->source;
    SN_TRY(sn_scene_add_motion(job, rigid, &def.frame));
    if (is_mesh)
        SN_TRY(load_surface(job, rigid, &surface));
    def.surface = surface;
    SN_TRY(sn_scene_add_part(job, index, rigid->name, &def));
cleanup:
    sn_mesh_data_destroy(&surface);
    return sn_scene_blame(job, status, sn_scene_place(rigid->node, key), "rigid.%s", rigid->name);
}

static sn_status add_rigids(sn_scene_job *job) {
    const sn_scene_content *content = &job->scene->content;
    for (int32_t i = 0; i < content->rigid_count; i++) {
        const sn_scene_rigid_item *rigid = &content->rigids[i];
        bool bones = rigid->source == SN_RIGID_SKELETON || rigid->source == SN_RIGID_MAKE;
        sn_status status = bones ? sn_scene_add_skeleton(job, i) : add_shape(job, i);
        if (status < 0)
            return status;
    }
    return SN_OK;
}

// ---- References

static sn_body_id find_body(const sn_scene_job *job, const char *name) {
    const sn_scene_content *content = &job->scene->content;
    for (int32_t i = 0; i < content->body_count; i++)
        if (strcmp(content->bodies[i].name, name) == 0)
            return job->bodies[i];
    return (sn_body_id){0, 0};
}

bool sn_scene_is_meant(const sn_scene_job *job, const sn_scene_part *part, const char *name) {
    return strcmp(part->name, name) == 0 || strcmp(job->scene->content.rigids[part->rigid].name, name) == 0;
}

static sn_status no_such_bone(const sn_scene_job *job, const char *name) {
    char known[512] = "";
    const char *nearest = NULL;
    for (size_t i = 0; i < job->part_count; i++) {
        if (!strchr(job->parts[i].name, '.'))
            continue;
        sn_text_append(known, sizeof known, "%s%s", known[0] ? ", " : "", job->parts[i].name);
        sn_text_nearest(name, job->parts[i].name, &nearest);
    }
    return sn_fail(job->context, SN_ERR_SCENE, "%.64s: there is no such bone%s%s; allowed: %s", name,
                   nearest ? "; did you mean " : "", nearest ? nearest : "", known);
}

/// The frame of one rigid thing or bone.
static sn_status find_frame(const sn_scene_job *job, const char *name, sn_frame_id *out_frame) {
    const sn_scene_part *found = NULL;
    for (size_t i = 0; i < job->part_count; i++) {
        if (!sn_scene_is_meant(job, &job->parts[i], name))
            continue;
        if (found)
            return sn_fail(job->context, SN_ERR_SCENE,
                           "%.64s is a whole skeleton; allowed: one bone of it, such as %s", name,
                           found->name);
        found = &job->parts[i];
    }
    if (!found)
        return no_such_bone(job, name);
    *out_frame = found->frame;
    return SN_OK;
}

// ---- Pins, attachments, springs, loads, contact

static sn_status add_pin(sn_scene_job *job, const sn_scene_pin_item *item) {
    sn_status status = SN_OK;
    sn_pin_def def = item->def;
    def.body = find_body(job, item->body);
    def.select = item->select;
    if (item->to)
        SN_TRY(find_frame(job, item->to, &def.frame));
    SN_TRY(sn_model_add_pin(job->builder, &def, NULL));
cleanup:
    return status;
}

static sn_status add_attachment(sn_scene_job *job, const sn_scene_attachment_item *item) {
    sn_status status = SN_OK;
    sn_context *ctx = job->context;
    sn_shape_id *shapes = NULL;
    sn_attachment_def def = item->def;
    SN_TRY_NEW(ctx, shapes, job->part_count);
    for (size_t p = 0; p < job->part_count; p++) {
        bool meant = false;
        for (int32_t i = 0; i < item->to_count; i++)
            meant = meant || sn_scene_is_meant(job, &job->parts[p], item->to[i]);
        if (meant)
            shapes[def.shape_count++] = job->parts[p].shape;
    }
    for (int32_t i = 0; i < item->to_count; i++) {
        bool found = false;
        for (size_t p = 0; p < job->part_count; p++)
            found = found || sn_scene_is_meant(job, &job->parts[p], item->to[i]);
        if (!found)
            SN_TRY(no_such_bone(job, item->to[i]));
    }
    def.body = find_body(job, item->body);
    def.shapes = shapes;
    SN_TRY(sn_model_add_attachment(job->builder, &def, NULL));
cleanup:
    SN_RELEASE(ctx, shapes);
    return status;
}

static sn_status add_spring(sn_scene_job *job, const sn_scene_spring_item *item) {
    sn_status status = SN_OK;
    sn_spring_def def = item->def;
    def.body = find_body(job, item->from.body);
    memcpy(def.point, item->from.point, sizeof def.point);
    memcpy(def.point2, item->to.point, sizeof def.point2);
    if (item->to.holder == SN_HOLDER_BODY)
        def.body2 = find_body(job, item->to.body);
    if (item->to.holder == SN_HOLDER_RIGID)
        SN_TRY(find_frame(job, item->to.rigid, &def.frame2));
    SN_TRY(sn_model_add_spring(job->builder, &def));
cleanup:
    return status;
}

static sn_status add_load(sn_scene_job *job, const sn_scene_load_item *item) {
    sn_load_def def = item->def;
    def.body = find_body(job, item->body);
    def.select = item->select;
    return sn_model_add_load(job->builder, &def, NULL);
}

static sn_status add_zone(sn_scene_job *job, const sn_scene_zone_item *item) {
    return sn_model_add_zone(job->builder, find_body(job, item->body), &item->select, NULL);
}

/// What the names that a contact is between mean: a body and a rigid thing, or bodies.
static sn_status find_sides(const sn_scene_job *job, const sn_scene_contact_item *item,
                            sn_scene_sides *out_sides) {
    const char *const *name = item->between;
    sn_body_id body[2];
    bool is_body[2], is_rigid[2] = {false, false};
    for (int i = 0; i < 2; i++) {
        body[i] = find_body(job, name[i]);
        is_body[i] = body[i].index1 != 0;
        for (size_t p = 0; p < job->part_count; p++)
            is_rigid[i] = is_rigid[i] || sn_scene_is_meant(job, &job->parts[p], name[i]);
        if (!is_body[i] && !is_rigid[i])
            return no_such_bone(job, name[i]);
    }
    bool straight = is_body[0] && is_rigid[1], crossed = is_body[1] && is_rigid[0];
    bool same = strcmp(name[0], name[1]) == 0;
    if (straight && crossed && !same)
        return sn_fail(job->context, SN_ERR_SCENE,
                       "%s and %s both name a body and a rigid thing, so that it is open which is meant; "
                       "allowed: a body and a rigid thing, or bodies, of names that nothing else has",
                       name[0], name[1]);
    if (!straight && !crossed && is_rigid[0])
        return sn_fail(job->context, SN_ERR_SCENE,
                       "%s and %s are both rigid and move as they are told; allowed: a body and a rigid "
                       "thing, two bodies, or a body twice",
                       name[0], name[1]);
    if (straight || crossed)
        *out_sides = (sn_scene_sides){.body = body[straight ? 0 : 1], .rigid = name[straight ? 1 : 0]};
    else
        *out_sides = (sn_scene_sides){.body = body[0], .other = body[1]};
    return SN_OK;
}

const sn_scene_contact_item *sn_scene_contact_of_bodies(const sn_scene_job *job, sn_body_id body,
                                                        sn_body_id other) {
    const sn_scene_content *content = &job->scene->content;
    for (int32_t i = 0; i < content->contact_count; i++) {
        const sn_scene_sides *sides = &job->sides[i];
        bool straight = sides->body.index1 == body.index1 && sides->other.index1 == other.index1;
        bool crossed = sides->body.index1 == other.index1 && sides->other.index1 == body.index1;
        if (!sides->rigid && (straight || crossed))
            return &content->contacts[i];
    }
    return NULL;
}

const sn_scene_contact_item *sn_scene_contact_of(const sn_scene_job *job, sn_body_id body,
                                                 const sn_scene_part *part) {
    const sn_scene_content *content = &job->scene->content;
    for (int32_t i = 0; i < content->contact_count; i++)
        if (job->sides[i].rigid && job->sides[i].body.index1 == body.index1 &&
            sn_scene_is_meant(job, part, job->sides[i].rigid))
            return &content->contacts[i];
    return NULL;
}

/// One entry says which friction holds.
static sn_status blame_second(const sn_scene_job *job, const sn_scene_contact_item *first, const char *a,
                              const char *b, const char *sides) {
    return sn_fail(job->context, SN_ERR_SCENE,
                   "%s and %s have a contact already, contact[%d] (line %d); allowed: one entry for %s", a, b,
                   (int)(first - job->scene->content.contacts), (int)first->node->line, sides);
}

static sn_status add_contact_of_bodies(const sn_scene_job *job, const sn_scene_contact_item *item,
                                       const sn_scene_sides *sides) {
    const sn_scene_contact_item *first = sn_scene_contact_of_bodies(job, sides->body, sides->other);
    sn_contact_def def = item->def;
    if (first != item)
        return blame_second(job, first, item->between[0], item->between[1],
                            "two bodies, or a body and itself");
    def.body = sides->body;
    def.other_body = sides->other;
    return sn_model_add_contact(job->builder, &def);
}

static sn_status add_contact(const sn_scene_job *job, const sn_scene_contact_item *item) {
    sn_status status = SN_OK;
    sn_context *ctx = job->context;
    sn_shape_id *shapes = NULL;
    sn_scene_sides *sides = &job->sides[item - job->scene->content.contacts];
    sn_contact_def def = item->def;
    SN_TRY_NEW(ctx, shapes, job->part_count);
    SN_TRY(find_sides(job, item, sides));
    if (!sides->rigid) {
        SN_TRY(add_contact_of_bodies(job, item, sides));
        goto cleanup;
    }
    def.body = sides->body;
    for (size_t p = 0; p < job->part_count; p++) {
        if (!sn_scene_is_meant(job, &job->parts[p], sides->rigid))
            continue;
        const sn_scene_contact_item *first = sn_scene_contact_of(job, def.body, &job->parts[p]);
        if (first != item)
            SN_TRY(blame_second(job, first,
                                sides->rigid == item->between[1] ? item->between[0] : item->between[1],
                                job->parts[p].name, "a body and a rigid thing"));
        shapes[def.shape_count++] = job->parts[p].shape;
    }
    def.shapes = shapes;
    SN_TRY(sn_model_add_contact(job->builder, &def));
cleanup:
    SN_RELEASE(ctx, shapes);
    return status;
}

static sn_status add_ties(sn_scene_job *job) {
    sn_status status = SN_OK;
    const sn_scene_content *content = &job->scene->content;
    for (int32_t i = 0; i < content->pin_count; i++)
        SN_TRY(
            sn_scene_blame(job, add_pin(job, &content->pins[i]), content->pins[i].node, "pins[%d]", (int)i));
    for (int32_t i = 0; i < content->attachment_count; i++)
        SN_TRY(sn_scene_blame(job, add_attachment(job, &content->attachments[i]),
                              content->attachments[i].node, "attachments[%d]", (int)i));
    for (int32_t i = 0; i < content->spring_count; i++)
        SN_TRY(sn_scene_blame(job, add_spring(job, &content->springs[i]), content->springs[i].node,
                              "springs[%d]", (int)i));
    for (int32_t i = 0; i < content->load_count; i++)
        SN_TRY(sn_scene_blame(job, add_load(job, &content->loads[i]), content->loads[i].node, "loads[%d]",
                              (int)i));
    for (int32_t i = 0; i < content->contact_count; i++)
        SN_TRY(sn_scene_blame(job, add_contact(job, &content->contacts[i]),
                              sn_scene_place(content->contacts[i].node, "between"), "contact[%d].between",
                              (int)i));
    for (int32_t i = 0; i < content->zone_count; i++)
        SN_TRY(sn_scene_blame(job, add_zone(job, &content->zones[i]), content->zones[i].node,
                              "contact_zones[%d]", (int)i));
cleanup:
    return status;
}

// ---- The model

static void release_job(sn_scene_job *job) {
    for (size_t i = 0; i < job->part_count; i++)
        sn_release(job->context, job->parts[i].name);
    SN_RELEASE(job->context, job->parts);
    SN_RELEASE(job->context, job->bodies);
    SN_RELEASE(job->context, job->sides);
    sn_model_builder_destroy(&job->builder);
}

sn_status sn_scene_build(const sn_scene *scene, sn_model **out_model) {
    if (!scene)
        return SN_ERR_INVALID_ARGUMENT;
    if (!out_model)
        return sn_fail(scene->context, SN_ERR_INVALID_ARGUMENT, "sn_scene_build: out_model is NULL");
    sn_status status = SN_OK;
    sn_context *ctx = scene->context;
    sn_model *model = NULL;
    sn_scene_job job = {.scene = scene, .context = ctx};
    SN_TRY_NEW_ZEROED(ctx, job.bodies, scene->content.body_count);
    SN_TRY_NEW_ZEROED(ctx, job.sides, scene->content.contact_count);
    SN_TRY(sn_model_builder_create(ctx, &job.builder));
    SN_TRY(sn_model_set_gravity(job.builder, scene->content.gravity));
    SN_TRY(add_rigids(&job));
    for (int32_t i = 0; i < scene->content.body_count; i++)
        SN_TRY(sn_scene_add_body(&job, i));
    SN_TRY(add_ties(&job));
    SN_TRY(sn_scene_blame(&job, sn_model_build(job.builder, &model), sn_scene_place(scene->root, "bodies"),
                          "bodies"));
    SN_TRY(sn_scene_review(&job, model));
    *out_model = model;
    model = NULL;
cleanup:
    sn_model_destroy(&model);
    release_job(&job);
    return status;
}
