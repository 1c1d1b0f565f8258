/// Lattices around closed surfaces, in three passes over a block of cells that holds the surface with a cell
/// to spare: mark the tets that a triangle touches, decide the others by the winding number, number what is
/// kept.
///
/// Coordinates in here are half cell edges from the block's low corner, so that lattice nodes are whole
/// numbers.
#include "base/base_parallel.h"
#include "geom/geom_bvh.h"
#include "geom/geom_predicate.h"
#include "geom/geom_winding.h"
#include "mesh/mesh_def.h"
#include "mesh/mesh_internal.h"
#include "mesh/mesh_pattern.h"
#include "mesh/mesh_topology.h"

#include <math.h>
#include <string.h>

enum { LAYER_GRAIN = 1 };

/// A triangle touches a tet if the gap between them is below this part of the tet's extent.
#define TOUCH_TOLERANCE 1e-12

/// The edge exceeds (longest side / cells) by this part. Without it, a box whose sides are whole numbers of
/// cells would be wrapped in a layer of tets that touch it but hold nothing of it.
#define EDGE_EXCESS 0x1p-30

/// Node coordinates are multiples of the half edge's leading bit times this: differences of nodes are then
/// exact, and so are the zeros of the metric.
enum { COORDINATE_BITS = 36 };

/// A cell of an open surface's lattice is decided as a whole if its winding number is this far from one half.
#define CLEAR_MARGIN 0.25

typedef struct lattice {
    sn_context *context;
    sn_lattice_pattern pattern;
    int32_t n[3]; ///< Cells of the block.
    int32_t cell_count;
    double origin[3], half; ///< Low corner and half edge in the surface's unit.
    int32_t vertex_count, triangle_count;
    double *vertex; ///< [vertex_count, 3] surface vertices in lattice coordinates
    int32_t *triangle;
    uint16_t *kept;    ///< [cell_count] one bit a tet
    uint16_t *outside; ///< [cell_count] tets known to be outside
    sn_bvh *bvh;
    sn_winding *winding;
} lattice;

static void release_lattice(lattice *l) {
    SN_RELEASE(l->context, l->vertex);
    SN_RELEASE(l->context, l->triangle);
    SN_RELEASE(l->context, l->kept);
    SN_RELEASE(l->context, l->outside);
    sn_winding_destroy(&l->winding);
    sn_bvh_destroy(&l->bvh);
}

/// Bounds of the vertices that triangles use.
static sn_status find_bounds(const lattice *l, const sn_mesh_data *surface, double low[3], double high[3]) {
    if (l->triangle_count == 0)
        return sn_fail(l->context, SN_ERR_MESH, "the surface has no triangles, so there is nothing to fill");
    for (size_t i = 0; i < (size_t)surface->vertex_count * 3; i++)
        if (!(fabs(surface->position[i]) <= SN_LENGTH_MOST))
            return sn_fail(
                l->context, SN_ERR_MESH,
                "vertex %zu of the surface is not finite or too far away to compute with; repair the file",
                i / 3);
    for (int c = 0; c < 3; c++) {
        low[c] = INFINITY;
        high[c] = -INFINITY;
    }
    for (size_t i = 0; i < (size_t)l->triangle_count * 9; i++) {
        double x = surface->position[3 * (size_t)l->triangle[i / 3] + i % 3];
        low[i % 3] = fmin(low[i % 3], x);
        high[i % 3] = fmax(high[i % 3], x);
    }
    return SN_OK;
}

