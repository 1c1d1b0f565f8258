/// Gmsh MSH 2.0 to 2.2 and 4.1, ascii and binary: nodes in file order, lines, triangles, quadrangles and
/// tets; of higher orders, the corners. Physical groups, in 4.1 those of the entities, by name or as
/// "tag<n>". Other elements and sections are skipped with a note.
///
/// The sections of both versions are read by the same functions from text and from bytes: next_int(),
/// next_size() and next_real() take a number of either. What is a line of its own in 2.2 ascii is read as
/// one, so that messages name lines that a person finds wrong.
#include "io/io_mesh_build.h"

#include <stdio.h>
#include <string.h>

enum { NAME_SIZE = 32, MAX_TAGS = 1000, DIMENSIONS = 4, CORNERS_MAX = 4, TYPE_COUNT = 94 };

/// Kinds of elements by Gmsh's number: nodes in all, corners that we take (0: skipped).
typedef struct gmsh_kind {
    uint8_t nodes, corners, dimension;
    const char *name;
} gmsh_kind;

static const gmsh_kind kinds[TYPE_COUNT] = {
    [1] = {2, 2, 1, "line"},
    [2] = {3, 3, 2, "triangle"},
    [3] = {4, 4, 2, "quadrangle"},
    [4] = {4, 4, 3, "tetrahedron"},
    [5] = {8, 0, 3, "hexahedron"},
    [6] = {6, 0, 3, "prism"},
    [7] = {5, 0, 3, "pyramid"},
    [8] = {3, 2, 1, "3-node line"},
    [9] = {6, 3, 2, "6-node triangle"},
    [10] = {9, 4, 2, "9-node quadrangle"},
    [11] = {10, 4, 3, "10-node tetrahedron"},
    [12] = {27, 0, 3, "27-node hexahedron"},
    [13] = {18, 0, 3, "18-node prism"},
    [14] = {14, 0, 3, "14-node pyramid"},
    [15] = {1, 0, 0, "point"},
    [16] = {8, 4, 2, "8-node quadrangle"},
    [17] = {20, 0, 3, "20-node hexahedron"},
    [18] = {15, 0, 3, "15-node prism"},
    [19] = {13, 0, 3, "13-node pyramid"},
    [20] = {9, 3, 2, "9-node triangle"},
    [21] = {10, 3, 2, "10-node triangle"},
    [22] = {12, 3, 2, "12-node triangle"},
    [23] = {15, 3, 2, "15-node triangle"},
    [24] = {15, 3, 2, "15-node triangle"},
    [25] = {21, 3, 2, "21-node triangle"},
    [26] = {4, 2, 1, "4-node line"},
    [27] = {5, 2, 1, "5-node line"},
    [28] = {6, 2, 1, "6-node line"},
    [29] = {20, 4, 3, "20-node tetrahedron"},
    [30] = {35, 4, 3, "35-node tetrahedron"},
    [31] = {56, 4, 3, "56-node tetrahedron"},
    [92] = {64, 0, 3, "64-node hexahedron"},
    [93] = {125, 0, 3, "125-node hexahedron"},
};

/// Physical groups of the entities of one dimension.
typedef struct entity_list {
    int64_t *tag;
    int32_t *physical;
    size_t count, tag_capacity, physical_capacity;
    sn_tag_map map;
} entity_list;

typedef struct gmsh_reader {
    sn_mesh_builder mesh;
    sn_text *text;
    sn_mesh_data *data;
    bool has_format, has_nodes, binary, big_endian, noted_partitions;
    int32_t version; ///< 2 or 4
    sn_number_type size_type;
    sn_tag_map nodes;
    int64_t *tag; ///< Of the nodes, as they come.
    size_t tag_capacity;
    entity_list entities[DIMENSIONS];
    sn_name_table physicals; ///< "dimension tag" of each named physical group
    int32_t *physical_group; ///< [physicals.count] its group
    size_t physical_capacity;
    int32_t last_tag[DIMENSIONS], last_group[DIMENSIONS];
    int64_t skipped_sections;
} gmsh_reader;

// ---- Numbers

