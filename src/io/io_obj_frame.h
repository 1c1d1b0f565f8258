/// Wavefront OBJ files of a run: the surface of one body in one frame.
#ifndef SN_IO_OBJ_FRAME_H
#define SN_IO_OBJ_FRAME_H

#include "sinew/io.h"

/// Which frame, and where its vertices are.
typedef struct sn_obj_frame {
    int32_t index;
    double time;            ///< In s.
    const double *position; ///< [vertex_count of the body, 3] in m
} sn_obj_frame;

/// Writes a body's surface as it is in a frame: the vertices in the order of its surface, with numbers that
/// read back to the same bits, its texture coordinates, and its triangles with their groups ("g name"; "g"
/// alone: none). Body->file_name is not read. @return SN_OK, SN_ERR_WRITE, SN_ERR_NO_MEMORY.
SN_NODISCARD sn_status sn_obj_frame_write(sn_context *ctx, const char *directory, const char *name,
                                          const sn_results_body *body, const sn_obj_frame *frame);

#endif
