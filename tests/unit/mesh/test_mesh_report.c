// The report finds each fault that we put into a sound mesh, and only that.
#include "unit/mesh/mesh_fixture.h"

static void assert_clean(const sn_mesh_report *report) {
    assert_int_equal(report->boundary_edges, 0);
    assert_int_equal(report->nonmanifold_edges, 0);
    assert_int_equal(report->misoriented_edges, 0);
    assert_int_equal(report->unreferenced_vertices, 0);
    assert_int_equal(report->duplicate_vertices, 0);
    assert_int_equal(report->degenerate_triangles, 0);
    assert_int_equal(report->degenerate_tets, 0);
    assert_int_equal(report->inverted_tets, 0);
    assert_int_equal(report->first_bad_cell, -1);
    assert_int_equal(report->first_non_finite_vertex, -1);
}

static void praises_a_sound_surface(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    sn_mesh_data *data = fixture_shape(ctx, SN_MAKE_BLOCK, 4);
    sn_mesh_report report = fixture_report(data);
    assert_clean(&report);
    assert_int_equal(report.vertex_count, 98);
    assert_int_equal(report.triangle_count, 192);
    assert_int_equal(report.edge_count, 288);
    assert_int_equal(report.components, 1);
    assert_true(fabs(report.volume - 0.008) < 1e-16);
    assert_true(fabs(report.edge_min - 0.05) < 1e-15 && fabs(report.edge_max - 0.05 * sqrt(2)) < 1e-15);
    assert_true(report.low[1] == -0.1 && report.high[2] == 0.1);
    sn_mesh_data_destroy(&data);
    test_context_end(&ctx);
}

static void finds_holes_and_turned_triangles(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    sn_mesh_data *data = fixture_shape(ctx, SN_MAKE_SPHERE, 6);
    int32_t *triangle = data->block[0].vertex, swap = triangle[30];
    triangle[30] = triangle[31];
    triangle[31] = swap;
    sn_mesh_report report = fixture_report(data);
    assert_int_equal(report.misoriented_edges, 3);
    assert_int_equal(report.boundary_edges, 0);
    triangle[31] = triangle[30];
    triangle[30] = swap;
    data->block[0].count--;
    report = fixture_report(data);
    assert_int_equal(report.boundary_edges, 3);
    assert_int_equal(report.misoriented_edges, 0);
    sn_mesh_data_destroy(&data);
    test_context_end(&ctx);
}

static void finds_pieces_and_duplicates(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    const double place[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, -0.0, 0, 0, -1, 0, 0, 0, -1, 0, 9, 9, 9, 2, 0, NAN};
    const int32_t triangle[] = {0, 1, 2, 3, 4, 5};
    sn_mesh_data *data = fixture_data(ctx, 8, place, SN_CELL_TRIANGLE, 2, triangle);
    sn_mesh_report report = fixture_report(data);
    assert_int_equal(report.components, 2);
    assert_int_equal(report.duplicate_vertices, 1);
    assert_int_equal(report.unreferenced_vertices, 2);
    assert_int_equal(report.non_finite_vertices, 1);
    assert_int_equal(report.first_non_finite_vertex, 7);
    assert_true(report.high[0] == 1); // the unreferenced vertex at 9 does not count
    sn_mesh_data_destroy(&data);
    test_context_end(&ctx);
}

static void counts_crowded_edges_and_bad_triangles(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    const double place[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, -1, 0, 2, 0, 0};
    const int32_t triangle[] = {0, 1, 2, 0, 1, 3, 1, 0, 4, 0, 1, 5, 3, 3, 4, 0, 1, 77};
    sn_mesh_data *data = fixture_data(ctx, 6, place, SN_CELL_TRIANGLE, 6, triangle);
    sn_mesh_report report = fixture_report(data);
    assert_int_equal(report.nonmanifold_edges, 1);
    assert_int_equal(report.degenerate_triangles,
                     3); // on a line, repeated vertex, vertex that does not exist
    assert_int_equal(report.first_bad_cell, 3);
    sn_mesh_data_destroy(&data);
    test_context_end(&ctx);
}

