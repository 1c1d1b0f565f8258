// STL, PLY and OFF: what is read of good and of bad files, and what comes back of what was written.
#include "unit/io/test_io_mesh_support.h"

#include <math.h>
#include <stdlib.h>

static void stl_corners_become_vertices(void **state) {
    (void)state;
    static const char *const names[] = {"stl/tetrahedron.stl", "stl/binary.stl", "stl/binary_solid.stl"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        sn_context *ctx = open_context();
        sn_mesh_data *data = read_corpus(ctx, names[i]);
        assert_int_equal(data->vertex_count, 4);
        assert_memory_equal(data->position, ((double[]){0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}),
                            12 * sizeof(double));
        assert_int_equal(data->block_count, 1);
        assert_int_equal(data->block[0].kind, SN_CELL_TRIANGLE);
        assert_ints(data->block[0].vertex, 12, (int32_t[]){0, 1, 2, 0, 2, 3, 0, 3, 1, 1, 3, 2});
        assert_null(data->block[0].group);
        assert_string_equal(data->note, "");
        sn_mesh_data_destroy(&data);
        close_context(ctx);
    }
}

static void stl_solids_are_groups(void **state) {
    (void)state;
    sn_context *ctx = open_context();
    sn_mesh_data *data = read_corpus(ctx, "stl/two_solids.stl");
    assert_int_equal(data->group_count, 2);
    assert_string_equal(data->group[0], "flesh");
    assert_string_equal(data->group[1], "bone");
    assert_ints(data->block[0].group, 5, (int32_t[]){0, 0, 1, 1, 0});
    sn_mesh_data_destroy(&data);
    data = read_corpus(ctx, "stl/windows.stl");
    assert_string_equal(data->group[0], "half a m\xc3\xb6"
                                        "bius");
    sn_mesh_data_destroy(&data);
    // A quadrangle is one, and the grammar does not need lines.
    data = read_corpus(ctx, "stl/one_line.stl");
    sn_mesh_data_destroy(&data);
    close_context(ctx);
}

static void odd_binary_stl_is_read(void **state) {
    (void)state;
    sn_context *ctx = open_context();
    sn_mesh_data *data = read_corpus(ctx, "stl/binary_nan.stl");
    assert_int_equal(data->vertex_count, 3);
    assert_true(isnan(data->position[1]) && !signbit(data->position[3]) && isinf(data->position[4]));
    sn_mesh_data_destroy(&data);
    data = read_corpus(ctx, "stl/binary_behind.stl");
    assert_non_null(strstr(data->note, "8 bytes behind the last triangle"));
    sn_mesh_data_destroy(&data);
    close_context(ctx);
}

static void stl_round_trip_is_that_of_floats(void **state) {
    (void)state;
    sn_context *ctx = open_context();
    const char *path = TEST_PATH("surface_a.stl");
    sn_mesh_data *data = read_text(ctx, TEST_PATH("surface_a.obj"),
                                   "v 0.1 0 0\nv 1 1e300 0\nv 1 1 0\nv 0 1 -0.0\nv 9 9 9\n"
                                   "g a\nf 1 2 3\nf 1 3 4\nl 1 2\n"),
                 *back = NULL;
    assert_int_equal(sn_mesh_data_write(data, path), SN_OK);
    assert_int_equal(sn_mesh_data_read(ctx, path, &back), SN_OK);
    assert_int_equal(back->vertex_count, 4);
    assert_true(back->position[0] == (double)0.1f && back->position[4] == INFINITY);
    assert_int_equal(back->block_count, 1);
    assert_ints(back->block[0].vertex, 6, (int32_t[]){0, 1, 2, 0, 2, 3});
    sn_mesh_data_destroy(&back);
    sn_mesh_data_destroy(&data);
    remove(path);
    close_context(ctx);
}

static void ply_of_any_property_order_is_read(void **state) {
    (void)state;
    static const char *const names[] = {"ply/little.ply", "ply/big.ply"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        sn_context *ctx = open_context();
        sn_mesh_data *data = read_corpus(ctx, names[i]);
        assert_int_equal(data->vertex_count, 4);
        assert_memory_equal(data->position, ((double[]){0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}),
                            12 * sizeof(double));
        assert_ints(data->block[0].vertex, 6, (int32_t[]){0, 1, 2, 3, 2, 1});
        assert_ints(data->block[0].uv, 6, (int32_t[]){0, 1, 2, -1, -1, -1});
        assert_memory_equal(data->uv, ((double[]){0, 0, 1, 0, 1, 1}), 6 * sizeof(double));
        assert_non_null(strstr(data->note, "properties alpha of the element vertex"));
        assert_non_null(strstr(data->note, "skipped 2 items of the element strange"));
        assert_int_equal(data->skipped, 2);
        sn_mesh_data_destroy(&data);
        close_context(ctx);
    }
}

