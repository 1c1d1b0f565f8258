// OFF. Guards: no file makes the reader crash, hang, leak, or take memory for vertices or faces that the file
// claims and does not hold; a refused one leaves a message and no output; of one that was read all indices
// are in range, and it can be written and read back equal, polygons included.
#include "fuzz/fuzz_mesh.h"
#include "fuzz/fuzz_support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_mesh("fuzz.off", data, size);
    return 0;
}
