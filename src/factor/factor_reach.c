/// Forward sweeps of sparse right-hand sides, and what they give: a kept set that grows.
#include "factor/factor_sweep.h"

#include <lapacke.h>
#include <string.h>

/// Marks in `touched` what the unknowns reach. False if one is out of range.
static bool mark_reach(sn_factor *factor, int32_t count, const int32_t *unknown) {
    memset(factor->touched, 0, (size_t)factor->supernode_count * sizeof *factor->touched);
    for (int32_t k = 0; k < count; k++) {
        if (unknown[k] < 0 || unknown[k] >= factor->info.n)
            return false;
        sn_factor_mark_path(factor, factor->node_of[unknown[k]], factor->touched);
    }
    return true;
}

static int32_t count_reach(const sn_factor *factor) {
    const bool *touched = factor->touched;
    int32_t count = 0, end = factor->supernode_count;
    for (int32_t s = sn_next_marked(touched, 0, end); s < end; s = sn_next_marked(touched, s + 1, end))
        count += factor->supernodes[s].width;
    return count;
}

int32_t sn_factor_reach_count(sn_factor *factor, int32_t count, const int32_t *unknown) {
    if (!factor || count < 0 || (count > 0 && !unknown) || !mark_reach(factor, count, unknown))
        return -1;
    return count_reach(factor);
}

/// Place of an unknown in the sweep vector.
static int32_t place_of(const sn_factor *factor, int32_t unknown) {
    int32_t s = factor->node_of[unknown];
    const sn_supernode *node = s == SN_FACTOR_NONE ? &factor->kept_node : &factor->supernodes[s];
    int32_t place = s == SN_FACTOR_NONE ? sn_kept_place(factor) : node->place, k = 0;
    while (factor->unknown[node->first + k] != unknown)
        k++;
    return place + k;
}

static bool is_group_touched(const sn_factor *factor, const sn_factor_group *group) {
    return sn_next_marked(factor->touched, group->first_supernode, group->supernode_end) <
           group->supernode_end;
}

static void clear_places(const sn_factor *factor, int32_t place, int32_t count) {
    factor->kernels->clear(factor->places, place, count);
}

/// Clears what the sweep will read: rows below a touched supernode belong to touched ancestors, to the kept
/// unknowns, or stand among the boundary of its group.
static void clear_reach(const sn_factor *factor) {
    const bool *touched = factor->touched;
    int32_t end = factor->supernode_count;
    for (int32_t s = sn_next_marked(touched, 0, end); s < end; s = sn_next_marked(touched, s + 1, end))
        clear_places(factor, factor->supernodes[s].place, factor->supernodes[s].width);
    clear_places(factor, sn_kept_place(factor), factor->kept_count);
}

static void sweep_touched(const sn_factor *factor, int32_t first, int32_t end) {
    const bool *touched = factor->touched;
    for (int32_t s = sn_next_marked(touched, first, end); s < end; s = sn_next_marked(touched, s + 1, end))
        sn_sweep_forward_node(factor, s);
}

/// Sweeps the touched supernodes of a group and adds to the top what they have for it.
static void sweep_group(const sn_factor *factor, const sn_factor_group *group) {
    clear_places(factor, group->place + group->column_count, group->boundary_count);
    sweep_touched(factor, group->first_supernode, group->supernode_end);
    // Places that are not on the reach receive zeros, whatever they hold; no one reads them.
    factor->kernels->scatter(factor->places, group->place + group->column_count, group->boundary_count,
                             factor->boundary_place + group->boundary_start);
}

/// Adds to the first right-hand side at a place.
static void add_value(const sn_factor *factor, int32_t place, double value) {
    double old[4];
    factor->kernels->widen(factor->places, place, 1, old);
    old[0] += value * factor->scale[place];
    factor->kernels->narrow(old, 1, factor->places, place);
}

static double read_value(const sn_factor *factor, int32_t place) {
    double value[4];
    factor->kernels->widen(factor->places, place, 1, value);
    return value[0];
}

/// The sweep itself; `touched` is marked.
static void sweep_reach(const sn_factor *factor, const sn_factor_sparse *right) {
    clear_reach(factor);
    for (int32_t k = 0; k < right->count; k++)
        add_value(factor, place_of(factor, right->unknown[k]), right->value[k]);
    for (int32_t g = 0; g < factor->group_count; g++)
        if (is_group_touched(factor, &factor->groups[g]))
            sweep_group(factor, &factor->groups[g]);
    sweep_touched(factor, factor->first_top, factor->supernode_count);
}

