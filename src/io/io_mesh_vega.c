/// Vega .veg: *VERTICES and *ELEMENTS as TetGen's lists, in place or by *INCLUDE; sets of elements that
/// *REGION gives a material are the groups. Materials are passed over.
#include "io/io_mesh_build.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 8, INCLUDES_MAX = 256 };

/// Elements of a set.
typedef struct vega_member {
    int32_t tag, set;
} vega_member;

typedef struct vega_reader {
    sn_mesh_builder mesh;
    sn_node_list nodes;
    int32_t includes; ///< Files opened by *INCLUDE so far.
    bool has_vertices, has_elements, in_region, in_set, skipping;
    sn_name_table sets;
    int32_t set;  ///< That is being read.
    bool *in_use; ///< [sets.count] whether *REGION names the set
    size_t in_use_capacity;
    vega_member *member;
    size_t member_count, member_capacity;
    int32_t *tags; ///< Of the tets.
    size_t tag_count;
} vega_reader;

static sn_status read_file(vega_reader *vega, sn_text *text, int32_t depth);

/// Takes *INCLUDE and goes on in that file.
static sn_status read_include(vega_reader *vega, sn_text *text, int32_t depth) {
    sn_status status = SN_OK;
    sn_text other = {0};
    sn_word name = sn_text_rest(text);
    if (name.size == 0)
        return sn_text_expected(text, "the name of a file behind *INCLUDE");
    if (depth == DEPTH_MAX || vega->includes++ == INCLUDES_MAX)
        return sn_text_fail(text,
                            "found *INCLUDE inside %d others, or %d of them, expected fewer; does a file "
                            "include itself?",
                            DEPTH_MAX, INCLUDES_MAX);
    SN_TRY(sn_text_open_beside(text, name, &other));
    SN_TRY(read_file(vega, &other, depth + 1));
    sn_text_next_line(text);
cleanup:
    sn_text_close(&other);
    return status;
}

/// The text that holds the list of a section: this one, or the file of an *INCLUDE that stands in its place.
static sn_status open_list(sn_text *text, sn_text *other, sn_text **out_text) {
    sn_status status = SN_OK;
    *out_text = text;
    sn_text_skip_space(text);
    const char *begin = text->at;
    sn_word word = sn_text_word(text);
    if (!sn_word_is_alike(word, "*INCLUDE")) {
        text->at = begin;
        return SN_OK;
    }
    sn_word name = sn_text_rest(text);
    SN_TRY(sn_text_open_beside(text, name, other));
    if (other->has_zero_bytes)
        return sn_text_fail(other, "found binary data, expected a list of nodes or tets");
    other->comment = '#';
    *out_text = other;
cleanup:
    return status;
}

static sn_status read_vertices(vega_reader *vega, sn_text *text) {
    sn_status status = SN_OK;
    sn_text other = {0}, *list = NULL;
    if (vega->has_vertices)
        return sn_text_fail(text, "found a second section *VERTICES, expected one");
    vega->has_vertices = true;
    sn_text_next_line(text);
    SN_TRY(open_list(text, &other, &list));
    SN_TRY(sn_node_list_read(&vega->nodes, list));
    if (list != text)
        sn_text_next_line(text);
cleanup:
    sn_text_close(&other);
    return status;
}

static sn_status read_elements(vega_reader *vega, sn_text *text) {
    sn_status status = SN_OK;
    sn_text other = {0}, *list = NULL;
    if (vega->has_elements || !vega->has_vertices)
        return sn_text_fail(text, "found the section *ELEMENTS, expected it once, behind *VERTICES");
    vega->has_elements = true;
    sn_text_next_line(text);
    sn_text_skip_space(text);
    sn_word kind = sn_text_word(text);
    if (!sn_word_is_alike(kind, "TET") && !sn_word_is_alike(kind, "TETS")) {
        text->at = kind.at;
        return sn_text_expected(text, "TET; cubes are not read");
    }
    sn_text_next_line(text);
    SN_TRY(open_list(text, &other, &list));
    SN_TRY(sn_node_list_read_tets(&vega->nodes, list, &vega->tags, &vega->tag_count));
    if (list != text)
        sn_text_next_line(text);
cleanup:
    sn_text_close(&other);
    return status;
}

static sn_status add_set(vega_reader *vega, sn_text *text, sn_word name, int32_t *out_set) {
    sn_status status = SN_OK;
    size_t before = (size_t)vega->sets.count;
    SN_TRY(sn_name_table_add(text->ctx, &vega->sets, name, out_set));
    SN_TRY(sn_grow(text->ctx, (void **)&vega->in_use, &vega->in_use_capacity, (size_t)vega->sets.count,
                   sizeof *vega->in_use));
    if ((size_t)vega->sets.count > before)
        vega->in_use[*out_set] = false;
cleanup:
    return status;
}

/// A line of *SET: numbers of elements.
static sn_status read_members(vega_reader *vega, sn_text *text) {
    sn_status status = SN_OK;
    sn_word field = {"", 0};
    while (sn_text_field(text, &field)) {
        vega_member member = {.set = vega->set};
        if (field.size == 0)
            continue;
        if (!sn_word_int(text, field, &member.tag)) {
            text->at = field.at;
            return sn_text_expected(text, "numbers of elements with commas between them");
        }
        SN_TRY(sn_grow(text->ctx, (void **)&vega->member, &vega->member_capacity, vega->member_count + 1,
                       sizeof *vega->member));
        vega->member[vega->member_count++] = member;
    }
    sn_text_next_line(text);
cleanup:
    return status;
}

