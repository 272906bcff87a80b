#!/bin/sh
# SPDX-License-Identifier: MIT
# gdb loads the printers beside the installed shared library by itself, where it is allowed to.
. "$(dirname "$0")/common.sh"

command -v gdb >/dev/null || { echo "skipped: gdb is not installed (Debian: gdb)"; exit 77; }
[ -f "$PREFIX/share/pawl/pawl-gdb.py" ] || fail "the printers for gdb"
[ -f "$PREFIX/share/pawl/pawl_lldb.py" ] || fail "the printers for lldb"
run "$CC" -std=c11 -g "-I$PREFIX/include" "$SOURCE/tests/gdb/stopped.c" "$LIBDIR/libpawl.so" \
    "-Wl,-rpath,$(cd "$LIBDIR" && pwd)" -pthread -o stopped
said=$(gdb -q -batch -nx -iex "add-auto-load-safe-path $(cd "$PREFIX" && pwd)" -ex 'break look' \
    -ex run -ex 'print idle' -ex 'print big' ./stopped 2>&1)
case $said in
*'ptrace: Operation not permitted'* | *'Could not trace the inferior'*)
    echo "skipped: gdb may not trace programs here"
    exit 77
    ;;
esac
for expected in 'state = "free"' 'state = "seek"'; do
    printf '%s' "$said" | grep -qF "$expected" || { echo "$said"; fail "missing: $expected"; }
done
