#include "base/base_util.h"
#include "math/math_mat3.h"
#include "sim/sim_model.h"
#include "sim/sim_state.h"
#include "sinew/step.h"
#include "solve/solve_minimize.h"
#include "solve/solve_settle.h"
#include "solve/solve_vector.h"
#include "step/step_def.h"
#include "step/step_integrator.h"

#include <float.h>
#include <math.h>
#include <string.h>

/// A step fails if it moves nodes to where doubles lie farther apart than this fraction of the mean edge.
static const double LEAST_PRECISION = 0.1;

/// Times that settling renews contacts, and how many of them take the new friction cones as they are: later
/// ones go half the way, for cones that overshoot.
enum { MAX_ROUNDS = 16, FULL_ROUNDS = 3 };
/// Part of what presses by which friction cones may be off.
static const double CONE_SLACK = 1e-3;
/// What may press in the minimization, against what balances the pieces as wholes.
static const double MOST_PRESS = 2;
/// A minimization is taken back if the objective ends higher than it began by more than these parts of what
/// it began with, and of the kinetic energy: a body in flight begins with next to nothing.
static const double MOST_RISE = 0.1, MOST_GAIN = 1e-3;

struct sn_stepper {
    const sn_model *model;
    sn_context *ctx;
    sn_stepper_def def;
    sn_elastic *elastic;
    sn_metric *metric;
    sn_minimizer *minimizer;
    sn_contact_set *contact; ///< NULL without pairs
    sn_settler *settler;
    sn_contact_pose *pose;    ///< [2, shape_count] of shapes at the start and the end of the step
    double *load;             ///< [node_count, 3] N: dead loads and gravity
    double *y;                ///< [node_count, 3] inertial target
    double *x;                ///< [node_count, 3] iterate
    double *x_other;          ///< [node_count, 3] another start
    double *x_unsettled;      ///< [node_count, 3] what a minimization gave
    double *gradient;         ///< [node_count, 3] for reactions
    double *targets;          ///< [spring_count, 3]
    double *frame_R;          ///< [frame_count, 9]
    double *frame_t;          ///< [frame_count, 3]
    double bend;              ///< m: how far the turning of pieces bends the ways of their nodes in this step
    double load_acceleration; ///< m/s^2: of the loads, root mean square by mass over free nodes
    sn_stepper_report report;
};

static sn_status check_anchors(sn_context *ctx, const sn_model *model, const sn_stepper_def *def) {
    sn_model_info info = sn_model_get_info(model);
    if (def->integrator != SN_INTEGRATOR_QUASISTATIC || info.unanchored_piece_count == 0)
        return SN_OK;
    return sn_fail(
        ctx, SN_ERR_INVALID_ARGUMENT,
        "quasistatic steps need every piece held: body %s has a piece of %d nodes (of %d unanchored in all) "
        "without pin or attachment; pin it, attach it, or use implicit_euler",
        info.unanchored_body, info.unanchored_nodes, info.unanchored_piece_count);
}

static sn_status create_terms(sn_stepper *stepper) {
    const sn_model *model = stepper->model;
    bool is_fast = stepper->def.precision == SN_PRECISION_FAST;
    sn_elastic_def elastic = {.node_count = model->node_count,
                              .rest = model->rest,
                              .tet_count = model->tet_count,
                              .tets = model->tets,
                              .tet_fraction = model->tet_fraction,
                              .material_count = model->material_count,
                              .materials = model->materials,
                              .tet_material = model->tet_material,
                              .spring_count = model->spring_count,
                              .springs = model->springs,
                              .is_fast = is_fast};
    sn_status status = sn_elastic_create(stepper->ctx, &elastic, &stepper->elastic);
    if (status < 0)
        return status;
    if (stepper->def.solver.method == SN_SOLVER_PROJECTIVE && !sn_elastic_is_projective(stepper->elastic))
        return sn_fail(
            stepper->ctx, SN_ERR_INVALID_ARGUMENT,
            "projective dynamics cannot take unit steps with corotated_linear; use the material corotated "
            "or the method lbfgs");
    sn_metric_def metric = {.node_count = model->node_count,
                            .pinned = model->pinned,
                            .mass = model->mass,
                            .node_piece = model->node_piece,
                            .piece_count = model->piece_count,
                            .piece_anchored = model->piece_anchored,
                            .storage = is_fast ? SN_FACTOR_FLOAT : SN_FACTOR_DOUBLE,
                            .kept_count = model->kept_count,
                            .kept = model->kept,
                            .most_contacts =
                                model->pair_count > 0 ? sn_contact_capacity(&model->contact) : 0};
    double start = sn_clock();
    status = sn_metric_create(stepper->ctx, stepper->elastic, &metric, &stepper->metric);
    stepper->report.order_ms = 1e3 * (sn_clock() - start);
    return status;
}

