/// Abaqus and CalculiX .inp: *NODE, *ELEMENT (tets, triangles, quadrangles, lines; of second order, the
/// corners), *ELSET and *NSET with GENERATE, *INCLUDE. Groups are sets of elements: those that a section
/// gives a material come first, then the last *ELSET that lists an element, then the ELSET of its *ELEMENT
/// line. Sets of nodes stay sets, which may overlap. One part is read as the mesh, without what its instance
/// moves; several are refused. Materials and steps are passed over.
#include "io/io_mesh_inp.h"

#include <string.h>

enum { DEPTH_MAX = SN_INP_DEPTH_MAX, INCLUDES_MAX = 256, CORNERS_MAX = 4 };

static const sn_inp_kind kinds[] = {
    {"C3D4", 4, 4, 't'},  {"C3D10", 10, 4, 't'},  {"DC3D4", 4, 4, 't'},  {"DC3D10", 10, 4, 't'},
    {"AC3D4", 4, 4, 't'}, {"AC3D10", 10, 4, 't'}, {"STRI3", 3, 3, 'f'},  {"STRI65", 6, 3, 'f'},
    {"S3", 3, 3, 'f'},    {"S4", 4, 4, 'f'},      {"S6", 6, 3, 'f'},     {"S8", 8, 4, 'f'},
    {"M3D3", 3, 3, 'f'},  {"M3D4", 4, 4, 'f'},    {"M3D6", 6, 3, 'f'},   {"M3D8", 8, 4, 'f'},
    {"R3D3", 3, 3, 'f'},  {"R3D4", 4, 4, 'f'},    {"SFM3D3", 3, 3, 'f'}, {"SFM3D4", 4, 4, 'f'},
    {"CPS3", 3, 3, 'f'},  {"CPE3", 3, 3, 'f'},    {"CPS4", 4, 4, 'f'},   {"CPE4", 4, 4, 'f'},
    {"CPS6", 6, 3, 'f'},  {"CPE6", 6, 3, 'f'},    {"CPS8", 8, 4, 'f'},   {"CPE8", 8, 4, 'f'},
    {"DS3", 3, 3, 'f'},   {"DS4", 4, 4, 'f'},     {"T3D2", 2, 2, 'e'},   {"B31", 2, 2, 'e'},
    {"LINE2", 2, 2, 'e'}};

static sn_status read_file(sn_inp_reader *inp, sn_text *text, int32_t depth);

// ---- Keyword lines

static int shown(sn_word word) {
    return (int)(word.size < 64 ? word.size : 64);
}

/// Takes the fields behind a keyword, of further lines too if a line ends with a comma.
static sn_status read_parameters(sn_inp_reader *inp, sn_text *text) {
    sn_word field = {"", 0};
    inp->parameter_count = 0;
    for (;;) {
        while (sn_text_field(text, &field)) {
            const char *equal = memchr(field.at, '=', field.size);
            sn_inp_parameter parameter = {field, {"", 0}};
            if (field.size == 0)
                continue;
            if (equal) {
                sn_word name = {field.at, (size_t)(equal - field.at)};
                sn_word value = {equal + 1, field.size - name.size - 1};
                while (name.size > 0 && (name.at[name.size - 1] == ' ' || name.at[name.size - 1] == '\t'))
                    name.size--;
                while (value.size > 0 && (value.at[0] == ' ' || value.at[0] == '\t' || value.at[0] == '"'))
                    value.at++, value.size--;
                while (value.size > 0 && value.at[value.size - 1] == '"')
                    value.size--;
                parameter = (sn_inp_parameter){name, value};
            }
            if (inp->parameter_count == SN_INP_PARAMETERS_MAX)
                return sn_text_fail(text, "found more than %d parameters of a keyword",
                                    SN_INP_PARAMETERS_MAX);
            inp->parameter[inp->parameter_count++] = parameter;
        }
        const char *last = text->at;
        while (last > text->bytes && (last[-1] == ' ' || last[-1] == '\t'))
            last--;
        bool more = last > text->bytes && last[-1] == ',';
        sn_text_next_line(text);
        if (!more || inp->parameter_count == 0 || text->at >= text->end || *text->at == '*')
            return SN_OK;
    }
}

static sn_word parameter(const sn_inp_reader *inp, const char *name) {
    for (int32_t i = 0; i < inp->parameter_count; i++)
        if (sn_word_is_alike(inp->parameter[i].name, name))
            return inp->parameter[i].value;
    return (sn_word){"", 0};
}

