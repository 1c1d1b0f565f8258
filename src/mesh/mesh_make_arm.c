/// The arm: muscles and bones as smooth forms, blended into one, and a grid of quadrilaterals pulled onto the
/// result.
///
/// The grid (a box around the arm's axis) makes the surface closed and keeps its edges along and around the
/// limb, which no contouring of a volume does. The arm lies along x, straight; the elbow bends about +z, with
/// the biceps, and so the inside of the bend, on the +y side.
#include "base/base_parallel.h"
#include "mesh/mesh_make.h"

#include <math.h>
#include <string.h>

/// One ellipsoid with axes along x, y, z. Lengths in m.
typedef struct arm_form {
    double center[3], radius[3];
} arm_form;

/// A cone with round ends along x, its cross-section `flatness` times as wide in z as in y.
typedef struct arm_shaft {
    double x[2], y[2], radius[2], flatness;
} arm_shaft;

static const arm_shaft shafts[] = {
    {{0.048, 0.300}, {0.000, -0.002}, {0.036, 0.029}, 1.06},  // upper arm
    {{0.330, 0.570}, {-0.003, 0.000}, {0.028, 0.0165}, 1.20}, // forearm down to the wrist
};

static const arm_form forms[] = {
    {{0.078, 0.003, 0.009}, {0.080, 0.040, 0.037}},   // deltoid
    {{0.200, 0.023, -0.002}, {0.078, 0.025, 0.027}},  // biceps
    {{0.150, -0.021, 0.007}, {0.085, 0.025, 0.026}},  // triceps, long and lateral head
    {{0.200, -0.017, -0.010}, {0.078, 0.021, 0.022}}, // triceps, medial head
    {{0.318, 0.000, 0.000}, {0.046, 0.027, 0.035}},   // epicondyles
    {{0.330, -0.026, -0.003}, {0.020, 0.011, 0.011}}, // olecranon
    {{0.380, 0.008, 0.017}, {0.090, 0.023, 0.019}},   // brachioradialis and extensors
    {{0.395, 0.002, -0.014}, {0.090, 0.026, 0.021}},  // flexors
    {{0.576, 0.000, 0.000}, {0.024, 0.0155, 0.022}},  // wrist
};

enum {
    SHAFT_COUNT = sizeof shafts / sizeof *shafts,
    FORM_COUNT = sizeof forms / sizeof *forms,
    SMOOTHING_PASSES = 30,
    BISECTIONS = 40,
    VERTEX_GRAIN = 64
};

/// Forms closer than this melt into one another.
#define BLEND 0.008
/// Of the arm as it is formed here, along x.
#define LENGTH 0.60
/// Joints, and the place on the axis from which the rounded ends are seen.
#define SHOULDER_X   0.045
#define ELBOW_X      0.322
#define WRIST_X      0.572
#define FIRST_END_X  0.050
#define SECOND_END_X 0.562
/// Farther from the axis than any of the surface.
#define REACH 0.12
/// Cells around a quarter of the limb for each along it, so that cells are about square.
#define QUARTER_RATIO 0.115
#define EIGHTH_TURN   0.78539816339744831

/// Distance to an ellipsoid: exact on it, right in first order near it.
static double form_distance(const arm_form *form, const double p[3]) {
    double first = 0, second = 0;
    for (int c = 0; c < 3; c++) {
        double q = (p[c] - form->center[c]) / form->radius[c];
        first += q * q;
        second += q * q / (form->radius[c] * form->radius[c]);
    }
    return second > 0 ? sqrt(first) * (sqrt(first) - 1) / sqrt(second) : -form->radius[1];
}

static double shaft_distance(const arm_shaft *shaft, const double p[3]) {
    double t = (p[0] - shaft->x[0]) / (shaft->x[1] - shaft->x[0]);
    double inside = t < 0 ? 0 : t > 1 ? 1 : t;
    double dx = (t - inside) * (shaft->x[1] - shaft->x[0]);
    double dy = p[1] - (shaft->y[0] + inside * (shaft->y[1] - shaft->y[0])), dz = p[2] / shaft->flatness;
    return sqrt(dx * dx + dy * dy + dz * dz) -
           (shaft->radius[0] + inside * (shaft->radius[1] - shaft->radius[0]));
}

