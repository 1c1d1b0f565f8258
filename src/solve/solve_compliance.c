#include "solve/solve_compliance.h"

#include "base/base_parallel.h"
#include "base/base_util.h"
#include "math/math_mat3.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum {
    MOST_ROWS = 1024,
    ROW_NODES = 8,
    DIRECTIONS = 2,   ///< in which a row acts at most, unless it sticks
    LANES = 16,       ///< of sums that run side by side
    ROW_GRAIN = 64,   ///< rows that are worth waking threads for
    KEPT_GRAIN = 2048 ///< entries of S^-1 e
};

/// Entries of forward-swept rows that are kept at most, or those of so many rows.
static const int64_t MOST_REACHED = 1000000;
enum { LEAST_REACHED_ROWS = 64 };

/// The system may cost so many times what the factor does, or so many operations if that is more; contacts
/// that would cost more belong into the matrix.
static const double SHARE = 0.5, LEAST_FLOPS = 1e6;

/// A contact's row and what the factor has made of it.
typedef struct row {
    int32_t pair, proxy;
    int32_t count, unknown[ROW_NODES]; ///< free nodes
    double weight[ROW_NODES];
    int32_t kept_at[ROW_NODES]; ///< places of the unknowns among the kept ones; not read unless is_kept
    bool is_kept;
    int32_t piece[ROW_NODES]; ///< mobile pieces that the row moves, with the sum of its weights on them
    double piece_sum[ROW_NODES];
    int32_t piece_count;
    int32_t slot;               ///< in the tables of compliance
    int64_t reach, reach_count; ///< in the pool: u = L^-1 w, for rows that are not kept
} row;

struct sn_compliance {
    sn_context *ctx;
    sn_compliance_def def;
    double factor_flops;
    sn_mobility *mobility; ///< [piece_count]
    int32_t *kept_at;      ///< [unknown_count] place among the kept ones, -1: none
    float *inverse;        ///< [kept, kept] S^-1
    double *square;        ///< [kept, kept] scratch of its making
    float *narrow;         ///< [3, kept] right-hand sides
    double *kept_rows;     ///< [kept, 3]
    double *kept_solution; ///< [kept, 3]

    int32_t row_capacity, row_count;
    row *rows, *old_rows; ///< [row_capacity] by pair, then proxy
    int32_t free_count, *free_slots;
    double *table;    ///< [row_capacity, row_capacity] G, by slots
    double *response; ///< [row_capacity, kept] S^-1 e, by slots
    double *outside;  ///< [row_capacity, kept] e of rows that are not kept, by slots
    int64_t pool_size, pool_used;
    int32_t *pool_unknown, *spare_unknown;
    double *pool_value, *spare_value; ///< [pool_size] u
    double *spread;                   ///< [unknown_count] one u, 0 elsewhere; between calls all 0

    /// Rows that resist: first those that stick, along all three axes, then those that slide, each along up
    /// to two directions.
    int32_t stick_count, slide_count;
    int32_t *acting;       ///< [stick_count + slide_count] rows, those that slide up to twice
    double *soft;          ///< [the same] 1 / stiffness
    double (*normal)[3];   ///< [the same] directions; not read of rows that stick
    double (*force)[3];    ///< [the same] N
    uint64_t acting_names; ///< hash of all that the two systems are made of
    double *shared;  ///< [acting, acting] for each axis: L of what sticks, and what is left of G for the rest
    double *sliding; ///< [slide_count, slide_count] Cholesky factor
    double *along;   ///< [slide_count] scratch
};

// ---- Memory

static int32_t least(int64_t a, int64_t b) {
    return (int32_t)(a < b ? a : b);
}

/// Room for forward-swept rows: the longest reach that contacts can have is that of all nodes.
static int64_t size_of_pool(const sn_compliance *c) {
    int64_t longest = c->def.unknown_count - c->def.kept_count;
    int64_t wanted = longest * c->row_capacity, few = longest * LEAST_REACHED_ROWS;
    int64_t most = few < MOST_REACHED ? MOST_REACHED : few;
    return wanted < most ? wanted : most;
}

