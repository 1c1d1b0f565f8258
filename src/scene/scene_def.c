#include "scene/scene_def.h"

#include "io/io_def.h"
#include "material/material_def.h"
#include "mesh/mesh_def.h"
#include "sim/sim_def.h"
#include "step/step_def.h"

#define DERIVED(type, member)                                                                                \
    { .kind = SN_FIELD_DERIVED, .offset = offsetof(type, member), .size = sizeof(((type *)0)->member) }
#define ITEM(type)      .name_offset = offsetof(type, name), .place_offset = offsetof(type, node)
#define LIST_ITEM(type) .name_offset = SN_FIELD_NONE, .place_offset = offsetof(type, node)
#define LENGTH          SN_FIELD_UNIT(1, 0, 0, 0)

// ---- Units

static const sn_field_choice lengths[] = {[SN_LENGTH_M] = {"m", "meter"},
                                          [SN_LENGTH_CM] = {"cm", "centimeter"},
                                          [SN_LENGTH_MM] = {"mm", "millimeter"},
                                          [SN_LENGTH_KM] = {"km", "kilometer"},
                                          [SN_LENGTH_IN] = {"in", "inch"},
                                          [SN_LENGTH_FT] = {"ft", "foot"},
                                          {NULL, NULL}};
static const sn_field_choice masses[] = {[SN_MASS_KG] = {"kg", "kilogram"},
                                         [SN_MASS_G] = {"g", "gram"},
                                         [SN_MASS_T] = {"t", "tonne"},
                                         {NULL, NULL}};
static const sn_field_choice times[] = {
    [SN_TIME_S] = {"s", "second"}, [SN_TIME_MS] = {"ms", "millisecond"}, {NULL, NULL}};
static const sn_field_choice angles[] = {
    [SN_ANGLE_DEG] = {"deg", "degree"}, [SN_ANGLE_RAD] = {"rad", "radian"}, {NULL, NULL}};

sn_field_units sn_scene_units_of(const sn_scene_units *chosen) {
    static const double length[] = {[SN_LENGTH_M] = 1,    [SN_LENGTH_CM] = 1e-2,   [SN_LENGTH_MM] = 1e-3,
                                    [SN_LENGTH_KM] = 1e3, [SN_LENGTH_IN] = 0.0254, [SN_LENGTH_FT] = 0.3048};
    static const double mass[] = {[SN_MASS_KG] = 1, [SN_MASS_G] = 1e-3, [SN_MASS_T] = 1e3};
    static const double time[] = {[SN_TIME_S] = 1, [SN_TIME_MS] = 1e-3};
    static const double angle[] = {[SN_ANGLE_DEG] = 0.017453292519943295, [SN_ANGLE_RAD] = 1};
    return (sn_field_units){
        {length[chosen->length], mass[chosen->mass], time[chosen->time], angle[chosen->angle]},
        {lengths[chosen->length].name, masses[chosen->mass].name, times[chosen->time].name,
         angles[chosen->angle].name}};
}

#define UNIT_ROW(member, names, normal, words)                                                               \
    {                                                                                                        \
        .key = #member, .kind = SN_FIELD_CHOICE, .offset = offsetof(sn_scene_units, member),                 \
        .choices = (names), .fallback = (normal), .help = (words)                                            \
    }
static const sn_field unit_rows[] = {
    UNIT_ROW(length, lengths, "m", "unit of lengths, of the coordinates in mesh files too"),
    UNIT_ROW(mass, masses, "kg", "unit of masses"), UNIT_ROW(time, times, "s", "unit of times"),
    UNIT_ROW(angle, angles, "deg", "unit of angles")};
const sn_field_table sn_scene_units_fields = {.name = "units",
                                              .help =
                                                  "Units of all numbers in the file; derived ones (pressure, "
                                                  "density, force) follow from these four.",
                                              .size = sizeof(sn_scene_units),
                                              SN_FIELD_ROWS(unit_rows),
                                              SN_FIELD_NO_ITEM};

// ---- Time

