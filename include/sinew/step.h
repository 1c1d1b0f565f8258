/// Steps: integrators and solvers on the one objective g(x) = |x - y|^2_M / (2 s) + E(x) (docs/step.md).
#ifndef SINEW_STEP_H
#define SINEW_STEP_H

#include "sinew/base.h"
#include "sinew/model.h"
#include "sinew/state.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sn_integrator {
    SN_INTEGRATOR_IMPLICIT_EULER = 0, ///< s = h^2, y = x + h v + h^2 M^-1 f. Damps: ratio about omega h / 2.
    SN_INTEGRATOR_QUASISTATIC = 1     ///< No inertia: equilibrium at every step. Velocities are (x' - x) / h.
} sn_integrator;

typedef enum sn_solver_method {
    SN_SOLVER_LBFGS = 0,     ///< L-BFGS from the constant metric on, with a line search. Any material.
    SN_SOLVER_PROJECTIVE = 1 ///< Unit steps in the constant metric. Projective materials only.
} sn_solver_method;

/// How to minimize. Start from sn_solver_def_default().
typedef struct sn_solver_def {
    sn_solver_method method; ///< Default L-BFGS.
    int32_t iterations;      ///< Budget per step, 1 to 1000000. Default 10.
    /// Stop, after one iteration at least, when the predicted displacement error (the longest move of the
    /// next direction) is below this fraction of the mean edge or, in time steps, of ten times what the step
    /// moves, whichever is smaller; 0 to 1; 0: spend the budget. Default 1e-3.
    double tolerance;
    int32_t history; ///< Pairs that L-BFGS remembers, 0 to 32. Default 5.
    uint32_t mark;
} sn_solver_def;
/// The defaults, with the mark.
SN_API sn_solver_def sn_solver_def_default(void);

/// In which numbers a stepper works inside. Positions, velocities, forces, norms and energies are double in
/// both, and both go to the same minimum.
typedef enum sn_precision {
    SN_PRECISION_FAST =
        0, ///< The factor is kept in float, and elements are decomposed in float and corrected.
    SN_PRECISION_ACCURATE = 1 ///< Everything in double.
} sn_precision;
/// Its name in scenes: "fast" or "accurate".
SN_API const char *sn_precision_name(sn_precision precision);

/// How to step. Start from sn_stepper_def_default().
typedef struct sn_stepper_def {
    sn_integrator integrator;
    sn_precision precision; ///< Default SN_PRECISION_ACCURATE.
    sn_solver_def solver;
    uint32_t mark;
} sn_stepper_def;
/// The defaults (implicit Euler, sn_solver_def_default()), with the marks.
SN_API sn_stepper_def sn_stepper_def_default(void);

/// How a step ended.
typedef enum sn_step_status {
    SN_STEP_CONVERGED = 0, ///< The tolerance was met, or nothing is left to gain at rounding level.
    SN_STEP_BUDGET = 1,    ///< The iterations ran out.
    SN_STEP_STALLED = 2    ///< No decrease could be found although the tolerance was not met.
} sn_step_status;

/// Which test ended a step.
typedef enum sn_stop_test {
    SN_STOP_BUDGET = 0,
    SN_STOP_DISPLACEMENT = 1, ///< max |A^-1 grad g| below tolerance * edge
    SN_STOP_ROUNDING = 2,     ///< the predicted decrease is below the rounding error of g
    SN_STOP_LINE_SEARCH = 3   ///< no trial step lowered g
} sn_stop_test;

/// Energies in J at the end of a step. Kinetic: 0 in quasistatics, where velocities are for display only.
/// External: potential of gravity and loads, zero at the rest positions.
typedef struct sn_energies {
    double kinetic, elastic, attachment, contact, external;
} sn_energies;

/// Milliseconds spent.
typedef struct sn_step_times {
    double detect, local, gradient, sweep, kept, other, total;
} sn_step_times;

