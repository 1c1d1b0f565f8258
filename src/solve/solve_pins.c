#include "solve/solve_pins.h"

#include "math/math_mat3.h"
#include "solve/solve_rigid.h"

#include <string.h>

/// Of the length between them: pins lie on a line if they are nearer to it.
static const double LINE_SLACK = 1e-6;

static const double *place(const double *x, int32_t node) {
    return x + 3 * (size_t)node;
}

/// Distance of a node from the point or line that the pins found so far span.
static double distance_from(const sn_pins *pins, const double *x, int32_t node) {
    const double *first = place(x, pins->node[0]);
    double arm[3], along[3], normal[3];
    sn_sub3(place(x, node), first, arm);
    if (pins->count == 1)
        return sn_norm3(arm);
    sn_sub3(place(x, pins->node[1]), first, along);
    sn_cross3(along, arm, normal);
    return sn_norm3(normal) / sn_norm3(along);
}

/// Adds to the pins of each piece that has `count` of them the node that lies farthest off, if any does.
static void find_next(int32_t node_count, const int32_t *node_piece, int32_t piece_count, const bool *pinned,
                      const double *x, int32_t count, sn_pins *pins) {
    for (int32_t i = 0; i < node_count; i++) {
        sn_pins *p = &pins[node_piece[i]];
        double distance = pinned[i] && p->count == count ? distance_from(p, x, i) : 0;
        if (distance > p->reach) {
            p->reach = distance;
            p->node[count] = i;
        }
    }
    for (int32_t k = 0; k < piece_count; k++) {
        sn_pins *p = &pins[k];
        double least =
            p->count == 2 ? LINE_SLACK * sn_distance3(place(x, p->node[0]), place(x, p->node[1])) : 0;
        p->count += p->count == count && p->reach > least;
        p->reach = 0;
    }
}

void sn_pins_find(int32_t node_count, const int32_t *node_piece, int32_t piece_count, const bool *pinned,
                  const double *x, sn_pins *out_pins) {
    memset(out_pins, 0, (size_t)piece_count * sizeof *out_pins);
    for (int32_t i = 0; i < node_count; i++) {
        sn_pins *p = &out_pins[node_piece[i]];
        if (pinned[i] && p->count == 0)
            p->node[p->count++] = i;
    }
    for (int32_t count = 1; count < 3; count++)
        find_next(node_count, node_piece, piece_count, pinned, x, count, out_pins);
}

/// Unit vector from the first pin to the second.
static void find_line(const sn_pins *pins, const double *x, double out[3]) {
    sn_sub3(place(x, pins->node[1]), place(x, pins->node[0]), out);
    sn_unit3(out, out);
}

/// Right-handed axes of three pins, as rows.
static void find_axes(const sn_pins *pins, const double *x, double out[9]) {
    double side[3];
    find_line(pins, x, out);
    sn_sub3(place(x, pins->node[2]), place(x, pins->node[0]), side);
    sn_cross3(out, side, out + 6);
    sn_unit3(out + 6, out + 6);
    sn_cross3(out + 6, out, out + 3);
}

/// The smallest rotation that takes the unit vector a to b.
static void turn_between(const double a[3], const double b[3], double out_turn[9]) {
    double axis[3], rotation[3];
    sn_cross3(a, b, axis);
    double sine = sn_norm3(axis), angle = atan2(sine, sn_dot3(a, b));
    for (int k = 0; k < 3; k++)
        rotation[k] = sine > 0 ? axis[k] * (angle / sine) : 0;
    sn_rigid_turn(rotation, out_turn);
}

void sn_pins_turn(const sn_pins *pins, const double *from, const double *to, double out_turn[9]) {
    double old_axes[9], new_axes[9];
    memset(out_turn, 0, 9 * sizeof *out_turn);
    if (pins->count == 2) {
        find_line(pins, from, old_axes);
        find_line(pins, to, new_axes);
        turn_between(old_axes, new_axes, out_turn);
    } else if (pins->count == 3) {
        find_axes(pins, from, old_axes);
        find_axes(pins, to, new_axes);
        sn_mul33_tn(new_axes, old_axes, out_turn);
        for (int k = 0; k < 3; k++)
            out_turn[4 * k] -= 1;
    }
}
