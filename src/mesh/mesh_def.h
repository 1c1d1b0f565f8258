/// Field tables of sn_lattice_def and sn_make_def.
#ifndef SN_MESH_DEF_H
#define SN_MESH_DEF_H

#include "base/base_field.h"
#include "sinew/mesh.h"

extern const sn_field_table sn_lattice_fields, sn_make_fields;

#endif