static sn_status allocate(sn_compliance *c) {
    sn_status status = SN_OK;
    sn_context *ctx = c->ctx;
    const size_t kept = (size_t)c->def.kept_count, rows = (size_t)c->row_capacity;
    SN_TRY_NEW_ZEROED(ctx, c->mobility, c->def.piece_count);
    SN_TRY_NEW(ctx, c->kept_at, c->def.unknown_count);
    SN_TRY_NEW(ctx, c->inverse, kept * kept);
    SN_TRY_NEW(ctx, c->square, kept * kept);
    SN_TRY_NEW(ctx, c->narrow, 3 * kept);
    SN_TRY_NEW(ctx, c->kept_rows, 3 * kept);
    SN_TRY_NEW(ctx, c->kept_solution, 3 * kept);
    SN_TRY_NEW(ctx, c->rows, rows);
    SN_TRY_NEW(ctx, c->old_rows, rows);
    SN_TRY_NEW(ctx, c->free_slots, rows);
    SN_TRY_NEW(ctx, c->table, rows * rows);
    SN_TRY_NEW(ctx, c->response, rows * kept);
    SN_TRY_NEW(ctx, c->outside, rows * kept);
    c->pool_size = size_of_pool(c);
    SN_TRY_NEW(ctx, c->pool_unknown, c->pool_size);
    SN_TRY_NEW(ctx, c->spare_unknown, c->pool_size);
    SN_TRY_NEW(ctx, c->pool_value, c->pool_size);
    SN_TRY_NEW(ctx, c->spare_value, c->pool_size);
    SN_TRY_NEW_ZEROED(ctx, c->spread, c->def.unknown_count);
    SN_TRY_NEW(ctx, c->acting, DIRECTIONS * rows);
    SN_TRY_NEW(ctx, c->soft, DIRECTIONS * rows);
    SN_TRY_NEW(ctx, c->normal, DIRECTIONS * rows);
    SN_TRY_NEW(ctx, c->force, DIRECTIONS * rows);
    SN_TRY_NEW(ctx, c->shared, DIRECTIONS * rows * DIRECTIONS * rows);
    SN_TRY_NEW(ctx, c->sliding, DIRECTIONS * rows * DIRECTIONS * rows);
    SN_TRY_NEW(ctx, c->along, DIRECTIONS * rows);
cleanup:
    return status;
}

void sn_compliance_destroy(sn_compliance **compliance) {
    if (!compliance || !*compliance)
        return;
    sn_compliance *c = *compliance;
    sn_context *ctx = c->ctx;
    SN_RELEASE(ctx, c->mobility);
    SN_RELEASE(ctx, c->kept_at);
    SN_RELEASE(ctx, c->inverse);
    SN_RELEASE(ctx, c->square);
    SN_RELEASE(ctx, c->narrow);
    SN_RELEASE(ctx, c->kept_rows);
    SN_RELEASE(ctx, c->kept_solution);
    SN_RELEASE(ctx, c->rows);
    SN_RELEASE(ctx, c->old_rows);
    SN_RELEASE(ctx, c->free_slots);
    SN_RELEASE(ctx, c->table);
    SN_RELEASE(ctx, c->response);
    SN_RELEASE(ctx, c->outside);
    SN_RELEASE(ctx, c->pool_unknown);
    SN_RELEASE(ctx, c->spare_unknown);
    SN_RELEASE(ctx, c->pool_value);
    SN_RELEASE(ctx, c->spare_value);
    SN_RELEASE(ctx, c->spread);
    SN_RELEASE(ctx, c->acting);
    SN_RELEASE(ctx, c->soft);
    SN_RELEASE(ctx, c->normal);
    SN_RELEASE(ctx, c->force);
    SN_RELEASE(ctx, c->shared);
    SN_RELEASE(ctx, c->sliding);
    SN_RELEASE(ctx, c->along);
    sn_release(ctx, c);
    *compliance = NULL;
}

