#include "io/io_player.h"

#include "io/io_json.h"
#include "io/io_player_assets.h"
#include "io/io_player_spill.h"
#include "sinew/version.h"

#include <math.h>
#include <string.h>

enum {
    POSE_SIZE = 12, ///< Rotation and translation.
    QUANTA = 65535, ///< Largest quantized number.
    MAX_STRIDE = 1 << 30,
    /// Share of values that the color range covers; single spikes must not darken the rest.
    ROBUST_PERMILLE = 995
};

/// A body and what its frames show.
typedef struct player_body {
    sn_body_info info;
    double field_max[SN_FIELD_COUNT];
    double step;
    int64_t *histogram[SN_FIELD_COUNT]; ///< [QUANTA + 1] of quantized field values.
} player_body;

struct sn_player {
    sn_context *ctx;
    const sn_model *model;
    char *title;
    double frame_seconds;
    bool has_field[SN_FIELD_COUNT];
    int32_t body_count, shape_count;
    player_body *body; ///< [body_count]
    /// Frames of floats: per body positions [vertices, 3], then each field [vertices].
    sn_player_spill spill;
    int32_t stride; ///< Of the frames that fit the page; a multiple of the spill's.
    size_t frame_floats;
    float *floats;    ///< [frame_floats]
    double *scratch;  ///< [3 * largest surface]
    uint16_t *quanta; ///< [3 * largest surface]

    // Of the page, while it is written:
    const sn_frame_record *record; ///< Of all frames of the run.
    int32_t frame_count;           ///< Frames shown.
    double *low, *high;            ///< [frame_count, bodies, 3]
    double *pose;                  ///< [frame_count, shapes, POSE_SIZE]
};

static int32_t field_count(const sn_player *player) {
    return player->has_field[0] + player->has_field[1];
}

static int32_t largest_surface(const sn_player *player) {
    int32_t largest = 1;
    for (int32_t i = 0; i < player->body_count; i++)
        if (player->body[i].info.surface_vertex_count > largest)
            largest = player->body[i].info.surface_vertex_count;
    return largest;
}

/// The last part of a path without its ending: what a scene is called.
static sn_status make_title(sn_context *ctx, const char *path, char **out_title) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *name = slash ? slash + 1 : path ? path : "";
    sn_status status = sn_new_text(ctx, *name ? name : "Sinew", out_title);
    if (status < 0)
        return status;
    char *dot = strrchr(*out_title, '.');
    if (dot && dot != *out_title)
        *dot = '\0';
    return SN_OK;
}

static sn_status init_bodies(sn_player *player) {
    sn_status status = SN_OK;
    sn_model_info info = sn_model_get_info(player->model);
    player->body_count = info.body_count;
    player->shape_count = info.shape_count;
    SN_TRY_NEW_ZEROED(player->ctx, player->body, player->body_count);
    for (int32_t i = 0; i < player->body_count; i++) {
        player_body *body = &player->body[i];
        body->info = sn_model_body(player->model, i);
        player->frame_floats += (size_t)body->info.surface_vertex_count * (size_t)(3 + field_count(player));
        for (int32_t f = 0; f < SN_FIELD_COUNT; f++)
            if (player->has_field[f])
                SN_TRY_NEW_ZEROED(player->ctx, body->histogram[f], QUANTA + 1);
    }
cleanup:
    return status;
}

/// How many frames share one of the page's, so that `frame_total` of them fit it: a power of two, because a
/// run that is lengthened later must find the frames of its new stride among those of the old one.
static int32_t choose_stride(const sn_player *player, int32_t frame_total) {
    double bytes = (double)player->frame_floats * 2 * 4 / 3 * ((double)frame_total + 1);
    int32_t stride = 1;
    while (stride < MAX_STRIDE && bytes / stride > SN_PLAYER_MAX_BYTES)
        stride *= 2;
    return stride;
}

