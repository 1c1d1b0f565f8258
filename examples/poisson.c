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

// Unknowns of the finest grid, and those of them under the heater.
enum { CELLS = 32, MOST = (CELLS - 1) * (CELLS - 1) * CELLS, KEPT = (CELLS / 2 + 1) * (CELLS / 2 + 1) };

// A grid of cells^3 cubes of edge h. Unknowns are the nodes (i, j, k) with i, j = 1 to cells - 1 and k = 1 to
// cells; their equations say how much heat (W) leaves the volume around the node.
typedef struct grid {
    int32_t cells, side, n;  // along an edge; unknowns along x and y; unknowns
    double h, k_inside;      // k in the region from 0.3 to 0.5 in x, y and z; it is 1 elsewhere
    int64_t start[MOST + 1]; // the lower triangle by rows, as sn_factor_matrix wants it
    int32_t column[4 * MOST];
    double value[4 * MOST];
} grid;

static sn_context *context;

static void must(sn_status status) {
    if (status < 0) {
        fprintf(stderr, "%s: %s\n", sn_status_name(status), sn_context_message(context));
        exit(1);
    }
}

static void find_node(const grid *g, int32_t unknown, int32_t node[3]) {
    node[0] = unknown % g->side + 1;
    node[1] = unknown / g->side % g->side + 1;
    node[2] = unknown / (g->side * g->side) + 1;
}

// Heat per kelvin (W/K) between a node and its neighbor before (-1) or after it (1) along an axis.
static double conductance(const grid *g, const int32_t node[3], int32_t axis, int32_t step) {
    const bool is_top = node[2] == g->cells;
    bool is_inside = true;
    for (int32_t c = 0; c < 3; c++) {
        const double middle = g->h * (node[c] + (c == axis ? 0.5 * step : 0));
        is_inside = is_inside && middle > 0.3 && middle < 0.5;
    }
    // Nothing is above the top, and only half a volume is at it.
    const double area = !is_top ? 1 : axis < 2 ? 0.5 : step < 0 ? 1 : 0;
    return area * g->h * (is_inside ? g->k_inside : 1);
}

// Writes pattern and values. A neighbor on a cold side (u = 0) adds to the diagonal alone.
static sn_factor_matrix assemble(grid *g) {
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
    return (sn_factor_matrix){g->n, g->start, g->column, g->value};
}

// Starts a grid; writes the known solution, and the heat that is made around each node (W).
static void begin(grid *g, int32_t cells, double *u, double *load) {
    const double pi = acos(-1), h = 1.0 / cells;
    int32_t node[3];
    g->cells = cells, g->side = cells - 1, g->n = g->side * g->side * cells, g->h = h, g->k_inside = 1;
    for (int32_t i = 0; i < g->n; i++) {
        find_node(g, i, node);
        u[i] = sin(pi * h * node[0]) * sin(pi * h * node[1]) * sin(pi * h * node[2] / 2);
        load[i] = 2.25 * pi * pi * u[i] * (node[2] == cells ? 0.5 : 1) * h * h * h;
    }
}

// 1. Solves on one grid with the defaults (nothing kept, L in float). Returns the error; `coarser` is that on
// the grid before.
static double solve(grid *g, int32_t cells, double coarser) {
    static double u[MOST], load[MOST], x[MOST];
    sn_factor *factor = NULL;
    double residual = 0, error = 0;
    begin(g, cells, u, load);
    const sn_factor_matrix a = assemble(g);
    must(sn_factor_create(context, &a, NULL, &factor));
    must(sn_factor_numeric(factor, &a));
    memcpy(x, load, sizeof x);
    must(sn_factor_solve(factor, 1, x));
    // From the float solution to one that solves A x = b to 1e-12.
    must(sn_factor_refine(factor, &a, 1, load, x, 1e-12, 20, &residual));
    for (int32_t i = 0; i < g->n; i++)
        error = fmax(error, fabs(x[i] - u[i]));
    printf("%2d^3 cells, %5d unknowns: error %.2e, residual %.0e", (int)cells, (int)g->n, error, residual);
    if (coarser > 0)
        printf(", order %.2f", log2(coarser / error));
    printf("\n");
    sn_factor_destroy(&factor);
    return error;
}

