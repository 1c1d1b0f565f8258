#include "mesh/mesh_move.h"

#include "math/math_mat3.h"
#include "mesh/mesh_internal.h"

/// Moves `count` points [count, 3].
static void move_points(const sn_mesh_motion *motion, int32_t count, double *point) {
    for (int32_t n = 0; n < count; n++) {
        double *x = point + 3 * (size_t)n, scaled[3], turned[3];
        for (int i = 0; i < 3; i++)
            scaled[i] = motion->scale * x[i];
        sn_mul3(motion->R, scaled, turned);
        for (int i = 0; i < 3; i++)
            x[i] = turned[i] + motion->shift[i];
    }
}

sn_status sn_mesh_move(sn_context *ctx, const sn_mesh *mesh, const sn_mesh_motion *motion,
                       sn_mesh **out_mesh) {
    sn_status status = SN_OK;
    sn_mesh_data *data = NULL;
    sn_mesh *moved = NULL;
    SN_TRY(sn_mesh_to_data(mesh, &data));
    move_points(motion, data->vertex_count, data->position);
    SN_TRY(sn_mesh_create(ctx, data, false, &moved));
    if (mesh->fraction)
        SN_TRY(sn_new_copy(ctx, mesh->fraction, (size_t)mesh->tet_count, sizeof *mesh->fraction,
                           (void **)&moved->fraction));
    SN_TRY(sn_tet_copies_copy(ctx, &mesh->copies, &moved->copies));
    for (int32_t i = 0; i < moved->copies.count; i++)
        move_points(motion, 3, moved->copies.side[i].corner);
    *out_mesh = moved;
    moved = NULL;
cleanup:
    sn_mesh_data_destroy(&data);
    sn_mesh_destroy(&moved);
    return status;
}
