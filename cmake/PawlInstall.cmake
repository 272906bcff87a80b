# SPDX-License-Identifier: MIT
# cmake --install: headers, libraries, CMake package, pkg-config files, manual pages, licence.
include(CMakePackageConfigHelpers)

set_target_properties(pawl_static PROPERTIES EXPORT_NAME static)
set_target_properties(pawl_shared PROPERTIES EXPORT_NAME shared)
set_target_properties(pawl_checked PROPERTIES EXPORT_NAME checked)
set_target_properties(pawl_checked_shared PROPERTIES EXPORT_NAME checked_shared)

install(DIRECTORY include/pawl DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.def")
install(DIRECTORY variant/checked/pawl DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/pawl-checked"
        FILES_MATCHING PATTERN "*.h")
set(variants pawl_checked pawl_checked_shared)
if(PAWL_VALGRIND)
  list(APPEND variants pawl_valgrind pawl_valgrind_shared)
  set_target_properties(pawl_valgrind PROPERTIES EXPORT_NAME valgrind)
  set_target_properties(pawl_valgrind_shared PROPERTIES EXPORT_NAME valgrind_shared)
  install(DIRECTORY variant/valgrind/pawl
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/pawl-valgrind" FILES_MATCHING PATTERN "*.h")
endif()
install(TARGETS pawl_static pawl_shared ${variants} EXPORT pawl
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/pawl")
install(EXPORT pawl NAMESPACE pawl:: FILE pawlTargets.cmake DESTINATION "${package_dir}")
configure_package_config_file(cmake/pawlConfig.cmake.in "${PROJECT_BINARY_DIR}/pawlConfig.cmake"
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
  configure_file(cmake/pawl.pc.in "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${name}.pc"
          DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()
pawl_install_pc(pawl release "Progressive locks" "-I\${includedir}")
pawl_install_pc(pawl-checked checked "Progressive locks, checking variant"
                "-I\${includedir}/pawl-checked -I\${includedir}")
if(PAWL_VALGRIND)
  pawl_install_pc(pawl-valgrind valgrind "Progressive locks, variant for Helgrind and DRD"
                  "-I\${includedir}/pawl-valgrind -I\${includedir}")
endif()

# gdb looks for a script beside the library that it has loaded, under the name of the file itself.
# lldb imports a module, whose name has no hyphen.
install(FILES tool/gdb/pawl-gdb.py DESTINATION "${CMAKE_INSTALL_DATADIR}/pawl")
install(FILES tool/gdb/pawl-gdb.py DESTINATION "${CMAKE_INSTALL_DATADIR}/pawl"
        RENAME pawl_lldb.py)
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  set(debugged pawl pawl-checked)
  if(PAWL_VALGRIND)
    list(APPEND debugged pawl-valgrind)
  endif()
  foreach(name IN LISTS debugged)
    install(FILES tool/gdb/pawl-gdb.py DESTINATION "${CMAKE_INSTALL_LIBDIR}"
            RENAME "lib${name}.so.${PROJECT_VERSION}-gdb.py")
  endforeach()
endif()
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
file(GLOB manual_pages CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tool/man/*.1")
if(manual_pages)
  install(FILES ${manual_pages} DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
endif()
