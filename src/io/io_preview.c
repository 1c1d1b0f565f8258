#include "io/io_preview.h"

#include "base/base_parallel.h"
#include "io/io_preview_shadow.h"
#include "math/math_mat3.h"

#include <string.h>

enum {
    BAND = 8, ///< Rows of pixels that are drawn at once.
    BAND_SAMPLES = BAND * SN_RASTER_GRID,
    SHADOW_BAND = 64, ///< Rows of the shadow likewise.
    SAMPLES = SN_RASTER_GRID * SN_RASTER_GRID,
    CHUNK = 128 ///< Triangles that are looked at together.
};

/// Grounds are drawn out to this distance from the stage's middle.
static const double ground_radius = 4;

/// What a triangle belongs to, with its corners.
typedef struct stage_triangle {
    int32_t corner[3], part;
} stage_triangle;

/// A ground: normal . x = height. Its grid runs along u and v. Its depth (1 / w) is linear on the picture:
/// depth[0] + depth[1] x + depth[2] y.
typedef struct stage_ground {
    double normal[3], height, u[3], v[3], depth[3];
} stage_ground;

/// First and last row that triangles touch.
typedef struct row_range {
    int32_t first, last;
} row_range;

/// Everything in the stage's coordinates.
typedef struct stage {
    sn_context *ctx;
    const sn_preview_picture *picture;
    int32_t vertex_count, corner_count, triangle_count, around_count, ground_count;
    double middle[3], size;   ///< Of the scene, where the stage's 0 and 1 are.
    double *vertex;           ///< [vertex_count, 3]
    double *around;           ///< [around_count, 3]
    int32_t *vertex_of;       ///< [corner_count]
    double *normal;           ///< [corner_count, 3]
    double *value;            ///< [corner_count]
    stage_triangle *triangle; ///< [triangle_count]
    stage_ground *ground;     ///< [ground_count]
    double spacing;           ///< Of the grid.
    sn_preview_camera camera;
    sn_preview_lights lights;
    sn_shadow shadow;
    float *shadow_depth;
    sn_raster_corner *seen; ///< [vertex_count] from the camera, or from the light
    row_range *rows;        ///< [triangle_count]
    row_range *chunk_rows;  ///< [chunks of triangles]
    float *depth;           ///< [threads, 2, BAND_SAMPLES, samples in a row] opaque, then see-through
    int32_t *found;         ///< Likewise: triangles.
    unsigned char *rgb;
} stage;

int32_t sn_preview_plane_count(sn_context *ctx, int32_t plane_total) {
    int32_t left_out = plane_total - SN_PREVIEW_MAX_PLANES;
    if (left_out <= 0)
        return plane_total;
    sn_log(ctx, SN_LOG_WARNING, "pictures show %d planes; %d more are left out", SN_PREVIEW_MAX_PLANES,
           left_out);
    return SN_PREVIEW_MAX_PLANES;
}

// ---- Setting the stage

static sn_status count_parts(stage *s) {
    const sn_preview_picture *picture = s->picture;
    int64_t vertices = 0, corners = 0, triangles = 0;
    for (int32_t i = 0; i < picture->part_count; i++) {
        vertices += picture->parts[i].surface->vertex_count;
        corners += picture->parts[i].surface->corner_count;
        triangles += picture->parts[i].surface->triangle_count;
    }
    if (vertices > INT32_MAX || corners > INT32_MAX || triangles > INT32_MAX)
        return sn_fail(s->ctx, SN_ERR_NO_MEMORY, "the preview draws at most %d triangles, not %lld",
                       INT32_MAX, (long long)triangles);
    s->vertex_count = (int32_t)vertices;
    s->corner_count = (int32_t)corners;
    s->triangle_count = (int32_t)triangles;
    s->around_count = (int32_t)picture->around.count;
    s->ground_count = picture->plane_count > 0 ? picture->plane_count : 1;
    return SN_OK;
}

