/// Wavefront OBJ: v, vt, f, l, and g, o, usemtl as groups. Normals, materials' files and smoothing groups
/// carry nothing that a simulation needs and are passed over in silence; free-form curves and points are
/// skipped with a note.
#include "io/io_mesh_build.h"

typedef struct obj_reader {
    sn_text *text;
    sn_mesh_data *data;
    int32_t vertex_total, uv_total; ///< In the whole file: cells may name vertices that come later.
    int32_t vertex_seen, uv_seen;   ///< So far: what negative indices count back from.
    sn_cell_list cells[2];          ///< Edges, polygons.
    sn_name_table groups;
    sn_word group_name; ///< Of the last g, o or usemtl; size 0: none.
    int32_t group;      ///< Its index; -1: not yet in the table, or none.
    sn_skips skips;
    int32_t thin_faces;
} obj_reader;

enum { EDGES = 0, POLYGONS = 1 };

static bool names_group(sn_word word) {
    return sn_word_is(word, "g") || sn_word_is(word, "o") || sn_word_is(word, "usemtl");
}

/// Goes through the file by the same lines as the reading does: a backslash that ends a name joins no lines.
static sn_status count_vertices(obj_reader *obj) {
    int64_t vertices = 0, uvs = 0;
    while (sn_text_skip_space(obj->text)) {
        sn_word word = sn_text_word(obj->text);
        vertices += sn_word_is(word, "v");
        uvs += sn_word_is(word, "vt");
        if (names_group(word))
            sn_text_rest(obj->text);
        sn_text_next_line(obj->text);
    }
    sn_text_rewind(obj->text);
    if (vertices == 0 || vertices > INT32_MAX || uvs > INT32_MAX)
        return sn_fail(
            obj->text->ctx, SN_ERR_READ,
            "%s: found %lld vertices, expected lines such as \"v 0 0.5 1\", 1 to %d of them; is it an OBJ "
            "file?",
            obj->text->path, (long long)vertices, INT32_MAX);
    obj->vertex_total = (int32_t)vertices;
    obj->uv_total = (int32_t)uvs;
    return SN_OK;
}

/// Refuses words behind the numbers that are read; further numbers (weight, color) may follow.
static sn_status read_extra_numbers(sn_text *text) {
    double ignored;
    while (sn_text_real(text, &ignored))
        continue;
    return sn_text_at_line_end(text) ? SN_OK : sn_text_expected(text, "a number or the end of the line");
}

static sn_status read_vertex(obj_reader *obj) {
    SN_ASSERT(obj->vertex_seen < obj->vertex_total);
    double *position = obj->data->position + (size_t)obj->vertex_seen * 3;
    for (int axis = 0; axis < 3; axis++)
        if (!sn_text_real(obj->text, &position[axis]))
            return sn_text_expected(obj->text, "three numbers behind v");
    obj->vertex_seen++;
    return read_extra_numbers(obj->text);
}

static sn_status read_uv(obj_reader *obj) {
    SN_ASSERT(obj->uv_seen < obj->uv_total);
    double *uv = obj->data->uv + (size_t)obj->uv_seen * 2;
    uv[1] = 0;
    if (!sn_text_real(obj->text, &uv[0]))
        return sn_text_expected(obj->text, "one to three numbers behind vt");
    sn_text_real(obj->text, &uv[1]);
    obj->uv_seen++;
    return read_extra_numbers(obj->text);
}

/// Turns an index of the file (from 1, or back from the last one) into ours.
static sn_status resolve_index(obj_reader *obj, const char *what, int32_t total, int32_t seen,
                               int32_t *index) {
    if (*index > 0 && *index <= total)
        *index -= 1;
    else if (*index < 0 && *index >= -seen)
        *index += seen;
    else
        return sn_text_fail(
            obj->text,
            "found index %d of a %s, expected 1 to %d, or %d to -1 to count back; the file was cut "
            "short or is damaged",
            *index, what, total, -seen);
    return SN_OK;
}

