#include "geom/geom_field.h"

#include "base/base_parallel.h"
#include "geom/geom_sweep.h"
#include "math/math_mat3.h"

#include <stdlib.h>

enum {
    SIDE = 4,                   ///< cells along a block
    BLOCK = SIDE * SIDE * SIDE, ///< cells in it
    CELLS_PER_BLOCK = 8,        ///< at most one block for so many cells of the limit
    UNKNOWN = INT8_MAX,         ///< winding number that is not known
    GRAIN = 16                  ///< blocks a thread takes at least
};

/// Way from the center of a unit cell to its corner.
static const double CORNER = 0.8660254037844386;

/// Width of the band on either side, in cells.
static const double BAND = 2;

/// What rounding to float and the sums behind a stored distance may add, relative.
static const double MARGIN = 1e-6;

/// A spacing with which the field does not fit is widened by this factor at least.
static const double COARSER = 1.1;

/// Winding numbers between these, near the holes of an open surface, leave the side open. A turn of 90
/// degrees around the rim of a hole changes them by a quarter, and a cell's center sees no more of a turn.
static const double UNSURE_LOW = 0.2, UNSURE_HIGH = 0.8;

/// A way near the surface is gone in pieces of so many cells; through free space it is worth stepping from
/// this part of a cell on.
static const double PIECE = 2, WORTH = 0.25;

struct sn_distance_field {
    sn_context *context;
    const sn_mesh_distance *surface;
    double low[3], spacing, cells_per_meter;
    int32_t blocks[3], block_count, near_count;
    // Distances are in cells, negative inside, and their size is a lower bound; 0: nothing is known.
    float *block;    ///< [block_count]
    int32_t *place;  ///< [block_count] number among the near blocks; -1: far
    float *cell;     ///< [near_count, BLOCK]
    int8_t *winding; ///< [near_count, BLOCK] at the centers; UNKNOWN if the surface is open
};

// ---- Making

/// A center while the field is made.
typedef struct field_center {
    double place[3];
    double free;     ///< m: no triangle is nearer
    int32_t winding; ///< UNKNOWN if the surface is open
    int side;        ///< -1 inside, 1 outside, 0 open
} field_center;

/// What only the making needs.
typedef struct field_job {
    sn_distance_field *field;
    bool closed;
    double box_low[3], box_high[3]; ///< of the surface
    int32_t *triangle;              ///< [block_count] nearest one
    field_center *center;           ///< [block_count]
    int32_t *near;                  ///< [near_count] block
} field_job;

/// Center of a cell or block; `size` of it in cells.
static void find_center(const sn_distance_field *field, const int32_t at[3], int32_t size, double out[3]) {
    for (int c = 0; c < 3; c++)
        out[c] = field->low[c] + (at[c] + 0.5) * size * field->spacing;
}

static void block_at(const sn_distance_field *field, int32_t block, int32_t at[3]) {
    at[0] = block % field->blocks[0];
    at[1] = block / field->blocks[0] % field->blocks[1];
    at[2] = block / field->blocks[0] / field->blocks[1];
}

/// Winding number of a center, carried over from another: it changes only where triangles are passed. Asked
/// for without another, and where rounding leaves the way open.
static int32_t find_winding(const field_job *job, const field_center *center, const field_center *other) {
    int growth = 0;
    if (other) {
        if ((center->free + other->free) * (1 - MARGIN) > sn_distance3(center->place, other->place))
            return other->winding;
        if (sn_mesh_distance_growth(job->field->surface, other->place, center->place, &growth))
            return other->winding + growth;
    }
    return (int32_t)lround(sn_mesh_distance_winding(job->field->surface, center->place));
}

static void find_side(const field_job *job, field_center *center, const field_center *other) {
    if (job->closed) {
        center->winding = find_winding(job, center, other);
        center->side = center->winding == 0 ? 1 : -1;
        return;
    }
    double winding = fabs(sn_mesh_distance_winding(job->field->surface, center->place));
    center->winding = UNKNOWN;
    center->side = winding <= UNSURE_LOW ? 1 : winding >= UNSURE_HIGH ? -1 : 0;
}

static float pack(const sn_distance_field *field, const field_center *center) {
    return (float)(center->side * (1 - MARGIN) * center->free / field->spacing);
}