static sn_status allocate(stage *s) {
    sn_status status = SN_OK;
    const size_t vertices = (size_t)s->vertex_count, corners = (size_t)s->corner_count;
    const size_t triangles = (size_t)s->triangle_count;
    const size_t samples = 2 * (size_t)sn_context_thread_count(s->ctx) * BAND_SAMPLES * SN_RASTER_GRID *
                           (size_t)s->picture->width;
    SN_TRY_NEW(s->ctx, s->vertex, 3 * vertices);
    SN_TRY_NEW(s->ctx, s->around, 3 * (size_t)s->around_count);
    SN_TRY_NEW(s->ctx, s->vertex_of, corners);
    SN_TRY_NEW(s->ctx, s->normal, 3 * corners);
    SN_TRY_NEW_ZEROED(s->ctx, s->value, corners);
    SN_TRY_NEW(s->ctx, s->triangle, triangles);
    SN_TRY_NEW(s->ctx, s->ground, s->ground_count);
    SN_TRY_NEW(s->ctx, s->shadow_depth, (size_t)SN_SHADOW_SIZE * SN_SHADOW_SIZE);
    SN_TRY_NEW(s->ctx, s->seen, vertices);
    SN_TRY_NEW(s->ctx, s->rows, triangles);
    SN_TRY_NEW(s->ctx, s->chunk_rows, triangles / CHUNK + 1);
    SN_TRY_NEW(s->ctx, s->depth, samples);
    SN_TRY_NEW(s->ctx, s->found, samples);
cleanup:
    return status;
}

static void release(stage *s) {
    SN_RELEASE(s->ctx, s->vertex);
    SN_RELEASE(s->ctx, s->around);
    SN_RELEASE(s->ctx, s->vertex_of);
    SN_RELEASE(s->ctx, s->normal);
    SN_RELEASE(s->ctx, s->value);
    SN_RELEASE(s->ctx, s->triangle);
    SN_RELEASE(s->ctx, s->ground);
    SN_RELEASE(s->ctx, s->shadow_depth);
    SN_RELEASE(s->ctx, s->seen);
    SN_RELEASE(s->ctx, s->rows);
    SN_RELEASE(s->ctx, s->chunk_rows);
    SN_RELEASE(s->ctx, s->depth);
    SN_RELEASE(s->ctx, s->found);
}

/// Places of all vertices in the scene's coordinates.
static void place_vertices(stage *s) {
    double *to = s->vertex;
    for (int32_t i = 0; i < s->picture->part_count; i++) {
        const sn_preview_part *part = &s->picture->parts[i];
        const double *R = part->rotation;
        for (int64_t v = 0; v < part->surface->vertex_count; v++, to += 3) {
            const double *p = part->position + 3 * v;
            for (int k = 0; k < 3; k++)
                to[k] = sn_dot3(R + 3 * k, p) + part->translation[k];
        }
    }
    if (s->around_count > 0)
        memcpy(s->around, s->picture->around.point, 3 * (size_t)s->around_count * sizeof *s->around);
}

static void extend(const double *points, int64_t count, double low[3], double high[3]) {
    for (int64_t i = 0; i < count; i++)
        for (int k = 0; k < 3 && sn_preview_is_point(points + 3 * i); k++) {
            low[k] = fmin(low[k], points[3 * i + k]);
            high[k] = fmax(high[k], points[3 * i + k]);
        }
}

static double farthest(const double *points, int64_t count, const double middle[3]) {
    double size = 0;
    for (int64_t i = 0; i < count; i++)
        if (sn_preview_is_point(points + 3 * i))
            size = fmax(size, sn_distance3(points + 3 * i, middle));
    return size;
}

static void to_stage(const stage *s, double *points, int64_t count) {
    for (int64_t i = 0; i < 3 * count; i++)
        points[i] = (points[i] - s->middle[i % 3]) / s->size;
}

/// Brings all points into a sphere of radius 1 around 0.
static void scale_stage(stage *s) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    extend(s->vertex, s->vertex_count, low, high);
    extend(s->around, s->around_count, low, high);
    for (int k = 0; k < 3; k++)
        s->middle[k] = low[k] <= high[k] ? low[k] / 2 + high[k] / 2 : 0;
    s->size = fmax(farthest(s->vertex, s->vertex_count, s->middle),
                   farthest(s->around, s->around_count, s->middle));
    if (!(s->size > 0) || !isfinite(s->size))
        s->size = 1;
    to_stage(s, s->vertex, s->vertex_count);
    to_stage(s, s->around, s->around_count);
}

