#!/bin/sh
# SPDX-License-Identifier: MIT
# Each source of the library compiled alone, and a program linked with the objects.
. "$(dirname "$0")/common.sh"

build() # variant's search path, folder of objects
{
    mkdir -p "$2"
    for file in "$SOURCE"/src/*/*.c; do
        object=$2/$(basename "$(dirname "$file")")_$(basename "$file" .c).o
        # shellcheck disable=SC2086
        run "$CC" -std=c11 $strict -O0 -D_GNU_SOURCE -fvisibility=hidden $1 -I"$SOURCE/include" -c \
            -o "$object" "$file" -pthread
    done
}

build "" release
build "-I$SOURCE/src/variant/checked" checked_objects
# shellcheck disable=SC2086
{
    run "$CC" -std=c11 $strict -I"$SOURCE/include" -o c "$here/consumer.c" release/*.o -pthread
    run ./c
    run "$CC" -std=c11 -D_POSIX_C_SOURCE=200809L $strict -I"$SOURCE/src/variant/checked" \
        -I"$SOURCE/include" -o checked "$here/checked.c" checked_objects/*.o -pthread
    run ./checked
}
