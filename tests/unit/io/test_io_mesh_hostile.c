// Every file of the fuzz corpora, cut at every byte, with each byte overwritten, and with each number made
// large: read or refused with a message that names it; no memory beyond the file's means; all indices in
// range. And each with every allocation failing in turn: nothing leaks.
#include "unit/io/test_io_mesh_support.h"

#include "io/io_mesh_build.h"

#include <dirent.h>
#include <stdlib.h>

enum { LARGEST_SEED = 3000, GROWN = 32, BASE_MEMORY = 1 << 16, MEMORY_EACH = 256, UNPACKED_MEMORY = 1 << 22 };

static const char *const formats[] = {"obj", "medit", "msh",    "stl", "ply", "off",
                                      "vtk", "vtu",   "tetgen", "veg", "inp"};

typedef struct seed_file {
    const char *format;
    char bytes[LARGEST_SEED + GROWN];
    size_t size;
} seed_file;

static int32_t corners_of(const sn_cell_block *block) {
    static const int32_t sizes[] = {[SN_CELL_EDGE] = 2, [SN_CELL_TRIANGLE] = 3, [SN_CELL_TET] = 4};
    return block->kind == SN_CELL_POLYGON ? block->offset[block->count] : block->count * sizes[block->kind];
}

static void check_indices(const sn_mesh_data *data) {
    assert_true(data->vertex_count > 0 && data->note && data->skipped >= 0);
    for (int32_t b = 0; b < data->block_count; b++) {
        const sn_cell_block *block = &data->block[b];
        for (int32_t i = 0; i < corners_of(block); i++) {
            assert_in_range(block->vertex[i], 0, data->vertex_count - 1);
            assert_true(!block->uv || (block->uv[i] >= -1 && block->uv[i] < data->uv_count));
        }
        for (int32_t i = 0; block->group && i < block->count; i++)
            assert_true(block->group[i] >= -1 && block->group[i] < data->group_count);
    }
}

/// Parts of a file behind zero bytes stand for the files that it names.
static size_t split(const char *format, const char *bytes, size_t size, sn_text_file beside[2],
                    int32_t *count) {
    bool tetgen = strcmp(format, "tetgen") == 0;
    *count = 0;
    if (!tetgen && strcmp(format, "veg") != 0 && strcmp(format, "inp") != 0)
        return size;
    const char *first = memchr(bytes, 0, size), *begin = first, *end = bytes + size;
    for (int32_t i = 0; i < (tetgen ? 2 : 1) && begin; i++) {
        const char *next = memchr(begin + 1, 0, (size_t)(end - begin - 1));
        beside[(*count)++] = (sn_text_file){!tetgen  ? ""
                                            : i == 0 ? ".ele"
                                                     : ".face",
                                            begin + 1, (size_t)((next ? next : end) - begin - 1)};
        begin = next;
    }
    return first ? (size_t)(first - bytes) : size;
}

/// Reads bytes as a file of their format.
static sn_status read_with(sn_context *ctx, const char *format, const char *bytes, size_t size,
                           sn_mesh_data **out_data) {
    char name[64];
    sn_text text = {0};
    sn_text_file beside[2];
    int32_t beside_count = 0;
    snprintf(name, sizeof name, "hostile.%s",
             strcmp(format, "medit") == 0    ? "mesh"
             : strcmp(format, "tetgen") == 0 ? "node"
                                             : format);
    size_t first = split(format, bytes, size, beside, &beside_count);
    sn_status status = sn_text_open_memory(ctx, name, bytes, first, &text);
    text.beside = beside;
    text.beside_count = beside_count;
    if (status == SN_OK)
        status = sn_mesh_data_read_text(&text, out_data);
    sn_text_close(&text);
    return status;
}

static bool names_others(const char *format) {
    return strcmp(format, "tetgen") == 0 || strcmp(format, "veg") == 0 || strcmp(format, "inp") == 0;
}

