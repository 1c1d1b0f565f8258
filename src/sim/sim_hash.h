/// Hashes that tell whether a run may go on with another process' state (sn_model_hash() is public).
#ifndef SN_SIM_HASH_H
#define SN_SIM_HASH_H

#include "sinew/step.h"

/// Hash of how a stepper steps.
uint64_t sn_stepper_def_hash(const sn_stepper_def *def);

#endif
