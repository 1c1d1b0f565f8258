/// VTU files (VTK XML, unstructured grids) with inline base64 data, which ParaView 5.11 and meshio read;
/// appended data the former does not.
#ifndef SN_IO_VTU_H
#define SN_IO_VTU_H

#include "io/io_recorder_frame.h"

/// Writes a body at a frame: its tets (`volume`) or its surface triangles, with point data displacement and
/// velocity (vectors) and the fields that the frame has. A surface has the vectors contact_force too, in N at
/// its vertices, if the model has contacts; forces at samples between vertices are not in it. @return SN_OK,
/// SN_ERR_WRITE, SN_ERR_NO_MEMORY.
SN_NODISCARD sn_status sn_vtu_write(sn_context *ctx, const char *directory, const char *name,
                                    const sn_frame_view *frame, int32_t body_index, bool volume,
                                    bool displacement);

#endif
