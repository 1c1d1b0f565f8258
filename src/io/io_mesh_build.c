#include "io/io_mesh_build.h"

#include "base/base_util.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 64, NOTE_LINE = 512 };

// ---- What was skipped ----

void sn_skips_add(sn_skips *skips, sn_word name, int64_t line) {
    skips->total += skips->total < INT32_MAX;
    size_t size = name.size < sizeof skips->kind[0].name ? name.size : sizeof skips->kind[0].name - 1;
    for (int32_t i = 0; i < skips->kind_count; i++)
        if (strlen(skips->kind[i].name) == size && memcmp(skips->kind[i].name, name.at, size) == 0) {
            skips->kind[i].count += skips->kind[i].count < INT32_MAX;
            return;
        }
    if (skips->kind_count == SN_SKIP_KINDS)
        return;
    memcpy(skips->kind[skips->kind_count].name, name.at, size);
    skips->kind[skips->kind_count].name[size] = '\0';
    skips->kind[skips->kind_count].first_line = line;
    skips->kind[skips->kind_count++].count = 1;
}

sn_status sn_mesh_data_add_note(sn_mesh_data *data, const char *format, ...) {
    char line[NOTE_LINE];
    va_list arguments;
    va_start(arguments, format);
    sn_write_line(line, sizeof line, format, arguments);
    va_end(arguments);
    size_t size = strlen(data->note) + strlen(line) + 2;
    char *longer = NULL;
    sn_status status = sn_new(data->context, size, 1, (void **)&longer);
    if (status < 0)
        return status;
    snprintf(longer, size, "%s%s%s", data->note, data->note[0] ? "\n" : "", line);
    sn_release(data->context, data->note);
    data->note = longer;
    return SN_OK;
}

sn_status sn_mesh_data_note_skips(sn_mesh_data *data, const sn_skips *skips, const char *what) {
    sn_status status = SN_OK;
    int64_t named = 0;
    for (int32_t i = 0; i < skips->kind_count; i++) {
        named += skips->kind[i].count;
        if (skips->kind[i].first_line < 0)
            SN_TRY(sn_mesh_data_add_note(data, "skipped %d %s \"%s\"", skips->kind[i].count, what,
                                         skips->kind[i].name));
        else
            SN_TRY(sn_mesh_data_add_note(data, "skipped %d %s \"%s\", first in line %lld",
                                         skips->kind[i].count, what, skips->kind[i].name,
                                         (long long)skips->kind[i].first_line));
    }
    if (skips->total > named)
        SN_TRY(sn_mesh_data_add_note(data, "skipped %lld %s of other kinds",
                                     (long long)(skips->total - named), what));
    data->skipped += skips->total <= INT32_MAX - data->skipped ? skips->total : 0;
cleanup:
    return status;
}

sn_status sn_mesh_data_note_sections(sn_mesh_data *data, int64_t section_count) {
    if (section_count <= SN_SKIP_KINDS)
        return SN_OK;
    return sn_mesh_data_add_note(data, "skipped %lld more sections",
                                 (long long)(section_count - SN_SKIP_KINDS));
}

// ---- Names ----

/// Slot of a name, or the free slot where it belongs. At least one slot is free.
static size_t find_slot(const sn_name_table *table, sn_word name) {
    size_t slot = (size_t)sn_hash(SN_HASH_START, name.at, name.size) & (table->slot_count - 1);
    while (table->slot[slot] >= 0 && !sn_word_is(name, table->name[table->slot[slot]]))
        slot = (slot + 1) & (table->slot_count - 1);
    return slot;
}

static sn_status grow_slots(sn_context *ctx, sn_name_table *table) {
    size_t wanted = table->slot_count ? 2 * table->slot_count : FIRST_SLOTS;
    int32_t *fresh = NULL;
    sn_status status = sn_new(ctx, wanted, sizeof *fresh, (void **)&fresh);
    if (status < 0)
        return status;
    for (size_t i = 0; i < wanted; i++)
        fresh[i] = -1;
    sn_release(ctx, table->slot);
    table->slot = fresh;
    table->slot_count = wanted;
    for (int32_t i = 0; i < table->count; i++)
        table->slot[find_slot(table, (sn_word){table->name[i], strlen(table->name[i])})] = i;
    return SN_OK;
}

