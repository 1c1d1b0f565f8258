#include "mesh/mesh_def.h"

static const sn_field_choice lattices[] = {
    [SN_LATTICE_BCC] = {"bcc", "body-centered cubic: rounder elements, sparser factor"},
    [SN_LATTICE_KUHN] = {"kuhn", "six tets a cube"},
    {NULL, NULL}};

static const sn_field lattice_rows[] = {{.key = "lattice",
                                         .kind = SN_FIELD_CHOICE,
                                         .offset = offsetof(sn_lattice_def, kind),
                                         .choices = lattices,
                                         .fallback = "bcc",
                                         .help = "kind of lattice"},
                                        {.key = "cells",
                                         .kind = SN_FIELD_INT,
                                         .offset = offsetof(sn_lattice_def, cells),
                                         SN_BETWEEN(1, 1000),
                                         .fallback = "20",
                                         .group = 1,
                                         .tag = SN_RESOLUTION_CELLS,
                                         .help = "cells along the longest side"},
                                        {.key = "edge",
                                         .kind = SN_FIELD_REAL,
                                         .offset = offsetof(sn_lattice_def, edge),
                                         SN_FIELD_UNIT(1, 0, 0, 0),
                                         SN_POSITIVE,
                                         .group = 1,
                                         .tag = SN_RESOLUTION_EDGE,
                                         .help = "edge of the cubic cells"},
                                        {.key = "tets",
                                         .kind = SN_FIELD_INT,
                                         .offset = offsetof(sn_lattice_def, tets),
                                         SN_BETWEEN(1, 500000000),
                                         .group = 1,
                                         .tag = SN_RESOLUTION_TETS,
                                         .help = "about so many tetrahedra; the fitting number of cells is "
                                                 "searched"},
                                        {.kind = SN_FIELD_DERIVED,
                                         .offset = offsetof(sn_lattice_def, resolution),
                                         .size = sizeof(sn_lattice_resolution)},
                                        {.kind = SN_FIELD_MARK, .offset = offsetof(sn_lattice_def, mark)}};

const sn_field_table sn_lattice_fields = {
    .name = "embed",
    .help = "Fills a surface with tetrahedra and embeds it in them. Gaps thinner than a cell stay open; "
            "tetrahedra that the surface cuts weigh and resist by what they hold, at least 5 % of a whole "
            "one. All cells are equally large: going over to finer ones takes hanging nodes or tetrahedra of "
            "other shapes, and either costs the sparse matrix that makes these lattices fast.",
    .size = sizeof(sn_lattice_def),
    SN_FIELD_ROWS(lattice_rows),
    .group = {{offsetof(sn_lattice_def, resolution), false}},
    SN_FIELD_NO_ITEM};

static const sn_field_choice shapes[] = {
    [SN_MAKE_BEAM] = {"beam", "block of tets from the origin, cells across its width"},
    [SN_MAKE_BLOCK] = {"block", "closed surface of a box about the origin"},
    [SN_MAKE_SPHERE] = {"sphere", "closed surface of a ball about the origin"},
    [SN_MAKE_ARM] = {"arm", "closed surface of an arm, with two bones"},
    {NULL, NULL}};

/// Size and resolution have defaults of their own for each shape.
#define MAKE_ROWS(which, size_text, cells_text)                                                              \
    {.key = "size",                                                                                          \
     .kind = SN_FIELD_VEC3,                                                                                  \
     .offset = offsetof(sn_make_def, size),                                                                  \
     SN_FIELD_UNIT(1, 0, 0, 0),                                                                              \
     SN_POSITIVE,                                                                                            \
     .fallback = size_text,                                                                                  \
     .help = "extent along x, y, z",                                                                         \
     SN_FIELD_WHEN(offsetof(sn_make_def, shape), 1u << (which))},                                            \
    {                                                                                                        \
        .key = "cells", .kind = SN_FIELD_INT, .offset = offsetof(sn_make_def, cells), SN_BETWEEN(1, 1000),   \
        .fallback = cells_text, .help = "resolution",                                                        \
        SN_FIELD_WHEN(offsetof(sn_make_def, shape), 1u << (which))                                           \
    }

static const sn_field make_rows[] = {{.key = "shape",
                                      .kind = SN_FIELD_CHOICE,
                                      .offset = offsetof(sn_make_def, shape),
                                      .choices = shapes,
                                      .required = true,
                                      .help = "what to make"},
                                     MAKE_ROWS(SN_MAKE_BEAM, "[1, 0.2, 0.2]", "4"),
                                     MAKE_ROWS(SN_MAKE_BLOCK, "[0.2, 0.2, 0.2]", "8"),
                                     MAKE_ROWS(SN_MAKE_SPHERE, "[0.2, 0.2, 0.2]", "16"),
                                     MAKE_ROWS(SN_MAKE_ARM, "[0.6, 0.112, 0.098]", "120"),
                                     {.kind = SN_FIELD_MARK, .offset = offsetof(sn_make_def, mark)}};

const sn_field_table sn_make_fields = {.name = "make",
                                       .help = "A shape that Sinew makes by itself.",
                                       .size = sizeof(sn_make_def),
                                       SN_FIELD_ROWS(make_rows),
                                       .scalar_key = "shape",
                                       SN_FIELD_NO_ITEM};

sn_lattice_def sn_lattice_def_default(void) {
    sn_lattice_def def;
    sn_field_defaults(&sn_lattice_fields, &def);
    return def;
}

sn_make_def sn_make_def_default(sn_make_shape shape) {
    sn_make_def def;
    sn_field_defaults(&sn_make_fields, &def);
    def.shape = shape;
    sn_field_conditional_defaults(&sn_make_fields, &def);
    return def;
}
