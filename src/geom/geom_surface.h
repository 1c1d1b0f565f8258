/// A triangle surface made fit for questions about its sides: vertices at one place joined, triangles turned
/// alike, normals of faces, edges and vertices that have length 1 even where triangles are flat.
///
/// Triangles are turned in two steps. Across edges that two triangles share they are turned alike, as the
/// larger area of each connected piece says: one triangle the wrong way round would otherwise count as two
/// layers of surface. Which way a whole piece faces only its surroundings tell (a hollow faces inward), so
/// that is the caller's to find out, by the winding number, before the surface is finished.
#ifndef SN_GEOM_SURFACE_H
#define SN_GEOM_SURFACE_H

#include "base/base_context.h"

typedef struct sn_surface_edge sn_surface_edge;

typedef struct sn_surface {
    sn_context *context;
    int32_t vertex_count, triangle_count, piece_count;
    double *position;  ///< [vertex_count, 3] as given
    int32_t *triangle; ///< [triangle_count, 3] of vertices at one place, the first of them
    int32_t *neighbor; ///< [triangle_count, 3] beyond the edge from a corner to the next; -1: none or several
    int32_t *order;    ///< [triangle_count] the triangles, piece by piece
    int32_t *piece_begin; ///< [piece_count + 1] places in `order`
    double reach;         ///< m, largest coordinate: rounding errors are in proportion to it
    /// Once finished: every edge is run through as often one way as the other, so that the winding number is
    /// whole and sides change at triangles only.
    bool closed;
    double *face_normal;   ///< [triangle_count, 3]
    double *vertex_normal; ///< [vertex_count, 3], weighted with the angles; 0 where they cancel
    sn_surface_edge *edge; ///< [3 triangle_count] until finished
} sn_surface;

/// Copies a surface, joins its vertices and turns the triangles of each piece alike.
/// @param position [vertex_count, 3], finite  @param triangle [triangle_count, 3], indices in range, count >
/// 0
SN_NODISCARD sn_status sn_surface_create(sn_context *ctx, int32_t vertex_count, const double *position,
                                         int32_t triangle_count, const int32_t *triangle,
                                         sn_surface **out_surface);
void sn_surface_destroy(sn_surface **surface);

/// Turns all triangles of a piece. Not after the surface is finished.
void sn_surface_turn(sn_surface *surface, int32_t piece);

/// Finds the normals and whether the surface is closed.
SN_NODISCARD sn_status sn_surface_finish(sn_surface *surface);

/// Normal of length 1 of the feature of a triangle that a point of it lies on: of its face, or the mean over
/// the faces around its edge or corner. Returns whether it is the face.
bool sn_surface_normal(const sn_surface *surface, int32_t triangle, const double place[3],
                       double out_normal[3]);

#endif
