/// The folder of a run opened for reading: inside of sn_results.
///
/// Which bodies there are is known by their <body>.surface.npy; names, texture coordinates and groups come
/// from <body>.surface.obj, times from stats.jsonl. A frame counts when all files have it, so that a run that
/// was stopped, or goes on meanwhile, can be read as well.
#ifndef SN_IO_RESULTS_H
#define SN_IO_RESULTS_H

#include "io/io_npy.h"
#include "io/io_recorder_folder.h"
#include "sinew/io.h"

typedef struct sn_results_file {
    sn_npy_input surface;
    char *name;
    int32_t triangle_count;
    int32_t *triangles;
    sn_surface_look look;
} sn_results_file;

struct sn_results {
    sn_context *ctx;
    char *directory;
    sn_body_names stems;   ///< What stands before the endings of the bodies' files, in order.
    sn_body_names names;   ///< The same, fit for names of further files.
    sn_results_file *body; ///< [stems.count]
    int32_t frame_count, frames_planned;
    bool finished;
    double *time; ///< [frame_count]
    size_t time_capacity;
};

#endif
