# SPDX-License-Identifier: MIT
# Each tests/fuzz/*.c of the list has a function LLVMFuzzerTestOneInput and is a target. With clang
# and AddressSanitizer it is linked with libFuzzer and a library that tells it which lines were
# reached; else with fuzz/driver.c, which makes inputs up. The target `fuzz` builds them all.
add_custom_target(fuzz)
set(libfuzzer FALSE)
if(CMAKE_C_COMPILER_ID MATCHES "Clang" AND PAWL_SANITIZE MATCHES "address")
  set(libfuzzer TRUE)
  foreach(variant IN ITEMS release hook)
    pawl_add_library(pawl_fuzz_${variant} STATIC ${variant})
    set_target_properties(pawl_fuzz_${variant} PROPERTIES OUTPUT_NAME pawl-fuzz-${variant}
                          EXCLUDE_FROM_ALL ON) # nobody waits for it where fuzz is left out
    target_compile_options(pawl_fuzz_${variant} PRIVATE -fsanitize=fuzzer-no-link)
  endforeach()
endif()

function(pawl_fuzz_test test target source library)
  if(PAWL_SANITIZE MATCHES "thread" AND NOT arg_THREADS)
    return()
  endif()
  cmake_path(GET source STEM name)
  if(libfuzzer)
    string(REGEX REPLACE "^pawl_(static|hook)$" "pawl_fuzz_\\1" library ${library})
    string(REPLACE "static" "release" library ${library})
  endif()
  pawl_test_program(${target} "${source}" ${library})
  target_include_directories(${target} PRIVATE "${PAWL_CMOCKA_INCLUDE}") # test.h includes it
  add_dependencies(fuzz ${target})
  if(libfuzzer)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    set(how libfuzzer)
    add_test(NAME ${test} COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/run"
             $<TARGET_FILE:${target}> "${PROJECT_BINARY_DIR}/fuzz/${name}")
  else()
    set(how driver)
    target_sources(${target} PRIVATE fuzz/driver.c)
    add_test(NAME ${test} COMMAND ${target} --random
             "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${name}.txt")
  endif()
  set_tests_properties(${test} PROPERTIES LABELS fuzz TIMEOUT ${long_timeout})
  if(arg_ALSO_SCALING)
    pawl_fuzz_scaling_test(${test} ${target} ${name})
  endif()
  pawl_fuzz_finds_test(${name} "${source}" ${how})
endfunction()

# The same with PAWL_BIAS=on, and with inputs of its own.
function(pawl_fuzz_scaling_test test target name)
  if(libfuzzer)
    add_test(NAME ${test}.scaling COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/run"
             $<TARGET_FILE:${target}> "${PROJECT_BINARY_DIR}/fuzz/${name}-scaling")
  else()
    add_test(NAME ${test}.scaling COMMAND ${target} --random
             "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${name}.txt")
  endif()
  set_tests_properties(${test}.scaling PROPERTIES LABELS fuzz TIMEOUT ${long_timeout}
                       ENVIRONMENT PAWL_BIAS=on)
endfunction()

# A second test of a target: does it find what it can be told to do wrong, fuzz_mistake("...")?
function(pawl_fuzz_finds_test name source how)
  set(lines)
  file(STRINGS "${source}" included REGEX "^#include \"fuzz/.*\\.c\"$") # its mistakes too
  list(TRANSFORM included REPLACE "^#include \"(.*)\"$" "${CMAKE_CURRENT_SOURCE_DIR}/\\1")
  foreach(file IN LISTS source included)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(STRINGS "${file}" found REGEX "fuzz_mistake\\(\"")
    list(APPEND lines "${found}")
  endforeach()
  string(REGEX MATCHALL "fuzz_mistake\\(\"[a-z_]+" mistakes "${lines}")
  list(TRANSFORM mistakes REPLACE "fuzz_mistake\\(\"" "")
  list(REMOVE_DUPLICATES mistakes)
  # ThreadSanitizer ends a program without leaving its input behind.
  if(NOT PAWL_SANITIZE MATCHES "thread")
    add_test(NAME fuzz.${name}.finds COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/finds" ${how}
             $<TARGET_FILE:fuzz_${name}> "${PROJECT_BINARY_DIR}/fuzz/finds-${name}" ${mistakes})
    set_tests_properties(fuzz.${name}.finds PROPERTIES LABELS fuzz TIMEOUT ${long_timeout})
  endif()
endfunction()