static const sn_field time_rows[] = {{.key = "fps",
                                      .kind = SN_FIELD_REAL,
                                      .offset = offsetof(sn_scene_time_section, fps),
                                      SN_POSITIVE,
                                      .fallback = "60",
                                      .group = 1,
                                      .tag = SN_RATE_FPS,
                                      .help = "frames per second"},
                                     {.key = "step",
                                      .kind = SN_FIELD_REAL,
                                      .offset = offsetof(sn_scene_time_section, step),
                                      SN_FIELD_UNIT(0, 0, 1, 0),
                                      SN_POSITIVE,
                                      .group = 1,
                                      .tag = SN_RATE_STEP,
                                      .help = "length of one step, of which a frame has `substeps`"},
                                     {.key = "frames",
                                      .kind = SN_FIELD_INT,
                                      .offset = offsetof(sn_scene_time_section, frames),
                                      SN_BETWEEN(1, 10000000),
                                      .fallback = "60",
                                      .help = "frames to compute"},
                                     {.key = "substeps",
                                      .kind = SN_FIELD_INT,
                                      .offset = offsetof(sn_scene_time_section, substeps),
                                      SN_BETWEEN(1, 10000),
                                      .fallback = "1",
                                      .help = "steps per frame"},
                                     {.kind = SN_FIELD_INCLUDE,
                                      .offset = offsetof(sn_scene_time_section, stepper),
                                      .table = &sn_integrator_fields},
                                     DERIVED(sn_scene_time_section, rate)};
static const sn_field_table time_fields = {.name = "time",
                                           .help = "When to step: `fps` or `step`, not both.",
                                           .size = sizeof(sn_scene_time_section),
                                           SN_FIELD_ROWS(time_rows),
                                           .group = {{offsetof(sn_scene_time_section, rate), false}},
                                           SN_FIELD_NO_ITEM};

// ---- Materials, bodies

static const sn_field material_rows[] = {
    {.kind = SN_FIELD_INCLUDE, .offset = offsetof(sn_scene_material_item, def), .table = &sn_material_fields},
    DERIVED(sn_scene_material_item, name),
    DERIVED(sn_scene_material_item, node)};
static const sn_field_table material_fields = {.name = "material",
                                               .help = "A material. Formulas: `sinew help materials`.",
                                               .size = sizeof(sn_scene_material_item),
                                               SN_FIELD_ROWS(material_rows),
                                               ITEM(sn_scene_material_item)};

static const sn_field body_rows[] = {
    {.key = "mesh",
     .kind = SN_FIELD_TEXT,
     .offset = offsetof(sn_scene_body_item, mesh),
     .group = 1,
     .tag = SN_SHELL_MESH,
     .help = "file with tetrahedra, or with a closed surface and `embed`; relative to the scene file"},
    {.key = "make",
     .kind = SN_FIELD_TABLE,
     .offset = offsetof(sn_scene_body_item, make),
     .table = &sn_make_fields,
     .group = 1,
     .tag = SN_SHELL_MAKE,
     .help = "a shape that Sinew makes by itself; `make: sphere` is short for `make: {shape: sphere}`"},
    {.key = "embed",
     .kind = SN_FIELD_TABLE,
     .offset = offsetof(sn_scene_body_item, embed),
     .table = &sn_lattice_fields,
     .group = 2,
     .tag = 1,
     .help = "fills a surface with tetrahedra; needed if the mesh has none"},
    {.key = "material",
     .kind = SN_FIELD_NAMED,
     .offset = offsetof(sn_scene_body_item, materials),
     .count_offset = offsetof(sn_scene_body_item, material_count),
     .section = "materials",
     .required = true,
     .help = "a material, or one for each group of the mesh: {GROUP: NAME, default: NAME}"},
    {.kind = SN_FIELD_INCLUDE, .offset = offsetof(sn_scene_body_item, def), .table = &sn_body_fields},
    DERIVED(sn_scene_body_item, name),
    DERIVED(sn_scene_body_item, node),
    DERIVED(sn_scene_body_item, source),
    DERIVED(sn_scene_body_item, embedded)};
static const sn_field_table body_fields = {
    .name = "body",
    .help = "An elastic body.",
    .size = sizeof(sn_scene_body_item),
    SN_FIELD_ROWS(body_rows),
    .group = {{offsetof(sn_scene_body_item, source), true}, {offsetof(sn_scene_body_item, embedded), false}},
    ITEM(sn_scene_body_item)};

