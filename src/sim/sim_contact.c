#include "sim/sim_contact.h"

#include "sim/sim_def.h"
#include "sim/sim_select.h"

#include <stdlib.h>
#include <string.h>

/// Default stiffness: so many times the material's metric weight over the mean edge. Stiff against the tets
/// behind, so that shapes go in by a small part of an edge, without slowing the solver.
static const double STIFFNESS_IN_MODULI = 10;

/// Spacing of a mesh's distance field, in mean edges of the smallest-edged body that may touch it.
static const double FIELD_SPACING = 0.5;

// ---- Building

static sn_status check_new_bodies(const sn_model_builder *builder, int32_t body, int32_t other) {
    for (int32_t p = 0; p < builder->pair_count; p++)
        if (builder->pairs[p].body == body && builder->pairs[p].other == other)
            return sn_fail(builder->context, SN_ERR_INVALID_ARGUMENT,
                           "contact: bodies %s and %s have one already; allowed: one contact for two bodies, "
                           "or a body and itself, with its friction and stiffness",
                           builder->bodies[body].name, builder->bodies[other].name);
    return SN_OK;
}

/// Adds the points of one body against the other, and the other way round.
static sn_status add_bodies(sn_model_builder *builder, const sn_contact_def *def, int32_t body,
                            int32_t other) {
    sn_status status = check_new_bodies(builder, body, other);
    if (status < 0)
        return status;
    sn_contact_pair pair = {body, -1, other, def->friction, def->stiffness};
    builder->pairs[builder->pair_count++] = pair;
    if (other == body)
        return SN_OK;
    pair.body = other, pair.other = body;
    builder->pairs[builder->pair_count++] = pair;
    return SN_OK;
}

static bool is_body_given(sn_body_id id) {
    return id.index1 != 0 || id.generation != 0;
}

static sn_status check_new_pair(const sn_model_builder *builder, int32_t body, int32_t shape) {
    for (int32_t p = 0; p < builder->pair_count; p++)
        if (builder->pairs[p].body == body && builder->pairs[p].shape == shape)
            return sn_fail(builder->context, SN_ERR_INVALID_ARGUMENT,
                           "contact: body %s and shape %s have one already; allowed: one contact for a body "
                           "and a shape, with its friction and stiffness",
                           builder->bodies[body].name, builder->shapes[shape].name);
    return SN_OK;
}

sn_status sn_model_add_contact(sn_model_builder *builder, const sn_contact_def *def) {
    sn_status status = SN_OK;
    int32_t body = 0, before = 0;
    if (!builder)
        return SN_ERR_INVALID_ARGUMENT;
    sn_context *ctx = builder->context;
    before = builder->pair_count;
    SN_TRY(sn_check_def(ctx, &sn_contact_fields, def));
    SN_TRY(sn_builder_find_body(builder, def->body, &body));
    bool has_other = is_body_given(def->other_body);
    if (def->shape_count < (has_other ? 0 : 1) || (def->shape_count > 0 && !def->shapes))
        SN_TRY(sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                       "contact: shape_count = %d, shapes %s: at least one is needed, or another body",
                       def->shape_count, def->shapes ? "given" : "NULL"));
    SN_TRY(sn_grow(ctx, (void **)&builder->pairs, &builder->pair_capacity,
                   (size_t)before + (size_t)def->shape_count + 2, sizeof *builder->pairs));
    if (has_other) {
        int32_t other = 0;
        SN_TRY(sn_builder_find_body(builder, def->other_body, &other));
        SN_TRY(add_bodies(builder, def, body, other));
    }
    for (int32_t s = 0; s < def->shape_count; s++) {
        sn_contact_pair pair = {body, 0, -1, def->friction, def->stiffness};
        SN_TRY(sn_builder_find_shape(builder, def->shapes[s], &pair.shape));
        SN_TRY(check_new_pair(builder, body, pair.shape));
        builder->pairs[builder->pair_count++] = pair;
    }
    return SN_OK;
cleanup:
    builder->pair_count = before;
    return status;
}

sn_status sn_model_add_zone(sn_model_builder *builder, sn_body_id body_id, const sn_selection *select,
                            int32_t *out_node_count) {
    sn_status status = SN_OK;
    int32_t b = 0, count = 0, *nodes = NULL;
    if (!builder)
        return SN_ERR_INVALID_ARGUMENT;
    sn_context *ctx = builder->context;
    if (!select)
        SN_TRY(sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "sn_model_add_zone: select is NULL"));
    SN_TRY(sn_builder_find_body(builder, body_id, &b));
    sn_builder_body *body = &builder->bodies[b];
    SN_TRY(sn_select_nodes(ctx, body, select, &count, &nodes));
    if (!body->zone)
        SN_TRY_NEW_ZEROED(ctx, body->zone, sn_mesh_node_count(body->mesh));
    for (int32_t i = 0; i < count; i++)
        body->zone[nodes[i]] = true;
    if (out_node_count)
        *out_node_count = count;
