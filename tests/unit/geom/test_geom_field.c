// Distance fields against trying all triangles: bounds that are never too large and of the right sign,
// distances and normals also on the surface, sweeps that miss nothing and report the first place; with
// flipped and flat triangles, a hole, overlapping and hollow bodies, small, large and far from the origin.
#include "test_support.h"

#include "base/base_util.h"
#include "geom/geom_field.h"
#include "geom/geom_predicate.h"
#include "math/math_mat3.h"

enum { MOST_VERTICES = 2000, MOST_TRIANGLES = 4000, RINGS = 8, SECTORS = 12 };

/// A surface twice: as it is given, and turned outward for the oracle.
typedef struct surface {
    const char *name;
    int32_t vertex_count, triangle_count;
    double position[3 * MOST_VERTICES], size;
    int32_t triangle[3 * MOST_TRIANGLES], outward[3 * MOST_TRIANGLES];
} surface;

static void add_triangle(surface *s, int32_t i, int32_t j, int32_t k) {
    int32_t *t = s->triangle + 3 * s->triangle_count++;
    t[0] = i, t[1] = j, t[2] = k;
}

static int32_t add_vertex(surface *s, double x, double y, double z) {
    double *p = s->position + 3 * s->vertex_count;
    p[0] = x, p[1] = y, p[2] = z;
    return s->vertex_count++;
}

