#include "sim/sim_state.h"

#include "base/base_util.h"

#include <math.h>
#include <string.h>

static size_t contact_bytes(const sn_state *state) {
    return (size_t)state->contact_count * sizeof *state->contacts;
}

sn_status sn_state_create(const sn_model *model, sn_state **out_state) {
    sn_status status = SN_OK;
    sn_state *state = NULL;
    if (!model)
        return SN_ERR_INVALID_ARGUMENT;
    sn_context *ctx = model->context;
    if (!out_state)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "sn_state_create: out_state is NULL");
    SN_TRY_NEW_ZEROED(ctx, state, 1);
    state->model = model;
    SN_TRY(sn_new_copy(ctx, model->start_x, sn_node_vector_bytes(model), 1, (void **)&state->x));
    SN_TRY(sn_new_copy(ctx, model->start_v, sn_node_vector_bytes(model), 1, (void **)&state->v));
    SN_TRY_NEW(ctx, state->tet_value, model->tet_count);
    state->contact_capacity = sn_contact_capacity(&model->contact);
    SN_TRY_NEW(ctx, state->contacts, state->contact_capacity);
    *out_state = state;
    state = NULL;
cleanup:
    sn_state_destroy(&state);
    return status;
}

void sn_state_destroy(sn_state **state) {
    if (!state || !*state)
        return;
    sn_state *old = *state;
    sn_context *ctx = old->model->context;
    SN_RELEASE(ctx, old->x);
    SN_RELEASE(ctx, old->v);
    SN_RELEASE(ctx, old->tet_value);
    SN_RELEASE(ctx, old->contacts);
    sn_release(ctx, old);
    *state = NULL;
}

sn_status sn_state_copy(sn_state *to, const sn_state *from) {
    if (!to || !from)
        return SN_ERR_INVALID_ARGUMENT;
    if (to->model != from->model)
        return sn_fail(to->model->context, SN_ERR_INVALID_ARGUMENT,
                       "sn_state_copy: the states belong to different models");
    memcpy(to->x, from->x, sn_node_vector_bytes(to->model));
    memcpy(to->v, from->v, sn_node_vector_bytes(to->model));
    to->time = from->time;
    to->contact_count = from->contact_count;
    memcpy(to->contacts, from->contacts, contact_bytes(from));
    return SN_OK;
}

const double *sn_state_positions(const sn_state *state) {
    return state->x;
}

const double *sn_state_velocities(const sn_state *state) {
    return state->v;
}

double sn_state_time(const sn_state *state) {
    return state->time;
}

const sn_model *sn_state_model(const sn_state *state) {
    return state->model;
}

static sn_status set_vector(sn_state *state, const char *call, const double *from, double *to) {
    sn_context *ctx = state->model->context;
    if (!from)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "%s: the array is NULL", call);
    for (int32_t n = 0; n < state->model->node_count; n++)
        for (int i = 0; i < 3; i++)
            if (!isfinite(from[3 * (size_t)n + (size_t)i]))
                return sn_fail(ctx, SN_ERR_NON_FINITE, "%s: node %d, component %d = %g: must be finite", call,
                               n, i, from[3 * (size_t)n + (size_t)i]);
    memmove(to, from, sn_node_vector_bytes(state->model));
    return SN_OK;
}

sn_status sn_state_set_positions(sn_state *state, const double *x) {
    if (!state)
        return SN_ERR_INVALID_ARGUMENT;
    sn_status status = set_vector(state, "sn_state_set_positions", x, state->x);
    if (status == SN_OK)
        state->contact_count = 0;
    return status;
}

sn_status sn_state_set_velocities(sn_state *state, const double *v) {
    return state ? set_vector(state, "sn_state_set_velocities", v, state->v) : SN_ERR_INVALID_ARGUMENT;
}

sn_status sn_state_set_time(sn_state *state, double time) {
    if (!state)
        return SN_ERR_INVALID_ARGUMENT;
    if (!isfinite(time))
        return sn_fail(state->model->context, SN_ERR_NON_FINITE,
                       "sn_state_set_time: time = %g: must be finite", time);
    state->time = time;
    return SN_OK;
}

uint64_t sn_state_hash(const sn_state *state) {
    uint64_t hash = sn_hash(SN_HASH_START, state->x, sn_node_vector_bytes(state->model));
    hash = sn_hash(hash, state->v, sn_node_vector_bytes(state->model));
    hash = sn_hash(hash, &state->time, sizeof state->time);
    return sn_hash(hash, state->contacts, contact_bytes(state));
}
