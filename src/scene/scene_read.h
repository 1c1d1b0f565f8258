/// Reads a tree into a struct, driven by its field table: defaults, types, units, ranges, variants,
/// references.
#ifndef SN_SCENE_READ_H
#define SN_SCENE_READ_H

#include "base/base_field.h"
#include "scene/scene_node.h"

enum { SN_SCENE_PATH_SIZE = 512 };

typedef struct sn_scene_reader {
    sn_scene_pool *pool; ///< Owns what lists and texts need.
    const sn_scene_source *source;
    const sn_node *root; ///< Where references look for names.
    sn_field_units units;
    char path[SN_SCENE_PATH_SIZE]; ///< Keys down to the value at hand: "materials.flesh.young".
} sn_scene_reader;

/// Reads `node` into `item`, which holds the table's defaults already (sn_field_defaults()).
/// @return SN_OK; SN_ERR_SCENE: the message names file:line: path, the value, what is allowed, the nearest
/// known key.
SN_NODISCARD sn_status sn_scene_read(sn_scene_reader *reader, const sn_field_table *table,
                                     const sn_node *node, void *item);

#endif
