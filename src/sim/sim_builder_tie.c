/// Pins, loads and springs.
#include "math/math_mat3.h"
#include "sim/sim_builder.h"
#include "sim/sim_def.h"
#include "sim/sim_select.h"

#include <string.h>

sn_status sn_pin_claim_begin(const sn_model_builder *builder, const sn_builder_body *body,
                             sn_pin_claim *out_claim) {
    sn_pin_claim claim = {.builder = builder, .body = body};
    sn_status status = sn_new_copy(builder->context, body->pin_frame, (size_t)sn_mesh_node_count(body->mesh),
                                   sizeof(int32_t), (void **)&claim.pin_frame);
    if (status == SN_OK)
        *out_claim = claim;
    return status;
}

/// Where a frame's pose [12] puts a pinned node: frames carry rest places, the world keeps start places.
static void pinned_place(const sn_builder_body *body, int32_t node, int32_t frame, const double *pose,
                         double out[3]) {
    const double *X = sn_mesh_positions(body->mesh) + 3 * (size_t)node;
    if (frame == SN_FRAME_WORLD) {
        memcpy(out, body->start_x + 3 * (size_t)node, 3 * sizeof *out);
        return;
    }
    sn_mul3(pose, X, out);
    for (int i = 0; i < 3; i++)
        out[i] += pose[9 + i];
}

static const char *frame_name(const sn_model_builder *builder, int32_t frame) {
    return frame == SN_FRAME_WORLD ? "world" : builder->frames[frame].name;
}

sn_status sn_pin_claim_node(sn_pin_claim *claim, int32_t node, int32_t frame) {
    const sn_model_builder *builder = claim->builder;
    int32_t held = claim->pin_frame[node];
    if (held == SN_NODE_FREE)
        claim->pin_frame[node] = frame;
    if (held == SN_NODE_FREE || held == frame)
        return SN_OK;
    sn_status status = sn_frame_pair_set(builder->context, builder->frames, held, frame, &claim->pair);
    if (status < 0)
        return status;
    for (int32_t i = 0; i < claim->pair.count; i++) {
        const double *pose = claim->pair.pose + 24 * (size_t)i;
        double a[3], b[3];
        pinned_place(claim->body, node, held, pose, a);
        pinned_place(claim->body, node, frame, pose + 12, b);
        if (sn_distance3(a, b) > SN_PLACE_SLACK * claim->body->size)
            return sn_fail(
                builder->context, SN_ERR_INVALID_ARGUMENT,
                "node %d of body %s is pinned to frame %s and to frame %s, which are %g m apart there at "
                "%g s: pin it to one of them only",
                node, claim->body->name, frame_name(builder, held), frame_name(builder, frame),
                sn_distance3(a, b), claim->pair.time[i]);
    }
    return SN_OK;
}

void sn_pin_claim_commit(const sn_pin_claim *claim, sn_builder_body *body) {
    memcpy(body->pin_frame, claim->pin_frame, (size_t)sn_mesh_node_count(body->mesh) * sizeof(int32_t));
}

void sn_pin_claim_end(sn_pin_claim *claim) {
    if (!claim->builder)
        return;
    sn_frame_pair_clear(claim->builder->context, &claim->pair);
    SN_RELEASE(claim->builder->context, claim->pin_frame);
}

sn_status sn_model_add_pin(sn_model_builder *builder, const sn_pin_def *def, int32_t *out_node_count) {
    sn_status status = SN_OK;
    int32_t b = 0, frame = SN_FRAME_WORLD, count = 0, *nodes = NULL;
    sn_pin_claim claim = {0};
    if (!builder)
        return SN_ERR_INVALID_ARGUMENT;
    sn_context *ctx = builder->context;
    SN_TRY(sn_check_def(ctx, &sn_pin_fields, def));
    SN_TRY(sn_builder_find_body(builder, def->body, &b));
    SN_TRY(sn_builder_find_frame(builder, def->frame, &frame));
    SN_TRY(sn_select_nodes(ctx, &builder->bodies[b], &def->select, &count, &nodes));
    SN_TRY(sn_pin_claim_begin(builder, &builder->bodies[b], &claim));
    for (int32_t i = 0; i < count; i++)
        SN_TRY(sn_pin_claim_node(&claim, nodes[i], frame));
    sn_pin_claim_commit(&claim, &builder->bodies[b]);
    if (out_node_count)
        *out_node_count = count;
cleanup:
    sn_pin_claim_end(&claim);
    SN_RELEASE(ctx, nodes);
    return status;
}

