#include "io/io_obj_frame.h"

#include "io/io_recorder_file.h"

/// "o <name>": the name of the object, on one line.
static sn_status write_name(sn_output *output, const char *name) {
    sn_status status = SN_OK;
    SN_TRY(sn_output_text(output, "o "));
    for (; *name; name++)
        SN_TRY(sn_output_write(output, (unsigned char)*name < ' ' ? "_" : name, 1));
    SN_TRY(sn_output_text(output, "\n"));
cleanup:
    return status;
}

static sn_status write_vertices(sn_output *output, int32_t count, const double *position) {
    sn_status status = SN_OK;
    for (size_t i = 0; i < (size_t)count; i++) {
        SN_TRY(sn_output_text(output, "v"));
        for (size_t axis = 0; axis < 3; axis++) {
            SN_TRY(sn_output_text(output, " "));
            SN_TRY(sn_output_number(output, position[3 * i + axis]));
        }
        SN_TRY(sn_output_text(output, "\n"));
    }
cleanup:
    return status;
}

sn_status sn_obj_frame_write(sn_context *ctx, const char *directory, const char *name,
                             const sn_frame_view *frame, int32_t body_index) {
    sn_status status = SN_OK;
    sn_output output = {0};
    double *position = NULL;
    sn_body_info body = sn_model_body(sn_state_model(frame->state), body_index);
    SN_TRY_NEW(ctx, position, 3 * (size_t)body.surface_vertex_count);
    sn_state_surface_positions(frame->state, body_index, position);
    SN_TRY(sn_output_open(ctx, directory, name, SN_OUTPUT_WHOLE, &output));
    SN_TRY(sn_output_format(&output, "# Sinew, frame %d, time ", frame->index));
    SN_TRY(sn_output_number(&output, sn_state_time(frame->state)));
    SN_TRY(sn_output_text(&output, " s, lengths in m\n"));
    SN_TRY(write_name(&output, body.name));
    SN_TRY(write_vertices(&output, body.surface_vertex_count, position));
    for (const int32_t *t = body.surface_triangles, *end = t + 3 * (size_t)body.surface_triangle_count;
         t < end; t += 3)
        SN_TRY(sn_output_format(&output, "f %d %d %d\n", t[0] + 1, t[1] + 1, t[2] + 1));
    SN_TRY(sn_output_finish(&output));
cleanup:
    sn_output_abandon(&output);
    SN_RELEASE(ctx, position);
    return status;
}
