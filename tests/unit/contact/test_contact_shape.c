// Rigid shapes as contact sees them: distances against a plain test of inside and outside, normals and feet
// also on surfaces, edges, corners and axes, sweeps against many places of the way, all at three sizes.
#include "unit/mesh/mesh_fixture.h"

#include "contact/contact_shape.h"
#include "geom/geom_predicate.h"
#include "math/math_mat3.h"

/// The shapes tried, of a size of about 1 before scaling. The plate is a thin box, the rod a thin capsule.
enum { PLANE, SPHERE, CAPSULE, BOX, PLATE, ROD, BLOCK, BALL, TORN_BALL, KINDS };

typedef struct fixture {
    sn_context *ctx;
    int kind;
    double scale;
    sn_shape_def def;
    sn_mesh_data *surface; ///< as given
    int32_t outward_count; ///< of BLOCK and the balls: the triangles that bound them
    int32_t *outward;
    sn_contact_shape *shape;
    sn_random random;
} fixture;

static const double center[3] = {0.3, -0.2, 0.1}, half_size[3] = {1, 0.6, 0.3};

/// A surface about `center`; TORN_BALL has some triangles turned over and two missing.
static void make_surface(fixture *f) {
    sn_make_def make = sn_make_def_default(f->kind == BLOCK ? SN_MAKE_BLOCK : SN_MAKE_SPHERE);
    sn_mesh_data *made = NULL;
    int32_t *triangle = NULL, count = 0;
    for (int c = 0; c < 3; c++)
        make.size[c] = 2 * (f->kind == BLOCK ? half_size[c] : 1);
    make.cells = f->kind == BLOCK ? 5 : 6;
    assert_done(f->ctx, sn_mesh_make(f->ctx, &make, &made, NULL));
    assert_done(f->ctx, sn_mesh_data_triangles(made, &count, &triangle));
    for (int32_t i = 0; i < 3 * made->vertex_count; i++)
        made->position[i] = f->scale * (made->position[i] + center[i % 3]);
    f->outward = calloc(3 * (size_t)count, sizeof *f->outward);
    memcpy(f->outward, triangle, 3 * (size_t)count * sizeof *triangle);
    f->outward_count = count;
    for (int32_t t = 0; t < count && f->kind == TORN_BALL; t += 5) {
        int32_t swap = triangle[3 * t];
        triangle[3 * t] = triangle[3 * t + 1], triangle[3 * t + 1] = swap;
    }
    f->surface = fixture_data(f->ctx, made->vertex_count, made->position, SN_CELL_TRIANGLE,
                              f->kind == TORN_BALL ? count - 2 : count, triangle);
    sn_mesh_data_free_array(made, triangle);
    sn_mesh_data_destroy(&made);
    f->def.surface = f->surface;
}

/// Shapes borrow their definition: the fixture stays where it is.
static fixture *open_fixture(int kind, double scale, double spacing) {
    static const sn_shape_kind of[KINDS] = {SN_SHAPE_PLANE, SN_SHAPE_SPHERE, SN_SHAPE_CAPSULE,
                                            SN_SHAPE_BOX,   SN_SHAPE_BOX,    SN_SHAPE_CAPSULE,
                                            SN_SHAPE_MESH,  SN_SHAPE_MESH,   SN_SHAPE_MESH};
    fixture *f = malloc(sizeof *f);
    *f = (fixture){.ctx = test_context(1), .kind = kind, .scale = scale, .random = sn_random_make(11)};
    f->def.kind = of[kind];
    f->def.radius = scale * (kind == ROD ? 1e-6 : 0.4);
    sn_unit3((double[3]){0.3, -0.5, 2}, f->def.normal);
    for (int c = 0; c < 3; c++) {
        f->def.point[c] = scale * center[c];
        f->def.point2[c] = scale * (center[c] + half_size[c]);
        f->def.half_size[c] = scale * half_size[c];
    }
    if (kind == PLATE)
        f->def.half_size[1] = scale * 5e-7;
    if (f->def.kind == SN_SHAPE_MESH)
        make_surface(f);
    assert_done(f->ctx, sn_contact_shape_create(f->ctx, &f->def, spacing * scale, &f->shape));
    return f;
}

