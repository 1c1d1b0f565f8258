/// Numbers of binary files, byte by byte: the same on every machine, and at any address.
#include "io/io_text.h"

#include <math.h>
#include <string.h>

size_t sn_number_size(sn_number_type type) {
    static const uint8_t sizes[] = {
        [SN_NUMBER_I8] = 1,  [SN_NUMBER_U8] = 1,  [SN_NUMBER_I16] = 2, [SN_NUMBER_U16] = 2,
        [SN_NUMBER_I32] = 4, [SN_NUMBER_U32] = 4, [SN_NUMBER_I64] = 8, [SN_NUMBER_U64] = 8,
        [SN_NUMBER_F32] = 4, [SN_NUMBER_F64] = 8};
    return sizes[type];
}

static uint64_t load(const char *at, size_t size, bool big_endian) {
    uint64_t bits = 0;
    for (size_t i = 0; i < size; i++)
        bits = bits << 8 | (unsigned char)at[big_endian ? i : size - 1 - i];
    return bits;
}

static double load_real(const char *at, sn_number_type type, bool big_endian) {
    uint64_t bits = load(at, sn_number_size(type), big_endian);
    if (type == SN_NUMBER_F32) {
        uint32_t half = (uint32_t)bits;
        float value;
        memcpy(&value, &half, sizeof value);
        return value;
    }
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int64_t load_signed(const char *at, sn_number_type type, bool big_endian) {
    uint64_t bits = load(at, sn_number_size(type), big_endian);
    switch (type) {
    case SN_NUMBER_I8:
        return (int8_t)bits;
    case SN_NUMBER_I16:
        return (int16_t)bits;
    case SN_NUMBER_I32:
        return (int32_t)bits;
    default:
        return (int64_t)bits;
    }
}

double sn_number_real(const char *at, sn_number_type type, bool big_endian) {
    if (type >= SN_NUMBER_F32)
        return load_real(at, type, big_endian);
    if (type == SN_NUMBER_U64)
        return (double)load(at, 8, big_endian);
    return (double)load_signed(at, type, big_endian);
}

bool sn_number_int(const char *at, sn_number_type type, bool big_endian, int64_t *out_value) {
    if (type >= SN_NUMBER_F32) {
        double value = load_real(at, type, big_endian);
        // NaN fails every comparison.
        if (!(fabs(value) < 9e18) || floor(value) != value)
            return false;
        *out_value = (int64_t)value;
        return true;
    }
    *out_value = load_signed(at, type, big_endian);
    return type != SN_NUMBER_U64 || *out_value >= 0;
}

const char *sn_text_bytes(sn_text *text, size_t size) {
    if (size > (size_t)(text->end - text->at))
        return NULL;
    const char *bytes = text->at;
    text->at += size;
    return bytes;
}
