/// Medit .mesh, ascii: Vertices, Edges, Triangles, Tetrahedra. The reference of a cell is its group "ref<n>";
/// reference 0 means none. Other sections are skipped with a note.
#include "io/io_mesh_build.h"

#include <stdio.h>

enum { CELL_KINDS = 3 };

typedef struct medit_kind {
    const char *keyword;
    sn_cell_kind kind;
    int32_t size;
} medit_kind;

static const medit_kind cell_kinds[CELL_KINDS] = {
    {"Edges", SN_CELL_EDGE, 2}, {"Triangles", SN_CELL_TRIANGLE, 3}, {"Tetrahedra", SN_CELL_TET, 4}};

typedef struct medit_reader {
    sn_text *text;
    sn_mesh_data *data;
    sn_cell_list cells[CELL_KINDS];
    sn_name_table groups;
    int32_t last_reference, last_group; ///< Neighbors in the file mostly share their reference.
    int64_t skipped_sections;
    bool ended;
} medit_reader;

/// The next number, on this line or a later one.
static bool next_int(sn_text *text, int32_t *out_value) {
    sn_text_skip_space(text);
    return sn_text_int(text, out_value);
}

static bool next_real(sn_text *text, double *out_value) {
    sn_text_skip_space(text);
    return sn_text_real(text, out_value);
}

/// Reads the number of entries of a section, each of `numbers` numbers.
static sn_status read_count(sn_text *text, const char *what, size_t numbers, int32_t *out_count) {
    if (!next_int(text, out_count))
        return sn_text_expected(text, "the number of %s", what);
    return sn_text_check_count(text, *out_count, 2 * numbers, what);
}

static sn_status read_vertices(medit_reader *medit) {
    sn_status status = SN_OK;
    sn_text *text = medit->text;
    sn_mesh_data *data = medit->data;
    int32_t count = 0, reference = 0;
    if (data->position)
        return sn_text_fail(text, "found a second section Vertices, expected one");
    SN_TRY(read_count(text, "vertices", 4, &count));
    SN_TRY_NEW(text->ctx, data->position, (size_t)count * 3);
    for (int32_t i = 0; i < count; i++) {
        for (size_t axis = 0; axis < 3; axis++)
            if (!next_real(text, &data->position[(size_t)i * 3 + axis]))
                return sn_text_expected(text, "coordinate %d of vertex %d of %d", (int)axis + 1, i + 1,
                                        count);
        if (!next_int(text, &reference))
            return sn_text_expected(text, "the reference (a whole number) of vertex %d of %d", i + 1, count);
    }
    data->vertex_count = count;
cleanup:
    return status;
}

static sn_status find_group(medit_reader *medit, int32_t reference, int32_t *out_group) {
    if (reference != medit->last_reference) {
        char name[16];
        int size = snprintf(name, sizeof name, "ref%d", reference);
        medit->last_group = -1;
        if (reference != 0) {
            sn_status status = sn_name_table_add(medit->text->ctx, &medit->groups,
                                                 (sn_word){name, (size_t)size}, &medit->last_group);
            if (status < 0)
                return status;
        }
        medit->last_reference = reference;
    }
    *out_group = medit->last_group;
    return SN_OK;
}

static sn_status read_cell(medit_reader *medit, const medit_kind *kind, sn_cell_list *list, int32_t number) {
    sn_status status = SN_OK;
    sn_text *text = medit->text;
    int32_t reference = 0, group = -1;
    for (int32_t corner = 0; corner < kind->size; corner++) {
        int32_t vertex = 0;
        if (!next_int(text, &vertex))
            return sn_text_expected(text, "vertex %d of entry %d of %s", corner + 1, number, kind->keyword);
        if (vertex < 1 || vertex > medit->data->vertex_count)
            return sn_text_fail(text, "found vertex %d in entry %d of %s, expected 1 to %d", vertex, number,
                                kind->keyword, medit->data->vertex_count);
        SN_TRY(sn_cell_list_corner(text->ctx, list, vertex - 1, -1));
    }
    if (!next_int(text, &reference))
        return sn_text_expected(text, "the reference (a whole number) of entry %d of %s", number,
                                kind->keyword);
    SN_TRY(find_group(medit, reference, &group));
    SN_TRY(sn_cell_list_close(text->ctx, list, group));
cleanup:
    return status;
}

static sn_status read_cells(medit_reader *medit, int32_t which) {
    sn_status status = SN_OK;
    const medit_kind *kind = &cell_kinds[which];
    int32_t count = 0;
    SN_TRY(read_count(medit->text, kind->keyword, (size_t)kind->size + 1, &count));
    if (count > 0 && !medit->data->position)
        return sn_text_fail(medit->text,
                            "found the section %s, expected Vertices before it; reorder the sections",
                            kind->keyword);
    for (int32_t i = 1; i <= count; i++)
        SN_TRY(read_cell(medit, kind, &medit->cells[which], i));
cleanup:
    return status;
}

/// Skips a section that we do not keep: everything up to the next word that starts with a letter.
static sn_status skip_section(medit_reader *medit, sn_word keyword, int64_t line) {
    sn_text *text = medit->text;
    int32_t count = 0;
    if (!next_int(text, &count))
        count = 0;
    double ignored;
    while (next_real(text, &ignored))
        continue;
    medit->data->skipped += count > 0 && count <= INT32_MAX - medit->data->skipped ? count : 0;
    if (medit->skipped_sections++ >= SN_SKIP_KINDS)
        return SN_OK;
    return sn_mesh_data_add_note(medit->data, "skipped the section %.*s in line %lld with %d entries",
                                 (int)(keyword.size < 64 ? keyword.size : 64), keyword.at, (long long)line,
                                 count);
}