/// Corners with their normals and values, and triangles over all parts.
static void join_parts(stage *s) {
    int32_t first_vertex = 0, first_corner = 0;
    stage_triangle *triangle = s->triangle;
    for (int32_t i = 0; i < s->picture->part_count; i++) {
        const sn_preview_part *part = &s->picture->parts[i];
        const sn_preview_surface *surface = part->surface;
        sn_preview_surface_normals(surface, s->vertex + 3 * (size_t)first_vertex,
                                   s->normal + 3 * (size_t)first_corner);
        for (int32_t corner = 0; corner < surface->corner_count; corner++) {
            s->vertex_of[first_corner + corner] = first_vertex + surface->vertex_of[corner];
            if (part->look.by_value)
                s->value[first_corner + corner] = part->value[surface->vertex_of[corner]];
        }
        for (int64_t t = 0; t < surface->triangle_count; t++, triangle++) {
            triangle->part = i;
            for (int k = 0; k < 3; k++)
                triangle->corner[k] = first_corner + surface->triangle[3 * t + k];
        }
        first_vertex += surface->vertex_count;
        first_corner += surface->corner_count;
    }
}

static stage_ground make_ground(const double point[3], const double normal[3]) {
    stage_ground ground;
    sn_unit3(normal, ground.normal);
    ground.height = sn_dot3(ground.normal, point);
    const double x[3] = {fabs(ground.normal[0]) < 0.9, fabs(ground.normal[0]) >= 0.9, 0};
    sn_cross3(ground.normal, x, ground.v);
    sn_unit3(ground.v, ground.v);
    sn_cross3(ground.v, ground.normal, ground.u);
    return ground;
}

static double lowest(const double *points, int64_t count, const double up[3]) {
    double low = INFINITY;
    for (int64_t i = 0; i < count; i++)
        if (sn_preview_is_point(points + 3 * i))
            low = fmin(low, sn_dot3(points + 3 * i, up));
    return low;
}

/// The scene's planes, or one below everything.
static void make_grounds(stage *s) {
    s->spacing = sn_preview_round_length(s->size / 4) / s->size;
    for (int32_t i = 0; i < s->picture->plane_count; i++) {
        double point[3];
        memcpy(point, s->picture->planes[i].point, sizeof point);
        to_stage(s, point, 1);
        s->ground[i] = make_ground(point, s->picture->planes[i].normal);
    }
    if (s->picture->plane_count > 0)
        return;
    const double *up = s->picture->up;
    double low = fmin(lowest(s->vertex, s->vertex_count, up), lowest(s->around, s->around_count, up));
    double foot[3];
    for (int k = 0; k < 3; k++)
        foot[k] = isfinite(low) ? (low - 0.03) * up[k] : -up[k];
    s->ground[0] = make_ground(foot, up);
}

static void place_camera(stage *s) {
    const sn_preview_picture *picture = s->picture;
    const sn_preview_points sets[2] = {{s->around_count, s->around}, {s->vertex_count, s->vertex}};
    bool given = sn_norm3(picture->direction) > 0;
    const sn_preview_axes axes = given ? sn_preview_axes_from(picture->up, picture->direction)
                                       : sn_preview_aim(picture->up, &sets[s->around_count == 0]);
    s->camera = sn_preview_fit(&axes, (double)picture->width / picture->height, 2, sets);
    s->lights = sn_preview_lights_make(picture->up, &axes);
}

// ---- What is seen

static sn_raster_corner *triangle_corner(const stage *s, int32_t triangle, int k) {
    return &s->seen[s->vertex_of[s->triangle[triangle].corner[k]]];
}

/// Finds the rows of all triangles, for a picture that is filled by bands.
static void find_rows(stage *s, const sn_raster *whole) {
    for (int32_t t = 0; t < s->triangle_count; t++) {
        int32_t rows[2];
        sn_raster_rows(whole, triangle_corner(s, t, 0), triangle_corner(s, t, 1), triangle_corner(s, t, 2),
                       rows);
        row_range *chunk = &s->chunk_rows[t / CHUNK];
        if (t % CHUNK == 0)
            *chunk = (row_range){INT32_MAX, -1};
        s->rows[t] = (row_range){rows[0], rows[1]};
        if (rows[0] > rows[1])
            continue;
        chunk->first = rows[0] < chunk->first ? rows[0] : chunk->first;
        chunk->last = rows[1] > chunk->last ? rows[1] : chunk->last;
    }
}

static bool meets(const row_range *rows, const sn_raster *raster) {
    return rows->first < raster->row_end && rows->last >= raster->row_begin;
}

