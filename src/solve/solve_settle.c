#include "solve/solve_settle.h"

#include "math/math_mat3.h"

#include <float.h>
#include <string.h>

enum { MAX_TRIALS = 60 };

/// Sufficient decrease, as in the minimizers.
static const double ARMIJO = 1e-4;
/// Forces are in balance when what is left is below this part of their sizes.
static const double BALANCE = 4 * DBL_EPSILON;
/// Shorter steps than this part of Newton's are not tried.
static const double LEAST_STEP = 1e-9;

/// Inertia and contacts of a piece at some translation.
typedef struct piece_value {
    double energy, gradient[3], hessian[9];
    double size; ///< N: sum of the sizes of the forces in the gradient
} piece_value;

typedef struct piece_search {
    bool done;
    double mass;       ///< kg/s^2: inertia times the mass of the piece
    double force[3];   ///< N: gradient of the inertia at no translation
    double force_size; ///< N: sum of the sizes of the nodes' shares of it
    double shift[3], direction[3], step;
    piece_value now, trial;
} piece_search;

struct sn_settler {
    sn_context *ctx;
    sn_piece_source source;
    piece_search *piece; ///< [piece_count]
};

sn_status sn_settler_create(sn_context *ctx, const sn_piece_source *source, sn_settler **out_settler) {
    sn_status status = SN_OK;
    sn_settler *settler = NULL;
    SN_TRY_NEW_ZEROED(ctx, settler, 1);
    settler->ctx = ctx;
    settler->source = *source;
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
    SN_RELEASE(ctx, (*settler)->piece);
    SN_RELEASE(ctx, *settler);
}

static void sum_inertia(sn_settler *settler, const sn_objective *o, const double *x) {
    const sn_piece_source *s = &settler->source;
    for (int32_t p = 0; p < s->piece_count; p++)
        settler->piece[p] = (piece_search){.done = s->piece_anchored[p]};
    for (int32_t i = 0; i < s->node_count; i++) {
        piece_search *piece = &settler->piece[s->node_piece[i]];
        double mass = o->inertia * o->mass[i];
        piece->mass += mass;
        for (int k = 0; k < 3; k++) {
            double share = mass * (x[3 * (size_t)i + (size_t)k] - o->y[3 * (size_t)i + (size_t)k]);
            piece->force[k] += share;
            piece->force_size += fabs(share);
        }
    }
}

/// Inertia of a piece translated by `shift`.
static void start_value(const piece_search *piece, const double shift[3], piece_value *out) {
    *out = (piece_value){.size = piece->force_size};
    for (int k = 0; k < 3; k++) {
        out->energy += shift[k] * (piece->force[k] + 0.5 * piece->mass * shift[k]);
        out->gradient[k] = piece->force[k] + piece->mass * shift[k];
        out->hessian[4 * k] = piece->mass;
        out->size += piece->mass * fabs(shift[k]);
    }
}

static void trial_shift(const piece_search *piece, double out[3]) {
    for (int k = 0; k < 3; k++)
        out[k] = piece->shift[k] + piece->step * piece->direction[k];
}

static void add_contact(const sn_contact_point *c, const double *x, const double shift[3], piece_value *out) {
    double p[3], force[3], hessian[9];
    sn_contact_place(c, x, p);
    for (int k = 0; k < 3; k++)
        p[k] += shift[k];
    out->energy += sn_contact_energy(c, p, force, hessian);
    // The rounding of places counts as well: stiff contacts make forces of it.
    out->size += sn_norm3(force) + (c->gap < 0 ? c->stiffness * sn_norm3(p) : 0);
    for (int k = 0; k < 3; k++)
        out->gradient[k] -= force[k];
    for (int k = 0; k < 9; k++)
        out->hessian[k] += hessian[k];
}

/// Values of all pieces that are not done at their trial translations.
static void evaluate_trials(sn_settler *settler, const sn_objective *o, const double *x) {
    const sn_piece_source *s = &settler->source;
    double shift[3];
    for (int32_t p = 0; p < s->piece_count; p++) {
        piece_search *piece = &settler->piece[p];
        trial_shift(piece, shift);
        start_value(piece, shift, &piece->trial);
    }
    for (int32_t i = 0; i < sn_contact_set_count(o->contact); i++) {
        const sn_contact_point *c = &sn_contact_set_points(o->contact)[i];
        piece_search *piece = &settler->piece[s->node_piece[c->node[0]]];
        if (piece->done)
            continue;
        trial_shift(piece, shift);
        add_contact(c, x, shift, &piece->trial);
    }
}

/// Takes the trial over, and Newton's direction from there.
static void accept_trial(piece_search *piece) {
    double inverse[9], rhs[3];
    trial_shift(piece, piece->shift);
    piece->now = piece->trial;
    piece->step = 1;
    for (int k = 0; k < 3; k++)
        rhs[k] = -piece->now.gradient[k];
    sn_inverse3(piece->now.hessian, inverse);
    sn_mul3(inverse, rhs, piece->direction);
    piece->done = sn_norm3(piece->now.gradient) <= BALANCE * piece->now.size;
}

static bool is_lower(const piece_search *piece) {
    double slope = sn_dot3(piece->now.gradient, piece->direction);
    double slope_there = sn_dot3(piece->trial.gradient, piece->direction);
    if (piece->trial.energy <= piece->now.energy + ARMIJO * piece->step * slope)
        return true;
    // Near the minimum energies are equal to rounding: the slope decides.
    return fabs(slope_there) <= 0.5 * fabs(slope);
}

void sn_settle(sn_settler *settler, const sn_objective *o, double *x) {
    const sn_piece_source *s = &settler->source;
    if (o->inertia == 0 || !o->contact || sn_contact_set_count(o->contact) == 0)
        return;
    sum_inertia(settler, o, x);
    evaluate_trials(settler, o, x);
    for (int32_t p = 0; p < s->piece_count; p++)
        if (!settler->piece[p].done)
            accept_trial(&settler->piece[p]);
    for (int trial = 0; trial < MAX_TRIALS; trial++) {
        bool all_done = true;
        evaluate_trials(settler, o, x);
        for (int32_t p = 0; p < s->piece_count; p++) {
            piece_search *piece = &settler->piece[p];
            if (piece->done)
                continue;
            if (is_lower(piece))
                accept_trial(piece);
            else
                piece->step /= 2;
            piece->done |= piece->step < LEAST_STEP;
            all_done &= piece->done;
        }
        if (all_done)
            break;
    }
    for (int32_t i = 0; i < s->node_count; i++)
        for (int k = 0; k < 3; k++)
            x[3 * (size_t)i + (size_t)k] += settler->piece[s->node_piece[i]].shift[k];
}
