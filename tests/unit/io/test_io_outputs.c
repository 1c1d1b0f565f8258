// What a run writes beside NPY, VTU and the player: OBJ frames, .vtu.series, probes.csv, contacts.csv; and
// how growing files are opened again.
#define _GNU_SOURCE
#include "test_io_failing.h"
#include "test_io_recorder_folder.h"

#include "io/io_contact_csv.h"
#include "io/io_obj_frame.h"
#include "io/io_probe.h"
#include "io/io_vtu.h"
#include "io/io_vtu_series.h"
#include "sinew/mesh.h"
#include "sinew/step.h"

#include <signal.h>
#include <sys/resource.h>

/// A beam of 1 x 0.2 x 0.2 m whose name CSV must quote, a cube beside it, and a floor that the cube may
/// touch.
typedef struct output_fixture {
    sn_context *ctx;
    sn_model *model;
    sn_state *state;
    char folder[TEST_PATH_SIZE];
} output_fixture;

static const char beam_name[] = "long, \"thin\"";

static sn_body_id add_body(sn_context *ctx, sn_model_builder *builder, const char *name, double length,
                           double offset) {
    sn_mesh_data *data = NULL;
    sn_mesh *mesh = NULL;
    sn_body_id id = {0};
    sn_make_def make = sn_make_def_default(SN_MAKE_BEAM);
    make.cells = 2;
    make.size[0] = length;
    make.size[1] = make.size[2] = 0.2;
    sn_material_def material = sn_material_def_default();
    material.young = 1e5;
    sn_body_def body = sn_body_def_default();
    assert_done(ctx, sn_mesh_make(ctx, &make, &data, NULL));
    assert_done(ctx, sn_mesh_create(ctx, data, false, &mesh));
    body.name = name;
    body.mesh = mesh;
    body.material_count = 1;
    body.materials = &material;
    body.translation[1] = offset;
    assert_done(ctx, sn_model_add_body(builder, &body, &id));
    sn_mesh_destroy(&mesh);
    sn_mesh_data_destroy(&data);
    return id;
}

static void fill_fixture(output_fixture *f) {
    sn_model_builder *builder = NULL;
    sn_shape_id floor_id = {0};
    assert_done(f->ctx, sn_model_builder_create(f->ctx, &builder));
    add_body(f->ctx, builder, beam_name, 1, 0);
    sn_body_id cube = add_body(f->ctx, builder, "cube", 0.2, 1);
    const double gravity[3] = {0, 0, -10};
    assert_done(f->ctx, sn_model_set_gravity(builder, gravity));
    sn_shape_def plane = sn_shape_def_default();
    plane.name = "floor";
    plane.kind = SN_SHAPE_PLANE;
    plane.point[2] = -0.1;
    plane.normal[2] = 1;
    assert_done(f->ctx, sn_model_add_shape(builder, &plane, &floor_id));
    sn_contact_def contact = sn_contact_def_default();
    contact.body = cube;
    contact.shape_count = 1;
    contact.shapes = &floor_id;
    assert_done(f->ctx, sn_model_add_contact(builder, &contact));
    assert_done(f->ctx, sn_model_build(builder, &f->model));
    assert_done(f->ctx, sn_state_create(f->model, &f->state));
    sn_model_builder_destroy(&builder);
    test_folder_make(f->folder);
}

static void set_up(output_fixture *f) {
    *f = (output_fixture){.ctx = test_context(1)};
    fill_fixture(f);
}

static void tear_down(output_fixture *f) {
    sn_state_destroy(&f->state);
    sn_model_destroy(&f->model);
    test_context_end(&f->ctx);
    test_folder_remove(f->folder);
}

static void expect_message(const output_fixture *f, const char *words) {
    if (!strstr(sn_context_message(f->ctx), words))
        fail_msg("'%s' is not in: %s", words, sn_context_message(f->ctx));
}

// ---- Growing files

