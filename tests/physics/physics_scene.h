/// A bar on its own in a scene, for tests of physics: made, stepped and taken away.
#ifndef SN_TEST_PHYSICS_SCENE_H
#define SN_TEST_PHYSICS_SCENE_H

#include "test_support.h"

#include "sinew/sinew.h"

static const double GRAVITY = 9.81;

typedef struct scene {
    sn_context *ctx;
    sn_mesh *mesh;
    sn_model_builder *builder;
    sn_body_def body;
    sn_body_id id;
    sn_material_def material;
    sn_contact_def contact;
    sn_shape_id shapes[4];
    sn_model *model;
    sn_stepper *stepper;
    sn_state *state;
} scene;

/// A bar of some size from the origin on; `cells` across it. Its contacts have no shapes yet.
static void scene_begin(scene *s, const double size[3], int32_t cells, double young, int32_t threads) {
    sn_mesh_data *data = NULL;
    sn_make_def make = sn_make_def_default(SN_MAKE_BEAM);
    *s = (scene){.ctx = test_context(threads)};
    memcpy(make.size, size, sizeof make.size);
    make.cells = cells;
    assert_done(s->ctx, sn_mesh_make(s->ctx, &make, &data, NULL));
    assert_done(s->ctx, sn_mesh_create(s->ctx, data, false, &s->mesh));
    sn_mesh_data_destroy(&data);
    s->material = sn_material_def_default();
    s->material.young = young;
    s->material.poisson = 0.3;
    s->material.density = 1000;
    s->body = sn_body_def_default();
    s->body.mesh = s->mesh;
    s->body.material_count = 1;
    s->body.materials = &s->material;
    s->contact = sn_contact_def_default();
    s->contact.shapes = s->shapes;
    assert_done(s->ctx, sn_model_builder_create(s->ctx, &s->builder));
}

/// Makes the model of what the builder has, a stepper and a state.
static void scene_build(scene *s, const sn_stepper_def *def) {
    assert_done(s->ctx, sn_model_build(s->builder, &s->model));
    assert_done(s->ctx, sn_stepper_create(s->model, def, &s->stepper));
    assert_done(s->ctx, sn_state_create(s->model, &s->state));
}

static sn_step_info scene_step(scene *s, double h) {
    sn_step_info info = {0};
    assert_done(s->ctx, sn_step(s->stepper, s->state, h, &info));
    return info;
}

static void end_scene(scene *s) {
    sn_state_destroy(&s->state);
    sn_stepper_destroy(&s->stepper);
    sn_model_destroy(&s->model);
    sn_model_builder_destroy(&s->builder);
    sn_mesh_destroy(&s->mesh);
    test_context_end(&s->ctx);
}

#endif