/// Draws all triangles, in their order; see-through ones into a raster of their own, unless it is NULL.
static void draw_triangles(const stage *s, sn_raster *opaque, sn_raster *see_through) {
    for (int32_t t = 0; t < s->triangle_count; t++) {
        if (t % CHUNK == 0 && !meets(&s->chunk_rows[t / CHUNK], opaque)) {
            t += CHUNK - 1;
            continue;
        }
        if (!meets(&s->rows[t], opaque))
            continue;
        const sn_preview_look *look = &s->picture->parts[s->triangle[t].part].look;
        bool through = see_through && !look->rigid && look->see_through;
        sn_raster_draw(through ? see_through : opaque, triangle_corner(s, t, 0), triangle_corner(s, t, 1),
                       triangle_corner(s, t, 2), t);
    }
}

static void fill_shadow(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    stage *s = data;
    for (int32_t band = begin; band < end; band++) {
        sn_raster raster = sn_shadow_raster(&s->shadow, band * SHADOW_BAND, (band + 1) * SHADOW_BAND);
        sn_raster_clear(&raster);
        draw_triangles(s, &raster, NULL);
    }
}

static void cast_shadow(stage *s) {
    s->shadow = sn_shadow_make(s->lights.key, s->shadow_depth);
    for (int64_t v = 0; v < s->vertex_count; v++)
        s->seen[v] = sn_shadow_project(&s->shadow, s->vertex + 3 * v);
    const sn_raster whole = sn_shadow_raster(&s->shadow, 0, SN_SHADOW_SIZE);
    find_rows(s, &whole);
    sn_parallel_for(s->ctx, SN_SHADOW_SIZE / SHADOW_BAND, 1, fill_shadow, s);
}

// ---- Colors

/// Samples of a pixel that see the same things.
typedef struct sample_group {
    int32_t opaque, skin; ///< Triangles, or SN_RASTER_NOTHING.
    uint32_t grounds;     ///< A bit for each ground in front of what is opaque.
    int32_t count;
    double place[2]; ///< The middle of the samples.
} sample_group;

/// One thread's work on a band.
typedef struct band_view {
    const stage *s;
    sn_raster opaque, skin;
    double width, height; ///< Of the picture in samples.
} band_view;

static void view_ground(const stage *s, double width, double height, stage_ground *ground) {
    static const double places[3][2] = {{0, 0}, {1, 0}, {0, 1}};
    double up_to = ground->height - sn_dot3(ground->normal, s->camera.position), value[3];
    for (int i = 0; i < 3; i++) {
        double ray[3];
        sn_preview_ray(&s->camera, width, height, places[i], ray);
        value[i] = fabs(up_to) > 1e-9 ? sn_dot3(ground->normal, ray) / up_to : 0;
    }
    ground->depth[0] = value[0];
    ground->depth[1] = value[1] - value[0];
    ground->depth[2] = value[2] - value[0];
}

static double ground_depth(const stage_ground *ground, const double place[2]) {
    return ground->depth[0] + ground->depth[1] * place[0] + ground->depth[2] * place[1];
}

static void add_sample(sample_group groups[SAMPLES], int32_t *count, const sample_group *sample) {
    int32_t i = 0;
    while (i < *count && (groups[i].opaque != sample->opaque || groups[i].skin != sample->skin ||
                          groups[i].grounds != sample->grounds))
        i++;
    if (i == *count) {
        groups[(*count)++] = *sample;
        return;
    }
    groups[i].count++;
    groups[i].place[0] += sample->place[0];
    groups[i].place[1] += sample->place[1];
}

static sample_group take_sample(const band_view *view, int32_t column, int32_t row) {
    size_t at = (size_t)(row - view->opaque.row_begin) * (size_t)view->opaque.width + (size_t)column;
    float depth = view->opaque.depth[at];
    sample_group sample = {.opaque = view->opaque.triangle[at], .skin = SN_RASTER_NOTHING, .count = 1};
    sn_raster_place(column, row, sample.place);
    for (int32_t i = 0; i < view->s->ground_count; i++) {
        double ground = ground_depth(&view->s->ground[i], sample.place);
        sample.grounds |= ground > 0 && ground > (double)depth ? 1u << i : 0;
    }
    if (view->skin.depth[at] > depth)
        sample.skin = view->skin.triangle[at];
    return sample;
}

