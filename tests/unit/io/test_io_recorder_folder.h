/// A folder for the files of one test, and looking into them.
#ifndef SN_TEST_IO_RECORDER_FOLDER_H
#define SN_TEST_IO_RECORDER_FOLDER_H

#include "test_support.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEST_PATH_SIZE = 512 };

static inline void test_folder_path(const char *folder, const char *name, char out[TEST_PATH_SIZE]) {
    assert_true(snprintf(out, TEST_PATH_SIZE, "%s/%s", folder, name) < TEST_PATH_SIZE);
}

/// Makes a folder with a name of its own in the working folder.
static inline void test_folder_make(char out[TEST_PATH_SIZE]) {
    snprintf(out, TEST_PATH_SIZE, "sinew-test-XXXXXX");
    assert_non_null(mkdtemp(out));
}

/// Removes a folder and the files in it.
static inline void test_folder_remove(const char *folder) {
    DIR *opened = opendir(folder);
    assert_non_null(opened);
    for (struct dirent *entry = readdir(opened); entry; entry = readdir(opened)) {
        char path[TEST_PATH_SIZE];
        test_folder_path(folder, entry->d_name, path);
        if (entry->d_name[0] != '.')
            assert_int_equal(unlink(path), 0);
    }
    closedir(opened);
    assert_int_equal(rmdir(folder), 0);
}

static inline bool test_folder_has(const char *folder, const char *name) {
    char path[TEST_PATH_SIZE];
    test_folder_path(folder, name, path);
    return access(path, F_OK) == 0;
}

static inline int test_folder_count(const char *folder) {
    int count = 0;
    DIR *opened = opendir(folder);
    assert_non_null(opened);
    for (struct dirent *entry = readdir(opened); entry; entry = readdir(opened))
        count += entry->d_name[0] != '.';
    closedir(opened);
    return count;
}

static inline void test_folder_put(const char *folder, const char *name) {
    char path[TEST_PATH_SIZE];
    test_folder_path(folder, name, path);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
}

/// Reads a file; the text ends with 0. To be freed.
static inline char *test_folder_read(const char *folder, const char *name, size_t *out_size) {
    char path[TEST_PATH_SIZE];
    test_folder_path(folder, name, path);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    rewind(file);
    char *bytes = malloc((size_t)size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)size, file), (size_t)size);
    bytes[size] = '\0';
    fclose(file);
    if (out_size)
        *out_size = (size_t)size;
    return bytes;
}

#endif
