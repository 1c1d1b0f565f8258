/// Inside of sn_state.
#ifndef SN_SIM_STATE_H
#define SN_SIM_STATE_H

#include "contact/contact_set.h"
#include "sim/sim_model.h"
#include "sinew/state.h"

struct sn_state {
    const sn_model *model;
    double *x, *v; ///< [node_count, 3]
    double time;
    int32_t contact_count, contact_capacity;
    sn_contact_record *contacts; ///< [contact_capacity], by pair, then proxy
    /// [tet_count] room for sn_state_quantity: not part of the state, written even through a const state.
    double *tet_value;
};

/// Bytes of a vector of the nodes of a model [node_count, 3].
static inline size_t sn_node_vector_bytes(const sn_model *model) {
    return 3 * (size_t)model->node_count * sizeof(double);
}

#endif
