/// Sets of an Abaqus deck: those of elements become groups, those of nodes stay sets.
#include "io/io_mesh_inp.h"

#include <stdlib.h>
#include <string.h>

sn_status sn_inp_map_nodes(sn_inp_reader *inp, sn_text *text) {
    int32_t duplicate = -1, count = inp->mesh.data->vertex_count;
    if (inp->nodes_are_mapped || count == 0)
        return SN_OK;
    sn_tag_map_release(text->ctx, &inp->nodes);
    sn_status status = sn_tag_map_make(text->ctx, count, inp->tag, &inp->nodes, &duplicate);
    if (status < 0)
        return status;
    inp->nodes_are_mapped = true;
    return duplicate < 0
               ? SN_OK
               : sn_text_fail(text, "found node %d twice before this line, expected each number once",
                              inp->tag[duplicate]);
}

// ---- Sets become groups

static int compare_elements(const void *left, const void *right) {
    const sn_inp_element *a = left, *b = right;
    return a->tag != b->tag ? (a->tag < b->tag ? -1 : 1) : 0;
}

static int32_t *group_of(sn_inp_reader *inp, const sn_inp_element *element) {
    sn_cell_list *list = element->list == 'e'   ? &inp->mesh.edges
                         : element->list == 'f' ? &inp->mesh.faces
                                                : &inp->mesh.tets;
    list->has_group = true;
    return &list->group[element->place];
}

/// First element from `i` on that has no group; the way is made shorter for the next time.
static int32_t next_free(sn_inp_reader *inp, int32_t i) {
    int32_t end = i;
    while (end < (int32_t)inp->element_count && inp->element[end].next != end)
        end = inp->element[end].next;
    while (i < (int32_t)inp->element_count && inp->element[i].next != end && i != end) {
        int32_t next = inp->element[i].next;
        inp->element[i].next = end;
        i = next;
    }
    return end;
}

