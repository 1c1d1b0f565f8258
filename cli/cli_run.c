/// sinew run: steps a scene and records frames, statistics and the player.
#include "cli_interrupt.h"
#include "cli_progress.h"
#include "cli_simulation.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int run_run(int argc, char **argv);

typedef struct run_values {
    const char *output;
    int32_t frames, threads; ///< 0: as the scene says; all
    int32_t precision;       ///< Index into precisions; -1: as the scene says.
    cli_list set;
    bool resume, overwrite, strict, quiet, verbose;
} run_values;

static const char *const precisions[] = {"fast", "accurate", NULL};
static const char *const precision_overrides[] = {"precision=fast", "precision=accurate"};

static const cli_option options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = CLI_TEXT,
     .offset = offsetof(run_values, output),
     .value = "DIR",
     .help = "folder for the results (default: the scene's name with .out)"},
    {.name = "frames",
     .kind = CLI_INT,
     .offset = offsetof(run_values, frames),
     .value = "N",
     .help = "number of frames instead of the scene's",
     .low = 1,
     .high = 10000000},
    {.name = "threads",
     .kind = CLI_INT,
     .offset = offsetof(run_values, threads),
     .value = "N",
     .help = "threads (default: all; results are the same for any number)",
     .low = 1,
     .high = 256},
    {.name = "precision",
     .kind = CLI_CHOICE,
     .offset = offsetof(run_values, precision),
     .value = "fast|accurate",
     .help = "numbers inside a step, instead of the scene's precision (sinew help scene)",
     .choices = precisions},
    {.name = "set",
     .kind = CLI_LIST,
     .offset = offsetof(run_values, set),
     .value = "KEY=VALUE",
     .help = "overrides a value of the scene by its path, such as solver.iterations=30; may be repeated"},
    {.name = "resume",
     .kind = CLI_FLAG,
     .offset = offsetof(run_values, resume),
     .help = "goes on from the checkpoint of an earlier run in the same folder, as if it had not stopped "
             "(--frames may grow); begins where there is none, or an empty folder"},
    {.name = "overwrite",
     .kind = CLI_FLAG,
     .offset = offsetof(run_values, overwrite),
     .help = "replaces the results of an earlier run in the same folder"},
    {.name = "strict",
     .kind = CLI_FLAG,
     .offset = offsetof(run_values, strict),
     .help = "exit 1 if a frame stalled, missed its tolerance, dropped contacts or left inverted elements"},
    {.name = "quiet",
     .letter = 'q',
     .kind = CLI_FLAG,
     .offset = offsetof(run_values, quiet),
     .help = "errors only"},
    {.name = "verbose",
     .letter = 'v',
     .kind = CLI_FLAG,
     .offset = offsetof(run_values, verbose),
     .help = "also what is going on"},
    {.name = NULL}};

const cli_command cli_run_command = {
    .name = "run",
    .usage = "run SCENE [-o DIR] [--frames N] [--threads N] [--precision fast|accurate] [--set KEY=VALUE]... "
             "[--resume|--overwrite] [--strict] [-q|-v]",
    .summary = "Steps a scene; writes frames, stats.jsonl, summary.json and player.html.",
    .details =
        "Ctrl-C ends the run after the frame, with a checkpoint; --resume goes on from it, also after a "
        "kill.\n",
    .options = options,
    .operand_min = 1,
    .operand_max = 1,
    .run = run_run};

/// A run as the command line wants it.
typedef struct run_job {
    const char *scene_path, *folder, *resume_command;
    const run_values *values;
    sn_time_def time;
    sn_output_def output;
    double start; ///< Of the program, on cli_clock().
    cli_simulation *simulation;
    sn_recorder *recorder;
    sn_state *backup; ///< The last whole frame, for frames of several steps.
} run_job;