/// How a step went.
typedef struct sn_step_info {
    double time; ///< at its end, s
    sn_step_status status;
    sn_stop_test stop_test;
    /// Evaluations of g with its gradient; choosing the start iterate of a time step takes two more without,
    /// four with contact.
    int32_t iterations, evaluations, factorizations;
    sn_energies energy;
    /// g at the start iterate and at the end, J; as the norms below, before free bodies are balanced on their
    /// contacts (docs/contact.md), which lowers g a little more.
    double objective_first, objective_last;
    double gradient_norm;     ///< |grad g| over free nodes, N
    double relative_gradient; ///< the same over |grad g| at the start iterate (0 if that is 0)
    double step_error;        ///< longest move of the last direction computed / mean edge
    int32_t active_contacts;  ///< surface points with a contact force
    /// Points that touch but found no room among the contacts (four per surface point): they were let
    /// through.
    int32_t dropped_contacts;
    double max_penetration; ///< m
    double min_det_F;
    int32_t inverted; ///< tets with det F <= 0
    sn_step_times ms;
} sn_step_info;

/// Adds the next step's info to a running sum over substeps: counts and times add up, the worst status,
/// penetration, det F and number of inverted tets stay, the rest is that of the last step.
SN_API void sn_step_info_add(sn_step_info *sum, const sn_step_info *next);

/// Holds factors and scratch memory for stepping states of one model.
typedef struct sn_stepper sn_stepper;

/// Makes a stepper: analyzes the metric's pattern and allocates all scratch memory. `def` may be NULL for the
/// defaults; the model must outlive the stepper.
/// @return SN_OK; SN_ERR_INVALID_ARGUMENT: definition out of range; projective solver with a material that is
/// not projective; quasistatics with an unanchored piece (named).
SN_API SN_NODISCARD sn_status sn_stepper_create(const sn_model *model, const sn_stepper_def *def,
                                                sn_stepper **out_stepper);
/// Destroys a stepper and sets *stepper to NULL. Accepts NULL and a pointer to NULL.
SN_API void sn_stepper_destroy(sn_stepper **stepper);

/// Advances a state by one step of h seconds. Factors the metric on the first call, when h changes and when
/// contacts begin. The objective never rises from the start iterate to the result, but by what the renewal of
/// contacts between iterations changes (docs/contact.md).
/// @param[in]  h         > 0, finite.
/// @param[out] out_info  may be NULL.
/// @return SN_OK; SN_NOT_CONVERGED (budget) and SN_STALLED: the state is the last iterate; SN_ERR_NON_FINITE,
/// SN_ERR_NOT_POSITIVE_DEFINITE, SN_ERR_INVALID_ARGUMENT: state unchanged.
/// Memory: none after the first step. Threads: one caller per stepper; same bits for any number of threads.
/// Source: Bouaziz et al. 2014, "Projective Dynamics"; Liu, Bouaziz, Kavan 2017, "Quasi-Newton Methods for
/// Real-Time Simulation of Hyperelastic Materials". How we differ: docs/step.md.
SN_API SN_NODISCARD sn_status sn_step(sn_stepper *stepper, sn_state *state, double h, sn_step_info *out_info);

/// Force [N] that the bodies exert on a shape through soft attachments and contact, as of the state, and its
/// moment [N m] about the place to which the shape's frame has carried the origin. Pinned nodes (hard
/// attachments too) are not in it: sn_stepper_pin_forces() has them.
/// @return SN_OK; SN_ERR_INVALID_ARGUMENT: no such shape, state of another model, NULL.
SN_API SN_NODISCARD sn_status sn_stepper_shape_reaction(const sn_stepper *stepper, const sn_state *state,
                                                        int32_t shape_index, double out_force[3],
                                                        double out_moment[3]);
/// Force [node_count, 3] in N that each pinned node exerts on what holds it, 0 for free nodes, as of the
/// state: elastic forces and loads, without the node's own inertia.
/// @return SN_OK; SN_ERR_INVALID_ARGUMENT: state of another model, NULL.
SN_API SN_NODISCARD sn_status sn_stepper_pin_forces(sn_stepper *stepper, const sn_state *state,
                                                    double *out_forces);

/// What the factor takes, for reports.
typedef struct sn_stepper_report {
    int64_t factor_nonzeros;           ///< Entries of L.
    double factor_flops, memory_bytes; ///< Of a factorization; held by the factor.
    double order_ms, factor_ms;        ///< Assembly and analysis of the metric; the last factorization.
} sn_stepper_report;
/// Report of a stepper; factor_ms is 0 before the first step.
SN_API sn_stepper_report sn_stepper_get_report(const sn_stepper *stepper);

#ifdef __cplusplus
}
#endif
#endif
