// SPDX-License-Identifier: MIT
//! Compiles the library in its hook variant, as a user would, and the table of its operations; and
//! lists the accesses that stand in its sources, for src/sites.rs.

use std::path::{Path, PathBuf};

fn main() {
    let root = Path::new("../..");
    let scenes = std::fs::read_dir("scenes").expect("the folder of scenes");
    let scenes = scenes
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "c"));
    // Each takes ten seconds or so.
    std::thread::scope(|both| {
        both.spawn(|| compile(root, "pawl-hook", [PathBuf::from("library.c")]));
        compile(root, "pawl-scenes", scenes.chain([PathBuf::from("models.c")]));
    });
    // Fixed addresses (src/places.rs).
    println!("cargo:rustc-link-arg-bins=-no-pie");
    for folder in ["include", "src", "tool/shim"] {
        println!("cargo:rerun-if-changed={}", root.join(folder).display());
    }
    println!("cargo:rerun-if-changed=library.c");
    println!("cargo:rerun-if-changed=models.c");
    println!("cargo:rerun-if-changed=scenes");

    let mut list = String::new();
    for folder in ["include", "src", "tool/shim"] {
        let mut files = Vec::new();
        find_files(&root.join(folder), &mut files);
        // The rest of the preload library calls the C library.
        let is_place = |file: &PathBuf| file.file_stem().is_some_and(|stem| stem == "place");
        files.retain(|file| folder != "tool/shim" || is_place(file));
        files.sort();
        for file in files {
            list_sites(root, &file, &mut list);
        }
    }
    let out = std::env::var("OUT_DIR").expect("cargo says where");
    std::fs::write(Path::new(&out).join("sites.txt"), list).expect("the list can be written");
}

fn compile(root: &Path, name: &str, files: impl IntoIterator<Item = PathBuf>) {
    cc::Build::new()
        .files(files)
        .include(root.join("src/variant/hook"))
        .include(root.join("include"))
        .define("NDEBUG", None)
        .std("c11")
        .warnings(true)
        .flag("-Wno-unused-parameter")
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
        .flag_if_supported("-fno-var-tracking") // the harness needs lines alone
        .flag_if_supported("-fno-crossjumping")
        .flag_if_supported("-fno-ipa-icf")
        .flag_if_supported("-fno-optimize-sibling-calls")
        .compile(name);
}

fn find_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            find_files(&path, found);
        } else if (name.ends_with(".h") || name.ends_with(".c"))
            && !name.starts_with("atomic")
            && name != "hook.h"
        {
            found.push(path);
        }
    }
}

/// A line `file line tag order` for each access; the same rules as scripts/pawl_tables.py.
fn list_sites(root: &Path, file: &Path, list: &mut String) {
    let text = std::fs::read_to_string(file).expect("a source file");
    let text = without_comments(&text);
    let name = file.strip_prefix(root).expect("in the project").display();
    let bytes = text.as_bytes();
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let mut at = 0;
    let next = |at: usize| ["pawl_", "word_"].iter().filter_map(|n| text[at..].find(n)).min();
    while let Some(found) = next(at) {
        let start = at + found;
        let end = start + text[start..].bytes().take_while(|b| is_word(*b)).count();
        at = end;
        let Some(order) = order_of(&text[start..end]) else {
            continue;
        };
        if start > 0 && is_word(bytes[start - 1]) {
            continue;
        }
        let Some(arguments) = arguments(&text[end..]) else {
            continue;
        };
        let line = text[..start].matches('\n').count() + 1;
        let last = arguments.rsplit(',').next().unwrap_or("").trim();
        let tag = last.strip_prefix("PAWL_").filter(|_| order != "relaxed").unwrap_or("-");
        list.push_str(&format!("{name} {line} {tag} {order}\n"));
    }
}

/// The order in the name of an operation of the seam.
fn order_of(name: &str) -> Option<&str> {
    let name = name.strip_prefix("pawl_").or(name.strip_prefix("word_"))?;
    if let Some(fence) = name.strip_prefix("fence_") {
        let known = [
            "acquire", "release", "full", "full_after_update", "light", "light_known", "heavy",
            "heavy_or_not",
        ];
        return known.contains(&fence).then_some(fence);
    }
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_access = ["load_", "store_", "fetch_", "exchange_", "cas_"]
        .iter()
        .any(|start| name.starts_with(start));
    let orders = ["relaxed", "acquire", "release", "acq_rel"];
    let order = orders.iter().find(|order| name.ends_with(*order))?;
    (is_access && name[..name.len() - order.len()].ends_with('_')).then_some(order)
}

/// What stands between the parentheses of the call at the start of the text.
fn arguments(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("##N").unwrap_or(text).trim_start();
    let rest = rest.strip_prefix(')').unwrap_or(rest).trim_start();
    let rest = rest.strip_prefix('(')?;
    let mut depth = 1;
    for (i, b) in rest.bytes().enumerate() {
        match b {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&rest[..i]);
        }
    }
    None
}

/// Comments become blanks; lines stay.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("/*").into_iter().chain(rest.find("//")).min() {
        out.push_str(&rest[..at]);
        let length = if rest[at..].starts_with("/*") {
            rest[at + 2..].find("*/").map_or(rest.len() - at, |n| n + 4)
        } else {
            rest[at..].find('\n').unwrap_or(rest.len() - at)
        };
        let comment = &rest[at..at + length];
        out.extend(comment.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        rest = &rest[at + length..];
    }
    out + rest
}