/// Smooth union of all forms, negative inside: -k log sum exp(-d / k), which does not depend on their order.
static double arm_distance(const double p[3]) {
    double sum = 0;
    for (int i = 0; i < SHAFT_COUNT; i++)
        sum += exp(-shaft_distance(&shafts[i], p) / BLEND);
    for (int i = 0; i < FORM_COUNT; i++)
        sum += exp(-form_distance(&forms[i], p) / BLEND);
    return -BLEND * log(sum);
}

/// Value and gradient from four values at the corners of a small regular tet.
static double arm_gradient(const double p[3], double gradient[3]) {
    static const double corner[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    const double step = 1e-6;
    double mean = 0;
    memset(gradient, 0, 3 * sizeof *gradient);
    for (int i = 0; i < 4; i++) {
        double q[3];
        for (int c = 0; c < 3; c++)
            q[c] = p[c] + step * corner[i][c];
        double value = arm_distance(q);
        mean += 0.25 * value;
        for (int c = 0; c < 3; c++)
            gradient[c] += 0.25 / step * value * corner[i][c];
    }
    return mean;
}

/// Moves a point onto the surface along a ray from inside; the limb is star-shaped about its axis.
static void cast_ray(const double origin[3], const double direction[3], double out[3]) {
    double near = 0, far = REACH;
    for (int pass = 0; pass < BISECTIONS; pass++) {
        double middle = 0.5 * (near + far);
        for (int c = 0; c < 3; c++)
            out[c] = origin[c] + middle * direction[c];
        if (arm_distance(out) < 0)
            near = middle;
        else
            far = middle;
    }
}

/// First place of a grid vertex. Rows 0 to `turn` from either end swing from the rim of the cap into the
/// cross-section; those between are spread along the axis.
static void place_vertex(const int32_t n[3], int32_t turn, const int32_t place[3], double out[3]) {
    double origin[3] = {0}, tilt = 0, direction[3];
    int32_t from_end = place[0] < n[0] - place[0] ? place[0] : n[0] - place[0];
    double along = (double)(place[0] - turn) / (n[0] - 2 * turn);
    along = along < 0 ? 0 : along > 1 ? 1 : along;
    origin[0] = FIRST_END_X + along * (SECOND_END_X - FIRST_END_X);
    if (from_end < turn)
        tilt = (2 * place[0] < n[0] ? -1 : 1) * tan(EIGHTH_TURN * (turn - from_end) / turn);
    direction[0] = tilt;
    for (int c = 1; c < 3; c++)
        direction[c] = tan(EIGHTH_TURN * (2.0 * place[c] / n[c] - 1));
    double length =
        sqrt(direction[0] * direction[0] + direction[1] * direction[1] + direction[2] * direction[2]);
    for (int c = 0; c < 3; c++)
        direction[c] /= length;
    cast_ray(origin, direction, out);
}

/// Surface under work. `sum` holds for each vertex the sum of its neighbors and their number. Neighbors are
/// those along grid lines: with the cuts, vertices would crowd where the pattern of cuts turns.
typedef struct arm_work {
    const sn_box_grid *grid;
    const int32_t *n;
    int32_t turn;
    double *position, *sum; ///< [vertex_count, 3], [vertex_count, 4]
} arm_work;

static void place_range(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    arm_work *work = data;
    for (int32_t v = begin; v < end; v++)
        place_vertex(work->n, work->turn, work->grid->place + 3 * (size_t)v, work->position + 3 * (size_t)v);
}

static void sum_neighbors(arm_work *work) {
    const sn_box_grid *grid = work->grid;
    memset(work->sum, 0, (size_t)grid->vertex_count * 4 * sizeof *work->sum);
    for (size_t i = 0; i < (size_t)grid->triangle_count * 3; i++) {
        if (i % 3 == 2) // a cut
            continue;
        double *sum = work->sum + 4 * (size_t)grid->triangle[i];
        const double *p = work->position + 3 * (size_t)grid->triangle[i + 1];
        for (int c = 0; c < 3; c++)
            sum[c] += p[c];
        sum[3] += 1;
    }
}

/// Moves vertices halfway to the mean of their neighbors within the tangent plane, then back onto the
/// surface.
static void smooth_range(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    arm_work *work = data;
    for (int32_t v = begin; v < end; v++) {
        double *p = work->position + 3 * (size_t)v, normal[3], shift[3], along = 0, squared = 0;
        const double *sum = work->sum + 4 * (size_t)v;
        double value = arm_gradient(p, normal);
        for (int c = 0; c < 3; c++) {
            shift[c] = 0.5 * (sum[c] / sum[3] - p[c]);
            along += shift[c] * normal[c];
            squared += normal[c] * normal[c];
        }
        for (int c = 0; c < 3; c++)
            p[c] += shift[c] - (along + value) / squared * normal[c];
    }
}

static sn_status shape_surface(sn_context *ctx, const sn_box_grid *grid, const int32_t n[3], int32_t turn,
                               double *position) {
    sn_status status = SN_OK;
    arm_work work = {grid, n, turn, position, NULL};
    SN_TRY_NEW(ctx, work.sum, (size_t)grid->vertex_count * 4);
    sn_parallel_for(ctx, grid->vertex_count, VERTEX_GRAIN, place_range, &work);
    for (int pass = 0; pass < SMOOTHING_PASSES; pass++) {
        sum_neighbors(&work);
        sn_parallel_for(ctx, grid->vertex_count, VERTEX_GRAIN, smooth_range, &work);
    }
cleanup:
    SN_RELEASE(ctx, work.sum);
    return status;
}

/// Stretches the arm to the size asked for; its first end comes to x = 0, its axis stays the x-axis.
static void fit_size(int32_t count, double *position, const double size[3]) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t i = 0; i < (size_t)count * 3; i++) {
        low[i % 3] = fmin(low[i % 3], position[i]);
        high[i % 3] = fmax(high[i % 3], position[i]);
    }
    for (size_t i = 0; i < (size_t)count * 3; i++) {
        double scale = size[i % 3] / (high[i % 3] - low[i % 3]);
        position[i] = scale * (i % 3 == 0 ? position[i] - low[0] : position[i]);
    }
}

