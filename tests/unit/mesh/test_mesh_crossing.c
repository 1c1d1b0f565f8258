// Which triangles of a surface cross.
#include "test_support.h"

#include "sinew/mesh.h"

#include <math.h>

/// Pairs among the triangles [count, 3] of the vertices [vertex_count, 3].
static sn_mesh_crossings crossings_of(int32_t vertex_count, double *position, int32_t count,
                                      int32_t *triangle) {
    sn_context *ctx = test_context(1);
    sn_cell_block block = {.kind = SN_CELL_TRIANGLE, .count = count, .vertex = triangle};
    const sn_mesh_data data = {.context = ctx,
                               .vertex_count = vertex_count,
                               .position = position,
                               .block_count = 1,
                               .block = &block};
    sn_mesh_crossings found = {.count = -1};
    assert_int_equal(sn_mesh_data_crossings(&data, &found), SN_OK);
    assert_true(found.complete);
    test_context_end(&ctx);
    return found;
}

static void triangles_that_pierce_one_another_cross(void **state) {
    (void)state;
    double position[] = {9, 9, 9, 8, 9,   9,   9,  8,   9,   0, 0, 0, 1, 0,
                         0, 0, 1, 0, 0.2, 0.2, -1, 0.2, 0.2, 1, 3, 3, 0};
    sn_mesh_crossings found = crossings_of(9, position, 3, (int32_t[]){0, 1, 2, 3, 4, 5, 6, 7, 8});
    assert_int_equal(found.count, 1);
    assert_true(found.first[0] == 1 && found.first[1] == 2);
    // Apart by one rounding of the places.
    for (int i = 6; i < 9; i++)
        position[3 * i + 2] = nextafter(0, 1) + fabs(position[3 * i + 2]);
    assert_int_equal(crossings_of(9, position, 3, (int32_t[]){0, 1, 2, 3, 4, 5, 6, 7, 8}).count, 0);
}

static void neighbors_do_not_cross(void **state) {
    (void)state;
    double position[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, -1, 0, 1, 0, -1, 1, 0, 0, 0};
    // At a vertex, by number or by place.
    assert_int_equal(crossings_of(6, position, 2, (int32_t[]){0, 1, 2, 0, 3, 4}).count, 0);
    assert_int_equal(crossings_of(6, position, 2, (int32_t[]){0, 1, 2, 5, 3, 4}).count, 0);
    // At an edge, on two sides of it; folded onto one side they lie on one another.
    double flat[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -1, 0, 0.1, 0.5, 0};
    assert_int_equal(crossings_of(5, flat, 2, (int32_t[]){0, 1, 2, 1, 0, 3}).count, 0);
    assert_int_equal(crossings_of(5, flat, 2, (int32_t[]){0, 1, 2, 1, 0, 4}).count, 1);
}

static void what_has_no_plane_is_left_out(void **state) {
    (void)state;
    double position[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0.2, 0.2, -1, 0.2, 0.2, 1, NAN, 0, 0};
    assert_int_equal(crossings_of(6, position, 2, (int32_t[]){0, 1, 2, 3, 4, 5}).count, 0);
    assert_int_equal(crossings_of(6, position, 2, (int32_t[]){0, 1, 2, 3, 4, 3}).count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(triangles_that_pierce_one_another_cross),
                                       cmocka_unit_test(neighbors_do_not_cross),
                                       cmocka_unit_test(what_has_no_plane_is_left_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
