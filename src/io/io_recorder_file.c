#define _POSIX_C_SOURCE 200809L
#include "io/io_recorder_file.h"

#include "io/io_json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_SIZE = 1 << 16 };

sn_status sn_path_join(sn_context *ctx, const char *directory, const char *name, char **out_path) {
    size_t length = strlen(directory), size = length + strlen(name) + 2;
    char *path = NULL;
    sn_status status = sn_new(ctx, size, 1, (void **)&path);
    if (status < 0)
        return status;
    bool slash = length > 0 && directory[length - 1] != '/';
    snprintf(path, size, "%s%s%s", directory, slash ? "/" : "", name);
    *out_path = path;
    return SN_OK;
}

static sn_status write_failure(const sn_output *output, int error) {
    return sn_fail(output->ctx, SN_ERR_WRITE, "cannot write %s: %s", output->path, strerror(error));
}

static void release_output(sn_output *output) {
    SN_RELEASE(output->ctx, output->path);
    SN_RELEASE(output->ctx, output->temporary);
    SN_RELEASE(output->ctx, output->buffer);
    *output = (sn_output){0};
}

sn_status sn_output_open(sn_context *ctx, const char *directory, const char *name, sn_output_kind kind,
                         sn_output *output) {
    sn_status status = SN_OK;
    sn_output made = {.ctx = ctx, .descriptor = -1};
    SN_TRY(sn_path_join(ctx, directory, name, &made.path));
    if (kind == SN_OUTPUT_WHOLE) {
        size_t size = strlen(made.path) + sizeof ".tmp";
        SN_TRY(sn_new(ctx, size, 1, (void **)&made.temporary));
        snprintf(made.temporary, size, "%s.tmp", made.path);
    }
    SN_TRY_NEW(ctx, made.buffer, BUFFER_SIZE);
    made.descriptor =
        open(made.temporary ? made.temporary : made.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (made.descriptor < 0)
        SN_TRY(write_failure(&made, errno));
    *output = made;
    return SN_OK;
cleanup:
    release_output(&made);
    return status;
}

/// What is wrong with a file that should go on behind `size` bytes; SN_OK if it can.
static sn_status check_reopen(sn_context *ctx, const char *path, int64_t size, int64_t found) {
    if (found >= size)
        return SN_OK;
    return sn_fail(
        ctx, SN_ERR_READ,
        "%s has %lld bytes, and the run should go on behind %lld: the file was cut or replaced; put "
        "back the file of the run, or start the run anew",
        path, (long long)found, (long long)size);
}

static sn_status fail_reopen(sn_context *ctx, const char *path, int64_t size, int error) {
    if (error != ENOENT)
        return sn_fail(ctx, SN_ERR_WRITE, "cannot write %s: %s", path, strerror(error));
    return sn_fail(
        ctx, SN_ERR_READ,
        "%s is missing, and the run should go on behind its %lld bytes: put back the file of the run, "
        "or start the run anew",
        path, (long long)size);
}

sn_status sn_output_can_reopen(sn_context *ctx, const char *directory, const char *name, int64_t size) {
    sn_status status = SN_OK;
    char *path = NULL;
    struct stat facts;
    SN_TRY(sn_path_join(ctx, directory, name, &path));
    status = stat(path, &facts) == 0 ? check_reopen(ctx, path, size, facts.st_size)
                                     : fail_reopen(ctx, path, size, errno);
cleanup:
    SN_RELEASE(ctx, path);
    return status;
}

ssize_t sn_read_bytes(int descriptor, void *bytes, size_t size) {
    size_t got = 0;
    while (got < size) {
        ssize_t part = read(descriptor, (unsigned char *)bytes + got, size - got);
        if (part < 0 && errno == EINTR)
            continue;
        if (part < 0)
            return -1;
        if (part == 0)
            break;
        got += (size_t)part;
    }
    return (ssize_t)got;
}

sn_status sn_output_read_start(sn_context *ctx, const char *directory, const char *name, void *bytes,
                               size_t size) {
    sn_status status = SN_OK;
    char *path = NULL;
    int descriptor = -1;
    SN_TRY(sn_path_join(ctx, directory, name, &path));
    descriptor = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = descriptor < 0 ? -1 : sn_read_bytes(descriptor, bytes, size);
    if (got < 0)
        SN_TRY(sn_fail(ctx, SN_ERR_READ, "cannot read %s: %s", path, strerror(errno)));
    SN_TRY(check_reopen(ctx, path, (int64_t)size, got));
cleanup:
    if (descriptor >= 0)
        close(descriptor);
    SN_RELEASE(ctx, path);
    return status;
}

sn_status sn_output_reopen(sn_context *ctx, const char *directory, const char *name, int64_t size,
                           sn_output *output) {
    sn_status status = SN_OK;
    sn_output made = {.ctx = ctx, .descriptor = -1, .record_end = size};
    struct stat facts;
    SN_TRY(sn_path_join(ctx, directory, name, &made.path));
    SN_TRY_NEW(ctx, made.buffer, BUFFER_SIZE);
    made.descriptor = open(made.path, O_WRONLY | O_CLOEXEC);
    if (made.descriptor < 0 || fstat(made.descriptor, &facts) != 0)
        SN_TRY(fail_reopen(ctx, made.path, size, errno));
    SN_TRY(check_reopen(ctx, made.path, size, facts.st_size));
    if (ftruncate(made.descriptor, (off_t)size) != 0 || lseek(made.descriptor, (off_t)size, SEEK_SET) < 0)
        SN_TRY(write_failure(&made, errno));
    *output = made;
    return SN_OK;
cleanup:
    if (made.descriptor >= 0)
        close(made.descriptor);
    release_output(&made);
    return status;
}

/// Hands bytes to the system; 0 or the error number.
static int write_all(int descriptor, const unsigned char *bytes, size_t size) {
    while (size > 0) {
        ssize_t written = write(descriptor, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : ENOSPC;
        bytes += written;
        size -= (size_t)written;
    }
    return 0;
}

/// Cuts a growing file back to its last whole record.
static void cut_to_record(sn_output *output) {
    if (output->temporary || ftruncate(output->descriptor, (off_t)output->record_end) != 0)
        return;
    lseek(output->descriptor, (off_t)output->record_end, SEEK_SET);
}

static sn_status flush_buffer(sn_output *output) {
    int error = write_all(output->descriptor, output->buffer, output->used);
    output->used = 0;
    if (error == 0)
        return SN_OK;
    cut_to_record(output);
    return write_failure(output, error);
}

sn_status sn_output_write(sn_output *output, const void *bytes, size_t size) {
    const unsigned char *from = bytes;
    while (size > 0) {
        size_t room = BUFFER_SIZE - output->used, part = size < room ? size : room;
        memcpy(output->buffer + output->used, from, part);
        output->used += part;
        from += part;
        size -= part;
        if (output->used == BUFFER_SIZE) {
            sn_status status = flush_buffer(output);
            if (status < 0)
                return status;
        }
    }
    return SN_OK;
}

sn_status sn_output_text(sn_output *output, const char *text) {
    return sn_output_write(output, text, strlen(text));
}

sn_status sn_output_format(sn_output *output, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    SN_ASSERT(length >= 0 && (size_t)length < sizeof text);
    return sn_output_write(output, text, (size_t)length);
}

sn_status sn_output_number(sn_output *output, double value) {
    char text[SN_JSON_NUMBER_SIZE];
    return sn_output_write(output, text, sn_json_format_number(value, text));
}

/// Three bytes to four characters.
static void encode_group(const unsigned char bytes[3], unsigned char out[4]) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2];
    out[0] = (unsigned char)digits[bits >> 18];
    out[1] = (unsigned char)digits[bits >> 12 & 63];
    out[2] = (unsigned char)digits[bits >> 6 & 63];
    out[3] = (unsigned char)digits[bits & 63];
}

