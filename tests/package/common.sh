# SPDX-License-Identifier: MIT
# Sourced by the scripts of this folder: ctest gives CC CXX SOURCE BUILD WORK PREFIX LIBDIR.
# PREFIX and LIBDIR are relative to WORK, and `source` there leads to SOURCE, so that flags which
# the shell splits into words hold no path that somebody may have put a space in.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$WORK"
mkdir -p "$WORK"
cd "$WORK"
ln -s "$SOURCE" source

strict="-Wall -Wextra -Wpedantic -Werror -O2"

fail() {
    echo "failed: $*" >&2
    exit 1
}

# Says a command and runs it.
run() {
    echo "$ $*"
    "$@"
}

# What git knows of the source (all of it but what a build makes, where there is no git).
copy_source() { # folder
    mkdir -p "$1"
    if git -C "$SOURCE" rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        git -C "$SOURCE" ls-files -z --cached --others --exclude-standard >files.list
        (cd "$SOURCE" && tar -c --null --ignore-failed-read -T -) <files.list | tar -x -C "$1"
    else
        (cd "$SOURCE" && tar -c --exclude=./build --exclude=./.venv --exclude=./.deps \
            --exclude=./.git .) | tar -x -C "$1"
    fi
}

# A link that has to fail, in words that match the pattern.
refused() { # pattern, command...
    pattern=$1
    shift
    echo "$ $*    (must be refused)"
    if "$@" 2>refusal.txt; then
        fail "it linked"
    fi
    grep -Eq "$pattern" refusal.txt || {
        cat refusal.txt >&2
        fail "refused, but not with: $pattern"
    }
}
