#include "solve/solve_settle.h"

#include "math/math_mat3.h"
#include "mesh/mesh_topology.h"
#include "solve/solve_pins.h"
#include "solve/solve_rigid.h"

#include <float.h>
#include <string.h>

enum { N = SN_RIGID_UNKNOWNS };
/// Trials of the first search, of those with softer contacts, and of the last one.
enum { FIRST_TRIALS = 25, SOFT_TRIALS = 60, LAST_TRIALS = 150 };

/// Parts of the contacts' stiffness that lead a search that failed to its end.
static const double SOFT[] = {1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1};

/// Sufficient decrease, as in the minimizers.
static const double ARMIJO = 1e-4;
/// What may be left of the slope at the end of a line, if energy rises there.
static const double FLATTER = 0.5;
/// Forces are in balance when what is left is below this part of their sizes.
static const double BALANCE = 4 * DBL_EPSILON;
/// Shorter steps than this part of Newton's are not tried.
static const double LEAST_STEP = 1e-12;
/// 1 - cos of the angle by which a cluster turns at most: a tenth of a radian.
static const double MOST_TURN = 0.005;
/// Of the distance from the first pin: pins move rigidly if they do up to this.
static const double PIN_SLACK = 1e-6;

typedef struct piece_search {
    bool done;              ///< also where pins leave no motion
    bool hard;              ///< the first search failed
    bool moved, rigid_pins; ///< for pins that move
    double base[3];         ///< the first pin, or the center of mass
    double mass;            ///< kg, of free nodes
    int32_t basis_count;
    double basis[N * N]; ///< [basis_count, 6] the shifts and rotations that pins leave
    sn_rigid_sums sums;
    sn_rigid_motion motion, trial_motion;
    double direction[N];
    double step, low, high; ///< in Newton's steps; the least energy lies between the last two
    sn_rigid_value now, trial;
    double start_energy;          ///< J: for no motion
    sn_rigid_motion first_motion; ///< of the first search, and its energy
    double first_energy;
} piece_search;

struct sn_settler {
    sn_context *ctx;
    sn_piece_source source;
    const int32_t *node_piece; ///< [node_count] the source's, or `joined`
    int32_t *joined;           ///< [node_count] by clusters
    int32_t *cluster;          ///< [piece_count] a piece of the same cluster, of a lower number
    bool *has_company;         ///< [piece_count] there are others in the cluster
    double softness;           ///< part of the contacts' stiffness that counts
    sn_pins *pins;             ///< [piece_count]
    piece_search *piece;       ///< [piece_count]
};

sn_status sn_settler_create(sn_context *ctx, const sn_piece_source *source, sn_settler **out_settler) {
    sn_status status = SN_OK;
    sn_settler *settler = NULL;
    SN_TRY_NEW_ZEROED(ctx, settler, 1);
    settler->ctx = ctx;
    settler->source = *source;
    settler->node_piece = source->node_piece;
    SN_TRY_NEW(ctx, settler->joined, source->node_count);
    SN_TRY_NEW(ctx, settler->cluster, source->piece_count);
    SN_TRY_NEW(ctx, settler->has_company, source->piece_count);
    SN_TRY_NEW_ZEROED(ctx, settler->pins, source->piece_count);
    SN_TRY_NEW_ZEROED(ctx, settler->piece, source->piece_count);
    *out_settler = settler;
    return SN_OK;
cleanup:
    sn_settler_destroy(&settler);
    return status;
}

void sn_settler_destroy(sn_settler **settler) {
    if (!settler || !*settler)
        return;
    sn_context *ctx = (*settler)->ctx;
    SN_RELEASE(ctx, (*settler)->joined);
    SN_RELEASE(ctx, (*settler)->cluster);
    SN_RELEASE(ctx, (*settler)->has_company);
    SN_RELEASE(ctx, (*settler)->pins);
    SN_RELEASE(ctx, (*settler)->piece);
    SN_RELEASE(ctx, *settler);
}

