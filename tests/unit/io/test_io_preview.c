// Pictures: the same for any number of threads and any unit of length, what they show and where, hostile
// numbers and sizes; PNG files; the writer of a run's pictures.
#define _GNU_SOURCE
#include "test_io_failing.h"
#include "test_io_run.h"

#include "base/base_util.h"
#include "io/io_preview.h"
#include "io/io_preview_frame.h"
#include "io/io_preview_png.h"

#include <png.h>
#include <signal.h>
#include <sys/resource.h>

enum { WIDTH = 96, HEIGHT = 64, PIXELS = WIDTH * HEIGHT };

/// A see-through body around a bone, a body colored by a field, a box, and a floor.
typedef struct stage_fixture {
    sn_preview_surface surface[4];
    double values[2000];
    sn_preview_part part[4];
    sn_preview_plane floor;
    sn_preview_picture picture;
} stage_fixture;

static sn_shape_def make_shape(int i, double scale) {
    sn_shape_def shape = sn_shape_def_default();
    static const sn_shape_kind kinds[] = {SN_SHAPE_SPHERE, SN_SHAPE_SPHERE, SN_SHAPE_CAPSULE, SN_SHAPE_BOX};
    shape.kind = kinds[i];
    shape.point[0] = i == 1 ? 1.5 * scale : i == 3 ? -1.5 * scale : 0;
    shape.point2[2] = 0.6 * scale;
    shape.radius = (i == 2 ? 0.2 : 1 - 0.4 * i) * scale;
    for (int k = 0; k < 3; k++)
        shape.half_size[k] = 0.3 * scale;
    return shape;
}

static sn_status make_stage(sn_context *ctx, double scale, stage_fixture *f) {
    sn_status status = SN_OK;
    *f = (stage_fixture){.picture = {.width = WIDTH, .height = HEIGHT, .up = {0, 0, 1}}};
    for (int i = 0; i < 4; i++) {
        const sn_shape_def shape = make_shape(i, scale);
        SN_TRY(sn_preview_surface_of_shape(ctx, &shape, &f->surface[i]));
        f->part[i] = (sn_preview_part){.surface = &f->surface[i],
                                       .position = f->surface[i].position,
                                       .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                       .value = f->values,
                                       .look = {.rigid = i > 1, .see_through = i == 0, .by_value = i == 1}};
    }
    for (int v = 0; v < 2000; v++)
        f->values[v] = v / 1100.0;
    f->floor = (sn_preview_plane){{0, 0, -scale}, {0, 0, 2}};
    f->picture.part_count = 4;
    f->picture.parts = f->part;
    f->picture.plane_count = 1;
    f->picture.planes = &f->floor;
cleanup:
    return status;
}

static void end_stage(stage_fixture *f) {
    for (int i = 0; i < 4; i++)
        sn_preview_surface_release(&f->surface[i]);
}

// ---- Pictures

static void threads_change_nothing(void **state) {
    (void)state;
    static unsigned char first[3 * PIXELS], other[3 * PIXELS];
    for (int threads = 1; threads <= 4; threads *= 2) {
        stage_fixture f;
        sn_context *ctx = test_context(threads);
        assert_done(ctx, make_stage(ctx, 1, &f));
        assert_done(ctx, sn_preview_draw(ctx, &f.picture, threads == 1 ? first : other));
        if (threads > 1)
            assert_memory_equal(first, other, sizeof first);
        end_stage(&f);
        test_context_end(&ctx);
    }
}

static void units_change_nothing(void **state) {
    (void)state;
    static unsigned char pixels[3][3 * PIXELS];
    static const double scale[3] = {1, 1e-3, 1e6};
    sn_context *ctx = test_context(1);
    for (int i = 0; i < 3; i++) {
        stage_fixture f;
        assert_done(ctx, make_stage(ctx, scale[i], &f));
        assert_done(ctx, sn_preview_draw(ctx, &f.picture, pixels[i]));
        end_stage(&f);
        int32_t differing = 0;
        for (int32_t k = 0; k < 3 * PIXELS; k++)
            differing += abs(pixels[i][k] - pixels[0][k]) > 1;
        assert_at_most(differing, 3 * PIXELS / 500);
    }
    test_context_end(&ctx);
}

