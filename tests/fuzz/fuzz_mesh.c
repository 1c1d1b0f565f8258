#define _POSIX_C_SOURCE 200809L
#include "fuzz/fuzz_mesh.h"

#include "fuzz/fuzz_support.h"
#include "io/io_mesh_build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Vertices and triangles of a surface that is filled with tets, at most.
enum { FILLED_MAX = 32 };

// ---- Promises of what was read

static void check_block(const sn_mesh_data *data, const sn_cell_block *block) {
    static const int32_t sizes[] = {[SN_CELL_EDGE] = 2, [SN_CELL_TRIANGLE] = 3, [SN_CELL_TET] = 4};
    bool polygons = block->kind == SN_CELL_POLYGON;
    fuzz_check((unsigned)block->kind <= SN_CELL_TET && block->count > 0, "%d cells of kind %d", block->count,
               (int)block->kind);
    fuzz_check((block->offset != NULL) == polygons, "offsets");
    for (int32_t i = 0; polygons && i < block->count; i++)
        fuzz_check(block->offset[0] == 0 && block->offset[i + 1] - block->offset[i] >= 3, "polygon %d", i);
    int32_t corners = polygons ? block->offset[block->count] : block->count * sizes[block->kind];
    for (int32_t i = 0; i < corners; i++) {
        fuzz_check(block->vertex[i] >= 0 && block->vertex[i] < data->vertex_count, "corner %d", i);
        fuzz_check(!block->uv || (block->uv[i] >= -1 && block->uv[i] < data->uv_count), "corner %d", i);
    }
    for (int32_t i = 0; block->group && i < block->count; i++)
        fuzz_check(block->group[i] >= -1 && block->group[i] < data->group_count, "cell %d", i);
}

static void check_data(const sn_mesh_data *data) {
    fuzz_check(data->vertex_count > 0 && data->position, "%d vertices", data->vertex_count);
    fuzz_check(data->note && data->skipped >= 0, "%d skipped", data->skipped);
    for (const char *c = data->note; *c; c++)
        fuzz_check((unsigned char)*c >= ' ' || *c == '\n', "byte %d in the note \"%s\"", *c, data->note);
    for (int32_t g = 0; g < data->group_count; g++)
        fuzz_check(data->group[g] && data->group[g][0], "group %d", g);
    for (int32_t b = 0; b < data->block_count; b++)
        check_block(data, &data->block[b]);
}

/// What takes a mesh as it comes from a file.
static void examine(const sn_mesh_data *data) {
    sn_context *ctx = data->context;
    sn_mesh_report report;
    sn_mesh *mesh = NULL;
    sn_status status = sn_mesh_data_report(data, &report);
    fuzz_check(status == SN_OK, "%s: %s", sn_status_name(status), sn_context_message(ctx));
    status = sn_mesh_create(ctx, data, true, &mesh);
    fuzz_check(status == SN_OK || (status == SN_ERR_MESH && sn_context_message(ctx)[0]), "%s: %s",
               sn_status_name(status), sn_context_message(ctx));
    fuzz_check((status == SN_OK) == (mesh != NULL), "a mesh with %s", sn_status_name(status));
    sn_mesh_destroy(&mesh);
}

/// Fills a small surface with tets: whatever triangles a file holds, the result is finite or refused.
static void fill(const sn_mesh_data *data) {
    sn_context *ctx = data->context;
    sn_mesh *mesh = NULL;
    sn_embedding *embedding = NULL;
    sn_lattice_def def = sn_lattice_def_default();
    if (data->vertex_count > FILLED_MAX || sn_mesh_data_each_simplex(data, 3, NULL, NULL) > FILLED_MAX)
        return;
    def.cells = 2;
    sn_status status = sn_lattice_create(ctx, data, &def, &mesh, &embedding);
    if (status < 0) {
        fuzz_check(status == SN_ERR_MESH && sn_context_message(ctx)[0] && !mesh && !embedding, "%s: %s",
                   sn_status_name(status), sn_context_message(ctx));
        return;
    }
    for (int32_t i = 0; i < 3 * sn_mesh_node_count(mesh); i++)
        fuzz_check(isfinite(sn_mesh_positions(mesh)[i]), "node %d", i / 3);
    for (int32_t i = 0; i < 4 * embedding->count; i++)
        fuzz_check(isfinite(embedding->weight[i]), "vertex %d", i / 4);
    sn_embedding_destroy(&embedding);
    sn_mesh_destroy(&mesh);
}

// ---- Written and read again

/// A format, and how it changes the names of groups.
typedef struct mesh_format {
    const char *name;
    sn_status (*write)(sn_text_out *out, const sn_mesh_data *data);
    const char *forbidden; ///< Characters of names that become '_', besides control characters.
    bool trims;            ///< Blanks at the ends of names are lost.
    const char *numbered;  ///< Names become this and a number; NULL: they stay.
    bool surfaces;         ///< Holds no tets.
    bool no_groups;        ///< Leaves groups out.
} mesh_format;

