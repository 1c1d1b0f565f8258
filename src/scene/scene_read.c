#include "scene/scene_read.h"

#include <stdio.h>
#include <string.h>

enum { ALLOWED_SIZE = 512, VALUE_SIZE = 128, NAME_MAX = 64 };

// ---- Paths and messages

/// Appends a key or an index to the path and returns the length to go back to.
static size_t enter_key(sn_scene_reader *reader, const char *key) {
    size_t length = strlen(reader->path);
    sn_text_append(reader->path, sizeof reader->path, "%s%.100s", length ? "." : "", key);
    return length;
}

static size_t enter_index(sn_scene_reader *reader, int32_t index) {
    size_t length = strlen(reader->path);
    sn_text_append(reader->path, sizeof reader->path, "[%d]", (int)index);
    return length;
}

static void leave(sn_scene_reader *reader, size_t length) {
    reader->path[length] = '\0';
}

/// "number, > 0 Pa": type and range of a row.
static const char *allowed_text(const sn_scene_reader *reader, const sn_field *field, char *text,
                                size_t size) {
    char range[ALLOWED_SIZE];
    sn_field_type_text(field, text, size);
    sn_field_range_text(field, &reader->units, range, sizeof range);
    if (range[0])
        sn_text_append(text, size, ", %s", range);
    return text;
}

static sn_status wrong_type(const sn_scene_reader *reader, const sn_field *field, const sn_node *node) {
    char value[VALUE_SIZE], allowed[ALLOWED_SIZE];
    return sn_node_fail(reader->source, node, reader->path, "%s has the wrong type; allowed: %s",
                        sn_node_text(node, value, sizeof value),
                        allowed_text(reader, field, allowed, sizeof allowed));
}

static sn_status out_of_range(const sn_scene_reader *reader, const sn_field *field, const sn_node *node) {
    char value[VALUE_SIZE], allowed[ALLOWED_SIZE];
    return sn_node_fail(reader->source, node, reader->path, "%s is out of range; allowed: %s",
                        sn_node_text(node, value, sizeof value),
                        sn_field_range_text(field, &reader->units, allowed, sizeof allowed));
}

/// Lists the keys of a table once each; keeps the one nearest to `word`.
static void list_keys(const sn_field_table *table, const char *word, char *text, size_t size,
                      const char **nearest) {
    const char *before = NULL;
    for (size_t i = 0; i < table->row_count; i++) {
        const sn_field *field = &table->rows[i];
        if (field->kind == SN_FIELD_INCLUDE)
            list_keys(field->table, word, text, size, nearest);
        if (!field->key || (before && strcmp(before, field->key) == 0))
            continue;
        before = field->key;
        sn_text_append(text, size, "%s%s", text[0] ? ", " : "", field->key);
        if (word)
            sn_text_nearest(word, field->key, nearest);
    }
}

static sn_status unknown_key(const sn_scene_reader *reader, const sn_field_table *table,
                             const sn_node *child) {
    char known[ALLOWED_SIZE] = "", value[VALUE_SIZE];
    const char *nearest = NULL;
    list_keys(table, child->key, known, sizeof known, &nearest);
    return sn_node_fail(reader->source, child, reader->path, "unknown key (value %s)%s%s; allowed: %s",
                        sn_node_text(child, value, sizeof value), nearest ? "; did you mean " : "",
                        nearest ? nearest : "", known);
}

// ---- Plain values

static sn_status read_number(const sn_scene_reader *reader, const sn_field *field, const sn_node *node,
                             double *out) {
    double value = 0;
    int bad = node->kind == SN_NODE_SCALAR && node->plain ? sn_text_to_real(node->text, &value) : 1;
    if (bad == 1)
        return wrong_type(reader, field, node);
    value *= sn_field_unit_scale(field, &reader->units);
    if (bad || !sn_field_in_range(field, value))
        return out_of_range(reader, field, node);
    *out = value;
    return SN_OK;
}

