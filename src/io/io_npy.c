#define _POSIX_C_SOURCE 200809L
#include "io/io_npy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// Magic, version and the header's length take 10 bytes; the rest is text, padded so that the data start at a
/// multiple of 64 and the header can be rewritten in place with any number of frames.
enum { HEADER_SIZE = SN_NPY_HEADER_SIZE, PREAMBLE_SIZE = 10 };

static const char *const kind_names[] = {"<f4", "<f8", "<i4"};
static const size_t kind_sizes[] = {4, 8, 4};

size_t sn_npy_number_size(sn_npy_kind kind) {
    return kind_sizes[kind];
}

static void put_header(char header[HEADER_SIZE], const char *kind, const char *shape) {
    static const char preamble[PREAMBLE_SIZE] = {
        '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, HEADER_SIZE - PREAMBLE_SIZE, 0};
    memset(header, ' ', HEADER_SIZE);
    memcpy(header, preamble, PREAMBLE_SIZE);
    char text[HEADER_SIZE - PREAMBLE_SIZE];
    int length =
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", kind, shape);
    SN_ASSERT(length > 0 && (size_t)length < sizeof text);
    memcpy(header + PREAMBLE_SIZE, text, (size_t)length);
    header[HEADER_SIZE - 1] = '\n';
}

void sn_npy_header(char header[HEADER_SIZE], sn_npy_kind kind, const char *shape) {
    put_header(header, kind_names[kind], shape);
}

void sn_npy_text_header(char header[HEADER_SIZE], size_t size, int32_t count) {
    char kind[32], shape[32];
    snprintf(kind, sizeof kind, "|S%zu", size);
    snprintf(shape, sizeof shape, "%d,", count);
    put_header(header, kind, shape);
}

static void make_growing_header(char header[HEADER_SIZE], const sn_npy *npy) {
    char shape[64];
    snprintf(shape, sizeof shape, "%lld, %d, %d", (long long)npy->frame_count, npy->rows, npy->columns);
    sn_npy_header(header, npy->kind, shape);
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
    SN_TRY(sn_output_rewrite(&made.output, 0, header, sizeof header));
    *npy = made;
    return SN_OK;
cleanup:
    sn_output_abandon(&made.output);
    return status;
}

sn_status sn_npy_append(sn_npy *npy, const void *values) {
    const size_t size = (size_t)npy->rows * (size_t)npy->columns * kind_sizes[npy->kind];
    char header[HEADER_SIZE];
    sn_npy longer = *npy;
    longer.frame_count++;
    make_growing_header(header, &longer);
    sn_status status = sn_output_frame(&npy->output, values, size, header, sizeof header);
    if (status == SN_OK)
        npy->frame_count++;
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
    sn_npy_header(header, kind, shape);
    SN_TRY(sn_output_open(ctx, directory, name, SN_OUTPUT_WHOLE, &output));
    SN_TRY(sn_output_write(&output, header, sizeof header));
    SN_TRY(sn_output_write(&output, values, (size_t)rows * (size_t)columns * kind_sizes[kind]));
    return sn_output_finish(&output);
cleanup:
    sn_output_abandon(&output);
    return status;
}

// ---- Reading

static sn_status fail_input(const sn_npy_input *input) {
    return sn_fail(input->ctx, SN_ERR_READ, "cannot read %s: %s", input->path, strerror(errno));
}

/// Takes the shape out of a header: frames (growing arrays), rows, columns. What is amiss shows when the
/// header is made anew from it.
static void take_shape(const char *header, bool growing, sn_npy_input *input) {
    const char *at = strchr(header, '(');
    char *end = NULL;
    if (!at)
        return;
    input->frame_count = growing ? strtoll(at + 1, &end, 10) : 1;
    long long rows = strtoll(growing ? end + (*end == ',') : at + 1, NULL, 10);
    input->rows = rows > 0 && rows <= INT32_MAX / input->columns ? (int32_t)rows : 0;
}

/// Whether the header is one of ours; takes the shape.
static bool take_header(const char header[HEADER_SIZE], bool growing, sn_npy_input *input) {
    char text[HEADER_SIZE + 1], made[HEADER_SIZE], shape[64];
    memcpy(text, header, HEADER_SIZE);
    text[HEADER_SIZE] = '\0';
    // The preamble holds zero bytes.
    take_shape(text + PREAMBLE_SIZE, growing, input);
    if (growing)
        snprintf(shape, sizeof shape, "%lld, %d, %d", (long long)input->frame_count, input->rows,
                 input->columns);
    else
        snprintf(shape, sizeof shape, "%d, %d", input->rows, input->columns);
    sn_npy_header(made, input->kind, shape);
    return input->rows > 0 && input->frame_count >= 0 && memcmp(made, header, HEADER_SIZE) == 0;
}

static int64_t frame_size(const sn_npy_input *input) {
    return (int64_t)kind_sizes[input->kind] * input->rows * input->columns;
}

/// Reads the header and counts the frames that are whole.
static sn_status examine_input(sn_npy_input *input, bool growing) {
    char header[HEADER_SIZE];
    struct stat facts;
    ssize_t got = sn_read_bytes(input->descriptor, header, sizeof header);
    if (got < 0 || fstat(input->descriptor, &facts) != 0)
        return fail_input(input);
    if (got < HEADER_SIZE || !take_header(header, growing, input))
        return sn_fail(
            input->ctx, SN_ERR_READ,
            "%s is not the array [%srows, %d] of '%s' that a run writes: it is damaged or was replaced",
            input->path, growing ? "frames, " : "", input->columns, kind_names[input->kind]);
    int64_t whole = ((int64_t)facts.st_size - HEADER_SIZE) / frame_size(input);
    if (!growing && whole < 1)
        return sn_fail(input->ctx, SN_ERR_READ,
                       "%s has %lld bytes, and its array [%d, %d] takes %lld: the file was cut", input->path,
                       (long long)facts.st_size, input->rows, input->columns,
                       (long long)(HEADER_SIZE + frame_size(input)));
    if (whole < input->frame_count)
        input->frame_count = whole;
    return SN_OK;
}

sn_status sn_npy_input_open(sn_context *ctx, const char *directory, const char *name, sn_npy_kind kind,
                            bool growing, int32_t columns, sn_npy_input *input) {
    sn_status status = SN_OK;
    sn_npy_input made = {.ctx = ctx, .descriptor = -1, .kind = kind, .columns = columns};
    SN_TRY(sn_path_join(ctx, directory, name, &made.path));
    made.descriptor = open(made.path, O_RDONLY | O_CLOEXEC);
    if (made.descriptor < 0)
        SN_TRY(fail_input(&made));
    SN_TRY(examine_input(&made, growing));
    *input = made;
    return SN_OK;
cleanup:
    sn_npy_input_close(&made);
    return status;
}

sn_status sn_npy_input_read(const sn_npy_input *input, int64_t frame, void *values) {
    int64_t size = frame_size(input);
    SN_ASSERT(frame >= 0 && frame < input->frame_count);
    if (lseek(input->descriptor, (off_t)(HEADER_SIZE + frame * size), SEEK_SET) < 0)
        return fail_input(input);
    ssize_t got = sn_read_bytes(input->descriptor, values, (size_t)size);
    if (got < 0)
        return fail_input(input);
    if (got < size)
        return sn_fail(input->ctx, SN_ERR_READ, "%s ends within frame %lld: the file was cut", input->path,
                       (long long)frame);
    return SN_OK;
}

void sn_npy_input_close(sn_npy_input *input) {
    if (!input->ctx)
        return;
    if (input->descriptor >= 0)
        close(input->descriptor);
    SN_RELEASE(input->ctx, input->path);
    *input = (sn_npy_input){0};
}
