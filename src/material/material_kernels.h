/// The kernels behind the table of materials.
#ifndef SN_MATERIAL_KERNELS_H
#define SN_MATERIAL_KERNELS_H

#include "material/material_model.h"

sn_material_kernel sn_material_corotated;
sn_material_kernel sn_material_arap;
sn_material_kernel sn_material_corotated_linear;

#endif
