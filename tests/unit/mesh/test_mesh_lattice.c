// Lattices: the tets kept are those that brute force keeps, volumes bracket the solid's, vertices round-trip,
// the metric has its zeros, and nothing depends on threads.
#include "unit/mesh/mesh_fixture.h"

#include "geom/geom_predicate.h"
#include "mesh/mesh_pattern.h"

typedef struct filled {
    sn_mesh *mesh;
    sn_embedding *embedding;
} filled;

static filled fill(sn_context *ctx, const sn_mesh_data *surface, sn_lattice_kind kind, int32_t cells) {
    filled f = {0};
    sn_lattice_def def = sn_lattice_def_default();
    def.kind = kind;
    def.cells = cells;
    assert_int_equal(sn_lattice_create(ctx, surface, &def, &f.mesh, &f.embedding), SN_OK);
    return f;
}

static void release(filled *f) {
    sn_mesh_destroy(&f->mesh);
    sn_embedding_destroy(&f->embedding);
}

static double mesh_volume(const sn_mesh *mesh) {
    double sum = 0, cube = 0;
    for (int32_t t = 0; t < mesh->tet_count; t++)
        sum += sn_tet_volume6(mesh->position, mesh->tet + 4 * (size_t)t, &cube) / 6;
    return sum;
}

static void assert_round_trip(const filled *f, const sn_mesh_data *surface) {
    sn_context *ctx = surface->context;
    sn_mesh_report report = fixture_report(surface);
    double *out = NULL, size = 0;
    for (int c = 0; c < 3; c++)
        size = fmax(size, report.high[c] - report.low[c]);
    assert_int_equal(f->embedding->count, surface->vertex_count);
    assert_int_equal(sn_new(ctx, (size_t)surface->vertex_count * 3, sizeof *out, (void **)&out), SN_OK);
    sn_embedding_evaluate(f->embedding, f->mesh->tet, f->mesh->position, out);
    for (int32_t i = 0; i < 3 * surface->vertex_count; i++)
        assert_true(fabs(out[i] - surface->position[i]) <= 1e-12 * size);
    for (int32_t i = 0; i < 4 * surface->vertex_count; i++)
        assert_true(f->embedding->weight[i] >= -1e-12);
    SN_RELEASE(ctx, out);
}

/// Whether two tets in half cell edges share the face opposite corner `face` of the first one.
static bool shares_face(int32_t a[4][3], int32_t face, int32_t b[4][3], const int32_t shift[3]) {
    int shared = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4 && i != face; j++)
            shared += a[i][0] == b[j][0] + 2 * shift[0] && a[i][1] == b[j][1] + 2 * shift[1] &&
                      a[i][2] == b[j][2] + 2 * shift[2];
    return shared == 3;
}

/// The tets of a cell have its volume, and each face has a neighbor that has it as neighbor.
static void patterns_fill_space(void **state) {
    (void)state;
    for (sn_lattice_kind kind = SN_LATTICE_BCC; kind <= SN_LATTICE_KUHN; kind++) {
        sn_lattice_pattern pattern = sn_lattice_pattern_make(kind);
        double volume = 0, cube = 0;
        assert_int_equal(pattern.tet_count, kind == SN_LATTICE_BCC ? 12 : 6);
        for (int32_t t = 0; t < pattern.tet_count; t++) {
            double corner[12];
            for (int i = 0; i < 12; i++)
                corner[i] = pattern.corner[t][i / 3][i % 3];
            double part = sn_tet_volume6(corner, (int32_t[]){0, 1, 2, 3}, &cube) / 6;
            assert_true(part == (kind == SN_LATTICE_BCC ? 8.0 / 12 : 8.0 / 6));
            volume += part;
            for (int face = 0; face < 4; face++) {
                const int32_t *across = pattern.across[t][face];
                bool back = false;
                assert_true(shares_face(pattern.corner[t], face, pattern.corner[across[3]], across));
                for (int other = 0; other < 4; other++) {
                    const int32_t *home = pattern.across[across[3]][other];
                    back |= home[3] == t && home[0] == -across[0] && home[1] == -across[1] &&
                            home[2] == -across[2];
                }
                assert_true(back);
            }
        }
        assert_true(fabs(volume - 8) < 1e-14);
    }
}

