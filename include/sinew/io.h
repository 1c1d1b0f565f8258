/// Files: mesh and skeleton readers and writers, and the recorder that turns a simulation into results.
#ifndef SINEW_IO_H
#define SINEW_IO_H

#include "sinew/base.h"
#include "sinew/mesh.h"
#include "sinew/model.h"
#include "sinew/state.h"
#include "sinew/step.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Reads a mesh: Wavefront OBJ, Medit .mesh (ascii), Gmsh MSH 2.2 (ascii). The format is taken from the
/// content, then from the name. Vertices keep their order and number. Cells of other kinds are skipped and
/// noted in out_data->note.
/// @return SN_OK; SN_ERR_READ: missing, unreadable, not a mesh or damaged; the message names file, line, what
/// was found and what was expected.
SN_API SN_NODISCARD sn_status sn_mesh_data_read(sn_context *context, const char *path,
                                                sn_mesh_data **out_data);

/// Writes a mesh in the format that the ending of `path` names: .obj, .mesh, .msh. Written to a temporary
/// name, then renamed. Numbers read back to the same bits. .mesh and .msh cut polygons into fans of triangles
/// and leave texture coordinates out; .mesh turns groups into reference numbers. @return SN_OK; SN_ERR_WRITE:
/// the file is as it was; SN_ERR_INVALID_ARGUMENT: unknown ending, indices out of range, or cells that the
/// format cannot hold (tets in .obj).
SN_API SN_NODISCARD sn_status sn_mesh_data_write(const sn_mesh_data *data, const char *path);

/// Reads a skeleton in Trivial Graph Format: "label x y z ...", "#", "from to". Further numbers of a line are
/// ignored.
/// @return SN_OK; SN_ERR_READ with file, line and reason (no joints, unknown joint in an edge, duplicate
/// label).
SN_API SN_NODISCARD sn_status sn_skeleton_read(sn_context *context, const char *path,
                                               sn_skeleton **out_skeleton);
/// Writes a skeleton in Trivial Graph Format, under a temporary name, then renamed. Numbers read back to the
/// same bits. @return SN_OK; SN_ERR_WRITE: the file is as it was; SN_ERR_INVALID_ARGUMENT: no joints, or a
/// bone names one that does not exist.
SN_API SN_NODISCARD sn_status sn_skeleton_write(const sn_skeleton *skeleton, const char *path);

/// What a run writes. Start from sn_output_def_default().
typedef struct sn_output_def {
    bool player;       ///< player.html, one self-contained page. Default true.
    bool npy;          ///< Float <body>.surface.npy and double <body>.nodes.npy [frames, vertices, 3],
                       ///< with int32 <body>.triangles.npy and <body>.tets.npy, their cells. Default true.
    int32_t vtu_every; ///< A .vtu per body every so many frames, with a .pvd; 0: none. Default 0.
    bool vtu_volume;   ///< VTU holds the tets; false: the surface. Default true.
    bool field_strain; ///< Colors and VTU arrays. Default true.
    bool field_displacement; ///< Default true.
    uint32_t mark;
} sn_output_def;

/// The defaults, with the mark.
SN_API sn_output_def sn_output_def_default(void);

/// Facts about a run that only the caller knows, for summary.json and the player's title.
typedef struct sn_run_info {
    const char *scene_path; ///< As the user gave it.
    double setup_seconds;   ///< From start to the first step.
    double frame_seconds;   ///< Simulated time per frame in s, > 0.
    int32_t frame_total;    ///< Frames planned, for the player's buffers; the first state not counted.
} sn_run_info;

/// Writes the results of a run into a folder, frame by frame.
typedef struct sn_recorder sn_recorder;

/// Makes the folder `directory` (which must not hold an earlier run unless `overwrite`), and opens the files.
/// @return SN_OK; SN_ERR_WRITE with path and reason; SN_ERR_INVALID_ARGUMENT.
SN_API SN_NODISCARD sn_status sn_recorder_create(sn_context *context, const sn_model *model,
                                                 const char *directory, bool overwrite,
                                                 const sn_output_def *def, const sn_run_info *run,
                                                 sn_recorder **out_recorder);

/// Records a state. The first call is the start (frame 0) with info NULL; later calls add a line to
/// stats.jsonl too.
/// @return SN_OK; SN_ERR_WRITE: the frame may be missing in some files.
SN_API SN_NODISCARD sn_status sn_recorder_frame(sn_recorder *recorder, const sn_state *state,
                                                const sn_step_info *info);

/// Writes summary.json, player.html, the .pvd and the final headers. The recorder then takes no more frames.
/// @return SN_OK; SN_ERR_WRITE: some of these files may be missing; SN_ERR_INVALID_ARGUMENT: no frame yet, or
/// finished before.
SN_API SN_NODISCARD sn_status sn_recorder_finish(sn_recorder *recorder, const sn_state *state);

/// Closes all files; without sn_recorder_finish() the growing files stay as they are.
SN_API void sn_recorder_destroy(sn_recorder **recorder);

#ifdef __cplusplus
}
#endif
#endif
