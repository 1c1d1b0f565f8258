/// GLB files: glTF 2.0 in one binary file, for Blender, three.js and most programs that show scenes.
///
/// A mesh for each body: the first frame is its base, every later one a morph target, and an animation that
/// turns one weight on after another moves it; between frames viewers interpolate, as the other formats do.
/// Differences to the base are floats, so that positions come back to about one part in 10^7. Rejected: a
/// mesh per frame, which scenes show all at once; 16-bit targets, whose steps show; sparse targets, because
/// in a body that moves at all nearly every vertex does.
///
/// glTF gives every vertex one texture coordinate: where a seam needs two, further vertices follow behind the
/// surface's own, which keep their numbers. Groups are primitives with a material of that name, which share
/// the vertices. No normals: viewers make them of the triangles of each frame.
///
/// Accessors by body: positions of all frames, texture coordinates if there are any, corners of each group;
/// behind those of all bodies the times and the weights. Buffer views likewise, with one for all positions
/// and one for all corners of a body. The binary chunk holds the same, in that order.
#include "io/io_export.h"
#include "io/io_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    ARRAY_BUFFER = 34962,
    ELEMENT_ARRAY_BUFFER = 34963,
    GLTF_UINT = 5125,
    GLTF_FLOAT = 5126,
    VERTEX_SIZE = 12,
    UV_SIZE = 8
};

/// A vertex of glTF: one of the surface, with a texture coordinate.
typedef struct glb_vertex {
    int32_t source; ///< In the surface.
    int32_t uv;     ///< -1: none; UNKNOWN: no corner has asked yet.
    int32_t next;   ///< Another one of the same source; -1: none.
} glb_vertex;
enum { UNKNOWN = -2 };

/// Bounds of positions in floats: glTF wants them exact.
typedef struct glb_bounds {
    float low[3], high[3];
} glb_bounds;

/// A body made ready for glTF.
typedef struct glb_body {
    sn_results_body surface;
    bool has_uv;
    int32_t vertex_count; ///< Those of the surface, then what seams add.
    size_t vertex_capacity;
    glb_vertex *vertex; ///< [vertex_count]
    uint32_t *corner;   ///< [triangle_count, 3] vertices, triangles in the order of their groups
    int32_t *group_end; ///< [group_count + 1] triangles up to the end of those without group, of group 0, ...
    glb_bounds *bounds; ///< [frame_count] of the base and of the targets
    int32_t group_count; ///< Of the surface.
} glb_body;

typedef struct glb_writer {
    sn_export_job *job;
    glb_body *body;      ///< [job->body_count]
    int32_t frame_count; ///< Kept of the job's frames.
    int32_t *frame;      ///< [frame_count] their places in the job
    float *base;         ///< [largest vertex_count of a surface, 3]
    sn_json json;
    int64_t binary_size;
    sn_output output;
} glb_writer;

static void release(glb_writer *glb) {
    sn_context *ctx = glb->job->ctx;
    for (int32_t i = 0; glb->body && i < glb->job->body_count; i++) {
        SN_RELEASE(ctx, glb->body[i].vertex);
        SN_RELEASE(ctx, glb->body[i].corner);
        SN_RELEASE(ctx, glb->body[i].group_end);
        SN_RELEASE(ctx, glb->body[i].bounds);
    }
    SN_RELEASE(ctx, glb->body);
    SN_RELEASE(ctx, glb->frame);
    SN_RELEASE(ctx, glb->base);
    sn_json_release(&glb->json);
    sn_output_abandon(&glb->output);
}

// ---- Frames

static float frame_time(const glb_writer *glb, int32_t index) {
    return (float)glb->job->time[glb->frame[index]];
}

