// Sorts the triangles in each touched tet of a lattice into connected pieces of solid.
#include "base/base_parallel.h"
#include "geom/geom_predicate.h"
#include "math/math_mat3.h"
#include "mesh/mesh_lattice_clip.h"
#include "mesh/mesh_topology.h"

#include <string.h>

/// What lies in a tet with less area than this, in half edges squared, only touches it.
#define AREA_LEAST 1e-9

/// The sides of a triangle are judged so far from it, in half edges. Gaps of twice the width stay open.
#define SIDE_DISTANCE 1e-6

/// Ways leave a triangle at an angle with a sine of at least this.
#define GRAZING 1e-9

enum {
    SAMPLES = 15,    ///< Places of a tet that help to see around corners.
    FACE_SAMPLE = 0, ///< the first of the middles of the faces
    CENTER_SAMPLE = 4,
    WATCHERS_MAX = 128, ///< Fragments that look at each other and at the samples
    WATCHERS_EACH = 6,  ///< at most from each patch,
    RAYS_MAX = 512,     ///< Fragments that look straight ahead
    CROSSINGS_MAX = 512 ///< and that are tried whether they run through each other.
};

/// The fragments of one tet. Sets 0 to count - 1 are theirs, those of the samples follow.
typedef struct tet_scene {
    const sn_lattice *l;
    const sn_clip_tet *tet;
    int32_t place[3], t;
    int32_t count, patches;
    sn_fragment *fragment; ///< [most] sorted by triangle
    int32_t *set;          ///< [most + SAMPLES]
    double sample[SAMPLES][3];
} tet_scene;

/// A sum of corners over how many.
static void mean_corner(const double corner[12], int count, const int *which, double out[3]) {
    for (int c = 0; c < 3; c++) {
        out[c] = 0;
        for (int i = 0; i < count; i++)
            out[c] += corner[3 * which[i] + c] / count;
    }
}

static void place_samples(tet_scene *scene) {
    const double *corner = scene->tet->corner;
    int next = CENTER_SAMPLE;
    for (int f = 0; f < 4; f++)
        mean_corner(corner, 3, (const int[]){(f + 1) % 4, (f + 2) % 4, (f + 3) % 4},
                    scene->sample[FACE_SAMPLE + f]);
    mean_corner(corner, 4, (const int[]){0, 1, 2, 3}, scene->sample[next++]);
    for (int i = 0; i < 4; i++)
        mean_corner(corner, 1, (const int[]){i}, scene->sample[next++]);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            mean_corner(corner, 2, (const int[]){i, j}, scene->sample[next++]);
}

static void load_scene(tet_scene *scene, int32_t cell) {
    const sn_lattice *l = scene->l;
    scene->count = 0;
    for (int32_t i = l->touch_begin[cell]; i < l->touch_begin[cell + 1]; i++)
        if (l->touch_mask[i] >> scene->t & 1)
            sn_fragment_load(l, scene->place, i, &scene->fragment[scene->count++]);
    for (int32_t i = 0; i < scene->count + SAMPLES; i++)
        scene->set[i] = i;
    scene->patches = scene->count;
}

static bool is_joined(const tet_scene *scene, int32_t a, int32_t b) {
    return sn_set_find(scene->set, a) == sn_set_find(scene->set, b);
}

static void join(tet_scene *scene, int32_t a, int32_t b) {
    if (is_joined(scene, a, b))
        return;
    sn_set_join(scene->set, a, b);
    scene->patches--;
}

/// Fragment of a triangle, or -1.
static int32_t find_fragment(const tet_scene *scene, int32_t triangle) {
    int32_t low = 0, high = scene->count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (scene->fragment[middle].triangle < triangle)
            low = middle + 1;
        else
            high = middle;
    }
    return low < scene->count && scene->fragment[low].triangle == triangle ? low : -1;
}

/// Whether the edge from corner k of a triangle passes the tet.
static bool edge_passes(const tet_scene *scene, const sn_fragment *fragment, int k) {
    double needle[9];
    memcpy(needle, fragment->corner + 3 * k, 3 * sizeof *needle);
    memcpy(needle + 3, fragment->corner + 3 * ((k + 1) % 3), 3 * sizeof *needle);
    memcpy(needle + 6, needle + 3, 3 * sizeof *needle);
    return sn_triangle_meets_tet(needle, scene->tet->corner, SN_PASS_TOLERANCE);
}