static void find_pins(sn_settler *settler, const bool *pinned, const double *x) {
    const sn_piece_source *s = &settler->source;
    sn_pins_find(s->node_count, settler->node_piece, s->piece_count, pinned, x, settler->pins);
}

// ---- Pins that move

static void find_pin_motions(sn_settler *settler, const double *from, const double *x) {
    for (int32_t p = 0; p < settler->source.piece_count; p++) {
        piece_search *piece = &settler->piece[p];
        const sn_pins *pins = &settler->pins[p];
        *piece = (piece_search){.rigid_pins = pins->count > 0};
        if (pins->count == 0)
            continue;
        memcpy(piece->base, from + 3 * (size_t)pins->node[0], sizeof piece->base);
        sn_sub3(x + 3 * (size_t)pins->node[0], piece->base, piece->motion.shift);
        sn_pins_turn(pins, from, x, piece->motion.turn);
    }
}

/// Marks pieces whose pins moved, and those whose pins moved otherwise than rigidly.
static void check_pin_motions(sn_settler *settler, const bool *pinned, const double *from, const double *x) {
    const sn_piece_source *s = &settler->source;
    for (int32_t i = 0; i < s->node_count; i++) {
        piece_search *piece = &settler->piece[s->node_piece[i]];
        const double *old = from + 3 * (size_t)i, *new = x + 3 * (size_t)i;
        double place[3];
        if (!pinned[i])
            continue;
        sn_rigid_move(&piece->motion, piece->base, old, place);
        piece->moved |= old[0] != new[0] || old[1] != new[1] || old[2] != new[2];
        piece->rigid_pins &= sn_distance3(place, new) <= PIN_SLACK * sn_distance3(old, piece->base);
    }
}

bool sn_settle_on_pins(sn_settler *settler, const bool *pinned, const double *from, double *x) {
    const sn_piece_source *s = &settler->source;
    bool has_moved = false;
    settler->node_piece = s->node_piece;
    find_pins(settler, pinned, from);
    find_pin_motions(settler, from, x);
    check_pin_motions(settler, pinned, from, x);
    for (int32_t i = 0; i < s->node_count; i++) {
        const piece_search *piece = &settler->piece[s->node_piece[i]];
        if (pinned[i] || !piece->moved || !piece->rigid_pins)
            continue;
        sn_rigid_move(&piece->motion, piece->base, from + 3 * (size_t)i, x + 3 * (size_t)i);
        has_moved = true;
    }
    return has_moved;
}

// ---- What moves with a piece

static void sum_masses(sn_settler *settler, const sn_objective *o, const double *x) {
    const sn_piece_source *s = &settler->source;
    for (int32_t i = 0; i < s->node_count; i++) {
        piece_search *piece = &settler->piece[settler->node_piece[i]];
        double mass = o->pinned[i] ? 0 : o->mass[i];
        piece->mass += mass;
        for (int k = 0; k < 3; k++)
            piece->base[k] += mass * x[3 * (size_t)i + (size_t)k];
    }
}

/// Whether pins leave a piece no motion.
static bool is_held(const sn_pins *pins) {
    return pins->count > 2;
}

/// Base and motions of a piece: all without pins, rotations about one, the rotation about the line of two.
static void find_basis(piece_search *piece, const sn_pins *pins, const double *x) {
    piece->basis_count = pins->count == 0 ? N : pins->count == 1 ? 3 : pins->count == 2 ? 1 : 0;
    // Pieces of a cluster are searched for under the number of the first.
    if (piece->mass == 0)
        piece->basis_count = 0;
    piece->done = piece->basis_count == 0;
    if (piece->done)
        return;
    for (int k = 0; k < 3; k++)
        piece->base[k] =
            pins->count > 0 ? x[3 * (size_t)pins->node[0] + (size_t)k] : piece->base[k] / piece->mass;
    if (pins->count == 2) {
        sn_sub3(x + 3 * (size_t)pins->node[1], piece->base, piece->basis + 3);
        sn_unit3(piece->basis + 3, piece->basis + 3);
        return;
    }
    for (int a = 0; a < piece->basis_count; a++)
        piece->basis[N * a + N - piece->basis_count + a] = 1;
}

