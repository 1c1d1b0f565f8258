/// Lists of the VTU files of a run, which ParaView opens as animated things: .vtu.series of one body, .pvd of
/// all of them.
#ifndef SN_IO_VTU_SERIES_H
#define SN_IO_VTU_SERIES_H

#include "base/base_context.h"

/// Name of the VTU file of a frame: "<body>.000012.vtu". `body` is the body's name as it stands in file
/// names, at most 150 bytes.
enum { SN_VTU_NAME_SIZE = 192 };
void sn_vtu_name(const char *body, int32_t frame, char out[SN_VTU_NAME_SIZE]);

/// Frames that have VTU files.
typedef struct sn_vtu_frames {
    int32_t count;
    const int32_t *index; ///< [count] rising
    const double *time;   ///< [count] in s
} sn_vtu_frames;

/// Writes <body>.vtu.series for each of the bodies, and frames.pvd for all of them. `bodies` [body_count] are
/// names as they stand in file names. @return SN_OK, SN_ERR_WRITE, SN_ERR_NO_MEMORY.
SN_NODISCARD sn_status sn_vtu_list(sn_context *ctx, const char *directory, int32_t body_count,
                                   char *const *bodies, const sn_vtu_frames *frames);

#endif
