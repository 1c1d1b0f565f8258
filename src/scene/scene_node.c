#include "scene/scene_node.h"

#include "base/base_field.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

// ---- Messages

const char *sn_node_place(const sn_scene_source *source, const sn_node *node, char *text, size_t size) {
    text[0] = '\0';
    if (node && node->override1)
        sn_text_append(text, size, "%s: --set %.200s: ", source->name,
                       source->overrides[node->override1 - 1]);
    else if (node)
        sn_text_append(text, size, "%s:%d: ", source->name, (int)node->line);
    else
        sn_text_append(text, size, "%s: ", source->name);
    return text;
}

sn_status sn_node_fail(const sn_scene_source *source, const sn_node *node, const char *path,
                       const char *format, ...) {
    char place[640], text[1200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    sn_node_place(source, node, place, sizeof place);
    return sn_fail(source->context, SN_ERR_SCENE, "%s%s%s%s", place, path, path[0] ? ": " : "", text);
}

bool sn_node_is_null(const sn_node *node) {
    return node->kind == SN_NODE_SCALAR && node->plain &&
           (!node->text[0] || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0);
}

enum { ITEMS_SHOWN = 4 }; ///< Of a list, in messages.

/// A list with its first items, and those of lists in it: "[[0, 90], [1, 45]]".
static void append_list(const sn_node *list, int depth, char *text, size_t size) {
    int32_t shown = 0;
    sn_text_append(text, size, "[");
    for (const sn_node *item = list->first; item && shown < ITEMS_SHOWN; item = item->next, shown++) {
        sn_text_append(text, size, "%s", shown ? ", " : "");
        if (item->kind == SN_NODE_SCALAR)
            sn_text_append(text, size, "%.20s", item->text);
        else if (item->kind == SN_NODE_MAP || depth == 0)
            sn_text_append(text, size, "...");
        else
            append_list(item, depth - 1, text, size);
    }
    sn_text_append(text, size, list->child_count > shown ? ", ...]" : "]");
}

const char *sn_node_text(const sn_node *node, char *text, size_t size) {
    text[0] = '\0';
    if (node->kind == SN_NODE_SCALAR)
        sn_text_append(text, size, sn_node_is_null(node) ? "nothing" : (node->plain ? "%.60s" : "\"%.60s\""),
                       node->text);
    else if (node->kind == SN_NODE_MAP)
        sn_text_append(text, size, node->first ? "{%.40s: ...}" : "{}", node->first ? node->first->key : "");
    else
        append_list(node, 1, text, size);
    return text;
}

sn_node *sn_node_find(const sn_node *map, const char *key) {
    if (!map || map->kind != SN_NODE_MAP)
        return NULL;
    for (sn_node *child = map->first; child; child = child->next)
        if (strcmp(child->key, key) == 0)
            return child;
    return NULL;
}

static void append_child(sn_node *parent, sn_node *child) {
    child->next = NULL;
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->child_count++;
}

// ---- Parsing

typedef struct anchor {
    const char *name;
    const sn_node *node;
    struct anchor *next;
} anchor;

typedef struct tree_parser {
    sn_scene_pool *pool;
    const sn_scene_source *source;
    int32_t override1;
    yaml_parser_t yaml;
    anchor *anchors;
    int32_t depth, node_count;
    const sn_node *open[SN_NODE_DEPTH_MAX + 1]; ///< Lists and maps that have not ended.
} tree_parser;

static sn_status new_node(tree_parser *parser, sn_node_kind kind, int32_t line, sn_node **out_node) {
    sn_node place = {.line = line, .override1 = parser->override1};
    if (++parser->node_count > SN_NODE_COUNT_MAX)
        return sn_node_fail(parser->source, &place, "",
                            "the scene has more than %d values (aliases count each time)",
                            (int)SN_NODE_COUNT_MAX);
    sn_node *node = NULL;
    sn_status status = sn_scene_pool_new(parser->pool, 1, sizeof *node, (void **)&node);
    if (status < 0)
        return status;
    node->kind = kind;
    node->line = line;
    node->override1 = parser->override1;
    *out_node = node;
    return SN_OK;
}

static sn_status next_event(tree_parser *parser, yaml_event_t *event) {
    if (yaml_parser_parse(&parser->yaml, event))
        return SN_OK;
    const yaml_parser_t *yaml = &parser->yaml;
    if (yaml->error == YAML_MEMORY_ERROR)
        return sn_fail(parser->source->context, SN_ERR_NO_MEMORY, "out of memory while reading %s",
                       parser->source->name);
    // Encoding errors come without a mark; the scanner's own place is the best guess then.
    size_t line = yaml->problem_mark.line ? yaml->problem_mark.line : yaml->mark.line;
    sn_node place = {.line = (int32_t)line + 1, .override1 = parser->override1};
    return sn_node_fail(parser->source, &place, "", "not valid YAML: %s%s%s (column %d)",
                        yaml->context ? yaml->context : "", yaml->context ? ", " : "",
                        yaml->problem ? yaml->problem : "unreadable", (int)yaml->problem_mark.column + 1);
}

static sn_status define_anchor(tree_parser *parser, const yaml_char_t *name, const sn_node *node) {
    if (!name)
        return SN_OK;
    anchor *entry = NULL;
    char *copy = NULL;
    sn_status status = sn_scene_pool_new(parser->pool, 1, sizeof *entry, (void **)&entry);
    if (status == SN_OK)
        status = sn_scene_pool_text(parser->pool, (const char *)name, strlen((const char *)name), &copy);
    if (status < 0)
        return status;
    *entry = (anchor){copy, node, parser->anchors};
    parser->anchors = entry;
    return SN_OK;
}

/// Copies a finished tree to where an alias stands: messages about it name the line of the original.
static sn_status copy_tree(tree_parser *parser, const sn_node *from, int32_t depth, sn_node **out_node) {
    sn_node *node = NULL;
    if (depth > SN_NODE_DEPTH_MAX)
        return sn_node_fail(parser->source, from, "", "nested deeper than %d levels", (int)SN_NODE_DEPTH_MAX);
    sn_status status = new_node(parser, from->kind, from->line, &node);
    if (status < 0)
        return status;
    node->plain = from->plain;
    node->text = from->text;
    for (const sn_node *child = from->first; child; child = child->next) {
        sn_node *copy = NULL;
        status = copy_tree(parser, child, depth + 1, &copy);
        if (status < 0)
            return status;
        copy->key = child->key;
        append_child(node, copy);
    }
    *out_node = node;
    return SN_OK;
}

static sn_status expand_alias(tree_parser *parser, const yaml_event_t *event, sn_node **out_node) {
    const char *name = (const char *)event->data.alias.anchor;
    sn_node place = {.line = (int32_t)event->start_mark.line + 1, .override1 = parser->override1};
    const anchor *found = parser->anchors;
    while (found && strcmp(found->name, name) != 0)
        found = found->next;
    if (!found)
        return sn_node_fail(parser->source, &place, "",
                            "*%s refers to no anchor above it; write &%s before a value first", name, name);
    for (int32_t i = 0; i < parser->depth; i++)
        if (parser->open[i] == found->node)
            return sn_node_fail(parser->source, &place, "",
                                "*%s stands inside the value that it refers to, without end", name);
    return copy_tree(parser, found->node, parser->depth, out_node);
}

static sn_status read_value(tree_parser *parser, const yaml_event_t *event, sn_node **out_node);

/// Reads the next event as a value. Refuses the end of the list or map, which the caller has looked for.
static sn_status read_next(tree_parser *parser, sn_node **out_node) {
    yaml_event_t event;
    sn_status status = next_event(parser, &event);
    if (status < 0)
        return status;
    status = read_value(parser, &event, out_node);
    yaml_event_delete(&event);
    return status;
}

static int compare_keys(const void *a, const void *b) {
    const sn_node *p = *(const sn_node *const *)a, *q = *(const sn_node *const *)b;
    int order = strcmp(p->key, q->key);
    return order ? order : (p->line > q->line) - (p->line < q->line);
}

/// Sorted, so that a file with very many keys takes no quadratic time.
static sn_status refuse_duplicates(tree_parser *parser, const sn_node *map) {
    const sn_node **sorted = NULL;
    sn_context *ctx = parser->source->context;
    sn_status status = sn_new(ctx, (size_t)map->child_count, sizeof(sn_node *), (void **)&sorted);
    if (status < 0)
        return status;
    int32_t count = 0;
    for (const sn_node *child = map->first; child; child = child->next)
        sorted[count++] = child;
    qsort((void *)sorted, (size_t)count, sizeof *sorted, compare_keys);
    for (int32_t i = 1; i < count && status == SN_OK; i++)
        if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0)
            status = sn_node_fail(parser->source, sorted[i], sorted[i]->key,
                                  "the key is there twice; first on line %d", (int)sorted[i - 1]->line);
    sn_release(ctx, (void *)sorted);
    return status;
}

