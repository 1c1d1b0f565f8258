// Virtual noding: gaps thinner than a cell stay open, pieces of solid in one tet have copies of it, and what
// belongs together stays together. Solid parts of tets add up to the surface's volume.
#include "unit/mesh/lattice_fixture.h"

#define assert_in_interval(value, low, high)                                                                 \
    do {                                                                                                     \
        double interval_value = (value), interval_low = (low), interval_high = (high);                       \
        if (!(interval_value >= interval_low && interval_value <= interval_high))                            \
            fail_msg("%s is %.12g, expected %.12g to %.12g", #value, interval_value, interval_low,           \
                     interval_high);                                                                         \
    } while (0)

typedef struct filled {
    sn_mesh *mesh;
    sn_embedding *embedding;
} filled;

static filled fill(const sn_mesh_data *surface, sn_lattice_kind kind, int32_t cells) {
    filled f = {0};
    sn_lattice_def def = sn_lattice_def_default();
    def.kind = kind;
    def.cells = cells;
    assert_int_equal(sn_lattice_create(surface->context, surface, &def, &f.mesh, &f.embedding), SN_OK);
    return f;
}

static void release(filled *f) {
    sn_mesh_destroy(&f->mesh);
    sn_embedding_destroy(&f->embedding);
}

static int32_t count_pieces(const filled *f) {
    int32_t pieces = 0;
    sn_mesh_tet_pieces(f->mesh, &pieces);
    return pieces;
}

/// Solid volume of a piece, or of all pieces (-1), is the exact one plus what the least parts add: some tets
/// hold less than they count for.
static void assert_solid_volume(const filled *f, int32_t piece, double exact) {
    const double *fraction = sn_mesh_tet_fractions(f->mesh);
    double sum = 0, least = 0, cube = 0;
    for (int32_t t = 0; t < f->mesh->tet_count; t++) {
        if (piece >= 0 && f->mesh->piece[t] != piece)
            continue;
        double volume = sn_tet_volume6(f->mesh->position, f->mesh->tet + 4 * (size_t)t, &cube) / 6;
        assert_true(fraction[t] >= SN_TET_FRACTION_LEAST && fraction[t] <= 1);
        sum += fraction[t] * volume;
        least += fraction[t] == SN_TET_FRACTION_LEAST ? fraction[t] * volume : 0;
    }
    assert_in_interval(exact / sum, 1 - least / sum - 1e-9, 1 + 1e-9);
}

/// Most copies of a tet: they stand one after another.
static int32_t most_copies(const filled *f) {
    int32_t most = 1, now = 1;
    for (int32_t t = 1; t < f->mesh->tet_count; t++) {
        bool same = true;
        for (int32_t i = 0; i < 12; i++)
            same &= f->mesh->position[3 * f->mesh->tet[4 * t + i / 3] + i % 3] ==
                    f->mesh->position[3 * f->mesh->tet[4 * (t - 1) + i / 3] + i % 3];
        now = same ? now + 1 : 1;
        most = now > most ? now : most;
    }
    return most;
}

/// Every vertex of a box lies in a tet of one piece, and boxes lie in different ones.
static void assert_boxes_apart(const filled *f, int32_t boxes) {
    assert_int_equal(count_pieces(f), boxes);
    for (int32_t b = 0; b < boxes; b++)
        for (int32_t v = 8 * b; v < 8 * b + 8; v++)
            for (int32_t other = 0; other < 8 * boxes; other++)
                assert_true((f->mesh->piece[f->embedding->tet[v]] ==
                             f->mesh->piece[f->embedding->tet[other]]) == (other / 8 == b));
}

