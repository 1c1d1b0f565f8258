// The program as a user meets it: `sinew mesh ...`, its help, its exit codes.
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { OUTPUT_SIZE = 1 << 16, COMMAND_SIZE = 2048 };

static char output[OUTPUT_SIZE];
static const char *data_folder;
#define WORK SINEW_BINARY_DIR "/cli_mesh"

/// Runs a shell command; its output and messages go to `output`. Returns its exit code.
static int shell(const char *command) {
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t size = fread(output, 1, sizeof output - 1, pipe);
    output[size] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Runs the program. In `arguments`, @ stands for the folder of the real meshes and % for the work folder.
static int sinew(const char *arguments) {
    char command[COMMAND_SIZE] = SINEW_BINARY_DIR "/bin/sinew ";
    size_t used = strlen(command);
    for (const char *c = arguments; *c; c++) {
        const char *text = *c == '@' ? data_folder : *c == '%' ? WORK : NULL;
        used += (size_t)(text ? snprintf(command + used, sizeof command - used, "%s", text)
                              : snprintf(command + used, sizeof command - used, "%c", *c));
        assert_true(used < sizeof command - 10);
    }
    snprintf(command + used, sizeof command - used, " 2>&1");
    return shell(command);
}

static void assert_says(const char *arguments, int code, const char *words) {
    int found = sinew(arguments);
    if (found != code)
        fail_msg("sinew %s: exit %d, expected %d: %s", arguments, found, code, output);
    char word[200];
    while (*words) {
        size_t length = strcspn(words, "|");
        snprintf(word, sizeof word, "%.*s", (int)length, words);
        if (!strstr(output, word))
            fail_msg("sinew %s: \"%s\" is not in: %s", arguments, word, output);
        words += length + (words[length] == '|');
    }
}

static void need_data(void) {
    struct stat about;
    if (stat(data_folder, &about) != 0)
        skip();
}

static void wrong_usage_is_explained(void **state) {
    (void)state;
    assert_says("", 2, "usage|no command given");
    assert_says("mseh", 2, "unknown command \"mseh\"|did you mean mesh?");
    assert_says("xyzzy", 2, "unknown command|sinew help");
    assert_says("--frobnicate", 2, "unknown option --frobnicate");
    assert_says("mesh", 2, "no command given");
    assert_says("mesh infp x", 2, "unknown command \"mesh infp\"|did you mean mesh info?");
    assert_says("mesh info", 2, "too few arguments|mesh info IN");
    assert_says("mesh info a b", 2, "unexpected \"b\"");
    assert_says("mesh info --cells 3 a", 2, "unknown option --cells");
    assert_says("mesh lattice a.obj b.msh --cell 3", 2, "unknown option --cell|did you mean --cells?");
    assert_says("mesh lattice a.obj b.msh --cells", 2, "--cells needs a value: N");
    assert_says("mesh lattice a.obj b.msh --cells 0", 2, "\"0\"|1 to 1000");
    assert_says("mesh lattice a.obj b.msh --cells=12x", 2, "\"12x\"|whole number");
    assert_says("mesh lattice a.obj b.msh --kind kuhm", 2, "\"kuhm\"|did you mean kuhn?");
    assert_says("mesh make beam % --size 1,2", 2, "\"1,2\"|three numbers");
    assert_says("mesh make bean %/a.msh", 2, "unknown shape \"bean\"|did you mean beam?");
    assert_says("mesh info -- --help", 2, "--help: cannot be read");
    assert_says("mesh info '%/none.obj'", 2, "none.obj: cannot be read: No such file");
    assert_says("help mesch", 2, "did you mean mesh?");
}

static void help_and_version_are_there(void **state) {
    (void)state;
    assert_says("--version", 0, "sinew 0.|Apache-2.0|METIS|OpenBLAS|BSD-3|libyaml|MIT");
    assert_says("--help", 0, "usage: sinew COMMAND|mesh|exit status: 0 done");
    assert_says("help", 0, "usage: sinew COMMAND");
    assert_says("help mesh", 0, "mesh lattice IN OUT|--cells N|1 to 1000|Wavefront");
    assert_says("help mesh make", 0, "usage: sinew mesh make|--size x,y,z");
    assert_says("help run", 0, "usage: sinew run SCENE|--frames N");
    assert_says("help scene", 0, "sinew: 1|materials");
    assert_says("help scene --markdown", 0, "|---|");
    assert_says("help materials", 0, "corotated|young");
    assert_says("mesh --help", 0, "mesh convert IN OUT");
    assert_says("mesh lattice --help", 0, "usage: sinew mesh lattice|--kind bcc|kuhn");
}

static void info_says_what_is_wrong(void **state) {
    (void)state;
    need_data();
    assert_says("mesh info @/arm.obj", 0,
                "closed surface|problems:\n  none|vertices    8311|triangles   16618");
    assert_says("mesh info @/stanford-bunny.obj", 0, "open surface|223 boundary edges|hint: ");
    assert_says("mesh info @/suzanne.obj", 0, "42 boundary edges|polygons    500|pieces      3");
    assert_says("mesh info @/teapot.obj", 0, "1036 boundary edges");
    assert_says("mesh info @/hand.mesh", 0, "tetrahedral mesh|vertices    7234|tets        29998");
    assert_says("mesh info @/bunny.mesh", 0, "vertices    5433|tets        34055");
    assert_says("mesh info @/arm.tgf", 0, "5 joints and 4 bones|bone 4 - 5");
}

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void info_hints_at_units_and_faults(void **state) {
    (void)state;
    write_text(WORK "/mm.obj", "v 0 0 0\nv 100 0 0\nv 0 100 0\nv 0 0 nan\nf 1 2 3\nwarp 1\n");
    assert_says("mesh info %/mm.obj", 0,
                "100|very large|units: {length: mm}|NaN or infinite, first number 4|\"warp\"");
    write_text(WORK "/flip.mesh", "MeshVersionFormatted 1\nVertices 4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"
                                  "Tetrahedra 1\n1 3 2 4 0\nEnd\n");
    assert_says("mesh info %/flip.mesh", 0, "1 tets are inside out, first bad one number 1|hint: swap");
    assert_says("mesh surface %/flip.mesh %/flip.obj", 2, "sinew: ");
    write_text(WORK "/bad.obj", "v 0 0 0\nf 1 2 3\n");
    assert_says("mesh info %/bad.obj", 2, "bad.obj:2: found index 2");
}

static void info_finds_triangles_that_cross(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        // Through one another.
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv .2 .2 -1\nv .2 .2 1\nv 2 2 0\nf 1 2 3\nf 4 5 6\n",
         "1 pairs of triangles cross or touch, first those numbered 1 and 2"},
        // A corner on the other's plane, exactly, and the smallest number above it.
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv .2 .2 0\nv 1 0 1\nv 0 1 1\nf 1 2 3\nf 4 5 6\n", "1 pairs"},
        {"v 0 0 .1\nv 1 0 .1\nv 0 1 .1\nv .2 .2 .10000000000000002\nv 1 0 1\nv 0 1 1\nf 1 2 3\nf 4 5 6\n",
         "pieces      2"},
        // In one plane: side by side at a vertex, one over the other, folded at an edge.
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv -1 0 0\nv 0 -1 0\nf 1 2 3\nf 1 4 5\n", "boundary"},
        {"v 0 0 0\nv 3 0 0\nv 0 3 0\nv 1 1 0\nv 1.5 1 0\nv 1 1.5 0\nf 1 2 3\nf 4 5 6\n", "1 pairs"},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv .5 2 0\nf 1 2 3\nf 2 1 4\n", "1 pairs"},
        // A vertex at one place with two numbers is one; an edge through a triangle from their shared vertex.
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 0\nv 0 -1 1\nv 1 -1 1\nf 1 2 3\nf 4 5 6\n", "exactly where"},
        {"v 0 0 0\nv 2 0 0\nv 0 2 0\nv 1 .5 -1\nv .5 .5 1\nf 1 2 3\nf 1 4 5\n", "1 pairs"},
        // Edges without a face.
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 5 5 5\nf 1 2 3\nl 3 4\n",
         "1 loose vertices: in edges, but in no face"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_text(WORK "/cross.obj", cases[i].text);
        assert_says("mesh info %/cross.obj", 0, cases[i].words);
        bool crosses = strstr(output, "cross or touch") != NULL;
        if (crosses != (strstr(cases[i].words, "pairs") != NULL))
            fail_msg("case %zu: %s", i, output);
    }
    assert_says("mesh make arm %/cross.stl --cells 30", 0, "cross.stl");
    assert_says("mesh info %/cross.stl", 0, "problems:\n  none");
}

