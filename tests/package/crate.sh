#!/bin/sh
# SPDX-License-Identifier: MIT
# The Rust crate: its tests, plain and with the checking variant, an example, and that the crate as
# it would be published has all sources (scripts/package crate builds that, in make prove). Without
# the network: scripts/setup fetches the crates that it needs.
. "$(dirname "$0")/common.sh"

command -v cargo >/dev/null || {
    echo "skipped: cargo is not installed (scripts/setup model)"
    exit 77
}
host=$(rustc -vV | sed -n 's/^host: //p')
if ! cargo metadata --offline --locked --format-version 1 --filter-platform "$host" \
    --manifest-path "$SOURCE/rust/Cargo.toml" >/dev/null 2>cargo.txt; then
    sed 's/^/skipped: the crates are not here (scripts\/setup model): /' cargo.txt | head -n 1
    exit 77
fi
# One folder for all of it, and for the next time.
target=$BUILD/rust
cargo() {
    command cargo "$@" --offline --quiet --target-dir "$target"
}
run cargo test --locked --manifest-path "$SOURCE/rust/Cargo.toml"
run cargo test --locked --manifest-path "$SOURCE/rust/Cargo.toml" --features checked \
    --test checked --test counted
run cargo run --locked --manifest-path "$SOURCE/rust/Cargo.toml" --example registry
(cd "$SOURCE/rust" && command cargo package --list --allow-dirty --offline) >packaged
for file in "$SOURCE"/src/*/*.c "$SOURCE"/src/pawl.c "$SOURCE"/include/pawl/*.h; do
    grep -qxF "c/${file#"$SOURCE/"}" packaged || fail "the packaged crate lacks ${file#"$SOURCE/"}"
done
