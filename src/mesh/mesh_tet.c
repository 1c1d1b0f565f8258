#include "math/math_mat3.h"
#include "mesh/mesh_internal.h"
#include "mesh/mesh_topology.h"

#include <string.h>

double sn_tet_volume6(const double *position, const int32_t tet[4], double *out_edge_cubed) {
    const double *x[4];
    double longest = 0, edge[9];
    for (int i = 0; i < 4; i++)
        x[i] = position + 3 * (size_t)tet[i];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            longest = fmax(longest, sn_distance3(x[i], x[j]));
    for (int i = 0; i < 3; i++)
        sn_sub3(x[i + 1], x[0], edge + 3 * i);
    *out_edge_cubed = longest * longest * longest;
    return sn_det3(edge);
}

/// The tet blocks of neutral data as one list.
typedef struct tet_list {
    int32_t count;
    bool grouped;
    int32_t *tet, *group;
} tet_list;

static sn_status gather_tets(sn_context *ctx, const sn_mesh_data *data, tet_list *list) {
    sn_status status = SN_OK;
    int64_t count = 0;
    for (int32_t b = 0; b < data->block_count; b++)
        if (data->block[b].kind == SN_CELL_TET) {
            count += data->block[b].count;
            list->grouped |= data->block[b].group != NULL;
        }
    if (count == 0)
        return sn_fail(ctx, SN_ERR_MESH,
                       "the mesh has no tetrahedra; fill a closed surface with a lattice to get some");
    if (count > INT32_MAX / 4)
        return sn_fail(ctx, SN_ERR_MESH, "the mesh has %lld tetrahedra, more than %d", (long long)count,
                       INT32_MAX / 4);
    SN_TRY_NEW(ctx, list->tet, (size_t)count * 4);
    SN_TRY_NEW(ctx, list->group, (size_t)count);
    for (int32_t b = 0; b < data->block_count; b++) {
        const sn_cell_block *block = &data->block[b];
        if (block->kind != SN_CELL_TET || block->count == 0)
            continue;
        memcpy(list->tet + 4 * (size_t)list->count, block->vertex,
               (size_t)block->count * 4 * sizeof *list->tet);
        for (int32_t i = 0; i < block->count; i++)
            list->group[list->count + i] = block->group ? block->group[i] : -1;
        list->count += block->count;
    }
cleanup:
    return status;
}

typedef enum tet_fault { TET_SOUND, TET_REPEATS, TET_NOT_FINITE, TET_FLAT, TET_INVERTED } tet_fault;

static tet_fault examine_tet(const double *position, const int32_t *tet) {
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            if (tet[i] == tet[j])
                return TET_REPEATS;
    const double least = SN_LENGTH_LEAST * SN_LENGTH_LEAST * SN_LENGTH_LEAST,
                 most = SN_LENGTH_MOST * SN_LENGTH_MOST * SN_LENGTH_MOST;
    double cube = 0, volume = sn_tet_volume6(position, tet, &cube) / 6;
    // Infinite positions give a NaN volume or an infinite edge.
    if (!isfinite(volume) || !(cube <= most))
        return TET_NOT_FINITE;
    if (!(fabs(volume) >= SN_FLAT_RATIO * cube) || cube < least)
        return TET_FLAT;
    return volume < 0 ? TET_INVERTED : TET_SOUND;
}

static sn_status check_tets(sn_context *ctx, const sn_mesh_data *data, const tet_list *list) {
    static const char *const what[] = {
        [TET_SOUND] = "is sound",
        [TET_REPEATS] = "names a vertex twice; remove it",
        [TET_NOT_FINITE] = "has a vertex that is not finite or too far away to compute with; repair the file",
        [TET_FLAT] = "is flat, or too small to compute with; remesh there, or remove it",
        [TET_INVERTED] = "has negative volume; swap two of its vertices"};
    int32_t bad = 0, first = -1;
    for (int32_t t = 0; t < list->count; t++)
        if (examine_tet(data->position, list->tet + 4 * (size_t)t) != TET_SOUND && bad++ == 0)
            first = t;
    if (bad == 0)
        return SN_OK;
    const int32_t *tet = list->tet + 4 * (size_t)first;
    return sn_fail(ctx, SN_ERR_MESH,
                   "tetrahedron %d (vertices %d %d %d %d) %s; %d of %d tetrahedra are unfit", first, tet[0],
                   tet[1], tet[2], tet[3], what[examine_tet(data->position, tet)], bad, list->count);
}