static sn_status read_integer(const sn_scene_reader *reader, const sn_field *field, const sn_node *node,
                              int32_t *out) {
    double value = 0;
    sn_status status = read_number(reader, field, node, &value);
    if (status < 0)
        return status;
    if (value != floor(value))
        return wrong_type(reader, field, node);
    if (!(value >= INT32_MIN && value <= INT32_MAX))
        return out_of_range(reader, field, node);
    *out = (int32_t)value;
    return SN_OK;
}

/// What a row says about one of its numbers.
static sn_field part_of(const sn_field *field, sn_field_kind kind) {
    sn_field part = *field;
    part.kind = kind;
    part.nonzero = part.each_nonzero = false;
    return part;
}

static sn_status read_vector(sn_scene_reader *reader, const sn_field *field, const sn_node *node,
                             double *out) {
    double value[3];
    const sn_field part = part_of(field, SN_FIELD_REAL);
    if (node->kind != SN_NODE_LIST || node->child_count != 3)
        return wrong_type(reader, field, node);
    int i = 0;
    for (const sn_node *item = node->first; item; item = item->next, i++) {
        size_t length = enter_index(reader, i);
        sn_status status = read_number(reader, &part, item, &value[i]);
        if (status < 0)
            return status;
        leave(reader, length);
    }
    bool zero = value[0] == 0 && value[1] == 0 && value[2] == 0;
    bool some_zero = value[0] == 0 || value[1] == 0 || value[2] == 0;
    if ((field->nonzero && zero) || (field->each_nonzero && some_zero))
        return out_of_range(reader, field, node);
    memcpy(out, value, sizeof value);
    return SN_OK;
}

static sn_status read_switch(const sn_scene_reader *reader, const sn_field *field, const sn_node *node,
                             bool *out) {
    bool is_true = node->kind == SN_NODE_SCALAR && node->plain && strcmp(node->text, "true") == 0;
    bool is_false = node->kind == SN_NODE_SCALAR && node->plain && strcmp(node->text, "false") == 0;
    if (!is_true && !is_false)
        return wrong_type(reader, field, node);
    if (is_false && field->only_true)
        return out_of_range(reader, field, node);
    *out = is_true;
    return SN_OK;
}

static sn_status read_choice(const sn_scene_reader *reader, const sn_field *field, const sn_node *node,
                             void *out) {
    char allowed[ALLOWED_SIZE];
    const char *nearest = NULL;
    if (node->kind != SN_NODE_SCALAR || sn_node_is_null(node))
        return wrong_type(reader, field, node);
    for (int32_t i = 0; field->choices[i].name; i++) {
        if (strcmp(field->choices[i].name, node->text) == 0) {
            memcpy(out, &i, sizeof i);
            return SN_OK;
        }
        sn_text_nearest(node->text, field->choices[i].name, &nearest);
    }
    return sn_node_fail(reader->source, node, reader->path, "%.60s is out of range%s%s; allowed: %s",
                        node->text, nearest ? "; did you mean " : "", nearest ? nearest : "",
                        sn_field_range_text(field, &reader->units, allowed, sizeof allowed));
}

static sn_status read_text(const sn_scene_reader *reader, const sn_field *field, const sn_node *node,
                           const char **out) {
    if (node->kind != SN_NODE_SCALAR || sn_node_is_null(node) || !node->text[0])
        return wrong_type(reader, field, node);
    *out = node->text;
    return SN_OK;
}

/// "bones.1-2" is a bone of the skeleton "bones"; whether there is such a bone shows when its file is read.
static bool names_bone(const sn_node *section, const char *name) {
    for (const sn_node *entry = section ? section->first : NULL; entry; entry = entry->next) {
        size_t length = entry->key ? strlen(entry->key) : 0;
        // Bodies are made too, but have no radius.
        bool skeleton =
            sn_node_find(entry, "skeleton") || (sn_node_find(entry, "make") && sn_node_find(entry, "radius"));
        if (length && skeleton && strncmp(entry->key, name, length) == 0 && name[length] == '.')
            return true;
    }
    return false;
}

