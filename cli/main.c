#define _POSIX_C_SOURCE 200809L
#include "cli.h"
#include "sinew/sinew.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int run_help(int argc, char **argv);

typedef struct help_values {
    bool markdown;
} help_values;

static const cli_option help_options[] = {{.name = "markdown",
                                           .kind = CLI_FLAG,
                                           .offset = offsetof(help_values, markdown),
                                           .help = "writes the reference of the scene file as Markdown"},
                                          {.name = NULL}};

static const cli_command help_command = {.name = "help",
                                         .usage = "help [COMMAND|scene|materials] [--markdown]",
                                         .summary = "Explains a command, the scene file or the materials.",
                                         .options = help_options,
                                         .operand_max = 2,
                                         .run = run_help};

/// All commands, in the order of the help.
static const cli_command *const commands[] = {&cli_run_command,
                                              &cli_check_command,
                                              &cli_mesh_command,
                                              &cli_export_command,
                                              &cli_bench_command,
                                              &help_command,
                                              NULL};

static void print_overview(void) {
    printf("sinew %s: simulates elastic bodies\n\nusage: sinew COMMAND ...\n\n", sn_version());
    for (const cli_command *const *command = commands; *command; command++)
        printf("  %-8s  %s\n", (*command)->name, (*command)->summary);
    printf("\n  sinew help COMMAND     options of a command\n"
           "  sinew help scene       reference of the scene file\n"
           "  sinew help materials   materials and their parameters\n"
           "  sinew --version        version, and licenses of what the program links\n"
           "\nexit status: 0 done; 1 not good enough under --strict; 2 usage, scene or mesh error; 3 "
           "internal error;\n"
           "4 writing failed; 130 interrupted\n");
}

/// Finds "run" or "mesh lattice"; NULL after a message.
static const cli_command *find_topic(const cli_list *topics) {
    char prefix[32];
    const cli_command *command = cli_find(commands, "", topics->item[0]);
    if (!command || topics->count == 1 || !command->children)
        return command;
    snprintf(prefix, sizeof prefix, "%s ", command->name);
    return cli_find(command->children, prefix, topics->item[1]);
}

/// Prints one of the manuals that the library makes of its field tables.
static int print_manual(bool scene, bool markdown) {
    sn_context *context = NULL;
    char *text = NULL;
    int code = cli_context_create(1, false, false, &context);
    if (code != CLI_DONE)
        return code;
    sn_status status = scene ? sn_scene_manual(context, markdown ? SN_MANUAL_MARKDOWN : SN_MANUAL_TEXT, &text)
                             : sn_material_manual(context, &text);
    if (status < 0) {
        code = cli_fail_status(context, status);
    } else {
        fputs(text, stdout);
        sn_text_free(context, text);
    }
    sn_context_destroy(&context);
    return code;
}

static int run_help(int argc, char **argv) {
    cli_list topics;
    help_values values = {0};
    int code = cli_parse(&help_command, argc, argv, &values, &topics);
    if (code != CLI_DONE)
        return code;
    if (topics.count == 0) {
        print_overview();
        return CLI_DONE;
    }
    bool scene = strcmp(topics.item[0], "scene") == 0;
    if (scene || strcmp(topics.item[0], "materials") == 0)
        return print_manual(scene, values.markdown);
    const cli_command *command = find_topic(&topics);
    if (!command)
        return CLI_USAGE;
    cli_print_help(command);
    return CLI_DONE;
}

static int run(int argc, char **argv) {
    if (argc < 2) {
        print_overview();
        return cli_fail(CLI_USAGE, "no command given");
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("sinew %s\n\n%s", sn_version(), sn_version_licenses());
        return CLI_DONE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_overview();
        return CLI_DONE;
    }
    if (argv[1][0] == '-')
        return cli_fail(CLI_USAGE, "unknown option %s; see: sinew --help", argv[1]);
    return cli_dispatch(commands, "", argc - 1, argv + 1);
}

/// A standard stream that the caller has closed must not become the number of a file of results, or messages
/// would land in it. Opened for reading, so that writes fail as they should.
static void occupy_standard_streams(void) {
    for (int descriptor = 0; descriptor <= STDERR_FILENO; descriptor++)
        if (fcntl(descriptor, F_GETFD) == -1 && open("/dev/null", O_RDONLY) != descriptor)
            return;
}

int main(int argc, char **argv) {
    occupy_standard_streams();
    int code = run(argc, argv);
    errno = 0;
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == CLI_DONE)
        code = cli_fail(CLI_WRITE, "the output could not be written: %s",
                        errno ? strerror(errno) : "is the disk full, or the reader gone?");
    return code;
}
