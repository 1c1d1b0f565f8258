/// Points of a body's surface that are watched for contact: its vertices and, on triangles wider than the
/// tets, samples between them. Each is a weighted sum of up to four nodes.
#ifndef SN_CONTACT_PROXY_H
#define SN_CONTACT_PROXY_H

#include "mesh/mesh_copies.h"

typedef struct sn_proxies {
    int32_t count;
    double edge;       ///< m: mean edge of the body's tets
    int32_t *node;     ///< [count, 4] nodes of the model; unused ones repeat the first with weight 0
    double *weight;    ///< [count, 4] >= 0 up to extrapolation of the embedding, sum 1
    int32_t *vertex;   ///< [count] surface vertex, -1: a sample
    int32_t *triangle; ///< [count] a surface triangle that it lies on
    double *area;      ///< [count] m^2 of the rest surface that the point stands for, seen from one side
    double *stiffness; ///< [count] Pa/m: what the material asks for, where nothing else is said
} sn_proxies;

/// A body's surface at rest. Everything is borrowed.
typedef struct sn_proxy_source {
    const double *rest; ///< [nodes, 3] of the model
    int32_t tet_begin, tet_count;
    const int32_t *tets;         ///< [all tets, 4] nodes of the model
    const double *tet_stiffness; ///< [tet_count] Pa/m
    const sn_tet_copies *copies; ///< of these tets
    int32_t node_begin, node_count;
    int32_t vertex_count;
    const int32_t *vertex_node;  ///< [vertex_count, 4]
    const double *vertex_weight; ///< [vertex_count, 4]
    int32_t triangle_count;
    const int32_t *triangles; ///< [triangle_count, 3]
    double spacing;           ///< m: triangles with longer edges get samples
    const bool *pinned;       ///< [nodes]: points that no free node carries are left out
} sn_proxy_source;

/// Finds the proxies of a body. @return SN_OK; SN_ERR_NO_MEMORY; SN_ERR_INVALID_ARGUMENT: too many.
SN_NODISCARD sn_status sn_proxies_create(sn_context *ctx, const sn_proxy_source *source, sn_proxies *out);
void sn_proxies_clear(sn_context *ctx, sn_proxies *proxies);

/// Weighted sum of four nodes' places x [nodes, 3].
static inline void sn_weighted_place(const int32_t node[4], const double weight[4], const double *x,
                                     double out[3]) {
    for (size_t k = 0; k < 3; k++)
        out[k] = weight[0] * x[3 * (size_t)node[0] + k] + weight[1] * x[3 * (size_t)node[1] + k] +
                 weight[2] * x[3 * (size_t)node[2] + k] + weight[3] * x[3 * (size_t)node[3] + k];
}

/// Place of a proxy for node positions x [nodes, 3].
static inline void sn_proxy_place(const sn_proxies *proxies, int32_t proxy, const double *x, double out[3]) {
    sn_weighted_place(proxies->node + 4 * (size_t)proxy, proxies->weight + 4 * (size_t)proxy, x, out);
}

#endif
