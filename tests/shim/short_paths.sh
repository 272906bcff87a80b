#!/bin/sh
# SPDX-License-Identifier: MIT
# What an uncontended pair executes (doc/design/026-shim.md): one locked instruction to take and one
# to unlock, no call, no stack frame. For x86-64 and gcc. PawlShimTests.cmake gives: nm,
# objdump, the library.
set -eu
nm=$1 objdump=$2 library=$3

fail() {
    echo "failed: $*" >&2
    exit 1
}

# The instructions of a function. Its cold part is elsewhere.
code() {
    place=$("$nm" -D -S --defined-only "$library" | sed -n "s/ T $1@@.*//p")
    [ -n "$place" ] || fail "$library has no $1"
    first=0x${place% *} size=0x${place#* }
    "$objdump" -d --no-show-raw-insn --start-address=$((first)) --stop-address=$((first + size)) \
        "$library" | grep -E '^ +[0-9a-f]+:'
}

expect() {
    code "$1" >"$work/code"
    locked=$(grep -cE '[[:space:]](lock |xchg .*[(])' "$work/code" || true)
    [ "$locked" = "$2" ] || fail "$1 has $locked locked instructions, not $2"
    if grep -E '[[:space:]](call|push|enter)|[[:space:]]sub .*%rsp' "$work/code"; then
        fail "$1 has a call or a stack frame"
    fi
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for take in tryrdlock wrlock trywrlock; do
    expect pthread_rwlock_$take 1
done
expect pthread_rwlock_rdlock 2 # in the word, and in an entry
expect pthread_rwlock_unlock 3 # for these, and for a writer
echo "the short paths are short"
