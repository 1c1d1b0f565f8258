#include "geom/geom_outward.h"

#include "base/base_parallel.h"
#include "geom/geom_predicate.h"
#include "math/math_mat3.h"

/// So many triangles of a piece say which way it faces.
enum { VOTERS = 64 };

/// Area of a triangle times the winding number in its middle without itself. Behind the triangle the number
/// is a half more, before it a half less: positive, if the triangle faces outward.
static double triangle_vote(const sn_surface *surface, const sn_winding *winding, int32_t triangle) {
    const int32_t *v = surface->triangle + 3 * (size_t)triangle;
    const double *a = surface->position + 3 * (size_t)v[0], *b = surface->position + 3 * (size_t)v[1],
                 *c = surface->position + 3 * (size_t)v[2];
    double ab[3], ac[3], normal[3], middle[3];
    sn_sub3(b, a, ab);
    sn_sub3(c, a, ac);
    sn_cross3(ab, ac, normal);
    for (int k = 0; k < 3; k++)
        middle[k] = (a[k] + b[k] + c[k]) / 3;
    double own = sn_triangle_solid_angle(middle, a, b, c) / SN_SOLID_ANGLE_FULL;
    return 0.5 * sn_norm3(normal) * (sn_winding_number(winding, middle) - own);
}

typedef struct turn_job {
    const sn_surface *surface;
    const sn_winding *winding;
    bool *inward; ///< [piece_count]
} turn_job;

static void judge_pieces(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    turn_job *job = data;
    const sn_surface *surface = job->surface;
    for (int32_t piece = begin; piece < end; piece++) {
        int32_t first = surface->piece_begin[piece], last = surface->piece_begin[piece + 1],
                stride = (last - first - 1) / VOTERS + 1;
        double sum = 0;
        for (int32_t i = 0; i < (last - first - 1) / stride + 1; i++)
            sum += triangle_vote(surface, job->winding, surface->order[first + i * stride]);
        job->inward[piece] = sum < 0;
    }
}

sn_status sn_surface_turn_outward(sn_surface *surface, const sn_bvh *bvh, sn_winding **out_winding) {
    sn_status status = SN_OK;
    sn_context *ctx = surface->context;
    sn_winding *winding = NULL;
    turn_job job = {.surface = surface};
    int32_t turned = 0;
    SN_TRY(sn_winding_create(ctx, surface->position, surface->triangle, bvh, &winding));
    SN_TRY_NEW(ctx, job.inward, surface->piece_count);
    job.winding = winding;
    sn_parallel_for(ctx, surface->piece_count, 1, judge_pieces, &job);
    for (int32_t piece = 0; piece < surface->piece_count; piece++)
        if (job.inward[piece]) {
            sn_surface_turn(surface, piece);
            turned++;
        }
    if (turned > 0) {
        sn_winding_destroy(&winding);
        SN_TRY(sn_winding_create(ctx, surface->position, surface->triangle, bvh, &winding));
    }
    *out_winding = winding;
    winding = NULL;
cleanup:
    SN_RELEASE(ctx, job.inward);
    sn_winding_destroy(&winding);
    return status;
}
