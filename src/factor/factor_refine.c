/// Solutions to the accuracy of the matrix from a factor of less: conjugate gradients preconditioned by it.
#include "factor/factor_internal.h"

#include <math.h>
#include <string.h>

/// One call: every right-hand side has its own steps.
typedef struct refine {
    sn_factor *factor;
    const sn_factor_matrix *matrix;
    int32_t width;
    int64_t count; ///< n * width
    const double *b;
    double *x;
    double norm[3];     ///< |b| of each right-hand side; 1 where that is 0
    double weight[3];   ///< residual times correction in the last step
    double relative[3]; ///< |b - A x| / |b|
} refine;

static double relative_residual(const refine *r) {
    double most = 0;
    // A NaN stays.
    for (int32_t k = 0; k < r->width; k++)
        most = r->relative[k] <= most ? most : r->relative[k];
    return most;
}

/// out = A x.
static void multiply(const refine *r, const double *x, double *out) {
    const sn_factor_matrix *a = r->matrix;
    int32_t width = r->width;
    for (int32_t row = 0; row < a->n; row++) {
        int64_t end = a->start[row + 1];
        double sum[3] = {0};
        for (int64_t e = a->start[row]; e < end; e++)
            for (int32_t k = 0; k < width; k++)
                sum[k] += a->value[e] * x[(int64_t)a->column[e] * width + k];
        for (int32_t k = 0; k < width; k++)
            out[(int64_t)row * width + k] = sum[k];
        // The transposed part; columns of the row are above it, so their sums have begun.
        for (int64_t e = a->start[row]; e < end - 1; e++)
            for (int32_t k = 0; k < width; k++)
                out[(int64_t)a->column[e] * width + k] += a->value[e] * x[(int64_t)row * width + k];
    }
}

static void dot(const refine *r, const double *a, const double *b, double *out) {
    for (int32_t k = 0; k < r->width; k++)
        out[k] = 0;
    for (int64_t i = 0; i < r->count; i += r->width)
        for (int32_t k = 0; k < r->width; k++)
            out[k] += a[i + k] * b[i + k];
}

/// residual = b - A x and its size.
static void find_residual(refine *r) {
    double *residual = r->factor->refinement.residual, square[3];
    multiply(r, r->x, residual);
    for (int64_t i = 0; i < r->count; i++)
        residual[i] = r->b[i] - residual[i];
    dot(r, residual, residual, square);
    for (int32_t k = 0; k < r->width; k++)
        r->relative[k] = sqrt(square[k]) / r->norm[k];
}

/// One step along the corrected residual, made conjugate to the step before (Polak and Ribiere's form, which
/// forgives that the factor is not exactly linear).
static sn_status step(refine *r, bool is_first) {
    const sn_factor_refinement *v = &r->factor->refinement;
    double weight[3], old[3], curvature[3];
    memcpy(v->correction, v->residual, (size_t)r->count * sizeof *v->correction);
    sn_status status = sn_factor_solve(r->factor, r->width, v->correction);
    if (status < 0)
        return status;
    dot(r, v->correction, v->residual, weight);
    dot(r, v->correction, v->last_residual, old);
    for (int64_t i = 0; i < r->count; i++) {
        int64_t k = i % r->width;
        double keep = is_first || r->weight[k] == 0 ? 0 : (weight[k] - old[k]) / r->weight[k];
        v->direction[i] = v->correction[i] + keep * v->direction[i];
    }
    memcpy(v->last_residual, v->residual, (size_t)r->count * sizeof *v->residual);
    multiply(r, v->direction, v->product);
    dot(r, v->direction, v->product, curvature);
    dot(r, v->direction, v->residual, old);
    for (int64_t i = 0; i < r->count; i++) {
        int64_t k = i % r->width;
        r->x[i] += curvature[k] > 0 ? old[k] / curvature[k] * v->direction[i] : 0;
    }
    memcpy(r->weight, weight, sizeof weight);
    return SN_OK;
}

/// Once, so that later calls allocate nothing.
static sn_status allocate(sn_factor *factor) {
    sn_status status = SN_OK;
    sn_factor_refinement *v = &factor->refinement;
    double **vectors[] = {&v->residual, &v->last_residual, &v->correction, &v->direction, &v->product};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
        if (*vectors[k])
            continue;
        SN_TRY_NEW_ZEROED(factor->context, *vectors[k], (size_t)factor->info.n * 3);
    }

cleanup:
    return status;
}

static sn_status check_refine(const sn_factor *factor, const sn_factor_matrix *matrix, int32_t width,
                              const double *b, const double *x, double tolerance, int32_t iterations) {
    sn_context *ctx = factor->context;
    sn_status status = sn_factor_check_matrix(factor, matrix);
    if (status < 0)
        return status;
    if (!factor->has_numbers)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "the factor holds no numbers: factor a matrix first");
    if (width < 1 || width > 3)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "%d right-hand sides; 1 to 3 are allowed", (int)width);
    if (factor->info.n > 0 && (!b || !x))
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "no right-hand side, or no array for the solution");
    if (!(tolerance >= 0) || iterations < 0)
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "tolerance %g and %d iterations must not be negative",
                       tolerance, (int)iterations);
    return SN_OK;
}

sn_status sn_factor_refine(sn_factor *factor, const sn_factor_matrix *matrix, int32_t width, const double *b,
                           double *x, double tolerance, int32_t iterations, double *out_residual) {
    if (!factor)
        return SN_ERR_INVALID_ARGUMENT;
    sn_status status = SN_OK;
    double square[3];
    refine r = {.factor = factor,
                .matrix = matrix,
                .width = width,
                .count = (int64_t)factor->info.n * width,
                .b = b,
                .x = x};
    SN_TRY(check_refine(factor, matrix, width, b, x, tolerance, iterations));
    SN_TRY(allocate(factor));
    dot(&r, b, b, square);
    for (int32_t k = 0; k < width; k++)
        if (!isfinite(square[k]))
            SN_TRY(sn_fail(factor->context, SN_ERR_NON_FINITE,
                           "right-hand side %d holds a number that is not finite, or too large to square",
                           (int)k));
    for (int32_t k = 0; k < width; k++)
        r.norm[k] = square[k] > 0 ? sqrt(square[k]) : 1;
    find_residual(&r);
    for (int32_t k = 0; k < iterations && !(relative_residual(&r) <= tolerance); k++) {
        SN_TRY(step(&r, k == 0));
        find_residual(&r);
    }
    if (out_residual)
        *out_residual = relative_residual(&r);
    if (!(relative_residual(&r) <= tolerance))
        status = SN_NOT_CONVERGED;

cleanup:
    return status;
}
