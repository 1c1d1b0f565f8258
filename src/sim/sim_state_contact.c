/// Contacts of a state, one by one and summed over shapes.
#include "math/math_mat3.h"
#include "sim/sim_state.h"

#include <string.h>

int32_t sn_state_contact_count(const sn_state *state) {
    return state ? state->contact_count : 0;
}

static const sn_contact_pair *pair_of(const sn_state *state, const sn_contact_record *record) {
    return &state->model->pairs[record->pair];
}

/// Place of a record's point.
static void place_of(const sn_state *state, const sn_contact_record *record, double out[3]) {
    sn_proxy_place(&state->model->bodies[pair_of(state, record)->body].proxies, record->proxy, state->x, out);
}

static void tell_other_side(const sn_contact_solid *solid, const sn_contact_record *record,
                            sn_contact *contact) {
    memcpy(contact->normal, record->normal, sizeof contact->normal);
    memcpy(contact->other_vertex, solid->triangle + 3 * (size_t)record->triangle,
           sizeof contact->other_vertex);
    memcpy(contact->other_weight, record->foot, sizeof contact->other_weight);
}

sn_status sn_state_contact(const sn_state *state, int32_t index, sn_contact *out_contact) {
    if (!state)
        return SN_ERR_INVALID_ARGUMENT;
    const sn_model *model = state->model;
    if (!out_contact)
        return sn_fail(model->context, SN_ERR_INVALID_ARGUMENT, "sn_state_contact: out_contact is NULL");
    if (index < 0 || index >= state->contact_count)
        return sn_fail(model->context, SN_ERR_INVALID_ARGUMENT,
                       "contact %d does not exist: the state has %d contacts, counted from 0", index,
                       state->contact_count);
    const sn_contact_record *record = &state->contacts[index];
    const sn_contact_pair *pair = pair_of(state, record);
    double R[9], translation[3];
    sn_contact contact = {.body = pair->body,
                          .shape = pair->shape,
                          .vertex = model->bodies[pair->body].proxies.vertex[record->proxy],
                          .depth = record->depth,
                          .sticking = record->sticking != 0,
                          .other_body = pair->other,
                          .other_vertex = {-1, -1, -1}};
    if (pair->other < 0) {
        sn_frame_pose(model, model->shape_frame[pair->shape], state->time, R, translation);
        sn_mul3(R, record->normal, contact.normal);
    } else {
        tell_other_side(model->contact_solid[pair->other], record, &contact);
    }
    place_of(state, record, contact.place);
    memcpy(contact.force, record->force, sizeof contact.force);
    *out_contact = contact;
    return SN_OK;
}

sn_status sn_state_contact_sum(const sn_state *state, int32_t shape_index, sn_contact_sum *out_sum) {
    if (!state)
        return SN_ERR_INVALID_ARGUMENT;
    const sn_model *model = state->model;
    if (!out_sum)
        return sn_fail(model->context, SN_ERR_INVALID_ARGUMENT, "sn_state_contact_sum: out_sum is NULL");
    if (shape_index < 0 || shape_index >= model->shape_count)
        return sn_fail(model->context, SN_ERR_INVALID_ARGUMENT, "shape index %d; allowed: 0 to %d",
                       shape_index, model->shape_count - 1);
    sn_contact_sum sum = {0};
    double R[9], origin[3];
    sn_frame_pose(model, model->shape_frame[shape_index], state->time, R, origin);
    for (int32_t i = 0; i < state->contact_count; i++) {
        const sn_contact_record *record = &state->contacts[i];
        if (pair_of(state, record)->shape != shape_index)
            continue;
        double place[3], arm[3], moment[3];
        place_of(state, record, place);
        sn_sub3(place, origin, arm);
        sn_cross3(arm, record->force, moment);
        for (int k = 0; k < 3; k++)
            sum.force[k] -= record->force[k], sum.moment[k] -= moment[k];
        sum.active += record->depth > 0;
        sum.max_depth = fmax(sum.max_depth, record->depth);
    }
    *out_sum = sum;
    return SN_OK;
}