/// Twelve triangles; inward if `turned`.
static void add_box(surface *s, const double center[3], const double half[3], bool turned) {
    static const int32_t quad[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                       {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    int32_t first = s->vertex_count;
    for (int v = 0; v < 8; v++)
        add_vertex(s, center[0] + (v & 1 ? half[0] : -half[0]), center[1] + (v & 2 ? half[1] : -half[1]),
                   center[2] + (v & 4 ? half[2] : -half[2]));
    for (int f = 0; f < 6; f++) {
        const int32_t *q = quad[f];
        int32_t a = first + q[0], b = first + q[turned ? 2 : 1], c = first + q[turned ? 1 : 2];
        int32_t d = first + q[turned ? 3 : 2], e = first + q[turned ? 2 : 3];
        add_triangle(s, a, b, c);
        add_triangle(s, a, d, e);
    }
}

static void add_ball(surface *s, double radius) {
    int32_t first = s->vertex_count;
    for (int r = 0; r < RINGS; r++)
        for (int k = 0; k < SECTORS; k++) {
            double tilt = acos(-1) * (r + 1) / (RINGS + 1), turn = 2 * acos(-1) * k / SECTORS;
            add_vertex(s, radius * sin(tilt) * cos(turn), radius * sin(tilt) * sin(turn),
                       -radius * cos(tilt));
        }
    int32_t south = add_vertex(s, 0, 0, -radius), north = add_vertex(s, 0, 0, radius);
    for (int32_t k = 0; k < SECTORS; k++) {
        int32_t next = (k + 1) % SECTORS;
        add_triangle(s, south, first + next, first + k);
        add_triangle(s, north, first + (RINGS - 1) * SECTORS + k, first + (RINGS - 1) * SECTORS + next);
        for (int32_t r = 0; r + 1 < RINGS; r++) {
            int32_t row = first + r * SECTORS, up = row + SECTORS;
            add_triangle(s, row + k, row + next, up + k);
            add_triangle(s, row + next, up + next, up + k);
        }
    }
}

/// Turns every `period`-th triangle as given; the oracle keeps them.
static void flip_some(surface *s, int32_t period) {
    for (int32_t t = 0; t < s->triangle_count; t += period) {
        int32_t *v = s->triangle + 3 * t, swap = v[1];
        v[1] = v[2], v[2] = swap;
    }
}

enum { BALL, BOX, FLIPPED, INSIDE_OUT, HOLE, OVERLAP, HOLLOW, SPLIT, FLAT, KINDS };

static surface *make_surface(int kind, double scale, double shift) {
    static const double origin[3] = {0}, half[3] = {1, 0.6, 0.3}, small[3] = {0.5, 0.3, 0.1},
                        beside[3] = {0.8, 0.4, 0.1};
    static const char *const name[KINDS] = {"ball",
                                            "box",
                                            "ball, flipped triangles",
                                            "ball inside out",
                                            "ball, hole",
                                            "overlapping boxes",
                                            "hollow box",
                                            "split vertices",
                                            "flat triangles"};
    surface *s = calloc(1, sizeof *s);
    s->name = name[kind];
    if (kind == BOX || kind == OVERLAP || kind == HOLLOW)
        add_box(s, origin, half, false);
    else
        add_ball(s, 1);
    if (kind == OVERLAP)
        add_box(s, beside, half, false);
    if (kind == HOLLOW)
        add_box(s, origin, small, true);
    if (kind == HOLE)
        s->triangle_count -= 3;
    if (kind == SPLIT) // each triangle has vertices of its own
        for (int32_t i = 0; i < 3 * s->triangle_count; i++) {
            const double *p = s->position + 3 * s->triangle[i];
            s->triangle[i] = add_vertex(s, p[0], p[1], p[2]);
        }
    if (kind == FLAT)
        for (int32_t t = 0; t < 40; t += 4) { // a point, a line, and one of no thickness
            int32_t *v = s->triangle + 3 * t;
            const double *p = s->position + 3 * v[0], *q = s->position + 3 * v[1];
            int32_t middle = add_vertex(s, (p[0] + q[0]) / 2, (p[1] + q[1]) / 2, (p[2] + q[2]) / 2);
            add_triangle(s, v[0], v[0], v[0]);
            add_triangle(s, v[0], v[1], v[1]);
            add_triangle(s, v[0], v[1], middle);
        }
    memcpy(s->outward, s->triangle, sizeof s->triangle);
    if (kind == FLIPPED)
        flip_some(s, 7);
    if (kind == INSIDE_OUT)
        flip_some(s, 1);
    if (kind == SPLIT)
        flip_some(s, 11);
    for (int32_t i = 0; i < 3 * s->vertex_count; i++)
        s->position[i] = scale * (s->position[i] + shift);
    s->size = scale;
    return s;
}

static const double *corner(const surface *s, int32_t triangle, int k) {
    return s->position + 3 * s->triangle[3 * triangle + k];
}

static double exact_winding(const surface *s, const double p[3]) {
    double sum = 0;
    for (int32_t t = 0; t < s->triangle_count; t++) {
        const int32_t *v = s->outward + 3 * t;
        sum += sn_triangle_solid_angle(p, s->position + 3 * v[0], s->position + 3 * v[1],
                                       s->position + 3 * v[2]);
    }
    return sum / (4 * acos(-1));
}

/// Distance without sign.
static double exact_length(const surface *s, const double p[3]) {
    double best = INFINITY, nearest[3];
    for (int32_t t = 0; t < s->triangle_count; t++)
        best = fmin(best, sn_triangle_nearest(p, corner(s, t, 0), corner(s, t, 1), corner(s, t, 2), nearest));
    return sqrt(best);
}

static double exact_distance(const surface *s, const double p[3]) {
    return fabs(exact_winding(s, p)) >= 0.5 ? -exact_length(s, p) : exact_length(s, p);
}

typedef struct fixture {
    sn_context *ctx;
    surface *s;
    sn_mesh_distance *distance;
    sn_distance_field *field;
    double shift;
    sn_random random;
} fixture;

static fixture open_fixture(int kind, double scale, double shift, double spacing, int32_t threads) {
    fixture f = {test_context(threads), make_surface(kind, scale, shift), NULL, NULL, shift * scale,
                 sn_random_make(17)};
    assert_done(f.ctx, sn_mesh_distance_create(f.ctx, f.s->vertex_count, f.s->position, f.s->triangle_count,
                                               f.s->triangle, &f.distance));
    assert_done(f.ctx,
                sn_distance_field_create(f.ctx, f.distance, spacing * scale, SN_FIELD_CELLS_MAX, &f.field));
    return f;
}

static void close_fixture(fixture *f) {
    sn_distance_field_destroy(&f->field);
    sn_mesh_distance_destroy(&f->distance);
    free(f->s);
    test_context_end(&f->ctx);
}

static void random_place(fixture *f, double spread, double out[3]) {
    for (int c = 0; c < 3; c++)
        out[c] = f->shift + f->s->size * sn_random_range(&f->random, -spread, spread);
}

/// A random place of the surface, in turn on a face, an edge, a corner.
static void surface_place(fixture *f, int run, double out[3]) {
    int32_t t = sn_random_index(&f->random, f->s->triangle_count);
    double u = sn_random_real(&f->random), v = sn_random_real(&f->random) * (1 - u);
    if (run % 3 == 1)
        v = 0;
    if (run % 3 == 2)
        u = v = 0;
    const double *a = corner(f->s, t, 0), *b = corner(f->s, t, 1), *c = corner(f->s, t, 2);
    for (int k = 0; k < 3; k++)
        out[k] = a[k] + u * (b[k] - a[k]) + v * (c[k] - a[k]);
}

/// A place near the hole of HOLE: its missing triangles still stand behind the others.
static void hole_place(fixture *f, double out[3]) {
    const double *a = corner(f->s, f->s->triangle_count, 0);
    for (int c = 0; c < 3; c++)
        out[c] = a[c] + f->s->size * sn_random_range(&f->random, -0.3, 0.3);
}

static void check_bound(fixture *f, const double p[3]) {
    double winding = fabs(exact_winding(f->s, p)), length = exact_length(f->s, p),
           exact = winding >= 0.5 ? -length : length, bound = sn_distance_field_bound(f->field, p),
           found = sn_distance_field_distance(f->field, p), slack = 1e-13 * f->s->size * (1 + fabs(f->shift));
    if (fabs(winding - 0.5) < 0.03)
        return; // in the face that closes the hole
    if (!(fabs(found - exact) <= slack))
        fail_msg("%s: distance %.17g instead of %.17g", f->s->name, found, exact);
    if (!(fabs(bound) <= fabs(exact) * (1 + 1e-12) + slack) ||
        (fabs(exact) > slack && (bound < 0) != (exact < 0)))
        fail_msg("%s: bound %.17g of the distance %.17g", f->s->name, bound, exact);
    // Worth a step: twice the way from a block's center to its corner is lost, and outside of the grid what
    // two sides of a triangle lose against the third.
    if (fabs(bound) < 0.7 * fabs(exact) - 7 * sn_distance_field_spacing(f->field))
        fail_msg("%s: bound %g is too little of the distance %g", f->s->name, bound, exact);
}

static void bounds_hold(void **state) {
    (void)state;
    static const double place[3][2] = {{1, 0}, {1e-3, 0.5}, {1e3, -3}};
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < 3; i++) {
            fixture f = open_fixture(kind, place[i][0], place[i][1], 1.0 / 16, 1);
            double p[3];
            // Edges with a third triangle, flat as it may be, are not closed.
            assert_true(sn_mesh_distance_is_closed(f.distance) == (kind != HOLE && kind != FLAT));
            for (int run = 0; run < 200; run++) {
                random_place(&f, run % 3 == 0 ? 4 : 1.3, p);
                if (kind == HOLE && run % 2 == 0)
                    hole_place(&f, p);
                check_bound(&f, p);
                surface_place(&f, run, p);
                for (int c = 0; c < 3; c++)
                    p[c] += f.s->size * pow(10, -run % 14) * sn_random_range(&f.random, -0.2, 0.2);
                check_bound(&f, p);
            }
            close_fixture(&f);
        }
}

/// A piece of the ball's wall turned over is found out, and the sides of a cavity as well.
static void normals_point_outward(void **state) {
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        fixture f = open_fixture(kind, 1, 0.25, 1.0 / 16, 1);
        for (int run = 0; run < 600; run++) {
            double p[3], foot[3], normal[3], plain[3];
            surface_place(&f, run, p);
            bool on_surface = run % 2 == 0;
            for (int c = 0; c < 3 && !on_surface; c++)
                p[c] += pow(10, -run % 17) * sn_random_range(&f.random, -0.5, 0.5);
            double found = sn_distance_field_nearest(f.field, p, foot, normal);
            assert_near(sn_norm3(normal), 1, 4e-16);
            assert_near(fabs(found), sn_distance3(p, foot), 1e-15);
            // The way from the foot, but where rounding has the say.
            double reach = fabs(found) > 1e-9 ? fabs(found) : 1e-9;
            for (int c = 0; c < 3; c++)
                plain[c] = foot[c] + (found < 0 ? -1 : 1) * reach * normal[c];
            if (fabs(found) > 1e-9)
                assert_at_most(sn_distance3(plain, p), 1e-15 + 1e-6 * reach);
            // Out of the solid: the oracle says so on either side, but next to the hole and where boxes meet.
            if (on_surface && kind != HOLE && kind != OVERLAP) {
                double out[3], in[3];
                for (int c = 0; c < 3; c++) {
                    out[c] = foot[c] + 1e-6 * normal[c];
                    in[c] = foot[c] - 1e-6 * normal[c];
                }
                if (!(exact_distance(f.s, out) > 0 && exact_distance(f.s, in) < 0))
                    fail_msg("%s: normal (%g, %g, %g) at (%g, %g, %g) is not outward", f.s->name, normal[0],
                             normal[1], normal[2], foot[0], foot[1], foot[2]);
            }
        }
        close_fixture(&f);
    }
}

