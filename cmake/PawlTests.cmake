# SPDX-License-Identifier: MIT
# The functions that turn the folders under tests/ into programs and tests.
include(GoogleTest)

# The files of a folder. CONFIGURE_DEPENDS: a build notices a new one.
function(pawl_glob result)
  list(TRANSFORM ARGN PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  file(GLOB files CONFIGURE_DEPENDS ${ARGN})
  list(SORT files)
  set(${result} ${files} PARENT_SCOPE)
endfunction()

# The library that the name of a test asks for, else the folder's usual one.
function(pawl_library_for result name usual)
  set(library ${usual})
  if(name MATCHES "^(hook|model)_")
    set(library pawl_hook)
  elseif(name MATCHES "^checked_")
    set(library pawl_checked)
  endif()
  set(${result} ${library} PARENT_SCOPE)
endfunction()

# A program of the test folder, not yet a test.
function(pawl_test_program target source library)
  add_executable(${target} "${source}")
  pawl_strict(${target})
  target_link_libraries(${target} PRIVATE ${library} ${ARGN})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests"
                             "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/examples")
  # Tests use the whole system interface; headers and library are checked without it.
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
  if(PAWL_COVERAGE)
    target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests/coverage.c")
    target_link_options(${target} PRIVATE LINKER:--wrap=abort,--wrap=_exit)
  endif()
  # must(!"a sentence") is how tests mark what must not be reached; clang's -Wconversion objects.
  if(CMAKE_C_COMPILER_ID MATCHES "Clang")
    target_compile_options(${target} PRIVATE -Wno-string-conversion)
  endif()
  # Backtraces of the checking variant name functions of the program.
  set_target_properties(${target} PROPERTIES
    ENABLE_EXPORTS ON RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
endfunction()

# Test folders and their time: stress tests use all CPUs and have them alone.
function(pawl_test_properties name folder)
  if(folder STREQUAL "stress")
    set_tests_properties(${name} PROPERTIES LABELS stress TIMEOUT ${long_timeout} RUN_SERIAL ON)
  else()
    set_tests_properties(${name} PROPERTIES LABELS ${folder} TIMEOUT ${short_timeout})
  endif()
endfunction()

# pawl_c_tests(folder library [TWINS]): each *.c is a cmocka program; TWINS: and one in C++.
function(pawl_c_tests folder usual)
  cmake_parse_arguments(PARSE_ARGV 2 arg "TWINS" "" "")
  pawl_glob(sources "${folder}/*.c")
  foreach(source IN LISTS sources)
    get_filename_component(name "${source}" NAME_WE)
    pawl_library_for(library ${name} ${usual})
    set(target "${folder}_${name}")
    pawl_test_program(${target} "${source}" ${library} cmocka::cmocka)
    add_test(NAME ${folder}.${name} COMMAND ${target})
    pawl_test_properties(${folder}.${name} ${folder})

    if(arg_TWINS)
      # CMake knows one language per file, so the twin is a C++ file that includes the C one.
      set(twin "${CMAKE_CURRENT_BINARY_DIR}/twins/${target}.cpp")
      file(CONFIGURE OUTPUT "${twin}" CONTENT "#include \"${source}\"\n")
      pawl_test_program(${target}_cxx "${twin}" ${library} cmocka::cmocka)
      add_test(NAME ${folder}.${name}.c++ COMMAND ${target}_cxx)
      pawl_test_properties(${folder}.${name}.c++ ${folder})
    endif()
  endforeach()
endfunction()

# pawl_cxx_tests(folder): each *.cpp is a GoogleTest program, each of its cases a test.
function(pawl_cxx_tests folder)
  pawl_glob(sources "${folder}/*.cpp")
  foreach(source IN LISTS sources)
    get_filename_component(name "${source}" NAME_WE)
    pawl_library_for(library ${name} pawl_static)
    set(target "${folder}_${name}")
    pawl_test_program(${target} "${source}" ${library} GTest::gtest_main)
    gtest_discover_tests(${target} TEST_PREFIX "${folder}.${name}." DISCOVERY_TIMEOUT 60
                         PROPERTIES LABELS ${folder} TIMEOUT ${short_timeout})
  endforeach()
endfunction()

# pawl_refusal_tests(folder): *.cpp and *.c whose cases must be refused by the compiler. A file has
# `#if CASE == n` parts, each with a line `// expect: regex` that the compiler's words must match,
# in the order of their numbers from 1; with CASE=0 the file must compile.
function(pawl_refusal_tests folder)
  pawl_glob(sources "${folder}/*.cpp" "${folder}/*.c")
  foreach(source IN LISTS sources)
    get_filename_component(name "${source}" NAME_WE)
    if(source MATCHES "\\.c$")
      set(compiler "${CMAKE_C_COMPILER}")
      set(flags "${CMAKE_C_FLAGS} -std=c11")
    else()
      set(compiler "${CMAKE_CXX_COMPILER}")
      set(flags "${CMAKE_CXX_FLAGS} -std=c++17")
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    file(STRINGS "${source}" expected REGEX "// expect: ")
    list(LENGTH expected last)
    foreach(case RANGE ${last})
      set(test "refusal.${name}.${case}")
      add_test(NAME ${test} COMMAND ${CMAKE_COMMAND}
        "-DCOMPILER=${compiler}" "-DFLAGS=${flags}" "-DSOURCE=${source}"
        "-DCASE=${case}" "-DINCLUDE=${PROJECT_SOURCE_DIR}/include"
        -P "${PROJECT_SOURCE_DIR}/cmake/CheckRefusal.cmake")
      set_tests_properties(${test} PROPERTIES LABELS "cxx;refusal" TIMEOUT ${short_timeout})
    endforeach()
  endforeach()
endfunction()

# pawl_header_tests(): scripts/headers compiles each public header alone, with this compiler.
function(pawl_header_tests)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/include"
       "${PROJECT_SOURCE_DIR}/include/pawl/*.h" "${PROJECT_SOURCE_DIR}/include/pawl/*.hpp")
  list(FILTER headers EXCLUDE REGEX "\\.inc\\.h$")
  foreach(header IN LISTS headers)
    string(REPLACE "pawl/" "" name "${header}")
    add_test(NAME header.${name} COMMAND "${PROJECT_SOURCE_DIR}/scripts/headers"
             "${CMAKE_C_COMPILER}" "${CMAKE_CXX_COMPILER}" "${header}")
    set_tests_properties(header.${name} PROPERTIES LABELS headers TIMEOUT ${short_timeout})
  endforeach()
