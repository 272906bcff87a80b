// SPDX-License-Identifier: MIT
//! Compiles the library in its hook variant, as a user would, and the table of its operations.

fn main() {
    let root = std::path::Path::new("../..");
    let scenes = std::fs::read_dir("scenes").expect("the folder of scenes");
    let scenes = scenes
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "c"));
    cc::Build::new()
        .file(root.join("src/pawl.c"))
        .file("models.c")
        .files(scenes)
        .include(root.join("variant/hook"))
        .include(root.join("include"))
        .define("NDEBUG", None)
        .std("c11")
        .warnings(true)
        .warnings_into_errors(true)
        .opt_level(2)
        // Each site keeps a call of its own, with its line: the seam is inlined everywhere, also
        // in functions marked cold, and equal calls are not merged.
        .debug(true)
        .define("cold", "noinline")
        .flag_if_supported("--param=max-inline-insns-single=2000")
        .flag_if_supported("--param=max-inline-insns-auto=2000")
        .flag_if_supported("--param=early-inlining-insns=2000")
        .flag_if_supported("--param=inline-unit-growth=1000")
        .flag_if_supported("--param=large-function-growth=1000")
        .flag_if_supported("--param=large-stack-frame-growth=10000")
        .flag_if_supported("-fno-crossjumping")
        .flag_if_supported("-fno-ipa-icf")
        .flag_if_supported("-fno-optimize-sibling-calls")
        .compile("pawl-hook");
    // Fixed addresses (src/places.rs).
    println!("cargo:rustc-link-arg-bins=-no-pie");
    for folder in ["include", "src", "variant"] {
        println!("cargo:rerun-if-changed={}", root.join(folder).display());
    }
    println!("cargo:rerun-if-changed=models.c");
    println!("cargo:rerun-if-changed=scenes");
}