/// Kuhn's tets fill a block of whole cells exactly; BCC's reach half a cell beyond each side. Edges of 0.04
/// are rounded, edges of 0.25 are not.
static void block_is_filled(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    for (int32_t cells = 4; cells <= 5; cells++) {
        sn_mesh_data *block = NULL;
        sn_make_def def = sn_make_def_default(SN_MAKE_BLOCK);
        def.cells = 3;
        for (int c = 0; c < 3; c++)
            def.size[c] = cells == 4 ? 1 : 0.2;
        double solid = def.size[0] * def.size[1] * def.size[2];
        assert_int_equal(sn_mesh_make(ctx, &def, &block, NULL), SN_OK);
        filled kuhn = fill(ctx, block, SN_LATTICE_KUHN, cells), bcc = fill(ctx, block, SN_LATTICE_BCC, cells);
        assert_int_equal(kuhn.mesh->tet_count, 6 * cells * cells * cells);
        assert_int_equal(kuhn.mesh->node_count, (cells + 1) * (cells + 1) * (cells + 1));
        assert_true(fabs(mesh_volume(kuhn.mesh) / solid - 1) < 1e-8);
        // 4 tets for each of the cell faces, among them those on the block's sides.
        assert_int_equal(bcc.mesh->tet_count, 4 * 3 * cells * cells * (cells + 1));
        assert_true(fabs(mesh_volume(bcc.mesh) / solid - (1 + 1.0 / cells)) < 1e-8);
        assert_round_trip(&kuhn, block);
        assert_round_trip(&bcc, block);
        release(&kuhn);
        release(&bcc);
        sn_mesh_data_destroy(&block);
    }
    test_context_end(&ctx);
}

static void ball_volume_shrinks_to_the_exact_one(void **state) {
    (void)state;
    sn_context *ctx = test_context(2);
    sn_mesh_data *ball = fixture_shape(ctx, SN_MAKE_SPHERE, 12);
    double exact = fixture_report(ball).volume;
    for (sn_lattice_kind kind = SN_LATTICE_BCC; kind <= SN_LATTICE_KUHN; kind++) {
        double excess = INFINITY;
        for (int32_t cells = 5; cells <= 20; cells *= 2) {
            filled f = fill(ctx, ball, kind, cells);
            double now = mesh_volume(f.mesh) / exact - 1;
            assert_true(now > 0 && now < 0.65 * excess);
            assert_round_trip(&f, ball);
            excess = now;
            release(&f);
        }
        assert_true(excess < 0.2);
    }
    sn_mesh_data_destroy(&ball);
    test_context_end(&ctx);
}

static void limbs_round_trip(void **state) {
    (void)state;
    sn_context *ctx = test_context(2);
    for (int which = 0; which < 2; which++) {
        sn_mesh_data *arm =
            which == 0 ? fixture_shape(ctx, SN_MAKE_ARM, 0) : fixture_read_obj(ctx, "arm.obj");
        for (sn_lattice_kind kind = SN_LATTICE_BCC; arm && kind <= SN_LATTICE_KUHN; kind++) {
            filled f = fill(ctx, arm, kind, 40);
            int32_t pieces = 0;
            sn_mesh_tet_pieces(f.mesh, &pieces);
            assert_int_equal(pieces, 1);
            assert_round_trip(&f, arm);
            double ratio = mesh_volume(f.mesh) / fixture_report(arm).volume;
            assert_true(ratio > 1 && ratio < 2);
            release(&f);
        }
        sn_mesh_data_destroy(&arm);
    }
    test_context_end(&ctx);
}