/// Faces have their own normal exactly, from any distance; corners the mean of the faces.
static void box_normals_are_exact(void **state) {
    (void)state;
    static const double distance[] = {0, 1e-17, 1e-16, 1e-12, 1e-3, 0.1, -1e-17, -1e-12, -1e-3};
    fixture f = open_fixture(BOX, 1, 0, 1.0 / 24, 1);
    double foot[3], normal[3];
    for (size_t i = 0; i < sizeof distance / sizeof *distance; i++) {
        const double p[3] = {0.31, -0.17, 0.3 + distance[i]};
        double found = sn_distance_field_nearest(f.field, p, foot, normal);
        assert_near(found, distance[i], 1e-16);
        assert_true(normal[0] == 0 && normal[1] == 0 && normal[2] == 1);
    }
    sn_distance_field_nearest(f.field, (double[3]){1, 0.6, 0.3}, foot, normal);
    for (int c = 0; c < 3; c++)
        assert_near(normal[c], 1 / sqrt(3), 1e-15);
    sn_distance_field_nearest(f.field, (double[3]){1, 0.6, 0.1}, foot, normal);
    assert_true(fabs(normal[0] - sqrt(0.5)) < 1e-15 && fabs(normal[1] - sqrt(0.5)) < 1e-15);
    close_fixture(&f);
}

