# SPDX-License-Identifier: MIT
# Libraries with the named points of src/os/point.h, at which tests delay a thread: pawl_points, and
# on 32 bits pawl_points_time64, where time_t has 64 (_TIME_BITS=64, as Debian's armhf).
function(pawl_points_libraries)
  set(libraries pawl_points)
  if(CMAKE_SIZEOF_VOID_P EQUAL 4 AND NOT sleep IN_LIST PAWL_TEST_WITHOUT)
    list(APPEND libraries pawl_points_time64)
  endif()
  foreach(library IN LISTS libraries)
    pawl_add_library(${library} STATIC release ONE_OBJECT)
    string(REPLACE "_" "-" output ${library})
    set_target_properties(${library} PROPERTIES EXCLUDE_FROM_ALL ON OUTPUT_NAME ${output})
    target_compile_definitions(${library} PUBLIC PAWL_TEST_POINTS)
    if(library MATCHES "time64" OR scale IN_LIST PAWL_TEST_WITHOUT) # tests/scale measures with it
      target_compile_options(${library} PRIVATE ${PAWL_TEST_LIBRARY_OPTIONS})
    endif()
  endforeach()
  if(TARGET pawl_points_time64)
    target_compile_definitions(pawl_points_time64 PRIVATE _TIME_BITS=64 _FILE_OFFSET_BITS=64)
  endif()
endfunction()
