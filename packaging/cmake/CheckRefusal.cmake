# SPDX-License-Identifier: MIT
# cmake -DCOMPILER= -DFLAGS= -DSOURCE= -DCASE= -DINCLUDE= -P CheckRefusal.cmake
# Case 0 of a source must compile; the others must be refused in the words that its n-th line
# `// expect: regex` gives; `// expect once: regex` allows no other error. See
# pawl_refusal_test in PawlTests.cmake.
set(ENV{LC_ALL} C) # the compiler's words and quotes are the same everywhere
separate_arguments(flags UNIX_COMMAND "${FLAGS}")
set(only -fsyntax-only)
if(SOURCE MATCHES "\\.c$") # gcc looks for discarded results of C functions later than that
  set(only -S -o /dev/null)
endif()
execute_process(
  COMMAND "${COMPILER}" ${flags} -pedantic-errors ${only} "-DCASE=${CASE}" "-I${INCLUDE}"
          "${SOURCE}"
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)

if(CASE EQUAL 0)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "The case that is right does not compile:\n${output}")
  endif()
  return()
endif()

file(STRINGS "${SOURCE}" expected REGEX "// expect( once)?: ")
math(EXPR index "${CASE} - 1")
list(GET expected ${index} line)
string(REGEX REPLACE "^.*// expect( once)?: *" "" pattern "${line}")
if(status EQUAL 0)
  message(FATAL_ERROR "Case ${CASE} compiles; it should be refused with \"${pattern}\"")
endif()
# The compiler quotes the line, and with it what we expect of it.
string(REGEX REPLACE "[^\n]*// expect( once)?: [^\n]*" "" output "${output}")
if(NOT output MATCHES "${pattern}")
  message(FATAL_ERROR "Case ${CASE} is refused, but not with \"${pattern}\":\n${output}")
endif()
string(REGEX MATCHALL "error: " errors "${output}")
list(LENGTH errors count)
if(line MATCHES "// expect once: " AND NOT count EQUAL 1)
  message(FATAL_ERROR "Case ${CASE} has ${count} errors, not one:\n${output}")
endif()
