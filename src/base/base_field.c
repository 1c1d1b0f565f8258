#define _POSIX_C_SOURCE 200809L
#include "base/base_field.h"

#include <ctype.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MAX = 63 };

sn_field_units sn_field_units_si(void) {
    return (sn_field_units){{1, 1, 1, 1}, {"m", "kg", "s", "rad"}};
}

double sn_field_unit_scale(const sn_field *field, const sn_field_units *units) {
    double scale = 1;
    for (int i = 0; i < SN_UNIT_COUNT; i++)
        if (field->unit[i])
            scale *= pow(units->scale[i], field->unit[i]);
    return scale;
}

size_t sn_field_size(const sn_field *field) {
    switch (field->kind) {
    case SN_FIELD_BOOL:
        return sizeof(bool);
    case SN_FIELD_INT:
    case SN_FIELD_CHOICE:
        return sizeof(int32_t);
    case SN_FIELD_REAL:
        return sizeof(double);
    case SN_FIELD_PAIR:
        return 2 * sizeof(char *);
    case SN_FIELD_VEC3:
        return 3 * sizeof(double);
    case SN_FIELD_MARK:
        return sizeof(uint32_t);
    case SN_FIELD_DERIVED:
        return field->size;
    case SN_FIELD_TABLE:
    case SN_FIELD_FLAGS:
    case SN_FIELD_INCLUDE:
        return field->table->size;
    case SN_FIELD_TEXT:
    case SN_FIELD_REFERENCE:
    case SN_FIELD_REFERENCES:
    case SN_FIELD_NAMED:
    case SN_FIELD_INTS:
    case SN_FIELD_LIST:
    case SN_FIELD_MAP:
        break;
    }
    return sizeof(void *);
}

static int32_t read_int(const void *item, size_t offset) {
    int32_t value;
    memcpy(&value, (const char *)item + offset, sizeof value);
    return value;
}

bool sn_field_applies(const sn_field *field, const void *item) {
    if (!field->when_mask)
        return true;
    int32_t value = read_int(item, field->when_offset);
    return value >= 0 && value < 32 && (field->when_mask >> value & 1u);
}

int32_t sn_field_choice_count(const sn_field *field) {
    int32_t count = 0;
    while (field->choices[count].name)
        count++;
    return count;
}

bool sn_field_in_range(const sn_field *field, double value) {
    bool above = field->low_open ? value > field->low : value >= field->low;
    bool below = field->high_open ? value < field->high : value <= field->high;
    return isfinite(value) && above && below;
}

// ---- Numbers

/// [+-] digits [. digits] [e [+-] digits], with a digit on one side of the point at least.
static bool looks_like_number(const char *text) {
    const char *c = text + (*text == '+' || *text == '-');
    int digits = 0;
    for (; isdigit((unsigned char)*c); c++)
        digits++;
    if (*c == '.')
        for (c++; isdigit((unsigned char)*c); c++)
            digits++;
    if (digits > 0 && (*c == 'e' || *c == 'E')) {
        c++;
        c += *c == '+' || *c == '-';
        if (!isdigit((unsigned char)*c))
            return false;
        while (isdigit((unsigned char)*c))
            c++;
    }
    return digits > 0 && *c == '\0';
}

static bool names_non_finite(const char *text) {
    const char *c = text + (*text == '+' || *text == '-');
    c += *c == '.';
    static const char *const names[] = {"nan", "inf", "infinity"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (sn_text_distance(c, names[i]) == 0)
            return true;
    return false;
}

int sn_text_to_real(const char *text, double *out) {
    if (!looks_like_number(text))
        return names_non_finite(text) ? 2 : 1;
    // strtod follows the host's locale, in which the point may be a comma.
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain)
        return 1;
    locale_t before = uselocale(plain);
    double value = strtod(text, NULL);
    uselocale(before);
    freelocale(plain);
    if (!isfinite(value))
        return 2;
    *out = value;
    return 0;
}

// ---- Defaults

