#define _POSIX_C_SOURCE 200809L
#include "io/io_checkpoint.h"

#include "io/io_recorder_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// In front of the head.
typedef struct preamble {
    char magic[8];
    uint32_t byte_order, format;
} preamble;

static const preamble our_preamble = {{'S', 'i', 'n', 'e', 'w', '\r', '\n', 'c'}, UINT32_C(0x01020304), 1};

enum { SEAL_SIZE = 8, HEAD_SIZE = sizeof(preamble) + sizeof(sn_checkpoint) };

_Static_assert(sizeof(preamble) == 16, "the preamble has padding");
_Static_assert(sizeof(sn_run_identity) == SN_CHECKPOINT_VERSION_SIZE + 5 * 8, "the identity has padding");
_Static_assert(sizeof(sn_checkpoint) == sizeof(sn_run_identity) + 5 * 8 + 8 * 4, "the head has padding");

// ---- The hash

/// One of four chains of words. Each part is one-to-one, so a single changed word always shows.
static uint64_t mix(uint64_t chain, uint64_t word) {
    chain = (chain ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return chain ^ chain >> 29;
}

uint64_t sn_checkpoint_seal(const void *bytes, size_t size) {
    // Words instead of sn_hash's bytes: this runs over the whole state in every frame.
    enum { CHAINS = 4, BLOCK = CHAINS * sizeof(uint64_t) };
    uint64_t chain[CHAINS] = {1, 2, 3, size}, word[CHAINS];
    const unsigned char *from = bytes;
    for (size_t begin = 0; begin < size; begin += BLOCK) {
        size_t part = size - begin < BLOCK ? size - begin : BLOCK;
        memset(word, 0, sizeof word);
        memcpy(word, from + begin, part);
        for (int i = 0; i < CHAINS; i++)
            chain[i] = mix(chain[i], word[i]);
    }
    uint64_t seal = 0;
    for (int i = 0; i < CHAINS; i++)
        seal = mix(seal, chain[i]);
    return seal;
}

// ---- Writing

static sn_status reserve_bytes(sn_checkpoint_buffer *buffer, size_t size) {
    return sn_grow(buffer->ctx, (void **)&buffer->bytes, &buffer->capacity, size, 1);
}

sn_status sn_checkpoint_reserve(sn_checkpoint_buffer *buffer, size_t size) {
    return reserve_bytes(buffer, HEAD_SIZE + size + SEAL_SIZE);
}

void *sn_checkpoint_state(const sn_checkpoint_buffer *buffer) {
    return buffer->bytes + HEAD_SIZE;
}

void sn_checkpoint_release(sn_checkpoint_buffer *buffer) {
    SN_RELEASE(buffer->ctx, buffer->bytes);
    buffer->capacity = 0;
}

sn_status sn_checkpoint_write(sn_checkpoint_buffer *buffer, const sn_checkpoint *head,
                              const char *directory) {
    size_t size = HEAD_SIZE + (size_t)head->state_size;
    SN_ASSERT(size + SEAL_SIZE <= buffer->capacity);
    memcpy(buffer->bytes, &our_preamble, sizeof our_preamble);
    memcpy(buffer->bytes + sizeof our_preamble, head, sizeof *head);
    uint64_t seal = sn_checkpoint_seal(buffer->bytes, size);
    memcpy(buffer->bytes + size, &seal, SEAL_SIZE);
    return sn_output_write_whole(buffer->ctx, directory, SN_CHECKPOINT_FILE, buffer->bytes, size + SEAL_SIZE);
}

// ---- Reading

static sn_status fail_damaged(sn_context *ctx, const char *path, const char *what) {
    return sn_fail(ctx, SN_ERR_READ,
                   "%s is damaged (%s): put back the file of the run, or start the run anew (--overwrite)",
                   path, what);
}

static sn_status check_preamble(sn_context *ctx, const char *path, const preamble *found) {
    if (memcmp(found->magic, our_preamble.magic, sizeof found->magic) != 0)
        return fail_damaged(ctx, path, "it does not begin as a checkpoint does");
    if (found->byte_order != our_preamble.byte_order)
        return sn_fail(ctx, SN_ERR_READ,
                       "%s was written by a machine of another byte order: go on there, or start the run "
                       "anew (--overwrite)",
                       path);
    if (found->format != our_preamble.format)
        return sn_fail(ctx, SN_ERR_READ,
                       "%s has the format %u, this version of Sinew reads %u: go on with the version that "
                       "began the run, or start the run anew (--overwrite)",
                       path, found->format, our_preamble.format);
    return SN_OK;
}

/// Whether the numbers of a head fit one another.
static bool is_sound(const sn_checkpoint *head, size_t state_size) {
    int64_t steps = 0;
    bool counts = true;
    for (int i = 0; i < SN_CHECKPOINT_STATUS_COUNT; i++) {
        counts = counts && head->status_count[i] >= 0;
        steps += head->status_count[i];
    }
    return counts && head->frame_count >= 1 && steps == head->frame_count - 1 && head->inverted_frames >= 0 &&
           head->inverted_frames <= steps && head->dropped_frames >= 0 && head->dropped_frames <= steps &&
           head->stats_size >= 0 && head->contacts_size >= 0 && head->probes_size >= 0 &&
           head->player_stride >= 0 && (head->finished == 0 || head->finished == 1) &&
           head->state_size == state_size && isfinite(head->identity.frame_seconds) &&
           memchr(head->identity.version, '\0', sizeof head->identity.version);
}

sn_status sn_checkpoint_parse(sn_context *ctx, const char *path, const void *bytes, size_t size,
                              sn_checkpoint *out_head) {
    const unsigned char *from = bytes;
    preamble found;
    sn_checkpoint head;
    uint64_t seal;
    if (size < HEAD_SIZE + SEAL_SIZE)
        return fail_damaged(ctx, path, "it is too short");
    memcpy(&found, from, sizeof found);
    sn_status status = check_preamble(ctx, path, &found);
    if (status < 0)
        return status;
    memcpy(&seal, from + size - SEAL_SIZE, SEAL_SIZE);
    if (seal != sn_checkpoint_seal(from, size - SEAL_SIZE))
        return fail_damaged(ctx, path, "its bytes are not those that were written");
    memcpy(&head, from + sizeof found, sizeof head);
    if (!is_sound(&head, size - HEAD_SIZE - SEAL_SIZE))
        return fail_damaged(ctx, path, "its numbers contradict one another");
    *out_head = head;
    return SN_OK;
}

static sn_status fail_open(sn_context *ctx, const char *directory, const char *path, int error) {
    if (error != ENOENT && error != ENOTDIR)
        return sn_fail(ctx, SN_ERR_READ, "cannot read %s: %s", path, strerror(error));
    return sn_fail(ctx, SN_ERR_READ,
                   "%s holds no checkpoint (%s) to go on from: start the run from its beginning, without "
                   "--resume (and with --overwrite, if the folder holds the first files of one)",
                   directory, SN_CHECKPOINT_FILE);
}

sn_status sn_checkpoint_read(sn_checkpoint_buffer *buffer, const char *directory, sn_checkpoint *out_head) {
    sn_status status = SN_OK;
    sn_context *ctx = buffer->ctx;
    char *path = NULL;
    struct stat facts;
    int descriptor = -1;
    SN_TRY(sn_path_join(ctx, directory, SN_CHECKPOINT_FILE, &path));
    descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 || fstat(descriptor, &facts) != 0)
        SN_TRY(fail_open(ctx, directory, path, errno));
    if (!S_ISREG(facts.st_mode))
        SN_TRY(fail_damaged(ctx, path, "it is no file"));
    size_t size = (size_t)facts.st_size;
    SN_TRY(reserve_bytes(buffer, size));
    ssize_t got = sn_read_bytes(descriptor, buffer->bytes, size);
    if (got < 0)
        SN_TRY(sn_fail(ctx, SN_ERR_READ, "cannot read %s: %s", path, strerror(errno)));
    SN_TRY(sn_checkpoint_parse(ctx, path, buffer->bytes, (size_t)got, out_head));
cleanup:
    if (descriptor >= 0)
        close(descriptor);
    SN_RELEASE(ctx, path);
    return status;
}