/// Part of a polygon on the inner side of a plane (level >= 0 is inside). Returns the number of corners.
static int clip(int count, double polygon[][3], const double plane[4]) {
    double kept[16][3];
    int used = 0;
    for (int i = 0; i < count; i++) {
        const double *p = polygon[i], *q = polygon[(i + 1) % count];
        double a = plane[0] * p[0] + plane[1] * p[1] + plane[2] * p[2] + plane[3];
        double b = plane[0] * q[0] + plane[1] * q[1] + plane[2] * q[2] + plane[3];
        if (a >= 0)
            memcpy(kept[used++], p, sizeof kept[0]);
        if ((a < 0) != (b < 0)) {
            for (int c = 0; c < 3; c++)
                kept[used][c] = p[c] + a / (a - b) * (q[c] - p[c]);
            used++;
        }
    }
    memcpy(polygon, kept, (size_t)used * sizeof kept[0]);
    return used;
}

/// Whether anything of a triangle is left after cutting it with the four planes of a tet.
static bool meets_by_clipping(const double triangle[9], const double tet[12]) {
    double polygon[16][3];
    int count = 3;
    memcpy(polygon, triangle, 9 * sizeof(double));
    for (int f = 0; f < 4 && count > 0; f++) {
        const double *a = tet + 3 * ((f + 1) % 4), *b = tet + 3 * ((f + 2) % 4), *c = tet + 3 * ((f + 3) % 4);
        double plane[4] = {0};
        for (int k = 0; k < 3; k++) {
            int m = (k + 1) % 3, n = (k + 2) % 3;
            plane[k] = (b[m] - a[m]) * (c[n] - a[n]) - (b[n] - a[n]) * (c[m] - a[m]);
        }
        plane[3] = -(plane[0] * a[0] + plane[1] * a[1] + plane[2] * a[2]);
        double own = plane[0] * tet[3 * f] + plane[1] * tet[3 * f + 1] + plane[2] * tet[3 * f + 2] + plane[3];
        for (int k = 0; k < 4 && own < 0; k++)
            plane[k] = -plane[k];
        count = clip(count, polygon, plane);
    }
    return count > 0;
}

static double winding_by_sum(const sn_mesh_data *surface, const double point[3]) {
    double angle = 0;
    for (int32_t t = 0; t < surface->block[0].count; t++) {
        const int32_t *v = surface->block[0].vertex + 3 * (size_t)t;
        angle += sn_triangle_solid_angle(point, surface->position + 3 * (size_t)v[0],
                                         surface->position + 3 * (size_t)v[1],
                                         surface->position + 3 * (size_t)v[2]);
    }
    return angle / (4 * acos(-1));
}

static bool keeps_by_brute_force(const sn_mesh_data *surface, const double tet[12]) {
    double center[3];
    for (int c = 0; c < 3; c++)
        center[c] = 0.25 * (tet[c] + tet[3 + c] + tet[6 + c] + tet[9 + c]);
    if (fabs(winding_by_sum(surface, center)) >= 0.5)
        return true;
    for (int32_t t = 0; t < surface->block[0].count; t++) {
        double triangle[9];
        for (int i = 0; i < 9; i++)
            triangle[i] =
                surface->position[3 * (size_t)surface->block[0].vertex[3 * t + i / 3] + (size_t)i % 3];
        if (meets_by_clipping(triangle, tet))
            return true;
    }
    return false;
}

static bool is_at(const sn_mesh *mesh, int32_t t, const double corner[12], double tolerance) {
    for (int k = 0; k < 12; k++)
        if (!(fabs(mesh->position[3 * mesh->tet[4 * t + k / 3] + k % 3] - corner[k]) < tolerance))
            return false;
    return true;
}

