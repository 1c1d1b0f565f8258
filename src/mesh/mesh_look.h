/// Texture coordinates and groups of surfaces, carried from a file's faces to their triangles.
#ifndef SN_MESH_LOOK_H
#define SN_MESH_LOOK_H

#include "base/base_context.h"
#include "sinew/mesh.h"

/// The look of the triangles that sn_mesh_data_triangles() makes of a surface, which are `triangle_count`.
/// Texture coordinates that are no numbers are left out, with a warning. @return SN_OK; SN_ERR_MESH: a
/// texture coordinate that does not exist; SN_ERR_NO_MEMORY. On error *out_look is all zero.
SN_NODISCARD sn_status sn_surface_look_of(sn_context *ctx, const sn_mesh_data *data, int32_t triangle_count,
                                          sn_surface_look *out_look);
/// Copies the look of `triangle_count` triangles. On error *out_look is all zero.
SN_NODISCARD sn_status sn_surface_look_copy(sn_context *ctx, const sn_surface_look *look,
                                            int32_t triangle_count, sn_surface_look *out_look);
/// Releases the arrays and leaves all zero. Fine if it is.
void sn_surface_look_release(sn_context *ctx, sn_surface_look *look);

#endif
