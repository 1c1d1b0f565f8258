#include "mesh/mesh_lattice.h"

#include "base/base_parallel.h"
#include "geom/geom_outward.h"
#include "mesh/mesh_def.h"
#include "mesh/mesh_topology.h"

#include <math.h>
#include <string.h>

/// The edge exceeds (longest side / cells) by this part. Without it, a box whose sides are whole numbers of
/// cells would be wrapped in a layer of tets that touch it but hold nothing of it.
#define EDGE_EXCESS 0x1p-30

enum {
    /// Node coordinates are multiples of the half edge's leading bit times this: differences of nodes are
    /// then exact, and so are the zeros of the metric.
    COORDINATE_BITS = 36,
    CELLS_MAX = 1000,
    TRIES_MAX = 10 ///< Lattices looked at in search of one with a wanted number of tets.
};

/// The surface as it was given, and where it lies.
typedef struct source {
    const sn_mesh_data *data;
    int32_t triangle_count, *triangle;
    double low[3], high[3], longest;
} source;

/// Takes back everything but the source.
static void clear_lattice(sn_lattice *l) {
    sn_context *ctx = l->context;
    sn_winding_destroy(&l->winding);
    sn_bvh_destroy(&l->bvh);
    sn_surface_destroy(&l->surface);
    SN_RELEASE(ctx, l->beyond);
    SN_RELEASE(ctx, l->touched);
    SN_RELEASE(ctx, l->kept);
    SN_RELEASE(ctx, l->touch_begin);
    SN_RELEASE(ctx, l->touch_triangle);
    SN_RELEASE(ctx, l->touch_mask);
    SN_RELEASE(ctx, l->touch_label);
    SN_RELEASE(ctx, l->label);
    SN_RELEASE(ctx, l->tet_begin);
    SN_RELEASE(ctx, l->piece_count);
    SN_RELEASE(ctx, l->face_piece);
    SN_RELEASE(ctx, l->center_piece);
    SN_RELEASE(ctx, l->copy_begin);
}

static sn_status take_source(sn_context *ctx, const sn_mesh_data *data, source *from) {
    sn_status status = sn_mesh_data_triangles(data, &from->triangle_count, &from->triangle);
    from->data = data;
    if (status < 0)
        return status;
    if (from->triangle_count == 0)
        return sn_fail(ctx, SN_ERR_MESH, "the surface has no triangles, so there is nothing to fill");
    for (size_t i = 0; i < (size_t)data->vertex_count * 3; i++)
        if (!(fabs(data->position[i]) <= SN_LENGTH_MOST))
            return sn_fail(
                ctx, SN_ERR_MESH,
                "vertex %zu of the surface is not finite or too far away to compute with; repair the file",
                i / 3);
    for (int c = 0; c < 3; c++) {
        from->low[c] = INFINITY;
        from->high[c] = -INFINITY;
    }
    for (size_t i = 0; i < (size_t)from->triangle_count * 9; i++) {
        double x = data->position[3 * (size_t)from->triangle[i / 3] + i % 3];
        from->low[i % 3] = fmin(from->low[i % 3], x);
        from->high[i % 3] = fmax(from->high[i % 3], x);
    }
    for (int c = 0; c < 3; c++)
        from->longest = fmax(from->longest, from->high[c] - from->low[c]);
    return SN_OK;
}

/// Chooses origin and number of cells for an edge.
static sn_status place_block(sn_lattice *l, const source *from, double edge) {
    double count = 1;
    int exponent = 0;
    l->half = 0.5 * edge * (1 + EDGE_EXCESS);
    frexp(l->half, &exponent);
    double quantum = ldexp(1, exponent - COORDINATE_BITS);
    l->half = ceil(l->half / quantum) * quantum;
    for (int c = 0; c < 3; c++) {
        l->n[c] = 2 + (int32_t)fmax(1, ceil((from->high[c] - from->low[c]) / (2 * l->half)));
        l->origin[c] =
            rint((0.5 * from->low[c] + 0.5 * from->high[c] - l->n[c] * l->half) / quantum) * quantum;
        count *= l->n[c] + 1;
    }
    if (count * l->pattern.node_kinds > INT32_MAX)
        return sn_fail(l->context, SN_ERR_INVALID_ARGUMENT,
                       "a lattice of %d x %d x %d cells has more nodes than can be numbered; use fewer cells",
                       l->n[0], l->n[1], l->n[2]);
    l->cell_count = l->n[0] * l->n[1] * l->n[2];
    return SN_OK;
}