/// Walks over a wide block of the lattice in the order of the numbering and compares with the mesh, tet by
/// tet.
static void compare_with_brute_force(const sn_mesh_data *surface, sn_lattice_kind kind, const filled *f,
                                     int32_t cells) {
    sn_lattice_pattern pattern = sn_lattice_pattern_make(kind);
    sn_mesh_report report = fixture_report(surface);
    double size = 0, origin[3];
    for (int c = 0; c < 3; c++)
        size = fmax(size, report.high[c] - report.low[c]);
    double half = 0.5 * size / cells * (1 + 0x1p-30);
    int32_t found = 0, wide = cells + 3;
    for (int c = 0; c < 3; c++) {
        double n = ceil((report.high[c] - report.low[c]) / (2 * half));
        origin[c] = 0.5 * (report.low[c] + report.high[c]) - (n + 2) * half;
    }
    for (int32_t i = 0; i < wide * wide * wide; i++)
        for (int32_t t = 0; t < pattern.tet_count; t++) {
            int32_t place[3] = {i % wide, i / wide % wide, i / wide / wide};
            double tet[12];
            for (int k = 0; k < 12; k++)
                tet[k] = origin[k % 3] + half * (2 * place[k % 3] + pattern.corner[t][k / 3][k % 3]);
            if (!keeps_by_brute_force(surface, tet))
                continue;
            assert_true(found < f->mesh->tet_count);
            assert_true(is_at(f->mesh, found, tet, 1e-8 * half));
            // Copies for several pieces of solid come one after another.
            while (found < f->mesh->tet_count && is_at(f->mesh, found, tet, 1e-8 * half))
                found++;
        }
    assert_int_equal(found, f->mesh->tet_count);
}

/// Two balls in one surface: the second moved by `shift` and scaled, its triangles turned over if asked.
static sn_mesh_data *two_balls(sn_context *ctx, double scale, double shift, bool turned) {
    sn_mesh_data *ball = fixture_shape(ctx, SN_MAKE_SPHERE, 3);
    fixture_tilt(ball, 0.0123);
    size_t places = 3 * (size_t)ball->vertex_count, corners = 3 * (size_t)ball->block[0].count;
    double *place = calloc(2 * places, sizeof *place);
    int32_t *triangle = calloc(2 * corners, sizeof *triangle);
    for (size_t i = 0; i < places; i++) {
        place[i] = ball->position[i];
        place[places + i] = scale * ball->position[i] + shift;
    }
    for (size_t i = 0; i < corners; i++) {
        triangle[i] = ball->block[0].vertex[i];
        triangle[corners + i] =
            ball->vertex_count + ball->block[0].vertex[turned ? i / 3 * 3 + 2 - i % 3 : i];
    }
    sn_mesh_data *both = fixture_data(ctx, 2 * ball->vertex_count, place, SN_CELL_TRIANGLE,
                                      2 * ball->block[0].count, triangle);
    free(place);
    free(triangle);
    sn_mesh_data_destroy(&ball);
    return both;
}

static void keeps_what_brute_force_keeps(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    sn_mesh_data *surface[] = {
        two_balls(ctx, 1, 0.07, false),   // overlapping
        two_balls(ctx, 1, 0.2, true),     // apart, one turned inside out
        two_balls(ctx, 0.4, 0.01, true),  // a ball with a hole inside
        two_balls(ctx, 0.4, 0.01, false), // a ball within a ball, twice inside
    };
    const int32_t cells[] = {5, 5, 8, 5};
    for (int i = 0; i < 4; i++) {
        for (sn_lattice_kind kind = SN_LATTICE_BCC; kind <= SN_LATTICE_KUHN; kind++) {
            filled f = fill(ctx, surface[i], kind, cells[i]);
            compare_with_brute_force(surface[i], kind, &f, cells[i]);
            release(&f);
        }
        sn_mesh_data_destroy(&surface[i]);
    }
    test_context_end(&ctx);
}