static sn_status next_number(gmsh_reader *gmsh, sn_number_type type, const char *what, int64_t *out_value) {
    sn_text *text = gmsh->text;
    if (!gmsh->binary) {
        double value = 0;
        sn_text_skip_space(text);
        const char *begin = text->at;
        // Whole numbers below 2^53 are exact as doubles, and more nodes no file holds.
        if (sn_text_real(text, &value) && value >= -9e15 && value <= 9e15 &&
            value == (double)(int64_t)value) {
            *out_value = (int64_t)value;
            return SN_OK;
        }
        text->at = begin;
        return sn_text_expected(text, "%s", what);
    }
    const char *at = sn_text_bytes(text, sn_number_size(type));
    if (!at)
        return sn_text_fail(
            text, "found the end of the file, expected %s; the file was cut short: write it again", what);
    if (!sn_number_int(at, type, gmsh->big_endian, out_value))
        return sn_text_fail(text, "found a number beyond all use, expected %s; the file is damaged", what);
    return SN_OK;
}

static sn_status next_int(gmsh_reader *gmsh, const char *what, int32_t *out_value) {
    int64_t value = 0;
    sn_status status = next_number(gmsh, SN_NUMBER_I32, what, &value);
    if (status == SN_OK && (value > INT32_MAX || value < -INT32_MAX))
        return sn_text_fail(gmsh->text, "found %lld, expected %s, up to %d", (long long)value, what,
                            INT32_MAX);
    *out_value = (int32_t)value;
    return status;
}

/// Takes a number of entries, each of at least so many bytes.
static sn_status next_count(gmsh_reader *gmsh, const char *what, size_t bytes_text, size_t bytes_binary,
                            int64_t *out_count) {
    sn_status status = next_number(gmsh, gmsh->size_type, what, out_count);
    if (status < 0)
        return status;
    return sn_text_check_count(gmsh->text, *out_count, gmsh->binary ? bytes_binary : bytes_text, what);
}

static sn_status next_real(gmsh_reader *gmsh, const char *what, double *out_value) {
    sn_text *text = gmsh->text;
    if (!gmsh->binary) {
        sn_text_skip_space(text);
        return sn_text_real(text, out_value) ? SN_OK : sn_text_expected(text, "%s", what);
    }
    const char *at = sn_text_bytes(text, 8);
    if (!at)
        return sn_text_fail(
            text, "found the end of the file, expected %s; the file was cut short: write it again", what);
    *out_value = sn_number_real(at, SN_NUMBER_F64, gmsh->big_endian);
    return SN_OK;
}

/// Takes the number of entries of 2.2, which stands on a line of its own, in binary files too.
static sn_status read_count(sn_text *text, const char *what, size_t bytes_each, int32_t *out_count) {
    sn_text_skip_space(text);
    if (!sn_text_int(text, out_count))
        return sn_text_expected(text, "the number of %s", what);
    sn_text_next_line(text);
    return sn_text_check_count(text, *out_count, bytes_each, what);
}

// ---- Format and names

/// Takes the number 1 that tells the byte order.
static sn_status read_byte_order(gmsh_reader *gmsh) {
    sn_text *text = gmsh->text;
    sn_text_next_line(text);
    text->binary = true;
    const char *at = sn_text_bytes(text, 4);
    int64_t one = 0;
    gmsh->binary = true;
    if (at && sn_number_int(at, SN_NUMBER_I32, false, &one) && one == 1)
        return SN_OK;
    gmsh->big_endian = true;
    if (at && sn_number_int(at, SN_NUMBER_I32, true, &one) && one == 1)
        return SN_OK;
    return sn_text_fail(text,
                        "found another number than 1 behind the format, which tells the byte order; the "
                        "file is damaged: write it again");
}

static sn_status read_format(gmsh_reader *gmsh) {
    sn_text *text = gmsh->text;
    double version = 0;
    int32_t binary = 0, size = 0;
    sn_text_skip_space(text);
    if (!sn_text_real(text, &version) || !sn_text_int(text, &binary) || !sn_text_int(text, &size))
        return sn_text_expected(text, "a version such as 2.2 0 8 behind $MeshFormat");
    if (!((version >= 2 && version < 3) || version == 4.1) || (binary != 0 && binary != 1))
        return sn_text_fail(text,
                            "found MSH version %g, expected 2.2 or 4.1; convert it with: gmsh -save -format "
                            "msh41 -o new.msh %s",
                            version, text->path);
    if (version == 4.1 ? size != 4 && size != 8 : binary && size != 8)
        return sn_text_fail(text, "found %d as the bytes of a number, expected %s", size,
                            version == 4.1 ? "8 or 4" : "8");
    if (!binary && text->has_zero_bytes)
        return sn_text_fail(text, "found binary data in a file that says it is ascii; write it again");
    gmsh->has_format = true;
    gmsh->version = version == 4.1 ? 4 : 2;
    gmsh->size_type = size == 4 ? SN_NUMBER_U32 : SN_NUMBER_U64;
    return binary ? read_byte_order(gmsh) : SN_OK;
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
    if (name.size == 0 || memchr(name.at, 0, name.size))
        return sn_text_expected(text, "the name of physical group %d", tag);
    SN_TRY(sn_name_table_add(ctx, &gmsh->physicals, physical_key(buffer, dimension, tag), &place));
    SN_TRY(sn_grow(ctx, (void **)&gmsh->physical_group, &gmsh->physical_capacity,
                   (size_t)gmsh->physicals.count, sizeof *gmsh->physical_group));
    SN_TRY(sn_name_table_add(ctx, &gmsh->mesh.groups, name, &gmsh->physical_group[place]));
cleanup:
    return status;
}

