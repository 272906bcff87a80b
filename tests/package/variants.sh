#!/bin/sh
# SPDX-License-Identifier: MIT
# Objects of the release variant and of the checking variant must not become one program: they
# would count on different duties in the same lock. Nor must objects of two versions of the
# protocol: a writer of version 1 overlooks readers that are in entries.
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
    c) compiler=$CC standard=-std=c11 ;;
    *) compiler=$CXX standard=-std=c++17 ;;
    esac
    # extern "C" for main's sake, and nothing else about names.
    echo '#include "use.inc"' >use.c
    [ $language = c ] || printf '#include <pawl/pawl.h>\nextern "C" {\n#include "use.inc"\n}\n' \
        >use.c
    run "$compiler" -x $language $standard $strict $release -DUSE=use_release -c use.c -o release.o
    run "$compiler" -x $language $standard $strict $checked -DUSE=use_checked -c use.c -o checked.o
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

# The headers as those of version 2 named their functions.
version=$(sed -n 's/.*##_v\([0-9][0-9]*\)_##.*/\1/p' "$PREFIX/include/pawl/atomic.h")
[ "$version" = 3 ] || fail "the protocol's version is $version; this test is about 2 and 3"
mkdir old
cp -R "$PREFIX/include/pawl" old/
find old -name '*.h' -exec sed -i 's/_v3_/_v2_/g' {} +
cat >writer.c <<'END'
#include <pawl/lock.h>
void write_it(pawl_lock32 *l);
void write_it(pawl_lock32 *l)
{
    pawl_lock32_take_write(l);
    pawl_lock32_drop_write(l);
}
END
cat >reader.c <<'END'
#include <pawl/lock.h>
void write_it(pawl_lock32 *l);
int main(void)
{
    static pawl_lock32 l;
    pawl_lock32_take_read(&l);
    pawl_lock32_drop_read(&l);
    write_it(&l);
    return 0;
}
END
# shellcheck disable=SC2086
{
    run "$CC" $strict $release -c reader.c
    run "$CC" $strict $release -c writer.c
    run "$CC" reader.o writer.o "$LIBDIR/libpawl.a" -pthread -o right
    run ./right
    run "$CC" $strict -Iold -c writer.c
    for kind in a so; do
        refused 'undefined reference to .*_v2_' "$CC" reader.o writer.o "$LIBDIR/libpawl.$kind" \
            -pthread -o wrong
    done
}