sn_status sn_name_table_add(sn_context *ctx, sn_name_table *table, sn_word name, int32_t *out_index) {
    sn_status status = SN_OK;
    if ((size_t)table->count * 2 >= table->slot_count)
        SN_TRY(grow_slots(ctx, table));
    size_t slot = find_slot(table, name);
    if (table->slot[slot] < 0) {
        char *copy = NULL;
        SN_TRY(sn_grow(ctx, (void **)&table->name, &table->capacity, (size_t)table->count + 1,
                       sizeof *table->name));
        SN_TRY(sn_new(ctx, name.size + 1, 1, (void **)&copy));
        memcpy(copy, name.at, name.size);
        copy[name.size] = '\0';
        table->name[table->count] = copy;
        table->slot[slot] = table->count++;
    }
    *out_index = table->slot[slot];
cleanup:
    return status;
}

int32_t sn_name_table_find(const sn_name_table *table, sn_word name) {
    return table->slot_count ? table->slot[find_slot(table, name)] : -1;
}

void sn_name_table_release(sn_context *ctx, sn_name_table *table) {
    for (int32_t i = 0; i < table->count; i++)
        sn_release(ctx, table->name[i]);
    sn_release(ctx, table->name);
    sn_release(ctx, table->slot);
    *table = (sn_name_table){0};
}

void sn_mesh_data_take_groups(sn_mesh_data *data, sn_name_table *table) {
    SN_ASSERT(data->group_count == 0);
    data->group = table->name;
    data->group_count = table->count;
    table->name = NULL;
    table->count = 0;
}

bool sn_group_name_number(const char *name, const char *prefix, int32_t *out_number) {
    size_t length = strlen(prefix);
    if (strncmp(name, prefix, length) != 0)
        return false;
    long number = strtol(name + length, NULL, 10);
    char canonical[16];
    if (number == 0 || number > INT32_MAX || number < -INT32_MAX)
        return false;
    snprintf(canonical, sizeof canonical, "%ld", number);
    if (strcmp(canonical, name + length) != 0)
        return false;
    *out_number = (int32_t)number;
    return true;
}

static int compare_ints(const void *left, const void *right) {
    int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    return a < b ? -1 : a > b;
}

/// The next number above `number` that is not in the sorted list; *place goes along the list.
static int32_t next_free(int32_t number, const int32_t *sorted, int32_t count, int32_t *place) {
    number++;
    for (; *place < count && sorted[*place] <= number; ++*place)
        if (sorted[*place] == number)
            number++;
    return number;
}

sn_status sn_group_numbers(const sn_mesh_data *data, const char *prefix, int32_t **out_numbers) {
    sn_status status = SN_OK;
    int32_t *numbers = NULL, *taken = NULL, taken_count = 0, place = 0, number = 0;
    SN_TRY_NEW(data->context, numbers, data->group_count);
    SN_TRY_NEW(data->context, taken, data->group_count);
    for (int32_t i = 0; i < data->group_count; i++)
        if (sn_group_name_number(data->group[i], prefix, &numbers[i]))
            taken[taken_count++] = numbers[i];
        else
            numbers[i] = 0; // No name has this number.
    qsort(taken, (size_t)taken_count, sizeof *taken, compare_ints);
    for (int32_t i = 0; i < data->group_count; i++)
        if (numbers[i] == 0)
            numbers[i] = number = next_free(number, taken, taken_count, &place);
    *out_numbers = numbers;
    numbers = NULL;
cleanup:
    SN_RELEASE(data->context, numbers);
    SN_RELEASE(data->context, taken);
    return status;
}

// ---- Cells ----

static size_t open_begin(const sn_cell_list *list) {
    if (list->kind != SN_CELL_POLYGON)
        return (size_t)list->count * (list->kind == SN_CELL_EDGE       ? 2
                                      : list->kind == SN_CELL_TRIANGLE ? 3
                                                                       : 4);
    return list->count ? (size_t)list->offset[list->count] : 0;
}

