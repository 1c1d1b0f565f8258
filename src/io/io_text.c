#define _POSIX_C_SOURCE 200809L
#include "io/io_text.h"

#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SHOWN_WORD = 40, EXACT_POWER = 22, MAX_DIGITS = 19, EXPONENT_LIMIT = 100000 };

sn_status sn_number_scope_enter(sn_context *ctx, sn_number_scope *scope) {
    locale_t fresh = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!fresh)
        return sn_fail(ctx, SN_ERR_NO_MEMORY, "out of memory: no C locale for numbers");
    scope->locale = (void *)fresh;
    scope->previous = (void *)uselocale(fresh);
    return SN_OK;
}

void sn_number_scope_leave(sn_number_scope *scope) {
    if (!scope->locale)
        return;
    uselocale((locale_t)scope->previous);
    freelocale((locale_t)scope->locale);
    *scope = (sn_number_scope){0};
}

static sn_status fail_open(sn_context *ctx, const char *path, const char *reason) {
    return sn_fail(ctx, SN_ERR_READ, "%s: cannot be read: %s", path, reason);
}

/// Makes room for `size` bytes and the zero byte behind them.
static sn_status make_room(sn_text *text, size_t size) {
    if (size == 0)
        return fail_open(text->ctx, text->path, "the file is empty");
    return sn_new(text->ctx, size + 1, 1, (void **)&text->bytes);
}

/// Ends the `size` bytes that have come.
static void end_bytes(sn_text *text, size_t size) {
    text->bytes[size] = '\0';
    text->end = text->bytes + size;
    text->has_zero_bytes = memchr(text->bytes, 0, size) != NULL;
}

/// Reads an open regular file of `size` bytes.
static sn_status read_bytes(sn_text *text, FILE *file, size_t size) {
    sn_status status = make_room(text, size);
    if (status < 0)
        return status;
    size_t got = fread(text->bytes, 1, size, file);
    if (ferror(file))
        return fail_open(text->ctx, text->path, strerror(errno));
    end_bytes(text, got);
    return SN_OK;
}

/// Refuses what is no regular file before it is opened: a pipe would wait for its other end.
static sn_status check_file(const sn_text *text) {
    struct stat about;
    if (stat(text->path, &about) != 0)
        return fail_open(text->ctx, text->path, strerror(errno));
    if (S_ISDIR(about.st_mode))
        return fail_open(text->ctx, text->path, "it is a folder; name a file in it");
    if (!S_ISREG(about.st_mode))
        return fail_open(text->ctx, text->path, "it is no regular file; save it to a file first");
    return SN_OK;
}

static sn_status read_file(sn_text *text) {
    struct stat about;
    sn_status status = check_file(text);
    if (status < 0)
        return status;
    FILE *file = fopen(text->path, "rb");
    if (!file)
        return fail_open(text->ctx, text->path, strerror(errno));
    if (fstat(fileno(file), &about) != 0)
        status = fail_open(text->ctx, text->path, strerror(errno));
    else
        status = read_bytes(text, file, (size_t)about.st_size);
    fclose(file);
    return status;
}

/// Hands over a text whose bytes are there, or, after a failure, releases it.
static sn_status finish_opening(sn_status status, sn_text *text, sn_text *out_text) {
    if (status == SN_OK)
        status = sn_number_scope_enter(text->ctx, &text->numbers);
    if (status < 0) {
        sn_text_close(text);
        return status;
    }
    sn_text_rewind(text);
    *out_text = *text;
    return SN_OK;
}

sn_status sn_text_open(sn_context *ctx, const char *path, sn_text *out_text) {
    sn_text text = {.ctx = ctx, .path = path, .line = 1};
    return finish_opening(read_file(&text), &text, out_text);
}

sn_status sn_text_open_memory(sn_context *ctx, const char *name, const void *bytes, size_t size,
                              sn_text *out_text) {
    sn_text text = {.ctx = ctx, .path = name, .line = 1, .in_memory = true};
    sn_status status = make_room(&text, size);
    if (status == SN_OK) {
        memcpy(text.bytes, bytes, size);
        end_bytes(&text, size);
    }
    return finish_opening(status, &text, out_text);
}