static void add_nodes(sn_settler *settler, const sn_objective *o, const double *x) {
    const sn_piece_source *s = &settler->source;
    for (int32_t i = 0; i < s->node_count; i++) {
        piece_search *piece = &settler->piece[settler->node_piece[i]];
        double weight = o->inertia * o->mass[i], lever[3], pull[3];
        if (o->pinned[i] || piece->done)
            continue;
        sn_sub3(x + 3 * (size_t)i, piece->base, lever);
        for (int k = 0; k < 3; k++) {
            size_t j = 3 * (size_t)i + (size_t)k;
            pull[k] = (weight > 0 ? weight * (o->y[j] - x[j]) : 0) + (o->load ? o->load[j] : 0);
        }
        sn_rigid_add(&piece->sums, weight, lever, pull);
    }
}

/// Piece of a spring to a target that its motion stretches; NULL: none.
static piece_search *held_piece(sn_settler *settler, const sn_spring *spring) {
    piece_search *piece = &settler->piece[settler->node_piece[spring->a.node[0]]];
    return spring->b.node_count > 0 || piece->done ? NULL : piece;
}

static void add_springs(sn_settler *settler, const sn_objective *o, const double *x) {
    for (int32_t i = 0; i < settler->source.spring_count; i++) {
        const sn_spring *spring = &settler->source.springs[i];
        piece_search *piece = held_piece(settler, spring);
        double p[3], lever[3], pull[3];
        if (!piece || spring->rest_length > 0)
            continue;
        sn_spring_end_place(&spring->a, x, NULL, p);
        sn_sub3(p, piece->base, lever);
        for (int k = 0; k < 3; k++)
            pull[k] = spring->stiffness * (o->targets[3 * (size_t)i + (size_t)k] - p[k]);
        sn_rigid_add(&piece->sums, spring->stiffness, lever, pull);
    }
}

/// Pieces of the two sides of a contact between bodies; the same: it does not hinder rigid motion.
static void find_sides(const sn_settler *settler, const sn_contact_point *c, int32_t *near, int32_t *far) {
    *near = *far = settler->node_piece[c->node[0]];
    for (int32_t a = SN_PROXY_NODES; a < c->node_count; a++)
        *far = settler->node_piece[c->node[a]];
}

/// Finds the pieces that may press on each other: that they do not where they are says nothing of where they
/// go. What pins hold stands still, and belongs to no cluster. Returns whether there are any.
static bool find_clusters(sn_settler *settler, const sn_objective *o, const double *x) {
    int32_t count = settler->source.piece_count;
    bool has_company = false;
    settler->node_piece = settler->source.node_piece;
    find_pins(settler, o->pinned, x);
    for (int32_t p = 0; p < count; p++)
        settler->cluster[p] = p;
    for (int32_t i = 0; i < sn_contact_set_count(o->contact); i++) {
        const sn_contact_point *c = &sn_contact_set_points(o->contact)[i];
        int32_t near, far;
        if (!c->on_body)
            continue;
        find_sides(settler, c, &near, &far);
        if (near != far && !is_held(&settler->pins[near]) && !is_held(&settler->pins[far]))
            sn_set_join(settler->cluster, near, far);
    }
    memset(settler->has_company, 0, (size_t)count * sizeof *settler->has_company);
    for (int32_t p = 0; p < count; p++) {
        int32_t root = sn_set_find(settler->cluster, p);
        if (root == p)
            continue;
        settler->has_company[p] = settler->has_company[root] = has_company = true;
    }
    return has_company;
}

/// Takes the pieces of a cluster as one.
static void join_clusters(sn_settler *settler) {
    const sn_piece_source *s = &settler->source;
    for (int32_t i = 0; i < s->node_count; i++)
        settler->joined[i] = sn_set_find(settler->cluster, s->node_piece[i]);
    settler->node_piece = settler->joined;
}

/// Lets all pieces but one stand still.
static void leave_alone(sn_settler *settler, int32_t alone) {
    for (int32_t p = 0; p < settler->source.piece_count; p++) {
        if (p == alone)
            continue;
        settler->piece[p].basis_count = 0;
        settler->piece[p].done = true;
    }
}