// ---- Rigid

static const sn_field key_rows[] = {{.key = "time",
                                     .kind = SN_FIELD_REAL,
                                     .offset = offsetof(sn_scene_key, time),
                                     SN_FIELD_UNIT(0, 0, 1, 0),
                                     SN_ANY_VALUE,
                                     .required = true,
                                     .help = "when, later than the key before"},
                                    {.key = "move",
                                     .kind = SN_FIELD_VEC3,
                                     .offset = offsetof(sn_scene_key, move),
                                     LENGTH,
                                     SN_ANY_VALUE,
                                     .fallback = "[0, 0, 0]",
                                     .help = "translation from the rest place"},
                                    {.key = "rotate",
                                     .kind = SN_FIELD_VEC3,
                                     .offset = offsetof(sn_scene_key, rotate),
                                     SN_FIELD_UNIT(0, 0, 0, 1),
                                     SN_ANY_VALUE,
                                     .fallback = "[0, 0, 0]",
                                     .help = "rotation vector about the pivot"}};
static const sn_field_table key_fields = {.name = "key",
                                          .help = "A key of a motion.",
                                          .size = sizeof(sn_scene_key),
                                          SN_FIELD_ROWS(key_rows),
                                          SN_FIELD_NO_ITEM};

static bool keys_ascend(const void *item, sn_field_complaint *complaint) {
    const sn_scene_motion *motion = item;
    *complaint = (sn_field_complaint){"keys", "times that rise from key to key"};
    bool rising = true;
    for (int32_t i = 1; i < motion->key_count; i++)
        rising = rising && motion->keys[i - 1].time < motion->keys[i].time;
    return rising;
}

static const sn_field motion_rows[] = {
    {.key = "keys",
     .kind = SN_FIELD_LIST,
     .offset = offsetof(sn_scene_motion, keys),
     .count_offset = offsetof(sn_scene_motion, key_count),
     .table = &key_fields,
     .required = true,
     .help = "where the frame is at which time; still before the first and after the last"},
    {.kind = SN_FIELD_INCLUDE, .offset = offsetof(sn_scene_motion, def), .table = &sn_frame_fields}};
static const sn_field_table motion_fields = {.name = "motion",
                                             .help = "Moves a rigid thing along keys.",
                                             .size = sizeof(sn_scene_motion),
                                             SN_FIELD_ROWS(motion_rows),
                                             SN_FIELD_NO_ITEM,
                                             .check = keys_ascend};

static const sn_field joint_key_rows[] = {{.key = "time",
                                           .kind = SN_FIELD_REAL,
                                           .offset = offsetof(sn_scene_joint_key, time),
                                           SN_FIELD_UNIT(0, 0, 1, 0),
                                           SN_ANY_VALUE,
                                           .required = true,
                                           .help = "when, later than the key before"},
                                          {.key = "angle",
                                           .kind = SN_FIELD_REAL,
                                           .offset = offsetof(sn_scene_joint_key, angle),
                                           SN_FIELD_UNIT(0, 0, 0, 1),
                                           SN_ANY_VALUE,
                                           .required = true,
                                           .help = "angle about the joint's axis, right-handed"}};
static const sn_field_table joint_key_fields = {.name = "joint key",
                                                .help = "A key of a joint; [time, angle] for short.",
                                                .size = sizeof(sn_scene_joint_key),
                                                SN_FIELD_ROWS(joint_key_rows),
                                                .positional = true,
                                                SN_FIELD_NO_ITEM};

static bool joint_keys_ascend(const void *item, sn_field_complaint *complaint) {
    const sn_scene_joint *joint = item;
    *complaint = (sn_field_complaint){"keys", "times that rise from key to key"};
    bool rising = true;
    for (int32_t i = 1; i < joint->key_count; i++)
        rising = rising && joint->keys[i - 1].time < joint->keys[i].time;
    return rising;
}