/// Two plates with a gap, as parts of a cell, at several resolutions; aligned with the lattice and not.
static void plates_come_apart(void **state) {
    (void)state;
    static const double gaps[] = {0.1, 1e-3, 1e-5};
    sn_context *ctx = test_context(2);
    for (int32_t run = 0; run < 48; run++) {
        int32_t cells = (const int32_t[]){4, 7, 10, 19}[run % 4];
        double gap = gaps[run / 4 % 3] / cells;
        const fixture_box plates[2] = {{{0, 0, 0}, {1, 0.8, 0.22}},
                                       {{0, 0, 0.22 + gap}, {1, 0.8, 0.4 + gap}}};
        sn_mesh_data *data = fixture_boxes(ctx, 2, plates);
        if (run / 12 % 2 == 1)
            fixture_tilt(data, 0.013);
        filled f = fill(data, run < 24 ? SN_LATTICE_BCC : SN_LATTICE_KUHN, cells);
        assert_boxes_apart(&f, 2);
        assert_int_equal(most_copies(&f), 2);
        assert_solid_volume(&f, f.mesh->piece[f.embedding->tet[0]], 0.176);
        assert_solid_volume(&f, f.mesh->piece[f.embedding->tet[8]], 0.144);
        release(&f);
        sn_mesh_data_destroy(&data);
    }
    test_context_end(&ctx);
}

/// Three sheets within one cell.
static void three_pieces_share_a_cell(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    for (int32_t run = 0; run < 4; run++) {
        const fixture_box sheets[3] = {
            {{0, 0, 0}, {1, 1, 0.02}}, {{0, 0, 0.04}, {1, 1, 0.06}}, {{0, 0, 0.08}, {1, 1, 0.1}}};
        sn_mesh_data *data = fixture_boxes(ctx, 3, sheets);
        if (run % 2)
            fixture_tilt(data, 0.3);
        filled f = fill(data, run < 2 ? SN_LATTICE_BCC : SN_LATTICE_KUHN, 5);
        assert_boxes_apart(&f, 3);
        assert_int_equal(most_copies(&f), 3);
        release(&f);
        sn_mesh_data_destroy(&data);
    }
    test_context_end(&ctx);
}

/// Boxes that meet at an edge or a corner only are not joined, whether they share the vertices there or not.
static void boxes_at_an_edge_come_apart(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    for (int32_t run = 0; run < 24; run++) {
        bool corner = run % 2;
        const fixture_box boxes[2] = {{{0, 0, 0}, {0.5, 0.5, 0.5}},
                                      {{0.5, 0.5, corner ? 0.5 : 0}, {1, 1, corner ? 1 : 0.5}}};
        sn_mesh_data *data = fixture_boxes(ctx, 2, boxes);
        for (int32_t i = 0; i < 3 * data->block[0].count && run / 2 % 2; i++)
            for (int32_t v = 0; v < 8; v++)
                if (memcmp(data->position + 3 * v, data->position + 3 * data->block[0].vertex[i],
                           3 * sizeof(double)) == 0)
                    data->block[0].vertex[i] = v;
        if (run / 4 % 2)
            fixture_tilt(data, 0.02);
        filled f = fill(data, run / 8 % 2 ? SN_LATTICE_KUHN : SN_LATTICE_BCC, run < 16 ? 5 : 8);
        assert_int_equal(count_pieces(&f), 2);
        assert_true(f.mesh->piece[f.embedding->tet[0]] != f.mesh->piece[f.embedding->tet[15]]);
        release(&f);
        sn_mesh_data_destroy(&data);
    }
    test_context_end(&ctx);
}

/// Boxes that overlap, and boxes with a common side, are one.
static void what_overlaps_is_one(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    for (int32_t run = 0; run < 8; run++) {
        const fixture_box boxes[2] = {{{0, 0, 0}, {1, 0.5, 0.5}},
                                      {{0.3, run % 2 ? 0.5 : 0.41, 0.1}, {0.9, 0.93, 0.37}}};
        sn_mesh_data *data = fixture_boxes(ctx, 2, boxes);
        if (run / 2 % 2)
            fixture_tilt(data, 0.02);
        filled f = fill(data, run < 4 ? SN_LATTICE_BCC : SN_LATTICE_KUHN, 9);
        assert_int_equal(count_pieces(&f), 1);
        if (run % 2)
            assert_solid_volume(&f, -1, 0.25 + 0.6 * 0.27 * 0.43);
        release(&f);
        sn_mesh_data_destroy(&data);
    }
    test_context_end(&ctx);
}

