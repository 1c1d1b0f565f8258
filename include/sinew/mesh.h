/// Meshes: what readers return (sn_mesh_data), the checked tetrahedral mesh of a body (sn_mesh), lattices
/// around surfaces, and surfaces embedded in tetrahedra.
#ifndef SINEW_MESH_H
#define SINEW_MESH_H

#include "sinew/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Kinds of cells in a neutral mesh.
typedef enum sn_cell_kind {
    SN_CELL_EDGE = 0,     ///< 2 vertices
    SN_CELL_TRIANGLE = 1, ///< 3
    SN_CELL_POLYGON = 2,  ///< any number >= 3, given by offsets
    SN_CELL_TET = 3       ///< 4; positive orientation: (b - a) x (c - a) . (d - a) > 0
} sn_cell_kind;

/// Cells of one kind, in file order.
typedef struct sn_cell_block {
    sn_cell_kind kind;
    int32_t count;
    int32_t *offset; ///< [count + 1] into `vertex`, polygons only; NULL otherwise
    int32_t *vertex; ///< [count * vertices per cell], or [offset[count]] for polygons
    int32_t *group;  ///< [count] index into the groups, -1 for none; NULL if no cell has one
    int32_t *uv;     ///< same shape as `vertex`, index into uvs, -1 for none; NULL if there are none
} sn_cell_block;

/// A named set of vertices, such as Abaqus decks have for supports and loads. Sets may overlap.
typedef struct sn_vertex_set {
    char *name;
    int32_t count;
    int32_t *vertex; ///< [count], each once; NULL for none
} sn_vertex_set;

/// A mesh as a file holds it: unchecked, in file order, vertices never merged or dropped. Owned by its
/// context.
typedef struct sn_mesh_data {
    sn_context *context;
    int32_t vertex_count;
    double *position; ///< [vertex_count, 3]
    int32_t block_count;
    sn_cell_block *block; ///< [block_count]
    int32_t group_count;
    char **group; ///< [group_count] names: OBJ groups or materials, Medit references ("ref7"), Gmsh physical
                  ///< names or "tag7"
    int32_t set_count;
    sn_vertex_set *set; ///< [set_count]
    int32_t uv_count;
    double *uv;      ///< [uv_count, 2]
    char *note;      ///< What the reader skipped or repaired, one line each; "" if nothing. Never NULL.
    int32_t skipped; ///< Number of cells or lines that the reader skipped.
} sn_mesh_data;

/// An empty mesh owned by `context`: no vertices, no blocks, note "".
SN_API SN_NODISCARD sn_status sn_mesh_data_create(sn_context *context, sn_mesh_data **out_data);
/// Destroys a mesh with all its arrays and sets *data to NULL. Accepts NULL and a pointer to NULL.
SN_API void sn_mesh_data_destroy(sn_mesh_data **data);

/// Triangles of all triangle and polygon blocks in file order, polygons cut into fans from their first vertex
/// (concave ones too: the report of sn_mesh_data_report counts them).
/// @param[out] out_triangles [*out_count, 3] vertices, to be released with sn_mesh_data_free_array().
SN_API SN_NODISCARD sn_status sn_mesh_data_triangles(const sn_mesh_data *data, int32_t *out_count,
                                                     int32_t **out_triangles);
/// Adds a set of vertices, a copy of `vertex` [count], behind those that are there. Names may repeat.
/// @return SN_OK; SN_ERR_INVALID_ARGUMENT (NULL, or vertices that `data` does not have), SN_ERR_NO_MEMORY:
/// nothing is added.
SN_API SN_NODISCARD sn_status sn_mesh_data_add_set(sn_mesh_data *data, const char *name, int32_t count,
                                                   const int32_t *vertex);
/// Releases what sn_mesh_data_triangles() made of the same `data`. NULL is fine.
SN_API void sn_mesh_data_free_array(const sn_mesh_data *data, void *array);

/// How the triangles of a surface look: texture coordinates and groups, as its file gives them. All zero:
/// nothing is known.
typedef struct sn_surface_look {
    int32_t uv_count;
    double *uv;           ///< [uv_count, 2]
    int32_t *triangle_uv; ///< [triangles, 3] of each corner, index into uv, -1 for none; NULL if none has one
    int32_t group_count;
    char **group;            ///< [group_count] names
    int32_t *triangle_group; ///< [triangles] index into group, -1 for none; NULL if none has one
} sn_surface_look;

