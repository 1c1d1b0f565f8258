#include "bench.h"

#include <math.h>
#include <stdio.h>

static void write_text(FILE *file, const char *text) {
    fputc('"', file);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(file, "\\%c", *c);
        else if ((unsigned char)*c < 0x20)
            fprintf(file, "\\u%04x", (unsigned)*c);
        else
            fputc(*c, file);
    }
    fputc('"', file);
}

static void write_text_member(FILE *file, const char *key, const char *text) {
    fprintf(file, "\"%s\": ", key);
    write_text(file, text);
    fputs(", ", file);
}

/// JSON has no infinity and no NaN.
static void write_number_member(FILE *file, const char *key, double value) {
    if (isfinite(value))
        fprintf(file, "\"%s\": %.6g, ", key, value);
    else
        fprintf(file, "\"%s\": null, ", key);
}

static void write_row(FILE *file, const bench_row *row) {
    fputs("    {", file);
    write_text_member(file, "bench", row->bench);
    write_text_member(file, "case", row->name);
    write_text_member(file, "quantity", row->quantity);
    write_text_member(file, "unit", row->unit);
    write_number_member(file, "ours", row->ours);
    if (row->peer_name) {
        write_text_member(file, "peer_name", row->peer_name);
        write_number_member(file, "peer", row->peer);
        write_number_member(file, "ratio", bench_row_ratio(row));
    }
    if (row->target > 0) {
        write_number_member(file, "target", row->target);
        fprintf(file, "\"pass\": %s, ", bench_row_passes(row) ? "true" : "false");
    }
    fputs("\"note\": ", file);
    write_text(file, row->note);
    fputc('}', file);
}

bool bench_json_write(const char *path, const bench_machine *machine, const bench_report *report) {
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    fputs("{\n  \"machine\": {", file);
    write_text_member(file, "cpu", machine->cpu);
    write_number_member(file, "read_bandwidth_GBps", machine->read_bandwidth);
    write_number_member(file, "flops_GFps", machine->flops);
    write_number_member(file, "load_average", machine->load);
    fprintf(file, "\"cores\": %d},\n  \"rows\": [\n", (int)machine->cores);
    for (int32_t i = 0; i < report->count; i++) {
        write_row(file, &report->rows[i]);
        fputs(i + 1 < report->count ? ",\n" : "\n", file);
    }
    fputs("  ]\n}\n", file);
    bool written = !ferror(file);
    return fclose(file) == 0 && written;
}
