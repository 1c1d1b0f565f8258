/// Unpacks what zlib packed: RFC 1950 (the frame) and RFC 1951 (the codes).
///
/// Only whole blocks of known size are unpacked, so that the output is the window and nothing is kept between
/// calls. Dictionaries, which no file format of ours uses, are refused.
#ifndef SN_IO_TEXT_INFLATE_H
#define SN_IO_TEXT_INFLATE_H

#include <stdbool.h>
#include <stddef.h>

/// Unpacks `size` bytes into exactly `out_size`. False if they are damaged or make more or less; `out` is
/// then undefined.
bool sn_inflate_zlib(const char *bytes, size_t size, char *out, size_t out_size);

#endif
