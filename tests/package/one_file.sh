#!/bin/sh
# SPDX-License-Identifier: MIT
# "Add one file to your build": src/pawl.c, the include path and -pthread, nothing else.
. "$(dirname "$0")/common.sh"

# shellcheck disable=SC2086
{
    run "$CC" -std=c11 $strict -I"$SOURCE/include" -o c "$here/consumer.c" "$SOURCE/src/pawl.c" \
        -pthread
    run ./c
    run "$CC" -std=c11 $strict -I"$SOURCE/include" -c -o pawl.o "$SOURCE/src/pawl.c" -pthread
    run "$CXX" -std=c++17 $strict -I"$SOURCE/include" -o cxx "$here/consumer.cpp" pawl.o -pthread
    run ./cxx
    run "$CC" -std=c11 -D_POSIX_C_SOURCE=200809L $strict -I"$SOURCE/variant/checked" \
        -I"$SOURCE/include" -o checked "$here/checked.c" "$SOURCE/src/pawl.c" -pthread
    run ./checked
    # Users' own dialects and optimisation levels.
    for flags in "-std=gnu11 -O0" "-std=gnu17 -O3 -flto" "-std=c11 -Os -fvisibility=hidden"; do
        run "$CC" $flags -Wall -Wextra -Werror -I"$SOURCE/include" -o dialect "$here/consumer.c" \
            "$SOURCE/src/pawl.c" -pthread
        run ./dialect
    done
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
    for flags in "-O0" "-O2"; do
        run "$CC" -std=gnu11 $flags -Wall -Wextra -Werror -I"$SOURCE/include" -o plock plock.c \
            "$SOURCE/src/pawl.c" -pthread
        run ./plock
    done
    # Link-time optimisation put what is one per process into one part, and the assembly that names
    # it into another: undefined references. The assembly defines the objects now.
    run "$CC" -std=c11 -O2 -flto -fPIC -fvisibility=hidden -shared -Wl,-z,defs \
        -I"$SOURCE/include" -o liblto.so "$SOURCE/src/pawl.c" -pthread
}
