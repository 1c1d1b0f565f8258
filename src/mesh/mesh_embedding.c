#include "base/base_parallel.h"
#include "geom/geom_bvh.h"
#include "geom/geom_predicate.h"
#include "mesh/mesh_internal.h"

#include <math.h>
#include <string.h>

enum { POINT_GRAIN = 64 };

void sn_embedding_destroy(sn_embedding **embedding) {
    if (!embedding || !*embedding)
        return;
    sn_context *ctx = (*embedding)->context;
    sn_release(ctx, (*embedding)->tet);
    sn_release(ctx, (*embedding)->weight);
    sn_release(ctx, *embedding);
    *embedding = NULL;
}

/// Search for the tet of one point.
typedef struct tet_search {
    const sn_mesh *mesh;
    const double *point;
    int32_t tet;      ///< Lowest one so far that contains the point, or -1.
    double weight[4]; ///< In that tet.
} tet_search;

static void gather_corners(const sn_mesh *mesh, int32_t tet, double corner[12]) {
    for (int i = 0; i < 4; i++)
        memcpy(corner + 3 * i, mesh->position + 3 * (size_t)mesh->tet[4 * (size_t)tet + i],
               3 * sizeof *corner);
}

static double least(const double weight[4]) {
    return fmin(fmin(weight[0], weight[1]), fmin(weight[2], weight[3]));
}

static bool try_tet(void *user, int32_t tet) {
    tet_search *search = user;
    double corner[12], weight[4];
    if (search->tet >= 0 && tet > search->tet)
        return true;
    gather_corners(search->mesh, tet, corner);
    sn_tet_weights(search->point, corner, weight);
    if (least(weight) >= SN_WEIGHT_LEAST) {
        search->tet = tet;
        memcpy(search->weight, weight, sizeof weight);
    }
    return true;
}

static double measure_tet(void *user, int32_t tet) {
    tet_search *search = user;
    double corner[12], nearest[3];
    gather_corners(search->mesh, tet, corner);
    return sn_tet_nearest(search->point, corner, nearest);
}

/// Everything the threads share.
typedef struct embed_job {
    const sn_mesh *mesh;
    const sn_bvh *bvh;
    const double *points;
    sn_embedding *embedding;
} embed_job;

static void embed_range(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    embed_job *job = data;
    for (int32_t i = begin; i < end; i++) {
        tet_search search = {.mesh = job->mesh, .point = job->points + 3 * (size_t)i, .tet = -1};
        sn_bvh_overlap(job->bvh, search.point, search.point, try_tet, &search);
        if (search.tet < 0) {
            double corner[12];
            search.tet = sn_bvh_nearest(job->bvh, search.point, INFINITY, measure_tet, &search, NULL);
            gather_corners(job->mesh, search.tet, corner);
            sn_tet_weights(search.point, corner, search.weight);
        }
        job->embedding->tet[i] = sn_tet_copy_at(&job->mesh->copies, search.tet, search.point);
        memcpy(job->embedding->weight + 4 * (size_t)i, search.weight, sizeof search.weight);
    }
}

static sn_status make_tet_tree(const sn_mesh *mesh, sn_bvh **out_bvh) {
    sn_status status = SN_OK;
    double *box = NULL;
    SN_TRY_NEW(mesh->context, box, (size_t)mesh->tet_count * 6);
    sn_tet_boxes(mesh->tet_count, mesh->tet, mesh->position, box);
    SN_TRY(sn_bvh_create(mesh->context, mesh->tet_count, box, out_bvh));
cleanup:
    SN_RELEASE(mesh->context, box);
    return status;
}

static sn_status check_points(sn_context *ctx, int32_t count, const double *points) {
    for (size_t i = 0; i < (size_t)count * 3; i++)
        if (!isfinite(points[i]))
            return sn_fail(ctx, SN_ERR_NON_FINITE, "point %zu to embed is not finite", i / 3);
    return SN_OK;
}

sn_status sn_embedding_create(const sn_mesh *mesh, int32_t count, const double *points,
                              int32_t *out_outside_count, sn_embedding **out_embedding) {
    if (!mesh)
        return SN_ERR_INVALID_ARGUMENT;
    sn_context *ctx = mesh->context;
    if (count < 0 || (count > 0 && !points) || !out_embedding)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "sn_embedding_create: points or out_embedding missing");
    sn_status status = SN_OK;
    sn_embedding *embedding = NULL;
    sn_bvh *bvh = NULL;
    int32_t outside = 0;
    SN_TRY(check_points(ctx, count, points));
    SN_TRY_NEW_ZEROED(ctx, embedding, 1);
    embedding->context = ctx;
    embedding->count = count;
    SN_TRY_NEW(ctx, embedding->tet, count);
    SN_TRY_NEW(ctx, embedding->weight, (size_t)count * 4);
    SN_TRY(make_tet_tree(mesh, &bvh));
    embed_job job = {mesh, bvh, points, embedding};
    sn_parallel_for(ctx, count, POINT_GRAIN, embed_range, &job);
    for (int32_t i = 0; i < count; i++)
        outside += least(embedding->weight + 4 * (size_t)i) < SN_WEIGHT_LEAST;
    if (out_outside_count)
        *out_outside_count = outside;
    *out_embedding = embedding;
    embedding = NULL;
cleanup:
    sn_bvh_destroy(&bvh);
    sn_embedding_destroy(&embedding);
    return status;
}

void sn_embedding_evaluate(const sn_embedding *embedding, const int32_t *tets, const double *x, double *out) {
    for (size_t i = 0; i < (size_t)embedding->count; i++) {
        const int32_t *tet = tets + 4 * (size_t)embedding->tet[i];
        const double *weight = embedding->weight + 4 * i;
        for (size_t c = 0; c < 3; c++) {
            double sum = 0;
            for (int a = 0; a < 4; a++)
                sum += weight[a] * x[3 * (size_t)tet[a] + c];
            out[3 * i + c] = sum;
        }
    }
}