static void lattices_read_back(void **state) {
    (void)state;
    need_data();
    assert_says("mesh lattice @/arm.obj %/arm.msh --cells=24", 0,
                "bcc lattice, 24 cells|8311 vertices embedded");
    assert_says("mesh info %/arm.msh", 0, "tetrahedral mesh|pieces      1");
    assert_says("mesh make sphere %/ball.obj", 0, "ball.obj");
    assert_says("mesh lattice --kind kuhn --cells 12 %/ball.obj %/ball.mesh", 0, "kuhn lattice, 12 cells");
    assert_says("mesh info %/ball.mesh", 0, "problems:\n  none");
    assert_says("mesh surface %/ball.mesh %/skin.obj", 0, "skin.obj: ");
    assert_says("mesh info %/skin.obj", 0, "closed surface|problems:\n  none");
    assert_says("mesh lattice @/arm.obj %/arm.msh --edge 0.075", 0, "bcc lattice|edge 0.075");
    assert_says("mesh lattice @/arm.obj %/arm.msh --tets 3000", 0, "solid parts hold 0.05");
    assert_says("mesh lattice @/arm.obj %/arm.msh --tets 3000 --cells 4", 2, "only one of");
    assert_says("mesh lattice @/arm.obj %/arm.msh --edge 0", 2, "expected a length > 0");
    assert_says("mesh lattice @/suzanne.obj %/head.msh --cells 60", 0, "not closed");
}

