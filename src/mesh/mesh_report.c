#include "math/math_mat3.h"
#include "mesh/mesh_internal.h"
#include "mesh/mesh_topology.h"

#include <string.h>

/// Everything the examination needs while it runs.
typedef struct examiner {
    sn_context *context;
    const sn_mesh_data *data;
    sn_mesh_report *report;
    int32_t triangle_count, tet_count; ///< In the lists below: those with vertices in range.
    int32_t *triangle, *tet;
    int32_t *parent;          ///< Disjoint sets of vertices.
    unsigned char *reference; ///< IN_BODY and IN_OTHER of each vertex.
} examiner;

/// Whether cells of the body name a vertex (tets, or the faces of a mesh without tets), or only others.
enum { IN_BODY = 1, IN_OTHER = 2 };

static bool vertex_is_finite(const sn_mesh_data *data, int32_t vertex) {
    const double *p = data->position + 3 * (size_t)vertex;
    return isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]);
}

static bool in_range(const sn_mesh_data *data, int32_t count, const int32_t *vertex) {
    for (int32_t i = 0; i < count; i++)
        if (vertex[i] < 0 || vertex[i] >= data->vertex_count)
            return false;
    return true;
}

/// Notes the vertices of a cell as used, by IN_BODY or IN_OTHER, and joined.
static void reference_cell(examiner *e, int how, int32_t count, const int32_t *vertex) {
    for (int32_t i = 0; i < count; i++) {
        e->reference[vertex[i]] |= (unsigned char)how;
        sn_set_join(e->parent, vertex[0], vertex[i]);
    }
}

static void note_bad(sn_mesh_report *report, int32_t cell) {
    if (report->first_bad_cell < 0)
        report->first_bad_cell = cell;
}

static void measure_edge(sn_mesh_report *report, double length) {
    if (!isfinite(length))
        return;
    report->edge_min = fmin(report->edge_min, length);
    report->edge_max = fmax(report->edge_max, length);
}

/// Counts a triangle and measures it; `cell` is its index among the surface cells.
static void examine_triangle(examiner *e, int32_t cell, const int32_t v[3]) {
    const double *x = e->data->position, *a = x + 3 * (size_t)v[0], *b = x + 3 * (size_t)v[1],
                 *c = x + 3 * (size_t)v[2];
    double ab[3], ac[3], bc[3], normal[3];
    sn_sub3(b, a, ab);
    sn_sub3(c, a, ac);
    sn_sub3(c, b, bc);
    sn_cross3(ab, ac, normal);
    double longest = fmax(sn_norm3(ab), fmax(sn_norm3(ac), sn_norm3(bc)));
    // Height over the longest edge = 2 area / edge.
    bool flat = !(sn_norm3(normal) > SN_FLAT_RATIO * longest * longest);
    if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0] || flat) {
        e->report->degenerate_triangles++;
        note_bad(e->report, cell);
    }
    if (e->tet_count == 0) {
        measure_edge(e->report, sn_norm3(ab));
        measure_edge(e->report, sn_norm3(ac));
        measure_edge(e->report, sn_norm3(bc));
    }
    memcpy(e->triangle + 3 * (size_t)e->triangle_count++, v, 3 * sizeof *v);
}

/// Whether some triangle of the polygon's fan is turned against the sum of all.
static bool fan_is_bent_back(const double *position, int32_t count, const int32_t *vertex) {
    double sum[3] = {0}, ab[3], ac[3], normal[3];
    for (int pass = 0; pass < 2; pass++)
        for (int32_t c = 1; c + 1 < count; c++) {
            const double *a = position + 3 * (size_t)vertex[0];
            sn_sub3(position + 3 * (size_t)vertex[c], a, ab);
            sn_sub3(position + 3 * (size_t)vertex[c + 1], a, ac);
            sn_cross3(ab, ac, normal);
            for (int k = 0; k < 3 && pass == 0; k++)
                sum[k] += normal[k];
            if (pass == 1 && sn_dot3(normal, sum) < 0)
                return true;
        }
    return false;
}

/// A surface cell with a vertex that does not exist counts as degenerate and is left out of everything else.
static void examine_polygon(examiner *e, int32_t cell, int32_t count, const int32_t *vertex) {
    if (count < 3 || !in_range(e->data, count, vertex)) {
        e->report->degenerate_triangles++;
        note_bad(e->report, cell);
        return;
    }
    reference_cell(e, e->report->tet_count > 0 ? IN_OTHER : IN_BODY, count, vertex);
    e->report->concave_polygons += fan_is_bent_back(e->data->position, count, vertex);
    for (int32_t c = 1; c + 1 < count; c++)
        examine_triangle(e, cell, (int32_t[3]){vertex[0], vertex[c], vertex[c + 1]});
}