/// Copies the result; `out_position` receives positions in the order of elimination.
static void read_reach(const sn_factor *factor, int32_t *out_position, double *out_value, double *out_kept) {
    int32_t count = 0;
    for (int32_t s = 0; s < factor->supernode_count; s++) {
        const sn_supernode *node = &factor->supernodes[s];
        for (int32_t k = 0; factor->touched[s] && k < node->width; k++) {
            out_position[count] = node->first + k;
            out_value[count++] = read_value(factor, node->place + k);
        }
    }
    for (int32_t k = 0; k < factor->kept_count; k++)
        out_kept[k] =
            read_value(factor, sn_kept_place(factor) + k) / factor->scale[sn_kept_place(factor) + k];
}

static sn_status check_numbers(const sn_factor *factor) {
    if (!factor->has_numbers)
        return sn_fail(factor->context, SN_ERR_INVALID_ARGUMENT,
                       "the factor holds no numbers: factor a matrix first");
    return SN_OK;
}

sn_status sn_factor_reach_solve(sn_factor *factor, const sn_factor_sparse *right, int32_t capacity,
                                int32_t *out_count, int32_t *out_unknown, double *out_value,
                                double *out_kept) {
    if (!factor)
        return SN_ERR_INVALID_ARGUMENT;
    sn_status status = SN_OK;
    sn_context *ctx = factor->context;
    SN_TRY(check_numbers(factor));
    if (!right || right->count < 0 || (right->count > 0 && (!right->unknown || !right->value)) ||
        !mark_reach(factor, right->count, right->unknown))
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                       "a sparse right-hand side needs lists of values and of unknowns in 0..%d",
                       (int)factor->info.n - 1);
    int32_t count = count_reach(factor);
    if (!out_count || count > capacity || (count > 0 && (!out_unknown || !out_value)) ||
        (factor->kept_count > 0 && !out_kept))
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                       "the result has %d entries and %d kept rows; there is room for %d, or none",
                       (int)count, (int)factor->kept_count, (int)capacity);
    sweep_reach(factor, right);
    read_reach(factor, out_unknown, out_value, out_kept);
    for (int32_t k = 0; k < count; k++)
        out_unknown[k] = factor->unknown[out_unknown[k]];
    *out_count = count;

cleanup:
    return status;
}

/// Columns of U and K for the unknowns that join the kept ones.
typedef struct growth {
    int32_t count;     ///< Unknowns added.
    int64_t *start;    ///< [count + 1] where each column of U begins
    int32_t *position; ///< elimination order, ascending in each column
    double *value;     ///< U
    double *kept;      ///< [count, kept_count] K, column by column
    double *scaled;    ///< [count, kept_count] K G^-1
    double *inverse;   ///< [count, count] G, then its inverse
} growth;

static void growth_destroy(sn_context *ctx, growth *g) {
    SN_RELEASE(ctx, g->start);
    SN_RELEASE(ctx, g->position);
    SN_RELEASE(ctx, g->value);
    SN_RELEASE(ctx, g->kept);
    SN_RELEASE(ctx, g->scaled);
    SN_RELEASE(ctx, g->inverse);
}

static sn_status check_added(const sn_factor *factor, int32_t count, const int32_t *added) {
    sn_context *ctx = factor->context;
    if (count < 0 || (count > 0 && !added))
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "a list of %d added unknowns is missing", (int)count);
    for (int32_t k = 0; k < count; k++) {
        if (added[k] < 0 || added[k] >= factor->info.n || factor->node_of[added[k]] == SN_FACTOR_NONE)
            return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "unknown %d is kept already, or outside 0..%d",
                           (int)added[k], (int)factor->info.n - 1);
        for (int32_t i = 0; i < k; i++)
            if (added[i] == added[k])
                return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "added unknown %d is named twice",
                               (int)added[k]);
    }
    return SN_OK;
}

