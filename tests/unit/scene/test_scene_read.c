// Scene files: units, overrides, variants, hostile texts, mutated examples.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base_util.h"
#include "scene/scene_def.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sn_context *context;

static sn_status parse(const char *text, size_t size, int32_t count, const char *const *overrides,
                       sn_scene **scene) {
    return sn_scene_parse(context, text, size, "scene.yaml", "", count, overrides, scene);
}

static sn_scene *good_scene(const char *text, const char *override) {
    sn_scene *scene = NULL;
    sn_status status = parse(text, strlen(text), override ? 1 : 0, &override, &scene);
    if (status != SN_OK)
        fail_msg("%s", sn_context_message(context));
    return scene;
}

/// Expects an error whose message holds all of the words.
static void bad_scene(const char *text, const char *override, const char *word, const char *word2) {
    sn_scene *scene = NULL;
    sn_status status = parse(text, strlen(text), override ? 1 : 0, &override, &scene);
    const char *message = sn_context_message(context);
    if (status != SN_ERR_SCENE || !strstr(message, word) || !strstr(message, word2))
        fail_msg("expected '%s', '%s' in: %s: %s", word, word2, sn_status_name(status), message);
    assert_null(scene);
}

static const char plain[] = "sinew: 1\n"
                            "materials:\n"
                            "  flesh: {young: 3e4}\n"
                            "bodies:\n"
                            "  arm: {mesh: arm.obj, embed: {cells: 60}, material: flesh}\n"
                            "pins:\n"
                            "  - {body: arm, select: all}\n"
                            "  - {body: arm, select: {sphere: {center: [1, 2, 3], radius: 4}}}\n";

static void defaults_are_those_of_the_definitions(void **state) {
    (void)state;
    sn_scene *scene = good_scene(plain, NULL);
    sn_time_def time = sn_scene_time(scene);
    sn_stepper_def stepper = sn_scene_stepper(scene), normal = sn_stepper_def_default();
    sn_output_def output = sn_scene_output(scene), usual = sn_output_def_default();
    assert_true(time.frame_seconds == 1.0 / 60 && time.frames == 60 && time.substeps == 1);
    assert_memory_equal(&stepper, &normal, sizeof stepper);
    assert_memory_equal(&output, &usual, sizeof output);
    const sn_scene_content *content = &scene->content;
    assert_true(content->materials[0].def.poisson == 0.3 && content->materials[0].def.density == 1000);
    assert_int_equal(content->bodies[0].embed.cells, 60);
    assert_int_equal(content->pins[0].select.kind, SN_SELECT_ALL);
    assert_int_equal(content->pins[1].select.kind, SN_SELECT_SPHERE);
    assert_true(content->pins[1].select.radius == 4 && content->pins[1].select.point[2] == 3);
    sn_scene_destroy(&scene);
}

static void precision_reaches_the_stepper(void **state) {
    (void)state;
    static const char *const words[] = {"precision=fast", "precision=accurate"};
    for (int precision = 0; precision < 2; precision++) {
        sn_scene *scene = good_scene(plain, words[precision]);
        assert_int_equal(sn_scene_stepper(scene).precision, precision);
        sn_scene_destroy(&scene);
    }
}

