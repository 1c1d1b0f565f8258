/// What the mesh readers and writers share: notes, group names, growing cell blocks, node numbers, and the
/// formats' entry points, those of skeletons too.
#ifndef SN_IO_MESH_BUILD_H
#define SN_IO_MESH_BUILD_H

#include "io/io_text.h"
#include "io/io_text_out.h"
#include "sinew/mesh.h"

/// Kinds of statements or cells that a reader skips, counted by name, for the note of the mesh.
#define SN_SKIP_KINDS 16
typedef struct sn_skips {
    struct {
        char name[24];
        int64_t first_line;
        int32_t count;
    } kind[SN_SKIP_KINDS];
    int32_t kind_count, total;
} sn_skips;

/// Counts one skipped thing, of line -1 where lines mean nothing; kinds beyond SN_SKIP_KINDS are counted in
/// the total only.
void sn_skips_add(sn_skips *skips, sn_word name, int64_t line);

/// Different names with numbers in the order of their first appearance.
typedef struct sn_name_table {
    int32_t count;
    char **name; ///< [count]
    size_t capacity;
    int32_t *slot; ///< [slot_count], hashed; -1: free
    size_t slot_count;
} sn_name_table;

SN_NODISCARD sn_status sn_name_table_add(sn_context *ctx, sn_name_table *table, sn_word name,
                                         int32_t *out_index);
/// Index of a name, or -1.
int32_t sn_name_table_find(const sn_name_table *table, sn_word name);
void sn_name_table_release(sn_context *ctx, sn_name_table *table);

/// Cells of one kind that grow corner by corner. All zero but `kind` at first.
typedef struct sn_cell_list {
    sn_cell_kind kind;
    int32_t count;
    size_t corner_count;
    int32_t *offset, *vertex, *uv, *group;
    size_t offset_capacity, vertex_capacity, uv_capacity, group_capacity;
    bool has_uv, has_group, only_triangles;
} sn_cell_list;

/// Adds a corner to the open cell; uv -1: none.
SN_NODISCARD sn_status sn_cell_list_corner(sn_context *ctx, sn_cell_list *list, int32_t vertex, int32_t uv);
/// Closes the open cell; group -1: none.
SN_NODISCARD sn_status sn_cell_list_close(sn_context *ctx, sn_cell_list *list, int32_t group);
/// Drops the corners of the open cell.
void sn_cell_list_drop_open(sn_cell_list *list);
/// Number of corners of the open cell.
size_t sn_cell_list_open_size(const sn_cell_list *list);
void sn_cell_list_release(sn_context *ctx, sn_cell_list *list);

/// Moves the non-empty lists into `data` as blocks. Polygons that are all triangles become triangles.
SN_NODISCARD sn_status sn_mesh_data_take_cells(sn_mesh_data *data, int32_t list_count, sn_cell_list *lists);
/// Moves the names into `data`.
void sn_mesh_data_take_groups(sn_mesh_data *data, sn_name_table *table);
/// Appends a line to the note of `data`.
SN_NODISCARD sn_status sn_mesh_data_add_note(sn_mesh_data *data, const char *format, ...) SN_PRINTF(2, 3);
/// Appends a line for each kind of skipped things; `what` names them in the plural ("statements").
SN_NODISCARD sn_status sn_mesh_data_note_skips(sn_mesh_data *data, const sn_skips *skips, const char *what);

/// Appends a line about the skipped sections beyond SN_SKIP_KINDS; those up to there have lines of their own.
/// A line for each would make the note of a bad file grow without bound, with the square of their number in
/// time.
SN_NODISCARD sn_status sn_mesh_data_note_sections(sn_mesh_data *data, int64_t section_count);

/// From the numbers that a file gives to nodes to their places in the file.
typedef struct sn_tag_map {
    int32_t count;
    int64_t first;         ///< Number of the first node.
    struct sn_tag *sorted; ///< [count]; NULL if the numbers are first, first + 1, ...
} sn_tag_map;

/// Makes a map; the first number that occurs twice goes to *out_duplicate, or -1 as its place.
SN_NODISCARD sn_status sn_tag_map_make(sn_context *ctx, int32_t count, const int32_t *tags,
                                       sn_tag_map *out_map, int32_t *out_duplicate);
/// The same of long numbers.
SN_NODISCARD sn_status sn_tag_map_make_long(sn_context *ctx, int32_t count, const int64_t *tags,
                                            sn_tag_map *out_map, int32_t *out_duplicate);
