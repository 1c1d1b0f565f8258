// Copies of a lattice's tets, one for each piece of solid, joined where their pieces go through a face.
#include "base/base_parallel.h"
#include "geom/geom_predicate.h"
#include "math/math_mat3.h"
#include "mesh/mesh_lattice_clip.h"
#include "mesh/mesh_topology.h"

#include <string.h>

/// A face as seen from the tet with the lower number, and the same face of the other one.
typedef struct shared_face {
    int32_t cell, t, face;
    int32_t other_cell, other_t, other_face;
    int32_t tet, other; ///< Numbers among the kept tets.
} shared_face;

/// Which face of a tet, and which corners, are those of its neighbors.
typedef struct face_match {
    int32_t face[SN_PATTERN_TETS_MAX][4];
    int32_t corner[SN_PATTERN_TETS_MAX][4][4]; ///< Of the neighbor; -1 for the one opposite.
} face_match;

static face_match match_faces(const sn_lattice_pattern *pattern) {
    face_match match;
    for (int32_t t = 0; t < pattern->tet_count; t++)
        for (int f = 0; f < 4; f++) {
            const int32_t *across = pattern->across[t][f];
            int32_t all = 0;
            for (int i = 0; i < 4; i++) {
                match.corner[t][f][i] = -1;
                for (int j = 0; j < 4; j++) {
                    const int32_t *a = pattern->corner[t][i], *b = pattern->corner[across[3]][j];
                    if (a[0] == b[0] + 2 * across[0] && a[1] == b[1] + 2 * across[1] &&
                        a[2] == b[2] + 2 * across[2])
                        match.corner[t][f][i] = j;
                }
                all += match.corner[t][f][i] < 0 ? 0 : match.corner[t][f][i];
            }
            // The corners of the neighbor's face sum to 0 + 1 + 2 + 3 without the one opposite.
            match.face[t][f] = 6 - all;
        }
    return match;
}

/// The tet across a face, if it is kept and has the higher number.
static bool find_across(const sn_lattice *l, const face_match *match, int32_t cell, int32_t t, int32_t face,
                        shared_face *out) {
    int32_t place[3];
    const int32_t *across = l->pattern.across[t][face];
    sn_lattice_place(l, cell, place);
    for (int c = 0; c < 3; c++)
        place[c] += across[c];
    int32_t other = sn_lattice_cell(l, place);
    if (other < cell || (other == cell && across[3] < t) || !(l->kept[other] >> across[3] & 1))
        return false;
    *out = (shared_face){.cell = cell, .t = t, .face = face, .other_cell = other, .other_t = across[3]};
    out->other_face = match->face[t][face];
    out->tet = sn_lattice_tet(l, cell, t);
    out->other = sn_lattice_tet(l, other, across[3]);
    return true;
}

/// Corners of a face; the last one stands twice, so that it is a tet without thickness.
static void face_corners(const sn_lattice *l, const shared_face *s, double corner[12]) {
    double tet[12];
    int32_t place[3];
    sn_lattice_place(l, s->cell, place);
    sn_lattice_corners(l, place, s->t, tet);
    for (int i = 0; i < 4; i++)
        memcpy(corner + 3 * i, tet + 3 * sn_tet_faces[s->face][i < 3 ? i : 2], 3 * sizeof *corner);
}

static bool face_inside(const sn_lattice *l, const shared_face *s) {
    double corner[12], middle[3];
    face_corners(l, s, corner);
    for (int c = 0; c < 3; c++)
        middle[c] = (corner[c] + corner[3 + c] + corner[6 + c]) / 3;
    return sn_winding_inside(l->winding, middle);
}

/// Called with the labels in the two tets of a triangle that passes their face; returns whether to go on.
typedef bool visit_passing(void *user, uint8_t label, uint8_t other_label);

static bool passes_face(const sn_lattice *l, int32_t triangle, const double face[12]) {
    double corner[9];
    for (int i = 0; i < 3; i++)
        memcpy(corner + 3 * i, sn_lattice_vertex(l, triangle, i), 3 * sizeof *corner);
    return sn_triangle_meets_tet(corner, face, SN_PASS_TOLERANCE);
}