/// Chooses edge, origin and number of cells.
static sn_status place_block(lattice *l, const sn_mesh_data *surface, int32_t cells) {
    double low[3], high[3], count = 1;
    int exponent = 0;
    sn_status status = find_bounds(l, surface, low, high);
    if (status < 0)
        return status;
    double longest = fmax(high[0] - low[0], fmax(high[1] - low[1], high[2] - low[2]));
    if (!(longest / cells >= SN_LENGTH_LEAST))
        return sn_fail(l->context, SN_ERR_MESH,
                       "the surface has no extent (longest side %g), so it holds nothing", longest);
    l->half = 0.5 * longest / cells * (1 + EDGE_EXCESS);
    frexp(l->half, &exponent);
    double quantum = ldexp(1, exponent - COORDINATE_BITS);
    l->half = ceil(l->half / quantum) * quantum;
    for (int c = 0; c < 3; c++) {
        l->n[c] = 2 + (int32_t)fmax(1, ceil((high[c] - low[c]) / (2 * l->half)));
        l->origin[c] = rint((0.5 * low[c] + 0.5 * high[c] - l->n[c] * l->half) / quantum) * quantum;
        count *= l->n[c] + 1;
    }
    if (count * l->pattern.node_kinds > INT32_MAX)
        return sn_fail(l->context, SN_ERR_INVALID_ARGUMENT,
                       "a lattice of %d x %d x %d cells has more nodes than can be numbered; use fewer cells",
                       l->n[0], l->n[1], l->n[2]);
    l->cell_count = l->n[0] * l->n[1] * l->n[2];
    return SN_OK;
}

static sn_status take_surface(lattice *l, const sn_mesh_data *surface, int32_t cells) {
    sn_status status = SN_OK;
    int32_t *triangle = NULL;
    SN_TRY(sn_mesh_data_triangles(surface, &l->triangle_count, &triangle));
    // The surface may belong to another context.
    SN_TRY(sn_new_copy(l->context, triangle, (size_t)l->triangle_count * 3, sizeof *triangle,
                       (void **)&l->triangle));
    SN_TRY(place_block(l, surface, cells));
    l->vertex_count = surface->vertex_count;
    SN_TRY_NEW(l->context, l->vertex, (size_t)l->vertex_count * 3);
    for (size_t i = 0; i < (size_t)l->vertex_count * 3; i++)
        l->vertex[i] = (surface->position[i] - l->origin[i % 3]) / l->half;
    SN_TRY_NEW_ZEROED(l->context, l->kept, l->cell_count);
    SN_TRY_NEW_ZEROED(l->context, l->outside, l->cell_count);
cleanup:
    sn_mesh_data_free_array(surface, triangle);
    return status;
}

static void cell_place(const lattice *l, int32_t cell, int32_t place[3]) {
    place[0] = cell % l->n[0];
    place[1] = cell / l->n[0] % l->n[1];
    place[2] = cell / l->n[0] / l->n[1];
}

static int32_t cell_at(const lattice *l, const int32_t place[3]) {
    for (int c = 0; c < 3; c++)
        if (place[c] < 0 || place[c] >= l->n[c])
            return -1;
    return (place[2] * l->n[1] + place[1]) * l->n[0] + place[0];
}

/// Corners of a tet in lattice coordinates.
static void tet_corners(const lattice *l, const int32_t place[3], int32_t t, double corner[12]) {
    for (int i = 0; i < 4; i++)
        for (int c = 0; c < 3; c++)
            corner[3 * i + c] = 2.0 * place[c] + l->pattern.corner[t][i][c];
}

/// A triangle in lattice coordinates, with its box and plane.
typedef struct facet {
    double corner[9], low[3], high[3], normal[3], level;
} facet;

static facet make_facet(const lattice *l, int32_t t) {
    facet f;
    for (int i = 0; i < 9; i++)
        f.corner[i] = l->vertex[3 * (size_t)l->triangle[3 * (size_t)t + i / 3] + i % 3];
    for (int c = 0; c < 3; c++) {
        f.low[c] = fmin(f.corner[c], fmin(f.corner[3 + c], f.corner[6 + c]));
        f.high[c] = fmax(f.corner[c], fmax(f.corner[3 + c], f.corner[6 + c]));
        int d = (c + 1) % 3, e = (c + 2) % 3;
        f.normal[c] = (f.corner[3 + d] - f.corner[d]) * (f.corner[6 + e] - f.corner[e]) -
                      (f.corner[3 + e] - f.corner[e]) * (f.corner[6 + d] - f.corner[d]);
    }
    f.level = f.normal[0] * f.corner[0] + f.normal[1] * f.corner[1] + f.normal[2] * f.corner[2];
    return f;
}

/// Whether the plane of a facet passes the box of a cell's tets; generous by a thousandth.
static bool plane_meets_cell(const lattice *l, const facet *f, const int32_t place[3]) {
    double middle = 0, reach = 0, half = 0.5 * l->pattern.reach;
    for (int c = 0; c < 3; c++) {
        middle += f->normal[c] * (2.0 * place[c] + half);
        reach += fabs(f->normal[c]) * (half + 1e-3);
    }
    return fabs(middle - f->level) <= reach;
}

