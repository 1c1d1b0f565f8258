/// Integrators as choices of inertia 1/s, target y and read-out of velocities.
#ifndef SN_STEP_INTEGRATOR_H
#define SN_STEP_INTEGRATOR_H

#include "base/base_context.h"
#include "sinew/step.h"

/// 1/s [1/s^2] of a step of h seconds: 1/h^2, or 0 in quasistatics.
double sn_integrator_inertia(sn_integrator integrator, double h);

/// What moves nodes between steps; borrowed.
typedef struct sn_integrator_state {
    sn_context *ctx;
    int32_t node_count;
    const double *mass;  ///< [node_count] kg
    const double *load;  ///< [node_count, 3] N, gravity included
    const double *x, *v; ///< [node_count, 3] at the start of the step
} sn_integrator_state;

/// Inertial target y = x + h v + h^2 M^-1 f (implicit Euler), or x itself (quasistatic). y [node_count, 3].
void sn_integrator_predict(sn_integrator integrator, double h, const sn_integrator_state *state, double *y);

/// Velocities after the step, (x_new - x) / h. v [node_count, 3]; may be state->v.
void sn_integrator_velocity(double h, const sn_integrator_state *state, const double *x_new, double *v);

#endif
