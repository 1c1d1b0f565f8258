// A rubber beam, held at one end, bends under its own weight. Prints how far the free end sinks.
#include <sinew/sinew.h>

#include <stdio.h>

// Builds the model: a beam of 0.5 x 0.1 x 0.1 m along x whose nodes at x = 0 are pinned.
static sn_status build(sn_context *context, sn_model_builder *builder, sn_model **out_model) {
    sn_mesh_data *data = NULL;
    sn_mesh *mesh = NULL;
    sn_make_def shape = sn_make_def_default(SN_MAKE_BEAM);
    shape.size[0] = 0.5;
    shape.size[1] = shape.size[2] = 0.1;
    shape.cells = 4;
    sn_status status = sn_mesh_make(context, &shape, &data, NULL);
    if (status >= 0)
        status = sn_mesh_create(context, data, false, &mesh);

    sn_material_def rubber = sn_material_def_default();
    rubber.young = 5e5;
    sn_body_id beam;
    sn_body_def body = sn_body_def_default();
    body.mesh = mesh;
    body.materials = &rubber;
    body.material_count = 1;
    if (status >= 0)
        status = sn_model_add_body(builder, &body, &beam);

    sn_pin_def wall = sn_pin_def_default();
    wall.select = (sn_selection){.kind = SN_SELECT_PLANE, .normal = {1, 0, 0}};
    if (status >= 0) {
        wall.body = beam;
        status = sn_model_add_pin(builder, &wall, NULL);
    }
    if (status >= 0)
        status = sn_model_set_gravity(builder, (double[3]){0, 0, -9.81});
    if (status >= 0)
        status = sn_model_build(builder, out_model);

    // The model has copied what it needs.
    sn_mesh_destroy(&mesh);
    sn_mesh_data_destroy(&data);
    return status;
}

// Takes one step of 1 s to the equilibrium and prints what came of it.
static sn_status simulate(const sn_model *model) {
    sn_state *state = NULL;
    sn_stepper *stepper = NULL;
    sn_step_info info;
    sn_stepper_def def = sn_stepper_def_default();
    def.integrator = SN_INTEGRATOR_QUASISTATIC;
    def.solver.iterations = 100;
    sn_status status = sn_state_create(model, &state);
    if (status >= 0)
        status = sn_stepper_create(model, &def, &stepper);
    if (status >= 0)
        status = sn_step(stepper, state, 1.0, &info);
    if (status >= 0) {
        const double *x = sn_state_positions(state), *rest = sn_model_rest_positions(model);
        const int32_t node_count = sn_model_get_info(model).node_count;
        double sag = 0;
        for (int32_t i = 0; i < node_count; i++)
            sag = rest[3 * i + 2] - x[3 * i + 2] > sag ? rest[3 * i + 2] - x[3 * i + 2] : sag;
        printf("the free end sinks by %.1f mm (%s after %d iterations)\n", 1000 * sag,
               info.status == SN_STEP_CONVERGED ? "converged" : "not converged", (int)info.iterations);
    }
    sn_stepper_destroy(&stepper);
    sn_state_destroy(&state);
    return status;
}

int main(void) {
    sn_context *context = NULL;
    sn_model_builder *builder = NULL;
    sn_model *model = NULL;
    sn_status status = sn_context_create(NULL, &context);
    if (status >= 0)
        status = sn_model_builder_create(context, &builder);
    if (status >= 0)
        status = build(context, builder, &model);
    if (status >= 0)
        status = simulate(model);
    if (status < 0)
        fprintf(stderr, "%s: %s\n", sn_status_name(status), sn_context_message(context));

    // In the reverse order of making; each accepts what was never made.
    sn_model_destroy(&model);
    sn_model_builder_destroy(&builder);
    sn_context_destroy(&context);
    return status < 0;
}
