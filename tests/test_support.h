/// What several test programs share: contexts, meshes made by hand, the folder of real meshes, a tolerance
/// that an environment variable scales (SINEW_TOLERANCE_SCALE=0.1 shows true residuals).
#ifndef SN_TEST_SUPPORT_H
#define SN_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sinew/base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline sn_context *test_context(int32_t threads) {
    sn_context *ctx = NULL;
    sn_context_def def = sn_context_def_default();
    def.thread_count = threads;
    def.debug_memory = true;
    assert_int_equal(sn_context_create(&def, &ctx), SN_OK);
    return ctx;
}

/// Ends a context and fails if anything made with it still lives.
static inline void test_context_end(sn_context **ctx) {
    assert_int_equal(sn_context_memory_in_use(*ctx), 0);
    sn_context_destroy(ctx);
}

/// Fails with the library's message unless the call was done (conditions count as done).
#define assert_done(ctx, call)                                                                               \
    do {                                                                                                     \
        sn_status done_status = (call);                                                                      \
        if (done_status < 0)                                                                                 \
            fail_msg("%s: %s: %s", #call, sn_status_name(done_status), sn_context_message(ctx));             \
    } while (0)

static inline double test_tolerance(double tolerance) {
    const char *scale = getenv("SINEW_TOLERANCE_SCALE");
    return scale ? tolerance * atof(scale) : tolerance;
}

/// |value - expected| <= tolerance; prints both otherwise. NaN fails.
#define assert_near(value, expected, tolerance)                                                              \
    do {                                                                                                     \
        double near_value = (value), near_expected = (expected), near_tolerance = test_tolerance(tolerance); \
        if (!(fabs(near_value - near_expected) <= near_tolerance))                                           \
            fail_msg("%s is %.17g, expected %.17g within %g", #value, near_value, near_expected,             \
                     near_tolerance);                                                                        \
    } while (0)

#define assert_at_most(value, limit)                                                                         \
    do {                                                                                                     \
        double most_value = (value), most_limit = (limit);                                                   \
        if (!(most_value <= most_limit))                                                                     \
            fail_msg("%s is %.17g, allowed at most %g", #value, most_value, most_limit);                     \
    } while (0)

/// Path of a real mesh, or NULL where the folder is missing (the test should return 77 or leave that part
/// out).
static inline const char *test_data_path(const char *name, char *buffer, size_t size) {
    const char *folder = getenv("SINEW_DATA");
    snprintf(buffer, size, "%s/%s", folder ? folder : SINEW_SOURCE_DIR "/../shared/data", name);
    FILE *file = fopen(buffer, "rb");
    if (!file)
        return NULL;
    fclose(file);
    return buffer;
}

#endif
