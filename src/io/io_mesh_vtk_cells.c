/// Cells as the files of VTK list them, legacy and XML alike.
#include "io/io_mesh_build.h"

#include <stdio.h>
#include <string.h>

enum { TYPE_COUNT = 82, STRIP = 6, POLYLINE = 4, POLYGON = 7, PIXEL = 8 };

/// What we take of the types of VTK: how many points they have (0: any number) and how many corners we use.
typedef struct vtk_kind {
    uint8_t points, corners; ///< corners 0: skipped
    char list;               ///< 'e'dges, 'f'aces, 't'ets
    const char *name;
} vtk_kind;

static const vtk_kind kinds[TYPE_COUNT] = {
    [0] = {0, 0, 0, "empty cell"},
    [1] = {1, 0, 0, "vertex"},
    [2] = {0, 0, 0, "polyvertex"},
    [3] = {2, 2, 'e', "line"},
    [POLYLINE] = {0, 2, 'e', "polyline"},
    [5] = {3, 3, 'f', "triangle"},
    [STRIP] = {0, 3, 'f', "triangle strip"},
    [POLYGON] = {0, 3, 'f', "polygon"},
    [PIXEL] = {4, 4, 'f', "pixel"},
    [9] = {4, 4, 'f', "quad"},
    [10] = {4, 4, 't', "tetra"},
    [11] = {8, 0, 0, "voxel"},
    [12] = {8, 0, 0, "hexahedron"},
    [13] = {6, 0, 0, "wedge"},
    [14] = {5, 0, 0, "pyramid"},
    [15] = {10, 0, 0, "pentagonal prism"},
    [16] = {12, 0, 0, "hexagonal prism"},
    [21] = {3, 2, 'e', "quadratic edge"},
    [22] = {6, 3, 'f', "quadratic triangle"},
    [23] = {8, 4, 'f', "quadratic quad"},
    [24] = {10, 4, 't', "quadratic tetra"},
    [25] = {20, 0, 0, "quadratic hexahedron"},
    [26] = {15, 0, 0, "quadratic wedge"},
    [27] = {13, 0, 0, "quadratic pyramid"},
    [28] = {9, 4, 'f', "biquadratic quad"},
    [29] = {27, 0, 0, "triquadratic hexahedron"},
    [34] = {7, 3, 'f', "biquadratic triangle"},
    [35] = {4, 2, 'e', "cubic line"},
    [42] = {0, 0, 0, "polyhedron"},
    [68] = {0, 2, 'e', "Lagrange curve"},
    [69] = {0, 3, 'f', "Lagrange triangle"},
    [70] = {0, 4, 'f', "Lagrange quad"},
    [71] = {0, 4, 't', "Lagrange tetra"},
    [72] = {0, 0, 0, "Lagrange hexahedron"},
    [73] = {0, 0, 0, "Lagrange wedge"},
    [75] = {0, 2, 'e', "Bezier curve"},
    [76] = {0, 3, 'f', "Bezier triangle"},
    [77] = {0, 4, 'f', "Bezier quad"},
    [78] = {0, 4, 't', "Bezier tetra"},
    [79] = {0, 0, 0, "Bezier hexahedron"},
};

/// Types from here on have points between their corners, unless they are polygons.
enum { FIRST_OF_SECOND_ORDER = 21 };

sn_status sn_real_list_add(sn_context *ctx, sn_real_list *list, double value) {
    sn_status status =
        sn_grow(ctx, (void **)&list->item, &list->capacity, list->count + 1, sizeof *list->item);
    if (status == SN_OK)
        list->item[list->count++] = value;
    return status;
}

void sn_vtk_cells_clear(sn_vtk_cells *cells) {
    cells->type.count = cells->end.count = cells->corner.count = cells->group.count = 0;
}

void sn_vtk_cells_release(sn_context *ctx, sn_vtk_cells *cells) {
    SN_RELEASE(ctx, cells->type.item);
    SN_RELEASE(ctx, cells->end.item);
    SN_RELEASE(ctx, cells->corner.item);
    SN_RELEASE(ctx, cells->group.item);
    *cells = (sn_vtk_cells){0};
}

