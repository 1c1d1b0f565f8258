/// probes.csv: the course of points of bodies and of what bodies do to rigid shapes by contact, a row a
/// frame.
///
/// The columns are frame and time_s, then for a point NAME.x_m ... NAME.z_m, NAME.vx_m_s ... NAME.vz_m_s, for
/// a shape NAME.fx_N ... NAME.fz_N, NAME.mx_Nm ... NAME.mz_Nm. Numbers read back to the same bits.
#ifndef SN_IO_PROBE_H
#define SN_IO_PROBE_H

#include "io/io_recorder_file.h"
#include "io/io_recorder_frame.h"

#define SN_PROBE_FILE "probes.csv"

typedef struct sn_probes sn_probes;

/// Finds what a probe looks at: index of its body, or of its shape if def->body is NULL. @return SN_OK;
/// SN_ERR_INVALID_ARGUMENT: no such body or shape (the message names the nearest known), not exactly one of
/// them given, a point that is not finite.
SN_NODISCARD sn_status sn_probe_find(sn_context *ctx, const sn_model *model, const sn_probe_def *def,
                                     int32_t *out_index);

/// Prepares the probes of `def`, and writes nothing yet: so mistakes are told before a folder is touched. A
/// point outside of its body moves to the nearest place inside, with a warning. The model must outlive the
/// probes; `def` need not. @return SN_OK; as sn_probe_find(); SN_ERR_INVALID_ARGUMENT: a name is missing or
/// there twice.
SN_NODISCARD sn_status sn_probes_create(sn_context *ctx, const sn_model *model, const sn_output_def *def,
                                        sn_probes **out_probes);
/// Closes the file, which keeps its rows.
void sn_probes_destroy(sn_probes **probes);

/// Makes directory/probes.csv with the columns' names.
SN_NODISCARD sn_status sn_probes_open(sn_probes *probes, const char *directory);
/// Opens it again, cut back to `size` bytes. @return as sn_output_reopen().
SN_NODISCARD sn_status sn_probes_reopen(sn_probes *probes, const char *directory, int64_t size);
/// Bytes of whole rows so far, for sn_probes_reopen().
int64_t sn_probes_size(const sn_probes *probes);

/// Adds a row. On failure it is missing.
SN_NODISCARD sn_status sn_probes_frame(sn_probes *probes, const sn_frame_view *frame);
/// Closes the file.
SN_NODISCARD sn_status sn_probes_finish(sn_probes *probes);

#endif