/// Finds the triangles that touch both tets, and of these the ones that touch their face.
static void visit_face(const sn_lattice *l, const shared_face *s, visit_passing *visit, void *user) {
    double face[12];
    int32_t i = l->touch_begin[s->cell], j = l->touch_begin[s->other_cell];
    face_corners(l, s, face);
    while (i < l->touch_begin[s->cell + 1] && j < l->touch_begin[s->other_cell + 1]) {
        int32_t a = l->touch_triangle[i], b = l->touch_triangle[j];
        if (a == b && l->touch_mask[i] >> s->t & 1 && l->touch_mask[j] >> s->other_t & 1 &&
            passes_face(l, a, face) &&
            !visit(user, *sn_lattice_label(l, i, s->t), *sn_lattice_label(l, j, s->other_t)))
            return;
        i += a <= b;
        j += b <= a;
    }
}

/// Stops at a triangle that bounds pieces of both tets.
static bool note_passing(void *user, uint8_t label, uint8_t other_label) {
    bool *passed = user;
    *passed = label != SN_PIECE_NONE && other_label != SN_PIECE_NONE;
    return !*passed;
}

// ---- Faces between touched tets

typedef struct open_job {
    const sn_lattice *l;
    const face_match *match;
    uint8_t *open; ///< [kept tets] one bit a face: the solid goes through
} open_job;

static bool is_touched(const sn_lattice *l, int32_t cell, int32_t t) {
    return l->touched[cell] >> t & 1;
}

/// For tets of one piece each.
static bool is_open(const sn_lattice *l, const shared_face *s) {
    bool passed = false;
    visit_face(l, s, note_passing, &passed);
    return passed || face_inside(l, s);
}

static void open_layers(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    open_job *job = data;
    const sn_lattice *l = job->l;
    int32_t layer = l->n[0] * l->n[1];
    shared_face s;
    for (int32_t cell = begin * layer; cell < end * layer; cell++)
        for (int32_t i = 0; i < 4 * l->pattern.tet_count && l->touched[cell]; i++)
            if (is_touched(l, cell, i / 4) && find_across(l, job->match, cell, i / 4, i % 4, &s) &&
                is_touched(l, s.other_cell, s.other_t) && is_open(l, &s))
                job->open[s.tet] |= (uint8_t)(1 << s.face);
}

// ---- Joining

typedef struct join_job {
    const sn_lattice *l;
    const face_match *match;
    const shared_face *at;
    int32_t *set; ///< [copies, 4] corners
    bool joined;  ///< The solid has been found to go through the face.
} join_job;

static void join_copies(join_job *job, int32_t piece, int32_t other_piece) {
    const shared_face *s = job->at;
    int32_t a = 4 * (job->l->copy_begin[s->tet] + piece),
            b = 4 * (job->l->copy_begin[s->other] + other_piece);
    for (int i = 0; i < 4; i++) {
        int32_t corner = job->match->corner[s->t][s->face][i];
        if (corner >= 0)
            sn_set_join(job->set, a + i, b + corner);
    }
    job->joined = true;
}

static bool join_passing(void *user, uint8_t label, uint8_t other_label) {
    if (label != SN_PIECE_NONE && other_label != SN_PIECE_NONE)
        join_copies(user, label, other_label);
    return true;
}

static bool is_proven(uint8_t piece) {
    return piece < SN_PIECE_NONE;
}

/// Joins the pieces of two tets of which one has several. What is seen to hold the middle of the face in
/// both tets is one; a tet of one piece holds it if the other one does.
static void join_pieces(join_job *job) {
    const sn_lattice *l = job->l;
    const shared_face *s = job->at;
    bool several = l->piece_count[s->tet] > 1, other_several = l->piece_count[s->other] > 1, passed = false;
    uint8_t piece = several ? l->face_piece[4 * (size_t)s->tet + (size_t)s->face] : 0,
            other = other_several ? l->face_piece[4 * (size_t)s->other + (size_t)s->other_face] : 0;
    if (is_touched(l, s->cell, s->t) && is_touched(l, s->other_cell, s->other_t)) {
        visit_face(l, s, note_passing, &passed);
        visit_face(l, s, join_passing, job);
    }
    if (is_proven(piece) && is_proven(other))
        join_copies(job, piece, other);
    // Nothing sees the middle, but the whole face is solid: the nearest pieces hold it.
    if (!job->joined && !passed && face_inside(l, s))
        join_copies(job, piece & ~SN_PIECE_GUESS, other & ~SN_PIECE_GUESS);
}

