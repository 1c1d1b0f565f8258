// What the readers make of good and of bad files.
#include "unit/io/test_io_mesh_support.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

static void obj_keeps_polygons_groups_and_uvs(void **state) {
    (void)state;
    sn_context *ctx = open_context();
    sn_mesh_data *data = read_text(ctx, TEST_PATH("read_a.obj"),
                                   "# comment that ends in a backslash \\\n"
                                   "mtllib a.mtl\r\n"
                                   "v 0 0 0 1.0\r\n"
                                   "  v 1 0 0 0.5 0.5 0.5 # colors\n"
                                   "v 1 1 \\\n   0\n"
                                   "\tv -.5e0 1. +0\n"
                                   "v 0 0 1E+0\n"
                                   "vt 0 0\nvt 1\nvt 1 1 0\n"
                                   "vn 0 0 1\n"
                                   "g  left side \n"
                                   "f 1/1 2/2 3/3\n"
                                   "f 1 2 \\\r\n 3 4\n"
                                   "usemtl skin\n"
                                   "s 1\n"
                                   "f -5//1 -4//1 -1//1\n"
                                   "g\n"
                                   "f 1/1/1 2/-1/-1 5/3/1\n"
                                   "f 1 2\n"
                                   "l 1 2 3/2\n"
                                   "p 1 2\n"
                                   "curv 0 1 2\n");
    assert_int_equal(data->vertex_count, 5);
    assert_true(data->position[9] == -0.5 && data->position[10] == 1 && data->position[14] == 1);
    assert_true(data->position[6] == 1 && data->position[8] == 0);
    assert_int_equal(data->uv_count, 3);
    assert_true(data->uv[2] == 1 && data->uv[3] == 0);
    assert_int_equal(data->group_count, 2);
    assert_string_equal(data->group[0], "left side");
    assert_string_equal(data->group[1], "skin");
    assert_int_equal(data->block_count, 2);
    const sn_cell_block *edges = &data->block[0], *faces = &data->block[1];
    assert_int_equal(edges->kind, SN_CELL_EDGE);
    assert_ints(edges->vertex, 4, (int32_t[]){0, 1, 1, 2});
    assert_ints(edges->uv, 4, (int32_t[]){-1, -1, -1, 1});
    assert_null(edges->group);
    assert_int_equal(faces->kind, SN_CELL_POLYGON);
    assert_int_equal(faces->count, 4);
    assert_ints(faces->offset, 5, (int32_t[]){0, 3, 7, 10, 13});
    assert_ints(faces->vertex, 13, (int32_t[]){0, 1, 2, 0, 1, 2, 3, 0, 1, 4, 0, 1, 4});
    assert_ints(faces->uv, 13, (int32_t[]){0, 1, 2, -1, -1, -1, -1, -1, -1, -1, 0, 2, 2});
    assert_ints(faces->group, 4, (int32_t[]){0, 0, 1, -1});
    assert_int_equal(data->skipped, 3);
    assert_non_null(strstr(data->note, "skipped 1 statements \"curv\", first in line 25"));
    assert_non_null(strstr(data->note, "fewer than three corners"));
    sn_mesh_data_destroy(&data);
    close_context(ctx);
}

static void obj_of_triangles_only_has_triangles(void **state) {
    (void)state;
    sn_context *ctx = open_context();
    // Old Macintosh line ends, and a face before its vertices.
    sn_mesh_data *data =
        read_text(ctx, TEST_PATH("read_b.obj"), "f 1 2 3\rf 3 2 1\rv 0 0 nan\rv 1 0 -INF\rv 1 1 1e999");
    assert_int_equal(data->block_count, 1);
    assert_int_equal(data->block[0].kind, SN_CELL_TRIANGLE);
    assert_null(data->block[0].offset);
    assert_ints(data->block[0].vertex, 6, (int32_t[]){0, 1, 2, 2, 1, 0});
    assert_true(isnan(data->position[2]) && data->position[5] == -INFINITY && data->position[8] == INFINITY);
    assert_string_equal(data->note, "");
    sn_mesh_data_destroy(&data);
    close_context(ctx);
}

