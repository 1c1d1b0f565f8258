// Which samples triangles cover, and which of them is nearer: areas, shared edges, depth, cutting, bands.
#include "test_support.h"

#include "base/base_util.h"
#include "io/io_preview_raster.h"

enum { SIZE = 64, SAMPLES = SIZE * SIZE };

typedef struct fixture {
    sn_raster raster;
    float depth[SAMPLES];
    int32_t triangle[SAMPLES];
} fixture;

static void set_up(fixture *f) {
    f->raster = (sn_raster){.width = SIZE,
                            .height = SIZE,
                            .row_end = SIZE,
                            .near = 0.1,
                            .depth = f->depth,
                            .triangle = f->triangle};
    sn_raster_clear(&f->raster);
}

static sn_raster_corner flat(double x, double y, double depth) {
    return (sn_raster_corner){x, y, depth, 1};
}

static int32_t count_covered(const fixture *f) {
    int32_t count = 0;
    for (int32_t i = 0; i < SAMPLES; i++)
        count += f->triangle[i] != SN_RASTER_NOTHING;
    return count;
}

// ---- Coverage

static void covers_its_area(void **state) {
    (void)state;
    fixture f;
    sn_random random = sn_random_make(1);
    double sum = 0, squares = 0;
    enum { TRIALS = 2000 };
    for (int trial = 0; trial < TRIALS; trial++) {
        sn_raster_corner c[3];
        for (int k = 0; k < 3; k++)
            c[k] = flat(sn_random_range(&random, 0, SIZE), sn_random_range(&random, 0, SIZE), 1);
        set_up(&f);
        sn_raster_draw(&f.raster, &c[0], &c[1], &c[2], 7);
        double area = fabs((c[1].x - c[0].x) * (c[2].y - c[0].y) - (c[2].x - c[0].x) * (c[1].y - c[0].y)) / 2;
        double error = (count_covered(&f) - area) / (SN_RASTER_GRID * SN_RASTER_GRID);
        sum += error;
        squares += error * error;
        // Each edge is off by a part of a sample at most, all along it.
        double perimeter = 0;
        for (int k = 0; k < 3; k++)
            perimeter += hypot(c[k].x - c[(k + 1) % 3].x, c[k].y - c[(k + 1) % 3].y);
        assert_at_most(fabs(error), (1 + perimeter / 4) / (SN_RASTER_GRID * SN_RASTER_GRID));
    }
    assert_at_most(fabs(sum / TRIALS), 0.02);
    assert_at_most(sqrt(squares / TRIALS), 0.25);
}

/// Samples lie where sn_raster_place() says: each is covered by a tiny triangle around it, and by none
/// beside.
static void samples_lie_in_their_places(void **state) {
    (void)state;
    fixture f;
    for (int32_t i = 0; i < SAMPLES; i += 7) {
        double place[2];
        sn_raster_place(i % SIZE, i / SIZE, place);
        const double r = 0.02;
        sn_raster_corner a = flat(place[0] - r, place[1] - r, 1), b = flat(place[0] + r, place[1] - r, 1);
        sn_raster_corner c = flat(place[0], place[1] + r, 1);
        set_up(&f);
        sn_raster_draw(&f.raster, &a, &b, &c, 3);
        assert_int_equal(count_covered(&f), 1);
        assert_int_equal(f.triangle[i], 3);
    }
}

/// Draws a net of triangles one by one and counts how often each sample is covered.
static void count_net(fixture *f, int32_t n, const sn_raster_corner *net, int32_t counts[SAMPLES]) {
    memset(counts, 0, SAMPLES * sizeof *counts);
    for (int32_t t = 0; t < 2 * n * n; t++) {
        int32_t a = t / 2 / n * (n + 1) + t / 2 % n, b = a + 1, c = a + n + 1, d = c + 1;
        set_up(f);
        if (t % 2 == 0)
            sn_raster_draw(&f->raster, &net[a], &net[b], &net[d], t);
        else // Turned the other way, as a surface may be.
            sn_raster_draw(&f->raster, &net[a], &net[c], &net[d], t);
        for (int32_t i = 0; i < SAMPLES; i++)
            counts[i] += f->triangle[i] != SN_RASTER_NOTHING;
    }
}

