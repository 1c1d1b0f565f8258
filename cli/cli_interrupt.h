/// How a run is stopped from outside, and how it goes on.
#ifndef SINEW_CLI_INTERRUPT_H
#define SINEW_CLI_INTERRUPT_H

#include <stdbool.h>
#include <stddef.h>

/// From now on the first Ctrl-C (SIGINT) or SIGTERM is only noted, so that the frame can be finished; a
/// second one ends the program at once. A signal that the caller has switched off stays off.
void cli_interrupt_watch(void);
/// Whether the first one has come.
bool cli_interrupted(void);

/// The command that goes on with a run: "sinew run --resume SCENE ..." from the words behind "run", quoted
/// for a shell. Words that do not fit `size` become "...".
const char *cli_resume_command(int argc, char *const *argv, char *out, size_t size);

#endif
