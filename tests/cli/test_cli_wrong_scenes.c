// `sinew check` on scenes that are wrong across keys or files: exit code 2, one clear message, no crash.
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
#include <unistd.h>

#define WORK    SINEW_BINARY_DIR "/cli_wrong_scenes"
#define PROGRAM SINEW_BINARY_DIR "/bin/sinew"

enum { OUTPUT_SIZE = 1 << 14 };

/// A tet of side 1, and files that are broken in one way each.
typedef struct written_file {
    const char *name, *text;
} written_file;
static const written_file files[] = {
    {"tet.mesh",
     "MeshVersionFormatted 2\nDimension 3\nVertices 4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\nTetrahedra 1\n"
     "1 2 3 4 5\nEnd\n"},
    {"nan.mesh",
     "MeshVersionFormatted 2\nDimension 3\nVertices 4\n0 0 0 0\n1 nan 0 0\n0 1 0 0\n0 0 1 0\nTetrahedra "
     "1\n1 2 3 4 5\nEnd\n"},
    {"flat.mesh",
     "MeshVersionFormatted 2\nDimension 3\nVertices 4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n1 1 0 0\nTetrahedra "
     "1\n1 2 3 4 5\nEnd\n"},
    {"cut.mesh", "MeshVersionFormatted 2\nDimension 3\nVertices 4\n0 0 0 0\n1 0 0"},
    {"words.obj", "this is no mesh at all\n"},
    {"tri.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"},
    {"far.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n"},
    {"good.tgf", "1 0 0 0\n2 0.5 0 0\n3 1 0 0\n#\n1 2\n2 3\n"},
    {"edge.tgf", "1 0 0 0\n2 0.5 0 0\n#\n1 7\n"},
    {"loop.tgf", "1 0 0 0\n2 0.5 0 0\n3 0.5 0.5 0\n#\n1 2\n2 3\n3 1\n"},
    {"apart.tgf", "1 0 0 0\n2 0.5 0 0\n3 1 0 0\n4 2 0 0\n#\n1 2\n3 4\n"}};

/// The part that all scenes begin with; a beam along x from the origin.
#define HEAD              "sinew: 1\nmaterials: {m: {young: 1e5}}\n"
#define BEAM              "bodies: {b: {make: {shape: beam, cells: 2}, material: m}}\n"
#define MESH(file)        "bodies: {b: {mesh: " file ", material: m}}\n"
#define A_FLOOR           "f: {plane: {point: [0, 0, -1], normal: [0, 0, 1]}"
#define FLOOR             "rigid: {" A_FLOOR "}}\n"
#define AND_FLOOR         "}, " A_FLOOR
#define BONES(file, more) "rigid: {r: {skeleton: " file ", radius: 0.15" more "}}\n"

