#include "solve/solve_metric.h"

#include "base/base_parallel.h"
#include "base/base_util.h"
#include "math/math_mat3.h"
#include "solve/solve_compliance.h"

#include <math.h>
#include <string.h>

/// Fewer nodes take less time to move than waking threads.
enum { GRAIN = 8192 };

/// Least inertia in the factor of a free piece, as a fraction of its stiffness: with less, rounding would
/// make the last pivot negative (stiff slivers, tiny bodies, long steps). Its translation is solved apart, so
/// nothing but the metric's softest modes feels it.
static const double LEAST_GROUND = 1e-12;

struct sn_metric {
    sn_context *ctx;
    int32_t node_count, unknown_count, piece_count;
    int32_t *unknown;          ///< [node_count] unknown of each node, -1 if pinned
    int32_t *node;             ///< [unknown_count]
    double *unknown_mass;      ///< [unknown_count] kg
    int32_t *unknown_piece;    ///< [unknown_count]
    bool *piece_anchored;      ///< [piece_count]
    double *piece_mass;        ///< [piece_count] kg, of free nodes
    double *piece_ground;      ///< [piece_count] 1/s^2: least inertia in the factor; 0 for anchored pieces
    double (*piece_sum)[3];    ///< [piece_count] scratch
    sn_compliance *compliance; ///< contacts on top of the factor; NULL: none in the model
    int32_t *kept;             ///< [kept_count] unknowns
    sn_mobility *mobility;     ///< [piece_count] scratch
    bool holds_contacts;       ///< in the matrix: they are too many for compliance
    uint64_t contact_names;    ///< hash of the contacts in the matrix
    double *contact;           ///< [unknown_count] N/m: contacts' part of the diagonal
    double *piece_contact;     ///< [piece_count] N/m: its sum over the piece; 0: the piece is free
    double (*piece_correction)[9]; ///< [piece_count] m/N, see find_corrections()
    sn_csr stiffness;              ///< L on the unknowns
    double *value;                 ///< [entries] L + inertia M
    double *right;                 ///< [unknown_count, 3] scratch
    sn_factor *factor;
    double inertia;
    bool has_free_piece;
};

static sn_status number_unknowns(sn_metric *metric, const sn_metric_def *def) {
    sn_context *ctx = metric->ctx;
    sn_status status = SN_OK;
    int32_t count = 0;
    SN_TRY_NEW(ctx, metric->unknown, def->node_count);
    for (int32_t i = 0; i < def->node_count; i++)
        metric->unknown[i] = def->pinned[i] ? -1 : count++;
    metric->unknown_count = count;
    SN_TRY_NEW(ctx, metric->node, count);
    SN_TRY_NEW(ctx, metric->unknown_mass, count);
    SN_TRY_NEW(ctx, metric->unknown_piece, count);
    SN_TRY_NEW(ctx, metric->right, 3 * (int64_t)count);
    SN_TRY_NEW_ZEROED(ctx, metric->piece_mass, def->piece_count);
    SN_TRY_NEW_ZEROED(ctx, metric->piece_ground, def->piece_count);
    SN_TRY_NEW(ctx, metric->piece_sum, def->piece_count);
    SN_TRY_NEW_ZEROED(ctx, metric->contact, count);
    SN_TRY_NEW_ZEROED(ctx, metric->piece_contact, def->piece_count);
    SN_TRY_NEW_ZEROED(ctx, metric->piece_correction, def->piece_count);
    SN_TRY_NEW_ZEROED(ctx, metric->mobility, def->piece_count);
    SN_TRY_NEW(ctx, metric->kept, def->kept_count);
    SN_TRY(sn_new_copy(ctx, def->piece_anchored, (size_t)def->piece_count, sizeof(bool),
                       (void **)&metric->piece_anchored));
    for (int32_t p = 0; p < def->piece_count; p++)
        metric->has_free_piece |= !def->piece_anchored[p];
    for (int32_t i = 0; i < def->node_count; i++) {
        int32_t u = metric->unknown[i];
        if (u < 0)
            continue;
        metric->node[u] = i;
        metric->unknown_mass[u] = def->mass[i];
        metric->unknown_piece[u] = def->node_piece[i];
        metric->piece_mass[def->node_piece[i]] += def->mass[i];
    }
    for (int32_t k = 0; k < def->kept_count; k++)
        metric->kept[k] = metric->unknown[def->kept[k]];
cleanup:
    return status;
}