static void close_fixture(fixture *f) {
    sn_contact_shape_destroy(f->ctx, &f->shape);
    sn_mesh_data_destroy(&f->surface);
    free(f->outward);
    test_context_end(&f->ctx);
    free(f);
}

static void random_place(fixture *f, double spread, double out[3]) {
    for (int c = 0; c < 3; c++)
        out[c] = f->scale * (center[c] + sn_random_range(&f->random, -spread, spread));
}

/// Whether a point is inside, without any distance.
static bool is_inside(const fixture *f, const double p[3]) {
    const sn_shape_def *d = &f->def;
    double arm[3], axis[3];
    sn_sub3(p, d->point, arm);
    switch (d->kind) {
    case SN_SHAPE_PLANE:
        return sn_dot3(arm, d->normal) < 0;
    case SN_SHAPE_SPHERE:
        return sn_dot3(arm, arm) < d->radius * d->radius;
    case SN_SHAPE_CAPSULE: { // the nearest place of the axis, by halving where the way there turns
        double low = 0, high = 1;
        for (int i = 0; i < 60; i++) {
            double u = 0.5 * (low + high), way[3];
            sn_sub3(d->point2, d->point, axis);
            for (int c = 0; c < 3; c++)
                way[c] = arm[c] - u * axis[c];
            if (sn_dot3(way, axis) > 0)
                low = u;
            else
                high = u;
        }
        for (int c = 0; c < 3; c++)
            arm[c] -= low * axis[c];
        return sn_dot3(arm, arm) < d->radius * d->radius;
    }
    case SN_SHAPE_BOX:
        return fabs(arm[0]) < d->half_size[0] && fabs(arm[1]) < d->half_size[1] &&
               fabs(arm[2]) < d->half_size[2];
    case SN_SHAPE_MESH: // these are convex
        for (int32_t t = 0; t < f->outward_count; t++) {
            const double *corner[3];
            double ab[3], ac[3], normal[3];
            for (int k = 0; k < 3; k++)
                corner[k] = f->surface->position + 3 * f->outward[3 * t + k];
            sn_sub3(corner[1], corner[0], ab);
            sn_sub3(corner[2], corner[0], ac);
            sn_cross3(ab, ac, normal);
            sn_sub3(p, corner[0], arm);
            if (sn_dot3(arm, normal) > 0)
                return false;
        }
        return true;
    }
    return false;
}

/// No place on the other side is nearer than the distance, and the foot is where the sides meet.
static void distances_are_true(void **state) {
    (void)state;
    static const double scales[3] = {1, 1e-3, 1e3};
    for (int kind = 0; kind < TORN_BALL; kind++)
        for (int i = 0; i < 3; i++) {
            fixture *f = open_fixture(kind, scales[i], 0.05);
            enum { PLACES = 300 };
            static double place[PLACES][3];
            double foot[3], normal[3], distance[PLACES], eps = 1e-14 * f->scale;
            for (int n = 0; n < PLACES; n++) {
                random_place(f, n % 3 == 0 ? 4 : 1.2, place[n]);
                distance[n] = sn_contact_shape_nearest(f->shape, place[n], foot, normal);
                double bound = sn_contact_shape_bound(f->shape, place[n]);
                assert_true((distance[n] < 0) == is_inside(f, place[n]));
                assert_near(sn_contact_shape_distance(f->shape, place[n]), distance[n], 0);
                assert_true(bound * distance[n] > 0 && fabs(bound) <= fabs(distance[n]));
                if (f->def.kind != SN_SHAPE_MESH)
                    assert_true(bound == distance[n]);
                assert_near(sn_norm3(normal), 1, 4e-16);
                double out[3], in[3];
                for (int c = 0; c < 3; c++) {
                    assert_near(foot[c] + distance[n] * normal[c], place[n][c], eps);
                    out[c] = foot[c] + 1e-8 * f->scale * normal[c];
                    in[c] = foot[c] - 1e-8 * f->scale * normal[c];
                }
                assert_true(is_inside(f, in) && !is_inside(f, out));
            }
            for (int n = 0; n < PLACES; n++)
                for (int m = 0; m < n; m++) {
                    double apart = sn_distance3(place[n], place[m]);
                    assert_true(fabs(distance[n] - distance[m]) <= apart + eps);
                }
            close_fixture(f);
        }
}

