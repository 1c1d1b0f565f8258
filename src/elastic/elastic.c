#include "elastic/elastic.h"

#include "base/base_parallel.h"
#include "base/base_util.h"
#include "element/element_tet.h"

#include <string.h>

/// Blocks of one material model, contiguous.
typedef struct block_range {
    int32_t begin, end;
    sn_material_kernel *kernel;
    const sn_material_limits *limits; ///< [end - begin]; NULL: the model has none.
} block_range;

/// Offsets of corners are 32-bit, 12 numbers a tet; each range may end with a block of one tet.
enum { MAX_RANGES = 16, MAX_TETS = INT32_MAX / 12 - MAX_RANGES * SN_LANES };

struct sn_elastic {
    sn_context *ctx;
    int32_t node_count, tet_count, block_count, spring_count, range_count;
    block_range range[MAX_RANGES];
    sn_tet_block *blocks;       ///< [block_count]
    sn_material_limits *limits; ///< of the blocks of models that have some, in their order
    double *block_weight;       ///< [block_count, SN_LANES] metric weight times volume, N m
    sn_tet_corners *corners;    ///< [block_count] scratch
    double *block_energy;       ///< [block_count] scratch
    int32_t *corner_start;      ///< [node_count + 1]
    int32_t *corner_place;      ///< [4 * tet_count] offsets into `corners` of each node's corners
    sn_spring *springs;
    bool is_projective;
    sn_elastic_times times;
};

/// Number of tets whose material has the model.
static int32_t count_tets_of(const sn_elastic_def *def, int32_t model) {
    int32_t count = 0;
    for (int32_t t = 0; t < def->tet_count; t++)
        count += (int32_t)def->materials[def->tet_material[t]].model == model;
    return count;
}

/// One tet at rest.
typedef struct tet_data {
    const int32_t *node;
    double D[9], volume, mu, lambda;
    double weight; ///< In the metric, times volume, N m.
} tet_data;

static tet_data find_tet_data(const sn_elastic_def *def, int32_t tet) {
    tet_data data = {.node = def->tets + 4 * (int64_t)tet};
    const double *X[4];
    const sn_material_def *material = &def->materials[def->tet_material[tet]];
    const sn_material_info *info = sn_material_info_of(material->model);
    for (int a = 0; a < 4; a++)
        X[a] = def->rest + 3 * (int64_t)data.node[a];
    data.volume = sn_tet_rest(X[0], X[1], X[2], X[3], data.D);
    if (def->tet_fraction)
        data.volume *= def->tet_fraction[tet];
    sn_material_moduli(material, &data.mu, &data.lambda);
    data.weight = data.volume * (info->weight_mu * data.mu + info->weight_lambda * data.lambda);
    return data;
}

static void set_limits(sn_material_limits *to, const sn_elastic_def *def, int32_t tet, int lane) {
    const sn_material_def *material = &def->materials[def->tet_material[tet]];
    to->low[lane] = material->stretch_min;
    to->high[lane] = material->stretch_max;
}

static void set_lane(sn_elastic *elastic, const sn_elastic_def *def, int32_t tet, int32_t block, int lane) {
    sn_tet_block *to = &elastic->blocks[block];
    tet_data data = find_tet_data(def, tet);
    for (int a = 0; a < 4; a++)
        to->node[a][lane] = data.node[a];
    for (int k = 0; k < 9; k++)
        to->shape[k][lane] = data.D[k];
    to->volume[lane] = data.volume;
    to->mu[lane] = data.mu;
    to->lambda[lane] = data.lambda;
    elastic->block_weight[(int64_t)block * SN_LANES + lane] = data.weight;
}

static void pad_limits(sn_material_limits *limits, int used) {
    for (int lane = used; lane < SN_LANES; lane++) {
        limits->low[lane] = limits->low[0];
        limits->high[lane] = limits->high[0];
    }
}

