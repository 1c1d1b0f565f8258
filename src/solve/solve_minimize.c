#include "solve/solve_minimize.h"

#include "base/base_util.h"
#include "solve/solve_vector.h"

#include <float.h>
#include <math.h>
#include <string.h>

/// Per line search; per minimization.
enum { MAX_HALVINGS = 20, MAX_RETURNS = 8 };

/// Sufficient decrease: a fraction of what the slope promises.
static const double ARMIJO = 1e-4;
/// A pair is kept if its curvature is above this fraction of |s||y|.
static const double CURVATURE = 1e-10;

/// An error of 1e-3 of the edge is as good as one of 1e-2 of what the forces move in the step.
static const double MOTION_WEIGHT = 10;

/// One iterate: place, value, gradient.
typedef struct iterate {
    double *x, *gradient;
    sn_objective_value value;
} iterate;

struct sn_minimizer {
    sn_context *ctx;
    int32_t node_count, size; ///< size = 3 node_count
    int32_t history, pair_count, newest;
    iterate now, trial;
    double *direction;
    double *s, *y;       ///< [history, size] differences of place and gradient
    double *rho, *alpha; ///< [history]
    double allowed;      ///< m: error that may be left
};

sn_status sn_minimizer_create(sn_context *ctx, int32_t node_count, int32_t history,
                              sn_minimizer **out_minimizer) {
    sn_status status = SN_OK;
    sn_minimizer *m = NULL;
    size_t size = 3 * (size_t)node_count;
    SN_TRY_NEW_ZEROED(ctx, m, 1);
    m->ctx = ctx;
    m->node_count = node_count;
    m->size = (int32_t)size;
    m->history = history;
    SN_TRY_NEW(ctx, m->now.x, size);
    SN_TRY_NEW(ctx, m->now.gradient, size);
    SN_TRY_NEW(ctx, m->trial.x, size);
    SN_TRY_NEW(ctx, m->trial.gradient, size);
    SN_TRY_NEW(ctx, m->direction, size);
    SN_TRY_NEW(ctx, m->s, size * (size_t)history);
    SN_TRY_NEW(ctx, m->y, size * (size_t)history);
    SN_TRY_NEW(ctx, m->rho, history);
    SN_TRY_NEW(ctx, m->alpha, history);
    *out_minimizer = m;
    return SN_OK;

cleanup:
    sn_minimizer_destroy(&m);
    return status;
}

void sn_minimizer_destroy(sn_minimizer **minimizer) {
    if (!minimizer || !*minimizer)
        return;
    sn_minimizer *m = *minimizer;
    SN_RELEASE(m->ctx, m->now.x);
    SN_RELEASE(m->ctx, m->now.gradient);
    SN_RELEASE(m->ctx, m->trial.x);
    SN_RELEASE(m->ctx, m->trial.gradient);
    SN_RELEASE(m->ctx, m->direction);
    SN_RELEASE(m->ctx, m->s);
    SN_RELEASE(m->ctx, m->y);
    SN_RELEASE(m->ctx, m->rho);
    SN_RELEASE(m->ctx, m->alpha);
    sn_release(m->ctx, m);
    *minimizer = NULL;
}

static double *pair_s(const sn_minimizer *m, int32_t age) {
    return m->s + (size_t)((m->newest - age + m->history) % m->history) * (size_t)m->size;
}

static double *pair_y(const sn_minimizer *m, int32_t age) {
    return m->y + (size_t)((m->newest - age + m->history) % m->history) * (size_t)m->size;
}

static double *pair_rho(const sn_minimizer *m, int32_t age) {
    return m->rho + (m->newest - age + m->history) % m->history;
}

/// direction = -H grad by the two-loop recursion, with A^-1 in the middle; without pairs it is -A^-1 grad.
static sn_status compute_direction(sn_minimizer *m, sn_metric *metric, double *sweep_seconds) {
    sn_context *ctx = m->ctx;
    double *d = m->direction;
    sn_vector_negate(ctx, m->size, m->now.gradient, d);
    for (int32_t age = 0; age < m->pair_count; age++) {
        m->alpha[age] = sn_vector_dot(ctx, m->size, pair_s(m, age), d) * *pair_rho(m, age);
        sn_vector_add(ctx, m->size, -m->alpha[age], pair_y(m, age), d);
    }
    double start = sn_clock();
    sn_status status = sn_metric_apply(metric, d, d);
    *sweep_seconds += sn_clock() - start;
    if (status < 0)
        return status;
    for (int32_t age = m->pair_count - 1; age >= 0; age--) {
        double beta = sn_vector_dot(ctx, m->size, pair_y(m, age), d) * *pair_rho(m, age);
        sn_vector_add(ctx, m->size, m->alpha[age] - beta, pair_s(m, age), d);
    }
    return SN_OK;
}

