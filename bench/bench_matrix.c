#include "bench_matrix.h"

#include "sinew/io.h"
#include "sinew/mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/// Nodes of the zone, and those of the patch that never belong to it.
enum { ZONE = 400, PATCH = 4000 };

/// Path of a mesh of shared/data, or NULL if it is not there.
static const char *data_path(const char *name, char *buffer, size_t size) {
    const char *folder = getenv("SINEW_DATA");
    snprintf(buffer, size, "%s/%s", folder ? folder : SINEW_SOURCE_DIR "/../shared/data", name);
    FILE *file = fopen(buffer, "rb");
    if (!file)
        return NULL;
    fclose(file);
    return buffer;
}

static sn_status make_kuhn(sn_context *ctx, const int32_t cells[3], sn_mesh **out_mesh) {
    sn_mesh_data *data = NULL;
    sn_make_def make = sn_make_def_default(SN_MAKE_BEAM);
    for (int32_t axis = 0; axis < 3; axis++)
        make.size[axis] = cells[axis];
    make.cells = cells[1] < cells[2] ? cells[1] : cells[2];
    sn_status status = sn_mesh_make(ctx, &make, &data, NULL);
    if (status >= 0)
        status = sn_mesh_create(ctx, data, false, out_mesh);
    sn_mesh_data_destroy(&data);
    return status;
}

static sn_status make_lattice(sn_context *ctx, const sn_mesh_data *surface, int32_t cells,
                              sn_mesh **out_mesh) {
    sn_embedding *embedding = NULL;
    sn_lattice_def def = sn_lattice_def_default();
    def.cells = cells;
    sn_status status = sn_lattice_create(ctx, surface, &def, out_mesh, &embedding);
    sn_embedding_destroy(&embedding);
    return status;
}

static sn_status make_bcc_box(sn_context *ctx, const int32_t cells[3], sn_mesh **out_mesh) {
    sn_mesh_data *surface = NULL;
    sn_make_def make = sn_make_def_default(SN_MAKE_BLOCK);
    int32_t most = 0;
    for (int32_t axis = 0; axis < 3; axis++) {
        make.size[axis] = cells[axis];
        most = cells[axis] > most ? cells[axis] : most;
    }
    make.cells = 2;
    sn_status status = sn_mesh_make(ctx, &make, &surface, NULL);
    if (status >= 0)
        status = make_lattice(ctx, surface, most, out_mesh);
    sn_mesh_data_destroy(&surface);
    return status;
}

static sn_status make_from_file(sn_context *ctx, const bench_matrix_def *def, const char *path,
                                sn_mesh **out_mesh) {
    sn_mesh_data *data = NULL;
    sn_status status = sn_mesh_data_read(ctx, path, &data);
    if (status >= 0)
        status = def->kind == BENCH_LATTICE ? make_lattice(ctx, data, def->cells[0], out_mesh)
                                            : sn_mesh_create(ctx, data, true, out_mesh);
    sn_mesh_data_destroy(&data);
    return status;
}

/// Inward normals of the faces opposite each node, twice the areas long; returns six times the volume.
static double find_normals(const double *position, const int32_t tet[4], double normal[4][3]) {
    const double *a = position + 3 * (int64_t)tet[0];
    double edge[3][3];
    for (int32_t k = 0; k < 3; k++)
        for (int32_t c = 0; c < 3; c++)
            edge[k][c] = position[3 * (int64_t)tet[k + 1] + c] - a[c];
    for (int32_t k = 0; k < 3; k++) {
        const double *u = edge[(k + 1) % 3], *v = edge[(k + 2) % 3];
        for (int32_t c = 0; c < 3; c++)
            normal[k + 1][c] = u[(c + 1) % 3] * v[(c + 2) % 3] - u[(c + 2) % 3] * v[(c + 1) % 3];
    }
    double volume = 0;
    for (int32_t c = 0; c < 3; c++) {
        normal[0][c] = -normal[1][c] - normal[2][c] - normal[3][c];
        volume += normal[1][c] * edge[0][c];
    }
    return volume;
}

