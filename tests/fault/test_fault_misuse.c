// Half-filled structs and objects of another model are refused, not followed.
#include "test_support.h"

#include "sinew/sinew.h"

static sn_mesh_data *make_beam(sn_context *ctx) {
    sn_mesh_data *data = NULL;
    sn_make_def make = sn_make_def_default(SN_MAKE_BEAM);
    make.cells = 1;
    assert_done(ctx, sn_mesh_make(ctx, &make, &data, NULL));
    return data;
}

static void expect_malformed(const sn_mesh_data *data) {
    sn_mesh_report report;
    sn_mesh *mesh = NULL;
    assert_int_equal(sn_mesh_data_report(data, &report), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_mesh_create(data->context, data, false, &mesh), SN_ERR_INVALID_ARGUMENT);
    assert_null(mesh);
}

static void half_filled_meshes(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    sn_mesh_data *beam = make_beam(ctx), wrong = *beam;
    sn_cell_block block = beam->block[0];
    int32_t falling[] = {0, 5, 3};
    assert_int_equal(beam->block_count, 1);
    wrong.position = NULL;
    expect_malformed(&wrong);
    wrong = *beam, wrong.vertex_count = -1;
    expect_malformed(&wrong);
    wrong = *beam, wrong.block = NULL;
    expect_malformed(&wrong);
    wrong.block = &block, block.vertex = NULL;
    expect_malformed(&wrong);
    block = beam->block[0], block.count = -1;
    expect_malformed(&wrong);
    block = beam->block[0], block.kind = (sn_cell_kind)42;
    expect_malformed(&wrong);
    block = beam->block[0], block.kind = SN_CELL_POLYGON, block.count = 2;
    expect_malformed(&wrong);
    block.offset = falling;
    expect_malformed(&wrong);
    sn_mesh_data_destroy(&beam);
    test_context_end(&ctx);
}

static void null_override(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    sn_scene *scene = NULL;
    const char *overrides[] = {NULL};
    assert_int_equal(sn_scene_parse(ctx, "sinew: 1", 8, "name", "", 1, overrides, &scene),
                     SN_ERR_INVALID_ARGUMENT);
    assert_null(scene);
    test_context_end(&ctx);
}

static sn_model *build_beam(sn_context *ctx, int32_t cells) {
    char text[256];
    sn_scene *scene = NULL;
    sn_model *model = NULL;
    int length = snprintf(text, sizeof text,
                          "sinew: 1\nmaterials: {m: {young: 1e5}}\n"
                          "bodies: {b: {make: {shape: beam, cells: %d}, material: m}}\n",
                          (int)cells);
    assert_done(ctx, sn_scene_parse(ctx, text, (size_t)length, "name", "", 0, NULL, &scene));
    assert_done(ctx, sn_scene_build(scene, &model));
    sn_scene_destroy(&scene);
    return model;
}

static void recorder_of_another_model(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    sn_model *model = build_beam(ctx, 2), *other = build_beam(ctx, 1);
    sn_state *right = NULL, *wrong = NULL;
    sn_recorder *recorder = NULL;
    sn_output_def output = sn_output_def_default();
    sn_run_info run = {.frame_seconds = 1, .frame_total = 1};
    sn_step_info info = {.status = SN_STEP_CONVERGED};
    assert_done(ctx, sn_state_create(model, &right));
    assert_done(ctx, sn_state_create(other, &wrong));
    assert_done(
        ctx, sn_recorder_create(ctx, model, SINEW_BINARY_DIR "/misuse.out", true, &output, &run, &recorder));
    assert_int_equal(sn_recorder_frame(recorder, wrong, NULL), SN_ERR_INVALID_ARGUMENT);
    assert_done(ctx, sn_recorder_frame(recorder, right, NULL));
    info.status = (sn_step_status)9;
    assert_int_equal(sn_recorder_frame(recorder, right, &info), SN_ERR_INVALID_ARGUMENT);
    info.status = SN_STEP_CONVERGED, info.stop_test = (sn_stop_test)77;
    assert_int_equal(sn_recorder_frame(recorder, right, &info), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_recorder_finish(recorder, wrong), SN_ERR_INVALID_ARGUMENT);
    sn_recorder_destroy(&recorder);
    sn_state_destroy(&wrong);
    sn_state_destroy(&right);
    sn_model_destroy(&other);
    sn_model_destroy(&model);
    test_context_end(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(half_filled_meshes), cmocka_unit_test(null_override),
                                       cmocka_unit_test(recorder_of_another_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