/// Measures rows of blocks. Nothing passes from row to row, as threads share out rows.
static void measure_rows(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    field_job *job = data;
    sn_distance_field *field = job->field;
    for (int32_t row = begin; row < end; row++)
        for (int32_t i = 0, hint = -1; i < field->blocks[0]; i++) {
            int32_t b = row * field->blocks[0] + i, at[3];
            field_center *center = &job->center[b];
            block_at(field, b, at);
            find_center(field, at, SIDE, center->place);
            hint = sn_mesh_distance_find(field->surface, center->place, hint, &center->free);
            find_side(job, center, i > 0 ? center - 1 : NULL);
            job->triangle[b] = hint;
            field->block[b] = pack(field, center);
        }
}

/// Measures a cell of a block: with what the block's center tells beyond the band, by a search within.
static void measure_cell(const field_job *job, int32_t block, field_center *center, const field_center *other,
                         int32_t *hint) {
    const field_center *middle = &job->center[block];
    double from_middle = sn_distance3(center->place, middle->place), least = middle->free - from_middle;
    if (least > (BAND + CORNER) * job->field->spacing)
        center->free = least;
    else
        *hint = sn_mesh_distance_find(job->field->surface, center->place, *hint, &center->free);
    bool in_sight = (center->free + middle->free) * (1 - MARGIN) > from_middle;
    find_side(job, center, in_sight || !other ? middle : other);
}

static void measure_cells(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    static const int32_t stride[3] = {1, SIDE, SIDE * SIDE};
    field_job *job = data;
    sn_distance_field *field = job->field;
    field_center center[BLOCK];
    for (int32_t n = begin; n < end; n++) {
        int32_t block = job->near[n], hint = job->triangle[block], at[3];
        block_at(field, block, at);
        for (int32_t i = 0; i < BLOCK; i++) {
            int32_t in[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE}, cell[3];
            const field_center *other = NULL;
            for (int c = 2; c >= 0; c--) {
                cell[c] = SIDE * at[c] + in[c];
                if (in[c] > 0)
                    other = &center[i - stride[c]];
            }
            find_center(field, cell, 1, center[i].place);
            measure_cell(job, block, &center[i], other, &hint);
            size_t place = (size_t)n * BLOCK + (size_t)i;
            field->cell[place] = pack(field, &center[i]);
            field->winding[place] = (int8_t)(abs(center[i].winding) < UNKNOWN ? center[i].winding : UNKNOWN);
        }
    }
}

/// Lays the grid for a spacing: the surface's box with a block around it. Returns how many blocks that takes.
static double lay_grid(field_job *job, double spacing) {
    sn_distance_field *field = job->field;
    double width = SIDE * spacing, count = 1;
    for (int c = 0; c < 3; c++) {
        double extent = job->box_high[c] - job->box_low[c], blocks = ceil(extent / width) + 2;
        field->low[c] = 0.5 * (job->box_low[c] + job->box_high[c] - blocks * width);
        field->blocks[c] = blocks < INT32_MAX ? (int32_t)blocks : INT32_MAX;
        count *= blocks;
    }
    field->spacing = spacing;
    field->cells_per_meter = 1 / spacing;
    return count;
}

/// Measures all blocks and numbers the near ones: those that the band touches.
static sn_status make_blocks(sn_context *ctx, field_job *job) {
    sn_status status = SN_OK;
    sn_distance_field *field = job->field;
    double reach = (SIDE * CORNER + BAND) * field->spacing;
    SN_RELEASE(ctx, field->block);
    SN_RELEASE(ctx, field->place);
    SN_RELEASE(ctx, job->triangle);
    SN_RELEASE(ctx, job->center);
    SN_TRY_NEW(ctx, field->block, field->block_count);
    SN_TRY_NEW(ctx, field->place, field->block_count);
    SN_TRY_NEW(ctx, job->triangle, field->block_count);
    SN_TRY_NEW(ctx, job->center, field->block_count);
    sn_parallel_for(ctx, field->blocks[1] * field->blocks[2], 1, measure_rows, job);
    field->near_count = 0;
    for (int32_t b = 0; b < field->block_count; b++)
        field->place[b] = job->center[b].free < reach ? field->near_count++ : -1;
cleanup:
    return status;
}

