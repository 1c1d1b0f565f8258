#include "mesh/mesh_look.h"

#include "mesh/mesh_internal.h"

#include <math.h>

void sn_surface_look_release(sn_context *ctx, sn_surface_look *look) {
    sn_group_names_release(ctx, look->group_count, look->group);
    SN_RELEASE(ctx, look->uv);
    SN_RELEASE(ctx, look->triangle_uv);
    SN_RELEASE(ctx, look->triangle_group);
    *look = (sn_surface_look){0};
}

sn_status sn_surface_look_copy(sn_context *ctx, const sn_surface_look *look, int32_t triangle_count,
                               sn_surface_look *out_look) {
    sn_status status = SN_OK;
    size_t triangles = (size_t)triangle_count;
    sn_surface_look made = {.uv_count = look->uv_count};
    if (look->triangle_uv) {
        SN_TRY(sn_new_copy(ctx, look->uv, 2 * (size_t)look->uv_count, sizeof *look->uv, (void **)&made.uv));
        SN_TRY(
            sn_new_copy(ctx, look->triangle_uv, 3 * triangles, sizeof(int32_t), (void **)&made.triangle_uv));
    }
    if (look->triangle_group) {
        SN_TRY(sn_group_names_copy(ctx, look->group_count, look->group, &made.group));
        made.group_count = look->group_count;
        SN_TRY(sn_new_copy(ctx, look->triangle_group, triangles, sizeof(int32_t),
                           (void **)&made.triangle_group));
    }
    *out_look = made;
    return SN_OK;
cleanup:
    sn_surface_look_release(ctx, &made);
    *out_look = made;
    return status;
}

/// In floats, too, which some formats hold.
static bool is_finite_uv(const double *uv) {
    return isfinite((float)uv[0]) && isfinite((float)uv[1]);
}

/// The texture coordinate of a corner of a block; -1: none, or none that is a number.
static sn_status corner_uv(sn_context *ctx, const sn_mesh_data *data, const sn_cell_block *block,
                           int32_t corner, int32_t *out_uv) {
    *out_uv = block->uv ? block->uv[corner] : -1;
    if (*out_uv < -1 || *out_uv >= data->uv_count)
        return sn_fail(ctx, SN_ERR_MESH, "a corner names texture coordinate %d, but they go from 0 to %d",
                       *out_uv, data->uv_count - 1);
    if (*out_uv >= 0 && !is_finite_uv(data->uv + 2 * (size_t)*out_uv))
        *out_uv = -1;
    return SN_OK;
}

/// Takes the looks of a face of a block, corners `begin` to `end`, for the triangles of its fan.
static sn_status take_face(sn_context *ctx, const sn_mesh_data *data, const sn_cell_block *block,
                           int32_t face, int32_t begin, int32_t end, sn_surface_look *look, size_t *used) {
    sn_status status = SN_OK;
    for (int32_t c = begin + 1; c + 1 < end; c++, ++*used) {
        const int32_t corners[3] = {begin, c, c + 1};
        for (size_t k = 0; k < 3 && look->triangle_uv; k++)
            SN_TRY(corner_uv(ctx, data, block, corners[k], &look->triangle_uv[3 * *used + k]));
        if (look->triangle_group)
            look->triangle_group[*used] = block->group ? block->group[face] : -1;
    }
cleanup:
    return status;
}

static sn_status take_block(sn_context *ctx, const sn_mesh_data *data, const sn_cell_block *block,
                            sn_surface_look *look, size_t *used) {
    sn_status status = SN_OK;
    if (block->kind != SN_CELL_TRIANGLE && block->kind != SN_CELL_POLYGON)
        return SN_OK;
    for (int32_t i = 0; i < block->count; i++) {
        bool polygon = block->kind == SN_CELL_POLYGON;
        int32_t begin = polygon ? block->offset[i] : 3 * i, end = polygon ? block->offset[i + 1] : 3 * i + 3;
        SN_TRY(take_face(ctx, data, block, i, begin, end, look, used));
    }
cleanup:
    return status;
}

static bool has(const int32_t *index, size_t count) {
    for (size_t i = 0; index && i < count; i++)
        if (index[i] >= 0)
            return true;
    return false;
}

/// Texture coordinates that are no numbers, which no corner names any more, become 0.
static void clear_unused(sn_context *ctx, sn_surface_look *look) {
    int32_t cleared = 0;
    for (int32_t i = 0; i < look->uv_count; i++) {
        double *uv = look->uv + 2 * (size_t)i;
        if (is_finite_uv(uv))
            continue;
        uv[0] = uv[1] = 0;
        cleared++;
    }
    if (cleared > 0)
        sn_log(ctx, SN_LOG_WARNING, "%d texture coordinates of the surface are not finite and were left out",
               cleared);
}

sn_status sn_surface_look_of(sn_context *ctx, const sn_mesh_data *data, int32_t triangle_count,
                             sn_surface_look *out_look) {
    sn_status status = SN_OK;
    sn_surface_look all = {0}, view = {0};
    size_t triangles = (size_t)triangle_count, used = 0;
    *out_look = (sn_surface_look){0};
    if (data->uv_count > 0 && data->uv)
        SN_TRY_NEW(ctx, all.triangle_uv, 3 * triangles);
    if (data->group_count > 0)
        SN_TRY_NEW(ctx, all.triangle_group, triangles);
    for (int32_t b = 0; b < data->block_count; b++)
        SN_TRY(take_block(ctx, data, &data->block[b], &all, &used));
    SN_ASSERT(used == triangles);
    // What no triangle has is left out.
    if (has(all.triangle_uv, 3 * triangles)) {
        view.uv_count = data->uv_count;
        view.uv = data->uv;
        view.triangle_uv = all.triangle_uv;
    }
    if (has(all.triangle_group, triangles)) {
        view.group_count = data->group_count;
        view.group = data->group;
        view.triangle_group = all.triangle_group;
    }
    SN_TRY(sn_surface_look_copy(ctx, &view, triangle_count, out_look));
    clear_unused(ctx, out_look);
cleanup:
    sn_surface_look_release(ctx, &all);
    return status;
}