/// Names are text in binary files too.
static sn_status read_physical_names(gmsh_reader *gmsh) {
    sn_status status = SN_OK;
    int32_t count = 0;
    SN_TRY(read_count(gmsh->text, "physical names", 6, &count));
    for (int32_t i = 0; i < count; i++)
        SN_TRY(read_physical_name(gmsh));
cleanup:
    return status;
}

/// Group of a physical number of a dimension; 0: none.
static sn_status find_group(gmsh_reader *gmsh, int32_t dimension, int32_t tag, int32_t *out_group) {
    if (tag != gmsh->last_tag[dimension]) {
        char buffer[NAME_SIZE];
        int32_t group = -1;
        int32_t named = tag ? sn_name_table_find(&gmsh->physicals, physical_key(buffer, dimension, tag)) : -1;
        if (named >= 0) {
            group = gmsh->physical_group[named];
        } else if (tag != 0) {
            int size = snprintf(buffer, sizeof buffer, "tag%d", tag);
            sn_status status = sn_name_table_add(gmsh->text->ctx, &gmsh->mesh.groups,
                                                 (sn_word){buffer, (size_t)size}, &group);
            if (status < 0)
                return status;
        }
        gmsh->last_tag[dimension] = tag;
        gmsh->last_group[dimension] = group;
    }
    *out_group = gmsh->last_group[dimension];
    return SN_OK;
}

static sn_status note_partitions(gmsh_reader *gmsh) {
    if (gmsh->noted_partitions)
        return SN_OK;
    gmsh->noted_partitions = true;
    return sn_mesh_builder_note(&gmsh->mesh, "passed over the partitions: the mesh is one");
}

// ---- Entities (4.1)

static sn_status skip_numbers(gmsh_reader *gmsh, int64_t count, bool real, const char *what) {
    sn_status status = SN_OK;
    for (int64_t i = 0; i < count; i++) {
        double ignored;
        int32_t ignored_int;
        if (real)
            SN_TRY(next_real(gmsh, what, &ignored));
        else
            SN_TRY(next_int(gmsh, what, &ignored_int));
    }
cleanup:
    return status;
}

static sn_status skip_ints(gmsh_reader *gmsh, const char *what) {
    sn_status status = SN_OK;
    int64_t count = 0;
    SN_TRY(next_count(gmsh, what, 2, 4, &count));
    SN_TRY(skip_numbers(gmsh, count, false, what));
cleanup:
    return status;
}

static sn_status read_entity(gmsh_reader *gmsh, int32_t dimension, bool partitioned) {
    sn_status status = SN_OK;
    entity_list *list = &gmsh->entities[dimension];
    int64_t physical_count = 0;
    int32_t tag = 0, physical = 0, other = 0;
    SN_TRY(next_int(gmsh, "the number of an entity", &tag));
    if (partitioned) {
        SN_TRY(skip_numbers(gmsh, 2, false, "dimension and number of the parent of an entity"));
        SN_TRY(skip_ints(gmsh, "partitions of an entity"));
    }
    SN_TRY(skip_numbers(gmsh, dimension == 0 ? 3 : 6, true, "the bounds of an entity"));
    SN_TRY(next_count(gmsh, "physical groups of an entity", 2, 4, &physical_count));
    for (int64_t i = 0; i < physical_count; i++)
        SN_TRY(next_int(gmsh, "the number of a physical group", i == 0 ? &physical : &other));
    if (dimension > 0)
        SN_TRY(skip_ints(gmsh, "entities that bound an entity"));
    SN_TRY(sn_grow(gmsh->text->ctx, (void **)&list->tag, &list->tag_capacity, list->count + 1,
                   sizeof *list->tag));
    SN_TRY(sn_grow(gmsh->text->ctx, (void **)&list->physical, &list->physical_capacity, list->count + 1,
                   sizeof *list->physical));
    list->tag[list->count] = tag;
    // A negative number means that the entity is turned round in the group.
    list->physical[list->count++] = physical < 0 ? -physical : physical;
cleanup:
    return status;
}