/// Keeps as many frames as the base and the targets may be, evenly, with the first and the last.
static sn_status choose_frames(glb_writer *glb) {
    sn_status status = SN_OK;
    const sn_export_job *job = glb->job;
    int64_t all = job->frame_count, most = (int64_t)job->def->glb_targets + 1;
    glb->frame_count = (int32_t)(all < most ? all : most);
    SN_TRY_NEW(job->ctx, glb->frame, glb->frame_count);
    glb->frame[0] = 0;
    for (int32_t i = 1; i < glb->frame_count; i++) {
        glb->frame[i] = (int32_t)(i * (all - 1) / (glb->frame_count - 1));
        if (frame_time(glb, i) <= frame_time(glb, i - 1))
            SN_TRY(sn_fail(job->ctx, SN_ERR_INVALID_ARGUMENT,
                           "glb: the floats of glTF hold no difference between the times %.17g and %.17g s: "
                           "export fewer frames",
                           job->time[glb->frame[i - 1]], job->time[glb->frame[i]]));
    }
    if (all > most)
        sn_log(
            job->ctx, SN_LOG_WARNING,
            "glb: %d of %d frames were left out, evenly, because %d morph targets are allowed: sinew export "
            "takes up to 65535 with --glb-targets, if the viewer does",
            job->frame_count - glb->frame_count, job->frame_count, job->def->glb_targets);
cleanup:
    return status;
}

// ---- Vertices and triangles

/// The vertex of a source with a texture coordinate; made if it is not there.
static sn_status find_vertex(sn_context *ctx, glb_body *body, int32_t source, int32_t uv,
                             uint32_t *out_vertex) {
    int32_t at = source;
    if (body->vertex[at].uv == UNKNOWN)
        body->vertex[at].uv = uv;
    while (body->vertex[at].uv != uv && body->vertex[at].next >= 0)
        at = body->vertex[at].next;
    if (body->vertex[at].uv != uv) {
        sn_status status = sn_grow(ctx, (void **)&body->vertex, &body->vertex_capacity,
                                   (size_t)body->vertex_count + 1, sizeof *body->vertex);
        if (status < 0)
            return status;
        body->vertex[at].next = body->vertex_count;
        at = body->vertex_count++;
        body->vertex[at] = (glb_vertex){source, uv, -1};
    }
    *out_vertex = (uint32_t)at;
    return SN_OK;
}

/// Which part of group_end a triangle belongs to: 0 without group.
static size_t group_of(const glb_body *body, size_t triangle) {
    const int32_t *group = body->surface.look.triangle_group;
    return group ? (size_t)(group[triangle] + 1) : 0;
}

/// Sorts triangles by group; their order within one stays.
static sn_status sort_triangles(sn_context *ctx, glb_body *body) {
    sn_status status = SN_OK;
    const sn_results_body *surface = &body->surface;
    int32_t *place = NULL;
    size_t triangles = (size_t)surface->triangle_count, groups = (size_t)body->group_count + 1;
    SN_TRY_NEW_ZEROED(ctx, body->group_end, groups);
    SN_TRY_NEW_ZEROED(ctx, place, groups);
    for (size_t i = 0; i < triangles; i++)
        body->group_end[group_of(body, i)]++;
    for (size_t g = 1; g < groups; g++) {
        place[g] = body->group_end[g - 1];
        body->group_end[g] += body->group_end[g - 1];
    }
    for (size_t i = 0; i < triangles; i++) {
        uint32_t *corner = body->corner + 3 * (size_t)place[group_of(body, i)]++;
        for (size_t c = 3 * i; c < 3 * i + 3; c++)
            SN_TRY(find_vertex(ctx, body, surface->triangles[c],
                               body->has_uv ? surface->look.triangle_uv[c] : -1, corner++));
    }
cleanup:
    SN_RELEASE(ctx, place);
    return status;
}