/// Near the surface, down to rounding, and on it.
static void surfaces_have_normals(void **state) {
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        fixture *f = open_fixture(kind, 1, 0.05);
        for (int run = 0; run < 800; run++) {
            double p[3], foot[3], normal[3], foot2[3], normal2[3];
            random_place(f, 1.2, p);
            sn_contact_shape_nearest(f->shape, p, foot, normal);
            // The same place from both sides at every scale.
            for (int c = 0; c < 3; c++)
                p[c] = foot[c] + (run % 2 == 0 ? 1 : -1) * pow(10, -run % 19) * 1e-2 * normal[c];
            double distance = sn_contact_shape_nearest(f->shape, p, foot2, normal2);
            assert_near(sn_norm3(normal2), 1, 4e-16);
            assert_near(sn_distance3(p, foot2), fabs(distance), 1e-15);
            if (kind != PLATE && kind != ROD && run % 2 == 0 && distance > 1e-12)
                assert_at_most(sn_distance3(normal, normal2), 1e-3);
            if (kind == PLANE || kind == SPHERE)
                assert_at_most(sn_distance3(normal, normal2), 1e-14);
        }
        close_fixture(f);
    }
}

static void check_normal(const fixture *f, double x, double y, double z, double distance, double nx,
                         double ny, double nz) {
    double foot[3], normal[3], found = sn_contact_shape_nearest(f->shape, (double[3]){x, y, z}, foot, normal);
    if (!(fabs(found - distance) <= 1e-15) || normal[0] != nx || normal[1] != ny || normal[2] != nz)
        fail_msg("at (%g, %g, %g): distance %.17g, normal (%.17g, %.17g, %.17g)", x, y, z, found, normal[0],
                 normal[1], normal[2]);
}

static void boxes_know_their_faces(void **state) {
    (void)state;
    fixture *f = open_fixture(BOX, 1, 0);
    sn_contact_shape_destroy(f->ctx, &f->shape);
    memset(f->def.point, 0, sizeof f->def.point);
    assert_done(f->ctx, sn_contact_shape_create(f->ctx, &f->def, 0, &f->shape));
    static const double hairs[] = {0, 1e-17, 1.2e-16, 1e-12, 1e-3};
    for (size_t i = 0; i < sizeof hairs / sizeof *hairs; i++) {
        double h = hairs[i];
        check_normal(f, 0.2, 0.1, 0.3 + h, h, 0, 0, 1);
        check_normal(f, 0.2, 0.1, -0.3 - h, h, 0, 0, -1);
        check_normal(f, 0.2, 0.1, 0.3 - h, -h, 0, 0, 1);
        check_normal(f, -1 - h, 0.6, 0.1, h, -1, 0, 0);
        check_normal(f, 0.5, -0.6 + h, 0.1, -h, 0, -1, 0);
    }
    check_normal(f, 1, 0.6, 0.3, 0, 1, 0, 0);
    check_normal(f, 0, 0, 0, -0.3, 0, 0, 1);
    // Outside of a corner and an edge the normal is slanted.
    double foot[3], normal[3], third = 1 / sqrt(3), half = sqrt(0.5);
    sn_contact_shape_nearest(f->shape, (double[3]){1.01, -0.61, 0.31}, foot, normal);
    assert_true(fabs(normal[0] - third) < 1e-13 && fabs(normal[1] + third) < 1e-13);
    assert_true(foot[0] == 1 && fabs(foot[1] + 0.6) < 1e-15 && fabs(foot[2] - 0.3) < 1e-15);
    sn_contact_shape_nearest(f->shape, (double[3]){1.01, -0.61, 0.2}, foot, normal);
    assert_true(fabs(normal[0] - half) < 1e-13 && fabs(normal[1] + half) < 1e-13 && normal[2] == 0);
    close_fixture(f);
}

