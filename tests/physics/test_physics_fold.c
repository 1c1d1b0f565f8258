// Labels: slow
// An arm that bends until it presses on itself: how deep its skin is in itself at rest, found by winding
// numbers and by trying all triangles, which contact does not.
#include "test_support.h"

#include "geom/geom_mesh_distance.h"
#include "geom/geom_predicate.h"
#include "math/math_mat3.h"
#include "sinew/sinew.h"

typedef struct fold {
    sn_context *ctx;
    sn_scene *scene;
    sn_model *model;
    sn_stepper *stepper;
    sn_state *state;
} fold;

static void begin_fold(fold *f, const char *path, int32_t count, const char *const *overrides) {
    *f = (fold){.ctx = test_context(2)};
    assert_done(f->ctx, sn_scene_load(f->ctx, path, count, overrides, &f->scene));
    assert_done(f->ctx, sn_scene_build(f->scene, &f->model));
    sn_stepper_def def = sn_scene_stepper(f->scene);
    assert_done(f->ctx, sn_stepper_create(f->model, &def, &f->stepper));
    assert_done(f->ctx, sn_state_create(f->model, &f->state));
}

static void end_fold(fold *f) {
    sn_state_destroy(&f->state);
    sn_stepper_destroy(&f->stepper);
    sn_model_destroy(&f->model);
    sn_scene_destroy(&f->scene);
    test_context_end(&f->ctx);
}

static sn_step_info run_fold(fold *f, int32_t *out_converged) {
    sn_time_def time = sn_scene_time(f->scene);
    sn_step_info info = {0};
    *out_converged = 0;
    for (int32_t i = 0; i < time.frames; i++) {
        assert_done(f->ctx, sn_step(f->stepper, f->state, time.frame_seconds, &info));
        *out_converged += info.status == SN_STEP_CONVERGED;
    }
    return info;
}

/// A surface now and at rest.
typedef struct skin {
    int32_t vertex_count, triangle_count;
    const int32_t *triangle;
    double *rest, *now;
} skin;

static double triangle_distance(const skin *s, const double *place, int32_t triangle, const double p[3]) {
    const int32_t *v = s->triangle + 3 * triangle;
    double nearest[3];
    return sqrt(sn_triangle_nearest(p, place + 3 * v[0], place + 3 * v[1], place + 3 * v[2], nearest));
}

/// Distance of a vertex from the nearest triangle but those around it at rest; INFINITY if that one is not
/// farther than `far` from it at rest either: a fold of its own surroundings.
static double distance_from_far(const skin *s, int32_t vertex, double around, double far) {
    double least = INFINITY, way = 0;
    for (int32_t t = 0; t < s->triangle_count; t++) {
        double distance = triangle_distance(s, s->now, t, s->now + 3 * vertex);
        if (!(distance < least))
            continue;
        double at_rest = triangle_distance(s, s->rest, t, s->rest + 3 * vertex);
        if (at_rest > around)
            least = distance, way = at_rest;
    }
    return way > far ? least : INFINITY;
}

/// Deepest vertex in what is far from it at rest: those of which a place just above is inside of the surface.
static double own_depth(const fold *f, double edge, int32_t *out_inside) {
    sn_body_info info = sn_model_body(f->model, 0);
    skin s = {info.surface_vertex_count, info.surface_triangle_count, info.surface_triangles, NULL, NULL};
    size_t bytes = 3 * (size_t)s.vertex_count * sizeof(double);
    sn_mesh_distance *distance = NULL;
    sn_state *start = NULL;
    s.rest = malloc(bytes), s.now = malloc(bytes);
    double *normal = calloc(3 * (size_t)s.vertex_count, sizeof *normal), deepest = 0;
    assert_done(f->ctx, sn_state_create(f->model, &start));
    sn_state_surface_positions(start, 0, s.rest);
    sn_state_surface_positions(f->state, 0, s.now);
    assert_done(f->ctx, sn_mesh_distance_create(f->ctx, s.vertex_count, s.now, s.triangle_count, s.triangle,
                                                &distance));
    for (int32_t t = 0; t < s.triangle_count; t++) {
        double ab[3], ac[3], across[3];
        const int32_t *v = s.triangle + 3 * t;
        sn_sub3(s.now + 3 * v[1], s.now + 3 * v[0], ab);
        sn_sub3(s.now + 3 * v[2], s.now + 3 * v[0], ac);
        sn_cross3(ab, ac, across);
        for (int k = 0; k < 9; k++)
            normal[3 * v[k / 3] + k % 3] += across[k % 3];
    }
    *out_inside = 0;
    for (int32_t v = 0; v < s.vertex_count; v++) {
        double above[3], unit[3];
        sn_unit3(normal + 3 * v, unit);
        for (int k = 0; k < 3; k++)
            above[k] = s.now[3 * v + k] + 1e-3 * edge * unit[k];
        if (!(sn_mesh_distance_winding(distance, above) > 0.5))
            continue;
        double depth = distance_from_far(&s, v, 0.7 * edge, 3 * edge);
        if (isinf(depth))
            continue;
        ++*out_inside;
        deepest = fmax(deepest, depth);
    }
    sn_mesh_distance_destroy(&distance);
    sn_state_destroy(&start);
    free(normal);
    free(s.rest);
    free(s.now);
    return deepest;
}

static void check_fold(const char *path, int32_t count, const char *const *overrides, int32_t least_points) {
    fold f;
    int32_t converged, inside;
    begin_fold(&f, path, count, overrides);
    double edge = sn_model_get_info(f.model).edge_mean;
    sn_step_info info = run_fold(&f, &converged);
    double depth = own_depth(&f, edge, &inside);
    printf("%d contacts, %.3g edges deep; found %d points, %.3g edges deep; %d steps converged\n",
           info.active_contacts, info.max_penetration / edge, inside, depth / edge, converged);
    assert_true(info.active_contacts >= least_points);
    assert_at_most(info.max_penetration, 0.1 * edge);
    assert_at_most(depth, 0.1 * edge);
    end_fold(&f);
}

/// The same without contact shows that there is something to hold apart, and that it is found.
static void skin_presses_on_skin(void **state) {
    (void)state;
    static const char *const coarse[] = {"bodies.arm.embed.cells=30", "contact=[]"};
    fold f;
    int32_t converged, inside;
    check_fold(SINEW_SOURCE_DIR "/tests/scenes/fold.yaml", 1, coarse, 20);
    begin_fold(&f, SINEW_SOURCE_DIR "/tests/scenes/fold.yaml", 2, coarse);
    run_fold(&f, &converged);
    double edge = sn_model_get_info(f.model).edge_mean;
    assert_true(own_depth(&f, edge, &inside) > 0.3 * edge && inside > 20);
    end_fold(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(skin_presses_on_skin)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