static sn_status read_entity_lists(gmsh_reader *gmsh, bool partitioned) {
    sn_status status = SN_OK;
    int64_t count[DIMENSIONS];
    for (int i = 0; i < DIMENSIONS; i++)
        SN_TRY(next_count(gmsh, "entities", 8, 16, &count[i]));
    for (int32_t i = 0; i < DIMENSIONS; i++) {
        for (int64_t k = 0; k < count[i]; k++)
            SN_TRY(read_entity(gmsh, i, partitioned));
        int32_t duplicate = -1;
        entity_list *list = &gmsh->entities[i];
        if (list->count > INT32_MAX)
            return sn_text_fail(gmsh->text, "found %zu entities, expected up to %d", list->count, INT32_MAX);
        sn_tag_map_release(gmsh->text->ctx, &list->map);
        if (list->count > 0)
            SN_TRY(sn_tag_map_make_long(gmsh->text->ctx, (int32_t)list->count, list->tag, &list->map,
                                        &duplicate));
    }
cleanup:
    return status;
}

static sn_status read_entities(gmsh_reader *gmsh) {
    if (gmsh->version != 4)
        return sn_text_fail(gmsh->text, "found $Entities, which belongs to version 4.1");
    return read_entity_lists(gmsh, false);
}

static sn_status read_partitioned_entities(gmsh_reader *gmsh) {
    sn_status status = SN_OK;
    int64_t count = 0;
    if (gmsh->version != 4)
        return sn_text_fail(gmsh->text, "found $PartitionedEntities, which belongs to version 4.1");
    SN_TRY(note_partitions(gmsh));
    SN_TRY(next_number(gmsh, gmsh->size_type, "the number of partitions", &count));
    SN_TRY(next_count(gmsh, "ghost entities", 4, 8, &count));
    SN_TRY(skip_numbers(gmsh, 2 * count, false, "number and partition of a ghost entity"));
    SN_TRY(read_entity_lists(gmsh, true));
cleanup:
    return status;
}

static int32_t physical_of(const gmsh_reader *gmsh, int32_t dimension, int32_t entity) {
    const entity_list *list = &gmsh->entities[dimension];
    int32_t place = list->count > 0 ? sn_tag_map_find(&list->map, entity) : -1;
    return place < 0 ? 0 : list->physical[place];
}

// ---- Nodes

static sn_status add_tag(gmsh_reader *gmsh, int64_t tag) {
    sn_status status = SN_OK;
    size_t count = (size_t)gmsh->data->vertex_count;
    SN_TRY(sn_grow(gmsh->text->ctx, (void **)&gmsh->tag, &gmsh->tag_capacity, count, sizeof *gmsh->tag));
    gmsh->tag[count - 1] = tag;
cleanup:
    return status;
}

/// A line of 2.2: number and coordinates.
static sn_status read_node_line(gmsh_reader *gmsh) {
    sn_status status = SN_OK;
    sn_text *text = gmsh->text;
    int32_t tag = 0;
    double *position = NULL;
    sn_text_skip_space(text);
    if (!sn_text_int(text, &tag))
        return sn_text_expected(text, "the number of a node");
    SN_TRY(sn_mesh_builder_vertex(&gmsh->mesh, &position));
    for (int axis = 0; axis < 3; axis++)
        if (!sn_text_real(text, &position[axis]))
            return sn_text_expected(text, "three coordinates of node %d", tag);
    if (!sn_text_at_line_end(text))
        return sn_text_expected(text, "the end of the line behind node %d", tag);
    SN_TRY(add_tag(gmsh, tag));
cleanup:
    return status;
}

static sn_status read_node_bytes(gmsh_reader *gmsh) {
    sn_status status = SN_OK;
    int32_t tag = 0;
    double *position = NULL;
    SN_TRY(next_int(gmsh, "the number of a node", &tag));
    SN_TRY(sn_mesh_builder_vertex(&gmsh->mesh, &position));
    for (int axis = 0; axis < 3; axis++)
        SN_TRY(next_real(gmsh, "a coordinate", &position[axis]));
    SN_TRY(add_tag(gmsh, tag));
cleanup:
    return status;
}

static sn_status read_nodes_2(gmsh_reader *gmsh) {
    sn_status status = SN_OK;
    int32_t count = 0;
    SN_TRY(read_count(gmsh->text, "nodes", gmsh->binary ? 28 : 8, &count));
    for (int32_t i = 0; i < count; i++)
        SN_TRY(gmsh->binary ? read_node_bytes(gmsh) : read_node_line(gmsh));
cleanup:
    return status;
}