/// Keeps the entries between unknowns, renumbered.
static int64_t restrict_triplets(const sn_metric *metric, int64_t count, sn_triplet *triplets) {
    int64_t kept = 0;
    for (int64_t k = 0; k < count; k++) {
        int32_t row = metric->unknown[triplets[k].row], column = metric->unknown[triplets[k].column];
        if (row >= 0 && column >= 0)
            triplets[kept++] = (sn_triplet){row, column, triplets[k].value};
    }
    return kept;
}

/// The diagonal entry of each row is its last.
static double *diagonal(const sn_csr *a, double *value, int32_t u) {
    return value + a->start[u + 1] - 1;
}

static void ground_free_pieces(sn_metric *metric) {
    const sn_csr *a = &metric->stiffness;
    for (int32_t u = 0; u < metric->unknown_count; u++) {
        int32_t piece = metric->unknown_piece[u];
        if (!metric->piece_anchored[piece])
            metric->piece_ground[piece] +=
                LEAST_GROUND * *diagonal(a, a->value, u) / metric->piece_mass[piece];
    }
}

static sn_factor_matrix factor_matrix(const sn_metric *metric) {
    const sn_csr *a = &metric->stiffness;
    return (sn_factor_matrix){a->n, a->start, a->column, metric->value};
}

static sn_status create_factor(sn_metric *metric, const sn_metric_def *def) {
    sn_factor_matrix pattern = factor_matrix(metric);
    sn_factor_def factor = sn_factor_def_default();
    factor.storage = def->storage;
    // Stiff bodies, held by little, have no factor in float arithmetic.
    factor.fronts = SN_FACTOR_FRONTS_DOUBLE;
    factor.kept_count = def->kept_count;
    factor.kept = metric->kept;
    return sn_factor_create(metric->ctx, &pattern, &factor, &metric->factor);
}

static sn_status create_compliance(sn_metric *metric, const sn_metric_def *def) {
    sn_compliance_def compliance = {.factor = metric->factor,
                                    .unknown_count = metric->unknown_count,
                                    .node_unknown = metric->unknown,
                                    .unknown_piece = metric->unknown_piece,
                                    .piece_count = metric->piece_count,
                                    .kept_count = def->kept_count,
                                    .kept = metric->kept,
                                    .most_contacts = def->most_contacts};
    return def->most_contacts > 0 ? sn_compliance_create(metric->ctx, &compliance, &metric->compliance)
                                  : SN_OK;
}

sn_status sn_metric_create(sn_context *ctx, const sn_elastic *elastic, const sn_metric_def *def,
                           sn_metric **out_metric) {
    sn_status status = SN_OK;
    sn_metric *metric = NULL;
    sn_triplet *triplets = NULL;
    int64_t triplet_count = 0;
    SN_TRY_NEW_ZEROED(ctx, metric, 1);
    metric->ctx = ctx;
    metric->node_count = def->node_count;
    metric->piece_count = def->piece_count;
    metric->inertia = -1;
    metric->contact_names = SN_HASH_START;
    SN_TRY(number_unknowns(metric, def));
    SN_TRY(sn_elastic_metric(elastic, &triplet_count, &triplets));
    triplet_count = restrict_triplets(metric, triplet_count, triplets);
    SN_TRY(sn_csr_create(ctx, metric->unknown_count, triplet_count, triplets, &metric->stiffness));
    SN_RELEASE(ctx, triplets);
    sn_csr_drop_zeros(&metric->stiffness, 1e-12);
    ground_free_pieces(metric);
    SN_TRY_NEW(ctx, metric->value, metric->stiffness.start[metric->unknown_count]);
    SN_TRY(create_factor(metric, def));
    SN_TRY(create_compliance(metric, def));
    *out_metric = metric;
    return SN_OK;

cleanup:
    SN_RELEASE(ctx, triplets);
    sn_metric_destroy(&metric);
    return status;
}

