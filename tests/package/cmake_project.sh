#!/bin/sh
# SPDX-License-Identifier: MIT
# Configures, builds and tests the project in a folder beside this file.
project=$1
shift
. "$(dirname "$0")/common.sh"

run "$CMAKE" -S "$here/$project" -B build -G Ninja \
    -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_PREFIX_PATH="$WORK/$PREFIX" \
    -DPAWL_SOURCE="$SOURCE" "$@"
run "$CMAKE" --build build
run "$CMAKE" --build build --target test
