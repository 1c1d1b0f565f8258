// Memory, messages and threads: overflow is refused, failures are reported, sums do not depend on threads.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base_context.h"
#include "base/base_parallel.h"
#include "base/base_util.h"

#include <string.h>

static sn_context *make_context(int32_t threads) {
    sn_context *ctx = NULL;
    sn_context_def def = sn_context_def_default();
    def.thread_count = threads;
    assert_int_equal(sn_context_create(&def, &ctx), SN_OK);
    return ctx;
}

static void refuses_what_cannot_be(void **state) {
    (void)state;
    sn_context *ctx = make_context(1);
    void *memory = NULL;
    assert_int_equal(sn_new(ctx, SIZE_MAX / 4, 8, &memory), SN_ERR_NO_MEMORY);
    assert_null(memory);
    assert_non_null(strstr(sn_context_message(ctx), "larger than memory"));
    sn_context_def bad = sn_context_def_default();
    bad.thread_count = -1;
    sn_context *other = NULL;
    assert_int_equal(sn_context_create(&bad, &other), SN_ERR_INVALID_ARGUMENT);
    assert_null(other);
    sn_context_destroy(&ctx);
    assert_null(ctx);
    sn_context_destroy(&ctx);
}

static void counts_memory(void **state) {
    (void)state;
    sn_context *ctx = make_context(1);
    double *values = NULL;
    size_t capacity = 0;
    for (size_t count = 1; count <= 1000; count++) {
        assert_int_equal(sn_grow(ctx, (void **)&values, &capacity, count, sizeof *values), SN_OK);
        values[count - 1] = (double)count;
    }
    assert_true(values[0] == 1 && values[999] == 1000);
    assert_int_equal((uintptr_t)values % 64, 0);
    assert_true(sn_context_memory_in_use(ctx) == capacity * sizeof *values);
    SN_RELEASE(ctx, values);
    assert_int_equal(sn_context_memory_in_use(ctx), 0);
    assert_true(sn_context_memory_peak(ctx) >= 8000);
    sn_context_destroy(&ctx);
}

static void messages_stack_up(void **state) {
    (void)state;
    sn_context *ctx = make_context(1);
    assert_int_equal(sn_fail(ctx, SN_ERR_MESH, "tet %d is flat", 7), SN_ERR_MESH);
    sn_message_prefix(ctx, "body %s: ", "arm");
    assert_string_equal(sn_context_message(ctx), "body arm: tet 7 is flat");
    assert_int_equal(sn_fail(ctx, SN_ERR_READ, "found %s", "\x1b[2J\tb\r\n\x7f\xc3\xa9"), SN_ERR_READ);
    assert_string_equal(sn_context_message(ctx), "found ?[2J?b???\xc3\xa9");
    sn_context_destroy(&ctx);
}

static double sum_values(void *data, int32_t begin, int32_t end) {
    const double *value = data;
    double total = 0;
    for (int32_t i = begin; i < end; i++)
        total += value[i];
    return total;
}

static void sums_do_not_depend_on_threads(void **state) {
    (void)state;
    enum { COUNT = 100003 };
    static double value[COUNT];
    sn_random random = sn_random_make(1);
    for (int i = 0; i < COUNT; i++)
        value[i] = sn_random_normal(&random);
    double first = 0;
    for (int32_t threads = 1; threads <= 4; threads++) {
        sn_context *ctx = make_context(threads);
        double total = sn_parallel_sum(ctx, COUNT, sum_values, value);
        if (threads == 1)
            first = total;
        assert_memory_equal(&total, &first, sizeof total);
        sn_context_destroy(&ctx);
    }
    assert_true(first != 0);
}

static void mark_items(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    int *visits = data;
    for (int32_t i = begin; i < end; i++)
        visits[i]++;
}

static void loops_visit_each_item_once(void **state) {
    (void)state;
    sn_context *ctx = make_context(3);
    for (int32_t count = 0; count < 70; count++) {
        int visits[70] = {0};
        sn_parallel_for(ctx, count, 8, mark_items, visits);
        for (int32_t i = 0; i < 70; i++)
            assert_int_equal(visits[i], i < count);
    }
    sn_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_cannot_be),     cmocka_unit_test(counts_memory),
        cmocka_unit_test(messages_stack_up),          cmocka_unit_test(sums_do_not_depend_on_threads),
        cmocka_unit_test(loops_visit_each_item_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
