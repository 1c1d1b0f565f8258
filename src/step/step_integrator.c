#include "step/step_integrator.h"

#include "base/base_parallel.h"

#include <string.h>

enum { NODE_GRAIN = 1024 };

typedef struct predict_job {
    const sn_integrator_state *state;
    double h;
    double *y;
} predict_job;

double sn_integrator_inertia(sn_integrator integrator, double h) {
    return integrator == SN_INTEGRATOR_QUASISTATIC ? 0 : 1 / (h * h);
}

static void predict_range(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    const predict_job *job = data;
    const sn_integrator_state *s = job->state;
    for (int32_t i = begin; i < end; i++)
        for (int k = 0; k < 3; k++) {
            int64_t j = 3 * (int64_t)i + k;
            job->y[j] = s->x[j] + job->h * (s->v[j] + job->h * (s->load[j] / s->mass[i]));
        }
}

void sn_integrator_predict(sn_integrator integrator, double h, const sn_integrator_state *state, double *y) {
    if (integrator == SN_INTEGRATOR_QUASISTATIC) {
        memcpy(y, state->x, 3 * (size_t)state->node_count * sizeof *y);
        return;
    }
    predict_job job = {state, h, y};
    sn_parallel_for(state->ctx, state->node_count, NODE_GRAIN, predict_range, &job);
}

typedef struct velocity_job {
    const double *x, *x_new;
    double h, *v;
} velocity_job;

static void velocity_range(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    const velocity_job *job = data;
    for (int64_t j = 3 * (int64_t)begin; j < 3 * (int64_t)end; j++)
        job->v[j] = (job->x_new[j] - job->x[j]) / job->h;
}

void sn_integrator_velocity(double h, const sn_integrator_state *state, const double *x_new, double *v) {
    velocity_job job = {state->x, x_new, h, v};
    sn_parallel_for(state->ctx, state->node_count, NODE_GRAIN, velocity_range, &job);
}