// ---- The kept block

/// Inverts the Schur complement in place: both triangles come out the same.
static bool invert(double *square, int32_t n) {
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, square, n) != 0 ||
        LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'L', n, square, n) != 0)
        return false;
    return true;
}

static sn_status invert_schur(sn_compliance *c) {
    const int32_t m = c->def.kept_count;
    if (m == 0)
        return SN_OK;
    sn_status status = sn_factor_schur(c->def.factor, c->square);
    if (status < 0)
        return status;
    if (!invert(c->square, m))
        return sn_fail(
            c->ctx, SN_ERR_NOT_POSITIVE_DEFINITE,
            "the Schur complement on the %d kept nodes is not positive definite: some elements are "
            "much stiffer than others, or much thinner",
            m);
    for (int64_t j = 0; j < m; j++)
        for (int64_t i = j; i < m; i++)
            c->inverse[i * m + j] = c->inverse[j * m + i] = (float)c->square[j * m + i];
    return SN_OK;
}

/// Forgets all rows, and whatever slots were taken or on their way.
static void reset_rows(sn_compliance *c) {
    c->row_count = c->stick_count = c->slide_count = c->free_count = 0;
    c->acting_names = 0;
    c->pool_used = 0;
    for (int32_t s = 0; s < c->row_capacity; s++)
        c->free_slots[c->free_count++] = s;
}

sn_status sn_compliance_refresh(sn_compliance *c, const sn_mobility *mobility) {
    memcpy(c->mobility, mobility, (size_t)c->def.piece_count * sizeof *mobility);
    reset_rows(c);
    return invert_schur(c);
}

sn_status sn_compliance_create(sn_context *ctx, const sn_compliance_def *def,
                               sn_compliance **out_compliance) {
    sn_compliance *c = NULL;
    sn_status status = sn_new_zeroed(ctx, 1, sizeof *c, (void **)&c);
    if (status < 0)
        return status;
    c->ctx = ctx;
    c->def = *def;
    c->factor_flops = sn_factor_get_info(def->factor).work_flops;
    c->row_capacity = least(def->most_contacts, MOST_ROWS);
    status = allocate(c);
    if (status < 0) {
        sn_compliance_destroy(&c);
        return status;
    }
    for (int32_t u = 0; u < def->unknown_count; u++)
        c->kept_at[u] = -1;
    for (int32_t k = 0; k < def->kept_count; k++)
        c->kept_at[def->kept[k]] = k;
    reset_rows(c);
    *out_compliance = c;
    return SN_OK;
}

/// Sum of a row of S^-1 times three right-hand sides.
static void multiply_row(const float *entry, const float *right, int32_t m, double out[3]) {
    for (int k = 0; k < 3; k++) {
        const float *b = right + (int64_t)k * m;
        float sum[LANES] = {0};
        double total = 0;
        int32_t j = 0;
        for (; j + LANES <= m; j += LANES)
            for (int l = 0; l < LANES; l++)
                sum[l] += entry[j + l] * b[j + l];
        for (; j < m; j++)
            total += (double)entry[j] * (double)b[j];
        for (int l = 0; l < LANES; l++)
            total += (double)sum[l];
        out[k] = total;
    }
}

typedef struct product_job {
    sn_compliance *c;
    const double *right;
    double *out;
} product_job;

static void multiply_range(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    const product_job *job = data;
    int32_t m = job->c->def.kept_count;
    for (int32_t i = begin; i < end; i++)
        multiply_row(job->c->inverse + (int64_t)i * m, job->c->narrow, m, job->out + 3 * (int64_t)i);
}

