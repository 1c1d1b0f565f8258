/// VTK, legacy ascii and XML (base64 in place), written: lines, triangles, quads, polygons and tets in the
/// order of the mesh. Groups become the numbers of the cell array "group", 0 for none; their names stand in a
/// comment of the XML file.
#include "io/io_mesh_build.h"

#include <string.h>

enum { TYPE_LINE = 3, TYPE_TRIANGLE = 5, TYPE_POLYGON = 7, TYPE_QUAD = 9, TYPE_TETRA = 10 };

/// A cell as VTK wants it.
typedef struct vtk_cell {
    const int32_t *vertex;
    int32_t size, type, group;
} vtk_cell;

typedef void vtk_visit(void *user, const vtk_cell *cell);

static vtk_cell make_cell(const sn_cell_block *block, int32_t i) {
    static const vtk_cell kinds[] = {[SN_CELL_EDGE] = {NULL, 2, TYPE_LINE, -1},
                                     [SN_CELL_TRIANGLE] = {NULL, 3, TYPE_TRIANGLE, -1},
                                     [SN_CELL_POLYGON] = {NULL, 0, TYPE_POLYGON, -1},
                                     [SN_CELL_TET] = {NULL, 4, TYPE_TETRA, -1}};
    vtk_cell cell = kinds[block->kind];
    if (block->offset) {
        cell.size = block->offset[i + 1] - block->offset[i];
        cell.type = cell.size == 3 ? TYPE_TRIANGLE : cell.size == 4 ? TYPE_QUAD : TYPE_POLYGON;
        cell.vertex = block->vertex + block->offset[i];
    } else {
        cell.vertex = block->vertex + (size_t)i * (size_t)cell.size;
    }
    cell.group = block->group ? block->group[i] : -1;
    return cell;
}

static void each_cell(const sn_mesh_data *data, vtk_visit *visit, void *user) {
    for (int32_t b = 0; b < data->block_count; b++)
        for (int32_t i = 0; i < data->block[b].count; i++) {
            vtk_cell cell = make_cell(&data->block[b], i);
            visit(user, &cell);
        }
}

typedef struct vtk_writer {
    sn_text_out *out;
    const sn_mesh_data *data;
    int32_t *numbers; ///< Of the groups.
    int64_t cells, corners;
    bool has_groups;
    // Base64.
    unsigned char waiting[3];
    int waiting_count;
    int64_t end;
} vtk_writer;

static void count_cell(void *user, const vtk_cell *cell) {
    vtk_writer *vtk = user;
    vtk->cells++;
    vtk->corners += cell->size;
    vtk->has_groups = vtk->has_groups || cell->group >= 0;
}

static sn_status start(vtk_writer *vtk, sn_text_out *out, const sn_mesh_data *data) {
    *vtk = (vtk_writer){.out = out, .data = data};
    each_cell(data, count_cell, vtk);
    return sn_group_numbers(data, "tag", &vtk->numbers);
}

static int32_t number_of(const vtk_writer *vtk, const vtk_cell *cell) {
    return cell->group >= 0 ? vtk->numbers[cell->group] : 0;
}

// ---- Legacy

static void print_cell(void *user, const vtk_cell *cell) {
    const vtk_writer *vtk = user;
    sn_text_out_print(vtk->out, "%d", cell->size);
    for (int32_t i = 0; i < cell->size; i++)
        sn_text_out_print(vtk->out, " %d", cell->vertex[i]);
    sn_text_out_print(vtk->out, "\n");
}

static void print_type(void *user, const vtk_cell *cell) {
    const vtk_writer *vtk = user;
    sn_text_out_print(vtk->out, "%d\n", cell->type);
}

static void print_group(void *user, const vtk_cell *cell) {
    const vtk_writer *vtk = user;
    sn_text_out_print(vtk->out, "%d\n", number_of(vtk, cell));
}

sn_status sn_vtk_write(sn_text_out *out, const sn_mesh_data *data) {
    vtk_writer vtk;
    sn_status status = start(&vtk, out, data);
    if (status < 0)
        return status;
    sn_text_out_print(out, "# vtk DataFile Version 3.0\nmesh by Sinew\nASCII\nDATASET UNSTRUCTURED_GRID\n");
    sn_text_out_print(out, "POINTS %d double\n", data->vertex_count);
    for (int32_t i = 0; i < data->vertex_count; i++) {
        for (size_t axis = 0; axis < 3; axis++)
            sn_text_out_real(out, data->position[(size_t)i * 3 + axis]);
        sn_text_out_print(out, "\n");
    }
    sn_text_out_print(out, "CELLS %lld %lld\n", (long long)vtk.cells, (long long)(vtk.cells + vtk.corners));
    each_cell(data, print_cell, &vtk);
    sn_text_out_print(out, "CELL_TYPES %lld\n", (long long)vtk.cells);
    each_cell(data, print_type, &vtk);
    if (vtk.has_groups) {
        sn_text_out_print(out, "CELL_DATA %lld\nSCALARS group int 1\nLOOKUP_TABLE default\n",
                          (long long)vtk.cells);
        each_cell(data, print_group, &vtk);
    }
    SN_RELEASE(data->context, vtk.numbers);
    return SN_OK;
}