/// All substeps of a frame, their infos summed. If one fails, the state is that of the last frame.
static sn_status step_frame(const run_job *job, sn_step_info *out_info) {
    const cli_simulation *s = job->simulation;
    sn_step_info frame = {0};
    sn_status status = sn_state_copy(job->backup, s->state);
    for (int32_t k = 0; k < job->time.substeps && status >= 0; k++) {
        sn_step_info info = {0};
        status = sn_step(s->stepper, s->state, job->time.frame_seconds / job->time.substeps, &info);
        if (k == 0)
            frame = info;
        else
            sn_step_info_add(&frame, &info);
    }
    if (status >= 0)
        *out_info = frame;
    else if (sn_state_copy(s->state, job->backup) < 0)
        return SN_ERR_INTERNAL;
    return status;
}

/// Steps and records until the end, an interrupt or a failure. A failed step ends the run, and its message is
/// printed, but what is recorded so far is worth keeping: *out_step_code.
static sn_status record_frames(const run_job *job, int32_t done, int *out_step_code) {
    cli_progress progress = cli_progress_start(done, job->time.frames, job->values->quiet);
    sn_status status = SN_OK, step = SN_OK;
    for (; status >= 0 && done < job->time.frames && !cli_interrupted(); done++) {
        sn_step_info info;
        step = step_frame(job, &info);
        if (step < 0)
            break;
        status = sn_recorder_frame(job->recorder, job->simulation->state, &info);
        cli_progress_show(&progress, done + 1, &info);
    }
    cli_progress_end(&progress);
    if (step < 0)
        *out_step_code =
            cli_fail(cli_code(step), "frame %d: %s", done + 1, sn_context_message(job->simulation->context));
    return status;
}

/// Says how to go on with a run whose files could not be written.
static int fail_recording(const run_job *job, sn_status status) {
    int code = cli_fail_status(job->simulation->context, status);
    // The start has its checkpoint before the first frame is counted.
    if (code == CLI_WRITE && job->output.checkpoint_every > 0 && sn_recorder_totals(job->recorder).frames > 0)
        fprintf(stderr, "sinew: what was recorded before is kept; once it can be written, go on with: %s\n",
                job->resume_command);
    return code;
}

/// Whether there is nothing that a run could have left. What cannot be read is not empty.
static bool is_empty_folder(const char *path) {
    DIR *folder = opendir(path);
    if (!folder)
        return errno == ENOENT;
    int32_t entries = 0;
    while (entries <= 2 && readdir(folder)) // "." and ".."
        entries++;
    closedir(folder);
    return entries <= 2;
}

/// Opens the recorder, on the start or, to go on, on the last checkpoint; *out_done: frames done.
static int open_recorder(run_job *job, int32_t *out_done) {
    const cli_simulation *s = job->simulation;
    const sn_stepper_def stepper = sn_scene_stepper(s->scene);
    const sn_run_info run = {.scene_path = job->scene_path,
                             .setup_seconds = cli_clock() - job->start,
                             .frame_seconds = job->time.frame_seconds,
                             .frame_total = job->time.frames,
                             .substeps = job->time.substeps,
                             .stepper = &stepper};
    sn_status status = sn_state_create(s->model, &job->backup);
    if (status < 0)
        return cli_fail_status(s->context, status);
    if (job->values->resume && !is_empty_folder(job->folder)) {
        status = sn_recorder_resume(s->context, s->model, job->folder, &job->output, &run, s->state, out_done,
                                    &job->recorder);
        return status < 0 ? cli_fail_status(s->context, status) : CLI_DONE;
    }
    status = sn_recorder_create(s->context, s->model, job->folder, job->values->overwrite, &job->output, &run,
                                &job->recorder);
    if (status < 0)
        return cli_fail_status(s->context, status);
    status = sn_recorder_frame(job->recorder, s->state, NULL);
    return status < 0 ? fail_recording(job, status) : CLI_DONE;
}

static int step_all(const run_job *job, int32_t done) {
    int step_code = CLI_DONE;
    sn_status status = record_frames(job, done, &step_code);
    if (status >= 0)
        status = sn_recorder_finish(job->recorder, job->simulation->state);
    return status < 0 ? fail_recording(job, status) : step_code;
}

/// "examples/arm.yaml" -> "arm.out".
static void default_output(const char *scene, char *out, size_t size) {
    const char *slash = strrchr(scene, '/');
    const char *name = slash ? slash + 1 : scene;
    const char *dot = strrchr(name, '.');
    int length = dot && dot != name ? (int)(dot - name) : (int)strlen(name);
    snprintf(out, size, "%.*s.out", length, name);
}

