/// What the recorder hands to its writers at each frame.
#ifndef SN_IO_RECORDER_FRAME_H
#define SN_IO_RECORDER_FRAME_H

#include "sinew/io.h"

enum { SN_FIELD_COUNT = 2 };

/// Names and units of the recorded fields, by sn_quantity.
extern const char *const sn_quantity_names[SN_FIELD_COUNT];
extern const char *const sn_quantity_units[SN_FIELD_COUNT];

/// One frame of a run. Borrowed during the call.
typedef struct sn_frame_view {
    int32_t index; ///< 0: the start.
    const sn_state *state;
    const sn_step_info *info;            ///< NULL for the start.
    const double *field[SN_FIELD_COUNT]; ///< [node_count] by sn_quantity; NULL where not wanted.
} sn_frame_view;

/// Words of stats.jsonl and summary.json.
const char *sn_step_status_word(sn_step_status status);
const char *sn_stop_test_word(sn_stop_test test);

#endif