bool sn_vtk_names_groups(sn_word name) {
    static const char *const names[] = {"group",       "gmsh:physical", "medit:ref",     "tetgen:ref",
                                        "cell_tags",   "tag",           "CellEntityIds", "PhysicalIds",
                                        "MaterialIds", "material",      "materials",     "MaterialID",
                                        "region",      "RegionId",      "attribute",     "subdomain"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (sn_word_is_alike(name, names[i]))
            return true;
    return false;
}

/// Consecutive pairs, or triangles of which every other one is turned.
static sn_status add_chain(sn_mesh_builder *builder, bool strip, int32_t size, const int32_t *vertex,
                           int32_t group) {
    sn_status status = SN_OK;
    for (int32_t i = 0; i + (strip ? 2 : 1) < size; i++) {
        int32_t turned = strip && i % 2;
        int32_t cell[3] = {vertex[i + turned], vertex[i + 1 - turned], strip ? vertex[i + 2] : -1};
        SN_TRY(sn_mesh_builder_cell(builder, strip ? &builder->faces : &builder->edges, strip ? 3 : 2, cell,
                                    group));
    }
cleanup:
    return status;
}

static sn_status add_cell(sn_mesh_builder *builder, int32_t type, int32_t size, int32_t *vertex,
                          int32_t group) {
    const vtk_kind *kind = &kinds[type];
    sn_cell_list *list = kind->list == 'e'   ? &builder->edges
                         : kind->list == 'f' ? &builder->faces
                                             : &builder->tets;
    if (type == STRIP || type == POLYLINE)
        return add_chain(builder, type == STRIP, size, vertex, group);
    if (type == PIXEL) {
        int32_t third = vertex[2];
        vertex[2] = vertex[3];
        vertex[3] = third;
    }
    builder->second_order += type >= FIRST_OF_SECOND_ORDER;
    return sn_mesh_builder_cell(builder, list, type == POLYGON ? size : kind->corners, vertex, group);
}

/// Whether a cell of this type may have so many points.
static bool has_size(const vtk_kind *kind, int32_t size) {
    return kind->points > 0 ? size == kind->points : size >= kind->corners;
}

/// Where the corners of cell i end, or -1.
static int64_t end_of(const sn_vtk_cells *cells, size_t i, int64_t begin) {
    double end = cells->end.item[i];
    // NaN fails the comparison.
    if (!(end >= (double)begin && end <= (double)cells->corner.count) || end != (double)(int64_t)end)
        return -1;
    return (int64_t)end;
}

static sn_status fail_cell(sn_mesh_builder *builder, size_t cell, const char *what, double found,
                           double highest) {
    return sn_text_fail(builder->text, "found %s %.15g in cell %zu, expected 0 to %.15g", what, found, cell,
                        highest);
}

/// Takes one cell: its vertices go to `vertex`.
static sn_status take_cell(sn_vtk_cells *cells, sn_mesh_builder *builder, int32_t first, size_t i,
                           int64_t begin, int64_t end, int32_t *vertex) {
    sn_status status = SN_OK;
    double type = cells->type.item[i], number = i < cells->group.count ? cells->group.item[i] : 0;
    int32_t size = (int32_t)(end - begin), points = builder->data->vertex_count - first, group = -1;
    const vtk_kind *kind = type >= 0 && type < TYPE_COUNT ? &kinds[(int32_t)type] : NULL;
    if (!kind || !kind->name) {
        char name[32];
        snprintf(name, sizeof name, "type %.6g", type);
        sn_mesh_builder_skip(builder, name);
        return SN_OK;
    }
    if (!has_size(kind, size))
        return sn_text_fail(builder->text, "found a cell (%zu, %s) with %d points, expected %s%d", i,
                            kind->name, size, kind->points > 0 ? "" : "at least ",
                            kind->points > 0 ? kind->points : kind->corners);
    for (int32_t c = 0; c < size; c++) {
        double point = cells->corner.item[begin + c];
        if (!(point >= 0 && point < points) || point != (double)(int32_t)point)
            return fail_cell(builder, i, "point", point, points - 1);
        vertex[c] = first + (int32_t)point;
    }
    if (kind->corners == 0) {
        sn_mesh_builder_skip(builder, kind->name);
        return SN_OK;
    }
    if (number >= -INT32_MAX && number <= INT32_MAX && number == (double)(int32_t)number)
        SN_TRY(sn_mesh_builder_numbered_group(builder, "tag", (int32_t)number, &group));
    SN_TRY(add_cell(builder, (int32_t)type, size, vertex, group));
cleanup:
    return status;
}

sn_status sn_vtk_cells_take(sn_vtk_cells *cells, sn_mesh_builder *builder, int32_t first) {
    sn_status status = SN_OK;
    int32_t *vertex = NULL;
    size_t room = 0;
    int64_t begin = 0;
    if (cells->type.count != cells->end.count)
        return sn_text_fail(builder->text, "found types of %zu cells, but points of %zu", cells->type.count,
                            cells->end.count);
    for (size_t i = 0; i < cells->end.count; i++) {
        int64_t end = end_of(cells, i, begin);
        if (end < 0 || end - begin > INT32_MAX)
            SN_TRY(fail_cell(builder, i, "the end of the points at", cells->end.item[i],
                             (double)cells->corner.count));
        SN_TRY(sn_grow(builder->ctx, (void **)&vertex, &room, (size_t)(end - begin), sizeof *vertex));
        SN_TRY(take_cell(cells, builder, first, i, begin, end, vertex));
        begin = end;
    }
cleanup:
    SN_RELEASE(builder->ctx, vertex);
    return status;
}