static const sn_field joint_rows[] = {{.key = "axis",
                                       .kind = SN_FIELD_VEC3,
                                       .offset = offsetof(sn_scene_joint, axis),
                                       SN_ANY_VALUE,
                                       .nonzero = true,
                                       .required = true,
                                       .help = "axis of the rotation in the rest pose, any length"},
                                      {.key = "keys",
                                       .kind = SN_FIELD_LIST,
                                       .offset = offsetof(sn_scene_joint, keys),
                                       .count_offset = offsetof(sn_scene_joint, key_count),
                                       .table = &joint_key_fields,
                                       .required = true,
                                       .help = "angle at which time"},
                                      DERIVED(sn_scene_joint, name),
                                      DERIVED(sn_scene_joint, node)};
static const sn_field_table joint_fields = {.name = "joint",
                                            .help = "Turns a joint, and with it all bones beyond it.",
                                            .size = sizeof(sn_scene_joint),
                                            SN_FIELD_ROWS(joint_rows),
                                            .check = joint_keys_ascend,
                                            ITEM(sn_scene_joint)};

/// Sources that a field of rigid things needs.
enum {
    WITH_BONES = 1u << SN_RIGID_SKELETON | 1u << SN_RIGID_MAKE,
    WITH_POINTS = WITH_BONES | 1u << SN_SHAPE_MESH | 1u << SN_RIGID_SURFACE
};
#define WHEN(mask) SN_FIELD_WHEN(offsetof(sn_scene_rigid_item, source), mask)
#define SHAPE_ROW(name, which, fields, words)                                                                \
    {                                                                                                        \
        .key = (name), .kind = SN_FIELD_TABLE, .offset = offsetof(sn_scene_rigid_item, shape),               \
        .table = (fields), .group = 1, .tag = (which), .help = (words)                                       \
    }

static const sn_field rigid_rows[] = {
    SHAPE_ROW("plane", SN_SHAPE_PLANE, &sn_plane_fields, "all that lies below a plane"),
    SHAPE_ROW("sphere", SN_SHAPE_SPHERE, &sn_sphere_fields, "a ball"),
    SHAPE_ROW("capsule", SN_SHAPE_CAPSULE, &sn_capsule_fields, "all that lies within a radius of a segment"),
    SHAPE_ROW("box", SN_SHAPE_BOX, &sn_box_fields, "a box along the axes"),
    {.key = "mesh",
     .kind = SN_FIELD_TEXT,
     .offset = offsetof(sn_scene_rigid_item, mesh),
     .group = 1,
     .tag = SN_SHAPE_MESH,
     .help = "file with a closed surface"},
    {.key = "skeleton",
     .kind = SN_FIELD_TEXT,
     .offset = offsetof(sn_scene_rigid_item, skeleton),
     .group = 1,
     .tag = SN_RIGID_SKELETON,
     .help =
         "TGF file of joints and bones: lines `LABEL x y z`, then `#`, then a line `FROM TO` for each bone; "
         "each bone becomes a capsule NAME.FROM-TO"},
    {.key = "make",
     .kind = SN_FIELD_TABLE,
     .offset = offsetof(sn_scene_rigid_item, make),
     .table = &sn_make_fields,
     .group = 1,
     .tag = SN_RIGID_MAKE,
     .help = "the skeleton of a shape that Sinew makes (arm); same size as the body's"},
    {.key = "surface",
     .kind = SN_FIELD_TABLE,
     .offset = offsetof(sn_scene_rigid_item, make),
     .table = &sn_make_fields,
     .group = 1,
     .tag = SN_RIGID_SURFACE,
     .help = "the closed surface of a shape that Sinew makes (block, sphere, arm)"},
    {.key = "scale",
     .kind = SN_FIELD_REAL,
     .offset = offsetof(sn_scene_rigid_item, scale),
     SN_POSITIVE,
     .fallback = "1",
     .help = "factor on mesh, surface or skeleton, first",
     WHEN(WITH_POINTS)},
    {.key = "rotate",
     .kind = SN_FIELD_VEC3,
     .offset = offsetof(sn_scene_rigid_item, rotation),
     SN_FIELD_UNIT(0, 0, 0, 1),
     SN_ANY_VALUE,
     .fallback = "[0, 0, 0]",
     .help = "rotation vector about the origin, second",
     WHEN(WITH_POINTS)},
    {.key = "translate",
     .kind = SN_FIELD_VEC3,
     .offset = offsetof(sn_scene_rigid_item, translation),
     LENGTH,
     SN_ANY_VALUE,
     .fallback = "[0, 0, 0]",
     .help = "translation, last",
     WHEN(WITH_POINTS)},
    {.key = "radius",
     .kind = SN_FIELD_REAL,
     .offset = offsetof(sn_scene_rigid_item, radius),
     LENGTH,
     SN_POSITIVE,
     .required = true,
     .help = "radius of the bones",
     WHEN(WITH_BONES)},
    {.key = "root",
     .kind = SN_FIELD_INT,
     .offset = offsetof(sn_scene_rigid_item, root),
     SN_NOT_NEGATIVE,
     .fallback = "-1",
     .automatic = "the first of the file",
     .help = "label of the joint that holds still",
     WHEN(WITH_BONES)},
    {.key = "interpolation",
     .kind = SN_FIELD_CHOICE,
     .offset = offsetof(sn_scene_rigid_item, interpolation),
     .choices = sn_interpolations,
     .fallback = "linear",
     .help = "how the joints' keys are joined",
     WHEN(WITH_BONES)},
    {.key = "joints",
     .kind = SN_FIELD_MAP,
     .offset = offsetof(sn_scene_rigid_item, joints),
     .count_offset = offsetof(sn_scene_rigid_item, joint_count),
     .table = &joint_fields,
     .help = "joints that turn, by label",
     WHEN(WITH_BONES)},
    {.key = "motion",
     .kind = SN_FIELD_TABLE,
     .offset = offsetof(sn_scene_rigid_item, motion),
     .table = &motion_fields,
     .group = 2,
     .tag = 1,
     .help = "moves the whole along keys; without it holds still"},
    DERIVED(sn_scene_rigid_item, name),
    DERIVED(sn_scene_rigid_item, node),
    DERIVED(sn_scene_rigid_item, source),
    DERIVED(sn_scene_rigid_item, moves),
    {.kind = SN_FIELD_INCLUDE,
     .offset = offsetof(sn_scene_rigid_item, shape),
     .table = &sn_shape_base_fields}};
