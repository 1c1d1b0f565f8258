/// OFF: vertices and faces, a line each. The header may announce normals, colors and texture coordinates
/// (NOFF, COFF, STOFF), which stand behind the coordinates and are passed over, as colors of faces are.
#include "io/io_mesh_build.h"

#include <string.h>

/// Whether a word is OFF with its announcements; those that we read nothing of go to *out_bad.
static bool is_header(sn_word word, char *out_bad) {
    *out_bad = 0;
    if (word.size < 3 || word.size > 8 || memcmp(word.at + word.size - 3, "OFF", 3) != 0)
        return false;
    for (size_t i = 0; i + 3 < word.size; i++) {
        if (!strchr("STCN4n", word.at[i]))
            return false;
        if (word.at[i] == '4' || word.at[i] == 'n')
            *out_bad = word.at[i];
    }
    return true;
}

bool sn_off_is(sn_text *text) {
    char bad;
    text->comment = '#';
    sn_text_skip_space(text);
    sn_word word = sn_text_word(text);
    sn_text_rewind(text);
    text->comment = 0;
    return is_header(word, &bad);
}

/// Takes the first word, which a file may lack.
static sn_status read_header(sn_text *text) {
    char bad;
    sn_text_skip_space(text);
    sn_word word = sn_text_word(text);
    if (!is_header(word, &bad)) {
        text->at = word.at;
        return SN_OK;
    }
    if (bad)
        return sn_text_fail(text, "found %.*s, vertices of another dimension than 3, expected OFF",
                            (int)word.size, word.at);
    sn_word next = sn_text_word(text);
    if (sn_word_is_alike(next, "BINARY"))
        return sn_text_fail(text, "found binary OFF, expected ascii; convert it, or write PLY");
    text->at = next.at;
    return SN_OK;
}

static sn_status read_counts(sn_text *text, int32_t *out_vertices, int32_t *out_faces) {
    sn_status status = SN_OK;
    int32_t *const counts[] = {out_vertices, out_faces};
    for (int i = 0; i < 2; i++) {
        sn_text_skip_space(text);
        if (!sn_text_int(text, counts[i]))
            return sn_text_expected(text, "the numbers of vertices, faces and edges behind OFF");
    }
    // Some programs leave the number of edges out, and no one needs it.
    sn_text_next_line(text);
    SN_TRY(sn_text_check_count(text, *out_vertices, 6, "vertices"));
    SN_TRY(sn_text_check_count(text, *out_faces, 2, "faces"));
cleanup:
    return status;
}

static sn_status read_vertices(sn_mesh_builder *mesh, int32_t count, int32_t *out_extra) {
    sn_status status = SN_OK;
    sn_text *text = mesh->text;
    for (int32_t i = 0; i < count; i++) {
        double *position = NULL;
        SN_TRY(sn_mesh_builder_vertex(mesh, &position));
        sn_text_skip_space(text);
        for (int axis = 0; axis < 3; axis++)
            if (!sn_text_real(text, &position[axis]))
                return sn_text_expected(text, "three coordinates of vertex %d of %d", i, count);
        *out_extra += !sn_text_at_line_end(text);
        sn_text_next_line(text);
    }
cleanup:
    return status;
}

static sn_status read_face(sn_mesh_builder *mesh, int32_t number, int32_t *out_thin) {
    sn_status status = SN_OK;
    sn_text *text = mesh->text;
    int32_t size = 0, vertex = 0;
    sn_text_skip_space(text);
    if (!sn_text_int(text, &size))
        return sn_text_expected(text, "the number of corners of face %d", number);
    SN_TRY(sn_text_check_count(text, size, 2, "corners"));
    sn_cell_list *list = size == 2 ? &mesh->edges : &mesh->faces;
    for (int32_t i = 0; i < size; i++) {
        if (!sn_text_int(text, &vertex))
            return sn_text_expected(text, "%d vertices of face %d", size, number);
        if (vertex < 0 || vertex >= mesh->data->vertex_count)
            return sn_text_fail(text, "found vertex %d in face %d, expected 0 to %d", vertex, number,
                                mesh->data->vertex_count - 1);
        SN_TRY(sn_cell_list_corner(mesh->ctx, list, vertex, -1));
    }
    if (size < 2) {
        sn_cell_list_drop_open(list);
        ++*out_thin;
    } else {
        SN_TRY(sn_cell_list_close(mesh->ctx, list, -1));
    }
    sn_text_next_line(text);
cleanup:
    return status;
}

sn_status sn_off_read(sn_text *text, sn_mesh_data *data) {
    sn_status status = SN_OK;
    int32_t vertices = 0, faces = 0, extra = 0, thin = 0;
    sn_mesh_builder mesh = sn_mesh_builder_make(text, data);
    text->comment = '#';
    SN_TRY(read_header(text));
    SN_TRY(read_counts(text, &vertices, &faces));
    SN_TRY(read_vertices(&mesh, vertices, &extra));
    for (int32_t i = 0; i < faces; i++)
        SN_TRY(read_face(&mesh, i, &thin));
    if (extra > 0)
        SN_TRY(
            sn_mesh_builder_note(&mesh, "passed over numbers behind the coordinates of %d vertices", extra));
    if (thin > 0)
        SN_TRY(sn_mesh_builder_note(&mesh, "skipped %d faces of fewer than two corners", thin));
    data->skipped += thin;
    SN_TRY(sn_mesh_builder_finish(&mesh, "parts"));
cleanup:
    sn_mesh_builder_release(&mesh);
    return status;
}
