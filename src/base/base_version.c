#include "sinew/version.h"

const char *sn_version(void) {
    return SINEW_VERSION;
}

const char *sn_version_licenses(void) {
    return "Sinew " SINEW_VERSION ": Apache-2.0\n"
           "METIS 5.1: Apache-2.0\n"
           "OpenBLAS: BSD-3-Clause\n"
           "LAPACKE: BSD-3-Clause\n"
           "libyaml: MIT\n"
           "zlib: Zlib\n"
           "libpng: PNG Reference Library License version 2\n"
           "OpenMP run-time: GPL-3.0 with the GCC Runtime Library Exception (GCC), or Apache-2.0 with the "
           "LLVM exception (clang)\n";
}