static sn_status read_node_block(gmsh_reader *gmsh) {
    sn_status status = SN_OK;
    int32_t dimension = 0, entity = 0, parametric = 0, first = gmsh->data->vertex_count;
    int64_t count = 0, tag = 0;
    SN_TRY(next_int(gmsh, "the dimension of an entity with nodes", &dimension));
    SN_TRY(next_int(gmsh, "the number of an entity with nodes", &entity));
    SN_TRY(next_int(gmsh, "0 or 1: whether parameters follow", &parametric));
    if (dimension < 0 || dimension >= DIMENSIONS || parametric < 0 || parametric > 1)
        return sn_text_fail(gmsh->text,
                            "found a block of nodes of dimension %d with %d as parametric, expected "
                            "0 to 3 and 0 or 1",
                            dimension, parametric);
    SN_TRY(next_count(gmsh, "nodes of a block", 8, 32, &count));
    for (int64_t i = 0; i < count; i++) {
        double *position = NULL;
        SN_TRY(next_number(gmsh, gmsh->size_type, "the number of a node", &tag));
        SN_TRY(sn_mesh_builder_vertex(&gmsh->mesh, &position));
        SN_TRY(add_tag(gmsh, tag));
    }
    for (int64_t i = 0; i < count; i++) {
        for (size_t axis = 0; axis < 3; axis++)
            SN_TRY(next_real(gmsh, "a coordinate",
                             &gmsh->data->position[3 * ((size_t)first + (size_t)i) + axis]));
        SN_TRY(skip_numbers(gmsh, parametric ? dimension : 0, true, "a parameter of a node"));
    }
cleanup:
    return status;
}

/// The head of $Nodes and $Elements in 4.1: blocks, entries, lowest and highest number.
static sn_status read_blocks_head(gmsh_reader *gmsh, const char *what, int64_t *out_blocks) {
    sn_status status = SN_OK;
    int64_t ignored = 0;
    SN_TRY(next_count(gmsh, what, 8, 20, out_blocks));
    for (int i = 0; i < 3; i++)
        SN_TRY(next_number(gmsh, gmsh->size_type,
                           "the numbers of blocks and entries, and the lowest and highest "
                           "number",
                           &ignored));
cleanup:
    return status;
}

static sn_status read_nodes(gmsh_reader *gmsh) {
    sn_status status = SN_OK;
    sn_text *text = gmsh->text;
    int32_t duplicate = -1;
    int64_t blocks = 0;
    if (gmsh->has_nodes)
        return sn_text_fail(text, "found a second section $Nodes, expected one");
    gmsh->has_nodes = true;
    // The number of nodes stands in the line behind $Nodes, and they begin in the next.
    int64_t first_line = text->line + 2;
    if (gmsh->version == 2) {
        SN_TRY(read_nodes_2(gmsh));
    } else {
        SN_TRY(read_blocks_head(gmsh, "blocks of nodes", &blocks));
        for (int64_t i = 0; i < blocks; i++)
            SN_TRY(read_node_block(gmsh));
    }
    SN_TRY(sn_tag_map_make_long(text->ctx, gmsh->data->vertex_count, gmsh->tag, &gmsh->nodes, &duplicate));
    if (duplicate >= 0) {
        if (gmsh->version == 2 && !gmsh->binary)
            text->line = first_line + duplicate;
        SN_TRY(sn_text_fail(text, "found node %lld a second time, expected each number once",
                            (long long)gmsh->tag[duplicate]));
    }
cleanup:
    return status;
}

// ---- Elements

static void skip_element(gmsh_reader *gmsh, int32_t type) {
    char other[NAME_SIZE];
    snprintf(other, sizeof other, "type %d", type);
    bool known = type >= 0 && type < TYPE_COUNT && kinds[type].name;
    sn_mesh_builder_skip(&gmsh->mesh, known ? kinds[type].name : other);
}

static const gmsh_kind *find_kind(int32_t type) {
    return type >= 0 && type < TYPE_COUNT && kinds[type].name ? &kinds[type] : NULL;
}

static sn_status find_vertex(gmsh_reader *gmsh, int64_t tag, int32_t *out_vertex) {
    *out_vertex = sn_tag_map_find(&gmsh->nodes, tag);
    return *out_vertex >= 0 ? SN_OK
                            : sn_text_fail(gmsh->text,
                                           "found node %lld in an element, expected a number listed in "
                                           "$Nodes",
                                           (long long)tag);
}

