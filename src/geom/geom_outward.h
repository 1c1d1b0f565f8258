/// Which way the pieces of a surface face: a shell that was turned inside out is turned back, a hollow inside
/// of another piece keeps facing inward.
#ifndef SN_GEOM_OUTWARD_H
#define SN_GEOM_OUTWARD_H

#include "geom/geom_surface.h"
#include "geom/geom_winding.h"

/// Makes the winding number of a surface that is not finished yet, and turns the pieces that face inward
/// where their surroundings do not say so.
/// @param bvh  over the surface's triangles; surface and tree are borrowed by the winding number
SN_NODISCARD sn_status sn_surface_turn_outward(sn_surface *surface, const sn_bvh *bvh,
                                               sn_winding **out_winding);

#endif
