# SPDX-License-Identifier: MIT
# cmake --install: headers, libraries, CMake package, pkg-config files, printers, licence.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/pawl DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.def")
foreach(variant IN LISTS pawl_variants)
  install(DIRECTORY src/variant/${variant}/pawl
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/pawl-${variant}" FILES_MATCHING PATTERN "*.h")
endforeach()
install(TARGETS ${pawl_libraries} EXPORT pawl
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/pawl")
install(EXPORT pawl NAMESPACE pawl:: FILE pawlTargets.cmake DESTINATION "${package_dir}")
configure_package_config_file(packaging/cmake/pawlConfig.cmake.in
                              "${PROJECT_BINARY_DIR}/pawlConfig.cmake"
                              INSTALL_DESTINATION "${package_dir}" NO_SET_AND_CHECK_MACRO)
# Before 1.0 a new minor version may break its users (doc/design, versions).
write_basic_package_version_file("${PROJECT_BINARY_DIR}/pawlConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/pawlConfig.cmake"
              "${PROJECT_BINARY_DIR}/pawlConfigVersion.cmake"
        DESTINATION "${package_dir}")

# pkg-config files find their prefix from where they lie, so the installed tree can be moved.
cmake_path(IS_ABSOLUTE CMAKE_INSTALL_LIBDIR absolute_libdir)
if(absolute_libdir)
  set(pc_prefix "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(pc_prefix "\${pcfiledir}/${up}")
endif()
cmake_path(APPEND pc_libdir "\${prefix}" "${CMAKE_INSTALL_LIBDIR}")
cmake_path(APPEND pc_includedir "\${prefix}" "${CMAKE_INSTALL_INCLUDEDIR}")
function(pawl_install_pc name variant description cflags)
  pawl_link_options_for(options ${variant} "-Wl,")
  list(JOIN options " " static_options)
  configure_file(packaging/cmake/pawl.pc.in "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${name}.pc"
          DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()
set(pc_description_checked "Progressive locks, checking variant")
set(pc_description_valgrind "Progressive locks, variant for Helgrind and DRD")
pawl_install_pc(pawl release "Progressive locks" "-I\${includedir}")
foreach(variant IN LISTS pawl_variants)
  pawl_install_pc(pawl-${variant} ${variant} "${pc_description_${variant}}"
                  "-I\${includedir}/pawl-${variant} -I\${includedir}")
endforeach()

# A project that carries Pawl's source installs what its own users link with, and no more.
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

# gdb looks for a script beside the library that it has loaded, under the name of the file itself.
# lldb imports a module, whose name has no hyphen.
install(FILES tool/gdb/pawl-gdb.py DESTINATION "${CMAKE_INSTALL_DATADIR}/pawl")
install(FILES tool/gdb/pawl-gdb.py DESTINATION "${CMAKE_INSTALL_DATADIR}/pawl"
        RENAME pawl_lldb.py)
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND PAWL_BUILD_SHARED)
  foreach(suffix IN ITEMS "" ${pawl_variants})
    string(REGEX REPLACE "(.+)" "-\\1" suffix "${suffix}")
    install(FILES tool/gdb/pawl-gdb.py DESTINATION "${CMAKE_INSTALL_LIBDIR}"
            RENAME "libpawl${suffix}.so.${PROJECT_VERSION}-gdb.py")
  endforeach()
endif()

# The manual pages of the functions: one for each header, and one for each function.
include(PawlPages)
if(PAWL_INSTALL_PAGES)
  pawl_install_made("the manual pages of the functions" "${CMAKE_INSTALL_MANDIR}"
                    "${PROJECT_SOURCE_DIR}/scripts/site" --man)
endif()

# What was installed last from this build folder is removed by the target `uninstall`.
configure_file(packaging/cmake/Uninstall.cmake.in "${PROJECT_BINARY_DIR}/Uninstall.cmake" @ONLY)
add_custom_target(uninstall
  COMMAND "${CMAKE_COMMAND}" -P "${PROJECT_BINARY_DIR}/Uninstall.cmake" VERBATIM)
