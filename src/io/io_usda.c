/// USDA files: Universal Scene Description as text, for usdview, Houdini, Omniverse, Maya and others.
///
/// One Mesh for each body below the Xform "bodies": points and extent with a time sample per frame,
/// triangles, texture coordinates as primvars:st with indices, groups as GeomSubsets. Time codes are numbers
/// of frames, so that samples lie on whole ones; a second has as many as the run has frames. Lengths are in
/// m.
///
/// Names of prims are letters, digits and "_" only; what a body or a group is called in the scene stands
/// beside it as customData.
#include "io/io_export.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PRIM_NAME_MAX = 64, PRIM_NAME_SIZE = PRIM_NAME_MAX + 16 };

typedef struct usda_writer {
    sn_export_job *job;
    sn_output output;
    float *extent;                ///< [frame_count, 6] of the body at hand
    char (*used)[PRIM_NAME_SIZE]; ///< [used_count] names of prims beside one another
    int32_t used_count;
} usda_writer;

// ---- Names and numbers

static bool is_used(const usda_writer *usda, const char *name) {
    for (int32_t i = 0; i < usda->used_count; i++)
        if (strcmp(usda->used[i], name) == 0)
            return true;
    return false;
}

/// A name that USD takes for a prim, unlike those of its siblings so far; there must be room for it.
static const char *add_prim_name(usda_writer *usda, const char *text) {
    char base[PRIM_NAME_MAX + 1], *name = usda->used[usda->used_count];
    bool digit = isdigit((unsigned char)*text) || !*text;
    snprintf(base, sizeof base, "%s%s", digit ? "_" : "", text);
    for (char *at = base; *at; at++)
        if (!isalnum((unsigned char)*at) || (unsigned char)*at >= 128)
            *at = '_';
    snprintf(name, PRIM_NAME_SIZE, "%s", base);
    for (int32_t number = 2; is_used(usda, name); number++)
        snprintf(name, PRIM_NAME_SIZE, "%s_%d", base, number);
    usda->used_count++;
    return name;
}

/// A text in quotes.
static sn_status write_string(sn_output *output, const char *text) {
    sn_status status = SN_OK;
    SN_TRY(sn_output_text(output, "\""));
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            SN_TRY(sn_output_text(output, "\\"));
        SN_TRY(sn_output_write(output, (unsigned char)*text < ' ' ? "_" : text, 1));
    }
    SN_TRY(sn_output_text(output, "\""));
cleanup:
    return status;
}

/// A float with as many digits as read back to the same bits, with a point whatever the locale says.
static sn_status write_float(sn_output *output, float value) {
    char text[32];
    int length = snprintf(text, sizeof text, "%.9g", (double)value);
    char *comma = strchr(text, ',');
    if (comma)
        *comma = '.';
    return sn_output_write(output, text, (size_t)length);
}

/// "(1, 2, 3)"
static sn_status write_tuple(sn_output *output, int count, const float *values) {
    sn_status status = SN_OK;
    for (int i = 0; i < count; i++) {
        SN_TRY(sn_output_text(output, i == 0 ? "(" : ", "));
        SN_TRY(write_float(output, values[i]));
    }
    SN_TRY(sn_output_text(output, ")"));
cleanup:
    return status;
}

/// "[3, 3, 3]": an index each from a list, or `fill` for all if there is none; -1 becomes `other`.
static sn_status write_indices(sn_output *output, size_t count, const int32_t *indices, int32_t fill,
                               int32_t other) {
    sn_status status = SN_OK;
    for (size_t i = 0; i < count; i++) {
        int32_t index = indices ? indices[i] : fill;
        SN_TRY(sn_output_format(output, "%s%d", i == 0 ? "[" : ", ", index >= 0 ? index : other));
    }
    SN_TRY(sn_output_text(output, count == 0 ? "[]" : "]"));
cleanup:
    return status;
}

// ---- Parts of a mesh

