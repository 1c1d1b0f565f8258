/// Matrices to factor: the scalar P1 Laplacian of tet meshes with some inertia, as projective dynamics needs
/// them, with a patch of surface nodes and a region of nodes that change.
#ifndef SN_BENCH_MATRIX_H
#define SN_BENCH_MATRIX_H

#include "bench.h"

#include "sinew/factor.h"
#include "sparse/sparse_csr.h"

enum { BENCH_REGION = 100 };

typedef enum bench_mesh_kind {
    BENCH_KUHN,    ///< Kuhn block of cells[0] x cells[1] x cells[2]
    BENCH_BCC_BOX, ///< BCC lattice in a box of cells[0] x cells[1] x cells[2]
    BENCH_LATTICE, ///< BCC lattice of cells[0] around the closed surface `file` of shared/data
    BENCH_FILE     ///< tet mesh `file` of shared/data
} bench_mesh_kind;

typedef struct bench_matrix_def {
    bench_mesh_kind kind;
    int32_t cells[3];
    const char *file;
    bool drop_zeros;
} bench_matrix_def;

typedef struct bench_matrix {
    sn_context *context;
    sn_csr a;
    int32_t patch_count;
    int32_t *patch; ///< [patch_count] surface nodes in the order of a walk that starts in the middle of the
                    ///< top: the first m of them are a patch
    int32_t zone_count;
    int32_t *
        zone; ///< [zone_count] nodes around another place, under the surface if the body is not thin, nearest
              ///< first, where cuts may come; the first BENCH_REGION of them are the region that changes
} bench_matrix;

/// Makes a matrix. Returns false, after a line on stderr unless `*out_missing`, if the mesh cannot be had;
/// *out_missing tells whether just its file is not there.
bool bench_matrix_create(const bench_matrix_def *def, bench_matrix *out_matrix, bool *out_missing);
void bench_matrix_destroy(bench_matrix *matrix);

sn_factor_matrix bench_matrix_view(const bench_matrix *matrix);

#endif
