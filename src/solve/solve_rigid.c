#include "solve/solve_rigid.h"

#include "math/math_mat3.h"
#include "math/math_svd.h"

#include <float.h>
#include <string.h>

enum { N = SN_RIGID_UNKNOWNS };

/// Part of a diagonal entry: smaller pivots are rounding.
static const double LEAST_PIVOT = 1e-12;
/// Second and third singular value together against the first: below, a nearest rotation is rounding.
static const double LEAST_SPREAD = 1e-8;

static void add_outer(double factor, const double a[3], const double b[3], double *matrix) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            matrix[3 * i + j] += factor * a[i] * b[j];
}

/// Matrix of the cross product: out v = a x v.
static void cross_matrix(const double a[3], double out[9]) {
    memcpy(out, (double[9]){0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0}, 9 * sizeof *out);
}

static double trace(const double m[9]) {
    return m[0] + m[4] + m[8];
}

/// Sum of the entries' products.
static double contract(const double a[9], const double b[9]) {
    double sum = 0;
    for (int k = 0; k < 9; k++)
        sum += a[k] * b[k];
    return sum;
}

static double norm33(const double m[9]) {
    return sqrt(contract(m, m));
}

/// Sum of r x f, from the sum of f r'.
static void moment_of(const double m[9], double out[3]) {
    out[0] = m[7] - m[5], out[1] = m[2] - m[6], out[2] = m[3] - m[1];
}

// ---- Motions

void sn_rigid_turn(const double w[3], double out_turn[9]) {
    double angle = sn_norm3(w), cross[9], square[9];
    // Rodrigues' formula; 2 sin^2(angle / 2) is 1 - cos(angle) without the loss of digits.
    double half = sin(0.5 * angle), sine = angle > 0 ? sin(angle) / angle : 1;
    double rest = angle > 0 ? 2 * half * half / (angle * angle) : 0.5;
    cross_matrix(w, cross);
    sn_mul33(cross, cross, square);
    for (int k = 0; k < 9; k++)
        out_turn[k] = sine * cross[k] + rest * square[k];
}

void sn_rigid_move(const sn_rigid_motion *motion, const double base[3], const double p[3], double out[3]) {
    double lever[3], turned[3];
    sn_sub3(p, base, lever);
    sn_mul3(motion->turn, lever, turned);
    for (int k = 0; k < 3; k++)
        out[k] = p[k] + turned[k] + motion->shift[k];
}

void sn_rigid_follow(const sn_rigid_motion *motion, const double shift[3], const double w[3],
                     sn_rigid_motion *out) {
    double turn[9], both[9];
    sn_rigid_turn(w, turn);
    sn_mul33(turn, motion->turn, both);
    for (int k = 0; k < 9; k++)
        out->turn[k] = motion->turn[k] + turn[k] + both[k];
    for (int k = 0; k < 3; k++)
        out->shift[k] = motion->shift[k] + shift[k];
}

// ---- Energy

void sn_rigid_add(sn_rigid_sums *sums, double weight, const double lever[3], const double pull[3]) {
    double size = sn_norm3(pull);
    sums->weight += weight;
    for (int k = 0; k < 3; k++) {
        sums->first[k] += weight * lever[k];
        sums->pull[k] += pull[k];
    }
    add_outer(weight, lever, lever, sums->second);
    add_outer(1, pull, lever, sums->moment);
    sums->pull_size += size;
    sums->moment_size += size * sn_norm3(lever);
}

/// Sum of f r' over the forces f that a motion leaves, with the levers r where it takes them.
static void forces_on_levers(const sn_rigid_sums *s, const sn_rigid_motion *motion, double out[9]) {
    double straight[9], turned[9];
    sn_mul33(motion->turn, s->second, straight);
    for (int k = 0; k < 9; k++)
        straight[k] = s->moment[k] - straight[k];
    add_outer(-1, motion->shift, s->first, straight);
    sn_mul33_nt(straight, motion->turn, turned);
    for (int k = 0; k < 9; k++)
        out[k] = straight[k] + turned[k];
}

/// Adds for the levers' bending: (tr m) I - sym m, m = sum of f r'.
static void add_curvature(const double m[9], double curvature[9]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            curvature[3 * i + j] += (i == j ? trace(m) : 0) - 0.5 * (m[3 * i + j] + m[3 * j + i]);
}

