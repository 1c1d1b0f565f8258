/// Skeletons in Trivial Graph Format. The first three numbers behind a label are the joint's rest position;
/// files in circulation carry further, partly uninitialized, numbers there, which are not even looked at.
#include "io/io_mesh_build.h"
#include "sinew/io.h"

#include <math.h>

typedef struct skeleton_reader {
    sn_text *text;
    sn_skeleton *skeleton;
    size_t position_capacity, label_capacity, bone_capacity, line_capacity;
    int64_t *line; ///< [joint_count] where each joint stands
    sn_tag_map labels;
} skeleton_reader;

static sn_status read_joint(skeleton_reader *reader) {
    sn_status status = SN_OK;
    sn_text *text = reader->text;
    sn_skeleton *skeleton = reader->skeleton;
    size_t count = (size_t)skeleton->joint_count;
    SN_TRY(sn_grow(text->ctx, (void **)&skeleton->position, &reader->position_capacity, 3 * count + 3,
                   sizeof *skeleton->position));
    SN_TRY(sn_grow(text->ctx, (void **)&skeleton->label, &reader->label_capacity, count + 1,
                   sizeof *skeleton->label));
    SN_TRY(
        sn_grow(text->ctx, (void **)&reader->line, &reader->line_capacity, count + 1, sizeof *reader->line));
    if (!sn_text_int(text, &skeleton->label[count]))
        return sn_text_expected(text, "the number of a joint, or # before the bones");
    for (size_t axis = 0; axis < 3; axis++) {
        double *value = &skeleton->position[3 * count + axis];
        const char *begin = text->at;
        if (!sn_text_real(text, value) || !isfinite(*value)) {
            text->at = begin;
            return sn_text_expected(text, "three finite coordinates of joint %d", skeleton->label[count]);
        }
    }
    reader->line[count] = text->line;
    skeleton->joint_count++;
cleanup:
    return status;
}

static sn_status read_joints(skeleton_reader *reader) {
    sn_status status = SN_OK;
    sn_text *text = reader->text;
    while (sn_text_skip_space(text) && *text->at != '#') {
        SN_TRY(read_joint(reader));
        sn_text_next_line(text);
    }
    if (reader->skeleton->joint_count == 0)
        return sn_text_expected(text, "a joint: label x y z");
    if (text->at < text->end)
        sn_text_next_line(text);
    int32_t duplicate = -1;
    SN_TRY(sn_tag_map_make(text->ctx, reader->skeleton->joint_count, reader->skeleton->label, &reader->labels,
                           &duplicate));
    if (duplicate < 0)
        return SN_OK;
    text->line = reader->line[duplicate];
    status = sn_text_fail(text, "found joint %d a second time, expected each number once",
                          reader->skeleton->label[duplicate]);
cleanup:
    return status;
}

static sn_status read_bone(skeleton_reader *reader) {
    sn_status status = SN_OK;
    sn_text *text = reader->text;
    sn_skeleton *skeleton = reader->skeleton;
    size_t count = (size_t)skeleton->bone_count;
    SN_TRY(sn_grow(text->ctx, (void **)&skeleton->bone, &reader->bone_capacity, 2 * count + 2,
                   sizeof *skeleton->bone));
    for (size_t end = 0; end < 2; end++) {
        int32_t label = 0;
        if (!sn_text_int(text, &label))
            return sn_text_expected(text, "a bone: the numbers of two joints");
        skeleton->bone[2 * count + end] = sn_tag_map_find(&reader->labels, label);
        if (skeleton->bone[2 * count + end] < 0)
            return sn_text_fail(text, "found joint %d in a bone, expected one that is listed before #",
                                label);
    }
    if (skeleton->bone[2 * count] == skeleton->bone[2 * count + 1])
        return sn_text_fail(text, "found a bone from joint %d to itself, expected two joints",
                            skeleton->label[skeleton->bone[2 * count]]);
    skeleton->bone_count++;
cleanup:
    return status;
}

