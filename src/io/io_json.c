#include "io/io_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

sn_json sn_json_make(sn_context *ctx) {
    return (sn_json){.ctx = ctx};
}

void sn_json_release(sn_json *json) {
    if (json->ctx)
        SN_RELEASE(json->ctx, json->text);
    *json = (sn_json){.ctx = json->ctx};
}

void sn_json_clear(sn_json *json) {
    json->length = 0;
    json->depth = 0;
    json->comma = false;
    json->status = SN_OK;
    if (json->text)
        json->text[0] = '\0';
}

static void append(sn_json *json, const char *bytes, size_t size) {
    if (json->status < 0)
        return;
    json->status = sn_grow(json->ctx, (void **)&json->text, &json->capacity, json->length + size + 1, 1);
    if (json->status < 0)
        return;
    memcpy(json->text + json->length, bytes, size);
    json->length += size;
    json->text[json->length] = '\0';
}

void sn_json_raw(sn_json *json, const char *text) {
    append(json, text, strlen(text));
}

/// What stands between the last item and the next.
static void separate(sn_json *json) {
    if (json->comma)
        append(json, ", ", json->lines && json->depth > 1 ? 2 : 1);
    json->comma = true;
}

void sn_json_open(sn_json *json, char bracket) {
    separate(json);
    append(json, &bracket, 1);
    json->comma = false;
    json->depth++;
}

void sn_json_close(sn_json *json, char bracket) {
    json->depth--;
    if (json->lines && json->depth == 0)
        append(json, "\n", 1);
    append(json, &bracket, 1);
    json->comma = true;
}

/// Length of the UTF-8 sequence at `text`, 0 if it is none. Refuses overlong forms, surrogates and what lies
/// above U+10FFFF.
static size_t sequence_length(const unsigned char *text) {
    unsigned char first = text[0];
    size_t length = first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2 : (first & 0xf0) == 0xe0 ? 3 : 4;
    if (length == 4 && (first < 0xf0 || first > 0xf4))
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (first == 0xe0 && text[1] < 0xa0) || (first == 0xf0 && text[1] < 0x90);
    bool outside = (first == 0xed && text[1] > 0x9f) || (first == 0xf4 && text[1] > 0x8f);
    return overlong || outside ? 0 : length;
}

static void append_quoted(sn_json *json, const char *text) {
    append(json, "\"", 1);
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t length = sequence_length(at);
        char escape[8];
        if (length == 0) {
            append(json, "\xef\xbf\xbd", 3);
            length = 1;
        } else if (*at == '"' || *at == '\\') {
            append(json, escape, (size_t)snprintf(escape, sizeof escape, "\\%c", *at));
        } else if (*at < 0x20 || *at == '<' || *at == 0x7f) {
            append(json, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", *at));
        } else {
            append(json, (const char *)at, length);
        }
        at += length;
    }
    append(json, "\"", 1);
}

void sn_json_key(sn_json *json, const char *key) {
    separate(json);
    if (json->lines && json->depth == 1)
        append(json, "\n  ", 3);
    append_quoted(json, key);
    append(json, ": ", json->lines ? 2 : 1);
    json->comma = false;
}

size_t sn_json_format_number(double value, char out[SN_JSON_NUMBER_SIZE]) {
    int length = snprintf(out, SN_JSON_NUMBER_SIZE, "%.17g", value);
    char *comma = strchr(out, ','); // the host program may have set a locale with decimal commas
    if (comma)
        *comma = '.';
    return (size_t)length;
}

void sn_json_number(sn_json *json, double value) {
    separate(json);
    char text[SN_JSON_NUMBER_SIZE];
    if (isfinite(value))
        append(json, text, sn_json_format_number(value, text));
    else
        append(json, "null", 4);
}

void sn_json_integer(sn_json *json, int64_t value) {
    separate(json);
    char text[32];
    append(json, text, (size_t)snprintf(text, sizeof text, "%lld", (long long)value));
}

void sn_json_text(sn_json *json, const char *text) {
    separate(json);
    append_quoted(json, text);
}

void sn_json_numbers(sn_json *json, const double *values, int32_t count) {
    sn_json_open(json, '[');
    for (int32_t i = 0; i < count; i++)
        sn_json_number(json, values[i]);
    sn_json_close(json, ']');
}

void sn_json_put_number(sn_json *json, const char *key, double value) {
    sn_json_key(json, key);
    sn_json_number(json, value);
}

void sn_json_put_integer(sn_json *json, const char *key, int64_t value) {
    sn_json_key(json, key);
    sn_json_integer(json, value);
}

void sn_json_put_text(sn_json *json, const char *key, const char *text) {
    sn_json_key(json, key);
    sn_json_text(json, text);
}

void sn_json_put_numbers(sn_json *json, const char *key, const double *values, int32_t count) {
    sn_json_key(json, key);
    sn_json_numbers(json, values, count);
}
