/// Inside of the model builder: everything that was added, checked and copied, body by body.
///
/// Every sn_model_add_... works on copies or scratch first and changes the builder in its last lines, which
/// cannot fail; so a failed call leaves the builder as it was. Pins, loads and springs are resolved to nodes
/// when they are added, since their messages need the names; sn_model_build() then only concatenates.
#ifndef SN_SIM_BUILDER_H
#define SN_SIM_BUILDER_H

#include "base/base_field.h"
#include "sim/sim_frame.h"
#include "sim/sim_model.h"

/// Selections reach this part of the body's size beyond their edges; so far apart may two frames carry a
/// pinned node.
#define SN_PLACE_SLACK 1e-9

/// A body of the builder. Node and tet numbers are its own, from 0.
typedef struct sn_builder_body {
    char *name;
    sn_mesh *mesh; ///< rest pose, after scale, rotation, translation
    int32_t node_begin;
    int32_t material_count;
    sn_material_def *materials;
    int32_t *tet_material; ///< [tets]
    double *tet_volume;    ///< [tets] of their solid parts
    double *tet_fraction;  ///< [tets] which part that is
    double *tet_shape;     ///< [tets, 9]
    bool *stray; ///< [nodes] stands where another node belongs: what is picked by place leaves it out
    double *start_x, *start_v, *load; ///< [nodes, 3]
    double *mass, *node_volume;       ///< [nodes]
    int32_t *pin_frame;               ///< [nodes]
    bool *zone;                       ///< [nodes] in a contact zone; NULL: none of them
    double *stiffness; ///< [nodes] diagonal of the metric; NULL until an attachment asks for it
    bool embedded;
    int32_t surface_vertex_count, surface_triangle_count;
    int32_t *surface_triangles, *surface_node;
    double *surface_weight;
    sn_surface_look look;         ///< of surface_triangles
    double low[3], high[3], size; ///< bounds of the rest pose and their diagonal
    double volume;
} sn_builder_body;

struct sn_model_builder {
    sn_context *context;
    uint32_t generation;
    double gravity[3];
    int32_t frame_count, shape_count, body_count, spring_count, pair_count;
    sn_model_frame *frames;
    sn_shape_def *shapes; ///< names and surfaces are the builder's
    int32_t *shape_frame;
    sn_builder_body *bodies;
    sn_spring *springs; ///< nodes as in the model
    sn_spring_target *targets;
    sn_contact_pair *pairs;
    size_t frame_capacity, shape_capacity, shape_frame_capacity, body_capacity, spring_capacity,
        target_capacity, pair_capacity;
};

/// Checks a definition against its field table; `def` NULL is an error too.
SN_NODISCARD sn_status sn_check_def(sn_context *ctx, const sn_field_table *table, const void *def);
/// Checks what no table describes: arrays and points. The message names the field and the value.
SN_NODISCARD sn_status sn_check_finite(sn_context *ctx, const char *field, size_t count,
                                       const double *values);

/// Index of what a handle stands for; refuses handles of other builders. A frame may be none.
SN_NODISCARD sn_status sn_builder_find_body(const sn_model_builder *builder, sn_body_id id,
                                            int32_t *out_index);
SN_NODISCARD sn_status sn_builder_find_shape(const sn_model_builder *builder, sn_shape_id id,
                                             int32_t *out_index);
SN_NODISCARD sn_status sn_builder_find_frame(const sn_model_builder *builder, sn_frame_id id,
                                             int32_t *out_index);

/// Copies a name, or makes "<kind> <number>".
SN_NODISCARD sn_status sn_builder_name(sn_context *ctx, const char *name, const char *kind, int32_t number,
                                       char **out_name);

void sn_builder_body_clear(sn_context *ctx, sn_builder_body *body);

/// Pins of one body about to be added: a copy of its pins that is put in place if all nodes could be claimed.
typedef struct sn_pin_claim {
    const sn_model_builder *builder;
    const sn_builder_body *body;
    int32_t *pin_frame; ///< [nodes]
    sn_frame_pair pair;
} sn_pin_claim;

SN_NODISCARD sn_status sn_pin_claim_begin(const sn_model_builder *builder, const sn_builder_body *body,
                                          sn_pin_claim *out_claim);
/// Pins a node to a frame. A node that is pinned already keeps its frame; SN_ERR_INVALID_ARGUMENT if the two
/// frames carry it apart.
SN_NODISCARD sn_status sn_pin_claim_node(sn_pin_claim *claim, int32_t node, int32_t frame);
/// Puts the claim in place.
void sn_pin_claim_commit(const sn_pin_claim *claim, sn_builder_body *body);
void sn_pin_claim_end(sn_pin_claim *claim);

/// Appends springs with their targets: all or none.
SN_NODISCARD sn_status sn_builder_add_springs(sn_model_builder *builder, int32_t count,
                                              const sn_spring *springs, const sn_spring_target *targets);

/// End of a spring at a place in a tet of a body: at one node if the place is that node's.
void sn_spring_end_embed(const sn_builder_body *body, int32_t tet, const double weight[4],
                         sn_spring_end *out_end);

#endif
