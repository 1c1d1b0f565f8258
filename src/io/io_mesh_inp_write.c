/// A deck for CalculiX that runs as it is: tets (or, of a mesh without any, triangles as shells) in a set for
/// each group, its sets of vertices, one elastic material, gravity along -z, and the lowest nodes held,
/// unless the mesh has a set FIXED. What is not in the mesh is a placeholder to be edited: docs/formats.md
/// lists it.
#include "io/io_mesh_build.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_SIZE = 80, FIRST_LONG = 60 };

/// Placeholders, in SI units: a soft rubber. Shells are a hundredth of the longest side thick.
static const double young = 1e5, poisson = 0.45, density = 1000, gravity = 9.81, shell_part = 0.01;
/// Nodes are held if they stand no higher than this part of the height above the lowest one.
static const double held_part = 1e-3;

/// Sets of elements without a group, and of all.
static const char no_group[] = "BODY", all[] = "EALL";
/// Sets of all nodes, and of those that are held.
static const char all_nodes[] = "NALL", held[] = "FIXED";

typedef struct inp_writer {
    sn_text_out *out;
    const sn_mesh_data *data;
    char (*name)[NAME_SIZE]; ///< [group_count + 1] of the sets; the last for no group.
    bool *used;              ///< [group_count + 1] whether elements are in the set
    int32_t cell, last_set;
    int32_t size; ///< Corners of the elements that are written.
} inp_writer;

static bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/// The name of a group as one of a set: letters of ASCII, digits, underscores, at most 80, no case.
static void clean_name(const char *group, int32_t index, char name[NAME_SIZE]) {
    size_t size = 0;
    bool changed = !group[0] || (group[0] >= '0' && group[0] <= '9') || group[0] == '_' || group[0] == '-';
    if (changed)
        name[size++] = 'G';
    for (; *group && size < FIRST_LONG; group++) {
        bool good = is_name_character(*group), small = *group >= 'a' && *group <= 'z';
        changed = changed || !good;
        name[size++] = (char)(!good ? '_' : small ? *group - 'a' + 'A' : *group);
    }
    name[size] = '\0';
    // Another group may be the same but for what was changed.
    if (changed || *group)
        snprintf(name + size, NAME_SIZE - size, "_%d", index + 1);
}

/// Cleans a name and adds it to those that are taken; one that is among them, in this case or another, gets a
/// number too.
static sn_status take_name(sn_context *ctx, sn_name_table *taken, const char *group, int32_t index,
                           char name[NAME_SIZE]) {
    int32_t place = 0;
    clean_name(group, index, name);
    size_t size = strlen(name);
    for (int32_t k = index + 1; sn_name_table_find(taken, (sn_word){name, strlen(name)}) >= 0; k++)
        snprintf(name + size, NAME_SIZE - size, "_%d", k);
    return sn_name_table_add(ctx, taken, (sn_word){name, strlen(name)}, &place);
}

static sn_status take_word(sn_context *ctx, sn_name_table *taken, const char *name) {
    int32_t place = 0;
    return sn_name_table_add(ctx, taken, (sn_word){name, strlen(name)}, &place);
}

/// Names of all sets of elements.
static sn_status make_names(inp_writer *inp) {
    sn_status status = SN_OK;
    sn_context *ctx = inp->data->context;
    sn_name_table taken = {0};
    int32_t count = inp->data->group_count;
    SN_TRY(take_word(ctx, &taken, no_group));
    SN_TRY(take_word(ctx, &taken, all));
    for (int32_t i = 0; i < count; i++)
        SN_TRY(take_name(ctx, &taken, inp->data->group[i], i, inp->name[i]));
    snprintf(inp->name[count], NAME_SIZE, "%s", no_group);
cleanup:
    sn_name_table_release(ctx, &taken);
    return status;
}

/// Starts a new list of elements where the set changes.
static void write_cell(void *user, const int32_t *vertex, int32_t size, int32_t group) {
    inp_writer *inp = user;
    int32_t set = group >= 0 ? group : inp->data->group_count;
    if (set != inp->last_set)
        sn_text_out_print(inp->out, "*ELEMENT, TYPE=%s, ELSET=%s\n", size == 4 ? "C3D4" : "S3",
                          inp->name[set]);
    inp->last_set = set;
    inp->used[set] = true;
    sn_text_out_print(inp->out, "%d", ++inp->cell);
    for (int32_t i = 0; i < size; i++)
        sn_text_out_print(inp->out, ", %d", vertex[i] + 1);
    sn_text_out_print(inp->out, "\n");
}

/// Vertices in elements: others must not be held, and have no bounds.
static void mark_vertices(void *user, const int32_t *vertex, int32_t size, int32_t group) {
    (void)group;
    bool *marked = user;
    for (int32_t i = 0; i < size; i++)
        marked[vertex[i]] = true;
}

static void write_nodes(const inp_writer *inp) {
    sn_text_out_print(inp->out, "*NODE, NSET=%s\n", all_nodes);
    for (int32_t i = 0; i < inp->data->vertex_count; i++) {
        sn_text_out_print(inp->out, "%d", i + 1);
        // CalculiX reads no more than 20 characters of a number.
        for (size_t axis = 0; axis < 3; axis++)
            sn_text_out_print(inp->out, ", %.13g", inp->data->position[3 * (size_t)i + axis]);
        sn_text_out_print(inp->out, "\n");
    }
}

/// Lowest and highest coordinates of the marked vertices.
static void find_bounds(const inp_writer *inp, const bool *marked, double low[3], double high[3]) {
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = INFINITY;
        high[axis] = -INFINITY;
        for (int32_t i = 0; i < inp->data->vertex_count; i++) {
            double place = inp->data->position[3 * (size_t)i + (size_t)axis];
            low[axis] = marked[i] && place < low[axis] ? place : low[axis];
            high[axis] = marked[i] && place > high[axis] ? place : high[axis];
        }
    }
}

