#include "io/io_preview_shade.h"

#include "math/math_mat3.h"

#include <string.h>

typedef struct color {
    double rgb[3];
} color;

static color bytes(uint32_t hex) {
    return (color){{(hex >> 16 & 255) / 255.0, (hex >> 8 & 255) / 255.0, (hex & 255) / 255.0}};
}

static color linear(uint32_t hex) {
    color c = bytes(hex);
    for (int i = 0; i < 3; i++)
        c.rgb[i] = c.rgb[i] <= 0.04045 ? c.rgb[i] / 12.92 : pow((c.rgb[i] + 0.055) / 1.055, 2.4);
    return c;
}

static double clamp(double value, double low, double high) {
    return value > low ? fmin(value, high) : low;
}

// ---- Lights

sn_preview_lights sn_preview_lights_make(const double up[3], const sn_preview_axes *axes) {
    sn_preview_lights lights;
    for (int i = 0; i < 3; i++) {
        const double right = axes->right[i], top = axes->top[i], back = axes->back[i];
        lights.up[i] = up[i];
        lights.key[i] = 3.2 * up[i] - 1.6 * right + 0.5 * top + 1.4 * back;
        lights.front[i] = -0.5 * right + 0.6 * top + back;
        lights.rim[i] = 0.9 * right + 0.5 * top - 0.8 * back;
    }
    sn_unit3(lights.key, lights.key);
    sn_unit3(lights.front, lights.front);
    sn_unit3(lights.rim, lights.rim);
    return lights;
}

// ---- Materials

static const uint32_t body_colors[] = {0xd29f86, 0x8fb3c4, 0xc9b27d, 0xa894bd, 0x93b58c, 0xc98e9b};
enum { BODY_COLORS = sizeof body_colors / sizeof *body_colors };

/// Viridis (S. van der Walt and N. Smith, CC0) from its fifth to its end.
static const uint32_t ramp_stops[] = {0x414487, 0x355f8d, 0x2a788e, 0x21918c, 0x22a884,
                                      0x44bf70, 0x7ad151, 0xbddf26, 0xfde725};
enum { RAMP_STEPS = sizeof ramp_stops / sizeof *ramp_stops - 1 };

void sn_preview_ramp(double value, double out[3]) {
    double place = clamp(value, 0, 1) * RAMP_STEPS;
    int below = place < RAMP_STEPS ? (int)place : RAMP_STEPS - 1;
    color a = bytes(ramp_stops[below]), b = bytes(ramp_stops[below + 1]);
    for (int i = 0; i < 3; i++)
        out[i] = a.rgb[i] + (place - below) * (b.rgb[i] - a.rgb[i]);
}

/// A surface's answer to light. `wrap`: how far each color of light reaches around the edge of the shadow.
typedef struct material {
    double diffuse[3], roughness, wrap[3];
    bool skin, by_value;
} material;

static material make_material(const sn_preview_look *look, double value) {
    if (look->rigid) {
        material bone = {.roughness = 0.42};
        memcpy(bone.diffuse, linear(0xe3d9c4).rgb, sizeof bone.diffuse);
        return bone;
    }
    material skin = {.roughness = 0.52, .wrap = {0.34, 0.14, 0.09}, .skin = true, .by_value = look->by_value};
    memcpy(skin.diffuse, linear(body_colors[look->color % BODY_COLORS]).rgb, sizeof skin.diffuse);
    if (look->by_value) {
        sn_preview_ramp(value, skin.diffuse);
        for (int i = 0; i < 3; i++) {
            skin.diffuse[i] = pow(skin.diffuse[i], 2.2);
            skin.wrap[i] = 0.2;
        }
    }
    return skin;
}

/// Reflection of a rough surface (GGX with correlated Smith shadowing, Schlick's Fresnel term) as three.js
/// has it, without the factor pi that its lights bring.
static double glossy(const double normal[3], const double view[3], const double light[3], double roughness) {
    double half[3];
    for (int i = 0; i < 3; i++)
        half[i] = view[i] + light[i];
    if (!(sn_norm3(half) > 1e-9))
        return 0;
    sn_unit3(half, half);
    double nl = clamp(sn_dot3(normal, light), 0, 1), nv = clamp(sn_dot3(normal, view), 0, 1);
    double nh = clamp(sn_dot3(normal, half), 0, 1), lh = clamp(sn_dot3(light, half), 0, 1);
    double a2 = pow(roughness, 4);
    double fresnel = 0.04 + 0.96 * exp2((-5.55473 * lh - 6.98316) * lh);
    double smith = nl * sqrt(a2 + (1 - a2) * nv * nv) + nv * sqrt(a2 + (1 - a2) * nl * nl);
    double spread = nh * nh * (a2 - 1) + 1;
    return fresnel * 0.5 / fmax(smith, 1e-6) * a2 / (spread * spread);
}