/// Lists the names of a section's entries; keeps the one nearest to `word`.
static void list_names(const sn_node *section, const char *word, char *text, size_t size,
                       const char **nearest) {
    bool named = section && section->kind == SN_NODE_MAP;
    for (const sn_node *entry = named ? section->first : NULL; entry; entry = entry->next) {
        sn_text_append(text, size, "%s%.64s", text[0] ? ", " : "", entry->key);
        sn_text_nearest(word, entry->key, nearest);
    }
}

static sn_status read_reference(const sn_scene_reader *reader, const sn_field *field, const sn_node *node,
                                const char **out) {
    sn_status status = read_text(reader, field, node, out);
    if (status < 0)
        return status;
    const sn_node *section[2] = {sn_node_find(reader->root, field->section),
                                 field->section2 ? sn_node_find(reader->root, field->section2) : NULL};
    char known[ALLOWED_SIZE] = "";
    const char *nearest = NULL;
    for (int i = 0; i < 2; i++) {
        if (sn_node_find(section[i], *out) || names_bone(section[i], *out))
            return SN_OK;
        list_names(section[i], *out, known, sizeof known, &nearest);
    }
    return sn_node_fail(reader->source, node, reader->path, "%.60s is no name under %s%s%s%s%s; allowed: %s",
                        *out, field->section, field->section2 ? " or " : "",
                        field->section2 ? field->section2 : "", nearest ? "; did you mean " : "",
                        nearest ? nearest : "",
                        known[0] ? known : "none, because the section is missing or empty");
}

static sn_status read_pair(sn_scene_reader *reader, const sn_field *field, const sn_node *node,
                           const char **out) {
    if (node->kind != SN_NODE_LIST || node->child_count != 2)
        return wrong_type(reader, field, node);
    int32_t i = 0;
    for (const sn_node *child = node->first; child; child = child->next, i++) {
        size_t length = enter_index(reader, i);
        sn_status status = read_reference(reader, field, child, out + i);
        if (status < 0)
            return status;
        leave(reader, length);
    }
    return SN_OK;
}

// ---- Lists

/// Where a list's memory and count go in the struct.
static sn_status new_list(sn_scene_reader *reader, const sn_field *field, void *item, int32_t count,
                          size_t size, void **out_list) {
    sn_status status = sn_scene_pool_new(reader->pool, (size_t)count, size, out_list);
    if (status < 0)
        return status;
    memcpy((char *)item + field->offset, out_list, sizeof *out_list);
    memcpy((char *)item + field->count_offset, &count, sizeof count);
    return SN_OK;
}

static sn_status read_integers(sn_scene_reader *reader, const sn_field *field, const sn_node *node,
                               void *item) {
    void *list = NULL;
    const sn_field part = part_of(field, SN_FIELD_INT);
    if (node->kind != SN_NODE_LIST || node->child_count == 0)
        return wrong_type(reader, field, node);
    sn_status status = new_list(reader, field, item, node->child_count, sizeof(int32_t), &list);
    int32_t i = 0;
    for (const sn_node *child = node->first; child && status == SN_OK; child = child->next, i++) {
        size_t length = enter_index(reader, i);
        status = read_integer(reader, &part, child, (int32_t *)list + i);
        if (status == SN_OK)
            leave(reader, length);
    }
    return status;
}

static sn_status read_references(sn_scene_reader *reader, const sn_field *field, const sn_node *node,
                                 void *item) {
    void *list = NULL;
    bool single = node->kind == SN_NODE_SCALAR;
    if (node->kind == SN_NODE_MAP || (!single && node->child_count == 0))
        return wrong_type(reader, field, node);
    sn_status status = new_list(reader, field, item, single ? 1 : node->child_count, sizeof(char *), &list);
    if (status == SN_OK && single)
        return read_reference(reader, field, node, list);
    int32_t i = 0;
    for (const sn_node *child = node->first; child && status == SN_OK; child = child->next, i++) {
        size_t length = enter_index(reader, i);
        status = read_reference(reader, field, child, (const char **)list + i);
        if (status == SN_OK)
            leave(reader, length);
    }
    return status;
}