/// Names run to the line's end, a backslash there included: the lines that follow are read and counted alike.
static void obj_names_do_not_continue(void **state) {
    (void)state;
    sn_context *ctx = open_context();
    sn_mesh_data *data = read_text(ctx, TEST_PATH("read_i.obj"),
                                   "g C:\\meshes\\\nv 0 0 0\nv 1 0 0\no \\\nv 0 1 0\nusemtl a#\\\n"
                                   "vt 1 1\nf 1 2 3/1\ng \\\nf 3 2 1\n");
    assert_int_equal(data->vertex_count, 3);
    assert_int_equal(data->uv_count, 1);
    assert_true(data->position[7] == 1);
    assert_int_equal(data->group_count, 2);
    assert_string_equal(data->group[0], "a#\\");
    assert_string_equal(data->group[1], "\\");
    sn_mesh_data_destroy(&data);
    close_context(ctx);
}

static void medit_is_read_free_form(void **state) {
    (void)state;
    sn_context *ctx = open_context();
    sn_mesh_data *data = read_text(ctx, TEST_PATH("read_c.mesh"),
                                   "\xef\xbb\xbf"
                                   "# made by hand\n meshversionformatted\n3 Dimension # three\n3\n"
                                   "Vertices 4 0 0 0 0 1 0 0 0 0 1 0 0\n0 0 1 5\n"
                                   "RequiredVertices 2 1 2\n"
                                   "Quadrilaterals\n1\n1 2 3 4 0\n"
                                   "Triangles\n0\n"
                                   "Tetrahedra\n2\n1 2 3 4 -7\n1 2 3 4 0\nEdges 1\n2 3 9\n");
    assert_int_equal(data->vertex_count, 4);
    assert_int_equal(data->block_count, 2);
    assert_int_equal(data->block[0].kind, SN_CELL_EDGE);
    assert_int_equal(data->block[1].kind, SN_CELL_TET);
    assert_ints(data->block[1].vertex, 8, (int32_t[]){0, 1, 2, 3, 0, 1, 2, 3});
    assert_ints(data->block[1].group, 2, (int32_t[]){0, -1});
    assert_ints(data->block[0].group, 1, (int32_t[]){1});
    assert_string_equal(data->group[0], "ref-7");
    assert_string_equal(data->group[1], "ref9");
    assert_int_equal(data->skipped, 3);
    assert_non_null(strstr(data->note, "section Quadrilaterals in line 8 with 1 entries"));
    assert_non_null(strstr(data->note, "End is missing"));
    sn_mesh_data_destroy(&data);
    close_context(ctx);
}

static const char gmsh_text[] = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Comments\nwhat $Nodes\n$EndComments\n"
                                "$PhysicalNames\n2\n2 1 \"outer skin\"\n3 7 \"flesh\"\n$EndPhysicalNames\n"
                                "$Nodes\n4\n100 0 0 0\n7 1 0 0\n8 0 1 0\n9 0 0 1\n$EndNodes\n"
                                "$Elements\n6\n1 15 2 0 1 100\n2 15 2 0 1 7\n3 2 2 1 1 100 8 7\n"
                                "4 4 3 7 1 0 100 7 8 9\n5 4 2 1 1 100 7 8 9\n6 92 0 1 2 3\n$EndElements\n"
                                "$Periodic\n0\n$EndPeriodic\n";

static void gmsh_maps_sparse_nodes(void **state) {
    (void)state;
    sn_context *ctx = open_context();
    // The content counts, not the name.
    sn_mesh_data *data = read_text(ctx, TEST_PATH("read_d.obj"), gmsh_text);
    assert_int_equal(data->vertex_count, 4);
    assert_int_equal(data->block_count, 2);
    assert_ints(data->block[0].vertex, 3, (int32_t[]){0, 2, 1});
    assert_ints(data->block[1].vertex, 8, (int32_t[]){0, 1, 2, 3, 0, 1, 2, 3});
    assert_int_equal(data->group_count, 3);
    assert_string_equal(data->group[data->block[0].group[0]], "outer skin");
    assert_string_equal(data->group[data->block[1].group[0]], "flesh");
    // Number 1 is named for surfaces only.
    assert_string_equal(data->group[data->block[1].group[1]], "tag1");
    assert_int_equal(data->skipped, 3);
    assert_non_null(strstr(data->note, "skipped 2 elements of kind \"point\""));
    assert_non_null(strstr(data->note, "\"64-node hexahedron\""));
    assert_non_null(strstr(data->note, "section $Periodic"));
    sn_mesh_data_destroy(&data);
    close_context(ctx);
}

typedef struct bad_text {
    const char *name, *text, *words;
} bad_text;

