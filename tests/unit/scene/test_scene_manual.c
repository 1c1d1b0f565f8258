// docs/scene.md is what the tables say, and its example is a good scene. With --write as argument, writes the
// file.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sinew/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char docs_path[] = SINEW_SOURCE_DIR "/docs/scene.md";

static sn_context *make_context(void) {
    sn_context *ctx = NULL;
    assert_int_equal(sn_context_create(NULL, &ctx), SN_OK);
    return ctx;
}

static void docs_are_fresh(void **state) {
    (void)state;
    sn_context *ctx = make_context();
    char *manual = NULL;
    assert_int_equal(sn_scene_manual(ctx, SN_MANUAL_MARKDOWN, &manual), SN_OK);
    size_t size = strlen(manual);
    char *file = calloc(size + 2, 1);
    FILE *stream = fopen(docs_path, "rb");
    assert_non_null(stream);
    size_t length = fread(file, 1, size + 1, stream);
    fclose(stream);
    if (length != size || memcmp(file, manual, size) != 0)
        fail_msg("docs/scene.md is stale: run test_scene_manual --write and look at the change");
    free(file);
    sn_text_free(ctx, manual);
    assert_int_equal(sn_context_memory_in_use(ctx), 0);
    sn_context_destroy(&ctx);
}

static void example_is_good(void **state) {
    (void)state;
    sn_context *ctx = make_context();
    char *manual = NULL;
    sn_scene *scene = NULL;
    assert_int_equal(sn_scene_manual(ctx, SN_MANUAL_MARKDOWN, &manual), SN_OK);
    const char *begin = strstr(manual, "```yaml\n") + 8, *end = strstr(begin, "```");
    assert_int_equal(sn_scene_parse(ctx, begin, (size_t)(end - begin), "manual", "", 0, NULL, &scene), SN_OK);
    assert_int_equal(sn_scene_time(scene).frames, 60);
    sn_scene_destroy(&scene);
    sn_text_free(ctx, manual);
    sn_context_destroy(&ctx);
}

static void texts_are_there(void **state) {
    (void)state;
    sn_context *ctx = make_context();
    char *scene = NULL, *materials = NULL;
    assert_int_equal(sn_scene_manual(ctx, SN_MANUAL_TEXT, &scene), SN_OK);
    assert_non_null(strstr(scene, "rigid.NAME.joints.NAME"));
    assert_non_null(strstr(scene, "number, > 0 Pa [required]"));
    assert_int_equal(sn_material_manual(ctx, &materials), SN_OK);
    assert_non_null(strstr(materials, "corotated_linear"));
    sn_text_free(ctx, scene);
    sn_text_free(ctx, materials);
    sn_context_destroy(&ctx);
}

static int write_docs(void) {
    sn_context *ctx = NULL;
    char *manual = NULL;
    FILE *stream = fopen(docs_path, "wb");
    bool good = stream && sn_context_create(NULL, &ctx) == SN_OK &&
                sn_scene_manual(ctx, SN_MANUAL_MARKDOWN, &manual) == SN_OK && fputs(manual, stream) >= 0;
    good = stream && fclose(stream) == 0 && good;
    sn_text_free(ctx, manual);
    sn_context_destroy(&ctx);
    return good ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--write") == 0)
        return write_docs();
    const struct CMUnitTest tests[] = {cmocka_unit_test(docs_are_fresh), cmocka_unit_test(example_is_good),
                                       cmocka_unit_test(texts_are_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
