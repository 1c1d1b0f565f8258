// Which tets of a lattice the surface touches, and which of the others are inside.
#include "base/base_parallel.h"
#include "geom/geom_predicate.h"
#include "mesh/mesh_lattice.h"

#include <math.h>
#include <string.h>

/// A cell of an open surface's lattice is decided as a whole if its winding number is this far from one half.
#define CLEAR_MARGIN 0.25

/// Boxes that lie apart by this much need no closer look.
#define BOX_SLACK 1e-3

/// A triangle in lattice coordinates, with its box and plane.
typedef struct facet {
    double corner[9], low[3], high[3], normal[3], level;
} facet;

static facet make_facet(const sn_lattice *l, int32_t t) {
    facet f;
    for (int i = 0; i < 3; i++)
        memcpy(f.corner + 3 * i, sn_lattice_vertex(l, t, i), 3 * sizeof *f.corner);
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
static bool plane_meets_cell(const sn_lattice *l, const facet *f, const int32_t place[3]) {
    double middle = 0, reach = 0, half = 0.5 * l->pattern.reach;
    for (int c = 0; c < 3; c++) {
        middle += f->normal[c] * (2.0 * place[c] + half);
        reach += fabs(f->normal[c]) * (half + BOX_SLACK);
    }
    return fabs(middle - f->level) <= reach;
}

static bool box_meets_tet(const facet *f, const double corner[12]) {
    for (int c = 0; c < 3; c++) {
        double low = fmin(fmin(corner[c], corner[3 + c]), fmin(corner[6 + c], corner[9 + c]));
        double high = fmax(fmax(corner[c], corner[3 + c]), fmax(corner[6 + c], corner[9 + c]));
        if (f->low[c] > high + BOX_SLACK || f->high[c] < low - BOX_SLACK)
            return false;
    }
    return true;
}

static uint16_t touched_tets(const sn_lattice *l, const facet *f, const int32_t place[3]) {
    uint16_t mask = 0;
    for (int32_t t = 0; t < l->pattern.tet_count; t++) {
        double corner[12];
        sn_lattice_corners(l, place, t, corner);
        if (box_meets_tet(f, corner) && sn_triangle_meets_tet(f->corner, corner, SN_TOUCH_TOLERANCE))
            mask |= (uint16_t)(1 << t);
    }
    return mask;
}

/// Triangles with the cells they may touch, layer by layer along z: counted first, then looked at.
typedef struct mark_job {
    sn_lattice *l;
    bool counting;
    int64_t *layer_end; ///< [layers] candidates so far
    int32_t *cell, *triangle;
    uint16_t *mask;
} mark_job;

static void take_cell(mark_job *job, const facet *f, int32_t triangle, const int32_t place[3]) {
    sn_lattice *l = job->l;
    if (!plane_meets_cell(l, f, place))
        return;
    int64_t at = job->layer_end[place[2]];
    if (!job->counting) {
        int32_t cell = sn_lattice_cell(l, place);
        uint16_t mask = touched_tets(l, f, place);
        if (mask == 0)
            return;
        job->cell[at] = cell;
        job->triangle[at] = triangle;
        job->mask[at] = mask;
        l->touched[cell] |= mask;
        l->touch_begin[cell + 1]++;
    }
    job->layer_end[place[2]] = at + 1;
}

static void take_layers(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    mark_job *job = data;
    const sn_lattice *l = job->l;
    for (int32_t t = 0; t < l->surface->triangle_count; t++) {
        facet f = make_facet(l, t);
        int32_t first[3], last[3], place[3];
        for (int c = 0; c < 3; c++) {
            // A cell's tets span 2 place to 2 place + reach.
            first[c] = (int32_t)ceil(fmax(0, 0.5 * (f.low[c] - l->pattern.reach) - BOX_SLACK));
            last[c] = (int32_t)fmin(l->n[c] - 1, floor(0.5 * f.high[c] + BOX_SLACK));
        }
        first[2] = first[2] > begin ? first[2] : begin;
        last[2] = last[2] < end - 1 ? last[2] : end - 1;
        for (place[2] = first[2]; place[2] <= last[2]; place[2]++)
            for (place[1] = first[1]; place[1] <= last[1]; place[1]++)
                for (place[0] = first[0]; place[0] <= last[0]; place[0]++)
                    take_cell(job, &f, t, place);
    }
}

/// Turns counts into where each layer begins; returns the sum.
static int64_t sum_layers(const sn_lattice *l, int64_t *layer) {
    int64_t sum = 0;
    for (int32_t z = 0; z < l->n[2]; z++) {
        int64_t count = layer[z];
        layer[z] = sum;
        sum += count;
    }
    return sum;
}

/// Puts the touches in the order of their cells; within a cell they come in the order of their triangles.
static sn_status sort_touches(mark_job *job, const int64_t *layer_begin) {
    sn_status status = SN_OK;
    sn_lattice *l = job->l;
    for (int32_t cell = 0; cell < l->cell_count; cell++)
        l->touch_begin[cell + 1] += l->touch_begin[cell];
    SN_TRY_NEW(l->context, l->touch_triangle, l->touch_begin[l->cell_count]);
    SN_TRY_NEW(l->context, l->touch_mask, l->touch_begin[l->cell_count]);
    for (int32_t z = 0; z < l->n[2]; z++)
        for (int64_t i = layer_begin[z]; i < job->layer_end[z]; i++) {
            int32_t at = l->touch_begin[job->cell[i]]++;
            l->touch_triangle[at] = job->triangle[i];
            l->touch_mask[at] = job->mask[i];
        }
    // Every start has moved to the next one.
    memmove(l->touch_begin + 1, l->touch_begin, (size_t)l->cell_count * sizeof *l->touch_begin);
    l->touch_begin[0] = 0;
cleanup:
    return status;
}

sn_status sn_lattice_mark(sn_lattice *l) {
    sn_status status = SN_OK;
    sn_context *ctx = l->context;
    mark_job job = {.l = l, .counting = true};
    int64_t *layer_begin = NULL;
    SN_TRY_NEW_ZEROED(ctx, l->touched, l->cell_count);
    SN_TRY_NEW_ZEROED(ctx, l->touch_begin, (size_t)l->cell_count + 1);
    SN_TRY_NEW_ZEROED(ctx, job.layer_end, l->n[2]);
    SN_TRY_NEW(ctx, layer_begin, l->n[2]);
    sn_parallel_for(ctx, l->n[2], SN_LAYER_GRAIN, take_layers, &job);
    int64_t most = sum_layers(l, job.layer_end);
    if (most > INT32_MAX)
        SN_TRY(sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                       "the surface passes its lattice at more than %d places; use fewer cells", INT32_MAX));
    memcpy(layer_begin, job.layer_end, (size_t)l->n[2] * sizeof *layer_begin);
    SN_TRY_NEW(ctx, job.cell, most);
    SN_TRY_NEW(ctx, job.triangle, most);
    SN_TRY_NEW(ctx, job.mask, most);
    job.counting = false;
    sn_parallel_for(ctx, l->n[2], SN_LAYER_GRAIN, take_layers, &job);
    SN_TRY(sort_touches(&job, layer_begin));
cleanup:
    SN_RELEASE(ctx, job.layer_end);
    SN_RELEASE(ctx, layer_begin);
    SN_RELEASE(ctx, job.cell);
    SN_RELEASE(ctx, job.triangle);
    SN_RELEASE(ctx, job.mask);
    return status;
}