static const sn_field_table rigid_fields = {
    .name = "rigid",
    .help = "A rigid shape or skeleton, still or moved by keys. Bodies do not "
            "push it.",
    .size = sizeof(sn_scene_rigid_item),
    SN_FIELD_ROWS(rigid_rows),
    .group = {{offsetof(sn_scene_rigid_item, source), true}, {offsetof(sn_scene_rigid_item, moves), false}},
    ITEM(sn_scene_rigid_item)};

// ---- Pins, attachments, springs, loads

#define BODY_ROW(type, words)                                                                                \
    {                                                                                                        \
        .key = "body", .kind = SN_FIELD_REFERENCE, .offset = offsetof(type, body), .section = "bodies",      \
        .required = true, .help = (words)                                                                    \
    }
#define SELECT_ROW(type, words)                                                                              \
    {                                                                                                        \
        .key = "select", .kind = SN_FIELD_TABLE, .offset = offsetof(type, select),                           \
        .table = &sn_selection_fields, .required = true, .help = (words)                                     \
    }

static const sn_field pin_rows[] = {
    BODY_ROW(sn_scene_pin_item, "the body"),
    SELECT_ROW(sn_scene_pin_item, "which of its nodes"),
    {.key = "to",
     .kind = SN_FIELD_REFERENCE,
     .offset = offsetof(sn_scene_pin_item, to),
     .section = "rigid",
     .automatic = "they hold still",
     .help = "rigid thing or bone with which they move"},
    {.kind = SN_FIELD_INCLUDE, .offset = offsetof(sn_scene_pin_item, def), .table = &sn_pin_fields},
    DERIVED(sn_scene_pin_item, node)};
static const sn_field_table pin_fields = {.name = "pin",
                                          .help = "Nodes whose places are given.",
                                          .size = sizeof(sn_scene_pin_item),
                                          SN_FIELD_ROWS(pin_rows),
                                          LIST_ITEM(sn_scene_pin_item)};

