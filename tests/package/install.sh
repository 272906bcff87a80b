#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs into one folder and moves it: the installed tree must work wherever it is put.
. "$(dirname "$0")/common.sh"

run "$CMAKE" --install "$BUILD" --prefix "$WORK/elsewhere" >said.txt 2>&1 || {
    cat said.txt
    exit 1
}
grep "^-- Not installed" said.txt || true
rm -rf "$PREFIX"
mv "$WORK/elsewhere" "$PREFIX"