/// Puts the 3 x 3 block into rows and columns from (row, column) on.
static void add_block(const double m[9], int row, int column, double *hessian) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            hessian[N * (row + i) + column + j] += m[3 * i + j];
}

/// Second moments J of the turned levers as the Hessian for rotations: (tr J) I - J.
static void add_inertia(const sn_rigid_sums *s, const sn_rigid_motion *motion, double *hessian) {
    double half[9], rest[9], block[9];
    sn_mul33(motion->turn, s->second, half);
    for (int k = 0; k < 9; k++)
        half[k] += s->second[k];
    sn_mul33_nt(half, motion->turn, rest);
    for (int k = 0; k < 9; k++)
        block[k] = -(half[k] + rest[k]);
    for (int k = 0; k < 3; k++)
        block[4 * k] += trace(s->second);
    add_block(block, 3, 3, hessian);
}

void sn_rigid_evaluate(const sn_rigid_sums *s, const sn_rigid_motion *motion, sn_rigid_value *out) {
    double drift[3], turned[9], lever[3], forces[9], moment[3], cross[9];
    const double *t = motion->shift;
    *out = (sn_rigid_value){0};
    sn_mul3(motion->turn, s->first, drift);
    sn_mul33(motion->turn, s->second, turned);
    double part[5] = {0.5 * s->weight * sn_dot3(t, t), sn_dot3(drift, t), -sn_dot3(t, s->pull),
                      0.5 * contract(turned, motion->turn), -contract(motion->turn, s->moment)};
    for (int k = 0; k < 5; k++) {
        out->energy += part[k];
        out->rounding += 8 * DBL_EPSILON * fabs(part[k]);
    }
    forces_on_levers(s, motion, forces);
    moment_of(forces, moment);
    for (int k = 0; k < 3; k++) {
        lever[k] = s->first[k] + drift[k];
        out->gradient[k] = s->weight * t[k] + drift[k] - s->pull[k];
        out->gradient[3 + k] = -moment[k];
        out->hessian[(N + 1) * k] = s->weight;
    }
    // The force of a point at lever r moves by w x r: minus the cross product with r.
    cross_matrix(lever, cross);
    add_block(cross, 3, 0, out->hessian);
    for (int k = 0; k < 9; k++)
        cross[k] = -cross[k];
    add_block(cross, 0, 3, out->hessian);
    add_inertia(s, motion, out->hessian);
    add_curvature(forces, out->curvature);
    out->size[0] = s->pull_size + s->weight * sn_norm3(t) + sn_norm3(drift);
    out->size[1] = s->moment_size + norm33(turned) + sn_norm3(t) * sn_norm3(s->first);
}

void sn_rigid_add_point(const sn_rigid_point *point, sn_rigid_value *value) {
    double moment[3], forces[9] = {0}, cross[9], right[9], both[9];
    sn_cross3(point->lever, point->force, moment);
    for (int k = 0; k < 3; k++) {
        value->gradient[k] -= point->force[k];
        value->gradient[3 + k] -= moment[k];
    }
    // The point moves by shift - lever x w.
    cross_matrix(point->lever, cross);
    sn_mul33(point->hessian, cross, right);
    sn_mul33(cross, right, both);
    add_block(point->hessian, 0, 0, value->hessian);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            value->hessian[N * i + 3 + j] -= right[3 * i + j];
            value->hessian[N * (3 + j) + i] -= right[3 * i + j];
            value->hessian[N * (3 + i) + 3 + j] -= both[3 * i + j];
        }
    add_outer(1, point->force, point->lever, forces);
    add_curvature(forces, value->curvature);
    double size = sn_norm3(point->force) + point->size;
    value->energy += point->energy;
    value->size[0] += size;
    value->size[1] += size * sn_norm3(point->lever);
}

// ---- Minima