static void write_records(output_fixture *f, sn_output *output, int first, int count) {
    for (int i = first; i < first + count; i++) {
        assert_done(f->ctx, sn_output_format(output, "record %d\n", i));
        assert_done(f->ctx, sn_output_record(output));
    }
}

static void growing_files_go_on(void **state) {
    (void)state;
    output_fixture f;
    set_up(&f);
    sn_output output = {0};
    assert_done(f.ctx, sn_output_open(f.ctx, f.folder, "log", SN_OUTPUT_GROWING, &output));
    write_records(&f, &output, 0, 2);
    int64_t size = output.record_end;
    write_records(&f, &output, 7, 3);
    assert_done(f.ctx, sn_output_finish(&output));
    assert_done(f.ctx, sn_output_can_reopen(f.ctx, f.folder, "log", size));
    assert_done(f.ctx, sn_output_reopen(f.ctx, f.folder, "log", size, &output));
    assert_int_equal(output.record_end, size);
    char *text = test_folder_read(f.folder, "log", NULL);
    assert_string_equal(text, "record 0\nrecord 1\n");
    free(text);
    write_records(&f, &output, 2, 2);
    sn_output_abandon(&output);
    text = test_folder_read(f.folder, "log", NULL);
    assert_string_equal(text, "record 0\nrecord 1\nrecord 2\nrecord 3\n");
    free(text);
    tear_down(&f);
}

static void growing_files_must_be_there(void **state) {
    (void)state;
    output_fixture f;
    set_up(&f);
    sn_output output = {0};
    assert_int_equal(sn_output_reopen(f.ctx, f.folder, "log", 3, &output), SN_ERR_READ);
    expect_message(&f, "log is missing, and the run should go on behind its 3 bytes: put back");
    assert_int_equal(sn_output_can_reopen(f.ctx, f.folder, "log", 3), SN_ERR_READ);
    assert_false(test_folder_has(f.folder, "log"));
    assert_done(f.ctx, sn_output_open(f.ctx, f.folder, "log", SN_OUTPUT_GROWING, &output));
    write_records(&f, &output, 0, 2);
    assert_done(f.ctx, sn_output_finish(&output));
    for (int64_t size = 17; size < 20; size++) {
        bool fits = size <= 18;
        assert_int_equal(sn_output_can_reopen(f.ctx, f.folder, "log", size), fits ? SN_OK : SN_ERR_READ);
    }
    assert_int_equal(sn_output_reopen(f.ctx, f.folder, "log", 19, &output), SN_ERR_READ);
    expect_message(&f, "log has 18 bytes, and the run should go on behind 19: the file was cut or replaced");
    assert_null(output.ctx);
    char *text = test_folder_read(f.folder, "log", NULL);
    assert_string_equal(text, "record 0\nrecord 1\n");
    free(text);
    assert_int_equal(sn_output_reopen(f.ctx, "log", "log", 0, &output), SN_ERR_READ);
    tear_down(&f);
}

// ---- OBJ

/// Writes a.obj: the surface of the first body.
static sn_status write_obj(const output_fixture *f, int32_t index, const double *position) {
    const sn_body_info info = sn_model_body(f->model, 0);
    const sn_results_body body = {.name = info.name,
                                  .vertex_count = info.surface_vertex_count,
                                  .triangle_count = info.surface_triangle_count,
                                  .triangles = info.surface_triangles,
                                  .look = *sn_model_surface_look(f->model, 0)};
    const sn_obj_frame frame = {index, sn_state_time(f->state), position};
    return sn_obj_frame_write(f->ctx, f->folder, "a.obj", &body, &frame);
}

