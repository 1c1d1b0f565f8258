/// The surface of a body as it moves in a step, and what meets it.
///
/// Points and triangles go straight from the start of the step to the iterate. Where a point comes to lie in
/// the plane of a triangle is a root of a cubic, so nothing is too thin or too fast to be met. Only what
/// comes through a triangle from its outer side meets it. Motion that all share is taken out of the ways
/// first, or the boxes of what flies would overlap everything.
///
/// What is inside already is found through the rest pose (Wang 2021; docs/contact.md): a tet that holds the
/// point tells where in the body at rest that is, and the nearest place of the surface there is where it goes
/// out.
#ifndef SN_CONTACT_MOVING_H
#define SN_CONTACT_MOVING_H

#include "contact/contact_proxy.h"
#include "contact/contact_solid.h"

typedef struct sn_moving_surface {
    sn_context *ctx;
    const sn_contact_solid *solid;
    double *start, *now; ///< [vertex_count, 3]
    double *normal;      ///< [triangle_count, 3] now, of length 1; 0 where a triangle is flat
    double drift[3];     ///< m: mean way of the vertices
    double *box;         ///< [triangle_count, 6] around the ways, the drift taken out
    sn_bvh *triangles;
    double *tet_box; ///< [tet_count, 6] at the start of the step
    sn_bvh *tets;
    bool has_tets; ///< they are up to date
} sn_moving_surface;

SN_NODISCARD sn_status sn_moving_surface_create(sn_context *ctx, const sn_contact_solid *solid,
                                                sn_moving_surface **out_surface);
void sn_moving_surface_destroy(sn_moving_surface **surface);

/// Begins a step at node positions x [nodes, 3].
void sn_moving_surface_begin(sn_moving_surface *surface, const double *x);
/// Takes over an iterate. No step has begun before: the start counts.
void sn_moving_surface_move(sn_moving_surface *surface, const double *x);

/// A point of the surface's own body: not an obstacle to itself and to what lies around it.
typedef struct sn_surface_point {
    int32_t vertex;   ///< of the surface, -1: none
    int32_t triangle; ///< that it lies on
    double X[3];      ///< m, at rest
} sn_surface_point;

/// Where a point meets the surface on its way `from` the start of the step `to` now: the first triangle that
/// it comes through, or else the nearest that it is in front of by less than `reach` [m]. `own` is NULL for
/// points of other bodies. Takes no memory; any number of threads may ask.
bool sn_moving_surface_meet(const sn_moving_surface *surface, const double from[3], const double to[3],
                            double reach, const sn_surface_point *own, sn_surface_place *out_place);

/// Where a point that is inside at node positions x [nodes, 3], those of the start of the step, goes out;
/// `carrier` [4] are its own nodes. Needs sn_moving_surface_find_tets().
bool sn_moving_surface_exit(const sn_moving_surface *surface, const double *x, const double point[3],
                            const int32_t *carrier, const sn_surface_point *own, sn_surface_place *out_place);
/// Brings the tets to node positions x.
void sn_moving_surface_find_tets(sn_moving_surface *surface, const double *x);

/// Goes over the surface as it is now from `place` to the place nearest to `point`, as far as that comes
/// nearer.
void sn_moving_surface_walk(const sn_moving_surface *surface, const double point[3], sn_surface_place *place);

/// Of the triangles that share a place, takes the one that holds a point there: one that the point is in
/// front of, else that whose normal is most like `normal`.
void sn_moving_surface_choose(const sn_moving_surface *surface, const double point[3], const double normal[3],
                              sn_surface_place *place);

#endif