sn_status sn_player_create(sn_context *ctx, const sn_model *model, const sn_output_def *def,
                           const sn_run_info *run, sn_player **out_player) {
    sn_status status = SN_OK;
    sn_player *player = NULL;
    SN_TRY_NEW_ZEROED(ctx, player, 1);
    player->ctx = ctx;
    player->model = model;
    player->frame_seconds = run->frame_seconds;
    player->has_field[SN_QUANTITY_DISPLACEMENT] = def->field_displacement;
    player->has_field[SN_QUANTITY_STRAIN] = def->field_strain;
    SN_TRY(make_title(ctx, run->scene_path, &player->title));
    SN_TRY(init_bodies(player));
    size_t largest = (size_t)largest_surface(player);
    SN_TRY_NEW(ctx, player->floats, player->frame_floats);
    SN_TRY_NEW(ctx, player->scratch, 3 * largest);
    SN_TRY_NEW(ctx, player->quanta, 3 * largest);
    player->stride = choose_stride(player, run->frame_total);
    if (player->stride > 1)
        sn_log(ctx, SN_LOG_INFO, "player.html keeps one frame in %d, so that a browser can hold it",
               player->stride);
    *out_player = player;
    return SN_OK;
cleanup:
    sn_player_destroy(&player);
    return status;
}

sn_status sn_player_open(sn_player *player, const char *directory) {
    return sn_player_spill_open(player->ctx, directory, player->frame_floats, player->stride, &player->spill);
}

sn_status sn_player_can_reopen(const sn_player *player, const char *directory, int32_t stride,
                               int32_t frame_count) {
    return sn_player_spill_can_reopen(player->ctx, directory, player->frame_floats, stride, frame_count);
}

sn_status sn_player_reopen(sn_player *player, const char *directory, int32_t stride, int32_t frame_count) {
    if (stride > player->stride)
        player->stride = stride;
    return sn_player_spill_reopen(player->ctx, directory, player->frame_floats, stride, frame_count,
                                  &player->spill);
}

int32_t sn_player_stride(const sn_player *player) {
    return player->spill.stride;
}

static void release_page(sn_player *player) {
    SN_RELEASE(player->ctx, player->low);
    SN_RELEASE(player->ctx, player->high);
    SN_RELEASE(player->ctx, player->pose);
}

void sn_player_destroy(sn_player **player) {
    if (!player || !*player)
        return;
    sn_player *p = *player;
    sn_context *ctx = p->ctx;
    for (int32_t i = 0; p->body && i < p->body_count; i++)
        for (int32_t f = 0; f < SN_FIELD_COUNT; f++)
            SN_RELEASE(ctx, p->body[i].histogram[f]);
    sn_player_spill_close(&p->spill);
    release_page(p);
    SN_RELEASE(ctx, p->body);
    SN_RELEASE(ctx, p->title);
    SN_RELEASE(ctx, p->floats);
    SN_RELEASE(ctx, p->scratch);
    SN_RELEASE(ctx, p->quanta);
    sn_release(ctx, p);
    *player = NULL;
}

// ---- Frames

static void to_floats(const double *from, size_t count, float *to) {
    for (size_t i = 0; i < count; i++)
        to[i] = (float)from[i];
}

static void take_bodies(sn_player *player, const sn_frame_view *frame) {
    float *to = player->floats;
    for (int32_t i = 0; i < player->body_count; i++) {
        size_t count = (size_t)player->body[i].info.surface_vertex_count;
        sn_state_surface_positions(frame->state, i, player->scratch);
        to_floats(player->scratch, 3 * count, to);
        to += 3 * count;
        for (int32_t f = 0; f < SN_FIELD_COUNT; f++) {
            if (!player->has_field[f])
                continue;
            sn_state_surface_values(frame->state, i, frame->field[f], player->scratch);
            to_floats(player->scratch, count, to);
            to += count;
        }
    }
}

sn_status sn_player_frame(sn_player *player, const sn_frame_view *frame) {
    if (frame->index % player->spill.stride != 0)
        return SN_OK;
    take_bodies(player, frame);
    return sn_player_spill_append(&player->spill, player->floats);
}

// ---- What the page shows

/// Bounds of points [count, 3].
static void measure_positions(const float *from, int32_t count, double low[3], double high[3]) {
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = INFINITY;
        high[axis] = -INFINITY;
    }
    for (int32_t i = 0; i < count; i++) {
        for (int axis = 0; axis < 3; axis++) {
            double value = from[3 * (size_t)i + (size_t)axis];
            low[axis] = fmin(low[axis], value);
            high[axis] = fmax(high[axis], value);
        }
    }
}

