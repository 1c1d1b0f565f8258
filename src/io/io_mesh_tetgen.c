/// TetGen: NAME.node with NAME.ele (tets) and NAME.face (triangles), opened by any of these names. Numbers
/// begin with 0 or 1, or are any; the first attribute of a tet and the marker of a face are the group
/// "tag<n>", 0 for none. Attributes and markers of nodes are passed over; of second order, the corners are
/// taken.
#include "io/io_mesh_build.h"

#include <math.h>
#include <string.h>

enum { COLUMNS_MAX = 1000, CORNERS_MAX = 4 };

/// Takes the numbers of the line that heads a list; those that are missing at its end stay as they are.
static sn_status read_head(sn_text *text, int32_t count, int32_t *numbers, const char *what) {
    sn_text_skip_space(text);
    for (int32_t i = 0; i < count; i++) {
        if (i > 0 && sn_text_at_line_end(text))
            break;
        const char *begin = text->at;
        if (!sn_text_int(text, &numbers[i]) || numbers[i] < 0 || (i > 0 && numbers[i] > COLUMNS_MAX)) {
            text->at = begin;
            return sn_text_expected(text, "%s", what);
        }
    }
    if (!sn_text_at_line_end(text))
        return sn_text_expected(text, "the end of the line behind %s", what);
    return sn_text_check_count(text, numbers[0], 8, "entries");
}

sn_status sn_node_list_read(sn_node_list *list, sn_text *text) {
    sn_status status = SN_OK;
    int32_t head[4] = {0, 3, 0, 0}, *tags = NULL, duplicate = -1;
    SN_TRY(read_head(text, 4, head, "the numbers of nodes, dimensions, attributes and markers"));
    if (head[1] != 3)
        return sn_text_fail(text, "found nodes of %d dimensions, expected 3", head[1]);
    SN_TRY_NEW(text->ctx, tags, head[0]);
    for (int32_t i = 0; i < head[0]; i++) {
        double *position = NULL;
        SN_TRY(sn_mesh_builder_vertex(list->mesh, &position));
        sn_text_next_line(text);
        sn_text_skip_space(text);
        if (!sn_text_int(text, &tags[i]))
            SN_TRY(sn_text_expected(text, "the number of a node, %d of %d", i + 1, head[0]));
        for (int axis = 0; axis < 3; axis++)
            if (!sn_text_real(text, &position[axis]))
                SN_TRY(sn_text_expected(text, "three coordinates of node %d", tags[i]));
    }
    sn_text_next_line(text);
    sn_tag_map_release(text->ctx, &list->map);
    SN_TRY(sn_tag_map_make(text->ctx, head[0], tags, &list->map, &duplicate));
    if (duplicate >= 0)
        SN_TRY(sn_text_fail(text, "found node %d a second time, expected each number once", tags[duplicate]));
cleanup:
    SN_RELEASE(text->ctx, tags);
    return status;
}

void sn_node_list_release(sn_node_list *list) {
    sn_tag_map_release(list->mesh->ctx, &list->map);
}

/// The shape of a list of cells.
typedef struct cell_shape {
    int32_t corners, nodes, attributes;
    sn_cell_list *list;
} cell_shape;

static sn_status read_group(sn_node_list *list, sn_text *text, const cell_shape *shape, int32_t *out_group) {
    double attribute = 0;
    *out_group = -1;
    if (shape->attributes == 0)
        return SN_OK;
    if (!sn_text_real(text, &attribute))
        return sn_text_expected(text, "the attribute of a tet or marker of a face");
    // Attributes that are no whole number are no regions.
    if (!(fabs(attribute) <= INT32_MAX) || attribute != (double)(int32_t)attribute)
        return SN_OK;
    return sn_mesh_builder_numbered_group(list->mesh, "tag", (int32_t)attribute, out_group);
}

