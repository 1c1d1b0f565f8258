// What zlib packed, in all three kinds of blocks, unpacks to the same bytes; damaged bytes are refused or
// make no more than the room that they have.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/io_text_inflate.h"

#include <stdlib.h>
#include <string.h>

enum { DYNAMIC_SIZE = 600 };

static const char words[] = "abracadabra abracadabra";
static const unsigned char stored[] = {120, 1,   1,  23, 0,   232, 255, 97, 98, 114, 97, 99,
                                       97,  100, 97, 98, 114, 97,  32,  97, 98, 114, 97, 99,
                                       97,  100, 97, 98, 114, 97,  105, 85, 8,  201};
static const unsigned char fixed[] = {120, 1,  75,  76, 42, 74, 76,  78, 76, 73, 4,
                                      82,  10, 137, 8,  54, 0,  105, 85, 8,  201};
static const unsigned char dynamic[] = {
    120, 218, 37,  146, 217, 17,  195, 64,  12,  66,  255, 85,  5,   173, 161, 163, 255, 22,  252, 88,
    79,  50,  94,  71,  66,  32,  216, 184, 170, 231, 188, 238, 182, 246, 154, 95,  211, 53,  238, 179,
    123, 169, 123, 232, 109, 211, 222, 186, 3,   38,  1,   114, 171, 71,  221, 1,   174, 167, 93,  146,
    70,  224, 236, 21,  85,  239, 140, 12,  211, 24,  34,  187, 172, 153, 235, 173, 10,  45,  131, 239,
    27,  152, 71,  40,  174, 50,  7,   88,  145, 158, 242, 129, 22,  204, 23,  46,  53,  210, 89,  230,
    232, 32,  206, 185, 149, 38,  3,   83,  135, 60,  82,  28,  126, 210, 206, 220, 83,  80,  179, 70,
    51,  131, 10,  85,  224, 88,  81,  116, 249, 52,  171, 15,  150, 1,   3,   52,  176, 236, 122, 123,
    167, 184, 139, 167, 248, 107, 77,  72,  88,  42,  142, 38,  98,  241, 127, 242, 159, 66,  24,  146,
    150, 239, 249, 124, 123, 132, 93,  148, 152, 227, 93,  98,  191, 125, 105, 193, 176, 207, 20,  6,
    64,  79,  2,   192, 205, 159, 145, 254, 237, 19,  120, 102, 93,  188, 220, 36,  104, 147, 99,  227,
    133, 234, 33,  177, 137, 54,  46,  210, 175, 185, 199, 177, 79,  111, 15,  246, 78,  116, 9,   123,
    131, 128, 183, 85,  76,  188, 30,  171, 16,  54,  156, 74,  48,  73,  36,  209, 228, 198, 163, 146,
    155, 153, 123, 127, 132, 108, 192, 179, 18,  75,  45,  197, 78,  143, 83,  236, 224, 68,  85,  220,
    193, 101, 35,  22,  120, 215, 12,  58,  207, 120, 248, 0,   37,  101, 200, 31};

/// The bytes that `dynamic` was made of.
static void make_text(char text[DYNAMIC_SIZE]) {
    uint32_t number = 1;
    for (int i = 0; i < DYNAMIC_SIZE; i++) {
        number = (number * 1103515245U + 12345U) & 0x7fffffffU;
        text[i] = "aaaabbbccd e\n"[(number >> 16) % 13];
    }
}

/// Unpacks into a block of its own size, so that a sanitizer sees the first byte beyond.
static bool unpack(const unsigned char *bytes, size_t size, const char *expected, size_t expected_size) {
    char *in = malloc(size + 1), *out = malloc(expected_size + 1);
    assert_true(in && out);
    memcpy(in, bytes, size);
    bool good = sn_inflate_zlib(in, size, out, expected_size);
    good = good && memcmp(out, expected, expected_size) == 0;
    free(in);
    free(out);
    return good;
}

static void all_kinds_of_blocks_unpack(void **state) {
    (void)state;
    char text[DYNAMIC_SIZE];
    make_text(text);
    assert_true(unpack(stored, sizeof stored, words, sizeof words - 1));
    assert_true(unpack(fixed, sizeof fixed, words, sizeof words - 1));
    assert_true(unpack(dynamic, sizeof dynamic, text, sizeof text));
}

static void another_size_is_refused(void **state) {
    (void)state;
    char text[DYNAMIC_SIZE + 1] = "";
    make_text(text);
    assert_false(unpack(stored, sizeof stored, words, sizeof words - 2));
    assert_false(unpack(fixed, sizeof fixed, words, sizeof words));
    assert_false(unpack(dynamic, sizeof dynamic, text, sizeof text));
    assert_false(unpack(dynamic, sizeof dynamic, text, sizeof text - 2));
}

static void check_damage(const unsigned char *bytes, size_t size, const char *expected,
                         size_t expected_size) {
    unsigned char damaged[512];
    assert_true(size <= sizeof damaged);
    for (size_t i = 0; i < size; i++) {
        assert_false(unpack(bytes, i, expected, expected_size));
        for (int value = 0; value < 256; value++) {
            memcpy(damaged, bytes, size);
            damaged[i] = (unsigned char)value;
            bool same = value == bytes[i];
            // Some bits of the head say only how hard the packer tried, and padding may be anything.
            if (same || i > 1)
                unpack(damaged, size, expected, expected_size);
            assert_true(!same || unpack(damaged, size, expected, expected_size));
        }
    }
}

static void damaged_bytes_do_no_harm(void **state) {
    (void)state;
    char text[DYNAMIC_SIZE];
    make_text(text);
    check_damage(stored, sizeof stored, words, sizeof words - 1);
    check_damage(fixed, sizeof fixed, words, sizeof words - 1);
    check_damage(dynamic, sizeof dynamic, text, sizeof text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_kinds_of_blocks_unpack),
                                       cmocka_unit_test(another_size_is_refused),
                                       cmocka_unit_test(damaged_bytes_do_no_harm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