void sn_metric_destroy(sn_metric **metric) {
    if (!metric || !*metric)
        return;
    sn_metric *m = *metric;
    sn_context *ctx = m->ctx;
    sn_compliance_destroy(&m->compliance);
    sn_factor_destroy(&m->factor);
    SN_RELEASE(ctx, m->kept);
    SN_RELEASE(ctx, m->mobility);
    sn_csr_destroy(ctx, &m->stiffness);
    SN_RELEASE(ctx, m->unknown);
    SN_RELEASE(ctx, m->node);
    SN_RELEASE(ctx, m->unknown_mass);
    SN_RELEASE(ctx, m->unknown_piece);
    SN_RELEASE(ctx, m->piece_anchored);
    SN_RELEASE(ctx, m->piece_mass);
    SN_RELEASE(ctx, m->piece_ground);
    SN_RELEASE(ctx, m->piece_sum);
    SN_RELEASE(ctx, m->contact);
    SN_RELEASE(ctx, m->piece_contact);
    SN_RELEASE(ctx, m->piece_correction);
    SN_RELEASE(ctx, m->value);
    SN_RELEASE(ctx, m->right);
    SN_RELEASE(ctx, *metric);
}

double sn_metric_inertia(const sn_metric *metric) {
    return metric->inertia;
}

sn_factor_info sn_metric_factor_info(const sn_metric *metric) {
    return sn_factor_get_info(metric->factor);
}

/// Inertia that the factor holds for a piece.
static double piece_inertia(const sn_metric *metric, int32_t piece, double inertia) {
    return fmax(inertia, metric->piece_ground[piece]);
}

/// What total forces do to the pieces that nothing holds.
static void find_mobility(sn_metric *metric, double inertia) {
    for (int32_t p = 0; p < metric->piece_count; p++) {
        double mass = metric->piece_mass[p];
        if (metric->piece_anchored[p] || mass == 0)
            continue;
        metric->mobility[p].exact = 1 / (inertia * mass);
        metric->mobility[p].missed = 1 / (inertia * mass) - 1 / (piece_inertia(metric, p, inertia) * mass);
    }
}

sn_status sn_metric_factor(sn_metric *metric, double inertia) {
    metric->inertia = -1;
    if (!(inertia >= 0) || (inertia == 0 && metric->has_free_piece))
        return sn_fail(metric->ctx, SN_ERR_INVALID_ARGUMENT,
                       "without inertia every piece needs a pin or an attachment to hold it");
    const sn_csr *a = &metric->stiffness;
    memcpy(metric->value, a->value, (size_t)a->start[a->n] * sizeof *metric->value);
    for (int32_t u = 0; u < a->n; u++)
        *diagonal(a, metric->value, u) +=
            piece_inertia(metric, metric->unknown_piece[u], inertia) * metric->unknown_mass[u] +
            metric->contact[u];
    sn_factor_matrix matrix = factor_matrix(metric);
    sn_status status = sn_factor_numeric(metric->factor, &matrix);
    if (status >= 0 && metric->compliance && !metric->holds_contacts) {
        find_mobility(metric, inertia);
        status = sn_compliance_refresh(metric->compliance, metric->mobility);
    }
    if (status >= 0)
        metric->inertia = inertia;
    return status;
}

// ---- Contacts

static void add_to_diagonal(sn_metric *metric, const sn_contact_point *c) {
    for (int32_t a = 0; a < c->node_count; a++) {
        int32_t u = metric->unknown[c->node[a]];
        // Embedding leaves weights a rounding below 0.
        // Of two sides each feels the other move as well.
        double entry = (c->on_body ? 2 : 1) * c->stiffness * fabs(c->weight[a]);
        if (u < 0)
            continue;
        metric->contact[u] += entry;
        metric->piece_contact[metric->unknown_piece[u]] += entry;
    }
}

/// Takes contacts off the matrix.
static void clear_diagonal(sn_metric *metric) {
    metric->contact_names = SN_HASH_START;
    memset(metric->contact, 0, (size_t)metric->unknown_count * sizeof *metric->contact);
    memset(metric->piece_contact, 0, (size_t)metric->piece_count * sizeof *metric->piece_contact);
}

/// Takes the touching points of the set, and those that are in the matrix already, as the contacts of the
/// next factorization, and marks them. Returns whether they are those that it held before.
static bool fill_diagonal(sn_metric *metric, sn_contact_set *set) {
    uint64_t names = SN_HASH_START, old_names = metric->contact_names;
    clear_diagonal(metric);
    for (int32_t i = 0; i < sn_contact_set_count(set); i++) {
        sn_contact_point *c = &sn_contact_set_points(set)[i];
        int32_t name[2] = {c->record.pair, c->record.proxy};
        c->in_metric |= c->gap < 0;
        if (!c->in_metric)
            continue;
        add_to_diagonal(metric, c);
        names = sn_hash(names, name, sizeof name);
    }
    metric->contact_names = names;
    return names == old_names;
}