static const char *plural(int32_t count) {
    return count == 1 ? "" : "s";
}

static void print_totals(const run_job *job, const sn_run_totals *totals, int32_t done, bool asked) {
    int32_t now = totals->frames - done;
    if (now == 0 && totals->frames >= job->time.frames && done > 0)
        printf("%s/ is complete: it holds all %d frame%s already\n", job->folder, done, plural(done));
    else if (done > 0)
        printf("%d frame%s in %.1f s, %d in all; results in %s/\n", now, plural(now),
               cli_clock() - job->start, totals->frames, job->folder);
    else
        printf("%d frame%s in %.1f s; results in %s/\n", now, plural(now), cli_clock() - job->start,
               job->folder);
    if (totals->budget && asked)
        printf("%d frame%s ended with the iteration budget before the tolerance was met (allow more: "
               "solver.iterations)\n",
               totals->budget, plural(totals->budget));
    if (totals->stalled)
        printf("%d frame%s stalled\n", totals->stalled, plural(totals->stalled));
    if (totals->inverted)
        printf("%d frame%s with inverted elements\n", totals->inverted, plural(totals->inverted));
    if (totals->dropped)
        printf("%d frame%s dropped contacts\n", totals->dropped, plural(totals->dropped));
    if (job->output.player)
        printf("look at it:  %s/player.html\n", job->folder);
    printf("the numbers: %s/stats.jsonl, %s/summary.json\n", job->folder, job->folder);
}

static int report_run(const run_job *job, int32_t done) {
    sn_run_totals totals = sn_recorder_totals(job->recorder);
    bool asked = sn_scene_stepper(job->simulation->scene).solver.tolerance > 0;
    if (!job->values->quiet)
        print_totals(job, &totals, done, asked);
    if (totals.frames < job->time.frames)
        return cli_fail(CLI_INTERRUPTED, "interrupted after frame %d of %d; go on with: %s", totals.frames,
                        job->time.frames, job->resume_command);
    bool flawed = totals.stalled || (totals.budget && asked) || totals.inverted || totals.dropped;
    return job->values->strict && flawed ? CLI_STRICT : CLI_DONE;
}

static int record_run(run_job *job) {
    job->time = sn_scene_time(job->simulation->scene);
    job->output = sn_scene_output(job->simulation->scene);
    if (job->values->frames)
        job->time.frames = job->values->frames;
    cli_interrupt_watch();
    int32_t done = 0;
    int code = open_recorder(job, &done);
    if (code == CLI_DONE)
        code = step_all(job, done);
    if (code == CLI_DONE)
        code = report_run(job, done);
    sn_recorder_destroy(&job->recorder);
    sn_state_destroy(&job->backup);
    return code;
}

static int run_run(int argc, char **argv) {
    run_values values = {.precision = -1};
    cli_list operands;
    int code = cli_parse(&cli_run_command, argc, argv, &values, &operands);
    if (code != CLI_DONE)
        return code;
    if (values.output && !*values.output)
        return cli_fail(CLI_USAGE, "--output: found \"\", expected the name of a folder");
    if (values.resume && values.overwrite)
        return cli_fail(CLI_USAGE,
                        "--resume and --overwrite: found both, expected one: to go on with the run "
                        "in the folder, or to begin anew");
    // The last word on a value wins.
    if (values.precision >= 0 && values.set.count < CLI_LIST_MAX)
        values.set.item[values.set.count++] = precision_overrides[values.precision];
    char folder[4096], command[4096];
    if (!values.output)
        default_output(operands.item[0], folder, sizeof folder);
    cli_simulation simulation;
    run_job job = {.scene_path = operands.item[0],
                   .folder = values.output ? values.output : folder,
                   .resume_command = cli_resume_command(argc, argv, command, sizeof command),
                   .values = &values,
                   .start = cli_clock(),
                   .simulation = &simulation};
    code = cli_simulation_open(&simulation, operands.item[0], &values.set, values.threads, values.quiet,
                               values.verbose);
    if (code == CLI_DONE)
        code = record_run(&job);
    cli_simulation_close(&simulation);
    return code;
}