static sn_status read_entry(tree_parser *parser, const yaml_event_t *event, sn_node *map) {
    sn_node *key = NULL, *value = NULL;
    sn_status status = read_value(parser, event, &key);
    if (status < 0)
        return status;
    if (key->kind != SN_NODE_SCALAR)
        return sn_node_fail(parser->source, key, "", "a key must be a word, not a list or map");
    status = read_next(parser, &value);
    if (status < 0)
        return status;
    value->key = key->text;
    value->line = key->line;
    append_child(map, value);
    return SN_OK;
}

static sn_status read_children(tree_parser *parser, sn_node *node) {
    yaml_event_type_t end = node->kind == SN_NODE_MAP ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT;
    if (parser->depth >= SN_NODE_DEPTH_MAX)
        return sn_node_fail(parser->source, node, "", "nested deeper than %d levels", (int)SN_NODE_DEPTH_MAX);
    parser->open[parser->depth++] = node;
    for (;;) {
        yaml_event_t event;
        sn_node *child = NULL;
        sn_status status = next_event(parser, &event);
        if (status < 0)
            return status;
        bool ended = event.type == end;
        if (!ended && node->kind == SN_NODE_MAP)
            status = read_entry(parser, &event, node);
        else if (!ended)
            status = read_value(parser, &event, &child);
        yaml_event_delete(&event);
        if (status < 0)
            return status;
        if (child)
            append_child(node, child);
        if (ended)
            break;
    }
    parser->depth--;
    return node->kind == SN_NODE_MAP ? refuse_duplicates(parser, node) : SN_OK;
}

