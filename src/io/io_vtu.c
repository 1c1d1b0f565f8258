#include "io/io_vtu.h"

#include "io/io_recorder_file.h"

#include <string.h>

enum { VTK_TRIANGLE = 5, VTK_TETRA = 10 };

/// The grid that is written: the nodes and tets of a body, or the vertices and triangles of its surface.
typedef struct vtu_grid {
    sn_context *ctx;
    const sn_frame_view *frame;
    int32_t body_index;
    sn_body_info body;
    bool volume, has_contacts;
    int32_t point_count, cell_count, cell_size;
    const int32_t *cells;
    int32_t cell_origin;    ///< Number of the first point in `cells`.
    double *points, *value; ///< [point_count, 3], [point_count]
    double *node_value;     ///< [node_count of the model]
    double *vectors;        ///< [point_count, 3]
} vtu_grid;

static void grid_release(vtu_grid *grid) {
    SN_RELEASE(grid->ctx, grid->points);
    SN_RELEASE(grid->ctx, grid->value);
    SN_RELEASE(grid->ctx, grid->node_value);
    SN_RELEASE(grid->ctx, grid->vectors);
}

static sn_status grid_init(vtu_grid *grid) {
    sn_status status = SN_OK;
    const sn_model *model = sn_state_model(grid->frame->state);
    const sn_body_info *body = &grid->body;
    const sn_model_info info = sn_model_get_info(model);
    grid->has_contacts = info.contact_pair_count > 0;
    grid->point_count = grid->volume ? body->node_count : body->surface_vertex_count;
    grid->cell_count = grid->volume ? body->tet_count : body->surface_triangle_count;
    grid->cell_size = grid->volume ? 4 : 3;
    grid->cells = grid->volume ? sn_model_tets(model) + 4 * (size_t)body->tet_begin : body->surface_triangles;
    grid->cell_origin = grid->volume ? body->node_begin : 0;
    SN_TRY_NEW(grid->ctx, grid->points, 3 * (size_t)grid->point_count);
    SN_TRY_NEW(grid->ctx, grid->vectors, 3 * (size_t)grid->point_count);
    SN_TRY_NEW(grid->ctx, grid->value, grid->point_count);
    SN_TRY_NEW(grid->ctx, grid->node_value, info.node_count);
cleanup:
    return status;
}

/// Carries node values [node_count of the model] to the grid's points.
static void to_points(const vtu_grid *grid, const double *node_value, double *out) {
    if (grid->volume)
        memcpy(out, node_value + grid->body.node_begin, (size_t)grid->point_count * sizeof *out);
    else
        sn_state_surface_values(grid->frame->state, grid->body_index, node_value, out);
}

/// Node vectors a - b (b may be NULL) at the grid's points, in grid->vectors.
static void vectors_to_points(vtu_grid *grid, const double *a, const double *b) {
    const sn_body_info *body = &grid->body;
    for (int axis = 0; axis < 3; axis++) {
        for (int32_t i = body->node_begin; i < body->node_begin + body->node_count; i++)
            grid->node_value[i] = a[3 * (size_t)i + axis] - (b ? b[3 * (size_t)i + axis] : 0);
        to_points(grid, grid->node_value, grid->value);
        for (int32_t i = 0; i < grid->point_count; i++)
            grid->vectors[3 * (size_t)i + axis] = grid->value[i];
    }
}

/// Opens a data array; the bytes that follow are preceded by their number, as VTK wants. Scalars do not say
/// that they have one component, because meshio would make a column of them.
static sn_status begin_array(sn_output *output, const char *type, const char *name, int components,
                             uint64_t size) {
    sn_status status = SN_OK;
    SN_TRY(sn_output_format(output, "<DataArray type=\"%s\" Name=\"%s\" format=\"binary\"", type, name));
    if (components > 1)
        SN_TRY(sn_output_format(output, " NumberOfComponents=\"%d\"", components));
    SN_TRY(sn_output_text(output, ">"));
    SN_TRY(sn_output_base64(output, &size, sizeof size));
cleanup:
    return status;
}

static sn_status end_array(sn_output *output) {
    sn_status status = SN_OK;
    SN_TRY(sn_output_base64_end(output));
    SN_TRY(sn_output_text(output, "</DataArray>\n"));
cleanup:
    return status;
}

static sn_status write_doubles(sn_output *output, const char *name, int components, int32_t count,
                               const double *values) {
    sn_status status = SN_OK;
    size_t size = (size_t)count * (size_t)components * sizeof *values;
    SN_TRY(begin_array(output, "Float64", name, components, size));
    SN_TRY(sn_output_base64(output, values, size));
    SN_TRY(end_array(output));
cleanup:
    return status;
}

