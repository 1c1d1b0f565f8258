/// What the targets of the mesh formats share.
#ifndef SN_FUZZ_MESH_H
#define SN_FUZZ_MESH_H

#include <stddef.h>
#include <stdint.h>

/// Reads an input as the mesh file `name` and holds it against the promises of meshes: all indices in range,
/// whatever examines meshes does so without a crash, and each format that can hold the mesh gives it back
/// equal when it is written and read again.
void fuzz_mesh(const char *name, const uint8_t *data, size_t size);

#endif