/// A line of *REGION: a set and its material.
static sn_status read_region(vega_reader *vega, sn_text *text) {
    sn_word set = {"", 0}, material = {"", 0};
    if (!sn_text_field(text, &set) || set.size == 0 || !sn_text_field(text, &material))
        return sn_text_expected(text, "a set of elements, a comma and a material");
    int32_t index = sn_name_table_find(&vega->sets, set);
    if (index >= 0)
        vega->in_use[index] = true;
    else if (!sn_word_is_alike(set, "allElements"))
        return sn_text_fail(text,
                            "found the set %.*s, expected one that a *SET before it lists, or allElements",
                            (int)(set.size < 64 ? set.size : 64), set.at);
    sn_text_next_line(text);
    return SN_OK;
}

static sn_status read_command(vega_reader *vega, sn_text *text, int32_t depth) {
    sn_word word = sn_text_word(text);
    vega->in_region = vega->in_set = vega->skipping = false;
    if (sn_word_is_alike(word, "*INCLUDE"))
        return read_include(vega, text, depth);
    if (sn_word_is_alike(word, "*VERTICES"))
        return read_vertices(vega, text);
    if (sn_word_is_alike(word, "*ELEMENTS"))
        return read_elements(vega, text);
    if (sn_word_is_alike(word, "*MATERIAL")) {
        vega->skipping = true;
        sn_text_next_line(text);
        return sn_mesh_builder_note(&vega->mesh, "passed over the material in line %lld",
                                    (long long)text->line - 1);
    }
    vega->in_region = sn_word_is_alike(word, "*REGION");
    vega->in_set = sn_word_is_alike(word, "*SET");
    if (vega->in_set) {
        sn_word name = sn_text_rest(text);
        sn_text_next_line(text);
        return name.size > 0 ? add_set(vega, text, name, &vega->set)
                             : sn_text_expected(text, "the name of the set behind *SET");
    }
    if (vega->in_region) {
        sn_text_next_line(text);
        return SN_OK;
    }
    text->at = word.at;
    return sn_text_expected(text, "*VERTICES, *ELEMENTS, *MATERIAL, *REGION, *SET or *INCLUDE");
}

static sn_status read_file(vega_reader *vega, sn_text *text, int32_t depth) {
    sn_status status = SN_OK;
    if (text->has_zero_bytes)
        return sn_text_fail(text, "found binary data, expected a text of Vega");
    text->comment = '#';
    while (sn_text_skip_space(text)) {
        if (*text->at == '*')
            SN_TRY(read_command(vega, text, depth));
        else if (vega->in_set)
            SN_TRY(read_members(vega, text));
        else if (vega->in_region)
            SN_TRY(read_region(vega, text));
        else if (vega->skipping)
            sn_text_next_line(text);
        else
            return sn_text_expected(text, "a section such as *VERTICES");
    }
cleanup:
    return status;
}

/// Gives the tets of sets that a region names their groups; the last such set counts.
static sn_status set_groups(vega_reader *vega) {
    sn_status status = SN_OK;
    sn_mesh_builder *mesh = &vega->mesh;
    sn_tag_map map = {0};
    int32_t duplicate = -1, group = -1;
    if (vega->tag_count == 0)
        return SN_OK;
    SN_TRY(sn_tag_map_make(mesh->ctx, (int32_t)vega->tag_count, vega->tags, &map, &duplicate));
    for (size_t i = 0; i < vega->member_count; i++) {
        int32_t tet = sn_tag_map_find(&map, vega->member[i].tag), set = vega->member[i].set;
        if (tet < 0)
            SN_TRY(sn_fail(mesh->ctx, SN_ERR_READ,
                           "%s: found element %d in the set %s, expected one of *ELEMENTS", mesh->text->path,
                           vega->member[i].tag, vega->sets.name[set]));
        if (!vega->in_use[set])
            continue;
        const char *name = vega->sets.name[set];
        SN_TRY(sn_name_table_add(mesh->ctx, &mesh->groups, (sn_word){name, strlen(name)}, &group));
        mesh->tets.group[tet] = group;
        mesh->tets.has_group = true;
    }
cleanup:
    sn_tag_map_release(mesh->ctx, &map);
    return status;
}

/// Whether a line starts with one of the words in any case.
static bool has_line(sn_text *text, const char *const *words, size_t word_count) {
    bool found = false;
    while (!found && sn_text_skip_space(text)) {
        sn_word word = {text->at, 0};
        while (text->at + word.size < text->end && !strchr(" \t\r\n,", text->at[word.size]))
            word.size++;
        for (size_t i = 0; i < word_count; i++)
            found = found || sn_word_is_alike(word, words[i]);
        sn_text_next_line(text);
    }
    sn_text_rewind(text);
    return found;
}

bool sn_vega_is(sn_text *text) {
    static const char *const words[] = {"*VERTICES", "*ELEMENTS"};
    text->comment = '#';
    bool star = sn_text_skip_space(text) && *text->at == '*';
    sn_text_rewind(text);
    bool is = star && has_line(text, words, sizeof words / sizeof *words);
    text->comment = 0;
    return is;
}

sn_status sn_vega_read(sn_text *text, sn_mesh_data *data) {
    sn_status status = SN_OK;
    vega_reader vega = {.mesh = sn_mesh_builder_make(text, data)};
    vega.nodes.mesh = &vega.mesh;
    SN_TRY(read_file(&vega, text, 0));
    SN_TRY(set_groups(&vega));
    SN_TRY(sn_mesh_builder_finish(&vega.mesh, "cells of kind"));
cleanup:
    SN_RELEASE(text->ctx, vega.in_use);
    SN_RELEASE(text->ctx, vega.member);
    SN_RELEASE(text->ctx, vega.tags);
    sn_name_table_release(text->ctx, &vega.sets);
    sn_node_list_release(&vega.nodes);
    sn_mesh_builder_release(&vega.mesh);
    return status;
}
