#!/bin/sh
# SPDX-License-Identifier: MIT
# The options that choose what is built, with the generator that every system has; what is installed
# is removed again by the target `uninstall`, and nothing else is.
. "$(dirname "$0")/common.sh"

configure() { # folder, option...
    folder=$1
    shift
    run "$CMAKE" -S "$SOURCE" -B "$folder" -G "Unix Makefiles" -DCMAKE_C_COMPILER="$CC" \
        -DPAWL_BUILD_TESTS=OFF -DPAWL_BUILD_BENCH=OFF -DPAWL_BUILD_EXAMPLES=OFF \
        -DPAWL_BUILD_SHIM=OFF -DPAWL_VALGRIND=OFF -DPAWL_INSTALL_COMMAND=OFF \
        -DPAWL_INSTALL_PAGES=OFF "$@"
}

says() { # words, option...
    words=$1
    shift
    if configure contradiction "$@" >said.txt 2>&1; then
        fail "it configured: $*"
    fi
    tr -s ' \n' ' ' <said.txt | grep -qF "$words" || {
        cat said.txt >&2
        fail "refused, but not with: $words"
    }
    rm -rf contradiction
}

says "There is no library to build: set PAWL_BUILD_STATIC" -DPAWL_BUILD_STATIC=OFF \
    -DPAWL_BUILD_SHARED=OFF
says "PAWL_BUILD_EXAMPLES needs the static library: set PAWL_BUILD_STATIC=ON" \
    -DPAWL_BUILD_STATIC=OFF -DPAWL_BUILD_EXAMPLES=ON
says "The tests need the checking library: set PAWL_BUILD_CHECKED=ON" -DPAWL_BUILD_CHECKED=OFF \
    -DPAWL_BUILD_TESTS=ON

# One library alone.
configure shared -DPAWL_BUILD_STATIC=OFF -DPAWL_BUILD_CHECKED=OFF -DCMAKE_INSTALL_LIBDIR=lib
run "$CMAKE" --build shared
mkdir -p root/usr/include/pawl root/usr/lib
echo theirs >root/usr/include/pawl/not_ours.h
echo theirs >root/usr/lib/libother.so
DESTDIR=$PWD/root run "$CMAKE" --install shared --prefix /usr
[ -e root/usr/lib/libpawl.so ] || fail "no shared library"
for file in lib/libpawl.a lib/libpawl-checked.so lib/pkgconfig/pawl-checked.pc bin/pawl \
    include/pawl-checked share/man/man1; do
    [ ! -e "root/usr/$file" ] || fail "$file was installed too"
done
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(user C)
find_package(pawl REQUIRED)
add_executable(user ${SOURCE}/tests/package/consumer.c)
target_link_libraries(user pawl::pawl)
END
run "$CMAKE" -S . -B user -DCMAKE_C_COMPILER="$CC" -DSOURCE="$SOURCE" \
    -Dpawl_DIR="$PWD/root/usr/lib/cmake/pawl"
run "$CMAKE" --build user
run user/user

DESTDIR=$PWD/root run "$CMAKE" --build shared --target uninstall
left=$(cd root && find . ! -type d | sort | tr '\n' ' ')
[ "$left" = "./usr/include/pawl/not_ours.h ./usr/lib/libother.so " ] || fail "what is left: $left"
[ ! -d root/usr/lib/cmake/pawl ] || fail "an empty folder is left"
if "$CMAKE" --build shared --target uninstall >said.txt 2>&1; then
    fail "what is not installed was uninstalled"
fi
grep -q "Nothing was installed" said.txt || { cat said.txt; fail "another reason"; }

# The preset of users takes their compiler, and a warning is not an error to it.
for word in '"generator"' '"CMAKE_C_COMPILER"' '"inherits"' '"PAWL_WERROR"'; do
    if sed -n '/"name": "release"/,/^    }/p' "$SOURCE/CMakePresets.json" | sed -n '1,/^    }/p' |
        grep -q "$word"; then
        fail "the preset release sets $word"
    fi
done
