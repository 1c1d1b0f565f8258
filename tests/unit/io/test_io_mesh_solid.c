// TetGen, Vega and Abaqus: what is read of good and of bad files, and of files that name others; what comes
// back of what was written.
#define _XOPEN_SOURCE 700
#include "unit/io/test_io_mesh_support.h"

#include "io/io_mesh_build.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { LARGEST = 8000 };

/// A file of the fuzz corpora: files that it names stand behind zero bytes.
typedef struct corpus_file {
    char bytes[LARGEST], path[256];
    size_t first;
    sn_text_file beside[2];
    int32_t beside_count;
} corpus_file;

static corpus_file *load_corpus(const char *name) {
    corpus_file *file = calloc(1, sizeof *file);
    char path[512];
    assert_non_null(file);
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s", SINEW_SOURCE_DIR, name);
    FILE *stream = fopen(path, "rb");
    if (!stream)
        fail_msg("%s is missing", path);
    size_t size = fread(file->bytes, 1, LARGEST, stream);
    assert_true(fgetc(stream) == EOF);
    fclose(stream);
    bool tetgen = strncmp(name, "tetgen/", 7) == 0;
    snprintf(file->path, sizeof file->path, "%s%s", name, tetgen ? ".node" : "");
    const char *begin = memchr(file->bytes, 0, size), *end = file->bytes + size;
    file->first = begin ? (size_t)(begin - file->bytes) : size;
    for (int32_t i = 0; begin && i < 2; i++) {
        const char *next = memchr(begin + 1, 0, (size_t)(end - begin - 1));
        file->beside[i] = (sn_text_file){!tetgen  ? ""
                                         : i == 0 ? ".ele"
                                                  : ".face",
                                         begin + 1, (size_t)((next ? next : end) - begin - 1)};
        file->beside_count++;
        begin = next;
    }
    return file;
}

static sn_status read_file(sn_context *ctx, const char *name, sn_mesh_data **out_data) {
    corpus_file *file = load_corpus(name);
    sn_text text = {0};
    assert_int_equal(sn_text_open_memory(ctx, file->path, file->bytes, file->first, &text), SN_OK);
    text.beside = file->beside;
    text.beside_count = file->beside_count;
    sn_status status = sn_mesh_data_read_text(&text, out_data);
    sn_text_close(&text);
    free(file);
    return status;
}

static sn_mesh_data *read_good(sn_context *ctx, const char *name) {
    sn_mesh_data *data = NULL;
    if (read_file(ctx, name, &data) != SN_OK)
        fail_msg("%s", sn_context_message(ctx));
    return data;
}

static void tetgen_is_read_from_all_parts(void **state) {
    (void)state;
    sn_context *ctx = open_context();
    sn_mesh_data *data = read_good(ctx, "tetgen/one_based");
    assert_int_equal(data->vertex_count, 5);
    assert_int_equal(data->block_count, 2);
    assert_ints(data->block[0].vertex, 6, (int32_t[]){0, 2, 1, 0, 1, 3});
    assert_string_equal(group_of(data, 0, 0), "tag-3");
    assert_ints(data->block[1].vertex, 8, (int32_t[]){0, 1, 2, 3, 1, 2, 3, 4});
    assert_string_equal(group_of(data, 1, 0), "tag7");
    assert_string_equal(group_of(data, 1, 1), "");
    sn_mesh_data_destroy(&data);
    data = read_good(ctx, "tetgen/zero_based");
    assert_ints(data->block[0].vertex, 4, (int32_t[]){0, 1, 2, 3});
    sn_mesh_data_destroy(&data);
    data = read_good(ctx, "tetgen/nodes_only");
    assert_int_equal(data->block_count, 0);
    assert_non_null(strstr(data->note, "nodes_only.ele: there are no tets"));
    sn_mesh_data_destroy(&data);
    data = read_good(ctx, "tetgen/second_order");
    assert_int_equal(data->vertex_count, 10);
    assert_ints(data->block[1].vertex, 4, (int32_t[]){0, 1, 2, 3});
    assert_string_equal(group_of(data, 0, 0), "tag9");
    assert_non_null(strstr(data->note, "corners of 2 cells of second order"));
    sn_mesh_data_destroy(&data);
    close_context(ctx);
}