static sn_status read_named(sn_scene_reader *reader, const sn_field *field, const sn_node *node, void *item) {
    void *list = NULL;
    bool single = node->kind == SN_NODE_SCALAR;
    if (node->kind == SN_NODE_LIST || (!single && node->child_count == 0))
        return wrong_type(reader, field, node);
    sn_status status =
        new_list(reader, field, item, single ? 1 : node->child_count, sizeof(sn_field_named), &list);
    sn_field_named *entry = list;
    if (status == SN_OK && single)
        return read_reference(reader, field, node, (const char **)&entry->name);
    for (const sn_node *child = node->first; child && status == SN_OK; child = child->next, entry++) {
        size_t length = enter_key(reader, child->key);
        status = read_reference(reader, field, child, (const char **)&entry->name);
        if (status == SN_OK && strcmp(child->key, "default") != 0)
            status = sn_scene_pool_text(reader->pool, child->key, strlen(child->key), &entry->key);
        if (status == SN_OK)
            leave(reader, length);
    }
    return status;
}

static sn_status read_flags(sn_scene_reader *reader, const sn_field *field, const sn_node *node, void *item) {
    const sn_field_table *table = field->table;
    char *flags = (char *)item + field->offset, allowed[ALLOWED_SIZE];
    if (node->kind != SN_NODE_LIST)
        return wrong_type(reader, field, node);
    for (size_t i = 0; i < table->row_count; i++)
        *(bool *)(flags + table->rows[i].offset) = false;
    int32_t index = 0;
    for (const sn_node *child = node->first; child; child = child->next, index++) {
        const char *nearest = NULL;
        bool known = false;
        size_t length = enter_index(reader, index);
        if (child->kind != SN_NODE_SCALAR)
            return wrong_type(reader, field, child);
        for (size_t i = 0; i < table->row_count; i++) {
            bool same = strcmp(table->rows[i].key, child->text) == 0;
            if (same)
                *(bool *)(flags + table->rows[i].offset) = true;
            known = known || same;
            sn_text_nearest(child->text, table->rows[i].key, &nearest);
        }
        if (!known)
            return sn_node_fail(reader->source, child, reader->path, "%.60s is out of range%s%s; allowed: %s",
                                child->text, nearest ? "; did you mean " : "", nearest ? nearest : "",
                                sn_field_range_text(field, &reader->units, allowed, sizeof allowed));
        leave(reader, length);
    }
    return SN_OK;
}

/// Names go into file names, paths of overrides and names of bones, so they are kept plain.
static sn_status check_name(const sn_scene_reader *reader, const sn_node *entry) {
    size_t length = strlen(entry->key);
    bool good = length > 0 && length <= NAME_MAX;
    for (const unsigned char *c = (const unsigned char *)entry->key; *c && good; c++)
        good = *c >= 0x80 || strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", *c);
    if (good)
        return SN_OK;
    return sn_node_fail(reader->source, entry, reader->path,
                        "%.64s is no good name; allowed: 1 to %d letters, digits, _ and -", entry->key,
                        (int)NAME_MAX);
}

static sn_status read_item(sn_scene_reader *reader, const sn_field_table *table, const sn_node *node,
                           void *item) {
    sn_field_defaults(table, item);
    if (table->name_offset != SN_FIELD_NONE)
        memcpy((char *)item + table->name_offset, &node->key, sizeof node->key);
    if (table->place_offset != SN_FIELD_NONE)
        memcpy((char *)item + table->place_offset, (const void *)&node, sizeof node);
    return sn_scene_read(reader, table, node, item);
}

