// Checkpoints of a run: going on from one gives the files of a run that never stopped, byte by byte; what is
// damaged, foreign or missing is refused with the cause, and nothing is changed.
#define _GNU_SOURCE
#include "test_io_failing.h"
#include "test_io_run.h"

#include "base/base_util.h"
#include "io/io_checkpoint.h"

#include <signal.h>
#include <sys/resource.h>

enum { FRAMES = 6 };

/// A run that steps. Two of them have the same model in two folders.
typedef struct stepping_run {
    run_fixture f;
    sn_stepper *stepper;
    sn_stepper_def stepper_def;
    sn_probe_def probe[2];
    sn_recorder *recorder;
} stepping_run;

static void begin(stepping_run *run) {
    set_up(&run->f);
    run->recorder = NULL;
    run->stepper_def = sn_stepper_def_default();
    run->probe[0] = (sn_probe_def){.name = "tip", .body = "a b", .point = {1, 0.1, 0.1}};
    run->probe[1] = (sn_probe_def){.name = "floor", .rigid = "shape 1"};
    run->f.output.vtu_every = 2;
    run->f.output.obj_every = 3;
    run->f.output.preview_every = 2;
    run->f.output.preview_width = run->f.output.preview_height = 20;
    run->f.output.pc2 = run->f.output.contacts = true;
    run->f.output.probe_count = 2;
    run->f.output.probes = run->probe;
    run->f.run.frame_total = FRAMES;
    run->f.run.substeps = 1;
    run->f.run.frame_seconds = 0.01;
    run->f.run.stepper = &run->stepper_def;
    assert_done(run->f.ctx, sn_stepper_create(run->f.model, &run->stepper_def, &run->stepper));
}

static void end(stepping_run *run) {
    sn_recorder_destroy(&run->recorder);
    sn_stepper_destroy(&run->stepper);
    tear_down(&run->f);
}

/// Steps one frame. Its times are made up, so that whole files can be compared.
static sn_status advance(stepping_run *run) {
    sn_step_info info;
    sn_status status = sn_step(run->stepper, run->f.state, run->f.run.frame_seconds, &info);
    if (status < 0)
        return status;
    info.factorizations = 0; // A new stepper has to make one more.
    info.ms = (sn_step_times){.total = fmod(1e4 * sn_state_time(run->f.state), 7)};
    return sn_recorder_frame(run->recorder, run->f.state, &info);
}

static void create(stepping_run *run) {
    assert_done(run->f.ctx, sn_recorder_create(run->f.ctx, run->f.model, run->f.folder, true, &run->f.output,
                                               &run->f.run, &run->recorder));
    assert_done(run->f.ctx, sn_recorder_frame(run->recorder, run->f.state, NULL));
}

static void advance_to(stepping_run *run, int32_t frames) {
    while (sn_recorder_totals(run->recorder).frames < frames)
        assert_done(run->f.ctx, advance(run));
}

static void finish(stepping_run *run) {
    assert_done(run->f.ctx, sn_recorder_finish(run->recorder, run->f.state));
    sn_recorder_destroy(&run->recorder);
}

static sn_status resume(stepping_run *run, int32_t *out_frames) {
    return sn_recorder_resume(run->f.ctx, run->f.model, run->f.folder, &run->f.output, &run->f.run,
                              run->f.state, out_frames, &run->recorder);
}

/// As a kill does: the process' memory is gone, the files stay as they are.
static void forget(stepping_run *run) {
    sn_recorder_destroy(&run->recorder);
    sn_state_destroy(&run->f.state);
    sn_stepper_destroy(&run->stepper);
    assert_done(run->f.ctx, sn_state_create(run->f.model, &run->f.state));
    assert_done(run->f.ctx, sn_stepper_create(run->f.model, &run->stepper_def, &run->stepper));
}

/// The part of a file that must be equal: of the summary all but the machine.
static size_t compared_size(const char *name, const char *bytes, size_t size) {
    const char *machine = strcmp(name, "summary.json") == 0 ? strstr(bytes, "\"peak_memory_bytes\"") : NULL;
    return machine ? (size_t)(machine - bytes) : size;
}

static void compare_folders(const char *wanted, const char *found) {
    assert_int_equal(test_folder_count(found), test_folder_count(wanted));
    DIR *folder = opendir(wanted);
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        const char *name = entry->d_name;
        size_t wanted_size = 0, found_size = 0;
        if (name[0] == '.')
            continue;
        if (!test_folder_has(found, name))
            fail_msg("%s is missing", name);
        char *a = test_folder_read(wanted, name, &wanted_size);
        char *b = test_folder_read(found, name, &found_size);
        wanted_size = compared_size(name, a, wanted_size);
        found_size = compared_size(name, b, found_size);
        if (wanted_size != found_size || memcmp(a, b, wanted_size) != 0)
            fail_msg("%s differs from that of the run that did not stop", name);
        free(a);
        free(b);
    }
    closedir(folder);
}