static const mesh_format formats[] = {{"copy.obj", sn_obj_write, "", true, NULL, true, false},
                                      {"copy.ply", sn_ply_write, "", false, NULL, true, true},
                                      {"copy.vtk", sn_vtk_write, "", false, "tag", false, false},
                                      {"copy.vtu", sn_vtu_mesh_write, "", false, "tag", false, false},
                                      {"copy.mesh", sn_medit_write, "", false, "ref", false, false},
                                      {"copy.msh", sn_gmsh_write, "\"", false, NULL, false, false}};

/// An edge, triangle or tet, filled up with -1.
typedef struct simplex {
    int32_t vertex[4], group;
} simplex;

typedef struct simplex_list {
    simplex *item;
    int64_t count;
} simplex_list;

static void collect(void *user, const int32_t *vertex, int32_t size, int32_t group) {
    simplex_list *list = user;
    simplex item = {{-1, -1, -1, -1}, group};
    memcpy(item.vertex, vertex, (size_t)size * sizeof *vertex);
    list->item[list->count++] = item;
}

static simplex_list all_simplices(const sn_mesh_data *data) {
    int64_t count = 0;
    for (int32_t size = 2; size <= 4; size++)
        count += sn_mesh_data_each_simplex(data, size, NULL, NULL);
    simplex_list list = {calloc((size_t)count + 1, sizeof(simplex)), 0};
    fuzz_check(list.item, "out of memory");
    for (int32_t size = 2; size <= 4; size++)
        sn_mesh_data_each_simplex(data, size, collect, &list);
    fuzz_check(list.count == count, "%lld simplices", (long long)list.count);
    return list;
}

/// The name that a group has after a round trip, to be freed; "": none.
static char *expected_name(const mesh_format *format, const sn_mesh_data *data, const int32_t *numbers,
                           int32_t group) {
    char number[32];
    const char *name = group < 0 || format->no_groups ? "" : data->group[group];
    if (format->numbered && group >= 0) {
        snprintf(number, sizeof number, "%s%d", format->numbered, numbers[group]);
        name = number;
    }
    char *copy = strdup(name), *begin = copy, *end = copy + strlen(name);
    fuzz_check(copy, "out of memory");
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c < ' ' || strchr(format->forbidden, *c))
            *c = '_';
    while (format->trims && *begin == ' ')
        begin++;
    while (format->trims && end > begin && end[-1] == ' ')
        end--;
    memmove(copy, begin, (size_t)(end - begin));
    copy[end - begin] = '\0';
    return copy;
}

static void compare_groups(const mesh_format *format, const sn_mesh_data *before, int32_t group,
                           const sn_mesh_data *after, int32_t group_after, const int32_t *numbers) {
    char *expected = expected_name(format, before, numbers, group);
    const char *name = group_after < 0 ? "" : after->group[group_after];
    fuzz_check(strcmp(expected, name) == 0, "%s: group \"%s\" came back as \"%s\"", format->name, expected,
               name);
    free(expected);
}

static void compare_cells(const mesh_format *format, const sn_mesh_data *before, const sn_mesh_data *after) {
    simplex_list a = all_simplices(before), b = all_simplices(after);
    int32_t *numbers = NULL;
    fuzz_check(sn_group_numbers(before, format->numbered ? format->numbered : "", &numbers) == SN_OK,
               "out of memory");
    fuzz_check(a.count == b.count, "%s: %lld cells came back as %lld", format->name, (long long)a.count,
               (long long)b.count);
    for (int64_t i = 0; i < a.count; i++) {
        fuzz_check(memcmp(a.item[i].vertex, b.item[i].vertex, sizeof a.item[i].vertex) == 0, "%s: cell %lld",
                   format->name, (long long)i);
        // Neighbors mostly share their group.
        if (i == 0 || a.item[i].group != a.item[i - 1].group || b.item[i].group != b.item[i - 1].group)
            compare_groups(format, before, a.item[i].group, after, b.item[i].group, numbers);
    }
    sn_release(before->context, numbers);
    free(a.item);
    free(b.item);
}