/// What is right and wrong with a mesh. Lengths in the file's unit.
typedef struct sn_mesh_report {
    int32_t vertex_count, triangle_count, polygon_count, tet_count, edge_count;
    double low[3], high[3];    ///< Bounds of the referenced vertices.
    double volume;             ///< Enclosed by the surface (signed), or of the tets.
    int32_t components;        ///< Connected pieces, by shared vertices.
    int32_t boundary_edges;    ///< Surface edges with one triangle: holes.
    int32_t nonmanifold_edges; ///< Surface edges with more than two triangles, or tet faces with more than
                               ///< one tet on a side.
    int32_t misoriented_edges; ///< Surface edges that both triangles run through in the same direction.
    int32_t unreferenced_vertices; ///< In no cell.
    int32_t loose_vertices;       ///< In edges only, or in faces or edges but no tet of a mesh that has tets.
    int32_t duplicate_vertices;   ///< At exactly the place of an earlier vertex.
    int32_t degenerate_triangles; ///< Repeated vertex, or height below 1e-12 of the longest edge.
    int32_t degenerate_tets; ///< Repeated vertex, or |volume| below 1e-12 of the cube of the longest edge.
    int32_t inverted_tets;   ///< Negative volume.
    int32_t first_bad_cell;  ///< First degenerate or inverted cell, by index among its kind; -1 for none.
    int32_t non_finite_vertices;     ///< With NaN or infinity.
    int32_t first_non_finite_vertex; ///< -1 for none.
    int32_t quality_histogram[10]; ///< Tets by mean ratio 12 (3 V)^(2/3) / sum of squared edges, tenths from
                                   ///< 0 to 1.
    double quality_min, edge_min, edge_max;
    int32_t concave_polygons; ///< With a triangle of their fan turned against the rest: cut wrongly.
} sn_mesh_report;

/// Examines a mesh. Never fails because of what is wrong with the mesh: that is what the report says.
SN_API SN_NODISCARD sn_status sn_mesh_data_report(const sn_mesh_data *data, sn_mesh_report *out_report);

/// Triangles of a surface that cross or touch one another without sharing the vertices there.
typedef struct sn_mesh_crossings {
    int64_t count;    ///< Pairs.
    int32_t first[2]; ///< The first pair, by number from 0 of the triangles, polygons cut into fans.
    bool complete; ///< False: more than 2^32 pairs had boxes that meet along x, and not all were looked at.
} sn_mesh_crossings;

/// Finds the pairs. Vertices at exactly one place count as one; flat triangles and those with NaN, infinity
/// or coordinates from 1e100 on are left out. Signs of volumes are exact, so triangles that only share a
/// vertex are never taken for crossing. Cost: a sort, and the pairs whose boxes meet along x.
/// @return SN_OK; SN_ERR_INVALID_ARGUMENT (NULL, indices out of range), SN_ERR_MESH (more than 2^31 / 3
/// triangles), SN_ERR_NO_MEMORY: nothing is written. Source: Shewchuk 1997, "Adaptive precision
/// floating-point arithmetic and fast robust geometric predicates": filter and expansions, without the stages
/// between.
SN_API SN_NODISCARD sn_status sn_mesh_data_crossings(const sn_mesh_data *data,
                                                     sn_mesh_crossings *out_crossings);

/// A checked tetrahedral mesh, constant once made.
typedef struct sn_mesh sn_mesh;

/// Makes a mesh from the tet blocks of `data`: node i of the mesh is vertex i of the data (unreferenced
/// vertices are refused unless `drop_unreferenced`, which renumbers in file order). Tets of negative volume
/// are refused; so are flat ones, repeated or out-of-range vertices and non-finite positions.
/// @return SN_OK; SN_ERR_MESH names the first bad tet or vertex and the count, and says what to do.
SN_API SN_NODISCARD sn_status sn_mesh_create(sn_context *context, const sn_mesh_data *data,
                                             bool drop_unreferenced, sn_mesh **out_mesh);
/// Destroys a mesh and sets *mesh to NULL. Accepts NULL and a pointer to NULL.
SN_API void sn_mesh_destroy(sn_mesh **mesh);