static void shared_edges_have_no_gap_and_no_overlap(void **state) {
    (void)state;
    enum { N = 13 };
    fixture f;
    int32_t counts[SAMPLES];
    sn_raster_corner net[(N + 1) * (N + 1)];
    sn_random random = sn_random_make(2);
    for (int trial = 0; trial < 40; trial++) {
        for (int32_t i = 0; i < (N + 1) * (N + 1); i++) {
            double x = i % (N + 1), y = i / (N + 1);
            bool edge = x < 1 || y < 1 || x == N || y == N;
            // In every other trial corners and edges hit samples exactly.
            double move = edge ? 0 : 0.15;
            x = (x + move * sn_random_range(&random, -1, 1)) * (SIZE + 16) / N - 8;
            y = (y + move * sn_random_range(&random, -1, 1)) * (SIZE + 16) / N - 8;
            net[i] = trial % 2 ? flat(x, y, 1) : flat(round(8 * x) / 8, round(8 * y) / 8, 1);
        }
        count_net(&f, N, net, counts);
        for (int32_t i = 0; i < SAMPLES; i++)
            assert_int_equal(counts[i], 1);
    }
}

/// A net that reaches behind the camera and far beyond the picture covers what is before it once.
static void cut_edges_have_no_gap_and_no_overlap(void **state) {
    (void)state;
    enum { N = 9 };
    fixture f;
    int32_t counts[SAMPLES];
    sn_raster_corner net[(N + 1) * (N + 1)];
    sn_random random = sn_random_make(3);
    for (int trial = 0; trial < 20; trial++) {
        for (int32_t i = 0; i < (N + 1) * (N + 1); i++) {
            // The ground, one below the eye, seen along y; the horizon is the middle of the picture.
            double x = (i % (N + 1) - N / 2.0) * 1e4 + sn_random_range(&random, -3e3, 3e3);
            double far = (i / (N + 1) - 2) * 20 + sn_random_range(&random, -3, 3);
            net[i] = (sn_raster_corner){SIZE / 2.0 * (far + x), SIZE / 2.0 * (far + 1), 1, far};
        }
        count_net(&f, N, net, counts);
        for (int32_t i = 0; i < SAMPLES; i++) {
            double place[2];
            sn_raster_place(i % SIZE, i / SIZE, place);
            double far = 1 / (place[1] * 2 / SIZE - 1);
            if (far > 0 && far < 90)
                assert_int_equal(counts[i], 1);
            else
                assert_true(counts[i] == 0 || far > 0);
        }
    }
}

// ---- Depth

/// Two triangles cross: every sample sees the nearer one, whichever is drawn first.
static void nearer_ones_win(void **state) {
    (void)state;
    fixture f[2];
    const sn_raster_corner a[3] = {flat(-80, -80, 0), flat(320, -80, 4), flat(-80, 320, 0)};
    const sn_raster_corner b[3] = {flat(-80, -80, 4), flat(320, -80, 0), flat(-80, 320, 4)};
    for (int order = 0; order < 2; order++) {
        set_up(&f[order]);
        for (int i = 0; i < 2; i++) {
            const sn_raster_corner *c = (i ^ order) ? b : a;
            sn_raster_draw(&f[order].raster, &c[0], &c[1], &c[2], c == b);
        }
        for (int32_t i = 0; i < SAMPLES; i++) {
            double place[2];
            sn_raster_place(i % SIZE, i / SIZE, place);
            double first = (place[0] + 80) / 100, second = 4 - first;
            assert_near(f[order].depth[i], fmax(first, second), 1e-6);
            if (fabs(first - second) > 1e-5)
                assert_int_equal(f[order].triangle[i], second > first);
        }
    }
    assert_memory_equal(f[0].depth, f[1].depth, sizeof f[0].depth);
}

/// 1 / w of a plane is linear on the picture; nothing nearer than the near plane is drawn.
static void depth_is_right_in_perspective(void **state) {
    (void)state;
    fixture f;
    set_up(&f);
    // Of the triangle with the places (-1, 1, -3), (9, 1, 7), (-9, 1, 7), the first one behind the eye.
    const double corner[3][3] = {{-1, 1, -3}, {9, 1, 7}, {-9, 1, 7}};
    sn_raster_corner c[3];
    for (int k = 0; k < 3; k++) {
        const double *p = corner[k];
        c[k] = (sn_raster_corner){SIZE / 2.0 * (p[2] + p[0]), SIZE / 2.0 * (p[2] + p[1]), 1, p[2]};
    }
    sn_raster_draw(&f.raster, &c[0], &c[1], &c[2], 0);
    int32_t seen = 0;
    for (int32_t i = 0; i < SAMPLES; i++) {
        double place[2];
        sn_raster_place(i % SIZE, i / SIZE, place);
        double right = place[0] * 2 / SIZE - 1, down = place[1] * 2 / SIZE - 1, far = 1 / down;
        // Within the sides of the triangle, at that distance.
        double part = (far + 3) / 10, low = -1 - 8 * part, high = -1 + 10 * part, x = right * far;
        bool inside = down > 0 && far > 0.1 && far < 7 && x > low && x < high;
        bool near_edge = down > 0 && (fabs(far - 7) < 1 || fabs(x - low) < 0.5 || fabs(x - high) < 0.5);
        if (!near_edge)
            assert_int_equal(f.triangle[i] == 0, inside);
        if (f.triangle[i] == 0) {
            assert_near(f.depth[i], down, 0.02);
            assert_at_most(f.depth[i], 1 / 0.1);
            seen++;
        }
    }
    assert_true(seen > SAMPLES / 4);
}

