// Skeletons: a capsule for each bone, a frame for each joint that turns.
//
// A joint with keys gets a frame that turns about the joint's rest place and hangs on the frame of the
// nearest turning joint on the way to the root (forward kinematics). A bone moves with the joint at its end
// nearer to the root.
#include "scene/scene_build.h"

#include "math/math_mat3.h"

#include <stdio.h>
#include <string.h>

typedef struct bone_tree {
    const sn_skeleton *skeleton;
    int32_t reached;
    int32_t *order;     ///< [joint_count] joints from the root outward
    int32_t *parent;    ///< [joint_count] joint nearer to the root; -1: the root, -2: not reached
    sn_frame_id *frame; ///< [joint_count] what carries the bones beyond the joint
} bone_tree;

/// Joint by its label as text, without leading zeros; -1 for none.
static int32_t find_joint(const sn_skeleton *skeleton, const char *label) {
    char text[16];
    for (int32_t j = 0; j < skeleton->joint_count; j++) {
        snprintf(text, sizeof text, "%d", (int)skeleton->label[j]);
        if (strcmp(text, label) == 0)
            return j;
    }
    return -1;
}

static sn_status no_such_joint(const sn_scene_job *job, const sn_skeleton *skeleton, const char *label) {
    char known[256] = "";
    for (int32_t j = 0; j < skeleton->joint_count; j++)
        sn_text_append(known, sizeof known, "%s%d", j ? ", " : "", (int)skeleton->label[j]);
    return sn_fail(job->context, SN_ERR_SCENE, "%.20s: the skeleton has no such joint; allowed: %s", label,
                   known);
}

/// Visits joints from the root outward. Skeletons are small, so every step looks at all bones.
static sn_status grow_tree(const sn_scene_job *job, bone_tree *tree, int32_t root) {
    const sn_skeleton *skeleton = tree->skeleton;
    for (int32_t j = 0; j < skeleton->joint_count; j++)
        tree->parent[j] = -2;
    tree->parent[root] = -1;
    tree->order[tree->reached++] = root;
    for (int32_t i = 0; i < tree->reached; i++)
        for (int32_t b = 0; b < skeleton->bone_count; b++) {
            const int32_t *bone = skeleton->bone + 2 * (size_t)b;
            int32_t here = tree->order[i];
            if (bone[0] != here && bone[1] != here)
                continue;
            int32_t there = bone[0] == here ? bone[1] : bone[0];
            if (there == tree->parent[here])
                continue;
            if (tree->parent[there] != -2)
                return sn_fail(job->context, SN_ERR_SCENE,
                               "the bones close a loop at joint %d; allowed: a tree, so that each bone has "
                               "one end nearer to the root",
                               (int)skeleton->label[there]);
            tree->parent[there] = here;
            tree->order[tree->reached++] = there;
        }
    for (int32_t j = 0; j < skeleton->joint_count; j++)
        if (tree->parent[j] == -2)
            return sn_fail(job->context, SN_ERR_SCENE,
                           "joint %d cannot be reached over bones from the root, joint %d; allowed: a "
                           "connected skeleton",
                           (int)skeleton->label[j], (int)skeleton->label[root]);
    return SN_OK;
}

static sn_status add_joint_frame(sn_scene_job *job, const sn_scene_rigid_item *rigid,
                                 const sn_scene_joint *joint, const double pivot[3], sn_frame_id *frame) {
    sn_status status = SN_OK;
    sn_context *ctx = job->context;
    double *time = NULL, *rotation = NULL;
    char name[160];
    double axis[3];
    sn_unit3(joint->axis, axis);
    SN_TRY_NEW(ctx, time, joint->key_count);
    SN_TRY_NEW(ctx, rotation, 3 * (size_t)joint->key_count);
    for (int32_t i = 0; i < joint->key_count; i++) {
        time[i] = joint->keys[i].time;
        for (size_t k = 0; k < 3; k++)
            rotation[3 * (size_t)i + k] = axis[k] * joint->keys[i].angle;
    }
    snprintf(name, sizeof name, "%s.%s", rigid->name, joint->name);
    sn_frame_def def = sn_frame_def_default();
    def.name = name;
    def.parent = *frame;
    def.interpolation = rigid->interpolation;
    def.key_count = joint->key_count;
    def.time = time;
    def.rotation = rotation;
    memcpy(def.pivot, pivot, sizeof def.pivot);
    SN_TRY(sn_model_add_frame(job->builder, &def, frame));
cleanup:
    SN_RELEASE(ctx, time);
    SN_RELEASE(ctx, rotation);
    return status;
}

static const sn_scene_joint *keys_of(const sn_scene_rigid_item *rigid, const sn_skeleton *skeleton,
                                     int32_t joint) {
    for (int32_t i = 0; i < rigid->joint_count; i++)
        if (find_joint(skeleton, rigid->joints[i].name) == joint)
            return &rigid->joints[i];
    return NULL;
}

static sn_status add_frames(sn_scene_job *job, const sn_scene_rigid_item *rigid, bone_tree *tree) {
    sn_status status = SN_OK;
    const sn_skeleton *skeleton = tree->skeleton;
    sn_frame_id base = {0, 0};
    SN_TRY(sn_scene_blame(job, sn_scene_add_motion(job, rigid, &base), sn_scene_place(rigid->node, "motion"),
                          "rigid.%s.motion", rigid->name));
    for (int32_t i = 0; i < tree->reached; i++) {
        int32_t j = tree->order[i];
        const sn_scene_joint *joint = keys_of(rigid, skeleton, j);
        tree->frame[j] = tree->parent[j] < 0 ? base : tree->frame[tree->parent[j]];
        if (joint)
            SN_TRY(sn_scene_blame(
                job, add_joint_frame(job, rigid, joint, skeleton->position + 3 * (size_t)j, &tree->frame[j]),
                joint->node, "rigid.%s.joints.%s", rigid->name, joint->name));
    }
cleanup:
    return status;
}