/// Finds a spacing, from the one wanted upward, with which the field fits.
static sn_status fit_blocks(sn_context *ctx, field_job *job, double spacing, int32_t most_cells) {
    sn_distance_field *field = job->field;
    for (int c = 0; c < 3; c++)
        spacing = fmax(spacing, (job->box_high[c] - job->box_low[c]) / most_cells);
    for (;;) {
        double blocks = lay_grid(job, spacing);
        if (blocks * CELLS_PER_BLOCK > most_cells) {
            spacing *= COARSER;
            continue;
        }
        field->block_count = (int32_t)blocks;
        sn_status status = make_blocks(ctx, job);
        double excess = (double)field->near_count * BLOCK / most_cells;
        if (status < 0 || excess <= 1)
            return status;
        // The band has so many cells as the surface has squares.
        spacing *= fmax(COARSER, sqrt(excess));
    }
}

static sn_status make_cells(sn_context *ctx, field_job *job) {
    sn_status status = SN_OK;
    sn_distance_field *field = job->field;
    SN_TRY_NEW(ctx, job->near, field->near_count);
    SN_TRY_NEW(ctx, field->cell, (size_t)field->near_count * BLOCK);
    SN_TRY_NEW(ctx, field->winding, (size_t)field->near_count * BLOCK);
    for (int32_t b = 0; b < field->block_count; b++)
        if (field->place[b] >= 0)
            job->near[field->place[b]] = b;
    sn_parallel_for(ctx, field->near_count, GRAIN, measure_cells, job);
cleanup:
    return status;
}

sn_status sn_distance_field_create(sn_context *ctx, const sn_mesh_distance *surface, double spacing,
                                   int32_t most_cells, sn_distance_field **out_field) {
    SN_ASSERT(spacing > 0 && most_cells >= 1000);
    sn_status status = SN_OK;
    field_job job = {.closed = sn_mesh_distance_is_closed(surface)};
    SN_TRY_NEW_ZEROED(ctx, job.field, 1);
    job.field->context = ctx;
    job.field->surface = surface;
    sn_mesh_distance_box(surface, job.box_low, job.box_high);
    SN_TRY(fit_blocks(ctx, &job, spacing, most_cells));
    SN_TRY(make_cells(ctx, &job));
    *out_field = job.field;
    job.field = NULL;
cleanup:
    SN_RELEASE(ctx, job.triangle);
    SN_RELEASE(ctx, job.center);
    SN_RELEASE(ctx, job.near);
    sn_distance_field_destroy(&job.field);
    return status;
}

void sn_distance_field_destroy(sn_distance_field **field) {
    if (!field || !*field)
        return;
    sn_context *ctx = (*field)->context;
    sn_release(ctx, (*field)->block);
    sn_release(ctx, (*field)->place);
    sn_release(ctx, (*field)->cell);
    sn_release(ctx, (*field)->winding);
    sn_release(ctx, *field);
    *field = NULL;
}

double sn_distance_field_spacing(const sn_distance_field *field) {
    return field->spacing;
}

int32_t sn_distance_field_cells(const sn_distance_field *field) {
    return field->near_count * BLOCK;
}

// ---- Asking

/// A point, or the place of the grid nearest to it, and what the cell or block there tells.
typedef struct field_look {
    double place[3], center[3];
    double beyond;   ///< square of the point's distance from the grid, m^2
    double value;    ///< as stored
    int32_t winding; ///< at the center, or UNKNOWN
} field_look;

static void look_up(const sn_distance_field *field, const double point[3], field_look *look) {
    int32_t at[3], block[3];
    look->beyond = 0;
    for (int c = 0; c < 3; c++) {
        int32_t cells = SIDE * field->blocks[c];
        double low = field->low[c], high = low + cells * field->spacing;
        double place = point[c] < low ? low : point[c] > high ? high : point[c], outside = point[c] - place;
        double from_low = (place - low) * field->cells_per_meter;
        at[c] = from_low >= 1 ? (from_low < cells ? (int32_t)from_low : cells - 1) : 0;
        block[c] = at[c] / SIDE;
        look->place[c] = place;
        look->beyond += outside * outside;
    }
    size_t b = (size_t)block[0] +
               (size_t)field->blocks[0] * ((size_t)block[1] + (size_t)field->blocks[1] * (size_t)block[2]);
    if (field->place[b] < 0) {
        find_center(field, block, SIDE, look->center);
        look->value = field->block[b];
        look->winding = UNKNOWN;
        return;
    }
    int32_t in = at[0] % SIDE + SIDE * (at[1] % SIDE + SIDE * (at[2] % SIDE));
    size_t cell = (size_t)field->place[b] * BLOCK + (size_t)in;
    find_center(field, at, 1, look->center);
    look->value = field->cell[cell];
    look->winding = field->winding[cell];
}