static void conversions_keep_everything(void **state) {
    (void)state;
    need_data();
    assert_says("mesh convert @/hand.mesh %/hand.msh", 0, "7234 vertices");
    assert_says("mesh convert %/hand.msh %/hand.mesh", 0, "7234 vertices");
    assert_says("mesh convert %/hand.mesh %/again.msh", 0, "7234 vertices");
    assert_int_equal(shell("cmp " WORK "/hand.msh " WORK "/again.msh"), 0);
    assert_says("mesh info %/again.msh", 0, "tets        29998");
    assert_says("mesh convert @/suzanne.obj %/suzanne.obj", 0, "507 vertices");
    assert_says("mesh info %/suzanne.obj", 0, "polygons    500|42 boundary edges");
    assert_says("mesh convert @/suzanne.obj %/suzanne.msh", 0,
                "warning|500 polygons were cut into triangles");
    assert_says("mesh convert @/unilatCompleteCleft.obj %/cleft.mesh", 0,
                "texture coordinates|groups became numbers");
    assert_says("mesh convert @/hand.mesh %/hand.obj", 2, "hand.obj|tetrahedra");
    assert_says("mesh convert @/hand.mesh %/hand.stl", 2, "hand.stl|tetrahedra");
    assert_says("mesh convert @/hand.mesh %/hand.xyz", 2, "unknown ending|.obj");
    assert_says("mesh convert @/hand.mesh '%/no folder/hand.msh'", 4,
                "no folder/hand.msh: cannot be written");
}

/// Every format takes a mesh and gives it back; `surface` and `lattice` read and write them too.
static void all_formats_convert(void **state) {
    (void)state;
    static const char *const solids[] = {"mesh", "msh", "vtk", "vtu", "node", "ele", "face", "inp"};
    static const char *const surfaces[] = {"obj", "stl", "ply", "vtk", "vtu", "mesh", "msh", "node", "inp"};
    char arguments[256];
    assert_says("mesh make beam %/all.msh --size 1,0.2,0.2 --cells 2", 0, "volume 0.04");
    assert_says("mesh make sphere %/all.obj --cells 4", 0, "all.obj");
    for (size_t i = 0; i < sizeof solids / sizeof *solids; i++) {
        snprintf(arguments, sizeof arguments, "mesh convert %%/all.msh %%/solid.%s", solids[i]);
        assert_says(arguments, 0, "99 vertices");
        snprintf(arguments, sizeof arguments, "mesh surface %%/solid.%s %%/skin.ply", solids[i]);
        assert_says(arguments, 0, "90 vertices, 176 triangles");
        assert_says("mesh info %/skin.ply", 0, "closed surface|problems:\n  none|volume      0.04");
    }
    for (size_t i = 0; i < sizeof surfaces / sizeof *surfaces; i++) {
        snprintf(arguments, sizeof arguments, "mesh convert %%/all.obj %%/ball.%s", surfaces[i]);
        assert_says(arguments, 0, "98 vertices");
        snprintf(arguments, sizeof arguments, "mesh lattice %%/ball.%s %%/ball-body.vtu --cells 6",
                 surfaces[i]);
        assert_says(arguments, 0, "98 vertices embedded");
    }
    assert_says("mesh info %/ball-body.vtu", 0, "tetrahedral mesh|problems:\n  none");
    assert_says("mesh convert %/all.msh %/solid.stl", 2, "solid.stl|cannot hold tetrahedra|surface only");
    assert_says("mesh convert %/all.msh %/solid.veg", 2, "read-only ending|.vtu");
    assert_says("mesh convert %/all.obj %/ball.stl", 0, "warning: |single precision");
    assert_says("mesh convert %/all.msh %/solid.inp", 0, "placeholders");
}

