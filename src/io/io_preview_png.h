/// PNG files, by libpng.
#ifndef SN_IO_PREVIEW_PNG_H
#define SN_IO_PREVIEW_PNG_H

#include "base/base_context.h"

/// Writes directory/name: pixels [height, width, 3] in sRGB, upper row first.
/// @return SN_OK; SN_ERR_WRITE, SN_ERR_NO_MEMORY: the file is as it was.
SN_NODISCARD sn_status sn_png_write(sn_context *ctx, const char *directory, const char *name, int32_t width,
                                    int32_t height, const unsigned char *rgb);

#endif
