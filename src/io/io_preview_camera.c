#include "io/io_preview_camera.h"

#include "math/math_mat3.h"

/// Tangent of half of the view's upright angle, 30 degrees.
static const double tan_half_view = 0.26794919243112270647;
/// Share of the picture, to the sides and upright, that the points fill.
static const double margin[2] = {0.9, 0.86};

enum { TURNS = 24 };

// ---- Direction

/// Unit vectors to the east and north of a place where up is `up`.
static void compass(const double up[3], double east[3], double north[3]) {
    double x[3] = {fabs(up[0]) > 0.9 ? 0 : 1, fabs(up[0]) > 0.9 ? 1 : 0, 0};
    double along = sn_dot3(x, up);
    for (int i = 0; i < 3; i++)
        x[i] -= along * up[i];
    sn_unit3(x, east);
    sn_cross3(up, east, north);
}

static double extent(const sn_preview_points *points, const double direction[3]) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < points->count; i++) {
        const double *p = points->point + 3 * i;
        if (!sn_preview_is_point(p))
            continue;
        double place = sn_dot3(p, direction);
        low = fmin(low, place);
        high = fmax(high, place);
    }
    return high >= low ? high - low : 0;
}

sn_preview_axes sn_preview_axes_from(const double up[3], const double back[3]) {
    sn_preview_axes axes;
    double right[3], north[3];
    sn_unit3(back, axes.back);
    sn_cross3(up, axes.back, right);
    if (sn_norm3(right) < 1e-6)
        compass(up, right, north);
    sn_unit3(right, axes.right);
    sn_cross3(axes.back, axes.right, axes.top);
    return axes;
}

/// A direction by its angles to the east and above the ground.
static void direction_at(const double up[3], double azimuth, double elevation, double out[3]) {
    double east[3], north[3];
    compass(up, east, north);
    for (int i = 0; i < 3; i++)
        out[i] = cos(elevation) * (cos(azimuth) * east[i] + sin(azimuth) * north[i]) + sin(elevation) * up[i];
}

sn_preview_axes sn_preview_aim(const double up[3], const sn_preview_points *points) {
    double span[TURNS], direction[3];
    int longest = 0;
    for (int i = 0; i < TURNS; i++) {
        direction_at(up, i * SN_PI / TURNS, 0, direction);
        span[i] = extent(points, direction);
        // Rounding must not choose between directions that are alike.
        longest = span[i] > (1 + 1e-9) * span[longest] ? i : longest;
    }
    double narrow = span[(longest + TURNS / 2) % TURNS], height = extent(points, up);
    // The camera stands on the southern side.
    double azimuth = longest * SN_PI / TURNS - SN_PI / 2;
    azimuth -= sin(azimuth) > 0 ? SN_PI : 0;
    double flat = 1 - fmin(1, height / fmax(narrow, 1e-300));
    direction_at(up, azimuth + 0.42, 0.26 + 0.7 * flat, direction);
    return sn_preview_axes_from(up, direction);
}

// ---- Place

/// Each side of the view is a plane: these are the outermost ones that touch a point.
typedef struct view_planes {
    double lower[2], upper[2], low, high; ///< To the right and up; along the axis.
} view_planes;

static void take_points(const sn_preview_axes *axes, const double tan[2], const sn_preview_points *points,
                        view_planes *planes) {
    for (int64_t i = 0; i < points->count; i++) {
        const double *p = points->point + 3 * i;
        if (!sn_preview_is_point(p))
            continue;
        double near = sn_dot3(p, axes->back);
        double side[2] = {sn_dot3(p, axes->right), sn_dot3(p, axes->top)};
        planes->low = fmin(planes->low, near);
        planes->high = fmax(planes->high, near);
        for (int k = 0; k < 2; k++) {
            planes->upper[k] = fmax(planes->upper[k], side[k] + near * tan[k]);
            planes->lower[k] = fmin(planes->lower[k], side[k] - near * tan[k]);
        }
    }
}

sn_preview_camera sn_preview_fit(const sn_preview_axes *axes, double aspect, int32_t set_count,
                                 const sn_preview_points *sets) {
    sn_preview_camera camera = {.axes = *axes, .tan = {tan_half_view * aspect, tan_half_view}};
    double tan[2] = {camera.tan[0] * margin[0], camera.tan[1] * margin[1]};
    view_planes planes = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}, INFINITY, -INFINITY};
    for (int32_t i = 0; i < set_count; i++)
        take_points(axes, tan, &sets[i], &planes);
    double side[2] = {0, 0}, height = 1;
    if (planes.high >= planes.low) {
        height = planes.high + 1e-6 * (planes.high - planes.low);
        for (int k = 0; k < 2; k++) {
            side[k] = (planes.upper[k] + planes.lower[k]) / 2;
            height = fmax(height, (planes.upper[k] - planes.lower[k]) / (2 * tan[k]));
        }
        // A single point is seen from somewhere.
        height += height == planes.high ? 1e-3 : 0;
    }
    for (int i = 0; i < 3; i++)
        camera.position[i] = side[0] * axes->right[i] + side[1] * axes->top[i] + height * axes->back[i];
    return camera;
}

sn_raster_corner sn_preview_project(const sn_preview_camera *camera, double width, double height,
                                    const double point[3]) {
    double d[3];
    sn_sub3(point, camera->position, d);
    double w = -sn_dot3(d, camera->axes.back);
    return (sn_raster_corner){
        .x = width / 2 * (w + sn_dot3(d, camera->axes.right) / camera->tan[0]),
        .y = height / 2 * (w - sn_dot3(d, camera->axes.top) / camera->tan[1]),
        .z = 1,
        .w = w,
    };
}

void sn_preview_ray(const sn_preview_camera *camera, double width, double height, const double place[2],
                    double out[3]) {
    double right = (2 * place[0] / width - 1) * camera->tan[0];
    double top = (1 - 2 * place[1] / height) * camera->tan[1];
    for (int i = 0; i < 3; i++)
        out[i] = right * camera->axes.right[i] + top * camera->axes.top[i] - camera->axes.back[i];
}
