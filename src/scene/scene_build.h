/// From a scene to a model: what the parts of the building share.
#ifndef SN_SCENE_BUILD_H
#define SN_SCENE_BUILD_H

#include "scene/scene_def.h"

/// A rigid shape that has been added: the bones of a skeleton are one each.
typedef struct sn_scene_part {
    char *name;    ///< "floor", or "bones.1-2"
    int32_t rigid; ///< index into the scene's rigid things
    sn_shape_id shape;
    sn_frame_id frame; ///< None: still.
} sn_scene_part;

/// What a contact of the scene is between; no body as long as it has not been added.
typedef struct sn_scene_sides {
    sn_body_id body, other; ///< other: none if it is a rigid thing
    const char *rigid;      ///< the scene's; NULL if it is a body
} sn_scene_sides;

typedef struct sn_scene_job {
    const sn_scene *scene;
    sn_context *context;
    sn_model_builder *builder;
    sn_body_id *bodies; ///< [body_count]
    sn_scene_part *parts;
    size_t part_count, part_capacity;
    sn_scene_sides *sides; ///< [contact_count]
} sn_scene_job;

/// Puts "file:line: path: " in front of the message of a failed call and makes a scene's error of a caller's
/// mistake. `node` may be NULL: `item` then; `path` is a format.
SN_NODISCARD sn_status sn_scene_blame(const sn_scene_job *job, sn_status status, const sn_node *node,
                                      const char *format, ...) SN_PRINTF(4, 5);

/// Place of a key in an item, or of the item if the key is not given.
const sn_node *sn_scene_place(const sn_node *item, const char *key);

/// Adds a shape under a name of its own and takes it over into the list of parts.
SN_NODISCARD sn_status sn_scene_add_part(sn_scene_job *job, int32_t rigid, const char *name,
                                         const sn_shape_def *shape);

/// Whether a part is what `name` means: itself, or a bone of the skeleton `name`.
bool sn_scene_is_meant(const sn_scene_job *job, const sn_scene_part *part, const char *name);

/// The first contact added that holds a body and a part; NULL if there is none.
const sn_scene_contact_item *sn_scene_contact_of(const sn_scene_job *job, sn_body_id body,
                                                 const sn_scene_part *part);

/// The first contact added that is between two bodies; NULL if there is none.
const sn_scene_contact_item *sn_scene_contact_of_bodies(const sn_scene_job *job, sn_body_id body,
                                                        sn_body_id other);

/// Full path of a file that the scene names; to be released with sn_release().
SN_NODISCARD sn_status sn_scene_file(const sn_scene_job *job, const char *path, char **out_path);

/// Adds the frame of a rigid thing's motion; none if it holds still.
SN_NODISCARD sn_status sn_scene_add_motion(sn_scene_job *job, const sn_scene_rigid_item *rigid,
                                           sn_frame_id *out_frame);

/// x = rotate(scale x) + translation, for `count` points.
void sn_scene_transform(const sn_scene_rigid_item *rigid, double unit, int32_t count, double *x);

/// Adds frames and capsules for the skeleton that `rigid` names.
SN_NODISCARD sn_status sn_scene_add_skeleton(sn_scene_job *job, int32_t index);

/// Adds a body: loads or makes its mesh, fills it, gives it its materials.
SN_NODISCARD sn_status sn_scene_add_body(sn_scene_job *job, int32_t index);

/// Logs what is allowed but rarely meant, and refuses what no step could solve.
SN_NODISCARD sn_status sn_scene_review(const sn_scene_job *job, const sn_model *model);

#endif
