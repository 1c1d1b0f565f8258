# CHOLMOD, oracle of tests and peer of benchmarks: the target sinew_cholmod, if the package is there. Its supernodal
# part is under the GPL: nothing that is installed may link it.
if(NOT TARGET sinew_cholmod)
  find_path(CHOLMOD_INCLUDE_DIR cholmod.h PATH_SUFFIXES suitesparse)
  find_library(CHOLMOD_LIBRARY cholmod)
  if(CHOLMOD_INCLUDE_DIR AND CHOLMOD_LIBRARY)
    add_library(sinew_cholmod INTERFACE)
    target_include_directories(sinew_cholmod SYSTEM INTERFACE ${CHOLMOD_INCLUDE_DIR})
    target_link_libraries(sinew_cholmod INTERFACE ${CHOLMOD_LIBRARY})
  endif()
endif()

# MUMPS, peer of benchmarks where it is installed: the target sinew_mumps, its sequential library.
if(NOT TARGET sinew_mumps)
  find_path(MUMPS_INCLUDE_DIR dmumps_c.h)
  find_library(MUMPS_LIBRARY dmumps_seq)
  if(MUMPS_INCLUDE_DIR AND MUMPS_LIBRARY)
    add_library(sinew_mumps INTERFACE)
    target_include_directories(sinew_mumps SYSTEM INTERFACE ${MUMPS_INCLUDE_DIR})
    target_link_libraries(sinew_mumps INTERFACE ${MUMPS_LIBRARY})
  endif()
endif()
