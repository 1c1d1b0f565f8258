/// The model: bodies, rigid shapes and what ties them, built once and constant afterwards.
///
/// A builder collects definitions; sn_model_build() makes the model. All lengths in m, angles in rad, forces
/// in N. Definitions are copied: what they point to may go once the call has returned.
#ifndef SINEW_MODEL_H
#define SINEW_MODEL_H

#include "sinew/base.h"
#include "sinew/material.h"
#include "sinew/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sn_model_builder sn_model_builder;
typedef struct sn_model sn_model;

/// Handles of what a builder has taken, valid for that builder and its model. All zero means none; a frame of
/// none is the world. `index1` - 1 is the index in the order of adding.
typedef struct sn_body_id {
    uint32_t index1, generation;
} sn_body_id;
typedef struct sn_frame_id {
    uint32_t index1, generation;
} sn_frame_id;
typedef struct sn_shape_id {
    uint32_t index1, generation;
} sn_shape_id;

/// How keys are joined.
typedef enum sn_interpolation {
    SN_INTERPOLATION_LINEAR = 0,
    SN_INTERPOLATION_SMOOTH = 1 ///< Eased: zero speed at every key.
} sn_interpolation;

/// A moving coordinate frame: x = parent(pivot + R(t) (X - pivot) + translation(t)). Before the first key and
/// after the last the frame holds still. Rotation vectors (axis times angle) of neighboring keys are
/// interpolated as vectors where they are parallel, so turns of more than 180 degrees count, and along the
/// shorter arc otherwise.
typedef struct sn_frame_def {
    const char *name;   ///< For messages and results; NULL: "frame <n>".
    sn_frame_id parent; ///< None: the world.
    double pivot[3];
    sn_interpolation interpolation;
    int32_t key_count;         ///< 0: still.
    const double *time;        ///< [key_count] in s, strictly ascending.
    const double *translation; ///< [key_count, 3]; NULL: zero.
    const double *rotation;    ///< [key_count, 3] rotation vectors in rad; NULL: zero.
    uint32_t mark;
} sn_frame_def;
/// The defaults, with the mark.
SN_API sn_frame_def sn_frame_def_default(void);

/// Kinds of rigid shape, given in the rest pose of their frame.
typedef enum sn_shape_kind {
    SN_SHAPE_PLANE = 0,   ///< point, normal: solid below
    SN_SHAPE_SPHERE = 1,  ///< point, radius
    SN_SHAPE_CAPSULE = 2, ///< point, point2, radius
    SN_SHAPE_BOX = 3,     ///< point = center, half_size along the world axes of the rest pose
    SN_SHAPE_MESH = 4     ///< closed surface
} sn_shape_kind;

/// A rigid shape. Only the fields of its kind are read.
typedef struct sn_shape_def {
    const char *name; ///< Unique among shapes; NULL: "shape <n>".
    sn_shape_kind kind;
    sn_frame_id frame;
    double point[3], point2[3];
    double normal[3]; ///< Any length > 0.
    double radius;    ///< > 0
    double half_size[3];
    const sn_mesh_data *surface;
    uint32_t mark;
} sn_shape_def;
/// The defaults, with the mark.
SN_API sn_shape_def sn_shape_def_default(void);

/// How a body starts, relative to its rest pose: x = twist(stretch(X)), v = velocity + spin x (x - center of
/// mass).
typedef struct sn_initial_def {
    double stretch[3];     ///< Factors along x, y, z about `twist_point`, each not 0. Default 1.
    double twist_point[3]; ///< Default 0.
    double twist_axis[3];  ///< Any length > 0. Default z.
    double twist_rate;     ///< rad per m along the axis. Default 0.
    double velocity[3];    ///< m/s
    double spin[3];        ///< rad/s about the center of mass
} sn_initial_def;

/// An elastic body.
typedef struct sn_body_def {
    const char *name;                 ///< Unique among bodies; NULL: "body <n>".
    const sn_mesh *mesh;              ///< Rest shape before `scale`, `rotation` and `translation`.
    int32_t material_count;           ///< >= 1
    const sn_material_def *materials; ///< [material_count]
    const int32_t *tet_material;      ///< [tets] index into materials; NULL: all 0.
    const sn_mesh_data *surface;      ///< Embedded render surface, whose texture coordinates and groups are
                                      ///< kept for results; NULL: the boundary of the tets.
    const sn_embedding *embedding;    ///< Of the surface's vertices in the mesh; NULL if surface is.
    double scale;                     ///< > 0. Default 1.
    double rotation[3];               ///< Rotation vector in rad, about the origin, after scaling.
    double translation[3];            ///< m, after rotation.
    sn_initial_def initial;
    uint32_t mark;
} sn_body_def;
/// The defaults, with the mark.
SN_API sn_body_def sn_body_def_default(void);

