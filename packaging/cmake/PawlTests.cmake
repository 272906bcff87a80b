# SPDX-License-Identifier: MIT
# The functions that turn the lines of tests/tests.cmake into programs and tests.
include(GoogleTest)

# pawl_test(kind folder/name [VARIANT variant] [EXPLORER] [POINTS] [DEADLINES] [THREADS]
#           [CLANG flag...])
#
# Makes the test <folder>.<name> of tests/<folder>/<name>.c or .cpp. The kind is its label:
#
#   unit regress compat   a cmocka program, C11, and again as C++17 (<folder>.<name>.c++)
#   misuse                the same with the checking variant
#   stress                a cmocka program that uses all CPUs and has them alone, time-boxed
#   scale                 a cmocka program of thousands of threads: counts, no times; its label is
#                         stress, and its library has the points and counts of PawlPoints.cmake
#   cxx                   a GoogleTest program; each of its cases is a test
#   program               a program of all files of the folder <folder>/<name>/, without a framework
#   refusal               cases that must not compile (CheckRefusal.cmake)
#   fuzz                  made-up operations (PawlFuzz.cmake)
#   shim                  a program with other locks in front, and its options
#                         (PawlShimTests.cmake)
#
#   VARIANT      the library's, where it is not the kind's usual one: hook, checked
#   POINTS       the library has named points of delay (PawlPoints.cmake); not with sanitizers
#   EXPLORER     the hook variant, and tests/explorer, which runs its schedules
#   ALSO_SCALING once more with PAWL_BIAS=on: <folder>.<name>.scaling
#   ALSO_FENCED  once more with PAWL_NO_MEMBARRIER=1: <folder>.<name>.fenced
#   ALSO_TRACED  once more with PAWL_TRACED defined, and no recorder: <folder>.<name>.traced
#   OWN_COPY     beside a plug-in of the same file that has a hidden copy of the library, PAIRS_COPY
#   DEADLINES    once more as .time64, on 32 bits
#   C_ONLY       not again as C++: it tests compiled code, and takes long or has much to compile
#   ONE_THREAD   nothing for ThreadSanitizer: one thread at a time uses the library
#   LONG         seconds even where nothing else runs; its second label: make check has it
#   STATES       goes through all states, or interrupts at each instruction of 64 bits; its second
#                label: with sanitizers and on 32 bits it says nothing new, so make prove has it
#   SOURCES      includes those of the library: compiled as libraries are that only tests link
#   EACH_WIDTH   a refusal that is another one on 32 bits
#   THREADS      a fuzz target that ThreadSanitizer has something to say about
#   CLANG        cases that only clang refuses, with these flags
#   STANDARD     of C++, where a refusal is not about C++17
function(pawl_test kind path)
  cmake_parse_arguments(PARSE_ARGV 2 arg
                        "EXPLORER;POINTS;DEADLINES;THREADS;OURS;SPIN;OWN_COPY;ALSO_FENCED;\
ALSO_SCALING;ALSO_TRACED;C_ONLY;ONE_THREAD;EACH_WIDTH;PLUGINS;NOT_PREFERRED;LONG;STATES;SOURCES"
                        "VARIANT;STANDARD" "CLANG")
  set(how ${kind})
  if(kind MATCHES "^(regress|compat|misuse)$")
    set(how unit)
  endif()
  if(arg_UNPARSED_ARGUMENTS OR NOT COMMAND "pawl_${how}_test")
    message(FATAL_ERROR "tests/tests.cmake: pawl_test(${kind} ${path} ...) has a kind or an option "
                        "that is none: ${kind} ${arg_UNPARSED_ARGUMENTS}")
  endif()
  pawl_listed_source(source "${path}")
  string(REPLACE "/" "." name "${path}")
  string(REPLACE "/" "_" target "${path}")
  set(library pawl_static)
  if(arg_POINTS)
    set(library pawl_points)
    if(sanitized)
      return()
    endif()
  elseif(arg_EXPLORER)
    set(library pawl_hook)
  elseif(arg_VARIANT MATCHES "^(hook|checked)$")
    set(library pawl_${arg_VARIANT})
  elseif(arg_VARIANT)
    message(FATAL_ERROR "tests/tests.cmake: ${path} asks for the variant ${arg_VARIANT}, which is "
                        "neither hook nor checked")
  elseif(kind STREQUAL "misuse")
    set(library pawl_checked)
  endif()
  if(kind IN_LIST PAWL_TEST_WITHOUT)
    return()
  endif()
  cmake_path(GET path PARENT_PATH primitive) # tests-lock builds the programs of tests/lock
  if(NOT TARGET tests-${primitive})
    add_custom_target(tests-${primitive})
  endif()
  # The explorer's threads are stacks of one thread of the system.
  if(PAWL_SANITIZE MATCHES "thread" AND (arg_EXPLORER OR arg_ONE_THREAD))
    return()
  endif()
  cmake_language(CALL "pawl_${how}_test" "${name}" "${target}" "${source}" ${library})