static void obj_frames_read_back(void **state) {
    (void)state;
    output_fixture f;
    set_up(&f);
    sn_mesh_data *data = NULL;
    char path[TEST_PATH_SIZE];
    sn_body_info body = sn_model_body(f.model, 0);
    size_t count = 3 * (size_t)body.surface_vertex_count;
    double *x = malloc(3 * sizeof *x * (size_t)sn_model_get_info(f.model).node_count);
    double *surface = malloc(count * sizeof *surface);
    assert_true(x && surface);
    for (int32_t i = 0; i < 3 * sn_model_get_info(f.model).node_count; i++)
        x[i] = sn_model_rest_positions(f.model)[i] / 3 + 1e-7 * i;
    assert_done(f.ctx, sn_state_set_positions(f.state, x));
    sn_state_surface_positions(f.state, 0, surface);
    assert_done(f.ctx, write_obj(&f, 12, surface));
    assert_int_equal(test_folder_count(f.folder), 1);
    test_folder_path(f.folder, "a.obj", path);
    assert_done(f.ctx, sn_mesh_data_read(f.ctx, path, &data));
    assert_int_equal(data->vertex_count, body.surface_vertex_count);
    assert_memory_equal(data->position, surface, count * sizeof *surface);
    assert_int_equal(data->block_count, 1);
    assert_int_equal(data->block[0].count, body.surface_triangle_count);
    assert_memory_equal(data->block[0].vertex, body.surface_triangles,
                        3 * sizeof(int32_t) * (size_t)body.surface_triangle_count);
    char *text = test_folder_read(f.folder, "a.obj", NULL);
    assert_non_null(strstr(text, "# Sinew, frame 12, time 0 s, lengths in m\no long, \"thin\"\nv "));
    free(text);
    free(x);
    free(surface);
    sn_mesh_data_destroy(&data);
    tear_down(&f);
}

// ---- .vtu.series

static void series_lists_frames_with_times(void **state) {
    (void)state;
    output_fixture f;
    set_up(&f);
    const double time[3] = {0, 0.1, 0.25};
    const int32_t index[3] = {0, 5, 10};
    char name[] = "cube", *names[] = {name};
    const sn_vtu_frames frames = {3, index, time};
    assert_done(f.ctx, sn_vtu_list(f.ctx, f.folder, 1, names, &frames));
    char *text = test_folder_read(f.folder, "cube.vtu.series", NULL);
    assert_string_equal(text, "{\n  \"file-series-version\": \"1.0\",\n  \"files\": "
                              "[{\"name\": \"cube.000000.vtu\", \"time\": 0}, "
                              "{\"name\": \"cube.000005.vtu\", \"time\": 0.10000000000000001}, "
                              "{\"name\": \"cube.000010.vtu\", \"time\": 0.25}]\n}\n");
    free(text);
    text = test_folder_read(f.folder, "frames.pvd", NULL);
    assert_non_null(strstr(text, "<DataSet timestep=\"0.25\" part=\"0\" file=\"cube.000010.vtu\"/>"));
    free(text);
    assert_int_equal(test_folder_count(f.folder), 2);
    tear_down(&f);
}

// ---- Probes

/// x = X + (t^2, 2 t X0, -t), v = dx/dt: linear in X, so that points inside of tets follow exactly.
static void move(const output_fixture *f, double t) {
    int32_t nodes = sn_model_get_info(f->model).node_count;
    const double *X = sn_model_rest_positions(f->model);
    double *x = malloc(3 * sizeof *x * (size_t)nodes), *v = malloc(3 * sizeof *v * (size_t)nodes);
    assert_true(x && v);
    for (int32_t n = 0; n < nodes; n++) {
        x[3 * n] = X[3 * n] + t * t;
        x[3 * n + 1] = X[3 * n + 1] + 2 * t * X[3 * n];
        x[3 * n + 2] = X[3 * n + 2] - t;
        v[3 * n] = 2 * t;
        v[3 * n + 1] = 2 * X[3 * n];
        v[3 * n + 2] = -1;
    }
    assert_done(f->ctx, sn_state_set_positions(f->state, x));
    assert_done(f->ctx, sn_state_set_velocities(f->state, v));
    assert_done(f->ctx, sn_state_set_time(f->state, t));
    free(x);
    free(v);
}