static void measure_field(const float *from, int32_t count, double *max) {
    for (int32_t i = 0; i < count; i++)
        *max = fmax(*max, from[i]);
}

/// Bounds and largest values of the frame in `floats`, the shown one of that number.
static void measure_frame(sn_player *player, int32_t frame) {
    const float *from = player->floats;
    for (int32_t i = 0; i < player->body_count; i++) {
        player_body *body = &player->body[i];
        int32_t count = body->info.surface_vertex_count;
        size_t bounds = ((size_t)frame * (size_t)player->body_count + (size_t)i) * 3;
        measure_positions(from, count, player->low + bounds, player->high + bounds);
        from += 3 * (size_t)count;
        for (int32_t f = 0; f < SN_FIELD_COUNT; f++) {
            if (!player->has_field[f])
                continue;
            measure_field(from, count, &body->field_max[f]);
            from += count;
        }
    }
}

static void pose_shapes(sn_player *player, int32_t frame) {
    double time = player->record[frame * player->stride].time;
    double *pose = player->pose + (size_t)frame * (size_t)player->shape_count * POSE_SIZE;
    for (int32_t i = 0; i < player->shape_count; i++, pose += POSE_SIZE)
        sn_model_shape_pose(player->model, i, time, pose, pose + 9);
}

static sn_status measure_frames(sn_player *player) {
    sn_status status = SN_OK;
    sn_context *ctx = player->ctx;
    size_t bounds = (size_t)player->frame_count * (size_t)player->body_count * 3;
    SN_TRY_NEW(ctx, player->low, bounds);
    SN_TRY_NEW(ctx, player->high, bounds);
    SN_TRY_NEW(ctx, player->pose, (size_t)player->frame_count * (size_t)player->shape_count * POSE_SIZE);
    for (int32_t frame = 0; frame < player->frame_count; frame++) {
        SN_TRY(sn_player_spill_read(&player->spill, frame * player->stride, 0, player->frame_floats,
                                    player->floats));
        measure_frame(player, frame);
        pose_shapes(player, frame);
    }
cleanup:
    return status;
}

/// A body's grid: fine enough for its largest extent in any frame to use all of 16 bits.
static double choose_step(const sn_player *player, int32_t body_index) {
    double extent = 0, magnitude = 0;
    for (int32_t frame = 0; frame < player->frame_count; frame++) {
        size_t bounds = ((size_t)frame * (size_t)player->body_count + (size_t)body_index) * 3;
        for (int axis = 0; axis < 3; axis++) {
            double low = player->low[bounds + (size_t)axis], high = player->high[bounds + (size_t)axis];
            extent = fmax(extent, high - low);
            magnitude = fmax(magnitude, fmax(fabs(low), fabs(high)));
        }
    }
    double size = extent > 0 ? extent : magnitude;
    return size > 0 ? size / (QUANTA - 2) : 1;
}

static uint16_t quantize(double value) {
    return (uint16_t)fmin(fmax(value, 0), QUANTA);
}

static void quantize_positions(const sn_player *player, const float *from, int32_t count, double step,
                               const double low[3]) {
    for (int32_t i = 0; i < count; i++)
        for (int axis = 0; axis < 3; axis++) {
            size_t at = 3 * (size_t)i + (size_t)axis;
            player->quanta[at] = quantize(round(from[at] / step) - floor(low[axis] / step));
        }
}

static void quantize_field(const sn_player *player, const float *from, int32_t count, double max,
                           int64_t *histogram) {
    double scale = max > 0 ? QUANTA / max : 0;
    for (int32_t i = 0; i < count; i++) {
        player->quanta[i] = quantize(round(from[i] * scale));
        histogram[player->quanta[i]]++;
    }
}

