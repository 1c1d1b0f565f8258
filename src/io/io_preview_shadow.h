/// The shadow that the key light casts: what it sees first, as a picture from its direction.
#ifndef SN_IO_PREVIEW_SHADOW_H
#define SN_IO_PREVIEW_SHADOW_H

#include "io/io_preview_raster.h"

enum { SN_SHADOW_SIZE = 2048 };

/// A square of the stage's sphere of radius SN_SHADOW_RADIUS, seen from far away.
#define SN_SHADOW_RADIUS 1.02

typedef struct sn_shadow {
    double right[3], top[3], light[3]; ///< Unit vectors; `light` points to the light.
    float *depth;                      ///< [SN_SHADOW_SIZE, SN_SHADOW_SIZE] height towards the light
} sn_shadow;

/// Directions of a shadow; `depth` is the caller's, and filled through sn_shadow_raster().
sn_shadow sn_shadow_make(const double light[3], float *depth);
/// Rows of the shadow, to be cleared and drawn into.
sn_raster sn_shadow_raster(const sn_shadow *shadow, int32_t row_begin, int32_t row_end);
sn_raster_corner sn_shadow_project(const sn_shadow *shadow, const double point[3]);

/// Share of the light, 0 to 1, that arrives at a place with that normal, of a soft-edged shadow.
double sn_shadow_light(const sn_shadow *shadow, const double point[3], const double normal[3]);

#endif