static void tetgen_round_trip_is_exact(void **state) {
    (void)state;
    static const char *const names[] = {TEST_PATH("solid_a.node"), TEST_PATH("solid_a.ele"),
                                        TEST_PATH("solid_a.face")};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        sn_context *ctx = open_context();
        sn_mesh_data *data = read_good(ctx, "tetgen/one_based"), *back = NULL;
        data->position[0] = 0.1;
        data->position[1] = 1e-310;
        assert_int_equal(sn_mesh_data_write(data, names[i]), SN_OK);
        // Whichever part is named, all are read.
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            assert_int_equal(sn_mesh_data_read(ctx, names[k], &back), SN_OK);
            assert_memory_equal(back->position, data->position, 15 * sizeof(double));
            assert_int_equal(back->block_count, 2);
            assert_ints(back->block[0].vertex, 6, data->block[0].vertex);
            assert_ints(back->block[1].vertex, 8, data->block[1].vertex);
            assert_string_equal(group_of(back, 0, 0), "tag-3");
            assert_string_equal(group_of(back, 1, 0), "tag7");
            assert_string_equal(back->note, "");
            sn_mesh_data_destroy(&back);
        }
        remove(names[0]);
        assert_int_equal(sn_mesh_data_read(ctx, names[1], &back), SN_ERR_READ);
        assert_message_has(ctx, "solid_a.node: cannot be read: No such file");
        remove(names[1]);
        remove(names[2]);
        sn_mesh_data_destroy(&data);
        close_context(ctx);
    }
}

static void vega_is_read_with_its_regions(void **state) {
    (void)state;
    static const char *const names[] = {"veg/whole.veg", "veg/windows.veg", "veg/included_list.veg"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        sn_context *ctx = open_context();
        sn_mesh_data *data = read_good(ctx, names[i]);
        assert_int_equal(data->vertex_count, 5);
        assert_ints(data->block[0].vertex, 8, (int32_t[]){0, 1, 2, 3, 1, 2, 3, 4});
        assert_int_equal(data->group_count, 1);
        assert_string_equal(group_of(data, 0, 0), "");
        assert_string_equal(group_of(data, 0, 1), "upper part");
        assert_non_null(strstr(data->note, "passed over the material"));
        sn_mesh_data_destroy(&data);
        close_context(ctx);
    }
    sn_context *ctx = open_context();
    sn_mesh_data *data = read_good(ctx, "veg/included_file.veg");
    assert_ints(data->block[0].vertex, 4, (int32_t[]){0, 1, 2, 3});
    sn_mesh_data_destroy(&data);
    close_context(ctx);
}

static void assert_set(const sn_mesh_data *data, int32_t set, const char *name, int32_t count,
                       const int32_t *vertex) {
    assert_true(set < data->set_count);
    assert_string_equal(data->set[set].name, name);
    assert_int_equal(data->set[set].count, count);
    assert_ints(data->set[set].vertex, count, vertex);
}

/// Sets of nodes come from *NODE lines, numbers, ranges and other sets, and go through a deck and back.
static void abaqus_sets_of_nodes_stay_sets(void **state) {
    (void)state;
    sn_context *ctx = open_context();
    sn_mesh_data *data = read_good(ctx, "inp/node_sets.inp"), *back = NULL;
    assert_int_equal(data->set_count, 4);
    assert_set(data, 0, "everything", 3, (int32_t[]){0, 1, 2});
    assert_set(data, 1, "low", 3, (int32_t[]){0, 1, 2});
    assert_set(data, 2, "odd", 4, (int32_t[]){0, 2, 3, 4});
    assert_set(data, 3, "both", 4, (int32_t[]){0, 1, 2, 4});
    const char *path = TEST_PATH("solid_d.inp");
    assert_int_equal(sn_mesh_data_add_set(data, "FIXED", 2, (int32_t[]){4, 3}), SN_OK);
    assert_int_equal(sn_mesh_data_add_set(data, "Low", 1, (int32_t[]){4}), SN_OK);
    assert_int_equal(sn_mesh_data_add_set(data, "bad", 1, (int32_t[]){5}), SN_ERR_INVALID_ARGUMENT);
    static const char *const alike[] = {"x_9", "x", "X"};
    for (int32_t i = 0; i < 3; i++)
        assert_int_equal(sn_mesh_data_add_set(data, alike[i], 1, &i), SN_OK);
    assert_int_equal(sn_mesh_data_write(data, path), SN_OK);
    assert_int_equal(sn_mesh_data_read(ctx, path, &back), SN_OK);
    assert_int_equal(back->set_count, 10);
    assert_set(back, 7, "X_9", 1, (int32_t[]){0});
    assert_set(back, 8, "X", 1, (int32_t[]){1});
    assert_set(back, 9, "X_10", 1, (int32_t[]){2});
    assert_set(back, 0, "NALL", 5, (int32_t[]){0, 1, 2, 3, 4});
    assert_set(back, 2, "LOW", 3, (int32_t[]){0, 1, 2});
    assert_set(back, 5, "FIXED", 2, (int32_t[]){4, 3});
    assert_set(back, 6, "LOW_6", 1, (int32_t[]){4});
    sn_mesh_data_destroy(&back);
    sn_mesh_data_destroy(&data);
    remove(path);
    close_context(ctx);
}