bool sn_rigid_best(const sn_rigid_sums *s, bool on_base, sn_rigid_motion *out) {
    double m[9], U[9], spread[3], V[9], drift[3];
    // The rotation R that maximizes R : m, with the best shift for each put in.
    for (int k = 0; k < 9; k++)
        m[k] = s->second[k] + s->moment[k];
    for (int i = 0; !on_base && i < 3; i++)
        for (int j = 0; j < 3; j++)
            m[3 * i + j] -= (s->first[i] + s->pull[i]) * s->first[j] / s->weight;
    *out = (sn_rigid_motion){0};
    sn_svd3(m, U, spread, V);
    if (!(spread[1] + spread[2] > LEAST_SPREAD * spread[0]))
        return false;
    sn_mul33_nt(U, V, out->turn);
    for (int k = 0; k < 3; k++)
        out->turn[4 * k] -= 1;
    sn_mul3(out->turn, s->first, drift);
    for (int k = 0; !on_base && k < 3; k++)
        out->shift[k] = (s->pull[k] - drift[k]) / s->weight;
    return true;
}

void sn_rigid_best_about(const sn_rigid_sums *s, const double axis[3], sn_rigid_motion *out) {
    double m[9], cross[9], square[9], w[3];
    *out = (sn_rigid_motion){0};
    for (int k = 0; k < 9; k++)
        m[k] = s->second[k] + s->moment[k];
    cross_matrix(axis, cross);
    sn_mul33(cross, cross, square);
    double angle = atan2(contract(cross, m), -contract(square, m));
    for (int k = 0; k < 3; k++)
        w[k] = angle * axis[k];
    sn_rigid_turn(w, out->turn);
}

/// Matrix and right-hand side on `count` directions.
static void reduce(const double *hessian, const double *gradient, int count, const double *basis, double *m,
                   double *rhs) {
    for (int a = 0; a < count; a++) {
        rhs[a] = 0;
        for (int i = 0; i < N; i++)
            rhs[a] -= basis[N * a + i] * gradient[i];
        for (int b = 0; b < count; b++) {
            m[N * a + b] = 0;
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++)
                    m[N * a + b] += basis[N * a + i] * hessian[N * i + j] * basis[N * b + j];
        }
    }
}

/// Solves m x = rhs in place by LDL'; unknowns with pivots of rounding size become 0. False if one is
/// negative.
static bool solve_positive(int count, double *m, double *rhs) {
    double size[N], pivot[N];
    for (int a = 0; a < count; a++)
        size[a] = fabs(m[(N + 1) * a]);
    for (int a = 0; a < count; a++) {
        pivot[a] = m[(N + 1) * a];
        bool is_zero = fabs(pivot[a]) <= LEAST_PIVOT * size[a];
        if (!is_zero && !(pivot[a] > 0))
            return false;
        pivot[a] = is_zero ? 0 : 1 / pivot[a];
        for (int i = a + 1; i < count; i++) {
            double factor = m[N * i + a] * pivot[a];
            for (int j = a + 1; j < count; j++)
                m[N * i + j] -= factor * m[N * a + j];
            rhs[i] -= factor * rhs[a];
        }
    }
    for (int a = count - 1; a >= 0; a--) {
        for (int j = a + 1; j < count; j++)
            rhs[a] -= m[N * a + j] * rhs[j];
        rhs[a] *= pivot[a];
    }
    return true;
}

/// The Hessian with what the bending of ways adds.
static void full_hessian(const sn_rigid_value *value, double out[N * N]) {
    memcpy(out, value->hessian, N * N * sizeof *out);
    add_block(value->curvature, 3, 3, out);
}

double sn_rigid_curvature(const sn_rigid_value *value, const double direction[SN_RIGID_UNKNOWNS]) {
    double hessian[N * N], sum = 0;
    full_hessian(value, hessian);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            sum += direction[i] * hessian[N * i + j] * direction[j];
    return sum;
}

void sn_rigid_newton(const sn_rigid_value *value, int count, const double *basis,
                     double out[SN_RIGID_UNKNOWNS]) {
    double hessian[N * N], m[N * N], rhs[N];
    full_hessian(value, hessian);
    memset(out, 0, N * sizeof *out);
    reduce(hessian, value->gradient, count, basis, m, rhs);
    if (!solve_positive(count, m, rhs)) {
        reduce(value->hessian, value->gradient, count, basis, m, rhs);
        if (!solve_positive(count, m, rhs))
            return;
    }
    for (int a = 0; a < count; a++)
        for (int i = 0; i < N; i++)
            out[i] += rhs[a] * basis[N * a + i];
}
