// Damaged files: each is read or refused with a message that names it; whatever is read has its indices in
// range.
#include "unit/io/test_io_mesh_support.h"

#include "base/base_util.h"

enum { MUTATIONS = 2000, MAX_SIZE = 4096 };

static const char obj_seed[] =
    "# seed\nmtllib a.mtl\nv 0 0 0\nv 1.5 0 0 1\nv 1 1e-3 0 .5 .5 .5\nv 0 1 0\nvt 0 0\nvt 1 1\n"
    "vn 0 0 1\ng left part\nf 1/1/1 2/2/1 3/1/1\nusemtl skin\nf 1//1 2//1 3//1 4//1\n"
    "f -1 -2 -3\nl 1 2 \\\n 3\np 1\ncurv 0 1\n";
static const char medit_seed[] =
    "MeshVersionFormatted 2\nDimension 3\nVertices\n5\n0 0 0 0\n1 0 0 0\n0 1 0 1\n0 0 1 0\n"
    "1 1 1 2\nEdges\n1\n1 2 3\nTriangles\n2\n1 2 3 4\n2 3 4 0\n# comment\nCorners\n2\n1 2\n"
    "Tetrahedra\n2\n1 2 3 4 7\n2 3 4 5 -7\nEnd\n";
static const char gmsh_seed[] = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n2 1 \"skin\"\n3 7 "
                                "\"flesh\"\n$EndPhysicalNames\n"
                                "$Nodes\n5\n1 0 0 0\n2 1 0 0\n30 0 1 0\n4 0 0 1\n5 1 1 "
                                "1\n$EndNodes\n$Elements\n5\n1 15 2 0 1 1\n2 1 2 3 1 1 2\n"
                                "3 2 2 1 1 1 2 30\n4 4 2 7 1 1 2 30 4\n5 4 4 8 1 1 0 2 30 4 "
                                "5\n$EndElements\n$Periodic\n0\n$EndPeriodic\n";
static const char skeleton_seed[] =
    "   1 -0.7 0.01 -0.13 0 3.9e-323 4e+291 1\n2 0 0 0\n 3 1 2 3 x y\n17 4 4 4\n#\n"
    "1 2\n   2    3\n3 17\n#\n";

/// Words that readers take for something.
static const char *const words[] = {"-1",     "0",   "2147483647", "99999999999999999999",
                                    "1e400",  "nan", "\n",         "#",
                                    "\\\n",   "v",   "f",          "g",
                                    "$Nodes", "\"",  "\r",         "//",
                                    "/",      "\0x", "Vertices",   "$EndElements",
                                    "\xff",   "-",   ".",          "e"};

/// Replaces `removed` bytes at `at` by `added` ones, as far as there is room.
static size_t splice(char *text, size_t size, size_t at, size_t removed, const char *added,
                     size_t added_size) {
    if (removed > size - at)
        removed = size - at;
    if (size - removed + added_size > MAX_SIZE)
        return size;
    memmove(text + at + added_size, text + at + removed, size - at - removed);
    memcpy(text + at, added, added_size);
    return size - removed + added_size;
}

static size_t mutate(sn_random *random, char *text, size_t size) {
    int32_t changes = 1 + sn_random_index(random, 3);
    char copy[64];
    for (int32_t i = 0; i < changes && size > 0; i++) {
        size_t at = (size_t)sn_random_index(random, (int32_t)size);
        size_t some = (size_t)sn_random_index(random, 40);
        const char *word = words[sn_random_index(random, sizeof words / sizeof *words)];
        switch (sn_random_index(random, 6)) {
        case 0:
            text[at] = (char)sn_random_index(random, 256);
            break;
        case 1:
            size = splice(text, size, at, some, "", 0);
            break;
        case 2:
            size = at;
            break;
        case 3:
            size = splice(text, size, at, 0, word, strlen(word) + (word[0] == '\0'));
            break;
        case 4:
            some = some < size - at ? some : size - at;
            memcpy(copy, text + at, some);
            size = splice(text, size, (size_t)sn_random_index(random, (int32_t)size), 0, copy, some);
            break;
        default:
            size = splice(text, size, at, strcspn(text + at, " \n"), word, strlen(word));
        }
    }
    return size;
}

static void check_mesh(sn_context *ctx, const char *path) {
    sn_mesh_data *data = NULL;
    sn_mesh_report report;
    sn_status status = sn_mesh_data_read(ctx, path, &data);
    if (status != SN_OK) {
        assert_int_equal(status, SN_ERR_READ);
        assert_message_has(ctx, path);
        assert_null(data);
        return;
    }
    assert_true(data->vertex_count > 0);
    assert_int_equal(sn_mesh_data_report(data, &report), SN_OK);
    // The writer refuses what is out of range, so that this checks all indices.
    assert_int_equal(sn_mesh_data_write(data, TEST_PATH("mutation_copy.msh")), SN_OK);
    remove(TEST_PATH("mutation_copy.msh"));
    sn_mesh_data_destroy(&data);
}

static void check_skeleton(sn_context *ctx, const char *path) {
    sn_skeleton *skeleton = NULL;
    sn_status status = sn_skeleton_read(ctx, path, &skeleton);
    if (status != SN_OK) {
        assert_int_equal(status, SN_ERR_READ);
        assert_message_has(ctx, path);
        assert_null(skeleton);
        return;
    }
    assert_int_equal(sn_skeleton_write(skeleton, TEST_PATH("mutation_copy.tgf")), SN_OK);
    remove(TEST_PATH("mutation_copy.tgf"));
    sn_skeleton_destroy(&skeleton);
}

static void run_mutations(uint64_t seed, const char *path, const char *text,
                          void check(sn_context *ctx, const char *path)) {
    sn_random random = sn_random_make(seed);
    char damaged[MAX_SIZE + 1];
    for (int i = 0; i < MUTATIONS; i++) {
        sn_context *ctx = open_context();
        size_t size = strlen(text);
        memcpy(damaged, text, size + 1);
        if (i > 0)
            size = mutate(&random, damaged, size);
        damaged[size] = '\0';
        write_bytes(path, damaged, size);
        check(ctx, path);
        assert_true(sn_context_memory_peak(ctx) < 1 << 20);
        close_context(ctx);
    }
    remove(path);
}

static void obj_survives(void **state) {
    (void)state;
    run_mutations(11, TEST_PATH("mutation.obj"), obj_seed, check_mesh);
}

static void medit_survives(void **state) {
    (void)state;
    run_mutations(12, TEST_PATH("mutation.mesh"), medit_seed, check_mesh);
}

static void gmsh_survives(void **state) {
    (void)state;
    run_mutations(13, TEST_PATH("mutation.msh"), gmsh_seed, check_mesh);
}

static void skeleton_survives(void **state) {
    (void)state;
    run_mutations(14, TEST_PATH("mutation.tgf"), skeleton_seed, check_skeleton);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(obj_survives), cmocka_unit_test(medit_survives),
                                       cmocka_unit_test(gmsh_survives), cmocka_unit_test(skeleton_survives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