static sn_status add_bones(sn_scene_job *job, int32_t index, const bone_tree *tree) {
    sn_status status = SN_OK;
    const sn_scene_rigid_item *rigid = &job->scene->content.rigids[index];
    const sn_skeleton *skeleton = tree->skeleton;
    char name[160];
    for (int32_t b = 0; b < skeleton->bone_count; b++) {
        const int32_t *bone = skeleton->bone + 2 * (size_t)b;
        int32_t near = tree->parent[bone[1]] == bone[0] ? bone[0] : bone[1], far = bone[0] + bone[1] - near;
        sn_shape_def def = rigid->shape;
        def.kind = SN_SHAPE_CAPSULE;
        def.frame = tree->frame[near];
        def.radius = rigid->radius;
        memcpy(def.point, skeleton->position + 3 * (size_t)near, sizeof def.point);
        memcpy(def.point2, skeleton->position + 3 * (size_t)far, sizeof def.point2);
        snprintf(name, sizeof name, "%s.%d-%d", rigid->name, (int)skeleton->label[near],
                 (int)skeleton->label[far]);
        SN_TRY(sn_scene_blame(job, sn_scene_add_part(job, index, name, &def), rigid->node, "rigid.%s",
                              rigid->name));
    }
cleanup:
    return status;
}

/// Joints of the scene must be joints of the skeleton.
static sn_status check_joints(const sn_scene_job *job, const sn_scene_rigid_item *rigid,
                              const sn_skeleton *skeleton) {
    sn_status status = SN_OK;
    for (int32_t i = 0; i < rigid->joint_count && status == SN_OK; i++) {
        if (find_joint(skeleton, rigid->joints[i].name) < 0)
            status = sn_scene_blame(job, no_such_joint(job, skeleton, rigid->joints[i].name),
                                    rigid->joints[i].node, "rigid.%s.joints", rigid->name);
    }
    return status;
}

static sn_status load_skeleton(const sn_scene_job *job, const sn_scene_rigid_item *rigid,
                               sn_skeleton **out_skeleton) {
    sn_status status = SN_OK;
    sn_context *ctx = job->context;
    char *path = NULL;
    sn_mesh_data *data = NULL;
    sn_skeleton *skeleton = NULL;
    bool from_file = rigid->source == SN_RIGID_SKELETON;
    if (from_file) {
        SN_TRY(sn_scene_file(job, rigid->skeleton, &path));
        SN_TRY(sn_skeleton_read(ctx, path, &skeleton));
    } else
        SN_TRY(sn_mesh_make(ctx, &rigid->make, &data, &skeleton));
    if (!skeleton) {
        status = sn_fail(ctx, SN_ERR_SCENE, "this shape has no bones; allowed: arm");
        goto cleanup;
    }
    sn_scene_transform(rigid, from_file ? job->scene->units.scale[SN_UNIT_LENGTH] : 1, skeleton->joint_count,
                       skeleton->position);
    *out_skeleton = skeleton;
    skeleton = NULL;
cleanup:
    sn_mesh_data_destroy(&data);
    sn_skeleton_destroy(&skeleton);
    SN_RELEASE(ctx, path);
    return status;
}

sn_status sn_scene_add_skeleton(sn_scene_job *job, int32_t index) {
    sn_status status = SN_OK;
    sn_context *ctx = job->context;
    const sn_scene_rigid_item *rigid = &job->scene->content.rigids[index];
    const char *key = rigid->source == SN_RIGID_SKELETON ? "skeleton" : "make";
    const sn_node *place = sn_scene_place(rigid->node, key);
    sn_skeleton *skeleton = NULL;
    bone_tree tree = {0};
    SN_TRY(sn_scene_blame(job, load_skeleton(job, rigid, &skeleton), place, "rigid.%s.%s", rigid->name, key));
    SN_TRY(check_joints(job, rigid, skeleton));
    tree.skeleton = skeleton;
    SN_TRY_NEW(ctx, tree.order, skeleton->joint_count);
    SN_TRY_NEW(ctx, tree.parent, skeleton->joint_count);
    SN_TRY_NEW_ZEROED(ctx, tree.frame, skeleton->joint_count);
    char label[16];
    snprintf(label, sizeof label, "%d", (int)rigid->root);
    int32_t root = rigid->root < 0 ? 0 : find_joint(skeleton, label);
    if (root < 0)
        SN_TRY(sn_scene_blame(job, no_such_joint(job, skeleton, label), sn_scene_place(rigid->node, "root"),
                              "rigid.%s.root", rigid->name));
    SN_TRY(sn_scene_blame(job, grow_tree(job, &tree, root), place, "rigid.%s.%s", rigid->name, key));
    SN_TRY(add_frames(job, rigid, &tree));
    SN_TRY(add_bones(job, index, &tree));
cleanup:
    SN_RELEASE(ctx, tree.order);
    SN_RELEASE(ctx, tree.parent);
    SN_RELEASE(ctx, tree.frame);
    sn_skeleton_destroy(&skeleton);
    return status;
}
