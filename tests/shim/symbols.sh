#!/bin/sh
# SPDX-License-Identifier: MIT
# What the preload libraries show: glibc's names in glibc's versions, of locks all that there are,
# and no name of their own. PawlShimTests.cmake gives: nm, the C library, the libraries.
set -eu
nm=$1 libc=$2 rwlock=$3 spin=$4

fail() {
    echo "failed: $*" >&2
    exit 1
}

# Names with their versions; @@ and @ as glibc has them. The lines of the versions themselves go.
shown() {
    "$nm" -D --defined-only --with-symbol-versions "$1" | awk '$2 != "A" { print $3 }' | sort
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
shown "$libc" | grep -E '^(__)?pthread_rwlock_' >"$work/libc.rwlock"
shown "$libc" | grep -E '^pthread_spin_' >"$work/libc.spin"
for kind in rwlock spin; do
    eval library=\$$kind
    shown "$library" | grep -vE '^dlm?open@' >"$work/our.$kind"
    shown "$library" | grep -E '^dlm?open@' >"$work/our.opens"
    shown "$libc" | grep -Fxf "$work/our.opens" >"$work/libc.opens" || true
    [ "$(wc -l <"$work/our.opens")" = 4 ] && diff "$work/libc.opens" "$work/our.opens" ||
        fail "dlopen and dlmopen of $library are not those of $libc"
done
[ -s "$work/libc.rwlock" ] && [ -s "$work/libc.spin" ] || fail "$libc shows no rwlocks"
for kind in rwlock spin; do
    diff "$work/libc.$kind" "$work/our.$kind" || fail "the names differ from those of $libc"
done
for library in "$rwlock" "$spin"; do
    if readelf -d "$library" | awk '/NEEDED/ { print $NF }' |
        grep -Ev '^\[(libc|libpthread|libdl|ld-linux.*)\.so'; then
        fail "$library needs more than the C library"
    fi
done
echo "$(wc -l <"$work/our.rwlock") names of rwlocks, $(wc -l <"$work/our.spin") of spinlocks"