size_t sn_cell_list_open_size(const sn_cell_list *list) {
    return list->corner_count - open_begin(list);
}

void sn_cell_list_drop_open(sn_cell_list *list) {
    list->corner_count = open_begin(list);
}

sn_status sn_cell_list_corner(sn_context *ctx, sn_cell_list *list, int32_t vertex, int32_t uv) {
    sn_status status = SN_OK;
    size_t wanted = list->corner_count + 1;
    if (wanted > INT32_MAX)
        return sn_fail(ctx, SN_ERR_READ, "the mesh has more than %d corners of cells; split it", INT32_MAX);
    SN_TRY(sn_grow(ctx, (void **)&list->vertex, &list->vertex_capacity, wanted, sizeof *list->vertex));
    list->vertex[list->corner_count] = vertex;
    if (uv >= 0 && !list->has_uv) {
        // The corners so far had none.
        SN_TRY(sn_grow(ctx, (void **)&list->uv, &list->uv_capacity, wanted, sizeof *list->uv));
        for (size_t i = 0; i < list->corner_count; i++)
            list->uv[i] = -1;
        list->has_uv = true;
    }
    if (list->has_uv) {
        SN_TRY(sn_grow(ctx, (void **)&list->uv, &list->uv_capacity, wanted, sizeof *list->uv));
        list->uv[list->corner_count] = uv;
    }
    list->corner_count = wanted;
cleanup:
    return status;
}

sn_status sn_cell_list_close(sn_context *ctx, sn_cell_list *list, int32_t group) {
    sn_status status = SN_OK;
    size_t wanted = (size_t)list->count + 1;
    SN_TRY(sn_grow(ctx, (void **)&list->group, &list->group_capacity, wanted, sizeof *list->group));
    if (list->kind == SN_CELL_POLYGON) {
        SN_TRY(
            sn_grow(ctx, (void **)&list->offset, &list->offset_capacity, wanted + 1, sizeof *list->offset));
        list->offset[0] = 0;
        list->only_triangles =
            (list->count == 0 || list->only_triangles) && sn_cell_list_open_size(list) == 3;
        list->offset[wanted] = (int32_t)list->corner_count;
    }
    list->group[list->count++] = group;
    list->has_group = list->has_group || group >= 0;
cleanup:
    return status;
}

void sn_cell_list_release(sn_context *ctx, sn_cell_list *list) {
    sn_release(ctx, list->offset);
    sn_release(ctx, list->vertex);
    sn_release(ctx, list->uv);
    sn_release(ctx, list->group);
    *list = (sn_cell_list){.kind = list->kind};
}

/// Moves a list into a block.
static void list_to_block(sn_context *ctx, sn_cell_list *list, sn_cell_block *block) {
    if (list->only_triangles && list->kind == SN_CELL_POLYGON) {
        list->kind = SN_CELL_TRIANGLE;
        SN_RELEASE(ctx, list->offset);
    }
    if (!list->has_group)
        SN_RELEASE(ctx, list->group);
    *block = (sn_cell_block){list->kind, list->count, list->offset, list->vertex, list->group, list->uv};
    *list = (sn_cell_list){.kind = list->kind};
}

sn_status sn_mesh_data_take_cells(sn_mesh_data *data, int32_t list_count, sn_cell_list *lists) {
    SN_ASSERT(data->block_count == 0);
    int32_t used = 0;
    for (int32_t i = 0; i < list_count; i++)
        used += lists[i].count > 0;
    if (used == 0)
        return SN_OK;
    sn_status status = sn_new_zeroed(data->context, (size_t)used, sizeof *data->block, (void **)&data->block);
    if (status < 0)
        return status;
    for (int32_t i = 0; i < list_count; i++)
        if (lists[i].count > 0)
            list_to_block(data->context, &lists[i], &data->block[data->block_count++]);
    return SN_OK;
}

