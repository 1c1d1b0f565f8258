/// Wavefront OBJ files of a run: the surface of one body in one frame.
#ifndef SN_IO_OBJ_FRAME_H
#define SN_IO_OBJ_FRAME_H

#include "io/io_recorder_frame.h"

/// Writes a body's surface as it is in a frame: the vertices in the order of its surface, with numbers that
/// read back to the same bits, and its triangles. @return SN_OK, SN_ERR_WRITE, SN_ERR_NO_MEMORY.
SN_NODISCARD sn_status sn_obj_frame_write(sn_context *ctx, const char *directory, const char *name,
                                          const sn_frame_view *frame, int32_t body_index);

#endif
