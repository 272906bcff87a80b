#!/bin/sh
# SPDX-License-Identifier: MIT
# The library as two files, with a third for C++, alone in an empty folder: scripts/single.
. "$(dirname "$0")/common.sh"

run python3 "$SOURCE/scripts/single" two
run python3 "$SOURCE/scripts/single" --parts "lock counter" parts
cat >parts/parts.c <<'END'
#include "pawl.h"
static pawl_lock64 lock;
static pawl_counter counter;
int main(void)
{
    pawl_lock64_take_read(&lock);
    if (!pawl_lock64_read_claim_write(&lock))
        return 1;
    pawl_counter_add(&counter, 2);
    pawl_lock64_drop_write(&lock);
    return pawl_counter_read(&counter) != 2;
}
END
# shellcheck disable=SC2086
run "$CC" -std=c11 $strict -o parts.program parts/parts.c parts/pawl.c -pthread
run ./parts.program
cp "$here/consumer.c" "$here/single.c" "$here/single_guards.cpp" two/
cp "$here/single.c" two/single.cpp
cd two
# Users of two files include "pawl.h".
sed 's|<pawl/pawl.h>|"pawl.h"|' consumer.c >user.c
if grep -E '^ *# *include *[<"](pawl/|\.\.)' pawl.h pawl.c pawl.hpp; then
    fail "the files include others of the library"
fi

# pawl.c takes seconds: it is compiled once, and once with the other compiler, where there is one.
case $("$CC" --version | head -n 1) in
*clang*) other=gcc ;;
*) other=clang ;;
esac
# shellcheck disable=SC2086
{
    run "$CC" -std=c11 $strict -c pawl.c -pthread
    run "$CC" -std=c11 $strict -o user user.c pawl.o -pthread
    run ./user
    run "$CC" -std=c11 $strict -o single single.c pawl.o -pthread
    run ./single
    run "$CC" -std=c11 $strict -DPAWL_SMALL -DPAWL_SCALING_INLINE -o ignored single.c pawl.o \
        -pthread # macros of former headers
    run ./ignored
    run "$CXX" -std=c++17 $strict -o single_cxx single.cpp pawl.o -pthread
    run ./single_cxx
    run "$CXX" -std=c++17 $strict -DSECOND -c -o second.o single_guards.cpp -pthread
    run "$CXX" -std=c++17 $strict -o guards single_guards.cpp second.o pawl.o -pthread
    run ./guards
    refused "C\+\+17 or later" "$CXX" -std=c++14 -DSECOND -c -o second.o single_guards.cpp
    if command -v $other >/dev/null; then
        run $other -std=gnu17 -O1 -Wall -Wextra -Werror -o other single.c pawl.c -pthread
        run ./other
    fi
}
