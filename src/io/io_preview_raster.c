#include "io/io_preview_raster.h"

#include <math.h>

enum {
    UNIT = 256,          ///< Steps in a sample.
    GUARD = 16384,       ///< Samples around the picture in which corners may lie.
    MAX_CORNERS = 3 + 5, ///< Of a triangle cut by five planes.
    CUT_COUNT = 5
};

/// Shifts of a sample from the middle of its cell, by its row and column in the pixel.
static const int64_t shift[SN_RASTER_GRID] = {-96, -32, 32, 96};

void sn_raster_place(int32_t column, int32_t row, double out[2]) {
    out[0] = column + 0.5 + (double)shift[row % SN_RASTER_GRID] / UNIT;
    out[1] = row + 0.5 + (double)shift[column % SN_RASTER_GRID] / UNIT;
}

void sn_raster_clear(sn_raster *raster) {
    size_t count = (size_t)(raster->row_end - raster->row_begin) * (size_t)raster->width;
    for (size_t i = 0; i < count; i++)
        raster->depth[i] = -INFINITY;
    for (size_t i = 0; raster->triangle && i < count; i++)
        raster->triangle[i] = SN_RASTER_NOTHING;
}

// ---- Filling

/// A corner on the picture, in steps.
typedef struct placed {
    int64_t x, y;
    double depth;
} placed;

/// A side of a triangle: value(x, y) = dx (y - from.y) - dy (x - from.x) is above 0 inside; on the side
/// itself a sample belongs to one of the two triangles that share it.
typedef struct side {
    int64_t dx, dy, x, y, least;
} side;

static side make_side(const placed *from, const placed *to) {
    side s = {.dx = to->x - from->x, .dy = to->y - from->y, .x = from->x, .y = from->y};
    bool owned = s.dy < 0 || (s.dy == 0 && s.dx > 0);
    s.least = owned ? 0 : 1;
    return s;
}

/// Depth as a function of the place.
typedef struct depth_slope {
    double depth, along_x, along_y, low, high;
    int64_t x, y;
} depth_slope;

static depth_slope make_slope(const placed p[3], int64_t area) {
    double u = p[1].depth - p[0].depth, v = p[2].depth - p[0].depth;
    double x1 = (double)(p[1].x - p[0].x), y1 = (double)(p[1].y - p[0].y);
    double x2 = (double)(p[2].x - p[0].x), y2 = (double)(p[2].y - p[0].y);
    return (depth_slope){.depth = p[0].depth,
                         .along_x = (u * y2 - v * y1) / (double)area,
                         .along_y = (v * x1 - u * x2) / (double)area,
                         .low = fmin(p[0].depth, fmin(p[1].depth, p[2].depth)),
                         .high = fmax(p[0].depth, fmax(p[1].depth, p[2].depth)),
                         .x = p[0].x,
                         .y = p[0].y};
}

/// First and last sample of 0..count-1 that lies between two places.
static void sample_range(int64_t low, int64_t high, int64_t begin, int64_t end, int64_t out[2]) {
    const int64_t first = UNIT / 2 + shift[0], last = UNIT / 2 + shift[SN_RASTER_GRID - 1];
    // Shifted by the guard, so that the divisions round down.
    int64_t offset = (int64_t)2 * GUARD * UNIT;
    out[0] = (low - last + offset + UNIT - 1) / UNIT - 2 * GUARD;
    out[1] = (high - first + offset) / UNIT - 2 * GUARD;
    out[0] = out[0] < begin ? begin : out[0];
    out[1] = out[1] < end ? out[1] : end - 1;
}

static int64_t smallest(int64_t a, int64_t b, int64_t c) {
    int64_t least = a < b ? a : b;
    return least < c ? least : c;
}

static void fill_row(sn_raster *raster, int64_t row, const int64_t columns[2], const side sides[3],
                     const depth_slope *slope, int32_t triangle) {
    int64_t y = UNIT * row + UNIT / 2, x = UNIT / 2 + shift[row % SN_RASTER_GRID];
    size_t start = (size_t)(row - raster->row_begin) * (size_t)raster->width;
    int64_t value[3];
    for (int k = 0; k < 3; k++)
        value[k] = sides[k].dx * (y - sides[k].y) - sides[k].dy * (UNIT * columns[0] + x - sides[k].x);
    for (int64_t column = columns[0]; column <= columns[1]; column++) {
        int64_t down = shift[column % SN_RASTER_GRID];
        bool inside = true;
        for (int k = 0; k < 3; k++) {
            inside &= value[k] + sides[k].dx * down >= sides[k].least;
            value[k] -= UNIT * sides[k].dy;
        }
        if (!inside)
            continue;
        double depth = slope->depth + slope->along_x * (double)(UNIT * column + x - slope->x) +
                       slope->along_y * (double)(y + down - slope->y);
        float found = (float)fmin(fmax(depth, slope->low), slope->high);
        if (found > raster->depth[start + (size_t)column]) {
            raster->depth[start + (size_t)column] = found;
            if (raster->triangle)
                raster->triangle[start + (size_t)column] = triangle;
        }
    }
}