/// Piece `alone`, or all of them for -1.
static void begin_pieces(sn_settler *settler, const sn_objective *o, const double *x, int32_t alone) {
    const sn_piece_source *s = &settler->source;
    find_pins(settler, o->pinned, x);
    memset(settler->piece, 0, (size_t)s->piece_count * sizeof *settler->piece);
    sum_masses(settler, o, x);
    for (int32_t p = 0; p < s->piece_count; p++)
        find_basis(&settler->piece[p], &settler->pins[p], x);
    if (alone >= 0)
        leave_alone(settler, alone);
    add_nodes(settler, o, x);
    add_springs(settler, o, x);
}

// ---- Trials

/// Adds a point that the motion has taken to p, with the stiffness of what it touches there.
static void add_point(piece_search *piece, const double p[3], double stiffness, sn_rigid_point *point) {
    double distance = sn_norm3(p);
    for (int k = 0; k < 3; k++)
        point->lever[k] = p[k] - piece->base[k] - piece->trial_motion.shift[k];
    // The rounding of places counts as well: stiff contacts make forces of it.
    point->size = stiffness * distance;
    sn_rigid_add_point(point, &piece->trial);
    piece->trial.rounding += 4 * DBL_EPSILON * sn_norm3(point->force) * distance;
}

/// Weighted sum of some of a contact's nodes.
static void sum_nodes(const sn_contact_point *c, int32_t begin, int32_t end, const double *x, double out[3]) {
    memset(out, 0, 3 * sizeof *out);
    for (int32_t a = begin; a < end; a++)
        for (size_t k = 0; k < 3; k++)
            out[k] += c->weight[a] * x[3 * (size_t)c->node[a] + k];
}

/// Adds a contact with a body that stands still to the side that moves.
static void add_body_contact(sn_settler *settler, sn_contact_point *c, const double *x) {
    int32_t near, far;
    double at[3], p[3], still[3], way[3], sign;
    sn_rigid_point point;
    find_sides(settler, c, &near, &far);
    bool near_moves = settler->piece[near].basis_count > 0, far_moves = settler->piece[far].basis_count > 0;
    piece_search *piece = &settler->piece[near_moves ? near : far];
    // Within a cluster that moves as one nothing changes.
    if (near == far || near_moves == far_moves || piece->done)
        return;
    sum_nodes(c, 0, SN_PROXY_NODES, x, near_moves ? at : still);
    sum_nodes(c, SN_PROXY_NODES, c->node_count, x, near_moves ? still : at);
    sign = near_moves ? 1 : -1;
    for (int k = 0; k < 3; k++)
        at[k] *= sign;
    sn_rigid_move(&piece->trial_motion, piece->base, at, p);
    for (int k = 0; k < 3; k++)
        way[k] = sign * p[k] + still[k];
    point.energy = sn_contact_energy(c, way, point.force, point.hessian);
    if (point.energy == 0 && c->friction * c->normal_force == 0)
        return;
    for (int k = 0; k < 3; k++)
        point.force[k] *= sign;
    add_point(piece, p, c->gap < 0 ? c->stiffness : 0, &point);
}

static void add_contacts(sn_settler *settler, const sn_objective *o, const double *x) {
    for (int32_t i = 0; i < sn_contact_set_count(o->contact); i++) {
        sn_contact_point c = sn_contact_set_points(o->contact)[i];
        piece_search *piece = &settler->piece[settler->node_piece[c.node[0]]];
        sn_rigid_point point;
        double at[3], p[3];
        c.stiffness *= settler->softness;
        if (c.on_body)
            add_body_contact(settler, &c, x);
        if (c.on_body || piece->done)
            continue;
        sn_contact_place(&c, x, at);
        sn_rigid_move(&piece->trial_motion, piece->base, at, p);
        point.energy = sn_contact_energy(&c, p, point.force, point.hessian);
        // What is open and slips freely, as most are.
        if (point.energy == 0 && c.friction * c.normal_force == 0)
            continue;
        add_point(piece, p, c.gap < 0 ? c.stiffness : 0, &point);
    }
}

