/// Poses of moving frames, for the builder and the model alike.
#ifndef SN_SIM_FRAME_H
#define SN_SIM_FRAME_H

#include "sim/sim_model.h"

/// Pose of one of `frames` at time t: x = R X + translation. `frame` may be SN_FRAME_WORLD. Time grows with
/// the number of its ancestors.
void sn_frame_chain_pose(const sn_model_frame *frames, int32_t frame, double time, double R[9],
                         double translation[3]);

/// Rotation matrix of a rotation vector (axis times angle, any angle).
void sn_rotation_of_vector(const double vector[3], double R[9]);

/// Copies a frame's name and keys; `out` is written on success only.
SN_NODISCARD sn_status sn_frame_copy(sn_context *ctx, const sn_model_frame *frame, sn_model_frame *out);
void sn_frame_clear(sn_context *ctx, sn_model_frame *frame);

/// Poses of two frames at every time that matters for the question whether they carry a point apart: all keys
/// of both and of their ancestors, and midway between neighbors.
typedef struct sn_frame_pair {
    int32_t a, b, count;
    double *time; ///< [count]
    double *pose; ///< [count, 2, 12] R and translation of a, then of b
} sn_frame_pair;

/// Makes `pair` hold frames a and b; does nothing if it does already. Start from a zeroed struct.
SN_NODISCARD sn_status sn_frame_pair_set(sn_context *ctx, const sn_model_frame *frames, int32_t a, int32_t b,
                                         sn_frame_pair *pair);
void sn_frame_pair_clear(sn_context *ctx, sn_frame_pair *pair);

#endif
