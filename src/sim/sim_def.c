#include "sim/sim_def.h"

#define DERIVED(type, member)                                                                                \
    { .kind = SN_FIELD_DERIVED, .offset = offsetof(type, member), .size = sizeof(((type *)0)->member) }
#define MARK(type)                                                                                           \
    { .kind = SN_FIELD_MARK, .offset = offsetof(type, mark) }
#define LENGTH SN_FIELD_UNIT(1, 0, 0, 0)

// ---- Frames and shapes

const sn_field_choice sn_interpolations[] = {
    [SN_INTERPOLATION_LINEAR] = {"linear", "constant speed between keys"},
    [SN_INTERPOLATION_SMOOTH] = {"smooth", "eased: no speed at the keys"},
    {NULL, NULL}};

static const sn_field frame_rows[] = {{.key = "interpolation",
                                       .kind = SN_FIELD_CHOICE,
                                       .offset = offsetof(sn_frame_def, interpolation),
                                       .choices = sn_interpolations,
                                       .fallback = "linear",
                                       .help = "how keys are joined"},
                                      {.key = "pivot",
                                       .kind = SN_FIELD_VEC3,
                                       .offset = offsetof(sn_frame_def, pivot),
                                       LENGTH,
                                       SN_ANY_VALUE,
                                       .fallback = "[0, 0, 0]",
                                       .help = "point about which the frame turns"},
                                      DERIVED(sn_frame_def, name),
                                      DERIVED(sn_frame_def, parent),
                                      DERIVED(sn_frame_def, key_count),
                                      DERIVED(sn_frame_def, time),
                                      DERIVED(sn_frame_def, translation),
                                      DERIVED(sn_frame_def, rotation),
                                      MARK(sn_frame_def)};
const sn_field_table sn_frame_fields = {
    .name = "frame", .size = sizeof(sn_frame_def), SN_FIELD_ROWS(frame_rows), SN_FIELD_NO_ITEM};

#define POINT_ROW(type, name, member, words)                                                                 \
    {                                                                                                        \
        .key = (name), .kind = SN_FIELD_VEC3, .offset = offsetof(type, member), LENGTH, SN_ANY_VALUE,        \
        .required = true, .help = (words)                                                                    \
    }
#define NORMAL_ROW(type, words)                                                                              \
    {                                                                                                        \
        .key = "normal", .kind = SN_FIELD_VEC3, .offset = offsetof(type, normal), SN_ANY_VALUE,              \
        .nonzero = true, .required = true, .help = (words)                                                   \
    }
#define RADIUS_ROW(type)                                                                                     \
    {                                                                                                        \
        .key = "radius", .kind = SN_FIELD_REAL, .offset = offsetof(type, radius), LENGTH, SN_POSITIVE,       \
        .required = true, .help = "radius"                                                                   \
    }

static const sn_field plane_rows[] = {POINT_ROW(sn_shape_def, "point", point, "a point of the plane"),
                                      NORMAL_ROW(sn_shape_def, "away from the solid side, any length")};
const sn_field_table sn_plane_fields = {
    .name = "plane", .size = sizeof(sn_shape_def), SN_FIELD_ROWS(plane_rows), SN_FIELD_NO_ITEM};

static const sn_field sphere_rows[] = {POINT_ROW(sn_shape_def, "center", point, "center"),
                                       RADIUS_ROW(sn_shape_def)};
const sn_field_table sn_sphere_fields = {
    .name = "sphere", .size = sizeof(sn_shape_def), SN_FIELD_ROWS(sphere_rows), SN_FIELD_NO_ITEM};

static bool capsule_is_long(const void *item, sn_field_complaint *complaint) {
    const sn_shape_def *shape = item;
    *complaint = (sn_field_complaint){"to", "a point other than `from`"};
    return shape->point[0] != shape->point2[0] || shape->point[1] != shape->point2[1] ||
           shape->point[2] != shape->point2[2];
}

static const sn_field capsule_rows[] = {POINT_ROW(sn_shape_def, "from", point, "one end of the axis"),
                                        POINT_ROW(sn_shape_def, "to", point2, "the other end"),
                                        RADIUS_ROW(sn_shape_def)};
const sn_field_table sn_capsule_fields = {.name = "capsule",
                                          .size = sizeof(sn_shape_def),
                                          SN_FIELD_ROWS(capsule_rows),
                                          SN_FIELD_NO_ITEM,
                                          .check = capsule_is_long};

