// Trees: overlap and nearest against trying all items, refit, winding number against the plain sum, signed
// distance of a box and a ball against formulas.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base_util.h"
#include "geom/geom_bvh.h"
#include "geom/geom_mesh_distance.h"
#include "geom/geom_predicate.h"
#include "geom/geom_winding.h"
#include "math/math_mat3.h"

#include <stdlib.h>
#include <string.h>

enum { ITEMS = 1000, QUERIES = 300, RINGS = 40, SECTORS = 80 };

static sn_context *make_context(void) {
    sn_context *ctx = NULL;
    assert_int_equal(sn_context_create(NULL, &ctx), SN_OK);
    return ctx;
}

static void close_context(sn_context *ctx) {
    assert_int_equal(sn_context_memory_in_use(ctx), 0);
    sn_context_destroy(&ctx);
}

/// Small boxes on a coarse grid: many equal centers.
static void random_boxes(sn_random *random, double *box) {
    for (int i = 0; i < ITEMS; i++)
        for (int c = 0; c < 3; c++) {
            double center = 0.1 * sn_random_index(random, 11), half = 0.05 * sn_random_real(random);
            box[6 * i + c] = center - half;
            box[6 * i + 3 + c] = center + half;
        }
}

typedef struct hits {
    const double *box, *point;
    bool seen[ITEMS];
} hits;

static bool note_hit(void *user, int32_t item) {
    hits *h = user;
    assert_false(h->seen[item]);
    h->seen[item] = true;
    return true;
}

static double measure_box(void *user, int32_t item) {
    const hits *h = user;
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        double low = h->box[6 * item + c], high = h->box[6 * item + 3 + c], p = h->point[c];
        double d = p < low ? low - p : p > high ? p - high : 0;
        sum += d * d;
    }
    return sum;
}

static void check_tree(const sn_bvh *bvh, const double *box, sn_random *random) {
    for (int run = 0; run < QUERIES; run++) {
        double low[3], high[3], best = INFINITY, found = 0;
        int32_t first = -1;
        hits h = {.box = box, .point = low};
        for (int c = 0; c < 3; c++) {
            low[c] = run % 2 ? 0.1 * sn_random_index(random, 14) : sn_random_range(random, -0.2, 1.2);
            high[c] = low[c] + 0.1 * sn_random_real(random);
        }
        sn_bvh_overlap(bvh, low, high, note_hit, &h);
        for (int32_t i = 0; i < ITEMS; i++) {
            bool meets = true;
            for (int c = 0; c < 3; c++)
                meets &= box[6 * i + c] <= high[c] && box[6 * i + 3 + c] >= low[c];
            assert_true(h.seen[i] || !meets);
            double squared = measure_box(&h, i);
            if (squared < best) {
                best = squared;
                first = i;
            }
        }
        assert_int_equal(sn_bvh_nearest(bvh, low, INFINITY, measure_box, &h, &found), first);
        assert_true(found == best);
        if (best > 0)
            assert_int_equal(sn_bvh_nearest(bvh, low, 0.99 * best, measure_box, &h, NULL), -1);
    }
}

static void finds_what_trying_all_finds(void **state) {
    (void)state;
    sn_context *ctx = make_context();
    sn_random random = sn_random_make(4);
    static double box[6 * ITEMS];
    sn_bvh *bvh = NULL;
    random_boxes(&random, box);
    assert_int_equal(sn_bvh_create(ctx, ITEMS, box, &bvh), SN_OK);
    check_tree(bvh, box, &random);
    random_boxes(&random, box);
    sn_bvh_refit(bvh, box);
    check_tree(bvh, box, &random);
    sn_bvh_destroy(&bvh);
    assert_int_equal(sn_bvh_create(ctx, 0, box, &bvh), SN_OK);
    assert_int_equal(sn_bvh_nearest(bvh, box, INFINITY, measure_box, NULL, NULL), -1);
    sn_bvh_destroy(&bvh);
    close_context(ctx);
}

/// A ball of radius 1 in rings and sectors, with two poles.
typedef struct ball {
    double position[3 * (RINGS * SECTORS + 2)];
    int32_t triangle[6 * SECTORS * RINGS], triangle_count;
} ball;

static void add_triangle(ball *b, int32_t i, int32_t j, int32_t k) {
    int32_t *t = b->triangle + 3 * b->triangle_count++;
    t[0] = i, t[1] = j, t[2] = k;
}

static ball *make_ball(void) {
    ball *b = calloc(1, sizeof *b);
    int32_t south = RINGS * SECTORS, north = south + 1;
    for (int r = 0; r < RINGS; r++)
        for (int s = 0; s < SECTORS; s++) {
            double tilt = acos(-1) * (r + 1) / (RINGS + 1), turn = 2 * acos(-1) * s / SECTORS;
            double *p = b->position + 3 * (r * SECTORS + s);
            p[0] = sin(tilt) * cos(turn), p[1] = sin(tilt) * sin(turn), p[2] = -cos(tilt);
        }
    b->position[3 * south + 2] = -1;
    b->position[3 * north + 2] = 1;
    for (int s = 0; s < SECTORS; s++) {
        int32_t next = (s + 1) % SECTORS;
        add_triangle(b, south, next, s);
        add_triangle(b, north, (RINGS - 1) * SECTORS + s, (RINGS - 1) * SECTORS + next);
        for (int r = 0; r + 1 < RINGS; r++) {
            add_triangle(b, r * SECTORS + s, r * SECTORS + next, (r + 1) * SECTORS + s);
            add_triangle(b, r * SECTORS + next, (r + 1) * SECTORS + next, (r + 1) * SECTORS + s);
        }
    }
    return b;
}

