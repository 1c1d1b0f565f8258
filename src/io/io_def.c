#include "io/io_def.h"

static const sn_field vtu_rows[] = {{.key = "every",
                                     .kind = SN_FIELD_INT,
                                     .offset = offsetof(sn_output_def, vtu_every),
                                     SN_BETWEEN(0, INT32_MAX),
                                     .fallback = "0",
                                     .help = "a .vtu per body every so many frames; 0: none"},
                                    {.key = "volume",
                                     .kind = SN_FIELD_BOOL,
                                     .offset = offsetof(sn_output_def, vtu_volume),
                                     .fallback = "true",
                                     .help = "write the tetrahedra; false: the surface"}};

static const sn_field_table vtu_fields = {
    .name = "vtu", .size = sizeof(sn_output_def), SN_FIELD_ROWS(vtu_rows), SN_FIELD_NO_ITEM};

static const sn_field field_rows[] = {{.key = "strain",
                                       .kind = SN_FIELD_BOOL,
                                       .offset = offsetof(sn_output_def, field_strain),
                                       .fallback = "true",
                                       .help = "largest |principal stretch - 1|"},
                                      {.key = "displacement",
                                       .kind = SN_FIELD_BOOL,
                                       .offset = offsetof(sn_output_def, field_displacement),
                                       .fallback = "true",
                                       .help = "distance from the rest place"}};

static const sn_field_table field_fields = {
    .name = "fields", .size = sizeof(sn_output_def), SN_FIELD_ROWS(field_rows), SN_FIELD_NO_ITEM};

static const sn_field output_rows[] = {
    {.key = "player",
     .kind = SN_FIELD_BOOL,
     .offset = offsetof(sn_output_def, player),
     .fallback = "true",
     .help = "player.html, one page that plays the result in a browser"},
    {.key = "npy",
     .kind = SN_FIELD_BOOL,
     .offset = offsetof(sn_output_def, npy),
     .fallback = "true",
     .help = "positions of surface and nodes, frame by frame, as NPY files"},
    {.key = "vtu", .kind = SN_FIELD_TABLE, .table = &vtu_fields, .help = "files for ParaView"},
    {.key = "fields",
     .kind = SN_FIELD_FLAGS,
     .table = &field_fields,
     .help = "quantities in the player and the VTU files"},
    {.kind = SN_FIELD_MARK, .offset = offsetof(sn_output_def, mark)}};

const sn_field_table sn_output_fields = {.name = "output",
                                         .help = "What a run writes.",
                                         .size = sizeof(sn_output_def),
                                         SN_FIELD_ROWS(output_rows),
                                         SN_FIELD_NO_ITEM};

sn_output_def sn_output_def_default(void) {
    sn_output_def def;
    sn_field_defaults(&sn_output_fields, &def);
    return def;
}