static void abaqus_is_read_with_its_sets(void **state) {
    (void)state;
    static const char *const names[] = {"inp/whole.inp", "inp/windows.inp"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        sn_context *ctx = open_context();
        sn_mesh_data *data = read_good(ctx, names[i]);
        assert_int_equal(data->vertex_count, 6);
        assert_true(data->position[8] == 0 && data->position[15] == 0.5 && data->position[14] == 1);
        assert_int_equal(data->block_count, 3);
        assert_ints(data->block[0].vertex, 2, (int32_t[]){5, 0});
        assert_string_equal(group_of(data, 0, 0), "Line1");
        assert_ints(data->block[1].vertex, 7, (int32_t[]){0, 2, 1, 0, 1, 2, 3});
        // The last set that lists an element, but the one of a section before all.
        assert_string_equal(group_of(data, 1, 0), "everything");
        assert_ints(data->block[2].vertex, 8, (int32_t[]){0, 1, 2, 3, 1, 2, 3, 4});
        assert_string_equal(group_of(data, 2, 0), "everything");
        assert_string_equal(group_of(data, 2, 1), "flesh");
        assert_int_equal(data->skipped, 2);
        assert_non_null(strstr(data->note, "\"C3D8R\""));
        assert_set(data, 0, "all nodes", 6, (int32_t[]){0, 1, 2, 3, 4, 5});
        assert_set(data, 1, "held", 3, (int32_t[]){0, 1, 2});
        sn_mesh_data_destroy(&data);
        close_context(ctx);
    }
}

static void abaqus_reads_other_files_and_parts(void **state) {
    (void)state;
    sn_context *ctx = open_context();
    sn_mesh_data *data = read_good(ctx, "inp/include.inp");
    assert_ints(data->block[0].vertex, 4, (int32_t[]){0, 1, 2, 3});
    assert_string_equal(group_of(data, 0, 0), "a");
    sn_mesh_data_destroy(&data);
    data = read_good(ctx, "inp/input.inp");
    assert_ints(data->block[0].vertex, 4, (int32_t[]){0, 1, 2, 3});
    sn_mesh_data_destroy(&data);
    data = read_good(ctx, "inp/part.inp");
    assert_int_equal(data->vertex_count, 4);
    assert_string_equal(group_of(data, 0, 0), "Set-2");
    assert_non_null(strstr(data->note, "moves an instance"));
    assert_non_null(strstr(data->note, "*Node of the assembly in line 17"));
    sn_mesh_data_destroy(&data);
    data = read_good(ctx, "inp/second_order.inp");
    assert_int_equal(data->vertex_count, 10);
    assert_ints(data->block[0].vertex, 3, (int32_t[]){0, 1, 2});
    assert_ints(data->block[1].vertex, 4, (int32_t[]){0, 1, 2, 3});
    assert_non_null(strstr(data->note, "corners of 2 cells of second order"));
    sn_mesh_data_destroy(&data);
    close_context(ctx);
}