static sn_status read_items(sn_scene_reader *reader, const sn_field *field, const sn_node *node, void *item) {
    const sn_field_table *table = field->table;
    void *list = NULL;
    bool is_map = field->kind == SN_FIELD_MAP;
    bool is_ours = node->kind == (is_map ? SN_NODE_MAP : SN_NODE_LIST);
    // Programs that write scenes leave empty sections.
    if (is_ours && node->child_count == 0 && !field->required)
        return SN_OK;
    if (!is_ours || node->child_count == 0)
        return wrong_type(reader, field, node);
    sn_status status = new_list(reader, field, item, node->child_count, table->size, &list);
    char *entry = list;
    int32_t index = 0;
    for (const sn_node *child = node->first; child && status == SN_OK;
         child = child->next, entry += table->size) {
        if (is_map)
            status = check_name(reader, child);
        if (status < 0)
            break;
        size_t length = is_map ? enter_key(reader, child->key) : enter_index(reader, index++);
        status = read_item(reader, table, child, entry);
        if (status == SN_OK)
            leave(reader, length);
    }
    return status;
}

// ---- Tables

static sn_status read_row(sn_scene_reader *reader, const sn_field *field, const sn_node *node, void *item) {
    char *member = (char *)item + field->offset;
    switch (field->kind) {
    case SN_FIELD_BOOL:
        return read_switch(reader, field, node, (bool *)member);
    case SN_FIELD_INT:
        return read_integer(reader, field, node, (int32_t *)(void *)member);
    case SN_FIELD_REAL:
        return read_number(reader, field, node, (double *)(void *)member);
    case SN_FIELD_VEC3:
        return read_vector(reader, field, node, (double *)(void *)member);
    case SN_FIELD_CHOICE:
        return read_choice(reader, field, node, member);
    case SN_FIELD_TEXT:
        return read_text(reader, field, node, (const char **)(void *)member);
    case SN_FIELD_REFERENCE:
        return read_reference(reader, field, node, (const char **)(void *)member);
    case SN_FIELD_REFERENCES:
        return read_references(reader, field, node, item);
    case SN_FIELD_PAIR:
        return read_pair(reader, field, node, (const char **)(void *)member);
    case SN_FIELD_NAMED:
        return read_named(reader, field, node, item);
    case SN_FIELD_INTS:
        return read_integers(reader, field, node, item);
    case SN_FIELD_TABLE:
        return sn_scene_read(reader, field->table, node, member);
    case SN_FIELD_FLAGS:
        return read_flags(reader, field, node, item);
    case SN_FIELD_LIST:
    case SN_FIELD_MAP:
        return read_items(reader, field, node, item);
    case SN_FIELD_INCLUDE:
    case SN_FIELD_MARK:
    case SN_FIELD_DERIVED:
        break;
    }
    return sn_fail(reader->source->context, SN_ERR_INTERNAL, "%s: row without a key", reader->path);
}

/// A row found by its key, with the table and the struct that it belongs to (those of an included table).
typedef struct found_row {
    const sn_field *field;
    const sn_field_table *table;
    void *item;
    bool applies;
} found_row;

/// Looks for a key in a table and those it includes; of several rows the one whose condition holds.
static found_row find_row(const sn_field_table *table, void *item, const char *key) {
    found_row found = {0};
    for (size_t i = 0; i < table->row_count && !found.applies; i++) {
        const sn_field *field = &table->rows[i];
        if (field->kind == SN_FIELD_INCLUDE) {
            found_row inner = find_row(field->table, (char *)item + field->offset, key);
            if (inner.field)
                found = inner;
        } else if (field->key && strcmp(field->key, key) == 0)
            found = (found_row){field, table, item, sn_field_applies(field, item)};
    }
    return found;
}

/// What stands in the place of a map's entry: with a list of values for rows in their order, or one value for
/// a key.
typedef struct entry_list {
    const sn_node *node;
    const char *scalar_key; ///< The node is the value of this key.
    bool positional;
    const sn_field_table *table;
} entry_list;

static const sn_node *first_entry(const entry_list *list) {
    return list->scalar_key ? list->node : list->node->first;
}

