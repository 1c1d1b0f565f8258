/// The files that a run writes for each body: positions as NPY and PC2, cells, VTU and OBJ files.
#ifndef SN_IO_RECORDER_BODY_H
#define SN_IO_RECORDER_BODY_H

#include "io/io_npy.h"
#include "io/io_pc2.h"
#include "io/io_recorder_folder.h"
#include "io/io_recorder_frame.h"

/// The growing files of one body.
typedef struct sn_recorded_body {
    sn_npy surface, nodes;
    sn_pc2 pc2;
} sn_recorded_body;

typedef struct sn_recorded_bodies {
    sn_context *ctx;
    const sn_model *model;
    const char *directory; ///< Borrowed.
    sn_output_def def;     ///< Its probes are not read.
    sn_body_names names;
    sn_recorded_body *body; ///< [names.count]
    double *surface;        ///< [3 * largest surface]
    float *surface_floats;  ///< The same.
} sn_recorded_bodies;

/// Names the files and takes memory, and touches no file. On failure sn_recorded_bodies_release() is due all
/// the same.
SN_NODISCARD sn_status sn_recorded_bodies_init(sn_recorded_bodies *bodies, sn_context *ctx,
                                               const sn_model *model, const char *directory,
                                               const sn_output_def *def);
/// Makes all files that the definition asks for and that begin with the run.
SN_NODISCARD sn_status sn_recorded_bodies_open(sn_recorded_bodies *bodies);
/// Whether sn_recorded_bodies_reopen() would find its files as they should be. Changes nothing.
SN_NODISCARD sn_status sn_recorded_bodies_can_reopen(const sn_recorded_bodies *bodies, int32_t frame_count);
/// Opens the growing files again, cut back to `frame_count` frames (with the start).
SN_NODISCARD sn_status sn_recorded_bodies_reopen(sn_recorded_bodies *bodies, int32_t frame_count);
/// Takes a frame. On failure it may be missing in some files.
SN_NODISCARD sn_status sn_recorded_bodies_frame(sn_recorded_bodies *bodies, const sn_frame_view *frame);
/// Closes the growing files.
SN_NODISCARD sn_status sn_recorded_bodies_close(sn_recorded_bodies *bodies);
/// Lists the VTU files, if there are any, of the frames [frame_count] in frames.pvd and <body>.vtu.series.
SN_NODISCARD sn_status sn_recorded_bodies_list(const sn_recorded_bodies *bodies, int32_t frame_count,
                                               const sn_frame_record *record);
void sn_recorded_bodies_release(sn_recorded_bodies *bodies);

#endif
