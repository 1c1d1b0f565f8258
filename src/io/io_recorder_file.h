/// Files that a run writes.
///
/// Two kinds. Whole files are written under a temporary name and renamed when complete, so that a reader
/// never sees half of one. Growing files carry their own name from the start and take whole records: what has
/// been written before a record that fails is cut off again, so a full disk leaves a valid file. Written
/// through descriptors, because stdio keeps unwritten bytes after an error and would write them later.
#ifndef SN_IO_RECORDER_FILE_H
#define SN_IO_RECORDER_FILE_H

#include "base/base_context.h"

#include <sys/types.h>

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

/// Opens the growing file directory/name again, cuts it to its first `size` bytes, which must be whole
/// records, and goes on behind them. @return SN_OK; SN_ERR_READ: it is missing or shorter than that;
/// SN_ERR_WRITE, SN_ERR_NO_MEMORY. On error the file is as it was and *output stays closed.
SN_NODISCARD sn_status sn_output_reopen(sn_context *ctx, const char *directory, const char *name,
                                        int64_t size, sn_output *output);
/// Tells whether sn_output_reopen() would find the file long enough, and changes nothing: for looking at all
/// files of a run before the first one is cut. @return SN_OK, SN_ERR_READ, SN_ERR_NO_MEMORY.
SN_NODISCARD sn_status sn_output_can_reopen(sn_context *ctx, const char *directory, const char *name,
                                            int64_t size);

/// Reads the first `size` bytes of directory/name, to see whether it is the file that it should be.
/// @return SN_OK; SN_ERR_READ: missing, unreadable or shorter; SN_ERR_NO_MEMORY.
SN_NODISCARD sn_status sn_output_read_start(sn_context *ctx, const char *directory, const char *name,
                                            void *bytes, size_t size);

/// Reads up to `size` bytes from a descriptor, in as many pieces as the system gives. Returns how many there
/// were: fewer at the end of the file; -1 with errno after a failure.
ssize_t sn_read_bytes(int descriptor, void *bytes, size_t size);

/// Appends bytes, text, or bytes as base64. Base64 runs over any number of calls until
/// sn_output_base64_end().
SN_NODISCARD sn_status sn_output_write(sn_output *output, const void *bytes, size_t size);
SN_NODISCARD sn_status sn_output_text(sn_output *output, const char *text);
SN_NODISCARD sn_status sn_output_format(sn_output *output, const char *format, ...) SN_PRINTF(2, 3);
/// Appends a finite number that reads back to the same bits, with a point whatever the locale says.
SN_NODISCARD sn_status sn_output_number(sn_output *output, double value);
SN_NODISCARD sn_status sn_output_base64(sn_output *output, const void *bytes, size_t size);
SN_NODISCARD sn_status sn_output_base64_end(sn_output *output);

/// Ends a record of a growing file: everything so far is handed to the system.
SN_NODISCARD sn_status sn_output_record(sn_output *output);
/// Replaces bytes that were written before, from byte `offset` of the file on.
SN_NODISCARD sn_status sn_output_rewrite(sn_output *output, int64_t offset, const void *bytes, size_t size);

/// Ends a record of a growing file with the data of a frame, then renews the header in front, which counts
/// frames: readers ignore data behind those that are announced.
SN_NODISCARD sn_status sn_output_frame(sn_output *output, const void *values, size_t size, const void *header,
                                       size_t header_size);
/// Closes the file; a whole one gets its name now. On failure a whole file is removed.
SN_NODISCARD sn_status sn_output_finish(sn_output *output);
/// Closes the file; a whole one is removed, a growing one keeps its whole records. Fine on a closed output.
void sn_output_abandon(sn_output *output);

/// Writes the whole file directory/name. @return SN_OK; SN_ERR_WRITE, SN_ERR_NO_MEMORY: the file is as it
/// was.
SN_NODISCARD sn_status sn_output_write_whole(sn_context *ctx, const char *directory, const char *name,
                                             const void *bytes, size_t size);

/// Joins directory and name with one slash.
SN_NODISCARD sn_status sn_path_join(sn_context *ctx, const char *directory, const char *name,
                                    char **out_path);

#endif
