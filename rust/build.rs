// SPDX-License-Identifier: MIT
//! Compiles the C library as one file, and the functions that Rust calls. A packaged crate has the
//! sources in c/; in a checkout these are links, or where there are none, the folders above.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    let own = Path::new("c");
    if own.join("src/pawl.c").is_file() {
        return own.to_path_buf();
    }
    PathBuf::from("..")
}

fn main() {
    let root = root();
    let checked = std::env::var_os("CARGO_FEATURE_CHECKED").is_some();
    let environment = std::env::var("CARGO_CFG_TARGET_ENV").unwrap_or_default();
    if environment == "msvc" {
        println!(
            "cargo:warning=pawl is C for gcc and clang: build for x86_64-pc-windows-gnu, \
             or set CC to clang-cl's sibling clang"
        );
    }

    let mut build = cc::Build::new();
    if checked {
        build.include(root.join("src/variant/checked"));
    }
    build
        .file(root.join("src/pawl.c"))
        .file("c/pawl_rust.c")
        .include(root.join("include"))
        .std("c11")
        .warnings(false)
        .flag("-pthread")
        // A lock that was not optimised is held for longer than need be, in debug builds too.
        .opt_level(2)
        .compile("pawl");

    for folder in ["include", "src"] {
        println!("cargo:rerun-if-changed={}", root.join(folder).display());
    }
    println!("cargo:rerun-if-changed=c/pawl_rust.c");
    println!("cargo:rerun-if-changed=build.rs");
}
