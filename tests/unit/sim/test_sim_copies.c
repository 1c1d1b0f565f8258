// Two plates with a gap of a tenth of a cell, one body: what is put on the one holds nothing of the other,
// though both have tets and nodes at the same places.
#include "unit/mesh/lattice_fixture.h"

#include "sim/sim_locate.h"
#include "sinew/sinew.h"

enum { CELLS = 5 };
static const double GAP = 0.1 / CELLS, THICK[2] = {0.33, 0.25}, SCALE = 0.7, SHIFT[3] = {3, -1, 0.5};

typedef struct plates {
    sn_context *ctx;
    sn_mesh_data *surface;
    sn_mesh *mesh; ///< piece 0 is the lower plate
    sn_embedding *embedding;
    sn_model_builder *builder;
    sn_body_id body;
} plates;

/// The body is moved, so that copies are looked up in its rest pose and not in the mesh's. The gap is a tenth
/// of a cell there too.
static plates make_plates(sn_lattice_kind kind) {
    plates p = {.ctx = test_context(2)};
    const fixture_box box[2] = {{{0, 0, 0}, {1, 0.8, THICK[0]}},
                                {{0, 0, THICK[0] + GAP}, {1, 0.8, THICK[0] + GAP + THICK[1]}}};
    sn_lattice_def def = sn_lattice_def_default();
    sn_material_def material = sn_material_def_default();
    sn_body_def body = sn_body_def_default();
    int32_t pieces = 0;
    p.surface = fixture_boxes(p.ctx, 2, box);
    def.cells = CELLS;
    def.kind = kind;
    material.young = 1e5;
    assert_done(p.ctx, sn_lattice_create(p.ctx, p.surface, &def, &p.mesh, &p.embedding));
    sn_mesh_tet_pieces(p.mesh, &pieces);
    assert_int_equal(pieces, 2);
    assert_int_equal(p.mesh->piece[p.embedding->tet[0]], 0);
    assert_true(p.mesh->copies.count > 0);
    body.mesh = p.mesh;
    body.material_count = 1;
    body.materials = &material;
    body.surface = p.surface;
    body.embedding = p.embedding;
    body.scale = SCALE;
    memcpy(body.translation, SHIFT, sizeof SHIFT);
    assert_done(p.ctx, sn_model_builder_create(p.ctx, &p.builder));
    assert_done(p.ctx, sn_model_add_body(p.builder, &body, &p.body));
    return p;
}

static void end_plates(plates *p) {
    sn_model_builder_destroy(&p->builder);
    sn_embedding_destroy(&p->embedding);
    sn_mesh_destroy(&p->mesh);
    sn_mesh_data_destroy(&p->surface);
    test_context_end(&p->ctx);
}

static sn_model *build(const plates *p) {
    sn_model *model = NULL;
    assert_done(p->ctx, sn_model_build(p->builder, &model));
    return model;
}

static void to_rest(const double X[3], double out[3]) {
    for (int i = 0; i < 3; i++)
        out[i] = SCALE * X[i] + SHIFT[i];
}

/// The plate that a node belongs to.
static int32_t plate_of(const plates *p, int32_t node) {
    for (int32_t i = 0; i < 4 * p->mesh->tet_count; i++)
        if (p->mesh->tet[i] == node)
            return p->mesh->piece[i / 4];
    return -1;
}

static void assert_end_on(const plates *p, const sn_spring_end *end, int32_t plate) {
    assert_true(end->node_count > 0);
    for (int32_t a = 0; a < end->node_count; a++)
        assert_int_equal(plate_of(p, end->node[a]), plate);
}

/// A place in a plate, or on its side of the gap if `part` is 1, of a grid of 100.
static void place_in_plate(int32_t plate, int32_t i, double part, double X[3]) {
    X[0] = 0.05 + 0.1 * (i % 10);
    X[1] = 0.03 + 0.08 * (i / 10);
    X[2] = plate == 0 ? THICK[0] * part : THICK[0] + GAP + THICK[1] * (1 - part);
}

/// Points embed in the plate that they are in, in both poses; those in the gap in the nearer one.
static void points_find_their_plate(void **state) {
    (void)state;
    for (int32_t run = 0; run < 4; run++) {
        int32_t plate = run % 2;
        plates p = make_plates(run < 2 ? SN_LATTICE_BCC : SN_LATTICE_KUHN);
        sn_model *model = build(&p);
        for (int32_t i = 0; i < 400; i++) {
            double X[3], x[3], part = (const double[]){0.2, 0.8, 1, 1 + 0.4 * GAP / THICK[plate]}[i / 100];
            sn_embedding *embedding = NULL;
            place_in_plate(plate, i % 100, part, X);
            assert_done(p.ctx, sn_embedding_create(p.mesh, 1, X, NULL, &embedding));
            assert_int_equal(p.mesh->piece[embedding->tet[0]], plate);
            sn_embedding_destroy(&embedding);
            to_rest(X, x);
            sn_body_place place = sn_body_locate(model, 0, x);
            assert_int_equal(p.mesh->piece[place.tet], plate);
            for (int a = 0; a < 4; a++)
                assert_int_equal(plate_of(&p, place.node[a]), plate);
        }
        sn_model_destroy(&model);
        end_plates(&p);
    }
}

