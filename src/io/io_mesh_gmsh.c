/// Gmsh MSH 2.0 to 2.2, ascii: nodes in file order, lines, triangles and tets of the first order, physical
/// groups by name or as "tag<n>". Other elements are skipped with a note.
#include "io/io_mesh_build.h"

#include <stdio.h>
#include <string.h>

enum { CELL_KINDS = 3, NAME_SIZE = 32, MAX_TAGS = 1000 };

typedef struct gmsh_kind {
    int32_t type; ///< Gmsh's number.
    sn_cell_kind kind;
    int32_t size, dimension;
} gmsh_kind;

static const gmsh_kind cell_kinds[CELL_KINDS] = {
    {1, SN_CELL_EDGE, 2, 1}, {2, SN_CELL_TRIANGLE, 3, 2}, {4, SN_CELL_TET, 4, 3}};

typedef struct gmsh_reader {
    sn_text *text;
    sn_mesh_data *data;
    bool has_format;
    sn_tag_map nodes;
    sn_cell_list cells[CELL_KINDS];
    sn_name_table groups;
    sn_name_table physicals; ///< "dimension tag" of each named physical group
    int32_t *physical_group; ///< [physicals.count] its group
    size_t physical_capacity;
    int32_t last_tag[CELL_KINDS], last_group[CELL_KINDS];
    sn_skips skips;
    int64_t skipped_sections;
} gmsh_reader;

static sn_status read_format(gmsh_reader *gmsh) {
    sn_text *text = gmsh->text;
    double version = 0;
    int32_t binary = 0, real_size = 0;
    sn_text_skip_space(text);
    if (!sn_text_real(text, &version) || !sn_text_int(text, &binary) || !sn_text_int(text, &real_size))
        return sn_text_expected(text, "a version such as 2.2 0 8 behind $MeshFormat");
    if (version < 2 || version >= 3 || binary != 0)
        return sn_text_fail(
            text,
            "found MSH version %g %s, expected 2.2 ascii; convert it with: gmsh -save -format msh22 "
            "-o new.msh %s",
            version, binary ? "binary" : "ascii", text->path);
    if (text->has_zero_bytes)
        return sn_text_fail(text, "found binary data in a file that says it is ascii; write it again");
    gmsh->has_format = true;
    return SN_OK;
}

/// Takes the number of entries, which stands on a line of its own.
static sn_status read_count(sn_text *text, const char *what, size_t bytes_each, int32_t *out_count) {
    sn_text_skip_space(text);
    if (!sn_text_int(text, out_count))
        return sn_text_expected(text, "the number of %s", what);
    sn_status status = sn_text_check_count(text, *out_count, bytes_each, what);
    sn_text_next_line(text);
    return status;
}

/// The name between quotes, or the bare rest of the line.
static sn_word read_name(sn_text *text) {
    sn_word name = sn_text_rest(text);
    if (name.size >= 2 && name.at[0] == '"' && name.at[name.size - 1] == '"') {
        name.at++;
        name.size -= 2;
    }
    return name;
}

static sn_word physical_key(char buffer[NAME_SIZE], int32_t dimension, int32_t tag) {
    int size = snprintf(buffer, NAME_SIZE, "%d %d", dimension, tag);
    return (sn_word){buffer, (size_t)size};
}

static sn_status read_physical_name(gmsh_reader *gmsh) {
    sn_status status = SN_OK;
    sn_text *text = gmsh->text;
    sn_context *ctx = text->ctx;
    char buffer[NAME_SIZE];
    int32_t dimension = 0, tag = 0, place = 0;
    sn_text_skip_space(text);
    if (!sn_text_int(text, &dimension) || !sn_text_int(text, &tag))
        return sn_text_expected(text, "dimension, number and name of a physical group");
    sn_word name = read_name(text);
    if (name.size == 0)
        return sn_text_expected(text, "the name of physical group %d", tag);
    SN_TRY(sn_name_table_add(ctx, &gmsh->physicals, physical_key(buffer, dimension, tag), &place));
    SN_TRY(sn_grow(ctx, (void **)&gmsh->physical_group, &gmsh->physical_capacity,
                   (size_t)gmsh->physicals.count, sizeof *gmsh->physical_group));
    SN_TRY(sn_name_table_add(ctx, &gmsh->groups, name, &gmsh->physical_group[place]));
cleanup:
    return status;
}

static sn_status read_physical_names(gmsh_reader *gmsh) {
    sn_status status = SN_OK;
    int32_t count = 0;
    SN_TRY(read_count(gmsh->text, "physical names", 6, &count));
    for (int32_t i = 0; i < count; i++)
        SN_TRY(read_physical_name(gmsh));
cleanup:
    return status;
}

