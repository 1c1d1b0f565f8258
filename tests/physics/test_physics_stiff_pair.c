// Labels: slow
// Stiff bodies that hit each other, with friction, end with less energy than they began with.
#include "test_support.h"

#include "sinew/sinew.h"

/// Energy of motion, of deformation and of contact at the end over what it is at most before.
static double energy_left(const char *young) {
    sn_context *ctx = test_context(2);
    sn_scene *scene = NULL;
    sn_model *model = NULL;
    sn_stepper *stepper = NULL;
    sn_state *state = NULL;
    const char *overrides[1] = {young};
    assert_done(ctx,
                sn_scene_load(ctx, SINEW_SOURCE_DIR "/tests/scenes/stiff_pair.yaml", 1, overrides, &scene));
    assert_done(ctx, sn_scene_build(scene, &model));
    sn_stepper_def def = sn_scene_stepper(scene);
    assert_done(ctx, sn_stepper_create(model, &def, &stepper));
    assert_done(ctx, sn_state_create(model, &state));
    sn_time_def time = sn_scene_time(scene);
    double last = 0, most = 0;
    for (int32_t i = 0; i < time.frames; i++) {
        sn_step_info info = {0};
        assert_done(ctx, sn_step(stepper, state, time.frame_seconds, &info));
        last = info.energy.kinetic + info.energy.elastic + info.energy.contact;
        // It falls for the first two frames.
        if (i < 2)
            most = fmax(most, last);
        assert_at_most(last, most);
    }
    sn_state_destroy(&state);
    sn_stepper_destroy(&stepper);
    sn_model_destroy(&model);
    sn_scene_destroy(&scene);
    test_context_end(&ctx);
    return last / most;
}

static void impacts_end_at_rest(void **state) {
    (void)state;
    assert_at_most(energy_left("materials.m.young=1e6"), 0.1);
    assert_at_most(energy_left("materials.m.young=1e9"), 0.1);
    assert_at_most(energy_left("materials.m.young=1e10"), 0.1);
    assert_at_most(energy_left("materials.m.young=1e12"), 0.1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(impacts_end_at_rest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
