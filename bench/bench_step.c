/// What a step costs by stage, in ms per iteration, with all threads against one: a Kuhn block under gravity,
/// projective dynamics with a fixed budget.
#include "bench.h"

#include "sinew/sinew.h"

#include <stdio.h>

enum { ITERATIONS = 10 };

/// Median stage times per iteration in ms.
typedef struct stage_times {
    double local, sweep, total;
} stage_times;

typedef struct step_setup {
    sn_context *context;
    sn_model *model;
    sn_stepper *stepper;
    sn_state *state;
    int32_t tets;
} step_setup;

static sn_status add_block(sn_model_builder *builder, sn_context *context, int32_t cells) {
    sn_mesh_data *data = NULL;
    sn_mesh *mesh = NULL;
    sn_make_def make = sn_make_def_default(SN_MAKE_BEAM);
    make.size[0] = make.size[1] = make.size[2] = 1;
    make.cells = cells;
    sn_material_def material = sn_material_def_default();
    material.young = 1e5;
    material.poisson = 0.4;
    sn_body_def body = sn_body_def_default();
    body.material_count = 1;
    body.materials = &material;
    sn_pin_def pin = sn_pin_def_default();
    pin.select = (sn_selection){.kind = SN_SELECT_PLANE, .normal = {1, 0, 0}};
    sn_status status = sn_mesh_make(context, &make, &data, NULL);
    if (status >= 0)
        status = sn_mesh_create(context, data, false, &mesh);
    body.mesh = mesh;
    if (status >= 0)
        status = sn_model_add_body(builder, &body, &pin.body);
    if (status >= 0)
        status = sn_model_add_pin(builder, &pin, NULL);
    sn_mesh_destroy(&mesh);
    sn_mesh_data_destroy(&data);
    return status;
}

static sn_status build(step_setup *s, int32_t cells) {
    const double gravity[3] = {0, 0, -9.81};
    sn_model_builder *builder = NULL;
    sn_status status = sn_model_builder_create(s->context, &builder);
    if (status >= 0)
        status = sn_model_set_gravity(builder, gravity);
    if (status >= 0)
        status = add_block(builder, s->context, cells);
    if (status >= 0)
        status = sn_model_build(builder, &s->model);
    sn_model_builder_destroy(&builder);
    sn_stepper_def def = sn_stepper_def_default();
    def.solver.method = SN_SOLVER_PROJECTIVE;
    def.solver.iterations = ITERATIONS;
    def.solver.tolerance = 0;
    if (status >= 0)
        status = sn_stepper_create(s->model, &def, &s->stepper);
    if (status >= 0)
        status = sn_state_create(s->model, &s->state);
    if (status >= 0)
        s->tets = sn_model_get_info(s->model).tet_count;
    return status;
}

static void end(step_setup *s) {
    sn_state_destroy(&s->state);
    sn_stepper_destroy(&s->stepper);
    sn_model_destroy(&s->model);
    sn_context_destroy(&s->context);
}

/// Steps `repetitions` times after a warm-up; medians per evaluation or iteration.
static bool measure(int32_t threads, int32_t cells, int32_t repetitions, stage_times *out,
                    int32_t *out_tets) {
    step_setup s = {0};
    double local[32], sweep[32], total[32];
    sn_context_def def = sn_context_def_default();
    def.thread_count = threads;
    sn_status status = sn_context_create(&def, &s.context);
    if (status >= 0)
        status = build(&s, cells);
    for (int32_t k = -1; k < repetitions && status >= 0; k++) {
        sn_step_info info;
        status = sn_step(s.stepper, s.state, 1.0 / 60, &info);
        if (status >= 0 && k >= 0) {
            // Two energy evaluations choose the start.
            local[k] = info.ms.local / (info.evaluations + 2);
            sweep[k] = info.ms.sweep / ITERATIONS;
            total[k] = info.ms.total / ITERATIONS;
        }
    }
    if (status < 0)
        fprintf(stderr, "sinew-bench: step: %s\n", sn_context_message(s.context));
    *out_tets = s.tets;
    end(&s);
    if (status < 0)
        return false;
    *out = (stage_times){bench_median(local, repetitions), bench_median(sweep, repetitions),
                         bench_median(total, repetitions)};
    return true;
}

static void add_row(bench_report *report, const char *name, const char *quantity, double ours, double one,
                    double target) {
    bench_row row = {.bench = "step",
                     .name = name,
                     .quantity = quantity,
                     .unit = "ms per iteration",
                     .ours = ours,
                     .peer_name = "Sinew, 1 thread",
                     .peer = one,
                     .target = target};
    bench_report_add(report, &row);
}

bool bench_step(const bench_options *options, bench_report *report) {
    static const struct {
        int32_t cells;
        const char *name;
    } cases[] = {{12, "10 K tets"}, {26, "105 K tets"}};
    for (int32_t i = 0; i < 2; i++) {
        stage_times all, one;
        int32_t tets = 0;
        if (!measure(options->threads, cases[i].cells, options->repetitions, &all, &tets) ||
            !measure(1, cases[i].cells, options->repetitions, &one, &tets))
            return false;
        // The promise is for 100 K tets; small cases only have to gain.
        add_row(report, cases[i].name, "local step", all.local, one.local, i == 1 ? 1 / 1.6 : 1);
        add_row(report, cases[i].name, "sweep", all.sweep, one.sweep, 1);
        add_row(report, cases[i].name, "iteration", all.total, one.total, 1);
    }
    return true;
}
