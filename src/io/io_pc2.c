#include "io/io_pc2.h"

#include <string.h>

enum { HEADER_SIZE = SN_PC2_HEADER_SIZE, SIGNATURE_SIZE = 12, POINT_SIZE = 12 };

void sn_pc2_header(unsigned char header[HEADER_SIZE], int32_t point_count, int32_t frame_count) {
    const int32_t version = 1;
    const float start = 0, rate = 1;
    memcpy(header, "POINTCACHE2", SIGNATURE_SIZE);
    memcpy(header + 12, &version, 4);
    memcpy(header + 16, &point_count, 4);
    memcpy(header + 20, &start, 4);
    memcpy(header + 24, &rate, 4);
    memcpy(header + 28, &frame_count, 4);
}

int64_t sn_pc2_size(int32_t point_count, int32_t frame_count) {
    return HEADER_SIZE + (int64_t)POINT_SIZE * point_count * frame_count;
}

sn_status sn_pc2_open(sn_context *ctx, const char *directory, const char *name, int32_t point_count,
                      sn_pc2 *pc2) {
    sn_status status = SN_OK;
    sn_pc2 made = {.point_count = point_count};
    unsigned char header[HEADER_SIZE];
    sn_pc2_header(header, point_count, 0);
    SN_TRY(sn_output_open(ctx, directory, name, SN_OUTPUT_GROWING, &made.output));
    SN_TRY(sn_output_write(&made.output, header, sizeof header));
    SN_TRY(sn_output_record(&made.output));
    *pc2 = made;
    return SN_OK;
cleanup:
    sn_output_abandon(&made.output);
    return status;
}

sn_status sn_pc2_can_reopen(sn_context *ctx, const char *directory, const char *name, int32_t point_count,
                            int32_t frame_count) {
    sn_status status = SN_OK;
    unsigned char header[HEADER_SIZE], found[HEADER_SIZE];
    // The number of frames may be larger than ours, and is written anew.
    const size_t known = HEADER_SIZE - sizeof frame_count;
    sn_pc2_header(header, point_count, frame_count);
    SN_TRY(sn_output_can_reopen(ctx, directory, name, sn_pc2_size(point_count, frame_count)));
    SN_TRY(sn_output_read_start(ctx, directory, name, found, sizeof found));
    if (memcmp(header, found, known) != 0)
        SN_TRY(
            sn_fail(ctx, SN_ERR_READ,
                    "%s/%s is no PC2 file of %d points: put back the file of the run, or start the run anew",
                    directory, name, point_count));
cleanup:
    return status;
}

sn_status sn_pc2_reopen(sn_context *ctx, const char *directory, const char *name, int32_t point_count,
                        int32_t frame_count, sn_pc2 *pc2) {
    sn_status status = SN_OK;
    sn_pc2 made = {.point_count = point_count, .frame_count = frame_count};
    unsigned char header[HEADER_SIZE];
    sn_pc2_header(header, point_count, frame_count);
    SN_TRY(sn_pc2_can_reopen(ctx, directory, name, point_count, frame_count));
    SN_TRY(sn_output_reopen(ctx, directory, name, sn_pc2_size(point_count, frame_count), &made.output));
    SN_TRY(sn_output_rewrite(&made.output, 0, header, sizeof header));
    *pc2 = made;
    return SN_OK;
cleanup:
    sn_output_abandon(&made.output);
    return status;
}

sn_status sn_pc2_append(sn_pc2 *pc2, const float *positions) {
    unsigned char header[HEADER_SIZE];
    sn_pc2_header(header, pc2->point_count, pc2->frame_count + 1);
    sn_status status = sn_output_frame(&pc2->output, positions, (size_t)POINT_SIZE * (size_t)pc2->point_count,
                                       header, sizeof header);
    if (status == SN_OK)
        pc2->frame_count++;
    return status;
}

sn_status sn_pc2_finish(sn_pc2 *pc2) {
    return sn_output_finish(&pc2->output);
}

void sn_pc2_abandon(sn_pc2 *pc2) {
    sn_output_abandon(&pc2->output);
}