static const sn_field box_rows[] = {POINT_ROW(sn_shape_def, "center", point, "center"),
                                    {.key = "half_size",
                                     .kind = SN_FIELD_VEC3,
                                     .offset = offsetof(sn_shape_def, half_size),
                                     LENGTH,
                                     SN_POSITIVE,
                                     .required = true,
                                     .help = "half the extent along x, y, z"}};
const sn_field_table sn_box_fields = {
    .name = "box", .size = sizeof(sn_shape_def), SN_FIELD_ROWS(box_rows), SN_FIELD_NO_ITEM};

static const sn_field shape_base_rows[] = {DERIVED(sn_shape_def, name), DERIVED(sn_shape_def, kind),
                                           DERIVED(sn_shape_def, frame), DERIVED(sn_shape_def, surface),
                                           MARK(sn_shape_def)};
const sn_field_table sn_shape_base_fields = {
    .name = "shape", .size = sizeof(sn_shape_def), SN_FIELD_ROWS(shape_base_rows), SN_FIELD_NO_ITEM};

#define SHAPE_ROW(name, which, fields)                                                                       \
    { .key = (name), .kind = SN_FIELD_TABLE, .table = (fields), .group = 1, .tag = (which) }
static const sn_field shape_rows[] = {SHAPE_ROW("plane", SN_SHAPE_PLANE, &sn_plane_fields),
                                      SHAPE_ROW("sphere", SN_SHAPE_SPHERE, &sn_sphere_fields),
                                      SHAPE_ROW("capsule", SN_SHAPE_CAPSULE, &sn_capsule_fields),
                                      SHAPE_ROW("box", SN_SHAPE_BOX, &sn_box_fields),
                                      {.kind = SN_FIELD_INCLUDE, .table = &sn_shape_base_fields}};
const sn_field_table sn_shape_fields = {.name = "shape",
                                        .size = sizeof(sn_shape_def),
                                        SN_FIELD_ROWS(shape_rows),
                                        .group = {{offsetof(sn_shape_def, kind), true}},
                                        SN_FIELD_NO_ITEM};

// ---- Bodies

static const sn_field twist_rows[] = {{.key = "point",
                                       .kind = SN_FIELD_VEC3,
                                       .offset = offsetof(sn_initial_def, twist_point),
                                       LENGTH,
                                       SN_ANY_VALUE,
                                       .fallback = "[0, 0, 0]",
                                       .help = "a point of the axis; the center of `stretch` too"},
                                      {.key = "axis",
                                       .kind = SN_FIELD_VEC3,
                                       .offset = offsetof(sn_initial_def, twist_axis),
                                       SN_ANY_VALUE,
                                       .nonzero = true,
                                       .fallback = "[0, 0, 1]",
                                       .help = "direction of the axis, any length"},
                                      {.key = "rate",
                                       .kind = SN_FIELD_REAL,
                                       .offset = offsetof(sn_initial_def, twist_rate),
                                       SN_FIELD_UNIT(-1, 0, 0, 1),
                                       SN_ANY_VALUE,
                                       .fallback = "0",
                                       .help = "angle per length along the axis"}};
static const sn_field_table twist_fields = {
    .name = "twist", .size = sizeof(sn_initial_def), SN_FIELD_ROWS(twist_rows), SN_FIELD_NO_ITEM};

static const sn_field initial_rows[] = {{.key = "stretch",
                                         .kind = SN_FIELD_VEC3,
                                         .offset = offsetof(sn_initial_def, stretch),
                                         SN_ANY_VALUE,
                                         .each_nonzero = true,
                                         .fallback = "[1, 1, 1]",
                                         .help = "factors along x, y, z about the point of `twist`"},
                                        {.key = "twist",
                                         .kind = SN_FIELD_TABLE,
                                         .table = &twist_fields,
                                         .help = "turns the body about an axis, more the farther along it"},
                                        {.key = "velocity",
                                         .kind = SN_FIELD_VEC3,
                                         .offset = offsetof(sn_initial_def, velocity),
                                         SN_FIELD_UNIT(1, 0, -1, 0),
                                         SN_ANY_VALUE,
                                         .fallback = "[0, 0, 0]",
                                         .help = "velocity of the whole body"},
                                        {.key = "spin",
                                         .kind = SN_FIELD_VEC3,
                                         .offset = offsetof(sn_initial_def, spin),
                                         SN_FIELD_UNIT(0, 0, -1, 1),
                                         SN_ANY_VALUE,
                                         .fallback = "[0, 0, 0]",
                                         .help = "angular velocity about the center of mass"}};
