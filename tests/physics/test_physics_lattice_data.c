// Labels: slow
// Every surface of the data folder embeds, coarse and fine: in one piece with all its vertices, and closed
// ones with their volume. Skipped without the folder.
#include "unit/mesh/mesh_fixture.h"

#include "sinew/io.h"

static const char *const surfaces[] = {"arm.obj",
                                       "spot.obj",
                                       "stanford-bunny.obj",
                                       "suzanne.obj",
                                       "teapot.obj",
                                       "unilatCompleteCleft.obj",
                                       "cleftAlveoliLevelset.obj"};

static double solid_volume(const sn_mesh *mesh) {
    double sum = 0, cube = 0;
    for (int32_t t = 0; t < mesh->tet_count; t++)
        sum += mesh->fraction[t] * sn_tet_volume6(mesh->position, mesh->tet + 4 * (size_t)t, &cube) / 6;
    return sum;
}

static void assert_vertices_in_place(const sn_mesh *mesh, const sn_embedding *embedding,
                                     const sn_mesh_data *surface, double size) {
    double *out = calloc(3 * (size_t)surface->vertex_count, sizeof *out);
    assert_int_equal(embedding->count, surface->vertex_count);
    sn_embedding_evaluate(embedding, mesh->tet, mesh->position, out);
    for (int32_t i = 0; i < 3 * surface->vertex_count; i++)
        if (!(fabs(out[i] - surface->position[i]) <= 1e-12 * size))
            fail_msg("vertex %d is off by %g", i / 3, out[i] - surface->position[i]);
    free(out);
}

static void embed(const char *name, int32_t cells) {
    sn_context *ctx = test_context(2);
    sn_mesh_data *surface = NULL;
    sn_mesh *mesh = NULL;
    sn_embedding *embedding = NULL;
    sn_lattice_def def = sn_lattice_def_default();
    int32_t pieces = 0;
    def.cells = cells;
    assert_done(ctx, sn_mesh_data_read(ctx, fixture_data_path(name), &surface));
    assert_done(ctx, sn_lattice_create(ctx, surface, &def, &mesh, &embedding));
    sn_mesh_report report = fixture_report(surface);
    double size = fmax(report.high[0] - report.low[0], report.high[1] - report.low[1]);
    assert_vertices_in_place(mesh, embedding, surface, fmax(size, report.high[2] - report.low[2]));
    sn_mesh_tet_pieces(mesh, &pieces);
    double excess = solid_volume(mesh) / report.volume - 1;
    print_message("%s, %d cells: %d tets in %d pieces, volume %+.2f %%\n", name, cells, mesh->tet_count,
                  pieces, 100 * excess);
    assert_int_equal(pieces, 1);
    if (report.boundary_edges == 0)
        assert_true(fabs(excess) < (cells >= 100 ? 0.01 : 0.03));
    else // holes are bridged, overlapping parts count once
        assert_true(fabs(excess) < 0.08);
    sn_embedding_destroy(&embedding);
    sn_mesh_destroy(&mesh);
    sn_mesh_data_destroy(&surface);
    test_context_end(&ctx);
}

static void every_surface_embeds(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof surfaces / sizeof *surfaces; i++) {
        embed(surfaces[i], 40);
        embed(surfaces[i], 100);
    }
}

int main(void) {
    FILE *file = fopen(fixture_data_path(surfaces[0]), "r");
    if (!file) {
        puts("skipped: no folder of real meshes (SINEW_DATA)");
        return 77;
    }
    fclose(file);
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_surface_embeds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
