/// Distance field of a closed surface: quick answers far from it, where exact ones are not needed.
///
/// Space around the surface is cut into cells, each with the signed distance of its center: as distances
/// differ by no more than the way between two places, the distance anywhere in the cell is known up to the
/// way to its center, and so is the sign where that leaves one. Cells of the given spacing lie near the
/// surface only (the band, at least two cells wide), 64 of them to a block; far blocks have one number. No
/// interpolation: a bound that is never too large needs none. Near the surface, where no sign is left, the
/// surface itself is asked.
#ifndef SN_GEOM_FIELD_H
#define SN_GEOM_FIELD_H

#include "geom/geom_mesh_distance.h"

typedef struct sn_distance_field sn_distance_field;

/// Cells of a field unless the caller knows better: 16 MB.
enum { SN_FIELD_CELLS_MAX = 4000000 };

/// Makes the field of a surface, which is borrowed. @param spacing  m, > 0; made coarser until the field has
/// at most `most_cells` >= 1000 cells.
/// Threads: as many as the context has; the field does not depend on their number.
SN_NODISCARD sn_status sn_distance_field_create(sn_context *ctx, const sn_mesh_distance *surface,
                                                double spacing, int32_t most_cells,
                                                sn_distance_field **out_field);
void sn_distance_field_destroy(sn_distance_field **field);

/// Spacing that the field got, in m, and the number of its cells.
double sn_distance_field_spacing(const sn_distance_field *field);
int32_t sn_distance_field_cells(const sn_distance_field *field);

/// A number of the signed distance's sign and at most its size. Near the surface it is the distance. NaN
/// gives NaN. No memory is taken; any number of threads may ask.
double sn_distance_field_bound(const sn_distance_field *field, const double point[3]);

/// What sn_mesh_distance_query() and sn_mesh_distance_nearest() say, sooner: the field knows which side most
/// points are on.
double sn_distance_field_distance(const sn_distance_field *field, const double point[3]);
double sn_distance_field_nearest(const sn_distance_field *field, const double point[3], double out_nearest[3],
                                 double out_normal[3]);

/// Whether a point on its way from `from` to `to` comes within `slack` > 0 of the surface or is inside;
/// *out_part is the first part of the way after which it has. Through free space the way is gone in steps of
/// the bound, near the surface its triangles are tried.
bool sn_distance_field_sweep(const sn_distance_field *field, const double from[3], const double to[3],
                             double slack, double *out_part);

#endif
