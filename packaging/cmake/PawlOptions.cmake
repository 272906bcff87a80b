# SPDX-License-Identifier: MIT
# Options that contradict each other end the configuration with the one to change.
if(NOT PAWL_BUILD_STATIC AND NOT PAWL_BUILD_SHARED)
  message(FATAL_ERROR "There is no library to build: set PAWL_BUILD_STATIC or PAWL_BUILD_SHARED.")
endif()
if(NOT PAWL_INSTALL)
  set(PAWL_INSTALL_COMMAND OFF)
endif()
foreach(part IN ITEMS TESTS BENCH EXAMPLES SHIM)
  if(PAWL_BUILD_${part} AND NOT PAWL_BUILD_STATIC)
    message(FATAL_ERROR "PAWL_BUILD_${part} needs the static library: set PAWL_BUILD_STATIC=ON, or "
                        "PAWL_BUILD_${part}=OFF.")
  endif()
endforeach()
if(PAWL_BUILD_TESTS AND NOT PAWL_BUILD_CHECKED)
  message(FATAL_ERROR "The tests need the checking library: set PAWL_BUILD_CHECKED=ON, or "
                      "PAWL_BUILD_TESTS=OFF.")
endif()
# The tests that need the shared library do not run with a sanitizer.
if(PAWL_BUILD_TESTS AND NOT PAWL_BUILD_SHARED AND NOT PAWL_SANITIZE)
  message(FATAL_ERROR "The tests need the shared library too: set PAWL_BUILD_SHARED=ON, or "
                      "PAWL_BUILD_TESTS=OFF.")
endif()
if(PAWL_VALGRIND AND NOT PAWL_HAVE_VALGRIND_HEADERS)
  message(FATAL_ERROR "PAWL_VALGRIND needs <valgrind/drd.h>: install Valgrind with its headers "
                      "(Debian: valgrind), or set PAWL_VALGRIND=OFF.")
endif()