static void springs_hold_their_plate(void **state) {
    (void)state;
    plates p = make_plates(SN_LATTICE_BCC);
    for (int32_t i = 0; i < 200; i++) {
        double X[3];
        sn_spring_def def = sn_spring_def_default();
        def.body = p.body;
        def.stiffness = 10;
        place_in_plate(i / 100, i % 100, 0.97, X);
        to_rest(X, def.point);
        assert_done(p.ctx, sn_model_add_spring(p.builder, &def));
    }
    sn_model *model = build(&p);
    assert_int_equal(model->spring_count, 200);
    for (int32_t i = 0; i < 200; i++)
        assert_end_on(&p, &model->springs[i].a, i / 100);
    sn_model_destroy(&model);
    end_plates(&p);
}

/// A box that fills a plate but for a rim, up to the gap.
static sn_shape_id add_core(const plates *p, int32_t plate) {
    sn_shape_def def = sn_shape_def_default();
    sn_shape_id shape;
    const double middle[3] = {0.5, 0.4, plate == 0 ? THICK[0] / 2 : THICK[0] + GAP + THICK[1] / 2};
    def.kind = SN_SHAPE_BOX;
    to_rest(middle, def.point);
    def.half_size[0] = SCALE * 0.48;
    def.half_size[1] = SCALE * 0.38;
    def.half_size[2] = SCALE * THICK[plate] / 2;
    assert_done(p->ctx, sn_model_add_shape(p->builder, &def, &shape));
    return shape;
}

/// Samples, soft nodes, and hard nodes within a shape.
static void attachments_hold_their_plate(void **state) {
    (void)state;
    for (int32_t run = 0; run < 6; run++) {
        int32_t plate = run % 2, count = 0, held = 0;
        plates p = make_plates(SN_LATTICE_BCC);
        sn_shape_id shape = add_core(&p, plate);
        sn_attachment_def def = sn_attachment_def_default();
        def.body = p.body;
        def.shape_count = 1;
        def.shapes = &shape;
        def.kind = run < 2 ? SN_ATTACH_SAMPLES : SN_ATTACH_NODES;
        def.spacing = run < 2 ? 0.03 : def.spacing;
        def.hard = run >= 4;
        assert_done(p.ctx, sn_model_add_attachment(p.builder, &def, &count));
        sn_model *model = build(&p);
        assert_true(count > 20);
        for (int32_t i = 0; i < model->spring_count; i++)
            assert_end_on(&p, &model->springs[i].a, plate);
        for (int32_t n = 0; n < model->node_count; n++)
            if (model->pinned[n]) {
                assert_int_equal(plate_of(&p, n), plate);
                held++;
            }
        assert_int_equal(model->spring_count + held, count);
        sn_model_destroy(&model);
        end_plates(&p);
    }
}

/// A box around a plate, up to the middle of the gap, picks its nodes, and `all` all of them.
static void regions_pick_their_plate(void **state) {
    (void)state;
    for (int32_t plate = 0; plate < 3; plate++) {
        plates p = make_plates(SN_LATTICE_BCC);
        sn_pin_def def = sn_pin_def_default();
        int32_t count = 0;
        const double low[3] = {-1, -1, plate == 0 ? -1 : THICK[0] + GAP / 2},
                     high[3] = {2, 2, plate == 0 ? THICK[0] + GAP / 2 : 2};
        def.body = p.body;
        def.select.kind = plate == 2 ? SN_SELECT_ALL : SN_SELECT_BOX;
        to_rest(low, def.select.low);
        to_rest(high, def.select.high);
        assert_done(p.ctx, sn_model_add_pin(p.builder, &def, &count));
        sn_model *model = build(&p);
        for (int32_t n = 0; n < model->node_count; n++)
            if (model->pinned[n] && plate < 2)
                assert_int_equal(plate_of(&p, n), plate);
        assert_true(plate < 2 ? count > 50 : count == model->node_count);
        sn_model_destroy(&model);
        end_plates(&p);
    }
}

/// Points watched for contact, most of them between vertices of triangles far larger than the tets.
static void contact_watches_each_plate(void **state) {
    (void)state;
    plates p = make_plates(SN_LATTICE_BCC);
    sn_shape_id shape = add_core(&p, 0);
    sn_contact_def def = sn_contact_def_default();
    def.body = p.body;
    def.shape_count = 1;
    def.shapes = &shape;
    assert_done(p.ctx, sn_model_add_contact(p.builder, &def));
    sn_model *model = build(&p);
    const sn_proxies *proxies = &model->bodies[0].proxies;
    double middle = SCALE * (THICK[0] + GAP / 2) + SHIFT[2];
    assert_true(proxies->count > 200);
    for (int32_t i = 0; i < proxies->count; i++) {
        double x[3];
        sn_proxy_place(proxies, i, model->rest, x);
        for (int a = 0; a < 4; a++)
            assert_int_equal(plate_of(&p, proxies->node[4 * i + a]), x[2] > middle);
    }
    sn_model_destroy(&model);
    end_plates(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_find_their_plate),      cmocka_unit_test(springs_hold_their_plate),
        cmocka_unit_test(attachments_hold_their_plate), cmocka_unit_test(regions_pick_their_plate),
        cmocka_unit_test(contact_watches_each_plate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