/// Place of a number, or -1.
int32_t sn_tag_map_find(const sn_tag_map *map, int64_t tag);
void sn_tag_map_release(sn_context *ctx, sn_tag_map *map);

/// A mesh that grows while it is read: what readers of single vertices and cells share.
typedef struct sn_mesh_builder {
    sn_text *text;
    sn_context *ctx;
    sn_mesh_data *data;
    size_t vertex_capacity, uv_capacity;
    sn_cell_list edges, faces, tets;
    sn_name_table groups;
    int32_t last_number, last_group; ///< Neighbors in the file mostly share their group.
    sn_skips skips;
    bool skips_without_line; ///< Cells are skipped after they were read, far from their line.
    int32_t second_order;    ///< Cells of second order of which the corners were taken.
    int64_t notes;           ///< Of sn_mesh_builder_note().
} sn_mesh_builder;

/// Starts to fill an empty mesh; sn_mesh_builder_release() is due whatever happens.
sn_mesh_builder sn_mesh_builder_make(sn_text *text, sn_mesh_data *data);
/// Adds a vertex at 0, 0, 0 and tells where its coordinates go, valid until the next one.
SN_NODISCARD sn_status sn_mesh_builder_vertex(sn_mesh_builder *builder, double **out_position);
/// Adds a texture coordinate.
SN_NODISCARD sn_status sn_mesh_builder_uv(sn_mesh_builder *builder, double u, double v);
/// Adds a cell to one of the builder's lists; group -1: none.
SN_NODISCARD sn_status sn_mesh_builder_cell(sn_mesh_builder *builder, sn_cell_list *list, int32_t size,
                                            const int32_t *vertex, int32_t group);
/// Group of the name "<prefix><number>", one prefix for all of the file; number 0: -1.
SN_NODISCARD sn_status sn_mesh_builder_numbered_group(sn_mesh_builder *builder, const char *prefix,
                                                      int32_t number, int32_t *out_group);
/// Counts a cell of a kind that is not read.
void sn_mesh_builder_skip(sn_mesh_builder *builder, const char *kind);
/// Adds a line to the note, unless there are very many.
SN_NODISCARD sn_status sn_mesh_builder_note(sn_mesh_builder *builder, const char *format, ...)
    SN_PRINTF(2, 3);
/// Moves all into the mesh, notes what was skipped, calls it `what` ("cells of kind"); refuses a mesh without
/// vertices.
SN_NODISCARD sn_status sn_mesh_builder_finish(sn_mesh_builder *builder, const char *what);
void sn_mesh_builder_release(sn_mesh_builder *builder);

/// Cells as VTK lists them, all numbers as doubles: their types, ends in the list of corners, corners, and
/// groups.
typedef struct sn_real_list {
    double *item;
    size_t count, capacity;
} sn_real_list;

SN_NODISCARD sn_status sn_real_list_add(sn_context *ctx, sn_real_list *list, double value);

typedef struct sn_vtk_cells {
    sn_real_list type, end, corner, group; ///< `group` may be empty.
} sn_vtk_cells;

/// Adds the cells to a mesh whose vertices from `first` on they name: lines, polylines, triangles, strips,
/// quads, polygons, pixels, tets; of second order, the corners. Other kinds are skipped.
SN_NODISCARD sn_status sn_vtk_cells_take(sn_vtk_cells *cells, sn_mesh_builder *builder, int32_t first);
/// Empties the lists, which keep their room.
void sn_vtk_cells_clear(sn_vtk_cells *cells);
void sn_vtk_cells_release(sn_context *ctx, sn_vtk_cells *cells);
/// Whether a cell array of VTK files by this name tells the groups.
bool sn_vtk_names_groups(sn_word name);

/// Numbers for the groups of a mesh in a format that has no names: "ref7" (for the prefix "ref") keeps 7,
/// other names get the lowest free numbers from 1 on. @param[out] out_numbers [group_count], to be released.
SN_NODISCARD sn_status sn_group_numbers(const sn_mesh_data *data, const char *prefix, int32_t **out_numbers);
/// The number in a name such as "ref7"; false if the name is not exactly the prefix and a number as "%d"
/// prints it.
bool sn_group_name_number(const char *name, const char *prefix, int32_t *out_number);