/// Weights of a triangle's corners at a place of the picture, right in perspective (Olano and Greer 1997,
/// "Triangle scan conversion using 2D homogeneous coordinates"). Returns whether it is seen from its front.
static bool corner_weights(const stage *s, int32_t triangle, const double place[2], double weight[3]) {
    double corner[3][3], sum = 0;
    for (int k = 0; k < 3; k++) {
        const sn_raster_corner *c = triangle_corner(s, triangle, k);
        corner[k][0] = c->x;
        corner[k][1] = c->y;
        corner[k][2] = c->w;
    }
    const double at[3] = {place[0], place[1], 1};
    double normal[3];
    for (int k = 0; k < 3; k++) {
        sn_cross3(corner[(k + 1) % 3], corner[(k + 2) % 3], normal);
        weight[k] = sn_dot3(normal, at);
        sum += weight[k];
    }
    for (int k = 0; k < 3; k++)
        weight[k] = sum != 0 ? fmin(fmax(weight[k] / sum, 0), 1) : 1.0 / 3;
    return sn_dot3(normal, corner[2]) < 0;
}

/// Color of a triangle at a place of the picture.
static void shade_triangle(const stage *s, int32_t triangle, const double place[2], double out_color[3],
                           double *out_cover) {
    const stage_triangle *t = &s->triangle[triangle];
    sn_preview_spot spot = {.value = 0};
    double weight[3], point[3] = {0, 0, 0};
    bool front = corner_weights(s, triangle, place, weight);
    for (int k = 0; k < 3; k++) {
        const double *vertex = s->vertex + 3 * (size_t)s->vertex_of[t->corner[k]];
        const double *normal = s->normal + 3 * (size_t)t->corner[k];
        for (int i = 0; i < 3; i++) {
            point[i] += weight[k] * vertex[i];
            spot.normal[i] += (front ? 1 : -1) * weight[k] * normal[i];
        }
        spot.value += weight[k] * s->value[t->corner[k]];
    }
    sn_sub3(s->camera.position, point, spot.view);
    sn_unit3(spot.view, spot.view);
    if (sn_norm3(spot.normal) > 0)
        sn_unit3(spot.normal, spot.normal);
    else
        memcpy(spot.normal, spot.view, sizeof spot.normal);
    spot.lit = sn_shadow_light(&s->shadow, point, spot.normal);
    sn_preview_shade(&s->lights, &s->picture->parts[t->part].look, &spot, out_color, out_cover);
}

static void blend(double color[3], const double over[3], double cover) {
    for (int i = 0; i < 3; i++)
        color[i] += cover * (over[i] - color[i]);
}

/// Where a ground is seen at a place of the picture, along its grid from the middle's foot.
static void ground_place(const band_view *view, int32_t ground, const double place[2], double point[3],
                         double out[2]) {
    const stage *s = view->s;
    double ray[3], depth = ground_depth(&s->ground[ground], place);
    sn_preview_ray(&s->camera, view->width, view->height, place, ray);
    for (int i = 0; i < 3; i++)
        point[i] = s->camera.position[i] + ray[i] / depth;
    out[0] = sn_dot3(point, s->ground[ground].u);
    out[1] = sn_dot3(point, s->ground[ground].v);
}

/// Lays a ground over a color: its grid and the shadow on it, both fading out or ending with the distance.
static void lay_ground(const band_view *view, int32_t index, const double place[2], double color[3]) {
    const stage *s = view->s;
    static const double black[3] = {0, 0, 0};
    const double right[2] = {place[0] + SN_RASTER_GRID, place[1]};
    const double below[2] = {place[0], place[1] + SN_RASTER_GRID};
    double point[3], other[3], at[2], at_right[2], at_below[2], width[2];
    ground_place(view, index, place, point, at);
    double far = hypot(at[0], at[1]) / ground_radius;
    if (!(far < 1))
        return;
    ground_place(view, index, right, other, at_right);
    ground_place(view, index, below, other, at_below);
    for (int i = 0; i < 2; i++)
        width[i] = fabs(at_right[i] - at[i]) + fabs(at_below[i] - at[i]);
    double part = fmax(far - 0.1, 0) / 0.9, fade = 1 - part * part * (3 - 2 * part);
    blend(color, sn_preview_grid_color, fade * sn_preview_grid(at, width, s->spacing));
    blend(color, black, 0.42 * (1 - sn_shadow_light(&s->shadow, point, s->ground[index].normal)));
}

static void group_color(const band_view *view, const sample_group *group, double color[3]) {
    const stage *s = view->s;
    const double place[2] = {group->place[0] / group->count, group->place[1] / group->count};
    double over[3], cover;
    if (group->opaque >= 0)
        shade_triangle(s, group->opaque, place, color, &cover);
    else
        sn_preview_background(place[0] / view->width, place[1] / view->height, color);
    for (int32_t i = 0; i < s->ground_count; i++)
        if (group->grounds >> i & 1)
            lay_ground(view, i, place, color);
    if (group->skin >= 0) {
        shade_triangle(s, group->skin, place, over, &cover);
        blend(color, over, cover);
    }
}

