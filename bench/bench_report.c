#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

double bench_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *times, int32_t count) {
    qsort(times, (size_t)count, sizeof *times, compare);
    return times[count / 2];
}

double bench_time(int32_t repetitions, bool (*run)(void *data), void *data) {
    double times[64];
    if (!run(data))
        return -1;
    for (int32_t i = 0; i < repetitions; i++) {
        double begin = bench_clock();
        if (!run(data))
            return -1;
        times[i] = 1e3 * (bench_clock() - begin);
    }
    return bench_median(times, repetitions);
}

bool bench_is_chosen(const bench_options *options, const char *name, bool is_quick) {
    if (options->only)
        return fnmatch(options->only, name, 0) == 0;
    return is_quick || !options->quick;
}

double bench_row_ratio(const bench_row *row) {
    return row->ours / row->peer;
}

bool bench_row_passes(const bench_row *row) {
    return bench_row_ratio(row) <= row->target;
}

void bench_report_add(bench_report *report, const bench_row *row) {
    if (report->count == BENCH_MAX_ROWS)
        return;
    report->rows[report->count++] = *row;
    printf("%-6s  %-20s %-22s %10.4g %s", row->bench, row->name, row->quantity, row->ours, row->unit);
    if (row->peer_name)
        printf("; %s %.4g, ratio %.3f", row->peer_name, row->peer, bench_row_ratio(row));
    if (row->target > 0)
        printf(" (at most %g) %s", row->target, bench_row_passes(row) ? "pass" : "FAIL");
    printf("%s%s\n", row->note[0] ? "; " : "", row->note);
    fflush(stdout);
}
