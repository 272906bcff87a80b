# SPDX-License-Identifier: MIT
# cmake --install of what programs write: manual pages, and the schemas of the command's files. They
# need Python (PAWL_PYTHON of the environment) and its packages. Without them the installation says
# what it leaves out.
set(PAWL_PYTHON python3)
if(EXISTS "${PROJECT_SOURCE_DIR}/.venv/bin/python")
  set(PAWL_PYTHON "${PROJECT_SOURCE_DIR}/.venv/bin/python")
endif()

# A program, with its arguments and the folder to write, makes what is installed to `destination`.
function(pawl_install_made what destination)
  string(MAKE_C_IDENTIFIER "${what}" folder)
  set(folder "${PROJECT_BINARY_DIR}/made/${folder}")
  list(JOIN ARGN "\" \"" words)
  install(CODE "
    set(python \"\$ENV{PAWL_PYTHON}\")
    if(NOT python)
      set(python \"${PAWL_PYTHON}\")
    endif()
    if(NOT EXISTS \"${folder}/made-of\") # scripts/site knows whether its pages are of today
      file(REMOVE_RECURSE \"${folder}\")
    endif()
    file(MAKE_DIRECTORY \"${folder}\")
    execute_process(
      COMMAND \"${CMAKE_COMMAND}\" -E env \"PYTHONPATH=${PROJECT_SOURCE_DIR}/tool\"
              PYTHONDONTWRITEBYTECODE=1 \"\${python}\" \"${words}\" \"${folder}\"
      RESULT_VARIABLE code OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(code)
      string(STRIP \"\${said}\" said)
      string(REGEX REPLACE \".*\\n\" \"\" said \"\${said}\")
      message(STATUS \"Not installed: ${what} (\${said})\")
    else()
      set(to \"${destination}\")
      cmake_path(ABSOLUTE_PATH to BASE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}\")
      file(INSTALL DESTINATION \"\${to}\" TYPE DIRECTORY FILES \"${folder}/\"
           FILES_MATCHING REGEX \"\\\\.([137]|json)$\")
    endif()")
endfunction()