/// Points at a node, inside of a tet and beyond the end of the beam; the floor.
static const sn_probe_def good_probes[] = {
    {.name = "corner", .body = beam_name, .point = {1, 0, 0}},
    {.name = "in,side", .body = beam_name, .point = {0.33, 0.07, 0.11}},
    {.name = "beyond", .body = beam_name, .point = {1.5, 0.1, 0.1}},
    {.name = "floor", .rigid = "floor"}};

static sn_output_def probe_output(int32_t count, const sn_probe_def *probes) {
    sn_output_def def = sn_output_def_default();
    def.probe_count = count;
    def.probes = probes;
    return def;
}

static sn_status put_frames(sn_probes *probes, const output_fixture *f, int first, int count) {
    sn_status status = SN_OK;
    for (int frame = first; frame < first + count && status == SN_OK; frame++) {
        move(f, 0.125 * frame);
        sn_frame_view view = {.index = frame, .state = f->state};
        status = sn_probes_frame(probes, &view);
    }
    return status;
}

/// Numbers of a line of comma-separated ones.
static int read_row(const char **at, double *out, int most) {
    int count = 0;
    for (;;) {
        char *end = NULL;
        assert_true(count < most);
        out[count++] = strtod(*at, &end);
        assert_true(end > *at && (*end == ',' || *end == '\n'));
        *at = end + 1;
        if (*end == '\n')
            return count;
    }
}

static void check_probe_rows(const output_fixture *f, int frames) {
    static const char columns[] =
        "frame,time_s,corner.x_m,corner.y_m,corner.z_m,corner.vx_m_s,corner.vy_m_s,corner.vz_m_s,"
        "\"in,side.x_m\",\"in,side.y_m\",\"in,side.z_m\",\"in,side.vx_m_s\",\"in,side.vy_m_s\",\"in,side.vz_"
        "m_s\","
        "beyond.x_m,beyond.y_m,beyond.z_m,beyond.vx_m_s,beyond.vy_m_s,beyond.vz_m_s,"
        "floor.fx_N,floor.fy_N,floor.fz_N,floor.mx_Nm,floor.my_Nm,floor.mz_Nm\n";
    static const double places[3][3] = {{1, 0, 0}, {0.33, 0.07, 0.11}, {1, 0.1, 0.1}};
    char *text = test_folder_read(f->folder, SN_PROBE_FILE, NULL);
    assert_memory_equal(text, columns, strlen(columns));
    const char *at = text + strlen(columns);
    for (int frame = 0; frame < frames; frame++) {
        double row[32], t = 0.125 * frame;
        assert_int_equal(read_row(&at, row, 32), 26);
        assert_true(row[0] == frame && row[1] == t);
        for (int p = 0; p < 3; p++) {
            const double *X = places[p], *x = row + 2 + 6 * p;
            const double expected[6] = {X[0] + t * t, X[1] + 2 * t * X[0], X[2] - t, 2 * t, 2 * X[0], -1};
            for (int i = 0; i < 6; i++)
                assert_near(x[i], expected[i], 1e-14);
        }
        for (int i = 20; i < 26; i++)
            assert_true(row[i] == 0);
    }
    assert_int_equal(*at, '\0');
    free(text);
}

static void probes_follow_a_known_motion(void **state) {
    (void)state;
    output_fixture f;
    set_up(&f);
    sn_probes *probes = NULL;
    sn_output_def def = probe_output(4, good_probes);
    assert_done(f.ctx, sn_probes_create(f.ctx, f.model, &def, &probes));
    assert_done(f.ctx, sn_probes_open(probes, f.folder));
    check_probe_rows(&f, 0);
    assert_done(f.ctx, put_frames(probes, &f, 0, 5));
    check_probe_rows(&f, 5);
    assert_done(f.ctx, sn_probes_finish(probes));
    sn_probes_destroy(&probes);
    assert_null(probes);
    check_probe_rows(&f, 5);
    tear_down(&f);
}