static sn_status read_cell(sn_node_list *list, sn_text *text, const cell_shape *shape, int32_t *out_tag) {
    sn_status status = SN_OK;
    int32_t corner[CORNERS_MAX], node = 0, group = -1;
    sn_text_next_line(text);
    sn_text_skip_space(text);
    if (!sn_text_int(text, out_tag))
        return sn_text_expected(text, "the number of a tet or face");
    for (int32_t i = 0; i < shape->nodes; i++) {
        if (!sn_text_int(text, &node))
            return sn_text_expected(text, "%d nodes of tet or face %d", shape->nodes, *out_tag);
        int32_t vertex = sn_tag_map_find(&list->map, node);
        if (vertex < 0)
            return sn_text_fail(text,
                                "found node %d in tet or face %d, expected a number listed among the nodes",
                                node, *out_tag);
        if (i < shape->corners)
            corner[i] = vertex;
    }
    SN_TRY(read_group(list, text, shape, &group));
    list->mesh->second_order += shape->nodes > shape->corners;
    SN_TRY(sn_mesh_builder_cell(list->mesh, shape->list, shape->corners, corner, group));
cleanup:
    return status;
}

sn_status sn_node_list_read_tets(sn_node_list *list, sn_text *text, int32_t **tags, size_t *count) {
    sn_status status = SN_OK;
    int32_t head[3] = {0, 4, 0}, tag = 0;
    size_t room = 0;
    SN_TRY(read_head(text, 3, head, "the numbers of tets, nodes of each and attributes"));
    if (head[1] != 4 && head[1] != 10)
        return sn_text_fail(text, "found tets of %d nodes, expected 4 or 10", head[1]);
    const cell_shape shape = {4, head[1], head[2], &list->mesh->tets};
    for (int32_t i = 0; i < head[0]; i++) {
        SN_TRY(read_cell(list, text, &shape, &tag));
        if (!tags)
            continue;
        SN_TRY(sn_grow(text->ctx, (void **)tags, &room, *count + 1, sizeof **tags));
        (*tags)[(*count)++] = tag;
    }
    sn_text_next_line(text);
cleanup:
    return status;
}

static sn_status read_faces(sn_node_list *list, sn_text *text) {
    sn_status status = SN_OK;
    int32_t head[2] = {0, 0}, tag = 0;
    SN_TRY(read_head(text, 2, head, "the number of faces and that of markers, 0 or 1"));
    // Faces of tets of second order have nodes amid their edges too, of which the head says nothing.
    const cell_shape shape = {3, list->mesh->second_order > 0 ? 6 : 3, head[1], &list->mesh->faces};
    for (int32_t i = 0; i < head[0]; i++)
        SN_TRY(read_cell(list, text, &shape, &tag));
cleanup:
    return status;
}

// ---- Files

typedef enum tetgen_part { PART_NODE = 0, PART_ELE, PART_FACE, PART_COUNT } tetgen_part;

static const char *const endings[PART_COUNT] = {".node", ".ele", ".face"};

/// The part that a path names; .node for all others.
static tetgen_part part_of(const char *path) {
    size_t length = strlen(path);
    for (int i = 0; i < PART_COUNT; i++) {
        size_t size = strlen(endings[i]);
        if (length > size && sn_word_is_alike((sn_word){path + length - size, size}, endings[i]))
            return (tetgen_part)i;
    }
    return PART_NODE;
}

/// Path of another part, to be released: the ending takes after the case of the name.
static sn_status path_of(sn_context *ctx, const char *path, tetgen_part part, char **out_path) {
    size_t length = strlen(path), old = strlen(endings[part_of(path)]), size = strlen(endings[part]);
    size_t stem = length > old ? length - old : length;
    sn_status status = sn_new(ctx, stem + size + 1, 1, (void **)out_path);
    if (status < 0)
        return status;
    memcpy(*out_path, path, stem);
    memcpy(*out_path + stem, endings[part], size + 1);
    return SN_OK;
}

static sn_status read_part(sn_node_list *list, sn_text *text, tetgen_part part) {
    if (text->has_zero_bytes)
        return sn_text_fail(text, "found binary data, expected a text of TetGen");
    text->comment = '#';
    switch (part) {
    case PART_NODE:
        return sn_node_list_read(list, text);
    case PART_ELE:
        return sn_node_list_read_tets(list, text, NULL, NULL);
    default:
        return read_faces(list, text);
    }
}

