#define _POSIX_C_SOURCE 200809L
#include "cli_progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { BAR_WIDTH = 30 };

double cli_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

cli_progress cli_progress_start(int32_t first, int32_t total, bool quiet) {
    const char *no_color = getenv("NO_COLOR");
    return (cli_progress){.quiet = quiet,
                          .terminal = isatty(STDERR_FILENO) != 0,
                          .color = !no_color || no_color[0] == '\0',
                          .first = first,
                          .total = total,
                          .start = cli_clock()};
}

static const char *status_word(sn_step_status status) {
    static const char *const words[] = {"converged", "budget", "stalled"};
    return words[status];
}

static void show_bar(const cli_progress *p, int32_t done, const sn_step_info *info, double left) {
    char bar[BAR_WIDTH + 1];
    int filled = (int)((int64_t)BAR_WIDTH * done / p->total);
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r%s[%s]%s frame %d of %d, %.0f ms, %s, %.0f s left \033[K", p->color ? "\033[36m" : "",
            bar, p->color ? "\033[0m" : "", done, p->total, info->ms.total, status_word(info->status), left);
    fflush(stderr);
}

void cli_progress_show(cli_progress *p, int32_t done, const sn_step_info *info) {
    if (p->quiet)
        return;
    double left = (cli_clock() - p->start) / (done - p->first) * (p->total - done);
    if (p->terminal) {
        show_bar(p, done, info, left);
        return;
    }
    int32_t tenth = (int32_t)((int64_t)10 * done / p->total);
    if (tenth == p->last_tenth && done != p->total)
        return;
    p->last_tenth = tenth;
    fprintf(stderr, "frame %d of %d, %.0f ms, %s, %.0f s left\n", done, p->total, info->ms.total,
            status_word(info->status), left);
}

void cli_progress_end(const cli_progress *p) {
    if (!p->quiet && p->terminal)
        fputc('\n', stderr);
}