/// Fills the lanes after `used` with copies of lane 0 that have no volume.
static void pad_block(sn_tet_block *block, int used) {
    for (int lane = used; lane < SN_LANES; lane++) {
        for (int a = 0; a < 4; a++)
            block->node[a][lane] = block->node[a][0];
        for (int k = 0; k < 9; k++)
            block->shape[k][lane] = block->shape[k][0];
        block->mu[lane] = block->mu[0];
        block->lambda[lane] = block->lambda[0];
        block->volume[lane] = 0;
    }
}

/// Tets in their order, one material model after the other.
static void fill_blocks(sn_elastic *elastic, const sn_elastic_def *def) {
    int32_t model_count = 0, block = 0;
    const sn_material_info *table = sn_material_table(&model_count);
    sn_material_limits *next_limits = elastic->limits;
    elastic->is_projective = true;
    for (int32_t model = 0; model < model_count; model++) {
        int32_t begin = block;
        int lane = 0;
        sn_material_limits *limits = table[model].has_limits ? next_limits : NULL;
        for (int32_t t = 0; t < def->tet_count; t++) {
            if ((int32_t)def->materials[def->tet_material[t]].model != model)
                continue;
            set_lane(elastic, def, t, block, lane);
            if (limits)
                set_limits(&limits[block - begin], def, t, lane);
            if (++lane == SN_LANES)
                lane = 0, block++;
        }
        if (lane > 0 && limits)
            pad_limits(&limits[block - begin], lane);
        if (lane > 0)
            pad_block(&elastic->blocks[block++], lane);
        if (limits)
            next_limits += block - begin;
        if (block > begin) {
            SN_ASSERT(elastic->range_count < MAX_RANGES);
            sn_material_kernel *kernel = def->is_fast ? table[model].fast_kernel : table[model].kernel;
            elastic->range[elastic->range_count++] = (block_range){begin, block, kernel, limits};
            elastic->is_projective &= table[model].is_projective;
        }
    }
}

/// Lists, for every node, where its corners lie in the corner buffer.
static void index_corners(sn_elastic *elastic) {
    int32_t *start = elastic->corner_start;
    memset(start, 0, (size_t)(elastic->node_count + 1) * sizeof *start);
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t b = 0; b < elastic->block_count; b++)
            for (int a = 0; a < 4; a++)
                for (int lane = 0; lane < SN_LANES; lane++) {
                    if (elastic->blocks[b].volume[lane] <= 0)
                        continue;
                    int32_t node = elastic->blocks[b].node[a][lane];
                    if (pass == 0)
                        start[node + 1]++;
                    else
                        elastic->corner_place[start[node]++] = b * 12 * SN_LANES + a * 3 * SN_LANES + lane;
                }
        if (pass == 0)
            for (int32_t i = 0; i < elastic->node_count; i++)
                start[i + 1] += start[i];
    }
    // The second pass has moved every start to the next one.
    memmove(start + 1, start, (size_t)elastic->node_count * sizeof *start);
    start[0] = 0;
}

/// Number of blocks, or of those whose model has limits.
static int32_t count_blocks(const sn_elastic_def *def, bool only_limited) {
    int32_t model_count = 0, blocks = 0;
    const sn_material_info *table = sn_material_table(&model_count);
    for (int32_t model = 0; model < model_count; model++)
        if (table[model].has_limits || !only_limited)
            blocks += (count_tets_of(def, model) + SN_LANES - 1) / SN_LANES;
    return blocks;
}

