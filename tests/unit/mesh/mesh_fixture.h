// What the tests of the mesh module share: contexts, shapes, a reader of plain OBJ files, hashes.
#ifndef MESH_FIXTURE_H
#define MESH_FIXTURE_H

#include "test_support.h"

#include "base/base_context.h"
#include "base/base_util.h"
#include "mesh/mesh_internal.h"

static inline sn_mesh_data *fixture_shape(sn_context *ctx, sn_make_shape shape, int32_t cells) {
    sn_mesh_data *data = NULL;
    sn_make_def def = sn_make_def_default(shape);
    def.cells = cells > 0 ? cells : def.cells;
    assert_int_equal(sn_mesh_make(ctx, &def, &data, NULL), SN_OK);
    return data;
}

static inline sn_mesh_data *fixture_data(sn_context *ctx, int32_t vertex_count, const double *position,
                                         sn_cell_kind kind, int32_t count, const int32_t *vertex) {
    sn_mesh_data *data = NULL;
    assert_int_equal(sn_mesh_data_create(ctx, &data), SN_OK);
    assert_int_equal(sn_mesh_data_set_vertices(data, vertex_count, position), SN_OK);
    assert_int_equal(sn_mesh_data_add_block(data, kind, count, vertex), SN_OK);
    return data;
}

static inline sn_mesh_report fixture_report(const sn_mesh_data *data) {
    sn_mesh_report report;
    assert_int_equal(sn_mesh_data_report(data, &report), SN_OK);
    return report;
}

/// Turns vertices about a slanted axis and moves them: takes away every accidental alignment with the
/// lattice.
static inline void fixture_tilt(sn_mesh_data *data, double shift) {
    const double c = cos(0.7), s = sin(0.7), d = cos(0.4), t = sin(0.4);
    for (int32_t v = 0; v < data->vertex_count; v++) {
        double *p = data->position + 3 * (size_t)v, x = p[0], y = p[1], z = p[2];
        double x1 = c * x - s * y, y1 = s * x + c * y;
        p[0] = d * x1 + t * z + shift;
        p[1] = y1 - 0.3 * shift;
        p[2] = d * z - t * x1 + 0.7 * shift;
    }
}

/// Path of a file of the shared data folder.
static inline const char *fixture_data_path(const char *name) {
    static char path[4096];
    const char *folder = getenv("SINEW_DATA");
    snprintf(path, sizeof path, "%s/%s", folder ? folder : SINEW_SOURCE_DIR "/../shared/data", name);
    return path;
}

/// Reads the vertices and triangles of an OBJ file that has nothing cleverer in it; NULL if there is no such
/// file.
static inline sn_mesh_data *fixture_read_obj(sn_context *ctx, const char *name) {
    FILE *file = fopen(fixture_data_path(name), "r");
    double *position = NULL;
    int32_t *triangle = NULL, vertices = 0, triangles = 0;
    size_t position_room = 0, triangle_room = 0;
    char line[512];
    if (!file)
        return NULL;
    while (fgets(line, sizeof line, file)) {
        double p[3];
        int t[3];
        if (sscanf(line, "v %lf %lf %lf", &p[0], &p[1], &p[2]) == 3) {
            assert_int_equal(
                sn_grow(ctx, (void **)&position, &position_room, 3 * (size_t)vertices + 3, sizeof *position),
                SN_OK);
            memcpy(position + 3 * (size_t)vertices++, p, sizeof p);
        } else if (sscanf(line, "f %d%*[^ ] %d%*[^ ] %d", &t[0], &t[1], &t[2]) == 3 ||
                   sscanf(line, "f %d %d %d", &t[0], &t[1], &t[2]) == 3) {
            assert_int_equal(
                sn_grow(ctx, (void **)&triangle, &triangle_room, 3 * (size_t)triangles + 3, sizeof *triangle),
                SN_OK);
            for (int i = 0; i < 3; i++)
                triangle[3 * (size_t)triangles + (size_t)i] = t[i] - 1;
            triangles++;
        }
    }
    fclose(file);
    sn_mesh_data *data = fixture_data(ctx, vertices, position, SN_CELL_TRIANGLE, triangles, triangle);
    SN_RELEASE(ctx, position);
    SN_RELEASE(ctx, triangle);
    return data;
}

static inline uint64_t fixture_hash_mesh(const sn_mesh *mesh) {
    int32_t count = 0;
    const int32_t *surface = sn_mesh_surface(mesh, &count);
    uint64_t hash = sn_hash(SN_HASH_START, mesh->position, (size_t)mesh->node_count * 3 * sizeof(double));
    hash = sn_hash(hash, mesh->tet, (size_t)mesh->tet_count * 4 * sizeof(int32_t));
    return sn_hash(hash, surface, (size_t)count * 3 * sizeof(int32_t));
}

static inline uint64_t fixture_hash_embedding(const sn_embedding *embedding) {
    uint64_t hash = sn_hash(SN_HASH_START, embedding->tet, (size_t)embedding->count * sizeof(int32_t));
    return sn_hash(hash, embedding->weight, (size_t)embedding->count * 4 * sizeof(double));
}

#endif
