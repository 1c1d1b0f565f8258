/// .vtu.series files: ParaView's list of the VTU files of one body with their times, which opens them as one
/// animated thing.
#ifndef SN_IO_VTU_SERIES_H
#define SN_IO_VTU_SERIES_H

#include "base/base_context.h"

/// Name of the VTU file of a frame: "<body>.000012.vtu". `body` is the body's name as it stands in file
/// names, at most 150 bytes.
enum { SN_VTU_NAME_SIZE = 192 };
void sn_vtu_name(const char *body, int32_t frame, char out[SN_VTU_NAME_SIZE]);

/// Writes directory/<body>.vtu.series with the frames 0, every, 2 every, ... @param time [count] of those
/// frames in s. @return SN_OK, SN_ERR_WRITE, SN_ERR_NO_MEMORY.
SN_NODISCARD sn_status sn_vtu_series_write(sn_context *ctx, const char *directory, const char *body,
                                           int32_t every, int32_t count, const double *time);

#endif
