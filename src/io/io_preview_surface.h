/// Surfaces as the preview draws them: smooth but for sharp edges. What the player does (player.js).
#ifndef SN_IO_PREVIEW_SURFACE_H
#define SN_IO_PREVIEW_SURFACE_H

#include "base/base_context.h"
#include "sinew/io.h"

/// A surface whose vertices are split where it has an edge of more than 50 degrees: each corner has one
/// normal.
typedef struct sn_preview_surface {
    sn_context *ctx; ///< NULL: released.
    int32_t vertex_count, triangle_count, corner_count;
    int32_t *triangle;  ///< [triangle_count, 3] corners
    int32_t *vertex_of; ///< [corner_count] vertex of a corner
    double *position;   ///< [vertex_count, 3] of rigid shapes; NULL: the caller has them
} sn_preview_surface;

/// Splits triangles [triangle_count, 3] over vertices at `position` [vertex_count, 3]. The indices must be in
/// range. @return SN_OK, SN_ERR_NO_MEMORY: *surface stays released.
SN_NODISCARD sn_status sn_preview_surface_create(sn_context *ctx, int32_t vertex_count,
                                                 const double *position, int32_t triangle_count,
                                                 const int32_t *triangle, sn_preview_surface *surface);
/// The surface of a rigid shape at its rest place; planes have none (SN_ERR_INVALID_ARGUMENT).
SN_NODISCARD sn_status sn_preview_surface_of_shape(sn_context *ctx, const sn_shape_def *shape,
                                                   sn_preview_surface *surface);
/// Fine on a released one.
void sn_preview_surface_release(sn_preview_surface *surface);

/// Unit normals of the corners [corner_count, 3] for vertices at `position`: means over the triangles by
/// area; zero where there is none.
void sn_preview_surface_normals(const sn_preview_surface *surface, const double *position, double *out);

#endif
