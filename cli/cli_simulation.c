#include "cli_simulation.h"

int cli_simulation_open(cli_simulation *s, const char *path, const cli_list *overrides, int32_t threads,
                        bool quiet, bool verbose) {
    *s = (cli_simulation){0};
    int code = cli_context_create(threads, quiet, verbose, &s->context);
    if (code != CLI_DONE)
        return code;
    sn_status status = sn_scene_load(s->context, path, overrides->count, overrides->item, &s->scene);
    if (status >= 0)
        status = sn_scene_build(s->scene, &s->model);
    if (status >= 0) {
        sn_stepper_def def = sn_scene_stepper(s->scene);
        status = sn_stepper_create(s->model, &def, &s->stepper);
    }
    if (status >= 0)
        status = sn_state_create(s->model, &s->state);
    return status >= 0 ? CLI_DONE : cli_fail_status(s->context, status);
}

void cli_simulation_close(cli_simulation *s) {
    sn_state_destroy(&s->state);
    sn_stepper_destroy(&s->stepper);
    sn_model_destroy(&s->model);
    sn_scene_destroy(&s->scene);
    sn_context_destroy(&s->context);
}
