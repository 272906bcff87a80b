#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds with what pkg-config says, shared and static, release and checking variant.
. "$(dirname "$0")/common.sh"
command -v pkg-config >/dev/null || { echo "skipped: pkg-config is not installed"; exit 77; }
export PKG_CONFIG_PATH="$LIBDIR/pkgconfig"

[ "$(pkg-config --modversion pawl)" = "$VERSION" ] || fail "the version is not $VERSION"

# shellcheck disable=SC2046,SC2086
build() { # name, module, source, pkg-config options...
    name=$1 module=$2 source=$3
    shift 3
    run "$CC" -std=c11 -D_POSIX_C_SOURCE=200809L $strict -o "$name" "$here/$source" \
        $(pkg-config "$@" --cflags --libs "$module") $link
}

link=-pthread
build shared pawl consumer.c
build shared_checked pawl-checked checked.c
for name in shared shared_checked; do
    run env LD_LIBRARY_PATH="$LIBDIR" "./$name"
    objdump -p $name | grep -q 'NEEDED *libpawl' || fail "$name does not use the shared library"
done

# As doc/install.md says for a prefix that the loader does not search.
link="-pthread -Wl,-rpath,$WORK/$(pkg-config --variable=libdir pawl)"
build run_path pawl consumer.c
run env -u LD_LIBRARY_PATH ./run_path
link=-pthread

if pkg-config --exists pawl-valgrind; then
    build shared_valgrind pawl-valgrind consumer.c
    run env LD_LIBRARY_PATH="$LIBDIR" ./shared_valgrind
fi

link=-static
build static pawl consumer.c --static 2>said.txt
build static_checked pawl-checked checked.c --static 2>>said.txt
[ ! -s said.txt ] || { cat said.txt; fail "the linker warns"; }
run ./static
run ./static_checked
