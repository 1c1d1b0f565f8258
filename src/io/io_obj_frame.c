#include "io/io_obj_frame.h"

#include "io/io_recorder_file.h"

/// "o <name>": a name on one line.
static sn_status write_name(sn_output *output, const char *keyword, const char *name) {
    sn_status status = SN_OK;
    SN_TRY(sn_output_text(output, keyword));
    if (*name)
        SN_TRY(sn_output_text(output, " "));
    for (; *name; name++)
        SN_TRY(sn_output_write(output, (unsigned char)*name < ' ' ? "_" : name, 1));
    SN_TRY(sn_output_text(output, "\n"));
cleanup:
    return status;
}

/// A line of `width` numbers for each of `count` items.
static sn_status write_numbers(sn_output *output, const char *keyword, int32_t count, size_t width,
                               const double *values) {
    sn_status status = SN_OK;
    for (size_t i = 0; i < (size_t)count; i++) {
        SN_TRY(sn_output_text(output, keyword));
        for (size_t axis = 0; axis < width; axis++) {
            SN_TRY(sn_output_text(output, " "));
            SN_TRY(sn_output_number(output, values[width * i + axis]));
        }
        SN_TRY(sn_output_text(output, "\n"));
    }
cleanup:
    return status;
}

static sn_status write_triangle(sn_output *output, const int32_t vertex[3], const int32_t uv[3]) {
    sn_status status = SN_OK;
    SN_TRY(sn_output_text(output, "f"));
    for (int c = 0; c < 3; c++)
        if (uv && uv[c] >= 0)
            SN_TRY(sn_output_format(output, " %d/%d", vertex[c] + 1, uv[c] + 1));
        else
            SN_TRY(sn_output_format(output, " %d", vertex[c] + 1));
    SN_TRY(sn_output_text(output, "\n"));
cleanup:
    return status;
}

/// Triangles in their order, with a line where the group changes. The first line is always there: without it
/// the body's name would be that of the group.
static sn_status write_triangles(sn_output *output, const sn_results_body *body) {
    sn_status status = SN_OK;
    const sn_surface_look *look = &body->look;
    int32_t current = -2;
    for (size_t i = 0; i < (size_t)body->triangle_count; i++) {
        int32_t group = look->triangle_group ? look->triangle_group[i] : -1;
        if (group != current)
            SN_TRY(write_name(output, "g", group >= 0 ? look->group[group] : ""));
        current = group;
        SN_TRY(write_triangle(output, body->triangles + 3 * i,
                              look->triangle_uv ? look->triangle_uv + 3 * i : NULL));
    }
cleanup:
    return status;
}

sn_status sn_obj_frame_write(sn_context *ctx, const char *directory, const char *name,
                             const sn_results_body *body, const sn_obj_frame *frame) {
    sn_status status = SN_OK;
    sn_output output = {0};
    SN_TRY(sn_output_open(ctx, directory, name, SN_OUTPUT_WHOLE, &output));
    SN_TRY(sn_output_format(&output, "# Sinew, frame %d, time ", frame->index));
    SN_TRY(sn_output_number(&output, frame->time));
    SN_TRY(sn_output_text(&output, " s, lengths in m\n"));
    SN_TRY(write_name(&output, "o", body->name));
    SN_TRY(write_numbers(&output, "v", body->vertex_count, 3, frame->position));
    SN_TRY(write_numbers(&output, "vt", body->look.uv_count, 2, body->look.uv));
    SN_TRY(write_triangles(&output, body));
    SN_TRY(sn_output_finish(&output));
cleanup:
    sn_output_abandon(&output);
    return status;
}