/// One frame of a body: base64 of its positions and fields.
static sn_status write_body_frame(sn_player *player, sn_output *output, int32_t body_index, int32_t frame,
                                  size_t begin) {
    sn_status status = SN_OK;
    player_body *body = &player->body[body_index];
    int32_t count = body->info.surface_vertex_count;
    size_t bounds = ((size_t)frame * (size_t)player->body_count + (size_t)body_index) * 3;
    const float *from = player->floats;
    SN_TRY(sn_player_spill_read(&player->spill, frame * player->stride, begin,
                                (size_t)count * (size_t)(3 + field_count(player)), player->floats));
    quantize_positions(player, from, count, body->step, player->low + bounds);
    SN_TRY(sn_output_base64(output, player->quanta, 3 * (size_t)count * sizeof *player->quanta));
    from += 3 * (size_t)count;
    for (int32_t f = 0; f < SN_FIELD_COUNT; f++) {
        if (!player->has_field[f])
            continue;
        quantize_field(player, from, count, body->field_max[f], body->histogram[f]);
        SN_TRY(sn_output_base64(output, player->quanta, (size_t)count * sizeof *player->quanta));
        from += count;
    }
    SN_TRY(sn_output_base64_end(output));
cleanup:
    return status;
}

/// Opens and closes an element of text that the browser leaves alone.
static sn_status begin_block(sn_output *output, const char *kind, int32_t index) {
    return sn_output_format(output, "<script type=\"text/plain\" id=\"sinew-%s-%d\">", kind, index);
}

static sn_status end_block(sn_output *output) {
    return sn_output_text(output, "</script>\n");
}

static sn_status write_block(sn_output *output, const char *kind, int32_t index, const void *bytes,
                             size_t size) {
    sn_status status = SN_OK;
    SN_TRY(begin_block(output, kind, index));
    SN_TRY(sn_output_base64(output, bytes, size));
    SN_TRY(sn_output_base64_end(output));
    SN_TRY(end_block(output));
cleanup:
    return status;
}

static sn_status write_bodies(sn_player *player, sn_output *output) {
    sn_status status = SN_OK;
    size_t begin = 0;
    for (int32_t i = 0; i < player->body_count; i++) {
        player_body *body = &player->body[i];
        const sn_body_info *info = &body->info;
        SN_TRY(write_block(output, "triangles", i, info->surface_triangles,
                           3 * (size_t)info->surface_triangle_count * sizeof(int32_t)));
        body->step = choose_step(player, i);
        SN_TRY(begin_block(output, "frames", i));
        for (int32_t frame = 0; frame < player->frame_count; frame++)
            SN_TRY(write_body_frame(player, output, i, frame, begin));
        SN_TRY(end_block(output));
        begin += (size_t)info->surface_vertex_count * (size_t)(3 + field_count(player));
    }
cleanup:
    return status;
}

/// Poses of all shapes, and the surfaces of those that are meshes.
static sn_status write_shapes(sn_player *player, sn_output *output) {
    sn_status status = SN_OK;
    int32_t *triangles = NULL;
    const sn_mesh_data *surface = NULL;
    SN_TRY(
        write_block(output, "poses", 0, player->pose,
                    (size_t)player->frame_count * (size_t)player->shape_count * POSE_SIZE * sizeof(double)));
    for (int32_t i = 0; i < player->shape_count; i++) {
        const sn_shape_def *shape = sn_model_shape(player->model, i);
        if (shape->kind != SN_SHAPE_MESH)
            continue;
        surface = shape->surface;
        int32_t count = 0;
        SN_TRY(sn_mesh_data_triangles(surface, &count, &triangles));
        SN_TRY(write_block(output, "shape-vertices", i, surface->position,
                           3 * (size_t)surface->vertex_count * sizeof(double)));
        SN_TRY(write_block(output, "shape-triangles", i, triangles, 3 * (size_t)count * sizeof(int32_t)));
        sn_mesh_data_free_array(surface, triangles);
        triangles = NULL;
    }
cleanup:
    if (triangles)
        sn_mesh_data_free_array(surface, triangles);
    return status;
}

/// Upper end of the color range: what ROBUST_PERMILLE of the values of all frames do not exceed.
static double robust_max(const sn_player *player, int32_t field) {
    double range = 0;
    for (int32_t i = 0; i < player->body_count; i++) {
        const player_body *body = &player->body[i];
        int64_t total = (int64_t)body->info.surface_vertex_count * player->frame_count, below = 0;
        int32_t bin = 0;
        while (bin < QUANTA && (below += body->histogram[field][bin]) * 1000 < total * ROBUST_PERMILLE)
            bin++;
        range = fmax(range, body->field_max[field] * bin / QUANTA);
    }
    return range;
}