static void bad_files_get_clear_messages(void **state) {
    (void)state;
    static const bad_text bad[] = {
        {"bad.obj", "v 0 0 0\nv 1 0\n", "bad.obj:2:|found the end of the line|three numbers"},
        {"bad.obj", "v 0 0 0,5\n", "bad.obj:1:|\"0,5\"|three numbers"},
        {"bad.obj", "v 0 0 0\n\nf 1 2 3\n", "bad.obj:3:|found index 2|expected 1 to 1"},
        {"bad.obj", "v 0 0 0\nf 0 1 1\n", "bad.obj:2:|found index 0"},
        {"bad.obj", "v 0 0 0\nf -2 1 1\nv 1 1 1\n", "bad.obj:2:|found index -2|-1 to -1"},
        {"bad.obj", "v 0 0 0\nf 1/1 1 1\n", "bad.obj:2:|texture coordinate"},
        {"bad.obj", "v 0 0 0\nf 1/ 1/x 1\n", "bad.obj:2:|\"1/x\"|3/1/2"},
        {"bad.obj", "v 0 0 0\nf 1 99999999999 1\n", "bad.obj:2:|\"99999999999\""},
        {"bad.obj", "v 0 0 0 x\n", "bad.obj:1:|\"x\"|a number or the end of the line"},
        {"bad.obj", "v 0 0 0\n0.5 0.5\n", "bad.obj:2:|\"0.5\"|statement"},
        {"bad.obj", "vt 1 2\n", "bad.obj|found 0 vertices"},
        {"bad.obj", "v 0x10 0 0\n", "bad.obj:1:|0x10"},
        {"bad.obj", "v 1e 0 0\n", "bad.obj:1:|\"1e\""},
        {"bad.mesh", "MeshVersionFormatted 1\nDimension 2\n", "bad.mesh:2:|dimension 2|expected 3"},
        {"bad.mesh", "MeshVersionFormatted 1\nVertices 2\n0 0 0 0\n0 0 0",
         "the end of the file|vertex 2 of 2"},
        {"bad.mesh", "MeshVersionFormatted 1\nVertices 1\n0 0 0 0\nTriangles 1\n1 1 2 0\n",
         "bad.mesh:5:|found vertex 2|expected 1 to 1"},
        {"bad.mesh", "MeshVersionFormatted 1\nVertices 1\n0 0 0 0\n0 0 0 0\n", "bad.mesh:4:|more entries"},
        {"bad.mesh", "MeshVersionFormatted 1\nTriangles 1\n1 1 1 0\n", "Vertices before"},
        {"bad.mesh", "MeshVersionFormatted 1\nVertices 1\n0 0 0 0\nVertices 1\n0 0 0 0\n", "second section"},
        {"bad.mesh", "MeshVersionFormatted 1\nDimension 3\nEnd\n", "no vertices"},
        {"bad.mesh", "MeshVersionFormatted 1\nVertices -3\n", "found -3 as the number of vertices"},
        {"bad.msh", "$MeshFormat\n4 0 8\n$EndMeshFormat\n", "bad.msh:2:|version 4,|-format msh41"},
        {"bad.msh", "$MeshFormat\n2.2 1 8\n", "byte 20: |byte order"},
        {"bad.msh", "$NOD\n1\n", "bad.msh:1:|$NOD|MSH 2.2"},
        {"bad.msh", "$Nodes\n1\n", "$MeshFormat first"},
        {"bad.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2\n1 0 0 0\n3 0 0 0\n3 0 0 0\n$EndNodes\n",
         "bad.msh:8:|\"3\"|$EndNodes"},
        {"bad.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n1 0 0 0\n3 0 0 0\n3 0 0 0\n$EndNodes\n",
         "bad.msh:8:|node 3 a second time"},
        {"bad.msh",
         "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n5 0 0 0\n$EndNodes\n$Elements\n1\n1 1 0 5 "
         "4\n$EndElements\n",
         "bad.msh:10:|found node 4 in an element"},
        {"bad.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Other\n", "end of the file|$EndOther"},
        {"bad.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n", "no nodes"},
        {"bad.glb", "glTF\2", "glTF|convert it"},
        {"bad.txt", "hello\n", "bad.txt:1:|\"hello\"|Medit"},
        {"bad.obj", "", "bad.obj|empty"}};
    char path[512];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sn_context *ctx = open_context();
        sn_mesh_data *data = NULL;
        snprintf(path, sizeof path, "%s/%s", SINEW_BINARY_DIR, bad[i].name);
        write_bytes(path, bad[i].text, strlen(bad[i].text));
        if (sn_mesh_data_read(ctx, path, &data) != SN_ERR_READ)
            fail_msg("accepted: %s", bad[i].text);
        assert_null(data);
        assert_message_has(ctx, bad[i].words);
        remove(path);
        close_context(ctx);
    }
}

