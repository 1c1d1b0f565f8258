// Labels: slow
// Loads on embedded bodies: what a gap divides moves apart, however coarse the lattice; masses and
// stiffnesses are those of the solid, not of the tets.
#include "unit/mesh/lattice_fixture.h"

#include "sinew/sinew.h"

typedef struct body {
    sn_context *ctx;
    sn_mesh_data *surface;
    int32_t triangle_count, *triangle;
    sn_mesh *mesh;
    sn_embedding *embedding;
} body;

static void fill(body *b, sn_lattice_kind kind, int32_t cells) {
    sn_lattice_def def = sn_lattice_def_default();
    def.kind = kind;
    def.cells = cells;
    assert_done(b->ctx, sn_lattice_create(b->ctx, b->surface, &def, &b->mesh, &b->embedding));
    assert_done(b->ctx, sn_mesh_data_triangles(b->surface, &b->triangle_count, &b->triangle));
}

static void release(body *b) {
    sn_mesh_data_free_array(b->surface, b->triangle);
    sn_embedding_destroy(&b->embedding);
    sn_mesh_destroy(&b->mesh);
    sn_mesh_data_destroy(&b->surface);
    test_context_end(&b->ctx);
}

/// Nodes of the tets that hold the marked vertices.
static int32_t nodes_of(const body *b, const int32_t *mark, int32_t which, int32_t *node) {
    int32_t count = 0;
    bool *taken = calloc((size_t)sn_mesh_node_count(b->mesh), sizeof *taken);
    for (int32_t v = 0; v < b->embedding->count; v++)
        for (int i = 0; i < 4 && mark[v] == which; i++) {
            int32_t n = sn_mesh_tets(b->mesh)[4 * b->embedding->tet[v] + i];
            if (!taken[n])
                node[count++] = n;
            taken[n] = true;
        }
    free(taken);
    return count;
}

/// Mean place of the marked vertices for node positions x.
static void mean_place(const body *b, const int32_t *mark, int32_t which, const double *x, double mean[3]) {
    double *place = malloc(3 * (size_t)b->embedding->count * sizeof *place);
    int32_t count = 0;
    sn_embedding_evaluate(b->embedding, sn_mesh_tets(b->mesh), x, place);
    memset(mean, 0, 3 * sizeof *mean);
    for (int32_t v = 0; v < b->embedding->count; v++) {
        for (int k = 0; k < 3 && mark[v] == which; k++)
            mean[k] += place[3 * v + k];
        count += mark[v] == which;
    }
    for (int k = 0; k < 3; k++)
        mean[k] /= count;
    free(place);
}

/// Pins what lies on one side of a plane, pulls parts 1 and 2 with +force and second_sign * force, and
/// returns how far part 2 moves from part 1, in their mean, along the force.
static double pull(const body *b, const sn_selection *pin, const int32_t *mark, const double force[3],
                   double second_sign) {
    sn_context *ctx = b->ctx;
    sn_model_builder *builder = NULL;
    sn_model *model = NULL;
    sn_stepper *stepper = NULL;
    sn_state *state = NULL;
    sn_step_info info;
    sn_body_id id;
    const double still[3] = {0};
    sn_material_def material = sn_material_def_default();
    material.young = 1e5;
    material.poisson = 0.3;
    sn_body_def def = sn_body_def_default();
    def.mesh = b->mesh;
    def.material_count = 1;
    def.materials = &material;
    def.surface = b->surface;
    def.embedding = b->embedding;
    assert_done(ctx, sn_model_builder_create(ctx, &builder));
    assert_done(ctx, sn_model_set_gravity(builder, still));
    assert_done(ctx, sn_model_add_body(builder, &def, &id));
    sn_pin_def hold = sn_pin_def_default();
    hold.body = id;
    hold.select = *pin;
    assert_done(ctx, sn_model_add_pin(builder, &hold, NULL));
    int32_t *node = malloc((size_t)sn_mesh_node_count(b->mesh) * sizeof *node);
    for (int32_t part = 1; part <= 2; part++) {
        sn_load_def load = sn_load_def_default();
        load.body = id;
        load.select.kind = SN_SELECT_NODES;
        load.select.node_count = nodes_of(b, mark, part, node);
        load.select.nodes = node;
        for (int k = 0; k < 3; k++)
            load.force[k] = part == 1 ? force[k] : second_sign * force[k];
        assert_done(ctx, sn_model_add_load(builder, &load, NULL));
    }
    assert_done(ctx, sn_model_build(builder, &model));
    sn_stepper_def options = sn_stepper_def_default();
    options.integrator = SN_INTEGRATOR_QUASISTATIC;
    options.solver.iterations = 300;
    options.solver.tolerance = 1e-4;
    assert_done(ctx, sn_stepper_create(model, &options, &stepper));
    assert_done(ctx, sn_state_create(model, &state));
    assert_done(ctx, sn_step(stepper, state, 1, &info));
    double before[2][3], after[2][3], way = 0, length = 0;
    for (int32_t part = 0; part < 2; part++) {
        mean_place(b, mark, part + 1, sn_model_rest_positions(model), before[part]);
        mean_place(b, mark, part + 1, sn_state_positions(state), after[part]);
    }
    for (int k = 0; k < 3; k++) {
        way += force[k] * (after[0][k] - before[0][k] - after[1][k] + before[1][k]);
        length += force[k] * force[k];
    }
    free(node);
    sn_state_destroy(&state);
    sn_stepper_destroy(&stepper);
    sn_model_destroy(&model);
    sn_model_builder_destroy(&builder);
    return way / sqrt(length);
}

