// JSON text: what is escaped, what numbers become, and that errors stick.
#include "test_support.h"

#include "io/io_json.h"

static void check_text(const char *text, const char *expected) {
    sn_context *ctx = test_context(1);
    sn_json json = sn_json_make(ctx);
    sn_json_text(&json, text);
    assert_int_equal(json.status, SN_OK);
    assert_string_equal(json.text, expected);
    sn_json_release(&json);
    test_context_end(&ctx);
}

static void escapes_text(void **state) {
    (void)state;
    check_text("a \"b\" \\c", "\"a \\\"b\\\" \\\\c\"");
    check_text("line\nend\x7f", "\"line\\u000aend\\u007f\"");
    check_text("</script>", "\"\\u003c/script>\"");
    check_text("gr\xc3\xb6\xc3\x9f"
               "e \xf0\x9f\xa6\xb4",
               "\"gr\xc3\xb6\xc3\x9f"
               "e \xf0\x9f\xa6\xb4\"");
}

static void replaces_what_is_not_utf8(void **state) {
    (void)state;
    check_text("\xff", "\"\xef\xbf\xbd\"");
    check_text("\xc3", "\"\xef\xbf\xbd\"");                                 // cut off
    check_text("\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\"");                 // overlong
    check_text("\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""); // surrogate
    check_text("\xf5\x80\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void writes_numbers(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    sn_json json = sn_json_make(ctx);
    const double values[] = {0.1, -1e-300, 12345678.0, NAN, INFINITY, -INFINITY};
    sn_json_numbers(&json, values, 6);
    assert_string_equal(json.text, "[0.10000000000000001,-1e-300,12345678,null,null,null]");
    assert_true(strtod(json.text + 1, NULL) == values[0]);
    sn_json_release(&json);
    test_context_end(&ctx);
}

static void nests(void **state) {
    (void)state;
    sn_context *ctx = test_context(1);
    sn_json json = sn_json_make(ctx);
    for (int round = 0; round < 2; round++) {
        sn_json_clear(&json);
        sn_json_open(&json, '{');
        sn_json_put_integer(&json, "a", -7);
        sn_json_key(&json, "b");
        sn_json_open(&json, '{');
        sn_json_close(&json, '}');
        sn_json_put_text(&json, "c", "d");
        sn_json_close(&json, '}');
        assert_string_equal(json.text, "{\"a\":-7,\"b\":{},\"c\":\"d\"}");
    }
    sn_json_release(&json);
    test_context_end(&ctx);
}

static void *refuse(void *user, size_t size) {
    (void)size;
    int *left = user;
    return (*left)-- > 0 ? aligned_alloc(64, (size + 63) / 64 * 64) : NULL;
}

static void release(void *user, void *memory) {
    (void)user;
    free(memory);
}

static void errors_stick(void **state) {
    (void)state;
    int left = 2; // the context and the first piece of text
    sn_context_def def = sn_context_def_default();
    def.allocator = (sn_allocator){&left, refuse, release};
    sn_context *ctx = NULL;
    assert_int_equal(sn_context_create(&def, &ctx), SN_OK);
    sn_json json = sn_json_make(ctx);
    for (int i = 0; i < 1000; i++)
        sn_json_integer(&json, i);
    assert_int_equal(json.status, SN_ERR_NO_MEMORY);
    sn_json_release(&json);
    test_context_end(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_text),   cmocka_unit_test(replaces_what_is_not_utf8),
        cmocka_unit_test(writes_numbers), cmocka_unit_test(nests),
        cmocka_unit_test(errors_stick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