/// 12 (3 V)^(2/3) / sum of squared edges: 1 for the regular tet, 0 for flat and inverted ones.
static double mean_ratio(const double *position, const int32_t *tet, double volume) {
    double edges = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++) {
            double d = sn_distance3(position + 3 * (size_t)tet[i], position + 3 * (size_t)tet[j]);
            edges += d * d;
        }
    double ratio = 12 * cbrt(9 * volume * volume) / edges;
    return volume > 0 && ratio > 0 ? fmin(ratio, 1) : 0; // not a number for infinite tets
}

static void examine_tet(examiner *e, int32_t cell, const int32_t *tet) {
    sn_mesh_report *report = e->report;
    bool repeats = false;
    double cube = 0;
    if (!in_range(e->data, 4, tet)) {
        report->degenerate_tets++;
        note_bad(report, cell);
        return;
    }
    reference_cell(e, IN_BODY, 4, tet);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++) {
            repeats |= tet[i] == tet[j];
            measure_edge(report, sn_distance3(e->data->position + 3 * (size_t)tet[i],
                                              e->data->position + 3 * (size_t)tet[j]));
        }
    double volume = sn_tet_volume6(e->data->position, tet, &cube) / 6;
    bool flat = repeats || !(fabs(volume) >= SN_FLAT_RATIO * cube) || cube == 0;
    report->degenerate_tets += flat;
    report->inverted_tets += !flat && volume < 0;
    if (flat || volume < 0)
        note_bad(report, cell);
    double quality = mean_ratio(e->data->position, tet, volume);
    int32_t bin = (int32_t)(10 * quality);
    report->quality_histogram[bin < 0 ? 0 : bin > 9 ? 9 : bin]++;
    report->quality_min = fmin(report->quality_min, quality);
    if (isfinite(volume))
        report->volume += volume;
    memcpy(e->tet + 4 * (size_t)e->tet_count++, tet, 4 * sizeof *tet);
}

/// Upper bounds for the lists of the examiner, and the counts that need no look at the cells.
static void count_cells(const sn_mesh_data *data, sn_mesh_report *report, size_t *triangles, size_t *tets) {
    for (int32_t b = 0; b < data->block_count; b++) {
        const sn_cell_block *block = &data->block[b];
        if (block->kind == SN_CELL_TRIANGLE) {
            report->triangle_count += block->count;
            *triangles += (size_t)block->count;
        } else if (block->kind == SN_CELL_POLYGON && block->count > 0) {
            report->polygon_count += block->count;
            *triangles += (size_t)block->offset[block->count];
        } else if (block->kind == SN_CELL_TET) {
            report->tet_count += block->count;
            *tets += (size_t)block->count;
        }
    }
}

/// Goes through the cells of one kind. Tets first: with tets, they and not the triangles give edges and
/// volume.
static void examine_cells(examiner *e, bool tets) {
    int32_t cell = 0;
    for (int32_t b = 0; b < e->data->block_count; b++) {
        const sn_cell_block *block = &e->data->block[b];
        if ((block->kind == SN_CELL_TET) != tets)
            continue;
        for (int32_t i = 0; i < block->count; i++) {
            if (tets)
                examine_tet(e, cell++, block->vertex + 4 * (size_t)i);
            else if (block->kind == SN_CELL_TRIANGLE)
                examine_polygon(e, cell++, 3, block->vertex + 3 * (size_t)i);
            else if (block->kind == SN_CELL_POLYGON)
                examine_polygon(e, cell++, block->offset[i + 1] - block->offset[i],
                                block->vertex + block->offset[i]);
            else if (in_range(e->data, 2, block->vertex + 2 * (size_t)i))
                reference_cell(e, IN_OTHER, 2, block->vertex + 2 * (size_t)i);
        }
    }
}

