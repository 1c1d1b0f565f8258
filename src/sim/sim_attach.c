/// Attachments of bodies to rigid shapes.
#include "contact/contact_shape.h"
#include "elastic/elastic.h"
#include "math/math_mat3.h"
#include "sim/sim_builder.h"
#include "sim/sim_def.h"
#include "sim/sim_shape.h"

#include <string.h>

/// A spring's default stiffness, in diagonals of the metric: stiff against the tissue around it, without
/// slowing the solver.
static const double STIFFNESS_IN_DIAGONALS = 10;

/// Distance that samples keep from another moving bone, in its radii: 90 degrees at a joint then leave them
/// apart.
static const double CLEARANCE = 2;

/// An attachment being added.
typedef struct attach_job {
    sn_model_builder *builder;
    const sn_attachment_def *def;
    sn_builder_body *body;
    int32_t *shape;           ///< [def->shape_count] indices of the builder's shapes
    sn_contact_shape **probe; ///< [def->shape_count]
    double nearest;           ///< smallest distance seen, m, for the message when nothing is in reach
    int32_t spring_count;
    size_t spring_capacity, target_capacity;
    sn_spring *springs;
    sn_spring_target *targets;
} attach_job;

static void end_job(attach_job *job) {
    sn_context *ctx = job->builder->context;
    for (int32_t s = 0; job->probe && s < job->def->shape_count; s++)
        sn_contact_shape_destroy(ctx, &job->probe[s]);
    SN_RELEASE(ctx, job->probe);
    SN_RELEASE(ctx, job->shape);
    SN_RELEASE(ctx, job->springs);
    SN_RELEASE(ctx, job->targets);
}

/// What the field table does not hold.
static sn_status check_kind(sn_context *ctx, const sn_attachment_def *def) {
    if (def->kind != SN_ATTACH_NODES && def->kind != SN_ATTACH_SAMPLES)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                       "attachment: kind = %d: must be nodes (0) or samples (1)", (int)def->kind);
    if (def->shape_count < 1 || !def->shapes)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                       "attachment: shape_count = %d, shapes %s: at least one is needed", def->shape_count,
                       def->shapes ? "given" : "NULL");
    if (def->hard && def->kind == SN_ATTACH_SAMPLES)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                       "attachment: hard: samples cannot be attached hard, only nodes can");
    return SN_OK;
}

static sn_status begin_job(attach_job *job, sn_body_id body) {
    sn_status status = SN_OK;
    sn_context *ctx = job->builder->context;
    int32_t b = 0, shapes = job->def->shape_count;
    SN_TRY(sn_builder_find_body(job->builder, body, &b));
    job->body = &job->builder->bodies[b];
    SN_TRY_NEW(ctx, job->shape, shapes);
    SN_TRY_NEW_ZEROED(ctx, job->probe, shapes);
    for (int32_t s = 0; s < shapes; s++) {
        SN_TRY(sn_builder_find_shape(job->builder, job->def->shapes[s], &job->shape[s]));
        SN_TRY(sn_contact_shape_create(ctx, &job->builder->shapes[job->shape[s]], 0, &job->probe[s]));
    }
cleanup:
    return status;
}

/// Diagonal of the metric of a body's tets, made once.
static sn_status need_stiffness(attach_job *job) {
    sn_status status = SN_OK;
    sn_builder_body *body = job->body;
    double *diagonal = NULL;
    if (body->stiffness || job->def->stiffness > 0)
        return SN_OK;
    sn_elastic_def def = {.node_count = sn_mesh_node_count(body->mesh),
                          .rest = sn_mesh_positions(body->mesh),
                          .tet_count = sn_mesh_tet_count(body->mesh),
                          .tets = sn_mesh_tets(body->mesh),
                          .tet_fraction = body->tet_fraction,
                          .material_count = body->material_count,
                          .materials = body->materials,
                          .tet_material = body->tet_material};
    SN_TRY_NEW_ZEROED(job->builder->context, diagonal, def.node_count);
    sn_elastic_tet_diagonal(&def, diagonal);
    body->stiffness = diagonal;
cleanup:
    return status;
}

static sn_status append_spring(attach_job *job, const sn_spring_end *end, const double point[3], int32_t s) {
    sn_status status = SN_OK;
    sn_context *ctx = job->builder->context;
    size_t count = (size_t)job->spring_count + 1;
    int32_t shape = job->shape[s];
    sn_spring spring = {.a = *end, .stiffness = job->def->stiffness};
    sn_spring_target target = {job->builder->shape_frame[shape], shape, {point[0], point[1], point[2]}};
    if (spring.stiffness == 0)
        for (int32_t a = 0; a < end->node_count; a++)
            spring.stiffness += STIFFNESS_IN_DIAGONALS * end->weight[a] *
                                job->body->stiffness[end->node[a] - job->body->node_begin];
    SN_TRY(sn_grow(ctx, (void **)&job->springs, &job->spring_capacity, count, sizeof spring));
    SN_TRY(sn_grow(ctx, (void **)&job->targets, &job->target_capacity, count, sizeof target));
    job->springs[count - 1] = spring;
    job->targets[count - 1] = target;
    job->spring_count = (int32_t)count;
cleanup:
    return status;
}