/// The tets above a height, with the number of each there, -1 for others; `number` may be NULL.
static sn_mesh *cut_off(const filled *f, double height, int32_t *number) {
    sn_mesh *rest = NULL;
    sn_mesh_data *cut = NULL;
    assert_int_equal(sn_mesh_to_data(f->mesh, &cut), SN_OK);
    int32_t kept = 0, *tet = cut->block[0].vertex;
    for (int32_t t = 0; t < f->mesh->tet_count; t++) {
        double lowest = INFINITY;
        for (int i = 0; i < 4; i++)
            lowest = fmin(lowest, f->mesh->position[3 * f->mesh->tet[4 * t + i] + 2]);
        if (number)
            number[t] = lowest > height ? kept : -1;
        if (lowest > height)
            memcpy(tet + 4 * (size_t)kept++, f->mesh->tet + 4 * (size_t)t, 4 * sizeof *tet);
    }
    cut->block[0].count = kept;
    assert_int_equal(sn_mesh_create(f->mesh->context, cut, true, &rest), SN_OK);
    sn_mesh_data_destroy(&cut);
    return rest;
}

/// Teeth hang together at the bar and nowhere else: taking the bar away leaves as many pieces as teeth.
static void teeth_of_a_comb_are_free(void **state) {
    (void)state;
    sn_context *ctx = test_context(2);
    for (int32_t run = 0; run < 8; run++) {
        int32_t cells = run % 2 ? 12 : 5, teeth = 4;
        double gap = 0.1 / cells;
        sn_mesh_data *data = fixture_comb(ctx, teeth, 0.2, gap);
        sn_mesh_report report = fixture_report(data);
        assert_true(report.boundary_edges == 0 && report.misoriented_edges == 0);
        filled f = fill(data, run / 2 % 2 ? SN_LATTICE_KUHN : SN_LATTICE_BCC, cells);
        assert_int_equal(count_pieces(&f), 1);
        assert_solid_volume(&f, -1, report.volume);
        filled rest = {0};
        rest.mesh = cut_off(&f, 0.2 + 1.2 / cells, NULL);
        assert_int_equal(count_pieces(&rest), teeth);
        release(&rest);
        release(&f);
        sn_mesh_data_destroy(&data);
    }
    test_context_end(&ctx);
}

/// Points in the teeth embed in their tooth's tets, though all teeth are one piece and share cells.
static void points_find_their_tooth(void **state) {
    (void)state;
    sn_context *ctx = test_context(2);
    for (int32_t run = 0; run < 4; run++) {
        enum { TEETH = 3, PER_TOOTH = 200 };
        int32_t cells = run % 2 ? 11 : 6;
        double gap = 0.1 / cells, width = 0.21;
        double place[3 * TEETH * PER_TOOTH];
        sn_mesh_data *data = fixture_comb(ctx, TEETH, width, gap);
        filled f = fill(data, run / 2 ? SN_LATTICE_KUHN : SN_LATTICE_BCC, cells), rest = {0};
        int32_t *number = calloc((size_t)f.mesh->tet_count, sizeof *number), piece[TEETH];
        rest.mesh = cut_off(&f, 0.2 + 1.2 / cells, number);
        assert_int_equal(count_pieces(&rest), TEETH);
        sn_random random = sn_random_make(5);
        for (int32_t i = 0; i < TEETH * PER_TOOTH; i++) {
            // Many of them at the sides.
            double across = fmin(1, fmax(0, sn_random_range(&random, -0.3, 1.3)));
            place[3 * i] = i / PER_TOOTH * (width + gap) + width * across;
            place[3 * i + 1] = sn_random_range(&random, 0, 0.3);
            place[3 * i + 2] = sn_random_range(&random, 0.2 + 2.3 / cells, 1);
        }
        sn_embedding *embedding = NULL;
        assert_int_equal(sn_embedding_create(f.mesh, TEETH * PER_TOOTH, place, NULL, &embedding), SN_OK);
        for (int32_t i = 0; i < TEETH * PER_TOOTH; i++) {
            assert_true(number[embedding->tet[i]] >= 0);
            int32_t found = rest.mesh->piece[number[embedding->tet[i]]], tooth = i / PER_TOOTH;
            piece[tooth] = i % PER_TOOTH == 0 ? found : piece[tooth];
            assert_int_equal(found, piece[tooth]);
            assert_true(tooth == 0 || found != piece[tooth - 1]);
        }
        sn_embedding_destroy(&embedding);
        free(number);
        release(&rest);
        release(&f);
        sn_mesh_data_destroy(&data);
    }
    test_context_end(&ctx);
}