endfunction()

# The objects of tests/explorer, for the tests that the list gives them.
function(pawl_explorer_library)
  add_library(pawl_explorer OBJECT explorer/explorer.c explorer/hooks.c explorer/states.c
              explorer/steps.c)
  pawl_strict(pawl_explorer)
  target_compile_definitions(pawl_explorer PRIVATE _GNU_SOURCE)
  target_link_libraries(pawl_explorer PRIVATE pawl_hook cmocka::cmocka)
  target_include_directories(pawl_explorer PRIVATE "${PROJECT_SOURCE_DIR}/tests")
endfunction()

# The file, or for a program the folder, that a line of the list names.
function(pawl_listed_source result path)
  set(found)
  foreach(ending IN ITEMS .c .cpp "")
    set(source "${CMAKE_CURRENT_SOURCE_DIR}/${path}${ending}")
    if(EXISTS "${source}")
      list(APPEND found "${source}")
    endif()
  endforeach()
  list(LENGTH found count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "tests/tests.cmake lists ${path}, and there are ${count} files "
                        "tests/${path}.c or .cpp; it has to be one")
  endif()
  set_property(GLOBAL APPEND PROPERTY PAWL_LISTED_TESTS "${found}")
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# pawl_unlisted_tests_are_errors(except...): a file in a folder of the list that no line names.
function(pawl_unlisted_tests_are_errors)
  get_property(listed GLOBAL PROPERTY PAWL_LISTED_TESTS)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*/*.c"
       "${CMAKE_CURRENT_SOURCE_DIR}/*/*.cpp")
  foreach(source IN LISTS sources)
    cmake_path(RELATIVE_PATH source OUTPUT_VARIABLE path)
    cmake_path(GET path PARENT_PATH folder)
    if(NOT source IN_LIST listed AND NOT path IN_LIST ARGN AND NOT folder IN_LIST ARGN)
      message(FATAL_ERROR "tests/${path} is in no line of tests/tests.cmake: give it one, "
                          "pawl_test(<kind> ${folder}/<name>), or it is never run")
    endif()
  endforeach()
endfunction()

