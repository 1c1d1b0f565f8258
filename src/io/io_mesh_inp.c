/// Abaqus and CalculiX .inp: *NODE, *ELEMENT (tets, triangles, quadrangles, lines; of second order, the
/// corners), *ELSET with GENERATE, *INCLUDE. Groups are sets of elements: those that a section gives a
/// material come first, then the last *ELSET that lists an element, then the ELSET of its *ELEMENT line. One
/// part is read as the mesh, without what its instance moves; several are refused. Sets of nodes, materials,
/// steps are passed over.
#include "io/io_mesh_build.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 8, INCLUDES_MAX = 256, PARAMETERS_MAX = 16, NODES_MAX = 32, CORNERS_MAX = 4 };

/// Kinds of elements: names that start so, nodes, corners that are taken, list ('e', 'f', 't').
typedef struct inp_kind {
    const char *name;
    uint8_t nodes, corners;
    char list;
} inp_kind;

static const inp_kind kinds[] = {
    {"C3D4", 4, 4, 't'},  {"C3D10", 10, 4, 't'},  {"DC3D4", 4, 4, 't'},  {"DC3D10", 10, 4, 't'},
    {"AC3D4", 4, 4, 't'}, {"AC3D10", 10, 4, 't'}, {"STRI3", 3, 3, 'f'},  {"STRI65", 6, 3, 'f'},
    {"S3", 3, 3, 'f'},    {"S4", 4, 4, 'f'},      {"S6", 6, 3, 'f'},     {"S8", 8, 4, 'f'},
    {"M3D3", 3, 3, 'f'},  {"M3D4", 4, 4, 'f'},    {"M3D6", 6, 3, 'f'},   {"M3D8", 8, 4, 'f'},
    {"R3D3", 3, 3, 'f'},  {"R3D4", 4, 4, 'f'},    {"SFM3D3", 3, 3, 'f'}, {"SFM3D4", 4, 4, 'f'},
    {"CPS3", 3, 3, 'f'},  {"CPE3", 3, 3, 'f'},    {"CPS4", 4, 4, 'f'},   {"CPE4", 4, 4, 'f'},
    {"CPS6", 6, 3, 'f'},  {"CPE6", 6, 3, 'f'},    {"CPS8", 8, 4, 'f'},   {"CPE8", 8, 4, 'f'},
    {"DS3", 3, 3, 'f'},   {"DS4", 4, 4, 'f'},     {"T3D2", 2, 2, 'e'},   {"B31", 2, 2, 'e'},
    {"LINE2", 2, 2, 'e'}};

/// A word of a keyword's line.
typedef struct inp_parameter {
    sn_word name, value;
} inp_parameter;

/// What the lines of a keyword are.
typedef enum inp_mode {
    MODE_SKIP = 0,
    MODE_NODES,
    MODE_ELEMENTS,
    MODE_OTHER_ELEMENTS, ///< Of a kind that is not read.
    MODE_SET,
    MODE_INSTANCE
} inp_mode;

/// Elements of a set: numbers first, first + step, ..., last, or all of another set.
typedef struct inp_range {
    int32_t set, first, last, step;
    int32_t other; ///< -1: the numbers count.
} inp_range;

/// An element that was read.
typedef struct inp_element {
    int32_t tag, place; ///< Number in the file, and place in its list.
    int32_t set;        ///< Of its *ELEMENT line, or -1.
    int32_t next;       ///< Next one, by number, that has no group; itself if it has none.
    char list;
} inp_element;

typedef struct inp_reader {
    sn_mesh_builder mesh;
    int32_t includes, parts;
    bool noted_instance, in_assembly, in_instance;
    inp_mode mode;
    inp_parameter parameter[PARAMETERS_MAX];
    int32_t parameter_count;
    const inp_kind *kind;
    char type[24]; ///< Of elements, as the file calls it.
    int32_t set;   ///< Of the keyword, or -1.
    bool generate;
    int32_t *tag; ///< Of the nodes.
    size_t tag_capacity;
    sn_tag_map nodes;
    bool nodes_are_mapped;
    sn_name_table sets;
    bool *is_section; ///< [sets.count] whether a section gives it a material
    size_t section_capacity;
    inp_range *range;
    size_t range_count, range_capacity;
    inp_element *element;
    size_t element_count, element_capacity;
    int64_t node_set_lines, work;
} inp_reader;

static sn_status read_file(inp_reader *inp, sn_text *text, int32_t depth);

// ---- Keyword lines

static int shown(sn_word word) {
    return (int)(word.size < 64 ? word.size : 64);
}

