/// checkpoint.bin: what a run needs to go on, with the same bits as if it had never stopped.
///
/// Little-endian: magic, byte-order mark, format number, the head below as the machine holds it, the packed
/// state, and a hash over all of these. Written whole, so that a kill leaves either the last one or the new
/// one. What grows with the run stays out of it, or the writing would be quadratic in the length of the run:
/// past frames are in checkpoint.frames and player.frames.
#ifndef SN_IO_CHECKPOINT_H
#define SN_IO_CHECKPOINT_H

#include "base/base_context.h"

#define SN_CHECKPOINT_FILE "checkpoint.bin"

enum { SN_CHECKPOINT_STATUS_COUNT = 3, SN_CHECKPOINT_VERSION_SIZE = 24 };

/// What must be equal for a run to go on.
typedef struct sn_run_identity {
    char version[SN_CHECKPOINT_VERSION_SIZE]; ///< Of the library: numbers are promised within one.
    uint64_t model_hash, stepper_hash, output_hash;
    double frame_seconds;
    int64_t substeps;
} sn_run_identity;

/// The head. Without padding: its bytes are its values.
typedef struct sn_checkpoint {
    sn_run_identity identity;
    int64_t stats_size, contacts_size, probes_size;   ///< Bytes of the growing text files; 0: no such file.
    uint64_t history_hash;                            ///< Of the records in checkpoint.frames.
    uint64_t state_size;                              ///< Bytes of the packed state.
    int32_t frame_count;                              ///< With the start, >= 1.
    int32_t player_stride;                            ///< Frames per frame in player.frames; 0: no player.
    int32_t status_count[SN_CHECKPOINT_STATUS_COUNT]; ///< Frames by sn_step_status.
    int32_t inverted_frames, dropped_frames;          ///< Frames with inverted tets, with dropped contacts.
    int32_t finished;                                 ///< 1: the results of these frames are written.
} sn_checkpoint;

/// Room for a whole file, kept between checkpoints. Begin with the context and zeros.
typedef struct sn_checkpoint_buffer {
    sn_context *ctx;
    unsigned char *bytes;
    size_t capacity;
} sn_checkpoint_buffer;

/// Makes room for a state of `size` bytes. @return SN_OK, SN_ERR_NO_MEMORY.
SN_NODISCARD sn_status sn_checkpoint_reserve(sn_checkpoint_buffer *buffer, size_t size);
/// Where the state stands: to be filled in before sn_checkpoint_write(), filled in by sn_checkpoint_read().
void *sn_checkpoint_state(const sn_checkpoint_buffer *buffer);
void sn_checkpoint_release(sn_checkpoint_buffer *buffer);

/// Writes directory/checkpoint.bin: the head and the head->state_size bytes of the state. @return SN_OK;
/// SN_ERR_WRITE, SN_ERR_NO_MEMORY: the checkpoint before stays.
SN_NODISCARD sn_status sn_checkpoint_write(sn_checkpoint_buffer *buffer, const sn_checkpoint *head,
                                           const char *directory);
/// Reads directory/checkpoint.bin. @return SN_OK; SN_ERR_READ: there is none, or a damaged one;
/// SN_ERR_NO_MEMORY.
SN_NODISCARD sn_status sn_checkpoint_read(sn_checkpoint_buffer *buffer, const char *directory,
                                          sn_checkpoint *out_head);
/// The same for a file in memory: checks everything but the state. `path` is for messages.
SN_NODISCARD sn_status sn_checkpoint_parse(sn_context *ctx, const char *path, const void *bytes, size_t size,
                                           sn_checkpoint *out_head);

/// Hash of the bytes of a checkpoint in front of its last eight, which hold it.
uint64_t sn_checkpoint_seal(const void *bytes, size_t size);

/// Checks that a checkpoint in `directory` is one of the run that wants to go on. @return SN_OK; SN_ERR_READ:
/// the message says what differs, and what to do.
SN_NODISCARD sn_status sn_run_identity_check(sn_context *ctx, const char *directory,
                                             const sn_run_identity *found, const sn_run_identity *wanted);

#endif
