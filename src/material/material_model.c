#include "material/material_model.h"

#include "material/material_def.h"
#include "material/material_kernels.h"

// Half the squared distance to a closed set curves by at most 1, wherever it curves at all and in kinks never
// upward: it is |F|^2 / 2 minus a convex function. So 2 mu |F - R|^2 / 2 and 3 lambda |F - P|^2 / 2 stay
// below parabolas with those factors, and 2 mu + 3 lambda bounds the corotated energy for every F, inverted
// ones too. Q is such a point as well, the nearest matrix with stretches within limits: 2 mu + 2 mu',
// whichever phase an element is in, bounds the biphasic energy.
//
// The linear model has no constant bound, because its lambda term turns with R. 2 mu + lambda, the slope of
// one-axis stress with the other axes held, was measured best for L-BFGS with a line search over Poisson's
// ratios 0.3 to 0.48 (2 mu + 3 lambda needs 1.6 to 1.8 times the iterations); unit steps without a search
// converge up to 1/3 only.
static const sn_material_info table[] = {
    {.model = SN_MATERIAL_COROTATED,
     .name = "corotated",
     .formula = "mu |F - R|^2 + (3 lambda / 2) |F - P|^2, R the nearest rotation, P the nearest matrix of "
                "determinant 1",
     .inversion = "recovers; finite for every F, unit steps never raise the energy",
     .kernel = sn_material_corotated,
     .fast_kernel = sn_material_corotated_fast,
     .weight_mu = 2,
     .weight_lambda = 3,
     .is_projective = true,
     .poisson_max = SN_POISSON_MAX},
    {.model = SN_MATERIAL_ARAP,
     .name = "arap",
     .formula = "(young / 2) |F - R|^2, R the nearest rotation",
     .inversion = "recovers, but resists inversion weakly: no volume term",
     .kernel = sn_material_arap,
     .fast_kernel = sn_material_arap_fast,
     .weight_mu = 2,
     .weight_lambda = 0,
     .is_projective = true,
     .poisson_max = 0},
    {.model = SN_MATERIAL_COROTATED_LINEAR,
     .name = "corotated_linear",
     .formula = "mu |F - R|^2 + (lambda / 2) (tr S - 3)^2, S = R'F, R the nearest rotation",
     .inversion = "recovers, but the volume may vanish at a finite energy: needs a line search",
     .kernel = sn_material_corotated_linear,
     .fast_kernel = sn_material_corotated_linear_fast,
     .weight_mu = 2,
     .weight_lambda = 1,
     .is_projective = false,
     .poisson_max = SN_POISSON_MAX},
    {.model = SN_MATERIAL_BIPHASIC,
     .name = "biphasic",
     .formula =
         "(young / 2) (|F - R|^2 + (stiffening - 1) |F - Q|^2), R the nearest rotation, Q = U c V', c = s "
         "held between stretch_min and stretch_max",
     .inversion = "recovers, with the force of the stiff phase; no volume term",
     .kernel = sn_material_biphasic,
     .fast_kernel = sn_material_biphasic_fast,
     .weight_mu = 2,
     .weight_lambda = 2,
     .has_limits = true,
     .is_projective = true,
     .poisson_max = 0},
};

enum { MODEL_COUNT = sizeof table / sizeof *table };

const sn_material_info *sn_material_table(int32_t *count) {
    if (count)
        *count = MODEL_COUNT;
    return table;
}

const sn_material_info *sn_material_info_of(sn_material_model model) {
    SN_ASSERT((int)model >= 0 && (int)model < MODEL_COUNT);
    return &table[model];
}

sn_status sn_material_check(sn_context *ctx, const sn_material_def *def) {
    if (!def)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "material: the definition is NULL");
    return sn_field_check(ctx, &sn_material_fields, def);
}

void sn_material_moduli(const sn_material_def *def, double *out_mu, double *out_lambda) {
    double young = def->young, poisson = def->poisson;
    if (def->model == SN_MATERIAL_ARAP) {
        // Without a lambda term the response to one-axis stress has Young's modulus 2 mu.
        *out_mu = young / 2;
        *out_lambda = 0;
        return;
    }
    if (def->model == SN_MATERIAL_BIPHASIC) {
        *out_mu = young / 2;
        *out_lambda = (def->stiffening - 1) * (young / 2);
        return;
    }
    *out_mu = young / (2 * (1 + poisson));
    *out_lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
}
