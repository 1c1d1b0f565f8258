/// The folder of a run: which of its files are ours, and which of them may stay.
///
/// Other people's files are never touched. Ours are known by name: "stats.jsonl" and the like, names with our
/// endings (".surface.npy"), with a frame's number ("arm.000012.vtu"), point caches of the bodies
/// ("arm.pc2"), and all of these with ".tmp" behind them, which is what a killed run leaves of a file that it
/// was writing.
#ifndef SN_IO_RECORDER_FOLDER_H
#define SN_IO_RECORDER_FOLDER_H

#include "base/base_context.h"

/// Endings of the files of a body.
#define SN_SURFACE_NPY   ".surface.npy"
#define SN_SURFACE_OBJ   ".surface.obj"
#define SN_TRIANGLES_NPY ".triangles.npy"
#define SN_NODES_NPY     ".nodes.npy"
#define SN_TETS_NPY      ".tets.npy"

/// Longest part of a file name that a body's name gives.
enum { SN_BODY_FILE_NAME_MAX = 100 };

/// Names of the bodies as they stand in file names.
typedef struct sn_body_names {
    int32_t count;
    char **name; ///< [count]
} sn_body_names;

/// Appends a body's name with letters, digits, "-", "_" and "." only; a number is added where two become
/// alike. There must be room for it.
SN_NODISCARD sn_status sn_body_names_add(sn_context *ctx, sn_body_names *names, const char *body);

/// Makes the folder and those above it. @return SN_OK, SN_ERR_WRITE, SN_ERR_NO_MEMORY.
SN_NODISCARD sn_status sn_folder_make(sn_context *ctx, const char *directory);
/// Keeps other runs out of the folder, until sn_folder_unlock() or the end of the process. *out_lock may
/// become "no lock" (-1), where there is no such folder or its file system knows no locks. @return SN_OK;
/// SN_ERR_WRITE: another run is at work there.
SN_NODISCARD sn_status sn_folder_lock(sn_context *ctx, const char *directory, int *out_lock);
/// Sets *lock to -1. Fine without a lock.
void sn_folder_unlock(int *lock);
/// Sees to it that the folder holds no run: removes an earlier one if `overwrite`, its checkpoint first.
/// @return SN_OK; SN_ERR_INVALID_ARGUMENT: it holds a run that must stay; SN_ERR_WRITE: the message names the
/// file and the reason; SN_ERR_NO_MEMORY.
SN_NODISCARD sn_status sn_folder_clear(sn_context *ctx, const char *directory, const sn_body_names *bodies,
                                       bool overwrite);
/// Removes what a killed run has left beyond its checkpoint: temporary files, and VTU, OBJ and PNG files of
/// frames from `frame_count` on. @return SN_OK, SN_ERR_WRITE, SN_ERR_NO_MEMORY.
SN_NODISCARD sn_status sn_folder_cut(sn_context *ctx, const char *directory, const sn_body_names *bodies,
                                     int32_t frame_count);
/// Removes a file of the folder; fine if there is none. @return SN_OK, SN_ERR_WRITE, SN_ERR_NO_MEMORY.
SN_NODISCARD sn_status sn_folder_remove(sn_context *ctx, const char *directory, const char *name);
/// Whether the folder has a file. @return SN_OK, SN_ERR_NO_MEMORY.
SN_NODISCARD sn_status sn_folder_has(sn_context *ctx, const char *directory, const char *name, bool *out_has);

#endif
