/// What the fuzz targets share: the promises of every reader, and contexts whose memory catches misuse.
///
/// A target is one LLVMFuzzerTestOneInput(). It is linked twice: with libFuzzer, which looks for inputs that
/// break a promise, and with fuzz_replay.c, which runs the inputs of the corpus as an everyday test.
#ifndef SN_FUZZ_SUPPORT_H
#define SN_FUZZ_SUPPORT_H

#include "sinew/base.h"

#include <stdint.h>

/// The entry that libFuzzer calls. @return 0
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/// Ends the process with the broken promise unless `condition` holds, in every build.
#define fuzz_check(condition, ...)                                                                           \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            fuzz_fail(__FILE__, __LINE__, #condition, __VA_ARGS__);                                          \
    } while (0)
_Noreturn void fuzz_fail(const char *file, int line, const char *condition, const char *format, ...)
    SN_PRINTF(4, 5);

/// Memory of a context. Blocks have exactly the size asked for, so that the address sanitizer sees the first
/// byte beyond, and allocations may be refused.
typedef struct fuzz_memory {
    int64_t countdown; ///< Allocations until the one that is refused; negative: none is.
    size_t largest;    ///< Larger ones are refused.
} fuzz_memory;

/// A context of one thread with poisoned memory, of which nothing is refused until the caller says so.
sn_context *fuzz_context(fuzz_memory *memory);
/// Ends a context and fails if anything made with it still lives.
void fuzz_context_end(sn_context **ctx);

/// A reader under test.
typedef struct fuzz_reader {
    const char *name;  ///< Stands for the file's path in messages.
    sn_status refused; ///< What it returns for a bad input.
    size_t memory;     ///< Bytes that reading may take, besides 256 for each byte of the input.
    /// Reads the input; writes *out_object on success only.
    sn_status (*read)(sn_context *ctx, const char *name, const uint8_t *data, size_t size, void **out_object);
    /// Holds what was read against the reader's promises.
    void (*check)(void *object, fuzz_memory *memory);
    void (*destroy)(void **object);
    bool names_others; ///< Messages may name other files than the input.
} fuzz_reader;

/// Reads an input and checks what every reader promises: no crash, no leak, no output and a message with the
/// name on failure, no more memory than the input is worth. Then reads it again with one allocation refused,
/// another one for each input: out of memory, nothing leaked, no output.
void fuzz_read(const fuzz_reader *reader, const uint8_t *data, size_t size);

#endif