static int64_t visit_polygons(const sn_cell_block *block, sn_simplex_visit *visit, void *user) {
    int64_t count = 0;
    for (int32_t i = 0; i < block->count; i++)
        for (int32_t c = block->offset[i] + 1; c + 1 < block->offset[i + 1]; c++, count++) {
            int32_t triangle[3] = {block->vertex[block->offset[i]], block->vertex[c], block->vertex[c + 1]};
            if (visit)
                visit(user, triangle, 3, block->group ? block->group[i] : -1);
        }
    return count;
}

int64_t sn_mesh_data_each_simplex(const sn_mesh_data *data, int32_t size, sn_simplex_visit *visit,
                                  void *user) {
    static const int32_t sizes[] = {[SN_CELL_EDGE] = 2, [SN_CELL_TRIANGLE] = 3, [SN_CELL_TET] = 4};
    int64_t count = 0;
    for (int32_t b = 0; b < data->block_count; b++) {
        const sn_cell_block *block = &data->block[b];
        if (block->kind == SN_CELL_POLYGON) {
            count += size == 3 ? visit_polygons(block, visit, user) : 0;
        } else if (sizes[block->kind] == size) {
            count += block->count;
            for (int32_t i = 0; visit && i < block->count; i++)
                visit(user, block->vertex + (size_t)i * (size_t)size, size,
                      block->group ? block->group[i] : -1);
        }
    }
    return count;
}

// ---- Node numbers ----

typedef struct sn_tag {
    int64_t tag;
    int32_t place;
} sn_tag;

static int compare_tags(const void *left, const void *right) {
    const sn_tag *a = left, *b = right;
    if (a->tag != b->tag)
        return a->tag < b->tag ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

static bool tags_are_contiguous(int32_t count, const int64_t *tags) {
    for (int32_t i = 1; i < count; i++)
        if ((uint64_t)tags[i] - (uint64_t)i != (uint64_t)tags[0])
            return false;
    return true;
}

sn_status sn_tag_map_make(sn_context *ctx, int32_t count, const int32_t *tags, sn_tag_map *out_map,
                          int32_t *out_duplicate) {
    sn_status status = SN_OK;
    int64_t *wide = NULL;
    SN_TRY_NEW(ctx, wide, count);
    for (int32_t i = 0; i < count; i++)
        wide[i] = tags[i];
    SN_TRY(sn_tag_map_make_long(ctx, count, wide, out_map, out_duplicate));
cleanup:
    SN_RELEASE(ctx, wide);
    return status;
}

sn_status sn_tag_map_make_long(sn_context *ctx, int32_t count, const int64_t *tags, sn_tag_map *out_map,
                               int32_t *out_duplicate) {
    sn_tag_map map = {.count = count, .first = count ? tags[0] : 0};
    *out_duplicate = -1;
    if (!tags_are_contiguous(count, tags)) {
        sn_status status = sn_new(ctx, (size_t)count, sizeof *map.sorted, (void **)&map.sorted);
        if (status < 0)
            return status;
        for (int32_t i = 0; i < count; i++)
            map.sorted[i] = (sn_tag){tags[i], i};
        qsort(map.sorted, (size_t)count, sizeof *map.sorted, compare_tags);
        for (int32_t i = 1; i < count; i++)
            if (map.sorted[i].tag == map.sorted[i - 1].tag &&
                (*out_duplicate < 0 || map.sorted[i].place < *out_duplicate))
                *out_duplicate = map.sorted[i].place;
    }
    *out_map = map;
    return SN_OK;
}

int32_t sn_tag_map_find(const sn_tag_map *map, int64_t tag) {
    if (!map->sorted) {
        uint64_t place = (uint64_t)tag - (uint64_t)map->first;
        return place < (uint64_t)map->count ? (int32_t)place : -1;
    }
    int32_t low = 0, high = map->count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (map->sorted[middle].tag < tag)
            low = middle + 1;
        else
            high = middle;
    }
    return low < map->count && map->sorted[low].tag == tag ? map->sorted[low].place : -1;
}

void sn_tag_map_release(sn_context *ctx, sn_tag_map *map) {
    SN_RELEASE(ctx, map->sorted);
}
