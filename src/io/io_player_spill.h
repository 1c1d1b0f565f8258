/// player.frames: what the player shows of every n-th frame, as floats, until the page is written.
///
/// The page is quantized with bounds that are known at the end only, and memory should not grow with the run.
/// A growing file, so that a resumed run has the frames from before; it stays behind a finished run, so that
/// this can be made longer. It is one and a half times as large as the page can get with the planned frames.
#ifndef SN_IO_PLAYER_SPILL_H
#define SN_IO_PLAYER_SPILL_H

#include "io/io_recorder_file.h"

/// Frames 0, stride, 2 stride, ... of `frame_floats` floats each. All zero: closed.
typedef struct sn_player_spill {
    sn_output output;
    int32_t stride;
    size_t frame_floats;
    int reader; ///< Descriptor for reading; -1: none yet.
} sn_player_spill;

SN_NODISCARD sn_status sn_player_spill_open(sn_context *ctx, const char *directory, size_t frame_floats,
                                            int32_t stride, sn_player_spill *spill);
/// Whether sn_player_spill_reopen() would find the file long enough. @return as sn_output_can_reopen().
SN_NODISCARD sn_status sn_player_spill_can_reopen(sn_context *ctx, const char *directory, size_t frame_floats,
                                                  int32_t stride, int32_t frame_count);
/// Opens it again, cut back to the first `frame_count` frames of the run. @return as sn_output_reopen().
SN_NODISCARD sn_status sn_player_spill_reopen(sn_context *ctx, const char *directory, size_t frame_floats,
                                              int32_t stride, int32_t frame_count, sn_player_spill *spill);
/// Adds a frame, the next of those that are kept. On failure it is missing.
SN_NODISCARD sn_status sn_player_spill_append(sn_player_spill *spill, const float *floats);
/// Reads `count` floats of a kept frame of the run, from float `begin` of it on. @return SN_OK; SN_ERR_READ.
SN_NODISCARD sn_status sn_player_spill_read(sn_player_spill *spill, int32_t frame, size_t begin, size_t count,
                                            float *out);
/// Closes the file, which keeps its frames. Fine on a closed one.
void sn_player_spill_close(sn_player_spill *spill);

#endif
