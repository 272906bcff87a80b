#!/bin/sh
# SPDX-License-Identifier: MIT
# A program written against plock's two headers: the include path changes, and nothing else.
. "$(dirname "$0")/common.sh"

for flags in "-std=gnu11 -O0" "-std=c11 -O2"; do
    # shellcheck disable=SC2086
    run "$CC" $flags -Wall -Wextra -Werror "-I$PREFIX/include/pawl/compat" "-I$PREFIX/include" \
        "$here/plock_program/list.c" "$here/plock_program/atomics.c" "$LIBDIR/libpawl.a" -pthread \
        -o list
    run ./list
done
