/// Inside of sn_state.
#ifndef SN_SIM_STATE_H
#define SN_SIM_STATE_H

#include "sim/sim_model.h"
#include "sinew/state.h"

struct sn_state {
    const sn_model *model;
    double *x, *v; ///< [node_count, 3]
    double time;
    /// [tet_count] room for sn_state_quantity: not part of the state, written even through a const state.
    double *tet_value;
};

#endif
