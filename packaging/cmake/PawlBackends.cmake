# SPDX-License-Identifier: MIT
# What sleeps, tested over each way to sleep by name:
#
#   futex  the system's own wait on an address     cond  a mutex and condition variable a thread
#   sem    a semaphore a thread
#   time64 the system's own, on 32 bits where time_t has 64 (_TIME_BITS=64, as Debian's armhf)
#
# On 32 bits cond and sem would only repeat what 64 bits show.
#
# The libraries have the named points of src/os/point.h, at which the tests of the kind `backend`
# delay a thread.
function(pawl_backend_libraries)
  set(sleep_backends cond sem)
  if(CMAKE_SIZEOF_VOID_P EQUAL 4)
    set(sleep_backends time64)
  endif()
  if(sleep IN_LIST PAWL_TEST_WITHOUT)
    set(sleep_backends)
  endif()
  foreach(backend IN ITEMS futex ${sleep_backends})
    set(variant ${backend})
    if(backend MATCHES "^(futex|time64)$")
      set(variant release)
    endif()
    pawl_add_library(pawl_backend_${backend} STATIC ${variant} ONE_OBJECT)
    set_target_properties(pawl_backend_${backend} PROPERTIES EXCLUDE_FROM_ALL ON
                          OUTPUT_NAME pawl-backend-${backend})
    target_compile_definitions(pawl_backend_${backend} PRIVATE PAWL_TEST_POINTS)
    if(NOT backend STREQUAL "futex") # measurements use it
      target_compile_options(pawl_backend_${backend} PRIVATE ${PAWL_TEST_LIBRARY_OPTIONS})
    endif()
  endforeach()
  if(TARGET pawl_backend_time64)
    target_compile_definitions(pawl_backend_time64 PRIVATE _TIME_BITS=64 _FILE_OFFSET_BITS=64)
  endif()
  set(sleep_backends ${sleep_backends} PARENT_SCOPE)
endfunction()

# pawl_sleep_test(backend): the test whose name, target, source and kind the caller has, over it.
function(pawl_sleep_test backend)
  pawl_test_program(${target}_${backend} "${source}" pawl_backend_${backend} cmocka::cmocka)
  target_compile_definitions(${target}_${backend} PRIVATE PAWL_TEST_POINTS)
  add_test(NAME ${name}.${backend} COMMAND ${target}_${backend})
  pawl_test_properties(${name}.${backend} ${kind})
endfunction()