static bool has_parameter(const sn_inp_reader *inp, const char *name) {
    for (int32_t i = 0; i < inp->parameter_count; i++)
        if (sn_word_is_alike(inp->parameter[i].name, name))
            return true;
    return false;
}

/// Number of the set of a name, which may be new; -1 without a name.
static sn_status find_set(sn_inp_reader *inp, sn_inp_sets *sets, sn_word name, int32_t *out_set) {
    sn_status status = SN_OK;
    sn_context *ctx = inp->mesh.ctx;
    int32_t before = sets->names.count;
    *out_set = -1;
    if (name.size == 0)
        return SN_OK;
    SN_TRY(sn_name_table_add(ctx, &sets->names, name, out_set));
    if (sets != &inp->element_sets || sets->names.count == before)
        return SN_OK;
    SN_TRY(sn_grow(ctx, (void **)&inp->is_section, &inp->section_capacity, (size_t)sets->names.count,
                   sizeof *inp->is_section));
    inp->is_section[*out_set] = false;
cleanup:
    return status;
}

/// Opens the file that a keyword names and reads it: with the lines of the keyword, or as a part of this
/// file.
static sn_status read_other_file(sn_inp_reader *inp, sn_text *text, sn_word name, int32_t depth) {
    sn_status status = SN_OK;
    sn_text other = {0};
    if (depth == DEPTH_MAX || inp->includes++ == INCLUDES_MAX)
        return sn_text_fail(
            text,
            "found a file inside %d others, or %d of them, expected fewer; does a file include "
            "itself?",
            DEPTH_MAX, INCLUDES_MAX);
    SN_TRY(sn_text_open_beside(text, name, &other));
    SN_TRY(read_file(inp, &other, depth + 1));
cleanup:
    sn_text_close(&other);
    return status;
}

static sn_status read_include(sn_inp_reader *inp, sn_text *text, int32_t depth) {
    sn_word name = parameter(inp, "INPUT");
    if (name.size == 0)
        return sn_text_fail(text, "found *INCLUDE without INPUT=..., expected the name of a file");
    return read_other_file(inp, text, name, depth);
}

static sn_status start_nodes(sn_inp_reader *inp, sn_text *text) {
    sn_word system = parameter(inp, "SYSTEM");
    if (system.size > 0 && !sn_word_is_alike(system, "R"))
        return sn_text_fail(text, "found nodes in the system %.*s, expected rectangular coordinates",
                            shown(system), system.at);
    if (inp->parts > 1)
        return sn_text_fail(
            text, "found nodes of a second part, expected one; write each part to a file of its own, "
                  "or the mesh of the assembly as one");
    inp->mode = SN_INP_MODE_NODES;
    inp->nodes_are_mapped = false;
    return find_set(inp, &inp->node_sets, parameter(inp, "NSET"), &inp->set);
}

static bool starts_alike(sn_word word, const char *name) {
    size_t size = strlen(name);
    return word.size >= size && sn_word_is_alike((sn_word){word.at, size}, name);
}

/// The kind whose name a type is, or is with letters behind it (C3D10M, S4R); NULL if there is none.
static const sn_inp_kind *find_kind(sn_word type) {
    const sn_inp_kind *found = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t size = strlen(kinds[i].name);
        bool digit = type.size > size && type.at[size] >= '0' && type.at[size] <= '9';
        if (starts_alike(type, kinds[i].name) && !digit)
            found = &kinds[i];
    }
    return found;
}

static sn_status start_elements(sn_inp_reader *inp, sn_text *text) {
    sn_word type = parameter(inp, "TYPE");
    if (type.size == 0)
        return sn_text_fail(text, "found *ELEMENT without TYPE=..., expected one such as C3D4");
    size_t size = type.size < sizeof inp->type - 1 ? type.size : sizeof inp->type - 1;
    memcpy(inp->type, type.at, size);
    inp->type[size] = '\0';
    inp->kind = find_kind(type);
    inp->mode = inp->kind ? SN_INP_MODE_ELEMENTS : SN_INP_MODE_OTHER_ELEMENTS;
    return find_set(inp, &inp->element_sets, parameter(inp, "ELSET"), &inp->set);
}