sn_status sn_elastic_create(sn_context *ctx, const sn_elastic_def *def, sn_elastic **out_elastic) {
    sn_status status = SN_OK;
    sn_elastic *elastic = NULL;
    if (def->tet_count > MAX_TETS)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "%d tets are more than the %d that one model can hold",
                       def->tet_count, (int)MAX_TETS);
    SN_TRY_NEW_ZEROED(ctx, elastic, 1);
    elastic->ctx = ctx;
    elastic->node_count = def->node_count;
    elastic->tet_count = def->tet_count;
    elastic->spring_count = def->spring_count;
    elastic->block_count = count_blocks(def, false);
    SN_TRY_NEW(ctx, elastic->blocks, elastic->block_count);
    SN_TRY_NEW(ctx, elastic->limits, count_blocks(def, true));
    SN_TRY_NEW_ZEROED(ctx, elastic->block_weight, (int64_t)elastic->block_count * SN_LANES);
    SN_TRY_NEW(ctx, elastic->corners, elastic->block_count);
    SN_TRY_NEW(ctx, elastic->block_energy, elastic->block_count);
    SN_TRY_NEW(ctx, elastic->corner_start, elastic->node_count + 1);
    SN_TRY_NEW(ctx, elastic->corner_place, 4 * (int64_t)def->tet_count);
    SN_TRY(sn_new_copy(ctx, def->springs, (size_t)def->spring_count, sizeof *def->springs,
                       (void **)&elastic->springs));
    fill_blocks(elastic, def);
    index_corners(elastic);
    *out_elastic = elastic;
    return SN_OK;

cleanup:
    sn_elastic_destroy(&elastic);
    return status;
}

void sn_elastic_destroy(sn_elastic **elastic) {
    if (!elastic || !*elastic)
        return;
    sn_context *ctx = (*elastic)->ctx;
    SN_RELEASE(ctx, (*elastic)->blocks);
    SN_RELEASE(ctx, (*elastic)->limits);
    SN_RELEASE(ctx, (*elastic)->block_weight);
    SN_RELEASE(ctx, (*elastic)->corners);
    SN_RELEASE(ctx, (*elastic)->block_energy);
    SN_RELEASE(ctx, (*elastic)->corner_start);
    SN_RELEASE(ctx, (*elastic)->corner_place);
    SN_RELEASE(ctx, (*elastic)->springs);
    SN_RELEASE(ctx, *elastic);
}

bool sn_elastic_is_projective(const sn_elastic *elastic) {
    return elastic->is_projective;
}

sn_elastic_times sn_elastic_take_times(sn_elastic *elastic) {
    sn_elastic_times times = elastic->times;
    elastic->times = (sn_elastic_times){0};
    return times;
}

typedef struct evaluate_job {
    sn_elastic *elastic;
    const double *x;
    double *gradient;
    const block_range *range; ///< of element loops
} evaluate_job;

static void evaluate_blocks(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    evaluate_job *job = data;
    sn_elastic *elastic = job->elastic;
    const block_range *range = job->range;
    for (int32_t k = begin; k < end; k++) {
        int32_t b = range->begin + k;
        const sn_material_limits *limits = range->limits ? &range->limits[k] : NULL;
        elastic->block_energy[b] = sn_tet_block_energy(&elastic->blocks[b], range->kernel, limits, job->x,
                                                       job->gradient ? &elastic->corners[b] : NULL);
    }
}

static void gather_nodes(void *data, int32_t begin, int32_t end, int32_t thread) {
    (void)thread;
    evaluate_job *job = data;
    const double *corner = (const double *)job->elastic->corners;
    for (int32_t node = begin; node < end; node++) {
        double sum[3] = {0, 0, 0};
        for (int32_t k = job->elastic->corner_start[node]; k < job->elastic->corner_start[node + 1]; k++) {
            const double *from = corner + job->elastic->corner_place[k];
            sum[0] += from[0], sum[1] += from[SN_LANES], sum[2] += from[2 * SN_LANES];
        }
        memcpy(job->gradient + 3 * (int64_t)node, sum, sizeof sum);
    }
}

static double sum_block_energy(void *data, int32_t begin, int32_t end) {
    const sn_elastic *elastic = data;
    double sum = 0;
    for (int32_t b = begin; b < end; b++)
        sum += elastic->block_energy[b];
    return sum;
}

