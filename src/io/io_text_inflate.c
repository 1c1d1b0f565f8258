#include "io/io_text_inflate.h"

#include <stdint.h>
#include <string.h>

enum { LONGEST_CODE = 15, LITERALS = 288, DISTANCES = 30, LENGTH_CODES = 19, END_OF_BLOCK = 256 };

typedef struct bit_reader {
    const unsigned char *at, *end;
    uint32_t bits; ///< Not yet taken, lowest first.
    int count;     ///< Of the bits.
    bool failed;   ///< Ran out of bytes: all further bits are 0.
} bit_reader;

/// A prefix code: how many codes there are of each length, and their symbols in the order of the codes.
typedef struct prefix_code {
    uint16_t count[LONGEST_CODE + 1];
    uint16_t symbol[LITERALS];
} prefix_code;

typedef struct output {
    unsigned char *begin, *at, *end;
} output;

static uint32_t take_bits(bit_reader *in, int count) {
    while (in->count < count) {
        if (in->at >= in->end) {
            in->failed = true;
            return 0;
        }
        in->bits |= (uint32_t)*in->at++ << in->count;
        in->count += 8;
    }
    uint32_t value = in->bits & ((1U << count) - 1);
    in->bits >>= count;
    in->count -= count;
    return value;
}

/// Makes a code of the lengths of its symbols. False if it has more codes than there can be.
static bool make_code(prefix_code *code, const uint8_t *length, int count) {
    uint16_t place[LONGEST_CODE + 2] = {0};
    int left = 1;
    memset(code->count, 0, sizeof code->count);
    for (int i = 0; i < count; i++)
        code->count[length[i]]++;
    code->count[0] = 0;
    for (int i = 1; i <= LONGEST_CODE; i++) {
        left = 2 * left - code->count[i];
        if (left < 0)
            return false;
        place[i + 1] = (uint16_t)(place[i] + code->count[i]);
    }
    for (int i = 0; i < count; i++)
        if (length[i] > 0)
            code->symbol[place[length[i]]++] = (uint16_t)i;
    return true;
}

/// Takes a symbol bit by bit: codes of one length are consecutive numbers. -1 if no code fits.
static int take_symbol(bit_reader *in, const prefix_code *code) {
    int value = 0, first = 0, index = 0;
    for (int length = 1; length <= LONGEST_CODE && !in->failed; length++) {
        value |= (int)take_bits(in, 1);
        int count = code->count[length];
        if (value - count < first)
            return code->symbol[index + value - first];
        index += count;
        first = (first + count) * 2;
        value *= 2;
    }
    return -1;
}

static bool copy_stored(bit_reader *in, output *out) {
    in->bits = 0;
    in->count = 0;
    if (in->end - in->at < 4)
        return false;
    size_t size = (size_t)(in->at[0] | in->at[1] << 8), inverse = (size_t)(in->at[2] | in->at[3] << 8);
    in->at += 4;
    if (size != (~inverse & 0xffff) || size > (size_t)(in->end - in->at) ||
        size > (size_t)(out->end - out->at))
        return false;
    memcpy(out->at, in->at, size);
    in->at += size;
    out->at += size;
    return true;
}

/// Copies what was written before, byte by byte: the copy may overlap itself.
static bool copy_back(output *out, size_t distance, size_t length) {
    if (distance > (size_t)(out->at - out->begin) || length > (size_t)(out->end - out->at))
        return false;
    for (; length > 0; length--, out->at++)
        *out->at = *(out->at - distance);
    return true;
}

