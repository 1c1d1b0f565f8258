#include "base/base_context.h"

#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_SIZE = 2048, ALIGNMENT = 64, MAX_THREADS = 256 };

struct sn_context {
    sn_allocator allocator;
    sn_log_callback *log;
    void *log_user;
    const char *log_place;
    int32_t thread_count;
    bool debug_memory;
    size_t memory_in_use, memory_peak;
    uint64_t allocation_count;
    char message[MESSAGE_SIZE];
};

/// Stands in front of each allocation and fills one alignment unit.
typedef struct block_header {
    size_t size;
    char pad[ALIGNMENT - sizeof(size_t)];
} block_header;

/// OpenBLAS exports this; other BLAS do not, hence weak.
extern void openblas_set_num_threads(int count) __attribute__((weak));

static void *system_allocate(void *user, size_t size) {
    (void)user;
    size_t rounded = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return rounded < size ? NULL : aligned_alloc(ALIGNMENT, rounded);
}

static void system_release(void *user, void *memory) {
    (void)user;
    free(memory);
}

const char *sn_status_name(sn_status status) {
    switch (status) {
    case SN_OK:
        return "SN_OK";
    case SN_NOT_CONVERGED:
        return "SN_NOT_CONVERGED";
    case SN_STALLED:
        return "SN_STALLED";
    case SN_ERR_INVALID_ARGUMENT:
        return "SN_ERR_INVALID_ARGUMENT";
    case SN_ERR_NO_MEMORY:
        return "SN_ERR_NO_MEMORY";
    case SN_ERR_NON_FINITE:
        return "SN_ERR_NON_FINITE";
    case SN_ERR_NOT_POSITIVE_DEFINITE:
        return "SN_ERR_NOT_POSITIVE_DEFINITE";
    case SN_ERR_READ:
        return "SN_ERR_READ";
    case SN_ERR_WRITE:
        return "SN_ERR_WRITE";
    case SN_ERR_MESH:
        return "SN_ERR_MESH";
    case SN_ERR_SCENE:
        return "SN_ERR_SCENE";
    case SN_ERR_INTERNAL:
        return "SN_ERR_INTERNAL";
    }
    return "unknown status";
}

sn_context_def sn_context_def_default(void) {
    return (sn_context_def){.mark = SN_DEF_MARK};
}

static bool def_is_valid(const sn_context_def *def) {
    bool both_or_none = (def->allocator.allocate == NULL) == (def->allocator.release == NULL);
    return def->mark == SN_DEF_MARK && both_or_none && def->thread_count >= 0 &&
           def->thread_count <= MAX_THREADS;
}

sn_status sn_context_create(const sn_context_def *def, sn_context **out_context) {
    sn_context_def chosen = def ? *def : sn_context_def_default();
    if (!out_context || !def_is_valid(&chosen))
        return SN_ERR_INVALID_ARGUMENT;
    if (!chosen.allocator.allocate)
        chosen.allocator = (sn_allocator){NULL, system_allocate, system_release};
    sn_context *ctx = chosen.allocator.allocate(chosen.allocator.user, sizeof *ctx);
    if (!ctx)
        return SN_ERR_NO_MEMORY;
    int32_t available = omp_get_num_procs();
    *ctx = (sn_context){.allocator = chosen.allocator,
                        .log = chosen.log,
                        .log_user = chosen.log_user,
                        .thread_count = chosen.thread_count
                                            ? chosen.thread_count
                                            : (available < MAX_THREADS ? available : MAX_THREADS),
                        .debug_memory = chosen.debug_memory};
    if (openblas_set_num_threads)
        openblas_set_num_threads(1);
    *out_context = ctx;
    return SN_OK;
}

void sn_context_destroy(sn_context **context) {
    if (!context || !*context)
        return;
    sn_allocator allocator = (*context)->allocator;
    allocator.release(allocator.user, *context);
    *context = NULL;
}

const char *sn_context_message(const sn_context *context) {
    return context ? context->message : "";
}

int32_t sn_context_thread_count(const sn_context *context) {
    return context ? context->thread_count : 1;
}

size_t sn_context_memory_in_use(const sn_context *context) {
    return context ? context->memory_in_use : 0;
}

size_t sn_context_memory_peak(const sn_context *context) {
    return context ? context->memory_peak : 0;
}

uint64_t sn_context_allocation_count(const sn_context *context) {
    return context ? context->allocation_count : 0;
}

void sn_write_line(char *line, size_t size, const char *format, va_list arguments) {
    vsnprintf(line, size, format, arguments);
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
}