/// out = S^-1 right, [kept, 3]. Right-hand sides are scaled so that floats hold them.
static void solve_kept(sn_compliance *c, const double *right, double *out) {
    int32_t m = c->def.kept_count;
    double most = 0;
    for (int64_t i = 0; i < 3 * (int64_t)m; i++)
        most = fmax(most, fabs(right[i]));
    int exponent = 0;
    frexp(most, &exponent);
    double down = ldexp(1, -exponent), up = ldexp(1, exponent);
    for (int64_t i = 0; i < m; i++)
        for (int64_t k = 0; k < 3; k++)
            c->narrow[k * m + i] = (float)(down * right[3 * i + k]);
    product_job job = {c, right, out};
    sn_parallel_for(c->ctx, m, ROW_GRAIN, multiply_range, &job);
    for (int64_t i = 0; i < 3 * (int64_t)m; i++)
        out[i] *= up;
}

// ---- Rows

/// Name and weights of a contact's row; nodes that are pinned do not count.
static void name_row(const sn_compliance *c, const sn_contact_point *point, row *out) {
    *out = (row){.pair = point->record.pair, .proxy = point->record.proxy, .is_kept = true, .slot = -1};
    for (int32_t a = 0; a < point->node_count; a++) {
        int32_t u = c->def.node_unknown[point->node[a]];
        if (u < 0 || point->weight[a] == 0)
            continue;
        out->unknown[out->count] = u;
        out->kept_at[out->count] = c->kept_at[u];
        out->is_kept &= c->kept_at[u] >= 0;
        out->weight[out->count++] = point->weight[a];
    }
}

static int compare_rows(const row *a, const row *b) {
    if (a->pair != b->pair)
        return a->pair < b->pair ? -1 : 1;
    return (a->proxy > b->proxy) - (a->proxy < b->proxy);
}

static bool is_same_row(const row *a, const row *b) {
    return compare_rows(a, b) == 0 && a->count == b->count &&
           memcmp(a->unknown, b->unknown, (size_t)a->count * sizeof *a->unknown) == 0 &&
           memcmp(a->weight, b->weight, (size_t)a->count * sizeof *a->weight) == 0;
}

/// Whether a row serves a contact as it is now. Within a step the other side of a contact between bodies may
/// have moved on a little: good enough for a metric. At its begin rows are those of the state, whatever was
/// before.
static bool goes_on(const row *old, const row *now, bool begins) {
    return begins ? is_same_row(old, now) : compare_rows(old, now) == 0;
}

static void sum_pieces(const sn_compliance *c, row *r) {
    for (int32_t a = 0; a < r->count; a++) {
        int32_t piece = c->def.unknown_piece[r->unknown[a]], p = 0;
        if (c->mobility[piece].exact == 0)
            continue;
        while (p < r->piece_count && r->piece[p] != piece)
            p++;
        r->piece[p] = piece;
        r->piece_count += p == r->piece_count;
        r->piece_sum[p] += r->weight[a];
    }
}

/// Forward sweep of a row into the pool.
static sn_status sweep_row(sn_compliance *c, row *r) {
    sn_factor_sparse right = {r->count, r->unknown, r->weight};
    int32_t room = least(c->pool_size - c->pool_used, INT32_MAX), count = 0;
    r->reach = c->pool_used;
    sn_status status = sn_factor_reach_solve(c->def.factor, &right, room, &count,
                                             c->pool_unknown + c->pool_used, c->pool_value + c->pool_used,
                                             c->outside + (int64_t)r->slot * c->def.kept_count);
    r->reach_count = count;
    c->pool_used += count;
    return status;
}

typedef struct response_job {
    const sn_compliance *c;
    const row *row;
} response_job;

/// Some entries of S^-1 e.
static void respond(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    const response_job *job = data;
    const sn_compliance *c = job->c;
    const row *r = job->row;
    int64_t m = c->def.kept_count;
    double *out = c->response + r->slot * m;
    const double *e = c->outside + r->slot * m;
    for (int32_t i = begin; i < end; i++) {
        double sum = 0;
        if (r->is_kept)
            for (int32_t a = 0; a < r->count; a++)
                sum += r->weight[a] * (double)c->inverse[r->kept_at[a] * m + i];
        else
            for (int64_t j = 0; j < m; j++)
                sum += e[j] * (double)c->inverse[i * m + j];
        out[i] = sum;
    }
}

