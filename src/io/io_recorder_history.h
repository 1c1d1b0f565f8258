/// checkpoint.frames: what is remembered of every frame of a run, so that a resumed run can finish as if it
/// had never stopped: lists of VTU files, the player, percentiles of times. A record a frame, as the machine
/// holds it; outside of checkpoint.bin, which is written anew every time.
#ifndef SN_IO_RECORDER_HISTORY_H
#define SN_IO_RECORDER_HISTORY_H

#include "io/io_recorder_file.h"
#include "io/io_recorder_frame.h"

#define SN_HISTORY_FILE "checkpoint.frames"

/// The growing file and the same in memory. All zero: closed.
typedef struct sn_history {
    sn_output output;
    sn_frame_record *record; ///< [count]
    size_t capacity;
    int32_t count; ///< Frames, with the start.
    uint64_t hash; ///< Of the records.
} sn_history;

SN_NODISCARD sn_status sn_history_open(sn_context *ctx, const char *directory, sn_history *history);
/// Reads the records of `count` frames and checks them. Changes no file. @return SN_OK; SN_ERR_READ: missing,
/// too short, or not the records with that hash; SN_ERR_NO_MEMORY. On error the history stays closed.
SN_NODISCARD sn_status sn_history_read(sn_context *ctx, const char *directory, int32_t count, uint64_t hash,
                                       sn_history *history);
/// Opens the file that has been read for further records. @return as sn_output_reopen().
SN_NODISCARD sn_status sn_history_reopen(sn_context *ctx, const char *directory, sn_history *history);
/// Adds a frame. On failure it is missing.
SN_NODISCARD sn_status sn_history_append(sn_history *history, const sn_frame_record *record);
/// Closes the file; the records stay.
SN_NODISCARD sn_status sn_history_finish(sn_history *history);
/// Closes the file and forgets the records. Fine on a closed history.
void sn_history_release(sn_context *ctx, sn_history *history);

#endif
