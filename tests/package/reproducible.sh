#!/bin/sh
# SPDX-License-Identifier: MIT
# The libraries have the same bytes, whatever the path of the source and of the build folder. Debug
# information and __FILE__ named the folder; archives named the time.
. "$(dirname "$0")/common.sh"

first=../release_build/build
[ -e $first/libpawl.a ] || fail "the test package.release_build has made no libraries"
copy_source "a longer path/than the other"
run "$CMAKE" -S "a longer path/than the other" -B "outside of it" -G "Unix Makefiles" \
    -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_FLAGS_RELEASE=-O2 -DNDEBUG" -DCMAKE_C_COMPILER="$CC" \
    -DPAWL_BUILD_TESTS=OFF -DPAWL_BUILD_BENCH=OFF -DPAWL_BUILD_EXAMPLES=OFF -DPAWL_VALGRIND=OFF
run "$CMAKE" --build "outside of it" -j 2 --target pawl_static pawl_shared pawl_checked_shared
for library in libpawl.a libpawl.so libpawl-checked.so; do
    run cmp $first/$library "outside of it/$library"
done

# With debug information too: a program of one file is enough to see the flags at work.
for tree in ../release_build/tree "a longer path/than the other"; do
    where=$(cd "$tree" && pwd)
    name=$(basename "$tree" | tr ' ' _).o
    run "$CC" -std=c11 -g -O1 "-ffile-prefix-map=$PWD=/usr/src" \
        "-ffile-prefix-map=$where=/usr/src/pawl" -I"$where/include" -c "$where/src/lock/spin32.c" \
        -o "$name"
done
run cmp tree.o than_the_other.o