/// Draws one shape.
static void draw_shape(sn_context *ctx, const sn_shape_def *shape, sn_preview_look look,
                       unsigned char *pixels) {
    sn_preview_surface surface = {0};
    assert_done(ctx, sn_preview_surface_of_shape(ctx, shape, &surface));
    double *values = calloc((size_t)surface.vertex_count, sizeof *values);
    for (int32_t v = 0; v < surface.vertex_count; v++)
        values[v] = 1;
    sn_preview_part part = {.surface = &surface,
                            .position = surface.position,
                            .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                            .value = values,
                            .look = look};
    const sn_preview_picture picture = {
        .width = WIDTH, .height = HEIGHT, .up = {0, 0, 1}, .part_count = 1, .parts = &part};
    assert_done(ctx, sn_preview_draw(ctx, &picture, pixels));
    sn_preview_surface_release(&surface);
    free(values);
}

/// Background, grounds and shadows are bluish.
static bool is_warm(const unsigned char *pixel) {
    return pixel[0] + 3 > pixel[2];
}

/// A sphere fills the share of the height that the camera leaves it, in the middle, as a circle does.
static void fits_the_view(void **state) {
    (void)state;
    static unsigned char pixels[3 * PIXELS];
    sn_context *ctx = test_context(1);
    sn_shape_def sphere = sn_shape_def_default();
    sphere.kind = SN_SHAPE_SPHERE;
    sphere.point[0] = 1e3;
    sphere.radius = 0.01;
    draw_shape(ctx, &sphere, (sn_preview_look){.rigid = true}, pixels);
    double low[2] = {WIDTH, HEIGHT}, high[2] = {0, 0}, area = 0;
    for (int32_t i = 0; i < PIXELS; i++)
        if (is_warm(pixels + 3 * i)) {
            double place[2] = {i % WIDTH, i / WIDTH};
            area++;
            for (int k = 0; k < 2; k++) {
                low[k] = fmin(low[k], place[k]);
                high[k] = fmax(high[k], place[k] + 1);
            }
        }
    assert_near(high[1] - low[1], 0.86 * HEIGHT, 1.5);
    assert_near(high[0] - low[0], 0.86 * HEIGHT, 2);
    assert_near((low[0] + high[0]) / 2, WIDTH / 2.0, 1);
    assert_near((low[1] + high[1]) / 2, HEIGHT / 2.0, 1);
    assert_near(area, acos(-1) / 4 * pow(0.86 * HEIGHT, 2), 0.03 * area);
    test_context_end(&ctx);
}

/// The end of the ramp is yellow, the first body's skin warm, the second one's blue.
static void colors_are_the_players(void **state) {
    (void)state;
    static unsigned char pixels[3 * PIXELS];
    const unsigned char *middle = pixels + 3 * (HEIGHT / 2 * WIDTH + WIDTH / 2);
    sn_context *ctx = test_context(1);
    sn_shape_def sphere = sn_shape_def_default();
    sphere.kind = SN_SHAPE_SPHERE;
    sphere.radius = 1;
    draw_shape(ctx, &sphere, (sn_preview_look){.by_value = true}, pixels);
    assert_true(middle[0] > 170 && middle[1] > 160 && middle[2] < 90);
    draw_shape(ctx, &sphere, (sn_preview_look){.color = 6}, pixels);
    assert_true(middle[0] > middle[1] + 20 && middle[1] > middle[2]);
    draw_shape(ctx, &sphere, (sn_preview_look){.color = 1}, pixels);
    assert_true(middle[2] > middle[1] && middle[1] > middle[0]);
    double color[3];
    sn_preview_ramp(NAN, color);
    assert_near(color[0], 0x41 / 255.0, 1e-12);
    sn_preview_ramp(2, color);
    assert_near(color[0], 0xfd / 255.0, 1e-12);
    test_context_end(&ctx);
}

