#include "mesh/mesh_pattern.h"

#include "base/base_context.h"

#include <string.h>

static int32_t signed_volume(int32_t corner[4][3]) {
    int32_t e[3][3];
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 3; c++)
            e[i][c] = corner[i + 1][c] - corner[0][c];
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
           e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

static void orient(int32_t corner[4][3]) {
    if (signed_volume(corner) > 0)
        return;
    int32_t swap[3];
    memcpy(swap, corner[2], sizeof swap);
    memcpy(corner[2], corner[3], sizeof swap);
    memcpy(corner[3], swap, sizeof swap);
}

/// Six paths from the low corner of the cube to the high one, an axis at a time.
static void make_kuhn(sn_lattice_pattern *pattern) {
    for (int first = 0; first < 3; first++)
        for (int turn = 1; turn < 3; turn++) {
            int32_t(*corner)[3] = pattern->corner[pattern->tet_count++];
            int axis[3] = {first, (first + turn) % 3, (first + 2 * turn) % 3};
            for (int step = 0; step < 3; step++) {
                memcpy(corner[step + 1], corner[step], sizeof corner[step]);
                corner[step + 1][axis[step]] = 2;
            }
            orient(corner);
        }
    pattern->node_kinds = 1;
    pattern->reach = 2;
}

/// Around the three high faces of the cube: four tets a face, of the two centers beside it and one edge of
/// it.
static void make_bcc(sn_lattice_pattern *pattern) {
    for (int axis = 0; axis < 3; axis++)
        for (int side = 0; side < 4; side++) {
            int32_t(*corner)[3] = pattern->corner[pattern->tet_count++];
            int u = (axis + 1) % 3, v = (axis + 2) % 3;
            for (int c = 0; c < 3; c++)
                corner[0][c] = corner[1][c] = 1;
            corner[1][axis] = 3;
            corner[2][axis] = corner[3][axis] = 2;
            // Corners of the face in turn: (0,0) (2,0) (2,2) (0,2).
            for (int end = 0; end < 2; end++) {
                int place = (side + end) % 4;
                corner[2 + end][u] = place == 1 || place == 2 ? 2 : 0;
                corner[2 + end][v] = place >= 2 ? 2 : 0;
            }
            orient(corner);
        }
    pattern->node_kinds = 2;
    pattern->reach = 3;
}

/// Whether tet `b`, moved by `shift` cells, has the node at `point`.
static bool has_node(int32_t b[4][3], const int32_t shift[3], const int32_t point[3]) {
    for (int i = 0; i < 4; i++)
        if (b[i][0] + 2 * shift[0] == point[0] && b[i][1] + 2 * shift[1] == point[1] &&
            b[i][2] + 2 * shift[2] == point[2])
            return true;
    return false;
}

/// The corner of `a` that the shifted tet `b` lacks, if they share a face; else -1.
static int shared_face(int32_t a[4][3], int32_t b[4][3], const int32_t shift[3]) {
    int missing = -1, lacks = 0;
    for (int i = 0; i < 4; i++)
        if (!has_node(b, shift, a[i])) {
            missing = i;
            lacks++;
        }
    return lacks == 1 ? missing : -1;
}

static void find_neighbors(sn_lattice_pattern *pattern) {
    for (int32_t place = 0; place < 27; place++) {
        int32_t shift[3] = {place % 3 - 1, place / 3 % 3 - 1, place / 9 - 1};
        for (int32_t t = 0; t < pattern->tet_count; t++)
            for (int32_t other = 0; other < pattern->tet_count; other++) {
                int face = shared_face(pattern->corner[t], pattern->corner[other], shift);
                if (face < 0)
                    continue;
                memcpy(pattern->across[t][face], shift, sizeof shift);
                pattern->across[t][face][3] = other;
            }
    }
}

sn_lattice_pattern sn_lattice_pattern_make(sn_lattice_kind kind) {
    sn_lattice_pattern pattern = {0};
    if (kind == SN_LATTICE_KUHN)
        make_kuhn(&pattern);
    else
        make_bcc(&pattern);
    find_neighbors(&pattern);
    return pattern;
}
