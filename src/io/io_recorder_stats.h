/// stats.jsonl: a line a frame about how its steps went.
#ifndef SN_IO_RECORDER_STATS_H
#define SN_IO_RECORDER_STATS_H

#include "io/io_json.h"
#include "io/io_recorder_file.h"
#include "io/io_recorder_frame.h"

#define SN_STATS_FILE "stats.jsonl"

typedef struct sn_run_stats {
    sn_output output;
    sn_json line; ///< The current one.
    int32_t obstacle_count;
    int32_t *obstacle; ///< [obstacle_count] shapes that take part in contact, ascending
} sn_run_stats;

/// Prepares, and touches no file. On failure sn_run_stats_release() is due all the same.
SN_NODISCARD sn_status sn_run_stats_init(sn_run_stats *stats, sn_context *ctx, const sn_model *model);
SN_NODISCARD sn_status sn_run_stats_open(sn_run_stats *stats, const char *directory);
/// Opens the file again, cut back to `size` bytes. @return as sn_output_reopen().
SN_NODISCARD sn_status sn_run_stats_reopen(sn_run_stats *stats, const char *directory, int64_t size);
/// Bytes of whole lines so far.
int64_t sn_run_stats_size(const sn_run_stats *stats);
/// Adds the line of a frame with info. On failure it is missing.
SN_NODISCARD sn_status sn_run_stats_frame(sn_run_stats *stats, const sn_frame_view *frame);
SN_NODISCARD sn_status sn_run_stats_finish(sn_run_stats *stats);
/// Closes the file, which keeps its lines.
void sn_run_stats_release(sn_run_stats *stats);

/// Words of stats.jsonl and summary.json.
const char *sn_step_status_word(sn_step_status status);
const char *sn_stop_test_word(sn_stop_test test);

#endif
