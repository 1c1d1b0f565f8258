// VTK, legacy and XML: the files of the fuzz corpora hold one mesh as VTK itself writes it in all its ways,
// and some made by hand.
#include "unit/io/test_io_mesh_support.h"

#include <math.h>

static void grids_of_vtk_are_read(void **state) {
    (void)state;
    static const char *const names[] = {"vtk/ascii_42.vtk",
                                        "vtk/ascii_51.vtk",
                                        "vtk/binary_42.vtk",
                                        "vtk/binary_51.vtk",
                                        "vtu/ascii.vtu",
                                        "vtu/inline.vtu",
                                        "vtu/inline_big.vtu",
                                        "vtu/inline_packed.vtu",
                                        "vtu/appended_raw.vtu",
                                        "vtu/appended_base64.vtu",
                                        "vtu/appended_raw_packed_big.vtu",
                                        "vtu/appended_base64_packed.vtu"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        sn_context *ctx = open_context();
        sn_mesh_data *data = read_corpus(ctx, names[i]);
        assert_int_equal(data->vertex_count, 5);
        assert_memory_equal(data->position, ((double[]){0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1}),
                            15 * sizeof(double));
        assert_int_equal(data->block_count, 3);
        assert_ints(data->block[0].vertex, 2, (int32_t[]){0, 4});
        assert_ints(data->block[1].vertex, 3, (int32_t[]){0, 2, 1});
        assert_ints(data->block[2].vertex, 8, (int32_t[]){0, 1, 2, 3, 1, 2, 3, 4});
        assert_string_equal(group_of(data, 0, 0), "tag3");
        assert_string_equal(group_of(data, 1, 0), "");
        assert_string_equal(group_of(data, 2, 0), "tag7");
        assert_string_equal(group_of(data, 2, 1), "tag8");
        assert_int_equal(data->skipped, 1);
        assert_non_null(strstr(data->note, "skipped 1 cells of kind \"vertex\""));
        assert_non_null(strstr(data->note, "point data temperature"));
        sn_mesh_data_destroy(&data);
        close_context(ctx);
    }
}

static void polydata_of_vtk_are_read(void **state) {
    (void)state;
    static const char *const names[] = {"vtk/polydata_ascii_42.vtk", "vtk/polydata_ascii_51.vtk",
                                        "vtk/polydata_binary_42.vtk", "vtk/polydata_binary_51.vtk"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        sn_context *ctx = open_context();
        sn_mesh_data *data = read_corpus(ctx, names[i]);
        assert_int_equal(data->vertex_count, 5);
        assert_ints(data->block[0].vertex, 4, (int32_t[]){0, 1, 1, 2});
        assert_string_equal(group_of(data, 0, 1), "tag5");
        assert_int_equal(data->block[1].count, 5);
        assert_ints(data->block[1].vertex, 16, (int32_t[]){0, 1, 2, 0, 1, 4, 2, 0, 1, 2, 2, 1, 3, 2, 3, 4});
        assert_string_equal(group_of(data, 1, 0), "tag6");
        assert_string_equal(group_of(data, 1, 4), "tag8");
        assert_non_null(strstr(data->note, "point data n"));
        sn_mesh_data_destroy(&data);
        close_context(ctx);
    }
}

static void all_sections_are_passed(void **state) {
    (void)state;
    static const char *const names[] = {"vtk/all_sections.vtk", "vtk/windows.vtk"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        sn_context *ctx = open_context();
        sn_mesh_data *data = read_corpus(ctx, names[i]);
        assert_int_equal(data->vertex_count, 10);
        assert_true(isnan(data->position[14]) && data->position[15] == 0.5);
        assert_int_equal(data->block_count, 3);
        assert_ints(data->block[0].vertex, 4, (int32_t[]){0, 1, 4, 5});
        // A pixel's corners run along its rows.
        assert_ints(data->block[1].vertex, 9, (int32_t[]){0, 1, 4, 2, 0, 1, 2, 3, 4});
        assert_ints(data->block[2].vertex, 8, (int32_t[]){0, 1, 2, 3, 0, 1, 2, 3});
        assert_string_equal(group_of(data, 1, 0), "tag-3");
        assert_non_null(strstr(data->note, "corners of 2 cells of second order"));
        assert_non_null(strstr(data->note, "\"hexahedron\""));
        sn_mesh_data_destroy(&data);
        close_context(ctx);
    }
    sn_context *ctx = open_context();
    sn_mesh_data *data = read_corpus(ctx, "vtk/binary_bits.vtk");
    assert_string_equal(group_of(data, 0, 0), "tag4");
    sn_mesh_data_destroy(&data);
    close_context(ctx);
}