/// New number of each vertex, -1 for those in no tet. Returns how many are in one; *out_unused is the first
/// that is not.
static int32_t number_nodes(const sn_mesh_data *data, const tet_list *list, int32_t *number,
                            int32_t *out_unused) {
    for (int32_t v = 0; v < data->vertex_count; v++)
        number[v] = -1;
    for (size_t i = 0; i < (size_t)list->count * 4; i++)
        number[list->tet[i]] = 0;
    int32_t used = 0;
    *out_unused = -1;
    for (int32_t v = 0; v < data->vertex_count; v++) {
        if (number[v] == 0)
            number[v] = used++;
        else if (*out_unused < 0)
            *out_unused = v;
    }
    return used;
}

/// Moves nodes, tets and sets into the mesh, leaving out vertices in no tet.
static sn_status take_nodes(sn_mesh *mesh, const sn_mesh_data *data, tet_list *list, bool drop) {
    sn_status status = SN_OK;
    sn_context *ctx = mesh->context;
    int32_t *number = NULL, unused = -1;
    SN_TRY_NEW(ctx, number, data->vertex_count);
    int32_t used = number_nodes(data, list, number, &unused);
    if (unused >= 0 && !drop) {
        status = sn_fail(
            ctx, SN_ERR_MESH,
            "vertex %d is in no tetrahedron (%d such vertices of %d); remove them or ask for them to be "
            "dropped",
            unused, data->vertex_count - used, data->vertex_count);
        goto cleanup;
    }
    SN_TRY_NEW(ctx, mesh->position, (size_t)used * 3);
    for (int32_t v = 0; v < data->vertex_count; v++)
        if (number[v] >= 0)
            memcpy(mesh->position + 3 * (size_t)number[v], data->position + 3 * (size_t)v,
                   3 * sizeof(double));
    for (size_t i = 0; i < (size_t)list->count * 4; i++)
        list->tet[i] = number[list->tet[i]];
    mesh->node_count = used;
    mesh->tet_count = list->count;
    mesh->tet = list->tet;
    list->tet = NULL;
    if (list->grouped) {
        mesh->group = list->group;
        list->group = NULL;
    }
    SN_TRY(sn_mesh_take_sets(mesh, data, number));
cleanup:
    SN_RELEASE(ctx, number);
    return status;
}

sn_status sn_mesh_create(sn_context *context, const sn_mesh_data *data, bool drop_unreferenced,
                         sn_mesh **out_mesh) {
    if (!context)
        return SN_ERR_INVALID_ARGUMENT;
    if (!data || !out_mesh)
        return sn_fail(context, SN_ERR_INVALID_ARGUMENT, "sn_mesh_create: data or out_mesh is NULL");
    sn_status status = SN_OK;
    sn_mesh *mesh = NULL;
    tet_list list = {0};
    SN_TRY(sn_mesh_data_check_indices(context, data));
    SN_TRY_NEW_ZEROED(context, mesh, 1);
    mesh->context = context;
    SN_TRY(gather_tets(context, data, &list));
    SN_TRY(check_tets(context, data, &list));
    SN_TRY(take_nodes(mesh, data, &list, drop_unreferenced));
    SN_TRY(sn_group_names_copy(context, data->group_count, data->group, &mesh->group_name));
    mesh->group_count = data->group_count;
    SN_TRY(sn_mesh_finish(mesh));
    *out_mesh = mesh;
    mesh = NULL;
cleanup:
    SN_RELEASE(context, list.tet);
    SN_RELEASE(context, list.group);
    sn_mesh_destroy(&mesh);
    return status;
}

