// NPY files are whole after every frame, also when the disk is full.
#define _GNU_SOURCE
#include "test_io_recorder_folder.h"

#include "io/io_npy.h"

#include <signal.h>
#include <sys/resource.h>

enum { ROWS = 5, COLUMNS = 3, HEADER = 128 };

static void fill(float values[ROWS * COLUMNS], int frame) {
    for (int i = 0; i < ROWS * COLUMNS; i++)
        values[i] = (float)(100 * frame + i) + 0.5F;
}

/// Reads the file as a stranger would: header, shape, data of the frames that the header announces.
static void check_frames(const char *folder, int frames) {
    size_t size = 0;
    char *bytes = test_folder_read(folder, "a.npy", &size), expected[HEADER];
    assert_memory_equal(bytes, "\x93NUMPY\x01\x00", 8);
    assert_int_equal((unsigned char)bytes[8] + 256 * (unsigned char)bytes[9] + 10, HEADER);
    snprintf(expected, sizeof expected, "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 5, 3), }",
             frames);
    assert_memory_equal(bytes + 10, expected, strlen(expected));
    assert_int_equal(bytes[HEADER - 1], '\n');
    assert_int_equal(size, HEADER + (size_t)frames * ROWS * COLUMNS * sizeof(float));
    for (int frame = 0; frame < frames; frame++) {
        float values[ROWS * COLUMNS];
        fill(values, frame);
        assert_memory_equal(bytes + HEADER + (size_t)frame * sizeof values, values, sizeof values);
    }
    free(bytes);
}

static void grows_by_whole_frames(void **state) {
    (void)state;
    char folder[TEST_PATH_SIZE];
    test_folder_make(folder);
    sn_context *ctx = test_context(1);
    sn_npy npy = {0};
    assert_done(ctx, sn_npy_open(ctx, folder, "a.npy", SN_NPY_FLOAT32, ROWS, COLUMNS, &npy));
    for (int frame = 0; frame < 12; frame++) {
        check_frames(folder, frame);
        float values[ROWS * COLUMNS];
        fill(values, frame);
        assert_done(ctx, sn_npy_append(&npy, values));
    }
    assert_done(ctx, sn_npy_finish(&npy));
    check_frames(folder, 12);
    test_context_end(&ctx);
    test_folder_remove(folder);
}

/// A file-size limit stands for a full disk.
static void keeps_whole_frames_on_a_full_disk(void **state) {
    (void)state;
    char folder[TEST_PATH_SIZE];
    test_folder_make(folder);
    sn_context *ctx = test_context(1);
    sn_npy npy = {0};
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = HEADER + 3 * ROWS * COLUMNS * sizeof(float) + 20;
    signal(SIGXFSZ, SIG_IGN);
    assert_done(ctx, sn_npy_open(ctx, folder, "a.npy", SN_NPY_FLOAT32, ROWS, COLUMNS, &npy));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    sn_status last = SN_OK;
    for (int frame = 0; frame < 4; frame++) {
        float values[ROWS * COLUMNS];
        fill(values, frame);
        last = sn_npy_append(&npy, values);
        assert_int_equal(last, frame < 3 ? SN_OK : SN_ERR_WRITE);
    }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_non_null(strstr(sn_context_message(ctx), "a.npy: "));
    check_frames(folder, 3);
    float values[ROWS * COLUMNS];
    fill(values, 3);
    assert_done(ctx, sn_npy_append(&npy, values));
    assert_done(ctx, sn_npy_finish(&npy));
    check_frames(folder, 4);
    test_context_end(&ctx);
    test_folder_remove(folder);
}

static void writes_fixed_arrays(void **state) {
    (void)state;
    char folder[TEST_PATH_SIZE];
    test_folder_make(folder);
    sn_context *ctx = test_context(1);
    const int32_t cells[] = {0, 1, 2, 2, 1, 3};
    assert_done(ctx, sn_npy_write(ctx, folder, "t.npy", SN_NPY_INT32, 2, 3, cells));
    size_t size = 0;
    char *bytes = test_folder_read(folder, "t.npy", &size);
    assert_non_null(memmem(bytes, HEADER, "'<i4'", 5));
    assert_non_null(memmem(bytes, HEADER, "(2, 3)", 6));
    assert_int_equal(size, HEADER + sizeof cells);
    assert_memory_equal(bytes + HEADER, cells, sizeof cells);
    free(bytes);
    assert_int_equal(test_folder_count(folder), 1);
    assert_int_equal(sn_npy_write(ctx, "no such folder", "t.npy", SN_NPY_INT32, 2, 3, cells), SN_ERR_WRITE);
    assert_non_null(strstr(sn_context_message(ctx), "no such folder/t.npy: No such file"));
    test_context_end(&ctx);
    test_folder_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_by_whole_frames),
        cmocka_unit_test(keeps_whole_frames_on_a_full_disk),
        cmocka_unit_test(writes_fixed_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