static sn_status write_cells(sn_output *output, const vtu_grid *grid) {
    sn_status status = SN_OK;
    size_t corners = (size_t)grid->cell_count * (size_t)grid->cell_size;
    SN_TRY(sn_output_text(output, "<Cells>\n"));
    SN_TRY(begin_array(output, "Int64", "connectivity", 1, corners * sizeof(int64_t)));
    for (size_t i = 0; i < corners; i++) {
        int64_t point = grid->cells[i] - grid->cell_origin;
        SN_TRY(sn_output_base64(output, &point, sizeof point));
    }
    SN_TRY(end_array(output));
    SN_TRY(begin_array(output, "Int64", "offsets", 1, (size_t)grid->cell_count * sizeof(int64_t)));
    for (int64_t i = 1; i <= grid->cell_count; i++) {
        int64_t end = i * grid->cell_size;
        SN_TRY(sn_output_base64(output, &end, sizeof end));
    }
    SN_TRY(end_array(output));
    SN_TRY(begin_array(output, "UInt8", "types", 1, (size_t)grid->cell_count));
    for (int32_t i = 0; i < grid->cell_count; i++) {
        uint8_t type = grid->volume ? VTK_TETRA : VTK_TRIANGLE;
        SN_TRY(sn_output_base64(output, &type, sizeof type));
    }
    SN_TRY(end_array(output));
    SN_TRY(sn_output_text(output, "</Cells>\n"));
cleanup:
    return status;
}

/// Adds what a contact does to a body at its vertices.
static void add_contact_force(vtu_grid *grid, const sn_contact *contact) {
    for (size_t axis = 0; axis < 3; axis++) {
        if (contact->body == grid->body_index && contact->vertex >= 0)
            grid->vectors[3 * (size_t)contact->vertex + axis] += contact->force[axis];
        if (contact->other_body != grid->body_index)
            continue;
        for (int k = 0; k < 3; k++)
            grid->vectors[3 * (size_t)contact->other_vertex[k] + axis] -=
                contact->other_weight[k] * contact->force[axis];
    }
}

/// Forces on the body, in grid->vectors: summed at surface vertices, 0 where nothing touches.
static sn_status contact_forces_to_points(vtu_grid *grid) {
    sn_status status = SN_OK;
    const sn_state *state = grid->frame->state;
    int32_t count = sn_state_contact_count(state);
    memset(grid->vectors, 0, 3 * (size_t)grid->point_count * sizeof *grid->vectors);
    for (int32_t i = 0; i < count; i++) {
        sn_contact contact;
        SN_TRY(sn_state_contact(state, i, &contact));
        add_contact_force(grid, &contact);
    }
cleanup:
    return status;
}

static sn_status write_point_data(sn_output *output, vtu_grid *grid, bool displacement) {
    sn_status status = SN_OK;
    const sn_state *state = grid->frame->state;
    SN_TRY(sn_output_text(output, "<PointData>\n"));
    if (displacement) {
        vectors_to_points(grid, sn_state_positions(state), sn_model_rest_positions(sn_state_model(state)));
        SN_TRY(write_doubles(output, "displacement", 3, grid->point_count, grid->vectors));
    }
    vectors_to_points(grid, sn_state_velocities(state), NULL);
    SN_TRY(write_doubles(output, "velocity", 3, grid->point_count, grid->vectors));
    const double *strain = grid->frame->field[SN_QUANTITY_STRAIN];
    if (strain) {
        to_points(grid, strain, grid->value);
        SN_TRY(write_doubles(output, "strain", 1, grid->point_count, grid->value));
    }
    if (!grid->volume && grid->has_contacts) {
        SN_TRY(contact_forces_to_points(grid));
        SN_TRY(write_doubles(output, "contact_force", 3, grid->point_count, grid->vectors));
    }
    SN_TRY(sn_output_text(output, "</PointData>\n"));
cleanup:
    return status;
}

static sn_status write_points(sn_output *output, vtu_grid *grid) {
    sn_status status = SN_OK;
    if (grid->volume)
        memcpy(grid->points, sn_state_positions(grid->frame->state) + 3 * (size_t)grid->body.node_begin,
               3 * (size_t)grid->point_count * sizeof *grid->points);
    else
        sn_state_surface_positions(grid->frame->state, grid->body_index, grid->points);
    SN_TRY(sn_output_text(output, "<Points>\n"));
    SN_TRY(write_doubles(output, "Points", 3, grid->point_count, grid->points));
    SN_TRY(sn_output_text(output, "</Points>\n"));
cleanup:
    return status;
}

sn_status sn_vtu_write(sn_context *ctx, const char *directory, const char *name, const sn_frame_view *frame,
                       int32_t body_index, bool volume, bool displacement) {
    sn_status status = SN_OK;
    sn_output output = {0};
    vtu_grid grid = {.ctx = ctx, .frame = frame, .body_index = body_index, .volume = volume};
    grid.body = sn_model_body(sn_state_model(frame->state), body_index);
    SN_TRY(grid_init(&grid));
    SN_TRY(sn_output_open(ctx, directory, name, SN_OUTPUT_WHOLE, &output));
    SN_TRY(sn_output_text(&output,
                          "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
                          "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<UnstructuredGrid>\n"));
    SN_TRY(sn_output_format(&output, "<Piece NumberOfPoints=\"%d\" NumberOfCells=\"%d\">\n", grid.point_count,
                            grid.cell_count));
    SN_TRY(write_points(&output, &grid));
    SN_TRY(write_cells(&output, &grid));
    SN_TRY(write_point_data(&output, &grid, displacement));
    SN_TRY(sn_output_text(&output, "</Piece>\n</UnstructuredGrid>\n</VTKFile>\n"));
    SN_TRY(sn_output_finish(&output));
cleanup:
    sn_output_abandon(&output);
    grid_release(&grid);
    return status;
}
