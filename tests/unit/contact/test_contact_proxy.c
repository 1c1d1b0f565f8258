// Points of a surface that are watched for contact: where they are, what they stand for.
#include "test_support.h"

#include "contact/contact_proxy.h"
#include "math/math_mat3.h"
#include "sinew/mesh.h"

/// A block surface of two triangles a side in a lattice of its own.
typedef struct proxy_fixture {
    sn_context *ctx;
    sn_mesh_data *surface;
    sn_mesh *mesh;
    sn_embedding *embedding;
    int32_t *triangles, *vertex_node;
    bool *pinned;
    double *stiffness;
    sn_proxy_source source;
    sn_proxies proxies;
} proxy_fixture;

static const double SIZE[3] = {0.4, 0.3, 0.2};

/// `cells`: of the block's surface along its longest side; `lattice`: of the lattice.
static proxy_fixture make_fixture(sn_make_shape shape, int32_t cells, int32_t lattice) {
    proxy_fixture f = {.ctx = test_context(2)};
    sn_make_def make = sn_make_def_default(shape);
    sn_lattice_def def = sn_lattice_def_default();
    int32_t count = 0, *made = NULL;
    memcpy(make.size, SIZE, sizeof SIZE);
    make.cells = cells;
    def.cells = lattice;
    assert_done(f.ctx, sn_mesh_make(f.ctx, &make, &f.surface, NULL));
    assert_done(f.ctx, sn_lattice_create(f.ctx, f.surface, &def, &f.mesh, &f.embedding));
    assert_done(f.ctx, sn_mesh_data_triangles(f.surface, &count, &made));
    f.triangles = made;
    int32_t nodes = sn_mesh_node_count(f.mesh), tets = sn_mesh_tet_count(f.mesh);
    f.pinned = calloc((size_t)nodes, sizeof *f.pinned);
    f.stiffness = malloc((size_t)tets * sizeof *f.stiffness);
    f.vertex_node = malloc(4 * (size_t)f.embedding->count * sizeof *f.vertex_node);
    for (int32_t t = 0; t < tets; t++)
        f.stiffness[t] = 7;
    for (int32_t v = 0; v < f.embedding->count; v++)
        memcpy(f.vertex_node + 4 * v, sn_mesh_tets(f.mesh) + 4 * f.embedding->tet[v], 4 * sizeof(int32_t));
    f.source = (sn_proxy_source){.rest = sn_mesh_positions(f.mesh),
                                 .tet_count = tets,
                                 .tets = sn_mesh_tets(f.mesh),
                                 .tet_stiffness = f.stiffness,
                                 .copies = sn_mesh_copies(f.mesh),
                                 .node_count = nodes,
                                 .vertex_count = f.embedding->count,
                                 .vertex_node = f.vertex_node,
                                 .vertex_weight = f.embedding->weight,
                                 .triangle_count = count,
                                 .triangles = f.triangles,
                                 .spacing = SIZE[0] / lattice,
                                 .pinned = f.pinned};
    return f;
}

static void end_fixture(proxy_fixture *f) {
    sn_proxies_clear(f->ctx, &f->proxies);
    sn_mesh_data_free_array(f->surface, f->triangles);
    sn_embedding_destroy(&f->embedding);
    sn_mesh_destroy(&f->mesh);
    sn_mesh_data_destroy(&f->surface);
    free(f->pinned);
    free(f->stiffness);
    free(f->vertex_node);
    test_context_end(&f->ctx);
}

/// Distance of a place from the surface of the block about the origin.
static double off_block(const double p[3]) {
    double beyond = -HUGE_VAL;
    for (int k = 0; k < 3; k++)
        beyond = fmax(beyond, fabs(p[k]) - SIZE[k] / 2);
    return fabs(beyond);
}

