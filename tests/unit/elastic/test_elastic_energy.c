// Energy, gradient and metric of tets and springs together: derivatives, rigid motion, balance of forces and
// torques, majorisation by the metric, same bits for any number of threads.
#include "test_support.h"

#include "base/base_util.h"
#include "elastic/elastic.h"
#include "math/math_mat3.h"

enum {
    MODELS = 4,
    SIDE = 4,
    NODES = SIDE * SIDE * SIDE,
    CELLS = (SIDE - 1) * (SIDE - 1) * (SIDE - 1),
    TETS = 6 * CELLS
};

/// A jittered Kuhn block with several materials and springs of every kind.
typedef struct fixture {
    double rest[3 * NODES], x[3 * NODES], targets[3 * 4];
    int32_t tets[4 * TETS], tet_material[TETS];
    sn_material_def materials[MODELS];
    sn_spring springs[4];
    sn_elastic_def def;
} fixture;

static int32_t node_at(int i, int j, int k) {
    return (int32_t)((k * SIDE + j) * SIDE + i);
}

static void fill_tets(int32_t *tets) {
    static const int walk[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    int32_t count = 0;
    for (int k = 0; k + 1 < SIDE; k++)
        for (int j = 0; j + 1 < SIDE; j++)
            for (int i = 0; i + 1 < SIDE; i++)
                for (int w = 0; w < 6; w++) {
                    int place[3] = {i, j, k};
                    int32_t *tet = tets + 4 * count++;
                    tet[0] = node_at(i, j, k);
                    for (int s = 0; s < 3; s++) {
                        place[walk[w][s]]++;
                        tet[s + 1] = node_at(place[0], place[1], place[2]);
                    }
                    if (w == 1 || w == 2 || w == 5) { // odd walks run the other way round
                        int32_t swap = tet[1];
                        tet[1] = tet[2], tet[2] = swap;
                    }
                }
}

static fixture *make_fixture(bool with_springs, uint64_t seed, const void *is_fast) {
    fixture *f = calloc(1, sizeof *f);
    sn_random random = sn_random_make(seed);
    for (int i = 0; i < NODES; i++)
        for (int k = 0; k < 3; k++) {
            int grid[3] = {i % SIDE, i / SIDE % SIDE, i / (SIDE * SIDE)};
            f->rest[3 * i + k] = 0.1 * grid[k] + 0.01 * sn_random_range(&random, -1, 1);
            f->x[3 * i + k] =
                f->rest[3 * i + k] * (k == 0 ? 1.2 : 1) + 0.02 * sn_random_range(&random, -1, 1);
        }
    fill_tets(f->tets);
    for (int m = 0; m < MODELS; m++) {
        f->materials[m] = sn_material_def_default();
        f->materials[m].model = (sn_material_model)m;
        f->materials[m].young = 1e4 * (m + 1);
        f->materials[m].poisson = m == SN_MATERIAL_ARAP || m == SN_MATERIAL_BIPHASIC ? 0 : 0.4;
    }
    for (int t = 0; t < TETS; t++)
        f->tet_material[t] = t % MODELS;
    sn_spring_end node_a = {1, {0, 0, 0, 0}, {1, 0, 0, 0}}, node_b = {1, {NODES - 1, 0, 0, 0}, {1, 0, 0, 0}};
    sn_spring_end inside = {4, {1, 2, 5, 20}, {0.1, 0.2, 0.3, 0.4}},
                  other = {4, {40, 41, 45, 60}, {0.4, 0.3, 0.2, 0.1}};
    f->springs[0] = (sn_spring){node_a, {0}, 500, 0};
    f->springs[1] = (sn_spring){inside, {0}, 700, 0.05};
    f->springs[2] = (sn_spring){node_a, node_b, 300, 0.2};
    f->springs[3] = (sn_spring){inside, other, 900, 0};
    for (int k = 0; k < 12; k++)
        f->targets[k] = sn_random_range(&random, -0.1, 0.1);
    f->def = (sn_elastic_def){.node_count = NODES,
                              .rest = f->rest,
                              .tet_count = TETS,
                              .tets = f->tets,
                              .material_count = MODELS,
                              .materials = f->materials,
                              .tet_material = f->tet_material,
                              .spring_count = with_springs ? 4 : 0,
                              .springs = f->springs,
                              .is_fast = is_fast != NULL};
    return f;
}

static double total(sn_elastic_energy energy) {
    return energy.solid + energy.spring + energy.attachment;
}

static void gradient_is_the_derivative(void **state) {
    sn_context *ctx = test_context(1);
    fixture *f = make_fixture(true, 1, *state);
    sn_elastic *elastic = NULL;
    assert_done(ctx, sn_elastic_create(ctx, &f->def, &elastic));
    static double gradient[3 * NODES];
    sn_elastic_evaluate(elastic, f->x, f->targets, gradient);
    sn_random random = sn_random_make(5);
    for (int trial = 0; trial < 20; trial++) {
        double direction[3 * NODES], slope = 0, best = INFINITY;
        for (int j = 0; j < 3 * NODES; j++) {
            direction[j] = sn_random_normal(&random);
            slope += direction[j] * gradient[j];
        }
        for (double step = 1e-4; step > 1e-8; step *= 0.1) {
            double low[3 * NODES], high[3 * NODES];
            for (int j = 0; j < 3 * NODES; j++) {
                low[j] = f->x[j] - step * direction[j];
                high[j] = f->x[j] + step * direction[j];
            }
            double difference = (total(sn_elastic_evaluate(elastic, high, f->targets, NULL)) -
                                 total(sn_elastic_evaluate(elastic, low, f->targets, NULL))) /
                                (2 * step);
            best = fmin(best, fabs(difference - slope) / fabs(slope));
        }
        assert_at_most(best, 1e-7);
    }
    sn_elastic_destroy(&elastic);
    free(f);
    test_context_end(&ctx);
}

static void rigid_motion_costs_nothing(void **state) {
    sn_context *ctx = test_context(1);
    fixture *f = make_fixture(false, 2, *state);
    sn_elastic *elastic = NULL;
    assert_done(ctx, sn_elastic_create(ctx, &f->def, &elastic));
    for (int degrees = 0; degrees <= 350; degrees += 70) {
        double c = cos(degrees * 0.017453292519943295), s = sin(degrees * 0.017453292519943295);
        double R[9] = {c, -s, 0, s * 0.6, c * 0.6, -0.8, s * 0.8, c * 0.8, 0.6};
        double x[3 * NODES], gradient[3 * NODES];
        for (int i = 0; i < NODES; i++) {
            sn_mul3(R, f->rest + 3 * i, x + 3 * i);
            x[3 * i] += 5, x[3 * i + 1] -= 3;
        }
        double energy = total(sn_elastic_evaluate(elastic, x, f->targets, gradient));
        assert_at_most(energy, 1e-24 * 3e4 * 0.03);
        for (int j = 0; j < 3 * NODES; j++)
            assert_at_most(fabs(gradient[j]), 1e-10 * 3e4 * 0.01);
    }
    sn_elastic_destroy(&elastic);
    free(f);
    test_context_end(&ctx);
}

static void forces_and_torques_balance(void **state) {
    sn_context *ctx = test_context(1);
    fixture *f = make_fixture(false, 3, *state);
    sn_elastic *elastic = NULL;
    assert_done(ctx, sn_elastic_create(ctx, &f->def, &elastic));
    static double gradient[3 * NODES];
    sn_elastic_evaluate(elastic, f->x, f->targets, gradient);
    double force[3] = {0}, torque[3] = {0}, size = 0;
    for (int i = 0; i < NODES; i++) {
        double moment[3];
        sn_cross3(f->x + 3 * i, gradient + 3 * i, moment);
        for (int k = 0; k < 3; k++) {
            force[k] += gradient[3 * i + k];
            torque[k] += moment[k];
            size += fabs(gradient[3 * i + k]);
        }
    }
    assert_true(size > 1);
    for (int k = 0; k < 3; k++) {
        assert_at_most(fabs(force[k]), 1e-14 * size);
        assert_at_most(fabs(torque[k]), 1e-14 * size);
    }
    sn_elastic_destroy(&elastic);
    free(f);
    test_context_end(&ctx);
}

static void metric_bounds_projective_energies(void **state) {
    sn_context *ctx = test_context(1);
    fixture *f = make_fixture(true, 4, *state);
    f->materials[2].model = SN_MATERIAL_COROTATED;
    // A spring with a rest length is bounded by its stiffness too: -k l0 / l only lowers the transverse part.
    sn_elastic *elastic = NULL;
    sn_triplet *triplets = NULL;
    sn_csr metric = {0};
    int64_t count = 0;
    assert_done(ctx, sn_elastic_create(ctx, &f->def, &elastic));
    assert_true(sn_elastic_is_projective(elastic));
    assert_done(ctx, sn_elastic_metric(elastic, &count, &triplets));
    assert_done(ctx, sn_csr_create(ctx, NODES, count, triplets, &metric));
    sn_random random = sn_random_make(6);
    for (int trial = 0; trial < 200; trial++) {
        double size = pow(10, sn_random_range(&random, -4, 1)), from[3 * NODES], step[3 * NODES],
               to[3 * NODES];
        double gradient[3 * NODES], product[3 * NODES], slope = 0, square = 0;
        for (int j = 0; j < 3 * NODES; j++) {
            from[j] = trial % 2 ? f->x[j] : sn_random_range(&random, 0, 0.3);
            step[j] = size * 0.1 * sn_random_normal(&random);
            to[j] = from[j] + step[j];
        }
        double before = total(sn_elastic_evaluate(elastic, from, f->targets, gradient));
        double after = total(sn_elastic_evaluate(elastic, to, f->targets, NULL));
        sn_csr_multiply(&metric, 3, step, product);
        for (int j = 0; j < 3 * NODES; j++) {
            slope += gradient[j] * step[j];
            square += step[j] * product[j];
        }
        assert_at_most(after - (before + slope + 0.5 * square), 1e-12 * (before + fabs(slope) + square));
    }
    sn_csr_destroy(ctx, &metric);
    sn_release(ctx, triplets);
    sn_elastic_destroy(&elastic);
    free(f);
    test_context_end(&ctx);
}

static void bits_do_not_depend_on_threads(void **state) {
    fixture *f = make_fixture(true, 7, *state);
    static double gradient[2][3 * NODES];
    double energy[2];
    for (int32_t threads = 1; threads <= 4; threads++) {
        sn_context *ctx = test_context(threads);
        sn_elastic *elastic = NULL;
        int slot = threads > 1;
        assert_done(ctx, sn_elastic_create(ctx, &f->def, &elastic));
        energy[slot] = total(sn_elastic_evaluate(elastic, f->x, f->targets, gradient[slot]));
        if (slot) {
            assert_memory_equal(&energy[0], &energy[1], sizeof energy[0]);
            assert_memory_equal(gradient[0], gradient[1], sizeof gradient[0]);
        }
        sn_elastic_destroy(&elastic);
        test_context_end(&ctx);
    }
    free(f);
}

/// The state of the tests that run with fast kernels; NULL otherwise.
static int choose_fast(void **state) {
    static char fast;
    *state = &fast;
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_is_the_derivative),    cmocka_unit_test(rigid_motion_costs_nothing),
        cmocka_unit_test(forces_and_torques_balance),    cmocka_unit_test(metric_bounds_projective_energies),
        cmocka_unit_test(bits_do_not_depend_on_threads),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + cmocka_run_group_tests_name("fast", tests, choose_fast, NULL);
}
