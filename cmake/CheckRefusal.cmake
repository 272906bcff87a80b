# SPDX-License-Identifier: MIT
# cmake -DCOMPILER= -DFLAGS= -DSOURCE= -DCASE= -DINCLUDE= -P CheckRefusal.cmake
# Case 0 of a source must compile; the others must be refused in the words that its n-th line
# `// expect: regex` gives. See pawl_refusal_test in PawlTests.cmake.
set(ENV{LC_ALL} C) # the compiler's words and quotes are the same everywhere
separate_arguments(flags UNIX_COMMAND "${FLAGS}")
execute_process(
  COMMAND "${COMPILER}" ${flags} -pedantic-errors -fsyntax-only "-DCASE=${CASE}" "-I${INCLUDE}"
          "${SOURCE}"
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)

if(CASE EQUAL 0)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "The case that is right does not compile:\n${output}")
  endif()
  return()
endif()

file(STRINGS "${SOURCE}" expected REGEX "// expect: ")
math(EXPR index "${CASE} - 1")
list(GET expected ${index} line)
string(REGEX REPLACE "^.*// expect: *" "" pattern "${line}")
if(status EQUAL 0)
  message(FATAL_ERROR "Case ${CASE} compiles; it should be refused with \"${pattern}\"")
endif()
# The compiler quotes the line, and with it what we expect of it.
string(REGEX REPLACE "[^\n]*// expect: [^\n]*" "" output "${output}")
if(NOT output MATCHES "${pattern}")
  message(FATAL_ERROR "Case ${CASE} is refused, but not with \"${pattern}\":\n${output}")
endif()