/// Reads one of 3, 3/1, 3//2, 3/1/2.
static sn_status read_corner(obj_reader *obj, sn_cell_list *cells) {
    sn_status status = SN_OK;
    sn_text *text = obj->text;
    const char *begin = text->at;
    int32_t vertex = 0, uv = 0, normal = 0;
    bool has_uv = false, good = sn_text_digits(text, &vertex);
    if (good && *text->at == '/') {
        text->at++;
        has_uv = sn_text_digits(text, &uv);
        if (*text->at == '/') {
            text->at++;
            good = sn_text_digits(text, &normal) || has_uv;
        }
    }
    if (!good || !sn_text_at_word_end(text)) {
        text->at = begin;
        return sn_text_expected(text, "a corner such as 3, 3/1, 3//2 or 3/1/2");
    }
    SN_TRY(resolve_index(obj, "vertex", obj->vertex_total, obj->vertex_seen, &vertex));
    if (has_uv)
        SN_TRY(resolve_index(obj, "texture coordinate (vt)", obj->uv_total, obj->uv_seen, &uv));
    SN_TRY(sn_cell_list_corner(text->ctx, cells, vertex, has_uv ? uv : -1));
cleanup:
    return status;
}

static sn_status current_group(obj_reader *obj) {
    if (obj->group >= 0 || obj->group_name.size == 0)
        return SN_OK;
    return sn_name_table_add(obj->text->ctx, &obj->groups, obj->group_name, &obj->group);
}

static sn_status read_face(obj_reader *obj) {
    sn_status status = SN_OK;
    sn_cell_list *cells = &obj->cells[POLYGONS];
    while (!sn_text_at_line_end(obj->text))
        SN_TRY(read_corner(obj, cells));
    if (sn_cell_list_open_size(cells) < 3) {
        sn_cell_list_drop_open(cells);
        obj->thin_faces++;
        return SN_OK;
    }
    SN_TRY(current_group(obj));
    SN_TRY(sn_cell_list_close(obj->text->ctx, cells, obj->group));
cleanup:
    return status;
}

/// A polyline: each vertex but the first ends an edge.
static sn_status read_line(obj_reader *obj) {
    sn_status status = SN_OK;
    sn_cell_list *cells = &obj->cells[EDGES];
    SN_TRY(current_group(obj));
    for (int32_t count = 0; !sn_text_at_line_end(obj->text); count++) {
        SN_TRY(read_corner(obj, cells));
        if (count == 0)
            continue;
        int32_t vertex = cells->vertex[cells->corner_count - 1];
        int32_t uv = cells->has_uv ? cells->uv[cells->corner_count - 1] : -1;
        SN_TRY(sn_cell_list_close(obj->text->ctx, cells, obj->group));
        if (!sn_text_at_line_end(obj->text))
            SN_TRY(sn_cell_list_corner(obj->text->ctx, cells, vertex, uv));
    }
    sn_cell_list_drop_open(cells);
cleanup:
    return status;
}

/// The last of g, o and usemtl names the group of the cells that follow: exporters write them from the coarse
/// to the fine.
static sn_status read_group(obj_reader *obj) {
    obj->group_name = sn_text_rest(obj->text);
    obj->group = -1;
    return SN_OK;
}

static bool is_letters(sn_word word) {
    for (size_t i = 0; i < word.size; i++) {
        char c = word.at[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c == '_' && i > 0)))
            return false;
    }
    return word.size > 0;
}

static sn_status read_other(obj_reader *obj, sn_word word) {
    if (sn_word_is(word, "vn") || sn_word_is(word, "s") || sn_word_is(word, "mtllib"))
        return SN_OK;
    if (!is_letters(word)) {
        obj->text->at = word.at;
        return sn_text_expected(obj->text,
                                "v, vt, vn, f, l, g, o, usemtl or another statement of an OBJ file");
    }
    sn_skips_add(&obj->skips, word, obj->text->line);
    return SN_OK;
}

static sn_status read_statement(obj_reader *obj) {
    sn_word word = sn_text_word(obj->text);
    if (sn_word_is(word, "v"))
        return read_vertex(obj);
    if (sn_word_is(word, "f"))
        return read_face(obj);
    if (sn_word_is(word, "vt"))
        return read_uv(obj);
    if (sn_word_is(word, "l"))
        return read_line(obj);
    if (names_group(word))
        return read_group(obj);
    return read_other(obj, word);
}

