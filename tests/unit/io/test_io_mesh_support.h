/// Small files for the tests of readers and writers.
#ifndef TEST_IO_MESH_SUPPORT_H
#define TEST_IO_MESH_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base_context.h"
#include "sinew/io.h"

#include <stdio.h>
#include <string.h>

/// A path in the build folder; each test program uses names of its own.
#define TEST_PATH(name) SINEW_BINARY_DIR "/" name

/// Removes the old file first: truncating it would make some file systems wait for the disk.
static inline void write_bytes(const char *path, const void *bytes, size_t size) {
    remove(path);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline sn_context *open_context(void) {
    sn_context *ctx = NULL;
    sn_context_def def = sn_context_def_default();
    def.thread_count = 1;
    def.debug_memory = true;
    assert_int_equal(sn_context_create(&def, &ctx), SN_OK);
    return ctx;
}

/// Fails if anything made with the context is still alive.
static inline void close_context(sn_context *ctx) {
    assert_int_equal(sn_context_memory_in_use(ctx), 0);
    sn_context_destroy(&ctx);
}

/// Reads a mesh that must be good from a text.
static inline sn_mesh_data *read_text(sn_context *ctx, const char *path, const char *text) {
    sn_mesh_data *data = NULL;
    write_bytes(path, text, strlen(text));
    sn_status status = sn_mesh_data_read(ctx, path, &data);
    if (status != SN_OK)
        print_error("%s\n", sn_context_message(ctx));
    assert_int_equal(status, SN_OK);
    remove(path);
    return data;
}

/// Fails unless the context's message holds each of the words, which are separated by '|'.
static inline void assert_message_has(const sn_context *ctx, const char *words) {
    char word[200];
    while (*words) {
        size_t length = strcspn(words, "|");
        snprintf(word, sizeof word, "%.*s", (int)length, words);
        if (!strstr(sn_context_message(ctx), word))
            fail_msg("\"%s\" is not in the message \"%s\"", word, sn_context_message(ctx));
        words += length + (words[length] == '|');
    }
}

#endif