/// Reads a part from the file that was named or from one beside it; only the nodes must be there.
static sn_status find_part(sn_node_list *list, sn_text *text, tetgen_part part) {
    sn_status status = SN_OK;
    char *path = NULL;
    sn_text other = {0};
    bool there = true;
    if (part == part_of(text->path))
        return read_part(list, text, part);
    SN_TRY(path_of(text->ctx, text->path, part, &path));
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (part != PART_NODE)
        SN_TRY(sn_text_is_beside(text, (sn_word){name, strlen(name)}, &there));
    if (there) {
        SN_TRY(sn_text_open_beside(text, (sn_word){name, strlen(name)}, &other));
        SN_TRY(read_part(list, &other, part));
    } else if (part == PART_ELE) {
        SN_TRY(sn_mesh_builder_note(list->mesh, "found no file %s: there are no tets", name));
    }
cleanup:
    sn_text_close(&other);
    SN_RELEASE(text->ctx, path);
    return status;
}

sn_status sn_tetgen_read(sn_text *text, sn_mesh_data *data) {
    sn_status status = SN_OK;
    sn_mesh_builder mesh = sn_mesh_builder_make(text, data);
    sn_node_list list = {.mesh = &mesh};
    for (int i = 0; i < PART_COUNT; i++)
        SN_TRY(find_part(&list, text, (tetgen_part)i));
    SN_TRY(sn_mesh_builder_finish(&mesh, "cells of kind"));
cleanup:
    sn_node_list_release(&list);
    sn_mesh_builder_release(&mesh);
    return status;
}

// ---- Writer

typedef struct tetgen_writer {
    sn_text_out *out;
    const int32_t *numbers; ///< Of the groups.
    int64_t cell;
} tetgen_writer;

static void write_cell(void *user, const int32_t *vertex, int32_t size, int32_t group) {
    tetgen_writer *tetgen = user;
    sn_text_out_print(tetgen->out, "%lld", (long long)tetgen->cell++);
    for (int32_t i = 0; i < size; i++)
        sn_text_out_print(tetgen->out, " %d", vertex[i]);
    sn_text_out_print(tetgen->out, " %d\n", group >= 0 ? tetgen->numbers[group] : 0);
}

static void write_part(sn_text_out *out, const sn_mesh_data *data, const int32_t *numbers, tetgen_part part) {
    tetgen_writer tetgen = {out, numbers, 0};
    if (part == PART_NODE) {
        sn_text_out_print(out, "%d 3 0 0\n", data->vertex_count);
        for (int32_t i = 0; i < data->vertex_count; i++) {
            sn_text_out_print(out, "%d", i);
            for (size_t axis = 0; axis < 3; axis++)
                sn_text_out_real(out, data->position[3 * (size_t)i + axis]);
            sn_text_out_print(out, "\n");
        }
        return;
    }
    int32_t size = part == PART_ELE ? 4 : 3;
    sn_text_out_print(out, part == PART_ELE ? "%lld 4 1\n" : "%lld 1\n",
                      (long long)sn_mesh_data_each_simplex(data, size, NULL, NULL));
    sn_mesh_data_each_simplex(data, size, write_cell, &tetgen);
}

/// Writes a part into a file beside that of `out`.
static sn_status write_beside(const sn_text_out *out, const sn_mesh_data *data, const int32_t *numbers,
                              tetgen_part part) {
    sn_status status = SN_OK;
    char *path = NULL;
    sn_text_out other = {0};
    SN_TRY(path_of(data->context, out->path, part, &path));
    SN_TRY(sn_text_out_open(data->context, path, &other));
    write_part(&other, data, numbers, part);
    SN_TRY(sn_text_out_commit(&other));
cleanup:
    sn_text_out_close(&other);
    SN_RELEASE(data->context, path);
    return status;
}

/// All three files are written, empty lists too: one that stayed from another mesh would be read with this
/// one.
sn_status sn_tetgen_write(sn_text_out *out, const sn_mesh_data *data) {
    sn_status status = SN_OK;
    int32_t *numbers = NULL;
    tetgen_part named = part_of(out->path);
    SN_TRY(sn_group_numbers(data, "tag", &numbers));
    for (int i = 0; i < PART_COUNT; i++)
        if (i != (int)named)
            SN_TRY(write_beside(out, data, numbers, (tetgen_part)i));
    write_part(out, data, numbers, named);
cleanup:
    SN_RELEASE(data->context, numbers);
    return status;
}