static void measure_loads(sn_stepper *stepper) {
    const sn_model *model = stepper->model;
    double mass = 0, sum = 0;
    for (int32_t i = 0; i < model->node_count; i++) {
        if (model->pinned[i])
            continue;
        mass += model->mass[i];
        for (int k = 0; k < 3; k++) {
            double force = stepper->load[3 * (int64_t)i + k];
            sum += force * (force / model->mass[i]);
        }
    }
    stepper->load_acceleration = mass > 0 ? sqrt(sum / mass) : 0;
}

static sn_status allocate_scratch(sn_stepper *stepper) {
    const sn_model *model = stepper->model;
    sn_context *ctx = stepper->ctx;
    sn_status status = SN_OK;
    size_t size = 3 * (size_t)model->node_count;
    SN_TRY_NEW(ctx, stepper->load, size);
    SN_TRY_NEW(ctx, stepper->y, size);
    SN_TRY_NEW(ctx, stepper->x, size);
    SN_TRY_NEW(ctx, stepper->x_other, size);
    SN_TRY_NEW(ctx, stepper->x_unsettled, size);
    SN_TRY_NEW(ctx, stepper->gradient, size);
    SN_TRY_NEW_ZEROED(ctx, stepper->targets, 3 * (size_t)model->spring_count);
    SN_TRY_NEW(ctx, stepper->frame_R, 9 * (size_t)model->frame_count);
    SN_TRY_NEW(ctx, stepper->frame_t, 3 * (size_t)model->frame_count);
    sn_piece_source pieces = {model->node_count, model->piece_count, model->node_piece, model->spring_count,
                              model->springs};
    SN_TRY(sn_settler_create(ctx, &pieces, &stepper->settler));
    SN_TRY(sn_minimizer_create(ctx, model->node_count, stepper->def.solver.history, &stepper->minimizer));
    for (int32_t i = 0; i < model->node_count; i++)
        for (int k = 0; k < 3; k++)
            stepper->load[3 * (int64_t)i + k] =
                model->load[3 * (int64_t)i + k] + model->mass[i] * model->gravity[k];
    measure_loads(stepper);
cleanup:
    return status;
}

static sn_status create_contact(sn_stepper *stepper) {
    const sn_model *model = stepper->model;
    sn_context *ctx = stepper->ctx;
    sn_status status = SN_OK;
    if (model->pair_count == 0)
        return SN_OK;
    SN_TRY(sn_contact_set_create(ctx, &model->contact, &stepper->contact));
    SN_TRY_NEW(ctx, stepper->pose, 2 * (size_t)model->shape_count);
cleanup:
    return status;
}

sn_status sn_stepper_create(const sn_model *model, const sn_stepper_def *def, sn_stepper **out_stepper) {
    if (!model)
        return SN_ERR_INVALID_ARGUMENT;
    sn_context *ctx = model->context;
    if (!out_stepper)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "sn_stepper_create: out_stepper is NULL");
    sn_status status = SN_OK;
    sn_stepper *stepper = NULL;
    sn_stepper_def chosen = def ? *def : sn_stepper_def_default();
    SN_TRY(sn_field_check(ctx, &sn_stepper_fields, &chosen));
    SN_TRY(check_anchors(ctx, model, &chosen));
    SN_TRY_NEW_ZEROED(ctx, stepper, 1);
    stepper->model = model;
    stepper->ctx = ctx;
    stepper->def = chosen;
    SN_TRY(create_terms(stepper));
    SN_TRY(allocate_scratch(stepper));
    SN_TRY(create_contact(stepper));
    *out_stepper = stepper;
    return SN_OK;

cleanup:
    sn_stepper_destroy(&stepper);
    return status;
}

