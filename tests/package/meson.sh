#!/bin/sh
# SPDX-License-Identifier: MIT
# A project of Meson's that carries Pawl as a subproject, by packaging/meson/pawl.wrap.
. "$(dirname "$0")/common.sh"

command -v meson >/dev/null || { echo "skipped: meson is not installed (Debian: meson)"; exit 77; }
mkdir -p user/subprojects
cp "$here/meson/meson.build" "$here/consumer.c" "$here/checked.c" user
cp "$SOURCE/packaging/meson/pawl.wrap" user/subprojects
copy_source user/subprojects/pawl
run meson setup --native-file /dev/null --prefix "$PWD/usr" --libdir lib user build
run meson compile -C build
run meson test -C build --no-rebuild
run meson install -C build --quiet
for file in lib/libpawl.a lib/libpawl.so.$SOVERSION lib/pkgconfig/pawl-checked.pc \
    include/pawl/lock.h include/pawl-checked/pawl/config.h; do
    [ -e "usr/$file" ] || fail "$file is not installed"
done
nm -D --defined-only "usr/lib/libpawl.so" | awk '{ print $NF }' >symbols
! grep -Ev '^(ipawl_.*@)?@?PAWL_[0-9.]+$' symbols || fail "names that are not Pawl's, or no version"