typedef struct light_sum {
    double diffuse[3], glossy[3];
} light_sum;

static void add_light(const material *m, const sn_preview_spot *spot, const double direction[3],
                      const color *light, double strength, light_sum *sum) {
    double cosine = sn_dot3(spot->normal, direction);
    double gloss = glossy(spot->normal, spot->view, direction, m->roughness);
    for (int i = 0; i < 3; i++) {
        double reached = clamp((cosine + m->wrap[i]) / (1 + m->wrap[i]), 0, 1);
        if (m->skin)
            reached *= reached * (1 + m->wrap[i]);
        sum->diffuse[i] += reached * strength * light->rgb[i] * m->diffuse[i];
        sum->glossy[i] += reached * strength * light->rgb[i] * gloss;
    }
}

static void add_sky(const material *m, const sn_preview_spot *spot, const double up[3], light_sum *sum) {
    const color sky = bytes(0xe6eeff), ground = bytes(0x6f5f55);
    double share = 0.5 + 0.5 * sn_dot3(spot->normal, up);
    for (int i = 0; i < 3; i++)
        sum->diffuse[i] += 0.34 * (ground.rgb[i] + share * (sky.rgb[i] - ground.rgb[i])) * m->diffuse[i];
}

void sn_preview_shade(const sn_preview_lights *lights, const sn_preview_look *look,
                      const sn_preview_spot *spot, double out_color[3], double *out_cover) {
    const material m = make_material(look, spot->value);
    const color key = bytes(0xfff1e0), front = bytes(0xffffff), rim = bytes(0xbfd8ff);
    light_sum sum = {{0}, {0}};
    add_sky(&m, spot, lights->up, &sum);
    add_light(&m, spot, lights->key, &key, 0.5 * spot->lit, &sum);
    add_light(&m, spot, lights->front, &front, 0.28, &sum);
    add_light(&m, spot, lights->rim, &rim, 0.38, &sum);
    double away = 1 - clamp(fabs(sn_dot3(spot->normal, spot->view)), 0, 1);
    for (int i = 0; i < 3; i++) {
        double light = sum.diffuse[i] + sum.glossy[i];
        // Skin has a soft sheen where it is seen from the side, and never shines much.
        if (m.skin)
            light = sum.diffuse[i] + fmin(sum.glossy[i], 0.4) * (m.by_value ? 0.45 : 1) +
                    (0.35 * m.diffuse[i] + 0.02) * away * away * away +
                    (m.by_value ? 0.13 * m.diffuse[i] : 0);
        out_color[i] = pow(clamp(light, 0, 1), 1 / 2.2);
    }
    *out_cover = m.skin && look->see_through ? 0.30 + 0.64 * pow(away, 1.7) : 1;
}

// ---- Around

void sn_preview_background(double across, double down, double out[3]) {
    const color inner = bytes(0x47505c), middle = bytes(0x2a3038), outer = bytes(0x15181c);
    double far = clamp(hypot((across - 0.5) / 1.2, (down - 0.38) / 0.95), 0, 1);
    const color *from = far < 0.45 ? &inner : &middle, *to = far < 0.45 ? &middle : &outer;
    double part = far < 0.45 ? far / 0.45 : (far - 0.45) / 0.55;
    for (int i = 0; i < 3; i++)
        out[i] = from->rgb[i] + part * (to->rgb[i] - from->rgb[i]);
}

const double sn_preview_grid_color[3] = {0.86, 0.92, 1.0};

/// How much of a pixel the lines of a grid cover.
static double lines(const double place[2], const double width[2], double size) {
    double most = 0;
    for (int i = 0; i < 2; i++) {
        double x = place[i] / size, w = fmax(width[i] / size, 1e-6);
        double distance = fabs(x - round(x)) / w;
        most = fmax(most, clamp(1 - distance, 0, 1) * clamp(1.2 - 2 * w, 0, 1));
    }
    return most;
}

double sn_preview_grid(const double place[2], const double width[2], double spacing) {
    return 0.05 + fmax(0.09 * lines(place, width, spacing), 0.2 * lines(place, width, 5 * spacing));
}

double sn_preview_round_length(double size) {
    double power = pow(10, floor(log10(size)));
    return power * (5 * power <= size * 1.0001 ? 5 : 2 * power <= size * 1.0001 ? 2 : 1);
}
