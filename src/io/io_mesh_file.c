/// Which format a mesh file has, and the public reader and writer.
#include "io/io_mesh_build.h"
#include "sinew/io.h"

#include <stdio.h>
#include <string.h>

enum { LIST_SIZE = 400 };

typedef struct mesh_format {
    const char *name, *ending;
    bool (*is)(sn_text *text); ///< Whether a file starts like it; NULL: the name has to tell.
    sn_status (*read)(sn_text *text, sn_mesh_data *data);
    sn_status (*write)(sn_text_out *out, const sn_mesh_data *data); ///< NULL: read only.
    bool binary; ///< May hold zero bytes, or tells by itself that it must not.
} mesh_format;

/// The first word behind comments.
static sn_word first_word(sn_text *text) {
    text->comment = '#';
    sn_text_skip_space(text);
    sn_word word = sn_text_word(text);
    sn_text_rewind(text);
    text->comment = 0;
    return word;
}

static bool is_obj(sn_text *text) {
    static const char *const words[] = {"v", "vt", "vn", "vp", "f",      "l",
                                        "p", "o",  "g",  "s",  "mtllib", "usemtl"};
    sn_word word = first_word(text);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (sn_word_is(word, words[i]))
            return true;
    return false;
}

static bool is_medit(sn_text *text) {
    sn_word word = first_word(text);
    return sn_word_is_alike(word, "MeshVersionFormatted") || sn_word_is_alike(word, "Dimension");
}

static bool is_gmsh(sn_text *text) {
    sn_word word = first_word(text);
    return word.size > 0 && word.at[0] == '$';
}

/// In the order in which they are tried: those with the surest start first.
static const mesh_format formats[] = {
    {"VTK legacy", ".vtk", sn_vtk_is, sn_vtk_read, sn_vtk_write, true},
    {"VTU", ".vtu", sn_vtu_is, sn_vtu_read, sn_vtu_mesh_write, true},
    {"PLY", ".ply", sn_ply_is, sn_ply_read, sn_ply_write, true},
    {"STL", ".stl", sn_stl_is, sn_stl_read, sn_stl_write, true},
    {"Gmsh MSH 2.2 or 4.1", ".msh", is_gmsh, sn_gmsh_read, sn_gmsh_write, true},
    {"Medit .mesh (ascii)", ".mesh", is_medit, sn_medit_read, sn_medit_write, false},
    {"Vega", ".veg", sn_vega_is, sn_vega_read, NULL, false},
    {"Abaqus", ".inp", sn_inp_is, sn_inp_read, sn_inp_write, false},
    {"OFF", ".off", sn_off_is, sn_off_read, NULL, false},
    {"Wavefront OBJ", ".obj", is_obj, sn_obj_read, sn_obj_write, false},
    {"TetGen", ".node", NULL, sn_tetgen_read, sn_tetgen_write, false},
    {"TetGen", ".ele", NULL, sn_tetgen_read, sn_tetgen_write, false},
    {"TetGen", ".face", NULL, sn_tetgen_read, sn_tetgen_write, false}};
enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

static const mesh_format *format_by_name(const char *path) {
    size_t length = strlen(path);
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        size_t size = strlen(formats[i].ending);
        if (length > size && sn_word_is_alike((sn_word){path + length - size, size}, formats[i].ending))
            return &formats[i];
    }
    return NULL;
}

static const mesh_format *format_by_content(sn_text *text) {
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (formats[i].is && formats[i].is(text))
            return &formats[i];
    return NULL;
}