static sn_status prepare_body(glb_writer *glb, int32_t place) {
    sn_status status = SN_OK;
    sn_context *ctx = glb->job->ctx;
    glb_body *body = &glb->body[place];
    body->surface = sn_export_body(glb->job, place);
    body->has_uv = body->surface.look.triangle_uv != NULL;
    body->group_count = body->surface.look.triangle_group ? body->surface.look.group_count : 0;
    body->vertex_count = body->surface.vertex_count;
    SN_TRY(sn_grow(ctx, (void **)&body->vertex, &body->vertex_capacity, (size_t)body->vertex_count,
                   sizeof *body->vertex));
    for (int32_t i = 0; i < body->vertex_count; i++)
        body->vertex[i] = (glb_vertex){i, UNKNOWN, -1};
    SN_TRY_NEW(ctx, body->corner, 3 * (size_t)body->surface.triangle_count);
    SN_TRY_NEW(ctx, body->bounds, glb->frame_count);
    SN_TRY(sort_triangles(ctx, body));
cleanup:
    return status;
}

/// Triangles of a part of group_end, and the first of them.
static int32_t part_size(const glb_body *body, int32_t part, int32_t *out_begin) {
    *out_begin = part > 0 ? body->group_end[part - 1] : 0;
    return body->group_end[part] - *out_begin;
}

/// Parts that are not empty: primitives of glTF.
static int32_t primitive_count(const glb_body *body) {
    int32_t count = 0, begin;
    for (int32_t part = 0; part <= body->group_count; part++)
        count += part_size(body, part, &begin) > 0;
    return count;
}

// ---- Positions

/// Reads a frame of a body into job->positions: the base, or the differences to it. The base is the first
/// frame that is read.
static sn_status read_frame(glb_writer *glb, int32_t place, int32_t index) {
    sn_status status = SN_OK;
    float *position = glb->job->positions;
    size_t numbers = 3 * (size_t)glb->body[place].surface.vertex_count;
    SN_TRY(sn_export_read(glb->job, place, glb->frame[index]));
    if (index == 0)
        memcpy(glb->base, position, numbers * sizeof *position);
    for (size_t i = 0; index > 0 && i < numbers; i++) {
        position[i] -= glb->base[i];
        if (!isfinite(position[i]))
            SN_TRY(sn_fail(glb->job->ctx, SN_ERR_READ,
                           "glb: vertex %zu of %s moves farther than floats reach", i / 3,
                           glb->body[place].surface.name));
    }
cleanup:
    return status;
}

static glb_bounds bounds_of(int32_t count, const float *position) {
    glb_bounds bounds;
    memcpy(bounds.low, position, sizeof bounds.low);
    memcpy(bounds.high, position, sizeof bounds.high);
    for (size_t i = 0; i < 3 * (size_t)count; i++) {
        bounds.low[i % 3] = fminf(bounds.low[i % 3], position[i]);
        bounds.high[i % 3] = fmaxf(bounds.high[i % 3], position[i]);
    }
    return bounds;
}

static sn_status measure_body(glb_writer *glb, int32_t place) {
    sn_status status = SN_OK;
    for (int32_t f = 0; f < glb->frame_count; f++) {
        SN_TRY(read_frame(glb, place, f));
        glb->body[place].bounds[f] = bounds_of(glb->body[place].surface.vertex_count, glb->job->positions);
    }
cleanup:
    return status;
}

// ---- JSON

/// Adds a member whose value is an object or a list, to be closed.
static void open_member(sn_json *json, const char *key, char bracket) {
    sn_json_key(json, key);
    sn_json_open(json, bracket);
}

/// Adds a member whose value is JSON already.
static void put_raw(sn_json *json, const char *key, const char *value) {
    sn_json_key(json, key);
    sn_json_raw(json, value);
    json->comma = true;
}

