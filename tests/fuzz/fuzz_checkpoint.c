// Checkpoints. Guards: no bytes make the reading of checkpoint.bin or the unpacking of a state crash or hang;
// what is refused leaves a message and the state as it was, to the bit; a state that was unpacked packs to
// the same bytes, and a step from it, however wild its numbers, is refused with the state unchanged or leaves
// finite numbers.
//
// So that the corpus does not grow old with the format, an input is a list of changes to bytes that the
// target makes itself: first a byte that says to which (below) and two for the new size (0: as it is), then
// changes of two bytes for the place, one for the count, and that many bytes. Of the first kind, all behind
// the first byte is the file.
#define _POSIX_C_SOURCE 200809L
#include "fuzz/fuzz_support.h"
#include "io/io_checkpoint.h"
#include "sinew/scene.h"
#include "sinew/state.h"
#include "sinew/step.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INPUT_FILE = 0, INPUT_DAMAGED = 1, INPUT_SEALED = 2, INPUT_STATE = 3, INPUT_KINDS };

enum { SEAL_SIZE = 8 };

/// Bytes that end where their block ends.
typedef struct byte_block {
    unsigned char *bytes;
    size_t size;
} byte_block;

/// A block of rubber on a plane, made once for all inputs.
typedef struct fuzz_run {
    fuzz_memory memory;
    sn_context *ctx;
    sn_model *model;
    sn_state *state;
    sn_stepper *stepper;
    byte_block packed; ///< The state that inputs begin with.
    byte_block file;   ///< A checkpoint of it.
    size_t head_size;  ///< In front of the state in the file.
} fuzz_run;

static void must(const sn_context *ctx, sn_status status) {
    fuzz_check(status >= 0, "%s: %s", sn_status_name(status), sn_context_message(ctx));
}

static byte_block new_block(size_t size) {
    byte_block block = {calloc(size > 0 ? size : 1, 1), size};
    fuzz_check(block.bytes, "out of memory");
    return block;
}

static byte_block copy_block(const void *bytes, size_t size) {
    byte_block block = new_block(size);
    if (size > 0)
        memcpy(block.bytes, bytes, size);
    return block;
}

static byte_block pack(const sn_state *state) {
    byte_block block = new_block(sn_state_packed_size(state));
    sn_state_pack(state, block.bytes);
    return block;
}

// ---- What inputs change

static const double STEP = 1.0 / 60;

static void make_model(fuzz_run *run) {
    static const char text[] =
        "sinew: 1\ngravity: [0, 0, -9.81]\nmaterials: {m: {young: 1e4}}\n"
        "bodies: {b: {make: {shape: beam, size: [0.1, 0.1, 0.1], cells: 1}, material: m}}\n"
        "rigid: {p: {plane: {point: [0, 0, 0], normal: [0, 0, 1]}}}\n"
        "contact: [{between: [b, p], friction: 0.3}]\n"
        "solver: {iterations: 3}\n";
    sn_scene *scene = NULL;
    must(run->ctx, sn_scene_parse(run->ctx, text, sizeof text - 1, "fuzz", "", 0, NULL, &scene));
    sn_stepper_def stepper = sn_scene_stepper(scene);
    must(run->ctx, sn_scene_build(scene, &run->model));
    must(run->ctx, sn_state_create(run->model, &run->state));
    must(run->ctx, sn_stepper_create(run->model, &stepper, &run->stepper));
    sn_scene_destroy(&scene);
}

/// Writes a checkpoint to a folder of its own, for its bytes.
static void make_file(fuzz_run *run) {
    char folder[] = "/tmp/sinew-fuzz-XXXXXX", path[64];
    sn_checkpoint head = {.frame_count = 1, .state_size = run->packed.size};
    sn_checkpoint_buffer buffer = {.ctx = run->ctx};
    fuzz_check(mkdtemp(folder), "no folder for a checkpoint");
    must(run->ctx, sn_checkpoint_reserve(&buffer, run->packed.size));
    memcpy(sn_checkpoint_state(&buffer), run->packed.bytes, run->packed.size);
    must(run->ctx, sn_checkpoint_write(&buffer, &head, folder));
    snprintf(path, sizeof path, "%s/%s", folder, SN_CHECKPOINT_FILE);
    fuzz_check(remove(path) == 0 && rmdir(folder) == 0, "%s stays", folder);
    run->head_size = (size_t)((unsigned char *)sn_checkpoint_state(&buffer) - buffer.bytes);
    run->file = copy_block(buffer.bytes, run->head_size + run->packed.size + SEAL_SIZE);
    sn_checkpoint_release(&buffer);
}

/// The run that all inputs share; a few steps bring the block into contact.
static fuzz_run *shared_run(void) {
    static fuzz_run run;
    if (run.ctx)
        return &run;
    run.ctx = fuzz_context(&run.memory);
    make_model(&run);
    for (int i = 0; i < 5; i++)
        must(run.ctx, sn_step(run.stepper, run.state, STEP, NULL));
    fuzz_check(sn_state_contact_count(run.state) > 0, "the block does not touch the plane");
    run.packed = pack(run.state);
    make_file(&run);
    return &run;
}