static void write_held(const inp_writer *inp, const bool *marked, double low, double high) {
    sn_text_out_print(inp->out, "*NSET, NSET=%s\n", held);
    for (int32_t i = 0; i < inp->data->vertex_count; i++)
        if (marked[i] && inp->data->position[3 * (size_t)i + 2] <= low + held_part * (high - low))
            sn_text_out_print(inp->out, "%d\n", i + 1);
}

static bool is_own_set(const char *name) {
    return strcmp(name, all_nodes) == 0 || strcmp(name, held) == 0;
}

/// Writes the sets of the mesh. *out_held tells whether FIXED is among them; NALL is the deck's own.
static sn_status write_node_sets(const inp_writer *inp, bool *out_held) {
    sn_status status = SN_OK;
    sn_context *ctx = inp->data->context;
    sn_name_table taken = {0};
    char name[NAME_SIZE];
    *out_held = false;
    SN_TRY(take_word(ctx, &taken, all_nodes));
    SN_TRY(take_word(ctx, &taken, held));
    for (int32_t s = 0; s < inp->data->set_count; s++) {
        const sn_vertex_set *set = &inp->data->set[s];
        const bool holds = strcmp(set->name, held) == 0 && set->count > 0 && !*out_held;
        if (is_own_set(set->name) && !holds)
            continue;
        SN_TRY(take_name(ctx, &taken, set->name, s, name));
        *out_held |= holds;
        sn_text_out_print(inp->out, "*NSET, NSET=%s\n", holds ? held : name);
        for (int32_t i = 0; i < set->count; i++)
            sn_text_out_print(inp->out, "%d\n", set->vertex[i] + 1);
    }
cleanup:
    sn_name_table_release(ctx, &taken);
    return status;
}

static void write_sections(const inp_writer *inp, double longest) {
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 0)
            sn_text_out_print(inp->out, "*ELSET, ELSET=%s\n", all);
        for (int32_t i = 0; i <= inp->data->group_count; i++) {
            if (!inp->used[i])
                continue;
            if (pass == 0)
                sn_text_out_print(inp->out, "%s\n", inp->name[i]);
            else if (inp->size == 4)
                sn_text_out_print(inp->out, "*SOLID SECTION, ELSET=%s, MATERIAL=ELASTIC\n", inp->name[i]);
            else
                sn_text_out_print(inp->out, "*SHELL SECTION, ELSET=%s, MATERIAL=ELASTIC\n%.6g\n",
                                  inp->name[i], shell_part * longest);
        }
        if (pass == 0)
            sn_text_out_print(inp->out, "*MATERIAL, NAME=ELASTIC\n*ELASTIC\n%g, %g\n*DENSITY\n%g\n", young,
                              poisson, density);
    }
}

static void write_step(const inp_writer *inp) {
    sn_text_out_print(inp->out, "*BOUNDARY\n%s, 1, 3\n", held);
    sn_text_out_print(inp->out, "*STEP\n*STATIC\n*DLOAD\n%s, GRAV, %g, 0, 0, -1\n", all, gravity);
    sn_text_out_print(inp->out, "*NODE FILE\nU, RF\n*EL FILE\nS, E\n*END STEP\n");
}

static sn_status write_deck(inp_writer *inp, bool *marked) {
    bool has_held = false;
    double low[3], high[3], longest = 0;
    sn_mesh_data_each_simplex(inp->data, inp->size, mark_vertices, marked);
    find_bounds(inp, marked, low, high);
    for (int axis = 0; axis < 3; axis++)
        longest = high[axis] - low[axis] > longest ? high[axis] - low[axis] : longest;
    sn_text_out_print(inp->out,
                      "** CalculiX deck by Sinew: mesh, elastic material, gravity along -z, lowest nodes "
                      "held.\n** Material, load and held nodes are placeholders; lengths are taken as "
                      "m.\n");
    write_nodes(inp);
    sn_mesh_data_each_simplex(inp->data, inp->size, write_cell, inp);
    sn_status status = write_node_sets(inp, &has_held);
    if (status < 0)
        return status;
    if (!has_held)
        write_held(inp, marked, low[2], high[2]);
    write_sections(inp, longest);
    write_step(inp);
    return SN_OK;
}

sn_status sn_inp_write(sn_text_out *out, const sn_mesh_data *data) {
    sn_status status = SN_OK;
    bool *marked = NULL;
    inp_writer inp = {.out = out, .data = data, .last_set = -1};
    inp.size = sn_mesh_data_each_simplex(data, 4, NULL, NULL) > 0 ? 4 : 3;
    int64_t cells = sn_mesh_data_each_simplex(data, inp.size, NULL, NULL);
    if (cells == 0 || cells > INT32_MAX)
        return sn_fail(data->context, SN_ERR_INVALID_ARGUMENT,
                       "%s: found %lld tets or triangles, expected 1 to %d for a deck of CalculiX", out->path,
                       (long long)cells, INT32_MAX);
    SN_TRY_NEW_ZEROED(data->context, marked, data->vertex_count);
    SN_TRY_NEW_ZEROED(data->context, inp.used, (size_t)data->group_count + 1);
    SN_TRY_NEW_ZEROED(data->context, inp.name, (size_t)data->group_count + 1);
    SN_TRY(make_names(&inp));
    SN_TRY(write_deck(&inp, marked));
cleanup:
    SN_RELEASE(data->context, marked);
    SN_RELEASE(data->context, inp.used);
    SN_RELEASE(data->context, inp.name);
    return status;
}
