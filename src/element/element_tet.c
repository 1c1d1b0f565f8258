#include "element/element_tet.h"

#include "base/base_parallel.h"
#include "math/math_mat3.h"

/// F = Ds D for every lane; Ds holds the edges from node 0 as columns.
SN_CLONES static void sn_tet_block_gradients(const sn_tet_block *block, const double *x,
                                             double F[9][SN_LANES]) {
    SN_VECTOR_MEMORY double edge[3][3][SN_LANES];
    for (int lane = 0; lane < SN_LANES; lane++) {
        const double *x0 = x + 3 * (int64_t)block->node[0][lane];
        for (int a = 0; a < 3; a++) {
            const double *xa = x + 3 * (int64_t)block->node[a + 1][lane];
            for (int i = 0; i < 3; i++)
                edge[a][i][lane] = xa[i] - x0[i];
        }
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int lane = 0; lane < SN_LANES; lane++)
                F[3 * i + j][lane] = edge[0][i][lane] * block->shape[j][lane] +
                                     edge[1][i][lane] * block->shape[3 + j][lane] +
                                     edge[2][i][lane] * block->shape[6 + j][lane];
}

/// Corner gradients V P B_a.
SN_CLONES static void sn_tet_block_corners(const sn_tet_block *block, double P[9][SN_LANES],
                                           sn_tet_corners *corners) {
    for (int i = 0; i < 3; i++)
        for (int a = 0; a < 3; a++)
            for (int lane = 0; lane < SN_LANES; lane++)
                (*corners)[a + 1][i][lane] =
                    block->volume[lane] * (P[3 * i][lane] * block->shape[3 * a][lane] +
                                           P[3 * i + 1][lane] * block->shape[3 * a + 1][lane] +
                                           P[3 * i + 2][lane] * block->shape[3 * a + 2][lane]);
    for (int i = 0; i < 3; i++)
        for (int lane = 0; lane < SN_LANES; lane++)
            (*corners)[0][i][lane] =
                -((*corners)[1][i][lane] + (*corners)[2][i][lane] + (*corners)[3][i][lane]);
}

double sn_tet_block_energy(const sn_tet_block *block, sn_material_kernel *kernel,
                           const sn_material_limits *limits, const double *x, sn_tet_corners *corners) {
    SN_VECTOR_MEMORY double F[9][SN_LANES], P[9][SN_LANES], psi[SN_LANES];
    sn_tet_block_gradients(block, x, F);
    kernel((const double(*)[SN_LANES])F, block->mu, block->lambda, limits, psi, corners ? P : NULL);
    if (corners)
        sn_tet_block_corners(block, P, corners);
    double energy = 0;
    for (int lane = 0; lane < SN_LANES; lane++)
        energy += block->volume[lane] > 0 ? block->volume[lane] * psi[lane] : 0;
    return energy;
}

double sn_tet_rest(const double *X0, const double *X1, const double *X2, const double *X3, double D[9]) {
    const double *X[3] = {X1, X2, X3};
    double Dm[9];
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++)
            Dm[3 * i + a] = X[a][i] - X0[i];
    return sn_inverse3(Dm, D) / 6;
}

void sn_tet_metric(const int32_t node[4], const double D[9], double weight_volume,
                   sn_triplet out[SN_TET_TRIPLETS]) {
    double B[4][3];
    for (int j = 0; j < 3; j++) {
        for (int a = 0; a < 3; a++)
            B[a + 1][j] = D[3 * a + j];
        B[0][j] = -(D[j] + D[3 + j] + D[6 + j]);
    }
    int count = 0;
    for (int a = 0; a < 4; a++)
        for (int b = 0; b <= a; b++)
            out[count++] = (sn_triplet){node[a], node[b], weight_volume * sn_dot3(B[a], B[b])};
}