static sn_status read_scalar(tree_parser *parser, const yaml_event_t *event, sn_node *node) {
    char *text = NULL;
    const char *value = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (memchr(value, '\0', length))
        return sn_node_fail(parser->source, node, "", "a text holds a zero byte");
    sn_status status = sn_scene_pool_text(parser->pool, value, length, &text);
    node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    node->text = text;
    return status;
}

static sn_status refuse_tag(tree_parser *parser, const sn_node *node, const yaml_char_t *tag) {
    if (!tag)
        return SN_OK;
    return sn_node_fail(parser->source, node, "", "tags are not known in scenes: %.40s", (const char *)tag);
}

static sn_status read_value(tree_parser *parser, const yaml_event_t *event, sn_node **out_node) {
    sn_node *node = NULL;
    const yaml_char_t *name = NULL, *tag = NULL;
    sn_node_kind kind = SN_NODE_SCALAR;
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return expand_alias(parser, event, out_node);
    case YAML_SCALAR_EVENT:
        name = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
        break;
    case YAML_SEQUENCE_START_EVENT:
        kind = SN_NODE_LIST;
        name = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
        break;
    case YAML_MAPPING_START_EVENT:
        kind = SN_NODE_MAP;
        name = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
        break;
    default:
        return sn_fail(parser->source->context, SN_ERR_INTERNAL, "unexpected YAML event %d",
                       (int)event->type);
    }
    sn_status status = new_node(parser, kind, (int32_t)event->start_mark.line + 1, &node);
    if (status == SN_OK)
        status = refuse_tag(parser, node, tag);
    if (status == SN_OK)
        status = define_anchor(parser, name, node);
    if (status == SN_OK)
        status = kind == SN_NODE_SCALAR ? read_scalar(parser, event, node) : read_children(parser, node);
    if (status == SN_OK)
        *out_node = node;
    return status;
}

/// Reads the stream: one document, which may be missing.
static sn_status read_stream(tree_parser *parser, sn_node **out_root) {
    sn_status status = SN_OK;
    for (bool ended = false; !ended && status == SN_OK;) {
        yaml_event_t event;
        status = next_event(parser, &event);
        if (status < 0)
            return status;
        sn_node place = {.line = (int32_t)event.start_mark.line + 1, .override1 = parser->override1};
        ended = event.type == YAML_STREAM_END_EVENT;
        if (event.type == YAML_DOCUMENT_START_EVENT && *out_root)
            status = sn_node_fail(parser->source, &place, "", "a second document begins; a scene is one");
        else if (event.type == YAML_DOCUMENT_START_EVENT)
            status = read_next(parser, out_root);
        yaml_event_delete(&event);
    }
    return status;
}