static const sn_field attachment_rows[] = {
    BODY_ROW(sn_scene_attachment_item, "the body"),
    {.key = "to",
     .kind = SN_FIELD_REFERENCES,
     .offset = offsetof(sn_scene_attachment_item, to),
     .count_offset = offsetof(sn_scene_attachment_item, to_count),
     .section = "rigid",
     .required = true,
     .help = "rigid things; a skeleton means all its bones, NAME.FROM-TO one of them"},
    {.kind = SN_FIELD_INCLUDE,
     .offset = offsetof(sn_scene_attachment_item, def),
     .table = &sn_attachment_fields},
    DERIVED(sn_scene_attachment_item, node)};
static const sn_field_table attachment_fields = {.name = "attachment",
                                                 .help = "Ties a body to rigid things.",
                                                 .size = sizeof(sn_scene_attachment_item),
                                                 SN_FIELD_ROWS(attachment_rows),
                                                 LIST_ITEM(sn_scene_attachment_item)};

#define END_POINT                                                                                            \
    {                                                                                                        \
        .key = "point", .kind = SN_FIELD_VEC3, .offset = offsetof(sn_scene_end, point), LENGTH,              \
        SN_ANY_VALUE, .required = true, .help = "rest place of the end"                                      \
    }
#define END_BODY                                                                                             \
    {                                                                                                        \
        .key = "body", .kind = SN_FIELD_REFERENCE, .offset = offsetof(sn_scene_end, body),                   \
        .section = "bodies", .group = 1, .tag = SN_HOLDER_BODY, .help = "a point of a body"                  \
    }

static const sn_field from_rows[] = {END_BODY, END_POINT, DERIVED(sn_scene_end, holder),
                                     DERIVED(sn_scene_end, rigid), DERIVED(sn_scene_end, world)};
static const sn_field_table from_fields = {.name = "from",
                                           .size = sizeof(sn_scene_end),
                                           SN_FIELD_ROWS(from_rows),
                                           .group = {{offsetof(sn_scene_end, holder), true}},
                                           SN_FIELD_NO_ITEM};

static const sn_field to_rows[] = {END_BODY,
                                   {.key = "rigid",
                                    .kind = SN_FIELD_REFERENCE,
                                    .offset = offsetof(sn_scene_end, rigid),
                                    .section = "rigid",
                                    .group = 1,
                                    .tag = SN_HOLDER_RIGID,
                                    .help = "a point that moves with a rigid thing or bone"},
                                   {.key = "world",
                                    .kind = SN_FIELD_BOOL,
                                    .offset = offsetof(sn_scene_end, world),
                                    .only_true = true,
                                    .group = 1,
                                    .tag = SN_HOLDER_WORLD,
                                    .help = "a point that holds still"},
                                   END_POINT,
                                   DERIVED(sn_scene_end, holder)};
static const sn_field_table to_fields = {.name = "to",
                                         .size = sizeof(sn_scene_end),
                                         SN_FIELD_ROWS(to_rows),
                                         .group = {{offsetof(sn_scene_end, holder), true}},
                                         SN_FIELD_NO_ITEM};

static const sn_field spring_rows[] = {
    {.key = "from",
     .kind = SN_FIELD_TABLE,
     .offset = offsetof(sn_scene_spring_item, from),
     .table = &from_fields,
     .required = true,
     .help = "end on a body"},
    {.key = "to",
     .kind = SN_FIELD_TABLE,
     .offset = offsetof(sn_scene_spring_item, to),
     .table = &to_fields,
     .required = true,
     .help = "end on a body, a rigid thing or the world"},
    {.kind = SN_FIELD_INCLUDE, .offset = offsetof(sn_scene_spring_item, def), .table = &sn_spring_fields},
    DERIVED(sn_scene_spring_item, node)};
static const sn_field_table spring_fields = {.name = "spring",
                                             .help = "A spring between two points.",
                                             .size = sizeof(sn_scene_spring_item),
                                             SN_FIELD_ROWS(spring_rows),
                                             LIST_ITEM(sn_scene_spring_item)};

