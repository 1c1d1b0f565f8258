// What a scene's last look warns about: shapes that nothing uses, starts inside of a shape, contacts of
// pinned bodies; and that a good scene has no warning.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sinew/scene.h"

#include <stdio.h>
#include <string.h>

enum { LOG_SIZE = 8192 };

/// The warnings of a build, one a line.
typedef struct warnings {
    char text[LOG_SIZE];
    int count;
} warnings;

static void take_line(void *user, sn_log_level level, const char *message) {
    warnings *w = user;
    if (level != SN_LOG_WARNING)
        return;
    size_t used = strlen(w->text);
    snprintf(w->text + used, sizeof w->text - used, "%s\n", message);
    w->count++;
}

/// Builds a scene, lets `look` see the model if there is one to look, and returns the warnings.
static warnings build(const char *text, void (*look)(const sn_model *model)) {
    warnings w = {"", 0};
    sn_context_def def = sn_context_def_default();
    sn_context *context = NULL;
    sn_scene *scene = NULL;
    sn_model *model = NULL;
    def.log = take_line;
    def.log_user = &w;
    def.thread_count = 1;
    assert_int_equal(sn_context_create(&def, &context), SN_OK);
    sn_status status = sn_scene_parse(context, text, strlen(text), "scene.yaml", "", 0, NULL, &scene);
    if (status == SN_OK)
        status = sn_scene_build(scene, &model);
    if (status != SN_OK)
        fail_msg("%s", sn_context_message(context));
    if (look)
        look(model);
    sn_model_destroy(&model);
    sn_scene_destroy(&scene);
    assert_int_equal(sn_context_memory_in_use(context), 0);
    sn_context_destroy(&context);
    return w;
}

/// Expects a number of warnings that hold all of the words, which end with NULL.
static void expect(const char *text, int count, const char *const *words) {
    warnings w = build(text, NULL);
    if (w.count != count)
        fail_msg("%d warnings instead of %d:\n%s", w.count, count, w.text);
    for (; *words; words++)
        if (!strstr(w.text, *words))
            fail_msg("expected '%s' in:\n%s", *words, w.text);
}

/// A beam of 1 m by 0.2 m by 0.2 m from the origin, with tets of about 0.05 m.
#define HEAD                                                                                                 \
    "sinew: 1\n"                                                                                             \
    "gravity: [0, 0, -9.81]\n"                                                                               \
    "materials: {m: {young: 1e5}}\n"                                                                         \
    "bodies: {beam: {make: beam, material: m}}\n"

static const char *const none[] = {NULL};

static void good_scenes_have_no_warning(void **state) {
    (void)state;
    // The beam lies on the floor, touches the ball and is hung from a box.
    expect(HEAD "rigid:\n"
                "  floor: {plane: {point: [0, 0, 0], normal: [0, 0, 1]}}\n"
                "  ball: {sphere: {center: [0.5, 0.1, 0.4], radius: 0.2}}\n"
                "  hook: {box: {center: [0, 0, 0.9], half_size: [0.1, 0.1, 0.1]}}\n"
                "springs: [{from: {body: beam, point: [0, 0, 0.2]}, to: {rigid: hook, point: [0, 0, 0.8]}, "
                "stiffness: 10}]\n"
                "contact: [{between: [floor, beam], friction: 0.3}, {between: [beam, ball]}]\n",
           0, none);
}

static void idle_shapes_are_named(void **state) {
    (void)state;
    static const char *const words[] = {"scene.yaml:7: rigid.wall: nothing touches it or hangs on it",
                                        "`contact: [{between: [beam, wall]}]`", NULL};
    // Bones are used one by one; a name that begins like another is another.
    expect(HEAD "rigid:\n"
                "  wall2: {plane: {point: [-1, 0, 0], normal: [1, 0, 0]}}\n"
                "  wall: {plane: {point: [-1, 0, 0], normal: [1, 0, 0]}}\n"
                "  bones: {make: arm, radius: 0.02, translate: [0, 0, 9]}\n"
                "contact: [{between: [beam, wall2]}, {between: [bones.1-2, beam]}]\n",
           1, words);
}

static void idle_materials_are_named(void **state) {
    (void)state;
    static const char *const words[] = {
        "scene.yaml:2: materials.jely: no body is made of it; name it in a body's `material`", NULL};
    expect("sinew: 1\nmaterials: {jelly: {young: 1e5}, jely: {young: 1}}\n"
           "bodies: {beam: {make: beam, material: {default: jelly}}}\n",
           1, words);
}