/// The same tet twice, one inside another on a common face, and neighbors of which one is inverted.
static void counts_overlapping_tets(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    const double place[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
    const int32_t tets[3][8] = {{0, 1, 2, 3, 0, 1, 2, 3}, {0, 1, 2, 3, 0, 1, 2, 4}, {0, 1, 2, 3, 1, 3, 2, 4}};
    static const int32_t crowded[3] = {4, 1, 0};
    for (int i = 0; i < 3; i++) {
        sn_mesh_data *data = fixture_data(ctx, 5, place, SN_CELL_TET, 2, tets[i]);
        assert_int_equal(fixture_report(data).nonmanifold_edges, crowded[i]);
        sn_mesh_data_destroy(&data);
    }
    test_context_end(&ctx);
}

static void finds_concave_polygons(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    // Two kites; the second has its dent where the fan from the first vertex turns back.
    const double place[] = {0, 0, 0, 1, -1, 0, 3, 0, 0, 1, 1, 0, 0.5, 0, 0};
    const int32_t offset[] = {0, 4, 8}, corner[] = {0, 1, 2, 3, 1, 2, 3, 4};
    sn_mesh_data *data = fixture_data(ctx, 5, place, SN_CELL_TRIANGLE, 2, (int32_t[]){0, 1, 2, 0, 2, 3});
    sn_cell_block *block = &data->block[0];
    SN_RELEASE(ctx, block->vertex);
    block->kind = SN_CELL_POLYGON;
    assert_int_equal(sn_new_copy(ctx, corner, 8, sizeof *corner, (void **)&block->vertex), SN_OK);
    assert_int_equal(sn_new_copy(ctx, offset, 3, sizeof *offset, (void **)&block->offset), SN_OK);
    assert_int_equal(fixture_report(data).concave_polygons, 0);
    data->position[12] = 2.5;
    data->position[13] = 0.9;
    assert_int_equal(fixture_report(data).concave_polygons, 1);
    sn_mesh_data_destroy(&data);
    test_context_end(&ctx);
}

static void measures_tets(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    const double place[] = {1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, 1, 3, 3, 3};
    const int32_t tet[] = {0, 2, 1, 3, 0, 1, 2, 3, 0, 0, 1, 2};
    sn_mesh_data *data = fixture_data(ctx, 5, place, SN_CELL_TET, 3, tet);
    sn_mesh_report report = fixture_report(data);
    assert_int_equal(report.inverted_tets, 1);
    assert_int_equal(report.degenerate_tets, 1);
    assert_int_equal(report.quality_histogram[9], 1);
    assert_int_equal(report.quality_histogram[0], 2);
    assert_int_equal(report.unreferenced_vertices, 1);
    sn_mesh_data_destroy(&data);
    data = fixture_shape(ctx, SN_MAKE_BEAM, 2);
    report = fixture_report(data);
    assert_clean(&report);
    assert_true(fabs(report.quality_min - 0.75595) < 1e-4); // mean ratio of a Kuhn tet
    assert_true(fabs(report.volume - 0.04) < 1e-15);
    sn_mesh_data_destroy(&data);
    test_context_end(&ctx);
}

/// An arm with a hand, closed; and a scan with holes.
static void agrees_on_real_meshes(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    sn_mesh_data *arm = fixture_read_obj(ctx, "arm.obj"),
                 *bunny = fixture_read_obj(ctx, "stanford-bunny.obj");
    if (arm && bunny) {
        sn_mesh_report report = fixture_report(arm);
        assert_int_equal(report.vertex_count, 8311);
        assert_int_equal(report.triangle_count, 16618);
        assert_clean(&report);
        assert_int_equal(fixture_report(bunny).boundary_edges, 223);
    }
    bool missing = !arm || !bunny;
    sn_mesh_data_destroy(&arm);
    sn_mesh_data_destroy(&bunny);
    test_context_end(&ctx);
    if (missing)
        skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(praises_a_sound_surface),
        cmocka_unit_test(finds_holes_and_turned_triangles),
        cmocka_unit_test(finds_pieces_and_duplicates),
        cmocka_unit_test(counts_crowded_edges_and_bad_triangles),
        cmocka_unit_test(counts_overlapping_tets),
        cmocka_unit_test(finds_concave_polygons),
        cmocka_unit_test(measures_tets),
        cmocka_unit_test(agrees_on_real_meshes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
