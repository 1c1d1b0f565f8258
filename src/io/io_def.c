#include "io/io_def.h"

#include "io/io_preview.h"

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

static const sn_field_choice preview_colors[] = {{"plain", "each body has a color"},
                                                 {"strain", "largest |principal stretch - 1|"},
                                                 {"displacement", "distance from the rest place"},
                                                 {NULL, NULL}};

static const sn_field preview_rows[] = {
    {.key = "every",
     .kind = SN_FIELD_INT,
     .offset = offsetof(sn_output_def, preview_every),
     SN_BETWEEN(0, INT32_MAX),
     .fallback = "0",
     .help = "a picture every so many frames; 0: none"},
    {.key = "width",
     .kind = SN_FIELD_INT,
     .offset = offsetof(sn_output_def, preview_width),
     SN_BETWEEN(1, SN_PREVIEW_MAX_SIZE),
     .fallback = "960",
     .help = "pixels"},
    {.key = "height",
     .kind = SN_FIELD_INT,
     .offset = offsetof(sn_output_def, preview_height),
     SN_BETWEEN(1, SN_PREVIEW_MAX_SIZE),
     .fallback = "540",
     .help = "pixels"},
    {.key = "color",
     .kind = SN_FIELD_CHOICE,
     .offset = offsetof(sn_output_def, preview_color),
     .choices = preview_colors,
     .fallback = "plain",
     .help = "what surfaces are colored by"},
    {.key = "range",
     .kind = SN_FIELD_REAL,
     .offset = offsetof(sn_output_def, preview_range),
     SN_NOT_NEGATIVE,
     .fallback = "0",
     .help = "value at the upper end of the colors, in SI units; 0: what 99.5 % of the frame's values do not "
             "exceed"},
    {.key = "view",
     .kind = SN_FIELD_VEC3,
     .offset = offsetof(sn_output_def, preview_view),
     SN_ANY_VALUE,
     .fallback = "[0, 0, 0]",
     .help = "direction from the scene to the camera; 0: the first view of the player"}};

static const sn_field_table preview_fields = {
    .name = "preview", .size = sizeof(sn_output_def), SN_FIELD_ROWS(preview_rows), SN_FIELD_NO_ITEM};

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
    {.key = "mdd",
     .kind = SN_FIELD_BOOL,
     .offset = offsetof(sn_output_def, mdd),
     .fallback = "false",
     .help = "the same as an MDD point cache, when the run ends; needs npy, as do glb, usda and npz"},
    {.key = "glb",
     .kind = SN_FIELD_BOOL,
     .offset = offsetof(sn_output_def, glb),
     .fallback = "false",
     .help =
         "frames.glb when the run ends: glTF with morph targets, the start and at most 200 further frames"},
    {.key = "usda",
     .kind = SN_FIELD_BOOL,
     .offset = offsetof(sn_output_def, usda),
     .fallback = "false",
     .help = "frames.usda when the run ends: USD with a time sample for every frame"},
    {.key = "npz",
     .kind = SN_FIELD_BOOL,
     .offset = offsetof(sn_output_def, npz),
     .fallback = "false",
     .help = "frames.npz when the run ends: all arrays in one file for numpy"},
    {.key = "obj", .kind = SN_FIELD_TABLE, .table = &obj_fields, .help = "surfaces as OBJ files"},
    {.key = "vtu", .kind = SN_FIELD_TABLE, .table = &vtu_fields, .help = "files for ParaView"},
    {.key = "preview",
     .kind = SN_FIELD_TABLE,
     .table = &preview_fields,
     .help = "pictures of frames as PNG files, drawn without a display"},
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

/// Files that are written from the NPY files need these.
static bool check_output(const void *item, sn_field_complaint *complaint) {
    const sn_output_def *def = item;
    complaint->key = "npy";
    complaint->allowed = "true, because mdd, glb, usda and npz are made from these files";
    return def->npy || !(def->mdd || def->glb || def->usda || def->npz);
}

const sn_field_table sn_output_fields = {.name = "output",
                                         .size = sizeof(sn_output_def),
                                         SN_FIELD_ROWS(output_rows),
                                         SN_FIELD_NO_ITEM,
                                         .check = check_output};

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

static const sn_field export_rows[] = {DERIVED(sn_export_def, directory),
                                       DERIVED(sn_export_def, body),
                                       {.key = "frame_first",
                                        .kind = SN_FIELD_INT,
                                        .offset = offsetof(sn_export_def, frame_first),
                                        SN_BETWEEN(0, INT32_MAX),
                                        .fallback = "0",
                                        .help = "first frame, 0 is the start"},
                                       {.key = "frame_last",
                                        .kind = SN_FIELD_INT,
                                        .offset = offsetof(sn_export_def, frame_last),
                                        SN_BETWEEN(-1, INT32_MAX),
                                        .fallback = "-1",
                                        .help = "last frame; -1: the last one there is"},
                                       {.key = "frame_step",
                                        .kind = SN_FIELD_INT,
                                        .offset = offsetof(sn_export_def, frame_step),
                                        SN_BETWEEN(1, INT32_MAX),
                                        .fallback = "1",
                                        .help = "every so many frames"},
                                       {.key = "glb_targets",
                                        .kind = SN_FIELD_INT,
                                        .offset = offsetof(sn_export_def, glb_targets),
                                        SN_BETWEEN(1, SN_EXPORT_MAX_TARGETS),
                                        .fallback = "200",
                                        .help = "morph targets of a .glb at most"},
                                       {.key = "png_width",
                                        .kind = SN_FIELD_INT,
                                        .offset = offsetof(sn_export_def, png_width),
                                        SN_BETWEEN(1, SN_EXPORT_MAX_PIXELS),
                                        .fallback = "960",
                                        .help = "pixels of a .png in a row"},
                                       {.key = "png_height",
                                        .kind = SN_FIELD_INT,
                                        .offset = offsetof(sn_export_def, png_height),
                                        SN_BETWEEN(1, SN_EXPORT_MAX_PIXELS),
                                        .fallback = "540",
                                        .help = "pixels of a .png in a column"},
                                       {.key = "y_up",
                                        .kind = SN_FIELD_BOOL,
                                        .offset = offsetof(sn_export_def, y_up),
                                        .fallback = "false",
                                        .help = "y is up instead of z"},
                                       {.kind = SN_FIELD_MARK, .offset = offsetof(sn_export_def, mark)}};

const sn_field_table sn_export_fields = {
    .name = "export", .size = sizeof(sn_export_def), SN_FIELD_ROWS(export_rows), SN_FIELD_NO_ITEM};

sn_export_def sn_export_def_default(void) {
    sn_export_def def;
    sn_field_defaults(&sn_export_fields, &def);
    return def;
}

sn_output_def sn_output_def_default(void) {
    sn_output_def def;
    sn_field_defaults(&sn_output_fields, &def);
    return def;
}
