#define _POSIX_C_SOURCE 200809L
#include "io/io_player_spill.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define SPILL_FILE "player.frames"

/// Bytes in front of a frame of the run.
static int64_t place_of(size_t frame_floats, int32_t stride, int32_t frame) {
    int64_t kept_before = ((int64_t)frame + stride - 1) / stride;
    return kept_before * (int64_t)(frame_floats * sizeof(float));
}

sn_status sn_player_spill_open(sn_context *ctx, const char *directory, size_t frame_floats, int32_t stride,
                               sn_player_spill *spill) {
    sn_player_spill made = {.frame_floats = frame_floats, .stride = stride, .reader = -1};
    sn_status status = sn_output_open(ctx, directory, SPILL_FILE, SN_OUTPUT_GROWING, &made.output);
    if (status == SN_OK)
        *spill = made;
    return status;
}

sn_status sn_player_spill_can_reopen(sn_context *ctx, const char *directory, size_t frame_floats,
                                     int32_t stride, int32_t frame_count) {
    return sn_output_can_reopen(ctx, directory, SPILL_FILE, place_of(frame_floats, stride, frame_count));
}

sn_status sn_player_spill_reopen(sn_context *ctx, const char *directory, size_t frame_floats, int32_t stride,
                                 int32_t frame_count, sn_player_spill *spill) {
    sn_player_spill made = {.frame_floats = frame_floats, .stride = stride, .reader = -1};
    int64_t size = place_of(frame_floats, stride, frame_count);
    sn_status status = sn_output_reopen(ctx, directory, SPILL_FILE, size, &made.output);
    if (status == SN_OK)
        *spill = made;
    return status;
}

sn_status sn_player_spill_append(sn_player_spill *spill, const float *floats) {
    sn_status status = sn_output_write(&spill->output, floats, spill->frame_floats * sizeof *floats);
    return status < 0 ? status : sn_output_record(&spill->output);
}

static sn_status read_failure(const sn_player_spill *spill, const char *reason) {
    return sn_fail(spill->output.ctx, SN_ERR_READ, "cannot read %s back: %s", spill->output.path, reason);
}

sn_status sn_player_spill_read(sn_player_spill *spill, int32_t frame, size_t begin, size_t count,
                               float *out) {
    if (spill->reader < 0)
        spill->reader = open(spill->output.path, O_RDONLY | O_CLOEXEC);
    if (spill->reader < 0)
        return read_failure(spill, strerror(errno));
    char *to = (char *)out;
    size_t size = count * sizeof *out;
    off_t place =
        (off_t)(place_of(spill->frame_floats, spill->stride, frame) + (int64_t)(begin * sizeof *out));
    while (size > 0) {
        ssize_t got = pread(spill->reader, to, size, place);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return read_failure(spill, got < 0 ? strerror(errno) : "it is too short");
        to += got;
        size -= (size_t)got;
        place += got;
    }
    return SN_OK;
}

void sn_player_spill_close(sn_player_spill *spill) {
    if (spill->output.ctx && spill->reader >= 0)
        close(spill->reader);
    sn_output_abandon(&spill->output);
    *spill = (sn_player_spill){0};
}
