/// From a builder to a model: bodies one after another, pinned nodes in place, connected pieces.
#include "math/math_mat3.h"
#include "mesh/mesh_look.h"
#include "mesh/mesh_topology.h"
#include "sim/sim_builder.h"
#include "sim/sim_contact.h"
#include "sim/sim_shape.h"

#include <string.h>

static sn_status allocate(sn_model *model) {
    sn_status status = SN_OK;
    sn_context *ctx = model->context;
    size_t nodes = (size_t)model->node_count, tets = (size_t)model->tet_count;
    SN_TRY_NEW_ZEROED(ctx, model->bodies, model->body_count);
    SN_TRY_NEW(ctx, model->rest, 3 * nodes);
    SN_TRY_NEW(ctx, model->start_x, 3 * nodes);
    SN_TRY_NEW(ctx, model->start_v, 3 * nodes);
    SN_TRY_NEW(ctx, model->load, 3 * nodes);
    SN_TRY_NEW(ctx, model->mass, nodes);
    SN_TRY_NEW(ctx, model->node_volume, nodes);
    SN_TRY_NEW(ctx, model->pinned, nodes);
    SN_TRY_NEW(ctx, model->pin_frame, nodes);
    SN_TRY_NEW(ctx, model->node_piece, nodes);
    SN_TRY_NEW(ctx, model->tets, 4 * tets);
    SN_TRY_NEW(ctx, model->tet_volume, tets);
    SN_TRY_NEW(ctx, model->tet_fraction, tets);
    SN_TRY_NEW(ctx, model->tet_shape, 9 * tets);
    SN_TRY_NEW(ctx, model->tet_material, tets);
    SN_TRY_NEW(ctx, model->materials, model->material_count);
    SN_TRY_NEW_ZEROED(ctx, model->frames, model->frame_count);
    SN_TRY_NEW_ZEROED(ctx, model->shapes, model->shape_count);
cleanup:
    return status;
}

static void count_all(const sn_model_builder *builder, sn_model *model) {
    for (int32_t b = 0; b < builder->body_count; b++) {
        model->node_count += sn_mesh_node_count(builder->bodies[b].mesh);
        model->tet_count += sn_mesh_tet_count(builder->bodies[b].mesh);
        model->material_count += builder->bodies[b].material_count;
    }
    model->body_count = builder->body_count;
    model->frame_count = builder->frame_count;
    model->shape_count = builder->shape_count;
    model->spring_count = builder->spring_count;
    memcpy(model->gravity, builder->gravity, sizeof model->gravity);
}

static void copy_doubles(double *to, size_t begin, const double *from, int32_t count, size_t width) {
    memcpy(to + width * begin, from, width * (size_t)count * sizeof *to);
}

/// Nodes and tets of a body, at the places that out->node_begin and its like say.
static void copy_elements(const sn_builder_body *body, const sn_model_body_data *out, sn_model *model) {
    size_t node = (size_t)out->node_begin, tet = (size_t)out->tet_begin;
    const int32_t *tets = sn_mesh_tets(body->mesh);
    copy_doubles(model->rest, node, sn_mesh_positions(body->mesh), out->node_count, 3);
    copy_doubles(model->start_x, node, body->start_x, out->node_count, 3);
    copy_doubles(model->start_v, node, body->start_v, out->node_count, 3);
    copy_doubles(model->load, node, body->load, out->node_count, 3);
    copy_doubles(model->mass, node, body->mass, out->node_count, 1);
    copy_doubles(model->node_volume, node, body->node_volume, out->node_count, 1);
    copy_doubles(model->tet_volume, tet, body->tet_volume, out->tet_count, 1);
    copy_doubles(model->tet_fraction, tet, body->tet_fraction, out->tet_count, 1);
    copy_doubles(model->tet_shape, tet, body->tet_shape, out->tet_count, 9);
    for (int32_t n = 0; n < out->node_count; n++) {
        model->pin_frame[node + (size_t)n] = body->pin_frame[n];
        model->pinned[node + (size_t)n] = body->pin_frame[n] != SN_NODE_FREE;
    }
    for (size_t i = 0; i < 4 * (size_t)out->tet_count; i++)
        model->tets[4 * tet + i] = out->node_begin + tets[i];
    for (int32_t t = 0; t < out->tet_count; t++)
        model->tet_material[tet + (size_t)t] = out->material_begin + body->tet_material[t];
    memcpy(model->materials + out->material_begin, body->materials,
           (size_t)body->material_count * sizeof *body->materials);
}

static sn_status copy_surface(sn_context *ctx, const sn_builder_body *body, sn_model_body_data *out) {
    sn_status status = SN_OK;
    size_t vertices = (size_t)body->surface_vertex_count, triangles = (size_t)body->surface_triangle_count;
    out->embedded = body->embedded;
    out->surface_vertex_count = body->surface_vertex_count;
    out->surface_triangle_count = body->surface_triangle_count;
    SN_TRY(sn_new_copy(ctx, body->surface_triangles, 3 * triangles, sizeof(int32_t),
                       (void **)&out->surface_triangles));
    SN_TRY(
        sn_new_copy(ctx, body->surface_weight, 4 * vertices, sizeof(double), (void **)&out->surface_weight));
    SN_TRY_NEW(ctx, out->surface_node, 4 * vertices);
    for (size_t i = 0; i < 4 * vertices; i++)
        out->surface_node[i] = out->node_begin + body->surface_node[i];
    SN_TRY(sn_surface_look_copy(ctx, &body->look, body->surface_triangle_count, &out->look));
cleanup:
    return status;
}

