#!/bin/sh
# SPDX-License-Identifier: MIT
# The library as two files, alone in an empty folder: scripts/single.
. "$(dirname "$0")/common.sh"

run python3 "$SOURCE/scripts/single" two
cp "$here/consumer.c" "$here/consumer.cpp" "$here/single.c" two/
cd two
# Users of two files include "pawl.h".
sed 's|<pawl/pawl.h>|"pawl.h"|' consumer.c >user.c
if grep -E '^ *# *include *[<"](pawl/|\.\.)' pawl.h pawl.c; then
    fail "the two files include others of the library"
fi

# shellcheck disable=SC2086
{
    run "$CC" -std=c11 $strict -o user user.c pawl.c -pthread
    run ./user
    run "$CC" -std=c11 $strict -c pawl.c -pthread
    run "$CC" -std=c11 $strict -o single single.c pawl.o -pthread
    run ./single
    cp single.c single.cpp
    run "$CXX" -std=c++17 $strict -o single_cxx single.cpp pawl.o -pthread
    run ./single_cxx
    # With PAWL_SMALL too, and with the other compiler, where there is one.
    run "$CC" -std=c11 $strict -DPAWL_SMALL -o small single.c pawl.o -pthread
    run ./small
    for other in gcc clang; do
        command -v $other >/dev/null || continue
        run $other -std=gnu17 -O1 -Wall -Wextra -Werror -o other single.c pawl.c -pthread
        run ./other
    done
}