static void join_face(join_job *job, const uint8_t *open) {
    const sn_lattice *l = job->l;
    const shared_face *s = job->at;
    job->joined = false;
    if (l->piece_count[s->tet] > 1 || l->piece_count[s->other] > 1)
        join_pieces(job);
    else if (!is_touched(l, s->cell, s->t) || !is_touched(l, s->other_cell, s->other_t) ||
             open[s->tet] >> s->face & 1)
        join_copies(job, 0, 0);
}

/// Sets of corners that are one node.
static void join_corners(const sn_lattice *l, const face_match *match, const uint8_t *open, int32_t *set) {
    shared_face s;
    join_job job = {.l = l, .match = match, .at = &s, .set = set};
    for (int32_t i = 0; i < 4 * l->copy_begin[l->tet_begin[l->cell_count]]; i++)
        set[i] = i;
    for (int32_t cell = 0; cell < l->cell_count; cell++)
        for (int32_t i = 0; i < 4 * l->pattern.tet_count && l->kept[cell]; i++)
            if (l->kept[cell] >> (i / 4) & 1 && find_across(l, match, cell, i / 4, i % 4, &s))
                join_face(&job, open);
}

// ---- Twins

static uint8_t map_label(const uint8_t *map, uint8_t label) {
    uint8_t piece = label & (uint8_t)~SN_PIECE_GUESS;
    return piece == SN_PIECE_NONE ? label : map[piece] | (label & SN_PIECE_GUESS);
}

/// New labels of a tet's pieces: copies with the same four nodes are one. Returns how many are left.
static int32_t find_twins(const sn_lattice *l, int32_t *set, int32_t tet, uint8_t *map) {
    int32_t left = 0, pieces = l->piece_count[tet];
    for (int32_t i = 0; i < pieces; i++) {
        int32_t twin = 0;
        for (; twin < i; twin++) {
            int same = 0;
            for (int k = 0; k < 4; k++)
                same += sn_set_find(set, 4 * (l->copy_begin[tet] + i) + k) ==
                        sn_set_find(set, 4 * (l->copy_begin[tet] + twin) + k);
            if (same == 4)
                break;
        }
        map[i] = twin < i ? map[twin] : (uint8_t)left++;
    }
    return left;
}

/// Makes pieces one that move as one: joined by all the corners of their tet. Returns whether there were any.
static bool merge_twins(const sn_lattice *l, int32_t *set) {
    bool found = false;
    for (int32_t cell = 0; cell < l->cell_count; cell++)
        for (int32_t t = 0; t < l->pattern.tet_count && l->touched[cell]; t++) {
            uint8_t map[SN_PIECES_MAX + 1];
            if (!is_touched(l, cell, t))
                continue;
            int32_t tet = sn_lattice_tet(l, cell, t), pieces = l->piece_count[tet];
            if (pieces == 1 || find_twins(l, set, tet, map) == pieces)
                continue;
            found = true;
            for (int32_t i = l->touch_begin[cell]; i < l->touch_begin[cell + 1]; i++)
                if (l->touch_mask[i] >> t & 1)
                    *sn_lattice_label(l, i, t) = map_label(map, *sn_lattice_label(l, i, t));
            for (size_t f = 4 * (size_t)tet; f < 4 * (size_t)tet + 4; f++)
                l->face_piece[f] = map_label(map, l->face_piece[f]);
            l->center_piece[tet] = map_label(map, l->center_piece[tet]);
            l->piece_count[tet] = (uint8_t)find_twins(l, set, tet, map);
        }
    return found;
}

