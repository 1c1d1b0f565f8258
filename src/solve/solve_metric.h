/// The constant metric A = inertia M + L on the free nodes, factored once per inertia and applied to x, y, z
/// together.
///
/// Pinned nodes are eliminated: their rows are left out (their motion enters through the gradient alone). A
/// connected piece that neither an anchor nor a contact holds is translated apart: the part of the gradient
/// that moves it as a whole is answered exactly by total force / (inertia * mass), the rest by the factor, in
/// which rounding of a stiff L would swamp M.
///
/// Contacts do not enter the matrix but act on top of its factor, by their normals (solve_compliance.h).
/// Where there are too many for that they enter as c diag(w): a bound of their Hessian, isotropic, so that x,
/// y and z go on sharing one matrix, and of the same pattern. It is far too stiff along the surface: a free
/// piece that slides would need hundreds of iterations. So the translation of a piece in contact is corrected
/// by the difference of two 3 x 3 inverses: of the true Hessian of inertia and contacts, and of what the
/// matrix holds in its place.
#ifndef SN_SOLVE_METRIC_H
#define SN_SOLVE_METRIC_H

#include "contact/contact_set.h"
#include "elastic/elastic.h"
#include "sinew/factor.h"

typedef struct sn_metric_def {
    int32_t node_count;
    const bool *pinned;        ///< [node_count]
    const double *mass;        ///< [node_count] kg
    const int32_t *node_piece; ///< [node_count]
    int32_t piece_count;
    const bool *piece_anchored; ///< [piece_count]
    sn_factor_storage storage;  ///< of the factor
    int32_t kept_count;
    const int32_t *kept;   ///< [kept_count] distinct free nodes
    int32_t most_contacts; ///< that the model may have at once
} sn_metric_def;

typedef struct sn_metric sn_metric;

/// Assembles the pattern of L (exact zeros dropped) and analyzes it. Definition arrays are copied.
SN_NODISCARD sn_status sn_metric_create(sn_context *ctx, const sn_elastic *elastic, const sn_metric_def *def,
                                        sn_metric **out_metric);
void sn_metric_destroy(sn_metric **metric);

/// Factors for a given inertia [1/s^2]; 0 needs every piece anchored (SN_ERR_INVALID_ARGUMENT otherwise).
/// Allocates nothing. After an error the metric holds no factor.
SN_NODISCARD sn_status sn_metric_factor(sn_metric *metric, double inertia);

/// Brings the metric to an inertia [1/s^2] and to the contacts with which a step begins, at node positions x
/// [node_count, 3]; set NULL: none. What it holds then follows from these alone. Adds the number of
/// factorizations to *factorizations. Errors and allocation as sn_metric_factor().
SN_NODISCARD sn_status sn_metric_begin(sn_metric *metric, double inertia, sn_contact_set *set,
                                       const double *x, int32_t *factorizations);

/// Takes over the contacts after a renewal at x [node_count, 3]. Otherwise like sn_metric_begin(), but
/// factors only for contacts that the metric cannot take without.
SN_NODISCARD sn_status sn_metric_follow(sn_metric *metric, sn_contact_set *set, const double *x,
                                        int32_t *factorizations);

/// z = A^-1 g; g, z [node_count, 3], z 0 at pinned nodes. g and z may be the same array. Allocates nothing.
SN_NODISCARD sn_status sn_metric_apply(sn_metric *metric, const double *g, double *z);

/// Inertia of the current factor; negative: none.
double sn_metric_inertia(const sn_metric *metric);
sn_factor_info sn_metric_factor_info(const sn_metric *metric);

#endif
