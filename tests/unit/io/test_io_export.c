// Exports of results: the bytes of every format, which frames and bodies, what is refused; a full disk and
// failing allocations leave what stood there before.
#define _GNU_SOURCE
#include "test_io_export_run.h"
#include "test_io_failing.h"

#include <signal.h>
#include <sys/resource.h>

enum { BEAM = 0, CUBE = 1 };

/// Results that are open, and how to export them.
typedef struct opened {
    export_fixture f;
    sn_results *results;
    sn_export_def def;
} opened;

static void open_results(opened *o) {
    assert_done(o->f.ctx, sn_results_open(o->f.ctx, o->f.folder, &o->results));
    o->def = sn_export_def_default();
    o->def.directory = o->f.out;
}

static void begin(opened *o) {
    set_up(&o->f);
    open_results(o);
}

static void end(opened *o) {
    sn_results_close(&o->results);
    tear_down(&o->f);
}

/// Exports; returns how many files there are now.
static int export(opened *o, const char *format) {
    int32_t files = -1;
    assert_done(o->f.ctx, sn_results_export(o->results, format, &o->def, &files));
    assert_true(files > 0);
    return files;
}

/// Exports and reads a file. To be freed.
static unsigned char *export_file(opened *o, const char *format, const char *name, size_t *out_size) {
    export(o, format);
    return (unsigned char *)test_folder_read(o->f.out, name, out_size);
}

static void refuse(opened *o, const char *format, const char *words) {
    int32_t files = -1;
    assert_int_equal(sn_results_export(o->results, format, &o->def, &files), SN_ERR_INVALID_ARGUMENT);
    expect_message(&o->f, words);
    assert_int_equal(files, -1);
}

static const float *positions(const opened *o, int32_t body, int32_t frame) {
    static float position[1024];
    assert_true(3 * sn_results_get_body(o->results, body).vertex_count <= 1024);
    assert_done(o->f.ctx, sn_results_positions(o->results, body, frame, position));
    return position;
}