// ---- Nodes

/// Number of a node in the block: by place, corners before centers.
static int32_t node_key(const sn_lattice *l, const int32_t place[3], const int32_t corner[3]) {
    int32_t kind = corner[0] & 1, at[3];
    for (int c = 0; c < 3; c++)
        at[c] = place[c] + (corner[c] >> 1);
    return ((at[2] * (l->n[1] + 1) + at[1]) * (l->n[0] + 1) + at[0]) * l->pattern.node_kinds + kind;
}

static void node_position(const sn_lattice *l, int32_t key, double position[3]) {
    int32_t kind = key % l->pattern.node_kinds, at = key / l->pattern.node_kinds, row = l->n[0] + 1;
    int32_t place[3] = {at % row, at / row % (l->n[1] + 1), at / row / (l->n[1] + 1)};
    for (int c = 0; c < 3; c++)
        position[c] = l->origin[c] + l->half * (2 * place[c] + kind);
}

/// Keys of the corners of all copies.
static void collect_keys(const sn_lattice *l, int32_t *key) {
    int32_t place[3], *next = key;
    for (int32_t cell = 0; cell < l->cell_count; cell++) {
        sn_lattice_place(l, cell, place);
        for (int32_t t = 0; t < l->pattern.tet_count && l->kept[cell]; t++) {
            if (!(l->kept[cell] >> t & 1))
                continue;
            int32_t tet = sn_lattice_tet(l, cell, t);
            for (int32_t copy = l->copy_begin[tet]; copy < l->copy_begin[tet + 1]; copy++)
                for (int i = 0; i < 4; i++)
                    *next++ = node_key(l, place, l->pattern.corner[t][i]);
        }
    }
}

/// Numbers the sets of corners as nodes: by place, those at one place in the order of their first tets.
static sn_status number_nodes(const sn_lattice *l, int32_t *set, sn_mesh *mesh) {
    sn_status status = SN_OK;
    int32_t *key = NULL, *next = NULL;
    size_t corners = 4 * (size_t)mesh->tet_count;
    size_t keys = (size_t)(l->n[0] + 1) * (l->n[1] + 1) * (l->n[2] + 1) * (size_t)l->pattern.node_kinds;
    SN_TRY_NEW(l->context, key, corners);
    SN_TRY_NEW_ZEROED(l->context, next, keys + 1);
    collect_keys(l, key);
    for (size_t i = 0; i < corners; i++)
        if (set[i] == (int32_t)i)
            next[key[i] + 1]++;
    for (size_t k = 0; k < keys; k++)
        next[k + 1] += next[k];
    mesh->node_count = next[keys];
    SN_TRY_NEW(l->context, mesh->position, 3 * (size_t)mesh->node_count);
    // Roots come before the others of their sets.
    for (size_t i = 0; i < corners; i++) {
        int32_t root = sn_set_find(set, (int32_t)i);
        if (root == (int32_t)i) {
            mesh->tet[i] = next[key[i]]++;
            node_position(l, key[i], mesh->position + 3 * (size_t)mesh->tet[i]);
        } else {
            mesh->tet[i] = mesh->tet[root];
        }
    }
cleanup:
    SN_RELEASE(l->context, key);
    SN_RELEASE(l->context, next);
    return status;
}

static sn_status count_copies(sn_lattice *l) {
    int32_t tets = l->tet_begin[l->cell_count];
    int64_t copies = 0;
    for (int32_t tet = 0; tet <= tets; tet++) {
        l->copy_begin[tet] = (int32_t)copies;
        copies += tet < tets ? l->piece_count[tet] : 0;
        if (copies > INT32_MAX / 4)
            return sn_fail(l->context, SN_ERR_INVALID_ARGUMENT,
                           "the lattice has more than %d tetrahedra; use fewer cells", INT32_MAX / 4);
    }
    return SN_OK;
}

// ---- Solid parts

/// How much of the solid part of a tet its pieces' triangles hide from a place in it, by copies of the tet.
typedef struct part_job {
    const sn_lattice *l;
    sn_clip_tet tet[SN_PATTERN_TETS_MAX];
    double *fraction; ///< [copies]
} part_job;

