/// Colors and light of the preview: what the player's materials and lights (player.js, three.js) give, worked
/// out by hand. Everything is in the stage's coordinates: the scene's middle is 0 and its radius 1.
#ifndef SN_IO_PREVIEW_SHADE_H
#define SN_IO_PREVIEW_SHADE_H

#include "base/base_context.h"
#include "io/io_preview_camera.h"

/// Directions to the lights, unit vectors.
typedef struct sn_preview_lights {
    double up[3], key[3], front[3], rim[3];
} sn_preview_lights;

sn_preview_lights sn_preview_lights_make(const double up[3], const sn_preview_axes *axes);

/// What a surface is made of.
typedef struct sn_preview_look {
    bool rigid;
    int32_t color;    ///< Of a skin: number of its body.
    bool see_through; ///< A skin that shows what is in it.
    bool by_value;    ///< A skin colored by a field.
} sn_preview_look;

/// A place of a surface.
typedef struct sn_preview_spot {
    double normal[3]; ///< Unit vectors: towards the viewer's side,
    double view[3];   ///< and to the camera.
    double value;     ///< Of the field, 0 to 1.
    double lit;       ///< Share of the key light that arrives.
} sn_preview_spot;

/// Color as it is seen at a place, 0 to 1 in sRGB's curve, and how much it hides.
void sn_preview_shade(const sn_preview_lights *lights, const sn_preview_look *look,
                      const sn_preview_spot *spot, double out_color[3], double *out_cover);

/// Color of a field's value between 0 and 1, as the player's.
void sn_preview_ramp(double value, double out[3]);

/// Behind everything, at a place between 0 and 1 across and down the picture.
void sn_preview_background(double across, double down, double out[3]);

/// A ground's grid: how much of sn_preview_grid_color covers the place (u, v), `width` being the size of a
/// pixel there along both.
double sn_preview_grid(const double place[2], const double width[2], double spacing);
extern const double sn_preview_grid_color[3];

/// The nearest of 1, 2, 5 times a power of ten below a size > 0.
double sn_preview_round_length(double size);

#endif