/// A spring of some rest length, whose end is at `arm` from its target.
static void pull_long_spring(const sn_spring *spring, const double arm[3], sn_rigid_point *out) {
    double k = spring->stiffness, length = sn_norm3(arm), stretch = length - spring->rest_length;
    double across = length > 0 ? fmax(0, stretch / length) : 0, along[3];
    out->energy = 0.5 * k * stretch * stretch;
    for (int i = 0; i < 3; i++) {
        along[i] = length > 0 ? arm[i] / length : 0;
        out->force[i] = -k * stretch * along[i];
    }
    for (int i = 0; i < 9; i++)
        out->hessian[i] = k * ((i % 4 == 0 ? across : 0) + (1 - across) * along[i / 3] * along[i % 3]);
}

/// Springs to targets with a length of their own.
static void add_long_springs(sn_settler *settler, const sn_objective *o, const double *x) {
    for (int32_t i = 0; i < settler->source.spring_count; i++) {
        const sn_spring *spring = &settler->source.springs[i];
        piece_search *piece = held_piece(settler, spring);
        sn_rigid_point point;
        double at[3], p[3], arm[3];
        if (!piece || spring->rest_length == 0)
            continue;
        sn_spring_end_place(&spring->a, x, NULL, at);
        sn_rigid_move(&piece->trial_motion, piece->base, at, p);
        sn_sub3(p, o->targets + 3 * (size_t)i, arm);
        pull_long_spring(spring, arm, &point);
        add_point(piece, p, spring->stiffness, &point);
    }
}

/// Values of all pieces that are not done at their trial motions.
static void evaluate_trials(sn_settler *settler, const sn_objective *o, const double *x) {
    for (int32_t p = 0; p < settler->source.piece_count; p++) {
        piece_search *piece = &settler->piece[p];
        if (!piece->done)
            sn_rigid_evaluate(&piece->sums, &piece->trial_motion, &piece->trial);
    }
    if (o->contact)
        add_contacts(settler, o, x);
    add_long_springs(settler, o, x);
}

static bool is_balanced(const piece_search *piece) {
    double left[2] = {0};
    for (int a = 0; a < piece->basis_count; a++) {
        double along = 0;
        for (int i = 0; i < N; i++)
            along += piece->basis[N * a + i] * piece->now.gradient[i];
        left[piece->basis_count < N || a >= 3] += along * along;
    }
    return sqrt(left[0]) <= BALANCE * piece->now.size[0] && sqrt(left[1]) <= BALANCE * piece->now.size[1];
}

static double slope_along(const piece_search *piece, const sn_rigid_value *value) {
    double sum = 0;
    for (int k = 0; k < N; k++)
        sum += value->gradient[k] * piece->direction[k];
    return sum;
}

/// Takes the trial over, and Newton's direction from there.
static void accept_trial(piece_search *piece) {
    piece->motion = piece->trial_motion;
    piece->now = piece->trial;
    piece->step = 1;
    piece->low = 0;
    piece->high = INFINITY;
    sn_rigid_newton(&piece->now, piece->basis_count, piece->basis, piece->direction);
    piece->done = is_balanced(piece) || !(slope_along(piece, &piece->now) < 0);
}

static void choose_trial(piece_search *piece) {
    double shift[3], turn[3];
    for (int k = 0; k < 3; k++) {
        shift[k] = piece->step * piece->direction[k];
        turn[k] = piece->step * piece->direction[3 + k];
    }
    sn_rigid_follow(&piece->motion, shift, turn, &piece->trial_motion);
}

/// Whether the last two steps between which the least energy lies are as good as one.
static bool is_narrow(const piece_search *piece) {
    return piece->high - piece->low <= LEAST_STEP * piece->step;
}