/// e . S^-1 e' for row r and the response of another one.
static double meet_kept(const sn_compliance *c, const row *r, const double *response) {
    int64_t m = c->def.kept_count;
    double sum = 0;
    if (r->is_kept)
        for (int32_t a = 0; a < r->count; a++)
            sum += r->weight[a] * response[r->kept_at[a]];
    else
        for (int64_t j = 0; j < m; j++)
            sum += c->outside[r->slot * m + j] * response[j];
    return sum;
}

/// What the factor misses of the motion of the pieces that both rows move.
static double meet_pieces(const sn_compliance *c, const row *a, const row *b) {
    double sum = 0;
    for (int32_t i = 0; i < a->piece_count; i++)
        for (int32_t j = 0; j < b->piece_count; j++)
            if (a->piece[i] == b->piece[j])
                sum += a->piece_sum[i] * b->piece_sum[j] * c->mobility[a->piece[i]].missed;
    return sum;
}

/// Compliance between the row whose u is spread out and those of rows begin..end-1 that are made. Of two rows
/// it is always the later one that answers to the earlier: the bits do not tell which was made first.
static void meet_rows(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    const response_job *job = data;
    const sn_compliance *c = job->c;
    const row *r = job->row;
    for (int32_t i = begin; i < end; i++) {
        const row *other = &c->rows[i];
        if (other->slot < 0)
            continue;
        const row *first = other < r ? other : r, *second = other < r ? r : other;
        double sum = meet_kept(c, first, c->response + (int64_t)second->slot * c->def.kept_count);
        for (int64_t e = 0; !r->is_kept && !other->is_kept && e < other->reach_count; e++)
            sum += c->pool_value[other->reach + e] * c->spread[c->pool_unknown[other->reach + e]];
        sum += meet_pieces(c, first, second);
        c->table[(int64_t)r->slot * c->row_capacity + other->slot] = sum;
        c->table[(int64_t)other->slot * c->row_capacity + r->slot] = sum;
    }
}

static void spread_row(sn_compliance *c, const row *r, double factor) {
    for (int64_t e = 0; !r->is_kept && e < r->reach_count; e++)
        c->spread[c->pool_unknown[r->reach + e]] = factor * c->pool_value[r->reach + e];
}

/// Makes a row of the list: its slot, its sweep, its compliance with the rows that are made and itself.
static sn_status make_row(sn_compliance *c, row *r) {
    r->slot = c->free_slots[--c->free_count];
    sum_pieces(c, r);
    sn_status status = r->is_kept ? SN_OK : sweep_row(c, r);
    if (status < 0)
        return status;
    response_job job = {c, r};
    sn_parallel_for(c->ctx, c->def.kept_count, KEPT_GRAIN, respond, &job);
    spread_row(c, r, 1);
    sn_parallel_for(c->ctx, c->row_count, ROW_GRAIN, meet_rows, &job);
    spread_row(c, r, 0);
    return SN_OK;
}

/// Puts a row that goes on at a place of the list, with its sweep from the spare pool.
static void keep_row(sn_compliance *c, const row *old, row *r) {
    *r = *old;
    r->reach = c->pool_used;
    memcpy(c->pool_unknown + r->reach, c->spare_unknown + old->reach,
           (size_t)old->reach_count * sizeof *c->pool_unknown);
    memcpy(c->pool_value + r->reach, c->spare_value + old->reach,
           (size_t)old->reach_count * sizeof *c->pool_value);
    c->pool_used += old->reach_count;
}

static void swap_lists(sn_compliance *c) {
    row *rows = c->rows;
    int32_t *unknown = c->pool_unknown;
    double *value = c->pool_value;
    c->rows = c->old_rows, c->old_rows = rows;
    c->pool_unknown = c->spare_unknown, c->spare_unknown = unknown;
    c->pool_value = c->spare_value, c->spare_value = value;
    c->row_count = 0;
    c->pool_used = 0;
}