/// A surface without gaps gets the plain lattice: one copy of each tet, one node at each place.
static void nothing_is_split_without_need(void **state) {
    (void)state;
    sn_context *ctx = test_context(2);
    for (int32_t run = 0; run < 16; run++) {
        sn_mesh_data *data = fixture_shape(ctx, run % 2 ? SN_MAKE_SPHERE : SN_MAKE_BLOCK, 6);
        if (run / 2 % 2)
            fixture_tilt(data, 0.1);
        filled f = fill(data, run / 4 % 2 ? SN_LATTICE_KUHN : SN_LATTICE_BCC, run < 8 ? 6 : 11);
        assert_int_equal(most_copies(&f), 1);
        // Copies of a node stand one after another.
        for (int32_t n = 1; n < f.mesh->node_count; n++)
            assert_true(
                memcmp(f.mesh->position + 3 * (n - 1), f.mesh->position + 3 * n, 3 * sizeof(double)) != 0);
        assert_solid_volume(&f, -1, fixture_report(data).volume);
        release(&f);
        sn_mesh_data_destroy(&data);
    }
    test_context_end(&ctx);
}

/// A box of whole cells weighs what it should to the last digits: its outer tets are halved.
static void box_volume_is_exact(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    sn_mesh_data *data = fixture_shape(ctx, SN_MAKE_BLOCK, 3);
    for (int32_t cells = 2; cells < 9; cells++)
        for (sn_lattice_kind kind = SN_LATTICE_BCC; kind <= SN_LATTICE_KUHN; kind++) {
            filled f = fill(data, kind, cells);
            for (int32_t t = 0; t < f.mesh->tet_count; t++)
                assert_true(f.mesh->fraction[t] > 0.49);
            assert_solid_volume(&f, -1, 0.008);
            release(&f);
        }
    sn_mesh_data_destroy(&data);
    test_context_end(&ctx);
}

/// The same ball with every triangle's vertices apart, with flipped triangles, inside out: the same lattice.
static void dirt_makes_no_difference(void **state) {
    (void)state;
    sn_context *ctx = test_context(2);
    sn_mesh_data *ball = fixture_shape(ctx, SN_MAKE_SPHERE, 8);
    fixture_tilt(ball, 0.01);
    filled clean = fill(ball, SN_LATTICE_BCC, 9);
    for (int32_t kind = 0; kind < 3; kind++) {
        int32_t corners = 3 * ball->block[0].count;
        double *place = calloc(3 * (size_t)corners, sizeof *place);
        int32_t *triangle = calloc((size_t)corners, sizeof *triangle);
        for (int32_t i = 0; i < corners; i++) {
            bool flip = kind == 2 || (kind == 1 && i / 3 % 7 == 3);
            int32_t from = flip ? i / 3 * 3 + 2 - i % 3 : i;
            memcpy(place + 3 * i, ball->position + 3 * ball->block[0].vertex[from], 3 * sizeof *place);
            triangle[i] = i;
        }
        sn_mesh_data *dirty = fixture_data(ctx, corners, place, SN_CELL_TRIANGLE, corners / 3, triangle);
        filled f = fill(dirty, SN_LATTICE_BCC, 9);
        assert_true(fixture_hash_mesh(f.mesh) == fixture_hash_mesh(clean.mesh));
        for (int32_t t = 0; t < f.mesh->tet_count; t++)
            assert_true(fabs(f.mesh->fraction[t] - clean.mesh->fraction[t]) < 1e-9);
        release(&f);
        sn_mesh_data_destroy(&dirty);
        free(place);
        free(triangle);
    }
    release(&clean);
    sn_mesh_data_destroy(&ball);
    test_context_end(&ctx);
}

