/// sinew mesh: looks at meshes, converts them, makes bodies of surfaces.
#include "cli.h"
#include "sinew/io.h"
#include "sinew/mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run_mesh(int argc, char **argv);
static int run_info(int argc, char **argv);
static int run_surface(int argc, char **argv);
static int run_lattice(int argc, char **argv);
static int run_convert(int argc, char **argv);
static int run_make(int argc, char **argv);

typedef struct lattice_values {
    int32_t kind, cells, tets; ///< 0: not given
    const char *edge;          ///< NULL: not given
} lattice_values;

typedef struct make_values {
    double size[3]; ///< 0: the shape's default
    int32_t cells;  ///< 0: the shape's default
} make_values;

static const char *const lattice_kinds[] = {[SN_LATTICE_BCC] = "bcc", [SN_LATTICE_KUHN] = "kuhn", NULL};

static const char *const shapes[] = {[SN_MAKE_BEAM] = "beam",
                                     [SN_MAKE_BLOCK] = "block",
                                     [SN_MAKE_SPHERE] = "sphere",
                                     [SN_MAKE_ARM] = "arm",
                                     NULL};
enum { SHAPE_COUNT = sizeof shapes / sizeof *shapes - 1 };

static const cli_option lattice_options[] = {{.name = "kind",
                                              .kind = CLI_CHOICE,
                                              .offset = offsetof(lattice_values, kind),
                                              .value = "bcc|kuhn",
                                              .help = "body-centered cubic (default), or six tets a cube",
                                              .choices = lattice_kinds},
                                             {.name = "cells",
                                              .kind = CLI_INT,
                                              .offset = offsetof(lattice_values, cells),
                                              .value = "N",
                                              .help = "cells along the longest side, 1 to 1000 (default 20)",
                                              .low = 1,
                                              .high = 1000},
                                             {.name = "edge",
                                              .kind = CLI_TEXT,
                                              .offset = offsetof(lattice_values, edge),
                                              .value = "LENGTH",
                                              .help = "instead: edge of the cells, in the unit of IN"},
                                             {.name = "tets",
                                              .kind = CLI_INT,
                                              .offset = offsetof(lattice_values, tets),
                                              .value = "N",
                                              .help = "instead: about so many tetrahedra",
                                              .low = 1,
                                              .high = 500000000},
                                             {.name = NULL}};

static const cli_option make_options[] = {
    {.name = "size",
     .kind = CLI_VEC3,
     .offset = offsetof(make_values, size),
     .value = "x,y,z",
     .help = "extent in m (default: by shape)"},
    {.name = "cells",
     .kind = CLI_INT,
     .offset = offsetof(make_values, cells),
     .value = "N",
     .help =
         "resolution: cells across the beam, along the longest side of others, 1 to 1000 (default: by shape)",
     .low = 1,
     .high = 1000},
    {.name = NULL}};

static const cli_command info_command = {
    .name = "info",
    .usage = "mesh info IN",
    .summary = "Says what is wrong with a mesh and what it holds. A skeleton (.tgf) is listed.",
    .operand_min = 1,
    .operand_max = 1,
    .run = run_info};
static const cli_command surface_command = {.name = "surface",
                                            .usage = "mesh surface IN OUT",
                                            .summary = "Writes the boundary triangles of a tetrahedral mesh.",
                                            .operand_min = 2,
                                            .operand_max = 2,
                                            .run = run_surface};
static const cli_command lattice_command = {.name = "lattice",
                                            .usage = "mesh lattice IN OUT [--kind bcc|kuhn] "
                                                     "[--cells N | --edge LENGTH | --tets N]",
                                            .summary = "Fills a surface with tetrahedra.",
                                            .options = lattice_options,
                                            .operand_min = 2,
                                            .operand_max = 2,
                                            .run = run_lattice};
static const cli_command convert_command = {.name = "convert",
                                            .usage = "mesh convert IN OUT",
                                            .summary = "Writes a mesh in the format that OUT ends with.",
                                            .operand_min = 2,
                                            .operand_max = 2,
                                            .run = run_convert};