/// Tines of a fork with a gap of a tenth of a cell: opposite loads open it by what each bends.
static void tines_move_apart(void **state) {
    (void)state;
    for (int32_t run = 0; run < 8; run++) {
        int32_t cells = (const int32_t[]){5, 7, 10, 14}[run / 2];
        body b = {.ctx = test_context(2)};
        b.surface = fixture_comb(b.ctx, 2, 0.3, 0.1 / cells);
        fill(&b, run % 2 ? SN_LATTICE_KUHN : SN_LATTICE_BCC, cells);
        int32_t *mark = calloc((size_t)b.surface->vertex_count, sizeof *mark);
        for (int32_t v = 0; v < b.surface->vertex_count; v++)
            if (b.surface->position[3 * v + 2] > 0.99)
                mark[v] = b.surface->position[3 * v] < 0.3 + 0.05 / cells ? 1 : 2;
        sn_selection bar = {.kind = SN_SELECT_BOX, .low = {-9, -9, -9}, .high = {9, 9, 0.05}};
        const double force[3] = {-20, 0, 0};
        double opened = pull(&b, &bar, mark, force, -1);
        print_message("%s, %d cells: the gap of %g opens by %g\n", run % 2 ? "kuhn" : "bcc", cells,
                      0.1 / cells, opened);
        assert_true(opened > 0.02 && opened < 0.2);
        free(mark);
        release(&b);
    }
}

// ---- Fingers of the real arm

/// Pieces of the surface beyond a plane across x, numbered from 1; other vertices get 0. Returns how many.
static int32_t mark_beyond(const body *b, double x, double side, int32_t *mark) {
    int32_t count = 0, vertices = b->surface->vertex_count;
    for (int32_t v = 0; v < vertices; v++)
        mark[v] = side * (b->surface->position[3 * v] - x) > 0 ? -1 : 0;
    for (int32_t start = 0; start < vertices; start++) {
        if (mark[start] >= 0)
            continue;
        mark[start] = ++count;
        for (bool grown = true; grown;) {
            grown = false;
            for (int32_t t = 0; t < b->triangle_count; t++) {
                const int32_t *v = b->triangle + 3 * t;
                bool near = mark[v[0]] == count || mark[v[1]] == count || mark[v[2]] == count;
                for (int i = 0; i < 3 && near; i++)
                    if (mark[v[i]] == -1) {
                        mark[v[i]] = count;
                        grown = true;
                    }
            }
        }
    }
    return count;
}

