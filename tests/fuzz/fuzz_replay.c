// Runs one target on every file of the folders or files named, without libFuzzer: the corpus as an everyday
// test, with any compiler.
#include "fuzz/fuzz_support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Runs one file in a block of its exact size.
static void run_file(const char *path) {
    FILE *file = fopen(path, "rb");
    fuzz_check(file && fseek(file, 0, SEEK_END) == 0, "%s cannot be read", path);
    long size = ftell(file);
    rewind(file);
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    fuzz_check(data && fread(data, 1, (size_t)size, file) == (size_t)size, "%s cannot be read", path);
    fclose(file);
    // Said before it runs, so that the last line names the input that broke a promise.
    printf("%s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
}

/// @return the number of files in a folder, each of which is run; -1: it is no folder
static int run_folder(const char *path) {
    char name[4096];
    int count = 0;
    DIR *folder = opendir(path);
    if (!folder)
        return -1;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        run_file(name);
        count++;
    }
    closedir(folder);
    return count;
}

int main(int argument_count, char **arguments) {
    int total = 0;
    for (int i = 1; i < argument_count; i++) {
        int count = run_folder(arguments[i]);
        if (count < 0)
            run_file(arguments[i]);
        total += count < 0 ? 1 : count;
    }
    printf("%d inputs\n", total);
    // An empty corpus would pass whatever the target does.
    return total > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
