/// sinew-bench [NAME...] [--list] [--quick] [--only CASE] [--json FILE] [--threads N]
#include "bench.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Exit codes of the command line.
enum { EXIT_DONE = 0, EXIT_USAGE = 2, EXIT_INTERNAL = 3, EXIT_WRITE = 4 };

typedef struct bench {
    const char *name, *what;
    int32_t seconds, quick_seconds; ///< About, on 2 cores.
    bench_function *run;
    void (*list)(void);
} bench;

static const bench benches[] = {
    {"factor", "the partial factor on 15 matrices, 10 K to 500 K nodes, against CHOLMOD and MUMPS", 3600, 20,
     bench_factor, bench_factor_list},
    {"step", "an iteration by stage at 10 K, 100 K and 650 K tets with contact, all threads and one", 120, 15,
     bench_step, bench_step_list},
};
enum { BENCH_COUNT = sizeof benches / sizeof *benches };

typedef struct command {
    bench_options options;
    bool list;
    const char *json;
    bool chosen[BENCH_COUNT];
    bool any_chosen;
} command;

static int print_usage(FILE *file) {
    fprintf(file,
            "usage: sinew-bench [NAME...] [--list] [--quick] [--only CASE] [--json FILE] [--threads N]\n");
    return EXIT_USAGE;
}

static bool choose(command *c, const char *name) {
    for (int32_t i = 0; i < BENCH_COUNT; i++)
        if (strcmp(benches[i].name, name) == 0) {
            c->chosen[i] = c->any_chosen = true;
            return true;
        }
    fprintf(stderr, "sinew-bench: no bench is called '%s'; --list names them\n", name);
    return false;
}

static bool parse_threads(const char *text, int32_t *out_threads) {
    char *end = NULL;
    long threads = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || threads < 1 || threads > 256) {
        fprintf(stderr, "sinew-bench: --threads takes a number from 1 to 256, not '%s'\n", text);
        return false;
    }
    *out_threads = (int32_t)threads;
    return true;
}

static bool parse(int count, char **arguments, command *c) {
    for (int i = 1; i < count; i++) {
        const char *argument = arguments[i], *value = i + 1 < count ? arguments[i + 1] : NULL;
        if (strcmp(argument, "--list") == 0)
            c->list = true;
        else if (strcmp(argument, "--quick") == 0)
            c->options.quick = true;
        else if (strcmp(argument, "--json") == 0 && value)
            c->json = arguments[++i];
        else if (strcmp(argument, "--only") == 0 && value)
            c->options.only = arguments[++i];
        else if (strcmp(argument, "--threads") == 0 && value) {
            if (!parse_threads(arguments[++i], &c->options.threads))
                return false;
        } else if (argument[0] == '-') {
            fprintf(stderr, "sinew-bench: '%s' is unknown or lacks its value\n", argument);
            return false;
        } else if (!choose(c, argument))
            return false;
    }
    c->options.repetitions = c->options.quick ? 3 : 5;
    return true;
}

static void print_list(void) {
    for (int32_t i = 0; i < BENCH_COUNT; i++) {
        printf("%-10s %s (%d s, quick %d s)\n", benches[i].name, benches[i].what, (int)benches[i].seconds,
               (int)benches[i].quick_seconds);
        benches[i].list();
    }
}

int main(int count, char **arguments) {
    static bench_report report;
    command c = {.options.threads = omp_get_num_procs()};
    if (!parse(count, arguments, &c))
        return print_usage(stderr);
    if (c.list) {
        print_list();
        return EXIT_DONE;
    }
    double load = bench_load();
    bench_machine machine = bench_machine_measure(c.options.threads);
    c.options.read_bandwidth = machine.read_bandwidth;
    machine.load = load;
    printf("%s, %d cores; with %d threads %.1f GB/s read, %.1f GF/s matrix product\n", machine.cpu,
           (int)machine.cores, (int)c.options.threads, machine.read_bandwidth, machine.flops);
    if (load > 0.5)
        printf(
            "The machine was not idle (load average %.1f): trust ratios more than times, and neither much.\n",
            load);
    for (int32_t i = 0; i < BENCH_COUNT; i++)
        if ((c.chosen[i] || !c.any_chosen) && !benches[i].run(&c.options, &report))
            return EXIT_INTERNAL;
    if (c.options.only && report.count == 0) {
        fprintf(stderr, "sinew-bench: no case is called '%s'; --list names them, * stands for anything\n",
                c.options.only);
        return EXIT_USAGE;
    }
    if (c.json && !bench_json_write(c.json, &machine, &report)) {
        fprintf(stderr, "sinew-bench: %s could not be written\n", c.json);
        return EXIT_WRITE;
    }
    return EXIT_DONE;
}