/// Ways to pick nodes of a body by their rest place (after scale, rotation, translation). Edges of the region
/// belong to it, with a slack of 1e-9 of the body's size. Where several nodes of a lattice have one place, on
/// both sides of a gap, regions pick the one whose side the place is on.
typedef enum sn_selection_kind {
    SN_SELECT_ALL = 0,
    SN_SELECT_BOX = 1,    ///< low, high
    SN_SELECT_SPHERE = 2, ///< point, radius
    SN_SELECT_PLANE = 3,  ///< point, normal: the side that the normal points away from, and the plane itself
    SN_SELECT_GROUP = 4,  ///< nodes of the tets of a named group; if no tet has it, of the sets by that name
    SN_SELECT_NODES = 5   ///< a list
} sn_selection_kind;

typedef struct sn_selection {
    sn_selection_kind kind;
    double low[3], high[3];
    double point[3], normal[3], radius;
    const char *group;
    int32_t node_count;
    const int32_t *nodes; ///< indices within the body
} sn_selection;

/// Pins: selected nodes are eliminated from the unknowns and move with a frame.
typedef struct sn_pin_def {
    sn_body_id body;
    sn_selection select;
    sn_frame_id frame; ///< None: they stay where they start.
    uint32_t mark;
} sn_pin_def;
/// The defaults, with the mark.
SN_API sn_pin_def sn_pin_def_default(void);

/// What an attachment ties.
typedef enum sn_attachment_kind {
    SN_ATTACH_NODES = 0, ///< Nodes within `distance` of a shape (inside counts), each to its own rest place.
    /// Points spread over the shapes' surfaces with `spacing`, where they lie inside the body and not near a
    /// joint: samples inside another of the shapes, or within two radii of a capsule or sphere on another
    /// frame, are left out.
    SN_ATTACH_SAMPLES = 1
} sn_attachment_kind;

/// Attaches a body to rigid shapes: by zero-length springs, or hard (nodes only: pinned to the shape's
/// frame).
typedef struct sn_attachment_def {
    sn_body_id body;
    sn_attachment_kind kind;
    int32_t shape_count; ///< >= 1
    const sn_shape_id *shapes;
    double distance;  ///< m, >= 0. Default 0.
    double spacing;   ///< m, > 0 for samples.
    double stiffness; ///< N/m per point, > 0; 0: ten times the local diagonal of the metric.
    bool hard;
    uint32_t mark;
} sn_attachment_def;
/// The defaults, with the mark.
SN_API sn_attachment_def sn_attachment_def_default(void);

/// How a load is shared out among the selected nodes.
typedef enum sn_load_spread {
    SN_SPREAD_EVEN = 0, ///< Equal shares.
    SN_SPREAD_AREA = 1, ///< By the area of the boundary triangles whose nodes are all selected.
    SN_SPREAD_MASS = 2  ///< By mass.
} sn_load_spread;

/// A dead load: a constant total force.
typedef struct sn_load_def {
    sn_body_id body;
    sn_selection select;
    double force[3]; ///< N
    sn_load_spread spread;
    uint32_t mark;
} sn_load_def;
/// The defaults, with the mark.
SN_API sn_load_def sn_load_def_default(void);

/// A spring between a point of a body and a point of a body or of a frame: (stiffness / 2) (length -
/// rest_length)^2. Points are rest places; in a body they are embedded in the nearest tet.
typedef struct sn_spring_def {
    sn_body_id body;
    double point[3];
    sn_body_id body2; ///< None: `point2` belongs to `frame2`.
    sn_frame_id frame2;
    double point2[3];
    double stiffness;   ///< N/m, > 0
    double rest_length; ///< m, >= 0; negative: the rest distance of the points.
    uint32_t mark;
} sn_spring_def;
/// The defaults, with the mark.
SN_API sn_spring_def sn_spring_def_default(void);