static sn_status read_node(sn_text *text, double position[3], int32_t *out_tag) {
    sn_text_skip_space(text);
    if (!sn_text_int(text, out_tag))
        return sn_text_expected(text, "the number of a node");
    for (int axis = 0; axis < 3; axis++)
        if (!sn_text_real(text, &position[axis]))
            return sn_text_expected(text, "three coordinates of node %d", *out_tag);
    if (!sn_text_at_line_end(text))
        return sn_text_expected(text, "the end of the line behind node %d", *out_tag);
    return SN_OK;
}

static sn_status read_nodes(gmsh_reader *gmsh) {
    sn_status status = SN_OK;
    sn_text *text = gmsh->text;
    sn_mesh_data *data = gmsh->data;
    int32_t count = 0, duplicate = -1, *tags = NULL;
    if (data->position)
        return sn_text_fail(text, "found a second section $Nodes, expected one");
    SN_TRY(read_count(text, "nodes", 8, &count));
    int64_t first_line = text->line;
    SN_TRY_NEW(text->ctx, data->position, (size_t)count * 3);
    SN_TRY_NEW(text->ctx, tags, count);
    for (int32_t i = 0; i < count; i++)
        SN_TRY(read_node(text, data->position + (size_t)i * 3, &tags[i]));
    data->vertex_count = count;
    SN_TRY(sn_tag_map_make(text->ctx, count, tags, &gmsh->nodes, &duplicate));
    if (duplicate >= 0) {
        text->line = first_line + duplicate;
        SN_TRY(sn_text_fail(text, "found node %d a second time, expected each number once", tags[duplicate]));
    }
cleanup:
    SN_RELEASE(text->ctx, tags);
    return status;
}

static sn_status find_group(gmsh_reader *gmsh, int32_t which, int32_t tag, int32_t *out_group) {
    if (tag != gmsh->last_tag[which]) {
        char buffer[NAME_SIZE];
        int32_t group = -1;
        int32_t named =
            tag ? sn_name_table_find(&gmsh->physicals, physical_key(buffer, cell_kinds[which].dimension, tag))
                : -1;
        if (named >= 0) {
            group = gmsh->physical_group[named];
        } else if (tag != 0) {
            int size = snprintf(buffer, sizeof buffer, "tag%d", tag);
            sn_status status =
                sn_name_table_add(gmsh->text->ctx, &gmsh->groups, (sn_word){buffer, (size_t)size}, &group);
            if (status < 0)
                return status;
        }
        gmsh->last_tag[which] = tag;
        gmsh->last_group[which] = group;
    }
    *out_group = gmsh->last_group[which];
    return SN_OK;
}

static void skip_element(gmsh_reader *gmsh, int32_t type) {
    static const char *const names[] = {[3] = "quadrangle",
                                        [5] = "hexahedron",
                                        [6] = "prism",
                                        [7] = "pyramid",
                                        [8] = "3-node line",
                                        [9] = "6-node triangle",
                                        [11] = "10-node tetrahedron",
                                        [15] = "point"};
    char other[NAME_SIZE];
    snprintf(other, sizeof other, "type %d", type);
    bool known = type >= 0 && (size_t)type < sizeof names / sizeof *names && names[type];
    const char *name = known ? names[type] : other;
    sn_skips_add(&gmsh->skips, (sn_word){name, strlen(name)}, gmsh->text->line);
    sn_text_next_line(gmsh->text);
}

static sn_status read_element_tags(sn_text *text, int32_t number, int32_t *out_physical) {
    int32_t count = 0, tag = 0;
    *out_physical = 0;
    if (!sn_text_int(text, &count) || count < 0 || count > MAX_TAGS)
        return sn_text_expected(text, "the number of tags of element %d", number);
    for (int32_t i = 0; i < count; i++) {
        if (!sn_text_int(text, &tag))
            return sn_text_expected(text, "%d tags of element %d", count, number);
        if (i == 0)
            *out_physical = tag;
    }
    return SN_OK;
}

static sn_status read_element_nodes(gmsh_reader *gmsh, int32_t which, int32_t number, int32_t physical) {
    sn_status status = SN_OK;
    sn_text *text = gmsh->text;
    int32_t tag = 0, group = -1;
    for (int32_t i = 0; i < cell_kinds[which].size; i++) {
        if (!sn_text_int(text, &tag))
            return sn_text_expected(text, "%d nodes of element %d", cell_kinds[which].size, number);
        int32_t vertex = sn_tag_map_find(&gmsh->nodes, tag);
        if (vertex < 0)
            return sn_text_fail(text, "found node %d in element %d, expected a number listed in $Nodes", tag,
                                number);
        SN_TRY(sn_cell_list_corner(text->ctx, &gmsh->cells[which], vertex, -1));
    }
    if (!sn_text_at_line_end(text))
        return sn_text_expected(text, "the end of the line behind element %d", number);
    SN_TRY(find_group(gmsh, which, physical, &group));
    SN_TRY(sn_cell_list_close(text->ctx, &gmsh->cells[which], group));
cleanup:
    return status;
}

