/// The contacts of a step: proxies that touch rigid shapes, each with the plane that holds it.
///
/// A contact is a proxy, a shape and a tangent plane of the shape. The plane is frozen while a minimizer
/// evaluates, so that its objective stays one function, and is renewed between iterations: the point is
/// projected onto the old plane, and the place of the surface nearest to that becomes the new foot. So the
/// side on which a proxy came is remembered for as long as it touches, however thin the shape and however
/// deep the point. New contacts come from sweeps: the way of each proxy from the start of the step to the
/// iterate, seen from the shape, is followed until it meets the surface; nothing is passed in a step.
///
/// Energy of a contact with gap n.(p - foot) and stiffness c: c/2 min(0, gap)^2, and for friction the Huber
/// function of the tangential way u from its anchor, c/2 |u|^2 up to the cone |c u| = mu f and
/// mu f (|u| - mu f / (2 c)) beyond, with the normal force f of the last renewal. Anchors are places of the
/// shape and move once a step, at its end, so that what sticks does not creep. Source: docs/contact.md.
///
/// Where the other side is a body, plane and anchor are places of its surface, and move with its nodes: the
/// contact's place is the difference between the proxy and the nodes that carry the foot, so that what pushes
/// one pushes the other back. Planes are those of triangles of the deformed surface, and new contacts come
/// from ways through them (contact_moving.h).
///
/// Rejected: the true distance as the energy. Inside a thin shape its gradient flips to the far side at the
/// middle, and what is pushed in that far is pushed out there.
#ifndef SN_CONTACT_SET_H
#define SN_CONTACT_SET_H

#include "contact/contact_moving.h"
#include "contact/contact_proxy.h"
#include "contact/contact_shape.h"

/// A body whose proxies are kept out of a shape, or out of a body: another one, or itself.
typedef struct sn_contact_pair {
    int32_t body, shape; ///< shape -1: it is a body
    int32_t other;       ///< that body; -1: it is a shape
    double friction;
    double stiffness; ///< Pa/m; 0: the proxies' own
} sn_contact_pair;

/// What stays of a contact between steps. Places and directions are those of the shape's rest pose but for
/// `force`; on a body places are weights of a triangle's corners, and the normal is that in the world.
typedef struct sn_contact_record {
    int32_t pair, proxy;
    int32_t triangle, anchor_triangle; ///< of the other body's surface; -1 on shapes
    double foot[3], normal[3], anchor[3];
    double force[3]; ///< N in the world, on the body
    double depth;    ///< m
    int32_t sticking;
    int32_t ended; ///< the last step was its last: kept for its force only
} sn_contact_record;

/// Nodes of a proxy: the first of those of a contact.
enum { SN_PROXY_NODES = 4 };

/// A contact during a step. Places and directions in the world at the end of the step.
typedef struct sn_contact_point {
    sn_contact_record record;
    int32_t node_count;   ///< 4 of the proxy; on bodies up to 4 more, of the other side
    const int32_t *node;  ///< [node_count]
    const double *weight; ///< [node_count] those of the other side are negative, and all sum to 0
    double stiffness;     ///< N/m
    double friction;
    double foot[3], normal[3], anchor[3];
    double first_normal[3]; ///< when the step or the contact began; of shapes in their rest pose
    double normal_force;    ///< N, at the last renewal: the size of the friction cone
    double gap;             ///< m, at the last renewal
    bool on_body;           ///< the other side is a body
    bool in_metric;         ///< the solver's metric knows it; kept for the solver
} sn_contact_point;

/// What the contacts of a model are made of; borrowed.
typedef struct sn_contact_source {
    int32_t pair_count, body_count, shape_count;
    const double *rest;                    ///< [nodes, 3]
    const sn_contact_pair *pairs;          ///< [pair_count]
    const sn_contact_solid *const *solids; ///< [body_count] of bodies that are the other side of a pair
    const sn_proxies *const *proxies;      ///< [body_count]
    const sn_contact_shape *const *shapes; ///< [shape_count]
    const bool *pinned;                    ///< [nodes]
} sn_contact_source;

typedef struct sn_contact_set sn_contact_set;

