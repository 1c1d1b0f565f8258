// Packed states: all that the next step reads goes in and comes out, and nothing else is let in. Model
// hashes: equal for equal models, other for each change that steps can feel.
#include "test_sim_fixture.h"

#include "sim/sim_hash.h"
#include "sim/sim_state.h"

/// A beam that has fallen onto a plane, some steps on.
typedef struct pack_fixture {
    sim_fixture sim;
    sn_model *model;
    sn_stepper *stepper;
    sn_state *state;
    size_t size;
    unsigned char *bytes; ///< [size] the packed state
} pack_fixture;

static void add_floor(sim_fixture *f) {
    sn_shape_def plane = sn_shape_def_default();
    sn_contact_def contact = sn_contact_def_default();
    sn_shape_id shape;
    plane.normal[2] = 1;
    plane.point[2] = -0.01;
    assert_done(f->ctx, sn_model_add_shape(f->builder, &plane, &shape));
    contact.body = f->body;
    contact.shape_count = 1;
    contact.shapes = &shape;
    contact.friction = 0.3;
    assert_done(f->ctx, sn_model_add_contact(f->builder, &contact));
    assert_done(f->ctx, sn_model_set_gravity(f->builder, (double[3]){1, 0, -9.81}));
}

static void step(const pack_fixture *f, sn_state *state, int count) {
    for (int i = 0; i < count; i++)
        assert_done(f->sim.ctx, sn_step(f->stepper, state, 0.01, NULL));
}

static pack_fixture pack_begin(void) {
    pack_fixture f = {.sim = fixture_beam(1)};
    add_floor(&f.sim);
    f.model = fixture_build(&f.sim);
    assert_done(f.sim.ctx, sn_stepper_create(f.model, NULL, &f.stepper));
    assert_done(f.sim.ctx, sn_state_create(f.model, &f.state));
    step(&f, f.state, 8);
    assert_true(sn_state_contact_count(f.state) > 10);
    f.size = sn_state_packed_size(f.state);
    f.bytes = malloc(f.size);
    sn_state_pack(f.state, f.bytes);
    return f;
}

static void pack_end(pack_fixture *f) {
    free(f->bytes);
    sn_state_destroy(&f->state);
    sn_stepper_destroy(&f->stepper);
    sn_model_destroy(&f->model);
    fixture_end(&f->sim);
}

/// A restored state takes the same steps, with the same stepper and with a new one.
static void restores_all_that_steps_read(void **state) {
    (void)state;
    pack_fixture f = pack_begin();
    sn_state *other = NULL;
    sn_stepper *fresh = NULL;
    assert_done(f.sim.ctx, sn_state_create(f.model, &other));
    assert_done(f.sim.ctx, sn_stepper_create(f.model, NULL, &fresh));
    assert_true(sn_state_hash(other) != sn_state_hash(f.state));
    assert_done(f.sim.ctx, sn_state_unpack(other, f.bytes, f.size));
    assert_true(sn_state_hash(other) == sn_state_hash(f.state));
    assert_int_equal(sn_state_packed_size(other), f.size);
    unsigned char *again = malloc(f.size);
    sn_state_pack(other, again);
    assert_memory_equal(again, f.bytes, f.size);
    step(&f, f.state, 10);
    for (int i = 0; i < 10; i++)
        assert_done(f.sim.ctx, sn_step(fresh, other, 0.01, NULL));
    assert_true(sn_state_hash(other) == sn_state_hash(f.state));
    assert_int_equal(sn_state_contact_count(other), sn_state_contact_count(f.state));
    free(again);
    sn_stepper_destroy(&fresh);
    sn_state_destroy(&other);
    pack_end(&f);
}

/// Fails unless the bytes are refused, with that word in the message, and the state stays as it is.
static void refuse(const pack_fixture *f, sn_state *target, const unsigned char *bytes, size_t size,
                   sn_status wanted, const char *word) {
    uint64_t before = sn_state_hash(target);
    assert_int_equal(sn_state_unpack(target, bytes, size), wanted);
    if (!strstr(sn_context_message(f->sim.ctx), word))
        fail_msg("message without \"%s\": %s", word, sn_context_message(f->sim.ctx));
    assert_true(sn_state_hash(target) == before);
}