/// Takes the fields behind a keyword, of further lines too if a line ends with a comma.
static sn_status read_parameters(inp_reader *inp, sn_text *text) {
    sn_word field = {"", 0};
    inp->parameter_count = 0;
    for (;;) {
        while (sn_text_field(text, &field)) {
            const char *equal = memchr(field.at, '=', field.size);
            inp_parameter parameter = {field, {"", 0}};
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
                parameter = (inp_parameter){name, value};
            }
            if (inp->parameter_count == PARAMETERS_MAX)
                return sn_text_fail(text, "found more than %d parameters of a keyword", PARAMETERS_MAX);
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

static sn_word parameter(const inp_reader *inp, const char *name) {
    for (int32_t i = 0; i < inp->parameter_count; i++)
        if (sn_word_is_alike(inp->parameter[i].name, name))
            return inp->parameter[i].value;
    return (sn_word){"", 0};
}

static bool has_parameter(const inp_reader *inp, const char *name) {
    for (int32_t i = 0; i < inp->parameter_count; i++)
        if (sn_word_is_alike(inp->parameter[i].name, name))
            return true;
    return false;
}

/// Number of the set of a name, which may be new; -1 without a name.
static sn_status find_set(inp_reader *inp, sn_word name, int32_t *out_set) {
    sn_status status = SN_OK;
    sn_context *ctx = inp->mesh.ctx;
    int32_t before = inp->sets.count;
    *out_set = -1;
    if (name.size == 0)
        return SN_OK;
    SN_TRY(sn_name_table_add(ctx, &inp->sets, name, out_set));
    SN_TRY(sn_grow(ctx, (void **)&inp->is_section, &inp->section_capacity, (size_t)inp->sets.count,
                   sizeof *inp->is_section));
    if (inp->sets.count > before)
        inp->is_section[*out_set] = false;
cleanup:
    return status;
}

/// Opens the file that a keyword names and reads it: with the lines of the keyword, or as a part of this
/// file.
static sn_status read_other_file(inp_reader *inp, sn_text *text, sn_word name, int32_t depth) {
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

static sn_status read_include(inp_reader *inp, sn_text *text, int32_t depth) {
    sn_word name = parameter(inp, "INPUT");
    if (name.size == 0)
        return sn_text_fail(text, "found *INCLUDE without INPUT=..., expected the name of a file");
    return read_other_file(inp, text, name, depth);
}

static sn_status start_nodes(inp_reader *inp, sn_text *text) {
    sn_word system = parameter(inp, "SYSTEM");
    if (system.size > 0 && !sn_word_is_alike(system, "R"))
        return sn_text_fail(text, "found nodes in the system %.*s, expected rectangular coordinates",
                            shown(system), system.at);
    if (inp->parts > 1)
        return sn_text_fail(
            text, "found nodes of a second part, expected one; write each part to a file of its own, "
                  "or the mesh of the assembly as one");
    inp->mode = MODE_NODES;
    inp->nodes_are_mapped = false;
    return SN_OK;
}

static bool starts_alike(sn_word word, const char *name) {
    size_t size = strlen(name);
    return word.size >= size && sn_word_is_alike((sn_word){word.at, size}, name);
}

/// The kind whose name a type is, or is with letters behind it (C3D10M, S4R); NULL if there is none.
static const inp_kind *find_kind(sn_word type) {
    const inp_kind *found = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t size = strlen(kinds[i].name);
        bool digit = type.size > size && type.at[size] >= '0' && type.at[size] <= '9';
        if (starts_alike(type, kinds[i].name) && !digit)
            found = &kinds[i];
    }
    return found;
}

static sn_status start_elements(inp_reader *inp, sn_text *text) {
    sn_word type = parameter(inp, "TYPE");
    if (type.size == 0)
        return sn_text_fail(text, "found *ELEMENT without TYPE=..., expected one such as C3D4");
    size_t size = type.size < sizeof inp->type - 1 ? type.size : sizeof inp->type - 1;
    memcpy(inp->type, type.at, size);
    inp->type[size] = '\0';
    inp->kind = find_kind(type);
    inp->mode = inp->kind ? MODE_ELEMENTS : MODE_OTHER_ELEMENTS;
    return find_set(inp, parameter(inp, "ELSET"), &inp->set);
}

static sn_status start_set(inp_reader *inp, sn_text *text) {
    sn_word name = parameter(inp, "ELSET");
    // Sets that a program made for itself.
    if (has_parameter(inp, "INTERNAL") || (name.size > 0 && name.at[0] == '_'))
        return SN_OK;
    if (name.size == 0)
        return sn_text_fail(text, "found *ELSET without a name, expected ELSET=...");
    inp->mode = MODE_SET;
    inp->generate = has_parameter(inp, "GENERATE");
    return find_set(inp, name, &inp->set);
}

static sn_status note_section(inp_reader *inp) {
    int32_t set = -1;
    sn_status status = find_set(inp, parameter(inp, "ELSET"), &set);
    if (status == SN_OK && set >= 0)
        inp->is_section[set] = true;
    return status;
}

static sn_status read_keyword(inp_reader *inp, sn_text *text, int32_t depth) {
    sn_status status = SN_OK;
    sn_word word = {"", 0};
    int64_t line = text->line;
    sn_text_field(text, &word);
    SN_TRY(read_parameters(inp, text));
    inp->mode = MODE_SKIP;
    inp->set = -1;
    if (sn_word_is_alike(word, "*INCLUDE"))
        return read_include(inp, text, depth);
    if (sn_word_is_alike(word, "*PART")) {
        inp->parts++;
    } else if (sn_word_is_alike(word, "*ASSEMBLY") || sn_word_is_alike(word, "*END ASSEMBLY")) {
        inp->in_assembly = sn_word_is_alike(word, "*ASSEMBLY");
    } else if (sn_word_is_alike(word, "*INSTANCE") || sn_word_is_alike(word, "*END INSTANCE")) {
        inp->in_instance = sn_word_is_alike(word, "*INSTANCE");
        inp->mode = inp->in_instance ? MODE_INSTANCE : MODE_SKIP;
    } else if (inp->in_assembly && !inp->in_instance &&
               (sn_word_is_alike(word, "*NODE") || sn_word_is_alike(word, "*ELEMENT"))) {
        SN_TRY(sn_mesh_builder_note(&inp->mesh, "passed over %.*s of the assembly in line %lld", shown(word),
                                    word.at, (long long)line));
    } else if (sn_word_is_alike(word, "*NODE")) {
        SN_TRY(start_nodes(inp, text));
    } else if (sn_word_is_alike(word, "*ELEMENT")) {
        SN_TRY(start_elements(inp, text));
    } else if (sn_word_is_alike(word, "*ELSET")) {
        SN_TRY(start_set(inp, text));
    } else if (sn_word_is_alike(word, "*SOLID SECTION") || sn_word_is_alike(word, "*SHELL SECTION") ||
               sn_word_is_alike(word, "*MEMBRANE SECTION")) {
        SN_TRY(note_section(inp));
    } else if (sn_word_is_alike(word, "*NSET")) {
        sn_word name = parameter(inp, "NSET");
        SN_TRY(sn_mesh_builder_note(&inp->mesh, "passed over the set of nodes %.*s in line %lld", shown(name),
                                    name.at, (long long)line));
    } else if (sn_word_is_alike(word, "*NGEN") || sn_word_is_alike(word, "*NFILL") ||
               sn_word_is_alike(word, "*ELGEN") || sn_word_is_alike(word, "*NCOPY") ||
               sn_word_is_alike(word, "*ELCOPY")) {
        return sn_text_fail(text, "found %.*s, which makes nodes or elements, expected them in full",
                            shown(word), word.at);
    }
    sn_word input = parameter(inp, "INPUT");
    if (input.size > 0 && inp->mode != MODE_SKIP)
        SN_TRY(read_other_file(inp, text, input, depth));
cleanup:
    return status;
}

// ---- Lines of data

static sn_status read_node(inp_reader *inp, sn_text *text) {
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
    sn_text_next_line(text);
cleanup:
    return status;
}

static sn_status map_nodes(inp_reader *inp, sn_text *text) {
    int32_t duplicate = -1, count = inp->mesh.data->vertex_count;
    if (inp->nodes_are_mapped || count == 0)
        return SN_OK;
    sn_tag_map_release(text->ctx, &inp->nodes);
    sn_status status = sn_tag_map_make(text->ctx, count, inp->tag, &inp->nodes, &duplicate);
    if (status < 0)
        return status;
    inp->nodes_are_mapped = true;
    return duplicate < 0
               ? SN_OK
               : sn_text_fail(text, "found node %d twice before this line, expected each number once",
                              inp->tag[duplicate]);
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

static sn_status read_element(inp_reader *inp, sn_text *text) {
    sn_status status = SN_OK;
    const inp_kind *kind = inp->kind;
    sn_mesh_builder *mesh = &inp->mesh;
    int32_t tag = 0, node = 0, corner[CORNERS_MAX];
    SN_TRY(map_nodes(inp, text));
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
    inp_element element = {tag, list->count, inp->set, 0, kind->list};
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
static void skip_element(inp_reader *inp, sn_text *text) {
    sn_mesh_builder_skip(&inp->mesh, inp->type);
    for (bool more = true; more && text->at < text->end && *text->at != '*';) {
        sn_word line = sn_text_rest(text);
        more = line.size > 0 && line.at[line.size - 1] == ',';
        sn_text_next_line(text);
    }
}

static sn_status add_range(inp_reader *inp, const inp_range *range) {
    sn_status status = sn_grow(inp->mesh.ctx, (void **)&inp->range, &inp->range_capacity,
                               inp->range_count + 1, sizeof *inp->range);
    if (status == SN_OK)
        inp->range[inp->range_count++] = *range;
    return status;
}

/// A line of *ELSET, GENERATE: first, last and step.
static sn_status read_generated(inp_reader *inp, sn_text *text) {
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
    const inp_range range = {inp->set, number[0], number[1], number[2], -1};
    return add_range(inp, &range);
}

/// A line of *ELSET: numbers of elements and names of sets.
static sn_status read_members(inp_reader *inp, sn_text *text) {
    sn_status status = SN_OK;
    sn_word field = {"", 0};
    while (sn_text_field(text, &field)) {
        inp_range range = {inp->set, 0, 0, 1, -1};
        if (field.size == 0)
            continue;
        if (sn_word_int(text, field, &range.first))
            range.last = range.first;
        else
            SN_TRY(find_set(inp, field, &range.other));
        SN_TRY(add_range(inp, &range));
    }
    sn_text_next_line(text);
cleanup:
    return status;
}

static sn_status note_instance(inp_reader *inp, sn_text *text) {
    sn_text_next_line(text);
    if (inp->noted_instance)
        return SN_OK;
    inp->noted_instance = true;
    return sn_mesh_builder_note(&inp->mesh, "passed over what moves an instance: the part is as it is");
}

static sn_status read_line(inp_reader *inp, sn_text *text) {
    switch (inp->mode) {
    case MODE_NODES:
        return read_node(inp, text);
    case MODE_ELEMENTS:
        return read_element(inp, text);
    case MODE_OTHER_ELEMENTS:
        skip_element(inp, text);
        return SN_OK;
    case MODE_SET:
        return inp->generate ? read_generated(inp, text) : read_members(inp, text);
    case MODE_INSTANCE:
        return note_instance(inp, text);
    default:
        sn_text_next_line(text);
        return SN_OK;
    }
}

static bool is_comment(const sn_text *text) {
    return text->end - text->at >= 2 && text->at[0] == '*' && text->at[1] == '*';
}

static sn_status read_file(inp_reader *inp, sn_text *text, int32_t depth) {
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

// ---- Sets become groups

static int compare_elements(const void *left, const void *right) {
    const inp_element *a = left, *b = right;
    return a->tag != b->tag ? (a->tag < b->tag ? -1 : 1) : 0;
}

static int32_t *group_of(inp_reader *inp, const inp_element *element) {
    sn_cell_list *list = element->list == 'e'   ? &inp->mesh.edges
                         : element->list == 'f' ? &inp->mesh.faces
                                                : &inp->mesh.tets;
    list->has_group = true;
    return &list->group[element->place];
}

/// First element from `i` on that has no group; the way is made shorter for the next time.
static int32_t next_free(inp_reader *inp, int32_t i) {
    int32_t end = i;
    while (end < (int32_t)inp->element_count && inp->element[end].next != end)
        end = inp->element[end].next;
    while (i < (int32_t)inp->element_count && inp->element[i].next != end && i != end) {
        int32_t next = inp->element[i].next;
        inp->element[i].next = end;
        i = next;
    }
    return end;
}

/// First element with a number of at least `tag`.
static int32_t find_element(const inp_reader *inp, int32_t tag) {
    int32_t low = 0, high = (int32_t)inp->element_count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (inp->element[middle].tag < tag)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static sn_status group_of_set(inp_reader *inp, int32_t set, int32_t *out_group) {
    const char *name = inp->sets.name[set];
    return sn_name_table_add(inp->mesh.ctx, &inp->mesh.groups, (sn_word){name, strlen(name)}, out_group);
}

static sn_status take_element(inp_reader *inp, int32_t i, int32_t set) {
    int32_t group = -1;
    sn_status status = group_of_set(inp, set, &group);
    if (status < 0)
        return status;
    *group_of(inp, &inp->element[i]) = group;
    inp->element[i].next = i + 1;
    return SN_OK;
}

/// Counts steps, of which sets that name one another could ask for very many.
static sn_status count_work(inp_reader *inp, int64_t limit) {
    return inp->work++ < limit
               ? SN_OK
               : sn_fail(inp->mesh.ctx, SN_ERR_READ,
                         "%s: found sets of elements that list others over and over; list the "
                         "elements themselves",
                         inp->mesh.text->path);
}

static int64_t work_limit(const inp_reader *inp) {
    return 1000000 + 1000 * ((int64_t)inp->element_count + (int64_t)inp->range_count);
}

/// Gives the elements of a range that have no group that of a set.
static sn_status apply_range(inp_reader *inp, const inp_range *range, int32_t set) {
    sn_status status = SN_OK;
    int32_t count = (int32_t)inp->element_count;
    for (int32_t i = next_free(inp, find_element(inp, range->first));
         i < count && inp->element[i].tag <= range->last; i = next_free(inp, i + 1)) {
        SN_TRY(count_work(inp, work_limit(inp)));
        if (((int64_t)inp->element[i].tag - range->first) % range->step == 0)
            SN_TRY(take_element(inp, i, set));
    }
cleanup:
    return status;
}

/// Gives the elements of `from` that have no group that of `set`.
static sn_status apply_set(inp_reader *inp, int32_t from, int32_t set, int32_t depth) {
    sn_status status = SN_OK;
    if (depth > DEPTH_MAX)
        return sn_fail(inp->mesh.ctx, SN_ERR_READ,
                       "%s: found the set %s inside more than %d others; does a set list "
                       "itself?",
                       inp->mesh.text->path, inp->sets.name[from], DEPTH_MAX);
    for (size_t i = 0; i < inp->range_count; i++) {
        const inp_range *range = &inp->range[i];
        SN_TRY(count_work(inp, work_limit(inp)));
        if (range->set == from)
            SN_TRY(range->other >= 0 ? apply_set(inp, range->other, set, depth + 1)
                                     : apply_range(inp, range, set));
    }
    for (int32_t i = next_free(inp, 0); i < (int32_t)inp->element_count; i = next_free(inp, i + 1)) {
        SN_TRY(count_work(inp, work_limit(inp)));
        if (inp->element[i].set == from)
            SN_TRY(take_element(inp, i, set));
    }
cleanup:
    return status;
}

/// Applies the sets that are sections, or those that are none. The last range that lists an element counts,
/// so that they are applied from the last to the first.
static sn_status apply_lists(inp_reader *inp, bool sections) {
    sn_status status = SN_OK;
    for (size_t i = inp->range_count; i > 0; i--) {
        const inp_range *range = &inp->range[i - 1];
        if (inp->is_section[range->set] == sections)
            SN_TRY(range->other >= 0 ? apply_set(inp, range->other, range->set, 1)
                                     : apply_range(inp, range, range->set));
    }
    for (int32_t i = next_free(inp, 0); i < (int32_t)inp->element_count; i = next_free(inp, i + 1)) {
        int32_t set = inp->element[i].set;
        if (set >= 0 && inp->is_section[set] == sections)
            SN_TRY(take_element(inp, i, set));
    }
cleanup:
    return status;
}

static sn_status set_groups(inp_reader *inp) {
    sn_status status = SN_OK;
    if (inp->element_count == 0)
        return SN_OK;
    if (inp->element_count > INT32_MAX - 1)
        return sn_fail(inp->mesh.ctx, SN_ERR_READ, "%s: found %zu elements, expected up to %d",
                       inp->mesh.text->path, inp->element_count, INT32_MAX - 1);
    qsort(inp->element, inp->element_count, sizeof *inp->element, compare_elements);
    for (size_t i = 0; i < inp->element_count; i++) {
        if (i > 0 && inp->element[i].tag == inp->element[i - 1].tag)
            return sn_fail(inp->mesh.ctx, SN_ERR_READ,
                           "%s: found element %d twice, expected each number once", inp->mesh.text->path,
                           inp->element[i].tag);
        inp->element[i].next = (int32_t)i;
    }
    SN_TRY(apply_lists(inp, true));
    SN_TRY(apply_lists(inp, false));
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
    inp_reader inp = {.mesh = sn_mesh_builder_make(text, data), .set = -1};
    SN_TRY(read_file(&inp, text, 0));
    SN_TRY(set_groups(&inp));
    SN_TRY(sn_mesh_builder_finish(&inp.mesh, "elements of type"));
cleanup:
    SN_RELEASE(text->ctx, inp.tag);
    SN_RELEASE(text->ctx, inp.is_section);
    SN_RELEASE(text->ctx, inp.range);
    SN_RELEASE(text->ctx, inp.element);
    sn_tag_map_release(text->ctx, &inp.nodes);
    sn_name_table_release(text->ctx, &inp.sets);
    sn_mesh_builder_release(&inp.mesh);
    return status;
}