cleanup:
    SN_RELEASE(ctx, nodes);
    return status;
}

// ---- In the model

static int compare_pairs(const void *a, const void *b) {
    const sn_contact_pair *p = a, *q = b;
    if (p->body != q->body)
        return p->body < q->body ? -1 : 1;
    if (p->other != q->other)
        return p->other < q->other ? -1 : 1;
    return (p->shape > q->shape) - (p->shape < q->shape);
}

/// Pressure per depth that each tet of a body asks for. Tets that hold little are soft: were the contact as
/// stiff on them as on others, the minimizer would spend its iterations on nodes that count for nothing.
static void tet_stiffness(const sn_model *model, const sn_model_body_data *body, double edge, double *out) {
    for (int32_t t = 0; t < body->tet_count; t++) {
        const sn_material_def *material = &model->materials[model->tet_material[body->tet_begin + t]];
        const sn_material_info *info = sn_material_info_of(material->model);
        double mu, lambda;
        sn_material_moduli(material, &mu, &lambda);
        out[t] = model->tet_fraction[body->tet_begin + t] * STIFFNESS_IN_MODULI *
                 (info->weight_mu * mu + info->weight_lambda * lambda) / edge;
    }
}

static sn_status find_proxies(sn_model *model, sn_model_body_data *body) {
    sn_status status = SN_OK;
    double *stiffness = NULL, edge = sn_model_mean_edge(model, body->tet_begin, body->tet_count);
    SN_TRY_NEW(model->context, stiffness, body->tet_count);
    tet_stiffness(model, body, edge, stiffness);
    sn_proxy_source source = {.rest = model->rest,
                              .tet_begin = body->tet_begin,
                              .tet_count = body->tet_count,
                              .tets = model->tets,
                              .tet_stiffness = stiffness,
                              .copies = &body->copies,
                              .node_begin = body->node_begin,
                              .node_count = body->node_count,
                              .vertex_count = body->surface_vertex_count,
                              .vertex_node = body->surface_node,
                              .vertex_weight = body->surface_weight,
                              .triangle_count = body->surface_triangle_count,
                              .triangles = body->surface_triangles,
                              .spacing = edge,
                              .pinned = model->pinned};
    SN_TRY(sn_proxies_create(model->context, &source, &body->proxies));
cleanup:
    SN_RELEASE(model->context, stiffness);
    if (status < 0)
        sn_message_prefix(model->context, "body %s: ", body->name);
    return status;
}

/// Proxies of the bodies in pairs, and how fine the fields of the shapes must be.
static sn_status find_all_proxies(sn_model *model, double *spacing) {
    for (int32_t p = 0; p < model->pair_count; p++) {
        const sn_contact_pair *pair = &model->pairs[p];
        sn_model_body_data *body = &model->bodies[pair->body];
        // Pairs are ordered by body.
        if (p == 0 || model->pairs[p - 1].body != pair->body) {
            sn_status status = find_proxies(model, body);
            if (status < 0)
                return status;
        }
        if (pair->shape < 0)
            continue;
        double wanted = FIELD_SPACING * body->proxies.edge, *found = spacing + pair->shape;
        *found = *found > 0 ? fmin(*found, wanted) : wanted;
    }
    return SN_OK;
}

/// Marks the nodes of a body's points that lie in its zone: those whose heaviest node does.
static void mark_kept(const sn_model *model, const sn_model_body_data *body, const bool *zone, bool *kept) {
    const sn_proxies *proxies = &body->proxies;
    for (size_t i = 0; i < (size_t)proxies->count; i++) {
        const int32_t *node = proxies->node + 4 * i;
        const double *weight = proxies->weight + 4 * i;
        int heaviest = 0;
        for (int a = 1; a < 4; a++)
            heaviest = weight[a] > weight[heaviest] ? a : heaviest;
        for (int a = 0; zone[node[heaviest] - body->node_begin] && a < 4; a++)
            if (weight[a] != 0 && !model->pinned[node[a]])
                kept[node[a]] = true;
    }
}