/// Whether the trial is near the least energy along its line. To be lower is not enough: at the anchor of
/// what slides the slope jumps, and where it is to stick is found only by searches that end there.
static bool ends_line(const piece_search *piece) {
    double slope = slope_along(piece, &piece->now), slope_there = slope_along(piece, &piece->trial);
    double change = piece->trial.energy - piece->now.energy;
    if (change <= ARMIJO * piece->step * slope)
        return slope_there <= FLATTER * fabs(slope) || is_narrow(piece);
    // Near the minimum energies are equal to rounding: the slope decides.
    return change <= piece->now.rounding + piece->trial.rounding &&
           fabs(slope_there) <= FLATTER * fabs(slope);
}

/// Chooses the next step on a line. Where contacts close on the way, energies are quadratic
/// in parts, of very different curvature: Newton's method from the far side finds the least one, halving
/// would take dozens of trials.
static void refine_step(piece_search *piece) {
    double slope = slope_along(piece, &piece->trial);
    double next = piece->step - slope / sn_rigid_curvature(&piece->trial, piece->direction);
    if (slope > 0 || piece->trial.energy > piece->now.energy)
        piece->high = piece->step;
    else
        piece->low = piece->step;
    bool is_between = next > piece->low && next < piece->high;
    piece->step = is_between ? next : 0.5 * (piece->low + fmin(piece->high, 1));
}

/// Pieces as they are, then where all but contacts and long springs is least.
static void start_search(sn_settler *settler, const sn_objective *o, const double *x) {
    const sn_piece_source *s = &settler->source;
    evaluate_trials(settler, o, x);
    for (int32_t p = 0; p < s->piece_count; p++) {
        piece_search *piece = &settler->piece[p];
        if (piece->done)
            continue;
        piece->start_energy = piece->trial.energy;
        accept_trial(piece);
        if (piece->basis_count == 1)
            sn_rigid_best_about(&piece->sums, piece->basis + 3, &piece->trial_motion);
        else if (!sn_rigid_best(&piece->sums, piece->basis_count < N, &piece->trial_motion))
            piece->trial_motion = piece->motion;
    }
    evaluate_trials(settler, o, x);
    for (int32_t p = 0; p < s->piece_count; p++) {
        piece_search *piece = &settler->piece[p];
        if (!piece->done && piece->trial.energy < piece->now.energy)
            accept_trial(piece);
    }
}

/// Moves the pieces; returns the change of the objective.
static double apply_motions(const sn_settler *settler, const bool *pinned, double *x) {
    const sn_piece_source *s = &settler->source;
    double change = 0;
    for (int32_t i = 0; i < s->node_count; i++) {
        const piece_search *piece = &settler->piece[settler->node_piece[i]];
        if (!pinned[i])
            sn_rigid_move(&piece->motion, piece->base, x + 3 * (size_t)i, x + 3 * (size_t)i);
    }
    for (int32_t p = 0; p < s->piece_count; p++)
        change += settler->piece[p].now.energy - settler->piece[p].start_energy;
    return change;
}

/// Goes on after a trial: where it does not end the search along its line, with another one there.
static void take_trial(piece_search *piece) {
    if (ends_line(piece)) {
        accept_trial(piece);
        return;
    }
    refine_step(piece);
    piece->done |= piece->step < LEAST_STEP;
}

/// Newton's method from where the pieces are, with some number of trials.
static void search(sn_settler *settler, const sn_objective *o, const double *x, int trials) {
    for (int trial = 0; trial < trials; trial++) {
        bool all_done = true;
        for (int32_t p = 0; p < settler->source.piece_count; p++) {
            all_done &= settler->piece[p].done;
            choose_trial(&settler->piece[p]);
        }
        if (all_done)
            break;
        evaluate_trials(settler, o, x);
        for (int32_t p = 0; p < settler->source.piece_count; p++) {
            piece_search *piece = &settler->piece[p];
            if (piece->done)
                continue;
            take_trial(piece);
        }
    }
}