/// Contact: the surface of a body is kept out of rigid shapes, of another body or of itself by penalty forces
/// on points of the surface, its vertices and, where triangles are wider than the tets, samples between them
/// (docs/contact.md).
typedef struct sn_contact_def {
    sn_body_id body;
    int32_t shape_count; ///< >= 1, or 0 if there is another body
    const sn_shape_id *shapes;
    /// Another body, which is kept out of this one as well, or the body itself; 0: none.
    sn_body_id other_body;
    double friction; ///< Coulomb's coefficient, >= 0. Default 0.
    /// Pressure per depth in Pa/m, > 0; 0: ten times the weight of the material in the metric (one to ten
    /// times Young's modulus) over the mean edge of the body's tets, so that a pressure p goes in by at most
    /// p / (10 young) edges. Between bodies that of both in a row.
    double stiffness;
    uint32_t mark;
} sn_contact_def;
/// The defaults, with the mark.
SN_API sn_contact_def sn_contact_def_default(void);

/// Makes an empty builder.
SN_API SN_NODISCARD sn_status sn_model_builder_create(sn_context *context, sn_model_builder **out_builder);
/// Destroys a builder and sets *builder to NULL. Accepts NULL and a pointer to NULL.
SN_API void sn_model_builder_destroy(sn_model_builder **builder);

/// Uniform gravity in m/s^2. Default 0.
SN_API SN_NODISCARD sn_status sn_model_set_gravity(sn_model_builder *builder, const double gravity[3]);

/// Each adds one thing. @return SN_OK; SN_ERR_INVALID_ARGUMENT with the field, its value and what is allowed:
/// the builder is unchanged; SN_ERR_NO_MEMORY likewise. out ids and counts may be NULL.
SN_API SN_NODISCARD sn_status sn_model_add_frame(sn_model_builder *builder, const sn_frame_def *def,
                                                 sn_frame_id *out_frame);
SN_API SN_NODISCARD sn_status sn_model_add_shape(sn_model_builder *builder, const sn_shape_def *def,
                                                 sn_shape_id *out_shape);
SN_API SN_NODISCARD sn_status sn_model_add_body(sn_model_builder *builder, const sn_body_def *def,
                                                sn_body_id *out_body);
/// A selection that picks no node is an error. A node pinned twice to different frames that carry it apart is
/// an error (SN_ERR_INVALID_ARGUMENT names body, node and both frames).
SN_API SN_NODISCARD sn_status sn_model_add_pin(sn_model_builder *builder, const sn_pin_def *def,
                                               int32_t *out_node_count);
/// No point in reach is an error.
SN_API SN_NODISCARD sn_status sn_model_add_attachment(sn_model_builder *builder, const sn_attachment_def *def,
                                                      int32_t *out_point_count);
SN_API SN_NODISCARD sn_status sn_model_add_load(sn_model_builder *builder, const sn_load_def *def,
                                                int32_t *out_node_count);
SN_API SN_NODISCARD sn_status sn_model_add_spring(sn_model_builder *builder, const sn_spring_def *def);
/// A body and a shape, or two bodies, that meet in a second contact are an error.
SN_API SN_NODISCARD sn_status sn_model_add_contact(sn_model_builder *builder, const sn_contact_def *def);

/// Says where contact is expected: at the points of a body's surface that lie nearest to the selected nodes,
/// at rest. The nodes that carry them are kept: eliminated last, with a dense Schur complement among them, so
/// that contacts there cost little in large models (sinew/factor.h). Contact elsewhere acts as well, and
/// costs more. May be called several times; zones add up. Cost: memory and a sweep of the square of the
/// number of kept nodes, and its cube once per factorization: name what touches, not the whole body. Source:
/// Wang et al. 2021, who let contact act there alone.
/// @return SN_OK; SN_ERR_INVALID_ARGUMENT (no such body; a selection that picks no node): the builder is
/// unchanged.
SN_API SN_NODISCARD sn_status sn_model_add_zone(sn_model_builder *builder, sn_body_id body,
                                                const sn_selection *select, int32_t *out_node_count);

/// Builds the model from what was added; the builder may be destroyed afterwards.
/// @return SN_OK; SN_ERR_INVALID_ARGUMENT: no body.
SN_API SN_NODISCARD sn_status sn_model_build(const sn_model_builder *builder, sn_model **out_model);
/// Destroys a model and sets *model to NULL. Accepts NULL and a pointer to NULL.
SN_API void sn_model_destroy(sn_model **model);