static sn_status add_element(gmsh_reader *gmsh, const gmsh_kind *kind, const int32_t *corner, int32_t group) {
    sn_mesh_builder *mesh = &gmsh->mesh;
    sn_cell_list *list = kind->dimension == 1   ? &mesh->edges
                         : kind->dimension == 2 ? &mesh->faces
                                                : &mesh->tets;
    bool first_order = kind->dimension == 2 ? kind->nodes <= 4 : kind->nodes == kind->corners;
    mesh->second_order += !first_order;
    return sn_mesh_builder_cell(mesh, list, kind->corners, corner, group);
}

/// Takes the tags of an element of 2.2: the physical group, the entity, partitions.
static sn_status read_tags(gmsh_reader *gmsh, int32_t count, int32_t *out_physical) {
    sn_status status = SN_OK;
    int32_t tag = 0;
    *out_physical = 0;
    for (int32_t i = 0; i < count; i++) {
        SN_TRY(next_int(gmsh, "the tags of an element", &tag));
        if (i == 0)
            *out_physical = tag;
    }
    if (count > 3)
        SN_TRY(note_partitions(gmsh));
cleanup:
    return status;
}

/// A line of 2.2: number, type, number of tags, tags, nodes.
static sn_status read_element_line(gmsh_reader *gmsh) {
    sn_status status = SN_OK;
    sn_text *text = gmsh->text;
    int32_t number = 0, type = 0, tag_count = 0, physical = 0, tag = 0, group = -1, corner[CORNERS_MAX];
    sn_text_skip_space(text);
    if (!sn_text_int(text, &number) || !sn_text_int(text, &type))
        return sn_text_expected(text, "number and type of an element");
    const gmsh_kind *kind = find_kind(type);
    if (!kind || kind->corners == 0) {
        skip_element(gmsh, type);
        sn_text_next_line(text);
        return SN_OK;
    }
    if (!sn_text_int(text, &tag_count) || tag_count < 0 || tag_count > MAX_TAGS)
        return sn_text_expected(text, "the number of tags of element %d", number);
    SN_TRY(read_tags(gmsh, tag_count, &physical));
    for (int32_t i = 0; i < kind->nodes; i++) {
        int32_t vertex = -1;
        if (!sn_text_int(text, &tag))
            return sn_text_expected(text, "%d nodes of element %d", kind->nodes, number);
        SN_TRY(find_vertex(gmsh, tag, &vertex));
        if (i < kind->corners)
            corner[i] = vertex;
    }
    if (!sn_text_at_line_end(text))
        return sn_text_expected(text, "the end of the line behind element %d", number);
    SN_TRY(find_group(gmsh, kind->dimension, physical, &group));
    SN_TRY(add_element(gmsh, kind, corner, group));
cleanup:
    return status;
}

/// Takes the nodes of one element; of those that are skipped too.
static sn_status read_element_nodes(gmsh_reader *gmsh, const gmsh_kind *kind, sn_number_type type,
                                    int32_t group) {
    sn_status status = SN_OK;
    int32_t corner[CORNERS_MAX], vertex = -1;
    int64_t tag = 0;
    for (int32_t i = 0; i < kind->nodes; i++) {
        SN_TRY(next_number(gmsh, type, "the node of an element", &tag));
        if (kind->corners > 0)
            SN_TRY(find_vertex(gmsh, tag, &vertex));
        if (i < kind->corners)
            corner[i] = vertex;
    }
    if (kind->corners > 0)
        SN_TRY(add_element(gmsh, kind, corner, group));
cleanup:
    return status;
}

static sn_status fail_type(gmsh_reader *gmsh, int32_t type) {
    return sn_text_fail(gmsh->text,
                        "found elements of type %d, whose size is not known; save the mesh as ascii, "
                        "where they can be skipped",
                        type);
}

/// Elements of one type in a binary file of 2.2. @return in *out_count how many they were
static sn_status read_element_run(gmsh_reader *gmsh, int32_t *out_count) {
    sn_status status = SN_OK;
    int32_t type = 0, count = 0, tag_count = 0, number = 0, physical = 0, group = -1;
    SN_TRY(next_int(gmsh, "the type of elements", &type));
    SN_TRY(next_int(gmsh, "the number of elements of a type", &count));
    SN_TRY(next_int(gmsh, "the number of tags", &tag_count));
    const gmsh_kind *kind = find_kind(type);
    if (!kind)
        return fail_type(gmsh, type);
    if (tag_count < 0 || tag_count > MAX_TAGS || count < 1)
        return sn_text_fail(gmsh->text, "found %d elements with %d tags, expected 1 or more and up to %d",
                            count, tag_count, MAX_TAGS);
    SN_TRY(sn_text_check_count(gmsh->text, count, 4 * (size_t)(1 + tag_count + kind->nodes), "elements"));
    for (int32_t i = 0; i < count; i++) {
        SN_TRY(next_int(gmsh, "the number of an element", &number));
        SN_TRY(read_tags(gmsh, tag_count, &physical));
        if (kind->corners == 0)
            skip_element(gmsh, type);
        else
            SN_TRY(find_group(gmsh, kind->dimension, physical, &group));
        SN_TRY(read_element_nodes(gmsh, kind, SN_NUMBER_I32, group));
    }
    *out_count = count;
cleanup:
    return status;
}