endfunction()

# pawl_script_tests(): scripts that say `# ctest: arguments`; @BUILD@ there is the build folder.
# Exit code 77 means skipped, with the reason in the output.
function(pawl_script_tests)
  file(GLOB scripts CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/scripts/*")
  foreach(script IN LISTS scripts)
    if(IS_DIRECTORY "${script}")
      continue()
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${script}")
    file(STRINGS "${script}" line REGEX "^# ctest:" LIMIT_COUNT 1)
    if(line)
      get_filename_component(name "${script}" NAME)
      string(REGEX REPLACE "^# ctest: *" "" arguments "${line}")
      string(REPLACE "@BUILD@" "${PROJECT_BINARY_DIR}" arguments "${arguments}")
      separate_arguments(arguments UNIX_COMMAND "${arguments}")
      add_test(NAME scripts.${name} COMMAND "${script}" ${arguments}
               WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
      set_tests_properties(scripts.${name} PROPERTIES
        LABELS scripts TIMEOUT ${long_timeout} SKIP_RETURN_CODE 77)
    endif()
  endforeach()
endfunction()

# pawl_tool_tests(): the Python tests, if scripts/setup has made their environment.
function(pawl_tool_tests)
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/tool/test_*.py")
  set(python "${PROJECT_SOURCE_DIR}/.venv/bin/python")
  if(files AND EXISTS "${python}")
    add_test(NAME tool COMMAND "${python}" -m pytest -q tests/tool
             WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(tool PROPERTIES LABELS tool TIMEOUT 600
                         ENVIRONMENT "PAWL_BUILD_DIR=${PROJECT_BINARY_DIR}")
  endif()
endfunction()
