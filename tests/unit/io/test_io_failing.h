/// An allocator that fails once: for contexts of tests that fail every allocation in turn.
#ifndef SN_TEST_IO_FAILING_H
#define SN_TEST_IO_FAILING_H

#include "sinew/base.h"

#include <stdlib.h>

/// Allocations left before the next one fails; negative: none fails.
static int allocations_left;

static void *failing_allocate(void *user, size_t size) {
    (void)user;
    return allocations_left-- == 0 ? NULL : aligned_alloc(64, (size + 63) / 64 * 64);
}

static void failing_release(void *user, void *memory) {
    (void)user;
    free(memory);
}

static const sn_allocator failing_allocator = {NULL, failing_allocate, failing_release};

#endif
