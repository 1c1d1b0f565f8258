/// The scalar lattice matrices of projective dynamics, exact zeros dropped: factorization time, solve time
/// with three right-hand sides, entries of L; against CHOLMOD with 1 and 2 threads, whichever is faster.
#include "bench.h"
#include "bench_cholmod.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// A growing matrix: rows are added in order, each with its neighbors below in ascending order.
typedef struct matrix_builder {
    int32_t n;
    int64_t *start;
    int32_t *column;
    double *value;
} matrix_builder;

static bool builder_create(matrix_builder *b, int32_t n, int32_t row_entries) {
    size_t count = (size_t)n * (size_t)row_entries;
    *b = (matrix_builder){.start = calloc((size_t)n + 1, sizeof *b->start),
                          .column = malloc(count * sizeof *b->column),
                          .value = malloc(count * sizeof *b->value)};
    return b->start && b->column && b->value;
}

static void builder_destroy(matrix_builder *b) {
    free(b->value);
    free(b->column);
    free(b->start);
}

static void add_entry(matrix_builder *b, int32_t column, double value) {
    b->column[b->start[b->n + 1]] = column;
    b->value[b->start[b->n + 1]++] = value;
}

static void begin_row(matrix_builder *b) {
    b->start[b->n + 1] = b->start[b->n];
}

static void end_row(matrix_builder *b, double diagonal) {
    add_entry(b, b->n, diagonal);
    b->n++;
}

static sn_factor_matrix builder_matrix(const matrix_builder *b) {
    return (sn_factor_matrix){b->n, b->start, b->column, b->value};
}

/// Kuhn lattice of side^3 nodes: the 7-point stencil.
static bool build_kuhn(int32_t side, matrix_builder *b) {
    if (!builder_create(b, side * side * side, 4))
        return false;
    for (int32_t k = 0; k < side; k++)
        for (int32_t j = 0; j < side; j++)
            for (int32_t i = 0; i < side; i++) {
                begin_row(b);
                if (k > 0)
                    add_entry(b, b->n - side * side, -1);
                if (j > 0)
                    add_entry(b, b->n - side, -1);
                if (i > 0)
                    add_entry(b, b->n - 1, -1);
                end_row(b, 6.05);
            }
    return true;
}

/// BCC lattice of cells^3 cells: corners first, then centers, each joined to the 8 corners around it.
static bool build_bcc(int32_t cells, matrix_builder *b) {
    int32_t side = cells + 1, corners = side * side * side;
    if (!builder_create(b, corners + cells * cells * cells, 9))
        return false;
    for (int32_t i = 0; i < corners; i++) {
        begin_row(b);
        end_row(b, 8.05);
    }
    for (int32_t k = 0; k < cells; k++)
        for (int32_t j = 0; j < cells; j++)
            for (int32_t i = 0; i < cells; i++) {
                begin_row(b);
                for (int32_t corner = 0; corner < 8; corner++)
                    add_entry(b, i + corner % 2 + side * (j + corner / 2 % 2 + side * (k + corner / 4)), -1);
                end_row(b, 8.05);
            }
    return true;
}

typedef struct our_run {
    sn_factor *factor;
    sn_factor_matrix matrix;
    double *x;
} our_run;

static bool run_numeric(void *data) {
    our_run *run = data;
    return sn_factor_numeric(run->factor, &run->matrix) == SN_OK;
}

static bool run_solve(void *data) {
    our_run *run = data;
    for (int64_t i = 0; i < 3 * (int64_t)run->matrix.n; i++)
        run->x[i] = 1;
    return sn_factor_solve(run->factor, 3, run->x) == SN_OK;
}

typedef struct timing {
    double numeric, solve; ///< ms; negative after a failure
    double nonzeros;
} timing;

static timing time_ours(const bench_options *options, const sn_factor_matrix *matrix) {
    timing result = {-1, -1, 0};
    sn_context *ctx = NULL;
    sn_context_def def = sn_context_def_default();
    def.thread_count = options->threads;
    our_run run = {.matrix = *matrix, .x = malloc(3 * sizeof *run.x * (size_t)matrix->n)};
    if (run.x && sn_context_create(&def, &ctx) == SN_OK &&
        sn_factor_create(ctx, matrix, NULL, &run.factor) == SN_OK) {
        result.nonzeros = (double)sn_factor_get_info(run.factor).nonzeros;
        result.numeric = bench_time(options->repetitions, run_numeric, &run);
        result.solve = bench_time(options->repetitions, run_solve, &run);
    } else {
        fprintf(stderr, "factor: %s\n", sn_context_message(ctx));
    }
    sn_factor_destroy(&run.factor);
    sn_context_destroy(&ctx);
    free(run.x);
    return result;
}

static timing time_cholmod(const bench_options *options, const sn_factor_matrix *matrix) {
    timing result = {-1, -1, 0};
    bench_cholmod *peer = bench_cholmod_create(matrix);
    if (!peer)
        return result;
    result.numeric = bench_cholmod_time(options, bench_cholmod_numeric, peer);
    result.solve = bench_cholmod_time(options, bench_cholmod_solve, peer);
    result.nonzeros = bench_cholmod_nonzeros(peer);
    bench_cholmod_destroy(peer);
    return result;
}

static bool measure(const bench_options *options, bench_report *report, const char *name,
                    const matrix_builder *b) {
    sn_factor_matrix matrix = builder_matrix(b);
    timing ours = time_ours(options, &matrix), peer = time_cholmod(options, &matrix);
    if (ours.numeric < 0 || ours.solve < 0 || peer.numeric < 0 || peer.solve < 0) {
        fprintf(stderr, "factor: %s failed\n", name);
        return false;
    }
    bench_row row = {.bench = "factor", .name = name, .peer_name = "CHOLMOD"};
    snprintf(row.note, sizeof row.note, "%d nodes, METIS, double, %d threads", (int)matrix.n,
             (int)options->threads);
    row.quantity = "numeric", row.unit = "ms", row.ours = ours.numeric, row.peer = peer.numeric,
    row.target = 2;
    bench_report_add(report, &row);
    row.quantity = "solve of 3", row.ours = ours.solve, row.peer = peer.solve, row.target = 1;
    bench_report_add(report, &row);
    row.quantity = "nnz(L)", row.unit = "1", row.ours = ours.nonzeros, row.peer = peer.nonzeros,
    row.target = 1.05;
    bench_report_add(report, &row);
    return true;
}

bool bench_factor(const bench_options *options, bench_report *report) {
    matrix_builder kuhn = {0}, bcc = {0};
    bool done = build_kuhn(options->quick ? 28 : 48, &kuhn) && build_bcc(options->quick ? 22 : 38, &bcc) &&
                measure(options, report, "Kuhn lattice", &kuhn) &&
                measure(options, report, "BCC lattice", &bcc);
    builder_destroy(&bcc);
    builder_destroy(&kuhn);
    return done;
}