/// Reads "1" or "[1, 2, 3]" into `count` numbers. Tables are constant data, so what does not parse is our own
/// mistake.
static void parse_numbers(const char *text, int count, double *out) {
    const char *c = text;
    for (int i = 0; i < count; i++) {
        char number[32] = "";
        size_t length = 0;
        while (*c == '[' || *c == ',' || *c == ' ')
            c++;
        while (*c && *c != ',' && *c != ']' && length + 1 < sizeof number)
            number[length++] = *c++;
        number[length] = '\0';
        int bad = sn_text_to_real(number, &out[i]);
        SN_ASSERT(!bad);
        (void)bad;
    }
}

static void write_choice(const sn_field *field, char *member) {
    int32_t count = sn_field_choice_count(field);
    for (int32_t i = 0; i < count; i++)
        if (strcmp(field->choices[i].name, field->fallback) == 0)
            memcpy(member, &i, sizeof i);
}

static void write_default(const sn_field *field, void *item) {
    char *member = (char *)item + field->offset;
    double numbers[3] = {0};
    int32_t integer;
    uint32_t mark = SN_DEF_MARK;
    if (field->kind == SN_FIELD_MARK)
        memcpy(member, &mark, sizeof mark);
    if (!field->fallback)
        return;
    switch (field->kind) {
    case SN_FIELD_BOOL:
        *(bool *)member = strcmp(field->fallback, "true") == 0;
        break;
    case SN_FIELD_INT:
        parse_numbers(field->fallback, 1, numbers);
        integer = (int32_t)numbers[0];
        memcpy(member, &integer, sizeof integer);
        break;
    case SN_FIELD_REAL:
        parse_numbers(field->fallback, 1, numbers);
        memcpy(member, numbers, sizeof *numbers);
        break;
    case SN_FIELD_VEC3:
        parse_numbers(field->fallback, 3, numbers);
        memcpy(member, numbers, sizeof numbers);
        break;
    case SN_FIELD_CHOICE:
        write_choice(field, member);
        break;
    default:
        SN_ASSERT(!"only numbers and choices have defaults");
    }
}

static bool is_nested(const sn_field *field) {
    return field->kind == SN_FIELD_TABLE || field->kind == SN_FIELD_FLAGS || field->kind == SN_FIELD_INCLUDE;
}

static void write_defaults(const sn_field_table *table, void *item) {
    for (size_t i = 0; i < table->row_count; i++) {
        const sn_field *field = &table->rows[i];
        if (is_nested(field))
            write_defaults(field->table, (char *)item + field->offset);
        else if (!field->when_mask)
            write_default(field, item);
    }
    sn_field_conditional_defaults(table, item);
}

void sn_field_defaults(const sn_field_table *table, void *item) {
    memset(item, 0, table->size);
    write_defaults(table, item);
}

void sn_field_conditional_defaults(const sn_field_table *table, void *item) {
    for (size_t i = 0; i < table->row_count; i++) {
        const sn_field *field = &table->rows[i];
        if (!is_nested(field) && field->when_mask && sn_field_applies(field, item))
            write_default(field, item);
    }
}

// ---- Checks

static sn_status refuse(sn_context *ctx, const sn_field_table *table, const sn_field *field,
                        const double *value, int count) {
    char shown[96] = "", allowed[256];
    sn_field_units si = sn_field_units_si();
    for (int i = 0; i < count; i++)
        sn_text_append(shown, sizeof shown, "%s%.9g", i ? ", " : "", value[i]);
    return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "%s: %s: %s%s%s is out of range; allowed: %s", table->name,
                   field->key, count > 1 ? "[" : "", shown, count > 1 ? "]" : "",
                   sn_field_range_text(field, &si, allowed, sizeof allowed));
}

static bool vector_is_good(const sn_field *field, const double *v) {
    bool good = !field->nonzero || v[0] != 0 || v[1] != 0 || v[2] != 0;
    for (int i = 0; i < 3; i++)
        good = good && sn_field_in_range(field, v[i]) && !(field->each_nonzero && v[i] == 0);
    return good;
}

