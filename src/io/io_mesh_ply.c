/// PLY, ascii and binary of both byte orders: elements "vertex" (x y z, and s t or u v), "face" (a list of
/// vertex indices, and one of texture coordinates), "edge" (vertex1 vertex2). Properties may have any type
/// and order; others, and other elements, are skipped with a note.
#include "io/io_mesh_build.h"

#include <stdio.h>
#include <string.h>

/// What a property is to us.
typedef enum ply_role {
    ROLE_NONE = 0,
    ROLE_X,
    ROLE_Y,
    ROLE_Z,
    ROLE_U,
    ROLE_V,
    ROLE_CORNERS, ///< List of vertices of a face.
    ROLE_UVS,     ///< List of two texture coordinates per corner.
    ROLE_FIRST,   ///< Vertices of an edge.
    ROLE_SECOND,
    ROLE_COUNT
} ply_role;

typedef enum ply_kind { KIND_OTHER = 0, KIND_VERTEX, KIND_FACE, KIND_EDGE } ply_kind;

typedef struct ply_property {
    sn_word name;
    sn_number_type type, count_type;
    bool list;
    ply_role role;
} ply_property;

typedef struct ply_element {
    sn_word name;
    ply_kind kind;
    int32_t count, first, property_count; ///< Properties first, ..., of the reader's list.
} ply_element;

typedef struct ply_reader {
    sn_mesh_builder mesh;
    sn_text *text;
    bool ascii, big_endian, has_face_uvs, has_vertex_uvs;
    ply_property *property;
    ply_element *element;
    size_t property_count, element_count, property_capacity, element_capacity;
    int32_t vertex_count; ///< That the header claims, and the file has room for.
    int32_t thin_faces;
    int32_t *corner; ///< Of the face that is being read.
    double *uv;
    size_t corner_count, uv_count, corner_capacity, uv_capacity;
} ply_reader;

// ---- Header