/// The light comes from above: a floor is darker under a ball than beside it.
static void casts_a_shadow(void **state) {
    (void)state;
    static unsigned char pixels[2][3 * PIXELS];
    sn_context *ctx = test_context(1);
    stage_fixture f;
    assert_done(ctx, make_stage(ctx, 1, &f));
    assert_done(ctx, sn_preview_draw(ctx, &f.picture, pixels[0]));
    f.floor.point[2] = 40; // Out of view, for the camera is below it then.
    f.floor.normal[2] = -1;
    assert_done(ctx, sn_preview_draw(ctx, &f.picture, pixels[1]));
    int32_t darker = 0, lighter = 0;
    for (int32_t i = 0; i < 3 * PIXELS; i++) {
        darker += pixels[0][i] + 8 < pixels[1][i];
        lighter += pixels[0][i] > pixels[1][i];
    }
    assert_true(darker > 3 * PIXELS / 50);
    assert_true(lighter > 3 * PIXELS / 10);
    end_stage(&f);
    test_context_end(&ctx);
}

// ---- Hostile pictures

/// A vertex that is not finite takes its triangles along and nothing else.
static void leaves_out_what_is_not_finite(void **state) {
    (void)state;
    static unsigned char with[3 * PIXELS], without[3 * PIXELS];
    const double position[15] = {0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 1, NAN, INFINITY, 1e300};
    const int32_t triangle[12] = {0, 1, 2, 1, 3, 2, 3, 4, 1, 0, 0, 1};
    sn_context *ctx = test_context(1);
    for (int i = 0; i < 2; i++) {
        sn_preview_surface surface = {0};
        assert_done(ctx, sn_preview_surface_create(ctx, i ? 4 : 5, position, i ? 2 : 4, triangle, &surface));
        sn_preview_part part = {
            .surface = &surface, .position = position, .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
        const sn_preview_picture picture = {
            .width = WIDTH, .height = HEIGHT, .up = {0, 0, 1}, .part_count = 1, .parts = &part};
        assert_done(ctx, sn_preview_draw(ctx, &picture, i ? without : with));
        sn_preview_surface_release(&surface);
    }
    assert_memory_equal(with, without, sizeof with);
    test_context_end(&ctx);
}

static void takes_any_size_that_it_may(void **state) {
    (void)state;
    static const int32_t bad[][2] = {{0, 1}, {1, 0}, {-5, 10}, {SN_PREVIEW_MAX_SIZE + 1, 1}, {1, INT32_MAX}};
    static const int32_t good[][2] = {{1, 1}, {SN_PREVIEW_MAX_SIZE, 1}, {1, SN_PREVIEW_MAX_SIZE}, {3, 17}};
    static unsigned char pixels[3 * SN_PREVIEW_MAX_SIZE];
    sn_context *ctx = test_context(2);
    stage_fixture f;
    assert_done(ctx, make_stage(ctx, 1, &f));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        f.picture.width = bad[i][0];
        f.picture.height = bad[i][1];
        assert_int_equal(sn_preview_draw(ctx, &f.picture, pixels), SN_ERR_INVALID_ARGUMENT);
        assert_non_null(strstr(sn_context_message(ctx), "1 to 8192"));
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        f.picture.width = good[i][0];
        f.picture.height = good[i][1];
        assert_done(ctx, sn_preview_draw(ctx, &f.picture, pixels));
    }
    f.picture.part_count = f.picture.plane_count = 0; // Nothing at all to see.
    assert_done(ctx, sn_preview_draw(ctx, &f.picture, pixels));
    end_stage(&f);
    test_context_end(&ctx);
}