static sn_status write_points(usda_writer *usda, int32_t place, int32_t count) {
    sn_status status = SN_OK;
    sn_output *output = &usda->output;
    SN_TRY(sn_output_text(output, "        point3f[] points.timeSamples = {\n"));
    for (int32_t f = 0; f < usda->job->frame_count; f++) {
        const float *position = usda->job->positions;
        float *extent = usda->extent + 6 * (size_t)f;
        SN_TRY(sn_export_read(usda->job, place, f));
        memcpy(extent, position, 3 * sizeof *extent);
        memcpy(extent + 3, position, 3 * sizeof *extent);
        SN_TRY(sn_output_format(output, "            %d: [", usda->job->frame[f]));
        for (size_t i = 0; i < (size_t)count; i++, position += 3) {
            for (int axis = 0; axis < 3; axis++) {
                extent[axis] = fminf(extent[axis], position[axis]);
                extent[3 + axis] = fmaxf(extent[3 + axis], position[axis]);
            }
            SN_TRY(sn_output_text(output, i > 0 ? ", " : ""));
            SN_TRY(write_tuple(output, 3, position));
        }
        SN_TRY(sn_output_text(output, "],\n"));
    }
    SN_TRY(sn_output_text(output, "        }\n"));
cleanup:
    return status;
}

static sn_status write_extents(usda_writer *usda) {
    sn_status status = SN_OK;
    sn_output *output = &usda->output;
    SN_TRY(sn_output_text(output, "        float3[] extent.timeSamples = {\n"));
    for (int32_t f = 0; f < usda->job->frame_count; f++) {
        const float *extent = usda->extent + 6 * (size_t)f;
        SN_TRY(sn_output_format(output, "            %d: [", usda->job->frame[f]));
        SN_TRY(write_tuple(output, 3, extent));
        SN_TRY(sn_output_text(output, ", "));
        SN_TRY(write_tuple(output, 3, extent + 3));
        SN_TRY(sn_output_text(output, "],\n"));
    }
    SN_TRY(sn_output_text(output, "        }\n"));
cleanup:
    return status;
}

/// Corners without a texture coordinate get a further one, (0, 0), at the end of the list.
static sn_status write_uvs(sn_output *output, const sn_results_body *body) {
    static const float origin[2] = {0, 0};
    sn_status status = SN_OK;
    const sn_surface_look *look = &body->look;
    if (!look->triangle_uv)
        return SN_OK;
    SN_TRY(sn_output_text(output, "        texCoord2f[] primvars:st = ["));
    for (size_t i = 0; i < (size_t)look->uv_count; i++) {
        const float uv[2] = {(float)look->uv[2 * i], (float)look->uv[2 * i + 1]};
        SN_TRY(write_tuple(output, 2, uv));
        SN_TRY(sn_output_text(output, ", "));
    }
    SN_TRY(write_tuple(output, 2, origin));
    SN_TRY(sn_output_text(output, "] (\n            interpolation = \"faceVarying\"\n        )\n"
                                  "        int[] primvars:st:indices = "));
    SN_TRY(write_indices(output, 3 * (size_t)body->triangle_count, look->triangle_uv, 0, look->uv_count));
    SN_TRY(sn_output_text(output, "\n"));
cleanup:
    return status;
}

static sn_status write_subset(usda_writer *usda, const sn_results_body *body, int32_t group) {
    sn_status status = SN_OK;
    sn_output *output = &usda->output;
    const char *between = "";
    SN_TRY(sn_output_format(output,
                            "\n        def GeomSubset \"%s\" (\n            customData = {\n"
                            "                string name = ",
                            add_prim_name(usda, body->look.group[group])));
    SN_TRY(write_string(output, body->look.group[group]));
    SN_TRY(sn_output_text(output, "\n            }\n        )\n        {\n"
                                  "            uniform token elementType = \"face\"\n"
                                  "            uniform token familyName = \"materialBind\"\n"
                                  "            int[] indices = ["));
    for (int32_t i = 0; i < body->triangle_count; i++)
        if (body->look.triangle_group[i] == group) {
            SN_TRY(sn_output_format(output, "%s%d", between, i));
            between = ", ";
        }
    SN_TRY(sn_output_text(output, "]\n        }\n"));
cleanup:
    return status;
}

static sn_status write_subsets(usda_writer *usda, const sn_results_body *body) {
    sn_status status = SN_OK;
    sn_context *ctx = usda->job->ctx;
    char(*siblings)[PRIM_NAME_SIZE] = usda->used, (*names)[PRIM_NAME_SIZE] = NULL;
    int32_t sibling_count = usda->used_count;
    if (!body->look.triangle_group)
        return SN_OK;
    SN_TRY_NEW(ctx, names, body->look.group_count);
    usda->used = names;
    usda->used_count = 0;
    for (int32_t g = 0; g < body->look.group_count && status == SN_OK; g++)
        status = write_subset(usda, body, g);
    usda->used = siblings;
    usda->used_count = sibling_count;
cleanup:
    SN_RELEASE(ctx, names);
    return status;
}

