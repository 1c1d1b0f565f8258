#include "cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NAME = 64 };

static void print_line(const char *prefix, const char *format, va_list arguments) {
    fputs(prefix, stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

int cli_fail(int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_line("sinew: ", format, arguments);
    va_end(arguments);
    return code;
}

void cli_warn(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_line("sinew: warning: ", format, arguments);
    va_end(arguments);
}

int cli_code(sn_status status) {
    switch (status) {
    case SN_OK:
    case SN_NOT_CONVERGED:
    case SN_STALLED:
        return CLI_DONE;
    case SN_ERR_INVALID_ARGUMENT:
    case SN_ERR_NON_FINITE:
    case SN_ERR_NOT_POSITIVE_DEFINITE:
    case SN_ERR_READ:
    case SN_ERR_MESH:
    case SN_ERR_SCENE:
        // All arguments come from the user: from the command line, a scene or a mesh.
        return CLI_USAGE;
    case SN_ERR_WRITE:
        return CLI_WRITE;
    case SN_ERR_NO_MEMORY:
    case SN_ERR_INTERNAL:
        break;
    }
    return CLI_INTERNAL;
}

int cli_fail_status(const sn_context *context, sn_status status) {
    const char *message = sn_context_message(context);
    return cli_fail(cli_code(status), "%s", message[0] ? message : sn_status_name(status));
}

static void log_line(void *user, sn_log_level level, const char *message) {
    const bool *verbose = user;
    if (level == SN_LOG_WARNING)
        cli_warn("%s", message);
    else if (verbose)
        fprintf(stderr, "sinew: %s\n", message);
}

int cli_context_create(int32_t threads, bool quiet, bool verbose, sn_context **out_context) {
    static const bool yes = true;
    sn_context_def def = sn_context_def_default();
    def.thread_count = threads;
    def.log = quiet ? NULL : log_line;
    def.log_user = verbose ? (void *)&yes : NULL;
    sn_status status = sn_context_create(&def, out_context);
    if (status < 0)
        return cli_fail(CLI_INTERNAL, "the library could not be started: %s", sn_status_name(status));
    return CLI_DONE;
}

/// Edits (insert, delete, replace) that turn one name into the other; LONGEST_NAME if either
/// is longer than that.
static int32_t edit_distance(const char *a, const char *b) {
    int32_t row[LONGEST_NAME + 1];
    if (strlen(a) > LONGEST_NAME || strlen(b) > LONGEST_NAME)
        return LONGEST_NAME;
    int32_t rows = (int32_t)strlen(a), columns = (int32_t)strlen(b);
    for (int32_t j = 0; j <= columns; j++)
        row[j] = j;
    for (int32_t i = 1; i <= rows; i++) {
        int32_t diagonal = row[0];
        row[0] = i;
        for (int32_t j = 1; j <= columns; j++) {
            int32_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            int32_t shorter = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            row[j] = replaced < shorter ? replaced : shorter;
        }
    }
    return row[columns];
}

const char *cli_nearest(const char *word, int32_t count, const char *const *names) {
    const char *nearest = NULL;
    int32_t least = strlen(word) < LONGEST_NAME ? (int32_t)strlen(word) / 3 + 2 : 0;
    for (int32_t i = 0; i < count; i++) {
        int32_t distance = edit_distance(word, names[i]);
        if (distance < least && distance < (int32_t)strlen(names[i])) {
            least = distance;
            nearest = names[i];
        }
    }
    return nearest;
}
