/// sinew bench: hands over to the program sinew-bench beside this one, which alone links the peers it
/// measures against and is built with an option (script/bench).
#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int run_bench(int argc, char **argv);

const cli_command cli_bench_command = {
    .name = "bench",
    .usage = "bench [NAME...] [--only CASE] [--list] [--quick] [--json FILE] [--threads N]",
    .summary = "Measures Sinew against its peers (needs sinew-bench; script/bench builds it).",
    .operand_min = 0,
    .operand_max = CLI_OPERANDS_MAX,
    .run = run_bench};

/// Path of sinew-bench in the folder that holds this program. Returns false if that folder is unknown.
static bool find_program(char *path, size_t size) {
    static const char name[] = "sinew-bench";
    ssize_t length = readlink("/proc/self/exe", path, size - sizeof name);
    if (length <= 0)
        return false;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash)
        return false;
    memcpy(slash + 1, name, sizeof name);
    return true;
}

static int run_bench(int argc, char **argv) {
    char path[4096], *arguments[CLI_LIST_MAX + 2];
    if (argc > CLI_LIST_MAX)
        return cli_fail(CLI_USAGE, "more than %d arguments", (int)CLI_LIST_MAX);
    if (!find_program(path, sizeof path))
        return cli_fail(CLI_INTERNAL,
                        "the folder of this program is unknown, so sinew-bench cannot be found");
    arguments[0] = path;
    for (int i = 0; i < argc; i++)
        arguments[i + 1] = argv[i];
    arguments[argc + 1] = NULL;
    fflush(stdout);
    execv(path, arguments);
    return cli_fail(CLI_USAGE, "%s: %s; build it with script/bench or -DSINEW_BUILD_BENCH=ON", path,
                    strerror(errno));
}
