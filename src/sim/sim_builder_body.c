#include "sim/sim_builder.h"

#include "element/element_tet.h"
#include "material/material_model.h"
#include "math/math_mat3.h"
#include "mesh/mesh_copies.h"
#include "mesh/mesh_look.h"
#include "mesh/mesh_move.h"
#include "sim/sim_def.h"

#include <string.h>

void sn_builder_body_clear(sn_context *ctx, sn_builder_body *body) {
    SN_RELEASE(ctx, body->name);
    sn_mesh_destroy(&body->mesh);
    SN_RELEASE(ctx, body->materials);
    SN_RELEASE(ctx, body->tet_material);
    SN_RELEASE(ctx, body->tet_volume);
    SN_RELEASE(ctx, body->tet_fraction);
    SN_RELEASE(ctx, body->tet_shape);
    SN_RELEASE(ctx, body->stray);
    SN_RELEASE(ctx, body->start_x);
    SN_RELEASE(ctx, body->start_v);
    SN_RELEASE(ctx, body->load);
    SN_RELEASE(ctx, body->mass);
    SN_RELEASE(ctx, body->node_volume);
    SN_RELEASE(ctx, body->pin_frame);
    SN_RELEASE(ctx, body->zone);
    SN_RELEASE(ctx, body->stiffness);
    SN_RELEASE(ctx, body->surface_triangles);
    SN_RELEASE(ctx, body->surface_node);
    SN_RELEASE(ctx, body->surface_weight);
    sn_surface_look_release(ctx, &body->look);
}

static sn_status check_materials(sn_context *ctx, const sn_body_def *def) {
    if (def->material_count < 1 || !def->materials)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                       "material_count = %d, materials %s: at least one is needed", def->material_count,
                       def->materials ? "given" : "NULL");
    for (int32_t m = 0; m < def->material_count; m++) {
        sn_status status = sn_material_check(ctx, &def->materials[m]);
        if (status < 0) {
            sn_message_prefix(ctx, "materials[%d]: ", m);
            return status;
        }
    }
    for (int32_t t = 0; def->tet_material && t < sn_mesh_tet_count(def->mesh); t++)
        if (def->tet_material[t] < 0 || def->tet_material[t] >= def->material_count)
            return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "tet_material[%d] = %d: must be 0 to %d", t,
                           def->tet_material[t], def->material_count - 1);
    return SN_OK;
}

static sn_status check_surface(sn_context *ctx, const sn_body_def *def) {
    const sn_embedding *embedding = def->embedding;
    if (!def->surface != !embedding)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                       "surface and embedding must be given together, or neither");
    if (!def->surface)
        return SN_OK;
    if (embedding->count != def->surface->vertex_count)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "embedding has %d points, but the surface %d vertices",
                       embedding->count, def->surface->vertex_count);
    for (int32_t i = 0; i < embedding->count; i++)
        if (embedding->tet[i] < 0 || embedding->tet[i] >= sn_mesh_tet_count(def->mesh))
            return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "embedding.tet[%d] = %d: must be 0 to %d", i,
                           embedding->tet[i], sn_mesh_tet_count(def->mesh) - 1);
    return sn_check_finite(ctx, "embedding.weight", 4 * (size_t)embedding->count, embedding->weight);
}

static sn_status check_name(const sn_model_builder *builder, const char *name) {
    for (int32_t b = 0; b < builder->body_count; b++)
        if (strcmp(builder->bodies[b].name, name) == 0)
            return sn_fail(builder->context, SN_ERR_INVALID_ARGUMENT, "name: body %d has this name already",
                           b);
    return SN_OK;
}

/// Copies the mesh into its rest pose.
static sn_status place_mesh(sn_context *ctx, const sn_body_def *def, sn_mesh **out_mesh) {
    sn_mesh_motion motion = {.scale = def->scale};
    sn_rotation_of_vector(def->rotation, motion.R);
    memcpy(motion.shift, def->translation, sizeof motion.shift);
    return sn_mesh_move(ctx, def->mesh, &motion, out_mesh);
}

