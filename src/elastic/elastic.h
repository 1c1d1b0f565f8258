/// The sum of all energy terms of a model: value, gradient, and the constant metric.
///
/// Tets are grouped by material model into blocks of SN_LANES, each with its data as structure of arrays.
/// Evaluation has two passes: every block computes its lanes' energies and corner forces into a buffer, then
/// every node gathers its corners in a fixed order. So sums do not depend on the number of threads, and
/// neither pass needs atomics.
#ifndef SN_ELASTIC_H
#define SN_ELASTIC_H

#include "base/base_context.h"
#include "element/element_spring.h"
#include "material/material_model.h"
#include "sparse/sparse_csr.h"

/// What the energy is made of; copied by sn_elastic_create().
typedef struct sn_elastic_def {
    int32_t node_count;
    const double *rest; ///< [node_count, 3]
    int32_t tet_count;
    const int32_t *tets;        ///< [tet_count, 4], positive volume
    const double *tet_fraction; ///< [tet_count] part of each tet that is there, > 0; NULL: all of it
    int32_t material_count;
    const sn_material_def *materials;
    const int32_t *tet_material; ///< [tet_count]
    int32_t spring_count;
    const sn_spring *springs;
    bool is_fast; ///< Materials by their fast kernels.
} sn_elastic_def;

typedef struct sn_elastic sn_elastic;

SN_NODISCARD sn_status sn_elastic_create(sn_context *ctx, const sn_elastic_def *def,
                                         sn_elastic **out_elastic);
void sn_elastic_destroy(sn_elastic **elastic);

/// Energies in J.
typedef struct sn_elastic_energy {
    double solid, spring, attachment; ///< tets; springs between free points; springs to targets
} sn_elastic_energy;

/// Evaluates at x [node_count, 3] with spring targets [spring_count, 3] (read only where an end is a target).
/// gradient [node_count, 3] in N is overwritten; NULL: energy only. Allocates nothing.
sn_elastic_energy sn_elastic_evaluate(sn_elastic *elastic, const double *x, const double *targets,
                                      double *gradient);

/// Entries of the constant metric L: sum of w V B B' over tets plus the springs' (unpinned and pinned nodes
/// alike). *out_triplets is allocated; release with sn_release.
SN_NODISCARD sn_status sn_elastic_metric(const sn_elastic *elastic, int64_t *out_count,
                                         sn_triplet **out_triplets);

/// Adds the tets' part of the metric's diagonal [N/m] to out [node_count]: for stiffness defaults before
/// springs exist.
void sn_elastic_tet_diagonal(const sn_elastic_def *def, double *out);

/// Seconds spent in the element kernels and in gathering since the last call.
typedef struct sn_elastic_times {
    double local, gather;
} sn_elastic_times;
sn_elastic_times sn_elastic_take_times(sn_elastic *elastic);

/// True if every material is projective: unit steps in the metric never raise the energy.
bool sn_elastic_is_projective(const sn_elastic *elastic);

#endif
