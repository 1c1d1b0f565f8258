// Contacts of one to a few points against a plane, a thin box and a sphere: energies, memory of sides,
// friction.
#include "test_support.h"

#include "base/base_util.h"
#include "contact/contact_set.h"
#include "math/math_mat3.h"

enum { POINTS = 3 };

static const double AREA = 0.5, STIFFNESS = 2000;

/// A few nodes that are proxies themselves, and one shape.
typedef struct set_fixture {
    sn_context *ctx;
    sn_shape_def shape;
    sn_contact_shape *contact_shape;
    int32_t node[4 * POINTS], vertex[POINTS];
    double weight[4 * POINTS], area[POINTS], stiffness[POINTS];
    bool pinned[POINTS];
    sn_proxies proxies;
    const sn_proxies *body;
    sn_contact_pair pair;
    sn_contact_set *set;
    sn_contact_pose now, then;
    double x[3 * POINTS];
    sn_contact_record records[4 * POINTS];
    int32_t record_count;
} set_fixture;

static void make_fixture(set_fixture *f, const sn_shape_def *shape, double friction) {
    *f = (set_fixture){.ctx = test_context(2), .shape = *shape};
    for (int32_t i = 0; i < POINTS; i++) {
        for (int a = 0; a < 4; a++)
            f->node[4 * i + a] = i;
        f->weight[4 * i] = 1;
        f->vertex[i] = i;
        f->area[i] = AREA;
        f->stiffness[i] = STIFFNESS;
    }
    f->proxies = (sn_proxies){.count = POINTS,
                              .edge = 0.1,
                              .node = f->node,
                              .weight = f->weight,
                              .vertex = f->vertex,
                              .area = f->area,
                              .stiffness = f->stiffness};
    f->body = &f->proxies;
    f->pair = (sn_contact_pair){.other = -1, .friction = friction};
    f->now = f->then = (sn_contact_pose){.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    assert_done(f->ctx, sn_contact_shape_create(f->ctx, &f->shape, 0, &f->contact_shape));
    sn_contact_source source = {.pair_count = 1,
                                .body_count = 1,
                                .shape_count = 1,
                                .pairs = &f->pair,
                                .proxies = &f->body,
                                .shapes = (const sn_contact_shape *const *)&f->contact_shape,
                                .pinned = f->pinned};
    assert_int_equal(sn_contact_capacity(&source), POINTS);
    assert_done(f->ctx, sn_contact_set_create(f->ctx, &source, &f->set));
}

static void end_fixture(set_fixture *f) {
    sn_contact_set_destroy(&f->set);
    sn_contact_shape_destroy(f->ctx, &f->contact_shape);
    test_context_end(&f->ctx);
}

static void begin(set_fixture *f) {
    sn_contact_set_begin(f->set, f->record_count, f->records, f->x, &f->now, &f->then);
}

static sn_contact_outcome end(set_fixture *f) {
    sn_contact_outcome outcome;
    f->record_count = sn_contact_set_end(f->set, f->x, f->records, &outcome);
    return outcome;
}

static void place(set_fixture *f, int32_t point, double x, double y, double z) {
    memcpy(f->x + 3 * point, (double[3]){x, y, z}, 3 * sizeof(double));
}

static sn_shape_def plane(void) {
    sn_shape_def shape = {.kind = SN_SHAPE_PLANE, .normal = {0, 0, 1}};
    return shape;
}

/// Out of reach but for the points that a test moves.
static void spread(set_fixture *f) {
    for (int32_t i = 0; i < POINTS; i++)
        place(f, i, i, 0, 1);
}

static void pushes_out_what_is_in(void **state) {
    (void)state;
    set_fixture f;
    sn_shape_def shape = plane();
    make_fixture(&f, &shape, 0);
    spread(&f);
    begin(&f);
    place(&f, 1, 1, 0, -0.02);
    place(&f, 2, 2, 0, 0.004); // within reach, without force
    sn_contact_set_renew(f.set, f.x);
    assert_int_equal(sn_contact_set_count(f.set), 2);
    double gradient[3 * POINTS] = {0}, energy = sn_contact_set_evaluate(f.set, f.x, 1, gradient, NULL);
    assert_near(energy, 0.5 * AREA * STIFFNESS * 0.02 * 0.02, 1e-15);
    assert_near(gradient[5], -AREA * STIFFNESS * 0.02, 1e-12);
    assert_near(gradient[8], 0, 0);
    f.pinned[1] = true;
    memset(gradient, 0, sizeof gradient);
    sn_contact_set_evaluate(f.set, f.x, 1, gradient, NULL);
    assert_near(gradient[5], 0, 0);
    sn_contact_outcome outcome = end(&f);
    assert_int_equal(outcome.active, 1);
    assert_near(outcome.max_depth, 0.02, 1e-15);
    assert_int_equal(f.record_count, 1);
    assert_near(f.records[0].force[2], AREA * STIFFNESS * 0.02, 1e-12);
    end_fixture(&f);
}

/// A point that is shot through a thin box, and one that is pushed through it slowly, are both held by the
/// side on which they came; one that slides over the rim is let go.
static void thin_shapes_keep_their_sides(void **state) {
    (void)state;
    set_fixture f;
    sn_shape_def shape = {.kind = SN_SHAPE_BOX, .half_size = {1, 1, 1e-4}};
    make_fixture(&f, &shape, 0);
    place(&f, 0, 0, 0, 5);
    place(&f, 1, 0.1, 0, -5);
    place(&f, 2, 0.95, 0, 0.01);
    begin(&f);
    place(&f, 0, 0.2, 0, -7);
    place(&f, 1, 0.1, 0, 7);
    place(&f, 2, 0.95, 0, -0.01);
    sn_contact_set_renew(f.set, f.x);
    assert_int_equal(sn_contact_set_count(f.set), 3);
    const sn_contact_point *point = sn_contact_set_points(f.set);
    assert_near(point[0].normal[2], 1, 0);
    assert_near(point[0].gap, -7 - 1e-4, 1e-12);
    assert_near(point[1].normal[2], -1, 0);
    assert_near(point[2].gap, -0.01 - 1e-4, 1e-12);
    end(&f);
    begin(&f);
    place(&f, 0, 0.2, 0, -8);
    place(&f, 2, 1.05, 0, -0.01);
    sn_contact_set_renew(f.set, f.x);
    point = sn_contact_set_points(f.set);
    assert_near(point[0].gap, -8 - 1e-4, 1e-12);
    assert_near(point[1].gap, -7 - 1e-4, 1e-12);
    end(&f);
    // What is let go has had a force, which counts, but takes no part in the next step.
    assert_int_equal(f.record_count, 3);
    assert_int_equal(f.records[1].proxy, 1);
    assert_int_equal(f.records[1].ended, 0);
    assert_int_equal(f.records[2].ended, 1);
    assert_true(f.records[2].force[2] > 0);
    begin(&f);
    assert_int_equal(sn_contact_set_count(f.set), 2);
    end_fixture(&f);
}

/// Frames that carry the shape count like motion of the points: a thin plate sweeps a point away.
static void moving_shapes_meet_points_at_rest(void **state) {
    (void)state;
    set_fixture f;
    sn_shape_def shape = {.kind = SN_SHAPE_BOX, .half_size = {1, 1, 1e-4}};
    make_fixture(&f, &shape, 0);
    spread(&f);
    place(&f, 0, 0, 0, 1);
    f.then.translation[2] = 3;
    begin(&f);
    sn_contact_set_renew(f.set, f.x);
    assert_true(sn_contact_set_count(f.set) >= 1);
    const sn_contact_point *point = sn_contact_set_points(f.set);
    assert_int_equal(point[0].record.proxy, 0);
    assert_near(point[0].normal[2], 1, 0);
    assert_near(point[0].gap, 1 - 3 - 1e-4, 1e-12);
    end_fixture(&f);
}

/// Cones follow the forces that press, as far as they are asked to, and renewals keep to their limit, which
/// ends with the step.
static void cones_follow_what_presses(void **state) {
    (void)state;
    set_fixture f;
    sn_shape_def shape = plane();
    const double unit = AREA * STIFFNESS;
    make_fixture(&f, &shape, 0.5);
    spread(&f);
    begin(&f);
    place(&f, 1, 1, 0, -0.02);
    place(&f, 2, 2, 0, -0.01);
    sn_contact_set_renew(f.set, f.x);
    const sn_contact_point *point = sn_contact_set_points(f.set);
    assert_near(point[0].normal_force, 0.02 * unit, 1e-12);
    sn_contact_set_limit_cones(f.set, 2);
    place(&f, 1, 1, 0, -0.8);
    place(&f, 2, 2, 0, 0.1);
    sn_contact_set_renew(f.set, f.x);
    point = sn_contact_set_points(f.set);
    assert_near(point[0].normal_force, 0.06 * unit, 1e-12);
    assert_near(point[1].normal_force, 0, 0);
    assert_near(sn_contact_set_renew_cones(f.set, f.x, 0.5), 0.5 * 0.74 / 0.8, 1e-12);
    assert_near(point[0].normal_force, 0.43 * unit, 1e-12);
    assert_near(sn_contact_set_renew_cones(f.set, f.x, 1), 0.5 * 0.37 / 0.8, 1e-12);
    assert_near(sn_contact_set_renew_cones(f.set, f.x, 1), 0, 0);
    end(&f);
    begin(&f);
    sn_contact_set_renew(f.set, f.x);
    assert_near(sn_contact_set_points(f.set)[0].normal_force, 0.8 * unit, 1e-12);
    end_fixture(&f);
}

/// Energy, force and Hessian of a contact agree, in stick and in slip.
static void derivatives_agree(void **state) {
    (void)state;
    sn_random random = sn_random_make(5);
    int32_t stuck = 0;
    for (int trial = 0; trial < 200; trial++) {
        sn_contact_point c = {.stiffness = 900, .friction = sn_random_range(&random, 0, 2)};
        double p[3], force[3], hessian[9];
        for (int k = 0; k < 3; k++) {
            c.normal[k] = sn_random_normal(&random);
            c.foot[k] = sn_random_normal(&random);
            c.anchor[k] = c.foot[k] + 0.1 * sn_random_normal(&random);
        }
        sn_unit3(c.normal, c.normal);
        for (int k = 0; k < 3; k++)
            p[k] = c.foot[k] - 0.05 * c.normal[k] + 0.02 * sn_random_normal(&random);
        c.normal_force = 900 * sn_random_range(&random, 0, 0.2);
        sn_contact_energy(&c, p, force, hessian);
        double u[3], along;
        sn_sub3(p, c.anchor, u);
        along = sn_dot3(u, c.normal);
        for (int k = 0; k < 3; k++)
            u[k] -= along * c.normal[k];
        stuck += c.stiffness * sn_norm3(u) <= c.friction * c.normal_force;
        for (int k = 0; k < 3; k++) {
            double h = 1e-6, moved[3] = {p[0], p[1], p[2]}, ahead[3], behind[3];
            moved[k] = p[k] + h;
            double high = sn_contact_energy(&c, moved, ahead, NULL);
            moved[k] = p[k] - h;
            double low = sn_contact_energy(&c, moved, behind, NULL);
            assert_near(force[k], -(high - low) / (2 * h), 1e-5);
            for (int j = 0; j < 3; j++)
                assert_near(hessian[3 * j + k], -(ahead[j] - behind[j]) / (2 * h), 1e-2);
        }
    }
    assert_true(stuck > 20 && stuck < 180);
}

/// What sticks keeps its anchor; what slips drags it along at the edge of the cone.
static void anchors_follow_only_what_slips(void **state) {
    (void)state;
    set_fixture f;
    sn_shape_def shape = plane();
    make_fixture(&f, &shape, 0.5);
    spread(&f);
    place(&f, 0, 0, 0, 0.01);
    begin(&f);
    place(&f, 0, 0, 0, -0.02);
    sn_contact_set_renew(f.set, f.x);
    end(&f);
    begin(&f);
    place(&f, 0, 0.009, 0, -0.02); // the cone reaches to 0.5 * 0.02
    sn_contact_set_renew(f.set, f.x);
    end(&f);
    assert_true(f.records[0].sticking);
    assert_near(f.records[0].anchor[0], 0, 1e-15);
    assert_near(f.records[0].force[0], -AREA * STIFFNESS * 0.009, 1e-12);
    begin(&f);
    place(&f, 0, 0.03, 0, -0.02);
    sn_contact_set_renew(f.set, f.x);
    end(&f);
    assert_false(f.records[0].sticking);
    assert_near(f.records[0].anchor[0], 0.02, 1e-15);
    assert_near(f.records[0].force[0], -0.5 * AREA * STIFFNESS * 0.02, 1e-12);
    // Lifted off: what it held on to is forgotten.
    begin(&f);
    place(&f, 0, 0.03, 0, 0.5);
    sn_contact_set_renew(f.set, f.x);
    end(&f);
    assert_int_equal(f.record_count, 0);
    end_fixture(&f);
}

/// A plane follows its point over a sphere, and the contact ends where the sphere does.
static void planes_follow_curved_shapes(void **state) {
    (void)state;
    set_fixture f;
    sn_shape_def shape = {.kind = SN_SHAPE_SPHERE, .radius = 1};
    make_fixture(&f, &shape, 0);
    for (int32_t i = 0; i < POINTS; i++)
        place(&f, i, 5 + i, 0, 0);
    place(&f, 0, 0, 0, 1.01);
    begin(&f);
    for (int step = 1; step <= 12; step++) {
        double angle = 0.1 * step, r = 0.99;
        place(&f, 0, r * sin(angle), 0, r * cos(angle));
        for (int k = 0; k < 4; k++)
            sn_contact_set_renew(f.set, f.x);
        const sn_contact_point *c = sn_contact_set_points(f.set);
        assert_int_equal(sn_contact_set_count(f.set), 1);
        assert_near(c->gap, r - 1, 1e-9);
        assert_near(c->normal[0], sin(angle), 1e-6);
        end(&f);
        begin(&f);
    }
    place(&f, 0, 3, 0, 0);
    sn_contact_set_renew(f.set, f.x);
    end(&f);
    assert_int_equal(f.record_count, 0);
    end_fixture(&f);
}

/// A point that is far behind a round shape is not taken around it within the step.
static void planes_turn_a_little_in_a_step(void **state) {
    (void)state;
    set_fixture f;
    sn_shape_def shape = {.kind = SN_SHAPE_SPHERE, .radius = 1};
    make_fixture(&f, &shape, 0);
    for (int32_t i = 0; i < POINTS; i++)
        place(&f, i, 0.1 * i, 0, 2);
    begin(&f);
    for (int32_t i = 0; i < POINTS; i++)
        place(&f, i, 0.1 * i, 0, -20);
    for (int k = 0; k < 20; k++)
        sn_contact_set_renew(f.set, f.x);
    assert_int_equal(sn_contact_set_count(f.set), POINTS);
    for (int32_t i = 0; i < POINTS; i++) {
        const sn_contact_point *c = &sn_contact_set_points(f.set)[i];
        assert_true(c->gap < -5);
        assert_true(c->normal[2] > 0.7);
    }
    end_fixture(&f);
}

/// The list is in order whatever came first.
static void lists_are_in_order(void **state) {
    (void)state;
    set_fixture f;
    sn_shape_def shape = plane();
    make_fixture(&f, &shape, 0);
    spread(&f);
    begin(&f);
    for (int32_t i = POINTS - 1; i >= 0; i--) {
        place(&f, i, i, 0, -0.01);
        sn_contact_set_renew(f.set, f.x);
        const sn_contact_point *c = sn_contact_set_points(f.set);
        for (int32_t k = 1; k < sn_contact_set_count(f.set); k++)
            assert_true(c[k].record.proxy > c[k - 1].record.proxy);
    }
    assert_int_equal(sn_contact_set_count(f.set), POINTS);
    end_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushes_out_what_is_in),
        cmocka_unit_test(thin_shapes_keep_their_sides),
        cmocka_unit_test(moving_shapes_meet_points_at_rest),
        cmocka_unit_test(cones_follow_what_presses),
        cmocka_unit_test(derivatives_agree),
        cmocka_unit_test(anchors_follow_only_what_slips),
        cmocka_unit_test(planes_follow_curved_shapes),
        cmocka_unit_test(planes_turn_a_little_in_a_step),
        cmocka_unit_test(lists_are_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
