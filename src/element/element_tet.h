/// Linear tetrahedra, SN_LANES at a time.
///
/// F = sum over nodes of x_a B_a'. Only D = Dm^-1 is stored: its rows are the gradients of nodes 1 to 3, and
/// the gradient of node 0 is minus their sum. Unused lanes of the last block repeat the first lane with
/// volume 0.
#ifndef SN_ELEMENT_TET_H
#define SN_ELEMENT_TET_H

#include "base/base_context.h"
#include "material/material_model.h"
#include "sparse/sparse_csr.h"

typedef struct sn_tet_block {
    double shape[9][SN_LANES];             ///< D, 1/m
    double volume[SN_LANES];               ///< m^3
    double mu[SN_LANES], lambda[SN_LANES]; ///< Pa
    int32_t node[4][SN_LANES];
} sn_tet_block;

/// Forces on the corners of a block's tets: [corner][axis][lane] in N (gradient of the energy).
typedef double sn_tet_corners[4][3][SN_LANES];

/// Energy [J] of a block, and its corner gradients unless `corners` is NULL. x [n, 3]. limits: of the block's
/// lanes, NULL for models without.
double sn_tet_block_energy(const sn_tet_block *block, sn_material_kernel *kernel,
                           const sn_material_limits *limits, const double *x, sn_tet_corners *corners);

/// Rest data of a tet: D (row-major) and volume from four rest places. A flat tet gives volume 0 and D not
/// finite.
double sn_tet_rest(const double *X0, const double *X1, const double *X2, const double *X3, double D[9]);

/// Entries of w V B B' (lower triangle and diagonal) for one tet.
enum { SN_TET_TRIPLETS = 10 };
void sn_tet_metric(const int32_t node[4], const double D[9], double weight_volume,
                   sn_triplet out[SN_TET_TRIPLETS]);

#endif
