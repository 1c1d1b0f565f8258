/// VTU: unstructured grids of VTK in XML. Arrays as text, as base64 in place, or appended at the end, raw or
/// as base64; lengths of 32 or 64 bits, both byte orders; compressed with zlib. The pieces of a file are put
/// side by side. Of the data, a cell array such as "group" or "MaterialIds" tells the groups; the rest is
/// skipped with a note.
#include "io/io_mesh_build.h"
#include "io/io_mesh_xml.h"
#include "io/io_text_inflate.h"

#include <string.h>

/// Bytes that an array may unpack to, for each byte of the file and besides.
enum { LARGEST_RATIO = 32, LARGEST_SMALL = 1 << 16 };

/// Where an array belongs.
typedef enum vtu_role {
    ROLE_OTHER = 0,
    ROLE_POINTS,
    ROLE_CORNERS,
    ROLE_ENDS,
    ROLE_TYPES,
    ROLE_GROUPS,
} vtu_role;

typedef struct vtu_reader {
    sn_mesh_builder mesh;
    sn_text *text;
    sn_xml xml;
    bool big_endian, compressed, appended_base64, has_grid;
    sn_number_type size_type;
    sn_word appended; ///< What follows the underscore; at NULL: there is none.
    // The piece that is being read.
    bool in_piece;
    int64_t point_count, cell_count;
    sn_real_list points;
    sn_vtk_cells cells;
    // The array that is being read.
    sn_number_type type;
    char *decoded; ///< Bytes of base64 or of what was compressed.
    char *inflated;
    int32_t pieces;
} vtu_reader;

static bool has_value(const vtu_reader *vtu, const char *name, const char *value) {
    return sn_word_is(sn_xml_value(&vtu->xml, name), value);
}

/// The word as a whole number of at least 0.
static sn_status word_count(vtu_reader *vtu, const char *name, int64_t *out_count) {
    sn_word word = sn_xml_value(&vtu->xml, name);
    int64_t value = 0;
    for (size_t i = 0; i < word.size; i++) {
        char c = word.at[i];
        if (c < '0' || c > '9' || value > INT64_MAX / 10 - 10)
            return sn_text_fail(vtu->text, "found %s=\"%.*s\", expected a whole number", name,
                                (int)(word.size < 32 ? word.size : 32), word.at);
        value = value * 10 + (c - '0');
    }
    if (word.size == 0)
        return sn_text_fail(vtu->text, "found no attribute %s in %.*s, expected one", name,
                            (int)(vtu->xml.name.size < 32 ? vtu->xml.name.size : 32), vtu->xml.name.at);
    *out_count = value;
    return SN_OK;
}

// ---- Bytes of an array