sn_status sn_output_base64(sn_output *output, const void *bytes, size_t size) {
    enum { GROUPS = 1024 };
    unsigned char text[4 * GROUPS];
    const unsigned char *from = bytes;
    sn_status status = SN_OK;
    for (; size > 0 && output->carry_count > 0; size--) {
        output->carry[output->carry_count++] = *from++;
        if (output->carry_count == 3) {
            encode_group(output->carry, text);
            output->carry_count = 0;
            SN_TRY(sn_output_write(output, text, 4));
        }
    }
    while (size >= 3) {
        size_t groups = size / 3 < GROUPS ? size / 3 : GROUPS;
        for (size_t i = 0; i < groups; i++)
            encode_group(from + 3 * i, text + 4 * i);
        SN_TRY(sn_output_write(output, text, 4 * groups));
        from += 3 * groups;
        size -= 3 * groups;
    }
    for (; size > 0; size--)
        output->carry[output->carry_count++] = *from++;
cleanup:
    return status;
}

sn_status sn_output_base64_end(sn_output *output) {
    int32_t count = output->carry_count;
    if (count == 0)
        return SN_OK;
    unsigned char text[4];
    memset(output->carry + count, 0, (size_t)(3 - count));
    encode_group(output->carry, text);
    memset(text + 1 + count, '=', (size_t)(3 - count));
    output->carry_count = 0;
    return sn_output_write(output, text, 4);
}

sn_status sn_output_record(sn_output *output) {
    sn_status status = flush_buffer(output);
    if (status == SN_OK)
        output->record_end = lseek(output->descriptor, 0, SEEK_CUR);
    return status;
}

sn_status sn_output_rewrite(sn_output *output, int64_t offset, const void *bytes, size_t size) {
    sn_status status = flush_buffer(output);
    if (status < 0)
        return status;
    ssize_t written = pwrite(output->descriptor, bytes, size, (off_t)offset);
    return written == (ssize_t)size ? SN_OK : write_failure(output, written < 0 ? errno : ENOSPC);
}

sn_status sn_output_frame(sn_output *output, const void *values, size_t size, const void *header,
                          size_t header_size) {
    sn_status status = SN_OK;
    SN_TRY(sn_output_write(output, values, size));
    SN_TRY(sn_output_record(output));
    SN_TRY(sn_output_rewrite(output, 0, header, header_size));
cleanup:
    return status;
}

sn_status sn_output_finish(sn_output *output) {
    sn_status status = flush_buffer(output);
    int descriptor = output->descriptor;
    output->descriptor = -1;
    if (close(descriptor) != 0 && status == SN_OK)
        status = write_failure(output, errno);
    if (output->temporary && status == SN_OK && rename(output->temporary, output->path) != 0)
        status = write_failure(output, errno);
    if (output->temporary && status < 0)
        unlink(output->temporary);
    release_output(output);
    return status;
}

void sn_output_abandon(sn_output *output) {
    if (!output->ctx)
        return;
    close(output->descriptor);
    if (output->temporary)
        unlink(output->temporary);
    release_output(output);
}

sn_status sn_output_write_whole(sn_context *ctx, const char *directory, const char *name, const void *bytes,
                                size_t size) {
    sn_status status = SN_OK;
    sn_output output = {0};
    SN_TRY(sn_output_open(ctx, directory, name, SN_OUTPUT_WHOLE, &output));
    SN_TRY(sn_output_write(&output, bytes, size));
    SN_TRY(sn_output_finish(&output));
cleanup:
    sn_output_abandon(&output);
    return status;
}
