// Embedding: points inside, on shared faces, and outside of a mesh.
#include "unit/mesh/mesh_fixture.h"

#include "geom/geom_predicate.h"

/// A beam whose tets are out of order, so that the lowest tet is not the first one met.
static sn_mesh *make_beam(sn_context *ctx) {
    sn_mesh_data *data = fixture_shape(ctx, SN_MAKE_BEAM, 2);
    sn_mesh *mesh = NULL;
    sn_random random = sn_random_make(9);
    for (int32_t t = data->block[0].count - 1; t > 0; t--) {
        int32_t *tet = data->block[0].vertex, other = sn_random_index(&random, t + 1), swap[4];
        memcpy(swap, tet + 4 * t, sizeof swap);
        memmove(tet + 4 * t, tet + 4 * other, sizeof swap);
        memcpy(tet + 4 * other, swap, sizeof swap);
    }
    assert_int_equal(sn_mesh_create(ctx, data, false, &mesh), SN_OK);
    sn_mesh_data_destroy(&data);
    return mesh;
}

static void corners_of(const sn_mesh *mesh, int32_t tet, double corner[12]) {
    for (size_t i = 0; i < 12; i++)
        corner[i] = mesh->position[3 * (size_t)mesh->tet[4 * (size_t)tet + i / 3] + i % 3];
}

static double least_weight(const double weight[4]) {
    return fmin(fmin(weight[0], weight[1]), fmin(weight[2], weight[3]));
}

/// First tet that holds the point, or else the first of those nearest to it: all tets tried.
static int32_t search_all(const sn_mesh *mesh, const double point[3]) {
    double best = INFINITY, corner[12], weight[4], nearest[3];
    int32_t found = -1;
    for (int32_t t = 0; t < mesh->tet_count; t++) {
        corners_of(mesh, t, corner);
        sn_tet_weights(point, corner, weight);
        if (least_weight(weight) >= -1e-12)
            return t;
    }
    for (int32_t t = 0; t < mesh->tet_count; t++) {
        corners_of(mesh, t, corner);
        double squared = sn_tet_nearest(point, corner, nearest);
        if (squared < best) {
            best = squared;
            found = t;
        }
    }
    return found;
}

static void agrees_with_trying_all(void **state) {
    (void)state;
    enum { COUNT = 400 };
    sn_context *ctx = test_context(2);
    sn_mesh *mesh = make_beam(ctx);
    sn_random random = sn_random_make(5);
    double point[3 * COUNT], out[3 * COUNT];
    for (int i = 0; i < COUNT; i++)
        for (int c = 0; c < 3; c++) // inside and around; every fourth on a grid plane
            point[3 * i + c] = i % 4 == 0 ? 0.1 * sn_random_index(&random, 3)
                                          : sn_random_range(&random, -0.05, c == 0 ? 1.05 : 0.25);
    sn_embedding *embedding = NULL;
    int32_t outside = -1, outside_expected = 0;
    assert_int_equal(sn_embedding_create(mesh, COUNT, point, &outside, &embedding), SN_OK);
    sn_embedding_evaluate(embedding, sn_mesh_tets(mesh), sn_mesh_positions(mesh), out);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(embedding->tet[i], search_all(mesh, point + 3 * i));
        for (int c = 0; c < 3; c++)
            assert_true(fabs(out[3 * i + c] - point[3 * i + c]) < 1e-14);
        outside_expected += least_weight(embedding->weight + 4 * (size_t)i) < -1e-12;
    }
    assert_int_equal(outside, outside_expected);
    assert_in_range(outside, 50, COUNT - 150);
    sn_embedding_destroy(&embedding);
    sn_mesh_destroy(&mesh);
    test_context_end(&ctx);
}

/// Embedded points follow an affine motion of the nodes, also those outside.
static void follows_affine_motion(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    sn_mesh *mesh = make_beam(ctx);
    const double point[] = {0.33, 0.11, 0.07, 1.2, -0.1, 0.4},
                 map[9] = {1, 0.5, 0, -0.2, 2, 0.1, 0.3, 0, 0.7};
    sn_embedding *embedding = NULL;
    double *x = NULL, out[6];
    assert_int_equal(sn_embedding_create(mesh, 2, point, NULL, &embedding), SN_OK);
    assert_int_equal(sn_new(ctx, (size_t)mesh->node_count * 3, sizeof *x, (void **)&x), SN_OK);
    for (size_t v = 0; v < (size_t)mesh->node_count; v++)
        for (size_t r = 0; r < 3; r++)
            x[3 * v + r] = map[3 * r] * mesh->position[3 * v] + map[3 * r + 1] * mesh->position[3 * v + 1] +
                           map[3 * r + 2] * mesh->position[3 * v + 2] + 1;
    sn_embedding_evaluate(embedding, mesh->tet, x, out);
    for (int i = 0; i < 6; i++) {
        const double *p = point + i / 3 * 3, *row = map + i % 3 * 3;
        assert_true(fabs(out[i] - (row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + 1)) < 1e-13);
    }
    SN_RELEASE(ctx, x);
    sn_embedding_destroy(&embedding);
    assert_int_equal(sn_embedding_create(mesh, 1, (double[3]){0, NAN, 0}, NULL, &embedding),
                     SN_ERR_NON_FINITE);
    assert_null(embedding);
    sn_mesh_destroy(&mesh);
    test_context_end(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_trying_all),
        cmocka_unit_test(follows_affine_motion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