static sn_status read_dimension(sn_text *text) {
    int32_t dimension = 0;
    if (!next_int(text, &dimension))
        return sn_text_expected(text, "the dimension 3");
    if (dimension != 3)
        return sn_text_fail(text, "found dimension %d, expected 3; give the vertices a third coordinate",
                            dimension);
    return SN_OK;
}

static sn_status read_version(sn_text *text) {
    int32_t version = 0;
    if (!next_int(text, &version) || version < 1 || version > 4)
        return sn_text_expected(text, "a version from 1 to 4 behind MeshVersionFormatted");
    return SN_OK;
}

static bool is_keyword(sn_word word) {
    return word.size > 0 &&
           ((word.at[0] >= 'a' && word.at[0] <= 'z') || (word.at[0] >= 'A' && word.at[0] <= 'Z'));
}

static sn_status read_section(medit_reader *medit) {
    sn_text *text = medit->text;
    int64_t line = text->line;
    sn_word keyword = sn_text_word(text);
    if (sn_word_is_alike(keyword, "MeshVersionFormatted"))
        return read_version(text);
    if (sn_word_is_alike(keyword, "Dimension"))
        return read_dimension(text);
    if (sn_word_is_alike(keyword, "Vertices"))
        return read_vertices(medit);
    for (int32_t i = 0; i < CELL_KINDS; i++)
        if (sn_word_is_alike(keyword, cell_kinds[i].keyword))
            return read_cells(medit, i);
    if (sn_word_is_alike(keyword, "End")) {
        medit->ended = true;
        return SN_OK;
    }
    if (is_keyword(keyword))
        return skip_section(medit, keyword, line);
    text->at = keyword.at;
    return sn_text_expected(
        text, "a section such as Vertices, Triangles, Tetrahedra or End; does the section before "
              "it hold more entries than it says?");
}

sn_status sn_medit_read(sn_text *text, sn_mesh_data *data) {
    sn_status status = SN_OK;
    medit_reader medit = {.text = text, .data = data, .last_group = -1};
    for (int i = 0; i < CELL_KINDS; i++)
        medit.cells[i].kind = cell_kinds[i].kind;
    text->comment = '#';
    while (!medit.ended && sn_text_skip_space(text))
        SN_TRY(read_section(&medit));
    if (data->vertex_count == 0) {
        status =
            sn_fail(text->ctx, SN_ERR_READ, "%s: found no vertices, expected a section Vertices", text->path);
        goto cleanup;
    }
    SN_TRY(sn_mesh_data_note_sections(data, medit.skipped_sections));
    if (!medit.ended)
        SN_TRY(sn_mesh_data_add_note(data, "the keyword End is missing: the file may have been cut short"));
    SN_TRY(sn_mesh_data_take_cells(data, CELL_KINDS, medit.cells));
    sn_mesh_data_take_groups(data, &medit.groups);
cleanup:
    for (int i = 0; i < CELL_KINDS; i++)
        sn_cell_list_release(text->ctx, &medit.cells[i]);
    sn_name_table_release(text->ctx, &medit.groups);
    return status;
}

typedef struct medit_writer {
    sn_text_out *out;
    const int32_t *numbers; ///< Of the groups.
} medit_writer;

static void write_cell(void *user, const int32_t *vertex, int32_t size, int32_t group) {
    medit_writer *medit = user;
    for (int32_t i = 0; i < size; i++)
        sn_text_out_print(medit->out, "%d ", vertex[i] + 1);
    sn_text_out_print(medit->out, "%d\n", group >= 0 ? medit->numbers[group] : 0);
}

static void write_group_names(sn_text_out *out, const sn_mesh_data *data, const int32_t *numbers) {
    int32_t number = 0;
    for (int32_t i = 0; i < data->group_count; i++)
        if (!sn_group_name_number(data->group[i], "ref", &number)) {
            sn_text_out_print(out, "# reference %d: ", numbers[i]);
            sn_text_out_name(out, data->group[i], "");
            sn_text_out_print(out, "\n");
        }
}

sn_status sn_medit_write(sn_text_out *out, const sn_mesh_data *data) {
    sn_status status = SN_OK;
    int32_t *numbers = NULL;
    SN_TRY(sn_group_numbers(data, "ref", &numbers));
    sn_text_out_print(out, "MeshVersionFormatted 2\n");
    write_group_names(out, data, numbers);
    sn_text_out_print(out, "Dimension 3\nVertices\n%d\n", data->vertex_count);
    for (int32_t i = 0; i < data->vertex_count; i++) {
        for (size_t axis = 0; axis < 3; axis++)
            sn_text_out_real(out, data->position[(size_t)i * 3 + axis]);
        sn_text_out_print(out, " 0\n");
    }
    medit_writer medit = {out, numbers};
    for (int i = 0; i < CELL_KINDS; i++) {
        int64_t count = sn_mesh_data_each_simplex(data, cell_kinds[i].size, NULL, NULL);
        if (count == 0)
            continue;
        sn_text_out_print(out, "%s\n%lld\n", cell_kinds[i].keyword, (long long)count);
        sn_mesh_data_each_simplex(data, cell_kinds[i].size, write_cell, &medit);
    }
    sn_text_out_print(out, "End\n");
cleanup:
    SN_RELEASE(data->context, numbers);
    return status;
}
