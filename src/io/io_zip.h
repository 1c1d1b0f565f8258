/// ZIP archives of files as they are, not compressed: what NPZ is made of. One file after the other, each of
/// a size that is known when it begins. With ZIP64 where 32 bits do not reach (APPNOTE.TXT 6.3.10, 4.3
/// to 4.5). All dates are the first that the format knows, so that equal content makes equal bytes.
#ifndef SN_IO_ZIP_H
#define SN_IO_ZIP_H

#include "io/io_recorder_file.h"

/// What the directory at the end tells of a file.
typedef struct sn_zip_entry {
    char *name;
    uint64_t offset, size;
    uint32_t crc;
} sn_zip_entry;

/// An archive being written. All zero: closed.
typedef struct sn_zip {
    sn_context *ctx; ///< NULL when closed.
    sn_output output;
    sn_zip_entry *entry; ///< [count]
    size_t count, capacity;
    uint64_t at, left; ///< Bytes written so far, and those that the file at hand still gets.
} sn_zip;

/// Opens the whole file directory/name. @return as sn_output_open().
SN_NODISCARD sn_status sn_zip_open(sn_context *ctx, const char *directory, const char *name, sn_zip *zip);
/// Begins a file of `size` bytes, which sn_zip_write() then gets, before the next one begins.
SN_NODISCARD sn_status sn_zip_begin(sn_zip *zip, const char *name, uint64_t size);
/// Appends to the file at hand.
SN_NODISCARD sn_status sn_zip_write(sn_zip *zip, const void *bytes, size_t size);
/// Writes the directory and gives the archive its name. On failure it is removed.
SN_NODISCARD sn_status sn_zip_finish(sn_zip *zip);
/// Removes an archive that was not finished. Fine on a closed one.
void sn_zip_abandon(sn_zip *zip);

#endif
