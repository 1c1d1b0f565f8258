// Round trips are exact, and a failed write leaves the old file as it was.
#define _XOPEN_SOURCE 700
#include "unit/io/test_io_mesh_support.h"

#include "base/base_util.h"
#include "io/io_mesh_build.h"
#include "io/io_text.h"

#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { VERTICES = 300, CELLS = 200 };

/// Doubles of every size: random bits that are finite, denormals and both zeros too.
static double wild_real(sn_random *random) {
    for (;;) {
        uint64_t bits = sn_random_u64(random);
        double value;
        if (sn_random_index(random, 20) == 0)
            bits &= UINT64_C(0x800fffffffffffff);
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            return value;
    }
}

/// A mesh with every kind of cell that fits, with groups and uvs.
typedef struct sample {
    sn_mesh_data data;
    double position[3 * VERTICES], uv[2 * VERTICES];
    sn_cell_block block[2];
    int32_t offset[CELLS + 1], vertex[2][8 * CELLS], uv_index[8 * CELLS], cell_group[2][CELLS];
    char *names[3];
} sample;

static void fill_block(sample *s, sn_random *random, int32_t b, sn_cell_kind kind) {
    static const int32_t sizes[] = {[SN_CELL_EDGE] = 2, [SN_CELL_TRIANGLE] = 3, [SN_CELL_TET] = 4};
    sn_cell_block *block = &s->block[b];
    *block = (sn_cell_block){.kind = kind, .count = CELLS, .vertex = s->vertex[b], .group = s->cell_group[b]};
    int32_t corners = 0;
    s->offset[0] = 0;
    for (int32_t i = 0; i < CELLS; i++) {
        int32_t size = kind == SN_CELL_POLYGON ? 3 + sn_random_index(random, 4) : sizes[kind];
        for (int32_t c = 0; c < size; c++, corners++) {
            block->vertex[corners] = sn_random_index(random, VERTICES);
            s->uv_index[corners] = sn_random_index(random, VERTICES + 1) - 1;
        }
        // The first cells meet the groups in their order, which readers restore.
        block->group[i] = i < 3 ? i : sn_random_index(random, 4) - 1;
        if (kind == SN_CELL_POLYGON)
            s->offset[i + 1] = corners;
    }
    if (kind == SN_CELL_POLYGON) {
        block->offset = s->offset;
        block->uv = s->uv_index;
    }
}

static sample *make_sample(sn_context *ctx, sn_random *random, sn_cell_kind first, sn_cell_kind second,
                           const char *const names[3]) {
    sample *s = calloc(1, sizeof *s);
    assert_non_null(s);
    for (int i = 0; i < 3 * VERTICES; i++)
        s->position[i] = wild_real(random);
    for (int i = 0; i < 2 * VERTICES; i++)
        s->uv[i] = wild_real(random);
    for (int i = 0; i < 3; i++)
        s->names[i] = (char *)(uintptr_t)names[i];
    fill_block(s, random, 0, first);
    fill_block(s, random, 1, second);
    s->data = (sn_mesh_data){.context = ctx,
                             .vertex_count = VERTICES,
                             .position = s->position,
                             .block_count = 2,
                             .block = s->block,
                             .group_count = 3,
                             .group = s->names,
                             .note = (char *)(uintptr_t) ""};
    if (second == SN_CELL_POLYGON) {
        s->data.uv = s->uv;
        s->data.uv_count = VERTICES;
    }
    return s;
}

static void assert_same_block(const sn_cell_block *a, const sn_cell_block *b) {
    static const size_t sizes[] = {[SN_CELL_EDGE] = 2, [SN_CELL_TRIANGLE] = 3, [SN_CELL_TET] = 4};
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->count, b->count);
    size_t corners =
        a->kind == SN_CELL_POLYGON ? (size_t)a->offset[a->count] : (size_t)a->count * sizes[a->kind];
    if (a->kind == SN_CELL_POLYGON)
        assert_memory_equal(a->offset, b->offset, ((size_t)a->count + 1) * sizeof *a->offset);
    assert_memory_equal(a->vertex, b->vertex, corners * sizeof *a->vertex);
    assert_memory_equal(a->group, b->group, (size_t)a->count * sizeof *a->group);
    assert_int_equal(a->uv != NULL, b->uv != NULL);
    if (a->uv)
        assert_memory_equal(a->uv, b->uv, corners * sizeof *a->uv);
}