/// Number of nodes, at least 4.
SN_API int32_t sn_mesh_node_count(const sn_mesh *mesh);
/// Number of tets, at least 1.
SN_API int32_t sn_mesh_tet_count(const sn_mesh *mesh);
/// Rest positions [node_count, 3].
SN_API const double *sn_mesh_positions(const sn_mesh *mesh);
/// Nodes of each tet [tet_count, 4], positively oriented.
SN_API const int32_t *sn_mesh_tets(const sn_mesh *mesh);
/// Group of each tet [tet_count], index into sn_mesh_group_name(), or -1; NULL if no tet has a group.
SN_API const int32_t *sn_mesh_tet_groups(const sn_mesh *mesh);
/// Number of groups.
SN_API int32_t sn_mesh_group_count(const sn_mesh *mesh);
/// Name of a group; NULL if there is no such group. Belongs to the mesh.
SN_API const char *sn_mesh_group_name(const sn_mesh *mesh, int32_t group);
/// Number of sets of nodes: those of the data, then, for each group that its edges, triangles or polygons
/// have, the nodes of these cells. Names may repeat. Sets without a node of the mesh are left out.
SN_API int32_t sn_mesh_set_count(const sn_mesh *mesh);
/// Name of a set; NULL if there is no such set. Belongs to the mesh.
SN_API const char *sn_mesh_set_name(const sn_mesh *mesh, int32_t set);
/// Nodes of a set, rising [*out_count, not NULL]; NULL and 0 if there is no such set. Belong to the mesh.
SN_API const int32_t *sn_mesh_set_nodes(const sn_mesh *mesh, int32_t set, int32_t *out_count);
/// Boundary triangles [count, 3], oriented outward, ordered by tet and face.
SN_API const int32_t *sn_mesh_surface(const sn_mesh *mesh, int32_t *out_count);
/// Connected piece of each tet [tet_count] (tets that share a node), numbered by first tet; and how many
/// there are.
SN_API const int32_t *sn_mesh_tet_pieces(const sn_mesh *mesh, int32_t *out_count);
/// Solid part of each tet [tet_count], from SN_TET_FRACTION_LEAST to 1, in a lattice around a surface; NULL:
/// all tets are solid. Bodies weigh the tets' mass and stiffness with it. Files do not hold it.
SN_API const double *sn_mesh_tet_fractions(const sn_mesh *mesh);
/// Copies a mesh into neutral data with one tet block, for writers.
SN_API SN_NODISCARD sn_status sn_mesh_to_data(const sn_mesh *mesh, sn_mesh_data **out_data);

/// Kinds of lattice: body-centered cubic, or Kuhn's six tets per cube.
typedef enum sn_lattice_kind { SN_LATTICE_BCC = 0, SN_LATTICE_KUHN = 1 } sn_lattice_kind;

/// What says how fine a lattice is.
typedef enum sn_lattice_resolution {
    SN_RESOLUTION_CELLS = 0, ///< cells
    SN_RESOLUTION_EDGE = 1,  ///< edge
    SN_RESOLUTION_TETS = 2   ///< tets
} sn_lattice_resolution;

/// How to fill a surface with tets. Start from sn_lattice_def_default().
typedef struct sn_lattice_def {
    sn_lattice_kind kind;             ///< Default BCC.
    sn_lattice_resolution resolution; ///< Which of the next three counts. Default cells.
    int32_t cells; ///< Cells along the longest side of the surface's bounds, 1 to 1000. Default 20.
    int32_t tets;  ///< About so many tets, >= 1: the number of cells whose lattice comes nearest is searched.
    double edge;   ///< Edge of the cubic cells in the surface's unit, > 0; at least a thousandth of the
                   ///< longest side. Longer ones than this side are cut to it.
    uint32_t mark;
} sn_lattice_def;

/// The defaults, with the mark.
SN_API sn_lattice_def sn_lattice_def_default(void);

/// Points at barycentric places in tets.
typedef struct sn_embedding {
    sn_context *context;
    int32_t count;
    int32_t *tet;   ///< [count] tet that holds the point
    double *weight; ///< [count, 4] barycentric weights, sum 1, >= -1e-12
} sn_embedding;

/// Destroys an embedding and sets *embedding to NULL. Accepts NULL and a pointer to NULL.
SN_API void sn_embedding_destroy(sn_embedding **embedding);

/// Embeds points in a mesh: each in the tet that contains it, or else in the nearest one (negative weights
/// then; the number of such points is reported). Ties go to the lowest tet; where a lattice has several tets
/// at one place, to the one whose piece of the surface is nearest.
/// @param points [count, 3]
SN_API SN_NODISCARD sn_status sn_embedding_create(const sn_mesh *mesh, int32_t count, const double *points,
                                                  int32_t *out_outside_count, sn_embedding **out_embedding);

/// Places of the embedded points for node positions x [node_count, 3]: out [count, 3].
SN_API void sn_embedding_evaluate(const sn_embedding *embedding, const int32_t *tets, const double *x,
                                  double *out);

/// No tet of a lattice counts for less than this part of it, however little of the solid it holds: nodes that
/// only such tets have would be almost without mass and stiffness.
#define SN_TET_FRACTION_LEAST 0.05

