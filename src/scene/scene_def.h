/// What a scene file says, as structs, and their field tables. Texts and lists belong to the scene's pool.
///
/// Where a public definition exists, its struct and its table (from the module that owns it) are used as they
/// are; here stand only the parts that files have and definitions have not: names, paths, places.
#ifndef SN_SCENE_DEF_H
#define SN_SCENE_DEF_H

#include "base/base_field.h"
#include "scene/scene_node.h"
#include "sinew/scene.h"

typedef enum sn_length_unit {
    SN_LENGTH_M,
    SN_LENGTH_CM,
    SN_LENGTH_MM,
    SN_LENGTH_KM,
    SN_LENGTH_IN,
    SN_LENGTH_FT
} sn_length_unit;
typedef enum sn_mass_unit { SN_MASS_KG, SN_MASS_G, SN_MASS_T } sn_mass_unit;
typedef enum sn_time_unit { SN_TIME_S, SN_TIME_MS } sn_time_unit;
typedef enum sn_angle_unit { SN_ANGLE_DEG, SN_ANGLE_RAD } sn_angle_unit;

typedef struct sn_scene_units {
    sn_length_unit length;
    sn_mass_unit mass;
    sn_time_unit time;
    sn_angle_unit angle;
} sn_scene_units;

/// The factors and names of chosen units.
sn_field_units sn_scene_units_of(const sn_scene_units *chosen);

typedef enum sn_scene_rate { SN_RATE_NONE, SN_RATE_FPS, SN_RATE_STEP } sn_scene_rate;

typedef struct sn_scene_time_section {
    int32_t rate; ///< sn_scene_rate
    double fps, step;
    int32_t frames, substeps;
    sn_stepper_def stepper; ///< Its solver is read from the section `solver`.
} sn_scene_time_section;

typedef struct sn_scene_material_item {
    const char *name;
    const sn_node *node;
    sn_material_def def;
} sn_scene_material_item;

typedef enum sn_scene_shell { SN_SHELL_MESH, SN_SHELL_MAKE } sn_scene_shell;

typedef struct sn_scene_body_item {
    const char *name;
    const sn_node *node;
    int32_t source; ///< sn_scene_shell
    const char *mesh;
    sn_make_def make;
    int32_t embedded; ///< 1: `embed` is given.
    sn_lattice_def embed;
    int32_t material_count;
    sn_field_named *materials; ///< [material_count] region and name of its material
    sn_body_def def;
} sn_scene_body_item;

/// A key of a motion.
typedef struct sn_scene_key {
    double time, move[3], rotate[3];
} sn_scene_key;

typedef struct sn_scene_motion {
    sn_frame_def def; ///< Pivot and interpolation.
    int32_t key_count;
    sn_scene_key *keys;
} sn_scene_motion;

typedef struct sn_scene_joint_key {
    double time, angle;
} sn_scene_joint_key;

typedef struct sn_scene_joint {
    const char *name; ///< The joint's label.
    const sn_node *node;
    double axis[3];
    int32_t key_count;
    sn_scene_joint_key *keys;
} sn_scene_joint;

/// Goes on from sn_shape_kind.
enum { SN_RIGID_SKELETON = SN_SHAPE_MESH + 1, SN_RIGID_MAKE, SN_RIGID_SURFACE };

typedef struct sn_scene_rigid_item {
    const char *name;
    const sn_node *node;
    int32_t source; ///< sn_shape_kind, or one of the above
    sn_shape_def shape;
    const char *mesh, *skeleton;
    sn_make_def make;                          ///< Of skeleton or surface.
    double scale, rotation[3], translation[3]; ///< Of meshes and skeletons.
    double radius;                             ///< Of bones.
    int32_t root;                              ///< Label of the root joint; -1: the first.
    sn_interpolation interpolation;            ///< Of joints.
    int32_t joint_count;
    sn_scene_joint *joints;
    int32_t moves; ///< 1: `motion` is given.
    sn_scene_motion motion;
} sn_scene_rigid_item;

typedef struct sn_scene_pin_item {
    const sn_node *node;
    const char *body, *to;
    sn_selection select;
    sn_pin_def def;
} sn_scene_pin_item;

typedef struct sn_scene_attachment_item {
    const sn_node *node;
    const char *body;
    int32_t to_count;
    const char **to;
    sn_attachment_def def;
} sn_scene_attachment_item;

typedef enum sn_scene_holder { SN_HOLDER_BODY, SN_HOLDER_RIGID, SN_HOLDER_WORLD } sn_scene_holder;

/// An end of a spring.
typedef struct sn_scene_end {
    int32_t holder; ///< sn_scene_holder
    const char *body, *rigid;
    bool world;
    double point[3];
} sn_scene_end;

typedef struct sn_scene_spring_item {
    const sn_node *node;
    sn_scene_end from, to;
    sn_spring_def def;
} sn_scene_spring_item;

typedef struct sn_scene_load_item {
    const sn_node *node;
    const char *body;
    sn_selection select;
    sn_load_def def;
} sn_scene_load_item;

typedef struct sn_scene_zone_item {
    const sn_node *node;
    const char *body;
    sn_selection select;
} sn_scene_zone_item;

typedef struct sn_scene_contact_item {
    const sn_node *node;
    const char *between[2]; ///< A body and a rigid thing, in any order.
    sn_contact_def def;
} sn_scene_contact_item;

typedef struct sn_scene_probe_item {
    const sn_node *node;
    int32_t holder; ///< sn_scene_holder: SN_HOLDER_BODY or SN_HOLDER_RIGID
    sn_probe_def def;
} sn_scene_probe_item;

typedef struct sn_scene_output_section {
    sn_output_def def; ///< Its probes are copies of those below.
    int32_t probe_count;
    sn_scene_probe_item *probes;
} sn_scene_output_section;

/// A whole scene file.
typedef struct sn_scene_content {
    int32_t version;
    sn_scene_units units;
    sn_scene_time_section time;
    double gravity[3];
    int32_t material_count, body_count, rigid_count, pin_count, attachment_count, spring_count, load_count,
        contact_count, zone_count;
    sn_scene_material_item *materials;
    sn_scene_body_item *bodies;
    sn_scene_rigid_item *rigids;
    sn_scene_pin_item *pins;
    sn_scene_attachment_item *attachments;
    sn_scene_spring_item *springs;
    sn_scene_load_item *loads;
    sn_scene_contact_item *contacts;
    sn_scene_zone_item *zones;
    sn_scene_output_section output;
} sn_scene_content;

extern const sn_field_table sn_scene_fields, sn_scene_units_fields;

struct sn_scene {
    sn_context *context;
    sn_scene_pool pool;
    char *name, *folder; ///< File name for messages; where relative paths start.
    char **overrides;
    sn_scene_source source;
    sn_node *root;
    sn_field_units units;
    sn_scene_content content;
};

#endif
