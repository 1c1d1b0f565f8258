/// Materials: what a user says about them.
#ifndef SINEW_MATERIAL_H
#define SINEW_MATERIAL_H

#include "sinew/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Energy density as a function of the deformation gradient F = U diag(s) V', R = U V', S = R'F; mu and
/// lambda are the Lame constants of (young, poisson).
typedef enum sn_material_model {
    /// mu |F - R|^2 + (3 lambda / 2) |F - P|^2, P the nearest matrix of determinant 1. Recovers from
    /// inversion; its constant metric 2 mu + 3 lambda bounds its Hessian everywhere, so unit steps never
    /// raise
    /// the energy. Default.
    SN_MATERIAL_COROTATED = 0,
    /// (young / 2) |F - R|^2. Poisson's ratio is 0 and must be given as 0.
    SN_MATERIAL_ARAP = 1,
    /// mu |F - R|^2 + (lambda / 2) (tr S - 3)^2, the classic corotated linear model. Line search needed.
    SN_MATERIAL_COROTATED_LINEAR = 2,
    /// Tissue that stiffens: mu |F - R|^2 + (stiffening - 1) mu |F - Q|^2, mu = young / 2, Q = U clamp(s) V'
    /// with
    /// s held between stretch_min and stretch_max. Young's modulus is `young` while all stretches are within
    /// the
    /// limits, and stiffening * young for what goes beyond. Poisson's ratio is 0 and must be given as 0.
    /// Source: Wang et al. 2021, the skin of its examples. We differ in: parameters.
    SN_MATERIAL_BIPHASIC = 3
} sn_material_model;

/// A material. Start from sn_material_def_default().
typedef struct sn_material_def {
    sn_material_model model;
    double young;   ///< Young's modulus at small strain in Pa, finite, > 0. No default: must be set.
    double poisson; ///< Poisson's ratio at small strain, 0 to 0.4995; 0 for ARAP and biphasic. Default 0.3
                    ///< (scene: 0 for these).
    double density; ///< kg/m^3, > 0. Default 1000.
    double stretch_min; ///< Biphasic: least stretch of the soft phase, > 0, < 1. Default 0.8.
    double stretch_max; ///< Biphasic: largest stretch of the soft phase, > 1. Default 1.26.
    double stiffening;  ///< Biphasic: how many times stiffer it is beyond these limits, 1 to 1e6. Default 5.
    uint32_t mark;
} sn_material_def;

/// The defaults, with the mark; Young's modulus is left 0 and must be set.
SN_API sn_material_def sn_material_def_default(void);

#ifdef __cplusplus
}
#endif
#endif