static void put_scene(glb_writer *glb) {
    // Columns of the matrix that turns z up into glTF's y up: (x, y, z) -> (x, z, -y).
    static const double z_up[16] = {1, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1};
    sn_json *json = &glb->json;
    open_member(json, "asset", '{');
    sn_json_put_text(json, "version", "2.0");
    sn_json_put_text(json, "generator", "Sinew");
    sn_json_close(json, '}');
    sn_json_put_integer(json, "scene", 0);
    put_raw(json, "scenes", "[{\"nodes\":[0]}]");
    open_member(json, "nodes", '[');
    sn_json_open(json, '{');
    sn_json_put_text(json, "name", "bodies");
    if (!glb->job->def->y_up)
        sn_json_put_numbers(json, "matrix", z_up, 16);
    open_member(json, "children", '[');
    for (int32_t i = 0; i < glb->job->body_count; i++)
        sn_json_integer(json, i + 1);
    sn_json_close(json, ']');
    sn_json_close(json, '}');
    for (int32_t i = 0; i < glb->job->body_count; i++) {
        sn_json_open(json, '{');
        sn_json_put_text(json, "name", glb->body[i].surface.name);
        sn_json_put_integer(json, "mesh", i);
        sn_json_close(json, '}');
    }
    sn_json_close(json, ']');
}

/// @param accessor  The first one of the body.
static void put_primitive(glb_writer *glb, const glb_body *body, int32_t accessor, int32_t indices,
                          int32_t material) {
    sn_json *json = &glb->json;
    sn_json_open(json, '{');
    open_member(json, "attributes", '{');
    sn_json_put_integer(json, "POSITION", accessor);
    if (body->has_uv)
        sn_json_put_integer(json, "TEXCOORD_0", accessor + glb->frame_count);
    sn_json_close(json, '}');
    sn_json_put_integer(json, "indices", indices);
    sn_json_put_integer(json, "material", material);
    if (glb->frame_count > 1) {
        open_member(json, "targets", '[');
        for (int32_t f = 1; f < glb->frame_count; f++) {
            sn_json_open(json, '{');
            sn_json_put_integer(json, "POSITION", accessor + f);
            sn_json_close(json, '}');
        }
        sn_json_close(json, ']');
    }
    sn_json_close(json, '}');
}

/// Names of the targets, where Blender and three.js look for them.
static void put_target_names(glb_writer *glb) {
    sn_json *json = &glb->json;
    open_member(json, "extras", '{');
    open_member(json, "targetNames", '[');
    for (int32_t f = 1; f < glb->frame_count; f++) {
        char name[32];
        snprintf(name, sizeof name, "frame %d", glb->job->frame[glb->frame[f]]);
        sn_json_text(json, name);
    }
    sn_json_close(json, ']');
    sn_json_close(json, '}');
}

static void put_meshes(glb_writer *glb) {
    sn_json *json = &glb->json;
    int32_t accessor = 0, material = 0;
    open_member(json, "meshes", '[');
    for (int32_t i = 0; i < glb->job->body_count; i++) {
        const glb_body *body = &glb->body[i];
        int32_t primitives = primitive_count(body), indices = accessor + glb->frame_count + body->has_uv;
        sn_json_open(json, '{');
        sn_json_put_text(json, "name", body->surface.name);
        open_member(json, "primitives", '[');
        for (int32_t p = 0; p < primitives; p++)
            put_primitive(glb, body, accessor, indices + p, material + p);
        sn_json_close(json, ']');
        if (glb->frame_count > 1)
            put_target_names(glb);
        sn_json_close(json, '}');
        material += primitives;
        accessor = indices + primitives;
    }
    sn_json_close(json, ']');
}

static void put_materials(glb_writer *glb) {
    sn_json *json = &glb->json;
    open_member(json, "materials", '[');
    for (int32_t i = 0; i < glb->job->body_count; i++) {
        const glb_body *body = &glb->body[i];
        for (int32_t part = 0, begin; part <= body->group_count; part++) {
            if (part_size(body, part, &begin) == 0)
                continue;
            sn_json_open(json, '{');
            sn_json_put_text(json, "name",
                             part > 0 ? body->surface.look.group[part - 1] : body->surface.name);
            put_raw(json, "pbrMetallicRoughness",
                    "{\"baseColorFactor\":[0.8,0.8,0.8,1],\"metallicFactor\":0,\"roughnessFactor\":0.7}");
            put_raw(json, "doubleSided", "true");
            sn_json_close(json, '}');
        }
    }
    sn_json_close(json, ']');
}

