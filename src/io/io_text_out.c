#define _POSIX_C_SOURCE 200809L
#include "io/io_text_out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUFFIX_SIZE = 32, REAL_SIZE = 32 };

static sn_status fail_write(const sn_text_out *out, int error) {
    return sn_fail(out->ctx, SN_ERR_WRITE, "%s: cannot be written: %s", out->path,
                   error ? strerror(error) : "the file system refused it");
}

sn_status sn_text_out_open(sn_context *ctx, const char *path, sn_text_out *out) {
    sn_status status = SN_OK;
    *out = (sn_text_out){.ctx = ctx, .path = path};
    size_t size = strlen(path) + SUFFIX_SIZE;
    SN_TRY(sn_new(ctx, size, 1, (void **)&out->temporary));
    snprintf(out->temporary, size, "%s.part%ld", path, (long)getpid());
    SN_TRY(sn_number_scope_enter(ctx, &out->numbers));
    out->file = fopen(out->temporary, "wb");
    if (!out->file)
        SN_TRY(fail_write(out, errno));
    return SN_OK;
cleanup:
    sn_text_out_close(out);
    return status;
}

void sn_text_out_print(sn_text_out *out, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(out->file, format, arguments);
    va_end(arguments);
}

void sn_text_out_bytes(sn_text_out *out, const void *bytes, size_t size) {
    fwrite(bytes, 1, size, out->file);
}

static void put_little_endian(sn_text_out *out, uint64_t bits, int size) {
    for (int i = 0; i < size; i++)
        fputc((int)(bits >> 8 * i & 0xff), out->file);
}

void sn_text_out_i32(sn_text_out *out, int32_t value) {
    put_little_endian(out, (uint32_t)value, 4);
}

void sn_text_out_f64(sn_text_out *out, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_little_endian(out, bits, 8);
}

void sn_text_out_real(sn_text_out *out, double value) {
    char text[REAL_SIZE];
    snprintf(text, sizeof text, " %.15g", value);
    if (strtod(text, NULL) != value)
        snprintf(text, sizeof text, " %.17g", value);
    fputs(text, out->file);
}

void sn_text_out_name(sn_text_out *out, const char *name, const char *forbidden) {
    for (; *name; name++) {
        bool bad = (unsigned char)*name < ' ' || strchr(forbidden, *name);
        fputc(bad ? '_' : *name, out->file);
    }
}

sn_status sn_text_out_commit(sn_text_out *out) {
    errno = 0;
    bool failed = ferror((FILE *)out->file) != 0;
    // Flush and close may each report what the disk refused earlier.
    failed = fflush(out->file) != 0 || failed;
    int error = errno;
    failed = fclose(out->file) != 0 || failed;
    out->file = NULL;
    if (failed || rename(out->temporary, out->path) != 0) {
        sn_status status = fail_write(out, error ? error : errno);
        remove(out->temporary);
        return status;
    }
    return SN_OK;
}

void sn_text_out_close(sn_text_out *out) {
    if (!out->ctx)
        return;
    if (out->file) {
        fclose(out->file);
        remove(out->temporary);
        out->file = NULL;
    }
    sn_number_scope_leave(&out->numbers);
    SN_RELEASE(out->ctx, out->temporary);
}