// ---- The whole

static sn_status write_topology(sn_output *output, const sn_results_body *body) {
    sn_status status = SN_OK;
    size_t triangles = (size_t)body->triangle_count;
    SN_TRY(sn_output_text(output, "        int[] faceVertexCounts = "));
    SN_TRY(write_indices(output, triangles, NULL, 3, 0));
    SN_TRY(sn_output_text(output, "\n        int[] faceVertexIndices = "));
    SN_TRY(write_indices(output, 3 * triangles, body->triangles, 0, 0));
    SN_TRY(sn_output_text(output, "\n"));
cleanup:
    return status;
}

static sn_status write_body(usda_writer *usda, int32_t place) {
    sn_status status = SN_OK;
    sn_output *output = &usda->output;
    const sn_results_body body = sn_export_body(usda->job, place);
    SN_TRY(sn_output_format(output,
                            "\n    def Mesh \"%s\" (\n        customData = {\n            string name = ",
                            add_prim_name(usda, body.name)));
    SN_TRY(write_string(output, body.name));
    SN_TRY(sn_output_text(output,
                          "\n        }\n    )\n    {\n        uniform token subdivisionScheme = \"none\"\n"
                          "        uniform token orientation = \"rightHanded\"\n"
                          "        uniform bool doubleSided = 1\n"));
    if (body.look.triangle_group)
        SN_TRY(sn_output_text(output, "        uniform token subsetFamily:materialBind:familyType = "
                                      "\"nonOverlapping\"\n"));
    SN_TRY(write_topology(output, &body));
    SN_TRY(write_uvs(output, &body));
    SN_TRY(write_points(usda, place, body.vertex_count));
    SN_TRY(write_extents(usda));
    SN_TRY(write_subsets(usda, &body));
    SN_TRY(sn_output_text(output, "    }\n"));
cleanup:
    return status;
}

static sn_status write_head(usda_writer *usda) {
    sn_status status = SN_OK;
    sn_output *output = &usda->output;
    const sn_export_job *job = usda->job;
    // Codes count the frames of the run, of which the job may have every other one only.
    double rate = sn_export_rate(job) * job->def->frame_step;
    SN_TRY(sn_output_format(output,
                            "#usda 1.0\n(\n    defaultPrim = \"bodies\"\n    doc = \"Sinew, lengths in m\"\n"
                            "    endTimeCode = %d\n    framesPerSecond = ",
                            job->frame[job->frame_count - 1]));
    SN_TRY(sn_output_number(output, rate));
    SN_TRY(sn_output_format(
        output, "\n    metersPerUnit = 1\n    startTimeCode = %d\n    timeCodesPerSecond = ", job->frame[0]));
    SN_TRY(sn_output_number(output, rate));
    SN_TRY(sn_output_format(output,
                            "\n    upAxis = \"%s\"\n)\n\ndef Xform \"bodies\" (\n    kind = \"group\"\n)\n{",
                            job->def->y_up ? "Y" : "Z"));
cleanup:
    return status;
}

static sn_status write_file(usda_writer *usda) {
    sn_status status = SN_OK;
    char name[SN_EXPORT_NAME_SIZE];
    SN_TRY(sn_output_open(usda->job->ctx, usda->job->directory, sn_export_name(usda->job, -1, ".usda", name),
                          SN_OUTPUT_WHOLE, &usda->output));
    SN_TRY(write_head(usda));
    for (int32_t i = 0; i < usda->job->body_count; i++)
        SN_TRY(write_body(usda, i));
    SN_TRY(sn_output_text(&usda->output, "}\n"));
    SN_TRY(sn_output_finish(&usda->output));
    usda->job->file_count++;
cleanup:
    sn_output_abandon(&usda->output);
    return status;
}

sn_status sn_usda_export(sn_export_job *job) {
    sn_status status = SN_OK;
    usda_writer usda = {.job = job};
    SN_TRY_NEW(job->ctx, usda.extent, 6 * (size_t)job->frame_count);
    SN_TRY_NEW(job->ctx, usda.used, job->body_count);
    SN_TRY(write_file(&usda));
cleanup:
    SN_RELEASE(job->ctx, usda.extent);
    SN_RELEASE(job->ctx, usda.used);
    return status;
}
