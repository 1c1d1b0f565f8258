#include "base/base_field_hash.h"
#include "base/base_util.h"
#include "material/material_def.h"
#include "sim/sim_def.h"
#include "sim/sim_hash.h"
#include "sim/sim_model.h"
#include "step/step_def.h"

// Structs are hashed by field: bytes between fields are nobody's. What the model computes from the fields
// hashed here (volumes, masses, contact proxies) is left out.

#define HASH(hash, value)              sn_hash((hash), &(value), sizeof(value))
#define HASH_ARRAY(hash, array, count) sn_hash((hash), (array), (size_t)(count) * sizeof *(array))

static uint64_t hash_bodies(uint64_t hash, const sn_model *model) {
    for (int32_t b = 0; b < model->body_count; b++) {
        const sn_model_body_data *body = &model->bodies[b];
        hash = HASH(hash, body->node_begin);
        hash = HASH(hash, body->tet_begin);
        hash = HASH(hash, body->surface_vertex_count);
        hash = HASH(hash, body->surface_triangle_count);
        hash = HASH_ARRAY(hash, body->surface_triangles, 3 * (size_t)body->surface_triangle_count);
        hash = HASH_ARRAY(hash, body->surface_node, 4 * (size_t)body->surface_vertex_count);
        hash = HASH_ARRAY(hash, body->surface_weight, 4 * (size_t)body->surface_vertex_count);
    }
    return hash;
}

static uint64_t hash_materials(uint64_t hash, const sn_model *model) {
    hash = HASH_ARRAY(hash, model->tet_material, model->tet_count);
    for (int32_t m = 0; m < model->material_count; m++)
        hash = sn_field_hash(hash, &sn_material_fields, &model->materials[m]);
    return hash;
}

static uint64_t hash_spring_end(uint64_t hash, const sn_spring_end *end) {
    hash = HASH(hash, end->node_count);
    hash = HASH_ARRAY(hash, end->node, end->node_count);
    return HASH_ARRAY(hash, end->weight, end->node_count);
}

static uint64_t hash_springs(uint64_t hash, const sn_model *model) {
    for (int32_t s = 0; s < model->spring_count; s++) {
        const sn_spring *spring = &model->springs[s];
        hash = hash_spring_end(hash, &spring->a);
        hash = hash_spring_end(hash, &spring->b);
        hash = HASH(hash, spring->stiffness);
        hash = HASH(hash, spring->rest_length);
        hash = HASH(hash, model->targets[s].frame);
        hash = HASH(hash, model->targets[s].shape);
        hash = HASH(hash, model->targets[s].point);
    }
    return hash;
}

static uint64_t hash_frames(uint64_t hash, const sn_model *model) {
    for (int32_t f = 0; f < model->frame_count; f++) {
        const sn_model_frame *frame = &model->frames[f];
        hash = HASH(hash, frame->parent);
        hash = HASH(hash, frame->pivot);
        hash = HASH(hash, frame->interpolation);
        hash = HASH(hash, frame->key_count);
        hash = HASH_ARRAY(hash, frame->time, frame->key_count);
        hash = HASH_ARRAY(hash, frame->translation, 3 * (size_t)frame->key_count);
        hash = HASH_ARRAY(hash, frame->rotation, 3 * (size_t)frame->key_count);
    }
    return hash;
}

static uint64_t hash_surface(uint64_t hash, const sn_mesh_data *surface) {
    hash = HASH(hash, surface->vertex_count);
    hash = HASH_ARRAY(hash, surface->position, 3 * (size_t)surface->vertex_count);
    // The model has cut it into one block of triangles.
    SN_ASSERT(surface->block_count == 1 && surface->block[0].kind == SN_CELL_TRIANGLE);
    hash = HASH(hash, surface->block[0].count);
    return HASH_ARRAY(hash, surface->block[0].vertex, 3 * (size_t)surface->block[0].count);
}

static uint64_t hash_shapes(uint64_t hash, const sn_model *model) {
    for (int32_t s = 0; s < model->shape_count; s++) {
        const sn_shape_def *shape = &model->shapes[s];
        hash = HASH(hash, shape->kind);
        hash = sn_field_hash(hash, &sn_shape_fields, shape);
        hash = HASH(hash, model->shape_frame[s]);
        if (shape->surface)
            hash = hash_surface(hash, shape->surface);
    }
    return hash;
}

static uint64_t hash_pairs(uint64_t hash, const sn_model *model) {
    for (int32_t p = 0; p < model->pair_count; p++) {
        const sn_contact_pair *pair = &model->pairs[p];
        hash = HASH(hash, pair->body);
        hash = HASH(hash, pair->shape);
        hash = HASH(hash, pair->other);
        hash = HASH(hash, pair->friction);
        hash = HASH(hash, pair->stiffness);
    }
    return hash;
}

uint64_t sn_model_hash(const sn_model *model) {
    const int32_t counts[] = {model->body_count,     model->node_count,   model->tet_count,
                              model->material_count, model->spring_count, model->frame_count,
                              model->shape_count,    model->pair_count,   model->kept_count};
    size_t vector = 3 * (size_t)model->node_count;
    uint64_t hash = HASH(SN_HASH_START, counts);
    hash = HASH_ARRAY(hash, model->rest, vector);
    hash = HASH_ARRAY(hash, model->start_x, vector);
    hash = HASH_ARRAY(hash, model->start_v, vector);
    hash = HASH_ARRAY(hash, model->load, vector);
    hash = HASH_ARRAY(hash, model->pinned, model->node_count);
    hash = HASH_ARRAY(hash, model->pin_frame, model->node_count);
    hash = HASH_ARRAY(hash, model->kept, model->kept_count);
    hash = HASH_ARRAY(hash, model->tets, 4 * (size_t)model->tet_count);
    hash = HASH(hash, model->gravity);
    hash = hash_bodies(hash, model);
    hash = hash_materials(hash, model);
    hash = hash_springs(hash, model);
    hash = hash_frames(hash, model);
    hash = hash_shapes(hash, model);
    return hash_pairs(hash, model);
}

uint64_t sn_stepper_def_hash(const sn_stepper_def *def) {
    return sn_field_hash(SN_HASH_START, &sn_stepper_fields, def);
}
