#include "sim/sim_frame.h"

#include "math/math_mat3.h"

#include <stdlib.h>
#include <string.h>

/// Rotation vectors are parallel when the sine of their angle is below this: keys in degrees of one axis
/// reach 1e-16.
static const double PARALLEL_SINE = 1e-9;

typedef struct quaternion {
    double w, v[3];
} quaternion;

static quaternion quaternion_of_vector(const double vector[3]) {
    double angle = sn_norm3(vector);
    // sin(angle / 2) / angle, with its limit: exact to rounding below the threshold.
    double scale = angle > 1e-8 ? sin(angle / 2) / angle : 0.5;
    return (quaternion){cos(angle / 2), {scale * vector[0], scale * vector[1], scale * vector[2]}};
}

static void matrix_of_quaternion(const quaternion *q, double R[9]) {
    double w = q->w, x = q->v[0], y = q->v[1], z = q->v[2];
    double s = 2 / (w * w + x * x + y * y + z * z);
    R[0] = 1 - s * (y * y + z * z), R[1] = s * (x * y - w * z), R[2] = s * (x * z + w * y);
    R[3] = s * (x * y + w * z), R[4] = 1 - s * (x * x + z * z), R[5] = s * (y * z - w * x);
    R[6] = s * (x * z - w * y), R[7] = s * (y * z + w * x), R[8] = 1 - s * (x * x + y * y);
}

void sn_rotation_of_vector(const double vector[3], double R[9]) {
    quaternion q = quaternion_of_vector(vector);
    matrix_of_quaternion(&q, R);
}

static bool are_parallel(const double a[3], const double b[3]) {
    double normal[3];
    sn_cross3(a, b, normal);
    return sn_norm3(normal) <= PARALLEL_SINE * sn_norm3(a) * sn_norm3(b);
}

/// Spherical interpolation on the shorter arc.
static quaternion slerp(const quaternion *a, const quaternion *b, double u) {
    double cosine = a->w * b->w + sn_dot3(a->v, b->v), sign = cosine < 0 ? -1 : 1;
    double angle = acos(fmin(1, fabs(cosine))), sine = sin(angle);
    // For nearly equal rotations the straight line is the arc to rounding.
    double wa = sine > 1e-8 ? sin((1 - u) * angle) / sine : 1 - u;
    double wb = sign * (sine > 1e-8 ? sin(u * angle) / sine : u);
    quaternion q = {wa * a->w + wb * b->w, {0}};
    for (int i = 0; i < 3; i++)
        q.v[i] = wa * a->v[i] + wb * b->v[i];
    return q;
}

static void rotation_between(const double a[3], const double b[3], double u, double R[9]) {
    if (are_parallel(a, b)) {
        double vector[3];
        for (int i = 0; i < 3; i++)
            vector[i] = (1 - u) * a[i] + u * b[i];
        sn_rotation_of_vector(vector, R);
        return;
    }
    quaternion qa = quaternion_of_vector(a), qb = quaternion_of_vector(b), q = slerp(&qa, &qb, u);
    matrix_of_quaternion(&q, R);
}

/// Key before (or at) the time, and how far it is to the next one, eased.
static int32_t find_key(const sn_model_frame *frame, double time, double *out_u) {
    int32_t low = 0, high = frame->key_count - 1;
    *out_u = 0;
    if (!(time > frame->time[0]))
        return 0;
    if (time >= frame->time[high])
        return high;
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (frame->time[middle] <= time)
            low = middle;
        else
            high = middle;
    }
    double u = (time - frame->time[low]) / (frame->time[high] - frame->time[low]);
    *out_u = frame->interpolation == SN_INTERPOLATION_SMOOTH ? u * u * (3 - 2 * u) : u;
    return low;
}

/// Pose of a frame relative to its parent.
static void local_pose(const sn_model_frame *frame, double time, double R[9], double translation[3]) {
    if (frame->key_count == 0) {
        memcpy(R, (const double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1}, 9 * sizeof *R);
        memset(translation, 0, 3 * sizeof *translation);
        return;
    }
    double u, turned[3];
    int32_t key = find_key(frame, time, &u), next = key + 1 < frame->key_count ? key + 1 : key;
    rotation_between(frame->rotation + 3 * key, frame->rotation + 3 * next, u, R);
    sn_mul3(R, frame->pivot, turned);
    for (int i = 0; i < 3; i++)
        translation[i] = frame->pivot[i] - turned[i] + (1 - u) * frame->translation[3 * key + i] +
                         u * frame->translation[3 * next + i];
}

/// Puts a parent's pose in front of a pose.
static void compose(const double parent_R[9], const double parent_translation[3], double R[9],
                    double translation[3]) {
    double own_R[9], own_translation[3];
    memcpy(own_R, R, sizeof own_R);
    memcpy(own_translation, translation, sizeof own_translation);
    sn_mul33(parent_R, own_R, R);
    sn_mul3(parent_R, own_translation, translation);
    for (int i = 0; i < 3; i++)
        translation[i] += parent_translation[i];
}

