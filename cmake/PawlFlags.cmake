# SPDX-License-Identifier: MIT
# pawl_strict(target...): the language level and the warnings of Pawl's own code. Private to the
# targets, so that a project that adds Pawl as a subdirectory inherits none of it.
function(pawl_strict)
  foreach(target IN LISTS ARGN)
    set_target_properties(${target} PROPERTIES
      C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
      CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
    target_compile_options(${target} PRIVATE
      -Wall -Wextra -Wpedantic -Wconversion -Wshadow
      $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
      $<$<BOOL:${PAWL_WERROR}>:-Werror>)
  endforeach()
endfunction()