# A program of the test folder, not yet a test.
function(pawl_test_program target source library)
  add_executable(${target} "${source}")
  add_dependencies(tests-${primitive} ${target})
  pawl_strict(${target})
  target_link_libraries(${target} PRIVATE ${library} ${ARGN})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests"
                             "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/examples")
  # Tests use the whole system interface; headers and library are checked without it.
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE
    $<$<BOOL:${CMAKE_INTERPROCEDURAL_OPTIMIZATION}>:PAWL_TEST_WHOLE_PROGRAM>)
  if(arg_EXPLORER)
    target_link_libraries(${target} PRIVATE pawl_explorer)
  endif()
  if(PAWL_COVERAGE)
    target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests/coverage.c")
    target_link_options(${target} PRIVATE LINKER:--wrap=abort,--wrap=_exit)
  endif()
  target_compile_options(${target} PRIVATE
                         "$<$<COMPILE_LANGUAGE:C>:${PAWL_TEST_C_OPTIONS}>")
  if(arg_SOURCES)
    target_compile_options(${target} PRIVATE ${PAWL_TEST_LIBRARY_OPTIONS})
  endif()
  # must(!"a sentence") is how tests mark what must not be reached; clang's -Wconversion objects.
  if(CMAKE_C_COMPILER_ID MATCHES "Clang")
    target_compile_options(${target} PRIVATE -Wno-string-conversion)
  endif()
  # Backtraces of the checking variant name functions of the program.
  set_target_properties(${target} PROPERTIES
    ENABLE_EXPORTS ON RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
endfunction()

# The plug-in of a test with OWN_COPY.
function(pawl_own_copy target source)
  add_library(${target}_copy MODULE "${source}" "${PROJECT_SOURCE_DIR}/src/pawl.c")
  target_include_directories(${target}_copy PRIVATE "${PROJECT_SOURCE_DIR}/include"
                             "${PROJECT_SOURCE_DIR}/tests")
  target_compile_definitions(${target}_copy PRIVATE PAIRS_PLUGIN _GNU_SOURCE)
  target_compile_options(${target}_copy PRIVATE ${PAWL_TEST_LIBRARY_OPTIONS})
  target_link_libraries(${target}_copy PRIVATE Threads::Threads)
  target_link_options(${target}_copy PRIVATE
    "LINKER:--version-script=${PROJECT_SOURCE_DIR}/tests/package/plugins/hidden.map")
  set_target_properties(${target}_copy PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests" C_VISIBILITY_PRESET hidden)
  target_compile_definitions(${target} PRIVATE
    PAIRS_SELF "PAIRS_COPY=\"$<TARGET_FILE:${target}_copy>\"")
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
  add_dependencies(${target} ${target}_copy)
endfunction()

# A test's label and time: stress tests use all CPUs and have them alone.
function(pawl_test_properties name label)
  foreach(more IN ITEMS LONG STATES)
    if(arg_${more})
      string(TOLOWER "${more}" more)
      list(APPEND label ${more})
    endif()
  endforeach()
  if(stress IN_LIST label)
    set_tests_properties(${name} PROPERTIES LABELS "${label}" TIMEOUT ${long_timeout} RUN_SERIAL ON
                         SKIP_RETURN_CODE 77)
  else()
    set_tests_properties(${name} PROPERTIES LABELS "${label}" TIMEOUT ${short_timeout}
                         SKIP_RETURN_CODE 77)
  endif()
endfunction()

# The program once more, as <name>.<how>, with a word in its environment.
function(pawl_test_again name target label how word)
  add_test(NAME ${name}.${how} COMMAND ${target})
  pawl_test_properties(${name}.${how} "${label}")
  set_tests_properties(${name}.${how} PROPERTIES ENVIRONMENT ${word})
endfunction()

# A cmocka program, and once more in each other way that the list asks for.
function(pawl_stress_test name target source library)
  pawl_test_program(${target} "${source}" ${library} cmocka::cmocka)
  if(arg_OWN_COPY)
    pawl_own_copy(${target} "${source}")
  endif()
  add_test(NAME ${name} COMMAND ${target})
  pawl_test_properties(${name} ${kind})
  if(arg_ALSO_SCALING)
    pawl_test_again(${name} ${target} ${kind} scaling PAWL_BIAS=on)
  endif()
  if(arg_ALSO_FENCED)
    pawl_test_again(${name} ${target} ${kind} fenced PAWL_NO_MEMBARRIER=1)
  endif()
  # Once with each compiler, as the twins.
  if(arg_ALSO_TRACED AND traced)
    pawl_test_program(${target}_traced "${source}" ${library} cmocka::cmocka)
    target_compile_definitions(${target}_traced PRIVATE PAWL_TRACED)
    target_compile_options(${target}_traced PRIVATE -fPIE) # traced.h says why
    add_test(NAME ${name}.traced COMMAND ${target}_traced)
    pawl_test_properties(${name}.traced ${kind})
  endif()
  if(arg_DEADLINES AND TARGET pawl_points_time64)
    pawl_test_program(${target}_time64 "${source}" pawl_points_time64 cmocka::cmocka)
    add_test(NAME ${name}.time64 COMMAND ${target}_time64)
    pawl_test_properties(${name}.time64 ${kind})
  endif()
endfunction()

# The same, and its twin in C++.
function(pawl_unit_test name target source library)
  pawl_stress_test(${name} ${target} "${source}" ${library})
  if(twins AND NOT arg_C_ONLY AND NOT arg_EXPLORER)
    # CMake knows one language per file, so the twin is a C++ file that includes the C one.
    set(twin "${CMAKE_CURRENT_BINARY_DIR}/twins/${target}.cpp")
    file(CONFIGURE OUTPUT "${twin}" CONTENT "#include \"${source}\"\n")
    pawl_test_program(${target}_twin "${twin}" ${library} cmocka::cmocka)
    add_test(NAME ${name}.c++ COMMAND ${target}_twin)
    set(long)
    if(arg_STATES) # other tests of the primitive show sooner that the same is compiled
      set(long ";long")
    endif()
    pawl_test_properties(${name}.c++ "${kind};twin${long}")
    if(arg_ALSO_FENCED)
      pawl_test_again(${name}.c++ ${target}_twin "${kind};twin${long}" fenced PAWL_NO_MEMBARRIER=1)
    endif()
  endif()
endfunction()

function(pawl_scale_test name target source library)
  if(NOT sanitized AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
    pawl_test_program(${target} "${source}" pawl_points cmocka::cmocka ${CMAKE_DL_LIBS})
    add_test(NAME ${name} COMMAND ${target})
    pawl_test_properties(${name} "stress;scale")
    set_tests_properties(${name} PROPERTIES TIMEOUT 1800) # ten thousand threads each night
  endif()
endfunction()

# GoogleTest's own code takes most of the time, to be compiled and above all to be optimised. Its
# header is compiled once for all; ccache has all of these programs without, and is slower with it.
function(pawl_cxx_test name target source library)
  pawl_test_program(${target} "${source}" ${library} GTest::gtest_main)
  target_compile_options(${target} PRIVATE ${PAWL_TEST_CXX_OPTIONS})
  if(PAWL_TEST_CXX_OPTIONS AND NOT CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
    if(NOT TARGET tests_googletest)
      file(CONFIGURE OUTPUT twins/googletest.cpp CONTENT "")
      add_library(tests_googletest OBJECT EXCLUDE_FROM_ALL
                  "${CMAKE_CURRENT_BINARY_DIR}/twins/googletest.cpp")
      pawl_strict(tests_googletest)
      target_link_libraries(tests_googletest PRIVATE GTest::gtest_main Threads::Threads)
      target_compile_definitions(tests_googletest PRIVATE _GNU_SOURCE)
      target_compile_options(tests_googletest PRIVATE ${PAWL_TEST_CXX_OPTIONS})
      target_precompile_headers(tests_googletest PRIVATE <gtest/gtest.h>)
    endif()
    target_precompile_headers(${target} REUSE_FROM tests_googletest)
  endif()
  gtest_discover_tests(${target} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS cxx TIMEOUT ${short_timeout})
  if(arg_ALSO_SCALING)
    gtest_discover_tests(${target} TEST_PREFIX "${name}.scaling." DISCOVERY_TIMEOUT 60
                         TEST_LIST ${target}_scaling PROPERTIES LABELS cxx TIMEOUT ${short_timeout}
                         ENVIRONMENT PAWL_BIAS=on)
  endif()
endfunction()

# Not by pawl_test_program: users have neither its search path nor its definitions.
function(pawl_program_test name target folder library)
  if(arg_VARIANT)
    string(APPEND name ".${arg_VARIANT}")
    string(APPEND target "_${arg_VARIANT}")
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cpp")
  add_executable(${target} ${sources})
  add_dependencies(tests-${primitive} ${target})
  pawl_strict(${target})
  target_link_libraries(${target} PRIVATE ${library})
  add_test(NAME ${name} COMMAND ${target})
  set_tests_properties(${name} PROPERTIES LABELS "cxx;program" TIMEOUT ${short_timeout}
                       PASS_REGULAR_EXPRESSION "every check held")
endfunction()

# A *.cpp or *.c whose cases must be refused by the compiler. It has `#if CASE == n` parts, each
# with a line `// expect: regex` that the compiler's words must match, in the order of their numbers
# from 1; with CASE=0 the file must compile. `// expect once: regex` allows no other error.
function(pawl_refusal_test name target source library)
  set(compiler "${CMAKE_CXX_COMPILER}")
  if(NOT arg_STANDARD)
    set(arg_STANDARD c++17)
  endif()
  set(flags "${CMAKE_CXX_FLAGS} -std=${arg_STANDARD}")
  if(source MATCHES "\\.c$")
    set(compiler "${CMAKE_C_COMPILER}")
    set(flags "${CMAKE_C_FLAGS} -std=c11")
  endif()
  if(arg_CLANG AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    return()
  endif()
  # Once with each compiler; the first build with clang is a sanitized one.
  if((sanitized AND NOT arg_CLANG) OR (CMAKE_SIZEOF_VOID_P EQUAL 4 AND NOT arg_EACH_WIDTH))
    return()
  endif()
  list(JOIN arg_CLANG " " more)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
  file(STRINGS "${source}" expected REGEX "// expect( once)?: ")
  list(LENGTH expected last)
  foreach(case RANGE ${last})
    add_test(NAME ${name}.${case} COMMAND ${CMAKE_COMMAND}
      "-DCOMPILER=${compiler}" "-DFLAGS=${flags} ${more}" "-DSOURCE=${source}"
      "-DCASE=${case}" "-DINCLUDE=${PROJECT_SOURCE_DIR}/include"
      -P "${PROJECT_SOURCE_DIR}/packaging/cmake/CheckRefusal.cmake")
    set_tests_properties(${name}.${case} PROPERTIES LABELS refusal TIMEOUT ${short_timeout})
  endforeach()
endfunction()

# pawl_header_tests(): scripts/headers compiles each public header alone, with this compiler. It has
# C++20 of all variants in one test, for make check.
function(pawl_header_tests)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/include"
       "${PROJECT_SOURCE_DIR}/include/pawl/*.h" "${PROJECT_SOURCE_DIR}/include/pawl/*.hpp")
  list(FILTER headers EXCLUDE REGEX "\\.inc\\.h$")
  foreach(header IN LISTS headers)
    string(REPLACE "pawl/" "" name "${header}")
    add_test(NAME header.${name} COMMAND "${PROJECT_SOURCE_DIR}/scripts/headers"
             --brief "${CMAKE_C_COMPILER}" "${CMAKE_CXX_COMPILER}" "${header}")
    set_tests_properties(header.${name} PROPERTIES LABELS headers TIMEOUT ${short_timeout})
  endforeach()
  add_test(NAME headers COMMAND "${PROJECT_SOURCE_DIR}/scripts/headers" "${CMAKE_C_COMPILER}"
           "${CMAKE_CXX_COMPILER}")
  set_tests_properties(headers PROPERTIES LABELS "headers;long" TIMEOUT 1200)
endfunction()

# pawl_script_tests(): scripts that say `# ctest: arguments`; @BUILD@ there is the build folder.
# `# ctest long: arguments` is one for make check. Exit code 77: skipped, the output says why.
function(pawl_script_tests)
  file(GLOB scripts CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/scripts/*")
  foreach(script IN LISTS scripts)
    if(IS_DIRECTORY "${script}")
      continue()
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${script}")
    cmake_path(GET script FILENAME file)
    file(STRINGS "${script}" lines REGEX "^# ctest( long)?:" LIMIT_COUNT 2)
    foreach(line IN LISTS lines)
      string(REGEX MATCH "^# ctest( long)?: *(.*)" line "${line}")
      string(REPLACE " " "." more "${CMAKE_MATCH_1}")
      string(REPLACE "." ";" labels "scripts${more}")
      string(REPLACE "@BUILD@" "${PROJECT_BINARY_DIR}" arguments "${CMAKE_MATCH_2}")
      separate_arguments(arguments UNIX_COMMAND "${arguments}")
      add_test(NAME scripts.${file}${more} COMMAND "${script}" ${arguments}
               WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
      set_tests_properties(scripts.${file}${more} PROPERTIES
        LABELS "${labels}" TIMEOUT ${long_timeout} SKIP_RETURN_CODE 77)
    endforeach()
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
