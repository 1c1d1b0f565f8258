/// A tree of axis-aligned boxes over any items that have boxes: triangles, tets, points.
///
/// Built by halving at the median of the longest side, ties by item number: the tree depends on the boxes
/// only. A node's children stand side by side and behind it, so one backward pass refits the tree.
#ifndef SN_GEOM_BVH_H
#define SN_GEOM_BVH_H

#include "base/base_context.h"

typedef struct sn_bvh_node {
    double low[3], high[3];
    int32_t first; ///< Leaf: first place in `item`. Otherwise: first of two children.
    int32_t count; ///< Leaf: number of items. Otherwise 0.
} sn_bvh_node;

typedef struct sn_bvh {
    sn_context *context;
    int32_t node_count, item_count;
    sn_bvh_node *node; ///< Root first; no nodes if there are no items.
    int32_t *item;     ///< [item_count]
} sn_bvh;

/// Builds a tree. @param box [count, 6] low and high corner of each item; finite.
SN_NODISCARD sn_status sn_bvh_create(sn_context *ctx, int32_t count, const double *box, sn_bvh **out_bvh);
void sn_bvh_destroy(sn_bvh **bvh);

/// Adapts the boxes of the tree to items that have moved; its shape stays.
void sn_bvh_refit(sn_bvh *bvh, const double *box);

/// Boxes of tets [count, 4] for a tree. @param[out] box [count, 6]
void sn_tet_boxes(int32_t count, const int32_t *tet, const double *position, double *box);

/// Called with an item; returns whether to go on.
typedef bool sn_bvh_visit(void *user, int32_t item);

/// Visits all items of the leaves whose box meets the given one (closed): a superset of the items that do.
void sn_bvh_overlap(const sn_bvh *bvh, const double low[3], const double high[3], sn_bvh_visit *visit,
                    void *user);

/// Squared distance of an item from the point of the search.
typedef double sn_bvh_measure(void *user, int32_t item);

/// Finds the item nearest to `point` with a squared distance of at most `limit`; the lowest of equally near
/// ones, -1 for none. @param[out] out_squared its squared distance; may be NULL.
int32_t sn_bvh_nearest(const sn_bvh *bvh, const double point[3], double limit, sn_bvh_measure *measure,
                       void *user, double *out_squared);

#endif