static void numbering_does_not_depend_on_threads(void **state) {
    (void)state;
    uint64_t first = 0;
    for (int run = 0; run < 4; run++) {
        sn_context *ctx = test_context((const int32_t[]){1, 2, 4, 1}[run]);
        sn_mesh_data *data = fixture_comb(ctx, 5, 0.15, 0.004);
        fixture_tilt(data, 0.02);
        filled f = fill(data, SN_LATTICE_BCC, 20);
        assert_true(most_copies(&f) > 1);
        uint64_t hash = sn_hash(fixture_hash_mesh(f.mesh), f.mesh->fraction,
                                (size_t)f.mesh->tet_count * sizeof *f.mesh->fraction);
        hash = sn_hash(hash, f.embedding->tet, (size_t)f.embedding->count * sizeof *f.embedding->tet);
        first = run == 0 ? hash : first;
        assert_true(hash == first);
        release(&f);
        sn_mesh_data_destroy(&data);
        test_context_end(&ctx);
    }
}

/// An edge gives the lattice of as many cells; a wanted number of tets gives the nearest one.
static void resolution_is_by_choice(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    sn_mesh_data *ball = fixture_shape(ctx, SN_MAKE_SPHERE, 6);
    filled f = fill(ball, SN_LATTICE_BCC, 10), g = {0};
    sn_lattice_def def = sn_lattice_def_default();
    def.resolution = SN_RESOLUTION_EDGE;
    def.edge = 0.02;
    assert_int_equal(sn_lattice_create(ctx, ball, &def, &g.mesh, &g.embedding), SN_OK);
    assert_int_equal(g.mesh->tet_count, f.mesh->tet_count);
    int32_t wanted = f.mesh->tet_count + 3;
    release(&g);
    def.resolution = SN_RESOLUTION_TETS;
    def.tets = wanted;
    assert_int_equal(sn_lattice_create(ctx, ball, &def, &g.mesh, &g.embedding), SN_OK);
    assert_int_equal(g.mesh->tet_count, f.mesh->tet_count);
    release(&g);
    def.tets = 1;
    assert_int_equal(sn_lattice_create(ctx, ball, &def, &g.mesh, &g.embedding), SN_OK);
    release(&f);
    f = fill(ball, SN_LATTICE_BCC, 1);
    assert_int_equal(g.mesh->tet_count, f.mesh->tet_count);
    release(&g);
    def.resolution = SN_RESOLUTION_EDGE;
    def.edge = 1e-6;
    assert_int_equal(sn_lattice_create(ctx, ball, &def, &g.mesh, &g.embedding), SN_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(sn_context_message(ctx), "at least 0.0002"));
    def.edge = 0;
    assert_int_equal(sn_lattice_create(ctx, ball, &def, &g.mesh, &g.embedding), SN_ERR_INVALID_ARGUMENT);
    release(&f);
    sn_mesh_data_destroy(&ball);
    test_context_end(&ctx);
}

static void note_pieces(void *user, sn_log_level level, const char *message) {
    if (level == SN_LOG_WARNING && strstr(message, "in 2 pieces"))
        ++*(int *)user;
}

static void pieces_are_named(void **state) {
    (void)state;
    int warnings = 0;
    sn_context *ctx = NULL;
    sn_context_def def = sn_context_def_default();
    def.log = note_pieces;
    def.log_user = &warnings;
    assert_int_equal(sn_context_create(&def, &ctx), SN_OK);
    const fixture_box boxes[2] = {{{0, 0, 0}, {1, 1, 1}}, {{1.01, 0, 0}, {2, 1, 1}}};
    for (int32_t count = 1; count < 3; count++) {
        sn_mesh_data *data = fixture_boxes(ctx, count, boxes);
        filled f = fill(data, SN_LATTICE_BCC, 6);
        assert_int_equal(warnings, count - 1);
        release(&f);
        sn_mesh_data_destroy(&data);
    }
    test_context_end(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plates_come_apart),
        cmocka_unit_test(three_pieces_share_a_cell),
        cmocka_unit_test(boxes_at_an_edge_come_apart),
        cmocka_unit_test(what_overlaps_is_one),
        cmocka_unit_test(teeth_of_a_comb_are_free),
        cmocka_unit_test(points_find_their_tooth),
        cmocka_unit_test(nothing_is_split_without_need),
        cmocka_unit_test(box_volume_is_exact),
        cmocka_unit_test(dirt_makes_no_difference),
        cmocka_unit_test(numbering_does_not_depend_on_threads),
        cmocka_unit_test(resolution_is_by_choice),
        cmocka_unit_test(pieces_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