static const sn_field load_rows[] = {
    BODY_ROW(sn_scene_load_item, "the body"),
    SELECT_ROW(sn_scene_load_item, "nodes that share the force"),
    {.kind = SN_FIELD_INCLUDE, .offset = offsetof(sn_scene_load_item, def), .table = &sn_load_fields},
    DERIVED(sn_scene_load_item, node)};
static const sn_field_table load_fields = {.name = "load",
                                           .help = "A constant force on a part of a body.",
                                           .size = sizeof(sn_scene_load_item),
                                           SN_FIELD_ROWS(load_rows),
                                           LIST_ITEM(sn_scene_load_item)};

static const sn_field zone_rows[] = {BODY_ROW(sn_scene_zone_item, "the body"),
                                     SELECT_ROW(sn_scene_zone_item, "nodes near which its surface may touch"),
                                     DERIVED(sn_scene_zone_item, node)};
static const sn_field_table zone_fields = {
    .name = "zone",
    .help = "Where contact is expected. Contact elsewhere acts as well, but costs more in large models.",
    .size = sizeof(sn_scene_zone_item),
    SN_FIELD_ROWS(zone_rows),
    LIST_ITEM(sn_scene_zone_item)};

static const sn_field contact_rows[] = {
    {.key = "between",
     .kind = SN_FIELD_PAIR,
     .offset = offsetof(sn_scene_contact_item, between),
     .section = "bodies",
     .section2 = "rigid",
     .required = true,
     .help =
         "a body and a rigid thing, in any order (a skeleton means all its bones, NAME.FROM-TO one of them), "
         "two bodies, or a body twice"},
    {.kind = SN_FIELD_INCLUDE, .offset = offsetof(sn_scene_contact_item, def), .table = &sn_contact_fields},
    DERIVED(sn_scene_contact_item, node)};
static const sn_field_table contact_fields = {.name = "contact",
                                              .help = "Keeps the surface of a body out of a rigid thing, of "
                                                      "another body or of itself. What the numbers mean: "
                                                      "docs/contact.md.",
                                              .size = sizeof(sn_scene_contact_item),
                                              SN_FIELD_ROWS(contact_rows),
                                              LIST_ITEM(sn_scene_contact_item)};

// ---- Output

static const sn_field probe_rows[] = {
    {.key = "body",
     .kind = SN_FIELD_REFERENCE,
     .offset = offsetof(sn_scene_probe_item, def.body),
     .section = "bodies",
     .group = 1,
     .tag = SN_HOLDER_BODY,
     .help = "a point of a body: its place and velocity"},
    {.key = "rigid",
     .kind = SN_FIELD_REFERENCE,
     .offset = offsetof(sn_scene_probe_item, def.rigid),
     .section = "rigid",
     .group = 1,
     .tag = SN_HOLDER_RIGID,
     .help = "a rigid thing or bone: the force and moment of bodies on it by contact"},
    {.key = "point",
     .kind = SN_FIELD_VEC3,
     .offset = offsetof(sn_scene_probe_item, def.point),
     LENGTH,
     SN_ANY_VALUE,
     .required = true,
     .help = "rest place of the point; outside of the body, the nearest place inside",
     SN_FIELD_WHEN(offsetof(sn_scene_probe_item, holder), 1u << SN_HOLDER_BODY)},
    DERIVED(sn_scene_probe_item, def.name),
    DERIVED(sn_scene_probe_item, holder),
    DERIVED(sn_scene_probe_item, node)};
static const sn_field_table probe_fields = {.name = "probe",
                                            .help = "What probes.csv follows, frame by frame.",
                                            .size = sizeof(sn_scene_probe_item),
                                            SN_FIELD_ROWS(probe_rows),
                                            .group = {{offsetof(sn_scene_probe_item, holder), true}},
                                            .name_offset = offsetof(sn_scene_probe_item, def.name),
                                            .place_offset = offsetof(sn_scene_probe_item, node)};

