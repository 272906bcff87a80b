#!/bin/sh
# SPDX-License-Identifier: MIT
# A C program built with -fsanitize=thread and the installed library, which is built without: each
# compiler's sanitizer is silent about a right program, and reports each planted race. Readers of
# sleeping locks scale in half of the runs.
. "$(dirname "$0")/common.sh"

count=0
for compiler in gcc clang; do
    command -v $compiler >/dev/null || { echo "left out: there is no $compiler"; continue; }
    # shellcheck disable=SC2086
    run $compiler -std=c11 -D_POSIX_C_SOURCE=200809L $strict -g -fsanitize=thread \
        "-I$PREFIX/include" "$here/races.c" "$LIBDIR/libpawl.a" -pthread -o $compiler.races
    for bias in off on; do
        export PAWL_BIAS=$bias
        code=0
        "$SOURCE/tests/tsan/run" silent ./$compiler.races >said 2>&1 || code=$?
        [ $code -ne 77 ] || { tail -n 1 said; continue 2; }
        [ $code -eq 0 ] || { cat said; fail "a right program, $compiler, PAWL_BIAS=$bias"; }
        for case in brlock_read lock_read lock_read_counted spin_read sift_read counter bigref \
            rcu_read; do
            "$SOURCE/tests/tsan/run" race ./$compiler.races $case >said 2>&1 ||
                { cat said; fail "$case is not reported, $compiler, PAWL_BIAS=$bias"; }
        done
    done
    count=$((count + 1))
done
[ $count -gt 0 ] || { echo "skipped: no compiler's ThreadSanitizer runs here"; exit 77; }
echo "$count compilers"
