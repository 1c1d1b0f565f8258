/// Where a rest place lies in a body.
#ifndef SN_SIM_LOCATE_H
#define SN_SIM_LOCATE_H

#include "sim/sim_model.h"

/// A place in a tet: the sum of weight[a] times what the node has.
typedef struct sn_body_place {
    int32_t tet;      ///< Of the model.
    int32_t node[4];  ///< Of the model.
    double weight[4]; ///< >= 0, sum 1.
    double distance;  ///< m, from the place asked for; 0 inside of the body.
} sn_body_place;

/// Finds the tet of a body that holds a rest place, or is nearest to it; the first one of several, and of the
/// copies of a tet the one whose piece of the surface is nearest. One pass
/// over the body's tets: for a few places, not for a whole mesh.
/// @param body_index 0 to body_count - 1  @param point finite
sn_body_place sn_body_locate(const sn_model *model, int32_t body_index, const double point[3]);

/// A node vector at a place: `values` [node_count, 3].
void sn_body_place_vector(const sn_body_place *place, const double *values, double out[3]);

#endif