// ---- Hostile numbers

static void leaves_out_what_cannot_be_drawn(void **state) {
    (void)state;
    static const double bad[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 1e-320, 0};
    enum { BAD = sizeof bad / sizeof *bad };
    fixture f;
    set_up(&f);
    const sn_raster_corner good[3] = {flat(1, 1, 1), flat(50, 1, 1), flat(1, 50, 1)};
    for (int i = 0; i < BAD * 12; i++) {
        sn_raster_corner c[3] = {good[0], good[1], good[2]};
        double *number[] = {&c[i % 3].x, &c[i % 3].y, &c[i % 3].z, &c[i % 3].w};
        *number[i / 3 % 4] = bad[i / 12];
        int32_t rows[2];
        sn_raster_rows(&f.raster, &c[0], &c[1], &c[2], rows);
        assert_true(rows[0] >= 0 && rows[1] < SIZE);
        sn_raster_draw(&f.raster, &c[0], &c[1], &c[2], i);
    }
    for (int32_t i = 0; i < SAMPLES; i++) {
        assert_false(isnan(f.depth[i]));
        assert_true(f.triangle[i] == SN_RASTER_NOTHING || f.triangle[i] >= 3 * 12);
    }
    // Without area: a point, a line, a needle thinner than a step.
    set_up(&f);
    sn_raster_draw(&f.raster, &good[0], &good[0], &good[0], 1);
    sn_raster_draw(&f.raster, &good[0], &good[1], &good[1], 1);
    const sn_raster_corner tip = flat(30, 1.0001, 1),
                           behind[3] = {{1, 1, 1, -1}, {9, 1, 1, -1}, {1, 9, 1, -2}};
    sn_raster_draw(&f.raster, &good[0], &good[1], &tip, 1);
    sn_raster_draw(&f.raster, &behind[0], &behind[1], &behind[2], 1);
    assert_int_equal(count_covered(&f), 0);
}

// ---- Bands

static void bands_make_the_whole(void **state) {
    (void)state;
    fixture whole, band;
    sn_random random = sn_random_make(4);
    set_up(&whole);
    set_up(&band);
    for (int32_t t = 0; t < 300; t++) {
        sn_raster_corner c[3];
        for (int k = 0; k < 3; k++) {
            double w = sn_random_range(&random, -0.3, 2);
            c[k] = (sn_raster_corner){w * sn_random_range(&random, -20, SIZE + 20),
                                      w * sn_random_range(&random, -20, SIZE + 20), 1, w};
        }
        sn_raster_draw(&whole.raster, &c[0], &c[1], &c[2], t);
        int32_t rows[2];
        sn_raster_rows(&whole.raster, &c[0], &c[1], &c[2], rows);
        for (int32_t row = 0; row < SIZE; row += 8) {
            // Only where the rows say that it may be.
            if (rows[0] >= row + 8 || rows[1] < row)
                continue;
            sn_raster part = band.raster;
            part.row_begin = row;
            part.row_end = row + 8;
            part.depth += row * SIZE;
            part.triangle += row * SIZE;
            sn_raster_draw(&part, &c[0], &c[1], &c[2], t);
        }
    }
    assert_memory_equal(whole.depth, band.depth, sizeof whole.depth);
    assert_memory_equal(whole.triangle, band.triangle, sizeof whole.triangle);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(covers_its_area),
        cmocka_unit_test(samples_lie_in_their_places),
        cmocka_unit_test(shared_edges_have_no_gap_and_no_overlap),
        cmocka_unit_test(cut_edges_have_no_gap_and_no_overlap),
        cmocka_unit_test(nearer_ones_win),
        cmocka_unit_test(depth_is_right_in_perspective),
        cmocka_unit_test(leaves_out_what_cannot_be_drawn),
        cmocka_unit_test(bands_make_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