void sn_mesh_destroy(sn_mesh **mesh) {
    if (!mesh || !*mesh)
        return;
    sn_mesh *old = *mesh;
    sn_context *ctx = old->context;
    sn_group_names_release(ctx, old->group_count, old->group_name);
    SN_RELEASE(ctx, old->position);
    SN_RELEASE(ctx, old->tet);
    SN_RELEASE(ctx, old->group);
    SN_RELEASE(ctx, old->surface);
    SN_RELEASE(ctx, old->piece);
    sn_vertex_sets_release(ctx, old->set_count, old->set);
    SN_RELEASE(ctx, old->fraction);
    sn_tet_copies_clear(ctx, &old->copies);
    sn_release(ctx, old);
    *mesh = NULL;
}

static sn_status refuse_overlap(const sn_mesh *mesh, int32_t a, int32_t b) {
    const double *x = mesh->position;
    double center[3] = {0};
    for (size_t c = 0; c < 4; c++)
        for (size_t k = 0; k < 3; k++)
            center[k] += 0.25 * x[3 * (size_t)mesh->tet[4 * (size_t)b + c] + k];
    return sn_fail(mesh->context, SN_ERR_MESH,
                   "tetrahedra %d and %d share a face and lie on the same side of it (near %g %g %g): they "
                   "overlap, or one is the other again; remove one of them",
                   a, b, center[0], center[1], center[2]);
}

/// Marks the faces that belong to one tet only.
static sn_status mark_free_faces(const sn_mesh *mesh, const int32_t *face, int32_t *free_face) {
    sn_status status = SN_OK;
    int32_t count = 4 * mesh->tet_count, *order = NULL;
    SN_TRY_NEW(mesh->context, order, count);
    SN_TRY(sn_tuple_order(mesh->context, mesh->node_count, count, 3, face, order));
    for (int32_t i = 0, next = 0, pair[2]; i < count; i = next) {
        const int32_t *first = face + 3 * (size_t)order[i];
        for (next = i + 1; next < count && sn_tuple_same(3, face + 3 * (size_t)order[next], first);)
            next++;
        if (sn_faces_crowd(face, next - i, order + i, pair) &&
            !sn_tets_are_copies(mesh->position, mesh->tet + 4 * (size_t)(pair[0] / 4),
                                mesh->tet + 4 * (size_t)(pair[1] / 4)))
            SN_TRY(refuse_overlap(mesh, pair[0] / 4, pair[1] / 4));
        for (int32_t k = i; k < next; k++)
            free_face[order[k]] = next - i == 1;
    }
cleanup:
    SN_RELEASE(mesh->context, order);
    return status;
}

static sn_status find_surface(sn_mesh *mesh) {
    sn_status status = SN_OK;
    int32_t *face = NULL, *free_face = NULL, count = 0;
    SN_TRY_NEW(mesh->context, face, (size_t)mesh->tet_count * 12);
    SN_TRY_NEW(mesh->context, free_face, (size_t)mesh->tet_count * 4);
    for (size_t f = 0; f < (size_t)mesh->tet_count * 4; f++)
        for (size_t c = 0; c < 3; c++)
            face[3 * f + c] = mesh->tet[f / 4 * 4 + (size_t)sn_tet_faces[f % 4][c]];
    SN_TRY(mark_free_faces(mesh, face, free_face));
    for (int32_t f = 0; f < 4 * mesh->tet_count; f++)
        count += free_face[f];
    SN_TRY_NEW(mesh->context, mesh->surface, (size_t)count * 3);
    for (size_t f = 0; f < (size_t)mesh->tet_count * 4; f++)
        if (free_face[f])
            memcpy(mesh->surface + 3 * (size_t)mesh->surface_count++, face + 3 * f, 3 * sizeof *face);
cleanup:
    SN_RELEASE(mesh->context, face);
    SN_RELEASE(mesh->context, free_face);
    return status;
}