/// Starts *ELSET or *NSET, which `key` names without the star.
static sn_status start_set(sn_inp_reader *inp, sn_text *text, const char *key, sn_inp_sets *sets) {
    sn_word name = parameter(inp, key);
    // Sets that a program made for itself.
    if (has_parameter(inp, "INTERNAL") || (name.size > 0 && name.at[0] == '_'))
        return SN_OK;
    if (name.size == 0)
        return sn_text_fail(text, "found *%s without a name, expected %s=...", key, key);
    if (sets == &inp->node_sets && has_parameter(inp, "ELSET"))
        return sn_mesh_builder_note(&inp->mesh,
                                    "passed over the set of nodes %.*s, which takes those of elements",
                                    shown(name), name.at);
    inp->mode = SN_INP_MODE_SET;
    inp->sets = sets;
    inp->generate = has_parameter(inp, "GENERATE");
    return find_set(inp, sets, name, &inp->set);
}

static sn_status note_section(sn_inp_reader *inp) {
    int32_t set = -1;
    sn_status status = find_set(inp, &inp->element_sets, parameter(inp, "ELSET"), &set);
    if (status == SN_OK && set >= 0)
        inp->is_section[set] = true;
    return status;
}

static sn_status read_keyword(sn_inp_reader *inp, sn_text *text, int32_t depth) {
    sn_status status = SN_OK;
    sn_word word = {"", 0};
    int64_t line = text->line;
    sn_text_field(text, &word);
    SN_TRY(read_parameters(inp, text));
    inp->mode = SN_INP_MODE_SKIP;
    inp->set = -1;
    if (sn_word_is_alike(word, "*INCLUDE"))
        return read_include(inp, text, depth);
    if (sn_word_is_alike(word, "*PART")) {
        inp->parts++;
    } else if (sn_word_is_alike(word, "*ASSEMBLY") || sn_word_is_alike(word, "*END ASSEMBLY")) {
        inp->in_assembly = sn_word_is_alike(word, "*ASSEMBLY");
    } else if (sn_word_is_alike(word, "*INSTANCE") || sn_word_is_alike(word, "*END INSTANCE")) {
        inp->in_instance = sn_word_is_alike(word, "*INSTANCE");
        inp->mode = inp->in_instance ? SN_INP_MODE_INSTANCE : SN_INP_MODE_SKIP;
    } else if (inp->in_assembly && !inp->in_instance &&
               (sn_word_is_alike(word, "*NODE") || sn_word_is_alike(word, "*ELEMENT"))) {
        SN_TRY(sn_mesh_builder_note(&inp->mesh, "passed over %.*s of the assembly in line %lld", shown(word),
                                    word.at, (long long)line));
    } else if (sn_word_is_alike(word, "*NODE")) {
        SN_TRY(start_nodes(inp, text));
    } else if (sn_word_is_alike(word, "*ELEMENT")) {
        SN_TRY(start_elements(inp, text));
    } else if (sn_word_is_alike(word, "*ELSET")) {
        SN_TRY(start_set(inp, text, "ELSET", &inp->element_sets));
    } else if (sn_word_is_alike(word, "*SOLID SECTION") || sn_word_is_alike(word, "*SHELL SECTION") ||
               sn_word_is_alike(word, "*MEMBRANE SECTION")) {
        SN_TRY(note_section(inp));
    } else if (sn_word_is_alike(word, "*NSET")) {
        SN_TRY(start_set(inp, text, "NSET", &inp->node_sets));
    } else if (sn_word_is_alike(word, "*NGEN") || sn_word_is_alike(word, "*NFILL") ||
               sn_word_is_alike(word, "*ELGEN") || sn_word_is_alike(word, "*NCOPY") ||
               sn_word_is_alike(word, "*ELCOPY")) {
        return sn_text_fail(text, "found %.*s, which makes nodes or elements, expected them in full",
                            shown(word), word.at);
    }
    sn_word input = parameter(inp, "INPUT");
    if (input.size > 0 && inp->mode != SN_INP_MODE_SKIP)
        SN_TRY(read_other_file(inp, text, input, depth));
cleanup:
    return status;
}

// ---- Lines of data

static sn_status add_range(sn_inp_reader *inp, sn_inp_sets *sets, const sn_inp_range *range) {
    sn_status status = sn_grow(inp->mesh.ctx, (void **)&sets->range, &sets->range_capacity,
                               sets->range_count + 1, sizeof *sets->range);
    if (status == SN_OK)
        sets->range[sets->range_count++] = *range;
    return status;
}

