/// frame.000012.png: pictures that a run writes.
///
/// A picture depends on the frame and the start only, so that a run that was stopped and resumed makes the
/// same ones. The camera's direction follows from the start; it has both the start and the frame in view, and
/// moves no more than that takes.
#ifndef SN_IO_PREVIEW_FRAME_H
#define SN_IO_PREVIEW_FRAME_H

#include "io/io_recorder_frame.h"

enum { SN_PREVIEW_NAME_SIZE = 32 };

/// What stays the same from picture to picture.
typedef struct sn_preview_frames sn_preview_frames;

/// Prepares pictures as `def` wants them, and touches no file. @return SN_OK, SN_ERR_NO_MEMORY.
SN_NODISCARD sn_status sn_preview_frames_create(sn_context *ctx, const sn_model *model,
                                                const sn_output_def *def, sn_preview_frames **out_frames);
void sn_preview_frames_destroy(sn_preview_frames **frames);

/// Name of the picture of a frame.
void sn_preview_name(int32_t frame, char out[SN_PREVIEW_NAME_SIZE]);
/// Writes the picture of a frame, if it is due. @return SN_OK, SN_ERR_WRITE, SN_ERR_NO_MEMORY.
SN_NODISCARD sn_status sn_preview_frames_write(sn_preview_frames *frames, const char *directory,
                                               const sn_frame_view *frame);

#endif
