// Settling: pieces move as wholes to where all forces on them balance, and nothing else moves.
#include "test_support.h"

#include "math/math_mat3.h"
#include "solve/solve_rigid.h"
#include "solve/solve_settle.h"

enum { NODES = 6 };

/// Two pieces of three nodes over a plane; every node is a proxy.
typedef struct settle_fixture {
    sn_context *ctx;
    sn_shape_def shape;
    sn_contact_shape *contact_shape;
    int32_t node[4 * NODES], vertex[NODES], piece[NODES];
    double weight[4 * NODES], area[NODES], stiffness[NODES], mass[NODES];
    bool pinned[NODES];
    sn_proxies proxies;
    const sn_proxies *body;
    sn_contact_pair pair;
    sn_contact_set *set;
    sn_settler *settler;
    sn_spring spring;
    double start[3 * NODES], y[3 * NODES], x[3 * NODES];
} settle_fixture;

static void make_fixture(settle_fixture *f, double friction, bool has_spring) {
    *f = (settle_fixture){.ctx = test_context(2), .shape = {.kind = SN_SHAPE_PLANE, .normal = {0, 0, 1}}};
    for (int32_t i = 0; i < NODES; i++) {
        for (int a = 0; a < 4; a++)
            f->node[4 * i + a] = i;
        f->weight[4 * i] = 1;
        f->vertex[i] = i;
        f->area[i] = 1;
        f->stiffness[i] = 1e6;
        f->mass[i] = 1 + 0.1 * i;
        f->piece[i] = i / 3;
        f->start[3 * i] = f->y[3 * i] = i;
        f->start[3 * i + 2] = 0.01 * (i % 3);
    }
    f->proxies = (sn_proxies){.count = NODES,
                              .edge = 0.1,
                              .node = f->node,
                              .weight = f->weight,
                              .vertex = f->vertex,
                              .area = f->area,
                              .stiffness = f->stiffness};
    f->body = &f->proxies;
    f->pair = (sn_contact_pair){.other = -1, .friction = friction};
    assert_done(f->ctx, sn_contact_shape_create(f->ctx, &f->shape, 0, &f->contact_shape));
    sn_contact_source source = {.pair_count = 1,
                                .body_count = 1,
                                .shape_count = 1,
                                .pairs = &f->pair,
                                .proxies = &f->body,
                                .shapes = (const sn_contact_shape *const *)&f->contact_shape,
                                .pinned = f->pinned};
    sn_piece_source pieces = {.node_count = NODES,
                              .piece_count = 2,
                              .node_piece = f->piece,
                              .spring_count = has_spring,
                              .springs = &f->spring};
    sn_contact_pose pose = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    assert_done(f->ctx, sn_contact_set_create(f->ctx, &source, &f->set));
    assert_done(f->ctx, sn_settler_create(f->ctx, &pieces, &f->settler));
    sn_contact_set_begin(f->set, 0, NULL, f->start, &pose, &pose);
}

static void end_fixture(settle_fixture *f) {
    sn_settler_destroy(&f->settler);
    sn_contact_set_destroy(&f->set);
    sn_contact_shape_destroy(f->ctx, &f->contact_shape);
    test_context_end(&f->ctx);
}

static sn_objective objective_of(settle_fixture *f) {
    return (sn_objective){.ctx = f->ctx,
                          .node_count = NODES,
                          .pinned = f->pinned,
                          .mass = f->mass,
                          .inertia = 3600,
                          .y = f->y,
                          .contact = f->set};
}

/// Net force on a piece and its moment about the origin: inertia and contacts.
static void imbalance(const settle_fixture *f, int32_t piece, double force[3], double moment[3]) {
    double gradient[3 * NODES] = {0};
    sn_contact_set_evaluate(f->set, f->x, 1, gradient, NULL);
    for (int k = 0; k < 3; k++)
        force[k] = moment[k] = 0;
    for (int32_t i = 3 * piece; i < 3 * piece + 3; i++) {
        const double *x = f->x + 3 * i;
        double g[3], m[3];
        for (int k = 0; k < 3; k++) {
            g[k] = gradient[3 * i + k] + 3600 * f->mass[i] * (x[k] - f->y[3 * i + k]);
            force[k] += g[k];
        }
        sn_cross3(x, g, m);
        for (int k = 0; k < 3; k++)
            moment[k] += m[k];
    }
}

static void assert_rigid(const settle_fixture *f) {
    for (int32_t i = 0; i < NODES; i++)
        for (int32_t j = i / 3 * 3; j < i; j++)
            assert_near(sn_distance3(f->x + 3 * i, f->x + 3 * j), sn_distance3(f->y + 3 * i, f->y + 3 * j),
                        1e-12);
}

/// Pieces whose targets lie far below the plane come to rest a little in it; one whose nodes are pinned stays
/// where it is.
static void contacts_balance_inertia(void **state) {
    (void)state;
    for (int held = 0; held < 2; held++) {
        settle_fixture f;
        make_fixture(&f, 0.3, false);
        for (int32_t i = 0; i < NODES; i++) {
            f.pinned[i] = held && i >= 3;
            f.y[3 * i] += 0.5;
            f.y[3 * i + 2] = f.start[3 * i + 2] - (i < 3 ? 3 : 0.2);
        }
        memcpy(f.x, f.y, sizeof f.x);
        sn_contact_set_predict(f.set, f.x);
        sn_objective objective = objective_of(&f);
        assert_true(sn_settle(f.settler, &objective, f.x) < 0);
        for (int32_t piece = 0; piece < 2 - held; piece++) {
            double force[3], moment[3];
            imbalance(&f, piece, force, moment);
            for (int k = 0; k < 3; k++) {
                assert_near(force[k], 0, 1e-7);
                assert_near(moment[k], 0, 1e-6);
            }
        }
        assert_true(f.x[2] < 0 && f.x[2] > -0.1);
        assert_rigid(&f);
        if (held)
            assert_memory_equal(f.x + 9, f.y + 9, 9 * sizeof *f.x);
        end_fixture(&f);
    }
}

