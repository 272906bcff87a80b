#!/bin/sh
# SPDX-License-Identifier: MIT
# doc/sizes.md says what a program pays for each primitive: compared with the release build.
. "$(dirname "$0")/common.sh"

[ "$(uname -sm)" = "Linux x86_64" ] || {
    echo "skipped: the page is about Linux on x86-64"
    exit 77
}
case $("$CC" --version | head -n 1 | grep -v clang) in
gcc* | *"Debian"*) ;;
*) echo "skipped: the page is about gcc"; exit 77 ;;
esac
command -v strace >/dev/null || {
    echo "skipped: strace is not installed (Debian: strace)"
    exit 77
}

# The installed tree of this build may have other flags: the page is about the release preset's.
run "$CMAKE" --install ../release_build/build --prefix sizes_prefix
CC=$CC run "$SOURCE/scripts/sizes" sizes_prefix --check

# Without the tables for stacks, where a build asks for it.
run "$CMAKE" -S "$SOURCE" -B bare -G Ninja -DCMAKE_BUILD_TYPE=Release -DPAWL_UNWIND=OFF \
    "-DCMAKE_C_FLAGS_RELEASE=-O2 -DNDEBUG" -DCMAKE_C_COMPILER="$CC" -DPAWL_BUILD_TESTS=OFF \
    -DPAWL_BUILD_BENCH=OFF -DPAWL_BUILD_EXAMPLES=OFF -DPAWL_BUILD_SHIM=OFF -DPAWL_VALGRIND=OFF
run "$CMAKE" --build bare --target pawl_static
if size -A bare/libpawl.a | grep '^\.eh_frame'; then
    fail "PAWL_UNWIND=OFF leaves tables in the archive"
fi