static void files_on_disk_include_others(void **state) {
    (void)state;
    sn_context *ctx = open_context();
    sn_mesh_data *data = NULL;
    static const char nodes[] = "*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n";
    write_bytes(TEST_PATH("solid \xc3\xbc.txt"), nodes, sizeof nodes - 1);
    data = read_text(ctx, TEST_PATH("solid_b.inp"),
                     "*INCLUDE, INPUT=solid \xc3\xbc.txt\n*ELEMENT, TYPE=C3D4\n1, 1, 2, 3, 4\n");
    assert_int_equal(data->vertex_count, 4);
    sn_mesh_data_destroy(&data);
    remove(TEST_PATH("solid \xc3\xbc.txt"));
    write_bytes(TEST_PATH("solid_b.inp"), "*INCLUDE, INPUT=solid_b.inp\n", 28);
    assert_int_equal(sn_mesh_data_read(ctx, TEST_PATH("solid_b.inp"), &data), SN_ERR_READ);
    assert_message_has(ctx, "solid_b.inp:2: |include itself");
    // A pipe without an other end must not be waited for.
    remove(TEST_PATH("solid_b.pipe"));
    assert_int_equal(mkfifo(TEST_PATH("solid_b.pipe"), 0600), 0);
    write_bytes(TEST_PATH("solid_b.inp"), "*INCLUDE, INPUT=solid_b.pipe\n", 29);
    assert_int_equal(sn_mesh_data_read(ctx, TEST_PATH("solid_b.inp"), &data), SN_ERR_READ);
    assert_message_has(ctx, "solid_b.pipe: cannot be read: it is no regular file");
    remove(TEST_PATH("solid_b.pipe"));
    remove(TEST_PATH("solid_b.inp"));
    close_context(ctx);
}

