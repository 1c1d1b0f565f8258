// Contacts on top of the factor: the metric inverts M / s + L + the Hessian of the contacts, whatever is
// kept, and what it holds does not depend on what it held before.
#include "test_support.h"

#include "base/base_util.h"
#include "solve/solve_metric.h"

enum { NODES = 60, TETS = 57, POINTS = 24 };

typedef struct fixture {
    sn_context *ctx;
    double rest[3 * NODES], mass[NODES], x[3 * NODES];
    int32_t tets[4 * TETS], tet_material[TETS], piece[NODES];
    bool pinned[NODES];
    sn_material_def material;
    sn_elastic *elastic;
    sn_shape_def shape;
    sn_contact_shape *contact_shape;
    int32_t node[4 * POINTS], vertex[POINTS], kept[NODES];
    double weight[4 * POINTS], area[POINTS], stiffness[POINTS];
    sn_proxies proxies;
    const sn_proxies *body;
    sn_contact_pair pair;
    sn_contact_set *set;
    bool anchored;
} fixture;

/// A chain of tets: each new node sits on the last face.
static void fill_chain(fixture *f, sn_random *random) {
    for (int i = 0; i < NODES; i++) {
        double angle = 2.1 * i, place[3] = {0.4 * i, cos(angle), sin(angle)};
        for (int k = 0; k < 3; k++)
            f->rest[3 * i + k] = place[k] + 0.05 * sn_random_range(random, -1, 1);
        f->mass[i] = sn_random_range(random, 100, 200);
    }
    for (int t = 0; t < TETS; t++) {
        int32_t *tet = f->tets + 4 * t;
        for (int a = 0; a < 4; a++)
            tet[a] = t + a;
        if (t % 2 == 0) {
            tet[2] = t + 3;
            tet[3] = t + 2;
        }
    }
    // Turns tets that the pattern got the wrong way round.
    for (int t = 0; t < TETS; t++) {
        int32_t *tet = f->tets + 4 * t;
        double d[9];
        for (int i = 0; i < 3; i++)
            for (int a = 0; a < 3; a++)
                d[3 * i + a] = f->rest[3 * tet[a + 1] + i] - f->rest[3 * tet[0] + i];
        double volume = d[0] * (d[4] * d[8] - d[5] * d[7]) - d[1] * (d[3] * d[8] - d[5] * d[6]) +
                        d[2] * (d[3] * d[7] - d[4] * d[6]);
        if (volume < 0) {
            int32_t swapped = tet[2];
            tet[2] = tet[3];
            tet[3] = swapped;
        }
    }
}

static void fill_proxies(fixture *f, sn_random *random) {
    for (int32_t i = 0; i < POINTS; i++) {
        double sum = 0, *w = f->weight + 4 * i;
        int32_t tet = sn_random_index(random, TETS);
        for (int a = 0; a < 4; a++) {
            f->node[4 * i + a] = f->tets[4 * tet + a];
            sum += w[a] = sn_random_real(random);
        }
        for (int a = 0; a < 4; a++)
            w[a] /= sum;
        f->vertex[i] = i;
        f->area[i] = sn_random_range(random, 0.5, 1);
        f->stiffness[i] = 1e6;
    }
    f->proxies = (sn_proxies){.count = POINTS,
                              .edge = 0.5,
                              .node = f->node,
                              .weight = f->weight,
                              .vertex = f->vertex,
                              .area = f->area,
                              .stiffness = f->stiffness};
    f->body = &f->proxies;
}

static void setup(fixture *f, bool anchored, double friction) {
    sn_random random = sn_random_make(5);
    *f = (fixture){.ctx = test_context(2), .anchored = anchored};
    fill_chain(f, &random);
    memcpy(f->x, f->rest, sizeof f->x);
    fill_proxies(f, &random);
    f->material = sn_material_def_default();
    f->material.young = 1e5;
    f->pinned[0] = f->pinned[7] = anchored;
    sn_elastic_def def = {.node_count = NODES,
                          .rest = f->rest,
                          .tet_count = TETS,
                          .tets = f->tets,
                          .material_count = 1,
                          .materials = &f->material,
                          .tet_material = f->tet_material};
    assert_done(f->ctx, sn_elastic_create(f->ctx, &def, &f->elastic));
    f->shape = (sn_shape_def){.kind = SN_SHAPE_PLANE, .normal = {0, 0.6, 0.8}};
    assert_done(f->ctx, sn_contact_shape_create(f->ctx, &f->shape, 0, &f->contact_shape));
    f->pair = (sn_contact_pair){.other = -1, .friction = friction};
    sn_contact_source source = {.pair_count = 1,
                                .body_count = 1,
                                .shape_count = 1,
                                .pairs = &f->pair,
                                .proxies = &f->body,
                                .shapes = (const sn_contact_shape *const *)&f->contact_shape,
                                .pinned = f->pinned};
    assert_done(f->ctx, sn_contact_set_create(f->ctx, &source, &f->set));
}

static void teardown(fixture *f) {
    sn_contact_set_destroy(&f->set);
    sn_contact_shape_destroy(f->ctx, &f->contact_shape);
    sn_elastic_destroy(&f->elastic);
    test_context_end(&f->ctx);
}

/// A metric that keeps every stride-th free node; 0: none.
static sn_metric *make_metric(fixture *f, int stride) {
    sn_metric_def def = {.node_count = NODES,
                         .pinned = f->pinned,
                         .mass = f->mass,
                         .node_piece = f->piece,
                         .piece_count = 1,
                         .piece_anchored = &f->anchored,
                         .storage = SN_FACTOR_DOUBLE,
                         .kept = f->kept,
                         .most_contacts = POINTS};
    for (int32_t i = 0; stride > 0 && i < NODES; i += stride)
        if (!f->pinned[i])
            f->kept[def.kept_count++] = i;
    sn_metric *metric = NULL;
    assert_done(f->ctx, sn_metric_create(f->ctx, f->elastic, &def, &metric));
    return metric;
}