/// Hash of all files of a folder, whatever their order.
static uint64_t hash_folder(const char *folder) {
    uint64_t sum = 0;
    DIR *opened = opendir(folder);
    assert_non_null(opened);
    for (struct dirent *entry = readdir(opened); entry; entry = readdir(opened)) {
        size_t size = 0;
        if (entry->d_name[0] == '.')
            continue;
        char *bytes = test_folder_read(folder, entry->d_name, &size);
        uint64_t hash = sn_hash(SN_HASH_START, entry->d_name, strlen(entry->d_name));
        sum += sn_hash(hash, bytes, size);
        free(bytes);
    }
    closedir(opened);
    return sum;
}

static void write_file(const char *folder, const char *name, const void *bytes, size_t size) {
    char path[TEST_PATH_SIZE];
    test_folder_path(folder, name, path);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/// Killed after every frame, with every rhythm of checkpoints, and with rubbish behind it.
static void goes_on_as_if_it_had_not_stopped(void **state) {
    (void)state;
    stepping_run whole, parts;
    begin(&whole);
    create(&whole);
    advance_to(&whole, FRAMES);
    finish(&whole);
    begin(&parts);
    for (int32_t every = 1; every <= 4; every += every == 1 ? 1 : 2)
        for (int32_t killed = 0; killed <= FRAMES; killed += every > 1 ? 1 : 2) {
            int32_t done = -1;
            parts.f.output.checkpoint_every = every;
            create(&parts);
            advance_to(&parts, killed);
            forget(&parts);
            test_folder_put(parts.f.folder, "player.html.tmp");
            test_folder_put(parts.f.folder, "a_b.000007.vtu");
            test_folder_put(parts.f.folder, "a_b.000007.obj.tmp");
            test_folder_put(parts.f.folder, "frame.000007.png");
            test_folder_put(parts.f.folder, "frame.000002.png.tmp");
            assert_done(parts.f.ctx, resume(&parts, &done));
            assert_int_equal(done, killed - killed % every);
            assert_int_equal(sn_recorder_totals(parts.recorder).frames, done);
            advance_to(&parts, FRAMES);
            finish(&parts);
            compare_folders(whole.f.folder, parts.f.folder);
            forget(&parts);
        }
    end(&parts);
    end(&whole);
}

/// Without a rhythm the checkpoint comes at the end only, from which the run can be made longer.
static void grows_a_finished_run(void **state) {
    (void)state;
    stepping_run whole, parts;
    int32_t done = -1;
    begin(&whole);
    create(&whole);
    advance_to(&whole, FRAMES);
    finish(&whole);
    begin(&parts);
    parts.f.output.checkpoint_every = 0;
    parts.f.run.frame_total = 2;
    create(&parts);
    advance_to(&parts, 2);
    assert_false(test_folder_has(parts.f.folder, "checkpoint.bin"));
    finish(&parts);
    forget(&parts);
    // Nothing to do: the files stay as they are.
    uint64_t before = hash_folder(parts.f.folder);
    assert_done(parts.f.ctx, resume(&parts, &done));
    assert_int_equal(done, 2);
    finish(&parts);
    assert_true(hash_folder(parts.f.folder) == before);
    forget(&parts);
    parts.f.run.frame_total = FRAMES;
    assert_done(parts.f.ctx, resume(&parts, &done));
    assert_int_equal(done, 2);
    assert_true(test_folder_has(parts.f.folder, "summary.json"));
    advance_to(&parts, 3);
    assert_false(test_folder_has(parts.f.folder, "summary.json")); // it would say that the run is complete
    advance_to(&parts, FRAMES);
    finish(&parts);
    compare_folders(whole.f.folder, parts.f.folder);
    end(&parts);
    end(&whole);
}

/// A page that somebody removed is written again, by a resumed run with nothing left to step.
static void writes_a_missing_page_again(void **state) {
    (void)state;
    stepping_run run;
    int32_t done;
    char path[TEST_PATH_SIZE];
    begin(&run);
    create(&run);
    advance_to(&run, FRAMES);
    finish(&run);
    size_t size, again_size;
    char *page = test_folder_read(run.f.folder, "player.html", &size);
    test_folder_path(run.f.folder, "player.html", path);
    assert_int_equal(unlink(path), 0);
    forget(&run);
    assert_done(run.f.ctx, resume(&run, &done));
    assert_int_equal(done, FRAMES);
    finish(&run);
    char *again = test_folder_read(run.f.folder, "player.html", &again_size);
    assert_int_equal(again_size, size);
    assert_memory_equal(again, page, size);
    free(page);
    free(again);
    end(&run);
}

/// A run that turns out so long that the page must thin it out, shows what it would have from the start.
static void thins_out_what_was_recorded_before(void **state) {
    (void)state;
    stepping_run whole, parts;
    int32_t done;
    begin(&whole);
    whole.f.run.frame_total = 600000;
    create(&whole);
    advance_to(&whole, FRAMES);
    finish(&whole);
    begin(&parts);
    create(&parts);
    advance_to(&parts, 3);
    forget(&parts);
    parts.f.run.frame_total = whole.f.run.frame_total;
    assert_done(parts.f.ctx, resume(&parts, &done));
    advance_to(&parts, FRAMES);
    finish(&parts);
    size_t size, parts_size;
    char *page = test_folder_read(whole.f.folder, "player.html", &size);
    char *parts_page = test_folder_read(parts.f.folder, "player.html", &parts_size);
    const char *stride = strstr(page, "\"stride\":");
    assert_non_null(stride);
    assert_int_equal(atoi(stride + strlen("\"stride\":")), 2);
    assert_int_equal(parts_size, size);
    assert_memory_equal(parts_page, page, size);
    free(page);
    free(parts_page);
    end(&parts);
    end(&whole);
}

/// Fails unless resuming is refused so, and folder and state stay as they are.
static void refuse(stepping_run *run, const char *word) {
    int32_t done = -1;
    uint64_t folder = hash_folder(run->f.folder), before = sn_state_hash(run->f.state);
    sn_status status = resume(run, &done);
    if (status != SN_ERR_READ)
        fail_msg("resumed with %s where \"%s\" was expected", sn_status_name(status), word);
    if (!strstr(sn_context_message(run->f.ctx), word))
        fail_msg("message without \"%s\": %s", word, sn_context_message(run->f.ctx));
    assert_null(run->recorder);
    assert_int_equal(done, -1);
    assert_true(sn_state_hash(run->f.state) == before);
    assert_true(hash_folder(run->f.folder) == folder);
}

/// A run killed behind its checkpoint of frame 2.
static void begin_killed(stepping_run *run) {
    begin(run);
    run->f.output.checkpoint_every = 2;
    create(run);
    advance_to(run, 3);
    forget(run);
}

static void refuses_damaged_checkpoints(void **state) {
    (void)state;
    stepping_run run;
    size_t size;
    int32_t done;
    begin_killed(&run);
    char *bytes = test_folder_read(run.f.folder, "checkpoint.bin", &size);
    sn_checkpoint head;
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (char)(bytes[i] ^ 1 << i % 8);
        assert_int_equal(sn_checkpoint_parse(run.f.ctx, "c", bytes, size, &head), SN_ERR_READ);
        bytes[i] = (char)(bytes[i] ^ 1 << i % 8);
        // Exactly as long, for the address sanitizer.
        char *cut = malloc(i + 1);
        memcpy(cut, bytes, i);
        assert_int_equal(sn_checkpoint_parse(run.f.ctx, "c", cut, i, &head), SN_ERR_READ);
        free(cut);
    }
    // The same through the file, at some places.
    for (size_t i = 0; i < size; i += i < 200 ? 7 : 371) {
        bytes[i] = (char)(bytes[i] ^ 0x10);
        write_file(run.f.folder, "checkpoint.bin", bytes, size);
        refuse(&run, "checkpoint.bin");
        bytes[i] = (char)(bytes[i] ^ 0x10);
        write_file(run.f.folder, "checkpoint.bin", bytes, i);
        refuse(&run, "checkpoint.bin is damaged");
    }
    write_file(run.f.folder, "checkpoint.bin", bytes, size);
    assert_done(run.f.ctx, resume(&run, &done));
    free(bytes);
    end(&run);
}