void sn_stepper_destroy(sn_stepper **stepper) {
    if (!stepper || !*stepper)
        return;
    sn_stepper *s = *stepper;
    sn_context *ctx = s->ctx;
    sn_elastic_destroy(&s->elastic);
    sn_metric_destroy(&s->metric);
    sn_minimizer_destroy(&s->minimizer);
    sn_contact_set_destroy(&s->contact);
    sn_settler_destroy(&s->settler);
    SN_RELEASE(ctx, s->pose);
    SN_RELEASE(ctx, s->load);
    SN_RELEASE(ctx, s->y);
    SN_RELEASE(ctx, s->x);
    SN_RELEASE(ctx, s->x_other);
    SN_RELEASE(ctx, s->x_unsettled);
    SN_RELEASE(ctx, s->gradient);
    SN_RELEASE(ctx, s->targets);
    SN_RELEASE(ctx, s->frame_R);
    SN_RELEASE(ctx, s->frame_t);
    SN_RELEASE(ctx, *stepper);
}

static void carry_point(const sn_stepper *stepper, int32_t frame, const double X[3], double out[3]) {
    if (frame == SN_FRAME_WORLD) {
        memcpy(out, X, 3 * sizeof *out);
        return;
    }
    sn_mul3(stepper->frame_R + 9 * (int64_t)frame, X, out);
    for (int k = 0; k < 3; k++)
        out[k] += stepper->frame_t[3 * (int64_t)frame + k];
}

/// Moves frames and spring targets to `time`.
static void move_targets(sn_stepper *stepper, double time) {
    const sn_model *model = stepper->model;
    sn_frame_poses(model, time, stepper->frame_R, stepper->frame_t);
    for (int32_t s = 0; s < model->spring_count; s++)
        if (model->springs[s].b.node_count == 0)
            carry_point(stepper, model->targets[s].frame, model->targets[s].point,
                        stepper->targets + 3 * (int64_t)s);
}

/// Moves frames, spring targets and pinned nodes to `time`.
static void move_kinematic(sn_stepper *stepper, double time, double *x) {
    const sn_model *model = stepper->model;
    move_targets(stepper, time);
    for (int32_t i = 0; i < model->node_count; i++)
        if (model->pin_frame[i] >= 0)
            carry_point(stepper, model->pin_frame[i], model->rest + 3 * (int64_t)i, x + 3 * (int64_t)i);
}

static sn_status check_state(const sn_stepper *stepper, const sn_state *state) {
    if (state->model == stepper->model)
        return SN_OK;
    return sn_fail(stepper->ctx, SN_ERR_INVALID_ARGUMENT,
                   "the state belongs to another model than the stepper");
}

static sn_status check_step(const sn_stepper *stepper, const sn_state *state, double h, double inertia) {
    sn_status status = check_state(stepper, state);
    if (status < 0)
        return status;
    if (!(h > 0) || !isfinite(h))
        return sn_fail(stepper->ctx, SN_ERR_INVALID_ARGUMENT, "the time step is %g s; allowed: finite, > 0",
                       h);
    if (stepper->def.integrator != SN_INTEGRATOR_QUASISTATIC && !isnormal(inertia))
        return sn_fail(
            stepper->ctx, SN_ERR_INVALID_ARGUMENT,
            "the time step is %g s; allowed for implicit_euler: about 1e-150 to 1e150, so that its "
            "square can be computed with",
            h);
    return SN_OK;
}

/// Refuses places so far from the origin that the spacing of doubles there tears the shape of the elements.
static sn_status check_reach(const sn_stepper *stepper) {
    double reach = sn_vector_max_length(stepper->model->node_count, stepper->x);
    if (reach * DBL_EPSILON <= LEAST_PRECISION * stepper->model->edge_mean)
        return SN_OK;
    return sn_fail(stepper->ctx, SN_ERR_NON_FINITE,
                   "the step moves a node %g m away from the origin, where its place is known only to a part "
                   "of the mean edge of %g m: velocities, loads or the time step are too large",
                   reach, stepper->model->edge_mean);
}

/// Brings the metric to the step's inertia and to the contacts that the state came with: what it holds then
/// follows from the state alone, and a run that is resumed takes the same steps.
static sn_status begin_metric(sn_stepper *stepper, const sn_state *state, double inertia,
                              int32_t *factorizations) {
    double start = sn_clock();
    int32_t before = *factorizations;
    sn_status status = sn_metric_begin(stepper->metric, inertia, stepper->contact, state->x, factorizations);
    if (*factorizations > before)
        stepper->report.factor_ms = 1e3 * (sn_clock() - start);
    return status;
}