static void ascii_ply_is_read(void **state) {
    (void)state;
    static const char *const names[] = {"ply/ascii.ply", "ply/windows.ply"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        sn_context *ctx = open_context();
        sn_mesh_data *data = read_corpus(ctx, names[i]);
        assert_int_equal(data->vertex_count, 5);
        assert_int_equal(data->uv_count, 5);
        assert_true(isnan(data->uv[8]) && data->uv[9] == 0.5);
        assert_int_equal(data->block_count, 2);
        assert_ints(data->block[0].vertex, 2, (int32_t[]){0, 4});
        assert_int_equal(data->block[1].kind, SN_CELL_POLYGON);
        assert_ints(data->block[1].offset, 4, (int32_t[]){0, 3, 7, 10});
        assert_ints(data->block[1].vertex, 10, (int32_t[]){0, 1, 4, 0, 1, 2, 3, 1, 2, 4});
        assert_ints(data->block[1].uv, 10, (int32_t[]){0, 1, 4, 0, 1, 2, 3, 1, 2, 4});
        assert_non_null(strstr(data->note, "flags of the element face"));
        sn_mesh_data_destroy(&data);
        close_context(ctx);
    }
}

static void ply_round_trip_is_exact(void **state) {
    (void)state;
    sn_context *ctx = open_context();
    const char *path = TEST_PATH("surface_b.ply");
    sn_mesh_data *data = read_text(ctx, TEST_PATH("surface_b.obj"),
                                   "v 0.1 0 1e-310\nv 1 1e300 0\nv 1 nan 0\nv 0 1 -0.0\nv 9 9 9\n"
                                   "vt 0 0.1\nvt 1 1\nvt 2 2\nvt 0 0.1\n"
                                   "f 1/1 2/2 3/3 4/1\nf 1/4 3/3 4/1\nl 1 2\n"),
                 *back = NULL;
    assert_int_equal(sn_mesh_data_write(data, path), SN_OK);
    assert_int_equal(sn_mesh_data_read(ctx, path, &back), SN_OK);
    assert_int_equal(back->vertex_count, 5);
    assert_memory_equal(back->position, data->position, 6 * sizeof(double));
    assert_true(isnan(back->position[7]) && signbit(back->position[11]));
    assert_int_equal(back->block_count, 2);
    assert_ints(back->block[1].vertex, 7, (int32_t[]){0, 1, 2, 3, 0, 2, 3});
    for (int i = 0; i < 7; i++)
        assert_memory_equal(back->uv + 2 * back->block[1].uv[i], data->uv + 2 * data->block[1].uv[i],
                            2 * sizeof(double));
    sn_mesh_data_destroy(&back);
    sn_mesh_data_destroy(&data);
    // Texture coordinates that differ at a vertex have no place.
    data = read_text(ctx, TEST_PATH("surface_b.obj"),
                     "v 0 0 0\nv 1 0 0\nv 1 1 0\nvt 0 0\nvt 1 1\nf 1/1 2/1 3/1\nf 1/2 3/1 2/1\n");
    assert_int_equal(sn_mesh_data_write(data, path), SN_OK);
    assert_int_equal(sn_mesh_data_read(ctx, path, &back), SN_OK);
    assert_int_equal(back->uv_count, 0);
    sn_mesh_data_destroy(&back);
    sn_mesh_data_destroy(&data);
    remove(path);
    close_context(ctx);
}

static void long_polygons_keep_their_corners(void **state) {
    (void)state;
    sn_context *ctx = open_context();
    const char *path = TEST_PATH("surface_c.ply");
    sn_mesh_data *data = read_corpus(ctx, "ply/many_corners.ply"), *back = NULL;
    assert_int_equal(data->block[0].offset[1], 300);
    assert_int_equal(sn_mesh_data_write(data, path), SN_OK);
    assert_int_equal(sn_mesh_data_read(ctx, path, &back), SN_OK);
    assert_int_equal(back->block[0].offset[1], 300);
    sn_mesh_data_destroy(&back);
    sn_mesh_data_destroy(&data);
    remove(path);
    close_context(ctx);
}

