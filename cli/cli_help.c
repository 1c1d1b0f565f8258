#include "cli.h"

#include <stdio.h>
#include <string.h>

enum { COMMANDS_MAX = 64, COLUMN = 26 };

static void print_option(const cli_option *option) {
    char left[80];
    char letter[8] = "    ";
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, option->name, option->value ? " " : "",
             option->value ? option->value : "");
    printf("  %-*s  %s\n", COLUMN, left, option->help);
}

static void print_children(const cli_command *const *children) {
    for (; *children; children++) {
        printf("\n  sinew %s\n      %s\n", (*children)->usage, (*children)->summary);
        for (const cli_option *option = (*children)->options; option && option->name; option++) {
            fputs("    ", stdout);
            print_option(option);
        }
    }
}

void cli_print_help(const cli_command *command) {
    printf("usage: sinew %s\n\n%s\n", command->usage, command->summary);
    if (command->options)
        printf("\n");
    for (const cli_option *option = command->options; option && option->name; option++)
        print_option(option);
    if (command->children)
        print_children(command->children);
    if (command->print_more)
        command->print_more();
    if (command->details)
        printf("\n%s", command->details);
}

const cli_command *cli_find(const cli_command *const *commands, const char *prefix, const char *name) {
    const char *names[COMMANDS_MAX];
    int32_t count = 0;
    for (; commands[count] && count < COMMANDS_MAX; count++) {
        if (strcmp(commands[count]->name, name) == 0)
            return commands[count];
        names[count] = commands[count]->name;
    }
    const char *nearest = cli_nearest(name, count, names);
    if (nearest)
        cli_fail(CLI_USAGE, "unknown command \"%s%s\"; did you mean %s%s?", prefix, name, prefix, nearest);
    else
        cli_fail(CLI_USAGE, "unknown command \"%s%s\"; see: sinew help %s", prefix, name, prefix);
    return NULL;
}

static bool asks_for_help(int argc, char **argv) {
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

int cli_dispatch(const cli_command *const *commands, const char *prefix, int argc, char **argv) {
    const cli_command *command = cli_find(commands, prefix, argv[0]);
    if (!command)
        return CLI_USAGE;
    bool to_child = command->children && argc > 1 && argv[1][0] != '-';
    if (!to_child && asks_for_help(argc - 1, argv + 1)) {
        cli_print_help(command);
        return CLI_DONE;
    }
    return command->run(argc - 1, argv + 1);
}