static void pieces_are_put_side_by_side(void **state) {
    (void)state;
    static const char *const names[] = {"vtu/pieces.vtu", "vtu/windows.vtu"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        sn_context *ctx = open_context();
        sn_mesh_data *data = read_corpus(ctx, names[i]);
        assert_int_equal(data->vertex_count, 9);
        assert_true(isnan(data->position[14]) && data->position[18] == 2);
        assert_int_equal(data->block_count, 2);
        assert_ints(data->block[0].vertex, 8, (int32_t[]){0, 1, 2, 0, 1, 2, 3, 4});
        assert_ints(data->block[1].vertex, 8, (int32_t[]){0, 1, 2, 3, 5, 6, 7, 8});
        assert_string_equal(group_of(data, 1, 0), "tag7");
        assert_string_equal(group_of(data, 0, 0), "");
        assert_string_equal(group_of(data, 0, 1), "tag9");
        assert_non_null(strstr(data->note, "3 pieces"));
        assert_non_null(strstr(data->note, "cell data stress"));
        sn_mesh_data_destroy(&data);
        close_context(ctx);
    }
}

static void round_trips_keep_cells_and_numbers(void **state) {
    (void)state;
    static const char *const names[] = {TEST_PATH("vtk_a.vtk"), TEST_PATH("vtk_a.vtu")};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        sn_context *ctx = open_context();
        sn_mesh_data *data = read_text(ctx, TEST_PATH("vtk_a.obj"),
                                       "v 0.1 0 1e-310\nv 1 1e300 0\nv 1 nan 0\nv 0 1 -0.0\nv 9 9 9\n"
                                       "g tag7\nl 1 2\nf 1 2 3 4\ng a -->\nf 1 3 4\nf 1 2 3 4 5\n"),
                     *back = NULL;
        assert_int_equal(sn_mesh_data_write(data, names[i]), SN_OK);
        if (sn_mesh_data_read(ctx, names[i], &back) != SN_OK)
            fail_msg("%s", sn_context_message(ctx));
        assert_int_equal(back->vertex_count, 5);
        assert_memory_equal(back->position, data->position, 7 * sizeof(double));
        assert_true(isnan(back->position[7]) && signbit(back->position[11]));
        assert_int_equal(back->block_count, 2);
        assert_ints(back->block[1].offset, 4, data->block[1].offset);
        assert_ints(back->block[1].vertex, 12, data->block[1].vertex);
        assert_string_equal(group_of(back, 0, 0), "tag7");
        assert_string_equal(group_of(back, 1, 2), "tag1");
        assert_string_equal(back->note, "");
        sn_mesh_data_destroy(&back);
        sn_mesh_data_destroy(&data);
        remove(names[i]);
        close_context(ctx);
    }
}