static void units_reach_every_number(void **state) {
    (void)state;
    static const char text[] = "sinew: 1\n"
                               "units: {length: mm, mass: g, time: ms, angle: rad}\n"
                               "time: {step: 5, substeps: 2}\n"
                               "gravity: [0, 0, -9.81e-3]\n"
                               "materials: {a: {young: 2e3, density: 1e-3}}\n"
                               "bodies:\n"
                               "  b:\n"
                               "    make: {shape: beam, size: [100, 20, 20]}\n"
                               "    material: a\n"
                               "    rotate: [0, 0, 1]\n"
                               "    initial: {twist: {rate: 0.001}, spin: [0, 0, 0.002]}\n"
                               "loads: [{body: b, select: all, force: [1, 0, 0]}]\n";
    sn_scene *scene = good_scene(text, NULL);
    const sn_scene_content *content = &scene->content;
    assert_float_equal(sn_scene_time(scene).frame_seconds, 0.01, 1e-15);
    assert_float_equal(content->gravity[2], -9.81, 1e-12);
    // g mm^-1 ms^-2 = 1e-3 kg / (1e-3 m * 1e-6 s^2) = 1e6 Pa
    assert_float_equal(content->materials[0].def.young, 2e9, 1e-3);
    assert_float_equal(content->materials[0].def.density, 1e-3 * 1e-3 / 1e-9, 1e-9);
    assert_float_equal(content->bodies[0].make.size[0], 0.1, 1e-15);
    assert_float_equal(content->bodies[0].def.rotation[2], 1, 1e-15);
    assert_float_equal(content->bodies[0].def.initial.twist_rate, 1, 1e-12);
    assert_float_equal(content->bodies[0].def.initial.spin[2], 2, 1e-12);
    assert_float_equal(content->loads[0].def.force[0], 1, 1e-12);
    sn_scene_destroy(&scene);
    scene = good_scene(text, "units.angle=deg");
    assert_float_equal(scene->content.bodies[0].def.rotation[2], 0.017453292519943295, 1e-15);
    sn_scene_destroy(&scene);
    bad_scene(text, "materials.a.young=0", "allowed: > 0 g/mm/ms^2", "materials.a.young: 0");
}

static void overrides_go_by_path(void **state) {
    (void)state;
    sn_scene *scene = good_scene(plain, "solver.iterations=30");
    assert_int_equal(sn_scene_stepper(scene).solver.iterations, 30);
    sn_scene_destroy(&scene);
    scene = good_scene(plain, "pins[1].select.sphere.center.2=7.5");
    assert_true(scene->content.pins[1].select.point[2] == 7.5);
    sn_scene_destroy(&scene);
    scene = good_scene(plain, "bodies.arm.embed={lattice: kuhn}");
    assert_int_equal(scene->content.bodies[0].embed.kind, SN_LATTICE_KUHN);
    assert_int_equal(scene->content.bodies[0].embed.cells, 20);
    sn_scene_destroy(&scene);
    scene = good_scene(plain, "bodies.arm.embed=null");
    assert_int_equal(scene->content.bodies[0].embedded, 0);
    sn_scene_destroy(&scene);
    bad_scene(plain, "materials.flesh.young=-5", "--set materials.flesh.young=-5: materials.flesh.young: -5",
              "> 0 Pa");
    bad_scene(plain, "pins.2.body=arm", "no item 2", "allowed: 0 to 1");
    bad_scene(plain, "bodies.arm.material.skin=flesh", "single value", "skin");
    bad_scene(plain, "solver", "path.to.key=value", "--set solver");
    bad_scene(plain, "=3", "path.to.key=value", "--set =3");
    bad_scene(plain, "gravity=[1", "--set gravity=[1", "not valid YAML");
}

static void json_is_yaml(void **state) {
    (void)state;
    sn_scene *scene =
        good_scene("{\"sinew\": 1, \"materials\": {\"a\": {\"young\": 1e5, \"model\": \"arap\"}},\n"
                   "\t\"bodies\": {\"b\": {\"make\": \"beam\", \"material\": \"a\"}}}",
                   NULL);
    assert_int_equal(scene->content.materials[0].def.model, SN_MATERIAL_ARAP);
    assert_true(scene->content.materials[0].def.poisson == 0);
    assert_true(scene->content.bodies[0].make.size[0] == 1);
    sn_scene_destroy(&scene);
}