static void what_is_no_text_is_refused(void **state) {
    (void)state;
    sn_context *ctx = open_context();
    sn_mesh_data *data = NULL;
    const char *path = TEST_PATH("read_e.obj");
    assert_int_equal(sn_mesh_data_read(ctx, TEST_PATH("no such file.obj"), &data), SN_ERR_READ);
    assert_message_has(ctx, "no such file.obj|cannot be read|No such file");
    assert_int_equal(sn_mesh_data_read(ctx, SINEW_BINARY_DIR, &data), SN_ERR_READ);
    assert_message_has(ctx, "folder");
    assert_int_equal(sn_mesh_data_read(ctx, "/dev/null", &data), SN_ERR_READ);
    assert_message_has(ctx, "no regular file");
    write_bytes(path, "v 0 0 0\n\0\1\2", 11);
    assert_int_equal(sn_mesh_data_read(ctx, path, &data), SN_ERR_READ);
    assert_message_has(ctx, "binary data|convert");
    write_bytes(path, "$MeshFormat\n2.2 1 8\n\1\0\0\0\n$EndMeshFormat\n", 39);
    assert_int_equal(sn_mesh_data_read(ctx, path, &data), SN_ERR_READ);
    assert_message_has(ctx, "no nodes");
    remove(path);
    assert_int_equal(sn_mesh_data_read(ctx, NULL, &data), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_mesh_data_read(NULL, path, &data), SN_ERR_INVALID_ARGUMENT);
    assert_null(data);
    close_context(ctx);
}

static void claimed_sizes_are_not_believed(void **state) {
    (void)state;
    static const char *const claims[] = {
        "MeshVersionFormatted 1\nDimension 3\nVertices\n2147483647\n0 0 0 0\n",
        "MeshVersionFormatted 1\nDimension 3\nVertices\n2147483648\n0 0 0 0\n",
        "MeshVersionFormatted 1\nVertices 1\n0 0 0 0\nTetrahedra 2000000000\n1 1 1 1 0\n",
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2000000000\n1 0 0 0\n$EndNodes\n",
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2000000000\n",
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n2000000000\n"};
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        sn_context *ctx = open_context();
        sn_mesh_data *data = NULL;
        const char *path = TEST_PATH("read_f.mesh");
        write_bytes(path, claims[i], strlen(claims[i]));
        assert_int_equal(sn_mesh_data_read(ctx, path, &data), SN_ERR_READ);
        assert_message_has(ctx, "read_f.mesh:");
        assert_true(sn_context_memory_peak(ctx) < 10000);
        remove(path);
        close_context(ctx);
    }
}

/// A file of very many skipped sections, each of which would get a line in the note.
static void read_many_sections(sn_context *ctx, const char *path, const char *begin, const char *section,
                               const char *end) {
    enum { SECTIONS = 200000 };
    sn_mesh_data *data = NULL;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(begin, file);
    for (int i = 0; i < SECTIONS; i++)
        fputs(section, file);
    fputs(end, file);
    fclose(file);
    assert_int_equal(sn_mesh_data_read(ctx, path, &data), SN_OK);
    assert_non_null(strstr(data->note, "skipped 199984 more sections"));
    assert_true(strlen(data->note) < 2048);
    sn_mesh_data_destroy(&data);
    remove(path);
}

/// A file of 1 MB in one token, in one line, of groups that change at every face, of many sections: linear
/// time, no deep recursion.
static void large_oddities_are_quick(void **state) {
    (void)state;
    enum { SIZE = 1 << 20, GROUPS = 50000 };
    sn_context *ctx = open_context();
    sn_mesh_data *data = NULL;
    const char *path = TEST_PATH("read_g.obj");
    char *text = malloc(SIZE + 64);
    assert_non_null(text);
    memset(text, '7', SIZE);
    memcpy(text, "v 0 0 ", 6);
    text[SIZE - 1] = '\n';
    write_bytes(path, text, SIZE);
    assert_int_equal(sn_mesh_data_read(ctx, path, &data), SN_OK);
    assert_true(data->position[2] == INFINITY);
    sn_mesh_data_destroy(&data);
    free(text);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("v 0 0 0\n", file);
    for (int i = 0; i < GROUPS; i++)
        fprintf(file, "g %d\nf 1 1 1\n", i);
    fclose(file);
    assert_int_equal(sn_mesh_data_read(ctx, path, &data), SN_OK);
    assert_int_equal(data->group_count, GROUPS);
    assert_int_equal(data->block[0].group[GROUPS - 1], GROUPS - 1);
    sn_mesh_data_destroy(&data);
    remove(path);
    read_many_sections(ctx, TEST_PATH("read_g.mesh"), "Vertices 1 0 0 0 0\n", "Corners 0\n", "End\n");
    read_many_sections(ctx, TEST_PATH("read_g.msh"), "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n", "$A\n$EndA\n",
                       "$Nodes\n1\n1 0 0 0\n$EndNodes\n");
    close_context(ctx);
}

