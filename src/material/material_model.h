/// The table of materials: energy density and stress over a block of deformation gradients, and the weight of
/// an element in the constant metric. A material knows no mesh and no solver.
#ifndef SN_MATERIAL_MODEL_H
#define SN_MATERIAL_MODEL_H

#include "base/base_context.h"
#include "math/math_svd.h"
#include "sinew/material.h"

/// Stretches between which the lanes' elements are in their soft phase, for models that have one.
typedef struct sn_material_limits {
    double low[SN_LANES], high[SN_LANES];
} sn_material_limits;

/// Evaluates SN_LANES elements: energy density psi [Pa] and first Piola stress P = dpsi/dF [Pa] from F
/// (row-major entries, structure of arrays) and the lanes' moduli [Pa] as sn_material_moduli() gives them. P
/// may be NULL: energy only, with the same bits. Models without limits do not look at `limits`, which may be
/// NULL. Outputs may not overlap inputs. Any finite F will do; NaN in a lane's F gives NaN in its psi and P
/// alone. Where psi has a kink (two nearest rotations or points), P is the stress of one side.
typedef void sn_material_kernel(const double F[9][SN_LANES], const double mu[SN_LANES],
                                const double lambda[SN_LANES], const sn_material_limits *limits,
                                double psi[SN_LANES], double (*P)[SN_LANES]);

typedef struct sn_material_info {
    sn_material_model model;
    const char *name;      ///< As in the scene file.
    const char *formula;   ///< One line, for `sinew help materials`.
    const char *inversion; ///< One line: what happens to flat and inverted elements.
    sn_material_kernel *kernel;
    sn_material_kernel *fast_kernel; ///< The same to about 1e-12, with most of the work in float.
    double weight_mu, weight_lambda; ///< Weight in the metric: weight_mu * mu + weight_lambda * lambda [Pa].
    bool has_limits;                 ///< The kernels need sn_material_limits.
    bool is_projective;              ///< The weight bounds the Hessian for every F: unit steps are safe.
    double poisson_max;              ///< Largest Poisson's ratio the model takes.
} sn_material_info;

/// The table; models are its indices. count may be NULL.
const sn_material_info *sn_material_table(int32_t *count);
const sn_material_info *sn_material_info_of(sn_material_model model);

/// Checks a definition. SN_ERR_INVALID_ARGUMENT names the field, the value and what is allowed.
SN_NODISCARD sn_status sn_material_check(sn_context *ctx, const sn_material_def *def);

/// The two moduli [Pa] of the model's energy. Lame constants; for ARAP mu = young / 2, lambda = 0; for
/// biphasic mu = young / 2 too, and in the place of lambda what the stiff phase adds to mu: (stiffening - 1)
/// young / 2.
void sn_material_moduli(const sn_material_def *def, double *out_mu, double *out_lambda);

#endif
