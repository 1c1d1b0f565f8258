// Every row of every field table of a scene: a wrong type, a value out of range and a misspelt key each give
// line, key, value and what is allowed. The scenes are made from the tables themselves, as small as they can
// be.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene/scene_def.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 12, TEXT_SIZE = 16384 };

/// A row inside the tables: the row of the file, its key's table, and so on down.
typedef struct target {
    const sn_field *row[DEPTH_MAX];
    const sn_field_table *owner[DEPTH_MAX]; ///< Table that holds the row (an included one, perhaps).
    int depth;
} target;

/// A scene being written, one key a line.
typedef struct script {
    char text[TEXT_SIZE];
    int line;
    const target *goal;
    const char *bad_key, *bad_value; ///< What stands at the goal; NULL: its own key, a good value.
    int goal_line;
    char goal_path[256];
} script;

static sn_context *context;
static int scene_count;

// ---- Good values

static double good_number(const sn_field *row, size_t index) {
    if (row->low == row->high)
        return row->low;
    if (isfinite(row->low) && isfinite(row->high))
        return row->kind == SN_FIELD_INT || row->kind == SN_FIELD_INTS ? row->low
                                                                       : (row->low + row->high) / 2;
    return 1 + (double)index;
}

static const char *good_value(const sn_field *row, size_t index, uint32_t choice_mask, char *text,
                              size_t size) {
    double number = good_number(row, index);
    text[0] = '\0';
    switch (row->kind) {
    case SN_FIELD_BOOL:
        return "true";
    case SN_FIELD_INT:
    case SN_FIELD_REAL:
        sn_text_append(text, size, "%.9g", number);
        break;
    case SN_FIELD_VEC3:
        sn_text_append(text, size, "[%.9g, %.9g, %.9g]", number, number, number);
        break;
    case SN_FIELD_CHOICE:
        for (int32_t i = 0; row->choices[i].name; i++)
            if (!text[0] && choice_mask >> i & 1u)
                sn_text_append(text, size, "%s", row->choices[i].name);
        break;
    case SN_FIELD_INTS:
        sn_text_append(text, size, "[%.9g]", number);
        break;
    case SN_FIELD_FLAGS:
        return "[]";
    case SN_FIELD_PAIR:
        return "[a, a]";
    default:
        return "a";
    }
    return text;
}

// ---- Minimal scenes

static void write_table(script *s, const sn_field_table *table, int level, bool on_path, int indent,
                        const char *path);

static void write_line(script *s, int indent, const char *key, const char *value) {
    sn_text_append(s->text, sizeof s->text, "%*s%s:%s%s\n", indent, "", key, value[0] ? " " : "", value);
    s->line++;
}

static void write_row(script *s, const sn_field *row, size_t index, uint32_t choice_mask, int level,
                      bool is_goal_path, int indent, const char *path) {
    char value[256], inner[256] = "";
    bool is_goal = is_goal_path && level == s->goal->depth - 1;
    bool nested = row->kind == SN_FIELD_TABLE || row->kind == SN_FIELD_LIST || row->kind == SN_FIELD_MAP;
    const char *key = is_goal && s->bad_key ? s->bad_key : row->key;
    sn_text_append(inner, sizeof inner, "%s%s%s", path, path[0] ? "." : "", key);
    if (is_goal) {
        s->goal_line = s->line;
        strcpy(s->goal_path, inner);
    }
    if (is_goal && s->bad_value)
        write_line(s, indent, key, s->bad_value);
    else if (!nested)
        write_line(s, indent, key, good_value(row, index, choice_mask, value, sizeof value));
    else {
        write_line(s, indent, key, "");
        if (row->kind == SN_FIELD_MAP) {
            sn_text_append(inner, sizeof inner, ".a");
            write_line(s, indent + 2, "a", "");
        } else if (row->kind == SN_FIELD_LIST) {
            sn_text_append(inner, sizeof inner, "[0]");
            sn_text_append(s->text, sizeof s->text, "%*s-\n", indent + 2, "");
            s->line++;
        }
        int before = s->line;
        write_table(s, row->table, level + 1, is_goal_path && !is_goal,
                    indent + (row->kind == SN_FIELD_TABLE ? 2 : 4), inner);
        // A block without lines would be no map.
        if (s->line == before)
            strcpy(strrchr(s->text, '\n'), " {}\n");
    }
}

