// Steps a scene file and prints, frame by frame, how the body moves: first SCENE
#include <sinew/sinew.h>

#include <stdio.h>

static double mean_height(const sn_state *state) {
    const int32_t nodes = sn_model_get_info(sn_state_model(state)).node_count;
    const double *x = sn_state_positions(state);
    double sum = 0;
    for (int32_t i = 0; i < nodes; i++)
        sum += x[3 * i + 2];
    return sum / nodes;
}

// Steps through the scene's frames. On entry the state is the start.
static sn_status play(const sn_scene *scene, sn_stepper *stepper, sn_state *state) {
    const sn_time_def time = sn_scene_time(scene);
    const double h = time.frame_seconds / time.substeps;
    for (int32_t frame = 1; frame <= time.frames; frame++) {
        sn_step_info info;
        for (int32_t i = 0; i < time.substeps; i++) {
            sn_status status = sn_step(stepper, state, h, &info);
            if (status < 0)
                return status;
        }
        printf("t = %.3f s: mean height %.4f m, elastic energy %.4g J\n", info.time, mean_height(state),
               info.energy.elastic);
    }
    return SN_OK;
}

int main(int argc, char **argv) {
    sn_context *context = NULL;
    sn_scene *scene = NULL;
    sn_model *model = NULL;
    sn_state *state = NULL;
    sn_stepper *stepper = NULL;
    sn_status status = sn_context_create(NULL, &context);
    if (status >= 0)
        status = sn_scene_load(context, argc > 1 ? argv[1] : "examples/beam.yaml", 0, NULL, &scene);
    if (status >= 0)
        status = sn_scene_build(scene, &model);
    if (status >= 0)
        status = sn_state_create(model, &state);
    if (status >= 0) {
        const sn_stepper_def def = sn_scene_stepper(scene);
        status = sn_stepper_create(model, &def, &stepper);
    }
    if (status >= 0)
        status = play(scene, stepper, state);
    if (status < 0)
        fprintf(stderr, "%s: %s\n", sn_status_name(status), sn_context_message(context));

    // In the reverse order of making; each accepts what was never made.
    sn_stepper_destroy(&stepper);
    sn_state_destroy(&state);
    sn_model_destroy(&model);
    sn_scene_destroy(&scene);
    sn_context_destroy(&context);
    return status < 0;
}
