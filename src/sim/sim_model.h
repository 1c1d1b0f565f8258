/// Inside of sn_model: everything that does not change while stepping, concatenated over bodies.
#ifndef SN_SIM_MODEL_H
#define SN_SIM_MODEL_H

#include "base/base_context.h"
#include "contact/contact_set.h"
#include "element/element_spring.h"
#include "material/material_model.h"
#include "mesh/mesh_copies.h"
#include "sinew/model.h"

enum { SN_FRAME_WORLD = -1, SN_NODE_FREE = -2 };

typedef struct sn_model_frame {
    char *name;
    int32_t parent; ///< index of an earlier frame, or SN_FRAME_WORLD
    double pivot[3];
    sn_interpolation interpolation;
    int32_t key_count;
    double *time, *translation, *rotation; ///< [key_count], [key_count, 3] twice
} sn_model_frame;

typedef struct sn_model_body_data {
    char *name;
    int32_t node_begin, node_count, tet_begin, tet_count;
    int32_t material_begin; ///< its first material in sn_model.materials
    bool embedded;
    int32_t surface_vertex_count, surface_triangle_count;
    int32_t *surface_triangles;
    /// Embedded: 4 model nodes and weights per surface vertex; else one node (others weight 0).
    int32_t *surface_node;  ///< [surface_vertex_count, 4]
    double *surface_weight; ///< [surface_vertex_count, 4]
    sn_surface_look look;   ///< of surface_triangles
    double volume, mass;
    sn_proxies proxies;   ///< none for bodies without contact
    sn_tet_copies copies; ///< tets are numbered from tet_begin
} sn_model_body_data;

/// Where a spring's target sits: rest point carried by a frame.
typedef struct sn_spring_target {
    int32_t frame; ///< SN_FRAME_WORLD: still
    int32_t shape; ///< shape it belongs to, for reactions; -1: none
    double point[3];
} sn_spring_target;

struct sn_model {
    sn_context *context;
    int32_t body_count, node_count, tet_count, material_count, spring_count, frame_count, shape_count,
        piece_count, pair_count;
    sn_model_body_data *bodies;
    double *rest;    ///< [node_count, 3], after scale, rotation, translation
    double *start_x; ///< [node_count, 3] initial positions, pinned nodes at their frames' places at time 0
    double *start_v; ///< [node_count, 3], 0 for pinned nodes
    double *mass;    ///< [node_count] kg
    double *node_volume;   ///< [node_count] m^3, a quarter of the volumes of the tets at a node
    double *load;          ///< [node_count, 3] N, dead loads without gravity
    bool *pinned;          ///< [node_count]
    int32_t *pin_frame;    ///< [node_count] frame that carries the node, SN_FRAME_WORLD (still), SN_NODE_FREE
    int32_t *tets;         ///< [tet_count, 4]
    double *tet_volume;    ///< [tet_count] of their solid parts
    double *tet_fraction;  ///< [tet_count] which part that is
    double *tet_shape;     ///< [tet_count, 9] inverse of the rest edge matrix Dm, row-major
    int32_t *tet_material; ///< [tet_count] index into materials
    sn_material_def *materials;
    sn_spring *springs;        ///< [spring_count] attachments and springs
    sn_spring_target *targets; ///< [spring_count]
    sn_model_frame *frames;
    sn_shape_def *shapes;             ///< names and surfaces owned by the model
    int32_t *shape_frame;             ///< [shape_count]
    sn_contact_pair *pairs;           ///< [pair_count] by body, then shape
    sn_contact_shape **contact_shape; ///< [shape_count] NULL where no pair needs it
    sn_contact_solid **contact_solid; ///< [body_count] NULL where no pair needs it
    const sn_proxies **body_proxies;  ///< [body_count] those of the bodies, as contact wants them
    sn_contact_source contact;        ///< all of it; no pairs: no contact
    int32_t kept_count;
    int32_t *kept;        ///< [kept_count] free nodes of points in contact zones, ascending
    int32_t *node_piece;  ///< [node_count] connected piece (tets and springs between bodies connect)
    bool *piece_anchored; ///< [piece_count] holds a pin, or a spring to a target
    double gravity[3];
    double edge_mean; ///< m, over the tets' edges
};

/// Longest side in m of the box around a body at rest.
double sn_model_body_extent(const sn_model *model, int32_t body_index);

/// Mean length in m of the edges of some tets, each counted once per tet.
double sn_model_mean_edge(const sn_model *model, int32_t tet_begin, int32_t tet_count);

/// Pose of a frame at time t: x = R X + translation. frame may be SN_FRAME_WORLD.
void sn_frame_pose(const sn_model *model, int32_t frame, double time, double R[9], double translation[3]);

/// Poses of all frames at time t, parents first: R [frame_count, 9], translation [frame_count, 3]. For
/// stepping.
void sn_frame_poses(const sn_model *model, double time, double *R, double *translation);

#endif