/// Centers and axes have many nearest places: one of them will do.
static void centers_have_normals(void **state) {
    (void)state;
    static const int kinds[] = {SPHERE, CAPSULE, ROD, BOX, BALL};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        fixture *f = open_fixture(kinds[k], 1, 0.05);
        for (int run = 0; run < 200; run++) {
            double p[3], foot[3], normal[3], along = run / 199.0;
            // Slanted ever less: what rounding leaves of the way to the axis then lies along it.
            for (int c = 0; c < 3 && f->def.kind == SN_SHAPE_CAPSULE; c++) {
                f->def.point[c] = run % 2 == 0 ? 0 : center[c];
                f->def.point2[c] = f->def.point[c] + half_size[c] * (c == 0 ? 1 : pow(10, -run % (15 + c)));
            }
            for (int c = 0; c < 3; c++) {
                p[c] = f->def.point[c];
                if (f->def.kind == SN_SHAPE_CAPSULE)
                    p[c] += along * (f->def.point2[c] - f->def.point[c]);
                p[c] += run % 3 == 0 ? 0 : 1e-16 * sn_random_range(&f->random, -1, 1);
            }
            double distance = sn_contact_shape_nearest(f->shape, p, foot, normal);
            assert_near(sn_norm3(normal), 1, 4e-16);
            assert_near(sn_contact_shape_distance(f->shape, foot), 0, 1e-15);
            assert_near(sn_distance3(p, foot), -distance, 1e-15);
            if (kinds[k] != BALL && kinds[k] != BOX)
                assert_near(distance, -f->def.radius, 1e-15);
        }
        close_fixture(f);
    }
}

/// Distances, normals and sweeps of a scaled shape are the scaled ones.
static void size_does_not_matter(void **state) {
    (void)state;
    static const double scales[2] = {1e-3, 1e3};
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < 2; i++) {
            fixture *a = open_fixture(kind, 1, 0.05), *b = open_fixture(kind, scales[i], 0.05);
            for (int run = 0; run < 300; run++) {
                double p[3], q[3], to[3], to2[3], foot[3], normal[3], foot2[3], normal2[3], part = -1,
                                                                                            part2 = -1;
                random_place(a, 1.5, p);
                random_place(a, 1.5, to);
                for (int c = 0; c < 3; c++) {
                    q[c] = scales[i] * p[c];
                    to2[c] = scales[i] * to[c];
                }
                double one = sn_contact_shape_nearest(a->shape, p, foot, normal),
                       other = sn_contact_shape_nearest(b->shape, q, foot2, normal2) / scales[i];
                assert_near(one, other, 1e-14);
                assert_at_most(sn_distance3(normal, normal2), 1e-9);
                assert_true(sn_contact_shape_sweep(a->shape, p, to, 1e-4, &part) ==
                            sn_contact_shape_sweep(b->shape, q, to2, 1e-4 * scales[i], &part2));
                assert_near(part, part2, 1e-9);
            }
            close_fixture(a);
            close_fixture(b);
        }
}