static void contact_names_two_things(void **state) {
    (void)state;
    static const char text[] = "sinew: 1\n"
                               "units: {length: mm}\n"
                               "materials: {m: {young: 1e5}}\n"
                               "bodies: {arm: {make: beam, material: m}}\n"
                               "rigid:\n"
                               "  floor: {plane: {point: [0, 0, 0], normal: [0, 0, 1]}}\n"
                               "  bones: {make: arm, radius: 10}\n"
                               "contact:\n"
                               "  - {between: [arm, floor], friction: 0.4, stiffness: 2e6}\n"
                               "  - between: [bones.1-2, arm]\n";
    sn_scene *scene = good_scene(text, NULL);
    const sn_scene_content *content = &scene->content;
    assert_int_equal(content->contact_count, 2);
    assert_string_equal(content->contacts[0].between[0], "arm");
    assert_string_equal(content->contacts[0].between[1], "floor");
    assert_string_equal(content->contacts[1].between[0], "bones.1-2");
    assert_true(content->contacts[0].def.friction == 0.4 && content->contacts[1].def.friction == 0);
    // kg mm^-2 s^-2 is 1e6 Pa/m
    assert_float_equal(content->contacts[0].def.stiffness, 2e12, 1);
    assert_true(content->contacts[1].def.stiffness == 0);
    sn_scene_destroy(&scene);
    bad_scene(text, "contact.0.between=arm", "contact[0].between: arm has the wrong type",
              "list of two names, names under bodies or rigid");
    bad_scene(text, "contact.0.between=[arm, floor, bones]", "contact[0].between: ", "list of two names");
    bad_scene(text, "contact.0.between=[arm, flor]", "contact[0].between[1]: flor is no name under bodies or",
              "did you mean floor; allowed: arm, floor, bones");
    // What a body is made from has no bones.
    bad_scene(text, "contact.1.between=[arm.1-2, floor]", "arm.1-2 is no name under bodies or rigid", "");
    bad_scene(text, "contact={}", "contact: {} has the wrong type", "list of maps");
    bad_scene(text, "contact.0.stiffness=0", "contact[0].stiffness: 0 is out of range", "> 0 kg/mm^2/s^2");
}

static void empty_sections_hold_nothing(void **state) {
    (void)state;
    static const char *const empty[] = {"contact=[]", "springs=[]", "pins=[]", "rigid={}"};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        sn_scene *scene = good_scene(plain, empty[i]);
        const sn_scene_content *content = &scene->content;
        assert_int_equal(content->contact_count + content->spring_count + content->rigid_count, 0);
        assert_int_equal(content->pin_count, i == 2 ? 0 : 2);
        sn_scene_destroy(&scene);
    }
    bad_scene(plain, "bodies={}", "bodies: {} has the wrong type", "map of named maps");
}

static void what_spans_keys_is_checked(void **state) {
    (void)state;
    bad_scene(plain, "materials={flesh: {model: biphasic, young: 1, poisson: 0.2}}",
              "materials.flesh.poisson: 0.2", "allowed: 0");
    bad_scene(plain, "materials={flesh: {model: biphasic, young: 1, stretch_min: 1.2}}",
              "materials.flesh.stretch_min: 1.2", "allowed: above 0 to below 1");
    bad_scene(plain, "materials={flesh: {model: biphasic, young: 1, stretch_max: 0.9}}",
              "materials.flesh.stretch_max: 0.9", "allowed: > 1");
    bad_scene(plain, "materials={flesh: {model: arap, young: 1, stretch_max: 1.5}}",
              "materials.flesh.stretch_max", "model: biphasic");
    bad_scene(plain, "materials={flesh: {model: arap, young: 1, poisson: 0.2}}",
              "materials.flesh.poisson: 0.2", "allowed: 0");
    bad_scene(plain, "bodies.arm.make=beam", "make and mesh (line 5) are both given", "bodies.arm.make");
    bad_scene(plain, "time={fps: 60, step: 0.1}", "step and fps", "both given");
    bad_scene(plain, "bodies.arm.material=fleshy", "did you mean flesh; allowed: flesh",
              "bodies.arm.material");
    bad_scene(plain, "pins.0.to=floor", "is no name under rigid", "missing or empty");
    bad_scene(plain, "precision=double", "precision: double is out of range",
              "allowed: one of fast, accurate");
    bad_scene(plain, "rigid={r: {sphere: {center: [0, 0, 0], radius: 1}, joints: {1: {}}}}",
              "allowed: only together with skeleton or make", "rigid.r.joints");
    bad_scene(plain,
              "rigid={r: {skeleton: x, radius: 1, joints: {1: {axis: [1, 0, 0], keys: [[1, 0], [1, 2]]}}}}",
              "rigid.r.joints.1.keys: [[1, 0], [1, 2]]", "rise");
    bad_scene(plain, "pins.0.select={box: {low: [0, 0, 1], high: [1, 1, 0]}}", "pins[0].select.box.high",
              "low");
    bad_scene(plain, "rigid={r: {capsule: {from: [0, 0, 1], to: [0, 0, 1], radius: 1}}}",
              "rigid.r.capsule.to", "from");
    bad_scene(plain, "bodies={\"a/b\": {make: beam, material: flesh}}", "a/b is no good name", "letters");
}

