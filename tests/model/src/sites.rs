// SPDX-License-Identifier: MIT
//! Where in the library an access or a wake stands: by the address that the call returns to, which
//! the debugger's data turn into a line of the sources, and that into a site of build.rs's list.
//! A site is named by its file and its number among the accesses of its tag there, so that other
//! lines may come and go.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::OnceLock;

/// An access in the sources.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    pub tag: String, // "-" of a relaxed access
    pub file: String,
    pub number: usize, // among those of its tag in the file, from 1; 0: in no list
    pub line: usize,
    pub order: String, // as in the name of the operation
}

impl Site {
    /// `file#number`, which outlives a change of other lines.
    pub fn place(&self) -> String {
        format!("{}#{}", self.file, self.number)
    }
}

/// Every access of the library, in the order of the sources.
pub fn listed() -> &'static [Site] {
    static SITES: OnceLock<Vec<Site>> = OnceLock::new();
    SITES.get_or_init(|| {
        let mut counts: HashMap<(&str, &str), usize> = HashMap::new();
        include_str!(concat!(env!("OUT_DIR"), "/sites.txt"))
            .lines()
            .map(|line| {
                let words: Vec<&str> = line.split(' ').collect();
                let number = counts.entry((words[0], words[2])).or_default();
                *number += 1;
                Site {
                    tag: words[2].into(),
                    file: words[0].into(),
                    number: *number,
                    line: words[1].parse().expect("build.rs wrote a number"),
                    order: words[3].into(),
                }
            })
            .collect()
    })
}

pub fn ordered() -> impl Iterator<Item = &'static Site> {
    listed().iter().filter(|s| s.tag != "-")
}

/// One function of a call, as the debugger's data have it; inlined ones too.
#[derive(Clone, Debug)]
struct Frame {
    file: String, // from include/, src/ or tool/shim/ on; empty: not of the library
    line: usize,
    function: String,
}

/// The functions that the call returning to this address is in, innermost first.
fn frames(address: usize) -> Vec<Frame> {
    let mut frames = Vec::new();
    // One less, to be inside the call.
    backtrace::resolve(address.saturating_sub(1) as *mut c_void, |symbol| {
        let file = symbol.filename().map(|f| f.to_string_lossy().into_owned());
        let file = file.unwrap_or_default();
        // The harness has a folder of that name too.
        let own = ["/include/pawl/", "/src/", "/tool/shim/"].iter().find_map(|f| file.rfind(f));
        let own = own.filter(|_| !file.ends_with(".rs") && !file.ends_with(".def"));
        frames.push(Frame {
            file: own.map_or(String::new(), |at| file[at + 1..].into()),
            line: symbol.lineno().unwrap_or(0) as usize,
            function: symbol.name().map_or(String::new(), |n| n.to_string()),
        });
    });
    frames
}

fn is_seam(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    name == "hook.h" || name == "atomic.h" || name.starts_with("atomic_")
}

/// The site of the access whose call returns to this address.
pub fn site_of(tag: &str, address: usize) -> Site {
    let found = frames(address);
    let frame = found.iter().find(|f| !f.file.is_empty() && !is_seam(&f.file));
    let (file, line) = frame.map_or(("?", 0), |f| (f.file.as_str(), f.line));
    nearest(tag, file, line).cloned().unwrap_or(Site {
        tag: tag.into(),
        file: file.into(),
        number: 0,
        line,
        order: "?".into(),
    })
}

/// The listed site of a line: the debugger's may be another one of the same statement, and of what
/// a macro makes it is the line where the macro is used.
fn nearest(tag: &str, file: &str, line: usize) -> Option<&'static Site> {
    let of_tag = |s: &&Site| s.tag == tag && s.file == file;
    let near = listed()
        .iter()
        .filter(of_tag)
        .filter(|s| s.line.abs_diff(line) <= 2)
        .min_by_key(|s| s.line.abs_diff(line));
    if near.is_some() {
        return near;
    }
    let mut all = listed().iter().filter(of_tag);
    if let Some(only) = all.next().filter(|_| all.next().is_none()) {
        return Some(only);
    }
    // Of a header's macro the line is the scene's.
    let mut headers = listed().iter().rev().filter(|s| s.tag == tag && tag != "-");
    headers.find(|s| file == "?" && s.file.starts_with("include/"))
}

/// The functions of the library that a wake comes through, innermost first, `a<b<c`, without those
/// that only hand it on to the system; widths are left out, as they share their code.
pub fn chain_of(returns: &[usize]) -> String {
    let mut names: Vec<String> = Vec::new();
    for frame in returns.iter().flat_map(|address| frames(*address)) {
        if frame.file.starts_with("src/os/") || is_seam(&frame.file) {
            continue;
        }
        if frame.file.is_empty() {
            if names.is_empty() {
                continue; // the harness, on the way in
            }
            break;
        }
        names.push(without_width(&frame.function));
    }
    names.dedup(); // a part of a function that stands apart
    names.join("<")
}

fn without_width(function: &str) -> String {
    let mut name = function.to_string();
    for width in ["16", "32", "64"] {
        name = name.replace(width, "");
    }
    let name = name.split('.').next().unwrap_or_default(); // name.part.0 and the like
    let name = name.trim_end_matches('_');
    name.trim_start_matches('i').trim_end_matches("_v3_hook").into()
}

thread_local! {
    static SITES: RefCell<HashMap<usize, &'static Site>> = RefCell::default();
    static CHAINS: RefCell<HashMap<Vec<usize>, &'static str>> = RefCell::default();
}

/// The same, remembered.
pub fn site(tag: &str, address: usize) -> &'static Site {
    if let Some(known) = SITES.with(|s| s.borrow().get(&address).copied()) {
        return known;
    }
    let made: &'static Site = Box::leak(Box::new(site_of(tag, address)));
    SITES.with(|s| s.borrow_mut().insert(address, made));
    made
}

pub fn chain(returns: &[usize]) -> &'static str {
    if let Some(known) = CHAINS.with(|c| c.borrow().get(returns).copied()) {
        return known;
    }
    let made: &'static str = Box::leak(chain_of(returns).into_boxed_str());
    CHAINS.with(|c| c.borrow_mut().insert(returns.to_vec(), made));
    made
}