static bool find_type(sn_word word, sn_number_type *out_type) {
    static const struct {
        const char *name;
        sn_number_type type;
    } types[] = {{"char", SN_NUMBER_I8},     {"int8", SN_NUMBER_I8},    {"uchar", SN_NUMBER_U8},
                 {"uint8", SN_NUMBER_U8},    {"short", SN_NUMBER_I16},  {"int16", SN_NUMBER_I16},
                 {"ushort", SN_NUMBER_U16},  {"uint16", SN_NUMBER_U16}, {"int", SN_NUMBER_I32},
                 {"int32", SN_NUMBER_I32},   {"uint", SN_NUMBER_U32},   {"uint32", SN_NUMBER_U32},
                 {"int64", SN_NUMBER_I64},   {"uint64", SN_NUMBER_U64}, {"float", SN_NUMBER_F32},
                 {"float32", SN_NUMBER_F32}, {"double", SN_NUMBER_F64}, {"float64", SN_NUMBER_F64}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (sn_word_is(word, types[i].name)) {
            *out_type = types[i].type;
            return true;
        }
    return false;
}

static ply_role find_role(ply_kind kind, const ply_property *property) {
    static const struct {
        ply_kind kind;
        const char *name;
        ply_role role;
        bool list;
    } roles[] = {{KIND_VERTEX, "x", ROLE_X, false},
                 {KIND_VERTEX, "y", ROLE_Y, false},
                 {KIND_VERTEX, "z", ROLE_Z, false},
                 {KIND_VERTEX, "s", ROLE_U, false},
                 {KIND_VERTEX, "u", ROLE_U, false},
                 {KIND_VERTEX, "texture_u", ROLE_U, false},
                 {KIND_VERTEX, "texcoord_u", ROLE_U, false},
                 {KIND_VERTEX, "t", ROLE_V, false},
                 {KIND_VERTEX, "v", ROLE_V, false},
                 {KIND_VERTEX, "texture_v", ROLE_V, false},
                 {KIND_VERTEX, "texcoord_v", ROLE_V, false},
                 {KIND_FACE, "vertex_indices", ROLE_CORNERS, true},
                 {KIND_FACE, "vertex_index", ROLE_CORNERS, true},
                 {KIND_FACE, "texcoord", ROLE_UVS, true},
                 {KIND_EDGE, "vertex1", ROLE_FIRST, false},
                 {KIND_EDGE, "vertex2", ROLE_SECOND, false}};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (roles[i].kind == kind && roles[i].list == property->list &&
            sn_word_is(property->name, roles[i].name))
            return roles[i].role;
    return ROLE_NONE;
}

static sn_status read_format(ply_reader *ply) {
    sn_text *text = ply->text;
    sn_word word = sn_text_word(text);
    ply->ascii = sn_word_is(word, "ascii");
    ply->big_endian = sn_word_is(word, "binary_big_endian");
    if (!ply->ascii && !ply->big_endian && !sn_word_is(word, "binary_little_endian")) {
        text->at = word.at;
        return sn_text_expected(text, "ascii, binary_little_endian or binary_big_endian");
    }
    if (ply->ascii && text->has_zero_bytes)
        return sn_text_fail(text, "found binary data in a file that says it is ascii; write it again");
    return SN_OK;
}

static sn_status read_element(ply_reader *ply) {
    static const char *const names[] = {[KIND_VERTEX] = "vertex", [KIND_FACE] = "face", [KIND_EDGE] = "edge"};
    sn_status status = SN_OK;
    sn_text *text = ply->text;
    ply_element element = {.name = sn_text_word(text), .first = (int32_t)ply->property_count};
    if (element.name.size == 0 || !sn_text_int(text, &element.count) || element.count < 0)
        return sn_text_expected(text, "name and number of an element, up to %d", INT32_MAX);
    for (size_t i = KIND_VERTEX; i <= KIND_EDGE; i++)
        if (sn_word_is(element.name, names[i]))
            element.kind = (ply_kind)i;
    for (size_t i = 0; i < ply->element_count; i++)
        if (element.kind != KIND_OTHER && ply->element[i].kind == element.kind)
            return sn_text_fail(text, "found a second element %s, expected one", names[element.kind]);
    if (element.kind == KIND_VERTEX)
        ply->vertex_count = element.count;
    SN_TRY(sn_grow(text->ctx, (void **)&ply->element, &ply->element_capacity, ply->element_count + 1,
                   sizeof *ply->element));
    ply->element[ply->element_count++] = element;
cleanup:
    return status;
}

static sn_status read_type(sn_text *text, sn_number_type *out_type) {
    sn_word word = sn_text_word(text);
    if (find_type(word, out_type))
        return SN_OK;
    text->at = word.at;
    return sn_text_expected(text, "a type such as float, double, int or uchar");
}

static sn_status read_property(ply_reader *ply) {
    sn_status status = SN_OK;
    sn_text *text = ply->text;
    ply_property property = {0};
    if (ply->element_count == 0)
        return sn_text_fail(text, "found a property, expected an element before it");
    ply_element *element = &ply->element[ply->element_count - 1];
    sn_word word = sn_text_word(text);
    property.list = sn_word_is(word, "list");
    if (property.list)
        SN_TRY(read_type(text, &property.count_type));
    else
        text->at = word.at;
    if (property.list && property.count_type >= SN_NUMBER_F32)
        return sn_text_fail(text, "found a list with a real number as its length, expected a whole type");
    SN_TRY(read_type(text, &property.type));
    property.name = sn_text_word(text);
    if (property.name.size == 0)
        return sn_text_expected(text, "the name of a property");
    property.role = find_role(element->kind, &property);
    ply->has_face_uvs = ply->has_face_uvs || property.role == ROLE_UVS;
    SN_TRY(sn_grow(text->ctx, (void **)&ply->property, &ply->property_capacity, ply->property_count + 1,
                   sizeof *ply->property));
    ply->property[ply->property_count++] = property;
    element->property_count++;
cleanup:
    return status;
}

static sn_status read_header(ply_reader *ply) {
    sn_status status = SN_OK;
    sn_text *text = ply->text;
    bool has_format = false;
    for (;;) {
        sn_text_next_line(text);
        if (!sn_text_skip_space(text))
            return sn_text_expected(text, "end_header; the file was cut short: write it again");
        sn_word word = sn_text_word(text);
        if (sn_word_is(word, "end_header"))
            break;
        if (sn_word_is(word, "format")) {
            SN_TRY(read_format(ply));
            has_format = true;
        } else if (sn_word_is(word, "element")) {
            SN_TRY(read_element(ply));
        } else if (sn_word_is(word, "property")) {
            SN_TRY(read_property(ply));
        } else if (!sn_word_is(word, "comment") && !sn_word_is(word, "obj_info")) {
            text->at = word.at;
            return sn_text_expected(text, "format, element, property, comment or end_header");
        }
    }
    if (!has_format)
        return sn_text_fail(text, "found end_header, expected a line such as \"format ascii 1.0\" before it");
    sn_text_next_line(text);
    text->binary = !ply->ascii;
cleanup:
    return status;
}

/// A list in binary files takes at least its length.
static size_t least_size(const ply_reader *ply, const ply_element *element) {
    size_t size = 0;
    for (int32_t i = 0; i < element->property_count; i++) {
        const ply_property *property = &ply->property[element->first + i];
        size += ply->ascii ? 2 : sn_number_size(property->list ? property->count_type : property->type);
    }
    return size;
}

static bool has_role(const ply_reader *ply, const ply_element *element, ply_role role) {
    for (int32_t i = 0; i < element->property_count; i++)
        if (ply->property[element->first + i].role == role)
            return true;
    return false;
}

static sn_status check_element(ply_reader *ply, const ply_element *element) {
    static const struct {
        ply_kind kind;
        ply_role role;
        const char *name;
    } needed[] = {{KIND_VERTEX, ROLE_X, "x"},         {KIND_VERTEX, ROLE_Y, "y"},
                  {KIND_VERTEX, ROLE_Z, "z"},         {KIND_FACE, ROLE_CORNERS, "list ... vertex_indices"},
                  {KIND_EDGE, ROLE_FIRST, "vertex1"}, {KIND_EDGE, ROLE_SECOND, "vertex2"}};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (needed[i].kind == element->kind && !has_role(ply, element, needed[i].role))
            return sn_text_fail(ply->text,
                                "found no property %s of the element %.*s in the header, expected one",
                                needed[i].name, (int)element->name.size, element->name.at);
    return SN_OK;
}

// ---- Data

static sn_status read_number(ply_reader *ply, const ply_property *property, sn_number_type type,
                             double *out_value) {
    sn_text *text = ply->text;
    if (ply->ascii) {
        sn_text_skip_space(text);
        if (!sn_text_real(text, out_value))
            return sn_text_expected(text, "a number, the property %.*s",
                                    (int)(property->name.size < 64 ? property->name.size : 64),
                                    property->name.at);
        return SN_OK;
    }
    const char *at = sn_text_bytes(text, sn_number_size(type));
    if (!at)
        return sn_text_fail(text,
                            "found the end of the file, expected the property %.*s; the file was cut short: "
                            "write it again",
                            (int)(property->name.size < 64 ? property->name.size : 64), property->name.at);
    *out_value = sn_number_real(at, type, ply->big_endian);
    return SN_OK;
}

static sn_status add_corner(ply_reader *ply, double value) {
    sn_status status = SN_OK;
    // NaN fails the comparison.
    if (!(value >= 0 && value < ply->vertex_count) || value != (int32_t)value)
        return sn_text_fail(ply->text, "found vertex %.15g in a face or edge, expected 0 to %d", value,
                            ply->vertex_count - 1);
    SN_TRY(sn_grow(ply->text->ctx, (void **)&ply->corner, &ply->corner_capacity, ply->corner_count + 1,
                   sizeof *ply->corner));
    ply->corner[ply->corner_count++] = (int32_t)value;
cleanup:
    return status;
}

static sn_status add_uv(ply_reader *ply, double value) {
    sn_status status =
        sn_grow(ply->text->ctx, (void **)&ply->uv, &ply->uv_capacity, ply->uv_count + 1, sizeof *ply->uv);
    if (status == SN_OK)
        ply->uv[ply->uv_count++] = value;
    return status;
}

static sn_status read_list(ply_reader *ply, const ply_property *property) {
    sn_status status = SN_OK;
    double count = 0, value = 0;
    size_t least = ply->ascii ? 2 : sn_number_size(property->type);
    SN_TRY(read_number(ply, property, property->count_type, &count));
    if (!(count >= 0 && count <= INT32_MAX) || count != (int32_t)count)
        return sn_text_fail(ply->text, "found %.15g as the length of a list, expected 0 or more", count);
    SN_TRY(sn_text_check_count(ply->text, (int64_t)count, least, "entries of a list"));
    for (int32_t i = 0; i < (int32_t)count; i++) {
        SN_TRY(read_number(ply, property, property->type, &value));
        if (property->role == ROLE_CORNERS)
            SN_TRY(add_corner(ply, value));
        else if (property->role == ROLE_UVS)
            SN_TRY(add_uv(ply, value));
    }
cleanup:
    return status;
}

/// Makes a vertex, face or edge of what its properties were.
static sn_status close_item(ply_reader *ply, ply_kind kind, const double value[ROLE_COUNT]) {
    sn_status status = SN_OK;
    sn_mesh_builder *mesh = &ply->mesh;
    if (kind == KIND_VERTEX) {
        double *position = NULL;
        SN_TRY(sn_mesh_builder_vertex(mesh, &position));
        memcpy(position, value + ROLE_X, 3 * sizeof *position);
        if (ply->has_vertex_uvs)
            SN_TRY(sn_mesh_builder_uv(mesh, value[ROLE_U], value[ROLE_V]));
    } else if (kind == KIND_EDGE) {
        SN_TRY(add_corner(ply, value[ROLE_FIRST]));
        SN_TRY(add_corner(ply, value[ROLE_SECOND]));
        SN_TRY(sn_mesh_builder_cell(mesh, &mesh->edges, 2, ply->corner, -1));
    } else if (kind == KIND_FACE && ply->corner_count < 3) {
        ply->thin_faces++;
    } else if (kind == KIND_FACE) {
        bool has_uvs = ply->uv_count >= 2 * ply->corner_count;
        for (size_t i = 0; i < ply->corner_count; i++) {
            int32_t uv = has_uvs ? mesh->data->uv_count : ply->has_vertex_uvs ? ply->corner[i] : -1;
            if (has_uvs)
                SN_TRY(sn_mesh_builder_uv(mesh, ply->uv[2 * i], ply->uv[2 * i + 1]));
            SN_TRY(sn_cell_list_corner(mesh->ctx, &mesh->faces, ply->corner[i], uv));
        }
        SN_TRY(sn_cell_list_close(mesh->ctx, &mesh->faces, -1));
    }
cleanup:
    return status;
}

static sn_status read_item(ply_reader *ply, const ply_element *element) {
    sn_status status = SN_OK;
    double value[ROLE_COUNT] = {0}, ignored;
    ply->corner_count = ply->uv_count = 0;
    for (int32_t i = 0; i < element->property_count; i++) {
        const ply_property *property = &ply->property[element->first + i];
        if (property->list)
            SN_TRY(read_list(ply, property));
        else
            SN_TRY(read_number(ply, property, property->type,
                               property->role != ROLE_NONE ? &value[property->role] : &ignored));
    }
    SN_TRY(close_item(ply, element->kind, value));
cleanup:
    return status;
}

static sn_status note_properties(ply_reader *ply, const ply_element *element) {
    char names[200] = "";
    size_t used = 0;
    for (int32_t i = 0; i < element->property_count; i++) {
        const ply_property *property = &ply->property[element->first + i];
        if (property->role == ROLE_NONE && used < sizeof names - 40)
            used += (size_t)snprintf(names + used, sizeof names - used, " %.*s",
                                     (int)(property->name.size < 32 ? property->name.size : 32),
                                     property->name.at);
    }
    if (used == 0)
        return SN_OK;
    return sn_mesh_builder_note(&ply->mesh, "skipped the properties%s of the element %.*s", names,
                                (int)(element->name.size < 64 ? element->name.size : 64), element->name.at);
}

static sn_status read_items(ply_reader *ply, const ply_element *element) {
    sn_status status = SN_OK;
    int32_t shown = (int32_t)(element->name.size < 64 ? element->name.size : 64);
    SN_TRY(check_element(ply, element));
    if (element->property_count > 0) {
        SN_TRY(
            sn_text_check_count(ply->text, element->count, least_size(ply, element), "items of an element"));
        for (int32_t i = 0; i < element->count; i++)
            SN_TRY(read_item(ply, element));
    }
    if (element->kind != KIND_OTHER)
        return note_properties(ply, element);
    ply->mesh.data->skipped += element->count <= INT32_MAX - ply->mesh.data->skipped ? element->count : 0;
    SN_TRY(sn_mesh_builder_note(&ply->mesh, "skipped %d items of the element %.*s", element->count, shown,
                                element->name.at));
cleanup:
    return status;
}

bool sn_ply_is(sn_text *text) {
    return text->end - text->at > 3 && memcmp(text->at, "ply", 3) == 0 &&
           (text->at[3] == '\n' || text->at[3] == '\r' || text->at[3] == ' ');
}

/// Takes the header and finds out which texture coordinates count: those of corners before those of vertices.
static sn_status prepare(ply_reader *ply) {
    sn_status status = SN_OK;
    if (!sn_ply_is(ply->text))
        return sn_text_expected(ply->text, "\"ply\" in the first line");
    SN_TRY(read_header(ply));
    for (size_t i = 0; i < ply->element_count; i++)
        if (ply->element[i].kind == KIND_VERTEX)
            ply->has_vertex_uvs = !ply->has_face_uvs && has_role(ply, &ply->element[i], ROLE_U) &&
                                  has_role(ply, &ply->element[i], ROLE_V);
cleanup:
    return status;
}

sn_status sn_ply_read(sn_text *text, sn_mesh_data *data) {
    sn_status status = SN_OK;
    ply_reader ply = {.mesh = sn_mesh_builder_make(text, data), .text = text};
    SN_TRY(prepare(&ply));
    for (size_t i = 0; i < ply.element_count; i++)
        SN_TRY(read_items(&ply, &ply.element[i]));
    if (ply.thin_faces > 0)
        SN_TRY(
            sn_mesh_builder_note(&ply.mesh, "skipped %d faces of fewer than three corners", ply.thin_faces));
    data->skipped += ply.thin_faces;
    SN_TRY(sn_mesh_builder_finish(&ply.mesh, "parts"));
cleanup:
    SN_RELEASE(text->ctx, ply.property);
    SN_RELEASE(text->ctx, ply.element);
    SN_RELEASE(text->ctx, ply.corner);
    SN_RELEASE(text->ctx, ply.uv);
    sn_mesh_builder_release(&ply.mesh);
    return status;
}

// ---- Writer

static bool is_surface(const sn_cell_block *block) {
    return block->kind == SN_CELL_TRIANGLE || block->kind == SN_CELL_POLYGON;
}

static size_t face_begin(const sn_cell_block *block, int32_t face) {
    return block->offset ? (size_t)block->offset[face] : 3 * (size_t)face;
}

/// Whether every corner has texture coordinates and those of one vertex are the same, then in
/// vertex_uv [vertex_count]. Seams would need lists of coordinates in the faces, at which many readers
/// stumble.
static bool find_uvs(const sn_mesh_data *data, int32_t *vertex_uv) {
    bool any = false;
    for (int32_t i = 0; i < data->vertex_count; i++)
        vertex_uv[i] = -1;
    for (int32_t b = 0; b < data->block_count; b++) {
        const sn_cell_block *block = &data->block[b];
        if (!is_surface(block))
            continue;
        for (size_t c = 0; c < face_begin(block, block->count); c++) {
            int32_t uv = block->uv ? block->uv[c] : -1, *known = &vertex_uv[block->vertex[c]];
            if (uv < 0)
                return false;
            if (*known < 0)
                *known = uv;
            if (memcmp(data->uv + 2 * (size_t)uv, data->uv + 2 * (size_t)*known, 2 * sizeof *data->uv) != 0)
                return false;
            any = true;
        }
    }
    return any;
}

static void write_header(sn_text_out *out, const sn_mesh_data *data, bool uvs, bool long_lists) {
    int64_t faces = 0, edges = sn_mesh_data_each_simplex(data, 2, NULL, NULL);
    const char *length = long_lists ? "int" : "uchar";
    for (int32_t b = 0; b < data->block_count; b++)
        faces += is_surface(&data->block[b]) ? data->block[b].count : 0;
    sn_text_out_print(out, "ply\nformat binary_little_endian 1.0\nelement vertex %d\n", data->vertex_count);
    sn_text_out_print(out, "property double x\nproperty double y\nproperty double z\n");
    if (uvs)
        sn_text_out_print(out, "property double s\nproperty double t\n");
    sn_text_out_print(out, "element face %lld\nproperty list %s int vertex_indices\n", (long long)faces,
                      length);
    if (edges > 0)
        sn_text_out_print(out, "element edge %lld\nproperty int vertex1\nproperty int vertex2\n",
                          (long long)edges);
    sn_text_out_print(out, "end_header\n");
}

static void write_faces(sn_text_out *out, const sn_cell_block *block, bool long_lists) {
    for (int32_t i = 0; i < block->count; i++) {
        size_t begin = face_begin(block, i), end = face_begin(block, i + 1);
        unsigned char length = (unsigned char)(end - begin);
        if (long_lists)
            sn_text_out_i32(out, (int32_t)(end - begin));
        else
            sn_text_out_bytes(out, &length, 1);
        for (size_t c = begin; c < end; c++)
            sn_text_out_i32(out, block->vertex[c]);
    }
}

static void write_edge(void *user, const int32_t *vertex, int32_t size, int32_t group) {
    (void)group;
    for (int32_t i = 0; i < size; i++)
        sn_text_out_i32(user, vertex[i]);
}

static bool has_long_faces(const sn_mesh_data *data) {
    for (int32_t b = 0; b < data->block_count; b++)
        for (int32_t i = 0; data->block[b].offset && i < data->block[b].count; i++)
            if (data->block[b].offset[i + 1] - data->block[b].offset[i] > UINT8_MAX)
                return true;
    return false;
}

sn_status sn_ply_write(sn_text_out *out, const sn_mesh_data *data) {
    sn_status status = SN_OK;
    int32_t *vertex_uv = NULL;
    if (sn_mesh_data_each_simplex(data, 4, NULL, NULL) > 0)
        return sn_fail(
            data->context, SN_ERR_INVALID_ARGUMENT,
            "%s: a PLY file cannot hold tetrahedra; write .vtu, .mesh or .msh, or write the surface "
            "only",
            out->path);
    SN_TRY_NEW(data->context, vertex_uv, data->vertex_count);
    bool uvs = find_uvs(data, vertex_uv);
    bool long_lists = has_long_faces(data);
    write_header(out, data, uvs, long_lists);
    for (int32_t i = 0; i < data->vertex_count; i++) {
        for (size_t axis = 0; axis < 3; axis++)
            sn_text_out_f64(out, data->position[3 * (size_t)i + axis]);
        for (size_t axis = 0; uvs && axis < 2; axis++)
            sn_text_out_f64(out, vertex_uv[i] < 0 ? 0 : data->uv[2 * (size_t)vertex_uv[i] + axis]);
    }
    for (int32_t b = 0; b < data->block_count; b++)
        if (is_surface(&data->block[b]))
            write_faces(out, &data->block[b], long_lists);
    sn_mesh_data_each_simplex(data, 2, write_edge, out);
cleanup:
    SN_RELEASE(data->context, vertex_uv);
    return status;
}