static uint32_t read_word(const char *bytes) {
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/// Any four bytes of the head replaced, and sealed again: an error or a sound checkpoint, never a crash.
static void survives_forged_checkpoints(void **state) {
    (void)state;
    stepping_run run;
    size_t size;
    int refused = 0, taken = 0;
    begin_killed(&run);
    char *bytes = test_folder_read(run.f.folder, "checkpoint.bin", &size);
    const uint32_t words[] = {0, 1, 3, 0x7fffffff, 0x80000000, 0xffffffff, 0x7ff00000};
    for (size_t at = 0; at + 8 < 16 + sizeof(sn_checkpoint) + 24; at += 4)
        for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
            uint32_t kept = read_word(bytes + at);
            memcpy(bytes + at, &words[w], sizeof kept);
            uint64_t seal = sn_checkpoint_seal(bytes, size - sizeof seal);
            memcpy(bytes + size - sizeof seal, &seal, sizeof seal);
            write_file(run.f.folder, "checkpoint.bin", bytes, size);
            int32_t done;
            sn_status status = resume(&run, &done);
            assert_true(status == SN_OK || status == SN_ERR_READ);
            refused += status != SN_OK;
            taken += status == SN_OK;
            sn_recorder_destroy(&run.recorder);
            memcpy(bytes + at, &kept, sizeof kept);
        }
    assert_true(refused > 200 && taken > 0);
    free(bytes);
    end(&run);
}

