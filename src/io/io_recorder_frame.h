/// What the recorder hands to its writers: a frame, and what is remembered of earlier ones.
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

/// What is remembered of a frame until the end of the run.
typedef struct sn_frame_record {
    double time, ms; ///< Of the state in s; spent on the frame, 0 for the start.
    int32_t status;  ///< sn_step_status; -1 for the start.
    int32_t iterations;
} sn_frame_record;

#endif