static sn_status read_elements_2(gmsh_reader *gmsh) {
    sn_status status = SN_OK;
    int32_t count = 0, run = 0;
    SN_TRY(read_count(gmsh->text, "elements", 8, &count));
    for (int32_t i = 0; i < count; i += run) {
        run = 1;
        SN_TRY(gmsh->binary ? read_element_run(gmsh, &run) : read_element_line(gmsh));
        if (run > count - i)
            return sn_text_fail(gmsh->text, "found more elements than the %d that the section claims", count);
    }
cleanup:
    return status;
}

static sn_status read_element_block(gmsh_reader *gmsh) {
    sn_status status = SN_OK;
    int32_t dimension = 0, entity = 0, type = 0, group = -1;
    int64_t count = 0, number = 0;
    SN_TRY(next_int(gmsh, "the dimension of an entity with elements", &dimension));
    SN_TRY(next_int(gmsh, "the number of an entity with elements", &entity));
    SN_TRY(next_int(gmsh, "the type of elements", &type));
    const gmsh_kind *kind = find_kind(type);
    if (dimension < 0 || dimension >= DIMENSIONS)
        return sn_text_fail(gmsh->text, "found an entity of dimension %d, expected 0 to 3", dimension);
    if (!kind && gmsh->binary)
        return fail_type(gmsh, type);
    size_t nodes = kind ? kind->nodes : 1;
    SN_TRY(next_count(gmsh, "elements of a block", 2 * (1 + nodes),
                      sn_number_size(gmsh->size_type) * (1 + nodes), &count));
    if (kind && kind->corners > 0)
        SN_TRY(find_group(gmsh, dimension, physical_of(gmsh, dimension, entity), &group));
    for (int64_t i = 0; i < count; i++) {
        SN_TRY(next_number(gmsh, gmsh->size_type, "the number of an element", &number));
        if (!kind || kind->corners == 0)
            skip_element(gmsh, type);
        if (kind)
            SN_TRY(read_element_nodes(gmsh, kind, gmsh->size_type, group));
        else
            sn_text_next_line(gmsh->text);
    }
cleanup:
    return status;
}

static sn_status read_elements(gmsh_reader *gmsh) {
    sn_status status = SN_OK;
    int64_t blocks = 0;
    if (!gmsh->has_nodes)
        return sn_text_fail(gmsh->text, "found $Elements, expected $Nodes before it; reorder the sections");
    if (gmsh->version == 2)
        return read_elements_2(gmsh);
    SN_TRY(read_blocks_head(gmsh, "blocks of elements", &blocks));
    for (int64_t i = 0; i < blocks; i++)
        SN_TRY(read_element_block(gmsh));
cleanup:
    return status;
}

// ---- Sections

/// Expects the line that ends a section.
static sn_status read_section_end(sn_text *text, const char *end) {
    sn_text_skip_space(text);
    sn_word word = sn_text_word(text);
    if (sn_word_is(word, end))
        return SN_OK;
    text->at = word.at;
    return sn_text_expected(text, "%s; does the section hold as many entries as it says?", end);
}

static sn_status expect_end(sn_text *text, sn_word name) {
    return sn_text_expected(text, "$End%.*s", (int)(name.size < 64 ? name.size - 1 : 63), name.at + 1);
}

/// Goes to the next "$End" at the start of a line.
static sn_status find_end_line(sn_text *text, sn_word name) {
    do {
        sn_text_next_line(text);
        if (!sn_text_skip_space(text))
            return expect_end(text, name);
    } while (text->end - text->at < 4 || memcmp(text->at, "$End", 4) != 0);
    return SN_OK;
}