static void hostile_texts_end_soon(void **state) {
    (void)state;
    enum { SIZE = 1 << 20 };
    char *deep = malloc(SIZE + 1);
    assert_non_null(deep);
    double start = sn_clock();
    for (int kind = 0; kind < 3; kind++) {
        memset(deep, "[{\n"[kind], SIZE);
        deep[SIZE] = '\0';
        memcpy(deep, "sinew: ", 7);
        bad_scene(deep, NULL, "scene.yaml:", "");
    }
    free(deep);
    bad_scene("sinew: 1\na: &a [1, *a]\n", NULL, "scene.yaml:2: *a stands inside", "without end");
    bad_scene("sinew: 1\na: *b\n", NULL, "*b refers to no anchor", "scene.yaml:2");
    // Nine levels of nine aliases each would make 3e8 values.
    bad_scene("sinew: 1\na: &a [0,0,0,0,0,0,0,0,0]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
              "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
              "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n"
              "g: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\nh: &h [*g,*g,*g,*g,*g,*g,*g,*g,*g]\n",
              NULL, "more than 1000000 values", "");
    bad_scene("sinew: 1\ngravity: [0, 0, 0]\ngravity: [0, 0, 1]\n", NULL, "scene.yaml:3: gravity",
              "first on line 2");
    bad_scene("sinew: 1\n--- \nsinew: 1\n", NULL, "a second document", "scene.yaml:2");
    bad_scene("sinew: !!int 1\n", NULL, "tags", "scene.yaml:1");
    bad_scene("? [a]\n: 1\n", NULL, "a key must be a word", "");
    bad_scene("", NULL, "no scene of Sinew", "sinew: 1");
    bad_scene("- 1\n", NULL, "no scene of Sinew", "");
    bad_scene("time: {}\nsinew: 1\n", NULL, "scene.yaml:1: time", "as the first key");
    bad_scene("sinew: 1\ngravity: [0, 0, \"1\"]\n", NULL, "gravity[2]: \"1\" has the wrong type",
              "allowed: number");
    bad_scene("sinew: 1\n\xff\xfe", NULL, "not valid YAML", "scene.yaml");
    bad_scene("sinew: 1\nname: \"a\\0b\"\n", NULL, "zero byte", "");
    assert_true(sn_clock() - start < 20);
}

static void aliases_save_typing(void **state) {
    (void)state;
    sn_scene *scene = good_scene("sinew: 1\n"
                                 "materials: {a: &soft {young: 1e4, poisson: 0.2}, b: *soft}\n"
                                 "bodies: {x: {make: beam, material: b}}\n",
                                 NULL);
    assert_true(scene->content.materials[1].def.young == 1e4);
    assert_string_equal(scene->content.materials[1].name, "b");
    sn_scene_destroy(&scene);
}

// ---- Mutations

