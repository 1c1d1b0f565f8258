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

/// Reads a mesh: Wavefront OBJ, STL, PLY, OFF, VTK (legacy and .vtu), TetGen, Abaqus .inp, Vega .veg, Medit
/// .mesh (ascii), Gmsh MSH 2.2 and 4.1; docs/formats.md says what of each. The format is taken from the
/// content, then from the name. Vertices keep their order and number (those of STL, which has none, are
/// joined where they are equal). Cells of other kinds are skipped and noted in out_data->note.
/// @return SN_OK; SN_ERR_READ: missing, unreadable, not a mesh or damaged; the message names file, line
/// (byte, in binary files), what was found and what was expected.
SN_API SN_NODISCARD sn_status sn_mesh_data_read(sn_context *context, const char *path,
                                                sn_mesh_data **out_data);

/// Writes a mesh in the format that the ending of `path` names: .obj, .stl, .ply, .vtk, .vtu, .mesh, .msh,
/// .node, .ele or .face (TetGen: all three files), .inp (a deck for CalculiX). Written to a temporary name,
/// then renamed. Numbers read back to the same bits, but for .stl, which holds floats, and .inp, of 13
/// digits. What a format cannot hold is left out: docs/formats.md says what that is.
/// @return SN_OK; SN_ERR_WRITE: the file is as it was; SN_ERR_INVALID_ARGUMENT: unknown ending, indices out
/// of range, no tets or triangles for .inp, or tets in a format of surfaces (.obj, .stl, .ply).
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

/// A place or thing whose course a run writes to probes.csv: a point of a body (places and velocities), or a
/// rigid shape (the force and moment that bodies exert on it by contact).
typedef struct sn_probe_def {
    const char *name;
    const char *body;  ///< NULL: `rigid` is given.
    const char *rigid; ///< Name of a shape; NULL: `body` is given.
    double point[3];   ///< Rest place in m; outside of the body, the nearest place inside.
} sn_probe_def;

/// What the surfaces of a preview are colored by.
typedef enum sn_preview_color {
    SN_PREVIEW_PLAIN = 0,       ///< Each body has a color.
    SN_PREVIEW_STRAIN = 1,      ///< SN_QUANTITY_STRAIN
    SN_PREVIEW_DISPLACEMENT = 2 ///< SN_QUANTITY_DISPLACEMENT
} sn_preview_color;

/// What a run writes. Start from sn_output_def_default().
typedef struct sn_output_def {
    bool player;       ///< player.html, one self-contained page. Default true.
    bool npy;          ///< Float <body>.surface.npy and double <body>.nodes.npy [frames, vertices, 3],
                       ///< with int32 <body>.triangles.npy and <body>.tets.npy, their cells. Default true.
    bool pc2;          ///< <body>.pc2, the surface as a point cache of all frames. Default false.
    bool mdd;          ///< <body>.mdd, the same for other programs. These four are written where the run
                       ///< ends, from the NPY files, as sn_results_export() does. Default false.
    bool glb;          ///< frames.glb, glTF with morph targets. Default false.
    bool usda;         ///< frames.usda, USD with time samples. Default false.
    bool npz;          ///< frames.npz, all arrays in one file. Default false.
    bool contacts;     ///< contacts.csv, a line per contact and frame. Default false.
    int32_t obj_every; ///< An .obj of the surface per body every so many frames; 0: none. Default 0.
    int32_t vtu_every; ///< A .vtu per body every so many frames, with a .pvd and a .vtu.series; 0: none.
                       ///< Default 0.
    int32_t preview_every;  ///< A picture, frame.<number>.png, every so many frames; 0: none. Default 0.
    int32_t preview_width;  ///< Pixels, 1 to 8192. Default 960.
    int32_t preview_height; ///< Pixels, 1 to 8192. Default 540.
    sn_preview_color preview_color; ///< Default plain.
    double preview_range;     ///< Value at the upper end of the colors, >= 0, in m for displacements; 0: what
                              ///< 99.5 % of the frame's values do not exceed. Default 0.
    double preview_view[3];   ///< Direction to the camera, any length; 0: the player's first view. Default 0.
    int32_t checkpoint_every; ///< checkpoint.bin is renewed every so many frames; 0: at the end only.
                              ///< Default 1.
    int32_t probe_count;
    const sn_probe_def *probes; ///< [probe_count], read while the recorder is made.
    bool vtu_volume;            ///< VTU holds the tets; false: the surface. Default true.
    bool field_strain;          ///< Colors and VTU arrays. Default true.
    bool field_displacement;    ///< Default true.
    uint32_t mark;
} sn_output_def;

