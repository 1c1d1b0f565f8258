/// A picture of surfaces, drawn in software: no display, no graphics driver.
///
/// It looks like the player's first view (player.js): the same colors, lights, ground and camera. Surfaces
/// are handed over as plain arrays, then drawn all at once. Samples only decide what is seen
/// (io_preview_raster.h); light is worked out once per pixel and triangle, at the middle of the samples that
/// see it. Pixels are independent of one another, so that the picture is the same for any number of threads.
/// The places are scaled to a sphere of radius 1 first: a scene and the same one in millimeters make the same
/// picture.
#ifndef SN_IO_PREVIEW_H
#define SN_IO_PREVIEW_H

#include "io/io_preview_camera.h"
#include "io/io_preview_shade.h"
#include "io/io_preview_surface.h"

#include <assert.h>

enum { SN_PREVIEW_MAX_SIZE = SN_RASTER_MAX_SIZE / SN_RASTER_GRID }; ///< Pixels in a row or a column.
static_assert((int)SN_EXPORT_MAX_PIXELS == (int)SN_PREVIEW_MAX_SIZE, "what may be asked for can be drawn");

/// A surface to draw. All is borrowed until the picture is done.
typedef struct sn_preview_part {
    const sn_preview_surface *surface;
    const double *position;             ///< [vertex_count, 3] at rest
    double rotation[9], translation[3]; ///< To its place.
    const double *value; ///< [vertex_count] field, where the look is by value; 1 is the ramp's end.
    sn_preview_look look;
} sn_preview_part;

/// Planes of a picture at most: a sample has a bit for each.
#define SN_PREVIEW_MAX_PLANES 32
/// How many of a scene's planes a picture shows; warns if some are left out.
int32_t sn_preview_plane_count(sn_context *ctx, int32_t plane_total);

/// A plane, drawn as a ground that takes shadows.
typedef struct sn_preview_plane {
    double point[3], normal[3]; ///< Any length > 0.
} sn_preview_plane;

typedef struct sn_preview_picture {
    int32_t width, height; ///< 1 to SN_PREVIEW_MAX_SIZE.
    double up[3];          ///< Unit vector.
    double direction[3];   ///< To the camera; 0: chosen by what is seen.
    sn_preview_points
        around; ///< More that must be in view, and that decides on the direction if there is any.
    int32_t part_count, plane_count; ///< Planes: up to SN_PREVIEW_MAX_PLANES.
    const sn_preview_part *parts;
    const sn_preview_plane *planes; ///< None: a ground below everything.
} sn_preview_picture;

/// Draws a picture. Triangles with numbers that are not finite are left out.
/// @param[out] out_rgb  [height, width, 3], upper row first.
/// @return SN_OK; SN_ERR_INVALID_ARGUMENT: the size is out of range; SN_ERR_NO_MEMORY.
SN_NODISCARD sn_status sn_preview_draw(sn_context *ctx, const sn_preview_picture *picture,
                                       unsigned char *out_rgb);

#endif
