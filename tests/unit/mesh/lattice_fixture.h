// Surfaces with gaps: boxes beside each other, and a comb.
#ifndef LATTICE_FIXTURE_H
#define LATTICE_FIXTURE_H

#include "unit/mesh/mesh_fixture.h"

typedef struct fixture_box {
    double low[3], high[3];
} fixture_box;

/// Closed surface of boxes, with 8 vertices each.
static inline sn_mesh_data *fixture_boxes(sn_context *ctx, int32_t count, const fixture_box *boxes) {
    static const int32_t side[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                        {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    double *place = calloc(24 * (size_t)count, sizeof *place);
    int32_t *triangle = calloc(36 * (size_t)count, sizeof *triangle);
    for (int32_t b = 0; b < count; b++) {
        for (int32_t i = 0; i < 24; i++)
            place[24 * b + i] = i / 3 >> i % 3 & 1 ? boxes[b].high[i % 3] : boxes[b].low[i % 3];
        for (int32_t i = 0; i < 36; i++)
            triangle[36 * b + i] = 8 * b + side[i / 3][i % 3];
    }
    sn_mesh_data *data = fixture_data(ctx, 8 * count, place, SN_CELL_TRIANGLE, 12 * count, triangle);
    free(place);
    free(triangle);
    return data;
}

/// A comb: teeth with gaps of a tenth of a cell on a bar, one closed surface without inner walls.
static inline sn_mesh_data *fixture_comb(sn_context *ctx, int32_t teeth, double width, double gap) {
    // Outline in x and z, counterclockwise, pulled along y.
    int32_t corners = 4 * teeth + 2 - 2, used = 0;
    double *outline = calloc(2 * ((size_t)corners + 4), sizeof *outline), pitch = width + gap;
    double end = teeth * pitch - gap;
    outline[used++] = 0, outline[used++] = 0;
    outline[used++] = end, outline[used++] = 0;
    for (int32_t t = teeth - 1; t >= 0; t--) {
        double right = t * pitch + width, left = t * pitch;
        if (t < teeth - 1)
            outline[used++] = right, outline[used++] = 0.2;
        outline[used++] = right, outline[used++] = 1;
        outline[used++] = left, outline[used++] = 1;
        if (t > 0)
            outline[used++] = left, outline[used++] = 0.2;
    }
    int32_t n = used / 2;
    double *place = calloc(6 * (size_t)n, sizeof *place);
    for (int32_t i = 0; i < 2 * n; i++) {
        place[3 * i] = outline[2 * (i % n)];
        place[3 * i + 1] = i < n ? 0.3 : 0;
        place[3 * i + 2] = outline[2 * (i % n) + 1];
    }
    // The sides of the comb: the bar as a fan-free strip would need more vertices, so ears are cut.
    int32_t *triangle = calloc(3 * (size_t)(4 * n), sizeof *triangle), count = 0;
    int32_t *left = calloc((size_t)n, sizeof *left), size = n;
    for (int32_t i = 0; i < n; i++) {
        int32_t next = (i + 1) % n;
        memcpy(triangle + 3 * count++, (const int32_t[]){i, next, next + n}, 3 * sizeof *triangle);
        memcpy(triangle + 3 * count++, (const int32_t[]){i, next + n, i + n}, 3 * sizeof *triangle);
        left[i] = i;
    }
    while (size > 2) {
        for (int32_t i = 0; i < size; i++) {
            int32_t a = left[i], b = left[(i + 1) % size], c = left[(i + 2) % size];
            const double *p = outline + 2 * a, *q = outline + 2 * b, *r = outline + 2 * c;
            bool ear = (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]) > 0;
            for (int32_t k = 0; k < size && ear; k++) {
                const double *o = outline + 2 * left[k];
                if (left[k] == a || left[k] == b || left[k] == c)
                    continue;
                double u = (q[0] - p[0]) * (o[1] - p[1]) - (q[1] - p[1]) * (o[0] - p[0]),
                       v = (r[0] - q[0]) * (o[1] - q[1]) - (r[1] - q[1]) * (o[0] - q[0]),
                       w = (p[0] - r[0]) * (o[1] - r[1]) - (p[1] - r[1]) * (o[0] - r[0]);
                ear = !(u >= 0 && v >= 0 && w >= 0);
            }
            if (!ear)
                continue;
            memcpy(triangle + 3 * count++, (const int32_t[]){a, c, b}, 3 * sizeof *triangle);
            memcpy(triangle + 3 * count++, (const int32_t[]){a + n, b + n, c + n}, 3 * sizeof *triangle);
            memmove(left + (i + 1) % size, left + (i + 1) % size + 1,
                    (size_t)(size - (i + 1) % size - 1) * sizeof *left);
            size--;
            break;
        }
    }
    sn_mesh_data *data = fixture_data(ctx, 2 * n, place, SN_CELL_TRIANGLE, count, triangle);
    free(outline);
    free(place);
    free(triangle);
    free(left);
    return data;
}

#endif