static const cli_command make_command = {.name = "make",
                                         .usage = "mesh make SHAPE OUT [--size x,y,z] [--cells N]",
                                         .summary = "Makes a beam (tets), block, sphere or arm (surfaces); "
                                                    "the arm's bones go to OUT with the ending .tgf.",
                                         .options = make_options,
                                         .operand_min = 2,
                                         .operand_max = 2,
                                         .run = run_make};

static const cli_command *const children[] = {&info_command,    &surface_command, &lattice_command,
                                              &convert_command, &make_command,    NULL};

const cli_command cli_mesh_command = {
    .name = "mesh",
    .usage = "mesh info|surface|lattice|convert IN [OUT], or mesh make SHAPE OUT",
    .summary = "Looks at meshes, converts them, makes bodies of surfaces.",
    .details = "Written by ending: .obj (Wavefront) .stl .ply (surfaces), .mesh (Medit), .msh (Gmsh 2.2),\n"
               ".vtk, .vtu, .node .ele .face (TetGen), .inp (a deck for CalculiX). Read by content, then\n"
               "by ending: these, ascii or binary, Gmsh 4.1, .off, .veg (Vega). Lengths are taken as they\n"
               "are.\n",
    .children = children,
    .run = run_mesh};

static int run_mesh(int argc, char **argv) {
    if (argc < 1)
        return cli_fail(CLI_USAGE, "no command given; usage: sinew %s", cli_mesh_command.usage);
    return cli_dispatch(children, "mesh ", argc, argv);
}

/// What every subcommand holds; released in one place.
typedef struct mesh_job {
    sn_context *context;
    sn_mesh_data *input, *output;
    sn_mesh *mesh;
    sn_embedding *embedding;
    sn_skeleton *skeleton;
    cli_list operands;
} mesh_job;

static int start(mesh_job *job, const cli_command *command, int argc, char **argv, void *values) {
    *job = (mesh_job){0};
    int code = cli_parse(command, argc, argv, values, &job->operands);
    return code == CLI_DONE ? cli_context_create(0, false, false, &job->context) : code;
}

/// Ends a subcommand: prints the message of a failed call and frees everything.
static int finish(mesh_job *job, sn_status status) {
    int code = status < 0 ? cli_fail_status(job->context, status) : CLI_DONE;
    sn_embedding_destroy(&job->embedding);
    sn_skeleton_destroy(&job->skeleton);
    sn_mesh_destroy(&job->mesh);
    sn_mesh_data_destroy(&job->output);
    sn_mesh_data_destroy(&job->input);
    sn_context_destroy(&job->context);
    return code;
}

static bool ends_with(const char *path, const char *ending) {
    size_t length = strlen(path), size = strlen(ending);
    return length > size && strcmp(path + length - size, ending) == 0;
}

// ---- info ----

static sn_status print_skeleton(mesh_job *job) {
    sn_status status = sn_skeleton_read(job->context, job->operands.item[0], &job->skeleton);
    if (status < 0)
        return status;
    const sn_skeleton *skeleton = job->skeleton;
    printf("%s: skeleton with %d joints and %d bones\n", job->operands.item[0], skeleton->joint_count,
           skeleton->bone_count);
    for (int32_t i = 0; i < skeleton->joint_count; i++)
        printf("  joint %d at %g %g %g\n", skeleton->label[i], skeleton->position[3 * i],
               skeleton->position[3 * i + 1], skeleton->position[3 * i + 2]);
    for (int32_t i = 0; i < skeleton->bone_count; i++)
        printf("  bone %d - %d\n", skeleton->label[skeleton->bone[2 * i]],
               skeleton->label[skeleton->bone[2 * i + 1]]);
    return SN_OK;
}

static sn_status print_mesh(mesh_job *job) {
    sn_mesh_report report;
    sn_status status = sn_mesh_data_read(job->context, job->operands.item[0], &job->input);
    if (status == SN_OK)
        status = sn_mesh_data_report(job->input, &report);
    if (status == SN_OK)
        cli_print_mesh_report(job->operands.item[0], job->input, &report);
    return status;
}

