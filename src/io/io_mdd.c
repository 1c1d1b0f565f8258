/// MDD files (LightWave's motion designer data): a point cache as PC2 is one, for Blender, Maya, Houdini,
/// Cinema 4D and others.
///
/// All numbers big-endian: int32 frames, int32 points; float32 time of each frame in s; then float32 x, y, z
/// of each point, frame by frame.
#include "io/io_export.h"

#include <string.h>

static sn_status write_u32(sn_output *output, uint32_t bits) {
    const unsigned char bytes[4] = {(unsigned char)(bits >> 24), (unsigned char)(bits >> 16),
                                    (unsigned char)(bits >> 8), (unsigned char)bits};
    return sn_output_write(output, bytes, sizeof bytes);
}

static sn_status write_float(sn_output *output, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return write_u32(output, bits);
}

static sn_status write_body(sn_export_job *job, int32_t place, sn_output *output) {
    sn_status status = SN_OK;
    size_t vertices = (size_t)sn_export_body(job, place).vertex_count;
    SN_TRY(write_u32(output, (uint32_t)job->frame_count));
    SN_TRY(write_u32(output, (uint32_t)vertices));
    for (int32_t f = 0; f < job->frame_count; f++)
        SN_TRY(write_float(output, (float)job->time[f]));
    for (int32_t f = 0; f < job->frame_count; f++) {
        SN_TRY(sn_export_read(job, place, f));
        for (size_t i = 0; i < 3 * vertices; i++)
            SN_TRY(write_float(output, job->positions[i]));
    }
cleanup:
    return status;
}

sn_status sn_mdd_export(sn_export_job *job) {
    sn_status status = SN_OK;
    sn_output output = {0};
    char name[SN_EXPORT_NAME_SIZE];
    for (int32_t i = 0; i < job->body_count; i++) {
        SN_TRY(sn_output_open(job->ctx, job->directory, sn_export_name(job, i, ".mdd", name), SN_OUTPUT_WHOLE,
                              &output));
        SN_TRY(write_body(job, i, &output));
        SN_TRY(sn_output_finish(&output));
        job->file_count++;
    }
cleanup:
    sn_output_abandon(&output);
    return status;
}