typedef struct wrong_scene {
    const char *name, *text, *words; ///< Words that the message must hold, divided by |.
} wrong_scene;
static const wrong_scene scenes[] = {
    {"missing_mesh", HEAD MESH("nowhere.obj"), "missing_mesh.yaml:3: bodies.b.mesh: |nowhere.obj"},
    {"not_a_mesh", HEAD MESH("words.obj"), "not_a_mesh.yaml:3: bodies.b.mesh: |words.obj"},
    {"cut_mesh", HEAD MESH("cut.mesh"), "cut_mesh.yaml:3: bodies.b.mesh: |cut.mesh"},
    {"nan_mesh", HEAD MESH("nan.mesh"), "nan_mesh.yaml:3: bodies.b.mesh: "},
    {"flat_tet", HEAD MESH("flat.mesh"), "flat_tet.yaml:3: bodies.b.mesh: |flat"},
    {"bad_index", HEAD MESH("far.obj"), "bad_index.yaml:3: bodies.b.mesh: |9"},
    {"surface_only", HEAD MESH("tri.obj"), "surface_only.yaml:3: bodies.b.mesh: |embed: {lattice: bcc"},
    {"embed_tets", HEAD "bodies: {b: {mesh: tet.mesh, embed: {}, material: m}}\n",
     "embed_tets.yaml:3: bodies.b.mesh: |holds tetrahedra already"},
    {"unanchored", HEAD BEAM "time: {integrator: quasistatic}\n",
     "unanchored.yaml:3: bodies.b: |nothing holds|implicit_euler"},
    {"half_anchored",
     HEAD "bodies: {b: {make: beam, material: m}, c: {make: beam, material: m, translate: [0, 9, 0]}}\n"
          "time: {integrator: quasistatic}\npins: [{body: b, select: all}]\n",
     "half_anchored.yaml:3: bodies.c: |nothing holds"},
    {"two_bones",
     HEAD BEAM BONES(
         "good.tgf",
         ", joints: {2: {axis: [0, 1, 0], keys: [[0, 0], [1, 90]]}}") "attachments:\n  - {body: b, to: r, "
                                                                      "nodes: {distance: 0.1}, hard: true}\n"
                                                                      "  - {body: b, to: r.2-3, nodes: "
                                                                      "{distance: 0.2}, hard: true}\n",
     "two_bones.yaml:|node "},
    {"zero_density", "sinew: 1\nmaterials: {m: {young: 1e5, density: 0}}\n" BEAM,
     "zero_density.yaml:2: materials.m.density: 0 is out of range|> 0 kg/m^3"},
    {"duplicate", HEAD BEAM "gravity: [0, 0, 0]\ngravity: [0, 0, 1]\n", "duplicate.yaml:5: gravity: |line 4"},
    {"cyclic", HEAD BEAM "pins: &p [*p]\n", "cyclic.yaml:4: *p stands inside"},
    {"no_material", HEAD "bodies: {b: {make: beam, material: mm}}\n",
     "no_material.yaml:3: bodies.b.material: mm is no name under materials|did you mean m"},
    {"no_region", HEAD "bodies: {b: {mesh: tet.mesh, material: {bone: m, default: m}}}\n",
     "no_region.yaml:3: bodies.b.material: bone: |no such group"},
    {"region_left", HEAD "bodies: {b: {make: beam, material: {skin: m}}}\n",
     "region_left.yaml:3: bodies.b.material: "},
    {"bad_edge", HEAD BEAM BONES("edge.tgf", ""), "bad_edge.yaml:4: rigid.r.skeleton: |edge.tgf|7"},
    {"loop", HEAD BEAM BONES("loop.tgf", ""), "loop.yaml:4: rigid.r.skeleton: |loop"},
    {"apart", HEAD BEAM BONES("apart.tgf", ""), "apart.yaml:4: rigid.r.skeleton: |cannot be reached"},
    {"no_joint", HEAD BEAM BONES("good.tgf", ", joints: {9: {axis: [0, 1, 0], keys: [[0, 0]]}}"),
     "no_joint.yaml:4: rigid.r.joints: 9: |allowed: 1, 2, 3"},
    {"no_root", HEAD BEAM BONES("good.tgf", ", root: 5"),
     "no_root.yaml:4: rigid.r.root: 5: |allowed: 1, 2, 3"},
    {"no_bone", HEAD BEAM BONES("good.tgf", "") "attachments: [{body: b, to: r.1-3, nodes: {}}]\n",
     "no_bone.yaml:5: attachments[0]: r.1-3: |allowed: r.1-2, r.2-3"},
    {"pin_to_many", HEAD BEAM BONES("good.tgf", "") "pins: [{body: b, select: all, to: r}]\n",
     "pin_to_many.yaml:5: pins[0]: r is a whole skeleton|r.1-2"},
    {"empty_pin", HEAD BEAM "pins:\n  - {body: b, select: {sphere: {center: [9, 9, 9], radius: 1}}}\n",
     "empty_pin.yaml:5: pins[0]: "},
    {"out_of_reach",
     HEAD BEAM "rigid: {s: {sphere: {center: [9, 0, 0], radius: 1}}}\nattachments: [{body: b, to: s, "
               "nodes: {distance: 0.1}}]\n",
     "out_of_reach.yaml:5: attachments[0]: "},
    {"node_number", HEAD MESH("tet.mesh") "pins: [{body: b, select: {nodes: [0, 4]}}]\n",
     "node_number.yaml:4: pins[0]: |4"},
    {"no_group", HEAD MESH("tet.mesh") "loads: [{body: b, select: {group: lid}, force: [1, 0, 0]}]\n",
     "no_group.yaml:4: loads[0]: |lid"},
    {"not_projective",
     "sinew: 1\nmaterials: {m: {model: corotated_linear, young: 1}}\n" BEAM "solver: {method: projective}\n",
     "not_projective.yaml:2: materials.m.model: corotated_linear|method: lbfgs"},
    {"precision", HEAD BEAM "precision: single\n",
     "precision.yaml:4: precision: single is out of range|allowed: one of fast, accurate"},
    {"self_contact_twice", HEAD BEAM "contact: [{between: [b, b]}, {between: [b, b]}]\n",
     "self_contact_twice.yaml:4: contact[1].between: b and b have a contact already, contact[0] (line 4)|"
     "allowed: one entry for two bodies, or a body and itself"},
    {"two_bodies_twice",
     HEAD "bodies: {b: {make: beam, material: m}, c: {make: beam, material: m, translate: [0, 9, 0]}}\n"
          "contact:\n  - between: [b, c]\n  - friction: 0.1\n    between: [c, b]\n",
     "two_bodies_twice.yaml:7: contact[1].between: c and b have a contact already, contact[0] (line 5)"},
    {"two_rigids", HEAD BEAM BONES("good.tgf", AND_FLOOR) "contact: [{between: [f, r]}]\n",
     "two_rigids.yaml:5: contact[0].between: f and r are both rigid|allowed: a body and a rigid thing"},
    {"touch_nothing", HEAD BEAM FLOOR "contact: [{between: [b, fl]}]\n",
     "touch_nothing.yaml:5: contact[0].between[1]: fl is no name under bodies or rigid|did you mean f|"
     "allowed: b, f"},
    {"touch_no_bone", HEAD BEAM BONES("good.tgf", "") "contact: [{between: [r.1-3, b]}]\n",
     "touch_no_bone.yaml:5: contact[0].between: r.1-3: |allowed: r.1-2, r.2-3"},
    {"touch_one", HEAD BEAM FLOOR "contact: [{between: [b]}]\n",
     "touch_one.yaml:5: contact[0].between: [b] has the wrong type|list of two names"},
    {"touch_twice",
     HEAD BEAM BONES("good.tgf", AND_FLOOR) "contact:\n  - {between: [b, f]}\n  - {between: [b, r]}\n"
                                            "  - {between: [r.2-3, b]}\n",
     "touch_twice.yaml:8: contact[2].between: b and r.2-3 have a contact already, contact[1] (line 7)|"
     "allowed: one entry"},
    {"one_name_for_two",
     HEAD
     "bodies: {b: {make: beam, material: m}, f: {make: beam, material: m, translate: [0, 9, 0]}}\n"
     "rigid: {f: {sphere: {center: [0, 0, 5], radius: 1}}, b: {sphere: {center: [0, 0, 9], radius: 1}}}\n"
     "contact: [{between: [b, f]}]\n",
     "one_name_for_two.yaml:5: contact[0].between: b and f both name a body and a rigid thing|allowed: "},
    {"slippery", HEAD BEAM FLOOR "contact: [{between: [b, f], friction: -0.1}]\n",
     "slippery.yaml:5: contact[0].friction: -0.1 is out of range|allowed: >= 0"},
    {"no_stiffness", HEAD BEAM FLOOR "contact: [{between: [b, f], stiffness: 0}]\n",
     "no_stiffness.yaml:5: contact[0].stiffness: 0 is out of range|allowed: > 0 Pa/m"},
    {"not_pressed_down",
     HEAD BEAM FLOOR "time: {integrator: quasistatic}\ncontact: [{between: [b, f], friction: 1}]\n",
     "not_pressed_down.yaml:3: bodies.b: |nothing holds|integrator: implicit_euler"},
    {"no_surface", HEAD BEAM "rigid: {r: {surface: beam}}\n",
     "no_surface.yaml:4: rigid.r: |made of tetrahedra|allowed: block, sphere, arm"},
    {"no_bones", HEAD BEAM "rigid: {r: {make: sphere, radius: 1}}\n",
     "no_bones.yaml:4: rigid.r.make: |no bones"},
    {"old", "sinew: 7\n", "old.yaml:1: sinew: 7 is out of range"}};

