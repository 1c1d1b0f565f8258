/// Memory of one scene: many small pieces, released together.
#ifndef SN_SCENE_POOL_H
#define SN_SCENE_POOL_H

#include "base/base_context.h"

typedef struct sn_scene_chunk sn_scene_chunk;

typedef struct sn_scene_pool {
    sn_context *context;
    sn_scene_chunk *last;
    size_t used, capacity; ///< Of the last chunk.
} sn_scene_pool;

sn_scene_pool sn_scene_pool_make(sn_context *ctx);
void sn_scene_pool_release(sn_scene_pool *pool);

/// Zeroed memory for `count` items of `size` bytes, aligned to 16.
SN_NODISCARD sn_status sn_scene_pool_new(sn_scene_pool *pool, size_t count, size_t size, void **out_memory);
/// Copy of `length` bytes of text, with an end.
SN_NODISCARD sn_status sn_scene_pool_text(sn_scene_pool *pool, const char *text, size_t length,
                                          char **out_text);

#endif