/// Puts the surface into the block: in lattice coordinates, vertices joined, triangles turned outward.
static sn_status take_surface(sn_lattice *l, const source *from, sn_edge_census *out_census) {
    sn_status status = SN_OK;
    sn_context *ctx = l->context;
    double *place = NULL, *box = NULL;
    SN_TRY_NEW(ctx, place, (size_t)from->data->vertex_count * 3);
    SN_TRY_NEW(ctx, box, (size_t)from->triangle_count * 6);
    for (size_t i = 0; i < (size_t)from->data->vertex_count * 3; i++)
        place[i] = (from->data->position[i] - l->origin[i % 3]) / l->half;
    SN_TRY(sn_surface_create(ctx, from->data->vertex_count, place, from->triangle_count, from->triangle,
                             &l->surface));
    sn_triangle_boxes(from->triangle_count, l->surface->triangle, l->surface->position, box);
    SN_TRY(sn_bvh_create(ctx, from->triangle_count, box, &l->bvh));
    SN_TRY(sn_surface_turn_outward(l->surface, l->bvh, &l->winding));
    SN_TRY(sn_edge_census_take(ctx, from->data->vertex_count, from->triangle_count, l->surface->triangle,
                               out_census));
    l->closed = out_census->balanced;
cleanup:
    SN_RELEASE(ctx, place);
    SN_RELEASE(ctx, box);
    return status;
}

/// Finds the tets that are kept, and numbers them.
static sn_status keep_tets(sn_lattice *l, const source *from, double edge, sn_edge_census *out_census) {
    sn_status status = SN_OK;
    int64_t tets = 0;
    SN_TRY(place_block(l, from, edge));
    SN_TRY(take_surface(l, from, out_census));
    SN_TRY(sn_lattice_mark(l));
    SN_TRY(sn_lattice_fill(l));
    SN_TRY_NEW(l->context, l->tet_begin, (size_t)l->cell_count + 1);
    for (int32_t cell = 0; cell <= l->cell_count; cell++) {
        l->tet_begin[cell] = (int32_t)tets;
        tets += cell < l->cell_count ? __builtin_popcount(l->kept[cell]) : 0;
        if (tets > INT32_MAX / 4)
            SN_TRY(sn_fail(l->context, SN_ERR_INVALID_ARGUMENT,
                           "the lattice has more than %d tetrahedra; use fewer cells", INT32_MAX / 4));
    }
cleanup:
    return status;
}

/// Tets of the lattice with so many cells along the longest side.
static sn_status count_tets(sn_context *ctx, const source *from, const sn_lattice_def *def, int32_t cells,
                            int32_t *out_tets) {
    sn_lattice l = {.context = ctx, .pattern = sn_lattice_pattern_make(def->kind)};
    sn_edge_census census;
    sn_status status = keep_tets(&l, from, from->longest / cells, &census);
    if (status == SN_OK)
        *out_tets = l.tet_begin[l.cell_count];
    clear_lattice(&l);
    return status;
}

/// Finds the number of cells whose lattice has about as many tets as wanted: the last one with fewer, or the
/// first one with more. Each try scales by what the last one taught.
static sn_status search_cells(sn_context *ctx, const source *from, const sn_lattice_def *def,
                              int32_t *out_cells) {
    int32_t low = 0, high = CELLS_MAX + 1, low_tets = 0, high_tets = INT32_MAX, tets = 0;
    double space = 1, guess;
    for (int c = 0; c < 3; c++)
        space *= fmax(from->high[c] - from->low[c], 0.01 * from->longest) / from->longest;
    guess = cbrt(def->tets / (4 * space));
    for (int i = 0; i < TRIES_MAX && high - low > 1; i++) {
        int32_t cells = (int32_t)fmin(high - 1, fmax(low + 1, rint(guess)));
        sn_status status = count_tets(ctx, from, def, cells, &tets);
        if (status < 0)
            return status;
        if (tets <= def->tets)
            low = cells, low_tets = tets;
        else
            high = cells, high_tets = tets;
        guess = cells * cbrt((double)def->tets / tets);
    }
    bool lower = low > 0 && (high > CELLS_MAX || def->tets - low_tets <= (int64_t)high_tets - def->tets);
    *out_cells = lower ? low : high;
    return SN_OK;
}