static bool share_a_vertex(const sn_lattice *l, int32_t a, int32_t b) {
    const int32_t *v = l->surface->triangle + 3 * (size_t)a, *w = l->surface->triangle + 3 * (size_t)b;
    for (int i = 0; i < 3; i++)
        if (v[i] == w[0] || v[i] == w[1] || v[i] == w[2])
            return true;
    return false;
}

/// Joins fragments that meet at an edge in the tet. Triangles without area go with those at their corners.
static void join_neighbors(tet_scene *scene) {
    for (int32_t i = 0; i < scene->count; i++) {
        const sn_fragment *fragment = &scene->fragment[i];
        for (int k = 0; k < 3; k++) {
            int32_t beyond = scene->l->beyond[3 * (size_t)fragment->triangle + (size_t)k];
            int32_t other = beyond < 0 ? -1 : find_fragment(scene, beyond);
            if (other >= 0 && !is_joined(scene, i, other) && edge_passes(scene, fragment, k))
                join(scene, i, other);
        }
        bool flat = sn_dot3(fragment->normal, fragment->normal) == 0;
        for (int32_t other = 0; other < scene->count && flat; other++)
            if (share_a_vertex(scene->l, fragment->triangle, scene->fragment[other].triangle))
                join(scene, i, other);
    }
}

/// Cuts the fragments and finds out on which sides they have solid.
static void judge_sides(tet_scene *scene) {
    for (int32_t i = 0; i < scene->count; i++) {
        sn_fragment *fragment = &scene->fragment[i];
        sn_fragment_clip(scene->tet, fragment);
        if (fragment->area < AREA_LEAST)
            continue;
        double behind[3], before[3];
        for (int c = 0; c < 3; c++) {
            double middle = fragment->center[c] + 2.0 * scene->place[c];
            behind[c] = middle - SIDE_DISTANCE * fragment->normal[c];
            before[c] = middle + SIDE_DISTANCE * fragment->normal[c];
        }
        fragment->solid_behind = sn_winding_inside(scene->l->winding, behind);
        fragment->solid_before = sn_winding_inside(scene->l->winding, before);
    }
}

/// Where surfaces run through each other the solid on both is one.
static void join_crossing(tet_scene *scene) {
    for (int32_t i = 1; i < scene->count && scene->count <= CROSSINGS_MAX; i++)
        for (int32_t k = 0; k < i; k++)
            if (!is_joined(scene, i, k) && sn_fragments_cross(&scene->fragment[i], &scene->fragment[k]))
                join(scene, i, k);
}

/// Whether a way in this direction leads from the fragment into the solid.
static bool leads_into_solid(const sn_fragment *fragment, const double way[3]) {
    double rise = sn_dot3(fragment->normal, way), least = GRAZING * sn_norm3(way);
    return rise > least ? fragment->solid_before : rise < -least && fragment->solid_behind;
}

/// First fragment on the way from one of them, -1 if none; fragments within the solid do not count.
static int32_t first_hit(const tet_scene *scene, int32_t from, const double target[3]) {
    double nearest = INFINITY, part = 0;
    int32_t hit = -1;
    for (int32_t i = 0; i < scene->count; i++) {
        const sn_fragment *fragment = &scene->fragment[i];
        if (i == from || (fragment->solid_before && fragment->solid_behind))
            continue;
        if (sn_fragment_blocks(fragment, scene->fragment[from].center, target, &part) && part < nearest) {
            nearest = part;
            hit = i;
        }
    }
    return hit;
}

/// Place straight ahead of a fragment where the tet ends.
static void look_ahead(const tet_scene *scene, const sn_fragment *fragment, double side, double target[3]) {
    double length = INFINITY;
    for (int f = 0; f < 4; f++) {
        const double *plane = scene->tet->plane[f];
        double fall = -side * sn_dot3(plane, fragment->normal);
        if (fall > 0)
            length = fmin(length, fmax(0, sn_dot3(plane, fragment->center) + plane[3]) / fall);
    }
    for (int c = 0; c < 3; c++)
        target[c] = fragment->center[c] + side * length * fragment->normal[c];
}

