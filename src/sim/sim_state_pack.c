#include "sim/sim_state.h"

#include <math.h>
#include <string.h>

/// What a packed state begins with. Positions, velocities and contacts follow, all as the machine holds them.
typedef struct packed_head {
    uint64_t magic;
    int32_t node_count, contact_count;
    double time;
} packed_head;

static const uint64_t MAGIC = UINT64_C(0x3265746174736e73); // "snstate2"

// Equal states must have equal bytes, so there may be none that nobody sets.
_Static_assert(sizeof(packed_head) == 24, "the head has padding");
_Static_assert(sizeof(sn_contact_record) == 6 * sizeof(int32_t) + 13 * sizeof(double),
               "contact records have padding");

static size_t packed_size(const sn_model *model, int32_t contact_count) {
    return sizeof(packed_head) + 2 * sn_node_vector_bytes(model) +
           (size_t)contact_count * sizeof(sn_contact_record);
}

size_t sn_state_packed_size(const sn_state *state) {
    return packed_size(state->model, state->contact_count);
}

/// Appends bytes at *place.
static void put(unsigned char **place, const void *bytes, size_t size) {
    if (size > 0)
        memcpy(*place, bytes, size);
    *place += size;
}

void sn_state_pack(const sn_state *state, void *out) {
    const packed_head head = {MAGIC, state->model->node_count, state->contact_count, state->time};
    unsigned char *place = out;
    put(&place, &head, sizeof head);
    put(&place, state->x, sn_node_vector_bytes(state->model));
    put(&place, state->v, sn_node_vector_bytes(state->model));
    put(&place, state->contacts, (size_t)state->contact_count * sizeof *state->contacts);
}

static sn_status check_head(const sn_state *state, const packed_head *head, size_t size) {
    sn_context *ctx = state->model->context;
    if (head->magic != MAGIC)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "packed state: the bytes are no packed state");
    if (head->node_count != state->model->node_count)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "packed state: it has %d nodes, the model has %d",
                       head->node_count, state->model->node_count);
    if (head->contact_count < 0 || head->contact_count > state->contact_capacity)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                       "packed state: it has %d contacts; allowed with this model: 0 to %d",
                       head->contact_count, state->contact_capacity);
    size_t wanted = packed_size(state->model, head->contact_count);
    if (size != wanted)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "packed state: it has %zu bytes, expected %zu", size,
                       wanted);
    return SN_OK;
}

/// Checks `count` doubles that may lie at any address.
static sn_status check_finite(sn_context *ctx, const char *what, const unsigned char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        double value;
        memcpy(&value, bytes + i * sizeof value, sizeof value);
        if (!isfinite(value))
            return sn_fail(ctx, SN_ERR_NON_FINITE, "packed state: %s, number %zu is %g: must be finite", what,
                           i, value);
    }
    return SN_OK;
}

/// Whether a place of a contact is one of the other side: of a body's surface, or of a shape.
static bool is_place(const sn_model *model, const sn_contact_pair *pair, int32_t triangle,
                     const double weight[3]) {
    if (pair->other < 0)
        return triangle == -1;
    if (triangle < 0 || triangle >= model->bodies[pair->other].surface_triangle_count)
        return false;
    for (int k = 0; k < 3; k++)
        if (!(weight[k] >= 0 && weight[k] <= 1))
            return false;
    return fabs(weight[0] + weight[1] + weight[2] - 1) < 1e-9;
}

static bool is_contact(const sn_model *model, const sn_contact_record *contact) {
    return contact->pair >= 0 && contact->pair < model->pair_count && contact->proxy >= 0 &&
           contact->proxy < model->bodies[model->pairs[contact->pair].body].proxies.count &&
           is_place(model, &model->pairs[contact->pair], contact->triangle, contact->foot) &&
           is_place(model, &model->pairs[contact->pair], contact->anchor_triangle, contact->anchor) &&
           (contact->sticking == 0 || contact->sticking == 1) && (contact->ended == 0 || contact->ended == 1);
}

static bool is_before(const sn_contact_record *a, const sn_contact_record *b) {
    return a->pair < b->pair || (a->pair == b->pair && a->proxy < b->proxy);
}

static sn_status check_contacts(const sn_model *model, const unsigned char *bytes, int32_t count) {
    sn_contact_record before = {.pair = -1};
    for (int32_t i = 0; i < count; i++) {
        sn_contact_record contact;
        const unsigned char *place = bytes + (size_t)i * sizeof contact;
        memcpy(&contact, place, sizeof contact);
        sn_status status =
            check_finite(model->context, "contacts", place + offsetof(sn_contact_record, foot), 13);
        if (status < 0)
            return status;
        if (!is_contact(model, &contact) || !is_before(&before, &contact))
            return sn_fail(model->context, SN_ERR_INVALID_ARGUMENT,
                           "packed state: contact %d (pair %d, point %d) is none of this model, or out of "
                           "order",
                           i, contact.pair, contact.proxy);
        before = contact;
    }
    return SN_OK;
}

sn_status sn_state_unpack(sn_state *state, const void *bytes, size_t size) {
    if (!state)
        return SN_ERR_INVALID_ARGUMENT;
    sn_status status = SN_OK;
    const sn_model *model = state->model;
    size_t vector = sn_node_vector_bytes(model);
    packed_head head;
    if (!bytes || size < sizeof head)
        SN_TRY(sn_fail(model->context, SN_ERR_INVALID_ARGUMENT,
                       "packed state: %zu bytes are none; a state has %zu at least", bytes ? size : 0,
                       packed_size(model, 0)));
    memcpy(&head, bytes, sizeof head);
    SN_TRY(check_head(state, &head, size));
    const unsigned char *x = (const unsigned char *)bytes + sizeof head, *v = x + vector,
                        *contacts = v + vector;
    SN_TRY(
        check_finite(model->context, "time", (const unsigned char *)bytes + offsetof(packed_head, time), 1));
    SN_TRY(check_finite(model->context, "positions", x, 3 * (size_t)model->node_count));
    SN_TRY(check_finite(model->context, "velocities", v, 3 * (size_t)model->node_count));
    SN_TRY(check_contacts(model, contacts, head.contact_count));

    memcpy(state->x, x, vector);
    memcpy(state->v, v, vector);
    state->time = head.time;
    state->contact_count = head.contact_count;
    if (head.contact_count > 0)
        memcpy(state->contacts, contacts, (size_t)head.contact_count * sizeof *state->contacts);
cleanup:
    return status;
}