const sn_field_table sn_initial_fields = {.name = "initial",
                                          .help = "How a body starts, relative to its rest shape.",
                                          .size = sizeof(sn_initial_def),
                                          SN_FIELD_ROWS(initial_rows),
                                          SN_FIELD_NO_ITEM};

static const sn_field body_rows[] = {
    {.key = "scale",
     .kind = SN_FIELD_REAL,
     .offset = offsetof(sn_body_def, scale),
     SN_POSITIVE,
     .fallback = "1",
     .help = "factor on the rest shape, first"},
    {.key = "rotate",
     .kind = SN_FIELD_VEC3,
     .offset = offsetof(sn_body_def, rotation),
     SN_FIELD_UNIT(0, 0, 0, 1),
     SN_ANY_VALUE,
     .fallback = "[0, 0, 0]",
     .help = "rotation vector about the origin, second: direction is the axis, length "
             "the angle"},
    {.key = "translate",
     .kind = SN_FIELD_VEC3,
     .offset = offsetof(sn_body_def, translation),
     LENGTH,
     SN_ANY_VALUE,
     .fallback = "[0, 0, 0]",
     .help = "translation, last"},
    {.key = "initial",
     .kind = SN_FIELD_TABLE,
     .offset = offsetof(sn_body_def, initial),
     .table = &sn_initial_fields,
     .help = "how the body starts"},
    DERIVED(sn_body_def, name),
    DERIVED(sn_body_def, mesh),
    DERIVED(sn_body_def, material_count),
    DERIVED(sn_body_def, materials),
    DERIVED(sn_body_def, tet_material),
    DERIVED(sn_body_def, surface),
    DERIVED(sn_body_def, embedding),
    MARK(sn_body_def)};
const sn_field_table sn_body_fields = {
    .name = "body", .size = sizeof(sn_body_def), SN_FIELD_ROWS(body_rows), SN_FIELD_NO_ITEM};

// ---- Selections, pins, loads

static bool box_is_ordered(const void *item, sn_field_complaint *complaint) {
    const sn_selection *select = item;
    *complaint = (sn_field_complaint){"high", "no component below that of `low`"};
    return select->low[0] <= select->high[0] && select->low[1] <= select->high[1] &&
           select->low[2] <= select->high[2];
}

static const sn_field select_box_rows[] = {
    POINT_ROW(sn_selection, "low", low, "corner with the smallest coordinates"),
    POINT_ROW(sn_selection, "high", high, "corner with the largest")};
static const sn_field_table select_box_fields = {.name = "box",
                                                 .size = sizeof(sn_selection),
                                                 SN_FIELD_ROWS(select_box_rows),
                                                 SN_FIELD_NO_ITEM,
                                                 .check = box_is_ordered};

static const sn_field select_sphere_rows[] = {POINT_ROW(sn_selection, "center", point, "center"),
                                              RADIUS_ROW(sn_selection)};
static const sn_field_table select_sphere_fields = {
    .name = "sphere", .size = sizeof(sn_selection), SN_FIELD_ROWS(select_sphere_rows), SN_FIELD_NO_ITEM};

static const sn_field select_plane_rows[] = {POINT_ROW(sn_selection, "point", point, "a point of the plane"),
                                             NORMAL_ROW(sn_selection, "away from the side that is selected")};
static const sn_field_table select_plane_fields = {
    .name = "plane", .size = sizeof(sn_selection), SN_FIELD_ROWS(select_plane_rows), SN_FIELD_NO_ITEM};

#define SELECT_ROW(name, which, fields, words)                                                               \
    { .key = (name), .kind = SN_FIELD_TABLE, .table = (fields), .group = 1, .tag = (which), .help = (words) }