/// First element with a number of at least `tag`.
static int32_t find_element(const sn_inp_reader *inp, int32_t tag) {
    int32_t low = 0, high = (int32_t)inp->element_count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (inp->element[middle].tag < tag)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static sn_status group_of_set(sn_inp_reader *inp, int32_t set, int32_t *out_group) {
    const char *name = inp->element_sets.names.name[set];
    return sn_name_table_add(inp->mesh.ctx, &inp->mesh.groups, (sn_word){name, strlen(name)}, out_group);
}

static sn_status take_element(sn_inp_reader *inp, int32_t i, int32_t set) {
    int32_t group = -1;
    sn_status status = group_of_set(inp, set, &group);
    if (status < 0)
        return status;
    *group_of(inp, &inp->element[i]) = group;
    inp->element[i].next = i + 1;
    return SN_OK;
}

/// Counts steps, of which sets that name one another could ask for very many.
static sn_status count_work(sn_inp_reader *inp, int64_t limit) {
    return inp->work++ < limit
               ? SN_OK
               : sn_fail(inp->mesh.ctx, SN_ERR_READ,
                         "%s: found sets that list others over and over; list the elements or nodes "
                         "themselves",
                         inp->mesh.text->path);
}

static int64_t work_limit(const sn_inp_reader *inp) {
    return 1000000 + 1000 * ((int64_t)inp->element_count + (int64_t)inp->mesh.data->vertex_count +
                             (int64_t)inp->element_sets.range_count + (int64_t)inp->node_sets.range_count);
}

/// Gives the elements of a range that have no group that of a set.
static sn_status apply_range(sn_inp_reader *inp, const sn_inp_range *range, int32_t set) {
    sn_status status = SN_OK;
    int32_t count = (int32_t)inp->element_count;
    for (int32_t i = next_free(inp, find_element(inp, range->first));
         i < count && inp->element[i].tag <= range->last; i = next_free(inp, i + 1)) {
        SN_TRY(count_work(inp, work_limit(inp)));
        if (((int64_t)inp->element[i].tag - range->first) % range->step == 0)
            SN_TRY(take_element(inp, i, set));
    }
cleanup:
    return status;
}

/// Gives the elements of `from` that have no group that of `set`.
static sn_status apply_set(sn_inp_reader *inp, int32_t from, int32_t set, int32_t depth) {
    sn_status status = SN_OK;
    if (depth > SN_INP_DEPTH_MAX)
        return sn_fail(inp->mesh.ctx, SN_ERR_READ,
                       "%s: found the set %s inside more than %d others; does a set list "
                       "itself?",
                       inp->mesh.text->path, inp->element_sets.names.name[from], SN_INP_DEPTH_MAX);
    for (size_t i = 0; i < inp->element_sets.range_count; i++) {
        const sn_inp_range *range = &inp->element_sets.range[i];
        SN_TRY(count_work(inp, work_limit(inp)));
        if (range->set == from)
            SN_TRY(range->other >= 0 ? apply_set(inp, range->other, set, depth + 1)
                                     : apply_range(inp, range, set));
    }
    for (int32_t i = next_free(inp, 0); i < (int32_t)inp->element_count; i = next_free(inp, i + 1)) {
        SN_TRY(count_work(inp, work_limit(inp)));
        if (inp->element[i].set == from)
            SN_TRY(take_element(inp, i, set));
    }
cleanup:
    return status;
}

/// Applies the sets that are sections, or those that are none. The last range that lists an element counts,
/// so that they are applied from the last to the first.
static sn_status apply_lists(sn_inp_reader *inp, bool sections) {
    sn_status status = SN_OK;
    for (size_t i = inp->element_sets.range_count; i > 0; i--) {
        const sn_inp_range *range = &inp->element_sets.range[i - 1];
        if (inp->is_section[range->set] == sections)
            SN_TRY(range->other >= 0 ? apply_set(inp, range->other, range->set, 1)
                                     : apply_range(inp, range, range->set));
    }
    for (int32_t i = next_free(inp, 0); i < (int32_t)inp->element_count; i = next_free(inp, i + 1)) {
        int32_t set = inp->element[i].set;
        if (set >= 0 && inp->is_section[set] == sections)
            SN_TRY(take_element(inp, i, set));
    }
cleanup:
    return status;
}

sn_status sn_inp_take_groups(sn_inp_reader *inp) {
    sn_status status = SN_OK;
    if (inp->element_count == 0)
        return SN_OK;
    if (inp->element_count > INT32_MAX - 1)
        return sn_fail(inp->mesh.ctx, SN_ERR_READ, "%s: found %zu elements, expected up to %d",
                       inp->mesh.text->path, inp->element_count, INT32_MAX - 1);
    qsort(inp->element, inp->element_count, sizeof *inp->element, compare_elements);
    for (size_t i = 0; i < inp->element_count; i++) {
        if (i > 0 && inp->element[i].tag == inp->element[i - 1].tag)
            return sn_fail(inp->mesh.ctx, SN_ERR_READ,
                           "%s: found element %d twice, expected each number once", inp->mesh.text->path,
                           inp->element[i].tag);
        inp->element[i].next = (int32_t)i;
    }
    SN_TRY(apply_lists(inp, true));
    SN_TRY(apply_lists(inp, false));
cleanup:
    return status;
}

// ---- Sets of nodes

/// Vertices of the set that is being gathered, each once.
typedef struct inp_gathering {
    int32_t set;
    int32_t *seen_in; ///< [vertex_count] the last set that has it, or -1
    int32_t *vertex;
    size_t count, capacity;
} inp_gathering;

static sn_status gather_vertex(sn_inp_reader *inp, inp_gathering *gathering, int32_t vertex) {
    if (vertex < 0 || gathering->seen_in[vertex] == gathering->set)
        return SN_OK;
    sn_status status = sn_grow(inp->mesh.ctx, (void **)&gathering->vertex, &gathering->capacity,
                               gathering->count + 1, sizeof *gathering->vertex);
    if (status < 0)
        return status;
    gathering->seen_in[vertex] = gathering->set;
    gathering->vertex[gathering->count++] = vertex;
    return SN_OK;
}

/// Goes through the numbers of a range or, where these are more, through all nodes.
static sn_status gather_numbers(sn_inp_reader *inp, inp_gathering *gathering, const sn_inp_range *range) {
    sn_status status = SN_OK;
    const int64_t first = range->first, last = range->last, step = range->step;
    const int32_t count = inp->mesh.data->vertex_count;
    const bool few = (last - first) / step < count;
    for (int64_t tag = first; few && tag <= last; tag += step) {
        SN_TRY(count_work(inp, work_limit(inp)));
        SN_TRY(gather_vertex(inp, gathering, sn_tag_map_find(&inp->nodes, tag)));
    }
    for (int32_t v = 0; !few && v < count; v++) {
        const int64_t tag = inp->tag[v];
        SN_TRY(count_work(inp, work_limit(inp)));
        if (tag >= first && tag <= last && (tag - first) % step == 0)
            SN_TRY(gather_vertex(inp, gathering, v));
    }
cleanup:
    return status;
}

/// Numbers that no node has are passed over, as other programs do.
static sn_status gather_range(sn_inp_reader *inp, inp_gathering *gathering, const sn_inp_range *range) {
    sn_status status = SN_OK;
    if (!range->of_places)
        return gather_numbers(inp, gathering, range);
    for (int32_t v = range->first; v <= range->last; v++) {
        SN_TRY(count_work(inp, work_limit(inp)));
        SN_TRY(gather_vertex(inp, gathering, v));
    }
cleanup:
    return status;
}

/// Gathers the vertices of a set; `first_range` [names.count + 1] tells where its ranges begin in `order`.
static sn_status gather_set(sn_inp_reader *inp, inp_gathering *gathering, const int32_t *first_range,
                            const int32_t *order, int32_t set, int32_t depth) {
    sn_status status = SN_OK;
    const sn_inp_sets *sets = &inp->node_sets;
    if (depth > SN_INP_DEPTH_MAX)
        return sn_fail(inp->mesh.ctx, SN_ERR_READ,
                       "%s: found the set of nodes %s inside more than %d others; does a set list itself?",
                       inp->mesh.text->path, sets->names.name[set], SN_INP_DEPTH_MAX);
    for (int32_t i = first_range[set]; i < first_range[set + 1]; i++) {
        const sn_inp_range *range = &sets->range[order[i]];
        SN_TRY(count_work(inp, work_limit(inp)));
        SN_TRY(range->other >= 0 ? gather_set(inp, gathering, first_range, order, range->other, depth + 1)
                                 : gather_range(inp, gathering, range));
    }
cleanup:
    return status;
}

/// Lists the ranges by set, those of a set in the order of the file.
static void sort_ranges(const sn_inp_sets *sets, int32_t *first_range, int32_t *order) {
    const int32_t count = sets->names.count;
    for (size_t i = 0; i < sets->range_count; i++)
        first_range[sets->range[i].set + 1]++;
    for (int32_t s = 0; s < count; s++)
        first_range[s + 1] += first_range[s];
    for (size_t i = sets->range_count; i > 0; i--)
        order[--first_range[sets->range[i - 1].set + 1]] = (int32_t)(i - 1);
    // Filling from the back has moved each end to its beginning.
    for (int32_t s = 0; s < count; s++)
        first_range[s] = first_range[s + 1];
    first_range[count] = (int32_t)sets->range_count;
}

sn_status sn_inp_take_node_sets(sn_inp_reader *inp) {
    sn_status status = SN_OK;
    sn_context *ctx = inp->mesh.ctx;
    const sn_inp_sets *sets = &inp->node_sets;
    int32_t *first_range = NULL, *order = NULL;
    inp_gathering gathering = {0};
    if (sets->names.count == 0 || inp->mesh.data->vertex_count == 0)
        return SN_OK;
    if (sets->range_count > INT32_MAX - 1)
        return sn_fail(ctx, SN_ERR_READ, "%s: found %zu lines of sets of nodes, expected up to %d",
                       inp->mesh.text->path, sets->range_count, INT32_MAX - 1);
    SN_TRY(sn_inp_map_nodes(inp, inp->mesh.text));
    SN_TRY_NEW_ZEROED(ctx, first_range, (size_t)sets->names.count + 1);
    SN_TRY_NEW(ctx, order, sets->range_count);
    SN_TRY_NEW(ctx, gathering.seen_in, inp->mesh.data->vertex_count);
    for (int32_t v = 0; v < inp->mesh.data->vertex_count; v++)
        gathering.seen_in[v] = -1;
    sort_ranges(sets, first_range, order);
    for (gathering.set = 0; gathering.set < sets->names.count; gathering.set++) {
        gathering.count = 0;
        SN_TRY(gather_set(inp, &gathering, first_range, order, gathering.set, 0));
        SN_TRY(sn_mesh_data_add_set(inp->mesh.data, sets->names.name[gathering.set], (int32_t)gathering.count,
                                    gathering.vertex));
    }
cleanup:
    SN_RELEASE(ctx, first_range);
    SN_RELEASE(ctx, order);
    SN_RELEASE(ctx, gathering.seen_in);
    SN_RELEASE(ctx, gathering.vertex);
    return status;
}
