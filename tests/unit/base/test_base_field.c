// Field tables: defaults, checks, numbers, texts.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base_field.h"

#include <string.h>

typedef enum tone { TONE_LOW, TONE_HIGH } tone;

typedef struct bell {
    tone tone;
    double weight, pull[3], hum;
    int32_t count;
    bool loud;
    uint32_t mark;
} bell;

static const sn_field_choice tones[] = {{"low", "deep"}, {"high", "bright"}, {NULL, NULL}};
static const sn_field rows[] = {
    {.key = "tone",
     .kind = SN_FIELD_CHOICE,
     .offset = offsetof(bell, tone),
     .choices = tones,
     .fallback = "high"},
    {.key = "weight",
     .kind = SN_FIELD_REAL,
     .offset = offsetof(bell, weight),
     SN_FIELD_UNIT(-3, 1, 0, 0),
     SN_POSITIVE,
     .fallback = "2.5"},
    {.key = "pull",
     .kind = SN_FIELD_VEC3,
     .offset = offsetof(bell, pull),
     SN_FIELD_UNIT(1, 1, -2, 0),
     SN_ANY_VALUE,
     .nonzero = true,
     .fallback = "[0, -1, 2e-1]"},
    {.key = "hum",
     .kind = SN_FIELD_REAL,
     .offset = offsetof(bell, hum),
     SN_NOT_NEGATIVE,
     .fallback = "-1",
     .automatic = "none",
     SN_FIELD_WHEN(offsetof(bell, tone), 1u << TONE_HIGH)},
    {.key = "hum",
     .kind = SN_FIELD_REAL,
     .offset = offsetof(bell, hum),
     SN_BETWEEN(0, 1),
     .fallback = "0.5",
     SN_FIELD_WHEN(offsetof(bell, tone), 1u << TONE_LOW)},
    {.key = "count",
     .kind = SN_FIELD_INT,
     .offset = offsetof(bell, count),
     SN_BETWEEN(1, 9),
     .fallback = "3"},
    {.key = "loud", .kind = SN_FIELD_BOOL, .offset = offsetof(bell, loud), .fallback = "true"},
    {.kind = SN_FIELD_MARK, .offset = offsetof(bell, mark)}};
static const sn_field_table table = {
    .name = "bell", .size = sizeof(bell), SN_FIELD_ROWS(rows), SN_FIELD_NO_ITEM};

static void defaults_come_from_the_table(void **state) {
    (void)state;
    bell item;
    memset(&item, 0xff, sizeof item);
    sn_field_defaults(&table, &item);
    assert_int_equal(item.tone, TONE_HIGH);
    assert_true(item.weight == 2.5 && item.pull[0] == 0 && item.pull[1] == -1 && item.pull[2] == 0.2);
    assert_true(item.hum == -1 && item.count == 3 && item.loud && item.mark == SN_DEF_MARK);
    item.tone = TONE_LOW;
    sn_field_conditional_defaults(&table, &item);
    assert_true(item.hum == 0.5);
}

/// Sets one field wrong at a time and expects its name in the message.
static void checks_name_the_field(void **state) {
    (void)state;
    sn_context *ctx = NULL;
    assert_int_equal(sn_context_create(NULL, &ctx), SN_OK);
    bell good;
    sn_field_defaults(&table, &good);
    assert_int_equal(sn_field_check(ctx, &table, &good), SN_OK);
    for (int k = 0; k < 8; k++) {
        static const char *const words[] = {
            "bell: weight: 0 is out of range; allowed: > 0 kg/m^3",
            "bell: weight: nan",
            "bell: pull: [0, 0, 0] is out of range; allowed: any value in N, not all 0",
            "bell: hum: -0.5 is out of range; allowed: >= 0",
            "bell: hum: 2 is out of range; allowed: 0 to 1",
            "bell: count: 10 is out of range; allowed: 1 to 9",
            "bell: tone: 2 is out of range; allowed: one of low, high",
            "bell: start the definition"};
        bell bad = good;
        bad.weight = k == 0 ? 0 : (k == 1 ? NAN : good.weight);
        bad.pull[1] = k == 2 ? 0 : good.pull[1];
        bad.pull[2] = k == 2 ? 0 : good.pull[2];
        bad.hum = k == 3 ? -0.5 : (k == 4 ? 2 : good.hum);
        bad.tone = k == 4 ? TONE_LOW : (k == 6 ? (tone)2 : good.tone);
        bad.count = k == 5 ? 10 : good.count;
        bad.mark = k == 7 ? 0 : good.mark;
        assert_int_equal(sn_field_check(ctx, &table, &bad), SN_ERR_INVALID_ARGUMENT);
        assert_non_null(strstr(sn_context_message(ctx), words[k]));
    }
    sn_context_destroy(&ctx);
}

static void numbers_are_strict(void **state) {
    (void)state;
    double value = 7;
    static const char *const good[] = {"1", "-1.5e3", "+.5", "5.", "1E-2", "0"};
    static const double expected[] = {1, -1500, 0.5, 5, 0.01, 0};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(sn_text_to_real(good[i], &value), 0);
        assert_true(value == expected[i]);
    }
    static const char *const words[] = {"",   "-",  ".",   "1e",    "1e+", "0x10",
                                        "1 ", " 1", "1,5", "1_000", "one", "1.2.3"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_int_equal(sn_text_to_real(words[i], &value), 1);
    static const char *const endless[] = {"nan", ".nan", "inf", "-.inf", "Infinity", "1e999", "-1e400"};
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++)
        assert_int_equal(sn_text_to_real(endless[i], &value), 2);
}

static void texts_name_units_and_ranges(void **state) {
    (void)state;
    char text[128];
    sn_field_units si = sn_field_units_si(), mm = si;
    mm.scale[SN_UNIT_LENGTH] = 1e-3;
    mm.name[SN_UNIT_LENGTH] = "mm";
    assert_string_equal(sn_field_range_text(&rows[1], &si, text, sizeof text), "> 0 kg/m^3");
    assert_string_equal(sn_field_range_text(&rows[1], &mm, text, sizeof text), "> 0 kg/mm^3");
    assert_string_equal(sn_field_unit_text(&rows[2], &mm, text, sizeof text), "kg mm/s^2");
    assert_float_equal(sn_field_unit_scale(&rows[1], &mm), 1e9, 1);
    assert_string_equal(sn_field_condition_text(&table, &rows[3], text, sizeof text), "tone: high");
    assert_string_equal(sn_field_range_text(&rows[0], &si, text, 12), "one of low,");
}

static void near_words_are_found(void **state) {
    (void)state;
    assert_int_equal(sn_text_distance("young", "yuong"), 1);
    assert_int_equal(sn_text_distance("young", "Young"), 0);
    assert_int_equal(sn_text_distance("", "abc"), 3);
    assert_int_equal(sn_text_distance("kitten", "sitting"), 3);
    const char *nearest = NULL;
    sn_text_nearest("denisty", "poisson", &nearest);
    assert_null(nearest);
    sn_text_nearest("denisty", "density", &nearest);
    assert_string_equal(nearest, "density");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_come_from_the_table), cmocka_unit_test(checks_name_the_field),
        cmocka_unit_test(numbers_are_strict), cmocka_unit_test(texts_name_units_and_ranges),
        cmocka_unit_test(near_words_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
