/// Rigid shapes among the results of a run: what pictures of it show besides the bodies.
///
/// Four arrays beside those of the bodies, none without shapes; no body's file can have their names.
///
///     rigid_shapes.npy     int32   [shapes, 4]          kind (sn_shape_kind), 1 for a bone, vertices,
///     triangles rigid_vertices.npy   float64 [vertices, 3]        of all shapes in turn, in their own
///     coordinates; of a
///                                                       plane two rows: a point, and the normal
///     rigid_triangles.npy  int32   [triangles, 3]       likewise, by vertices of their shape; missing if
///     there
///                                                       are planes only
///     rigid_poses.npy      float64 [frames, shapes, 12] rotation, row by row, and translation to the place
#ifndef SN_IO_RIGID_H
#define SN_IO_RIGID_H

#include "io/io_npy.h"
#include "sinew/io.h"

#define SN_RIGID_SHAPES_NPY    "rigid_shapes.npy"
#define SN_RIGID_VERTICES_NPY  "rigid_vertices.npy"
#define SN_RIGID_TRIANGLES_NPY "rigid_triangles.npy"
#define SN_RIGID_POSES_NPY     "rigid_poses.npy"

enum { SN_RIGID_FACTS = 4, SN_RIGID_POSE = 12 }; ///< Columns of shapes and poses.

/// A bone is named after its skeleton and joints, "bones.1-2"; no other name has a point.
bool sn_shape_is_bone(const sn_shape_def *shape);

// ---- Writing

/// The shapes of a run that is being recorded. All zero: none.
typedef struct sn_rigid_record {
    sn_context *ctx;
    const sn_model *model;
    int32_t shape_count;
    double *pose; ///< [shape_count, 12] of a frame
    sn_npy poses;
} sn_rigid_record;

/// Takes memory, and touches no file. On failure sn_rigid_record_release() is due all the same.
SN_NODISCARD sn_status sn_rigid_record_init(sn_rigid_record *record, sn_context *ctx, const sn_model *model);
/// Makes the files.
SN_NODISCARD sn_status sn_rigid_record_open(sn_rigid_record *record, const char *directory);
/// Whether sn_rigid_record_reopen() would find its files as they should be. Changes nothing.
SN_NODISCARD sn_status sn_rigid_record_can_reopen(const sn_rigid_record *record, const char *directory,
                                                  int32_t frame_count);
/// Opens the poses again, cut back to `frame_count` frames.
SN_NODISCARD sn_status sn_rigid_record_reopen(sn_rigid_record *record, const char *directory,
                                              int32_t frame_count);
/// Appends where the shapes are at a time.
SN_NODISCARD sn_status sn_rigid_record_frame(sn_rigid_record *record, double time);
SN_NODISCARD sn_status sn_rigid_record_finish(sn_rigid_record *record);
void sn_rigid_record_release(sn_rigid_record *record);

// ---- Reading

/// A shape as it was read; vertices and triangles are counted through all shapes.
typedef struct sn_rigid_shape {
    bool is_plane, is_bone;
    int32_t vertex_count, triangle_count;
    const double *vertex;    ///< [vertex_count, 3]
    const int32_t *triangle; ///< [triangle_count, 3]
} sn_rigid_shape;

/// The shapes of a run's folder. All zero: none.
typedef struct sn_rigid_results {
    sn_context *ctx;
    int32_t shape_count;
    sn_rigid_shape *shape; ///< [shape_count]
    double *pose;          ///< [shape_count, 12] of the frame that was read last
    double *vertices;
    int32_t *triangles;
    sn_npy_input poses;
} sn_rigid_results;

/// Reads all but the poses; a folder without shapes, as earlier versions filled it, has none. The files may
/// hold anything: what is read is in range and finite, and a plane's normal is not 0.
/// @return SN_OK; SN_ERR_READ: missing beside the others, or damaged; SN_ERR_NO_MEMORY. On error *results is
/// released.
SN_NODISCARD sn_status sn_rigid_results_open(sn_context *ctx, const char *directory,
                                             sn_rigid_results *results);
/// Reads where the shapes are in a frame: results->pose, rotations with an error of 1e-6 at most. Fine
/// without shapes. @return SN_OK; SN_ERR_READ: damaged, or there is no such frame.
SN_NODISCARD sn_status sn_rigid_results_pose(const sn_rigid_results *results, int32_t frame);
/// Fine on released results.
void sn_rigid_results_release(sn_rigid_results *results);

#endif
