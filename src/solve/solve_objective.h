/// The one objective of every step, unscaled, in J:
///
///     g(x) = inertia / 2 * sum of m_i |x_i - y_i|^2  +  E_elastic(x) + E_springs(x)  -  sum of f_i . (x_i -
///     X_i)
///
/// with inertia = 1 / s (0 in quasistatics). Sums run over free nodes; pinned nodes have gradient 0.
#ifndef SN_SOLVE_OBJECTIVE_H
#define SN_SOLVE_OBJECTIVE_H

#include "elastic/elastic.h"

/// Everything is borrowed.
typedef struct sn_objective {
    sn_context *ctx;
    sn_elastic *elastic;
    int32_t node_count;
    const bool *pinned;    ///< [node_count]
    const double *mass;    ///< [node_count] kg
    const double *rest;    ///< [node_count, 3] m, where the load's potential is 0
    double inertia;        ///< 1/s^2
    const double *y;       ///< [node_count, 3] m; not read if inertia is 0
    const double *load;    ///< [node_count, 3] N; NULL: none (dynamics keeps loads in y)
    const double *targets; ///< [spring_count, 3] m
} sn_objective;

/// Value of the objective by parts [J], and the size of its rounding error.
typedef struct sn_objective_value {
    double total, inertia, load;
    sn_elastic_energy elastic;
    double rounding; ///< J: differences of `total` below this mean nothing
} sn_objective_value;

/// Evaluates at x [node_count, 3]; gradient [node_count, 3] in N or NULL. Allocates nothing.
sn_objective_value sn_objective_evaluate(const sn_objective *objective, const double *x, double *gradient);

#endif