/// The defaults, with the mark.
SN_API sn_output_def sn_output_def_default(void);

/// Facts about a run that only the caller knows.
typedef struct sn_run_info {
    const char *scene_path; ///< As the user gave it, for summary.json and the player's title. NULL: "".
    double setup_seconds;   ///< From start to the first step.
    double frame_seconds;   ///< Simulated time per frame in s, > 0.
    int32_t frame_total;    ///< Frames planned, for the player's buffers; the first state not counted.
    int32_t substeps;       ///< Steps a frame; a resumed run must have as many.
    const sn_stepper_def *stepper; ///< Likewise how they are made; read during the call. NULL: not known.
} sn_run_info;

/// Writes the results of a run into a folder, frame by frame.
typedef struct sn_recorder sn_recorder;

/// Makes the folder `directory`, and opens the files.
/// @return SN_OK; SN_ERR_WRITE with path and reason; SN_ERR_INVALID_ARGUMENT, also where the folder holds an
/// earlier run and not `overwrite`: that run stays.
SN_API SN_NODISCARD sn_status sn_recorder_create(sn_context *context, const sn_model *model,
                                                 const char *directory, bool overwrite,
                                                 const sn_output_def *def, const sn_run_info *run,
                                                 sn_recorder **out_recorder);

/// Goes on with the run that `directory` holds, from its checkpoint: restores `state`, cuts files that grew
/// beyond the checkpoint back to it, removes VTU, OBJ and PNG files of later frames, and tells the number of
/// frames done. The next call is sn_recorder_frame() with the next frame's info, or sn_recorder_finish(). All
/// files become the same, but for times and the machine, as if the run had not stopped. `def` and `run` must
/// be those of the first call, but for def->checkpoint_every, run->setup_seconds and run->frame_total.
/// @return SN_OK; SN_ERR_READ: no checkpoint, a damaged one, or one of another model, time step, stepper, set
/// of outputs or version (the message says which); SN_ERR_WRITE; SN_ERR_INVALID_ARGUMENT; SN_ERR_NO_MEMORY.
/// On error the state is unchanged, and nothing is lost of what the checkpoint holds.
SN_API SN_NODISCARD sn_status sn_recorder_resume(sn_context *context, const sn_model *model,
                                                 const char *directory, const sn_output_def *def,
                                                 const sn_run_info *run, sn_state *state,
                                                 int32_t *out_frame_count, sn_recorder **out_recorder);

/// Records a state. The first call is the start (frame 0) with info NULL; later calls add a line to
/// stats.jsonl too. Renews checkpoint.bin as the definition says, when all other files have the frame.
/// @return SN_OK; SN_ERR_WRITE, SN_ERR_NO_MEMORY: the frame may be missing in some files, and the recorder
/// takes no more: the run can go on from its checkpoint (sn_recorder_resume()). SN_ERR_INVALID_ARGUMENT:
/// nothing is written.
SN_API SN_NODISCARD sn_status sn_recorder_frame(sn_recorder *recorder, const sn_state *state,
                                                const sn_step_info *info);

/// Writes player.html, the .pvd and .vtu.series, summary.json, and last a checkpoint, unless all of these
/// stand there since the resumed run ended. The recorder then takes no more frames.
/// @param[in] state  As it was recorded last.
/// @return SN_OK; SN_ERR_WRITE: some of these files may be missing, and the run can be resumed to write them;
/// SN_ERR_INVALID_ARGUMENT: no frame yet, one that failed, or finished before.
SN_API SN_NODISCARD sn_status sn_recorder_finish(sn_recorder *recorder, const sn_state *state);

/// How many frames were recorded, with those before the run was resumed, and what was with them.
typedef struct sn_run_totals {
    int32_t frames;                     ///< Without the start.
    int32_t converged, budget, stalled; ///< By status.
    int32_t inverted;                   ///< With inverted tets.
    int32_t dropped;                    ///< With contacts that found no room.
} sn_run_totals;
/// Totals of the run so far, frames from before a resume included.
SN_API sn_run_totals sn_recorder_totals(const sn_recorder *recorder);

/// Closes all files; without sn_recorder_finish() the growing files stay as they are.
SN_API void sn_recorder_destroy(sn_recorder **recorder);

// ---- Results

/// The results of a run, read from the folder that it filled: any that was made with sn_output_def.npy,
/// finished, stopped or still growing. Positions stay in their files until they are asked for. One thread at
/// a time may use it.
typedef struct sn_results sn_results;

