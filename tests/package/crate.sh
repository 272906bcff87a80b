#!/bin/sh
# SPDX-License-Identifier: MIT
# The Rust crate: its tests, plain, with the checking variant, and with AddressSanitizer in the C
# code; an example; and that the crate as it would be published has all sources (scripts/package
# crate builds that, in make prove). Without the network: scripts/setup fetches the crates.
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
# A stable rustc has no sanitizers: the C code reports what it does to memory that Rust has freed.
# rustc names no library of the compiler's, so the runtime is preloaded, as it must be the first.
# Forgotten guards are leaks.
asan=$("$CC" -print-file-name=libasan.so)
if [ -f "$asan" ]; then
    (
        export CFLAGS="${CFLAGS-} -fsanitize=address" ASAN_OPTIONS=detect_leaks=0
        export RUSTFLAGS="${RUSTFLAGS-} -Clinker=$CC -Clink-arg=-lasan"
        run cargo test --locked --manifest-path "$SOURCE/rust/Cargo.toml" --target "$host" \
            --config "target.$host.runner = ['env', 'LD_PRELOAD=$asan']" \
            --features arc_lock --lib --tests
    )
else
    echo "not run with AddressSanitizer: $CC has none"
fi
run cargo run --locked --manifest-path "$SOURCE/rust/Cargo.toml" --example registry
(cd "$SOURCE/rust" && command cargo package --list --allow-dirty --offline) >packaged
for file in "$SOURCE"/src/*/*.c "$SOURCE"/src/pawl.c "$SOURCE"/include/pawl/*.h; do
    grep -qxF "c/${file#"$SOURCE/"}" packaged || fail "the packaged crate lacks ${file#"$SOURCE/"}"
done
