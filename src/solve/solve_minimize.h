/// Minimizers of the objective in a metric: projective dynamics (unit steps) and L-BFGS.
///
/// Both accept a step only if g falls, or, where the difference is below rounding error, if the slope along
/// the step says that it falls; so g never rises. Contacts are renewed after every iteration: between two
/// renewals g is one function, which does not rise; a renewal itself may change its contact part. The status
/// is honest: converged (tolerance, or rounding level reached), budget, stalled.
#ifndef SN_SOLVE_MINIMIZE_H
#define SN_SOLVE_MINIMIZE_H

#include "sinew/step.h"
#include "solve/solve_metric.h"
#include "solve/solve_objective.h"

/// Scratch memory for one number of nodes.
typedef struct sn_minimizer sn_minimizer;

/// `history` pairs are kept for L-BFGS.
SN_NODISCARD sn_status sn_minimizer_create(sn_context *ctx, int32_t node_count, int32_t history,
                                           sn_minimizer **out_minimizer);
void sn_minimizer_destroy(sn_minimizer **minimizer);

typedef struct sn_minimize_options {
    sn_solver_method method;
    int32_t iterations;
    double tolerance; ///< fraction of `edge`, or of the motion if that is smaller; 0: spend the budget
    double edge;      ///< m
    double motion;    ///< m: at least so far does the step move; INFINITY: any error is measured by the edge
} sn_minimize_options;

typedef struct sn_minimize_result {
    sn_step_status status;
    sn_stop_test stop_test;
    int32_t iterations, evaluations, factorizations;
    int32_t returns; ///< steps taken back because they met shapes on their way
    sn_objective_value first, last;
    double gradient_first, gradient_last; ///< norms, N
    double step_error;                    ///< max |d| / edge of the last direction computed
    double sweep_seconds, detect_seconds;
    double kept_seconds;   ///< of bringing the metric to renewed contacts
    double factor_seconds; ///< of the last factorization; 0 if there was none
} sn_minimize_result;

/// Minimizes from x [node_count, 3] in place; pinned entries are left as they are. Allocates nothing.
/// @return SN_OK with the outcome in *out_result; SN_ERR_NON_FINITE if g is not finite at the start: x
/// unchanged.
SN_NODISCARD sn_status sn_minimize(sn_minimizer *minimizer, const sn_objective *objective, sn_metric *metric,
                                   const sn_minimize_options *options, double *x,
                                   sn_minimize_result *out_result);

#endif
