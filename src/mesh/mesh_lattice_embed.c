// Places surface vertices in the copies of a lattice's tets that hold their triangles' pieces.
#include "base/base_parallel.h"
#include "geom/geom_predicate.h"
#include "mesh/mesh_lattice.h"

#include <math.h>
#include <string.h>

enum { VERTEX_GRAIN = 64 };

typedef struct place_job {
    const sn_lattice *l;
    const sn_mesh *mesh;
    const sn_mesh_data *surface;
    int32_t *triangle; ///< [vertices] one that uses the vertex, or -1
    sn_embedding *embedding;
} place_job;

/// A tet found for a vertex.
typedef struct vertex_home {
    int32_t copy; ///< -1: none yet
    bool certain; ///< The vertex's triangle is in that copy's piece.
    double weight[4];
} vertex_home;

/// Piece of a triangle in a tet; SN_PIECE_NONE if it does not touch the tet.
static uint8_t find_label(const sn_lattice *l, int32_t cell, int32_t t, int32_t triangle) {
    int32_t low = l->touch_begin[cell], high = l->touch_begin[cell + 1], end = high;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (l->touch_triangle[middle] < triangle)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == end || l->touch_triangle[low] != triangle || !(l->touch_mask[low] >> t & 1))
        return SN_PIECE_NONE;
    return *sn_lattice_label(l, low, t);
}

static void try_tet(const place_job *job, int32_t cell, int32_t t, int32_t vertex, vertex_home *home) {
    const sn_lattice *l = job->l;
    const sn_mesh *mesh = job->mesh;
    uint8_t label = find_label(l, cell, t, job->triangle[vertex]);
    bool certain = label != SN_PIECE_NONE;
    int32_t copy = l->copy_begin[sn_lattice_tet(l, cell, t)] + (certain ? label : 0);
    if (home->copy >= 0 && (home->certain > certain || (home->certain == certain && home->copy < copy)))
        return;
    double corner[12], weight[4];
    for (int i = 0; i < 4; i++)
        memcpy(corner + 3 * i, mesh->position + 3 * (size_t)mesh->tet[4 * (size_t)copy + (size_t)i],
               3 * sizeof *corner);
    sn_tet_weights(job->surface->position + 3 * (size_t)vertex, corner, weight);
    if (fmin(fmin(weight[0], weight[1]), fmin(weight[2], weight[3])) < SN_WEIGHT_LEAST)
        return;
    home->copy = copy;
    home->certain = certain;
    memcpy(home->weight, weight, sizeof weight);
}

/// The first copy that holds a vertex; of those that hold its triangle's piece if there is one.
static vertex_home find_home(const place_job *job, int32_t vertex) {
    const sn_lattice *l = job->l;
    const double *at = l->surface->position + 3 * (size_t)vertex;
    vertex_home home = {.copy = -1};
    int32_t first[3], last[3], place[3];
    for (int c = 0; c < 3; c++) {
        first[c] = (int32_t)fmax(0, ceil(0.5 * (at[c] - l->pattern.reach) - 1e-3));
        last[c] = (int32_t)fmin(l->n[c] - 1, floor(0.5 * at[c] + 1e-3));
    }
    for (place[2] = first[2]; place[2] <= last[2]; place[2]++)
        for (place[1] = first[1]; place[1] <= last[1]; place[1]++)
            for (place[0] = first[0]; place[0] <= last[0]; place[0]++) {
                int32_t cell = sn_lattice_cell(l, place);
                for (int32_t t = 0; t < l->pattern.tet_count; t++)
                    if (l->kept[cell] >> t & 1)
                        try_tet(job, cell, t, vertex, &home);
            }
    return home;
}

static void place_vertices(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    const place_job *job = data;
    for (int32_t v = begin; v < end; v++) {
        vertex_home home = {.copy = -1};
        if (job->triangle[v] >= 0)
            home = find_home(job, v);
        job->embedding->tet[v] = home.copy;
        memcpy(job->embedding->weight + 4 * (size_t)v, home.weight, sizeof home.weight);
    }
}

/// Vertices in no triangle go into the nearest tet.
static sn_status place_rest(const place_job *job) {
    sn_status status = SN_OK;
    sn_context *ctx = job->l->context;
    sn_embedding *to = job->embedding, *found = NULL;
    double *point = NULL;
    int32_t count = 0, outside = 0;
    for (int32_t v = 0; v < to->count; v++)
        count += to->tet[v] < 0;
    if (count == 0)
        return SN_OK;
    SN_TRY_NEW(ctx, point, 3 * (size_t)count);
    for (int32_t v = 0, i = 0; v < to->count; v++)
        if (to->tet[v] < 0)
            memcpy(point + 3 * (size_t)i++, job->surface->position + 3 * (size_t)v, 3 * sizeof *point);
    SN_TRY(sn_embedding_create(job->mesh, count, point, &outside, &found));
    for (int32_t v = 0, i = 0; v < to->count; v++) {
        if (to->tet[v] >= 0)
            continue;
        to->tet[v] = found->tet[i];
        memcpy(to->weight + 4 * (size_t)v, found->weight + 4 * (size_t)i, 4 * sizeof *point);
        i++;
    }
    if (outside > 0)
        sn_log(ctx, SN_LOG_WARNING,
               "%d vertices of the surface are in no triangle and outside of the lattice", outside);
cleanup:
    SN_RELEASE(ctx, point);
    sn_embedding_destroy(&found);
    return status;
}

sn_status sn_lattice_embed(const sn_lattice *l, const sn_mesh *mesh, const sn_mesh_data *surface,
                           const int32_t *triangle, sn_embedding **out_embedding) {
    sn_status status = SN_OK;
    sn_embedding *embedding = NULL;
    place_job job = {.l = l, .mesh = mesh, .surface = surface};
    SN_TRY_NEW_ZEROED(l->context, embedding, 1);
    embedding->context = l->context;
    embedding->count = surface->vertex_count;
    SN_TRY_NEW(l->context, embedding->tet, embedding->count);
    SN_TRY_NEW(l->context, embedding->weight, 4 * (size_t)embedding->count);
    SN_TRY_NEW(l->context, job.triangle, embedding->count);
    memset(job.triangle, -1, (size_t)embedding->count * sizeof *job.triangle);
    for (int32_t i = 3 * l->surface->triangle_count - 1; i >= 0; i--)
        job.triangle[triangle[i]] = i / 3;
    job.embedding = embedding;
    sn_parallel_for(l->context, embedding->count, VERTEX_GRAIN, place_vertices, &job);
    SN_TRY(place_rest(&job));
    *out_embedding = embedding;
    embedding = NULL;
cleanup:
    SN_RELEASE(l->context, job.triangle);
    sn_embedding_destroy(&embedding);
    return status;
}