/// Views along the vertical, and of a single point.
static void looks_from_anywhere(void **state) {
    (void)state;
    static const double directions[][3] = {
        {0, 0, 1}, {0, 0, -1}, {1, 0, 0}, {1e-200, 1e-200, 0}, {-3, 2, 1e9}};
    static unsigned char pixels[3 * PIXELS];
    const double point[3] = {3, 4, 5};
    const int32_t triangle[3] = {0, 0, 0};
    sn_context *ctx = test_context(1);
    stage_fixture f;
    sn_preview_surface dot = {0};
    assert_done(ctx, make_stage(ctx, 1, &f));
    f.picture.plane_count = 0;
    for (size_t i = 0; i < sizeof directions / sizeof *directions; i++) {
        memcpy(f.picture.direction, directions[i], sizeof f.picture.direction);
        assert_done(ctx, sn_preview_draw(ctx, &f.picture, pixels));
        int32_t warm = 0;
        for (int32_t k = 0; k < PIXELS; k++)
            warm += is_warm(pixels + 3 * k);
        assert_true(warm > PIXELS / 12);
    }
    assert_done(ctx, sn_preview_surface_create(ctx, 1, point, 1, triangle, &dot));
    f.part[0] = (sn_preview_part){.surface = &dot, .position = point};
    f.picture.part_count = 1;
    assert_done(ctx, sn_preview_draw(ctx, &f.picture, pixels));
    sn_preview_surface_release(&dot);
    end_stage(&f);
    test_context_end(&ctx);
}

// ---- PNG

static void read_png(const char *folder, const char *name, int32_t width, int32_t height,
                     unsigned char *pixels) {
    char path[TEST_PATH_SIZE];
    png_image image = {.version = PNG_IMAGE_VERSION};
    test_folder_path(folder, name, path);
    assert_true(png_image_begin_read_from_file(&image, path));
    assert_int_equal(image.width, width);
    assert_int_equal(image.height, height);
    assert_int_equal(image.format, PNG_FORMAT_RGB);
    assert_true(png_image_finish_read(&image, NULL, pixels, 0, NULL));
    png_image_free(&image);
}

/// What no compression makes smaller.
static void fill_with_noise(unsigned char pixels[3 * PIXELS]) {
    sn_random random = sn_random_make(5);
    for (int32_t i = 0; i < 3 * PIXELS; i++)
        pixels[i] = (unsigned char)(sn_random_u64(&random) >> 40);
}

static void png_files_read_back(void **state) {
    (void)state;
    static unsigned char pixels[3 * PIXELS], back[3 * PIXELS];
    char folder[TEST_PATH_SIZE];
    sn_context *ctx = test_context(1);
    test_folder_make(folder);
    fill_with_noise(pixels);
    assert_done(ctx, sn_png_write(ctx, folder, "a.png", WIDTH, HEIGHT, pixels));
    read_png(folder, "a.png", WIDTH, HEIGHT, back);
    assert_memory_equal(pixels, back, sizeof back);
    assert_done(ctx, sn_png_write(ctx, folder, "a.png", 1, 1, pixels));
    read_png(folder, "a.png", 1, 1, back);
    assert_memory_equal(pixels, back, 3);
    test_folder_remove(folder);
    test_context_end(&ctx);
}

/// A disk without room leaves the picture that stood there, and says which file it was.
static void full_disks_spare_the_old_picture(void **state) {
    (void)state;
    static unsigned char pixels[3 * PIXELS];
    struct rlimit before, small;
    char folder[TEST_PATH_SIZE];
    size_t size = 0;
    sn_context *ctx = test_context(1);
    test_folder_make(folder);
    assert_done(ctx, sn_png_write(ctx, folder, "a.png", 2, 2, pixels));
    free(test_folder_read(folder, "a.png", &size));
    fill_with_noise(pixels);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){.rlim_cur = 4096, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    sn_status status = sn_png_write(ctx, folder, "a.png", WIDTH, HEIGHT, pixels);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, SN_ERR_WRITE);
    assert_non_null(strstr(sn_context_message(ctx), "a.png"));
    size_t now = 0;
    free(test_folder_read(folder, "a.png", &now));
    assert_int_equal(now, size);
    assert_int_equal(test_folder_count(folder), 1);
    test_folder_remove(folder);
    test_context_end(&ctx);
}

// ---- Pictures of a run