/// A sheet without thickness, a lone triangle and a lone point are open, flat or nothing, yet have normals.
static void odd_surfaces_have_normals(void **state) {
    (void)state;
    static const double position[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
    static const int32_t sheet[12] = {0, 1, 2, 2, 1, 3, 0, 2, 1, 2, 3, 1}, point[3] = {3, 3, 3},
                         line[3] = {0, 1, 1};
    const struct {
        int32_t count;
        const int32_t *triangle;
    } odd[] = {{4, sheet}, {2, sheet}, {1, sheet}, {1, point}, {1, line}};
    sn_context *ctx = test_context(1);
    sn_random random = sn_random_make(3);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        sn_mesh_distance *distance = NULL;
        sn_distance_field *field = NULL;
        assert_done(ctx, sn_mesh_distance_create(ctx, 4, position, odd[i].count, odd[i].triangle, &distance));
        assert_done(ctx, sn_distance_field_create(ctx, distance, 0.1, 5000, &field));
        for (int run = 0; run < 500; run++) {
            double p[3], foot[3], normal[3];
            for (int c = 0; c < 3; c++)
                p[c] = run % 2 == 0 ? sn_random_range(&random, -0.5, 1.5) : sn_random_index(&random, 3) * 0.5;
            double found = sn_distance_field_nearest(field, p, foot, normal);
            assert_near(sn_norm3(normal), 1, 4e-16);
            assert_near(fabs(found), sn_distance3(p, foot), 1e-15);
            assert_true(fabs(sn_distance_field_bound(field, p)) <= fabs(found) + 1e-15);
        }
        assert_true(isnan(sn_distance_field_bound(field, (double[3]){NAN, 0, 0})));
        assert_true(isnan(sn_distance_field_bound(field, (double[3]){0, NAN, NAN})));
        sn_distance_field_destroy(&field);
        sn_mesh_distance_destroy(&distance);
    }
    test_context_end(&ctx);
}