static uint32_t u32(const unsigned char *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static float f32(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// ---- Point caches

static uint32_t big(const unsigned char *bytes) {
    const unsigned char turned[4] = {bytes[3], bytes[2], bytes[1], bytes[0]};
    return u32(turned);
}

static void mdd_is_big_endian(void **state) {
    (void)state;
    opened o;
    size_t size = 0;
    begin(&o);
    unsigned char *bytes = export_file(&o, "mdd", "w__rfel.mdd", &size);
    static const unsigned char head[8] = {0, 0, 0, FRAMES, 0, 0, 0, CUBE_VERTICES};
    assert_int_equal(size, 8 + 4 * FRAMES + 12 * FRAMES * CUBE_VERTICES);
    assert_memory_equal(bytes, head, 8);
    for (int frame = 0; frame < FRAMES; frame++) {
        const float *position = positions(&o, CUBE, frame);
        assert_true(f32(big(bytes + 8 + 4 * frame)) == 0.25F * (float)frame);
        for (int i = 0; i < 3 * CUBE_VERTICES; i++)
            assert_true(f32(big(bytes + 8 + 4 * FRAMES + 4 * (3 * CUBE_VERTICES * frame + i))) ==
                        position[i]);
    }
    free(bytes);
    assert_true(test_folder_has(o.f.out, "a_long__beam_.mdd"));
    assert_int_equal(test_folder_count(o.f.out), 2);
    end(&o);
}

static void pc2_is_that_of_the_run(void **state) {
    (void)state;
    opened o;
    size_t size = 0, run_size = 0;
    set_up_with(&o.f, NULL);
    o.f.output.pc2 = true;
    record_frames(&o.f, true);
    open_results(&o);
    unsigned char *bytes = export_file(&o, "pc2", "w__rfel.pc2", &size);
    char *run = test_folder_read(o.f.folder, "w__rfel.pc2", &run_size);
    assert_int_equal(size, run_size);
    assert_memory_equal(bytes, run, size);
    free(bytes);
    free(run);
    end(&o);
}

// ---- NPZ

/// CRC-32 (ISO 3309), bit by bit.
static uint32_t crc(const unsigned char *bytes, size_t size) {
    uint32_t found = 0xffffffff;
    for (size_t i = 0; i < size; i++) {
        found ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            found = found >> 1 ^ (found & 1 ? 0xedb88320 : 0);
    }
    return ~found;
}

/// The file of an archive by its name, through the directory at the end; CRC and both headers are checked.
static const unsigned char *find_file(const unsigned char *zip, size_t size, const char *name,
                                      uint32_t *out_size) {
    const unsigned char *tail = zip + size - 22;
    assert_int_equal(u32(tail), 0x06054b50);
    const unsigned char *at = zip + u32(tail + 16);
    assert_ptr_equal(at + u32(tail + 12), tail);
    for (int i = 0; i < tail[10]; i++) {
        assert_int_equal(u32(at), 0x02014b50);
        const unsigned char *local = zip + u32(at + 42), *data = local + 30 + local[26] + local[28];
        assert_int_equal(u32(local), 0x04034b50);
        assert_memory_equal(local + 4, at + 6, 24); // versions, sizes, CRC, length of the name
        assert_memory_equal(local + 30, at + 46, at[28]);
        assert_int_equal(crc(data, u32(at + 24)), u32(at + 16));
        if (strlen(name) == at[28] && memcmp(at + 46, name, at[28]) == 0) {
            *out_size = u32(at + 24);
            return data;
        }
        at += 46 + at[28] + at[30];
    }
    fail_msg("%s is not in the archive", name);
    return NULL;
}

static void npz_holds_arrays(void **state) {
    (void)state;
    opened o;
    size_t size = 0;
    uint32_t length = 0;
    begin(&o);
    unsigned char *bytes = export_file(&o, "npz", "frames.npz", &size);
    const unsigned char *array = find_file(bytes, size, "w__rfel.surface.npy", &length);
    assert_int_equal(length, 128 + 12 * FRAMES * CUBE_VERTICES);
    assert_non_null(strstr((const char *)array + 10, "'<f4', 'fortran_order': False, 'shape': (4, 8, 3), }"));
    for (int frame = 0; frame < FRAMES; frame++)
        assert_memory_equal(array + 128 + 12 * CUBE_VERTICES * frame, positions(&o, CUBE, frame),
                            12 * CUBE_VERTICES);
    array = find_file(bytes, size, "time.npy", &length);
    assert_int_equal(length, 128 + 8 * FRAMES);
    array = find_file(bytes, size, "w__rfel.groups.npy", &length);
    assert_int_equal(length, 128 + 2 * 10);
    assert_memory_equal(array + 128, "rough skin<\"\xc3\x9f\">\0\0\0\0", 20);
    find_file(bytes, size, "w__rfel.triangle_uv.npy", &length);
    assert_int_equal(length, 128 + 12 * CUBE_TRIANGLES);
    find_file(bytes, size, "a_long__beam_.surface.npy", &length);
    free(bytes);
    end(&o);
}

// ---- GLB

/// The chunk of JSON, with an end; the binary one in *out_binary. Checks the headers.
static char *take_chunks(unsigned char *glb, size_t size, const unsigned char **out_binary) {
    assert_memory_equal(glb, "glTF", 4);
    assert_int_equal(u32(glb + 4), 2);
    assert_int_equal(u32(glb + 8), size);
    uint32_t json = u32(glb + 12);
    assert_true(json % 4 == 0 && memcmp(glb + 16, "JSON", 4) == 0);
    assert_int_equal(u32(glb + 20 + json), size - 28 - json);
    assert_memory_equal(glb + 24 + json, "BIN", 4);
    glb[20 + json] = '\0'; // its length is known now
    *out_binary = glb + 28 + json;
    return (char *)glb + 20;
}

/// The number behind the n-th "key": of a text.
static double value_of(const char *text, const char *key, int n) {
    for (; text && n >= 0; n--) {
        text = strstr(text, key);
        text = text ? text + strlen(key) : NULL;
    }
    assert_non_null(text);
    return strtod(text, NULL);
}

static int occurrences(const char *text, const char *word) {
    int count = 0;
    for (text = strstr(text, word); text; text = strstr(text + 1, word))
        count++;
    return count;
}

static void glb_moves_by_targets(void **state) {
    (void)state;
    enum { RENDERED = 20, GROUPS = 3 };
    opened o;
    size_t size = 0;
    const unsigned char *binary = NULL;
    begin(&o);
    o.def.body = cube_name;
    unsigned char *bytes = export_file(&o, "glb", "w__rfel.glb", &size);
    const char *json = take_chunks(bytes, size, &binary);
    assert_non_null(strstr(json, "\"matrix\":[1,0,0,0,0,0,-1,0,0,1,0,0,0,0,0,1]"));
    assert_non_null(strstr(json, "\"name\":\"w\xc3\xbcrfel\",\"mesh\":0"));
    assert_non_null(strstr(json, "\"targetNames\":[\"frame 1\",\"frame 2\",\"frame 3\"]"));
    assert_int_equal(occurrences(json, "\"material\":"), GROUPS);
    assert_non_null(strstr(json, "{\"name\":\"rough skin\",\"pbr"));
    assert_int_equal(value_of(json, "\"count\":", 0), RENDERED);
    int32_t source[RENDERED] = {0, 1, 2, 3, 4, 5, 6, 7};
    const unsigned char *corner = binary + RENDERED * (12 * FRAMES + 8);
    static const int32_t triangles[3 * CUBE_TRIANGLES] = {2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7,  // no group
                                                          3, 2, 1, 3, 1, 0, 4, 5, 6, 4, 6, 7,  // rough skin
                                                          0, 1, 5, 0, 5, 4, 1, 2, 6, 1, 6, 5}; // <"ss">
    for (int i = 0; i < 3 * CUBE_TRIANGLES; i++) {
        uint32_t vertex = u32(corner + 4 * i);
        assert_true(vertex < RENDERED && (vertex >= 8 || (int32_t)vertex == triangles[i]));
        source[vertex] = triangles[i];
    }
    float base[3 * CUBE_VERTICES];
    memcpy(base, positions(&o, CUBE, 0), sizeof base);
    for (int frame = 0; frame < FRAMES; frame++) {
        const float *position = positions(&o, CUBE, frame);
        for (int v = 0; v < RENDERED; v++)
            for (int axis = 0; axis < 3; axis++) {
                float found = f32(u32(binary + 12 * (RENDERED * frame + v) + 4 * axis));
                float moved = found + (frame > 0 ? base[3 * source[v] + axis] : 0);
                assert_near(moved, position[3 * source[v] + axis], 2e-7);
            }
    }
    // Keys at the times of the frames, each with one weight on but the first.
    const unsigned char *key = corner + 12 * CUBE_TRIANGLES;
    for (int frame = 0; frame < FRAMES; frame++) {
        assert_true(f32(u32(key + 4 * frame)) == 0.25F * (float)frame);
        for (int target = 1; target < FRAMES; target++)
            assert_true(f32(u32(key + 4 * (FRAMES + (FRAMES - 1) * frame + target - 1))) ==
                        (target == frame ? 1.0F : 0.0F));
    }
    assert_ptr_equal(key + 4 * FRAMES * FRAMES, bytes + size);
    free(bytes);
    end(&o);
}

/// Every triangle's texture coordinates, with v from the top, wherever seams have put the vertices.
static void glb_keeps_texture_coordinates(void **state) {
    (void)state;
    opened o;
    size_t size = 0;
    const unsigned char *binary = NULL;
    begin(&o);
    o.def.body = cube_name;
    o.def.frame_last = 0;
    o.def.y_up = true;
    unsigned char *bytes = export_file(&o, "glb", "w__rfel.glb", &size);
    const char *json = take_chunks(bytes, size, &binary);
    const sn_surface_look *look = sn_model_surface_look(o.f.model, 0);
    int rendered = (int)value_of(json, "\"count\":", 0);
    assert_null(strstr(json, "matrix"));
    assert_null(strstr(json, "targets"));
    assert_null(strstr(json, "animations"));
    const unsigned char *uvs = binary + 12 * rendered, *corner = uvs + 8 * rendered;
    static const int order[CUBE_TRIANGLES] = {8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7};
    for (int i = 0; i < CUBE_TRIANGLES; i++)
        for (int c = 0; c < 3; c++) {
            const unsigned char *uv = uvs + 8 * u32(corner + 4 * (3 * i + c));
            int32_t wanted = look->triangle_uv[3 * order[i] + c];
            double u = wanted >= 0 ? look->uv[2 * wanted] : 0,
                   v = wanted >= 0 ? 1 - look->uv[2 * wanted + 1] : 0;
            assert_true(f32(u32(uv)) == (float)u && f32(u32(uv + 4)) == (float)v);
        }
    free(bytes);
    end(&o);
}

static void glb_thins_out_frames(void **state) {
    (void)state;
    opened o;
    size_t size = 0;
    const unsigned char *binary = NULL;
    begin(&o);
    o.def.glb_targets = 2;
    unsigned char *bytes = export_file(&o, "glb", "frames.glb", &size);
    assert_string_equal(o.f.warning,
                        "glb: 1 of 4 frames were left out, evenly, because 2 morph targets are allowed: "
                        "sinew export takes up to 65535 with --glb-targets, if the viewer does");
    const char *json = take_chunks(bytes, size, &binary);
    assert_non_null(strstr(json, "\"targetNames\":[\"frame 1\",\"frame 3\"]"));
    assert_true(f32(u32(bytes + size - 4 * 9)) == 0 && f32(u32(bytes + size - 4 * 7)) == 0.75F);
    free(bytes);
    o.f.warning[0] = '\0';
    o.def.glb_targets = 3;
    export(&o, "glb");
    assert_string_equal(o.f.warning, "");
    end(&o);
}

/// The run keeps all else that it has, its summary too, and can be exported otherwise.
static void glb_refuses_times_that_floats_join(void **state) {
    (void)state;
    opened o;
    set_up_with(&o.f, NULL);
    o.f.start = 1e9;
    record_frames(&o.f, true);
    open_results(&o);
    refuse(&o, "glb", "glb: the floats of glTF hold no difference between the times 1000000000 and");
    sn_results_close(&o.results);
    o.f.output.glb = o.f.output.usda = o.f.output.mdd = true;
    sn_recorder *recorder = NULL;
    const sn_run_info run = {.frame_seconds = 0.25, .frame_total = 1};
    assert_done(o.f.ctx,
                sn_recorder_create(o.f.ctx, o.f.model, o.f.folder, true, &o.f.output, &run, &recorder));
    move_to(&o.f, 0);
    assert_done(o.f.ctx, sn_recorder_frame(recorder, o.f.state, NULL));
    move_to(&o.f, 0.25);
    const sn_step_info info = {.time = 1e9 + 0.25};
    assert_done(o.f.ctx, sn_recorder_frame(recorder, o.f.state, &info));
    assert_int_equal(sn_recorder_finish(recorder, o.f.state), SN_ERR_INVALID_ARGUMENT);
    expect_message(&o.f, "output.glb: glb: the floats of glTF");
    sn_recorder_destroy(&recorder);
    assert_true(test_folder_has(o.f.folder, "summary.json") && test_folder_has(o.f.folder, "w__rfel.mdd"));
    open_results(&o);
    assert_true(sn_results_get_info(o.results).finished);
    export(&o, "usda");
    end(&o);
}

// ---- USDA

static void usda_has_samples(void **state) {
    (void)state;
    opened o;
    begin(&o);
    char *text = (char *)export_file(&o, "usda", "frames.usda", NULL);
    assert_int_equal(strncmp(text, "#usda 1.0\n(\n    defaultPrim = \"bodies\"\n", 38), 0);
    static const char *const facts[] = {
        "    endTimeCode = 3\n",
        "    metersPerUnit = 1\n",
        "    startTimeCode = 0\n",
        "    timeCodesPerSecond = 4\n",
        "    upAxis = \"Z\"\n",
        "    def Mesh \"a_long__beam_\" (\n        customData = {\n            string name = \"a long "
        "\\\"beam\\\"\"\n",
        "        int[] faceVertexCounts = [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3]\n",
        "        int[] faceVertexIndices = [3, 2, 1, 3, 1, 0, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4, 1, 2, 6, "
        "1, 6, 5, "
        "2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7]\n",
        "        texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1), (0.5, 0.25), (0, 0)] (\n"
        "            interpolation = \"faceVarying\"\n        )\n",
        "        int[] primvars:st:indices = [0, 1, 2, 0, 2, 3, 0, 1, 2, 0, 2, 3, 0, 1, 4, 0, 4, 3, 5, 5, 5, "
        "5, 5, "
        "5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5]\n",
        "        def GeomSubset \"rough_skin\" (",
        "            int[] indices = [0, 1, 2, 3]\n",
        "        def GeomSubset \"______\" (\n            customData = {\n"
        "                string name = \"<\\\"\xc3\x9f\\\">\"\n",
        "            int[] indices = [4, 5, 6, 7]\n"};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (!strstr(text, facts[i]))
            fail_msg("%s is not in the file", facts[i]);
    assert_int_equal(occurrences(text, "point3f[] points.timeSamples = {"), 2);
    // The samples of the cube, the last mesh, and their bounds.
    const char *points = strstr(strstr(text, "w__rfel"), "points.timeSamples"),
               *extent = strstr(points, "extent");
    for (int frame = 0; frame < FRAMES; frame++) {
        const float *position = positions(&o, CUBE, frame);
        char key[16], *at = NULL;
        snprintf(key, sizeof key, " %d: [(", frame);
        at = strstr(points, key) + strlen(key);
        float low[3], high[3];
        for (int i = 0; i < 3 * CUBE_VERTICES; i++) {
            float found = strtof(at, &at);
            assert_true(found == position[i]);
            at += strspn(at, "(), ");
            low[i % 3] = i < 3 ? found : fminf(low[i % 3], found);
            high[i % 3] = i < 3 ? found : fmaxf(high[i % 3], found);
        }
        at = strstr(extent, key) + strlen(key);
        for (int i = 0; i < 6; i++) {
            assert_true(strtof(at, &at) == (i < 3 ? low[i] : high[i - 3]));
            at += strspn(at, "(), ");
        }
    }
    free(text);
    end(&o);
}

/// Names of prims that would be the same, or none, are told apart.
static void usda_names_are_identifiers(void **state) {
    (void)state;
    static const char cube[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                               "g 1st\nf 1 2 3\ng a.b\nf 1 2 4\ng a b\nf 1 3 4\ng a/b\nf 2 3 4\n";
    opened o;
    char path[TEST_PATH_SIZE];
    sn_mesh_data *data = NULL;
    begin(&o);
    sn_results_close(&o.results);
    // The folder of another surface: four triangles.
    put_text(o.f.folder, "w__rfel.surface.obj", cube, strlen(cube));
    static const int32_t triangles[12] = {0, 1, 2, 0, 1, 3, 0, 2, 3, 1, 2, 3};
    size_t size = 0;
    char *npy = test_folder_read(o.f.folder, "w__rfel.triangles.npy", &size);
    memcpy(memchr(npy, '(', size), "(4, 3), } ", 10);
    memcpy(npy + 128, triangles, sizeof triangles);
    put_text(o.f.folder, "w__rfel.triangles.npy", npy, 128 + sizeof triangles);
    free(npy);
    npy = test_folder_read(o.f.folder, "w__rfel.surface.npy", &size);
    memcpy(memchr(npy, '(', size), "(4, 4, 3), } ", 13);
    put_text(o.f.folder, "w__rfel.surface.npy", npy, size);
    free(npy);
    test_folder_path(o.f.folder, "w__rfel.surface.obj", path);
    assert_done(o.f.ctx, sn_mesh_data_read(o.f.ctx, path, &data));
    sn_mesh_data_destroy(&data);
    open_results(&o);
    char *text = (char *)export_file(&o, "usda", "frames.usda", NULL);
    static const char *const names[] = {"\"_1st\"", "\"a_b\"", "\"a_b_2\"", "\"a_b_3\""};
    for (int i = 0; i < 4; i++) {
        char word[64];
        snprintf(word, sizeof word, "def GeomSubset %s (", names[i]);
        assert_int_equal(occurrences(text, word), 1);
    }
    free(text);
    end(&o);
}

// ---- Sequences

static void sequences_are_meshes(void **state) {
    (void)state;
    opened o;
    char path[TEST_PATH_SIZE];
    sn_mesh_data *data = NULL;
    begin(&o);
    o.def.body = cube_file;
    o.def.frame_first = 1, o.def.frame_step = 2;
    assert_int_equal(export(&o, "obj"), 2);
    assert_int_equal(export(&o, "vtu"), 2 + 2);
    static const char *const names[] = {"w__rfel.000001.obj", "w__rfel.000003.obj", "w__rfel.000001.vtu",
                                        "w__rfel.000003.vtu", "w__rfel.vtu.series", "frames.pvd"};
    for (int i = 0; i < 6; i++)
        assert_true(test_folder_has(o.f.out, names[i]));
    assert_int_equal(test_folder_count(o.f.out), 6);
    for (int i = 0; i < 4; i++) {
        const float *position = positions(&o, CUBE, i % 2 == 0 ? 1 : 3);
        test_folder_path(o.f.out, names[i], path);
        assert_done(o.f.ctx, sn_mesh_data_read(o.f.ctx, path, &data));
        assert_int_equal(data->vertex_count, CUBE_VERTICES);
        for (int k = 0; k < 3 * CUBE_VERTICES; k++)
            assert_true(data->position[k] == position[k]);
        assert_int_equal(data->block[0].count, CUBE_TRIANGLES);
        assert_int_equal(data->group_count, 2);
        assert_int_equal(data->uv_count, i < 2 ? CUBE_UVS : 0);
        sn_mesh_data_destroy(&data);
    }
    char *list = test_folder_read(o.f.out, "frames.pvd", NULL);
    assert_non_null(strstr(list, "<DataSet timestep=\"0.75\" part=\"0\" file=\"w__rfel.000003.vtu\"/>"));
    free(list);
    end(&o);
}

// ---- What is asked for

static void refuses_what_is_not_there(void **state) {
    (void)state;
    opened o;
    begin(&o);
    refuse(&o, "gbl", "unknown format \"gbl\"; did you mean glb? There are mdd, ");
    refuse(&o, "alembic", "unknown format \"alembic\", expected one of mdd, ");
    o.def.body = "arm";
    refuse(&o, "mdd", "has no body \"arm\"; it has a long \"beam\", w\xc3\xbcrfel");
    o.def.body = NULL;
    o.def.frame_last = FRAMES;
    refuse(&o, "mdd", "frames 0 to 4 were asked for; ");
    o.def.frame_last = 1, o.def.frame_first = 2;
    refuse(&o, "mdd", "frames 2 to 1 were asked for");
    o.def.frame_step = 0;
    refuse(&o, "mdd", "export: frame_step");
    o.def = sn_export_def_default();
    o.def.directory = o.f.folder;
    refuse(&o, "mdd", "is the folder of the run, whose own files may have the same names");
    o.def.mark = 0;
    assert_int_equal(sn_results_export(o.results, "mdd", &o.def, NULL), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_results_export(o.results, NULL, &o.def, NULL), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_results_export(o.results, "mdd", NULL, NULL), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(sn_results_export(NULL, "mdd", &o.def, NULL), SN_ERR_INVALID_ARGUMENT);
    assert_int_equal(test_folder_count(o.f.out), 0);
    end(&o);
}

/// The same bytes from a run as by an export of its folder.
static void runs_write_the_same(void **state) {
    (void)state;
    static const char *const names[][2] = {
        {"mdd", "w__rfel.mdd"}, {"glb", "frames.glb"}, {"usda", "frames.usda"}, {"npz", "frames.npz"}};
    opened o;
    set_up_with(&o.f, NULL);
    o.f.output.mdd = o.f.output.glb = o.f.output.usda = o.f.output.npz = true;
    record_frames(&o.f, true);
    open_results(&o);
    for (int i = 0; i < 4; i++) {
        size_t size = 0, run_size = 0;
        unsigned char *bytes = export_file(&o, names[i][0], names[i][1], &size);
        char *run = test_folder_read(o.f.folder, names[i][1], &run_size);
        assert_int_equal(size, run_size);
        assert_memory_equal(bytes, run, size);
        free(bytes);
        free(run);
    }
    end(&o);
}

static void runs_need_positions(void **state) {
    (void)state;
    export_fixture f;
    sn_recorder *recorder = NULL;
    const sn_run_info run = {.frame_seconds = 0.25};
    set_up_with(&f, NULL);
    f.output.npy = false;
    f.output.glb = true;
    assert_int_equal(sn_recorder_create(f.ctx, f.model, f.folder, false, &f.output, &run, &recorder),
                     SN_ERR_INVALID_ARGUMENT);
    expect_message(&f,
                   "output: npy: allowed: true, because mdd, glb, usda and npz are made from these files");
    tear_down(&f);
}

// ---- Bad circumstances

/// A file-size limit stands for a full disk. Small files fit into a buffer, so that they fail as they close.
static void full_disks_leave_the_files(void **state) {
    (void)state;
    opened o;
    begin(&o);
    signal(SIGXFSZ, SIG_IGN);
    for (int32_t i = 0; sn_export_format(i, NULL); i++) {
        const char *format = sn_export_format(i, NULL);
        struct rlimit before, small;
        export(&o, format);
        int files = test_folder_count(o.f.out);
        size_t size = 0, now = 0;
        const char *name = strcmp(format, "obj") == 0   ? "a_long__beam_.000000.obj"
                           : strcmp(format, "vtu") == 0 ? "a_long__beam_.000000.vtu"
                           : strcmp(format, "mdd") == 0 ? "a_long__beam_.mdd"
                           : strcmp(format, "pc2") == 0 ? "a_long__beam_.pc2"
                           : strcmp(format, "glb") == 0 ? "frames.glb"
                           : strcmp(format, "npz") == 0 ? "frames.npz"
                                                        : "frames.usda";
        char *kept = test_folder_read(o.f.out, name, &size);
        assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
        small = before;
        small.rlim_cur = 100;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        int32_t count = -1;
        sn_status status = sn_results_export(o.results, format, &o.def, &count);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(status, SN_ERR_WRITE);
        expect_message(&o.f, "File too large");
        assert_int_equal(count, -1);
        assert_int_equal(test_folder_count(o.f.out), files);
        char *text = test_folder_read(o.f.out, name, &now);
        assert_int_equal(size, now);
        assert_memory_equal(text, kept, size);
        free(text);
        free(kept);
    }
    end(&o);
}

static sn_status open_and_export(export_fixture *f, const char *format) {
    sn_results *results = NULL;
    sn_export_def def = sn_export_def_default();
    def.directory = f->out;
    sn_status status = sn_results_open(f->ctx, f->folder, &results);
    if (status == SN_OK)
        status = sn_results_export(results, format, &def, NULL);
    sn_results_close(&results);
    return status;
}

static void survives_each_failing_allocation(void **state) {
    (void)state;
    export_fixture f;
    allocations_left = -1;
    set_up_with(&f, &failing_allocator);
    record_frames(&f, true);
    size_t in_use = sn_context_memory_in_use(f.ctx);
    for (int32_t i = 0; sn_export_format(i, NULL); i++) {
        int failing = 0;
        for (sn_status status = SN_ERR_NO_MEMORY; status != SN_OK; failing++) {
            allocations_left = failing;
            status = open_and_export(&f, sn_export_format(i, NULL));
            allocations_left = -1;
            if (status != SN_OK && status != SN_ERR_NO_MEMORY)
                fail_msg("%s: %s", sn_export_format(i, NULL), sn_context_message(f.ctx));
            assert_int_equal(sn_context_memory_in_use(f.ctx), in_use);
        }
        assert_true(failing > 40);
    }
    tear_down(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mdd_is_big_endian),
        cmocka_unit_test(pc2_is_that_of_the_run),
        cmocka_unit_test(npz_holds_arrays),
        cmocka_unit_test(glb_moves_by_targets),
        cmocka_unit_test(glb_keeps_texture_coordinates),
        cmocka_unit_test(glb_thins_out_frames),
        cmocka_unit_test(glb_refuses_times_that_floats_join),
        cmocka_unit_test(usda_has_samples),
        cmocka_unit_test(usda_names_are_identifiers),
        cmocka_unit_test(sequences_are_meshes),
        cmocka_unit_test(refuses_what_is_not_there),
        cmocka_unit_test(runs_write_the_same),
        cmocka_unit_test(runs_need_positions),
        cmocka_unit_test(full_disks_leave_the_files),
        cmocka_unit_test(survives_each_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
