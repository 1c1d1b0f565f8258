/// Messages, log and memory for the whole library. Every function that can fail takes or reaches an
/// sn_context.
#ifndef SN_BASE_CONTEXT_H
#define SN_BASE_CONTEXT_H

#include "sinew/base.h"

#include <assert.h>
#include <stdarg.h>

/// Guards our own invariants in debug builds; callers' mistakes are checked with sn_fail in every build.
#define SN_ASSERT(condition) assert(condition)

/// Value of the `mark` field in every sn_..._def: written by its _def_default(), checked where it is used.
#define SN_DEF_MARK 0x5e1dU

/// Runs a call inside a function that has `sn_status status` and a `cleanup:` label; jumps there on failure.
#define SN_TRY(call)                                                                                         \
    do {                                                                                                     \
        status = (call);                                                                                     \
        if (status < 0)                                                                                      \
            goto cleanup;                                                                                    \
    } while (0)

/// Allocates inside such a function: SN_TRY_NEW(ctx, pointer, count) for `count` items, uninitialized.
#define SN_TRY_NEW(ctx, pointer, count)                                                                      \
    SN_TRY(sn_new((ctx), (size_t)(count), sizeof *(pointer), (void **)&(pointer)))
/// The same, filled with zero bytes.
#define SN_TRY_NEW_ZEROED(ctx, pointer, count)                                                               \
    SN_TRY(sn_new_zeroed((ctx), (size_t)(count), sizeof *(pointer), (void **)&(pointer)))

/// Writes one line of text, cut to `size` with its end. Control characters become '?': messages quote files,
/// whose bytes must not steer a terminal.
void sn_write_line(char *line, size_t size, const char *format, va_list arguments) SN_PRINTF(3, 0);

/// Records a message (what, where, values, remedy) and returns `status`. Never allocates. A message is one
/// line; long ones are cut at 2 KiB.
SN_NODISCARD sn_status sn_fail(sn_context *ctx, sn_status status, const char *format, ...) SN_PRINTF(3, 4);

/// Puts text in front of the recorded message ("scene.yaml:12: "): for callers that know the place.
void sn_message_prefix(sn_context *ctx, const char *format, ...) SN_PRINTF(2, 3);

/// Sets what stands in front of all lines of the log from now on: for callers that know the place, around
/// calls that do not. `place` is borrowed until the next call; NULL: nothing. Returns what stood there
/// before.
const char *sn_log_place(sn_context *ctx, const char *place);

/// Sends a line to the log callback, if any.
void sn_log(sn_context *ctx, sn_log_level level, const char *format, ...) SN_PRINTF(3, 4);

/// Allocates count * size bytes, 64-byte aligned. count 0 gives a valid pointer that must be released too.
/// Writes *out_memory only on success; SN_ERR_NO_MEMORY also when the product overflows. Not from parallel
/// regions.
SN_NODISCARD sn_status sn_new(sn_context *ctx, size_t count, size_t size, void **out_memory);
SN_NODISCARD sn_status sn_new_zeroed(sn_context *ctx, size_t count, size_t size, void **out_memory);

/// Makes room for `count` items in a growing array: *memory has room for *capacity items of `size` bytes
/// (both 0/NULL at first) and keeps its content. Grows by half at least. On failure nothing changes.
SN_NODISCARD sn_status sn_grow(sn_context *ctx, void **memory, size_t *capacity, size_t count, size_t size);

/// Copies `count` items of `size` bytes into fresh memory.
SN_NODISCARD sn_status sn_new_copy(sn_context *ctx, const void *source, size_t count, size_t size,
                                   void **out_memory);

/// Copies a string into fresh memory. `text` not NULL.
SN_NODISCARD sn_status sn_new_text(sn_context *ctx, const char *text, char **out_text);

/// Releases memory of sn_new and friends; NULL is fine. The macro form also sets the pointer to NULL.
void sn_release(sn_context *ctx, void *memory);
#define SN_RELEASE(ctx, pointer)                                                                             \
    do {                                                                                                     \
        sn_release((ctx), (void *)(pointer));                                                                \
        (pointer) = NULL;                                                                                    \
    } while (0)

#endif
