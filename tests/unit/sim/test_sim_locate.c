// Where rest places lie in a body: against a look at every tet, inside and outside, in a second body, at
// nodes.
#include "test_support.h"

#include "geom/geom_predicate.h"
#include "sim/sim_locate.h"
#include "sinew/mesh.h"

static void add_beam(sn_context *ctx, sn_model_builder *builder, double offset, int32_t cells) {
    sn_mesh_data *data = NULL;
    sn_mesh *mesh = NULL;
    sn_make_def make = sn_make_def_default(SN_MAKE_BEAM);
    make.cells = cells;
    sn_material_def material = sn_material_def_default();
    material.young = 1e5;
    sn_body_def body = sn_body_def_default();
    assert_done(ctx, sn_mesh_make(ctx, &make, &data, NULL));
    assert_done(ctx, sn_mesh_create(ctx, data, false, &mesh));
    body.mesh = mesh;
    body.material_count = 1;
    body.materials = &material;
    body.translation[1] = offset;
    body.rotation[2] = 0.3; // boxes of tets reach beyond them
    assert_done(ctx, sn_model_add_body(builder, &body, NULL));
    sn_mesh_destroy(&mesh);
    sn_mesh_data_destroy(&data);
}

static sn_model *make_model(sn_context *ctx) {
    sn_model_builder *builder = NULL;
    sn_model *model = NULL;
    assert_done(ctx, sn_model_builder_create(ctx, &builder));
    add_beam(ctx, builder, 0, 2);
    add_beam(ctx, builder, 0.05, 3);
    assert_done(ctx, sn_model_build(builder, &model));
    sn_model_builder_destroy(&builder);
    return model;
}

/// Distance from the nearest of a body's tets.
static double plain_distance(const sn_model *model, const sn_model_body_data *body, const double point[3]) {
    double best = INFINITY, nearest[3], corner[12];
    for (int32_t tet = body->tet_begin; tet < body->tet_begin + body->tet_count; tet++) {
        for (size_t a = 0; a < 4; a++)
            memcpy(corner + 3 * a, model->rest + 3 * (size_t)model->tets[4 * (size_t)tet + a],
                   3 * sizeof *corner);
        best = fmin(best, sn_tet_nearest(point, corner, nearest));
    }
    return sqrt(best);
}

static void check_place(const sn_model *model, int32_t b, const double point[3], bool *out_inside) {
    const sn_model_body_data *body = &model->bodies[b];
    sn_body_place place = sn_body_locate(model, b, point);
    double sum = 0, at[3], squared = 0;
    assert_in_range(place.tet, body->tet_begin, body->tet_begin + body->tet_count - 1);
    assert_memory_equal(place.node, model->tets + 4 * (size_t)place.tet, sizeof place.node);
    for (int a = 0; a < 4; a++) {
        assert_true(place.weight[a] >= 0);
        sum += place.weight[a];
    }
    assert_near(sum, 1, 1e-15);
    sn_body_place_vector(&place, model->rest, at);
    for (int i = 0; i < 3; i++)
        squared += (at[i] - point[i]) * (at[i] - point[i]);
    assert_near(place.distance, plain_distance(model, body, point), 1e-14);
    assert_near(sqrt(squared), place.distance, 1e-11);
    *out_inside = place.distance == 0;
}

static void places_are_the_nearest(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    sn_model *model = make_model(ctx);
    int inside_count = 0;
    uint32_t random = 12345;
    for (int i = 0; i < 2000; i++) {
        double point[3];
        for (int k = 0; k < 3; k++) {
            random = random * 1664525 + 1013904223;
            point[k] = -0.3 + (k == 0 ? 1.6 : 0.8) * (random >> 8) / 16777216.0;
        }
        bool inside = false;
        check_place(model, i % 2, point, &inside);
        inside_count += inside;
    }
    assert_in_range(inside_count, 50, 1000);
    sn_model_destroy(&model);
    test_context_end(&ctx);
}

static void nodes_are_found_to_the_bit(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    sn_model *model = make_model(ctx);
    for (int32_t b = 0; b < 2; b++)
        for (int32_t n = 0; n < model->bodies[b].node_count; n++) {
            const double *X = model->rest + 3 * (size_t)(model->bodies[b].node_begin + n);
            double at[3];
            sn_body_place place = sn_body_locate(model, b, X);
            sn_body_place_vector(&place, model->rest, at);
            assert_memory_equal(at, X, sizeof at);
        }
    sn_model_destroy(&model);
    test_context_end(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(places_are_the_nearest),
                                       cmocka_unit_test(nodes_are_found_to_the_bit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
