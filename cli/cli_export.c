/// sinew export: results in the formats of other programs.
#include "cli.h"
#include "sinew/io.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run_export(int argc, char **argv);
static void print_formats(void);

typedef struct export_values {
    const char *format, *output, *body, *frames, *size;
    int32_t glb_targets, up; ///< 0: the library's default; index into ups
    bool quiet;
} export_values;

static const char *const ups[] = {"z", "y", NULL};

static const cli_option options[] = {
    {.name = "format",
     .letter = 'f',
     .kind = CLI_TEXT,
     .offset = offsetof(export_values, format),
     .value = "F[,F...]",
     .help = "what to write: one or more of the formats below"},
    {.name = "output",
     .letter = 'o',
     .kind = CLI_TEXT,
     .offset = offsetof(export_values, output),
     .value = "OUT",
     .help = "folder for the files (default: DIR/export)"},
    {.name = "body",
     .kind = CLI_TEXT,
     .offset = offsetof(export_values, body),
     .value = "NAME",
     .help = "one body only (default: all)"},
    {.name = "frames",
     .kind = CLI_TEXT,
     .offset = offsetof(export_values, frames),
     .value = "A:B:STEP",
     .help = "frames A to B, every STEP-th; 0 is the start, A alone one frame; parts may be left out: 10:, "
             "::5"},
    {.name = "glb-targets",
     .kind = CLI_INT,
     .offset = offsetof(export_values, glb_targets),
     .value = "N",
     .help = "morph targets of a .glb at most, 1 to 65535 (default 200): more frames are thinned out",
     .low = 1,
     .high = SN_EXPORT_MAX_TARGETS},
    {.name = "up",
     .kind = CLI_CHOICE,
     .offset = offsetof(export_values, up),
     .value = "z|y",
     .help = "axis that points up, for .glb, .usda and .png (default z)",
     .choices = ups},
    {.name = "size",
     .kind = CLI_TEXT,
     .offset = offsetof(export_values, size),
     .value = "WxH",
     .help = "pixels of a .png, such as 1280x720 (default 960x540), at most 8192x8192"},
    {.name = "quiet",
     .letter = 'q',
     .kind = CLI_FLAG,
     .offset = offsetof(export_values, quiet),
     .help = "errors only"},
    {.name = NULL}};

const cli_command cli_export_command = {
    .name = "export",
    .usage = "export DIR --format F[,F...] [-o OUT] [--body NAME] [--frames A:B:STEP]",
    .summary = "Writes the surfaces of a run in the formats of other programs.",
    .details = "DIR is a folder that sinew run filled, with output.npy (the default). Of a run that has not\n"
               "ended, the frames that are whole are written. docs/programs.md tells how to open the files.\n"
               "Tables are in DIR as CSV and JSON already: probes.csv, contacts.csv, stats.jsonl.\n",
    .print_more = print_formats,
    .options = options,
    .operand_min = 1,
    .operand_max = 1,
    .run = run_export};

/// One export as the command line wants it.
typedef struct export_job {
    sn_context *context;
    sn_results *results;
    sn_export_def def;
    const char *directory;
    const export_values *values;
} export_job;

static void print_formats(void) {
    const char *help = NULL;
    printf("\nformats:\n");
    for (int32_t i = 0; sn_export_format(i, &help); i++)
        printf("  %-4s  %s\n", sn_export_format(i, NULL), help);
}

// ---- Reading the options

/// Reads a part of A:B:STEP up to a colon or the end; an empty one leaves *out as it is.
static bool take_part(const char **at, int32_t *out) {
    char *end = NULL;
    if (**at == ':' || **at == '\0')
        return true;
    errno = 0;
    long value = **at >= '0' && **at <= '9' ? strtol(*at, &end, 10) : -1;
    if (value < 0 || value > INT32_MAX || errno)
        return false;
    *out = (int32_t)value;
    *at = end;
    return true;
}

static bool take_frames(const char *text, sn_export_def *def) {
    const char *at = text;
    if (!take_part(&at, &def->frame_first) || !*text)
        return false;
    if (!*at) {
        def->frame_last = def->frame_first;
        return true;
    }
    if (*at++ != ':' || !take_part(&at, &def->frame_last))
        return false;
    if (*at == ':') {
        at++;
        if (!take_part(&at, &def->frame_step) || def->frame_step < 1)
            return false;
    }
    return *at == '\0';
}

static bool take_size(const char *text, sn_export_def *def) {
    char *end = NULL;
    long width = *text >= '0' && *text <= '9' ? strtol(text, &end, 10) : 0;
    if (!end || *end != 'x' || end[1] < '0' || end[1] > '9')
        return false;
    long height = strtol(end + 1, &end, 10);
    if (*end || width < 1 || width > SN_EXPORT_MAX_PIXELS || height < 1 || height > SN_EXPORT_MAX_PIXELS)
        return false;
    def->png_width = (int32_t)width;
    def->png_height = (int32_t)height;
    return true;
}