static void refuses_other_sizes(void **state) {
    (void)state;
    pack_fixture f = pack_begin();
    sn_state *target = NULL;
    assert_done(f.sim.ctx, sn_state_create(f.model, &target));
    for (size_t size = 0; size < f.size; size++) {
        unsigned char *cut = malloc(size + 1); // exactly as long, for the address sanitizer
        memcpy(cut, f.bytes, size);
        refuse(&f, target, cut, size, SN_ERR_INVALID_ARGUMENT, "packed state: ");
        free(cut);
    }
    refuse(&f, target, NULL, f.size, SN_ERR_INVALID_ARGUMENT, "packed state: ");
    assert_int_equal(sn_state_unpack(NULL, f.bytes, f.size), SN_ERR_INVALID_ARGUMENT);
    sn_state_destroy(&target);
    pack_end(&f);
}

/// Offset of a member of the contact of that number.
#define CONTACT(f, number, member)                                                                           \
    ((f).size - (size_t)sn_state_contact_count((f).state) * sizeof(sn_contact_record) +                      \
     (number) * sizeof(sn_contact_record) + offsetof(sn_contact_record, member))

static void refuses_what_the_model_cannot_have(void **state) {
    (void)state;
    pack_fixture f = pack_begin();
    sn_state *target = NULL;
    assert_done(f.sim.ctx, sn_state_create(f.model, &target));
    int32_t proxy_count = f.model->bodies[0].proxies.count, first;
    memcpy(&first, f.bytes + CONTACT(f, 0, proxy), sizeof first);
    const struct {
        size_t offset;
        int32_t value;
        const char *word;
    } cases[] = {
        {0, 7, "no packed state"},
        {8, f.model->node_count + 1, "nodes"},
        {12, -1, "contacts"},
        {12, f.state->contact_capacity + 1, "contacts"},
        {12, sn_state_contact_count(f.state) + 1, "bytes"},
        {CONTACT(f, 0, pair), -1, "contact 0"},
        {CONTACT(f, 1, pair), 1, "contact 1"},
        {CONTACT(f, 2, proxy), -1, "contact 2"},
        {CONTACT(f, 2, proxy), proxy_count, "contact 2"},
        {CONTACT(f, 1, proxy), first, "out of order"},
        {CONTACT(f, 3, sticking), 2, "contact 3"},
        {CONTACT(f, 3, ended), 2, "contact 3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char kept[4];
        memcpy(kept, f.bytes + cases[i].offset, sizeof kept);
        memcpy(f.bytes + cases[i].offset, &cases[i].value, sizeof kept);
        refuse(&f, target, f.bytes, f.size, SN_ERR_INVALID_ARGUMENT, cases[i].word);
        memcpy(f.bytes + cases[i].offset, kept, sizeof kept);
    }
    assert_done(f.sim.ctx, sn_state_unpack(target, f.bytes, f.size));
    sn_state_destroy(&target);
    pack_end(&f);
}

static void refuses_numbers_that_are_none(void **state) {
    (void)state;
    pack_fixture f = pack_begin();
    sn_state *target = NULL;
    assert_done(f.sim.ctx, sn_state_create(f.model, &target));
    size_t vectors = 24 + 48 * (size_t)f.model->node_count;
    const double none[] = {NAN, INFINITY, -INFINITY};
    int tried = 0;
    // The time, every position and velocity, then the numbers of the contacts.
    for (size_t offset = 16; offset < f.size; offset += 8) {
        bool is_name =
            offset >= vectors &&
            ((offset - vectors) % sizeof(sn_contact_record) < offsetof(sn_contact_record, foot) ||
             (offset - vectors) % sizeof(sn_contact_record) >= offsetof(sn_contact_record, sticking));
        if (is_name)
            continue;
        double kept;
        memcpy(&kept, f.bytes + offset, sizeof kept);
        memcpy(f.bytes + offset, &none[tried++ % 3], sizeof kept);
        refuse(&f, target, f.bytes, f.size, SN_ERR_NON_FINITE, "must be finite");
        memcpy(f.bytes + offset, &kept, sizeof kept);
    }
    assert_int_equal(tried, 1 + 6 * f.model->node_count + 13 * sn_state_contact_count(f.state));
    sn_state_destroy(&target);
    pack_end(&f);
}

/// What may differ between two models, in one place each.
typedef struct model_variant {
    double young, density, gravity, friction, stiffness, pin_at, load, key, height, velocity, spring;
} model_variant;

static uint64_t hash_of(const model_variant *v) {
    sim_fixture f = fixture_empty(1);
    sn_shape_id shape;
    sn_body_def body = fixture_body(&f);
    sn_frame_def frame = sn_frame_def_default();
    sn_shape_def plane = sn_shape_def_default();
    sn_contact_def contact = sn_contact_def_default();
    sn_pin_def pin = sn_pin_def_default();
    sn_load_def load = sn_load_def_default();
    sn_spring_def spring = sn_spring_def_default();
    const double time[] = {0, v->key};
    f.material.young = v->young;
    f.material.density = v->density;
    body.initial.velocity[0] = v->velocity;
    assert_done(f.ctx, sn_model_add_body(f.builder, &body, &f.body));
    frame.key_count = 2;
    frame.time = time;
    plane.normal[2] = 1;
    plane.point[2] = v->height;
    assert_done(f.ctx, sn_model_add_frame(f.builder, &frame, &plane.frame));
    assert_done(f.ctx, sn_model_add_shape(f.builder, &plane, &shape));
    contact.body = pin.body = load.body = spring.body = f.body;
    contact.shape_count = 1;
    contact.shapes = &shape;
    contact.friction = v->friction;
    contact.stiffness = v->stiffness;
    pin.select = select_plane(0, 1, v->pin_at);
    load.force[1] = v->load;
    spring.stiffness = v->spring;
    spring.point2[2] = 2;
    assert_done(f.ctx, sn_model_add_contact(f.builder, &contact));
    assert_done(f.ctx, sn_model_add_pin(f.builder, &pin, NULL));
    assert_done(f.ctx, sn_model_add_load(f.builder, &load, NULL));
    assert_done(f.ctx, sn_model_add_spring(f.builder, &spring));
    assert_done(f.ctx, sn_model_set_gravity(f.builder, (double[3]){0, 0, v->gravity}));
    sn_model *model = fixture_build(&f);
    uint64_t hash = sn_model_hash(model);
    sn_model_destroy(&model);
    fixture_end(&f);
    return hash;
}

static void tells_models_apart(void **state) {
    (void)state;
    const model_variant plain = {1e5, 1000, -9.81, 0.3, 1e7, 0.2, 5, 1, -0.1, 0, 10};
    uint64_t hash = hash_of(&plain);
    assert_true(hash_of(&plain) == hash);
    for (size_t i = 0; i < sizeof plain / sizeof(double); i++) {
        model_variant other = plain;
        double *field = (double *)&other + i;
        *field = i == offsetof(model_variant, pin_at) / sizeof(double) ? 0.4 : *field + 0.125;
        if (hash_of(&other) == hash)
            fail_msg("the model hash does not see field %zu", i);
    }
}

static void tells_steppers_apart(void **state) {
    (void)state;
    sn_stepper_def plain = sn_stepper_def_default(), other = plain;
    assert_true(sn_stepper_def_hash(&other) == sn_stepper_def_hash(&plain));
    other.integrator = SN_INTEGRATOR_QUASISTATIC;
    assert_true(sn_stepper_def_hash(&other) != sn_stepper_def_hash(&plain));
    other = plain, other.solver.method = SN_SOLVER_PROJECTIVE;
    assert_true(sn_stepper_def_hash(&other) != sn_stepper_def_hash(&plain));
    other = plain, other.solver.iterations++;
    assert_true(sn_stepper_def_hash(&other) != sn_stepper_def_hash(&plain));
    other = plain, other.solver.tolerance *= 2;
    assert_true(sn_stepper_def_hash(&other) != sn_stepper_def_hash(&plain));
    other = plain, other.solver.history++;
    assert_true(sn_stepper_def_hash(&other) != sn_stepper_def_hash(&plain));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restores_all_that_steps_read),
        cmocka_unit_test(refuses_other_sizes),
        cmocka_unit_test(refuses_what_the_model_cannot_have),
        cmocka_unit_test(refuses_numbers_that_are_none),
        cmocka_unit_test(tells_models_apart),
        cmocka_unit_test(tells_steppers_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
