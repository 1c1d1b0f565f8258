/// The tree of a scene file: YAML (or JSON, a part of YAML) parsed with the place of every value.
///
/// Built from libyaml's events and not from its documents, because only so a hostile file can be stopped in
/// time: the scanner's cost grows with the square of nested brackets, and an alias inside its own anchor
/// never ends. Depth, size and the number of values after expanding aliases are bounded. Duplicate keys,
/// which libyaml lets pass, are refused.
#ifndef SN_SCENE_NODE_H
#define SN_SCENE_NODE_H

#include "scene/scene_pool.h"

enum { SN_NODE_DEPTH_MAX = 64, SN_NODE_COUNT_MAX = 1000000, SN_SCENE_SIZE_MAX = 16 << 20 };

typedef enum sn_node_kind { SN_NODE_SCALAR, SN_NODE_LIST, SN_NODE_MAP } sn_node_kind;

typedef struct sn_node sn_node;
struct sn_node {
    sn_node_kind kind;
    bool plain;          ///< A scalar without quotes: may be a number or a switch.
    const char *text;    ///< Of a scalar.
    const char *key;     ///< If it is a value in a map.
    int32_t line;        ///< From 1; of the key, in maps.
    int32_t override1;   ///< 1 + index of the override that it comes from; 0: the file.
    int32_t child_count; ///< Of lists and maps.
    sn_node *first, *last, *next;
};

/// What a scene was read from, for messages.
typedef struct sn_scene_source {
    sn_context *context;
    const char *name; ///< File name as given.
    const char *const *overrides;
    int32_t override_count;
} sn_scene_source;

/// Parses a text into a tree. @return SN_OK; SN_ERR_SCENE with file and line.
SN_NODISCARD sn_status sn_node_parse(sn_scene_pool *pool, const sn_scene_source *source, const char *text,
                                     size_t size, int32_t override1, sn_node **out_root);

/// Applies override `index`, "path.to.key=value": replaces or adds the value; "null" as value removes the
/// key.
SN_NODISCARD sn_status sn_node_override(sn_scene_pool *pool, const sn_scene_source *source, int32_t index,
                                        sn_node *root);

/// Value of a key in a map; NULL if there is none or `map` is none.
sn_node *sn_node_find(const sn_node *map, const char *key);

/// Whether a scalar stands for nothing (null, ~, or empty).
bool sn_node_is_null(const sn_node *node);

/// The value as people wrote it, shortened: "-5", "[1, 2, 3]", "{...}".
const char *sn_node_text(const sn_node *node, char *text, size_t size);

/// Fails with SN_ERR_SCENE and the message "file:line: path: ..."; `path` may be "".
SN_NODISCARD sn_status sn_node_fail(const sn_scene_source *source, const sn_node *node, const char *path,
                                    const char *format, ...) SN_PRINTF(4, 5);

/// The place in front of messages: "file:line: " or "file: --set path=value: ".
const char *sn_node_place(const sn_scene_source *source, const sn_node *node, char *text, size_t size);

#endif