/// Applies the changes of an input to a copy of `from`.
static byte_block change(const byte_block *from, const uint8_t *data, size_t size) {
    size_t wanted = size >= 2 ? (size_t)data[0] << 8 | data[1] : 0;
    byte_block block = new_block(wanted ? wanted : from->size);
    memcpy(block.bytes, from->bytes, block.size < from->size ? block.size : from->size);
    for (size_t at = 2; at + 3 <= size;) {
        size_t place = (size_t)data[at] << 8 | data[at + 1], count = data[at + 2];
        at += 3;
        count = count < size - at ? count : size - at;
        for (size_t i = 0; i < count && block.size > 0; i++)
            block.bytes[(place + i) % block.size] = data[at + i];
        at += count;
    }
    return block;
}

static void seal(byte_block *file) {
    if (file->size < SEAL_SIZE)
        return;
    uint64_t hash = sn_checkpoint_seal(file->bytes, file->size - SEAL_SIZE);
    memcpy(file->bytes + file->size - SEAL_SIZE, &hash, SEAL_SIZE);
}

// ---- Promises

/// Fails unless the state is what the bytes say.
static void check_same(const sn_state *state, const byte_block *expected) {
    byte_block now = pack(state);
    fuzz_check(now.size == expected->size && memcmp(now.bytes, expected->bytes, now.size) == 0,
               "a packed state of %zu bytes differs", now.size);
    free(now.bytes);
}

static void check_finite(const sn_state *state) {
    size_t count = 3 * (size_t)sn_model_get_info(sn_state_model(state)).node_count;
    for (size_t i = 0; i < count; i++)
        fuzz_check(isfinite(sn_state_positions(state)[i]) && isfinite(sn_state_velocities(state)[i]),
                   "node %zu", i / 3);
}

static void check_contacts(const fuzz_run *run) {
    sn_contact contact;
    sn_contact_sum sum;
    for (int32_t i = 0; i < sn_state_contact_count(run->state); i++)
        must(run->ctx, sn_state_contact(run->state, i, &contact));
    must(run->ctx, sn_state_contact_sum(run->state, 0, &sum));
}

static void check_step(const fuzz_run *run, const byte_block *before) {
    sn_step_info info;
    sn_status status = sn_step(run->stepper, run->state, STEP, &info);
    if (status >= 0) {
        check_finite(run->state);
        return;
    }
    fuzz_check(status == SN_ERR_NON_FINITE || status == SN_ERR_NOT_POSITIVE_DEFINITE, "%s: %s",
               sn_status_name(status), sn_context_message(run->ctx));
    check_same(run->state, before);
}

/// Unpacks bytes, steps on from them, and goes back to the state before.
static void check_unpack(fuzz_run *run, const byte_block *packed) {
    sn_status status = sn_state_unpack(run->state, packed->bytes, packed->size);
    if (status < 0) {
        fuzz_check(status == SN_ERR_INVALID_ARGUMENT || status == SN_ERR_NON_FINITE, "%s",
                   sn_status_name(status));
        fuzz_check(strncmp(sn_context_message(run->ctx), "packed state: ", 14) == 0, "\"%s\"",
                   sn_context_message(run->ctx));
        check_same(run->state, &run->packed);
        return;
    }
    check_same(run->state, packed);
    check_contacts(run);
    check_step(run, packed);
    must(run->ctx, sn_state_unpack(run->state, run->packed.bytes, run->packed.size));
}

// ---- The reader

static sn_status read_file(sn_context *ctx, const char *name, const uint8_t *data, size_t size,
                           void **out_object) {
    sn_checkpoint head;
    sn_status status = sn_checkpoint_parse(ctx, name, data, size, &head);
    if (status < 0)
        return status;
    byte_block *state = malloc(sizeof *state);
    fuzz_check(state, "out of memory");
    fuzz_check(head.frame_count >= 1 && head.state_size < size, "%d frames", head.frame_count);
    *state = copy_block(data + shared_run()->head_size, (size_t)head.state_size);
    *out_object = state;
    return SN_OK;
}

static void check_file(void *object, fuzz_memory *memory) {
    (void)memory;
    check_unpack(shared_run(), object);
}

static void destroy_file(void **object) {
    free(((byte_block *)*object)->bytes);
    free(*object);
    *object = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const fuzz_reader reader = {"fuzz.bin", SN_ERR_READ,  1 << 20, read_file,
                                       check_file, destroy_file, false};
    fuzz_run *run = shared_run();
    if (size == 0)
        return 0;
    int kind = data[0] % INPUT_KINDS;
    byte_block input = kind == INPUT_FILE
                           ? copy_block(data + 1, size - 1)
                           : change(kind == INPUT_STATE ? &run->packed : &run->file, data + 1, size - 1);
    if (kind == INPUT_SEALED)
        seal(&input);
    if (kind == INPUT_STATE)
        check_unpack(run, &input);
    else
        fuzz_read(&reader, input.bytes, input.size);
    free(input.bytes);
    return 0;
}
