/// What the benches share. A bench is one function that adds rows to a report and one line in the table of
/// bench_main.c.
#ifndef SN_BENCH_H
#define SN_BENCH_H

#include "sinew/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bench_options {
    bool quick;            ///< Smaller cases and fewer repetitions: all benches together end within a minute.
    int32_t threads;       ///< Threads of Sinew, and the most a peer may use.
    int32_t repetitions;   ///< Odd; the median counts.
    double read_bandwidth; ///< GB/s of the machine with these threads.
    const char *only;      ///< Pattern of the cases to run, as the shell has them; NULL: all.
} bench_options;

/// One measured quantity. Smaller is better for `ours` and `peer` alike.
typedef struct bench_row {
    const char *bench;
    char name[40], quantity[24];
    const char *unit;
    double ours;
    const char *peer_name; ///< A program, or "published" or "goal"; NULL: nothing to compare with.
    double peer;
    double target; ///< Largest ratio that passes; 0: none.
    char note[192];
} bench_row;

enum { BENCH_MAX_ROWS = 1024 };

typedef struct bench_report {
    bench_row rows[BENCH_MAX_ROWS];
    int32_t count;
} bench_report;

/// Runs one bench. Returns false, after a line on stderr, if it could not measure.
typedef bool bench_function(const bench_options *options, bench_report *report);

bench_function bench_factor;
bench_function bench_step;

/// Prints the names of a bench's cases, one a line.
void bench_factor_list(void);
void bench_step_list(void);

/// Whether a case of a bench is to run: named by --only or, without it, quick or not as asked.
bool bench_is_chosen(const bench_options *options, const char *name, bool is_quick);

/// Adds a row and prints it.
void bench_report_add(bench_report *report, const bench_row *row);
double bench_row_ratio(const bench_row *row);
bool bench_row_passes(const bench_row *row);

/// What the numbers were measured on.
typedef struct bench_machine {
    char cpu[128];
    int32_t cores;
    double read_bandwidth; ///< GB/s, all threads
    double flops;          ///< GF/s of a double matrix product, all threads
    double load;           ///< Load average before the benches; negative if unknown
} bench_machine;
bench_machine bench_machine_measure(int32_t threads);

/// Writes the report in the format of `sinew bench --json`. Returns false if the file cannot be written.
bool bench_json_write(const char *path, const bench_machine *machine, const bench_report *report);

/// Average number of running threads of the whole machine in the last minute before the bench began; negative
/// if it is unknown. Above about 0.5 the machine was not idle.
double bench_load(void);

/// Seconds on a clock that never goes back.
double bench_clock(void);

/// Median of `count` times, which are reordered.
double bench_median(double *times, int32_t count);

/// Calls `run` once to warm up, then `repetitions` times; returns the median time in ms, or a negative number
/// as soon as a call returns false.
double bench_time(int32_t repetitions, bool (*run)(void *data), void *data);

/// The same for a peer, whose threads are those of OpenBLAS: with 1 thread or, if that is faster, with all
/// but 2 at most.
double bench_peer_time(const bench_options *options, bool (*run)(void *data), void *data);

#endif
