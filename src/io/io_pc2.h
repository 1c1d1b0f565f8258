/// PC2 files (POINTCACHE2): the positions of a mesh's vertices in all frames, for Blender, Houdini, 3ds Max
/// and Maya.
///
/// 32 bytes "POINTCACHE2\0", int32 version 1, int32 points, float32 first frame 0, float32 frames per sample
/// 1, int32 samples; then float32 x, y, z of each point, sample by sample. The number of samples is rewritten
/// after each frame, so that the file is whole at any time.
#ifndef SN_IO_PC2_H
#define SN_IO_PC2_H

#include "io/io_recorder_file.h"

/// A growing point cache. All zero: closed.
typedef struct sn_pc2 {
    sn_output output;
    int32_t point_count, frame_count;
} sn_pc2;

/// Opens directory/name with no frames.
SN_NODISCARD sn_status sn_pc2_open(sn_context *ctx, const char *directory, const char *name,
                                   int32_t point_count, sn_pc2 *pc2);
/// Opens it again, cut back to `frame_count` frames. @return as sn_output_reopen(); SN_ERR_READ too if it is
/// no point cache of so many points: nothing is changed.
SN_NODISCARD sn_status sn_pc2_reopen(sn_context *ctx, const char *directory, const char *name,
                                     int32_t point_count, int32_t frame_count, sn_pc2 *pc2);
/// Tells whether sn_pc2_reopen() would take the file, and changes nothing. @return SN_OK, SN_ERR_READ,
/// SN_ERR_NO_MEMORY.
SN_NODISCARD sn_status sn_pc2_can_reopen(sn_context *ctx, const char *directory, const char *name,
                                         int32_t point_count, int32_t frame_count);
/// Appends a frame: positions [point_count, 3] in m. On failure it is missing.
SN_NODISCARD sn_status sn_pc2_append(sn_pc2 *pc2, const float *positions);
SN_NODISCARD sn_status sn_pc2_finish(sn_pc2 *pc2);
/// Closes the file, which keeps its frames. Fine on a closed cache.
void sn_pc2_abandon(sn_pc2 *pc2);

/// Bytes of a file of so many points and frames.
int64_t sn_pc2_size(int32_t point_count, int32_t frame_count);

/// The first bytes of a file of so many points and frames.
enum { SN_PC2_HEADER_SIZE = 32 };
void sn_pc2_header(unsigned char header[SN_PC2_HEADER_SIZE], int32_t point_count, int32_t frame_count);

#endif