/// Before the answer nothing is within the slack; there it is.
static void check_sweep(const fixture *f, const double from[3], const double to[3], double slack) {
    enum { PLACES = 50 };
    double part = 1, p[3], rounding = 1e-14 * (sn_norm3(from) + sn_norm3(to) + f->scale);
    bool met = sn_contact_shape_sweep(f->shape, from, to, slack, &part);
    assert_true(part >= 0 && part <= 1);
    for (int i = 0; i <= PLACES; i++) {
        for (int c = 0; c < 3; c++)
            p[c] = from[c] + part * i / PLACES * (to[c] - from[c]);
        double distance = sn_contact_shape_distance(f->shape, p);
        if (met && i == PLACES ? distance > slack * (1 + 2e-6) + 2 * rounding
                               : distance <= slack * (1 - 1e-9) - 2 * rounding)
            fail_msg("kind %d: %s at %.17g, but the distance at %d/%d of it is %g of the slack", f->kind,
                     met ? "met" : "not met", part, i, PLACES, distance / slack);
    }
}

static void sweeps_find_the_first_place(void **state) {
    (void)state;
    static const double scales[3] = {1, 1e-3, 1e3}, spacings[2] = {0.05, 0};
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < 6; i++) {
            fixture *f = open_fixture(kind, scales[i / 2], spacings[i % 2]);
            for (int run = 0; run < 80 && (i % 2 == 0 || f->def.kind == SN_SHAPE_MESH); run++) {
                double from[3], to[3], slack = f->scale * pow(10, -1 - run % 7);
                do
                    random_place(f, run % 2 == 0 ? 3 : 1.2, from);
                while (sn_contact_shape_distance(f->shape, from) < 1.01 * slack);
                random_place(f, 1.5, to);
                for (int c = 0; c < 3 && run % 5 == 0; c++) // a short way
                    to[c] = from[c] + 0.02 * (to[c] - from[c]);
                if (kind != TORN_BALL) // a way through its open face is met where it ends
                    check_sweep(f, from, to, slack);
            }
            close_fixture(f);
        }
}

/// From ten thousand sizes away through what is a millionth as thick as the way; past it; along its face.
static void nothing_is_missed(void **state) {
    (void)state;
    static const int kinds[] = {PLATE, ROD, BOX, SPHERE, BLOCK, BALL, TORN_BALL};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        fixture *f = open_fixture(kinds[k], 1, 0.05);
        for (int run = 0; run < 400; run++) {
            double way[3], from[3], to[3], inside[3], foot[3], normal[3], part = -1, far = run % 2 ? 1e4 : 1;
            // Through a place inside, from anywhere outside.
            do {
                random_place(f, 1, inside);
                for (int c = 0; c < 3 && kinds[k] == ROD; c++)
                    inside[c] = f->def.point[c] + run / 400.0 * (f->def.point2[c] - f->def.point[c]);
                if (kinds[k] == PLATE)
                    inside[1] = f->def.point[1];
            } while (sn_contact_shape_distance(f->shape, inside) >= 0);
            for (int c = 0; c < 3; c++)
                way[c] = sn_random_normal(&f->random);
            sn_unit3(way, way);
            for (int c = 0; c < 3; c++) {
                from[c] = inside[c] - (4 + far) * way[c];
                to[c] = inside[c] + far * way[c];
            }
            assert_true(sn_contact_shape_sweep(f->shape, from, to, 1e-9, &part));
            for (int c = 0; c < 3; c++)
                to[c] = from[c] + part * (to[c] - from[c]);
            assert_at_most(sn_contact_shape_distance(f->shape, to), 1e-9 + 1e-12 * far);
            // Beside the surface, just out of reach: along its tangent past convex shapes nothing is met.
            sn_contact_shape_nearest(f->shape, to, foot, normal);
            double along[3], gap = 1e-5, slack[2] = {gap * 0.999, gap * 1.001};
            sn_cross3(normal, way, along);
            if (sn_norm3(along) < 0.1 || kinds[k] == TORN_BALL)
                continue;
            for (int i = 0; i < 2; i++) {
                for (int c = 0; c < 3; c++) {
                    from[c] = foot[c] + gap * normal[c] - 10 * along[c];
                    to[c] = foot[c] + gap * normal[c] + 10 * along[c];
                }
                assert_true(sn_contact_shape_sweep(f->shape, from, to, slack[i], &part) == (i == 1));
            }
        }
        close_fixture(f);
    }
}

