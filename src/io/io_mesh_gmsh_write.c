/// Gmsh MSH 2.2, ascii, written: lines, triangles and tets, physical groups by name or as "tag<n>".
#include "io/io_mesh_build.h"

enum { CELL_KINDS = 3 };

static const struct { int32_t size, dimension; } cell_kinds[CELL_KINDS] = {{2, 1}, {3, 2}, {4, 3}};

typedef struct gmsh_writer {
    sn_text_out *out;
    const int32_t *numbers; ///< Of the groups.
    bool *used;             ///< [group_count] in cells of the size that is being visited
    int32_t element;        ///< Elements written so far.
} gmsh_writer;

static void mark_used(void *user, const int32_t *vertex, int32_t size, int32_t group) {
    (void)vertex;
    (void)size;
    gmsh_writer *gmsh = user;
    if (group >= 0)
        gmsh->used[group] = true;
}

/// Lists the named groups of each dimension; `print` false only counts them.
static int32_t write_physical_names(gmsh_writer *gmsh, const sn_mesh_data *data, bool print) {
    int32_t count = 0, number = 0;
    for (int i = 0; i < CELL_KINDS; i++) {
        for (int32_t g = 0; g < data->group_count; g++)
            gmsh->used[g] = false;
        sn_mesh_data_each_simplex(data, cell_kinds[i].size, mark_used, gmsh);
        for (int32_t g = 0; g < data->group_count; g++) {
            if (!gmsh->used[g] || sn_group_name_number(data->group[g], "tag", &number))
                continue;
            count++;
            if (!print)
                continue;
            sn_text_out_print(gmsh->out, "%d %d \"", cell_kinds[i].dimension, gmsh->numbers[g]);
            sn_text_out_name(gmsh->out, data->group[g], "\"");
            sn_text_out_print(gmsh->out, "\"\n");
        }
    }
    return count;
}

static void write_element(void *user, const int32_t *vertex, int32_t size, int32_t group) {
    gmsh_writer *gmsh = user;
    int32_t type = size == 2 ? 1 : size == 3 ? 2 : 4, number = group >= 0 ? gmsh->numbers[group] : 0;
    sn_text_out_print(gmsh->out, "%d %d 2 %d %d", ++gmsh->element, type, number, number);
    for (int32_t i = 0; i < size; i++)
        sn_text_out_print(gmsh->out, " %d", vertex[i] + 1);
    sn_text_out_print(gmsh->out, "\n");
}

static void write_nodes(sn_text_out *out, const sn_mesh_data *data) {
    sn_text_out_print(out, "$Nodes\n%d\n", data->vertex_count);
    for (int32_t i = 0; i < data->vertex_count; i++) {
        sn_text_out_print(out, "%d", i + 1);
        for (size_t axis = 0; axis < 3; axis++)
            sn_text_out_real(out, data->position[(size_t)i * 3 + axis]);
        sn_text_out_print(out, "\n");
    }
    sn_text_out_print(out, "$EndNodes\n");
}

sn_status sn_gmsh_write(sn_text_out *out, const sn_mesh_data *data) {
    sn_status status = SN_OK;
    int32_t *numbers = NULL;
    bool *used = NULL;
    int64_t elements = 0;
    for (int i = 0; i < CELL_KINDS; i++)
        elements += sn_mesh_data_each_simplex(data, cell_kinds[i].size, NULL, NULL);
    if (elements > INT32_MAX) {
        status = sn_fail(data->context, SN_ERR_INVALID_ARGUMENT, "%s: MSH cannot number %lld elements",
                         out->path, (long long)elements);
        goto cleanup;
    }
    SN_TRY(sn_group_numbers(data, "tag", &numbers));
    SN_TRY_NEW(data->context, used, data->group_count);
    gmsh_writer gmsh = {out, numbers, used, 0};
    sn_text_out_print(out, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n");
    int32_t names = write_physical_names(&gmsh, data, false);
    if (names > 0) {
        sn_text_out_print(out, "$PhysicalNames\n%d\n", names);
        write_physical_names(&gmsh, data, true);
        sn_text_out_print(out, "$EndPhysicalNames\n");
    }
    write_nodes(out, data);
    sn_text_out_print(out, "$Elements\n%lld\n", (long long)elements);
    for (int i = 0; i < CELL_KINDS; i++)
        sn_mesh_data_each_simplex(data, cell_kinds[i].size, write_element, &gmsh);
    sn_text_out_print(out, "$EndElements\n");
cleanup:
    SN_RELEASE(data->context, numbers);
    SN_RELEASE(data->context, used);
    return status;
}