static void put_fields(const sn_player *player, sn_json *json) {
    sn_json_key(json, "fields");
    sn_json_open(json, '[');
    for (int32_t f = 0; f < SN_FIELD_COUNT; f++) {
        if (!player->has_field[f])
            continue;
        double max = 0;
        for (int32_t i = 0; i < player->body_count; i++)
            max = fmax(max, player->body[i].field_max[f]);
        sn_json_open(json, '{');
        sn_json_put_text(json, "name", sn_quantity_names[f]);
        sn_json_put_text(json, "unit", sn_quantity_units[f]);
        sn_json_put_number(json, "max", max);
        sn_json_put_number(json, "range", robust_max(player, f));
        sn_json_close(json, '}');
    }
    sn_json_close(json, ']');
}

/// Where each frame's grid starts, in whole steps.
static void put_origins(const sn_player *player, sn_json *json, int32_t body_index) {
    sn_json_key(json, "origins");
    sn_json_open(json, '[');
    for (int32_t frame = 0; frame < player->frame_count; frame++) {
        size_t bounds = ((size_t)frame * (size_t)player->body_count + (size_t)body_index) * 3;
        for (size_t axis = 0; axis < 3; axis++)
            sn_json_number(json, floor(player->low[bounds + axis] / player->body[body_index].step));
    }
    sn_json_close(json, ']');
}

static void put_bodies(const sn_player *player, sn_json *json) {
    sn_json_key(json, "bodies");
    sn_json_open(json, '[');
    for (int32_t i = 0; i < player->body_count; i++) {
        const player_body *body = &player->body[i];
        sn_json_open(json, '{');
        sn_json_put_text(json, "name", body->info.name);
        sn_json_put_integer(json, "vertices", body->info.surface_vertex_count);
        sn_json_put_number(json, "step", body->step);
        put_origins(player, json, i);
        sn_json_key(json, "fieldMax");
        sn_json_open(json, '[');
        for (int32_t f = 0; f < SN_FIELD_COUNT; f++)
            if (player->has_field[f])
                sn_json_number(json, body->field_max[f]);
        sn_json_close(json, ']');
        sn_json_close(json, '}');
    }
    sn_json_close(json, ']');
}

static void put_shapes(const sn_player *player, sn_json *json) {
    static const char *const kinds[] = {"plane", "sphere", "capsule", "box", "mesh"};
    sn_json_key(json, "shapes");
    sn_json_open(json, '[');
    for (int32_t i = 0; i < player->shape_count; i++) {
        const sn_shape_def *shape = sn_model_shape(player->model, i);
        sn_json_open(json, '{');
        sn_json_put_text(json, "name", shape->name ? shape->name : "");
        sn_json_put_text(json, "kind", kinds[shape->kind]);
        sn_json_put_numbers(json, "point", shape->point, 3);
        sn_json_put_numbers(json, "point2", shape->point2, 3);
        sn_json_put_numbers(json, "normal", shape->normal, 3);
        sn_json_put_numbers(json, "halfSize", shape->half_size, 3);
        sn_json_put_number(json, "radius", shape->radius);
        sn_json_close(json, '}');
    }
    sn_json_close(json, ']');
}

static void put_frames(const sn_player *player, sn_json *json) {
    sn_json_key(json, "frames");
    sn_json_open(json, '[');
    for (int32_t i = 0; i < player->frame_count; i++) {
        const sn_frame_record *record = &player->record[i * player->stride];
        sn_json_open(json, '[');
        sn_json_integer(json, i * player->stride);
        sn_json_number(json, record->time);
        sn_json_integer(json, record->status);
        sn_json_integer(json, record->iterations);
        sn_json_number(json, record->ms);
        sn_json_close(json, ']');
    }
    sn_json_close(json, ']');
}

/// Bounds of all bodies over all frames.
static void put_bounds(const sn_player *player, sn_json *json) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    size_t count = (size_t)player->frame_count * (size_t)player->body_count;
    for (size_t i = 0; i < 3 * count; i++) {
        low[i % 3] = fmin(low[i % 3], player->low[i]);
        high[i % 3] = fmax(high[i % 3], player->high[i]);
    }
    sn_json_put_numbers(json, "low", low, 3);
    sn_json_put_numbers(json, "high", high, 3);
}

