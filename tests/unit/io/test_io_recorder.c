// The recorder: which files, which keys, whose files it removes, and what it says when it cannot write.
#define _GNU_SOURCE
#include "test_io_failing.h"
#include "test_io_run.h"

#include <signal.h>
#include <sys/resource.h>

static sn_step_info step_info(int frame) {
    return (sn_step_info){.time = 0.1 * frame,
                          .status = frame == 2 ? SN_STEP_BUDGET : SN_STEP_CONVERGED,
                          .stop_test = frame == 2 ? SN_STOP_BUDGET : SN_STOP_DISPLACEMENT,
                          .iterations = 4,
                          .min_det_F = NAN,
                          .ms.total = frame};
}

/// Start, three frames, finish.
static sn_status record(run_fixture *f, bool overwrite) {
    sn_recorder *recorder = NULL;
    sn_status status =
        sn_recorder_create(f->ctx, f->model, f->folder, overwrite, &f->output, &f->run, &recorder);
    for (int frame = 0; frame <= 3 && status == SN_OK; frame++) {
        sn_step_info info = step_info(frame);
        status = sn_recorder_frame(recorder, f->state, frame ? &info : NULL);
    }
    if (status == SN_OK)
        status = sn_recorder_finish(recorder, f->state);
    sn_recorder_destroy(&recorder);
    return status;
}

/// Fails unless `text` holds all keys, in this order.
static void check_keys(const char *text, const char *const *keys, size_t count) {
    const char *at = text;
    for (size_t i = 0; i < count; i++) {
        char quoted[64];
        snprintf(quoted, sizeof quoted, "\"%s\":", keys[i]);
        at = strstr(at, quoted);
        if (!at)
            fail_msg("key %s is missing or out of order", keys[i]);
    }
}

static void writes_statistics(void **state) {
    (void)state;
    static const char *const line_keys[] = {"frame",
                                            "time",
                                            "status",
                                            "iterations",
                                            "factorizations",
                                            "energy",
                                            "kinetic",
                                            "elastic",
                                            "attachment",
                                            "contact",
                                            "external",
                                            "gradient_norm",
                                            "relative_gradient",
                                            "stop_test",
                                            "step_error",
                                            "active_contacts",
                                            "dropped_contacts",
                                            "max_penetration",
                                            "min_det_F",
                                            "inverted",
                                            "obstacles",
                                            "name",
                                            "contacts",
                                            "force",
                                            "moment",
                                            "max_depth",
                                            "ms",
                                            "detect",
                                            "local",
                                            "gradient",
                                            "sweep",
                                            "kept",
                                            "other",
                                            "total"};
    static const char *const summary_keys[] = {
        "version", "scene",     "nodes",  "elements",          "kept_nodes", "frames",       "frames_planned",
        "status",  "converged", "budget", "stalled",           "state_hash", "ms_per_frame", "median",
        "p90",     "setup_ms",  "total",  "peak_memory_bytes", "threads",    "cpu"};
    run_fixture f;
    set_up(&f);
    assert_done(f.ctx, record(&f, false));
    char *stats = test_folder_read(f.folder, "stats.jsonl", NULL);
    check_keys(stats, line_keys, sizeof line_keys / sizeof *line_keys);
    assert_non_null(strstr(stats, "\"min_det_F\":null"));
    int lines = 0;
    for (const char *at = stats; (at = strchr(at, '\n')); at++)
        lines++;
    assert_int_equal(lines, 3);
    free(stats);
    char *summary = test_folder_read(f.folder, "summary.json", NULL), hash[64];
    check_keys(summary, summary_keys, sizeof summary_keys / sizeof *summary_keys);
    assert_non_null(strstr(summary, "\"frames\": 3"));
    assert_non_null(strstr(summary, "{\"converged\": 2, \"budget\": 1, \"stalled\": 0}"));
    assert_non_null(strstr(summary, "\"median\": 2, "));
    assert_near(strtod(strstr(summary, "\"p90\": ") + strlen("\"p90\": "), NULL), 2.8, 1e-12);
    assert_non_null(strstr(summary, "\"scene\": \"scenes/two \\\"beams\\\".yaml\""));
    snprintf(hash, sizeof hash, "\"state_hash\": \"%016llx\"", (unsigned long long)sn_state_hash(f.state));
    assert_non_null(strstr(summary, hash));
    free(summary);
    tear_down(&f);
}