/// Takes the state's contacts over, and forgets all that were met since.
static void take_contacts(sn_stepper *stepper, const sn_state *state) {
    sn_contact_set_begin(stepper->contact, state->contact_count, state->contacts, state->x, stepper->pose,
                         stepper->pose + stepper->model->shape_count);
    for (int32_t i = 0; i < sn_contact_set_count(stepper->contact); i++)
        sn_contact_set_points(stepper->contact)[i].in_metric = true;
}

/// Moves shapes to the end of the step and takes the state's contacts over.
static void begin_contact(sn_stepper *stepper, const sn_state *state, double h) {
    const sn_model *model = stepper->model;
    if (!stepper->contact)
        return;
    for (int32_t s = 0; s < model->shape_count; s++)
        for (int end = 0; end < 2; end++) {
            sn_contact_pose *pose = &stepper->pose[end * model->shape_count + s];
            sn_frame_pose(model, model->shape_frame[s], state->time + end * h, pose->R, pose->translation);
        }
    take_contacts(stepper, state);
}

/// Pinned nodes of `x` to where the frames have put them in `from`.
static void copy_pinned(const sn_model *model, const double *from, double *x) {
    for (int32_t i = 0; i < model->node_count; i++)
        if (model->pinned[i])
            memcpy(x + 3 * (int64_t)i, from + 3 * (int64_t)i, 3 * sizeof *x);
}

static sn_objective make_objective(const sn_stepper *stepper, double inertia) {
    const sn_model *model = stepper->model;
    return (sn_objective){.ctx = stepper->ctx,
                          .elastic = stepper->elastic,
                          .node_count = model->node_count,
                          .pinned = model->pinned,
                          .mass = model->mass,
                          .rest = model->rest,
                          .inertia = inertia,
                          .y = stepper->y,
                          .load = inertia > 0 ? NULL : stepper->load,
                          .targets = stepper->targets,
                          .contact = stepper->contact};
}

/// Renews the contacts at x. Adds what that changes of the objective to *change. Returns whether it showed
/// something new: points that meet a shape, or friction that was bounded by other forces than those that
/// press now.
static bool renew_contact(sn_stepper *stepper, const double *x, double part, double *change) {
    sn_contact_set *contact = stepper->contact;
    int32_t known = sn_contact_set_count(contact);
    *change -= sn_contact_set_evaluate(contact, x, 1, NULL, NULL);
    sn_contact_set_predict(contact, x);
    double off = sn_contact_set_renew_cones(contact, x, part);
    *change += sn_contact_set_evaluate(contact, x, 1, NULL, NULL);
    return sn_contact_set_count(contact) > known || off > CONE_SLACK;
}

/// Moves the pieces of x to their best places as wholes, and again as long as that shows something new.
/// Returns the change of the objective.
static double settle(sn_stepper *stepper, const sn_objective *objective, double *x) {
    double change = sn_settle(stepper->settler, objective, x);
    bool is_new = stepper->contact;
    for (int round = 0; is_new && round < MAX_ROUNDS; round++) {
        is_new = renew_contact(stepper, x, round < FULL_ROUNDS ? 1 : 0.5, &change);
        change += sn_settle(stepper->settler, objective, x);
    }
    return change;
}

/// Last places, with pinned nodes where they are now.
static void start_from_last(sn_stepper *stepper, const sn_state *state, double *x) {
    memcpy(x, state->x, 3 * (size_t)stepper->model->node_count * sizeof *x);
    copy_pinned(stepper->model, stepper->y, x);
}

/// Takes x_other as the start if it is better than `best`, the objective of stepper->x, or NaN.
static void offer_start(sn_stepper *stepper, const sn_objective *objective, double *best) {
    double g = sn_objective_evaluate(objective, stepper->x_other, NULL).total;
    if (!(g < *best) && !isnan(*best))
        return;
    *best = g;
    memcpy(stepper->x, stepper->x_other, 3 * (size_t)stepper->model->node_count * sizeof *stepper->x);
}