/// Lists rows of all contacts of the set: those that go on as they are, others without a slot.
static void list_rows(sn_compliance *c, sn_contact_set *set, bool begins) {
    const sn_contact_point *point = sn_contact_set_points(set);
    int32_t old_count = c->row_count, o = 0;
    swap_lists(c);
    for (int32_t i = 0; i < sn_contact_set_count(set); i++) {
        row *r = &c->rows[c->row_count++];
        name_row(c, &point[i], r);
        for (; o < old_count && compare_rows(&c->old_rows[o], r) < 0; o++)
            c->free_slots[c->free_count++] = c->old_rows[o].slot;
        if (o < old_count && goes_on(&c->old_rows[o], r, begins))
            keep_row(c, &c->old_rows[o++], r);
    }
    for (; o < old_count; o++)
        c->free_slots[c->free_count++] = c->old_rows[o].slot;
}

static sn_status take_rows(sn_compliance *c, sn_contact_set *set, bool begins) {
    sn_status status = SN_OK;
    list_rows(c, set, begins);
    for (int32_t r = 0; status >= 0 && r < c->row_count; r++)
        if (c->rows[r].slot < 0)
            status = make_row(c, &c->rows[r]);
    return status;
}

// ---- What acts

static void act(sn_compliance *c, int32_t at, const double direction[3], double stiffness) {
    int32_t i = c->stick_count + c->slide_count;
    c->acting[i] = at;
    c->soft[i] = 1 / stiffness;
    memcpy(c->normal[i], direction, sizeof *c->normal);
}

/// Lists along what a row slides against resistance: its normal if it presses, and the direction across its
/// way, along which friction turns.
static void act_sliding(sn_compliance *c, int32_t at, const sn_contact_point *point, const double p[3]) {
    double way[3], across[3], length = sn_contact_slip(point, p, way);
    if (point->gap < 0) {
        act(c, at, point->normal, point->stiffness);
        c->slide_count++;
    }
    if (!(point->friction * point->normal_force > 0))
        return;
    sn_cross3(point->normal, way, across);
    sn_unit3(across, across);
    act(c, at, across, point->friction * point->normal_force / length);
    c->slide_count++;
}

/// Lists the rows that stick, be they open for a moment, then the directions of those that slide.
static void list_acting(sn_compliance *c, sn_contact_set *set, const double *x) {
    const sn_contact_point *point = sn_contact_set_points(set);
    c->stick_count = c->slide_count = 0;
    for (int stick = 1; stick >= 0; stick--)
        for (int32_t r = 0; r < c->row_count; r++) {
            double p[3];
            sn_contact_place(&point[r], x, p);
            if (c->rows[r].count == 0 || sn_contact_sticks(&point[r], p) != stick)
                continue;
            if (stick) {
                act(c, r, point[r].normal, point[r].stiffness);
                c->stick_count++;
            } else {
                act_sliding(c, r, &point[r], p);
            }
        }
}

/// What the systems are made of.
static uint64_t name_acting(const sn_compliance *c) {
    int32_t count = c->stick_count + c->slide_count;
    uint64_t names = sn_hash(SN_HASH_START, &c->stick_count, sizeof c->stick_count);
    names = sn_hash(names, c->soft, (size_t)count * sizeof *c->soft);
    names = sn_hash(names, c->normal, (size_t)count * sizeof *c->normal);
    for (int32_t i = 0; i < count; i++) {
        const row *r = &c->rows[c->acting[i]];
        names = sn_hash(names, r->unknown, (size_t)r->count * sizeof *r->unknown);
        names = sn_hash(names, r->weight, (size_t)r->count * sizeof *r->weight);
    }
    return names;
}