static void names_files_after_bodies(void **state) {
    (void)state;
    static const char *const names[] = {"stats.jsonl",
                                        "summary.json",
                                        "player.html",
                                        "frames.pvd",
                                        "checkpoint.bin",
                                        "checkpoint.frames",
                                        "player.frames",
                                        "a_b.vtu.series",
                                        "a_b-2.vtu.series",
                                        "a_b.pc2",
                                        "a_b-2.pc2",
                                        "contacts.csv",
                                        "a_b.000000.obj",
                                        "a_b.000003.obj",
                                        "a_b-2.000000.obj",
                                        "a_b-2.000003.obj",
                                        "a_b.surface.npy",
                                        "a_b.nodes.npy",
                                        "a_b.triangles.npy",
                                        "a_b.tets.npy",
                                        "a_b.000000.vtu",
                                        "a_b.000002.vtu",
                                        "a_b-2.surface.npy",
                                        "a_b-2.nodes.npy",
                                        "a_b-2.triangles.npy",
                                        "a_b-2.tets.npy",
                                        "a_b-2.000000.vtu",
                                        "a_b-2.000002.vtu",
                                        "a_b.surface.obj",
                                        "a_b-2.surface.obj",
                                        "a_b.mdd",
                                        "a_b-2.mdd",
                                        "frames.glb",
                                        "frames.usda",
                                        "frames.npz",
                                        "frame.000000.png",
                                        "frame.000002.png",
                                        "rigid_shapes.npy",
                                        "rigid_vertices.npy",
                                        "rigid_triangles.npy",
                                        "rigid_poses.npy"};
    run_fixture f;
    set_up(&f);
    f.output.vtu_every = 2;
    f.output.obj_every = 3;
    f.output.preview_every = 2;
    f.output.preview_width = f.output.preview_height = 9;
    f.output.pc2 = f.output.contacts = true;
    f.output.mdd = f.output.glb = f.output.usda = f.output.npz = true;
    assert_done(f.ctx, record(&f, false));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!test_folder_has(f.folder, names[i]))
            fail_msg("%s is missing", names[i]);
    assert_int_equal(test_folder_count(f.folder), sizeof names / sizeof *names);
    tear_down(&f);
}

static void writes_only_what_is_wanted(void **state) {
    (void)state;
    run_fixture f;
    set_up(&f);
    f.output.player = f.output.npy = f.output.field_strain = f.output.field_displacement = false;
    assert_done(f.ctx, record(&f, false));
    assert_int_equal(test_folder_count(f.folder), 4);
    f.output.player = true;
    assert_done(f.ctx, record(&f, true));
    assert_int_equal(test_folder_count(f.folder), 6);
    tear_down(&f);
}

/// A run that no browser could hold whole: the page keeps one frame in many and says so.
static void thins_out_long_runs(void **state) {
    (void)state;
    run_fixture f;
    set_up(&f);
    f.run.frame_total = 100000000;
    assert_done(f.ctx, record(&f, false));
    char *page = test_folder_read(f.folder, "player.html", NULL);
    const char *stride = strstr(page, "\"stride\":");
    assert_non_null(stride);
    assert_true(atoi(stride + strlen("\"stride\":")) > 3);
    assert_non_null(strstr(page, "\"frames\":[[0,0,-1,0,0]]"));
    free(page);
    tear_down(&f);
}

static void spares_earlier_runs_and_other_files(void **state) {
    (void)state;
    static const char *const others[] = {
        "notes.txt",       "mesh.vtu",  "a_b.00001.vtu",         "my.stats.jsonl",
        "player.html.bak", "cloth.pc2", "a_b.0000012345678.obj", "cloth.mdd",
        "scene.glb",       "my.npz",    "frame.00001.png",       "a_b.000001.png"};
    run_fixture f;
    set_up(&f);
    f.output.vtu_every = f.output.obj_every = f.output.preview_every = 1;
    f.output.pc2 = f.output.contacts = true;
    f.output.mdd = f.output.glb = f.output.usda = f.output.npz = true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        test_folder_put(f.folder, others[i]);
    assert_done(f.ctx, record(&f, false));
    int count = test_folder_count(f.folder);
    assert_int_equal(record(&f, false), SN_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(sn_context_message(f.ctx), "already holds a run"));
    assert_non_null(strstr(sn_context_message(f.ctx), f.folder));
    assert_int_equal(test_folder_count(f.folder), count);
    f.output.vtu_every = f.output.obj_every = f.output.preview_every = 0;
    f.output.pc2 = f.output.contacts = false;
    f.output.mdd = f.output.glb = f.output.usda = f.output.npz = false;
    test_folder_put(f.folder, "player.html.tmp"); // left by a run that was killed
    assert_done(f.ctx, record(&f, true));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_true(test_folder_has(f.folder, others[i]));
    assert_int_equal(test_folder_count(f.folder), 20 + sizeof others / sizeof *others);
    tear_down(&f);
}