/// Shares by the area of boundary triangles whose nodes are all selected; `share` [nodes] holds 1 at selected
/// nodes.
static sn_status spread_by_area(sn_context *ctx, const sn_builder_body *body, double *share) {
    sn_status status = SN_OK;
    int32_t nodes = sn_mesh_node_count(body->mesh), triangles = 0;
    const int32_t *corner = sn_mesh_surface(body->mesh, &triangles);
    const double *X = sn_mesh_positions(body->mesh);
    double *area = NULL, total = 0;
    SN_TRY_NEW_ZEROED(ctx, area, nodes);
    for (int32_t t = 0; t < triangles; t++, corner += 3) {
        if (share[corner[0]] == 0 || share[corner[1]] == 0 || share[corner[2]] == 0)
            continue;
        double ab[3], ac[3], normal[3];
        sn_sub3(X + 3 * (size_t)corner[1], X + 3 * (size_t)corner[0], ab);
        sn_sub3(X + 3 * (size_t)corner[2], X + 3 * (size_t)corner[0], ac);
        sn_cross3(ab, ac, normal);
        for (int a = 0; a < 3; a++)
            area[corner[a]] += sn_norm3(normal) / 6;
        total += sn_norm3(normal) / 2;
    }
    if (!(total > 0))
        SN_TRY(sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                       "spread by area: the selection holds no whole boundary triangle of body %s",
                       body->name));
    memcpy(share, area, (size_t)nodes * sizeof *share);
cleanup:
    SN_RELEASE(ctx, area);
    return status;
}

/// Shares [nodes] of a load, not yet scaled to sum 1.
static sn_status spread_load(sn_context *ctx, const sn_builder_body *body, sn_load_spread spread,
                             int32_t count, const int32_t *nodes, double *share) {
    for (int32_t i = 0; i < count; i++)
        share[nodes[i]] = spread == SN_SPREAD_MASS ? body->mass[nodes[i]] : 1;
    return spread == SN_SPREAD_AREA ? spread_by_area(ctx, body, share) : SN_OK;
}

sn_status sn_model_add_load(sn_model_builder *builder, const sn_load_def *def, int32_t *out_node_count) {
    sn_status status = SN_OK;
    int32_t b = 0, count = 0, *nodes = NULL;
    double *share = NULL, total = 0;
    if (!builder)
        return SN_ERR_INVALID_ARGUMENT;
    sn_context *ctx = builder->context;
    SN_TRY(sn_check_def(ctx, &sn_load_fields, def));
    SN_TRY(sn_builder_find_body(builder, def->body, &b));
    sn_builder_body *body = &builder->bodies[b];
    SN_TRY(sn_select_nodes(ctx, body, &def->select, &count, &nodes));
    SN_TRY_NEW_ZEROED(ctx, share, sn_mesh_node_count(body->mesh));
    SN_TRY(spread_load(ctx, body, def->spread, count, nodes, share));
    for (int32_t i = 0; i < count; i++)
        total += share[nodes[i]];
    for (int32_t i = 0; i < count; i++)
        for (int c = 0; c < 3; c++)
            body->load[3 * (size_t)nodes[i] + (size_t)c] += def->force[c] * (share[nodes[i]] / total);
    if (out_node_count)
        *out_node_count = count;
cleanup:
    SN_RELEASE(ctx, share);
    SN_RELEASE(ctx, nodes);
    return status;
}

sn_status sn_builder_add_springs(sn_model_builder *builder, int32_t count, const sn_spring *springs,
                                 const sn_spring_target *targets) {
    sn_context *ctx = builder->context;
    size_t old = (size_t)builder->spring_count, wanted = old + (size_t)count;
    if (wanted > INT32_MAX)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                       "the model would have %zu springs; at most %d are possible", wanted, INT32_MAX);
    sn_status status =
        sn_grow(ctx, (void **)&builder->springs, &builder->spring_capacity, wanted, sizeof *springs);
    if (status == SN_OK)
        status = sn_grow(ctx, (void **)&builder->targets, &builder->target_capacity, wanted, sizeof *targets);
    if (status < 0)
        return status;
    memcpy(builder->springs + old, springs, (size_t)count * sizeof *springs);
    memcpy(builder->targets + old, targets, (size_t)count * sizeof *targets);
    builder->spring_count = (int32_t)wanted;
    return SN_OK;
}