/// A field changes how soon the answers come, not the answers.
static void fields_change_nothing(void **state) {
    (void)state;
    for (int kind = BLOCK; kind < KINDS; kind++) {
        fixture *a = open_fixture(kind, 1, 0), *b = open_fixture(kind, 1, 0.04);
        for (int run = 0; run < 400; run++) {
            double p[3], to[3], foot[3], normal[3], foot2[3], normal2[3], part = -1, part2 = -1;
            random_place(a, 1.3, p);
            random_place(a, 1.3, to);
            assert_true(sn_contact_shape_distance(a->shape, p) == sn_contact_shape_distance(b->shape, p));
            assert_true(sn_contact_shape_nearest(a->shape, p, foot, normal) ==
                        sn_contact_shape_nearest(b->shape, p, foot2, normal2));
            assert_memory_equal(foot, foot2, sizeof foot);
            assert_memory_equal(normal, normal2, sizeof normal);
            if (kind == TORN_BALL)
                continue;
            assert_true(sn_contact_shape_sweep(a->shape, p, to, 1e-3, &part) ==
                        sn_contact_shape_sweep(b->shape, p, to, 1e-3, &part2));
            assert_near(part, part2, 1e-8);
        }
        close_fixture(a);
        close_fixture(b);
    }
}

/// Allocator that refuses the allocation numbered `fail_at`.
typedef struct miser {
    int64_t count, fail_at;
} miser;

static void *miser_allocate(void *user, size_t size) {
    miser *m = user;
    return m->count++ == m->fail_at ? NULL : aligned_alloc(64, (size + 63) / 64 * 64);
}

static void miser_release(void *user, void *memory) {
    (void)user;
    free(memory);
}

/// Every allocation fails once; and no question takes memory.
static void memory_may_run_out(void **state) {
    (void)state;
    fixture *f = open_fixture(TORN_BALL, 1, 0);
    sn_status status = SN_ERR_NO_MEMORY;
    int failures = 0;
    for (int64_t fail_at = 1; status != SN_OK; fail_at++) { // number 0 is the context itself
        miser m = {0, fail_at};
        sn_context *ctx = NULL;
        sn_contact_shape *shape = NULL;
        sn_context_def def = sn_context_def_default();
        def.allocator = (sn_allocator){&m, miser_allocate, miser_release};
        def.thread_count = 1;
        def.debug_memory = true;
        assert_int_equal(sn_context_create(&def, &ctx), SN_OK);
        status = sn_contact_shape_create(ctx, &f->def, 0.2, &shape);
        assert_true(status == SN_OK || (status == SN_ERR_NO_MEMORY && !shape));
        failures += status != SN_OK;
        int64_t before = m.count;
        double foot[3], normal[3], part;
        for (int run = 0; run < 100 && shape; run++) {
            random_place(f, 1.2, foot);
            (void)sn_contact_shape_sweep(shape, foot, center, 1e-3, &part);
            (void)sn_contact_shape_nearest(shape, foot, foot, normal);
        }
        assert_int_equal(m.count, before);
        sn_contact_shape_destroy(ctx, &shape);
        test_context_end(&ctx);
    }
    assert_in_range(failures, 20, 60);
    close_fixture(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_true),     cmocka_unit_test(surfaces_have_normals),
        cmocka_unit_test(boxes_know_their_faces), cmocka_unit_test(centers_have_normals),
        cmocka_unit_test(size_does_not_matter),   cmocka_unit_test(sweeps_find_the_first_place),
        cmocka_unit_test(nothing_is_missed),      cmocka_unit_test(fields_change_nothing),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