static sn_status growth_create(sn_factor *factor, int32_t count, const int32_t *added, growth *g) {
    sn_status status = SN_OK;
    sn_context *ctx = factor->context;
    const double one = 1;
    g->count = count;
    SN_TRY_NEW(ctx, g->start, (size_t)count + 1);
    g->start[0] = 0;
    for (int32_t k = 0; k < count; k++)
        g->start[k + 1] = g->start[k] + sn_factor_reach_count(factor, 1, &added[k]);
    SN_TRY_NEW(ctx, g->position, g->start[count]);
    SN_TRY_NEW(ctx, g->value, g->start[count]);
    SN_TRY_NEW(ctx, g->kept, (size_t)count * (size_t)factor->kept_count);
    SN_TRY_NEW(ctx, g->scaled, (size_t)count * (size_t)factor->kept_count);
    SN_TRY_NEW(ctx, g->inverse, (size_t)count * (size_t)count);
    for (int32_t k = 0; k < count; k++) {
        const sn_factor_sparse unit = {1, &added[k], &one};
        mark_reach(factor, 1, &added[k]);
        sweep_reach(factor, &unit);
        read_reach(factor, g->position + g->start[k], g->value + g->start[k],
                   g->kept + (int64_t)k * factor->kept_count);
    }

cleanup:
    return status;
}

/// Product of two columns of U.
static double multiply_columns(const growth *g, int32_t a, int32_t b) {
    int64_t i = g->start[a], j = g->start[b];
    double sum = 0;
    while (i < g->start[a + 1] && j < g->start[b + 1]) {
        if (g->position[i] == g->position[j])
            sum += g->value[i++] * g->value[j++];
        else if (g->position[i] < g->position[j])
            i++;
        else
            j++;
    }
    return sum;
}

static sn_status invert_products(sn_context *ctx, growth *g) {
    int32_t n = g->count;
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b <= a; b++)
            g->inverse[a + (int64_t)b * n] = multiply_columns(g, a, b);
    if (n > 0 && (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, g->inverse, n) != 0 ||
                  LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'L', n, g->inverse, n) != 0))
        return sn_fail(ctx, SN_ERR_NOT_POSITIVE_DEFINITE,
                       "the %d added unknowns cannot be told apart from one another", (int)n);
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < a; b++)
            g->inverse[b + (int64_t)a * n] = g->inverse[a + (int64_t)b * n];
    return SN_OK;
}

/// scaled = K G^-1.
static void scale_kept(const sn_factor *factor, growth *g) {
    int64_t m = factor->kept_count;
    for (int32_t a = 0; a < g->count; a++)
        for (int64_t i = 0; i < m; i++) {
            double sum = 0;
            for (int32_t b = 0; b < g->count; b++)
                sum += g->kept[b * m + i] * g->inverse[b + (int64_t)a * g->count];
            g->scaled[a * m + i] = sum;
        }
}

/// Writes the lower triangle of the grown complement and mirrors it.
static void write_grown(const sn_factor *factor, const growth *g, double *out_schur) {
    int64_t m = factor->kept_count, size = m + g->count;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = sn_schur_column(factor, (int32_t)j)[i - j];
            for (int32_t a = 0; a < g->count; a++)
                sum += g->scaled[a * m + i] * g->kept[a * m + j];
            out_schur[i * size + j] = sum;
        }
    for (int32_t a = 0; a < g->count; a++) {
        for (int64_t j = 0; j < m; j++)
            out_schur[(m + a) * size + j] = -g->scaled[a * m + j];
        for (int32_t b = 0; b <= a; b++)
            out_schur[(m + a) * size + m + b] = g->inverse[a + (int64_t)b * g->count];
    }
    for (int64_t i = 0; i < size; i++)
        for (int64_t j = 0; j < i; j++)
            out_schur[j * size + i] = out_schur[i * size + j];
}

sn_status sn_factor_grow_schur(sn_factor *factor, int32_t added_count, const int32_t *added,
                               double *out_schur) {
    if (!factor)
        return SN_ERR_INVALID_ARGUMENT;
    sn_status status = SN_OK;
    sn_context *ctx = factor->context;
    growth g = {0};
    SN_TRY(check_numbers(factor));
    SN_TRY(check_added(factor, added_count, added));
    if (!out_schur && factor->kept_count + added_count > 0)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "no array for the grown complement");
    SN_TRY(growth_create(factor, added_count, added, &g));
    SN_TRY(invert_products(ctx, &g));
    scale_kept(factor, &g);
    write_grown(factor, &g, out_schur);

cleanup:
    growth_destroy(ctx, &g);
    return status;
}
