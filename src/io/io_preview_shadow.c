#include "io/io_preview_shadow.h"

#include "math/math_mat3.h"

enum { REACH = 3, STRIDE = 2 }; ///< Samples to each side of a soft edge, every so many texels.

/// Length of a texel on the stage.
static const double texel = 2 * SN_SHADOW_RADIUS / SN_SHADOW_SIZE;

sn_shadow sn_shadow_make(const double light[3], float *depth) {
    sn_shadow shadow = {.depth = depth};
    const double x[3] = {fabs(light[0]) < 0.6, fabs(light[0]) >= 0.6, 0};
    sn_unit3(light, shadow.light);
    sn_cross3(shadow.light, x, shadow.right);
    sn_unit3(shadow.right, shadow.right);
    sn_cross3(shadow.light, shadow.right, shadow.top);
    return shadow;
}

sn_raster sn_shadow_raster(const sn_shadow *shadow, int32_t row_begin, int32_t row_end) {
    return (sn_raster){.width = SN_SHADOW_SIZE,
                       .height = SN_SHADOW_SIZE,
                       .row_begin = row_begin,
                       .row_end = row_end,
                       .near = 0.5,
                       .depth = shadow->depth + (size_t)row_begin * SN_SHADOW_SIZE};
}

sn_raster_corner sn_shadow_project(const sn_shadow *shadow, const double point[3]) {
    return (sn_raster_corner){.x = (sn_dot3(point, shadow->right) + SN_SHADOW_RADIUS) / texel,
                              .y = (sn_dot3(point, shadow->top) + SN_SHADOW_RADIUS) / texel,
                              .z = sn_dot3(point, shadow->light),
                              .w = 1};
}

/// Whether something at a texel stands between the light and a height. Beyond the map there is nothing.
static bool is_dark(const sn_shadow *shadow, int32_t column, int32_t row, double height) {
    if (column < 0 || row < 0 || column >= SN_SHADOW_SIZE || row >= SN_SHADOW_SIZE)
        return false;
    return shadow->depth[(size_t)row * SN_SHADOW_SIZE + (size_t)column] > height;
}

double sn_shadow_light(const sn_shadow *shadow, const double point[3], const double normal[3]) {
    // Looked up a little above the surface, so that it does not shade itself.
    double lifted[3], slant = sqrt(fmax(0, 1 - pow(sn_dot3(normal, shadow->light), 2)));
    for (int i = 0; i < 3; i++)
        lifted[i] = point[i] + texel * (1 + REACH * STRIDE * slant) * normal[i] + texel * shadow->light[i];
    const sn_raster_corner place = sn_shadow_project(shadow, lifted);
    if (!(fabs(place.x) < 4 * SN_SHADOW_SIZE) || !(fabs(place.y) < 4 * SN_SHADOW_SIZE))
        return 1;
    int32_t column = (int32_t)floor(place.x), row = (int32_t)floor(place.y);
    double x = (place.x - column - 0.5) / STRIDE, y = (place.y - row - 0.5) / STRIDE, dark = 0, total = 0;
    for (int32_t j = -REACH; j <= REACH; j++)
        for (int32_t i = -REACH; i <= REACH; i++) {
            double far = ((i - x) * (i - x) + (j - y) * (j - y)) / ((REACH + 0.5) * (REACH + 0.5));
            double weight = fmax(0, 1 - far);
            total += weight;
            if (weight > 0 && is_dark(shadow, column + STRIDE * i, row + STRIDE * j, place.z))
                dark += weight;
        }
    return 1 - dark / total;
}
