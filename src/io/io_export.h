/// Results in the formats of other programs: what the writers of all formats get, and the table of formats.
///
/// A format is one row of the table in io_export.c. Its writer reads frames one at a time through
/// sn_export_read(), names its files by sn_export_name(), and writes whole files (sn_output_open() with
/// SN_OUTPUT_WHOLE), so that a failure leaves what stood there before.
#ifndef SN_IO_EXPORT_H
#define SN_IO_EXPORT_H

#include "io/io_recorder_file.h"
#include "sinew/io.h"

/// What is exported, chosen and checked.
typedef struct sn_export_job {
    sn_context *ctx;
    const sn_results *results;
    const sn_export_def *def;
    const char *directory; ///< Where the files go; it exists.
    int32_t body_count;
    int32_t *body;       ///< [body_count] indices into the results
    int32_t frame_count; ///< At least 1.
    int32_t *frame;      ///< [frame_count] rising
    double *time;        ///< [frame_count] of these frames in s
    float *positions;    ///< [largest surface, 3] for sn_export_read()
    int32_t file_count;  ///< Written so far.
} sn_export_job;

/// A writer of a format; it counts its files.
typedef sn_status sn_export_writer(sn_export_job *job);

enum { SN_EXPORT_NAME_SIZE = 192 };

/// The body at a place of the job.
sn_results_body sn_export_body(const sn_export_job *job, int32_t place);
/// Reads a body's surface in a frame, both by their places in the job, into job->positions.
SN_NODISCARD sn_status sn_export_read(const sn_export_job *job, int32_t body_place, int32_t frame_place);
/// Name of a file: of a body, by its place ("arm.mdd"); of all bodies with -1: "frames.glb", or that of the
/// body if one was asked for by name. Returns `out`.
const char *sn_export_name(const sn_export_job *job, int32_t body_place, const char *ending,
                           char out[SN_EXPORT_NAME_SIZE]);
/// Frames a second of the job, by the times of its first and last frame; of a job of one frame, by those of
/// the run; 24 if the run has one frame only.
double sn_export_rate(const sn_export_job *job);

/// Writes results in a format into a folder, which may be that of the run: as sn_results_export().
SN_NODISCARD sn_status sn_export_into(const sn_results *results, const char *format, const char *directory,
                                      const sn_export_def *def, int32_t *out_files);

sn_export_writer sn_mdd_export;          ///< io_mdd.c
sn_export_writer sn_glb_export;          ///< io_glb.c
sn_export_writer sn_npz_export;          ///< io_npz.c
sn_export_writer sn_usda_export;         ///< io_usda.c
sn_export_writer sn_png_export;          ///< io_preview_export.c
sn_export_writer sn_pc2_export;          ///< io_export_frames.c, as the next two
sn_export_writer sn_obj_sequence_export; ///< A file per body and frame.
sn_export_writer sn_vtu_sequence_export; ///< The same, with their lists.

#endif
