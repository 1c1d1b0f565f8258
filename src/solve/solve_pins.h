/// What pinned nodes leave of the rigid motions of a piece, and what they do to it when they move themselves.
#ifndef SN_SOLVE_PINS_H
#define SN_SOLVE_PINS_H

#include "base/base_context.h"

/// Pinned nodes of a piece that span what its pins hold: 0 nothing, 1 a point, 2 a line, 3 all of it.
typedef struct sn_pins {
    int32_t count, node[3];
    double reach; ///< m: scratch
} sn_pins;

/// Finds the pins of each piece at x [node_count, 3] into out_pins [piece_count].
void sn_pins_find(int32_t node_count, const int32_t *node_piece, int32_t piece_count, const bool *pinned,
                  const double *x, sn_pins *out_pins);

/// Rotation minus the identity, the smallest one, that takes the pins of a piece from where they are in
/// `from` to where they are in `to`, if they move rigidly.
void sn_pins_turn(const sn_pins *pins, const double *from, const double *to, double out_turn[9]);

#endif
