/// A small run with texture coordinates, seams and groups, recorded into a folder: what the tests of results
/// and exports start from.
#ifndef SN_TEST_IO_EXPORT_RUN_H
#define SN_TEST_IO_EXPORT_RUN_H

#include "test_io_recorder_folder.h"

#include "sinew/sinew.h"

enum { CUBE_VERTICES = 8, CUBE_TRIANGLES = 12, CUBE_UVS = 5, FRAMES = 4 };

/// The bodies in the order of the names of their files; those of scenes are tamer.
static const char beam_name[] = "a long \"beam\"", cube_name[] = "w\xc3\xbcrfel";
static const char beam_file[] = "a_long__beam_", cube_file[] = "w__rfel";

/// The sides of a cube; two of them have texture coordinates with seams between them, four a group.
static const char cube_obj[] = "v 0 0 0\nv 0.2 0 0\nv 0.2 0.2 0\nv 0 0.2 0\n"
                               "v 0 0 0.2\nv 0.2 0 0.2\nv 0.2 0.2 0.2\nv 0 0.2 0.2\n"
                               "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvt 0.5 0.25\n"
                               "g rough skin\nf 4/1 3/2 2/3 1/4\nf 5/1 6/2 7/3 8/4\n"
                               "g <\"\xc3\x9f\">\nf 1/1 2/2 6/5 5/4\nf 2 3 7 6\n"
                               "g\nf 3 4 8 7\nf 4 1 5 8\n";

typedef struct export_fixture {
    sn_context *ctx;
    sn_model *model;
    sn_state *state;
    sn_output_def output;
    char folder[TEST_PATH_SIZE], out[TEST_PATH_SIZE];
    double start;      ///< Time of the start in s.
    char warning[512]; ///< The last one.
} export_fixture;

static inline void keep_warning(void *user, sn_log_level level, const char *message) {
    export_fixture *f = user;
    if (level == SN_LOG_WARNING)
        snprintf(f->warning, sizeof f->warning, "%s", message);
}

static inline void put_text(const char *folder, const char *name, const void *bytes, size_t size) {
    char path[TEST_PATH_SIZE];
    test_folder_path(folder, name, path);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline void add_bodies(export_fixture *f, sn_model_builder *builder) {
    char path[TEST_PATH_SIZE];
    sn_mesh_data *beam = NULL, *cube = NULL;
    sn_mesh *mesh = NULL, *lattice = NULL;
    sn_embedding *embedding = NULL;
    sn_body_id id;
    sn_make_def make = sn_make_def_default(SN_MAKE_BEAM);
    make.cells = 1;
    sn_lattice_def fill = sn_lattice_def_default();
    fill.cells = 2;
    sn_material_def material = sn_material_def_default();
    material.young = 1e5;
    put_text(f->folder, "cube.obj", cube_obj, strlen(cube_obj));
    test_folder_path(f->folder, "cube.obj", path);
    assert_done(f->ctx, sn_mesh_data_read(f->ctx, path, &cube));
    assert_done(f->ctx, sn_mesh_make(f->ctx, &make, &beam, NULL));
    assert_done(f->ctx, sn_mesh_create(f->ctx, beam, false, &mesh));
    assert_done(f->ctx, sn_lattice_create(f->ctx, cube, &fill, &lattice, &embedding));
    sn_body_def body = sn_body_def_default();
    body.material_count = 1, body.materials = &material;
    body.name = cube_name, body.mesh = lattice, body.surface = cube, body.embedding = embedding;
    assert_done(f->ctx, sn_model_add_body(builder, &body, &id));
    body.name = beam_name, body.mesh = mesh, body.surface = NULL, body.embedding = NULL;
    assert_done(f->ctx, sn_model_add_body(builder, &body, &id));
    sn_embedding_destroy(&embedding);
    sn_mesh_destroy(&lattice);
    sn_mesh_destroy(&mesh);
    sn_mesh_data_destroy(&cube);
    sn_mesh_data_destroy(&beam);
    assert_int_equal(unlink(path), 0);
}

/// Moves every node by (t^2, 2 t X0, -t), which turns and shears the bodies.
static inline void move_to(export_fixture *f, double t) {
    size_t nodes = (size_t)sn_model_get_info(f->model).node_count;
    const double *X = sn_model_rest_positions(f->model);
    double *x = malloc(3 * nodes * sizeof *x);
    assert_non_null(x);
    for (size_t n = 0; n < nodes; n++) {
        x[3 * n] = X[3 * n] + t * t;
        x[3 * n + 1] = X[3 * n + 1] + 2 * t * X[3 * n];
        x[3 * n + 2] = X[3 * n + 2] - t;
    }
    assert_done(f->ctx, sn_state_set_positions(f->state, x));
    assert_done(f->ctx, sn_state_set_time(f->state, f->start + t));
    free(x);
}

/// Records the start and FRAMES - 1 frames, a quarter of a second each; of FRAMES - 1 planned.
static inline void record_frames(export_fixture *f, bool finish) {
    sn_recorder *recorder = NULL;
    const sn_run_info run = {.frame_seconds = 0.25, .frame_total = FRAMES - 1};
    assert_done(f->ctx, sn_recorder_create(f->ctx, f->model, f->folder, true, &f->output, &run, &recorder));
    for (int frame = 0; frame < FRAMES; frame++) {
        const sn_step_info info = {.time = f->start + 0.25 * frame};
        move_to(f, 0.25 * frame);
        assert_done(f->ctx, sn_recorder_frame(recorder, f->state, frame > 0 ? &info : NULL));
    }
    if (finish)
        assert_done(f->ctx, sn_recorder_finish(recorder, f->state));
    sn_recorder_destroy(&recorder);
}

/// With an allocator of the test's own, or none.
static inline void set_up_with(export_fixture *f, const sn_allocator *allocator) {
    sn_model_builder *builder = NULL;
    sn_context_def def = sn_context_def_default();
    *f = (export_fixture){.output = sn_output_def_default()};
    def.thread_count = 1;
    def.log = keep_warning;
    def.log_user = f;
    if (allocator)
        def.allocator = *allocator;
    else
        def.debug_memory = true;
    assert_int_equal(sn_context_create(&def, &f->ctx), SN_OK);
    test_folder_make(f->folder);
    test_folder_make(f->out);
    assert_done(f->ctx, sn_model_builder_create(f->ctx, &builder));
    add_bodies(f, builder);
    assert_done(f->ctx, sn_model_build(builder, &f->model));
    assert_done(f->ctx, sn_state_create(f->model, &f->state));
    sn_model_builder_destroy(&builder);
    f->output.player = false;
}

/// A finished run.
static inline void set_up(export_fixture *f) {
    set_up_with(f, NULL);
    record_frames(f, true);
}

static inline void tear_down(export_fixture *f) {
    sn_state_destroy(&f->state);
    sn_model_destroy(&f->model);
    test_context_end(&f->ctx);
    test_folder_remove(f->folder);
    test_folder_remove(f->out);
}

static inline void expect_message(const export_fixture *f, const char *words) {
    if (!strstr(sn_context_message(f->ctx), words))
        fail_msg("'%s' is not in: %s", words, sn_context_message(f->ctx));
}

#endif