static char *read_example(const char *name, size_t *size) {
    char path[512];
    snprintf(path, sizeof path, "%s/examples/%s.yaml", SINEW_SOURCE_DIR, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(8192, 1);
    *size = fread(text, 1, 8191, file);
    fclose(file);
    return text;
}

/// Changes, drops, doubles or moves pieces of a text of `size` bytes with room for twice as many.
static size_t mutate(sn_random *random, char *text, size_t size) {
    static const char bytes[] = "{}[]:,-&*!|>'\"#%@` \n\t0123456789eE.+abz\xc3\x80";
    int32_t edits = 1 + sn_random_index(random, 6);
    for (int32_t i = 0; i < edits && size > 8; i++) {
        size_t at = (size_t)sn_random_index(random, (int32_t)size);
        size_t length = 1 + (size_t)sn_random_index(random, 24);
        if (length > size - at)
            length = size - at;
        switch (sn_random_index(random, 4)) {
        case 0:
            text[at] = bytes[sn_random_index(random, (int32_t)sizeof bytes - 1)];
            break;
        case 1:
            memmove(text + at, text + at + length, size - at - length);
            size -= length;
            break;
        case 2:
            memmove(text + at + length, text + at, size - at);
            size += length;
            break;
        default:
            memmove(text + at, text + (size_t)sn_random_index(random, (int32_t)(size - length)), length);
        }
    }
    return size;
}

static void mutated_examples_are_refused_or_read(void **state) {
    (void)state;
    enum { ROUNDS = 800 };
    static const char *const names[] = {"arm", "beam", "twist", "tumble", "squeeze"};
    int accepted = 0, refused = 0;
    size_t before = sn_context_memory_in_use(context);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        size_t size = 0;
        char *text = read_example(names[k], &size), *copy = calloc(2 * size + 256, 1);
        assert_non_null(copy);
        sn_random random = sn_random_make(k + 1);
        for (int round = 0; round < ROUNDS; round++) {
            memcpy(copy, text, size);
            size_t length = round ? mutate(&random, copy, size) : size;
            sn_scene *scene = NULL;
            sn_status status = parse(copy, length, 0, NULL, &scene);
            if (status != SN_OK && status != SN_ERR_SCENE)
                fail_msg("%s: %s", sn_status_name(status), sn_context_message(context));
            if (round == 0 && status != SN_OK)
                fail_msg("%s.yaml: %s", names[k], sn_context_message(context));
            if (status != SN_OK && !strstr(sn_context_message(context), "scene.yaml"))
                fail_msg("without a place: %s", sn_context_message(context));
            accepted += status == SN_OK;
            refused += status != SN_OK;
            sn_scene_destroy(&scene);
        }
        free(text);
        free(copy);
    }
    assert_int_equal(sn_context_memory_in_use(context), before);
    assert_true(accepted > 50 && refused > 500);
}

// ---- Memory

typedef struct scarce {
    int64_t left, live;
} scarce;

static void *scarce_allocate(void *user, size_t size) {
    scarce *memory = user;
    if (memory->left-- <= 0)
        return NULL;
    memory->live++;
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

static void scarce_release(void *user, void *block) {
    ((scarce *)user)->live--;
    free(block);
}

/// The n-th allocation fails, for every n: an error and no leak.
static void every_allocation_may_fail(void **state) {
    (void)state;
    scarce memory = {0};
    sn_context_def def = sn_context_def_default();
    def.allocator = (sn_allocator){&memory, scarce_allocate, scarce_release};
    for (int64_t n = 1, done = 0; !done; n++) {
        sn_context *ctx = NULL;
        sn_scene *scene = NULL;
        char *manual = NULL;
        memory.left = n;
        assert_int_equal(sn_context_create(&def, &ctx), SN_OK);
        sn_status status = sn_scene_parse(ctx, plain, sizeof plain - 1, "scene.yaml", "", 0, NULL, &scene);
        if (status == SN_OK)
            status = sn_scene_manual(ctx, SN_MANUAL_TEXT, &manual);
        assert_true(status == SN_OK || status == SN_ERR_NO_MEMORY);
        done = status == SN_OK;
        sn_text_free(ctx, manual);
        sn_scene_destroy(&scene);
        sn_context_destroy(&ctx);
        assert_int_equal(memory.live, 0);
    }
}

int main(void) {
    if (sn_context_create(NULL, &context) != SN_OK)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(defaults_are_those_of_the_definitions),
                                       cmocka_unit_test(precision_reaches_the_stepper),
                                       cmocka_unit_test(units_reach_every_number),
                                       cmocka_unit_test(overrides_go_by_path),
                                       cmocka_unit_test(json_is_yaml),
                                       cmocka_unit_test(contact_names_two_things),
                                       cmocka_unit_test(empty_sections_hold_nothing),
                                       cmocka_unit_test(what_spans_keys_is_checked),
                                       cmocka_unit_test(hostile_texts_end_soon),
                                       cmocka_unit_test(aliases_save_typing),
                                       cmocka_unit_test(mutated_examples_are_refused_or_read),
                                       cmocka_unit_test(every_allocation_may_fail)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (sn_context_memory_in_use(context) != 0)
        failed++;
    sn_context_destroy(&context);
    return failed;
}