/// The shape (by its place in the definition) that is nearest to a rest place, the first of equals.
static int32_t nearest_shape(attach_job *job, const double x[3], double *out_distance) {
    int32_t best = 0;
    *out_distance = HUGE_VAL;
    for (int32_t s = 0; s < job->def->shape_count; s++) {
        double distance = sn_contact_shape_distance(job->probe[s], x);
        if (distance < *out_distance)
            best = s, *out_distance = distance;
    }
    job->nearest = fmin(job->nearest, *out_distance);
    return best;
}

static sn_status attach_nodes_soft(attach_job *job) {
    const double *X = sn_mesh_positions(job->body->mesh);
    double reach = job->def->distance + SN_PLACE_SLACK * job->body->size;
    for (int32_t n = 0; n < sn_mesh_node_count(job->body->mesh); n++) {
        double distance;
        int32_t s = nearest_shape(job, X + 3 * (size_t)n, &distance);
        if (distance > reach || job->body->stray[n])
            continue;
        sn_spring_end end = {1, {job->body->node_begin + n}, {1}};
        sn_status status = append_spring(job, &end, X + 3 * (size_t)n, s);
        if (status < 0)
            return status;
    }
    return SN_OK;
}

/// Every shape claims the nodes in its reach; two that move apart must not meet.
static sn_status attach_nodes_hard(attach_job *job, int32_t *out_count) {
    sn_status status = SN_OK;
    const sn_model_builder *builder = job->builder;
    const double *X = sn_mesh_positions(job->body->mesh);
    double reach = job->def->distance + SN_PLACE_SLACK * job->body->size;
    sn_pin_claim claim = {0};
    int32_t count = 0;
    SN_TRY(sn_pin_claim_begin(builder, job->body, &claim));
    for (int32_t n = 0; n < sn_mesh_node_count(job->body->mesh); n++) {
        bool claimed = false;
        for (int32_t s = 0; s < job->def->shape_count; s++) {
            double distance = sn_contact_shape_distance(job->probe[s], X + 3 * (size_t)n);
            job->nearest = fmin(job->nearest, distance);
            if (distance > reach || job->body->stray[n])
                continue;
            SN_TRY(sn_pin_claim_node(&claim, n, builder->shape_frame[job->shape[s]]));
            claimed = true;
        }
        count += claimed;
    }
    sn_pin_claim_commit(&claim, job->body);
    *out_count = count;
cleanup:
    sn_pin_claim_end(&claim);
    return status;
}

/// How near samples may come to a shape: its thickness where it is round and moves on a frame of its own,
/// because a joint that bends would pull the tissue of both bones through each other; else its surface.
static double clearance_of(const attach_job *job, int32_t s, int32_t other) {
    const sn_model_builder *builder = job->builder;
    const sn_shape_def *shape = &builder->shapes[job->shape[other]];
    bool is_round = shape->kind == SN_SHAPE_CAPSULE || shape->kind == SN_SHAPE_SPHERE;
    bool moves = builder->shape_frame[job->shape[s]] != builder->shape_frame[job->shape[other]];
    return is_round && moves ? CLEARANCE * shape->radius : 0;
}

/// Whether a sample of shape s lies inside another shape of the attachment, or too near to it: where bones
/// meet, tissue would be tied to both. On shared surface the earlier shape keeps the sample.
static bool is_buried(const attach_job *job, int32_t s, const double x[3]) {
    double slack = SN_PLACE_SLACK * job->body->size;
    for (int32_t other = 0; other < job->def->shape_count; other++) {
        if (other == s)
            continue;
        double distance = sn_contact_shape_distance(job->probe[other], x) - clearance_of(job, s, other);
        if (distance < -slack || (distance <= slack && other < s))
            return true;
    }
    return false;
}

static bool is_inside(const double weight[4]) {
    return weight[0] >= -SN_PLACE_SLACK && weight[1] >= -SN_PLACE_SLACK && weight[2] >= -SN_PLACE_SLACK &&
           weight[3] >= -SN_PLACE_SLACK;
}

/// Samples of all shapes in one list: a search tree over the body's tets is made for each list.
typedef struct sample_list {
    int32_t count;
    size_t point_capacity, shape_capacity;
    double *point;  ///< [count, 3]
    int32_t *shape; ///< [count] place in the definition
} sample_list;