static void fill(sn_raster *raster, const placed *a, const placed *b, const placed *c, int32_t triangle) {
    int64_t area = (b->x - a->x) * (c->y - a->y) - (c->x - a->x) * (b->y - a->y);
    if (area == 0)
        return;
    const placed p[3] = {*a, area > 0 ? *b : *c, area > 0 ? *c : *b};
    const side sides[3] = {make_side(&p[0], &p[1]), make_side(&p[1], &p[2]), make_side(&p[2], &p[0])};
    const depth_slope slope = make_slope(p, area > 0 ? area : -area);
    int64_t rows[2], columns[2];
    sample_range(smallest(p[0].y, p[1].y, p[2].y), -smallest(-p[0].y, -p[1].y, -p[2].y), raster->row_begin,
                 raster->row_end, rows);
    sample_range(smallest(p[0].x, p[1].x, p[2].x), -smallest(-p[0].x, -p[1].x, -p[2].x), 0, raster->width,
                 columns);
    for (int64_t row = rows[0]; row <= rows[1]; row++)
        fill_row(raster, row, columns, sides, &slope, triangle);
}

// ---- Cutting

/// How far a corner is on the inner side of a plane: the near one, or one beside the picture.
static double inner_distance(const sn_raster *raster, int32_t cut, const sn_raster_corner *corner) {
    switch (cut) {
    case 0:
        return corner->w - raster->near;
    case 1:
        return corner->x + GUARD * corner->w;
    case 2:
        return (raster->width + (double)GUARD) * corner->w - corner->x;
    case 3:
        return corner->y + GUARD * corner->w;
    default:
        return (raster->height + (double)GUARD) * corner->w - corner->y;
    }
}

/// Always from the inner to the outer end, so that both triangles at an edge find the same place.
static sn_raster_corner cut_edge(const sn_raster_corner *inner, double inside, const sn_raster_corner *outer,
                                 double outside) {
    double t = inside / (inside - outside);
    return (sn_raster_corner){inner->x + t * (outer->x - inner->x), inner->y + t * (outer->y - inner->y),
                              inner->z + t * (outer->z - inner->z), inner->w + t * (outer->w - inner->w)};
}

/// Keeps the part of a polygon on the inner side of a plane. Returns its number of corners.
static int32_t cut_polygon(const sn_raster *raster, int32_t cut, int32_t count,
                           const sn_raster_corner from[MAX_CORNERS], sn_raster_corner to[MAX_CORNERS]) {
    int32_t kept = 0;
    // A triangle in the plane itself can cross it more often than twice, by rounding; what is left of it
    // shows nothing.
    for (int32_t i = 0; i < count && kept <= MAX_CORNERS - 2; i++) {
        const sn_raster_corner *corner = &from[i], *next = &from[(i + 1) % count];
        double here = inner_distance(raster, cut, corner), there = inner_distance(raster, cut, next);
        if (here >= 0)
            to[kept++] = *corner;
        if (here >= 0 && there < 0)
            to[kept++] = cut_edge(corner, here, next, there);
        else if (here < 0 && there >= 0)
            to[kept++] = cut_edge(next, there, corner, here);
    }
    return kept;
}

static placed place_corner(const sn_raster_corner *corner) {
    return (placed){llround(corner->x / corner->w * UNIT), llround(corner->y / corner->w * UNIT),
                    corner->z / corner->w};
}

static bool is_inside(const sn_raster *raster, const sn_raster_corner *corner) {
    for (int32_t cut = 0; cut < CUT_COUNT; cut++)
        if (!(inner_distance(raster, cut, corner) >= 0))
            return false;
    return true;
}

static bool is_finite(const sn_raster_corner *corner) {
    return isfinite(corner->x) && isfinite(corner->y) && isfinite(corner->z) && isfinite(corner->w);
}

void sn_raster_draw(sn_raster *raster, const sn_raster_corner *a, const sn_raster_corner *b,
                    const sn_raster_corner *c, int32_t triangle) {
    if (!is_finite(a) || !is_finite(b) || !is_finite(c))
        return;
    sn_raster_corner polygon[2][MAX_CORNERS] = {{*a, *b, *c}};
    int32_t count = 3, current = 0;
    if (!is_inside(raster, a) || !is_inside(raster, b) || !is_inside(raster, c))
        for (int32_t cut = 0; cut < CUT_COUNT && count > 0; cut++, current = 1 - current)
            count = cut_polygon(raster, cut, count, polygon[current], polygon[1 - current]);
    const sn_raster_corner *corner = polygon[current];
    if (count < 3)
        return;
    placed first = place_corner(&corner[0]), before = place_corner(&corner[1]);
    for (int32_t i = 2; i < count; i++) {
        placed next = place_corner(&corner[i]);
        fill(raster, &first, &before, &next, triangle);
        before = next;
    }
}

void sn_raster_rows(const sn_raster *raster, const sn_raster_corner *a, const sn_raster_corner *b,
                    const sn_raster_corner *c, int32_t out_rows[2]) {
    const sn_raster_corner *corner[3] = {a, b, c};
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY}; // x, y
    bool behind = false;
    out_rows[0] = 0;
    out_rows[1] = -1;
    for (int i = 0; i < 3; i++) {
        if (!is_finite(corner[i]))
            return;
        behind = behind || corner[i]->w < raster->near;
        double place[2] = {corner[i]->x / corner[i]->w, corner[i]->y / corner[i]->w};
        for (int axis = 0; axis < 2; axis++) {
            low[axis] = fmin(low[axis], place[axis]);
            high[axis] = fmax(high[axis], place[axis]);
        }
    }
    if (!behind && (high[0] < 0 || low[0] > raster->width || high[1] < 0 || low[1] > raster->height))
        return;
    // A sample more on both sides, for the rounding of corners.
    out_rows[0] = behind ? 0 : (int32_t)fmax(low[1] - 1, 0);
    out_rows[1] = behind ? raster->height - 1 : (int32_t)fmin(high[1] + 1, raster->height - 1);
}