/// Only for unit steps, and only above 10.
static void slow_stiffening_is_named(void **state) {
    (void)state;
    static const char *const words[] = {
        "scene.yaml:3: materials.taut: projective dynamics needs about stiffening = 40 times the iterations",
        NULL};
#define TAUT                                                                                                 \
    "sinew: 1\nmaterials:\n  taut: {model: biphasic, young: 1e5, stiffening: 40}\n"                          \
    "  fine: {model: biphasic, young: 1e5, stiffening: 10}\n"                                                \
    "bodies:\n  a: {make: beam, material: taut}\n  b: {make: beam, material: fine}\n"
    expect(TAUT "solver: {method: projective}\n", 1, words);
    expect(TAUT, 0, (const char *const[]){NULL});
#undef TAUT
}

static void falling_bodies_are_named(void **state) {
    (void)state;
    static const char *const words[] = {
        "scene.yaml:6: bodies.other: nothing holds it and `contact` lets it touch nothing",
        "`{between: [other, floor]}`", NULL};
    // `hung` is pinned; without gravity nothing falls.
#define FALLING                                                                                              \
    "  other: {make: beam, material: m}\n"                                                                   \
    "  hung: {make: beam, material: m}\n"                                                                    \
    "pins: [{body: hung, select: {plane: {point: [0, 0, 0], normal: [1, 0, 0]}}}]\n"                         \
    "rigid: {floor: {plane: {point: [0, 0, 0], normal: [0, 0, 1]}}}\n"                                       \
    "contact: [{between: [floor, beam]}]\n"
    const char *const bodies = "bodies:\n  beam: {make: beam, material: m}\n";
    char text[1024];
    snprintf(text, sizeof text, "sinew: 1\ngravity: [0, 0, -9.81]\nmaterials: {m: {young: 1e5}}\n%s%s",
             bodies, FALLING);
    expect(text, 1, words);
    snprintf(text, sizeof text, "sinew: 1\ngravity: [0, 0, 0]\nmaterials: {m: {young: 1e5}}\n%s%s", bodies,
             FALLING);
    expect(text, 0, none);
#undef FALLING
}

static void starts_inside_are_measured(void **state) {
    (void)state;
    // The ball's lowest point is 0.1 m inside; the moved plane, at time 0, 0.05 m above the beam's lower
    // side.
    static const char *const words[] = {
        "scene.yaml:9: contact[0]: body beam starts inside of ball, by 0.1 m", "at [0.5, 0.1, 0.2] m",
        "scene.yaml:10: contact[1]: body beam starts inside of floor, by 0.05 m", NULL};
    expect(HEAD "rigid:\n"
                "  ball: {sphere: {center: [0.5, 0.1, 0.3], radius: 0.2}}\n"
                "  floor: {plane: {point: [0, 0, -1], normal: [0, 0, 1]}, motion: {keys: [{time: 0, "
                "move: [0, 0, 1.05]}, {time: 1}]}}\n"
                "contact:\n"
                "  - {between: [ball, beam]}\n"
                "  - {between: [beam, floor]}\n",
           2, words);
}

/// Two turns in half a second are 24 degrees a frame; eight and a third are 100.
static void fast_turns_are_named(void **state) {
    (void)state;
    static const char *const words[] = {"scene.yaml:6: rigid.fan: turns by 100 degrees in the step at ",
                                        "shorter by a factor of 2", NULL};
    static const char *const degrees[] = {"720", "3000"};
    for (int i = 0; i < 2; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 HEAD "rigid:\n"
                      "  fan: {box: {center: [0.5, 0.1, 0.9], half_size: [0.4, 0.02, 0.05]}, motion: {keys: "
                      "[{time: 0}, {time: 0.5, rotate: [0, 0, %s]}]}}\n"
                      "contact: [{between: [fan, beam]}]\n",
                 degrees[i]);
        expect(text, i, i ? words : none);
    }
}

static void depth_of_rest_passes(void **state) {
    (void)state;
    expect(HEAD "rigid: {floor: {plane: {point: [0, 0, 0.004], normal: [0, 0, 1]}}}\n"
                "contact: [{between: [floor, beam]}]\n",
           0, none);
}