// ---- Inside

static bool centroid_inside(const sn_lattice *l, const int32_t place[3], int32_t t) {
    double corner[12], center[3];
    sn_lattice_corners(l, place, t, corner);
    for (int c = 0; c < 3; c++)
        center[c] = 0.25 * (corner[c] + corner[3 + c] + corner[6 + c] + corner[9 + c]);
    return sn_winding_inside(l->winding, center);
}

/// What is known of the tets that no triangle touches.
typedef struct fill_job {
    sn_lattice *l;
    uint16_t *inside, *outside; ///< [cell_count]
} fill_job;

typedef enum side { SIDE_UNKNOWN, SIDE_IN, SIDE_OUT } side;

/// Asks the neighbors in the same layer, which is decided by one thread.
static side side_from_neighbors(const fill_job *job, const int32_t place[3], int32_t t) {
    for (int face = 0; face < 4; face++) {
        const int32_t *across = job->l->pattern.across[t][face];
        int32_t other[3] = {place[0] + across[0], place[1] + across[1], place[2] + across[2]};
        if (across[2] != 0)
            continue;
        int32_t cell = sn_lattice_cell(job->l, other);
        if (cell < 0 || job->outside[cell] >> across[3] & 1)
            return SIDE_OUT;
        if (job->inside[cell] >> across[3] & 1)
            return SIDE_IN;
    }
    return SIDE_UNKNOWN;
}

