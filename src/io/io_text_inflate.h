/// Unpacks what zlib packed, with zlib.
#ifndef SN_IO_TEXT_INFLATE_H
#define SN_IO_TEXT_INFLATE_H

#include "base/base_context.h"

/// Unpacks `size` bytes into exactly `out_size`. *out_whole tells whether that went well; false: they are
/// damaged, or make more or less, and `out` is undefined.
/// @return SN_OK; SN_ERR_NO_MEMORY for the window of zlib, which the context lends.
SN_NODISCARD sn_status sn_inflate_zlib(sn_context *ctx, const char *bytes, size_t size, char *out,
                                       size_t out_size, bool *out_whole);

#endif