/// Takes up the hard pieces again, where they are, with a part of the contacts' stiffness.
static void begin_again(sn_settler *settler, const sn_objective *o, const double *x, double softness) {
    const sn_piece_source *s = &settler->source;
    settler->softness = softness;
    for (int32_t p = 0; p < s->piece_count; p++) {
        settler->piece[p].done = !settler->piece[p].hard;
        settler->piece[p].trial_motion = settler->piece[p].motion;
    }
    evaluate_trials(settler, o, x);
    for (int32_t p = 0; p < s->piece_count; p++)
        if (settler->piece[p].hard)
            accept_trial(&settler->piece[p]);
}

/// Notes the pieces whose search failed, and where it came to. Returns whether there are any.
static bool find_hard_pieces(sn_settler *settler) {
    bool has_hard = false;
    for (int32_t p = 0; p < settler->source.piece_count; p++) {
        piece_search *piece = &settler->piece[p];
        piece->hard = piece->basis_count > 0 && !is_balanced(piece);
        piece->first_motion = piece->motion;
        piece->first_energy = piece->now.energy;
        has_hard |= piece->hard;
    }
    return has_hard;
}

/// Contacts that are very stiff against inertia are walls with corners, in which Newton's method is caught.
/// It is led from soft ones to them: what touches then touches from the start, and the way to the next
/// stiffness is short.
static void search_from_soft(sn_settler *settler, const sn_objective *o, const double *x) {
    int count = (int)(sizeof SOFT / sizeof *SOFT);
    for (int k = 0; k < count; k++) {
        begin_again(settler, o, x, SOFT[k]);
        search(settler, o, x, k + 1 < count ? SOFT_TRIALS : LAST_TRIALS);
    }
    for (int32_t p = 0; p < settler->source.piece_count; p++) {
        piece_search *piece = &settler->piece[p];
        if (!piece->hard || piece->now.energy <= piece->first_energy)
            continue;
        piece->motion = piece->first_motion;
        piece->now.energy = piece->first_energy;
    }
}

/// Lets clusters stand still that would turn by more than a little: what flies at each other would turn about
/// each other, and come out on the far side.
static void stop_turning(sn_settler *settler) {
    for (int32_t p = 0; p < settler->source.piece_count; p++) {
        piece_search *piece = &settler->piece[p];
        const double *turn = piece->motion.turn;
        if (!settler->has_company[p] || -0.5 * (turn[0] + turn[4] + turn[8]) <= MOST_TURN)
            continue;
        piece->motion = (sn_rigid_motion){0};
        piece->now.energy = piece->start_energy;
    }
}

/// Moves one piece alone, or for -1 all.
static double settle_pieces(sn_settler *settler, const sn_objective *o, double *x, int32_t alone) {
    settler->softness = 1;
    begin_pieces(settler, o, x, alone);
    start_search(settler, o, x);
    search(settler, o, x, FIRST_TRIALS);
    if (o->contact && find_hard_pieces(settler))
        search_from_soft(settler, o, x);
    if (settler->node_piece == settler->joined)
        stop_turning(settler);
    return apply_motions(settler, o->pinned, x);
}

double sn_settle(sn_settler *settler, const sn_objective *o, double *x) {
    double change = 0;
    bool has_clusters = o->contact && sn_contact_set_has_bodies(o->contact) && find_clusters(settler, o, x);
    settler->node_piece = settler->source.node_piece;
    // One after the other, with the rest standing still, so that the objective falls; then as wholes.
    for (int32_t p = 0; has_clusters && p < settler->source.piece_count; p++)
        if (settler->has_company[p])
            change += settle_pieces(settler, o, x, p);
    if (has_clusters)
        join_clusters(settler);
    return change + settle_pieces(settler, o, x, -1);
}

double sn_settle_bend(const sn_settler *settler) {
    double most = 0;
    for (int32_t p = 0; p < settler->source.piece_count; p++) {
        const piece_search *piece = &settler->piece[p];
        const double *turn = piece->motion.turn, *second = piece->sums.second;
        double radius =
            piece->sums.weight > 0 ? sqrt((second[0] + second[4] + second[8]) / piece->sums.weight) : 0;
        most = fmax(most, -0.5 * (turn[0] + turn[4] + turn[8]) * radius);
    }
    return most;
}