/// Columns of G between the acting rows, on and below the diagonal, with the softness of what sticks.
static void fill_shared(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    const sn_compliance *c = data;
    int64_t n = c->stick_count + c->slide_count;
    for (int64_t j = begin; j < end; j++) {
        const double *entry = c->table + (int64_t)c->rows[c->acting[j]].slot * c->row_capacity;
        for (int64_t i = j; i < n; i++)
            c->shared[j * n + i] = entry[c->rows[c->acting[i]].slot];
        if (j < c->stick_count)
            c->shared[j * n + j] += c->soft[j];
    }
}

/// Columns of the system of normal forces.
static void fill_sliding(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    const sn_compliance *c = data;
    int64_t stick = c->stick_count, slide = c->slide_count, n = stick + slide;
    for (int64_t j = begin; j < end; j++) {
        for (int64_t i = j; i < slide; i++)
            c->sliding[j * slide + i] =
                sn_dot3(c->normal[stick + i], c->normal[stick + j]) * c->shared[(stick + j) * n + stick + i];
        c->sliding[j * slide + j] += c->soft[stick + j];
    }
}

/// Eliminates what sticks, which for all axes is one matrix, and then factors the system of normal forces.
static bool factor_systems(sn_compliance *c) {
    int32_t stick = c->stick_count, slide = c->slide_count, n = stick + slide;
    uint64_t names = name_acting(c);
    if (names == c->acting_names)
        return true;
    c->acting_names = names;
    sn_parallel_for(c->ctx, n, ROW_GRAIN, fill_shared, c);
    if (stick > 0 && LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', stick, c->shared, n) != 0)
        return false;
    if (stick > 0 && slide > 0) {
        double *below = c->shared + stick, *rest = c->shared + (int64_t)stick * n + stick;
        cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, slide, stick, 1,
                    c->shared, n, below, n);
        cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, slide, stick, -1, below, n, 1, rest, n);
    }
    sn_parallel_for(c->ctx, slide, ROW_GRAIN, fill_sliding, c);
    return slide == 0 || LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', slide, c->sliding, slide) == 0;
}

bool sn_compliance_fits(sn_compliance *c, sn_contact_set *set, bool begins) {
    const int32_t count = sn_contact_set_count(set);
    double flops = (double)count * count * count / 3;
    if (count > c->row_capacity || flops > fmax(SHARE * c->factor_flops, LEAST_FLOPS))
        return false;
    int64_t reached = 0;
    int32_t o = 0;
    for (int32_t i = 0; i < count; i++) {
        row r;
        name_row(c, &sn_contact_set_points(set)[i], &r);
        while (o < c->row_count && compare_rows(&c->rows[o], &r) < 0)
            o++;
        if (o < c->row_count && goes_on(&c->rows[o], &r, begins))
            reached += c->rows[o].reach_count;
        else if (!r.is_kept)
            reached += sn_factor_reach_count(c->def.factor, r.count, r.unknown);
    }
    return reached <= c->pool_size;
}

sn_status sn_compliance_take(sn_compliance *c, sn_contact_set *set, const double *x, bool begins) {
    sn_status status = take_rows(c, set, begins);
    if (status >= 0) {
        list_acting(c, set, x);
        if (factor_systems(c))
            return SN_OK;
        status = sn_fail(c->ctx, SN_ERR_NOT_POSITIVE_DEFINITE,
                         "the compliance of %d contacts is not positive definite",
                         c->stick_count + c->slide_count);
    }
    reset_rows(c);
    return status;
}

// ---- Solution

