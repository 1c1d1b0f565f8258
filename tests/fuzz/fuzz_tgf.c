// Skeletons in Trivial Graph Format. Guards: no file makes the reader crash, hang, leak, or take memory
// beyond what the file is worth; a refused one leaves a message and no output; of one that was read all
// places are finite and all bones join two joints, and it can be written and read back equal.
#define _POSIX_C_SOURCE 200809L
#include "fuzz/fuzz_support.h"
#include "io/io_mesh_build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sn_status read_skeleton(sn_context *ctx, const char *name, const uint8_t *data, size_t size,
                               void **out_object) {
    sn_text text = {0};
    sn_skeleton *skeleton = NULL;
    sn_status status = sn_text_open_memory(ctx, name, data, size, &text);
    if (status == SN_OK)
        status = sn_skeleton_read_text(&text, &skeleton);
    if (status == SN_OK)
        *out_object = skeleton;
    sn_text_close(&text);
    return status;
}

static void destroy_skeleton(void **object) {
    sn_skeleton *skeleton = *object;
    sn_skeleton_destroy(&skeleton);
    *object = skeleton;
}

static void check_valid(const sn_skeleton *skeleton) {
    fuzz_check(skeleton->joint_count > 0 && skeleton->bone_count >= 0, "%d joints", skeleton->joint_count);
    for (int32_t i = 0; i < 3 * skeleton->joint_count; i++)
        fuzz_check(isfinite(skeleton->position[i]), "joint %d", i / 3);
    for (int32_t i = 0; i < 2 * skeleton->bone_count; i++)
        fuzz_check(skeleton->bone[i] >= 0 && skeleton->bone[i] < skeleton->joint_count, "bone %d", i / 2);
    for (int32_t i = 0; i < skeleton->bone_count; i++)
        fuzz_check(skeleton->bone[2 * i] != skeleton->bone[2 * i + 1], "bone %d", i);
}

static void compare(const sn_skeleton *a, const sn_skeleton *b) {
    size_t joints = (size_t)a->joint_count, bones = (size_t)a->bone_count;
    fuzz_check(a->joint_count == b->joint_count && a->bone_count == b->bone_count,
               "%d joints and %d bones came back", b->joint_count, b->bone_count);
    fuzz_check(memcmp(a->label, b->label, joints * sizeof *a->label) == 0, "labels");
    fuzz_check(memcmp(a->position, b->position, 3 * joints * sizeof *a->position) == 0, "places");
    fuzz_check(bones == 0 || memcmp(a->bone, b->bone, 2 * bones * sizeof *a->bone) == 0, "bones");
}

static void check_skeleton(void *object, fuzz_memory *memory) {
    (void)memory;
    const sn_skeleton *skeleton = object;
    void *again = NULL;
    char *bytes = NULL;
    size_t size = 0;
    check_valid(skeleton);
    sn_text_out out = {.ctx = skeleton->context, .file = open_memstream(&bytes, &size)};
    fuzz_check(out.file, "out of memory");
    sn_skeleton_write_text(&out, skeleton);
    fclose(out.file);
    sn_status status = read_skeleton(skeleton->context, "copy.tgf", (const uint8_t *)bytes, size, &again);
    fuzz_check(status == SN_OK, "what was written is refused: %s", sn_context_message(skeleton->context));
    compare(skeleton, again);
    destroy_skeleton(&again);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const fuzz_reader reader = {"fuzz.tgf",     SN_ERR_READ,      1 << 20, read_skeleton,
                                       check_skeleton, destroy_skeleton, false};
    fuzz_read(&reader, data, size);
    return 0;
}
