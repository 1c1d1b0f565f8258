#include "io/io_zip.h"

#include <string.h>
#include <zlib.h>

enum {
    VERSION = 20,
    VERSION_64 = 45,
    UTF8 = 1 << 11,          // flag: names are UTF-8
    FIRST_DATE = 1 << 5 | 1, // 1980-01-01
    CRC_OFFSET = 14,         // in a local header
    LOCAL_SIZE = 30,
    EXTRA_64 = 1
};
#define LIMIT UINT64_C(0xffffffff)

// ---- Records

/// A record of the format, put together number by number.
typedef struct record {
    unsigned char bytes[96];
    size_t size;
} record;

static void put(record *r, uint64_t value, int width) {
    SN_ASSERT(r->size + (size_t)width <= sizeof r->bytes);
    for (int i = 0; i < width; i++)
        r->bytes[r->size++] = (unsigned char)(value >> 8 * i);
}

static uint64_t clamp(uint64_t value) {
    return value < LIMIT ? value : LIMIT;
}

static sn_status emit(sn_zip *zip, const void *bytes, size_t size) {
    zip->at += size;
    return sn_output_write(&zip->output, bytes, size);
}

/// Version, flags, method (stored), time, date, CRC, sizes, length of the name: common to both headers.
static void put_facts(record *r, const sn_zip_entry *entry, bool large) {
    put(r, large ? VERSION_64 : VERSION, 2);
    put(r, UTF8, 2);
    put(r, 0, 2);
    put(r, 0, 2);
    put(r, FIRST_DATE, 2);
    put(r, entry->crc, 4);
    put(r, clamp(entry->size), 4);
    put(r, clamp(entry->size), 4);
    put(r, strlen(entry->name), 2);
}

static sn_status write_local_header(sn_zip *zip, const sn_zip_entry *entry) {
    sn_status status = SN_OK;
    record r = {.size = 0};
    bool large = entry->size >= LIMIT;
    put(&r, 0x04034b50, 4);
    put_facts(&r, entry, large);
    put(&r, large ? 20 : 0, 2);
    SN_ASSERT(r.size == LOCAL_SIZE);
    SN_TRY(emit(zip, r.bytes, r.size));
    SN_TRY(emit(zip, entry->name, strlen(entry->name)));
    if (large) {
        r.size = 0;
        put(&r, EXTRA_64, 2);
        put(&r, 16, 2);
        put(&r, entry->size, 8);
        put(&r, entry->size, 8);
        SN_TRY(emit(zip, r.bytes, r.size));
    }
cleanup:
    return status;
}

static sn_status write_central_header(sn_zip *zip, const sn_zip_entry *entry) {
    sn_status status = SN_OK;
    record r = {.size = 0}, extra = {.size = 0};
    bool large = entry->size >= LIMIT, far = entry->offset >= LIMIT;
    if (large || far) {
        put(&extra, EXTRA_64, 2);
        put(&extra, (large ? 16 : 0) + (far ? 8 : 0), 2);
        if (large) {
            put(&extra, entry->size, 8);
            put(&extra, entry->size, 8);
        }
        if (far)
            put(&extra, entry->offset, 8);
    }
    put(&r, 0x02014b50, 4);
    put(&r, large || far ? VERSION_64 : VERSION, 2);
    put_facts(&r, entry, large || far);
    put(&r, extra.size, 2);
    put(&r, 0, 2); // length of the comment
    put(&r, 0, 2); // disk
    put(&r, 0, 2); // attributes
    put(&r, 0, 4);
    put(&r, clamp(entry->offset), 4);
    SN_TRY(emit(zip, r.bytes, r.size));
    SN_TRY(emit(zip, entry->name, strlen(entry->name)));
    SN_TRY(emit(zip, extra.bytes, extra.size));
cleanup:
    return status;
}

