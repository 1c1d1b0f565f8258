/// The one objective of every step, unscaled, in J:
///
///     g(x) = inertia / 2 * sum of m_i |x_i - y_i|^2  +  E_elastic(x) + E_springs(x)  -  sum of f_i . (x_i -
///     X_i)  +  E_contact(x)
///
/// with inertia = 1 / s (0 in quasistatics). Sums run over free nodes; pinned nodes have gradient 0.
#ifndef SN_SOLVE_OBJECTIVE_H
#define SN_SOLVE_OBJECTIVE_H

#include "contact/contact_set.h"
#include "elastic/elastic.h"

/// Everything is borrowed.
typedef struct sn_objective {
    sn_context *ctx;
    sn_elastic *elastic;
    int32_t node_count;
    const bool *pinned;      ///< [node_count]
    const double *mass;      ///< [node_count] kg
    const double *rest;      ///< [node_count, 3] m, where the load's potential is 0
    double inertia;          ///< 1/s^2
    const double *y;         ///< [node_count, 3] m; not read if inertia is 0
    const double *load;      ///< [node_count, 3] N; NULL: none (dynamics keeps loads in y)
    const double *targets;   ///< [spring_count, 3] m
    sn_contact_set *contact; ///< planes and normal forces as last renewed; NULL: none
} sn_objective;

/// Value of the objective by parts [J], and the size of its rounding error.
typedef struct sn_objective_value {
    double total, inertia, load, contact;
    sn_elastic_energy elastic;
    double rounding; ///< J: differences of `total` below this mean nothing
} sn_objective_value;

/// Evaluates at x [node_count, 3]; gradient [node_count, 3] in N or NULL. Allocates nothing.
sn_objective_value sn_objective_evaluate(const sn_objective *objective, const double *x, double *gradient);

/// Renews the contacts for the iterate x and puts their new energy and forces in the place of the old ones,
/// in `value` and `gradient`, which were evaluated at x.
void sn_objective_renew_contact(const sn_objective *objective, const double *x, sn_objective_value *value,
                                double *gradient);

#endif