static sn_status finish(obj_reader *obj) {
    sn_status status = SN_OK;
    sn_mesh_data *data = obj->data;
    SN_ASSERT(obj->vertex_seen == obj->vertex_total && obj->uv_seen == obj->uv_total);
    data->vertex_count = obj->vertex_seen;
    data->uv_count = obj->uv_seen;
    SN_TRY(sn_mesh_data_take_cells(data, 2, obj->cells));
    sn_mesh_data_take_groups(data, &obj->groups);
    SN_TRY(sn_mesh_data_note_skips(data, &obj->skips, "statements"));
    if (obj->thin_faces > 0)
        SN_TRY(
            sn_mesh_data_add_note(data, "skipped %d faces (f) of fewer than three corners", obj->thin_faces));
    data->skipped += obj->thin_faces;
cleanup:
    return status;
}

sn_status sn_obj_read(sn_text *text, sn_mesh_data *data) {
    sn_status status = SN_OK;
    obj_reader obj = {.text = text,
                      .data = data,
                      .cells = {{.kind = SN_CELL_EDGE}, {.kind = SN_CELL_POLYGON}},
                      .group = -1};
    text->comment = '#';
    text->continues = true;
    SN_TRY(count_vertices(&obj));
    SN_TRY_NEW(text->ctx, data->position, (size_t)obj.vertex_total * 3);
    if (obj.uv_total > 0)
        SN_TRY_NEW(text->ctx, data->uv, (size_t)obj.uv_total * 2);
    while (sn_text_skip_space(text)) {
        SN_TRY(read_statement(&obj));
        sn_text_next_line(text);
    }
    SN_TRY(finish(&obj));
cleanup:
    for (int i = 0; i < 2; i++)
        sn_cell_list_release(text->ctx, &obj.cells[i]);
    sn_name_table_release(text->ctx, &obj.groups);
    return status;
}

/// Writes "g name" where the group changes.
static void write_group(sn_text_out *out, const sn_mesh_data *data, int32_t group, int32_t *current) {
    if (group == *current)
        return;
    sn_text_out_print(out, "g ");
    sn_text_out_name(out, group >= 0 ? data->group[group] : "", "");
    sn_text_out_print(out, "\n");
    *current = group;
}

static void write_block(sn_text_out *out, const sn_mesh_data *data, const sn_cell_block *block,
                        int32_t *group) {
    int32_t width = block->kind == SN_CELL_EDGE ? 2 : 3;
    for (int32_t i = 0; i < block->count; i++) {
        size_t begin = block->offset ? (size_t)block->offset[i] : (size_t)i * (size_t)width;
        size_t end = block->offset ? (size_t)block->offset[i + 1] : begin + (size_t)width;
        write_group(out, data, block->group ? block->group[i] : -1, group);
        sn_text_out_print(out, block->kind == SN_CELL_EDGE ? "l" : "f");
        for (size_t c = begin; c < end; c++)
            if (block->uv && block->uv[c] >= 0)
                sn_text_out_print(out, " %d/%d", block->vertex[c] + 1, block->uv[c] + 1);
            else
                sn_text_out_print(out, " %d", block->vertex[c] + 1);
        sn_text_out_print(out, "\n");
    }
}

sn_status sn_obj_write(sn_text_out *out, const sn_mesh_data *data) {
    if (sn_mesh_data_each_simplex(data, 4, NULL, NULL) > 0)
        return sn_fail(
            data->context, SN_ERR_INVALID_ARGUMENT,
            "%s: an OBJ file cannot hold tetrahedra; write .mesh or .msh, or write the surface only",
            out->path);
    for (int32_t i = 0; i < data->vertex_count; i++) {
        sn_text_out_print(out, "v");
        for (int axis = 0; axis < 3; axis++)
            sn_text_out_real(out, data->position[(size_t)i * 3 + (size_t)axis]);
        sn_text_out_print(out, "\n");
    }
    for (int32_t i = 0; i < data->uv_count; i++) {
        sn_text_out_print(out, "vt");
        sn_text_out_real(out, data->uv[(size_t)i * 2]);
        sn_text_out_real(out, data->uv[(size_t)i * 2 + 1]);
        sn_text_out_print(out, "\n");
    }
    int32_t group = -1;
    for (int32_t b = 0; b < data->block_count; b++)
        write_block(out, data, &data->block[b], &group);
    return SN_OK;
}
