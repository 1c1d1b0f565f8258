// Rigid shapes among the results: read back as they were, frame by frame; pictures that are exported show
// them; folders without them are read; no damage gets through, and it is refused by name.
#define _GNU_SOURCE
#include "io/io_rigid.h"
#include "test_io_failing.h"
#include "test_io_run.h"

#include <math.h>
#include <unistd.h>

enum { FRAMES = 3, SHAPES = SN_SHAPE_BOX + 1 };

static const char *const files[] = {SN_RIGID_SHAPES_NPY, SN_RIGID_VERTICES_NPY, SN_RIGID_TRIANGLES_NPY,
                                    SN_RIGID_POSES_NPY};
enum { FILE_COUNT = sizeof files / sizeof *files };

static void record_run(run_fixture *f) {
    sn_recorder *recorder = NULL;
    f->output.player = false;
    assert_done(f->ctx,
                sn_recorder_create(f->ctx, f->model, f->folder, true, &f->output, &f->run, &recorder));
    for (int frame = 0; frame < FRAMES; frame++) {
        const sn_step_info info = {.time = 0.1 * frame};
        assert_done(f->ctx, sn_state_set_time(f->state, info.time));
        assert_done(f->ctx, sn_recorder_frame(recorder, f->state, frame ? &info : NULL));
    }
    assert_done(f->ctx, sn_recorder_finish(recorder, f->state));
    sn_recorder_destroy(&recorder);
}