static sn_status make_skeleton(sn_context *ctx, double length, sn_skeleton **out_skeleton) {
    static const double joint_x[3] = {SHOULDER_X, ELBOW_X, WRIST_X};
    sn_status status = SN_OK;
    sn_skeleton *skeleton = NULL;
    SN_TRY_NEW_ZEROED(ctx, skeleton, 1);
    skeleton->context = ctx;
    SN_TRY_NEW_ZEROED(ctx, skeleton->position, 9);
    SN_TRY_NEW(ctx, skeleton->label, 3);
    SN_TRY_NEW(ctx, skeleton->bone, 4);
    skeleton->joint_count = 3;
    skeleton->bone_count = 2;
    for (int32_t joint = 0; joint < 3; joint++) {
        skeleton->position[3 * joint] = joint_x[joint] * length / LENGTH;
        skeleton->label[joint] = joint + 1;
    }
    memcpy(skeleton->bone, (int32_t[4]){0, 1, 1, 2}, 4 * sizeof *skeleton->bone);
    *out_skeleton = skeleton;
    skeleton = NULL;
cleanup:
    sn_skeleton_destroy(&skeleton);
    return status;
}

sn_status sn_make_arm(sn_mesh_data *data, const sn_make_def *def, sn_skeleton **out_skeleton) {
    sn_status status = SN_OK;
    sn_box_grid grid = {0};
    int32_t around = (int32_t)fmax(2, round(QUARTER_RATIO * def->cells)), turn = (around + 1) / 2;
    int32_t n[3] = {def->cells > 2 * turn + 2 ? def->cells : 2 * turn + 2, around, around};
    SN_TRY(sn_box_grid_make(data->context, n, &grid));
    SN_TRY_NEW(data->context, data->position, (size_t)grid.vertex_count * 3);
    data->vertex_count = grid.vertex_count;
    SN_TRY(shape_surface(data->context, &grid, n, turn, data->position));
    fit_size(grid.vertex_count, data->position, def->size);
    SN_TRY(sn_mesh_data_add_block(data, SN_CELL_TRIANGLE, grid.triangle_count, grid.triangle));
    SN_TRY(make_skeleton(data->context, def->size[0], out_skeleton));
cleanup:
    sn_box_grid_release(&grid);
    return status;
}