static const sn_field selection_rows[] = {
    SELECT_ROW("box", SN_SELECT_BOX, &select_box_fields, "nodes in a box along the axes"),
    SELECT_ROW("sphere", SN_SELECT_SPHERE, &select_sphere_fields, "nodes in a ball"),
    SELECT_ROW("plane", SN_SELECT_PLANE, &select_plane_fields, "nodes on one side of a plane"),
    {.key = "group",
     .kind = SN_FIELD_TEXT,
     .offset = offsetof(sn_selection, group),
     .group = 1,
     .tag = SN_SELECT_GROUP,
     .help = "nodes of the tets of a group of the mesh file, or of a set of nodes or group of faces by that "
             "name"},
    {.key = "nodes",
     .kind = SN_FIELD_INTS,
     .offset = offsetof(sn_selection, nodes),
     .count_offset = offsetof(sn_selection, node_count),
     SN_BETWEEN(0, INT32_MAX),
     .group = 1,
     .tag = SN_SELECT_NODES,
     .help = "nodes by number, from 0"},
    DERIVED(sn_selection, kind)};
const sn_field_table sn_selection_fields = {
    .name = "select",
    .help = "Picks nodes of a body by their rest places; edges belong to it.",
    .size = sizeof(sn_selection),
    SN_FIELD_ROWS(selection_rows),
    .word = "all",
    .group = {{offsetof(sn_selection, kind), true}},
    SN_FIELD_NO_ITEM};

static const sn_field pin_rows[] = {DERIVED(sn_pin_def, body), DERIVED(sn_pin_def, select),
                                    DERIVED(sn_pin_def, frame), MARK(sn_pin_def)};
const sn_field_table sn_pin_fields = {
    .name = "pin", .size = sizeof(sn_pin_def), SN_FIELD_ROWS(pin_rows), SN_FIELD_NO_ITEM};

static const sn_field_choice spreads[] = {[SN_SPREAD_EVEN] = {"even", "equal shares for all selected nodes"},
                                          [SN_SPREAD_AREA] = {"area", "by the area of the selected surface"},
                                          [SN_SPREAD_MASS] = {"mass", "by mass"},
                                          {NULL, NULL}};

static const sn_field load_rows[] = {{.key = "force",
                                      .kind = SN_FIELD_VEC3,
                                      .offset = offsetof(sn_load_def, force),
                                      SN_FIELD_UNIT(1, 1, -2, 0),
                                      SN_ANY_VALUE,
                                      .required = true,
                                      .help = "total force, constant in size and direction"},
                                     {.key = "spread",
                                      .kind = SN_FIELD_CHOICE,
                                      .offset = offsetof(sn_load_def, spread),
                                      .choices = spreads,
                                      .fallback = "even",
                                      .help = "how the force is shared out"},
                                     DERIVED(sn_load_def, body),
                                     DERIVED(sn_load_def, select),
                                     MARK(sn_load_def)};
const sn_field_table sn_load_fields = {
    .name = "load", .size = sizeof(sn_load_def), SN_FIELD_ROWS(load_rows), SN_FIELD_NO_ITEM};

// ---- Attachments, springs, contact

static const sn_field near_rows[] = {{.key = "distance",
                                      .kind = SN_FIELD_REAL,
                                      .offset = offsetof(sn_attachment_def, distance),
                                      LENGTH,
                                      SN_NOT_NEGATIVE,
                                      .fallback = "0",
                                      .help = "reach from the shape's surface; inside always counts"}};
static const sn_field_table near_fields = {
    .name = "nodes", .size = sizeof(sn_attachment_def), SN_FIELD_ROWS(near_rows), SN_FIELD_NO_ITEM};

static const sn_field sample_rows[] = {{.key = "spacing",
                                        .kind = SN_FIELD_REAL,
                                        .offset = offsetof(sn_attachment_def, spacing),
                                        LENGTH,
                                        SN_POSITIVE,
                                        .required = true,
                                        .help = "distance between neighboring points on the shape"}};
static const sn_field_table sample_fields = {
    .name = "samples", .size = sizeof(sn_attachment_def), SN_FIELD_ROWS(sample_rows), SN_FIELD_NO_ITEM};

