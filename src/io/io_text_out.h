/// A text file that appears under its name only when it is complete.
#ifndef SN_IO_TEXT_OUT_H
#define SN_IO_TEXT_OUT_H

#include "io/io_text.h"

typedef struct sn_text_out {
    sn_context *ctx;
    const char *path; ///< Borrowed.
    char *temporary;  ///< Where the text goes until it is complete.
    void *file;       ///< FILE *
    sn_number_scope numbers;
} sn_text_out;

/// Opens a temporary file beside `path`.
SN_NODISCARD sn_status sn_text_out_open(sn_context *ctx, const char *path, sn_text_out *out);
/// Writes text; failures show in sn_text_out_commit().
void sn_text_out_print(sn_text_out *out, const char *format, ...) SN_PRINTF(2, 3);
/// Writes bytes as they are.
void sn_text_out_bytes(sn_text_out *out, const void *bytes, size_t size);
/// Writes a number in the byte order of nearly all machines, little endian.
void sn_text_out_i32(sn_text_out *out, int32_t value);
void sn_text_out_f64(sn_text_out *out, double value);
/// Writes a blank and the shorter of 15 or 17 digits that reads back to the same bits.
void sn_text_out_real(sn_text_out *out, double value);
/// Writes a name in which control characters and those of `forbidden` are replaced by '_'.
void sn_text_out_name(sn_text_out *out, const char *name, const char *forbidden);
/// Completes the file and gives it its name. @return SN_OK; SN_ERR_WRITE: the file of that name is as it was.
SN_NODISCARD sn_status sn_text_out_commit(sn_text_out *out);
/// Closes and removes what was not committed. Accepts one that was never opened (all zero).
void sn_text_out_close(sn_text_out *out);

#endif