static sn_status copy_bodies(const sn_model_builder *builder, sn_model *model) {
    sn_status status = SN_OK;
    int32_t node = 0, tet = 0, material = 0;
    for (int32_t b = 0; b < builder->body_count; b++) {
        const sn_builder_body *body = &builder->bodies[b];
        sn_model_body_data *out = &model->bodies[b];
        out->node_begin = node, out->node_count = sn_mesh_node_count(body->mesh);
        out->tet_begin = tet, out->tet_count = sn_mesh_tet_count(body->mesh);
        out->material_begin = material;
        out->volume = body->volume;
        for (int32_t n = 0; n < out->node_count; n++)
            out->mass += body->mass[n];
        SN_TRY(sn_new_text(model->context, body->name, &out->name));
        SN_TRY(copy_surface(model->context, body, out));
        SN_TRY(sn_tet_copies_copy(model->context, sn_mesh_copies(body->mesh), &out->copies));
        copy_elements(body, out, model);
        node += out->node_count, tet += out->tet_count, material += body->material_count;
    }
cleanup:
    return status;
}

static sn_status copy_frames_and_springs(const sn_model_builder *builder, sn_model *model) {
    sn_status status = SN_OK;
    sn_context *ctx = model->context;
    for (int32_t f = 0; f < model->frame_count; f++)
        SN_TRY(sn_frame_copy(ctx, &builder->frames[f], &model->frames[f]));
    for (int32_t s = 0; s < model->shape_count; s++)
        SN_TRY(sn_shape_copy(ctx, &builder->shapes[s], &model->shapes[s]));
    SN_TRY(sn_new_copy(ctx, builder->shape_frame, (size_t)model->shape_count, sizeof(int32_t),
                       (void **)&model->shape_frame));
    SN_TRY(sn_new_copy(ctx, builder->springs, (size_t)model->spring_count, sizeof(sn_spring),
                       (void **)&model->springs));
    SN_TRY(sn_new_copy(ctx, builder->targets, (size_t)model->spring_count, sizeof(sn_spring_target),
                       (void **)&model->targets));
cleanup:
    return status;
}

/// Pinned nodes start where their frames are at time 0, at rest.
static void place_pinned_nodes(sn_model *model) {
    for (int32_t n = 0; n < model->node_count; n++) {
        double R[9], translation[3], *x = model->start_x + 3 * (size_t)n, *v = model->start_v + 3 * (size_t)n;
        if (!model->pinned[n])
            continue;
        v[0] = v[1] = v[2] = 0;
        if (model->pin_frame[n] == SN_FRAME_WORLD)
            continue;
        sn_frame_pose(model, model->pin_frame[n], 0, R, translation);
        sn_mul3(R, model->rest + 3 * (size_t)n, x);
        for (int i = 0; i < 3; i++)
            x[i] += translation[i];
    }
}

static void join_pieces(const sn_model *model, int32_t *set) {
    for (int32_t n = 0; n < model->node_count; n++)
        set[n] = n;
    for (int32_t t = 0; t < model->tet_count; t++)
        for (size_t a = 1; a < 4; a++)
            sn_set_join(set, model->tets[4 * (size_t)t], model->tets[4 * (size_t)t + a]);
    for (int32_t s = 0; s < model->spring_count; s++)
        if (model->springs[s].b.node_count > 0)
            sn_set_join(set, model->springs[s].a.node[0], model->springs[s].b.node[0]);
}

/// Connected pieces, numbered by their first node, and whether something holds them.
static sn_status find_pieces(sn_model *model) {
    sn_status status = SN_OK;
    int32_t *set = NULL;
    SN_TRY_NEW(model->context, set, model->node_count);
    join_pieces(model, set);
    // The root of a set is its lowest node, which is numbered before the others.
    for (int32_t n = 0; n < model->node_count; n++) {
        int32_t root = sn_set_find(set, n);
        model->node_piece[n] = root == n ? model->piece_count++ : model->node_piece[root];
    }
    SN_TRY_NEW_ZEROED(model->context, model->piece_anchored, model->piece_count);
    for (int32_t n = 0; n < model->node_count; n++)
        if (model->pinned[n])
            model->piece_anchored[model->node_piece[n]] = true;
    for (int32_t s = 0; s < model->spring_count; s++)
        if (model->springs[s].b.node_count == 0)
            model->piece_anchored[model->node_piece[model->springs[s].a.node[0]]] = true;
cleanup:
    SN_RELEASE(model->context, set);
    return status;
}

sn_status sn_model_build(const sn_model_builder *builder, sn_model **out_model) {
    sn_status status = SN_OK;
    sn_model *model = NULL;
    if (!builder)
        return SN_ERR_INVALID_ARGUMENT;
    sn_context *ctx = builder->context;
    if (!out_model)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "sn_model_build: out_model is NULL");
    if (builder->body_count == 0)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "model: there is no body; add at least one");
    SN_TRY_NEW_ZEROED(ctx, model, 1);
    model->context = ctx;
    count_all(builder, model);
    SN_TRY(allocate(model));
    SN_TRY(copy_bodies(builder, model));
    SN_TRY(copy_frames_and_springs(builder, model));
    place_pinned_nodes(model);
    model->edge_mean = sn_model_mean_edge(model, 0, model->tet_count);
    SN_TRY(find_pieces(model));
    SN_TRY(sn_model_prepare_contact(builder, model));
    *out_model = model;
    model = NULL;
cleanup:
    sn_model_destroy(&model);
    return status;
}
