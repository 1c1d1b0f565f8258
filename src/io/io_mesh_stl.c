/// STL, ascii and binary. The file gives each triangle its own corners: those at exactly one place become one
/// vertex, in the order of their first appearance. Solids with a name are groups. Normals and attributes are
/// passed over: the corners tell which side is out.
#include "io/io_mesh_build.h"

#include "base/base_util.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { HEADER_SIZE = 80, BEGIN_SIZE = 84, RECORD_SIZE = 50, FIRST_SLOTS = 64 };

typedef struct stl_reader {
    sn_mesh_builder mesh;
    sn_text *text;
    int32_t *slot; ///< [slot_count] vertices, hashed by place; -1: free
    size_t slot_count;
    int32_t group;
} stl_reader;

// ---- Vertices at one place

static size_t find_slot(const stl_reader *stl, const double place[3]) {
    size_t slot = (size_t)sn_hash(SN_HASH_START, place, 3 * sizeof *place) & (stl->slot_count - 1);
    while (stl->slot[slot] >= 0 &&
           memcmp(stl->mesh.data->position + 3 * (size_t)stl->slot[slot], place, 3 * sizeof *place) != 0)
        slot = (slot + 1) & (stl->slot_count - 1);
    return slot;
}

static sn_status grow_slots(stl_reader *stl) {
    size_t wanted = stl->slot_count ? 2 * stl->slot_count : FIRST_SLOTS;
    int32_t *fresh = NULL;
    sn_status status = sn_new(stl->text->ctx, wanted, sizeof *fresh, (void **)&fresh);
    if (status < 0)
        return status;
    memset(fresh, 0xff, wanted * sizeof *fresh);
    sn_release(stl->text->ctx, stl->slot);
    stl->slot = fresh;
    stl->slot_count = wanted;
    for (int32_t i = 0; i < stl->mesh.data->vertex_count; i++)
        stl->slot[find_slot(stl, stl->mesh.data->position + 3 * (size_t)i)] = i;
    return SN_OK;
}

/// Adds a corner to the open triangle.
static sn_status add_corner(stl_reader *stl, double place[3]) {
    sn_status status = SN_OK;
    if (2 * (size_t)stl->mesh.data->vertex_count >= stl->slot_count)
        SN_TRY(grow_slots(stl));
    for (int axis = 0; axis < 3; axis++)
        place[axis] += 0.0; // -0 becomes 0, the same place.
    size_t slot = find_slot(stl, place);
    if (stl->slot[slot] < 0) {
        double *position = NULL;
        SN_TRY(sn_mesh_builder_vertex(&stl->mesh, &position));
        memcpy(position, place, 3 * sizeof *position);
        stl->slot[slot] = stl->mesh.data->vertex_count - 1;
    }
    SN_TRY(sn_cell_list_corner(stl->text->ctx, &stl->mesh.faces, stl->slot[slot], -1));
cleanup:
    return status;
}

static sn_status close_face(stl_reader *stl) {
    return sn_cell_list_close(stl->text->ctx, &stl->mesh.faces, stl->group);
}

// ---- Ascii

static bool starts_with_solid(const sn_text *text) {
    return text->end - text->at > 5 && sn_word_is_alike((sn_word){text->at, 5}, "solid") &&
           (text->at[5] == ' ' || text->at[5] == '\t' || text->at[5] == '\n' || text->at[5] == '\r');
}

/// Takes a word of the grammar, on this line or a later one.
static sn_status take_word(sn_text *text, const char *wanted) {
    sn_text_skip_space(text);
    sn_word word = sn_text_word(text);
    if (sn_word_is_alike(word, wanted))
        return SN_OK;
    text->at = word.at;
    return sn_text_expected(text, "\"%s\"", wanted);
}

static sn_status read_facet(stl_reader *stl) {
    sn_status status = SN_OK;
    sn_text *text = stl->text;
    int32_t corners = 0;
    SN_TRY(take_word(text, "normal"));
    // Whatever stands there: programs write "-nan(ind)" as normals of flat triangles.
    for (int axis = 0; axis < 3; axis++) {
        sn_text_skip_space(text);
        if (sn_text_word(text).size == 0)
            return sn_text_expected(text, "three numbers behind \"normal\"");
    }
    SN_TRY(take_word(text, "outer"));
    SN_TRY(take_word(text, "loop"));
    for (;; corners++) {
        double place[3];
        sn_text_skip_space(text);
        sn_word word = sn_text_word(text);
        if (sn_word_is_alike(word, "endloop") && corners >= 3)
            break;
        text->at = word.at;
        SN_TRY(take_word(text, "vertex"));
        for (int axis = 0; axis < 3; axis++) {
            sn_text_skip_space(text);
            if (!sn_text_real(text, &place[axis]))
                return sn_text_expected(text, "three numbers behind \"vertex\"");
        }
        SN_TRY(add_corner(stl, place));
    }
    SN_TRY(take_word(text, "endfacet"));
    SN_TRY(close_face(stl));
cleanup:
    return status;
}

static sn_status read_ascii(stl_reader *stl) {
    sn_status status = SN_OK;
    sn_text *text = stl->text;
    bool open = false;
    while (sn_text_skip_space(text)) {
        sn_word word = sn_text_word(text);
        if (open && sn_word_is_alike(word, "facet")) {
            SN_TRY(read_facet(stl));
        } else if (open && sn_word_is_alike(word, "endsolid")) {
            sn_text_next_line(text);
            open = false;
        } else if (!open && sn_word_is_alike(word, "solid")) {
            sn_word name = sn_text_rest(text);
            stl->group = -1;
            if (name.size > 0)
                SN_TRY(sn_name_table_add(text->ctx, &stl->mesh.groups, name, &stl->group));
            open = true;
        } else {
            text->at = word.at;
            return sn_text_expected(text, open ? "\"facet\" or \"endsolid\"" : "\"solid\"");
        }
    }
    if (open)
        return sn_text_expected(text, "\"facet\" or \"endsolid\"; the file was cut short: write it again");
cleanup:
    return status;
}

