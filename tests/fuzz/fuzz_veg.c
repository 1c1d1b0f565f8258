// Vega .veg, with a zero byte in front of the file that it includes. Guards: no file makes the reader crash,
// hang, leak, or take memory for entries that a list claims and does not hold, or hang in files that include
// themselves; a refused one leaves a message and no output; of one that was read all indices are in range,
// and it can be written and read back equal in other formats.
#include "fuzz/fuzz_mesh.h"
#include "fuzz/fuzz_support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_mesh("fuzz.veg", data, size);
    return 0;
}
