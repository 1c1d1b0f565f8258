// Settling: free pieces move as wholes to where contacts balance inertia, and nothing else moves.
#include "test_support.h"

#include "solve/solve_settle.h"

enum { NODES = 6 };

/// Two pieces of three nodes over a plane; every node is a proxy.
typedef struct settle_fixture {
    sn_context *ctx;
    sn_shape_def shape;
    sn_contact_shape *contact_shape;
    int32_t node[4 * NODES], vertex[NODES], piece[NODES];
    double weight[4 * NODES], area[NODES], stiffness[NODES], mass[NODES];
    bool pinned[NODES], anchored[2];
    sn_proxies proxies;
    const sn_proxies *body;
    sn_contact_pair pair;
    sn_contact_set *set;
    sn_settler *settler;
    double start[3 * NODES], y[3 * NODES], x[3 * NODES];
} settle_fixture;

static void make_fixture(settle_fixture *f, double friction) {
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
    f->proxies = (sn_proxies){NODES, 0.1, f->node, f->weight, f->vertex, f->area, f->stiffness};
    f->body = &f->proxies;
    f->pair = (sn_contact_pair){.friction = friction};
    assert_done(f->ctx, sn_contact_shape_create(f->ctx, &f->shape, 0, &f->contact_shape));
    sn_contact_source source = {.pair_count = 1,
                                .body_count = 1,
                                .shape_count = 1,
                                .pairs = &f->pair,
                                .proxies = &f->body,
                                .shapes = (const sn_contact_shape *const *)&f->contact_shape,
                                .pinned = f->pinned};
    sn_piece_source pieces = {NODES, 2, f->piece, f->anchored};
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

/// Net force on a piece: inertia and contacts.
static double imbalance(const settle_fixture *f, int32_t piece, int axis) {
    double gradient[3 * NODES] = {0}, sum = 0;
    sn_contact_set_evaluate(f->set, f->x, 1, gradient, NULL);
    for (int32_t i = 0; i < NODES; i++)
        if (f->piece[i] == piece)
            sum += gradient[3 * i + axis] + 3600 * f->mass[i] * (f->x[3 * i + axis] - f->y[3 * i + axis]);
    return sum;
}

/// Pieces whose targets lie far below the plane come to rest a little in it; one that another thing holds
/// stays where it is.
static void contacts_balance_inertia(void **state) {
    (void)state;
    for (int held = 0; held < 2; held++) {
        settle_fixture f;
        make_fixture(&f, 0.3);
        f.anchored[1] = held;
        for (int32_t i = 0; i < NODES; i++) {
            f.y[3 * i] += 0.5;
            f.y[3 * i + 2] = f.start[3 * i + 2] - (i < 3 ? 3 : 0.2);
        }
        memcpy(f.x, f.y, sizeof f.x);
        sn_contact_set_predict(f.set, f.x);
        sn_objective objective = objective_of(&f);
        sn_settle(f.settler, &objective, f.x);
        for (int axis = 0; axis < 3; axis++) {
            assert_near(imbalance(&f, 0, axis), 0, 1e-7);
            if (!held)
                assert_near(imbalance(&f, 1, axis), 0, 1e-7);
        }
        assert_true(f.x[2] < 0 && f.x[2] > -0.1);
        for (int32_t i = 0; i < NODES; i++)
            for (int axis = 0; axis < 3; axis++) {
                int32_t first = i / 3 * 3;
                double shift = f.x[3 * first + axis] - f.y[3 * first + axis];
                assert_near(f.x[3 * i + axis] - f.y[3 * i + axis], shift, 1e-12);
                assert_true(!held || i < 3 || shift == 0);
            }
        end_fixture(&f);
    }
}

static void what_touches_nothing_stays(void **state) {
    (void)state;
    settle_fixture f;
    make_fixture(&f, 0);
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
        cmocka_unit_test(what_touches_nothing_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
