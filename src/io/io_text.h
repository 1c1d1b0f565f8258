/// A text file in memory with a cursor: the tokenizer of all mesh and skeleton readers.
///
/// The whole file is read at once: sizes claimed by a header can then be held against the bytes that are left
/// before anything is allocated, and every message can name the line. Numbers are read the same way under
/// every locale, and exactly: short ones by one multiplication or division of exact values (Clinger 1990,
/// "How to read floating point numbers accurately"), the rest by the C library. A reader never needs more
/// than one character beyond the cursor, because a zero byte follows the last one and a file with zero bytes
/// of its own is refused.
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

typedef struct sn_text {
    sn_context *ctx;
    const char *path; ///< Borrowed.
    char *bytes;
    const char *at, *end; ///< Cursor and end, inside `bytes`.
    int64_t line;         ///< Line of the cursor, from 1.
    char comment;         ///< Starts a comment that ends with the line; 0: none.
    bool continues;       ///< A backslash at a line's end joins the next line.
    bool has_zero_bytes;  ///< Not a text file: the reader must refuse it.
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
/// True if no word goes on at the very cursor.
bool sn_text_at_word_end(const sn_text *text);

bool sn_word_is(sn_word word, const char *text);
/// Ignores the case of ASCII letters.
bool sn_word_is_alike(sn_word word, const char *text);

/// Fails with "path:line: found X, expected ..." where X is what stands at the cursor.
SN_NODISCARD sn_status sn_text_expected(sn_text *text, const char *format, ...) SN_PRINTF(2, 3);
/// Fails with "path:line: ...".
SN_NODISCARD sn_status sn_text_fail(const sn_text *text, const char *format, ...) SN_PRINTF(2, 3);
/// Refuses a claimed number of items of at least `bytes_each` bytes if the rest of the file cannot hold them.
SN_NODISCARD sn_status sn_text_check_count(const sn_text *text, int32_t count, size_t bytes_each,
                                           const char *what);

#endif