typedef struct countdown {
    int64_t left; ///< Allocations that still succeed.
} countdown;

static void *allocate(void *user, size_t size) {
    countdown *count = user;
    if (count->left-- <= 0)
        return NULL;
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

static void release(void *user, void *memory) {
    (void)user;
    free(memory);
}

/// Fails every allocation of a read and a write in turn.
static void no_memory_leaves_no_trace(void **state) {
    (void)state;
    static const char obj[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\ng a\nf 1/1 2 3\nl 1 2\nwarp\n";
    static const char medit[] =
        "MeshVersionFormatted 1\nVertices 1\n0 0 0 0\nTetrahedra 1\n1 1 1 1 3\nCorners 1\n1\n";
    const char *const texts[] = {obj, medit, gmsh_text};
    const char *path = TEST_PATH("read_h.txt"), *copy = TEST_PATH("read_h.msh");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_bytes(path, texts[i], strlen(texts[i]));
        sn_status status = SN_ERR_NO_MEMORY;
        for (int64_t n = 1; status != SN_OK; n++) {
            countdown count = {n};
            sn_context_def def = sn_context_def_default();
            def.allocator = (sn_allocator){&count, allocate, release};
            sn_context *ctx = NULL;
            sn_mesh_data *data = NULL;
            assert_int_equal(sn_context_create(&def, &ctx), SN_OK);
            status = sn_mesh_data_read(ctx, path, &data);
            if (status == SN_OK)
                status = sn_mesh_data_write(data, copy);
            assert_true(status == SN_OK || status == SN_ERR_NO_MEMORY);
            assert_true(n < 100);
            sn_mesh_data_destroy(&data);
            close_context(ctx);
        }
    }
    remove(path);
    remove(copy);
}

/// The real meshes hold what their readme says.
static void real_meshes_have_their_sizes(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int32_t vertices, cells, kind;
    } files[] = {{"arm.obj", 8311, 16618, SN_CELL_TRIANGLE},  {"suzanne.obj", 507, 500, SN_CELL_POLYGON},
                 {"spot.obj", 2930, 5856, SN_CELL_TRIANGLE},  {"hand.mesh", 7234, 29998, SN_CELL_TET},
                 {"bunny.mesh", 5433, 34055, SN_CELL_TET},    {"octopus-low.mesh", 452, 1140, SN_CELL_TET},
                 {"bar66792.mesh", 22490, 66792, SN_CELL_TET}};
    const char *folder = getenv("SINEW_DATA");
    char path[512];
    struct stat about;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder ? folder : SINEW_SOURCE_DIR "/../shared/data",
                 files[i].name);
        if (stat(path, &about) != 0)
            skip();
        sn_context *ctx = open_context();
        sn_mesh_data *data = NULL;
        assert_int_equal(sn_mesh_data_read(ctx, path, &data), SN_OK);
        assert_int_equal(data->vertex_count, files[i].vertices);
        const sn_cell_block *last = &data->block[data->block_count - 1];
        assert_int_equal(last->kind, files[i].kind);
        assert_int_equal(last->count, files[i].cells);
        sn_mesh_data_destroy(&data);
        close_context(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(obj_keeps_polygons_groups_and_uvs),
                                       cmocka_unit_test(obj_of_triangles_only_has_triangles),
                                       cmocka_unit_test(obj_names_do_not_continue),
                                       cmocka_unit_test(medit_is_read_free_form),
                                       cmocka_unit_test(gmsh_maps_sparse_nodes),
                                       cmocka_unit_test(bad_files_get_clear_messages),
                                       cmocka_unit_test(what_is_no_text_is_refused),
                                       cmocka_unit_test(claimed_sizes_are_not_believed),
                                       cmocka_unit_test(large_oddities_are_quick),
                                       cmocka_unit_test(no_memory_leaves_no_trace),
                                       cmocka_unit_test(real_meshes_have_their_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
