/// The kernels behind the table of materials.
#ifndef SN_MATERIAL_KERNELS_H
#define SN_MATERIAL_KERNELS_H

#include "material/material_model.h"

sn_material_kernel sn_material_corotated;
sn_material_kernel sn_material_arap;
sn_material_kernel sn_material_corotated_linear;
sn_material_kernel sn_material_biphasic;

/// The same with most of the work in float; lanes that are flat, inverted or far from their volume are left
/// to the ones above. See material_fast.c.
sn_material_kernel sn_material_corotated_fast;
sn_material_kernel sn_material_arap_fast;
sn_material_kernel sn_material_corotated_linear_fast;
sn_material_kernel sn_material_biphasic_fast;

#endif
