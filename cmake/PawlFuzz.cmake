# SPDX-License-Identifier: MIT
# pawl_fuzz_tests(): each fuzz/*.c with a function LLVMFuzzerTestOneInput is a target. With clang
# and AddressSanitizer it is linked with libFuzzer and a library that tells it which lines were
# reached; else with fuzz/driver.c, which makes inputs up. The target `fuzz` builds them all.
function(pawl_fuzz_tests)
  set(libfuzzer FALSE)
  if(CMAKE_C_COMPILER_ID MATCHES "Clang" AND PAWL_SANITIZE MATCHES "address")
    set(libfuzzer TRUE)
    foreach(variant IN ITEMS release hook)
      pawl_add_library(pawl_fuzz_${variant} STATIC ${variant})
      set_target_properties(pawl_fuzz_${variant} PROPERTIES OUTPUT_NAME pawl-fuzz-${variant})
      target_compile_options(pawl_fuzz_${variant} PRIVATE -fsanitize=fuzzer-no-link)
    endforeach()
  endif()

  pawl_glob(sources "fuzz/*.c")
  list(FILTER sources EXCLUDE REGEX "/driver\\.c$")
  if(PAWL_SANITIZE MATCHES "thread")
    list(FILTER sources INCLUDE REGEX "/(threads|counters|idtable)\\.c$")
  endif()
  add_custom_target(fuzz)
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    set(target fuzz_${name})
    pawl_library_for(library ${name} pawl_static)
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
      add_test(NAME fuzz.${name} COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/run"
               $<TARGET_FILE:${target}> "${PROJECT_BINARY_DIR}/fuzz/${name}")
    else()
      set(how driver)
      target_sources(${target} PRIVATE fuzz/driver.c)
      add_test(NAME fuzz.${name} COMMAND ${target} --random
               "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${name}.txt")
    endif()
    set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT ${long_timeout})
    pawl_fuzz_finds_test(${name} "${source}" ${how})
  endforeach()
endfunction()

# A second test of a target: does it find what it can be told to do wrong, fuzz_mistake("...")?
function(pawl_fuzz_finds_test name source how)
  if(name MATCHES "^hook_pshared_lock$") # the mistakes of the file that it includes
    cmake_path(REPLACE_FILENAME source "hook_lock.c")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
  file(STRINGS "${source}" lines REGEX "fuzz_mistake\\(\"")
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
