// Gmsh MSH 2.2 and 4.1, ascii and binary. Guards: no file makes the reader crash, hang, leak, or take memory
// for entries that a section claims and does not hold; a refused one leaves a message and no output; of one
// that was read all indices are in range, and it can be written and read back equal, with the names of its
// physical groups.
#include "fuzz/fuzz_mesh.h"
#include "fuzz/fuzz_support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_mesh("fuzz.msh", data, size);
    return 0;
}
