/// player.html: one page that plays a run in any browser, without a network.
///
/// While the run goes on, frames are kept in player.frames (io_player_spill.h). The page then holds,
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

#define SN_PLAYER_FILE      "player.html"
#define SN_PLAYER_MAX_BYTES (256 << 20)

typedef struct sn_player sn_player;

/// Prepares a player for `run->frame_total` frames behind the start, and touches no file. @return SN_OK,
/// SN_ERR_NO_MEMORY.
SN_NODISCARD sn_status sn_player_create(sn_context *ctx, const sn_model *model, const sn_output_def *def,
                                        const sn_run_info *run, sn_player **out_player);
/// Makes directory/player.frames.
SN_NODISCARD sn_status sn_player_open(sn_player *player, const char *directory);
/// Whether sn_player_reopen() would find the file long enough. @return as sn_output_can_reopen().
SN_NODISCARD sn_status sn_player_can_reopen(const sn_player *player, const char *directory, int32_t stride,
                                            int32_t frame_count);
/// Opens it again, cut back to the first `frame_count` frames (with the start) of the run. `stride` is the
/// one that it was made with. @return as sn_output_reopen().
SN_NODISCARD sn_status sn_player_reopen(sn_player *player, const char *directory, int32_t stride,
                                        int32_t frame_count);
/// Every so many frames of the run are in player.frames.
int32_t sn_player_stride(const sn_player *player);
/// Takes a frame. On failure it is missing.
SN_NODISCARD sn_status sn_player_frame(sn_player *player, const sn_frame_view *frame);
/// Writes directory/player.html of the frames so far, with their records [frame_count]. `ms_per_frame` is
/// shown (NaN: not known). The player then takes no more frames.
SN_NODISCARD sn_status sn_player_write(sn_player *player, const char *directory, int32_t frame_count,
                                       const sn_frame_record *record, double ms_per_frame);
void sn_player_destroy(sn_player **player);

#endif