static const sn_node *next_entry(const entry_list *list, const sn_node *entry) {
    return list->scalar_key ? NULL : entry->next;
}

static const char *entry_key(const entry_list *list, const sn_node *entry) {
    if (list->scalar_key)
        return list->scalar_key;
    if (!list->positional)
        return entry->key;
    size_t index = 0;
    for (const sn_node *node = list->node->first; node != entry; node = node->next)
        index++;
    return list->table->rows[index].key;
}

static const sn_node *find_entry(const entry_list *list, const char *key) {
    for (const sn_node *entry = first_entry(list); entry; entry = next_entry(list, entry))
        if (strcmp(entry_key(list, entry), key) == 0)
            return entry;
    return NULL;
}

static size_t enter_entry(sn_scene_reader *reader, const entry_list *list, const sn_node *entry) {
    // A value that stands for the whole table has no key in the file.
    return list->scalar_key ? strlen(reader->path) : enter_key(reader, entry_key(list, entry));
}

/// Writes the tag of the variant that is given, and refuses a second one and unknown keys.
static sn_status choose_variants(sn_scene_reader *reader, const entry_list *list, void *item) {
    for (const sn_node *entry = first_entry(list); entry; entry = next_entry(list, entry)) {
        size_t length = enter_entry(reader, list, entry);
        found_row found = find_row(list->table, item, entry_key(list, entry));
        if (!found.field)
            return unknown_key(reader, list->table, entry);
        for (const sn_node *other = first_entry(list); found.field->group && other != entry;
             other = next_entry(list, other)) {
            found_row rival = find_row(list->table, item, entry_key(list, other));
            if (rival.table == found.table && rival.field->group == found.field->group)
                return sn_node_fail(reader->source, entry, reader->path,
                                    "%s and %s (line %d) are both given; allowed: one of them",
                                    found.field->key, rival.field->key, (int)other->line);
        }
        if (found.field->group) {
            size_t offset = found.table->group[found.field->group - 1].tag_offset;
            memcpy((char *)found.item + offset, &found.field->tag, sizeof found.field->tag);
        }
        leave(reader, length);
    }
    return SN_OK;
}

static sn_status refuse_row(const sn_scene_reader *reader, const found_row *found, const sn_node *entry) {
    char condition[ALLOWED_SIZE], value[VALUE_SIZE];
    sn_field_condition_text(found->table, found->field, condition, sizeof condition);
    return sn_node_fail(reader->source, entry, reader->path,
                        "%s has no place here; allowed: only together with %s",
                        sn_node_text(entry, value, sizeof value), condition);
}

/// Reads the choices, or everything else: conditions depend on choices.
static sn_status read_entries(sn_scene_reader *reader, const entry_list *list, void *item, bool choices) {
    for (const sn_node *entry = first_entry(list); entry; entry = next_entry(list, entry)) {
        found_row found = find_row(list->table, item, entry_key(list, entry));
        if ((found.field->kind == SN_FIELD_CHOICE) != choices)
            continue;
        size_t length = enter_entry(reader, list, entry);
        sn_status status = found.applies ? read_row(reader, found.field, entry, found.item)
                                         : refuse_row(reader, &found, entry);
        if (status < 0)
            return status;
        leave(reader, length);
    }
    return SN_OK;
}

static void write_conditional_defaults(const sn_field_table *table, void *item) {
    sn_field_conditional_defaults(table, item);
    for (size_t i = 0; i < table->row_count; i++)
        if (table->rows[i].kind == SN_FIELD_INCLUDE)
            write_conditional_defaults(table->rows[i].table, (char *)item + table->rows[i].offset);
}

static sn_status require_group(const sn_scene_reader *reader, const sn_field_table *table,
                               const entry_list *list, uint8_t group) {
    char names[ALLOWED_SIZE] = "";
    for (size_t i = 0; i < table->row_count; i++) {
        const sn_field *field = &table->rows[i];
        if (field->group != group)
            continue;
        if (find_entry(list, field->key))
            return SN_OK;
        sn_text_append(names, sizeof names, "%s%s", names[0] ? ", " : "", field->key);
    }
    return sn_node_fail(reader->source, list->node, reader->path, "missing; allowed: one of %s", names);
}

