/// Field tables: a definition struct described as data, one row a field.
///
/// A table drives the defaults of its struct, the checks of its values, the reading of it from a scene file
/// and its section of the manual, so that each fact about a field stands once. The module that owns a struct
/// owns its table. Several tables may describe parts of one struct (sphere and box of a shape); rows that no
/// file holds are listed as derived, so that a test can see that no byte of a struct has been forgotten.
#ifndef SN_BASE_FIELD_H
#define SN_BASE_FIELD_H

#include "base/base_context.h"

#include <math.h>

/// What a row describes, with the C type at its offset. Lists and maps are a pointer at `offset` and an
/// int32_t count at `count_offset`; the reader owns what they point to.
typedef enum sn_field_kind {
    SN_FIELD_BOOL,       ///< bool
    SN_FIELD_INT,        ///< int32_t
    SN_FIELD_REAL,       ///< double
    SN_FIELD_VEC3,       ///< double[3]; the range holds for each component
    SN_FIELD_CHOICE,     ///< an enum: index into `choices`
    SN_FIELD_TEXT,       ///< char *
    SN_FIELD_REFERENCE,  ///< char *: name of an entry of the scene's section `section`
    SN_FIELD_REFERENCES, ///< list of char *: one name or a list of names
    SN_FIELD_PAIR,       ///< char *[2]: a list of two names, each of an entry of `section` or `section2`
    SN_FIELD_NAMED,      ///< list of sn_field_named: one name for all, or a map from key to name
    SN_FIELD_INTS,       ///< list of int32_t
    SN_FIELD_TABLE,      ///< a struct in place, described by `table`
    SN_FIELD_FLAGS,      ///< the same, all bools: a list of the keys that are on
    SN_FIELD_LIST,       ///< list of structs of `table`
    SN_FIELD_MAP,        ///< the same, each with a name of its own
    SN_FIELD_INCLUDE,    ///< the rows of `table`, for a struct in place; no key of its own
    SN_FIELD_MARK,       ///< uint32_t: SN_DEF_MARK
    SN_FIELD_DERIVED     ///< `size` bytes that no file holds: handles, pointers, what the reader finds out
} sn_field_kind;

/// A choice by name; an array of them ends with a NULL name, its index is the enum's value.
typedef struct sn_field_choice {
    const char *name, *help;
} sn_field_choice;

/// An entry of SN_FIELD_NAMED; key NULL: for everything else.
typedef struct sn_field_named {
    char *key, *name;
} sn_field_named;

/// Exponents of length, mass, time and angle.
enum { SN_UNIT_LENGTH, SN_UNIT_MASS, SN_UNIT_TIME, SN_UNIT_ANGLE, SN_UNIT_COUNT };

typedef struct sn_field_table sn_field_table;

typedef struct sn_field {
    const char *key; ///< As in the scene file; NULL for rows that no file holds.
    sn_field_kind kind;
    size_t offset;       ///< In the struct.
    size_t count_offset; ///< Of lists: the int32_t count.
    size_t size;         ///< SN_FIELD_DERIVED: its bytes.
    int8_t unit[SN_UNIT_COUNT];
    double low, high; ///< Numbers: the range, for counts of lists too. Use SN_ANY_VALUE and friends.
    bool low_open, high_open;
    bool nonzero;          ///< VEC3: not all components are 0.
    bool each_nonzero;     ///< VEC3: no component is 0.
    bool only_true;        ///< BOOL: a switch that can only be turned on.
    bool required;         ///< Must be given (if its condition holds).
    const char *fallback;  ///< The default as text in SI units; NULL: zero, or none if required.
    const char *automatic; ///< The default lies outside the range and means this, in words.
    const char *help;      ///< One line, without a full stop at the end.
    const sn_field_choice *choices;
    const sn_field_table *table;
    const char *section;  ///< References: the section of the scene file that they name.
    const char *section2; ///< Of pairs: another section that they may name.
    /// Condition: the row exists only if the int32_t or enum at `when_offset` has a value whose bit is in
    /// `when_mask`. 0: always. Two rows with one key and other conditions give a field another range and
    /// default.
    size_t when_offset;
    uint32_t when_mask;
    /// 1, 2, ...: the row is one of the variants of the table's group[group - 1] and writes `tag` into its
    /// tag.
    uint8_t group;
    int32_t tag;
} sn_field;

/// Rows of which one at most may be given. The enum or int32_t at `tag_offset` says which one.
typedef struct sn_field_group {
    size_t tag_offset;
    bool required;
} sn_field_group;

/// What is wrong with a whole struct.
typedef struct sn_field_complaint {
    const char *key, *allowed;
} sn_field_complaint;

