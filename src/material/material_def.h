/// Field table of sn_material_def.
#ifndef SN_MATERIAL_DEF_H
#define SN_MATERIAL_DEF_H

#include "base/base_field.h"
#include "sinew/material.h"

/// Largest Poisson's ratio of models that have one.
#define SN_POISSON_MAX 0.4995
/// Largest ratio of Young's moduli beyond and within limits; with more, the soft phase drowns in rounding.
#define SN_STIFFENING_MAX 1e6

extern const sn_field_table sn_material_fields;

#endif