/// Path of a file that stands beside another, to be released.
static sn_status path_beside(sn_context *ctx, const char *path, sn_word name, char **out_path) {
    const char *slash = strrchr(path, '/');
    size_t folder = slash && (name.size == 0 || name.at[0] != '/') ? (size_t)(slash - path) + 1 : 0;
    sn_status status = sn_new(ctx, folder + name.size + 1, 1, (void **)out_path);
    if (status < 0)
        return status;
    memcpy(*out_path, path, folder);
    memcpy(*out_path + folder, name.at, name.size);
    (*out_path)[folder + name.size] = '\0';
    return SN_OK;
}

/// What stands beside a text in memory by such a name, or NULL.
static const sn_text_file *find_beside(const sn_text *text, const char *path) {
    size_t length = strlen(path);
    for (int32_t i = 0; i < text->beside_count; i++) {
        size_t size = strlen(text->beside[i].ending);
        if (size <= length && strcmp(path + length - size, text->beside[i].ending) == 0)
            return &text->beside[i];
    }
    return NULL;
}

static sn_status copy_file(sn_text *text, const sn_text_file *file) {
    if (!file)
        return fail_open(text->ctx, text->path, "there is no such file in memory");
    sn_status status = make_room(text, file->size);
    if (status < 0)
        return status;
    memcpy(text->bytes, file->bytes, file->size);
    end_bytes(text, file->size);
    return SN_OK;
}

sn_status sn_text_open_beside(const sn_text *text, sn_word name, sn_text *out_text) {
    sn_text other = {.ctx = text->ctx,
                     .line = 1,
                     .in_memory = text->in_memory,
                     .beside = text->beside,
                     .beside_count = text->beside_count};
    sn_status status = path_beside(text->ctx, text->path, name, &other.own_path);
    if (status < 0)
        return status;
    other.path = other.own_path;
    status = text->in_memory ? copy_file(&other, find_beside(text, other.path)) : read_file(&other);
    return finish_opening(status, &other, out_text);
}

sn_status sn_text_is_beside(const sn_text *text, sn_word name, bool *out_is) {
    char *path = NULL;
    sn_status status = path_beside(text->ctx, text->path, name, &path);
    if (status < 0)
        return status;
    struct stat about;
    *out_is =
        text->in_memory ? find_beside(text, path) != NULL : stat(path, &about) == 0 && S_ISREG(about.st_mode);
    sn_release(text->ctx, path);
    return SN_OK;
}

void sn_text_close(sn_text *text) {
    if (!text->ctx)
        return;
    sn_number_scope_leave(&text->numbers);
    SN_RELEASE(text->ctx, text->bytes);
    SN_RELEASE(text->ctx, text->own_path);
}

