/// The constant metric A = inertia M + L on the free nodes, factored once per inertia and applied to x, y, z
/// together.
///
/// Pinned nodes are eliminated: their rows are left out (their motion enters through the gradient alone). A
/// connected piece without anchor is translated apart (rounding of a stiff L would swamp M): the part of the
/// gradient that moves it as a whole is answered exactly by total force / (inertia * mass), the rest by the
/// factor, so that a stiff L cannot swamp it.
#ifndef SN_SOLVE_METRIC_H
#define SN_SOLVE_METRIC_H

#include "elastic/elastic.h"
#include "sinew/factor.h"

typedef struct sn_metric_def {
    int32_t node_count;
    const bool *pinned;        ///< [node_count]
    const double *mass;        ///< [node_count] kg
    const int32_t *node_piece; ///< [node_count]
    int32_t piece_count;
    const bool *piece_anchored; ///< [piece_count]
} sn_metric_def;

typedef struct sn_metric sn_metric;

/// Assembles the pattern of L (exact zeros dropped) and analyzes it. Definition arrays are copied.
SN_NODISCARD sn_status sn_metric_create(sn_context *ctx, const sn_elastic *elastic, const sn_metric_def *def,
                                        sn_metric **out_metric);
void sn_metric_destroy(sn_metric **metric);

/// Factors for a given inertia [1/s^2]; 0 needs every piece anchored (SN_ERR_INVALID_ARGUMENT otherwise).
/// Allocates nothing. After an error the metric holds no factor.
SN_NODISCARD sn_status sn_metric_factor(sn_metric *metric, double inertia);

/// z = A^-1 g; g, z [node_count, 3], z 0 at pinned nodes. g and z may be the same array. Allocates nothing.
SN_NODISCARD sn_status sn_metric_apply(sn_metric *metric, const double *g, double *z);

/// Inertia of the current factor; negative: none.
double sn_metric_inertia(const sn_metric *metric);
sn_factor_info sn_metric_factor_info(const sn_metric *metric);

#endif
