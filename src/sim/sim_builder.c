#include "sim/sim_builder.h"

#include "base/base_util.h"
#include "sim/sim_def.h"
#include "sim/sim_shape.h"

#include <math.h>
#include <stdio.h>

sn_status sn_check_finite(sn_context *ctx, const char *field, size_t count, const double *values) {
    for (size_t i = 0; i < count; i++) {
        if (isfinite(values[i]))
            continue;
        if (count == 1)
            return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "%s = %g: must be finite", field, values[i]);
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "%s[%zu] = %g: must be finite", field, i, values[i]);
    }
    return SN_OK;
}

sn_status sn_check_def(sn_context *ctx, const sn_field_table *table, const void *def) {
    if (!def)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "%s: the definition is NULL", table->name);
    return sn_field_check(ctx, table, def);
}

/// Handles of another builder differ in generation, whatever their index.
static sn_status find(const sn_model_builder *builder, const char *kind, uint32_t index1, uint32_t generation,
                      int32_t count, int32_t *out_index) {
    if (index1 == 0)
        return sn_fail(builder->context, SN_ERR_INVALID_ARGUMENT, "the handle of a %s is missing (all zero)",
                       kind);
    if (generation != builder->generation || index1 > (uint32_t)count)
        return sn_fail(builder->context, SN_ERR_INVALID_ARGUMENT,
                       "the handle of a %s (index1 %u) is not one of this builder's %d", kind, index1, count);
    *out_index = (int32_t)index1 - 1;
    return SN_OK;
}

sn_status sn_builder_find_body(const sn_model_builder *builder, sn_body_id id, int32_t *out_index) {
    return find(builder, "body", id.index1, id.generation, builder->body_count, out_index);
}

sn_status sn_builder_find_shape(const sn_model_builder *builder, sn_shape_id id, int32_t *out_index) {
    return find(builder, "shape", id.index1, id.generation, builder->shape_count, out_index);
}

sn_status sn_builder_find_frame(const sn_model_builder *builder, sn_frame_id id, int32_t *out_index) {
    if (id.index1 == 0 && id.generation == 0) {
        *out_index = SN_FRAME_WORLD;
        return SN_OK;
    }
    return find(builder, "frame", id.index1, id.generation, builder->frame_count, out_index);
}

sn_status sn_builder_name(sn_context *ctx, const char *name, const char *kind, int32_t number,
                          char **out_name) {
    char text[32];
    if (name)
        return sn_new_text(ctx, name, out_name);
    snprintf(text, sizeof text, "%s %d", kind, number);
    return sn_new_text(ctx, text, out_name);
}

sn_status sn_model_builder_create(sn_context *context, sn_model_builder **out_builder) {
    sn_status status = SN_OK;
    sn_model_builder *builder = NULL;
    if (!context)
        return SN_ERR_INVALID_ARGUMENT;
    if (!out_builder)
        return sn_fail(context, SN_ERR_INVALID_ARGUMENT, "sn_model_builder_create: out_builder is NULL");
    SN_TRY_NEW_ZEROED(context, builder, 1);
    builder->context = context;
    // The count of allocations never repeats within a context.
    uint64_t seed[2] = {sn_context_allocation_count(context), (uint64_t)(uintptr_t)context};
    builder->generation = (uint32_t)sn_hash(SN_HASH_START, seed, sizeof seed) | 1;
    *out_builder = builder;
cleanup:
    return status;
}

void sn_model_builder_destroy(sn_model_builder **builder) {
    if (!builder || !*builder)
        return;
    sn_model_builder *old = *builder;
    sn_context *ctx = old->context;
    for (int32_t i = 0; i < old->frame_count; i++)
        sn_frame_clear(ctx, &old->frames[i]);
    for (int32_t i = 0; i < old->shape_count; i++)
        sn_shape_clear(ctx, &old->shapes[i]);
    for (int32_t i = 0; i < old->body_count; i++)
        sn_builder_body_clear(ctx, &old->bodies[i]);
    SN_RELEASE(ctx, old->frames);
    SN_RELEASE(ctx, old->shapes);
    SN_RELEASE(ctx, old->shape_frame);
    SN_RELEASE(ctx, old->bodies);
    SN_RELEASE(ctx, old->springs);
    SN_RELEASE(ctx, old->targets);
    SN_RELEASE(ctx, old->pairs);
    sn_release(ctx, old);
    *builder = NULL;
}