static int make_def(const export_values *values, sn_export_def *def) {
    *def = sn_export_def_default();
    def->directory = values->output;
    def->body = values->body;
    def->y_up = values->up == 1;
    if (values->glb_targets)
        def->glb_targets = values->glb_targets;
    if (values->frames && !take_frames(values->frames, def))
        return cli_fail(
            CLI_USAGE,
            "--frames: found \"%s\", expected A:B:STEP with whole numbers from 0, STEP from 1, such "
            "as 0:100, ::2 or 12",
            values->frames);
    if (values->size && !take_size(values->size, def))
        return cli_fail(CLI_USAGE,
                        "--size: found \"%s\", expected WIDTHxHEIGHT in pixels, 1 to %d each, "
                        "such as 1280x720",
                        values->size, SN_EXPORT_MAX_PIXELS);
    return CLI_DONE;
}

static bool is_format(const char *name) {
    for (int32_t i = 0; sn_export_format(i, NULL); i++)
        if (strcmp(sn_export_format(i, NULL), name) == 0)
            return true;
    return false;
}

static int fail_format(const char *name) {
    enum { FORMATS_MAX = 32 };
    const char *names[FORMATS_MAX];
    char all[256] = "";
    int32_t count = 0;
    for (; count < FORMATS_MAX && sn_export_format(count, NULL); count++) {
        names[count] = sn_export_format(count, NULL);
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", count > 0 ? ", " : "", names[count]);
    }
    const char *nearest = cli_nearest(name, count, names);
    if (nearest)
        return cli_fail(CLI_USAGE, "--format: unknown format \"%s\"; did you mean %s?", name, nearest);
    return cli_fail(CLI_USAGE, "--format: unknown format \"%s\", expected one of %s", name, all);
}

/// Cuts the next name off a list with commas. False behind the last one.
static bool next_format(const char **list, char out[32]) {
    size_t length = strcspn(*list, ",");
    snprintf(out, 32, "%.*s", (int)(length < 32 ? length : 31), *list);
    bool there = **list != '\0';
    *list += length + ((*list)[length] == ',');
    return there;
}

/// Looks at all names before the first file is written.
static int check_formats(const char *list) {
    char name[32];
    if (!list || !*list)
        return cli_fail(CLI_USAGE, "--format is missing; usage: sinew %s", cli_export_command.usage);
    while (next_format(&list, name))
        if (!is_format(name))
            return fail_format(name);
    return CLI_DONE;
}

// ---- Exporting

static void warn_of_end(const export_job *job) {
    const sn_results_info info = sn_results_get_info(job->results);
    if (info.finished || job->values->quiet)
        return;
    if (info.frames_planned >= 0)
        cli_warn("%s: the run was stopped: it holds %d of %d frames and the start", job->directory,
                 info.frame_count - 1, info.frames_planned);
    else
        cli_warn("%s: the run has not ended: the start and %d whole frames are there", job->directory,
                 info.frame_count - 1);
}

static sn_status export_all(const export_job *job) {
    const char *list = job->values->format;
    char name[32];
    sn_status status = SN_OK;
    while (status == SN_OK && next_format(&list, name)) {
        int32_t files = 0;
        status = sn_results_export(job->results, name, &job->def, &files);
        if (status == SN_OK && !job->values->quiet)
            printf("%s: %d file%s in %s%s/\n", name, files, files == 1 ? "" : "s",
                   job->values->output ? job->values->output : job->directory,
                   job->values->output ? "" : "/export");
    }
    return status;
}

static int run_job(export_job *job) {
    sn_status status = sn_results_open(job->context, job->directory, &job->results);
    if (status == SN_OK) {
        warn_of_end(job);
        status = export_all(job);
    }
    int code = status < 0 ? cli_fail_status(job->context, status) : CLI_DONE;
    sn_results_close(&job->results);
    return code;
}

static int run_export(int argc, char **argv) {
    export_values values = {0};
    cli_list operands;
    int code = cli_parse(&cli_export_command, argc, argv, &values, &operands);
    if (code != CLI_DONE)
        return code;
    export_job job = {.directory = operands.item[0], .values = &values};
    if (values.output && !*values.output)
        return cli_fail(CLI_USAGE, "--output: found \"\", expected the name of a folder");
    code = check_formats(values.format);
    if (code == CLI_DONE)
        code = make_def(&values, &job.def);
    if (code == CLI_DONE)
        code = cli_context_create(0, values.quiet, false, &job.context);
    if (code == CLI_DONE)
        code = run_job(&job);
    sn_context_destroy(&job.context);
    return code;
}
