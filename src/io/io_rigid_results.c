#include "io/io_recorder_folder.h"
#include "io/io_rigid.h"

#include <math.h>

/// Of a rotation, in any entry of R R'. Files of ours are exact to a few bits.
static const double rotation_error = 1e-6;

// ---- Shapes

/// What the facts of all shapes come to.
typedef struct shape_totals {
    int64_t vertices, triangles;
} shape_totals;

/// A fixed array with a frame of its own.
static sn_status read_array(sn_context *ctx, const char *directory, const char *name, sn_npy_kind kind,
                            int32_t columns, int64_t rows, void **out_values) {
    sn_status status = SN_OK;
    sn_npy_input input = {0};
    void *values = NULL;
    SN_TRY(sn_npy_input_open(ctx, directory, name, kind, false, columns, &input));
    if (input.rows != rows)
        SN_TRY(sn_fail(ctx, SN_ERR_READ,
                       "%s has %d rows, and %s asks for %lld: put back the files of the run", input.path,
                       input.rows, SN_RIGID_SHAPES_NPY, (long long)rows));
    SN_TRY(sn_new(ctx, (size_t)columns * (size_t)rows, sn_npy_number_size(kind), &values));
    SN_TRY(sn_npy_input_read(&input, 0, values));
    *out_values = values;
    values = NULL;
cleanup:
    sn_npy_input_close(&input);
    SN_RELEASE(ctx, values);
    return status;
}

static sn_status take_facts(sn_rigid_results *r, int32_t index, const int32_t facts[SN_RIGID_FACTS],
                            const char *path) {
    const bool is_plane = facts[0] == SN_SHAPE_PLANE, is_bone = facts[1] == 1;
    if (facts[0] < SN_SHAPE_PLANE || facts[0] > SN_SHAPE_MESH || facts[1] < 0 || facts[1] > 1 ||
        facts[2] < 1 || (is_plane ? facts[2] != 2 || facts[3] != 0 : facts[3] < 1))
        return sn_fail(r->ctx, SN_ERR_READ,
                       "%s: shape %d is of kind %d, bone %d, with %d vertices and %d triangles, which no run "
                       "writes: the file is damaged",
                       path, index, facts[0], facts[1], facts[2], facts[3]);
    r->shape[index] = (sn_rigid_shape){is_plane, is_bone, facts[2], facts[3], NULL, NULL};
    return SN_OK;
}

static sn_status read_facts(sn_rigid_results *r, const char *directory, shape_totals *totals) {
    sn_status status = SN_OK;
    sn_npy_input input = {0};
    int32_t *facts = NULL;
    SN_TRY(sn_npy_input_open(r->ctx, directory, SN_RIGID_SHAPES_NPY, SN_NPY_INT32, false, SN_RIGID_FACTS,
                             &input));
    SN_TRY_NEW(r->ctx, facts, SN_RIGID_FACTS * (size_t)input.rows);
    SN_TRY_NEW_ZEROED(r->ctx, r->shape, input.rows);
    SN_TRY(sn_npy_input_read(&input, 0, facts));
    r->shape_count = input.rows;
    for (int32_t i = 0; i < input.rows; i++) {
        SN_TRY(take_facts(r, i, facts + SN_RIGID_FACTS * (size_t)i, input.path));
        totals->vertices += r->shape[i].vertex_count;
        totals->triangles += r->shape[i].triangle_count;
    }
cleanup:
    sn_npy_input_close(&input);
    SN_RELEASE(r->ctx, facts);
    return status;
}

static sn_status check_vertices(const sn_rigid_results *r, const char *directory, int32_t index) {
    const sn_rigid_shape *shape = &r->shape[index];
    bool good = true;
    for (int64_t i = 0; i < 3 * (int64_t)shape->vertex_count; i++)
        good = good && isfinite(shape->vertex[i]);
    // The normal of a plane may have any length.
    const double *normal = shape->vertex + 3;
    if (shape->is_plane)
        good = good && (normal[0] != 0 || normal[1] != 0 || normal[2] != 0);
    return good ? SN_OK
                : sn_fail(r->ctx, SN_ERR_READ,
                          "%s/" SN_RIGID_VERTICES_NPY
                          ": shape %d has numbers that are not finite, or a normal of 0: the file is damaged",
                          directory, index);
}

static sn_status check_triangles(const sn_rigid_results *r, const char *directory, int32_t index) {
    const sn_rigid_shape *shape = &r->shape[index];
    for (int64_t i = 0; i < 3 * (int64_t)shape->triangle_count; i++)
        if (shape->triangle[i] < 0 || shape->triangle[i] >= shape->vertex_count)
            return sn_fail(r->ctx, SN_ERR_READ,
                           "%s/" SN_RIGID_TRIANGLES_NPY
                           ": a triangle of shape %d names vertex %d, but it has vertices from 0 to %d",
                           directory, index, shape->triangle[i], shape->vertex_count - 1);
    return SN_OK;
}

