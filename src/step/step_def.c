#include "step/step_def.h"

static const sn_field_choice methods[] = {
    [SN_SOLVER_LBFGS] = {"lbfgs", "L-BFGS on the constant metric with a line search, for any material"},
    [SN_SOLVER_PROJECTIVE] = {"projective", "projective dynamics: unit steps, for materials that allow it"},
    {NULL, NULL}};

static const sn_field solver_rows[] = {
    {.key = "method",
     .kind = SN_FIELD_CHOICE,
     .offset = offsetof(sn_solver_def, method),
     .choices = methods,
     .fallback = "lbfgs",
     .help = "minimizer of a step"},
    {.key = "iterations",
     .kind = SN_FIELD_INT,
     .offset = offsetof(sn_solver_def, iterations),
     SN_BETWEEN(1, 1000000),
     .fallback = "10",
     .help = "budget of iterations a step"},
    {.key = "tolerance",
     .kind = SN_FIELD_REAL,
     .offset = offsetof(sn_solver_def, tolerance),
     SN_BETWEEN(0, 1),
     .fallback = "1e-3",
     .help = "stop when the predicted error is below this fraction of the mean edge (short time steps: of "
             "ten times their motion); 0: spend the budget"},
    {.key = "history",
     .kind = SN_FIELD_INT,
     .offset = offsetof(sn_solver_def, history),
     SN_BETWEEN(0, 32),
     .fallback = "5",
     .help = "pairs that L-BFGS remembers"},
    {.kind = SN_FIELD_MARK, .offset = offsetof(sn_solver_def, mark)}};

const sn_field_table sn_solver_fields = {.name = "solver",
                                         .help = "How each step is minimized.",
                                         .size = sizeof(sn_solver_def),
                                         SN_FIELD_ROWS(solver_rows),
                                         SN_FIELD_NO_ITEM};

static const sn_field_choice integrators[] = {
    [SN_INTEGRATOR_IMPLICIT_EULER] = {"implicit_euler", "motion with inertia; damps fast vibrations"},
    [SN_INTEGRATOR_QUASISTATIC] = {"quasistatic",
                                   "equilibrium at every step, no inertia; every piece must be held"},
    {NULL, NULL}};

static const sn_field integrator_rows[] = {{.key = "integrator",
                                            .kind = SN_FIELD_CHOICE,
                                            .offset = offsetof(sn_stepper_def, integrator),
                                            .choices = integrators,
                                            .fallback = "implicit_euler",
                                            .help = "what a step is"},
                                           {.kind = SN_FIELD_MARK, .offset = offsetof(sn_stepper_def, mark)}};

const sn_field_table sn_integrator_fields = {
    .name = "stepper", .size = sizeof(sn_stepper_def), SN_FIELD_ROWS(integrator_rows), SN_FIELD_NO_ITEM};

static const sn_field_choice precisions[] = {
    [SN_PRECISION_FAST] = {"fast", "the factor in single precision, elements partly so; forces stay exact"},
    [SN_PRECISION_ACCURATE] = {"accurate", "everything in double precision"},
    {NULL, NULL}};

static const sn_field precision_rows[] = {{.key = "precision",
                                           .kind = SN_FIELD_CHOICE,
                                           .offset = offsetof(sn_stepper_def, precision),
                                           .choices = precisions,
                                           .fallback = "fast",
                                           .help = "numbers inside a step; results are double in both"}};

const sn_field_table sn_precision_fields = {
    .name = "stepper", .size = sizeof(sn_stepper_def), SN_FIELD_ROWS(precision_rows), SN_FIELD_NO_ITEM};

static const sn_field stepper_rows[] = {{.kind = SN_FIELD_INCLUDE, .table = &sn_integrator_fields},
                                        {.kind = SN_FIELD_INCLUDE, .table = &sn_precision_fields},
                                        {.key = "solver",
                                         .kind = SN_FIELD_TABLE,
                                         .offset = offsetof(sn_stepper_def, solver),
                                         .table = &sn_solver_fields,
                                         .help = "how a step is minimized"}};

const sn_field_table sn_stepper_fields = {
    .name = "stepper", .size = sizeof(sn_stepper_def), SN_FIELD_ROWS(stepper_rows), SN_FIELD_NO_ITEM};

const char *sn_precision_name(sn_precision precision) {
    return (int)precision >= 0 && precision <= SN_PRECISION_ACCURATE ? precisions[precision].name : "unknown";
}

sn_solver_def sn_solver_def_default(void) {
    sn_solver_def def;
    sn_field_defaults(&sn_solver_fields, &def);
    return def;
}

sn_stepper_def sn_stepper_def_default(void) {
    sn_stepper_def def;
    sn_field_defaults(&sn_stepper_fields, &def);
    return def;
}