/// Opens an accessor, which begins `offset` bytes into its view; to be closed.
static void open_accessor(sn_json *json, int32_t view, int64_t offset, int component, const char *type,
                          int64_t count) {
    sn_json_open(json, '{');
    sn_json_put_integer(json, "bufferView", view);
    sn_json_put_integer(json, "byteOffset", offset);
    sn_json_put_integer(json, "componentType", component);
    sn_json_put_text(json, "type", type);
    sn_json_put_integer(json, "count", count);
}

static void put_floats(sn_json *json, const char *key, int32_t count, const float *values) {
    open_member(json, key, '[');
    for (int32_t i = 0; i < count; i++)
        sn_json_number(json, values[i]);
    sn_json_close(json, ']');
}

/// @param[in,out] view  The first one of the body, then of the next.
static void put_body_accessors(glb_writer *glb, const glb_body *body, int32_t *view) {
    sn_json *json = &glb->json;
    for (int32_t f = 0; f < glb->frame_count; f++) {
        open_accessor(json, *view, (int64_t)f * body->vertex_count * VERTEX_SIZE, GLTF_FLOAT, "VEC3",
                      body->vertex_count);
        put_floats(json, "min", 3, body->bounds[f].low);
        put_floats(json, "max", 3, body->bounds[f].high);
        sn_json_close(json, '}');
    }
    ++*view;
    if (body->has_uv) {
        open_accessor(json, (*view)++, 0, GLTF_FLOAT, "VEC2", body->vertex_count);
        sn_json_close(json, '}');
    }
    for (int32_t part = 0, begin; part <= body->group_count; part++) {
        int64_t triangles = part_size(body, part, &begin);
        if (triangles == 0)
            continue;
        open_accessor(json, *view, 12 * (int64_t)begin, GLTF_UINT, "SCALAR", 3 * triangles);
        sn_json_close(json, '}');
    }
    ++*view;
}

static void put_accessors(glb_writer *glb) {
    sn_json *json = &glb->json;
    int32_t view = 0, frames = glb->frame_count;
    open_member(json, "accessors", '[');
    for (int32_t i = 0; i < glb->job->body_count; i++)
        put_body_accessors(glb, &glb->body[i], &view);
    if (frames > 1) {
        const float first = frame_time(glb, 0), last = frame_time(glb, frames - 1);
        open_accessor(json, view, 0, GLTF_FLOAT, "SCALAR", frames);
        put_floats(json, "min", 1, &first);
        put_floats(json, "max", 1, &last);
        sn_json_close(json, '}');
        open_accessor(json, view, 4 * (int64_t)frames, GLTF_FLOAT, "SCALAR", (int64_t)frames * (frames - 1));
        sn_json_close(json, '}');
    }
    sn_json_close(json, ']');
}

/// A view of the next `size` bytes of the binary chunk; stride and target 0: none.
static void put_view(glb_writer *glb, int64_t size, int stride, int target) {
    sn_json *json = &glb->json;
    sn_json_open(json, '{');
    sn_json_put_integer(json, "buffer", 0);
    sn_json_put_integer(json, "byteOffset", glb->binary_size);
    sn_json_put_integer(json, "byteLength", size);
    if (stride)
        sn_json_put_integer(json, "byteStride", stride);
    if (target)
        sn_json_put_integer(json, "target", target);
    sn_json_close(json, '}');
    glb->binary_size += size;
}

