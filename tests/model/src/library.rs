// SPDX-License-Identifier: MIT
//! The library as models.c hands it over: operations and tags, by name.

use std::ffi::{c_char, c_void, CStr};

/// The operation on one kind of lock; None where that kind has it not.
type Run = Option<extern "C" fn(*mut c_void) -> bool>;

#[repr(C)]
struct RawOp {
    name: *const c_char,
    kind: *const c_char,
    from: c_char,
    to: c_char,
    otherwise: c_char,
    run: [Run; 7],
}

#[repr(C)]
struct RawTag {
    name: *const c_char,
    order: *const c_char,
}

#[repr(C)]
pub struct Bits {
    pub bits: extern "C" fn(*mut c_void) -> u64,
    pub set: extern "C" fn(*mut c_void, u64) -> u64,
    pub clear: extern "C" fn(*mut c_void, u64) -> u64,
}

extern "C" {
    static m_ops: RawOp;
    static m_tags: RawTag;
    static m_bits: [Bits; 3];
    static mut m_word: [u64; 2];
    fn m_reset();
    fn m_is_slot_of_another(address: u64) -> bool;
    fn m_readers_scale(threads: u32, from_the_first_drop: bool);
    fn m_entries_are_free() -> bool;
    fn m_is_of_first_line(address: u64) -> bool;
    static m_biased: u32;
    fn pawl_hook_thread_slot() -> *mut c_void;
}

/// One operation of transitions.def, or of until.def.
#[derive(Clone, Copy)]
pub struct Op {
    pub name: &'static str,
    pub from: char,
    pub to: char,
    pub otherwise: char,
    pub always: bool, // it cannot fail, so a result of false says something else
    pub run: [Run; 7],
}

/// One row of tags.def; number 0 is that of relaxed accesses.
pub struct Tag {
    pub name: &'static str,
    pub order: &'static str,
}

pub fn text(p: *const c_char) -> &'static str {
    unsafe { CStr::from_ptr(p) }
        .to_str()
        .expect("names are ASCII")
}

/// Zeroes the memory that the library is given: the process object and the scenes' own.
pub fn reset() {
    unsafe { m_reset() };
}

/// So many threads have lines of entries, or get them by their first drop of R.
pub fn scale(threads: u32, from_the_first_drop: bool) {
    unsafe { m_readers_scale(threads, from_the_first_drop) };
}

/// No entry has a lock, and no line has a waiter or is hidden.
pub fn entries_are_free() -> bool {
    unsafe { m_entries_are_free() }
}

/// An entry of the thread that has the first line.
pub fn is_of_first_line(address: u64) -> bool {
    unsafe { m_is_of_first_line(address) }
}

/// The bit of a word whose readers scale.
pub fn biased() -> u64 {
    unsafe { m_biased as u64 }
}

/// An address that names another thread.
pub fn is_slot_of_another(address: u64) -> bool {
    unsafe { m_is_slot_of_another(address) }
}

/// The address that names the calling thread.
pub fn own_slot() -> u64 {
    unsafe { pawl_hook_thread_slot() as u64 }
}

/// The lock under test; its word comes first.
pub fn word() -> *mut u64 {
    &raw mut m_word as *mut u64
}

pub fn ops() -> Vec<Op> {
    let mut all = Vec::new();
    let mut row = &raw const m_ops;
    unsafe {
        while !(*row).name.is_null() {
            all.push(Op {
                name: text((*row).name),
                from: (*row).from as u8 as char,
                to: (*row).to as u8 as char,
                otherwise: (*row).otherwise as u8 as char,
                always: !["try", "claim", "until"].contains(&text((*row).kind)),
                run: (*row).run,
            });
            row = row.add(1);
        }
    }
    all
}

pub fn op(name: &str) -> Op {
    *ops()
        .iter()
        .find(|o| o.name == name)
        .unwrap_or_else(|| panic!("no operation {name}"))
}

pub fn tags() -> Vec<Tag> {
    let mut all = Vec::new();
    let mut row = &raw const m_tags;
    unsafe {
        while !(*row).name.is_null() {
            all.push(Tag {
                name: text((*row).name),
                order: text((*row).order),
            });
            row = row.add(1);
        }
    }
    all
}

pub fn bits(width: usize) -> &'static Bits {
    unsafe { &m_bits[size(width)] }
}

/// The index of a width among 16, 32, 64.
pub fn size(width: usize) -> usize {
    match width {
        16 => 0,
        32 => 1,
        64 => 2,
        _ => panic!("no width {width}"),
    }
}
