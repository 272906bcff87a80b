#!/bin/sh
# SPDX-License-Identifier: MIT
# Plug-ins that each carry the library share one process object, and it outlives them; also where
# nobody shows the library's names to the loader.
. "$(dirname "$0")/common.sh"

plugin="$here/plugins/plugin.c"
compiled="-std=c11 $strict -D_GNU_SOURCE -fPIC -fvisibility=hidden -Isource/include"
flags="$compiled -shared"
program="-std=c11 $strict -D_GNU_SOURCE -Isource/include"
hidden="-Wl,--version-script=$here/plugins/hidden.map"
pairs="$here/plugins/pairs.c"

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
    # Nothing of a copy is in the dynamic symbol table.
    run "$CC" $flags -o hidden.so "$plugin" pawl.o -pthread "$hidden"
    run "$CC" $program -DHOST_HAS_PAWL -o host_hidden "$here/plugins/host.c" pawl.o -pthread -ldl
    run "$CC" $program -DHOST_HAS_PAWL -o orders_hidden "$here/plugins/orders.c" pawl.o -pthread \
        -ldl

    run "$CC" $flags -DPAIRS_PLUGIN -o shown_pairs.so "$pairs" pawl.o -pthread
    run "$CC" $flags -DPAIRS_PLUGIN -o hidden_pairs.so "$pairs" pawl.o -pthread "$hidden"
    run "$CC" $flags -DPAIRS_PLUGIN -o shared_pairs.so "$pairs" -L"$LIBDIR" -lpawl \
        -Wl,-rpath,"$LIBDIR" -pthread
    run "$CC" $program -o pairs_none "$pairs" -pthread -ldl
    run "$CC" $program -DPAIRS_SELF -o pairs_hidden "$pairs" pawl.o -pthread -ldl
    run "$CC" $program -DPAIRS_SELF -rdynamic -o pairs_exports "$pairs" pawl.o -pthread -ldl
    run "$CC" $program -DPAIRS_SELF -o pairs_archive "$pairs" $archive -ldl
    run "$CC" $program -DPAIRS_SELF -o pairs_shared "$pairs" -L"$LIBDIR" -lpawl \
        -Wl,-rpath,"$LIBDIR" -pthread -ldl
    # Loaded with the program, and so before its first use.
    run "$CC" $program -DPAIRS_SELF -o pairs_needed "$pairs" pawl.o -Wl,--no-as-needed \
        ./shown_pairs.so ./hidden_pairs.so -Wl,-rpath,. -pthread -ldl
    # Another version of the library.
    mkdir other
    cp -r source/src source/include other
    sed -i 's/_v3_/_v9_/' other/include/pawl/atomic.h
    run "$CC" -std=c11 $strict -O0 -D_GNU_SOURCE -fPIC -fvisibility=hidden -Iother/include -shared \
        -DPAIRS_PLUGIN -o other_pairs.so "$pairs" other/src/pawl.c -pthread
}

for host in host host_archive host_shared host_hidden; do
    for pair in "one two" "two one" "one archive" "shared one" "archive shared" "hidden one" \
        "one hidden" "hidden shared"; do
        # shellcheck disable=SC2086
        set -- $pair
        run "./$host" "./$1.so" "./$2.so"
        run env PAWL_BIAS=on "./$host" "./$1.so" "./$2.so"
        run "./orders${host#host}" "./$1.so" "./$2.so"
    done
done

# Thread data: 16 bytes a copy, of which the loader has as many as doc/fences.md says.
# shellcheck disable=SC2086
run "$CC" -std=c11 $strict -D_GNU_SOURCE -o many "$here/plugins/many.c" -pthread -ldl
for kind in one hidden; do
    readelf -lW $kind.so | awk '$1 == "TLS" { print $6 }' | grep -qx 0x000010 ||
        fail "$kind.so has other thread data than 16 bytes"
    for i in $(seq 120); do
        cp $kind.so "many_$i.so"
    done
    for room in 512:100 0:70; do # 512: the default
        loaded=$(env "GLIBC_TUNABLES=glibc.rtld.optional_static_tls=${room%:*}" ./many ./many_*.so)
        echo "with optional_static_tls=${room%:*} $loaded copies were loaded"
        [ "$loaded" -ge "${room#*:}" ] || fail "these are fewer than ${room#*:}"
    done
    rm -f many_*.so
done

# Two copies, one lock, all states and operations.
for bias in on off; do
    for plugin in shown hidden shared; do
        for host in hidden exports archive shared needed; do
            run env PAWL_BIAS=$bias ./pairs_$host self ./${plugin}_pairs.so
        done
        run env PAWL_BIAS=$bias ./pairs_hidden ./${plugin}_pairs.so self
        run env PAWL_BIAS=$bias PAIRS_GLOBAL=1 ./pairs_hidden self ./${plugin}_pairs.so
    done
    for pair in "shown hidden" "hidden shown" "hidden shared" "shared shown"; do
        # shellcheck disable=SC2086
        set -- $pair
        for host in none hidden needed; do
            run env PAWL_BIAS=$bias ./pairs_$host ./$1_pairs.so ./$2_pairs.so
        done
    done
done

# Copies that cannot share: the sentence where readers scale, and right where they do not.
ends() { # wanted, environment, program, arguments
    wanted=$1
    shift
    echo "$ $*    ($wanted)"
    if env "$@" >said.txt 2>&1; then
        said=right
    else
        said=other
        if grep -q "readers of another copy of the library" said.txt; then
            said=sentence
        fi
    fi
    if [ "$said" != "$wanted" ]; then
        cat said.txt >&2
        fail "$said in place of $wanted"
    fi
}
for how in "PAIRS_STRANGE=1 other" "PAIRS_APART=1 hidden"; do
    # shellcheck disable=SC2086
    set -- $how
    ends right "$1" PAWL_BIAS=off ./pairs_hidden self "./$2_pairs.so"
    ends right "$1" PAWL_BIAS=off ./pairs_hidden "./$2_pairs.so" self
    ends sentence "$1" PAWL_BIAS=on ./pairs_hidden self "./$2_pairs.so"
    ends sentence "$1" PAWL_BIAS=on ./pairs_hidden "./$2_pairs.so" self
done