static char output[OUTPUT_SIZE];

static void write_file(const char *name, const char *ending, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s%s", WORK, name, ending);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/// Runs `sinew check` and keeps its messages. Returns the exit code, -1 after a signal.
static int check(const char *name) {
    char command[1024];
    snprintf(command, sizeof command, "%s check %s/%s.yaml 2>&1 >/dev/null", PROGRAM, WORK, name);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t size = fread(output, 1, sizeof output - 1, pipe);
    output[size] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int count_of(const char *text, const char *word) {
    int count = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        count++;
    return count;
}

static void wrong_scenes_are_refused(void **state) {
    (void)state;
    int failures = 0;
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        const wrong_scene *scene = &scenes[i];
        write_file(scene->name, ".yaml", scene->text);
        int code = check(scene->name);
        bool good = code == 2;
        char word[256];
        for (const char *c = scene->words; *c;) {
            size_t length = strcspn(c, "|");
            snprintf(word, sizeof word, "%.*s", (int)length, c);
            good = good && strstr(output, word);
            // The first word is the place: it must be there once.
            good = good && (c != scene->words || count_of(output, word) == 1);
            c += length + (c[length] == '|');
        }
        if (!good) {
            print_message("%s: exit %d, expected '%s' in: %s\n", scene->name, code, scene->words, output);
            failures++;
        }
    }
    assert_int_equal(failures, 0);
}

static void missing_scene_is_named(void **state) {
    (void)state;
    assert_int_equal(check("nowhere"), 2);
    assert_non_null(strstr(output, "nowhere.yaml"));
}

int main(void) {
    if (access(PROGRAM, X_OK) != 0) {
        fprintf(stderr, "skipped: %s is not built\n", PROGRAM);
        return 77;
    }
    mkdir(WORK, 0777);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        write_file(files[i].name, "", files[i].text);
    const struct CMUnitTest tests[] = {cmocka_unit_test(wrong_scenes_are_refused),
                                       cmocka_unit_test(missing_scene_is_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
