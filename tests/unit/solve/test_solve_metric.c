// The metric: A^-1 inverts M / s + L on the free nodes, pinned nodes stay, and a free stiff piece keeps its
// momentum to rounding.
#include "test_support.h"

#include "base/base_util.h"
#include "solve/solve_metric.h"

enum { NODES = 40, TETS = 37 };

typedef struct fixture {
    double rest[3 * NODES], mass[NODES];
    int32_t tets[4 * TETS], tet_material[TETS], piece[NODES];
    bool pinned[NODES];
    sn_material_def material;
    sn_elastic *elastic;
    sn_metric *metric;
} fixture;

/// A chain of tets: each new node sits on the last face.
static void fill_chain(fixture *f, double size) {
    sn_random random = sn_random_make(3);
    for (int i = 0; i < NODES; i++) {
        double angle = 2.1 * i;
        double place[3] = {0.4 * i, cos(angle), sin(angle)};
        for (int k = 0; k < 3; k++)
            f->rest[3 * i + k] = size * (place[k] + 0.05 * sn_random_range(&random, -1, 1));
        f->mass[i] = size * size * size * sn_random_range(&random, 100, 200);
    }
    for (int t = 0; t < TETS; t++) {
        double d[9], volume;
        int32_t *tet = f->tets + 4 * t;
        for (int a = 0; a < 4; a++)
            tet[a] = t + a;
        for (int i = 0; i < 3; i++)
            for (int a = 0; a < 3; a++)
                d[3 * i + a] = f->rest[3 * tet[a + 1] + i] - f->rest[3 * tet[0] + i];
        volume = d[0] * (d[4] * d[8] - d[5] * d[7]) - d[1] * (d[3] * d[8] - d[5] * d[6]) +
                 d[2] * (d[3] * d[7] - d[4] * d[6]);
        if (volume < 0) {
            tet[2] = t + 3;
            tet[3] = t + 2;
        }
    }
}

static void setup(fixture *f, sn_context *ctx, double size, double young, bool anchored) {
    *f = (fixture){0};
    fill_chain(f, size);
    f->material = sn_material_def_default();
    f->material.young = young;
    if (anchored)
        f->pinned[0] = f->pinned[7] = true;
    sn_elastic_def def = {.node_count = NODES,
                          .rest = f->rest,
                          .tet_count = TETS,
                          .tets = f->tets,
                          .material_count = 1,
                          .materials = &f->material,
                          .tet_material = f->tet_material};
    assert_done(ctx, sn_elastic_create(ctx, &def, &f->elastic));
    sn_metric_def metric = {NODES, f->pinned, f->mass, f->piece, 1, &anchored, SN_FACTOR_DOUBLE, 0, NULL, 0};
    assert_done(ctx, sn_metric_create(ctx, f->elastic, &metric, &f->metric));
}

static void teardown(fixture *f) {
    sn_metric_destroy(&f->metric);
    sn_elastic_destroy(&f->elastic);
}

static void inverts_the_matrix(void **state) {
    (void)state;
    sn_context *ctx = test_context(2);
    for (int anchored = 0; anchored < 2; anchored++) {
        fixture f;
        setup(&f, ctx, 1, 1e4, anchored);
        double inertia = 3600, g[3 * NODES], z[3 * NODES], product[3 * NODES];
        sn_random random = sn_random_make(9);
        assert_done(ctx, sn_metric_factor(f.metric, inertia));
        for (int j = 0; j < 3 * NODES; j++)
            g[j] = f.pinned[j / 3] ? 0 : sn_random_normal(&random);
        assert_done(ctx, sn_metric_apply(f.metric, g, z));
        sn_triplet *triplets = NULL;
        sn_csr stiffness = {0};
        int64_t count = 0;
        assert_done(ctx, sn_elastic_metric(f.elastic, &count, &triplets));
        assert_done(ctx, sn_csr_create(ctx, NODES, count, triplets, &stiffness));
        sn_csr_multiply(&stiffness, 3, z, product);
        for (int j = 0; j < 3 * NODES; j++) {
            if (f.pinned[j / 3])
                assert_true(z[j] == 0);
            else
                assert_near(product[j] + inertia * f.mass[j / 3] * z[j], g[j], 1e-10);
        }
        sn_csr_destroy(ctx, &stiffness);
        sn_release(ctx, triplets);
        teardown(&f);
    }
    test_context_end(&ctx);
}

static void translates_stiff_free_bodies_exactly(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    const double sizes[3] = {1e-3, 1, 1e3};
    for (int s = 0; s < 3; s++) {
        fixture f;
        setup(&f, ctx, sizes[s], 1e9, false);
        double inertia = 100, g[3 * NODES], z[3 * NODES], mass = 0, momentum[3] = {0}, force[3] = {0},
               size = 0;
        sn_random random = sn_random_make(4);
        assert_done(ctx, sn_metric_factor(f.metric, inertia));
        for (int j = 0; j < 3 * NODES; j++) {
            g[j] = sn_random_normal(&random);
            force[j % 3] += g[j];
        }
        assert_done(ctx, sn_metric_apply(f.metric, g, z));
        for (int j = 0; j < 3 * NODES; j++) {
            momentum[j % 3] += f.mass[j / 3] * z[j];
            size += fabs(f.mass[j / 3] * z[j]);
            mass += f.mass[j / 3] / 3;
        }
        for (int k = 0; k < 3; k++)
            assert_near(momentum[k] * inertia, force[k], 1e-14 * size * inertia);
        assert_true(mass > 0);
        teardown(&f);
    }
    test_context_end(&ctx);
}

static void refuses_statics_without_anchor(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    fixture f;
    setup(&f, ctx, 1, 1e4, false);
    assert_int_equal(sn_metric_factor(f.metric, 0), SN_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(sn_context_message(ctx), "pin"));
    assert_done(ctx, sn_metric_factor(f.metric, 1));
    teardown(&f);
    test_context_end(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inverts_the_matrix),
        cmocka_unit_test(translates_stiff_free_bodies_exactly),
        cmocka_unit_test(refuses_statics_without_anchor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