static void mark_cell(lattice *l, const facet *f, const int32_t place[3]) {
    int32_t cell = cell_at(l, place);
    if (!plane_meets_cell(l, f, place))
        return;
    for (int32_t t = 0; t < l->pattern.tet_count; t++) {
        double corner[12];
        if (l->kept[cell] >> t & 1)
            continue;
        tet_corners(l, place, t, corner);
        if (sn_triangle_meets_tet(f->corner, corner, TOUCH_TOLERANCE))
            l->kept[cell] |= (uint16_t)(1 << t);
    }
}

/// Marks the tets of the cell layers begin..end-1 along z that some triangle touches.
static void mark_layers(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    lattice *l = data;
    for (int32_t t = 0; t < l->triangle_count; t++) {
        facet f = make_facet(l, t);
        int32_t first[3], last[3], place[3];
        for (int c = 0; c < 3; c++) {
            // A cell's tets span 2 place to 2 place + reach; one in a thousand more for safety.
            first[c] = (int32_t)ceil(fmax(0, 0.5 * (f.low[c] - l->pattern.reach) - 1e-3));
            last[c] = (int32_t)fmin(l->n[c] - 1, floor(0.5 * f.high[c] + 1e-3));
        }
        first[2] = first[2] > begin ? first[2] : begin;
        last[2] = last[2] < end - 1 ? last[2] : end - 1;
        for (place[2] = first[2]; place[2] <= last[2]; place[2]++)
            for (place[1] = first[1]; place[1] <= last[1]; place[1]++)
                for (place[0] = first[0]; place[0] <= last[0]; place[0]++)
                    mark_cell(l, &f, place);
    }
}

static bool centroid_inside(const lattice *l, const int32_t place[3], int32_t t) {
    double corner[12], center[3];
    tet_corners(l, place, t, corner);
    for (int c = 0; c < 3; c++)
        center[c] = 0.25 * (corner[c] + corner[3 + c] + corner[6 + c] + corner[9 + c]);
    return sn_winding_inside(l->winding, center);
}

/// What is known of a tet. Inside ones are collected apart from the touched ones, whose neighbors may be
/// either.
typedef enum side { SIDE_UNKNOWN, SIDE_IN, SIDE_OUT } side;

static side side_of_neighbor(const lattice *l, const uint16_t *inside, const int32_t place[3],
                             const int32_t across[4]) {
    int32_t other[3] = {place[0] + across[0], place[1] + across[1], place[2] + across[2]},
            cell = cell_at(l, other);
    if (cell < 0)
        return SIDE_OUT; // beyond the block
    if (inside[cell] >> across[3] & 1)
        return SIDE_IN;
    return l->outside[cell] >> across[3] & 1 ? SIDE_OUT : SIDE_UNKNOWN;
}

static side side_from_neighbors(const lattice *l, const uint16_t *inside, const int32_t place[3], int32_t t) {
    for (int face = 0; face < 4; face++) {
        side found = side_of_neighbor(l, inside, place, l->pattern.across[t][face]);
        if (found != SIDE_UNKNOWN)
            return found;
    }
    return SIDE_UNKNOWN;
}

static void set_side(lattice *l, uint16_t *inside, int32_t cell, int32_t t, bool in) {
    if (in)
        inside[cell] |= (uint16_t)(1 << t);
    else
        l->outside[cell] |= (uint16_t)(1 << t);
}

/// Decides the untouched tets of a cell. No triangle comes between two untouched tets that share a face, so
/// what is known of a neighbor holds; the winding number is asked only where nothing is known.
static void decide_cell(lattice *l, uint16_t *inside, int32_t cell) {
    int32_t place[3], all = (1 << l->pattern.tet_count) - 1;
    cell_place(l, cell, place);
    for (;;) {
        bool spread = false;
        int32_t open = all & ~(l->kept[cell] | inside[cell] | l->outside[cell]), asked = -1;
        if (open == 0)
            return;
        for (int32_t t = 0; t < l->pattern.tet_count; t++) {
            if (!(open >> t & 1))
                continue;
            side found = side_from_neighbors(l, inside, place, t);
            if (found == SIDE_UNKNOWN) {
                asked = asked < 0 ? t : asked;
                continue;
            }
            set_side(l, inside, cell, t, found == SIDE_IN);
            spread = true;
        }
        if (!spread)
            set_side(l, inside, cell, asked, centroid_inside(l, place, asked));
    }
}

