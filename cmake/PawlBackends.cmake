# SPDX-License-Identifier: MIT
# pawl_backend_tests(): everything that sleeps, tested over each way to sleep by name.
#
#   futex  the system's own wait on an address     cond  a mutex and condition variable a thread
#   sem    a semaphore a thread
#
# The libraries have the named points of src/os/point.h, at which the tests in
# backend/ delay a thread.
function(pawl_backend_tests)
  pawl_glob(everywhere "unit/wait_*.c" "unit/bitlock_*.c" "unit/cond_*.c" "unit/lock_*.c"
            "stress/wait_*.c" "stress/cond_*.c" "stress/lock_*.c")
  pawl_glob(with_points "backend/*.c")
  foreach(backend IN ITEMS futex cond sem)
    set(variant ${backend})
    set(sources ${everywhere} ${with_points})
    if(backend STREQUAL "futex")
      set(variant release)
      set(sources ${with_points}) # the others run with the library as it is
    endif()
    pawl_add_library(pawl_backend_${backend} STATIC ${variant})
    set_target_properties(pawl_backend_${backend} PROPERTIES OUTPUT_NAME pawl-backend-${backend})
    target_compile_definitions(pawl_backend_${backend} PRIVATE PAWL_TEST_POINTS)

    foreach(source IN LISTS sources)
      cmake_path(GET source STEM name)
      cmake_path(GET source PARENT_PATH folder)
      cmake_path(GET folder FILENAME folder)
      set(target "${backend}_${folder}_${name}")
      pawl_test_program(${target} "${source}" pawl_backend_${backend} cmocka::cmocka)
      target_compile_definitions(${target} PRIVATE PAWL_TEST_POINTS)
      set(test "${folder}.${name}.${backend}")
      add_test(NAME ${test} COMMAND ${target})
      pawl_test_properties(${test} ${folder})
    endforeach()
  endforeach()
endfunction()