sn_status sn_node_parse(sn_scene_pool *pool, const sn_scene_source *source, const char *text, size_t size,
                        int32_t override1, sn_node **out_root) {
    tree_parser parser = {.pool = pool, .source = source, .override1 = override1};
    sn_node place = {.line = 1, .override1 = override1}, *root = NULL;
    if (size > SN_SCENE_SIZE_MAX)
        return sn_node_fail(source, &place, "",
                            "%zu bytes are more than the %d of the largest scene; keep meshes in "
                            "files of their own",
                            size, (int)SN_SCENE_SIZE_MAX);
    if (!yaml_parser_initialize(&parser.yaml))
        return sn_fail(source->context, SN_ERR_NO_MEMORY, "out of memory while reading %s", source->name);
    yaml_parser_set_input_string(&parser.yaml, (const unsigned char *)text, size);
    sn_status status = read_stream(&parser, &root);
    yaml_parser_delete(&parser.yaml);
    if (status < 0)
        return status;
    if (!root) {
        status = new_node(&parser, SN_NODE_SCALAR, 1, &root);
        if (status < 0)
            return status;
        root->plain = true;
        root->text = "";
    }
    *out_root = root;
    return SN_OK;
}

// ---- Overrides

/// Cuts the next part off a path: up to a dot or bracket. "a[2].b" has the parts a, 2, b. NULL at the end.
static char *next_part(char **path) {
    char *part = *path + strspn(*path, ".[]");
    size_t length = strcspn(part, ".[]");
    if (!length)
        return NULL;
    *path = part + length;
    if (**path)
        *(*path)++ = '\0';
    return part;
}

static sn_node *find_item(const sn_node *list, const char *part) {
    char *end = NULL;
    long index = strtol(part, &end, 10);
    if (*end || index < 0)
        return NULL;
    sn_node *item = list->first;
    while (item && index-- > 0)
        item = item->next;
    return item;
}

static void remove_child(sn_node *map, const sn_node *child) {
    sn_node *before = NULL;
    for (sn_node *node = map->first; node != child; node = node->next)
        before = node;
    if (before)
        before->next = child->next;
    else
        map->first = child->next;
    if (map->last == child)
        map->last = before;
    map->child_count--;
}

/// Takes over kind and content of a value; the node keeps its key and its place in the list.
static void replace_value(sn_node *node, const sn_node *value) {
    sn_node *next = node->next;
    const char *key = node->key;
    *node = *value;
    node->next = next;
    node->key = key;
}

/// Finds the child of `at` that a part of the path names; adds it to maps if it is missing.
static sn_status step_down(sn_scene_pool *pool, const sn_scene_source *source, int32_t index, sn_node *at,
                           const char *part, sn_node **out_child) {
    sn_node place = {.override1 = index + 1};
    sn_node *child = at->kind == SN_NODE_LIST ? find_item(at, part) : sn_node_find(at, part);
    if (!child && at->kind == SN_NODE_LIST)
        return sn_node_fail(source, &place, "", "the list on line %d has no item %s; allowed: 0 to %d",
                            (int)at->line, part, (int)at->child_count - 1);
    if (!child && at->kind == SN_NODE_SCALAR)
        return sn_node_fail(source, &place, "",
                            "%s on line %d is a single value without keys, so there is no %s in it",
                            at->key ? at->key : "the item", (int)at->line, part);
    if (!child) {
        char *key = NULL;
        sn_status status = sn_scene_pool_new(pool, 1, sizeof *child, (void **)&child);
        if (status == SN_OK)
            status = sn_scene_pool_text(pool, part, strlen(part), &key);
        if (status < 0)
            return status;
        *child = (sn_node){.kind = SN_NODE_MAP, .key = key, .override1 = index + 1};
        append_child(at, child);
    }
    *out_child = child;
    return SN_OK;
}

sn_status sn_node_override(sn_scene_pool *pool, const sn_scene_source *source, int32_t index, sn_node *root) {
    const char *text = source->overrides[index], *equals = strchr(text, '=');
    sn_node place = {.override1 = index + 1}, *value = NULL, *parent = NULL, *at = root;
    char *path = NULL;
    if (!equals || equals == text)
        return sn_node_fail(source, &place, "", "an override has the form path.to.key=value");
    sn_status status = sn_scene_pool_text(pool, text, (size_t)(equals - text), &path);
    if (status == SN_OK)
        status = sn_node_parse(pool, source, equals + 1, strlen(equals + 1), index + 1, &value);
    for (char *part = NULL; status == SN_OK && (part = next_part(&path)) != NULL;) {
        parent = at;
        status = step_down(pool, source, index, parent, part, &at);
    }
    if (status < 0)
        return status;
    if (!parent)
        return sn_node_fail(source, &place, "", "an override has the form path.to.key=value");
    if (sn_node_is_null(value) && parent->kind == SN_NODE_MAP)
        remove_child(parent, at);
    else
        replace_value(at, value);
    return SN_OK;
}