/// A place in the tet that is far from the planes of all triangles in it.
static void choose_eye(const sn_lattice *l, const sn_clip_tet *tet, int32_t cell, int32_t t, double eye[3]) {
    static const double weight[][4] = {{0.25, 0.25, 0.25, 0.25},
                                       {0.31, 0.23, 0.27, 0.19},
                                       {0.22, 0.33, 0.17, 0.28},
                                       {0.29, 0.18, 0.32, 0.21}};
    double best = -1;
    int32_t place[3];
    sn_lattice_place(l, cell, place);
    for (int k = 0; k < 4; k++) {
        double point[3] = {0}, nearest = INFINITY;
        for (int i = 0; i < 12; i++)
            point[i % 3] += weight[k][i / 3] * tet->corner[i];
        for (int32_t i = l->touch_begin[cell]; i < l->touch_begin[cell + 1]; i++) {
            sn_fragment fragment;
            double way[3];
            if (!(l->touch_mask[i] >> t & 1))
                continue;
            sn_fragment_load(l, place, i, &fragment);
            sn_sub3(point, fragment.corner, way);
            if (sn_dot3(fragment.normal, fragment.normal) > 0)
                nearest = fmin(nearest, fabs(sn_dot3(fragment.normal, way)));
        }
        if (nearest > best) {
            best = nearest;
            memcpy(eye, point, sizeof point);
        }
    }
}

/// Adds the shadows of a tet's fragments to their pieces.
static void add_shadows(const part_job *job, int32_t cell, int32_t t, const double eye[3], double *part) {
    const sn_lattice *l = job->l;
    int32_t place[3];
    sn_lattice_place(l, cell, place);
    for (int32_t i = l->touch_begin[cell]; i < l->touch_begin[cell + 1]; i++) {
        sn_fragment fragment;
        if (!(l->touch_mask[i] >> t & 1))
            continue;
        uint8_t label = *sn_lattice_label(l, i, t);
        sn_fragment_load(l, place, i, &fragment);
        sn_fragment_clip(&job->tet[t], &fragment);
        if (label != SN_PIECE_NONE)
            part[label] += sn_fragment_shadow(&job->tet[t], &fragment, eye) / job->tet[t].volume;
    }
}

/// Solid parts of a touched tet's pieces. The eye is in a piece or not: if all of the tet that is hidden were
/// of the other kind, the sum of the shadows would say so by its sign.
static void measure_tet(const part_job *job, int32_t cell, int32_t t) {
    enum { SURE_PERCENT = 1 };
    const sn_lattice *l = job->l;
    int32_t tet = sn_lattice_tet(l, cell, t), place[3], pieces = l->piece_count[tet];
    double eye[3], global[3], part[SN_PIECES_MAX + 1] = {0};
    choose_eye(l, &job->tet[t], cell, t, eye);
    add_shadows(job, cell, t, eye, part);
    sn_lattice_place(l, cell, place);
    for (int c = 0; c < 3; c++)
        global[c] = eye[c] + 2.0 * place[c];
    double number = pieces == 1 ? rint(sn_winding_number(l->winding, global)) : 0;
    for (int32_t i = 0; i < pieces; i++) {
        bool holds_eye = part[i] < -0.01 * SURE_PERCENT ||
                         (part[i] < 0.01 * SURE_PERCENT && (l->center_piece[tet] & ~SN_PIECE_GUESS) == i &&
                          sn_winding_inside(l->winding, global));
        double solid = part[i] + (pieces == 1 ? number : holds_eye);
        job->fraction[l->copy_begin[tet] + i] = fmin(1, fmax(SN_TET_FRACTION_LEAST, solid));
    }
}

static void measure_layers(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    const part_job *job = data;
    const sn_lattice *l = job->l;
    int32_t layer = l->n[0] * l->n[1];
    for (int32_t cell = begin * layer; cell < end * layer; cell++)
        for (int32_t t = 0; t < l->pattern.tet_count && l->touched[cell]; t++)
            if (is_touched(l, cell, t))
                measure_tet(job, cell, t);
}

