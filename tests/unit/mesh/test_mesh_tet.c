// Checked meshes: what is refused, the surface, the pieces, groups, and the way back to neutral data.
#include "unit/mesh/mesh_fixture.h"

/// Two tets that share a face, then one apart.
static const double place[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1,
                               1, 5, 0, 0, 6, 0, 0, 5, 1, 0, 5, 0, 1};
static const int32_t sound[] = {0, 1, 2, 3, 1, 2, 3, 4, 5, 6, 7, 8};

static void expect_refusal(const int32_t *tet, const double *position, const char *words) {
    sn_context *ctx = test_context(1);
    sn_mesh_data *data = fixture_data(ctx, 9, position, SN_CELL_TET, 3, tet);
    sn_mesh *mesh = NULL;
    assert_int_equal(sn_mesh_create(ctx, data, false, &mesh), SN_ERR_MESH);
    assert_null(mesh);
    if (!strstr(sn_context_message(ctx), words))
        fail_msg("message \"%s\" lacks \"%s\"", sn_context_message(ctx), words);
    sn_mesh_data_destroy(&data);
    test_context_end(&ctx);
}

static void refuses_unfit_tets(void **state) {
    (void)state;
    double bad[27];
    expect_refusal((int32_t[]){0, 1, 2, 3, 1, 3, 2, 4, 5, 6, 7, 8}, place, "tetrahedron 1 ");
    expect_refusal((int32_t[]){0, 1, 2, 3, 1, 3, 2, 4, 5, 7, 6, 8}, place, "2 of 3 tetrahedra");
    expect_refusal((int32_t[]){0, 1, 2, 3, 1, 2, 2, 4, 5, 6, 7, 8}, place, "twice");
    expect_refusal((int32_t[]){0, 1, 2, 3, 1, 2, 3, 4, 5, 6, 7, 9}, place, "vertices go from 0 to 8");
    expect_refusal((int32_t[]){0, 1, 2, 3, 1, 2, 3, 4, 5, 6, -1, 8}, place, "names vertex -1");
    expect_refusal((int32_t[]){0, 1, 2, 3, 0, 1, 2, 3, 5, 6, 7, 8}, place, "vertex 4 is in no tetrahedron");
    expect_refusal((int32_t[]){0, 1, 2, 3, 0, 1, 2, 4, 5, 6, 7, 8}, place, "tetrahedra 0 and 1 share a face");
    memcpy(bad, place, sizeof bad);
    bad[3 * 7] = NAN;
    expect_refusal(sound, bad, "not finite");
    bad[3 * 7] = INFINITY;
    expect_refusal(sound, bad, "not finite");
    memcpy(bad, place, sizeof bad);
    bad[3 * 8 + 2] = 1e-14;
    expect_refusal(sound, bad, "flat");
}

static void judges_by_shape_not_size(void **state) {
    (void)state;
    for (double scale = 1e-9; scale < 1e10; scale *= 1e9) {
        sn_context *ctx = test_context(1);
        double scaled[27];
        for (int i = 0; i < 27; i++)
            scaled[i] = scale * place[i];
        sn_mesh_data *data = fixture_data(ctx, 9, scaled, SN_CELL_TET, 3, sound);
        sn_mesh *mesh = NULL;
        assert_int_equal(sn_mesh_create(ctx, data, false, &mesh), SN_OK);
        sn_mesh_destroy(&mesh);
        sn_mesh_data_destroy(&data);
        test_context_end(&ctx);
    }
}

static void drops_unreferenced_on_request(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    double position[27];
    memcpy(position, place, sizeof position);
    position[3 * 4] = NAN; // not looked at, since nothing uses it
    sn_mesh_data *data = fixture_data(ctx, 9, position, SN_CELL_TET, 2, (int32_t[]){0, 1, 2, 3, 5, 6, 7, 8});
    sn_mesh *mesh = NULL;
    assert_int_equal(sn_mesh_create(ctx, data, true, &mesh), SN_OK);
    assert_int_equal(sn_mesh_node_count(mesh), 8);
    assert_memory_equal(sn_mesh_tets(mesh), ((int32_t[]){0, 1, 2, 3, 4, 5, 6, 7}), 8 * sizeof(int32_t));
    assert_true(sn_mesh_positions(mesh)[12] == 5);
    sn_mesh_destroy(&mesh);
    sn_mesh_data_destroy(&data);
    test_context_end(&ctx);
}

