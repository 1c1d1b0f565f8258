// The temperature of a block, by the factor alone: the Poisson equation on a cube, a heater that is switched
// without solving for the block again, and a part of the block replaced. Needs <sinew/factor.h> and nothing
// else of Sinew.
//
//     -div(k grad u) = f in the unit cube,  u = 0 on five sides,  no flow through the top z = 1
//
// For k = 1 and f = 9/4 pi^2 u the solution is known: u = sin(pi x) sin(pi y) sin(pi z / 2).
#include <sinew/factor.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A grid of cells^3 cubes of edge h. Unknowns are the nodes (i, j, k) with i, j = 1 to cells - 1 and k = 1 to
// cells; their equations say how much heat (W) leaves the volume around the node.
typedef struct grid {
    int32_t cells, side, n; // along an edge; unknowns along x and y; unknowns
    double h, k_inside;     // k in the region from 0.3 to 0.5 in x, y and z; it is 1 elsewhere
    int64_t *start;         // [n + 1] the lower triangle by rows, as sn_factor_matrix wants it
    int32_t *column;        // [start[n]]
    double *value;          // [start[n]]
} grid;

static void find_node(const grid *g, int32_t unknown, int32_t node[3]) {
    node[0] = unknown % g->side + 1;
    node[1] = unknown / g->side % g->side + 1;
    node[2] = unknown / (g->side * g->side) + 1;
}

// Heat per kelvin (W/K) between a node and its neighbor before (-1) or after it (1) along an axis.
static double conductance(const grid *g, const int32_t node[3], int32_t axis, int32_t step) {
    const int is_top = node[2] == g->cells;
    if (is_top && axis == 2 && step > 0)
        return 0; // nothing is above the top
    int is_inside = 1;
    for (int32_t c = 0; c < 3; c++) {
        const double middle = g->h * (node[c] + (c == axis ? 0.5 * step : 0));
        is_inside = is_inside && middle > 0.3 && middle < 0.5;
    }
    const double area = is_top && axis < 2 ? 0.5 : 1; // in h^2: half a volume is at the top
    return area * g->h * (is_inside ? g->k_inside : 1);
}

// Writes pattern and values. A neighbor on a cold side (u = 0) adds to the diagonal alone.
static void assemble(grid *g) {
    const int32_t stride[3] = {1, g->side, g->side * g->side};
    int64_t entry = 0;
    for (int32_t row = 0; row < g->n; row++) {
        int32_t node[3];
        double diagonal = 0;
        find_node(g, row, node);
        g->start[row] = entry;
        for (int32_t axis = 2; axis >= 0; axis--) {
            const double before = conductance(g, node, axis, -1);
            diagonal += before + conductance(g, node, axis, 1);
            if (node[axis] > 1) {
                g->column[entry] = row - stride[axis];
                g->value[entry++] = -before;
            }
        }
        g->column[entry] = row;
        g->value[entry++] = diagonal;
    }
    g->start[g->n] = entry;
}

static void grid_end(grid *g) {
    free(g->start);
    free(g->column);
    free(g->value);
}

// To be ended with grid_end() in any case.
static sn_status grid_begin(grid *g, int32_t cells) {
    const int32_t side = cells - 1, n = side * side * cells;
    *g = (grid){.cells = cells, .side = side, .n = n, .h = 1.0 / cells, .k_inside = 1};
    g->start = malloc(((size_t)n + 1) * sizeof *g->start);
    g->column = malloc(4 * (size_t)n * sizeof *g->column);
    g->value = malloc(4 * (size_t)n * sizeof *g->value);
    if (!g->start || !g->column || !g->value)
        return SN_ERR_NO_MEMORY;
    assemble(g);
    return SN_OK;
}

static sn_factor_matrix matrix_of(const grid *g) {
    return (sn_factor_matrix){g->n, g->start, g->column, g->value};
}

// The known solution, and the heat that is made around each node (W).
static void solution(const grid *g, double *u, double *load) {
    const double pi = acos(-1);
    for (int32_t i = 0; i < g->n; i++) {
        int32_t node[3];
        find_node(g, i, node);
        const double volume = (node[2] == g->cells ? 0.5 : 1) * g->h * g->h * g->h;
        u[i] = sin(pi * g->h * node[0]) * sin(pi * g->h * node[1]) * sin(pi * g->h * node[2] / 2);
        load[i] = 2.25 * pi * pi * u[i] * volume;
    }
}