// ---- Whose it is

static const char anew[] = "or start the run anew (--overwrite)";

sn_status sn_run_identity_check(sn_context *ctx, const char *directory, const sn_run_identity *found,
                                const sn_run_identity *wanted) {
    if (strcmp(found->version, wanted->version) != 0)
        return sn_fail(
            ctx, SN_ERR_READ,
            "%s holds a run of Sinew %s, and this is %s, whose numbers may differ: go on with that "
            "version, %s",
            directory, found->version, wanted->version, anew);
    if (found->model_hash != wanted->model_hash)
        return sn_fail(
            ctx, SN_ERR_READ,
            "%s holds a run of another model (bodies, materials, shapes, contacts or what ties them "
            "have changed since): go on with the scene and the meshes as they were, %s",
            directory, anew);
    if (found->frame_seconds != wanted->frame_seconds || found->substeps != wanted->substeps)
        return sn_fail(ctx, SN_ERR_READ,
                       "%s holds a run of another time step (%.17g s a frame in %lld steps; now %.17g s in "
                       "%lld): go on with that one, %s",
                       directory, found->frame_seconds, (long long)found->substeps, wanted->frame_seconds,
                       (long long)wanted->substeps, anew);
    if (found->stepper_hash != wanted->stepper_hash)
        return sn_fail(ctx, SN_ERR_READ,
                       "%s holds a run of another solver, integrator or precision: go on with their settings "
                       "as they were, %s",
                       directory, anew);
    if (found->output_hash != wanted->output_hash)
        return sn_fail(ctx, SN_ERR_READ,
                       "%s holds a run with other outputs (files, fields, probes, or names of bodies and "
                       "shapes): go on with the outputs as they were, %s",
                       directory, anew);
    return SN_OK;
}
