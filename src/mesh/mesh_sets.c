/// Named sets of vertices of neutral meshes, and of nodes of checked ones.
#include "mesh/mesh_internal.h"

#include <stdlib.h>
#include <string.h>

void sn_vertex_sets_release(sn_context *ctx, int32_t count, sn_vertex_set *sets) {
    for (int32_t i = 0; sets && i < count; i++) {
        sn_release(ctx, sets[i].name);
        sn_release(ctx, sets[i].vertex);
    }
    sn_release(ctx, sets);
}

/// Appends a copy to *sets [*count], which has room for the next power of two.
static sn_status add_set(sn_context *ctx, int32_t *count, sn_vertex_set **sets, const char *name,
                         int32_t vertex_count, const int32_t *vertex) {
    sn_status status = SN_OK;
    sn_vertex_set *grown = NULL, set = {.count = vertex_count};
    if ((*count & (*count - 1)) == 0)
        SN_TRY_NEW(ctx, grown, *count > 0 ? 2 * (size_t)*count : 1);
    SN_TRY(sn_new_text(ctx, name, &set.name));
    if (vertex_count > 0)
        SN_TRY(sn_new_copy(ctx, vertex, (size_t)vertex_count, sizeof *vertex, (void **)&set.vertex));
    if (grown) {
        if (*count > 0)
            memcpy(grown, *sets, (size_t)*count * sizeof *grown);
        sn_release(ctx, *sets);
        *sets = grown;
        grown = NULL;
    }
    (*sets)[(*count)++] = set;
    set = (sn_vertex_set){0};
cleanup:
    SN_RELEASE(ctx, grown);
    SN_RELEASE(ctx, set.name);
    return status;
}

sn_status sn_mesh_data_add_set(sn_mesh_data *data, const char *name, int32_t count, const int32_t *vertex) {
    if (!data)
        return SN_ERR_INVALID_ARGUMENT;
    if (!name || count < 0 || (count > 0 && !vertex))
        return sn_fail(data->context, SN_ERR_INVALID_ARGUMENT,
                       "sn_mesh_data_add_set: name or vertex is NULL, or count = %d is negative", count);
    for (int32_t i = 0; i < count; i++)
        if (vertex[i] < 0 || vertex[i] >= data->vertex_count)
            return sn_fail(data->context, SN_ERR_INVALID_ARGUMENT,
                           "sn_mesh_data_add_set: vertex[%d] = %d: must be 0 to %d", i, vertex[i],
                           data->vertex_count - 1);
    return add_set(data->context, &data->set_count, &data->set, name, count, vertex);
}

static int compare_nodes(const void *left, const void *right) {
    const int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

/// Adds the nodes of a list, in which there may be -1 and repeats; sorts the list.
static sn_status add_nodes(sn_mesh *mesh, const char *name, int32_t count, int32_t *node) {
    int32_t used = 0;
    qsort(node, (size_t)count, sizeof *node, compare_nodes);
    for (int32_t i = 0; i < count; i++)
        if (node[i] >= 0 && (used == 0 || node[i] != node[used - 1]))
            node[used++] = node[i];
    return used > 0 ? add_set(mesh->context, &mesh->set_count, &mesh->set, name, used, node) : SN_OK;
}

static sn_status take_data_sets(sn_mesh *mesh, const sn_mesh_data *data, const int32_t *number) {
    sn_status status = SN_OK;
    int32_t *node = NULL;
    for (int32_t s = 0; s < data->set_count; s++) {
        const sn_vertex_set *set = &data->set[s];
        SN_TRY_NEW(mesh->context, node, set->count);
        for (int32_t i = 0; i < set->count; i++)
            node[i] = number[set->vertex[i]];
        SN_TRY(add_nodes(mesh, set->name, set->count, node));
        SN_RELEASE(mesh->context, node);
    }
cleanup:
    SN_RELEASE(mesh->context, node);
    return status;
}

/// Corners of the cells that are no tets, listed by group: those of group g end at end[g].
typedef struct corner_lists {
    size_t *end;   ///< [group_count]
    int32_t *node; ///< NULL while they are only counted
} corner_lists;

static void visit_corners(const sn_mesh_data *data, const int32_t *number, corner_lists *lists) {
    for (int32_t b = 0; b < data->block_count; b++) {
        const sn_cell_block *block = &data->block[b];
        const size_t width = (size_t)sn_cell_width(block->kind);
        if (block->kind == SN_CELL_TET || !block->group)
            continue;
        for (int32_t i = 0; i < block->count; i++) {
            const size_t begin = width > 0 ? width * (size_t)i : (size_t)block->offset[i],
                         end = width > 0 ? begin + width : (size_t)block->offset[i + 1];
            const int32_t group = block->group[i];
            for (size_t c = begin; c < end && group >= 0; c++, lists->end[group]++)
                if (lists->node)
                    lists->node[lists->end[group]] = number[block->vertex[c]];
        }
    }
}

/// Groups that only other cells have: a face of a Gmsh file, by which it is held.
static sn_status take_cell_groups(sn_mesh *mesh, const sn_mesh_data *data, const int32_t *number) {
    sn_status status = SN_OK;
    corner_lists lists = {0};
    bool *has_tets = NULL;
    size_t total = 0;
    SN_TRY_NEW_ZEROED(mesh->context, has_tets, data->group_count);
    SN_TRY_NEW_ZEROED(mesh->context, lists.end, data->group_count);
    for (int32_t t = 0; mesh->group && t < mesh->tet_count; t++)
        if (mesh->group[t] >= 0)
            has_tets[mesh->group[t]] = true;
    visit_corners(data, number, &lists);
    for (int32_t g = 0; g < data->group_count; g++) {
        const size_t count = lists.end[g];
        lists.end[g] = total;
        total += count;
    }
    SN_TRY_NEW(mesh->context, lists.node, total);
    visit_corners(data, number, &lists);
    for (int32_t g = 0; g < data->group_count; g++) {
        const size_t begin = g > 0 ? lists.end[g - 1] : 0, count = lists.end[g] - begin;
        if (!has_tets[g] && count > 0)
            SN_TRY(add_nodes(mesh, data->group[g], (int32_t)count, lists.node + begin));
    }
cleanup:
    SN_RELEASE(mesh->context, has_tets);
    SN_RELEASE(mesh->context, lists.end);
    SN_RELEASE(mesh->context, lists.node);
    return status;
}

sn_status sn_mesh_take_sets(sn_mesh *mesh, const sn_mesh_data *data, const int32_t *number) {
    sn_status status = take_data_sets(mesh, data, number);
    return status < 0 || data->group_count == 0 ? status : take_cell_groups(mesh, data, number);
}

sn_status sn_mesh_sets_to_data(const sn_mesh *mesh, sn_mesh_data *data) {
    sn_status status = SN_OK;
    for (int32_t s = 0; s < mesh->set_count && status == SN_OK; s++)
        status = sn_mesh_data_add_set(data, mesh->set[s].name, mesh->set[s].count, mesh->set[s].vertex);
    return status;
}

int32_t sn_mesh_set_count(const sn_mesh *mesh) {
    return mesh->set_count;
}

const char *sn_mesh_set_name(const sn_mesh *mesh, int32_t set) {
    return set >= 0 && set < mesh->set_count ? mesh->set[set].name : NULL;
}

const int32_t *sn_mesh_set_nodes(const sn_mesh *mesh, int32_t set, int32_t *out_count) {
    const bool known = set >= 0 && set < mesh->set_count;
    *out_count = known ? mesh->set[set].count : 0;
    return known ? mesh->set[set].vertex : NULL;
}
