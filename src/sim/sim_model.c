#include "sim/sim_model.h"

#include "math/math_mat3.h"
#include "mesh/mesh_look.h"
#include "sim/sim_frame.h"
#include "sim/sim_shape.h"

#include <string.h>

static void clear_body(sn_context *ctx, sn_model_body_data *body) {
    SN_RELEASE(ctx, body->name);
    SN_RELEASE(ctx, body->surface_triangles);
    SN_RELEASE(ctx, body->surface_node);
    SN_RELEASE(ctx, body->surface_weight);
    sn_surface_look_release(ctx, &body->look);
    sn_proxies_clear(ctx, &body->proxies);
    sn_tet_copies_clear(ctx, &body->copies);
}

static void clear_arrays(sn_context *ctx, sn_model *model) {
    SN_RELEASE(ctx, model->bodies);
    SN_RELEASE(ctx, model->rest);
    SN_RELEASE(ctx, model->start_x);
    SN_RELEASE(ctx, model->start_v);
    SN_RELEASE(ctx, model->load);
    SN_RELEASE(ctx, model->mass);
    SN_RELEASE(ctx, model->node_volume);
    SN_RELEASE(ctx, model->pinned);
    SN_RELEASE(ctx, model->pin_frame);
    SN_RELEASE(ctx, model->kept);
    SN_RELEASE(ctx, model->node_piece);
    SN_RELEASE(ctx, model->piece_anchored);
    SN_RELEASE(ctx, model->tets);
    SN_RELEASE(ctx, model->tet_volume);
    SN_RELEASE(ctx, model->tet_fraction);
    SN_RELEASE(ctx, model->tet_shape);
    SN_RELEASE(ctx, model->tet_material);
    SN_RELEASE(ctx, model->materials);
    SN_RELEASE(ctx, model->springs);
    SN_RELEASE(ctx, model->targets);
    SN_RELEASE(ctx, model->frames);
    SN_RELEASE(ctx, model->shapes);
    SN_RELEASE(ctx, model->shape_frame);
    SN_RELEASE(ctx, model->pairs);
    SN_RELEASE(ctx, model->contact_shape);
    SN_RELEASE(ctx, model->contact_solid);
    SN_RELEASE(ctx, model->body_proxies);
}

void sn_model_destroy(sn_model **model) {
    if (!model || !*model)
        return;
    sn_model *old = *model;
    sn_context *ctx = old->context;
    for (int32_t b = 0; old->bodies && b < old->body_count; b++)
        clear_body(ctx, &old->bodies[b]);
    for (int32_t f = 0; old->frames && f < old->frame_count; f++)
        sn_frame_clear(ctx, &old->frames[f]);
    for (int32_t s = 0; old->shapes && s < old->shape_count; s++)
        sn_shape_clear(ctx, &old->shapes[s]);
    for (int32_t s = 0; old->contact_shape && s < old->shape_count; s++)
        sn_contact_shape_destroy(ctx, &old->contact_shape[s]);
    for (int32_t b = 0; old->contact_solid && b < old->body_count; b++)
        sn_contact_solid_destroy(&old->contact_solid[b]);
    clear_arrays(ctx, old);
    sn_release(ctx, old);
    *model = NULL;
}

static void find_bounds(const double *x, int32_t count, double low[3], double high[3]) {
    memcpy(low, x, 3 * sizeof *low);
    memcpy(high, x, 3 * sizeof *high);
    for (int32_t n = 1; n < count; n++)
        for (int i = 0; i < 3; i++) {
            low[i] = fmin(low[i], x[3 * (size_t)n + (size_t)i]);
            high[i] = fmax(high[i], x[3 * (size_t)n + (size_t)i]);
        }
}

double sn_model_body_extent(const sn_model *model, int32_t body_index) {
    const sn_model_body_data *body = &model->bodies[body_index];
    double low[3], high[3], extent = 0;
    find_bounds(model->rest + 3 * (size_t)body->node_begin, body->node_count, low, high);
    for (int i = 0; i < 3; i++)
        extent = fmax(extent, high[i] - low[i]);
    return extent;
}

double sn_model_mean_edge(const sn_model *model, int32_t tet_begin, int32_t tet_count) {
    double sum = 0;
    for (int32_t t = tet_begin; t < tet_begin + tet_count; t++) {
        const int32_t *node = model->tets + 4 * (size_t)t;
        for (int a = 0; a < 4; a++)
            for (int b = a + 1; b < 4; b++)
                sum += sn_distance3(model->rest + 3 * (size_t)node[a], model->rest + 3 * (size_t)node[b]);
    }
    return sum / (6.0 * tet_count);
}

