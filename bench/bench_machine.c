#include "bench.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READ_DOUBLES = 32 << 20, PRODUCT_SIZE = 1536, TRIES = 5 };

static void read_cpu_name(char *name, size_t size) {
    snprintf(name, size, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file)
        return;
    char line[256];
    while (fgets(line, sizeof line, file)) {
        char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value)
            continue;
        value[strcspn(value, "\n")] = '\0';
        snprintf(name, size, "%s", value + 2);
        break;
    }
    fclose(file);
}

double bench_load(void) {
    double load = -1;
    FILE *file = fopen("/proc/loadavg", "r");
    if (!file)
        return load;
    if (fscanf(file, "%lf", &load) != 1)
        load = -1;
    fclose(file);
    return load;
}

/// Best of several passes over memory far larger than caches.
static double measure_read(int32_t threads) {
    double *memory = malloc(READ_DOUBLES * sizeof *memory), best = 0, total = 0;
    if (!memory)
        return 0;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int32_t i = 0; i < READ_DOUBLES; i++)
        memory[i] = 1;
    for (int32_t pass = 0; pass < TRIES; pass++) {
        double begin = bench_clock();
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : total)
        for (int32_t block = 0; block < READ_DOUBLES / 64; block++) {
            // Independent sums, so that additions do not hold up the loads.
            double sum[16] = {0};
            for (int32_t i = 0; i < 64; i++)
                sum[i % 16] += memory[block * 64 + i];
            for (int32_t i = 0; i < 16; i++)
                total += sum[i];
        }
        double rate = 1e-9 * READ_DOUBLES * sizeof *memory / (bench_clock() - begin);
        best = rate > best ? rate : best;
    }
    free(memory);
    // Reading the sum keeps the loop alive.
    return total > 0 ? best : 0;
}

static double measure_product(int32_t threads) {
    size_t n = PRODUCT_SIZE;
    double *a = calloc(n * n, sizeof *a), *b = calloc(n * n, sizeof *b), *c = calloc(n * n, sizeof *c),
           best = 0;
    openblas_set_num_threads(threads);
    for (int32_t pass = 0; a && b && c && pass < TRIES; pass++) {
        double begin = bench_clock();
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, PRODUCT_SIZE, PRODUCT_SIZE, PRODUCT_SIZE, 1, a,
                    PRODUCT_SIZE, b, PRODUCT_SIZE, 0, c, PRODUCT_SIZE);
        double rate = 2e-9 * (double)n * (double)n * (double)n / (bench_clock() - begin);
        best = rate > best ? rate : best;
    }
    openblas_set_num_threads(1);
    free(c);
    free(b);
    free(a);
    return best;
}

bench_machine bench_machine_measure(int32_t threads) {
    bench_machine machine = {.cores = omp_get_num_procs()};
    read_cpu_name(machine.cpu, sizeof machine.cpu);
    machine.read_bandwidth = measure_read(threads);
    machine.flops = measure_product(threads);
    return machine;
}

double bench_peer_time(const bench_options *options, bool (*run)(void *data), void *data) {
    double best = INFINITY;
    for (int32_t threads = 1; threads <= options->threads && threads <= 2; threads++) {
        openblas_set_num_threads(threads);
        best = fmin(best, bench_time(options->repetitions, run, data));
    }
    openblas_set_num_threads(1);
    return best;
}