static void put_file(const run_fixture *f, const char *name, const void *bytes, size_t size) {
    char path[TEST_PATH_SIZE];
    test_folder_path(f->folder, name, path);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void remove_file(const run_fixture *f, const char *name) {
    char path[TEST_PATH_SIZE];
    test_folder_path(f->folder, name, path);
    assert_int_equal(unlink(path), 0);
}

/// Opens the shapes and reads their places in all frames.
static sn_status read_all(run_fixture *f) {
    sn_rigid_results rigid = {0};
    sn_status status = sn_rigid_results_open(f->ctx, f->folder, &rigid);
    for (int32_t frame = 0; status == SN_OK && frame < FRAMES; frame++)
        status = sn_rigid_results_pose(&rigid, frame);
    sn_rigid_results_release(&rigid);
    return status;
}

static void reads_what_was_recorded(void **state) {
    (void)state;
    run_fixture f;
    sn_rigid_results rigid = {0};
    set_up(&f);
    record_run(&f);
    assert_done(f.ctx, sn_rigid_results_open(f.ctx, f.folder, &rigid));
    assert_int_equal(rigid.shape_count, SHAPES);
    for (int32_t i = 0; i < SHAPES; i++) {
        const sn_rigid_shape *shape = &rigid.shape[i];
        assert_true(shape->is_plane == (i == SN_SHAPE_PLANE) && !shape->is_bone);
        if (shape->is_plane)
            assert_true(shape->vertex[2] == 0 && shape->vertex[5] == 1);
    }
    assert_int_equal(rigid.shape[SN_SHAPE_BOX].vertex_count, 8);
    assert_int_equal(rigid.shape[SN_SHAPE_BOX].triangle_count, 12);
    for (int32_t v = 0; v < 8; v++)
        for (int k = 0; k < 3; k++)
            assert_true(fabs(rigid.shape[SN_SHAPE_BOX].vertex[3 * v + k]) == 0.1);
    for (int32_t frame = 0; frame < FRAMES; frame++) {
        assert_done(f.ctx, sn_rigid_results_pose(&rigid, frame));
        for (int32_t i = 0; i < SHAPES; i++) {
            double pose[SN_RIGID_POSE];
            sn_model_shape_pose(f.model, i, 0.1 * frame, pose, pose + 9);
            assert_memory_equal(rigid.pose + (size_t)SN_RIGID_POSE * (size_t)i, pose, sizeof pose);
        }
    }
    sn_rigid_results_release(&rigid);
    sn_rigid_results_release(&rigid);
    tear_down(&f);
}

// ---- Pictures

static sn_status export_picture(run_fixture *f) {
    sn_results *results = NULL;
    sn_export_def def = sn_export_def_default();
    def.png_width = 32;
    def.png_height = 24;
    def.frame_last = 0;
    sn_status status = sn_results_open(f->ctx, f->folder, &results);
    if (status == SN_OK)
        status = sn_results_export(results, "png", &def, NULL);
    sn_results_close(&results);
    return status;
}

static char *read_picture(const run_fixture *f, size_t *size) {
    return test_folder_read(f->folder, "export/frame.000000.png", size);
}

static void remove_picture(const run_fixture *f) {
    char path[TEST_PATH_SIZE];
    remove_file(f, "export/frame.000000.png");
    test_folder_path(f->folder, "export", path);
    assert_int_equal(rmdir(path), 0);
}

static void pictures_show_them(void **state) {
    (void)state;
    run_fixture f;
    size_t size, other_size;
    set_up(&f);
    record_run(&f);
    assert_done(f.ctx, export_picture(&f));
    char *with = read_picture(&f, &size);
    // As earlier versions left their folders.
    for (int i = 0; i < FILE_COUNT; i++)
        remove_file(&f, files[i]);
    assert_done(f.ctx, export_picture(&f));
    char *without = read_picture(&f, &other_size);
    assert_true(size != other_size || memcmp(with, without, size) != 0);
    free(with);
    free(without);
    remove_picture(&f);
    tear_down(&f);
}

static void survives_each_failing_allocation(void **state) {
    (void)state;
    sn_context_def def = sn_context_def_default();
    def.allocator = failing_allocator;
    def.thread_count = 1;
    allocations_left = -1;
    run_fixture f = {.output = sn_output_def_default(), .run = {.frame_seconds = 0.1, .frame_total = 2}};
    assert_int_equal(sn_context_create(&def, &f.ctx), SN_OK);
    assert_done(f.ctx, build_model(&f));
    test_folder_make(f.folder);
    record_run(&f);
    size_t in_use = sn_context_memory_in_use(f.ctx);
    int failing = 0;
    for (sn_status status = SN_ERR_NO_MEMORY; status != SN_OK; failing++) {
        allocations_left = failing;
        status = export_picture(&f);
        allocations_left = -1;
        assert_true(status == SN_OK || status == SN_ERR_NO_MEMORY);
        assert_int_equal(sn_context_memory_in_use(f.ctx), in_use);
    }
    assert_true(failing > 60);
    remove_picture(&f);
    tear_down(&f);
}

// ---- Damage

static void refuse(run_fixture *f, const char *words) {
    size_t in_use = sn_context_memory_in_use(f->ctx);
    assert_int_equal(read_all(f), SN_ERR_READ);
    if (!strstr(sn_context_message(f->ctx), words))
        fail_msg("'%s' is not in: %s", words, sn_context_message(f->ctx));
    assert_int_equal(sn_context_memory_in_use(f->ctx), in_use);
}

/// Missing, cut at any byte; changed in the header.
static void refuses_damaged_files(void **state) {
    (void)state;
    run_fixture f;
    set_up(&f);
    record_run(&f);
    for (int i = 0; i < FILE_COUNT; i++) {
        size_t size;
        char *bytes = test_folder_read(f.folder, files[i], &size);
        remove_file(&f, files[i]);
        if (i > 0) // without the first one there are no shapes
            refuse(&f, files[i]);
        for (size_t cut = 0; cut < size; cut += cut < 160 ? 1 : 997) {
            put_file(&f, files[i], bytes, cut);
            refuse(&f, files[i]);
        }
        for (size_t at = 0; at < SN_NPY_HEADER_SIZE; at++) {
            // More frames may be announced than are there: as in a run that goes on.
            if (at > 0 && bytes[at - 1] == '(' && strcmp(files[i], SN_RIGID_POSES_NPY) == 0)
                continue;
            bytes[at] ^= 4;
            put_file(&f, files[i], bytes, size);
            refuse(&f, "rigid_");
            bytes[at] ^= 4;
        }
        put_file(&f, files[i], bytes, size);
        free(bytes);
    }
    assert_done(f.ctx, read_all(&f));
    tear_down(&f);
}

/// Replaces bytes behind the header of a file.
static void refuse_value(run_fixture *f, const char *name, size_t at, const void *value, size_t value_size,
                         const char *words) {
    size_t size;
    char *bytes = test_folder_read(f->folder, name, &size), *changed = malloc(size);
    assert_non_null(changed);
    memcpy(changed, bytes, size);
    memcpy(changed + SN_NPY_HEADER_SIZE + at, value, value_size);
    put_file(f, name, changed, size);
    refuse(f, words);
    put_file(f, name, bytes, size);
    free(changed);
    free(bytes);
}

static void refuses_wild_numbers(void **state) {
    (void)state;
    static const int32_t facts[][SN_RIGID_FACTS] = {{-1, 0, 2, 0}, {5, 0, 2, 0},  {0, 2, 2, 0},
                                                    {0, -1, 2, 0}, {0, 0, 3, 0},  {0, 0, 2, 1},
                                                    {1, 0, 2, 0},  {1, 0, -1, 5}, {4, 0, 5, -7}};
    static const int32_t many[SN_RIGID_FACTS] = {4, 0, INT32_MAX, INT32_MAX}, indices[] = {-1, INT32_MAX};
    static const double numbers[] = {NAN, INFINITY}, none[3] = {0}, twice[1] = {2};
    run_fixture f;
    set_up(&f);
    record_run(&f);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        refuse_value(&f, SN_RIGID_SHAPES_NPY, 0, facts[i], sizeof facts[i], "shape 0 is of kind");
    refuse_value(&f, SN_RIGID_SHAPES_NPY, 0, many, sizeof many, "rows, and rigid_shapes.npy asks for");
    for (size_t i = 0; i < 2; i++) {
        refuse_value(&f, SN_RIGID_TRIANGLES_NPY, 0, &indices[i], 4, "a triangle of shape 1 names vertex");
        refuse_value(&f, SN_RIGID_VERTICES_NPY, 96, &numbers[i], 8, "shape 1 has numbers");
        refuse_value(&f, SN_RIGID_POSES_NPY, 8 * 12, &numbers[i], 8, "shape 1 of frame 0 has no rotation");
        refuse_value(&f, SN_RIGID_POSES_NPY, 8 * 9, &numbers[i], 8, "shape 0 of frame 0 has no rotation");
    }
    refuse_value(&f, SN_RIGID_VERTICES_NPY, 24, none, sizeof none, "a normal of 0");
    refuse_value(&f, SN_RIGID_POSES_NPY, 0, twice, sizeof twice, "shape 0 of frame 0 has no rotation");
    assert_done(f.ctx, read_all(&f));
    tear_down(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_was_recorded), cmocka_unit_test(pictures_show_them),
        cmocka_unit_test(survives_each_failing_allocation), cmocka_unit_test(refuses_damaged_files),
        cmocka_unit_test(refuses_wild_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
