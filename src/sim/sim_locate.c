#include "sim/sim_locate.h"

#include "geom/geom_predicate.h"

#include <math.h>
#include <string.h>

static void gather_corners(const sn_model *model, int32_t tet, double corner[12]) {
    for (size_t a = 0; a < 4; a++)
        memcpy(corner + 3 * a, model->rest + 3 * (size_t)model->tets[4 * (size_t)tet + a],
               3 * sizeof *corner);
}

/// Squared distance of a point from the box around a tet: no more than that from the tet.
static double box_distance(const double point[3], const double corner[12]) {
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double low = fmin(fmin(corner[i], corner[3 + i]), fmin(corner[6 + i], corner[9 + i]));
        double high = fmax(fmax(corner[i], corner[3 + i]), fmax(corner[6 + i], corner[9 + i]));
        double gap = fmax(0, fmax(low - point[i], point[i] - high));
        sum += gap * gap;
    }
    return sum;
}

/// Smaller weights are rounding: without them a place at a node is that node's, to the bit.
#define WEIGHT_MIN 1e-12

/// Weights of a place in a tet: none is negative, their sum is 1.
static void take_weights(const double place[3], const double corner[12], double weight[4]) {
    double total = 0;
    sn_tet_weights(place, corner, weight);
    for (int a = 0; a < 4; a++) {
        weight[a] = weight[a] > WEIGHT_MIN ? weight[a] : 0;
        total += weight[a];
    }
    for (int a = 0; a < 4; a++)
        weight[a] /= total;
}

sn_body_place sn_body_locate(const sn_model *model, int32_t body_index, const double point[3]) {
    const sn_model_body_data *body = &model->bodies[body_index];
    sn_body_place place = {.tet = body->tet_begin};
    double best = INFINITY, corner[12], nearest[3];
    for (int32_t tet = body->tet_begin; tet < body->tet_begin + body->tet_count && best > 0; tet++) {
        gather_corners(model, tet, corner);
        if (box_distance(point, corner) >= best)
            continue;
        double squared = sn_tet_nearest(point, corner, nearest);
        if (squared < best) {
            best = squared;
            place.tet = tet;
        }
    }
    place.tet = body->tet_begin + sn_tet_copy_at(&body->copies, place.tet - body->tet_begin, point);
    gather_corners(model, place.tet, corner);
    place.distance = sqrt(sn_tet_nearest(point, corner, nearest));
    take_weights(nearest, corner, place.weight);
    memcpy(place.node, model->tets + 4 * (size_t)place.tet, sizeof place.node);
    return place;
}

void sn_body_place_vector(const sn_body_place *place, const double *values, double out[3]) {
    memset(out, 0, 3 * sizeof *out);
    for (int a = 0; a < 4; a++)
        for (int i = 0; i < 3; i++)
            out[i] += place->weight[a] * values[3 * (size_t)place->node[a] + (size_t)i];
}
