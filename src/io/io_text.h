/// A text file in memory with a cursor: the tokenizer of all mesh and skeleton readers.
///
/// The whole file is read at once: sizes claimed by a header can then be held against the bytes that are left
/// before anything is allocated, and every message can name the line. Numbers are read the same way under
/// every locale, and exactly: short ones by one multiplication or division of exact values (Clinger 1990,
/// "How to read floating point numbers accurately"), the rest by the C library. A reader never needs more
/// than one character beyond the cursor, because a zero byte follows the last one and a text with zero bytes
/// of its own is refused. Binary formats take whole numbers and reals from the same bytes.
#ifndef SN_IO_TEXT_H
#define SN_IO_TEXT_H

#include "base/base_context.h"

/// Numbers in the C locale on this thread, whatever the program has chosen.
typedef struct sn_number_scope {
    void *locale, *previous;
} sn_number_scope;

SN_NODISCARD sn_status sn_number_scope_enter(sn_context *ctx, sn_number_scope *scope);
/// Accepts a scope that was never entered (all zero).
void sn_number_scope_leave(sn_number_scope *scope);

/// A file in memory, known by how its name ends.
typedef struct sn_text_file {
    const char *ending;
    const void *bytes;
    size_t size;
} sn_text_file;

typedef struct sn_text {
    sn_context *ctx;
    const char *path; ///< Borrowed.
    char *bytes;
    const char *at, *end;              ///< Cursor and end, inside `bytes`.
    int64_t line;                      ///< Line of the cursor, from 1.
    char comment;                      ///< Starts a comment that ends with the line; 0: none.
    bool continues;                    ///< A backslash at a line's end joins the next line.
    bool has_zero_bytes;               ///< Not a text file: readers of text must refuse it.
    bool binary;                       ///< Messages name the byte of the cursor instead of its line.
    char *own_path;                    ///< What `path` is if the text had to make it.
    bool in_memory;                    ///< Opened from memory: other files are not looked for.
    const struct sn_text_file *beside; ///< [beside_count] what stands beside a text in memory.
    int32_t beside_count;
    sn_number_scope numbers;
} sn_text;

/// A word of the text: not terminated, valid as long as the text.
typedef struct sn_word {
    const char *at;
    size_t size;
} sn_word;

/// Reads a file. A byte-order mark of UTF-8 is dropped. @return SN_OK; SN_ERR_READ: missing, a folder,
/// unreadable, empty; SN_ERR_NO_MEMORY.
SN_NODISCARD sn_status sn_text_open(sn_context *ctx, const char *path, sn_text *out_text);
/// The same from memory, which is copied: for the fuzzers. `name` stands for the path in messages.
SN_NODISCARD sn_status sn_text_open_memory(sn_context *ctx, const char *name, const void *bytes, size_t size,
                                           sn_text *out_text);
/// Opens another file that this one names, from the folder that this one is in.
SN_NODISCARD sn_status sn_text_open_beside(const sn_text *text, sn_word name, sn_text *out_text);
/// Whether there is such a file.
SN_NODISCARD sn_status sn_text_is_beside(const sn_text *text, sn_word name, bool *out_is);
/// Accepts a text that was never opened (all zero).
void sn_text_close(sn_text *text);
/// Puts the cursor back to the first byte.
void sn_text_rewind(sn_text *text);

/// True if, blanks and comment aside, the line or the file ends at the cursor. Skips the blanks.
bool sn_text_at_line_end(sn_text *text);
/// Moves to the start of the next line.
void sn_text_next_line(sn_text *text);
/// Skips blanks, line ends and comments; false at the end of the file.
bool sn_text_skip_space(sn_text *text);
/// Takes the next word of this line; size 0 at the line's end.
sn_word sn_text_word(sn_text *text);
/// Takes the rest of this line, without blanks at its ends; comment marks and backslashes are part of it, so
/// that it never goes on in the next line.
sn_word sn_text_rest(sn_text *text);
/// Takes a number of this line. False, with the cursor at the word, if there is none.
bool sn_text_real(sn_text *text, double *out_value);
bool sn_text_int(sn_text *text, int32_t *out_value);
/// Takes digits with an optional sign at the very cursor, whatever follows them.
bool sn_text_digits(sn_text *text, int32_t *out_value);
/// Takes the next field of this line, between commas, without blanks at its ends; it may be empty. False at
/// the line's end, where a comma is the end of its field only.
bool sn_text_field(sn_text *text, sn_word *out_field);
/// The number that a word is as a whole. False if it is none.
bool sn_word_real(const sn_text *text, sn_word word, double *out_value);
bool sn_word_int(const sn_text *text, sn_word word, int32_t *out_value);
/// True if no word goes on at the very cursor.
bool sn_text_at_word_end(const sn_text *text);

bool sn_word_is(sn_word word, const char *text);
/// Ignores the case of ASCII letters.
bool sn_word_is_alike(sn_word word, const char *text);

/// Fails with "path:line: found X, expected ..." where X is what stands at the cursor.
SN_NODISCARD sn_status sn_text_expected(sn_text *text, const char *format, ...) SN_PRINTF(2, 3);
/// Fails with "path:line: ...", or, of a binary file, "path: byte 12: ...".
SN_NODISCARD sn_status sn_text_fail(const sn_text *text, const char *format, ...) SN_PRINTF(2, 3);
/// Refuses a claimed number of items of at least `bytes_each` bytes if the rest of the file cannot hold them.
SN_NODISCARD sn_status sn_text_check_count(const sn_text *text, int64_t count, size_t bytes_each,
                                           const char *what);

/// Numbers of binary files.
typedef enum sn_number_type {
    SN_NUMBER_I8 = 0,
    SN_NUMBER_U8,
    SN_NUMBER_I16,
    SN_NUMBER_U16,
    SN_NUMBER_I32,
    SN_NUMBER_U32,
    SN_NUMBER_I64,
    SN_NUMBER_U64,
    SN_NUMBER_F32,
    SN_NUMBER_F64
} sn_number_type;

/// Bytes of a number.
size_t sn_number_size(sn_number_type type);
/// The number that stands at `at`, aligned or not; whole ones beyond 2^53 are rounded.
double sn_number_real(const char *at, sn_number_type type, bool big_endian);
/// The whole number there; false if it is none (NaN, 0.5) or is beyond int64_t.
bool sn_number_int(const char *at, sn_number_type type, bool big_endian, int64_t *out_value);

/// Takes `size` bytes at the very cursor; NULL, with the cursor where it was, if there are fewer.
const char *sn_text_bytes(sn_text *text, size_t size);

#endif
