#include "io/io_preview_png.h"

#include "io/io_recorder_file.h"

#include <png.h>

/// libpng's simple interface, which catches its jumps itself and returns.
sn_status sn_png_write(sn_context *ctx, const char *directory, const char *name, int32_t width,
                       int32_t height, const unsigned char *rgb) {
    sn_status status = SN_OK;
    unsigned char *bytes = NULL;
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)width,
                       .height = (png_uint_32)height,
                       .format = PNG_FORMAT_RGB};
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    SN_TRY_NEW(ctx, bytes, size);
    if (!png_image_write_to_memory(&image, bytes, &size, 0, rgb, 0, NULL))
        SN_TRY(sn_fail(ctx, SN_ERR_NO_MEMORY, "cannot make %s: libpng says: %s", name, image.message));
    SN_TRY(sn_output_write_whole(ctx, directory, name, bytes, size));
cleanup:
    png_image_free(&image);
    SN_RELEASE(ctx, bytes);
    return status;
}