static void shapes_are_made(void **state) {
    (void)state;
    assert_says("mesh make beam %/beam.msh --size 1,0.2,0.1 --cells 2", 0, "volume 0.02");
    assert_says("mesh info %/beam.msh", 0, "tetrahedral mesh|problems:\n  none|0 0 0 to 1 0.2 0.1");
    assert_says("mesh make block %/block.obj", 0, "volume 0.008");
    assert_says("mesh make sphere %/sphere.obj", 0, "sphere.obj: ");
    assert_says("mesh info %/sphere.obj", 0, "closed surface|problems:\n  none");
    assert_says("mesh make arm %/limb.obj", 0, "limb.obj: |limb.tgf: 3 joints, 2 bones");
    assert_says("mesh info %/limb.obj", 0, "closed surface|problems:\n  none|pieces      1");
    assert_says("mesh info %/limb.tgf", 0, "3 joints and 2 bones");
}

static void output_that_cannot_be_written_is_told(void **state) {
    (void)state;
    struct stat about;
    if (stat("/dev/full", &about) != 0)
        skip();
    assert_int_equal(shell(SINEW_BINARY_DIR "/bin/sinew --version 2>&1 >/dev/full"), 4);
    assert_non_null(strstr(output, "could not be written"));
}

/// Another program's readers must see the same counts and groups. Where continuous integration runs (CI is
/// set), meshio must be there.
static void meshio_agrees(void **state) {
    (void)state;
    static const char check[] =
        "import meshio, sys\n"
        "for name in sys.argv[1:]:\n"
        "    mesh = meshio.read(name)\n"
        "    cells = [(c.type, len(c.data), int(c.data.min()), int(c.data.max())) for c in mesh.cells]\n"
        "    print(name.rsplit('.')[-1], len(mesh.points), sorted(cells), float(mesh.points[1][0]), "
        "sorted(mesh.field_data))\n";
    const char *python = NULL;
    if (shell("python3 -c 'import meshio' 2>&1") == 0)
        python = "python3";
    else if (shell("/usr/bin/python3 -c 'import meshio' 2>&1") == 0)
        python = "/usr/bin/python3";
    if (!python && getenv("CI"))
        fail_msg("meshio is missing: install python3-meshio");
    if (!python)
        skip();
    write_text(WORK "/check.py", check);
    write_text(WORK "/groups.obj",
               "v 0 0 0\nv 0.1 0 0\nv 0 1 0\nv 0 0 1\ng skin\nf 1 2 3\ng bone\nf 1 2 4\nl 3 4\n");
    assert_says("mesh make beam %/peer.msh --size 1,0.5,0.5 --cells 1", 0, "12 vertices");
    assert_says("mesh make beam %/peer.mesh --size 1,0.5,0.5 --cells 1", 0, "12 vertices");
    assert_says("mesh convert %/groups.obj %/groups.msh", 0, "4 vertices");
    char command[COMMAND_SIZE];
    snprintf(command, sizeof command, "%s %s/check.py %s/peer.msh %s/peer.mesh %s/groups.msh 2>&1", python,
             WORK, WORK, WORK, WORK);
    assert_int_equal(shell(command), 0);
    assert_non_null(strstr(output, "msh 12 [('tetra', 12, 0, 11)] 0.5 []"));
    assert_non_null(strstr(output, "mesh 12 [('tetra', 12, 0, 11)] 0.5 []"));
    assert_non_null(strstr(output, "msh 4 [('line', 1, 2, 3), ('triangle', 2, 0, 3)] 0.1 ['bone', 'skin']"));
}

static int make_work_folder(void **state) {
    (void)state;
    const char *folder = getenv("SINEW_DATA");
    data_folder = folder ? folder : SINEW_SOURCE_DIR "/../shared/data";
    return shell("rm -rf " WORK " && mkdir -p " WORK);
}

static int remove_work_folder(void **state) {
    (void)state;
    return shell("rm -rf " WORK);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(wrong_usage_is_explained),
                                       cmocka_unit_test(help_and_version_are_there),
                                       cmocka_unit_test(info_says_what_is_wrong),
                                       cmocka_unit_test(info_hints_at_units_and_faults),
                                       cmocka_unit_test(info_finds_triangles_that_cross),
                                       cmocka_unit_test(lattices_read_back),
                                       cmocka_unit_test(conversions_keep_everything),
                                       cmocka_unit_test(all_formats_convert),
                                       cmocka_unit_test(shapes_are_made),
                                       cmocka_unit_test(output_that_cannot_be_written_is_told),
                                       cmocka_unit_test(meshio_agrees)};
    return cmocka_run_group_tests(tests, make_work_folder, remove_work_folder);
}