static sn_status write_frames(sn_context *ctx, run_fixture *f) {
    sn_preview_frames *frames = NULL;
    sn_frame_view frame = {.index = 4, .state = f->state};
    sn_status status = sn_preview_frames_create(ctx, f->model, &f->output, &frames);
    if (status == SN_OK)
        status = sn_preview_frames_write(frames, f->folder, &frame);
    frame.index = 5;
    if (status == SN_OK)
        status = sn_preview_frames_write(frames, f->folder, &frame);
    sn_preview_frames_destroy(&frames);
    return status;
}

static void set_up_frames(run_fixture *f) {
    set_up(f);
    f->output.preview_every = 2;
    f->output.preview_width = WIDTH;
    f->output.preview_height = HEIGHT;
}

static void writes_due_frames(void **state) {
    (void)state;
    static unsigned char plain[3 * PIXELS], strain[3 * PIXELS];
    run_fixture f;
    set_up_frames(&f);
    assert_done(f.ctx, write_frames(f.ctx, &f));
    assert_int_equal(test_folder_count(f.folder), 1);
    read_png(f.folder, "frame.000004.png", WIDTH, HEIGHT, plain);
    // At rest, all of the colors' lower end, whatever the range is.
    f.output.preview_color = SN_PREVIEW_STRAIN;
    assert_done(f.ctx, write_frames(f.ctx, &f));
    read_png(f.folder, "frame.000004.png", WIDTH, HEIGHT, strain);
    assert_true(memcmp(plain, strain, sizeof plain) != 0);
    tear_down(&f);
}

/// A node that has gone far away is in view with everything else: what was in the middle is small.
static void keeps_everything_in_view(void **state) {
    (void)state;
    run_fixture f;
    set_up_frames(&f);
    int32_t nodes = sn_model_get_info(f.model).node_count;
    double *x = malloc(3 * (size_t)nodes * sizeof *x);
    memcpy(x, sn_state_positions(f.state), 3 * (size_t)nodes * sizeof *x);
    x[0] = -1e8;
    x[4] = 1e150;
    assert_done(f.ctx, sn_state_set_positions(f.state, x));
    f.output.preview_color = SN_PREVIEW_DISPLACEMENT;
    assert_done(f.ctx, write_frames(f.ctx, &f));
    assert_true(test_folder_has(f.folder, "frame.000004.png"));
    free(x);
    tear_down(&f);
}

static void survives_each_failing_allocation(void **state) {
    (void)state;
    sn_context_def def = sn_context_def_default();
    def.allocator = failing_allocator;
    def.thread_count = 1;
    allocations_left = -1;
    run_fixture f = {.output = sn_output_def_default()};
    assert_int_equal(sn_context_create(&def, &f.ctx), SN_OK);
    assert_done(f.ctx, build_model(&f));
    test_folder_make(f.folder);
    f.output.preview_every = 2;
    f.output.preview_width = f.output.preview_height = 8;
    f.output.preview_color = SN_PREVIEW_DISPLACEMENT;
    size_t in_use = sn_context_memory_in_use(f.ctx);
    int failing = 0;
    for (sn_status status = SN_ERR_NO_MEMORY; status != SN_OK; failing++) {
        allocations_left = failing;
        status = write_frames(f.ctx, &f);
        allocations_left = -1;
        assert_true(status == SN_OK || status == SN_ERR_NO_MEMORY);
        assert_int_equal(sn_context_memory_in_use(f.ctx), in_use);
        assert_int_equal(test_folder_count(f.folder), status == SN_OK);
    }
    assert_true(failing > 40);
    tear_down(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(units_change_nothing),
        cmocka_unit_test(fits_the_view),
        cmocka_unit_test(colors_are_the_players),
        cmocka_unit_test(casts_a_shadow),
        cmocka_unit_test(leaves_out_what_is_not_finite),
        cmocka_unit_test(takes_any_size_that_it_may),
        cmocka_unit_test(looks_from_anywhere),
        cmocka_unit_test(png_files_read_back),
        cmocka_unit_test(full_disks_spare_the_old_picture),
        cmocka_unit_test(writes_due_frames),
        cmocka_unit_test(keeps_everything_in_view),
        cmocka_unit_test(survives_each_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