/// Marks the nodes that the zones of a body keep; refuses zones that hold nothing.
static sn_status mark_zone(const sn_model *model, int32_t b, const bool *zone, bool *kept) {
    const sn_model_body_data *body = &model->bodies[b];
    if (!zone)
        return SN_OK;
    if (body->proxies.count == 0)
        return sn_fail(
            model->context, SN_ERR_INVALID_ARGUMENT,
            "body %s has a contact zone, but no point of its surface that could touch anything: it needs a "
            "contact, and nodes that are not pinned",
            body->name);
    mark_kept(model, body, zone, kept);
    for (int32_t n = 0; n < body->node_count; n++)
        if (kept[body->node_begin + n])
            return SN_OK;
    return sn_fail(model->context, SN_ERR_INVALID_ARGUMENT,
                   "the contact zones of body %s hold no point of its surface: they must reach its surface",
                   body->name);
}

/// Lists the nodes that are kept, ascending.
static sn_status find_kept(const sn_model_builder *builder, sn_model *model) {
    sn_context *ctx = model->context;
    sn_status status = SN_OK;
    bool *kept = NULL;
    SN_TRY_NEW_ZEROED(ctx, kept, model->node_count);
    for (int32_t b = 0; b < model->body_count; b++)
        SN_TRY(mark_zone(model, b, builder->bodies[b].zone, kept));
    for (int32_t i = 0; i < model->node_count; i++)
        model->kept_count += kept[i];
    SN_TRY_NEW(ctx, model->kept, model->kept_count);
    for (int32_t i = 0, count = 0; i < model->node_count; i++)
        if (kept[i])
            model->kept[count++] = i;
cleanup:
    SN_RELEASE(ctx, kept);
    return status;
}

/// Bodies that are the other side of a pair.
static sn_status make_solids(sn_model *model) {
    sn_status status = SN_OK;
    SN_TRY_NEW_ZEROED(model->context, model->contact_solid, model->body_count);
    for (int32_t p = 0; p < model->pair_count; p++) {
        int32_t other = model->pairs[p].other;
        if (other < 0 || model->contact_solid[other])
            continue;
        const sn_model_body_data *body = &model->bodies[other];
        sn_solid_source source = {.rest = model->rest,
                                  .tet_begin = body->tet_begin,
                                  .tet_count = body->tet_count,
                                  .tets = model->tets,
                                  .copies = &body->copies,
                                  .vertex_count = body->surface_vertex_count,
                                  .vertex_node = body->surface_node,
                                  .vertex_weight = body->surface_weight,
                                  .triangle_count = body->surface_triangle_count,
                                  .triangles = body->surface_triangles,
                                  .edge = sn_model_mean_edge(model, body->tet_begin, body->tet_count),
                                  .embedded = body->embedded};
        SN_TRY(sn_contact_solid_create(model->context, &source, &model->contact_solid[other]));
    }
cleanup:
    return status;
}

sn_status sn_model_prepare_contact(const sn_model_builder *builder, sn_model *model) {
    sn_status status = SN_OK;
    sn_context *ctx = model->context;
    double *spacing = NULL;
    model->pair_count = builder->pair_count;
    SN_TRY(sn_new_copy(ctx, builder->pairs, (size_t)builder->pair_count, sizeof *builder->pairs,
                       (void **)&model->pairs));
    if (model->pair_count > 0)
        qsort(model->pairs, (size_t)model->pair_count, sizeof *model->pairs, compare_pairs);
    SN_TRY_NEW_ZEROED(ctx, model->contact_shape, model->shape_count);
    SN_TRY_NEW_ZEROED(ctx, spacing, model->shape_count);
    SN_TRY(find_all_proxies(model, spacing));
    for (int32_t s = 0; s < model->shape_count; s++)
        if (spacing[s] > 0)
            SN_TRY(sn_contact_shape_create(ctx, &model->shapes[s], spacing[s], &model->contact_shape[s]));
    SN_TRY(find_kept(builder, model));
    SN_TRY(make_solids(model));
    SN_TRY_NEW(ctx, model->body_proxies, model->body_count);
    for (int32_t b = 0; b < model->body_count; b++)
        model->body_proxies[b] = &model->bodies[b].proxies;
    model->contact = (sn_contact_source){.pair_count = model->pair_count,
                                         .body_count = model->body_count,
                                         .shape_count = model->shape_count,
                                         .rest = model->rest,
                                         .pairs = model->pairs,
                                         .solids = (const sn_contact_solid *const *)model->contact_solid,
                                         .proxies = model->body_proxies,
                                         .shapes = (const sn_contact_shape *const *)model->contact_shape,
                                         .pinned = model->pinned};
cleanup:
    SN_RELEASE(ctx, spacing);
    return status;
}
