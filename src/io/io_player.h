/// player.html: one page that plays a run in any browser, without a network.
///
/// While the run goes on, frames are kept as floats in a nameless temporary file, because the bounds that
/// quantizing needs are known at the end only and memory should not grow with the run. The page then holds,
/// per body and frame, one base64 text of fixed length: uint16 positions [vertices, 3], then one uint16
/// [vertices] per field. A position is (origin[frame] + q) * step with whole numbers `origin`: one grid of
/// the same step for all frames, so what stands still stays still, and the step follows from the body's size
/// in a frame, not from how far it travels. Long runs keep every n-th frame so that the page stays below
/// SN_PLAYER_MAX_BYTES.
///
/// Rejected: glTF with morph targets (float32 per frame, no fields), compressed streams (not in every
/// browser).
#ifndef SN_IO_PLAYER_H
#define SN_IO_PLAYER_H

#include "io/io_recorder_frame.h"

#define SN_PLAYER_MAX_BYTES (256 << 20)

typedef struct sn_player sn_player;

/// Prepares a player for `run->frame_total` frames behind the start. @return SN_OK, SN_ERR_WRITE,
/// SN_ERR_NO_MEMORY.
SN_NODISCARD sn_status sn_player_create(sn_context *ctx, const sn_model *model, const char *directory,
                                        const sn_output_def *def, const sn_run_info *run,
                                        sn_player **out_player);
/// Takes a frame. On failure it is missing.
SN_NODISCARD sn_status sn_player_frame(sn_player *player, const sn_frame_view *frame);
/// Writes directory/player.html. `ms_per_frame` is shown (NaN: not known).
SN_NODISCARD sn_status sn_player_write(sn_player *player, const char *directory, double ms_per_frame);
void sn_player_destroy(sn_player **player);

#endif