static void refuses_other_runs(void **state) {
    (void)state;
    stepping_run run;
    begin_killed(&run);
    run.f.run.frame_seconds = 0.02;
    refuse(&run, "another time step");
    run.f.run.frame_seconds = 0.01;
    run.f.run.substeps = 2;
    refuse(&run, "another time step");
    run.f.run.substeps = 1;
    run.stepper_def.solver.iterations++;
    refuse(&run, "another solver");
    run.stepper_def.solver.iterations--;
    run.stepper_def.precision = SN_PRECISION_ACCURATE;
    refuse(&run, "or precision");
    run.stepper_def.precision = SN_PRECISION_FAST;
    run.f.output.vtu_volume = false;
    refuse(&run, "other outputs");
    run.f.output.vtu_volume = true;
    run.probe[0].point[2] = 0.05;
    refuse(&run, "other outputs");
    run.probe[0].point[2] = 0.1;
    run.probe[1].name = "ground";
    refuse(&run, "other outputs");
    run.probe[1].name = "floor";

    // A twin with other gravity is another model; one that is equal is not.
    stepping_run twin = {.stepper_def = run.stepper_def, .f = run.f};
    int32_t done;
    twin.f.model = NULL, twin.f.state = NULL;
    assert_done(run.f.ctx, build_model_with_gravity(&twin.f, -9.80));
    refuse(&twin, "another model");
    sn_state_destroy(&twin.f.state);
    sn_model_destroy(&twin.f.model);
    assert_done(run.f.ctx, build_model(&twin.f));
    assert_done(run.f.ctx, resume(&twin, &done));
    sn_recorder_destroy(&twin.recorder);
    sn_state_destroy(&twin.f.state);
    sn_model_destroy(&twin.f.model);

    size_t size;
    char *bytes = test_folder_read(run.f.folder, "checkpoint.bin", &size);
    bytes[16] = '9'; // the version comes first in the head
    uint64_t seal = sn_checkpoint_seal(bytes, size - sizeof seal);
    memcpy(bytes + size - sizeof seal, &seal, sizeof seal);
    write_file(run.f.folder, "checkpoint.bin", bytes, size);
    refuse(&run, "a run of Sinew 9.");
    free(bytes);
    end(&run);
}

/// Files that are gone or shorter than the checkpoint says, or filled with something else.
static void refuses_damaged_results(void **state) {
    (void)state;
    static const char *const names[] = {"stats.jsonl",     "checkpoint.frames", "player.frames",
                                        "a_b.surface.npy", "a_b-2.nodes.npy",   "a_b.pc2",
                                        "contacts.csv",    "probes.csv",        "rigid_poses.npy"};
    stepping_run run;
    int32_t done;
    begin_killed(&run);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t size;
        char *bytes = test_folder_read(run.f.folder, names[i], &size), path[TEST_PATH_SIZE];
        test_folder_path(run.f.folder, names[i], path);
        assert_int_equal(unlink(path), 0);
        refuse(&run, names[i]);
        write_file(run.f.folder, names[i], bytes, size / 3);
        refuse(&run, names[i]);
        write_file(run.f.folder, names[i], bytes, size);
        free(bytes);
    }
    static const char *const checked[] = {"checkpoint.frames", "a_b.surface.npy", "rigid_poses.npy"};
    for (size_t i = 0; i < sizeof checked / sizeof *checked; i++) {
        size_t size;
        char *bytes = test_folder_read(run.f.folder, checked[i], &size);
        for (size_t at = 0; at < 40; at += 3) {
            bytes[at] = (char)(bytes[at] ^ 4);
            write_file(run.f.folder, checked[i], bytes, size);
            refuse(&run, checked[i]);
            bytes[at] = (char)(bytes[at] ^ 4);
        }
        write_file(run.f.folder, checked[i], bytes, size);
        free(bytes);
    }
    assert_done(run.f.ctx, resume(&run, &done));
    end(&run);
}

