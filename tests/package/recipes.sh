#!/bin/sh
# SPDX-License-Identifier: MIT
# The recipes, without the compiling that make prove does by them (scripts/package): vcpkg's
# manifest and the versions agree, the bill of materials is valid, every file has a licence.
# Debian's recipes make packages of what this build has installed, which newcomer.sh installs: each
# file is in one of them, and each line of a list finds a file. Those of one architecture are made
# as a builder makes them that has nothing of Build-Depends-Indep: without Sphinx and clang.
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
made=pawl/obj-$triplet # dh builds and installs there what this build has installed
mkdir -p "$made" pawl/build/man
cat >"$made/Makefile" <<END
all:
install:
	mkdir -p \$(DESTDIR)/usr
	cp -a '$WORK/$PREFIX/.' \$(DESTDIR)/usr
	find \$(DESTDIR)/usr/libexec/pawl -name 'pawl-bench-*' ! -name pawl-bench-pairs -delete
	rm -r \$(DESTDIR)/usr/share/man/man[37]
END
export DEB_RULES_REQUIRES_ROOT=no DEB_BUILD_OPTIONS=noautodbgsym
logged() { # command... in the tree
    (cd pawl && env -u MAKEFLAGS -u DESTDIR "$@") >build.log 2>&1
}

# dpkg-buildpackage -B, as on a builder that has nothing of Build-Depends-Indep: each module of it,
# and the programs of two, note that they are used, and fail. CMake only notes its options.
mkdir lacking
note() { # name of a module or program: what a script of it does
    printf '%s\n' "open('$WORK/used', 'a').write('$1 ')" "raise ImportError('$1')" >"lacking/$1.py"
    printf '%s\n' '#!/bin/sh' "echo $1 >>'$WORK/used'" 'exit 1' >"lacking/$1"
}
note clang++
note sphinx-build
for one in $(sed -n '/^Build-Depends-Indep/,/^Rules/s/.* \([a-z0-9-]*\) <!nodoc>,*$/\1/p' \
    pawl/debian/control); do
    note "$(echo "${one#python3-}" | tr - _)"
done
[ -e lacking/sphinx ] && [ -e lacking/clang ] || fail "Build-Depends-Indep has another form"
printf '%s\n' '#!/bin/sh' "echo \"\$@\" >>'$WORK/options'" >lacking/cmake
chmod +x lacking/*
builder() { # command...
    logged env PATH="$WORK/lacking:$PATH" PYTHONPATH="$WORK/lacking" "$@" && [ ! -e used ]
}
# The planted fault: packages of one architecture make the site, too.
sed -i.good 's/^\(execute_after_dh_auto_build\)-indep:/\1:/' pawl/debian/rules
! builder debian/rules build-arch || fail "it built the site without Sphinx"
[ -s used ] || fail "the site was not made, but not for want of its tools: $(tail -n 3 build.log)"
mv pawl/debian/rules.good pawl/debian/rules
rm -f used options pawl/debian/*debhelper*
builder dpkg-buildpackage -B -d -nc -us -uc || {
    tail -n 40 build.log
    fail "packages of one architecture need $(cat used 2>/dev/null)"
}
grep -q -e '-DPAWL_INSTALL_PAGES=OFF' options || fail "the installation makes pages with Sphinx"
builder "$python" -c 'import sys; sys.path.insert(0, "tool"); import pawl.man, pawl.schema' ||
    fail "the command's pages need $(cat used 2>/dev/null)"
ls ./*_all.deb 2>/dev/null && fail "-B made a package for all architectures"

run "$SOURCE/scripts/site" --html
cp -r "$SOURCE/build/site" pawl/build/html
cp -r "$PREFIX"/share/man/man[37] pawl/build/man
sed -n 's/^Package: //p' pawl/debian/control >pawl/debian/debhelper-build-stamp
logged debian/rules binary-indep || {
    tail -n 40 build.log
    fail "see $WORK/build.log"
}
for one in *.deb; do
    dpkg-deb --fsys-tarfile "$one" | tar -t | grep -v '/$'
done | sort | uniq -d >twice
[ ! -s twice ] || fail "in two packages: $(cat twice)"
rm -rf pawl
ls ./*.deb
