// Building a model while the n-th allocation fails, for every n: it is refused cleanly, nothing leaks, and
// with the next try the builder works as if nothing had been.
#include "unit/sim/test_sim_fixture.h"

/// Fails one allocation, the one number `fatal` counted from the last reset.
typedef struct failing_allocator {
    int64_t count, fatal;
} failing_allocator;

static void *allocate(void *user, size_t size) {
    failing_allocator *failing = user;
    if (failing->count++ == failing->fatal)
        return NULL;
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

static void release(void *user, void *memory) {
    (void)user;
    free(memory);
}

/// What the model is made from; made before anything fails.
typedef struct ingredients {
    sn_context *ctx;
    sn_mesh *mesh, *lattice;
    sn_mesh_data *ball;
    sn_embedding *embedding;
    sn_material_def material;
} ingredients;

static ingredients prepare(failing_allocator *failing) {
    ingredients in = {0};
    sn_mesh_data *data = NULL;
    sn_context_def def = sn_context_def_default();
    def.thread_count = 1;
    def.allocator = (sn_allocator){failing, allocate, release};
    failing->fatal = -1;
    assert_int_equal(sn_context_create(&def, &in.ctx), SN_OK);
    sn_make_def make = sn_make_def_default(SN_MAKE_BEAM);
    make.cells = 1;
    assert_done(in.ctx, sn_mesh_make(in.ctx, &make, &data, NULL));
    assert_done(in.ctx, sn_mesh_create(in.ctx, data, false, &in.mesh));
    sn_mesh_data_destroy(&data);
    make = sn_make_def_default(SN_MAKE_SPHERE);
    make.cells = 3;
    sn_lattice_def fill = sn_lattice_def_default();
    fill.cells = 2;
    assert_done(in.ctx, sn_mesh_make(in.ctx, &make, &in.ball, NULL));
    assert_done(in.ctx, sn_lattice_create(in.ctx, in.ball, &fill, &in.lattice, &in.embedding));
    in.material = sn_material_def_default();
    in.material.young = 1e5;
    return in;
}

static void end(ingredients *in) {
    sn_embedding_destroy(&in->embedding);
    sn_mesh_destroy(&in->lattice);
    sn_mesh_destroy(&in->mesh);
    sn_mesh_data_destroy(&in->ball);
    test_context_end(&in->ctx);
}

/// Tries a call again when it failed for want of memory: a refused call must leave everything as it was.
#define insist(call)                                                                                         \
    do {                                                                                                     \
        sn_status insist_status = (call);                                                                    \
        if (insist_status == SN_ERR_NO_MEMORY)                                                               \
            insist_status = (call);                                                                          \
        assert_int_equal(insist_status, SN_OK);                                                              \
    } while (0)

static void add_bodies(const ingredients *in, sn_model_builder *builder, sn_body_id id[2]) {
    sn_body_def def = sn_body_def_default();
    def.material_count = 1, def.materials = &in->material;
    def.mesh = in->mesh;
    insist(sn_model_add_body(builder, &def, &id[0]));
    def.mesh = in->lattice, def.surface = in->ball, def.embedding = in->embedding;
    insist(sn_model_add_body(builder, &def, &id[1]));
}

static void add_ties(const ingredients *in, sn_model_builder *builder, const sn_body_id id[2]) {
    const double time[2] = {0, 1}, turn[6] = {0, 0, 0, 0, 0, 1};
    sn_frame_id frame;
    sn_frame_def moving = sn_frame_def_default();
    moving.key_count = 2, moving.time = time, moving.rotation = turn;
    insist(sn_model_add_frame(builder, &moving, &frame));
    sn_shape_id shape[2];
    sn_shape_def bone = sn_shape_def_default();
    bone.kind = SN_SHAPE_SPHERE, bone.radius = 0.05, bone.frame = frame;
    insist(sn_model_add_shape(builder, &bone, &shape[0]));
    bone.kind = SN_SHAPE_MESH, bone.surface = in->ball;
    insist(sn_model_add_shape(builder, &bone, &shape[1]));
    sn_attachment_def tie = sn_attachment_def_default();
    tie.body = id[1], tie.shape_count = 2, tie.shapes = shape;
    insist(sn_model_add_attachment(builder, &tie, NULL));
    tie.kind = SN_ATTACH_SAMPLES, tie.spacing = 0.05;
    insist(sn_model_add_attachment(builder, &tie, NULL));
    sn_pin_def pin = sn_pin_def_default();
    pin.body = id[0], pin.frame = frame;
    pin.select = (sn_selection){.kind = SN_SELECT_BOX, .high = {0, 1, 1}};
    insist(sn_model_add_pin(builder, &pin, NULL));
    // Nodes on the axis belong to the frame and, without contradiction, to the world.
    pin.select.high[1] = 0, pin.frame = (sn_frame_id){0};
    insist(sn_model_add_pin(builder, &pin, NULL));
    sn_load_def load = sn_load_def_default();
    load.body = id[0], load.select = (sn_selection){.kind = SN_SELECT_ALL};
    load.spread = SN_SPREAD_AREA, load.force[0] = 1;
    insist(sn_model_add_load(builder, &load, NULL));
    sn_spring_def spring = sn_spring_def_default();
    spring.body = id[0], spring.body2 = id[1], spring.stiffness = 1;
    spring.point[0] = 0.3, spring.point[1] = 0.1;
    insist(sn_model_add_spring(builder, &spring));
    sn_contact_def contact = sn_contact_def_default();
    contact.shape_count = 2, contact.shapes = shape;
    for (int b = 0; b < 2; b++) {
        contact.body = id[b];
        insist(sn_model_add_contact(builder, &contact));
    }
}

/// Builds all; returns the hash of the start state.
static uint64_t build_all(const ingredients *in, int32_t *out_springs) {
    sn_model_builder *builder = NULL;
    sn_model *model = NULL;
    sn_state *now = NULL;
    sn_stepper *stepper = NULL;
    sn_body_id id[2];
    insist(sn_model_builder_create(in->ctx, &builder));
    add_bodies(in, builder, id);
    add_ties(in, builder, id);
    insist(sn_model_build(builder, &model));
    sn_model_builder_destroy(&builder);
    insist(sn_state_create(model, &now));
    insist(sn_stepper_create(model, NULL, &stepper));
    sn_stepper_destroy(&stepper);
    uint64_t hash = sn_state_hash(now);
    sn_model_info info = sn_model_get_info(model);
    *out_springs = info.attachment_count + info.spring_count;
    assert_int_equal(info.pinned_node_count, 4);
    assert_int_equal(info.contact_pair_count, 4);
    sn_state_destroy(&now);
    sn_model_destroy(&model);
    return hash;
}

static void survives_every_failure(void **state) {
    (void)state;
    failing_allocator failing = {0};
    ingredients in = prepare(&failing);
    size_t before = sn_context_memory_in_use(in.ctx);
    int32_t springs = 0, springs_now = 0;
    failing.count = 0;
    uint64_t hash = build_all(&in, &springs);
    int64_t allocations = failing.count;
    assert_true(springs > 10 && allocations > 100);
    for (int64_t n = 0; n < allocations; n++) {
        failing.count = 0, failing.fatal = n;
        assert_true(build_all(&in, &springs_now) == hash);
        assert_int_equal(springs_now, springs);
        assert_true(failing.count > n);
        assert_int_equal(sn_context_memory_in_use(in.ctx), before);
    }
    failing.fatal = -1;
    end(&in);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(survives_every_failure)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
