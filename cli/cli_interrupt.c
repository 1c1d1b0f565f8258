#define _POSIX_C_SOURCE 200809L
#include "cli_interrupt.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number) {
    (void)signal_number;
    interrupted = 1;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

static void watch(int signal_number) {
    // Interrupted calls are taken up again: only the loop over the frames looks at the flag.
    struct sigaction before, action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (sigaction(signal_number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(signal_number, &action, NULL);
}

void cli_interrupt_watch(void) {
    watch(SIGINT);
    watch(SIGTERM);
}

bool cli_interrupted(void) {
    return interrupted != 0;
}

/// Text that grows in place and is cut as a whole word.
typedef struct command_text {
    char *text;
    size_t size, length;
} command_text;

static void put_character(command_text *command, char c) {
    if (command->length + 1 < command->size)
        command->text[command->length] = c;
    command->length++;
}

static void put_text(command_text *command, const char *text) {
    for (; *text; text++)
        put_character(command, *text);
}

static bool is_plain(const char *word) {
    for (const char *c = word; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_@%+=:,./-", *c))
            return false;
    return *word != '\0';
}

/// A word as a shell has to get it.
static void put_word(command_text *command, const char *word) {
    put_character(command, ' ');
    if (is_plain(word)) {
        put_text(command, word);
        return;
    }
    put_character(command, '\'');
    for (const char *c = word; *c; c++)
        if (*c == '\'')
            put_text(command, "'\\''");
        else
            put_character(command, *c);
    put_character(command, '\'');
}

const char *cli_resume_command(int argc, char *const *argv, char *out, size_t size) {
    command_text command = {out, size, 0};
    size_t room_for_dots = size - sizeof " ...", whole = 0;
    put_text(&command, "sinew run --resume");
    for (int i = 0; i < argc; i++) {
        whole = command.length;
        if (strcmp(argv[i], "--overwrite") != 0 && strcmp(argv[i], "--resume") != 0)
            put_word(&command, argv[i]);
        if (command.length > room_for_dots) {
            command.length = whole;
            put_text(&command, " ...");
            break;
        }
    }
    out[command.length] = '\0';
    return out;
}