/// The variant of a group to write: the goal, or what the goal's condition asks for, or the first.
static const sn_field *choose_variant(const sn_field_table *table, uint8_t group, const sn_field *goal) {
    const sn_field *first = NULL;
    for (size_t i = 0; i < table->row_count; i++) {
        const sn_field *row = &table->rows[i];
        if (row->group != group)
            continue;
        bool asked = goal && goal->when_mask && goal->when_offset == table->group[group - 1].tag_offset &&
                     (goal->when_mask >> row->tag & 1u);
        if (row == goal || asked)
            return row;
        if (!first && table->group[group - 1].required)
            first = row;
    }
    return goal && goal->group == group ? goal : first;
}

/// Whether a row's condition can hold next to the goal: by the tag or choice that the goal brings about.
static bool condition_holds(const sn_field_table *table, const sn_field *row, const sn_field *goal,
                            uint32_t *mask) {
    for (size_t i = 0; i < table->row_count; i++) {
        const sn_field *by = &table->rows[i];
        if (by->kind == SN_FIELD_CHOICE && by->offset == row->when_offset) {
            *mask = goal && goal->when_mask && goal->when_offset == by->offset ? goal->when_mask : 1u;
            return (row->when_mask & *mask & (~*mask + 1)) != 0;
        }
        if (by->group && table->group[by->group - 1].tag_offset == row->when_offset)
            return row->when_mask >> choose_variant(table, by->group, goal)->tag & 1u;
    }
    return true;
}

static void write_rows(script *s, const sn_field_table *table, int level, bool on_path, int indent,
                       const char *path) {
    const sn_field *goal = on_path && s->goal->owner[level] == table ? s->goal->row[level] : NULL;
    for (size_t i = 0; i < table->row_count; i++) {
        const sn_field *row = &table->rows[i];
        if (row->kind == SN_FIELD_INCLUDE)
            write_rows(s, row->table, level, on_path, indent, path);
        if (!row->key)
            continue;
        uint32_t mask = UINT32_MAX;
        bool provides =
            goal && goal->when_mask && row->kind == SN_FIELD_CHOICE && row->offset == goal->when_offset;
        bool is_rigid = table == &sn_scene_fields && strcmp(row->key, "rigid") == 0;
        bool wanted = row->required || provides || is_rigid;
        if (row->group)
            wanted = choose_variant(table, row->group, goal) == row;
        if (row->when_mask && row != goal)
            wanted = wanted && condition_holds(table, row, goal, &mask);
        if (provides)
            mask = goal->when_mask;
        else if (row->kind == SN_FIELD_CHOICE)
            mask = 1u;
        if (row == goal || wanted)
            write_row(s, row, i, mask, level, row == goal, indent, path);
    }
}

static void write_table(script *s, const sn_field_table *table, int level, bool on_path, int indent,
                        const char *path) {
    write_rows(s, table, level, on_path, indent, path);
}

/// Parses the scene with the goal as said. Returns the status; the message stays in the context.
static sn_status run(script *s, const target *goal, const char *bad_key, const char *bad_value) {
    sn_scene *scene = NULL;
    *s = (script){.line = 1, .goal = goal, .bad_key = bad_key, .bad_value = bad_value};
    write_table(s, &sn_scene_fields, 0, true, 0, "");
    sn_status status = sn_scene_parse(context, s->text, strlen(s->text), "scene.yaml", "", 0, NULL, &scene);
    sn_scene_destroy(&scene);
    scene_count++;
    return status;
}

/// The message begins with file, line and path and holds the words.
static void expect(const script *s, sn_status status, const char *word, const char *word2) {
    char begin[320];
    const char *message = sn_context_message(context);
    snprintf(begin, sizeof begin, "scene.yaml:%d: %s", s->goal_line, s->goal_path);
    if (status != SN_ERR_SCENE || strncmp(message, begin, strlen(begin)) != 0 || !strstr(message, word) ||
        !strstr(message, word2))
        fail_msg("expected '%s', '%s', '%s' in: %s: %s\n%s", begin, word, word2, sn_status_name(status),
                 message, s->text);
}

// ---- Bad values

static const char *wrong_type(const sn_field *row) {
    switch (row->kind) {
    case SN_FIELD_BOOL:
    case SN_FIELD_LIST:
    case SN_FIELD_MAP:
    case SN_FIELD_FLAGS:
        return "7";
    case SN_FIELD_REFERENCES:
        return "{x: 1}";
    case SN_FIELD_INT:
    case SN_FIELD_REAL:
    case SN_FIELD_VEC3:
    case SN_FIELD_INTS:
        return "abc";
    default:
        return "[1]";
    }
}