static int run_info(int argc, char **argv) {
    mesh_job job;
    int code = start(&job, &info_command, argc, argv, NULL);
    if (code != CLI_DONE)
        return code;
    return finish(&job, ends_with(job.operands.item[0], ".tgf") ? print_skeleton(&job) : print_mesh(&job));
}

// ---- surface ----

/// Copies the nodes that `triangle` names, renumbering it: `place` [node_count] starts as -1 everywhere.
static int32_t compact(const double *node, int32_t corner_count, int32_t *triangle, int32_t *place,
                       double *position) {
    int32_t used = 0;
    for (int32_t i = 0; i < corner_count; i++)
        place[triangle[i]] = 0;
    // Numbers follow the order of the nodes, not that of the triangles.
    int32_t highest = -1;
    for (int32_t i = 0; i < corner_count; i++)
        highest = triangle[i] > highest ? triangle[i] : highest;
    for (int32_t n = 0; n <= highest; n++)
        if (place[n] == 0) {
            memcpy(position + (size_t)used * 3, node + (size_t)n * 3, 3 * sizeof *position);
            place[n] = used++;
        }
    for (int32_t i = 0; i < corner_count; i++)
        triangle[i] = place[triangle[i]];
    return used;
}

static sn_status write_surface(mesh_job *job) {
    int32_t count = 0;
    const int32_t *surface = sn_mesh_surface(job->mesh, &count);
    size_t nodes = (size_t)sn_mesh_node_count(job->mesh), corners = (size_t)count * 3;
    int32_t *triangle = malloc(corners * sizeof *triangle), *place = malloc(nodes * sizeof *place);
    double *position = malloc(nodes * 3 * sizeof *position);
    sn_status status = SN_ERR_NO_MEMORY;
    if (triangle && place && position) {
        memcpy(triangle, surface, corners * sizeof *triangle);
        memset(place, 0xff, nodes * sizeof *place);
        sn_cell_block block = {.kind = SN_CELL_TRIANGLE, .count = count, .vertex = triangle};
        sn_mesh_data data = {
            .context = job->context, .position = position, .block_count = 1, .block = &block, .note = ""};
        data.vertex_count = compact(sn_mesh_positions(job->mesh), 3 * count, triangle, place, position);
        status = sn_mesh_data_write(&data, job->operands.item[1]);
        if (status == SN_OK)
            printf("%s: %d vertices, %d triangles\n", job->operands.item[1], data.vertex_count, count);
    }
    free(triangle);
    free(place);
    free(position);
    return status;
}

static int run_surface(int argc, char **argv) {
    mesh_job job;
    int code = start(&job, &surface_command, argc, argv, NULL);
    if (code != CLI_DONE)
        return code;
    sn_status status = sn_mesh_data_read(job.context, job.operands.item[0], &job.input);
    if (status == SN_OK)
        status = sn_mesh_create(job.context, job.input, true, &job.mesh);
    if (status == SN_OK)
        status = write_surface(&job);
    return finish(&job, status);
}

// ---- lattice ----

/// Turns the options into a definition. Returns an exit code.
static int read_lattice(const lattice_values *values, sn_lattice_def *def) {
    char *end = NULL;
    def->kind = (sn_lattice_kind)values->kind;
    if ((values->cells > 0) + (values->tets > 0) + (values->edge != NULL) > 1)
        return cli_fail(CLI_USAGE, "mesh lattice: only one of --cells, --edge and --tets may be given");
    if (values->cells > 0)
        def->cells = values->cells;
    if (values->tets > 0) {
        def->resolution = SN_RESOLUTION_TETS;
        def->tets = values->tets;
    }
    if (!values->edge)
        return CLI_DONE;
    def->resolution = SN_RESOLUTION_EDGE;
    def->edge = strtod(values->edge, &end);
    if (end == values->edge || *end || !(def->edge > 0) || def->edge > 1e50)
        return cli_fail(CLI_USAGE, "--edge %s: expected a length > 0", values->edge);
    return CLI_DONE;
}