static const sn_field output_rows[] = {
    {.kind = SN_FIELD_INCLUDE, .offset = offsetof(sn_scene_output_section, def), .table = &sn_output_fields},
    {.key = "probes",
     .kind = SN_FIELD_MAP,
     .offset = offsetof(sn_scene_output_section, probes),
     .count_offset = offsetof(sn_scene_output_section, probe_count),
     .table = &probe_fields,
     .help = "points and rigid things whose course goes into probes.csv, by name"}};
static const sn_field_table output_fields = {.name = "output",
                                             .help = "What a run writes.",
                                             .size = sizeof(sn_scene_output_section),
                                             SN_FIELD_ROWS(output_rows),
                                             SN_FIELD_NO_ITEM};

// ---- The scene

#define ITEMS_ROW(name, how, member, counter, fields, must, words)                                           \
    {                                                                                                        \
        .key = (name), .kind = (how), .offset = offsetof(sn_scene_content, member),                          \
        .count_offset = offsetof(sn_scene_content, counter), .table = (fields), .required = (must),          \
        .help = (words)                                                                                      \
    }

static const sn_field scene_rows[] = {
    {.key = "sinew",
     .kind = SN_FIELD_INT,
     .offset = offsetof(sn_scene_content, version),
     SN_BETWEEN(1, 1),
     .required = true,
     .help = "version of the format; the first key of the file"},
    {.key = "units",
     .kind = SN_FIELD_TABLE,
     .offset = offsetof(sn_scene_content, units),
     .table = &sn_scene_units_fields,
     .help = "units of the file's numbers"},
    {.key = "time",
     .kind = SN_FIELD_TABLE,
     .offset = offsetof(sn_scene_content, time),
     .table = &time_fields,
     .help = "frames, steps and integrator"},
    {.key = "gravity",
     .kind = SN_FIELD_VEC3,
     .offset = offsetof(sn_scene_content, gravity),
     SN_FIELD_UNIT(1, 0, -2, 0),
     SN_ANY_VALUE,
     .fallback = "[0, 0, 0]",
     .help = "acceleration of free fall"},
    ITEMS_ROW("materials", SN_FIELD_MAP, materials, material_count, &material_fields, true,
              "materials by name"),
    ITEMS_ROW("bodies", SN_FIELD_MAP, bodies, body_count, &body_fields, true, "elastic bodies by name"),
    ITEMS_ROW("rigid", SN_FIELD_MAP, rigids, rigid_count, &rigid_fields, false,
              "rigid shapes and skeletons by name"),
    ITEMS_ROW("pins", SN_FIELD_LIST, pins, pin_count, &pin_fields, false, "nodes whose places are given"),
    ITEMS_ROW("attachments", SN_FIELD_LIST, attachments, attachment_count, &attachment_fields, false,
              "ties between bodies and rigid things"),
    ITEMS_ROW("springs", SN_FIELD_LIST, springs, spring_count, &spring_fields, false,
              "springs between points"),
    ITEMS_ROW("loads", SN_FIELD_LIST, loads, load_count, &load_fields, false, "constant forces"),
    ITEMS_ROW("contact", SN_FIELD_LIST, contacts, contact_count, &contact_fields, false,
              "what may touch: bodies and rigid things, bodies and bodies, a body and itself"),
    ITEMS_ROW("contact_zones", SN_FIELD_LIST, zones, zone_count, &zone_fields, false,
              "where on bodies contact is expected"),
    {.key = "solver",
     .kind = SN_FIELD_TABLE,
     .offset = offsetof(sn_scene_content, time) + offsetof(sn_scene_time_section, stepper) +
               offsetof(sn_stepper_def, solver),
     .table = &sn_solver_fields,
     .help = "how each step is minimized"},
    {.key = "output",
     .kind = SN_FIELD_TABLE,
     .offset = offsetof(sn_scene_content, output),
     .table = &output_fields,
     .help = "what a run writes"},
    {.kind = SN_FIELD_INCLUDE,
     .offset = offsetof(sn_scene_content, time) + offsetof(sn_scene_time_section, stepper),
     .table = &sn_precision_fields}};
const sn_field_table sn_scene_fields = {
    .name = "scene", .size = sizeof(sn_scene_content), SN_FIELD_ROWS(scene_rows), SN_FIELD_NO_ITEM};