/// Sag of a column as long as the body under its own weight: density |gravity| extent^2 / young.
static double estimate_sag(const sn_model *model, int32_t b) {
    const sn_model_body_data *body = &model->bodies[b];
    int32_t end = b + 1 < model->body_count ? model->bodies[b + 1].material_begin : model->material_count;
    double extent = sn_model_body_extent(model, b), softest = 0;
    for (int32_t m = body->material_begin; m < end; m++)
        softest = fmax(softest, model->materials[m].density / model->materials[m].young);
    return softest * sn_norm3(model->gravity) * extent * extent;
}

static void report_pieces(const sn_model *model, sn_model_info *info) {
    int32_t first = -1;
    for (int32_t p = model->piece_count - 1; p >= 0; p--)
        if (!model->piece_anchored[p])
            info->unanchored_piece_count++, first = p;
    for (int32_t n = model->node_count - 1, b = model->body_count - 1; n >= 0 && first >= 0; n--) {
        while (n < model->bodies[b].node_begin)
            b--;
        if (model->node_piece[n] == first)
            info->unanchored_nodes++, info->unanchored_body = model->bodies[b].name;
    }
}

sn_model_info sn_model_get_info(const sn_model *model) {
    sn_model_info info = {.body_count = model->body_count,
                          .node_count = model->node_count,
                          .tet_count = model->tet_count,
                          .shape_count = model->shape_count,
                          .contact_pair_count = model->pair_count,
                          .kept_node_count = model->kept_count,
                          .edge_mean = model->edge_mean};
    for (int32_t n = 0; n < model->node_count; n++)
        info.pinned_node_count += model->pinned[n];
    info.free_node_count = info.node_count - info.pinned_node_count;
    for (int32_t s = 0; s < model->spring_count; s++)
        info.attachment_count += model->targets[s].shape >= 0;
    info.spring_count = model->spring_count - info.attachment_count;
    for (int32_t b = 0; b < model->body_count; b++) {
        info.volume += model->bodies[b].volume;
        info.mass += model->bodies[b].mass;
        info.proxy_count += model->bodies[b].proxies.count;
        info.sag_estimate = fmax(info.sag_estimate, estimate_sag(model, b));
    }
    for (int32_t m = 0; m < model->material_count; m++)
        info.poisson_max = fmax(info.poisson_max, model->materials[m].poisson);
    memcpy(info.gravity, model->gravity, sizeof info.gravity);
    find_bounds(model->rest, model->node_count, info.low, info.high);
    report_pieces(model, &info);
    return info;
}

sn_body_info sn_model_body(const sn_model *model, int32_t body_index) {
    if (body_index < 0 || body_index >= model->body_count)
        return (sn_body_info){0};
    const sn_model_body_data *body = &model->bodies[body_index];
    return (sn_body_info){body->name,
                          body->node_begin,
                          body->node_count,
                          body->tet_begin,
                          body->tet_count,
                          body->embedded,
                          body->surface_vertex_count,
                          body->surface_triangle_count,
                          body->surface_triangles,
                          body->volume,
                          body->mass};
}

const sn_surface_look *sn_model_surface_look(const sn_model *model, int32_t body_index) {
    return body_index >= 0 && body_index < model->body_count ? &model->bodies[body_index].look : NULL;
}

const double *sn_model_rest_positions(const sn_model *model) {
    return model->rest;
}

const int32_t *sn_model_tets(const sn_model *model) {
    return model->tets;
}

const double *sn_model_masses(const sn_model *model) {
    return model->mass;
}

const bool *sn_model_pinned(const sn_model *model) {
    return model->pinned;
}

const sn_shape_def *sn_model_shape(const sn_model *model, int32_t shape_index) {
    return shape_index >= 0 && shape_index < model->shape_count ? &model->shapes[shape_index] : NULL;
}

void sn_model_shape_pose(const sn_model *model, int32_t shape_index, double time, double out_R[9],
                         double out_translation[3]) {
    bool exists = shape_index >= 0 && shape_index < model->shape_count;
    sn_frame_pose(model, exists ? model->shape_frame[shape_index] : SN_FRAME_WORLD, time, out_R,
                  out_translation);
}

sn_contact_pair_info sn_model_contact_pair(const sn_model *model, int32_t pair_index) {
    if (pair_index < 0 || pair_index >= model->pair_count)
        return (sn_contact_pair_info){0};
    const sn_contact_pair *pair = &model->pairs[pair_index];
    const sn_proxies *proxies = &model->bodies[pair->body].proxies;
    sn_contact_pair_info info = {pair->body,     pair->shape,     pair->other,    proxies->count,
                                 pair->friction, pair->stiffness, pair->stiffness};
    for (int32_t i = 0; i < proxies->count && pair->stiffness == 0; i++) {
        double stiffness = proxies->stiffness[i];
        info.stiffness_low = i == 0 ? stiffness : fmin(info.stiffness_low, stiffness);
        info.stiffness_high = fmax(info.stiffness_high, stiffness);
    }
    return info;
}

sn_context *sn_model_context(const sn_model *model) {
    return model->context;
}