static void probes_go_on_after_a_cut(void **state) {
    (void)state;
    output_fixture f;
    set_up(&f);
    sn_probes *probes = NULL;
    sn_output_def def = probe_output(4, good_probes);
    assert_done(f.ctx, sn_probes_create(f.ctx, f.model, &def, &probes));
    assert_done(f.ctx, sn_probes_open(probes, f.folder));
    assert_done(f.ctx, put_frames(probes, &f, 0, 3));
    int64_t size = sn_probes_size(probes);
    assert_done(f.ctx, put_frames(probes, &f, 3, 4));
    sn_probes_destroy(&probes);
    assert_done(f.ctx, sn_probes_create(f.ctx, f.model, &def, &probes));
    assert_done(f.ctx, sn_probes_reopen(probes, f.folder, size));
    check_probe_rows(&f, 3);
    assert_int_equal(sn_probes_size(probes), size);
    assert_done(f.ctx, put_frames(probes, &f, 3, 3));
    sn_probes_destroy(&probes);
    check_probe_rows(&f, 6);
    tear_down(&f);
}

static void probes_keep_whole_rows_on_a_full_disk(void **state) {
    (void)state;
    output_fixture f;
    set_up(&f);
    sn_probes *probes = NULL;
    sn_output_def def = probe_output(4, good_probes);
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    assert_done(f.ctx, sn_probes_create(f.ctx, f.model, &def, &probes));
    assert_done(f.ctx, sn_probes_open(probes, f.folder));
    assert_done(f.ctx, put_frames(probes, &f, 0, 2));
    small = before;
    small.rlim_cur = (rlim_t)sn_probes_size(probes) + 20;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(put_frames(probes, &f, 2, 1), SN_ERR_WRITE);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    expect_message(&f, "probes.csv: File too large");
    check_probe_rows(&f, 2);
    assert_done(f.ctx, put_frames(probes, &f, 2, 1));
    sn_probes_destroy(&probes);
    check_probe_rows(&f, 3);
    tear_down(&f);
}

static void probes_refuse_what_is_not_there(void **state) {
    (void)state;
    static const struct {
        sn_probe_def def;
        const char *message;
    } cases[] = {{{.name = "p", .body = "cubes"},
                  "probe p: cubes: there is no such body; did you mean cube; allowed: "},
                 {{.name = "p", .body = "zzzzzz"},
                  "probe p: zzzzzz: there is no such body; allowed: long, \"thin\", cube"},
                 {{.name = "p", .rigid = "flor"},
                  "probe p: flor: there is no such rigid thing; did you mean floor; allowed: floor"},
                 {{.name = "p", .body = "cube", .rigid = "floor"},
                  "probe p: both body and rigid is given; allowed: one"},
                 {{.name = "p"}, "probe p: neither body nor rigid is given; allowed: one of them"},
                 {{.name = "p", .body = "cube", .point = {0, NAN, 0}},
                  "probe p: probe: point: [0, nan, 0] is out of range"},
                 {{.name = "corner", .rigid = "floor"}, "two probes have the name corner"},
                 {{.name = "", .rigid = "floor"}, "probe 1 has no name"},
                 {{.rigid = "floor"}, "probe 1 has no name"}};
    output_fixture f;
    set_up(&f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sn_probes *probes = NULL;
        sn_probe_def two[2] = {good_probes[0], cases[i].def};
        sn_output_def def = probe_output(2, two);
        assert_int_equal(sn_probes_create(f.ctx, f.model, &def, &probes), SN_ERR_INVALID_ARGUMENT);
        assert_null(probes);
        expect_message(&f, cases[i].message);
    }
    tear_down(&f);
}

// ---- Contacts

