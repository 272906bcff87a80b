#!/bin/sh
# SPDX-License-Identifier: MIT
# Plug-ins that each carry the library share one process object, and it outlives them.
. "$(dirname "$0")/common.sh"

plugin="$here/plugins/plugin.c"
compiled="-std=c11 $strict -D_GNU_SOURCE -fPIC -fvisibility=hidden -Isource/include"
flags="$compiled -shared"

# shellcheck disable=SC2086
{
    run "$CC" $compiled -c -o pawl.o "source/src/pawl.c" -pthread
    run "$CC" $flags -o one.so "$plugin" pawl.o -pthread
    run "$CC" $flags -o two.so "$plugin" pawl.o -pthread -Wl,-Bsymbolic-functions
    run "$CC" $flags -o archive.so "$plugin" "$LIBDIR/libpawl.a" -pthread
    run "$CC" $flags -o shared.so "$plugin" -L"$LIBDIR" -lpawl -Wl,-rpath,"$LIBDIR" -pthread
    run "$CC" -std=c11 $strict -D_GNU_SOURCE -o host "$here/plugins/host.c" -pthread -ldl
    run "$CC" -std=c11 $strict -D_GNU_SOURCE -o orders "$here/plugins/orders.c" -pthread -ldl
    # A host that has the library itself: its own copy must be the plug-ins' too.
    archive=$(PKG_CONFIG_PATH="$LIBDIR/pkgconfig" pkg-config --static --libs pawl |
        sed 's/-lpawl/-l:libpawl.a/')
    run "$CC" -std=c11 $strict -D_GNU_SOURCE -DHOST_HAS_PAWL -I"source/include" -o host_archive \
        "$here/plugins/host.c" $archive -ldl
    run "$CC" -std=c11 $strict -D_GNU_SOURCE -DHOST_HAS_PAWL -I"source/include" -o host_shared \
        "$here/plugins/host.c" -L"$LIBDIR" -lpawl -Wl,-rpath,"$LIBDIR" -pthread -ldl
    run "$CC" -std=c11 $strict -D_GNU_SOURCE -DHOST_HAS_PAWL -I"source/include" -o orders_archive \
        "$here/plugins/orders.c" $archive -ldl
    run "$CC" -std=c11 $strict -D_GNU_SOURCE -DHOST_HAS_PAWL -I"source/include" -o orders_shared \
        "$here/plugins/orders.c" -L"$LIBDIR" -lpawl -Wl,-rpath,"$LIBDIR" -pthread -ldl
}

for host in host host_archive host_shared; do
    for pair in "one two" "two one" "one archive" "shared one" "archive shared"; do
        # shellcheck disable=SC2086
        set -- $pair
        run "./$host" "./$1.so" "./$2.so"
        run env PAWL_BIAS=on "./$host" "./$1.so" "./$2.so"
        run "./orders${host#host}" "./$1.so" "./$2.so"
    done
done
