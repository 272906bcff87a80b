#!/bin/sh
# SPDX-License-Identifier: MIT
# The recipes, without the compiling that make prove does by them (scripts/package): vcpkg's
# manifest and the versions agree, the bill of materials is valid, every file has a licence.
# Debian's recipes make packages of what this build has installed, which newcomer.sh installs: each
# file is in one of them, and each line of a list finds a file.
. "$(dirname "$0")/common.sh"

run python3 "$here/recipes.py" "$SOURCE" "$VERSION"

python=$SOURCE/.venv/bin/python
if "$python" -c 'import reuse' 2>/dev/null; then
    run "$python" -m reuse --root "$SOURCE" lint --quiet ||
        { "$python" -m reuse --root "$SOURCE" lint --lines; fail "a file without a licence"; }
else
    echo "no reuse in .venv (scripts/setup package): licences were not checked"
fi
if "$python" -c 'import spdx_tools' 2>/dev/null; then
    run "$python" "$SOURCE/scripts/pawl_sbom.py" pawl.spdx.json
    grep -q '"spdxVersion": "SPDX-2.3"' pawl.spdx.json || fail "no SPDX 2.3"
else
    echo "no spdx_tools in .venv (scripts/setup package): the bill of materials was not made"
fi

skip() { echo "skipped: $*"; exit 77; }
for tool in dh dh_python3 dpkg-architecture; do
    command -v $tool >/dev/null || skip "$tool is not installed (scripts/setup package)"
done
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
[ "$LIBDIR" = "../prefix/lib/$triplet" ] || skip "$LIBDIR is no folder of Debian's"
[ -d "$PREFIX/share/man/man3" ] || skip "no manual pages are installed (scripts/setup tool)"

copy_source pawl
cp -r pawl/packaging/debian pawl/debian
made=pawl/obj-$triplet # dh installs from there, and builds nothing: its stamp says that it has
mkdir -p "$made" pawl/build/man
cat >"$made/Makefile" <<END
install:
	mkdir -p \$(DESTDIR)/usr
	cp -a '$WORK/$PREFIX/.' \$(DESTDIR)/usr
	find \$(DESTDIR)/usr/libexec/pawl -name 'pawl-bench-*' ! -name pawl-bench-pairs -delete
	mv \$(DESTDIR)/usr/share/man/man[37] ../build/man
END
sed -n 's/^Package: //p' pawl/debian/control >pawl/debian/debhelper-build-stamp
run "$SOURCE/scripts/site" --html
cp -r "$SOURCE/build/site" pawl/build/html
export DEB_RULES_REQUIRES_ROOT=no DEB_BUILD_OPTIONS=noautodbgsym
(cd pawl && env -u MAKEFLAGS -u DESTDIR debian/rules binary) >build.log 2>&1 || {
    tail -n 40 build.log
    fail "see $WORK/build.log"
}
for one in *.deb; do
    dpkg-deb --fsys-tarfile "$one" | tar -t | grep -v '/$'
done | sort | uniq -d >twice
[ ! -s twice ] || fail "in two packages: $(cat twice)"
rm -rf pawl
ls ./*.deb