/// Six times the volume of a tet.
static double volume6(const double *X, const int32_t *tet) {
    double e[3][3];
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < 3; c++)
            e[a][c] = X[3 * (size_t)tet[a + 1] + (size_t)c] - X[3 * (size_t)tet[0] + (size_t)c];
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
           e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

static double cell_edge(const sn_mesh *mesh, sn_lattice_kind kind) {
    double tets_per_cell = kind == SN_LATTICE_KUHN ? 6 : 12;
    return cbrt(tets_per_cell / 6 * volume6(sn_mesh_positions(mesh), sn_mesh_tets(mesh)));
}

/// What is solid of some tets: how much, how many, and where.
typedef struct solid {
    double volume, center[3];
    int32_t tets;
} solid;

/// Solid part of a piece of the mesh; -1: of all.
static solid measure_solid(const sn_mesh *mesh, int32_t piece) {
    solid sum = {0};
    int32_t pieces = 0;
    const int32_t *of_tet = sn_mesh_tet_pieces(mesh, &pieces), *tet = sn_mesh_tets(mesh);
    const double *fraction = sn_mesh_tet_fractions(mesh), *X = sn_mesh_positions(mesh);
    for (int32_t t = 0; t < sn_mesh_tet_count(mesh); t++, tet += 4) {
        if (piece >= 0 && of_tet[t] != piece)
            continue;
        double volume = volume6(X, tet) / 6 * (fraction ? fraction[t] : 1);
        sum.volume += volume;
        sum.tets++;
        for (int i = 0; i < 12; i++)
            sum.center[i % 3] += 0.25 * volume * X[3 * (size_t)tet[i / 3] + (size_t)i % 3];
    }
    for (int c = 0; c < 3; c++)
        sum.center[c] /= sum.volume;
    return sum;
}

/// Lists the pieces that nothing holds together, if there are several.
static void print_pieces(const sn_mesh *mesh) {
    enum { LISTED = 20 };
    int32_t pieces = 0;
    sn_mesh_tet_pieces(mesh, &pieces);
    for (int32_t piece = 0; piece < pieces && piece < LISTED && pieces > 1; piece++) {
        solid part = measure_solid(mesh, piece);
        printf("  piece %d: %d tets, solid volume %.6g, around %.4g %.4g %.4g\n", piece + 1, part.tets,
               part.volume, part.center[0], part.center[1], part.center[2]);
    }
    if (pieces > LISTED)
        printf("  and %d more pieces\n", pieces - LISTED);
}

static sn_status make_lattice(mesh_job *job, const sn_lattice_def *def) {
    sn_mesh_report surface, body;
    sn_status status = sn_mesh_data_read(job->context, job->operands.item[0], &job->input);
    if (status == SN_OK)
        status = sn_mesh_data_report(job->input, &surface);
    if (status == SN_OK)
        status = sn_lattice_create(job->context, job->input, def, &job->mesh, &job->embedding);
    if (status == SN_OK)
        status = sn_mesh_to_data(job->mesh, &job->output);
    if (status == SN_OK)
        status = sn_mesh_data_report(job->output, &body);
    if (status == SN_OK)
        status = sn_mesh_data_write(job->output, job->operands.item[1]);
    if (status < 0)
        return status;
    double edge = cell_edge(job->mesh, def->kind), longest = 0;
    for (int c = 0; c < 3; c++)
        longest = fmax(longest, surface.high[c] - surface.low[c]);
    // The cells are longer by one part in 1e9 than they need to be.
    printf("%s: %d nodes, %d tets, volume %.6g (%s lattice, %.0f cells along the longest side, edge %.4g)\n",
           job->operands.item[1], body.vertex_count, body.tet_count, body.volume, lattice_kinds[def->kind],
           ceil(longest / edge - 1e-6), edge);
    print_pieces(job->mesh);
    printf("%s: %d vertices embedded; the surface encloses %.6g, the tets' solid parts hold %.6g\n",
           job->operands.item[0], job->embedding->count, surface.volume, measure_solid(job->mesh, -1).volume);
    return SN_OK;
}