static void scatter_end(const sn_spring_end *end, const double force[3], double sign, double *gradient) {
    for (int k = 0; k < end->node_count; k++)
        for (int i = 0; i < 3; i++)
            gradient[3 * (int64_t)end->node[k] + i] += sign * end->weight[k] * force[i];
}

/// Springs are few beside tets; one thread keeps their order.
static void evaluate_springs(sn_elastic *elastic, const double *x, const double *targets, double *gradient,
                             sn_elastic_energy *energy) {
    for (int32_t s = 0; s < elastic->spring_count; s++) {
        const sn_spring *spring = &elastic->springs[s];
        double force[3];
        double value = sn_spring_energy(spring, x, targets + 3 * (int64_t)s, force);
        *(spring->b.node_count == 0 ? &energy->attachment : &energy->spring) += value;
        if (!gradient)
            continue;
        scatter_end(&spring->a, force, 1, gradient);
        scatter_end(&spring->b, force, -1, gradient);
    }
}

sn_elastic_energy sn_elastic_evaluate(sn_elastic *elastic, const double *x, const double *targets,
                                      double *gradient) {
    sn_elastic_energy energy = {0};
    double start = sn_clock();
    for (int32_t r = 0; r < elastic->range_count; r++) {
        const block_range *range = &elastic->range[r];
        evaluate_job job = {elastic, x, gradient, range};
        sn_parallel_for(elastic->ctx, range->end - range->begin, 4, evaluate_blocks, &job);
    }
    energy.solid = sn_parallel_sum(elastic->ctx, elastic->block_count, sum_block_energy, elastic);
    double middle = sn_clock();
    if (gradient) {
        evaluate_job job = {elastic, x, gradient, NULL};
        sn_parallel_for(elastic->ctx, elastic->node_count, 256, gather_nodes, &job);
    }
    evaluate_springs(elastic, x, targets, gradient, &energy);
    elastic->times.local += middle - start;
    elastic->times.gather += sn_clock() - middle;
    return energy;
}

sn_status sn_elastic_metric(const sn_elastic *elastic, int64_t *out_count, sn_triplet **out_triplets) {
    sn_triplet *triplets = NULL;
    int64_t room =
        (int64_t)elastic->tet_count * SN_TET_TRIPLETS + (int64_t)elastic->spring_count * SN_SPRING_TRIPLETS;
    sn_status status = sn_new(elastic->ctx, (size_t)room, sizeof *triplets, (void **)&triplets);
    if (status < 0)
        return status;
    int64_t count = 0;
    for (int32_t b = 0; b < elastic->block_count; b++) {
        const sn_tet_block *block = &elastic->blocks[b];
        for (int lane = 0; lane < SN_LANES; lane++) {
            if (block->volume[lane] <= 0)
                continue;
            double D[9];
            int32_t node[4];
            for (int k = 0; k < 9; k++)
                D[k] = block->shape[k][lane];
            for (int a = 0; a < 4; a++)
                node[a] = block->node[a][lane];
            sn_tet_metric(node, D, elastic->block_weight[(int64_t)b * SN_LANES + lane], triplets + count);
            count += SN_TET_TRIPLETS;
        }
    }
    for (int32_t s = 0; s < elastic->spring_count; s++)
        count += sn_spring_metric(&elastic->springs[s], triplets + count);
    *out_count = count;
    *out_triplets = triplets;
    return SN_OK;
}

void sn_elastic_tet_diagonal(const sn_elastic_def *def, double *out) {
    for (int32_t t = 0; t < def->tet_count; t++) {
        tet_data data = find_tet_data(def, t);
        sn_triplet entry[SN_TET_TRIPLETS];
        sn_tet_metric(data.node, data.D, data.weight, entry);
        for (int k = 0; k < SN_TET_TRIPLETS; k++)
            if (entry[k].row == entry[k].column)
                out[entry[k].row] += entry[k].value;
    }
}
