#include "material/material_def.h"

/// Bits of the models in conditions.
enum {
    BIPHASIC = 1u << SN_MATERIAL_BIPHASIC,
    WITHOUT_POISSON = 1u << SN_MATERIAL_ARAP | BIPHASIC,
    WITH_POISSON = 1u << SN_MATERIAL_COROTATED | 1u << SN_MATERIAL_COROTATED_LINEAR
};

static const sn_field_choice models[] = {
    [SN_MATERIAL_COROTATED] = {"corotated", "recovers from inversion, unit steps never raise the energy"},
    [SN_MATERIAL_ARAP] = {"arap", "as rigid as possible: resists change of shape only, poisson 0"},
    [SN_MATERIAL_COROTATED_LINEAR] = {"corotated_linear",
                                      "the classic corotated linear model, needs a line search"},
    [SN_MATERIAL_BIPHASIC] = {"biphasic", "tissue: soft up to limits of stretch, stiffer beyond, poisson 0"},
    {NULL, NULL}};

static const sn_field rows[] = {{.key = "model",
                                 .kind = SN_FIELD_CHOICE,
                                 .offset = offsetof(sn_material_def, model),
                                 .choices = models,
                                 .fallback = "corotated",
                                 .help = "energy density"},
                                {.key = "young",
                                 .kind = SN_FIELD_REAL,
                                 .offset = offsetof(sn_material_def, young),
                                 SN_FIELD_UNIT(-1, 1, -2, 0),
                                 SN_POSITIVE,
                                 .required = true,
                                 .help = "Young's modulus at small strain"},
                                {.key = "poisson",
                                 .kind = SN_FIELD_REAL,
                                 .offset = offsetof(sn_material_def, poisson),
                                 SN_BETWEEN(0, SN_POISSON_MAX),
                                 .fallback = "0.3",
                                 .help = "Poisson's ratio at small strain; linear tets lock above 0.4",
                                 SN_FIELD_WHEN(offsetof(sn_material_def, model), WITH_POISSON)},
                                {.key = "poisson",
                                 .kind = SN_FIELD_REAL,
                                 .offset = offsetof(sn_material_def, poisson),
                                 SN_BETWEEN(0, 0),
                                 .fallback = "0",
                                 .help = "Poisson's ratio: this model has none",
                                 SN_FIELD_WHEN(offsetof(sn_material_def, model), WITHOUT_POISSON)},
                                {.key = "density",
                                 .kind = SN_FIELD_REAL,
                                 .offset = offsetof(sn_material_def, density),
                                 SN_FIELD_UNIT(-3, 1, 0, 0),
                                 SN_POSITIVE,
                                 .fallback = "1000",
                                 .help = "mass per volume"},
                                {.key = "stretch_min",
                                 .kind = SN_FIELD_REAL,
                                 .offset = offsetof(sn_material_def, stretch_min),
                                 SN_BETWEEN(0, 1),
                                 .low_open = true,
                                 .high_open = true,
                                 .fallback = "0.8",
                                 .help = "stretch below which it is stiffer; 1 is the length at rest",
                                 SN_FIELD_WHEN(offsetof(sn_material_def, model), BIPHASIC)},
                                {.key = "stretch_max",
                                 .kind = SN_FIELD_REAL,
                                 .offset = offsetof(sn_material_def, stretch_max),
                                 .low = 1,
                                 .high = INFINITY,
                                 .low_open = true,
                                 .fallback = "1.26",
                                 .help = "stretch above which it is stiffer",
                                 SN_FIELD_WHEN(offsetof(sn_material_def, model), BIPHASIC)},
                                {.key = "stiffening",
                                 .kind = SN_FIELD_REAL,
                                 .offset = offsetof(sn_material_def, stiffening),
                                 SN_BETWEEN(1, SN_STIFFENING_MAX),
                                 .fallback = "5",
                                 .help = "how many times stiffer it is beyond the limits; best up to 10",
                                 SN_FIELD_WHEN(offsetof(sn_material_def, model), BIPHASIC)},
                                {.kind = SN_FIELD_MARK, .offset = offsetof(sn_material_def, mark)}};

const sn_field_table sn_material_fields = {
    .name = "material", .size = sizeof(sn_material_def), SN_FIELD_ROWS(rows), SN_FIELD_NO_ITEM};

sn_material_def sn_material_def_default(void) {
    sn_material_def def;
    sn_field_defaults(&sn_material_fields, &def);
    // Programs set the model afterwards, so that fields of other models need defaults, too.
    const sn_material_model model = def.model;
    def.model = SN_MATERIAL_BIPHASIC;
    sn_field_conditional_defaults(&sn_material_fields, &def);
    def.model = model;
    sn_field_conditional_defaults(&sn_material_fields, &def);
    return def;
}