/// Joins a fragment with the one that lies straight ahead through the solid.
static void join_ahead(tet_scene *scene, int32_t i, double side) {
    const sn_fragment *fragment = &scene->fragment[i];
    double target[3], back[3];
    if (!(side > 0 ? fragment->solid_before : fragment->solid_behind))
        return;
    look_ahead(scene, fragment, side, target);
    int32_t hit = first_hit(scene, i, target);
    if (hit < 0)
        return;
    for (int c = 0; c < 3; c++)
        back[c] = -side * fragment->normal[c];
    if (leads_into_solid(&scene->fragment[hit], back))
        join(scene, i, hit);
}

static void join_opposite(tet_scene *scene) {
    int32_t stride = scene->count / RAYS_MAX + 1;
    for (int32_t i = 0; i < scene->count && scene->patches > 1; i += stride) {
        join_ahead(scene, i, -1);
        join_ahead(scene, i, 1);
    }
}

/// A place that looks at others: of a fragment, or a sample.
typedef struct watcher {
    int32_t set, fragment; ///< -1: a sample
    const double *point;
} watcher;

static bool sees(const tet_scene *scene, const watcher *a, const watcher *b) {
    double way[3], back[3], part = 0;
    sn_sub3(b->point, a->point, way);
    sn_sub3(a->point, b->point, back);
    if ((a->fragment >= 0 && !leads_into_solid(&scene->fragment[a->fragment], way)) ||
        (b->fragment >= 0 && !leads_into_solid(&scene->fragment[b->fragment], back)))
        return false;
    for (int32_t i = 0; i < scene->count; i++) {
        const sn_fragment *fragment = &scene->fragment[i];
        if (i != a->fragment && i != b->fragment && !(fragment->solid_before && fragment->solid_behind) &&
            sn_fragment_blocks(fragment, a->point, b->point, &part))
            return false;
    }
    return true;
}

/// The largest fragment of a patch that is smaller than the one before; of equal ones the next.
static int32_t next_largest(const tet_scene *scene, int32_t root, int32_t before) {
    int32_t best = -1;
    for (int32_t i = 0; i < scene->count; i++) {
        double area = scene->fragment[i].area;
        if (area < AREA_LEAST || sn_set_find(scene->set, i) != root)
            continue;
        if (before >= 0 &&
            (area > scene->fragment[before].area || (area == scene->fragment[before].area && i <= before)))
            continue;
        if (best < 0 || area > scene->fragment[best].area)
            best = i;
    }
    return best;
}

static int32_t choose_watchers(const tet_scene *scene, watcher *watchers) {
    int32_t count = 0, each = WATCHERS_MAX / (scene->patches - SAMPLES);
    each = each < 1 ? 1 : each > WATCHERS_EACH ? WATCHERS_EACH : each;
    for (int32_t root = 0; root < scene->count; root++) {
        if (scene->set[root] != root)
            continue;
        int32_t last = -1;
        for (int32_t k = 0; k < each && count < WATCHERS_MAX; k++) {
            last = next_largest(scene, root, last);
            if (last < 0)
                break;
            watchers[count++] = (watcher){last, last, scene->fragment[last].center};
        }
    }
    return count;
}

/// Joins what sees each other through the solid: fragments first, then by way of the samples.
static void join_seen(tet_scene *scene) {
    watcher watchers[WATCHERS_MAX + SAMPLES];
    scene->patches += SAMPLES;
    int32_t count = choose_watchers(scene, watchers);
    for (int32_t i = 0; i < SAMPLES; i++)
        watchers[count + i] = (watcher){scene->count + i, -1, scene->sample[i]};
    for (int32_t b = 1; b < count + SAMPLES; b++)
        for (int32_t a = 0; a < b; a++)
            if (!is_joined(scene, watchers[a].set, watchers[b].set) &&
                sees(scene, &watchers[a], &watchers[b]))
                join(scene, watchers[a].set, watchers[b].set);
}

