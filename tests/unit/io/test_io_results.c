// Results of a run read back: names, looks, times and positions are those of the model; a run that was
// stopped has its whole frames; what is damaged is refused by name.
#define _GNU_SOURCE
#include "test_io_export_run.h"

// ---- Good folders

static void check_look(const sn_surface_look *found, const sn_surface_look *wanted, size_t triangles) {
    assert_int_equal(found->uv_count, wanted->uv_count);
    assert_int_equal(found->group_count, wanted->group_count);
    assert_int_equal(!found->triangle_uv, !wanted->triangle_uv);
    assert_int_equal(!found->triangle_group, !wanted->triangle_group);
    if (wanted->triangle_uv) {
        assert_memory_equal(found->uv, wanted->uv, 2 * (size_t)wanted->uv_count * sizeof(double));
        assert_memory_equal(found->triangle_uv, wanted->triangle_uv, 3 * triangles * sizeof(int32_t));
    }
    if (wanted->triangle_group)
        assert_memory_equal(found->triangle_group, wanted->triangle_group, triangles * sizeof(int32_t));
    for (int32_t g = 0; g < wanted->group_count; g++)
        assert_string_equal(found->group[g], wanted->group[g]);
}

/// `index` in the results, `model_index` in the model.
static void check_body(export_fixture *f, const sn_results *results, int32_t index, int32_t model_index) {
    const sn_results_body body = sn_results_get_body(results, index);
    const sn_body_info info = sn_model_body(f->model, model_index);
    size_t numbers = 3 * (size_t)info.surface_vertex_count;
    assert_string_equal(body.name, info.name);
    assert_string_equal(body.file_name, index == 0 ? beam_file : cube_file);
    assert_int_equal(body.vertex_count, info.surface_vertex_count);
    assert_int_equal(body.triangle_count, info.surface_triangle_count);
    assert_memory_equal(body.triangles, info.surface_triangles,
                        3 * sizeof(int32_t) * (size_t)body.triangle_count);
    check_look(&body.look, sn_model_surface_look(f->model, model_index), (size_t)body.triangle_count);
    double *surface = malloc(numbers * sizeof *surface);
    float *found = malloc(numbers * sizeof *found);
    assert_true(surface && found);
    for (int frame = 0; frame < FRAMES; frame++) {
        move_to(f, 0.25 * frame);
        sn_state_surface_positions(f->state, model_index, surface);
        assert_done(f->ctx, sn_results_positions(results, index, frame, found));
        for (size_t i = 0; i < numbers; i++)
            assert_true(found[i] == (float)surface[i]);
    }
    free(surface);
    free(found);
}

static void reads_what_was_recorded(void **state) {
    (void)state;
    export_fixture f;
    set_up(&f);
    sn_results *results = NULL;
    assert_done(f.ctx, sn_results_open(f.ctx, f.folder, &results));
    const sn_results_info info = sn_results_get_info(results);
    assert_true(info.body_count == 2 && info.frame_count == FRAMES && info.frames_planned == FRAMES - 1);
    assert_true(info.finished);
    for (int frame = 0; frame < FRAMES; frame++)
        assert_true(info.time[frame] == 0.25 * frame);
    check_body(&f, results, 0, 1);
    check_body(&f, results, 1, 0);
    assert_null(sn_results_get_body(results, 2).name);
    assert_null(sn_results_get_body(results, -1).name);
    float one[3 * CUBE_VERTICES];
    assert_int_equal(sn_results_positions(results, 1, FRAMES, one), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_results_positions(results, 2, 0, one), SN_ERR_INVALID_ARGUMENT);
    expect_message(&f, "there are 2 bodies and 4 frames");
    sn_results_close(&results);
    sn_results_close(&results);
    tear_down(&f);
}

/// The model's look is that of the file, fans and all.
static void models_keep_looks(void **state) {
    (void)state;
    export_fixture f;
    set_up_with(&f, NULL);
    static const int32_t uv[6] = {0, 1, 2, 0, 2, 3},
                         group[CUBE_TRIANGLES] = {0, 0, 0, 0, 1, 1, 1, 1, -1, -1, -1, -1};
    const sn_surface_look *look = sn_model_surface_look(f.model, 0);
    assert_int_equal(look->uv_count, CUBE_UVS);
    assert_memory_equal(look->triangle_uv, uv, sizeof uv);
    assert_int_equal(look->triangle_uv[3 * 6], -1);
    assert_memory_equal(look->triangle_group, group, sizeof group);
    assert_string_equal(look->group[0], "rough skin");
    assert_true(look->uv[8] == 0.5 && look->uv[9] == 0.25);
    assert_null(sn_model_surface_look(f.model, 1)->triangle_uv);
    assert_null(sn_model_surface_look(f.model, 2));
    tear_down(&f);
}