/// What is stiff turns as a whole, but not against what it hangs on.
static void stiff_bodies_are_named(void **state) {
    (void)state;
    static const char *const words[] = {"scene.yaml:3: bodies.beam: stiff for its size and the step",
                                        "and tied to another body", NULL};
#define STIFF "sinew: 1\nmaterials: {m: {young: 1e8}, soft: {young: 1e5}}\n"
#define TWO   "bodies: {beam: {make: beam, material: m}, tail: {make: beam, material: soft}}\n"
#define TIE                                                                                                  \
    "springs: [{from: {body: tail, point: [0, 0, 0]}, to: {body: beam, point: [0, 0, 0]}, stiffness: 10}]\n"
    expect(STIFF TWO TIE, 1, words);
    expect(STIFF TWO, 0, none);
    // At 60 frames a second; a tenth of the step makes it soft enough.
    expect(STIFF TWO TIE "time: {substeps: 10}\n", 0, none);
    expect("sinew: 1\nmaterials: {m: {young: 1e8}}\nbodies: {beam: {make: beam, material: m}}\n"
           "springs: [{from: {body: beam, point: [0, 0, 0]}, to: {world: true, point: [0, 0, 0]}, "
           "stiffness: 10}]\n",
           0, none);
}

/// A surface that is given by a file with one triangle.
static void open_meshes_are_named(void **state) {
    (void)state;
    static const char *const words[] = {"rigid.sail: the mesh is not closed (3 edges", NULL};
    FILE *file = fopen(SINEW_BINARY_DIR "/review-sail.obj", "w");
    assert_non_null(file);
    fputs("v 0 0 -1\nv 1 0 -1\nv 0 1 -1\nf 1 2 3\n", file);
    fclose(file);
    expect(HEAD "rigid: {sail: {mesh: " SINEW_BINARY_DIR "/review-sail.obj}}\n"
                "contact: [{between: [sail, beam]}]\n",
           1, words);
    remove(SINEW_BINARY_DIR "/review-sail.obj");
}

static void pinned_bodies_are_named(void **state) {
    (void)state;
    static const char *const words[] = {
        "scene.yaml:7: contact[0]: all nodes at the surface of body beam are pinned", NULL};
    expect(HEAD "rigid: {floor: {plane: {point: [0, 0, -1], normal: [0, 0, 1]}}}\n"
                "pins: [{body: beam, select: all}]\n"
                "contact: [{between: [floor, beam]}]\n",
           1, words);
}

/// Pairs come by body, then by shape, whatever the order in the file.
static void look_at_pairs(const sn_model *model) {
    assert_int_equal(sn_model_get_info(model).contact_pair_count, 2);
    sn_contact_pair_info first = sn_model_contact_pair(model, 0), second = sn_model_contact_pair(model, 1);
    assert_true(first.body == 0 && first.shape == 0 && second.body == 0 && second.shape == 1);
    assert_true(first.friction == 0 && second.friction == 0.3);
    assert_true(second.stiffness_low == 2e7 && second.stiffness_high == 2e7);
    // The metric's weight of `corotated` is 2 mu + 3 lambda = 2.5 young; ten times that over edges of 0.05 to
    // 0.087 m.
    assert_true(first.stiffness_low > 2.5e6 / 0.087 && first.stiffness_high < 2.5e6 / 0.05);
    assert_true(first.proxy_count == second.proxy_count);
    assert_int_equal(first.proxy_count, sn_model_get_info(model).proxy_count);
    assert_int_equal(sn_model_contact_pair(model, 2).proxy_count, 0);
    assert_int_equal(sn_model_contact_pair(model, -1).proxy_count, 0);
}

static void pairs_are_told(void **state) {
    (void)state;
    warnings w =
        build(HEAD "rigid:\n"
                   "  floor: {plane: {point: [0, 0, 0], normal: [0, 0, 1]}}\n"
                   "  roof: {plane: {point: [0, 0, 9], normal: [0, 0, -1]}}\n"
                   "contact: [{between: [roof, beam], friction: 0.3, stiffness: 2e7}, {between: [beam, "
                   "floor]}]\n",
              look_at_pairs);
    assert_int_equal(w.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(good_scenes_have_no_warning),
                                       cmocka_unit_test(idle_shapes_are_named),
                                       cmocka_unit_test(idle_materials_are_named),
                                       cmocka_unit_test(slow_stiffening_is_named),
                                       cmocka_unit_test(falling_bodies_are_named),
                                       cmocka_unit_test(starts_inside_are_measured),
                                       cmocka_unit_test(depth_of_rest_passes),
                                       cmocka_unit_test(pinned_bodies_are_named),
                                       cmocka_unit_test(stiff_bodies_are_named),
                                       cmocka_unit_test(open_meshes_are_named),
                                       cmocka_unit_test(pairs_are_told),
                                       cmocka_unit_test(fast_turns_are_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
