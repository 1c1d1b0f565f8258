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

static inline void assert_ints(const int32_t *found, size_t count, const int32_t *expected) {
    assert_non_null(found);
    assert_memory_equal(found, expected, count * sizeof *expected);
}

/// Name of a cell's group; "" for none.
static inline const char *group_of(const sn_mesh_data *data, int32_t block, int32_t cell) {
    int32_t group = data->block[block].group ? data->block[block].group[cell] : -1;
    return group < 0 ? "" : data->group[group];
}

static inline sn_status try_corpus(sn_context *ctx, const char *name, sn_mesh_data **out_data) {
    char path[512];
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s", SINEW_SOURCE_DIR, name);
    return sn_mesh_data_read(ctx, path, out_data);
}

/// Reads a file of the fuzz corpora that must be good.
static inline sn_mesh_data *read_corpus(sn_context *ctx, const char *name) {
    sn_mesh_data *data = NULL;
    if (try_corpus(ctx, name, &data) != SN_OK)
        fail_msg("%s", sn_context_message(ctx));
    return data;
}

/// A file of the fuzz corpora that must be refused, and words of the message, separated by '|'.
typedef struct bad_file {
    const char *name, *words;
} bad_file;

/// Fails unless each file is refused, by name, within its means.
static inline void refuse_corpus(size_t count, const bad_file *bad) {
    enum { MEANS = 1 << 19 };
    for (size_t i = 0; i < count; i++) {
        sn_context *ctx = open_context();
        sn_mesh_data *data = NULL;
        if (try_corpus(ctx, bad[i].name, &data) != SN_ERR_READ)
            fail_msg("accepted: %s", bad[i].name);
        assert_null(data);
        assert_message_has(ctx, bad[i].name);
        assert_message_has(ctx, bad[i].words);
        assert_true(sn_context_memory_peak(ctx) < MEANS);
        close_context(ctx);
    }
}

#endif