/// The value of an automatic field is not in its range, but allowed.
static bool is_automatic(const sn_field *field, double value) {
    double fallback = 0;
    if (!field->automatic)
        return false;
    if (field->fallback)
        parse_numbers(field->fallback, 1, &fallback);
    return value == fallback;
}

static sn_status check_number(sn_context *ctx, const sn_field_table *table, const sn_field *field,
                              double value) {
    if (sn_field_in_range(field, value) || is_automatic(field, value))
        return SN_OK;
    return refuse(ctx, table, field, &value, 1);
}

static sn_status check_row(sn_context *ctx, const sn_field_table *table, const sn_field *field,
                           const void *item) {
    const char *member = (const char *)item + field->offset;
    double numbers[3];
    int32_t integer;
    uint32_t mark;
    switch (field->kind) {
    case SN_FIELD_MARK:
        memcpy(&mark, member, sizeof mark);
        if (mark == SN_DEF_MARK)
            return SN_OK;
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT,
                       "%s: start the definition from its _def_default() function", table->name);
    case SN_FIELD_INT:
        memcpy(&integer, member, sizeof integer);
        return check_number(ctx, table, field, integer);
    case SN_FIELD_CHOICE:
        memcpy(&integer, member, sizeof integer);
        if (integer >= 0 && integer < sn_field_choice_count(field))
            return SN_OK;
        numbers[0] = integer;
        return refuse(ctx, table, field, numbers, 1);
    case SN_FIELD_REAL:
        memcpy(numbers, member, sizeof *numbers);
        return check_number(ctx, table, field, *numbers);
    case SN_FIELD_VEC3:
        memcpy(numbers, member, sizeof numbers);
        return vector_is_good(field, numbers) ? SN_OK : refuse(ctx, table, field, numbers, 3);
    default:
        return SN_OK;
    }
}

/// Whether a variant was chosen; rows outside groups always are.
static bool is_chosen(const sn_field_table *table, const sn_field *field, const void *item) {
    return !field->group || read_int(item, table->group[field->group - 1].tag_offset) == field->tag;
}

static sn_status check_rows(sn_context *ctx, const sn_field_table *table, const void *item, bool marks) {
    for (size_t i = 0; i < table->row_count; i++) {
        const sn_field *field = &table->rows[i];
        bool is_mark = field->kind == SN_FIELD_MARK;
        if (is_mark != marks || !sn_field_applies(field, item) || !is_chosen(table, field, item))
            continue;
        sn_status status = is_nested(field)
                               ? sn_field_check(ctx, field->table, (const char *)item + field->offset)
                               : check_row(ctx, table, field, item);
        if (status < 0)
            return status;
    }
    return SN_OK;
}

sn_status sn_field_check(sn_context *ctx, const sn_field_table *table, const void *item) {
    // The mark first: in a forgotten struct everything else is wrong too.
    sn_status status = check_rows(ctx, table, item, true);
    if (status == SN_OK)
        status = check_rows(ctx, table, item, false);
    if (status < 0)
        return status;
    sn_field_complaint complaint;
    if (table->check && !table->check(item, &complaint))
        return sn_fail(ctx, SN_ERR_INVALID_ARGUMENT, "%s: %s: allowed: %s", table->name, complaint.key,
                       complaint.allowed);
    return SN_OK;
}

// ---- Texts

