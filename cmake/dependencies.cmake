# What Sinew links; everything comes from the distribution's packages (script/bootstrap). Installed with the CMake
# package, whose static library needs the same.
find_package(OpenMP REQUIRED COMPONENTS C)
find_package(PkgConfig REQUIRED)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(PNG REQUIRED IMPORTED_TARGET libpng)
pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)

find_package(ZLIB REQUIRED)

find_path(METIS_INCLUDE_DIR metis.h REQUIRED)
find_library(METIS_LIBRARY metis REQUIRED)
find_library(LAPACKE_LIBRARY lapacke REQUIRED)

if(NOT TARGET sinew_dependencies)
  add_library(sinew_dependencies INTERFACE)
  target_include_directories(sinew_dependencies SYSTEM INTERFACE ${METIS_INCLUDE_DIR})
  target_link_libraries(sinew_dependencies INTERFACE OpenMP::OpenMP_C PkgConfig::YAML PkgConfig::PNG ${LAPACKE_LIBRARY}
                                                     PkgConfig::OPENBLAS ${METIS_LIBRARY} ZLIB::ZLIB m)
endif()

# The same for users of pkg-config (sinew.pc.in). OpenBLAS is named as a library, because its own file asks for the
# Fortran compiler's, which its shared library finds by itself.
set(SINEW_PC_REQUIRES "yaml-0.1 libpng zlib")
set(SINEW_PC_LIBRARIES "-llapacke -lopenblas -lmetis ${OpenMP_C_FLAGS} -lm")