/// What a look tells of a point's signed distance: 0, or of its sign and at most its size. The surface lies
/// in the grid, so that from the place nearest to a point outside it is seen at 90 degrees or more from the
/// point.
static double known_distance(const sn_distance_field *field, const field_look *look) {
    double free = fabs(look->value) * field->spacing - sn_distance3(look->place, look->center);
    free = free > 0 ? free : 0;
    return look->beyond > 0 ? sqrt(look->beyond + free * free) : copysign(free, look->value);
}

/// Side of a point; where the numbers leave it open, counts the triangles on the way from the cell's center.
static sn_mesh_side look_side(const sn_distance_field *field, const field_look *look) {
    int growth = 0;
    double known = known_distance(field, look);
    if (known != 0)
        return known < 0 ? SN_SIDE_INSIDE : SN_SIDE_OUTSIDE;
    if (look->winding == UNKNOWN ||
        !sn_mesh_distance_growth(field->surface, look->center, look->place, &growth))
        return SN_SIDE_UNKNOWN;
    return look->winding + growth == 0 ? SN_SIDE_OUTSIDE : SN_SIDE_INSIDE;
}

static double exact_distance(const sn_distance_field *field, const field_look *look, const double point[3]) {
    double length = 0;
    sn_mesh_side side = look_side(field, look);
    if (side == SN_SIDE_UNKNOWN)
        return sn_mesh_distance_query(field->surface, point, NULL);
    (void)sn_mesh_distance_find(field->surface, point, -1, &length);
    return side * length;
}

double sn_distance_field_distance(const sn_distance_field *field, const double point[3]) {
    field_look look;
    look_up(field, point, &look);
    return exact_distance(field, &look, point);
}

double sn_distance_field_bound(const sn_distance_field *field, const double point[3]) {
    field_look look;
    look_up(field, point, &look);
    double known = known_distance(field, &look);
    return known != 0 ? known : exact_distance(field, &look, point);
}

double sn_distance_field_nearest(const sn_distance_field *field, const double point[3], double out_nearest[3],
                                 double out_normal[3]) {
    field_look look;
    look_up(field, point, &look);
    return sn_mesh_distance_nearest(field->surface, point, look_side(field, &look), out_nearest, out_normal);
}

/// A way being gone.
typedef struct field_walk {
    const sn_distance_field *field;
    const double *from, *to;
    double slack, length, part;
} field_walk;

/// Tries the triangles along the next piece of the way, and goes it. A way so long that the piece is nothing
/// to it counts as ended by the surface.
static bool walk_piece(field_walk *walk) {
    double piece = PIECE * walk->field->spacing + walk->slack,
           end = fmin(1, walk->part + piece / walk->length), begin[3], stop[3], met = 0;
    sn_way_place(walk->from, walk->to, walk->part, begin);
    sn_way_place(walk->from, walk->to, end, stop);
    if (!(end > walk->part) || sn_mesh_distance_sweep(walk->field->surface, begin, stop, walk->slack, &met)) {
        walk->part += met * (end - walk->part);
        return true;
    }
    walk->part = end;
    return false;
}

/// Goes the way until the surface is met (true) or the end is reached.
static bool walk_on(field_walk *walk) {
    const sn_distance_field *field = walk->field;
    while (walk->part < 1) {
        double place[3];
        field_look look;
        sn_way_place(walk->from, walk->to, walk->part, place);
        look_up(field, place, &look);
        double known = known_distance(field, &look), step = known - walk->slack,
               next = walk->part + step / walk->length;
        if (known < 0)
            return true;
        if (step >= (1 - walk->part) * walk->length)
            walk->part = 1;
        else if (step > WORTH * field->spacing && next > walk->part)
            walk->part = fmin(1, next);
        else if (walk_piece(walk))
            return true;
    }
    // The face that closes a hole is met by no step: only the sides tell.
    return !sn_mesh_distance_is_closed(field->surface) && sn_distance_field_bound(field, walk->to) < 0;
}

bool sn_distance_field_sweep(const sn_distance_field *field, const double from[3], const double to[3],
                             double slack, double *out_part) {
    field_walk walk = {.field = field, .from = from, .to = to, .slack = slack};
    walk.length = sn_distance3(from, to);
    double start = sn_distance_field_bound(field, from);
    if (start - slack > walk.length)
        return false;
    // A bound within the slack does not yet say that the surface is.
    bool met = start <= slack && sn_distance_field_distance(field, from) <= slack;
    if (!met && !walk_on(&walk))
        return false;
    *out_part = walk.part;
    return true;
}
