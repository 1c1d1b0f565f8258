/// What `sinew run` and `sinew check` share: a scene, its model and a stepper.
#ifndef SINEW_CLI_SIMULATION_H
#define SINEW_CLI_SIMULATION_H

#include "cli.h"
#include "sinew/sinew.h"

typedef struct cli_simulation {
    sn_context *context;
    sn_scene *scene;
    sn_model *model;
    sn_stepper *stepper;
    sn_state *state;
} cli_simulation;

/// Loads `path` with the overrides and makes all parts. @return CLI_DONE, or another code after a message; in
/// either case cli_simulation_close() is due.
int cli_simulation_open(cli_simulation *simulation, const char *path, const cli_list *overrides,
                        int32_t threads, bool quiet, bool verbose);
void cli_simulation_close(cli_simulation *simulation);

#endif