void sn_text_append(char *text, size_t size, const char *format, ...) {
    size_t used = strlen(text);
    if (used + 1 >= size)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

/// Units with a name of their own, where the file's units are SI.
static const char *named_unit(const int8_t unit[SN_UNIT_COUNT], const sn_field_units *units) {
    static const struct {
        int8_t unit[SN_UNIT_COUNT];
        const char *name;
    } known[] = {
        {{-1, 1, -2, 0}, "Pa"}, {{-2, 1, -2, 0}, "Pa/m"}, {{1, 1, -2, 0}, "N"}, {{0, 1, -2, 0}, "N/m"}};
    for (int i = 0; i < SN_UNIT_ANGLE; i++)
        if (units->scale[i] != 1)
            return NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (memcmp(known[i].unit, unit, SN_UNIT_COUNT) == 0)
            return known[i].name;
    return NULL;
}

const char *sn_field_unit_text(const sn_field *field, const sn_field_units *units, char *text, size_t size) {
    static const int order[SN_UNIT_COUNT] = {SN_UNIT_ANGLE, SN_UNIT_MASS, SN_UNIT_LENGTH, SN_UNIT_TIME};
    const char *known = named_unit(field->unit, units);
    text[0] = '\0';
    if (known)
        sn_text_append(text, size, "%s", known);
    for (int below = 0; below < 2 && !known; below++)
        for (int i = 0; i < SN_UNIT_COUNT; i++) {
            int power = below ? -field->unit[order[i]] : field->unit[order[i]];
            if (power <= 0)
                continue;
            const char *joint = below ? (text[0] ? "/" : "1/") : (text[0] ? " " : "");
            sn_text_append(text, size, "%s%s", joint, units->name[order[i]]);
            if (power > 1)
                sn_text_append(text, size, "^%d", power);
        }
    return text;
}

static void append_choices(const sn_field *field, char *text, size_t size) {
    for (int32_t i = 0; field->choices[i].name; i++)
        sn_text_append(text, size, "%s%s", i ? ", " : "one of ", field->choices[i].name);
}

static void append_interval(const sn_field *field, double scale, char *text, size_t size) {
    double low = field->low / scale, high = field->high / scale;
    if (low == high)
        sn_text_append(text, size, "%.9g", low);
    else if (isinf(high) && !isinf(low))
        sn_text_append(text, size, "%s %.9g", field->low_open ? ">" : ">=", low);
    else if (isinf(low) && !isinf(high))
        sn_text_append(text, size, "%s %.9g", field->high_open ? "<" : "<=", high);
    else if (!isinf(low))
        sn_text_append(text, size, "%s%.9g to %s%.9g", field->low_open ? "above " : "", low,
                       field->high_open ? "below " : "", high);
}

static void append_number_range(const sn_field *field, const sn_field_units *units, char *text, size_t size) {
    char unit[64];
    append_interval(field, sn_field_unit_scale(field, units), text, size);
    bool bounded = text[0] != '\0';
    sn_field_unit_text(field, units, unit, sizeof unit);
    if (unit[0])
        sn_text_append(text, size, "%s%s", bounded ? " " : "any value in ", unit);
    if (field->kind == SN_FIELD_VEC3 && bounded)
        sn_text_append(text, size, " each");
    if (field->nonzero)
        sn_text_append(text, size, "%snot all 0", text[0] ? ", " : "");
    if (field->each_nonzero)
        sn_text_append(text, size, "%snone 0", text[0] ? ", " : "");
}

const char *sn_field_range_text(const sn_field *field, const sn_field_units *units, char *text, size_t size) {
    text[0] = '\0';
    switch (field->kind) {
    case SN_FIELD_INT:
    case SN_FIELD_INTS:
    case SN_FIELD_REAL:
    case SN_FIELD_VEC3:
        append_number_range(field, units, text, size);
        break;
    case SN_FIELD_CHOICE:
        append_choices(field, text, size);
        break;
    case SN_FIELD_FLAGS:
        for (size_t i = 0; i < field->table->row_count; i++)
            sn_text_append(text, size, "%s%s", i ? ", " : "some of ", field->table->rows[i].key);
        break;
    case SN_FIELD_BOOL:
        sn_text_append(text, size, "%s", field->only_true ? "true" : "true or false");
        break;
    case SN_FIELD_REFERENCE:
    case SN_FIELD_REFERENCES:
    case SN_FIELD_NAMED:
        sn_text_append(text, size, "a name under %s", field->section);
        break;
    case SN_FIELD_PAIR:
        sn_text_append(text, size, "names under %s or %s", field->section, field->section2);
        break;
    default:
        break;
    }
    return text;
}

const char *sn_field_type_text(const sn_field *field, char *text, size_t size) {
    static const char *const names[] = {[SN_FIELD_BOOL] = "switch",
                                        [SN_FIELD_INT] = "whole number",
                                        [SN_FIELD_REAL] = "number",
                                        [SN_FIELD_VEC3] = "[x, y, z]",
                                        [SN_FIELD_CHOICE] = "word",
                                        [SN_FIELD_TEXT] = "text",
                                        [SN_FIELD_REFERENCE] = "name",
                                        [SN_FIELD_REFERENCES] = "name or list of names",
                                        [SN_FIELD_PAIR] = "list of two names",
                                        [SN_FIELD_NAMED] = "name, or map of names",
                                        [SN_FIELD_INTS] = "list of whole numbers",
                                        [SN_FIELD_TABLE] = "map",
                                        [SN_FIELD_FLAGS] = "list of words",
                                        [SN_FIELD_LIST] = "list of maps",
                                        [SN_FIELD_MAP] = "map of named maps"};
    const char *name = (size_t)field->kind < sizeof names / sizeof *names ? names[field->kind] : NULL;
    text[0] = '\0';
    sn_text_append(text, size, "%s", name ? name : "");
    if (field->table && field->table->word)
        sn_text_append(text, size, " or \"%s\"", field->table->word);
    if (field->kind == SN_FIELD_LIST && field->table->positional) {
        text[0] = '\0';
        for (size_t i = 0; i < field->table->row_count; i++)
            sn_text_append(text, size, "%s%s", i ? ", " : "list of [", field->table->rows[i].key);
        sn_text_append(text, size, "]");
    }
    return text;
}

const char *sn_field_condition_text(const sn_field_table *table, const sn_field *field, char *text,
                                    size_t size) {
    text[0] = '\0';
    const char *joint = "";
    for (size_t i = 0; i < table->row_count; i++) {
        const sn_field *row = &table->rows[i];
        bool tagged = row->group && table->group[row->group - 1].tag_offset == field->when_offset &&
                      (field->when_mask >> row->tag & 1u);
        if (tagged) {
            sn_text_append(text, size, "%s%s", joint, row->key);
            joint = " or ";
        }
        bool chosen = row->kind == SN_FIELD_CHOICE && row->offset == field->when_offset;
        for (int32_t k = 0; chosen && row->choices[k].name; k++)
            if (field->when_mask >> k & 1u) {
                sn_text_append(text, size, "%s%s: %s", joint, row->key, row->choices[k].name);
                joint = " or ";
            }
    }
    return text;
}

int32_t sn_text_distance(const char *a, const char *b) {
    int32_t row[3][WORD_MAX + 1];
    int32_t n = (int32_t)strnlen(a, WORD_MAX), m = (int32_t)strnlen(b, WORD_MAX);
    for (int32_t j = 0; j <= m; j++)
        row[0][j] = j;
    for (int32_t i = 1; i <= n; i++) {
        int32_t *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (int32_t j = 1; j <= m; j++) {
            int p = tolower((unsigned char)a[i - 1]), q = tolower((unsigned char)b[j - 1]);
            int32_t best = last[j - 1] + (p != q);
            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            bool swapped = i > 1 && j > 1 && p == tolower((unsigned char)b[j - 2]) &&
                           q == tolower((unsigned char)a[i - 2]);
            if (swapped && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[n % 3][m];
}

void sn_text_nearest(const char *word, const char *candidate, const char **nearest) {
    int32_t distance = sn_text_distance(word, candidate);
    int32_t longer = (int32_t)(strlen(word) > strlen(candidate) ? strlen(word) : strlen(candidate));
    if (2 * distance > longer + 1)
        return;
    if (!*nearest || distance < sn_text_distance(word, *nearest))
        *nearest = candidate;
}
