// Skeletons in Trivial Graph Format.
#include "unit/io/test_io_mesh_support.h"

#include <stdlib.h>
#include <sys/stat.h>

static sn_status read_skeleton(sn_context *ctx, const char *text, sn_skeleton **out) {
    const char *path = TEST_PATH("skeleton.tgf");
    write_bytes(path, text, strlen(text));
    sn_status status = sn_skeleton_read(ctx, path, out);
    remove(path);
    return status;
}

static void further_numbers_are_not_looked_at(void **state) {
    (void)state;
    sn_context *ctx = open_context();
    sn_skeleton *skeleton = NULL;
    assert_int_equal(read_skeleton(ctx,
                                   "   7 -0.5 4.9406565e-324 1e0 2.1219958e-314 4.4e+999 word\r\n"
                                   "\n 3\t1 2 3\r\n 9 0 0 1\n # \n 7   3 1 0 0\r\n3 9",
                                   &skeleton),
                     SN_OK);
    assert_int_equal(skeleton->joint_count, 3);
    assert_memory_equal(skeleton->label, ((int32_t[]){7, 3, 9}), 3 * sizeof(int32_t));
    assert_true(skeleton->position[0] == -0.5 && skeleton->position[1] == 4.9406565e-324);
    assert_int_equal(skeleton->bone_count, 2);
    assert_memory_equal(skeleton->bone, ((int32_t[]){0, 1, 1, 2}), 4 * sizeof(int32_t));
    sn_skeleton_destroy(&skeleton);
    close_context(ctx);
}

static void faults_are_named(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } bad[] = {{"#\n1 2\n", "skeleton.tgf:1:|a joint"},
               {"1 0 0 0\n\n1 0 0 1\n#\n", "skeleton.tgf:3:|joint 1 a second time"},
               {"1 0 0 0\n2 0 0 1\n#\n1 5\n", "skeleton.tgf:4:|joint 5|before #"},
               {"1 0 0 0\n#\n1 1\n", "skeleton.tgf:3:|to itself"},
               {"1 0 0 0\n#\n1\n", "skeleton.tgf:3:|two joints|end of the line"},
               {"1 0 0\n", "skeleton.tgf:1:|end of the line|coordinates of joint 1"},
               {"1 0 0 inf\n", "skeleton.tgf:1:|finite coordinates"},
               {"elbow 0 0 0\n", "skeleton.tgf:1:|\"elbow\"|number of a joint"},
               {"", "empty"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sn_context *ctx = open_context();
        sn_skeleton *skeleton = NULL;
        assert_int_equal(read_skeleton(ctx, bad[i].text, &skeleton), SN_ERR_READ);
        assert_null(skeleton);
        assert_message_has(ctx, bad[i].words);
        close_context(ctx);
    }
}

static void assert_same(const sn_skeleton *a, const sn_skeleton *b) {
    assert_int_equal(a->joint_count, b->joint_count);
    assert_int_equal(a->bone_count, b->bone_count);
    assert_memory_equal(a->position, b->position, (size_t)a->joint_count * 3 * sizeof *a->position);
    assert_memory_equal(a->label, b->label, (size_t)a->joint_count * sizeof *a->label);
    assert_memory_equal(a->bone, b->bone, (size_t)a->bone_count * 2 * sizeof *a->bone);
}

static void real_skeletons_round_trip(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int32_t joints, bones;
    } files[] = {{"arm.tgf", 5, 4}, {"hand.tgf", 21, 20}};
    const char *folder = getenv("SINEW_DATA"), *copy = TEST_PATH("skeleton_copy.tgf");
    char path[512];
    struct stat about;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder ? folder : SINEW_SOURCE_DIR "/../shared/data",
                 files[i].name);
        if (stat(path, &about) != 0)
            skip();
        sn_context *ctx = open_context();
        sn_skeleton *skeleton = NULL, *back = NULL;
        assert_int_equal(sn_skeleton_read(ctx, path, &skeleton), SN_OK);
        assert_int_equal(skeleton->joint_count, files[i].joints);
        assert_int_equal(skeleton->bone_count, files[i].bones);
        assert_int_equal(sn_skeleton_write(skeleton, copy), SN_OK);
        assert_int_equal(sn_skeleton_read(ctx, copy, &back), SN_OK);
        assert_same(skeleton, back);
        sn_skeleton_destroy(&skeleton);
        sn_skeleton_destroy(&back);
        remove(copy);
        close_context(ctx);
    }
}

static void bad_requests_are_refused(void **state) {
    (void)state;
    sn_context *ctx = open_context();
    sn_skeleton *skeleton = NULL;
    assert_int_equal(read_skeleton(ctx, "1 0 0 0\n2 0 0 1\n#\n1 2\n", &skeleton), SN_OK);
    assert_int_equal(sn_skeleton_write(skeleton, TEST_PATH("no folder/a.tgf")), SN_ERR_WRITE);
    assert_message_has(ctx, "no folder/a.tgf|cannot be written");
    skeleton->bone[1] = 2;
    assert_int_equal(sn_skeleton_write(skeleton, TEST_PATH("skeleton_bad.tgf")), SN_ERR_INVALID_ARGUMENT);
    sn_skeleton_destroy(&skeleton);
    assert_int_equal(sn_skeleton_read(ctx, NULL, &skeleton), SN_ERR_INVALID_ARGUMENT);
    close_context(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(further_numbers_are_not_looked_at), cmocka_unit_test(faults_are_named),
        cmocka_unit_test(real_skeletons_round_trip), cmocka_unit_test(bad_requests_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