/// Goes to "$End" and the name among bytes, where there are no lines.
static sn_status find_end_bytes(sn_text *text, sn_word name) {
    while (text->at < text->end) {
        const char *at = memchr(text->at, '$', (size_t)(text->end - text->at));
        if (!at || (size_t)(text->end - at) < name.size + 3)
            break;
        text->at = at;
        if (memcmp(at, "$End", 4) == 0 && memcmp(at + 4, name.at + 1, name.size - 1) == 0)
            return SN_OK;
        text->at++;
    }
    text->at = text->end;
    return expect_end(text, name);
}

/// Skips a section that we do not keep, up to its $End line.
static sn_status skip_section(gmsh_reader *gmsh, sn_word name, int64_t line) {
    sn_text *text = gmsh->text;
    sn_status status = gmsh->binary ? find_end_bytes(text, name) : find_end_line(text, name);
    if (status < 0)
        return status;
    sn_text_next_line(text);
    if (sn_word_is(name, "$Comments") || gmsh->skipped_sections++ >= SN_SKIP_KINDS)
        return SN_OK;
    int shown = (int)(name.size < 64 ? name.size : 64);
    if (gmsh->binary)
        return sn_mesh_data_add_note(gmsh->data, "skipped the section %.*s", shown, name.at);
    return sn_mesh_data_add_note(gmsh->data, "skipped the section %.*s in line %lld", shown, name.at,
                                 (long long)line);
}

typedef struct gmsh_section {
    const char *begin, *end;
    sn_status (*read)(gmsh_reader *gmsh);
    bool text; ///< Starts with text in binary files too.
} gmsh_section;

static sn_status read_known_section(gmsh_reader *gmsh, const gmsh_section *section) {
    sn_text *text = gmsh->text;
    bool is_format = section->read == read_format;
    if (!is_format && !gmsh->has_format)
        return sn_text_fail(text, "found %s, expected $MeshFormat first", section->begin);
    if (is_format && gmsh->has_format)
        return sn_text_fail(text, "found a second section $MeshFormat, expected one");
    // Bytes start behind the line.
    if (gmsh->binary && !section->text && gmsh->version == 4)
        sn_text_next_line(text);
    sn_status status = section->read(gmsh);
    return status < 0 ? status : read_section_end(text, section->end);
}

static sn_status read_section(gmsh_reader *gmsh) {
    static const gmsh_section sections[] = {
        {"$MeshFormat", "$EndMeshFormat", read_format, true},
        {"$PhysicalNames", "$EndPhysicalNames", read_physical_names, true},
        {"$Entities", "$EndEntities", read_entities, false},
        {"$PartitionedEntities", "$EndPartitionedEntities", read_partitioned_entities, false},
        {"$Nodes", "$EndNodes", read_nodes, false},
        {"$Elements", "$EndElements", read_elements, false}};
    sn_text *text = gmsh->text;
    int64_t line = text->line;
    sn_word name = sn_text_word(text);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (sn_word_is(name, sections[i].begin))
            return read_known_section(gmsh, &sections[i]);
    if (name.size > 1 && name.at[0] == '$' && !sn_word_is(name, "$NOD"))
        return skip_section(gmsh, name, line);
    text->at = name.at;
    return sn_text_expected(text, "a section of MSH 2.2 or 4.1 such as $MeshFormat, $Nodes or $Elements");
}

sn_status sn_gmsh_read(sn_text *text, sn_mesh_data *data) {
    sn_status status = SN_OK;
    gmsh_reader gmsh = {
        .mesh = sn_mesh_builder_make(text, data), .text = text, .data = data, .last_group = {-1, -1, -1, -1}};
    while (sn_text_skip_space(text))
        SN_TRY(read_section(&gmsh));
    if (data->vertex_count == 0) {
        status = sn_fail(text->ctx, SN_ERR_READ, "%s: found no nodes, expected a section $Nodes", text->path);
        goto cleanup;
    }
    SN_TRY(sn_mesh_data_note_sections(data, gmsh.skipped_sections));
    SN_TRY(sn_mesh_builder_finish(&gmsh.mesh, "elements of kind"));
cleanup:
    for (int i = 0; i < DIMENSIONS; i++) {
        SN_RELEASE(text->ctx, gmsh.entities[i].tag);
        SN_RELEASE(text->ctx, gmsh.entities[i].physical);
        sn_tag_map_release(text->ctx, &gmsh.entities[i].map);
    }
    SN_RELEASE(text->ctx, gmsh.tag);
    SN_RELEASE(text->ctx, gmsh.physical_group);
    sn_name_table_release(text->ctx, &gmsh.physicals);
    sn_tag_map_release(text->ctx, &gmsh.nodes);
    sn_mesh_builder_release(&gmsh.mesh);
    return status;
}