static void assert_same(const sn_mesh_data *a, const sn_mesh_data *b) {
    assert_int_equal(a->vertex_count, b->vertex_count);
    assert_memory_equal(a->position, b->position, (size_t)a->vertex_count * 3 * sizeof *a->position);
    assert_int_equal(a->uv_count, b->uv_count);
    if (a->uv_count > 0)
        assert_memory_equal(a->uv, b->uv, (size_t)a->uv_count * 2 * sizeof *a->uv);
    assert_int_equal(a->group_count, b->group_count);
    for (int32_t g = 0; g < a->group_count; g++)
        assert_string_equal(a->group[g], b->group[g]);
    assert_int_equal(a->block_count, b->block_count);
    for (int32_t i = 0; i < a->block_count; i++)
        assert_same_block(&a->block[i], &b->block[i]);
}

static void round_trips_are_exact(void **state) {
    (void)state;
    static const struct {
        const char *path;
        sn_cell_kind first, second;
        const char *names[3];
    } cases[] = {
        {TEST_PATH("write_a.obj"), SN_CELL_EDGE, SN_CELL_POLYGON, {"upper arm", "skin#2", "ref7"}},
        {TEST_PATH("write_a.mesh"), SN_CELL_TRIANGLE, SN_CELL_TET, {"ref7", "ref-3", "ref2147483647"}},
        {TEST_PATH("write_a.mesh"), SN_CELL_EDGE, SN_CELL_TRIANGLE, {"ref1", "ref2", "ref3"}},
        {TEST_PATH("write_a.msh"), SN_CELL_EDGE, SN_CELL_TET, {"upper arm", "skin", "12"}},
        {TEST_PATH("write_a.msh"), SN_CELL_TRIANGLE, SN_CELL_TET, {"tag7", "tag5", "tag3"}}};
    sn_random random = sn_random_make(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sn_context *ctx = open_context();
        sample *s = make_sample(ctx, &random, cases[i].first, cases[i].second, cases[i].names);
        sn_mesh_data *back = NULL;
        assert_int_equal(sn_mesh_data_write(&s->data, cases[i].path), SN_OK);
        assert_int_equal(sn_mesh_data_read(ctx, cases[i].path, &back), SN_OK);
        assert_same(&s->data, back);
        assert_string_equal(back->note, "");
        sn_mesh_data_destroy(&back);
        free(s);
        remove(cases[i].path);
        close_context(ctx);
    }
}

/// Names become numbers that no other group has, and polygons fans.
static void medit_numbers_groups_and_cuts_polygons(void **state) {
    (void)state;
    sn_context *ctx = open_context();
    const char *path = TEST_PATH("write_b.mesh");
    sn_mesh_data *data =
                     read_text(ctx, TEST_PATH("write_b.obj"),
                               "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\ng skin\nf 1 2 3 4\ng ref1\nf 1 2 3\n"),
                 *back = NULL;
    assert_int_equal(sn_mesh_data_write(data, path), SN_OK);
    assert_int_equal(sn_mesh_data_read(ctx, path, &back), SN_OK);
    assert_int_equal(back->block[0].kind, SN_CELL_TRIANGLE);
    assert_int_equal(back->block[0].count, 3);
    assert_memory_equal(back->block[0].vertex, ((int32_t[]){0, 1, 2, 0, 2, 3, 0, 1, 2}), 9 * sizeof(int32_t));
    assert_string_equal(back->group[back->block[0].group[0]], "ref2");
    assert_string_equal(back->group[back->block[0].group[2]], "ref1");
    sn_mesh_data_destroy(&back);
    sn_mesh_data_destroy(&data);
    remove(path);
    close_context(ctx);
}

static void bad_requests_are_refused(void **state) {
    (void)state;
    sn_context *ctx = open_context();
    sn_mesh_data *data =
        read_text(ctx, TEST_PATH("write_c.mesh"),
                  "MeshVersionFormatted 1\nVertices 1\n0 0 0 0\nTetrahedra 1\n1 1 1 1 0\nEnd\n");
    assert_int_equal(sn_mesh_data_write(data, TEST_PATH("write_c.obj")), SN_ERR_INVALID_ARGUMENT);
    assert_message_has(ctx, "write_c.obj|tetrahedra|.msh");
    assert_int_not_equal(access(TEST_PATH("write_c.obj"), F_OK), 0);
    assert_int_equal(sn_mesh_data_write(data, TEST_PATH("write_c.xyz")), SN_ERR_INVALID_ARGUMENT);
    assert_message_has(ctx, "write_c.xyz|.obj|.mesh|.msh");
    assert_int_equal(sn_mesh_data_write(data, TEST_PATH("no folder/a.msh")), SN_ERR_WRITE);
    assert_message_has(ctx, "no folder/a.msh|cannot be written|No such file");
    assert_int_equal(sn_mesh_data_write(NULL, "a.obj"), SN_ERR_INVALID_ARGUMENT);
    data->block[0].vertex[3] = 1;
    assert_int_equal(sn_mesh_data_write(data, TEST_PATH("write_c.msh")), SN_ERR_INVALID_ARGUMENT);
    assert_message_has(ctx, "vertex 1|0 to 0");
    sn_mesh_data_destroy(&data);
    close_context(ctx);
}