/// Offers the last places moved rigidly, and, if pinned nodes have moved, also carried along by them.
static void offer_rigid_starts(sn_stepper *stepper, const sn_state *state, const sn_objective *objective,
                               double *best) {
    start_from_last(stepper, state, stepper->x_other);
    sn_settle(stepper->settler, objective, stepper->x_other);
    stepper->bend = sn_settle_bend(stepper->settler);
    offer_start(stepper, objective, best);
    start_from_last(stepper, state, stepper->x_other);
    if (!sn_settle_on_pins(stepper->settler, stepper->model->pinned, state->x, stepper->x_other))
        return;
    sn_settle(stepper->settler, objective, stepper->x_other);
    offer_start(stepper, objective, best);
}

/// Takes x_other, the last places, as the start if `best` is more than to stay costs without contact.
/// Contacts met at a start that did not settle say nothing of those places: they are forgotten.
static void offer_to_stay(sn_stepper *stepper, const sn_state *state, const sn_objective *objective,
                          double best) {
    sn_objective bare = *objective;
    bare.contact = NULL;
    if (!sn_contact_set_has_bodies(stepper->contact) ||
        best <= sn_objective_evaluate(&bare, stepper->x_other, NULL).total)
        return;
    take_contacts(stepper, state);
    sn_contact_set_renew(stepper->contact, stepper->x_other);
    double before = best;
    offer_start(stepper, objective, &best);
    if (best == before)
        sn_contact_set_renew(stepper->contact, stepper->x);
}

/// Fills stepper->x with the best of several starts: the inertial target, and the last places as they are or
/// moved rigidly. Stiff bodies turn by the rigid motion, and it wins too when the step is so long that
/// following the velocities would tear a body apart. As it is no worse than to stay, g, and with it the
/// energy, starts no higher than the last step ended. In all, pieces are moved onto what they meet on the way
/// to the target.
static void choose_start(sn_stepper *stepper, const sn_state *state, const sn_objective *objective) {
    const sn_model *model = stepper->model;
    double best = NAN;
    // stepper->x holds the pinned nodes' new places.
    copy_pinned(model, stepper->x, stepper->y);
    if (objective->inertia > 0) {
        memcpy(stepper->x, stepper->y, 3 * (size_t)model->node_count * sizeof *stepper->x);
        if (stepper->contact)
            sn_contact_set_predict(stepper->contact, stepper->x);
        settle(stepper, objective, stepper->x);
        best = sn_objective_evaluate(objective, stepper->x, NULL).total;
    }
    offer_rigid_starts(stepper, state, objective, &best);
    if (!stepper->contact || objective->inertia == 0)
        return;
    // What the rigid motion has met since may make it worse than to stay.
    settle(stepper, objective, stepper->x);
    sn_contact_set_renew(stepper->contact, stepper->x);
    if (sn_contact_set_count(stepper->contact) == 0)
        return;
    best = sn_objective_evaluate(objective, stepper->x, NULL).total;
    start_from_last(stepper, state, stepper->x_other);
    offer_start(stepper, objective, &best);
    offer_to_stay(stepper, state, objective, best);
}

/// Bounds friction in the minimization by what it is at the start. There depths are off by what elements move
/// in an iteration, and make forces of it that may be thousands of times what any step asks for, if shapes
/// are stiff against inertia: friction would stop bodies, or throw them. Without inertia nothing balances at
/// the start.
static void limit_friction(sn_stepper *stepper, double inertia) {
    if (!stepper->contact || inertia == 0)
        return;
    sn_contact_set_renew(stepper->contact, stepper->x);
    sn_contact_set_limit_cones(stepper->contact, MOST_PRESS);
}

/// Whether an objective has risen by more than renewals of contacts account for.
static bool is_higher(double now, double before, double kinetic) {
    return !(now <= (1 + MOST_RISE) * before + MOST_GAIN * kinetic);
}