static void measure_bounds(sn_builder_body *body) {
    const double *X = sn_mesh_positions(body->mesh);
    memcpy(body->low, X, sizeof body->low);
    memcpy(body->high, X, sizeof body->high);
    for (int32_t n = 1; n < sn_mesh_node_count(body->mesh); n++)
        for (int i = 0; i < 3; i++) {
            body->low[i] = fmin(body->low[i], X[3 * (size_t)n + i]);
            body->high[i] = fmax(body->high[i], X[3 * (size_t)n + i]);
        }
    body->size = sn_distance3(body->low, body->high);
}

/// Which part of each tet is solid.
static sn_status take_fractions(sn_context *ctx, sn_builder_body *body) {
    sn_status status = SN_OK;
    int32_t tets = sn_mesh_tet_count(body->mesh);
    const double *fraction = sn_mesh_tet_fractions(body->mesh);
    SN_TRY_NEW(ctx, body->tet_fraction, tets);
    for (int32_t t = 0; t < tets; t++)
        body->tet_fraction[t] = fraction ? fraction[t] : 1;
cleanup:
    return status;
}

static sn_status find_strays(sn_context *ctx, sn_builder_body *body) {
    int32_t nodes = sn_mesh_node_count(body->mesh);
    sn_status status = sn_new_zeroed(ctx, (size_t)nodes, sizeof *body->stray, (void **)&body->stray);
    if (status < 0)
        return status;
    return sn_tet_copies_mark_strays(ctx, sn_mesh_copies(body->mesh), nodes, sn_mesh_positions(body->mesh),
                                     sn_mesh_tets(body->mesh), body->stray);
}

/// Rest volumes, inverse edge matrices and lumped masses.
static sn_status measure_tets(sn_context *ctx, sn_builder_body *body) {
    sn_status status = SN_OK;
    int32_t tets = sn_mesh_tet_count(body->mesh), nodes = sn_mesh_node_count(body->mesh);
    const double *X = sn_mesh_positions(body->mesh);
    const int32_t *tet = sn_mesh_tets(body->mesh);
    SN_TRY_NEW(ctx, body->tet_volume, tets);
    SN_TRY_NEW(ctx, body->tet_shape, 9 * (size_t)tets);
    SN_TRY_NEW_ZEROED(ctx, body->mass, nodes);
    SN_TRY_NEW_ZEROED(ctx, body->node_volume, nodes);
    for (int32_t t = 0; t < tets; t++, tet += 4) {
        double volume = sn_tet_rest(X + 3 * (size_t)tet[0], X + 3 * (size_t)tet[1], X + 3 * (size_t)tet[2],
                                    X + 3 * (size_t)tet[3], body->tet_shape + 9 * (size_t)t);
        double density = body->materials[body->tet_material[t]].density;
        volume *= body->tet_fraction[t];
        body->tet_volume[t] = volume;
        body->volume += volume;
        for (int a = 0; a < 4; a++) {
            body->mass[tet[a]] += density * volume / 4;
            body->node_volume[tet[a]] += volume / 4;
        }
    }
cleanup:
    return status;
}

/// x = twist(stretch(X)).
static void deform(const sn_initial_def *initial, const double axis[3], const double X[3], double x[3]) {
    double arm[3], vector[3], R[9], turned[3];
    for (int i = 0; i < 3; i++)
        arm[i] = initial->stretch[i] * (X[i] - initial->twist_point[i]);
    double angle = initial->twist_rate * sn_dot3(arm, axis);
    for (int i = 0; i < 3; i++)
        vector[i] = angle * axis[i];
    sn_rotation_of_vector(vector, R);
    sn_mul3(R, arm, turned);
    for (int i = 0; i < 3; i++)
        x[i] = initial->twist_point[i] + turned[i];
}

static bool is_deformed(const sn_initial_def *initial) {
    const double *s = initial->stretch;
    return s[0] != 1 || s[1] != 1 || s[2] != 1 || initial->twist_rate != 0;
}

static void center_of_mass(int32_t count, const double *mass, const double *x, double center[3]) {
    double total = 0, sum[3] = {0};
    for (int32_t n = 0; n < count; n++) {
        total += mass[n];
        for (int i = 0; i < 3; i++)
            sum[i] += mass[n] * x[3 * (size_t)n + i];
    }
    for (int i = 0; i < 3; i++)
        center[i] = sum[i] / total;
}

