/// The precision that a test program runs at: the library's default, or what SINEW_TEST_PRECISION names. With
/// the label `precision` a program runs once more with `accurate` (tests/CMakeLists.txt).
#ifndef SN_TEST_PRECISION_H
#define SN_TEST_PRECISION_H

#include "test_support.h"

#include "sinew/step.h"

static inline sn_stepper_def test_stepper_def(void) {
    const char *name = getenv("SINEW_TEST_PRECISION");
    sn_stepper_def def = sn_stepper_def_default();
    for (int precision = 0; name && precision < 2; precision++)
        if (strcmp(sn_precision_name((sn_precision)precision), name) == 0) {
            def.precision = (sn_precision)precision;
            return def;
        }
    if (name)
        fail_msg("SINEW_TEST_PRECISION is %s, expected fast or accurate", name);
    return def;
}

static inline bool test_is_fast(void) {
    return test_stepper_def().precision == SN_PRECISION_FAST;
}

#endif