/// The same mesh with all nodes and tets at one place made one, as if there were no gaps; copy [tets] becomes
/// the tet there.
static sn_mesh *glue(const body *b, int32_t *copy) {
    sn_mesh *glued = NULL;
    sn_mesh_data *data = NULL;
    assert_done(b->ctx, sn_mesh_to_data(b->mesh, &data));
    int32_t *tet = data->block[0].vertex, count = 0, tets = data->block[0].count;
    double *fraction = calloc((size_t)tets, sizeof *fraction);
    for (int32_t i = 0; i < 4 * tets; i++)
        // Copies of a node stand one after another.
        while (tet[i] > 0 && memcmp(data->position + 3 * tet[i], data->position + 3 * (tet[i] - 1),
                                    3 * sizeof(double)) == 0)
            tet[i]--;
    for (int32_t t = 0; t < tets; t++) {
        // And so do those of a tet.
        bool again = count > 0 && memcmp(tet + 4 * t, tet + 4 * (count - 1), 4 * sizeof *tet) == 0;
        if (!again)
            memmove(tet + 4 * count++, tet + 4 * t, 4 * sizeof *tet);
        copy[t] = count - 1;
        fraction[count - 1] = fmin(1, fraction[count - 1] + b->mesh->fraction[t]);
    }
    data->block[0].count = count;
    assert_done(b->ctx, sn_mesh_create(b->ctx, data, true, &glued));
    assert_done(b->ctx,
                sn_new_copy(b->ctx, fraction, (size_t)count, sizeof *fraction, (void **)&glued->fraction));
    free(fraction);
    sn_mesh_data_destroy(&data);
    return glued;
}

/// Two neighboring fingers of arm.obj that loads pull apart, in lattices whose cells hold both.
static void fingers_move_apart(void **state) {
    (void)state;
    for (int32_t run = 0; run < 4; run++) {
        body b = {.ctx = test_context(2)};
        b.surface = fixture_read_obj(b.ctx, "arm.obj");
        if (!b.surface) {
            test_context_end(&b.ctx);
            print_message("skipped: no folder of real meshes (SINEW_DATA)\n");
            return;
        }
        int32_t cells = (const int32_t[]){15, 20, 30, 45}[run];
        fill(&b, SN_LATTICE_BCC, cells);
        int32_t *mark = calloc((size_t)b.surface->vertex_count, sizeof *mark), fingers[2] = {0}, found = 0;
        int32_t parts = mark_beyond(&b, 0.82, 1, mark);
        // The four fingers, in the order of their first vertices, each with hundreds of them.
        double mean[2][3], force[3], length;
        for (int32_t part = 1; part <= parts && found < 2; part++) {
            int32_t count = 0;
            for (int32_t v = 0; v < b.surface->vertex_count; v++)
                count += mark[v] == part;
            if (count > 300)
                fingers[found++] = part;
        }
        assert_int_equal(found, 2);
        for (int32_t v = 0; v < b.surface->vertex_count; v++)
            mark[v] = mark[v] == fingers[0] ? 1 : mark[v] == fingers[1] ? 2 : 0;
        mean_place(&b, mark, 1, sn_mesh_positions(b.mesh), mean[0]);
        mean_place(&b, mark, 2, sn_mesh_positions(b.mesh), mean[1]);
        length = hypot(hypot(mean[0][0] - mean[1][0], mean[0][1] - mean[1][1]), mean[0][2] - mean[1][2]);
        for (int k = 0; k < 3; k++)
            force[k] = 0.5 * (mean[0][k] - mean[1][k]) / length;
        sn_selection upper_arm = {.kind = SN_SELECT_BOX, .low = {-9, -9, -9}, .high = {0.5, 9, 9}};
        double opened = pull(&b, &upper_arm, mark, force, -1);
        sn_mesh *free_mesh = b.mesh;
        int32_t *copy = calloc((size_t)b.mesh->tet_count, sizeof *copy);
        b.mesh = glue(&b, copy);
        for (int32_t v = 0; v < b.embedding->count; v++)
            b.embedding->tet[v] = copy[b.embedding->tet[v]];
        free(copy);
        double opened_glued = pull(&b, &upper_arm, mark, force, -1);
        sn_mesh_destroy(&b.mesh);
        b.mesh = free_mesh;
        print_message("arm, %d cells: fingers %g apart move by %g, glued by %g\n", cells, length, opened,
                      opened_glued);
        assert_true(opened > 2 * opened_glued);
        free(mark);
        release(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tines_move_apart),
        cmocka_unit_test(fingers_move_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