static sn_status start_body(sn_context *ctx, const sn_initial_def *initial, sn_builder_body *body) {
    sn_status status = SN_OK;
    int32_t nodes = sn_mesh_node_count(body->mesh);
    const double *X = sn_mesh_positions(body->mesh);
    double axis[3], center[3];
    sn_unit3(initial->twist_axis, axis);
    SN_TRY(sn_new_copy(ctx, X, 3 * (size_t)nodes, sizeof *X, (void **)&body->start_x));
    SN_TRY_NEW(ctx, body->start_v, 3 * (size_t)nodes);
    // An undeformed start has the bits of the rest pose.
    for (int32_t n = 0; n < nodes && is_deformed(initial); n++)
        deform(initial, axis, X + 3 * (size_t)n, body->start_x + 3 * (size_t)n);
    center_of_mass(nodes, body->mass, body->start_x, center);
    for (int32_t n = 0; n < nodes; n++) {
        double arm[3], *v = body->start_v + 3 * (size_t)n;
        sn_sub3(body->start_x + 3 * (size_t)n, center, arm);
        sn_cross3(initial->spin, arm, v);
        for (int i = 0; i < 3; i++)
            v[i] += initial->velocity[i];
    }
    SN_TRY(sn_check_finite(ctx, "initial: a start position", 3 * (size_t)nodes, body->start_x));
    SN_TRY(sn_check_finite(ctx, "initial: a start velocity", 3 * (size_t)nodes, body->start_v));
cleanup:
    return status;
}

/// The boundary of the tets, with its nodes numbered anew in ascending order.
static sn_status take_boundary(sn_context *ctx, sn_builder_body *body) {
    sn_status status = SN_OK;
    int32_t *vertex = NULL, nodes = sn_mesh_node_count(body->mesh), triangles = 0, count = 0;
    const int32_t *boundary = sn_mesh_surface(body->mesh, &triangles);
    SN_TRY_NEW_ZEROED(ctx, vertex, nodes);
    for (size_t i = 0; i < 3 * (size_t)triangles; i++)
        vertex[boundary[i]] = 1;
    for (int32_t n = 0; n < nodes; n++)
        vertex[n] = vertex[n] ? count++ : -1;
    SN_TRY_NEW(ctx, body->surface_triangles, 3 * (size_t)triangles);
    SN_TRY_NEW_ZEROED(ctx, body->surface_node, 4 * (size_t)count);
    SN_TRY_NEW_ZEROED(ctx, body->surface_weight, 4 * (size_t)count);
    for (size_t i = 0; i < 3 * (size_t)triangles; i++)
        body->surface_triangles[i] = vertex[boundary[i]];
    for (int32_t n = 0; n < nodes; n++)
        if (vertex[n] >= 0) {
            for (int a = 0; a < 4; a++)
                body->surface_node[4 * (size_t)vertex[n] + (size_t)a] = n;
            body->surface_weight[4 * (size_t)vertex[n]] = 1;
        }
    body->surface_vertex_count = count;
    body->surface_triangle_count = triangles;
cleanup:
    SN_RELEASE(ctx, vertex);
    return status;
}

static sn_status take_embedded_surface(sn_context *ctx, const sn_body_def *def, sn_builder_body *body) {
    sn_status status = SN_OK;
    int32_t *triangles = NULL, count = def->embedding->count;
    const int32_t *tets = sn_mesh_tets(body->mesh);
    SN_TRY(sn_mesh_data_triangles(def->surface, &body->surface_triangle_count, &triangles));
    SN_TRY(sn_new_copy(ctx, triangles, 3 * (size_t)body->surface_triangle_count, sizeof *triangles,
                       (void **)&body->surface_triangles));
    SN_TRY_NEW(ctx, body->surface_node, 4 * (size_t)count);
    SN_TRY(sn_new_copy(ctx, def->embedding->weight, 4 * (size_t)count, sizeof(double),
                       (void **)&body->surface_weight));
    for (int32_t i = 0; i < count; i++)
        memcpy(body->surface_node + 4 * (size_t)i, tets + 4 * (size_t)def->embedding->tet[i],
               4 * sizeof *tets);
    SN_TRY(sn_surface_look_of(ctx, def->surface, body->surface_triangle_count, &body->look));
    body->surface_vertex_count = count;
    body->embedded = true;
cleanup:
    sn_mesh_data_free_array(def->surface, triangles);
    return status;
}

