# SPDX-License-Identifier: MIT
# pawl_strict(target...): the language level and the warnings of Pawl's own code. Private to the
# targets, so that a project that adds Pawl as a subdirectory inherits none of it. The callbacks and
# threads of tests need not use their argument (PAWL_CALLBACKS).
function(pawl_strict)
  foreach(target IN LISTS ARGN)
    set_target_properties(${target} PROPERTIES
      C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
      CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
    target_compile_options(${target} PRIVATE
      -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef
      $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
      $<$<BOOL:${PAWL_CALLBACKS}>:-Wno-unused-parameter>
      $<$<BOOL:${PAWL_WERROR}>:-Werror>)
  endforeach()
endfunction()

# pawl_reproducible(target): the same bytes wherever the source and the build folder lie. Not where
# the tests are built: debuggers find the sources by their paths. gcc takes the last map that fits.
function(pawl_reproducible target)
  if(PROJECT_IS_TOP_LEVEL AND NOT PAWL_BUILD_TESTS AND CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
    set(there "/usr/src/pawl-${PROJECT_VERSION}")
    target_compile_options(${target} PRIVATE
      "-ffile-prefix-map=${PROJECT_SOURCE_DIR}=${there}"
      "-ffile-prefix-map=${PROJECT_BINARY_DIR}=${there}/build")
  endif()
endfunction()

# Archives without times, owners and modes, also where ar was not configured so.
if(PROJECT_IS_TOP_LEVEL AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
  set(CMAKE_C_ARCHIVE_CREATE "<CMAKE_AR> qcD <TARGET> <LINK_FLAGS> <OBJECTS>")
  set(CMAKE_C_ARCHIVE_APPEND "<CMAKE_AR> qD <TARGET> <LINK_FLAGS> <OBJECTS>")
  set(CMAKE_C_ARCHIVE_FINISH "<CMAKE_RANLIB> -D <TARGET>")
endif()