/// Settles the result of a minimization, whose objective is *value. Between bodies planes do not turn with
/// what moves as one, and what settles one of them may press on the next: a result that gets worse stays.
static void settle_end(sn_stepper *stepper, const sn_objective *objective, double kinetic,
                       sn_objective_value *value) {
    const size_t size = 3 * (size_t)stepper->model->node_count * sizeof *stepper->x;
    if (!stepper->contact || !sn_contact_set_has_bodies(stepper->contact)) {
        value->total += settle(stepper, objective, stepper->x);
        return;
    }
    double before = value->total;
    memcpy(stepper->x_unsettled, stepper->x, size);
    settle(stepper, objective, stepper->x);
    *value = sn_objective_evaluate(objective, stepper->x, NULL);
    if (!is_higher(value->total, before, kinetic))
        return;
    memcpy(stepper->x, stepper->x_unsettled, size);
    sn_contact_set_renew(stepper->contact, stepper->x);
    *value = sn_objective_evaluate(objective, stepper->x, NULL);
}

/// Minimizes from stepper->x and settles. What is sure to fall is the objective between two renewals of
/// contacts: where these let it rise, the start is better, which is kept in x_other meanwhile.
/// @param[in] kinetic  Energy of motion at the start of the step in J.
static sn_status minimize(sn_stepper *stepper, const sn_state *state, const sn_objective *objective,
                          double kinetic, const sn_minimize_options *options, sn_minimize_result *result) {
    const size_t size = 3 * (size_t)stepper->model->node_count * sizeof *stepper->x;
    const bool may_rise = stepper->contact && objective->inertia > 0;
    if (may_rise)
        memcpy(stepper->x_other, stepper->x, size);
    sn_status status =
        sn_minimize(stepper->minimizer, objective, stepper->metric, options, stepper->x, result);
    if (status < 0)
        return status;
    settle_end(stepper, objective, kinetic, &result->last);
    if (!may_rise || !is_higher(result->last.total, result->first.total, kinetic))
        return SN_OK;
    memcpy(stepper->x, stepper->x_other, size);
    bool has_bodies = sn_contact_set_has_bodies(stepper->contact);
    if (has_bodies)
        take_contacts(stepper, state);
    sn_contact_set_renew(stepper->contact, stepper->x);
    if (!has_bodies)
        settle(stepper, objective, stepper->x);
    result->last = sn_objective_evaluate(objective, stepper->x, NULL);
    result->status = SN_STEP_STALLED;
    result->stop_test = SN_STOP_LINE_SEARCH;
    return SN_OK;
}

static double external_energy(const sn_stepper *stepper, const double *x) {
    const sn_model *model = stepper->model;
    double sum = 0;
    for (int64_t j = 0; j < 3 * (int64_t)model->node_count; j++)
        sum -= stepper->load[j] * (x[j] - model->rest[j]);
    return sum;
}

/// Leaves the contacts in the state.
static void end_contact(sn_stepper *stepper, sn_state *state, sn_step_info *info) {
    sn_contact_outcome outcome;
    if (!stepper->contact)
        return;
    info->energy.contact = sn_contact_set_evaluate(stepper->contact, state->x, 1, NULL, NULL);
    info->dropped_contacts = sn_contact_set_dropped(stepper->contact);
    state->contact_count = sn_contact_set_end(stepper->contact, state->x, state->contacts, &outcome);
    info->active_contacts = outcome.active;
    info->max_penetration = outcome.max_depth;
}

static void report_step(sn_stepper *stepper, const sn_state *state, const sn_minimize_result *result,
                        sn_step_info *info) {
    double linear[3], angular[3];
    info->time = state->time;
    info->status = result->status;
    info->stop_test = result->stop_test;
    info->iterations = result->iterations;
    info->evaluations = result->evaluations;
    info->factorizations += result->factorizations;
    if (result->factorizations > 0)
        stepper->report.factor_ms = 1e3 * result->factor_seconds;
    info->objective_first = result->first.total;
    info->objective_last = result->last.total;
    info->gradient_norm = result->gradient_last;
    info->relative_gradient = result->gradient_first > 0 ? result->gradient_last / result->gradient_first : 0;
    info->step_error = result->step_error;
    info->energy.elastic = result->last.elastic.solid + result->last.elastic.spring;
    info->energy.attachment = result->last.elastic.attachment;
    info->energy.external = external_energy(stepper, state->x);
    // Without inertia velocities are for display only.
    if (stepper->def.integrator != SN_INTEGRATOR_QUASISTATIC)
        sn_state_momentum(state, linear, angular, &info->energy.kinetic);
    sn_state_inversion(state, &info->min_det_F, &info->inverted);
}

