// Shapes made by the program: closed, manifold, outward, of the size asked for; the bones lie inside the arm.
#include "unit/mesh/mesh_fixture.h"

#include "geom/geom_mesh_distance.h"

static void assert_closed(const sn_mesh_report *report, const double size[3]) {
    assert_true(report->volume > 0);
    assert_int_equal(report->components, 1);
    assert_int_equal(report->boundary_edges, 0);
    assert_int_equal(report->nonmanifold_edges, 0);
    assert_int_equal(report->misoriented_edges, 0);
    assert_int_equal(report->degenerate_triangles, 0);
    assert_int_equal(report->duplicate_vertices, 0);
    assert_int_equal(report->unreferenced_vertices, 0);
    for (int c = 0; c < 3; c++)
        assert_true(fabs(report->high[c] - report->low[c] - size[c]) < 1e-2 * size[c]);
}

static void closed_at_any_resolution(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    for (sn_make_shape shape = SN_MAKE_BLOCK; shape <= SN_MAKE_ARM; shape++)
        for (int32_t cells = 1; cells <= 64; cells *= 4) {
            sn_make_def def = sn_make_def_default(shape);
            sn_mesh_data *data = NULL;
            def.cells = cells;
            def.size[0] *= 3;
            assert_int_equal(sn_mesh_make(ctx, &def, &data, NULL), SN_OK);
            sn_mesh_report report = fixture_report(data);
            if (shape != SN_MAKE_SPHERE || cells > 1) // one cell a side makes the ball a cube
                assert_closed(&report, def.size);
            sn_mesh_data_destroy(&data);
        }
    test_context_end(&ctx);
}

static void ball_has_the_volume_of_a_ball(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    double error[2];
    for (int i = 0; i < 2; i++) {
        sn_mesh_data *data = fixture_shape(ctx, SN_MAKE_SPHERE, 16 << i);
        error[i] = 4 * acos(-1) / 3 * 1e-3 - fixture_report(data).volume;
        sn_mesh_data_destroy(&data);
    }
    assert_true(error[0] > 0 && error[0] < 5e-5);
    assert_true(error[0] / error[1] > 3.5 && error[0] / error[1] < 4.5); // second order
    test_context_end(&ctx);
}

static void beam_cells_are_about_cubic(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    sn_make_def def = sn_make_def_default(SN_MAKE_BEAM);
    sn_mesh_data *data = NULL;
    def.size[0] = 0.73;
    def.size[2] = 0.31;
    def.cells = 4;
    assert_int_equal(sn_mesh_make(ctx, &def, &data, NULL), SN_OK);
    sn_mesh_report report = fixture_report(data);
    assert_int_equal(report.tet_count, 6 * 15 * 4 * 6);
    assert_int_equal(report.inverted_tets + report.degenerate_tets, 0);
    assert_true(report.low[0] == 0 && report.high[0] == 0.73 && report.high[2] == 0.31);
    sn_mesh_data_destroy(&data);
    def.cells = 1000;
    assert_int_equal(sn_mesh_make(ctx, &def, &data, NULL), SN_ERR_INVALID_ARGUMENT);
    def.cells = 0;
    assert_int_equal(sn_mesh_make(ctx, &def, &data, NULL), SN_ERR_INVALID_ARGUMENT);
    def = sn_make_def_default(SN_MAKE_BEAM);
    def.size[1] = NAN;
    assert_int_equal(sn_mesh_make(ctx, &def, &data, NULL), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_mesh_make(ctx, &(sn_make_def){.shape = SN_MAKE_BEAM}, &data, NULL),
                     SN_ERR_INVALID_ARGUMENT);
    test_context_end(&ctx);
}

/// Smallest angle of all triangles, in degrees.
static double smallest_angle(const sn_mesh_data *data) {
    double least = 180;
    for (int32_t i = 0; i < 3 * data->block[0].count; i++) {
        const int32_t *t = data->block[0].vertex + i / 3 * 3;
        const double *a = data->position + 3 * (size_t)t[i % 3],
                     *b = data->position + 3 * (size_t)t[(i + 1) % 3],
                     *c = data->position + 3 * (size_t)t[(i + 2) % 3];
        double dot = 0, ab = 0, ac = 0;
        for (int k = 0; k < 3; k++) {
            dot += (b[k] - a[k]) * (c[k] - a[k]);
            ab += (b[k] - a[k]) * (b[k] - a[k]);
            ac += (c[k] - a[k]) * (c[k] - a[k]);
        }
        least = fmin(least, acos(dot / sqrt(ab * ac)) * 180 / acos(-1));
    }
    return least;
}

static void arm_is_well_shaped(void **state) {
    (void)state;
    sn_context *ctx = test_context(2);
    sn_make_def def = sn_make_def_default(SN_MAKE_ARM);
    sn_mesh_data *data = NULL;
    sn_skeleton *skeleton = NULL;
    assert_int_equal(sn_mesh_make(ctx, &def, &data, &skeleton), SN_OK);
    sn_mesh_report report = fixture_report(data);
    assert_closed(&report, def.size);
    assert_in_range(report.triangle_count, 8000, 15000);
    assert_true(smallest_angle(data) > 20);
    assert_true(report.edge_max < 0.02 * 0.6);
    assert_int_equal(skeleton->joint_count, 3);
    assert_int_equal(skeleton->bone_count, 2);
    assert_memory_equal(skeleton->bone, ((int32_t[]){0, 1, 1, 2}), 4 * sizeof(int32_t));
    sn_mesh_distance *distance = NULL;
    assert_int_equal(sn_mesh_distance_create(ctx, data->vertex_count, data->position, data->block[0].count,
                                             data->block[0].vertex, &distance),
                     SN_OK);
    for (int i = 0; i <= 20; i++) {
        // Along both bones, at least 14 mm of flesh all around.
        double p[3] = {skeleton->position[0] + i / 20.0 * (skeleton->position[6] - skeleton->position[0]), 0,
                       0};
        assert_true(sn_mesh_distance_query(distance, p, NULL) < -0.014);
    }
    sn_mesh_distance_destroy(&distance);
    sn_skeleton_destroy(&skeleton);
    sn_mesh_data_destroy(&data);
    test_context_end(&ctx);
}

static void arm_does_not_depend_on_threads(void **state) {
    (void)state;
    uint64_t hash[2];
    for (int i = 0; i < 2; i++) {
        sn_context *ctx = test_context(i == 0 ? 1 : 4);
        sn_mesh_data *data = fixture_shape(ctx, SN_MAKE_ARM, 40);
        hash[i] = sn_hash(SN_HASH_START, data->position, (size_t)data->vertex_count * 3 * sizeof(double));
        sn_mesh_data_destroy(&data);
        test_context_end(&ctx);
    }
    assert_true(hash[0] == hash[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_at_any_resolution),       cmocka_unit_test(ball_has_the_volume_of_a_ball),
        cmocka_unit_test(beam_cells_are_about_cubic),     cmocka_unit_test(arm_is_well_shaped),
        cmocka_unit_test(arm_does_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