static void examine_vertices(examiner *e) {
    sn_mesh_report *report = e->report;
    for (int32_t v = 0; v < e->data->vertex_count; v++) {
        if (!vertex_is_finite(e->data, v)) {
            if (report->non_finite_vertices++ == 0)
                report->first_non_finite_vertex = v;
        } else if (e->reference[v]) {
            for (int c = 0; c < 3; c++) {
                double x = e->data->position[3 * (size_t)v + c];
                report->low[c] = fmin(report->low[c], x);
                report->high[c] = fmax(report->high[c], x);
            }
        }
        report->unreferenced_vertices += !e->reference[v];
        report->loose_vertices += e->reference[v] == IN_OTHER;
        report->components += e->reference[v] && sn_set_find(e->parent, v) == v;
    }
}

/// Volume enclosed by the triangles: a sum of tets with one common corner, taken near the surface against
/// rounding.
static double enclosed_volume(const examiner *e) {
    double volume = 0, edge[9];
    for (int32_t t = 0; t < e->triangle_count; t++) {
        const int32_t *v = e->triangle + 3 * (size_t)t;
        for (int c = 0; c < 3; c++)
            sn_sub3(e->data->position + 3 * (size_t)v[c], e->report->low, edge + 3 * c);
        double part = sn_det3(edge) / 6;
        if (isfinite(part))
            volume += part;
    }
    return volume;
}

static uint64_t hash_place(const double p[3]) {
    uint64_t hash = UINT64_C(0x9e3779b97f4a7c15);
    for (int c = 0; c < 3; c++) {
        double value = p[c] == 0 ? 0 : p[c]; // -0 and 0 are one place
        uint64_t bits = 0;
        memcpy(&bits, &value, sizeof bits);
        hash = (hash ^ bits) * UINT64_C(0xbf58476d1ce4e5b9);
        hash ^= hash >> 29;
    }
    return hash;
}

static sn_status count_duplicates(examiner *e) {
    sn_status status = SN_OK;
    int32_t *table = NULL;
    uint64_t size = 16;
    while (size < 2 * (uint64_t)e->data->vertex_count)
        size *= 2;
    SN_TRY_NEW(e->context, table, size);
    memset(table, 0xff, size * sizeof *table);
    for (int32_t v = 0; v < e->data->vertex_count; v++) {
        const double *p = e->data->position + 3 * (size_t)v;
        uint64_t slot = hash_place(p) & (size - 1);
        if (!vertex_is_finite(e->data, v))
            continue;
        for (; table[slot] >= 0; slot = (slot + 1) & (size - 1)) {
            const double *q = e->data->position + 3 * (size_t)table[slot];
            if (p[0] == q[0] && p[1] == q[1] && p[2] == q[2])
                break;
        }
        if (table[slot] >= 0)
            e->report->duplicate_vertices++;
        else
            table[slot] = v;
    }
cleanup:
    SN_RELEASE(e->context, table);
    return status;
}

/// Corners of face f of the tets, outward for inverted ones too, which are counted elsewhere.
static void copy_face(const examiner *e, size_t f, int32_t out[3]) {
    const int32_t *tet = e->tet + f / 4 * 4;
    double cube;
    bool flip = sn_tet_volume6(e->data->position, tet, &cube) < 0;
    for (size_t c = 0; c < 3; c++)
        out[c] = tet[sn_tet_faces[f % 4][flip ? 2 - c : c]];
}

/// Faces with more than one tet on a side.
static sn_status count_crowded_faces(examiner *e) {
    sn_status status = SN_OK;
    int32_t *face = NULL, *order = NULL, count = 4 * e->tet_count;
    SN_TRY_NEW(e->context, face, (size_t)count * 3);
    SN_TRY_NEW(e->context, order, count);
    for (size_t f = 0; f < (size_t)count; f++)
        copy_face(e, f, face + 3 * f);
    SN_TRY(sn_tuple_order(e->context, e->data->vertex_count, count, 3, face, order));
    for (int32_t i = 0, next = 0, pair[2]; i < count; i = next) {
        for (next = i; next < count; next++)
            if (!sn_tuple_same(3, face + 3 * (size_t)order[next], face + 3 * (size_t)order[i]))
                break;
        e->report->nonmanifold_edges +=
            sn_faces_crowd(face, next - i, order + i, pair) &&
            !sn_tets_are_copies(e->data->position, e->tet + 4 * (size_t)(pair[0] / 4),
                                e->tet + 4 * (size_t)(pair[1] / 4));
    }
cleanup:
    SN_RELEASE(e->context, face);
    SN_RELEASE(e->context, order);
    return status;
}