void sn_spring_end_embed(const sn_builder_body *body, int32_t tet, const double weight[4],
                         sn_spring_end *out_end) {
    const int32_t *corner = sn_mesh_tets(body->mesh) + 4 * (size_t)tet;
    sn_spring_end end = {.node_count = 4};
    double total = 0;
    // The metric of a spring needs weights that are not negative: points outside move onto the tet.
    for (int a = 0; a < 4; a++)
        total += fmax(0, weight[a]);
    for (int a = 0; a < 4; a++) {
        end.node[a] = body->node_begin + corner[a];
        end.weight[a] = fmax(0, weight[a]) / total;
    }
    for (int a = 0; a < 4; a++)
        if (end.weight[a] >= 1 - SN_PLACE_SLACK) {
            *out_end = (sn_spring_end){1, {body->node_begin + corner[a]}, {1}};
            return;
        }
    *out_end = end;
}

/// Embeds a rest place in a body; `out_place` is where the end really is.
static sn_status embed_end(const sn_model_builder *builder, const char *field, int32_t b,
                           const double point[3], sn_spring_end *out_end, double out_place[3]) {
    sn_status status = SN_OK;
    const sn_builder_body *body = &builder->bodies[b];
    const double *X = sn_mesh_positions(body->mesh);
    sn_embedding *embedding = NULL;
    SN_TRY(sn_check_finite(builder->context, field, 3, point));
    SN_TRY(sn_embedding_create(body->mesh, 1, point, NULL, &embedding));
    sn_spring_end_embed(body, embedding->tet[0], embedding->weight, out_end);
    memset(out_place, 0, 3 * sizeof *out_place);
    for (int32_t a = 0; a < out_end->node_count; a++)
        for (int i = 0; i < 3; i++)
            out_place[i] +=
                out_end->weight[a] * X[3 * (size_t)(out_end->node[a] - body->node_begin) + (size_t)i];
    double gap = sn_distance3(point, out_place);
    if (gap > SN_PLACE_SLACK * body->size)
        sn_log(builder->context, SN_LOG_WARNING, "spring: %s lies outside body %s; moved by %g m onto it",
               field, body->name, gap);
cleanup:
    sn_embedding_destroy(&embedding);
    return status;
}

/// The second end: in a body, or carried by a frame.
static sn_status make_second_end(const sn_model_builder *builder, const sn_spring_def *def,
                                 sn_spring_end *out_end, sn_spring_target *out_target, double out_place[3]) {
    sn_status status = SN_OK;
    int32_t b = 0;
    if (def->body2.index1 != 0 || def->body2.generation != 0) {
        SN_TRY(sn_builder_find_body(builder, def->body2, &b));
        return embed_end(builder, "point2", b, def->point2, out_end, out_place);
    }
    SN_TRY(sn_check_finite(builder->context, "point2", 3, def->point2));
    SN_TRY(sn_builder_find_frame(builder, def->frame2, &out_target->frame));
    memcpy(out_target->point, def->point2, sizeof out_target->point);
    memcpy(out_place, def->point2, sizeof out_target->point);
cleanup:
    return status;
}

static bool is_same_end(const sn_spring_end *a, const sn_spring_end *b) {
    return a->node_count == b->node_count && memcmp(a->node, b->node, sizeof a->node) == 0 &&
           memcmp(a->weight, b->weight, sizeof a->weight) == 0;
}

sn_status sn_model_add_spring(sn_model_builder *builder, const sn_spring_def *def) {
    sn_status status = SN_OK;
    int32_t b = 0;
    sn_spring spring = {0};
    sn_spring_target target = {.frame = SN_FRAME_WORLD, .shape = -1};
    double place[3], place2[3];
    if (!builder)
        return SN_ERR_INVALID_ARGUMENT;
    sn_context *ctx = builder->context;
    SN_TRY(sn_check_def(ctx, &sn_spring_fields, def));
    SN_TRY(sn_builder_find_body(builder, def->body, &b));
    SN_TRY(embed_end(builder, "point", b, def->point, &spring.a, place));
    SN_TRY(make_second_end(builder, def, &spring.b, &target, place2));
    if (is_same_end(&spring.a, &spring.b))
        SN_TRY(sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "spring: point and point2 are the same place of body %s",
                       builder->bodies[b].name));
    spring.stiffness = def->stiffness;
    spring.rest_length = def->rest_length < 0 ? sn_distance3(place, place2) : def->rest_length;
    SN_TRY(sn_builder_add_springs(builder, 1, &spring, &target));
cleanup:
    return status;
}