/// Motion of a row's point as it would be without the conditions.
static void free_motion(const sn_compliance *c, const row *r, const double *right, double (*total)[3],
                        double out[3]) {
    for (int k = 0; k < 3; k++) {
        double sum = 0;
        for (int64_t e = 0; !r->is_kept && e < r->reach_count; e++)
            sum += c->pool_value[r->reach + e] * right[3 * (int64_t)c->pool_unknown[r->reach + e] + k];
        if (r->is_kept)
            for (int32_t a = 0; a < r->count; a++)
                sum += r->weight[a] * c->kept_solution[3 * (int64_t)r->kept_at[a] + k];
        else
            for (int64_t j = 0; j < c->def.kept_count; j++)
                sum += c->outside[(int64_t)r->slot * c->def.kept_count + j] * c->kept_solution[3 * j + k];
        for (int32_t p = 0; p < r->piece_count; p++)
            sum += r->piece_sum[p] * total[r->piece[p]][k] * c->mobility[r->piece[p]].exact;
        out[k] = sum;
    }
}

/// Takes the force of a row off the right-hand side behind the forward sweep, and off the kept solution.
static void press(sn_compliance *c, const row *r, const double force[3], double *right, double (*total)[3]) {
    const double *response = c->response + (int64_t)r->slot * c->def.kept_count;
    for (int64_t e = 0; !r->is_kept && e < r->reach_count; e++)
        for (int k = 0; k < 3; k++)
            right[3 * (int64_t)c->pool_unknown[r->reach + e] + k] -= c->pool_value[r->reach + e] * force[k];
    for (int64_t j = 0; j < c->def.kept_count; j++)
        for (int k = 0; k < 3; k++)
            c->kept_solution[3 * j + k] -= response[j] * force[k];
    for (int32_t p = 0; p < r->piece_count; p++)
        for (int k = 0; k < 3; k++)
            total[r->piece[p]][k] -= r->piece_sum[p] * force[k];
}

/// Turns the motions of the acting rows, in c->force, into their forces.
static void find_forces(sn_compliance *c) {
    int32_t stick = c->stick_count, slide = c->slide_count, n = stick + slide;
    double *force = (double *)c->force, *slipping = (double *)(c->force + stick);
    const double *below = c->shared + stick;
    // Motions are [rows, 3] by rows: the three axes are columns of the transposed problem.
    if (stick > 0)
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, stick, 3, 1, c->shared, n,
                    force, 3);
    if (stick > 0 && slide > 0)
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, slide, 3, stick, -1, below, n, force, 3, 1,
                    slipping, 3);
    for (int32_t i = 0; i < slide; i++)
        c->along[i] = sn_dot3(c->normal[stick + i], c->force[stick + i]);
    if (slide > 0)
        LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', slide, 1, c->sliding, slide, c->along, slide);
    for (int32_t i = 0; i < slide; i++)
        for (int k = 0; k < 3; k++)
            c->force[stick + i][k] = c->along[i] * c->normal[stick + i][k];
    if (stick > 0 && slide > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, stick, 3, slide, -1, below, n, slipping, 3, 1,
                    force, 3);
    if (stick > 0)
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, stick, 3, 1, c->shared,
                    n, force, 3);
}

typedef struct motion_job {
    sn_compliance *c;
    const double *right;
    double (*total)[3];
} motion_job;

static void find_motions(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    const motion_job *job = data;
    for (int32_t i = begin; i < end; i++)
        free_motion(job->c, &job->c->rows[job->c->acting[i]], job->right, job->total, job->c->force[i]);
}

/// Solves for the forces of the acting rows and lets them act.
static void answer(sn_compliance *c, double *right, double (*total)[3]) {
    int32_t n = c->stick_count + c->slide_count;
    motion_job job = {c, right, total};
    sn_parallel_for(c->ctx, n, ROW_GRAIN, find_motions, &job);
    find_forces(c);
    for (int32_t i = 0; i < n; i++)
        press(c, &c->rows[c->acting[i]], c->force[i], right, total);
}

sn_status sn_compliance_solve(sn_compliance *c, double *right, double (*total)[3]) {
    sn_factor *factor = c->def.factor;
    sn_status status = sn_factor_forward(factor, 3, right, c->kept_rows);
    if (status < 0)
        return status;
    solve_kept(c, c->kept_rows, c->kept_solution);
    answer(c, right, total);
    return sn_factor_backward(factor, 3, right, c->kept_solution);
}