/// Edges of the tets, each once.
static sn_status count_tet_edges(examiner *e) {
    static const int32_t corner[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    sn_status status = SN_OK;
    int32_t *edge = NULL, *order = NULL, count = 6 * e->tet_count;
    SN_TRY_NEW(e->context, edge, (size_t)count * 2);
    SN_TRY_NEW(e->context, order, count);
    for (size_t i = 0; i < (size_t)count; i++)
        for (size_t c = 0; c < 2; c++)
            edge[2 * i + c] = e->tet[i / 6 * 4 + (size_t)corner[i % 6][c]];
    SN_TRY(sn_tuple_order(e->context, e->data->vertex_count, count, 2, edge, order));
    for (int32_t i = 0; i < count; i++)
        e->report->edge_count +=
            i == 0 || !sn_tuple_same(2, edge + 2 * (size_t)order[i], edge + 2 * (size_t)order[i - 1]);
cleanup:
    SN_RELEASE(e->context, edge);
    SN_RELEASE(e->context, order);
    return status;
}

static sn_status examine_sharing(examiner *e) {
    sn_status status = SN_OK;
    sn_edge_census census = {0};
    SN_TRY(sn_edge_census_take(e->context, e->data->vertex_count, e->triangle_count, e->triangle, &census));
    e->report->boundary_edges = census.boundary;
    e->report->nonmanifold_edges = census.nonmanifold;
    e->report->misoriented_edges = census.misoriented;
    e->report->edge_count = e->tet_count > 0 ? 0 : census.edges;
    if (e->tet_count > 0) {
        SN_TRY(count_crowded_faces(e));
        SN_TRY(count_tet_edges(e));
    }
cleanup:
    return status;
}

static sn_mesh_report empty_report(int32_t vertex_count) {
    sn_mesh_report report = {.vertex_count = vertex_count,
                             .low = {INFINITY, INFINITY, INFINITY},
                             .high = {-INFINITY, -INFINITY, -INFINITY},
                             .first_bad_cell = -1,
                             .first_non_finite_vertex = -1,
                             .quality_min = INFINITY,
                             .edge_min = INFINITY};
    return report;
}

/// Quantities of which there were none become 0.
static void close_report(sn_mesh_report *report) {
    for (int c = 0; c < 3; c++)
        if (report->low[c] > report->high[c])
            report->low[c] = report->high[c] = 0;
    if (report->edge_min > report->edge_max)
        report->edge_min = 0;
    if (isinf(report->quality_min))
        report->quality_min = 0;
}

sn_status sn_mesh_data_report(const sn_mesh_data *data, sn_mesh_report *out_report) {
    if (!data)
        return SN_ERR_INVALID_ARGUMENT;
    if (!out_report)
        return sn_fail(data->context, SN_ERR_INVALID_ARGUMENT, "sn_mesh_data_report: out_report is NULL");
    sn_status status = SN_OK;
    sn_mesh_report report = empty_report(data->vertex_count);
    examiner e = {.context = data->context, .data = data, .report = &report};
    size_t triangles = 0, tets = 0;
    SN_TRY(sn_mesh_data_check_arrays(data->context, data));
    count_cells(data, &report, &triangles, &tets);
    if (triangles > INT32_MAX / 3 || tets > INT32_MAX / 6) {
        status = sn_fail(data->context, SN_ERR_MESH, "the mesh has more than %d triangles or %d tetrahedra",
                         INT32_MAX / 3, INT32_MAX / 6);
        goto cleanup;
    }
    SN_TRY_NEW(data->context, e.triangle, triangles * 3);
    SN_TRY_NEW(data->context, e.tet, tets * 4);
    SN_TRY_NEW(data->context, e.parent, data->vertex_count);
    SN_TRY_NEW_ZEROED(data->context, e.reference, data->vertex_count);
    for (int32_t v = 0; v < data->vertex_count; v++)
        e.parent[v] = v;
    examine_cells(&e, true);
    examine_cells(&e, false);
    examine_vertices(&e);
    SN_TRY(count_duplicates(&e));
    SN_TRY(examine_sharing(&e));
    close_report(&report);
    if (e.tet_count == 0)
        report.volume = enclosed_volume(&e);
    *out_report = report;
cleanup:
    SN_RELEASE(data->context, e.triangle);
    SN_RELEASE(data->context, e.tet);
    SN_RELEASE(data->context, e.parent);
    SN_RELEASE(data->context, e.reference);
    return status;
}
