#include "io/io_def.h"

#define DERIVED(type, member)                                                                                \
    { .kind = SN_FIELD_DERIVED, .offset = offsetof(type, member), .size = sizeof(((type *)0)->member) }

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

static const sn_field obj_rows[] = {
    {.key = "every",
     .kind = SN_FIELD_INT,
     .offset = offsetof(sn_output_def, obj_every),
     SN_BETWEEN(0, INT32_MAX),
     .fallback = "0",
     .help = "an .obj of the surface per body every so many frames; 0: none"}};

static const sn_field_table obj_fields = {
    .name = "obj", .size = sizeof(sn_output_def), SN_FIELD_ROWS(obj_rows), SN_FIELD_NO_ITEM};

static const sn_field checkpoint_rows[] = {
    {.key = "every",
     .kind = SN_FIELD_INT,
     .offset = offsetof(sn_output_def, checkpoint_every),
     SN_BETWEEN(0, INT32_MAX),
     .fallback = "1",
     .help = "checkpoint.bin is renewed every so many frames; 0: only where the run ends"}};

static const sn_field_table checkpoint_fields = {
    .name = "checkpoint", .size = sizeof(sn_output_def), SN_FIELD_ROWS(checkpoint_rows), SN_FIELD_NO_ITEM};

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
    {.key = "pc2",
     .kind = SN_FIELD_BOOL,
     .offset = offsetof(sn_output_def, pc2),
     .fallback = "false",
     .help = "positions of the surface as a PC2 point cache, for Blender and others"},
    {.key = "obj", .kind = SN_FIELD_TABLE, .table = &obj_fields, .help = "surfaces as OBJ files"},
    {.key = "vtu", .kind = SN_FIELD_TABLE, .table = &vtu_fields, .help = "files for ParaView"},
    {.key = "contacts",
     .kind = SN_FIELD_BOOL,
     .offset = offsetof(sn_output_def, contacts),
     .fallback = "false",
     .help = "contacts.csv, a line per contact and frame: place, normal, force, depth"},
    {.key = "checkpoint",
     .kind = SN_FIELD_TABLE,
     .table = &checkpoint_fields,
     .help = "what `sinew run --resume` goes on from"},
    {.key = "fields",
     .kind = SN_FIELD_FLAGS,
     .table = &field_fields,
     .help = "quantities in the player and the VTU files"},
    DERIVED(sn_output_def, probe_count),
    DERIVED(sn_output_def, probes),
    {.kind = SN_FIELD_MARK, .offset = offsetof(sn_output_def, mark)}};

const sn_field_table sn_output_fields = {
    .name = "output", .size = sizeof(sn_output_def), SN_FIELD_ROWS(output_rows), SN_FIELD_NO_ITEM};

static const sn_field probe_rows[] = {{.key = "point",
                                       .kind = SN_FIELD_VEC3,
                                       .offset = offsetof(sn_probe_def, point),
                                       SN_FIELD_UNIT(1, 0, 0, 0),
                                       SN_ANY_VALUE,
                                       .help = "rest place; outside of the body, the nearest place inside"},
                                      DERIVED(sn_probe_def, name),
                                      DERIVED(sn_probe_def, body),
                                      DERIVED(sn_probe_def, rigid)};

const sn_field_table sn_probe_fields = {
    .name = "probe", .size = sizeof(sn_probe_def), SN_FIELD_ROWS(probe_rows), SN_FIELD_NO_ITEM};

sn_output_def sn_output_def_default(void) {
    sn_output_def def;
    sn_field_defaults(&sn_output_fields, &def);
    return def;
}
