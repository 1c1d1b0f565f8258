// The manual's reference sections, written from the field tables: what they say is what the reader does.
#include "material/material_model.h"
#include "scene/scene_def.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TABLES_MAX = 64, PATH_SIZE = 256, CELL_SIZE = 512 };

typedef struct manual {
    sn_context *context;
    sn_status status; ///< The first failure; nothing is written after it.
    bool markdown;
    char *text;
    size_t length, capacity;
    sn_field_units units;
    const sn_field_table *done[TABLES_MAX]; ///< Tables written already, with the path of their section.
    char done_path[TABLES_MAX][PATH_SIZE];
    size_t done_count;
} manual;

static void put(manual *m, const char *format, ...) SN_PRINTF(2, 3);

static void put(manual *m, const char *format, ...) {
    char piece[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    size_t length = strlen(piece);
    if (m->status == SN_OK)
        m->status = sn_grow(m->context, (void **)&m->text, &m->capacity, m->length + length + 1, 1);
    if (m->status < 0)
        return;
    memcpy(m->text + m->length, piece, length + 1);
    m->length += length;
}

static const char introduction_text[] = "A scene file says what to simulate. It is YAML, or JSON, which is a "
                                        "part of YAML. Numbers are in SI units unless `units`\n"
                                        "says otherwise; angles are in degrees. Paths are relative to the "
                                        "scene file. Unknown keys, keys that are there twice,\n"
                                        "values of a wrong type or out of range and names that nothing has "
                                        "are errors with the line, the key, the value and what\n"
                                        "is allowed. `--set materials.rubber.young=1e6` replaces a value by "
                                        "its path; list items go by number (`pins.0.body`),\n"
                                        "missing keys are added, and `null` as value takes a key away.\n";

static const char introduction_example[] =
    "sinew: 1\n"
    "time: {fps: 60, frames: 60, integrator: implicit_euler}\n"
    "gravity: [0, 0, -9.81]\n"
    "materials:\n"
    "  rubber: {model: corotated, young: 1e6, poisson: 0.3, density: 1000}\n"
    "bodies:\n"
    "  beam: {make: {shape: beam, size: [1, 0.2, 0.2], cells: 4}, material: "
    "rubber}\n"
    "pins:\n"
    "  - {body: beam, select: {plane: {point: [0, 0, 0], normal: [1, 0, 0]}}}\n"
    "solver: {method: lbfgs, iterations: 20, tolerance: 1e-3}\n";

// ---- Rows

/// "number, > 0 Pa", with choices by name only.
static const char *value_text(const manual *m, const sn_field *field, char *text, size_t size) {
    char range[CELL_SIZE];
    sn_field_type_text(field, text, size);
    sn_field_range_text(field, &m->units, range, sizeof range);
    if (range[0] && field->kind != SN_FIELD_BOOL)
        sn_text_append(text, size, ", %s", range);
    else if (range[0])
        snprintf(text, size, "%s", range);
    return text;
}

static const char *default_text(const manual *m, const sn_field *field, char *text, size_t size) {
    char unit[64];
    text[0] = '\0';
    if (field->required)
        sn_text_append(text, size, "required");
    else if (field->automatic)
        sn_text_append(text, size, "%s", field->automatic);
    else if (field->fallback) {
        // Defaults are in SI units; 0 needs none.
        bool zero = strspn(field->fallback, "0[], ") == strlen(field->fallback);
        sn_field_unit_text(field, &m->units, unit, sizeof unit);
        sn_text_append(text, size, "%s%s%s", field->fallback, zero || !unit[0] ? "" : " ", zero ? "" : unit);
    }
    return text;
}

static void put_row(manual *m, const sn_field_table *table, const sn_field *field) {
    char value[CELL_SIZE], normal[CELL_SIZE], condition[CELL_SIZE];
    value_text(m, field, value, sizeof value);
    default_text(m, field, normal, sizeof normal);
    sn_field_condition_text(table, field, condition, sizeof condition);
    const char *open = condition[0] ? " (with " : "", *close = condition[0] ? ")" : "";
    if (m->markdown)
        put(m, "| `%s` | %s | %s | %s%s%s%s |\n", field->key, value, normal, field->help, open, condition,
            close);
    else
        put(m, "  %-14s %s%s%s%s\n  %-14s %s%s%s%s\n", field->key, value, normal[0] ? " [" : "", normal,
            normal[0] ? "]" : "", "", field->help, open, condition, close);
}

static void put_rows(manual *m, const sn_field_table *table) {
    for (size_t i = 0; i < table->row_count; i++) {
        const sn_field *field = &table->rows[i];
        if (field->kind == SN_FIELD_INCLUDE)
            put_rows(m, field->table);
        else if (field->key)
            put_row(m, table, field);
    }
}

/// What each word of a choice means, and each switch of a list of words.
static void put_choices(manual *m, const sn_field_table *table) {
    const char *mark = m->markdown ? "`" : "";
    for (size_t i = 0; i < table->row_count; i++) {
        const sn_field *field = &table->rows[i];
        if (field->kind == SN_FIELD_INCLUDE)
            put_choices(m, field->table);
        for (int32_t k = 0; field->kind == SN_FIELD_CHOICE && field->choices[k].name; k++)
            put(m, "%s%s%s: %s%s: %s\n", m->markdown ? "- " : "  ", mark, field->key, field->choices[k].name,
                mark, field->choices[k].help);
        for (size_t k = 0; field->kind == SN_FIELD_FLAGS && k < field->table->row_count; k++)
            put(m, "%s%s%s: [%s]%s: %s\n", m->markdown ? "- " : "  ", mark, field->key,
                field->table->rows[k].key, mark, field->table->rows[k].help);
    }
}

static void put_groups(manual *m, const sn_field_table *table) {
    for (uint8_t group = 1; group <= sizeof table->group / sizeof *table->group; group++) {
        char names[CELL_SIZE] = "";
        int count = 0;
        for (size_t i = 0; i < table->row_count; i++)
            if (table->rows[i].group == group)
                sn_text_append(names, sizeof names, "%s%s", count++ ? ", " : "", table->rows[i].key);
        if (count > 1)
            put(m, "%s%s one of %s.\n", m->markdown ? "" : "  ",
                table->group[group - 1].required ? "Exactly" : "At most", names);
    }
    for (size_t i = 0; i < table->row_count; i++)
        if (table->rows[i].kind == SN_FIELD_INCLUDE)
            put_groups(m, table->rows[i].table);
}

// ---- Sections

static void put_heading(manual *m, const char *path, const char *help) {
    if (m->markdown)
        put(m, "\n## %s%s%s\n\n", path[0] ? "`" : "", path[0] ? path : "The file", path[0] ? "`" : "");
    else
        put(m, "\n%s\n", path[0] ? path : "THE FILE");
    if (help)
        put(m, "%s%s\n%s", m->markdown ? "" : "  ", help, m->markdown ? "\n" : "");
}

static void put_table(manual *m, const sn_field_table *table, const char *path);

static const char *path_of_done(const manual *m, const sn_field_table *table) {
    for (size_t i = 0; i < m->done_count; i++)
        if (m->done[i] == table)
            return m->done_path[i];
    return NULL;
}

/// Sections of the tables inside a table. One that stands in several places is written once.
static void put_inner_tables(manual *m, const sn_field_table *table, const char *path) {
    for (size_t i = 0; i < table->row_count; i++) {
        const sn_field *field = &table->rows[i];
        char inner[PATH_SIZE] = "";
        bool nested =
            field->kind == SN_FIELD_TABLE || field->kind == SN_FIELD_LIST || field->kind == SN_FIELD_MAP;
        if (field->kind == SN_FIELD_INCLUDE)
            put_inner_tables(m, field->table, path);
        if (!nested)
            continue;
        sn_text_append(inner, sizeof inner, "%s%s%s%s", path, path[0] ? "." : "", field->key,
                       field->kind == SN_FIELD_MAP ? ".NAME" : (field->kind == SN_FIELD_LIST ? "[]" : ""));
        const char *before = path_of_done(m, field->table);
        if (before && m->markdown)
            put(m, "\n`%s` is as `%s`.\n", inner, before);
        else if (before)
            put(m, "\n%s is as %s\n", inner, before);
        else
            put_table(m, field->table, inner);
    }
}

static void put_table(manual *m, const sn_field_table *table, const char *path) {
    if (m->done_count < TABLES_MAX) {
        snprintf(m->done_path[m->done_count], PATH_SIZE, "%s", path);
        m->done[m->done_count++] = table;
    }
    put_heading(m, path, table->help);
    if (m->markdown)
        put(m, "| key | value | default | meaning |\n|---|---|---|---|\n");
    put_rows(m, table);
    put(m, "\n");
    put_groups(m, table);
    put(m, m->markdown ? "\n" : "");
    put_choices(m, table);
    put_inner_tables(m, table, path);
}

static sn_status take_text(manual *m, char **out_text) {
    if (m->status == SN_OK)
        *out_text = m->text;
    else
        sn_release(m->context, m->text);
    return m->status;
}

sn_status sn_scene_manual(sn_context *context, sn_manual_format format, char **out_text) {
    if (!context)
        return SN_ERR_INVALID_ARGUMENT;
    if (!out_text || (format != SN_MANUAL_TEXT && format != SN_MANUAL_MARKDOWN))
        return sn_fail(context, SN_ERR_INVALID_ARGUMENT,
                       "sn_scene_manual: out_text is NULL or the format unknown");
    manual *m = NULL;
    sn_status status = sn_new_zeroed(context, 1, sizeof *m, (void **)&m);
    if (status < 0)
        return status;
    m->context = context;
    m->markdown = format == SN_MANUAL_MARKDOWN;
    m->units = sn_scene_units_of(&(sn_scene_units){0});
    put(m, m->markdown ? "# Scene files\n\n<!-- Made from the field tables by test_scene_manual, which also "
                         "tells when this file is stale. -->\n\n"
                       : "SCENE FILES\n\n");
    put(m, "%s\n", introduction_text);
    put(m, m->markdown ? "```yaml\n%s```\n" : "%s", introduction_example);
    put_table(m, &sn_scene_fields, "");
    status = take_text(m, out_text);
    sn_release(context, m);
    return status;
}

sn_status sn_material_manual(sn_context *context, char **out_text) {
    if (!context)
        return SN_ERR_INVALID_ARGUMENT;
    if (!out_text)
        return sn_fail(context, SN_ERR_INVALID_ARGUMENT, "sn_material_manual: out_text is NULL");
    int32_t count = 0;
    const sn_material_info *info = sn_material_table(&count);
    manual m = {.context = context, .units = sn_scene_units_of(&(sn_scene_units){0})};
    put(&m,
        "MATERIALS\n\nF = U diag(s) V' is the deformation gradient, R = U V', S = R'F; mu and lambda are the "
        "Lame constants of\nyoung and poisson, which mean the same small-strain response in every model.\n");
    for (int32_t i = 0; i < count; i++)
        put(&m, "\n%s\n  %s\n  inversion: %s\n  poisson up to %g; solvers: %s\n", info[i].name,
            info[i].formula, info[i].inversion, info[i].poisson_max,
            info[i].is_projective ? "lbfgs, projective" : "lbfgs");
    for (size_t i = 0; i < sn_scene_fields.row_count; i++)
        if (sn_scene_fields.rows[i].key && strcmp(sn_scene_fields.rows[i].key, "materials") == 0)
            put_table(&m, sn_scene_fields.rows[i].table, "materials.NAME");
    return take_text(&m, out_text);
}

void sn_text_free(sn_context *context, char *text) {
    if (context)
        sn_release(context, text);
}
