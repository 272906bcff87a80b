#!/bin/sh
# SPDX-License-Identifier: MIT
# "Add one file to your build": src/pawl.c, the include path and -pthread, nothing else.
. "$(dirname "$0")/common.sh"

# plock's users build without optimisation too, and with -Werror.
cat >plock.c <<'PROGRAM'
#include <pawl/compat/plock.h>
int main(void)
{
    unsigned int lock = 0, count = 0;
    pl_take_w(&lock);
    pl_xadd(&count, 1);
    pl_drop_w(&lock);
    return pl_load(&count) == 1 && pl_inc(&count) ? 0 : 1;
}
PROGRAM

# The library takes longest to compile, so programs of the same flags share its object.
# shellcheck disable=SC2086
{
    run "$CC" -std=c11 $strict -I"$SOURCE/include" -c -o pawl.o "$SOURCE/src/pawl.c" -pthread
    run "$CC" -std=c11 $strict -I"$SOURCE/include" -o c "$here/consumer.c" pawl.o -pthread
    run ./c
    run "$CXX" -std=c++17 $strict -I"$SOURCE/include" -o cxx "$here/consumer.cpp" pawl.o -pthread
    run ./cxx
    run "$CC" -std=gnu11 -O2 -Wall -Wextra -Werror -I"$SOURCE/include" -o plock plock.c pawl.o \
        -pthread
    run ./plock
    # Sources of two folders in one command, as a small project does it.
    run "$CC" -std=c11 -D_POSIX_C_SOURCE=200809L $strict -O0 -I"$SOURCE/src/variant/checked" \
        -I"$SOURCE/include" -o checked "$here/checked.c" "$SOURCE/src/pawl.c" -pthread
    run ./checked
    # Users' own dialects and optimisation levels.
    for flags in "-std=gnu11 -O0" "-std=gnu17 -O3 -flto" "-std=c11 -Os -fvisibility=hidden"; do
        run "$CC" $flags -Wall -Wextra -Werror -I"$SOURCE/include" -c -o dialect.o \
            "$SOURCE/src/pawl.c" -pthread
        run "$CC" $flags -Wall -Wextra -Werror -I"$SOURCE/include" -o dialect "$here/consumer.c" \
            dialect.o -pthread
        run ./dialect
        case $flags in
        *-O0)
            run "$CC" $flags -Wall -Wextra -Werror -I"$SOURCE/include" -o plock plock.c dialect.o \
                -pthread
            run ./plock
            ;;
        esac
    done
    # Link-time optimisation put what is one per process into one part, and the assembly that names
    # it into another: undefined references. The assembly defines the objects now.
    run "$CC" -std=c11 -O2 -flto -fPIC -fvisibility=hidden -shared -Wl,-z,defs \
        -I"$SOURCE/include" -o liblto.so "$SOURCE/src/pawl.c" -pthread
}
