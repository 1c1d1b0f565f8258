/// summary.json: the whole run in one object.
#ifndef SN_IO_RECORDER_SUMMARY_H
#define SN_IO_RECORDER_SUMMARY_H

#include "base/base_context.h"
#include "io/io_recorder_frame.h"

#define SN_SUMMARY_FILE "summary.json"

/// What the recorder knows about a run at its end.
typedef struct sn_run_summary {
    const sn_run_info *run;
    const char *precision; ///< NULL: not known.
    const sn_state *state;
    sn_run_totals totals;
    double ms_median, ms_p90; ///< A frame; NaN without frames.
} sn_run_summary;

/// Median and 90th percentile of the milliseconds a frame; NaN without frames. `record` [frame_count], the
/// first one is the start. @return SN_OK, SN_ERR_NO_MEMORY.
SN_NODISCARD sn_status sn_run_summary_times(sn_context *ctx, int32_t frame_count,
                                            const sn_frame_record *record, sn_run_summary *summary);
/// Writes directory/summary.json.
SN_NODISCARD sn_status sn_run_summary_write(sn_context *ctx, const char *directory,
                                            const sn_run_summary *summary);

#endif