/// Reads what may be damaged, and checks what comes of it.
static void read_bytes(const char *format, const char *bytes, size_t size) {
    sn_context *ctx = open_context();
    sn_mesh_data *data = NULL;
    sn_status status = read_with(ctx, format, bytes, size, &data);
    if (status == SN_OK) {
        check_indices(data);
    } else {
        assert_int_equal(status, SN_ERR_READ);
        assert_message_has(ctx, names_others(format) ? "" : "hostile.");
        assert_true(sn_context_message(ctx)[0]);
        assert_null(data);
    }
    // Arrays of VTU may be packed.
    size_t unpacked = strcmp(format, "vtu") == 0 ? (size_t)UNPACKED_MEMORY : 0;
    assert_true(sn_context_memory_peak(ctx) <= BASE_MEMORY + unpacked + MEMORY_EACH * size);
    sn_mesh_data_destroy(&data);
    close_context(ctx);
}

static void *allocate(void *user, size_t size) {
    int64_t *left = user;
    return (*left)-- > 0 ? aligned_alloc(64, (size + 63) / 64 * 64) : NULL;
}

static void release(void *user, void *memory) {
    (void)user;
    free(memory);
}

/// Fails every allocation in turn.
static void starve(const seed_file *seed) {
    sn_status status = SN_ERR_NO_MEMORY;
    for (int64_t n = 1; status == SN_ERR_NO_MEMORY; n++) {
        int64_t left = n;
        sn_context_def def = sn_context_def_default();
        sn_context *ctx = NULL;
        sn_mesh_data *data = NULL;
        def.thread_count = 1;
        def.allocator = (sn_allocator){&left, allocate, release};
        assert_int_equal(sn_context_create(&def, &ctx), SN_OK);
        status = read_with(ctx, seed->format, seed->bytes, seed->size, &data);
        assert_true(status == SN_OK || status == SN_ERR_NO_MEMORY || left >= 0);
        assert_true((status == SN_OK) == (data != NULL) && n < 1000);
        sn_mesh_data_destroy(&data);
        close_context(ctx);
    }
}

static void cut(const seed_file *seed) {
    for (size_t size = 0; size < seed->size; size++)
        read_bytes(seed->format, seed->bytes, size);
}

static void overwrite(const seed_file *original) {
    static const char values[] = {'\0', '\xff', '9', ' ', '\n', '\r', '-', '"', '<'};
    seed_file seed = *original;
    for (size_t i = 0; i < seed.size; i++) {
        for (size_t v = 0; v < sizeof values; v++) {
            seed.bytes[i] = values[v];
            read_bytes(seed.format, seed.bytes, seed.size);
        }
        seed.bytes[i] = original->bytes[i];
    }
}

/// Puts a claim in the place of each run of digits.
static void claim(const seed_file *original, const char *number) {
    size_t length = strlen(number);
    for (size_t i = 0; i < original->size; i++) {
        size_t digits = 0;
        while (i + digits < original->size && original->bytes[i + digits] >= '0' &&
               original->bytes[i + digits] <= '9')
            digits++;
        if (digits == 0)
            continue;
        seed_file seed = *original;
        memcpy(seed.bytes + i, number, length);
        memcpy(seed.bytes + i + length, original->bytes + i + digits, original->size - i - digits);
        read_bytes(seed.format, seed.bytes, original->size - digits + length);
        i += digits;
    }
}

static void run_seed(const seed_file *seed) {
    starve(seed);
    cut(seed);
    overwrite(seed);
    claim(seed, "10737418240");
    claim(seed, "2000000000");
    claim(seed, "-1");
    claim(seed, "nan");
}

static void run_folder(const char *format) {
    char path[512];
    int32_t count = 0;
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s", SINEW_SOURCE_DIR, format);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        seed_file seed = {.format = format};
        // The bad files and those that fuzzing found are whole tests of their own.
        if (entry->d_name[0] == '.' || strncmp(entry->d_name, "bad", 3) == 0 ||
            strncmp(entry->d_name, "found", 5) == 0)
            continue;
        snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s/%s", SINEW_SOURCE_DIR, format, entry->d_name);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        seed.size = fread(seed.bytes, 1, LARGEST_SEED, file);
        bool whole = fgetc(file) == EOF;
        fclose(file);
        if (!whole)
            continue;
        run_seed(&seed);
        count++;
    }
    closedir(folder);
    assert_true(count > 2);
}

static void damaged_files_are_read_or_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        run_folder(formats[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(damaged_files_are_read_or_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