/// Remembers the move from `now` to `trial`, unless its curvature is too small to trust.
static void remember_pair(sn_minimizer *m) {
    if (m->history == 0)
        return;
    int32_t slot = m->pair_count == 0 ? 0 : (m->newest + 1) % m->history;
    double *s = m->s + (size_t)slot * (size_t)m->size, *y = m->y + (size_t)slot * (size_t)m->size;
    sn_vector_move(m->ctx, m->size, m->trial.x, -1, m->now.x, s);
    sn_vector_move(m->ctx, m->size, m->trial.gradient, -1, m->now.gradient, y);
    double sy = sn_vector_dot(m->ctx, m->size, s, y);
    double ss = sn_vector_dot(m->ctx, m->size, s, s), yy = sn_vector_dot(m->ctx, m->size, y, y);
    if (!(sy > CURVATURE * sqrt(ss * yy))) {
        // The slot may have held the oldest pair.
        m->pair_count = m->pair_count == m->history ? m->history - 1 : m->pair_count;
        return;
    }
    m->rho[slot] = 1 / sy;
    m->newest = slot;
    m->pair_count += m->pair_count < m->history;
}

static void evaluate(const sn_objective *objective, iterate *at, sn_minimize_result *result) {
    at->value = sn_objective_evaluate(objective, at->x, at->gradient);
    result->evaluations++;
}

/// True if the trial, at `step` along the direction, lies lower: by the values, or, where their difference is
/// rounding error, by the mean slope between both ends (Hager and Zhang 2005, approximate Wolfe test).
static bool is_lower(sn_minimizer *m, double slope, double step, double sufficient) {
    double change = m->trial.value.total - m->now.value.total;
    double rounding = m->now.value.rounding;
    if (!isfinite(change))
        return false;
    if (change <= sufficient * step * slope && change < -rounding)
        return true;
    if (fabs(change) > rounding)
        return false;
    double slope_there = sn_vector_dot(m->ctx, m->size, m->trial.gradient, m->direction);
    return slope + slope_there <= 2 * sufficient * slope;
}

/// Halves the step until the trial is lower. Returns the step, 0 if none is.
static double search_line(sn_minimizer *m, const sn_objective *objective, double slope, int32_t halvings,
                          double sufficient, sn_minimize_result *result) {
    double step = 1;
    for (int32_t k = 0; k <= halvings; k++, step *= 0.5) {
        sn_vector_move(m->ctx, m->size, m->now.x, step, m->direction, m->trial.x);
        evaluate(objective, &m->trial, result);
        if (is_lower(m, slope, step, sufficient))
            return step;
    }
    return 0;
}

static void swap_iterates(sn_minimizer *m) {
    iterate old = m->now;
    m->now = m->trial;
    m->trial = old;
}

static void stop(sn_minimize_result *result, sn_step_status status, sn_stop_test test) {
    result->status = status;
    result->stop_test = test;
}

/// Fixes the error that may be left when the first direction is known. The edge alone would not do: in short
/// steps all that the forces move is less than a fraction of it, and they would be passed over, step by step.
static void measure_tolerance(sn_minimizer *m, const sn_minimize_options *options, double first_length) {
    double motion = MOTION_WEIGHT * fmax(options->motion, first_length);
    m->allowed = options->tolerance * fmin(options->edge, motion);
}

/// True if the direction says that the minimum is reached; sets the outcome.
static bool is_done(sn_minimizer *m, const sn_minimize_options *options, double slope,
                    sn_minimize_result *result) {
    double length = sn_vector_max_length(m->node_count, m->direction);
    result->step_error = length / options->edge;
    if (result->iterations == 0)
        measure_tolerance(m, options, length);
    // The metric's first direction is too short where the metric is too stiff: one iteration shows more.
    if (result->iterations > 0 && length <= m->allowed && options->tolerance > 0) {
        stop(result, SN_STEP_CONVERGED, SN_STOP_DISPLACEMENT);
        return true;
    }
    // Moves below the spacing of doubles at the size of the scene change nothing.
    if (length <= 4 * DBL_EPSILON * sn_vector_max_length(m->node_count, m->now.x) || slope == 0) {
        stop(result, SN_STEP_CONVERGED, SN_STOP_ROUNDING);
        return true;
    }
    return false;
}

/// No trial along the metric's own direction went down: says whether that is good or bad.
static void stop_without_descent(const sn_minimizer *m, const sn_minimize_options *options, double slope,
                                 sn_minimize_result *result) {
    if (-slope <= 2 * m->now.value.rounding)
        stop(result, SN_STEP_CONVERGED, SN_STOP_ROUNDING);
    else if (result->step_error <= options->tolerance)
        stop(result, SN_STEP_CONVERGED, SN_STOP_DISPLACEMENT);
    else
        stop(result, SN_STEP_STALLED, SN_STOP_LINE_SEARCH);
}