/// Gradients of the weights of a tet whose first corner is the origin: their differences along the axes.
static void weight_gradients(const double corner[12], double gradient[4][3]) {
    double origin[4];
    sn_tet_weights((double[3]){0, 0, 0}, corner, origin);
    for (int c = 0; c < 3; c++) {
        double step[3] = {0}, weight[4];
        step[c] = 1;
        sn_tet_weights(step, corner, weight);
        for (int a = 0; a < 4; a++)
            gradient[a][c] = weight[a] - origin[a];
    }
}

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// Checks the metric of one tet, and adds its diagonal to the nodes.
static void check_metric(const sn_mesh *mesh, int32_t tet, double edge, double *diagonal) {
    const int32_t *v = mesh->tet + 4 * (size_t)tet;
    double corner[12], gradient[4][3], shortest = INFINITY, cube = 0;
    double volume = sn_tet_volume6(mesh->position, v, &cube) / 6;
    for (int i = 0; i < 12; i++)
        corner[i] = mesh->position[3 * (size_t)v[i / 3] + (size_t)i % 3] -
                    mesh->position[3 * (size_t)v[0] + (size_t)i % 3];
    weight_gradients(corner, gradient);
    for (int pass = 0; pass < 2; pass++)
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < a; b++) {
                double side[3];
                for (int c = 0; c < 3; c++)
                    side[c] = corner[3 * a + c] - corner[3 * b + c];
                double entry = dot(gradient[a], gradient[b]) / dot(gradient[a], gradient[a]);
                // BCC: the 4 short edges; Kuhn: the 3 edges along axes. Both are the shortest.
                if (pass == 0)
                    shortest = fmin(shortest, dot(side, side));
                else if (dot(side, side) > 1.1 * shortest)
                    assert_true(fabs(entry) < 1e-12);
                else
                    assert_true(entry < -0.3);
            }
    for (int a = 0; a < 4; a++)
        diagonal[v[a]] += volume * dot(gradient[a], gradient[a]) / edge;
}

/// Zero where the lattices' right angles say so, also far from the origin; diagonal 4 a (BCC) or 6 a (Kuhn)
/// in the bulk.
static void metric_has_its_zeros(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    for (int32_t run = 0; run < 4; run++) {
        sn_lattice_kind kind = run % 2 ? SN_LATTICE_KUHN : SN_LATTICE_BCC;
        sn_mesh_data *ball = fixture_shape(ctx, SN_MAKE_SPHERE, 6);
        fixture_tilt(ball, run < 2 ? 0 : 150);
        filled f = fill(ctx, ball, kind, 7);
        sn_mesh_report report = fixture_report(ball);
        double *diagonal = calloc((size_t)f.mesh->node_count, sizeof *diagonal), edge = 0;
        int32_t *tets = calloc((size_t)f.mesh->node_count, sizeof *tets), bulk = 0;
        for (int c = 0; c < 3; c++)
            edge = fmax(edge, (report.high[c] - report.low[c]) / 7);
        for (int32_t t = 0; t < f.mesh->tet_count; t++) {
            check_metric(f.mesh, t, edge, diagonal);
            for (int a = 0; a < 4; a++)
                tets[f.mesh->tet[4 * t + a]]++;
        }
        for (int32_t v = 0; v < f.mesh->node_count; v++) {
            assert_in_range(tets[v], 1, 24);
            if (tets[v] == 24)
                assert_true(fabs(diagonal[v] - (kind == SN_LATTICE_BCC ? 4 : 6)) < 1e-7);
            bulk += tets[v] == 24;
        }
        assert_true(bulk > 100);
        free(diagonal);
        free(tets);
        release(&f);
        sn_mesh_data_destroy(&ball);
    }
    test_context_end(&ctx);
}

static void nothing_depends_on_threads_or_runs(void **state) {
    (void)state;
    for (sn_lattice_kind kind = SN_LATTICE_BCC; kind <= SN_LATTICE_KUHN; kind++) {
        uint64_t mesh_hash[3], embedding_hash[3];
        for (int run = 0; run < 3; run++) {
            sn_context *ctx = test_context(run == 2 ? 4 : 1);
            sn_mesh_data *arm = fixture_shape(ctx, SN_MAKE_ARM, 40);
            filled f = fill(ctx, arm, kind, 30);
            mesh_hash[run] = fixture_hash_mesh(f.mesh);
            embedding_hash[run] = fixture_hash_embedding(f.embedding);
            release(&f);
            sn_mesh_data_destroy(&arm);
            test_context_end(&ctx);
        }
        assert_true(mesh_hash[0] == mesh_hash[1] && mesh_hash[0] == mesh_hash[2]);
        assert_true(embedding_hash[0] == embedding_hash[1] && embedding_hash[0] == embedding_hash[2]);
    }
}

static void count_warning(void *user, sn_log_level level, const char *message) {
    *(int *)user += level == SN_LOG_WARNING && strstr(message, "not closed") != NULL;
}