/// Adds the node that was read last to the set of its *NODE line.
static sn_status add_place(sn_inp_reader *inp) {
    sn_inp_sets *sets = &inp->node_sets;
    const int32_t place = inp->mesh.data->vertex_count - 1;
    sn_inp_range *last = sets->range_count > 0 ? &sets->range[sets->range_count - 1] : NULL;
    if (last && last->of_places && last->set == inp->set && last->last == place - 1) {
        last->last = place;
        return SN_OK;
    }
    const sn_inp_range range = {inp->set, place, place, 1, -1, true};
    return add_range(inp, sets, &range);
}

static sn_status read_node(sn_inp_reader *inp, sn_text *text) {
    sn_status status = SN_OK;
    sn_word field = {"", 0};
    double *position = NULL;
    int32_t tag = 0;
    if (!sn_text_field(text, &field) || !sn_word_int(text, field, &tag)) {
        text->at = field.size > 0 ? field.at : text->at;
        return sn_text_expected(text, "the number of a node");
    }
    SN_TRY(sn_mesh_builder_vertex(&inp->mesh, &position));
    SN_TRY(sn_grow(text->ctx, (void **)&inp->tag, &inp->tag_capacity, (size_t)inp->mesh.data->vertex_count,
                   sizeof *inp->tag));
    inp->tag[inp->mesh.data->vertex_count - 1] = tag;
    // What is left out is 0.
    for (int axis = 0; axis < 3 && sn_text_field(text, &field); axis++)
        if (field.size > 0 && !sn_word_real(text, field, &position[axis])) {
            text->at = field.at;
            return sn_text_expected(text, "three coordinates of node %d", tag);
        }
    if (inp->set >= 0)
        SN_TRY(add_place(inp));
    sn_text_next_line(text);
cleanup:
    return status;
}

/// Takes the next number of an element, on further lines too: a line that ends with a comma goes on.
static sn_status next_number(sn_text *text, int32_t *out_number) {
    sn_word field = {"", 0};
    while (!sn_text_field(text, &field) && text->at < text->end) {
        sn_text_next_line(text);
        if (text->at < text->end && *text->at == '*')
            break;
    }
    if (field.size > 0 && sn_word_int(text, field, out_number))
        return SN_OK;
    text->at = field.size > 0 ? field.at : text->at;
    return sn_text_expected(text, "the numbers of an element and its nodes, with commas between them");
}

static sn_status read_element(sn_inp_reader *inp, sn_text *text) {
    sn_status status = SN_OK;
    const sn_inp_kind *kind = inp->kind;
    sn_mesh_builder *mesh = &inp->mesh;
    int32_t tag = 0, node = 0, corner[CORNERS_MAX];
    SN_TRY(sn_inp_map_nodes(inp, text));
    SN_TRY(next_number(text, &tag));
    for (int32_t i = 0; i < kind->nodes; i++) {
        SN_TRY(next_number(text, &node));
        int32_t vertex = inp->nodes_are_mapped ? sn_tag_map_find(&inp->nodes, node) : -1;
        if (vertex < 0)
            return sn_text_fail(
                text, "found node %d in element %d, expected one that a *NODE before it lists", node, tag);
        if (i < kind->corners)
            corner[i] = vertex;
    }
    sn_cell_list *list = kind->list == 'e' ? &mesh->edges : kind->list == 'f' ? &mesh->faces : &mesh->tets;
    sn_inp_element element = {tag, list->count, inp->set, 0, kind->list};
    mesh->second_order += kind->nodes > 4;
    SN_TRY(sn_mesh_builder_cell(mesh, list, kind->corners, corner, -1));
    SN_TRY(sn_grow(text->ctx, (void **)&inp->element, &inp->element_capacity, inp->element_count + 1,
                   sizeof *inp->element));
    inp->element[inp->element_count++] = element;
    sn_text_next_line(text);
cleanup:
    return status;
}

/// Passes over an element of a kind that is not read.
static void skip_element(sn_inp_reader *inp, sn_text *text) {
    sn_mesh_builder_skip(&inp->mesh, inp->type);
    for (bool more = true; more && text->at < text->end && *text->at != '*';) {
        sn_word line = sn_text_rest(text);
        more = line.size > 0 && line.at[line.size - 1] == ',';
        sn_text_next_line(text);
    }
}

