// PC2 files: the bytes of the header, whole after every frame also when the disk is full, going on after a
// cut.
#define _GNU_SOURCE
#include "test_io_recorder_folder.h"

#include "io/io_pc2.h"

#include <signal.h>
#include <sys/resource.h>

enum { POINTS = 5, NUMBERS = 3 * POINTS, HEADER = 32, FRAME = NUMBERS * (int)sizeof(float) };

static void fill(float values[NUMBERS], int frame) {
    for (int i = 0; i < NUMBERS; i++)
        values[i] = (float)(100 * frame + i) + 0.5F;
}

static sn_status append(sn_pc2 *pc2, int frame) {
    float values[NUMBERS];
    fill(values, frame);
    return sn_pc2_append(pc2, values);
}

/// Reads the file as a stranger would.
static void check_frames(const char *folder, int frames) {
    size_t size = 0;
    unsigned char *bytes = (unsigned char *)test_folder_read(folder, "a.pc2", &size);
    const unsigned char header[HEADER] = {'P',
                                          'O',
                                          'I',
                                          'N',
                                          'T',
                                          'C',
                                          'A',
                                          'C',
                                          'H',
                                          'E',
                                          '2',
                                          0, // signature
                                          1,
                                          0,
                                          0,
                                          0, // version
                                          5,
                                          0,
                                          0,
                                          0, // points
                                          0,
                                          0,
                                          0,
                                          0, // first frame 0.0
                                          0,
                                          0,
                                          128,
                                          63, // frames per sample 1.0
                                          (unsigned char)frames};
    assert_memory_equal(bytes, header, HEADER);
    assert_int_equal(size, HEADER + frames * FRAME);
    assert_int_equal(size, sn_pc2_size(POINTS, frames));
    for (int frame = 0; frame < frames; frame++) {
        float values[NUMBERS];
        fill(values, frame);
        assert_memory_equal(bytes + HEADER + frame * FRAME, values, FRAME);
    }
    free(bytes);
}

static void grows_by_whole_frames(void **state) {
    (void)state;
    char folder[TEST_PATH_SIZE];
    test_folder_make(folder);
    sn_context *ctx = test_context(1);
    sn_pc2 pc2 = {0};
    assert_done(ctx, sn_pc2_open(ctx, folder, "a.pc2", POINTS, &pc2));
    for (int frame = 0; frame < 12; frame++) {
        check_frames(folder, frame);
        assert_done(ctx, append(&pc2, frame));
    }
    assert_done(ctx, sn_pc2_finish(&pc2));
    check_frames(folder, 12);
    test_context_end(&ctx);
    test_folder_remove(folder);
}

static void sizes_do_not_overflow(void **state) {
    (void)state;
    assert_true(sn_pc2_size(2000000, 100000) == 32 + INT64_C(12) * 2000000 * 100000);
}

/// A file-size limit stands for a full disk.
static void keeps_whole_frames_on_a_full_disk(void **state) {
    (void)state;
    char folder[TEST_PATH_SIZE];
    test_folder_make(folder);
    sn_context *ctx = test_context(1);
    sn_pc2 pc2 = {0};
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = HEADER + 3 * FRAME + 20;
    signal(SIGXFSZ, SIG_IGN);
    assert_done(ctx, sn_pc2_open(ctx, folder, "a.pc2", POINTS, &pc2));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (int frame = 0; frame < 4; frame++)
        assert_int_equal(append(&pc2, frame), frame < 3 ? SN_OK : SN_ERR_WRITE);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_non_null(strstr(sn_context_message(ctx), "a.pc2: File too large"));
    check_frames(folder, 3);
    assert_done(ctx, append(&pc2, 3));
    sn_pc2_abandon(&pc2);
    check_frames(folder, 4);
    test_context_end(&ctx);
    test_folder_remove(folder);
}

/// Writes five frames and half a sixth, as a run that was killed leaves them.
static void leave_a_killed_run(sn_context *ctx, const char *folder) {
    sn_pc2 pc2 = {0};
    assert_done(ctx, sn_pc2_open(ctx, folder, "a.pc2", POINTS, &pc2));
    for (int frame = 0; frame < 5; frame++)
        assert_done(ctx, append(&pc2, frame + (frame >= 3 ? 70 : 0))); // will be written anew
    assert_done(ctx, sn_pc2_finish(&pc2));
    char path[TEST_PATH_SIZE];
    test_folder_path(folder, "a.pc2", path);
    FILE *file = fopen(path, "ab");
    assert_non_null(file);
    assert_int_equal(fwrite("half of it", 1, 10, file), 10);
    assert_int_equal(fclose(file), 0);
}

static void goes_on_after_a_cut(void **state) {
    (void)state;
    char folder[TEST_PATH_SIZE];
    test_folder_make(folder);
    sn_context *ctx = test_context(1);
    sn_pc2 pc2 = {0};
    leave_a_killed_run(ctx, folder);
    assert_done(ctx, sn_pc2_can_reopen(ctx, folder, "a.pc2", POINTS, 3));
    assert_done(ctx, sn_pc2_reopen(ctx, folder, "a.pc2", POINTS, 3, &pc2));
    check_frames(folder, 3);
    for (int frame = 3; frame < 9; frame++)
        assert_done(ctx, append(&pc2, frame));
    assert_done(ctx, sn_pc2_finish(&pc2));
    check_frames(folder, 9);
    test_context_end(&ctx);
    test_folder_remove(folder);
}

static void spares_what_is_not_its_file(void **state) {
    (void)state;
    char folder[TEST_PATH_SIZE];
    test_folder_make(folder);
    sn_context *ctx = test_context(1);
    sn_pc2 pc2 = {0};
    leave_a_killed_run(ctx, folder);
    size_t size = 0, size_after = 0;
    char *bytes = test_folder_read(folder, "a.pc2", &size);
    static const struct {
        const char *name;
        int32_t points, frames;
        const char *message;
    } cases[] = {{"b.pc2", POINTS, 0, "b.pc2 is missing"},
                 {"a.pc2", POINTS + 1, 2, "is no PC2 file of 6 points"},
                 {"a.pc2", POINTS, 6, "has 342 bytes, and the run should go on behind 392"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(sn_pc2_reopen(ctx, folder, cases[i].name, cases[i].points, cases[i].frames, &pc2),
                         SN_ERR_READ);
        assert_int_equal(sn_pc2_can_reopen(ctx, folder, cases[i].name, cases[i].points, cases[i].frames),
                         SN_ERR_READ);
        if (!strstr(sn_context_message(ctx), cases[i].message))
            fail_msg("'%s' is not in: %s", cases[i].message, sn_context_message(ctx));
        assert_null(pc2.output.ctx);
    }
    char *after = test_folder_read(folder, "a.pc2", &size_after);
    assert_int_equal(size_after, size);
    assert_memory_equal(after, bytes, size);
    assert_false(test_folder_has(folder, "b.pc2"));
    free(bytes);
    free(after);
    test_context_end(&ctx);
    test_folder_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_by_whole_frames),
        cmocka_unit_test(sizes_do_not_overflow),
        cmocka_unit_test(keeps_whole_frames_on_a_full_disk),
        cmocka_unit_test(goes_on_after_a_cut),
        cmocka_unit_test(spares_what_is_not_its_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
