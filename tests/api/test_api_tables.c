// Field tables and structs agree: every byte of a definition is described by a row or listed as derived, no
// row reaches beyond, and the defaults are the documented ones.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/io_def.h"
#include "material/material_def.h"
#include "material/material_model.h"
#include "mesh/mesh_def.h"
#include "scene/scene_def.h"
#include "sim/sim_def.h"
#include "step/step_def.h"

#include <stdlib.h>
#include <string.h>

enum { SIZE_MAX_STRUCT = 4096 };

/// Marks the bytes that rows of a table describe. Rows for other conditions may share bytes, so may variants.
static void cover(const sn_field_table *table, size_t base, unsigned char *bytes) {
    for (size_t i = 0; i < table->row_count; i++) {
        const sn_field *row = &table->rows[i];
        size_t offset = base + row->offset, size = sn_field_size(row);
        assert_true(offset + size <= SIZE_MAX_STRUCT);
        if (row->kind == SN_FIELD_TABLE || row->kind == SN_FIELD_FLAGS || row->kind == SN_FIELD_INCLUDE) {
            cover(row->table, offset, bytes);
            continue;
        }
        memset(bytes + offset, 1, size);
        bool is_list = row->kind == SN_FIELD_LIST || row->kind == SN_FIELD_MAP ||
                       row->kind == SN_FIELD_INTS || row->kind == SN_FIELD_NAMED ||
                       row->kind == SN_FIELD_REFERENCES;
        if (is_list)
            memset(bytes + base + row->count_offset, 1, sizeof(int32_t));
    }
    if (table->name_offset != SN_FIELD_NONE)
        assert_int_equal(bytes[base + table->name_offset], 1);
}

/// Bytes of the struct that are no padding, as far as the compiler can tell.
#if defined(__GNUC__) && !defined(__clang__)
#define CLEAR_PADDING(item) __builtin_clear_padding(item)
enum { PADDING_IS_KNOWN = 1 };
#else
#define CLEAR_PADDING(item) (void)(item)
enum { PADDING_IS_KNOWN = 0 };
#endif

/// Compares covered bytes with the struct's. Where padding is not known, a gap shorter than 8 bytes that ends
/// at a multiple of 4 passes for padding.
static void compare(const char *name, const unsigned char *bytes, const unsigned char *real, size_t size) {
    for (size_t i = 0; i < size; i++) {
        size_t end = i;
        while (end < size && !bytes[end])
            end++;
        for (size_t k = i; PADDING_IS_KNOWN && k < end; k++)
            if (real[k])
                fail_msg("%s: byte %zu of %zu belongs to no row", name, k, size);
        if (end > i && (end - i >= 8 || end % 4 != 0))
            fail_msg("%s: bytes %zu to %zu of %zu belong to no row", name, i, end, size);
        i = end > i ? end - 1 : i;
    }
    for (size_t i = size; i < SIZE_MAX_STRUCT; i++)
        if (bytes[i])
            fail_msg("%s: a row reaches beyond the struct of %zu bytes", name, size);
}