static sn_status fill_closed(lattice *l) {
    sn_status status = SN_OK;
    uint16_t *inside = NULL;
    SN_TRY_NEW_ZEROED(l->context, inside, l->cell_count);
    for (int32_t cell = 0; cell < l->cell_count; cell++)
        decide_cell(l, inside, cell);
    for (int32_t cell = 0; cell < l->cell_count; cell++)
        l->kept[cell] |= inside[cell];
cleanup:
    SN_RELEASE(l->context, inside);
    return status;
}

/// The winding number of an open surface changes smoothly away from it: cells far from one half are decided
/// as a whole.
static void fill_open_layers(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    lattice *l = data;
    int32_t layer = l->n[0] * l->n[1], all = (1 << l->pattern.tet_count) - 1;
    for (int32_t cell = begin * layer; cell < end * layer; cell++) {
        int32_t place[3];
        cell_place(l, cell, place);
        double middle[3] = {2 * place[0] + 1, 2 * place[1] + 1, 2 * place[2] + 1};
        if (l->kept[cell] == 0) {
            double number = fabs(sn_winding_number(l->winding, middle));
            if (fabs(number - 0.5) > CLEAR_MARGIN) {
                l->kept[cell] = (uint16_t)(number > 0.5 ? all : 0);
                continue;
            }
        }
        for (int32_t t = 0; t < l->pattern.tet_count; t++)
            if (!(l->kept[cell] >> t & 1) && centroid_inside(l, place, t))
                l->kept[cell] |= (uint16_t)(1 << t);
    }
}

static sn_status fill(lattice *l) {
    sn_status status = SN_OK;
    double *box = NULL;
    sn_edge_census census = {0};
    SN_TRY_NEW(l->context, box, (size_t)l->triangle_count * 6);
    sn_triangle_boxes(l->triangle_count, l->triangle, l->vertex, box);
    SN_TRY(sn_bvh_create(l->context, l->triangle_count, box, &l->bvh));
    SN_TRY(sn_winding_create(l->context, l->vertex, l->triangle, l->bvh, &l->winding));
    SN_TRY(sn_edge_census_take(l->context, l->vertex_count, l->triangle_count, l->triangle, &census));
    if (census.balanced) {
        SN_TRY(fill_closed(l));
    } else {
        sn_log(l->context, SN_LOG_WARNING,
               "the surface is not closed (%d boundary edges, %d misoriented edges): inside is where its "
               "winding number is above one half",
               census.boundary, census.misoriented);
        sn_parallel_for(l->context, l->n[2], LAYER_GRAIN, fill_open_layers, l);
    }
cleanup:
    SN_RELEASE(l->context, box);
    return status;
}

/// Number of a node in the block: by place, corners before centers.
static int32_t node_key(const lattice *l, const int32_t place[3], const int32_t corner[3]) {
    int32_t kind = corner[0] & 1, at[3];
    for (int c = 0; c < 3; c++)
        at[c] = place[c] + (corner[c] >> 1);
    return ((at[2] * (l->n[1] + 1) + at[1]) * (l->n[0] + 1) + at[0]) * l->pattern.node_kinds + kind;
}

static void node_position(const lattice *l, int32_t key, double position[3]) {
    int32_t kind = key % l->pattern.node_kinds, at = key / l->pattern.node_kinds, row = l->n[0] + 1;
    int32_t place[3] = {at % row, at / row % (l->n[1] + 1), at / row / (l->n[1] + 1)};
    for (int c = 0; c < 3; c++)
        position[c] = l->origin[c] + l->half * (2 * place[c] + kind);
}

/// Writes the kept tets with the block's node keys, and marks these keys with 0.
static void collect_tets(const lattice *l, int32_t *tet, int32_t *number) {
    int32_t place[3], *next = tet;
    for (int32_t cell = 0; cell < l->cell_count; cell++) {
        cell_place(l, cell, place);
        for (int32_t t = 0; t < l->pattern.tet_count; t++)
            for (int i = 0; i < 4 && l->kept[cell] >> t & 1; i++) {
                *next = node_key(l, place, l->pattern.corner[t][i]);
                number[*next++] = 0;
            }
    }
}

