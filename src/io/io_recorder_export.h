/// Files in the formats of other programs that a run writes where it ends, from the files it has written.
#ifndef SN_IO_RECORDER_EXPORT_H
#define SN_IO_RECORDER_EXPORT_H

#include "io/io_recorder_folder.h"
#include "sinew/io.h"

/// Writes what the definition asks for; the NPY files and stats.jsonl must be whole. @return as
/// sn_results_export().
SN_NODISCARD sn_status sn_run_exports_write(sn_context *ctx, const char *directory, const sn_output_def *def);
/// Whether all of it stands there. `bodies` are the run's.
SN_NODISCARD sn_status sn_run_exports_there(sn_context *ctx, const char *directory, const sn_output_def *def,
                                            const sn_body_names *bodies, bool *out_there);

#endif