// Unknowns with x and y from `low` to `high` and z from `bottom` to `top`, ascending; returns how many.
static int32_t list_box(const grid *g, double low, double high, double bottom, double top, int32_t *list) {
    int32_t count = 0;
    for (int32_t i = 0; i < g->n; i++) {
        int32_t node[3];
        find_node(g, i, node);
        const double x = (double)node[0] / g->cells, y = (double)node[1] / g->cells,
                     z = (double)node[2] / g->cells;
        if (x >= low && x <= high && y >= low && y <= high && z >= bottom && z <= top)
            list[count++] = i;
    }
    return count;
}

// 1. Solves on one grid with the defaults (nothing kept, L in float) and compares with the known solution.
static sn_status solve(sn_context *context, int32_t cells, double *out_error) {
    grid g;
    sn_factor *factor = NULL;
    double residual = 0;
    sn_status status = grid_begin(&g, cells);
    const sn_factor_matrix a = matrix_of(&g);
    double *u = malloc(3 * sizeof *u * (size_t)g.n), *load = u ? u + g.n : NULL, *x = u ? load + g.n : NULL;
    if (status >= 0)
        status = u ? sn_factor_create(context, &a, NULL, &factor) : SN_ERR_NO_MEMORY;
    if (status >= 0)
        status = sn_factor_numeric(factor, &a);
    if (status >= 0) {
        solution(&g, u, load);
        memcpy(x, load, sizeof *x * (size_t)g.n);
        status = sn_factor_solve(factor, 1, x);
    }
    // From the float solution to one that solves A x = b to 1e-12.
    if (status >= 0)
        status = sn_factor_refine(factor, &a, 1, load, x, 1e-12, 20, &residual);
    if (status >= 0) {
        *out_error = 0;
        for (int32_t i = 0; i < g.n; i++)
            *out_error = fmax(*out_error, fabs(x[i] - u[i]));
        printf("%2d^3 cells, %5d unknowns: error %.2e, residual %.0e", (int)cells, (int)g.n, *out_error,
               residual);
    }
    sn_factor_destroy(&factor);
    free(u);
    grid_end(&g);
    return status;
}

// A block with a heater on its top, which keeps the temperature there at or above a setting.
typedef struct block {
    grid g;
    sn_factor *factor;
    int32_t kept_count, late_count;
    int32_t *kept, *late; // the unknowns under the heater; those that see a change of k_inside
    double *load, *y, *x; // [n] heat made; the same after the forward sweep; temperatures
    double *reduced, *z;  // [kept_count] g2 of the forward sweep; temperatures under the heater
    double *schur;        // [kept_count, kept_count] S
} block;

static void block_end(block *b) {
    sn_factor_destroy(&b->factor);
    free(b->load);
    free(b->kept);
    grid_end(&b->g);
}

// To be ended with block_end() in any case.
static sn_status block_begin(sn_context *context, int32_t cells, block *b) {
    *b = (block){0};
    sn_status status = grid_begin(&b->g, cells);
    if (status < 0)
        return status;
    const size_t n = (size_t)b->g.n;
    b->kept = malloc(2 * n * sizeof *b->kept);
    if (!b->kept)
        return SN_ERR_NO_MEMORY;
    b->late = b->kept + n;
    b->kept_count = list_box(&b->g, 0.25, 0.75, 1, 1, b->kept);
    b->late_count = list_box(&b->g, 0.3 - b->g.h, 0.5 + b->g.h, 0.3 - b->g.h, 0.5 + b->g.h, b->late);

    const size_t m = (size_t)b->kept_count;
    b->load = malloc((3 * n + 2 * m + m * m) * sizeof *b->load);
    if (!b->load)
        return SN_ERR_NO_MEMORY;
    b->y = b->load + n;
    b->x = b->y + n;
    b->reduced = b->x + n;
    b->z = b->reduced + m;
    b->schur = b->z + m;

    sn_factor_def def = sn_factor_def_default();
    def.kept = b->kept;
    def.kept_count = b->kept_count;
    def.late = b->late;
    def.late_count = b->late_count;
    def.keep = SN_FACTOR_KEEP_LATE; // what sn_factor_update() needs after changes of the late unknowns
    def.storage = SN_FACTOR_DOUBLE; // full precision without refinement
    const sn_factor_matrix a = matrix_of(&b->g);
    return sn_factor_create(context, &a, &def, &b->factor);
}

