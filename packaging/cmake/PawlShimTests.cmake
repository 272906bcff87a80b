# SPDX-License-Identifier: MIT
# pawl_test(shim folder/name [OURS] [SPIN] [OWN_COPY] [ALSO_SCALING] [NOT_PREFERRED]
#           [PLUGINS])
#
# A program that knows nothing of Pawl (tests/shim). The same file runs with the C library's locks
# (<folder>.<name>.libc), with the preload library in front (.pawl), and with readers preferred
# (.prefer-readers).
#
#   OURS       only with the preload library
#   SPIN       the library of the spinlocks in place of the other one
#   OWN_COPY   the program links Pawl itself: once the static library, once the shared one
#   ALSO_SCALING  .pawl has readers that scale of all locks; once more without (.shared-word)
#   NOT_PREFERRED  not where readers are preferred: it is about the order of waiting threads
#   PLUGINS    it loads the libraries of tests/shim/plugins, which get their paths by macros
function(pawl_shim_run name target mode)
  add_test(NAME ${name}.${mode} COMMAND ${target})
  pawl_test_properties(${name}.${mode} shim)
  set(environment ${ARGN})
  if(NOT mode MATCHES "^libc")
    set(library pawl_preload)
    if(arg_SPIN)
      set(library pawl_preload_spin)
    endif()
    list(APPEND environment "LD_PRELOAD=$<TARGET_FILE:${library}>")
  endif()
  set_tests_properties(${name}.${mode} PROPERTIES ENVIRONMENT "${environment}")
endfunction()

function(pawl_shim_runs name target)
  if(NOT arg_OURS)
    pawl_shim_run(${name} ${target} libc)
  endif()
  set(scales "")
  if(arg_ALSO_SCALING)
    set(scales PAWL_BIAS=on)
    pawl_shim_run(${name} ${target} shared-word PAWL_PRELOAD_RWLOCK=shared-word)
  endif()
  pawl_shim_run(${name} ${target} pawl ${scales})
  if(NOT arg_SPIN AND NOT arg_NOT_PREFERRED)
    pawl_shim_run(${name} ${target} prefer-readers PAWL_PRELOAD_RWLOCK=prefer-readers)
  endif()
endfunction()

function(pawl_shim_test name target source library)
  if(NOT TARGET pawl_preload)
    return()
  endif()
  set(framework cmocka::cmocka)
  if(source MATCHES "\\.cpp$")
    set(framework GTest::gtest_main)
  endif()
  if(arg_OWN_COPY)
    foreach(kind IN ITEMS static shared)
      pawl_test_program(${target}_${kind} "${source}" pawl_${kind} ${framework})
      add_dependencies(${target}_${kind} pawl_preload)
      pawl_shim_runs(${name}.${kind} ${target}_${kind})
    endforeach()
    return()
  endif()
  pawl_test_program(${target} "${source}" Threads::Threads ${framework} ${CMAKE_DL_LIBS})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/include")
  add_dependencies(${target} pawl_preload pawl_preload_spin)
  if(arg_PLUGINS)
    foreach(plugin IN ITEMS static_lock.c shared_mutex.cpp writes.c loads_another.c)
      cmake_path(GET plugin STEM stem)
      add_library(${target}_${stem} MODULE "${CMAKE_CURRENT_SOURCE_DIR}/shim/plugins/${plugin}")
      pawl_strict(${target}_${stem})
      target_link_libraries(${target}_${stem} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
      target_compile_definitions(${target}_${stem} PRIVATE _GNU_SOURCE)
      set_target_properties(${target}_${stem} PROPERTIES
        LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests" BUILD_RPATH "$ORIGIN")
      target_compile_definitions(${target} PRIVATE
        "PLUGIN_${stem}=\"$<TARGET_FILE:${target}_${stem}>\"")
      add_dependencies(${target} ${target}_${stem})
    endforeach()
  endif()
  pawl_shim_runs(${name} ${target})
endfunction()

# The scripts of tests/shim.
function(pawl_shim_scripts)
  if(NOT TARGET pawl_preload)
    return()
  endif()
  separate_arguments(flags UNIX_COMMAND "${CMAKE_C_FLAGS}")
  execute_process(COMMAND ${CMAKE_C_COMPILER} ${flags} -print-file-name=libc.so.6
                  OUTPUT_VARIABLE libc OUTPUT_STRIP_TRAILING_WHITESPACE)
  find_program(PAWL_NM NAMES nm) # with clang CMake takes llvm-nm, which shows no versions
  add_test(NAME shim.symbols COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/shim/symbols.sh"
           "${PAWL_NM}" "${libc}" $<TARGET_FILE:pawl_preload> $<TARGET_FILE:pawl_preload_spin>)
  set_tests_properties(shim.symbols PROPERTIES LABELS shim TIMEOUT ${short_timeout})
  # Other compilers leave cold code in the function, and -O3 writes a loop's first round twice.
  string(TOUPPER "CMAKE_C_FLAGS_${CMAKE_BUILD_TYPE}" options)
  if(PAWL_SHIM_IS_x86_64 AND CMAKE_SIZEOF_VOID_P EQUAL 8 AND CMAKE_C_COMPILER_ID STREQUAL "GNU"
     AND "${${options}}" MATCHES "-O2")
    add_test(NAME shim.short_paths COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/shim/short_paths.sh"
             "${CMAKE_NM}" "${CMAKE_OBJDUMP}" $<TARGET_FILE:pawl_preload>)
    set_tests_properties(shim.short_paths PROPERTIES LABELS shim TIMEOUT ${short_timeout})
  endif()
endfunction()