static bool is_same(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/// What only OBJ keeps: polygons as they are, and texture coordinates.
static void compare_obj(const sn_mesh_data *before, const sn_mesh_data *after) {
    fuzz_check(before->block_count == after->block_count, "%d blocks", after->block_count);
    for (int32_t b = 0; b < before->block_count; b++) {
        const sn_cell_block *p = &before->block[b], *q = &after->block[b];
        fuzz_check(p->kind == q->kind && p->count == q->count, "block %d", b);
        int32_t corners = p->offset ? p->offset[p->count] : p->count * (p->kind == SN_CELL_EDGE ? 2 : 3);
        fuzz_check(!p->offset || q->offset[q->count] == corners, "block %d", b);
        for (int32_t i = 0; i < corners; i++)
            fuzz_check((p->uv ? p->uv[i] : -1) == (q->uv ? q->uv[i] : -1), "block %d, corner %d", b, i);
    }
    fuzz_check(before->uv_count == after->uv_count, "%d texture coordinates", after->uv_count);
    for (int32_t i = 0; i < 2 * before->uv_count; i++)
        fuzz_check(is_same(before->uv[i], after->uv[i]), "texture coordinate %d", i / 2);
}

static void check_round_trip(const mesh_format *format, const sn_mesh_data *data) {
    char *bytes = NULL;
    size_t size = 0;
    sn_text_out out = {.ctx = data->context, .path = format->name, .file = open_memstream(&bytes, &size)};
    sn_text text = {0};
    sn_mesh_data *again = NULL;
    fuzz_check(out.file, "out of memory");
    sn_status status = format->write(&out, data);
    fclose(out.file);
    fuzz_check(status == SN_OK, "%s: %s", format->name, sn_context_message(data->context));
    status = sn_text_open_memory(data->context, format->name, bytes, size, &text);
    if (status == SN_OK)
        status = sn_mesh_data_read_text(&text, &again);
    fuzz_check(status == SN_OK, "what was written is refused: %s", sn_context_message(data->context));
    sn_text_close(&text);
    check_data(again);
    fuzz_check(again->vertex_count == data->vertex_count && again->skipped == 0, "%s", again->note);
    for (size_t i = 0; i < 3 * (size_t)data->vertex_count; i++)
        fuzz_check(is_same(data->position[i], again->position[i]), "vertex %zu", i / 3);
    compare_cells(format, data, again);
    if (format->write == sn_obj_write)
        compare_obj(data, again);
    sn_mesh_data_destroy(&again);
    free(bytes);
}

static void check_mesh(void *object, fuzz_memory *memory) {
    (void)memory;
    const sn_mesh_data *data = object;
    check_data(data);
    examine(data);
    fill(data);
    bool tets = sn_mesh_data_each_simplex(data, 4, NULL, NULL) > 0;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!tets || !formats[i].surfaces)
            check_round_trip(&formats[i], data);
}

// ---- The reader

/// Where files name others, those stand in the same input behind a zero byte each.
static void set_beside(sn_text *text, const char *name, const uint8_t *data, size_t size,
                       sn_text_file beside[2]) {
    bool tetgen = strstr(name, ".node") != NULL;
    if (!tetgen && !strstr(name, ".veg") && !strstr(name, ".inp"))
        return;
    const char *const endings[] = {tetgen ? ".ele" : "", ".face"};
    const uint8_t *begin = memchr(data, 0, size), *end = data + size;
    for (int32_t i = 0; i < (tetgen ? 2 : 1) && begin; i++) {
        const uint8_t *next = memchr(begin + 1, 0, (size_t)(end - begin - 1));
        beside[i] = (sn_text_file){endings[i], begin + 1, (size_t)((next ? next : end) - begin - 1)};
        text->beside_count++;
        begin = next;
    }
    text->beside = beside;
}

static bool has_parts(const char *name) {
    return strstr(name, ".node") || strstr(name, ".veg") || strstr(name, ".inp");
}

static size_t first_part(const char *name, const uint8_t *data, size_t size) {
    const uint8_t *end = has_parts(name) && size > 0 ? memchr(data, 0, size) : NULL;
    return end ? (size_t)(end - data) : size;
}

static sn_status read_mesh(sn_context *ctx, const char *name, const uint8_t *data, size_t size,
                           void **out_object) {
    sn_text text = {0};
    sn_mesh_data *mesh = NULL;
    sn_text_file beside[2];
    sn_status status = sn_text_open_memory(ctx, name, data, first_part(name, data, size), &text);
    if (status == SN_OK)
        set_beside(&text, name, data, size, beside);
    if (status == SN_OK)
        status = sn_mesh_data_read_text(&text, &mesh);
    if (status == SN_OK)
        *out_object = mesh;
    sn_text_close(&text);
    return status;
}

static void destroy_mesh(void **object) {
    sn_mesh_data *data = *object;
    sn_mesh_data_destroy(&data);
    *object = data;
}

void fuzz_mesh(const char *name, const uint8_t *data, size_t size) {
    // Arrays of VTU may be packed.
    size_t unpacked = strstr(name, ".vtu") ? (size_t)(1 << 22) + 4096 * size : 0;
    const fuzz_reader reader = {name,       SN_ERR_READ,  (1 << 20) + unpacked, read_mesh,
                                check_mesh, destroy_mesh, has_parts(name)};
    fuzz_read(&reader, data, size);
}
