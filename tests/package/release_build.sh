#!/bin/sh
# SPDX-License-Identifier: MIT
# The libraries as the preset `release` makes them, from a copy of the source: built once, for the
# tests that compare sizes and bytes. The copy has nothing that git does not know.
. "$(dirname "$0")/common.sh"

copy_source tree
run "$CMAKE" -S tree -B build -G Ninja -DCMAKE_BUILD_TYPE=Release \
    "-DCMAKE_C_FLAGS_RELEASE=-O2 -DNDEBUG" -DCMAKE_C_COMPILER="$CC" -DPAWL_BUILD_TESTS=OFF \
    -DPAWL_BUILD_BENCH=OFF -DPAWL_BUILD_EXAMPLES=OFF -DPAWL_BUILD_SHIM=OFF -DPAWL_VALGRIND=OFF
run "$CMAKE" --build build