static sn_status read_bones(skeleton_reader *reader) {
    sn_status status = SN_OK;
    while (sn_text_skip_space(reader->text)) {
        if (*reader->text->at != '#')
            SN_TRY(read_bone(reader));
        sn_text_next_line(reader->text);
    }
cleanup:
    return status;
}

sn_status sn_skeleton_read_text(sn_text *text, sn_skeleton **out_skeleton) {
    sn_status status = SN_OK;
    sn_context *ctx = text->ctx;
    skeleton_reader reader = {.text = text};
    SN_TRY_NEW_ZEROED(ctx, reader.skeleton, 1);
    reader.skeleton->context = ctx;
    if (text->has_zero_bytes)
        SN_TRY(sn_text_fail(text, "found binary data, expected a skeleton in Trivial Graph Format"));
    SN_TRY(read_joints(&reader));
    SN_TRY(read_bones(&reader));
    *out_skeleton = reader.skeleton;
    reader.skeleton = NULL;
cleanup:
    sn_skeleton_destroy(&reader.skeleton);
    sn_tag_map_release(ctx, &reader.labels);
    SN_RELEASE(ctx, reader.line);
    return status;
}

sn_status sn_skeleton_read(sn_context *context, const char *path, sn_skeleton **out_skeleton) {
    if (!context)
        return SN_ERR_INVALID_ARGUMENT;
    if (!path || !out_skeleton)
        return sn_fail(context, SN_ERR_INVALID_ARGUMENT, "sn_skeleton_read: path or out_skeleton is NULL");
    sn_text text = {0};
    sn_status status = sn_text_open(context, path, &text);
    if (status == SN_OK)
        status = sn_skeleton_read_text(&text, out_skeleton);
    sn_text_close(&text);
    return status;
}

static sn_status check_skeleton(const sn_skeleton *skeleton) {
    bool good = skeleton->joint_count > 0 && skeleton->bone_count >= 0 && skeleton->position &&
                skeleton->label && (skeleton->bone || skeleton->bone_count == 0);
    for (int32_t i = 0; good && i < 2 * skeleton->bone_count; i++)
        good = skeleton->bone[i] >= 0 && skeleton->bone[i] < skeleton->joint_count;
    if (!good)
        return sn_fail(
            skeleton->context, SN_ERR_INVALID_ARGUMENT,
            "sn_skeleton_write: the skeleton has no joints, or a bone names one that does not exist");
    return SN_OK;
}

void sn_skeleton_write_text(sn_text_out *out, const sn_skeleton *skeleton) {
    for (int32_t i = 0; i < skeleton->joint_count; i++) {
        sn_text_out_print(out, "%d", skeleton->label[i]);
        for (size_t axis = 0; axis < 3; axis++)
            sn_text_out_real(out, skeleton->position[3 * (size_t)i + axis]);
        sn_text_out_print(out, "\n");
    }
    sn_text_out_print(out, "#\n");
    for (size_t i = 0; i < (size_t)skeleton->bone_count; i++)
        sn_text_out_print(out, "%d %d\n", skeleton->label[skeleton->bone[2 * i]],
                          skeleton->label[skeleton->bone[2 * i + 1]]);
}

sn_status sn_skeleton_write(const sn_skeleton *skeleton, const char *path) {
    if (!skeleton || !skeleton->context)
        return SN_ERR_INVALID_ARGUMENT;
    if (!path)
        return sn_fail(skeleton->context, SN_ERR_INVALID_ARGUMENT, "sn_skeleton_write: path is NULL");
    sn_status status = SN_OK;
    sn_text_out out = {0};
    SN_TRY(check_skeleton(skeleton));
    SN_TRY(sn_text_out_open(skeleton->context, path, &out));
    sn_skeleton_write_text(&out, skeleton);
    SN_TRY(sn_text_out_commit(&out));
cleanup:
    sn_text_out_close(&out);
    return status;
}