/// Whether all of the tet is solid and the surface only touches it.
static bool is_full(const tet_scene *scene) {
    double middle[3];
    for (int32_t i = 0; i < scene->count; i++)
        if (scene->fragment[i].area >= AREA_LEAST)
            return false;
    for (int c = 0; c < 3; c++)
        middle[c] = scene->sample[CENTER_SAMPLE][c] + 2.0 * scene->place[c];
    return sn_winding_inside(scene->l->winding, middle);
}

/// Label of each set, by its root: pieces in the order of their first fragments. Sets that only touch the
/// tet are none of its pieces if there are others. Returns the number of pieces.
static int32_t number_pieces(const tet_scene *scene, uint8_t *label) {
    int32_t pieces = 0, size = scene->count + SAMPLES;
    memset(label, SN_PIECE_NONE, (size_t)size);
    for (int pass = 0; pass < 2 && pieces == 0; pass++)
        for (int32_t i = 0; i < scene->count && pieces <= SN_PIECES_MAX; i++) {
            int32_t root = sn_set_find(scene->set, i);
            if (label[root] == SN_PIECE_NONE && (pass == 1 || scene->fragment[i].area >= AREA_LEAST))
                label[root] = (uint8_t)pieces++;
        }
    return pieces;
}

/// The piece that holds a sample; a guess where nothing sees it: that of the nearest fragment.
static uint8_t piece_of_sample(const tet_scene *scene, const uint8_t *label, int32_t sample) {
    uint8_t piece = label[sn_set_find(scene->set, scene->count + sample)], guess = 0;
    double nearest = INFINITY;
    for (int32_t i = 0; i < scene->count && piece == SN_PIECE_NONE; i++) {
        double distance = sn_distance3(scene->fragment[i].center, scene->sample[sample]);
        uint8_t own = label[sn_set_find(scene->set, i)];
        if (own != SN_PIECE_NONE && distance < nearest) {
            nearest = distance;
            guess = own;
        }
    }
    return piece == SN_PIECE_NONE ? guess | SN_PIECE_GUESS : piece;
}

/// Memory of a thread.
typedef struct piece_scratch {
    sn_fragment *fragment;
    int32_t *set;
    uint8_t *label;
    int32_t crowded;
} piece_scratch;

typedef struct piece_job {
    sn_lattice *l;
    sn_clip_tet tet[SN_PATTERN_TETS_MAX];
    piece_scratch *scratch; ///< [threads]
} piece_job;

static void write_pieces(const tet_scene *scene, const uint8_t *label, int32_t pieces, int32_t tet) {
    const sn_lattice *l = scene->l;
    l->piece_count[tet] = (uint8_t)pieces;
    for (int f = 0; f < 4; f++)
        l->face_piece[4 * (size_t)tet + (size_t)f] = piece_of_sample(scene, label, FACE_SAMPLE + f);
    l->center_piece[tet] = piece_of_sample(scene, label, CENTER_SAMPLE);
    for (int32_t i = 0; i < scene->count; i++)
        *sn_lattice_label(l, scene->fragment[i].touch, scene->t) = label[sn_set_find(scene->set, i)];
}

/// Sorts the triangles of a tet. Its labels are 0 so far, and it counts as one piece.
static void sort_tet(piece_job *job, piece_scratch *scratch, int32_t cell, int32_t t) {
    tet_scene scene = {.l = job->l, .tet = &job->tet[t], .t = t, .fragment = scratch->fragment};
    scene.set = scratch->set;
    sn_lattice_place(job->l, cell, scene.place);
    load_scene(&scene, cell);
    join_neighbors(&scene);
    if (scene.patches <= 1)
        return;
    judge_sides(&scene);
    place_samples(&scene);
    join_crossing(&scene);
    join_opposite(&scene);
    if (scene.patches > WATCHERS_MAX) {
        scratch->crowded++;
        return;
    }
    if (scene.patches <= 1 || is_full(&scene))
        return;
    join_seen(&scene);
    int32_t pieces = number_pieces(&scene, scratch->label);
    if (pieces > SN_PIECES_MAX)
        scratch->crowded++;
    else
        write_pieces(&scene, scratch->label, pieces, sn_lattice_tet(job->l, cell, t));
}

