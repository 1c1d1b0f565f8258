#include "mesh/mesh_internal.h"

#include <string.h>

sn_status sn_mesh_data_create(sn_context *context, sn_mesh_data **out_data) {
    sn_status status = SN_OK;
    sn_mesh_data *data = NULL;
    if (!context)
        return SN_ERR_INVALID_ARGUMENT;
    if (!out_data)
        return sn_fail(context, SN_ERR_INVALID_ARGUMENT, "sn_mesh_data_create: out_data is NULL");
    SN_TRY_NEW_ZEROED(context, data, 1);
    data->context = context;
    SN_TRY(sn_new_text(context, "", &data->note));
    *out_data = data;
    data = NULL;
cleanup:
    sn_mesh_data_destroy(&data);
    return status;
}

void sn_mesh_data_destroy(sn_mesh_data **data) {
    if (!data || !*data)
        return;
    sn_mesh_data *old = *data;
    sn_context *ctx = old->context;
    for (int32_t b = 0; b < old->block_count; b++) {
        SN_RELEASE(ctx, old->block[b].offset);
        SN_RELEASE(ctx, old->block[b].vertex);
        SN_RELEASE(ctx, old->block[b].group);
        SN_RELEASE(ctx, old->block[b].uv);
    }
    sn_group_names_release(ctx, old->group_count, old->group);
    sn_vertex_sets_release(ctx, old->set_count, old->set);
    SN_RELEASE(ctx, old->block);
    SN_RELEASE(ctx, old->position);
    SN_RELEASE(ctx, old->uv);
    SN_RELEASE(ctx, old->note);
    sn_release(ctx, old);
    *data = NULL;
}

void sn_mesh_data_free_array(const sn_mesh_data *data, void *array) {
    if (data)
        sn_release(data->context, array);
}

sn_status sn_group_names_copy(sn_context *ctx, int32_t count, char *const *names, char ***out_names) {
    sn_status status = SN_OK;
    char **copy = NULL;
    if (count == 0) {
        *out_names = NULL;
        return SN_OK;
    }
    SN_TRY_NEW_ZEROED(ctx, copy, count);
    for (int32_t i = 0; i < count; i++)
        SN_TRY(sn_new_text(ctx, names[i], &copy[i]));
    *out_names = copy;
    copy = NULL;
cleanup:
    sn_group_names_release(ctx, count, copy);
    return status;
}

void sn_group_names_release(sn_context *ctx, int32_t count, char **names) {
    for (int32_t i = 0; names && i < count; i++)
        sn_release(ctx, names[i]);
    sn_release(ctx, names);
}

sn_status sn_mesh_data_set_vertices(sn_mesh_data *data, int32_t count, const double *position) {
    SN_ASSERT(!data->position);
    sn_status status =
        sn_new_copy(data->context, position, (size_t)count * 3, sizeof *position, (void **)&data->position);
    if (status == SN_OK)
        data->vertex_count = count;
    return status;
}

sn_status sn_mesh_data_add_block(sn_mesh_data *data, sn_cell_kind kind, int32_t count,
                                 const int32_t *vertex) {
    sn_status status = SN_OK;
    sn_cell_block *grown = NULL, block = {.kind = kind, .count = count};
    size_t width = (size_t)sn_cell_width(kind);
    SN_TRY_NEW(data->context, grown, (size_t)data->block_count + 1);
    SN_TRY(sn_new_copy(data->context, vertex, (size_t)count * width, sizeof *vertex, (void **)&block.vertex));
    if (data->block_count > 0)
        memcpy(grown, data->block, (size_t)data->block_count * sizeof *grown);
    grown[data->block_count++] = block;
    SN_RELEASE(data->context, data->block);
    data->block = grown;
    grown = NULL;
cleanup:
    SN_RELEASE(data->context, grown);
    return status;
}

/// Offsets that rise from 0, so that the corners can be walked.
static bool offsets_rise(const sn_cell_block *block) {
    if (block->count == 0)
        return true;
    if (!block->offset || block->offset[0] != 0)
        return false;
    for (int32_t i = 0; i < block->count; i++)
        if (block->offset[i + 1] < block->offset[i])
            return false;
    return true;
}

sn_status sn_mesh_data_check_arrays(sn_context *ctx, const sn_mesh_data *data) {
    if (data->vertex_count < 0 || (data->vertex_count > 0 && !data->position))
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "the mesh has %d vertices but no positions",
                       data->vertex_count);
    if (data->set_count < 0 || (data->set_count > 0 && !data->set))
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "the mesh has %d sets of vertices but no array of them",
                       data->set_count);
    if (data->block_count < 0 || (data->block_count > 0 && !data->block))
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "the mesh has %d blocks of cells but no array of them",
                       data->block_count);
    for (int32_t s = 0; s < data->set_count; s++)
        if (data->set[s].count < 0 || !data->set[s].name || (data->set[s].count > 0 && !data->set[s].vertex))
            return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                           "set %d of the mesh is not filled in as sn_vertex_set says", s);
    for (int32_t b = 0; b < data->block_count; b++) {
        const sn_cell_block *block = &data->block[b];
        if (block->count < 0 || (block->count > 0 && !block->vertex) || (unsigned)block->kind > SN_CELL_TET ||
            (block->kind == SN_CELL_POLYGON && !offsets_rise(block)))
            return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                           "block %d of the mesh is not filled in as sn_cell_block says", b);
    }
    return SN_OK;
}

