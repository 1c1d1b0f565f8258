#define _POSIX_C_SOURCE 200809L
#include "fuzz/fuzz_support.h"

#include "base/base_util.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, MEMORY_EACH = 256 };

void fuzz_fail(const char *file, int line, const char *condition, const char *format, ...) {
    va_list arguments;
    fprintf(stderr, "%s:%d: broken: %s: ", file, line, condition);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    abort();
}

static void *allocate(void *user, size_t size) {
    fuzz_memory *memory = user;
    void *block = NULL;
    if (memory->countdown-- == 0 || size > memory->largest)
        return NULL;
    // An empty array is all header, and its address the end of the block: the leak sanitizer would miss it
    // there.
    size += size == ALIGNMENT;
    return posix_memalign(&block, ALIGNMENT, size) == 0 ? block : NULL;
}

static void release(void *user, void *block) {
    (void)user;
    free(block);
}

sn_context *fuzz_context(fuzz_memory *memory) {
    sn_context *ctx = NULL;
    sn_context_def def = sn_context_def_default();
    def.allocator = (sn_allocator){memory, allocate, release};
    def.thread_count = 1;
    def.debug_memory = true;
    *memory = (fuzz_memory){-1, SIZE_MAX};
    fuzz_check(sn_context_create(&def, &ctx) == SN_OK, "no context");
    return ctx;
}

void fuzz_context_end(sn_context **ctx) {
    fuzz_check(sn_context_memory_in_use(*ctx) == 0, "%zu bytes leaked", sn_context_memory_in_use(*ctx));
    sn_context_destroy(ctx);
}

/// A message that a failing call leaves names the input and is one line of text.
static void check_message(const fuzz_reader *reader, const sn_context *ctx) {
    const char *message = sn_context_message(ctx);
    const char *named = reader->names_others ? "" : reader->name;
    fuzz_check(message[0] && strstr(message, named), "the message does not name the input: \"%s\"", message);
    for (const char *c = message; *c; c++)
        fuzz_check((unsigned char)*c >= ' ', "byte %d in the message \"%s\"", *c, message);
}

/// @return the number of allocations that reading took
static uint64_t read_whole(const fuzz_reader *reader, const uint8_t *data, size_t size) {
    fuzz_memory memory;
    sn_context *ctx = fuzz_context(&memory);
    void *untouched = &memory, *object = untouched;
    sn_status status = reader->read(ctx, reader->name, data, size, &object);
    uint64_t allocations = sn_context_allocation_count(ctx);
    size_t peak = sn_context_memory_peak(ctx);
    fuzz_check(peak <= reader->memory + MEMORY_EACH * size, "%zu bytes for an input of %zu", peak, size);
    if (status < 0) {
        fuzz_check(status == reader->refused, "%s: %s", sn_status_name(status), sn_context_message(ctx));
        fuzz_check(object == untouched, "an output of a reader that failed");
        check_message(reader, ctx);
    } else {
        fuzz_check(object != untouched && object, "no output of a reader that did not fail");
        reader->check(object, &memory);
        reader->destroy(&object);
    }
    fuzz_context_end(&ctx);
    return allocations;
}

static void read_starved(const fuzz_reader *reader, const uint8_t *data, size_t size, uint64_t refused) {
    fuzz_memory memory;
    sn_context *ctx = fuzz_context(&memory);
    void *untouched = &memory, *object = untouched;
    memory.countdown = (int64_t)refused;
    sn_status status = reader->read(ctx, reader->name, data, size, &object);
    fuzz_check(status == SN_ERR_NO_MEMORY, "%s: %s", sn_status_name(status), sn_context_message(ctx));
    fuzz_check(object == untouched, "an output of a reader that failed");
    fuzz_context_end(&ctx);
}

void fuzz_read(const fuzz_reader *reader, const uint8_t *data, size_t size) {
    uint64_t allocations = read_whole(reader, data, size);
    if (allocations > 0)
        read_starved(reader, data, size, sn_hash(SN_HASH_START, data, size) % allocations);
}