static void sort_layers(void *data, int32_t begin, int32_t end, int32_t thread) {
    piece_job *job = data;
    const sn_lattice *l = job->l;
    int32_t layer = l->n[0] * l->n[1];
    for (int32_t cell = begin * layer; cell < end * layer; cell++)
        for (int32_t t = 0; t < l->pattern.tet_count && l->touched[cell]; t++)
            if (l->touched[cell] >> t & 1)
                sort_tet(job, &job->scratch[thread], cell, t);
}

// ---- Edges of many triangles

/// A triangle at an edge, seen along it.
typedef struct edge_wing {
    int32_t triangle, corner;
    double angle;
    bool solid_ahead; ///< In the direction of growing angles.
} edge_wing;

enum { WINGS_MAX = 32 };

static edge_wing make_wing(const sn_lattice *l, int32_t triangle, const int32_t edge[2], double frame[3][3]) {
    edge_wing wing = {.triangle = triangle};
    const int32_t *v = l->surface->triangle + 3 * (size_t)triangle;
    double arm[3];
    for (int k = 0; k < 3; k++)
        if (v[k] != edge[0] && v[k] != edge[1])
            wing.corner = (k + 1) % 3;
    sn_sub3(sn_lattice_vertex(l, triangle, (wing.corner + 2) % 3), l->surface->position + 3 * (size_t)edge[0],
            arm);
    wing.angle = atan2(sn_dot3(arm, frame[2]), sn_dot3(arm, frame[1]));
    // Turning about the edge from its first to its last vertex leads behind a triangle that runs backward.
    wing.solid_ahead = v[wing.corner] != edge[0];
    return wing;
}

/// The edge's direction and two others across it.
static void make_frame(const sn_lattice *l, const int32_t edge[2], double frame[3][3]) {
    int least = 0;
    double along[3], other[3] = {0};
    sn_sub3(l->surface->position + 3 * (size_t)edge[1], l->surface->position + 3 * (size_t)edge[0], along);
    sn_unit3(along, frame[0]);
    for (int c = 1; c < 3; c++)
        if (fabs(along[c]) < fabs(along[least]))
            least = c;
    other[least] = 1;
    sn_cross3(frame[0], other, frame[1]);
    sn_cross3(frame[0], frame[1], frame[2]);
}

static void sort_wings(int32_t count, edge_wing *wings) {
    for (int32_t i = 1; i < count; i++) {
        edge_wing wing = wings[i];
        int32_t at = i;
        for (; at > 0 && wings[at - 1].angle > wing.angle; at--)
            wings[at] = wings[at - 1];
        wings[at] = wing;
    }
}

/// Pairs the triangles at an edge that have the same solid between them.
static void pair_wings(const sn_lattice *l, const int32_t edge[2], int32_t count, const int32_t *order) {
    edge_wing wings[WINGS_MAX];
    double frame[3][3];
    make_frame(l, edge, frame);
    for (int32_t i = 0; i < count; i++)
        wings[i] = make_wing(l, order[i] / 3, edge, frame);
    sort_wings(count, wings);
    for (int32_t i = 0; i < count; i++) {
        const edge_wing *a = &wings[i], *b = &wings[(i + 1) % count];
        if (!a->solid_ahead || b->solid_ahead)
            continue;
        l->beyond[3 * (size_t)a->triangle + (size_t)a->corner] = b->triangle;
        l->beyond[3 * (size_t)b->triangle + (size_t)b->corner] = a->triangle;
    }
}

static bool has_edge(const int32_t v[3]) {
    return v[0] != v[1] && v[1] != v[2] && v[2] != v[0];
}

