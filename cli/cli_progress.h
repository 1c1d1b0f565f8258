/// Progress of a run on stderr: a bar with the time left on a terminal, a line every tenth otherwise.
#ifndef SINEW_CLI_PROGRESS_H
#define SINEW_CLI_PROGRESS_H

#include "sinew/step.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct cli_progress {
    bool quiet, terminal, color;
    int32_t first, total, last_tenth;
    double start; ///< s on the monotonic clock
} cli_progress;

/// `first` of the `total` frames are there already.
cli_progress cli_progress_start(int32_t first, int32_t total, bool quiet);
/// Shows that `done` frames are ready.
void cli_progress_show(cli_progress *progress, int32_t done, const sn_step_info *info);
/// Ends the bar's line.
void cli_progress_end(const cli_progress *progress);

/// Seconds on a clock that never goes back.
double cli_clock(void);

#endif