/// Totals over all bodies.
typedef struct sn_model_info {
    int32_t body_count, node_count, tet_count, free_node_count, pinned_node_count, attachment_count,
        spring_count, shape_count;
    int32_t contact_pair_count;     ///< bodies whose points are kept out of a shape or of a body
    int32_t proxy_count;            ///< surface points watched for contact, over all bodies
    int32_t kept_node_count;        ///< free nodes that carry such points in contact zones
    double volume, mass;            ///< m^3, kg
    double low[3], high[3];         ///< bounds of the rest positions
    double edge_mean;               ///< m
    int32_t unanchored_piece_count; ///< connected pieces without pin, attachment or spring to a frame
    const char *unanchored_body;    ///< body of the first such piece; NULL if none
    int32_t unanchored_nodes;       ///< its nodes
    double poisson_max;             ///< largest Poisson's ratio in use
    double sag_estimate; ///< m: density * |gravity| * extent^2 / young of the softest body: an order of
                         ///< magnitude
    double gravity[3];
} sn_model_info;
/// Counts and measures all bodies; takes time in proportion to the model.
SN_API sn_model_info sn_model_get_info(const sn_model *model);

/// One body of a model. Pointers belong to the model.
typedef struct sn_body_info {
    const char *name;
    int32_t node_begin, node_count; ///< Nodes of the body in the model's arrays.
    int32_t tet_begin, tet_count;   ///< Its tets likewise.
    bool embedded;                  ///< The surface is an embedded one.
    int32_t surface_vertex_count, surface_triangle_count;
    const int32_t *surface_triangles; ///< [surface_triangle_count, 3] surface vertices; outward
    double volume, mass;
} sn_body_info;
/// Facts about a body by its index in the order of adding; all zero if there is none.
SN_API sn_body_info sn_model_body(const sn_model *model, int32_t body_index);

/// Texture coordinates and groups of a body's surface_triangles: those of the surface that it was given, none
/// for the boundary of its tets. Belongs to the model; NULL if there is no such body.
SN_API const sn_surface_look *sn_model_surface_look(const sn_model *model, int32_t body_index);

/// Rest positions [node_count, 3] of all bodies, in m.
SN_API const double *sn_model_rest_positions(const sn_model *model);
/// Tets [tet_count, 4] of all bodies: nodes of the model.
SN_API const int32_t *sn_model_tets(const sn_model *model);

/// Lumped mass in kg of each node [node_count].
SN_API const double *sn_model_masses(const sn_model *model);
/// Whether each node is pinned [node_count].
SN_API const bool *sn_model_pinned(const sn_model *model);

/// Shape by its index in the order of adding; NULL if there is none. Surfaces are cut into triangles, normals
/// have length 1.
SN_API const sn_shape_def *sn_model_shape(const sn_model *model, int32_t shape_index);
/// Pose of a shape at a time in s: x = R X + translation, R row-major. The identity if there is no such
/// shape.
SN_API void sn_model_shape_pose(const sn_model *model, int32_t shape_index, double time, double out_R[9],
                                double out_translation[3]);
/// A body whose points are kept out of a shape or of a body. Two bodies make two pairs, each with the points
/// of one.
typedef struct sn_contact_pair_info {
    int32_t body, shape;                  ///< indices in the order of adding; shape -1: it is a body
    int32_t other_body;                   ///< that body, which may be the same; -1: it is a shape
    int32_t proxy_count;                  ///< surface points of the body that are watched
    double friction;                      ///< Coulomb's coefficient
    double stiffness_low, stiffness_high; ///< Pa/m in use; they differ where the body's materials do
} sn_contact_pair_info;
/// Pair by its index, ordered by body, then by shape, then by the other body; all zero if there is none.
SN_API sn_contact_pair_info sn_model_contact_pair(const sn_model *model, int32_t pair_index);
/// Hash of all that steps read from the model, and of the start state: models of equal hash make the same
/// steps, and packed states may be exchanged between them.
SN_API uint64_t sn_model_hash(const sn_model *model);
/// The context that the model was made with.
SN_API sn_context *sn_model_context(const sn_model *model);

#ifdef __cplusplus
}
#endif
#endif
