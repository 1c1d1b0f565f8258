/// Field tables of sn_output_def, sn_probe_def and sn_export_def.
#ifndef SN_IO_DEF_H
#define SN_IO_DEF_H

#include "base/base_field.h"
#include "sinew/io.h"

/// Names and probes are derived rows: in scene files they are references and a map.
extern const sn_field_table sn_output_fields, sn_probe_fields, sn_export_fields;

#endif