// ---- XML

static void flush_base64(vtk_writer *vtk) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[4];
    if (vtk->waiting_count == 0)
        return;
    memset(vtk->waiting + vtk->waiting_count, 0, (size_t)(3 - vtk->waiting_count));
    uint32_t bits =
        (uint32_t)vtk->waiting[0] << 16 | (uint32_t)vtk->waiting[1] << 8 | (uint32_t)vtk->waiting[2];
    for (int i = 0; i < 4; i++)
        text[i] = i <= vtk->waiting_count ? digits[bits >> (18 - 6 * i) & 63] : '=';
    sn_text_out_bytes(vtk->out, text, sizeof text);
    vtk->waiting_count = 0;
}

static void put_bytes(vtk_writer *vtk, uint64_t bits, int size) {
    for (int i = 0; i < size; i++) {
        vtk->waiting[vtk->waiting_count++] = (unsigned char)(bits >> 8 * i & 0xff);
        if (vtk->waiting_count == 3)
            flush_base64(vtk);
    }
}

static void put_corners(void *user, const vtk_cell *cell) {
    for (int32_t i = 0; i < cell->size; i++)
        put_bytes(user, (uint64_t)cell->vertex[i], 8);
}

static void put_end(void *user, const vtk_cell *cell) {
    vtk_writer *vtk = user;
    vtk->end += cell->size;
    put_bytes(vtk, (uint64_t)vtk->end, 8);
}

static void put_type(void *user, const vtk_cell *cell) {
    put_bytes(user, (uint64_t)cell->type, 1);
}

static void put_group(void *user, const vtk_cell *cell) {
    put_bytes(user, (uint32_t)number_of(user, cell), 4);
}

/// Opens an array: the bytes that follow are preceded by their number, as VTK wants.
static void begin_array(vtk_writer *vtk, const char *type, const char *name, const char *more, int64_t size) {
    sn_text_out_print(vtk->out, "<DataArray type=\"%s\" Name=\"%s\"%s format=\"binary\">", type, name, more);
    put_bytes(vtk, (uint64_t)size, 8);
}

static void end_array(vtk_writer *vtk) {
    flush_base64(vtk);
    sn_text_out_print(vtk->out, "</DataArray>\n");
}

static void put_array(vtk_writer *vtk, const char *type, const char *name, int64_t size, vtk_visit *put) {
    begin_array(vtk, type, name, "", size);
    each_cell(vtk->data, put, vtk);
    end_array(vtk);
}

static void put_points(vtk_writer *vtk) {
    size_t count = (size_t)vtk->data->vertex_count * 3;
    begin_array(vtk, "Float64", "Points", " NumberOfComponents=\"3\"", (int64_t)(count * sizeof(double)));
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &vtk->data->position[i], sizeof bits);
        put_bytes(vtk, bits, 8);
    }
    end_array(vtk);
}

static void put_names(const vtk_writer *vtk) {
    int32_t number = 0;
    for (int32_t i = 0; i < vtk->data->group_count; i++)
        if (!sn_group_name_number(vtk->data->group[i], "tag", &number)) {
            sn_text_out_print(vtk->out, "<!-- group %d: ", vtk->numbers[i]);
            // Two dashes in a row would end the comment.
            sn_text_out_name(vtk->out, vtk->data->group[i], "-<>&");
            sn_text_out_print(vtk->out, " -->\n");
        }
}

sn_status sn_vtu_mesh_write(sn_text_out *out, const sn_mesh_data *data) {
    vtk_writer vtk;
    sn_status status = start(&vtk, out, data);
    if (status < 0)
        return status;
    sn_text_out_print(out, "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
                           "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n");
    put_names(&vtk);
    sn_text_out_print(out,
                      "<UnstructuredGrid>\n<Piece NumberOfPoints=\"%d\" NumberOfCells=\"%lld\">\n<Points>\n",
                      data->vertex_count, (long long)vtk.cells);
    put_points(&vtk);
    sn_text_out_print(out, "</Points>\n<Cells>\n");
    put_array(&vtk, "Int64", "connectivity", 8 * vtk.corners, put_corners);
    put_array(&vtk, "Int64", "offsets", 8 * vtk.cells, put_end);
    put_array(&vtk, "UInt8", "types", vtk.cells, put_type);
    sn_text_out_print(out, "</Cells>\n");
    if (vtk.has_groups) {
        sn_text_out_print(out, "<CellData>\n");
        put_array(&vtk, "Int32", "group", 4 * vtk.cells, put_group);
        sn_text_out_print(out, "</CellData>\n");
    }
    sn_text_out_print(out, "</Piece>\n</UnstructuredGrid>\n</VTKFile>\n");
    SN_RELEASE(data->context, vtk.numbers);
    return SN_OK;
}