static void a_deck_holds_mesh_sets_and_a_step(void **state) {
    (void)state;
    sn_context *ctx = open_context();
    char deck[LARGEST] = "";
    const char *path = TEST_PATH("solid_c.inp");
    sn_mesh_data *data =
                     read_text(ctx, TEST_PATH("solid_c.msh"),
                               "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n3 1 \"flesh\"\n3 2 "
                               "\"Flesh\"\n3 3 \"b\xc3\xb6ne, 2\"\n$EndPhysicalNames\n$Nodes\n5\n1 0 0 "
                               "-1.23456789012345e-17\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n$EndNodes\n"
                               "$Elements\n5\n1 4 2 1 1 1 2 3 4\n2 4 2 2 2 2 3 4 5\n3 4 2 3 3 2 3 4 5\n"
                               "4 4 2 0 0 2 3 4 5\n5 2 2 0 0 1 2 3\n$EndElements\n"),
                 *back = NULL;
    assert_int_equal(sn_mesh_data_write(data, path), SN_OK);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_true(fread(deck, 1, sizeof deck - 1, file) > 0);
    fclose(file);
    static const char *const parts[] = {"*NODE, NSET=NALL\n1, 0, 0, -1.234567890123e-17\n",
                                        "*ELEMENT, TYPE=C3D4, ELSET=FLESH\n1, 1, 2, 3, 4\n",
                                        "ELSET=FLESH_2\n2, ",
                                        "ELSET=B__NE__2_3\n3, ",
                                        "ELSET=BODY\n4, ",
                                        "*NSET, NSET=FIXED\n1\n2\n3\n*ELSET, ELSET=EALL\n",
                                        "*ELASTIC\n100000, 0.45\n*DENSITY\n1000\n",
                                        "*SOLID SECTION, ELSET=FLESH_2, MATERIAL=ELASTIC\n",
                                        "*BOUNDARY\nFIXED, 1, 3\n",
                                        "*STEP\n*STATIC\n*DLOAD\nEALL, GRAV, 9.81, 0, 0, -1\n",
                                        "*END STEP\n"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(deck, parts[i]))
            fail_msg("\"%s\" is not in:\n%s", parts[i], deck);
    assert_int_equal(sn_mesh_data_read(ctx, path, &back), SN_OK);
    assert_int_equal(back->vertex_count, 5);
    assert_ints(back->block[0].vertex, 16, data->block[1].vertex);
    assert_string_equal(group_of(back, 0, 1), "FLESH_2");
    sn_mesh_data_destroy(&back);
    sn_mesh_data_destroy(&data);
    data = read_text(ctx, TEST_PATH("solid_c.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\n");
    assert_int_equal(sn_mesh_data_write(data, path), SN_ERR_INVALID_ARGUMENT);
    assert_message_has(ctx, "solid_c.inp|found 0 tets or triangles");
    sn_mesh_data_destroy(&data);
    remove(path);
    close_context(ctx);
}

static void bad_files_get_clear_messages(void **state) {
    (void)state;
    static const bad_file bad[] = {{"tetgen/bad_node", "bad_node.ele:3: found node 6 in tet or face 2"},
                                   {"tetgen/bad_claim", "bad_claim.node:2: found 2000000000 as the number"},
                                   {"tetgen/bad_claim_tets", "bad_claim_tets.ele:1: found 2000000000"},
                                   {"tetgen/bad_cut", "end of the file|node, 4 of 5"},
                                   {"tetgen/bad_dimension", "nodes of 2 dimensions, expected 3"},
                                   {"tetgen/bad_twice", "node 2 a second time"},
                                   {"tetgen/bad_tets", "tets of 8 nodes, expected 4 or 10"},
                                   {"tetgen/bad_attribute", "attribute of a tet"},
                                   {"tetgen/bad_columns", "found \"100000\"|attributes and markers"},
                                   {"tetgen/bad_face", ".face:2: found \"x\""},
                                   {"veg/bad_recursion.veg", "include itself"},
                                   {"veg/bad_fan.veg", "include itself"},
                                   {"veg/bad_include.veg", "none.node: cannot be read"},
                                   {"veg/bad_cubic.veg", ":11: found \"CUBIC\"|cubes are not read"},
                                   {"veg/bad_set.veg", "element 7 in the set upper part"},
                                   {"veg/bad_region.veg", "the set lower part"},
                                   {"veg/bad_member.veg", ":22: found \"x\"|commas"},
                                   {"veg/bad_twice.veg", "second section *VERTICES"},
                                   {"veg/bad_order.veg", "behind *VERTICES"},
                                   {"veg/bad_command.veg", "found \"*REGIONS\""},
                                   {"veg/bad_text.veg", "found \"*SETS\""},
                                   {"veg/bad_claim.veg", "2000000000 as the number"},
                                   {"inp/bad_parts.inp", "nodes of a second part"},
                                   {"inp/bad_recursion.inp", "include itself"},
                                   {"inp/bad_fan.inp", "include itself"},
                                   {"inp/bad_include.inp", "without INPUT"},
                                   {"inp/bad_include_none.inp", "none.inp: cannot be read"},
                                   {"inp/bad_node.inp", ":14: found node 7 in element 2"},
                                   {"inp/bad_twice.inp", "node 10 twice"},
                                   {"inp/bad_element_twice.inp", "element 1 twice"},
                                   {"inp/bad_no_type.inp", ":12: found *ELEMENT without TYPE"},
                                   {"inp/bad_number.inp", ":6: found \"x,\"|three coordinates of node 20"},
                                   {"inp/bad_tag.inp", ":6: found \"x,\"|the number of a node"},
                                   {"inp/bad_short.inp", "found \"*Element,\"|the numbers of an element"},
                                   {"inp/bad_generate.inp", "10 to 2 by 1"},
                                   {"inp/bad_step.inp", "2 to 10 by 0"},
                                   {"inp/bad_system.inp", "system C"},
                                   {"inp/bad_gen.inp", "*NGEN|in full"},
                                   {"inp/bad_no_name.inp", "*ELSET without a name"},
                                   {"inp/bad_order.inp", "found node 1 in element 1"},
                                   {"inp/bad_sets.inp", "everything inside more than 8 others"},
                                   {"inp/bad_node_sets.inp", "set of nodes b inside more than 8 others"},
                                   {"inp/bad_parameters.inp", "more than 16 parameters"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sn_context *ctx = open_context();
        sn_mesh_data *data = NULL;
        if (read_file(ctx, bad[i].name, &data) != SN_ERR_READ)
            fail_msg("accepted: %s", bad[i].name);
        assert_null(data);
        assert_message_has(ctx, bad[i].words);
        close_context(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tetgen_is_read_from_all_parts),
                                       cmocka_unit_test(tetgen_round_trip_is_exact),
                                       cmocka_unit_test(vega_is_read_with_its_regions),
                                       cmocka_unit_test(abaqus_is_read_with_its_sets),
                                       cmocka_unit_test(abaqus_sets_of_nodes_stay_sets),
                                       cmocka_unit_test(abaqus_reads_other_files_and_parts),
                                       cmocka_unit_test(files_on_disk_include_others),
                                       cmocka_unit_test(a_deck_holds_mesh_sets_and_a_step),
                                       cmocka_unit_test(bad_files_get_clear_messages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