static void set_side(fill_job *job, int32_t cell, int32_t t, bool in) {
    uint16_t *set = in ? job->inside : job->outside;
    set[cell] |= (uint16_t)(1 << t);
}

/// Decides the untouched tets of a cell. No triangle comes between two untouched tets that share a face, so
/// what is known of a neighbor holds; the winding number is asked only where nothing is known.
static void decide_cell(fill_job *job, int32_t cell) {
    const sn_lattice *l = job->l;
    int32_t place[3], all = (1 << l->pattern.tet_count) - 1;
    sn_lattice_place(l, cell, place);
    for (;;) {
        bool spread = false;
        int32_t open = all & ~(l->touched[cell] | job->inside[cell] | job->outside[cell]), asked = -1;
        if (open == 0)
            return;
        for (int32_t t = 0; t < l->pattern.tet_count; t++) {
            if (!(open >> t & 1))
                continue;
            side found = side_from_neighbors(job, place, t);
            if (found == SIDE_UNKNOWN) {
                asked = asked < 0 ? t : asked;
                continue;
            }
            set_side(job, cell, t, found == SIDE_IN);
            spread = true;
        }
        if (!spread)
            set_side(job, cell, asked, centroid_inside(l, place, asked));
    }
}

static void fill_closed_layers(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    fill_job *job = data;
    int32_t layer = job->l->n[0] * job->l->n[1];
    for (int32_t cell = begin * layer; cell < end * layer; cell++) {
        decide_cell(job, cell);
        job->l->kept[cell] = job->l->touched[cell] | job->inside[cell];
    }
}

/// The winding number of an open surface changes smoothly away from it: cells far from one half are decided
/// as a whole.
static void fill_open_layers(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    sn_lattice *l = ((fill_job *)data)->l;
    int32_t layer = l->n[0] * l->n[1], all = (1 << l->pattern.tet_count) - 1;
    for (int32_t cell = begin * layer; cell < end * layer; cell++) {
        int32_t place[3];
        sn_lattice_place(l, cell, place);
        double middle[3] = {2 * place[0] + 1, 2 * place[1] + 1, 2 * place[2] + 1};
        l->kept[cell] = l->touched[cell];
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

sn_status sn_lattice_fill(sn_lattice *l) {
    sn_status status = SN_OK;
    fill_job job = {.l = l};
    SN_TRY_NEW(l->context, l->kept, l->cell_count);
    if (l->closed) {
        SN_TRY_NEW_ZEROED(l->context, job.inside, l->cell_count);
        SN_TRY_NEW_ZEROED(l->context, job.outside, l->cell_count);
    }
    sn_parallel_for(l->context, l->n[2], SN_LAYER_GRAIN, l->closed ? fill_closed_layers : fill_open_layers,
                    &job);
cleanup:
    SN_RELEASE(l->context, job.inside);
    SN_RELEASE(l->context, job.outside);
    return status;
}
