# SPDX-License-Identifier: MIT
# cmocka::cmocka and GTest::gtest_main for what is being built: native, sanitized or 32-bit.
if(CMAKE_SIZEOF_VOID_P EQUAL 4 AND PAWL_I386_ROOT)
  set(cmocka_hints "${PAWL_I386_ROOT}/usr/include" "${PAWL_I386_ROOT}/usr/lib/i386-linux-gnu")
  set(only_hints NO_DEFAULT_PATH)
endif()
find_path(PAWL_CMOCKA_INCLUDE cmocka.h HINTS ${cmocka_hints} ${only_hints})
find_library(PAWL_CMOCKA_LIBRARY cmocka HINTS ${cmocka_hints} ${only_hints})
if(NOT PAWL_CMOCKA_INCLUDE OR NOT PAWL_CMOCKA_LIBRARY)
  message(FATAL_ERROR "cmocka is not there for this build. Run `scripts/setup build test` (and "
                      "`scripts/setup m32` for the 32-bit one), or set PAWL_BUILD_TESTS=OFF.")
endif()
add_library(cmocka::cmocka UNKNOWN IMPORTED)
set_target_properties(cmocka::cmocka PROPERTIES
  IMPORTED_LOCATION "${PAWL_CMOCKA_LIBRARY}"
  INTERFACE_INCLUDE_DIRECTORIES "${PAWL_CMOCKA_INCLUDE}")

# GoogleTest as Debian builds it is native and plain. For the other builds, and so that sanitizers
# see its locks, it is built from the source that Debian's googletest package installs.
set(googletest /usr/src/googletest)
if((sanitized OR CMAKE_SIZEOF_VOID_P EQUAL 4) AND EXISTS ${googletest}/CMakeLists.txt)
  set(BUILD_GMOCK OFF)
  set(INSTALL_GTEST OFF)
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)
  add_subdirectory(${googletest} "${PROJECT_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL SYSTEM)
  foreach(part IN ITEMS gtest gtest_main)
    target_compile_options(${part} PRIVATE ${PAWL_TEST_CXX_OPTIONS})
  endforeach()
  if(NOT TARGET GTest::gtest_main)
    add_library(GTest::gtest_main ALIAS gtest_main)
  endif()
else()
  find_package(GTest REQUIRED)
endif()
