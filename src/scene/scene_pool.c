#include "scene/scene_pool.h"

#include <string.h>

enum { CHUNK_SIZE = 16384, PIECE_ALIGNMENT = 16 };

struct sn_scene_chunk {
    sn_scene_chunk *before;
    char pad[PIECE_ALIGNMENT - sizeof(sn_scene_chunk *)];
};

sn_scene_pool sn_scene_pool_make(sn_context *ctx) {
    return (sn_scene_pool){.context = ctx};
}

void sn_scene_pool_release(sn_scene_pool *pool) {
    while (pool->last) {
        sn_scene_chunk *chunk = pool->last;
        pool->last = chunk->before;
        sn_release(pool->context, chunk);
    }
    pool->used = pool->capacity = 0;
}

sn_status sn_scene_pool_new(sn_scene_pool *pool, size_t count, size_t size, void **out_memory) {
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
        return sn_fail(pool->context, SN_ERR_NO_MEMORY, "a scene with %zu items of %zu bytes is too large",
                       count, size);
    bytes = (bytes + PIECE_ALIGNMENT - 1) / PIECE_ALIGNMENT * PIECE_ALIGNMENT;
    if (!pool->last || pool->capacity - pool->used < bytes) {
        size_t capacity = bytes > CHUNK_SIZE ? bytes : CHUNK_SIZE;
        sn_scene_chunk *chunk = NULL;
        sn_status status = sn_new_zeroed(pool->context, sizeof *chunk + capacity, 1, (void **)&chunk);
        if (status < 0)
            return status;
        chunk->before = pool->last;
        pool->last = chunk;
        pool->capacity = capacity;
        pool->used = 0;
    }
    *out_memory = (char *)(pool->last + 1) + pool->used;
    pool->used += bytes;
    return SN_OK;
}

sn_status sn_scene_pool_text(sn_scene_pool *pool, const char *text, size_t length, char **out_text) {
    char *copy = NULL;
    sn_status status = sn_scene_pool_new(pool, length + 1, 1, (void **)&copy);
    if (status < 0)
        return status;
    memcpy(copy, text, length);
    *out_text = copy;
    return SN_OK;
}