/// Fills a surface with a lattice of cubic cells and embeds the surface's vertices. A tet is kept if it meets
/// the closed solid: a surface triangle touches it, or its centroid is inside. The lattice is centered on the
/// bounds of the surface. Nodes and tets are numbered by place (z, y, x, then kind), copies at one place in
/// the order of the triangles in them, so the result is the same on every run and for any number of threads.
///
/// Inside is where the winding number is at least one half. Vertices at one place count as one, triangles are
/// first turned like their neighbors, and pieces that face inward outward; pieces may overlap, and holes are
/// closed by the smoothness of the winding number (with a warning).
///
/// Gaps are kept open: a tet that holds several pieces of solid is there once for each of them, and copies
/// share nodes only where their pieces are connected through the face between their tets. Pieces that meet at
/// an edge or a vertex only, or whose gap is as thin as a millionth of a cell, come apart; pieces that
/// overlap or share a face do not. A vertex is embedded in the copy that holds the first triangle that uses
/// it. What stays together where it should not, and apart where it should, is bounded by single tets: pieces
/// that wind so much within a tet that no two of their places see each other are split there, and a tet of
/// more than 100 pieces, or 128 patches of the surface that share no edge, is not split at all.
///
/// Each tet knows which part of it is solid (sn_mesh_tet_fractions): exactly for closed surfaces that do not
/// intersect themselves. The edge is longer by one part in 1e9, so that a box of whole cells is filled
/// exactly and gets no layer of tets that only touch it. Node coordinates are short binary numbers: the zeros
/// of the Laplacian are exact. Vertices that no triangle uses are embedded in the nearest tet, with a warning
/// if they are outside; all others lie in theirs.
///
/// The lattice is equally fine everywhere. Finer regions would need T-junctions or tets of other shapes, and
/// both cost the zeros of the Laplacian that make these lattices fast.
/// @return SN_OK; SN_ERR_MESH: no triangles, non-finite vertices, no extent; SN_ERR_INVALID_ARGUMENT: cells
/// or edge out of range or too many to number. Outputs are unchanged after an error.
SN_API SN_NODISCARD sn_status sn_lattice_create(sn_context *context, const sn_mesh_data *surface,
                                                const sn_lattice_def *def, sn_mesh **out_mesh,
                                                sn_embedding **out_embedding);

/// Shapes that the program can make by itself: for examples, tests and benchmarks.
typedef enum sn_make_shape {
    SN_MAKE_BEAM = 0,   ///< Kuhn tet block from the origin to `size`, cells about cubic.
    SN_MAKE_BLOCK = 1,  ///< Closed surface of a box about the origin.
    SN_MAKE_SPHERE = 2, ///< Closed surface of a ball (ellipsoid) about the origin.
    SN_MAKE_ARM = 3     ///< Closed surface of a human upper arm, elbow and forearm along x from the origin,
                    ///< straight; joints shoulder (label 1), elbow (2), wrist (3). Turning the forearm about
                    ///< +z bends it (towards +y).
} sn_make_shape;

/// How to make a shape. Start from sn_make_def_default().
typedef struct sn_make_def {
    sn_make_shape shape;
    double size[3]; ///< Extent along x, y, z in m, > 0. Defaults: 1 x 0.2 x 0.2 (beam), 0.2 (block, sphere),
                    ///< arm 0.6 long.
    int32_t cells; ///< 1 to 1000. Beam: across the thinner of y and z (4); block: along the longest side (8);
                   ///< sphere: along a side of the cube that becomes the ball (16); arm: along it (120).
    uint32_t mark;
} sn_make_def;

/// The defaults for a shape, with the mark.
SN_API sn_make_def sn_make_def_default(sn_make_shape shape);

/// A skeleton: joints and the bones between them.
typedef struct sn_skeleton {
    sn_context *context;
    int32_t joint_count;
    double *position; ///< [joint_count, 3] rest positions
    int32_t *label;   ///< [joint_count] number of the joint in its file (TGF: the node number)
    int32_t bone_count;
    int32_t *bone; ///< [bone_count, 2] joints, by index
} sn_skeleton;

/// Destroys a skeleton and sets *skeleton to NULL. Accepts NULL and a pointer to NULL.
SN_API void sn_skeleton_destroy(sn_skeleton **skeleton);

/// Makes a shape. *out_skeleton is set to NULL for shapes that have none; out_skeleton may be NULL.
/// @return SN_OK; SN_ERR_INVALID_ARGUMENT: size or cells out of range, or more cells than can be numbered.
SN_API SN_NODISCARD sn_status sn_mesh_make(sn_context *context, const sn_make_def *def,
                                           sn_mesh_data **out_data, sn_skeleton **out_skeleton);

#ifdef __cplusplus
}
#endif
#endif
