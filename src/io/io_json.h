/// JSON text built in memory. Errors stick: check `status` once at the end.
///
/// Numbers are written so that reading gives the same double (%.17g) with a point whatever the locale; NaN
/// and infinity become null, which JSON has no numbers for. Text is escaped, "<" too, so that it may stand
/// inside an HTML page, and bytes that are not UTF-8 become U+FFFD.
#ifndef SN_IO_JSON_H
#define SN_IO_JSON_H

#include "base/base_context.h"

typedef struct sn_json {
    sn_context *ctx;
    char *text; ///< Ends with 0 after the first write.
    size_t length, capacity;
    int32_t depth;
    bool lines; ///< A line for each key of the outermost object.
    bool comma; ///< The next value or key needs one in front.
    sn_status status;
} sn_json;

sn_json sn_json_make(sn_context *ctx);
void sn_json_release(sn_json *json);
/// Empties the text and keeps its memory.
void sn_json_clear(sn_json *json);

void sn_json_open(sn_json *json, char bracket);  ///< '{' or '['
void sn_json_close(sn_json *json, char bracket); ///< '}' or ']'
void sn_json_key(sn_json *json, const char *key);
void sn_json_number(sn_json *json, double value);
void sn_json_integer(sn_json *json, int64_t value);
void sn_json_text(sn_json *json, const char *text);
void sn_json_numbers(sn_json *json, const double *values, int32_t count); ///< An array.

/// Key and value.
void sn_json_put_number(sn_json *json, const char *key, double value);
void sn_json_put_integer(sn_json *json, const char *key, int64_t value);
void sn_json_put_text(sn_json *json, const char *key, const char *text);
void sn_json_put_numbers(sn_json *json, const char *key, const double *values, int32_t count);

/// Writes a finite number into `out` as JSON has it; returns its length.
enum { SN_JSON_NUMBER_SIZE = 32 };
size_t sn_json_format_number(double value, char out[SN_JSON_NUMBER_SIZE]);

/// Appends text as it is.
void sn_json_raw(sn_json *json, const char *text);

#endif
