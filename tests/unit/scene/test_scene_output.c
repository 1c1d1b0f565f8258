// The section `output`: what a scene says reaches the run's definition, and probes of things that are not
// there are refused with the line.
#include "test_support.h"

#include "sinew/scene.h"

static const char head[] = "sinew: 1\n"
                           "units: {length: cm}\n"
                           "materials: {m: {model: corotated, young: 1e3}}\n"
                           "bodies:\n"
                           "  beam: {make: {shape: beam, size: [100, 20, 20], cells: 1}, material: m}\n"
                           "rigid:\n"
                           "  floor: {plane: {point: [0, 0, -1], normal: [0, 0, 1]}}\n"
                           "  bones: {make: {shape: arm, size: [100, 20, 20]}, radius: 1}\n";

static sn_status load(sn_context *ctx, const char *output, sn_scene **out_scene) {
    char text[4096];
    snprintf(text, sizeof text, "%soutput:\n%s", head, output);
    return sn_scene_parse(ctx, text, strlen(text), "s.yaml", "", 0, NULL, out_scene);
}

static void every_key_reaches_the_definition(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    sn_scene *scene = NULL;
    assert_done(
        ctx,
        load(ctx,
             "  pc2: true\n"
             "  mdd: true\n"
             "  glb: true\n"
             "  usda: true\n"
             "  npz: true\n"
             "  contacts: true\n"
             "  obj: {every: 3}\n"
             "  vtu: {every: 4, volume: false}\n"
             "  preview: {every: 5, width: 8192, height: 1, color: strain, range: 0.5, view: [1, 0, -2]}\n"
             "  checkpoint: {every: 0}\n"
             "  player: false\n"
             "  probes: {tip: {body: beam, point: [100, 0, 20]}, floor: {rigid: floor}}\n",
             &scene));
    sn_output_def output = sn_scene_output(scene);
    assert_true(output.pc2 && output.contacts && !output.player && output.npy && !output.vtu_volume);
    assert_true(output.mdd && output.glb && output.usda && output.npz);
    assert_int_equal(output.obj_every, 3);
    assert_int_equal(output.vtu_every, 4);
    assert_int_equal(output.checkpoint_every, 0);
    assert_int_equal(output.preview_every, 5);
    assert_true(output.preview_width == 8192 && output.preview_height == 1 && output.preview_range == 0.5);
    assert_true(output.preview_color == SN_PREVIEW_STRAIN && output.preview_view[2] == -2);
    assert_int_equal(output.probe_count, 2);
    assert_string_equal(output.probes[0].name, "tip");
    assert_string_equal(output.probes[0].body, "beam");
    assert_null(output.probes[0].rigid);
    assert_near(output.probes[0].point[0], 1, 1e-15);
    assert_near(output.probes[0].point[2], 0.2, 1e-15);
    assert_string_equal(output.probes[1].name, "floor");
    assert_string_equal(output.probes[1].rigid, "floor");
    assert_null(output.probes[1].body);
    sn_scene_destroy(&scene);
    test_context_end(&ctx);
}

static void expect(sn_context *ctx, sn_status status, const char *message) {
    if (status != SN_ERR_SCENE || !strstr(sn_context_message(ctx), message))
        fail_msg("'%s' is not in: %s: %s", message, sn_status_name(status), sn_context_message(ctx));
}

static void wrong_probes_are_refused_by_the_reader(void **state) {
    (void)state;
    static const struct {
        const char *output, *message;
    } cases[] = {
        {"  probes: {tip: {body: baem, point: [0, 0, 0]}}\n",
         "s.yaml:10: output.probes.tip.body: baem is no name under bodies; did you mean beam; allowed: beam"},
        {"  probes:\n    f: {rigid: flor}\n", "s.yaml:11: output.probes.f.rigid: flor is no name under "
                                              "rigid; did you mean floor; allowed: floor, bones"},
        {"  probes: {tip: {body: beam}}\n",
         "s.yaml:10: output.probes.tip.point: missing; allowed: [x, y, z]"},
        {"  probes: {tip: {}}\n", "s.yaml:10: output.probes.tip: missing; allowed: one of body, rigid"},
        {"  probes: {tip: {body: beam, point: [0, 0, 0], rigid: floor}}\n",
         "s.yaml:10: output.probes.tip.rigid: rigid and body (line 10) are both given; allowed: one of them"},
        {"  probes: {f: {rigid: floor, point: [0, 0, 0]}}\n",
         "s.yaml:10: output.probes.f.point: [0, 0, 0] has no place here; allowed: only together with body"},
        {"  probes: {'a,b': {rigid: floor}}\n", "s.yaml:10: output.probes: a,b is no good name"},
        {"  obj: true\n", "s.yaml:10: output.obj: true has the wrong type; allowed: map with the keys every"},
        {"  preview: {width: 8193}\n", "s.yaml:10: output.preview.width: 8193 is out of range"},
        {"  preview: {color: stress}\n", "output.preview.color: stress is out of range; did you mean strain"},
        {"  checkpoint: {every: -1}\n", "s.yaml:10: output.checkpoint.every: -1 is out of range"}};
    sn_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sn_scene *scene = NULL;
        expect(ctx, load(ctx, cases[i].output, &scene), cases[i].message);
        assert_null(scene);
    }
    test_context_end(&ctx);
}

/// Which bones there are shows when the model is built.
static void bones_must_be_there(void **state) {
    (void)state;
    static const struct {
        const char *output, *message;
    } cases[] = {
        {"  probes:\n    b: {rigid: bones.1-9}\n",
         "s.yaml:11: output.probes.b.rigid: bones.1-9: there is no such rigid thing; did you mean bones."},
        {"  probes:\n    b: {rigid: bones}\n",
         "s.yaml:11: output.probes.b.rigid: bones: there is no such rigid thing; "}};
    sn_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sn_scene *scene = NULL;
        sn_model *model = NULL;
        assert_done(ctx, load(ctx, cases[i].output, &scene));
        expect(ctx, sn_scene_build(scene, &model), cases[i].message);
        assert_non_null(strstr(sn_context_message(ctx), "allowed: floor, bones.1-"));
        sn_scene_destroy(&scene);
    }
    sn_scene *scene = NULL;
    sn_model *model = NULL;
    assert_done(ctx, load(ctx, "  probes: {b: {rigid: bones.1-2}}\n", &scene));
    assert_done(ctx, sn_scene_build(scene, &model));
    sn_model_destroy(&model);
    sn_scene_destroy(&scene);
    test_context_end(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_key_reaches_the_definition),
                                       cmocka_unit_test(wrong_probes_are_refused_by_the_reader),
                                       cmocka_unit_test(bones_must_be_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