/// The description of everything: what the page's script reads first.
static sn_status write_description(const sn_player *player, sn_output *output, double ms_per_frame) {
    sn_status status = SN_OK;
    sn_json json = sn_json_make(player->ctx);
    sn_model_info info = sn_model_get_info(player->model);
    sn_json_open(&json, '{');
    sn_json_put_text(&json, "title", player->title);
    sn_json_put_text(&json, "version", sn_version());
    sn_json_put_integer(&json, "nodes", info.node_count);
    sn_json_put_integer(&json, "tets", info.tet_count);
    sn_json_put_numbers(&json, "gravity", info.gravity, 3);
    sn_json_put_number(&json, "frameSeconds", player->frame_seconds);
    sn_json_put_integer(&json, "stride", player->stride);
    sn_json_put_number(&json, "msPerFrame", ms_per_frame);
    put_bounds(player, &json);
    put_frames(player, &json);
    put_fields(player, &json);
    put_bodies(player, &json);
    put_shapes(player, &json);
    sn_json_close(&json, '}');
    SN_TRY(json.status);
    SN_TRY(sn_output_text(output, "<script type=\"application/json\" id=\"sinew-scene\">"));
    SN_TRY(sn_output_write(output, json.text, json.length));
    SN_TRY(end_block(output));
cleanup:
    sn_json_release(&json);
    return status;
}

/// A text as HTML content.
static sn_status write_escaped(sn_output *output, const char *text) {
    sn_status status = SN_OK;
    for (; *text; text++) {
        if (*text == '<')
            SN_TRY(sn_output_text(output, "&lt;"));
        else if (*text == '&')
            SN_TRY(sn_output_text(output, "&amp;"));
        else
            SN_TRY(sn_output_write(output, text, 1));
    }
cleanup:
    return status;
}

/// What stands at a mark of the template.
static sn_status write_slot(sn_player *player, sn_output *output, const char *slot, size_t length,
                            double ms_per_frame) {
    sn_status status = SN_OK;
    if (strncmp(slot, "title", length) == 0) {
        SN_TRY(write_escaped(output, player->title));
    } else if (strncmp(slot, "css", length) == 0) {
        SN_TRY(sn_output_write(output, sn_asset_player_css, sn_asset_player_css_size));
    } else if (strncmp(slot, "three", length) == 0) {
        SN_TRY(sn_output_write(output, sn_asset_three_js, sn_asset_three_js_size));
    } else if (strncmp(slot, "js", length) == 0) {
        SN_TRY(sn_output_write(output, sn_asset_player_js, sn_asset_player_js_size));
    } else {
        SN_TRY(write_bodies(player, output));
        SN_TRY(write_shapes(player, output));
        SN_TRY(write_description(player, output, ms_per_frame));
    }
cleanup:
    return status;
}

/// Marks in the template look like {{slot}}.
static sn_status write_page(sn_player *player, sn_output *output, double ms_per_frame) {
    sn_status status = SN_OK;
    const char *at = (const char *)sn_asset_player_html, *end = at + sn_asset_player_html_size;
    while (at < end) {
        if (end - at > 2 && at[0] == '{' && at[1] == '{') {
            const char *slot = at + 2;
            const char *close = memchr(slot, '}', (size_t)(end - slot));
            SN_ASSERT(close);
            SN_TRY(write_slot(player, output, slot, (size_t)(close - slot), ms_per_frame));
            at = close + 2;
        } else {
            SN_TRY(sn_output_write(output, at, 1));
            at++;
        }
    }
cleanup:
    return status;
}

sn_status sn_player_write(sn_player *player, const char *directory, int32_t frame_count,
                          const sn_frame_record *record, double ms_per_frame) {
    sn_status status = SN_OK;
    sn_output output = {0};
    player->record = record;
    player->frame_count = (frame_count + player->stride - 1) / player->stride;
    SN_TRY(measure_frames(player));
    SN_TRY(sn_output_open(player->ctx, directory, SN_PLAYER_FILE, SN_OUTPUT_WHOLE, &output));
    SN_TRY(write_page(player, &output, ms_per_frame));
    SN_TRY(sn_output_finish(&output));
cleanup:
    sn_output_abandon(&output);
    release_page(player);
    return status;
}