static sn_status append_samples(attach_job *job, int32_t s, sample_list *list) {
    sn_status status = SN_OK;
    sn_context *ctx = job->builder->context;
    double *points = NULL;
    int32_t count = 0;
    SN_TRY(sn_shape_sample(ctx, &job->builder->shapes[job->shape[s]], job->def->spacing, &count, &points));
    size_t wanted = (size_t)list->count + (size_t)count;
    if (wanted > SN_SHAPE_SAMPLES_MAX)
        SN_TRY(sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "spacing: too fine, it gives more than %d samples",
                       SN_SHAPE_SAMPLES_MAX));
    SN_TRY(sn_grow(ctx, (void **)&list->point, &list->point_capacity, wanted, 3 * sizeof *list->point));
    SN_TRY(sn_grow(ctx, (void **)&list->shape, &list->shape_capacity, wanted, sizeof *list->shape));
    memcpy(list->point + 3 * (size_t)list->count, points, 3 * (size_t)count * sizeof *points);
    for (int32_t i = 0; i < count; i++)
        list->shape[list->count++] = s;
cleanup:
    SN_RELEASE(ctx, points);
    return status;
}

static sn_status collect_samples(attach_job *job, sample_list *list) {
    for (int32_t s = 0; s < job->def->shape_count; s++) {
        sn_status status = append_samples(job, s, list);
        if (status < 0) {
            sn_message_prefix(job->builder->context,
                              "attachment: shape %s: ", job->builder->shapes[job->shape[s]].name);
            return status;
        }
    }
    return SN_OK;
}

static sn_status attach_samples(attach_job *job) {
    sn_status status = SN_OK;
    sn_context *ctx = job->builder->context;
    sample_list list = {0};
    sn_embedding *embedding = NULL;
    SN_TRY(collect_samples(job, &list));
    SN_TRY(sn_embedding_create(job->body->mesh, list.count, list.point, NULL, &embedding));
    for (int32_t i = 0; i < list.count; i++) {
        const double *point = list.point + 3 * (size_t)i, *weight = embedding->weight + 4 * (size_t)i;
        sn_spring_end end;
        if (!is_inside(weight) || is_buried(job, list.shape[i], point))
            continue;
        sn_spring_end_embed(job->body, embedding->tet[i], weight, &end);
        SN_TRY(append_spring(job, &end, point, list.shape[i]));
    }
cleanup:
    sn_embedding_destroy(&embedding);
    SN_RELEASE(ctx, list.point);
    SN_RELEASE(ctx, list.shape);
    return status;
}

static sn_status fail_out_of_reach(const attach_job *job) {
    sn_context *ctx = job->builder->context;
    if (job->def->kind == SN_ATTACH_NODES)
        return sn_fail(
            ctx, SN_ERR_INVALID_ARGUMENT,
            "attachment: no node of body %s lies within %g m of the shapes; the nearest is %g m away",
            job->body->name, job->def->distance, job->nearest);
    return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                   "attachment: no sample of the shapes lies inside body %s, which reaches from [%g, %g, %g] "
                   "to [%g, %g, %g]",
                   job->body->name, job->body->low[0], job->body->low[1], job->body->low[2],
                   job->body->high[0], job->body->high[1], job->body->high[2]);
}

static sn_status attach_soft(attach_job *job, int32_t *out_count) {
    sn_status status = SN_OK;
    SN_TRY(need_stiffness(job));
    SN_TRY(job->def->kind == SN_ATTACH_NODES ? attach_nodes_soft(job) : attach_samples(job));
    if (job->spring_count > 0)
        SN_TRY(sn_builder_add_springs(job->builder, job->spring_count, job->springs, job->targets));
    *out_count = job->spring_count;
cleanup:
    return status;
}

sn_status sn_model_add_attachment(sn_model_builder *builder, const sn_attachment_def *def,
                                  int32_t *out_point_count) {
    sn_status status = SN_OK;
    int32_t count = 0;
    attach_job job = {.builder = builder, .def = def, .nearest = HUGE_VAL};
    if (!builder)
        return SN_ERR_INVALID_ARGUMENT;
    sn_context *ctx = builder->context;
    SN_TRY(sn_check_def(ctx, &sn_attachment_fields, def));
    SN_TRY(check_kind(ctx, def));
    SN_TRY(begin_job(&job, def->body));
    SN_TRY(def->hard ? attach_nodes_hard(&job, &count) : attach_soft(&job, &count));
    if (count == 0)
        SN_TRY(fail_out_of_reach(&job));
    if (out_point_count)
        *out_point_count = count;
cleanup:
    end_job(&job);
    return status;
}