/// What a sweep says is checked at many places of the way: before its answer nothing is in reach.
static void check_sweep(fixture *f, const double from[3], const double to[3], double slack) {
    enum { PLACES = 30 };
    double part = 1, p[3], rounding = 1e-13 * (sn_norm3(from) + sn_norm3(to));
    bool met = sn_distance_field_sweep(f->field, from, to, slack, &part);
    assert_true(part >= 0 && part <= 1);
    for (int i = 0; i <= PLACES; i++) {
        for (int c = 0; c < 3; c++)
            p[c] = from[c] + part * i / PLACES * (to[c] - from[c]);
        double exact = exact_distance(f->s, p);
        bool last = met && i == PLACES;
        if (last ? exact > slack * (1 + 1e-5) + rounding : exact <= slack * (1 - 1e-9) - rounding)
            fail_msg("%s: %s at %.17g, but the distance at %d/%d of it is %g of the slack", f->s->name,
                     met ? "met" : "not met", part, i, PLACES, exact / slack);
    }
}

static void sweeps_meet_what_is_there(void **state) {
    (void)state;
    static const double scales[3] = {1, 1e-3, 1e3};
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < 3; i++) {
            fixture f = open_fixture(kind, scales[i], 0.25, 1.0 / 16, 1);
            for (int run = 0; run < 25; run++) {
                double from[3], to[3], slack = f.s->size * pow(10, -1 - run % 6);
                do
                    random_place(&f, run % 2 == 0 ? 3 : 1.2, from);
                while (exact_distance(f.s, from) < 1.01 * slack);
                random_place(&f, 1.5, to);
                for (int c = 0; c < 3 && run % 5 == 0; c++) // a short way
                    to[c] = from[c] + 0.02 * (to[c] - from[c]);
                // A way through the open face of the hole is met where it has been passed, not before.
                double part = 0;
                if (kind != HOLE)
                    check_sweep(&f, from, to, slack);
                else if (exact_distance(f.s, to) < slack && fabs(exact_winding(f.s, to)) > 0.55)
                    assert_true(sn_distance_field_sweep(f.field, from, to, slack, &part));
            }
            close_fixture(&f);
        }
}

/// Starts inside, on the surface and within the slack are met at once; a way of no length has an answer.
static void sweeps_begin_anywhere(void **state) {
    (void)state;
    fixture f = open_fixture(BOX, 1, 0, 1.0 / 16, 1);
    const double from[][3] = {{0, 0, 0}, {0, 0, 0.29}, {0.2, 0.1, 0.3}, {0.2, 0.1, 0.3 + 0.9e-6}},
                 away[3] = {0, 0, 3};
    double part = 2;
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        assert_true(sn_distance_field_sweep(f.field, from[i], away, 1e-6, &part) && part == 0);
        assert_true(sn_distance_field_sweep(f.field, from[i], from[i], 1e-6, &part) && part == 0);
    }
    assert_false(sn_distance_field_sweep(f.field, away, away, 1e-6, &part));
    assert_true(sn_distance_field_sweep(f.field, away, away, 3, &part) && part == 0);
    close_fixture(&f);
}

