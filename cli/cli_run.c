/// sinew run: steps a scene and records frames, statistics and the player.
#include "cli_progress.h"
#include "cli_simulation.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static int run_run(int argc, char **argv);

typedef struct run_values {
    const char *output;
    int32_t frames, threads; ///< 0: as the scene says; all
    cli_list set;
    bool overwrite, strict, quiet, verbose;
} run_values;

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
     .high = 1000000000},
    {.name = "threads",
     .kind = CLI_INT,
     .offset = offsetof(run_values, threads),
     .value = "N",
     .help = "threads (default: all; results are the same for any number)",
     .low = 1,
     .high = 256},
    {.name = "set",
     .kind = CLI_LIST,
     .offset = offsetof(run_values, set),
     .value = "KEY=VALUE",
     .help = "overrides a value of the scene by its path, such as solver.iterations=30; may be repeated"},
    {.name = "overwrite",
     .kind = CLI_FLAG,
     .offset = offsetof(run_values, overwrite),
     .help = "replaces the results of an earlier run in the same folder"},
    {.name = "strict",
     .kind = CLI_FLAG,
     .offset = offsetof(run_values, strict),
     .help = "exit 1 if a frame stalled, missed its tolerance or left inverted elements"},
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
    .usage =
        "run SCENE [-o DIR] [--frames N] [--threads N] [--set KEY=VALUE]... [--overwrite] [--strict] [-q|-v]",
    .summary = "Steps a scene; writes frames, stats.jsonl, summary.json and player.html.",
    .options = options,
    .operand_min = 1,
    .operand_max = 1,
    .run = run_run};

/// Set by the first Ctrl-C: the current frame is finished and the results are closed.
static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number) {
    interrupted = 1;
    signal(signal_number, SIG_DFL); // a second one ends the program at once
}

/// What a whole run adds up to.
typedef struct run_totals {
    int32_t frames, stalled, over_budget, inverted_frames;
} run_totals;

static void count_frame(run_totals *totals, const sn_step_info *info, double tolerance) {
    totals->frames++;
    totals->stalled += info->status == SN_STEP_STALLED;
    totals->over_budget += info->status == SN_STEP_BUDGET && tolerance > 0;
    totals->inverted_frames += info->inverted > 0;
}

/// All substeps of a frame, their infos summed.
static sn_status step_frame(const cli_simulation *s, const sn_time_def *time, sn_step_info *out_info) {
    sn_step_info frame = {0};
    for (int32_t k = 0; k < time->substeps; k++) {
        sn_step_info info = {0};
        sn_status status = sn_step(s->stepper, s->state, time->frame_seconds / time->substeps, &info);
        if (status < 0)
            return status;
        if (k == 0)
            frame = info;
        else
            sn_step_info_add(&frame, &info);
    }
    *out_info = frame;
    return SN_OK;
}

/// Steps and records until the end, an interrupt or a failure. A failed step ends the run, and its message is
/// printed, but what is recorded so far is worth keeping: *out_step_code.
static sn_status record_frames(const cli_simulation *s, sn_recorder *recorder, const sn_time_def *time,
                               const run_values *values, run_totals *totals, int *out_step_code) {
    double tolerance = sn_scene_stepper(s->scene).solver.tolerance;
    cli_progress progress = cli_progress_start(time->frames, values->quiet);
    sn_status status = sn_recorder_frame(recorder, s->state, NULL), step = SN_OK;
    while (status >= 0 && totals->frames < time->frames && !interrupted) {
        sn_step_info info;
        step = step_frame(s, time, &info);
        if (step < 0)
            break;
        count_frame(totals, &info, tolerance);
        status = sn_recorder_frame(recorder, s->state, &info);
        cli_progress_show(&progress, totals->frames, &info);
    }
    cli_progress_end(&progress);
    if (step < 0)
        *out_step_code =
            cli_fail(cli_code(step), "frame %d: %s", totals->frames + 1, sn_context_message(s->context));
    return status;
}

static int step_all(const cli_simulation *s, sn_recorder *recorder, const sn_time_def *time,
                    const run_values *values, run_totals *totals) {
    int step_code = CLI_DONE;
    sn_status status = record_frames(s, recorder, time, values, totals, &step_code);
    if (status >= 0)
        status = sn_recorder_finish(recorder, s->state);
    return status < 0 ? cli_fail_status(s->context, status) : step_code;
}

/// "examples/arm.yaml" -> "arm.out".
static void default_output(const char *scene, char *out, size_t size) {
    const char *slash = strrchr(scene, '/');
    const char *name = slash ? slash + 1 : scene;
    const char *dot = strrchr(name, '.');
    int length = dot && dot != name ? (int)(dot - name) : (int)strlen(name);
    snprintf(out, size, "%.*s.out", length, name);
}

static void print_totals(const run_totals *totals, const char *folder, const sn_output_def *output,
                         double seconds) {
    printf("%d frames in %.1f s; results in %s/\n", totals->frames, seconds, folder);
    if (totals->over_budget)
        printf("%d frames ended with the iteration budget before the tolerance was met\n",
               totals->over_budget);
    if (totals->stalled)
        printf("%d frames stalled\n", totals->stalled);
    if (totals->inverted_frames)
        printf("%d frames have inverted elements\n", totals->inverted_frames);
    if (output->player)
        printf("look at it:  %s/player.html\n", folder);
    printf("the numbers: %s/stats.jsonl, %s/summary.json\n", folder, folder);
}

static int record_run(const cli_simulation *s, const char *scene_path, const run_values *values,
                      const char *folder, double start) {
    sn_time_def time = sn_scene_time(s->scene);
    if (values->frames)
        time.frames = values->frames;
    sn_output_def output = sn_scene_output(s->scene);
    sn_run_info run = {.scene_path = scene_path,
                       .setup_seconds = cli_clock() - start,
                       .frame_seconds = time.frame_seconds,
                       .frame_total = time.frames};
    sn_recorder *recorder = NULL;
    sn_status status =
        sn_recorder_create(s->context, s->model, folder, values->overwrite, &output, &run, &recorder);
    if (status < 0)
        return cli_fail_status(s->context, status);
    run_totals totals = {0};
    signal(SIGINT, on_interrupt);
    int code = step_all(s, recorder, &time, values, &totals);
    sn_recorder_destroy(&recorder);
    if (code != CLI_DONE)
        return code;
    if (!values->quiet)
        print_totals(&totals, folder, &output, cli_clock() - start);
    if (interrupted)
        return cli_fail(CLI_INTERRUPTED, "interrupted after frame %d; the results so far are complete",
                        totals.frames);
    bool flawed = totals.stalled || totals.over_budget || totals.inverted_frames;
    return values->strict && flawed ? CLI_STRICT : CLI_DONE;
}

static int run_run(int argc, char **argv) {
    run_values values = {0};
    cli_list operands;
    int code = cli_parse(&cli_run_command, argc, argv, &values, &operands);
    if (code != CLI_DONE)
        return code;
    if (values.output && !*values.output)
        return cli_fail(CLI_USAGE, "--output: found \"\", expected the name of a folder");
    char folder[4096];
    if (!values.output)
        default_output(operands.item[0], folder, sizeof folder);
    double start = cli_clock();
    cli_simulation simulation;
    code = cli_simulation_open(&simulation, operands.item[0], &values.set, values.threads, values.quiet,
                               values.verbose);
    if (code == CLI_DONE)
        code =
            record_run(&simulation, operands.item[0], &values, values.output ? values.output : folder, start);
    cli_simulation_close(&simulation);
    return code;
}
