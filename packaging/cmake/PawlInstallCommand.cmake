# SPDX-License-Identifier: MIT
# cmake --install of the command: bin/pawl, its Python modules, the measuring programs, the manual
# pages. The modules need Python packages at run time, and bin/pawl says which of them are missing.
# bench/ and sim/ install the programs.
set(pawl_driver_dir "${CMAKE_INSTALL_LIBEXECDIR}/pawl")
set(module_dir "${CMAKE_INSTALL_DATADIR}/pawl/python")
install(DIRECTORY tool/pawl DESTINATION "${module_dir}"
        FILES_MATCHING PATTERN "*.py" PATTERN "*.j2" PATTERN "*.toml"
        PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY sim/machines sim/reference DESTINATION "${CMAKE_INSTALL_DATADIR}/pawl/sim"
        FILES_MATCHING PATTERN "*.toml" PATTERN "*.csv" PATTERN "*.json" PATTERN "*.tsv")

# From the folder of bin/pawl, so that the installed tree can be moved.
function(pawl_from_bin result folder)
  if(IS_ABSOLUTE "${folder}")
    set(${result} "${folder}" PARENT_SCOPE)
  else()
    file(RELATIVE_PATH path "/prefix/${CMAKE_INSTALL_BINDIR}" "/prefix/${folder}")
    set(${result} "${path}" PARENT_SCOPE)
  endif()
endfunction()
pawl_from_bin(modules "${module_dir}")
pawl_from_bin(drivers "${pawl_driver_dir}")
pawl_from_bin(preload "${CMAKE_INSTALL_LIBDIR}/pawl")
pawl_from_bin(data "${CMAKE_INSTALL_DATADIR}/pawl")
configure_file(tool/pawl.in "${PROJECT_BINARY_DIR}/command/pawl" @ONLY)
install(PROGRAMS "${PROJECT_BINARY_DIR}/command/pawl" DESTINATION "${CMAKE_INSTALL_BINDIR}")
pawl_install_made("the manual pages of the command" "${CMAKE_INSTALL_MANDIR}/man1" -m pawl.man)
pawl_install_made("the schemas of the command's files" "${CMAKE_INSTALL_DATADIR}/pawl/schema"
                  -m pawl.schema)