sn_status sn_fail(sn_context *ctx, sn_status status, const char *format, ...) {
    // The arguments may point into the old message, so the new one is made aside.
    char text[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    sn_write_line(text, sizeof text, format, arguments);
    va_end(arguments);
    memcpy(ctx->message, text, sizeof text);
    return status;
}

void sn_message_prefix(sn_context *ctx, const char *format, ...) {
    char text[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    sn_write_line(text, sizeof text, format, arguments);
    va_end(arguments);
    size_t length = strlen(text), kept = strlen(ctx->message);
    if (kept > MESSAGE_SIZE - 1 - length)
        kept = MESSAGE_SIZE - 1 - length;
    memmove(ctx->message + length, ctx->message, kept);
    memcpy(ctx->message, text, length);
    ctx->message[length + kept] = '\0';
}

const char *sn_log_place(sn_context *ctx, const char *place) {
    const char *before = ctx->log_place;
    ctx->log_place = place;
    return before;
}

void sn_log(sn_context *ctx, sn_log_level level, const char *format, ...) {
    if (!ctx->log)
        return;
    char text[MESSAGE_SIZE];
    va_list arguments;
    size_t before = (size_t)snprintf(text, sizeof text, "%s", ctx->log_place ? ctx->log_place : "");
    before = before < sizeof text ? before : sizeof text - 1;
    va_start(arguments, format);
    sn_write_line(text + before, sizeof text - before, format, arguments);
    va_end(arguments);
    ctx->log(ctx->log_user, level, text);
}

/// Bytes 0xff make NaN in float and double, and -1 in integers: misuse shows at once.
static void poison(sn_context *ctx, void *memory, size_t size) {
    if (ctx->debug_memory)
        memset(memory, 0xff, size);
}

sn_status sn_new(sn_context *ctx, size_t count, size_t size, void **out_memory) {
    size_t bytes = 0, total = 0;
    if (__builtin_mul_overflow(count, size, &bytes) ||
        __builtin_add_overflow(bytes, sizeof(block_header), &total))
        return sn_fail(ctx, SN_ERR_NO_MEMORY,
                       "an array of %zu items of %zu bytes is larger than memory can be", count, size);
    block_header *header = ctx->allocator.allocate(ctx->allocator.user, total);
    if (!header)
        return sn_fail(ctx, SN_ERR_NO_MEMORY, "out of memory: %zu bytes wanted, %zu in use", bytes,
                       ctx->memory_in_use);
    header->size = bytes;
    ctx->memory_in_use += bytes;
    ctx->allocation_count++;
    if (ctx->memory_in_use > ctx->memory_peak)
        ctx->memory_peak = ctx->memory_in_use;
    poison(ctx, header + 1, bytes);
    *out_memory = header + 1;
    return SN_OK;
}

sn_status sn_new_zeroed(sn_context *ctx, size_t count, size_t size, void **out_memory) {
    void *memory = NULL;
    sn_status status = sn_new(ctx, count, size, &memory);
    if (status < 0)
        return status;
    memset(memory, 0, count * size);
    *out_memory = memory;
    return SN_OK;
}

sn_status sn_new_copy(sn_context *ctx, const void *source, size_t count, size_t size, void **out_memory) {
    void *memory = NULL;
    sn_status status = sn_new(ctx, count, size, &memory);
    if (status < 0)
        return status;
    if (count * size > 0)
        memcpy(memory, source, count * size);
    *out_memory = memory;
    return SN_OK;
}

sn_status sn_new_text(sn_context *ctx, const char *text, char **out_text) {
    return sn_new_copy(ctx, text, strlen(text) + 1, 1, (void **)out_text);
}

sn_status sn_grow(sn_context *ctx, void **memory, size_t *capacity, size_t count, size_t size) {
    if (count <= *capacity)
        return SN_OK;
    size_t wanted = *capacity + *capacity / 2 + 8;
    if (wanted < count)
        wanted = count;
    void *grown = NULL;
    sn_status status = sn_new(ctx, wanted, size, &grown);
    if (status < 0)
        return status;
    if (*capacity > 0)
        memcpy(grown, *memory, *capacity * size);
    sn_release(ctx, *memory);
    *memory = grown;
    *capacity = wanted;
    return SN_OK;
}

void sn_release(sn_context *ctx, void *memory) {
    if (!memory)
        return;
    block_header *header = (block_header *)memory - 1;
    ctx->memory_in_use -= header->size;
    poison(ctx, memory, header->size);
    ctx->allocator.release(ctx->allocator.user, header);
}