/// A value of the right type that is not allowed; NULL if all are.
static const char *out_of_range(const sn_field *row, char *text, size_t size) {
    double low = isfinite(row->low) ? (row->low_open ? row->low : row->low - 1) : NAN;
    text[0] = '\0';
    switch (row->kind) {
    case SN_FIELD_BOOL:
        return row->only_true ? "false" : NULL;
    case SN_FIELD_INT:
        sn_text_append(text, size, "%.9g", low);
        return text;
    case SN_FIELD_REAL:
        sn_text_append(text, size, isfinite(low) ? "%.9g" : ".nan", low);
        return text;
    case SN_FIELD_VEC3:
        if (row->nonzero)
            return "[0, 0, 0]";
        if (row->each_nonzero)
            return "[1, 0, 1]";
        sn_text_append(text, size, isfinite(low) ? "[1, %.9g, 1]" : "[1, .inf, 1]", low);
        return text;
    case SN_FIELD_INTS:
        return "[-1]";
    case SN_FIELD_FLAGS:
        return "[zzz]";
    case SN_FIELD_PAIR:
        return "[a, zzz]";
    case SN_FIELD_CHOICE:
    case SN_FIELD_REFERENCE:
    case SN_FIELD_REFERENCES:
    case SN_FIELD_NAMED:
        return "zzz";
    default:
        return NULL;
    }
}

/// "[1, .inf, 1]" is shown by its bad component.
static const char *shown_value(const sn_field *row, const char *value) {
    static char part[64];
    bool by_part = (row->kind == SN_FIELD_VEC3 && !row->nonzero && !row->each_nonzero) ||
                   row->kind == SN_FIELD_INTS || row->kind == SN_FIELD_FLAGS || row->kind == SN_FIELD_PAIR;
    if (!by_part)
        return value;
    const char *begin = strchr(value, ',') ? strchr(value, ',') + 2 : value + 1;
    snprintf(part, sizeof part, "%.*s", (int)strcspn(begin, ",]"), begin);
    return part;
}

static void try_row(const target *goal) {
    static script s;
    const sn_field *row = goal->row[goal->depth - 1];
    sn_field_units units = sn_scene_units_of(&(sn_scene_units){0});
    char value[64], range[512], misspelt[64];
    sn_status status = run(&s, goal, NULL, NULL);
    if (status != SN_OK)
        fail_msg("a good scene is refused: %s\n%s", sn_context_message(context), s.text);
    expect(&s, run(&s, goal, NULL, wrong_type(row)), wrong_type(row)[0] == '{' ? "{x: ...}" : wrong_type(row),
           "allowed: ");
    const char *bad = out_of_range(row, value, sizeof value);
    if (bad) {
        sn_field part = *row;
        if (shown_value(row, bad) != bad && row->kind == SN_FIELD_VEC3)
            part.kind = SN_FIELD_REAL;
        sn_field_range_text(&part, &units, range, sizeof range);
        bool named = row->section != NULL;
        status = run(&s, goal, NULL, bad);
        expect(&s, status, shown_value(row, bad), named ? "allowed: a" : range);
        assert_non_null(strstr(sn_context_message(context), "allowed: "));
    }
    snprintf(misspelt, sizeof misspelt, "%s%c", row->key, row->key[strlen(row->key) - 1]);
    status = run(&s, goal, misspelt, NULL);
    if (strcmp(row->key, "sinew") == 0)
        assert_non_null(strstr(sn_context_message(context), "`sinew: 1`"));
    else {
        snprintf(range, sizeof range, "did you mean %s;", row->key);
        expect(&s, status, "unknown key (value ", range);
    }
}

static int try_table(const sn_field_table *table, target *goal) {
    int count = 0;
    for (size_t i = 0; i < table->row_count; i++) {
        const sn_field *row = &table->rows[i];
        if (row->kind == SN_FIELD_INCLUDE) {
            count += try_table(row->table, goal);
            continue;
        }
        if (!row->key)
            continue;
        goal->row[goal->depth] = row;
        goal->owner[goal->depth++] = table;
        try_row(goal);
        count++;
        if (row->table && row->kind != SN_FIELD_FLAGS)
            count += try_table(row->table, goal);
        goal->depth--;
    }
    return count;
}

static void every_row_is_checked(void **state) {
    (void)state;
    target goal = {0};
    int rows = try_table(&sn_scene_fields, &goal);
    print_message("%d rows, %d scenes\n", rows, scene_count);
    assert_true(rows > 140);
}

int main(void) {
    if (sn_context_create(NULL, &context) != SN_OK)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_row_is_checked)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (sn_context_memory_in_use(context) != 0)
        failed++;
    sn_context_destroy(&context);
    return failed;
}
