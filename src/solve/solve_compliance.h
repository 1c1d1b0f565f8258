/// Contacts on top of a factor: solves (A + sum of k (w d)(w d)') z = g without touching A.
///
/// A contact is a row w of weights on up to eight nodes with a stiffness k. With the compliance of the rows,
/// G = W A^-1 W', the forces l of the contacts solve a small dense system, and z = A^-1 (g - W' l). Where a
/// contact sticks it resists along x, y and z, and (1/k + G) serves all three; where it slides it resists
/// along its normal n alone, with entries (n_i . n_j) G_ij: what slides is not held, which an isotropic term
/// in A would do. So what sticks is eliminated first, with one Cholesky factor for the three axes, and what
/// slides is solved on top of that. x, y and z go on sharing one factor of A.
///
/// Rows whose nodes are all kept cost a few columns of S^-1, which is stored; other rows one forward sweep
/// over the elimination-tree paths of their nodes. Both stay as long as the contact and the factor do.
///
/// Source: Wang et al. 2021 for the kept set; methods of rows outside it: Woodbury's identity on the
/// forward-swept rows. Differs from the paper, which factors S + W'CW anew with isotropic C.
#ifndef SN_SOLVE_COMPLIANCE_H
#define SN_SOLVE_COMPLIANCE_H

#include "contact/contact_set.h"
#include "sinew/factor.h"

/// Everything is borrowed.
typedef struct sn_compliance_def {
    sn_factor *factor;
    int32_t unknown_count;
    const int32_t *node_unknown;  ///< [nodes] -1: pinned
    const int32_t *unknown_piece; ///< [unknown_count]
    int32_t piece_count;
    int32_t kept_count;
    const int32_t *kept;   ///< [kept_count] unknowns in the order of S
    int32_t most_contacts; ///< contacts that there may be at once
} sn_compliance_def;

typedef struct sn_compliance sn_compliance;

/// Allocates all that steps need.
SN_NODISCARD sn_status sn_compliance_create(sn_context *ctx, const sn_compliance_def *def,
                                            sn_compliance **out_compliance);
void sn_compliance_destroy(sn_compliance **compliance);

/// What a total force on a piece does to it, for pieces that nothing but inertia and contacts hold; 0 for
/// others.
typedef struct sn_mobility {
    double exact;  ///< m/N: of the piece as it is
    double missed; ///< m/N: by how much that is more than in the factor, which may hold more inertia
} sn_mobility;

/// Takes over new numbers of the factor, with `mobility` [piece_count], which is copied.
/// @return SN_OK; SN_ERR_NOT_POSITIVE_DEFINITE: S is not.
SN_NODISCARD sn_status sn_compliance_refresh(sn_compliance *compliance, const sn_mobility *mobility);

/// Whether there is room for the contacts of a set, at the begin of a step or within it. At the begin it
/// depends on the set alone.
bool sn_compliance_fits(sn_compliance *compliance, sn_contact_set *set, bool begins);

/// Takes the contacts of a set, which must fit, as they are at node positions x [nodes, 3]: those that
/// press there act. With `begins`, at the begin of a step, what is held follows from the set alone; within
/// it, rows of contacts whose other side moves stay as they are. @return SN_OK; SN_ERR_NOT_POSITIVE_DEFINITE,
/// by rounding: none are taken.
SN_NODISCARD sn_status sn_compliance_take(sn_compliance *compliance, sn_contact_set *set, const double *x,
                                          bool begins);

/// Solves for three right-hand sides: right [unknown_count, 3] is g on entry and z on return. `total`
/// [piece_count, 3] in N are forces on mobile pieces that were taken out of g, in proportion to mass; those
/// of the conditions are added to them. Translations of mobile pieces are left to the caller.
SN_NODISCARD sn_status sn_compliance_solve(sn_compliance *compliance, double *right, double (*total)[3]);

#endif