static sn_status copy_materials(sn_context *ctx, const sn_body_def *def, sn_builder_body *body) {
    sn_status status = SN_OK;
    size_t tets = (size_t)sn_mesh_tet_count(def->mesh);
    body->material_count = def->material_count;
    SN_TRY(sn_new_copy(ctx, def->materials, (size_t)def->material_count, sizeof *def->materials,
                       (void **)&body->materials));
    if (def->tet_material)
        SN_TRY(sn_new_copy(ctx, def->tet_material, tets, sizeof(int32_t), (void **)&body->tet_material));
    else
        SN_TRY_NEW_ZEROED(ctx, body->tet_material, tets);
cleanup:
    return status;
}

static sn_status make_body(sn_context *ctx, const sn_body_def *def, sn_builder_body *body) {
    sn_status status = SN_OK;
    SN_TRY(place_mesh(ctx, def, &body->mesh));
    int32_t nodes = sn_mesh_node_count(body->mesh);
    measure_bounds(body);
    SN_TRY(copy_materials(ctx, def, body));
    SN_TRY(take_fractions(ctx, body));
    SN_TRY(find_strays(ctx, body));
    SN_TRY(measure_tets(ctx, body));
    SN_TRY(start_body(ctx, &def->initial, body));
    SN_TRY(def->surface ? take_embedded_surface(ctx, def, body) : take_boundary(ctx, body));
    SN_TRY_NEW_ZEROED(ctx, body->load, 3 * (size_t)nodes);
    SN_TRY_NEW(ctx, body->pin_frame, nodes);
    for (int32_t n = 0; n < nodes; n++)
        body->pin_frame[n] = SN_NODE_FREE;
cleanup:
    return status;
}

/// First number of the next body's nodes; refuses a model with more nodes or tets than indices reach.
static sn_status next_node(const sn_model_builder *builder, const sn_mesh *mesh, int32_t *out_begin) {
    int64_t nodes = 0, tets = 0;
    for (int32_t b = 0; b < builder->body_count; b++) {
        nodes += sn_mesh_node_count(builder->bodies[b].mesh);
        tets += sn_mesh_tet_count(builder->bodies[b].mesh);
    }
    if (nodes + sn_mesh_node_count(mesh) > INT32_MAX / 12 || tets + sn_mesh_tet_count(mesh) > INT32_MAX / 12)
        return sn_fail(
            builder->context, SN_ERR_INVALID_ARGUMENT,
            "mesh: with it the model has %lld nodes and %lld tets; at most %d of each are possible",
            (long long)nodes + sn_mesh_node_count(mesh), (long long)tets + sn_mesh_tet_count(mesh),
            INT32_MAX / 12);
    *out_begin = (int32_t)nodes;
    return SN_OK;
}

sn_status sn_model_add_body(sn_model_builder *builder, const sn_body_def *def, sn_body_id *out_body) {
    sn_status status = SN_OK;
    sn_builder_body body = {0};
    if (!builder)
        return SN_ERR_INVALID_ARGUMENT;
    sn_context *ctx = builder->context;
    // The name of a definition that was forgotten may point anywhere.
    if (!def || def->mark != SN_DEF_MARK)
        return sn_check_def(ctx, &sn_body_fields, def);
    int32_t number = builder->body_count + 1;
    SN_TRY(sn_builder_name(ctx, def->name, "body", number, &body.name));
    SN_TRY(check_name(builder, body.name));
    SN_TRY(sn_check_def(ctx, &sn_body_fields, def));
    if (!def->mesh)
        SN_TRY(sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "mesh is NULL"));
    SN_TRY(check_materials(ctx, def));
    SN_TRY(check_surface(ctx, def));
    SN_TRY(next_node(builder, def->mesh, &body.node_begin));
    SN_TRY(make_body(ctx, def, &body));
    SN_TRY(sn_grow(ctx, (void **)&builder->bodies, &builder->body_capacity, (size_t)number, sizeof body));
    builder->bodies[builder->body_count++] = body;
    if (out_body)
        *out_body = (sn_body_id){(uint32_t)number, builder->generation};
    return SN_OK;
cleanup:
    if (body.name)
        sn_message_prefix(ctx, "body %s: ", body.name);
    sn_builder_body_clear(ctx, &body);
    return status;
}
