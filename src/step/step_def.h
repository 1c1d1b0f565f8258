/// Field tables of sn_solver_def and sn_stepper_def.
#ifndef SN_STEP_DEF_H
#define SN_STEP_DEF_H

#include "base/base_field.h"
#include "sinew/step.h"

/// sn_integrator_fields, sn_precision_fields: what sn_stepper_def holds besides the solver.
/// sn_stepper_fields: all.
extern const sn_field_table sn_solver_fields, sn_integrator_fields, sn_precision_fields, sn_stepper_fields;

#endif