/// A line of a set with GENERATE: first, last and step.
static sn_status read_generated(sn_inp_reader *inp, sn_text *text) {
    int32_t number[3] = {0, 0, 1};
    sn_word field = {"", 0};
    for (int i = 0; i < 3 && sn_text_field(text, &field); i++)
        if (field.size > 0 && !sn_word_int(text, field, &number[i])) {
            text->at = field.at;
            return sn_text_expected(text, "first number, last number and step");
        }
    if (number[2] < 1 || number[1] < number[0])
        return sn_text_fail(
            text,
            "found the numbers %d to %d by %d, expected a last one that is not below the first "
            "and a step of at least 1",
            number[0], number[1], number[2]);
    sn_text_next_line(text);
    const sn_inp_range range = {inp->set, number[0], number[1], number[2], -1, false};
    return add_range(inp, inp->sets, &range);
}

/// A line of a set: numbers of its members and names of sets.
static sn_status read_members(sn_inp_reader *inp, sn_text *text) {
    sn_status status = SN_OK;
    sn_word field = {"", 0};
    while (sn_text_field(text, &field)) {
        sn_inp_range range = {inp->set, 0, 0, 1, -1, false};
        if (field.size == 0)
            continue;
        if (sn_word_int(text, field, &range.first))
            range.last = range.first;
        else
            SN_TRY(find_set(inp, inp->sets, field, &range.other));
        SN_TRY(add_range(inp, inp->sets, &range));
    }
    sn_text_next_line(text);
cleanup:
    return status;
}

static sn_status note_instance(sn_inp_reader *inp, sn_text *text) {
    sn_text_next_line(text);
    if (inp->noted_instance)
        return SN_OK;
    inp->noted_instance = true;
    return sn_mesh_builder_note(&inp->mesh, "passed over what moves an instance: the part is as it is");
}

static sn_status read_line(sn_inp_reader *inp, sn_text *text) {
    switch (inp->mode) {
    case SN_INP_MODE_NODES:
        return read_node(inp, text);
    case SN_INP_MODE_ELEMENTS:
        return read_element(inp, text);
    case SN_INP_MODE_OTHER_ELEMENTS:
        skip_element(inp, text);
        return SN_OK;
    case SN_INP_MODE_SET:
        return inp->generate ? read_generated(inp, text) : read_members(inp, text);
    case SN_INP_MODE_INSTANCE:
        return note_instance(inp, text);
    default:
        sn_text_next_line(text);
        return SN_OK;
    }
}

static bool is_comment(const sn_text *text) {
    return text->end - text->at >= 2 && text->at[0] == '*' && text->at[1] == '*';
}

static sn_status read_file(sn_inp_reader *inp, sn_text *text, int32_t depth) {
    sn_status status = SN_OK;
    if (text->has_zero_bytes)
        return sn_text_fail(text, "found binary data, expected a text of Abaqus or CalculiX");
    while (sn_text_skip_space(text)) {
        if (is_comment(text))
            sn_text_next_line(text);
        else if (*text->at == '*')
            SN_TRY(read_keyword(inp, text, depth));
        else
            SN_TRY(read_line(inp, text));
    }
cleanup:
    return status;
}

bool sn_inp_is(sn_text *text) {
    bool star = false, other = false;
    while (!star && !other && sn_text_skip_space(text)) {
        star = *text->at == '*' && !is_comment(text);
        other = *text->at != '*';
        sn_text_next_line(text);
    }
    sn_text_rewind(text);
    return star;
}

sn_status sn_inp_read(sn_text *text, sn_mesh_data *data) {
    sn_status status = SN_OK;
    sn_inp_reader inp = {.mesh = sn_mesh_builder_make(text, data), .set = -1};
    SN_TRY(read_file(&inp, text, 0));
    SN_TRY(sn_inp_take_groups(&inp));
    SN_TRY(sn_inp_take_node_sets(&inp));
    SN_TRY(sn_mesh_builder_finish(&inp.mesh, "elements of type"));
cleanup:
    SN_RELEASE(text->ctx, inp.tag);
    SN_RELEASE(text->ctx, inp.is_section);
    SN_RELEASE(text->ctx, inp.element_sets.range);
    SN_RELEASE(text->ctx, inp.node_sets.range);
    SN_RELEASE(text->ctx, inp.element);
    sn_tag_map_release(text->ctx, &inp.nodes);
    sn_name_table_release(text->ctx, &inp.element_sets.names);
    sn_name_table_release(text->ctx, &inp.node_sets.names);
    sn_mesh_builder_release(&inp.mesh);
    return status;
}