void sn_frame_chain_pose(const sn_model_frame *frames, int32_t frame, double time, double R[9],
                         double translation[3]) {
    memcpy(R, (const double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1}, 9 * sizeof *R);
    memset(translation, 0, 3 * sizeof *translation);
    for (int32_t f = frame; f != SN_FRAME_WORLD; f = frames[f].parent) {
        double parent_R[9], parent_translation[3];
        local_pose(&frames[f], time, parent_R, parent_translation);
        compose(parent_R, parent_translation, R, translation);
    }
}

void sn_frame_pose(const sn_model *model, int32_t frame, double time, double R[9], double translation[3]) {
    sn_frame_chain_pose(model->frames, frame, time, R, translation);
}

void sn_frame_poses(const sn_model *model, double time, double *R, double *translation) {
    for (int32_t f = 0; f < model->frame_count; f++) {
        int32_t parent = model->frames[f].parent;
        local_pose(&model->frames[f], time, R + 9 * f, translation + 3 * f);
        if (parent != SN_FRAME_WORLD)
            compose(R + 9 * parent, translation + 3 * parent, R + 9 * f, translation + 3 * f);
    }
}

sn_status sn_frame_copy(sn_context *ctx, const sn_model_frame *frame, sn_model_frame *out) {
    sn_status status = SN_OK;
    size_t keys = (size_t)frame->key_count;
    sn_model_frame copy = *frame;
    copy.name = NULL, copy.time = copy.translation = copy.rotation = NULL;
    SN_TRY(sn_new_text(ctx, frame->name, &copy.name));
    SN_TRY(sn_new_copy(ctx, frame->time, keys, sizeof(double), (void **)&copy.time));
    SN_TRY(sn_new_copy(ctx, frame->translation, 3 * keys, sizeof(double), (void **)&copy.translation));
    SN_TRY(sn_new_copy(ctx, frame->rotation, 3 * keys, sizeof(double), (void **)&copy.rotation));
    *out = copy;
    return SN_OK;
cleanup:
    sn_frame_clear(ctx, &copy);
    return status;
}

void sn_frame_clear(sn_context *ctx, sn_model_frame *frame) {
    SN_RELEASE(ctx, frame->name);
    SN_RELEASE(ctx, frame->time);
    SN_RELEASE(ctx, frame->translation);
    SN_RELEASE(ctx, frame->rotation);
}

static int compare_times(const void *a, const void *b) {
    double ta = *(const double *)a, tb = *(const double *)b;
    return (ta > tb) - (ta < tb);
}

static int32_t chain_key_count(const sn_model_frame *frames, int32_t frame) {
    int32_t count = 0;
    for (int32_t f = frame; f != SN_FRAME_WORLD; f = frames[f].parent)
        count += frames[f].key_count;
    return count;
}

static int32_t append_chain_times(const sn_model_frame *frames, int32_t frame, int32_t count, double *time) {
    for (int32_t f = frame; f != SN_FRAME_WORLD; f = frames[f].parent)
        for (int32_t k = 0; k < frames[f].key_count; k++)
            time[count++] = frames[f].time[k];
    return count;
}

/// Sorts `count` > 0 times, drops repeats and inserts midpoints; `time` has room for twice as many. Returns
/// the new count.
static int32_t refine_times(int32_t count, double *time) {
    qsort(time, (size_t)count, sizeof *time, compare_times);
    int32_t kept = 1;
    for (int32_t i = 1; i < count; i++)
        if (time[i] > time[kept - 1])
            time[kept++] = time[i];
    for (int32_t i = kept - 1; i > 0; i--) {
        double middle = time[i - 1] + (time[i] - time[i - 1]) / 2;
        time[2 * i] = time[i];
        time[2 * i - 1] = middle;
    }
    return 2 * kept - 1;
}

sn_status sn_frame_pair_set(sn_context *ctx, const sn_model_frame *frames, int32_t a, int32_t b,
                            sn_frame_pair *pair) {
    sn_status status = SN_OK;
    double *time = NULL, *pose = NULL;
    if (pair->pose && pair->a == a && pair->b == b)
        return SN_OK;
    int32_t keys = chain_key_count(frames, a) + chain_key_count(frames, b), count = 1;
    SN_TRY_NEW(ctx, time, 2 * (size_t)keys + 1);
    time[0] = 0;
    if (keys > 0)
        count =
            refine_times(append_chain_times(frames, b, append_chain_times(frames, a, 0, time), time), time);
    SN_TRY_NEW(ctx, pose, 24 * (size_t)count);
    for (int32_t i = 0; i < count; i++) {
        double *place = pose + 24 * (size_t)i;
        sn_frame_chain_pose(frames, a, time[i], place, place + 9);
        sn_frame_chain_pose(frames, b, time[i], place + 12, place + 21);
    }
    sn_frame_pair_clear(ctx, pair);
    *pair = (sn_frame_pair){a, b, count, time, pose};
    return SN_OK;
cleanup:
    SN_RELEASE(ctx, time);
    SN_RELEASE(ctx, pose);
    return status;
}

void sn_frame_pair_clear(sn_context *ctx, sn_frame_pair *pair) {
    SN_RELEASE(ctx, pair->time);
    SN_RELEASE(ctx, pair->pose);
}