static void says_where_there_is_nothing(void **state) {
    (void)state;
    stepping_run run;
    int32_t done;
    begin(&run);
    refuse(&run, "holds no checkpoint");
    assert_int_equal(sn_recorder_resume(run.f.ctx, run.f.model, run.f.folder, &run.f.output, &run.f.run, NULL,
                                        &done, &run.recorder),
                     SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_recorder_resume(run.f.ctx, NULL, run.f.folder, &run.f.output, &run.f.run, run.f.state,
                                        &done, &run.recorder),
                     SN_ERR_INVALID_ARGUMENT);
    end(&run);
}

/// A frame that could not be written ends the recorder, and the run goes on from the one before.
static void goes_on_after_a_full_disk(void **state) {
    (void)state;
    stepping_run whole, parts;
    struct rlimit before, small;
    int32_t done = -1;
    begin(&whole);
    create(&whole);
    advance_to(&whole, FRAMES);
    finish(&whole);
    begin(&parts);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    for (rlim_t limit = 1000; limit < 60000; limit += 2100) {
        small = before;
        small.rlim_cur = limit;
        sn_status status = SN_OK;
        create(&parts);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        for (int32_t frame = 0; frame < FRAMES && status == SN_OK; frame++)
            status = advance(&parts);
        if (status == SN_OK)
            status = sn_recorder_finish(parts.recorder, parts.f.state);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(status, SN_ERR_WRITE); // the page is larger than all limits
        assert_non_null(strstr(sn_context_message(parts.f.ctx), "File too large"));
        assert_non_null(strstr(sn_context_message(parts.f.ctx), parts.f.folder));
        assert_int_equal(sn_recorder_frame(parts.recorder, parts.f.state, &(sn_step_info){0}),
                         SN_ERR_INVALID_ARGUMENT);
        assert_int_equal(sn_recorder_finish(parts.recorder, parts.f.state), SN_ERR_INVALID_ARGUMENT);
        forget(&parts);
        assert_done(parts.f.ctx, resume(&parts, &done));
        advance_to(&parts, FRAMES);
        finish(&parts);
        compare_folders(whole.f.folder, parts.f.folder);
        forget(&parts);
    }
    end(&parts);
    end(&whole);
}

static void survives_each_failing_allocation(void **state) {
    (void)state;
    stepping_run run;
    begin_killed(&run);
    run_fixture f = run.f;
    sn_context_def def = sn_context_def_default();
    def.allocator = failing_allocator;
    def.thread_count = 1;
    allocations_left = -1;
    assert_int_equal(sn_context_create(&def, &f.ctx), SN_OK);
    assert_done(f.ctx, build_model(&f));
    size_t in_use = sn_context_memory_in_use(f.ctx);
    uint64_t start = sn_state_hash(f.state);
    int failing = 0;
    for (sn_status status = SN_ERR_NO_MEMORY; status != SN_OK; failing++) {
        sn_recorder *recorder = NULL;
        int32_t done = -1;
        allocations_left = failing;
        status = sn_recorder_resume(f.ctx, f.model, f.folder, &f.output, &f.run, f.state, &done, &recorder);
        allocations_left = -1;
        assert_true(status == SN_OK || status == SN_ERR_NO_MEMORY);
        if (status != SN_OK)
            assert_true(!recorder && done == -1 && sn_state_hash(f.state) == start);
        sn_recorder_destroy(&recorder);
        assert_int_equal(sn_context_memory_in_use(f.ctx), in_use);
    }
    assert_true(failing > 60);
    assert_true(sn_state_hash(f.state) != start);
    sn_state_destroy(&f.state);
    sn_model_destroy(&f.model);
    sn_context_destroy(&f.ctx);
    end(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_on_as_if_it_had_not_stopped),
        cmocka_unit_test(grows_a_finished_run),
        cmocka_unit_test(writes_a_missing_page_again),
        cmocka_unit_test(thins_out_what_was_recorded_before),
        cmocka_unit_test(refuses_damaged_checkpoints),
        cmocka_unit_test(survives_forged_checkpoints),
        cmocka_unit_test(refuses_other_runs),
        cmocka_unit_test(refuses_damaged_results),
        cmocka_unit_test(says_where_there_is_nothing),
        cmocka_unit_test(goes_on_after_a_full_disk),
        cmocka_unit_test(survives_each_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