static void open_surfaces_warn_and_fill(void **state) {
    (void)state;
    int warnings = 0;
    sn_context *ctx = NULL;
    sn_context_def def = sn_context_def_default();
    def.log = count_warning;
    def.log_user = &warnings;
    assert_int_equal(sn_context_create(&def, &ctx), SN_OK);
    sn_mesh_data *ball = fixture_shape(ctx, SN_MAKE_SPHERE, 12);
    filled whole = fill(ctx, ball, SN_LATTICE_BCC, 10);
    assert_int_equal(warnings, 0);
    ball->block[0].count -= 10;
    filled torn = fill(ctx, ball, SN_LATTICE_BCC, 10);
    assert_int_equal(warnings, 1);
    double ratio = mesh_volume(torn.mesh) / mesh_volume(whole.mesh);
    assert_true(ratio > 0.98 && ratio <= 1);
    release(&torn);
    release(&whole);
    sn_mesh_data_destroy(&ball);
    test_context_end(&ctx);
}

static void refuses_what_cannot_be_filled(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    const double point[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    const int32_t triangle[3] = {0, 1, 2};
    filled f = {0};
    sn_lattice_def def = sn_lattice_def_default();
    sn_mesh_data *data = fixture_data(ctx, 3, point, SN_CELL_TRIANGLE, 1, triangle);
    assert_int_equal(sn_lattice_create(ctx, data, &def, &f.mesh, &f.embedding), SN_ERR_MESH);
    assert_non_null(strstr(sn_context_message(ctx), "no extent"));
    // Products of four such lengths vanish or overflow, and weights were NaN.
    memcpy(data->position, (double[9]){0, 0, 0, 1e-80, 0, 0, 0, 1e-80, 0}, sizeof point);
    assert_int_equal(sn_lattice_create(ctx, data, &def, &f.mesh, &f.embedding), SN_ERR_MESH);
    assert_non_null(strstr(sn_context_message(ctx), "no extent"));
    data->position[0] = 1e80;
    assert_int_equal(sn_lattice_create(ctx, data, &def, &f.mesh, &f.embedding), SN_ERR_MESH);
    assert_non_null(strstr(sn_context_message(ctx), "too far away"));
    memcpy(data->position, point, sizeof point);
    data->position[4] = NAN;
    assert_int_equal(sn_lattice_create(ctx, data, &def, &f.mesh, &f.embedding), SN_ERR_MESH);
    assert_non_null(strstr(sn_context_message(ctx), "vertex 1"));
    data->block[0].count = 0;
    assert_int_equal(sn_lattice_create(ctx, data, &def, &f.mesh, &f.embedding), SN_ERR_MESH);
    data->block[0].count = 1;
    data->position[4] = 2;
    def.cells = 1001;
    assert_int_equal(sn_lattice_create(ctx, data, &def, &f.mesh, &f.embedding), SN_ERR_INVALID_ARGUMENT);
    def.cells = 1;
    def.mark = 0;
    assert_int_equal(sn_lattice_create(ctx, data, &def, &f.mesh, &f.embedding), SN_ERR_INVALID_ARGUMENT);
    assert_null(f.mesh);
    assert_null(f.embedding);
    // A flat needle of a triangle still gets the tets that it touches.
    def = sn_lattice_def_default();
    assert_int_equal(sn_lattice_create(ctx, data, &def, &f.mesh, &f.embedding), SN_OK);
    assert_true(f.mesh->tet_count > 20);
    release(&f);
    sn_mesh_data_destroy(&data);
    test_context_end(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_fill_space),
        cmocka_unit_test(block_is_filled),
        cmocka_unit_test(ball_volume_shrinks_to_the_exact_one),
        cmocka_unit_test(limbs_round_trip),
        cmocka_unit_test(keeps_what_brute_force_keeps),
        cmocka_unit_test(metric_has_its_zeros),
        cmocka_unit_test(nothing_depends_on_threads_or_runs),
        cmocka_unit_test(open_surfaces_warn_and_fill),
        cmocka_unit_test(refuses_what_cannot_be_filled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