static int run_lattice(int argc, char **argv) {
    mesh_job job;
    sn_lattice_def def = sn_lattice_def_default();
    lattice_values values = {.kind = (int32_t)def.kind};
    int code = start(&job, &lattice_command, argc, argv, &values);
    if (code != CLI_DONE)
        return code;
    code = read_lattice(&values, &def);
    int end = finish(&job, code == CLI_DONE ? make_lattice(&job, &def) : SN_OK);
    return code == CLI_DONE ? end : code;
}

// ---- convert ----

enum {
    KEEPS_POLYGONS = 1,
    KEEPS_UVS = 2,
    KEEPS_NAMES = 4,
    KEEPS_NUMBERS = 8,
    KEEPS_EDGES = 16,
    KEEPS_DOUBLES = 32
};

/// What a format keeps of a mesh, by its ending.
static unsigned kept_by(const char *path) {
    static const struct {
        const char *ending;
        unsigned keeps;
    } formats[] = {
        {".obj", KEEPS_POLYGONS | KEEPS_UVS | KEEPS_NAMES | KEEPS_NUMBERS | KEEPS_EDGES | KEEPS_DOUBLES},
        {".ply", KEEPS_POLYGONS | KEEPS_EDGES | KEEPS_DOUBLES},
        {".stl", 0},
        {".vtk", KEEPS_POLYGONS | KEEPS_NUMBERS | KEEPS_EDGES | KEEPS_DOUBLES},
        {".vtu", KEEPS_POLYGONS | KEEPS_NUMBERS | KEEPS_EDGES | KEEPS_DOUBLES},
        {".msh", KEEPS_NAMES | KEEPS_NUMBERS | KEEPS_EDGES | KEEPS_DOUBLES},
        {".mesh", KEEPS_NUMBERS | KEEPS_EDGES | KEEPS_DOUBLES},
        {".node", KEEPS_NUMBERS | KEEPS_DOUBLES},
        {".ele", KEEPS_NUMBERS | KEEPS_DOUBLES},
        {".face", KEEPS_NUMBERS | KEEPS_DOUBLES},
        {".inp", KEEPS_NAMES | KEEPS_NUMBERS | KEEPS_DOUBLES}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (ends_with(path, formats[i].ending))
            return formats[i].keeps;
    return 0;
}

/// Says what the new format could not take along.
static void warn_of_losses(const sn_mesh_data *data, const char *path) {
    int64_t polygons = 0, edges = 0, triangles = 0, tets = 0;
    unsigned keeps = kept_by(path);
    for (int32_t b = 0; b < data->block_count; b++) {
        polygons += data->block[b].kind == SN_CELL_POLYGON ? data->block[b].count : 0;
        edges += data->block[b].kind == SN_CELL_EDGE ? data->block[b].count : 0;
        triangles += data->block[b].kind == SN_CELL_TRIANGLE ? data->block[b].count : 0;
        tets += data->block[b].kind == SN_CELL_TET ? data->block[b].count : 0;
    }
    if (polygons > 0 && !(keeps & KEEPS_POLYGONS))
        cli_warn("%s: %lld polygons were cut into triangles", path, (long long)polygons);
    if (data->uv_count > 0 && ends_with(path, ".ply"))
        cli_warn("%s: texture coordinates were kept only if each vertex has one pair of them", path);
    else if (data->uv_count > 0 && !(keeps & KEEPS_UVS))
        cli_warn("%s: %d texture coordinates were left out", path, data->uv_count);
    if (data->group_count > 0 && !(keeps & KEEPS_NUMBERS))
        cli_warn("%s: %d groups were left out", path, data->group_count);
    else if (data->group_count > 0 && !(keeps & KEEPS_NAMES))
        cli_warn("%s: groups became numbers; their names %s", path,
                 ends_with(path, ".mesh") || ends_with(path, ".vtu") ? "stand in comments" : "were left out");
    if (edges > 0 && !(keeps & KEEPS_EDGES))
        cli_warn("%s: %lld edges were left out", path, (long long)edges);
    if (ends_with(path, ".inp") && tets > 0 && triangles + polygons > 0)
        cli_warn("%s: %lld triangles and polygons were left out beside the tets", path,
                 (long long)(triangles + polygons));
    if (ends_with(path, ".inp"))
        cli_warn("%s: material, gravity and the held lowest nodes are placeholders: edit them", path);
    if (!(keeps & KEEPS_DOUBLES))
        cli_warn("%s: coordinates were rounded to single precision", path);
}

static int run_convert(int argc, char **argv) {
    mesh_job job;
    int code = start(&job, &convert_command, argc, argv, NULL);
    if (code != CLI_DONE)
        return code;
    sn_status status = sn_mesh_data_read(job.context, job.operands.item[0], &job.input);
    if (status == SN_OK)
        status = sn_mesh_data_write(job.input, job.operands.item[1]);
    if (status == SN_OK) {
        if (job.input->note[0])
            cli_warn("%s: %s", job.operands.item[0], job.input->note);
        warn_of_losses(job.input, job.operands.item[1]);
        printf("%s: %d vertices\n", job.operands.item[1], job.input->vertex_count);
    }
    return finish(&job, status);
}

// ---- make ----

static int find_shape(const char *name, int32_t *out_shape) {
    for (int32_t i = 0; i < SHAPE_COUNT; i++)
        if (strcmp(name, shapes[i]) == 0) {
            *out_shape = i;
            return CLI_DONE;
        }
    const char *nearest = cli_nearest(name, SHAPE_COUNT, shapes);
    if (nearest)
        return cli_fail(CLI_USAGE, "unknown shape \"%s\"; did you mean %s?", name, nearest);
    return cli_fail(CLI_USAGE, "unknown shape \"%s\", expected beam, block, sphere or arm", name);
}

/// Writes the skeleton beside `path`, with the ending .tgf.
static sn_status write_skeleton(const sn_skeleton *skeleton, const char *path) {
    size_t length = strlen(path), stem = length;
    for (size_t i = length; i > 0 && path[i - 1] != '/'; i--)
        if (path[i - 1] == '.') {
            stem = i - 1;
            break;
        }
    char *name = malloc(stem + sizeof ".tgf");
    if (!name)
        return SN_ERR_NO_MEMORY;
    memcpy(name, path, stem);
    memcpy(name + stem, ".tgf", sizeof ".tgf");
    sn_status status = sn_skeleton_write(skeleton, name);
    if (status == SN_OK)
        printf("%s: %d joints, %d bones\n", name, skeleton->joint_count, skeleton->bone_count);
    free(name);
    return status;
}

static sn_status make_shape(mesh_job *job, int32_t shape, const make_values *values) {
    sn_mesh_report report;
    sn_make_def def = sn_make_def_default((sn_make_shape)shape);
    if (values->size[0] > 0)
        memcpy(def.size, values->size, sizeof def.size);
    if (values->cells > 0)
        def.cells = values->cells;
    sn_status status = sn_mesh_make(job->context, &def, &job->output, &job->skeleton);
    if (status == SN_OK)
        status = sn_mesh_data_report(job->output, &report);
    if (status == SN_OK)
        status = sn_mesh_data_write(job->output, job->operands.item[1]);
    if (status < 0)
        return status;
    printf("%s: %d vertices, %d faces, %d tets, volume %.6g\n", job->operands.item[1], report.vertex_count,
           report.triangle_count + report.polygon_count, report.tet_count, report.volume);
    return job->skeleton ? write_skeleton(job->skeleton, job->operands.item[1]) : SN_OK;
}

static int run_make(int argc, char **argv) {
    mesh_job job;
    make_values values = {0};
    int32_t shape = 0;
    int code = start(&job, &make_command, argc, argv, &values);
    if (code != CLI_DONE)
        return code;
    code = find_shape(job.operands.item[0], &shape);
    int end = finish(&job, code == CLI_DONE ? make_shape(&job, shape, &values) : SN_OK);
    return code == CLI_DONE ? end : code;
}
