# SPDX-License-Identifier: MIT
# Builds a peer's library with cargo, without the network (scripts/setup bench fetches what it
# needs), and copies it to TO; a failure is a message and no library. It
# is tried again with the next build then: only success leaves the stamp.

execute_process(
  COMMAND ${CARGO} build --release --locked --offline --quiet --manifest-path ${FROM}/Cargo.toml
          --target-dir ${TARGET}
  RESULT_VARIABLE failed ERROR_VARIABLE says)
if(failed)
  string(REGEX REPLACE "\n.*" "" says "${says}")
  message("The peer parking_lot was not built (${says}); its row will be missing.")
  file(REMOVE ${TO})
else()
  get_filename_component(name ${TO} NAME)
  get_filename_component(folder ${TO} DIRECTORY)
  file(COPY ${TARGET}/release/${name} DESTINATION ${folder})
  file(TOUCH ${STAMP})
endif()