/// Edge of the cells that the definition asks for.
static sn_status choose_edge(sn_context *ctx, const source *from, const sn_lattice_def *def,
                             double *out_edge) {
    int32_t cells = def->cells;
    if (!(from->longest / CELLS_MAX >= SN_LENGTH_LEAST))
        return sn_fail(ctx, SN_ERR_MESH, "the surface has no extent (longest side %g), so it holds nothing",
                       from->longest);
    if (def->resolution == SN_RESOLUTION_EDGE) {
        if (from->longest / def->edge > CELLS_MAX)
            return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                           "an edge of %g cuts the longest side of the surface (%g) into more than %d cells; "
                           "use an edge of at least %g",
                           def->edge, from->longest, CELLS_MAX, from->longest / CELLS_MAX);
        *out_edge = fmin(def->edge, from->longest);
        return SN_OK;
    }
    if (def->resolution == SN_RESOLUTION_TETS) {
        sn_status status = search_cells(ctx, from, def, &cells);
        if (status < 0)
            return status;
    }
    *out_edge = from->longest / cells;
    return SN_OK;
}

/// Warns of what the surface leaves open.
static void warn(const sn_lattice *l, const sn_edge_census *census, const sn_mesh *mesh) {
    if (!census->balanced)
        sn_log(l->context, SN_LOG_WARNING,
               "the surface is not closed (%d boundary edges, %d misoriented edges): inside is where its "
               "winding number is above one half",
               census->boundary, census->misoriented);
    if (l->crowded > 0)
        sn_log(l->context, SN_LOG_WARNING,
               "%d tetrahedra hold too many pieces of the surface (more than %d, or 128 patches) and are not "
               "split; use more cells",
               l->crowded, SN_PIECES_MAX);
    if (mesh->piece_count > 1)
        sn_log(l->context, SN_LOG_WARNING,
               "the solid is in %d pieces that nothing holds together; `sinew mesh lattice` lists them",
               mesh->piece_count);
}

static sn_status make_lattice(sn_lattice *l, const source *from, const sn_lattice_def *def,
                              sn_mesh **out_mesh, sn_embedding **out_embedding) {
    sn_status status = SN_OK;
    sn_mesh *mesh = NULL;
    sn_edge_census census;
    double edge = 0;
    SN_TRY(choose_edge(l->context, from, def, &edge));
    SN_TRY(keep_tets(l, from, edge, &census));
    SN_TRY(sn_lattice_find_pieces(l));
    SN_TRY_NEW_ZEROED(l->context, mesh, 1);
    mesh->context = l->context;
    SN_TRY(sn_lattice_join(l, mesh));
    SN_TRY(sn_mesh_finish(mesh));
    warn(l, &census, mesh);
    SN_TRY(sn_lattice_embed(l, mesh, from->data, from->triangle, out_embedding));
    *out_mesh = mesh;
    mesh = NULL;
cleanup:
    sn_mesh_destroy(&mesh);
    return status;
}

sn_status sn_lattice_create(sn_context *context, const sn_mesh_data *surface, const sn_lattice_def *def,
                            sn_mesh **out_mesh, sn_embedding **out_embedding) {
    if (!context)
        return SN_ERR_INVALID_ARGUMENT;
    if (!surface || !def || !out_mesh || !out_embedding)
        return sn_fail(context, SN_ERR_INVALID_ARGUMENT, "sn_lattice_create: an argument is NULL");
    sn_status status = SN_OK;
    source from = {0};
    sn_lattice l = {.context = context};
    SN_TRY(sn_field_check(context, &sn_lattice_fields, def));
    SN_TRY(sn_mesh_data_check_indices(context, surface));
    SN_TRY(take_source(context, surface, &from));
    l.pattern = sn_lattice_pattern_make(def->kind);
    SN_TRY(make_lattice(&l, &from, def, out_mesh, out_embedding));
cleanup:
    clear_lattice(&l);
    sn_mesh_data_free_array(surface, from.triangle);
    return status;
}