// Temperatures under the heater: S z = g2 wherever z is above the setting. Projected Gauss-Seidel on the
// small dense S; the rest of the block takes no part. Returns the heater's power.
static double regulate(const block *b, double setting) {
    const int32_t m = b->kept_count;
    double power = 0, change = 1;
    for (int32_t i = 0; i < m; i++)
        b->z[i] = setting;
    for (int32_t sweep = 0; sweep < 1000 && change > 1e-14; sweep++) {
        change = power = 0;
        for (int32_t i = 0; i < m; i++) {
            double excess = b->reduced[i];
            for (int32_t j = 0; j < m; j++)
                excess -= b->schur[i * m + j] * b->z[j];
            const double z = fmax(setting, b->z[i] + excess / b->schur[i * m + i]);
            change = fmax(change, fabs(z - b->z[i]));
            b->z[i] = z;
            power -= excess;
        }
    }
    return power;
}

// The largest |load - A x| where no heater makes up for it, as a part of the largest load.
static double imbalance(const block *b) {
    const grid *g = &b->g;
    double *rest = b->y, largest = 0, most = 0; // y has served
    memcpy(rest, b->load, sizeof *rest * (size_t)g->n);
    for (int32_t row = 0; row < g->n; row++)
        for (int64_t e = g->start[row]; e < g->start[row + 1]; e++) {
            const int32_t column = g->column[e];
            rest[row] -= g->value[e] * b->x[column];
            if (column != row)
                rest[column] -= g->value[e] * b->x[row];
        }
    for (int32_t k = 0; k < b->kept_count; k++)
        rest[b->kept[k]] = 0;
    for (int32_t i = 0; i < g->n; i++) {
        largest = fmax(largest, fabs(rest[i]));
        most = fmax(most, fabs(b->load[i]));
    }
    return largest / most;
}

// One forward sweep for the load; then for each setting a small problem and a backward sweep.
static sn_status heat(block *b) {
    memcpy(b->y, b->load, sizeof *b->y * (size_t)b->g.n);
    sn_status status = sn_factor_schur(b->factor, b->schur);
    if (status >= 0)
        status = sn_factor_forward(b->factor, 1, b->y, b->reduced);
    for (int32_t tenths = 6; status >= 0 && tenths <= 14; tenths += 4) {
        const double power = regulate(b, 0.1 * tenths);
        memcpy(b->x, b->y, sizeof *b->x * (size_t)b->g.n);
        status = sn_factor_backward(b->factor, 1, b->x, b->z);
        double hottest = 0;
        for (int32_t i = 0; i < b->g.n; i++)
            hottest = fmax(hottest, b->x[i]);
        if (status >= 0)
            printf("    heater at %.1f: power %.4f, hottest %.4f\n", 0.1 * tenths, power, hottest);
    }
    if (status >= 0)
        printf("    out of balance by %.0e\n", imbalance(b));
    return status;
}

// 2. Heats a block from its top, then once more with an insulator in the region inside.
static sn_status heat_twice(sn_context *context, int32_t cells) {
    block b;
    sn_status status = block_begin(context, cells, &b);
    if (status >= 0) {
        const sn_factor_matrix a = matrix_of(&b.g);
        status = sn_factor_numeric(b.factor, &a);
    }
    if (status >= 0) {
        printf("%d unknowns kept under the heater\n", (int)b.kept_count);
        solution(&b.g, b.x, b.load);
        status = heat(&b);
    }
    if (status >= 0) {
        b.g.k_inside = 0.01;
        assemble(&b.g);
        const sn_factor_matrix a = matrix_of(&b.g);
        status = sn_factor_update(b.factor, &a, SN_FACTOR_FIND_CHANGED, NULL);
    }
    if (status >= 0) {
        const sn_factor_info info = sn_factor_get_info(b.factor);
        printf("an insulator inside, for %.0f %% of the operations of a factorization\n",
               100 * info.done_flops / info.work_flops);
        status = heat(&b);
    }
    block_end(&b);
    return status;
}

int main(void) {
    sn_context *context = NULL;
    sn_status status = sn_context_create(NULL, &context);
    double coarser = 0;
    for (int32_t cells = 8; status >= 0 && cells <= 32; cells *= 2) {
        double error = 0;
        status = solve(context, cells, &error);
        if (status >= 0 && coarser > 0)
            printf(", order %.2f", log2(coarser / error));
        printf("\n");
        coarser = error;
    }
    if (status >= 0)
        status = heat_twice(context, 32);
    if (status < 0)
        fprintf(stderr, "%s: %s\n", sn_status_name(status), sn_context_message(context));
    sn_context_destroy(&context);
    return status != SN_OK;
}