static void color_pixel(const band_view *view, int32_t x, int32_t y, unsigned char out[3]) {
    sample_group groups[SAMPLES];
    int32_t count = 0;
    double sum[3] = {0, 0, 0}, color[3];
    for (int32_t j = 0; j < SN_RASTER_GRID; j++)
        for (int32_t i = 0; i < SN_RASTER_GRID; i++) {
            const sample_group sample = take_sample(view, x * SN_RASTER_GRID + i, y * SN_RASTER_GRID + j);
            add_sample(groups, &count, &sample);
        }
    for (int32_t g = 0; g < count; g++) {
        group_color(view, &groups[g], color);
        for (int i = 0; i < 3; i++)
            sum[i] += groups[g].count * color[i];
    }
    for (int i = 0; i < 3; i++)
        out[i] = (unsigned char)lrint(fmin(fmax(255 * sum[i] / SAMPLES, 0), 255));
}

static sn_raster band_raster(const stage *s, int32_t thread, int32_t layer, int32_t band) {
    const sn_preview_picture *picture = s->picture;
    int32_t width = picture->width * SN_RASTER_GRID, height = picture->height * SN_RASTER_GRID;
    size_t at = ((size_t)thread * 2 + (size_t)layer) * BAND_SAMPLES * (size_t)width;
    int32_t end = (band + 1) * BAND_SAMPLES;
    return (sn_raster){.width = width,
                       .height = height,
                       .row_begin = band * BAND_SAMPLES,
                       .row_end = end < height ? end : height,
                       .near = 1e-3,
                       .depth = s->depth + at,
                       .triangle = s->found + at};
}

static void draw_band(const stage *s, int32_t band, int32_t thread) {
    const sn_preview_picture *picture = s->picture;
    sn_raster rasters[2] = {band_raster(s, thread, 0, band), band_raster(s, thread, 1, band)};
    sn_raster_clear(&rasters[0]);
    sn_raster_clear(&rasters[1]);
    draw_triangles(s, &rasters[0], &rasters[1]);
    band_view view = {.s = s, .opaque = rasters[0], .skin = rasters[1], .width = rasters[0].width};
    view.height = rasters[0].height;
    for (int32_t y = band * BAND; y < (band + 1) * BAND && y < picture->height; y++)
        for (int32_t x = 0; x < picture->width; x++)
            color_pixel(&view, x, y, s->rgb + 3 * ((size_t)y * (size_t)picture->width + (size_t)x));
}

static void draw_bands(void *data, int32_t begin, int32_t end, int32_t thread) {
    for (int32_t band = begin; band < end; band++)
        draw_band(data, band, thread);
}

static void take_picture(stage *s) {
    const sn_raster whole = band_raster(s, 0, 0, 0);
    for (int64_t v = 0; v < s->vertex_count; v++)
        s->seen[v] = sn_preview_project(&s->camera, whole.width, whole.height, s->vertex + 3 * v);
    find_rows(s, &whole);
    for (int32_t i = 0; i < s->ground_count; i++)
        view_ground(s, whole.width, whole.height, &s->ground[i]);
    sn_parallel_for(s->ctx, (s->picture->height + BAND - 1) / BAND, 1, draw_bands, s);
}

sn_status sn_preview_draw(sn_context *ctx, const sn_preview_picture *picture, unsigned char *out_rgb) {
    sn_status status = SN_OK;
    stage s = {.ctx = ctx, .picture = picture, .rgb = out_rgb};
    if (picture->width < 1 || picture->height < 1 || picture->width > SN_PREVIEW_MAX_SIZE ||
        picture->height > SN_PREVIEW_MAX_SIZE)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                       "a preview of %d x %d pixels; 1 to %d in each direction are allowed", picture->width,
                       picture->height, SN_PREVIEW_MAX_SIZE);
    SN_ASSERT(picture->plane_count <= SN_PREVIEW_MAX_PLANES);
    SN_TRY(count_parts(&s));
    SN_TRY(allocate(&s));
    place_vertices(&s);
    scale_stage(&s);
    join_parts(&s);
    make_grounds(&s);
    place_camera(&s);
    cast_shadow(&s);
    take_picture(&s);
cleanup:
    release(&s);
    return status;
}
