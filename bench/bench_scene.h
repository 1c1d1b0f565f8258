/// The scene that steps are measured on: a block of body-centered cubic tets that stands on a plane, with a
/// ball pressed into its top.
#ifndef SN_BENCH_SCENE_H
#define SN_BENCH_SCENE_H

#include "sinew/sinew.h"
#include "sparse/sparse_csr.h"

typedef struct bench_scene_def {
    int32_t cells[3]; ///< Of the lattice; those along x are the most. The block is 1 m long.
    int32_t threads;
    sn_precision precision;
    sn_solver_def solver;
} bench_scene_def;

typedef struct bench_scene {
    sn_context *context;
    sn_model *model;
    sn_stepper *stepper;
    sn_state *state;
} bench_scene;

/// Builds the scene at time 0, with the ball about to touch; it is down BENCH_SCENE_PRESS seconds later. What
/// a failure leaves must be destroyed too; its message is the context's.
#define BENCH_SCENE_PRESS 0.1
SN_NODISCARD sn_status bench_scene_create(const bench_scene_def *def, bench_scene *scene);
void bench_scene_destroy(bench_scene *scene);

/// The matrix that a step of h seconds factors while nothing touches. Release with sn_csr_destroy().
SN_NODISCARD sn_status bench_scene_matrix(const bench_scene *scene, double h, sn_csr *out_matrix);

#endif