struct sn_field_table {
    const char *name; ///< For messages and the manual, such as "material".
    const char *help; ///< One or two lines for the manual; may be NULL.
    size_t size;      ///< Of the struct.
    const sn_field *rows;
    size_t row_count;
    sn_field_group group[2];
    const char *word;       ///< A word that may stand for the whole table with nothing given ("all").
    const char *scalar_key; ///< A single value that may stand for the table with only this key given.
    bool positional;        ///< A list of values may stand for the rows in their order.
    size_t name_offset;     ///< Items of maps: char *, the name. SN_FIELD_NONE: no such member.
    size_t place_offset;    ///< Items: const void *, where the reader puts the item's place. SN_FIELD_NONE
                            ///< likewise.
    /// Rules between fields. Returns false with *complaint filled in if one is broken. NULL: none.
    bool (*check)(const void *item, sn_field_complaint *complaint);
};

#define SN_FIELD_NONE SIZE_MAX
/// For tables whose structs are no items of a list or map.
#define SN_FIELD_NO_ITEM               .name_offset = SN_FIELD_NONE, .place_offset = SN_FIELD_NONE
#define SN_FIELD_ROWS(array)           .rows = (array), .row_count = sizeof(array) / sizeof *(array)
#define SN_FIELD_WHEN(offset, mask)    .when_offset = (offset), .when_mask = (mask)
#define SN_FIELD_UNIT(m, kg, s, angle) .unit = {(m), (kg), (s), (angle)}
#define SN_ANY_VALUE                   .low = -INFINITY, .high = INFINITY
#define SN_POSITIVE                    .low = 0, .high = INFINITY, .low_open = true
#define SN_NOT_NEGATIVE                .low = 0, .high = INFINITY
#define SN_BETWEEN(a, b)               .low = (a), .high = (b)

/// Units of a file: how many SI units each of its units is, and its name.
typedef struct sn_field_units {
    double scale[SN_UNIT_COUNT];
    const char *name[SN_UNIT_COUNT];
} sn_field_units;

/// m, kg, s, rad.
sn_field_units sn_field_units_si(void);
/// Factor from the file's unit of a row to SI.
double sn_field_unit_scale(const sn_field *field, const sn_field_units *units);

/// Bytes of the struct that a row covers at its offset (not those of its count).
size_t sn_field_size(const sn_field *field);
/// Whether a row's condition holds.
bool sn_field_applies(const sn_field *field, const void *item);
/// Number of choices of a row.
int32_t sn_field_choice_count(const sn_field *field);
/// Whether a number of a row (a component, for vectors) is finite and in its range.
bool sn_field_in_range(const sn_field *field, double value);

/// Clears a struct, then writes its defaults and marks, nested ones too.
void sn_field_defaults(const sn_field_table *table, void *item);
/// Writes the defaults of the rows with a condition that holds now: for after a choice has been made.
void sn_field_conditional_defaults(const sn_field_table *table, void *item);

/// Checks a struct that a program filled in: mark, ranges, choices, rules. Nested structs of variants are
/// checked if chosen. The message begins with the table's name.
SN_NODISCARD sn_status sn_field_check(sn_context *ctx, const sn_field_table *table, const void *item);

/// Reads a finite decimal number that fills the whole text, with a point whatever the locale says.
/// @return 0: *out is set; 1: not a number; 2: a number that is not finite or too large (nan, .inf, 1e999).
int sn_text_to_real(const char *text, double *out);

/// Texts for messages and the manual, cut to `size` with its end. All return `text`.
/// Unit such as "Pa", "m/s" or "kg/m^3"; "" without dimension.
const char *sn_field_unit_text(const sn_field *field, const sn_field_units *units, char *text, size_t size);
/// Range such as "> 0 Pa", "0 to 0.4995", "one of a, b"; "" if anything of the type will do.
const char *sn_field_range_text(const sn_field *field, const sn_field_units *units, char *text, size_t size);
/// What kind of value, such as "a number" or "[x, y, z]".
const char *sn_field_type_text(const sn_field *field, char *text, size_t size);

/// What a row's condition asks for, such as "skeleton or make" or "model: arap"; "" without condition.
const char *sn_field_condition_text(const sn_field_table *table, const sn_field *field, char *text,
                                    size_t size);

/// Appends to a text of `size` bytes; cut at its end.
void sn_text_append(char *text, size_t size, const char *format, ...) SN_PRINTF(3, 4);

/// Edits (insert, delete, replace, swap neighbors) from one word to another, ignoring case; words longer than
/// 63 are cut.
int32_t sn_text_distance(const char *a, const char *b);

/// Keeps the candidate nearest to `word` in *nearest (NULL at first); candidates too far to be meant are not
/// kept.
void sn_text_nearest(const char *word, const char *candidate, const char **nearest);

#endif
