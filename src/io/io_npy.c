#include "io/io_npy.h"

#include <stdio.h>
#include <string.h>

/// Magic, version and the header's length take 10 bytes; the rest is text, padded so that the data start at a
/// multiple of 64 and the header can be rewritten in place with any number of frames.
enum { HEADER_SIZE = 128, PREAMBLE_SIZE = 10 };

static const char *const kind_names[] = {"<f4", "<f8", "<i4"};
static const size_t kind_sizes[] = {4, 8, 4};

static void make_header(char header[HEADER_SIZE], sn_npy_kind kind, const char *shape) {
    static const char preamble[PREAMBLE_SIZE] = {
        '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, HEADER_SIZE - PREAMBLE_SIZE, 0};
    memset(header, ' ', HEADER_SIZE);
    memcpy(header, preamble, PREAMBLE_SIZE);
    char text[HEADER_SIZE - PREAMBLE_SIZE];
    int length = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
                          kind_names[kind], shape);
    SN_ASSERT(length > 0 && (size_t)length < sizeof text);
    memcpy(header + PREAMBLE_SIZE, text, (size_t)length);
    header[HEADER_SIZE - 1] = '\n';
}

static void make_growing_header(char header[HEADER_SIZE], const sn_npy *npy) {
    char shape[64];
    snprintf(shape, sizeof shape, "%lld, %d, %d", (long long)npy->frame_count, npy->rows, npy->columns);
    make_header(header, npy->kind, shape);
}

sn_status sn_npy_open(sn_context *ctx, const char *directory, const char *name, sn_npy_kind kind,
                      int32_t rows, int32_t columns, sn_npy *npy) {
    sn_status status = SN_OK;
    sn_npy made = {.kind = kind, .rows = rows, .columns = columns};
    SN_TRY(sn_output_open(ctx, directory, name, SN_OUTPUT_GROWING, &made.output));
    char header[HEADER_SIZE];
    make_growing_header(header, &made);
    SN_TRY(sn_output_write(&made.output, header, sizeof header));
    SN_TRY(sn_output_record(&made.output));
    *npy = made;
    return SN_OK;
cleanup:
    sn_output_abandon(&made.output);
    return status;
}

/// A file of ours with any number of frames: only that may differ, and the blanks behind it.
static sn_status check_header(sn_context *ctx, const char *directory, const char *name, const sn_npy *npy) {
    sn_status status = SN_OK;
    char found[HEADER_SIZE], made[HEADER_SIZE];
    sn_npy other = *npy;
    SN_TRY(sn_output_read_start(ctx, directory, name, found, sizeof found));
    // The frames that it announces, so that the rest can be compared.
    found[HEADER_SIZE - 1] = '\0';
    const char *shape = memchr(found, '(', HEADER_SIZE);
    long long announced = -1;
    if (shape)
        sscanf(shape + 1, "%lld", &announced);
    other.frame_count = announced;
    make_growing_header(made, &other);
    if (announced < 0 || memcmp(found, made, HEADER_SIZE - 1) != 0)
        SN_TRY(sn_fail(
            ctx, SN_ERR_READ,
            "%s/%s is not the array [frames, %d, %d] of this run: put back the file of the run, or start "
            "the run anew (--overwrite)",
            directory, name, npy->rows, npy->columns));
cleanup:
    return status;
}

static int64_t size_of(const sn_npy *npy) {
    return HEADER_SIZE + npy->frame_count * npy->rows * npy->columns * (int64_t)kind_sizes[npy->kind];
}

sn_status sn_npy_can_reopen(sn_context *ctx, const char *directory, const char *name, sn_npy_kind kind,
                            int32_t rows, int32_t columns, int32_t frame_count) {
    const sn_npy npy = {.kind = kind, .rows = rows, .columns = columns, .frame_count = frame_count};
    sn_status status = sn_output_can_reopen(ctx, directory, name, size_of(&npy));
    return status < 0 ? status : check_header(ctx, directory, name, &npy);
}

sn_status sn_npy_reopen(sn_context *ctx, const char *directory, const char *name, sn_npy_kind kind,
                        int32_t rows, int32_t columns, int32_t frame_count, sn_npy *npy) {
    sn_status status = SN_OK;
    sn_npy made = {.kind = kind, .rows = rows, .columns = columns, .frame_count = frame_count};
    char header[HEADER_SIZE];
    SN_TRY(sn_npy_can_reopen(ctx, directory, name, kind, rows, columns, frame_count));
    SN_TRY(sn_output_reopen(ctx, directory, name, size_of(&made), &made.output));
    make_growing_header(header, &made);
    SN_TRY(sn_output_rewrite_start(&made.output, header, sizeof header));
    *npy = made;
    return SN_OK;
cleanup:
    sn_output_abandon(&made.output);
    return status;
}

sn_status sn_npy_append(sn_npy *npy, const void *values) {
    sn_status status = SN_OK;
    size_t size = (size_t)npy->rows * (size_t)npy->columns * kind_sizes[npy->kind];
    SN_TRY(sn_output_write(&npy->output, values, size));
    SN_TRY(sn_output_record(&npy->output));
    // Data first: readers ignore bytes behind the announced frames.
    npy->frame_count++;
    char header[HEADER_SIZE];
    make_growing_header(header, npy);
    SN_TRY(sn_output_rewrite_start(&npy->output, header, sizeof header));
cleanup:
    return status;
}

sn_status sn_npy_finish(sn_npy *npy) {
    return sn_output_finish(&npy->output);
}

void sn_npy_abandon(sn_npy *npy) {
    sn_output_abandon(&npy->output);
}

sn_status sn_npy_write(sn_context *ctx, const char *directory, const char *name, sn_npy_kind kind,
                       int32_t rows, int32_t columns, const void *values) {
    sn_status status = SN_OK;
    sn_output output = {0};
    char shape[64], header[HEADER_SIZE];
    snprintf(shape, sizeof shape, "%d, %d", rows, columns);
    make_header(header, kind, shape);
    SN_TRY(sn_output_open(ctx, directory, name, SN_OUTPUT_WHOLE, &output));
    SN_TRY(sn_output_write(&output, header, sizeof header));
    SN_TRY(sn_output_write(&output, values, (size_t)rows * (size_t)columns * kind_sizes[kind]));
    return sn_output_finish(&output);
cleanup:
    sn_output_abandon(&output);
    return status;
}
