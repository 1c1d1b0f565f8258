/// The objective of one piece as a function of its rigid motions: what moves with it without deforming,
/// summed up once, and values, gradients and Hessians from the sums.
#ifndef SN_SOLVE_RIGID_H
#define SN_SOLVE_RIGID_H

#include <stdbool.h>

enum { SN_RIGID_UNKNOWNS = 6 };

/// p -> p + turn (p - base) + shift. `turn` is a rotation minus the identity, which keeps all digits of small
/// ones.
typedef struct sn_rigid_motion {
    double turn[9], shift[3];
} sn_rigid_motion;

/// Rotation by the vector w [rad], minus the identity.
void sn_rigid_turn(const double w[3], double out_turn[9]);

/// Where a motion takes the point p.
void sn_rigid_move(const sn_rigid_motion *motion, const double base[3], const double p[3], double out[3]);

/// The motion, turned further by w [rad] about where it takes the base, and shifted further.
void sn_rigid_follow(const sn_rigid_motion *motion, const double shift[3], const double w[3],
                     sn_rigid_motion *out);

/// Points of weights w (inertia times mass, stiffness of springs to targets) with levers r from the base, and
/// pulls f on them where they are: w times the way to the target, and loads.
typedef struct sn_rigid_sums {
    double weight, first[3], second[9]; ///< sums of w [N/m], w r, w r r'
    double pull[3], moment[9];          ///< sums of f [N], f r'
    double pull_size, moment_size;      ///< sums of |f|, |f||r|
} sn_rigid_sums;

/// Adds a point: its energy is w/2 |move|^2 - pull . move, for its move from where it is.
void sn_rigid_add(sn_rigid_sums *sums, double weight, const double lever[3], const double pull[3]);

/// Energy [J] of a motion against that of none, and its derivatives by a further shift (first) and rotation
/// vector.
typedef struct sn_rigid_value {
    double energy, gradient[SN_RIGID_UNKNOWNS];
    double hessian[SN_RIGID_UNKNOWNS * SN_RIGID_UNKNOWNS]; ///< of points as if levers turned straight: >= 0
    double curvature[9]; ///< what the bending of their ways adds for rotations
    double size[2];      ///< N and N m: sums of the sizes of forces and moments
    double rounding;     ///< J: differences of the energy below this mean nothing
} sn_rigid_value;

/// Value of the sums for a motion.
void sn_rigid_evaluate(const sn_rigid_sums *sums, const sn_rigid_motion *motion, sn_rigid_value *out);

/// Adds a point with a law of its own: its energy, the force on it and the Hessian of the energy where the
/// motion has taken it, the lever there, and the size of terms that cancel in the force, in N.
typedef struct sn_rigid_point {
    double energy, force[3], hessian[9], lever[3], size;
} sn_rigid_point;
void sn_rigid_add_point(const sn_rigid_point *point, sn_rigid_value *value);

/// Least energy of the sums over motions that keep the base in place if `on_base`, else over all. False where
/// the rotation is not unique.
bool sn_rigid_best(const sn_rigid_sums *sums, bool on_base, sn_rigid_motion *out);

/// The same over rotations about an axis through the base [unit vector].
void sn_rigid_best_about(const sn_rigid_sums *sums, const double axis[3], sn_rigid_motion *out);

/// Second derivative of the energy along a direction.
double sn_rigid_curvature(const sn_rigid_value *value, const double direction[SN_RIGID_UNKNOWNS]);

/// Solves hessian * out = -gradient in the span of `count` directions [count, 6], Newton's direction there.
/// Directions whose curvature is rounding are left out; where the full Hessian has negative curvature that of
/// straight levers is taken.
void sn_rigid_newton(const sn_rigid_value *value, int count, const double *basis,
                     double out[SN_RIGID_UNKNOWNS]);

#endif