static void put_views(glb_writer *glb) {
    sn_json *json = &glb->json;
    int64_t frames = glb->frame_count;
    glb->binary_size = 0;
    open_member(json, "bufferViews", '[');
    for (int32_t i = 0; i < glb->job->body_count; i++) {
        const glb_body *body = &glb->body[i];
        put_view(glb, frames * body->vertex_count * VERTEX_SIZE, VERTEX_SIZE, ARRAY_BUFFER);
        if (body->has_uv)
            put_view(glb, (int64_t)body->vertex_count * UV_SIZE, 0, ARRAY_BUFFER);
        put_view(glb, 12 * (int64_t)body->surface.triangle_count, 0, ELEMENT_ARRAY_BUFFER);
    }
    if (frames > 1)
        put_view(glb, 4 * frames * frames, 0, 0);
    sn_json_close(json, ']');
    open_member(json, "buffers", '[');
    sn_json_open(json, '{');
    sn_json_put_integer(json, "byteLength", glb->binary_size);
    sn_json_close(json, '}');
    sn_json_close(json, ']');
}

/// One sampler moves all bodies. Its accessors are the last two.
static void put_animation(glb_writer *glb) {
    sn_json *json = &glb->json;
    int32_t accessor = 0;
    if (glb->frame_count == 1)
        return;
    for (int32_t i = 0; i < glb->job->body_count; i++)
        accessor += glb->frame_count + glb->body[i].has_uv + primitive_count(&glb->body[i]);
    open_member(json, "animations", '[');
    sn_json_open(json, '{');
    sn_json_put_text(json, "name", "run");
    open_member(json, "samplers", '[');
    sn_json_open(json, '{');
    sn_json_put_integer(json, "input", accessor);
    sn_json_put_integer(json, "output", accessor + 1);
    sn_json_put_text(json, "interpolation", "LINEAR");
    sn_json_close(json, '}');
    sn_json_close(json, ']');
    open_member(json, "channels", '[');
    for (int32_t i = 0; i < glb->job->body_count; i++) {
        sn_json_open(json, '{');
        sn_json_put_integer(json, "sampler", 0);
        open_member(json, "target", '{');
        sn_json_put_integer(json, "node", i + 1);
        sn_json_put_text(json, "path", "weights");
        sn_json_close(json, '}');
        sn_json_close(json, '}');
    }
    sn_json_close(json, ']');
    sn_json_close(json, '}');
    sn_json_close(json, ']');
}

static sn_status make_json(glb_writer *glb) {
    sn_json *json = &glb->json;
    sn_json_open(json, '{');
    put_scene(glb);
    put_meshes(glb);
    put_materials(glb);
    put_accessors(glb);
    put_views(glb);
    put_animation(glb);
    sn_json_close(json, '}');
    // Chunks begin at multiples of four.
    while (json->status == SN_OK && json->length % 4 != 0)
        sn_json_raw(json, " ");
    return json->status;
}

// ---- The file

static sn_status write_u32(sn_output *output, uint32_t value) {
    return sn_output_write(output, &value, sizeof value);
}

/// Header, the chunk of JSON, and the head of the binary one.
static sn_status write_head(glb_writer *glb) {
    enum { HEADS_SIZE = 12 + 8 + 8 };
    sn_status status = SN_OK;
    sn_output *output = &glb->output;
    int64_t size = HEADS_SIZE + (int64_t)glb->json.length + glb->binary_size;
    if (size > UINT32_MAX)
        SN_TRY(
            sn_fail(glb->job->ctx, SN_ERR_INVALID_ARGUMENT,
                    "glb: the file would have %lld bytes, and the format ends at %lld: export fewer frames "
                    "(--frames A:B:STEP), fewer morph targets (--glb-targets) or one body at a time",
                    (long long)size, (long long)UINT32_MAX));
    SN_TRY(sn_output_write(output, "glTF", 4));
    SN_TRY(write_u32(output, 2));
    SN_TRY(write_u32(output, (uint32_t)size));
    SN_TRY(write_u32(output, (uint32_t)glb->json.length));
    SN_TRY(sn_output_write(output, "JSON", 4));
    SN_TRY(sn_output_write(output, glb->json.text, glb->json.length));
    SN_TRY(write_u32(output, (uint32_t)glb->binary_size));
    SN_TRY(sn_output_write(output, "BIN", 4));
cleanup:
    return status;
}