static const sn_field attachment_rows[] = {
    {.key = "nodes",
     .kind = SN_FIELD_TABLE,
     .table = &near_fields,
     .group = 1,
     .tag = SN_ATTACH_NODES,
     .help = "ties the nodes of the body near the shape"},
    {.key = "samples",
     .kind = SN_FIELD_TABLE,
     .table = &sample_fields,
     .group = 1,
     .tag = SN_ATTACH_SAMPLES,
     .help = "ties points spread over the shape, where they lie in the body"},
    {.key = "stiffness",
     .kind = SN_FIELD_REAL,
     .offset = offsetof(sn_attachment_def, stiffness),
     SN_FIELD_UNIT(0, 1, -2, 0),
     SN_POSITIVE,
     .fallback = "0",
     .automatic = "ten times the body's own",
     .help = "of the spring at each point"},
    {.key = "hard",
     .kind = SN_FIELD_BOOL,
     .offset = offsetof(sn_attachment_def, hard),
     .fallback = "false",
     .help = "nodes move exactly with the shape: no springs",
     SN_FIELD_WHEN(offsetof(sn_attachment_def, kind), 1u << SN_ATTACH_NODES)},
    DERIVED(sn_attachment_def, kind),
    DERIVED(sn_attachment_def, body),
    DERIVED(sn_attachment_def, shape_count),
    DERIVED(sn_attachment_def, shapes),
    MARK(sn_attachment_def)};
const sn_field_table sn_attachment_fields = {.name = "attachment",
                                             .size = sizeof(sn_attachment_def),
                                             SN_FIELD_ROWS(attachment_rows),
                                             .group = {{offsetof(sn_attachment_def, kind), true}},
                                             SN_FIELD_NO_ITEM};

static const sn_field spring_rows[] = {{.key = "stiffness",
                                        .kind = SN_FIELD_REAL,
                                        .offset = offsetof(sn_spring_def, stiffness),
                                        SN_FIELD_UNIT(0, 1, -2, 0),
                                        SN_POSITIVE,
                                        .required = true,
                                        .help = "force per change of length"},
                                       {.key = "rest_length",
                                        .kind = SN_FIELD_REAL,
                                        .offset = offsetof(sn_spring_def, rest_length),
                                        LENGTH,
                                        SN_NOT_NEGATIVE,
                                        .fallback = "-1",
                                        .automatic = "the distance at rest",
                                        .help = "length without force"},
                                       DERIVED(sn_spring_def, body),
                                       DERIVED(sn_spring_def, point),
                                       DERIVED(sn_spring_def, body2),
                                       DERIVED(sn_spring_def, frame2),
                                       DERIVED(sn_spring_def, point2),
                                       MARK(sn_spring_def)};
const sn_field_table sn_spring_fields = {
    .name = "spring", .size = sizeof(sn_spring_def), SN_FIELD_ROWS(spring_rows), SN_FIELD_NO_ITEM};

static const sn_field contact_rows[] = {{.key = "friction",
                                         .kind = SN_FIELD_REAL,
                                         .offset = offsetof(sn_contact_def, friction),
                                         SN_NOT_NEGATIVE,
                                         .fallback = "0",
                                         .help = "Coulomb's coefficient of friction"},
                                        {.key = "stiffness",
                                         .kind = SN_FIELD_REAL,
                                         .offset = offsetof(sn_contact_def, stiffness),
                                         SN_FIELD_UNIT(-2, 1, -2, 0),
                                         SN_POSITIVE,
                                         .fallback = "0",
                                         .automatic = "ten times the material's over the mean edge",
                                         .help = "pressure per depth"},
                                        DERIVED(sn_contact_def, body),
                                        DERIVED(sn_contact_def, shape_count),
                                        DERIVED(sn_contact_def, shapes),
                                        DERIVED(sn_contact_def, other_body),
                                        MARK(sn_contact_def)};
const sn_field_table sn_contact_fields = {
    .name = "contact", .size = sizeof(sn_contact_def), SN_FIELD_ROWS(contact_rows), SN_FIELD_NO_ITEM};

// ---- Defaults

#define DEFAULT(type, fields)                                                                                \
    type type##_default(void) {                                                                              \
        type def;                                                                                            \
        sn_field_defaults(&(fields), &def);                                                                  \
        return def;                                                                                          \
    }

DEFAULT(sn_frame_def, sn_frame_fields)
DEFAULT(sn_shape_def, sn_shape_fields)
DEFAULT(sn_body_def, sn_body_fields)
DEFAULT(sn_pin_def, sn_pin_fields)
DEFAULT(sn_attachment_def, sn_attachment_fields)
DEFAULT(sn_load_def, sn_load_fields)
DEFAULT(sn_spring_def, sn_spring_fields)
DEFAULT(sn_contact_def, sn_contact_fields)