static void says_why_it_cannot_write(void **state) {
    (void)state;
    run_fixture f;
    set_up(&f);
    char folder[TEST_PATH_SIZE], below[TEST_PATH_SIZE];
    snprintf(folder, sizeof folder, "%s", f.folder);
    test_folder_put(folder, "file");
    test_folder_path(folder, "file/deep/er", below);
    snprintf(f.folder, sizeof f.folder, "%s", below);
    assert_int_equal(record(&f, false), SN_ERR_WRITE);
    assert_non_null(strstr(sn_context_message(f.ctx), "file"));
    assert_non_null(strstr(sn_context_message(f.ctx), "Not a directory"));
    snprintf(f.folder, sizeof f.folder, "%s", folder);
    tear_down(&f);
}

/// A limit on file sizes stands for a full disk; every limit must end in an error with a path, or in a
/// complete run.
static void reports_a_full_disk(void **state) {
    (void)state;
    run_fixture f;
    set_up(&f);
    f.output.vtu_every = 1;
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    int failures = 0;
    for (rlim_t limit = 64; limit < 2000000; limit *= 2) {
        small = before;
        small.rlim_cur = limit;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        sn_status status = record(&f, true);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        if (status != SN_OK) {
            failures++;
            assert_int_equal(status, SN_ERR_WRITE);
            assert_non_null(strstr(sn_context_message(f.ctx), "File too large"));
            assert_false(test_folder_has(f.folder, "summary.json"));
        }
    }
    assert_true(failures >= 13); // player.html alone is larger than 800 KB
    assert_true(test_folder_has(f.folder, "summary.json"));
    tear_down(&f);
}

static void wants_calls_in_order(void **state) {
    (void)state;
    run_fixture f;
    set_up(&f);
    sn_recorder *recorder = NULL;
    sn_step_info info = step_info(1);
    sn_output_def unmarked = {0};
    sn_run_info timeless = f.run;
    timeless.frame_seconds = 0;
    assert_int_equal(sn_recorder_create(f.ctx, f.model, f.folder, false, &unmarked, &f.run, &recorder),
                     SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_recorder_create(f.ctx, f.model, f.folder, false, &f.output, &timeless, &recorder),
                     SN_ERR_INVALID_ARGUMENT);
    assert_null(recorder);
    assert_done(f.ctx, sn_recorder_create(f.ctx, f.model, f.folder, false, &f.output, &f.run, &recorder));
    assert_int_equal(record(&f, true), SN_ERR_WRITE); // two runs in one folder
    assert_non_null(strstr(sn_context_message(f.ctx), "another run is writing into"));
    assert_int_equal(sn_recorder_finish(recorder, f.state), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_recorder_frame(recorder, f.state, &info), SN_ERR_INVALID_ARGUMENT);
    assert_done(f.ctx, sn_recorder_frame(recorder, f.state, NULL));
    assert_int_equal(sn_recorder_frame(recorder, f.state, NULL), SN_ERR_INVALID_ARGUMENT);
    assert_done(f.ctx, sn_recorder_finish(recorder, f.state));
    assert_int_equal(sn_recorder_frame(recorder, f.state, &info), SN_ERR_INVALID_ARGUMENT);
    sn_recorder_destroy(&recorder);
    assert_null(recorder);
    sn_recorder_destroy(&recorder);
    tear_down(&f);
}

static void survives_each_failing_allocation(void **state) {
    (void)state;
    run_fixture f = {.output = sn_output_def_default()};
    f.output.vtu_every = 2;
    f.run = (sn_run_info){.scene_path = "s.yaml", .frame_seconds = 0.1, .frame_total = 3};
    sn_context_def def = sn_context_def_default();
    def.allocator = failing_allocator;
    def.thread_count = 1;
    allocations_left = -1;
    assert_int_equal(sn_context_create(&def, &f.ctx), SN_OK);
    assert_done(f.ctx, build_model(&f));
    test_folder_make(f.folder);
    size_t in_use = sn_context_memory_in_use(f.ctx);
    int failing = 0;
    for (sn_status status = SN_ERR_NO_MEMORY; status != SN_OK; failing++) {
        allocations_left = failing;
        status = record(&f, true);
        allocations_left = -1;
        assert_true(status == SN_OK || status == SN_ERR_NO_MEMORY);
        assert_int_equal(sn_context_memory_in_use(f.ctx), in_use);
    }
    assert_true(failing > 30);
    tear_down(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_statistics),
        cmocka_unit_test(names_files_after_bodies),
        cmocka_unit_test(writes_only_what_is_wanted),
        cmocka_unit_test(thins_out_long_runs),
        cmocka_unit_test(spares_earlier_runs_and_other_files),
        cmocka_unit_test(says_why_it_cannot_write),
        cmocka_unit_test(reports_a_full_disk),
        cmocka_unit_test(wants_calls_in_order),
        cmocka_unit_test(survives_each_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