// ---- Binary

/// Number of triangles that a binary file claims, or -1.
static int64_t claimed_triangles(const sn_text *text) {
    int64_t count = -1;
    if (text->end - text->bytes >= BEGIN_SIZE)
        sn_number_int(text->bytes + HEADER_SIZE, SN_NUMBER_U32, false, &count);
    return count;
}

static bool has_binary_size(const sn_text *text) {
    int64_t count = claimed_triangles(text);
    return count >= 0 && text->end - text->bytes == BEGIN_SIZE + RECORD_SIZE * count;
}

static sn_status read_binary(stl_reader *stl) {
    sn_status status = SN_OK;
    sn_text *text = stl->text;
    int64_t count = claimed_triangles(text);
    text->binary = true;
    text->at = text->bytes;
    if (!sn_text_bytes(text, BEGIN_SIZE))
        return sn_text_fail(
            text,
            "found %lld bytes, expected 80 bytes and a number of triangles, or \"solid\"; is it "
            "an STL file?",
            (long long)(text->end - text->bytes));
    int64_t room = (text->end - text->at) / RECORD_SIZE;
    if (count > room)
        return sn_text_fail(
            text,
            "found %lld as the number of triangles, but bytes for %lld; the file was cut short: "
            "write it again",
            (long long)count, (long long)room);
    for (int64_t i = 0; i < count; i++) {
        const char *record = sn_text_bytes(text, RECORD_SIZE);
        for (int corner = 0; corner < 3; corner++) {
            double place[3];
            for (int axis = 0; axis < 3; axis++)
                place[axis] = sn_number_real(record + 12 + 12 * corner + 4 * axis, SN_NUMBER_F32, false);
            SN_TRY(add_corner(stl, place));
        }
        SN_TRY(close_face(stl));
    }
    if (text->at < text->end)
        SN_TRY(sn_mesh_builder_note(&stl->mesh, "passed over %lld bytes behind the last triangle",
                                    (long long)(text->end - text->at)));
cleanup:
    return status;
}

bool sn_stl_is(sn_text *text) {
    return has_binary_size(text) || starts_with_solid(text);
}

sn_status sn_stl_read(sn_text *text, sn_mesh_data *data) {
    sn_status status = SN_OK;
    stl_reader stl = {.mesh = sn_mesh_builder_make(text, data), .text = text, .group = -1};
    bool ascii = starts_with_solid(text) && !text->has_zero_bytes && !has_binary_size(text);
    SN_TRY(ascii ? read_ascii(&stl) : read_binary(&stl));
    SN_TRY(sn_mesh_builder_finish(&stl.mesh, "parts"));
cleanup:
    SN_RELEASE(text->ctx, stl.slot);
    sn_mesh_builder_release(&stl.mesh);
    return status;
}

// ---- Writer

typedef struct stl_writer {
    sn_text_out *out;
    const double *position;
} stl_writer;

/// The nearest float; beyond its range infinity, of which the conversion knows nothing in C.
static void write_float(sn_text_out *out, double value) {
    float single = fabs(value) > (double)FLT_MAX ? (value > 0 ? INFINITY : -INFINITY) : (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    sn_text_out_i32(out, (int32_t)bits);
}

static void write_triangle(void *user, const int32_t *vertex, int32_t size, int32_t group) {
    (void)group;
    const stl_writer *stl = user;
    const double *corner[3];
    double side[2][3], normal[3];
    for (int32_t i = 0; i < size; i++)
        corner[i] = stl->position + 3 * (size_t)vertex[i];
    for (int axis = 0; axis < 3; axis++) {
        side[0][axis] = corner[1][axis] - corner[0][axis];
        side[1][axis] = corner[2][axis] - corner[0][axis];
    }
    for (int axis = 0; axis < 3; axis++) {
        int next = (axis + 1) % 3, last = (axis + 2) % 3;
        normal[axis] = side[0][next] * side[1][last] - side[0][last] * side[1][next];
    }
    double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    bool flat = !(length > 0 && length < INFINITY);
    for (int axis = 0; axis < 3; axis++)
        write_float(stl->out, flat ? 0 : normal[axis] / length);
    for (int32_t i = 0; i < size; i++)
        for (int axis = 0; axis < 3; axis++)
            write_float(stl->out, corner[i][axis]);
    sn_text_out_bytes(stl->out, "\0\0", 2);
}

sn_status sn_stl_write(sn_text_out *out, const sn_mesh_data *data) {
    // Readers that look at the first word only must not take it for a text.
    static const char header[HEADER_SIZE] = "binary STL by Sinew";
    int64_t count = sn_mesh_data_each_simplex(data, 3, NULL, NULL);
    if (sn_mesh_data_each_simplex(data, 4, NULL, NULL) > 0)
        return sn_fail(
            data->context, SN_ERR_INVALID_ARGUMENT,
            "%s: an STL file cannot hold tetrahedra; write .vtu, .mesh or .msh, or write the surface "
            "only",
            out->path);
    if (count > INT32_MAX)
        return sn_fail(data->context, SN_ERR_INVALID_ARGUMENT, "%s: STL cannot number %lld triangles",
                       out->path, (long long)count);
    sn_text_out_bytes(out, header, sizeof header);
    sn_text_out_i32(out, (int32_t)count);
    stl_writer stl = {out, data->position};
    sn_mesh_data_each_simplex(data, 3, write_triangle, &stl);
    return SN_OK;
}