static void runs_may_start_at_any_time(void **state) {
    (void)state;
    export_fixture f;
    sn_results *results = NULL;
    set_up_with(&f, NULL);
    f.start = -0.5;
    record_frames(&f, true);
    assert_done(f.ctx, sn_results_open(f.ctx, f.folder, &results));
    for (int frame = 0; frame < FRAMES; frame++)
        assert_true(sn_results_get_info(results).time[frame] == -0.5 + 0.25 * frame);
    sn_results_close(&results);
    tear_down(&f);
}

static void cut_file(const export_fixture *f, const char *name, long bytes) {
    char path[TEST_PATH_SIZE];
    size_t size = 0;
    free(test_folder_read(f->folder, name, &size));
    test_folder_path(f->folder, name, path);
    assert_int_equal(truncate(path, (off_t)size - bytes), 0);
}

static void stopped_runs_have_their_whole_frames(void **state) {
    (void)state;
    export_fixture f;
    sn_results *results = NULL;
    set_up_with(&f, NULL);
    record_frames(&f, false);
    assert_done(f.ctx, sn_results_open(f.ctx, f.folder, &results));
    assert_true(sn_results_get_info(results).frame_count == FRAMES && !sn_results_get_info(results).finished);
    assert_int_equal(sn_results_get_info(results).frames_planned, -1);
    sn_results_close(&results);
    // The header announces a frame that is cut.
    cut_file(&f, "w__rfel.surface.npy", 1);
    assert_done(f.ctx, sn_results_open(f.ctx, f.folder, &results));
    assert_int_equal(sn_results_get_info(results).frame_count, FRAMES - 1);
    sn_results_close(&results);
    // Two records, the second one without its end.
    cut_file(&f, "stats.jsonl", 1);
    cut_file(&f, "w__rfel.surface.npy", 12 * CUBE_VERTICES);
    assert_done(f.ctx, sn_results_open(f.ctx, f.folder, &results));
    assert_int_equal(sn_results_get_info(results).frame_count, FRAMES - 2);
    sn_results_close(&results);
    put_text(f.folder, "stats.jsonl", "", 0);
    assert_done(f.ctx, sn_results_open(f.ctx, f.folder, &results));
    assert_int_equal(sn_results_get_info(results).frame_count, 1);
    sn_results_close(&results);
    tear_down(&f);
}

/// Runs of earlier versions, and files that somebody renamed.
static void surfaces_go_without_a_look(void **state) {
    (void)state;
    export_fixture f;
    sn_results *results = NULL;
    char from[TEST_PATH_SIZE], to[TEST_PATH_SIZE];
    set_up(&f);
    static const char *const names[][2] = {{"w__rfel.surface.npy", "ein \xc3\x84 <&>.surface.npy"},
                                           {"w__rfel.triangles.npy", "ein \xc3\x84 <&>.triangles.npy"}};
    for (int i = 0; i < 2; i++) {
        test_folder_path(f.folder, names[i][0], from);
        test_folder_path(f.folder, names[i][1], to);
        assert_int_equal(rename(from, to), 0);
    }
    assert_done(f.ctx, sn_results_open(f.ctx, f.folder, &results));
    const sn_results_body body = sn_results_get_body(results, 1);
    assert_string_equal(body.name, "ein \xc3\x84 <&>");
    assert_string_equal(body.file_name, "ein_______");
    assert_null(body.look.triangle_uv);
    sn_results_close(&results);
    tear_down(&f);
}

// ---- Bad folders

/// Opens a folder that must be refused, with certain words.
static void refuse(export_fixture *f, const char *words) {
    sn_results *results = NULL;
    size_t in_use = sn_context_memory_in_use(f->ctx);
    sn_status status = sn_results_open(f->ctx, f->folder, &results);
    if (status != SN_ERR_READ)
        fail_msg("'%s': %s", words, sn_status_name(status));
    expect_message(f, words);
    assert_null(results);
    assert_int_equal(sn_context_memory_in_use(f->ctx), in_use);
}

/// Replaces a file, has the folder refused, and puts the file back.
static void refuse_file(export_fixture *f, const char *name, const void *bytes, size_t size,
                        const char *words) {
    size_t kept_size = 0;
    char *kept = test_folder_read(f->folder, name, &kept_size);
    put_text(f->folder, name, bytes, size);
    refuse(f, words);
    put_text(f->folder, name, kept, kept_size);
    free(kept);
}

static void refuse_text(export_fixture *f, const char *name, const char *text, const char *words) {
    refuse_file(f, name, text, strlen(text), words);
}

