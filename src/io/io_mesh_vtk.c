/// VTK legacy files, versions 1 to 5, ascii and binary (which is big endian): UNSTRUCTURED_GRID and POLYDATA.
/// Cells are listed as their number of points and the points up to version 4, as offsets and connectivity
/// from 5 on. Of the data, a cell array such as "group" or "MaterialIds" tells the groups; the rest is
/// skipped with a note.
#include "io/io_mesh_build.h"

#include <string.h>

/// Types of numbers; bits are packed in binary files.
typedef struct vtk_type {
    sn_number_type number;
    bool bit;
} vtk_type;

typedef struct vtk_reader {
    sn_mesh_builder mesh;
    sn_text *text;
    bool binary, polydata, has_points, has_cells;
    double version;
    sn_vtk_cells cells;
    bool of_cells;      ///< Data that come are those of cells.
    int64_t data_count; ///< Entries of the arrays that come.
} vtk_reader;

// ---- Numbers

static bool find_type(sn_word word, vtk_type *out_type) {
    static const struct {
        const char *name;
        sn_number_type number;
    } types[] = {{"bit", SN_NUMBER_U8},           {"char", SN_NUMBER_I8},
                 {"signed_char", SN_NUMBER_I8},   {"unsigned_char", SN_NUMBER_U8},
                 {"short", SN_NUMBER_I16},        {"unsigned_short", SN_NUMBER_U16},
                 {"int", SN_NUMBER_I32},          {"unsigned_int", SN_NUMBER_U32},
                 {"long", SN_NUMBER_I64},         {"unsigned_long", SN_NUMBER_U64},
                 {"vtktypeint64", SN_NUMBER_I64}, {"vtktypeuint64", SN_NUMBER_U64},
                 {"vtkIdType", SN_NUMBER_I32},    {"float", SN_NUMBER_F32},
                 {"double", SN_NUMBER_F64}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (sn_word_is_alike(word, types[i].name)) {
            *out_type = (vtk_type){types[i].number, i == 0};
            return true;
        }
    return false;
}

static sn_status take_type(sn_text *text, vtk_type *out_type) {
    sn_word word = sn_text_word(text);
    if (find_type(word, out_type))
        return SN_OK;
    text->at = word.at;
    return sn_text_expected(text, "a type such as float, double or int");
}

/// Takes a whole number of a header line.
static sn_status take_count(sn_text *text, const char *what, int64_t *out_count) {
    double value = 0;
    const char *begin = text->at;
    if (sn_text_real(text, &value) && value >= 0 && value <= 9e15 && value == (double)(int64_t)value) {
        *out_count = (int64_t)value;
        return SN_OK;
    }
    text->at = begin;
    return sn_text_expected(text, "the number of %s", what);
}

static sn_status next_value(vtk_reader *vtk, vtk_type type, const char *what, double *out_value) {
    sn_text *text = vtk->text;
    if (!vtk->binary) {
        sn_text_skip_space(text);
        return sn_text_real(text, out_value) ? SN_OK : sn_text_expected(text, "%s", what);
    }
    const char *at = sn_text_bytes(text, sn_number_size(type.number));
    if (!at)
        return sn_text_fail(
            text, "found the end of the file, expected %s; the file was cut short: write it again", what);
    *out_value = sn_number_real(at, type.number, true);
    return SN_OK;
}

/// Refuses more values than the rest of the file can hold; the line of the header is behind us.
static sn_status check_room(vtk_reader *vtk, vtk_type type, int64_t count, const char *what) {
    if (vtk->binary && type.bit)
        return sn_text_check_count(vtk->text, count / 8, 1, what);
    return sn_text_check_count(vtk->text, count, vtk->binary ? sn_number_size(type.number) : 2, what);
}

/// Takes values into a list, or, with NULL, passes over them.
static sn_status take_values(vtk_reader *vtk, vtk_type type, int64_t count, const char *what,
                             sn_real_list *list) {
    sn_status status = SN_OK;
    SN_TRY(check_room(vtk, type, count, what));
    if (vtk->binary && type.bit) {
        count = (count + 7) / 8;
        list = NULL;
    }
    for (int64_t i = 0; i < count; i++) {
        double value = 0;
        SN_TRY(next_value(vtk, type, what, &value));
        if (list)
            SN_TRY(sn_real_list_add(vtk->text->ctx, list, value));
    }
cleanup:
    return status;
}

// ---- Points and cells

static sn_status read_points(vtk_reader *vtk) {
    sn_status status = SN_OK;
    sn_text *text = vtk->text;
    int64_t count = 0;
    vtk_type type = {SN_NUMBER_U8, false};
    if (vtk->has_points)
        return sn_text_fail(text, "found a second section POINTS, expected one");
    vtk->has_points = true;
    SN_TRY(take_count(text, "points", &count));
    SN_TRY(take_type(text, &type));
    sn_text_next_line(text);
    SN_TRY(check_room(vtk, type, count <= INT32_MAX ? 3 * count : count, "coordinates"));
    for (int64_t i = 0; i < count; i++) {
        double *position = NULL;
        SN_TRY(sn_mesh_builder_vertex(&vtk->mesh, &position));
        for (int axis = 0; axis < 3; axis++)
            SN_TRY(next_value(vtk, type, "a coordinate", &position[axis]));
    }
cleanup:
    return status;
}

/// Takes the head of an array of version 5: OFFSETS or CONNECTIVITY, and a type.
static sn_status take_array_head(vtk_reader *vtk, const char *name, vtk_type *out_type) {
    sn_text *text = vtk->text;
    sn_text_skip_space(text);
    sn_word word = sn_text_word(text);
    if (!sn_word_is_alike(word, name)) {
        text->at = word.at;
        return sn_text_expected(text, "%s", name);
    }
    sn_status status = take_type(text, out_type);
    sn_text_next_line(text);
    return status;
}

/// Version 5: one more offsets than cells, then the points of all.
static sn_status read_lists(vtk_reader *vtk, int64_t offset_count, int64_t corner_count) {
    sn_status status = SN_OK;
    vtk_type type = {SN_NUMBER_U8, false};
    double base = (double)vtk->cells.corner.count, ignored = 0;
    SN_TRY(take_array_head(vtk, "OFFSETS", &type));
    SN_TRY(check_room(vtk, type, offset_count, "offsets"));
    if (offset_count > 0)
        SN_TRY(next_value(vtk, type, "an offset", &ignored));
    for (int64_t i = 1; i < offset_count; i++) {
        double end = 0;
        SN_TRY(next_value(vtk, type, "an offset", &end));
        SN_TRY(sn_real_list_add(vtk->text->ctx, &vtk->cells.end, base + end));
    }
    SN_TRY(take_array_head(vtk, "CONNECTIVITY", &type));
    SN_TRY(take_values(vtk, type, corner_count, "points of cells", &vtk->cells.corner));
cleanup:
    return status;
}

/// Refuses points that do not exist while the line of the cell is known: points mostly come before cells.
static sn_status check_corners(vtk_reader *vtk, size_t begin, int64_t cell) {
    int32_t points = vtk->mesh.data->vertex_count;
    for (size_t i = begin; vtk->has_points && i < vtk->cells.corner.count; i++) {
        double point = vtk->cells.corner.item[i];
        if (!(point >= 0 && point < points))
            return sn_text_fail(vtk->text, "found point %.15g in cell %lld, expected 0 to %d", point,
                                (long long)cell, points - 1);
    }
    return SN_OK;
}

/// Up to version 4: each cell as its number of points and the points.
static sn_status read_sized_cells(vtk_reader *vtk, int64_t cell_count, int64_t size) {
    sn_status status = SN_OK;
    const vtk_type type = {SN_NUMBER_I32, false};
    int64_t left = size;
    SN_TRY(check_room(vtk, type, size, "numbers of the cells"));
    for (int64_t i = 0; i < cell_count; i++) {
        double count = 0;
        SN_TRY(next_value(vtk, type, "the number of points of a cell", &count));
        if (!(count >= 0 && count < (double)left) || count != (double)(int64_t)count)
            return sn_text_fail(
                vtk->text,
                "found %.15g as the number of points of cell %lld, expected 0 to %lld, which is "
                "what the section says that it still holds",
                count, (long long)i, (long long)(left > 0 ? left - 1 : 0));
        left -= 1 + (int64_t)count;
        size_t begin = vtk->cells.corner.count;
        SN_TRY(take_values(vtk, type, (int64_t)count, "points of a cell", &vtk->cells.corner));
        SN_TRY(check_corners(vtk, begin, i));
        SN_TRY(sn_real_list_add(vtk->text->ctx, &vtk->cells.end, (double)vtk->cells.corner.count));
    }
    if (left > 0)
        return sn_text_fail(vtk->text, "found %lld numbers in the cells, expected %lld, as the section says",
                            (long long)(size - left), (long long)size);
cleanup:
    return status;
}

/// Reads CELLS, or a list of polydata, whose cells are all of one type.
static sn_status read_cells(vtk_reader *vtk, int type) {
    sn_status status = SN_OK;
    sn_text *text = vtk->text;
    int64_t count = 0, size = 0;
    size_t before = vtk->cells.end.count;
    SN_TRY(take_count(text, "cells", &count));
    SN_TRY(take_count(text, "numbers in the list of cells", &size));
    sn_text_next_line(text);
    SN_TRY(vtk->version >= 5 ? read_lists(vtk, count, size) : read_sized_cells(vtk, count, size));
    for (size_t i = before; type >= 0 && i < vtk->cells.end.count; i++)
        SN_TRY(sn_real_list_add(text->ctx, &vtk->cells.type, type));
cleanup:
    return status;
}

static sn_status read_grid_cells(vtk_reader *vtk) {
    if (vtk->has_cells)
        return sn_text_fail(vtk->text, "found a second section CELLS, expected one");
    vtk->has_cells = true;
    return read_cells(vtk, -1);
}

static sn_status read_cell_types(vtk_reader *vtk) {
    sn_status status = SN_OK;
    int64_t count = 0;
    SN_TRY(take_count(vtk->text, "types of cells", &count));
    sn_text_next_line(vtk->text);
    SN_TRY(take_values(vtk, (vtk_type){SN_NUMBER_I32, false}, count, "types of cells", &vtk->cells.type));
cleanup:
    return status;
}

static sn_status read_vertices(vtk_reader *vtk) {
    return read_cells(vtk, 2);
}

static sn_status read_lines(vtk_reader *vtk) {
    return read_cells(vtk, 4);
}

static sn_status read_polygons(vtk_reader *vtk) {
    return read_cells(vtk, 7);
}

static sn_status read_strips(vtk_reader *vtk) {
    return read_cells(vtk, 6);
}

// ---- Data

/// Takes the numbers of an array: those of the groups, or passes over them.
static sn_status take_array(vtk_reader *vtk, sn_word name, vtk_type type, int64_t components, int64_t count) {
    sn_status status = SN_OK;
    bool groups =
        vtk->of_cells && components == 1 && vtk->cells.group.count == 0 && sn_vtk_names_groups(name);
    if (components > 0 && count > INT64_MAX / components)
        return sn_text_fail(vtk->text, "found an array of %lld times %lld numbers, which no file holds",
                            (long long)count, (long long)components);
    SN_TRY(
        take_values(vtk, type, components * count, "numbers of an array", groups ? &vtk->cells.group : NULL));
    if (!groups)
        SN_TRY(sn_mesh_builder_note(&vtk->mesh, "skipped the %s data %.*s", vtk->of_cells ? "cell" : "point",
                                    (int)(name.size < 64 ? name.size : 64), name.at));
cleanup:
    return status;
}

static sn_status take_name(sn_text *text, sn_word *out_name) {
    *out_name = sn_text_word(text);
    return out_name->size > 0 ? SN_OK : sn_text_expected(text, "the name of an array");
}

/// SCALARS name type [components], and the line LOOKUP_TABLE name.
static sn_status read_scalars(vtk_reader *vtk) {
    sn_status status = SN_OK;
    sn_text *text = vtk->text;
    sn_word name = {"", 0};
    vtk_type type = {SN_NUMBER_U8, false};
    int64_t components = 1;
    SN_TRY(take_name(text, &name));
    SN_TRY(take_type(text, &type));
    if (!sn_text_at_line_end(text))
        SN_TRY(take_count(text, "components", &components));
    sn_text_next_line(text);
    if (text->end - text->at > 12 && sn_word_is_alike((sn_word){text->at, 12}, "LOOKUP_TABLE"))
        sn_text_next_line(text);
    SN_TRY(take_array(vtk, name, type, components, vtk->data_count));
cleanup:
    return status;
}

static sn_status read_named_array(vtk_reader *vtk, int64_t components) {
    sn_status status = SN_OK;
    sn_word name = {"", 0};
    vtk_type type = {SN_NUMBER_U8, false};
    SN_TRY(take_name(vtk->text, &name));
    SN_TRY(take_type(vtk->text, &type));
    sn_text_next_line(vtk->text);
    SN_TRY(take_array(vtk, name, type, components, vtk->data_count));
cleanup:
    return status;
}

static sn_status read_vectors(vtk_reader *vtk) {
    return read_named_array(vtk, 3);
}

static sn_status read_ids(vtk_reader *vtk) {
    return read_named_array(vtk, 1);
}

static sn_status read_tensors(vtk_reader *vtk) {
    return read_named_array(vtk, 9);
}

static sn_status read_texture(vtk_reader *vtk) {
    sn_status status = SN_OK;
    sn_word name = {"", 0};
    vtk_type type = {SN_NUMBER_U8, false};
    int64_t components = 0;
    SN_TRY(take_name(vtk->text, &name));
    SN_TRY(take_count(vtk->text, "texture coordinates of a point", &components));
    SN_TRY(take_type(vtk->text, &type));
    sn_text_next_line(vtk->text);
    SN_TRY(take_array(vtk, name, type, components, vtk->data_count));
cleanup:
    return status;
}

/// Colors and tables of colors: bytes in binary files.
static sn_status read_colors(vtk_reader *vtk, bool table) {
    sn_status status = SN_OK;
    sn_word name = {"", 0};
    int64_t count = 0;
    SN_TRY(take_name(vtk->text, &name));
    SN_TRY(take_count(vtk->text, "colors", &count));
    sn_text_next_line(vtk->text);
    SN_TRY(take_array(vtk, name, (vtk_type){SN_NUMBER_U8, false}, table ? 4 : count,
                      table ? count : vtk->data_count));
cleanup:
    return status;
}

static sn_status read_color_scalars(vtk_reader *vtk) {
    return read_colors(vtk, false);
}

static sn_status read_lookup_table(vtk_reader *vtk) {
    return read_colors(vtk, true);
}

static bool at_metadata(sn_text *text) {
    return text->end - text->at >= 8 && memcmp(text->at, "METADATA", 8) == 0;
}

/// METADATA is lines up to an empty one.
static sn_status read_metadata(vtk_reader *vtk) {
    sn_text *text = vtk->text;
    sn_text_next_line(text);
    while (text->at < text->end && !sn_text_at_line_end(text))
        sn_text_next_line(text);
    return SN_OK;
}

/// FIELD name count, then as many arrays, each "name components tuples type".
static sn_status read_field(vtk_reader *vtk) {
    sn_status status = SN_OK;
    sn_text *text = vtk->text;
    sn_word name = {"", 0};
    int64_t count = 0, components = 0, tuples = 0;
    SN_TRY(take_name(text, &name));
    SN_TRY(take_count(text, "arrays", &count));
    sn_text_next_line(text);
    for (int64_t i = 0; i < count; i++) {
        vtk_type type = {SN_NUMBER_U8, false};
        sn_text_skip_space(text);
        if (at_metadata(text)) {
            SN_TRY(read_metadata(vtk));
            sn_text_skip_space(text);
        }
        SN_TRY(take_name(text, &name));
        SN_TRY(take_count(text, "components", &components));
        SN_TRY(take_count(text, "tuples", &tuples));
        if (sn_text_at_line_end(text))
            return sn_text_expected(text, "a type such as float, double or int");
        SN_TRY(take_type(text, &type));
        sn_text_next_line(text);
        SN_TRY(take_array(vtk, name, type, components, tuples));
    }
cleanup:
    return status;
}

static sn_status start_data(vtk_reader *vtk, bool of_cells) {
    vtk->of_cells = of_cells;
    sn_status status = take_count(vtk->text, "entries of the arrays", &vtk->data_count);
    sn_text_next_line(vtk->text);
    return status;
}

static sn_status read_cell_data(vtk_reader *vtk) {
    return start_data(vtk, true);
}

static sn_status read_point_data(vtk_reader *vtk) {
    return start_data(vtk, false);
}

// ---- File

static sn_status read_section(vtk_reader *vtk) {
    static const struct {
        const char *name;
        sn_status (*read)(vtk_reader *vtk);
        char of; ///< 'g'rid, 'p'olydata, 0: both
    } sections[] = {{"POINTS", read_points, 0},
                    {"CELLS", read_grid_cells, 'g'},
                    {"CELL_TYPES", read_cell_types, 'g'},
                    {"VERTICES", read_vertices, 'p'},
                    {"LINES", read_lines, 'p'},
                    {"POLYGONS", read_polygons, 'p'},
                    {"TRIANGLE_STRIPS", read_strips, 'p'},
                    {"POINT_DATA", read_point_data, 0},
                    {"CELL_DATA", read_cell_data, 0},
                    {"SCALARS", read_scalars, 0},
                    {"VECTORS", read_vectors, 0},
                    {"NORMALS", read_vectors, 0},
                    {"TENSORS", read_tensors, 0},
                    {"GLOBAL_IDS", read_ids, 0},
                    {"PEDIGREE_IDS", read_ids, 0},
                    {"TEXTURE_COORDINATES", read_texture, 0},
                    {"COLOR_SCALARS", read_color_scalars, 0},
                    {"LOOKUP_TABLE", read_lookup_table, 0},
                    {"FIELD", read_field, 0},
                    {"METADATA", read_metadata, 0}};
    sn_word word = sn_text_word(vtk->text);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (sn_word_is_alike(word, sections[i].name) &&
            (!sections[i].of || (sections[i].of == 'p') == vtk->polydata))
            return sections[i].read(vtk);
    vtk->text->at = word.at;
    return sn_text_expected(vtk->text, vtk->polydata
                                           ? "a section of polydata such as POINTS or POLYGONS"
                                           : "a section such as POINTS, CELLS, CELL_TYPES or CELL_DATA");
}

bool sn_vtk_is(sn_text *text) {
    return text->end - text->at > 14 && sn_word_is_alike((sn_word){text->at, 14}, "# vtk DataFile");
}

/// Takes the four lines that start every file.
static sn_status read_head(vtk_reader *vtk) {
    sn_text *text = vtk->text;
    if (!sn_vtk_is(text))
        return sn_text_expected(text, "\"# vtk DataFile Version 3.0\" in the first line");
    text->at += 14;
    sn_word word = sn_text_word(text);
    if (!sn_word_is_alike(word, "Version") || !sn_text_real(text, &vtk->version) || !(vtk->version >= 1) ||
        !(vtk->version < 6))
        return sn_text_expected(text, "a version from 1 to 5");
    sn_text_next_line(text);
    sn_text_next_line(text);
    sn_text_skip_space(text);
    word = sn_text_word(text);
    vtk->binary = text->binary = sn_word_is_alike(word, "BINARY");
    if (!vtk->binary && !sn_word_is_alike(word, "ASCII")) {
        text->at = word.at;
        return sn_text_expected(text, "ASCII or BINARY");
    }
    if (!vtk->binary && text->has_zero_bytes)
        return sn_text_fail(text, "found binary data in a file that says it is ascii; write it again");
    sn_text_next_line(text);
    return SN_OK;
}

static sn_status read_dataset(vtk_reader *vtk) {
    sn_status status = SN_OK;
    sn_text *text = vtk->text;
    sn_text_skip_space(text);
    sn_word word = sn_text_word(text);
    // Data of no cell or point may come before.
    while (sn_word_is_alike(word, "FIELD")) {
        SN_TRY(read_field(vtk));
        sn_text_skip_space(text);
        word = sn_text_word(text);
    }
    if (!sn_word_is_alike(word, "DATASET")) {
        text->at = word.at;
        return sn_text_expected(text, "DATASET");
    }
    word = sn_text_word(text);
    vtk->polydata = sn_word_is_alike(word, "POLYDATA");
    if (!vtk->polydata && !sn_word_is_alike(word, "UNSTRUCTURED_GRID")) {
        text->at = word.at;
        return sn_text_expected(text, "UNSTRUCTURED_GRID or POLYDATA; convert it, for example with ParaView");
    }
    sn_text_next_line(text);
cleanup:
    return status;
}

sn_status sn_vtk_read(sn_text *text, sn_mesh_data *data) {
    sn_status status = SN_OK;
    vtk_reader vtk = {.mesh = sn_mesh_builder_make(text, data), .text = text};
    vtk.mesh.skips_without_line = true;
    SN_TRY(read_head(&vtk));
    SN_TRY(read_dataset(&vtk));
    while (sn_text_skip_space(text))
        SN_TRY(read_section(&vtk));
    SN_TRY(sn_vtk_cells_take(&vtk.cells, &vtk.mesh, 0));
    SN_TRY(sn_mesh_builder_finish(&vtk.mesh, "cells of kind"));
cleanup:
    sn_vtk_cells_release(text->ctx, &vtk.cells);
    sn_mesh_builder_release(&vtk.mesh);
    return status;
}