/// Called for each edge, triangle or tet: `size` vertices and the group or -1.
typedef void sn_simplex_visit(void *user, const int32_t *vertex, int32_t size, int32_t group);
/// Visits the cells of `size` vertices (2, 3, 4) in file order; polygons count as triangles, cut into fans.
/// @return how many there are; visit may be NULL.
int64_t sn_mesh_data_each_simplex(const sn_mesh_data *data, int32_t size, sn_simplex_visit *visit,
                                  void *user);

/// Reads a mesh of whatever format from an open text, as sn_mesh_data_read() does.
SN_NODISCARD sn_status sn_mesh_data_read_text(sn_text *text, sn_mesh_data **out_data);

/// Reads a file of a known format into an empty mesh. On failure the mesh may be partly filled.
SN_NODISCARD sn_status sn_obj_read(sn_text *text, sn_mesh_data *data);
SN_NODISCARD sn_status sn_medit_read(sn_text *text, sn_mesh_data *data);
SN_NODISCARD sn_status sn_gmsh_read(sn_text *text, sn_mesh_data *data);
SN_NODISCARD sn_status sn_stl_read(sn_text *text, sn_mesh_data *data);
SN_NODISCARD sn_status sn_ply_read(sn_text *text, sn_mesh_data *data);
SN_NODISCARD sn_status sn_off_read(sn_text *text, sn_mesh_data *data);
SN_NODISCARD sn_status sn_vtk_read(sn_text *text, sn_mesh_data *data);
SN_NODISCARD sn_status sn_vtu_read(sn_text *text, sn_mesh_data *data);
SN_NODISCARD sn_status sn_tetgen_read(sn_text *text, sn_mesh_data *data);
SN_NODISCARD sn_status sn_vega_read(sn_text *text, sn_mesh_data *data);
SN_NODISCARD sn_status sn_inp_read(sn_text *text, sn_mesh_data *data);

/// Writes a mesh whose indices are valid. Failures of the file come out of sn_text_out_commit() later.
SN_NODISCARD sn_status sn_obj_write(sn_text_out *out, const sn_mesh_data *data);
SN_NODISCARD sn_status sn_medit_write(sn_text_out *out, const sn_mesh_data *data);
SN_NODISCARD sn_status sn_gmsh_write(sn_text_out *out, const sn_mesh_data *data);
SN_NODISCARD sn_status sn_stl_write(sn_text_out *out, const sn_mesh_data *data);
SN_NODISCARD sn_status sn_ply_write(sn_text_out *out, const sn_mesh_data *data);
SN_NODISCARD sn_status sn_vtk_write(sn_text_out *out, const sn_mesh_data *data);
SN_NODISCARD sn_status sn_vtu_mesh_write(sn_text_out *out, const sn_mesh_data *data);
SN_NODISCARD sn_status sn_tetgen_write(sn_text_out *out, const sn_mesh_data *data);
SN_NODISCARD sn_status sn_inp_write(sn_text_out *out, const sn_mesh_data *data);

/// Whether a file starts like a format. The cursor is at the first byte, and stays there.
bool sn_stl_is(sn_text *text);
bool sn_ply_is(sn_text *text);
bool sn_off_is(sn_text *text);
bool sn_vtk_is(sn_text *text);
bool sn_vtu_is(sn_text *text);
bool sn_vega_is(sn_text *text);
bool sn_inp_is(sn_text *text);

/// Lists of nodes and tets as TetGen has them, which Vega uses too: a line of numbers that says how many
/// there are, then a line each. They begin at the cursor.
typedef struct sn_node_list {
    sn_mesh_builder *mesh;
    sn_tag_map map; ///< Numbers of the nodes, any that the file gives them.
} sn_node_list;

SN_NODISCARD sn_status sn_node_list_read(sn_node_list *list, sn_text *text);
/// @param[in,out] tags  [*count] numbers of the tets that are read, to be released; NULL: not wanted
SN_NODISCARD sn_status sn_node_list_read_tets(sn_node_list *list, sn_text *text, int32_t **tags,
                                              size_t *count);
void sn_node_list_release(sn_node_list *list);

/// Reads and writes a skeleton, as sn_skeleton_read() and sn_skeleton_write() do, which open and close the
/// text.
SN_NODISCARD sn_status sn_skeleton_read_text(sn_text *text, sn_skeleton **out_skeleton);
void sn_skeleton_write_text(sn_text_out *out, const sn_skeleton *skeleton);

#endif