static sn_status read_element(gmsh_reader *gmsh) {
    sn_text *text = gmsh->text;
    int32_t number = 0, type = 0, physical = 0;
    sn_text_skip_space(text);
    if (!sn_text_int(text, &number) || !sn_text_int(text, &type))
        return sn_text_expected(text, "number and type of an element");
    for (int32_t which = 0; which < CELL_KINDS; which++)
        if (cell_kinds[which].type == type) {
            sn_status status = read_element_tags(text, number, &physical);
            return status < 0 ? status : read_element_nodes(gmsh, which, number, physical);
        }
    skip_element(gmsh, type);
    return SN_OK;
}

static sn_status read_elements(gmsh_reader *gmsh) {
    sn_status status = SN_OK;
    int32_t count = 0;
    if (!gmsh->data->position)
        return sn_text_fail(gmsh->text, "found $Elements, expected $Nodes before it; reorder the sections");
    SN_TRY(read_count(gmsh->text, "elements", 8, &count));
    for (int32_t i = 0; i < count; i++)
        SN_TRY(read_element(gmsh));
cleanup:
    return status;
}

/// Expects the line that ends a section.
static sn_status read_section_end(sn_text *text, const char *end) {
    sn_text_skip_space(text);
    sn_word word = sn_text_word(text);
    if (sn_word_is(word, end))
        return SN_OK;
    text->at = word.at;
    return sn_text_expected(text, "%s; does the section hold as many entries as it says?", end);
}

/// Skips a section that we do not keep, up to its $End line.
static sn_status skip_section(gmsh_reader *gmsh, sn_word name, int64_t line) {
    sn_text *text = gmsh->text;
    do {
        sn_text_next_line(text);
        if (!sn_text_skip_space(text))
            return sn_text_expected(text, "$End%.*s", (int)(name.size < 64 ? name.size - 1 : 63),
                                    name.at + 1);
    } while (text->end - text->at < 4 || memcmp(text->at, "$End", 4) != 0);
    sn_text_next_line(text);
    if (sn_word_is(name, "$Comments") || gmsh->skipped_sections++ >= SN_SKIP_KINDS)
        return SN_OK;
    return sn_mesh_data_add_note(gmsh->data, "skipped the section %.*s in line %lld",
                                 (int)(name.size < 64 ? name.size : 64), name.at, (long long)line);
}

static sn_status read_section(gmsh_reader *gmsh) {
    static const struct {
        const char *begin, *end;
        sn_status (*read)(gmsh_reader *gmsh);
    } sections[] = {{"$MeshFormat", "$EndMeshFormat", read_format},
                    {"$PhysicalNames", "$EndPhysicalNames", read_physical_names},
                    {"$Nodes", "$EndNodes", read_nodes},
                    {"$Elements", "$EndElements", read_elements}};
    sn_text *text = gmsh->text;
    int64_t line = text->line;
    sn_word name = sn_text_word(text);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (sn_word_is(name, sections[i].begin)) {
            if (i > 0 && !gmsh->has_format)
                return sn_text_fail(text, "found %s, expected $MeshFormat first", sections[i].begin);
            sn_status status = sections[i].read(gmsh);
            return status < 0 ? status : read_section_end(text, sections[i].end);
        }
    if (name.size > 1 && name.at[0] == '$' && !sn_word_is(name, "$NOD"))
        return skip_section(gmsh, name, line);
    text->at = name.at;
    return sn_text_expected(text, "a section of MSH 2.2 such as $MeshFormat, $Nodes or $Elements");
}

sn_status sn_gmsh_read(sn_text *text, sn_mesh_data *data) {
    sn_status status = SN_OK;
    gmsh_reader gmsh = {.text = text, .data = data, .last_group = {-1, -1, -1}};
    for (int i = 0; i < CELL_KINDS; i++)
        gmsh.cells[i].kind = cell_kinds[i].kind;
    while (sn_text_skip_space(text))
        SN_TRY(read_section(&gmsh));
    if (data->vertex_count == 0) {
        status = sn_fail(text->ctx, SN_ERR_READ, "%s: found no nodes, expected a section $Nodes", text->path);
        goto cleanup;
    }
    SN_TRY(sn_mesh_data_take_cells(data, CELL_KINDS, gmsh.cells));
    sn_mesh_data_take_groups(data, &gmsh.groups);
    SN_TRY(sn_mesh_data_note_sections(data, gmsh.skipped_sections));
    SN_TRY(sn_mesh_data_note_skips(data, &gmsh.skips, "elements of kind"));
cleanup:
    for (int i = 0; i < CELL_KINDS; i++)
        sn_cell_list_release(text->ctx, &gmsh.cells[i]);
    sn_name_table_release(text->ctx, &gmsh.groups);
    sn_name_table_release(text->ctx, &gmsh.physicals);
    sn_tag_map_release(text->ctx, &gmsh.nodes);
    SN_RELEASE(text->ctx, gmsh.physical_group);
    return status;
}

