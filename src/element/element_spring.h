/// Springs between two points: attachments to rigid places, sutures, mass-spring networks. Energy
/// (k / 2) (|p_a - p_b| - rest_length)^2 with p = sum of weight * x(node), or a given target.
///
/// In the constant metric a spring adds k diag(w) at each end that is embedded, doubled when both ends are
/// free (a bound, since q q' <= 2 diag|q|, which keeps the lattice's zeros), and its exact k [1 -1; -1 1]
/// when both ends are nodes.
#ifndef SN_ELEMENT_SPRING_H
#define SN_ELEMENT_SPRING_H

#include "base/base_context.h"
#include "sparse/sparse_csr.h"

/// One end: node_count 0 is a target that the caller moves, 1 a node, 4 a point embedded in a tet.
typedef struct sn_spring_end {
    int32_t node_count;
    int32_t node[4];
    double weight[4];
} sn_spring_end;

typedef struct sn_spring {
    sn_spring_end a, b; ///< a has at least one node; b may be a target
    double stiffness;   ///< N/m, > 0
    double rest_length; ///< m, >= 0
} sn_spring;

/// Place of an end for positions x [n, 3]; `target` [3] is read when the end has no node.
void sn_spring_end_place(const sn_spring_end *end, const double *x, const double *target, double out[3]);

/// Energy [J] and the force on end b (gradient with respect to p_a) in `gradient` [3]. At zero length with a
/// rest length above zero the direction is undefined and the gradient 0.
double sn_spring_energy(const sn_spring *spring, const double *x, const double *target, double gradient[3]);

/// Appends the spring's entries of the metric; at most SN_SPRING_TRIPLETS.
enum { SN_SPRING_TRIPLETS = 8 };
int32_t sn_spring_metric(const sn_spring *spring, sn_triplet out[SN_SPRING_TRIPLETS]);

#endif