/// Laplacian, and inertia of a hundredth of the mean diagonal entry, spread by volume.
static sn_status assemble(const sn_mesh *mesh, bool drop_zeros, bench_matrix *m) {
    const double *position = sn_mesh_positions(mesh);
    const int32_t *tets = sn_mesh_tets(mesh);
    int32_t tet_count = sn_mesh_tet_count(mesh), n = sn_mesh_node_count(mesh);
    double trace = 0, total = 0;
    int64_t count = 0;
    sn_triplet *triplets = malloc(14 * (size_t)tet_count * sizeof *triplets);
    if (!triplets)
        return SN_ERR_NO_MEMORY;
    for (int32_t t = 0; t < tet_count; t++) {
        const int32_t *tet = tets + 4 * (int64_t)t;
        double normal[4][3], volume = find_normals(position, tet, normal);
        total += volume;
        for (int32_t i = 0; i < 4; i++)
            for (int32_t j = 0; j <= i; j++) {
                double dot =
                    normal[i][0] * normal[j][0] + normal[i][1] * normal[j][1] + normal[i][2] * normal[j][2];
                triplets[count++] = (sn_triplet){tet[i], tet[j], dot / (6 * volume)};
                trace += i == j ? dot / (6 * volume) : 0;
            }
    }
    for (int32_t t = 0; t < tet_count; t++) {
        const int32_t *tet = tets + 4 * (int64_t)t;
        double normal[4][3], volume = find_normals(position, tet, normal);
        for (int32_t i = 0; i < 4; i++)
            triplets[count++] = (sn_triplet){tet[i], tet[i], 0.0025 * trace * volume / total};
    }
    sn_status status = sn_csr_create(m->context, n, count, triplets, &m->a);
    free(triplets);
    if (status >= 0 && drop_zeros)
        sn_csr_drop_zeros(&m->a, 1e-12);
    return status;
}

static double distance(const double *position, int32_t a, int32_t b) {
    double sum = 0;
    for (int32_t c = 0; c < 3; c++) {
        double d = position[3 * (int64_t)a + c] - position[3 * (int64_t)b + c];
        sum += d * d;
    }
    return sum;
}

/// Surface node nearest to the middle of the top of the bounds.
static int32_t find_top(const double *position, int32_t count, const int32_t *surface) {
    double low[3], high[3], middle[3], best = INFINITY;
    int32_t top = surface[0];
    for (int32_t c = 0; c < 3; c++) {
        low[c] = high[c] = position[3 * (int64_t)surface[0] + c];
        for (int32_t k = 0; k < 3 * count; k++) {
            low[c] = fmin(low[c], position[3 * (int64_t)surface[k] + c]);
            high[c] = fmax(high[c], position[3 * (int64_t)surface[k] + c]);
        }
        middle[c] = c == 2 ? high[c] : 0.5 * (low[c] + high[c]);
    }
    for (int32_t k = 0; k < 3 * count; k++) {
        const double *p = position + 3 * (int64_t)surface[k];
        double d = 0;
        for (int32_t c = 0; c < 3; c++)
            d += (p[c] - middle[c]) * (p[c] - middle[c]);
        if (d < best) {
            best = d;
            top = surface[k];
        }
    }
    return top;
}

/// Walks over the surface from `seed`, ring by ring.
static bool walk_surface(int32_t n, int32_t count, const int32_t *surface, int32_t seed, bench_matrix *m) {
    int32_t *start = calloc((size_t)n + 2, sizeof *start),
            *neighbor = malloc(6 * (size_t)count * sizeof *neighbor);
    bool *is_seen = calloc((size_t)n, sizeof *is_seen);
    m->patch = malloc((size_t)n * sizeof *m->patch);
    bool done = start && neighbor && is_seen && m->patch;
    for (int32_t k = 0; done && k < 3 * count; k++)
        start[surface[k] + 2] += 2;
    for (int32_t i = 0; done && i < n; i++)
        start[i + 2] += start[i + 1];
    for (int32_t k = 0; done && k < 3 * count; k++) {
        int32_t triangle = k / 3 * 3, corner = k % 3;
        for (int32_t other = 1; other < 3; other++)
            neighbor[start[surface[k] + 1]++] = surface[triangle + (corner + other) % 3];
    }
    if (done) {
        m->patch[m->patch_count++] = seed;
        is_seen[seed] = true;
    }
    for (int32_t at = 0; at < m->patch_count; at++)
        for (int32_t e = start[m->patch[at]]; e < start[m->patch[at] + 1]; e++)
            if (!is_seen[neighbor[e]]) {
                is_seen[neighbor[e]] = true;
                m->patch[m->patch_count++] = neighbor[e];
            }
    free(is_seen);
    free(neighbor);
    free(start);
    return done;
}

