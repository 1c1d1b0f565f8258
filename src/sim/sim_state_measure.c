/// What can be read off a state. Loops run in parallel over tets, nodes or vertices; sums keep a fixed order.
#include "base/base_parallel.h"
#include "math/math_mat3.h"
#include "math/math_svd.h"
#include "sim/sim_state.h"

#include <string.h>

enum { TET_GRAIN = 64 * SN_LANES, VERTEX_GRAIN = 1024 };

static void load_edges(const sn_state *state, int32_t tet, double edges[9]) {
    const int32_t *node = state->model->tets + 4 * (size_t)tet;
    const double *x0 = state->x + 3 * (size_t)node[0];
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++)
            edges[3 * i + a] = state->x[3 * (size_t)node[a + 1] + (size_t)i] - x0[i];
}

/// Strain of up to SN_LANES tets from `first` on; lanes beyond `count` repeat the last one.
static void strain_of_block(const sn_state *state, int32_t first, int32_t count) {
    double F[9][SN_LANES], U[9][SN_LANES], s[3][SN_LANES], V[9][SN_LANES];
    for (int32_t lane = 0; lane < SN_LANES; lane++) {
        int32_t tet = first + (lane < count ? lane : count - 1);
        double edges[9], gradient[9];
        load_edges(state, tet, edges);
        sn_mul33(edges, state->model->tet_shape + 9 * (size_t)tet, gradient);
        for (int i = 0; i < 9; i++)
            F[i][lane] = gradient[i];
    }
    sn_svd3_wide((const double(*)[SN_LANES])F, U, s, V);
    for (int32_t lane = 0; lane < count; lane++)
        state->tet_value[first + lane] =
            fmax(fabs(s[0][lane] - 1), fmax(fabs(s[1][lane] - 1), fabs(s[2][lane] - 1)));
}

static void strain_of_tets(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    for (int32_t tet = begin; tet < end; tet += SN_LANES)
        strain_of_block(data, tet, end - tet < SN_LANES ? end - tet : SN_LANES);
}

/// Volume-weighted mean at the nodes, gathered tet by tet: a small part of the work, and its order is fixed.
static void average_at_nodes(const sn_model *model, const double *tet_value, double *out) {
    memset(out, 0, (size_t)model->node_count * sizeof *out);
    for (int32_t t = 0; t < model->tet_count; t++)
        for (size_t a = 0; a < 4; a++)
            out[model->tets[4 * (size_t)t + a]] += model->tet_volume[t] / 4 * tet_value[t];
    for (int32_t n = 0; n < model->node_count; n++)
        out[n] /= model->node_volume[n];
}

void sn_state_quantity(const sn_state *state, sn_quantity quantity, double *out) {
    const sn_model *model = state->model;
    if (quantity == SN_QUANTITY_STRAIN) {
        // The task takes data that it may write; the state's scratch is all that it does write.
        sn_parallel_for(model->context, model->tet_count, TET_GRAIN, strain_of_tets,
                        (void *)(uintptr_t)state);
        average_at_nodes(model, state->tet_value, out);
        return;
    }
    for (int32_t n = 0; n < model->node_count; n++)
        out[n] = sn_distance3(state->x + 3 * (size_t)n, model->rest + 3 * (size_t)n);
}

/// A node field of `width` numbers carried to surface vertices.
typedef struct surface_job {
    const sn_model_body_data *body;
    const double *node_value;
    int width;
    double *out;
} surface_job;

static void carry_to_vertices(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    const surface_job *job = data;
    size_t width = (size_t)job->width;
    for (int32_t v = begin; v < end; v++) {
        const int32_t *node = job->body->surface_node + 4 * (size_t)v;
        const double *weight = job->body->surface_weight + 4 * (size_t)v;
        for (size_t i = 0; i < width; i++) {
            double sum = 0;
            for (int a = 0; a < 4; a++)
                sum += weight[a] * job->node_value[width * (size_t)node[a] + i];
            job->out[width * (size_t)v + i] = sum;
        }
    }
}

static void carry_to_surface(const sn_state *state, int32_t body_index, const double *node_value, int width,
                             double *out) {
    if (body_index < 0 || body_index >= state->model->body_count)
        return;
    surface_job job = {&state->model->bodies[body_index], node_value, width, out};
    sn_parallel_for(state->model->context, job.body->surface_vertex_count, VERTEX_GRAIN, carry_to_vertices,
                    &job);
}

void sn_state_surface_positions(const sn_state *state, int32_t body_index, double *out) {
    carry_to_surface(state, body_index, state->x, 3, out);
}

void sn_state_surface_values(const sn_state *state, int32_t body_index, const double *node_values,
                             double *out) {
    carry_to_surface(state, body_index, node_values, 1, out);
}

static void determinants(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    const sn_state *state = data;
    for (int32_t t = begin; t < end; t++) {
        double edges[9];
        load_edges(state, t, edges);
        state->tet_value[t] =
            sn_det3(edges) * state->model->tet_fraction[t] / (6 * state->model->tet_volume[t]);
    }
}

void sn_state_inversion(const sn_state *state, double *out_min_det, int32_t *out_inverted) {
    const sn_model *model = state->model;
    double least = HUGE_VAL;
    int32_t inverted = 0;
    sn_parallel_for(model->context, model->tet_count, TET_GRAIN, determinants, (void *)(uintptr_t)state);
    for (int32_t t = 0; t < model->tet_count; t++) {
        least = fmin(least, state->tet_value[t]);
        inverted += !(state->tet_value[t] > 0);
    }
    *out_min_det = least;
    *out_inverted = inverted;
}

/// One component of a sum over nodes.
typedef struct momentum_job {
    const sn_state *state;
    int component;
} momentum_job;

static double sum_linear(void *data, int32_t begin, int32_t end) {
    const momentum_job *job = data;
    const sn_state *state = job->state;
    double sum = 0;
    for (int32_t n = begin; n < end; n++)
        sum += state->model->mass[n] * state->v[3 * (size_t)n + (size_t)job->component];
    return sum;
}

static double sum_angular(void *data, int32_t begin, int32_t end) {
    const momentum_job *job = data;
    const sn_state *state = job->state;
    double sum = 0;
    for (int32_t n = begin; n < end; n++) {
        double turn[3];
        sn_cross3(state->x + 3 * (size_t)n, state->v + 3 * (size_t)n, turn);
        sum += state->model->mass[n] * turn[job->component];
    }
    return sum;
}

static double sum_kinetic(void *data, int32_t begin, int32_t end) {
    const momentum_job *job = data;
    const sn_state *state = job->state;
    double sum = 0;
    for (int32_t n = begin; n < end; n++)
        sum += state->model->mass[n] * sn_dot3(state->v + 3 * (size_t)n, state->v + 3 * (size_t)n) / 2;
    return sum;
}

void sn_state_momentum(const sn_state *state, double out_linear[3], double out_angular[3],
                       double *out_kinetic) {
    sn_context *ctx = state->model->context;
    int32_t nodes = state->model->node_count;
    momentum_job job = {state, 0};
    for (job.component = 0; job.component < 3; job.component++) {
        out_linear[job.component] = sn_parallel_sum(ctx, nodes, sum_linear, &job);
        out_angular[job.component] = sn_parallel_sum(ctx, nodes, sum_angular, &job);
    }
    *out_kinetic = sn_parallel_sum(ctx, nodes, sum_kinetic, &job);
}
