#include "io/io_text_inflate.h"

#include <stdint.h>
#include <zlib.h>

static void *lend(void *user, uInt count, uInt size) {
    void *memory = NULL;
    return sn_new(user, count, size, &memory) < 0 ? NULL : memory;
}

static void take_back(void *user, void *memory) {
    sn_release(user, memory);
}

/// Takes as much as zlib, which counts in 32 bits, can be told of at once.
static uInt take_piece(size_t *left) {
    uInt piece = *left < UINT32_MAX ? (uInt)*left : UINT32_MAX;
    *left -= piece;
    return piece;
}

static int inflate_pieces(z_stream *stream, size_t size, size_t out_size) {
    int code = Z_OK;
    while (code == Z_OK) {
        if (stream->avail_in == 0)
            stream->avail_in = take_piece(&size);
        if (stream->avail_out == 0)
            stream->avail_out = take_piece(&out_size);
        code = inflate(stream, Z_NO_FLUSH);
    }
    bool all = size == 0 && stream->avail_in == 0 && out_size == 0 && stream->avail_out == 0;
    return code == Z_STREAM_END && !all ? Z_DATA_ERROR : code;
}

sn_status sn_inflate_zlib(sn_context *ctx, const char *bytes, size_t size, char *out, size_t out_size,
                          bool *out_whole) {
    z_stream stream = {.zalloc = lend,
                       .zfree = take_back,
                       .opaque = ctx,
                       .next_in = (z_const Bytef *)bytes,
                       .next_out = (Bytef *)out};
    // The context has the message of what could not be lent.
    int code = inflateInit(&stream);
    if (code == Z_OK) {
        code = inflate_pieces(&stream, size, out_size);
        inflateEnd(&stream);
    }
    if (code == Z_MEM_ERROR)
        return SN_ERR_NO_MEMORY;
    *out_whole = code == Z_STREAM_END;
    return SN_OK;
}