static sn_status write_end(sn_zip *zip, uint64_t begin) {
    record r = {.size = 0};
    uint64_t end = zip->at, size = end - begin, count = zip->count;
    bool large = begin >= LIMIT || size >= LIMIT || count >= 0xffff;
    if (large) {
        put(&r, 0x06064b50, 4); // the end of the directory, with 64 bits
        put(&r, 44, 8);
        put(&r, VERSION_64, 2);
        put(&r, VERSION_64, 2);
        put(&r, 0, 4);
        put(&r, 0, 4);
        put(&r, count, 8);
        put(&r, count, 8);
        put(&r, size, 8);
        put(&r, begin, 8);
        put(&r, 0x07064b50, 4); // where that is
        put(&r, 0, 4);
        put(&r, end, 8);
        put(&r, 1, 4);
    }
    sn_status status = emit(zip, r.bytes, r.size);
    if (status < 0)
        return status;
    r.size = 0;
    put(&r, 0x06054b50, 4);
    put(&r, 0, 2);
    put(&r, 0, 2);
    put(&r, count < 0xffff ? count : 0xffff, 2);
    put(&r, count < 0xffff ? count : 0xffff, 2);
    put(&r, clamp(size), 4);
    put(&r, clamp(begin), 4);
    put(&r, 0, 2);
    return emit(zip, r.bytes, r.size);
}

// ---- Archives

sn_status sn_zip_open(sn_context *ctx, const char *directory, const char *name, sn_zip *zip) {
    *zip = (sn_zip){.ctx = ctx};
    return sn_output_open(ctx, directory, name, SN_OUTPUT_WHOLE, &zip->output);
}

/// Puts the CRC, which is known now, into the header of the last file.
static sn_status end_entry(sn_zip *zip) {
    if (zip->count == 0)
        return SN_OK;
    SN_ASSERT(zip->left == 0);
    const sn_zip_entry *entry = &zip->entry[zip->count - 1];
    record r = {.size = 0};
    put(&r, entry->crc, 4);
    return sn_output_rewrite(&zip->output, (int64_t)entry->offset + CRC_OFFSET, r.bytes, r.size);
}

sn_status sn_zip_begin(sn_zip *zip, const char *name, uint64_t size) {
    sn_status status = SN_OK;
    sn_context *ctx = zip->ctx;
    sn_zip_entry entry = {.offset = zip->at, .size = size};
    SN_TRY(end_entry(zip));
    SN_TRY(sn_grow(ctx, (void **)&zip->entry, &zip->capacity, zip->count + 1, sizeof *zip->entry));
    SN_TRY(sn_new_text(ctx, name, &entry.name));
    zip->entry[zip->count++] = entry;
    zip->left = size;
    SN_TRY(write_local_header(zip, &entry));
cleanup:
    return status;
}

sn_status sn_zip_write(sn_zip *zip, const void *bytes, size_t size) {
    SN_ASSERT(zip->count > 0 && size <= zip->left);
    sn_zip_entry *entry = &zip->entry[zip->count - 1];
    entry->crc = (uint32_t)crc32_z(entry->crc, bytes, size);
    zip->left -= size;
    return emit(zip, bytes, size);
}

sn_status sn_zip_finish(sn_zip *zip) {
    sn_status status = SN_OK;
    uint64_t begin = zip->at;
    SN_TRY(end_entry(zip));
    for (size_t i = 0; i < zip->count; i++)
        SN_TRY(write_central_header(zip, &zip->entry[i]));
    SN_TRY(write_end(zip, begin));
    SN_TRY(sn_output_finish(&zip->output));
cleanup:
    sn_zip_abandon(zip);
    return status;
}

void sn_zip_abandon(sn_zip *zip) {
    sn_context *ctx = zip->ctx;
    if (!ctx)
        return;
    sn_output_abandon(&zip->output);
    for (size_t i = 0; i < zip->count; i++)
        sn_release(ctx, zip->entry[i].name);
    sn_release(ctx, zip->entry);
    *zip = (sn_zip){0};
}