typedef struct ranked {
    double distance;
    int32_t node;
} ranked;

static int compare_ranked(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    return x->distance != y->distance ? (x->distance > y->distance) - (x->distance < y->distance)
                                      : (x->node > y->node) - (x->node < y->node);
}

/// The zone: nodes nearest to the node where half of the walk was done, not on the surface if there are
/// enough others (thin bodies have few).
static bool find_zone(const sn_mesh *mesh, bench_matrix *m) {
    int32_t n = sn_mesh_node_count(mesh), count = 0;
    bool is_thin = n - m->patch_count < ZONE;
    const double *position = sn_mesh_positions(mesh);
    ranked *nodes = malloc((size_t)n * sizeof *nodes);
    bool *is_left_out = calloc((size_t)n, sizeof *is_left_out);
    m->zone = malloc(ZONE * sizeof *m->zone);
    bool done = nodes && is_left_out && m->zone && n >= PATCH + ZONE;
    for (int32_t k = 0; done && k < (is_thin ? PATCH : m->patch_count); k++)
        is_left_out[m->patch[k]] = true;
    for (int32_t i = 0; done && i < n; i++)
        if (!is_left_out[i])
            nodes[count++] = (ranked){distance(position, i, m->patch[m->patch_count / 2]), i};
    if (done) {
        qsort(nodes, (size_t)count, sizeof *nodes, compare_ranked);
        for (int32_t k = 0; k < ZONE; k++)
            m->zone[k] = nodes[k].node;
        m->zone_count = ZONE;
    }
    free(is_left_out);
    free(nodes);
    return done;
}

static bool fill(const sn_mesh *mesh, const bench_matrix_def *def, bench_matrix *m) {
    int32_t count = 0;
    const int32_t *surface = sn_mesh_surface(mesh, &count);
    int32_t seed = find_top(sn_mesh_positions(mesh), count, surface);
    return walk_surface(sn_mesh_node_count(mesh), count, surface, seed, m) && find_zone(mesh, m) &&
           assemble(mesh, def->drop_zeros, m) >= 0;
}

bool bench_matrix_create(const bench_matrix_def *def, bench_matrix *out_matrix, bool *out_missing) {
    char buffer[1024];
    const char *path = def->file ? data_path(def->file, buffer, sizeof buffer) : NULL;
    bench_matrix m = {0};
    sn_mesh *mesh = NULL;
    *out_missing = def->file && !path;
    if (*out_missing || sn_context_create(NULL, &m.context) < 0)
        return false;
    sn_status status = path                      ? make_from_file(m.context, def, path, &mesh)
                       : def->kind == BENCH_KUHN ? make_kuhn(m.context, def->cells, &mesh)
                                                 : make_bcc_box(m.context, def->cells, &mesh);
    bool done = status >= 0 && fill(mesh, def, &m);
    if (!done)
        fprintf(stderr, "factor: no matrix: %s\n", sn_context_message(m.context));
    sn_mesh_destroy(&mesh);
    if (done)
        *out_matrix = m;
    else
        bench_matrix_destroy(&m);
    return done;
}

void bench_matrix_destroy(bench_matrix *matrix) {
    free(matrix->patch);
    free(matrix->zone);
    sn_csr_destroy(matrix->context, &matrix->a);
    sn_context_destroy(&matrix->context);
    *matrix = (bench_matrix){0};
}

sn_factor_matrix bench_matrix_view(const bench_matrix *matrix) {
    return (sn_factor_matrix){matrix->a.n, matrix->a.start, matrix->a.column, matrix->a.value};
}