/// The surface encloses the volume of the tets, with outward triangles.
static void surface_encloses_the_tets(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    sn_mesh_data *data = fixture_shape(ctx, SN_MAKE_BEAM, 3);
    sn_mesh *mesh = NULL;
    assert_int_equal(sn_mesh_create(ctx, data, false, &mesh), SN_OK);
    int32_t count = 0, pieces = 0;
    const int32_t *surface = sn_mesh_surface(mesh, &count);
    assert_int_equal(count, 4 * (3 * 3 + 2 * 3 * 15));
    sn_mesh_data *skin =
        fixture_data(ctx, mesh->node_count, mesh->position, SN_CELL_TRIANGLE, count, surface);
    sn_mesh_report report = fixture_report(skin);
    assert_true(fabs(report.volume - 0.04) < 1e-14);
    assert_int_equal(report.boundary_edges + report.misoriented_edges + report.nonmanifold_edges, 0);
    sn_mesh_tet_pieces(mesh, &pieces);
    assert_int_equal(pieces, 1);
    sn_mesh_data_destroy(&skin);
    sn_mesh_destroy(&mesh);
    sn_mesh_data_destroy(&data);
    test_context_end(&ctx);
}

static void keeps_order_pieces_and_groups(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    sn_mesh_data *data = fixture_data(ctx, 9, place, SN_CELL_TET, 3, sound), *back = NULL;
    sn_mesh *mesh = NULL;
    char *names[] = {"bone", "flesh"};
    const int32_t group[] = {1, -1, 0};
    assert_int_equal(sn_group_names_copy(ctx, 2, names, &data->group), SN_OK);
    data->group_count = 2;
    assert_int_equal(sn_new_copy(ctx, group, 3, sizeof *group, (void **)&data->block[0].group), SN_OK);
    assert_int_equal(sn_mesh_create(ctx, data, false, &mesh), SN_OK);
    int32_t count = 0, pieces = 0;
    const int32_t *surface = sn_mesh_surface(mesh, &count), *piece = sn_mesh_tet_pieces(mesh, &pieces);
    assert_int_equal(count, 10);
    assert_memory_equal(surface, ((int32_t[]){0, 3, 2, 0, 1, 3, 0, 2, 1}), 9 * sizeof(int32_t));
    assert_int_equal(pieces, 2);
    assert_memory_equal(piece, ((int32_t[]){0, 0, 1}), 3 * sizeof(int32_t));
    assert_memory_equal(sn_mesh_tet_groups(mesh), group, sizeof group);
    assert_string_equal(sn_mesh_group_name(mesh, 1), "flesh");
    assert_null(sn_mesh_group_name(mesh, 2));
    assert_int_equal(sn_mesh_to_data(mesh, &back), SN_OK);
    assert_memory_equal(back->position, place, sizeof place);
    assert_memory_equal(back->block[0].vertex, sound, sizeof sound);
    assert_memory_equal(back->block[0].group, group, sizeof group);
    assert_string_equal(back->group[0], "bone");
    sn_mesh_data_destroy(&back);
    sn_mesh_destroy(&mesh);
    sn_mesh_data_destroy(&data);
    test_context_end(&ctx);
}