// Temperatures z under a heater that keeps them at or above a setting, and its power there: S z = g2 + power.
// Projected Gauss-Seidel on the small dense S; the rest of the block takes no part. Returns the whole power.
static double regulate(const double *schur, const double *g2, double setting, double *z, double *power) {
    double total = 0;
    for (int32_t sweep = 0; sweep < 300; sweep++)
        for (int32_t i = 0; i < KEPT; i++) {
            power[i] = -g2[i];
            for (int32_t j = 0; j < KEPT; j++)
                power[i] += schur[i * KEPT + j] * z[j];
            z[i] = fmax(setting, z[i] - power[i] / schur[i * KEPT + i]);
        }
    for (int32_t i = 0; i < KEPT; i++)
        total += power[i];
    return total;
}

// One forward sweep for the load; then for each setting a small problem and a backward sweep.
static void heat(sn_factor *factor, const sn_factor_matrix *a, const int32_t *kept, const double *load) {
    static double schur[KEPT * KEPT], y[MOST], x[MOST], b[MOST], g2[KEPT], z[KEPT], power[KEPT], residual;
    memcpy(y, load, sizeof y);
    must(sn_factor_schur(factor, schur));
    must(sn_factor_forward(factor, 1, y, g2));
    for (int32_t tenths = 6; tenths <= 14; tenths += 4) {
        const double total = regulate(schur, g2, 0.1 * tenths, z, power);
        memcpy(x, y, sizeof x);
        must(sn_factor_backward(factor, 1, x, z));
        memcpy(b, load, sizeof b);
        for (int32_t i = 0; i < KEPT; i++)
            b[kept[i]] += power[i];
        // No iterations: this only measures |b - A x| / |b|.
        must(sn_factor_refine(factor, a, 1, b, x, 0, 0, &residual));
        printf("    heater at %.1f: power %.4f, out of balance by %.0e\n", 0.1 * tenths, total, residual);
    }
}

// 2. Heats a block from its top, then once more with an insulator in the region inside.
static void heat_twice(grid *g) {
    static int32_t kept[MOST], late[MOST];
    static double u[MOST], load[MOST];
    sn_factor *factor = NULL;
    begin(g, CELLS, u, load);
    sn_factor_matrix a = assemble(g);
    sn_factor_def def = sn_factor_def_default();
    def.kept = kept; // the unknowns under the heater
    def.late = late; // those that see a change of k_inside
    for (int32_t i = 0; i < g->n; i++) {
        int32_t node[3], middle = CELLS / 2;
        double away = 0;
        find_node(g, i, node);
        for (int32_t c = 0; c < 3; c++)
            away = fmax(away, fabs(g->h * node[c] - 0.4));
        if (node[2] == CELLS && abs(node[0] - middle) <= CELLS / 4 && abs(node[1] - middle) <= CELLS / 4)
            kept[def.kept_count++] = i;
        else if (away <= 0.1 + g->h)
            late[def.late_count++] = i;
    }
    def.keep = SN_FACTOR_KEEP_LATE; // what sn_factor_update() needs after changes of the late unknowns
    def.storage = SN_FACTOR_DOUBLE; // full precision without refinement
    must(sn_factor_create(context, &a, &def, &factor));
    must(sn_factor_numeric(factor, &a));
    printf("%d unknowns kept under the heater\n", (int)def.kept_count);
    heat(factor, &a, kept, load);
    g->k_inside = 0.01;
    a = assemble(g);
    must(sn_factor_update(factor, &a, SN_FACTOR_FIND_CHANGED, NULL));
    const sn_factor_info info = sn_factor_get_info(factor);
    printf("an insulator inside, for %.0f %% of the operations of a factorization\n",
           100 * info.done_flops / info.work_flops);
    heat(factor, &a, kept, load);
    sn_factor_destroy(&factor);
}

int main(void) {
    static grid g;
    double error = 0;
    must(sn_context_create(NULL, &context));
    for (int32_t cells = 8; cells <= CELLS; cells *= 2)
        error = solve(&g, cells, error);
    heat_twice(&g);
    sn_context_destroy(&context);
    return 0;
}
