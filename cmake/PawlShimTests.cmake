# SPDX-License-Identifier: MIT
# pawl_test(shim folder/name [OURS] [SPIN] [OWN_COPY])
#
# A program that knows nothing of Pawl (tests/shim). The same file runs with the C library's locks
# (<folder>.<name>.libc), with the preload library in front (.pawl), and with readers preferred
# (.prefer-readers).
#
#   OURS       only with the preload library
#   SPIN       the library of the spinlocks in place of the other one
#   OWN_COPY   the program links Pawl itself: once the static library, once the shared one
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
  pawl_shim_run(${name} ${target} pawl)
  if(NOT arg_SPIN)
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
  add_test(NAME shim.symbols COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/shim/symbols.sh"
           "${CMAKE_NM}" "${libc}" $<TARGET_FILE:pawl_preload> $<TARGET_FILE:pawl_preload_spin>)
  set_tests_properties(shim.symbols PROPERTIES LABELS shim TIMEOUT ${short_timeout})
endfunction()
