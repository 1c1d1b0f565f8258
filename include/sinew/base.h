/// Status codes, the context that owns memory, messages and threads, and the marks that every public header
/// uses.
#ifndef SINEW_BASE_H
#define SINEW_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define SN_API
#else
#define SN_API __attribute__((visibility("default")))
#endif

#if defined(__GNUC__)
#define SN_NODISCARD       __attribute__((warn_unused_result))
#define SN_PRINTF(fmt, va) __attribute__((format(printf, fmt, va)))
#else
#define SN_NODISCARD
#define SN_PRINTF(fmt, va)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// Result of a call. Zero: done. Negative: the call failed and changed nothing unless its comment says
/// otherwise; the reason is in sn_context_message(). Positive: done, with a condition to look at.
typedef enum sn_status {
    SN_OK = 0,
    SN_NOT_CONVERGED = 1, ///< The iteration budget ended first; the result is the last iterate.
    SN_STALLED = 2,       ///< No further decrease was possible although the tolerance was not met.

    SN_ERR_INVALID_ARGUMENT = -1,      ///< A caller's mistake: null, out of range, wrong size or order.
    SN_ERR_NO_MEMORY = -2,             ///< An allocation failed.
    SN_ERR_NON_FINITE = -3,            ///< NaN or infinity in an input or a result.
    SN_ERR_NOT_POSITIVE_DEFINITE = -4, ///< A matrix could not be factored.
    SN_ERR_READ = -5,                  ///< A file is missing, unreadable or not what its name says.
    SN_ERR_WRITE = -6,                 ///< A file could not be written.
    SN_ERR_MESH = -7,    ///< A mesh is unfit: inverted or flat elements, bad indices, no elements.
    SN_ERR_SCENE = -8,   ///< A scene is wrong: unknown key, wrong type, out of range, contradiction.
    SN_ERR_INTERNAL = -9 ///< A fault of the library itself.
} sn_status;

/// Name of a status, such as "SN_ERR_MESH"; "unknown status" for any other number. Never NULL.
SN_API const char *sn_status_name(sn_status status);

/// How important a log line is.
typedef enum sn_log_level { SN_LOG_DEBUG = 0, SN_LOG_INFO = 1, SN_LOG_WARNING = 2 } sn_log_level;

/// Receives log lines. `message` has no line end and is valid during the call only.
typedef void sn_log_callback(void *user, sn_log_level level, const char *message);

/// Replaces malloc and free. `allocate` returns `size` > 0 bytes aligned to 64, or NULL; `release` takes what
/// `allocate` returned, never NULL. Both are called from one thread at a time per context.
typedef struct sn_allocator {
    void *user;
    void *(*allocate)(void *user, size_t size);
    void (*release)(void *user, void *memory);
} sn_allocator;

/// How to make a context. Start from sn_context_def_default().
typedef struct sn_context_def {
    sn_allocator allocator; ///< All NULL: the C library.
    sn_log_callback *log;   ///< NULL: silent.
    void *log_user;
    int32_t thread_count; ///< 1 to 256; 0: as many as the process may use.
    bool debug_memory;    ///< Fills fresh and released memory with NaN patterns.
    uint32_t mark;        ///< Set by sn_context_def_default(); tells a defaulted struct from a forgotten one.
} sn_context_def;

/// Owner of allocator, last message, log callback and thread count. Objects made with a context must be
/// destroyed before it. One thread at a time may use a context.
typedef struct sn_context sn_context;

/// The default definition: C library memory, silent, all available threads.
SN_API sn_context_def sn_context_def_default(void);

/// Makes a context. `def` may be NULL for the defaults.
/// One global effect: OpenBLAS is set to one thread, because Sinew runs its own threads.
/// @return SN_OK; SN_ERR_INVALID_ARGUMENT, SN_ERR_NO_MEMORY: *out_context is unchanged and there is no
/// message.
SN_API SN_NODISCARD sn_status sn_context_create(const sn_context_def *def, sn_context **out_context);

/// Destroys a context and sets *context to NULL. Accepts NULL and a pointer to NULL.
SN_API void sn_context_destroy(sn_context **context);

/// What the last failing call had to say: what, where, values, remedy. "" if none failed. Owned by the
/// context and valid until the next failing call. `context` may be NULL ("").
SN_API const char *sn_context_message(const sn_context *context);

/// Number of threads that calls on this context use, at least 1.
SN_API int32_t sn_context_thread_count(const sn_context *context);

/// Bytes now allocated through the context.
SN_API size_t sn_context_memory_in_use(const sn_context *context);
/// Highest number of bytes allocated at once so far.
SN_API size_t sn_context_memory_peak(const sn_context *context);
/// Number of allocations made so far.
SN_API uint64_t sn_context_allocation_count(const sn_context *context);

#ifdef __cplusplus
}
#endif
#endif
