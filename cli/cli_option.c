#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 64 };

static int fail_unknown(const cli_command *command, const char *name, size_t length) {
    char word[80];
    const char *names[OPTIONS_MAX];
    int32_t count = 0;
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), name);
    for (const cli_option *option = command->options; option && option->name && count < OPTIONS_MAX; option++)
        names[count++] = option->name;
    const char *nearest = cli_nearest(word, count, names);
    if (nearest)
        return cli_fail(CLI_USAGE, "unknown option --%s; did you mean --%s?", word, nearest);
    return cli_fail(CLI_USAGE, "unknown option --%s; usage: sinew %s", word, command->usage);
}

static const cli_option *find_long(const cli_command *command, const char *name, size_t length) {
    for (const cli_option *option = command->options; option && option->name; option++)
        if (strlen(option->name) == length && memcmp(option->name, name, length) == 0)
            return option;
    return NULL;
}

static const cli_option *find_short(const cli_command *command, char letter) {
    for (const cli_option *option = command->options; option && option->name; option++)
        if (option->letter == letter)
            return option;
    return NULL;
}

static int set_int(const cli_option *option, const char *text, int32_t *out) {
    char *end = NULL;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < option->low || value > option->high)
        return cli_fail(CLI_USAGE, "--%s: found \"%s\", expected a whole number from %d to %d", option->name,
                        text, option->low, option->high);
    *out = (int32_t)value;
    return CLI_DONE;
}

static int set_vec3(const cli_option *option, const char *text, double out[3]) {
    const char *at = text;
    double value[3] = {0};
    for (int axis = 0; axis < 3; axis++) {
        char *end = NULL;
        value[axis] = strtod(at, &end);
        if (end == at || *end != (axis < 2 ? ',' : '\0') || !(value[axis] > 0) || !isfinite(value[axis]))
            return cli_fail(CLI_USAGE, "--%s: found \"%s\", expected x,y,z: three numbers above 0",
                            option->name, text);
        at = end + 1;
    }
    memcpy(out, value, sizeof value);
    return CLI_DONE;
}

static int set_choice(const cli_option *option, const char *text, int32_t *out) {
    int32_t count = 0;
    for (; option->choices[count]; count++)
        if (strcmp(option->choices[count], text) == 0) {
            *out = count;
            return CLI_DONE;
        }
    const char *nearest = cli_nearest(text, count, option->choices);
    if (nearest)
        return cli_fail(CLI_USAGE, "--%s: unknown value \"%s\"; did you mean %s?", option->name, text,
                        nearest);
    return cli_fail(CLI_USAGE, "--%s: unknown value \"%s\", expected %s", option->name, text, option->value);
}

static int add_to_list(const cli_option *option, const char *text, cli_list *list) {
    if (list->count == CLI_LIST_MAX)
        return cli_fail(CLI_USAGE, "--%s: given more than %d times", option->name, CLI_LIST_MAX);
    list->item[list->count++] = text;
    return CLI_DONE;
}

static int set_value(const cli_option *option, const char *text, void *values) {
    void *field = (char *)values + option->offset;
    switch (option->kind) {
    case CLI_FLAG:
        *(bool *)field = true;
        return CLI_DONE;
    case CLI_TEXT:
        *(const char **)field = text;
        return CLI_DONE;
    case CLI_INT:
        return set_int(option, text, field);
    case CLI_VEC3:
        return set_vec3(option, text, field);
    case CLI_CHOICE:
        return set_choice(option, text, field);
    case CLI_LIST:
        return add_to_list(option, text, field);
    }
    return CLI_INTERNAL;
}

/// Reads the option at argv[*index] and moves *index to its last word.
static int parse_option(const cli_command *command, int argc, char **argv, int *index, void *values) {
    const char *word = argv[*index], *value = NULL;
    const cli_option *option = NULL;
    if (word[1] == '-') {
        size_t length = strcspn(word + 2, "=");
        option = find_long(command, word + 2, length);
        if (!option)
            return fail_unknown(command, word + 2, length);
        if (word[2 + length] == '=')
            value = word + 3 + length;
    } else {
        option = find_short(command, word[1]);
        if (!option || (option->kind == CLI_FLAG && word[2]))
            return cli_fail(CLI_USAGE, "unknown option %s; usage: sinew %s", word, command->usage);
        value = word[2] ? word + 2 : NULL;
    }
    if (option->kind == CLI_FLAG)
        return value ? cli_fail(CLI_USAGE, "--%s takes no value", option->name)
                     : set_value(option, NULL, values);
    if (!value && *index + 1 < argc)
        value = argv[++*index];
    if (!value)
        return cli_fail(CLI_USAGE, "--%s needs a value: %s", option->name, option->value);
    return set_value(option, value, values);
}

int cli_parse(const cli_command *command, int argc, char **argv, void *values, cli_list *operands) {
    bool options_ended = false;
    operands->count = 0;
    for (int i = 0; i < argc; i++) {
        if (!options_ended && strcmp(argv[i], "--") == 0) {
            options_ended = true;
        } else if (!options_ended && argv[i][0] == '-' && argv[i][1]) {
            int code = parse_option(command, argc, argv, &i, values);
            if (code != CLI_DONE)
                return code;
        } else if (operands->count == command->operand_max || operands->count == CLI_LIST_MAX) {
            return cli_fail(CLI_USAGE, "unexpected \"%s\"; usage: sinew %s", argv[i], command->usage);
        } else {
            operands->item[operands->count++] = argv[i];
        }
    }
    if (operands->count < command->operand_min)
        return cli_fail(CLI_USAGE, "too few arguments; usage: sinew %s", command->usage);
    return CLI_DONE;
}