static sn_status read_surfaces(sn_rigid_results *r, const char *directory, const shape_totals *totals) {
    sn_status status = SN_OK;
    SN_TRY(read_array(r->ctx, directory, SN_RIGID_VERTICES_NPY, SN_NPY_FLOAT64, 3, totals->vertices,
                      (void **)&r->vertices));
    if (totals->triangles > 0)
        SN_TRY(read_array(r->ctx, directory, SN_RIGID_TRIANGLES_NPY, SN_NPY_INT32, 3, totals->triangles,
                          (void **)&r->triangles));
    const double *vertex = r->vertices;
    const int32_t *triangle = r->triangles;
    for (int32_t i = 0; i < r->shape_count; i++) {
        sn_rigid_shape *shape = &r->shape[i];
        shape->vertex = vertex;
        shape->triangle = triangle;
        vertex += 3 * (size_t)shape->vertex_count;
        if (shape->triangle_count > 0)
            triangle += 3 * (size_t)shape->triangle_count;
        SN_TRY(check_vertices(r, directory, i));
        SN_TRY(check_triangles(r, directory, i));
    }
cleanup:
    return status;
}

// ---- Poses

static sn_status open_poses(sn_rigid_results *r, const char *directory) {
    sn_status status = SN_OK;
    SN_TRY(sn_npy_input_open(r->ctx, directory, SN_RIGID_POSES_NPY, SN_NPY_FLOAT64, true, SN_RIGID_POSE,
                             &r->poses));
    if (r->poses.rows != r->shape_count)
        SN_TRY(sn_fail(r->ctx, SN_ERR_READ, "%s has %d shapes, and %s %d: put back the files of the run",
                       r->poses.path, r->poses.rows, SN_RIGID_SHAPES_NPY, r->shape_count));
    SN_TRY_NEW(r->ctx, r->pose, SN_RIGID_POSE * (size_t)r->shape_count);
cleanup:
    return status;
}

static bool is_pose(const double pose[SN_RIGID_POSE]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double product = 0;
            for (int k = 0; k < 3; k++)
                product += pose[3 * i + k] * pose[3 * j + k];
            if (!(fabs(product - (i == j)) <= rotation_error))
                return false;
        }
    return isfinite(pose[9]) && isfinite(pose[10]) && isfinite(pose[11]);
}

sn_status sn_rigid_results_pose(const sn_rigid_results *r, int32_t frame) {
    sn_status status = SN_OK;
    if (r->shape_count == 0)
        return SN_OK;
    if (frame >= r->poses.frame_count)
        SN_TRY(sn_fail(r->ctx, SN_ERR_READ, "%s holds %lld frames, and frame %d is wanted: the file was cut",
                       r->poses.path, (long long)r->poses.frame_count, frame));
    SN_TRY(sn_npy_input_read(&r->poses, frame, r->pose));
    for (int32_t i = 0; i < r->shape_count; i++)
        if (!is_pose(r->pose + SN_RIGID_POSE * (size_t)i))
            SN_TRY(sn_fail(r->ctx, SN_ERR_READ,
                           "%s: shape %d of frame %d has no rotation and translation: the file is damaged",
                           r->poses.path, i, frame));
cleanup:
    return status;
}

// ---- The whole

sn_status sn_rigid_results_open(sn_context *ctx, const char *directory, sn_rigid_results *results) {
    sn_status status = SN_OK;
    bool there = false;
    shape_totals totals = {0};
    *results = (sn_rigid_results){.ctx = ctx};
    SN_TRY(sn_folder_has(ctx, directory, SN_RIGID_SHAPES_NPY, &there));
    if (!there)
        return SN_OK;
    SN_TRY(read_facts(results, directory, &totals));
    SN_TRY(read_surfaces(results, directory, &totals));
    SN_TRY(open_poses(results, directory));
    return SN_OK;
cleanup:
    sn_rigid_results_release(results);
    return status;
}

void sn_rigid_results_release(sn_rigid_results *results) {
    sn_context *ctx = results->ctx;
    if (!ctx)
        return;
    sn_npy_input_close(&results->poses);
    SN_RELEASE(ctx, results->shape);
    SN_RELEASE(ctx, results->pose);
    SN_RELEASE(ctx, results->vertices);
    SN_RELEASE(ctx, results->triangles);
    *results = (sn_rigid_results){0};
}