typedef struct gmsh_writer {
    sn_text_out *out;
    const int32_t *numbers; ///< Of the groups.
    bool *used;             ///< [group_count] in cells of the size that is being visited
    int32_t element;        ///< Elements written so far.
} gmsh_writer;

static void mark_used(void *user, const int32_t *vertex, int32_t size, int32_t group) {
    (void)vertex;
    (void)size;
    gmsh_writer *gmsh = user;
    if (group >= 0)
        gmsh->used[group] = true;
}

/// Lists the named groups of each dimension; `print` false only counts them.
static int32_t write_physical_names(gmsh_writer *gmsh, const sn_mesh_data *data, bool print) {
    int32_t count = 0, number = 0;
    for (int i = 0; i < CELL_KINDS; i++) {
        for (int32_t g = 0; g < data->group_count; g++)
            gmsh->used[g] = false;
        sn_mesh_data_each_simplex(data, cell_kinds[i].size, mark_used, gmsh);
        for (int32_t g = 0; g < data->group_count; g++) {
            if (!gmsh->used[g] || sn_group_name_number(data->group[g], "tag", &number))
                continue;
            count++;
            if (!print)
                continue;
            sn_text_out_print(gmsh->out, "%d %d \"", cell_kinds[i].dimension, gmsh->numbers[g]);
            sn_text_out_name(gmsh->out, data->group[g], "\"");
            sn_text_out_print(gmsh->out, "\"\n");
        }
    }
    return count;
}

static void write_element(void *user, const int32_t *vertex, int32_t size, int32_t group) {
    gmsh_writer *gmsh = user;
    int32_t type = size == 2 ? 1 : size == 3 ? 2 : 4, number = group >= 0 ? gmsh->numbers[group] : 0;
    sn_text_out_print(gmsh->out, "%d %d 2 %d %d", ++gmsh->element, type, number, number);
    for (int32_t i = 0; i < size; i++)
        sn_text_out_print(gmsh->out, " %d", vertex[i] + 1);
    sn_text_out_print(gmsh->out, "\n");
}

static void write_nodes(sn_text_out *out, const sn_mesh_data *data) {
    sn_text_out_print(out, "$Nodes\n%d\n", data->vertex_count);
    for (int32_t i = 0; i < data->vertex_count; i++) {
        sn_text_out_print(out, "%d", i + 1);
        for (size_t axis = 0; axis < 3; axis++)
            sn_text_out_real(out, data->position[(size_t)i * 3 + axis]);
        sn_text_out_print(out, "\n");
    }
    sn_text_out_print(out, "$EndNodes\n");
}

sn_status sn_gmsh_write(sn_text_out *out, const sn_mesh_data *data) {
    sn_status status = SN_OK;
    int32_t *numbers = NULL;
    bool *used = NULL;
    int64_t elements = 0;
    for (int i = 0; i < CELL_KINDS; i++)
        elements += sn_mesh_data_each_simplex(data, cell_kinds[i].size, NULL, NULL);
    if (elements > INT32_MAX) {
        status = sn_fail(data->context, SN_ERR_INVALID_ARGUMENT, "%s: MSH cannot number %lld elements",
                         out->path, (long long)elements);
        goto cleanup;
    }
    SN_TRY(sn_group_numbers(data, "tag", &numbers));
    SN_TRY_NEW(data->context, used, data->group_count);
    gmsh_writer gmsh = {out, numbers, used, 0};
    sn_text_out_print(out, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n");
    int32_t names = write_physical_names(&gmsh, data, false);
    if (names > 0) {
        sn_text_out_print(out, "$PhysicalNames\n%d\n", names);
        write_physical_names(&gmsh, data, true);
        sn_text_out_print(out, "$EndPhysicalNames\n");
    }
    write_nodes(out, data);
    sn_text_out_print(out, "$Elements\n%lld\n", (long long)elements);
    for (int i = 0; i < CELL_KINDS; i++)
        sn_mesh_data_each_simplex(data, cell_kinds[i].size, write_element, &gmsh);
    sn_text_out_print(out, "$EndElements\n");
cleanup:
    SN_RELEASE(data->context, numbers);
    SN_RELEASE(data->context, used);
    return status;
}