/// Sets of the data, and groups that only faces have, with the numbers of nodes; vertices in no tet fall
/// away.
static void keeps_sets_and_groups_of_faces(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    sn_mesh_data *data = fixture_data(ctx, 9, place, SN_CELL_TET, 1, (int32_t[]){1, 2, 3, 4}), *back = NULL;
    sn_mesh *mesh = NULL;
    char *names[] = {"lid", "flesh"};
    const int32_t group[] = {0, 1};
    int32_t count = 0;
    assert_int_equal(sn_mesh_data_add_block(data, SN_CELL_TRIANGLE, 2, (int32_t[]){4, 2, 8, 1, 2, 3}), SN_OK);
    assert_int_equal(sn_group_names_copy(ctx, 2, names, &data->group), SN_OK);
    data->group_count = 2;
    assert_int_equal(sn_new_copy(ctx, &group[1], 1, sizeof *group, (void **)&data->block[0].group), SN_OK);
    assert_int_equal(sn_new_copy(ctx, group, 2, sizeof *group, (void **)&data->block[1].group), SN_OK);
    assert_int_equal(sn_mesh_data_add_set(data, "held", 4, (int32_t[]){8, 4, 1, 4}), SN_OK);
    assert_int_equal(sn_mesh_data_add_set(data, "elsewhere", 1, (int32_t[]){8}), SN_OK);
    assert_int_equal(sn_mesh_create(ctx, data, true, &mesh), SN_OK);
    assert_int_equal(sn_mesh_set_count(mesh), 2);
    assert_string_equal(sn_mesh_set_name(mesh, 0), "held");
    const int32_t *node = sn_mesh_set_nodes(mesh, 0, &count);
    assert_int_equal(count, 2);
    assert_memory_equal(node, ((int32_t[]){0, 3}), 2 * sizeof *node);
    assert_string_equal(sn_mesh_set_name(mesh, 1), "lid");
    node = sn_mesh_set_nodes(mesh, 1, &count);
    assert_int_equal(count, 2);
    assert_memory_equal(node, ((int32_t[]){1, 3}), 2 * sizeof *node);
    assert_null(sn_mesh_set_name(mesh, 2));
    assert_null(sn_mesh_set_nodes(mesh, -1, &count));
    assert_int_equal(count, 0);
    assert_int_equal(sn_mesh_to_data(mesh, &back), SN_OK);
    assert_int_equal(back->set_count, 2);
    assert_string_equal(back->set[1].name, "lid");
    sn_mesh_destroy(&mesh);
    data->set[0].vertex[1] = 9;
    assert_int_equal(sn_mesh_create(ctx, data, true, &mesh), SN_ERR_MESH);
    assert_non_null(strstr(sn_context_message(ctx), "set held of the mesh names vertex 9"));
    sn_mesh_data_destroy(&back);
    sn_mesh_data_destroy(&data);
    test_context_end(&ctx);
}

static void cuts_polygons_into_fans(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    sn_mesh_data *data = fixture_data(ctx, 9, place, SN_CELL_TRIANGLE, 1, (int32_t[]){8, 7, 6});
    int32_t count = 0, *triangle = NULL;
    const int32_t offset[] = {0, 5, 8}, corner[] = {0, 1, 2, 3, 4, 5, 6, 7};
    assert_int_equal(sn_mesh_data_add_block(data, SN_CELL_POLYGON, 2, corner), SN_OK);
    SN_RELEASE(ctx, data->block[1].vertex);
    assert_int_equal(sn_new_copy(ctx, corner, 8, sizeof *corner, (void **)&data->block[1].vertex), SN_OK);
    assert_int_equal(sn_new_copy(ctx, offset, 3, sizeof *offset, (void **)&data->block[1].offset), SN_OK);
    assert_int_equal(sn_mesh_data_triangles(data, &count, &triangle), SN_OK);
    const int32_t expected[] = {8, 7, 6, 0, 1, 2, 0, 2, 3, 0, 3, 4, 5, 6, 7};
    assert_int_equal(count, 5);
    assert_memory_equal(triangle, expected, sizeof expected);
    sn_mesh_data_free_array(data, triangle);
    sn_mesh_data_destroy(&data);
    test_context_end(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_unfit_tets),
        cmocka_unit_test(judges_by_shape_not_size),
        cmocka_unit_test(drops_unreferenced_on_request),
        cmocka_unit_test(surface_encloses_the_tets),
        cmocka_unit_test(keeps_order_pieces_and_groups),
        cmocka_unit_test(keeps_sets_and_groups_of_faces),
        cmocka_unit_test(cuts_polygons_into_fans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