static void bad_files_get_clear_messages(void **state) {
    (void)state;
    static const bad_file bad[] = {
        {"vtk/bad_type.vtk", ".vtk:8: found \"half\"|double"},
        {"vtk/bad_claim_points.vtk", ".vtk:9: found 6000000000 as the number of coordinates"},
        {"vtk/bad_claim_far.vtk", "107374182400 as the number of coordinates"},
        {"vtk/bad_claim_cells.vtk", "2000000000 as the number of numbers of the cells"},
        {"vtk/bad_cell_size.vtk", "found point 10 in cell 0"},
        {"vtk/bad_cell_points.vtk", "cell (0, triangle) with 4 points, expected 3"},
        {"vtk/bad_point.vtk", ".vtk:20: found point 10 in cell 0, expected 0 to 9"},
        {"vtk/bad_types.vtk", "types of 7 cells, but points of 8"},
        {"vtk/bad_section.vtk", ".vtk:19: found \"CELS\"|POINTS, CELLS"},
        {"vtk/bad_dataset.vtk", "\"STRUCTURED_POINTS\"|UNSTRUCTURED_GRID or POLYDATA"},
        {"vtk/bad_version.vtk", ".vtk:1: |a version from 1 to 5"},
        {"vtk/bad_mode.vtk", "found \"TEXT\"|ASCII or BINARY"},
        {"vtk/bad_second_points.vtk", "second section POINTS"},
        {"vtk/bad_zero.vtk", "binary data"},
        {"vtk/bad_claim_array.vtk", "no file holds|4000000000"},
        {"vtk/bad_binary_cut.vtk", "byte |cut short"},
        {"vtk/bad_components.vtk", "as the number of numbers of an array"},
        {"vtk/bad_numbers.vtk", "45 numbers in the cells, expected 46"},
        {"vtk/bad_polydata.vtk", "found \"CELLS\"|POLYGONS"},
        {"vtu/bad_root.vtu", ".vtu:3: |PolyData|UnstructuredGrid"},
        {"vtu/bad_doctype.vtu", "document type"},
        {"vtu/bad_nesting.vtu", "end of \"Points\", expected that of \"Cells\""},
        {"vtu/bad_attribute.vtu", "name=\"value\""},
        {"vtu/bad_number.vtu", ".vtu:10: found \"x\", expected a number"},
        {"vtu/bad_point.vtu", "found point 5 in cell 0, expected 0 to 4"},
        {"vtu/bad_offset.vtu", "end of the points at 3 in cell 1"},
        {"vtu/bad_offset_far.vtu", "end of the points at 13 in cell 2"},
        {"vtu/bad_count.vtu", "15 coordinates|6 points"},
        {"vtu/bad_claim.vtu", "15 coordinates|10737418240 points"},
        {"vtu/bad_count_word.vtu", "NumberOfPoints=\"five\""},
        {"vtu/bad_no_count.vtu", "no attribute NumberOfPoints"},
        {"vtu/bad_type.vtu", "type \"UInt9\""},
        {"vtu/bad_format.vtu", "ascii, binary or appended"},
        {"vtu/bad_twice.vtu", "second array types"},
        {"vtu/bad_compressor.vtu", "vtkLZ4DataCompressor|vtkZLibDataCompressor or none"},
        {"vtu/bad_cell_size.vtu", "(1, quad) with 3 points, expected 4"},
        {"vtu/bad_no_offset.vtu", "no attribute offset"},
        {"vtu/bad_types.vtu", "types of 2 cells, but points of 3"},
        {"vtu/bad_cut.vtu", ".vtu:25: found the end of the file"},
        {"vtu/bad_quote.vtu", "expected"},
        {"vtu/bad_deep.vtu", "more than 16 elements"},
        {"vtu/bad_attributes.vtu", "more than 24 attributes"},
        {"vtu/bad_appended_cut.vtu", "cut short"},
        {"vtu/bad_appended_length.vtu", "10737418240 bytes"},
        {"vtu/bad_appended_none.vtu", "no \"_\""},
        {"vtu/bad_appended_gone.vtu", "at offset"},
        {"vtu/bad_bomb.vtu", "more than the file can hold"},
        {"vtu/bad_bomb_blocks.vtu", "compressed blocks"},
        {"vtu/bad_bomb_small.vtu", "does not unpack to 100000 bytes"},
        {"vtu/bad_packed.vtu", "does not unpack to 5 bytes"},
        {"vtu/bad_multiple.vtu", "9 bytes, expected a multiple of 8"}};
    refuse_corpus(sizeof bad / sizeof *bad, bad);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(grids_of_vtk_are_read),
                                       cmocka_unit_test(polydata_of_vtk_are_read),
                                       cmocka_unit_test(all_sections_are_passed),
                                       cmocka_unit_test(pieces_are_put_side_by_side),
                                       cmocka_unit_test(round_trips_keep_cells_and_numbers),
                                       cmocka_unit_test(bad_files_get_clear_messages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
