/// Moves pieces as wholes, without deforming them, to the least of the objective.
///
/// Elastic energy does not change when a connected piece moves rigidly, so the best such motion is a problem
/// in six unknowns, or fewer where pins hold the piece, that only inertia, loads, springs to targets and
/// contacts enter. The metric of the minimizers resists turning as it resists deformation: what is stiff for
/// its size and the step would hardly turn in an iteration. Here it turns at once, by any angle. Before the
/// minimization this also puts what flies onto what it meets; after it, it leaves a step in which the contact
/// forces on a free piece are the change of its momentum, and their moments that of its angular momentum,
/// whatever the minimizer's tolerance.
///
/// Inertia, loads and springs of rest length 0 are quadratic in the places of points that move rigidly: their
/// sums over a piece are taken once, their minimum is an orthogonal Procrustes problem (Kabsch 1976). With
/// contacts, Newton's method goes on from there, on the exponential map.
///
/// Pieces that press on each other move one after the other, while the rest stands still, and then together,
/// as one: momentum is theirs together, and what they do to each other is the minimizer's to end. A piece
/// that pins hold stands still under what lies on it.
///
/// Springs within a piece do not stretch when it moves as a whole: bodies that hang together by springs are
/// one piece here.
#ifndef SN_SOLVE_SETTLE_H
#define SN_SOLVE_SETTLE_H

#include "solve/solve_objective.h"

/// Connected pieces of the nodes; borrowed.
typedef struct sn_piece_source {
    int32_t node_count, piece_count;
    const int32_t *node_piece; ///< [node_count]
    int32_t spring_count;
    const sn_spring *springs; ///< [spring_count]; those to targets hold
} sn_piece_source;

typedef struct sn_settler sn_settler;

SN_NODISCARD sn_status sn_settler_create(sn_context *ctx, const sn_piece_source *source,
                                         sn_settler **out_settler);
void sn_settler_destroy(sn_settler **settler);

/// Carries the free nodes of x [node_count, 3], which are where they were in `from`, along with the motion of
/// their piece's pinned nodes from there to x, where that motion is rigid. Returns whether anything moved.
bool sn_settle_on_pins(sn_settler *settler, const bool *pinned, const double *from, double *x);

/// Moves the pieces of x [node_count, 3] rigidly to a minimum of the objective over such motions, for
/// contacts as last renewed; the objective does not rise. Pinned nodes stay: a piece turns about one of them,
/// about the line through several, or not at all. Allocates nothing. Returns the change of the objective [J],
/// <= 0.
double sn_settle(sn_settler *settler, const sn_objective *objective, double *x);

/// How far the turning of the last sn_settle() bent the ways of nodes: the most over the pieces of (1 - cos
/// angle) times the radius of gyration about the base, in m.
double sn_settle_bend(const sn_settler *settler);

#endif
