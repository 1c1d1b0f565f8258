/// The state: what changes from step to step.
#ifndef SINEW_STATE_H
#define SINEW_STATE_H

#include "sinew/base.h"
#include "sinew/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Positions x [node_count, 3] in m, velocities v [node_count, 3] in m/s, time in s. Belongs to one model.
typedef struct sn_state sn_state;

/// Makes the start state: the bodies' initial positions and velocities at time 0, pinned nodes at their
/// frames' places.
SN_API SN_NODISCARD sn_status sn_state_create(const sn_model *model, sn_state **out_state);
/// Destroys a state and sets *state to NULL. Accepts NULL and a pointer to NULL.
SN_API void sn_state_destroy(sn_state **state);

/// Copies everything; both states must belong to the same model.
SN_API SN_NODISCARD sn_status sn_state_copy(sn_state *to, const sn_state *from);

/// Positions x [node_count, 3] in m; valid as long as the state, and changed by steps.
SN_API const double *sn_state_positions(const sn_state *state);
/// Velocities v [node_count, 3] in m/s, likewise.
SN_API const double *sn_state_velocities(const sn_state *state);
/// Time in s.
SN_API double sn_state_time(const sn_state *state);
/// The model that the state belongs to.
SN_API const sn_model *sn_state_model(const sn_state *state);

/// Replaces x [node_count, 3] in m. At the next step pinned nodes are where their frames say, whatever x was.
/// Contacts are forgotten: on which side of a shape a point lies is found anew, and friction starts afresh.
/// @return SN_OK; SN_ERR_NON_FINITE, SN_ERR_INVALID_ARGUMENT (NULL): state unchanged.
SN_API SN_NODISCARD sn_status sn_state_set_positions(sn_state *state, const double *x);
/// Replaces v [node_count, 3] in m/s. @return as sn_state_set_positions().
SN_API SN_NODISCARD sn_status sn_state_set_velocities(sn_state *state, const double *v);
/// Replaces the time in s. @return as sn_state_set_positions().
SN_API SN_NODISCARD sn_status sn_state_set_time(sn_state *state, double time);

/// Hash of all that the next step reads: equal states have equal hashes.
SN_API uint64_t sn_state_hash(const sn_state *state);

/// Size in bytes of what sn_state_pack() writes for this state.
SN_API size_t sn_state_packed_size(const sn_state *state);
/// Packs all that the next step reads into out [sn_state_packed_size()]: same bytes for equal states. In the
/// machine's byte order.
SN_API void sn_state_pack(const sn_state *state, void *out);
/// Restores a packed state of the same model. @return SN_OK; SN_ERR_INVALID_ARGUMENT: not a packed state of
/// this model, NULL; SN_ERR_NON_FINITE: a number in it is not finite. State unchanged on error.
SN_API SN_NODISCARD sn_status sn_state_unpack(sn_state *state, const void *bytes, size_t size);

/// Quantities at nodes and surface vertices.
typedef enum sn_quantity {
    SN_QUANTITY_DISPLACEMENT = 0, ///< |x - X| in m
    SN_QUANTITY_STRAIN = 1 ///< largest |principal stretch - 1|; volume-weighted mean over the tets at a node
} sn_quantity;

/// A quantity at every node: out [node_count]. Uses scratch memory of the state: one caller at a time.
SN_API void sn_state_quantity(const sn_state *state, sn_quantity quantity, double *out);
/// Positions of a body's surface vertices: out [surface_vertex_count, 3] in m; untouched if there is no such
/// body.
SN_API void sn_state_surface_positions(const sn_state *state, int32_t body_index, double *out);
/// A node quantity carried to the surface vertices: from `node_values` [node_count] of the model to out
/// [surface_vertex_count]; untouched if there is no such body.
SN_API void sn_state_surface_values(const sn_state *state, int32_t body_index, const double *node_values,
                                    double *out);

/// det F of the worst tet, and the number of tets with det F <= 0. One caller at a time, as
/// sn_state_quantity().
SN_API void sn_state_inversion(const sn_state *state, double *out_min_det, int32_t *out_inverted);

/// Sum of m v [kg m/s], of x cross m v about the origin [kg m^2/s], and of m v.v/2 [J].
SN_API void sn_state_momentum(const sn_state *state, double out_linear[3], double out_angular[3],
                              double *out_kinetic);

/// A point of a body's surface that touches a shape or a body, as the last step left it.
typedef struct sn_contact {
    int32_t body, shape; ///< indices in the order of adding; shape -1: it is a body
    int32_t vertex;      ///< surface vertex of the body; -1: a sample between vertices
    double place[3];     ///< m, of the point
    double normal[3];    ///< of the other side where it is touched, out of that
    double force[3];     ///< N, of the other side on the body: normal part and friction
    double depth;        ///< m, how far the point is inside; below 0: within reach
    bool sticking;       ///< friction holds the point
    int32_t other_body;  ///< body that is touched, which may be the same; -1: it is a shape
    /// Surface vertices of the other body between which the point touches, and their shares, whose sum is 1:
    /// they feel the opposite force. -1 and 0 for shapes.
    int32_t other_vertex[3];
    double other_weight[3];
} sn_contact;

/// Number of contacts, ordered by pair (sn_model_contact_pair()), then by point; 0 for NULL.
SN_API int32_t sn_state_contact_count(const sn_state *state);
/// One of them. @return SN_OK; SN_ERR_INVALID_ARGUMENT: no such contact, NULL.
SN_API SN_NODISCARD sn_status sn_state_contact(const sn_state *state, int32_t index, sn_contact *out_contact);

/// What the bodies do to one shape by contact.
typedef struct sn_contact_sum {
    int32_t active;   ///< points with a force
    double force[3];  ///< N, of the bodies on the shape
    double moment[3]; ///< N m, about the place to which the shape's frame has carried the origin
    double max_depth; ///< m, 0 if nothing touches
} sn_contact_sum;
/// Sums the contacts of a shape. @return SN_OK; SN_ERR_INVALID_ARGUMENT: no such shape, NULL.
SN_API SN_NODISCARD sn_status sn_state_contact_sum(const sn_state *state, int32_t shape_index,
                                                   sn_contact_sum *out_sum);

#ifdef __cplusplus
}
#endif
#endif