/// A plate of a millionth of the way's length, from ten thousand of its widths away: crossed, grazed, passed.
static void nothing_is_too_thin(void **state) {
    (void)state;
    surface *s = calloc(1, sizeof *s);
    sn_context *ctx = test_context(1);
    sn_mesh_distance *distance = NULL;
    sn_distance_field *field = NULL;
    const double far = 1e4, thin = 1e-6;
    add_box(s, (double[3]){0}, (double[3]){1, 1, thin / 2}, false);
    assert_done(ctx, sn_mesh_distance_create(ctx, s->vertex_count, s->position, s->triangle_count,
                                             s->triangle, &distance));
    assert_done(ctx, sn_distance_field_create(ctx, distance, 1.0 / 32, SN_FIELD_CELLS_MAX, &field));
    sn_random random = sn_random_make(5);
    for (int run = 0; run < 2000; run++) {
        double to[3], from[3], part = 2, x = sn_random_range(&random, -1.2, 1.2),
                               y = sn_random_range(&random, -1.2, 1.2), slack = 1e-8;
        for (int c = 0; c < 2; c++) {
            from[c] = sn_random_range(&random, -far, far);
            to[c] = 2 * (c == 0 ? x : y) - from[c];
        }
        from[2] = run % 2 == 0 ? far : 0.01, to[2] = -from[2];
        bool hits = fabs(x) < 1 && fabs(y) < 1;
        if (fmin(fabs(fabs(x) - 1), fabs(fabs(y) - 1)) < 1e-3) // by the rim
            continue;
        // Ways that lie flat reach the plate at its rim.
        bool met = sn_distance_field_sweep(field, from, to, slack, &part);
        if (run % 2 == 0 ? met != hits : hits && !met)
            fail_msg("a way through (%g, %g) %s", x, y, met ? "met the plate" : "missed the plate");
        if (run % 2 == 0 && met)
            assert_near(part, 0.5, 1e-9);
    }
    // Along the face, just within the slack and just out of it.
    double part = 2;
    for (int i = 0; i < 2; i++) {
        double z = thin / 2 + (i == 0 ? 0.999e-4 : 1.001e-4);
        assert_true(sn_distance_field_sweep(field, (double[3]){-far, 0.3, z}, (double[3]){far, 0.4, z}, 1e-4,
                                            &part) == (i == 0));
    }
    sn_distance_field_destroy(&field);
    sn_mesh_distance_destroy(&distance);
    free(s);
    test_context_end(&ctx);
}

/// The same field from any number of threads, bit for bit.
static void threads_do_not_matter(void **state) {
    (void)state;
    fixture a = open_fixture(OVERLAP, 1, 0, 1.0 / 40, 1), b = open_fixture(OVERLAP, 1, 0, 1.0 / 40, 3);
    for (int run = 0; run < 20000; run++) {
        double p[3];
        random_place(&a, 1.5, p);
        assert_true(sn_distance_field_bound(a.field, p) == sn_distance_field_bound(b.field, p));
    }
    close_fixture(&a);
    close_fixture(&b);
}

static void large_fields_are_made_coarser(void **state) {
    (void)state;
    fixture f = open_fixture(BALL, 1, 0, 1.0 / 24, 2);
    static const double spacing[] = {1e-300, 1e-9, 0.02};
    for (int i = 0; i < 3; i++) {
        sn_distance_field_destroy(&f.field);
        assert_done(f.ctx, sn_distance_field_create(f.ctx, f.distance, spacing[i], 6000, &f.field));
        assert_in_range(sn_distance_field_cells(f.field), 1500, 6000);
        assert_true(sn_distance_field_spacing(f.field) > 0.05);
        double p[3];
        for (int run = 0; run < 300; run++) {
            random_place(&f, 1.5, p);
            check_bound(&f, p);
        }
    }
    // One that fits keeps the spacing asked for.
    sn_distance_field_destroy(&f.field);
    assert_done(f.ctx, sn_distance_field_create(f.ctx, f.distance, 0.1, SN_FIELD_CELLS_MAX, &f.field));
    assert_true(sn_distance_field_spacing(f.field) == 0.1);
    close_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_hold),
        cmocka_unit_test(normals_point_outward),
        cmocka_unit_test(box_normals_are_exact),
        cmocka_unit_test(odd_surfaces_have_normals),
        cmocka_unit_test(sweeps_meet_what_is_there),
        cmocka_unit_test(sweeps_begin_anywhere),
        cmocka_unit_test(nothing_is_too_thin),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(large_fields_are_made_coarser),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
