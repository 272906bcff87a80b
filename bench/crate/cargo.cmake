# SPDX-License-Identifier: MIT
# Builds the crate's benchmark with cargo, without the network (scripts/setup bench fetches what it
# needs), and copies it to TO. A failure is a message and no program, and is tried again with the
# next build: only success leaves the stamp.

get_filename_component(name ${TO} NAME)
get_filename_component(folder ${TO} DIRECTORY)
execute_process(COMMAND rustc --version OUTPUT_VARIABLE rust OUTPUT_STRIP_TRAILING_WHITESPACE
                ERROR_QUIET)
execute_process(COMMAND ${CC} -dumpfullversion -dumpversion OUTPUT_VARIABLE version
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
get_filename_component(compiler ${CC} NAME)
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env "CC=${CC}" "PAWL_BENCH_COMPILER=${rust}, ${compiler} ${version}"
          ${CARGO} bench --no-run --bench beside_parking_lot --locked --offline --quiet
          --message-format json --manifest-path ${FROM}/Cargo.toml --target-dir ${TARGET}
  RESULT_VARIABLE failed OUTPUT_VARIABLE told ERROR_VARIABLE says)
# cargo puts a number of its own into the program's name, and says which.
string(REGEX MATCH "\"executable\":\"([^\"]+)\"" found "${told}")
if(failed OR NOT found)
  string(REGEX REPLACE "\n.*" "" says "${says}")
  message("${name} was not built (${says}); pawl bench crate will say so.")
  file(REMOVE ${TO})
else()
  configure_file("${CMAKE_MATCH_1}" ${folder}/${name} COPYONLY)
  file(TOUCH ${STAMP})
endif()