/// Opens the folder of a run. @return SN_OK; SN_ERR_READ: no such folder, no run in it, one without NPY files
/// or without a whole frame, or files that do not fit together (the message names the file);
/// SN_ERR_INVALID_ARGUMENT: NULL or an empty name; SN_ERR_NO_MEMORY. On error *out_results is unchanged.
SN_API SN_NODISCARD sn_status sn_results_open(sn_context *context, const char *directory,
                                              sn_results **out_results);
/// Closes the files and sets *results to NULL. Accepts NULL and a pointer to NULL.
SN_API void sn_results_close(sn_results **results);

/// What a folder of results holds.
typedef struct sn_results_info {
    int32_t body_count;
    int32_t frame_count;    ///< That are whole in all files, with the start.
    int32_t frames_planned; ///< Without the start; -1: not known, for the run has not ended.
    bool finished;          ///< All frames that were planned are there.
    const double *time;     ///< [frame_count] in s. Belongs to the results.
} sn_results_info;
/// Facts about the results, not NULL, as they were when they were opened.
SN_API sn_results_info sn_results_get_info(const sn_results *results);

/// The surface of a body. Pointers belong to the results.
typedef struct sn_results_body {
    const char *name;      ///< As the scene calls it, where the folder tells it.
    const char *file_name; ///< The same as it stands in names of files.
    int32_t vertex_count, triangle_count;
    const int32_t *triangles; ///< [triangle_count, 3] vertices; outward
    sn_surface_look look;     ///< Texture coordinates and groups of the triangles.
} sn_results_body;
/// A body of results, not NULL, by its index, in the order of the names of their files; all zero if there is
/// none.
SN_API sn_results_body sn_results_get_body(const sn_results *results, int32_t body_index);

/// Reads the surface of a body in a frame: out_positions [vertex_count, 3] in m.
/// @return SN_OK; SN_ERR_READ: unreadable, or numbers that are not finite, and out_positions holds anything;
/// SN_ERR_INVALID_ARGUMENT: NULL, or no such body or frame, and it is unchanged.
SN_API SN_NODISCARD sn_status sn_results_positions(const sn_results *results, int32_t body_index,
                                                   int32_t frame, float *out_positions);

/// Limits of sn_export_def.
enum { SN_EXPORT_MAX_PIXELS = 8192, SN_EXPORT_MAX_TARGETS = 65535 };

/// How results are exported. Start from sn_export_def_default().
typedef struct sn_export_def {
    const char *directory; ///< Where the files go, made if it is missing; not that of the run. NULL: the
                           ///< folder "export" in that of the run.
    const char *body;      ///< By its name, or as in names of files; NULL: all of them.
    int32_t frame_first, frame_last; ///< Default 0 and -1: the last one there is.
    int32_t frame_step;              ///< 1: every frame (default); 2: every other one, and so on.
    int32_t glb_targets;             ///< Morph targets of a .glb, one a frame beside the first: more frames
                                     ///< are thinned out evenly, with a warning. 1 to SN_EXPORT_MAX_TARGETS.
                                     ///< Default 200.
    int32_t png_width, png_height;   ///< Pixels of a .png, 1 to SN_EXPORT_MAX_PIXELS. Default 960
                                     ///< and 540.
    bool y_up; ///< What .glb, .usda and .png take for up: z is (false, the default) or y. Places stay as they
               ///< are.
    uint32_t mark;
} sn_export_def;

/// The defaults, with the mark.
SN_API sn_export_def sn_export_def_default(void);

/// Name of a format by its index from 0, "mdd" for one; NULL behind the last. @param[out] out_help One line;
/// may be NULL.
SN_API const char *sn_export_format(int32_t index, const char **out_help);

/// Writes results in a format. Files are written to a temporary name, then renamed; their content depends on
/// the results and the definition alone. Memory: a frame or two, and some bytes for every frame; pictures
/// take some frames and a band of samples a thread.
/// @param[out] out_files  How many files were written; may be NULL. Unchanged on error.
/// @return SN_OK; SN_ERR_INVALID_ARGUMENT: unknown format, body or frames, too large for the format, or the
/// folder of the run; SN_ERR_READ; SN_ERR_WRITE; SN_ERR_NO_MEMORY. On error files that were finished before
/// stay, and those that were not reached are as they were.
SN_API SN_NODISCARD sn_status sn_results_export(const sn_results *results, const char *format,
                                                const sn_export_def *def, int32_t *out_files);

#ifdef __cplusplus
}
#endif
#endif