static sn_status measure_parts(const sn_lattice *l, sn_mesh *mesh) {
    sn_status status = SN_OK;
    part_job job = {.l = l};
    for (int32_t t = 0; t < l->pattern.tet_count; t++)
        job.tet[t] = sn_clip_tet_make(l, t);
    SN_TRY_NEW(l->context, mesh->fraction, mesh->tet_count);
    for (int32_t i = 0; i < mesh->tet_count; i++)
        mesh->fraction[i] = 1;
    job.fraction = mesh->fraction;
    sn_parallel_for(l->context, l->n[2], SN_LAYER_GRAIN, measure_layers, &job);
cleanup:
    return status;
}

// ---- Which of the copies a place belongs to

/// Puts the sides of a split tet at the end of the list; with no list it only counts.
static void add_sides(const sn_lattice *l, int32_t cell, int32_t t, sn_tet_copies *copies) {
    int32_t tet = sn_lattice_tet(l, cell, t), first = l->copy_begin[tet];
    for (int32_t touch = l->touch_begin[cell]; touch < l->touch_begin[cell + 1]; touch++) {
        uint8_t label = l->touch_mask[touch] >> t & 1 ? *sn_lattice_label(l, touch, t) : SN_PIECE_NONE;
        if (label == SN_PIECE_NONE)
            continue;
        sn_tet_side *side = copies->side ? &copies->side[copies->count] : NULL;
        for (int i = 0; side && i < 9; i++)
            side->corner[i] =
                l->origin[i % 3] + l->half * sn_lattice_vertex(l, l->touch_triangle[touch], i / 3)[i % 3];
        if (side)
            side->first = first, side->copy = first + label;
        copies->count++;
    }
}

static void add_all_sides(const sn_lattice *l, sn_tet_copies *copies) {
    copies->count = 0;
    for (int32_t cell = 0; cell < l->cell_count; cell++)
        for (int32_t t = 0; t < l->pattern.tet_count && l->touched[cell]; t++)
            if (is_touched(l, cell, t) && l->piece_count[sn_lattice_tet(l, cell, t)] > 1)
                add_sides(l, cell, t, copies);
}

static sn_status list_sides(const sn_lattice *l, sn_mesh *mesh) {
    sn_status status = SN_OK;
    add_all_sides(l, &mesh->copies);
    SN_TRY_NEW(l->context, mesh->copies.side, mesh->copies.count);
    add_all_sides(l, &mesh->copies);
cleanup:
    return status;
}

sn_status sn_lattice_join(sn_lattice *l, sn_mesh *mesh) {
    sn_status status = SN_OK;
    sn_context *ctx = l->context;
    int32_t *set = NULL, tets = l->tet_begin[l->cell_count];
    face_match match = match_faces(&l->pattern);
    open_job faces = {.l = l, .match = &match};
    SN_TRY_NEW_ZEROED(ctx, faces.open, tets);
    SN_TRY_NEW(ctx, l->copy_begin, (size_t)tets + 1);
    SN_TRY(count_copies(l));
    SN_TRY_NEW(ctx, set, 4 * (size_t)l->copy_begin[tets]);
    sn_parallel_for(ctx, l->n[2], SN_LAYER_GRAIN, open_layers, &faces);
    join_corners(l, &match, faces.open, set);
    // Larger pieces may join more corners, which makes further twins. Fewer copies each time: there is room.
    while (merge_twins(l, set)) {
        SN_TRY(count_copies(l));
        join_corners(l, &match, faces.open, set);
    }
    mesh->tet_count = l->copy_begin[tets];
    SN_TRY_NEW(ctx, mesh->tet, 4 * (size_t)mesh->tet_count);
    SN_TRY(number_nodes(l, set, mesh));
    SN_TRY(measure_parts(l, mesh));
    SN_TRY(list_sides(l, mesh));
cleanup:
    SN_RELEASE(ctx, set);
    SN_RELEASE(ctx, faces.open);
    return status;
}