/// Fills in what the surface leaves open: the neighbors at edges of more than two triangles.
static sn_status pair_many(sn_lattice *l) {
    sn_status status = SN_OK;
    sn_context *ctx = l->context;
    const sn_surface *s = l->surface;
    int32_t *edge = NULL, *order = NULL, count = 3 * s->triangle_count;
    SN_TRY(sn_new_copy(ctx, s->neighbor, (size_t)count, sizeof *s->neighbor, (void **)&l->beyond));
    SN_TRY_NEW(ctx, edge, 2 * (size_t)count);
    SN_TRY_NEW(ctx, order, count);
    for (int32_t i = 0; i < count; i++) {
        edge[2 * (size_t)i] = s->triangle[i];
        edge[2 * (size_t)i + 1] = s->triangle[i / 3 * 3 + (i + 1) % 3];
    }
    SN_TRY(sn_tuple_order(ctx, s->vertex_count, count, 2, edge, order));
    for (int32_t i = 0, next = 0; i < count; i = next) {
        const int32_t *first = edge + 2 * (size_t)order[i];
        bool sound = true;
        for (next = i; next < count && sn_tuple_same(2, edge + 2 * (size_t)order[next], first); next++)
            sound &= has_edge(s->triangle + 3 * (size_t)(order[next] / 3));
        if (sound && next - i > 2 && next - i <= WINGS_MAX)
            pair_wings(l, first, next - i, order + i);
    }
cleanup:
    SN_RELEASE(ctx, edge);
    SN_RELEASE(ctx, order);
    return status;
}

// ---- All together

/// Makes room for the labels; all are 0.
static sn_status make_labels(sn_lattice *l) {
    sn_status status = SN_OK;
    int32_t touches = l->touch_begin[l->cell_count], tets = l->tet_begin[l->cell_count];
    int64_t labels = 0;
    SN_TRY_NEW(l->context, l->touch_label, touches);
    for (int32_t i = 0; i < touches; i++) {
        l->touch_label[i] = (int32_t)labels;
        labels += __builtin_popcount(l->touch_mask[i]);
        if (labels > INT32_MAX)
            SN_TRY(sn_fail(l->context, SN_ERR_INVALID_ARGUMENT,
                           "the surface passes more than %d tetrahedra of its lattice; use fewer cells",
                           INT32_MAX));
    }
    SN_TRY_NEW_ZEROED(l->context, l->label, labels);
    SN_TRY_NEW(l->context, l->piece_count, tets);
    memset(l->piece_count, 1, (size_t)tets);
    SN_TRY_NEW_ZEROED(l->context, l->face_piece, 4 * (size_t)tets);
    SN_TRY_NEW_ZEROED(l->context, l->center_piece, tets);
cleanup:
    return status;
}

static sn_status make_scratch(const sn_lattice *l, int32_t threads, piece_scratch *scratch) {
    sn_status status = SN_OK;
    int32_t most = 0;
    for (int32_t cell = 0; cell < l->cell_count; cell++) {
        int32_t count = l->touch_begin[cell + 1] - l->touch_begin[cell];
        most = count > most ? count : most;
    }
    for (int32_t i = 0; i < threads; i++) {
        SN_TRY_NEW(l->context, scratch[i].fragment, most);
        SN_TRY_NEW(l->context, scratch[i].set, (size_t)most + SAMPLES);
        SN_TRY_NEW(l->context, scratch[i].label, (size_t)most + SAMPLES);
    }
cleanup:
    return status;
}

sn_status sn_lattice_find_pieces(sn_lattice *l) {
    sn_status status = SN_OK;
    sn_context *ctx = l->context;
    int32_t threads = sn_context_thread_count(ctx);
    piece_job job = {.l = l};
    for (int32_t t = 0; t < l->pattern.tet_count; t++)
        job.tet[t] = sn_clip_tet_make(l, t);
    SN_TRY_NEW_ZEROED(ctx, job.scratch, threads);
    SN_TRY(pair_many(l));
    SN_TRY(make_labels(l));
    SN_TRY(make_scratch(l, threads, job.scratch));
    sn_parallel_for(ctx, l->n[2], SN_LAYER_GRAIN, sort_layers, &job);
    for (int32_t i = 0; i < threads; i++)
        l->crowded += job.scratch[i].crowded;
cleanup:
    for (int32_t i = 0; i < threads && job.scratch; i++) {
        SN_RELEASE(ctx, job.scratch[i].fragment);
        SN_RELEASE(ctx, job.scratch[i].set);
        SN_RELEASE(ctx, job.scratch[i].label);
    }
    SN_RELEASE(ctx, job.scratch);
    return status;
}
