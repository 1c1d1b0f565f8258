/// A body as other bodies' points, or its own, see it at rest: its surface with the triangles around each
/// vertex, which nodes carry a place of it, and how far two places are along the surface.
///
/// The surface is the body's own: triangles have the same numbers, but are turned outward, and of several
/// vertices at one place they name the first.
#ifndef SN_CONTACT_SOLID_H
#define SN_CONTACT_SOLID_H

#include "geom/geom_bvh.h"
#include "geom/geom_mesh_distance.h"
#include "mesh/mesh_copies.h"

/// A body at rest. Everything is borrowed.
typedef struct sn_solid_source {
    const double *rest; ///< [nodes, 3] of the model
    int32_t tet_begin, tet_count;
    const int32_t *tets;         ///< [all tets, 4] nodes of the model
    const sn_tet_copies *copies; ///< of these tets
    int32_t vertex_count;
    const int32_t *vertex_node;  ///< [vertex_count, 4]
    const double *vertex_weight; ///< [vertex_count, 4]
    int32_t triangle_count;
    const int32_t *triangles; ///< [triangle_count, 3]
    double edge;              ///< m: mean edge of the tets
    bool embedded;            ///< Otherwise every vertex is a node.
} sn_solid_source;

typedef struct sn_contact_solid {
    sn_context *ctx;
    sn_solid_source source;
    double *place;              ///< [vertex_count, 3] at rest
    sn_mesh_distance *distance; ///< of the surface
    const int32_t *triangle;    ///< [triangle_count, 3] turned outward
    int32_t *ring_begin;        ///< [vertex_count + 1]
    int32_t *ring;              ///< triangles around each vertex
    double *tet_box;            ///< [tet_count, 6] at rest
    sn_bvh *tets;               ///< at rest; NULL unless embedded
} sn_contact_solid;

/// A place of a surface: weights of a triangle's corners, their sum is 1.
typedef struct sn_surface_place {
    int32_t triangle;
    double weight[3];
} sn_surface_place;

SN_NODISCARD sn_status sn_contact_solid_create(sn_context *ctx, const sn_solid_source *source,
                                               sn_contact_solid **out_solid);
void sn_contact_solid_destroy(sn_contact_solid **solid);

/// Place in space for vertex positions [vertex_count, 3].
void sn_solid_place(const sn_contact_solid *solid, const sn_surface_place *place, const double *vertex,
                    double out[3]);

/// Nodes that carry a place of the surface: up to four, weights are positive and their sum is 1. Returns
/// their number.
int32_t sn_solid_carriers(const sn_contact_solid *solid, const sn_surface_place *place, int32_t node[4],
                          double weight[4]);

/// Whether a way over the surface from a place X [m, at rest] of the triangle `home` to the triangle `target`
/// stays within `radius` of X.
bool sn_solid_is_near(const sn_contact_solid *solid, int32_t home, const double X[3], double radius,
                      int32_t target);

#endif
