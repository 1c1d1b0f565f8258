# sinew_module(NAME DEPENDENCY...): an object library from src/NAME/*.c that may include the modules named. Its unit tests,
# tests/unit/NAME/*.c, link it and what its dependencies need, so that a call outside the table shows at link time.
set(SINEW_MODULES "")
macro(sinew_module name)
  list(APPEND SINEW_MODULES ${name})
  set(SINEW_MODULE_${name}_CLOSURE ${name})
  foreach(dependency ${ARGN})
    list(APPEND SINEW_MODULE_${name}_CLOSURE ${SINEW_MODULE_${dependency}_CLOSURE})
  endforeach()
  list(REMOVE_DUPLICATES SINEW_MODULE_${name}_CLOSURE)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.c)
  if(sources)
    add_library(sinew_${name} OBJECT ${sources})
    target_include_directories(sinew_${name} PRIVATE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src)
    target_compile_definitions(sinew_${name} PRIVATE SINEW_VERSION="${PROJECT_VERSION}")
    target_link_libraries(sinew_${name} PRIVATE sinew_flags sinew_dependencies)
  endif()
endmacro()

# Object files of the modules named, for one link.
function(sinew_module_objects out)
  set(objects "")
  foreach(name ${ARGN})
    if(TARGET sinew_${name})
      list(APPEND objects $<TARGET_OBJECTS:sinew_${name}>)
    endif()
  endforeach()
  set(${out} ${objects} PARENT_SCOPE)
endfunction()

# A linker's list of what the shared library exports: the functions that public headers mark SN_API. Hidden visibility
# does not reach what the compiler makes itself: OpenMP's locks, functions compiled for several instruction sets.
function(sinew_exports out)
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/include/sinew/*.h)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
  set(names "")
  foreach(header ${headers})
    file(READ ${header} text)
    string(REGEX MATCHALL "SN_API[^;({]*sn_[a-zA-Z0-9_]+\\(" declarations "${text}")
    foreach(declaration ${declarations})
      string(REGEX MATCH "sn_[a-zA-Z0-9_]+\\($" name "${declaration}")
      string(REPLACE "(" ";" name "${name}")
      string(APPEND names "  ${name}\n")
    endforeach()
  endforeach()
  set(${out} ${CMAKE_CURRENT_BINARY_DIR}/exports.map PARENT_SCOPE)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/exports.map CONTENT "{ global:\n${names}  local: *;\n};\n" @ONLY)
endfunction()

# The shared and the static library, from the same objects.
function(sinew_library)
  sinew_module_objects(objects ${SINEW_MODULES})
  foreach(kind SHARED STATIC)
    string(TOLOWER ${kind} suffix)
    add_library(sinew_${suffix} ${kind} ${objects})
    set_target_properties(sinew_${suffix} PROPERTIES OUTPUT_NAME sinew VERSION ${PROJECT_VERSION}
                                                     SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE C)
    # Wrapped, so that the installed package does not ask for targets of this build (cmake/install.cmake).
    target_include_directories(sinew_${suffix} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
                                                      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(sinew_${suffix} PRIVATE $<BUILD_INTERFACE:sinew_flags>
                                                  $<BUILD_INTERFACE:sinew_dependencies>)
  endforeach()
  sinew_exports(exports)
  target_link_options(sinew_shared PRIVATE -Wl,--version-script=${exports})
  set_target_properties(sinew_shared PROPERTIES EXPORT_NAME sinew LINK_DEPENDS ${exports})
  add_library(sinew::sinew ALIAS sinew_shared)
  add_library(sinew::sinew_static ALIAS sinew_static)
endfunction()
