/// Field table of sn_output_def.
#ifndef SN_IO_DEF_H
#define SN_IO_DEF_H

#include "base/base_field.h"
#include "sinew/io.h"

extern const sn_field_table sn_output_fields;

#endif
