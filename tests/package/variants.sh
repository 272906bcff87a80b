#!/bin/sh
# SPDX-License-Identifier: MIT
# Objects of the release variant and of the checking variant must not become one program: they
# would count on different duties in the same lock.
. "$(dirname "$0")/common.sh"

release="-I$PREFIX/include"
checked="-I$PREFIX/include/pawl-checked -I$PREFIX/include"

cat >use.inc <<'END'
#include <pawl/pawl.h>
void USE(pawl_spin32 *l);
void USE(pawl_spin32 *l)
{
    pawl_spin32_take_write(l);
    pawl_spin32_drop_write(l);
}
END
cat >both.c <<'END'
#include <stdint.h>
void use_release(uint32_t *), use_checked(uint32_t *);
int main(void)
{
    static uint32_t word;
    use_release(&word);
    use_checked(&word);
    return 0;
}
END
sed -e '/use_checked(&/d' both.c >only_release.c
sed -e '/use_release(&/d' both.c >only_checked.c

# shellcheck disable=SC2086
for language in c c++; do
    case $language in
    c) compiler=$CC ;;
    *) compiler=$CXX ;;
    esac
    # extern "C" for main's sake, and nothing else about names.
    echo '#include "use.inc"' >use.c
    [ $language = c ] || printf '#include <pawl/pawl.h>\nextern "C" {\n#include "use.inc"\n}\n' \
        >use.c
    run "$compiler" -x $language $strict $release -DUSE=use_release -c use.c -o release.o
    run "$compiler" -x $language $strict $checked -DUSE=use_checked -c use.c -o checked.o
    for program in both only_release only_checked; do
        run "$CC" -c $program.c
    done

    # Each alone is fine.
    run "$compiler" only_release.o release.o "$LIBDIR/libpawl.a" -pthread -o right
    run ./right
    run "$compiler" only_checked.o checked.o "$LIBDIR/libpawl-checked.a" -pthread -o right
    run ./right

    missing='undefined reference to .*(release|checked)_'
    for kind in a so; do
        plain=$LIBDIR/libpawl.$kind
        checking=$LIBDIR/libpawl-checked.$kind
        refused "$missing" "$compiler" both.o release.o checked.o "$plain" -pthread -o wrong
        refused "$missing" "$compiler" both.o release.o checked.o "$checking" -pthread -o wrong
    done
    refused 'multiple definition' "$compiler" both.o release.o checked.o "$LIBDIR/libpawl.a" \
        "$LIBDIR/libpawl-checked.a" -pthread -o wrong
done