/// Without contact the motion is the best fit of the targets: by any angle, and about pins.
static void pieces_turn_to_their_targets(void **state) {
    (void)state;
    static const double angles[] = {1e-9, 0.3, 3};
    for (int pins = 0; pins < 3; pins++)
        for (int a = 0; a < 3; a++) {
            settle_fixture f;
            make_fixture(&f, 0, false);
            // No line: the pins are the first two nodes of the second piece, on a line along x.
            f.start[3 * 2 + 1] = f.start[3 * 5 + 1] = 1;
            f.start[3 * 4 + 2] = 0;
            double base[3], w[3] = {angles[a], 0, 0}, turn[9];
            memcpy(base, f.start + 9, sizeof base);
            sn_rigid_turn(w, turn);
            sn_rigid_motion motion = {.shift = {0, 0, pins > 0 ? 0 : 5}};
            memcpy(motion.turn, turn, sizeof turn);
            for (int32_t i = 0; i < NODES; i++)
                sn_rigid_move(&motion, base, f.start + 3 * i, f.y + 3 * i);
            for (int k = 0; k < pins; k++)
                f.pinned[3 + k] = true;
            memcpy(f.x, f.start, sizeof f.x);
            sn_objective objective = objective_of(&f);
            objective.contact = NULL;
            sn_settle(f.settler, &objective, f.x);
            for (int32_t j = 0; j < 3 * NODES; j++)
                assert_near(f.x[j], f.y[j], 1e-12);
            end_fixture(&f);
        }
}

/// A spring to a target, of any rest length, balances inertia.
static void springs_hold(void **state) {
    (void)state;
    for (int is_long = 0; is_long < 2; is_long++) {
        settle_fixture f;
        make_fixture(&f, 0, true);
        f.spring = (sn_spring){.a = {.node_count = 1, .node = {0}, .weight = {1}},
                               .stiffness = 1e7,
                               .rest_length = is_long ? 0.5 : 0};
        double target[3] = {0, 0, 1}, gradient[3], force[3], moment[3], arm[3];
        for (int32_t i = 0; i < NODES; i++)
            f.y[3 * i + 2] -= 0.2;
        memcpy(f.x, f.start, sizeof f.x);
        sn_objective objective = objective_of(&f);
        objective.contact = NULL;
        objective.targets = target;
        sn_settle(f.settler, &objective, f.x);
        sn_spring_energy(&f.spring, f.x, target, gradient);
        imbalance(&f, 0, force, moment);
        sn_cross3(f.x, gradient, arm);
        for (int k = 0; k < 3; k++) {
            assert_near(force[k] + gradient[k], 0, 1e-6);
            assert_near(moment[k] + arm[k], 0, 1e-6);
        }
        assert_near(sn_distance3(f.x, target), is_long ? 0.5 : 0, 0.01);
        end_fixture(&f);
    }
}

/// What pins carry along keeps its place with respect to them.
static void pins_carry_pieces(void **state) {
    (void)state;
    for (int pins = 0; pins <= 3; pins++) {
        settle_fixture f;
        make_fixture(&f, 0, false);
        f.start[3 * 2 + 1] = f.start[3 * 5 + 1] = 1;
        double w[3] = {0, 0, 0.5}, base[3] = {0};
        sn_rigid_motion motion = {.shift = {1, 2, 3}};
        sn_rigid_turn(w, motion.turn);
        memcpy(f.x, f.start, sizeof f.x);
        for (int k = 0; k < pins; k++) {
            f.pinned[3 + k] = true;
            sn_rigid_move(&motion, base, f.start + 9 + 3 * k, f.x + 9 + 3 * k);
        }
        assert_true(sn_settle_on_pins(f.settler, f.pinned, f.start, f.x) == (pins == 1 || pins == 2));
        memcpy(f.y, f.start, sizeof f.y);
        assert_rigid(&f);
        assert_memory_equal(f.x, f.start, 9 * sizeof *f.x);
        // Pins that move apart carry nothing.
        memcpy(f.x, f.start, sizeof f.x);
        f.x[3 * 3] -= 0.1;
        f.x[3 * 4] += 0.1;
        if (pins == 2)
            assert_false(sn_settle_on_pins(f.settler, f.pinned, f.start, f.x));
        end_fixture(&f);
    }
}

static void what_touches_nothing_stays(void **state) {
    (void)state;
    settle_fixture f;
    make_fixture(&f, 0, false);
    for (int32_t i = 0; i < NODES; i++)
        f.y[3 * i + 2] = f.start[3 * i + 2] + 1;
    memcpy(f.x, f.y, sizeof f.x);
    sn_contact_set_predict(f.set, f.x);
    sn_objective objective = objective_of(&f);
    sn_settle(f.settler, &objective, f.x);
    assert_memory_equal(f.x, f.y, sizeof f.x);
    end_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contacts_balance_inertia),
        cmocka_unit_test(pieces_turn_to_their_targets),
        cmocka_unit_test(springs_hold),
        cmocka_unit_test(pins_carry_pieces),
        cmocka_unit_test(what_touches_nothing_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