static sn_status require_row(sn_scene_reader *reader, const sn_field *field, const entry_list *list,
                             const void *item) {
    char allowed[ALLOWED_SIZE];
    if (!field->required || !sn_field_applies(field, item) || find_entry(list, field->key))
        return SN_OK;
    enter_key(reader, field->key);
    return sn_node_fail(reader->source, list->node, reader->path, "missing; allowed: %s",
                        allowed_text(reader, field, allowed, sizeof allowed));
}

/// The table's own rule; the message stands at the field that it complains about.
static sn_status check_rules(sn_scene_reader *reader, const sn_field_table *table, const entry_list *list,
                             const void *item) {
    sn_field_complaint complaint;
    char value[VALUE_SIZE] = "nothing";
    if (!table->check || table->check(item, &complaint))
        return SN_OK;
    const sn_node *entry = find_entry(list, complaint.key);
    if (entry)
        sn_node_text(entry, value, sizeof value);
    enter_key(reader, complaint.key);
    return sn_node_fail(reader->source, entry ? entry : list->node, reader->path,
                        "%s is out of range; allowed: %s", value, complaint.allowed);
}

static sn_status check_complete(sn_scene_reader *reader, const sn_field_table *table, const entry_list *list,
                                const void *item) {
    sn_status status = SN_OK;
    for (uint8_t group = 1; group <= sizeof table->group / sizeof *table->group && status == SN_OK; group++)
        if (table->group[group - 1].required)
            status = require_group(reader, table, list, group);
    for (size_t i = 0; i < table->row_count && status == SN_OK; i++) {
        const sn_field *field = &table->rows[i];
        status = field->kind == SN_FIELD_INCLUDE
                     ? check_complete(reader, field->table, list, (const char *)item + field->offset)
                     : require_row(reader, field, list, item);
    }
    return status == SN_OK ? check_rules(reader, table, list, item) : status;
}

/// Decides in which of its forms a table stands in the file.
static sn_status open_entries(const sn_scene_reader *reader, const sn_field_table *table, const sn_node *node,
                              entry_list *list) {
    char keys[ALLOWED_SIZE] = "", value[VALUE_SIZE];
    const char *nearest = NULL;
    *list = (entry_list){.node = node, .table = table};
    if (node->kind == SN_NODE_MAP)
        return SN_OK;
    bool full = node->kind == SN_NODE_LIST && (size_t)node->child_count == table->row_count;
    list->positional = table->positional && full;
    if (table->scalar_key && node->kind == SN_NODE_SCALAR && !sn_node_is_null(node))
        list->scalar_key = table->scalar_key;
    if (list->positional || list->scalar_key)
        return SN_OK;
    list_keys(table, NULL, keys, sizeof keys, &nearest);
    return sn_node_fail(
        reader->source, node, reader->path, "%s has the wrong type; allowed: %s%s%s with the keys %s",
        sn_node_text(node, value, sizeof value), table->word ? table->word : "", table->word ? ", or " : "",
        table->positional ? "list of values, or map," : "map", keys);
}

sn_status sn_scene_read(sn_scene_reader *reader, const sn_field_table *table, const sn_node *node,
                        void *item) {
    entry_list list;
    if (table->word && node->kind == SN_NODE_SCALAR && strcmp(node->text, table->word) == 0)
        return SN_OK;
    sn_status status = open_entries(reader, table, node, &list);
    if (status == SN_OK)
        status = choose_variants(reader, &list, item);
    if (status == SN_OK)
        status = read_entries(reader, &list, item, true);
    if (status < 0)
        return status;
    write_conditional_defaults(table, item);
    status = read_entries(reader, &list, item, false);
    return status == SN_OK ? check_complete(reader, table, &list, item) : status;
}
