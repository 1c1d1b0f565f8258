/// Files that a run writes.
///
/// Two kinds. Whole files are written under a temporary name and renamed when complete, so that a reader
/// never sees half of one. Growing files carry their own name from the start and take whole records: what has
/// been written before a record that fails is cut off again, so a full disk leaves a valid file. Written
/// through descriptors, because stdio keeps unwritten bytes after an error and would write them later.
#ifndef SN_IO_RECORDER_FILE_H
#define SN_IO_RECORDER_FILE_H

#include "base/base_context.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "NPY, VTU and the player's data are written as the machine holds them, which must be little-endian"
#endif

typedef enum sn_output_kind { SN_OUTPUT_WHOLE = 0, SN_OUTPUT_GROWING = 1 } sn_output_kind;

/// A file being written. All zero: closed.
typedef struct sn_output {
    sn_context *ctx; ///< NULL when closed.
    int descriptor;
    char *path, *temporary; ///< `temporary` is NULL for growing files.
    unsigned char *buffer;
    size_t used;
    int64_t record_end;     ///< Size of a growing file up to its last whole record.
    unsigned char carry[3]; ///< Bytes that wait for a full base64 group.
    int32_t carry_count;
} sn_output;

/// Opens directory/name for writing. @return SN_OK; SN_ERR_WRITE, SN_ERR_NO_MEMORY: *output stays closed.
SN_NODISCARD sn_status sn_output_open(sn_context *ctx, const char *directory, const char *name,
                                      sn_output_kind kind, sn_output *output);

/// Appends bytes, text, or bytes as base64. Base64 runs over any number of calls until
/// sn_output_base64_end().
SN_NODISCARD sn_status sn_output_write(sn_output *output, const void *bytes, size_t size);
SN_NODISCARD sn_status sn_output_text(sn_output *output, const char *text);
SN_NODISCARD sn_status sn_output_format(sn_output *output, const char *format, ...) SN_PRINTF(2, 3);
SN_NODISCARD sn_status sn_output_base64(sn_output *output, const void *bytes, size_t size);
SN_NODISCARD sn_status sn_output_base64_end(sn_output *output);

/// Ends a record of a growing file: everything so far is handed to the system.
SN_NODISCARD sn_status sn_output_record(sn_output *output);
/// Replaces bytes at the start of a growing file.
SN_NODISCARD sn_status sn_output_rewrite_start(sn_output *output, const void *bytes, size_t size);

/// Closes the file; a whole one gets its name now. On failure a whole file is removed.
SN_NODISCARD sn_status sn_output_finish(sn_output *output);
/// Closes the file; a whole one is removed, a growing one keeps its whole records. Fine on a closed output.
void sn_output_abandon(sn_output *output);

/// Joins directory and name with one slash.
SN_NODISCARD sn_status sn_path_join(sn_context *ctx, const char *directory, const char *name,
                                    char **out_path);

#endif