/// Contacts that a model may have at once: four per proxy, or one per proxy and pair if that is less.
int32_t sn_contact_capacity(const sn_contact_source *source);

/// Allocates all that steps need.
SN_NODISCARD sn_status sn_contact_set_create(sn_context *ctx, const sn_contact_source *source,
                                             sn_contact_set **out_set);
void sn_contact_set_destroy(sn_contact_set **set);

/// Pose of a shape: x = R X + translation.
typedef struct sn_contact_pose {
    double R[9], translation[3];
} sn_contact_pose;

/// Begins a step: takes over the records of the last one, notes where proxies are at node positions x
/// [nodes, 3], and where shapes are now and at the end of the step, [shape_count] each.
void sn_contact_set_begin(sn_contact_set *set, int32_t record_count, const sn_contact_record *records,
                          const double *x, const sn_contact_pose *now, const sn_contact_pose *then);

/// Renews the planes, the normal forces and the list for an iterate x [nodes, 3]. Points that met a shape are
/// added; those that left it stay to the end of the step, without force: an iterate may let go for a moment
/// of what goes on to stick.
void sn_contact_set_renew(sn_contact_set *set, const double *x);

/// The same for a guess of where the step leads, which may lie deep in a shape: the forces that bound
/// friction stay those of the last step, none for new contacts.
void sn_contact_set_predict(sn_contact_set *set, const double *x);

/// Moves the friction cones towards the forces that press at x, of which `part` replaces what they were made
/// of. Returns how far off they were: the sum of the changes in what friction can hold over that of what
/// presses, infinite where nothing does.
double sn_contact_set_renew_cones(sn_contact_set *set, const double *x, double part);

/// Bounds the friction cones that renewals of this step make: those of a body, all together, to `factor`
/// times what they are now. A body without any stays free.
void sn_contact_set_limit_cones(sn_contact_set *set, double factor);

/// Whether any pair of the set is one of bodies.
bool sn_contact_set_has_bodies(const sn_contact_set *set);

/// Contacts of the set, by pair, then proxy.
int32_t sn_contact_set_count(const sn_contact_set *set);
sn_contact_point *sn_contact_set_points(sn_contact_set *set);

/// Points that touched and found no room, in the last renewal.
int32_t sn_contact_set_dropped(const sn_contact_set *set);

/// Place of a contact's proxy for node positions x [nodes, 3]; between bodies the way to it from what carries
/// the foot.
static inline void sn_contact_place(const sn_contact_point *contact, const double *x, double out[3]) {
    sn_weighted_place(contact->node, contact->weight, x, out);
    for (int32_t a = 4; a < contact->node_count; a++)
        for (size_t k = 0; k < 3; k++)
            out[k] += contact->weight[a] * x[3 * (size_t)contact->node[a] + k];
}

/// Energy of a contact for its proxy at p, the force on the body (not NULL), and, unless NULL, the Hessian of
/// the energy (row-major, positive semidefinite).
double sn_contact_energy(const sn_contact_point *contact, const double p[3], double out_force[3],
                         double *out_hessian);

/// Way of a contact's proxy at p from its anchor along the surface. Returns its length.
double sn_contact_slip(const sn_contact_point *contact, const double p[3], double out_way[3]);

/// Whether a contact with its proxy at p is held along the surface, in the friction cone.
bool sn_contact_sticks(const sn_contact_point *contact, const double p[3]);

/// Sum of the energies in J at x. Adds `factor` times the gradient to gradient [nodes, 3], but not at pinned
/// nodes; NULL: energy only. *out_rounding [J]: differences of the sum below this mean nothing.
double sn_contact_set_evaluate(const sn_contact_set *set, const double *x, double factor, double *gradient,
                               double *out_rounding);

/// What a step comes to.
typedef struct sn_contact_outcome {
    int32_t active;
    double max_depth;
} sn_contact_outcome;

/// Ends a step at x: moves the anchors of what slips and writes the records that go on, or had a force in
/// this step, by pair, then proxy, to records [sn_contact_capacity()]; returns their number.
int32_t sn_contact_set_end(sn_contact_set *set, const double *x, sn_contact_record *records,
                           sn_contact_outcome *out_outcome);

#endif