/// True if a point touches that the matrix does not know.
static bool has_new_contact(sn_contact_set *set) {
    const sn_contact_point *point = sn_contact_set_points(set);
    for (int32_t i = 0; i < sn_contact_set_count(set); i++)
        if (point[i].gap < 0 && !point[i].in_metric)
            return true;
    return false;
}

/// Piece of a contact's nodes begin..end-1; -1 if only pinned ones carry it.
static int32_t contact_piece(const sn_metric *metric, const sn_contact_point *c, int32_t begin, int32_t end) {
    for (int32_t a = begin; a < end; a++)
        if (metric->unknown[c->node[a]] >= 0)
            return metric->unknown_piece[metric->unknown[c->node[a]]];
    return -1;
}

/// True where the correction of a piece's translation applies.
static bool is_held_by_contact(const sn_metric *metric, int32_t piece) {
    return !metric->piece_anchored[piece] && metric->piece_contact[piece] > 0;
}

/// Finds the corrections of translations for contacts in the matrix as they are at x.
static void find_corrections(sn_metric *metric, sn_contact_set *set, const double *x) {
    memset(metric->piece_correction, 0, (size_t)metric->piece_count * sizeof *metric->piece_correction);
    for (int32_t i = 0; i < sn_contact_set_count(set); i++) {
        const sn_contact_point *c = &sn_contact_set_points(set)[i];
        int32_t piece = contact_piece(metric, c, 0, SN_PROXY_NODES),
                far = contact_piece(metric, c, SN_PROXY_NODES, c->node_count);
        double p[3], force[3], hessian[9];
        sn_contact_place(c, x, p);
        sn_contact_energy(c, p, force, hessian);
        // Within a piece nothing hinders its translation.
        for (int k = 0; piece >= 0 && piece != far && k < 9; k++)
            metric->piece_correction[piece][k] += (c->on_body ? 2 : 1) * hessian[k];
        for (int k = 0; far >= 0 && piece != far && k < 9; k++)
            metric->piece_correction[far][k] += 2 * hessian[k];
    }
    for (int32_t p = 0; p < metric->piece_count; p++) {
        double *matrix = metric->piece_correction[p], inverse[9];
        if (!is_held_by_contact(metric, p))
            continue;
        double held = piece_inertia(metric, p, metric->inertia) * metric->piece_mass[p];
        for (int k = 0; k < 3; k++)
            matrix[4 * k] += metric->inertia * metric->piece_mass[p];
        sn_inverse3(matrix, inverse);
        memcpy(matrix, inverse, sizeof inverse);
        for (int k = 0; k < 3; k++)
            matrix[4 * k] -= 1 / (held + metric->piece_contact[p]);
    }
}

sn_status sn_metric_begin(sn_metric *metric, double inertia, sn_contact_set *set, const double *x,
                          int32_t *factorizations) {
    bool had_contacts = metric->holds_contacts, is_current = metric->inertia == inertia;
    metric->holds_contacts = set && !sn_compliance_fits(metric->compliance, set, true);
    if (metric->holds_contacts)
        is_current &= fill_diagonal(metric, set);
    else if (had_contacts)
        clear_diagonal(metric);
    is_current &= had_contacts == metric->holds_contacts;
    if (!is_current) {
        sn_status status = sn_metric_factor(metric, inertia);
        if (status < 0)
            return status;
        ++*factorizations;
    }
    if (!set)
        return SN_OK;
    if (!metric->holds_contacts)
        return sn_compliance_take(metric->compliance, set, x, true);
    find_corrections(metric, set, x);
    return SN_OK;
}

sn_status sn_metric_follow(sn_metric *metric, sn_contact_set *set, const double *x, int32_t *factorizations) {
    if (!metric->holds_contacts && sn_compliance_fits(metric->compliance, set, false))
        return sn_compliance_take(metric->compliance, set, x, false);
    if (!metric->holds_contacts || has_new_contact(set)) {
        metric->holds_contacts = true;
        fill_diagonal(metric, set);
        sn_status status = sn_metric_factor(metric, metric->inertia);
        if (status < 0)
            return status;
        ++*factorizations;
    }
    find_corrections(metric, set, x);
    return SN_OK;
}

