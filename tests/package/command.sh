#!/bin/sh
# SPDX-License-Identifier: MIT
# The installed command: it finds its modules, programs and data wherever it lies, and says what is
# missing. The same for `pip install ./tool`.
. "$(dirname "$0")/common.sh"
unset PAWL_BENCH_DIR PYTHONPATH PAWL_PRELOAD_DIR || true
export PYTHONDONTWRITEBYTECODE=1

# Whatever Python has, without its packages: what needs none works, the rest says what is missing.
run python3 -S -I "$PREFIX/bin/pawl" --version
if [ -e "$(find "$PREFIX" -name libpawl-trace.so)" ]; then
    run python3 -S -I "$PREFIX/bin/pawl" run true
    run python3 -S -I "$PREFIX/bin/pawl" trace -o clean.trace true
    run python3 -S -I "$PREFIX/bin/pawl" advise clean.trace
fi
if python3 -S -I "$PREFIX/bin/pawl" bench pairs >said.txt 2>&1; then
    fail "it measures without its packages"
else
    code=$?
fi
cat said.txt
[ $code -eq 2 ] || fail "exit code $code"
grep -q 'pip install .*click .*rich' said.txt || fail "it names no packages"

python=$SOURCE/.venv/bin/python
[ -x "$python" ] || { echo "skipped: no .venv (scripts/setup tool)"; exit 77; }
for made in man/man1/pawl.1 man/man1/pawl-bench-lru.1 pawl/schema/result.schema.json; do
    [ -f "$PREFIX/share/$made" ] || fail "share/$made is not installed"
done
run "$python" "$PREFIX/bin/pawl" --version
run "$python" "$PREFIX/bin/pawl" run -- true
if [ -x "$PREFIX/libexec/pawl/pawl-bench-pairs" ]; then
    run "$python" "$PREFIX/bin/pawl" bench pairs --rounds 2 --seconds 0.001 --quiet \
        --json pairs.json
    [ -s pairs.json ] || fail "no result"
fi
if [ -x "$PREFIX/libexec/pawl/pawl-sim" ]; then
    run "$python" "$PREFIX/bin/pawl" sim lru --help
fi
for driver in "$BUILD"/bench/pawl-bench-*; do
    case $driver in */pawl-bench-shim*) continue ;; esac # it runs from a checkout only
    [ ! -x "$driver" ] || [ -x "$PREFIX/libexec/pawl/$(basename "$driver")" ] ||
        fail "$driver is not installed"
done
# An installed program finds the libraries that are its own.
for driver in "$PREFIX"/libexec/pawl/pawl-*; do
    [ ! -x "$driver" ] || "$driver" --help >help.txt || fail "$driver does not start"
done

# pip, without the network: its own packages are in .venv already.
"$python" -c 'import setuptools, wheel' 2>/dev/null ||
    { echo "skipped: no setuptools and wheel in .venv (scripts/setup package)"; exit 77; }
cp -r "$SOURCE/tool" tool
run "$python" -m pip install --quiet --no-index --no-deps --no-build-isolation \
    --disable-pip-version-check --target site ./tool
cat >pawl.py <<'END'
import sys
sys.path.insert(0, "site")
from pawl import cli
assert cli.__file__.endswith("site/pawl/cli.py"), cli.__file__
sys.exit(cli.main())
END
run "$python" pawl.py choose --help >/dev/null
lacks() { # words, command...
    words=$1
    shift
    if PATH=/usr/bin:/bin "$python" pawl.py "$@" >said.txt 2>&1; then
        fail "$* did without what pip leaves out"
    else
        code=$?
    fi
    cat said.txt
    [ $code -eq 2 ] || fail "exit code $code"
    tr '\n' ' ' <said.txt | grep -q "$words" || fail "it does not say what it lacks"
}
lacks 'machines and measurements are not here: pip installs the command' sim lru
lacks 'machines and measurements are not here: pip installs the command' sim dev validate
if [ ! -x /usr/local/libexec/pawl/pawl-bench-pairs ] && [ ! -x /usr/libexec/pawl/pawl-bench-pairs ]
then
    lacks 'libpawl-preload.so is not there; in Pawl.s source run' run true
    lacks 'libpawl-trace.so is not there; in Pawl.s source run' trace true
    lacks 'pip installs the command without its measuring programs' bench pairs --quiet
fi