/// Large triangles get samples, on the surface and no farther apart than the tets' edges.
static void coarse_surfaces_are_sampled(void **state) {
    (void)state;
    proxy_fixture f = make_fixture(SN_MAKE_BLOCK, 1, 8);
    assert_done(f.ctx, sn_proxies_create(f.ctx, &f.source, &f.proxies));
    assert_true(f.proxies.count > f.source.vertex_count + 100);
    int32_t samples = 0;
    for (int32_t i = 0; i < f.proxies.count; i++) {
        double p[3], sum = 0;
        sn_proxy_place(&f.proxies, i, f.source.rest, p);
        for (int a = 0; a < 4; a++)
            sum += f.proxies.weight[4 * i + a];
        assert_near(sum, 1, 1e-12);
        assert_at_most(off_block(p), 1e-12);
        assert_true(f.proxies.area[i] > 0);
        assert_near(f.proxies.stiffness[i], 7, 1e-9);
        samples += f.proxies.vertex[i] < 0;
    }
    assert_int_equal(f.proxies.count - samples, f.source.vertex_count);
    // Every place of the bottom has a proxy within an edge.
    for (int i = 0; i <= 40; i++)
        for (int j = 0; j <= 40; j++) {
            double place[3] = {SIZE[0] * (i / 40.0 - 0.5), SIZE[1] * (j / 40.0 - 0.5), -SIZE[2] / 2},
                   near = 1;
            for (int32_t n = 0; n < f.proxies.count; n++) {
                double p[3];
                sn_proxy_place(&f.proxies, n, f.source.rest, p);
                near = fmin(near, sn_distance3(p, place));
            }
            assert_at_most(near, f.source.spacing);
        }
    end_fixture(&f);
}

/// What a point's nodes yield adds up, by its weights; a node is as stiff as the tets around it in their
/// mean.
static void soft_nodes_make_soft_points(void **state) {
    (void)state;
    proxy_fixture f = make_fixture(SN_MAKE_SPHERE, 6, 7);
    double *node = calloc((size_t)f.source.node_count, sizeof *node);
    int32_t *tets_at = calloc((size_t)f.source.node_count, sizeof *tets_at);
    for (int32_t i = 0; i < 4 * f.source.tet_count; i++) {
        f.stiffness[i / 4] = i / 4 % 3 == 0 ? 0.5 : 7;
        node[f.source.tets[i]] += f.stiffness[i / 4];
        tets_at[f.source.tets[i]]++;
    }
    assert_done(f.ctx, sn_proxies_create(f.ctx, &f.source, &f.proxies));
    double softest = 7;
    for (int32_t i = 0; i < f.proxies.count; i++) {
        double yield = 0;
        for (int a = 0; a < 4; a++) {
            int32_t n = f.proxies.node[4 * i + a];
            yield += fabs(f.proxies.weight[4 * i + a]) * tets_at[n] / node[n];
        }
        assert_near(f.proxies.stiffness[i] * yield, 1, 1e-9);
        softest = fmin(softest, f.proxies.stiffness[i]);
    }
    assert_true(softest < 6);
    free(node);
    free(tets_at);
    end_fixture(&f);
}

/// What the proxies of one side of a block stand for is the side.
static void areas_add_up_side_by_side(void **state) {
    (void)state;
    for (int32_t cells = 1; cells <= 8; cells *= 8) {
        proxy_fixture f = make_fixture(SN_MAKE_BLOCK, cells, 8);
        assert_done(f.ctx, sn_proxies_create(f.ctx, &f.source, &f.proxies));
        double bottom = 0;
        for (int32_t i = 0; i < f.proxies.count; i++) {
            double p[3];
            sn_proxy_place(&f.proxies, i, f.source.rest, p);
            if (p[2] < -SIZE[2] / 2 + 1e-9)
                bottom += f.proxies.area[i];
        }
        assert_near(bottom / (SIZE[0] * SIZE[1]), 1, 0.02);
        end_fixture(&f);
    }
}

static void fine_surfaces_are_taken_as_they_are(void **state) {
    (void)state;
    proxy_fixture f = make_fixture(SN_MAKE_SPHERE, 24, 8);
    assert_done(f.ctx, sn_proxies_create(f.ctx, &f.source, &f.proxies));
    assert_int_equal(f.proxies.count, f.source.vertex_count);
    end_fixture(&f);
}

static void pinned_points_are_left_out(void **state) {
    (void)state;
    proxy_fixture f = make_fixture(SN_MAKE_SPHERE, 24, 8);
    for (int32_t n = 0; n < f.source.node_count; n++)
        f.pinned[n] = f.source.rest[3 * n] < 0;
    assert_done(f.ctx, sn_proxies_create(f.ctx, &f.source, &f.proxies));
    assert_true(f.proxies.count > 0 && f.proxies.count < f.source.vertex_count);
    for (int32_t i = 0; i < f.proxies.count; i++) {
        bool moves = false;
        for (int a = 0; a < 4; a++)
            moves |= f.proxies.weight[4 * i + a] != 0 && !f.pinned[f.proxies.node[4 * i + a]];
        assert_true(moves);
    }
    end_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coarse_surfaces_are_sampled), cmocka_unit_test(soft_nodes_make_soft_points),
        cmocka_unit_test(areas_add_up_side_by_side),   cmocka_unit_test(fine_surfaces_are_taken_as_they_are),
        cmocka_unit_test(pinned_points_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
