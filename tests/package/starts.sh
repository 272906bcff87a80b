#!/bin/sh
# SPDX-License-Identifier: MIT
# The ten-minute starts, typed as the pages say: each program is saved, built and run by the page's
# own commands, and prints what the page says.
. "$(dirname "$0")/common.sh"
command -v pkg-config >/dev/null || { echo "skipped: pkg-config is not installed"; exit 77; }
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }

# The pages call the compilers by their usual names.
mkdir names
ln -s "$(command -v "$CC")" names/cc
ln -s "$(command -v "$CXX")" names/c++
installed=$(cd "$LIBDIR" && pwd)
# What pkg-config prints is split into words: the tree is reached by a path without blanks.
shortcut=$(mktemp -d)
trap 'rm -rf "$shortcut"' EXIT
ln -s "$(cd "$PREFIX" && pwd)" "$shortcut/prefix"
export PATH="$PWD/names:$PATH" LD_LIBRARY_PATH="$installed"
export PKG_CONFIG_PATH="$shortcut/prefix/${installed#"$(cd "$PREFIX" && pwd)"/}/pkgconfig"

# The page for Rust leads to the crate by ../pawl/rust, as in a checkout that lies beside.
ln -s "$SOURCE" pawl
export CARGO_NET_OFFLINE=true CARGO_TARGET_DIR="$BUILD/rust-start"

count=0
for page in "$SOURCE"/doc/start/*.md; do
    name=$(basename "$page" .md)
    [ "$name" != README ] || continue
    mkdir "$name"
    run python3 "$here/start_page.py" "$page" "$name"
    first=$(head -n 1 "$name/commands" | cut -d ' ' -f 1)
    command -v "$first" >/dev/null || { echo "$name: left out, there is no $first"; continue; }
    if [ "$first" = cargo ] && ! (cd "$name" && cargo metadata --format-version 1) >/dev/null 2>&1
    then
        echo "$name: left out, its crates are not here (scripts/setup model)"
        continue
    fi
    (cd "$name" && sed 's/^/$ /' commands && sh -e ./commands >printed) || fail "$name: a command"
    diff "$name/expected" "$name/printed" || fail "$name prints something else than its page says"
    count=$((count + 1))
done
[ "$count" -ge 5 ] || fail "only $count start pages"
echo "$count starts"