static void off_is_read_with_what_it_announces(void **state) {
    (void)state;
    static const char *const names[] = {"off/plain.off", "off/windows.off", "off/one_line.off",
                                        "off/headerless.off"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        sn_context *ctx = open_context();
        sn_mesh_data *data = read_corpus(ctx, names[i]);
        assert_int_equal(data->vertex_count, 5);
        assert_int_equal(data->block_count, 2);
        assert_ints(data->block[0].vertex, 2, (int32_t[]){0, 1});
        assert_ints(data->block[1].vertex, 10, (int32_t[]){0, 1, 4, 0, 1, 2, 3, 1, 2, 4});
        sn_mesh_data_destroy(&data);
        data = read_corpus(ctx, "off/coff.off");
        assert_int_equal(data->vertex_count, 3);
        assert_true(data->position[3] == 1 && isnan(data->position[8]));
        assert_non_null(strstr(data->note, "coordinates of 3 vertices"));
        sn_mesh_data_destroy(&data);
        close_context(ctx);
    }
}

static void bad_files_get_clear_messages(void **state) {
    (void)state;
    static const bad_file bad[] = {
        {"stl/bad_binary_cut.stl", "byte 84|4 as the number of triangles|bytes for 3|cut short"},
        {"stl/bad_binary_claim.stl", "200000000 as the number"},
        {"stl/bad_binary_short.stl", "found 82 bytes"},
        {"stl/bad_word.stl", ".stl:2: found \"endloop\"|\"vertex\""},
        {"stl/bad_number.stl", ".stl:4: found \"0,5\""},
        {"stl/empty_solid.stl", "no vertices"},
        {"stl/binary_empty.stl", "no vertices"},
        {"ply/bad_cut.ply", "byte |as the number of entries|cut short"},
        {"ply/bad_index.ply", ".ply:25: found vertex 5|0 to 4"},
        {"ply/bad_index_real.ply", "found vertex 0.5"},
        {"ply/bad_claim.ply", "2000000000 as the number"},
        {"ply/bad_claim_faces.ply", "byte |2000000000 as the number"},
        {"ply/bad_count_large.ply", ".ply:5: found \"10000000000\""},
        {"ply/bad_list.ply", "found -4 as the length"},
        {"ply/bad_list_long.ply", "2000000000 as the number of entries"},
        {"ply/bad_type.ply", "found \"half\"|float"},
        {"ply/bad_format.ply", "found \"utf-8\"|binary_big_endian"},
        {"ply/bad_no_z.ply", "no property z|vertex"},
        {"ply/bad_second.ply", "second element vertex"},
        {"ply/bad_no_format.ply", "format ascii 1.0"},
        {"ply/bad_property_first.ply", "an element before it"},
        {"ply/bad_header_cut.ply", "end_header"},
        {"ply/bad_list_real.ply", "a real number as its length"},
        {"ply/bad_zero.ply", "binary data"},
        {"off/bad_4off.off", ".off:1: found 4OFF"},
        {"off/bad_binary.off", "binary OFF|convert"},
        {"off/bad_index.off", ".off:9: found vertex 5 in face 0|0 to 4"},
        {"off/bad_claim.off", "2000000000 as the number of vertices"},
        {"off/bad_claim_faces.off", "2000000000 as the number of faces"},
        {"off/bad_corners.off", "2000000000 as the number of corners"},
        {"off/bad_short.off", "end of the line|4 vertices of face 1"},
        {"off/bad_negative.off", "found -3 as the number of corners"},
        {"off/bad_vertex.off", "\"x\"|three coordinates"},
        {"off/bad_zero.off", "binary data"}};
    refuse_corpus(sizeof bad / sizeof *bad, bad);
}

static void tets_do_not_fit(void **state) {
    (void)state;
    static const char *const names[] = {TEST_PATH("surface_d.stl"), TEST_PATH("surface_d.ply"),
                                        TEST_PATH("surface_d.off")};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        sn_context *ctx = open_context();
        sn_mesh_data *data = read_text(ctx, TEST_PATH("surface_d.mesh"),
                                       "Dimension 3 Vertices 1 0 0 0 0 Tetrahedra 1 1 1 1 1 0 End");
        assert_int_equal(sn_mesh_data_write(data, names[i]), SN_ERR_INVALID_ARGUMENT);
        assert_message_has(ctx, i < 2 ? "cannot hold tetrahedra" : "read-only ending|.ply");
        sn_mesh_data_destroy(&data);
        close_context(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(stl_corners_become_vertices),
                                       cmocka_unit_test(stl_solids_are_groups),
                                       cmocka_unit_test(odd_binary_stl_is_read),
                                       cmocka_unit_test(stl_round_trip_is_that_of_floats),
                                       cmocka_unit_test(ply_of_any_property_order_is_read),
                                       cmocka_unit_test(ascii_ply_is_read),
                                       cmocka_unit_test(ply_round_trip_is_exact),
                                       cmocka_unit_test(long_polygons_keep_their_corners),
                                       cmocka_unit_test(off_is_read_with_what_it_announces),
                                       cmocka_unit_test(bad_files_get_clear_messages),
                                       cmocka_unit_test(tets_do_not_fit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