static int base64_digit(char c) {
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// Decodes one run of base64 up to its padding or the end: VTK closes the length of compressed blocks with
/// padding of its own. @return where it ended
static const char *decode_run(const char *at, const char *end, char *out, size_t *out_size) {
    uint32_t bits = 0;
    int digits = 0;
    for (; at < end; at++) {
        int digit = base64_digit(*at);
        if (is_blank(*at))
            continue;
        if (digit < 0)
            break;
        bits = bits << 6 | (uint32_t)digit;
        if (++digits == 4) {
            for (int shift = 16; shift >= 0; shift -= 8)
                out[(*out_size)++] = (char)(bits >> shift & 0xff);
            bits = 0;
            digits = 0;
        }
    }
    if (digits >= 2)
        out[(*out_size)++] = (char)(bits >> (digits == 2 ? 4 : 10) & 0xff);
    if (digits == 3)
        out[(*out_size)++] = (char)(bits >> 2 & 0xff);
    while (at < end && *at == '=')
        at++;
    return at;
}

/// Decodes all runs into vtu->decoded, up to the first character that is none of base64.
static sn_status decode(vtu_reader *vtu, sn_word from, sn_word *out_bytes) {
    sn_status status = SN_OK;
    size_t size = 0;
    const char *at = from.at, *end = from.at + from.size;
    SN_RELEASE(vtu->text->ctx, vtu->decoded);
    SN_TRY(sn_new(vtu->text->ctx, from.size / 4 * 3 + 3, 1, (void **)&vtu->decoded));
    while (at < end && (is_blank(*at) || base64_digit(*at) >= 0))
        at = decode_run(at, end, vtu->decoded, &size);
    *out_bytes = (sn_word){vtu->decoded, size};
cleanup:
    return status;
}

static sn_status fail_short(vtu_reader *vtu, const char *what) {
    return sn_text_fail(vtu->text,
                        "found fewer bytes than %s of an array needs; the file was cut short or is "
                        "damaged: write it again",
                        what);
}

/// Takes a length from the front of the bytes.
static sn_status take_length(vtu_reader *vtu, sn_word *bytes, uint64_t *out_length) {
    size_t size = sn_number_size(vtu->size_type);
    int64_t length = 0;
    if (bytes->size < size || !sn_number_int(bytes->at, vtu->size_type, vtu->big_endian, &length))
        return fail_short(vtu, "the length");
    bytes->at += size;
    bytes->size -= size;
    *out_length = (uint64_t)length;
    return SN_OK;
}

/// Undoes the compression: number of blocks, size of a block, size of the last, sizes compressed, blocks.
static sn_status inflate_blocks(vtu_reader *vtu, sn_word bytes, sn_word *out_bytes) {
    sn_status status = SN_OK;
    uint64_t blocks = 0, size = 0, last = 0, used = 0;
    SN_TRY(take_length(vtu, &bytes, &blocks));
    SN_TRY(take_length(vtu, &bytes, &size));
    SN_TRY(take_length(vtu, &bytes, &last));
    size_t width = sn_number_size(vtu->size_type);
    if (blocks > bytes.size / width)
        return fail_short(vtu, "the list of compressed blocks");
    // Points and cells never pack to less than a part of this, so that a small file cannot ask for much
    // memory.
    uint64_t most =
        LARGEST_RATIO * (uint64_t)(vtu->text->end - vtu->text->bytes + (ptrdiff_t)vtu->appended.size) +
        LARGEST_SMALL;
    if (blocks > 0 && (size > most / blocks || last > size))
        return sn_text_fail(vtu->text,
                            "found %llu compressed blocks of %llu bytes, more than the file can hold; it "
                            "is damaged",
                            (unsigned long long)blocks, (unsigned long long)size);
    uint64_t total = blocks == 0 ? 0 : last > 0 ? (blocks - 1) * size + last : blocks * size;
    sn_word sizes = {bytes.at, (size_t)blocks * width},
            rest = {bytes.at + sizes.size, bytes.size - sizes.size};
    SN_RELEASE(vtu->text->ctx, vtu->inflated);
    SN_TRY(sn_new(vtu->text->ctx, (size_t)total + 1, 1, (void **)&vtu->inflated));
    for (uint64_t i = 0; i < blocks; i++) {
        uint64_t packed = 0, wanted = i + 1 < blocks || last == 0 ? size : last;
        SN_TRY(take_length(vtu, &sizes, &packed));
        if (packed > rest.size)
            return fail_short(vtu, "a compressed block");
        bool whole = false;
        SN_TRY(sn_inflate_zlib(vtu->text->ctx, rest.at, (size_t)packed, vtu->inflated + used, (size_t)wanted,
                               &whole));
        if (!whole)
            return sn_text_fail(vtu->text,
                                "found a compressed block that does not unpack to %llu bytes; the file "
                                "is damaged",
                                (unsigned long long)wanted);
        rest.at += packed;
        rest.size -= (size_t)packed;
        used += wanted;
    }
    *out_bytes = (sn_word){vtu->inflated, (size_t)total};
cleanup:
    return status;
}

/// Takes what the length in front of the bytes says.
static sn_status cut_to_length(vtu_reader *vtu, sn_word bytes, sn_word *out_bytes) {
    uint64_t length = 0;
    sn_status status = take_length(vtu, &bytes, &length);
    if (status < 0)
        return status;
    if (length > bytes.size)
        return sn_text_fail(vtu->text,
                            "found an array of %llu bytes, but only %zu in the file; it was cut short: "
                            "write it again",
                            (unsigned long long)length, bytes.size);
    *out_bytes = (sn_word){bytes.at, (size_t)length};
    return SN_OK;
}

/// Cuts base64 behind the array that it starts with: others may follow without a gap.
static sn_status cut_encoded(vtu_reader *vtu, sn_word *from) {
    sn_status status = SN_OK;
    uint64_t length = 0, blocks = 0, width = sn_number_size(vtu->size_type), head = width;
    sn_word start = {from->at, from->size < 64 ? from->size : 64}, bytes = {"", 0};
    SN_TRY(decode(vtu, start, &bytes));
    SN_TRY(take_length(vtu, &bytes, &length));
    if (vtu->compressed) {
        blocks = length;
        if (blocks > from->size)
            return fail_short(vtu, "the list of compressed blocks");
        head = (3 + blocks) * width;
        start.size = head / 3 * 4 + 4 < from->size ? (size_t)(head / 3 * 4 + 4) : from->size;
        SN_TRY(decode(vtu, start, &bytes));
        length = 0;
        for (uint64_t i = 0; i < 3 + blocks; i++) {
            uint64_t packed = 0;
            SN_TRY(take_length(vtu, &bytes, &packed));
            length += i < 3 ? 0 : packed < from->size ? packed : from->size;
        }
    }
    // Length and data may each be padded.
    uint64_t digits = length < from->size ? (head + length) / 3 * 4 + 12 : from->size;
    from->size = digits < from->size ? (size_t)digits : from->size;
cleanup:
    return status;
}

/// The part of the appended data that an array starts at.
static sn_status find_appended(vtu_reader *vtu, sn_word *out_bytes) {
    int64_t offset = 0;
    sn_status status = word_count(vtu, "offset", &offset);
    if (status < 0)
        return status;
    if (!vtu->appended.at || (uint64_t)offset >= vtu->appended.size)
        return sn_text_fail(vtu->text,
                            "found an array at offset %lld of the appended data, which are %zu bytes; the "
                            "file was cut short: write it again",
                            (long long)offset, vtu->appended.size);
    *out_bytes = (sn_word){vtu->appended.at + offset, vtu->appended.size - (size_t)offset};
    return SN_OK;
}

/// The bytes of the array that the tag tells of.
static sn_status find_bytes(vtu_reader *vtu, bool appended, sn_word *out_bytes) {
    sn_status status = SN_OK;
    sn_word from = {"", 0};
    if (appended)
        SN_TRY(find_appended(vtu, &from));
    else
        sn_xml_content(&vtu->xml, &from);
    if (appended && vtu->appended_base64)
        SN_TRY(cut_encoded(vtu, &from));
    if (!appended || vtu->appended_base64)
        SN_TRY(decode(vtu, from, &from));
    SN_TRY(vtu->compressed ? inflate_blocks(vtu, from, out_bytes) : cut_to_length(vtu, from, out_bytes));
cleanup:
    return status;
}

// ---- Arrays

static bool find_type(sn_word word, sn_number_type *out_type) {
    static const char *const names[] = {"Int8",   "UInt8", "Int16",  "UInt16",  "Int32",
                                        "UInt32", "Int64", "UInt64", "Float32", "Float64"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (sn_word_is(word, names[i])) {
            *out_type = (sn_number_type)i;
            return true;
        }
    return false;
}

static sn_status take_text(vtu_reader *vtu, sn_real_list *list) {
    sn_text *text = vtu->text;
    sn_status status = SN_OK;
    sn_text part = *text;
    double value = 0;
    sn_word content;
    // Numbers end at the next tag.
    sn_xml_content(&vtu->xml, &content);
    part.end = content.at + content.size;
    while (sn_text_skip_space(&part)) {
        if (!sn_text_real(&part, &value))
            return sn_text_expected(&part, "a number");
        SN_TRY(sn_real_list_add(text->ctx, list, value));
    }
cleanup:
    return status;
}

static sn_status take_bytes(vtu_reader *vtu, bool appended, sn_real_list *list) {
    sn_status status = SN_OK;
    sn_word bytes = {"", 0};
    SN_TRY(find_bytes(vtu, appended, &bytes));
    size_t size = sn_number_size(vtu->type);
    if (bytes.size % size != 0)
        return sn_text_fail(vtu->text, "found an array of %zu bytes, expected a multiple of %zu", bytes.size,
                            size);
    for (size_t at = 0; at < bytes.size; at += size)
        SN_TRY(sn_real_list_add(vtu->text->ctx, list,
                                sn_number_real(bytes.at + at, vtu->type, vtu->big_endian)));
cleanup:
    return status;
}

/// Name of the element around the array.
static sn_word parent(const sn_xml *xml) {
    return xml->depth >= 2 ? xml->path[xml->depth - 2] : (sn_word){"", 0};
}

static vtu_role find_role(const vtu_reader *vtu, sn_word name) {
    sn_word around = parent(&vtu->xml);
    sn_word components = sn_xml_value(&vtu->xml, "NumberOfComponents");
    if (sn_word_is(around, "Points"))
        return ROLE_POINTS;
    if (sn_word_is(around, "Cells"))
        return sn_word_is(name, "connectivity") ? ROLE_CORNERS
               : sn_word_is(name, "offsets")    ? ROLE_ENDS
               : sn_word_is(name, "types")      ? ROLE_TYPES
                                                : ROLE_OTHER;
    bool scalar = components.size == 0 || sn_word_is(components, "1") || sn_word_is(components, "0");
    return sn_word_is(around, "CellData") && scalar && sn_vtk_names_groups(name) &&
                   vtu->cells.group.count == 0
               ? ROLE_GROUPS
               : ROLE_OTHER;
}

static sn_status note_array(vtu_reader *vtu, sn_word name) {
    sn_word around = parent(&vtu->xml);
    bool of_cells = sn_word_is(around, "CellData");
    if (vtu->pieces > 1 || (!of_cells && !sn_word_is(around, "PointData")))
        return SN_OK;
    return sn_mesh_builder_note(&vtu->mesh, "skipped the %s data %.*s", of_cells ? "cell" : "point",
                                (int)(name.size < 64 ? name.size : 64), name.at);
}

static sn_status read_array(vtu_reader *vtu) {
    sn_word name = sn_xml_value(&vtu->xml, "Name"), type = sn_xml_value(&vtu->xml, "type");
    vtu_role role = find_role(vtu, name);
    sn_real_list *const lists[] = {[ROLE_POINTS] = &vtu->points,
                                   [ROLE_CORNERS] = &vtu->cells.corner,
                                   [ROLE_ENDS] = &vtu->cells.end,
                                   [ROLE_TYPES] = &vtu->cells.type,
                                   [ROLE_GROUPS] = &vtu->cells.group};
    if (role == ROLE_OTHER || !vtu->in_piece)
        return note_array(vtu, name);
    if (lists[role]->count > 0)
        return sn_text_fail(vtu->text, "found a second array %.*s in a piece, expected one",
                            (int)(name.size < 32 ? name.size : 32), name.at);
    if (!find_type(type, &vtu->type))
        return sn_text_fail(vtu->text,
                            "found an array of type \"%.*s\", expected one such as Float64 or Int32",
                            (int)(type.size < 32 ? type.size : 32), type.at);
    bool appended = has_value(vtu, "format", "appended"), binary = has_value(vtu, "format", "binary");
    if (!appended && !binary && !has_value(vtu, "format", "ascii") &&
        sn_xml_value(&vtu->xml, "format").size > 0)
        return sn_text_fail(vtu->text,
                            "found an array of an unknown format, expected ascii, binary or appended");
    if (!appended && vtu->xml.empty)
        return SN_OK;
    return appended || binary ? take_bytes(vtu, appended, lists[role]) : take_text(vtu, lists[role]);
}

// ---- Pieces

static sn_status begin_piece(vtu_reader *vtu) {
    sn_status status = SN_OK;
    if (vtu->in_piece || !vtu->has_grid)
        return sn_text_fail(vtu->text, "found a piece, expected it inside UnstructuredGrid");
    vtu->in_piece = true;
    vtu->pieces++;
    vtu->points.count = 0;
    sn_vtk_cells_clear(&vtu->cells);
    SN_TRY(word_count(vtu, "NumberOfPoints", &vtu->point_count));
    SN_TRY(word_count(vtu, "NumberOfCells", &vtu->cell_count));
cleanup:
    return status;
}

static sn_status end_piece(vtu_reader *vtu) {
    sn_status status = SN_OK;
    int32_t first = vtu->mesh.data->vertex_count;
    vtu->in_piece = false;
    if (vtu->points.count % 3 != 0 || (uint64_t)vtu->point_count != vtu->points.count / 3)
        return sn_text_fail(vtu->text, "found %zu coordinates, expected three for each of %lld points",
                            vtu->points.count, (long long)vtu->point_count);
    if ((uint64_t)vtu->cell_count != vtu->cells.end.count)
        return sn_text_fail(vtu->text, "found offsets of %zu cells, expected %lld", vtu->cells.end.count,
                            (long long)vtu->cell_count);
    for (size_t i = 0; i < vtu->points.count; i += 3) {
        double *position = NULL;
        SN_TRY(sn_mesh_builder_vertex(&vtu->mesh, &position));
        memcpy(position, vtu->points.item + i, 3 * sizeof *position);
    }
    SN_TRY(sn_vtk_cells_take(&vtu->cells, &vtu->mesh, first));
cleanup:
    return status;
}

// ---- File

/// Finds the appended data, which may hold any bytes, and ends the text of tags before them.
static sn_status find_appended_data(vtu_reader *vtu) {
    static const char tag[] = "<AppendedData";
    sn_text *text = vtu->text;
    const char *at = text->at, *end = text->end;
    while ((at = memchr(at, '<', (size_t)(end - at))) != NULL &&
           ((size_t)(end - at) < sizeof tag - 1 || memcmp(at, tag, sizeof tag - 1) != 0))
        at++;
    const char *close = at ? memchr(at, '>', (size_t)(end - at)) : NULL;
    if (!close)
        return SN_OK;
    for (const char *c = at; c < close; c++)
        vtu->appended_base64 = vtu->appended_base64 || (close - c >= 6 && memcmp(c, "base64", 6) == 0);
    const char *begin = memchr(close, '_', (size_t)(end - close));
    if (!begin)
        return sn_text_fail(text,
                            "found no \"_\" behind <AppendedData>; the file was cut short: write it again");
    vtu->appended = (sn_word){begin + 1, (size_t)(end - begin - 1)};
    text->end = at;
    return SN_OK;
}

static sn_status read_root(vtu_reader *vtu) {
    sn_text *text = vtu->text;
    sn_word type = sn_xml_value(&vtu->xml, "type"), compressor = sn_xml_value(&vtu->xml, "compressor");
    if (!sn_word_is(vtu->xml.name, "VTKFile") || !sn_word_is(type, "UnstructuredGrid"))
        return sn_text_fail(text,
                            "found %.*s of type \"%.*s\", expected VTKFile of type UnstructuredGrid; convert "
                            "it, for example with ParaView",
                            (int)(vtu->xml.name.size < 32 ? vtu->xml.name.size : 32), vtu->xml.name.at,
                            (int)(type.size < 32 ? type.size : 32), type.at);
    vtu->big_endian = has_value(vtu, "byte_order", "BigEndian");
    vtu->size_type = has_value(vtu, "header_type", "UInt64") ? SN_NUMBER_U64 : SN_NUMBER_U32;
    vtu->compressed = compressor.size > 0;
    if (vtu->compressed && !sn_word_is(compressor, "vtkZLibDataCompressor"))
        return sn_text_fail(text, "found the compressor %.*s, expected vtkZLibDataCompressor or none",
                            (int)(compressor.size < 64 ? compressor.size : 64), compressor.at);
    return SN_OK;
}

static sn_status read_tag(vtu_reader *vtu) {
    sn_xml *xml = &vtu->xml;
    if (xml->kind == SN_XML_CLOSE)
        return sn_word_is(xml->path[xml->depth], "Piece") ? end_piece(vtu) : SN_OK;
    if (xml->depth == 1)
        return read_root(vtu);
    if (sn_word_is(xml->name, "UnstructuredGrid"))
        vtu->has_grid = true;
    if (sn_word_is(xml->name, "Piece"))
        return begin_piece(vtu);
    return sn_word_is(xml->name, "DataArray") ? read_array(vtu) : SN_OK;
}

bool sn_vtu_is(sn_text *text) {
    enum { LOOKED_AT = 2000 };
    static const char tag[] = "<VTKFile";
    const char *end = text->end - text->at < LOOKED_AT ? text->end : text->at + LOOKED_AT;
    const char *at = text->at;
    while (at < end && is_blank(*at))
        at++;
    if (at >= end || *at != '<')
        return false;
    for (; (size_t)(end - at) >= sizeof tag - 1; at++)
        if (memcmp(at, tag, sizeof tag - 1) == 0)
            return true;
    return false;
}

sn_status sn_vtu_read(sn_text *text, sn_mesh_data *data) {
    sn_status status = SN_OK;
    vtu_reader vtu = {.mesh = sn_mesh_builder_make(text, data), .text = text, .xml = {.text = text}};
    vtu.mesh.skips_without_line = true;
    const char *end = text->end;
    SN_TRY(find_appended_data(&vtu));
    SN_TRY(sn_xml_next(&vtu.xml));
    while (vtu.xml.kind != SN_XML_END_OF_FILE) {
        SN_TRY(read_tag(&vtu));
        SN_TRY(sn_xml_next(&vtu.xml));
    }
    // The appended data stand inside the root.
    if (vtu.xml.depth != (vtu.appended.at ? 1 : 0))
        SN_TRY(
            sn_text_fail(text,
                         "found the end of the file, expected the end of \"%.*s\"; the file was cut short: "
                         "write it again",
                         (int)(vtu.xml.depth > 0 && vtu.xml.path[vtu.xml.depth - 1].size < 32
                                   ? vtu.xml.path[vtu.xml.depth - 1].size
                                   : 0),
                         vtu.xml.depth > 0 ? vtu.xml.path[vtu.xml.depth - 1].at : ""));
    if (vtu.pieces > 1)
        SN_TRY(sn_mesh_builder_note(
            &vtu.mesh, "put %d pieces side by side; points that they share are double", vtu.pieces));
    SN_TRY(sn_mesh_builder_finish(&vtu.mesh, "cells of kind"));
cleanup:
    text->end = end;
    SN_RELEASE(text->ctx, vtu.decoded);
    SN_RELEASE(text->ctx, vtu.inflated);
    SN_RELEASE(text->ctx, vtu.points.item);
    sn_vtk_cells_release(text->ctx, &vtu.cells);
    sn_mesh_builder_release(&vtu.mesh);
    return status;
}
