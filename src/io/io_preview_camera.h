/// The camera of the preview: the first view of the player (Orbit in player.js), so that both show the same.
#ifndef SN_IO_PREVIEW_CAMERA_H
#define SN_IO_PREVIEW_CAMERA_H

#include "io/io_preview_raster.h"

#include <math.h>

/// Points that a camera looks at [count, 3]; those that are not finite are left out.
typedef struct sn_preview_points {
    int64_t count;
    const double *point;
} sn_preview_points;

/// Whether a point can be looked at.
static inline bool sn_preview_is_point(const double p[3]) {
    return isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]);
}

/// Unit vectors as the picture has them; `back` points from the scene to the camera.
typedef struct sn_preview_axes {
    double right[3], top[3], back[3];
} sn_preview_axes;

typedef struct sn_preview_camera {
    sn_preview_axes axes;
    double position[3];
    double tan[2]; ///< Half of the view's width and height at distance 1.
} sn_preview_camera;

/// Direction in which a camera looks at points from the side that shows their longest horizontal extent, and
/// from higher up where they are flat. @param up  A unit vector.
sn_preview_axes sn_preview_aim(const double up[3], const sn_preview_points *points);
/// From a given side. @param back  To the camera, any length > 0.
sn_preview_axes sn_preview_axes_from(const double up[3], const double back[3]);

/// The nearest camera that has all points in view; at a distance of 1 from the origin if there are none.
sn_preview_camera sn_preview_fit(const sn_preview_axes *axes, double aspect, int32_t set_count,
                                 const sn_preview_points *sets);

/// A point as a picture of width x height samples shows it, with depth 1 / w.
sn_raster_corner sn_preview_project(const sn_preview_camera *camera, double width, double height,
                                    const double point[3]);
/// The point seen at a place of the picture at distance 1 along the axis, from the camera.
void sn_preview_ray(const sn_preview_camera *camera, double width, double height, const double place[2],
                    double out[3]);

#endif
