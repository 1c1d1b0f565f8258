// Labels: precision
// A body with pins, soft attachments to a moving bone, gravity and friction on a ball ends in the same state,
// bit for bit, for 1, 2 and 4 threads, and when run twice.
#include "test_precision.h"

#include "sinew/sinew.h"

static uint64_t run_once(int32_t threads, sn_integrator integrator, sn_solver_method method) {
    sn_context *ctx = test_context(threads);
    sn_mesh_data *data = NULL;
    sn_mesh *mesh = NULL;
    sn_model_builder *builder = NULL;
    sn_model *model = NULL;
    sn_make_def make = sn_make_def_default(SN_MAKE_BEAM);
    make.cells = 5;
    assert_done(ctx, sn_mesh_make(ctx, &make, &data, NULL));
    assert_done(ctx, sn_mesh_create(ctx, data, false, &mesh));
    assert_done(ctx, sn_model_builder_create(ctx, &builder));

    sn_material_def material = sn_material_def_default();
    material.young = 1e5;
    material.poisson = 0.4;
    sn_body_def body = sn_body_def_default();
    body.mesh = mesh;
    body.material_count = 1;
    body.materials = &material;
    sn_body_id body_id;
    const double gravity[3] = {0, 0, -9.81}, times[2] = {0, 0.2}, turns[6] = {0, 0, 0, 0, 0.5, 0};
    assert_done(ctx, sn_model_set_gravity(builder, gravity));
    assert_done(ctx, sn_model_add_body(builder, &body, &body_id));

    sn_frame_def frame = sn_frame_def_default();
    sn_frame_id frame_id;
    frame.key_count = 2;
    frame.time = times;
    frame.rotation = turns;
    assert_done(ctx, sn_model_add_frame(builder, &frame, &frame_id));
    sn_shape_def bone = sn_shape_def_default();
    sn_shape_id bone_id;
    bone.kind = SN_SHAPE_CAPSULE;
    bone.frame = frame_id;
    bone.point[0] = 0.6, bone.point[1] = bone.point[2] = 0.1;
    bone.point2[0] = 0.9, bone.point2[1] = bone.point2[2] = 0.1;
    bone.radius = 0.05;
    assert_done(ctx, sn_model_add_shape(builder, &bone, &bone_id));
    sn_attachment_def attachment = sn_attachment_def_default();
    attachment.body = body_id;
    attachment.kind = SN_ATTACH_SAMPLES;
    attachment.shape_count = 1;
    attachment.shapes = &bone_id;
    attachment.spacing = 0.03;
    assert_done(ctx, sn_model_add_attachment(builder, &attachment, NULL));
    sn_shape_def ball = sn_shape_def_default();
    sn_shape_id ball_id;
    ball.kind = SN_SHAPE_SPHERE;
    ball.point[0] = 0.5, ball.point[1] = 0.1, ball.point[2] = -0.21;
    ball.radius = 0.2;
    assert_done(ctx, sn_model_add_shape(builder, &ball, &ball_id));
    sn_contact_def contact = sn_contact_def_default();
    contact.body = body_id;
    contact.shape_count = 1;
    contact.shapes = &ball_id;
    contact.friction = 0.3;
    assert_done(ctx, sn_model_add_contact(builder, &contact));
    sn_pin_def pin = sn_pin_def_default();
    pin.body = body_id;
    pin.select = (sn_selection){.kind = SN_SELECT_PLANE, .normal = {1, 0, 0}};
    assert_done(ctx, sn_model_add_pin(builder, &pin, NULL));
    assert_done(ctx, sn_model_build(builder, &model));
    sn_model_builder_destroy(&builder);

    sn_stepper_def def = test_stepper_def();
    def.integrator = integrator;
    def.solver.method = method;
    sn_stepper *stepper = NULL;
    sn_state *state = NULL;
    assert_done(ctx, sn_stepper_create(model, &def, &stepper));
    assert_done(ctx, sn_state_create(model, &state));
    uint64_t allocations = 0;
    for (int n = 0; n < 12; n++) {
        assert_done(ctx, sn_step(stepper, state, 1.0 / 60, NULL));
        if (n == 0)
            allocations = sn_context_allocation_count(ctx);
    }
    assert_true(sn_context_allocation_count(ctx) == allocations); // stepping does not allocate
    assert_true(sn_state_contact_count(state) > 0);
    uint64_t hash = sn_state_hash(state);
    sn_state_destroy(&state);
    sn_stepper_destroy(&stepper);
    sn_model_destroy(&model);
    sn_mesh_destroy(&mesh);
    sn_mesh_data_destroy(&data);
    test_context_end(&ctx);
    return hash;
}

static void same_bits_for_any_thread_count(void **state) {
    (void)state;
    for (int integrator = 0; integrator < 2; integrator++)
        for (int method = 0; method < 2; method++) {
            uint64_t first = run_once(1, (sn_integrator)integrator, (sn_solver_method)method);
            assert_true(run_once(1, (sn_integrator)integrator, (sn_solver_method)method) == first);
            assert_true(run_once(2, (sn_integrator)integrator, (sn_solver_method)method) == first);
            assert_true(run_once(4, (sn_integrator)integrator, (sn_solver_method)method) == first);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits_for_any_thread_count)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