static sn_step_times share_out_times(sn_stepper *stepper, const sn_minimize_result *result, double total) {
    sn_elastic_times times = sn_elastic_take_times(stepper->elastic);
    sn_step_times ms = {.local = 1e3 * times.local,
                        .gradient = 1e3 * times.gather,
                        .sweep = 1e3 * result->sweep_seconds,
                        .detect = 1e3 * result->detect_seconds,
                        .kept = 1e3 * result->kept_seconds,
                        .total = 1e3 * total};
    ms.other = ms.total - ms.local - ms.gradient - ms.sweep - ms.detect - ms.kept;
    return ms;
}

static sn_status status_of(sn_step_status status) {
    switch (status) {
    case SN_STEP_CONVERGED:
        return SN_OK;
    case SN_STEP_BUDGET:
        return SN_NOT_CONVERGED;
    case SN_STEP_STALLED:
        return SN_STALLED;
    }
    return SN_OK;
}

sn_status sn_step(sn_stepper *stepper, sn_state *state, double h, sn_step_info *out_info) {
    if (!stepper || !state)
        return SN_ERR_INVALID_ARGUMENT;
    double start = sn_clock();
    double inertia = sn_integrator_inertia(stepper->def.integrator, h);
    sn_status status = check_step(stepper, state, h, inertia);
    if (status < 0)
        return status;
    const sn_model *model = stepper->model;
    sn_step_info info = {0};
    sn_integrator_state before = {stepper->ctx,  model->node_count, model->mass,
                                  stepper->load, state->x,          state->v};

    begin_contact(stepper, state, h);
    status = begin_metric(stepper, state, inertia, &info.factorizations);
    if (status < 0)
        return status;
    sn_elastic_take_times(stepper->elastic);
    sn_integrator_predict(stepper->def.integrator, h, &before, stepper->y);
    memcpy(stepper->x, state->x, 3 * (size_t)model->node_count * sizeof *stepper->x);
    move_kinematic(stepper, state->time + h, stepper->x);
    sn_objective objective = make_objective(stepper, inertia);
    choose_start(stepper, state, &objective);
    limit_friction(stepper, inertia);

    sn_minimize_options options = {
        stepper->def.solver.method, stepper->def.solver.iterations, stepper->def.solver.tolerance,
        model->edge_mean, inertia > 0 ? fmax(h * h * stepper->load_acceleration, stepper->bend) : INFINITY};
    sn_minimize_result result;
    double linear[3], angular[3], kinetic = 0;
    if (stepper->contact && inertia > 0)
        sn_state_momentum(state, linear, angular, &kinetic);
    status = minimize(stepper, state, &objective, kinetic, &options, &result);
    if (status == SN_OK)
        status = check_reach(stepper);
    if (status < 0)
        return status;

    sn_integrator_velocity(h, &before, stepper->x, state->v);
    memcpy(state->x, stepper->x, 3 * (size_t)model->node_count * sizeof *state->x);
    state->time += h;
    end_contact(stepper, state, &info);
    report_step(stepper, state, &result, &info);
    info.ms = share_out_times(stepper, &result, sn_clock() - start);
    if (out_info)
        *out_info = info;
    return status_of(result.status);
}

void sn_step_info_add(sn_step_info *sum, const sn_step_info *next) {
    sn_step_info out = *next;
    out.status = next->status > sum->status ? next->status : sum->status;
    if (next->status < sum->status)
        out.stop_test = sum->stop_test;
    out.iterations += sum->iterations;
    out.evaluations += sum->evaluations;
    out.factorizations += sum->factorizations;
    out.dropped_contacts += sum->dropped_contacts;
    out.max_penetration = fmax(next->max_penetration, sum->max_penetration);
    out.min_det_F = fmin(next->min_det_F, sum->min_det_F);
    out.inverted = next->inverted > sum->inverted ? next->inverted : sum->inverted;
    out.ms.detect += sum->ms.detect;
    out.ms.local += sum->ms.local;
    out.ms.gradient += sum->ms.gradient;
    out.ms.sweep += sum->ms.sweep;
    out.ms.kept += sum->ms.kept;
    out.ms.other += sum->ms.other;
    out.ms.total += sum->ms.total;
    *sum = out;
}

