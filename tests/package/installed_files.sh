#!/bin/sh
# SPDX-License-Identifier: MIT
# What is installed, and what the shared libraries show.
. "$(dirname "$0")/common.sh"

for header in "$SOURCE"/include/pawl/*; do
    name=$(basename "$header")
    [ -d "$header" ] || [ -f "$PREFIX/include/pawl/$name" ] || fail "include/pawl/$name is missing"
done
[ -f "$PREFIX/include/pawl-checked/pawl/config.h" ] || fail "the checking variant's header"
[ -f "$LIBDIR/cmake/pawl/pawlConfigVersion.cmake" ] || fail "the CMake package"
[ -n "$(find "$PREFIX/share" -name LICENSE)" ] || fail "the licence"
# Pages are made at the installation. What it could not make, it said.
installed() { # what, a file of it
    [ -f "$PREFIX/share/$2" ] || grep -F "Not installed: $1" ../install/said.txt || fail "share/$2"
}
functions="the manual pages of the functions"
installed "$functions" man/man7/pawl.7
installed "$functions" man/man3/pawl_lock.3
installed "$functions" man/man3/pawl_lock64_take_read.3
! grep -q PAWL_INSTALL_COMMAND:BOOL=ON "$BUILD/CMakeCache.txt" || {
    installed "the manual pages of the command" man/man1/pawl-bench-lru.1
    installed "the schemas of the command's files" pawl/schema/result.schema.json
}

# Without Python all else is installed.
PAWL_PYTHON=/none "$CMAKE" --install "$BUILD" --prefix "$PWD/bare" >said.txt
grep -F "Not installed: $functions" said.txt || fail "it does not say what is missing"
[ -f bare/include/pawl/lock.h ] && [ ! -e bare/share/man/man3 ] ||
    fail "an installation without Python"

libraries='pawl pawl-checked'
if grep -q '^PAWL_VALGRIND:BOOL=ON' "$BUILD/CMakeCache.txt"; then
    libraries="$libraries pawl-valgrind"
    [ -f "$PREFIX/include/pawl-valgrind/pawl/config.h" ] || fail "the valgrind variant's header"
    [ -f "$LIBDIR/pkgconfig/pawl-valgrind.pc" ] || fail "pkg-config's file for it"
fi
for name in $libraries; do
    library=$LIBDIR/lib$name.so
    [ -f "$LIBDIR/lib$name.a" ] || fail "lib$name.a"
    [ "$(readlink "$library")" = "lib$name.so.$SOVERSION" ] || fail "$library is not a link"
    [ "$(readlink "$library.$SOVERSION")" = "lib$name.so.$VERSION" ] || fail "$library.$SOVERSION"
    objdump -p "$library" | grep -q "SONAME *lib$name.so.$SOVERSION\$" || fail "soname of $library"
    nm -D --defined-only "$library" | awk '{ print $NF }' >"$name.symbols"
    [ -s "$name.symbols" ] || fail "$library shows no symbol"
    # The versions themselves are symbols too.
    if grep -Ev '^(ipawl_.*@)?@?PAWL_[0-9.]+$' "$name.symbols"; then
        fail "$library shows names that are not Pawl's, or that have no version"
    fi
    objdump -p "$library" | awk '/NEEDED/ { print $2 }' >"$name.needed"
    allowed='libc|libpthread|ld-linux.*'
    [ "$name" != pawl-checked ] || allowed="$allowed|libgcc_s" # the unwinder, for stacks in reports
    if grep -Ev "^($allowed)\\.so" "$name.needed"; then
        fail "$library needs more than the C library"
    fi
done

# 77: there was no <sys/sdt.h>.
"$SOURCE/tests/gdb/probes" "$(cd "$LIBDIR" && pwd)/libpawl.so" || [ $? -eq 77 ] ||
    fail "the static probes"

if grep -rlF -e "$SOURCE" -e "$BUILD" "$LIBDIR/cmake" "$LIBDIR/pkgconfig" "$PREFIX/include"; then
    fail "these name the folder that Pawl was built in"
fi