/// Turns the kept tets into nodes and tets of the mesh.
static sn_status number_kept(const lattice *l, sn_mesh *mesh) {
    sn_status status = SN_OK;
    int32_t *number = NULL;
    int64_t tets = 0;
    size_t keys = (size_t)(l->n[0] + 1) * (l->n[1] + 1) * (l->n[2] + 1) * (size_t)l->pattern.node_kinds;
    for (int32_t cell = 0; cell < l->cell_count; cell++)
        tets += __builtin_popcount(l->kept[cell]);
    if (tets > INT32_MAX / 4)
        return sn_fail(l->context, SN_ERR_INVALID_ARGUMENT,
                       "the lattice has %lld tetrahedra, more than %d; use fewer cells", (long long)tets,
                       INT32_MAX / 4);
    SN_TRY_NEW(l->context, number, keys);
    memset(number, 0xff, keys * sizeof *number);
    SN_TRY_NEW(l->context, mesh->tet, (size_t)tets * 4);
    mesh->tet_count = (int32_t)tets;
    collect_tets(l, mesh->tet, number);
    for (size_t key = 0; key < keys; key++)
        if (number[key] == 0)
            number[key] = mesh->node_count++;
    SN_TRY_NEW(l->context, mesh->position, (size_t)mesh->node_count * 3);
    for (size_t key = 0; key < keys; key++)
        if (number[key] >= 0)
            node_position(l, (int32_t)key, mesh->position + 3 * (size_t)number[key]);
    for (size_t i = 0; i < (size_t)tets * 4; i++)
        mesh->tet[i] = number[mesh->tet[i]];
cleanup:
    SN_RELEASE(l->context, number);
    return status;
}

/// The mesh alone; memory of the block is free again when this returns.
static sn_status make_lattice(sn_context *ctx, const sn_mesh_data *surface, const sn_lattice_def *def,
                              sn_mesh **out_mesh) {
    sn_status status = SN_OK;
    sn_mesh *mesh = NULL;
    lattice l = {.context = ctx, .pattern = sn_lattice_pattern_make(def->kind)};
    SN_TRY(take_surface(&l, surface, def->cells));
    sn_parallel_for(ctx, l.n[2], LAYER_GRAIN, mark_layers, &l);
    SN_TRY(fill(&l));
    SN_TRY_NEW_ZEROED(ctx, mesh, 1);
    mesh->context = ctx;
    SN_TRY(number_kept(&l, mesh));
    *out_mesh = mesh;
    mesh = NULL;
cleanup:
    sn_mesh_destroy(&mesh);
    release_lattice(&l);
    return status;
}

sn_status sn_lattice_create(sn_context *context, const sn_mesh_data *surface, const sn_lattice_def *def,
                            sn_mesh **out_mesh, sn_embedding **out_embedding) {
    if (!context)
        return SN_ERR_INVALID_ARGUMENT;
    if (!surface || !def || !out_mesh || !out_embedding)
        return sn_fail(context, SN_ERR_INVALID_ARGUMENT, "sn_lattice_create: an argument is NULL");
    sn_status status = SN_OK;
    sn_mesh *mesh = NULL;
    sn_embedding *embedding = NULL;
    int32_t outside = 0;
    SN_TRY(sn_field_check(context, &sn_lattice_fields, def));
    SN_TRY(sn_mesh_data_check_indices(context, surface));
    SN_TRY(make_lattice(context, surface, def, &mesh));
    SN_TRY(sn_mesh_finish(mesh));
    SN_TRY(sn_embedding_create(mesh, surface->vertex_count, surface->position, &outside, &embedding));
    if (outside > 0)
        sn_log(context, SN_LOG_WARNING,
               "%d vertices of the surface are in no triangle and outside of the lattice", outside);
    *out_mesh = mesh;
    *out_embedding = embedding;
    mesh = NULL;
    embedding = NULL;
cleanup:
    sn_embedding_destroy(&embedding);
    sn_mesh_destroy(&mesh);
    return status;
}