static sn_status check_block(sn_context *ctx, const sn_mesh_data *data, int32_t b) {
    const sn_cell_block *block = &data->block[b];
    size_t corners = (size_t)block->count * (size_t)sn_cell_width(block->kind);
    if (block->kind == SN_CELL_POLYGON)
        corners = block->count > 0 ? (size_t)block->offset[block->count] : 0;
    for (int32_t i = 0; block->kind == SN_CELL_POLYGON && i < block->count; i++)
        if (block->offset[i + 1] - block->offset[i] < 3)
            return sn_fail(ctx, SN_ERR_MESH, "polygon %d of block %d has fewer than three vertices", i, b);
    for (size_t i = 0; i < corners; i++)
        if (block->vertex[i] < 0 || block->vertex[i] >= data->vertex_count)
            return sn_fail(ctx, SN_ERR_MESH,
                           "block %d of the mesh names vertex %d at corner %zu, but vertices go from 0 to %d",
                           b, block->vertex[i], i, data->vertex_count - 1);
    for (int32_t i = 0; block->group && i < block->count; i++)
        if (block->group[i] < -1 || block->group[i] >= data->group_count)
            return sn_fail(ctx, SN_ERR_MESH, "cell %d of block %d has group %d, but there are %d groups", i,
                           b, block->group[i], data->group_count);
    return SN_OK;
}

static sn_status check_set(sn_context *ctx, const sn_mesh_data *data, int32_t s) {
    const sn_vertex_set *set = &data->set[s];
    for (int32_t i = 0; i < set->count; i++)
        if (set->vertex[i] < 0 || set->vertex[i] >= data->vertex_count)
            return sn_fail(ctx, SN_ERR_MESH,
                           "set %s of the mesh names vertex %d, but vertices go from 0 to %d", set->name,
                           set->vertex[i], data->vertex_count - 1);
    return SN_OK;
}

sn_status sn_mesh_data_check_indices(sn_context *ctx, const sn_mesh_data *data) {
    sn_status status = sn_mesh_data_check_arrays(ctx, data);
    for (int32_t b = 0; b < data->block_count && status == SN_OK; b++)
        status = check_block(ctx, data, b);
    for (int32_t s = 0; s < data->set_count && status == SN_OK; s++)
        status = check_set(ctx, data, s);
    return status;
}

/// Writes the triangles of a block if `triangle` is given, and counts them in any case.
static int64_t block_triangles(const sn_cell_block *block, int32_t *triangle) {
    if (block->kind == SN_CELL_TRIANGLE) {
        if (triangle && block->count > 0)
            memcpy(triangle, block->vertex, (size_t)block->count * 3 * sizeof *triangle);
        return block->count;
    }
    int64_t used = 0;
    for (int32_t i = 0; block->kind == SN_CELL_POLYGON && i < block->count; i++)
        for (int32_t c = block->offset[i] + 1; c + 1 < block->offset[i + 1]; c++, used++)
            if (triangle) {
                triangle[3 * used] = block->vertex[block->offset[i]];
                triangle[3 * used + 1] = block->vertex[c];
                triangle[3 * used + 2] = block->vertex[c + 1];
            }
    return used;
}

sn_status sn_mesh_data_triangles(const sn_mesh_data *data, int32_t *out_count, int32_t **out_triangles) {
    if (!data)
        return SN_ERR_INVALID_ARGUMENT;
    if (!out_count || !out_triangles)
        return sn_fail(data->context, SN_ERR_INVALID_ARGUMENT, "sn_mesh_data_triangles: an output is NULL");
    sn_status status = SN_OK;
    int32_t *triangle = NULL;
    int64_t count = 0;
    SN_TRY(sn_mesh_data_check_indices(data->context, data));
    for (int32_t b = 0; b < data->block_count; b++)
        count += block_triangles(&data->block[b], NULL);
    if (count > INT32_MAX / 3)
        return sn_fail(data->context, SN_ERR_MESH, "the surface has %lld triangles, more than %d",
                       (long long)count, INT32_MAX / 3);
    SN_TRY_NEW(data->context, triangle, (size_t)count * 3);
    int64_t used = 0;
    for (int32_t b = 0; b < data->block_count; b++)
        used += block_triangles(&data->block[b], triangle + 3 * used);
    *out_count = (int32_t)count;
    *out_triangles = triangle;
    triangle = NULL;
cleanup:
    SN_RELEASE(data->context, triangle);
    return status;
}

void sn_skeleton_destroy(sn_skeleton **skeleton) {
    if (!skeleton || !*skeleton)
        return;
    sn_context *ctx = (*skeleton)->context;
    sn_release(ctx, (*skeleton)->position);
    sn_release(ctx, (*skeleton)->label);
    sn_release(ctx, (*skeleton)->bone);
    sn_release(ctx, *skeleton);
    *skeleton = NULL;
}