static sn_status find_pieces(sn_mesh *mesh) {
    sn_status status = SN_OK;
    int32_t *parent = NULL, *number = NULL;
    SN_TRY_NEW(mesh->context, mesh->piece, mesh->tet_count);
    SN_TRY_NEW(mesh->context, parent, mesh->node_count);
    SN_TRY_NEW(mesh->context, number, mesh->node_count);
    for (int32_t v = 0; v < mesh->node_count; v++) {
        parent[v] = v;
        number[v] = -1;
    }
    for (size_t t = 0; t < (size_t)mesh->tet_count; t++)
        for (size_t c = 1; c < 4; c++)
            sn_set_join(parent, mesh->tet[4 * t], mesh->tet[4 * t + c]);
    for (size_t t = 0; t < (size_t)mesh->tet_count; t++) {
        int32_t root = sn_set_find(parent, mesh->tet[4 * t]);
        if (number[root] < 0)
            number[root] = mesh->piece_count++;
        mesh->piece[t] = number[root];
    }
cleanup:
    SN_RELEASE(mesh->context, parent);
    SN_RELEASE(mesh->context, number);
    return status;
}

sn_status sn_mesh_finish(sn_mesh *mesh) {
    sn_status status = find_surface(mesh);
    return status < 0 ? status : find_pieces(mesh);
}

int32_t sn_mesh_node_count(const sn_mesh *mesh) {
    return mesh->node_count;
}

int32_t sn_mesh_tet_count(const sn_mesh *mesh) {
    return mesh->tet_count;
}

const double *sn_mesh_positions(const sn_mesh *mesh) {
    return mesh->position;
}

const int32_t *sn_mesh_tets(const sn_mesh *mesh) {
    return mesh->tet;
}

const int32_t *sn_mesh_tet_groups(const sn_mesh *mesh) {
    return mesh->group;
}

const double *sn_mesh_tet_fractions(const sn_mesh *mesh) {
    return mesh->fraction;
}

int32_t sn_mesh_group_count(const sn_mesh *mesh) {
    return mesh->group_count;
}

const char *sn_mesh_group_name(const sn_mesh *mesh, int32_t group) {
    return group >= 0 && group < mesh->group_count ? mesh->group_name[group] : NULL;
}

const int32_t *sn_mesh_surface(const sn_mesh *mesh, int32_t *out_count) {
    *out_count = mesh->surface_count;
    return mesh->surface;
}

const int32_t *sn_mesh_tet_pieces(const sn_mesh *mesh, int32_t *out_count) {
    *out_count = mesh->piece_count;
    return mesh->piece;
}

sn_status sn_mesh_to_data(const sn_mesh *mesh, sn_mesh_data **out_data) {
    if (!mesh)
        return SN_ERR_INVALID_ARGUMENT;
    if (!out_data)
        return sn_fail(mesh->context, SN_ERR_INVALID_ARGUMENT, "sn_mesh_to_data: out_data is NULL");
    sn_status status = SN_OK;
    sn_mesh_data *data = NULL;
    SN_TRY(sn_mesh_data_create(mesh->context, &data));
    SN_TRY(sn_mesh_data_set_vertices(data, mesh->node_count, mesh->position));
    SN_TRY(sn_mesh_data_add_block(data, SN_CELL_TET, mesh->tet_count, mesh->tet));
    if (mesh->group)
        SN_TRY(sn_new_copy(mesh->context, mesh->group, (size_t)mesh->tet_count, sizeof *mesh->group,
                           (void **)&data->block[0].group));
    SN_TRY(sn_group_names_copy(mesh->context, mesh->group_count, mesh->group_name, &data->group));
    data->group_count = mesh->group_count;
    SN_TRY(sn_mesh_sets_to_data(mesh, data));
    *out_data = data;
    data = NULL;
cleanup:
    sn_mesh_data_destroy(&data);
    return status;
}