static sn_status write_positions(glb_writer *glb, int32_t place) {
    sn_status status = SN_OK;
    const glb_body *body = &glb->body[place];
    for (int32_t f = 0; f < glb->frame_count; f++) {
        SN_TRY(read_frame(glb, place, f));
        for (int32_t i = 0; i < body->vertex_count; i++)
            SN_TRY(sn_output_write(&glb->output, glb->job->positions + 3 * (size_t)body->vertex[i].source,
                                   VERTEX_SIZE));
    }
cleanup:
    return status;
}

/// glTF counts v from the top of the picture.
static sn_status write_uvs(glb_writer *glb, const glb_body *body) {
    sn_status status = SN_OK;
    for (int32_t i = 0; i < body->vertex_count; i++) {
        float pair[2] = {0, 0};
        if (body->vertex[i].uv >= 0) {
            const double *uv = body->surface.look.uv + 2 * (size_t)body->vertex[i].uv;
            pair[0] = (float)uv[0];
            pair[1] = (float)(1 - uv[1]);
        }
        SN_TRY(sn_output_write(&glb->output, pair, sizeof pair));
    }
cleanup:
    return status;
}

/// Times, then for each of them the weights of all targets.
static sn_status write_animation(glb_writer *glb) {
    sn_status status = SN_OK;
    for (int32_t f = 0; f < glb->frame_count; f++) {
        const float time = frame_time(glb, f);
        SN_TRY(sn_output_write(&glb->output, &time, sizeof time));
    }
    for (int32_t f = 0; f < glb->frame_count; f++)
        for (int32_t target = 1; target < glb->frame_count; target++) {
            const float weight = target == f ? 1 : 0;
            SN_TRY(sn_output_write(&glb->output, &weight, sizeof weight));
        }
cleanup:
    return status;
}

static sn_status write_file(glb_writer *glb) {
    sn_status status = SN_OK;
    char name[SN_EXPORT_NAME_SIZE];
    SN_TRY(sn_output_open(glb->job->ctx, glb->job->directory, sn_export_name(glb->job, -1, ".glb", name),
                          SN_OUTPUT_WHOLE, &glb->output));
    SN_TRY(write_head(glb));
    for (int32_t i = 0; i < glb->job->body_count; i++) {
        const glb_body *body = &glb->body[i];
        SN_TRY(write_positions(glb, i));
        if (body->has_uv)
            SN_TRY(write_uvs(glb, body));
        SN_TRY(sn_output_write(&glb->output, body->corner,
                               3 * (size_t)body->surface.triangle_count * sizeof *body->corner));
    }
    if (glb->frame_count > 1)
        SN_TRY(write_animation(glb));
    SN_TRY(sn_output_finish(&glb->output));
    glb->job->file_count++;
cleanup:
    return status;
}

sn_status sn_glb_export(sn_export_job *job) {
    sn_status status = SN_OK;
    glb_writer glb = {.job = job, .json = sn_json_make(job->ctx)};
    size_t largest = 1;
    SN_TRY(choose_frames(&glb));
    SN_TRY_NEW_ZEROED(job->ctx, glb.body, job->body_count);
    for (int32_t i = 0; i < job->body_count; i++) {
        SN_TRY(prepare_body(&glb, i));
        size_t count = (size_t)glb.body[i].surface.vertex_count;
        largest = count > largest ? count : largest;
    }
    SN_TRY_NEW(job->ctx, glb.base, 3 * largest);
    for (int32_t i = 0; i < job->body_count; i++)
        SN_TRY(measure_body(&glb, i));
    SN_TRY(make_json(&glb));
    SN_TRY(write_file(&glb));
cleanup:
    release(&glb);
    return status;
}
