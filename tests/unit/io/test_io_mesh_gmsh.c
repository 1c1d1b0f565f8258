// Gmsh MSH 2.2 binary and 4.1: files of the fuzz corpus hold one mesh in all flavors.
#include "unit/io/test_io_mesh_support.h"

#include <math.h>

static void version_2_is_read_from_bytes(void **state) {
    (void)state;
    static const char *const names[] = {"msh/binary_2.msh", "msh/binary_2_big.msh"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        sn_context *ctx = open_context();
        sn_mesh_data *data = read_corpus(ctx, names[i]);
        assert_int_equal(data->vertex_count, 5);
        assert_memory_equal(data->position + 3, ((double[]){1, 0, 0, 0, 1, 0}), 6 * sizeof(double));
        assert_int_equal(data->block_count, 2);
        assert_int_equal(data->block[0].kind, SN_CELL_POLYGON);
        assert_ints(data->block[0].vertex, 11, (int32_t[]){0, 2, 1, 0, 1, 4, 2, 0, 1, 4, 3});
        assert_string_equal(group_of(data, 0, 0), "outer skin");
        assert_string_equal(group_of(data, 0, 1), "");
        assert_ints(data->block[1].vertex, 8, (int32_t[]){0, 1, 2, 3, 1, 2, 3, 4});
        assert_string_equal(group_of(data, 1, 0), "flesh");
        assert_string_equal(group_of(data, 1, 1), "tag8");
        assert_int_equal(data->skipped, 1);
        assert_non_null(strstr(data->note, "skipped 1 elements of kind \"point\""));
        assert_non_null(strstr(data->note, "partitions"));
        sn_mesh_data_destroy(&data);
        close_context(ctx);
    }
}

static void version_4_is_read_from_text(void **state) {
    (void)state;
    static const char *const names[] = {"msh/ascii_41.msh", "msh/windows_41.msh"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        sn_context *ctx = open_context();
        sn_mesh_data *data = read_corpus(ctx, names[i]);
        assert_int_equal(data->vertex_count, 5);
        assert_true(data->position[3] == 1 && data->position[7] == 1 && isnan(data->position[14]));
        assert_ints(data->block[0].vertex, 7, (int32_t[]){0, 2, 1, 0, 1, 4, 2});
        assert_string_equal(group_of(data, 0, 1), "outer skin");
        assert_ints(data->block[1].vertex, 8, (int32_t[]){0, 1, 2, 3, 1, 2, 3, 4});
        assert_string_equal(group_of(data, 1, 0), "flesh");
        assert_string_equal(group_of(data, 1, 1), "tag8");
        assert_int_equal(data->group_count, 3);
        assert_int_equal(data->skipped, 3);
        assert_non_null(strstr(data->note, "skipped 2 elements of kind \"type 99\""));
        sn_mesh_data_destroy(&data);
        close_context(ctx);
    }
}

static void version_4_is_read_from_bytes(void **state) {
    (void)state;
    static const char *const names[] = {"msh/binary_41.msh", "msh/binary_41_big.msh",
                                        "msh/binary_41_parts.msh", "msh/binary_41_small.msh"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        sn_context *ctx = open_context();
        sn_mesh_data *data = read_corpus(ctx, names[i]);
        bool parts = strstr(names[i], "parts") != NULL;
        assert_int_equal(data->vertex_count, 5);
        assert_memory_equal(data->position + 3, ((double[]){1, 0, 0, 0, 1, 0}), 6 * sizeof(double));
        assert_ints(data->block[0].vertex, 3, (int32_t[]){0, 2, 1});
        assert_ints(data->block[1].vertex, 8, (int32_t[]){0, 1, 2, 3, 1, 2, 3, 4});
        assert_string_equal(group_of(data, 0, 0), "outer skin");
        assert_string_equal(group_of(data, 1, 0), "flesh");
        assert_string_equal(group_of(data, 1, 1), parts ? "tag8" : "");
        assert_non_null(strstr(data->note, "skipped the section $Ghosts"));
        assert_int_equal(strstr(data->note, "partitions") != NULL, parts);
        sn_mesh_data_destroy(&data);
        close_context(ctx);
    }
}

static void corners_of_second_order_are_taken(void **state) {
    (void)state;
    sn_context *ctx = open_context();
    sn_mesh_data *data = read_corpus(ctx, "msh/second_order.msh");
    assert_int_equal(data->vertex_count, 10);
    assert_int_equal(data->block_count, 3);
    assert_ints(data->block[0].vertex, 2, (int32_t[]){0, 1});
    assert_ints(data->block[1].vertex, 3, (int32_t[]){0, 1, 2});
    assert_ints(data->block[2].vertex, 4, (int32_t[]){0, 1, 2, 3});
    assert_non_null(strstr(data->note, "corners of 3 cells of second order"));
    sn_mesh_data_destroy(&data);
    close_context(ctx);
}

static void bad_files_get_clear_messages(void **state) {
    (void)state;
    static const bad_file bad[] = {
        {"msh/bad_binary_2_cut.msh", "byte |cut short"},
        {"msh/bad_binary_2_claim.msh", "byte |2000000000 as the number of nodes"},
        {"msh/bad_binary_order.msh", "byte 24|byte order"},
        {"msh/bad_41_node.msh", ".msh:43: found node 6 in an element"},
        {"msh/bad_41_claim.msh", "2000000000000 as the number of nodes of a block"},
        {"msh/bad_41_cut.msh", ".msh:41: found node 900"},
        {"msh/bad_41_dimension.msh", "dimension 4, expected 0 to 3"},
        {"msh/bad_41_duplicate.msh", "node 3 a second time"},
        {"msh/bad_41_parametric.msh", "2 as parametric"},
        {"msh/bad_41_size.msh", "3 as the bytes of a number"},
        {"msh/bad_41_entities.msh", "2000000000 as the number of entities"},
        {"msh/bad_40.msh", "version 4,|-format msh41"},
        {"msh/bad_binary_41_cut.msh", "byte |cut short"},
        {"msh/bad_binary_41_type.msh", "byte |type 99|ascii"}};
    refuse_corpus(sizeof bad / sizeof *bad, bad);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_2_is_read_from_bytes), cmocka_unit_test(version_4_is_read_from_text),
        cmocka_unit_test(version_4_is_read_from_bytes), cmocka_unit_test(corners_of_second_order_are_taken),
        cmocka_unit_test(bad_files_get_clear_messages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
