// What zlib packed, in all three kinds of blocks, unpacks to the same bytes; damaged bytes are refused or
// make no more than the room that they have.
#include "test_support.h"

#include "io/io_text_inflate.h"

#include <zlib.h>

enum { TEXT_SIZE = 600, PACKED_SIZE = 1024 };

static sn_context *ctx;

static int make_context(void **state) {
    (void)state;
    return sn_context_create(NULL, &ctx) < 0;
}

static int destroy_context(void **state) {
    (void)state;
    sn_context_destroy(&ctx);
    return 0;
}

typedef struct packed {
    char text[TEXT_SIZE];
    unsigned char byte[PACKED_SIZE];
    size_t size;
} packed;

/// Packs a text with repeats into stored blocks (level 0) or coded ones.
static packed pack(int level, int strategy) {
    packed p = {.size = 0};
    uint32_t number = 1;
    for (int i = 0; i < TEXT_SIZE; i++) {
        number = (number * 1103515245U + 12345U) & 0x7fffffffU;
        p.text[i] = "aaaabbbccd e\n"[(number >> 16) % 13];
    }
    z_stream stream = {.next_in = (Bytef *)p.text, .avail_in = TEXT_SIZE};
    stream.next_out = p.byte;
    stream.avail_out = PACKED_SIZE;
    assert_int_equal(deflateInit2(&stream, level, Z_DEFLATED, 15, 8, strategy), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    p.size = stream.total_out;
    deflateEnd(&stream);
    return p;
}

/// The first three bits of what follows the head of two bytes tell the kind of the first block.
static int kind_of(const packed *p) {
    return p->byte[2] >> 1 & 3;
}

/// Unpacks into a block of its own size, so that a sanitizer sees the first byte beyond.
static bool unpacks(const packed *p, size_t out_size) {
    char *in = malloc(p->size + 1), *out = malloc(out_size + 1);
    bool whole = false;
    assert_true(in && out);
    memcpy(in, p->byte, p->size);
    assert_int_equal(sn_inflate_zlib(ctx, in, p->size, out, out_size, &whole), SN_OK);
    whole = whole && memcmp(out, p->text, out_size < TEXT_SIZE ? out_size : TEXT_SIZE) == 0;
    free(in);
    free(out);
    return whole;
}

static void damage(const packed *good) {
    packed bad = *good;
    for (bad.size = 0; bad.size < good->size; bad.size++)
        assert_false(unpacks(&bad, TEXT_SIZE));
    bad.size = good->size + 1;
    assert_false(unpacks(&bad, TEXT_SIZE));
    bad.size = good->size;
    for (size_t i = 0; i < good->size; i++) {
        for (int value = 0; value < 256; value += 5) {
            bad.byte[i] = (unsigned char)value;
            unpacks(&bad, TEXT_SIZE);
        }
        bad.byte[i] = good->byte[i];
    }
    assert_true(unpacks(&bad, TEXT_SIZE));
}

static void all_kinds_of_blocks_unpack(void **state) {
    (void)state;
    const packed kinds[] = {pack(0, Z_DEFAULT_STRATEGY), pack(9, Z_FIXED), pack(9, Z_DEFAULT_STRATEGY)};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(kind_of(&kinds[i]), i);
        assert_true(unpacks(&kinds[i], TEXT_SIZE));
        assert_false(unpacks(&kinds[i], TEXT_SIZE - 1));
        assert_false(unpacks(&kinds[i], TEXT_SIZE + 1));
        damage(&kinds[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_kinds_of_blocks_unpack, make_context, destroy_context)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