/// Also with a hole: half of the triangles.
static void winding_number_equals_the_sum(void **state) {
    (void)state;
    sn_context *ctx = make_context();
    sn_random random = sn_random_make(6);
    ball *b = make_ball();
    for (int half = 0; half < 2; half++) {
        int32_t count = b->triangle_count / (1 + half);
        double *box = calloc((size_t)count * 6, sizeof *box), worst = 0;
        sn_bvh *bvh = NULL;
        sn_winding *winding = NULL;
        sn_triangle_boxes(count, b->triangle, b->position, box);
        assert_int_equal(sn_bvh_create(ctx, count, box, &bvh), SN_OK);
        assert_int_equal(sn_winding_create(ctx, b->position, b->triangle, bvh, &winding), SN_OK);
        for (int run = 0; run < QUERIES; run++) {
            double p[3], exact = 0;
            for (int c = 0; c < 3; c++)
                p[c] = sn_random_range(&random, -1.5, 1.5);
            for (int32_t t = 0; t < count; t++)
                exact += sn_triangle_solid_angle(p, b->position + 3 * b->triangle[3 * t],
                                                 b->position + 3 * b->triangle[3 * t + 1],
                                                 b->position + 3 * b->triangle[3 * t + 2]);
            worst = fmax(worst, fabs(exact / (4 * acos(-1)) - sn_winding_number(winding, p)));
            if (half == 0 && fabs(sn_norm3(p) - 1) > 0.01)
                assert_true(sn_winding_inside(winding, p) == (sn_norm3(p) < 1));
        }
        if (worst > 0.02)
            fail_msg("winding number off by %g", worst);
        sn_winding_destroy(&winding);
        sn_bvh_destroy(&bvh);
        free(box);
    }
    free(b);
    close_context(ctx);
}

static void ball_distance(void **state) {
    (void)state;
    sn_context *ctx = make_context();
    sn_random random = sn_random_make(7);
    ball *b = make_ball();
    sn_mesh_distance *distance = NULL;
    assert_int_equal(sn_mesh_distance_create(ctx, RINGS * SECTORS + 2, b->position, b->triangle_count,
                                             b->triangle, &distance),
                     SN_OK);
    // Facets of edge e lie up to e^2 / 4 below the ball.
    double sag = 0.25 * pow(2 * acos(-1) / SECTORS, 2);
    for (int run = 0; run < QUERIES; run++) {
        double p[3], nearest[3];
        for (int c = 0; c < 3; c++)
            p[c] = sn_random_range(&random, -1.5, 1.5);
        double found = sn_mesh_distance_query(distance, p, nearest);
        assert_true(fabs(found - (sn_norm3(p) - 1)) < sag + 1e-12);
        assert_true(fabs(fabs(found) - sn_distance3(p, nearest)) < 1e-14);
    }
    assert_true(isnan(sn_mesh_distance_query(distance, (double[3]){NAN, 0, 0}, NULL)));
    sn_mesh_distance_destroy(&distance);
    free(b);
    close_context(ctx);
}

static double box_distance(const double p[3], const double half[3]) {
    double outside = 0, inside = -INFINITY;
    for (int c = 0; c < 3; c++) {
        double d = fabs(p[c]) - half[c];
        outside += d > 0 ? d * d : 0;
        inside = fmax(inside, d);
    }
    return outside > 0 ? sqrt(outside) : inside;
}

/// Twelve large triangles, outward and turned inside out, far from the origin as well.
static void box_distance_is_exact(void **state) {
    (void)state;
    const double half[3] = {1, 2, 0.5};
    const int32_t quad[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    sn_random random = sn_random_make(8);
    for (int turned = 0; turned < 2; turned++) {
        sn_context *ctx = make_context();
        double place[24], shift = 100.0 * turned;
        int32_t triangle[36];
        for (int v = 0; v < 8; v++)
            for (int c = 0; c < 3; c++)
                place[3 * v + c] = (v >> c & 1 ? half[c] : -half[c]) + shift;
        for (int f = 0; f < 6; f++)
            for (int k = 0; k < 6; k++) {
                const int corner[6] = {0, 1, 2, 0, 2, 3};
                triangle[6 * f + (turned ? 5 - k : k)] = quad[f][corner[k]];
            }
        sn_mesh_distance *distance = NULL;
        assert_int_equal(sn_mesh_distance_create(ctx, 8, place, 12, triangle, &distance), SN_OK);
        for (int run = 0; run < QUERIES; run++) {
            double p[3], q[3];
            for (int c = 0; c < 3; c++) {
                p[c] = sn_random_range(&random, -2.5, 2.5);
                q[c] = p[c] + shift;
            }
            double found = sn_mesh_distance_query(distance, q, NULL), exact = box_distance(p, half);
            assert_true(fabs(found - exact) < 1e-12 * (1 + shift));
        }
        sn_mesh_distance_destroy(&distance);
        close_context(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_trying_all_finds),
        cmocka_unit_test(winding_number_equals_the_sum),
        cmocka_unit_test(ball_distance),
        cmocka_unit_test(box_distance_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