#define COVERED(type, ...)                                                                                   \
    do {                                                                                                     \
        const sn_field_table *const tables[] = {__VA_ARGS__};                                                \
        unsigned char bytes[SIZE_MAX_STRUCT] = {0};                                                          \
        static type item;                                                                                    \
        memset(&item, 0xff, sizeof item);                                                                    \
        CLEAR_PADDING(&item);                                                                                \
        for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {                                        \
            assert_int_equal(tables[t]->size, sizeof(type));                                                 \
            cover(tables[t], 0, bytes);                                                                      \
        }                                                                                                    \
        compare(#type, bytes, (const unsigned char *)&item, sizeof item);                                    \
    } while (0)

static void rows_cover_structs(void **state) {
    (void)state;
    COVERED(sn_material_def, &sn_material_fields);
    COVERED(sn_lattice_def, &sn_lattice_fields);
    COVERED(sn_make_def, &sn_make_fields);
    COVERED(sn_solver_def, &sn_solver_fields);
    COVERED(sn_stepper_def, &sn_stepper_fields);
    COVERED(sn_output_def, &sn_output_fields);
    COVERED(sn_probe_def, &sn_probe_fields);
    COVERED(sn_export_def, &sn_export_fields);
    COVERED(sn_frame_def, &sn_frame_fields);
    COVERED(sn_shape_def, &sn_shape_fields);
    COVERED(sn_initial_def, &sn_initial_fields);
    COVERED(sn_body_def, &sn_body_fields);
    COVERED(sn_selection, &sn_selection_fields);
    COVERED(sn_pin_def, &sn_pin_fields);
    COVERED(sn_attachment_def, &sn_attachment_fields);
    COVERED(sn_load_def, &sn_load_fields);
    COVERED(sn_spring_def, &sn_spring_fields);
    COVERED(sn_scene_content, &sn_scene_fields);
}

/// Structs of lists and maps are reached through the rows that hold them.
static void check_items(const sn_field_table *table) {
    for (size_t i = 0; i < table->row_count; i++) {
        const sn_field *row = &table->rows[i];
        if (row->kind == SN_FIELD_LIST || row->kind == SN_FIELD_MAP) {
            unsigned char bytes[SIZE_MAX_STRUCT] = {0};
            cover(row->table, 0, bytes);
            size_t gap = 0;
            for (size_t k = 0; k < row->table->size; k++) {
                gap = bytes[k] ? 0 : gap + 1;
                if (gap >= 8)
                    fail_msg("%s: byte %zu belongs to no row", row->table->name, k);
            }
        }
        if (row->table)
            check_items(row->table);
    }
}

static void rows_cover_items(void **state) {
    (void)state;
    check_items(&sn_scene_fields);
}

/// Whether a default is a number, or three in the form "[1, 2, 3]", and nothing else.
static bool is_number_text(const sn_field *row) {
    const char *at = row->fallback;
    const bool vector = row->kind == SN_FIELD_VEC3;
    char *end = NULL;
    for (int k = 0; k < (vector ? 3 : 1); k++, at = end) {
        const char *before = !vector ? "" : k == 0 ? "[" : ", ";
        if (strncmp(at, before, strlen(before)) != 0)
            return false;
        at += strlen(before);
        if (*at == ' ')
            return false;
        strtod(at, &end);
        if (end == at)
            return false;
    }
    return strcmp(at, vector ? "]" : "") == 0;
}

/// Sanity of the rows themselves: defaults lie in the ranges, keys have help, conditions name something.
static void check_rows(const sn_field_table *table) {
    char text[512];
    for (size_t i = 0; i < table->row_count; i++) {
        const sn_field *row = &table->rows[i];
        if (row->table)
            check_rows(row->table);
        if (!row->key)
            continue;
        if (!row->help || !row->help[0])
            fail_msg("%s.%s has no help", table->name, row->key);
        if (row->when_mask && !sn_field_condition_text(table, row, text, sizeof text)[0])
            fail_msg("%s.%s depends on nothing", table->name, row->key);
        if (row->required && row->fallback)
            fail_msg("%s.%s is required, but has a default", table->name, row->key);
        bool numbers = row->kind == SN_FIELD_INT || row->kind == SN_FIELD_REAL || row->kind == SN_FIELD_VEC3;
        if (numbers && row->fallback && !is_number_text(row))
            fail_msg("%s.%s: the default \"%s\" is no number or [x, y, z]", table->name, row->key,
                     row->fallback);
    }
}

static void rows_are_sane(void **state) {
    (void)state;
    check_rows(&sn_scene_fields);
    check_rows(&sn_export_fields);
}

#define SAME(type, fields, value)                                                                            \
    do {                                                                                                     \
        type from_table, from_function = (value);                                                            \
        sn_field_defaults(&(fields), &from_table);                                                           \
        assert_memory_equal(&from_table, &from_function, sizeof from_table);                                 \
    } while (0)

static void defaults_are_equal(void **state) {
    (void)state;
    SAME(sn_lattice_def, sn_lattice_fields, sn_lattice_def_default());
    for (int32_t shape = SN_MAKE_BEAM; shape <= SN_MAKE_ARM; shape++) {
        sn_make_def from_table, from_function = sn_make_def_default((sn_make_shape)shape);
        sn_field_defaults(&sn_make_fields, &from_table);
        from_table.shape = (sn_make_shape)shape;
        sn_field_conditional_defaults(&sn_make_fields, &from_table);
        assert_memory_equal(from_table.size, from_function.size, sizeof from_table.size);
        assert_int_equal(from_table.cells, from_function.cells);
        assert_int_equal(from_table.mark, from_function.mark);
    }
}

/// What the headers promise.
static void defaults_are_documented(void **state) {
    (void)state;
    sn_material_def material = sn_material_def_default();
    assert_true(material.model == SN_MATERIAL_COROTATED && material.poisson == 0.3 &&
                material.density == 1000);
    assert_true(material.young == 0);
    sn_stepper_def stepper = sn_stepper_def_default();
    assert_true(stepper.solver.method == SN_SOLVER_LBFGS && stepper.solver.iterations == 10);
    assert_true(stepper.solver.tolerance == 1e-3 && stepper.solver.history == 5);
    sn_output_def output = sn_output_def_default();
    assert_true(output.player && output.npy && output.vtu_every == 0 && output.vtu_volume);
    assert_true(output.field_strain && output.field_displacement);
    assert_true(!output.pc2 && !output.contacts && output.obj_every == 0 && output.checkpoint_every == 1);
    assert_true(!output.mdd && !output.glb && !output.usda && !output.npz);
    assert_true(output.preview_every == 0 && output.preview_width == 960 && output.preview_height == 540);
    assert_true(output.preview_color == SN_PREVIEW_PLAIN && output.preview_range == 0);
    assert_true(output.preview_view[0] == 0 && output.preview_view[1] == 0 && output.preview_view[2] == 0);
    assert_true(output.probe_count == 0 && !output.probes);
    sn_export_def export = sn_export_def_default();
    assert_true(!export.directory && !export.body && export.frame_first == 0 && export.frame_last == -1);
    assert_true(export.frame_step == 1 && export.glb_targets == 200 && !export.y_up);
    assert_true(export.png_width == 960 && export.png_height == 540);
    sn_body_def body = sn_body_def_default();
    assert_true(body.scale == 1 && body.initial.stretch[0] == 1 && body.initial.stretch[2] == 1);
    assert_true(body.initial.twist_axis[2] == 1 && body.initial.twist_rate == 0);
    assert_true(sn_spring_def_default().rest_length == -1);
    assert_true(sn_attachment_def_default().stiffness == 0 && !sn_attachment_def_default().hard);
    assert_int_equal(sn_frame_def_default().interpolation, SN_INTERPOLATION_LINEAR);
    assert_int_equal(sn_load_def_default().spread, SN_SPREAD_EVEN);
    assert_int_equal(sn_pin_def_default().select.kind, SN_SELECT_ALL);
    assert_int_equal(sn_shape_def_default().mark, SN_DEF_MARK);
}

/// The material module's own table has the scene's names.
static void materials_have_one_name(void **state) {
    (void)state;
    int32_t count = 0;
    const sn_material_info *info = sn_material_table(&count);
    const sn_field *model = &sn_material_fields.rows[0];
    assert_int_equal(sn_field_choice_count(model), count);
    for (int32_t i = 0; i < count; i++)
        assert_string_equal(model->choices[i].name, info[i].name);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_cover_structs),      cmocka_unit_test(rows_cover_items),
        cmocka_unit_test(rows_are_sane),           cmocka_unit_test(defaults_are_equal),
        cmocka_unit_test(defaults_are_documented), cmocka_unit_test(materials_have_one_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