static void refuses_damaged_arrays(void **state) {
    (void)state;
    static const char *const shapes[] = {"99999999999999999999, 8, 3",
                                         "4, -8, 3",
                                         "4, 2000000000, 3",
                                         "4, 8, 2",
                                         "4, 8",
                                         "4 8 3",
                                         ")",
                                         "-1, 8, 3",
                                         "4, 0, 3",
                                         "0, 8, 3"};
    export_fixture f;
    set_up(&f);
    size_t size = 0;
    char *whole = test_folder_read(f.folder, "w__rfel.surface.npy", &size);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char *bytes = malloc(size), *shape;
        assert_non_null(bytes);
        memcpy(bytes, whole, size);
        shape = memchr(bytes, '(', size);
        int length = snprintf(shape + 1, 60, "%s), }", shapes[i]);
        shape[1 + length] = ' ';
        refuse_file(&f, "w__rfel.surface.npy", bytes, size, "w__rfel.surface.npy");
        free(bytes);
    }
    for (size_t cut = 0; cut < 128; cut++)
        refuse_file(&f, "w__rfel.surface.npy", whole, cut, "w__rfel.surface.npy is not the array");
    refuse_file(&f, "w__rfel.surface.npy", whole, 130, "w__rfel.surface.npy holds no whole frame");
    free(whole);
    whole = test_folder_read(f.folder, "w__rfel.triangles.npy", &size);
    for (size_t cut = 0; cut < size; cut += 7)
        refuse_file(&f, "w__rfel.triangles.npy", whole, cut, "w__rfel.triangles.npy");
    whole[size - 4] = 8;
    refuse_file(&f, "w__rfel.triangles.npy", whole, size, "triangle 11 names vertex 8");
    free(whole);
    tear_down(&f);
}

static void refuses_damaged_texts(void **state) {
    (void)state;
    export_fixture f;
    set_up(&f);
    refuse_text(&f, "stats.jsonl", "{\"frame\":2,\"time\":1}\n", "stats.jsonl:1: found no record of frame 1");
    refuse_text(&f, "stats.jsonl", "{\"frame\":1,\"time\":1}\n{\"frame\":2,\"time\":1}\n",
                "stats.jsonl:2: the time of frame 2, 1 s, is not above that of the frame before");
    refuse_text(&f, "stats.jsonl", "{\"frame\":1,\"time\":1e999}\n", "stats.jsonl:1:");
    refuse_text(&f, "stats.jsonl", "\n\n\n", "stats.jsonl:1:");
    refuse_text(&f, "summary.json", "{}", "summary.json tells no number of frames_planned");
    refuse_text(&f, "w__rfel.surface.obj", "v 0 0 0\nf 1 1 1\n", "has 1 vertices and 1 triangles");
    refuse_text(&f, "w__rfel.surface.obj", "v 0 0\n", "w__rfel.surface.obj:1");
    refuse_text(&f, "w__rfel.surface.obj", "", "w__rfel.surface.obj");
    char path[TEST_PATH_SIZE];
    test_folder_path(f.folder, "stats.jsonl", path);
    assert_int_equal(unlink(path), 0);
    refuse(&f, "holds no run (stats.jsonl: No such file");
    tear_down(&f);
}

static void refuses_what_is_no_run(void **state) {
    (void)state;
    export_fixture f;
    sn_results *results = NULL;
    set_up_with(&f, NULL);
    refuse(&f, "holds no run");
    test_folder_put(f.folder, "stats.jsonl");
    refuse(&f, "holds no positions (*.surface.npy): run the scene with output.npy");
    assert_int_equal(sn_results_open(f.ctx, "no/such/folder", &results), SN_ERR_READ);
    assert_int_equal(sn_results_open(f.ctx, "", &results), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_results_open(NULL, f.folder, &results), SN_ERR_INVALID_ARGUMENT);
    char name[240];
    memset(name, 'x', sizeof name);
    memcpy(name + 220, ".surface.npy", sizeof ".surface.npy");
    test_folder_put(f.folder, name);
    refuse(&f, "the name is longer than a run makes it");
    tear_down(&f);
}

static void positions_must_be_numbers(void **state) {
    (void)state;
    export_fixture f;
    sn_results *results = NULL;
    float position[3 * CUBE_VERTICES];
    size_t size = 0;
    set_up(&f);
    char *bytes = test_folder_read(f.folder, "w__rfel.surface.npy", &size);
    memset(bytes + size - 4, 0xff, 4);
    put_text(f.folder, "w__rfel.surface.npy", bytes, size);
    free(bytes);
    assert_done(f.ctx, sn_results_open(f.ctx, f.folder, &results));
    assert_done(f.ctx, sn_results_positions(results, 1, FRAMES - 2, position));
    assert_int_equal(sn_results_positions(results, 1, FRAMES - 1, position), SN_ERR_READ);
    expect_message(&f, "vertex 7 of frame 3 is not finite");
    // Cut behind our back.
    cut_file(&f, "w__rfel.surface.npy", 12 * CUBE_VERTICES + 1);
    assert_int_equal(sn_results_positions(results, 1, FRAMES - 2, position), SN_ERR_READ);
    expect_message(&f, "ends within frame 2");
    sn_results_close(&results);
    tear_down(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_was_recorded),    cmocka_unit_test(models_keep_looks),
        cmocka_unit_test(runs_may_start_at_any_time), cmocka_unit_test(stopped_runs_have_their_whole_frames),
        cmocka_unit_test(surfaces_go_without_a_look), cmocka_unit_test(refuses_damaged_arrays),
        cmocka_unit_test(refuses_damaged_texts),      cmocka_unit_test(refuses_what_is_no_run),
        cmocka_unit_test(positions_must_be_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
