/// sinew check: loads a scene as `run` would and reports what it found, without stepping.
#include "cli_simulation.h"

#include <stdio.h>

static int run_check(int argc, char **argv);

typedef struct check_values {
    int32_t threads;
    cli_list set;
    bool quiet, verbose;
} check_values;

static const cli_option options[] = {{.name = "threads",
                                      .kind = CLI_INT,
                                      .offset = offsetof(check_values, threads),
                                      .value = "N",
                                      .help = "threads (default: all)",
                                      .low = 1,
                                      .high = 256},
                                     {.name = "set",
                                      .kind = CLI_LIST,
                                      .offset = offsetof(check_values, set),
                                      .value = "KEY=VALUE",
                                      .help = "overrides a value of the scene by its path; may be repeated"},
                                     {.name = "quiet",
                                      .letter = 'q',
                                      .kind = CLI_FLAG,
                                      .offset = offsetof(check_values, quiet),
                                      .help = "errors only"},
                                     {.name = "verbose",
                                      .letter = 'v',
                                      .kind = CLI_FLAG,
                                      .offset = offsetof(check_values, verbose),
                                      .help = "also what is going on"},
                                     {.name = NULL}};

const cli_command cli_check_command = {
    .name = "check",
    .usage = "check SCENE [--threads N] [--set KEY=VALUE]... [-q|-v]",
    .summary = "Loads a scene and reports sizes, masses, predicted memory and warnings; steps nothing.",
    .options = options,
    .operand_min = 1,
    .operand_max = 1,
    .run = run_check};

static void print_bodies(const sn_model *model) {
    sn_model_info info = sn_model_get_info(model);
    for (int32_t b = 0; b < info.body_count; b++) {
        sn_body_info body = sn_model_body(model, b);
        printf("body %s: %d nodes, %d tets, volume %.6g m^3, mass %.6g kg, surface of %d triangles%s\n",
               body.name, body.node_count, body.tet_count, body.volume, body.mass,
               body.surface_triangle_count, body.embedded ? " (embedded)" : "");
    }
}

static void print_model(const sn_model *model) {
    sn_model_info info = sn_model_get_info(model);
    printf("bounds (m): [%.6g, %.6g, %.6g] to [%.6g, %.6g, %.6g]; mean edge %.6g m\n", info.low[0],
           info.low[1], info.low[2], info.high[0], info.high[1], info.high[2], info.edge_mean);
    printf("total: %d nodes (%d free, %d pinned), %d tets, volume %.6g m^3, mass %.6g kg\n", info.node_count,
           info.free_node_count, info.pinned_node_count, info.tet_count, info.volume, info.mass);
    printf("ties: %d attachment points, %d springs; %d rigid shapes; %d unanchored pieces\n",
           info.attachment_count, info.spring_count, info.shape_count, info.unanchored_piece_count);
}

/// What a pair keeps the points of its body out of.
static const char *other_side(const sn_model *model, const sn_contact_pair_info *pair) {
    if (pair->shape >= 0)
        return sn_model_shape(model, pair->shape)->name;
    return pair->other_body == pair->body ? "itself" : sn_model_body(model, pair->other_body).name;
}

/// Pairs that may touch, as far as they fit on a screen.
static void print_contacts(const sn_model *model) {
    enum { LINES_MAX = 20 };
    sn_model_info info = sn_model_get_info(model);
    if (info.contact_pair_count == 0)
        return;
    printf("contact: %d pairs, %d surface points watched, %d nodes kept in contact zones\n",
           info.contact_pair_count, info.proxy_count, info.kept_node_count);
    for (int32_t p = 0; p < info.contact_pair_count && p < LINES_MAX; p++) {
        sn_contact_pair_info pair = sn_model_contact_pair(model, p);
        printf("  %s and %s: friction %g, stiffness %.4g", sn_model_body(model, pair.body).name,
               other_side(model, &pair), pair.friction, pair.stiffness_low);
        if (pair.stiffness_high > 1.001 * pair.stiffness_low)
            printf(" to %.4g", pair.stiffness_high);
        printf(" Pa/m, %d points\n", pair.proxy_count);
    }
    if (info.contact_pair_count > LINES_MAX)
        printf("  ... %d pairs in all\n", info.contact_pair_count);
}

/// Cost guesses from the factor's counts: a sweep reads it twice, at about 5 GB/s a core.
static void print_cost(const cli_simulation *s) {
    sn_stepper_report report = sn_stepper_get_report(s->stepper);
    sn_time_def time = sn_scene_time(s->scene);
    sn_stepper_def stepper = sn_scene_stepper(s->scene);
    double memory = (double)sn_context_memory_in_use(s->context);
    printf("factor: %lld non-zeros, %.3g GFLOP\n", (long long)report.factor_nonzeros,
           report.factor_flops * 1e-9);
    printf("memory: %.0f MB now, about as much while stepping\n", memory * 1e-6);
    bool is_fast = stepper.precision == SN_PRECISION_FAST;
    double sweep = 2 * (is_fast ? 4 : 8) * (double)report.factor_nonzeros / 5e9;
    double local = (is_fast ? 80e-9 : 110e-9) * sn_model_get_info(s->model).tet_count;
    double step = stepper.solver.iterations * (sweep + local) / sn_context_thread_count(s->context);
    printf("time: %d frames of %.6g s in %d substeps; roughly %.2g s a frame at the full budget of %d "
           "iterations\n",
           time.frames, time.frame_seconds, time.substeps, step * time.substeps, stepper.solver.iterations);
    if (stepper.integrator == SN_INTEGRATOR_IMPLICIT_EULER) {
        double h = time.frame_seconds / time.substeps;
        printf("damping: implicit Euler at %.4g s damps a mode of f Hz with ratio about %.3g f\n", h,
               3.14159265358979 * h);
    }
}

static int run_check(int argc, char **argv) {
    check_values values = {0};
    cli_list operands;
    int code = cli_parse(&cli_check_command, argc, argv, &values, &operands);
    if (code != CLI_DONE)
        return code;
    cli_simulation simulation;
    code = cli_simulation_open(&simulation, operands.item[0], &values.set, values.threads, values.quiet,
                               values.verbose);
    if (code == CLI_DONE && !values.quiet) {
        printf("%s is fine\n", operands.item[0]);
        print_bodies(simulation.model);
        print_model(simulation.model);
        print_contacts(simulation.model);
        print_cost(&simulation);
    }
    cli_simulation_close(&simulation);
    return code;
}