/// A limit on file sizes stands for a full disk.
static void a_full_disk_keeps_the_old_file(void **state) {
    (void)state;
    sn_context *ctx = open_context();
    const char *path = TEST_PATH("write_d.msh");
    sn_random random = sn_random_make(2);
    sample *s =
        make_sample(ctx, &random, SN_CELL_TRIANGLE, SN_CELL_TET, (const char *const[]){"a", "b", "c"});
    write_bytes(path, "old", 3);
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1000;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    sn_status status = sn_mesh_data_write(&s->data, path);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, SN_ERR_WRITE);
    assert_message_has(ctx, "write_d.msh|cannot be written|too large");
    char left[8] = "", part[512];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(left, 1, sizeof left, file), 3);
    fclose(file);
    assert_string_equal(left, "old");
    snprintf(part, sizeof part, "%s.part%ld", path, (long)getpid());
    assert_int_not_equal(access(part, F_OK), 0);
    remove(path);
    free(s);
    close_context(ctx);
}

/// Our fast path and the C library agree to the bit on short and long numbers.
static void numbers_are_read_exactly(void **state) {
    (void)state;
    sn_context *ctx = open_context();
    sn_random random = sn_random_make(3);
    const char *path = TEST_PATH("write_e.txt");
    enum { COUNT = 20000 };
    char(*words)[40] = calloc(COUNT, sizeof *words);
    assert_non_null(words);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < COUNT; i++) {
        static const char *const forms[] = {"%.3f", "%.9f", "%.6g", "%.15g", "%.17g", "%.0e", "%+.25e"};
        double value = i % 2 ? wild_real(&random) : sn_random_normal(&random) * 1e3;
        const char *form = forms[sn_random_index(&random, i % 2 ? 4 : 7) + (i % 2 ? 3 : 0)];
        snprintf(words[i], sizeof words[i], form, value);
        fprintf(file, "%s\n", words[i]);
    }
    fclose(file);
    sn_text text = {0};
    assert_int_equal(sn_text_open(ctx, path, &text), SN_OK);
    for (int i = 0; i < COUNT; i++) {
        double value = 0, expected = strtod(words[i], NULL);
        assert_true(sn_text_skip_space(&text));
        assert_true(sn_text_real(&text, &value));
        if (memcmp(&value, &expected, sizeof value) != 0)
            fail_msg("%s was read as %.17g", words[i], value);
    }
    assert_false(sn_text_skip_space(&text));
    sn_text_close(&text);
    free(words);
    remove(path);
    close_context(ctx);
}

/// A program with a decimal comma reads and writes points, and keeps its comma.
static void locales_do_not_matter(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "ru_RU.UTF-8"};
    locale_t comma = (locale_t)0;
    for (size_t i = 0; !comma && i < sizeof names / sizeof *names; i++)
        comma = newlocale(LC_ALL_MASK, names[i], (locale_t)0);
    bool has_comma = comma != (locale_t)0;
    if (!has_comma)
        comma = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    sn_context *ctx = open_context();
    locale_t before = uselocale(comma);
    sn_mesh_data *data = read_text(ctx, TEST_PATH("write_f.obj"), "v 0.12345678901234567 2.5 3e-310\n"),
                 *back = NULL;
    assert_int_equal(sn_mesh_data_write(data, TEST_PATH("write_g.obj")), SN_OK);
    assert_int_equal(sn_mesh_data_read(ctx, TEST_PATH("write_g.obj"), &back), SN_OK);
    assert_ptr_equal(uselocale((locale_t)0), comma);
    assert_string_equal(localeconv()->decimal_point, has_comma ? "," : ".");
    uselocale(before);
    freelocale(comma);
    assert_true(back->position[0] == 0.12345678901234567 && back->position[1] == 2.5 &&
                back->position[2] == 3e-310);
    sn_mesh_data_destroy(&back);
    sn_mesh_data_destroy(&data);
    remove(TEST_PATH("write_g.obj"));
    close_context(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips_are_exact),    cmocka_unit_test(medit_numbers_groups_and_cuts_polygons),
        cmocka_unit_test(bad_requests_are_refused), cmocka_unit_test(a_full_disk_keeps_the_old_file),
        cmocka_unit_test(numbers_are_read_exactly), cmocka_unit_test(locales_do_not_matter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
