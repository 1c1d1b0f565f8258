# Each target, fuzz_<target>.c, is built with a driver that runs the inputs of corpus/<target>: the everyday tests
# fuzz_replay_<target>. The tests fuzz_<target>, label fuzz, look for new inputs: they build the libFuzzer programs with
# clang in a folder of their own, whatever this build is made with, and run each for SINEW_FUZZ_SECONDS (an environment
# variable, 60). An input that breaks a promise belongs into the corpus, made small, together with its fix.
option(SINEW_FUZZ "Build the libFuzzer programs, with clang (preset fuzz)" OFF)

set(fuzz_folder ${CMAKE_CURRENT_LIST_DIR})
set(fuzz_targets obj medit msh stl ply off vtk vtu tetgen veg inp tgf scene checkpoint results)
add_library(fuzz_support OBJECT ${fuzz_folder}/fuzz_support.c ${fuzz_folder}/fuzz_mesh.c)
set(fuzz_includes ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
target_include_directories(fuzz_support PRIVATE ${fuzz_includes})
target_link_libraries(fuzz_support PRIVATE sinew_flags sinew_dependencies)

function(sinew_fuzz_program name)
  add_executable(${name} ${ARGN} $<TARGET_OBJECTS:fuzz_support>)
  target_include_directories(${name} PRIVATE ${fuzz_includes})
  target_link_libraries(${name} PRIVATE sinew_static sinew_flags sinew_dependencies)
endfunction()

if(SINEW_FUZZ)
  add_custom_target(fuzz_programs)
endif()
foreach(target ${fuzz_targets})
  set(source ${fuzz_folder}/fuzz_${target}.c)
  if(SINEW_FUZZ)
    sinew_fuzz_program(fuzz_${target} ${source})
    target_link_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzz_programs fuzz_${target})
  endif()
  sinew_fuzz_program(fuzz_replay_${target} ${source} ${fuzz_folder}/fuzz_replay.c)
  add_test(NAME fuzz_replay_${target} COMMAND fuzz_replay_${target} ${fuzz_folder}/corpus/${target})
  set_tests_properties(fuzz_replay_${target} PROPERTIES LABELS fuzz_replay TIMEOUT 900)
endforeach()

# One build before all runs.
add_test(NAME fuzz_build COMMAND ${fuzz_folder}/fuzz_run.sh ${CMAKE_BINARY_DIR}/fuzz)
set_tests_properties(fuzz_build PROPERTIES FIXTURES_SETUP fuzz_programs)
set(fuzz_tests fuzz_build)
foreach(target ${fuzz_targets})
  add_test(NAME fuzz_${target} COMMAND ${fuzz_folder}/fuzz_run.sh ${CMAKE_BINARY_DIR}/fuzz ${target})
  set_tests_properties(fuzz_${target} PROPERTIES FIXTURES_REQUIRED fuzz_programs)
  list(APPEND fuzz_tests fuzz_${target})
endforeach()
set_tests_properties(${fuzz_tests} PROPERTIES LABELS fuzz TIMEOUT 7200 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
if(NOT SINEW_FORBID_SKIP)
  set_tests_properties(${fuzz_tests} PROPERTIES SKIP_RETURN_CODE 77)
endif()