sn_status sn_model_set_gravity(sn_model_builder *builder, const double gravity[3]) {
    if (!builder)
        return SN_ERR_INVALID_ARGUMENT;
    if (!gravity)
        return sn_fail(builder->context, SN_ERR_INVALID_ARGUMENT, "sn_model_set_gravity: gravity is NULL");
    sn_status status = sn_check_finite(builder->context, "gravity", 3, gravity);
    for (int i = 0; i < 3 && status == SN_OK; i++)
        builder->gravity[i] = gravity[i];
    return status;
}

static sn_status check_keys(sn_context *ctx, const sn_frame_def *def) {
    sn_status status = SN_OK;
    int32_t keys = def->key_count;
    if (keys < 0)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "key_count = %d: must not be negative", keys);
    if (keys > 0 && !def->time)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "time is NULL, but key_count = %d", keys);
    for (int32_t k = 0; k < keys; k++) {
        SN_TRY(sn_check_finite(ctx, "time", 1, def->time + k));
        if (k > 0 && !(def->time[k] > def->time[k - 1]))
            return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                           "time[%d] = %g comes after %g: key times must ascend strictly", k, def->time[k],
                           def->time[k - 1]);
    }
    if (def->translation)
        SN_TRY(sn_check_finite(ctx, "translation", 3 * (size_t)keys, def->translation));
    if (def->rotation)
        SN_TRY(sn_check_finite(ctx, "rotation", 3 * (size_t)keys, def->rotation));
cleanup:
    return status;
}

/// Copies keys; zeros where there are none.
static sn_status copy_keys(sn_context *ctx, int32_t count, const double *keys, double **out) {
    if (keys)
        return sn_new_copy(ctx, keys, 3 * (size_t)count, sizeof *keys, (void **)out);
    return sn_new_zeroed(ctx, 3 * (size_t)count, sizeof *keys, (void **)out);
}

static sn_status make_frame(sn_context *ctx, const sn_frame_def *def, int32_t parent, int32_t number,
                            sn_model_frame *out) {
    sn_status status = SN_OK;
    sn_model_frame frame = {
        .parent = parent, .interpolation = def->interpolation, .key_count = def->key_count};
    for (int i = 0; i < 3; i++)
        frame.pivot[i] = def->pivot[i];
    SN_TRY(sn_builder_name(ctx, def->name, "frame", number, &frame.name));
    SN_TRY(sn_new_copy(ctx, def->time, (size_t)def->key_count, sizeof(double), (void **)&frame.time));
    SN_TRY(copy_keys(ctx, def->key_count, def->translation, &frame.translation));
    SN_TRY(copy_keys(ctx, def->key_count, def->rotation, &frame.rotation));
    *out = frame;
    return SN_OK;
cleanup:
    sn_frame_clear(ctx, &frame);
    return status;
}

sn_status sn_model_add_frame(sn_model_builder *builder, const sn_frame_def *def, sn_frame_id *out_frame) {
    sn_status status = SN_OK;
    int32_t parent = SN_FRAME_WORLD;
    sn_model_frame frame = {0};
    if (!builder)
        return SN_ERR_INVALID_ARGUMENT;
    sn_context *ctx = builder->context;
    int32_t number = builder->frame_count + 1;
    SN_TRY(sn_check_def(ctx, &sn_frame_fields, def));
    SN_TRY(sn_builder_find_frame(builder, def->parent, &parent));
    SN_TRY(check_keys(ctx, def));
    SN_TRY(sn_grow(ctx, (void **)&builder->frames, &builder->frame_capacity, (size_t)number, sizeof frame));
    SN_TRY(make_frame(ctx, def, parent, number, &frame));
    builder->frames[builder->frame_count++] = frame;
    if (out_frame)
        *out_frame = (sn_frame_id){(uint32_t)number, builder->generation};
cleanup:
    if (status < 0 && def && def->mark == SN_DEF_MARK && def->name)
        sn_message_prefix(ctx, "frame %s: ", def->name);
    return status;
}
