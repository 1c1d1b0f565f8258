/// A mesh that grows while it is read.
#include "io/io_mesh_build.h"

#include <stdio.h>
#include <string.h>

enum { NOTE_LINE = 512 };

sn_mesh_builder sn_mesh_builder_make(sn_text *text, sn_mesh_data *data) {
    return (sn_mesh_builder){.text = text,
                             .ctx = text->ctx,
                             .data = data,
                             .edges = {.kind = SN_CELL_EDGE},
                             .faces = {.kind = SN_CELL_POLYGON},
                             .tets = {.kind = SN_CELL_TET},
                             .last_group = -1};
}

sn_status sn_mesh_builder_vertex(sn_mesh_builder *builder, double **out_position) {
    sn_status status = SN_OK;
    sn_mesh_data *data = builder->data;
    if (data->vertex_count == INT32_MAX)
        return sn_text_fail(builder->text, "the mesh has more than %d vertices; split it", INT32_MAX);
    SN_TRY(sn_grow(builder->ctx, (void **)&data->position, &builder->vertex_capacity,
                   (size_t)data->vertex_count + 1, 3 * sizeof *data->position));
    double *position = data->position + 3 * (size_t)data->vertex_count++;
    position[0] = position[1] = position[2] = 0;
    *out_position = position;
cleanup:
    return status;
}

sn_status sn_mesh_builder_uv(sn_mesh_builder *builder, double u, double v) {
    sn_status status = SN_OK;
    sn_mesh_data *data = builder->data;
    if (data->uv_count == INT32_MAX)
        return sn_text_fail(builder->text, "the mesh has more than %d texture coordinates; split it",
                            INT32_MAX);
    SN_TRY(sn_grow(builder->ctx, (void **)&data->uv, &builder->uv_capacity, (size_t)data->uv_count + 1,
                   2 * sizeof *data->uv));
    data->uv[2 * (size_t)data->uv_count] = u;
    data->uv[2 * (size_t)data->uv_count++ + 1] = v;
cleanup:
    return status;
}

sn_status sn_mesh_builder_cell(sn_mesh_builder *builder, sn_cell_list *list, int32_t size,
                               const int32_t *vertex, int32_t group) {
    sn_status status = SN_OK;
    for (int32_t i = 0; i < size; i++)
        SN_TRY(sn_cell_list_corner(builder->ctx, list, vertex[i], -1));
    SN_TRY(sn_cell_list_close(builder->ctx, list, group));
cleanup:
    return status;
}

sn_status sn_mesh_builder_numbered_group(sn_mesh_builder *builder, const char *prefix, int32_t number,
                                         int32_t *out_group) {
    if (number != builder->last_number) {
        char name[32];
        int32_t group = -1;
        int size = snprintf(name, sizeof name, "%.15s%d", prefix, number);
        if (number != 0) {
            sn_status status =
                sn_name_table_add(builder->ctx, &builder->groups, (sn_word){name, (size_t)size}, &group);
            if (status < 0)
                return status;
        }
        builder->last_number = number;
        builder->last_group = group;
    }
    *out_group = builder->last_group;
    return SN_OK;
}

void sn_mesh_builder_skip(sn_mesh_builder *builder, const char *kind) {
    sn_skips_add(&builder->skips, (sn_word){kind, strlen(kind)},
                 builder->text->binary || builder->skips_without_line ? -1 : builder->text->line);
}

sn_status sn_mesh_builder_note(sn_mesh_builder *builder, const char *format, ...) {
    // A line for each oddity would make the note of a bad file grow without bound.
    if (builder->notes++ >= SN_SKIP_KINDS)
        return SN_OK;
    char line[NOTE_LINE];
    va_list arguments;
    va_start(arguments, format);
    sn_write_line(line, sizeof line, format, arguments);
    va_end(arguments);
    return sn_mesh_data_add_note(builder->data, "%s", line);
}

sn_status sn_mesh_builder_finish(sn_mesh_builder *builder, const char *what) {
    sn_status status = SN_OK;
    sn_mesh_data *data = builder->data;
    if (data->vertex_count == 0)
        return sn_fail(builder->ctx, SN_ERR_READ, "%s: found no vertices, expected a mesh; write it again",
                       builder->text->path);
    sn_cell_list *lists[] = {&builder->edges, &builder->faces, &builder->tets};
    sn_cell_list moved[3];
    for (int i = 0; i < 3; i++) {
        moved[i] = *lists[i];
        *lists[i] = (sn_cell_list){.kind = moved[i].kind};
    }
    status = sn_mesh_data_take_cells(data, 3, moved);
    for (int i = 0; i < 3; i++)
        sn_cell_list_release(builder->ctx, &moved[i]);
    if (status < 0)
        return status;
    sn_mesh_data_take_groups(data, &builder->groups);
    if (builder->notes > SN_SKIP_KINDS)
        SN_TRY(
            sn_mesh_data_add_note(data, "and %lld more notes", (long long)(builder->notes - SN_SKIP_KINDS)));
    SN_TRY(sn_mesh_data_note_skips(data, &builder->skips, what));
    if (builder->second_order > 0)
        SN_TRY(
            sn_mesh_data_add_note(data,
                                  "took the corners of %d cells of second order; the nodes amid their edges "
                                  "stay as vertices of no cell",
                                  builder->second_order));
cleanup:
    return status;
}

void sn_mesh_builder_release(sn_mesh_builder *builder) {
    sn_cell_list_release(builder->ctx, &builder->edges);
    sn_cell_list_release(builder->ctx, &builder->faces);
    sn_cell_list_release(builder->ctx, &builder->tets);
    sn_name_table_release(builder->ctx, &builder->groups);
}