/// Lets the cube sink into the floor until it touches.
static void touch_down(const output_fixture *f) {
    sn_stepper *stepper = NULL;
    sn_stepper_def def = sn_stepper_def_default();
    assert_done(f->ctx, sn_stepper_create(f->model, &def, &stepper));
    int32_t touching = 0;
    for (int step = 0; step < 40 && touching == 0; step++) {
        sn_step_info info;
        assert_done(f->ctx, sn_step(stepper, f->state, 0.01, &info));
        touching = info.active_contacts;
    }
    assert_true(touching > 0);
    sn_stepper_destroy(&stepper);
}

static void check_contact_row(const output_fixture *f, const char **at, int frame, int32_t index) {
    sn_contact contact;
    double row[12];
    char head[96];
    assert_done(f->ctx, sn_state_contact(f->state, index, &contact));
    int length = snprintf(head, sizeof head, "%d,%.17g,cube,floor,", frame, sn_state_time(f->state));
    assert_memory_equal(*at, head, (size_t)length);
    *at += length;
    for (int i = 0; i < 12; i++) {
        char *end = NULL;
        row[i] = strtod(*at, &end);
        assert_true(end > *at && *end == ',');
        *at = end + 1;
    }
    // No other body.
    assert_int_equal(*(*at)++, '\n');
    assert_true(row[0] == contact.vertex && row[10] == contact.depth && row[11] == contact.sticking);
    assert_memory_equal(row + 1, contact.place, sizeof contact.place);
    for (int i = 0; i < 3; i++)
        assert_true(row[4 + i] == contact.normal[i] && row[7 + i] == contact.force[i]);
}

static void contacts_are_rows(void **state) {
    (void)state;
    static const char columns[] =
        "frame,time_s,body,shape,vertex,x_m,y_m,z_m,nx,ny,nz,fx_N,fy_N,fz_N,depth_m,sticking,"
        "other_body\n";
    output_fixture f;
    set_up(&f);
    sn_contact_csv csv = {0};
    assert_done(f.ctx, sn_contact_csv_open(f.ctx, f.folder, &csv));
    sn_frame_view frame = {.index = 0, .state = f.state};
    assert_done(f.ctx, sn_contact_csv_frame(&csv, &frame));
    assert_int_equal(sn_contact_csv_size(&csv), strlen(columns));
    touch_down(&f);
    for (frame.index = 1; frame.index < 4; frame.index++)
        assert_done(f.ctx, sn_contact_csv_frame(&csv, &frame));
    int64_t size = sn_contact_csv_size(&csv);
    assert_done(f.ctx, sn_contact_csv_frame(&csv, &frame));
    assert_done(f.ctx, sn_contact_csv_finish(&csv));
    assert_done(f.ctx, sn_contact_csv_reopen(f.ctx, f.folder, size, &csv));
    assert_int_equal(sn_contact_csv_size(&csv), size);
    assert_done(f.ctx, sn_contact_csv_frame(&csv, &frame));
    sn_contact_csv_abandon(&csv);
    char *text = test_folder_read(f.folder, SN_CONTACT_FILE, NULL);
    assert_memory_equal(text, columns, strlen(columns));
    const char *at = text + strlen(columns);
    for (int i = 1; i < 5; i++)
        for (int32_t c = 0; c < sn_state_contact_count(f.state); c++)
            check_contact_row(&f, &at, i, c);
    assert_int_equal(*at, '\0');
    free(text);
    tear_down(&f);
}

