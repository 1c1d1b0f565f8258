# cmake --install: headers, both libraries, the program (cli/CMakeLists.txt), CMake package, pkg-config file, texts.
# The static library's own needs are found by the installed copy of dependencies.cmake, so that they stand in one place.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/sinew)

install(DIRECTORY include/sinew DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
foreach(kind shared static)
  install(TARGETS sinew_${kind} EXPORT sinew_${kind} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
                                                     ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT sinew_${kind} NAMESPACE sinew:: FILE sinew_${kind}.cmake DESTINATION ${package_folder})
endforeach()

configure_package_config_file(cmake/sinewConfig.cmake.in ${CMAKE_BINARY_DIR}/sinewConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/sinewConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/sinewConfig.cmake ${CMAKE_BINARY_DIR}/sinewConfigVersion.cmake
              cmake/dependencies.cmake
        DESTINATION ${package_folder})

file(RELATIVE_PATH SINEW_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/sinew.pc.in ${CMAKE_BINARY_DIR}/sinew.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/sinew.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/sinew)