/// Contacts of the body moved up by `lift`, which then slides along by up to `slip`.
static void touch(fixture *f, double lift, double slip) {
    sn_contact_pose pose = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    for (int i = 0; i < NODES; i++)
        f->x[3 * i + 2] = f->rest[3 * i + 2] + lift;
    sn_contact_set_begin(f->set, 0, NULL, f->x, &pose, &pose);
    sn_contact_set_renew(f->set, f->x);
    for (int i = 0; i < NODES; i++)
        f->x[3 * i] = f->rest[3 * i] + slip * (i % 5);
    sn_contact_set_renew(f->set, f->x);
}

/// product += Hessian of the contacts times z. Counts those that press and those that stick.
static void add_contacts(fixture *f, const double *z, double *product, int *pressing, int *sticking) {
    for (int32_t i = 0; i < sn_contact_set_count(f->set); i++) {
        const sn_contact_point *c = &sn_contact_set_points(f->set)[i];
        double p[3], force[3], hessian[9], move[3] = {0};
        sn_contact_place(c, f->x, p);
        sn_contact_energy(c, p, force, hessian);
        *pressing += c->gap < 0;
        *sticking += sn_contact_sticks(c, p);
        for (int a = 0; a < 4; a++)
            for (int k = 0; k < 3; k++)
                move[k] += c->weight[a] * z[3 * c->node[a] + k];
        for (int a = 0; a < 4; a++)
            for (int k = 0; k < 9; k++)
                product[3 * c->node[a] + k / 3] += c->weight[a] * hessian[k] * move[k % 3];
    }
}

static void check_inverse(fixture *f, const double *g, const double *z, double inertia, double tolerance) {
    double product[3 * NODES];
    sn_triplet *triplets = NULL;
    sn_csr stiffness = {0};
    int64_t count = 0;
    int pressing = 0, sticking = 0;
    assert_done(f->ctx, sn_elastic_metric(f->elastic, &count, &triplets));
    assert_done(f->ctx, sn_csr_create(f->ctx, NODES, count, triplets, &stiffness));
    sn_csr_multiply(&stiffness, 3, z, product);
    for (int j = 0; j < 3 * NODES; j++)
        product[j] += inertia * f->mass[j / 3] * z[j];
    add_contacts(f, z, product, &pressing, &sticking);
    assert_in_range(pressing, 3, POINTS - 1);
    if (f->pair.friction > 0)
        assert_in_range(sticking, 1, pressing - 1);
    for (int j = 0; j < 3 * NODES; j++)
        if (!f->pinned[j / 3])
            assert_near(product[j], g[j], tolerance);
    sn_csr_destroy(f->ctx, &stiffness);
    sn_release(f->ctx, triplets);
}

static void fill_right(const fixture *f, double *g) {
    sn_random random = sn_random_make(9);
    for (int j = 0; j < 3 * NODES; j++)
        g[j] = f->pinned[j / 3] ? 0 : sn_random_normal(&random);
}

static void inverts_with_contacts(void **state) {
    (void)state;
    const int strides[4] = {0, 1, 2, 7};
    for (int mode = 0; mode < 4; mode++) {
        double exact[3 * NODES];
        for (int s = 0; s < 4; s++) {
            fixture f;
            double g[3 * NODES], z[3 * NODES], inertia = 3600, size = 0;
            int32_t factorizations = 0;
            setup(&f, mode % 2, mode / 2);
            fill_right(&f, g);
            sn_metric *metric = make_metric(&f, strides[s]);
            touch(&f, 0.1, 0.02);
            assert_done(f.ctx, sn_metric_begin(metric, inertia, f.set, f.x, &factorizations));
            assert_int_equal(factorizations, 1);
            assert_done(f.ctx, sn_metric_apply(metric, g, z));
            if (s == 0) {
                check_inverse(&f, g, z, inertia, 1e-9);
                memcpy(exact, z, sizeof exact);
            }
            // The inverse of S is kept in float.
            for (int j = 0; j < 3 * NODES; j++)
                size = fmax(size, fabs(exact[j]));
            for (int j = 0; j < 3 * NODES; j++)
                assert_near(z[j], exact[j], 1e-4 * size);
            sn_metric_destroy(&metric);
            teardown(&f);
        }
    }
}

static void forgets_what_it_held(void **state) {
    (void)state;
    for (int stride = 0; stride < 3; stride++) {
        fixture f;
        double g[3 * NODES], z[3 * NODES], fresh[3 * NODES];
        int32_t factorizations = 0;
        setup(&f, false, 0.5);
        fill_right(&f, g);
        sn_metric *metric = make_metric(&f, stride), *other = make_metric(&f, stride);
        const double lifts[4] = {0.3, -0.2, 0.1, 0.15};
        for (int i = 0; i < 4; i++) {
            touch(&f, lifts[i], 0.02 * i);
            assert_done(f.ctx, sn_metric_begin(metric, 3600, f.set, f.x, &factorizations));
            assert_done(f.ctx, sn_metric_apply(metric, g, z));
        }
        assert_int_equal(factorizations, 1);
        assert_done(f.ctx, sn_metric_begin(other, 3600, f.set, f.x, &factorizations));
        assert_done(f.ctx, sn_metric_apply(other, g, fresh));
        assert_memory_equal(z, fresh, sizeof z);
        sn_metric_destroy(&metric);
        sn_metric_destroy(&other);
        teardown(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(inverts_with_contacts),
                                       cmocka_unit_test(forgets_what_it_held)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