/// A probe of a shape is the sum of what the contacts do to it.
static void probes_weigh_contacts(void **state) {
    (void)state;
    output_fixture f;
    set_up(&f);
    sn_probes *probes = NULL;
    sn_output_def def = probe_output(1, good_probes + 3);
    touch_down(&f);
    double force[3] = {0}, moment[3] = {0}, row[16];
    for (int32_t i = 0; i < sn_state_contact_count(f.state); i++) {
        sn_contact c;
        assert_done(f.ctx, sn_state_contact(f.state, i, &c));
        for (int k = 0; k < 3; k++) {
            force[k] -= c.force[k];
            moment[k] -=
                c.place[(k + 1) % 3] * c.force[(k + 2) % 3] - c.place[(k + 2) % 3] * c.force[(k + 1) % 3];
        }
    }
    assert_true(force[2] < 0);
    assert_done(f.ctx, sn_probes_create(f.ctx, f.model, &def, &probes));
    assert_done(f.ctx, sn_probes_open(probes, f.folder));
    sn_frame_view frame = {.index = 1, .state = f.state};
    assert_done(f.ctx, sn_probes_frame(probes, &frame));
    sn_probes_destroy(&probes);
    char *text = test_folder_read(f.folder, SN_PROBE_FILE, NULL);
    const char *at = strchr(text, '\n') + 1;
    assert_int_equal(read_row(&at, row, 16), 8);
    for (int k = 0; k < 3; k++) {
        assert_near(row[2 + k], force[k], 1e-12 * -force[2]);
        assert_near(row[5 + k], moment[k], 1e-12 * -force[2]);
    }
    free(text);
    tear_down(&f);
}

// ---- Memory

/// Every writer once, new and opened again.
static sn_status write_everything(const output_fixture *f) {
    sn_status status = SN_OK;
    const double time = 0;
    const int32_t index = 0;
    char name[] = "a", *names[] = {name};
    const sn_vtu_frames frames = {1, &index, &time};
    sn_frame_view frame = {.state = f->state};
    sn_output_def def = probe_output(4, good_probes);
    sn_probes *probes = NULL;
    sn_contact_csv csv = {0};
    SN_TRY(write_obj(f, 0, sn_model_rest_positions(f->model)));
    SN_TRY(sn_vtu_write(f->ctx, f->folder, "a.vtu", &frame, 1, false, true));
    SN_TRY(sn_vtu_list(f->ctx, f->folder, 1, names, &frames));
    SN_TRY(sn_contact_csv_open(f->ctx, f->folder, &csv));
    SN_TRY(sn_contact_csv_frame(&csv, &frame));
    SN_TRY(sn_contact_csv_finish(&csv));
    SN_TRY(sn_contact_csv_reopen(f->ctx, f->folder, 10, &csv));
    SN_TRY(sn_probes_create(f->ctx, f->model, &def, &probes));
    SN_TRY(sn_probes_open(probes, f->folder));
    SN_TRY(sn_probes_frame(probes, &frame));
    SN_TRY(sn_probes_finish(probes));
    SN_TRY(sn_probes_reopen(probes, f->folder, 10));
cleanup:
    sn_contact_csv_abandon(&csv);
    sn_probes_destroy(&probes);
    return status;
}

static void survives_each_failing_allocation(void **state) {
    (void)state;
    sn_context_def def = sn_context_def_default();
    def.allocator = failing_allocator;
    def.thread_count = 1;
    allocations_left = -1;
    output_fixture f = {0};
    assert_int_equal(sn_context_create(&def, &f.ctx), SN_OK);
    fill_fixture(&f);
    size_t in_use = sn_context_memory_in_use(f.ctx);
    int failing = 0;
    for (sn_status status = SN_ERR_NO_MEMORY; status != SN_OK; failing++) {
        allocations_left = failing;
        status = write_everything(&f);
        allocations_left = -1;
        assert_true(status == SN_OK || status == SN_ERR_NO_MEMORY);
        assert_int_equal(sn_context_memory_in_use(f.ctx), in_use);
    }
    assert_true(failing > 30);
    tear_down(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(growing_files_go_on),
        cmocka_unit_test(growing_files_must_be_there),
        cmocka_unit_test(obj_frames_read_back),
        cmocka_unit_test(series_lists_frames_with_times),
        cmocka_unit_test(probes_follow_a_known_motion),
        cmocka_unit_test(probes_go_on_after_a_cut),
        cmocka_unit_test(probes_keep_whole_rows_on_a_full_disk),
        cmocka_unit_test(probes_refuse_what_is_not_there),
        cmocka_unit_test(contacts_are_rows),
        cmocka_unit_test(probes_weigh_contacts),
        cmocka_unit_test(survives_each_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