sn_status sn_stepper_shape_reaction(const sn_stepper *stepper, const sn_state *state, int32_t shape_index,
                                    double out_force[3], double out_moment[3]) {
    if (!stepper || !state || !out_force || !out_moment)
        return SN_ERR_INVALID_ARGUMENT;
    sn_status status = check_state(stepper, state);
    if (status < 0)
        return status;
    const sn_model *model = stepper->model;
    if (shape_index < 0 || shape_index >= model->shape_count)
        return sn_fail(stepper->ctx, SN_ERR_INVALID_ARGUMENT, "shape index %d; allowed: 0 to %d", shape_index,
                       model->shape_count - 1);
    double R[9], origin[3];
    sn_frame_pose(model, model->shape_frame[shape_index], state->time, R, origin);
    for (int k = 0; k < 3; k++)
        out_force[k] = out_moment[k] = 0;
    for (int32_t s = 0; s < model->spring_count; s++) {
        if (model->springs[s].b.node_count != 0 || model->targets[s].shape != shape_index)
            continue;
        double place[3], force[3], arm[3], moment[3];
        sn_mul3(R, model->targets[s].point, place);
        for (int k = 0; k < 3; k++)
            place[k] += origin[k];
        // The gradient with respect to the body's point is what the body pulls the shape with.
        sn_spring_energy(&model->springs[s], state->x, place, force);
        sn_sub3(place, origin, arm);
        sn_cross3(arm, force, moment);
        for (int k = 0; k < 3; k++)
            out_force[k] += force[k], out_moment[k] += moment[k];
    }
    sn_contact_sum contact;
    status = sn_state_contact_sum(state, shape_index, &contact);
    for (int k = 0; k < 3 && status == SN_OK; k++)
        out_force[k] += contact.force[k], out_moment[k] += contact.moment[k];
    return status;
}

/// Adds a force to the pinned ones of some nodes.
static void add_shares(const sn_model *model, int32_t count, const int32_t *node, const double *weight,
                       double sign, const double force[3], double *forces) {
    for (int32_t a = 0; a < count; a++)
        for (int k = 0; model->pinned[node[a]] && k < 3; k++)
            forces[3 * (size_t)node[a] + (size_t)k] += sign * weight[a] * force[k];
}

/// Adds what contacts press on pinned nodes.
static void add_contact_shares(const sn_state *state, double *forces) {
    const sn_model *model = state->model;
    for (int32_t i = 0; i < state->contact_count; i++) {
        const sn_contact_record *record = &state->contacts[i];
        const sn_contact_pair *pair = &model->pairs[record->pair];
        const sn_proxies *proxies = &model->bodies[pair->body].proxies;
        size_t first = SN_PROXY_NODES * (size_t)record->proxy;
        add_shares(model, SN_PROXY_NODES, proxies->node + first, proxies->weight + first, 1, record->force,
                   forces);
        if (pair->other < 0)
            continue;
        sn_surface_place foot = {record->triangle, {record->foot[0], record->foot[1], record->foot[2]}};
        int32_t node[4];
        double weight[4];
        int32_t count = sn_solid_carriers(model->contact_solid[pair->other], &foot, node, weight);
        add_shares(model, count, node, weight, -1, record->force, forces);
    }
}

sn_status sn_stepper_pin_forces(sn_stepper *stepper, const sn_state *state, double *out_forces) {
    if (!stepper || !state || !out_forces)
        return SN_ERR_INVALID_ARGUMENT;
    sn_status status = check_state(stepper, state);
    if (status < 0)
        return status;
    const sn_model *model = stepper->model;
    move_targets(stepper, state->time);
    sn_elastic_evaluate(stepper->elastic, state->x, stepper->targets, stepper->gradient);
    for (int32_t i = 0; i < model->node_count; i++)
        for (int k = 0; k < 3; k++) {
            int64_t j = 3 * (int64_t)i + k;
            // Static part: inertia of pinned nodes is the holder's business.
            out_forces[j] = model->pinned[i] ? stepper->load[j] - stepper->gradient[j] : 0;
        }
    add_contact_shares(state, out_forces);
    return SN_OK;
}

sn_stepper_report sn_stepper_get_report(const sn_stepper *stepper) {
    sn_stepper_report report = stepper->report;
    sn_factor_info factor = sn_metric_factor_info(stepper->metric);
    report.factor_nonzeros = factor.nonzeros;
    report.factor_flops = factor.flops;
    report.memory_bytes = factor.memory_bytes;
    return report;
}
