/// Moves free pieces as wholes to where their contacts balance their inertia.
///
/// A translation leaves elastic energy alone, so the best one for a piece is a problem in three unknowns that
/// only contacts and inertia enter: convex, smooth but for the contacts' onset, and cheap. Before the
/// minimization it puts what flies onto what it meets; after it, it leaves a step in which the contact forces
/// on a piece are exactly the change of its momentum, whatever the minimizer's tolerance.
#ifndef SN_SOLVE_SETTLE_H
#define SN_SOLVE_SETTLE_H

#include "solve/solve_objective.h"

/// Connected pieces of the nodes; borrowed.
typedef struct sn_piece_source {
    int32_t node_count, piece_count;
    const int32_t *node_piece;  ///< [node_count]
    const bool *piece_anchored; ///< [piece_count] something else than contact holds the piece
} sn_piece_source;

typedef struct sn_settler sn_settler;

SN_NODISCARD sn_status sn_settler_create(sn_context *ctx, const sn_piece_source *source,
                                         sn_settler **out_settler);
void sn_settler_destroy(sn_settler **settler);

/// Translates the free pieces of x [node_count, 3] to the minimum of the objective over such translations,
/// for contacts as last renewed. Does nothing without inertia or contacts.
void sn_settle(sn_settler *settler, const sn_objective *objective, double *x);

#endif