void sn_text_rewind(sn_text *text) {
    text->at = text->bytes;
    text->line = 1;
    if (text->end - text->at >= 3 && memcmp(text->at, "\xef\xbb\xbf", 3) == 0)
        text->at += 3;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

static bool is_line_end(char c) {
    return c == '\n' || c == '\r';
}

/// Ends a word. A zero byte does: it stands behind the last byte.
static bool is_break(char c) {
    return is_blank(c) || is_line_end(c) || c == '\0';
}

/// Takes one line end: LF, CR or CR LF.
static void take_line_end(sn_text *text) {
    text->at += text->at[0] == '\r' && text->at[1] == '\n' ? 2 : 1;
    text->line++;
}

static bool at_continuation(const sn_text *text) {
    return text->continues && text->at[0] == '\\' && is_line_end(text->at[1]);
}

static void skip_blanks(sn_text *text) {
    for (;;) {
        while (is_blank(*text->at))
            text->at++;
        if (!at_continuation(text))
            return;
        text->at++;
        take_line_end(text);
    }
}

static bool at_comment(const sn_text *text) {
    return text->comment && *text->at == text->comment;
}

bool sn_text_at_line_end(sn_text *text) {
    skip_blanks(text);
    return text->at >= text->end || is_line_end(*text->at) || at_comment(text);
}

void sn_text_next_line(sn_text *text) {
    bool comment = false;
    while (text->at < text->end && !is_line_end(*text->at)) {
        comment = comment || at_comment(text);
        // Comments do not continue: they may hold Windows paths that end in a backslash.
        if (!comment && at_continuation(text)) {
            text->at++;
            take_line_end(text);
        } else {
            text->at++;
        }
    }
    if (text->at < text->end)
        take_line_end(text);
}

bool sn_text_skip_space(sn_text *text) {
    while (text->at < text->end && sn_text_at_line_end(text))
        sn_text_next_line(text);
    return text->at < text->end;
}

/// End of the word at the cursor.
static const char *word_end(const sn_text *text) {
    const char *at = text->at;
    while (!is_break(*at) && !(text->continues && *at == '\\' && is_line_end(at[1])))
        at++;
    return at < text->end ? at : text->end;
}

bool sn_text_at_word_end(const sn_text *text) {
    return word_end(text) == text->at;
}

sn_word sn_text_word(sn_text *text) {
    if (sn_text_at_line_end(text))
        return (sn_word){text->at, 0};
    sn_word word = {text->at, (size_t)(word_end(text) - text->at)};
    text->at += word.size;
    return word;
}

sn_word sn_text_rest(sn_text *text) {
    while (is_blank(*text->at))
        text->at++;
    const char *begin = text->at;
    while (text->at < text->end && !is_line_end(*text->at))
        text->at++;
    const char *end = text->at;
    while (end > begin && is_blank(end[-1]))
        end--;
    return (sn_word){begin, (size_t)(end - begin)};
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/// A decimal number as digits: value = mantissa * 10^power if `exact`, else there is more to it than fits.
typedef struct decimal {
    uint64_t mantissa;
    int32_t power;
    bool exact;
} decimal;

/// Adds a run of digits; `scale` is the change of the power per digit (-1 behind the point).
static const char *scan_digits(const char *at, int32_t scale, decimal *out, int32_t *digits) {
    for (; is_digit(*at); at++) {
        if (out->mantissa == 0 || *digits < MAX_DIGITS) {
            out->mantissa = out->mantissa * 10 + (uint64_t)(*at - '0');
            *digits += out->mantissa != 0;
            out->power += scale;
            out->exact = out->exact && out->power > -EXPONENT_LIMIT;
        } else {
            out->exact = false;
        }
    }
    return at;
}

static const char *scan_exponent(const char *at, decimal *out) {
    bool negative = *at == '-';
    if (*at == '-' || *at == '+')
        at++;
    if (!is_digit(*at))
        return NULL;
    int32_t exponent = 0;
    for (; is_digit(*at); at++)
        exponent = exponent < EXPONENT_LIMIT ? exponent * 10 + (*at - '0') : exponent;
    out->exact = out->exact && exponent < EXPONENT_LIMIT;
    out->power += negative ? -exponent : exponent;
    return at;
}

/// Scans an unsigned decimal number; NULL if there is none.
static const char *scan_decimal(const char *at, decimal *out) {
    int32_t digits = 0;
    *out = (decimal){.exact = true};
    const char *point = scan_digits(at, 0, out, &digits), *end = point;
    if (*point == '.')
        end = scan_digits(point + 1, -1, out, &digits);
    if (end - at - (*point == '.') == 0)
        return NULL;
    return *end == 'e' || *end == 'E' ? scan_exponent(end + 1, out) : end;
}

/// "nan", "inf" or "infinity" in any case: meshes of failed simulations hold them, and the report counts
/// them.
static const char *scan_non_finite(const char *at) {
    static const char *const names[] = {"infinity", "inf", "nan"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = 0;
        while (names[i][length] && lower(at[length]) == names[i][length])
            length++;
        if (!names[i][length])
            return at + length;
    }
    return NULL;
}

bool sn_text_real(sn_text *text, double *out_value) {
    static const double power10[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (sn_text_at_line_end(text))
        return false;
    const char *begin = text->at, *at = begin;
    bool negative = *at == '-';
    if (*at == '-' || *at == '+')
        at++;
    decimal number;
    const char *end = scan_decimal(at, &number);
    bool finite = end != NULL;
    if (!end)
        end = scan_non_finite(at);
    if (!end || end != word_end(text))
        return false;
    text->at = end;
    if (finite && number.exact && number.mantissa <= (UINT64_C(1) << 53) && number.power >= -EXACT_POWER &&
        number.power <= EXACT_POWER) {
        double value = (double)number.mantissa;
        value = number.power < 0 ? value / power10[-number.power] : value * power10[number.power];
        *out_value = negative ? -value : value;
    } else {
        // Too small or too large a number is not an error: the nearest double, a denormal or infinity, is its
        // value.
        *out_value = strtod(begin, NULL);
    }
    return true;
}

bool sn_text_digits(sn_text *text, int32_t *out_value) {
    const char *at = text->at;
    bool negative = *at == '-';
    if (*at == '-' || *at == '+')
        at++;
    if (!is_digit(*at))
        return false;
    int64_t value = 0;
    for (; is_digit(*at); at++) {
        value = value * 10 + (*at - '0');
        if (value > INT32_MAX)
            return false;
    }
    text->at = at;
    *out_value = (int32_t)(negative ? -value : value);
    return true;
}

bool sn_text_int(sn_text *text, int32_t *out_value) {
    if (sn_text_at_line_end(text))
        return false;
    const char *begin = text->at, *end = word_end(text);
    if (sn_text_digits(text, out_value) && text->at == end)
        return true;
    text->at = begin;
    return false;
}

bool sn_text_field(sn_text *text, sn_word *out_field) {
    while (is_blank(*text->at))
        text->at++;
    if (text->at >= text->end || is_line_end(*text->at))
        return false;
    const char *begin = text->at, *at = begin;
    while (at < text->end && *at != ',' && !is_line_end(*at))
        at++;
    text->at = at + (at < text->end && *at == ',');
    while (at > begin && is_blank(at[-1]))
        at--;
    *out_field = (sn_word){begin, (size_t)(at - begin)};
    return true;
}

bool sn_word_real(const sn_text *text, sn_word word, double *out_value) {
    sn_text part = *text;
    part.at = word.at;
    part.end = word.at + word.size;
    return word.size > 0 && sn_text_real(&part, out_value) && part.at == part.end;
}

bool sn_word_int(const sn_text *text, sn_word word, int32_t *out_value) {
    sn_text part = *text;
    part.at = word.at;
    part.end = word.at + word.size;
    return word.size > 0 && sn_text_int(&part, out_value) && part.at == part.end;
}

bool sn_word_is(sn_word word, const char *text) {
    return strlen(text) == word.size && memcmp(text, word.at, word.size) == 0;
}

bool sn_word_is_alike(sn_word word, const char *text) {
    if (strlen(text) != word.size)
        return false;
    for (size_t i = 0; i < word.size; i++)
        if (lower(word.at[i]) != lower(text[i]))
            return false;
    return true;
}

/// What stands at the cursor, fit for a message.
static void describe_found(sn_text *text, char out[SHOWN_WORD + 8]) {
    if (sn_text_at_line_end(text)) {
        snprintf(out, SHOWN_WORD + 8, "%s",
                 text->at >= text->end ? "the end of the file" : "the end of the line");
        return;
    }
    size_t size = (size_t)(word_end(text) - text->at);
    size_t shown = size < SHOWN_WORD ? size : SHOWN_WORD;
    char *to = out;
    *to++ = '"';
    for (size_t i = 0; i < shown; i++)
        *to++ = text->at[i] >= ' ' && text->at[i] <= '~' ? text->at[i] : '?';
    snprintf(to, 5, "%s\"", shown < size ? "..." : "");
}

sn_status sn_text_expected(sn_text *text, const char *format, ...) {
    char found[SHOWN_WORD + 8], expected[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(expected, sizeof expected, format, arguments);
    va_end(arguments);
    describe_found(text, found);
    return sn_text_fail(text, "found %s, expected %s", found, expected);
}

sn_status sn_text_fail(const sn_text *text, const char *format, ...) {
    char what[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (text->binary)
        return sn_fail(text->ctx, SN_ERR_READ, "%s: byte %lld: %s", text->path,
                       (long long)(text->at - text->bytes), what);
    return sn_fail(text->ctx, SN_ERR_READ, "%s:%lld: %s", text->path, (long long)text->line, what);
}

sn_status sn_text_check_count(const sn_text *text, int64_t count, size_t bytes_each, const char *what) {
    size_t room = (size_t)(text->end - text->at) / bytes_each + 1;
    if (count >= 0 && (uint64_t)count <= room)
        return SN_OK;
    return sn_text_fail(
        text,
        "found %lld as the number of %s, expected 0 to %zu, which is what the rest of the file has "
        "room for; the number is wrong or the file was cut short: write it again",
        (long long)count, what, room);
}