/// Name of a well-known format that we do not read, or NULL.
static const char *foreign_format(const sn_text *text) {
    static const struct {
        const char *start, *name;
        size_t size;
    } known[] = {{"<?xml", "XML", 5},        {"<VTKFile", "VTK", 8},   {"glTF", "glTF", 4},
                 {"\x1f\x8b", "gzip", 2},    {"PK\3\4", "zip", 4},     {"\x89HDF", "HDF5", 4},
                 {"Kaydara FBX", "FBX", 11}, {"BLENDER", "Blender", 7}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if ((size_t)(text->end - text->at) >= known[i].size &&
            memcmp(text->at, known[i].start, known[i].size) == 0)
            return known[i].name;
    return NULL;
}

/// Lists the formats in a message: their names, or the endings of those that are written.
static void list_formats(bool endings, char *list, size_t size) {
    size_t used = 0;
    for (size_t i = 0; i < FORMAT_COUNT && used < size; i++) {
        // Several endings may share one name.
        if (endings ? !formats[i].write : i > 0 && strcmp(formats[i].name, formats[i - 1].name) == 0)
            continue;
        used += (size_t)snprintf(list + used, size - used, "%s%s", used ? ", " : "",
                                 endings ? formats[i].ending : formats[i].name);
    }
}

static sn_status find_format(sn_text *text, const mesh_format **out_format) {
    char names[LIST_SIZE];
    const mesh_format *format = format_by_content(text);
    const char *foreign = format ? NULL : foreign_format(text);
    if (!format && !foreign)
        format = format_by_name(text->path);
    if (format && (!text->has_zero_bytes || format->binary)) {
        *out_format = format;
        return SN_OK;
    }
    list_formats(false, names, sizeof names);
    if (foreign)
        return sn_text_fail(text,
                            "found a file in %s format, expected one of %s; convert it, for example with "
                            "meshio or gmsh",
                            foreign, names);
    if (text->has_zero_bytes)
        return sn_text_fail(text,
                            "found binary data, expected one of %s; convert it, for example with meshio or "
                            "gmsh",
                            names);
    return sn_text_expected(
        text, "the start of a mesh: one of %s; convert it, for example with meshio or gmsh", names);
}

sn_status sn_mesh_data_read_text(sn_text *text, sn_mesh_data **out_data) {
    sn_status status = SN_OK;
    sn_mesh_data *data = NULL;
    const mesh_format *format = NULL;
    SN_TRY(find_format(text, &format));
    SN_TRY(sn_mesh_data_create(text->ctx, &data));
    SN_TRY(format->read(text, data));
    *out_data = data;
    data = NULL;
cleanup:
    sn_mesh_data_destroy(&data);
    return status;
}

sn_status sn_mesh_data_read(sn_context *context, const char *path, sn_mesh_data **out_data) {
    if (!context)
        return SN_ERR_INVALID_ARGUMENT;
    if (!path || !out_data)
        return sn_fail(context, SN_ERR_INVALID_ARGUMENT, "sn_mesh_data_read: path or out_data is NULL");
    sn_text text = {0};
    sn_status status = sn_text_open(context, path, &text);
    if (status == SN_OK)
        status = sn_mesh_data_read_text(&text, out_data);
    sn_text_close(&text);
    return status;
}

/// Refuses a block that would make a writer read beyond its arrays.
static sn_status check_block(const sn_mesh_data *data, int32_t b) {
    static const int32_t sizes[] = {[SN_CELL_EDGE] = 2, [SN_CELL_TRIANGLE] = 3, [SN_CELL_TET] = 4};
    const sn_cell_block *block = &data->block[b];
    bool polygons = block->kind == SN_CELL_POLYGON,
         good = block->count >= 0 && (unsigned)block->kind <= SN_CELL_TET;
    good = good && (block->count == 0 || (block->vertex && (block->offset != NULL) == polygons));
    for (int32_t i = 0; good && polygons && i < block->count; i++)
        good = block->offset[0] == 0 && block->offset[i + 1] >= 3 &&
               block->offset[i] <= block->offset[i + 1] - 3;
    if (!good)
        return sn_fail(data->context, SN_ERR_INVALID_ARGUMENT,
                       "block %d of the mesh is not filled in as sn_cell_block says", b);
    size_t corners = polygons ? (size_t)(block->count ? block->offset[block->count] : 0)
                              : (size_t)block->count * (size_t)sizes[block->kind];
    for (size_t i = 0; i < corners; i++) {
        bool bad_uv = block->uv && (block->uv[i] < -1 || block->uv[i] >= data->uv_count);
        if (block->vertex[i] < 0 || block->vertex[i] >= data->vertex_count || bad_uv)
            return sn_fail(data->context, SN_ERR_INVALID_ARGUMENT,
                           "corner %zu of block %d names %s %d, expected 0 to %d", i, b,
                           bad_uv ? "uv" : "vertex", bad_uv ? block->uv[i] : block->vertex[i],
                           (bad_uv ? data->uv_count : data->vertex_count) - 1);
    }
    for (int32_t i = 0; block->group && i < block->count; i++)
        if (block->group[i] < -1 || block->group[i] >= data->group_count)
            return sn_fail(data->context, SN_ERR_INVALID_ARGUMENT,
                           "cell %d of block %d names group %d, expected -1 to %d", i, b, block->group[i],
                           data->group_count - 1);
    return SN_OK;
}

static sn_status check_data(const sn_mesh_data *data) {
    if (data->vertex_count < 0 || (data->vertex_count > 0 && !data->position))
        return sn_fail(data->context, SN_ERR_INVALID_ARGUMENT, "the mesh has %d vertices but no positions",
                       data->vertex_count);
    for (int32_t b = 0; b < data->block_count; b++) {
        sn_status status = check_block(data, b);
        if (status < 0)
            return status;
    }
    return SN_OK;
}

sn_status sn_mesh_data_write(const sn_mesh_data *data, const char *path) {
    if (!data || !data->context)
        return SN_ERR_INVALID_ARGUMENT;
    if (!path)
        return sn_fail(data->context, SN_ERR_INVALID_ARGUMENT, "sn_mesh_data_write: path is NULL");
    sn_status status = SN_OK;
    sn_text_out out = {0};
    const mesh_format *format = format_by_name(path);
    if (!format || !format->write) {
        char endings[LIST_SIZE];
        list_formats(true, endings, sizeof endings);
        return sn_fail(data->context, SN_ERR_INVALID_ARGUMENT, "%s: %s ending, expected one of %s", path,
                       format ? "read-only" : "unknown", endings);
    }
    SN_TRY(check_data(data));
    SN_TRY(sn_text_out_open(data->context, path, &out));
    SN_TRY(format->write(&out, data));
    SN_TRY(sn_text_out_commit(&out));
cleanup:
    sn_text_out_close(&out);
    return status;
}