/// Renews the contacts at the new iterate and what depends on them. The memory of L-BFGS stays.
static sn_status renew_contact(sn_minimizer *m, const sn_objective *objective, sn_metric *metric,
                               sn_minimize_result *result) {
    double start = sn_clock();
    sn_objective_renew_contact(objective, m->now.x, &m->now.value, m->now.gradient);
    double detected = sn_clock();
    result->detect_seconds += detected - start;
    int32_t before = result->factorizations;
    sn_status status = sn_metric_follow(metric, objective->contact, m->now.x, &result->factorizations);
    double taken = sn_clock() - detected;
    result->kept_seconds += taken;
    if (result->factorizations > before)
        result->factor_seconds = taken;
    return status;
}

/// Takes a step back that ran into shapes it did not know of, so far that g has risen: now they are known,
/// and in the metric. Their energy would else be a present to the body.
static sn_status go_back(sn_minimizer *m, const sn_objective *objective, sn_metric *metric,
                         sn_minimize_result *result) {
    swap_iterates(m);
    m->pair_count = 0;
    sn_contact_set_renew(objective->contact, m->now.x);
    evaluate(objective, &m->now, result);
    result->iterations--;
    result->returns++;
    return sn_metric_follow(metric, objective->contact, m->now.x, &result->factorizations);
}

/// Renews the contacts after a step, and takes it back if that shows it to be none.
static sn_status finish_step(sn_minimizer *m, const sn_objective *objective, sn_metric *metric,
                             sn_minimize_result *result) {
    int32_t known = sn_contact_set_count(objective->contact);
    sn_status status = renew_contact(m, objective, metric, result);
    bool has_met = sn_contact_set_count(objective->contact) > known;
    bool is_higher = !(m->now.value.total <= m->trial.value.total + m->trial.value.rounding);
    if (status >= 0 && has_met && is_higher && result->returns < MAX_RETURNS)
        status = go_back(m, objective, metric, result);
    return status;
}

/// One iteration: direction, tests, step. Returns false when the run is over.
static sn_status iterate_once(sn_minimizer *m, const sn_objective *objective, sn_metric *metric,
                              const sn_minimize_options *options, sn_minimize_result *result,
                              bool *out_continue) {
    bool unit = options->method == SN_SOLVER_PROJECTIVE && !objective->contact;
    *out_continue = false;
    for (;;) {
        sn_status status = compute_direction(m, metric, &result->sweep_seconds);
        if (status < 0)
            return status;
        double slope = sn_vector_dot(m->ctx, m->size, m->now.gradient, m->direction);
        bool has_memory = m->pair_count > 0;
        if (slope < 0 || !has_memory) {
            if (is_done(m, options, slope, result))
                return SN_OK;
            // A majorizing metric makes every unit step go down: no sufficient decrease needs to be asked
            // for. With contact it bounds no more: what opens and closes within a step is not in it.
            double step =
                search_line(m, objective, slope, unit ? 0 : MAX_HALVINGS, unit ? 0 : ARMIJO, result);
            if (step > 0)
                break;
            if (!has_memory) {
                stop_without_descent(m, options, slope, result);
                return SN_OK;
            }
        }
        // The memory misleads: forget it and try the metric's own direction.
        m->pair_count = 0;
    }
    if (options->method != SN_SOLVER_PROJECTIVE)
        remember_pair(m);
    swap_iterates(m);
    result->iterations++;
    *out_continue = true;
    return objective->contact ? finish_step(m, objective, metric, result) : SN_OK;
}

sn_status sn_minimize(sn_minimizer *m, const sn_objective *objective, sn_metric *metric,
                      const sn_minimize_options *options, double *x, sn_minimize_result *out_result) {
    sn_minimize_result result = {.status = SN_STEP_BUDGET, .stop_test = SN_STOP_BUDGET};
    memcpy(m->now.x, x, (size_t)m->size * sizeof *x);
    // Line searches and directions leave pinned nodes alone, but both iterates must hold them.
    memcpy(m->trial.x, x, (size_t)m->size * sizeof *x);
    m->pair_count = 0;
    m->newest = 0;
    evaluate(objective, &m->now, &result);
    if (objective->contact) {
        sn_status status = renew_contact(m, objective, metric, &result);
        if (status < 0)
            return status;
    }
    result.first = m->now.value;
    result.gradient_first = sqrt(sn_vector_dot(m->ctx, m->size, m->now.gradient, m->now.gradient));
    if (!isfinite(m->now.value.total) || !isfinite(result.gradient_first))
        return sn_fail(m->ctx, SN_ERR_NON_FINITE,
                       "the energy or its gradient at the start of the step is not finite: positions, "
                       "velocities, loads or stiffnesses are too large");
    bool go_on = true;
    while (go_on && result.iterations < options->iterations) {
        sn_status status = iterate_once(m, objective, metric, options, &result, &go_on);
        if (status < 0)
            return status;
    }
    result.last = m->now.value;
    result.gradient_last = sqrt(sn_vector_dot(m->ctx, m->size, m->now.gradient, m->now.gradient));
    memcpy(x, m->now.x, (size_t)m->size * sizeof *x);
    *out_result = result;
    return SN_OK;
}
