#define _POSIX_C_SOURCE 200809L
#include "io/io_recorder_summary.h"

#include "io/io_json.h"
#include "io/io_recorder_file.h"
#include "sinew/version.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

// ---- Times

static int compare_numbers(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/// Value that a share of the sorted values [count] does not exceed, linear between neighbors; NaN if there
/// are none.
static double quantile(const double *sorted, int32_t count, double share) {
    if (count == 0)
        return NAN;
    double place = share * (count - 1);
    int32_t below = (int32_t)place, above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}

sn_status sn_run_summary_times(sn_context *ctx, int32_t frame_count, const sn_frame_record *record,
                               sn_run_summary *summary) {
    sn_status status = SN_OK;
    double *ms = NULL;
    int32_t count = frame_count - 1;
    SN_TRY_NEW(ctx, ms, count);
    for (int32_t i = 0; i < count; i++)
        ms[i] = record[i + 1].ms;
    if (count > 0)
        qsort(ms, (size_t)count, sizeof *ms, compare_numbers);
    summary->ms_median = quantile(ms, count, 0.5);
    summary->ms_p90 = quantile(ms, count, 0.9);
cleanup:
    SN_RELEASE(ctx, ms);
    return status;
}

// ---- The machine

/// Name of the processor as the system gives it.
static void cpu_name(char *out, size_t size) {
    snprintf(out, size, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file)
        return;
    char line[512];
    while (fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon) {
            colon[1 + strcspn(colon + 1, "\n")] = '\0';
            snprintf(out, size, "%s", colon + 1 + strspn(colon + 1, " "));
            break;
        }
    }
    fclose(file);
}

/// The process' largest resident size so far.
static int64_t peak_memory_bytes(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (int64_t)usage.ru_maxrss * 1024 : 0;
}

// ---- The object

static void put_status_counts(sn_json *json, const sn_run_totals *totals) {
    sn_json_key(json, "status");
    sn_json_open(json, '{');
    sn_json_put_integer(json, "converged", totals->converged);
    sn_json_put_integer(json, "budget", totals->budget);
    sn_json_put_integer(json, "stalled", totals->stalled);
    sn_json_close(json, '}');
}

static void put_frame_times(sn_json *json, const sn_run_summary *summary) {
    sn_json_key(json, "ms_per_frame");
    sn_json_open(json, '{');
    sn_json_put_number(json, "median", summary->ms_median);
    sn_json_put_number(json, "p90", summary->ms_p90);
    sn_json_close(json, '}');
}

static void put_setup_times(sn_json *json, const sn_run_info *run) {
    sn_json_key(json, "setup_ms");
    sn_json_open(json, '{');
    sn_json_put_number(json, "total", 1e3 * run->setup_seconds);
    sn_json_close(json, '}');
}

static void put_summary(sn_context *ctx, const sn_run_summary *summary, sn_json *json) {
    sn_model_info info = sn_model_get_info(sn_state_model(summary->state));
    char hash[32], cpu[256];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)sn_state_hash(summary->state));
    cpu_name(cpu, sizeof cpu);
    json->lines = true;
    sn_json_open(json, '{');
    sn_json_put_text(json, "version", sn_version());
    sn_json_put_text(json, "scene", summary->run->scene_path);
    sn_json_put_integer(json, "nodes", info.node_count);
    sn_json_put_integer(json, "elements", info.tet_count);
    sn_json_put_integer(json, "kept_nodes", info.kept_node_count);
    sn_json_put_integer(json, "frames", summary->totals.frames);
    sn_json_put_integer(json, "frames_planned", summary->run->frame_total);
    put_status_counts(json, &summary->totals);
    if (summary->precision)
        sn_json_put_text(json, "precision", summary->precision);
    sn_json_put_text(json, "state_hash", hash);
    put_frame_times(json, summary);
    put_setup_times(json, summary->run);
    sn_json_put_integer(json, "peak_memory_bytes", peak_memory_bytes());
    sn_json_put_integer(json, "threads", sn_context_thread_count(ctx));
    sn_json_put_text(json, "cpu", cpu);
    sn_json_close(json, '}');
    sn_json_raw(json, "\n");
}

sn_status sn_run_summary_write(sn_context *ctx, const char *directory, const sn_run_summary *summary) {
    sn_status status = SN_OK;
    sn_json json = sn_json_make(ctx);
    put_summary(ctx, summary, &json);
    SN_TRY(json.status);
    SN_TRY(sn_output_write_whole(ctx, directory, SN_SUMMARY_FILE, json.text, json.length));
cleanup:
    sn_json_release(&json);
    return status;
}
