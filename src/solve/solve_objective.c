#include "solve/solve_objective.h"

#include "base/base_parallel.h"

#include <float.h>
#include <math.h>

typedef struct objective_job {
    const sn_objective *objective;
    const double *x;
    double *gradient;
} objective_job;

static double inertia_energy(void *data, int32_t begin, int32_t end) {
    const objective_job *job = data;
    const sn_objective *o = job->objective;
    double sum = 0;
    for (int32_t i = begin; i < end; i++) {
        if (o->pinned[i])
            continue;
        double square = 0;
        for (int k = 0; k < 3; k++) {
            double d = job->x[3 * (int64_t)i + k] - o->y[3 * (int64_t)i + k];
            square += d * d;
        }
        sum += o->mass[i] * square;
    }
    return 0.5 * o->inertia * sum;
}

static double load_energy(void *data, int32_t begin, int32_t end) {
    const objective_job *job = data;
    const sn_objective *o = job->objective;
    double sum = 0;
    for (int32_t i = begin; i < end; i++)
        for (int k = 0; k < 3; k++)
            if (!o->pinned[i])
                sum -=
                    o->load[3 * (int64_t)i + k] * (job->x[3 * (int64_t)i + k] - o->rest[3 * (int64_t)i + k]);
    return sum;
}

/// Adds inertia and loads to the elastic gradient and clears pinned nodes.
static void finish_gradient(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    const objective_job *job = data;
    const sn_objective *o = job->objective;
    for (int32_t i = begin; i < end; i++) {
        for (int k = 0; k < 3; k++) {
            int64_t j = 3 * (int64_t)i + k;
            double extra = o->inertia > 0 ? o->inertia * o->mass[i] * (job->x[j] - o->y[j]) : 0;
            if (o->load)
                extra -= o->load[j];
            job->gradient[j] = o->pinned[i] ? 0 : job->gradient[j] + extra;
        }
    }
}

static void sum_up(sn_objective_value *value, double contact_rounding) {
    double spring = value->elastic.spring + value->elastic.attachment;
    value->total = value->elastic.solid + spring + value->inertia + value->load + value->contact;
    // Each part is a sum of positive terms but the load's, whose cancellation its own size bounds well
    // enough.
    value->rounding =
        32 * DBL_EPSILON *
            (value->elastic.solid + spring + value->inertia + fabs(value->load) + value->contact) +
        contact_rounding;
}

sn_objective_value sn_objective_evaluate(const sn_objective *o, const double *x, double *gradient) {
    objective_job job = {o, x, gradient};
    sn_objective_value value = {.elastic = sn_elastic_evaluate(o->elastic, x, o->targets, gradient)};
    if (o->inertia > 0)
        value.inertia = sn_parallel_sum(o->ctx, o->node_count, inertia_energy, &job);
    if (o->load)
        value.load = sn_parallel_sum(o->ctx, o->node_count, load_energy, &job);
    if (gradient)
        sn_parallel_for(o->ctx, o->node_count, 1024, finish_gradient, &job);
    double contact_rounding = 0;
    if (o->contact)
        value.contact = sn_contact_set_evaluate(o->contact, x, 1, gradient, &contact_rounding);
    sum_up(&value, contact_rounding);
    return value;
}

void sn_objective_renew_contact(const sn_objective *o, const double *x, sn_objective_value *value,
                                double *gradient) {
    double contact_rounding = 0;
    sn_contact_set_evaluate(o->contact, x, -1, gradient, NULL);
    sn_contact_set_renew(o->contact, x);
    value->contact = sn_contact_set_evaluate(o->contact, x, 1, gradient, &contact_rounding);
    sum_up(value, contact_rounding);
}