/// Adds the corrections of the translations of pieces in contact to the solution for the forces `total`.
static void correct_translations(sn_metric *metric, const double (*total)[3]) {
    for (int32_t u = 0; u < metric->unknown_count; u++) {
        int32_t piece = metric->unknown_piece[u];
        double shift[3];
        if (!is_held_by_contact(metric, piece))
            continue;
        sn_mul3(metric->piece_correction[piece], total[piece], shift);
        for (int k = 0; k < 3; k++)
            metric->right[3 * (int64_t)u + k] += shift[k];
    }
}

// ---- Application

/// True for a piece that nothing holds, contacts included.
static bool is_free(const sn_metric *metric, int32_t piece) {
    return !metric->piece_anchored[piece] && metric->piece_contact[piece] == 0;
}

/// Takes the total force of each free piece out of `right`, in proportion to mass, into piece_sum.
static void take_total_forces(sn_metric *metric) {
    memset(metric->piece_sum, 0, (size_t)metric->piece_count * sizeof *metric->piece_sum);
    for (int32_t u = 0; u < metric->unknown_count; u++)
        for (int k = 0; k < 3; k++)
            metric->piece_sum[metric->unknown_piece[u]][k] += metric->right[3 * (int64_t)u + k];
    for (int32_t u = 0; u < metric->unknown_count; u++) {
        int32_t piece = metric->unknown_piece[u];
        if (!is_free(metric, piece))
            continue;
        double share = metric->unknown_mass[u] / metric->piece_mass[piece];
        for (int k = 0; k < 3; k++)
            metric->right[3 * (int64_t)u + k] -= share * metric->piece_sum[piece][k];
    }
}

/// Replaces the mean motion of each free piece by its exact answer to the total force.
static void put_exact_translations(sn_metric *metric) {
    double(*shift)[3] = metric->piece_sum;
    for (int32_t p = 0; p < metric->piece_count; p++)
        for (int k = 0; k < 3; k++)
            shift[p][k] /= metric->inertia; // momentum sought: sum of m z = total force / inertia
    for (int32_t u = 0; u < metric->unknown_count; u++)
        for (int k = 0; k < 3; k++)
            shift[metric->unknown_piece[u]][k] -= metric->unknown_mass[u] * metric->right[3 * (int64_t)u + k];
    for (int32_t u = 0; u < metric->unknown_count; u++) {
        int32_t piece = metric->unknown_piece[u];
        if (!is_free(metric, piece))
            continue;
        for (int k = 0; k < 3; k++)
            metric->right[3 * (int64_t)u + k] += shift[piece][k] / metric->piece_mass[piece];
    }
}

typedef struct apply_job {
    sn_metric *metric;
    const double *g;
    double *z;
} apply_job;

static void gather_unknowns(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    const apply_job *job = data;
    for (int32_t u = begin; u < end; u++)
        memcpy(job->metric->right + 3 * (int64_t)u, job->g + 3 * (int64_t)job->metric->node[u],
               3 * sizeof *job->g);
}

static void scatter_nodes(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    const apply_job *job = data;
    for (int32_t i = begin; i < end; i++) {
        int32_t u = job->metric->unknown[i];
        for (int k = 0; k < 3; k++)
            job->z[3 * (int64_t)i + k] = u < 0 ? 0 : job->metric->right[3 * (int64_t)u + k];
    }
}

sn_status sn_metric_apply(sn_metric *metric, const double *g, double *z) {
    if (metric->inertia < 0)
        return sn_fail(metric->ctx, SN_ERR_INTERNAL, "the metric is applied before it is factored");
    apply_job job = {metric, g, z};
    sn_parallel_for(metric->ctx, metric->unknown_count, GRAIN, gather_unknowns, &job);
    if (metric->has_free_piece)
        take_total_forces(metric);
    bool is_plain = !metric->compliance || metric->holds_contacts;
    sn_status status = is_plain ? sn_factor_solve(metric->factor, 3, metric->right)
                                : sn_compliance_solve(metric->compliance, metric->right, metric->piece_sum);
    if (status < 0)
        return status;
    if (metric->has_free_piece) {
        // First: the other one takes the sums apart.
        correct_translations(metric, metric->piece_sum);
        put_exact_translations(metric);
    }
    sn_parallel_for(metric->ctx, metric->node_count, GRAIN, scatter_nodes, &job);
    return SN_OK;
}