static bool copy_coded(bit_reader *in, output *out, const prefix_code *literal, const prefix_code *distance) {
    static const uint16_t length_base[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                           31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t length_bits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                          2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    static const uint16_t distance_base[] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                             33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                             1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    for (;;) {
        int symbol = take_symbol(in, literal);
        if (symbol < 0 || in->failed)
            return false;
        if (symbol == END_OF_BLOCK)
            return true;
        if (symbol < END_OF_BLOCK) {
            if (out->at >= out->end)
                return false;
            *out->at++ = (unsigned char)symbol;
            continue;
        }
        symbol -= END_OF_BLOCK + 1;
        if (symbol >= (int)sizeof length_bits)
            return false;
        size_t length = length_base[symbol] + take_bits(in, length_bits[symbol]);
        int far = take_symbol(in, distance);
        if (far < 0 || far >= DISTANCES)
            return false;
        size_t back = distance_base[far] + take_bits(in, far < 2 ? 0 : far / 2 - 1);
        if (in->failed || !copy_back(out, back, length))
            return false;
    }
}

static bool copy_fixed(bit_reader *in, output *out) {
    prefix_code literal, distance;
    uint8_t length[LITERALS];
    for (int i = 0; i < LITERALS; i++)
        length[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    make_code(&literal, length, LITERALS);
    memset(length, 5, DISTANCES);
    make_code(&distance, length, DISTANCES);
    return copy_coded(in, out, &literal, &distance);
}

/// Takes the lengths of both codes, which are packed with a code of their own.
static bool take_lengths(bit_reader *in, const prefix_code *code, uint8_t *length, int count) {
    for (int i = 0; i < count;) {
        int symbol = take_symbol(in, code), repeat = 1;
        if (symbol < 0 || (symbol == 16 && i == 0))
            return false;
        uint8_t value = symbol < 16 ? (uint8_t)symbol : symbol == 16 ? length[i - 1] : 0;
        if (symbol == 16)
            repeat = 3 + (int)take_bits(in, 2);
        else if (symbol == 17)
            repeat = 3 + (int)take_bits(in, 3);
        else if (symbol == 18)
            repeat = 11 + (int)take_bits(in, 7);
        if (repeat > count - i)
            return false;
        while (repeat-- > 0)
            length[i++] = value;
    }
    return !in->failed;
}

static bool copy_dynamic(bit_reader *in, output *out) {
    static const uint8_t order[LENGTH_CODES] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                11, 4,  12, 3, 13, 2, 14, 1, 15};
    prefix_code literal, distance;
    uint8_t length[LITERALS + DISTANCES + 2] = {0};
    int literals = (int)take_bits(in, 5) + 257, distances = (int)take_bits(in, 5) + 1;
    int codes = (int)take_bits(in, 4) + 4;
    if (literals > 286 || distances > DISTANCES)
        return false;
    for (int i = 0; i < codes; i++)
        length[order[i]] = (uint8_t)take_bits(in, 3);
    if (!make_code(&literal, length, LENGTH_CODES) ||
        !take_lengths(in, &literal, length, literals + distances))
        return false;
    return make_code(&distance, length + literals, distances) && make_code(&literal, length, literals) &&
           copy_coded(in, out, &literal, &distance);
}

static bool copy_blocks(bit_reader *in, output *out) {
    for (bool last = false; !last;) {
        last = take_bits(in, 1) != 0;
        uint32_t type = take_bits(in, 2);
        bool good = !in->failed && (type == 0   ? copy_stored(in, out)
                                    : type == 1 ? copy_fixed(in, out)
                                    : type == 2 ? copy_dynamic(in, out)
                                                : false);
        if (!good)
            return false;
    }
    return out->at == out->end;
}

static uint32_t adler(const unsigned char *bytes, size_t size) {
    const uint32_t modulus = 65521;
    uint32_t low = 1, high = 0;
    for (size_t i = 0; i < size; i++) {
        low = (low + bytes[i]) % modulus;
        high = (high + low) % modulus;
    }
    return high << 16 | low;
}

bool sn_inflate_zlib(const char *bytes, size_t size, char *out, size_t out_size) {
    const unsigned char *begin = (const unsigned char *)bytes;
    output to = {(unsigned char *)out, (unsigned char *)out, (unsigned char *)out + out_size};
    if (size < 6 || (begin[0] & 15) != 8 || (begin[0] << 8 | begin[1]) % 31 != 0 || (begin[1] & 32) != 0)
        return false;
    bit_reader in = {.at = begin + 2, .end = begin + size - 4};
    const unsigned char *sum = in.end;
    return copy_blocks(&in, &to) &&
           adler(to.begin, out_size) ==
               ((uint32_t)sum[0] << 24 | (uint32_t)sum[1] << 16 | (uint32_t)sum[2] << 8 | (uint32_t)sum[3]);
}
